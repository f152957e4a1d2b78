//! What is opened in a repository has to be an ordinary file of bounded size. That is looked at before libgit2 opens it,
//! which would wait for a pipe without end, and before we do.
//!
//! Looked at are git's own files, the files of rules in the work tree (`.gitattributes`, `.gitignore`, `.gitmodules`), and
//! each file that we read ourselves. A link counts as what it leads to, except where we open the file: there no link is
//! followed. What git needs not read, a socket of its file system monitor say, may be anything.
//! Not caught: a file that is replaced between the look and libgit2's opening it, and files of the work tree that have grown
//! and that libgit2 has to hash.

use crate::RepoError;
use crate::slow_rules::{MOST_WAYS, SlowRules};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// The most bytes of a file that git reads as a whole and that a person or git writes line by line.
pub(crate) const TEXT: u64 = 16 << 20;
/// And one that grows with the files or the references of a repository.
const LIST: u64 = 512 << 20;
/// And of one that libgit2 reads anew at each opening: configuration, and the names of further objects.
const SETTINGS: u64 = 1 << 20;
/// So many folders of references are remembered as looked at.
const MOST_LOOKED: usize = 10_000;
/// A folder that was not changed for so long has another time when it is changed again.
const SETTLED: Duration = Duration::from_secs(2);
/// A configuration may include so many files.
const MOST_INCLUDED: usize = 100;
/// So many further folders of objects may be named, in all lists of them together.
const MOST_NAMED: usize = 1_000;
/// Alternates of alternates are followed so far, by git and by libgit2.
const MOST_ALTERNATES: usize = 5;
/// The files that say which others count and how they are read.
const RULES: [&str; 3] = [".gitattributes", ".gitignore", MODULES];
/// The one among them that has no patterns.
const MODULES: &str = ".gitmodules";
/// The settings that name further ones.
const CONFIGURED: [&str; 2] = ["core.attributesFile", "core.excludesFile"];
/// Of a path so many letters are named in an error.
const SHOWN: usize = 40;

/// Returns all of a file of the work tree, if it has no more than `most` bytes, without waiting for anybody and without following a link.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, RepoError> {
    let file = opened(path, Links::Refused).map_err(RepoError::io("reading", path))?;
    read_opened(file, path, most).map(|(bytes, _)| bytes)
}

/// Returns all of a file that was opened without waiting, and what the system says of it.
pub(crate) fn read_opened(file: File, path: &Path, most: u64) -> Result<(Vec<u8>, fs::Metadata), RepoError> {
    let metadata = file.metadata().map_err(RepoError::io("looking at", path))?;
    if let Some(what) = odd(&metadata) {
        return Err(not_ordinary(path, what));
    }
    let mut bytes = Vec::new();
    file.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(RepoError::io("reading", path))?;
    if bytes.len() as u64 > most {
        return Err(too_large(path, metadata.len().max(most + 1), most));
    }
    Ok((bytes, metadata))
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
    for key in CONFIGURED {
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
    let of_work_tree = ["HEAD", "commondir", "gitdir"].map(|name| (git_dir.join(name), TEXT));
    let shared = ["HEAD", "info/attributes", "info/exclude", "info/grafts", "shallow"];
    let shared = shared.map(|name| (common_dir.join(name), TEXT));
    let lists = [git_dir.join("index"), common_dir.join("packed-refs")].map(|path| (path, LIST));
    for (path, most) in of_work_tree.iter().chain(&shared).chain(&lists) {
        check(path, *most)?;
    }
    configuration([common_dir.join("config"), git_dir.join("config.worktree")])?;
    for other in entries(&common_dir.join("worktrees")) {
        for name in ["HEAD", "commondir", "gitdir", "locked"] {
            check(&other.path().join(name), TEXT)?;
        }
    }
    let mut folders = vec![common_dir.join("refs"), git_dir.join("refs")];
    folders.dedup();
    while let Some(folder) = folders.pop() {
        references(&folder, &mut folders)?;
    }
    Ok(())
}

/// Looks at the references in a folder; the folders in it are added to those that are left. What was looked at is not looked at again as long as nothing was
/// put there: there may be a hundred thousand.
fn references(folder: &Path, left: &mut Vec<PathBuf>) -> Result<(), RepoError> {
    /// When a folder was changed last before it was looked at, and the folders in it.
    type Looked = HashMap<PathBuf, (SystemTime, Vec<PathBuf>)>;
    static LOOKED: Mutex<Option<Looked>> = Mutex::new(None);
    let looked = || LOOKED.lock().unwrap_or_else(PoisonError::into_inner);
    let Ok(changed) = fs::metadata(folder).and_then(|found| found.modified()) else {
        return Ok(());
    };
    if let Some((then, inside)) = looked().as_ref().and_then(|looked| looked.get(folder))
        && *then == changed
    {
        left.extend(inside.iter().cloned());
        return Ok(());
    }
    let mut inside = Vec::new();
    for entry in entries(folder) {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            inside.push(path);
        } else if path.is_dir() {
            // libgit2 follows it, and two of them that lead to each other have it go on without end.
            return Err(not_ordinary(&path, "a link to a folder"));
        } else {
            check(&path, TEXT)?;
        }
    }
    left.extend(inside.iter().cloned());
    // What was changed a moment ago may be changed again without another time.
    if changed.elapsed().is_ok_and(|ago| ago > SETTLED) {
        let mut looked = looked();
        let looked = looked.get_or_insert_default();
        if looked.len() >= MOST_LOOKED {
            looked.clear();
        }
        looked.insert(folder.to_owned(), (changed, inside));
    }
    Ok(())
}

