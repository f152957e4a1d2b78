//! P10: the code, the splice, and the checks by program.

use crate::calls::{AskError, CallContext, PromptVariant, SamplingMode};
use crate::runs::roles::RoleResult;
use crate::runs::roles::region::{Region, fence, regions};
use crate::runs::workspace::{Workspace, about, after, developer, lines, objections};
use magis_core::{AttemptNumber, Edit, FileAction, FileChange, Finding, Notice, RepoPath, Round, RunEvent, TaskId};
use magis_flow::{Run, TaskState};
use magis_prompts::{CodeToWrite, Diagnosis, NewFile, Template, TheChange};
use magis_repo::diff_stat;
use magis_syntax::{
    SourceLanguage, extract_definition, outline, parses_worse, reindent, same_code, skeleton_within, strip_fences,
};

/// The number of lines from which a deletion is "far beyond addition".
const FAR_MORE: u32 = 20;

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
