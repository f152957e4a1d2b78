//! The data folder and the database file, readable by their owner alone.
//!
//! It never deletes anything, and leaves the mode of a folder alone that was there before and held something.

use crate::StoreError;
use magis_platform::private;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The database's name inside the data folder.
pub(crate) const FILE_NAME: &str = "magis.sqlite3";

/// Makes `folder` and the database file in it, private where they are new or ours; returns the file's path.
pub(crate) fn prepare(folder: &Path) -> Result<PathBuf, StoreError> {
    let file = folder.join(FILE_NAME);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| StoreError::of_folder(path, source)
    };
    let ours = !folder.exists() || is_empty(folder).map_err(failed(folder))?;
    private::create_folder(folder).map_err(failed(folder))?;
    if ours {
        private::restrict(folder, private::FOLDER).map_err(failed(folder))?;
    }
    // SQLite gives the files it makes beside the database the database's own mode.
    let made = private::file_options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&file);
    made.map_err(failed(&file))?;
    private::restrict(&file, private::FILE).map_err(failed(&file))?;
    Ok(file)
}

fn is_empty(folder: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(folder)?.next().is_none())
}
