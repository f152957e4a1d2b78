//! Reports of real runs (pytest, unittest, sympy, Jest, Vitest, Mocha, Node, Go, cargo, nextest, `CTest`) and ones made
//! by hand after the documents of the others, read into results.

#![expect(clippy::unwrap_used, reason = "a test says so by failing")]

use magis_evidence::results::{Completeness, ReportForm, TestResults, read};

const FOLDER: &str = "/work/project";

/// Tells results: a line a test, behind a failed one the first and the last line of its text.
fn told(results: &TestResults) -> String {
    let mut out = String::new();
    for (id, outcome) in &results.tests {
        let status = format!("{:?}", outcome.status).to_lowercase();
        out.push_str(&format!("{status} {id}"));
        if let Some(failure) = &outcome.failure {
            let mut lines = failure.text.lines().filter(|line| !line.trim().is_empty());
            let first = lines.next().unwrap_or_default().trim();
            let last = lines
                .next_back()
                .map(|line| format!(" … {}", line.trim()))
                .unwrap_or_default();
            out.push_str(&format!(" | {first}{last}"));
        }
        out.push('\n');
    }
    match &results.completeness {
        Completeness::Whole => out.push_str("whole"),
        Completeness::Partial(reason) => out.push_str(&format!("partial: {reason}")),
    }
    out
}

fn check(form: ReportForm, report: &str, expected: &str) {
    let results = read(form, report, FOLDER).unwrap();
    let lines: Vec<&str> = expected
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(told(&results), lines.join("\n"));
}

#[test]
fn reads_pytest_xml() {
    check(
        ReportForm::JUnit,
        include_str!("reports/pytest.xml"),
        r#"
            skipped tests/test_calc.py :: tests.test_calc :: test_known
            skipped tests/test_calc.py :: tests.test_calc :: test_later
            failed tests/test_calc.py :: tests.test_calc :: test_positive[0] | assert 0 > 0 … tests/test_calc.py:4: AssertionError
            passed tests/test_calc.py :: tests.test_calc :: test_positive[1]
            errored tests/test_calc.py :: tests.test_calc :: test_uses | failed on setup with "RuntimeError: no fixture <&>" … tests/test_calc.py:10: RuntimeError
            passed tests/test_calc.py :: tests.test_calc.TestGroup :: test_in
            passed tests/test_unit.py :: tests.test_unit.CalcCase :: test_adds
            failed tests/test_unit.py :: tests.test_unit.CalcCase :: test_breaks | ValueError: no value … tests/test_unit.py:6: ValueError
            failed tests/test_unit.py :: tests.test_unit.CalcCase :: test_fails | AssertionError: 1 != 2 … tests/test_unit.py:9: AssertionError
            skipped tests/test_unit.py :: tests.test_unit.CalcCase :: test_known
            skipped tests/test_unit.py :: tests.test_unit.CalcCase :: test_later
            failed tests/test_unit.py :: tests.test_unit.CalcCase :: test_sub | AssertionError: 1 != 0 … tests/test_unit.py:16: AssertionError
            whole
        "#,
    );
}

#[test]
fn reads_vitest_xml() {
    check(
        ReportForm::JUnit,
        include_str!("reports/vitest.xml"),
        "
            passed v/calc.spec.mjs :: calc > adds
            failed v/calc.spec.mjs :: calc > fails | expected 1 to be 2 // Object.is equality … ❯ v/calc.spec.mjs:2:103
            skipped v/calc.spec.mjs :: calc > later
            whole
        ",
    );
}

#[test]
fn reads_node_xml() {
    check(
        ReportForm::JUnit,
        include_str!("reports/node.xml"),
        "
            passed top
            passed calc :: adds
            failed calc :: fails | 1 == 2 … }
            skipped calc :: later
            skipped calc :: some
            whole
        ",
    );
}

#[test]
fn reads_ctest_xml() {
    check(
        ReportForm::JUnit,
        include_str!("reports/ctest.xml"),
        "
            failed bad :: bad | /usr/bin/ls: cannot access 'no-such-file': No such file or directory
            errored gone :: gone | Unable to find executable
            passed good :: good
            skipped off :: off
            whole
        ",
    );
}

