//! What is opened in a repository has to be an ordinary file of bounded size. That is looked at before libgit2 opens it,
//! which would wait for a pipe without end, and before we do.
//!
//! Looked at are git's own files, the files of rules in the work tree (`.gitattributes`, `.gitignore`, `.gitmodules`), and
//! each file that we read ourselves. A link counts as what it leads to, except where we open the file: there no link is
//! followed. What git needs not read, a socket of its file system monitor say, may be anything.
//! Not caught: a file that is replaced between the look and libgit2's opening it, what a configuration includes from
//! elsewhere (`include.path`), and files of the work tree that have grown and that libgit2 has to hash.

use crate::RepoError;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// The most bytes of a file that git reads as a whole and that a person or git writes line by line.
pub(crate) const TEXT: u64 = 16 << 20;
/// And one that grows with the files or the references of a repository.
const LIST: u64 = 512 << 20;
/// Alternates of alternates are followed so far, by git and by libgit2.
const MOST_ALTERNATES: usize = 5;
/// The files that say which others count and how they are read.
const RULES: [&str; 3] = [".gitattributes", ".gitignore", ".gitmodules"];

/// Opens a file of the work tree for reading, without waiting for anybody and without following a link.
pub(crate) fn open(path: &Path) -> Result<File, RepoError> {
    let file = opened(path, Links::Refused).map_err(RepoError::io("reading", path))?;
    let metadata = file.metadata().map_err(RepoError::io("looking at", path))?;
    match odd(&metadata) {
        None => Ok(file),
        Some(what) => Err(not_ordinary(path, what)),
    }
}

/// Returns all of a file of the work tree, if it has no more than `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, RepoError> {
    let mut bytes = Vec::new();
    let mut file = open(path)?.take(most + 1);
    file.read_to_end(&mut bytes).map_err(RepoError::io("reading", path))?;
    if bytes.len() as u64 > most {
        let bytes = file.get_ref().metadata().map_or(most + 1, |metadata| metadata.len());
        return Err(too_large(path, bytes, most));
    }
    Ok(bytes)
}

/// Returns whether the system does not let us read an ordinary file that is there.
pub(crate) fn is_closed(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
        && opened(path, Links::Refused).is_err_and(|error| error.kind() != ErrorKind::NotFound)
}

/// Looks at a file that libgit2 would open. One that is missing, or is a folder, is for libgit2 to tell.
pub(crate) fn check(path: &Path, most: u64) -> Result<(), RepoError> {
    let Ok(metadata) = fs::metadata(path) else {
        return Ok(());
    };
    if let Some(what) = odd(&metadata) {
        return Err(not_ordinary(path, what));
    }
    if metadata.is_file() && metadata.len() > most {
        return Err(too_large(path, metadata.len(), most));
    }
    Ok(())
}

/// Looks at the files that the configuration names for all repositories of a person, and that any repository may name.
pub(crate) fn configured(handle: &git2::Repository) -> Result<(), RepoError> {
    let Ok(config) = handle.config() else { return Ok(()) };
    for key in ["core.attributesFile", "core.excludesFile"] {
        if let Ok(path) = config.get_path(key) {
            check(&path, TEXT)?;
        }
    }
    Ok(())
}

/// Returns where git keeps what belongs to the work tree that `.git`, a folder or a file that names one, lies in; and
/// what all work trees share.
pub(crate) fn folders_of(dot_git: &Path) -> Result<(PathBuf, PathBuf), RepoError> {
    let metadata = fs::metadata(dot_git).map_err(RepoError::io("opening", dot_git))?;
    let git_dir = if metadata.is_dir() {
        dot_git.to_owned()
    } else {
        let text = small_text(dot_git)?;
        let named = text.strip_prefix("gitdir:").unwrap_or_default().trim();
        dot_git.parent().unwrap_or(dot_git).join(named)
    };
    let link = git_dir.join("commondir");
    let common_dir = if link.exists() {
        git_dir.join(small_text(&link)?.trim())
    } else {
        git_dir.clone()
    };
    Ok((git_dir, common_dir))
}

