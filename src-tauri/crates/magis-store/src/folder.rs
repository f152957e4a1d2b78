//! The data folder and the database file, readable by their owner alone.
//!
//! It never deletes anything, and leaves the mode of a folder alone that was there before and held something.

use crate::StoreError;
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
    create_folder(folder).map_err(failed(folder))?;
    if ours {
        make_private(folder, 0o700).map_err(failed(folder))?;
    }
    create_file(&file).map_err(failed(&file))?;
    make_private(&file, 0o600).map_err(failed(&file))?;
    Ok(file)
}

fn is_empty(folder: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(folder)?.next().is_none())
}

#[cfg(unix)]
fn create_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// SQLite gives the files it makes beside the database the database's own mode.
#[cfg(unix)]
fn create_file(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(file)
        .map(drop)
}

#[cfg(not(unix))]
fn create_file(file: &Path) -> io::Result<()> {
    fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(file)
        .map(drop)
}

/// Takes away what others may do; a mode that is tight already stays, so a folder of somebody else's is not touched.
#[cfg(unix)]
fn make_private(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let others = fs::metadata(path)?.permissions().mode() & 0o077;
    if others == 0 {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the other systems' form can fail")]
fn make_private(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}
