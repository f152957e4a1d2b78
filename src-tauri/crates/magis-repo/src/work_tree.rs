//! The files of the working tree with the blob that git would keep for each: what `git add --all` and `git write-tree`
//! would make, as a list, without writing an object anywhere. Kept up to date file by file.
//!
//! It agrees with a snapshot of `HEAD` with uncommitted work, which writes what it finds into a store of our own because a
//! run has to outlive the repository. Submodules, nested repositories, symbolic links, ignored files and files above
//! [`MAX_FILE_BYTES`] are left out, as they are there.

use crate::ordinary::{RuleFiles, is_closed};
use crate::{MAX_FILE_BYTES, RepoError, Repository, SourceText, bounds, filter, staged, tree_entry};
use git2::{ErrorCode, ObjectType, Oid};
use magis_core::{BlobId, RepoPath, SkipReason};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a working tree, as they were when it was last looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTree {
    repository: Repository,
    files: BTreeMap<RepoPath, BlobId>,
    uncommitted: BTreeSet<RepoPath>,
    unreadable: BTreeSet<RepoPath>,
}

/// The most bytes of cleaned files that are held in memory, and one file more.
const MOST_HELD: u64 = 64 << 20;
/// Where in an index entry's flags its side of a conflict stands.
pub(crate) const STAGE: u16 = 0x3000;

impl WorkTree {
    /// Looks at the whole working tree.
    ///
    /// # Errors
    /// When the repository or its index cannot be read.
    pub fn read(repository: &Repository) -> Result<Self, RepoError> {
        let mut work = Self {
            repository: repository.clone(),
            files: BTreeMap::new(),
            uncommitted: BTreeSet::new(),
            unreadable: BTreeSet::new(),
        };
        work.look_at_all()?;
        Ok(work)
    }

    /// Returns the files and their blobs, in the order of their paths.
    pub fn files(&self) -> &BTreeMap<RepoPath, BlobId> {
        &self.files
    }

    /// Returns those with another content than the staged one, or that are not tracked.
    pub fn uncommitted(&self) -> &BTreeSet<RepoPath> {
        &self.uncommitted
    }

    /// Returns those that the system does not let us read. They are left out of the files.
    pub fn unreadable(&self) -> &BTreeSet<RepoPath> {
        &self.unreadable
    }

    /// Looks at the whole working tree again: costs the system's word on every file, and the reading of those that changed.
    ///
    /// # Errors
    /// When the repository or its index cannot be read.
    pub fn look_at_all(&mut self) -> Result<(), RepoError> {
        let cleaner = Cleaner::open(&self.repository)?;
        let mut index = cleaner.index(&self.repository)?;
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
        let compare = |index: &git2::Index| staged::compare(&self.repository, &cleaner.objects, index);
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
        (self.files, self.uncommitted, self.unreadable) = (files, uncommitted, unreadable);
        Ok(())
    }

    /// Looks at these files again, and at those that were below them: a folder may be gone, or another lies in its place.
    /// Gives those whose content is another one now, or that came or went.
    ///
    /// # Errors
    /// When the repository or its index cannot be read.
    pub fn look_at(&mut self, paths: &[RepoPath]) -> Result<Vec<RepoPath>, RepoError> {
        let cleaner = Cleaner::open(&self.repository)?;
        let index = cleaner.index(&self.repository)?;
        let mut changed = Vec::new();
        let below: BTreeSet<RepoPath> = paths.iter().flat_map(|path| self.below(path)).collect();
        for path in paths.iter().chain(below.iter().filter(|path| !paths.contains(path))) {
            self.unreadable.remove(path);
            let staged = staged::entry(&index, Path::new(path.as_str()));
            let tracked = staged.is_some();
            let now = if !tracked && !cleaner.counts(path) {
                None
            } else {
                match cleaner.look(&index, path)? {
                    Look::Gone => None,
                    Look::Unreadable => {
                        self.unreadable.insert(path.clone());
                        None
                    }
                    Look::Holds(blob) => Some(blob),
                    Look::AsStaged => match staged.filter(is_file) {
                        Some(entry) if cleaner.fits(&entry)? => Some(BlobId(entry.id.to_string())),
                        Some(_) | None => None,
                    },
                }
            };
            match &now {
                Some(blob) if !is_staged(&index, path, blob) => self.uncommitted.insert(path.clone()),
                Some(_) | None => self.uncommitted.remove(path),
            };
            let before = match &now {
                Some(blob) => self.files.insert(path.clone(), blob.clone()),
                None => self.files.remove(path),
            };
            if before != now {
                changed.push(path.clone());
            }
        }
        Ok(changed)
    }

