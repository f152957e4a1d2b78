//! The ways in which an answer of P10 is asked for: the whole definition rewritten, the chosen lines rewritten, or the chosen lines left out and
//! filled in.

use super::change::change_of;
use super::edits;
use super::gap::{around, code_around};
use crate::calls::{AskError, CallContext, FillInMode, PlannedCall, PromptVariant, SamplingMode};
use crate::runs::past_fix::past_fix;
use crate::runs::roles::region::{Region, exact, fence, regions};
use crate::runs::workspace::{Workspace, developer, lines, objections};
use magis_core::{CodePlace, Edit, FileChange, LineSpan, RepoPath, Round, WritingMode};
use magis_flow::{Run, TaskState};
use magis_llm::{Departure, OtherThan};
use magis_prompts::{CodeToFillIn, CodeToWrite, Diagnosis, TheChange};
use magis_syntax::{SourceLanguage, extract_definition, fit_infill, outline, reindent, skeleton_within, strip_fences};

/// The most lines of what is rewritten beside lines that are filled in: one more costs as much as ten answers at such a line.
const SHORT: u32 = 40;
/// The most lines of what is rewritten before the other places are tried: 25 took 101 s, and the edits at another place 38 s.
const AT_ONCE: u32 = 12;
/// The most lines that are left out to be filled in.
const GAP: u32 = 12;
/// The most tokens of a statement that is put in.
const PUT_IN: u32 = 48;
/// One answer of a round: which it is, and how it is asked for.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub about: CallContext,
    pub round: Round,
    /// At which of the round's places, from 0.
    pub place: usize,
    pub mode: WritingMode,
    /// Which answer at that place, from 0.
    pub among: u32,
    pub sampling: SamplingMode,
}

/// One of the answers at a place: which it is, from 0, and how many there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerAt {
    pub round: Round,
    pub place: usize,
    pub among: u32,
    /// The lines of the place before which statements may be put in.
    pub gaps: u32,
    /// Whether it rewrites the definitions at the first place of all.
    pub is_rewritten: bool,
}

/// Returns whether the last answer at one of a round's places rewrites the whole definitions at the first one, as a fault of several lines needs it:
/// in the first round at that place itself where they have a few lines, at the last place where they have more, and not at all where they are long.
pub(super) fn is_rewritten(first: &CodePlace, path: &RepoPath, text: &str, place: usize, places: usize) -> bool {
    let rewritten = regions(text, &outline(path, text), &first.symbols, &first.spans);
    let lines = rewritten.iter().map(|region| region.span.lines()).sum::<u32>();
    let at = if lines <= AT_ONCE { 0 } else { places.saturating_sub(1) };
    lines <= SHORT && place == at
}

/// Returns how an answer is asked for. Edits at one token and filling in are cheap and find most.
pub(super) fn mode(work: &Workspace, run: &Run, at: AnswerAt) -> WritingMode {
    let request = run.request();
    if let Some(by_reading) = edits::mode(work, run, at.round).filter(|_| !at.is_rewritten) {
        return if by_reading == WritingMode::Insert && at.among >= at.gaps {
            WritingMode::FillIn
        } else {
            by_reading
        };
    }
    let wanted = if !request.writing.is_empty() {
        request.writing[at.among as usize % request.writing.len()]
    } else if request.attempts_per_round == 1 || at.is_rewritten {
        WritingMode::Definition
    } else {
        WritingMode::FillIn
    };
    match wanted {
        WritingMode::FillIn | WritingMode::TokenEdit | WritingMode::Insert if !work.calls.card().fills_in => {
            WritingMode::Definition
        }
        // Beyond the first round, and without a check.
        WritingMode::TokenEdit | WritingMode::Insert => WritingMode::FillIn,
        wanted => wanted,
    }
}

/// Returns whether an answer is greedy: each that is one of the likeliest at its gap, and the first that is asked for in its way.
pub(super) fn is_greedy(work: &Workspace, run: &Run, state: &TaskState, at: AnswerAt) -> bool {
    let this = mode(work, run, at);
    if matches!(this, WritingMode::TokenEdit | WritingMode::Insert) {
        return true;
    }
    if this == WritingMode::FillIn {
        return departure(work, run, state, at.round, at.place, at.among).is_some();
    }
    let earlier = (0..at.among).map(|among| AnswerAt {
        among,
        is_rewritten: false,
        ..at
    });
    at.round.0 == 1 && earlier.into_iter().all(|earlier| mode(work, run, earlier) != this)
}

