//! At which step an unresolved instance was lost, told by program from the record.
//!
//! The first of these that holds: the run did not end; not every file of the reference was kept; the right code was
//! written but not kept; no task came of the reference's files; no chosen line is one of the reference's; else the code
//! was wrong. It does not know whether another change than the reference's would have done.

use crate::change::Change;
use crate::instances::Reference;
use crate::record::RunRecord;
use crate::results::Method;
use magis_core::{Edit, FileChange, RepoPath};
use magis_flow::{AttemptState, TaskState};
use magis_syntax::same_code;
use serde::Serialize;
use std::fmt;

/// Where an instance was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lost {
    /// The run failed, or is not over.
    Unfinished,
    /// A file of the reference is not among those kept.
    NotLocated,
    /// The files were kept, but P4 made no task of any of them.
    NoTask,
    /// None of the chosen lines is one of the reference's.
    WrongPlace,
    /// Chosen lines are among the reference's, but the code does not do.
    WrongCode,
    /// Every file was once written as in the reference, up to layout, and something else was kept.
    RightCodeRejected,
}

impl Lost {
    /// All steps, in order.
    pub const ALL: [Self; 6] = [
        Self::Unfinished,
        Self::NotLocated,
        Self::NoTask,
        Self::WrongPlace,
        Self::WrongCode,
        Self::RightCodeRejected,
    ];
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unfinished => "run not ended",
            Self::NotLocated => "not located",
            Self::NoTask => "no task",
            Self::WrongPlace => "wrong place",
            Self::WrongCode => "wrong code",
            Self::RightCodeRejected => "right code rejected",
        })
    }
}

/// Returns where an unresolved run was lost. `base` gives the text of a file before the change, where it is available;
/// without it rejected right code cannot be told from wrong code.
pub fn lost(
    run: &RunRecord,
    method: Method,
    reference: &Reference,
    base: &dyn Fn(&RepoPath) -> Option<String>,
) -> Lost {
    if matches!(run.state.outcome(), None | Some(magis_core::RunOutcome::Failed { .. })) {
        return Lost::Unfinished;
    }
    let gold = reference.files();
    let kept = run.kept();
    if !gold.iter().all(|path| kept.contains(path)) {
        return Lost::NotLocated;
    }
    let chosen = match method {
        Method::Magis => {
            if let Some(change) = &reference.change
                && right_code_was_rejected(run, &gold, change, base)
            {
                return Lost::RightCodeRejected;
            }
            if !run
                .state
                .tasks()
                .any(|task| reference.gold.contains_key(&task.task.path))
            {
                return Lost::NoTask;
            }
            chosen_or_tried(run)
        }
        Method::Baseline => match Change::parse(run.patch()) {
            Ok(change) if !change.is_empty() => change.touched(),
            Ok(_) | Err(_) => return Lost::WrongCode,
        },
    };
    match crate::measures::coverage::coverage(&reference.gold, &chosen) {
        Some(coverage) if coverage <= 0.0 => Lost::WrongPlace,
        Some(_) | None => Lost::WrongCode,
    }
}

/// Returns the lines of the kept rounds, and of tasks without one those of their last round.
fn chosen_or_tried(run: &RunRecord) -> std::collections::BTreeMap<RepoPath, Vec<magis_core::LineSpan>> {
    let mut chosen = run.chosen_lines();
    for task in run.state.tasks().filter(|task| task.accepted_change().is_none()) {
        let last = task
            .rounds
            .last()
            .map(|round| round.first_place().spans.clone())
            .unwrap_or_default();
        chosen.entry(task.task.path.clone()).or_default().extend(last);
    }
    chosen
}

fn right_code_was_rejected(
    run: &RunRecord,
    gold: &[RepoPath],
    reference: &Change,
    base: &dyn Fn(&RepoPath) -> Option<String>,
) -> bool {
    let mut some_rejected = false;
    for path in gold {
        let Some((right, base)) = base(path).and_then(|base| Some((reference.after(path, &base)?, base))) else {
            return false;
        };
        let equal = |change: &FileChange| after(&base, change).is_some_and(|text| same_code(path, &text, &right));
        let tasks: Vec<&TaskState> = run.state.tasks().filter(|task| task.task.path == *path).collect();
        let kept = tasks
            .iter()
            .filter_map(|task| task.accepted_change())
            .any(|(_, change)| equal(change));
        if kept {
            continue;
        }
        let attempts = tasks
            .iter()
            .flat_map(|task| &task.rounds)
            .flat_map(|round| round.attempts.values());
        let written = attempts.filter_map(|attempt| match &attempt.state {
            AttemptState::Written { change, .. } => Some(change),
            AttemptState::Failed { .. } => None,
        });
        if !written.into_iter().any(equal) {
            return false;
        }
        some_rejected = true;
    }
    some_rejected
}

fn after(base: &str, change: &FileChange) -> Option<String> {
    match change {
        FileChange::Modify { edits } | FileChange::Rename { edits, .. } => Edit::splice(base, edits).ok(),
        FileChange::Create { content } => Some(content.clone()),
        FileChange::Delete => None,
    }
}
