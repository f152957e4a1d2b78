//! A run as its page shows it: everything its log says, folded and in the order in which people look at it.
//!
//! The folding itself is `magis-flow`'s; here the state, the log and the costs become one value.

use super::review::AppliedView;
use super::runs::RunRow;
use super::stage::StageView;
use magis_core::{
    AttemptNumber, Base, BaseTests, BugCheck, Candidate, ChangeTests, CodePlace, Description, Edit, Evidence,
    FileChange, FileTask, Finding, Hint, HunkNeed, Judgement, LineSpan, MergeResult, Notice, Plan, Proof, RepoPath,
    Role, RunEvent, RunOutcome, RunRequest, SkippedFile, Speech, Stage, TaskId, TaskOutcome, Verdict, WritingMode,
};
use magis_engine::records::{CallOrigin, CallTotals, ImportSource, StoredEvent};
use magis_engine::repository::text_diff;
use magis_engine::state::{Attempt, AttemptState, RoundState, Run, TaskState};
use magis_engine::{StageTimes, stage_of_step};
use serde::Serialize;
use specta::Type;
use std::collections::{BTreeMap, BTreeSet};

/// Why a candidate is in the run, or is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CandidateState {
    Kept,
    /// The Custodian judged it irrelevant.
    JudgedIrrelevant,
    /// A person dropped it.
    DroppedByYou,
    /// The Manager found nothing to do in it.
    Declined {
        reason: String,
    },
    /// It is not judged yet.
    Waiting,
}

/// A candidate with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Type)]
pub struct CandidateView {
    /// The candidate, its evidence in the order in which it is shown.
    pub candidate: Candidate,
    pub judgement: Option<Judgement>,
    pub state: CandidateState,
    /// How it is described to the team.
    pub description: Option<Description>,
}

/// One answer of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct AttemptView {
    /// Which answer, from 0.
    pub attempt: u32,
    /// What is wrong, in a sentence or two; empty where nothing usable came.
    pub diagnosis: String,
    /// The change against the base.
    pub change: Option<FileChange>,
    /// What programs found in it.
    pub findings: Vec<Finding>,
    /// Why nothing usable came.
    pub failed: Option<String>,
    pub verdict: Option<Verdict>,
    /// At which of the round's places it is, from 0.
    pub place: u32,
    /// How it was asked for.
    pub mode: WritingMode,
    /// The round and the number of the earlier answer whose code it repeats.
    pub same_as: Option<(u32, u32)>,
    /// How many answers of the round have its code, itself included.
    pub votes: u32,
    /// Its place by likelihood, from 1, and among how many that pass; none where it was not compared with others.
    pub likelihood: Option<(u32, u32)>,
    /// Whether the model finds the code much less likely with it.
    pub unlikely: bool,
    /// What checks and tests said of it.
    pub tested: Option<ChangeTests>,
    /// What checks and tests prove of it.
    pub proof: Proof,
    /// The change as unified hunks against the base; empty where the base is not here.
    pub diff: String,
}

/// One round of writing and review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct RoundView {
    /// Which, from 1.
    pub round: u32,
    /// The symbols the lines of the likeliest place lie in.
    pub symbols: Vec<String>,
    /// The lines to change there.
    pub spans: Vec<LineSpan>,
    /// All places, the likeliest first.
    pub places: Vec<CodePlace>,
    /// At which of them each of its attempts is when it is whole, from 0, in the order of their numbers.
    pub answer_places: Vec<u32>,
    pub attempts: Vec<AttemptView>,
}

/// One task with its people and its rounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct TaskView {
    pub task: FileTask,
    pub developer: Option<Role>,
    pub reviewer: Option<Role>,
    /// The rounds so far.
    pub rounds: Vec<RoundView>,
    pub outcome: Option<TaskOutcome>,
    /// The round and the number of the answer whose change goes into the patch.
    pub accepted: Option<(u32, u32)>,
    /// Hunks that were left out of its change because nothing depends on them, and how many it had.
    pub left_out: Option<(u32, u32)>,
    /// What needs each hunk of the task's change, where that was found out.
    pub needed: Vec<HunkNeed>,
    /// Lines of the file in the base; none where it is not there or not here.
    pub base_lines: Option<u32>,
}