/// Looks at what libgit2 opens in git's own folders, objects left out.
pub(crate) fn git_folders(git_dir: &Path, common_dir: &Path) -> Result<(), RepoError> {
    let of_work_tree = ["HEAD", "commondir", "config.worktree", "gitdir"].map(|name| (git_dir.join(name), TEXT));
    let shared = [
        "HEAD",
        "config",
        "info/attributes",
        "info/exclude",
        "info/grafts",
        "shallow",
    ];
    let shared = shared.map(|name| (common_dir.join(name), TEXT));
    let lists = [git_dir.join("index"), common_dir.join("packed-refs")].map(|path| (path, LIST));
    for (path, most) in of_work_tree.iter().chain(&shared).chain(&lists) {
        check(path, *most)?;
    }
    for other in entries(&common_dir.join("worktrees")) {
        for name in ["HEAD", "commondir", "gitdir", "locked"] {
            check(&other.path().join(name), TEXT)?;
        }
    }
    let mut folders = vec![common_dir.join("refs"), git_dir.join("refs")];
    folders.dedup();
    while let Some(folder) = folders.pop() {
        for entry in entries(&folder) {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            } else {
                check(&entry.path(), TEXT)?;
            }
        }
    }
    Ok(())
}

/// Looks at the files of an object database, and of those that it names as further ones. Returns the folders of all of them.
pub(crate) fn objects(folder: &Path) -> Result<Vec<PathBuf>, RepoError> {
    let mut folders = Vec::new();
    let mut left = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = left.pop() {
        for part in entries(&folder) {
            for entry in entries(&part.path()) {
                // What is large is read in parts; what is none of the three is not looked at closer.
                if !entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir()) {
                    check(&entry.path(), u64::MAX)?;
                }
            }
        }
        let alternates = folder.join("info").join("alternates");
        check(&alternates, TEXT)?;
        if depth == MOST_ALTERNATES {
            folders.push(folder);
            continue;
        }
        for line in fs::read_to_string(&alternates).unwrap_or_default().lines() {
            if !line.is_empty() && !line.starts_with('#') {
                left.push((folder.join(line), depth + 1));
            }
        }
        folders.push(folder);
    }
    Ok(folders)
}

/// The files of rules in the folders of a work tree, each looked at once.
#[derive(Debug)]
pub(crate) struct RuleFiles {
    root: PathBuf,
    seen: RefCell<BTreeSet<PathBuf>>,
}

impl RuleFiles {
    pub fn of(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            seen: RefCell::default(),
        }
    }

    /// Looks at those in a folder, relative to the root.
    pub fn look(&self, folder: &Path) -> Result<(), RepoError> {
        if self.seen.borrow().contains(folder) {
            return Ok(());
        }
        for name in RULES {
            check(&self.root.join(folder).join(name), TEXT)?;
        }
        self.seen.borrow_mut().insert(folder.to_owned());
        Ok(())
    }

    /// Looks at all that libgit2 reads to say what counts for `path`, relative to the root: those in the folders around it.
    pub fn look_for(&self, path: &Path) -> Result<(), RepoError> {
        path.ancestors().skip(1).try_for_each(|folder| self.look(folder))
    }
}

/// Whether a link is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Followed,
    Refused,
}

/// Returns the text of one of git's own small files.
fn small_text(path: &Path) -> Result<String, RepoError> {
    check(path, TEXT)?;
    let mut text = Vec::new();
    opened(path, Links::Followed)
        .and_then(|file| file.take(TEXT).read_to_end(&mut text))
        .map_err(RepoError::io("reading", path))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn opened(path: &Path, links: Links) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        if links == Links::Refused {
            flags |= OFlags::NOFOLLOW;
        }
        options.custom_flags(flags.bits().cast_signed());
    }
    #[cfg(not(unix))]
    if links == Links::Refused && fs::symlink_metadata(path)?.is_symlink() {
        return Err(io::Error::other("it is a symbolic link"));
    }
    options.open(path)
}

/// Returns what it is, where it is neither a file nor a folder.
fn odd(metadata: &fs::Metadata) -> Option<&'static str> {
    if metadata.is_file() || metadata.is_dir() {
        return None;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let kind = metadata.file_type();
        if kind.is_fifo() {
            return Some("a named pipe");
        }
        if kind.is_socket() {
            return Some("a socket");
        }
        if kind.is_char_device() || kind.is_block_device() {
            return Some("a device");
        }
    }
    Some("no ordinary file")
}

fn not_ordinary(path: &Path, what: &'static str) -> RepoError {
    RepoError::NotOrdinary {
        path: path.to_owned(),
        what: what.into(),
    }
}

fn too_large(path: &Path, bytes: u64, limit: u64) -> RepoError {
    RepoError::FileTooLarge {
        path: path.to_owned(),
        bytes,
        limit,
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}
