//! The order of the code stage where code is run.

use crate::driver::{Driver, check, outcome, request, spoken};
use magis_core::*;
use magis_flow::{Effect, Run};

pub(crate) const SHOWN: CheckState = CheckState::Gone {
    grade: Grade::ExpectedResult,
};

pub(crate) fn by_evidence(attempts: u32) -> RunRequest {
    RunRequest {
        attempts_per_round: attempts,
        max_rounds: 2,
        tests: TestsMode::Run {
            command: Some(TestLine {
                line: "pytest".to_owned(),
                folder: String::new(),
            }),
            failing: Vec::new(),
            checks: IssueChecks::Make,
        },
        ..request()
    }
}

/// Drives a run and returns its steps from the first one of the code stage on, in short.
pub(crate) fn code_steps(driver: &mut Driver, request: RunRequest) -> (String, Vec<RunEvent>) {
    let log = driver.drive(request, |_, _| None);
    let from = driver
        .steps
        .iter()
        .position(|step| step.starts_with("ChooseLines"))
        .unwrap();
    let mut steps = driver.steps[from..].join("\n");
    for (long, short) in [("TaskId", "T"), ("Round", "R"), ("AttemptNumber", "A")] {
        steps = steps.replace(long, short);
    }
    (steps, log)
}

#[test]
fn what_shows_the_fault_is_looked_for_before_the_files_are_ranked() {
    let mut driver = Driver {
        checks: vec![check(1, Grade::ExpectedResult)],
        ..Driver::default()
    };
    driver.drive(by_evidence(1), |_, _| None);
    assert_eq!(driver.steps[..3], ["ShowFault", "ReadIssue", "Rank"]);
    assert!(!driver.steps.contains(&"WriteTests".to_owned()), "there is a check");
}

#[test]
fn where_nothing_shows_the_fault_tests_are_asked_for_when_the_files_are_known() {
    let mut driver = Driver::default();
    driver.drive(by_evidence(1), |_, _| None);
    let at = driver.steps.iter().position(|step| step == "WriteTests").unwrap();
    assert_eq!(driver.steps[at - 1], "Describe(a.py)");
    assert_eq!(driver.steps[at + 1], "DefineTask(a.py, Insisting)");
}

#[test]
fn where_code_is_run_a_meeting_is_held_by_several_without_a_check_or_when_a_person_speaks() {
    let shown = vec![check(1, Grade::ExpectedResult)];
    for (kept, checks, speaks, speeches) in [
        (vec!["a.py"], vec![], false, 0),
        (vec!["a.py", "b.py"], vec![], false, 4),
        (vec!["a.py", "b.py"], shown.clone(), false, 0),
        (vec!["a.py", "b.py"], shown, true, 5),
    ] {
        let mut driver = Driver {
            kept,
            checks,
            ..Driver::default()
        };
        let log = driver.drive(by_evidence(1), |run, effect| {
            let now = speaks && run.meeting().is_empty() && matches!(effect, Effect::DefineRole(_));
            now.then(|| spoken(Speaker::Person, Turn::Speak))
        });
        let said = log.iter().filter(|event| matches!(event, RunEvent::Spoken { .. }));
        assert_eq!(said.count(), speeches);
    }
}

#[test]
fn of_what_is_not_shown_to_work_that_which_still_runs_is_handed_over() {
    let mut driver = Driver {
        checks: vec![check(1, Grade::ExpectedResult)],
        shows: |_, _, attempt| {
            let what = "it does not compile".to_owned();
            let breaks = CheckState::OtherError { what };
            (if attempt.0 == 1 { CheckState::Present } else { breaks }, 0)
        },
        // The second round writes the first answer of the first one again, which is not run twice.
        same_as: |round, _| (round.0 == 2).then_some((Round(1), AttemptNumber(0))),
        verdicts: vec![Decision::Rejected, Decision::Rejected],
        lines: vec![1, 2, 1],
        ..Driver::default()
    };
    let (_, log) = code_steps(&mut driver, by_evidence(3));
    let run = Run::fold(&log).unwrap();
    assert!(!run.proof().is_shown());
    let taken = run.task(TaskId(1)).unwrap().accepted_attempt();
    assert_eq!(taken, Some((Round(1), AttemptNumber(1))));
}

