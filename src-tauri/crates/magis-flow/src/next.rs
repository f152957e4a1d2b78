//! What is to be done next: the order of algorithms 1, 2 and 3, as a function of the state alone.

use crate::{Effect, Run, TaskQuestion, TaskState};
use magis_core::{MethodPart, QaMode, RepoPath, Round, RunEvent, RunOutcome, Speaker, TaskId, TaskOutcome, Turn};
use std::collections::BTreeSet;

impl Run {
    /// Returns what is now to be done, first things first; empty when the run is over or paused.
    pub fn pending(&self) -> Vec<Effect> {
        if self.paused { Vec::new() } else { self.steps() }
    }

    /// Returns what would be to be done if the run were not paused.
    pub(crate) fn steps(&self) -> Vec<Effect> {
        if self.outcome.is_some() {
            return Vec::new();
        }
        let stages = [
            Self::locate,
            Self::team,
            Self::meet,
            Self::plan_tasks,
            Self::code,
            Self::finish,
        ];
        stages
            .iter()
            .map(|stage| stage(self))
            .find(|effects| !effects.is_empty())
            .unwrap_or_default()
    }

    /// Algorithm 1: rank, judge, describe what is kept.
    fn locate(&self) -> Vec<Effect> {
        if self.runs_code() && self.checks.is_none() {
            return vec![Effect::ShowFault];
        }
        if self.issue_text.is_none() {
            return vec![Effect::ReadIssue];
        }
        if !self.ranked {
            return vec![Effect::Rank];
        }
        if self.judgements.is_none() {
            return vec![Effect::Judge];
        }
        let kept = self.kept();
        if kept.is_empty() && self.tasks.is_empty() {
            return no_change("no file of the repository is a candidate for this issue");
        }
        let described = |path: &RepoPath| self.descriptions.contains_key(path);
        let missing: Vec<Effect> = kept
            .iter()
            .filter(|kept| !described(&kept.path))
            .map(|kept| Effect::Describe(kept.path.clone()))
            .collect();
        if missing.is_empty() && self.runs_code() && self.checks().is_empty() && !self.tests_written {
            return vec![Effect::WriteTests];
        }
        missing
    }

    /// Algorithm 2, first half: P4 for every kept file, P5 for every task.
    fn team(&self) -> Vec<Effect> {
        let kept = self.kept();
        let has_task = |path: &RepoPath| self.tasks.values().any(|state| state.task.candidate == *path);
        let undecided = kept
            .iter()
            .filter(|kept| !has_task(&kept.path) && !self.declined.contains_key(&kept.path));
        // The best has to have something to do, as every file has in the paper: a small model that is asked whether denies
        // that of the right file as well.
        let best = kept.first().map(|best| &best.path);
        let asking = |path: &RepoPath| {
            if best == Some(path) {
                TaskQuestion::Insisting
            } else {
                TaskQuestion::Openly
            }
        };
        let wanted: Vec<Effect> = undecided
            .map(|kept| Effect::DefineTask(kept.path.clone(), asking(&kept.path)))
            .collect();
        if !wanted.is_empty() {
            return wanted;
        }
        if self.tasks.is_empty() {
            let asked_twice = |path: &RepoPath| self.declined.get(path).is_some_and(|reasons| reasons.len() > 1);
            return match kept.first() {
                Some(best) if !asked_twice(&best.path) => {
                    vec![Effect::DefineTask(best.path.clone(), TaskQuestion::Insisting)]
                }
                _ => no_change(&format!(
                    "the Manager found nothing to do in {} candidate files",
                    kept.len()
                )),
            };
        }
        self.tasks
            .values()
            .filter(|state| state.role.is_none())
            .map(|state| Effect::DefineRole(state.task.id))
            .collect()
    }

    /// Algorithm 2, second half: the round table, then P6 for every Developer.
    fn meet(&self) -> Vec<Effect> {
        // Where what shows the fault judges the attempts, talk decides nothing, and a Developer alone has nobody to agree with;
        // a person who spoke is heard.
        let is_judged = self.runs_code() && (!self.checks().is_empty() || self.tasks.len() < 2);
        let is_held = !is_judged || !self.meeting.is_empty();
        if !is_held || self.plan.is_some() || self.request.without.contains(&MethodPart::Meeting) {
            return Vec::new();
        }
        if !self.has_spoken(Speaker::Manager, Turn::Open) {
            return vec![Effect::OpenMeeting];
        }
        let summed_up = self.has_spoken(Speaker::Manager, Turn::SumUp);
        let silent = |task: &&TaskId| !self.has_spoken(Speaker::Developer(**task), Turn::Speak);
        if let Some(task) = self.tasks.keys().find(silent).filter(|_| !summed_up) {
            return vec![Effect::Speak(*task)];
        }
        if !summed_up {
            return vec![Effect::SumUp];
        }
        self.tasks
            .values()
            .filter(|state| !state.revised)
            .map(|state| Effect::ReviseRole(state.task.id))
            .collect()
    }

