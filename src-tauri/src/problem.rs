//! What goes wrong, as the window tells it: a code for programs, one sentence, and one thing a person can do.
//!
//! Where an error arises is the engine's business; here only its words are chosen, because a remedy of the command line
//! is none in the window. The words are English; the front end says them in another language by the code and by what the
//! problem names, and where it has no such sentence the English stands.

mod given;
mod hub;

pub use given::{Given, named};
use magis_core::RepoPath;
use magis_engine::model::{AddressError, KeyError, LlmError};
use magis_engine::models::{FetchError, LibraryError, ModelIdError};
use magis_engine::records::{ArchiveError, LeaseError, StoreError};
use magis_engine::repository::{PatchError, ReadError, RepoError};
use magis_engine::tests::CommandError;
use magis_engine::{BrokenOffApplication, BrokenOffOutcome, EngineError, NotRunReason};
use serde::{Deserialize, Serialize};
use specta::Type;

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Problem {
    /// A stable word for programs.
    pub code: String,
    /// What happened, with which thing: one sentence.
    pub message: String,
    /// What can be done; none where the sentence says it all.
    pub remedy: Option<String>,
    /// What the sentence names: a path, a run, a number. None where it names nothing that another language needs.
    #[serde(default)]
    #[specta(optional)]
    pub given: Option<Given>,
}

impl Problem {
    /// Creates a problem of the window's own.
    pub fn new(code: &str, message: impl AsRef<str>, remedy: impl AsRef<str>) -> Self {
        let remedy = sentence(remedy.as_ref());
        Self {
            code: code.to_owned(),
            message: sentence(message.as_ref()),
            remedy: (!remedy.is_empty()).then_some(remedy),
            given: None,
        }
    }

    /// Returns the same, with what it names.
    #[must_use]
    pub fn naming(self, given: Given) -> Self {
        Self {
            given: (!given.is_empty()).then_some(given),
            ..self
        }
    }
}

impl From<&BrokenOffApplication> for Problem {
    fn from(broken_off: &BrokenOffApplication) -> Self {
        let mut given = named([("run", broken_off.run)]);
        let (code, remedy) = match &broken_off.outcome {
            BrokenOffOutcome::Stands => ("broken_off_stands", "It can be taken back in its review."),
            BrokenOffOutcome::TakenBack { kept } if kept.is_empty() => {
                ("broken_off_taken_back", "It can be applied again in its review.")
            }
            BrokenOffOutcome::TakenBack { kept } => {
                let kept: Vec<&str> = kept.iter().map(RepoPath::as_str).collect();
                given.insert("paths".to_owned(), kept.join(", "));
                (
                    "broken_off_kept",
                    "Look at these files; the base of the run has them as they were.",
                )
            }
            BrokenOffOutcome::Open { why } => {
                given.insert("why".to_owned(), why.clone());
                ("broken_off_open", "The next start tries again to take it back.")
            }
        };
        Self::new(code, broken_off.sentence(), remedy).naming(given)
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        Self::from(&error)
    }
}

impl From<&EngineError> for Problem {
    fn from(error: &EngineError) -> Self {
        Self::new(code(error), error.to_string(), remedy(error)).naming(given::given(error))
    }
}

macro_rules! through_the_engine {
    ($($error:ty),*) => {
        $(impl From<$error> for Problem {
            fn from(error: $error) -> Self {
                EngineError::from(error).into()
            }
        })*
    };
}

through_the_engine!(
    StoreError,
    ArchiveError,
    LeaseError,
    LibraryError,
    RepoError,
    ReadError,
    LlmError,
    magis_core::IssueError,
    magis_core::PathError
);

impl From<PatchError> for Problem {
    fn from(error: PatchError) -> Self {
        RepoError::from(error).into()
    }
}

impl From<ModelIdError> for Problem {
    fn from(error: ModelIdError) -> Self {
        Self::new("model_id", error.to_string(), "Choose a model of the list.")
    }
}

impl From<FetchError> for Problem {
    fn from(error: FetchError) -> Self {
        let code = match &error {
            FetchError::Hub(hub) => return hub.into(),
            FetchError::Cancelled { .. } => "cancelled",
            FetchError::HubSilent { .. } | FetchError::HubRefused { .. } => "no_answer",
            FetchError::NoSpace { .. } => "full",
            _ => "fetch",
        };
        Self::new(code, error.to_string(), "")
    }
}

