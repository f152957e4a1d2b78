//! What a run of a check was seen to do: its records, or its whole output.

use crate::reproduction::check::{Check, CheckCommand};
use crate::reproduction::traceback::Exception;
use magis_syntax::SourceLanguage;
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
        /// The functions of the project that were entered, in that order.
        reached: Vec<ReachedFunction>,
    },
    /// What a shell's lines did.
    Text {
        /// What they wrote to both outputs.
        printed: String,
        /// Whether they failed and wrote nothing to the standard output, as a usage error does.
        failed: bool,
    },
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
    /// The frames that led to what was raised, a line each as the language shows them: in Python the outermost first.
    #[serde(default)]
    pub trace: String,
}

/// A function that a run entered: its file relative to the project's root, the line from 1 on which its code begins, its name, and the lines of
/// it that hold code and were never run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ReachedFunction(pub String, pub u32, pub String, pub Vec<u32>);

#[derive(Deserialize)]
#[serde(untagged)]
enum Record {
    StatementOutcome(StatementOutcome),
    End {
        #[expect(dead_code, reason = "it tells the end from a record")]
        end: bool,
        imports: Vec<String>,
        #[serde(default)]
        reached: Vec<ReachedFunction>,
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
            RunEnd::Exited(_) | RunEnd::TimedOut => Observation::Text {
                printed: format!("{}\n{}", run.stdout, run.stderr),
                failed: run.ending != RunEnd::Exited(0) && run.stdout.trim().is_empty(),
            },
        };
    }
    let is_between = check.command == CheckCommand::Rust;
    let mut outcomes: Vec<StatementOutcome> = Vec::new();
    let mut between = String::new();
    for line in run.stdout.lines() {
        let record = line
            .strip_prefix(check.marker.as_str())
            .and_then(|text| serde_json::from_str(text.trim()).ok());
        match record {
            Some(Record::StatementOutcome(mut outcome)) => {
                let printed = std::mem::take(&mut between);
                if is_between {
                    // Each record begins a line of its own.
                    printed
                        .strip_suffix('\n')
                        .unwrap_or(&printed)
                        .clone_into(&mut outcome.printed);
                }
                outcomes.push(outcome);
            }
            Some(Record::End { imports, reached, .. }) => {
                return Observation::Steps {
                    outcomes,
                    imports,
                    reached,
                };
            }
            None => {
                between.push_str(line);
                between.push('\n');
            }
        }
    }
    Observation::Broken(tail(&run.stderr))
}

impl Observation {
    /// Returns the run as a session at a prompt would look: the inputs, what they printed, gave or raised.
    pub fn session(&self, check: &Check) -> String {
        let outcomes = match self {
            Self::Steps { outcomes, .. } => outcomes,
            Self::Text { printed: text, .. } | Self::Broken(text) => return text.trim().to_owned(),
            Self::TimedOut => return String::new(),
        };
        let is_python = check.command.language() == SourceLanguage::Python;
        let mut lines: Vec<String> = Vec::new();
        for outcome in outcomes {
            let source = check.steps.get(outcome.step as usize).map_or("", String::as_str);
            let first = outcome.line.saturating_sub(1) as usize;
            let count = (outcome.last_line.max(outcome.line) - outcome.line + 1) as usize;
            let input = source.lines().skip(first).take(count).enumerate();
            let (first, more) = if is_python { (">>>", "...") } else { (">", "|") };
            lines.extend(input.map(|(at, line)| format!("{} {line}", if at == 0 { first } else { more })));
            lines.extend(outcome.printed.trim_end().lines().map(str::to_owned));
            if let Some(exception) = &outcome.raised {
                let last = format!("{}: {}", exception.kind, exception.message);
                let trace = outcome.trace.lines();
                if is_python {
                    if !outcome.trace.is_empty() {
                        lines.push("Traceback (most recent call last):".to_owned());
                        lines.extend(trace.map(|line| format!("  {line}")));
                    }
                    lines.push(last);
                } else {
                    lines.push(format!("Uncaught {last}"));
                    lines.extend(trace.map(|line| format!("    {line}")));
                }
            } else if let Some(value) = outcome.forms.get("repr") {
                lines.extend(value.lines().map(str::to_owned));
            }
        }
        lines.join("\n")
    }

    /// Returns the functions of the project that the run entered, in that order; empty where that is not known.
    pub fn reached(&self) -> &[ReachedFunction] {
        match self {
            Self::Steps { reached, .. } => reached,
            Self::Text { .. } | Self::Broken(_) | Self::TimedOut => &[],
        }
    }
}
