//! What a person does in the code stage where code is run: takes an attempt, drops a file, writes a task anew.

use crate::driver::{Driver, check, outcome};
use crate::evidence::{SHOWN, by_evidence, code_steps};
use magis_core::*;
use magis_flow::{Effect, Run};

/// Returns of which tasks the changes are handed over.
fn handed_over(log: &[RunEvent]) -> Vec<u32> {
    let run = Run::fold(log).unwrap();
    let accepted = run.tasks().filter(|state| state.accepted_change().is_some());
    accepted.map(|state| state.task.id.0).collect()
}

fn nothing_shown(kept: Vec<&'static str>) -> Driver {
    Driver {
        kept,
        checks: vec![check(1, Grade::ExceptionGone)],
        ..Driver::default()
    }
}

fn take(task: u32) -> RunEvent {
    RunEvent::AttemptTaken {
        task: TaskId(task),
        round: Round(1),
        attempt: AttemptNumber(0),
    }
}

#[test]
fn attempts_that_a_person_takes_end_the_stage_and_all_of_them_are_handed_over() {
    let takes = |wanted: &'static [u32]| {
        move |run: &Run, effect: &Effect| {
            let is_taken = |task: &u32| run.task(TaskId(*task)).is_none_or(|state| state.taken.is_some());
            let next = wanted.iter().find(|task| !is_taken(task))?;
            matches!(effect, Effect::ChooseLines(TaskId(3), _) | Effect::Record(_)).then(|| take(*next))
        }
    };
    for wanted in [&[1][..], &[2], &[1, 2]] {
        let mut driver = nothing_shown(vec!["a.py", "b.py", "c.py"]);
        let log = driver.drive(by_evidence(1), takes(wanted));
        assert_eq!(handed_over(&log), wanted);
        let steps = driver.steps.join(" ");
        assert!(
            !steps.contains("TaskId(3), Round(1)"),
            "the third file is not tried: {steps}"
        );
    }
}

#[test]
fn where_the_nearest_is_dropped_the_others_are_chosen_from_anew() {
    let mut driver = nothing_shown(vec!["a.py", "b.py", "c.py"]);
    // The change is merged by then.
    let drop_chosen = |run: &Run, effect: &Effect| {
        let chosen = run.task(TaskId(1)).filter(|state| state.accepted_change().is_some())?;
        matches!(effect, Effect::TestPatch).then(|| RunEvent::CandidateDropped {
            path: chosen.task.candidate.clone(),
        })
    };
    let log = driver.drive(by_evidence(1), drop_chosen);
    assert_eq!(handed_over(&log), [2]);
    assert_eq!(*outcome(&log), RunOutcome::NotApproved);
    let merges = log.iter().filter(|event| matches!(event, RunEvent::Merged { .. }));
    assert_eq!(merges.count(), 2, "the other change is merged anew");
}

#[test]
fn an_attempt_that_is_taken_late_stands_in_the_place_of_what_was_chosen() {
    let mut driver = nothing_shown(vec!["a.py", "b.py"]);
    let take_second = |run: &Run, effect: &Effect| {
        let is_first_time = run.task(TaskId(2)).is_some_and(|state| state.taken.is_none());
        (is_first_time && matches!(effect, Effect::TestPatch)).then(|| take(2))
    };
    let log = driver.drive(by_evidence(1), take_second);
    assert_eq!(handed_over(&log), [2]);
    let merges = log.iter().filter(|event| matches!(event, RunEvent::Merged { .. }));
    assert_eq!(merges.count(), 2);
}

/// Drives a run in which a person rewrites the second task once, before an effect; returns its log and whether the task was written after that.
fn second_rewritten(driver: &mut Driver, before: impl Fn(&Effect) -> bool) -> (Vec<RunEvent>, bool) {
    let edited = || RunEvent::TaskEdited {
        task: TaskId(2),
        action: FileAction::Modify,
        description: "mend it otherwise".to_owned(),
    };
    let edit_second = |run: &Run, effect: &Effect| {
        let is_first_time = run.task(TaskId(2)).is_some_and(|second| !second.edited);
        (is_first_time && before(effect)).then(edited)
    };
    let log = driver.drive(by_evidence(1), edit_second);
    let written = log
        .iter()
        .rposition(|event| matches!(event, RunEvent::CodeWritten { task: TaskId(2), .. }));
    let is_written_after = written > log.iter().position(|event| *event == edited());
    (log, is_written_after)
}

#[test]
fn what_comes_later_is_compared_with_the_nearest_and_not_joined_with_it() {
    let mut driver = Driver {
        shows: |task, _, _| (SHOWN, task.0 as usize),
        ..nothing_shown(vec!["a.py", "b.py"])
    };
    let (log, is_written_after) = second_rewritten(&mut driver, |effect| matches!(effect, Effect::TestPatch));
    assert!(is_written_after);
    assert_eq!(handed_over(&log), [1], "the first task breaks fewer tests still");
}