/// What running code showed in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct EvidenceView {
    /// Whether it was looked for already.
    pub looked_for: bool,
    /// What fails on the base because of the fault.
    pub checks: Vec<BugCheck>,
    /// Why there is nothing, or not more, a sentence each.
    pub remarks: Vec<String>,
    /// The tests that judge changes, on the base.
    pub base: Option<BaseTests>,
    /// What was run on the patch.
    pub patch: Option<ChangeTests>,
    /// What is known of the patch by that.
    pub proof: Proof,
}

/// A run, all of it.
#[derive(Debug, Clone, PartialEq, Serialize, Type)]
pub struct RunView {
    /// As lists show it.
    pub row: RunRow,
    /// What was asked for.
    pub request: RunRequest,
    /// The tree it reads.
    pub base: Base,
    /// What the agents read where the issue is too long for the model.
    pub condensed_issue: Option<String>,
    /// The hints that reach the agents.
    pub hints: Vec<Hint>,
    /// The stage that is under way; the last one when nothing is left.
    pub stage: Stage,
    /// All stages with what they cost.
    pub stages: Vec<StageView>,
    /// Milliseconds of its calls and of running code, without pauses.
    pub worked_ms: u64,
    /// Why it is paused.
    pub paused_reason: Option<String>,
    pub outcome: Option<RunOutcome>,
    /// What running code showed; none where the run runs nothing.
    pub evidence: Option<EvidenceView>,
    /// The candidates, the most relevant first.
    pub candidates: Vec<CandidateView>,
    /// Files that could not be read.
    pub skipped: Vec<SkippedFile>,
    pub tasks: Vec<TaskView>,
    /// The record of the meeting.
    pub meeting: Vec<Speech>,
    pub plan: Option<Plan>,
    /// The plan's parallel groups, in order.
    pub plan_groups: Vec<Vec<TaskId>>,
    pub merged: Option<MergeResult>,
    /// What was left out, replaced or repeated.
    pub notices: Vec<Notice>,
    /// The last application of its patch.
    pub applied: Option<AppliedView>,
    /// From which file it was imported.
    pub import: Option<ImportView>,
    /// Whether its patch may go into its repository: of a run that was imported, a person names that first.
    pub repository_named: bool,
    /// The number of its last event.
    pub seq: u32,
}

/// The file that a run was imported from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct ImportView {
    /// Its name; empty where it was not noted.
    pub file: String,
    pub at_ms: i64,
}

/// What a [`RunView`] is made of.
pub struct RunFacts<'a> {
    /// As lists show it.
    pub row: RunRow,
    /// The fold of the log.
    pub state: &'a Run,
    pub events: &'a [StoredEvent],
    /// What its calls cost.
    pub totals: &'a [CallTotals],
    /// The base version of a file.
    pub base_text: &'a dyn Fn(&RepoPath) -> Option<String>,
    /// The last application of its patch.
    pub applied: Option<AppliedView>,
    /// From which file it came.
    pub import: Option<ImportSource>,
    /// Whether its patch may go into its repository.
    pub repository_named: bool,
}

