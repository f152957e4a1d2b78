//! Reading the files of the working tree with the blob that git would keep for each, without writing an object anywhere.

use super::ignored::IgnoredFolders;
use super::{Opened, bounds, filter, line_ends, staged};
use crate::ordinary::{RuleFiles, is_closed};
use crate::{MAX_FILE_BYTES, RepoError, tree_entry};
use git2::{Delta, ErrorCode, ObjectType, Oid};
use magis_core::{BlobId, RepoPath};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a working tree, as they were when it was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub files: BTreeMap<RepoPath, BlobId>,
    /// Those with another content than the staged one, or that are not tracked.
    pub uncommitted: BTreeSet<RepoPath>,
    /// Those that the system does not let us read.
    pub unreadable: BTreeSet<RepoPath>,
}

/// One file that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Looked {
    pub path: RepoPath,
    /// What it holds; none where it is no file that counts.
    pub blob: Option<BlobId>,
    pub uncommitted: bool,
    pub unreadable: bool,
}

/// The most bytes of cleaned files that are held in memory, and one file more.
const MOST_HELD: u64 = 64 << 20;
/// Where in an index entry's flags its side of a conflict stands.
pub(super) const STAGE: u16 = 0x3000;

/// Looks at the whole working tree.
pub(super) fn all(repository: &Opened) -> Result<Seen, RepoError> {
    let cleaner = Cleaner::open(repository)?;
    let mut index = cleaner.index(repository)?;
    let mut files = BTreeMap::new();
    for entry in index.iter() {
        if is_file(&entry)
            && let Some(path) = path_of(&entry.path)
            && cleaner.fits(&entry)?
        {
            files.insert(path, BlobId(entry.id.to_string()));
        }
    }
    let mut unreadable = BTreeSet::new();
    // A file that is written in this moment makes it fail once.
    let compare = |index: &git2::Index| staged::compare(repository, &cleaner.objects, index);
    let diff = match compare(&index).or_else(|_| compare(&index)) {
        // What cannot be opened makes libgit2 give up: it is asked again without that.
        Err(error) => {
            unreadable = cleaner.unreadable(&files);
            if unreadable.is_empty() {
                return Err(error);
            }
            for path in &unreadable {
                files.remove(path);
                index
                    .remove(Path::new(path.as_str()), 0)
                    .map_err(RepoError::git("leaving out a file that cannot be read"))?;
            }
            compare(&index)?
        }
        compared => compared?,
    };
    let mut uncommitted = BTreeSet::new();
    for delta in diff.deltas() {
        let Some(path) = staged::path_of(&delta) else { continue };
        // A slash at the end: a repository of its own.
        let Some(path) = path_of(path) else { continue };
        if delta.status() == Delta::Untracked && cleaner.is_in_ignored(Path::new(path.as_str())) {
            continue;
        }
        match cleaner.look(&index, &path)? {
            Look::AsStaged => {}
            Look::Gone => drop(files.remove(&path)),
            Look::Holds(blob) => {
                if !is_staged(&index, &path, &blob) {
                    uncommitted.insert(path.clone());
                }
                files.insert(path, blob);
            }
            Look::Unreadable => {
                files.remove(&path);
                unreadable.insert(path);
            }
        }
    }
    Ok(Seen {
        files,
        uncommitted,
        unreadable,
    })
}

/// Looks at these files.
pub(super) fn some(repository: &Opened, paths: &[RepoPath]) -> Result<Vec<Looked>, RepoError> {
    let cleaner = Cleaner::open(repository)?;
    let index = cleaner.index(repository)?;
    let mut all = Vec::with_capacity(paths.len());
    for path in paths {
        let mut unreadable = false;
        let staged = staged::entry(&index, Path::new(path.as_str()));
        let blob = if staged.is_none() && !cleaner.counts(path) {
            None
        } else {
            match cleaner.look(&index, path)? {
                Look::Gone => None,
                Look::Unreadable => {
                    unreadable = true;
                    None
                }
                Look::Holds(blob) => Some(blob),
                Look::AsStaged => match staged.filter(is_file) {
                    Some(entry) if cleaner.fits(&entry)? => Some(BlobId(entry.id.to_string())),
                    Some(_) | None => None,
                },
            }
        };
        all.push(Looked {
            path: path.clone(),
            uncommitted: blob.as_ref().is_some_and(|blob| !is_staged(&index, path, blob)),
            blob,
            unreadable,
        });
    }
    Ok(all)
}

/// What the working tree has at a path.
enum Look {
    /// What the index has, or nothing that could be looked at.
    AsStaged,
    /// No file of ours.
    Gone,
    Holds(BlobId),
    /// A file that the system does not let us read.
    Unreadable,
}

/// The user's repository with an object database in memory in the place of its own, so that git's filters (line ends,
/// `ident`) can be passed without a write.
pub(super) struct Cleaner {
    handle: git2::Repository,
    objects: git2::Repository,
    root: PathBuf,
    rule_files: RuleFiles,
    ignored: IgnoredFolders,
    /// Bytes held in memory.
    held: Cell<u64>,
    /// What filters read at any time.
    attributes: RefCell<Vec<Oid>>,
}

