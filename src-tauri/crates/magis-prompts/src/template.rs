//! The template files by name, whose they are, and their hashes.

use magis_core::{Agent, Stage};
use sha2::{Digest, Sha256};
use std::fmt;

macro_rules! templates {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $file:literal, $agent:ident, $stage:ident, $after:expr;)*) => {
        /// A template file of this crate, each the text of one prompt.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Template {
            $($(#[$doc])* $variant,)*
        }

        impl Template {
            /// All of them, in the order of the method.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name recorded with each call: the paper's number first.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the agent that asks it.
            pub fn agent(self) -> Agent {
                match self { $(Self::$variant => Agent::$agent,)* }
            }

            /// Returns the stage whose work its calls are.
            pub fn stage(self) -> Stage {
                match self { $(Self::$variant => Stage::$stage,)* }
            }

            pub(crate) fn source(self) -> &'static str {
                match self { $(Self::$variant => include_str!(concat!("../templates/", $file, ".txt")),)* }
            }

            fn partials(self) -> &'static [&'static str] {
                match self { $(Self::$variant => $after,)* }
            }
        }
    };
}

pub(crate) const SYSTEM: &str = include_str!("../templates/system.txt");
const HEAD: &str = include_str!("../templates/head.txt");
const P10_CHANGE: &str = include_str!("../templates/p10_change.txt");
const P11_CHANGE: &str = include_str!("../templates/p11_change.txt");

/// The parts that several templates include.
pub(crate) const PARTIALS: [(&str, &str); 3] = [("head", HEAD), ("p10_change", P10_CHANGE), ("p11_change", P11_CHANGE)];

templates! {
    /// A git diff becomes a "commit message".
    ChangeMessage = "P1", "p1_change_message", Custodian, Locate, &[];
    /// A file becomes a summary.
    FileSummary = "P2", "p2_summary", Custodian, Locate, &[];
    /// Relevance by the log-likelihood of the path.
    RelevanceByName = "P3-naming", "p3_naming", Custodian, Locate, &[HEAD];
    /// Relevance of functions and types by the log-likelihood of their names, with their files.
    SymbolByName = "P3-symbol", "p3_symbol", Custodian, Locate, &[HEAD];
    /// Relevance by yes or no on real code.
    RelevanceByCode = "P3-code", "p3_code", Custodian, Locate, &[HEAD];
    /// Relevance by yes or no on the description: the paper's own way, kept as an ablation.
    RelevanceByDescription = "P3-description", "p3_description", Custodian, Locate, &[HEAD];
    /// A small test that shows the fault.
    TestOfIssue = "test", "test_of_issue", QaEngineer, Evidence, &[HEAD];
    /// A small script that does what should be an error.
    TestOfError = "test-error", "test_of_error", QaEngineer, Evidence, &[HEAD];
    Task = "P4", "p4_task", Manager, Team, &[HEAD];
    DeveloperRole = "P5", "p5_role", Manager, Team, &[HEAD];
    /// The meeting: the Manager opens.
    MeetingOpen = "open", "meeting_open", Manager, Meeting, &[HEAD];
    /// The meeting: a Developer speaks.
    MeetingSpeak = "speak", "meeting_speak", Developer, Meeting, &[HEAD];
    /// The meeting: the Manager sums up.
    MeetingSumUp = "sum up", "meeting_sum_up", Manager, Meeting, &[HEAD];
    /// The role after the meeting.
    RevisedRole = "P6", "p6_revised_role", Developer, Meeting, &[HEAD];
    /// The main work plan.
    Plan = "P7", "p7_plan", Manager, Plan, &[HEAD];
    /// The QA Engineer's role.
    ReviewerRole = "P8", "p8_reviewer", Developer, Code, &[HEAD];
    /// Which symbol is to be changed, by log-likelihood.
    CodeByName = "P9-symbol", "p9_symbol", Developer, Code, &[HEAD];
    /// Which lines inside it.
    Lines = "P9-lines", "p9_lines", Developer, Code, &[HEAD];
    /// Which lines surprise the model most.
    Surprisal = "P9-surprisal", "p9_surprisal", Developer, Code, &[HEAD];
    /// What is wrong, in a sentence.
    Diagnosis = "P10-fault", "p10_fault", Developer, Code, &[HEAD, P10_CHANGE];
    Code = "P10-code", "p10_code", Developer, Code, &[HEAD, P10_CHANGE];
    /// The chosen lines left out and filled in: a departure from the paper.
    FillIn = "P10-fill-in", "p10_fill_in", Developer, Code, &[];
    NewFile = "P10-create", "p10_create", Developer, Code, &[HEAD];
    ReviewComment = "P11-comment", "p11_comment", QaEngineer, Code, &[HEAD, P11_CHANGE];
    ReviewDecision = "P11-decision", "p11_decision", QaEngineer, Code, &[HEAD, P11_CHANGE];
    /// The commit message's first line.
    CommitSubject = "commit message", "commit_message", Manager, Merge, &[HEAD];
}

impl Template {
    /// SHA-256, in hexadecimal, of everything the file's prompt is made of.
    pub fn hash(self) -> String {
        let mut hasher = Sha256::new();
        for part in [SYSTEM, self.source()].iter().chain(self.partials()) {
            hasher.update(part.as_bytes());
            hasher.update([0]);
        }
        magis_platform::hex::encode(hasher.finalize())
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
