//! The log of a run's calls: each is recorded with the run, and found again where the run is taken up.

use crate::Progress;
use crate::calls::CallLog;
use magis_core::RunId;
use magis_store::{CallRecord, Store, StoreError};
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

/// The calls of one run, and whoever follows it.
pub(crate) struct RunLog {
    pub store: Store,
    pub run: RunId,
    pub progress: UnboundedSender<Progress>,
}

impl CallLog for RunLog {
    fn run(&self) -> Option<RunId> {
        Some(self.run)
    }

    fn find(&self, key: &str) -> Result<Option<Value>, StoreError> {
        Ok(self.store.find_call(self.run, key)?.map(|call| call.record.reply))
    }

    fn record(&self, call: CallRecord) -> Result<(), StoreError> {
        self.store.record_call(self.run, &call).map(drop)
    }

    fn follow(&self, progress: Progress) {
        // Where nobody follows, the run goes on all the same.
        drop(self.progress.send(progress));
    }
}
