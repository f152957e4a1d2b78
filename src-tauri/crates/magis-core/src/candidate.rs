//! What the Custodian found: candidate files, why each is one, and how each is described.

use crate::{BlobId, CommitId, LineSpan, RepoPath, text};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A file the issue may touch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Candidate {
    pub path: RepoPath,
    /// Its blob in the base tree.
    pub blob: BlobId,
    /// The ranking's score; comparable within one run only.
    #[cfg_attr(feature = "specta", specta(type = u32))]
    pub score: f64,
    /// Why it ranks where it does, strongest first.
    pub evidence: Vec<Evidence>,
}

/// One reason for a file to be a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Evidence {
    /// The issue quotes this path, whole or by its end.
    QuotedPath {
        /// As the issue has it.
        quoted: String,
    },
    /// The file defines a name the issue mentions.
    DefinesName { name: String },
    /// A stack trace in the issue passes through the file.
    TraceFrame {
        /// How far from the innermost frame, 0 = innermost.
        depth: u32,
    },
    /// Words of the path stand in the issue.
    PathWords { words: Vec<String> },
    /// The text matches; the terms that weighed most.
    Text { terms: Vec<String> },
    /// The words of the title match; those that weighed most.
    Title { terms: Vec<String> },
    /// These lines, a function or a piece of one, match better than the rest of the file.
    Lines {
        /// Those lines.
        span: LineSpan,
    },
    /// The code in the issue calls what the file defines.
    CalledInIssue {
        /// The name that is called.
        name: String,
    },
    /// The words of this name of the file stand in the issue.
    NameWords {
        /// The symbol, with its owners.
        name: String,
    },
    /// A string in the file says what the issue says.
    Literal { text: String },
    /// A past commit whose message resembles the issue changed the file.
    PastCommit {
        commit: CommitId,
        /// The first line of its message.
        subject: String,
    },
    /// It was changed lately.
    ChangedLately {
        /// The number of commits since, 0 = by the last.
        ago: u32,
    },
    /// It was often changed together with a file that ranks at the top.
    ChangedTogether { with: RepoPath },
    /// A test that resembles the issue is about the file.
    TestedBy { test: RepoPath },
    /// A function that matches the issue calls what the file defines.
    CalledBy {
        /// The file of that function.
        by: RepoPath,
    },
    /// What shows the fault runs through the file.
    Reached {
        /// How many of its functions.
        functions: u32,
    },
    /// Imported by, or importing, a file that ranks at the top.
    Neighbour { of: RepoPath },
    /// Ranked lower because it is a test, an example, documentation, vendored or generated.
    Demoted { why: String },
    /// A person named it.
    Given,
}

impl Evidence {
    /// Returns its place where evidence is shown: what the issue says outright stands before what only words suggest.
    pub fn display_order(&self) -> u8 {
        match self {
            Self::Given => 0,
            Self::QuotedPath { .. } => 1,
            Self::TraceFrame { .. } => 2,
            Self::Reached { .. } => 3,
            Self::DefinesName { .. } => 4,
            Self::Literal { .. } => 5,
            Self::CalledInIssue { .. } => 6,
            Self::NameWords { .. } => 7,
            Self::TestedBy { .. } => 8,
            Self::PastCommit { .. } => 9,
            Self::CalledBy { .. } => 10,
            Self::Neighbour { .. } => 11,
            Self::ChangedTogether { .. } => 12,
            Self::Title { .. } => 13,
            Self::Text { .. } => 14,
            Self::Lines { .. } => 15,
            Self::PathWords { .. } => 16,
            Self::ChangedLately { .. } => 17,
            Self::Demoted { .. } => 18,
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QuotedPath { quoted } => write!(f, "quoted in the issue as '{quoted}'"),
            Self::DefinesName { name } => write!(f, "defines {name}"),
            Self::TraceFrame { depth: 0 } => write!(f, "innermost frame of the trace"),
            Self::TraceFrame { depth } => write!(f, "in the trace, {depth} above the innermost frame"),
            Self::PathWords { words } => write!(f, "path has {}", words.join(", ")),
            Self::Text { terms } => write!(f, "text matches {}", terms.join(", ")),
            Self::Title { terms } => write!(f, "title matches {}", terms.join(", ")),
            Self::Lines { span } => write!(f, "lines {}-{} match best", span.first(), span.last()),
            Self::CalledInIssue { name } => write!(f, "the issue's code calls {name}"),
            Self::NameWords { name } => write!(f, "the words of {name}"),
            Self::Literal { text } => write!(f, "a string says '{text}'"),
            Self::PastCommit { commit, subject } => {
                let short = commit.0.get(..8).unwrap_or(&commit.0);
                write!(f, "changed by {short}, which reads alike: {subject}")
            }
            Self::ChangedLately { ago: 0 } => write!(f, "changed by the last commit"),
            Self::ChangedLately { ago } => {
                write!(f, "changed {} before the last", text::count(*ago as usize, "commit"))
            }
            Self::ChangedTogether { with } => write!(f, "often changed together with {with}"),
            Self::TestedBy { test } => write!(f, "tested by {test}, which matches"),
            Self::CalledBy { by } => write!(f, "called by {by}, which matches"),
            Self::Reached { functions } => {
                let functions = text::count(*functions as usize, "function");
                write!(f, "what shows the fault runs through {functions} of it")
            }
            Self::Neighbour { of } => write!(f, "neighbour by import of {of}"),
            Self::Demoted { why } => write!(f, "ranked lower: {why}"),
            Self::Given => write!(f, "given by you"),
        }
    }
}