#[test]
fn what_a_person_rewrote_is_tried_though_another_task_passes_and_taken_where_it_passes_too() {
    fn only_first(task: TaskId, _: Round, _: AttemptNumber) -> (CheckState, usize) {
        (if task.0 == 1 { SHOWN } else { CheckState::Present }, 0)
    }
    fn both(_: TaskId, _: Round, _: AttemptNumber) -> (CheckState, usize) {
        (SHOWN, 0)
    }
    // While the attempt that passes is reviewed, and when it was merged.
    let times: [fn(&Effect) -> bool; 2] = [
        |effect| matches!(effect, Effect::Review(TaskId(1), ..)),
        |effect| matches!(effect, Effect::TestPatch),
    ];
    for before in times {
        for (shows_both, expected) in [(false, [1]), (true, [2])] {
            let mut driver = Driver {
                shows: if shows_both { both } else { only_first },
                ..nothing_shown(vec!["a.py", "b.py"])
            };
            let (log, is_written_after) = second_rewritten(&mut driver, before);
            assert!(is_written_after, "{}", driver.steps.join(" "));
            assert_eq!(handed_over(&log), expected);
            assert_eq!(*outcome(&log), RunOutcome::Approved);
        }
    }
}

#[test]
fn a_doubtful_pass_of_a_rewritten_task_does_not_end_its_round_nor_stand_before_what_is_shown() {
    const WEAK: CheckState = CheckState::Gone {
        grade: Grade::SomethingChanged,
    };
    fn second_shows(task: TaskId, _: Round, attempt: AttemptNumber) -> (CheckState, usize) {
        (if (task.0, attempt.0) == (2, 0) { WEAK } else { SHOWN }, 0)
    }
    fn second_is_weak(task: TaskId, _: Round, _: AttemptNumber) -> (CheckState, usize) {
        (if task.0 == 2 { WEAK } else { SHOWN }, 0)
    }
    for (only_weak, expected) in [(false, [2]), (true, [1])] {
        let mut driver = Driver {
            shows: if only_weak { second_is_weak } else { second_shows },
            ..nothing_shown(vec!["a.py", "b.py"])
        };
        let edit_second = |run: &Run, effect: &Effect| {
            let is_first_time = run.task(TaskId(2)).is_some_and(|second| !second.edited);
            (is_first_time && matches!(effect, Effect::Review(TaskId(1), ..))).then(|| RunEvent::TaskEdited {
                task: TaskId(2),
                action: FileAction::Modify,
                description: "mend it otherwise".to_owned(),
            })
        };
        let log = driver.drive(by_evidence(2), edit_second);
        let steps = driver.steps.join(" ");
        assert!(
            steps.contains("WriteCode(TaskId(2), Round(1), AttemptNumber(1))"),
            "{steps}"
        );
        assert_eq!(handed_over(&log), expected);
    }
}

#[test]
fn what_was_never_tried_with_what_a_person_took_is_not_joined_with_it() {
    let mut driver = nothing_shown(vec!["a.py", "b.py"]);
    let take_first_then_edit_second = |run: &Run, effect: &Effect| {
        let is_taken = run.task(TaskId(1)).is_some_and(|state| state.taken.is_some());
        let is_edited = run.task(TaskId(2)).is_some_and(|state| state.edited);
        match effect {
            Effect::ChooseLines(TaskId(2), _) if !is_taken => Some(take(1)),
            Effect::TestPatch if !is_edited => Some(RunEvent::TaskEdited {
                task: TaskId(2),
                action: FileAction::Modify,
                description: "mend it otherwise".to_owned(),
            }),
            _ => None,
        }
    };
    let log = driver.drive(by_evidence(1), take_first_then_edit_second);
    assert!(driver.steps.join(" ").contains("WriteCode(TaskId(2)"));
    assert_eq!(handed_over(&log), [1]);
}

#[test]
fn a_task_that_is_written_again_proves_nothing_of_what_was_tested_before() {
    let mut driver = Driver {
        checks: vec![check(1, Grade::ExpectedResult)],
        shows: |_, _, _| (SHOWN, 0),
        ..Driver::default()
    };
    let (_, log) = code_steps(&mut driver, by_evidence(1));
    let tested = log
        .iter()
        .position(|event| matches!(event, RunEvent::PatchTested { .. }));
    let mut run = Run::fold(&log[..=tested.unwrap()]).unwrap();
    assert!(run.proof().is_shown(), "{}", run.proof());
    run.handle(&RunEvent::TaskEdited {
        task: TaskId(1),
        action: FileAction::Modify,
        description: "mend it otherwise".to_owned(),
    })
    .unwrap();
    assert_eq!(run.proof(), Proof::NotRun);
}
