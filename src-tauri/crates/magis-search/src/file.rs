//! A file of a tree, with what the index knows of its content.

use crate::kind::Kind;
use crate::known_symbol::KnownSymbol;
use crate::metadata::FileMetadata;
use magis_core::{BlobId, RepoPath};
use std::sync::Arc;

/// A file of the tree.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub path: RepoPath,
    pub kind: Kind,
    /// The number of its content.
    pub content: usize,
    pub metadata: Arc<FileMetadata>,
}

impl File {
    pub fn blob(&self) -> &BlobId {
        &self.metadata.key.blob
    }

    pub fn symbols(&self) -> &[KnownSymbol] {
        &self.metadata.symbols
    }
}