/// How the first answers at a gap leave what stands there, and by which rank; none: one is drawn freely, as what is missing may be a line more.
const AT_GAP: [Option<(Departure, u32)>; 8] = [
    Some((Departure::Preferred, 0)),
    Some((Departure::Replaced, 0)),
    Some((Departure::Preferred, 1)),
    Some((Departure::Replaced, 1)),
    None,
    Some((Departure::Replaced, 2)),
    Some((Departure::Replaced, 3)),
    Some((Departure::Likeliest, 0)),
];

/// Returns how an answer at a gap leaves what stands there; none where it is drawn.
fn departure(
    work: &Workspace,
    run: &Run,
    state: &TaskState,
    round: Round,
    place: usize,
    among: u32,
) -> Option<(Departure, u32)> {
    let place = state.round(round).and_then(|round| round.places.get(place));
    let gaps = place.map_or(1, |place| place.spans.len().max(1));
    let at_gap = among as usize / gaps;
    if edits::mode(work, run, round) == Some(WritingMode::Insert) {
        // The first answer at each gap puts something in, and what has the rest of the line was tried as an edit at one token.
        return Some((Departure::Preferred, at_gap.saturating_sub(1) as u32));
    }
    match AT_GAP.get(at_gap) {
        Some(known) => *known,
        None => Some((Departure::Replaced, at_gap as u32 - 4)),
    }
}

/// Writes one answer: the diagnosis, and the change.
pub(super) async fn modify(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    asked: &Asked,
) -> Result<(String, FileChange), AskError> {
    let path = &state.task.path;
    let text = work.read(path)?.text;
    if asked.mode == WritingMode::TokenEdit {
        let place = state.round(asked.round).and_then(|round| round.places.get(asked.place));
        let place = place.ok_or_else(|| AskError::Unusable("no lines were chosen".to_owned()))?;
        let edit = edits::nth(work, run, state, &asked.about, asked.round, place, asked.among).await?;
        return Ok((String::new(), change_of(state, vec![edit])));
    }
    let (mut diagnoses, mut edits) = (Vec::new(), Vec::new());
    for region in regions_of(state, asked, path, &text) {
        let (diagnosis, new) = match asked.mode {
            WritingMode::FillIn => (String::new(), fill_in(work, run, state, asked, &text, &region).await?),
            WritingMode::Insert => (String::new(), insert(work, run, state, asked, &text, &region).await?),
            WritingMode::Definition | WritingMode::Lines | WritingMode::TokenEdit => {
                rewrite(work, run, state, asked, &text, &region).await?
            }
        };
        diagnoses.push(diagnosis);
        edits.push(Edit {
            span: region.span,
            text: new,
        });
    }
    if edits.is_empty() {
        return Err(AskError::Unusable("no lines were chosen".to_owned()));
    }
    Ok((diagnoses.join(" ").trim().to_owned(), change_of(state, edits)))
}

/// Makes the calls of several answers at one place together, as sequences that share what their prompts have in common; each is recorded as its
/// own, and found when its answer is written.
pub(super) async fn ask_ahead(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    all: &[Asked],
) -> Result<(), AskError> {
    if all.len() < 2 || all[0].mode == WritingMode::TokenEdit {
        return Ok(());
    }
    let path = &state.task.path;
    let text = work.read(path)?.text;
    let (mut first, mut rewritten) = (Vec::<PlannedCall>::new(), Vec::new());
    for asked in all {
        for region in regions_of(state, asked, path, &text) {
            match asked.mode {
                WritingMode::FillIn | WritingMode::Insert => {
                    let (prompt, mode) = gap(work, run, state, asked, &text, &region).await?;
                    first.extend(work.calls.plan_fill_in(&asked.about, &mode, &prompt).await.ok());
                }
                WritingMode::Definition | WritingMode::Lines | WritingMode::TokenEdit => {
                    let change = the_change(work, run, state, asked, &text, &region);
                    first.extend(
                        work.calls
                            .plan(&asked.about, asked.sampling, diagnoses(&change))
                            .await
                            .ok(),
                    );
                    rewritten.push((asked, region, change));
                }
            }
        }
    }
    work.calls.ask_all(first).await?;
    // The code stands on its diagnosis, which is on record now.
    let mut second = Vec::new();
    for (asked, region, change) in rewritten {
        let Ok(diagnosis) = work.calls.ask(&asked.about, asked.sampling, diagnoses(&change)).await else {
            continue;
        };
        let code = codes(work, &change, &diagnosis, &region).await?;
        second.extend(work.calls.plan(&asked.about, asked.sampling, code).await.ok());
    }
    work.calls.ask_all(second).await
}

