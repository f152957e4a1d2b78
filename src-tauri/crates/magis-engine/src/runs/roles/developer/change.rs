//! A change of a task's file, and what programs find in it.

use crate::calls::AskError;
use crate::runs::workspace::{Workspace, after};
use magis_core::{Edit, FileAction, FileChange, Finding, Issue, RepoPath};
use magis_flow::{Run, TaskState};
use magis_repo::diff_stat;
use magis_syntax::{misfit_calls, only_deletes, parses_worse, same_code, undefined_names, words_only};

/// The number of lines from which a deletion is "far beyond addition".
const FAR_MORE: u32 = 20;

/// Returns edits of a task's file as the change that they are.
pub(super) fn change_of(state: &TaskState, edits: Vec<Edit>) -> FileChange {
    match &state.task.action {
        FileAction::Rename { to } => FileChange::Rename { to: to.clone(), edits },
        FileAction::Modify | FileAction::Create | FileAction::Delete => FileChange::Modify { edits },
    }
}

/// Returns what programs find in a change.
pub(super) fn check(
    work: &Workspace,
    run: &Run,
    state: &TaskState,
    change: &FileChange,
) -> Result<Vec<Finding>, AskError> {
    let path: &RepoPath = &state.task.path;
    let base = match change {
        FileChange::Create { .. } => String::new(),
        FileChange::Modify { .. } | FileChange::Delete | FileChange::Rename { .. } => work.read(path)?.text,
    };
    if *change == FileChange::Delete {
        return Ok(Vec::new());
    }
    let new = after(&base, change).ok_or_else(|| AskError::Unusable("the lines to change do not exist".to_owned()))?;
    let moved = matches!(change, FileChange::Rename { .. });
    let mut findings = Vec::new();
    if !moved && same_code(path, &base, &new) {
        findings.push(Finding::NoChange);
    }
    if let Some((before, after)) = parses_worse(path, &base, &new) {
        findings.push(Finding::ParsesWorse { before, after });
    }
    let size = diff_stat(&base, &new);
    if size.deleted > size.added * 2 + FAR_MORE {
        findings.push(Finding::DeletesFarMore {
            deleted: size.deleted,
            added: size.added,
        });
    }
    // The paper's plain loop has these for its findings; the others are for many attempts, where each costs a run of the tests.
    if findings.iter().any(Finding::is_fatal) || run.request().attempts_per_round < 2 {
        return Ok(findings);
    }
    if words_only(path, &base, &new) && !is_about_words(&run.request().issue) {
        findings.push(Finding::WordsOnly);
    }
    if only_deletes(path, &base, &new) {
        findings.push(Finding::OnlyDeletes);
    }
    let names = undefined_names(path, &base, &new);
    if !names.is_empty() {
        findings.push(Finding::UndefinedNames { names });
    }
    let misfits = misfit_calls(path, &base, &new).into_iter();
    findings.extend(misfits.map(|misfit| Finding::MisfitCall {
        callee: misfit.callee,
        why: misfit.why,
    }));
    Ok(findings)
}

/// Returns whether an issue asks for other words: then comments and docstrings may be all that changes.
fn is_about_words(issue: &Issue) -> bool {
    const WORDS: [&str; 7] = [
        "docstring",
        "documentation",
        "typo",
        "comment",
        "spelling",
        "docs",
        "wording",
    ];
    let title = issue.title().to_lowercase();
    WORDS.iter().any(|word| title.contains(word))
}
