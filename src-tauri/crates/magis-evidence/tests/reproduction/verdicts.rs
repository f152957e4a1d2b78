//! From runs on the base and on a changed tree to verdicts.

use super::{CRASH, STATED_SUM, WRONG_SUM, gives, made, printed, raises, record, run};
use insta::assert_snapshot;
use magis_evidence::reproduction::{RunEnd, RunOutput, observe, reproduces, verdict};
use serde_json::json;

/// What the first check of an issue says of a base and a changed tree.
fn check_verdict(issue: &str, base: &RunOutput, changed: &RunOutput) -> String {
    let check = made(issue).remove(0);
    let seen = observe(&check, base);
    match reproduces(&check, &seen) {
        Ok(found) => format!(
            "{:?}; {:?}",
            found.grade,
            verdict(&check, &found, &seen, &observe(&check, changed))
        ),
        Err(why) => why.to_string(),
    }
}

/// What a changed tree gives instead of the result that an issue states.
fn check_instead(issue: &str, base: &RunOutput, changed: &RunOutput) -> String {
    let check = made(issue).remove(0);
    let found = reproduces(&check, &observe(&check, base)).unwrap();
    let instead = found.instead(&check, &observe(&check, changed));
    format!("{:?}; {instead:?}", found.attainable())
}

