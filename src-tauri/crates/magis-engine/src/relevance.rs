//! P3 by naming: how much likelier the issue makes each candidate, file or function, as an answer, and how that joins the
//! ranking.
//!
//! Who asks, and whether it is recorded, is behind [`Naming`]; the candidates come from the ranking.

use crate::desk::{About, AskError, Desk, Fitted};
use async_trait::async_trait;
use magis_core::Candidate;
use magis_llm::Score;
use magis_prompts::{Head, RelevanceByName, SymbolByName};
use magis_search::{KeepRule, ScoredSymbol, fuse_weighted, keep};

/// How files are fused: by their places in the ranking and in what the model says, each place p counting 1 / (10 + p).
///
/// Chosen on issues of eight repositories and looked at again on those of a ninth. Places do better than z-scores here: how
/// far log-odds lie apart says little, and a z-score lets one outlier turn a clear order over.
mod weight {
    /// How flat the counts of the first places lie.
    pub const FLATTENING: f64 = 10.0;
    /// Naming, beside the ranking.
    pub const NAMING: f64 = 0.5;
    /// Yes or no on code, beside the ranking: on what was measured it adds next to nothing to naming.
    pub const CODE: f64 = 0.1;
    /// Naming of functions, as z-scores.
    pub const SYMBOL_NAMING: f64 = 0.5;
}

/// A file stays with this share of what the best has.
const KEPT_SHARE: f64 = 0.8;
/// So many files stay at the most: each costs a minute, and every additional file lowers the odds (the paper's table of
/// complexity).
const KEPT_AT_MOST: usize = 5;

/// Puts the naming questions.
#[async_trait]
pub(crate) trait Naming: Send {
    /// Each path as an answer, after the issue and without it.
    async fn files(&mut self, head: &Head, names: &[String]) -> Result<Vec<Named>, AskError>;
    /// The same for `path::name`.
    async fn symbols(&mut self, head: &Head, names: &[String]) -> Result<Vec<Named>, AskError>;
}

/// How much likelier the issue makes a name.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Named {
    /// log P(name | issue) − log P(name), in nats.
    pub nats: f64,
    /// Tokens of the name.
    pub tokens: u32,
}

/// What the model says of one candidate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Relevance {
    /// How much likelier the issue makes its name, in nats; none where it was not asked for.
    pub naming: Option<f64>,
    /// The same by token of the name.
    pub per_token: Option<f64>,
    /// Ranking and naming together; comparable within one issue.
    pub fused: f64,
    /// Whether it stays a candidate (P3).
    pub kept: bool,
}

/// What the model says of all candidates, each in the order they were given.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    pub files: Vec<Relevance>,
    pub symbols: Vec<Relevance>,
    /// Why the ranking stands alone, where it does.
    pub unasked: Option<String>,
}

/// Asks about files and symbols, both given strongest first. Where the questions do not fit, the ranking stands alone.
pub(crate) async fn judge(
    naming: &mut dyn Naming,
    head: &Head,
    files: &[Candidate],
    symbols: &[ScoredSymbol],
) -> Result<Judged, AskError> {
    let mut unasked = None;
    let mut usable = |asked: Result<Vec<Named>, AskError>| match asked {
        Ok(named) => Ok(named),
        Err(AskError::Unusable(why)) => {
            unasked = Some(why);
            Ok(Vec::new())
        }
        Err(fatal) => Err(fatal),
    };
    let paths: Vec<String> = files.iter().map(|file| format!("{}`", file.path)).collect();
    let named_files = if paths.is_empty() {
        Vec::new()
    } else {
        usable(naming.files(head, &paths).await)?
    };
    let names: Vec<String> = symbols
        .iter()
        .map(|symbol| format!("{}::{}`", symbol.path, symbol.qualified_name))
        .collect();
    let named_symbols = if names.is_empty() {
        Vec::new()
    } else {
        usable(naming.symbols(head, &names).await)?
    };
    let scores: Vec<f64> = files.iter().map(|file| file.score).collect();
    let symbol_scores: Vec<f64> = symbols.iter().map(|symbol| symbol.score).collect();
    let per_token = |named: &[Named]| -> Vec<Option<f64>> { named.iter().map(Named::per_token).collect() };
    let fused = fuse_files(&scores, &per_token(&named_files), &[]);
    // Of functions the whole name counts: what sets them apart is often one long word at its end.
    let nats: Vec<Option<f64>> = named_symbols.iter().map(|named| Some(named.nats)).collect();
    let fused_symbols = fuse_weighted(&symbol_scores, &nats, weight::SYMBOL_NAMING, &[], 0.0);
    Ok(Judged {
        files: relevance(&fused, &named_files),
        symbols: relevance(&fused_symbols, &named_symbols),
        unasked,
    })
}