fn regions_of(state: &TaskState, asked: &Asked, path: &RepoPath, text: &str) -> Vec<Region> {
    let Some(place) = state.round(asked.round).and_then(|round| round.places.get(asked.place)) else {
        return Vec::new();
    };
    match asked.mode {
        WritingMode::Definition => regions(text, &outline(path, text), &place.symbols, &place.spans),
        WritingMode::TokenEdit => Vec::new(),
        WritingMode::Lines => place.spans.iter().map(|span| exact(text, *span)).collect(),
        WritingMode::FillIn => gap_at(place, asked.among)
            .map(|span| exact(text, span))
            .into_iter()
            .collect(),
        WritingMode::Insert => {
            let before = place.spans.get(asked.among as usize);
            before.map(|span| exact(text, *span)).into_iter().collect()
        }
    }
}

/// Returns the lines that an answer at a place leaves out: one gap, because a model fills in one at a time; the answers take turns.
fn gap_at(place: &CodePlace, among: u32) -> Option<LineSpan> {
    let span = *place.spans.get(among as usize % place.spans.len().max(1))?;
    let last = span.last().min(span.first() + GAP - 1);
    LineSpan::new(span.first(), last).ok()
}

fn the_change(work: &Workspace, run: &Run, state: &TaskState, asked: &Asked, text: &str, region: &Region) -> TheChange {
    let path = &state.task.path;
    let around = skeleton_within(path, text, 1_500).map(|skeleton| skeleton.text);
    TheChange {
        head: work.head(run),
        whose: developer(state),
        task: state.task.description.clone(),
        objections: objections(state, asked.round),
        context: around.unwrap_or_default(),
        unit: region.unit.to_owned(),
        fence: fence(path).to_owned(),
        code: region.code.clone(),
        focus_lines: region.focus.clone(),
    }
}

/// Returns a change as it is asked about, and without the outline around it.
fn variants(change: &TheChange) -> [(TheChange, Vec<String>); 2] {
    let less = TheChange {
        context: String::new(),
        ..change.clone()
    };
    [
        (change.clone(), Vec::new()),
        (less, vec!["the file's outline".to_owned()]),
    ]
}

fn diagnoses(change: &TheChange) -> [PromptVariant<Diagnosis>; 2] {
    variants(change).map(|(change, left_out)| PromptVariant::less(Diagnosis { change }, left_out))
}

async fn codes(
    work: &mut Workspace,
    change: &TheChange,
    diagnosis: &str,
    region: &Region,
) -> Result<[PromptVariant<CodeToWrite>; 2], AskError> {
    let counted = work.calls.count(std::slice::from_ref(&region.code)).await?;
    let tokens = counted.first().copied().unwrap_or(0);
    Ok(variants(change).map(|(change, left_out)| {
        let code = CodeToWrite {
            change,
            diagnosis: diagnosis.to_owned(),
            begin: region.begin.clone(),
            room: tokens * 3 / 2 + 200,
        };
        PromptVariant::less(code, left_out)
    }))
}

/// P10 for one region: the diagnosis in words, then the code with its answer begun; the definition is parsed out of it.
async fn rewrite(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    asked: &Asked,
    text: &str,
    region: &Region,
) -> Result<(String, String), AskError> {
    let path = &state.task.path;
    let change = the_change(work, run, state, asked, text, region);
    let diagnosis = work.calls.ask(&asked.about, asked.sampling, diagnoses(&change)).await?;
    let code = codes(work, &change, &diagnosis, region).await?;
    let answer = work.calls.ask(&asked.about, asked.sampling, code).await?;
    let original = lines(text, region.span);
    if asked.mode == WritingMode::Lines {
        let (before, after) = around(text, region.span, 1, u32::MAX);
        let new = fit_infill(path, &before, strip_fences(&answer), &after, &original);
        let new = new.ok_or_else(|| AskError::Unusable("the answer holds no code".to_owned()))?;
        return Ok((diagnosis, new));
    }
    let new = match (&region.name, SourceLanguage::of(path)) {
        (Some(name), Some(language)) => extract_definition(language, &answer, name)
            .ok_or_else(|| AskError::Unusable(format!("the answer holds no complete definition of {name}")))?,
        _ => strip_fences(&answer).to_owned(),
    };
    if new.trim().is_empty() {
        return Err(AskError::Unusable("the answer holds no code".to_owned()));
    }
    let new = reindent(&new, &original);
    Ok((diagnosis, if new.ends_with('\n') { new } else { new + "\n" }))
}

/// P10 by filling in: the lines of a gap, written by a model that reads what stands before and behind it.
async fn fill_in(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    asked: &Asked,
    text: &str,
    region: &Region,
) -> Result<String, AskError> {
    let path = &state.task.path;
    let (prompt, mode) = gap(work, run, state, asked, text, region).await?;
    let answer = work.calls.fill_in(&asked.about, &mode, prompt).await?;
    let (before, after) = around(text, region.span, 1, u32::MAX);
    let old = lines(text, region.span);
    // A model seldom knows where to stop. Where the text is to be another one it has as many lines, else what fits.
    let answer = if matches!(mode, FillInMode::OtherThan(_)) {
        let written = answer.lines().filter(|line| !line.trim().is_empty());
        let kept: Vec<&str> = written.take(region.span.lines() as usize).collect();
        kept.join("\n")
    } else {
        answer
    };
    fit_infill(path, &before, &answer, &after, &old)
        .ok_or_else(|| AskError::Unusable("the answer holds no code".to_owned()))
}

