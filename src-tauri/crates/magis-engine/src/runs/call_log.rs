//! The log of a run's calls: each is recorded with the run, and found again where the run is taken up.

use crate::Progress;
use crate::calls::CallLog;
use magis_core::RunId;
use magis_platform::private;
use magis_store::{CallRecord, Store, StoreError};
use serde_json::{Value, json};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use tokio::sync::mpsc::UnboundedSender;

/// The calls of one run, and whoever follows it.
pub(crate) struct RunLog {
    pub store: Store,
    pub run: RunId,
    pub progress: UnboundedSender<Progress>,
    /// Where the contents of calls are logged, where a person asked for that.
    pub contents: Option<PathBuf>,
}

impl CallLog for RunLog {
    fn run(&self) -> Option<RunId> {
        Some(self.run)
    }

    fn find(&self, key: &str) -> Result<Option<Value>, StoreError> {
        Ok(self.store.find_call(self.run, key)?.map(|call| call.record.reply))
    }

    fn record(&self, call: CallRecord) -> Result<(), StoreError> {
        if let Some(file) = &self.contents {
            // The run matters more than what is logged of it.
            drop(log_contents(file, &call));
        }
        self.store.record_call(self.run, &call).map(drop)
    }

    fn follow(&self, progress: Progress) {
        // Where nobody follows, the run goes on all the same.
        drop(self.progress.send(progress));
    }
}

fn log_contents(file: &Path, call: &CallRecord) -> io::Result<()> {
    let line = json!({"at_ms": call.at_ms, "step": call.step, "request": call.request, "reply": call.reply});
    let mut options = private::file_options();
    writeln!(options.create(true).append(true).open(file)?, "{line}")
}
