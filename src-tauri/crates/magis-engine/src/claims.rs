//! Whether an archive of a run claims no more than its own log shows. It takes nothing in and asks no repository.

use crate::EngineError;
use magis_flow::Run;
use magis_repo::Patch;
use magis_store::{ArchiveError, RunArchive};

/// Whether the log of an archive leads to what it claims, and its patch touches nothing but what its tasks changed.
pub(crate) fn check(archive: &RunArchive) -> Result<(), EngineError> {
    let unfounded = |why: String| EngineError::Archive(ArchiveError::Unfounded(why));
    let events = archive.run.events.iter().map(|stored| &stored.event);
    let state = Run::fold_from_elsewhere(events).map_err(|error| unfounded(error.to_string()))?;
    let Some(merged) = state.merged().filter(|merged| !merged.patch.is_empty()) else {
        return Ok(());
    };
    let patch = Patch::parse(&merged.patch).map_err(|error| unfounded(error.to_string()))?;
    let accepted = state.accepted_files();
    let foreign = patch.files.iter().find(|file| !accepted.contains(&file.path));
    foreign.map_or(Ok(()), |file| {
        Err(unfounded(format!(
            "its patch touches {}, which no task changed",
            file.path
        )))
    })
}
