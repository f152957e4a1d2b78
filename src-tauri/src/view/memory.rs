//! The summary memory: how much of a repository it knows, what that cost and saved, and one summary.

use super::repository::MemoryCounts;
use magis_core::{RepoId, RunId};
use magis_engine::records::Summary;
use magis_engine::{
    ExportedMemory, FileMemory, ImportedMemory, MemoryDayTotals, MemoryState, Remembered, SummaryNotNeeded,
};
use serde::Serialize;
use specta::Type;

/// How well a file is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum MemoryFileState {
    Fresh,
    Stale,
    None,
    /// Not as it is, and it need not be.
    NeedsNone,
}

/// Why a file needs no description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum NeedsNone {
    /// It is shorter than a description, and read whole.
    ShortEnough,
    /// It is no text.
    NoText,
}

impl From<MemoryState> for MemoryFileState {
    fn from(state: MemoryState) -> Self {
        match state {
            MemoryState::Fresh => Self::Fresh,
            MemoryState::Stale => Self::Stale,
            MemoryState::None => Self::None,
            MemoryState::SummaryNotNeeded(_) => Self::NeedsNone,
        }
    }
}

/// A file of HEAD, and what is remembered of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct MemoryFile {
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// How well it is remembered.
    pub state: MemoryFileState,
    /// Why it needs no description, where it needs none.
    pub needs_none: Option<NeedsNone>,
    /// The summary's length in tokens.
    pub tokens: Option<u32>,
    /// When it was made, in milliseconds since 1970.
    pub made_at_ms: Option<i64>,
    /// Whether a person rewrote it.
    pub corrected: bool,
}

impl From<FileMemory> for MemoryFile {
    fn from(memory: FileMemory) -> Self {
        let summary = memory.summary.as_ref();
        Self {
            path: memory.path.to_string(),
            bytes: memory.bytes,
            state: memory.state.into(),
            needs_none: match memory.state {
                MemoryState::SummaryNotNeeded(SummaryNotNeeded::ShortEnough) => Some(NeedsNone::ShortEnough),
                MemoryState::SummaryNotNeeded(SummaryNotNeeded::NoText) => Some(NeedsNone::NoText),
                MemoryState::Fresh | MemoryState::Stale | MemoryState::None => None,
            },
            tokens: summary.map(|summary| summary.kept.tokens),
            made_at_ms: summary.map(|summary| summary.kept.made_at),
            corrected: summary.is_some_and(Summary::is_corrected),
        }
    }
}

/// What memory cost and saved on a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct MemoryDay {
    /// The day, `2026-11-21`.
    pub day: String,
    /// Tokens worked through to make summaries.
    pub spent: u64,
    /// Tokens that summaries already there made unnecessary.
    pub saved: u64,
}

/// The memory of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct MemoryReport {
    pub repo: RepoId,
    /// How many files are known.
    pub counts: MemoryCounts,
    /// The files of HEAD.
    pub files: Vec<MemoryFile>,
    /// Tokens spent in all.
    pub tokens_spent: u64,
    /// Tokens saved in all.
    pub tokens_saved: u64,
    /// The same by day, the first day first.
    pub by_day: Vec<MemoryDay>,
}

impl MemoryReport {
    /// Returns the report of a repository.
    pub fn new(repo: RepoId, files: Vec<FileMemory>, days: Vec<MemoryDayTotals>) -> Self {
        let mut counts = MemoryCounts::default();
        for file in &files {
            match file.state {
                MemoryState::Fresh => counts.fresh += 1,
                MemoryState::Stale => counts.stale += 1,
                MemoryState::None => counts.none += 1,
                MemoryState::SummaryNotNeeded(_) => counts.needs_none += 1,
            }
        }
        Self {
            repo,
            counts,
            files: files.into_iter().map(Into::into).collect(),
            tokens_spent: days.iter().map(|day| day.spent).sum(),
            tokens_saved: days.iter().map(|day| day.saved).sum(),
            by_day: days
                .into_iter()
                .rev()
                .map(|MemoryDayTotals { day, spent, saved }| MemoryDay { day, spent, saved })
                .collect(),
        }
    }
}

/// A summary of a file, as the window shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct SummaryView {
    pub path: String,
    /// The blob it describes.
    pub blob: String,
    pub text: String,
    /// Whether they were made from a skeleton because the file is long.
    pub from_skeleton: bool,
    /// Whether a person rewrote them.
    pub corrected: bool,
    /// The model that made them.
    pub model: String,
    /// When, in milliseconds since 1970.
    pub made_at_ms: i64,
    pub made_in: Option<RunId>,
    /// What changed in the file since.
    pub change_message: Option<String>,
    /// Whether the file has changed since.
    pub stale: bool,
}

impl From<Remembered> for SummaryView {
    fn from(remembered: Remembered) -> Self {
        let corrected = remembered.summary.is_corrected();
        let kept = remembered.summary.kept;
        Self {
            path: kept.path.to_string(),
            blob: kept.blob.0,
            text: kept.text,
            from_skeleton: kept.from_skeleton,
            corrected,
            model: kept.model,
            made_at_ms: kept.made_at,
            made_in: kept.made_in,
            change_message: remembered.change_message,
            stale: remembered.state != MemoryState::Fresh,
        }
    }
}

/// What a memory file that was written holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
pub struct MemoryExportView {
    pub summaries: u32,
    /// Those of them that a person wrote.
    pub corrected: u32,
    pub messages: u32,
}

impl From<ExportedMemory> for MemoryExportView {
    fn from(written: ExportedMemory) -> Self {
        Self {
            summaries: written.summaries,
            corrected: written.corrected,
            messages: written.messages,
        }
    }
}

/// What a memory file brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
pub struct MemoryImportView {
    /// Entries that were not here.
    pub added: u32,
    /// Entries that were here in older words.
    pub replaced: u32,
    /// Entries that stay as they are here.
    pub kept: u32,
    /// Entries added or replaced that a person wrote.
    pub corrected: u32,
    /// Versions it is about that are not in the repository here.
    pub unknown_versions: u32,
}

impl From<ImportedMemory> for MemoryImportView {
    fn from(taken: ImportedMemory) -> Self {
        let entries = taken.entries;
        Self {
            added: entries.added,
            replaced: entries.replaced,
            kept: entries.kept,
            corrected: entries.corrected,
            unknown_versions: taken.unknown_versions,
        }
    }
}
