//! Reading what state a repository is in. The index is not refreshed on the way.

use super::ignored::IgnoredFolders;
use super::watch::folders::Rules;
use super::work_tree::STAGE;
use super::{Opened, bounds, staged};
use crate::state::notes;
use crate::{Cleanliness, HeadState, Operation, RepoError, RepositoryState, ordinary};
use magis_core::CommitId;
use std::path::Path;

/// Set in an index entry's flags where git is not to look at the file.
const ASSUME_UNCHANGED: u16 = 0x8000;

/// Of `.gitattributes` at the root so much is looked at.
const ATTRIBUTES: u64 = 1 << 20;

pub(super) fn read(repository: &Opened) -> Result<RepositoryState, RepoError> {
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
fn is_partial(handle: &git2::Repository) -> bool {
    let promised = |config: git2::Config| {
        let mut entries = config.entries(Some("remote\\..*\\.promisor")).ok()?;
        entries.next().map(|entry| entry.is_ok())
    };
    handle.config().ok().and_then(promised).unwrap_or(false)
}

fn cleanliness(repository: &Opened, handle: &git2::Repository, head: git2::Oid) -> Result<Cleanliness, RepoError> {
    use git2::Status;
    Rules::check(repository)?;
    let odb = handle.odb().map_err(RepoError::git("opening the objects"))?;
    bounds::measure(&odb, head, || ())?;
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
    let index = handle.index().map_err(repository.index_error("reading the index"))?;
    let ignored = IgnoredFolders::default();
    let mut counts = Cleanliness::default();
    for entry in statuses.iter() {
        let mut status = entry.status();
        if status.intersects(Status::INDEX_NEW | Status::WT_DELETED) {
            let staged = entry
                .path()
                .ok()
                .and_then(|path| staged::entry(&index, Path::new(path)));
            // Two flags that libgit2 does not look at here.
            if staged.as_ref().is_some_and(staged::is_left_out) {
                status.remove(Status::WT_DELETED);
            }
            if staged.as_ref().is_some_and(staged::is_intended) {
                status.remove(Status::INDEX_NEW);
                status.insert(Status::WT_MODIFIED);
            }
        }
        let in_ignored = || entry.path().is_ok_and(|path| ignored.have(Path::new(path), handle));
        if status.contains(Status::WT_NEW) && in_ignored() {
            status.remove(Status::WT_NEW);
        }
        counts.staged += u32::from(status.intersects(staged));
        counts.changed += u32::from(status.intersects(changed));
        counts.untracked += u32::from(status.contains(Status::WT_NEW));
        counts.conflicted += u32::from(status.contains(Status::CONFLICTED));
    }
    Ok(counts)
}

/// Has the tracked files that the system does not let us read count as unchanged for this handle; gives how many there are.
fn pass_over_closed(repository: &Opened, handle: &git2::Repository) -> Result<usize, RepoError> {
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
fn submodules(repository: &Opened, handle: &git2::Repository) -> Result<Vec<String>, RepoError> {
    let index = handle.index().map_err(repository.index_error("reading the index"))?;
    let links = index.iter().filter(|entry| entry.mode == 0o160_000);
    Ok(links
        .map(|entry| String::from_utf8_lossy(&entry.path).into_owned())
        .collect())
}
