//! How central each file is in the import graph: what reads better in advance, before any issue is there.

use crate::Index;
use magis_core::RepoPath;

impl Index {
    /// For each file, in the order of their paths: how many files it imports or is imported by.
    pub fn connections(&self) -> Vec<(RepoPath, usize)> {
        let neighbours = self.view.neighbours();
        let files = self.view.files.iter().enumerate();
        files
            .map(|(number, file)| (file.path.clone(), neighbours.degree(number)))
            .collect()
    }
}