#[test]
fn the_first_attempt_that_is_shown_to_work_ends_the_stage() {
    let mut driver = Driver {
        checks: vec![check(1, Grade::ExpectedResult)],
        shows: |_, _, attempt| (if attempt.0 == 1 { SHOWN } else { CheckState::Present }, 0),
        lines: vec![1; 2],
        ..Driver::default()
    };
    let (steps, log) = code_steps(&mut driver, by_evidence(4));
    assert_eq!(
        steps,
        "ChooseLines(T(1), R(1))\nTestBase\nWriteCode(T(1), R(1), A(0))\nTestAttempt(T(1), R(1), A(0))\n\
         WriteCode(T(1), R(1), A(1))\nTestAttempt(T(1), R(1), A(1))\nCompareAttempts(T(1), R(1))\nDefineReviewer(T(1))\n\
         Review(T(1), R(1), A(1))\nClose(T1, Approved { round: R(1) })\nMinimise(T(1))\nMerge\nTestPatch\nEnd(Approved)"
    );
    let run = Run::fold(&log).unwrap();
    assert_eq!(
        run.proof(),
        Proof::ShownToWork {
            grade: Grade::ExpectedResult
        }
    );
    assert_eq!(
        run.task(TaskId(1)).unwrap().accepted_attempt(),
        Some((Round(1), AttemptNumber(1)))
    );
}

#[test]
fn a_passing_attempt_that_only_deletes_waits_for_the_others_at_its_place() {
    type Shows = fn(TaskId, Round, AttemptNumber) -> (CheckState, usize);
    fn shown(passes: bool) -> (CheckState, usize) {
        (if passes { SHOWN } else { CheckState::Present }, 0)
    }
    let cases: [(Shows, u32); 3] = [
        (|_, _, attempt| shown(attempt.0 == 1), 1),
        (|_, _, attempt| shown(attempt.0 == 1 || attempt.0 == 3), 3),
        // The fifth is at the next place.
        (|_, _, attempt| shown(attempt.0 == 1 || attempt.0 == 5), 1),
    ];
    for (shows, accepted) in cases {
        let mut driver = Driver {
            checks: vec![check(1, Grade::ExpectedResult)],
            finds: |attempt| (attempt.0 == 1).then_some(Finding::OnlyDeletes),
            shows,
            lines: vec![1; 2],
            ..Driver::default()
        };
        let (steps, log) = code_steps(&mut driver, by_evidence(8));
        assert_eq!(
            steps.matches("TestAttempt").count(),
            4,
            "its place has four answers: {steps}"
        );
        let run = Run::fold(&log).unwrap();
        let taken = run.task(TaskId(1)).unwrap().accepted_attempt();
        assert_eq!(taken, Some((Round(1), AttemptNumber(accepted))), "{steps}");
        assert!(run.proof().is_shown());
    }
}

#[test]
fn long_code_is_tried_more_often_than_short_code_and_each_place_once() {
    let lengths = |driver: Driver, attempts: u32| {
        let mut driver = driver;
        let log = driver.drive(by_evidence(attempts), |_, _| None);
        let run = Run::fold(&log).unwrap();
        let round = &run.task(TaskId(1)).unwrap().rounds[0];
        let places = (0..attempts).map(|number| run.place_of(round, AttemptNumber(number)).0);
        let mut shares = vec![0; round.places.len()];
        places.for_each(|place| shares[place] += 1);
        shares
    };
    let driver = |lines: &[u32]| Driver {
        checks: vec![check(1, Grade::ExpectedResult)],
        lines: lines.to_vec(),
        ..Driver::default()
    };
    assert_eq!(lengths(driver(&[4, 100, 1]), 29), [5, 21, 3]);
    assert_eq!(lengths(driver(&[9, 9, 9]), 8), [3, 3, 2]);
    assert_eq!(lengths(driver(&[1, 100]), 2), [1, 1]);
    assert_eq!(lengths(driver(&[1, 100, 100]), 2), [1, 1, 0]);
}

