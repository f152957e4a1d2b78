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
    check(
        include_str!("../reports/jest.txt"),
        &["j/broken.test.js", "j/calc.test.js :: calc :: fails"],
    );
    check(
        include_str!("../reports/vitest.txt"),
        &["v/broken.spec.mjs", "v/calc.spec.mjs :: calc > fails"],
    );
    check(
        include_str!("../reports/mocha.txt"),
        &[
            "m/calc.js :: calc :: fails",
            r#"m/calc.js :: calc deep :: "before each" hook for "breaks""#,
        ],
    );
    check(
        include_str!("../reports/rspec.txt"),
        &["spec/calc_spec.rb :: Calc breaks", "spec/calc_spec.rb :: Calc fails"],
    );
}

/// Reads a log up to a mark.
fn check_cut(log: &str, mark: &str, expected: &[&str]) {
    let (cut, _) = log.split_once(mark).unwrap();
    check(cut, expected);
}

#[test]
fn a_log_that_stops_in_the_middle_names_what_failed_before() {
    check_cut(
        include_str!("../reports/jest.txt"),
        "Expected: 2",
        &["j/broken.test.js", "j/calc.test.js :: calc :: fails"],
    );
    check_cut(
        include_str!("../reports/jest.txt"),
        "    deep",
        &["j/broken.test.js", "j/calc.test.js :: calc :: fails"],
    );
    check_cut(
        include_str!("../reports/vitest.txt"),
        "   ↓ calc",
        &["v/calc.spec.mjs :: calc > fails"],
    );
    check_cut(include_str!("../reports/mocha.txt"), "    deep", &["calc :: fails"]);
    check_cut(
        include_str!("../reports/mocha.txt"),
        "     Error: no state",
        &[
            r#"calc deep :: "before each" hook for "breaks""#,
            "m/calc.js :: calc :: fails",
        ],
    );
    check_cut(
        include_str!("../reports/rspec.txt"),
        "     NameError",
        &["spec/calc_spec.rb :: Calc fails"],
    );
}

#[test]
fn jest_in_colours_and_with_names_of_projects_is_read() {
    check(
        "\u{1b}[0m\u{1b}[7m\u{1b}[1m\u{1b}[31m FAIL \u{1b}[39m\u{1b}[22m\u{1b}[27m\u{1b}[0m \u{1b}[2msrc/\u{1b}[22m\u{1b}[1ma.test.js\u{1b}[22m\n\
         \u{1b}[1m\u{1b}[31m  \u{1b}[1m● \u{1b}[22m\u{1b}[1mcalc › deep › fails\u{1b}[39m\u{1b}[22m\n\n    expected\n\n\
         FAIL unit src\\b.test.ts (5.123 s)\n  ● fails alone\n\n    expected\n\n  ●  Cannot log after tests are done.\n",
        &["src/a.test.js :: calc deep :: fails", "src/b.test.ts :: fails alone"],
    );
}

#[test]
fn the_suites_of_vitest_are_read_as_headings_and_as_parts_of_names() {
    check(
        " ❯ src/a.test.ts (3 tests | 2 failed) 31ms\n   ✓ other (1)\n     ✓ works 1ms\n   ❯ calc (2) 9ms\n     × adds 3ms\n\
         \x20    ❯ deep (1)\n       × fails 4ms (retry x2)\n         → expected 1 to be 2\n",
        &["src/a.test.ts :: calc > adds", "src/a.test.ts :: calc > deep > fails"],
    );
    check(
        " ✓ src/a.test.ts > calc > adds 2ms\n × src/a.test.ts > calc > fails 4ms\n   → expected 1 to be 2\n",
        &["src/a.test.ts :: calc > fails"],
    );
    check(
        "⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯\n\n FAIL  |server| src/a.test.ts > calc\nError: no state\n\n⎯⎯⎯[1/2]⎯\n\n\
         ⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯\n\n FAIL  |server| src/b.test.ts > fails\nError: no\n",
        &["src/b.test.ts :: fails"],
    );
}

#[test]
fn a_failure_of_an_old_mocha_is_told_apart_by_the_outline() {
    check(
        "  calc\n    ✓ adds\n    deep\n      1) fails\n\n\n  1 passing (8ms)\n  1 failing\n\n\
         \x20 1) calc deep fails:\n     Error: no\n      at Context.<anonymous> (/home/ana/m/calc.js:2:9)\n",
        &["calc deep :: fails"],
    );
}

#[test]
fn rspec_as_documentation_names_failures_by_the_outline_until_the_list_comes() {
    let outline = "Calc\n  adds\n  #sum\n    takes words (FAILED - 1)\n  with nothing\n    is empty (FAILED - 2)\n";
    check(outline, &["Calc with nothing is empty", "Calc#sum takes words"]);
    let list = "\nFailures:\n\n  1) Calc#sum takes words\n     Failure/Error: expect(sum).to eq(3)\n     # ./spec/calc_spec.rb:4:in `block'\n\n\
                Finished in 0.1 seconds\n3 examples, 2 failures\n\nFailed examples:\n\n\
                rspec ./spec/calc_spec.rb:3 # Calc#sum takes words\nrspec ./spec/calc_spec.rb:9 # Calc with nothing is empty\n";
    check(
        &format!("{outline}{list}"),
        &[
            "spec/calc_spec.rb :: Calc with nothing is empty",
            "spec/calc_spec.rb :: Calc#sum takes words",
        ],
    );
}

#[test]
fn outputs_that_only_look_like_those_of_a_runner_name_no_test() {
    // node --test
    check("▶ calc\n  ✔ adds (0.5ms)\n  ✖ fails (0.4ms)\n▶ calc (2.1ms)\n", &[]);
    // Playwright
    check(
        "  ✓  1 [chromium] › a.spec.ts:3:5 › adds (1s)\n  ✘  2 [chromium] › a.spec.ts:5:7 › fails (1s)\n\n\
         \x20 1) [chromium] › a.spec.ts:5:7 › fails ─────\n\n    Error: no\n\n  1 failed\n  1 passed (2s)\n",
        &[],
    );
    // Crystal
    check(
        "Failures:\n\n  1) Calc fails\n     Failure/Error: 1.should eq(2)\n\n     # spec/calc_spec.cr:5\n\n\
         2 examples, 1 failures, 0 errors, 0 pending\n\nFailed examples:\n\ncrystal spec spec/calc_spec.cr:4 # Calc fails\n",
        &[],
    );
    // A bundler, steps of a plan, and other words behind FAIL
    check(
        "vite v5.4.0 building for production...\n✓ 106 modules transformed.\ndist/index.js (3 kB)\n✓ built in 1.85s\n",
        &[],
    );
    check("To do:\n  first\n    1) read a.test.js\n    2) run it\n", &[]);
    check(
        "FAIL  Tests failed. Watching for file changes...\nFAIL   Tests\\Feature\\ExampleTest\n  ● nothing\nFAIL LLVM :: a.ll (1 of 2)\n",
        &[],
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