/// P10 by filling in where nothing was left out: a statement that is put in before a line.
async fn insert(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    asked: &Asked,
    text: &str,
    region: &Region,
) -> Result<String, AskError> {
    let (prompt, mode) = gap(work, run, state, asked, text, region).await?;
    let answer = work.calls.fill_in(&asked.about, &mode, prompt).await?;
    let statement = first_statement(&answer);
    if statement.trim().is_empty() {
        return Err(AskError::Unusable("the model would put nothing in there".to_owned()));
    }
    let behind = lines(text, region.span);
    if statement.trim() == behind.trim() {
        return Err(AskError::Unusable(
            "the model would repeat the line that is there".to_owned(),
        ));
    }
    Ok(statement + &behind)
}

/// Returns the first statement of a text, whole lines: a line, and what it opens. A model that puts one in goes on with what follows it.
fn first_statement(text: &str) -> String {
    let indented = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().map(str::trim_end).skip_while(|line| line.is_empty());
    let Some(first) = lines.next() else {
        return String::new();
    };
    let mut statement = vec![first];
    for line in lines {
        let is_deeper = line.is_empty() || indented(line) > indented(first);
        let closes = indented(line) == indented(first) && line.trim_start().starts_with(['}', ')', ']']);
        if !is_deeper && !closes {
            break;
        }
        statement.push(line);
    }
    while statement.last().is_some_and(|line| line.is_empty()) {
        statement.pop();
    }
    statement.join("\n") + "\n"
}

/// Returns the prompt for a gap: the issue as a comment, and the code around it; and how its text is chosen. The lines that stood there are not
/// shown: a model repeats them.
async fn gap(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    asked: &Asked,
    text: &str,
    region: &Region,
) -> Result<(CodeToFillIn, FillInMode), AskError> {
    let old = lines(text, region.span);
    if asked.mode == WritingMode::Insert {
        let past = past_fix(work, run)?;
        let around = code_around(run, state, asked.round, text, region.span, past);
        let prompt = CodeToFillIn {
            after: [old, around.after.clone()].concat(),
            room: PUT_IN,
            ..around
        };
        return Ok((prompt, FillInMode::Free(asked.sampling)));
    }
    let counted = work.calls.count(std::slice::from_ref(&old)).await?;
    let mode = match departure(work, run, state, asked.round, asked.place, asked.among) {
        Some((by, rank)) => FillInMode::OtherThan(OtherThan { text: old, by, rank }),
        None => FillInMode::Free(asked.sampling),
    };
    let past = past_fix(work, run)?;
    let prompt = CodeToFillIn {
        room: (counted.first().copied().unwrap_or(0) * 2 + 60).min(400),
        one_line: matches!(mode, FillInMode::OtherThan(_)) && region.span.lines() == 1,
        ..code_around(run, state, asked.round, text, region.span, past)
    };
    Ok((prompt, mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_is_put_in_the_first_statement_counts() {
        for (text, expected) in [
            ("", ""),
            ("\n    a = 1\n    b = 2", "    a = 1\n"),
            (
                "    elif b:\n        return 1\n\n    elif c:\n",
                "    elif b:\n        return 1\n",
            ),
            (
                "  if (b) {\n    return 1;\n  }\n  return 2;\n",
                "  if (b) {\n    return 1;\n  }\n",
            ),
            ("  call(\n    1,\n  );\n  more", "  call(\n    1,\n  );\n"),
        ] {
            assert_eq!(first_statement(text), expected);
        }
    }

    #[test]
    fn a_few_lines_are_rewritten_at_their_place_more_behind_all_places_and_long_ones_not_at_all() {
        let path = RepoPath::new("a.py").expect("a path");
        for (lines, expected) in [(4, vec![0]), (30, vec![2]), (60, vec![])] {
            let text = format!("def f(a):\n{}    return a\n", "    a += 1\n".repeat(lines - 2));
            let first = CodePlace {
                symbols: vec!["f".to_owned()],
                spans: vec![LineSpan::new(2, 3).expect("a span")],
            };
            let at: Vec<usize> = (0..3)
                .filter(|place| is_rewritten(&first, &path, &text, *place, 3))
                .collect();
            assert_eq!(at, expected, "{lines} lines");
        }
    }
}
