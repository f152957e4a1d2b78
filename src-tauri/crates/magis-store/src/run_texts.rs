//! The texts of a run that people search in: the issue, the hints, what agents said, paths and the patch. Full-text
//! search over them is SQLite's FTS5.
//!
//! It holds no prompts and no intermediate code; those stand in calls and events.

use crate::error::Fault;
use crate::runs::{self, RunEntry};
use crate::{Store, StoreError, column};
use magis_core::{FileAction, RepoId, RunEvent, RunId, RunRequest};
use rusqlite::{Transaction, named_params};
use serde::{Deserialize, Serialize};

/// The triggers keep the index in step, also where a run's deletion takes its texts along.
pub(crate) const VERSION_1: &str = "\
CREATE TABLE run_texts (
    id     INTEGER PRIMARY KEY,
    run    INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq    INTEGER,
    source TEXT NOT NULL CHECK (source IN ('issue', 'hint', 'words', 'path', 'patch')),
    text   TEXT NOT NULL
) STRICT;
CREATE INDEX run_texts_of_run ON run_texts (run);
CREATE VIRTUAL TABLE run_search USING fts5 (
    text, content = 'run_texts', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);
CREATE TRIGGER run_texts_added AFTER INSERT ON run_texts BEGIN
    INSERT INTO run_search (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER run_texts_deleted AFTER DELETE ON run_texts BEGIN
    INSERT INTO run_search (run_search, rowid, text) VALUES ('delete', old.id, old.text);
END;";

/// What to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSearch {
    /// Words, which all have to occur in one text; the beginning of a word is enough.
    pub text: String,
    /// Only in runs of this repository.
    pub repo: Option<RepoId>,
    /// At most this many runs.
    pub limit: u32,
}

/// A run in which something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunHit {
    /// The run.
    pub run: RunEntry,
    /// Where, at most [`RunHit::MAX_PLACES`], the issue first.
    pub places: Vec<HitPlace>,
}

impl RunHit {
    /// How many places of one run are shown.
    pub const MAX_PLACES: usize = 3;
}

/// One text in which something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitPlace {
    /// What kind of text.
    pub source: TextSource,
    /// The event it belongs to; none for what the request says.
    pub seq: Option<u32>,
    /// A piece of the text around what was found.
    pub snippet: Vec<SnippetPart>,
}

/// A piece of a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnippetPart {
    /// Text around.
    Plain(String),
    /// What was found.
    Found(String),
}

/// What kind of text something was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextSource {
    /// The issue.
    Issue,
    /// A hint.
    Hint,
    /// What an agent, or the person in the meeting, said.
    Words,
    /// A path.
    Path,
    /// The patch.
    Patch,
}

/// Marks of what was found, which no text of the index has a reason to hold.
const MARKS: [char; 2] = ['\u{2}', '\u{3}'];

impl Store {
    /// Runs that say `search.text`, the newest first. Nothing is found for a text without a letter or digit.
    pub fn search_runs(&self, search: &RunSearch) -> Result<Vec<RunHit>, StoreError> {
        let query = match_expression(&search.text);
        if query.is_empty() || search.limit == 0 {
            return Ok(Vec::new());
        }
        self.read("searching the runs", |transaction| {
            let mut places = Vec::new();
            for run in matching_runs(transaction, &query, search)? {
                places.push(RunHit {
                    places: places_in(transaction, &query, run)?,
                    run: runs::get(transaction, run)?.entry,
                });
            }
            Ok(places)
        })
    }
}

/// The words of `text` as beginnings that all have to occur; quoted, so that nothing in them is an operator.
fn match_expression(text: &str) -> String {
    let words = text
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphanumeric));
    let quoted: Vec<String> = words
        .map(|word| format!("\"{}\" *", word.replace('"', "\"\"").replace('\0', "")))
        .collect();
    quoted.join(" ")
}

/// Rows are read newest first and only until enough runs are known.
fn matching_runs(transaction: &Transaction<'_>, query: &str, search: &RunSearch) -> Result<Vec<RunId>, Fault> {
    let mut statement = transaction.prepare_cached(
        "SELECT run_texts.run FROM run_search JOIN run_texts ON run_texts.id = run_search.rowid
         WHERE run_search MATCH :query
           AND (:repo IS NULL OR EXISTS (SELECT 1 FROM runs WHERE id = run_texts.run AND repo = :repo))
         ORDER BY run_search.rowid DESC",
    )?;
    let mut rows = statement.query(named_params! { ":query": query, ":repo": search.repo.map(|repo| repo.0) })?;
    let mut found: Vec<RunId> = Vec::new();
    while let Some(row) = rows.next()? {
        let run = RunId(row.get(0)?);
        if found.last() != Some(&run) && !found.contains(&run) {
            if found.len() == search.limit as usize {
                break;
            }
            found.push(run);
        }
    }
    found.sort_unstable_by(|one, other| other.cmp(one));
    Ok(found)
}

