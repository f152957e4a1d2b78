//! Folders and files that their owner alone can read.
//!
//! Elsewhere than on Unix there are no modes to set; folders and files are made as the system makes them.

use crate::process::is_alive;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The mode of a private folder.
pub const FOLDER: u32 = 0o700;
/// The mode of a private file.
pub const FILE: u32 = 0o600;

/// Makes a folder with all its parents; those that are new are private, and one that is there keeps its mode.
///
/// # Errors
/// When the system cannot make it, or something else bears its name.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, FOLDER);
    builder.create(folder)
}

/// Returns options that open nothing yet; a file which they make is private.
pub fn file_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, FILE);
    options
}

/// Takes away what others may do with a file or folder. A mode that allows others nothing stays as it is, so that something
/// which belongs to another user is not touched for nothing.
///
/// # Errors
/// When the system does not let its mode be read or set.
pub fn restrict(path: &Path, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
            fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        }
    }
    #[cfg(not(unix))]
    let _ = (fs::metadata(path)?, mode);
    Ok(())
}

/// Returns whether others than its owner and root may change what a folder or file holds, or it is neither ours nor root's.
///
/// # Errors
/// When the system does not say.
#[cfg(unix)]
pub fn is_open_to_others(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let about = fs::metadata(path)?;
    let is_foreign = about.uid() != 0 && about.uid() != rustix::process::geteuid().as_raw();
    Ok(is_foreign || about.mode() & 0o022 != 0)
}

/// Returns whether others may change what a folder or file holds, which is not known here.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn is_open_to_others(_path: &Path) -> io::Result<bool> {
    Ok(false)
}

/// What stands behind the number of the process that writes a file, in the name of what it has written of it so far.
const HALF: &str = ".new";

/// Writes a small private file so that a reader sees the old contents or the new ones, never half.
///
/// # Errors
/// When the file, or the one beside it that it is written to first, cannot be written.
pub fn write_atomically(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut half = path.as_os_str().to_owned();
    half.push(format!(".{}{HALF}", std::process::id()));
    let half = PathBuf::from(half);
    let opened = file_options().write(true).create(true).truncate(true).open(&half);
    let written = opened.and_then(|mut file| {
        file.write_all(contents)?;
        file.sync_all()?;
        fs::rename(&half, path)
    });
    if written.is_err() {
        // It is worth nothing to anybody.
        let _gone = fs::remove_file(&half);
    }
    written
}

/// Removes what processes that are gone had written of files in `folder` with [`write_atomically`] and did not come to an end with. What cannot be removed does no harm.
pub fn remove_halves(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name
            .to_str()
            .and_then(|name| name.strip_suffix(HALF)?.rsplit('.').next()?.parse().ok());
        if process.is_some_and(|process| !is_alive(process)) {
            let _gone = fs::remove_file(entry.path());
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("the mode can be read").permissions().mode() & 0o777
    }

    #[test]
    fn new_folders_and_files_are_their_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("one/two");
        create_folder(&inner).unwrap();
        let file = inner.join("file");
        file_options().write(true).create(true).open(&file).unwrap();
        assert_eq!((mode(&inner), mode(inner.parent().unwrap())), (0o700, 0o700));
        assert_eq!(mode(&file), 0o600);
    }

    #[test]
    fn a_folder_that_others_may_write_is_told_from_one_that_they_may_read() {
        let folder = tempfile::tempdir().unwrap();
        for (mode, is_open) in [(0o700, false), (0o755, false), (0o775, true), (0o1777, true)] {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_open_to_others(folder.path()).unwrap(), is_open, "{mode:o}");
        }
    }

    #[test]
    fn a_mode_that_allows_others_nothing_stays() {
        let folder = tempfile::tempdir().unwrap();
        let set = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        for (before, after) in [(0o500, 0o500), (0o755, 0o700)] {
            set(before);
            restrict(folder.path(), FOLDER).unwrap();
            assert_eq!(mode(folder.path()), after, "{before:o}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_process_that_is_gone_wrote_of_a_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let mut gone = std::process::Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let [ours, theirs] = [std::process::id(), gone.id()].map(|process| format!("note.json.{process}.new"));
        for name in [&ours, &theirs, "note.json", "notes.new"] {
            fs::write(folder.path().join(name), "half").unwrap();
        }
        remove_halves(folder.path());
        let entries = fs::read_dir(folder.path()).unwrap();
        let mut left: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["note.json", &ours, "notes.new"]);
    }
}
