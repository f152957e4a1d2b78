//! The folder that takes up what a command changes: made before, read after, removed at the end. What is in it was written by strangers:
//! links are not followed, pipes are not opened, and folders may be nested deeper than a path can name.

use magis_platform::private;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// A folder for what a command changes. It is removed, with all in it, when the value goes.
#[derive(Debug)]
pub struct ScratchLayer {
    folder: PathBuf,
}

/// Why a file that a command wrote cannot be read.
#[derive(Debug, Error)]
pub enum LayerError {
    #[error("cannot make the folder {folder} for what a command changes: {source}")]
    Make { folder: PathBuf, source: io::Error },
    #[error("the command wrote no {0}")]
    Absent(PathBuf),
    #[error("the command left {0} as a link, a pipe or a device, which is not opened")]
    NoFile(PathBuf),
    #[error("the command wrote {path} with {bytes} bytes; more than {limit} are not read")]
    TooLarge { path: PathBuf, bytes: u64, limit: u64 },
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },
}

impl ScratchLayer {
    /// Makes an empty layer; `folder` must not exist yet.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn create(folder: PathBuf) -> Result<Self, LayerError> {
        let made = private::create_folder(&folder)
            .and_then(|()| fs::create_dir(folder.join(UPPER)))
            .and_then(|()| fs::create_dir(folder.join(WORK)));
        match made {
            Ok(()) => Ok(Self { folder }),
            Err(source) => Err(LayerError::Make { folder, source }),
        }
    }

    /// Returns the folder, for a [`Scratch`](crate::Scratch).
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the files that a command wrote or removed, by their paths below the folder that it saw, in order. What is nested too deep to be
    /// named is left out.
    pub fn changed_files(&self) -> Vec<PathBuf> {
        let upper = self.folder.join(UPPER);
        let mut found = Vec::new();
        let mut open = vec![upper.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => open.push(entry.path()),
                    _ => found.extend(entry.path().strip_prefix(&upper).map(Path::to_owned)),
                }
            }
        }
        found.sort();
        found
    }

    /// Reads a file that a command wrote, by its path below the folder that the command saw. To be called when the command has ended.
    ///
    /// # Errors
    /// When there is none, it is no ordinary file, it lies behind a link, or it is larger than `limit` bytes.
    pub fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, LayerError> {
        let mut at = self.folder.join(UPPER);
        let mut parts = path.components().peekable();
        while let Some(part) = parts.next() {
            let Component::Normal(name) = part else {
                return Err(LayerError::NoFile(path.to_owned()));
            };
            at.push(name);
            let kind = fs::symlink_metadata(&at).map_err(|_| LayerError::Absent(path.to_owned()))?;
            let wanted = if parts.peek().is_some() {
                kind.is_dir()
            } else {
                kind.is_file()
            };
            if !wanted {
                return Err(LayerError::NoFile(path.to_owned()));
            }
        }
        let failed = |source| LayerError::Read {
            path: path.to_owned(),
            source,
        };
        let file = File::open(&at).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        if bytes > limit {
            return Err(LayerError::TooLarge {
                path: path.to_owned(),
                bytes,
                limit,
            });
        }
        let mut contents = Vec::new();
        file.take(limit).read_to_end(&mut contents).map_err(failed)?;
        Ok(contents)
    }

    /// Moves a folder that a command made out of the layer, by its path below the folder that the command saw; `to` must not exist yet. Returns whether it was
    /// moved: what lies behind a link is not. To be called when the command has ended.
    pub fn take_folder(&self, path: &Path, to: &Path) -> bool {
        let mut at = self.folder.join(UPPER);
        let is_plain = path.components().all(|part| {
            at.push(part);
            matches!(part, Component::Normal(_)) && fs::symlink_metadata(&at).is_ok_and(|kind| kind.is_dir())
        });
        is_plain && path.components().next().is_some() && fs::rename(&at, to).is_ok()
    }
}

impl Drop for ScratchLayer {
    fn drop(&mut self) {
        // What cannot be removed now is removed with the folder that holds it.
        let _ = remove_tree(&self.folder);
    }
}

/// In a layer: what was changed.
pub const UPPER: &str = "changed";
/// In a layer: the overlay's own; without a helper, home and temporary files.
pub const WORK: &str = "work";

/// Removes a folder whatever is in it: folders that forbid reading, and folders nested so deep that no path names them.
///
/// # Errors
/// When something cannot be removed.
pub fn remove_tree(folder: &Path) -> io::Result<()> {
    let mut moved = 0_u64;
    loop {
        let mut deeper = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                deeper.push(entry.path());
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        if deeper.is_empty() {
            return fs::remove_dir(folder);
        }
        for child in deeper {
            allow(&child)?;
            for entry in fs::read_dir(&child)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    // Moving a folder changes its `..`, so it must be writable itself.
                    allow(&entry.path())?;
                    // A removal that was broken off may have left such names.
                    let free = loop {
                        moved += 1;
                        let name = folder.join(format!("{MOVED}{moved}"));
                        if name.symlink_metadata().is_err() {
                            break name;
                        }
                    };
                    fs::rename(entry.path(), free)?;
                } else {
                    fs::remove_file(entry.path())?;
                }
            }
            fs::remove_dir(&child)?;
        }
    }
}

