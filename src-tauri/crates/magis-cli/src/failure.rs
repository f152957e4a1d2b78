//! Why a command could not do what was asked: one sentence, what to do about it, and the exit code.

use crate::exit::ExitStatus;
use crate::render::clean;
use magis_engine::EngineError;
use magis_engine::models::{FetchError, HubError, LibraryError};
use magis_engine::records::{ArchiveError, StoreError};
use magis_engine::repository::{PatchError, ReadError, RepoError};
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::Path;

/// Why a command ended early.
#[derive(Debug)]
pub enum Failure {
    Told {
        /// What happened, in a sentence without a full stop.
        sentence: String,
        /// What a person can do; empty where the sentence says it all.
        remedy: String,
        exit: ExitStatus,
    },
    /// Whoever read standard output has gone, as `head` does. Nobody is left to be told.
    OutputClosed,
}

impl Failure {
    /// Returns something that went wrong.
    pub fn error(sentence: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Told {
            sentence: sentence.into(),
            remedy: remedy.into(),
            exit: ExitStatus::Error,
        }
    }

    /// Returns something that was asked for in a way that cannot be understood.
    pub fn usage(sentence: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Told {
            sentence: sentence.into(),
            remedy: remedy.into(),
            exit: ExitStatus::Usage,
        }
    }

    /// Returns the message as it goes to standard error.
    pub fn message(&self) -> String {
        match self {
            Self::OutputClosed => String::new(),
            Self::Told { sentence, remedy, .. } => {
                // What is quoted may have been written by anybody.
                let mut message = format!("error: {}\n", clean(sentence));
                if !remedy.is_empty() {
                    // Writing to a string cannot fail.
                    let _ = writeln!(message, "  what to do: {}", clean(remedy));
                }
                message
            }
        }
    }

    /// Returns the exit code. A closed output is the reader's wish, not an error.
    pub fn exit(&self) -> ExitStatus {
        match self {
            Self::OutputClosed => ExitStatus::Success,
            Self::Told { exit, .. } => *exit,
        }
    }
}

/// Refuses to write to a file that is there.
pub fn refuse_existing(file: &Path) -> Result<(), Failure> {
    match file.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Failure::error(
            format!("cannot look whether {} exists: {error}", file.display()),
            "check the path and its permissions",
        )),
        Ok(_) => Err(Failure::error(
            format!("{} exists already, and nothing was written", file.display()),
            "choose another name, or delete that file first",
        )),
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        if let EngineError::Repo(RepoError::Conflicts(conflicts) | RepoError::NeedsUncommitted(conflicts)) = &error
            && conflicts.len() > 1
        {
            let places: Vec<String> = conflicts.iter().map(|conflict| format!("\n    {conflict}")).collect();
            return Self::Told {
                sentence: format!(
                    "the patch does not apply at {} places:{}",
                    conflicts.len(),
                    places.concat()
                ),
                remedy: error.remedy(),
                exit: ExitStatus::Conflict,
            };
        }
        let exit = match &error {
            EngineError::Repo(
                RepoError::Conflicts(_) | RepoError::NeedsUncommitted(_) | RepoError::ChangedSince(_),
            ) => ExitStatus::Conflict,
            _ => ExitStatus::Error,
        };
        Self::Told {
            sentence: error.to_string(),
            remedy: error.remedy(),
            exit,
        }
    }
}

macro_rules! through_the_engine {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                EngineError::from(error).into()
            }
        })*
    };
}

through_the_engine!(StoreError, ArchiveError, LibraryError, RepoError, ReadError);

impl From<PatchError> for Failure {
    fn from(error: PatchError) -> Self {
        RepoError::from(error).into()
    }
}

impl From<FetchError> for Failure {
    fn from(error: FetchError) -> Self {
        let remedy = match &error {
            FetchError::Unknown { .. } => "see 'magis models list', or add a file of your own with 'magis models add'",
            _ => "",
        };
        let exit = match &error {
            FetchError::Cancelled { .. } => ExitStatus::Stopped,
            _ => ExitStatus::Error,
        };
        Self::Told {
            sentence: error.to_string(),
            remedy: remedy.to_owned(),
            exit,
        }
    }
}

impl From<HubError> for Failure {
    fn from(error: HubError) -> Self {
        match &error {
            HubError::Name(_) => Self::usage(error.to_string(), ""),
            _ => Self::error(error.to_string(), ""),
        }
    }
}
