//! `magis steer`: a person steps into a run that is not over.

use super::Place;
use crate::args::{SteerArgs, SteerCommand};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use magis_core::{AttemptNumber, Role, Round, RunId, TaskId};
use magis_engine::records::StoredStatus;
use magis_engine::{EngineError, Magis, Steering};

/// Runs `magis steer`.
pub fn steer(place: &Place, args: SteerArgs) -> Result<ExitStatus, Failure> {
    let magis = place.open()?;
    let run = args.run;
    let steering = match args.command {
        SteerCommand::Drop { path } => Steering::Drop { path },
        SteerCommand::Add { path } => Steering::Add { path },
        SteerCommand::Task { task, text } => Steering::EditTask {
            task,
            action: None,
            description: text,
        },
        SteerCommand::Role { task, name, focus } => edited_role(&magis, run, task, name, focus)?,
        SteerCommand::Take { task, round, attempt } => Steering::TakeAttempt {
            task,
            round: Round(round),
            attempt: AttemptNumber(attempt - 1),
        },
        SteerCommand::Hint { text } => Steering::Hint { text },
        SteerCommand::Say { text } => Steering::Speak { text },
    };
    magis.steer(run, steering)?;
    let text = match magis.run(run)?.entry.status {
        StoredStatus::Running => format!("Noted; run {run} takes it in before its next step."),
        StoredStatus::Queued | StoredStatus::Paused | StoredStatus::Interrupted | StoredStatus::Ended => {
            format!(
                "Noted; run {run} takes it in when it goes on: {}",
                place.resume_command(run)
            )
        }
    };
    place.screen.line(&text)?;
    Ok(ExitStatus::Success)
}

/// Returns what is not given stays as it is.
fn edited_role(
    magis: &Magis,
    run: RunId,
    task: TaskId,
    name: Option<String>,
    focus: Option<String>,
) -> Result<Steering, Failure> {
    let state = magis.state(run)?;
    let why = |why: String| EngineError::Steering { run, why };
    let known = state.task(task).ok_or_else(|| why(format!("it has no task {task}")))?;
    let role = match (name, focus, &known.role) {
        (Some(name), Some(focus), _) => Role { name, focus },
        (name, focus, Some(role)) => Role {
            name: name.unwrap_or(role.name.clone()),
            focus: focus.unwrap_or(role.focus.clone()),
        },
        (_, _, None) => return Err(why(format!("{task} has no Developer yet, so give --name and --focus")).into()),
    };
    Ok(Steering::EditRole { task, role })
}
