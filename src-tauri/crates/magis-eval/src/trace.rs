//! The model calls of a recorded run, as they can be made again: on our engine, and on a llama-server beside it.
//!
//! What was asked stands in the run's records; which calls were issued together is concluded from their times. [`ours`] makes them on a model of ours,
//! [`counterpart`] words the same work for the peer, [`peer`] makes that, and [`report`] puts both beside each other. Whether replies are good is not asked here.

pub mod counterpart;
pub mod ours;
pub mod peer;
pub mod report;

use anyhow::{Context as _, Result};
use magis_llm::{ChatRequest, FillInRequest, GenerateRequest, ScoreRequest, TokenEditRequest};
use magis_store::{CallRecord, RunArchive};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fs;
use std::ops::AddAssign;
use std::path::Path;

/// The calls of a run, in the order in which they were made.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The model that answered when the run was made.
    pub model: String,
    /// Calls that were issued together, group after group.
    pub groups: Vec<Vec<TracedCall>>,
}

/// A call of a run, as its record has it.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedCall {
    /// The step of the method: `P2`, `naming`.
    pub step: String,
    pub request: TracedRequest,
}

/// What a recorded call asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum TracedRequest {
    /// An answer, of a conversation or between two texts.
    Generate(GenerateRequest),
    Score(ScoreRequest),
    TokenEdits(TokenEditRequest),
}

/// Tokens that calls cost on one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Cost {
    /// Tokens read: of prompts, as far as they were not there already, and of texts that were scored or edited.
    pub computed: u64,
    /// Tokens of prompts that were there already.
    pub reused: u64,
    /// Tokens of answers.
    pub generated: u64,
}

/// What a group of calls cost on one side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupCost {
    /// From the first request to the last reply.
    pub seconds: f64,
    /// In the order of the calls.
    pub calls: Vec<Cost>,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, more: Self) {
        self.computed += more.computed;
        self.reused += more.reused;
        self.generated += more.generated;
    }
}

impl Trace {
    /// Reads the calls of a run, in the order of their records.
    pub fn of(calls: &[CallRecord]) -> Result<Self> {
        let first = calls.first().context("the run has no call on record")?;
        let mut groups: Vec<Vec<TracedCall>> = Vec::new();
        let mut ended = i64::MIN;
        for call in calls {
            let traced = TracedCall::of(call)?;
            match groups.last_mut() {
                Some(group) if begun_at(call) < ended => group.push(traced),
                _ => groups.push(vec![traced]),
            }
            ended = call.at_ms;
        }
        Ok(Self {
            model: first.model.clone(),
            groups,
        })
    }

    /// Reads the calls out of a file that holds an exported run.
    pub fn read(file: &Path) -> Result<Self> {
        let read = || Self::of(&RunArchive::from_json(&fs::read_to_string(file)?)?.run.calls);
        read().with_context(|| format!("reading the trace {}", file.display()))
    }

    /// Returns the trace with each call issued when the one before is answered.
    #[must_use]
    pub fn one_by_one(self) -> Self {
        let calls = self.groups.into_iter().flatten();
        Self {
            groups: calls.map(|call| vec![call]).collect(),
            ..self
        }
    }

    /// Returns all calls in their order.
    pub fn calls(&self) -> impl Iterator<Item = &TracedCall> {
        self.groups.iter().flatten()
    }
}

impl TracedCall {
    fn of(call: &CallRecord) -> Result<Self> {
        let request =
            TracedRequest::of(&call.request).with_context(|| format!("reading a recorded call of {}", call.step))?;
        Ok(Self {
            step: call.step.clone(),
            request,
        })
    }
}

impl TracedRequest {
    /// Reads a request; the four kinds are told apart by what only they have.
    fn of(request: &Value) -> serde_json::Result<Self> {
        fn read<R: DeserializeOwned>(request: &Value) -> serde_json::Result<R> {
            R::deserialize(request)
        }
        if request.get("continuations").is_some() {
            read::<ScoreRequest>(request).map(Self::Score)
        } else if request.get("written").is_some() {
            read::<TokenEditRequest>(request).map(Self::TokenEdits)
        } else if request.get("before").is_some() {
            let fill_in = read::<FillInRequest>(request)?;
            Ok(Self::Generate(GenerateRequest::FillIn(fill_in)))
        } else {
            let chat = read::<ChatRequest>(request)?;
            Ok(Self::Generate(GenerateRequest::Chat(chat)))
        }
    }

    /// Returns what it is called in a report.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Generate(GenerateRequest::Chat(_)) => "chat",
            Self::Generate(GenerateRequest::FillIn(_)) => "fill-in",
            Self::Score(_) => "score",
            Self::TokenEdits(_) => "token edits",
        }
    }
}

/// Returns when a call began at the latest. One that follows another began after the record of that one; calls that were answered together are recorded one right
/// after the other, each with its share of the time.
fn begun_at(call: &CallRecord) -> i64 {
    call.at_ms - i64::from(call.prompt_ms) - i64::from(call.generate_ms)
}
