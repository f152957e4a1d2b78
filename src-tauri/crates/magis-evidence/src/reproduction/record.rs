//! What a run of a check was seen to do: its records, or its whole output.

use crate::reproduction::check::{Check, CheckCommand};
use crate::reproduction::traceback::Exception;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a run printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOutput {
    pub stdout: String,
    pub stderr: String,
    pub ending: RunEnd,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    Exited(i32),
    Killed,
    TimedOut,
}

/// What a run of a check was seen to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation {
    TimedOut,
    /// It ended before its last step was recorded; with the end of what it wrote, perhaps empty.
    Broken(String),
    /// What each statement did.
    Steps {
        outcomes: Vec<StatementOutcome>,
        imports: Vec<String>,
    },
    /// What a shell's lines wrote to both outputs.
    Text(String),
}

/// What one statement did.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StatementOutcome {
    /// The step, from 0, and the statement within it, from 0.
    pub step: u32,
    pub statement: u32,
    /// Its first and last line within the step, from 1.
    pub line: u32,
    pub last_line: u32,
    /// Whether it is an `assert`.
    pub assertion: bool,
    pub printed: String,
    /// What it wrote to the standard error: warnings, logs.
    pub logged: String,
    /// Its value as each way of showing shows it.
    pub forms: BTreeMap<String, String>,
    /// What was raised on the way to showing its value.
    pub unshown: Vec<Exception>,
    /// The claims whose text, read as code, is equal to its value.
    pub equals: Vec<usize>,
    pub raised: Option<Exception>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Record {
    StatementOutcome(StatementOutcome),
    End {
        #[expect(dead_code, reason = "it tells the end from a record")]
        end: bool,
        imports: Vec<String>,
    },
}

/// Reads what a run of a check did.
pub fn observe(check: &Check, run: &RunOutput) -> Observation {
    if run.ending == RunEnd::TimedOut {
        return Observation::TimedOut;
    }
    let tail = |text: &str| {
        text.lines()
            .rev()
            .take(5)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
            .join("\n")
    };
    if let CheckCommand::Shell(_) = check.command {
        return match run.ending {
            RunEnd::Exited(126 | 127) | RunEnd::Killed => Observation::Broken(tail(&run.stderr)),
            RunEnd::Exited(_) | RunEnd::TimedOut => Observation::Text(format!("{}\n{}", run.stdout, run.stderr)),
        };
    }
    let mut outcomes = Vec::new();
    for line in run.stdout.lines() {
        let record = line
            .strip_prefix(check.marker.as_str())
            .and_then(|text| serde_json::from_str(text.trim()).ok());
        match record {
            Some(Record::StatementOutcome(outcome)) => outcomes.push(outcome),
            Some(Record::End { imports, .. }) => return Observation::Steps { outcomes, imports },
            None => {}
        }
    }
    Observation::Broken(tail(&run.stderr))
}
