//! P10: the code and the splice. How an answer is asked for is in `writing`, the checks by program in `change`.

use super::change::check;
use super::writing::{self, AnswerAt, Asked};
use crate::calls::{AskError, PromptVariant, SamplingMode};
use crate::runs::roles::RoleResult;
use crate::runs::roles::region::fence;
use crate::runs::workspace::{Workspace, about, after, developer, objections};
use magis_core::{AttemptNumber, FileAction, FileChange, Finding, Notice, Round, RunEvent, TaskId};
use magis_flow::{Run, TaskState};
use magis_prompts::{NewFile, Template};
use magis_syntax::{same_code, skeleton_within};

/// P10, the splice, and the checks by program.
pub(crate) async fn write_code(
    work: &mut Workspace,
    run: &Run,
    task: TaskId,
    round: Round,
    attempt: AttemptNumber,
) -> RoleResult {
    let state = work.task(run, task)?;
    let first = asked(work, run, state, round, attempt)?;
    let salt = salt(round, attempt);
    let mut objection = String::new();
    // One answer alone is asked for again when it changes nothing; of several the others stand beside it.
    let draws = if run.request().attempts_per_round > 1 { 1 } else { 2 };
    // The first of its way at a place asks for all of them; the others find their answers on record.
    let has_code = matches!(state.task.action, FileAction::Modify | FileAction::Rename { .. });
    if draws == 1 && has_code {
        let beside = run.attempts_beside(state, round, attempt).into_iter();
        let all = beside.map(|other| asked(work, run, state, round, other));
        let all = all.collect::<Result<Vec<Asked>, _>>()?;
        let all: Vec<Asked> = all.into_iter().filter(|other| other.mode == first.mode).collect();
        if all.first().is_some_and(|other| other.among == first.among) {
            writing::ask_ahead(work, run, state, &all).await?;
        }
    }
    for draw in 0..draws {
        let one = Asked {
            sampling: if draw == 0 {
                first.sampling
            } else {
                SamplingMode::Varied(salt + 500)
            },
            ..first.clone()
        };
        let written = match &state.task.action {
            FileAction::Delete => Ok((state.task.description.clone(), FileChange::Delete)),
            FileAction::Create => create(work, run, state, &one).await,
            FileAction::Modify | FileAction::Rename { .. } => writing::modify(work, run, state, &one).await,
        };
        match written {
            Ok((diagnosis, change)) => {
                let findings = check(work, run, state, &change)?;
                let same = findings.contains(&Finding::NoChange);
                if !same || draw + 1 == draws {
                    let same_as = repeated(work, state, &change, (round, attempt))?;
                    return Ok(RunEvent::CodeWritten {
                        task,
                        round,
                        attempt,
                        diagnosis,
                        change,
                        findings,
                        place: first.place as u32,
                        mode: first.mode,
                        same_as,
                    });
                }
                objection = Finding::NoChange.to_string();
            }
            Err(AskError::Unusable(why)) => objection = why,
            Err(fatal) => return Err(fatal),
        }
        if draw + 1 < draws {
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

fn salt(round: Round, attempt: AttemptNumber) -> u64 {
    u64::from(round.0) * 1_000 + u64::from(attempt.0)
}

/// Returns how an answer is asked for: by its place in the round, and by its place among the answers there.
fn asked(
    work: &Workspace,
    run: &Run,
    state: &TaskState,
    round: Round,
    attempt: AttemptNumber,
) -> Result<Asked, AskError> {
    let known = state.round(round);
    let (place, share) = known.map_or((0, 0..1), |known| run.place_of(known, attempt));
    let among = attempt.0 - share.start;
    let may_be_rewritten = run.request().writing.is_empty() && share.len() > 1 && attempt.0 + 1 == share.end;
    let is_rewritten = match known {
        Some(known) if may_be_rewritten && round.0 == 1 && !known.first_place().spans.is_empty() => {
            let path = &state.task.path;
            let text = work.read(path)?.text;
            writing::is_rewritten(known.first_place(), path, &text, place, known.places.len())
        }
        // Later rounds come after what is cheaper.
        _ => may_be_rewritten && place == 0,
    };
    let gaps = known
        .and_then(|known| known.places.get(place))
        .map_or(0, |place| place.spans.len());
    let at = AnswerAt {
        round,
        place,
        among,
        gaps: gaps as u32,
        is_rewritten,
    };
    let mode = writing::mode(work, run, at);
    let greedy = writing::is_greedy(work, run, state, at);
    Ok(Asked {
        about: about(state).round(round).attempt(attempt),
        round,
        // What is rewritten is the first place's, wherever its turn is.
        place: if is_rewritten { 0 } else { place },
        mode,
        among,
        sampling: if greedy {
            SamplingMode::Greedy
        } else {
            SamplingMode::Varied(salt(round, attempt))
        },
    })
}

async fn create(
    work: &mut Workspace,
    run: &Run,
    state: &TaskState,
    asked: &Asked,
) -> Result<(String, FileChange), AskError> {
    let beside = work.read(&state.task.candidate).ok();
    let neighbour = beside.and_then(|source| skeleton_within(&state.task.candidate, &source.text, 2_000));
    let prompt = NewFile {
        head: work.head(run),
        whose: developer(state),
        task: state.task.description.clone(),
        objections: objections(state, asked.round),
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
    let content = work.calls.ask(&asked.about, asked.sampling, variants).await?;
    Ok((state.task.description.clone(), FileChange::Create { content }))
}

/// Returns the earlier attempt of the task that gives the same code.
fn repeated(
    work: &Workspace,
    state: &TaskState,
    change: &FileChange,
    this: (Round, AttemptNumber),
) -> Result<Option<(Round, AttemptNumber)>, AskError> {
    let path = &state.task.path;
    let base = match change {
        FileChange::Modify { .. } | FileChange::Rename { .. } => work.read(path)?.text,
        FileChange::Create { .. } | FileChange::Delete => String::new(),
    };
    let Some(new) = after(&base, change) else {
        return Ok(None);
    };
    for round in &state.rounds {
        for (number, attempt) in &round.attempts {
            let is_earlier = (round.round, *number) < this && attempt.same_as().is_none();
            let other = attempt.usable_change().filter(|_| is_earlier);
            if let Some(other) = other.filter(|other| meet(change, other))
                && let Some(other) = after(&base, other)
                && same_code(path, &other, &new)
            {
                return Ok(Some((round.round, *number)));
            }
        }
    }
    Ok(None)
}

/// Returns whether two changes have lines in common; others are not the same.
fn meet(one: &FileChange, other: &FileChange) -> bool {
    match (one, other) {
        (FileChange::Modify { edits: one }, FileChange::Modify { edits: other }) => one
            .iter()
            .any(|one| other.iter().any(|other| one.span.intersection(other.span).is_some())),
        _ => true,
    }
}
