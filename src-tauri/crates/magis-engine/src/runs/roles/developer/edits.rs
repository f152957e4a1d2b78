//! Edits at one token: a model that fills in code reads a definition once, and says at each token what it would rather have written; where it
//! would most, it goes on writing. One reading gives the answers for all lines of the definition, and most cost a run of the check alone. It also says
//! where a statement may be missing.

use super::change::{change_of, check};
use super::gap::{code_around, wanted};
use super::reading::missed_by_any;
use super::surprisal;
use crate::calls::{AskError, CallContext};
use crate::runs::code_names::{named, words};
use crate::runs::past_fix::past_fix;
use crate::runs::workspace::{Workspace, lines};
use magis_core::{CodePlace, Edit, FileChange, Finding, LineSpan, Round, WritingMode};
use magis_flow::{Attempt, RoundState, Run, TaskState};
use magis_llm::TokenEdit;
use magis_syntax::code_lines;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Edits that are looked at in one definition, usable or not.
const LOOKED_AT: u32 = 400;
/// Usable ones that are kept at a place: of 44 bugs of Python the right one is among 48 for 25, among 122 for 27, among 500 for 30.
const KEPT: usize = 128;
/// Answers of a round for each of its places; longer code has more of them than shorter.
pub(super) const IN_A_ROUND: usize = 48;
/// Edits at one token that are kept before the others: words of a message, say, that could all be other ones.
const KEPT_AT_A_TOKEN: usize = 4;
/// Lines of a place before which a statement is put in.
const GAPS: usize = 12;
/// The same at places behind the second: each costs as much as twenty edits at one token.
const FEWER_GAPS: usize = 4;
/// So many of the answers at such a line are worth more than another line: a statement put in, and the line filled in twice.
const ANSWERS_AT_A_GAP: usize = 3;
/// Answers at such a line: a statement put in, and the line filled in by what the model prefers. Told the line, it wrote the right one as its fifth choice for a
/// bug of pytest for which no rewritten definition and no edit at one token was right.
pub(super) const AT_A_GAP: u32 = 7;
/// Behind how many of the best other tokens the model goes on writing: for 8 of 17 bugs of one line one of the first four begins the right line.
const WRITTEN: u32 = 9;

/// The most lines of an edit that says where a fault is.
const NEAR: u32 = 3;

/// Such lines that are read alone in a later round.
const NEAREST: usize = 3;

/// How much sooner edits come of lines with a name that the issue gives and that few lines of the code have.
const NAMED: usize = 3;

/// An edit that the model would make.
struct FoundEdit {
    /// In the order of the model, for its piece of the code; the further ones of a line stand further behind, so that a few answers go to several lines.
    rank: usize,
    /// The token: the piece, and where in it.
    token: (usize, u32),
    edit: Edit,
}

/// Returns how a round's answers are asked for by what the model says as it reads the definition: edits at one token first, then statements that are put
/// in before lines, and these lines filled in, then further edits at one token, at further places, too. None in later rounds, and where no check tells them
/// apart.
pub(super) fn mode(work: &Workspace, run: &Run, round: Round) -> Option<WritingMode> {
    if run.checks().is_empty() || !surprisal::is_asked(work, run) {
        return None;
    }
    match (run.request().writing.as_slice(), round.0) {
        ([], 1 | 3) => Some(WritingMode::TokenEdit),
        ([], 2) => Some(WritingMode::Insert),
        ([one @ (WritingMode::TokenEdit | WritingMode::Insert)], 1) => Some(*one),
        _ => None,
    }
}

/// Returns how many places of a file a round goes to.
pub(super) fn places(run: &Run, round: Round, mode: Option<WritingMode>) -> usize {
    let places = run.request().places_per_round.max(1) as usize;
    if mode == Some(WritingMode::TokenEdit) && round.0 > 1 {
        2 * places
    } else {
        places
    }
}

/// Returns whether the model would make edits at a place that no earlier round has tried.
pub(super) async fn are_left(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    round: Round,
    place: &CodePlace,
) -> Result<bool, AskError> {
    // A place that was not tried is read when its turn comes.
    Ok(tried(state, round, place).is_empty() || !untried(work, run, state, about, round, place).await?.is_empty())
}

/// Returns the edits at a place that no earlier round has tried. Lines of which a change made a check pass come first, each read alone, so that more is tried
/// of them; then what is left, as the model has it.
async fn untried(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    round: Round,
    place: &CodePlace,
) -> Result<Vec<Edit>, AskError> {
    let near = near_lines(state, round).into_iter();
    let near = near.filter(|line| place.spans.iter().any(|span| span.contains(*line)));
    let mut all = Vec::new();
    for line in near.take(NEAREST) {
        if let Ok(span) = LineSpan::new(line, line) {
            let alone = CodePlace {
                symbols: place.symbols.clone(),
                spans: vec![span],
            };
            all.extend(known(work, run, state, about, &alone).await?);
        }
    }
    all.extend(known(work, run, state, about, place).await?);
    let tried = tried(state, round, place);
    let mut seen = BTreeSet::new();
    all.retain(|edit| !tried.contains(&edit) && seen.insert((edit.span, edit.text.clone())));
    Ok(all)
}

