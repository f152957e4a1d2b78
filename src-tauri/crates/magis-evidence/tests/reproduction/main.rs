//! From an issue's text to checks, from runs to verdicts, and from checks to tests.

#![expect(clippy::unwrap_used, reason = "a test says so by failing")]

mod as_tests;
mod verdicts;

use insta::assert_snapshot;
use magis_core::RepoPath;
use magis_evidence::reproduction::{
    About, Check, CheckCommand, Marker, ProjectInUse, RunEnd, RunOutput, Said, Stance, checks, project_in_use,
    tracebacks,
};
use magis_syntax::SourceLanguage;
use serde_json::{Value, json};

const MARKER: &str = "0123456789abcdef0123";

fn used_in(language: SourceLanguage) -> ProjectInUse {
    ProjectInUse {
        language,
        packages: vec!["calc".to_owned()],
    }
}

fn made(issue: &str) -> Vec<Check> {
    checks(issue, &used_in(SourceLanguage::Python), &Marker::new(MARKER).unwrap())
}

fn said(what: &Said) -> String {
    match what {
        Said::Raises { exception, prefix } => format!("raises {prefix}[{}] {}", exception.kind, exception.message),
        Said::Prints(text) => format!("prints {text:?}"),
        Said::Agrees => "agrees".to_owned(),
        Said::Hangs => "hangs".to_owned(),
    }
}

/// One check on a few lines: what runs, with which files, upon which inputs, and what is claimed.
fn shown(check: &Check) -> String {
    let mut lines = vec![match &check.command {
        CheckCommand::Python(_) => "python".to_owned(),
        CheckCommand::JavaScript(_) => "node".to_owned(),
        CheckCommand::Rust => "cargo".to_owned(),
        CheckCommand::Shell(lines) => format!("shell {lines:?}"),
    }];
    let own = |path: &&str| !path.starts_with("reproduction.");
    lines.extend(
        check
            .files
            .iter()
            .map(|file| file.path.as_str())
            .filter(own)
            .map(|path| format!("  file {path}")),
    );
    lines.extend(check.steps.iter().map(|step| format!("  step {step:?}")));
    for claim in &check.claims {
        let about = match claim.about {
            About::Any => "any".to_owned(),
            About::Step(step) => format!("step {step}"),
            About::Line { step, line } => format!("step {step} line {line}"),
        };
        let stance = match claim.stance {
            Stance::Wrong => "wrong",
            Stance::Right => "right",
            Stance::Shown => "shown",
        };
        lines.push(format!("  {stance}, {about}: {}", said(&claim.what)));
    }
    lines.extend(check.warnings.iter().map(|warning| format!("  ! {warning}")));
    lines.join("\n")
}

fn check_made(issue: &str) -> String {
    made(issue).iter().map(shown).collect::<Vec<_>>().join("\n")
}

fn check_tracebacks(text: &str) -> String {
    let of = |found: &magis_evidence::reproduction::Traceback| {
        let frames: Vec<String> = found
            .frames
            .iter()
            .map(|at| format!("{}:{} {}", at.path, at.line, at.function))
            .collect();
        format!(
            "{:?} {} | {} | {}",
            found.prefix,
            found.exception.kind,
            found.exception.message,
            frames.join(", ")
        )
    };
    tracebacks(text).iter().map(of).collect::<Vec<_>>().join("\n")
}

/// What one statement did, as the program that runs the steps records it.
fn record(step: u32, shows: &Value) -> Value {
    let mut record = json!({
        "step": step, "statement": 0, "line": 1, "last_line": 1, "assertion": false, "printed": "", "logged": "",
        "forms": {}, "unshown": [], "equals": [], "raised": null,
    });
    for (key, value) in shows.as_object().unwrap() {
        record[key] = value.clone();
    }
    record
}

fn gives(step: u32, value: &str) -> Value {
    record(step, &json!({"forms": {"repr": value}}))
}

fn raises(step: u32, kind: &str, message: &str) -> Value {
    record(step, &json!({"raised": {"kind": kind, "message": message}}))
}

fn run(records: &[Value]) -> RunOutput {
    let end = json!({"end": true, "imports": ["from calc import add"]});
    let lines = records
        .iter()
        .chain([&end])
        .map(|record| format!("{MARKER} {record}\n"));
    RunOutput {
        stdout: lines.collect(),
        stderr: String::new(),
        ending: RunEnd::Exited(0),
    }
}

fn printed(text: &str) -> RunOutput {
    RunOutput {
        stdout: text.to_owned(),
        stderr: String::new(),
        ending: RunEnd::Exited(0),
    }
}

const STATED_SUM: &str =
    "add() gives a wrong sum\n\n```\n>>> add(1, 2)\n```\n\nActual:\n\n```\n4\n```\n\nExpected:\n\n```\n3\n```\n";
const WRONG_SUM: &str = "add() gives a wrong sum\n\n```\n>>> add(1, 2)\n4\n```\n";
const CRASH: &str = "Crash\n\n```\n>>> add('1', 2)\nTraceback (most recent call last):\n  File \"calc/core.py\", line 3, in add\n    return a + b\nTypeError: can only concatenate str (not \"int\") to str\n```\n";