#[test]
fn reads_surefire_xml() {
    check(
        ReportForm::JUnit,
        include_str!("reports/surefire.xml"),
        "
            passed demo.CalcTest :: adds
            errored demo.CalcTest :: breaks | no state … at demo.CalcTest.breaks(CalcTest.java:9)
            skipped demo.CalcTest :: later
            passed demo.CalcTest :: positive(int)[1]
            failed demo.CalcTest :: subtracts | expected: <1> but was: <0> … at demo.CalcTest.subtracts(CalcTest.java:8)
            whole
        ",
    );
}

#[test]
fn reads_phpunit_xml() {
    check(
        ReportForm::JUnit,
        include_str!("reports/phpunit.xml"),
        "
            passed tests/CalcTest.php :: CalcTest :: testAdds
            failed tests/CalcTest.php :: CalcTest :: testFails | CalcTest::testFails … Failed asserting that 1 matches expected 2.
            whole
        ",
    );
}

#[test]
fn reads_trx() {
    check(
        ReportForm::Trx,
        include_str!("reports/dotnet.trx"),
        "
            passed Demo.CalcTests :: Adds
            failed Demo.CalcTests :: Fails(n: 1) | Assert.Equal() Failure … at Demo.CalcTests.Fails(Int32 n)
            skipped Demo.CalcTests :: Later
            whole
        ",
    );
}

#[test]
fn reads_jest_json() {
    check(
        ReportForm::Jest,
        include_str!("reports/jest.json"),
        "
            errored j/broken.test.js | ● Test suite failed to run … at Object.<anonymous> (j/broken.test.js:1:7)
            passed j/calc.test.js :: calc :: adds
            failed j/calc.test.js :: calc :: fails | Error: expect(received).toBe(expected) // Object.is equality … at Object.toBe (/work/project/j/calc.test.js:2:103)
            skipped j/calc.test.js :: calc :: later
            skipped j/calc.test.js :: calc :: some day
            passed j/calc.test.js :: calc deep :: works
            whole
        ",
    );
}

#[test]
fn reads_mocha_json() {
    check(
        ReportForm::Mocha,
        include_str!("reports/mocha.json"),
        "
            passed m/calc.js :: calc :: adds
            failed m/calc.js :: calc :: fails | AssertionError [ERR_ASSERTION]: 1 == 2 … at process.processImmediate (node:internal/timers:483:21)
            skipped m/calc.js :: calc :: later
            skipped m/calc.js :: calc :: pending
            whole
        ",
    );
}

#[test]
fn reads_rspec_json() {
    check(
        ReportForm::RSpec,
        include_str!("reports/rspec.json"),
        "
            passed spec/calc_spec.rb :: Calc adds
            errored spec/calc_spec.rb :: Calc breaks | NameError: undefined
            failed spec/calc_spec.rb :: Calc fails | RSpec::Expectations::ExpectationNotMetError: … ./spec/calc_spec.rb:6
            skipped spec/calc_spec.rb :: Calc later
            whole
        ",
    );
}

#[test]
fn reads_go_stream() {
    check(
        ReportForm::GoTest,
        include_str!("reports/go.json"),
        "
            errored example/calc/broken | # example/calc/broken [example/calc/broken.test] … FAIL	example/calc/broken [build failed]
            passed example/calc/calc :: TestAdds
            skipped example/calc/calc :: TestLater
            failed example/calc/calc :: TestTable | === RUN   TestTable … --- FAIL: TestTable (0.00s)
            passed example/calc/calc :: TestTable/one
            failed example/calc/calc :: TestTable/two | === RUN   TestTable/two … --- FAIL: TestTable/two (0.00s)
            failed example/calc/panics :: TestPanics | === RUN   TestPanics … /work/project/panics/p_test.go:3 +0x25
            partial: a panic ended the tests of example/calc/panics
        ",
    );
}

#[test]
fn reads_cargo_output() {
    check(
        ReportForm::Libtest,
        include_str!("reports/libtest.txt"),
        "
            passed calc (doc-tests) :: src/lib.rs - (line 1)
            passed src/lib.rs :: calc :: tests::adds
            failed src/lib.rs :: calc :: tests::fails | said … right: 3
            skipped src/lib.rs :: calc :: tests::later
            passed src/lib.rs :: calc :: tests::panics
            failed tests/whole.rs :: whole :: dies | thread 'dies' (7746) panicked at tests/whole.rs:2:21: … no
            passed tests/whole.rs :: whole :: whole
            whole
        ",
    );
}