impl Cleaner {
    pub fn open(repository: &Opened) -> Result<Self, RepoError> {
        let handle = repository.handle()?;
        let cleaner = Self {
            rule_files: RuleFiles::of(repository.root(), &handle),
            handle,
            objects: repository.handle()?,
            root: repository.root().to_owned(),
            ignored: IgnoredFolders::default(),
            held: Cell::new(0),
            attributes: RefCell::default(),
        };
        cleaner.forget()?;
        Ok(cleaner)
    }

    /// Begins with an empty memory: what was cleaned stays there otherwise.
    fn forget(&self) -> Result<(), RepoError> {
        let attempt = "opening objects in memory";
        let memory = git2::Odb::new().map_err(RepoError::git(attempt))?;
        memory.add_new_mempack_backend(1).map_err(RepoError::git(attempt))?;
        self.handle.set_odb(&memory).map_err(RepoError::git(attempt))?;
        self.held.set(0);
        self.attributes.borrow().iter().try_for_each(|id| self.copy(*id))
    }

    /// Returns the index; what filters read by it is copied into memory.
    pub fn index(&self, repository: &Opened) -> Result<git2::Index, RepoError> {
        let mut index = self
            .objects
            .index()
            .map_err(repository.index_error("reading the index"))?;
        index.read(false).map_err(repository.index_error("reading the index"))?;
        for entry in index.iter().filter(|entry| entry.path.ends_with(b".gitattributes")) {
            if !self.attributes.borrow().contains(&entry.id) {
                self.copy(entry.id)?;
                self.attributes.borrow_mut().push(entry.id);
            }
        }
        Ok(index)
    }

    /// The user's repository as it is.
    pub fn objects(&self) -> &git2::Repository {
        &self.objects
    }

    /// Returns the bytes of a file in one version, out of git's objects or out of the working tree; none where neither has that version any more.
    pub fn version(&self, repository: &Opened, path: &RepoPath, blob: &BlobId) -> Result<Option<Vec<u8>>, RepoError> {
        let Ok(id) = Oid::from_str(&blob.0) else {
            return Ok(None);
        };
        let odb = self.objects.odb().map_err(RepoError::git("opening the objects"))?;
        if let Ok((_, bytes)) = bounds::read(&odb, id, ObjectType::Blob) {
            return Ok(Some(bytes));
        }
        let index = self.index(repository)?;
        let seen = self.clean(&index, Path::new(path.as_str()));
        Ok(seen
            .ok()
            .filter(|seen| seen.id() == id)
            .map(|seen| seen.content().to_vec()))
    }

    fn look(&self, index: &git2::Index, path: &RepoPath) -> Result<Look, RepoError> {
        let staged = staged::entry(index, Path::new(path.as_str()));
        if staged.as_ref().is_some_and(|entry| entry.mode == tree_entry::SUBMODULE) {
            return Ok(Look::AsStaged);
        }
        let place = self.place(path);
        let Ok(metadata) = fs::symlink_metadata(&place) else {
            let left_out = staged.as_ref().is_some_and(staged::is_left_out);
            return Ok(if left_out { Look::AsStaged } else { Look::Gone });
        };
        if !metadata.is_file() || self.behind_a_link(path) {
            return Ok(Look::Gone);
        }
        self.rule_files.look_for(Path::new(path.as_str()))?;
        if filter::foreign(&self.handle, Path::new(path.as_str())).is_some() {
            return Ok(Look::AsStaged);
        }
        // Line ends at the most double a text; what is larger than that is not read at all.
        if metadata.len() > 2 * MAX_FILE_BYTES {
            return Ok(Look::Gone);
        }
        // A file that is written in this moment may be shorter than it was a moment ago, which git takes for a failure.
        let inside = Path::new(path.as_str());
        let again = |_| self.clean(index, inside);
        let cleaned = match self.clean(index, inside).or_else(again).or_else(again) {
            Ok(cleaned) => cleaned,
            // It went away between the two looks; another event follows.
            Err(_) if !fs::symlink_metadata(&place).is_ok_and(|now| now.is_file()) => return Ok(Look::Gone),
            Err(_) if is_closed(&place) => return Ok(Look::Unreadable),
            Err(error) => return Err(error),
        };
        Ok(if cleaned.size() as u64 > MAX_FILE_BYTES {
            Look::Gone
        } else {
            Look::Holds(BlobId(cleaned.id().to_string()))
        })
    }

    /// Returns those of the tracked files that the system does not let us read.
    fn unreadable(&self, files: &BTreeMap<RepoPath, BlobId>) -> BTreeSet<RepoPath> {
        let closed = files.keys().filter(|path| is_closed(&self.place(path)));
        closed.cloned().collect()
    }

