//! Runs: what was asked, how each stands, and what it came to.
//!
//! A run's state is the fold of its events; this table holds what lists and queues need of it. How it is kept in step
//! with the events is `run_timeline`'s, and lists of it are `run_lists`'.

use crate::error::DatabaseError;
use crate::{DiffSize, Store, StoreError, column, repositories, run_texts};
use magis_core::text::without_code_marks;
use magis_core::{
    Base, CommitId, LOG_VERSION, ModelReview, Proof, QaMode, RepoId, RunId, RunOutcome, RunRequest, TreeId,
    read_request,
};
use rusqlite::{OptionalExtension, Row, Transaction, named_params};
use serde::{Deserialize, Serialize};

pub(crate) const VERSION_1: &str = "\
CREATE TABLE runs (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    repo            INTEGER REFERENCES repositories (id) ON DELETE SET NULL,
    repository_name TEXT NOT NULL,
    repository_root TEXT,
    origin          TEXT NOT NULL CHECK (origin IN ('local', 'imported')),
    title           TEXT NOT NULL,
    model           TEXT NOT NULL,
    base_commit     TEXT,
    base_tree       TEXT,
    base_name       TEXT,
    uncommitted     INTEGER CHECK (uncommitted IN (0, 1)),
    status          TEXT NOT NULL CHECK (status IN ('queued', 'running', 'paused', 'interrupted', 'ended')),
    outcome         TEXT CHECK (outcome IN ('approved', 'not_approved', 'no_change', 'failed')),
    outcome_reason  TEXT,
    created_at      INTEGER NOT NULL,
    started_at      INTEGER,
    ended_at        INTEGER,
    parent          INTEGER REFERENCES runs (id) ON DELETE SET NULL,
    shared_events   INTEGER NOT NULL DEFAULT 0,
    added           INTEGER NOT NULL DEFAULT 0,
    deleted         INTEGER NOT NULL DEFAULT 0,
    files           INTEGER NOT NULL DEFAULT 0,
    tokens          INTEGER NOT NULL DEFAULT 0,
    request         TEXT NOT NULL
) STRICT;
CREATE INDEX runs_of_repository ON runs (repo, id);
CREATE INDEX runs_by_status ON runs (status, id);
CREATE INDEX runs_of_repository_by_status ON runs (repo, status, id);
CREATE INDEX runs_by_parent ON runs (parent);";

/// Time the model worked, as lists show it; before, it could only be had by adding up a run's calls.
pub(crate) const VERSION_2: &str = "\
ALTER TABLE runs ADD COLUMN worked_ms INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET worked_ms = (
    SELECT coalesce(sum(prompt_ms + generate_ms), 0) FROM calls WHERE run = runs.id AND origin = 'own');";

/// Lists go by the time a run was created: one that is imported stands where it belongs, not above what came after it.
pub(crate) const VERSION_6: &str = "\
DROP INDEX runs_of_repository;
DROP INDEX runs_by_status;
DROP INDEX runs_of_repository_by_status;
CREATE INDEX runs_by_time ON runs (created_at, id);
CREATE INDEX runs_of_repository ON runs (repo, created_at, id);
CREATE INDEX runs_by_status ON runs (status, created_at, id);
CREATE INDEX runs_of_repository_by_status ON runs (repo, status, created_at, id);";

/// Whether the changes are to be reviewed, which lists ask for; and the version of the log that the request was written in.
pub(crate) const VERSION_8: &str = "\
ALTER TABLE runs ADD COLUMN qa TEXT NOT NULL DEFAULT 'review' CHECK (qa IN ('review', 'skip'));
ALTER TABLE runs ADD COLUMN log_version INTEGER NOT NULL DEFAULT 1 CHECK (log_version >= 1);
UPDATE runs SET qa = coalesce(json_extract(request, '$.qa'), 'review');";

/// What running the patch showed; null where it was not run.
pub(crate) const VERSION_10: &str =
    "ALTER TABLE runs ADD COLUMN proof TEXT CHECK (proof IS NULL OR json_valid(proof));";

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredStatus {
    /// It waits for its turn.
    Queued,
    /// A driver works on it.
    Running,
    /// A person paused or stopped it; it can be resumed.
    Paused,
    /// Its driver vanished; it can be resumed.
    Interrupted,
    /// It is over; see its outcome.
    Ended,
}

/// Where a run was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOrigin {
    /// In this data folder.
    Local,
    /// In another one; it came here as an archive.
    Imported,
}

/// The run whose first events another run took over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    pub run: RunId,
    /// How many events the two have in common.
    pub shared_events: u32,
}

/// A run to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    pub repo: RepoId,
    /// What is asked for.
    pub request: RunRequest,
    /// For a rerun: the run it shares its beginning with; see [`Store::begin_rerun`].
    pub parent: Option<RunId>,
    /// When, in milliseconds since the epoch.
    pub created_at: i64,
}

