//! The code in an issue: blocks between fences, indented blocks, and what stands behind the prompt of an interpreter. What
//! a program printed, and its traces, are left out.

use crate::trace;
use magis_core::RepoPath;
use magis_syntax::SourceLanguage;

/// Some code of an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The language its fence names; none where it does not, or names one without a grammar.
    pub language: Option<SourceLanguage>,
    /// Its lines, without prompts.
    pub code: String,
}

/// What an interpreter writes in front of what is typed.
const PROMPTS: [&str; 4] = [">>> ", "... ", "In [", "irb> "];
/// Where a program ends and its trace begins, which quotes lines of code.
const TRACE: &str = "Traceback (most recent";
/// A line so far to the right is code.
const INDENT: &str = "    ";

/// Returns the examples of an issue's text, in their order.
pub(crate) fn of_issue(text: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    let mut fence: Option<(&str, &str)> = None;
    let mut after_code = true;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (Some((open, info)), Some(mark)) if open == mark => {
                take(&mut lines, info, &mut examples);
                fence = None;
            }
            (Some(_), _) => lines.push(line),
            (None, Some(mark)) => {
                take(&mut lines, "", &mut examples);
                fence = Some((mark, trimmed[mark.len()..].trim()));
            }
            (None, None) => {
                let indented = after_code && (line.starts_with(INDENT) || line.starts_with('\t'));
                if typed(line).is_some() || indented {
                    lines.push(line);
                    after_code = true;
                } else {
                    after_code = trimmed.is_empty();
                }
            }
        }
    }
    take(&mut lines, fence.map_or("", |(_, info)| info), &mut examples);
    examples
}

/// Makes an example of the lines, if there is code among them.
fn take(lines: &mut Vec<&str>, info: &str, examples: &mut Vec<Example>) {
    let lines = std::mem::take(lines);
    let typed_in: Vec<&str> = lines.iter().filter_map(|line| typed(line)).collect();
    let code = if typed_in.is_empty() {
        let written = lines
            .into_iter()
            .take_while(|line| !line.trim_start().starts_with(TRACE));
        written.filter(|line| trace::frames(line).is_empty()).collect()
    } else {
        typed_in
    };
    let code = code.join("\n");
    if !code.trim().is_empty() {
        examples.push(Example {
            language: named(info),
            code,
        });
    }
}

/// Returns what was typed at a prompt.
fn typed(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let prompt = PROMPTS.into_iter().find(|prompt| line.starts_with(prompt))?;
    if prompt == "In [" {
        return line.split_once("]: ").map(|(_, typed)| typed);
    }
    Some(&line[prompt.len()..])
}

/// Returns the language that a fence names, by its name or as an extension.
fn named(info: &str) -> Option<SourceLanguage> {
    let word = info.split([' ', ',', '{']).next().unwrap_or_default().to_lowercase();
    let by_extension = || SourceLanguage::of(&RepoPath::new(format!("example.{word}")).ok()?);
    let by_name = || {
        SourceLanguage::ALL
            .into_iter()
            .find(|language| language.fence() == word)
    };
    by_name().or_else(by_extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, language: Option<SourceLanguage>, code: &str) {
        let expected = Example {
            language,
            code: code.to_owned(),
        };
        assert_eq!(of_issue(text), [expected], "{text}");
    }

    #[test]
    fn code_stands_between_fences_behind_prompts_or_indented() {
        check(
            "Crash\n```python\nf(1)\n\ng(2)\n```\nend",
            Some(SourceLanguage::Python),
            "f(1)\n\ng(2)",
        );
        check("Crash\n~~~rs\nf();\n~~~\n", Some(SourceLanguage::Rust), "f();");
        check("Crash\n``` js {1}\nf()\n", Some(SourceLanguage::JavaScript), "f()");
        check("Crash\n```console\nf\n```", None, "f");
        check(
            "Try\n>>> f(1)\n2\n>>> for x in y:\n...     g(x)\n3\nend",
            None,
            "f(1)\nfor x in y:\n    g(x)",
        );
        check(
            "Try\n\n    f(1)\n    g(2)\n\nand so on\n    as ever",
            None,
            "    f(1)\n    g(2)",
        );
        assert_eq!(of_issue("It `f(1)` fails\n    on Mondays\n"), []);
    }

    #[test]
    fn what_the_program_said_is_left_out() {
        check(
            "T\n```\nIn [1]: f(1)\nOut[1]: tide(2)\nIn [2]: g(2)\n```",
            None,
            "f(1)\ng(2)",
        );
        check(
            "T\n```\nf(1)\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\n    tide(2)\n```",
            None,
            "f(1)",
        );
    }
}
