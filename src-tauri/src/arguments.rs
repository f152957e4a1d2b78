//! What can be said when the program is started.
//!
//! There are four options; that needs no parser of its own crate.

use crate::view::Opening;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The word that makes this program the engine's process. It is no word of a person.
pub const WORKER: &str = "worker";
/// The word that makes it the process that reads a repository.
pub const GIT_WORKER: &str = "git-worker";
/// And the helper that runs commands.
pub const SANDBOX_HELPER: &str = "sandbox-helper";

/// The arguments that the window's program was started with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arguments {
    /// The data folder; none: the usual one.
    pub data: Option<PathBuf>,
    /// The folder of the models; none: inside the data folder.
    pub models: Option<PathBuf>,
    /// A repository to open with.
    pub repo: Option<PathBuf>,
    /// A file with an issue of that repository.
    pub issue: Option<PathBuf>,
}

/// How the program is started.
const USAGE: &str = "usage: magis-app [--data-dir FOLDER] [--models-dir FOLDER] [--repo FOLDER [--issue FILE]]";

impl Arguments {
    /// Reads the words after the program's own name. What cannot be read is told with how it should be.
    pub fn read(words: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut arguments = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            let (name, attached) = match text.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(OsString::from(value))),
                None => (text.into_owned(), None),
            };
            let slot = match name.as_str() {
                "--data-dir" => &mut arguments.data,
                "--models-dir" => &mut arguments.models,
                "--repo" => &mut arguments.repo,
                "--issue" => &mut arguments.issue,
                _ => return Err(format!("'{name}' is not known; {USAGE}")),
            };
            let folder = attached
                .or_else(|| words.next())
                .filter(|folder| !folder.is_empty())
                .ok_or_else(|| format!("{name} needs a path; {USAGE}"))?;
            *slot = Some(PathBuf::from(folder));
        }
        if arguments.issue.is_some() && arguments.repo.is_none() {
            return Err(format!("--issue needs a --repo; {USAGE}"));
        }
        Ok(arguments)
    }

    /// Returns what the window is to show first; paths are taken from `folder`, where the program was started.
    pub fn opening(&self, folder: &Path) -> Option<Opening> {
        let absolute = |path: &PathBuf| folder.join(path).display().to_string();
        Some(Opening {
            repo: absolute(self.repo.as_ref()?),
            issue: self.issue.as_ref().map(absolute),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], expected: Result<(Option<&str>, Option<&str>), &str>) {
        let read = Arguments::read(words.iter().map(OsString::from));
        match (read, expected) {
            (Ok(read), Ok((data, models))) => {
                assert_eq!(read.data, data.map(PathBuf::from));
                assert_eq!(read.models, models.map(PathBuf::from));
            }
            (Err(said), Err(part)) => assert!(said.contains(part), "{said}"),
            (read, expected) => assert_eq!(read.map(|_| ()), expected.map(|_| ()).map_err(ToOwned::to_owned)),
        }
    }

    #[test]
    fn folders_are_given_with_or_without_an_equals_sign() {
        check(&[], Ok((None, None)));
        check(
            &["--data-dir", "/a b", "--models-dir=/m"],
            Ok((Some("/a b"), Some("/m"))),
        );
    }

    #[test]
    fn a_repository_and_its_issue_are_taken_from_where_the_program_was_started() {
        let read = |words: &[&str]| Arguments::read(words.iter().map(OsString::from)).unwrap();
        let opening = read(&["--repo", "src/app", "--issue", "/tmp/issue.md"]).opening(Path::new("/home/ada"));
        let expected = Opening {
            repo: "/home/ada/src/app".into(),
            issue: Some("/tmp/issue.md".into()),
        };
        assert_eq!(opening, Some(expected));
        assert_eq!(read(&[]).opening(Path::new("/home/ada")), None);
    }

    #[test]
    fn what_is_not_known_is_told() {
        check(&["--data-dir"], Err("needs a path"));
        check(&["--help-me"], Err("is not known"));
        check(&["--issue", "/i.md"], Err("needs a --repo"));
    }
}
