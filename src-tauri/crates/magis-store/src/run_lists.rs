//! Lists of runs, by repository and by how they stand.
//!
//! Pages with tags, texts and totals are `run_pages`'.

use crate::runs::{LISTED_REPO, read_entry};
use crate::{RunEntry, Store, StoreError, StoredStatus, column};
use magis_core::{RepoId, RunId};

/// Which runs to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFilter {
    /// Only runs of this repository.
    pub repo: Option<RepoId>,
    /// Only runs that stand like this.
    pub status: Option<StoredStatus>,
    /// At most this many.
    pub limit: u32,
    pub order: CreationOrder,
    /// Only runs behind this one in that order: the last of the page before.
    pub after: Option<RunId>,
}

/// The order of a list of runs, by the time they were created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CreationOrder {
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
            order: CreationOrder::NewestFirst,
            after: None,
        }
    }
}

impl Store {
    /// Returns the runs that `filter` lets through.
    ///
    /// # Errors
    /// When the database cannot be read.
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
}

/// Only the conditions that hold, so that each has its index.
fn list_query(filter: &RunFilter) -> String {
    let mut query = format!(
        "SELECT id, {LISTED_REPO}, repository_name, origin, title, model, base_commit, base_tree, base_name, uncommitted, status,
                qa, outcome, outcome_reason, created_at, started_at, ended_at, parent, shared_events, added, deleted, files, proof,
                tokens, worked_ms
         FROM runs WHERE id NOT IN (SELECT run FROM removals) AND (?1 IS NULL OR repo = ?1) AND (?2 IS NULL OR status = ?2) AND (?3 IS NULL OR (created_at, id) < (SELECT created_at, id FROM runs WHERE id = ?3))",
    );
    if filter.repo.is_some() {
        query = query.replace("(?1 IS NULL OR repo = ?1)", "repo = ?1");
    }
    if filter.status.is_some() {
        query = query.replace("(?2 IS NULL OR status = ?2)", "status = ?2");
    }
    if filter.after.is_some() {
        query = query.replace("(?3 IS NULL OR ", "(");
    }
    match filter.order {
        CreationOrder::NewestFirst => query.push_str(" ORDER BY created_at DESC, id DESC LIMIT ?4"),
        CreationOrder::OldestFirst => {
            query = query.replace("(created_at, id) <", "(created_at, id) >");
            query.push_str(" ORDER BY created_at, id LIMIT ?4");
        }
    }
    query
}