fn code(error: &EngineError) -> &'static str {
    match error {
        EngineError::Issue(magis_core::IssueError::Empty) => "issue_empty",
        EngineError::Issue(magis_core::IssueError::OnlyAddress(_)) => "issue_address",
        EngineError::Path(_) => "path",
        EngineError::NoSuchFile { .. } => "no_such_file",
        EngineError::Repo(error) => error.code(),
        EngineError::Read(_) => "read",
        EngineError::Search(_) => "search",
        EngineError::Store(error) | EngineError::Lease(LeaseError::Store(error)) => error.code(),
        EngineError::Lease(_) => "run_active",
        EngineError::Archive(_) => "archive",
        EngineError::Model(
            LibraryError::NotInstalled { .. } | LibraryError::Unknown { .. } | LibraryError::NotInLibrary { .. },
        ) => "model_missing",
        EngineError::Model(_) => "model",
        EngineError::Llm(_) => "engine",
        EngineError::EngineAddress(AddressError::Public { .. }) => "engine_public",
        EngineError::EngineAddress(AddressError::PlainToName { .. }) => "engine_plain",
        EngineError::EngineAddress(_) => "engine_address",
        EngineError::EngineKey(KeyError::Form) => "engine_key",
        EngineError::EngineKey(KeyError::Keyring(_)) => "engine_keyring",
        EngineError::OtherEngine { .. } => "other_engine",
        EngineError::Log { .. } => "log_damaged",
        EngineError::Prompt(_) => "prompt",
        EngineError::TooLittleMemory { .. } => "too_little_memory",
        EngineError::OverBudget { .. } => "over_budget",
        EngineError::RunOver(_) => "run_over",
        EngineError::NoPatch(_) => "no_patch",
        EngineError::Steering { .. } => "steering",
        EngineError::RepositoryGone { .. } => "repository_gone",
        EngineError::NoRepository(_) => "no_repository",
        EngineError::WhichRepository { .. } => "which_repository",
        EngineError::OtherRepository { .. } => "other_repository",
        EngineError::Step { .. } => "step",
        EngineError::Patch { .. } => "patch",
        EngineError::NotApplied(_) => "not_applied",
        EngineError::NothingRemembered { .. } => "nothing_remembered",
        EngineError::EmptySummary { .. } => "summary_empty",
        EngineError::MemoryFile(_) => "memory_file",
        EngineError::Summary { .. } => "summary",
        EngineError::NotIsolated(_) => "not_isolated",
        EngineError::Sandbox(_) | EngineError::Layer(_) => "sandbox",
        EngineError::TestCommand(CommandError::Empty) => "test_command_empty",
        EngineError::TestCommand(CommandError::Unbalanced(_)) => "test_command_quote",
        EngineError::TestCommand(CommandError::Control(_)) => "test_command_lines",
        EngineError::TestCommand(CommandError::NoProgram(_)) => "test_command_no_program",
        EngineError::Selection(_) => "test_selection",
        EngineError::NotRun { why, .. } => not_run_code(why),
        EngineError::NoHome => "no_home",
        EngineError::DataFolderTaken { .. } => "data_folder_taken",
        EngineError::DataFolderOpen(_) => "data_folder_open",
        EngineError::Io { .. } => "io",
    }
}

fn not_run_code(why: &NotRunReason) -> &'static str {
    match why {
        NotRunReason::NotAllowed(_) => "not_run",
        NotRunReason::NoCheck(_) => "not_run_no_check",
        NotRunReason::NoBase => "not_run_no_base",
        NotRunReason::CheckGone => "not_run_check_gone",
        NotRunReason::ProjectTest => "not_run_project_test",
        NotRunReason::Tests(_) => "not_run_tests",
        NotRunReason::NotAsked => "not_run_not_asked",
        NotRunReason::OnlyCommand(_) => "not_run_only_command",
        NotRunReason::NoSandbox => "not_run_no_sandbox",
        NotRunReason::NotIsolated(_) => "not_run_not_isolated",
    }
}

