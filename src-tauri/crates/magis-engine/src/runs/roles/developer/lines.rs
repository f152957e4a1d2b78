//! P9: which lines of a file a Developer changes.

use super::reach::Reach;
use super::{edits, reading, surprisal};
use crate::calls::{AskError, CallContext, PromptVariant, SamplingMode};
use crate::custodian::relevance::{self, descending};
use crate::runs::code_names::identifiers;
use crate::runs::roles::RoleResult;
use crate::runs::roles::region::{is_function, is_long_function, nameable, own_lines};
use crate::runs::workspace::{Workspace, about, lines, objections, quoted_lines};
use magis_core::{
    BugCheck, ChangeTests, CheckSource, CodePlace, FileAction, LineSpan, Round, RunEvent, TaskId, WritingMode,
};
use magis_flow::{Attempt, RoundState, Run, TaskState};
use magis_prompts::{CodeByName, Head, LinesToChange, Template};
use magis_search::fuse;
use magis_syntax::{Outline, Symbol, SymbolKind, chunks, code_lines, outline};
use std::collections::BTreeSet;
use std::time::Duration;

/// How many names of a file are compared at the most: the best-matching ones and those the task mentions.
const NAMES: usize = 60;
/// Regions rewritten in one round at the most.
const REGIONS: usize = 2;
/// Answers whose lines are filled in, at a place at the most.
const FILLED_IN_AT_A_PLACE: u32 = 14;
/// Whole definitions that are asked for at a place by a model that cannot fill in lines.
const DEFINITIONS: u32 = 2;
/// How long what shows the fault may be run in a round, all answers together.
const RUNNING: Duration = Duration::from_secs(90);
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
/// How often a new file is written in a round.
const NEW_FILES: u32 = 4;
/// The most lines of a constant that is tried beside the likeliest place.
const TABLE: u32 = 10;

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
                // A file goes in one way only, and a new one is written whole each time.
                answers: Some(if state.task.action == FileAction::Delete {
                    1
                } else {
                    NEW_FILES
                }),
            });
        }
        FileAction::Modify | FileAction::Rename { .. } => {}
    }
    let text = work.read(&path)?.text;
    let outline = outline(&path, &text);
    let mut places = Vec::new();
    let in_order = surprisal::is_asked(work, run);
    let by_reading = edits::mode(work, run, round);
    let wanted = if run.runs_code() {
        edits::places(run, round, by_reading)
    } else {
        1
    };
    let chosen = choose_symbols(work, run, state, &about, &text, &outline, wanted).await?;
    // Where there are fewer places than wanted, each gives more lines.
    let gaps = surprisal::LINES * wanted;
    let most = (gaps / chosen.len().max(1)).clamp(surprisal::LINES, surprisal::MOST_LINES);
    let chosen = if by_reading.is_some() {
        one_by_one(chosen)
    } else {
        chosen
    };
    let mut read: Vec<LineSpan> = Vec::new();
    for chosen in chosen {
        if let Some(mode) = by_reading {
            let code = reading::spans(run.checks(), &path, &text, &outline, &chosen);
            let own = reading::not_in(code.clone(), &read, |span| !code_lines(&path, &text, *span).is_empty());
            if !code.is_empty() {
                if own.is_empty() {
                    continue;
                }
                read.extend(&own);
                let symbols = chosen.iter().map(|symbol| symbol.qualified_name.clone()).collect();
                let mut place = CodePlace { symbols, spans: own };
                if mode == WritingMode::Insert {
                    let most = edits::most_gaps(places.len(), affordable(run) / wanted.max(1) as u32);
                    place.spans = edits::gaps(work, run, state, &about, &text, (round, &place), most).await?;
                } else if !edits::are_left(work, run, state, &about, round, &place).await? {
                    continue;
                }
                places.push(place);
                continue;
            }
        }
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
                spans.extend(found.into_iter().take(most));
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
    let allowed = run.request().attempts_per_round;
    let answers = answers_at(work, run, &places, by_reading);
    let first = places.remove(0);
    Ok(RunEvent::LinesChosen {
        task,
        round,
        symbols: first.symbols,
        spans: first.spans,
        others: places,
        answers: (answers < allowed).then_some(answers),
    })
}

/// Returns each symbol as a place of its own: where whole definitions are read, the next one is read only where nothing at the one before it helped.
fn one_by_one(places: Vec<Vec<&Symbol>>) -> Vec<Vec<&Symbol>> {
    places.into_iter().flatten().map(|symbol| vec![symbol]).collect()
}