/// Looks at files of configuration, and at those that they include.
fn configuration(files: [PathBuf; 2]) -> Result<(), RepoError> {
    let (mut left, mut seen) = (VecDeque::from(files), BTreeSet::new());
    while let Some(file) = left.pop_front() {
        check(&file, SETTINGS)?;
        if seen.len() == MOST_INCLUDED || !seen.insert(file.clone()) {
            continue;
        }
        let text = fs::read(&file).unwrap_or_default();
        left.extend(included(&String::from_utf8_lossy(&text)).map(|named| file.parent().unwrap_or(&file).join(named)));
    }
    Ok(())
}

/// Returns what a text of configuration includes: files, relative to the folder that it lies in. Values that are written in an unusual way are left to
/// libgit2, which gives up in time.
fn included(text: &str) -> impl Iterator<Item = &str> {
    let mut is_include = false;
    text.lines().filter_map(move |line| {
        let mut line = line.trim_start();
        if let Some((section, rest)) = line.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
            is_include = section
                .get(..7)
                .is_some_and(|start| start.eq_ignore_ascii_case("include"));
            line = rest;
        }
        let (key, value) = line.split_once('=')?;
        let is_path = is_include && key.trim().eq_ignore_ascii_case("path");
        is_path.then(|| value.trim().trim_matches('"'))
    })
}

/// Looks at the files of an object database, and of those that it names as further ones. Returns the folders of all of them; what holds no objects and is
/// only named, somebody's home say, is not among them.
pub(crate) fn objects(folder: &Path) -> Result<Vec<PathBuf>, RepoError> {
    let mut folders = vec![folder.to_owned()];
    // Each is looked at once, the nearest first, however often they name one another.
    let mut seen = BTreeSet::from([canonical(folder)]);
    let mut left = VecDeque::from([(folder.to_owned(), 0)]);
    let mut named = 0;
    while let Some((folder, depth)) = left.pop_front() {
        for part in entries(&folder) {
            for entry in entries(&part.path()) {
                // What is large is read in parts; what is none of the three is not looked at closer.
                if !entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir()) {
                    check(&entry.path(), u64::MAX)?;
                }
            }
        }
        let alternates = folder.join("info").join("alternates");
        check(&alternates, SETTINGS)?;
        if depth == MOST_ALTERNATES {
            continue;
        }
        for line in fs::read_to_string(&alternates).unwrap_or_default().lines() {
            named += 1;
            if named > MOST_NAMED {
                return Err(not_ordinary(&alternates, "a list of too many folders of objects"));
            }
            let further = folder.join(line);
            let counts = !line.is_empty() && !line.starts_with('#') && holds_objects(&further);
            if counts && seen.insert(canonical(&further)) {
                folders.push(further.clone());
                left.push_back((further, depth + 1));
            }
        }
    }
    Ok(folders)
}

