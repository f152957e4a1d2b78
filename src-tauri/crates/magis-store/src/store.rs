//! The open database: one connection behind a lock, and how it is opened and checked.
//!
//! It knows no table but through their files. Every write is one transaction, flushed to the disk before it returns
//! (`synchronous = FULL`): an event that was acted upon survives a loss of power, and a run has so few writes beside its
//! model's work that the flush costs nothing anybody would notice.

use crate::error::Fault;
use crate::{StoreError, folder, schema};
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The database of one data folder. Cheap to clone; the clones share one connection.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    connection: Mutex<Connection>,
    path: PathBuf,
}

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenOptions {
    /// How long to wait for another program that is writing.
    pub busy_timeout: Duration,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
        }
    }
}

impl Store {
    /// Opens the database of `folder`, and makes both where they do not exist yet.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::open_with(folder, OpenOptions::default())
    }

    /// Like [`Store::open`], with `options`.
    pub fn open_with(folder: &Path, options: OpenOptions) -> Result<Self, StoreError> {
        let path = folder::prepare(folder)?;
        let connection = connect(&path, options).map_err(|fault| match fault.located("opening", &path) {
            StoreError::Damaged { attempt, path, detail } => {
                let detail = examine(&path).unwrap_or(detail);
                StoreError::Damaged { attempt, path, detail }
            }
            error => error,
        })?;
        let store = Self {
            shared: Arc::new(Shared {
                connection: Mutex::new(connection),
                path,
            }),
        };
        store.finish_erasure()?;
        Ok(store)
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Reads the whole file and checks that it is sound; slow on a large one.
    pub fn check(&self) -> Result<(), StoreError> {
        let attempt = "checking";
        let found = quick_check(&self.lock()).map_err(|fault| fault.located(attempt, self.path()))?;
        match found {
            None => Ok(()),
            Some(detail) => Err(StoreError::Damaged {
                attempt,
                path: self.path().to_owned(),
                detail,
            }),
        }
    }

    /// Reads in one consistent view.
    pub(crate) fn read<T>(
        &self,
        attempt: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.within(TransactionBehavior::Deferred, work)
            .map_err(|fault| fault.located(attempt, self.path()))
    }

    /// Writes all or nothing.
    pub(crate) fn write<T>(
        &self,
        attempt: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.within(TransactionBehavior::Immediate, work)
            .map_err(|fault| fault.located(attempt, self.path()))
    }

    fn within<T>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(behavior)?;
        let value = work(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }

    /// A panic while the lock was held rolled its transaction back, so the connection is sound.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        self.shared.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn connect(path: &Path, options: OpenOptions) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(options.busy_timeout)?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    let mode = write_ahead(&connection, options.busy_timeout)?;
    if mode != "wal" {
        return Err(StoreError::NoWriteAheadLog {
            path: path.to_owned(),
            mode,
        }
        .into());
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.set_prepared_statement_cache_capacity(64);
    schema::migrate(&mut connection, path)?;
    Ok(connection)
}

/// Asks for the write-ahead log. SQLite does not wait for others here: of many that open a new file at once, one may change it.
fn write_ahead(connection: &Connection, patience: Duration) -> Result<String, Fault> {
    let until = Instant::now() + patience;
    loop {
        let asked = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match asked {
            Err(rusqlite::Error::SqliteFailure(failure, _))
                if failure.code == rusqlite::ErrorCode::DatabaseBusy && Instant::now() < until =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            answered => return Ok(answered?),
        }
    }
}

/// What is wrong with a file that did not open; none where not even that can be found out.
fn examine(path: &Path) -> Option<String> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    quick_check(&connection).ok().flatten()
}

/// The first complaint of SQLite's own check.
fn quick_check(connection: &Connection) -> Result<Option<String>, Fault> {
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    Ok((found != "ok").then_some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_said_and_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        store.put_setting("theme", &"dark").unwrap();
        // What SQLite answers at its page limit is what it answers when the disk has no room.
        let pages: i64 = store
            .lock()
            .pragma_query_value(None, "page_count", |row| row.get(0))
            .unwrap();
        store
            .lock()
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
            .unwrap();

        let error = store.put_setting("long", &"x".repeat(1_000_000)).unwrap_err();

        assert_eq!(error.code(), "full");
        assert!(error.remedy().contains("make room"), "{}", error.remedy());
        assert_eq!(store.setting::<String>("theme").unwrap().as_deref(), Some("dark"));
        assert_eq!(store.setting::<String>("long").unwrap(), None);
    }

    #[test]
    fn every_write_is_flushed_and_deleted_content_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let pragma = |name: &str| {
            store
                .lock()
                .pragma_query_value(None, name, |row| row.get::<_, i64>(0))
                .unwrap()
        };
        assert_eq!(
            (pragma("synchronous"), pragma("secure_delete"), pragma("foreign_keys")),
            (2, 1, 1)
        );
    }
}
