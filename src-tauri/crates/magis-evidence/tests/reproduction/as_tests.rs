//! Checks read as tests of the project.

use super::{CRASH, WRONG_SUM, gives, made, printed, raises, record, run};
use insta::assert_snapshot;
use magis_evidence::commands::{JavaScriptRunner, PythonRunner, TestRunner};
use magis_evidence::reproduction::{RunOutput, as_test, observe, reproduces};
use serde_json::json;

#[test]
fn a_check_can_be_read_as_a_test() {
    let check = made(CRASH).remove(0);
    let base = observe(
        &check,
        &run(&[raises(0, "TypeError", "can only concatenate str (not \"int\") to str")]),
    );
    let found = reproduces(&check, &base).unwrap();
    assert_snapshot!(as_test(&check, &base, &found, "Crash in `add`", None), @r#"
    from calc import add


    def test_crash_in_add():
        # Raised TypeError before.
        add('1', 2)
    "#);
}

/// The first check of an issue as a test, for a base that did as recorded.
fn check_test(issue: &str, base: &RunOutput) -> String {
    check_test_of(None, issue, base)
}

/// The same for a runner.
fn check_test_of(runner: Option<TestRunner>, issue: &str, base: &RunOutput) -> String {
    let check = made(issue).remove(0);
    let base = observe(&check, base);
    let found = reproduces(&check, &base).unwrap();
    as_test(&check, &base, &found, "It fails", runner)
}

#[test]
fn a_test_asserts_where_the_base_shows_the_wrong_output() {
    assert_snapshot!(check_test(WRONG_SUM, &run(&[gives(0, "4")])), @r#"
    from calc import add


    def test_it_fails():
        assert " ".join(repr(add(1, 2)).split()) != "4"
    "#);
    let script = "Wrong sum\n\n```python\nprint(add(1, 2))\nprint(5)\n```\n\nThis prints:\n```\n4\n```\n";
    assert_snapshot!(check_test(script, &run(&[record(0, &json!({"printed": "4\n"}))])), @r#"
    from calc import add


    def test_it_fails(capsys):
        capsys.readouterr()
        print(add(1, 2))
        assert " ".join(capsys.readouterr().out.split()) != "4"
        print(5)
    "#);
}

#[test]
fn a_test_of_a_command_line_writes_its_files() {
    let issue = "Silent\n\n`a.py`:\n```python\nx = 1\n```\n\n### Command used\n\n```shell\ncalc a.py\n```\n\n### Output\n\n```\na.py:1: one thing\n```\n";
    assert_snapshot!(check_test(issue, &printed("a.py:1: one thing\n")), @r#"
    import os
    import subprocess
    import sys


    def test_it_fails(tmp_path):
        path = tmp_path / "a.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        run = subprocess.run("calc a.py", shell=True, cwd=tmp_path, env=env, capture_output=True, text=True)
        output = run.stdout + run.stderr
        assert "a.py:1: one thing" not in output
    "#);
}

#[test]
fn a_test_for_unittest_is_a_method_of_a_class() {
    let unittest = Some(TestRunner::Python(PythonRunner::Unittest));
    assert_snapshot!(check_test_of(unittest, WRONG_SUM, &run(&[gives(0, "4")])), @r#"
    from calc import add
    import unittest


    class TestItFails(unittest.TestCase):
        def test_it_fails(self):
            self.assertNotEqual(" ".join(repr(add(1, 2)).split()), "4")
    "#);
    let script = "Wrong sum\n\n```python\nprint(add(1, 2))\nprint(5)\n```\n\nThis prints:\n```\n4\n```\n";
    assert_snapshot!(check_test_of(unittest, script, &run(&[record(0, &json!({"printed": "4\n"}))])), @r#"
    from calc import add
    import contextlib
    import io
    import unittest


    class TestItFails(unittest.TestCase):
        def test_it_fails(self):
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                print(add(1, 2))
            self.assertNotEqual(" ".join(printed.getvalue().split()), "4")
            print(5)
    "#);
    let line = "Silent\n\n`a.py`:\n```python\nx = 1\n```\n\n### Command used\n\n```shell\ncalc a.py\n```\n\n### Output\n\n```\na.py:1: one thing\n```\n";
    assert_snapshot!(check_test_of(unittest, line, &printed("a.py:1: one thing\n")), @r#"
    import os
    import pathlib
    import subprocess
    import sys
    import tempfile
    import unittest


    class TestItFails(unittest.TestCase):
        def test_it_fails(self):
            folder = tempfile.TemporaryDirectory()
            self.addCleanup(folder.cleanup)
            tmp_path = pathlib.Path(folder.name)
            path = tmp_path / "a.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x = 1\n")
            env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            run = subprocess.run("calc a.py", shell=True, cwd=tmp_path, env=env, capture_output=True, text=True)
            output = run.stdout + run.stderr
            self.assertNotIn("a.py:1: one thing", output)
    "#);
}

#[test]
fn a_test_for_django_is_derived_from_its_own_class() {
    let base = run(&[raises(0, "TypeError", "can only concatenate str (not \"int\") to str")]);
    let test = |runner| check_test_of(Some(TestRunner::Python(runner)), CRASH, &base);
    assert_snapshot!(test(PythonRunner::DjangoProject), @r#"
    from calc import add
    from django.test import SimpleTestCase


    class TestItFails(SimpleTestCase):
        def test_it_fails(self):
            # Raised TypeError before.
            add('1', 2)
    "#);
    assert_eq!(test(PythonRunner::DjangoSuite), test(PythonRunner::DjangoProject));
}

#[test]
fn a_test_for_the_program_of_sympy_or_of_another_language_is_a_plain_function() {
    let base = run(&[gives(0, "4")]);
    let sympy = Some(TestRunner::Python(PythonRunner::SympyTest));
    let jest = Some(TestRunner::JavaScript(JavaScriptRunner::Jest));
    for runner in [sympy, jest] {
        assert_eq!(check_test_of(runner, WRONG_SUM, &base), check_test(WRONG_SUM, &base));
    }
}
