//! Both sides of a replay beside each other: by step and in all, and how they compare.

use super::{Cost, GroupCost, Trace, TracedCall};
use crate::table::{MarkdownTable, number_or_dash};
use serde::Serialize;
use std::collections::BTreeMap;

/// What replaying a trace cost on one side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceReport {
    /// Groups of calls that were issued together.
    pub groups: usize,
    /// Calls by their kind.
    pub kinds: BTreeMap<&'static str, usize>,
    /// By step, in the order of the trace.
    pub steps: Vec<StepReport>,
    pub all: StepReport,
    /// The fewest tokens that can be computed where whatever prompts begin with alike is computed once.
    pub fewest: u64,
    /// The peer's over ours; none without a peer.
    pub peer_to_ours: Option<Ratios>,
    /// Calls that our model could not answer, which neither side was measured with: the step, and why.
    pub left_out: Vec<(String, String)>,
}

/// What the calls of a step cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepReport {
    pub step: String,
    pub calls: usize,
    pub ours: SideCost,
    pub peer: Option<SideCost>,
}

/// What calls cost on one side.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct SideCost {
    /// A group's seconds count for the step of its first call.
    pub seconds: f64,
    #[serde(flatten)]
    pub tokens: Cost,
}

/// How many times as much the peer needed as we did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratios {
    pub time: Option<f64>,
    pub computed: Option<f64>,
    pub generated: Option<f64>,
}

impl SideCost {
    /// Returns tokens generated in a second of all the time.
    pub fn a_second(&self) -> Option<f64> {
        (self.tokens.generated > 0 && self.seconds > 0.0).then(|| self.tokens.generated as f64 / self.seconds)
    }
}

impl TraceReport {
    /// Puts the costs of both sides together, group by group as in the trace.
    pub fn new(
        trace: &Trace,
        ours: &[GroupCost],
        peer: Option<&[GroupCost]>,
        fewest: u64,
        left_out: Vec<(String, String)>,
    ) -> Self {
        let mut kinds = BTreeMap::new();
        let mut steps: Vec<StepReport> = Vec::new();
        for call in trace.calls() {
            *kinds.entry(call.request.kind()).or_default() += 1;
            match steps.iter_mut().find(|known| known.step == call.step) {
                Some(known) => known.calls += 1,
                None => steps.push(StepReport {
                    step: call.step.clone(),
                    calls: 1,
                    ours: SideCost::default(),
                    peer: peer.map(|_| SideCost::default()),
                }),
            }
        }
        for step in &mut steps {
            step.ours = side(&step.step, &trace.groups, ours);
            step.peer = peer.map(|peer| side(&step.step, &trace.groups, peer));
        }
        let all = StepReport {
            step: "all".to_owned(),
            calls: trace.calls().count(),
            ours: sum(steps.iter().map(|step| step.ours)),
            peer: peer.map(|_| sum(steps.iter().filter_map(|step| step.peer))),
        };
        Self {
            groups: trace.groups.len(),
            kinds,
            steps,
            fewest,
            peer_to_ours: all.peer.map(|peer| ratios(peer, all.ours)),
            all,
            left_out,
        }
    }

    /// Returns the report as text.
    pub fn text(&self) -> String {
        let kinds: Vec<String> = self
            .kinds
            .iter()
            .map(|(kind, calls)| format!("{calls} {kind}"))
            .collect();
        let mut text = format!(
            "{} calls in {} groups: {}\n",
            self.all.calls,
            self.groups,
            kinds.join(", ")
        );
        let mut table = MarkdownTable::new([
            "step",
            "side",
            "calls",
            "s",
            "computed",
            "reused",
            "generated",
            "generated/s",
        ]);
        for step in self.steps.iter().chain([&self.all]) {
            for (name, side) in [("ours", Some(step.ours)), ("peer", step.peer)] {
                let Some(side) = side else { continue };
                table.row([
                    step.step.clone(),
                    name.to_owned(),
                    step.calls.to_string(),
                    format!("{:.2}", side.seconds),
                    side.tokens.computed.to_string(),
                    side.tokens.reused.to_string(),
                    side.tokens.generated.to_string(),
                    number_or_dash(side.a_second()),
                ]);
            }
        }
        text += &table.text();
        for (step, why) in &self.left_out {
            text += &format!("left out: a call of {step}: {why}\n");
        }
        let times = |side: SideCost| side.tokens.computed as f64 / self.fewest.max(1) as f64;
        let ours = times(self.all.ours);
        text += &format!(
            "with all that prompts share computed once: {} tokens; ours {ours:.2} times that",
            self.fewest
        );
        if let Some(peer) = self.all.peer {
            text += &format!(", the peer {:.2}", times(peer));
        }
        text += "\n";
        if let Some(ratios) = self.peer_to_ours {
            text += &format!(
                "peer / ours: time {}, tokens computed {}, tokens generated {}\n",
                number_or_dash(ratios.time),
                number_or_dash(ratios.computed),
                number_or_dash(ratios.generated)
            );
        }
        text
    }
}

fn side(step: &str, groups: &[Vec<TracedCall>], costs: &[GroupCost]) -> SideCost {
    let mut side = SideCost::default();
    for (group, cost) in groups.iter().zip(costs) {
        if group.first().is_some_and(|call| call.step == step) {
            side.seconds += cost.seconds;
        }
        for (_, tokens) in group.iter().zip(&cost.calls).filter(|(call, _)| call.step == step) {
            side.tokens += *tokens;
        }
    }
    side
}

fn sum(sides: impl Iterator<Item = SideCost>) -> SideCost {
    sides.fold(SideCost::default(), |mut sum, side| {
        sum.seconds += side.seconds;
        sum.tokens += side.tokens;
        sum
    })
}

fn ratios(peer: SideCost, ours: SideCost) -> Ratios {
    let over = |peer: f64, ours: f64| (ours > 0.0).then(|| peer / ours);
    Ratios {
        time: over(peer.seconds, ours.seconds),
        computed: over(peer.tokens.computed as f64, ours.tokens.computed as f64),
        generated: over(peer.tokens.generated as f64, ours.tokens.generated as f64),
    }
}
