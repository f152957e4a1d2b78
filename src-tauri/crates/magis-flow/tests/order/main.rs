//! The order of the method, seen from outside: a simulated driver answers every effect with a plain event.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "a test fails by panicking"
)]

mod driver;
mod evidence;
mod person;

use driver::{Driver, check, outcome, path, request, role, spoken, started};
use evidence::by_evidence;
use magis_core::*;
use magis_flow::{Effect, Run};

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
fn where_nothing_is_run_a_task_ends_with_the_attempt_that_a_person_takes() {
    let mut driver = Driver::default();
    let several = RunRequest {
        attempts_per_round: 3,
        ..request()
    };
    let mut taken = false;
    let log = driver.drive(several, |_, effect| {
        let second = Effect::WriteCode(TaskId(1), Round(1), AttemptNumber(1));
        let now = *effect == second && !std::mem::replace(&mut taken, true);
        now.then_some(RunEvent::AttemptTaken {
            task: TaskId(1),
            round: Round(1),
            attempt: AttemptNumber(0),
        })
    });
    let run = Run::fold(&log).unwrap();
    let state = run.task(TaskId(1)).unwrap();
    assert_eq!(state.accepted_attempt(), Some((Round(1), AttemptNumber(0))));
    let written = driver.steps.iter().filter(|step| step.starts_with("WriteCode"));
    assert_eq!(written.count(), 1, "{:?}", driver.steps);
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
    // Where no code is run there is nothing before locating.
    for (request, first) in [(request(), Stage::Locate), (by_evidence(1), Stage::Evidence)] {
        let mut driver = Driver {
            checks: vec![check(1, Grade::ExpectedResult)],
            ..Driver::default()
        };
        // A person may speak at any time.
        let log = driver.drive(request, |run, effect| {
            let now = run.meeting().is_empty() && matches!(effect, Effect::Rank);
            now.then(|| spoken(Speaker::Person, Turn::Speak))
        });
        for stage in Stage::ALL {
            let shared = &log[..magis_flow::events_before(&log, stage)];
            assert_eq!(Run::fold(shared).unwrap().stage(), stage.max(first), "from {stage}");
        }
    }
}

#[test]
fn a_run_without_a_meeting_goes_from_the_team_to_the_plan() {
    let mut driver = Driver::default();
    let without = RunRequest {
        without: [MethodPart::Meeting].into(),
        ..request()
    };
    let log = driver.drive(without, |_, _| None);
    assert!(
        !log.iter()
            .any(|event| matches!(event, RunEvent::Spoken { .. } | RunEvent::RoleRevised { .. }))
    );
    assert!(
        driver.steps.iter().any(|step| step.starts_with("MakePlan")),
        "{:?}",
        driver.steps
    );
    assert_eq!(*outcome(&log), RunOutcome::Approved);
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