/// Returns the edits at a place that earlier rounds have tried.
fn tried<'a>(state: &'a TaskState, round: Round, place: &CodePlace) -> Vec<&'a Edit> {
    let is_same = |at: &CodePlace| {
        let is_here = |span: &LineSpan| place.spans.iter().any(|own| own.intersection(*span).is_some());
        at.spans.iter().any(is_here)
    };
    let at_place = |known: &'a RoundState| {
        let is_there = |attempt: &&Attempt| {
            let at = attempt.place().and_then(|at| known.places.get(at));
            attempt.mode() == WritingMode::TokenEdit && at.is_some_and(is_same)
        };
        known.attempts.values().filter(is_there).flat_map(edits_of)
    };
    let earlier = state.rounds.iter().filter(|known| known.round < round);
    earlier.flat_map(at_place).collect()
}

/// Returns the lines of which a change of an earlier round made a check pass, though it was not shown to work, those of most such changes first: what is wrong
/// is there, or is avoided there.
fn near_lines(state: &TaskState, round: Round) -> Vec<u32> {
    let came_near = |attempt: &&Attempt| attempt.tested.as_ref().is_some_and(|tested| tested.passed_checks() > 0);
    let earlier = state.rounds.iter().filter(|known| known.round < round);
    let attempts = earlier.flat_map(|known| known.attempts.values()).filter(came_near);
    let of_few_lines = |edit: &&Edit| edit.span.lines() <= NEAR;
    let mut changes: BTreeMap<u32, usize> = BTreeMap::new();
    for edit in attempts.flat_map(edits_of).filter(of_few_lines) {
        for line in edit.span.first()..=edit.span.last() {
            *changes.entry(line).or_default() += 1;
        }
    }
    let mut near: Vec<(u32, usize)> = changes.into_iter().collect();
    near.sort_by_key(|(line, changes)| (Reverse(*changes), *line));
    near.into_iter().map(|(line, _)| line).collect()
}

fn edits_of(attempt: &Attempt) -> &[Edit] {
    match attempt.usable_change() {
        Some(FileChange::Modify { edits } | FileChange::Rename { edits, .. }) => edits,
        Some(FileChange::Create { .. } | FileChange::Delete) | None => &[],
    }
}

/// Returns the edit of an answer at a place of a round.
///
/// # Errors
/// When the model would make no further one, or the definition does not fit.
pub(super) async fn nth(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    round: Round,
    place: &CodePlace,
    among: u32,
) -> Result<Edit, AskError> {
    let found = untried(work, run, state, about, round, place).await?;
    let found = found.into_iter().nth(among as usize);
    found.ok_or_else(|| AskError::Unusable("the model would make no further edit at one token there".to_owned()))
}

/// Returns the most lines before which a statement is put in at a place of a round, `place` from 0, that has so many answers: where they are few, each line
/// has to have some that fill it in as well.
pub(super) fn most_gaps(place: usize, answers: u32) -> usize {
    let most = if place < 2 { GAPS } else { FEWER_GAPS };
    (answers as usize / ANSWERS_AT_A_GAP).clamp(1, most)
}

/// Returns the lines of a definition before which a statement is put in, `most` at the most.
///
/// Lines of which a change made a check pass in an earlier round come first. Then, in turn, lines with a name that the issue gives and few lines have, and lines
/// that the model would rather have begun or gone on with in another way, the likeliest first: where a case was lost, what follows it begins alike (`elif
/// _isint` for `elif _isbool`). The others stand behind, in their order.
pub(super) async fn gaps(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    text: &str,
    (round, place): (Round, &CodePlace),
    most: usize,
) -> Result<Vec<LineSpan>, AskError> {
    let path = &state.task.path;
    let edits = known(work, run, state, about, place).await?;
    let mut gaps: Vec<u32> = Vec::new();
    let ran = place.spans.iter().flat_map(|span| {
        let missed = missed_by_any(run.checks(), path, *span);
        let code = code_lines(path, text, *span).into_iter();
        code.filter(move |line| !missed.contains(line))
    });
    let ran: Vec<u32> = ran.collect();
    let names = named(run.issue_text());
    let named = place.spans.iter();
    let named: BTreeSet<u32> = named
        .flat_map(|span| lines_that_name(&lines(text, *span), span.first(), &names))
        .collect();
    let mut of_issue = ran.iter().copied().filter(|line| named.contains(line));
    let near = near_lines(state, round);
    let mut order: Vec<u32> = near.into_iter().filter(|line| ran.contains(line)).collect();
    for edit in &edits {
        order.extend(of_issue.next());
        order.push(edit.span.first());
    }
    order.extend(of_issue);
    for line in order.into_iter().chain(ran.iter().copied()) {
        if gaps.len() < most && !gaps.contains(&line) {
            gaps.push(line);
        }
    }
    Ok(gaps
        .into_iter()
        .filter_map(|line| LineSpan::new(line, line).ok())
        .collect())
}

