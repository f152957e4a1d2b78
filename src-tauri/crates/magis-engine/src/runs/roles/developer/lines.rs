//! P9: which lines of a file a Developer changes.

use super::surprisal;
use crate::calls::{AskError, CallContext, PromptVariant, SamplingMode};
use crate::custodian::relevance::{self, descending};
use crate::runs::roles::RoleResult;
use crate::runs::roles::region::{nameable, own_lines};
use crate::runs::workspace::{Workspace, about, lines, objections, quoted_lines};
use magis_core::{ChangeTests, CodePlace, FileAction, LineSpan, RepoPath, Round, RunEvent, TaskId};
use magis_flow::{Attempt, RoundState, Run, TaskState};
use magis_prompts::{CodeByName, Head, LinesToChange, Template};
use magis_search::{Frame, frames, fuse};
use magis_syntax::{Outline, Symbol, SymbolKind, chunks, outline};
use std::collections::BTreeSet;

/// How many names of a file are compared at the most: the best-matching ones and those the task mentions.
const NAMES: usize = 60;
/// Regions rewritten in one round at the most.
const REGIONS: usize = 2;
/// What a symbol named in the task gains beside z-scores.
const NAMED_IN_TASK: f64 = 1.0;
/// What a symbol gains when the issue quotes a line of it word for word: more than any guess.
const QUOTED: f64 = 3.0;
/// What a symbol loses for each round in which rewriting it came to nothing.
const CAME_TO_NOTHING: f64 = 1.5;
/// What a symbol loses for each round in which attempts at it were tested and none was shown to work.
const FAILED_TESTS: f64 = 1.0;
/// The same where its lines were filled in: the same lines would be asked for again, so whatever was not tried yet comes first.
const FILLED_IN: f64 = 4.0;
/// What a symbol gains when an attempt at it made a check pass, though it was not shown to work: it broke something else, say.
const CAME_NEAR: f64 = 4.0;
/// What a function gains when what shows the fault runs through it, and loses when that runs through others of the file alone.
const REACHED: f64 = 1.0;
/// What a function gains when it is on the way to the exception that shows the fault.
const RAISED: f64 = 1.5;

/// P9: symbols first, scored as names; then lines inside them.
pub(crate) async fn choose_lines(work: &mut Workspace, run: &Run, task: TaskId, round: Round) -> RoleResult {
    let state = work.task(run, task)?;
    let path = state.task.path.clone();
    let about = about(state).round(round);
    match &state.task.action {
        FileAction::Create | FileAction::Delete => {
            return Ok(RunEvent::LinesChosen {
                task,
                round,
                symbols: Vec::new(),
                spans: Vec::new(),
                others: Vec::new(),
            });
        }
        FileAction::Modify | FileAction::Rename { .. } => {}
    }
    let text = work.read(&path)?.text;
    let outline = outline(&path, &text);
    let mut places = Vec::new();
    let in_order = surprisal::is_asked(work, run);
    for chosen in choose_symbols(work, run, state, &about, &text, &outline).await? {
        let (mut symbols, mut spans) = (Vec::new(), Vec::new());
        for symbol in chosen {
            let shown = own_lines(&outline, symbol);
            let found = if in_order {
                surprisal::lines_of(work, run, state, &about, &text, symbol, shown).await?
            } else {
                Vec::new()
            };
            if found.is_empty() {
                spans.extend(choose_in(work, run, state, &about, &text, shown).await?);
            } else {
                spans.extend(found);
            }
            symbols.push(symbol.qualified_name.clone());
        }
        if !spans.is_empty() {
            let spans = if in_order { spans } else { LineSpan::merged(spans) };
            places.push(CodePlace { symbols, spans });
        }
    }
    if places.is_empty() {
        let shown = best_chunk(run, state, &text);
        places.push(CodePlace {
            symbols: Vec::new(),
            spans: LineSpan::merged(choose_in(work, run, state, &about, &text, shown).await?),
        });
    }
    let first = places.remove(0);
    Ok(RunEvent::LinesChosen {
        task,
        round,
        symbols: first.symbols,
        spans: first.spans,
        others: places,
    })
}