fn of_lines(lines: usize) -> FileChange {
    FileChange::Modify {
        edits: vec![Edit {
            span: LineSpan::new(1, 1).unwrap(),
            text: "x\n".repeat(lines),
        }],
    }
}

#[test]
fn a_passing_edit_at_one_token_waits_for_those_beside_it_and_the_smallest_stands_first() {
    for (mode, tested, accepted) in [(WritingMode::TokenEdit, 3, 2), (WritingMode::FillIn, 2, 1)] {
        let mut driver = Driver {
            checks: vec![check(1, Grade::ExpectedResult)],
            mode,
            change: |attempt| of_lines(if attempt.0 == 1 { 3 } else { 1 }),
            shows: |_, _, attempt| (if attempt.0 > 0 { SHOWN } else { CheckState::Present }, 0),
            lines: vec![1; 2],
            ..Driver::default()
        };
        let (steps, log) = code_steps(&mut driver, by_evidence(8));
        assert_eq!(steps.matches("TestAttempt").count(), tested, "{steps}");
        let run = Run::fold(&log).unwrap();
        let taken = run.task(TaskId(1)).unwrap().accepted_attempt();
        assert_eq!(taken, Some((Round(1), AttemptNumber(accepted))), "{steps}");
    }
}

#[test]
fn of_edits_that_pass_the_one_that_makes_the_code_likeliest_is_taken() {
    let mut driver = Driver {
        checks: vec![check(1, Grade::ExpectedResult)],
        mode: WritingMode::TokenEdit,
        // The second only deletes, so that its likelihood is not asked for.
        finds: |attempt| (attempt.0 == 1).then_some(Finding::OnlyDeletes),
        shows: |_, _, attempt| (if attempt.0 > 0 { SHOWN } else { CheckState::Present }, 0),
        gain: Box::new(|attempt| if attempt.0 == 3 { 4.5 } else { -14.0 }),
        ..Driver::default()
    };
    let (steps, log) = code_steps(&mut driver, by_evidence(6));
    assert_eq!(steps.matches("CompareAttempts(T(1), R(1))").count(), 1, "{steps}");
    let run = Run::fold(&log).unwrap();
    let state = run.task(TaskId(1)).unwrap();
    assert_eq!(state.accepted_attempt(), Some((Round(1), AttemptNumber(3))), "{steps}");
    let round = state.round(Round(1)).unwrap();
    assert_eq!(round.likelihood(AttemptNumber(3)), Some((1, 3)));
    assert_eq!(round.likelihood(AttemptNumber(4)), Some((2, 3)));
    assert_eq!(round.likelihood(AttemptNumber(1)), None);
}

#[test]
fn of_edits_that_pass_one_that_leaves_more_alone_is_taken_where_the_model_finds_both_about_as_likely() {
    // What the second one gains, which touches six tokens; the first gains 4.2 and touches one.
    for (gain, taken) in [(5.7, 0), (9.1, 0), (9.3, 1)] {
        let mut driver = Driver {
            checks: vec![check(1, Grade::ExpectedResult)],
            mode: WritingMode::TokenEdit,
            shows: two_pass,
            gain: Box::new(move |attempt| if attempt.0 == 1 { gain } else { 4.2 }),
            touched: |attempt| if attempt.0 == 1 { 6 } else { 1 },
            ..Driver::default()
        };
        let (steps, log) = code_steps(&mut driver, by_evidence(6));
        let run = Run::fold(&log).unwrap();
        let state = run.task(TaskId(1)).unwrap();
        let taken = AttemptNumber(taken);
        assert_eq!(state.accepted_attempt(), Some((Round(1), taken)), "{gain}: {steps}");
        assert_eq!(state.round(Round(1)).unwrap().likelihood(taken), Some((1, 2)));
    }
}