/// A run as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEntry {
    pub id: RunId,
    /// Its repository; none where that was removed or the run was imported.
    pub repo: Option<RepoId>,
    pub repository: String,
    /// Where it was carried out.
    pub origin: RunOrigin,
    /// The issue's title, as it is shown: without marks of inline code.
    pub title: String,
    /// The model, as the request names it.
    pub model: String,
    /// The tree it reads; none before it started.
    pub base: Option<Base>,
    pub status: StoredStatus,
    pub outcome: Option<RunOutcome>,
    /// What the models' reviews of its patch came to; none where it has none.
    pub review: Option<ModelReview>,
    /// What running its patch showed.
    pub proof: Proof,
    /// When it was created, in milliseconds since the epoch.
    pub created_at: i64,
    /// When it was first worked on.
    pub started_at: Option<i64>,
    pub ended_at: Option<i64>,
    /// The run it shares its beginning with.
    pub parent: Option<Parent>,
    /// The size of its patch; zero before it merged.
    pub size: DiffSize,
    /// Tokens its own calls read and wrote, without those the cache held already.
    pub tokens: u64,
    /// Milliseconds its own calls took the model.
    pub worked_ms: u64,
}

/// A run with what was asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRun {
    pub entry: RunEntry,
    /// What was asked for.
    pub request: RunRequest,
}

impl Store {
    /// Creates a run; it waits in the queue.
    ///
    /// # Errors
    /// When there is no such repository, or the database cannot be written.
    pub fn create_run(&self, run: &NewRun) -> Result<RunId, StoreError> {
        self.write("creating a run", |transaction| create(transaction, run))
    }

    /// Reads one run as the list of runs shows it.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn run(&self, id: RunId) -> Result<StoredRun, StoreError> {
        self.read("reading a run", |transaction| get(transaction, id))
    }

    /// Sets how a run stands where no event says it: back into the queue, or interrupted.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be written.
    pub fn set_run_status(&self, id: RunId, status: StoredStatus) -> Result<(), StoreError> {
        self.write("setting how a run stands", |transaction| {
            let changed = transaction.execute(
                "UPDATE runs SET status = ?2 WHERE id = ?1",
                (id.0, column::word(&status)?),
            )?;
            if changed == 0 {
                Err(StoreError::NoRun(id).into())
            } else {
                Ok(())
            }
        })
    }

    /// Runs without a repository here, imported ones say, with the tree each reads.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn runs_without_repository(&self) -> Result<Vec<(RunId, Base)>, StoreError> {
        self.read("looking for runs without a repository", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT id, base_commit, base_tree, base_name, uncommitted FROM runs
                 WHERE repo IS NULL AND base_commit IS NOT NULL ORDER BY id",
            )?;
            let rows = statement.query_map([], |row| Ok((RunId(row.get("id")?), base_of(row)?)))?;
            let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            let based = |(run, base): (RunId, Option<Base>)| Some((run, base?));
            Ok(rows.into_iter().filter_map(based).collect())
        })
    }

    /// Gives a run without a repository the one it was made in, or another clone of it.
    ///
    /// # Errors
    /// When there is no such repository, or the database cannot be written.
    pub fn adopt_run(&self, id: RunId, repo: RepoId) -> Result<(), StoreError> {
        self.write("giving a run its repository", |transaction| {
            adopt(transaction, id, repo)
        })
    }
}

/// Gives a run without a repository one, within a transaction.
pub(crate) fn adopt(transaction: &Transaction<'_>, id: RunId, repo: RepoId) -> Result<(), DatabaseError> {
    let root = repositories::get(transaction, repo)?.root;
    transaction.execute(
        "UPDATE runs SET repo = ?2, repository_root = ?3 WHERE id = ?1 AND repo IS NULL",
        (id.0, repo.0, root),
    )?;
    Ok(())
}

/// The repository of a run, none where it was taken off the list.
pub(crate) const LISTED_REPO: &str =
    "CASE WHEN repo NOT IN (SELECT repo FROM repository_removals) THEN repo END AS listed_repo";

/// Refuses a run that is not there.
pub(crate) fn known(transaction: &Transaction<'_>, id: RunId) -> Result<(), DatabaseError> {
    let mut statement = transaction.prepare_cached("SELECT 1 FROM runs WHERE id = ?1")?;
    if statement.exists([id.0])? {
        Ok(())
    } else {
        Err(StoreError::NoRun(id).into())
    }
}

pub(crate) fn get(transaction: &Transaction<'_>, id: RunId) -> Result<StoredRun, DatabaseError> {
    let mut statement = transaction.prepare_cached(&format!("SELECT *, {LISTED_REPO} FROM runs WHERE id = ?1"))?;
    let found = statement
        .query_row([id.0], |row| {
            Ok(StoredRun {
                entry: read_entry(row)?,
                request: column::logged(row, "request", read_request)?,
            })
        })
        .optional()?;
    found.ok_or_else(|| StoreError::NoRun(id).into())
}

