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
