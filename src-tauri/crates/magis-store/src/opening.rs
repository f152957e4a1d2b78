//! Opens the database of a data folder: to write, or where that is not possible, to read.

use crate::connection::{BUSY, connect, connect_to_write};
use crate::store::quick_check;
use crate::{Access, Store, StoreError, folder, schema};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenOptions {
    /// How long to wait for another program that is writing.
    pub busy_timeout: Duration,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { busy_timeout: BUSY }
    }
}

impl Store {
    /// Opens the database of `folder`, and makes both where they do not exist yet.
    ///
    /// # Errors
    /// When the file cannot be made private, opened or read, is damaged, of another program, or of a newer version.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::open_with(folder, OpenOptions::default())
    }

    /// Like [`Store::open`], with `options`. Where the disk is full or cannot be written, a database that is there is opened
    /// for reading: see [`Store::access`].
    ///
    /// # Errors
    /// When the file cannot be made private, opened or read, is damaged, of another program, or of a newer version.
    pub fn open_with(folder: &Path, options: OpenOptions) -> Result<Self, StoreError> {
        match Self::open_to_write(folder, options) {
            Err(error) if error.is_about_writing() => Self::open_to_read(&folder.join(folder::FILE_NAME), error),
            opened => opened,
        }
    }

    fn open_to_write(folder: &Path, options: OpenOptions) -> Result<Self, StoreError> {
        let path = folder::prepare(folder)?;
        let connection =
            connect(&path, options.busy_timeout).map_err(|error| match error.located("opening", &path) {
                StoreError::Damaged { attempt, path, detail } => {
                    let detail = examine(&path).unwrap_or(detail);
                    StoreError::Damaged { attempt, path, detail }
                }
                error => error,
            })?;
        let store = Self::of(connection, path, Access::ReadWrite, connect_to_write);
        store.finish_erasure()?;
        Ok(store)
    }

    /// Opens what can be read of a database that cannot be written because of `hindrance`, which is returned where it
    /// cannot be read either.
    fn open_to_read(path: &Path, hindrance: StoreError) -> Result<Self, StoreError> {
        let Some(mut connection) = connect_to_read(path) else {
            return Err(hindrance);
        };
        if schema::migrate(&mut connection, path).is_err() {
            return Err(hindrance);
        }
        let access = match hindrance {
            StoreError::Full { .. } => Access::DiskFull,
            _ => Access::ReadOnly,
        };
        Ok(Self::of(connection, path.to_owned(), access, connect_to_write))
    }
}

/// Returns a connection that only reads, and needs to write nothing for that. None where the log holds what the
/// database does not, and cannot be read without its index.
fn connect_to_read(path: &Path) -> Option<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let is_readable = |connection: &Connection| {
        let counted = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
        counted.is_ok_and(|tables| tables > 0)
    };
    let plain = Connection::open_with_flags(path, flags).ok().filter(is_readable);
    if plain.is_some() {
        return plain;
    }
    let log = path.with_extension("sqlite3-wal");
    if std::fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        return None;
    }
    let address = format!("file:{}?immutable=1", in_address(path));
    let alone = Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI).ok();
    alone.filter(is_readable)
}

/// Returns a path as an address of SQLite's spells it.
fn in_address(path: &Path) -> String {
    let mut address = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => address.push(char::from(*byte)),
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address
}

/// Returns what is wrong with a file that did not open; none where not even that can be found out.
fn examine(path: &Path) -> Option<String> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    quick_check(&connection).ok().flatten()
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
    fn what_was_opened_for_reading_is_written_again_once_that_is_possible() {
        let folder = tempfile::tempdir().unwrap();
        let path = Store::open(folder.path()).unwrap().path().to_owned();
        let reading = |access| Store::of(connect_to_read(&path).unwrap(), path.clone(), access, connect_to_write);
        for access in [Access::DiskFull, Access::ReadOnly] {
            let store = reading(access);
            assert_eq!(store.access(), access);
            store.put_setting("theme", &"dark").unwrap();
            assert_eq!(store.access(), Access::ReadWrite);
        }
        let store = reading(Access::DiskFull);
        std::fs::rename(&path, path.with_extension("away")).unwrap();
        assert_eq!(store.put_setting("theme", &"light").unwrap_err().code(), "full");
        assert_eq!(store.access(), Access::DiskFull);
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