#[test]
fn edits_that_come_to_the_same_code_are_no_votes() {
    // The third and the fourth repeat the first: it is drawn by nobody, and the second is likelier.
    let mut driver = Driver {
        checks: vec![check(1, Grade::ExpectedResult)],
        mode: WritingMode::TokenEdit,
        same_as: |round, attempt| (attempt.0 > 1).then_some((round, AttemptNumber(0))),
        shows: two_pass,
        gain: Box::new(|attempt| if attempt.0 == 1 { 4.0 } else { 1.0 }),
        ..Driver::default()
    };
    let (steps, log) = code_steps(&mut driver, by_evidence(4));
    let run = Run::fold(&log).unwrap();
    let state = run.task(TaskId(1)).unwrap();
    assert_eq!(state.accepted_attempt(), Some((Round(1), AttemptNumber(1))), "{steps}");
    assert_eq!(state.attempt(Round(1), AttemptNumber(1)).unwrap().rivals, 1);
}

/// Drives a run of edits at one token that the model likes, and returns whether the one that is taken is shown to work, and its steps.
fn is_taken_as_shown(shows: fn(TaskId, Round, AttemptNumber) -> (CheckState, usize)) -> (bool, String) {
    let mut driver = Driver {
        checks: vec![check(1, Grade::ExpectedResult)],
        mode: WritingMode::TokenEdit,
        shows,
        gain: Box::new(|_| 4.0),
        ..Driver::default()
    };
    let (steps, log) = code_steps(&mut driver, by_evidence(6));
    let run = Run::fold(&log).unwrap();
    let state = run.task(TaskId(1)).unwrap();
    let (round, number) = state.accepted_attempt().unwrap();
    (state.attempt(round, number).unwrap().proof().is_shown(), steps)
}

#[test]
fn beside_several_others_that_pass_a_change_is_plausible() {
    let (is_shown, steps) = is_taken_as_shown(two_pass);
    assert!(is_shown, "{steps}");
    let (is_shown, steps) = is_taken_as_shown(three_pass);
    assert!(!is_shown, "{steps}");
}

#[test]
fn beside_one_other_that_passes_a_change_is_plausible_where_no_result_is_stated() {
    fn ends(attempt: AttemptNumber, passing: u32) -> (CheckState, usize) {
        let grade = Grade::ExceptionGone;
        let gone = CheckState::Gone { grade };
        (if attempt.0 < passing { gone } else { CheckState::Present }, 0)
    }
    let (is_shown, steps) = is_taken_as_shown(|_, _, attempt| ends(attempt, 1));
    assert!(is_shown, "{steps}");
    let (is_shown, steps) = is_taken_as_shown(|_, _, attempt| ends(attempt, 2));
    assert!(!is_shown, "{steps}");
}

fn two_pass(_: TaskId, _: Round, attempt: AttemptNumber) -> (CheckState, usize) {
    (if attempt.0 < 2 { SHOWN } else { CheckState::Present }, 0)
}

fn three_pass(_: TaskId, _: Round, attempt: AttemptNumber) -> (CheckState, usize) {
    (if attempt.0 < 3 { SHOWN } else { CheckState::Present }, 0)
}