/// Returns how many answers are worth asking for at so many places: whole definitions cost as much as ten lines that are filled in, these more than
/// edits at one token, and what shows the fault is run for each answer.
fn answers_at(work: &Workspace, run: &Run, at: &[CodePlace], by_reading: Option<WritingMode>) -> u32 {
    let allowed = run.request().attempts_per_round;
    let places = at.len().max(1) as u32;
    if allowed < 2 || !run.request().writing.is_empty() {
        return allowed;
    }
    let least = DEFINITIONS * places;
    if !work.calls.card().fills_in {
        return allowed.min(least);
    }
    // The last answer is the definition, rewritten.
    let at_a_place = match by_reading {
        Some(WritingMode::TokenEdit) => edits::IN_A_ROUND as u32 + 1,
        Some(_) => at.iter().map(|place| place.spans.len()).max().unwrap_or(0) as u32 * edits::AT_A_GAP + 1,
        None => FILLED_IN_AT_A_PLACE,
    };
    let most = at_a_place * places;
    allowed.min(most).min(affordable(run).max(least))
}

/// Returns how many answers what shows the fault can be run for in a round. Tests that were found to fail are run only where another check passes.
fn affordable(run: &Run) -> u32 {
    let is_always_run = |check: &&BugCheck| !matches!(check.source, CheckSource::FailingTests { .. });
    let took = |check: &BugCheck| check.on_base.took_ms;
    let always: u32 = run.checks().iter().filter(is_always_run).map(took).sum();
    let all = || run.checks().iter().map(took).sum();
    let took: u32 = if always == 0 { all() } else { always };
    RUNNING.as_millis() as u32 / took.max(1)
}

/// Returns the symbols of each of the places wanted, the likeliest place first.
async fn choose_symbols<'outline>(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    text: &str,
    outline: &'outline Outline,
    wanted: usize,
) -> Result<Vec<Vec<&'outline Symbol>>, AskError> {
    let path = &state.task.path;
    let quoted = quoted_lines(run.issue_text(), text);
    let quoted: Vec<LineSpan> = quoted
        .into_iter()
        .filter_map(|line| Some(outline.innermost(line)?.span))
        .collect();
    let reach = Reach::of(work, run, path, text, outline)?;
    let mut symbols = nameable(outline);
    // No change of a function mends what never enters it.
    symbols.retain(|symbol| !reach.misses(symbol) || quoted.contains(&symbol.span));
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
    let mentioned = identifiers(&state.task.description);
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
        *score -= CAME_TO_NOTHING * f64::from(came_to_nothing(state, symbol));
        if came_near(state, symbol) {
            *score += CAME_NEAR;
        } else {
            *score -= failed * f64::from(failed_tests(state, symbol));
        }
    }
    for (symbol, score) in symbols.iter().zip(&mut fused) {
        *score += reach.gain(symbol);
    }
    let words_of_issue = identifiers(run.issue_text());
    let is_wanted = |symbol: &Symbol| is_named(symbol) && words_of_issue.contains(symbol.name.as_str());
    let first = places(&symbols, &fused, is_wanted);
    let is_left_out = |symbol: &Symbol| is_table(symbol) || reach.misses(symbol);
    Ok(with_others(first, &symbols, &fused, wanted, is_left_out))
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

/// Returns a place and further ones by their scores, so many together at the most. What is inside a symbol that is taken is read with it; a function around
/// one has code of its own. A long one around others, which may be a whole module, comes behind them and beside the places that are wanted: it is read without
/// them, and takes the longest.
fn with_others<'outline>(
    first: Vec<&'outline Symbol>,
    symbols: &[&'outline Symbol],
    scores: &[f64],
    most: usize,
    is_left_out: impl Fn(&Symbol) -> bool,
) -> Vec<Vec<&'outline Symbol>> {
    let is_around = |symbol: &Symbol| {
        let is_inside = |other: &&&Symbol| other.span != symbol.span && symbol.span.contains(other.span.first());
        is_long_function(symbol) && symbols.iter().any(|other| is_inside(&other))
    };
    let in_order: Vec<&Symbol> = descending(scores).into_iter().map(|at| symbols[at]).collect();
    let mut all = vec![first];
    for symbol in in_order.iter().filter(|symbol| !is_around(symbol)) {
        let is_taken = all.iter().flatten().any(|other| {
            let is_inside = other.span.contains(symbol.span.first()) && !is_around(other);
            is_inside || !is_function(symbol) && other.span.intersection(symbol.span).is_some()
        });
        if all.len() < most && !is_taken && !is_left_out(symbol) {
            all.push(vec![*symbol]);
        }
    }
    if most > 1 {
        let holds = |symbol: &Symbol| all.iter().flatten().any(|other| other.span == symbol.span);
        let around = in_order.iter().find(|symbol| is_around(symbol) && !is_left_out(symbol));
        if let Some(around) = around.filter(|symbol| !holds(symbol)) {
            all.push(vec![*around]);
        }
        all.sort_by_key(|place| place.iter().any(|symbol| is_around(symbol)));
    }
    all
}

