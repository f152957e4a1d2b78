//! Planning how a patch gets into the work tree when a person asks for it: all or nothing.
//!
//! Touches the files of the patch alone: no index, no reference, no other file.

use crate::place::place;
use crate::reading::{NewLines, Request};
use crate::replace::{self, NewContent, Replacement};
use crate::root::{Found, WriteMode};
use crate::{
    Applied, AppliedFile, Conflict, ConflictReason, FilePatch, FilePatchKind, FileState, Patch, PlannedChange,
    RepoError, Repository, Selection,
};
use magis_core::RepoPath;

/// Returns where `patch` does not apply to the work tree; empty if it does. Writes nothing.
///
/// # Errors
/// When the repository cannot be read, or a path of the patch cannot be.
pub fn conflicts(repository: &Repository, patch: &Patch) -> Result<Vec<Conflict>, RepoError> {
    plan(repository, patch).map(|plan| plan.conflicts)
}

/// Plans how the selected hunks get into the work tree. Writes nothing; the index will stay as it is.
///
/// # Errors
/// When the patch does not fit, or the work tree cannot be read.
pub fn plan_worktree<'r>(
    repository: &'r Repository,
    patch: &Patch,
    selection: &Selection,
) -> Result<PlannedChange<'r>, RepoError> {
    let patch = selected(patch, selection)?;
    let plan = plan(repository, &patch)?;
    if !plan.conflicts.is_empty() {
        return Err(RepoError::Conflicts(plan.conflicts));
    }
    let files = plan.replacements.iter().map(|replacement| AppliedFile {
        path: replacement.path.clone(),
        before: replacement.before.clone(),
        after: replacement
            .content
            .as_ref()
            .map(|content| replace::hash(&content.bytes)),
    });
    let applied = Applied::Worktree {
        files: files.collect(),
        mark: replace::new_mark(),
    };
    Ok(PlannedChange::new(repository, applied, plan.replacements))
}

/// Returns the selected part of a patch; not empty.
pub(crate) fn selected(patch: &Patch, selection: &Selection) -> Result<Patch, RepoError> {
    if let Selection::Hunks { numbers } = selection {
        let known = 1..=patch.hunk_count();
        if let Some(number) = numbers.iter().find(|number| !known.contains(&number.0)) {
            return Err(RepoError::NoSuchHunk(number.0));
        }
    }
    let patch = patch.select(selection);
    if patch.files.is_empty() {
        Err(RepoError::NothingSelected)
    } else {
        Ok(patch)
    }
}

/// What applying a patch would do.
#[derive(Default)]
struct Plan {
    /// Files of the patch that go or move away.
    vacated: Vec<RepoPath>,
    replacements: Vec<Replacement>,
    conflicts: Vec<Conflict>,
}

impl Plan {
    fn conflict(&mut self, path: &RepoPath, line: u32, reason: ConflictReason) {
        self.conflicts.push(Conflict {
            path: path.clone(),
            line,
            reason,
        });
    }

    /// Returns the file at `path`, which has to be there.
    fn old(&mut self, repository: &Repository, path: &RepoPath) -> Result<Option<FileState>, RepoError> {
        match replace::look(repository.root(), path)? {
            Found::File(state) => return Ok(Some(state)),
            Found::Nothing => self.conflict(path, 1, ConflictReason::FileMissing),
            Found::Other => self.conflict(path, 1, ConflictReason::NotARegularFile),
        }
        Ok(None)
    }

