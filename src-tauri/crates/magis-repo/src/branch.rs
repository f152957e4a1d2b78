//! Planning a patch as a commit on a new branch. Work tree, index and `HEAD` stay as they are.

use crate::hook::Hook;
use crate::place::place;
use crate::reading::{CommitSettings, Request, id_of};
use crate::tree_entry::Slot;
use crate::{
    Applied, Conflict, ConflictReason, DecidedProgram, FilePatchKind, ObjectStore, Patch, PlannedChange,
    ProgramDecision, ProgramPurpose, RepoError, Repository, RepositoryProgram, Selection, apply, program, tree,
    tree_entry,
};
use git2::{Branch, ObjectType, Oid, Signature};
use magis_core::{Base, CommitId, RepoPath};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The commit to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchCommit {
    pub branch: String,
    pub message: String,
    /// Author and committer; none: from git's configuration.
    pub identity: Option<Committer>,
    /// What is decided about programs that the repository names.
    pub programs: Vec<DecidedProgram>,
}

/// Who makes a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Committer {
    pub name: String,
    pub email: String,
}

/// Commits the selected hunks for a new branch that starts at the run's base commit. The commit is there, and nothing leads to it until the plan is carried
/// out. What it consists of is made in `objects`, a folder of the caller's that is worth nothing afterwards.
///
/// With a base that holds uncommitted work the branch starts at the commit below it and takes the hunks that apply
/// there; if one does not, the answer is [`RepoError::NeedsUncommitted`] and nothing is written. So the commit never
/// holds work that is not the run's.
///
/// A `commit-msg` hook is run on the message and commits are signed where git's configuration asks for it, both by the
/// `git` program where it is installed. Where the repository itself names such a program, a person has to decide first
/// whether it may be run. Hooks that look at a work tree or an index are not run, because neither holds this commit;
/// [`Applied::Branch`] names what was left out.
///
/// # Errors
/// When the branch exists, the patch does not fit, nothing is decided about a program, or the repository cannot be
/// written.
pub fn plan_branch<'r>(
    repository: &'r Repository,
    base: &Base,
    patch: &Patch,
    selection: &Selection,
    commit: &BranchCommit,
    objects: &Path,
) -> Result<PlannedChange<'r>, RepoError> {
    let patch = apply::selected(patch, selection)?;
    if !Branch::name_is_valid(&commit.branch).unwrap_or(false) {
        return Err(RepoError::BranchName(commit.branch.clone()));
    }
    if repository.branches()?.contains(&commit.branch) {
        return Err(RepoError::BranchExists(commit.branch.clone()));
    }
    let settings: CommitSettings = repository.reader().ask(Request::CommitSettings)?;
    let signature = signature(&settings, commit.identity.as_ref())?;
    // What the commit consists of is made apart, beside the repository's objects.
    let store = ObjectStore::open(objects, repository)?;
    let parent = id_of(&base.commit.0, "commit")?;
    store.keep(parent, ObjectType::Commit).map_err(|error| match error {
        RepoError::ObjectMissing { .. } => RepoError::BaseGone(base.commit.to_string()),
        error => error,
    })?;
    let below = tree_of(&store, parent)?;
    let tree = match tree(&store, below, &patch)? {
        Ok(tree) => tree,
        Err(conflicts) if base.uncommitted => return Err(RepoError::NeedsUncommitted(conflicts)),
        Err(conflicts) => return Err(RepoError::Conflicts(conflicts)),
    };
    let mut skipped = Vec::new();
    let left_out = left_out(repository, &settings, &commit.programs)?;
    let is_left_out = |purpose| left_out.iter().any(|program| program.purpose == purpose);
    for program in &left_out {
        skipped.push(match program.purpose {
            ProgramPurpose::CommitMessage => format!("The hook '{}' was not run, as decided.", program.named_by),
            ProgramPurpose::Signing => format!(
                "The commit is not signed: '{}' of the repository was not run, as decided.",
                program.named_by
            ),
        });
    }
    let hook = settings.hooks.contains(&Hook::CommitMessage) && !is_left_out(ProgramPurpose::CommitMessage);
    let message = program::message(repository, hook, &commit.message, &mut skipped)?;
    let sign = settings.sign && !is_left_out(ProgramPurpose::Signing);
    let id = if sign && program::is_installed() {
        store.copy_into(repository)?;
        program::signed_commit(repository, tree, parent, &message, &signature)?
    } else {
        if sign {
            skipped.push("The commit is not signed: the git program is not installed.".to_owned());
        }
        let id = write_commit(&store, &signature, &message, tree, parent)?;
        store.copy_into(repository)?;
        id
    };
    for hook in [Hook::PreCommit, Hook::PrepareCommitMessage, Hook::PostCommit] {
        if settings.hooks.contains(&hook) {
            skipped.push(format!(
                "The hook '{}' was not run: it looks at a work tree.",
                hook.name()
            ));
        }
    }
    let applied = Applied::Branch {
        name: commit.branch.clone(),
        commit: CommitId(id.to_string()),
        skipped,
    };
    Ok(PlannedChange::new(repository, applied, Vec::new()))
}

/// Returns the programs that the repository itself names and that git would run for a commit on a new branch.
///
/// # Errors
/// When its configuration cannot be read.
pub fn programs_for_commit(repository: &Repository) -> Result<Vec<RepositoryProgram>, RepoError> {
    let settings: CommitSettings = repository.reader().ask(Request::CommitSettings)?;
    Ok(settings.programs)
}

