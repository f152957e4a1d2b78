//! The state of a run: nothing but the fold of its events.

use crate::Effect;
use crate::task::{Attempt, AttemptState, RoundState, TaskState};
use magis_core::{
    AttemptNumber, Base, BaseTests, BugCheck, Candidate, ChangeTests, CodePlace, Description, Evidence, Hint,
    HintsMode, Judgement, MergeResult, Plan, Proof, RepoPath, Round, RunEvent, RunOutcome, RunRequest, SkippedFile,
    Speaker, Speech, Stage, TaskId, TestsMode, Turn,
};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// A run, folded from its log.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub(crate) request: RunRequest,
    pub(crate) base: Base,
    pub(crate) issue_text: Option<String>,
    pub(crate) hints: Vec<Hint>,
    /// What fails because of the fault; none before it was looked for.
    pub(crate) checks: Option<Vec<BugCheck>>,
    /// Whether a QA Engineer was asked for tests.
    pub(crate) tests_written: bool,
    pub(crate) base_tests: Option<BaseTests>,
    pub(crate) patch_tests: Option<ChangeTests>,
    pub(crate) ranked: bool,
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) skipped: Vec<SkippedFile>,
    pub(crate) judgements: Option<Vec<Judgement>>,
    pub(crate) dropped: BTreeSet<RepoPath>,
    pub(crate) descriptions: BTreeMap<RepoPath, Description>,
    pub(crate) declined: BTreeMap<RepoPath, Vec<String>>,
    pub(crate) tasks: BTreeMap<TaskId, TaskState>,
    pub(crate) meeting: Vec<Speech>,
    pub(crate) plan: Option<Plan>,
    pub(crate) merged: Option<MergeResult>,
    pub(crate) outcome: Option<RunOutcome>,
    pub(crate) paused: bool,
}

/// An event that cannot follow the ones before it: the log is damaged, or two drivers wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FlowError {
    /// The log does not begin with the run's start.
    #[error("the log of the run does not begin with its start")]
    NoStart,
    #[error("the log starts the run twice")]
    SecondStart,
    /// An event names a task that the log does not define.
    #[error("the log speaks of {0}, which it does not define")]
    UnknownTask(TaskId),
    /// An event names a round whose lines were never chosen.
    #[error("the log speaks of round {1} of {0}, which was not begun")]
    UnknownRound(TaskId, Round),
    /// An event names an attempt that was never written.
    #[error("the log speaks of attempt {2} in round {1} of {0}, which was not written")]
    UnknownAttempt(TaskId, Round, AttemptNumber),
    /// An event names a file that is no candidate.
    #[error("the log speaks of {0}, which is no candidate")]
    UnknownFile(RepoPath),
    /// The run is over.
    #[error("the run is over and takes no more events")]
    Over,
    /// A log from elsewhere claims an end that its own events do not lead to.
    #[error("the log says that {claim}, but {missing}")]
    Unfounded {
        claim: String,
        /// What there would have to be.
        missing: &'static str,
    },
}

impl Run {
    /// Returns the run at its first event.
    ///
    /// # Errors
    /// When the first event is not the beginning of a run.
    pub fn start(event: &RunEvent) -> Result<Self, FlowError> {
        let RunEvent::RunStarted { request, base } = event else {
            return Err(FlowError::NoStart);
        };
        let hints = match request.hints_mode {
            HintsMode::Use => request.hints.clone(),
            HintsMode::Ignore => Vec::new(),
        };
        Ok(Self {
            request: (**request).clone(),
            base: base.clone(),
            issue_text: None,
            hints,
            checks: None,
            tests_written: false,
            base_tests: None,
            patch_tests: None,
            ranked: false,
            candidates: Vec::new(),
            skipped: Vec::new(),
            judgements: None,
            dropped: BTreeSet::new(),
            descriptions: BTreeMap::new(),
            declined: BTreeMap::new(),
            tasks: BTreeMap::new(),
            meeting: Vec::new(),
            plan: None,
            merged: None,
            outcome: None,
            paused: false,
        })
    }

