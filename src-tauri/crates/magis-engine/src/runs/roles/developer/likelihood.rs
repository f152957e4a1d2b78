//! How likely the code is with each of several attempts that pass. A check is one example, and many a wrong change passes it; of those that pass, the
//! change that leaves the code the most natural is the right one more often than not (Yang and others, 2024, "entropy-delta").

use crate::calls::{AskError, PromptVariant};
use crate::runs::roles::RoleResult;
use crate::runs::roles::region::fence;
use crate::runs::workspace::{Workspace, about, after, lines};
use magis_core::{AttemptGain, AttemptNumber, Edit, FileChange, LineSpan, Round, RunEvent, TaskId};
use magis_flow::{Run, TaskState};
use magis_prompts::{CodeToRead, Template};
use magis_syntax::outline;
use std::collections::BTreeMap;

/// Lines behind the last change that are read as well.
const BEHIND: u32 = 8;
/// The most lines before the first change that are read, where its definition begins earlier.
const BEFORE: u32 = 60;

/// Asks how likely the code is with each of the attempts of a round that nothing but this tells apart.
pub(crate) async fn compare_attempts(work: &mut Workspace, run: &Run, task: TaskId, round: Round) -> RoleResult {
    let state = work.task(run, task)?;
    let undecided = state.round(round).map(magis_flow::RoundState::undecided);
    let undecided = undecided.unwrap_or_default();
    let base = work.read(&state.task.path)?.text;
    let known = undecided.iter().map(|(number, attempt)| {
        let gain = AttemptGain {
            attempt: *number,
            gain: attempt.gain.map_or(0.0, |of| of.gain),
            touched: attempt.usable_change().map_or(0, |change| touched(&base, change)),
        };
        (*number, gain)
    });
    let mut gains: BTreeMap<AttemptNumber, AttemptGain> = known.collect();
    // Code of one place is compared with itself, changed and not.
    let mut places: BTreeMap<usize, Vec<(AttemptNumber, &FileChange)>> = BTreeMap::new();
    for (number, attempt) in undecided.iter().filter(|(_, attempt)| attempt.gain.is_none()) {
        if let (Some(place), Some(change)) = (attempt.place(), attempt.usable_change()) {
            places.entry(place).or_default().push((*number, change));
        }
    }
    for changes in places.values() {
        match gains_at(work, run, state, round, changes).await {
            Ok(found) => {
                // The log's JSON has no number for what is not finite.
                for (number, gain) in found.into_iter().filter(|(_, gain)| gain.is_finite()) {
                    gains.entry(number).and_modify(|of| of.gain = gain);
                }
            }
            Err(AskError::Unusable(why)) => {
                let instead = "the order in which the attempts were written";
                work.calls.replaced(Template::Surprisal, why, instead);
            }
            Err(fatal) => return Err(fatal),
        }
    }
    Ok(RunEvent::AttemptsCompared {
        task,
        round,
        gains: gains.into_values().collect(),
    })
}

