//! Runs that say something, found by the words of their texts.
//!
//! The index over those texts is `run_texts`'.

use crate::error::DatabaseError;
use crate::run_texts::{MAX_PLACES, match_expression, places, runs_with};
use crate::runs::{self, RunEntry};
use crate::{HitPlace, Store, StoreError};
use magis_core::{RepoId, RunId};
use rusqlite::Transaction;
use std::collections::{BTreeMap, BTreeSet};

/// What to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSearch {
    /// Words, which all have to occur in one text of the run; the beginning of a word is enough.
    pub text: String,
    /// Only in runs of this repository.
    pub repo: Option<RepoId>,
    /// At most this many runs.
    pub limit: u32,
}

/// A run in which something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunHit {
    pub run: RunEntry,
    /// Where, at most [`RunHit::MAX_PLACES`], the issue first.
    pub places: Vec<HitPlace>,
}

impl RunHit {
    /// How many places of one run are shown.
    pub const MAX_PLACES: usize = MAX_PLACES;
}

impl Store {
    /// Runs that say `search.text`, the newest first. Nothing is found for a text without a letter or digit.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn search_runs(&self, search: &RunSearch) -> Result<Vec<RunHit>, StoreError> {
        let query = match_expression(&search.text);
        if query.is_empty() || search.limit == 0 {
            return Ok(Vec::new());
        }
        self.read("searching the runs", |transaction| {
            let found = matching_runs(transaction, &query, search)?;
            let mut places = places(transaction, &query, &found)?;
            let hit = |(run, _): (&RunId, _)| {
                let places = places.remove(run).unwrap_or_default();
                Ok(RunHit {
                    run: runs::get(transaction, *run)?.entry,
                    places,
                })
            };
            // The highest number is the newest run.
            found.iter().rev().map(hit).collect()
        })
    }
}

/// Returns the texts to show of each run found, by their row. Rows are read newest first and only until enough runs are
/// known.
fn matching_runs(
    transaction: &Transaction<'_>,
    query: &str,
    search: &RunSearch,
) -> Result<BTreeMap<RunId, Vec<i64>>, DatabaseError> {
    let mut statement = transaction.prepare_cached(
        "SELECT id FROM runs WHERE (?1 IS NULL OR repo = ?1) AND id NOT IN (SELECT run FROM removals)",
    )?;
    let rows = statement.query_map([search.repo.map(|repo| repo.0)], |row| row.get(0).map(RunId))?;
    let allowed: BTreeSet<RunId> = rows.collect::<rusqlite::Result<_>>()?;
    runs_with(transaction, query, search.limit as usize, &|run| allowed.contains(&run))
}