impl RunView {
    /// Returns the view of a run.
    pub fn new(facts: RunFacts<'_>) -> Self {
        let RunFacts {
            row,
            state,
            events,
            totals,
            base_text,
            applied,
            import,
            repository_named,
        } = facts;
        let steps = totals.iter().filter(|total| total.origin == CallOrigin::Own);
        let costs = steps.filter_map(|total| {
            Some(StageView {
                stage: stage_of_step(&total.step)?,
                ms: total.prompt_ms + total.generate_ms,
                calls: total.calls,
                computed_tokens: total.prompt_tokens,
                reused_tokens: total.reused_tokens,
                generated_tokens: total.generated_tokens,
                done: false,
            })
        });
        let reached = events.iter().map(|stored| stored.stage).max().unwrap_or(Stage::Locate);
        let is_done = |stage| match state.outcome() {
            Some(_) => stage <= reached,
            None => stage < state.stage(),
        };
        let plan = state.plan().cloned();
        let running_code = u64::try_from(StageTimes::running_code(events).as_millis()).unwrap_or_default();
        Self {
            worked_ms: row.worked_ms + running_code,
            row,
            request: state.request().clone(),
            base: state.base().clone(),
            condensed_issue: events.iter().find_map(|stored| match &stored.event {
                RunEvent::IssueRead { condensed, .. } => condensed.clone(),
                _ => None,
            }),
            hints: state.hints().to_vec(),
            stage: state.stage(),
            stages: stages(costs, is_done),
            paused_reason: paused_reason(state, events),
            outcome: state.outcome().cloned(),
            evidence: state.runs_code().then(|| evidence(state, events)),
            candidates: candidates(state, events),
            skipped: state.skipped().to_vec(),
            tasks: state
                .tasks()
                .map(|task| task_view(state, task, events, base_text))
                .collect(),
            meeting: state.meeting().to_vec(),
            plan_groups: plan.as_ref().map(Plan::groups).unwrap_or_default(),
            plan,
            merged: state.merged().cloned(),
            notices: events
                .iter()
                .filter_map(|stored| match &stored.event {
                    RunEvent::Noticed { notice } => Some(notice.clone()),
                    _ => None,
                })
                .collect(),
            applied,
            import: import.map(|import| ImportView {
                file: import.file,
                at_ms: import.at,
            }),
            repository_named,
            seq: events.last().map_or(0, |stored| stored.seq),
        }
    }
}

/// Costs added up by stage, all stages in order.
pub fn stages(costs: impl Iterator<Item = StageView>, is_done: impl Fn(Stage) -> bool) -> Vec<StageView> {
    let empty = |stage| StageView {
        stage,
        ms: 0,
        calls: 0,
        computed_tokens: 0,
        reused_tokens: 0,
        generated_tokens: 0,
        done: is_done(stage),
    };
    let mut all: Vec<StageView> = Stage::ALL.into_iter().map(empty).collect();
    for cost in costs {
        if let Some(sum) = all.iter_mut().find(|sum| sum.stage == cost.stage) {
            sum.ms += cost.ms;
            sum.calls += cost.calls;
            sum.computed_tokens += cost.computed_tokens;
            sum.reused_tokens += cost.reused_tokens;
            sum.generated_tokens += cost.generated_tokens;
        }
    }
    all
}

fn paused_reason(state: &Run, events: &[StoredEvent]) -> Option<String> {
    if !state.is_paused() || state.outcome().is_some() {
        return None;
    }
    events.iter().rev().find_map(|stored| match &stored.event {
        RunEvent::Paused { reason } => Some(reason.clone()),
        _ => None,
    })
}

fn evidence(state: &Run, events: &[StoredEvent]) -> EvidenceView {
    let remarks = events.iter().flat_map(|stored| match &stored.event {
        RunEvent::FaultShown { remarks, .. } | RunEvent::TestsWritten { remarks, .. } => remarks.clone(),
        _ => Vec::new(),
    });
    EvidenceView {
        looked_for: events
            .iter()
            .any(|stored| matches!(stored.event, RunEvent::FaultShown { .. })),
        checks: state.checks().to_vec(),
        remarks: remarks.collect(),
        base: state.base_tests().cloned(),
        patch: state.patch_tests().cloned(),
        proof: state.proof(),
    }
}

