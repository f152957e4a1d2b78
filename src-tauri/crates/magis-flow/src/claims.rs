//! Whether what a log says of its own end follows from what happened in it: asked of a log that comes from elsewhere.
//!
//! The program's own logs say only what follows, because [`Run::pending`] decides it. The order of the steps is not held
//! against a log: it changes between versions of the method.

use crate::{FlowError, Run, TaskState};
use magis_core::{Decision, FileChange, QaMode, RepoPath, Round, RunEvent, RunOutcome, TaskId, TaskOutcome};
use std::collections::BTreeSet;

impl Run {
    /// As [`Run::fold`], for a log from elsewhere: an event that claims an end is refused unless the events before it lead
    /// there.
    ///
    /// # Errors
    /// When the events do not follow from one another, or claim what they cannot prove.
    pub fn fold_from_elsewhere<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Result<Self, FlowError> {
        let mut events = events.into_iter();
        let mut run = Self::start(events.next().ok_or(FlowError::NoStart)?)?;
        for event in events {
            run.check_claim(event)?;
            run.handle(event)?;
        }
        Ok(run)
    }

    /// Returns the files that the merged change may touch: those of the changes that were accepted.
    pub fn accepted_files(&self) -> BTreeSet<RepoPath> {
        let mut files = BTreeSet::new();
        for state in self.tasks() {
            let Some((_, change)) = state.accepted_change() else {
                continue;
            };
            files.insert(state.task.path.clone());
            if let FileChange::Rename { to, .. } = change {
                files.insert(to.clone());
            }
        }
        files
    }

    fn check_claim(&self, event: &RunEvent) -> Result<(), FlowError> {
        match event {
            RunEvent::TaskClosed { task, outcome } => self.check_closed(*task, outcome),
            RunEvent::Merged { result } if !result.patch.is_empty() && self.accepted_files().is_empty() => {
                unfounded("there is a patch", "no change of a task was accepted")
            }
            RunEvent::RunEnded { outcome } => self.check_ended(outcome),
            _ => Ok(()),
        }
    }

    fn check_closed(&self, task: TaskId, outcome: &TaskOutcome) -> Result<(), FlowError> {
        let state = self.task(task).ok_or(FlowError::UnknownTask(task))?;
        match outcome {
            TaskOutcome::SetAside { .. } | TaskOutcome::Failed { .. } => Ok(()),
            TaskOutcome::NotApproved { round } => has_change(state, *round),
            TaskOutcome::Approved { round } => {
                has_change(state, *round)?;
                if self.request().qa == QaMode::Skip || is_approved(state, *round) {
                    Ok(())
                } else {
                    unfounded(&format!("the change of {task} is approved"), "no review of it says so")
                }
            }
        }
    }

    fn check_ended(&self, outcome: &RunOutcome) -> Result<(), FlowError> {
        let has_patch = self.merged().is_some_and(|merged| !merged.patch.is_empty());
        let is_approved = |state: &TaskState| match state.outcome {
            Some(TaskOutcome::Approved { .. } | TaskOutcome::SetAside { .. }) => true,
            Some(TaskOutcome::NotApproved { .. } | TaskOutcome::Failed { .. }) | None => false,
        };
        match outcome {
            RunOutcome::Approved | RunOutcome::NotApproved if !has_patch => {
                unfounded("the run ended with a patch", "nothing was merged")
            }
            RunOutcome::Approved if !self.tasks().all(is_approved) => {
                unfounded("the patch is approved", "not every task was")
            }
            RunOutcome::Approved
            | RunOutcome::NotApproved
            | RunOutcome::NoChange { .. }
            | RunOutcome::Failed { .. } => Ok(()),
        }
    }
}

fn has_change(state: &TaskState, round: Round) -> Result<(), FlowError> {
    let begun = state.rounds.iter().find(|known| known.round == round);
    match begun.and_then(|round| round.best()) {
        Some(_) => Ok(()),
        None => unfounded(
            &format!("round {round} of {} gave the change", state.task.id),
            "no usable code was written in it",
        ),
    }
}

fn is_approved(state: &TaskState, round: Round) -> bool {
    let begun = state.rounds.iter().find(|known| known.round == round);
    let verdict = begun.and_then(|round| round.best()?.1.verdict.as_ref());
    verdict.is_some_and(|verdict| verdict.decision == Decision::Approved)
}

fn unfounded(claim: &str, missing: &'static str) -> Result<(), FlowError> {
    Err(FlowError::Unfounded {
        claim: claim.to_owned(),
        missing,
    })
}