    /// Returns the known files in a folder, and in those in it.
    fn below(&self, folder: &RepoPath) -> impl Iterator<Item = RepoPath> {
        let inside = move |path: &&RepoPath| Path::new(path.as_str()).starts_with(folder.as_str()) && *path != folder;
        // A name that only begins like the folder's may stand between.
        let near = move |path: &&RepoPath| path.as_str().starts_with(folder.as_str());
        let known = self.files.range(folder..).map(|(path, _)| path).take_while(near);
        let closed = self.unreadable.range(folder..).take_while(near);
        known.chain(closed).filter(inside).cloned()
    }

    /// Reads the files that were seen, from git's objects or from the working tree.
    ///
    /// # Errors
    /// When the repository or its index cannot be read.
    pub fn reader(&self) -> Result<WorkReader, RepoError> {
        let cleaner = Cleaner::open(&self.repository)?;
        let index = cleaner.index(&self.repository)?;
        Ok(WorkReader { cleaner, index })
    }
}

/// Reads files of a working tree in the versions that were seen there.
pub struct WorkReader {
    cleaner: Cleaner,
    index: git2::Index,
}

impl WorkReader {
    /// Returns the text of a file in this version.
    pub fn text(&self, path: &RepoPath, blob: &BlobId) -> WorkText {
        let found = self.bytes(path, blob);
        match found.map(SourceText::from_bytes) {
            Some(Ok(source)) => WorkText::Text(source),
            Some(Err(reason)) => WorkText::NotText(reason),
            None => WorkText::Changed,
        }
    }

    fn bytes(&self, path: &RepoPath, blob: &BlobId) -> Option<Vec<u8>> {
        let id = Oid::from_str(&blob.0).ok()?;
        if let Ok(bytes) = bounds::read(&self.cleaner.objects.odb().ok()?, id, ObjectType::Blob) {
            return Some(bytes);
        }
        let seen = self.cleaner.clean(&self.index, path).ok()?;
        (seen.id() == id).then(|| seen.content().to_vec())
    }
}

/// What reading a file of a working tree gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkText {
    Text(SourceText),
    /// It is no text, for this reason, and will not become one in this version.
    NotText(SkipReason),
    /// Neither git's objects nor the working tree have this version any more.
    Changed,
}

impl std::fmt::Debug for WorkReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkReader").finish_non_exhaustive()
    }
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
struct Cleaner {
    handle: git2::Repository,
    objects: git2::Repository,
    root: PathBuf,
    rule_files: RuleFiles,
    /// Bytes held in memory.
    held: Cell<u64>,
    /// What filters read at any time.
    attributes: RefCell<Vec<Oid>>,
}

impl Cleaner {
    fn open(repository: &Repository) -> Result<Self, RepoError> {
        let cleaner = Self {
            handle: repository.handle()?,
            objects: repository.handle()?,
            root: repository.root().to_owned(),
            rule_files: RuleFiles::of(repository.root()),
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
    fn index(&self, repository: &Repository) -> Result<git2::Index, RepoError> {
        let mut index = self
            .objects
            .index()
            .map_err(repository.index_error("reading the index"))?;
        index.read(false).map_err(repository.index_error("reading the index"))?;
        for entry in index.iter().filter(|entry| entry.path.ends_with(b".gitattributes")) {
            self.copy(entry.id)?;
            self.attributes.borrow_mut().push(entry.id);
        }
        Ok(index)
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
        let again = |_| self.clean(index, path);
        let cleaned = match self.clean(index, path).or_else(again).or_else(again) {
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
    fn clean(&self, index: &git2::Index, path: &RepoPath) -> Result<git2::Blob<'_>, RepoError> {
        if self.held.get() > MOST_HELD {
            self.forget()?;
        }
        let inside = Path::new(path.as_str());
        // The line-end filter looks at the staged version (in a conflict, at that both sides began with): a file that has
        // CRs there is not converted.
        if let Some(entry) = index.get_path(inside, 0).or_else(|| index.get_path(inside, 1)) {
            self.copy(entry.id)?;
        }
        self.rule_files.look_for(inside)?;
        let id = self.handle.blob_path(&self.place(path));
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
        let is_ignored =
            || self.rule_files.look_for(inside).is_ok() && self.handle.is_path_ignored(inside).unwrap_or(false);
        !nested && !is_ignored()
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
            Err(source) => Err(RepoError::Git {
                attempt: "reading the size of a file",
                source,
            }),
        }
    }

    fn copy(&self, id: Oid) -> Result<(), RepoError> {
        let objects = self.objects.odb().map_err(RepoError::git("opening the objects"))?;
        let Ok(bytes) = bounds::read(&objects, id, ObjectType::Blob) else {
            return Ok(());
        };
        let memory = self.handle.odb().map_err(RepoError::git("opening objects in memory"))?;
        self.held.set(self.held.get() + bytes.len() as u64);
        memory
            .write(ObjectType::Blob, &bytes)
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