/// Returns whether a symbol is a long constant: every line of a table surprises, and none more than the others.
fn is_table(symbol: &Symbol) -> bool {
    symbol.kind == SymbolKind::Constant && symbol.span.lines() > TABLE
}

/// In how many rounds a symbol was rewritten without a usable change.
fn came_to_nothing(state: &TaskState, symbol: &Symbol) -> u32 {
    let useless = |round: &&RoundState| round.best().is_none() && is_at(round.first_place(), symbol);
    state.rounds.iter().filter(useless).count() as u32
}

/// Returns whether a place is at a symbol. Several may have one name: a getter and its setter, the `fmt` of two traits.
fn is_at(place: &CodePlace, symbol: &Symbol) -> bool {
    let is_inside = |span: &LineSpan| span.intersection(symbol.span).is_some();
    place.symbols.contains(&symbol.qualified_name) && place.spans.iter().any(is_inside)
}

/// In how many rounds attempts at a symbol were tested, and none was shown to work.
fn failed_tests(state: &TaskState, symbol: &Symbol) -> u32 {
    // Edits at one token and what is put in leave most ways to write a line untried.
    let by_reading = |mode: &WritingMode| matches!(mode, WritingMode::TokenEdit | WritingMode::Insert);
    let failed = |round: &&RoundState| {
        let modes: Vec<WritingMode> = tested_at(round, symbol).map(|(mode, _)| mode).collect();
        !modes.is_empty() && !modes.iter().any(by_reading)
    };
    state.rounds.iter().filter(failed).count() as u32
}

/// Returns whether an attempt at a symbol made a check pass.
fn came_near(state: &TaskState, symbol: &Symbol) -> bool {
    let mut tested = state.rounds.iter().flat_map(|round| tested_at(round, symbol));
    tested.any(|(_, tested)| tested.passed_checks() > 0)
}

/// Returns what the attempts of a round showed at a symbol.
fn tested_at<'round>(
    round: &'round RoundState,
    symbol: &Symbol,
) -> impl Iterator<Item = (WritingMode, &'round ChangeTests)> {
    let is_there = |place: &CodePlace| is_at(place, symbol);
    let there: Vec<bool> = round.places.iter().map(is_there).collect();
    let at_symbol = move |attempt: &&Attempt| {
        let at = attempt.place().and_then(|at| there.get(at));
        at.copied().unwrap_or(false)
    };
    round
        .attempts
        .values()
        .filter(at_symbol)
        .filter_map(|attempt| Some((attempt.mode(), attempt.tested.as_ref()?)))
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
    let wanted = identifiers(run.issue_text())
        .into_iter()
        .chain(identifiers(&state.task.description))
        .collect::<BTreeSet<_>>();
    let shared = |span: LineSpan| identifiers(&lines(text, span)).intersection(&wanted).count();
    let pieces = chunks(&state.task.path, text, 60);
    let best = pieces
        .iter()
        .rev()
        .max_by_key(|piece| shared(piece.span))
        .map(|piece| piece.span);
    best.or_else(|| LineSpan::new(1, (text.lines().count() as u32).max(1)).ok())
        .unwrap_or(LineSpan::FIRST_LINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_core::RepoPath;

    #[test]
    fn definitions_that_are_read_whole_are_places_of_their_own() {
        let path = RepoPath::new("a.py").expect("a path");
        let outline = outline(
            &path,
            "def f():\n    pass\n\ndef g():\n    pass\n\ndef h():\n    pass\n",
        );
        let [f, g, h] = &outline.symbols[..] else {
            panic!("three functions")
        };
        assert_eq!(one_by_one(vec![vec![f, g], vec![h]]), [[f], [g], [h]]);
    }

    #[test]
    fn a_function_around_one_that_is_taken_is_a_place_and_a_long_one_is_the_last() {
        let path = RepoPath::new("a.py").expect("a path");
        let of = |lines: usize, most: usize, first: usize| {
            let fill = "    x = 1\n".repeat(lines);
            let text = format!(
                "def outer():\n    def inner():\n        def within():\n            pass\n{fill}\ndef other():\n    pass\n"
            );
            let outline = outline(&path, &text);
            let symbols: Vec<&Symbol> = outline.symbols.iter().collect();
            let scores = [3.0, 4.0, 2.0, 1.0];
            let places = with_others(vec![symbols[first]], &symbols, &scores, most, |_| false);
            let names = places.iter().flatten().map(|symbol| symbol.name.clone());
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of(3, 4, 1), "inner outer other");
        assert_eq!(of(3, 2, 1), "inner outer");
        assert_eq!(of(130, 2, 1), "inner other outer");
        assert_eq!(of(130, 2, 0), "inner outer");
        assert_eq!(of(130, 1, 0), "outer");
    }
}
