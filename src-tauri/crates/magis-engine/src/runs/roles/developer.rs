//! The Developers: their speech, their revised role (P6), their QA Engineer (P8), the lines (P9), the code (P10).

use super::RoleResult;
use super::manager::{or_plain_role, or_silence};
use super::region::{Region, fence, nameable, own_lines, regions};
use crate::calls::{AskError, CallContext, PromptVariant, SamplingMode};
use crate::custodian::relevance::{self, descending};
use crate::runs::workspace::{Workspace, about, after, developer, lines, objections, quoted_lines, record, team};
use magis_core::{
    AttemptNumber, Edit, FileAction, FileChange, Finding, LineSpan, Notice, RepoPath, Round, RunEvent, Speaker, Speech,
    TaskId, Turn,
};
use magis_flow::{Run, TaskState};
use magis_prompts::{
    CodeByName, CodeToWrite, Diagnosis, Head, LinesToChange, NewFile, ReviewerRole, RevisedRole, Template, TheChange,
};
use magis_repo::diff_stat;
use magis_search::fuse;
use magis_syntax::{
    Outline, SourceLanguage, Symbol, chunks, extract_definition, outline, parses_worse, reindent, same_code,
    skeleton_within, strip_fences,
};
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
/// A deletion is "far beyond addition" from so many more lines.
const FAR_MORE: u32 = 20;

/// Returns a Developer speaks in the meeting.
pub(crate) async fn speak(work: &mut Workspace, run: &Run, task: TaskId) -> RoleResult {
    let state = work.task(run, task)?;
    let description = run
        .description(&state.task.candidate)
        .map(magis_core::Description::text)
        .unwrap_or_default();
    let prompt = magis_prompts::MeetingTurn {
        head: work.head(run),
        team: team(run),
        record: record(run),
        whose: developer(state),
        description,
    };
    let text = work
        .calls
        .ask(&about(state), SamplingMode::Greedy, [PromptVariant::whole(prompt)])
        .await;
    let text = or_silence(work, text, Template::MeetingSpeak)?;
    Ok(RunEvent::Spoken {
        speech: Speech {
            speaker: Speaker::Developer(task),
            turn: Turn::Speak,
            text,
        },
    })
}

/// P6: the Developer revises its role after the meeting.
pub(crate) async fn revise_role(work: &mut Workspace, run: &Run, task: TaskId) -> RoleResult {
    let state = work.task(run, task)?;
    let prompt = RevisedRole {
        head: work.head(run),
        team: team(run),
        record: record(run),
        whose: developer(state),
    };
    let role = work
        .calls
        .ask(&about(state), SamplingMode::Greedy, [PromptVariant::whole(prompt)])
        .await;
    let role = match (role, &state.role) {
        (Err(AskError::Unusable(why)), Some(before)) => {
            work.calls.replaced(Template::RevisedRole, why, "the role as it was");
            before.clone()
        }
        (role, _) => or_plain_role(work, role, Template::RevisedRole, "Developer", state)?,
    };
    Ok(RunEvent::RoleRevised { task, role })
}

/// P8: the Developer writes the role of its QA Engineer.
pub(crate) async fn define_reviewer(work: &mut Workspace, run: &Run, task: TaskId) -> RoleResult {
    let state = work.task(run, task)?;
    let prompt = ReviewerRole {
        head: work.head(run),
        task: state.task.description.clone(),
        whose: developer(state),
    };
    let role = work
        .calls
        .ask(&about(state), SamplingMode::Greedy, [PromptVariant::whole(prompt)])
        .await;
    let role = or_plain_role(work, role, Template::ReviewerRole, "QA Engineer", state)?;
    Ok(RunEvent::ReviewerDefined { task, role })
}

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
            });
        }
        FileAction::Modify | FileAction::Rename { .. } => {}
    }
    let text = work.read(&path)?.text;
    let outline = outline(&path, &text);
    let chosen = choose_symbols(work, run, state, &about, &text, &outline).await?;
    let (mut symbols, mut spans) = (Vec::new(), Vec::new());
    for symbol in chosen {
        spans.extend(choose_in(work, run, state, &about, &text, own_lines(&outline, symbol)).await?);
        symbols.push(symbol.qualified_name.clone());
    }
    if spans.is_empty() {
        let shown = best_chunk(run, state, &text);
        spans = choose_in(work, run, state, &about, &text, shown).await?;
    }
    Ok(RunEvent::LinesChosen {
        task,
        round,
        symbols,
        spans: LineSpan::merged(spans),
    })
}

