//! What a test command prints: results, or the reason why it holds none, and results can be compared with themselves.

use super::{CaseOutcome, FuzzTarget};
use magis_evidence::results::{ReportForm, compare, failed_in_log, read};

pub(super) struct ReportTarget;

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

/// The form, by its place in the list above, and a report.
const SEEDS: [(u8, &str); 12] = [
    (
        0,
        r#"<?xml version="1.0"?><testsuites><testsuite name="pytest" tests="2" failures="1"><testcase classname="tests.a" name="b" time="0.1"/><testcase classname="tests.a" name="c"><failure message="assert 1 == 2">/repo/tests/a.py:3: AssertionError &lt;x&gt; <![CDATA[raw]]></failure></testcase></testsuite></testsuites>"#,
    ),
    (
        1,
        r#"<TestRun><Results><UnitTestResult testId="1" testName="A.B" outcome="Failed"><Output><ErrorInfo><Message>m</Message><StackTrace>at A in /repo/a.cs:line 3</StackTrace></ErrorInfo></Output></UnitTestResult></Results><TestDefinitions><UnitTest id="1"><TestMethod className="A" name="B"/></UnitTest></TestDefinitions><ResultSummary outcome="Completed"/></TestRun>"#,
    ),
    (
        2,
        r#"{"numTotalTests":1,"success":false,"testResults":[{"name":"/repo/a.test.js","status":"failed","assertionResults":[{"fullName":"a b","ancestorTitles":["a"],"title":"b","status":"failed","failureMessages":["Error: x\n    at /repo/a.test.js:3:5"]}]}]}"#,
    ),
    (
        3,
        r#"{"stats":{"tests":1,"passes":0,"failures":1},"tests":[{"title":"b","fullTitle":"a b","file":"/repo/a.js","err":{"message":"x","stack":"x"}}],"pending":[],"failures":[{"fullTitle":"a b"}],"passes":[]}"#,
    ),
    (
        5,
        "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"TestA\"}\n{\"Action\":\"output\",\"Package\":\"p\",\"Test\":\"TestA\",\"Output\":\"    a_test.go:3: x\\n\"}\n{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"TestA\",\"Elapsed\":0.1}\n{\"Action\":\"fail\",\"Package\":\"p\"}\n",
    ),
    (
        6,
        "     Running unittests src/lib.rs (target/debug/deps/a-1)\n\nrunning 2 tests\ntest a::b ... ok\ntest a::c ... FAILED\n\nfailures:\n\n---- a::c stdout ----\nthread 'a::c' panicked at src/lib.rs:3:5:\nx\n\nfailures:\n    a::c\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
    ),
    (
        8,
        "TAP version 13\n# Subtest: a\n    ok 1 - b\n    not ok 2 - c\n      ---\n      message: 'x'\n      ...\n    1..2\nnot ok 1 - a\n1..1\n# fail 1\n",
    ),
    (
        10,
        "test_a (tests.b.C.test_a) ... ok\ntest_d (tests.b.C.test_d) ... FAIL\n\n======================================================================\nFAIL: test_d (tests.b.C.test_d)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/repo/tests/b.py\", line 3, in test_d\nAssertionError: 1 != 2\n\n----------------------------------------------------------------------\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n",
    ),
    (
        13,
        "=== short test summary info ===\nFAILED tests/a.py::b[1-x] - assert 1 == 2\nERROR tests/c.py - ImportError\nPASSED tests/a.py::d\n=== 1 failed, 1 passed, 1 error in 0.12s ===\n",
    ),
    (
        14,
        "FAIL a.test.js\n  a\n    ✓ b (3 ms)\n    ✕ c\n\n  ● a › c\n\n    expect(received).toBe(expected)\n\n      at Object.<anonymous> (a.test.js:3:5)\n\nTests:       1 failed, 1 passed, 2 total\n",
    ),
    (
        15,
        " ❯ a.test.ts (2 tests | 1 failed) 5ms\n   ✓ a > b\n   × a > c 3ms\n     → expected 1 to be 2\n\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)\n",
    ),
    (
        17,
        "F.\n\nFailures:\n\n  1) A b\n     Failure/Error: expect(1).to eq(2)\n     # ./spec/a_spec.rb:3:in `block'\n\nFinished in 0.1 seconds\n2 examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/a_spec.rb:2 # A b\n",
    ),
];

impl FuzzTarget for ReportTarget {
    fn seeds(&mut self) -> Vec<Vec<u8>> {
        let seed = |(form, text): (u8, &str)| [&[form], text.as_bytes()].concat();
        SEEDS.map(seed).to_vec()
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "<testcase name=\"a\">",
            "</testcase>",
            "<failure>",
            "<![CDATA[",
            "]]>",
            "&amp;",
            "&#x0;",
            "<!DOCTYPE a [",
            "<!ENTITY a \"b\">",
            "&a;",
            "\u{1b}[31m",
            "test a ... ok\n",
            "running 1 test\n",
            "not ok 1\n",
            "1..9\n",
            "✓ ",
            "✕ ",
            "● ",
            " › ",
            "FAILED ",
            "ERROR ",
            "ok\n",
            "/repo/",
            "\r\n",
            "é",
            "\u{2028}",
            "\u{0}",
            "---- a stdout ----\n",
            "panicked at ",
            "Ran 1 test in 1s\n",
        ]
    }

    fn run(&mut self, input: &[u8]) -> CaseOutcome {
        let mut outcome = CaseOutcome::default();
        let (first, rest) = input.split_first().unwrap_or((&0, &[]));
        let text = String::from_utf8_lossy(rest);
        let form = FORMS[usize::from(*first) % FORMS.len()];
        if let Some(results) = outcome.say_result(form.name(), read(form, &text, "/repo")) {
            outcome.say(format!("{form:?} {:?}", results.completeness));
            let counts = results.counts();
            outcome.say_count(form.name(), counts.passed);
            let same = compare(&results, &results);
            assert!(
                same.newly_failing.is_empty() && same.newly_passing.is_empty() && same.vanished.is_empty(),
                "results differ from themselves: {same:?}"
            );
        }
        outcome.say_count("failed in a log", failed_in_log(&text).len());
        outcome
    }
}
