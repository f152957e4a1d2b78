//! Opens a data folder, and takes up what earlier programs left in it.

use super::driver::interrupt_abandoned;
use crate::{DataFolder, EngineError, Magis};
use magis_llama::WorkerCommand;
use magis_models::ModelLibrary;
use magis_store::{Access, Erasure, Store};
use std::sync::Arc;

impl Magis {
    /// Opens the data folder, with the command that starts the engine's worker.
    pub fn open(data: DataFolder, worker: WorkerCommand) -> Result<Self, EngineError> {
        let store = Store::open(data.root())?;
        let library = Arc::new(ModelLibrary::open(data.models())?);
        let magis = Self {
            data,
            store,
            library,
            worker,
        };
        if magis.store.access() == Access::ReadWrite {
            magis.data.make_private()?;
            interrupt_abandoned(&magis.store)?;
            // What cannot be removed now either waits for the next opening, as it did for this one.
            let _: Erasure = magis.finish_deletions();
        }
        Ok(magis)
    }
}
