//! The commits before a snapshot: what they said and which files they changed. Only what is not known yet is read.
//!
//! Merges are walked through but say nothing of their own: what they bring in has its own commits.

use crate::{RepoError, Snapshot, bounds, tree, tree_entry};
use git2::{ObjectType, Odb, Oid, Sort};
use magis_core::{BlobId, CommitId, PastCommit, RepoPath};
use std::ops::ControlFlow;

/// The most files that are named of a commit; one that changed more is a renaming or a formatting.
pub const MOST_CHANGED: usize = 200;
/// The most bytes that are kept of a message.
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
    /// Returns the last `most` commits before and with the base, merges left out. Those that `known` says yes to are
    /// named and not read. A shallow clone has as many as it has; none are found where the repository is gone.
    /// `progress` is told how many were read and may break it off; it is asked for each commit, also for one that is
    /// not read.
    ///
    /// # Errors
    /// When the history cannot be read.
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
        let odb = joined.odb().map_err(RepoError::git("opening the object store"))?;
        for id in walk {
            // The end of a shallow clone: parents that are not there.
            let Ok(id) = id else { break };
            let Ok(commit) = joined.find_commit(id) else { break };
            let name = CommitId(id.to_string());
            let is_merge = commit.parent_count() > 1;
            if !is_merge && !known(&name) {
                match read(&odb, &commit) {
                    Ok(past) => walked.new.push(past),
                    Err(RepoError::ObjectMissing { .. }) => break,
                    Err(error) => return Err(error),
                }
            }
            if progress(walked.new.len()).is_break() {
                walked.complete = false;
                break;
            }
            if is_merge {
                continue;
            }
            walked.commits.push(name);
            if walked.commits.len() >= most {
                break;
            }
        }
        Ok(walked)
    }

    /// Returns the text of a file before a commit and with it; none where one of the two has no such text, or the commit is not there.
    ///
    /// # Errors
    /// When the trees cannot be read.
    pub fn changed_by(&self, commit: &CommitId, path: &RepoPath) -> Result<Option<(String, String)>, RepoError> {
        // Reading a file locks the store again, so the lock ends with this block.
        let trees = {
            let joined = self.store().joined();
            let found = Oid::from_str(&commit.0).and_then(|id| joined.find_commit(id));
            found
                .and_then(|commit| Ok((commit.parent(0)?.tree_id(), commit.tree_id())))
                .ok()
        };
        let Some((old, new)) = trees else {
            return Ok(None);
        };
        let text = |tree| {
            let entry = tree::find(self.store(), tree, path.as_str())?;
            let text = entry.and_then(|entry| self.scan(&BlobId(entry.id.to_string())).ok());
            Ok::<_, RepoError>(text.map(|source| source.text))
        };
        Ok(text(old)?.zip(text(new)?))
    }
}

fn read(odb: &Odb<'_>, commit: &git2::Commit<'_>) -> Result<PastCommit, RepoError> {
    let before = match commit.parent(0) {
        Ok(parent) => Some(parent.tree_id()),
        Err(_) => None,
    };
    let entries = |id| tree_entry::parsed(id, &bounds::read(odb, id, ObjectType::Tree)?);
    let changed = tree::changed(entries, before, commit.tree_id(), MOST_CHANGED)?;
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
