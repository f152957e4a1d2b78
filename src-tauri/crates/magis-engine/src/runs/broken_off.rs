//! What was begun in a person's repository is written down first, so that a program that is killed meanwhile leaves nothing half done: the next one brings it to
//! an end, and says so.

use super::apply::Application;
use crate::{EngineError, Magis};
use magis_core::{RepoPath, RunId};
use magis_repo::{RepoError, Settled, settle};
use magis_store::{Access, ApplyDirection, UnfinishedApplication};
use std::fs::{File, TryLockError};
use std::io::ErrorKind;

/// A patch that was being applied or taken back when its program ended, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenOffApplication {
    pub run: RunId,
    pub outcome: BrokenOffOutcome,
}

/// What became of a patch that was being applied or taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokenOffOutcome {
    /// All of it is applied.
    Stands,
    /// None of it is applied.
    TakenBack {
        /// Files of it that somebody changed since: they stay as they are.
        kept: Vec<RepoPath>,
    },
    /// Nothing could be done about it yet. The next start tries again.
    Open { why: String },
}

impl BrokenOffApplication {
    /// Returns what happened, in a sentence.
    pub fn sentence(&self) -> String {
        let run = self.run;
        match &self.outcome {
            BrokenOffOutcome::Stands => {
                format!(
                    "the program ended before it could note what became of the patch of run {run}: all of it is applied"
                )
            }
            BrokenOffOutcome::TakenBack { kept } if kept.is_empty() => {
                format!(
                    "the program ended while the patch of run {run} was being applied or taken back: none of it is applied now"
                )
            }
            BrokenOffOutcome::TakenBack { kept } => {
                let kept: Vec<&str> = kept.iter().map(RepoPath::as_str).collect();
                format!(
                    "the program ended while the patch of run {run} was being applied or taken back: none of it is applied now, but for what was changed since: {}",
                    kept.join(", ")
                )
            }
            BrokenOffOutcome::Open { why } => {
                format!("the patch of run {run} may be applied in part, because the program ended meanwhile: {why}")
            }
        }
    }
}

impl Magis {
    /// Brings to an end what earlier programs began in repositories and did not end, and returns what became of it. What another program is at is left to it.
    ///
    /// # Errors
    /// When the database cannot be read or written.
    pub fn settle_applications(&self) -> Result<Vec<BrokenOffApplication>, EngineError> {
        if self.store.access() != Access::ReadWrite || self.unfinished()?.is_empty() {
            return Ok(Vec::new());
        }
        let lock = self.open_applying()?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => Ok(Vec::new()),
            // Where the system has no locks, nobody is known to be at it.
            Ok(()) | Err(TryLockError::Error(_)) => self.settle_held(),
        }
    }

    /// Carries out a change of a run's repository of which `application` is what it comes to; written down first, and what became of it after. Returns what
    /// `change` does.
    pub(super) fn journalled<T>(
        &self,
        run: RunId,
        direction: ApplyDirection,
        application: &Application,
        change: impl FnOnce() -> Result<T, RepoError>,
    ) -> Result<T, EngineError> {
        // Where nothing can be noted, nothing is begun either, and the store says why.
        let _lock = match self.store.access() {
            Access::ReadWrite => Some(self.hold_applying()?),
            Access::DiskFull | Access::ReadOnly => None,
        };
        self.store.begin_application(run, direction, application)?;
        match change() {
            Ok(done) => {
                self.store.end_application(run, direction == ApplyDirection::Apply)?;
                Ok(done)
            }
            // What could not be brought back or removed then may be later.
            Err(error @ (RepoError::HalfDone { .. } | RepoError::LeftBehind { .. })) => Err(error.into()),
            Err(error) => {
                // All is as it was before. Where that cannot be noted, the next start finds it out.
                let _noted = self.store.forget_begun(run);
                Err(error.into())
            }
        }
    }

    fn open_applying(&self) -> Result<File, EngineError> {
        let path = self.data.applying();
        let mut options = File::options();
        let opened = options.read(true).write(true).create(true).truncate(false).open(&path);
        opened.map_err(EngineError::io("open", &path))
    }

    /// Waits until nobody else applies anything; the system lets go of it when this program ends, however it does.
    fn hold_applying(&self) -> Result<File, EngineError> {
        let lock = self.open_applying()?;
        match lock.lock() {
            Err(error) if error.kind() != ErrorKind::Unsupported => {
                Err(EngineError::io("lock", &self.data.applying())(error))
            }
            Ok(()) | Err(_) => Ok(lock),
        }
    }

    fn unfinished(&self) -> Result<Vec<UnfinishedApplication<Application>>, EngineError> {
        Ok(self.store.unfinished_applications()?)
    }

    fn settle_held(&self) -> Result<Vec<BrokenOffApplication>, EngineError> {
        let mut settled = Vec::new();
        for UnfinishedApplication { run, application, .. } in self.unfinished()? {
            let found = self
                .repository_of(run)
                .and_then(|repository| Ok(settle(&repository, &application.applied)?));
            let outcome = match found {
                Ok(Settled::Applied) => {
                    self.store.end_application(run, true)?;
                    BrokenOffOutcome::Stands
                }
                Ok(Settled::TakenBack { kept }) => {
                    self.store.end_application(run, false)?;
                    BrokenOffOutcome::TakenBack { kept }
                }
                Err(error) => BrokenOffOutcome::Open { why: error.to_string() },
            };
            settled.push(BrokenOffApplication { run, outcome });
        }
        Ok(settled)
    }
}
