//! A run as one file: written, and taken in where it claims no more than its own log shows.

use crate::{EngineError, Magis};
use magis_core::{Base, RunId};
use magis_flow::Run;
use magis_platform::now_ms;
use magis_repo::Patch;
use magis_store::{ArchiveError, ImportSource, RunArchive};

impl Magis {
    /// Returns a run as one value, with its events and calls.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn archive(&self, run: RunId) -> Result<RunArchive, EngineError> {
        Ok(self.store.export_run(run)?)
    }

    /// Returns a run as JSON, with its events and calls.
    ///
    /// # Errors
    /// When there is no such run, or the file cannot be written.
    pub fn export(&self, run: RunId) -> Result<String, EngineError> {
        Ok(self.archive(run)?.to_json()?)
    }

    /// Returns from which file a run was imported, and when; none where it was made here.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn import_of(&self, run: RunId) -> Result<Option<ImportSource>, EngineError> {
        Ok(self.store.import_of(run)?)
    }

    /// Takes in a run exported elsewhere, in a file of this name. How it stands is what its own events lead to; an archive that claims anything else
    /// is refused. It belongs to the repository here that has its base, where there is only one.
    ///
    /// # Errors
    /// When the file is no exported run, its claims do not hold, or the database cannot be written.
    pub fn import(&self, json: &str, file: &str) -> Result<RunId, EngineError> {
        let archive = RunArchive::from_json(json)?;
        let base = check(&archive)?;
        let from = ImportSource {
            file: file.to_owned(),
            at: now_ms(),
        };
        // Found before anything is taken in, so that it is taken in with its repository or not at all.
        Ok(match self.only_repository_with(&base)? {
            Some(repo) => self.store.import_run_of(&archive, &from, repo)?,
            None => self.store.import_run(&archive, &from)?,
        })
    }
}

/// Returns what the run of an archive reads, where its log leads to what it claims, and its patch touches nothing but what its
/// tasks changed.
fn check(archive: &RunArchive) -> Result<Base, EngineError> {
    let unfounded = |why: String| EngineError::Archive(ArchiveError::Unfounded(why));
    let events = archive.run.events.iter().map(|stored| &stored.event);
    let state = Run::fold_from_elsewhere(events).map_err(|error| unfounded(error.to_string()))?;
    let Some(merged) = state.merged().filter(|merged| !merged.patch.is_empty()) else {
        return Ok(state.base().clone());
    };
    let patch = Patch::parse(&merged.patch).map_err(|error| unfounded(error.to_string()))?;
    let accepted = state.accepted_files();
    let foreign = patch.files.iter().find(|file| !accepted.contains(&file.path));
    foreign.map_or_else(
        || Ok(state.base().clone()),
        |file| {
            Err(unfounded(format!(
                "its patch touches {}, which no task changed",
                file.path
            )))
        },
    )
}