#[test]
fn reads_nextest_output() {
    check(
        ReportForm::Nextest,
        include_str!("reports/nextest.txt"),
        "
            passed calc :: tests::adds
            failed calc :: tests::fails | stdout ─── … right: 3
            skipped calc :: tests::later
            passed calc :: tests::panics
            failed calc::whole :: dies | stdout ─── … no
            passed calc::whole :: whole
            whole
        ",
    );
}

#[test]
fn reads_node_tap() {
    check(
        ReportForm::Tap,
        include_str!("reports/node.tap"),
        "
            passed top
            passed calc :: adds
            failed calc :: fails | location: '/work/project/n/calc.test.mjs:3:69' … async Promise.all (index 0)
            skipped calc :: later
            skipped calc :: some
            whole
        ",
    );
}

#[test]
fn reads_unittest_output() {
    check(
        ReportForm::Unittest,
        include_str!("reports/unittest.txt"),
        "
            passed tests.test_unit.CalcCase :: test_adds
            errored tests.test_unit.CalcCase :: test_breaks | Traceback (most recent call last): … ValueError: no value
            failed tests.test_unit.CalcCase :: test_fails | Traceback (most recent call last): … AssertionError: 1 != 2
            skipped tests.test_unit.CalcCase :: test_known
            skipped tests.test_unit.CalcCase :: test_later
            failed tests.test_unit.CalcCase :: test_sub | Traceback (most recent call last): … AssertionError: 1 != 0
            whole
        ",
    );
}

#[test]
fn reads_minitest_output() {
    check(
        ReportForm::Minitest,
        include_str!("reports/minitest.txt"),
        "
            passed TestCalc :: test_adds
            errored TestCalc :: test_breaks | NameError: undefined local variable … test/calc_test.rb:9:in `test_breaks'
            failed TestCalc :: test_fails | Expected: 2 … Actual: 1
            skipped TestCalc :: test_later
            whole
        ",
    );
}

#[test]
fn reads_sympy_output() {
    check(
        ReportForm::Sympy,
        include_str!("reports/sympy.txt"),
        "
            errored sympy/core/tests/test_zy.py | Traceback (most recent call last): … ModuleNotFoundError: No module named 'nothing_here'
            passed sympy/core/tests/test_zz.py :: test_adds
            passed sympy/core/tests/test_zz.py :: test_better
            errored sympy/core/tests/test_zz.py :: test_breaks | Traceback (most recent call last): … ValueError: no value
            failed sympy/core/tests/test_zz.py :: test_fails | Traceback (most recent call last): … AssertionError
            skipped sympy/core/tests/test_zz.py :: test_known
            passed sympy/core/tests/test_zz.py :: test_last
            skipped sympy/core/tests/test_zz.py :: test_later
            whole
        ",
    );
}

#[test]
fn reads_pytest_summary() {
    check(
        ReportForm::PytestSummary,
        include_str!("reports/pytest-summary.txt"),
        "
            skipped tests/test_calc.py :: tests.test_calc :: line 5
            skipped tests/test_calc.py :: tests.test_calc :: test_known
            failed tests/test_calc.py :: tests.test_calc :: test_positive[0] | assert 0 > 0
            passed tests/test_calc.py :: tests.test_calc :: test_positive[1]
            errored tests/test_calc.py :: tests.test_calc :: test_uses | RuntimeError: no fixture <&>
            passed tests/test_calc.py :: tests.test_calc.TestGroup :: test_in
            skipped tests/test_unit.py :: tests.test_unit :: line 10
            passed tests/test_unit.py :: tests.test_unit.CalcCase :: test_adds
            failed tests/test_unit.py :: tests.test_unit.CalcCase :: test_breaks | ValueError: no value
            failed tests/test_unit.py :: tests.test_unit.CalcCase :: test_fails | AssertionError: 1 != 2
            skipped tests/test_unit.py :: tests.test_unit.CalcCase :: test_known
            failed tests/test_unit.py :: tests.test_unit.CalcCase :: test_sub | AssertionError: 1 != 0
            whole
        ",
    );
}
