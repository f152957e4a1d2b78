//! Answers made to fit a hole.

use crate::path;
use magis_syntax::fit_infill;

const BEFORE: &str = "class A:\n    def f(self, x):\n";
const HOLE: &str = "        return x\n";
const AFTER: &str = "\n    def g(self):\n        return 1\n";

fn check(answer: &str, expected: Option<&str>) {
    let fitted = fit_infill(&path("a.py"), BEFORE, answer, AFTER, HOLE);
    assert_eq!(fitted.as_deref(), expected, "{answer}");
}

#[test]
fn an_answer_is_cut_where_the_text_goes_on() {
    check("        return x + 1\n", Some("        return x + 1\n"));
    check("        return x + 1", Some("        return x + 1\n"));
    check(
        "        return x + 1\n\n    def g(self):\n        return 1\n",
        Some("        return x + 1\n"),
    );
    check(
        "        return x + 1\n\n    def other(self):\n        return 2\n",
        Some("        return x + 1\n"),
    );
    check(
        "        return x + 1\n\ndef other():\n    return 2\n",
        Some("        return x + 1\n"),
    );
    check(
        "        return x + 1\n\n    def g(self):",
        Some("        return x + 1\n"),
    );
    check(
        "        a = '''\nb\n'''\n        return a\n",
        Some("        a = '''\nb\n'''\n        return a\n"),
    );
    check("        return f(\n    x\n)\n", Some("        return f(\n    x\n)\n"));
    check(" \n\n", None);
    check("", None);
    check("    def g(self):\n        return 1\n", None);
}

#[test]
fn an_answer_is_indented_as_the_hole() {
    check("return x + 1\n", Some("        return x + 1\n"));
    check("y = x\n        return y\n", Some("        y = x\n        return y\n"));
    check("y = x\nreturn y\n", Some("        y = x\n        return y\n"));
    check(
        "if x:\n    return y\nreturn x\n",
        Some("        if x:\n            return y\n        return x\n"),
    );
    check(
        "if x:\n            return y\n        return x\n",
        Some("        if x:\n            return y\n        return x\n"),
    );
    check(
        "                y = x\n        return y\n",
        Some("        y = x\n        return y\n"),
    );
    check(
        "                if x:\n                    y = x\n",
        Some("        if x:\n            y = x\n"),
    );
    check("    y = x\n    return y\n", Some("        y = x\n        return y\n"));
    check("    def f(self, x):\n        return y\n", Some("        return y\n"));
}

#[test]
fn last_lines_go_until_the_text_parses() {
    check(
        "        y = x\n        return y\n        foo(\n",
        Some("        y = x\n        return y\n"),
    );
    check("        y = x\n        if y:\n", Some("        y = x\n"));
    check("        y = (\n", Some("        y = (\n"));
}

#[test]
fn a_hole_of_other_languages_is_cut_by_what_follows_and_by_parsing() {
    let fit = |answer: &str| {
        fit_infill(
            &path("a.rs"),
            "fn f(x: u8) -> u8 {\n",
            answer,
            "}\n\nfn g() {}\n",
            "    x\n",
        )
    };
    assert_eq!(fit("x + 1\n}\n").as_deref(), Some("    x + 1\n"));
    assert_eq!(
        fit("    if x > 1 {\n        return 2;\n    }\n    x\n}\n\nfn g() {}\n").as_deref(),
        Some("    if x > 1 {\n        return 2;\n    }\n    x\n")
    );
    assert_eq!(fit("    x\n}\n\nfn h() {\n    1\n").as_deref(), Some("    x\n"));
    let text = fit_infill(&path("a.txt"), "a\n", "b\nlast line\nc\n", "last line\n", "x\n");
    assert_eq!(text.as_deref(), Some("b\n"));
}

#[test]
fn a_line_that_returns_deeper_inside_is_no_end() {
    let before = "def f(x):\n    y = 1\n";
    let fitted = fit_infill(
        &path("a.py"),
        before,
        "    if x:\n        return y\n    y = 2\n    return y\n",
        "    return y\n",
        "    y = 3\n",
    );
    assert_eq!(fitted.as_deref(), Some("    if x:\n        return y\n    y = 2\n"));
}

#[test]
fn blank_lines_and_line_ends_stay_as_they_were() {
    let fitted = fit_infill(&path("a.py"), "a = 1\r\n", "b = 2\n", "c = 3\r\n", "\r\nb = 1\r\n\r\n");
    assert_eq!(fitted.as_deref(), Some("\r\nb = 2\r\n\r\n"));
    let last = fit_infill(&path("a.py"), "a = 1\n", "b = 2\n", "", "b = 1");
    assert_eq!(last.as_deref(), Some("b = 2"));
}
