//! What state a repository is in, for people to see before a run begins.
//!
//! Reads only: the index is not refreshed on the way.

use crate::watch::folders::Rules;
use crate::work_tree::STAGE;
use crate::{RepoError, Repository, bounds, ordinary, staged};
use magis_core::CommitId;
use magis_core::text::count;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// Set in an index entry's flags where git is not to look at the file.
const ASSUME_UNCHANGED: u16 = 0x8000;

/// A repository, as it stands now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "four independent facts, each shown by itself"
)]
pub struct RepositoryState {
    /// The root of the work tree.
    pub root: PathBuf,
    /// Where `HEAD` points.
    pub head: HeadState,
    /// The commit at `HEAD`.
    pub commit: CommitId,
    /// The first line of its message.
    pub subject: String,
    /// What is not committed.
    pub cleanliness: Cleanliness,
    /// What git is in the middle of.
    pub operation: Option<Operation>,
    /// History is cut off.
    pub shallow: bool,
    /// Objects may be missing.
    pub partial_clone: bool,
    /// Paths of submodules; a run leaves them alone.
    pub submodules: Vec<String>,
    /// Some files are kept by git LFS.
    pub lfs: bool,
    /// This is an additional work tree.
    pub worktree: bool,
    /// What a person should know, a sentence each.
    pub notes: Vec<String>,
}

/// Where `HEAD` points: to a branch, to a commit, or to a branch without a commit yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HeadState {
    Branch { name: String },
    Detached { commit: CommitId },
}

/// How many files differ from `HEAD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cleanliness {
    /// Staged in the index.
    pub staged: u32,
    /// Changed in the work tree and not staged.
    pub changed: u32,
    /// Not tracked and not ignored.
    pub untracked: u32,
    pub conflicted: u32,
}

/// What git is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// `git merge`.
    Merge,
    /// `git revert`.
    Revert,
    /// `git cherry-pick`.
    CherryPick,
    /// `git bisect`.
    Bisect,
    /// `git rebase`.
    Rebase,
    /// `git am`.
    ApplyMailbox,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Merge => "merge",
            Self::Revert => "revert",
            Self::CherryPick => "cherry-pick",
            Self::Bisect => "bisect",
            Self::Rebase => "rebase",
            Self::ApplyMailbox => "git am",
        })
    }
}

impl Cleanliness {
    /// Returns whether nothing differs from `HEAD`.
    pub fn is_clean(self) -> bool {
        self == Self::default()
    }
}

/// Of `.gitattributes` at the root so much is looked at.
const ATTRIBUTES: u64 = 1 << 20;

impl Repository {
    /// Returns what state it is in.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn state(&self) -> Result<RepositoryState, RepoError> {
        read(self)
    }
}

fn read(repository: &Repository) -> Result<RepositoryState, RepoError> {
    let handle = repository.handle()?;
    let commit = repository.head_commit(&handle)?;
    let id = CommitId(commit.id().to_string());
    let head = match handle.head().ok().filter(git2::Reference::is_branch) {
        Some(branch) => HeadState::Branch {
            name: String::from_utf8_lossy(branch.shorthand_bytes()).into_owned(),
        },
        None => HeadState::Detached { commit: id.clone() },
    };
    let mut state = RepositoryState {
        root: repository.root().to_owned(),
        head,
        commit: id,
        subject: commit
            .summary_bytes()
            .map(|text| String::from_utf8_lossy(text).into_owned())
            .unwrap_or_default(),
        cleanliness: cleanliness(repository, &handle, commit.tree_id())?,
        operation: operation(&handle),
        shallow: handle.is_shallow(),
        partial_clone: is_partial(&handle),
        submodules: submodules(repository, &handle)?,
        lfs: repository.common_dir().join("lfs").is_dir()
            || ordinary::read(&repository.root().join(".gitattributes"), ATTRIBUTES)
                .is_ok_and(|text| String::from_utf8_lossy(&text).contains("filter=lfs")),
        worktree: handle.is_worktree(),
        notes: Vec::new(),
    };
    state.notes = notes(&state);
    Ok(state)
}

/// Returns whether objects are promised by a remote instead of being there.
pub(crate) fn is_partial(handle: &git2::Repository) -> bool {
    let promised = |config: git2::Config| {
        let mut entries = config.entries(Some("remote\\..*\\.promisor")).ok()?;
        entries.next().map(|entry| entry.is_ok())
    };
    handle.config().ok().and_then(promised).unwrap_or(false)
}

