//! What runs cost: calls and tokens by agent and step, time by step and stage.
//!
//! Tokens that were reused are counted apart from those computed; money is not counted.

use crate::record::RunRecord;
use crate::statistics::median;
use magis_core::{Agent, Stage};
use serde::Serialize;
use std::collections::BTreeMap;

/// What the calls of one agent at one step came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepCost {
    pub agent: Agent,
    /// The step: `P4`, `naming`.
    pub step: String,
    /// What they came to.
    pub sum: Sum,
}

/// Calls, tokens and time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sum {
    pub calls: u32,
    /// Prompt tokens computed.
    pub computed: u64,
    /// Prompt tokens that were there already.
    pub reused: u64,
    /// Tokens written or scored.
    pub generated: u64,
    /// Milliseconds of computation.
    pub ms: u64,
    /// Of the calls, those asked again because the reply before could not be used.
    pub retries: u32,
}

/// What the runs of a set came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostTable {
    pub runs: usize,
    /// By agent and step, in the order of their first calls.
    pub steps: Vec<StepCost>,
    pub total: Sum,
    /// Seconds by stage, all runs together.
    pub stages: BTreeMap<Stage, f64>,
    /// Seconds of a run: the middle one.
    pub median_seconds: Option<f64>,
    /// Seconds of the slowest run.
    pub worst_seconds: Option<f64>,
    /// Tokens of a run, computed and written: the middle one.
    pub median_tokens: Option<f64>,
    /// Tokens of the run with the most.
    pub most_tokens: Option<f64>,
}

/// Adds up the runs of a set.
pub fn cost_table<'r>(runs: impl IntoIterator<Item = &'r RunRecord>) -> CostTable {
    let mut steps: Vec<StepCost> = Vec::new();
    let mut stages: BTreeMap<Stage, f64> = BTreeMap::new();
    let (mut seconds, mut tokens) = (Vec::new(), Vec::new());
    let mut total = Sum::default();
    for run in runs {
        let mut of_run = Sum::default();
        for call in &run.calls {
            let at = steps
                .iter()
                .position(|step| step.agent == call.agent && step.step == call.step);
            let at = at.unwrap_or_else(|| {
                steps.push(StepCost {
                    agent: call.agent,
                    step: call.step.clone(),
                    sum: Sum::default(),
                });
                steps.len() - 1
            });
            let sum = Sum {
                calls: 1,
                computed: call.prompt_tokens.into(),
                reused: call.reused_tokens.into(),
                generated: call.generated_tokens.into(),
                ms: u64::from(call.prompt_ms) + u64::from(call.generate_ms),
                retries: u32::from(call.retries > 0),
            };
            steps[at].sum.add(sum);
            of_run.add(sum);
        }
        total.add(of_run);
        for (stage, ms) in &run.stages {
            *stages.entry(*stage).or_default() += *ms as f64 / 1000.0;
        }
        seconds.push(run.milliseconds() as f64 / 1000.0);
        tokens.push((of_run.computed + of_run.generated) as f64);
    }
    CostTable {
        runs: seconds.len(),
        steps,
        total,
        stages,
        worst_seconds: seconds.iter().copied().reduce(f64::max),
        median_seconds: median(seconds),
        most_tokens: tokens.iter().copied().reduce(f64::max),
        median_tokens: median(tokens),
    }
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.computed += other.computed;
        self.reused += other.reused;
        self.generated += other.generated;
        self.ms += other.ms;
        self.retries += other.retries;
    }
}
