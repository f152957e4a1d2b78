//! The tree a run reads, and reading from it. What is read is copied into the store on the way.
//!
//! Does not change anything; see `changes` for that.

use crate::tree_entry::{self, Entry};
use crate::{MAX_FILE_BYTES, ObjectStore, ReadError, RepoError, Repository, SourceText, tree, uncommitted};
use git2::{ErrorCode, ObjectType, Oid};
use magis_core::{Base, BlobId, CommitId, RepoPath, SkipReason, SkippedFile, TreeId};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::Path;

/// What a run is to be based on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BaseChoice {
    Head,
    /// The last commit with all uncommitted work: changed files, and new ones that are not ignored.
    HeadWithUncommitted,
    /// A branch, a tag, a commit.
    Revision {
        /// As git reads it.
        name: String,
    },
}

/// A tree, fixed at one moment. Cheap to clone, safe to share.
#[derive(Debug, Clone)]
pub struct Snapshot {
    store: ObjectStore,
    base: Base,
    notes: Vec<String>,
}

/// The files of a snapshot, and what is left out of it.
pub type Listed = (Vec<FileEntry>, Vec<SkippedFile>);

/// The number of files of a folder after which `progress` is asked whether to go on.
const LOOK: usize = 256;

/// A file of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    pub path: RepoPath,
    pub blob: BlobId,
    pub mode: FileMode,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The modes of ordinary files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileMode {
    /// 100644.
    Regular,
    /// 100755.
    Executable,
}

impl Snapshot {
    /// Fixes the tree that `choice` names.
    ///
    /// # Errors
    /// When there is no such revision, or the repository cannot be read.
    pub fn take(repository: &Repository, store: &ObjectStore, choice: &BaseChoice) -> Result<Self, RepoError> {
        let handle = repository.handle()?;
        let (commit, name) = match choice {
            BaseChoice::Head | BaseChoice::HeadWithUncommitted => (repository.head_commit(&handle)?, "HEAD".to_owned()),
            BaseChoice::Revision { name } => (revision(&handle, name)?, name.clone()),
        };
        let mut notes = Vec::new();
        let mut tree = commit.tree_id();
        store.keep(commit.id(), ObjectType::Commit)?;
        store.keep(tree, ObjectType::Tree)?;
        let uncommitted = *choice == BaseChoice::HeadWithUncommitted;
        if uncommitted {
            let work = uncommitted::tree(repository, &handle, store, tree)?;
            tree = work.tree;
            notes = work.notes;
        }
        let base = Base {
            commit: CommitId(commit.id().to_string()),
            tree: TreeId(tree.to_string()),
            uncommitted,
            name,
        };
        Ok(Self {
            store: store.clone(),
            base,
            notes,
        })
    }

    /// Opens the tree of an earlier run; works for the files that run read even when the repository is gone.
    ///
    /// # Errors
    /// When the tree is not there, or the repository cannot be read.
    pub fn reopen(folder: impl AsRef<Path>, base: &Base) -> Result<Self, RepoError> {
        let store = ObjectStore::reopen(folder)?;
        let snapshot = Self {
            store,
            base: base.clone(),
            notes: Vec::new(),
        };
        tree::entries(&snapshot.store, snapshot.tree()?)?;
        Ok(snapshot)
    }

    /// Returns which tree it is.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// Returns what a person should know about how it was taken, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the store it reads from.
    pub fn store(&self) -> &ObjectStore {
        &self.store
    }

    /// Returns all ordinary files up to [`MAX_FILE_BYTES`] in the order of their paths, and what is left out, with the
    /// reason. Contents are not looked at: a binary file is found out when it is read. A folder whose tree is missing
    /// is left out as a whole.
    ///
    /// # Errors
    /// When the tree cannot be read.
    pub fn files(&self) -> Result<Listed, RepoError> {
        let listed = self.files_while(&mut |_| ControlFlow::Continue(()))?;
        Ok(listed.unwrap_or_default())
    }

    /// As [`Self::files`]; `progress` is told how many were listed and may break it off, then there is none.
    ///
    /// # Errors
    /// When the tree cannot be read.
    pub fn files_while(&self, progress: &mut dyn FnMut(usize) -> ControlFlow<()>) -> Result<Option<Listed>, RepoError> {
        let root = self.tree()?;
        self.store.measure(root)?;
        let (mut files, mut skipped) = (Vec::new(), Vec::new());
        // Folders that are still to be listed; not by recursion, since how deep they lie is the repository's choice.
        let mut left = vec![(root, Vec::new())];
        while let Some((tree, folder)) = left.pop() {
            let entries = match tree::entries(&self.store, tree) {
                Ok(entries) => entries,
                Err(RepoError::ObjectMissing { .. }) if !folder.is_empty() => {
                    skipped.push(left_out(&tree::join(&folder, b""), SkipReason::Missing));
                    continue;
                }
                Err(error) => return Err(error),
            };
            for (at, entry) in entries.iter().enumerate() {
                if at % LOOK == 0 && progress(files.len()).is_break() {
                    return Ok(None);
                }
                let path = tree::join(&folder, &entry.name);
                if entry.mode == tree_entry::TREE {
                    left.push((entry.id, path));
                    continue;
                }
                match self.file(entry, &path)? {
                    Ok(file) => files.push(file),
                    Err(reason) => skipped.push(left_out(&path, reason)),
                }
            }
        }
        files.sort_by(|one: &FileEntry, other| one.path.cmp(&other.path));
        skipped.sort_by(|one: &SkippedFile, other| one.path.cmp(&other.path));
        Ok(Some((files, skipped)))
    }

