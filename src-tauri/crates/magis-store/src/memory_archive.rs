//! The memory of one repository as a file that moves between machines: lines of JSON, the first of which says what it is
//! and the last of which seals the others.
//!
//! It opens no file and no repository. Whether the file speaks of the repository it is taken into is the engine's to say.
//! Code is in it only where somebody put it there.

mod lines;

use crate::error::DatabaseError;
use crate::{NewSummary, Store, StoreError, StoredChangeMessage, Summary, change_messages, summaries};
use magis_core::{BlobId, RepoId};
use rusqlite::{OptionalExtension, Transaction, named_params};
use thiserror::Error;

/// What a memory file holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryArchive {
    /// The repository's name where it was written; for people.
    pub repository: String,
    /// The summaries, of all versions.
    pub summaries: Vec<Summary>,
    /// The messages about changes.
    pub messages: Vec<StoredChangeMessage>,
    /// The text of versions that are described, where it was asked for.
    pub code: Vec<ArchivedCode>,
}

/// The text of one version of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedCode {
    /// Its blob, which is the hash of its content.
    pub blob: BlobId,
    /// Its bytes, which are UTF-8.
    pub text: String,
}

/// What became of the entries of a memory file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryImport {
    /// Entries that were not here.
    pub added: u32,
    /// Entries that were here in older words.
    pub replaced: u32,
    /// Entries that stay as they are here.
    pub kept: u32,
    /// Entries added or replaced that a person wrote.
    pub corrected: u32,
}

/// Why a memory file was not taken in. Nothing of it was.
#[derive(Debug, Error)]
pub enum MemoryFileError {
    /// It is something else.
    #[error("this is no memory file of Magis: {0}")]
    NotOne(String),
    /// A newer version of this program wrote it.
    #[error("the memory file has version {found}; this program reads versions up to {known}")]
    Newer { found: u32, known: u32 },
    /// It was cut off or changed on the way.
    #[error("the memory file is damaged at line {line}: {why}; nothing was taken in")]
    Damaged {
        /// The line, from 1.
        line: usize,
        why: String,
    },
    /// It is whole, and says what no memory says.
    #[error("entry {line} of the memory file is refused: {why}; nothing was taken in")]
    Refused {
        /// The line, from 1; 0 where it is not known.
        line: usize,
        why: String,
    },
    /// Its entries are about another repository.
    #[error("the memory file is about another repository ('{name}'): none of the versions it describes is in this one")]
    Foreign {
        /// What that one was called.
        name: String,
    },
    /// It could not be read.
    #[error("reading the memory file: {0}")]
    Read(#[from] std::io::Error),
}

impl MemoryFileError {
    /// Returns what a person can do about it, in a sentence.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NotOne(_) => "give a file that 'magis memory export' wrote",
            Self::Newer { .. } => "update this program, or export with the older one",
            Self::Damaged { .. } => "export it again, and copy the file again",
            Self::Refused { .. } => "find out who wrote the file; 'magis memory export' writes no such entry",
            Self::Foreign { .. } => "take it into a clone of that repository, or fetch the commits it is about first",
            Self::Read(_) => "check the path and its permissions",
        }
    }
}

impl Store {
    /// Returns the whole memory of a repository, without code.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn export_memory(&self, repo: RepoId) -> Result<MemoryArchive, StoreError> {
        let repository = self.repository(repo)?.name;
        self.read("exporting the memory", |transaction| {
            Ok(MemoryArchive {
                repository,
                summaries: summaries::all(transaction, repo)?,
                messages: change_messages::all(transaction, repo)?,
                code: Vec::new(),
            })
        })
    }

    /// Takes in what a memory file holds, all of it or nothing.
    ///
    /// An entry is the same as one that is here if version, model and prompt are (of a summary: the file's name, too).
    /// It replaces that one only if its words are newer; words of a person are replaced only by newer words of a person.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn import_memory(&self, repo: RepoId, archive: &MemoryArchive) -> Result<MemoryImport, StoreError> {
        self.repository(repo)?;
        self.write("importing the memory", |transaction| {
            let mut done = MemoryImport::default();
            for summary in &archive.summaries {
                import_summary(transaction, repo, summary, &mut done)?;
            }
            for message in &archive.messages {
                import_message(transaction, repo, message, &mut done)?;
            }
            Ok(done)
        })
    }
}

fn import_summary(
    transaction: &Transaction<'_>,
    repo: RepoId,
    summary: &Summary,
    done: &mut MemoryImport,
) -> Result<(), DatabaseError> {
    let NewSummary {
        path,
        blob,
        text,
        from_skeleton,
        file_bytes,
        tokens,
        model,
        model_sha,
        template_hash,
        made_at,
        ..
    } = &summary.kept;
    let mut known = transaction.prepare_cached(
        "SELECT coalesce(corrected_at, made_at), corrected_at IS NOT NULL FROM summaries
         WHERE repo = ?1 AND path = ?2 AND blob = ?3 AND model_sha = ?4 AND template_hash = ?5",
    )?;
    let key = (repo.0, path.as_str(), &blob.0, model_sha, template_hash);
    let here: Option<(i64, bool)> = known.query_row(key, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let stays = here.is_some_and(|(written_at, corrected)| {
        written_at >= summary.written_at() || (corrected && !summary.is_corrected())
    });
    if stays {
        done.kept += 1;
        return Ok(());
    }
    let mut keep = transaction.prepare_cached(summaries::KEEP)?;
    keep.execute(named_params! {
        ":repo": repo.0,
        ":path": path.as_str(),
        ":blob": blob.0,
        ":summary": text,
        ":from_skeleton": from_skeleton,
        ":file_bytes": file_bytes,
        ":tokens": tokens,
        ":model": model,
        ":model_sha": model_sha,
        ":template_hash": template_hash,
        ":made_at": made_at,
        ":made_in": None::<i64>,
        ":corrected_at": summary.corrected_at,
    })?;
    count(done, here.is_some());
    done.corrected += u32::from(summary.is_corrected());
    Ok(())
}

fn import_message(
    transaction: &Transaction<'_>,
    repo: RepoId,
    message: &StoredChangeMessage,
    done: &mut MemoryImport,
) -> Result<(), DatabaseError> {
    let mut known = transaction.prepare_cached(
        "SELECT made_at FROM change_messages
         WHERE repo = ?1 AND from_blob = ?2 AND to_blob = ?3 AND model_sha = ?4 AND template_hash = ?5",
    )?;
    let key = (
        repo.0,
        &message.from.0,
        &message.to.0,
        &message.model_sha,
        &message.template_hash,
    );
    let here: Option<i64> = known.query_row(key, |row| row.get(0)).optional()?;
    if here.is_some_and(|made_at| made_at >= message.made_at) {
        done.kept += 1;
        return Ok(());
    }
    let taken = StoredChangeMessage {
        repo,
        made_in: None,
        ..message.clone()
    };
    change_messages::put(transaction, &taken)?;
    count(done, here.is_some());
    Ok(())
}

fn count(done: &mut MemoryImport, was_here: bool) {
    if was_here {
        done.replaced += 1;
    } else {
        done.added += 1;
    }
}
