//! The Developers: their speech, their revised role (P6), their QA Engineer (P8), the lines (P9), the code (P10).

mod change;
mod code;
mod edits;
mod gap;
mod likelihood;
mod lines;
mod reach;
mod reading;
mod surprisal;
mod writing;

pub(crate) use code::write_code;
pub(crate) use likelihood::compare_attempts;
pub(crate) use lines::choose_lines;

use super::RoleResult;
use super::manager::{or_plain_role, or_silence};
use crate::calls::{AskError, PromptVariant, SamplingMode};
use crate::runs::workspace::{Workspace, about, developer, record, team};
use magis_core::{RunEvent, Speaker, Speech, TaskId, Turn};
use magis_flow::Run;
use magis_prompts::{ReviewerRole, RevisedRole, Template};

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