fn cleanliness(repository: &Repository, handle: &git2::Repository, head: git2::Oid) -> Result<Cleanliness, RepoError> {
    use git2::Status;
    Rules::check(repository)?;
    let odb = handle.odb().map_err(RepoError::git("opening the objects"))?;
    bounds::measure(&odb, head)?;
    let staged = Status::INDEX_NEW
        | Status::INDEX_MODIFIED
        | Status::INDEX_DELETED
        | Status::INDEX_RENAMED
        | Status::INDEX_TYPECHANGE;
    let changed = Status::WT_MODIFIED | Status::WT_DELETED | Status::WT_RENAMED | Status::WT_TYPECHANGE;
    let mut options = git2::StatusOptions::new();
    options
        .include_untracked(true)
        .recurse_untracked_dirs(true)
        .exclude_submodules(true)
        .update_index(false);
    let statuses = match handle.statuses(Some(&mut options)) {
        // What cannot be opened makes libgit2 give up: it is asked again without looking into that.
        Err(_) if pass_over_closed(repository, handle)? > 0 => handle.statuses(Some(&mut options)),
        statuses => statuses,
    };
    let statuses = statuses.map_err(staged::error(repository, "reading the status"))?;
    let mut counts = Cleanliness::default();
    for entry in statuses.iter() {
        let status = entry.status();
        counts.staged += u32::from(status.intersects(staged));
        counts.changed += u32::from(status.intersects(changed));
        counts.untracked += u32::from(status.contains(Status::WT_NEW));
        counts.conflicted += u32::from(status.contains(Status::CONFLICTED));
    }
    Ok(counts)
}

/// Has the tracked files that the system does not let us read count as unchanged for this handle; gives how many there are.
fn pass_over_closed(repository: &Repository, handle: &git2::Repository) -> Result<usize, RepoError> {
    let attempt = "passing over files that cannot be read";
    let mut index = handle.index().map_err(repository.index_error(attempt))?;
    let is_closed = |entry: &git2::IndexEntry| {
        let path = std::str::from_utf8(&entry.path);
        entry.flags & STAGE == 0 && path.is_ok_and(|path| ordinary::is_closed(&repository.root().join(path)))
    };
    let closed: Vec<git2::IndexEntry> = index.iter().filter(is_closed).collect();
    for entry in &closed {
        let unchanged = git2::IndexEntry {
            path: entry.path.clone(),
            flags: entry.flags | ASSUME_UNCHANGED,
            ..*entry
        };
        index.add(&unchanged).map_err(repository.index_error(attempt))?;
    }
    Ok(closed.len())
}

fn operation(handle: &git2::Repository) -> Option<Operation> {
    use git2::RepositoryState as State;
    match handle.state() {
        State::Clean => None,
        State::Merge => Some(Operation::Merge),
        State::Revert | State::RevertSequence => Some(Operation::Revert),
        State::CherryPick | State::CherryPickSequence => Some(Operation::CherryPick),
        State::Bisect => Some(Operation::Bisect),
        State::Rebase | State::RebaseInteractive | State::RebaseMerge => Some(Operation::Rebase),
        State::ApplyMailbox | State::ApplyMailboxOrRebase => Some(Operation::ApplyMailbox),
    }
}

/// Returns the paths of the submodules that the index has.
fn submodules(repository: &Repository, handle: &git2::Repository) -> Result<Vec<String>, RepoError> {
    let index = handle.index().map_err(repository.index_error("reading the index"))?;
    let links = index.iter().filter(|entry| entry.mode == 0o160_000);
    Ok(links
        .map(|entry| String::from_utf8_lossy(&entry.path).into_owned())
        .collect())
}

fn notes(state: &RepositoryState) -> Vec<String> {
    let mut notes = Vec::new();
    if let HeadState::Detached { commit } = &state.head {
        notes.push(format!(
            "HEAD is detached at {commit}; a result can go to a new branch."
        ));
    }
    if let Some(operation) = state.operation {
        notes.push(format!(
            "A {operation} is in progress; finish or abort it before you apply a result."
        ));
    }
    if state.cleanliness.conflicted > 0 {
        notes.push(format!(
            "Unresolved conflicts in {}.",
            count(state.cleanliness.conflicted as usize, "file")
        ));
    }
    if state.shallow {
        notes.push("This is a shallow clone; older revisions come with 'git fetch --unshallow'.".to_owned());
    }
    if state.partial_clone {
        notes.push("This is a partial clone; files that were never fetched are skipped.".to_owned());
    }
    if !state.submodules.is_empty() {
        notes.push(format!(
            "Submodules are left alone: {}. Open one by itself.",
            state.submodules.join(", ")
        ));
    }
    if state.lfs {
        notes.push("Files kept by git LFS are skipped.".to_owned());
    }
    notes
}