/// Returns the programs of the repository that are not to be run.
fn left_out(
    repository: &Repository,
    settings: &CommitSettings,
    decided: &[DecidedProgram],
) -> Result<Vec<RepositoryProgram>, RepoError> {
    let (mut left_out, mut open) = (Vec::new(), Vec::new());
    for program in &settings.programs {
        let known = decided.iter().find(|decided| decided.program == *program);
        match known.map(|decided| decided.decision) {
            Some(ProgramDecision::Run) => {}
            Some(ProgramDecision::LeaveOut) => left_out.push(program.clone()),
            None => open.push(program.clone()),
        }
    }
    if open.is_empty() {
        return Ok(left_out);
    }
    Err(RepoError::ProgramsUndecided {
        repository: repository.root().to_owned(),
        programs: open,
    })
}

fn signature(settings: &CommitSettings, identity: Option<&Committer>) -> Result<Signature<'static>, RepoError> {
    let configured = || Some((settings.name.as_ref()?, settings.email.as_ref()?));
    let given = identity.map(|Committer { name, email }| (name, email));
    let Some((name, email)) = given.or_else(configured) else {
        return Err(RepoError::IdentityMissing);
    };
    let shown = format!("{name} <{email}>");
    if name.trim().is_empty() || email.trim().is_empty() || shown.contains(['\n', '\r']) {
        return Err(RepoError::IdentityInvalid(shown));
    }
    Signature::now(name, email).map_err(|_| RepoError::IdentityInvalid(shown))
}

/// Returns the tree of a commit that the store has of its own.
fn tree_of(store: &ObjectStore, commit: Oid) -> Result<Oid, RepoError> {
    let bytes = store.read(commit, ObjectType::Commit)?;
    tree_entry::tree_of_commit(&bytes).ok_or_else(|| RepoError::ObjectMissing {
        kind: "tree".into(),
        id: commit.to_string(),
    })
}

fn write_commit(
    store: &ObjectStore,
    signature: &Signature<'_>,
    message: &str,
    tree: Oid,
    parent: Oid,
) -> Result<Oid, RepoError> {
    let own = store.own();
    let write = || {
        let (tree, parent) = (own.find_tree(tree)?, own.find_commit(parent)?);
        own.commit(None, signature, signature, message, &tree, &[&parent])
    };
    write().map_err(RepoError::git("writing the commit"))
}

/// Returns the tree `below` with the patch, written into the store, or where that does not apply.
fn tree(store: &ObjectStore, below: Oid, patch: &Patch) -> Result<Result<Oid, Vec<Conflict>>, RepoError> {
    let entry = |path: &RepoPath| tree::find(store, below, path.as_str());
    let mut slots = BTreeMap::new();
    let mut texts = Vec::new();
    let mut conflicts = Vec::new();
    let mut conflict = |path: &RepoPath, line, reason| {
        conflicts.push(Conflict {
            path: path.clone(),
            line,
            reason,
        });
    };
    let bytes_of = |path: &RepoPath| path.as_str().as_bytes().to_vec();
    for file in &patch.files {
        let old = entry(file.old_path())?;
        let text = match (&old, &file.kind) {
            (None, FilePatchKind::Create) => String::new(),
            (Some(_), FilePatchKind::Create) => {
                conflict(&file.path, 1, ConflictReason::FileExists);
                continue;
            }
            (None, _) => {
                conflict(file.old_path(), 1, ConflictReason::FileMissing);
                continue;
            }
            (Some(entry), FilePatchKind::Delete) if file.was(&entry.id.to_string()) => {
                slots.insert(bytes_of(&file.path), Slot::Gone);
                continue;
            }
            (Some(_), FilePatchKind::Delete) => {
                conflict(&file.path, 1, ConflictReason::ContentDiffers);
                continue;
            }
            (Some(_), FilePatchKind::Rename { .. }) if entry(&file.path)?.is_some() => {
                conflict(&file.path, 1, ConflictReason::FileExists);
                continue;
            }
            (Some(entry), FilePatchKind::Modify | FilePatchKind::Rename { .. }) => {
                if let FilePatchKind::Rename { from } = &file.kind {
                    slots.insert(bytes_of(from), Slot::Gone);
                    if file.text_hunks().next().is_none() {
                        let (mode, id) = (plain(entry.mode), entry.id);
                        slots.insert(bytes_of(&file.path), Slot::Holds { mode, id });
                        continue;
                    }
                }
                let Ok(text) = String::from_utf8(store.read(entry.id, ObjectType::Blob)?) else {
                    conflict(file.old_path(), 1, ConflictReason::NotText);
                    continue;
                };
                text
            }
        };
        if file.is_binary() {
            conflict(&file.path, 1, ConflictReason::NotText);
            continue;
        }
        match place(&text, file.text_hunks()) {
            Ok(text) => {
                let new = if file.is_program() {
                    tree_entry::PROGRAM
                } else {
                    tree_entry::FILE
                };
                texts.push((&file.path, text, old.map_or(new, |entry| plain(entry.mode))));
            }
            Err(line) => conflict(file.old_path(), line, ConflictReason::LinesDiffer),
        }
    }
    if !conflicts.is_empty() {
        return Ok(Err(conflicts));
    }
    for (path, text, mode) in texts {
        let id = store.write(ObjectType::Blob, text.as_bytes())?;
        slots.insert(bytes_of(path), Slot::Holds { mode, id });
    }
    tree::edit(store, below, &slots).map(Ok)
}

/// Returns the mode of an ordinary file.
fn plain(mode: u32) -> u32 {
    if mode & 0o111 == 0 {
        tree_entry::FILE
    } else {
        tree_entry::PROGRAM
    }
}