/// Returns whether a folder is laid out as git keeps objects.
fn holds_objects(folder: &Path) -> bool {
    ["pack", "info"].iter().any(|name| folder.join(name).is_dir())
}

/// Returns a path without links; as it is, where it leads nowhere.
fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The files of rules in the folders of a work tree, each looked at once.
#[derive(Debug)]
pub(crate) struct RuleFiles {
    root: PathBuf,
    seen: RefCell<BTreeSet<PathBuf>>,
    slow: RefCell<Vec<SlowRules>>,
}

impl RuleFiles {
    /// Looks at those that hold for all folders; the others are looked at when they matter.
    pub fn of(root: &Path, handle: &git2::Repository) -> Self {
        let rules = Self {
            root: root.to_owned(),
            seen: RefCell::default(),
            slow: RefCell::default(),
        };
        for name in ["attributes", "exclude"] {
            rules.read(&handle.commondir().join("info").join(name));
        }
        for key in CONFIGURED {
            // What is wrong with the configuration shows itself where it is needed.
            if let Ok(file) = handle.config().and_then(|config| config.get_path(key)) {
                rules.read(&file);
            }
        }
        rules
    }

    /// Looks at those in a folder, relative to the root.
    pub fn look(&self, folder: &Path) -> Result<(), RepoError> {
        if self.seen.borrow().contains(folder) {
            return Ok(());
        }
        for name in RULES {
            let file = self.root.join(folder).join(name);
            check(&file, TEXT)?;
            if name != MODULES {
                self.read(&file);
            }
        }
        self.seen.borrow_mut().insert(folder.to_owned());
        Ok(())
    }

    /// Looks at all that libgit2 reads to say what counts for `path`, relative to the root: those in the folders around it.
    pub fn look_for(&self, path: &Path) -> Result<(), RepoError> {
        path.ancestors().skip(1).try_for_each(|folder| self.look(folder))?;
        self.ways(path.as_os_str().as_encoded_bytes()).map(drop)
    }

    /// Takes in the text of a file of rules that lies in the index.
    pub fn take(&self, file: &Path, text: &[u8]) {
        self.slow.borrow_mut().extend(SlowRules::of(file, text));
    }

    /// Returns in how many ways a path, relative to the root, is compared with the patterns that were read.
    ///
    /// # Errors
    /// When there are too many.
    pub fn ways(&self, path: &[u8]) -> Result<f64, RepoError> {
        let mut all = 0.0;
        for rules in self.slow.borrow().iter() {
            let ways = rules.ways(path);
            if ways > MOST_WAYS {
                return Err(slow_rule(rules, path));
            }
            all += ways;
        }
        Ok(all)
    }

    /// Returns the error that comparing all paths with the patterns would not end; `path` is one of them.
    pub fn too_slow(&self, path: &[u8]) -> Option<RepoError> {
        let slow = self.slow.borrow();
        slow.first().map(|rules| slow_rule(rules, path))
    }

    fn read(&self, file: &Path) {
        if let Ok(text) = opened(file, Links::Followed).and_then(|file| {
            let mut text = Vec::new();
            // Something else than a file, or one that is too large, is refused or left out elsewhere.
            if file.metadata()?.is_file() {
                file.take(TEXT).read_to_end(&mut text)?;
            }
            Ok(text)
        }) {
            self.take(file, &text);
        }
    }
}

fn slow_rule(rules: &SlowRules, path: &[u8]) -> RepoError {
    RepoError::SlowRule {
        file: rules.file.clone(),
        name: String::from_utf8_lossy(path).chars().take(SHOWN).collect(),
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
