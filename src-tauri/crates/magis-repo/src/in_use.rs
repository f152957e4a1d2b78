//! Which object stores are in use, and which objects stay in them whatever the runs need.

use crate::RepoError;
use git2::Oid;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// The lock's name in a store's folder.
const LOCK: &str = "magis-in-use";
/// Names the file that lists what stays whatever the runs need: an id a line.
pub(crate) const KEPT: &str = "magis-kept";

/// Holds the store in `folder` together with others, as long as the file is held; none where the system has no locks or
/// the folder cannot be written, and so not be pruned either.
pub(crate) fn hold(folder: &Path) -> Option<File> {
    let lock = open_lock(folder).ok()?;
    lock.lock_shared().ok()?;
    Some(lock)
}

fn open_lock(folder: &Path) -> io::Result<File> {
    let file = folder.join(LOCK);
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    options.open(file)
}

pub(crate) fn hold_alone(folder: &Path) -> Result<Option<File>, RepoError> {
    let lock = open_lock(folder).map_err(RepoError::io("locking", folder))?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(RepoError::io("locking", folder)(source)),
    }
}

/// Notes that an object stays whatever the runs need.
pub(crate) fn keep_always(folder: &Path, id: Oid) -> Result<(), RepoError> {
    use std::io::Write as _;
    let file = folder.join(KEPT);
    let opened = File::options().create(true).append(true).open(&file);
    opened
        .and_then(|mut list| writeln!(list, "{id}"))
        .map_err(RepoError::io("writing", &file))
}
