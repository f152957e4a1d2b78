//! A connection to the database file: how it writes, and that it is of the newest version.

use crate::error::DatabaseError;
use crate::{StoreError, schema};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long to wait for another program that is writing.
pub(crate) const BUSY: Duration = Duration::from_secs(5);

/// Connects to a file that is there.
pub(crate) fn connect_to_write(path: &Path) -> Result<Connection, DatabaseError> {
    connect(path, BUSY)
}

/// Connects to a file that is there; `busy_timeout` is how long to wait for another program that is writing.
pub(crate) fn connect(path: &Path, busy_timeout: Duration) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(busy_timeout)?;
    connection.pragma_update(None, "secure_delete", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    let mode = write_ahead(&connection, busy_timeout)?;
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
fn write_ahead(connection: &Connection, patience: Duration) -> Result<String, DatabaseError> {
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
