//! Pages of the list of runs: filtered by what a run is, by its tags and by what it says, with how many there are.
//!
//! It holds no table of its own: it reads `runs`, `run_tags`, `removals` and the search index.

use crate::error::DatabaseError;
use crate::runs::{self, RunEntry};
use crate::{CreationOrder, HitPlace, Store, StoreError, StoredStatus, column, run_tags, run_texts};
use magis_core::{RepoId, RunId};
use rusqlite::Transaction;
use std::collections::BTreeSet;

/// Which runs a page shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunQuery {
    /// Only runs of this repository.
    pub repo: Option<RepoId>,
    /// Only runs that stand like this.
    pub standing: Option<Standing>,
    /// Only runs with this tag.
    pub tag: Option<String>,
    /// Only runs that say all of these words; nothing: all runs.
    pub text: String,
    /// Only runs behind this one in the order: the last of the page before.
    pub after: Option<RunId>,
    /// At most this many.
    pub limit: u32,
    pub order: CreationOrder,
}

/// How a run stands, its outcome included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is not over.
    Open(StoredStatus),
    /// It is over, and every task was approved.
    Approved,
    /// It is over with a patch that QA did not approve as a whole.
    NotApproved,
    /// It is over without a change.
    NoChange,
    /// It could not be carried out.
    Failed,
}

/// A page of the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunListPage {
    /// The runs, in order.
    pub rows: Vec<ListedRun>,
    /// How many the query has on all pages together; of a search at most [`RunListPage::COUNTED_HITS`].
    pub total: u32,
    /// How many follow this page, as far as counted.
    pub rest: u32,
}

/// A run of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRun {
    pub run: RunEntry,
    pub tags: Vec<String>,
    /// Where it says what was searched for, the issue first.
    pub places: Vec<HitPlace>,
}

impl RunListPage {
    /// How many runs a search looks for before it stops counting.
    pub const COUNTED_HITS: u32 = 500;
}

impl Standing {
    /// Returns the words of the columns `status` and `outcome`.
    fn words(self) -> Result<(String, Option<&'static str>), serde_json::Error> {
        let ended = column::word(&StoredStatus::Ended)?;
        Ok(match self {
            Self::Open(status) => (column::word(&status)?, None),
            Self::Approved => (ended, Some("approved")),
            Self::NotApproved => (ended, Some("not_approved")),
            Self::NoChange => (ended, Some("no_change")),
            Self::Failed => (ended, Some("failed")),
        })
    }
}

impl Store {
    /// Returns a page of the runs that `query` lets through. Removed runs are left out.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn run_page(&self, query: &RunQuery) -> Result<RunListPage, StoreError> {
        let words = run_texts::match_expression(&query.text);
        self.read("listing the runs", |transaction| {
            if words.is_empty() && query.text.trim().is_empty() {
                whole_list(transaction, query)
            } else {
                found_list(transaction, query, &words)
            }
        })
    }

    /// Returns how many runs of a repository there are, without removed ones.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn run_count(&self, repo: RepoId) -> Result<u32, StoreError> {
        self.read("counting the runs", |transaction| {
            Ok(transaction.query_row(
                "SELECT count(*) FROM runs WHERE repo = ?1 AND id NOT IN (SELECT run FROM removals)",
                [repo.0],
                |row| row.get(0),
            )?)
        })
    }
}

/// Returns the conditions that hold, on `runs`; each has its index, and none is there that asks for nothing.
fn conditions(query: &RunQuery) -> String {
    let mut conditions = String::from("id NOT IN (SELECT run FROM removals)");
    if query.repo.is_some() {
        conditions.push_str(" AND repo = :repo");
    }
    if query.standing.is_some() {
        conditions.push_str(" AND status = :status AND outcome IS :outcome");
    }
    if query.tag.is_some() {
        conditions.push_str(" AND id IN (SELECT run FROM run_tags WHERE tag = :tag)");
    }
    conditions
}

/// Returns the ids that fulfil `condition`, with the query's own parameters.
fn ids(transaction: &Transaction<'_>, query: &RunQuery, statement: &str) -> Result<Vec<RunId>, DatabaseError> {
    let mut statement = transaction.prepare_cached(statement)?;
    let standing = query.standing.map(Standing::words).transpose()?;
    let (status, outcome) = match standing {
        Some((status, outcome)) => (Some(status), outcome),
        None => (None, None),
    };
    let bind = |statement: &mut rusqlite::CachedStatement<'_>, name: &str, value: &dyn rusqlite::ToSql| match statement
        .parameter_index(name)?
    {
        Some(index) => statement.raw_bind_parameter(index, value),
        None => Ok(()),
    };
    bind(&mut statement, ":repo", &query.repo.map(|repo| repo.0))?;
    bind(&mut statement, ":status", &status)?;
    bind(&mut statement, ":outcome", &outcome)?;
    bind(&mut statement, ":tag", &query.tag)?;
    bind(&mut statement, ":after", &query.after.map(|run| run.0))?;
    bind(&mut statement, ":limit", &query.limit)?;
    let mut rows = statement.raw_query();
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        ids.push(RunId(row.get(0)?));
    }
    Ok(ids)
}

