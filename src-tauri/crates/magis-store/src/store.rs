//! The open database: one connection behind a lock, and how it is checked.
//!
//! It knows no table but through their files. Every write is one transaction, flushed to the disk before it returns
//! (`synchronous = FULL`): an event that was acted upon survives a loss of power, and a run has so few writes beside its
//! model's work that the flush costs nothing anybody would notice.

use crate::StoreError;
use crate::error::DatabaseError;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::warn;

/// What takes longer is logged.
const SLOW: Duration = Duration::from_millis(200);

/// The database of one data folder. Cheap to clone; the clones share one connection.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    connection: Mutex<Connection>,
    path: PathBuf,
    access: Mutex<Access>,
    connect: Connect,
}

/// How another connection to the file is made, to write it.
type Connect = fn(&Path) -> Result<Connection, DatabaseError>;

/// What can be done with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    ReadWrite,
    /// Reading alone: the disk is full.
    DiskFull,
    /// Reading alone: the disk or the folder is read-only.
    ReadOnly,
}

impl Store {
    /// Makes a store of an open connection.
    pub(crate) fn of(connection: Connection, path: PathBuf, access: Access, connect: Connect) -> Self {
        Self {
            shared: Arc::new(Shared {
                connection: Mutex::new(connection),
                path,
                access: Mutex::new(access),
                connect,
            }),
        }
    }

    /// Returns whether it can be written, and if not, why.
    pub fn access(&self) -> Access {
        *self.shared.access.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the path of the database file.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Reads the whole file and checks that it is sound; slow on a large one.
    ///
    /// # Errors
    /// When the database is damaged or cannot be read.
    pub fn check(&self) -> Result<(), StoreError> {
        let attempt = "checking";
        let found = quick_check(&self.lock()).map_err(|error| error.located(attempt, self.path()))?;
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
        work: impl FnOnce(&Transaction<'_>) -> Result<T, DatabaseError>,
    ) -> Result<T, StoreError> {
        let begun = Instant::now();
        let done = self.within(TransactionBehavior::Deferred, work);
        self.logged(attempt, begun, done)
    }

    /// Writes all or nothing.
    pub(crate) fn write<T>(
        &self,
        attempt: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, DatabaseError>,
    ) -> Result<T, StoreError> {
        self.take_up_writing(attempt)?;
        let begun = Instant::now();
        let done = self.within(TransactionBehavior::Immediate, work);
        self.logged(attempt, begun, done)
    }

    /// Returns an error where the database cannot be written. What kept it from that when it was opened, a full disk say, may
    /// be gone: then it is written from here on.
    fn take_up_writing(&self, attempt: &'static str) -> Result<(), StoreError> {
        let mut access = self.shared.access.lock().unwrap_or_else(PoisonError::into_inner);
        let path = || self.path().to_owned();
        let hindrance = match *access {
            Access::ReadWrite => return Ok(()),
            Access::DiskFull => StoreError::full(attempt, path()),
            Access::ReadOnly => StoreError::ReadOnly { attempt, path: path() },
        };
        let Ok(connection) = (self.shared.connect)(self.path()) else {
            return Err(hindrance);
        };
        *self.lock() = connection;
        *access = Access::ReadWrite;
        Ok(())
    }

    /// Says which attempt failed, and logs that and what took long.
    fn logged<T>(
        &self,
        attempt: &'static str,
        begun: Instant,
        done: Result<T, DatabaseError>,
    ) -> Result<T, StoreError> {
        let took = begun.elapsed();
        if took > SLOW {
            warn!(attempt, ms = took.as_millis() as u64, "slow");
        }
        done.map_err(|error| {
            let error = error.located(attempt, self.path());
            warn!(attempt, error = error.code(), "failed");
            error
        })
    }

    fn within<T>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(behavior)?;
        let value = work(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }

    /// Returns a panic while the lock was held rolled its transaction back, so the connection is sound.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        self.shared.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the first complaint of SQLite's own check.
pub(crate) fn quick_check(connection: &Connection) -> Result<Option<String>, DatabaseError> {
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    Ok((found != "ok").then_some(found))
}
