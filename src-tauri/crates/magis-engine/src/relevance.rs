//! P3 by naming: how much likelier the issue makes each candidate, file or function, as an answer, and how that joins the
//! ranking.
//!
//! Who asks, and whether it is recorded, is behind [`Naming`]; the candidates come from the ranking.

use crate::desk::{About, AskError, Desk, Fitted};
use async_trait::async_trait;
use magis_core::Candidate;
use magis_prompts::{Head, RelevanceByName, SymbolByName};
use magis_search::{KeepRule, ScoredSymbol, fuse, keep};

/// A file may lie this far below the best in fused z-scores, and so many files stay at the most: each costs a minute, and
/// every additional file lowers the odds (the paper's table of complexity).
pub(crate) const KEEP: KeepRule = KeepRule { margin: 2.5, most: 3 };

/// Puts the naming questions.
#[async_trait]
pub(crate) trait Naming: Send {
    /// log P(path | issue) − log P(path) of each, in nats.
    async fn files(&mut self, head: &Head, names: &[String]) -> Result<Vec<f64>, AskError>;
    /// The same for `path::name`.
    async fn symbols(&mut self, head: &Head, names: &[String]) -> Result<Vec<f64>, AskError>;
}

/// What the model says of one candidate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Relevance {
    /// How much likelier the issue makes its name, in nats; none where it was not asked for.
    pub naming: Option<f64>,
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

/// Asks about files and symbols. Where the questions do not fit, the ranking stands alone.
pub(crate) async fn judge(
    naming: &mut dyn Naming,
    head: &Head,
    files: &[Candidate],
    symbols: &[ScoredSymbol],
) -> Result<Judged, AskError> {
    let mut unasked = None;
    let mut usable = |asked: Result<Vec<f64>, AskError>| match asked {
        Ok(naming) => Ok(naming.into_iter().map(Some).collect::<Vec<_>>()),
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
    Ok(Judged {
        files: relevance(&scores, &named_files),
        symbols: relevance(&symbol_scores, &named_symbols),
        unasked,
    })
}

fn relevance(scores: &[f64], naming: &[Option<f64>]) -> Vec<Relevance> {
    let fused = fuse(scores, naming, &[]);
    let kept = keep(&fused, KEEP);
    let one = |at: usize| Relevance {
        naming: naming.get(at).copied().flatten(),
        fused: fused[at],
        kept: kept[at],
    };
    (0..scores.len()).map(one).collect()
}

#[async_trait]
impl Naming for Desk {
    async fn files(&mut self, head: &Head, names: &[String]) -> Result<Vec<f64>, AskError> {
        let asked = [Fitted::whole(RelevanceByName { head: head.clone() })];
        let silent = RelevanceByName { head: Head::silent() };
        self.name(&About::default(), asked, silent, names).await
    }

    async fn symbols(&mut self, head: &Head, names: &[String]) -> Result<Vec<f64>, AskError> {
        let asked = [Fitted::whole(SymbolByName { head: head.clone() })];
        let silent = SymbolByName { head: Head::silent() };
        self.name(&About::default(), asked, silent, names).await
    }
}
