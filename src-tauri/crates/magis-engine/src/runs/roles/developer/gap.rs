//! What a model that fills in code reads around a gap of a file.

use crate::runs::workspace::{lines, objections};
use magis_core::{Hint, LineSpan, Round};
use magis_flow::{Run, TaskState};
use magis_prompts::CodeToFillIn;
use magis_syntax::{Outline, SourceLanguage, outline};

/// Lines before a gap that a model reads to fill it in; where its definition begins within twice as many, all from half as many before that.
const BEFORE: u32 = 20;
/// Lines behind a gap that a model reads.
const BEHIND: u32 = 8;
/// What of the issue stands above the code to fill in, in characters.
const ISSUE: usize = 900;
/// The most names of the file that stand there.
const NAMES: usize = 60;
/// What of the last attempt's failure stands there, in lines.
const FAILURE: usize = 8;

/// Returns the issue as a comment, and the code around lines of the task's file.
pub(super) fn code_around(
    run: &Run,
    state: &TaskState,
    round: Round,
    text: &str,
    span: LineSpan,
    past: Vec<String>,
) -> CodeToFillIn {
    let path = &state.task.path;
    let outline = outline(path, text);
    let owner = outline.innermost(span.first()).map(|symbol| symbol.span);
    // All gaps of a definition begin at the same line where they can: what stands before the first of them is read once.
    let first = match owner {
        Some(owner) if owner.first() + 2 * BEFORE > span.first() => owner.first().saturating_sub(BEFORE / 2),
        _ => span.first().saturating_sub(BEFORE),
    };
    let (before, after) = around(text, span, first, span.last() + BEHIND);
    let comment = SourceLanguage::of(path).map_or("#", SourceLanguage::comment_prefix);
    let issue = crate::calls::condense(run.issue_text(), ISSUE).unwrap_or_else(|| run.issue_text().to_owned());
    CodeToFillIn {
        comment: comment.to_owned(),
        issue: lines_of(&issue),
        wanted: wanted(run, state),
        past,
        objection: ends_of(&objections(state, round).pop().unwrap_or_default()),
        names: names(&outline),
        before,
        after,
        room: 0,
        one_line: false,
    }
}

/// Returns what a person said has to be done: the task as they rewrote it, and their hints. What a model says of a task is left out.
pub(super) fn wanted(run: &Run, state: &TaskState) -> Vec<String> {
    let rewritten = state.edited.then_some(state.task.description.as_str());
    let hints = run.hints().iter().filter_map(|hint| match hint {
        Hint::Word(word) => Some(word.as_str()),
        Hint::Comments(_) | Hint::FailingLog(_) => None,
    });
    rewritten.into_iter().chain(hints).flat_map(lines_of).collect()
}

/// Returns the first and the last lines of an objection: what was tried and what came of it, and how the output ends.
fn ends_of(objection: &str) -> Vec<String> {
    let lines: Vec<&str> = objection.lines().collect();
    let left_out = if lines.len() > FAILURE {
        FAILURE / 2..lines.len() - FAILURE / 2
    } else {
        0..0
    };
    let kept = lines.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
    kept.map(|(_, line)| (*line).to_owned()).collect()
}

fn lines_of(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim_end);
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Returns the names that a file defines, each once, in its order.
fn names(outline: &Outline) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for symbol in &outline.symbols {
        if !symbol.name.starts_with("__") && !names.contains(&symbol.name) && names.len() < NAMES {
            names.push(symbol.name.clone());
        }
    }
    names
}

/// Returns the text before and behind a gap, from line `first` to line `last`.
pub(super) fn around(text: &str, gap: LineSpan, first: u32, last: u32) -> (String, String) {
    let count = (text.lines().count() as u32).max(1);
    let piece = |first: u32, last: u32| LineSpan::new(first, last).map_or(String::new(), |span| lines(text, span));
    let before = if gap.first() > first.max(1) {
        piece(first.max(1), gap.first() - 1)
    } else {
        String::new()
    };
    let last = last.min(count);
    let after = if last > gap.last() {
        piece(gap.last() + 1, last)
    } else {
        String::new()
    };
    (before, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_objection_the_begin_and_the_end_are_told() {
        let text =
            "Tried: return a - b\nThe example still shows the fault.\nTraceback:\n1\n2\n3\n4\n5\n6\nValueError: no\n";
        let told = ends_of(text);
        assert_eq!(told.len(), FAILURE);
        assert_eq!(told[..2], ["Tried: return a - b", "The example still shows the fault."]);
        assert_eq!(told.last().map(String::as_str), Some("ValueError: no"));
        assert_eq!(ends_of("a\nb"), ["a", "b"]);
    }
}
