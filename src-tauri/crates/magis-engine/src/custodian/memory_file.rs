//! The memory of a repository, moved between machines of a team as one file.
//!
//! What such a file looks like and what is refused of it is the store's; here it meets the repository it is about.

use crate::{EngineError, Magis, write_whole};
use magis_core::{BlobId, RepoId};
use magis_platform::now_ms;
use magis_repo::{BaseChoice, ObjectStore, Snapshot};
use magis_store::{ArchivedCode, MemoryArchive, MemoryFileError, MemoryImport};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Whether the text of the described versions goes along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WithCode {
    /// Only what was written about the code.
    #[default]
    No,
    /// The text of the versions, too, so that one that was never pushed can be compared elsewhere.
    Yes,
}

/// What was written into a memory file, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportedMemory {
    pub summaries: u32,
    /// Those of them that a person wrote.
    pub corrected: u32,
    pub messages: u32,
    /// Versions whose text went along.
    pub code: u32,
}

/// What was taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportedMemory {
    /// What became of the entries.
    pub entries: MemoryImport,
    /// Versions the file is about that are not in the repository here: their entries wait until they are.
    pub unknown_versions: u32,
    /// Versions whose text came along and was checked against its hash.
    pub code: u32,
}

impl Magis {
    /// Writes the memory of a repository into `file`, whole or not at all.
    ///
    /// # Errors
    /// When the database cannot be read, or the file cannot be written.
    pub fn export_memory(&self, repo: RepoId, file: &Path, code: WithCode) -> Result<ExportedMemory, EngineError> {
        let mut archive = self.store.export_memory(repo)?;
        if code == WithCode::Yes {
            let snapshot = self.head(repo)?;
            let described: BTreeSet<&BlobId> = archive.summaries.iter().map(|one| &one.kept.blob).collect();
            let mut texts = snapshot.read_ahead(described.iter().copied());
            let text = |blob: &BlobId| {
                let text = texts.scan(blob).ok()?.text;
                // A text that was decoded differently from its bytes has another hash, and could not be believed there.
                let code = ArchivedCode {
                    blob: blob.clone(),
                    text,
                };
                hashed_right(&code).then_some(code)
            };
            let found: Vec<ArchivedCode> = described.into_iter().filter_map(text).collect();
            archive.code = found;
        }
        write_whole(file, |to| archive.write(to)).map_err(EngineError::io("write the memory to", file))?;
        Ok(ExportedMemory {
            summaries: archive.summaries.len() as u32,
            corrected: archive.summaries.iter().filter(|one| one.is_corrected()).count() as u32,
            messages: archive.messages.len() as u32,
            code: archive.code.len() as u32,
        })
    }

    /// Takes a memory file into the memory of a repository, all of it or nothing.
    ///
    /// An entry that is here already is replaced only by newer words, and words of a person only by newer words of a
    /// person. A file is foreign when it is about versions and none of them is in the repository.
    ///
    /// # Errors
    /// When the file is not a memory file or cannot be read, or the database cannot be written.
    pub fn import_memory(&self, repo: RepoId, file: &Path) -> Result<ImportedMemory, EngineError> {
        let opened = File::open(file).map_err(MemoryFileError::from)?;
        let archive = MemoryArchive::read(BufReader::new(opened), now_ms())?;
        for code in &archive.code {
            if !hashed_right(code) {
                return Err(MemoryFileError::Refused {
                    line: 0,
                    why: format!("the text of {} is not what that hash names", code.blob),
                }
                .into());
            }
        }
        let objects = self.head(repo)?.store().clone();
        let versions: BTreeSet<&BlobId> = archive
            .summaries
            .iter()
            .map(|one| &one.kept.blob)
            .chain(archive.messages.iter().flat_map(|one| [&one.from, &one.to]))
            .collect();
        let mut unknown = 0;
        for blob in &versions {
            unknown += usize::from(!objects.has_blob(blob)?);
        }
        if unknown == versions.len() && unknown > 0 {
            return Err(MemoryFileError::Foreign {
                name: archive.repository,
            }
            .into());
        }
        for code in &archive.code {
            objects.keep_text(&code.text)?;
        }
        let entries = self.store.import_memory(repo, &archive)?;
        Ok(ImportedMemory {
            entries,
            unknown_versions: unknown as u32,
            code: archive.code.len() as u32,
        })
    }

    fn head(&self, repo: RepoId) -> Result<Snapshot, EngineError> {
        let repository = self.open_repository(repo)?;
        let objects = ObjectStore::open(self.data.objects(repo), &repository)?;
        Ok(Snapshot::take(&repository, &objects, &BaseChoice::Head)?)
    }
}

fn hashed_right(code: &ArchivedCode) -> bool {
    magis_repo::blob_of(&code.text) == code.blob
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_believed_under_its_own_hash_only() {
        let code = |text: &str| ArchivedCode {
            blob: BlobId("78981922613b2afb6025042ff6bd878ac1994e85".to_owned()),
            text: text.to_owned(),
        };
        assert!(hashed_right(&code("a\n")), "what 'git hash-object' says of it");
        assert!(!hashed_right(&code("b\n")));
    }
}
