//! Events made by hand, and how they are told.

use super::*;
use magis_core::{
    AttemptNumber, BaseTests, BlobId, CheckId, CheckRun, CheckState, Edit, Evidence, FailingTest, FileChange, FileTask,
    Finding, Grade, Hint, HunkNeed, LineSpan, Notice, ProgramRun, Round, SkipReason, TaskOutcome, TestName,
    TestsOnChange, TreeId,
};

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

fn told(events: &[RunEvent]) -> String {
    told_in(Detail::Live, events)
}

fn told_in(detail: Detail, events: &[RunEvent]) -> String {
    let base: BaseText = Box::new(|_| Some("one\ntwo\nthree\n".to_owned()));
    let mut transcript = Transcript::new(Paint::Plain, 80, detail, base);
    events.iter().map(|event| transcript.tell(event)).collect()
}

fn candidate(text: &str) -> Candidate {
    Candidate {
        path: path(text),
        blob: BlobId("1".repeat(40)),
        score: 1.0,
        evidence: vec![Evidence::PathWords {
            words: vec!["word".to_owned()],
        }],
    }
}

#[test]
fn figures_stand_beside_what_was_shortened_and_not_beside_what_was_an_outline_from_the_beginning() {
    let shortened = |tokens_before| RunEvent::Noticed {
        notice: Notice::Shortened {
            step: "P2".to_owned(),
            what: "a.py: 82 of 542 lines, as a skeleton".to_owned(),
            tokens_before,
            tokens_after: 1_025,
        },
    };
    let text = told(&[shortened(1_025), shortened(2_050)]);
    let words: Vec<&str> = text.split_whitespace().collect();
    let outline = "note: for P2, a.py: 82 of 542 lines, as a skeleton";
    assert_eq!(
        words.join(" "),
        format!("{outline} {outline} was shortened from 2 050 to 1 025 tokens")
    );
}

#[test]
fn a_long_ranking_is_cut_visibly_and_evidence_is_told_once() {
    let names: Vec<String> = (1..=10).map(|number| format!("src/file{number}.py")).collect();
    let judgement = |(index, name): (usize, &String)| Judgement {
        path: path(name),
        naming: None,
        yes_no: None,
        relevance: 1.0 - index as f64,
        kept: index == 0 || index == 9,
    };
    let text = told(&[
        RunEvent::CandidatesRanked {
            candidates: names.iter().map(|name| candidate(name)).collect(),
            skipped: vec![SkippedFile {
                path: "logo.png".to_owned(),
                reason: SkipReason::Binary,
            }],
        },
        RunEvent::RelevanceJudged {
            judgements: names.iter().enumerate().map(judgement).collect(),
        },
    ]);
    assert!(text.contains("10 files ranked; 1 file could not be read\n"), "{text}");
    assert!(
        text.contains("  8. src/file8.py\n          path has word\n       and 2 more\n"),
        "{text}"
    );
    let judged = text.split("2 files relevant, 8 set aside").nth(1).unwrap();
    assert_eq!(
        judged,
        "\n    1.00 src/file1.py\n   -8.00 src/file10.py\n          path has word\n"
    );
}

#[test]
fn of_many_reasons_the_strongest_are_told_live_and_all_in_the_whole_run() {
    let mut much = candidate("a.py");
    much.evidence = (0..8).map(|ago| Evidence::ChangedLately { ago }).collect();
    let ranked = RunEvent::CandidatesRanked {
        candidates: vec![much],
        skipped: Vec::new(),
    };
    let told_in = |detail| Transcript::new(Paint::Plain, 400, detail, Box::new(|_| None)).tell(&ranked);
    let first = "changed by the last commit; changed 1 commit before the last; changed 2 commits before the last; ";
    let live = told_in(Detail::Live);
    assert!(live.contains(first), "{live}");
    assert!(
        live.ends_with("changed 5 commits before the last; and 2 more\n"),
        "{live}"
    );
    let full = told_in(Detail::Full);
    assert!(full.ends_with("changed 7 commits before the last\n"), "{full}");
}

