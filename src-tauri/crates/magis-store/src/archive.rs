//! One run as one value that can be written to a file, carried to another data folder and read there.
//!
//! It reads and writes no file. The repository's root is left out: it names folders of the machine.

use crate::error::{ArchiveError, DatabaseError};
use crate::{
    CallOrigin, CallRecord, ImportSource, Store, StoreError, StoredEvent, calls, events, imports, run_timeline, runs,
};
use magis_core::{LOG_VERSION, RepoId, RunEvent, RunId, RunRequest, upcast_event, upcast_request};
use rusqlite::Transaction;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// Everything of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunArchive {
    /// Always [`RunArchive::FORMAT`].
    pub format: String,
    /// The version of the format, which is the one of the log inside.
    pub version: u32,
    pub run: ArchivedRun,
}

/// The content of an archive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArchivedRun {
    pub repository: String,
    /// What was asked for.
    pub request: RunRequest,
    /// When it was created, in milliseconds since the epoch.
    pub created_at: i64,
    /// Its events, in order.
    pub events: Vec<StoredEvent>,
    /// Its calls, in order.
    pub calls: Vec<CallRecord>,
}

impl RunArchive {
    /// What the field `format` says.
    pub const FORMAT: &'static str = "magis-run";
    /// The newest version this program reads, and the one it writes.
    pub const VERSION: u32 = LOG_VERSION;

    /// Reads an archive's JSON; its version is looked at first, and one of an earlier version is raised to this one.
    ///
    /// # Errors
    /// When the text is no exported run, or one of a newer version.
    pub fn from_json(json: &str) -> Result<Self, ArchiveError> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        let malformed = |error: serde_json::Error| ArchiveError::Malformed(error.to_string());
        let head: Head = serde_json::from_str(json).map_err(malformed)?;
        check_head(&head.format, head.version)?;
        if head.version == Self::VERSION {
            return serde_json::from_str(json).map_err(malformed);
        }
        let mut archive: Value = serde_json::from_str(json).map_err(malformed)?;
        if let Some(request) = archive.pointer_mut("/run/request") {
            upcast_request(head.version, request);
        }
        let events = archive.pointer_mut("/run/events").and_then(Value::as_array_mut);
        for event in events
            .into_iter()
            .flatten()
            .filter_map(|stored| stored.get_mut("event"))
        {
            upcast_event(head.version, event);
        }
        if let Some(version) = archive.get_mut("version") {
            *version = Self::VERSION.into();
        }
        serde_json::from_value(archive).map_err(malformed)
    }

    /// Returns the archive as JSON.
    ///
    /// # Errors
    /// When a value has no form in JSON.
    pub fn to_json(&self) -> Result<String, StoreError> {
        serde_json::to_string_pretty(self).map_err(|source| StoreError::Encode {
            attempt: "writing an archive",
            source,
        })
    }
}

impl Store {
    /// Returns everything of a run.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn export_run(&self, id: RunId) -> Result<RunArchive, StoreError> {
        self.read("exporting a run", |transaction| {
            let run = runs::get(transaction, id)?;
            Ok(RunArchive {
                format: RunArchive::FORMAT.to_owned(),
                version: RunArchive::VERSION,
                run: ArchivedRun {
                    repository: run.entry.repository,
                    request: run.request,
                    created_at: run.entry.created_at,
                    events: events::read(transaction, id, 0, u32::MAX)?,
                    calls: calls::read(transaction, id)?
                        .into_iter()
                        .map(|call| call.record)
                        .collect(),
                },
            })
        })
    }

    /// Takes in a run from another data folder, which came in a file. It belongs to no repository here and is marked as imported; one that had
    /// not ended counts as interrupted.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn import_run(&self, archive: &RunArchive, from: &ImportSource) -> Result<RunId, StoreError> {
        self.take_in(archive, from, |_, _| Ok(()))
    }

    /// As [`Store::import_run`], of a run that belongs to a repository here: both, or nothing.
    ///
    /// # Errors
    /// When there is no such repository, or the database cannot be written.
    pub fn import_run_of(&self, archive: &RunArchive, from: &ImportSource, repo: RepoId) -> Result<RunId, StoreError> {
        self.take_in(archive, from, |transaction, run| runs::adopt(transaction, run, repo))
    }

    fn take_in(
        &self,
        archive: &RunArchive,
        from: &ImportSource,
        then: impl FnOnce(&Transaction<'_>, RunId) -> Result<(), DatabaseError>,
    ) -> Result<RunId, StoreError> {
        check_head(&archive.format, archive.version)?;
        check(&archive.run)?;
        self.write("importing a run", |transaction| {
            let run = import(transaction, &archive.run)?;
            imports::insert(transaction, run, from)?;
            then(transaction, run)?;
            Ok(run)
        })
    }
}

fn import(transaction: &Transaction<'_>, run: &ArchivedRun) -> Result<RunId, DatabaseError> {
    let id = runs::insert_imported(transaction, &run.repository, &run.request, run.created_at)?;
    for stored in &run.events {
        events::append(transaction, id, stored.seq, stored.at_ms, &stored.event)?;
    }
    for record in &run.calls {
        calls::insert(transaction, id, CallOrigin::Own, record)?;
        run_timeline::count_cost(transaction, id, record.spent_tokens(), record.worked_ms())?;
    }
    transaction.execute(
        "UPDATE runs SET status = 'interrupted' WHERE id = ?1 AND status <> 'ended'",
        [id.0],
    )?;
    Ok(id)
}

fn check_head(format: &str, version: u32) -> Result<(), ArchiveError> {
    if format != RunArchive::FORMAT {
        return Err(ArchiveError::Malformed(format!("its format is '{format}'")));
    }
    if version == 0 || version > RunArchive::VERSION {
        return Err(ArchiveError::UnknownVersion {
            found: version,
            known: RunArchive::VERSION,
        });
    }
    Ok(())
}

/// Returns what every log fulfils, and a file that was edited or cut off may not.
fn check(run: &ArchivedRun) -> Result<(), ArchiveError> {
    let malformed = |what: String| Err(ArchiveError::Malformed(what));
    for (index, stored) in run.events.iter().enumerate() {
        let expected = index as u32 + 1;
        if stored.seq != expected {
            return malformed(format!("event {} stands where event {expected} belongs", stored.seq));
        }
        let starts = matches!(stored.event, RunEvent::RunStarted { .. });
        if let RunEvent::RunStarted { request, .. } = &stored.event
            && **request != run.request
        {
            return malformed("what was asked for differs between its head and its first event".to_owned());
        }
        if starts != (index == 0) {
            return malformed(format!(
                "event {expected} should {}start the run",
                if index == 0 { "" } else { "not " }
            ));
        }
    }
    let mut keys = BTreeSet::new();
    for record in &run.calls {
        if record.after_seq as usize > run.events.len() {
            return malformed(format!(
                "call {} was made after event {}, which is missing",
                record.key, record.after_seq
            ));
        }
        if !keys.insert(&record.key) {
            return malformed(format!("call {} stands there twice", record.key));
        }
    }
    Ok(())
}
