//! The commits before one: what they said and which files they changed.

use super::objects::{Objects, id_of};
use super::{Frame, Parts, bounds};
use crate::{RepoError, tree_entry, tree_walk};
use git2::{ObjectType, Odb, Oid, Sort};
use magis_core::{CommitId, PastCommit, RepoPath};
use serde::{Deserialize, Serialize};

/// The most files that are named of a commit; one that changed more is a renaming or a formatting.
pub const MOST_CHANGED: usize = 200;
/// The commits that are met between two beats.
const BEAT: usize = 256;
/// The most bytes that are kept of a message.
const MOST_MESSAGE: usize = 4_000;

/// A commit that a walk met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Met {
    pub id: CommitId,
    pub is_merge: bool,
}

/// The tree before a commit and with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trees {
    pub old: String,
    pub new: String,
}

impl Objects {
    /// Returns commits before and with `from`, newest first, until `most` of them are no merges. It ends where a parent is missing, as in a shallow
    /// clone. Once in some hundred commits `beat` is called, so that a long walk can be told from one without end.
    pub fn walk(&self, from: &CommitId, most: usize, mut beat: impl FnMut()) -> Result<Vec<Met>, RepoError> {
        let attempt = "walking through the history";
        let start = id_of(&from.0, "commit")?;
        let mut walk = self.handle().revwalk().map_err(RepoError::git(attempt))?;
        walk.set_sorting(Sort::TIME).map_err(RepoError::git(attempt))?;
        walk.push(start).map_err(RepoError::git(attempt))?;
        let mut met = Vec::new();
        let mut left = most;
        while left > 0 {
            let Some(Ok(id)) = walk.next() else { break };
            let Ok(commit) = self.handle().find_commit(id) else {
                break;
            };
            if met.len() % BEAT == BEAT - 1 {
                beat();
            }
            let is_merge = commit.parent_count() > 1;
            met.push(Met {
                id: CommitId(id.to_string()),
                is_merge,
            });
            left -= usize::from(!is_merge);
        }
        Ok(met)
    }

    /// Tells of each of these commits; of none behind one of which something is missing.
    pub fn commits(&self, ids: &[CommitId], parts: Parts<'_>) -> Result<Frame, RepoError> {
        let odb = self.odb()?;
        for id in ids {
            let found = self.handle().find_commit(id_of(&id.0, "commit")?);
            let past = match found {
                Ok(commit) => read(&odb, &commit),
                Err(_) => break,
            };
            let part = match past {
                Ok(past) => Frame::of(&past)?,
                Err(RepoError::ObjectMissing { .. }) => break,
                Err(error) => return Err(error),
            };
            if parts(part).is_break() {
                break;
            }
        }
        Ok(Frame::default())
    }

    /// Returns the trees of a commit and of the one before it; none where one of these is not there.
    pub fn commit_trees(&self, commit: &CommitId) -> Option<Trees> {
        let commit = self.handle().find_commit(Oid::from_str(&commit.0).ok()?).ok()?;
        Some(Trees {
            old: commit.parent(0).ok()?.tree_id().to_string(),
            new: commit.tree_id().to_string(),
        })
    }
}

fn read(odb: &Odb<'_>, commit: &git2::Commit<'_>) -> Result<PastCommit, RepoError> {
    let before = match commit.parent(0) {
        Ok(parent) => Some(parent.tree_id()),
        Err(_) => None,
    };
    let entries = |id| tree_entry::parsed(id, &bounds::read(odb, id, ObjectType::Tree)?.1);
    let changed = tree_walk::changed(entries, before, commit.tree_id(), MOST_CHANGED)?;
    let message = String::from_utf8_lossy(commit.message_bytes());
    let end = message.floor_char_boundary(MOST_MESSAGE);
    Ok(PastCommit {
        id: CommitId(commit.id().to_string()),
        time: commit.time().seconds(),
        message: message[..end].to_owned(),
        changed: changed
            .into_iter()
            .filter_map(|path| RepoPath::new(String::from_utf8(path).ok()?).ok())
            .collect(),
    })
}