/// The Custodian's judgement of one candidate (P3, in the form of `naming` and yes/no).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Judgement {
    pub path: RepoPath,
    /// log P(path | issue) − log P(path), in nats; none where the file was given.
    #[cfg_attr(feature = "specta", specta(type = Option<u32>))]
    pub naming: Option<f64>,
    /// log P(yes) − log P(no) on its code, in nats, where it was asked.
    #[cfg_attr(feature = "specta", specta(type = Option<u32>))]
    pub yes_no: Option<f64>,
    /// Ranking and judgements fused, as z-scores within this run.
    #[cfg_attr(feature = "specta", specta(type = u32))]
    pub relevance: f64,
    /// Whether the file stays a candidate.
    pub kept: bool,
}

/// What the team is told about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct Description {
    pub path: RepoPath,
    pub blob: BlobId,
    /// Where the words come from.
    pub source: DescriptionSource,
    pub summary: String,
    /// Whether the summary was made from a skeleton because the file is long.
    pub from_skeleton: bool,
}

impl DescriptionSource {
    /// Returns its name in the log.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Updated { .. } => "updated",
            Self::Fresh => "fresh",
            Self::Itself => "itself",
            Self::Names => "names",
        }
    }
}

impl Description {
    /// Returns the summary, followed by the message of later changes where there is one (algorithm 1).
    pub fn text(&self) -> String {
        match &self.source {
            DescriptionSource::Updated { message, .. } => format!("{}\nChanged since: {message}", self.summary),
            DescriptionSource::Stored | DescriptionSource::Fresh | DescriptionSource::Names => self.summary.clone(),
            DescriptionSource::Itself => format!("The whole file:\n{}", self.summary),
        }
    }
}

/// Where a description comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DescriptionSource {
    /// Memory held this very blob.
    Stored,
    /// Memory held an older blob; P1 told the difference.
    Updated {
        /// The blob memory held.
        from: BlobId,
        /// P1's "commit message" of the difference.
        message: String,
    },
    /// P2 wrote it in this run.
    Fresh,
    /// It is the file's own text, which is shorter than a summary would be.
    Itself,
    /// The names that the file defines: where something shows the fault, no summary is waited for.
    Names,
}

/// A file the run leaves out, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
pub struct SkippedFile {
    /// Its path as git has it, with unreadable bytes replaced.
    pub path: String,
    pub reason: SkipReason,
}

/// Why a file cannot be read or edited by a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SkipReason {
    /// NUL bytes or control characters.
    Binary,
    /// Larger than the limit.
    TooLarge {
        /// Its size in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// Lines so long that nobody wrote them.
    Minified,
    /// Not UTF-8.
    NotUtf8,
    Symlink,
    Submodule,
    /// A pointer of git LFS instead of content.
    LfsPointer,
    /// The object is missing (a partial clone, say).
    Missing,
    /// A path this program cannot name.
    UnsupportedPath,
    Unreadable,
}

impl SkipReason {
    /// Returns whether it lies in the content itself, so that reading that again gives the same.
    pub fn is_of_content(&self) -> bool {
        match self {
            Self::Binary | Self::TooLarge { .. } | Self::Minified | Self::NotUtf8 | Self::LfsPointer => true,
            Self::Symlink | Self::Submodule | Self::Missing | Self::UnsupportedPath | Self::Unreadable => false,
        }
    }
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary => f.write_str("binary"),
            Self::TooLarge { bytes, limit } => {
                write!(f, "{}, over the limit of {}", text::bytes(*bytes), text::bytes(*limit))
            }
            Self::Minified => f.write_str("minified"),
            Self::NotUtf8 => f.write_str("not UTF-8"),
            Self::Symlink => f.write_str("a symbolic link"),
            Self::Submodule => f.write_str("a submodule"),
            Self::LfsPointer => f.write_str("a git LFS pointer; run 'git lfs pull' to have its content"),
            Self::Missing => f.write_str("its object is not in this clone"),
            Self::UnsupportedPath => f.write_str("its path has control characters or is not UTF-8"),
            Self::Unreadable => f.write_str("reading it failed"),
        }
    }
}