    /// Returns the text of a file. It is copied into the store, with the trees on the way.
    ///
    /// # Errors
    /// When the file is not there, is skipped, or cannot be read.
    pub fn read(&self, path: &RepoPath) -> Result<SourceText, ReadError> {
        let entry = self.entry(path)?.ok_or_else(|| ReadError::NoSuchFile(path.clone()))?;
        let skipped = |reason| ReadError::Skipped {
            path: path.to_string(),
            reason,
        };
        if let Some(reason) = special(&entry) {
            return Err(skipped(reason));
        }
        self.kept_text(entry.id, path.as_str())
    }

    /// Returns the blob of a file.
    ///
    /// # Errors
    /// When the file is not there, is skipped, or cannot be read.
    pub fn blob(&self, path: &RepoPath) -> Result<BlobId, ReadError> {
        let entry = self.entry(path)?.ok_or_else(|| ReadError::NoSuchFile(path.clone()))?;
        Ok(BlobId(entry.id.to_string()))
    }

    /// Returns the text of a blob, which need not be in the tree (an older version, say). It is copied into the store.
    ///
    /// # Errors
    /// When the file is not there, is skipped, or cannot be read.
    pub fn read_blob(&self, blob: &BlobId) -> Result<SourceText, ReadError> {
        self.kept_text(blob_id(blob)?, &blob.0)
    }

    /// Returns the text of a blob of an ordinary file, without copying it into the store: for passes over all files, an
    /// index say. What a run shows to an agent is read with [`Self::read`], so that it can be opened again later.
    ///
    /// # Errors
    /// When the file is not there, is skipped, or cannot be read.
    pub fn scan(&self, blob: &BlobId) -> Result<SourceText, ReadError> {
        self.text(blob_id(blob)?, &blob.0)
    }

    /// Returns the object id of the root tree.
    pub(crate) fn tree(&self) -> Result<Oid, RepoError> {
        let id = &self.base.tree.0;
        Oid::from_str(id).map_err(|_| RepoError::ObjectMissing {
            kind: "tree",
            id: id.clone(),
        })
    }

    /// Returns what the tree has at `path`, unless that is a folder.
    pub(crate) fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, RepoError> {
        Ok(tree::find(&self.store, self.tree()?, path.as_str())?.filter(|entry| entry.mode != tree_entry::TREE))
    }

    fn text(&self, id: Oid, name: &str) -> Result<SourceText, ReadError> {
        let skipped = |reason| ReadError::Skipped {
            path: name.to_owned(),
            reason,
        };
        match self.store.blob_size(id)? {
            None => return Err(skipped(SkipReason::Missing)),
            Some(bytes) if bytes > MAX_FILE_BYTES => {
                return Err(skipped(SkipReason::TooLarge {
                    bytes,
                    limit: MAX_FILE_BYTES,
                }));
            }
            Some(_) => {}
        }
        SourceText::from_bytes(self.store.read(id, ObjectType::Blob)?).map_err(skipped)
    }

    /// Returns the text of a blob, which is copied into the store.
    fn kept_text(&self, id: Oid, name: &str) -> Result<SourceText, ReadError> {
        let text = self.text(id, name)?;
        self.store.keep(id, ObjectType::Blob)?;
        Ok(text)
    }

    /// Returns the entry as a file, or why it is left out.
    fn file(&self, entry: &Entry, path: &[u8]) -> Result<Result<FileEntry, SkipReason>, RepoError> {
        if let Some(reason) = special(entry) {
            return Ok(Err(reason));
        }
        let Some(path) = String::from_utf8(path.to_vec())
            .ok()
            .and_then(|path| RepoPath::new(path).ok())
        else {
            return Ok(Err(SkipReason::UnsupportedPath));
        };
        let mode = if entry.mode & 0o111 == 0 {
            FileMode::Regular
        } else {
            FileMode::Executable
        };
        Ok(match self.store.blob_size(entry.id)? {
            None => Err(SkipReason::Missing),
            Some(bytes) if bytes > MAX_FILE_BYTES => Err(SkipReason::TooLarge {
                bytes,
                limit: MAX_FILE_BYTES,
            }),
            Some(bytes) => Ok(FileEntry {
                path,
                blob: BlobId(entry.id.to_string()),
                mode,
                bytes,
            }),
        })
    }
}

fn left_out(path: &[u8], reason: SkipReason) -> SkippedFile {
    SkippedFile {
        path: String::from_utf8_lossy(path).into_owned(),
        reason,
    }
}

fn blob_id(blob: &BlobId) -> Result<Oid, RepoError> {
    let id = || blob.to_string();
    Oid::from_str(&blob.0).map_err(|_| RepoError::ObjectMissing { kind: "blob", id: id() })
}

/// Returns why an entry is no ordinary file.
pub(crate) fn special(entry: &Entry) -> Option<SkipReason> {
    match entry.mode {
        tree_entry::LINK => Some(SkipReason::Symlink),
        tree_entry::SUBMODULE => Some(SkipReason::Submodule),
        _ => None,
    }
}

fn revision<'r>(handle: &'r git2::Repository, name: &str) -> Result<git2::Commit<'r>, RepoError> {
    let object = handle.revparse_single(name).map_err(|source| match source.code() {
        ErrorCode::NotFound | ErrorCode::InvalidSpec => RepoError::RevisionNotFound(name.to_owned()),
        ErrorCode::Ambiguous => RepoError::RevisionAmbiguous(name.to_owned()),
        _ => RepoError::Git {
            attempt: "reading the revision",
            source,
        },
    })?;
    object
        .peel_to_commit()
        .map_err(|_| RepoError::RevisionNotACommit(name.to_owned()))
}
