//! Reports in XML and JSON.

use crate::check;
use magis_evidence::results::ReportForm;

#[test]
fn reads_pytest_xml() {
    check(
        ReportForm::JUnit,
        include_str!("../reports/pytest.xml"),
        r#"
            skipped tests/test_calc.py :: tests.test_calc :: test_known
            skipped tests/test_calc.py :: tests.test_calc :: test_later
            failed tests/test_calc.py :: tests.test_calc :: test_positive[0]
            > assert 0 > 0
            > tests/test_calc.py:4: AssertionError
            passed tests/test_calc.py :: tests.test_calc :: test_positive[1]
            errored tests/test_calc.py :: tests.test_calc :: test_uses
            > failed on setup with "RuntimeError: no fixture <&>"
            > tests/test_calc.py:10: RuntimeError
            passed tests/test_calc.py :: tests.test_calc.TestGroup :: test_in
            passed tests/test_unit.py :: tests.test_unit.CalcCase :: test_adds
            failed tests/test_unit.py :: tests.test_unit.CalcCase :: test_breaks
            > ValueError: no value
            > tests/test_unit.py:6: ValueError
            failed tests/test_unit.py :: tests.test_unit.CalcCase :: test_fails
            > AssertionError: 1 != 2
            > tests/test_unit.py:9: AssertionError
            skipped tests/test_unit.py :: tests.test_unit.CalcCase :: test_known
            skipped tests/test_unit.py :: tests.test_unit.CalcCase :: test_later
            failed tests/test_unit.py :: tests.test_unit.CalcCase :: test_sub
            > AssertionError: 1 != 0
            > tests/test_unit.py:16: AssertionError
            whole
        "#,
    );
}

#[test]
fn reads_vitest_xml() {
    check(
        ReportForm::JUnit,
        include_str!("../reports/vitest.xml"),
        "
            passed v/calc.spec.mjs :: calc > adds
            failed v/calc.spec.mjs :: calc > fails
            > expected 1 to be 2 // Object.is equality
            > ❯ v/calc.spec.mjs:2:103
            skipped v/calc.spec.mjs :: calc > later
            whole
        ",
    );
}

#[test]
fn reads_node_xml() {
    check(
        ReportForm::JUnit,
        include_str!("../reports/node.xml"),
        "
            passed top
            passed calc :: adds
            failed calc :: fails
            > 1 == 2
            > }
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
        include_str!("../reports/ctest.xml"),
        "
            failed bad :: bad
            > /usr/bin/ls: cannot access 'no-such-file': No such file or directory
            errored gone :: gone
            > Unable to find executable
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
        include_str!("../reports/surefire.xml"),
        "
            passed demo.CalcTest :: adds
            errored demo.CalcTest :: breaks
            > no state
            > at demo.CalcTest.breaks(CalcTest.java:9)
            skipped demo.CalcTest :: later
            passed demo.CalcTest :: positive(int)[1]
            failed demo.CalcTest :: subtracts
            > expected: <1> but was: <0>
            > at demo.CalcTest.subtracts(CalcTest.java:8)
            whole
        ",
    );
}

#[test]
fn reads_phpunit_xml() {
    check(
        ReportForm::JUnit,
        include_str!("../reports/phpunit.xml"),
        "
            passed tests/CalcTest.php :: CalcTest :: testAdds
            failed tests/CalcTest.php :: CalcTest :: testFails
            > CalcTest::testFails
            > Failed asserting that 1 matches expected 2.
            whole
        ",
    );
}

#[test]
fn reads_trx() {
    check(
        ReportForm::Trx,
        include_str!("../reports/dotnet.trx"),
        "
            passed Demo.CalcTests :: Adds
            failed Demo.CalcTests :: Fails(n: 1)
            > Assert.Equal() Failure
            > at Demo.CalcTests.Fails(Int32 n)
            skipped Demo.CalcTests :: Later
            whole
        ",
    );
}

#[test]
fn reads_jest_json() {
    check(
        ReportForm::Jest,
        include_str!("../reports/jest.json"),
        "
            errored j/broken.test.js
            > ● Test suite failed to run
            > at Object.<anonymous> (j/broken.test.js:1:7)
            passed j/calc.test.js :: calc :: adds
            failed j/calc.test.js :: calc :: fails
            > Error: expect(received).toBe(expected) // Object.is equality
            > at Object.toBe (/work/project/j/calc.test.js:2:103)
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
        include_str!("../reports/mocha.json"),
        "
            passed m/calc.js :: calc :: adds
            failed m/calc.js :: calc :: fails
            > AssertionError [ERR_ASSERTION]: 1 == 2
            > at process.processImmediate (node:internal/timers:483:21)
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
        include_str!("../reports/rspec.json"),
        "
            passed spec/calc_spec.rb :: Calc adds
            errored spec/calc_spec.rb :: Calc breaks
            > NameError: undefined
            failed spec/calc_spec.rb :: Calc fails
            > RSpec::Expectations::ExpectationNotMetError:
            > ./spec/calc_spec.rb:6
            skipped spec/calc_spec.rb :: Calc later
            whole
        ",
    );
}
