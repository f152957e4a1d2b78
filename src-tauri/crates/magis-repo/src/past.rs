//! The commits before a snapshot: what they said and which files they changed. Only what is not known yet is read.
//!
//! Merges are walked through but say nothing of their own: what they bring in has its own commits.

use crate::{RepoError, Snapshot};
use git2::{DiffOptions, ErrorCode, Oid, Sort};
use magis_core::{CommitId, PastCommit, RepoPath};
use std::ops::ControlFlow;

/// Of a commit that changed more files than this, so many are told: it is a renaming or a formatting.
pub const MOST_CHANGED: usize = 200;
/// Of a message so many bytes are kept.
const MOST_MESSAGE: usize = 4_000;

/// The commits that a walk met.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walked {
    /// All of them but merges, newest first.
    pub commits: Vec<CommitId>,
    /// Those that were not known, in the same order.
    pub new: Vec<PastCommit>,
    /// Whether all was read, or `progress` broke it off.
    pub complete: bool,
}

impl Snapshot {
    /// The last `most` commits before and with the base, merges left out. Those that `known` says yes to are named and
    /// not read. A shallow clone has as many as it has; none are found where the repository is gone.
    pub fn past(
        &self,
        most: usize,
        known: impl Fn(&CommitId) -> bool,
        mut progress: impl FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Walked, RepoError> {
        let joined = self.store().joined();
        let base = &self.base().commit.0;
        let start = Oid::from_str(base).map_err(|_| RepoError::ObjectMissing {
            kind: "commit",
            id: base.clone(),
        })?;
        let mut walk = joined
            .revwalk()
            .map_err(RepoError::git("walking through the history"))?;
        walk.set_sorting(Sort::TIME)
            .map_err(RepoError::git("walking through the history"))?;
        walk.push(start)
            .map_err(RepoError::git("walking through the history"))?;
        let mut walked = Walked {
            complete: true,
            ..Walked::default()
        };
        for id in walk {
            // The end of a shallow clone: parents that are not there.
            let Ok(id) = id else { break };
            let Ok(commit) = joined.find_commit(id) else { break };
            if commit.parent_count() > 1 {
                continue;
            }
            let name = CommitId(id.to_string());
            if !known(&name) {
                match read(&joined, &commit) {
                    Ok(past) => walked.new.push(past),
                    Err(error) if error.code() == ErrorCode::NotFound => break,
                    Err(error) => return Err(RepoError::git("comparing a commit with the one before")(error)),
                }
                if progress(walked.new.len()).is_break() {
                    walked.complete = false;
                    break;
                }
            }
            walked.commits.push(name);
            if walked.commits.len() >= most {
                break;
            }
        }
        Ok(walked)
    }
}

fn read(repository: &git2::Repository, commit: &git2::Commit<'_>) -> Result<PastCommit, git2::Error> {
    let before = match commit.parent(0) {
        Ok(parent) => Some(parent.tree()?),
        Err(_) => None,
    };
    let mut options = DiffOptions::new();
    options.skip_binary_check(true).ignore_submodules(true);
    let diff = repository.diff_tree_to_tree(before.as_ref(), Some(&commit.tree()?), Some(&mut options))?;
    let mut changed: Vec<RepoPath> = Vec::new();
    for delta in diff.deltas().take(MOST_CHANGED) {
        let file = delta.new_file().path().or_else(|| delta.old_file().path());
        let path = file
            .and_then(|path| path.to_str())
            .and_then(|path| RepoPath::new(path).ok());
        changed.extend(path);
    }
    let message = String::from_utf8_lossy(commit.message_bytes());
    let end = message.floor_char_boundary(MOST_MESSAGE);
    Ok(PastCommit {
        id: CommitId(commit.id().to_string()),
        time: commit.time().seconds(),
        message: message[..end].to_owned(),
        changed,
    })
}
