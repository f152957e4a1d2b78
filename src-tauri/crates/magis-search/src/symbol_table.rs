//! By simple name: which sources of the tree define it, and which use it. Which of its definitions a use means is for
//! `signals::calls` to say.

use crate::file::File;
use crate::known_symbol::SymbolShape;
use std::collections::HashMap;

/// The names of a tree.
#[derive(Debug, Default)]
pub(crate) struct SymbolTable {
    /// By simple name: the files that define it, sources only, each once.
    files: HashMap<String, Vec<u32>>,
    /// By name: the files that define it outside of any type.
    free: HashMap<String, Vec<u32>>,
    /// By simple name: the source files that use it.
    users: HashMap<String, Vec<u32>>,
}

impl SymbolTable {
    /// Returns the names of `files`.
    pub fn of(files: &[File]) -> Self {
        let mut found = Self::default();
        for (file, number) in files.iter().zip(0..) {
            if file.kind.reason().is_some() {
                continue;
            }
            for symbol in file
                .symbols()
                .iter()
                .filter(|symbol| symbol.shape != SymbolShape::Constant)
            {
                add(&mut found.files, symbol.name(), number);
                if symbol.owner().is_none() {
                    add(&mut found.free, symbol.name(), number);
                }
            }
            for name in &file.metadata.names {
                add(&mut found.users, name, number);
            }
        }
        found
    }

    /// Returns the files that define a name.
    pub fn files(&self, name: &str) -> &[u32] {
        self.files.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the files that define a name outside of any type.
    pub fn free(&self, name: &str) -> &[u32] {
        self.free.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the files that use a name.
    pub fn users(&self, name: &str) -> &[u32] {
        self.users.get(name).map_or(&[], Vec::as_slice)
    }
}

fn add(to: &mut HashMap<String, Vec<u32>>, name: &str, file: u32) {
    match to.get_mut(name) {
        Some(files) if files.last() == Some(&file) => {}
        Some(files) => files.push(file),
        None => drop(to.insert(name.to_owned(), vec![file])),
    }
}