    /// Returns what git would keep of the file.
    pub fn clean(&self, index: &git2::Index, inside: &Path) -> Result<git2::Blob<'_>, RepoError> {
        if self.held.get() > MOST_HELD {
            self.forget()?;
        }
        // The line-end filter looks at the staged version (in a conflict, at that both sides began with).
        if let Some(entry) = index.get_path(inside, 0).or_else(|| index.get_path(inside, 1)) {
            self.show_staged(&entry, inside)?;
        }
        self.rule_files.look_for(inside)?;
        let id = self.handle.blob_path(&self.root.join(inside));
        let cleaned = id.and_then(|id| self.handle.find_blob(id));
        let cleaned = cleaned.map_err(RepoError::git("reading a changed file"))?;
        self.held.set(self.held.get() + cleaned.size() as u64);
        Ok(cleaned)
    }

    /// Returns whether an untracked file counts: it is not ignored, and no repository of its own lies around it.
    fn counts(&self, path: &RepoPath) -> bool {
        let inside = Path::new(path.as_str());
        let nested = inside
            .ancestors()
            .skip(1)
            .filter(|folder| !folder.as_os_str().is_empty())
            .any(|folder| fs::symlink_metadata(self.root.join(folder).join(".git")).is_ok());
        let is_ignored = || self.is_in_ignored(inside) || self.handle.is_path_ignored(inside).unwrap_or(false);
        // Rules that cannot be read ignore nothing.
        !nested && (self.rule_files.look_for(inside).is_err() || !is_ignored())
    }

    /// Returns whether a file lies in a folder that is ignored.
    pub fn is_in_ignored(&self, inside: &Path) -> bool {
        self.ignored.have(inside, &self.handle)
    }

    /// Returns whether a folder on the way is a symbolic link now: git sees no files behind it.
    fn behind_a_link(&self, path: &RepoPath) -> bool {
        Path::new(path.as_str())
            .ancestors()
            .skip(1)
            .filter(|folder| !folder.as_os_str().is_empty())
            .any(|folder| fs::symlink_metadata(self.root.join(folder)).is_ok_and(|metadata| metadata.is_symlink()))
    }

    /// Returns whether a staged file is small enough.
    fn fits(&self, entry: &git2::IndexEntry) -> Result<bool, RepoError> {
        // The index notes the size of the file in the working tree, or nothing while that is uncertain.
        if entry.file_size > 0 && u64::from(entry.file_size) <= MAX_FILE_BYTES / 2 {
            return Ok(true);
        }
        let odb = self.objects.odb().map_err(RepoError::git("opening the objects"))?;
        match odb.read_header(entry.id) {
            Ok((bytes, _)) => Ok(bytes as u64 <= MAX_FILE_BYTES),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(false),
            Err(source) => Err(RepoError::git("reading the size of a file")(source)),
        }
    }

    /// Has the line-end filter find the staged version where git would mind it. For libgit2 any `\r` there counts, so that a version in which git does not mind
    /// one is taken away.
    fn show_staged(&self, entry: &git2::IndexEntry, inside: &Path) -> Result<(), RepoError> {
        let Some(bytes) = self.staged_bytes(entry.id)? else {
            return Ok(());
        };
        if !bytes.contains(&b'\r') || line_ends::are_kept_with(&bytes) {
            return self.remember(&bytes);
        }
        let mut index = self
            .handle
            .index()
            .map_err(RepoError::git("opening the index in memory"))?;
        index
            .remove_path(inside)
            .map_err(RepoError::git("leaving out a staged version"))
    }

    /// Copies an object into memory.
    fn copy(&self, id: Oid) -> Result<(), RepoError> {
        match self.staged_bytes(id)? {
            Some(bytes) => self.remember(&bytes),
            None => Ok(()),
        }
    }

    /// Returns the bytes of a staged file; none where they are not there.
    fn staged_bytes(&self, id: Oid) -> Result<Option<Vec<u8>>, RepoError> {
        let objects = self.objects.odb().map_err(RepoError::git("opening the objects"))?;
        Ok(bounds::read(&objects, id, ObjectType::Blob)
            .ok()
            .map(|(_, bytes)| bytes))
    }

    fn remember(&self, bytes: &[u8]) -> Result<(), RepoError> {
        let memory = self.handle.odb().map_err(RepoError::git("opening objects in memory"))?;
        self.held.set(self.held.get() + bytes.len() as u64);
        memory
            .write(ObjectType::Blob, bytes)
            .map(drop)
            .map_err(RepoError::git("copying an object into memory"))
    }

    fn place(&self, path: &RepoPath) -> PathBuf {
        self.root.join(path.as_str())
    }
}

/// Returns whether this content is staged at `path`; in a conflict, none is.
fn is_staged(index: &git2::Index, path: &RepoPath, blob: &BlobId) -> bool {
    staged::entry(index, Path::new(path.as_str()))
        .is_some_and(|entry| entry.flags & STAGE == 0 && entry.id.to_string() == blob.0)
}

/// Returns whether it is an ordinary file and no side of a conflict.
fn is_file(entry: &git2::IndexEntry) -> bool {
    entry.flags & STAGE == 0 && matches!(entry.mode, tree_entry::FILE | tree_entry::PROGRAM)
}

fn path_of(bytes: &[u8]) -> Option<RepoPath> {
    RepoPath::new(std::str::from_utf8(bytes).ok()?).ok()
}