    fn plan_tasks(&self) -> Vec<Effect> {
        if self.plan.is_some() {
            Vec::new()
        } else {
            vec![Effect::MakePlan]
        }
    }

    /// Algorithm 3 for the first parallel group that has open tasks: the next step of each of them.
    fn code(&self) -> Vec<Effect> {
        if self.runs_code() {
            return self.code_by_evidence();
        }
        let group = self
            .groups()
            .into_iter()
            .find(|group| group.iter().any(|state| state.outcome.is_none()));
        group
            .into_iter()
            .flatten()
            .filter(|state| state.outcome.is_none())
            .map(|state| self.code_task(state))
            .collect()
    }

    fn code_task(&self, state: &TaskState) -> Effect {
        let task = state.task.id;
        if let Some((round, _)) = state.taken {
            return closed(task, TaskOutcome::NotApproved { round });
        }
        if self.request.qa == QaMode::Review && state.reviewer.is_none() {
            return Effect::DefineReviewer(task);
        }
        let Some(last) = state.rounds.last() else {
            return Effect::ChooseLines(task, Round(1));
        };
        if let Some(missing) = self.attempts(last).find(|number| !last.attempts.contains_key(number)) {
            return Effect::WriteCode(task, last.round, missing);
        }
        if let Some((number, best)) = last.best() {
            if self.request.qa == QaMode::Skip || best.approved() {
                return closed(task, TaskOutcome::Approved { round: last.round });
            }
            if best.verdict.is_none() {
                return Effect::Review(task, last.round, number);
            }
        }
        if last.round.0 < self.request.max_rounds.max(1) {
            return Effect::ChooseLines(task, Round(last.round.0 + 1));
        }
        closed(task, not_approved(state))
    }

    /// Returns the parallel groups of the plan, without dropped tasks; tasks added after the plan come last.
    pub(crate) fn groups(&self) -> Vec<Vec<&TaskState>> {
        let groups = self.plan.as_ref().map(magis_core::Plan::groups).unwrap_or_default();
        let planned: BTreeSet<TaskId> = groups.iter().flatten().copied().collect();
        let added = self
            .tasks
            .keys()
            .filter(|task| !planned.contains(task))
            .map(|task| vec![*task]);
        let states = |group: Vec<TaskId>| group.iter().filter_map(|task| self.tasks.get(task)).collect();
        groups.iter().cloned().chain(added).map(states).collect()
    }

    fn finish(&self) -> Vec<Effect> {
        if self.tasks.is_empty() {
            return no_change("every task was dropped");
        }
        let changes = self
            .tasks
            .values()
            .filter(|state| state.accepted_change().is_some())
            .count();
        if changes == 0 {
            let reasons: Vec<String> = self.tasks.values().filter_map(failure).collect();
            return no_change(&format!("no task came to a usable change: {}", reasons.join("; ")));
        }
        if self.merged.is_none()
            && let Some(task) = self.to_minimise()
        {
            return vec![Effect::Minimise(task)];
        }
        match &self.merged {
            None => vec![Effect::Merge],
            Some(result) if result.patch.is_empty() => no_change("the merged change is empty"),
            Some(_) if self.patch_tests.is_none() && self.has_something_to_run() => vec![Effect::TestPatch],
            Some(_) => {
                let all = self.tasks.values().all(|state| match state.outcome {
                    Some(TaskOutcome::Approved { .. } | TaskOutcome::SetAside { .. }) => true,
                    Some(TaskOutcome::NotApproved { .. } | TaskOutcome::Failed { .. }) | None => false,
                });
                ended(if all {
                    RunOutcome::Approved
                } else {
                    RunOutcome::NotApproved
                })
            }
        }
    }
}

/// Returns how a task ends that was never approved: with the best of its rounds. (The paper keeps the last change, whatever
/// it is.)
pub(crate) fn not_approved(state: &TaskState) -> TaskOutcome {
    match state.best() {
        Some((round, _)) => TaskOutcome::NotApproved { round },
        None => TaskOutcome::Failed {
            reason: state
                .last_objection()
                .unwrap_or_else(|| "no round gave usable code".to_owned()),
        },
    }
}

fn failure(state: &TaskState) -> Option<String> {
    match state.outcome.as_ref()? {
        TaskOutcome::Failed { reason } | TaskOutcome::SetAside { reason } => {
            Some(format!("{}: {reason}", state.task.path))
        }
        TaskOutcome::Approved { .. } | TaskOutcome::NotApproved { .. } => None,
    }
}

fn closed(task: TaskId, outcome: TaskOutcome) -> Effect {
    Effect::Record(vec![RunEvent::TaskClosed { task, outcome }])
}

fn ended(outcome: RunOutcome) -> Vec<Effect> {
    vec![Effect::Record(vec![RunEvent::RunEnded { outcome }])]
}

fn no_change(reason: &str) -> Vec<Effect> {
    ended(RunOutcome::NoChange {
        reason: reason.to_owned(),
    })
}
