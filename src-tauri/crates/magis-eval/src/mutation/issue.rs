//! The text of an issue, out of what a snippet gives on the mutated code and what it gave before.
//!
//! It tells what a user sees: which file, line, function or test it is about never stands there, unless a traceback is asked for.

use super::shuffle::Shuffle;
use magis_syntax::SourceLanguage;
use serde::{Deserialize, Serialize};

/// How an issue tells of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueStyle {
    /// A snippet, what it gives and what is expected.
    Snippet,
    /// In sentences, with the code among them.
    Words,
    /// A snippet and the traceback it ends with; one that ends with none is told as a snippet.
    Traceback,
    /// One of them, drawn by the seed; of tracebacks the last line only.
    Mixed,
}

/// Code of a user that shows something wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snippet {
    /// Statements that come first, imports before all others.
    pub setup: Vec<String>,
    /// The expression whose value is shown.
    pub show: String,
}

/// What came of a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observed {
    /// The value, as the language writes it.
    Value(String),
    Raised {
        /// The exception's type, without its module.
        kind: String,
        /// The traceback's last line.
        last: String,
        traceback: String,
    },
}

/// The longest value that an issue shows, in characters.
const LONGEST_VALUE: usize = 700;
/// The longest expression that a title shows, in characters.
const LONGEST_IN_TITLE: usize = 56;
/// The longest setup that is told in a sentence, in characters.
const LONGEST_IN_WORDS: usize = 160;

/// Writes an issue; none where both are the same, or a value is too long or another one in each run.
pub fn write_issue(
    language: SourceLanguage,
    style: IssueStyle,
    snippet: &Snippet,
    (actual, expected): (&Observed, &Observed),
    draw: &mut Shuffle,
) -> Option<String> {
    if actual.told() == expected.told() || [actual, expected].iter().any(|one| !one.can_be_shown()) {
        return None;
    }
    let drawn = match style {
        IssueStyle::Mixed => [
            IssueStyle::Snippet,
            IssueStyle::Snippet,
            IssueStyle::Words,
            IssueStyle::Traceback,
        ][draw.below(4)],
        told => told,
    };
    let frames = style == IssueStyle::Traceback;
    let body = match drawn {
        IssueStyle::Words if snippet.fits_a_sentence() => words(snippet, actual, expected, draw),
        IssueStyle::Traceback | IssueStyle::Snippet | IssueStyle::Words | IssueStyle::Mixed
            if language == SourceLanguage::Python =>
        {
            session(snippet, actual, expected, frames, draw)
        }
        IssueStyle::Traceback | IssueStyle::Snippet | IssueStyle::Words | IssueStyle::Mixed => {
            listing(language, snippet, actual, expected, draw)
        }
    };
    Some(format!("{}\n\n{body}\n", title(snippet, actual, expected, draw)))
}

impl Observed {
    fn told(&self) -> (&str, &str) {
        match self {
            Self::Value(value) => ("", value),
            Self::Raised { kind, last, .. } => (kind, last),
        }
    }

    fn can_be_shown(&self) -> bool {
        let text = match self {
            Self::Value(value) => value,
            Self::Raised { last, .. } => last,
        };
        !text.contains(" at 0x") && text.chars().count() <= LONGEST_VALUE
    }
}

impl Snippet {
    /// Returns what of the setup is more than an import.
    fn steps(&self) -> Vec<&str> {
        let is_import = |line: &str| {
            line.starts_with("import ")
                || line.starts_with("from ")
                || line.starts_with("use ")
                || line.contains("require(")
        };
        self.setup
            .iter()
            .map(String::as_str)
            .filter(|line| !is_import(line))
            .collect()
    }

    fn fits_a_sentence(&self) -> bool {
        let steps = self.steps();
        let length: usize = steps.iter().map(|step| step.len()).sum();
        steps.len() <= 3 && length <= LONGEST_IN_WORDS && !steps.iter().any(|step| step.contains('\n'))
    }

    /// Returns the function that is called, without what it is found in.
    fn called(&self) -> &str {
        let head = self.show.split('(').next().unwrap_or(&self.show);
        let name = head.rsplit(['.', ' ', '[']).next().unwrap_or(head);
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_name { name } else { &self.show }
    }