/// Returns the symbols of each place, the likeliest place first.
async fn choose_symbols<'outline>(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    text: &str,
    outline: &'outline Outline,
) -> Result<Vec<Vec<&'outline Symbol>>, AskError> {
    let path = &state.task.path;
    let mut symbols = nameable(outline);
    let located = work.index(run)?;
    let asked = std::slice::from_ref(path);
    let matching = located.index_session.index.symbols_for(&located.query, asked, NAMES)?;
    let lexical = |symbol: &Symbol| {
        matching
            .iter()
            .flatten()
            .find(|known| known.qualified_name == symbol.qualified_name)
            .map_or(0.0, |known| known.score)
    };
    let mentioned = words(&state.task.description);
    let is_named = |symbol: &Symbol| mentioned.contains(symbol.name.as_str());
    if symbols.len() > NAMES {
        symbols.sort_by(|a, b| is_named(b).cmp(&is_named(a)).then(lexical(b).total_cmp(&lexical(a))));
        symbols.truncate(NAMES);
        symbols.sort_by_key(|symbol| symbol.span);
    }
    if symbols.is_empty() {
        return Ok(Vec::new());
    }
    let likelihood = likelihood_of(work, run, state, about, &symbols).await?;
    let ranking: Vec<f64> = symbols.iter().map(|symbol| lexical(symbol)).collect();
    let mut fused = fuse(&ranking, &likelihood);
    let quoted = quoted_lines(run.issue_text(), text);
    let quoted: Vec<LineSpan> = quoted
        .into_iter()
        .filter_map(|line| Some(outline.innermost(line)?.span))
        .collect();
    let failed = if surprisal::is_asked(work, run) {
        FILLED_IN
    } else {
        FAILED_TESTS
    };
    for (symbol, score) in symbols.iter().zip(&mut fused) {
        if is_named(symbol) {
            *score += NAMED_IN_TASK;
        }
        if quoted.contains(&symbol.span) {
            *score += QUOTED;
        }
        *score -= CAME_TO_NOTHING * f64::from(came_to_nothing(state, &symbol.qualified_name));
        if came_near(state, &symbol.qualified_name) {
            *score += CAME_NEAR;
        } else {
            *score -= failed * f64::from(failed_tests(state, &symbol.qualified_name));
        }
    }
    by_reach(run, path, outline, &symbols, &mut fused);
    let words_of_issue = words(run.issue_text());
    let is_wanted = |symbol: &Symbol| is_named(symbol) && words_of_issue.contains(symbol.name.as_str());
    let first = places(&symbols, &fused, is_wanted);
    let wanted = if run.runs_code() {
        run.request().places_per_round.max(1) as usize
    } else {
        1
    };
    let mut all = vec![first];
    for at in descending(&fused) {
        let symbol = symbols[at];
        let overlaps = |other: &&Symbol| other.span.intersection(symbol.span).is_some();
        if all.len() < wanted && !all.iter().flatten().any(overlaps) {
            all.push(vec![symbol]);
        }
    }
    Ok(all)
}

/// Raises the functions that what shows the fault runs through, those on the way to its exception most, and lowers those that it never enters.
fn by_reach(run: &Run, path: &RepoPath, outline: &Outline, symbols: &[&Symbol], scores: &mut [f64]) {
    let innermost = |line: u32| outline.innermost(line).map(|symbol| symbol.span);
    let reached: Vec<LineSpan> = run
        .checks()
        .iter()
        .flat_map(|check| &check.reached)
        .filter(|at| at.path == *path)
        .filter_map(|at| innermost(at.line))
        .collect();
    let raised: Vec<LineSpan> = run
        .checks()
        .iter()
        .flat_map(|check| lines_of_frames(&check.on_base.written(), path))
        .filter_map(innermost)
        .collect();
    for (symbol, score) in symbols.iter().zip(scores) {
        let is_code = matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method);
        if raised.contains(&symbol.span) {
            *score += RAISED;
        }
        if reached.contains(&symbol.span) {
            *score += REACHED;
        } else if is_code && !reached.is_empty() {
            *score -= REACHED;
        }
    }
}

/// Returns the lines of a file that the frames of traces name.
fn lines_of_frames(text: &str, path: &RepoPath) -> Vec<u32> {
    let in_file = |frame: &Frame| frame.path.ends_with(path.as_str());
    frames(text)
        .into_iter()
        .filter(in_file)
        .filter_map(|frame| frame.line)
        .collect()
}

/// Asks how much likelier the issue makes each symbol's name as the place to change; empty where the model gave no usable
/// answer.
async fn likelihood_of(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    symbols: &[&Symbol],
) -> Result<Vec<Option<f64>>, AskError> {
    let names: Vec<String> = symbols
        .iter()
        .map(|symbol| format!("{}`", symbol.qualified_name))
        .collect();
    let prompt = |head: Head| CodeByName {
        head,
        path: state.task.path.to_string(),
        task: state.task.description.clone(),
        objections: objections(state, Round(state.rounds.len() as u32 + 1)),
    };
    let asked = [PromptVariant::whole(prompt(work.head(run)))];
    let without_issue = prompt(Head::unconditional());
    match relevance::conditional(&mut work.calls, about, asked, without_issue, &names).await {
        Ok(scores) => Ok(scores.into_iter().map(|named| Some(named.log_ratio)).collect()),
        Err(AskError::Unusable(why)) => {
            work.calls.replaced(Template::CodeByName, why, "the best-matching name");
            Ok(Vec::new())
        }
        Err(fatal) => Err(fatal),
    }
}

