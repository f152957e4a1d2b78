//! The files of the working tree with the blob that git would keep for each: what `git add --all` and `git write-tree`
//! would make, as a list, without writing an object anywhere. Kept up to date file by file.
//!
//! It agrees with a snapshot of `HEAD` with uncommitted work, which writes what it finds into a store of our own because a
//! run has to outlive the repository. Submodules, nested repositories, symbolic links, ignored files and files above
//! [`MAX_FILE_BYTES`] are left out, as they are there.

use crate::reading::{Looked, Request, Seen};
use crate::{RepoError, Repository, SourceText};
use magis_core::{BlobId, RepoPath, SkipReason};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The files of a working tree, as they were when it was last looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTree {
    repository: Repository,
    seen: Seen,
}

impl WorkTree {
    /// Looks at the whole working tree.
    ///
    /// # Errors
    /// When the repository or its index cannot be read.
    pub fn read(repository: &Repository) -> Result<Self, RepoError> {
        let mut work = Self {
            repository: repository.clone(),
            seen: Seen::default(),
        };
        work.look_at_all()?;
        Ok(work)
    }

    /// Returns the files and their blobs, in the order of their paths.
    pub fn files(&self) -> &BTreeMap<RepoPath, BlobId> {
        &self.seen.files
    }

    /// Returns those with another content than the staged one, or that are not tracked.
    pub fn uncommitted(&self) -> &BTreeSet<RepoPath> {
        &self.seen.uncommitted
    }

    /// Returns those that the system does not let us read. They are left out of the files.
    pub fn unreadable(&self) -> &BTreeSet<RepoPath> {
        &self.seen.unreadable
    }

    /// Looks at the whole working tree again: costs the system's word on every file, and the reading of those that changed.
    ///
    /// # Errors
    /// When the repository or its index cannot be read.
    pub fn look_at_all(&mut self) -> Result<(), RepoError> {
        self.seen = self.repository.reader().ask(Request::WorkTree)?;
        Ok(())
    }

    /// Looks at these files again, and at those that were below them: a folder may be gone, or another lies in its place.
    /// Gives those whose content is another one now, or that came or went.
    ///
    /// # Errors
    /// When the repository or its index cannot be read.
    pub fn look_at(&mut self, paths: &[RepoPath]) -> Result<Vec<RepoPath>, RepoError> {
        let below: BTreeSet<RepoPath> = paths.iter().flat_map(|path| self.below(path)).collect();
        let below = below.into_iter().filter(|path| !paths.contains(path));
        let paths: Vec<RepoPath> = paths.iter().cloned().chain(below).collect();
        let looked: Vec<Looked> = self.repository.reader().ask(Request::LookAt { paths })?;
        let mut changed = Vec::new();
        let put = |set: &mut BTreeSet<RepoPath>, path: &RepoPath, is_in| {
            if is_in {
                set.insert(path.clone())
            } else {
                set.remove(path)
            };
        };
        for Looked {
            path,
            blob,
            uncommitted,
            unreadable,
        } in looked
        {
            put(&mut self.seen.uncommitted, &path, uncommitted);
            put(&mut self.seen.unreadable, &path, unreadable);
            let before = match &blob {
                Some(blob) => self.seen.files.insert(path.clone(), blob.clone()),
                None => self.seen.files.remove(&path),
            };
            if before != blob {
                changed.push(path);
            }
        }
        Ok(changed)
    }

    /// Returns the known files in a folder, and in those in it.
    fn below(&self, folder: &RepoPath) -> impl Iterator<Item = RepoPath> {
        let inside = move |path: &&RepoPath| Path::new(path.as_str()).starts_with(folder.as_str()) && *path != folder;
        // A name that only begins like the folder's may stand between.
        let near = move |path: &&RepoPath| path.as_str().starts_with(folder.as_str());
        let known = self.seen.files.range(folder..).map(|(path, _)| path).take_while(near);
        let closed = self.seen.unreadable.range(folder..).take_while(near);
        known.chain(closed).filter(inside).cloned()
    }

    /// Reads the files that were seen, from git's objects or from the working tree.
    pub fn reader(&self) -> WorkReader {
        WorkReader {
            repository: self.repository.clone(),
        }
    }
}

/// Reads files of a working tree in the versions that were seen there.
#[derive(Debug)]
pub struct WorkReader {
    repository: Repository,
}

impl WorkReader {
    /// Returns the text of a file in this version.
    pub fn text(&self, path: &RepoPath, blob: &BlobId) -> WorkText {
        let found = self.repository.reader().ask_for_bytes(Request::WorkFile {
            path: path.clone(),
            blob: blob.clone(),
        });
        match found {
            Ok((true, bytes)) => match SourceText::from_bytes(bytes) {
                Ok(source) => WorkText::Text(source),
                Err(reason) => WorkText::NotText(reason),
            },
            Ok((false, _)) | Err(_) => WorkText::Changed,
        }
    }
}

/// What reading a file of a working tree gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkText {
    Text(SourceText),
    /// It is no text, for this reason, and will not become one in this version.
    NotText(SkipReason),
    /// Neither git's objects nor the working tree have this version any more, or it cannot be read.
    Changed,
}
