//! Reading many blobs one after another, some of them ahead of being asked for.
//!
//! Asking whoever reads the repository costs more than the reading of a small file. So a blob that is asked for brings those that come next in a list along:
//! more and more of them as long as they are asked for, too, and none where they are not.

use crate::{MAX_FILE_BYTES, ReadError, RepoError, Snapshot, SourceText};
use magis_core::BlobId;
use std::collections::{HashMap, HashSet};

/// The most blobs of one answer.
const MOST: usize = 32;

/// Reads texts of blobs of ordinary files, best in the order of a list. As with [`Snapshot::scan`], nothing is copied into the store.
#[derive(Debug)]
pub struct ReadAhead<'s> {
    snapshot: &'s Snapshot,
    blobs: Vec<&'s BlobId>,
    /// Where each stands in the list; empty until one is read, since of a list that is known nothing is.
    places: HashMap<&'s BlobId, usize>,
    /// What was read and not asked for so far.
    read: HashMap<&'s BlobId, Result<Vec<u8>, RepoError>>,
    /// How many are read at a time.
    window: usize,
}

impl Snapshot {
    /// Returns a reader of these blobs, which is asked for them in about this order; it need not be asked for all.
    pub fn read_ahead<'s>(&'s self, blobs: impl IntoIterator<Item = &'s BlobId>) -> ReadAhead<'s> {
        ReadAhead {
            snapshot: self,
            blobs: blobs.into_iter().collect(),
            places: HashMap::new(),
            read: HashMap::new(),
            window: 1,
        }
    }
}

impl ReadAhead<'_> {
    /// Returns the text of a blob, whether it is in the list or not.
    ///
    /// # Errors
    /// When the blob is not there, is skipped, or cannot be read.
    pub fn scan(&mut self, blob: &BlobId) -> Result<SourceText, ReadError> {
        if !self.read.contains_key(blob) {
            self.read_from(blob);
        }
        match self.read.remove(blob) {
            Some(read) => Snapshot::text_of(read, &blob.0),
            None => self.snapshot.scan(blob),
        }
    }

    /// Reads a blob and those after it, up to one over which the reader is lost.
    fn read_from(&mut self, blob: &BlobId) {
        if self.places.is_empty() {
            // A blob that lies at many paths is read once.
            let mut seen = HashSet::new();
            self.blobs.retain(|blob| seen.insert(*blob));
            self.places = self.blobs.iter().copied().zip(0..).collect();
        }
        let Some(&place) = self.places.get(blob) else { return };
        let is_of_use = self.read.len() * 2 <= self.window;
        self.window = if is_of_use { (self.window * 2).min(MOST) } else { 1 };
        self.read.clear();
        let end = (place + self.window).min(self.blobs.len());
        let wanted = &self.blobs[place..end];
        let read = self.snapshot.store().read_all(wanted, MAX_FILE_BYTES);
        self.read.extend(wanted.iter().copied().zip(read));
    }
}