#[test]
fn an_expected_value_that_is_written_as_a_call_is_not_run() {
    let issue = "parse() raises\n\n```\n>>> parse('a:1')\nTypeError: no host\n```\n\nExpected:\n\n```\nResult(host='a', port=1)\n```\n";
    let checks = made(issue);
    let steps: Vec<&String> = checks.iter().flat_map(|check| &check.steps).collect();
    assert_eq!(steps, ["parse('a:1')"]);
    let called = issue.replace("Expected:", "The same with");
    let steps: Vec<String> = made(&called).into_iter().flat_map(|check| check.steps).collect();
    assert!(steps.iter().any(|step| step.contains("Result(")), "{steps:?}");
}

#[test]
fn tracebacks_of_python_give_their_frames() {
    let text = "x\nTraceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\n  File \"b.py\", line 20, in f\n    raise ValueError(\"no\")\nValueError: no\ny";
    assert_snapshot!(check_tracebacks(text), @r#""" ValueError | no | a.py:1 <module>, b.py:20 f"#);
}

#[test]
fn of_exceptions_one_during_another_the_last_counts() {
    let text = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"b.py\", line 2, in g\npkg.errors.BadKey: a\n";
    assert_snapshot!(check_tracebacks(text), @r#""" pkg.errors.BadKey | a | b.py:2 g"#);
}

#[test]
fn tracebacks_within_a_tools_output_keep_its_prefix() {
    let text = "INTERNALERROR> Traceback (most recent call last):\nINTERNALERROR>   File \"m.py\", line 5, in w\nINTERNALERROR>     x()\nINTERNALERROR> RuntimeError: gone\n\nE       AssertionError: no\n\ntest_a.py:7: AssertionError\n";
    assert_snapshot!(check_tracebacks(text), @r#"
    "INTERNALERROR>" RuntimeError | gone | m.py:5 w
    "E" AssertionError | no | test_a.py:7
    "#);
}

#[test]
fn tracebacks_of_notebooks_are_read() {
    let text = "-----------------------\nTypeError                                 Traceback (most recent call last)\n<ipython-input-2-b3> in <module>\n----> 1 f(1)\n\n~/lib/calc/core.py in f(x)\n     11     y = x\n---> 12     return y[0]\n\nTypeError: 'int' object is not subscriptable\n";
    assert_snapshot!(check_tracebacks(text), @r#""" TypeError | 'int' object is not subscriptable | <ipython-input-2-b3>:1 <module>, ~/lib/calc/core.py:12 f"#);
}

#[test]
fn each_input_at_a_prompt_is_a_step_with_its_output() {
    assert_snapshot!(check_made("add() fails for text\n\n```\n>>> a = 1\n>>> for i in range(2):\n...     print(i)\n...\n0\n1\n>>> add('1', 2)\nTraceback (most recent call last):\n  File \"calc/core.py\", line 3, in add\nTypeError: no\n```\n"), @r#"
    python
      step "a = 1"
      step "for i in range(2):\n    print(i)"
      step "add('1', 2)"
      wrong, step 1: prints "0\n1"
      shown, step 2: raises [TypeError] no
    "#);
}

#[test]
fn sessions_without_a_fence_and_of_ipython_are_found() {
    assert_snapshot!(check_made("Odd sum\n\nSee:\n\nIn [1]: add(1, 2)\nOut[1]: 4\n"), @r#"
    python
      step "add(1, 2)"
      shown, step 0: prints "4"
    "#);
}

#[test]
fn a_script_and_the_block_below_it_are_input_and_output() {
    assert_snapshot!(check_made("Wrong total\n\n```python\nfrom calc import add\nprint(add(1, 2))\n```\n\nThis prints:\n```\n4\n```\nbut it should print `3`.\n"), @r#"
    python
      step "from calc import add\nprint(add(1, 2))"
      wrong, any: prints "4"
      right, any: prints "3"
    "#);
}

#[test]
fn comments_behind_statements_are_claims() {
    assert_snapshot!(check_made("Sums\n\n```python\nadd(1, 2)  # returns 4, should be 3\nadd(0, 0)  # ZeroDivisionError: division by zero\n```\n"), @r#"
    python
      step "add(1, 2)  # returns 4, should be 3\nadd(0, 0)  # ZeroDivisionError: division by zero"
      right, step 0 line 1: prints "3"
      wrong, step 0 line 1: prints "4"
      wrong, step 0 line 2: raises [ZeroDivisionError] division by zero
    "#);
}

#[test]
fn calls_in_the_prose_become_steps() {
    assert_snapshot!(check_made("Sums of text\n\n`add('1', '2')` raises a `TypeError: bad operand` instead of giving '12'.\n"), @r#"
    python
      step "add('1', '2')"
      wrong, any: raises [TypeError] bad operand
    "#);
}

#[test]
fn what_the_prose_binds_comes_before_the_calls_that_use_it() {
    assert_snapshot!(check_made("`add(*pair, key=1)` is wrong\n\nAfter `pair = [range(2), 'b']`, `add(*pair, key=1)` gives `'0'`. I expected `'1'`.\n\n(with `from calc import add`, `key=1` or not)\n"), @r#"
    python
      step "pair = [range(2), 'b']"
      step "from calc import add"
      step "add(*pair, key=1)"
      shown, any: prints "'0'"
      right, any: prints "'1'"
      shown, any: prints "key=1"
    "#);
}

#[test]
fn a_string_that_reads_like_a_call_is_a_value() {
    assert_snapshot!(check_made("Unexpected result\n\nAfter `s = 'insert into foo(a, b)'`, `calc.format(s)` gives `'insert into foo(a,b)'`. I expected `'insert into foo(a, b)'`.\n\n(with `import calc`)\n"), @r#"
    python
      step "s = 'insert into foo(a, b)'"
      step "import calc"
      step "calc.format(s)"
      shown, any: prints "'insert into foo(a,b)'"
      right, any: prints "'insert into foo(a, b)'"
    "#);
}

#[test]
fn files_and_command_lines_become_one_check() {
    assert_snapshot!(check_made("Linter is silent\n\n`a.py`:\n```python\nx = 1\n```\n\n### Command used\n\n```shell\npip install calc\ncalc-lint a.py --strict\n```\n\n### Output\n\n```\na.py:1:0: C1: odd name\n```\n\n### Expected behavior\n\n```\na.py:1:0: C1: odd name\na.py:1:4: C2: odd value\n```\n"), @r#"
    shell "calc-lint a.py --strict"
      file a.py
      wrong, any: prints "a.py:1:0: C1: odd name"
      right, any: prints "a.py:1:0: C1: odd name\na.py:1:4: C2: odd value"
    "#);
}

#[test]
fn tests_shown_without_a_command_are_run() {
    assert_snapshot!(check_made("Crash in a test\n\n```python\ndef test_a():\n    assert 1\n```\n\n```\ntest_x.py::test_a\nINTERNALERROR> Traceback (most recent call last):\nINTERNALERROR>   File \"m.py\", line 5, in w\nINTERNALERROR> RuntimeError: gone\n```\n"), @r#"
    shell "python -m pytest 'test_x.py'"
      file test_x.py
      shown, any: prints "test_x.py::test_a"
      shown, any: raises INTERNALERROR>[RuntimeError] gone
    python
      step "def test_a():\n    assert 1"
      wrong, any: prints "test_x.py::test_a"
      shown, any: raises INTERNALERROR>[RuntimeError] gone
    "#);
}

#[test]
fn a_snippet_that_deletes_carries_a_warning() {
    assert_snapshot!(check_made("Cleaning fails\n\n```python\nimport shutil\nshutil.rmtree('/tmp/x')\n```\n\n`OSError: busy` is raised.\n"), @r#"
    python
      step "import shutil\nshutil.rmtree('/tmp/x')"
      wrong, any: raises [OSError] busy
      ! This check deletes or moves files: shutil.rmtree('/tmp/x')
    "#);
}

#[test]
fn prose_without_anything_to_run_makes_no_check() {
    assert_snapshot!(check_made("Please support TOML\n\nThat would be nice.\n"), @"");
}

#[test]
fn code_with_a_backtick_is_read_between_two() {
    assert_snapshot!(check_made("Wrong quoting\n\n`` quote('`') `` gives `` '`' `` and should give `` '\\\\`' ``.\n"), @r#"
    python
      step "quote('`')"
      shown, any: prints "'`'"
      right, any: prints "'\\\\`'"
    "#);
}

#[test]
fn a_text_cut_off_anywhere_is_read() {
    let issue = "Añd (f(\n\n`f(1)` — `g(` instead of `3`. It should be 4, not é\n\n```py\nf('ü')  # 1, should be é\n```\n\n>>> f(\n... 1)\n\n    In [1]: é\n    Out[1]: 2\n\n~~~\nTraceback (most recent call last):\n  File \"é.py\", line 1, in f\nValueError: é\n";
    for (at, _) in issue.char_indices() {
        for part in [&issue[..at], &issue[at..]] {
            let made = made(part);
            assert!(made.iter().all(|check| !check.claims.is_empty()), "{part}");
        }
    }
}

#[test]
fn packages_are_those_a_user_imports() {
    let paths = [
        "setup.py",
        "src/calc/__init__.py",
        "src/_calc/__init__.py",
        "tests/__init__.py",
        "calc/sub/__init__.py",
    ];
    let paths: Vec<RepoPath> = paths.iter().map(|path| RepoPath::new(*path).unwrap()).collect();
    let project = project_in_use(&paths, &|_| None);
    assert_eq!(project.language, SourceLanguage::Python);
    assert_eq!(project.packages, ["calc", "_calc"]);
}

#[test]
fn a_marker_that_could_be_guessed_is_refused() {
    assert_snapshot!(Marker::new("abc").unwrap_err().to_string(), @"'abc' cannot mark records; give 16 to 64 letters and digits drawn at random");
}
