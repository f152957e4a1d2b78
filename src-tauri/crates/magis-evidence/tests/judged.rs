//! Results side by side, and reports that are cut off, broken or made to harm.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test says so by failing")]

use magis_evidence::results::{
    Completeness, MAX_FAILURE_BYTES, MAX_REPORT_BYTES, ReportError, ReportForm, TestId, TestResults, TestStatus,
    compare, read, read_all, wavering,
};
use proptest::prelude::*;

const FORMS: [ReportForm; 18] = [
    ReportForm::JUnit,
    ReportForm::Trx,
    ReportForm::Jest,
    ReportForm::Mocha,
    ReportForm::RSpec,
    ReportForm::GoTest,
    ReportForm::Libtest,
    ReportForm::Nextest,
    ReportForm::Tap,
    ReportForm::Tape,
    ReportForm::Unittest,
    ReportForm::Minitest,
    ReportForm::Sympy,
    ReportForm::PytestSummary,
    ReportForm::JestOutput,
    ReportForm::VitestOutput,
    ReportForm::MochaOutput,
    ReportForm::RSpecOutput,
];

/// Reports of every form, to be cut and disturbed.
const REPORTS: [&str; 20] = [
    include_str!("reports/pytest.xml"),
    include_str!("reports/node.xml"),
    include_str!("reports/dotnet.trx"),
    include_str!("reports/jest.json"),
    include_str!("reports/mocha.json"),
    include_str!("reports/rspec.json"),
    include_str!("reports/go.json"),
    include_str!("reports/libtest.txt"),
    include_str!("reports/nextest.txt"),
    include_str!("reports/node.tap"),
    include_str!("reports/tape.tap"),
    include_str!("reports/unittest.txt"),
    include_str!("reports/minitest.txt"),
    include_str!("reports/sympy.txt"),
    include_str!("reports/pytest-summary.txt"),
    include_str!("reports/ctest.xml"),
    include_str!("reports/jest.txt"),
    include_str!("reports/vitest.txt"),
    include_str!("reports/mocha.txt"),
    include_str!("reports/rspec.txt"),
];

/// Makes results out of `name status` lines; a last line `...` makes them partial.
fn results(lines: &str) -> TestResults {
    let mut tap = String::new();
    let mut count = 0;
    for (name, status) in lines.lines().filter_map(|line| line.trim().split_once(' ')) {
        count += 1;
        tap.push_str(match status {
            "failed" => "not ok ",
            _ => "ok ",
        });
        tap.push_str(&format!(
            "{count} - {name}{}\n",
            if status == "skipped" { " # SKIP" } else { "" }
        ));
    }
    if !lines.trim_end().ends_with("...") {
        tap.push_str(&format!("1..{count}\n"));
    }
    read(ReportForm::Tap, &tap, "").unwrap()
}

fn names(ids: &[TestId]) -> String {
    let names: Vec<&str> = ids.iter().map(|id| id.name.as_str()).collect();
    names.join(" ")
}

#[test]
fn a_change_is_told_by_what_it_does_to_each_test() {
    let base = results("a failed\nb failed\nc passed\nd passed\ne passed\nf skipped\ng skipped\nh failed");
    let changed = results("a passed\nb failed\nc failed\nd passed\nf failed\ng skipped\nh skipped\ni passed");
    let comparison = compare(&base, &changed);
    assert_eq!(names(&comparison.newly_passing), "a");
    assert_eq!(names(&comparison.still_failing), "b");
    assert_eq!(names(&comparison.newly_failing), "c f");
    assert_eq!(names(&comparison.newly_skipped), "h");
    assert_eq!(names(&comparison.vanished), "e");
    assert_eq!(names(&comparison.unreached), "");
    let new: Vec<_> = comparison
        .new
        .iter()
        .map(|(id, status)| (id.name.as_str(), *status))
        .collect();
    assert_eq!(new, [("i", TestStatus::Passed)]);
}

#[test]
fn a_test_missing_from_a_partial_report_has_not_vanished() {
    let comparison = compare(&results("a passed\nb passed"), &results("a passed\n..."));
    assert_eq!(
        (
            names(&comparison.vanished).as_str(),
            names(&comparison.unreached).as_str()
        ),
        ("", "b")
    );
}