#[test]
fn an_exception_that_is_gone_is_strong_evidence() {
    let base = run(&[raises(0, "TypeError", "can only concatenate str (not \"int\") to str")]);
    assert_snapshot!(check_verdict(CRASH, &base, &run(&[gives(0, "'12'")])), @"ExceptionGone; Gone { grade: ExceptionGone, gone: 1, of: 1 }");
    assert_snapshot!(check_verdict(CRASH, &base, &base), @"ExceptionGone; Present");
    assert_snapshot!(check_verdict(CRASH, &base, &run(&[raises(0, "NameError", "name 'add' is not defined")])), @r#"ExceptionGone; OtherError { what: "NameError: name 'add' is not defined" }"#);
}

#[test]
fn an_exception_that_only_moves_to_the_next_statement_is_not_gone() {
    let issue = "Crash\n\n```\n>>> total = add('1', 2)\nTraceback (most recent call last):\n  File \"calc/core.py\", line 3, in add\n    return a + b\nTypeError: can only concatenate str (not \"int\") to str\n>>> total.strip()\n```\n";
    let crash = raises(0, "TypeError", "can only concatenate str (not \"int\") to str");
    let base = run(&[crash, raises(1, "NameError", "name 'total' is not defined")]);
    let bound = || record(0, &json!({}));
    let moved = run(&[
        bound(),
        raises(1, "AttributeError", "'NoneType' object has no attribute 'strip'"),
    ]);
    assert_snapshot!(check_verdict(issue, &base, &moved), @r#"ExceptionGone; OtherError { what: "AttributeError: 'NoneType' object has no attribute 'strip'" }"#);
    assert_snapshot!(check_verdict(issue, &base, &run(&[bound(), gives(1, "'12'")])), @"ExceptionGone; Gone { grade: ExceptionGone, gone: 1, of: 1 }");
    // What an example lacks fails as it did.
    let lacking = || raises(1, "NameError", "name 'log' is not defined");
    let base = run(&[
        raises(0, "TypeError", "can only concatenate str (not \"int\") to str"),
        lacking(),
    ]);
    assert_snapshot!(check_verdict(issue, &base, &run(&[bound(), lacking()])), @"ExceptionGone; Gone { grade: ExceptionGone, gone: 1, of: 1 }");
}

#[test]
fn another_output_than_the_wrong_one_is_weaker() {
    assert_snapshot!(check_verdict(WRONG_SUM, &run(&[gives(0, "4")]), &run(&[gives(0, "3")])), @"WrongOutputGone; Gone { grade: WrongOutputGone, gone: 1, of: 1 }");
    assert_snapshot!(check_verdict(WRONG_SUM, &run(&[gives(0, "4")]), &run(&[raises(0, "ValueError", "no")])), @r#"WrongOutputGone; OtherError { what: "ValueError: no" }"#);
    assert_snapshot!(check_verdict(WRONG_SUM, &run(&[gives(0, "3")]), &run(&[gives(0, "3")])), @"the unchanged code shows nothing of what the issue says");
}

#[test]
fn a_package_that_is_not_found_is_named() {
    for (kind, message, package) in [
        ("ModuleNotFoundError", "No module named 'sums'", Some("sums")),
        ("ModuleNotFoundError", "No module named 'sums.all'", None),
        (
            "Error",
            "Cannot find module '@sums/all'\nRequire stack:\n- a.js",
            Some("@sums/all"),
        ),
        ("Error", "Cannot find module 'sums/all'", None),
        ("Error", "Cannot find module './sums'", None),
        ("Error", "Cannot find package 'sums' imported from a.mjs", Some("sums")),
    ] {
        let run = run(&[raises(0, kind, message)]);
        let said = check_verdict(WRONG_SUM, &run, &run);
        let expected = match package {
            Some(package) => {
                format!("the package '{package}' is not found where it runs; install what the project needs")
            }
            None => format!("the unchanged code fails in another way than the issue says: {kind}: {message}"),
        };
        assert_eq!(said, expected);
    }
}

#[test]
fn what_hung_and_fails_in_a_new_way_is_no_evidence() {
    let issue = "Sum\n\n```\n>>> add(1, 2)\n```\n\nThis hangs.\n";
    let late = RunOutput {
        ending: RunEnd::TimedOut,
        ..run(&[])
    };
    assert_snapshot!(check_verdict(issue, &late, &run(&[gives(0, "3")])), @"ExceptionGone; Gone { grade: ExceptionGone, gone: 1, of: 1 }");
    assert_snapshot!(check_verdict(issue, &late, &run(&[raises(0, "NameError", "name 'add' is not defined")])), @r#"ExceptionGone; OtherError { what: "NameError: name 'add' is not defined" }"#);
}

#[test]
fn the_result_the_issue_states_is_strong_evidence() {
    let issue = "Sum\n\n```\n>>> add(1, 2)  # 4, should be 3\n4\n```\n";
    let right = record(0, &json!({"forms": {"repr": "3"}, "equals": [0]}));
    assert_snapshot!(check_verdict(issue, &run(&[gives(0, "4")]), &run(&[right])), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 2, of: 2 }");
}

#[test]
fn a_result_stated_beside_the_wrong_one_is_what_a_change_has_to_give() {
    let base = run(&[gives(0, "4")]);
    assert_snapshot!(check_instead(STATED_SUM, &base, &run(&[gives(0, "3")])), @"ExpectedResult; None");
    assert_snapshot!(check_instead(STATED_SUM, &base, &run(&[gives(0, "5")])), @r#"ExpectedResult; Some("it gives 5, and the issue expects 3")"#);
    assert_snapshot!(check_verdict(STATED_SUM, &base, &run(&[gives(0, "3")])), @"WrongOutputGone; Gone { grade: ExpectedResult, gone: 1, of: 1 }");
    let crash = STATED_SUM.replace("4\n", "TypeError: no numbers\n");
    let base = run(&[raises(0, "TypeError", "no numbers")]);
    assert_snapshot!(check_instead(&crash, &base, &run(&[gives(0, "0")])), @r#"ExpectedResult; Some("it gives 0, and the issue expects 3")"#);
    assert_snapshot!(check_instead(&crash, &base, &run(&[gives(0, "3")])), @"ExpectedResult; None");
    assert_snapshot!(check_instead(WRONG_SUM, &run(&[gives(0, "4")]), &run(&[gives(0, "5")])), @"WrongOutputGone; None");
    let prose = STATED_SUM.replace("3\n", "their sum\n");
    assert_snapshot!(check_instead(&prose, &run(&[gives(0, "4")]), &run(&[gives(0, "5")])), @"WrongOutputGone; None");
}

#[test]
fn a_run_over_the_time_limit_is_never_green() {
    let late = RunOutput {
        ending: RunEnd::TimedOut,
        ..run(&[gives(0, "3")])
    };
    assert_snapshot!(check_verdict(WRONG_SUM, &run(&[gives(0, "4")]), &late), @"WrongOutputGone; TimedOut");
    assert_snapshot!(check_verdict(WRONG_SUM, &late, &late), @"the check did not end in time on the unchanged code");
}

#[test]
fn records_with_another_marker_do_not_count() {
    let forged = printed("ffffffffffffffffffff {\"end\": true, \"imports\": []}\n");
    assert_snapshot!(check_verdict(WRONG_SUM, &forged, &forged), @"the check ended before its last step on the unchanged code; its last words: ''");
}

#[test]
fn lines_of_a_tool_that_are_expected_and_come_are_strong_evidence() {
    let issue = "Silent\n\n### Command used\n\n```shell\ncalc a.py\n```\n\n### Output\n\n```\na.py:1: one thing\n```\n\n### Expected\n\n```\na.py:1: one thing\na.py:2: another thing\n```\n";
    let base = printed("/home/x/a.py:1: one thing\n");
    assert_snapshot!(check_verdict(issue, &base, &printed("a.py:1: one thing\na.py:2: another thing\n")), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 1, of: 1 }");
    assert_snapshot!(check_verdict(issue, &base, &printed("Traceback (most recent call last):\n  File \"a\", line 1, in b\nImportError: no\n")), @r#"ExpectedResult; OtherError { what: "ImportError: no" }"#);
    // An exception of an older module begins with a small letter.
    let broken =
        printed("Traceback (most recent call last):\n  File \"a\", line 1, in b\nre.error: missing ) at position 7\n");
    assert_snapshot!(check_verdict(issue, &base, &broken), @r#"ExpectedResult; OtherError { what: "re.error: missing ) at position 7" }"#);
}

#[test]
fn a_command_that_fails_without_a_word_of_its_own_hardly_shows_that_an_exception_is_gone() {
    let issue = "Crash\n\n### Command used\n\n```shell\ncalc build\n```\n\n### Output\n\n```\nTraceback (most recent call last):\n  File \"calc.py\", line 1, in build\nKeyError: 'a'\n```\n";
    let ended = |stdout: &str, stderr: &str, status: i32| RunOutput {
        stdout: stdout.to_owned(),
        stderr: stderr.to_owned(),
        ending: RunEnd::Exited(status),
    };
    let base = ended(
        "",
        "Traceback (most recent call last):\n  File \"calc.py\", line 1, in build\nKeyError: 'a'\n",
        1,
    );
    assert_snapshot!(check_verdict(issue, &base, &ended("", "usage: calc [build]\n", 2)), @"ExceptionGone; Gone { grade: SomethingChanged, gone: 1, of: 1 }");
    assert_snapshot!(check_verdict(issue, &base, &ended("", "", 0)), @"ExceptionGone; Gone { grade: ExceptionGone, gone: 1, of: 1 }");
    assert_snapshot!(check_verdict(issue, &base, &ended("a.py: unused\n", "", 4)), @"ExceptionGone; Gone { grade: ExceptionGone, gone: 1, of: 1 }");
}

#[test]
fn inputs_that_should_agree_are_compared_with_each_other() {
    let issue = "Inconsistent sums\n\n```\n>>> add(1, 2, exact=True)\n3\n>>> add(1, 2, exact=False)\n4\n```\n";
    assert_snapshot!(check_verdict(issue, &run(&[gives(0, "3"), gives(1, "4")]), &run(&[gives(0, "3"), gives(1, "3")])), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 2, of: 3 }");
}
