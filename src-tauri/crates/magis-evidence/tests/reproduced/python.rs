//! On Python projects.

use super::SmallProject;
use insta::assert_snapshot;

const IGNORED: &str = "The setting `width` is ignored\n\nsettings.py:\n\n```python\nwidth = 3\nheight = 2\n```\n\n```sh\n$ python3 -m calc settings.py\n```\n";

/// Returns the text of a program that prints what an expression makes of the settings.
fn program(shown: &str) -> String {
    format!(
        "import pathlib, sys\nsettings = dict(width=1)\nexec(pathlib.Path(sys.argv[1]).read_text(), settings)\nprint('area', {shown})\n"
    )
}

fn check(changed: &str) -> String {
    let project = SmallProject::new(&[
        ("calc/__init__.py", ""),
        ("calc/__main__.py", &program("settings['height']")),
    ]);
    project.verdict(IGNORED, "calc/__main__.py", &program(changed))
}

#[test]
fn a_setting_that_is_said_to_be_ignored_is_run_with_and_without() {
    assert_snapshot!(check("settings['width'] * settings['height']"), @"WrongOutputGone; Gone { grade: WrongOutputGone, gone: 1, of: 1 }");
    assert_snapshot!(check("settings['height'] + 1"), @"WrongOutputGone; Present");
}

#[test]
fn a_program_that_fails_does_not_follow_a_setting() {
    let said = check("1 / 0");
    assert!(
        said.contains("OtherError") && said.contains("ZeroDivisionError"),
        "{said}"
    );
}

#[test]
fn a_function_that_prose_only_names_is_no_example() {
    let project = SmallProject::new(&[("calc.py", "def load():\n    return 1\n")]);
    let issue = "It is slow\n\n`load()` takes long, and so do `calc.load()` and `self.read(path).close()`.\n";
    assert_eq!(project.checks(issue), []);
    assert_eq!(
        project
            .checks(&issue.replace("calc.load()", "calc.load(1).close()"))
            .len(),
        1
    );
}

#[test]
fn a_value_that_is_stated_by_how_it_is_made_is_no_call() {
    let wrong = "class Span:\n    def __init__(self, days):\n        self.days = days\n\n    def __repr__(self):\n        return f'Span({self.days})'\n\n\ndef span(text):\n    return Span(len(text))\n";
    let project = SmallProject::new(&[("calc.py", wrong)]);
    let issue = "Wrong result of `span('2d')`\n\n`span('2d')` gives `Span(2)`. I expected `Span(1)`.\n";
    assert_eq!(project.first_check(issue).steps, ["span('2d')"]);
    let itself = "Wrong repr\n\n`Span('2d')` prints `Span('3d')`. I expected `Span('2d')`.\n";
    assert_eq!(
        project.first_check(itself).steps,
        ["Span('2d')"],
        "what fails is an example"
    );
    let right = wrong.replace("len(text)", "len(text) - 1");
    assert_snapshot!(project.verdict(issue, "calc.py", &right), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 1, of: 1 }");
}

#[test]
fn all_that_an_issue_asserts_has_to_hold() {
    let returning = |slug: &str| format!("def slug(text):\n    return {slug}\n");
    let issue = "Wrong slug\n\n```python\nfrom calc import slug\nassert slug('A B') == 'a-b'\nassert slug('A  B') == 'a-b'\n```\n";
    let verdict = |slug: &str| {
        let project = SmallProject::new(&[("calc.py", &returning("text"))]);
        project.verdict(issue, "calc.py", &returning(slug))
    };
    assert_snapshot!(verdict("'-'.join(text.lower().split())"), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 2, of: 2 }");
    assert_snapshot!(verdict("text.lower().replace(' ', '-')"), @r#"ExpectedResult; OtherError { what: "an assertion of the issue still fails" }"#);
}

#[test]
fn the_functions_that_an_example_enters_are_told_with_the_whole_statements_that_never_run() {
    let code = "def add(a, b=0):\n    if a < 0:\n        raise ValueError(\n            'too small',\n            a)\n    else:\n        return a - b\n\n\n\
                def other():\n    pass\n";
    let files = [
        ("calc/__init__.py", code),
        ("setup.py", "from setuptools import setup\nsetup(name='calc')\n"),
    ];
    let project = SmallProject::new(&files);
    let issue = "add gives a wrong sum\n\n```python\n>>> from calc import add\n>>> add(1, 2)\n-1\n```\n\nExpected:\n\n```python\n3\n```\n";
    let observed = project.run(&project.first_check(issue));
    let told: Vec<String> = observed
        .reached()
        .iter()
        .map(|at| format!("{} {} {} {:?}", at.0, at.1, at.2, at.3))
        .collect();
    assert_eq!(told, ["calc/__init__.py 1 add [3, 4, 5]"]);
}