/// Returns the usable edits of the lines of a place; each is read once.
async fn known(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    place: &CodePlace,
) -> Result<Vec<Edit>, AskError> {
    let key = (state.task.id, place.spans.clone(), wanted(run, state));
    if let Some(known) = work.token_edits.get(&key) {
        return Ok(known.clone());
    }
    let found = at_place(work, run, state, about, place).await?;
    work.token_edits.insert(key, found.clone());
    Ok(found)
}

/// Returns the usable edits of the definitions at a place, in the model's order.
async fn at_place(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    place: &CodePlace,
) -> Result<Vec<Edit>, AskError> {
    let path = &state.task.path;
    let text = work.read(path)?.text;
    let mut found: Vec<FoundEdit> = Vec::new();
    for (piece, span) in place.spans.iter().enumerate() {
        let missed = missed_by_any(run.checks(), path, *span);
        let prompt = code_around(run, state, Round(1), &text, *span, past_fix(work, run)?);
        let code = lines(&text, *span);
        let named = lines_that_name(&code, span.first(), &named(run.issue_text()));
        let edits = work
            .calls
            .token_edits(about, &prompt, &code, LOOKED_AT, WRITTEN)
            .await?;
        for (rank, edit) in edits.iter().enumerate() {
            let of_lines = of_lines(&code, span.first(), edit);
            if let Some(of_lines) = of_lines.filter(|edit| !missed.contains(&edit.span.first())) {
                found.push(FoundEdit {
                    rank: if named.contains(&of_lines.span.first()) {
                        rank / NAMED
                    } else {
                        rank
                    },
                    token: (piece, edit.start),
                    edit: of_lines,
                });
            }
        }
    }
    found.sort_by_key(|found| found.rank);
    let mut of_line: BTreeMap<u32, usize> = BTreeMap::new();
    for FoundEdit { rank, edit, .. } in &mut found {
        let of_line = of_line.entry(edit.span.first()).or_default();
        *of_line += 1;
        *rank = (*rank + 1) * *of_line;
    }
    found.sort_by_key(|found| found.rank);
    let (mut kept, mut others): (Vec<Edit>, Vec<Edit>) = (Vec::new(), Vec::new());
    let (mut seen, mut at_token) = (BTreeSet::new(), BTreeMap::new());
    for FoundEdit { token, edit, .. } in found {
        if kept.len() == KEPT {
            break;
        }
        if !seen.insert((edit.span, edit.text.clone())) {
            continue;
        }
        let at_token: &mut usize = at_token.entry(token).or_default();
        if *at_token == KEPT_AT_A_TOKEN {
            others.push(edit);
        } else if is_usable(work, run, state, &edit)? {
            *at_token += 1;
            kept.push(edit);
        }
    }
    for edit in others {
        if kept.len() == KEPT {
            break;
        }
        if is_usable(work, run, state, &edit)? {
            kept.push(edit);
        }
    }
    Ok(kept)
}

/// Returns the lines of some code, the first of which is `first`, with one of the names that at most a third of them have.
fn lines_that_name(code: &str, first: u32, names: &BTreeSet<&str>) -> BTreeSet<u32> {
    let mut of_name: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for (line, text) in (first..).zip(code.lines()) {
        for name in words(text).filter(|word| names.contains(word)) {
            of_name.entry(name).or_default().insert(line);
        }
    }
    let few = code.lines().count().div_ceil(3);
    of_name
        .into_values()
        .filter(|lines| lines.len() <= few)
        .flatten()
        .collect()
}

fn is_usable(work: &mut Workspace, run: &Run, state: &TaskState, edit: &Edit) -> Result<bool, AskError> {
    let change = change_of(state, vec![edit.clone()]);
    Ok(!check(work, run, state, &change)?.iter().any(Finding::is_fatal))
}

/// Returns an edit of a token in the code from line `first` on as an edit of whole lines.
fn of_lines(code: &str, first: u32, edit: &TokenEdit) -> Option<Edit> {
    let (start, end) = (edit.start as usize, edit.end as usize);
    let (before, after) = (code.get(..start)?, code.get(end..)?);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let rest = end + after.find('\n').map_or(after.len(), |at| at + 1);
    let line = |at: usize| first + code[..at].matches('\n').count() as u32;
    let text = format!("{}{}{}", &code[line_start..start], edit.text, &code[end..rest]);
    let last = line(rest.saturating_sub(1).max(line_start));
    Some(Edit {
        span: LineSpan::new(line(line_start), last).ok()?,
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_as_named_where_few_have_the_name() {
        let code = "if not self.__all__:\n    return True\nfor member in members:\n    members.add(member)\nreturn members\nreturn None\n";
        let names = BTreeSet::from(["__all__", "members", "other"]);
        assert_eq!(lines_that_name(code, 11, &names), BTreeSet::from([11]));
        assert_eq!(lines_that_name("", 1, &names), BTreeSet::new());
    }

    #[test]
    fn few_answers_go_to_few_lines() {
        assert_eq!(
            [most_gaps(0, 40), most_gaps(0, 9), most_gaps(0, 2), most_gaps(3, 40)],
            [12, 3, 1, 4]
        );
    }
}