    fn as_session(&self) -> String {
        let mut lines = Vec::new();
        for statement in self.setup.iter().chain([&self.show]) {
            let mut inner = statement.lines();
            lines.extend(inner.next().map(|first| format!(">>> {first}")));
            let rest: Vec<String> = inner.map(|line| format!("... {line}").trim_end().to_owned()).collect();
            let block = !rest.is_empty() && statement != &self.show;
            lines.extend(rest);
            if block {
                lines.push("...".to_owned());
            }
        }
        lines.join("\n")
    }
}

/// Returns code that stands in a sentence.
fn inline(code: &str) -> String {
    if code.contains('`') {
        format!("`` {code} ``")
    } else {
        format!("`{code}`")
    }
}

fn title(snippet: &Snippet, actual: &Observed, expected: &Observed, draw: &mut Shuffle) -> String {
    let is_short = snippet.show.chars().count() <= LONGEST_IN_TITLE && !snippet.show.contains('\n');
    let what = inline(if is_short { &snippet.show } else { snippet.called() });
    let short = |value: &str| value.chars().count() <= 24 && !value.contains(['\n', '`']);
    match (actual, expected) {
        (Observed::Raised { kind, .. }, Observed::Value(_)) => match draw.below(2) {
            0 => format!("{what} raises {kind}"),
            _ => format!("{kind} from {what}"),
        },
        (Observed::Value(_), Observed::Raised { kind, .. }) => format!("{what} does not raise {kind}"),
        (Observed::Raised { kind, .. }, Observed::Raised { kind: other, .. }) if kind == other => {
            format!("{what} raises {kind} with a wrong message")
        }
        (Observed::Raised { kind, .. }, Observed::Raised { kind: other, .. }) => {
            format!("{what} raises {kind} instead of {other}")
        }
        (Observed::Value(now), Observed::Value(then))
            if is_short && snippet.steps().is_empty() && short(now) && short(then) =>
        {
            format!("{what} returns {now} instead of {then}")
        }
        (Observed::Value(_), Observed::Value(_)) => match draw.below(3) {
            0 => format!("Wrong result of {what}"),
            1 => format!("{what} gives a wrong result"),
            _ => format!("Unexpected result from {what}"),
        },
    }
}

fn session(snippet: &Snippet, actual: &Observed, expected: &Observed, frames: bool, draw: &mut Shuffle) -> String {
    let code = snippet.as_session();
    let shown = match actual {
        Observed::Value(value) => value,
        Observed::Raised { traceback, .. } if frames => traceback,
        Observed::Raised { last, .. } => last,
    };
    let wanted = match expected {
        Observed::Value(value) if value == "None" && matches!(actual, Observed::Raised { .. }) => {
            "No error.".to_owned()
        }
        Observed::Value(value) => format!("```\n{value}\n```"),
        Observed::Raised { last, .. } => {
            format!("It should raise {}.", inline(last.lines().next().unwrap_or(last)))
        }
    };
    match draw.below(3) {
        0 => format!("```pycon\n{code}\n{shown}\n```\n\nExpected:\n\n{wanted}"),
        1 => format!("To reproduce:\n\n```pycon\n{code}\n```\n\nActual:\n\n```\n{shown}\n```\n\nExpected:\n\n{wanted}"),
        _ => {
            format!("This is what I get:\n\n```pycon\n{code}\n{shown}\n```\n\nand this is what I expected:\n\n{wanted}")
        }
    }
}

/// Code as it stands in a file, with what its last line gives.
fn listing(
    language: SourceLanguage,
    snippet: &Snippet,
    actual: &Observed,
    expected: &Observed,
    draw: &mut Shuffle,
) -> String {
    let code: Vec<&str> = snippet
        .setup
        .iter()
        .chain([&snippet.show])
        .map(String::as_str)
        .collect();
    let told = |one: &Observed| match one {
        Observed::Value(value) => value.clone(),
        Observed::Raised { last, .. } => last.clone(),
    };
    let told = |one: &Observed| inline(&told(one));
    let (fence, code, now, then) = (language.fence(), code.join("\n"), told(actual), told(expected));
    match draw.below(2) {
        0 => format!("```{fence}\n{code}\n```\n\nActual: {now}\n\nExpected: {then}"),
        _ => format!("With\n\n```{fence}\n{code}\n```\n\nI get {now}, but it should be {then}."),
    }
}

