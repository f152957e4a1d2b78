//! Why the store could not do something, in words a person can act on.
//!
//! It does not decide what to do about it; [`StoreError::remedy`] says what a person can do.

use magis_core::text::count;
use magis_core::{RepoId, RunId};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why the store could not do something.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Another program held the database for longer than the busy timeout.
    #[error("{attempt}: the database {path} is locked by another program")]
    Locked { attempt: &'static str, path: PathBuf },
    /// The file is not a sound SQLite database.
    #[error("{attempt}: the database {path} is damaged: {detail}")]
    Damaged {
        attempt: &'static str,
        path: PathBuf,
        /// What the check found.
        detail: String,
    },
    /// No room is left on the disk.
    #[error("{attempt}: no room is left on the disk of {path} ({free} bytes are free); nothing of it was recorded")]
    Full {
        attempt: &'static str,
        path: PathBuf,
        /// Bytes that are free on its disk.
        free: u64,
    },
    /// The disk, or the file's mode, allows reading alone.
    #[error("{attempt}: {path} can only be read, not written")]
    ReadOnly {
        attempt: &'static str,
        /// The database file or its folder.
        path: PathBuf,
    },
    /// A newer version of this program made the database.
    #[error("the database {path} has format {found}; this version knows formats up to {known}")]
    NewerSchema {
        path: PathBuf,
        found: u32,
        /// The newest format known.
        known: u32,
    },
    /// The file is a database of another program.
    #[error("{path} is a database, but of another program")]
    NotOurs { path: PathBuf },
    /// The file or its folder may not be read or written.
    #[error("{attempt}: {path} cannot be read and written: {detail}")]
    Denied {
        attempt: &'static str,
        path: PathBuf,
        /// What the system said.
        detail: String,
    },
    /// The data folder could not be made, or not be made private.
    #[error("making {path} private to its owner: {source}")]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The disk does not allow a write-ahead log, without which two programs cannot share the database.
    #[error("the database {path} cannot keep a write-ahead log there (it has '{mode}')")]
    NoWriteAheadLog {
        path: PathBuf,
        /// The journal mode it has.
        mode: String,
    },
    /// No run has this number.
    #[error("there is no run {0}")]
    NoRun(RunId),
    /// No repository has this number.
    #[error("there is no repository {0}")]
    NoRepository(RepoId),
    /// An event was not the next of its run: another driver wrote, or one event is missing.
    #[error("event {given} cannot be appended to run {run}, whose next event is {next}")]
    OutOfOrder {
        run: RunId,
        /// The sequence number given.
        given: u32,
        /// The one that is next.
        next: u32,
    },
    /// The call is recorded already.
    #[error("run {run} has a call with key {key} already")]
    DoubleCall { run: RunId, key: String },
    /// A driver works on the run.
    #[error("run {run} is being worked on by {holder} (process {pid})")]
    RunActive {
        run: RunId,
        /// Who holds its lease.
        holder: String,
        pid: u32,
    },
    /// The prefix asked for does not exist, or the run it should go to has events already.
    #[error("the first {} of run {from} cannot be copied to run {to}: {why}", count(*events as usize, "event"))]
    NoPrefix {
        /// The run to copy from.
        from: RunId,
        /// The run to copy to.
        to: RunId,
        /// How many events were asked for.
        events: u32,
        why: String,
    },
    /// A row holds something this version cannot read.
    #[error("{attempt}: {path} holds a row this version cannot read: {detail}")]
    Unreadable {
        attempt: &'static str,
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A value could not be written as JSON.
    #[error("{attempt}: a value cannot be written as JSON: {source}")]
    Encode {
        attempt: &'static str,
        source: serde_json::Error,
    },
    /// An archive could not be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// Anything else SQLite said.
    #[error("{attempt} in {path}: {source}")]
    Sqlite {
        attempt: &'static str,
        path: PathBuf,
        source: rusqlite::Error,
    },
}

/// Why an archive of a run could not be taken in.
#[derive(Debug, Error)]
pub enum ArchiveError {
    /// A newer or unknown format.
    #[error("the archive has format {found}; this version reads formats up to {known}")]
    UnknownVersion { found: u32, known: u32 },
    /// It is no archive of a run.
    #[error("this is no archive of a run: {0}")]
    Malformed(String),
    /// What it says of the run does not follow from the run's own events.
    #[error("the archive of the run contradicts itself: {0}")]
    Unfounded(String),
}

impl StoreError {
    /// Returns what kept a folder or file from being made or opened.
    pub(crate) fn of_folder(path: PathBuf, source: io::Error) -> Self {
        let attempt = "opening the data folder";
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::full(attempt, path),
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Self::ReadOnly { attempt, path },
            _ => Self::Folder { path, source },
        }
    }

    pub(crate) fn full(attempt: &'static str, path: PathBuf) -> Self {
        let free = free_beside(&path).unwrap_or(0);
        Self::Full { attempt, path, free }
    }

    /// Returns whether nothing can be written now, while what was written before may still be read.
    pub(crate) fn is_about_writing(&self) -> bool {
        matches!(self, Self::Full { .. } | Self::ReadOnly { .. })
    }

    /// Returns a short word for this kind of error, stable across versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Locked { .. } => "locked",
            Self::Damaged { .. } => "damaged",
            Self::Full { .. } => "full",
            Self::ReadOnly { .. } => "read_only",
            Self::NewerSchema { .. } => "newer_schema",
            Self::NotOurs { .. } => "not_ours",
            Self::Denied { .. } => "denied",
            Self::Folder { .. } => "folder",
            Self::NoWriteAheadLog { .. } => "no_write_ahead_log",
            Self::NoRun(_) => "no_run",
            Self::NoRepository(_) => "no_repository",
            Self::OutOfOrder { .. } => "out_of_order",
            Self::DoubleCall { .. } => "double_call",
            Self::RunActive { .. } => "run_active",
            Self::NoPrefix { .. } => "no_prefix",
            Self::Unreadable { .. } => "unreadable",
            Self::Encode { .. } => "encode",
            Self::Archive(_) => "archive",
            Self::Sqlite { .. } => "sqlite",
        }
    }

    /// Returns what a person can do about it, in a sentence.
    pub fn remedy(&self) -> String {
        match self {
            Self::Locked { path, .. } => {
                format!("close the other program that uses {}, then try again", path.display())
            }
            Self::Damaged { path, .. } => format!(
                "nothing was deleted; copy {0} and the files beside it that start with its name to a safe place, then \
                 put a backup in its place or recover it with 'sqlite3 {0} .recover'",
                path.display()
            ),
            Self::Full { .. } => {
                "make room on that disk; then what is done is recorded again, and a run goes on from its last event"
                    .to_owned()
            }
            Self::ReadOnly { path, .. } => format!(
                "make {} and its disk writable for you, or choose another data folder; past runs can be read meanwhile",
                path.display()
            ),
            Self::NewerSchema { .. } => "update this program, or choose another data folder".to_owned(),
            Self::NotOurs { .. } => "choose another data folder".to_owned(),
            Self::Denied { path, .. } | Self::Folder { path, .. } => {
                format!(
                    "make sure that {} belongs to you and that its disk can be written",
                    path.display()
                )
            }
            Self::NoWriteAheadLog { .. } => "put the data folder on a local disk".to_owned(),
            Self::NoRun(_) | Self::NoRepository(_) => "it may have been deleted; load the list again".to_owned(),
            Self::OutOfOrder { .. } => "load the run again; another window may be working on it".to_owned(),
            Self::DoubleCall { .. } => "use the recorded reply instead of asking again".to_owned(),
            Self::RunActive { .. } => "stop the run first".to_owned(),
            Self::NoPrefix { .. } => "load the run again and choose a stage it has reached".to_owned(),
            Self::Unreadable { .. } => "update this program; the row stays as it is".to_owned(),
            Self::Encode { .. } => "report this with the issue's text".to_owned(),
            Self::Archive(ArchiveError::UnknownVersion { .. }) => "update this program".to_owned(),
            Self::Archive(ArchiveError::Malformed(_) | ArchiveError::Unfounded(_)) => {
                "export the run again and import that file".to_owned()
            }
            Self::Sqlite { path, .. } => {
                format!(
                    "check that the disk of {} works, then start the program again",
                    path.display()
                )
            }
        }
    }
}