fn whole_list(transaction: &Transaction<'_>, query: &RunQuery) -> Result<RunListPage, DatabaseError> {
    let conditions = conditions(query);
    let total = count(transaction, query, &conditions)?;
    let (before, direction) = match query.order {
        CreationOrder::NewestFirst => ("<", "DESC"),
        CreationOrder::OldestFirst => (">", "ASC"),
    };
    let behind = if query.after.is_some() {
        format!("{conditions} AND (created_at, id) {before} (SELECT created_at, id FROM runs WHERE id = :after)")
    } else {
        conditions
    };
    let following = count(transaction, query, &behind)?;
    let page = ids(
        transaction,
        query,
        &format!("SELECT id FROM runs WHERE {behind} ORDER BY created_at {direction}, id {direction} LIMIT :limit"),
    )?;
    let rows = page
        .into_iter()
        .map(|run| listed(transaction, run, Vec::new()))
        .collect::<Result<Vec<_>, DatabaseError>>()?;
    let rest = following.saturating_sub(rows.len() as u32);
    Ok(RunListPage { rows, total, rest })
}

fn count(transaction: &Transaction<'_>, query: &RunQuery, conditions: &str) -> Result<u32, DatabaseError> {
    let counted = ids(
        transaction,
        query,
        &format!("SELECT count(*) FROM runs WHERE {conditions}"),
    )?;
    Ok(counted
        .first()
        .map_or(0, |count| u32::try_from(count.0).unwrap_or(u32::MAX)))
}

fn found_list(transaction: &Transaction<'_>, query: &RunQuery, words: &str) -> Result<RunListPage, DatabaseError> {
    if words.is_empty() {
        return Ok(RunListPage::default());
    }
    let allowed = if query.repo.is_some() || query.standing.is_some() || query.tag.is_some() {
        let statement = format!("SELECT id FROM runs WHERE {}", conditions(query));
        Some(
            ids(transaction, query, &statement)?
                .into_iter()
                .collect::<BTreeSet<_>>(),
        )
    } else {
        None
    };
    let removed: BTreeSet<RunId> = ids(transaction, query, "SELECT run FROM removals")?
        .into_iter()
        .collect();
    let shown = |run: RunId| !removed.contains(&run) && allowed.as_ref().is_none_or(|allowed| allowed.contains(&run));
    let found = run_texts::runs_with(transaction, words, RunListPage::COUNTED_HITS as usize, &shown)?;
    let total = found.len() as u32;
    let order = found.keys().map(|run| created(transaction, *run));
    let mut order = order.collect::<Result<Vec<_>, DatabaseError>>()?;
    order.sort_unstable();
    if query.order == CreationOrder::NewestFirst {
        order.reverse();
    }
    if let Some(after) = query.after {
        let after = (runs::get(transaction, after)?.entry.created_at, after);
        order.retain(|run| match query.order {
            CreationOrder::NewestFirst => *run < after,
            CreationOrder::OldestFirst => *run > after,
        });
    }
    let mut order: Vec<RunId> = order.into_iter().map(|(_, run)| run).collect();
    let following = order.len() as u32;
    order.truncate(query.limit as usize);
    let page = found.into_iter().filter(|(run, _)| order.contains(run)).collect();
    let mut places = run_texts::places(transaction, words, &page)?;
    let rows = order
        .into_iter()
        .map(|run| listed(transaction, run, places.remove(&run).unwrap_or_default()))
        .collect::<Result<Vec<_>, DatabaseError>>()?;
    let rest = following.saturating_sub(rows.len() as u32);
    Ok(RunListPage { rows, total, rest })
}

/// Returns the place of a run in the order of time.
fn created(transaction: &Transaction<'_>, run: RunId) -> Result<(i64, RunId), DatabaseError> {
    let mut statement = transaction.prepare_cached("SELECT created_at FROM runs WHERE id = ?1")?;
    Ok((statement.query_row([run.0], |row| row.get(0))?, run))
}

fn listed(transaction: &Transaction<'_>, run: RunId, places: Vec<HitPlace>) -> Result<ListedRun, DatabaseError> {
    Ok(ListedRun {
        run: runs::get(transaction, run)?.entry,
        tags: run_tags::of(transaction, run)?,
        places,
    })
}
