//! Why changes are looked for instead of being told.

use crate::RepoError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::path::Path;

/// Why changes are looked for instead of being told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WhyPolling {
    /// The repository has more folders than may be watched.
    TooManyFolders {
        /// How many may be, of the user's programs together; none where the system does not say.
        limit: Option<u64>,
    },
    /// Too many programs of the user watch something.
    TooManyWatchers { limit: Option<u64> },
    /// The folder of the repository went away. Where it comes back it is watched again.
    RootGone,
    /// The repository could not be read. Where it can be again it is watched again.
    Unreadable { reason: String },
    /// The system says something else.
    System { reason: String },
}

impl fmt::Display for WhyPolling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |limit: &Option<u64>| limit.map(|limit| format!(" ({limit})")).unwrap_or_default();
        match self {
            Self::TooManyFolders { limit } => write!(
                f,
                "the repository has more folders than the system lets you watch{}, so changes are looked for from time to time",
                of(limit)
            ),
            Self::TooManyWatchers { limit } => write!(
                f,
                "as many programs watch files as the system lets you{}, so changes are looked for from time to time",
                of(limit)
            ),
            Self::RootGone => f.write_str("the folder of the repository is gone; it is looked for from time to time"),
            Self::Unreadable { reason } => write!(
                f,
                "the repository cannot be read ({reason}); it is looked at from time to time"
            ),
            Self::System { reason } => write!(
                f,
                "the system does not tell of changes ({reason}), so they are looked for from time to time"
            ),
        }
    }
}

impl WhyPolling {
    /// Returns what a person can do about it, in a sentence.
    pub fn remedy(&self) -> String {
        match self {
            Self::TooManyFolders { .. } => raise("max_user_watches", self.enough()),
            Self::TooManyWatchers { .. } => raise("max_user_instances", self.enough()),
            Self::RootGone => "Bring the folder back, or remove the repository from the list.".to_owned(),
            Self::Unreadable { .. } => "Run 'git status' in the repository to see what is wrong with it.".to_owned(),
            Self::System { .. } => "Keep the repository on a local disk, where the system tells of changes.".to_owned(),
        }
    }

    /// Returns the limit that would do, where there is one.
    pub fn enough(&self) -> Option<u64> {
        match self {
            Self::TooManyFolders { limit } => Some(four_times(*limit, 8_192)),
            Self::TooManyWatchers { limit } => Some(four_times(*limit, 128)),
            Self::RootGone | Self::Unreadable { .. } | Self::System { .. } => None,
        }
    }

    /// Returns whether it is the repository's state, which passes, and not the system's.
    pub(crate) fn passes(&self) -> bool {
        match self {
            Self::RootGone | Self::Unreadable { .. } => true,
            Self::TooManyFolders { .. } | Self::TooManyWatchers { .. } | Self::System { .. } => false,
        }
    }

    /// Returns why a repository cannot be looked at.
    pub(crate) fn unreadable(root: &Path, error: &RepoError) -> Self {
        if root.is_dir() {
            Self::Unreadable {
                reason: error.to_string(),
            }
        } else {
            Self::RootGone
        }
    }

    /// Reads what the watching library says.
    pub(crate) fn of(error: &notify::Error) -> Self {
        match &error.kind {
            notify::ErrorKind::MaxFilesWatch => Self::TooManyFolders {
                limit: limit("max_user_watches"),
            },
            notify::ErrorKind::Io(io) if io.raw_os_error() == Some(TOO_MANY_OPEN) => Self::TooManyWatchers {
                limit: limit("max_user_instances"),
            },
            other => Self::System {
                reason: format!("{other:?}"),
            },
        }
    }
}

/// What Linux answers (EMFILE) when a user has too many watching programs.
const TOO_MANY_OPEN: i32 = 24;

fn four_times(limit: Option<u64>, least: u64) -> u64 {
    limit.unwrap_or(0).max(least) * 4
}

fn raise(setting: &str, to: Option<u64>) -> String {
    let to = to.unwrap_or_default();
    format!(
        "Run 'sudo sysctl fs.inotify.{setting}={to}' and watch again; a line 'fs.inotify.{setting}={to}' in \
         /etc/sysctl.d/60-watches.conf keeps it."
    )
}

fn limit(setting: &str) -> Option<u64> {
    let text = fs::read_to_string(Path::new("/proc/sys/fs/inotify").join(setting)).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_limit_a_person_is_told_the_command_that_raises_it() {
        let check = |error: &notify::Error, words: &str| {
            let why = WhyPolling::of(error);
            assert!(why.remedy().contains(words), "{why}: {}", why.remedy());
        };
        check(
            &notify::Error::new(notify::ErrorKind::MaxFilesWatch),
            "sudo sysctl fs.inotify.max_user_watches=",
        );
        check(
            &notify::Error::io(std::io::Error::from_raw_os_error(TOO_MANY_OPEN)),
            "sudo sysctl fs.inotify.max_user_instances=",
        );
        check(&notify::Error::io(std::io::Error::from_raw_os_error(38)), "local disk");
    }

    #[test]
    fn the_limit_asked_for_is_above_the_one_there_is() {
        let why = WhyPolling::TooManyFolders { limit: Some(192_536) };
        assert!(why.to_string().contains("(192536)"), "{why}");
        assert!(why.remedy().contains("max_user_watches=770144"), "{}", why.remedy());
    }
}
