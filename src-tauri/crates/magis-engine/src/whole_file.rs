//! Files that a person asked for, written as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Writes a file by way of another one, which then takes its place. Where the system can, the other one has no name before it is whole, so that a program that is
/// killed meanwhile leaves nothing of it; else it lies beside the file, and the next writing replaces what is left of it. What is no ordinary file, such as a pipe,
/// is written directly.
///
/// # Errors
/// When the file cannot be written; it is then as it was.
pub fn write_whole(file: &Path, contents: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let fill = |open: File| {
        let mut to = BufWriter::new(open);
        contents(&mut to)?;
        to.into_inner().map_err(io::IntoInnerError::into_error)
    };
    match file.symlink_metadata() {
        Ok(there) if !there.is_file() => return File::create(file).and_then(fill).map(drop),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(_) | Err(_) => {}
    }
    let beside = beside(file);
    let written = match without_name(file) {
        Some(open) => fill(open).and_then(|open| {
            open.sync_all()?;
            give_name(&open, file, &beside)
        }),
        None => File::create(&beside)
            .and_then(fill)
            .and_then(|open| open.sync_all())
            .and_then(|()| fs::rename(&beside, file)),
    };
    if written.is_err() {
        // What is left of the half-written file is worth nothing to anybody.
        let _gone = fs::remove_file(&beside);
    }
    written
}

fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".magis-part");
    PathBuf::from(name)
}

/// Opens a new file without a name in the folder of `file`; none where the system or its disk has no such files.
#[cfg(target_os = "linux")]
fn without_name(file: &Path) -> Option<File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    // As of any new file; the system takes away what the person's mask says.
    let mode = Mode::from_raw_mode(0o666);
    // It is given its name by way of this folder.
    let has_names = Path::new("/proc/self/fd").is_dir();
    let opened = openat(CWD, folder.unwrap_or(Path::new(".")), flags, mode).ok();
    opened.filter(|_| has_names).map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn without_name(_: &Path) -> Option<File> {
    None
}

/// Gives a file without a name that of `file`. One that bears it already is replaced, by way of `beside`.
#[cfg(target_os = "linux")]
fn give_name(open: &File, file: &Path, beside: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd as _;
    let place = format!("/proc/self/fd/{}", open.as_raw_fd());
    let named = |name: &Path| linkat(CWD, &place, CWD, name, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from);
    match named(file) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Of a program that was killed right before its last step.
            let _gone = fs::remove_file(beside);
            named(beside)?;
            fs::rename(beside, file)
        }
        done => done,
    }
}

#[cfg(not(target_os = "linux"))]
fn give_name(_: &File, file: &Path, beside: &Path) -> io::Result<()> {
    fs::rename(beside, file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_file_is_made_or_replaced_and_nothing_lies_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.patch");
        for text in ["first\n", "second\n"] {
            write_whole(&file, |to| to.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
            assert_eq!(names(folder.path()), ["run.patch"]);
        }
    }

    #[test]
    fn a_file_that_cannot_be_written_to_its_end_is_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.patch");
        let broken = |to: &mut BufWriter<File>| {
            to.write_all(b"half")?;
            Err(io::Error::other("the disk fails"))
        };
        assert!(write_whole(&file, broken).is_err());
        assert_eq!(names(folder.path()), [""; 0]);
        fs::write(&file, "there\n").unwrap();
        assert!(write_whole(&file, broken).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "there\n");
        assert_eq!(names(folder.path()), ["run.patch"]);
    }
}