async fn choose_symbols<'outline>(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    text: &str,
    outline: &'outline Outline,
) -> Result<Vec<&'outline Symbol>, AskError> {
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
    let names: Vec<String> = symbols
        .iter()
        .map(|symbol| format!("{}`", symbol.qualified_name))
        .collect();
    let prompt = |head: Head| CodeByName {
        head,
        path: path.to_string(),
        task: state.task.description.clone(),
        objections: objections(state),
    };
    let asked = [PromptVariant::whole(prompt(work.head(run)))];
    let without_issue = prompt(Head::unconditional());
    let scored = relevance::conditional(&mut work.calls, about, asked, without_issue, &names).await;
    let likelihood: Vec<Option<f64>> = match scored {
        Ok(scores) => scores.into_iter().map(|named| Some(named.log_ratio)).collect(),
        Err(AskError::Unusable(why)) => {
            work.calls.replaced(Template::CodeByName, why, "the best-matching name");
            Vec::new()
        }
        Err(fatal) => return Err(fatal),
    };
    let ranking: Vec<f64> = symbols.iter().map(|symbol| lexical(symbol)).collect();
    let mut fused = fuse(&ranking, &likelihood);
    let quoted = quoted_lines(run.issue_text(), text);
    let quoted: Vec<LineSpan> = quoted
        .into_iter()
        .filter_map(|line| Some(outline.innermost(line)?.span))
        .collect();
    for (symbol, score) in symbols.iter().zip(&mut fused) {
        if is_named(symbol) {
            *score += NAMED_IN_TASK;
        }
        if quoted.contains(&symbol.span) {
            *score += QUOTED;
        }
        *score -= CAME_TO_NOTHING * f64::from(came_to_nothing(state, &symbol.qualified_name));
    }
    // A second place to change lowers the odds, so it has to be named by the task and by the person.
    let in_issue = words(run.issue_text());
    let mut chosen: Vec<&Symbol> = Vec::new();
    for (place, at) in descending(&fused).into_iter().enumerate() {
        let symbol = symbols[at];
        let overlaps = chosen
            .iter()
            .any(|other| other.span.intersection(symbol.span).is_some());
        if place == 0
            || (is_named(symbol) && in_issue.contains(symbol.name.as_str()) && !overlaps && chosen.len() < REGIONS)
        {
            chosen.push(symbol);
        }
    }
    Ok(chosen)
}