    /// Returns whether `path` is free for a new file, or will be.
    fn is_free(&mut self, repository: &Repository, path: &RepoPath) -> Result<bool, RepoError> {
        let vacates = |gone: &RepoPath| {
            path.as_str()
                .strip_prefix(gone.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if self.vacated.iter().any(vacates) {
            return Ok(true);
        }
        match replace::look(repository.root(), path)? {
            Found::Nothing => return Ok(true),
            Found::File(_) => self.conflict(path, 1, ConflictReason::FileExists),
            Found::Other => self.conflict(path, 1, ConflictReason::NotARegularFile),
        }
        Ok(false)
    }

    /// Returns the content of `state` with the hunks of `file`.
    fn edited(&mut self, file: &FilePatch, state: &FileState) -> Option<Vec<u8>> {
        let bytes = state.content.bytes();
        if file.text_hunks().next().is_none() {
            return Some(bytes.to_vec());
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.conflict(file.old_path(), 1, ConflictReason::NotText);
            return None;
        };
        match place(text, file.text_hunks()) {
            Ok(text) => Some(text.into_bytes()),
            Err(line) => {
                self.conflict(file.old_path(), line, ConflictReason::LinesDiffer);
                None
            }
        }
    }
}

fn plan(repository: &Repository, patch: &Patch) -> Result<Plan, RepoError> {
    let mut plan = Plan::default();
    let leaves = |file: &&FilePatch| matches!(file.kind, FilePatchKind::Delete | FilePatchKind::Rename { .. });
    plan.vacated = patch
        .files
        .iter()
        .filter(leaves)
        .map(|file| file.old_path().clone())
        .collect();
    for file in &patch.files {
        if file.is_binary() && file.kind != FilePatchKind::Delete {
            plan.conflict(&file.path, 1, ConflictReason::NotText);
            continue;
        }
        match &file.kind {
            FilePatchKind::Modify => {
                let Some(state) = plan.old(repository, &file.path)? else {
                    continue;
                };
                let Some(bytes) = plan.edited(file, &state) else {
                    continue;
                };
                plan.replacements.push(Replacement::changed(&file.path, state, bytes));
            }
            FilePatchKind::Create => {
                if !plan.is_free(repository, &file.path)? {
                    continue;
                }
                let Ok(text) = place("", file.text_hunks()) else {
                    plan.conflict(&file.path, 1, ConflictReason::LinesDiffer);
                    continue;
                };
                plan.replacements.push(created(repository, file, text)?);
            }
            FilePatchKind::Delete => {
                let Some(state) = plan.old(repository, &file.path)? else {
                    continue;
                };
                let unchanged = if file.text_hunks().next().is_none() {
                    file.was(&state.hash)
                } else {
                    let text = std::str::from_utf8(state.content.bytes());
                    text.is_ok_and(|text| place(text, file.text_hunks()).is_ok_and(|rest| rest.is_empty()))
                };
                if !unchanged {
                    plan.conflict(&file.path, 1, ConflictReason::ContentDiffers);
                    continue;
                }
                plan.replacements.push(Replacement {
                    path: file.path.clone(),
                    before: Some(state),
                    content: None,
                });
            }
            FilePatchKind::Rename { from } => {
                let Some(state) = plan.old(repository, from)? else {
                    continue;
                };
                if !plan.is_free(repository, &file.path)? {
                    continue;
                }
                let Some(bytes) = plan.edited(file, &state) else {
                    continue;
                };
                let content = Some(NewContent {
                    bytes,
                    mode: WriteMode::Exactly(state.permissions),
                });
                plan.replacements.push(Replacement {
                    path: from.clone(),
                    before: Some(state),
                    content: None,
                });
                plan.replacements.push(Replacement {
                    path: file.path.clone(),
                    before: None,
                    content,
                });
            }
        }
    }
    Ok(plan)
}

/// Returns a new file with the line endings that the repository asks for.
fn created(repository: &Repository, file: &FilePatch, text: String) -> Result<Replacement, RepoError> {
    let lines: NewLines = repository.reader().ask(Request::NewLines {
        path: file.path.clone(),
    })?;
    let text = lines.written(text);
    let mode = if file.is_program() {
        WriteMode::NewProgram
    } else {
        WriteMode::NewFile
    };
    Ok(Replacement {
        path: file.path.clone(),
        before: None,
        content: Some(NewContent {
            bytes: text.into_bytes(),
            mode,
        }),
    })
}
