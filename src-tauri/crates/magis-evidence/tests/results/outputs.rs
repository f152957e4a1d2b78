//! Reports that are streams of lines.

use crate::{FOLDER, check, told};
use magis_evidence::results::{ReportForm, read};

#[test]
fn reads_go_stream() {
    check(
        ReportForm::GoTest,
        include_str!("../reports/go.json"),
        "
            errored example/calc/broken
            > # example/calc/broken [example/calc/broken.test]
            > FAIL	example/calc/broken [build failed]
            passed example/calc/calc :: TestAdds
            skipped example/calc/calc :: TestLater
            failed example/calc/calc :: TestTable
            > --- FAIL: TestTable (0.00s)
            passed example/calc/calc :: TestTable/one
            failed example/calc/calc :: TestTable/two
            > calc_test.go:6: got 1, want 2
            > --- FAIL: TestTable/two (0.00s)
            failed example/calc/panics :: TestPanics
            > --- FAIL: TestPanics (0.00s)
            > /work/project/panics/p_test.go:3 +0x25
            partial: a panic ended the tests of example/calc/panics
        ",
    );
}

#[test]
fn reads_cargo_output() {
    check(
        ReportForm::Libtest,
        include_str!("../reports/libtest.txt"),
        "
            passed calc (doc-tests) :: src/lib.rs - (line 1)
            passed src/lib.rs :: calc :: tests::adds
            failed src/lib.rs :: calc :: tests::fails
            > said
            > right: 3
            skipped src/lib.rs :: calc :: tests::later
            passed src/lib.rs :: calc :: tests::panics
            failed tests/whole.rs :: whole :: dies
            > thread 'dies' (7746) panicked at tests/whole.rs:2:21:
            > no
            passed tests/whole.rs :: whole :: whole
            whole
        ",
    );
}

#[test]
fn reads_nextest_output() {
    check(
        ReportForm::Nextest,
        include_str!("../reports/nextest.txt"),
        "
            passed calc :: tests::adds
            failed calc :: tests::fails
            > stdout ───
            > right: 3
            skipped calc :: tests::later
            passed calc :: tests::panics
            failed calc::whole :: dies
            > stdout ───
            > no
            passed calc::whole :: whole
            whole
        ",
    );
}

#[test]
fn reads_node_tap() {
    check(
        ReportForm::Tap,
        include_str!("../reports/node.tap"),
        "
            passed top
            passed calc :: adds
            failed calc :: fails
            > location: '/work/project/n/calc.test.mjs:3:69'
            > async Promise.all (index 0)
            skipped calc :: later
            skipped calc :: some
            whole
        ",
    );
}

#[test]
fn reads_tape_by_its_headings() {
    check(
        ReportForm::Tape,
        include_str!("../reports/tape.tap"),
        "
            failed adds numbers
            > ---
            > ...
            skipped is not done
            passed takes text
            skipped waits
            whole
        ",
    );
    let report = include_str!("../reports/tape.tap");
    let (cut, _) = report.split_once("1..5").unwrap();
    let partial = read(ReportForm::Tape, cut, FOLDER).unwrap();
    assert!(told(&partial).ends_with("partial: the plan is missing, as 1..N"));
}

#[test]
fn reads_unittest_output() {
    check(
        ReportForm::Unittest,
        include_str!("../reports/unittest.txt"),
        "
            passed tests.test_unit.CalcCase :: test_adds
            errored tests.test_unit.CalcCase :: test_breaks
            > Traceback (most recent call last):
            > ValueError: no value
            failed tests.test_unit.CalcCase :: test_fails
            > Traceback (most recent call last):
            > AssertionError: 1 != 2
            skipped tests.test_unit.CalcCase :: test_known
            skipped tests.test_unit.CalcCase :: test_later
            failed tests.test_unit.CalcCase :: test_sub
            > Traceback (most recent call last):
            > AssertionError: 1 != 0
            whole
        ",
    );
}

