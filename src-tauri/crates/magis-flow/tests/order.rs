//! The order of the method, seen from outside: a simulated driver answers every effect with a plain event.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "a test fails by panicking"
)]

use magis_core::*;
use magis_flow::{Effect, Run, TaskQuestion};
use std::collections::BTreeSet;

/// Answers effects; what varies from test to test is how P4, P10 and P11 come out.
struct Driver {
    kept: Vec<&'static str>,
    declined: Vec<&'static str>,
    verdicts: Vec<Decision>,
    code: fn(Round) -> Option<Vec<Finding>>,
    steps: Vec<String>,
}

impl Default for Driver {
    fn default() -> Self {
        Self {
            kept: vec!["a.py"],
            declined: Vec::new(),
            verdicts: Vec::new(),
            code: |_| Some(Vec::new()),
            steps: Vec::new(),
        }
    }
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

fn request() -> RunRequest {
    RunRequest {
        issue: Issue::new("It crashes").unwrap(),
        hints: Vec::new(),
        hints_mode: HintsMode::Use,
        relevance: RelevanceMode::Code,
        files: Vec::new(),
        model: "scripted".to_owned(),
        seed: 1,
        top_k: 10,
        max_rounds: 3,
        attempts_per_round: 1,
        qa: QaMode::Review,
    }
}

fn started(request: RunRequest) -> RunEvent {
    let base = Base {
        commit: CommitId("c".to_owned()),
        tree: TreeId("t".to_owned()),
        uncommitted: false,
        name: "HEAD".to_owned(),
    };
    RunEvent::RunStarted {
        request: Box::new(request),
        base,
    }
}

fn role(name: &str) -> Role {
    Role {
        name: name.to_owned(),
        focus: String::new(),
    }
}

impl Driver {
    fn answer(&mut self, run: &Run, effect: &Effect) -> RunEvent {
        match effect {
            Effect::ReadIssue => RunEvent::IssueRead {
                condensed: None,
                tokens_before: 3,
                tokens_after: 3,
            },
            Effect::Rank => RunEvent::CandidatesRanked {
                candidates: ["a.py", "b.py", "c.py"]
                    .map(|name| Candidate {
                        path: path(name),
                        blob: BlobId(name.to_owned()),
                        score: 1.0,
                        evidence: Vec::new(),
                    })
                    .to_vec(),
                skipped: Vec::new(),
            },
            Effect::Judge => RunEvent::RelevanceJudged {
                judgements: run
                    .candidates()
                    .iter()
                    .map(|candidate| Judgement {
                        path: candidate.path.clone(),
                        naming: None,
                        yes_no: None,
                        relevance: 0.0,
                        kept: self.kept.contains(&candidate.path.as_str()),
                    })
                    .collect(),
            },
            Effect::Describe(path) => RunEvent::FileDescribed {
                description: Description {
                    path: path.clone(),
                    blob: BlobId(path.to_string()),
                    source: DescriptionSource::Fresh,
                    summary: "what it is".to_owned(),
                    from_skeleton: false,
                },
            },
            Effect::DefineTask(path, TaskQuestion::Openly) if self.declined.contains(&path.as_str()) => {
                RunEvent::TaskDeclined {
                    path: path.clone(),
                    reason: "nothing to do".to_owned(),
                }
            }
            Effect::DefineTask(path, _) => RunEvent::TaskDefined {
                task: FileTask {
                    id: TaskId(run.tasks().count() as u32 + 1),
                    path: path.clone(),
                    candidate: path.clone(),
                    action: FileAction::Modify,
                    description: "mend it".to_owned(),
                },
            },
            Effect::DefineRole(task) => RunEvent::RoleDefined {
                task: *task,
                role: role("developer"),
            },
            Effect::OpenMeeting => spoken(Speaker::Manager, Turn::Open),
            Effect::Speak(task) => spoken(Speaker::Developer(*task), Turn::Speak),
            Effect::SumUp => spoken(Speaker::Manager, Turn::SumUp),
            Effect::ReviseRole(task) => RunEvent::RoleRevised {
                task: *task,
                role: role("revised"),
            },
            Effect::MakePlan => {
                let steps = run.tasks().map(|state| PlanStep {
                    task: state.task.id,
                    after: BTreeSet::new(),
                });
                RunEvent::PlanMade {
                    plan: Plan::new(steps.collect()).unwrap(),
                }
            }
            Effect::DefineReviewer(task) => RunEvent::ReviewerDefined {
                task: *task,
                role: role("qa"),
            },
            Effect::ChooseLines(task, round) => RunEvent::LinesChosen {
                task: *task,
                round: *round,
                symbols: Vec::new(),
                spans: vec![LineSpan::new(1, 1).unwrap()],
            },
            Effect::WriteCode(task, round, attempt) => match (self.code)(*round) {
                Some(findings) => RunEvent::CodeWritten {
                    task: *task,
                    round: *round,
                    attempt: *attempt,
                    diagnosis: String::new(),
                    change: FileChange::Delete,
                    findings,
                },
                None => RunEvent::CodeFailed {
                    task: *task,
                    round: *round,
                    attempt: *attempt,
                    reason: "no code".to_owned(),
                },
            },
            Effect::Review(task, round, attempt) => {
                let decision = if self.verdicts.is_empty() {
                    Decision::Approved
                } else {
                    self.verdicts.remove(0)
                };
                let verdict = Verdict {
                    decision,
                    comment: "see line 1".to_owned(),
                };
                RunEvent::Reviewed {
                    task: *task,
                    round: *round,
                    attempt: *attempt,
                    verdict,
                }
            }
            Effect::Merge => RunEvent::Merged {
                result: MergeResult {
                    tree: TreeId("r".to_owned()),
                    patch: "diff".to_owned(),
                    commit_message: String::new(),
                    pull_request: String::new(),
                },
            },
            Effect::Record(event) => (**event).clone(),
        }
    }