#[test]
fn tests_that_two_runs_of_one_tree_disagree_on_waver() {
    let first = results("a passed\nb failed\nc passed\nd passed");
    assert_eq!(
        names(&wavering(&first, &results("a passed\nb passed\nc passed\ne passed"))),
        "b d e"
    );
    assert_eq!(names(&wavering(&first, &results("a passed\nb passed\n..."))), "b");
}

#[test]
fn counts_every_test_once() {
    let counts = results("a passed\nb failed\nc skipped\nd passed").counts();
    assert_eq!(
        (counts.passed, counts.failed, counts.errored, counts.skipped),
        (2, 1, 0, 1)
    );
}

#[test]
fn the_same_test_in_two_folders_is_the_same_test() {
    let report = include_str!("reports/jest.json");
    let here = read(ReportForm::Jest, report, "/work/project").unwrap();
    let there = read(
        ReportForm::Jest,
        &report.replace("/work/project", "/other/place"),
        "/other/place/",
    )
    .unwrap();
    assert!(here.tests.keys().eq(there.tests.keys()));
}

#[test]
fn the_summary_of_pytest_names_tests_as_its_xml_does() {
    let xml = read(ReportForm::JUnit, include_str!("reports/pytest.xml"), "").unwrap();
    let text = read(
        ReportForm::PytestSummary,
        include_str!("reports/pytest-summary.txt"),
        "",
    )
    .unwrap();
    let unknown = text.tests.iter().filter(|(id, _)| !xml.tests.contains_key(id));
    let unknown: Vec<_> = unknown.map(|(id, _)| id.name.as_str()).collect();
    assert_eq!(unknown, ["line 5", "line 10"], "only skipped tests are told by place");
}

#[test]
fn several_reports_are_one_run() {
    let (one, two) = (
        include_str!("reports/surefire.xml"),
        include_str!("reports/phpunit.xml"),
    );
    let whole = read_all(ReportForm::JUnit, [one, two], "/work/project").unwrap();
    assert_eq!((whole.tests.len(), &whole.completeness), (7, &Completeness::Whole));
    let broken = read_all(ReportForm::JUnit, ["<html/>", one], "/work/project").unwrap();
    assert_eq!(broken.tests.len(), 5);
    assert!(matches!(broken.completeness, Completeness::Partial(_)));
    assert!(matches!(
        read_all(ReportForm::JUnit, [], ""),
        Err(ReportError::NoReport { .. })
    ));
}

/// Reads a report cut behind the first `mark`; tells how many tests are left and why they are partial.
fn cut(form: ReportForm, report: &str, mark: &str) -> (usize, String) {
    let end = report.find(mark).unwrap() + mark.len();
    let results = read(form, &report[..end], "/work/project").unwrap();
    match results.completeness {
        Completeness::Partial(reason) => (results.tests.len(), reason),
        Completeness::Whole => panic!("a report that was cut off counts as whole"),
    }
}

#[test]
fn a_report_cut_off_keeps_the_tests_before_the_break() {
    let xml = cut(ReportForm::JUnit, include_str!("reports/vitest.xml"), "Expected");
    assert_eq!(xml, (1, "it ends in the middle".to_owned()));
    let go = cut(
        ReportForm::GoTest,
        include_str!("reports/go.json"),
        "TestTable/one\",\"Elapsed\":0}",
    );
    assert_eq!(
        go,
        (3, "the stream stops before TestTable of example/calc/calc".to_owned())
    );
    let cargo = cut(
        ReportForm::Libtest,
        include_str!("reports/libtest.txt"),
        "tests::adds ... ok",
    );
    assert_eq!(cargo, (1, "the output stops in the tests of calc".to_owned()));
    let nextest = cut(
        ReportForm::Nextest,
        include_str!("reports/nextest.txt"),
        "(2/5) calc tests::fails",
    );
    assert_eq!(nextest, (3, "the output stops before nextest's summary".to_owned()));
    let tap = cut(ReportForm::Tap, include_str!("reports/node.tap"), "not ok 2 - fails");
    assert_eq!(tap, (3, "the plan is missing, as 1..N".to_owned()));
    let unittest = cut(ReportForm::Unittest, include_str!("reports/unittest.txt"), "... FAIL");
    assert_eq!(unittest.0, 3);
}

#[test]
fn a_test_program_that_dies_makes_the_run_partial() {
    let output = include_str!("reports/libtest.txt");
    let died = output.replace("test result: FAILED. 2 passed", "error: test failed (signal: 6)");
    let results = read(ReportForm::Libtest, &died, "").unwrap();
    let reason = "the output stops in the tests of calc".to_owned();
    assert_eq!(results.completeness, Completeness::Partial(reason));
    assert_eq!(results.tests.len(), 7);
}