fn candidates(state: &Run, events: &[StoredEvent]) -> Vec<CandidateView> {
    let mut dropped = BTreeSet::new();
    for stored in events {
        match &stored.event {
            RunEvent::CandidateDropped { path } => drop(dropped.insert(path)),
            RunEvent::CandidateAdded { path, .. } => drop(dropped.remove(path)),
            _ => {}
        }
    }
    let declined: BTreeMap<&RepoPath, &str> = state.declined().collect();
    let with_task: BTreeSet<&RepoPath> = state.tasks().map(|task| &task.task.candidate).collect();
    let judgements = state.judgements();
    let place = |path: &RepoPath| judgements.iter().position(|judgement| judgement.path == *path);
    let mut views: Vec<CandidateView> = state
        .candidates()
        .iter()
        .map(|candidate| {
            let path = &candidate.path;
            let judgement = place(path).map(|at| judgements[at].clone());
            let given = candidate.evidence.contains(&Evidence::Given);
            let state_of = if dropped.contains(path) {
                CandidateState::DroppedByYou
            } else if let (Some(reason), false) = (declined.get(path), with_task.contains(path)) {
                CandidateState::Declined {
                    reason: (*reason).to_owned(),
                }
            } else if given {
                CandidateState::Kept
            } else {
                match &judgement {
                    Some(judgement) if judgement.kept => CandidateState::Kept,
                    Some(_) => CandidateState::JudgedIrrelevant,
                    None => CandidateState::Waiting,
                }
            };
            let mut candidate = candidate.clone();
            candidate.evidence.sort_by_key(Evidence::display_order);
            CandidateView {
                candidate,
                judgement,
                state: state_of,
                description: state.description(path).cloned(),
            }
        })
        .collect();
    views.sort_by_key(|view| place(&view.candidate.path).unwrap_or(usize::MAX));
    views
}

fn task_view(
    run: &Run,
    task: &TaskState,
    events: &[StoredEvent],
    base_text: &dyn Fn(&RepoPath) -> Option<String>,
) -> TaskView {
    let base = base_text(&task.task.path);
    let minimised = last_minimised(events, task.task.id);
    let attempt = |round: &RoundState, number: AttemptNumber, attempt: &Attempt| {
        let (diagnosis, change, failed) = match &attempt.state {
            AttemptState::Written { diagnosis, change, .. } => (diagnosis.clone(), Some(change.clone()), None),
            AttemptState::Failed { reason } => (String::new(), None, Some(reason.clone())),
        };
        AttemptView {
            attempt: number.0,
            place: attempt.place().unwrap_or_else(|| run.place_of(round, number).0) as u32,
            mode: attempt.mode(),
            same_as: attempt.same_as().map(|(round, number)| (round.0, number.0)),
            votes: round.votes(number) as u32,
            likelihood: round
                .likelihood(number)
                .map(|(place, among)| (place as u32, among as u32)),
            unlikely: attempt.is_unlikely(),
            tested: attempt.tested.clone(),
            proof: attempt.proof(),
            diagnosis,
            diff: change
                .as_ref()
                .map_or_else(String::new, |change| diff(base.as_deref(), change)),
            change,
            findings: attempt.findings().to_vec(),
            failed,
            verdict: attempt.verdict.clone(),
        }
    };
    TaskView {
        task: task.task.clone(),
        developer: task.role.clone(),
        reviewer: task.reviewer.clone(),
        rounds: task
            .rounds
            .iter()
            .map(|round| RoundView {
                round: round.round.0,
                symbols: round.first_place().symbols.clone(),
                spans: round.first_place().spans.clone(),
                places: round.places.clone(),
                answer_places: (0..run.answers_of(round))
                    .map(|number| run.place_of(round, AttemptNumber(number)).0 as u32)
                    .collect(),
                attempts: round
                    .attempts
                    .iter()
                    .map(|(number, state)| attempt(round, *number, state))
                    .collect(),
            })
            .collect(),
        outcome: task.outcome.clone(),
        accepted: task.accepted_attempt().map(|(round, number)| (round.0, number.0)),
        left_out: minimised.and_then(|(dropped, hunks, _)| (dropped > 0).then_some((dropped, hunks))),
        needed: minimised.map_or_else(Vec::new, |(_, _, needed)| needed.to_vec()),
        base_lines: base.map(|text| u32::try_from(text.lines().count()).unwrap_or(u32::MAX)),
    }
}