/// Ranking, naming by token and yes/no on code as one order of files, 0..1. A question that was not asked of any file counts
/// for none; a file it was not asked of stands behind the others.
pub(crate) fn fuse_files(ranking: &[f64], per_token: &[Option<f64>], yes_no: &[Option<f64>]) -> Vec<f64> {
    let ranked: Vec<Option<f64>> = ranking.iter().copied().map(Some).collect();
    let voices = [(&ranked[..], 1.0), (per_token, weight::NAMING), (yes_no, weight::CODE)];
    let mut fused = vec![0.0; ranking.len()];
    let mut all = 0.0;
    for (values, weight) in voices {
        if values.iter().all(Option::is_none) {
            continue;
        }
        all += weight;
        for (at, fused) in fused.iter_mut().enumerate() {
            let own = values.get(at).copied().flatten();
            let before = values
                .iter()
                .flatten()
                .filter(|other| own.is_none_or(|own| **other > own));
            *fused += weight * (weight::FLATTENING + 1.0) / (weight::FLATTENING + 1.0 + before.count() as f64);
        }
    }
    fused.into_iter().map(|sum| sum / all).collect()
}

/// Which of the fused files stay candidates: those near the best.
pub(crate) fn keep_files(fused: &[f64]) -> Vec<bool> {
    let best = fused.iter().copied().fold(0.0, f64::max);
    let rule = KeepRule {
        margin: best * (1.0 - KEPT_SHARE),
        most: KEPT_AT_MOST,
    };
    keep(fused, rule)
}

impl Named {
    /// Of each continuation, asked after the issue and without it.
    pub fn each(with: &[Score], without: &[Score]) -> Vec<Self> {
        let named = |(with, without): (&Score, &Score)| Self {
            nats: with.logprob - without.logprob,
            tokens: with.tokens,
        };
        with.iter().zip(without).map(named).collect()
    }

    /// By token.
    pub fn per_token(&self) -> Option<f64> {
        (self.tokens > 0).then(|| self.nats / f64::from(self.tokens))
    }
}

fn relevance(fused: &[f64], named: &[Named]) -> Vec<Relevance> {
    let kept = keep_files(fused);
    let one = |at: usize| Relevance {
        naming: named.get(at).map(|named| named.nats),
        per_token: named.get(at).and_then(Named::per_token),
        fused: fused[at],
        kept: kept[at],
    };
    (0..fused.len()).map(one).collect()
}

#[async_trait]
impl Naming for Desk {
    async fn files(&mut self, head: &Head, names: &[String]) -> Result<Vec<Named>, AskError> {
        let asked = [Fitted::whole(RelevanceByName { head: head.clone() })];
        let silent = RelevanceByName { head: Head::silent() };
        self.name(&About::default(), asked, silent, names).await
    }

    async fn symbols(&mut self, head: &Head, names: &[String]) -> Result<Vec<Named>, AskError> {
        let asked = [Fitted::whole(SymbolByName { head: head.clone() })];
        let silent = SymbolByName { head: Head::silent() };
        self.name(&About::default(), asked, silent, names).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ranking: &[f64], per_token: &[f64], order: &[usize]) {
        let named: Vec<Option<f64>> = per_token.iter().copied().map(Some).collect();
        let fused = fuse_files(ranking, &named, &[]);
        let mut found: Vec<usize> = (0..fused.len()).collect();
        found.sort_by(|a, b| fused[*b].total_cmp(&fused[*a]));
        assert_eq!(found, order, "{ranking:?} with {per_token:?}: {fused:?}");
    }

    #[test]
    fn naming_decides_between_files_that_rank_side_by_side() {
        check(&[5.0, 2.0, 1.9, 0.5], &[2.0, 0.0, 3.0, 1.0], &[0, 2, 1, 3]);
    }

    #[test]
    fn the_first_place_falls_only_where_naming_has_it_far_behind() {
        check(&[2.0, 1.9, 0.3, 0.2, 0.1], &[8.0, 9.0, 3.0, 2.0, 1.0], &[0, 1, 2, 3, 4]);
        check(&[2.0, 1.9, 0.3, 0.2, 0.1], &[0.0, 9.0, 3.0, 2.0, 1.0], &[1, 0, 2, 3, 4]);
    }

    #[test]
    fn without_an_answer_the_ranking_stands_and_what_was_not_asked_stands_behind() {
        assert_eq!(fuse_files(&[3.0, 1.0], &[], &[]), [1.0, 11.0 / 12.0]);
        let fused = fuse_files(&[3.0, 3.0], &[None, Some(-1.0)], &[]);
        assert!(fused[1] > fused[0], "{fused:?}");
        assert!(fuse_files(&[], &[], &[]).is_empty());
    }

    #[test]
    fn files_near_the_best_stay_and_never_more_than_five() {
        let kept = |fused: &[f64]| keep_files(fused).iter().filter(|kept| **kept).count();
        assert_eq!(keep_files(&[1.0, 0.85, 0.7]), [true, true, false]);
        assert_eq!(kept(&[1.0; 9]), 5);
        assert_eq!(kept(&[]), 0);
    }

    #[test]
    fn a_name_counts_by_token() {
        let score = |logprob, tokens| Score { logprob, tokens };
        let named = Named::each(&[score(-2.0, 4), score(-1.0, 0)], &[score(-10.0, 4), score(-1.0, 0)]);
        assert_eq!((named[0].nats, named[0].per_token()), (8.0, Some(2.0)));
        assert_eq!(named[1].per_token(), None, "no token, nothing by token");
    }
}
