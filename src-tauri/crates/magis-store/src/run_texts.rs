//! The texts of a run that people search in: the issue, the hints, what agents said, paths and the patch. Full-text
//! search over them is SQLite's FTS5.
//!
//! It holds no prompts and no intermediate code; those stand in calls and events.

use crate::column;
use crate::error::DatabaseError;
use magis_core::{FileAction, RunEvent, RunId, RunRequest};
use rusqlite::{Transaction, named_params};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

/// One text in which something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitPlace {
    /// What kind of text.
    pub source: TextSource,
    /// The event it belongs to; none for what the request says.
    pub seq: Option<u32>,
    /// A piece of the text around what was found.
    pub snippet: Vec<SnippetSpan>,
}

/// A piece of a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnippetSpan {
    Plain(String),
    Found(String),
}

/// What kind of text something was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextSource {
    Issue,
    Hint,
    /// What an agent, or the person in the meeting, said.
    Words,
    Path,
    Patch,
}

/// How many places of one run are shown.
pub(crate) const MAX_PLACES: usize = 3;
/// Marks of what was found, which no text of the index has a reason to hold.
const MARKS: [char; 2] = ['\u{2}', '\u{3}'];

/// Returns the words of `text` as beginnings that all have to occur; quoted, so that nothing in them is an operator.
pub(crate) fn match_expression(text: &str) -> String {
    let words = text
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphanumeric));
    let quoted: Vec<String> = words
        .map(|word| format!("\"{}\" *", word.replace('"', "\"\"").replace('\0', "")))
        .collect();
    quoted.join(" ")
}

/// As many runs as `limit` that `shown` lets through and that say `query`, with the rows of the texts to show.
pub(crate) fn runs_with(
    transaction: &Transaction<'_>,
    query: &str,
    limit: usize,
    shown: &dyn Fn(RunId) -> bool,
) -> Result<BTreeMap<RunId, Vec<i64>>, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "SELECT run_texts.run, run_texts.id FROM run_search JOIN run_texts ON run_texts.id = run_search.rowid
         WHERE run_search MATCH :query
         ORDER BY run_search.rowid DESC",
    )?;
    let mut rows = statement.query(named_params! { ":query": query })?;
    let mut found: BTreeMap<RunId, Vec<i64>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let run = RunId(row.get(0)?);
        if !shown(run) {
            continue;
        }
        if found.len() == limit && !found.contains_key(&run) {
            break;
        }
        let texts = found.entry(run).or_default();
        if texts.len() == MAX_PLACES {
            texts.remove(0);
        }
        texts.push(row.get(1)?);
    }
    Ok(found)
}

/// Returns what to show of those texts, the issue first. One query for all: beginnings of words are looked up anew in
/// each.
pub(crate) fn places(
    transaction: &Transaction<'_>,
    query: &str,
    found: &BTreeMap<RunId, Vec<i64>>,
) -> Result<BTreeMap<RunId, Vec<HitPlace>>, DatabaseError> {
    let texts: Vec<i64> = found.values().flatten().copied().collect();
    let mut statement = transaction.prepare_cached(
        "SELECT run_texts.run, run_texts.source, run_texts.seq,
                snippet(run_search, 0, char(2), char(3), '…', 16) AS snippet
         FROM run_search JOIN run_texts ON run_texts.id = run_search.rowid
         WHERE run_search MATCH :query
           AND run_search.rowid BETWEEN :first AND :last
           AND +run_search.rowid IN (SELECT value FROM json_each(:texts))
         ORDER BY run_search.rowid",
    )?;
    let parameters = named_params! {
        ":query": query,
        ":first": texts.iter().min(),
        ":last": texts.iter().max(),
        ":texts": serde_json::to_string(&texts)?,
    };
    let rows = statement.query_map(parameters, |row| {
        let place = HitPlace {
            source: column::from_word(row, "source")?,
            seq: row.get("seq")?,
            snippet: parts(&row.get::<_, String>("snippet")?),
        };
        Ok((RunId(row.get("run")?), place))
    })?;
    let mut places: BTreeMap<RunId, Vec<HitPlace>> = BTreeMap::new();
    for row in rows {
        let (run, place) = row?;
        places.entry(run).or_default().push(place);
    }
    Ok(places)
}

fn parts(marked: &str) -> Vec<SnippetSpan> {
    let mut parts = Vec::new();
    for piece in marked.split_inclusive(MARKS) {
        let text = piece.trim_end_matches(MARKS).to_owned();
        if text.is_empty() {
            continue;
        }
        parts.push(if piece.ends_with(MARKS[1]) {
            SnippetSpan::Found(text)
        } else {
            SnippetSpan::Plain(text)
        });
    }
    parts
}

/// Adds what a request says.
pub(crate) fn add_request(
    transaction: &Transaction<'_>,
    run: RunId,
    request: &RunRequest,
) -> Result<(), DatabaseError> {
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
pub(crate) fn add_event(
    transaction: &Transaction<'_>,
    run: RunId,
    seq: u32,
    event: &RunEvent,
) -> Result<(), DatabaseError> {
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
        RunEvent::CodeWritten { diagnosis, .. } => add(TextSource::Words, diagnosis)?,
        RunEvent::FaultShown { checks, remarks } | RunEvent::TestsWritten { checks, remarks } => {
            for check in checks {
                add(
                    TextSource::Words,
                    &format!("{}\n{}", check.script, check.on_base.stdout.text),
                )?;
            }
            add(TextSource::Words, &remarks.join("\n"))?;
        }
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
        | RunEvent::BaseTested { .. }
        | RunEvent::CodeFailed { .. }
        | RunEvent::AttemptTested { .. }
        | RunEvent::AttemptsCompared { .. }
        | RunEvent::Minimised { .. }
        | RunEvent::PatchTested { .. }
        | RunEvent::AttemptTaken { .. }
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
) -> Result<(), DatabaseError> {
    if text.trim().is_empty() {
        return Ok(());
    }
    let mut statement =
        transaction.prepare_cached("INSERT INTO run_texts (run, seq, source, text) VALUES (?1, ?2, ?3, ?4)")?;
    statement.execute((run.0, seq, column::word(&source)?, text))?;
    Ok(())
}