#[test]
fn an_attempt_that_makes_the_code_unlikely_is_taken_only_where_nothing_else_passes() {
    // What the first one that passes gains, how many lines it has, whether one of the second round passes too, which is taken, and whether it is shown
    // to work.
    for (gain, lines, another, (round, number), shown) in [
        (0.0, 1, true, (1, 1), true),
        (-0.1, 1, true, (1, 1), false),
        (-2.9, 1, true, (1, 1), false),
        (-3.1, 1, true, (2, 0), true),
        (-3.1, 1, false, (1, 1), false),
        (-8.9, 2, true, (1, 1), false),
        (-9.1, 2, true, (2, 0), true),
        (-27.1, 15, true, (2, 0), true),
    ] {
        let mut driver = Driver {
            checks: vec![check(1, Grade::ExpectedResult)],
            mode: WritingMode::TokenEdit,
            shows: if another { in_both_rounds } else { in_the_first_round },
            gain: Box::new(move |attempt| if attempt.0 == 1 { gain } else { 0.0 }),
            change: match lines {
                1 => |_| of_lines(1),
                2 => |_| of_lines(2),
                _ => |_| of_lines(15),
            },
            kept: vec!["a.py", "b.py"],
            ..Driver::default()
        };
        let (steps, log) = code_steps(&mut driver, by_evidence(4));
        assert!(!steps.contains("T(2), R"), "nothing at the other file passes: {steps}");
        let run = Run::fold(&log).unwrap();
        let state = run.task(TaskId(1)).unwrap();
        assert_eq!(
            state.accepted_attempt(),
            Some((Round(round), AttemptNumber(number))),
            "{steps}"
        );
        let is_shown = state
            .attempt(Round(round), AttemptNumber(number))
            .unwrap()
            .proof()
            .is_shown();
        assert_eq!(is_shown, shown, "what makes the code less likely is plausible: {steps}");
        let first = state.round(Round(1)).unwrap();
        assert_eq!(
            first.likelihood(AttemptNumber(1)),
            None,
            "it was compared with no other"
        );
    }
}

#[test]
fn an_attempt_that_a_failing_test_of_the_project_passes_with_may_make_the_code_unlikely() {
    let mut driver = Driver {
        checks: vec![check(1, Grade::ExpectedResult)],
        mode: WritingMode::TokenEdit,
        shows: in_both_rounds,
        mends: vec![TestName("test_sums".to_owned())],
        gain: Box::new(|_| -9.0),
        change: |_| of_lines(1),
        ..Driver::default()
    };
    let (steps, log) = code_steps(&mut driver, by_evidence(4));
    let run = Run::fold(&log).unwrap();
    let state = run.task(TaskId(1)).unwrap();
    let taken = (Round(1), AttemptNumber(1));
    assert_eq!(state.accepted_attempt(), Some(taken), "{steps}");
    assert!(state.attempt(taken.0, taken.1).unwrap().proof().is_shown(), "{steps}");
}

fn in_the_first_round(_: TaskId, round: Round, attempt: AttemptNumber) -> (CheckState, usize) {
    let passes = (round.0, attempt.0) == (1, 1);
    (if passes { SHOWN } else { CheckState::Present }, 0)
}

fn in_both_rounds(task: TaskId, round: Round, attempt: AttemptNumber) -> (CheckState, usize) {
    match (round.0, attempt.0) {
        (2, 0) => (SHOWN, 0),
        _ => in_the_first_round(task, round, attempt),
    }
}

#[test]
fn a_weak_grade_is_plausible_and_handed_over_as_that() {
    let grade = Grade::WrongOutputGone;
    let mut driver = Driver {
        checks: vec![check(1, grade)],
        shows: |_, _, _| {
            let grade = Grade::WrongOutputGone;
            (CheckState::Gone { grade }, 0)
        },
        ..Driver::default()
    };
    let (steps, log) = code_steps(&mut driver, by_evidence(2));
    assert!(steps.contains("Minimise"), "{steps}");
    let run = Run::fold(&log).unwrap();
    assert_eq!(run.proof(), Proof::Plausible { grade });
    assert_eq!(*outcome(&log), RunOutcome::Approved);
}