/// Returns what can be done in the window; where that is the same everywhere, the engine's own remedy.
fn remedy(error: &EngineError) -> String {
    match error {
        EngineError::Model(LibraryError::NotInstalled { .. }) => {
            "Download it under Models, or choose another model.".to_owned()
        }
        EngineError::Model(_) => "See under Models what is here and what can be downloaded.".to_owned(),
        EngineError::Llm(LlmError::OverContext { .. }) | EngineError::OverBudget { .. } => {
            "Take a model with a larger context, a shorter issue, or fewer hints.".to_owned()
        }
        EngineError::Llm(_) => "Resume the run; if it happens again, choose another model.".to_owned(),
        EngineError::TooLittleMemory { .. } => {
            "Close other programs, raise the limit under Settings where there is one, or take a smaller model."
                .to_owned()
        }
        EngineError::OtherEngine { .. } => {
            "Name that engine under Settings if prompts may go there, or run it again with another model.".to_owned()
        }
        EngineError::RunOver(_) => "Run it again from a stage.".to_owned(),
        EngineError::NoPatch(_) => "See on the run's page how it ended.".to_owned(),
        EngineError::Steering { .. } => "Look at the run's files and tasks as they are now.".to_owned(),
        EngineError::Step { .. } => "Run it again from this stage, with another model or seed.".to_owned(),
        EngineError::NoRepository(_) => "Add the repository it was made in, or save the patch as a file.".to_owned(),
        EngineError::WhichRepository { .. } => {
            "Choose the one that is meant in its review, or save the patch as a file.".to_owned()
        }
        EngineError::OtherRepository { .. } => {
            "Choose the repository it was made in, or save the patch as a file.".to_owned()
        }
        EngineError::RepositoryGone { .. } => {
            "Put the folder back, add the repository at its new place, or save the patch as a file.".to_owned()
        }
        EngineError::Repo(RepoError::NoSuchFolder(_)) => {
            "Put the folder back, or remove the repository from the list.".to_owned()
        }
        EngineError::Patch { .. } => "Open the review again.".to_owned(),
        EngineError::NotApplied(_) => "Nothing has to be taken back.".to_owned(),
        EngineError::NoHome => "Set HOME, or start with --data-dir.".to_owned(),
        EngineError::Issue(_)
        | EngineError::Path(_)
        | EngineError::NoSuchFile { .. }
        | EngineError::Repo(_)
        | EngineError::Read(_)
        | EngineError::Search(_)
        | EngineError::Store(_)
        | EngineError::Lease(_)
        | EngineError::Archive(_)
        | EngineError::Log { .. }
        | EngineError::Prompt(_)
        | EngineError::NothingRemembered { .. }
        | EngineError::EmptySummary { .. }
        | EngineError::MemoryFile(_)
        | EngineError::Summary { .. }
        | EngineError::NotIsolated(_)
        | EngineError::Sandbox(_)
        | EngineError::Layer(_)
        | EngineError::TestCommand(_)
        | EngineError::Selection(_)
        | EngineError::NotRun { .. }
        | EngineError::DataFolderTaken { .. }
        | EngineError::DataFolderOpen(_)
        | EngineError::EngineAddress(_)
        | EngineError::EngineKey(_)
        | EngineError::Io { .. } => error.remedy(),
    }
}

/// Returns the text as a sentence: it begins with a capital letter and ends with a full stop. One that begins with a
/// path or a name in quotes is left as it begins.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let first_word = text.split_whitespace().next().unwrap_or_default();
    let is_plain = !first_word.is_empty() && first_word.chars().all(|letter| letter.is_ascii_lowercase());
    let mut sentence = if is_plain {
        text[..1].to_ascii_uppercase() + &text[1..]
    } else {
        text.to_owned()
    };
    if !sentence.is_empty() && !sentence.ends_with(['.', '?', '!', ':']) {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Refuses to run a check, and tells the code and the remedy.
    fn check_not_run(why: NotRunReason, code: &str, remedy: &str) {
        let run = magis_core::RunId(3);
        let problem = Problem::from(EngineError::NotRun { run, why });
        assert_eq!((problem.code.as_str(), problem.remedy.as_deref()), (code, Some(remedy)));
    }

    #[test]
    fn a_permission_is_asked_for_only_where_it_is_missing() {
        check_not_run(
            NotRunReason::NotAllowed("`pytest`".to_owned()),
            "not_run",
            "Allow the test command where the run is begun, or run the script yourself.",
        );
        check_not_run(
            NotRunReason::NoCheck(magis_core::CheckId(4)),
            "not_run_no_check",
            "Choose one of the checks that the run has.",
        );
        check_not_run(
            NotRunReason::NoBase,
            "not_run_no_base",
            "Fetch the commit that the run stands on into its repository.",
        );
        check_not_run(
            NotRunReason::ProjectTest,
            "not_run_project_test",
            "Run the check as it is; for another test, edit it in the project and begin a new run.",
        );
    }

    #[test]
    fn a_problem_is_told_in_sentences() {
        let problem = Problem::from(EngineError::RunOver(magis_core::RunId(3)));
        assert_eq!(problem.message, "Run 3 is over.");
        assert_eq!(problem.remedy.as_deref(), Some("Run it again from a stage."));
        let named = problem.given.and_then(|given| given.get("run").cloned());
        assert_eq!(named.as_deref(), Some("3"), "another language can name the same run");
        assert_eq!(sentence("src/a.rs is gone"), "src/a.rs is gone.");
        assert_eq!(sentence(""), "");
    }
}