fn places_in(transaction: &Transaction<'_>, query: &str, run: RunId) -> Result<Vec<HitPlace>, Fault> {
    let mut statement = transaction.prepare_cached(
        "SELECT run_texts.source, run_texts.seq, snippet(run_search, 0, char(2), char(3), '…', 16) AS snippet
         FROM run_search JOIN run_texts ON run_texts.id = run_search.rowid
         WHERE run_search MATCH :query
           AND run_search.rowid BETWEEN (SELECT min(id) FROM run_texts WHERE run = :run)
                                    AND (SELECT max(id) FROM run_texts WHERE run = :run)
           AND run_texts.run = :run
         ORDER BY run_search.rowid LIMIT :limit",
    )?;
    let parameters = named_params! { ":query": query, ":run": run.0, ":limit": RunHit::MAX_PLACES as u32 };
    let rows = statement.query_map(parameters, |row| {
        Ok(HitPlace {
            source: column::from_word(row, "source")?,
            seq: row.get("seq")?,
            snippet: parts(&row.get::<_, String>("snippet")?),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn parts(marked: &str) -> Vec<SnippetPart> {
    let mut parts = Vec::new();
    for piece in marked.split_inclusive(MARKS) {
        let text = piece.trim_end_matches(MARKS).to_owned();
        if text.is_empty() {
            continue;
        }
        parts.push(if piece.ends_with(MARKS[1]) {
            SnippetPart::Found(text)
        } else {
            SnippetPart::Plain(text)
        });
    }
    parts
}

/// Adds what a request says.
pub(crate) fn add_request(transaction: &Transaction<'_>, run: RunId, request: &RunRequest) -> Result<(), Fault> {
    add(transaction, run, None, TextSource::Issue, request.issue.text())?;
    for hint in &request.hints {
        add(transaction, run, None, TextSource::Hint, hint.text())?;
    }
    for path in &request.files {
        add(transaction, run, None, TextSource::Path, path.as_str())?;
    }
    Ok(())
}

/// Adds what an event says.
pub(crate) fn add_event(transaction: &Transaction<'_>, run: RunId, seq: u32, event: &RunEvent) -> Result<(), Fault> {
    let add = |source, text: &str| add(transaction, run, Some(seq), source, text);
    match event {
        RunEvent::RelevanceJudged { judgements } => {
            for judgement in judgements.iter().filter(|judgement| judgement.kept) {
                add(TextSource::Path, judgement.path.as_str())?;
            }
        }
        RunEvent::FileDescribed { description } => {
            add(
                TextSource::Words,
                &format!("{}\n{}", description.path, description.text()),
            )?;
        }
        RunEvent::TaskDefined { task } => {
            add(TextSource::Path, task.path.as_str())?;
            if let FileAction::Rename { to } = &task.action {
                add(TextSource::Path, to.as_str())?;
            }
            add(TextSource::Words, &task.description)?;
        }
        RunEvent::TaskDeclined { path, reason } => add(TextSource::Words, &format!("{path}\n{reason}"))?,
        RunEvent::RoleDefined { role, .. }
        | RunEvent::RoleRevised { role, .. }
        | RunEvent::ReviewerDefined { role, .. }
        | RunEvent::RoleEdited { role, .. } => add(TextSource::Words, &format!("{}\n{}", role.name, role.focus))?,
        RunEvent::Spoken { speech } => add(TextSource::Words, &speech.text)?,
        RunEvent::CodeWritten { fault, .. } => add(TextSource::Words, fault)?,
        RunEvent::Reviewed { verdict, .. } => add(TextSource::Words, &verdict.comment)?,
        RunEvent::Merged { result } => {
            add(
                TextSource::Words,
                &format!("{}\n{}", result.commit_message, result.pull_request),
            )?;
            add(TextSource::Patch, &result.patch)?;
        }
        RunEvent::TaskEdited { description, .. } => add(TextSource::Words, description)?,
        RunEvent::CandidateAdded { path, .. } => add(TextSource::Path, path.as_str())?,
        RunEvent::HintAdded { hint } => add(TextSource::Hint, hint.text())?,
        RunEvent::RunStarted { .. }
        | RunEvent::IssueRead { .. }
        | RunEvent::CandidatesRanked { .. }
        | RunEvent::PlanMade { .. }
        | RunEvent::LinesChosen { .. }
        | RunEvent::CodeFailed { .. }
        | RunEvent::TaskClosed { .. }
        | RunEvent::RunEnded { .. }
        | RunEvent::CandidateDropped { .. }
        | RunEvent::Paused { .. }
        | RunEvent::Resumed
        | RunEvent::Noticed { .. } => {}
    }
    Ok(())
}

fn add(
    transaction: &Transaction<'_>,
    run: RunId,
    seq: Option<u32>,
    source: TextSource,
    text: &str,
) -> Result<(), Fault> {
    if text.trim().is_empty() {
        return Ok(());
    }
    let mut statement =
        transaction.prepare_cached("INSERT INTO run_texts (run, seq, source, text) VALUES (?1, ?2, ?3, ?4)")?;
    statement.execute((run.0, seq, column::word(&source)?, text))?;
    Ok(())
}