fn words(snippet: &Snippet, actual: &Observed, expected: &Observed, draw: &mut Shuffle) -> String {
    let code = |text: &str| {
        if text.contains('\n') {
            format!("\n```\n{text}\n```\n")
        } else {
            inline(text)
        }
    };
    let steps: Vec<String> = snippet.steps().into_iter().map(code).collect();
    let imports: Vec<&str> = snippet
        .setup
        .iter()
        .map(String::as_str)
        .filter(|line| !snippet.steps().contains(line))
        .collect();
    let after = match steps.as_slice() {
        [] => String::new(),
        steps => format!("After {}, ", steps.join(" and then ")),
    };
    let show = code(&snippet.show);
    let now = match actual {
        Observed::Value(value) => format!("gives {}", code(value)),
        Observed::Raised { last, .. } => format!("fails with {}", code(last)),
    };
    let then = match expected {
        Observed::Value(value) if value == "None" && matches!(actual, Observed::Raised { .. }) => {
            "I expected it to go through".to_owned()
        }
        Observed::Value(value) => format!("I expected {}", code(value)),
        Observed::Raised { kind, .. } => format!("I expected a {kind}"),
    };
    let told = match draw.below(2) {
        0 => format!("{after}{show} {now}. {then}."),
        _ => format!("{after}{show} {now}, where {then}."),
    };
    match imports.as_slice() {
        [] => told,
        imports => format!(
            "{told}\n\n(with {})",
            imports.iter().map(|line| code(line)).collect::<Vec<_>>().join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snippet(setup: &[&str], show: &str) -> Snippet {
        Snippet {
            setup: setup.iter().map(|line| (*line).to_owned()).collect(),
            show: show.to_owned(),
        }
    }

    fn value(text: &str) -> Observed {
        Observed::Value(text.to_owned())
    }

    fn raised() -> Observed {
        Observed::Raised {
            kind: "IndexError".to_owned(),
            last: "IndexError: list index out of range".to_owned(),
            traceback: "Traceback (most recent call last):\n  File \"calc.py\", line 3, in f\nIndexError: list index out of range".to_owned(),
        }
    }

    fn check(style: IssueStyle, snippet: &Snippet, actual: &Observed, expected: &Observed, wanted: &str) {
        let written = write_issue(
            SourceLanguage::Python,
            style,
            snippet,
            (actual, expected),
            &mut Shuffle::new(4),
        )
        .unwrap_or_default();
        assert_eq!(written, wanted);
    }

    #[test]
    fn a_mutated_value_is_told_as_a_session_or_in_words() {
        let slug = snippet(&["from slugs import slugify"], "slugify('a b')");
        let (now, then) = (value("'ab'"), value("'a-b'"));
        check(
            IssueStyle::Snippet,
            &slug,
            &now,
            &then,
            "`slugify('a b')` returns 'ab' instead of 'a-b'\n\nTo reproduce:\n\n```pycon\n>>> from slugs import slugify\n>>> slugify('a b')\n```\n\nActual:\n\n```\n'ab'\n```\n\nExpected:\n\n```\n'a-b'\n```\n",
        );
        check(
            IssueStyle::Words,
            &slug,
            &now,
            &then,
            "`slugify('a b')` returns 'ab' instead of 'a-b'\n\n`slugify('a b')` gives `'ab'`. I expected `'a-b'`.\n\n(with `from slugs import slugify`)\n",
        );
    }

    #[test]
    fn code_with_a_backtick_in_a_mutated_issue_stands_between_two() {
        check(
            IssueStyle::Words,
            &snippet(&[], "quote('`')"),
            &value("'`'"),
            &value(r"'\`'"),
            "`` quote('`') `` gives a wrong result\n\n`` quote('`') `` gives `` '`' ``. I expected `` '\\`' ``.\n",
        );
    }

    #[test]
    fn a_mutations_place_stands_in_a_traceback_only() {
        let call = snippet(&[], "f([])");
        let told = |style| {
            write_issue(
                SourceLanguage::Python,
                style,
                &call,
                (&raised(), &value("0")),
                &mut Shuffle::new(1),
            )
            .unwrap_or_default()
        };
        assert!(!told(IssueStyle::Snippet).contains("calc.py"));
        assert!(!told(IssueStyle::Mixed).contains("calc.py"));
        assert!(told(IssueStyle::Traceback).contains("calc.py"));
    }

    #[test]
    fn a_mutation_without_a_visible_difference_is_no_issue() {
        let call = snippet(&[], "f()");
        let none = |now: &str, then: &str| {
            write_issue(
                SourceLanguage::Python,
                IssueStyle::Snippet,
                &call,
                (&value(now), &value(then)),
                &mut Shuffle::new(1),
            )
        };
        assert_eq!(none("1", "1"), None);
        assert_eq!(none("<A at 0x7f00>", "1"), None);
    }
}
