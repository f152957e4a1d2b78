//! Tests in Python: scripts that end with `assert`.

use super::WrittenEnd;
use magis_evidence::reproduction::{SCRIPT_FILE, tracebacks};

/// What says that the test itself is at fault.
pub(super) const OWN_FAULTS: [&str; 7] = [
    "SyntaxError",
    "IndentationError",
    "NameError",
    "ImportError",
    "ModuleNotFoundError",
    "AttributeError",
    "TypeError",
];

/// Returns what each assertion compares with, empty for one that compares nothing; none where nothing is asserted.
pub(super) fn expected(script: &str) -> Option<Vec<String>> {
    let asserts = script.lines().map(str::trim).filter(|line| line.starts_with("assert "));
    let expected = |line: &str| {
        let expected = line.split_once("==").map_or("", |(_, expected)| expected);
        expected.split(", \"").next().unwrap_or(expected).trim().to_owned()
    };
    let all: Vec<String> = asserts.map(expected).collect();
    (!all.is_empty()).then_some(all)
}

/// Reads how a test ended that failed.
pub(super) fn end(stderr: &str, script: &str) -> WrittenEnd {
    let Some(last) = tracebacks(stderr).pop() else {
        return WrittenEnd::broken(stderr);
    };
    let own = last.frames.iter().rev().find(|frame| frame.path.ends_with(SCRIPT_FILE));
    let line = own.and_then(|frame| script.lines().nth(frame.line.saturating_sub(1) as usize));
    let kind = last.exception.name();
    WrittenEnd::Raised {
        kind: kind.to_owned(),
        message: last.exception.message.clone(),
        by_the_test: last
            .frames
            .last()
            .is_some_and(|frame| frame.path.ends_with(SCRIPT_FILE)),
        line: line.unwrap_or_default().trim().to_owned(),
        is_own_fault: OWN_FAULTS.contains(&kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_fails_for_the_reason_of_the_issue_or_is_not_kept() {
        let stderr = "Traceback (most recent call last):\n  File \"/x/test_issue.py\", line 2, in <module>\n    assert f() == 1\nAssertionError\n";
        let read = end(stderr, "from a import f\nassert f() == 1\n");
        assert_eq!(read.reason("f gives 2").as_deref(), Some("assertf()==1"));
        let stderr = stderr.replace("AssertionError", "NameError: name 'f' is not defined");
        assert_eq!(end(&stderr, "x").reason("f gives 2"), None);
    }

    #[test]
    fn a_test_that_calls_wrongly_is_not_kept_for_the_name_of_its_exception() {
        let called = "Traceback (most recent call last):\n  File \"/x/FILE\", line 1, in <module>\n    f(1)\nTypeError: f() missing 1 required positional argument: 'b'\n".replace("FILE", SCRIPT_FILE);
        let deeper = called.replace("TypeError: f() missing 1 required positional argument: 'b'", "  File \"/x/a.py\", line 3, in f\n    return a + b\nTypeError: unsupported operand type(s) for +: 'int' and 'str'");
        let reason = |stderr: &str, issue: &str| end(stderr, "f(1)").reason(issue);
        let named = "f raises a TypeError";
        assert_eq!(reason(&called, named), None);
        assert_eq!(reason(&deeper, named).as_deref(), Some("TypeError"));
        let shown = format!("It fails\n\n```\n{deeper}```\n");
        assert_eq!(reason(&deeper, &shown).as_deref(), Some("TypeError"));
        assert_eq!(reason(&called, &shown), None);
    }
}
