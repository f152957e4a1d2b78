//! What a person can change in a run that is not over.

use crate::{EngineError, Magis};
use magis_core::{
    AttemptNumber, FileAction, Hint, RepoPath, Role, Round, RunEvent, RunId, Speaker, Speech, TaskId, Turn,
};
use magis_flow::Run;
use magis_platform::now_ms;
use magis_repo::Snapshot;
use magis_store::StoreError;

/// One intervention; each becomes an event of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Steering {
    /// Drop a candidate file, and its task.
    Drop { path: String },
    /// Add a candidate file.
    Add { path: String },
    /// Rewrite a task; its code is written anew.
    EditTask {
        task: TaskId,
        /// What happens to the file; none: as before.
        action: Option<FileAction>,
        /// What has to be done.
        description: String,
    },
    /// Rewrite a Developer's role.
    EditRole {
        task: TaskId,
        /// The role from now on.
        role: Role,
    },
    /// A hint for what is still to be done.
    Hint { text: String },
    /// A word in the meeting. It never waits for one.
    Speak { text: String },
    /// Take an answer; its task ends with it.
    TakeAttempt {
        task: TaskId,
        round: Round,
        attempt: AttemptNumber,
    },
}

impl Magis {
    /// Intervenes in a run that is not over; whoever drives it takes it in before its next step.
    ///
    /// # Errors
    /// When the run is over, the request does not fit how it stands, or the database cannot be written.
    pub fn steer(&self, run: RunId, steering: Steering) -> Result<(), EngineError> {
        let state = self.state(run)?;
        if state.outcome().is_some() {
            return Err(EngineError::RunOver(run));
        }
        let event = self.steering_event(run, &state, steering)?;
        let mut folded = state;
        folded.handle(&event).map_err(|error| EngineError::Steering {
            run,
            why: error.to_string(),
        })?;
        for _ in 0..5 {
            let next = self.store.event_count(run)? + 1;
            match self.store.append_event(run, next, now_ms(), &event) {
                // The driver appended at the same moment; the next number is another one now.
                Err(StoreError::OutOfOrder { .. }) => {}
                other => return Ok(other?),
            }
        }
        Err(EngineError::Steering {
            run,
            why: "its log is being written to all the time".to_owned(),
        })
    }

    pub(super) fn steering_event(&self, run: RunId, state: &Run, steering: Steering) -> Result<RunEvent, EngineError> {
        Ok(match steering {
            Steering::Drop { path } => RunEvent::CandidateDropped {
                path: RepoPath::new(path)?,
            },
            Steering::Add { path } => {
                let path = RepoPath::new(path)?;
                let repo = self.repository_id_of(run)?;
                let snapshot = Snapshot::reopen(&self.git, self.data.objects(repo), state.base())?;
                let (files, _) = snapshot.files()?;
                let found = files.into_iter().find(|file| file.path == path);
                let missing = || EngineError::NoSuchFile {
                    path: path.clone(),
                    base: state.base().name.clone(),
                };
                let blob = found.ok_or_else(missing)?.blob;
                RunEvent::CandidateAdded { path, blob }
            }
            Steering::EditTask {
                task,
                action,
                description,
            } => {
                let unknown = || EngineError::Steering {
                    run,
                    why: format!("it has no task {task}"),
                };
                let before = state.task(task).ok_or_else(unknown)?.task.action.clone();
                RunEvent::TaskEdited {
                    task,
                    action: action.unwrap_or(before),
                    description,
                }
            }
            Steering::EditRole { task, role } => RunEvent::RoleEdited { task, role },
            Steering::TakeAttempt { task, round, attempt } => {
                let known = state.task(task).and_then(|state| state.attempt(round, attempt));
                if known.and_then(magis_flow::Attempt::usable_change).is_none() {
                    return Err(EngineError::Steering {
                        run,
                        why: format!(
                            "attempt {} of round {round} of {task} has no usable change",
                            attempt.0 + 1
                        ),
                    });
                }
                RunEvent::AttemptTaken { task, round, attempt }
            }
            Steering::Hint { text } => RunEvent::HintAdded { hint: Hint::Word(text) },
            Steering::Speak { text } => RunEvent::Spoken {
                speech: Speech {
                    speaker: Speaker::Person,
                    turn: Turn::Speak,
                    text,
                },
            },
        })
    }
}
