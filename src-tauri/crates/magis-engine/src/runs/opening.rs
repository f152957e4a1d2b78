//! Opens a data folder, and takes up what earlier programs left in it.

use crate::evidence::ScratchFolder;
use crate::{DataFolder, EngineError, Magis, OtherEngine};
use magis_llama::WorkerCommand;
use magis_models::ModelLibrary;
use magis_platform::now_ms;
use magis_repo::Git;
use magis_store::{Access, Erasure, Lease, RunFilter, Store};
use std::sync::Arc;

/// What a data folder holds, as far as it can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataCheck {
    /// Runs in the database.
    pub runs: u32,
    /// Bytes of the database.
    pub bytes: u64,
    /// Who works on a run there now.
    pub driven: Option<Lease>,
    /// The engine that is used instead of our own.
    pub other_engine: Option<OtherEngine>,
}

/// Looks at the database of a data folder from its first page to its last, and changes nothing of its runs.
///
/// # Errors
/// When it cannot be opened, or is not sound.
pub fn check_data(data: &DataFolder) -> Result<DataCheck, EngineError> {
    data.refuse_foreign()?;
    let store = Store::open(data.root())?;
    store.check()?;
    let all = RunFilter {
        limit: u32::MAX,
        ..RunFilter::default()
    };
    Ok(DataCheck {
        runs: u32::try_from(store.runs(&all)?.len()).unwrap_or(u32::MAX),
        bytes: std::fs::metadata(store.path()).map_or(0, |file| file.len()),
        driven: store.live_lease(now_ms())?,
        other_engine: OtherEngine::kept(&store)?,
    })
}

impl Magis {
    /// Opens the data folder, with the command that starts the engine's worker.
    ///
    /// # Errors
    /// When the data folder is somebody else's, or the database in it cannot be opened, or another version wrote it.
    pub fn open(data: DataFolder, worker: WorkerCommand, git: Git) -> Result<Self, EngineError> {
        data.refuse_foreign()?;
        let store = Store::open(data.root())?;
        let library = Arc::new(ModelLibrary::open(data.models())?);
        let magis = Self {
            data,
            store,
            library,
            worker,
            git,
            sandbox: None,
            other_engine: None,
            contents: Arc::default(),
        };
        if magis.store.access() == Access::ReadWrite {
            magis.data.make_private()?;
            ScratchFolder::remove_abandoned(&magis.data);
            magis.store.interrupt_abandoned_runs(now_ms())?;
            // What cannot be removed now either waits for the next opening, as it did for this one.
            let _: Erasure = magis.finish_deletions();
        }
        Ok(magis)
    }
}
