//! How runs of programs and names of tests are written into the log.

use magis_core::{ExcerptedOutput, ProgramRun, TestName};
use magis_evidence::commands::shell_line;
use magis_evidence::results::TestId;
use magis_sandbox::{Captured, End, Outcome};

/// Returns the name of a test: its file, its group and its own, as far as the runner tells them.
pub(crate) fn test_name(id: &TestId) -> TestName {
    let file = id.file.as_deref().unwrap_or_default();
    let parts = [file, &id.group, &id.name];
    let there: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    TestName(there.join("::"))
}

/// Returns whether the name of a test tells its file, as a path or a dotted name; of Node's own runner, say, none does.
pub(crate) fn tells_file(name: &TestName) -> bool {
    let group = name.0.rsplit_once("::").map(|(group, _)| group);
    group.is_some_and(|group| group.contains('.') && !group.contains(' '))
}

/// Returns whether a person's word for a test means this one. Where the name of the test tells no file, that of the word is of no account.
pub(crate) fn is_meant(name: &TestName, word: &str) -> bool {
    let Some((file, rest)) = word.split_once("::") else {
        // Some runners have a file as the beginning of a dotted name.
        let module = word
            .strip_suffix(".py")
            .map(|path| format!("{}.", path.replace('/', ".")));
        return name.0 == word
            || name.0.starts_with(&format!("{word}::"))
            || name.0.ends_with(&format!("::{word}"))
            || module.is_some_and(|module| name.0.starts_with(&module))
            || word.contains('.') && is_dotted_part(&name.0.replace("::", "."), word);
    };
    // Reports give a class as a dotted name, and a parameter in brackets.
    let last = rest.rsplit("::").next().unwrap_or(rest);
    let own = name.0.rsplit("::").next().unwrap_or(&name.0);
    let module = file.trim_end_matches(".py").replace('/', ".");
    let same_file = name.0.starts_with(file) || name.0.contains(module.as_str()) || !tells_file(name);
    let class = rest.rsplit_once("::").map(|(class, _)| class.replace("::", "."));
    let group = name.0.strip_suffix(own).unwrap_or_default().replace("::", ".");
    let group = group.trim_end_matches('.');
    // A runner may not tell the class.
    let is_told = tells_file(name) && !group.ends_with(module.as_str());
    let same_class = class.is_none_or(|class| !is_told || group == class || group.ends_with(&format!(".{class}")));
    same_file && same_class && (own == last || own.split('[').next() == Some(last))
}

/// Returns whether a dotted name is that of a test, or begins with that of its class, or ends with its class and its own.
fn is_dotted_part(name: &str, word: &str) -> bool {
    name == word || name.starts_with(&format!("{word}.")) || name.ends_with(&format!(".{word}"))
}

/// Returns the record of a run.
pub(crate) fn program_run(words: &[String], folder: &str, outcome: &Outcome) -> ProgramRun {
    ProgramRun {
        command: shell_line(words),
        folder: folder.to_owned(),
        end: outcome.end.to_string(),
        status: match outcome.end {
            End::Exited(status) => Some(status),
            _ => None,
        },
        took_ms: u32::try_from(outcome.took.as_millis()).unwrap_or(u32::MAX),
        stdout: excerpt(&outcome.stdout),
        stderr: excerpt(&outcome.stderr),
        refused: outcome.refused.iter().map(ToString::to_string).collect(),
    }
}

fn excerpt(captured: &Captured) -> ExcerptedOutput {
    ExcerptedOutput::of(&captured.text(), captured.left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_meant_by_each_of_the_names_that_people_and_runners_give_it() {
        let of_unittest = TestName("tests.test_total.Total::test_both".to_owned());
        for word in [
            "tests.test_total.Total.test_both",
            "tests.test_total.Total",
            "Total.test_both",
            "test_both",
            "tests/test_total.py",
            "tests/test_total.py::Total::test_both",
        ] {
            assert!(is_meant(&of_unittest, word), "{word}");
        }
        for word in [
            "tests.test_total.Total.test_one",
            "tests/test_total.py::Other::test_both",
            "tests.test_tot",
            "otal.test_both",
            "both",
            "tests",
        ] {
            assert!(!is_meant(&of_unittest, word), "{word}");
        }
    }
}
