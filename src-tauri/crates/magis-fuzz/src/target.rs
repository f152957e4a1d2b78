//! What is given mutated inputs, and what each of them promises.

mod chat_template;
mod gguf;
mod git_answers;
mod git_requests;
mod issue;
mod memory_file;
mod model_protocol;
mod patch;
mod report;
mod repository;
mod run_archive;
mod source;

use crate::features::kind_of;
use anyhow::Result;
use clap::ValueEnum;
use magis_repo::{Git, GitWorker};
use repository::{Asked, RepositoryTarget};
use std::path::{Path, PathBuf};

/// A reader of what strangers wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum TargetName {
    /// A repository, read and changed in every way.
    Repository,
    /// A repository in which the files of an issue are looked for.
    Locate,
    /// A patch, read and placed.
    Patch,
    /// Two texts, compared, and the difference placed.
    Diff,
    /// A run from elsewhere.
    RunArchive,
    /// The memory of a repository from elsewhere.
    MemoryFile,
    /// The header of a model file.
    GgufHeader,
    /// The chat template of a model.
    ChatTemplate,
    /// What the model's worker and its parent say to each other.
    ModelProtocol,
    /// What a git worker answers.
    GitAnswers,
    /// What a git worker is asked.
    GitRequests,
    /// The text of an issue.
    Issue,
    /// What a test command prints.
    TestReport,
    /// The text of a source file.
    Source,
}

impl TargetName {
    /// Returns the name, as it is given in the command line and to folders.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repository => "repository",
            Self::Locate => "locate",
            Self::Patch => "patch",
            Self::Diff => "diff",
            Self::RunArchive => "run-archive",
            Self::MemoryFile => "memory-file",
            Self::GgufHeader => "gguf-header",
            Self::ChatTemplate => "chat-template",
            Self::ModelProtocol => "model-protocol",
            Self::GitAnswers => "git-answers",
            Self::GitRequests => "git-requests",
            Self::Issue => "issue",
            Self::TestReport => "test-report",
            Self::Source => "source",
        }
    }
}

/// What an input led to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CaseOutcome {
    /// Sentences about it; a new kind of one makes an input worth keeping.
    pub sentences: Vec<String>,
    /// How git workers were lost over it.
    pub lost: Vec<String>,
}

impl CaseOutcome {
    /// Adds a sentence; numbers and what is quoted do not count.
    pub fn say(&mut self, sentence: impl AsRef<str>) {
        self.sentences.push(kind_of(sentence.as_ref()));
    }

    /// Adds how something ended.
    pub fn say_result<T, E: ToString>(&mut self, what: &str, result: Result<T, E>) -> Option<T> {
        match result {
            Ok(value) => {
                self.sentences.push(format!("{what}: done"));
                Some(value)
            }
            Err(error) => {
                self.say(format!("{what}: {}", error.to_string()));
                None
            }
        }
    }

    /// Adds about how many there are: none, one, or a power of two.
    pub fn say_count(&mut self, what: &str, count: usize) {
        self.sentences
            .push(format!("{what}: 2^{}", usize::BITS - count.leading_zeros()));
    }
}

/// One reader of inputs. It panics where an input breaks what it promises.
pub trait FuzzTarget {
    /// Returns inputs to begin with.
    fn seeds(&mut self) -> Vec<Vec<u8>>;

    /// Returns words of its format, to be put in.
    fn words(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns whether its inputs are JSON, or lines of it.
    fn is_json(&self) -> bool {
        false
    }

    /// Makes checksums within an input right, so that what lies behind them is reached.
    fn seal(&self, _input: &mut Vec<u8>) {}

    /// Tries an input, and returns what it led to.
    fn run(&mut self, input: &[u8]) -> CaseOutcome;
}

/// How git repositories are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// By processes of this program.
    InWorkers(PathBuf),
    /// In this process, so that what watches its memory sees git's.
    InThisProcess,
}

impl Reading {
    fn git(&self) -> Git {
        match self {
            Self::InWorkers(_) => Git::in_workers(self.worker("git-worker", &[])),
            Self::InThisProcess => Git::in_this_process(),
        }
    }

    /// Returns this program as a git worker, with a word that says which.
    fn worker(&self, word: &str, further: &[&Path]) -> GitWorker {
        let mut args = vec![word.into()];
        args.extend(further.iter().map(|path| path.as_os_str().to_owned()));
        let program = match self {
            Self::InWorkers(program) => program.clone(),
            Self::InThisProcess => std::env::current_exe().unwrap_or_default(),
        };
        GitWorker { program, args }
    }
}

/// Opens a target, which may use the folder `place` as it likes.
///
/// # Errors
/// When its folder cannot be written, or the program `git` does not do what it should.
pub fn open(name: TargetName, place: &Path, reading: &Reading) -> Result<Box<dyn FuzzTarget>> {
    Ok(match name {
        TargetName::Repository => Box::new(RepositoryTarget::open(place, reading, Asked::Everything)?),
        TargetName::Locate => Box::new(RepositoryTarget::open(place, reading, Asked::Locate)?),
        TargetName::Patch => Box::new(patch::PatchTarget::open()?),
        TargetName::Diff => Box::new(patch::DiffTarget::open()?),
        TargetName::RunArchive => Box::new(run_archive::RunArchiveTarget::open(place)?),
        TargetName::MemoryFile => Box::new(memory_file::MemoryFileTarget::open(place)?),
        TargetName::GgufHeader => Box::new(gguf::GgufTarget::open(place)),
        TargetName::ChatTemplate => Box::new(chat_template::ChatTemplateTarget::open(&std::env::current_exe()?)),
        TargetName::ModelProtocol => Box::new(model_protocol::ModelProtocolTarget),
        TargetName::GitAnswers => Box::new(git_answers::GitAnswersTarget::open(place, reading)?),
        TargetName::GitRequests => Box::new(git_requests::GitRequestsTarget::open(place, reading)?),
        TargetName::Issue => Box::new(issue::IssueTarget::open()?),
        TargetName::TestReport => Box::new(report::ReportTarget),
        TargetName::Source => Box::new(source::SourceTarget::open()?),
    })
}

pub use chat_template::write_conversations;
pub use git_answers::{answer_madly, record};