#[test]
fn a_round_may_have_fewer_answers_than_allowed() {
    let mut driver = Driver {
        checks: vec![check(1, Grade::ExpectedResult)],
        shows: |_, _, _| (CheckState::Present, 0),
        answers: Some(2),
        ..Driver::default()
    };
    let (steps, _) = code_steps(&mut driver, by_evidence(9));
    let written = |round: &str| steps.matches(&format!("WriteCode(T(1), {round}, ")).count();
    assert_eq!((written("R(1)"), written("R(2)")), (2, 2), "{steps}");
}

#[test]
fn tasks_take_turns_and_the_one_that_helps_is_taken_alone() {
    let mut driver = Driver {
        kept: vec!["a.py", "b.py"],
        checks: vec![check(1, Grade::ExceptionGone)],
        shows: |task, _, _| (if task.0 == 2 { SHOWN } else { CheckState::Present }, 0),
        ..Driver::default()
    };
    let (steps, log) = code_steps(&mut driver, by_evidence(1));
    assert!(
        !steps.contains("R(2)"),
        "the second file is tried before the first one again: {steps}"
    );
    let run = Run::fold(&log).unwrap();
    let taken: Vec<bool> = run.tasks().map(|state| state.accepted_change().is_some()).collect();
    assert_eq!(taken, [false, true]);
    assert_eq!(*outcome(&log), RunOutcome::Approved);
}

#[test]
fn a_task_in_which_a_check_passed_goes_on_before_the_others() {
    let mut driver = Driver {
        kept: vec!["a.py", "b.py", "c.py"],
        checks: vec![check(1, Grade::ExceptionGone)],
        shows: |task, round, _| match (task.0, round.0) {
            (2, 1) => (SHOWN, 3),
            (2, 2) => (SHOWN, 0),
            _ => (CheckState::Present, 0),
        },
        ..Driver::default()
    };
    let (steps, log) = code_steps(&mut driver, by_evidence(1));
    assert!(steps.contains("WriteCode(T(2), R(2), A(0))"), "{steps}");
    assert!(!steps.contains("T(3)"), "the third file is not tried: {steps}");
    assert_eq!(*outcome(&log), RunOutcome::Approved);
}

#[test]
fn when_nothing_is_shown_to_work_the_nearest_is_handed_over_and_said_to_be_that() {
    let mut driver = Driver {
        kept: vec!["a.py", "b.py", "c.py"],
        checks: vec![check(1, Grade::ExceptionGone)],
        shows: |task, _, _| (if task.0 == 2 { SHOWN } else { CheckState::Present }, 2),
        ..Driver::default()
    };
    let (_, log) = code_steps(&mut driver, by_evidence(1));
    let run = Run::fold(&log).unwrap();
    let taken: Vec<bool> = run.tasks().map(|state| state.accepted_change().is_some()).collect();
    assert_eq!(taken, [false, true, false], "the one that the check passes with");
    assert_eq!(
        run.proof(),
        Proof::NotShown {
            why: "2 tests fail that passed on the base".to_owned()
        }
    );
    assert_eq!(*outcome(&log), RunOutcome::NotApproved);
}

#[test]
fn what_passes_and_its_review_rejects_is_handed_over_as_not_approved() {
    let mut driver = Driver {
        checks: vec![check(1, Grade::ExpectedResult)],
        shows: |_, _, _| (SHOWN, 0),
        verdicts: vec![Decision::Rejected],
        ..Driver::default()
    };
    let (_, log) = code_steps(&mut driver, by_evidence(1));
    let run = Run::fold_from_elsewhere(&log).unwrap();
    assert!(run.proof().is_shown());
    assert_eq!(*outcome(&log), RunOutcome::NotApproved);
    let closed = run.task(TaskId(1)).unwrap().outcome.clone();
    assert_eq!(closed, Some(TaskOutcome::NotApproved { round: Round(1) }));
}