    /// Drives a run to its end; at each step `steer` may put an event of its own in between.
    fn drive(
        &mut self,
        request: RunRequest,
        mut steer: impl FnMut(&Run, &Effect) -> Option<RunEvent>,
    ) -> Vec<RunEvent> {
        let mut log = vec![started(request)];
        let mut run = Run::start(&log[0]).unwrap();
        let mut effects = run.pending();
        while let Some(effect) = effects.first().cloned() {
            let event = steer(&run, &effect).unwrap_or_else(|| {
                self.steps.push(name(&effect));
                self.answer(&run, &effect)
            });
            effects = run.handle(&event).unwrap();
            log.push(event);
            assert!(log.len() < 500, "the run does not end: {:?}", self.steps);
        }
        assert_eq!(Run::fold(&log).unwrap(), run, "the fold of the log is the state");
        log
    }
}

fn spoken(speaker: Speaker, turn: Turn) -> RunEvent {
    RunEvent::Spoken {
        speech: Speech {
            speaker,
            turn,
            text: "well".to_owned(),
        },
    }
}

fn name(effect: &Effect) -> String {
    match effect {
        Effect::Record(event) => match &**event {
            RunEvent::TaskClosed { task, outcome } => format!("Close({task}, {outcome:?})"),
            RunEvent::RunEnded { outcome } => format!("End({outcome:?})"),
            other => format!("{other:?}"),
        },
        Effect::Describe(path) => format!("Describe({path})"),
        Effect::DefineTask(path, asking) => format!("DefineTask({path}, {asking:?})"),
        other => format!("{other:?}"),
    }
}

fn outcome(log: &[RunEvent]) -> &RunOutcome {
    match log.last() {
        Some(RunEvent::RunEnded { outcome }) => outcome,
        other => panic!("the run did not end: {other:?}"),
    }
}

#[test]
fn a_run_with_one_task_goes_through_every_step_in_order() {
    let mut driver = Driver::default();
    driver.drive(request(), |_, _| None);
    assert_eq!(
        driver.steps.join("\n"),
        "ReadIssue\nRank\nJudge\nDescribe(a.py)\nDefineTask(a.py, Insisting)\nDefineRole(TaskId(1))\nOpenMeeting\n\
         Speak(TaskId(1))\nSumUp\nReviseRole(TaskId(1))\nMakePlan\nDefineReviewer(TaskId(1))\n\
         ChooseLines(TaskId(1), Round(1))\nWriteCode(TaskId(1), Round(1), AttemptNumber(0))\n\
         Review(TaskId(1), Round(1), AttemptNumber(0))\nClose(T1, Approved { round: Round(1) })\nMerge\nEnd(Approved)"
    );
}

#[test]
fn a_rejected_change_goes_back_to_its_developer() {
    let mut driver = Driver {
        verdicts: vec![Decision::Rejected],
        ..Driver::default()
    };
    let log = driver.drive(request(), |_, _| None);
    assert!(
        driver
            .steps
            .contains(&"Close(T1, Approved { round: Round(2) })".to_owned())
    );
    let before = log
        .iter()
        .position(|event| matches!(event, RunEvent::Reviewed { .. }))
        .unwrap();
    let run = Run::fold(&log[..=before]).unwrap();
    assert_eq!(
        run.task(TaskId(1)).unwrap().last_objection().as_deref(),
        Some("see line 1")
    );
}

#[test]
fn a_change_never_approved_is_kept_and_marked() {
    let mut driver = Driver {
        verdicts: vec![Decision::Rejected; 3],
        ..Driver::default()
    };
    let log = driver.drive(request(), |_, _| None);
    assert!(
        driver
            .steps
            .contains(&"Close(T1, NotApproved { round: Round(3) })".to_owned())
    );
    assert_eq!(*outcome(&log), RunOutcome::NotApproved);
}

#[test]
fn code_that_is_broken_is_not_reviewed_but_written_again() {
    let mut driver = Driver {
        code: |round| {
            if round.0 == 1 {
                Some(vec![Finding::NoChange])
            } else {
                Some(Vec::new())
            }
        },
        ..Driver::default()
    };
    driver.drive(request(), |_, _| None);
    let reviews: Vec<&String> = driver.steps.iter().filter(|step| step.starts_with("Review(")).collect();
    assert_eq!(reviews, ["Review(TaskId(1), Round(2), AttemptNumber(0))"]);
}

#[test]
fn no_usable_code_ends_in_an_honest_no_change() {
    let mut driver = Driver {
        code: |_| None,
        ..Driver::default()
    };
    let log = driver.drive(request(), |_, _| None);
    let RunOutcome::NoChange { reason } = outcome(&log) else {
        panic!("{log:?}")
    };
    assert!(reason.contains("a.py: no code"), "{reason}");
}

#[test]
fn without_qa_the_first_usable_change_is_taken() {
    let mut driver = Driver {
        verdicts: vec![Decision::Rejected],
        ..Driver::default()
    };
    driver.drive(
        RunRequest {
            qa: QaMode::Skip,
            ..request()
        },
        |_, _| None,
    );
    assert!(
        !driver.steps.iter().any(|step| step.contains("Review")),
        "{:?}",
        driver.steps
    );
}

#[test]
fn every_answer_of_a_round_is_asked_for_before_the_review() {
    let mut driver = Driver::default();
    driver.drive(
        RunRequest {
            attempts_per_round: 3,
            ..request()
        },
        |_, _| None,
    );
    assert_eq!(
        driver.steps.iter().filter(|step| step.starts_with("WriteCode")).count(),
        3
    );
    assert_eq!(
        driver.steps.iter().filter(|step| step.starts_with("Review(")).count(),
        1
    );
}

#[test]
fn a_file_with_nothing_to_do_is_dropped_and_the_best_gets_a_task_in_any_case() {
    let mut driver = Driver {
        kept: vec!["a.py", "b.py"],
        declined: vec!["a.py", "b.py"],
        ..Driver::default()
    };
    let log = driver.drive(request(), |_, _| None);
    let run = Run::fold(&log).unwrap();
    let tasks: Vec<&str> = run.tasks().map(|state| state.task.path.as_str()).collect();
    assert_eq!(tasks, ["a.py"]);
    for step in ["DefineTask(a.py, Insisting)", "DefineTask(b.py, Openly)"] {
        assert!(driver.steps.contains(&step.to_owned()), "{step} in {:?}", driver.steps);
    }
}

#[test]
fn the_only_candidate_is_not_asked_whether_but_what() {
    let mut driver = Driver::default();
    driver.drive(request(), |_, _| None);
    assert!(
        !driver.steps.iter().any(|step| step.contains("Openly")),
        "{:?}",
        driver.steps
    );
}

#[test]
fn tasks_of_one_parallel_group_are_issued_together() {
    let mut driver = Driver {
        kept: vec!["a.py", "b.py"],
        ..Driver::default()
    };
    let log = driver.drive(request(), |_, _| None);
    let planned = log
        .iter()
        .position(|event| matches!(event, RunEvent::PlanMade { .. }))
        .unwrap();
    let run = Run::fold(&log[..=planned]).unwrap();
    assert_eq!(
        run.pending(),
        [Effect::DefineReviewer(TaskId(1)), Effect::DefineReviewer(TaskId(2))]
    );
}

#[test]
fn a_dropped_candidate_takes_its_task_with_it() {
    let mut driver = Driver {
        kept: vec!["a.py", "b.py"],
        ..Driver::default()
    };
    let mut dropped = false;
    let log = driver.drive(request(), |_, effect| {
        let now = matches!(effect, Effect::MakePlan) && !std::mem::replace(&mut dropped, true);
        now.then(|| RunEvent::CandidateDropped { path: path("b.py") })
    });
    let run = Run::fold(&log).unwrap();
    assert_eq!(
        run.tasks().map(|state| state.task.path.as_str()).collect::<Vec<_>>(),
        ["a.py"]
    );
    assert_eq!(*outcome(&log), RunOutcome::Approved);
}

#[test]
fn an_added_candidate_gets_a_task_even_after_the_plan() {
    let mut driver = Driver::default();
    let mut added = false;
    let log = driver.drive(request(), |_, effect| {
        let now = matches!(effect, Effect::DefineReviewer(_)) && !std::mem::replace(&mut added, true);
        now.then(|| RunEvent::CandidateAdded {
            path: path("new.py"),
            blob: BlobId("n".to_owned()),
        })
    });
    let run = Run::fold(&log).unwrap();
    assert!(
        run.tasks()
            .all(|state| matches!(state.outcome, Some(TaskOutcome::Approved { .. })))
    );
    assert_eq!(
        run.tasks().map(|state| state.task.path.as_str()).collect::<Vec<_>>(),
        ["a.py", "new.py"]
    );
}

#[test]
fn a_paused_run_waits_and_goes_on_where_it_was() {
    let mut run = Run::start(&started(request())).unwrap();
    let before = run.pending();
    assert_eq!(
        run.handle(&RunEvent::Paused {
            reason: "asked".to_owned()
        })
        .unwrap(),
        []
    );
    assert_eq!(run.handle(&RunEvent::Resumed).unwrap(), before);
}

#[test]
fn a_run_again_from_a_stage_shares_the_log_up_to_there() {
    let log = Driver::default().drive(request(), |_, _| None);
    for stage in Stage::ALL {
        let shared = &log[..magis_flow::events_before(&log, stage)];
        let expected = if stage == Stage::Locate { Stage::Locate } else { stage };
        assert_eq!(Run::fold(shared).unwrap().stage(), expected, "from {stage}");
    }
}

#[test]
fn hints_that_are_to_be_ignored_reach_nobody() {
    let hints = vec![Hint::Comments("look at a.py".to_owned())];
    let with = RunRequest {
        hints: hints.clone(),
        ..request()
    };
    assert_eq!(Run::start(&started(with.clone())).unwrap().hints(), hints);
    let without = RunRequest {
        hints_mode: HintsMode::Ignore,
        relevance: RelevanceMode::Code,
        ..with
    };
    assert!(Run::start(&started(without)).unwrap().hints().is_empty());
}

#[test]
fn a_log_that_contradicts_itself_is_refused() {
    let role = RunEvent::RoleDefined {
        task: TaskId(9),
        role: role("x"),
    };
    assert!(Run::fold([&started(request()), &role]).is_err());
    assert!(Run::fold([&role]).is_err());
}