    /// Returns the run after all of `events`.
    ///
    /// # Errors
    /// When an event does not follow from those before it.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Result<Self, FlowError> {
        let mut events = events.into_iter();
        let mut run = Self::start(events.next().ok_or(FlowError::NoStart)?)?;
        for event in events {
            run.apply(event)?;
        }
        Ok(run)
    }

    /// Takes one event in and says what is now to be done, first things first. What stands together may be done
    /// together; after one event everything else is asked anew. Nothing to do: the run is over, or paused.
    ///
    /// # Errors
    /// When an event does not follow from those before it.
    pub fn handle(&mut self, event: &RunEvent) -> Result<Vec<Effect>, FlowError> {
        self.apply(event)?;
        Ok(self.pending())
    }

    #[expect(
        clippy::too_many_lines,
        reason = "one arm an event; splitting it would hide that all are there"
    )]
    fn apply(&mut self, event: &RunEvent) -> Result<(), FlowError> {
        if self.outcome.is_some() && !matches!(event, RunEvent::Noticed { .. }) {
            return Err(FlowError::Over);
        }
        match event {
            RunEvent::RunStarted { .. } => return Err(FlowError::SecondStart),
            RunEvent::IssueRead { condensed, .. } => {
                self.issue_text = Some(
                    condensed
                        .clone()
                        .unwrap_or_else(|| self.request.issue.text().to_owned()),
                );
            }
            RunEvent::FaultShown { checks, .. } => self.checks = Some(checks.clone()),
            RunEvent::TestsWritten { checks, .. } => {
                self.tests_written = true;
                self.checks.get_or_insert_default().extend(checks.iter().cloned());
            }
            RunEvent::CandidatesRanked { candidates, skipped } => {
                self.ranked = true;
                let added = std::mem::take(&mut self.candidates);
                let ranked: BTreeSet<&RepoPath> = candidates.iter().map(|candidate| &candidate.path).collect();
                let added = added.into_iter().filter(|candidate| !ranked.contains(&candidate.path));
                self.candidates = candidates.iter().cloned().chain(added).collect();
                self.skipped.clone_from(skipped);
            }
            RunEvent::RelevanceJudged { judgements } => self.judgements = Some(judgements.clone()),
            RunEvent::FileDescribed { description } => {
                self.descriptions.insert(description.path.clone(), description.clone());
            }
            RunEvent::TaskDefined { task } => {
                let state = TaskState {
                    task: task.clone(),
                    edited: false,
                    role: None,
                    revised: false,
                    reviewer: None,
                    rounds: Vec::new(),
                    taken: None,
                    minimised: None,
                    outcome: None,
                };
                self.tasks.insert(task.id, state);
            }
            RunEvent::TaskDeclined { path, reason } => {
                self.declined.entry(path.clone()).or_default().push(reason.clone());
            }
            RunEvent::RoleDefined { task, role } => self.task_mut(*task)?.role = Some(role.clone()),
            RunEvent::Spoken { speech } => self.meeting.push(speech.clone()),
            RunEvent::RoleRevised { task, role } | RunEvent::RoleEdited { task, role } => {
                let state = self.task_mut(*task)?;
                state.role = Some(role.clone());
                state.revised = true;
            }
            RunEvent::PlanMade { plan } => self.plan = Some(plan.clone()),
            RunEvent::ReviewerDefined { task, role } => self.task_mut(*task)?.reviewer = Some(role.clone()),
            RunEvent::LinesChosen {
                task,
                round,
                symbols,
                spans,
                others,
                answers,
            } => {
                let first = CodePlace {
                    symbols: symbols.clone(),
                    spans: spans.clone(),
                };
                self.task_mut(*task)?.rounds.push(RoundState {
                    round: *round,
                    places: std::iter::once(first).chain(others.iter().cloned()).collect(),
                    answers: *answers,
                    attempts: BTreeMap::new(),
                });
            }
            RunEvent::BaseTested { tests } => self.base_tests = Some((**tests).clone()),
            RunEvent::CodeWritten {
                task,
                round,
                attempt,
                diagnosis,
                change,
                findings,
                place,
                mode,
                same_as,
            } => {
                let state = AttemptState::Written {
                    diagnosis: diagnosis.clone(),
                    change: change.clone(),
                    findings: findings.clone(),
                    place: *place,
                    mode: *mode,
                    same_as: *same_as,
                };
                self.round_mut(*task, *round)?
                    .attempts
                    .insert(*attempt, Attempt::new(state));
            }
            RunEvent::CodeFailed {
                task,
                round,
                attempt,
                reason,
            } => {
                let state = AttemptState::Failed { reason: reason.clone() };
                self.round_mut(*task, *round)?
                    .attempts
                    .insert(*attempt, Attempt::new(state));
            }
            RunEvent::AttemptTested {
                task,
                round,
                attempt,
                result,
            } => self.attempt_mut(*task, *round, *attempt)?.tested = Some((**result).clone()),
            RunEvent::AttemptsCompared { task, round, gains } => {
                for gain in gains {
                    let attempt = self.attempt_mut(*task, *round, gain.attempt)?;
                    attempt.gain = Some(*gain);
                    attempt.rivals = gains.len() as u32 - 1;
                }
            }
            RunEvent::Reviewed {
                task,
                round,
                attempt,
                verdict,
            } => self.attempt_mut(*task, *round, *attempt)?.verdict = Some(verdict.clone()),
            RunEvent::AttemptTaken { task, round, attempt } => {
                self.attempt_mut(*task, *round, *attempt)?;
                let state = self.task_mut(*task)?;
                state.taken = Some((*round, *attempt));
                state.minimised = None;
                state.outcome = None;
                self.unmerge();
            }
            RunEvent::Minimised { task, change, .. } => self.task_mut(*task)?.minimised = Some(change.clone()),
            RunEvent::PatchTested { result } => self.patch_tests = Some((**result).clone()),
            RunEvent::TaskClosed { task, outcome } => {
                self.task_mut(*task)?.outcome = Some(outcome.clone());
                self.unmerge();
            }
            RunEvent::Merged { result } => self.merged = Some(result.clone()),
            RunEvent::RunEnded { outcome } => self.outcome = Some(outcome.clone()),
            RunEvent::CandidateDropped { path } => {
                if !self.is_candidate(path) {
                    return Err(FlowError::UnknownFile(path.clone()));
                }
                self.dropped.insert(path.clone());
                let is_merged = |state: &TaskState| state.task.candidate == *path && state.accepted_change().is_some();
                if self.tasks.values().any(is_merged) {
                    self.unmerge();
                }
                self.tasks.retain(|_, state| state.task.candidate != *path);
            }
            RunEvent::CandidateAdded { path, blob } => {
                self.dropped.remove(path);
                self.declined.remove(path);
                if let Some(known) = self.candidates.iter_mut().find(|candidate| candidate.path == *path) {
                    if !known.evidence.contains(&Evidence::Given) {
                        known.evidence.insert(0, Evidence::Given);
                    }
                } else {
                    let evidence = vec![Evidence::Given];
                    self.candidates.push(Candidate {
                        path: path.clone(),
                        blob: blob.clone(),
                        score: 0.0,
                        evidence,
                    });
                }
            }
            RunEvent::TaskEdited {
                task,
                action,
                description,
            } => {
                let state = self.task_mut(*task)?;
                state.task.action = action.clone();
                state.task.description.clone_from(description);
                state.edited = true;
                state.rounds.clear();
                state.taken = None;
                state.minimised = None;
                state.outcome = None;
                self.unmerge();
            }
            RunEvent::HintAdded { hint } => self.hints.push(hint.clone()),
            RunEvent::Paused { .. } => self.paused = true,
            RunEvent::Resumed => self.paused = false,
            RunEvent::Noticed { .. } => {}
        }
        Ok(())
    }

    /// Forgets the merged change, as others are to be merged.
    fn unmerge(&mut self) {
        self.merged = None;
        self.patch_tests = None;
    }

    fn task_mut(&mut self, task: TaskId) -> Result<&mut TaskState, FlowError> {
        self.tasks.get_mut(&task).ok_or(FlowError::UnknownTask(task))
    }

    fn round_mut(&mut self, task: TaskId, round: Round) -> Result<&mut RoundState, FlowError> {
        let rounds = &mut self.task_mut(task)?.rounds;
        rounds
            .iter_mut()
            .find(|state| state.round == round)
            .ok_or(FlowError::UnknownRound(task, round))
    }

    fn attempt_mut(&mut self, task: TaskId, round: Round, attempt: AttemptNumber) -> Result<&mut Attempt, FlowError> {
        let known = self.round_mut(task, round)?.attempts.get_mut(&attempt);
        known.ok_or(FlowError::UnknownAttempt(task, round, attempt))
    }

    fn is_candidate(&self, path: &RepoPath) -> bool {
        self.candidates.iter().any(|candidate| candidate.path == *path)
    }

    /// Returns what was asked for.
    pub fn request(&self) -> &RunRequest {
        &self.request
    }

    /// Returns the tree the run reads.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// Returns the issue as the agents read it: whole, or condensed where the model's context asked for it.
    pub fn issue_text(&self) -> &str {
        self.issue_text.as_deref().unwrap_or_else(|| self.request.issue.text())
    }

    /// Returns the hints that reach the agents.
    pub fn hints(&self) -> &[Hint] {
        &self.hints
    }

    /// Returns whether code is run.
    pub fn runs_code(&self) -> bool {
        match self.request.tests {
            TestsMode::Run { .. } => true,
            TestsMode::Skip => false,
        }
    }

    /// Returns what fails on the base because of the fault; empty before it was looked for, or where nothing was found.
    pub fn checks(&self) -> &[BugCheck] {
        self.checks.as_deref().unwrap_or_default()
    }

    /// Returns the tests nearest to the changes, as they run on the base; none before they were run.
    pub fn base_tests(&self) -> Option<&BaseTests> {
        self.base_tests.as_ref()
    }

    /// Returns what running the checks and tests showed of the merged tree; none where nothing was run.
    pub fn patch_tests(&self) -> Option<&ChangeTests> {
        self.patch_tests.as_ref()
    }

    /// Returns what is known of the patch by running it.
    pub fn proof(&self) -> Proof {
        self.patch_tests.as_ref().map_or(Proof::NotRun, ChangeTests::proof)
    }

    /// Returns the ranked candidates, best first; empty before they are known.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Returns files that could not be read.
    pub fn skipped(&self) -> &[SkippedFile] {
        &self.skipped
    }

    /// Returns the Custodian's judgements, best first.
    pub fn judgements(&self) -> &[Judgement] {
        self.judgements.as_deref().unwrap_or_default()
    }

    /// Returns the candidates that stay: judged relevant or given by the person, and not dropped. In order of
    /// relevance.
    pub fn kept(&self) -> Vec<&Candidate> {
        let dropped = |candidate: &&Candidate| !self.dropped.contains(&candidate.path);
        let judged = self.judgements().iter().filter(|judgement| judgement.kept);
        let mut kept: Vec<&Candidate> = judged
            .filter_map(|judgement| {
                self.candidates()
                    .iter()
                    .find(|candidate| candidate.path == judgement.path)
            })
            .filter(dropped)
            .collect();
        for candidate in self.candidates().iter().filter(dropped) {
            let given = candidate.evidence.contains(&Evidence::Given);
            if given && !kept.iter().any(|known| known.path == candidate.path) {
                kept.push(candidate);
            }
        }
        kept
    }

    /// Returns how a file is described to the team.
    pub fn description(&self, path: &RepoPath) -> Option<&Description> {
        self.descriptions.get(path)
    }

    /// Returns files in which P4 found nothing to do, with the reason.
    pub fn declined(&self) -> impl Iterator<Item = (&RepoPath, &str)> {
        self.declined
            .iter()
            .filter_map(|(path, reasons)| Some((path, reasons.last()?.as_str())))
    }

    /// Returns the tasks, by id.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskState> {
        self.tasks.values()
    }

    /// Returns the state of one task, where the run has it.
    pub fn task(&self, task: TaskId) -> Option<&TaskState> {
        self.tasks.get(&task)
    }

    /// Returns the record of the meeting so far.
    pub fn meeting(&self) -> &[Speech] {
        &self.meeting
    }

    /// Returns the plan, once the Manager has made it (P7).
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// Returns the merged change, once there is one.
    pub fn merged(&self) -> Option<&MergeResult> {
        self.merged.as_ref()
    }

    /// Returns how the run ended; none while it goes on.
    pub fn outcome(&self) -> Option<&RunOutcome> {
        self.outcome.as_ref()
    }

    /// Returns whether it waits for a person.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Returns the stage the next effect belongs to; the last one when nothing is left.
    pub fn stage(&self) -> Stage {
        self.steps().first().map_or(Stage::Merge, Effect::stage)
    }

    pub(crate) fn has_spoken(&self, speaker: Speaker, turn: Turn) -> bool {
        self.meeting
            .iter()
            .any(|speech| speech.speaker == speaker && speech.turn == turn)
    }
}

/// Returns how many events of a log belong to what comes before `stage`: the part a run again from `stage` shares, its start always. What a person says may
/// come at any time.
pub fn events_before(events: &[RunEvent], stage: Stage) -> usize {
    let is_behind = |event: &RunEvent| match event {
        RunEvent::RunStarted { .. } => false,
        RunEvent::Spoken { speech } if speech.speaker == Speaker::Person => false,
        other => other.stage().is_some_and(|of| of >= stage),
    };
    events.iter().position(is_behind).unwrap_or(events.len())
}

/// Returns how many events of a log belong to the attempts and what comes before them: the part a run that takes another attempt shares.
pub fn events_of_attempts(events: &[RunEvent]) -> usize {
    let is_of_attempts = |event: &RunEvent| match event {
        RunEvent::TaskClosed { .. } | RunEvent::Minimised { .. } => false,
        other => other.stage().is_some_and(|stage| stage <= Stage::Code),
    };
    events
        .iter()
        .rposition(is_of_attempts)
        .map_or(events.len(), |last| last + 1)
}
