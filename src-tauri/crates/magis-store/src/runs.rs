//! Runs: what was asked, how each stands, and what it came to.
//!
//! A run's state is the fold of its events; this table holds what lists and queues need of it, kept in step by the
//! transaction that appends the event.

use crate::error::Fault;
use crate::{CallRecord, Erasure, Store, StoreError, column, erasure, lease};
use magis_core::{Base, RepoId, RunEvent, RunId, RunOutcome, RunRequest};
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

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
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
    /// That run.
    pub run: RunId,
    /// How many events the two have in common.
    pub shared_events: u32,
}

/// The size of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DiffSize {
    /// Lines added.
    pub added: u32,
    /// Lines deleted.
    pub deleted: u32,
    /// Files touched.
    pub files: u32,
}

/// A run to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// The repository.
    pub repo: RepoId,
    /// What is asked for.
    pub request: RunRequest,
    /// For a rerun: the run it shares its beginning with; see [`Store::copy_run_prefix`].
    pub parent: Option<RunId>,
    /// When, in milliseconds since the epoch.
    pub created_at: i64,
}

/// A run as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEntry {
    /// Its id.
    pub id: RunId,
    /// Its repository; none where that was removed or the run was imported.
    pub repo: Option<RepoId>,
    /// The repository's name.
    pub repository: String,
    /// Where it was carried out.
    pub origin: RunOrigin,
    /// The issue's title.
    pub title: String,
    /// The model, as the request names it.
    pub model: String,
    /// The tree it reads; none before it started.
    pub base: Option<Base>,
    /// How it stands.
    pub status: RunStatus,
    /// How it ended.
    pub outcome: Option<RunOutcome>,
    /// When it was created, in milliseconds since the epoch.
    pub created_at: i64,
    /// When it was first worked on.
    pub started_at: Option<i64>,
    /// When it ended.
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
pub struct Run {
    /// What lists show.
    pub entry: RunEntry,
    /// What was asked for.
    pub request: RunRequest,
}

/// Which runs to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFilter {
    /// Only runs of this repository.
    pub repo: Option<RepoId>,
    /// Only runs that stand like this.
    pub status: Option<RunStatus>,
    /// At most this many.
    pub limit: u32,
    /// In which order.
    pub order: RunOrder,
    /// Only runs behind this one in that order: the last of the page before.
    pub after: Option<RunId>,
}

/// The order of a list of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunOrder {
    /// The newest first.
    #[default]
    NewestFirst,
    /// The oldest first, as a queue is worked off.
    OldestFirst,
}

impl Default for RunFilter {
    fn default() -> Self {
        Self {
            repo: None,
            status: None,
            limit: 100,
            order: RunOrder::NewestFirst,
            after: None,
        }
    }
}

/// What became of a deleted run, and what of it stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedRun {
    /// Summaries it made, which memory keeps.
    pub summaries_kept: u32,
    /// Messages of changes it made, which memory keeps.
    pub change_messages_kept: u32,
    /// Runs that took over its first events, the issue among them, and keep their copies.
    pub reruns: Vec<RunId>,
    /// Whether its texts are gone from the files, too.
    pub erasure: Erasure,
}