/// Returns the symbol with the highest score, and further ones where they are wanted: a second place to change lowers the
/// odds, so it has to be named by the task and by the person.
fn places<'outline>(
    symbols: &[&'outline Symbol],
    scores: &[f64],
    is_wanted: impl Fn(&Symbol) -> bool,
) -> Vec<&'outline Symbol> {
    let mut chosen: Vec<&Symbol> = Vec::new();
    for (place, at) in descending(scores).into_iter().enumerate() {
        let symbol = symbols[at];
        let overlaps = chosen
            .iter()
            .any(|other| other.span.intersection(symbol.span).is_some());
        if place == 0 || (is_wanted(symbol) && !overlaps && chosen.len() < REGIONS) {
            chosen.push(symbol);
        }
    }
    chosen
}

/// In how many rounds a symbol was rewritten without a usable change.
fn came_to_nothing(state: &TaskState, symbol: &str) -> u32 {
    let useless =
        |round: &&RoundState| round.best().is_none() && round.first_place().symbols.iter().any(|known| known == symbol);
    state.rounds.iter().filter(useless).count() as u32
}

/// In how many rounds attempts at a symbol were tested, and none was shown to work.
fn failed_tests(state: &TaskState, symbol: &str) -> u32 {
    let failed = |round: &&RoundState| tested_at(round, symbol).next().is_some();
    state.rounds.iter().filter(failed).count() as u32
}

/// Returns whether an attempt at a symbol made a check pass.
fn came_near(state: &TaskState, symbol: &str) -> bool {
    let mut tested = state.rounds.iter().flat_map(|round| tested_at(round, symbol));
    tested.any(|tested| tested.passed_checks() > 0)
}

/// Returns what the attempts of a round showed at a symbol.
fn tested_at<'round>(round: &'round RoundState, symbol: &str) -> impl Iterator<Item = &'round ChangeTests> {
    let is_there = |place: &CodePlace| place.symbols.iter().any(|known| known == symbol);
    let there: Vec<bool> = round.places.iter().map(is_there).collect();
    let at_symbol = move |attempt: &&Attempt| {
        let at = attempt.place().and_then(|at| there.get(at));
        at.copied().unwrap_or(false)
    };
    round
        .attempts
        .values()
        .filter(at_symbol)
        .filter_map(|attempt| attempt.tested.as_ref())
}

/// Returns the identifiers of a text.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| word.len() > 2)
        .collect()
}

/// P9's second half: which of the lines shown.
async fn choose_in(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    text: &str,
    shown: LineSpan,
) -> Result<Vec<LineSpan>, AskError> {
    if shown.lines() <= 3 {
        return Ok(vec![shown]);
    }
    let prompt = |shown: LineSpan| LinesToChange {
        head: work.head(run),
        path: state.task.path.to_string(),
        task: state.task.description.clone(),
        objections: objections(state, Round(state.rounds.len() as u32 + 1)),
        numbered: numbered(text, shown),
        shown,
    };
    let mut variants = vec![PromptVariant::whole(prompt(shown))];
    for most in [200, 80, 30] {
        if shown.lines() > most
            && let Ok(fewer) = LineSpan::new(shown.first(), shown.first() + most - 1)
        {
            let left_out = format!("lines {} to {}", fewer.last() + 1, shown.last());
            variants.push(PromptVariant::less(prompt(fewer), vec![left_out]));
        }
    }
    match work.calls.ask(about, SamplingMode::Greedy, variants).await {
        Ok(spans) => Ok(spans),
        Err(AskError::Unusable(why)) => {
            work.calls
                .replaced(Template::Lines, why, format!("all of lines {shown}"));
            Ok(vec![shown])
        }
        Err(fatal) => Err(fatal),
    }
}

fn numbered(text: &str, shown: LineSpan) -> String {
    let first = shown.first();
    let lines = lines(text, shown);
    lines
        .lines()
        .enumerate()
        .map(|(at, line)| format!("{} {line}", first + at as u32))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the piece of a file without symbols that shares most words with issue and task.
fn best_chunk(run: &Run, state: &TaskState, text: &str) -> LineSpan {
    let wanted = words(run.issue_text())
        .into_iter()
        .chain(words(&state.task.description))
        .collect::<BTreeSet<_>>();
    let shared = |span: LineSpan| words(&lines(text, span)).intersection(&wanted).count();
    let pieces = chunks(&state.task.path, text, 60);
    let best = pieces
        .iter()
        .rev()
        .max_by_key(|piece| shared(piece.span))
        .map(|piece| piece.span);
    best.or_else(|| LineSpan::new(1, (text.lines().count() as u32).max(1)).ok())
        .unwrap_or(LineSpan::FIRST_LINE)
}
