//! The tree a run reads, and reading from it. What is read is copied into the store on the way.
//!
//! Does not change anything; see `changes` for that.

use crate::reading::{ChangedFile, Frame, NewContent, Request, id_of};
use crate::tree_entry::{self, Entry, Slot};
use crate::{
    BaseChoice, FileEntry, Git, Listed, MAX_FILE_BYTES, ObjectStore, ReadError, RepoError, Repository, SourceText, tree,
};
use git2::{ObjectType, Oid};
use magis_core::{Base, BlobId, RepoPath, SkipReason, SkippedFile, TreeId};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

/// A tree, fixed at one moment. Cheap to clone, safe to share.
#[derive(Debug, Clone)]
pub struct Snapshot {
    store: ObjectStore,
    base: Base,
    notes: Vec<String>,
}

impl Snapshot {
    /// Fixes the tree that `choice` names.
    ///
    /// # Errors
    /// When there is no such revision, or the repository cannot be read.
    pub fn take(repository: &Repository, store: &ObjectStore, choice: &BaseChoice) -> Result<Self, RepoError> {
        let reader = repository.reader();
        let mut base: Base = reader.ask(Request::Base { choice: choice.clone() })?;
        store.keep(id_of(&base.commit.0, "commit")?, ObjectType::Commit)?;
        let head = id_of(&base.tree.0, "tree")?;
        store.keep(head, ObjectType::Tree)?;
        let mut notes = Vec::new();
        if *choice == BaseChoice::HeadWithUncommitted {
            store.measure(head)?;
            let (changes, told) = uncommitted(repository, store, &base)?;
            base.tree = TreeId(tree::edit(store, head, &changes)?.to_string());
            base.uncommitted = true;
            notes = told;
        }
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
    pub fn reopen(git: &Git, folder: impl AsRef<Path>, base: &Base) -> Result<Self, RepoError> {
        let store = ObjectStore::reopen(git, folder)?;
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
        if progress(0).is_break() {
            return Ok(None);
        }
        let mut files: Vec<FileEntry> = Vec::new();
        let request = Request::Files {
            tree: self.base.tree.0.clone(),
        };
        let mut told = Ok(());
        let ended = self.store.reader().ask_for_parts(request, &mut |part| {
            match part.value::<Vec<FileEntry>>() {
                Ok(more) => files.extend(more),
                Err(error) => {
                    told = Err(error);
                    return ControlFlow::Break(());
                }
            }
            progress(files.len())
        })?;
        told?;
        let Some(ended) = ended else { return Ok(None) };
        let (more, mut skipped): Listed = ended.value()?;
        files.extend(more);
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
        if let Some(reason) = entry.special() {
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
        id_of(&self.base.tree.0, "tree")
    }

    /// Returns what the tree has at `path`, unless that is a folder.
    pub(crate) fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, RepoError> {
        Ok(tree::find(&self.store, self.tree()?, path.as_str())?.filter(|entry| entry.mode != tree_entry::TREE))
    }

    fn text(&self, id: Oid, name: &str) -> Result<SourceText, ReadError> {
        Self::text_of(
            self.store.read_at_most(id, ObjectType::Blob, Some(MAX_FILE_BYTES)),
            name,
        )
    }

    /// Returns the text of a blob that was read as far as a file goes, or not.
    pub(crate) fn text_of(read: Result<Vec<u8>, RepoError>, name: &str) -> Result<SourceText, ReadError> {
        let skipped = |reason| ReadError::Skipped {
            path: name.to_owned(),
            reason,
        };
        match read {
            Ok(bytes) => SourceText::from_bytes(bytes).map_err(skipped),
            Err(RepoError::ObjectMissing { .. }) => Err(skipped(SkipReason::Missing)),
            Err(RepoError::ObjectTooLarge { bytes, limit, .. }) => Err(skipped(SkipReason::TooLarge { bytes, limit })),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the text of a blob, which is copied into the store.
    fn kept_text(&self, id: Oid, name: &str) -> Result<SourceText, ReadError> {
        let text = self.text(id, name)?;
        self.store.keep(id, ObjectType::Blob)?;
        Ok(text)
    }
}

fn blob_id(blob: &BlobId) -> Result<Oid, RepoError> {
    id_of(&blob.0, "blob")
}

/// What becomes of paths, and what a person should know about it.
type Uncommitted = (BTreeMap<Vec<u8>, Slot>, Vec<String>);

/// Returns what the work tree has otherwise than the base, its new contents in the store, and what a person should know about it.
fn uncommitted(repository: &Repository, store: &ObjectStore, base: &Base) -> Result<Uncommitted, RepoError> {
    let mut changes = BTreeMap::new();
    let mut take = |part: &Frame| {
        let ChangedFile { path, becomes } = part.value()?;
        let (path, content) = part
            .bytes
            .split_at_checked(path)
            .ok_or_else(|| RepoError::wire("a path is cut"))?;
        let slot = match becomes {
            None => Slot::Gone,
            Some((mode, NewContent::Object { id })) => Slot::Holds {
                mode,
                id: id_of(&id, "blob")?,
            },
            Some((mode, NewContent::Bytes)) => Slot::Holds {
                mode,
                id: store.write(ObjectType::Blob, content)?,
            },
        };
        changes.insert(path.to_vec(), slot);
        Ok::<_, RepoError>(())
    };
    let mut taken = Ok(());
    let request = Request::Uncommitted {
        head: base.tree.0.clone(),
    };
    let ended = repository.reader().ask_for_parts(request, &mut |part| {
        taken = take(&part);
        if taken.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    taken?;
    let notes = ended.map(|ended| ended.value()).transpose()?.unwrap_or_default();
    Ok((changes, notes))
}