#[test]
fn what_a_failing_test_prints_is_no_result() {
    let output =
        include_str!("reports/libtest.txt").replace("said\n", "test tests::fails ... ok\ntest forged ... ok\n");
    let results = read(ReportForm::Libtest, &output, "").unwrap();
    let counts = results.counts();
    assert_eq!((counts.passed, counts.failed), (4, 2));
}

#[test]
fn mocha_is_found_among_what_the_tests_print() {
    let report = format!("{{ noise\n{{}}\n{}\nbye\n", include_str!("reports/mocha.json"));
    assert_eq!(read(ReportForm::Mocha, &report, "").unwrap().tests.len(), 4);
}

#[test]
fn a_long_failure_keeps_its_two_ends() {
    let text = format!("begins {} ends", "é".repeat(MAX_FAILURE_BYTES));
    let xml = format!("<testsuite><testcase name='a'><failure>{text}</failure></testcase></testsuite>");
    let results = read(ReportForm::JUnit, &xml, "").unwrap();
    let failure = results.tests.into_values().next().unwrap().failure.unwrap();
    assert!(failure.text.starts_with("begins") && failure.text.ends_with("ends"));
    assert!(failure.text.len() < MAX_FAILURE_BYTES + 10 && failure.cut_bytes > MAX_FAILURE_BYTES);
}

#[test]
fn an_entity_bomb_stays_small() {
    let xml = r#"<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]>
        <testsuite><testcase name="a&b;"><failure>&b;&lt;</failure></testcase></testsuite>"#;
    let results = read(ReportForm::JUnit, xml, "").unwrap();
    let (id, outcome) = results.tests.into_iter().next().unwrap();
    assert_eq!(
        (id.name.as_str(), outcome.failure.unwrap().text.as_str()),
        ("a&b;", "&b;<")
    );
}

#[test]
fn deep_nesting_is_an_error_and_no_crash() {
    let error = |form, report: String| read(form, &report, "").unwrap_err().to_string();
    let xml = error(ReportForm::JUnit, "<testsuite>".repeat(200_000));
    assert!(xml.contains("more than 128 elements"), "{xml}");
    let json = error(ReportForm::Jest, format!("{{\"testResults\":{}", "[".repeat(200_000)));
    assert!(json.contains("Jest's JSON"), "{json}");
    assert!(read(ReportForm::Tap, &format!("{}ok 1 - a\n1..1\n", " ".repeat(400_000)), "").is_ok());
}

#[test]
fn an_error_names_the_form_and_what_to_do() {
    let error = |form, report: &str| read(form, report, "").unwrap_err().to_string();
    assert_eq!(
        error(ReportForm::JUnit, "<html></html>"),
        "the report of this test run cannot be read as JUnit XML: it has no element 'testsuite'; look at \
         the output of the run"
    );
    assert_eq!(
        error(
            ReportForm::Libtest,
            "error: could not compile `calc` (lib) due to 1 previous error\n"
        ),
        "the report of this test run cannot be read as the output of cargo test: the project does not compile; \
         look at the output of the run"
    );
    assert_eq!(
        error(ReportForm::GoTest, "go: command not found\n"),
        "the report of this test run (go test -json) names no test; look at the output of the run"
    );
    let long = " ".repeat(MAX_REPORT_BYTES + 1);
    assert!(matches!(
        read(ReportForm::Tap, &long, ""),
        Err(ReportError::TooLong { .. })
    ));
}

proptest! {
    #[test]
    fn no_text_makes_a_reader_panic(text in "\\PC{0,200}", form in prop::sample::select(&FORMS[..])) {
        let _ = read(form, &text, "/work/project");
    }

    #[test]
    fn no_disturbed_report_makes_a_reader_panic(
        report in prop::sample::select(&REPORTS[..]),
        form in prop::sample::select(&FORMS[..]),
        (from, to) in (0.0..1.0_f64, 0.0..1.0_f64),
        inserted in "[<>&\\[\\]{}\"'#:./ \n\u{1b}é0-9a-z=-]{0,12}",
    ) {
        let place = |part: f64| report.floor_char_boundary((report.len() as f64 * part) as usize);
        let disturbed = format!("{}{inserted}{}", &report[..place(from)], &report[place(to)..]);
        let _ = read(form, &disturbed, "/work/project");
    }
}
