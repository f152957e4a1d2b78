//! The test of an error that an issue wants and that does not come.

use super::WrittenTest;
use super::python::OWN_FAULTS;

/// The line of a test that says that no error came.
pub(super) const NONE_IS_RAISED: &str = "raise AssertionError(\"no error is raised\")";

/// Makes a test of lines whose last statement should raise an error; none where it calls nothing that the issue names, so that it may be any call.
pub(super) fn test_of(package: &str, lines: &str, issue: &str) -> Option<WrittenTest> {
    let all: Vec<&str> = lines.lines().collect();
    let begins = |line: &&str| !line.starts_with([' ', '\t', ')', ']', '}', '#']) && !line.is_empty();
    let last = all.iter().rposition(begins)?;
    let (before, statement) = all.split_at(last);
    let called = called(statement.first()?)?;
    let name = called.rsplit('.').next().unwrap_or(called).to_lowercase();
    if !issue.to_lowercase().contains(&name) {
        return None;
    }
    // An error that only says that the test itself is wrong is none of those that are wanted, unless the issue names it.
    let own: Vec<&str> = OWN_FAULTS.into_iter().filter(|kind| !issue.contains(kind)).collect();
    let mut script = format!("import {package}\n\n");
    for line in before {
        script.push_str(line);
        script.push('\n');
    }
    script.push_str("try:\n");
    for line in statement {
        script.push_str(&format!("    {line}\n"));
    }
    script.push_str(&format!(
        "except ({},):\n    raise\nexcept Exception:\n    pass\nelse:\n    {NONE_IS_RAISED}\n",
        own.join(", ")
    ));
    Some(WrittenTest {
        script,
        calls: Some(called.to_owned()),
    })
}

/// Returns what a statement calls, itself or to bind a name: `calc.add` of `sum = calc.add(1, 2)`.
fn called(statement: &str) -> Option<&str> {
    let (callee, _) = statement.split_once('(')?;
    let callee = callee.rsplit_once('=').map_or(callee, |(_, callee)| callee).trim();
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    (!callee.is_empty() && callee.chars().all(is_name)).then_some(callee)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUE: &str = "Raise an error when a Shelf is named with a dot";

    fn check(lines: &str) -> Option<(String, String)> {
        let test = test_of("store", lines, ISSUE)?;
        Some((test.calls?, test.script))
    }

    #[test]
    fn the_last_statement_is_the_one_that_should_raise() {
        let (calls, script) = check("root = store.Root()\nshelf = store.Shelf(\n    'a.b',\n)").unwrap();
        assert_eq!(calls, "store.Shelf");
        assert!(
            script.starts_with(
                "import store\n\nroot = store.Root()\ntry:\n    shelf = store.Shelf(\n        'a.b',\n    )\nexcept ("
            ),
            "{script}"
        );
        assert!(!ISSUE.contains("TypeError") && script.contains("TypeError"), "{script}");
    }

    #[test]
    fn a_call_that_the_issue_does_not_name_is_no_test() {
        assert_eq!(check("root = store.Root('a.b')"), None);
        assert_eq!(check("name = 'a.b'"), None);
    }
}