/// In how many rounds a symbol was rewritten without a usable change.
fn came_to_nothing(state: &TaskState, symbol: &str) -> u32 {
    let useless =
        |round: &&magis_flow::RoundState| round.best().is_none() && round.symbols.iter().any(|known| known == symbol);
    state.rounds.iter().filter(useless).count() as u32
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
        objections: objections(state),
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

/// P10, the splice, and the checks by program.
pub(crate) async fn write_code(
    work: &mut Workspace,
    run: &Run,
    task: TaskId,
    round: Round,
    attempt: AttemptNumber,
) -> RoleResult {
    let state = work.task(run, task)?;
    let about = about(state).round(round).attempt(attempt);
    let first = round.0 == 1 && attempt.0 == 0;
    let salt = u64::from(round.0) * 1_000 + u64::from(attempt.0);
    let draws = [
        if first {
            SamplingMode::Greedy
        } else {
            SamplingMode::Varied(salt)
        },
        SamplingMode::Varied(salt + 500),
    ];
    let mut objection = String::new();
    for (draw, mode) in draws.into_iter().enumerate() {
        let written = match &state.task.action {
            FileAction::Delete => Ok((state.task.description.clone(), FileChange::Delete)),
            FileAction::Create => create(work, run, state, &about, mode).await,
            FileAction::Modify | FileAction::Rename { .. } => modify(work, run, state, &about, round, mode).await,
        };
        match written {
            Ok((diagnosis, change)) => {
                let findings = check(work, state, &change)?;
                let same = findings.contains(&Finding::NoChange);
                if !same || draw > 0 {
                    return Ok(RunEvent::CodeWritten {
                        task,
                        round,
                        attempt,
                        diagnosis,
                        change,
                        findings,
                    });
                }
                objection = Finding::NoChange.to_string();
            }
            Err(AskError::Unusable(why)) => objection = why,
            Err(fatal) => return Err(fatal),
        }
        if draw == 0 {
            work.calls.notices.push(Notice::Retried {
                step: Template::Code.to_string(),
                why: objection.clone(),
            });
        }
    }
    Ok(RunEvent::CodeFailed {
        task,
        round,
        attempt,
        reason: objection,
    })
}

async fn create(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    mode: SamplingMode,
) -> Result<(String, FileChange), AskError> {
    let beside = work.read(&state.task.candidate).ok();
    let neighbour = beside.and_then(|source| skeleton_within(&state.task.candidate, &source.text, 2_000));
    let prompt = NewFile {
        head: work.head(run),
        whose: developer(state),
        task: state.task.description.clone(),
        objections: objections(state),
        neighbour: neighbour.map(|skeleton| skeleton.text).unwrap_or_default(),
        fence: fence(&state.task.path).to_owned(),
    };
    let less = NewFile {
        neighbour: String::new(),
        ..prompt.clone()
    };
    let variants = [
        PromptVariant::whole(prompt),
        PromptVariant::less(less, vec!["the file beside it".to_owned()]),
    ];
    let content = work.calls.ask(about, mode, variants).await?;
    Ok((state.task.description.clone(), FileChange::Create { content }))
}

async fn modify(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    round: Round,
    mode: SamplingMode,
) -> Result<(String, FileChange), AskError> {
    let path = &state.task.path;
    let text = work.read(path)?.text;
    let outline = outline(path, &text);
    let chosen = state.rounds.iter().find(|known| known.round == round);
    let (symbols, spans) = chosen.map_or((&[][..], &[][..]), |chosen| (&chosen.symbols[..], &chosen.spans[..]));
    let (mut diagnoses, mut edits) = (Vec::new(), Vec::new());
    for region in regions(&text, &outline, symbols, spans) {
        let (diagnosis, new) = rewrite(work, run, state, about, &text, &region, mode).await?;
        diagnoses.push(diagnosis);
        edits.push(Edit {
            span: region.span,
            text: new,
        });
    }
    if edits.is_empty() {
        return Err(AskError::Unusable("no lines were chosen".to_owned()));
    }
    let change = match &state.task.action {
        FileAction::Rename { to } => FileChange::Rename { to: to.clone(), edits },
        FileAction::Modify | FileAction::Create | FileAction::Delete => FileChange::Modify { edits },
    };
    Ok((diagnoses.join(" "), change))
}

/// P10 for one region: the diagnosis in words, then the code with its answer begun; the definition is parsed out of it.
async fn rewrite(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    about: &CallContext,
    text: &str,
    region: &Region,
    mode: SamplingMode,
) -> Result<(String, String), AskError> {
    let path = &state.task.path;
    let around = skeleton_within(path, text, 1_500)
        .map(|skeleton| skeleton.text)
        .unwrap_or_default();
    let whole = TheChange {
        head: work.head(run),
        whose: developer(state),
        task: state.task.description.clone(),
        objections: objections(state),
        context: around,
        unit: region.unit.to_owned(),
        fence: fence(path).to_owned(),
        code: region.code.clone(),
        focus_lines: region.focus.clone(),
    };
    let outline_left_out = vec!["the file's outline".to_owned()];
    let variants = |change: &TheChange| {
        let less = TheChange {
            context: String::new(),
            ..change.clone()
        };
        [(change.clone(), Vec::new()), (less, outline_left_out.clone())]
    };
    let diagnoses = variants(&whole).map(|(change, left_out)| PromptVariant::less(Diagnosis { change }, left_out));
    let diagnosis = work.calls.ask(about, mode, diagnoses).await?;
    let tokens = work
        .calls
        .count(std::slice::from_ref(&region.code))
        .await?
        .pop()
        .unwrap_or(0);
    let code = variants(&whole).map(|(change, left_out)| {
        let (diagnosis, begin) = (diagnosis.clone(), region.begin.clone());
        PromptVariant::less(
            CodeToWrite {
                change,
                diagnosis,
                begin,
                room: tokens * 3 / 2 + 200,
            },
            left_out,
        )
    });
    let answer = work.calls.ask(about, mode, code).await?;
    let original = lines(text, region.span);
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

/// Returns what programs find in a change.
fn check(work: &Workspace, state: &TaskState, change: &FileChange) -> Result<Vec<Finding>, AskError> {
    let path: &RepoPath = &state.task.path;
    let base = match change {
        FileChange::Create { .. } => String::new(),
        FileChange::Modify { .. } | FileChange::Delete | FileChange::Rename { .. } => work.read(path)?.text,
    };
    if *change == FileChange::Delete {
        return Ok(Vec::new());
    }
    let new = after(&base, change).ok_or_else(|| AskError::Unusable("the lines to change do not exist".to_owned()))?;
    let moved = matches!(change, FileChange::Rename { .. });
    let mut findings = Vec::new();
    if !moved && same_code(path, &base, &new) {
        findings.push(Finding::NoChange);
    }
    if let Some((before, after)) = parses_worse(path, &base, &new) {
        findings.push(Finding::ParsesWorse { before, after });
    }
    let size = diff_stat(&base, &new);
    if size.deleted > size.added * 2 + FAR_MORE {
        findings.push(Finding::DeletesFarMore {
            deleted: size.deleted,
            added: size.added,
        });
    }
    Ok(findings)
}
