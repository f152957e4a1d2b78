//! Unconditional log-likelihoods: how likely a model holds a name for the answer where it is told no issue. That depends on
//! the model, the prompt and the name alone, so it is asked once.
//!
//! It does not know what the names stand for, nor what is made of the scores.

use crate::{Maker, Store, StoreError};
use magis_core::RepoId;
use rusqlite::{OptionalExtension as _, named_params};

pub(crate) const VERSION_5: &str = "\
CREATE TABLE silent_scores (
    repo          INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
    name          TEXT NOT NULL,
    model_sha     TEXT NOT NULL,
    template_hash TEXT NOT NULL,
    logprob       REAL NOT NULL,
    tokens        INTEGER NOT NULL,
    PRIMARY KEY (repo, name, model_sha, template_hash)
) STRICT, WITHOUT ROWID;";

pub(crate) const VERSION_8: &str = "ALTER TABLE silent_scores RENAME TO unconditional_scores;";

/// The score of one name where no issue is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnconditionalScore {
    /// log P(name), in nats.
    pub logprob: f64,
    /// Tokens of the name.
    pub tokens: u32,
}

impl Store {
    /// Returns what is known of each of these names, in their order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn unconditional_scores<'a>(
        &self,
        repo: RepoId,
        maker: Maker<'_>,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<Option<UnconditionalScore>>, StoreError> {
        self.read("reading the scores of names", |transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT logprob, tokens FROM unconditional_scores
                 WHERE repo = ?1 AND name = ?2 AND model_sha = ?3 AND template_hash = ?4",
            )?;
            let score = |name: &str| {
                let key = (repo.0, name, maker.model_sha, maker.template_hash);
                let row = statement.query_row(key, |row| {
                    Ok(UnconditionalScore {
                        logprob: row.get("logprob")?,
                        tokens: row.get("tokens")?,
                    })
                });
                row.optional()
            };
            Ok(names.into_iter().map(score).collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Keeps the scores of names; what was known of them is replaced.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_unconditional_scores<'a>(
        &self,
        repo: RepoId,
        maker: Maker<'_>,
        scores: impl IntoIterator<Item = (&'a str, UnconditionalScore)>,
    ) -> Result<(), StoreError> {
        self.write("keeping the scores of names", |transaction| {
            let mut statement = transaction.prepare_cached(
                "INSERT OR REPLACE INTO unconditional_scores (repo, name, model_sha, template_hash, logprob, tokens)
                 VALUES (:repo, :name, :model, :template, :logprob, :tokens)",
            )?;
            for (name, score) in scores {
                statement.execute(named_params! {
                    ":repo": repo.0,
                    ":name": name,
                    ":model": maker.model_sha,
                    ":template": maker.template_hash,
                    ":logprob": score.logprob,
                    ":tokens": score.tokens,
                })?;
            }
            Ok(())
        })
    }
}