/// Errors inside the crate, before it is known which file and attempt they belong to.
#[derive(Debug)]
pub(crate) enum DatabaseError {
    Sqlite(rusqlite::Error),
    Json(serde_json::Error),
    Known(StoreError),
}

impl DatabaseError {
    pub(crate) fn located(self, attempt: &'static str, path: &Path) -> StoreError {
        use rusqlite::{Error as Sql, ErrorCode as Code};
        let path = path.to_owned();
        let source = match self {
            Self::Known(error) => return error,
            Self::Json(source) => return StoreError::Encode { attempt, source },
            Self::Sqlite(source) => source,
        };
        match &source {
            Sql::SqliteFailure(failure, message) => {
                let detail = message.clone().unwrap_or_else(|| failure.to_string());
                match failure.code {
                    Code::DatabaseBusy | Code::DatabaseLocked => StoreError::Locked { attempt, path },
                    Code::DatabaseCorrupt | Code::NotADatabase => StoreError::Damaged { attempt, path, detail },
                    Code::DiskFull => StoreError::full(attempt, path),
                    Code::ReadOnly => StoreError::ReadOnly { attempt, path },
                    // SQLite says of a full disk that an operation on it failed, where it was not the database itself.
                    Code::SystemIoFailure | Code::CannotOpen
                        if free_beside(&path).is_some_and(|free| free < SMALLEST_ROOM) =>
                    {
                        StoreError::full(attempt, path)
                    }
                    Code::PermissionDenied | Code::CannotOpen => StoreError::Denied { attempt, path, detail },
                    _ => StoreError::Sqlite { attempt, path, source },
                }
            }
            Sql::FromSqlConversionFailure(..) | Sql::InvalidColumnType(..) | Sql::IntegralValueOutOfRange(..) => {
                StoreError::Unreadable {
                    attempt,
                    path,
                    detail: source.to_string(),
                }
            }
            _ => StoreError::Sqlite { attempt, path, source },
        }
    }
}

/// SQLite needs this much beside the database to open it at all.
const SMALLEST_ROOM: u64 = 64 * 1024;

/// Returns bytes that are free on the disk of a file; none where the system does not say.
fn free_beside(file: &Path) -> Option<u64> {
    fs4::available_space(file.ancestors().find(|folder| folder.exists())?).ok()
}

impl From<rusqlite::Error> for DatabaseError {
    fn from(source: rusqlite::Error) -> Self {
        Self::Sqlite(source)
    }
}

impl From<serde_json::Error> for DatabaseError {
    fn from(source: serde_json::Error) -> Self {
        Self::Json(source)
    }
}

impl From<StoreError> for DatabaseError {
    fn from(error: StoreError) -> Self {
        Self::Known(error)
    }
}

impl From<ArchiveError> for DatabaseError {
    fn from(error: ArchiveError) -> Self {
        Self::Known(StoreError::Archive(error))
    }
}