#[test]
fn what_its_review_approved_is_handed_over_and_not_what_it_rejected() {
    let mut driver = Driver {
        checks: vec![check(1, Grade::WrongOutputGone)],
        shows: |_, _, attempt| {
            let grade = if attempt.0 == 0 {
                Grade::WrongOutputGone
            } else {
                Grade::SomethingChanged
            };
            (CheckState::Gone { grade }, 0)
        },
        verdicts: vec![Decision::Rejected, Decision::Approved],
        ..Driver::default()
    };
    let (_, log) = code_steps(&mut driver, by_evidence(2));
    let run = Run::fold(&log).unwrap();
    let accepted = run.task(TaskId(1)).unwrap().accepted_attempt();
    assert_eq!(accepted, Some((Round(1), AttemptNumber(1))));
    assert_eq!(*outcome(&log), RunOutcome::Approved);
}

#[test]
fn an_attempt_that_passes_the_check_and_breaks_a_test_is_not_shown_to_work() {
    let mut driver = Driver {
        checks: vec![check(1, Grade::ExpectedResult)],
        shows: |_, _, _| (SHOWN, 1),
        ..Driver::default()
    };
    let (_, log) = code_steps(&mut driver, by_evidence(1));
    let run = Run::fold(&log).unwrap();
    assert_eq!(
        run.proof(),
        Proof::NotShown {
            why: "1 test fails that passed on the base".to_owned()
        }
    );
}

#[test]
fn equal_answers_are_tested_once_and_count_as_votes() {
    let mut driver = Driver {
        checks: vec![check(1, Grade::ExpectedResult)],
        same_as: |round, attempt| (attempt.0 > 0).then_some((round, AttemptNumber(0))),
        ..Driver::default()
    };
    let request = RunRequest {
        max_rounds: 1,
        ..by_evidence(3)
    };
    let (steps, log) = code_steps(&mut driver, request);
    assert_eq!(steps.matches("TestAttempt").count(), 1);
    let run = Run::fold(&log).unwrap();
    let round = &run.task(TaskId(1)).unwrap().rounds[0];
    assert_eq!(round.votes(AttemptNumber(0)), 3);
}

#[test]
fn without_a_check_agreement_ends_a_round_and_the_review_decides() {
    let mut driver = Driver {
        same_as: |round, attempt| (attempt.0 > 0).then_some((round, AttemptNumber(0))),
        lines: vec![1; 2],
        ..Driver::default()
    };
    let (steps, log) = code_steps(&mut driver, by_evidence(8));
    assert_eq!(
        steps.matches("WriteCode").count(),
        4,
        "the second place is not tried: {steps}"
    );
    assert!(!steps.contains("Minimise"), "nothing says what could be left out");
    assert_eq!(*outcome(&log), RunOutcome::Approved);
    assert!(!Run::fold(&log).unwrap().proof().is_shown());
}

#[test]
fn what_a_failing_attempt_showed_reaches_the_next_round() {
    let mut driver = Driver {
        checks: vec![check(1, Grade::ExpectedResult)],
        shows: |_, round, _| (if round.0 == 2 { SHOWN } else { CheckState::Present }, 0),
        verdicts: vec![Decision::Rejected],
        ..Driver::default()
    };
    let (steps, log) = code_steps(&mut driver, by_evidence(1));
    assert!(
        steps.contains("Review(T(1), R(1), A(0))\nChooseLines(T(1), R(2))"),
        "a QA Engineer says what to do otherwise: {steps}"
    );
    let before = log
        .iter()
        .position(|event| matches!(event, RunEvent::LinesChosen { round: Round(2), .. }))
        .unwrap();
    let run = Run::fold(&log[..before]).unwrap();
    assert_eq!(
        run.task(TaskId(1)).unwrap().last_objection().as_deref(),
        Some("see line 1\nThe example of the issue still shows the fault.")
    );
}
