//! Tests in Rust: code that asserts by `assert_eq!`, run by Cargo.

use super::WrittenEnd;
use super::call::arguments;
use magis_syntax::{SourceLanguage, top_statements};

/// Where the code of a test is run from: each of its lines stands one further down there.
const LIBRARY: &str = "src/lib.rs:";

/// Returns what each assertion compares with, empty for one that compares nothing; none where nothing is asserted, something else than a value, or it does not
/// parse.
pub(super) fn expected(script: &str) -> Option<Vec<String>> {
    top_statements(SourceLanguage::Rust, script)?;
    let mut found = Vec::new();
    for (name, arguments) in assertions(script) {
        found.push(match (name, arguments.as_slice()) {
            ("assert_eq", [first, second, ..]) if is_literal(first) && !is_literal(second) => plain(first),
            ("assert_eq", [_, second, ..]) => plain(second),
            ("assert", [condition, ..]) => {
                let (_, value) = condition.split_once("==").unwrap_or((condition, ""));
                plain(value.trim())
            }
            _ => return None,
        });
    }
    (!found.is_empty()).then_some(found)
}

/// Reads how a test ended that failed: the panic says where, and below it why.
pub(super) fn end(stderr: &str, script: &str) -> WrittenEnd {
    let mut lines = stderr.lines();
    let place = lines.find_map(|line| line.split_once(" panicked at "));
    let (Some((_, place)), Some(said)) = (place, lines.next()) else {
        // What a test hands on, else the first error of the compiler.
        if let Some(error) = stderr.lines().find_map(|line| line.strip_prefix("Error: ")) {
            return WrittenEnd::Raised {
                kind: error.to_owned(),
                message: String::new(),
                by_the_test: false,
                line: String::new(),
                is_own_fault: false,
            };
        }
        let error = stderr.lines().find(|line| line.starts_with("error"));
        return error.map_or_else(
            || WrittenEnd::broken(stderr),
            |error| WrittenEnd::Broken(error.to_owned()),
        );
    };
    let number = place.strip_prefix(LIBRARY).and_then(|rest| rest.split(':').next());
    let number: Option<usize> = number.and_then(|number| number.parse().ok());
    let line = number.and_then(|number| script.lines().nth(number.checked_sub(2)?));
    let line = line.unwrap_or_default().trim();
    // An assertion may have words of its own.
    let asserts = said.starts_with("assertion ") || line.starts_with("assert");
    WrittenEnd::Raised {
        kind: match said {
            _ if asserts => "AssertionError".to_owned(),
            "" => "a panic without words".to_owned(),
            said => said.to_owned(),
        },
        message: String::new(),
        by_the_test: false,
        line: line.to_owned(),
        is_own_fault: false,
    }
}

/// Returns the assertions of some code: the name of each and what it is given.
fn assertions(script: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
    script.match_indices("assert").filter_map(|(at, _)| {
        let (name, behind) = script[at..].split_once("!(")?;
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        is_name.then(|| Some((name, arguments(behind)?.0))).flatten()
    })
}

fn is_literal(value: &str) -> bool {
    let bare = value.trim_start_matches(['&', '-']);
    let is_written = ["Some(", "None", "Ok(", "Err(", "vec![", "true", "false"];
    bare.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '"' | '\'' | '['))
        || is_written.iter().any(|head| bare.starts_with(head))
}

/// Returns a value without what only makes another type of it.
fn plain(value: &str) -> String {
    let mut value = value.trim_start_matches('&').to_owned();
    for made in [".to_string()", ".to_owned()", ".into()"] {
        value = value.replace(made, "");
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_with_is_the_value_that_is_written_out() {
        let check = |script: &str| expected(script).map(|all| all.join(" | "));
        assert_eq!(check("assert_eq!(add(1, 2), 3);").as_deref(), Some("3"));
        assert_eq!(
            check("assert_eq!(Some(\"a\"), first(&x), \"why\");").as_deref(),
            Some("Some(\"a\")")
        );
        assert_eq!(
            check("fn main() {\n    let s = f();\n    assert_eq!(s, \"b, c\".to_string());\n    assert!(s == \"d\");\n    assert!(g());\n}").as_deref(),
            Some("\"b, c\" | \"d\" | ")
        );
        assert_eq!(check("assert_ne!(add(1, 2), -1);"), None, "no value is asserted");
        assert_eq!(check("println!(\"{}\", add(1, 2));"), None, "nothing is asserted");
        assert_eq!(check("assert_eq!(add(1 2), 3);\nlet = 1;"), None, "it does not parse");
    }

    #[test]
    fn an_assertion_that_fails_is_told_by_its_line_and_a_panic_by_its_words() {
        let script = "use sums::add;\nassert_eq!(add(1, 2), 3);\n";
        let read = |stderr: &str| match end(stderr, script) {
            WrittenEnd::Raised { kind, line, .. } => (kind, line),
            WrittenEnd::Broken(what) => (what, String::new()),
            WrittenEnd::Passed | WrittenEnd::TimedOut => (String::new(), String::new()),
        };
        let told = |kind: &str, line: &str| (kind.to_owned(), line.to_owned());
        let failed = "\nthread 'test_issue' (7) panicked at src/lib.rs:3:1:\nassertion `left == right` failed\n  left: -1\n right: 3\nnote: run with `RUST_BACKTRACE=1`\n";
        assert_eq!(read(failed), told("AssertionError", "assert_eq!(add(1, 2), 3);"));
        let with_words = failed.replace("assertion `left == right` failed", "the sum is wrong");
        assert_eq!(read(&with_words), told("AssertionError", "assert_eq!(add(1, 2), 3);"));
        let handed_on = "Error: ParseError { at: 3 }\nerror: test failed, to rerun pass `--lib`\n";
        assert_eq!(read(handed_on), told("ParseError { at: 3 }", ""));
        let inside = "\nthread 'test_issue' panicked at project/src/lib.rs:9:5:\nno such unit\n";
        assert_eq!(read(inside), told("no such unit", ""));
        let broken = "error[E0425]: cannot find function `ad` in this scope\n --> src/lib.rs:3:12\nerror: could not compile `x` (lib test) due to 1 previous error\n";
        assert_eq!(read(broken).0, "error[E0425]: cannot find function `ad` in this scope");
    }
}