#[test]
fn reads_minitest_output() {
    check(
        ReportForm::Minitest,
        include_str!("../reports/minitest.txt"),
        "
            passed TestCalc :: test_adds
            errored TestCalc :: test_breaks
            > NameError: undefined local variable
            > test/calc_test.rb:9:in `test_breaks'
            failed TestCalc :: test_fails
            > Expected: 2
            > Actual: 1
            skipped TestCalc :: test_later
            whole
        ",
    );
}

#[test]
fn reads_sympy_output() {
    check(
        ReportForm::Sympy,
        include_str!("../reports/sympy.txt"),
        "
            errored sympy/core/tests/test_zy.py
            > Traceback (most recent call last):
            > ModuleNotFoundError: No module named 'nothing_here'
            passed sympy/core/tests/test_zz.py :: test_adds
            passed sympy/core/tests/test_zz.py :: test_better
            errored sympy/core/tests/test_zz.py :: test_breaks
            > Traceback (most recent call last):
            > ValueError: no value
            failed sympy/core/tests/test_zz.py :: test_fails
            > Traceback (most recent call last):
            > AssertionError
            skipped sympy/core/tests/test_zz.py :: test_known
            passed sympy/core/tests/test_zz.py :: test_last
            skipped sympy/core/tests/test_zz.py :: test_later
            whole
        ",
    );
}

#[test]
fn reads_jest_output() {
    check(
        ReportForm::JestOutput,
        include_str!("../reports/jest.txt"),
        "
            errored j/broken.test.js
            > no module
            > at Object.<anonymous> (j/broken.test.js:1:7)
            passed j/calc.test.js :: calc :: adds
            failed j/calc.test.js :: calc :: fails
            > expect(received).toBe(expected) // Object.is equality
            > at Object.toBe (j/calc.test.js:2:33)
            skipped j/calc.test.js :: calc :: later
            skipped j/calc.test.js :: calc :: some day
            passed j/calc.test.js :: calc deep :: works
            whole
        ",
    );
}

#[test]
fn reads_vitest_output() {
    check(
        ReportForm::VitestOutput,
        include_str!("../reports/vitest.txt"),
        "
            errored v/broken.spec.mjs
            > Error: no module
            > ❯ v/broken.spec.mjs:1:7
            passed v/calc.spec.mjs :: alone
            passed v/calc.spec.mjs :: calc > adds
            failed v/calc.spec.mjs :: calc > fails
            > AssertionError: expected 1 to be 2 // Object.is equality
            > ❯ v/calc.spec.mjs:2:103
            skipped v/calc.spec.mjs :: calc > later
            whole
        ",
    );
}

#[test]
fn reads_mocha_output() {
    check(
        ReportForm::MochaOutput,
        include_str!("../reports/mocha.txt"),
        r#"
            passed calc :: adds
            skipped calc :: later
            passed calc deep :: works
            failed m/calc.js :: calc :: fails
            > AssertionError [ERR_ASSERTION]: 1 == 2
            > at process.processImmediate (node:internal/timers:483:21)
            failed m/calc.js :: calc deep :: "before each" hook for "breaks"
            > Error: no state
            > at Context.<anonymous> (m/calc.js:9:5)
            whole
        "#,
    );
}

#[test]
fn reads_rspec_output() {
    check(
        ReportForm::RSpecOutput,
        include_str!("../reports/rspec.txt"),
        "
            errored spec/calc_spec.rb :: Calc breaks
            > Failure/Error: undefined
            > # ./spec/calc_spec.rb:8:in `block (2 levels) in <top (required)>'
            failed spec/calc_spec.rb :: Calc fails
            > Failure/Error: expect(1).to eq(2)
            > # ./spec/calc_spec.rb:6:in `block (2 levels) in <top (required)>'
            whole
        ",
    );
}

#[test]
fn reads_pytest_summary() {
    check(
        ReportForm::PytestSummary,
        include_str!("../reports/pytest-summary.txt"),
        "
            skipped tests/test_calc.py :: tests.test_calc :: line 5
            skipped tests/test_calc.py :: tests.test_calc :: test_known
            failed tests/test_calc.py :: tests.test_calc :: test_positive[0]
            > assert 0 > 0
            passed tests/test_calc.py :: tests.test_calc :: test_positive[1]
            errored tests/test_calc.py :: tests.test_calc :: test_uses
            > RuntimeError: no fixture <&>
            passed tests/test_calc.py :: tests.test_calc.TestGroup :: test_in
            skipped tests/test_unit.py :: tests.test_unit :: line 10
            passed tests/test_unit.py :: tests.test_unit.CalcCase :: test_adds
            failed tests/test_unit.py :: tests.test_unit.CalcCase :: test_breaks
            > ValueError: no value
            failed tests/test_unit.py :: tests.test_unit.CalcCase :: test_fails
            > AssertionError: 1 != 2
            skipped tests/test_unit.py :: tests.test_unit.CalcCase :: test_known
            failed tests/test_unit.py :: tests.test_unit.CalcCase :: test_sub
            > AssertionError: 1 != 0
            whole
        ",
    );
}