/// Returns how many hunks were left out of the change of a task when it was made smaller last, of how many, and what
/// needs those that are left. None where a person took an attempt or rewrote the task since: its change is another one.
fn last_minimised(events: &[StoredEvent], of: TaskId) -> Option<(u32, u32, &[HunkNeed])> {
    let last = events.iter().rev().find_map(|stored| match &stored.event {
        RunEvent::Minimised {
            task,
            dropped,
            hunks,
            needed,
            ..
        } if *task == of => Some(Some((*dropped, *hunks, needed.as_slice()))),
        RunEvent::AttemptTaken { task, .. } | RunEvent::TaskEdited { task, .. } if *task == of => Some(None),
        _ => None,
    });
    last.flatten()
}

/// Returns a change as unified hunks; nothing where the base is needed and not here, or does not take the edits.
fn diff(base: Option<&str>, change: &FileChange) -> String {
    match (change, base) {
        (FileChange::Create { content }, _) => text_diff("", content, 3),
        (FileChange::Delete, Some(base)) => text_diff(base, "", 3),
        (FileChange::Modify { edits } | FileChange::Rename { edits, .. }, Some(base)) => {
            Edit::splice(base, edits).map_or_else(|_| String::new(), |after| text_diff(base, &after, 3))
        }
        (FileChange::Delete | FileChange::Modify { .. } | FileChange::Rename { .. }, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_core::{CheckId, Round};

    const TASK: TaskId = TaskId(1);

    fn needs() -> Vec<HunkNeed> {
        vec![HunkNeed {
            line: 28,
            checks: vec![CheckId(1)],
            tests: Vec::new(),
        }]
    }

    fn minimised(task: TaskId, dropped: u32, needed: Vec<HunkNeed>) -> RunEvent {
        RunEvent::Minimised {
            task,
            change: FileChange::Delete,
            dropped,
            hunks: 3,
            needed,
        }
    }

    fn taken(task: TaskId) -> RunEvent {
        RunEvent::AttemptTaken {
            task,
            round: Round(1),
            attempt: AttemptNumber(0),
        }
    }

    #[track_caller]
    fn check(events: Vec<RunEvent>, expected: Option<(u32, u32, &[HunkNeed])>) {
        let log: Vec<StoredEvent> = events
            .into_iter()
            .zip(1..)
            .map(|(event, seq)| StoredEvent {
                seq,
                at_ms: 0,
                stage: Stage::Code,
                event,
            })
            .collect();
        assert_eq!(last_minimised(&log, TASK), expected);
    }

    #[test]
    fn what_was_left_out_is_told_of_the_last_time_that_the_task_was_made_smaller() {
        let first = || minimised(TASK, 1, needs());
        check(Vec::new(), None);
        check(vec![first()], Some((1, 3, &needs())));
        check(vec![first(), minimised(TASK, 0, Vec::new())], Some((0, 3, &[])));
        check(
            vec![first(), minimised(TaskId(2), 2, Vec::new())],
            Some((1, 3, &needs())),
        );
    }

    #[test]
    fn nothing_is_told_of_an_attempt_that_a_person_took_until_it_is_made_smaller() {
        let first = || minimised(TASK, 1, Vec::new());
        check(vec![first(), taken(TASK)], None);
        check(vec![first(), taken(TaskId(2))], Some((1, 3, &[])));
        check(
            vec![first(), taken(TASK), minimised(TASK, 2, needs())],
            Some((2, 3, &needs())),
        );
    }
}