/// Copies what is in a folder into another, links as links; where the file system can, without copying the bytes. What is neither file, folder
/// nor link is left out. A folder that holds something has its copy already.
///
/// # Errors
/// When something cannot be read or written.
pub fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    if fs::read_dir(to)?.next().is_some() {
        return Ok(());
    }
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(from.join(&folder))? {
            let entry = entry?;
            let inside = folder.join(entry.file_name());
            let (kind, copy) = (entry.file_type()?, to.join(&inside));
            if kind.is_dir() {
                fs::create_dir(&copy)?;
                open.push(inside);
            } else if kind.is_symlink() {
                link(&fs::read_link(entry.path())?, &copy)?;
            } else if kind.is_file() {
                fs::copy(entry.path(), copy)?;
            }
        }
    }
    Ok(())
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
fn link(to: &Path, at: &Path) -> io::Result<()> {
    let _ = to;
    fs::write(at, b"")
}

/// A name that a folder gets when it is moved up to be emptied.
const MOVED: &str = ".magis-removing-";

#[cfg(unix)]
fn allow(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn allow(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::net::UnixListener;

    /// Returns a folder with the folders `from`, to be filled, and `to`.
    fn folders() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir(&from).expect("a folder");
        fs::create_dir(&to).expect("a folder");
        (folder, from, to)
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("its mode").permissions().mode() & 0o777
    }

    #[test]
    fn a_removal_that_was_broken_off_is_carried_on() {
        let (_folder, from, _) = folders();
        fs::create_dir_all(from.join(format!("{MOVED}1/left"))).expect("a folder");
        fs::create_dir_all(from.join("one/two/three")).expect("a folder");
        remove_tree(&from).expect("it can be removed");
        assert!(!from.exists());
    }

    #[test]
    fn a_copy_has_the_contents_modes_and_names_of_its_original() {
        let (_folder, from, to) = folders();
        fs::create_dir_all(from.join("deep/empty")).expect("a folder");
        let no_text = OsStr::from_bytes(b"deep/\xff");
        for (name, mode) in [("script", 0o755), ("deep/read-only", 0o444)] {
            fs::write(from.join(name), name).expect("a file");
            fs::set_permissions(from.join(name), fs::Permissions::from_mode(mode)).expect("its mode");
        }
        fs::write(from.join(no_text), "x").expect("a file");
        copy_tree(&from, &to).expect("a copy");
        assert_eq!(fs::read(to.join("deep/read-only")).expect("a file"), b"deep/read-only");
        assert_eq!(
            (mode(&to.join("script")), mode(&to.join("deep/read-only"))),
            (0o755, 0o444)
        );
        assert!(to.join("deep/empty").is_dir() && to.join(no_text).is_file());
        fs::write(to.join("script"), "changed").expect("a file");
        assert_eq!(fs::read(from.join("script")).expect("a file"), b"script");
    }

    #[test]
    fn links_are_copied_as_links_wherever_they_lead() {
        let (folder, from, to) = folders();
        let secret = folder.path().join("secrets");
        fs::create_dir(&secret).expect("a folder");
        fs::write(secret.join("key"), "x").expect("a file");
        for (name, target) in [
            ("absolute", secret.as_path()),
            ("relative", Path::new("../secrets/key")),
            ("nowhere", Path::new("no/such/file")),
            ("itself", Path::new(".")),
        ] {
            symlink(target, from.join(name)).expect("a link");
        }
        copy_tree(&from, &to).expect("a copy");
        for name in ["absolute", "relative", "nowhere", "itself"] {
            assert_eq!(
                fs::read_link(to.join(name)).expect("a link"),
                fs::read_link(from.join(name)).expect("a link")
            );
        }
    }

    #[test]
    fn sockets_are_left_out_and_what_was_copied_before_stays_as_it_is() {
        let (_folder, from, to) = folders();
        let _socket = UnixListener::bind(from.join("socket")).expect("a socket");
        fs::write(from.join("file"), "x").expect("a file");
        copy_tree(&from, &to).expect("a copy");
        assert!(to.join("socket").symlink_metadata().is_err());
        fs::write(to.join("file"), "changed").expect("a file");
        copy_tree(&from, &to).expect("the copy that is there");
        assert_eq!(fs::read(to.join("file")).expect("a file"), b"changed");
    }

    #[test]
    fn a_folder_that_a_command_made_is_taken_and_what_lies_behind_a_link_is_not() {
        let machine = tempfile::tempdir().expect("a folder");
        let layer = ScratchLayer::create(machine.path().join("layer")).expect("a layer");
        let upper = layer.folder().join(UPPER);
        fs::create_dir_all(upper.join("target/debug")).expect("a folder");
        fs::create_dir_all(machine.path().join("keys/target")).expect("a folder");
        link(&machine.path().join("keys"), &upper.join("linked")).expect("a link");
        let to = |name: &str| machine.path().join(name);
        assert!(layer.take_folder(Path::new("target"), &to("taken")));
        assert!(to("taken/debug").is_dir() && !upper.join("target").exists());
        for path in ["target", "linked", "linked/target", "../keys", ""] {
            assert!(!layer.take_folder(Path::new(path), &to("other")), "{path}");
        }
        assert!(to("keys/target").is_dir());
    }
}