#[test]
fn code_is_told_as_a_diff_with_what_programs_found() {
    let task = TaskId(2);
    let text = told(&[
        RunEvent::TaskDefined {
            task: FileTask {
                id: task,
                path: path("a.txt"),
                candidate: path("a.txt"),
                action: magis_core::FileAction::Modify,
                description: "Write two in capitals.".to_owned(),
            },
        },
        RunEvent::CodeWritten {
            task,
            round: Round(1),
            attempt: AttemptNumber(0),
            diagnosis: "It is small.".to_owned(),
            change: FileChange::Modify {
                edits: vec![Edit {
                    span: LineSpan::new(2, 2).unwrap(),
                    text: "TWO\n".to_owned(),
                }],
            },
            findings: vec![Finding::ParsesWorse { before: 0, after: 2 }],
            place: 0,
            mode: WritingMode::Definition,
            same_as: None,
        },
        RunEvent::CodeFailed {
            task,
            round: Round(2),
            attempt: AttemptNumber(0),
            reason: "the answer is empty".to_owned(),
        },
        RunEvent::Noticed {
            notice: Notice::WorkerRestarted {
                why: "killed\u{1b}[0m".to_owned(),
            },
        },
        RunEvent::TaskClosed {
            task,
            outcome: TaskOutcome::Failed {
                reason: "no usable code".to_owned(),
            },
        },
    ]);
    insta::assert_snapshot!(text, @"
    Team: a task for each file, a Developer for each task
      T2 modify a.txt: Write two in capitals.

    Code and review
          diagnosis: It is small.
          @@ -1,3 +1,3 @@
           one
          -two
          +TWO
           three
          found by a check: the file has 2 syntax errors after the change and had
            0 before
          no usable code: the answer is empty
        note: the engine's process ended and was started again: killed␛[0m
        T2 failed: no usable code
    ");
}

#[test]
fn answers_without_code_are_told_once_for_each_reason() {
    let failed = |attempt: u32, reason: &str| RunEvent::CodeFailed {
        task: TaskId(1),
        round: Round(1),
        attempt: AttemptNumber(attempt),
        reason: reason.to_owned(),
    };
    let text = told(&[
        failed(0, "nothing further"),
        failed(1, "nothing further"),
        failed(2, "nothing further"),
        failed(3, "it is empty"),
        failed(4, "nothing further"),
    ]);
    insta::assert_snapshot!(text, @"
    Code and review
          no usable code: nothing further
          the same 2 times more
          no usable code: it is empty
          no usable code: nothing further
    ");
}

#[test]
fn what_a_person_does_is_told_as_theirs() {
    let text = told(&[
        RunEvent::HintAdded {
            hint: Hint::Word("see since()".to_owned()),
        },
        RunEvent::Paused {
            reason: "stopped on request".to_owned(),
        },
        RunEvent::Resumed,
    ]);
    insta::assert_snapshot!(text, @"
    you: hint: see since()
    paused: stopped on request
    resumed
    ");
}

/// Tests that were run on a patch: so many pass and so many failed on the base too, and the run ended with that exit code.
fn tested_patch(passed: u32, still_failing: u32, status: i32) -> ChangeTests {
    let run = ProgramRun {
        command: "pytest -q".to_owned(),
        status: Some(status),
        took_ms: 400,
        ..ProgramRun::none(&format!("ended with exit code {status}"))
    };
    ChangeTests {
        tree: TreeId("0123456789abcdef0123456789abcdef01234567".to_owned()),
        checks: vec![CheckRun {
            check: CheckId(1),
            state: CheckState::Gone {
                grade: Grade::ExpectedResult,
            },
            run: run.clone(),
        }],
        tests: Some(TestsOnChange {
            passed,
            newly_passing: Vec::new(),
            newly_failing: Vec::new(),
            still_failing,
            run,
            incomplete: None,
            missing: 0,
        }),
        less_likely: false,
        rivals: 0,
        as_tests: Vec::new(),
    }
}

fn check_outcome(tested: &ChangeTests, of_tests: &str) {
    let (_, sentence) = outcome_sentence(&RunOutcome::Approved, QaMode::Review, Some(tested));
    assert_eq!(
        sentence,
        format!(
            "A patch. Model review: passed · Shown to work: the expected result is there{of_tests}. Look at it before you apply it."
        )
    );
}

#[test]
fn tests_are_said_to_pass_only_where_some_do_and_their_run_ended_well() {
    check_outcome(
        &tested_patch(29, 0, 0),
        " · Tests pass on tree 0123456789ab: `pytest -q` ended with exit code 0 after 0.4 s",
    );
    check_outcome(
        &tested_patch(29, 2, 1),
        " · No test fails on tree 0123456789ab that passed before: `pytest -q` ended with exit code 1 after 0.4 s; 2 failed on the base too",
    );
    check_outcome(&tested_patch(0, 0, 0), "");
}

/// A patch with which two tests fail that passed on the base: the first says why, the other one is gone.
fn breaking_patch() -> ChangeTests {
    let failing = |name: &str, message: &str| FailingTest {
        name: TestName(name.to_owned()),
        message: message.to_owned(),
    };
    let mut tested = tested_patch(27, 0, 1);
    if let Some(tests) = &mut tested.tests {
        tests.newly_failing = vec![
            failing("test_sum", ">   assert total([1, 2]) == 3\nE   assert 1 == 3\n"),
            failing("test_gone", "it is not there any more"),
        ];
        tests.run.stdout.text = "FAILED test_sum\n1 failed, 27 passed\n".to_owned();
    }
    tested
}

fn patch_tested(tested: ChangeTests) -> RunEvent {
    RunEvent::PatchTested {
        result: Box::new(tested),
    }
}

#[test]
fn tests_that_fail_because_of_a_change_say_why_and_the_first_of_them_while_the_run_goes_on() {
    insta::assert_snapshot!(told_in(Detail::Live, &[patch_tested(breaking_patch())]), @"
    Merge
          C1: the expected result is there
          tests: 27 pass, 2 fail that passed before (`pytest -q` ended with exit
            code 1 after 0.4 s)
            fails: test_sum
              >   assert total([1, 2]) == 3
              E   assert 1 == 3
            fails: test_gone
    ");
    insta::assert_snapshot!(told_in(Detail::Full, &[patch_tested(breaking_patch())]), @"
    Merge
          C1: the expected result is there
          tests: 27 pass, 2 fail that passed before (`pytest -q` ended with exit
            code 1 after 0.4 s)
            fails: test_sum
              >   assert total([1, 2]) == 3
              E   assert 1 == 3
            fails: test_gone
              it is not there any more
            FAILED test_sum
            1 failed, 27 passed
    ");
}

#[test]
fn of_a_long_message_the_end_is_told_live_and_of_many_failing_tests_a_few() {
    let mut tested = breaking_patch();
    if let Some(tests) = &mut tested.tests {
        let lines: Vec<String> = (1..=20).map(|number| format!("line {number}")).collect();
        tests.newly_failing[0].message = lines.join("\n");
        let last = tests.newly_failing[1].clone();
        tests.newly_failing.extend(vec![last; 5]);
    }
    let live = told_in(Detail::Live, &[patch_tested(tested.clone())]);
    assert!(
        live.contains("fails: test_sum\n          […]\n          line 7\n"),
        "{live}"
    );
    assert!(live.ends_with("fails: test_gone\n        and 2 more\n"), "{live}");
    let full = told_in(Detail::Full, &[patch_tested(tested)]);
    assert!(full.contains("fails: test_sum\n          line 1\n"), "{full}");
    assert_eq!(full.matches("fails: test_gone").count(), 6, "{full}");
}

#[test]
fn an_output_that_a_check_and_the_tests_have_in_common_is_told_once() {
    let mut tested = breaking_patch();
    if let Some(tests) = &tested.tests {
        tested.checks[0].run = tests.run.clone();
    }
    let full = told_in(Detail::Full, &[patch_tested(tested)]);
    assert_eq!(full.matches("1 failed, 27 passed").count(), 1, "{full}");
}

#[test]
fn tests_that_fail_on_the_base_are_named_and_what_was_printed_stands_in_the_whole_run() {
    let named = |name: &str| TestName(name.to_owned());
    let mut run = tested_patch(0, 0, 1).checks.remove(0).run;
    run.stdout.text = "FAILED test_old\nFAILED test_slow\n".to_owned();
    let tested = RunEvent::BaseTested {
        tests: Box::new(BaseTests {
            covers: vec![path("a.py")],
            files: Vec::new(),
            left_out: 0,
            passed: 27,
            failing: vec![named("test_old"), named("test_slow")],
            wavering: Vec::new(),
            run: Some(run),
            incomplete: None,
        }),
    };
    insta::assert_snapshot!(told_in(Detail::Full, &[tested]), @"
    Code and review
        tests: all tests on the base: 27 pass, 2 fail, 0 waver (`pytest -q` ended
          with exit code 1 after 0.4 s)
        fail already, which is not held against a change: test_old, test_slow
          FAILED test_old
          FAILED test_slow
    ");
}

#[test]
fn what_fails_without_a_hunk_that_stays_is_told() {
    let need = |line, checks: &[u32], tests: &[&str]| HunkNeed {
        line,
        checks: checks.iter().copied().map(CheckId).collect(),
        tests: tests.iter().map(|name| TestName((*name).to_owned())).collect(),
    };
    let made_smaller = |dropped, needed| RunEvent::Minimised {
        task: TaskId(1),
        change: FileChange::Modify { edits: Vec::new() },
        dropped,
        hunks: 3,
        needed,
    };
    let needed = vec![need(6, &[1], &["test_until"]), need(12, &[], &["test_since"])];
    // Nothing is known of a hunk that nothing fails without.
    let text = told(&[made_smaller(1, needed), made_smaller(0, vec![need(28, &[], &[])])]);
    insta::assert_snapshot!(text, @"
    Code and review
        T1 made smaller: 1 of 3 hunks left out, as nothing depends on them
        T1 without the hunk at line 6: C1, test_until fail
        T1 without the hunk at line 12: test_since fails
    ");
}