impl Store {
    /// Creates a run; it waits in the queue.
    pub fn create_run(&self, run: &NewRun) -> Result<RunId, StoreError> {
        self.write("creating a run", |transaction| {
            let repository = crate::repositories::get(transaction, run.repo)?;
            if let Some(parent) = run.parent {
                get(transaction, parent)?;
            }
            let id = transaction.query_row(
                "INSERT INTO runs (repo, repository_name, repository_root, origin, title, model, status, created_at,
                                   parent, request)
                 VALUES (:repo, :name, :root, 'local', :title, :model, 'queued', :created_at, :parent, :request)
                 RETURNING id",
                named_params! {
                    ":repo": run.repo.0,
                    ":name": repository.name,
                    ":root": repository.root,
                    ":title": run.request.issue.title(),
                    ":model": run.request.model,
                    ":created_at": run.created_at,
                    ":parent": run.parent.map(|parent| parent.0),
                    ":request": serde_json::to_string(&run.request)?,
                },
                |row| row.get(0),
            )?;
            crate::run_texts::add_request(transaction, RunId(id), &run.request)?;
            Ok(RunId(id))
        })
    }

    /// One run.
    pub fn run(&self, id: RunId) -> Result<Run, StoreError> {
        self.read("reading a run", |transaction| get(transaction, id))
    }

    /// The runs that `filter` lets through.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<RunEntry>, StoreError> {
        self.read("listing the runs", |transaction| {
            let mut statement = transaction.prepare_cached(&list_query(filter))?;
            let status = filter.status.map(|status| column::word(&status)).transpose()?;
            let repo = filter.repo.map(|repo| repo.0);
            let after = filter.after.map(|run| run.0);
            let rows = statement.query_map((repo, status, after, filter.limit), read_entry)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Sets how a run stands where no event says it: back into the queue, or interrupted.
    pub fn set_run_status(&self, id: RunId, status: RunStatus) -> Result<(), StoreError> {
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
    pub fn runs_without_repository(&self) -> Result<Vec<(RunId, Base)>, StoreError> {
        self.read("looking for runs without a repository", homeless)
    }

    /// Gives a run without a repository the one it was made in, or another clone of it.
    pub fn adopt_run(&self, id: RunId, repo: RepoId) -> Result<(), StoreError> {
        self.write("giving a run its repository", |transaction| {
            let root = crate::repositories::get(transaction, repo)?.root;
            transaction.execute(
                "UPDATE runs SET repo = ?2, repository_root = ?3 WHERE id = ?1 AND repo IS NULL",
                (id.0, repo.0, root),
            )?;
            Ok(())
        })
    }

    /// Marks running runs that nobody holds a live lease of as interrupted; returns them, oldest first. Called at start.
    pub fn interrupt_abandoned_runs(&self, now: i64) -> Result<Vec<RunId>, StoreError> {
        self.write("looking for interrupted runs", |transaction| {
            let mut statement = transaction.prepare(
                "UPDATE runs SET status = 'interrupted'
                 WHERE status = 'running'
                   AND NOT EXISTS (SELECT 1 FROM lease WHERE lease.run = runs.id AND lease.expires_at > ?1)
                 RETURNING id",
            )?;
            let rows = statement.query_map([now], |row| row.get(0).map(RunId))?;
            let mut interrupted = rows.collect::<rusqlite::Result<Vec<_>>>()?;
            interrupted.sort_unstable();
            Ok(interrupted)
        })
    }

    /// Deletes a run with its events, calls and texts, and erases them from the files; says what stays. Refused while a
    /// driver works on it.
    pub fn delete_run(&self, id: RunId, now: i64) -> Result<DeletedRun, StoreError> {
        let (summaries_kept, change_messages_kept, reruns) = self.write("deleting a run", |transaction| {
            get(transaction, id)?;
            if let Some(lease) = lease::live(transaction, now)?.filter(|lease| lease.run == id) {
                return Err(lease.into_active().into());
            }
            let count = |query| transaction.query_row(query, [id.0], |row| row.get::<_, u32>(0));
            let summaries = count("SELECT count(*) FROM summaries WHERE made_in = ?1")?;
            let messages = count("SELECT count(*) FROM change_messages WHERE made_in = ?1")?;
            let mut statement = transaction.prepare("SELECT id FROM runs WHERE parent = ?1 ORDER BY id")?;
            let reruns = statement
                .query_map([id.0], |row| row.get(0).map(RunId))?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            transaction.execute("DELETE FROM runs WHERE id = ?1", [id.0])?;
            erasure::note(transaction)?;
            Ok((summaries, messages, reruns))
        })?;
        Ok(DeletedRun {
            summaries_kept,
            change_messages_kept,
            reruns,
            erasure: self.erase_deleted(),
        })
    }
}

/// The repository of a run; none where it was taken off the list.
const AT_HAND: &str = "CASE WHEN repo NOT IN (SELECT repo FROM repository_removals) THEN repo END AS at_hand";

/// Only the conditions that hold, so that each has its index.
fn list_query(filter: &RunFilter) -> String {
    let mut query = format!(
        "SELECT id, {AT_HAND}, repository_name, origin, title, model, base_commit, base_tree, base_name, uncommitted, status,
                outcome, outcome_reason, created_at, started_at, ended_at, parent, shared_events, added, deleted, files,
                tokens, worked_ms
         FROM runs WHERE id NOT IN (SELECT run FROM removals) AND (?1 IS NULL OR repo = ?1) AND (?2 IS NULL OR status = ?2) AND (?3 IS NULL OR id < ?3)",
    );
    if filter.repo.is_some() {
        query = query.replace("(?1 IS NULL OR repo = ?1)", "repo = ?1");
    }
    if filter.status.is_some() {
        query = query.replace("(?2 IS NULL OR status = ?2)", "status = ?2");
    }
    if filter.after.is_some() {
        query = query.replace("(?3 IS NULL OR id < ?3)", "id < ?3");
    }
    match filter.order {
        RunOrder::NewestFirst => query.push_str(" ORDER BY id DESC LIMIT ?4"),
        RunOrder::OldestFirst => {
            query = query.replace("id < ?3", "id > ?3");
            query.push_str(" ORDER BY id LIMIT ?4");
        }
    }
    query
}

pub(crate) fn get(transaction: &Transaction<'_>, id: RunId) -> Result<Run, Fault> {
    let mut statement = transaction.prepare_cached(&format!("SELECT *, {AT_HAND} FROM runs WHERE id = ?1"))?;
    let found = statement
        .query_row([id.0], |row| {
            Ok(Run {
                entry: read_entry(row)?,
                request: column::json(row, "request")?,
            })
        })
        .optional()?;
    found.ok_or_else(|| StoreError::NoRun(id).into())
}

/// Keeps the row in step with an event that was appended.
pub(crate) fn follow(transaction: &Transaction<'_>, id: RunId, at: i64, event: &RunEvent) -> Result<(), Fault> {
    match event {
        RunEvent::RunStarted { base, .. } => {
            set_base(transaction, id, base)?;
            transaction.execute(
                "UPDATE runs SET status = 'running', started_at = coalesce(started_at, ?2) WHERE id = ?1",
                (id.0, at),
            )?;
        }
        RunEvent::Merged { result } => {
            let size = DiffSize::of(&result.patch);
            transaction.execute(
                "UPDATE runs SET added = ?2, deleted = ?3, files = ?4 WHERE id = ?1",
                (id.0, size.added, size.deleted, size.files),
            )?;
        }
        RunEvent::RunEnded { outcome } => {
            let (kind, reason) = outcome_columns(outcome);
            transaction.execute(
                "UPDATE runs SET status = 'ended', outcome = ?2, outcome_reason = ?3, ended_at = ?4 WHERE id = ?1",
                (id.0, kind, reason, at),
            )?;
        }
        RunEvent::Paused { .. } => {
            transaction.execute("UPDATE runs SET status = 'paused' WHERE id = ?1", [id.0])?;
        }
        RunEvent::Resumed => {
            transaction.execute("UPDATE runs SET status = 'running' WHERE id = ?1", [id.0])?;
        }
        RunEvent::IssueRead { .. }
        | RunEvent::CandidatesRanked { .. }
        | RunEvent::RelevanceJudged { .. }
        | RunEvent::FileDescribed { .. }
        | RunEvent::TaskDefined { .. }
        | RunEvent::TaskDeclined { .. }
        | RunEvent::RoleDefined { .. }
        | RunEvent::Spoken { .. }
        | RunEvent::RoleRevised { .. }
        | RunEvent::PlanMade { .. }
        | RunEvent::ReviewerDefined { .. }
        | RunEvent::LinesChosen { .. }
        | RunEvent::CodeWritten { .. }
        | RunEvent::CodeFailed { .. }
        | RunEvent::Reviewed { .. }
        | RunEvent::TaskClosed { .. }
        | RunEvent::CandidateDropped { .. }
        | RunEvent::CandidateAdded { .. }
        | RunEvent::TaskEdited { .. }
        | RunEvent::RoleEdited { .. }
        | RunEvent::HintAdded { .. }
        | RunEvent::Noticed { .. } => {}
    }
    Ok(())
}

fn set_base(transaction: &Transaction<'_>, id: RunId, base: &Base) -> Result<(), Fault> {
    transaction.execute(
        "UPDATE runs SET base_commit = ?2, base_tree = ?3, base_name = ?4, uncommitted = ?5 WHERE id = ?1",
        (id.0, &base.commit.0, &base.tree.0, &base.name, base.uncommitted),
    )?;
    Ok(())
}

/// Keeps the row in step with events taken over from another run: it reads the same tree, and still waits in the queue.
pub(crate) fn take_over(
    transaction: &Transaction<'_>,
    id: RunId,
    parent: Parent,
    events: &[RunEvent],
) -> Result<(), Fault> {
    for event in events {
        if let RunEvent::RunStarted { base, .. } = event {
            set_base(transaction, id, base)?;
        }
    }
    transaction.execute(
        "UPDATE runs SET parent = ?2, shared_events = ?3 WHERE id = ?1",
        (id.0, parent.run.0, parent.shared_events),
    )?;
    Ok(())
}

/// A driver took the run up.
pub(crate) fn begin(transaction: &Transaction<'_>, id: RunId, now: i64) -> Result<(), Fault> {
    transaction.execute(
        "UPDATE runs SET status = 'running', started_at = coalesce(started_at, ?2)
         WHERE id = ?1 AND status IN ('queued', 'interrupted')",
        (id.0, now),
    )?;
    Ok(())
}

/// The driver let go of the run.
pub(crate) fn leave(transaction: &Transaction<'_>, id: RunId) -> Result<(), Fault> {
    transaction.execute(
        "UPDATE runs SET status = 'interrupted' WHERE id = ?1 AND status = 'running'",
        [id.0],
    )?;
    Ok(())
}

/// Adds a call to the tokens and the time a run has cost.
pub(crate) fn count_cost(transaction: &Transaction<'_>, id: RunId, call: &CallRecord) -> Result<(), Fault> {
    transaction.execute(
        "UPDATE runs SET tokens = tokens + ?2, worked_ms = worked_ms + ?3 WHERE id = ?1",
        (
            id.0,
            call.spent_tokens(),
            i64::from(call.prompt_ms) + i64::from(call.generate_ms),
        ),
    )?;
    Ok(())
}

/// Imported runs that have no repository here, with the commit each is based on.
pub(crate) fn homeless(transaction: &Transaction<'_>) -> Result<Vec<(RunId, Base)>, Fault> {
    let mut statement = transaction.prepare_cached(
        "SELECT id, base_commit, base_tree, base_name, uncommitted FROM runs
         WHERE repo IS NULL AND base_commit IS NOT NULL ORDER BY id",
    )?;
    let rows = statement.query_map([], |row| {
        let base = Base {
            commit: magis_core::CommitId(row.get("base_commit")?),
            tree: magis_core::TreeId(row.get("base_tree")?),
            uncommitted: row.get("uncommitted")?,
            name: row.get("base_name")?,
        };
        Ok((RunId(row.get("id")?), base))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Adds a run that comes from an archive, without its events and calls.
pub(crate) fn insert_imported(
    transaction: &Transaction<'_>,
    repository: &str,
    request: &RunRequest,
    created_at: i64,
) -> Result<RunId, Fault> {
    let id = transaction.query_row(
        "INSERT INTO runs (repository_name, origin, title, model, status, created_at, request)
         VALUES (?1, 'imported', ?2, ?3, 'queued', ?4, ?5) RETURNING id",
        (
            repository,
            request.issue.title(),
            &request.model,
            created_at,
            serde_json::to_string(request)?,
        ),
        |row| row.get(0),
    )?;
    crate::run_texts::add_request(transaction, RunId(id), request)?;
    Ok(RunId(id))
}

fn outcome_columns(outcome: &RunOutcome) -> (&'static str, Option<&str>) {
    match outcome {
        RunOutcome::Approved => ("approved", None),
        RunOutcome::NotApproved => ("not_approved", None),
        RunOutcome::NoChange { reason } => ("no_change", Some(reason)),
        RunOutcome::Failed { reason } => ("failed", Some(reason)),
    }
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
    let base = match row.get::<_, Option<String>>("base_commit")? {
        None => None,
        Some(commit) => Some(Base {
            commit: magis_core::CommitId(commit),
            tree: magis_core::TreeId(row.get("base_tree")?),
            uncommitted: row.get("uncommitted")?,
            name: row.get("base_name")?,
        }),
    };
    let shared_events = row.get("shared_events")?;
    let parent: Option<i64> = row.get("parent")?;
    Ok(RunEntry {
        id: RunId(row.get("id")?),
        repo: row.get::<_, Option<i64>>("at_hand")?.map(RepoId),
        repository: row.get("repository_name")?,
        origin: column::from_word(row, "origin")?,
        title: row.get("title")?,
        model: row.get("model")?,
        base,
        status: column::from_word(row, "status")?,
        outcome,
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

impl DiffSize {
    /// Counts what a diff in git's form adds, deletes and touches. Hunk headers say how many lines follow, so that a
    /// changed line that looks like a header is counted as a line.
    pub fn of(patch: &str) -> Self {
        let mut size = Self::default();
        let (mut old, mut new) = (0_u32, 0_u32);
        for line in patch.lines() {
            if old > 0 || new > 0 {
                match line.as_bytes().first() {
                    Some(b'+') => (size.added, new) = (size.added + 1, new.saturating_sub(1)),
                    Some(b'-') => (size.deleted, old) = (size.deleted + 1, old.saturating_sub(1)),
                    Some(b'\\') => {}
                    Some(_) | None => (old, new) = (old.saturating_sub(1), new.saturating_sub(1)),
                }
            } else if line.starts_with("diff --git ") {
                size.files += 1;
            } else if let Some(header) = line.strip_prefix("@@ -") {
                (old, new) = hunk_lengths(header).unwrap_or_default();
            }
        }
        size
    }
}

/// The two lengths in `12,3 +14 @@ ...`; a missing one is 1.
fn hunk_lengths(header: &str) -> Option<(u32, u32)> {
    let (old, rest) = header.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let length = |range: &str| range.split_once(',').map_or(Some(1), |(_, length)| length.parse().ok());
    Some((length(old)?, length(new)?))
}
