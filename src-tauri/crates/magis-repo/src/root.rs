//! The folder that is written below, opened once: every path goes from there folder by folder, each opened without following a link. So a folder that
//! somebody replaces by a link meanwhile leads nowhere else.

use crate::reading::bounds;
use crate::{FileState, RepoError, ordinary};
use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use magis_core::RepoPath;
use std::ffi::OsStr;
use std::fs::Permissions;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The root of a work tree.
pub(crate) struct Root {
    folder: Dir,
    /// Where it was opened, for errors.
    path: PathBuf,
}

/// What stands at a path.
pub(crate) enum Found {
    Nothing,
    File(FileState),
    /// A folder, a link, a device, or something of that kind on the way.
    Other,
}

/// Where the way to a folder ends.
pub(crate) enum Way {
    Reached(Dir),
    /// One of its folders is not there.
    Missing,
    /// Something on it is no folder.
    Blocked,
}

/// Which permissions a written file gets.
#[derive(Clone, Copy)]
pub(crate) enum WriteMode {
    /// Those of any new file.
    NewFile,
    /// Those of any new program.
    NewProgram,
    /// These, where the system has them.
    Exactly(Option<u32>),
}

/// A new file that waits in a folder under another name. It goes where it is not put in its place.
pub(crate) struct Prepared {
    folder: Dir,
    name: String,
}

impl Root {
    pub fn open(path: &Path) -> Result<Self, RepoError> {
        let folder = Dir::open_ambient_dir(path, ambient_authority()).map_err(RepoError::io("opening", path))?;
        Ok(Self {
            folder,
            path: path.to_owned(),
        })
    }

    /// Returns the error of something that failed with `path`.
    pub fn failed(&self, attempt: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> RepoError {
        RepoError::io(attempt, self.path.join(path))
    }

    /// Goes to a folder.
    pub fn enter(&self, path: &Path) -> Result<Way, RepoError> {
        let (folder, _, obstacle) = self.go(path)?;
        Ok(obstacle.unwrap_or(Way::Reached(folder)))
    }

    /// Returns the innermost folder on the way to a file that is there.
    pub fn nearest(&self, path: &Path) -> Result<Dir, RepoError> {
        let (above, _) = parted(path);
        self.go(above).map(|(folder, ..)| folder)
    }

    /// Returns how many of the folders on the way to one are there.
    pub fn depth(&self, path: &Path) -> Result<usize, RepoError> {
        self.go(path).map(|(_, depth, _)| depth)
    }

    /// Goes to a folder, which is made where it is not there.
    pub fn make(&self, path: &Path) -> Result<Dir, RepoError> {
        let mut folder = self.same(&self.folder)?;
        for part in path {
            let next = match step(&folder, part).map_err(self.failed("opening", path))? {
                Way::Reached(next) => Ok(next),
                Way::Missing => match folder.create_dir(part) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
                    Ok(()) | Err(_) => folder.open_dir_nofollow(part),
                },
                Way::Blocked => Err(ErrorKind::NotADirectory.into()),
            };
            folder = next.map_err(self.failed("creating", path))?;
        }
        Ok(folder)
    }

    /// Goes as far on the way to a folder as there are folders; returns also how many these are, and what keeps from going on, if anything does.
    fn go(&self, path: &Path) -> Result<(Dir, usize, Option<Way>), RepoError> {
        let mut folder = self.same(&self.folder)?;
        for (depth, part) in path.iter().enumerate() {
            match step(&folder, part).map_err(self.failed("opening", path))? {
                Way::Reached(next) => folder = next,
                obstacle => return Ok((folder, depth, Some(obstacle))),
            }
        }
        Ok((folder, path.iter().count(), None))
    }

