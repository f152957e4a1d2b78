//! What a person asks for: the issue, and how the run is to be carried out.

use crate::{Hint, Issue, RepoPath};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What stands between a model and the engine that serves it.
const AT_ENGINE: &str = "@engine:";

/// Everything a run is asked to do, fixed at its start and recorded in its first event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct RunRequest {
    pub issue: Issue,
    /// What is known beyond it.
    pub hints: Vec<Hint>,
    /// Whether the hints reach the agents.
    pub hints_mode: HintsMode,
    /// The candidates, where they are given; locating is skipped then. Empty: locate.
    pub files: Vec<RepoPath>,
    /// The model: a name of the library, or what a file was called with its hash behind `@sha256:`, or what another engine calls it with that
    /// engine's host and port behind `@engine:`. Never a path, and never where prompts go by itself: a run may come from elsewhere.
    pub model: String,
    /// The seed all others are derived from.
    pub seed: u64,
    /// How many files of the ranking are judged (the paper's k).
    pub top_k: u32,
    /// How many rounds of writing and review a task gets (the paper's `n_max`).
    pub max_rounds: u32,
    /// How many answers are asked for in a round.
    #[serde(rename = "candidates_per_round")]
    pub attempts_per_round: u32,
    /// How many places of a file are tried in a round; they share its attempts.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub places_per_round: u32,
    /// How the answers at a place are asked for, in turn; empty: as it measures best.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writing: Vec<WritingMode>,
    /// Whether QA Engineers review.
    pub qa: QaMode,
    /// Whether code is run, and what.
    #[serde(default, skip_serializing_if = "TestsMode::is_skip")]
    pub tests: TestsMode,
    /// What the relevance of a file is judged from.
    #[serde(default)]
    pub relevance: RelevanceMode,
    /// Parts of the method that are left out, to measure what they bring.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub without: BTreeSet<MethodPart>,
}

/// A part of the method that a run can go without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum MethodPart {
    /// The round table of Manager and Developers, and the roles that are revised after it.
    Meeting,
    /// The past change that was described most like the issue, as an example for what is filled in.
    PastFix,
}

impl MethodPart {
    /// Returns what it is called in a list of what a run went without.
    pub fn label(self) -> &'static str {
        match self {
            Self::Meeting => "meeting",
            Self::PastFix => "past fix",
        }
    }
}

/// Returns a model's name as people read it: without the hash of its file, or the engine that serves it.
pub fn model_label(name: &str) -> &str {
    let name = name.rsplit_once(AT_ENGINE).map_or(name, |(model, _)| model);
    name.split("@sha256:").next().unwrap_or(name)
}

/// Returns host and port of the engine that prompts to this model go to; none where it is our own, on this machine.
pub fn model_host(name: &str) -> Option<&str> {
    name.rsplit_once(AT_ENGINE).map(|(_, host)| host)
}

/// Returns the name of a model that another engine serves, at this host and port.
pub fn model_at(model: &str, host: &str) -> String {
    format!("{model}{AT_ENGINE}{host}")
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
fn is_one(number: &u32) -> bool {
    *number == 1
}

impl TestsMode {
    fn is_skip(&self) -> bool {
        *self == Self::Skip
    }
}

/// Whether code is run in the course of a run; the paper's plain loop is [`TestsMode::Skip`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TestsMode {
    #[default]
    Skip,
    Run {
        /// The project's test command; none: what the issue shows alone.
        command: Option<TestLine>,
        /// Tests of the repository that fail because of the fault, as the runner takes them.
        failing: Vec<String>,
        /// Whether what the issue shows is made into checks.
        #[serde(default)]
        checks: IssueChecks,
    },
}

/// A test command as a person allowed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct TestLine {
    /// The program with its arguments, as a shell reads it.
    pub line: String,
    /// Relative to the root; empty for the root.
    pub folder: String,
}

/// Whether what the issue shows is made into checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum IssueChecks {
    #[default]
    Make,
    Skip,
}

/// How an attempt is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum WritingMode {
    /// The whole definition, rewritten.
    #[default]
    Definition,
    /// The chosen lines, rewritten.
    Lines,
    /// The chosen lines left out and filled in.
    FillIn,
    /// One token of a definition replaced, left out or put in, or a line written anew from one on, where a model that reads it would rather have it so.
    TokenEdit,
    /// A statement put in before a line that stays.
    Insert,
}

impl WritingMode {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
    pub(crate) fn is_definition(&self) -> bool {
        *self == Self::Definition
    }
}

/// What P3 judges the relevance of a file from; the paper's own way is [`RelevanceMode::Description`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum RelevanceMode {
    /// Its name and its code, fused with the ranking; the files that stay are described.
    #[default]
    Code,
    /// Its description alone: every ranked file is described, and the answer decides.
    Description,
}

/// Whether hints reach the agents; the paper's "without hints" is [`HintsMode::Ignore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum HintsMode {
    #[default]
    Use,
    Ignore,
}

/// Whether QA Engineers review; the paper's "without QA" is [`QaMode::Skip`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(rename_all = "snake_case")]
pub enum QaMode {
    /// Each change is reviewed.
    #[default]
    Review,
    /// The first usable change is taken.
    Skip,
}

#[cfg(test)]
mod tests {
    use super::{model_at, model_host, model_label};

    #[test]
    fn a_models_name_says_where_it_computes() {
        for (name, label, host) in [
            ("qwen2.5-coder-1.5b", "qwen2.5-coder-1.5b", None),
            ("mine.gguf@sha256:00ff", "mine.gguf", None),
            ("org/small@engine:gpu.lan:8000", "org/small", Some("gpu.lan:8000")),
            ("odd@engine:name@engine:[::1]:80", "odd@engine:name", Some("[::1]:80")),
        ] {
            assert_eq!((model_label(name), model_host(name)), (label, host), "{name}");
        }
        assert_eq!(model_at("org/small", "gpu.lan:8000"), "org/small@engine:gpu.lan:8000");
    }
}
