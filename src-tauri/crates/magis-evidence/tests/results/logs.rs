//! Logs as a person has them: what a runner printed, with other lines around it.

use magis_evidence::results::failed_in_log;

fn check(log: &str, expected: &[&str]) {
    let found: Vec<String> = failed_in_log(log).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected, "failed tests of {log}");
}

#[test]
fn failed_tests_of_every_form_that_is_lines_are_found() {
    check(
        include_str!("../reports/libtest.txt"),
        &["src/lib.rs :: calc :: tests::fails", "tests/whole.rs :: whole :: dies"],
    );
    check(
        include_str!("../reports/nextest.txt"),
        &["calc :: tests::fails", "calc::whole :: dies"],
    );
    check(include_str!("../reports/node.tap"), &["calc :: fails"]);
    check(include_str!("../reports/tape.tap"), &["adds numbers"]);
    check(
        include_str!("../reports/go.json"),
        &[
            "example/calc/broken",
            "example/calc/calc :: TestTable",
            "example/calc/calc :: TestTable/two",
            "example/calc/panics :: TestPanics",
        ],
    );
    check(
        include_str!("../reports/unittest.txt"),
        &[
            "tests.test_unit.CalcCase :: test_breaks",
            "tests.test_unit.CalcCase :: test_fails",
            "tests.test_unit.CalcCase :: test_sub",
        ],
    );
    check(
        include_str!("../reports/minitest.txt"),
        &["TestCalc :: test_breaks", "TestCalc :: test_fails"],
    );
    check(
        include_str!("../reports/sympy.txt"),
        &[
            "sympy/core/tests/test_zy.py",
            "sympy/core/tests/test_zz.py :: test_breaks",
            "sympy/core/tests/test_zz.py :: test_fails",
        ],
    );
    check(
        include_str!("../reports/pytest-summary.txt"),
        &[
            "tests/test_calc.py :: tests.test_calc :: test_positive[0]",
            "tests/test_calc.py :: tests.test_calc :: test_uses",
            "tests/test_unit.py :: tests.test_unit.CalcCase :: test_breaks",
            "tests/test_unit.py :: tests.test_unit.CalcCase :: test_fails",
            "tests/test_unit.py :: tests.test_unit.CalcCase :: test_sub",
        ],
    );
}

#[test]
fn a_line_of_pytest_is_enough_in_colour_and_among_others() {
    check(
        "ERROR Could not install packages due to an OSError\n\
         tests/test_calc.py F\n\
         \u{1b}[31mFAILED\u{1b}[0m tests/test_calc.py::\u{1b}[1mTestGroup::test_in\u{1b}[0m - assert 1 == 2\n\
         PASSED tests/test_calc.py::test_uses\n\
         FAILED (failures=1)\n\
         ERROR: command failed (exit)\n",
        &["tests/test_calc.py :: tests.test_calc.TestGroup :: test_in"],
    );
}

#[test]
fn a_run_of_unittest_that_was_not_verbose_names_its_failures_in_heads() {
    let rule = "=".repeat(70);
    check(
        &format!(
            "$ python3 -m unittest\n.F\n{rule}\nFAIL: test_adds (tests.test_calc.CalcCase.test_adds)\nAdds two numbers.\n\
             {rule}\nERROR: test_old (tests.test_calc.CalcCase)\n\nRan 3 tests in 0.001s\n"
        ),
        &[
            "tests.test_calc.CalcCase :: test_adds",
            "tests.test_calc.CalcCase :: test_old",
        ],
    );
}

#[test]
fn a_run_of_go_without_json_names_tests_without_their_package() {
    check(
        "--- FAIL: TestTable (0.00s)\n    --- FAIL: TestTable/two (0.00s)\n        calc_test.go:6: got 1, want 2\nFAIL\nFAIL\texample/calc\t0.002s\n",
        &["TestTable", "TestTable/two"],
    );
}

#[test]
fn a_log_without_tests_names_none() {
    check("", &[]);
    check(
        "Traceback (most recent call last):\n  File \"/srv/tally/cli.py\", line 3, in main\n    run()\nValueError: no value\n",
        &[],
    );
    check("thread 'main' panicked at src/main.rs:4:5:\nno value\n", &[]);
    check("1..2\nnot ok to go on\n", &[]);
}