/// Adds a run without events.
pub(crate) fn create(transaction: &Transaction<'_>, run: &NewRun) -> Result<RunId, DatabaseError> {
    let repository = repositories::get(transaction, run.repo)?;
    if let Some(parent) = run.parent {
        get(transaction, parent)?;
    }
    let id = transaction.query_row(
        "INSERT INTO runs (repo, repository_name, repository_root, origin, title, model, status, created_at,
                           parent, qa, log_version, request)
         VALUES (:repo, :name, :root, 'local', :title, :model, 'queued', :created_at, :parent, :qa, :log_version,
                 :request)
         RETURNING id",
        named_params! {
            ":repo": run.repo.0,
            ":name": repository.name,
            ":root": repository.root,
            ":title": run.request.issue.title(),
            ":model": run.request.model,
            ":created_at": run.created_at,
            ":parent": run.parent.map(|parent| parent.0),
            ":qa": column::word(&run.request.qa)?,
            ":log_version": LOG_VERSION,
            ":request": serde_json::to_string(&run.request)?,
        },
        |row| row.get(0),
    )?;
    run_texts::add_request(transaction, RunId(id), &run.request)?;
    Ok(RunId(id))
}

/// Adds a run that comes from an archive, without its events and calls.
pub(crate) fn insert_imported(
    transaction: &Transaction<'_>,
    repository: &str,
    request: &RunRequest,
    created_at: i64,
) -> Result<RunId, DatabaseError> {
    let id = transaction.query_row(
        "INSERT INTO runs (repository_name, origin, title, model, status, created_at, qa, log_version, request)
         VALUES (?1, 'imported', ?2, ?3, 'queued', ?4, ?5, ?6, ?7) RETURNING id",
        (
            repository,
            request.issue.title(),
            &request.model,
            created_at,
            column::word(&request.qa)?,
            LOG_VERSION,
            serde_json::to_string(request)?,
        ),
        |row| row.get(0),
    )?;
    run_texts::add_request(transaction, RunId(id), request)?;
    Ok(RunId(id))
}

pub(crate) fn read_entry(row: &Row<'_>) -> rusqlite::Result<RunEntry> {
    let reason: String = row.get::<_, Option<_>>("outcome_reason")?.unwrap_or_default();
    let outcome = match row.get::<_, Option<String>>("outcome")?.as_deref() {
        None => None,
        Some("approved") => Some(RunOutcome::Approved),
        Some("not_approved") => Some(RunOutcome::NotApproved),
        Some("no_change") => Some(RunOutcome::NoChange { reason }),
        // The column's check lets nothing else in.
        Some(_) => Some(RunOutcome::Failed { reason }),
    };
    let qa: QaMode = column::from_word(row, "qa")?;
    let shared_events = row.get("shared_events")?;
    let parent: Option<i64> = row.get("parent")?;
    Ok(RunEntry {
        id: RunId(row.get("id")?),
        repo: row.get::<_, Option<i64>>("listed_repo")?.map(RepoId),
        repository: row.get("repository_name")?,
        origin: column::from_word(row, "origin")?,
        title: without_code_marks(&row.get::<_, String>("title")?).into_owned(),
        model: row.get("model")?,
        base: base_of(row)?,
        status: column::from_word(row, "status")?,
        review: outcome.as_ref().and_then(|outcome| ModelReview::of_run(outcome, qa)),
        outcome,
        proof: proof_of(row)?,
        created_at: row.get("created_at")?,
        started_at: row.get("started_at")?,
        ended_at: row.get("ended_at")?,
        parent: parent.map(|run| Parent {
            run: RunId(run),
            shared_events,
        }),
        size: DiffSize {
            added: row.get("added")?,
            deleted: row.get("deleted")?,
            files: row.get("files")?,
        },
        tokens: row.get::<_, i64>("tokens")?.max(0).cast_unsigned(),
        worked_ms: row.get::<_, i64>("worked_ms")?.max(0).cast_unsigned(),
    })
}

/// Returns what running the patch showed. What a newer version wrote, and this one cannot read, says nothing.
fn proof_of(row: &Row<'_>) -> rusqlite::Result<Proof> {
    let text: Option<String> = row.get("proof")?;
    Ok(text
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or(Proof::NotRun))
}

/// Returns the tree that a run reads; none before it started.
fn base_of(row: &Row<'_>) -> rusqlite::Result<Option<Base>> {
    let Some(commit) = row.get("base_commit")? else {
        return Ok(None);
    };
    Ok(Some(Base {
        commit: CommitId(commit),
        tree: TreeId(row.get("base_tree")?),
        uncommitted: row.get("uncommitted")?,
        name: row.get("base_name")?,
    }))
}
