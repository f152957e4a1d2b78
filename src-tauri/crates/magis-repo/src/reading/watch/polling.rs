//! Looking at the working tree again and again, where the system gives no word of changes.

use super::folders::{Rules, WalkEntry};
use super::places::Places;
use crate::RepoError;
use crate::reading::Opened;
use std::collections::hash_map::DefaultHasher;
use std::convert::Infallible;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

/// Returns a number that changes when a file that counts, or one of git's own, does.
pub(crate) fn fingerprint(repository: &Opened, places: &Places) -> Result<u64, RepoError> {
    let rules = Rules::read(repository, places)?;
    // The order of a walk is the file system's, so each file counts for itself.
    let mut sum = 0_u64;
    let mut add = |path: &Path, metadata: &fs::Metadata| {
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        metadata.len().hash(&mut hasher);
        metadata.modified().ok().hash(&mut hasher);
        stamp(metadata).hash(&mut hasher);
        sum = sum.wrapping_add(hasher.finish());
    };
    let walked = rules.walk::<Infallible>(&places.root, &mut |step| {
        if let WalkEntry::File(path, entry) = step
            && let Ok(metadata) = entry.metadata()
        {
            add(path, &metadata);
        }
        Ok(())
    });
    let Ok(()) = walked;
    let mut files = vec![
        places.git_dir.join("HEAD"),
        places.git_dir.join("index"),
        places.common_dir.join("packed-refs"),
        places.common_dir.join("config"),
        places.common_dir.join("info").join("exclude"),
    ];
    for folder in places.ref_folders() {
        all_below(&folder, &mut files);
    }
    for file in files {
        if let Ok(metadata) = fs::symlink_metadata(&file) {
            add(&file, &metadata);
        }
    }
    Ok(sum)
}

/// Returns what a change leaves behind even where size and time stay.
#[cfg(unix)]
fn stamp(metadata: &fs::Metadata) -> (u64, u32, i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.ino(), metadata.mode(), metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn stamp(metadata: &fs::Metadata) -> bool {
    metadata.permissions().readonly()
}

fn all_below(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) => files.push(entry.path()),
                Err(_) => {}
            }
        }
    }
}