/// Returns by how much each change of a place makes its code likelier: log P(the code with it) − log P(the code as it is), both read from the begin of
/// the definition to a few lines behind the last change.
async fn gains_at(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    round: Round,
    changes: &[(AttemptNumber, &FileChange)],
) -> Result<Vec<(AttemptNumber, f64)>, AskError> {
    let path = &state.task.path;
    let edits = || changes.iter().flat_map(|(_, change)| change.edits());
    let (Some(first), Some(last)) = (
        edits().map(|edit| edit.span.first()).min(),
        edits().map(|edit| edit.span.last()).max(),
    ) else {
        return Ok(Vec::new());
    };
    let text = work.read(path)?.text;
    let outline = outline(path, &text);
    let owner = outline.innermost(first);
    let begin = owner.map_or(first, |symbol| symbol.span.first());
    let begin = begin.max(first.saturating_sub(BEFORE)).max(1);
    let read = |text: &str, last: u32| {
        let count = (text.lines().count() as u32).max(begin);
        let span = LineSpan::new(begin, (last + BEHIND).clamp(begin, count));
        // The line before the first one ends with the text's first character.
        span.map(|span| format!("\n{}", lines(text, span).trim_end()))
    };
    let count = |text: &str| text.lines().count() as u32;
    let mut texts = Vec::new();
    for (_, change) in changes {
        let changed = after(&text, change);
        let changed = changed.ok_or_else(|| AskError::Unusable(format!("a change of {path} does not fit it")))?;
        texts.push(read(&changed, (last + count(&changed)).saturating_sub(count(&text))));
    }
    texts.push(read(&text, last));
    let texts = texts.into_iter().collect::<Result<Vec<String>, _>>();
    let texts = texts.map_err(|error| AskError::Unusable(error.to_string()))?;
    let begin = common_lines(&texts).to_owned();
    let texts: Vec<String> = texts.iter().map(|text| text[begin.len()..].to_owned()).collect();
    let prompt = CodeToRead {
        head: work.head(run),
        path: path.to_string(),
        task: state.task.description.clone(),
        symbol: owner.map_or_else(|| path.to_string(), |symbol| symbol.qualified_name.clone()),
        fence: fence(path).to_owned(),
        begin,
    };
    let asked = [PromptVariant::whole(prompt)];
    let scores = work.calls.score(&about(state).round(round), asked, &texts).await?;
    let of = |at: usize| scores.get(at).map_or(0.0, |score| score.logprob);
    let as_it_is = of(changes.len());
    let numbers = changes.iter().enumerate();
    Ok(numbers.map(|(at, (number, _))| (*number, of(at) - as_it_is)).collect())
}

/// Returns the lines that all texts begin with, without the line break behind them: they are as likely with each, and read once.
fn common_lines(texts: &[String]) -> &str {
    let Some((first, others)) = texts.split_first() else {
        return "";
    };
    let common = |other: &String| first.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let common = others.iter().map(common).min().unwrap_or(0);
    let end = first.as_bytes()[..common].iter().rposition(|byte| *byte == b'\n');
    &first[..end.unwrap_or(0)]
}

/// Returns how many tokens of a file a change touches.
fn touched(base: &str, change: &FileChange) -> u32 {
    let of_edit = |edit: &Edit| {
        let before = lines(base, edit.span);
        let (before, after) = (tokens(&before), tokens(&edit.text));
        let same = before
            .iter()
            .zip(&after)
            .take_while(|(one, other)| one == other)
            .count();
        let (before, after) = (&before[same..], &after[same..]);
        let ends = before.iter().rev().zip(after.iter().rev());
        let same = ends.take_while(|(one, other)| one == other).count();
        (before.len().max(after.len()) - same) as u32
    };
    change.edits().iter().map(of_edit).sum()
}

/// Returns the words of some code, and each other character that is no white space.
fn tokens(code: &str) -> Vec<&str> {
    let is_of_word = |character: char| character.is_alphanumeric() || character == '_';
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|character| !is_of_word(character)).unwrap_or(rest.len());
        let (token, behind) = rest.split_at(word.max(first.len_utf8()));
        tokens.push(token);
        rest = behind.trim_start();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_all_texts_begin_with_are_read_once() {
        for (texts, expected) in [
            (vec!["\na\nbc", "\na\nbd", "\na\nb"], "\na"),
            (vec!["\na\n\u{e9}", "\na\n\u{e8}"], "\na"),
            (vec!["\na\nb", "\na\nb"], "\na"),
            (vec!["\na", "\nb"], ""),
            (vec!["\n", "\nb"], ""),
        ] {
            let texts: Vec<String> = texts.into_iter().map(str::to_owned).collect();
            assert_eq!(common_lines(&texts), expected, "{texts:?}");
        }
    }

    #[test]
    fn what_a_change_touches_lies_between_the_first_and_the_last_token_that_is_another_one() {
        let base = "a = 1\nif not word and word.lower() in names:\n    return word\n";
        for (text, expected) in [
            ("if not word or word.lower() in names:\n", 1),
            ("if not word or word in names:\n", 6),
            ("if not word and word.lower() in names: # \u{e9}\n", 2),
            ("x = 1\nif not word and word.lower() in names:\n", 3),
            ("if not word  and word.lower() in names:\n", 0),
        ] {
            let edit = Edit {
                span: LineSpan::new(2, 2).unwrap(),
                text: text.to_owned(),
            };
            let change = FileChange::Modify { edits: vec![edit] };
            assert_eq!(touched(base, &change), expected, "{text}");
        }
    }
}