    /// Removes a folder and those around it as far as they hold nothing, but for the outermost `kept` ones.
    pub fn remove_empty(&self, path: &Path, kept: usize) {
        for folder in path.ancestors().take(path.iter().count().saturating_sub(kept)) {
            let (above, name) = parted(folder);
            match self.enter(above) {
                Ok(Way::Reached(above)) => match above.remove_dir(name) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return,
                    Ok(()) | Err(_) => {}
                },
                Ok(Way::Missing) => {}
                Ok(Way::Blocked) | Err(_) => return,
            }
        }
    }

    /// Returns what stands at a path.
    pub fn look(&self, path: &RepoPath) -> Result<Found, RepoError> {
        let path = Path::new(path.as_str());
        let (above, name) = parted(path);
        let folder = match self.enter(above)? {
            Way::Reached(folder) => folder,
            Way::Missing => return Ok(Found::Nothing),
            Way::Blocked => return Ok(Found::Other),
        };
        match folder.symlink_metadata(name) {
            Ok(found) if found.is_file() => {}
            Ok(_) => return Ok(Found::Other),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(self.failed("looking at", path)(error)),
        }
        let mut options = OpenOptions::new();
        // Whatever has taken its place by now, nobody is waited for and no link is followed.
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = folder.open_with(name, &options).map_err(self.failed("reading", path))?;
        let whole = self.path.join(path);
        let (bytes, metadata) = ordinary::read_opened(file.into_std(), &whole, bounds::MAX_BLOB)?;
        Ok(Found::File(FileState::new(bytes, permissions(&metadata))))
    }

    fn same(&self, folder: &Dir) -> Result<Dir, RepoError> {
        folder.try_clone().map_err(RepoError::io("opening", &self.path))
    }
}

impl Prepared {
    pub fn write(folder: Dir, name: String, bytes: &[u8], mode: WriteMode) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt as _;
            let is_program = matches!(mode, WriteMode::NewProgram);
            options.mode(if is_program { 0o777 } else { 0o666 });
        }
        let mut file = folder.open_with(&name, &options)?.into_std();
        let prepared = Self { folder, name };
        file.write_all(bytes)?;
        #[cfg(unix)]
        if let WriteMode::Exactly(Some(mode)) = mode {
            use std::os::unix::fs::PermissionsExt as _;
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        file.sync_all()?;
        Ok(prepared)
    }

    /// Puts it in the place of a file, or of nothing.
    pub fn put(self, folder: &Dir, name: &OsStr) -> io::Result<()> {
        self.folder.rename(&self.name, folder, name)
    }

    /// Puts it where nothing is.
    pub fn put_new(self, folder: &Dir, name: &OsStr) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            use rustix::io::Errno;
            match renameat_with(&self.folder, &self.name, folder, name, RenameFlags::NOREPLACE) {
                // A file system, or a system, that does not know it.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                renamed => return Ok(renamed?),
            }
        }
        match self.folder.hard_link(&self.name, folder, name) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                // A file system without such links. Whoever calls has just seen that nothing is there.
                self.folder.rename(&self.name, folder, name)
            }
            linked => linked,
        }
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // It is gone where it was renamed. What cannot be removed is found by its name.
        let _gone = self.folder.remove_file(&self.name);
    }
}

/// Goes one folder further.
fn step(folder: &Dir, name: &OsStr) -> io::Result<Way> {
    let error = match folder.open_dir_nofollow(name) {
        Ok(next) => return Ok(Way::Reached(next)),
        Err(error) => error,
    };
    match folder.symlink_metadata(name) {
        Ok(found) if !found.is_dir() => Ok(Way::Blocked),
        Err(none) if none.kind() == ErrorKind::NotFound => Ok(Way::Missing),
        Ok(_) | Err(_) => Err(error),
    }
}

/// Returns the folder around what a path leads to, and its name.
pub(crate) fn parted(path: &Path) -> (&Path, &OsStr) {
    (
        path.parent().unwrap_or(Path::new("")),
        path.file_name().unwrap_or_default(),
    )
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
fn permissions(metadata: &std::fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    Some(metadata.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn permissions(_: &std::fs::Metadata) -> Option<u32> {
    None
}
