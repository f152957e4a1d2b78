//! P3 by conditional log-likelihood: how much likelier the issue makes each candidate, file or function, as an answer,
//! and how that joins the ranking.
//!
//! The candidates come from the ranking; who records the calls is the model-call client's business.

mod features;

pub(crate) use features::{ConditionalScore, RelevanceFeatures, descending};

use crate::EngineError;
use crate::calls::{AskError, CallContext, ModelCalls, PromptVariant};
use magis_core::{Candidate, RepoId};
use magis_llm::{ModelCard, Score};
use magis_prompts::{Head, Prompt, RelevanceByName, SymbolByName, Template};
use magis_search::{ScoredSymbol, fuse};

use magis_store::{Maker, Store, UnconditionalScore};

/// A question that a name answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// Which file: a path.
    File,
    /// Which function or type: `path::name`.
    Symbol,
}

/// The unconditional log-likelihoods of one repository's names: what one model says of them without an issue.
pub(crate) struct UnconditionalScores {
    store: Store,
    repo: RepoId,
    model_sha: String,
}

/// What the model says of one candidate.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Relevance {
    /// How much likelier the issue makes its name, in nats; none where it was not asked for.
    pub naming: Option<f64>,
    /// The same by token of the name.
    pub per_token: Option<f64>,
    /// Ranking and likelihood together; comparable within one issue.
    pub fused: f64,
    /// Whether it stays a candidate (P3).
    pub kept: bool,
}

/// What the model says of all candidates, each in the order they were given.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    pub relevance: Vec<Relevance>,
    /// Why the ranking stands alone, where the question could not be put.
    pub unasked: Option<String>,
}

/// Asks about files, strongest first.
pub(crate) async fn judge_files(
    calls: &mut ModelCalls,
    memory: &UnconditionalScores,
    head: &Head,
    files: &[Candidate],
) -> Result<Judged, EngineError> {
    let paths: Vec<String> = files.iter().map(|file| format!("{}`", file.path)).collect();
    if paths.is_empty() {
        return Ok(Judged::default());
    }
    let (named, unasked) = usable(conditional_scores(calls, memory, Question::File, head, &paths).await)?;
    let ranking: Vec<f64> = files.iter().map(|file| file.score).collect();
    let per_token: Vec<Option<f64>> = named.iter().map(ConditionalScore::per_token).collect();
    let features = RelevanceFeatures {
        ranking: &ranking,
        per_token: &per_token,
        yes_no: &[],
    };
    Ok(Judged {
        relevance: relevance(&features.fused(), &features.kept(), &named),
        unasked,
    })
}

/// Asks about functions and types, strongest first. Of these the whole name counts: what sets them apart is often one long
/// word at its end. That the name ends there is not asked: it would be a fifth of the work, and of 34 issues as many had a
/// function of the change first, among the first five and among the first ten.
pub(crate) async fn judge_symbols(
    calls: &mut ModelCalls,
    memory: &UnconditionalScores,
    head: &Head,
    symbols: &[ScoredSymbol],
) -> Result<Judged, EngineError> {
    let path_and_name = |symbol: &ScoredSymbol| format!("{}::{}", symbol.path, symbol.qualified_name);
    let names: Vec<String> = symbols.iter().map(path_and_name).collect();
    if names.is_empty() {
        return Ok(Judged::default());
    }
    let (named, unasked) = usable(conditional_scores(calls, memory, Question::Symbol, head, &names).await)?;
    let ranking: Vec<f64> = symbols.iter().map(|symbol| symbol.score).collect();
    let log_ratios: Vec<Option<f64>> = named.iter().map(|named| Some(named.log_ratio)).collect();
    let fused = fuse(&ranking, &log_ratios);
    Ok(Judged {
        relevance: relevance(&fused, &vec![true; fused.len()], &named),
        unasked,
    })
}

/// Conditional log-likelihood: log P(continuation | asked) − log P(continuation | asked without the issue).
pub(crate) async fn conditional<P: Prompt>(
    calls: &mut ModelCalls,
    about: &CallContext,
    asked: impl IntoIterator<Item = PromptVariant<P>>,
    unconditional: P,
    continuations: &[String],
) -> Result<Vec<ConditionalScore>, AskError> {
    let with = calls.score(about, asked, continuations).await?;
    let without = calls
        .score(about, [PromptVariant::whole(unconditional)], continuations)
        .await?;
    Ok(ConditionalScore::each(&with, &without))
}

/// Returns each name as the answer, after the issue and without it.
async fn conditional_scores(
    calls: &mut ModelCalls,
    memory: &UnconditionalScores,
    question: Question,
    head: &Head,
    names: &[String],
) -> Result<Vec<ConditionalScore>, AskError> {
    let with = scores(calls, question, head, names).await?;
    let mut without = memory.known(question, names)?;
    let missing: Vec<String> = (names.iter().zip(&without))
        .filter(|(_, known)| known.is_none())
        .map(|(name, _)| name.clone())
        .collect();
    if !missing.is_empty() {
        let asked = scores(calls, question, &Head::unconditional(), &missing).await?;
        memory.keep(question, &missing, &asked)?;
        let unknown = without.iter_mut().filter(|known| known.is_none());
        for (unknown, score) in unknown.zip(asked) {
            *unknown = Some(score);
        }
    }
    let without: Vec<Score> = without.into_iter().flatten().collect();
    Ok(ConditionalScore::each(&with, &without))
}

async fn scores(
    calls: &mut ModelCalls,
    question: Question,
    head: &Head,
    names: &[String],
) -> Result<Vec<Score>, AskError> {
    let (about, head) = (CallContext::default(), head.clone());
    let scores = match question {
        Question::File => {
            let asked = [PromptVariant::whole(RelevanceByName { head })];
            calls.score(&about, asked, names).await?
        }
        Question::Symbol => {
            let asked = [PromptVariant::whole(SymbolByName { head })];
            calls.score(&about, asked, names).await?
        }
    };
    if scores.len() == names.len() {
        Ok(scores)
    } else {
        let (found, asked) = (scores.len(), names.len());
        Err(AskError::Unusable(format!("the model scored {found} of {asked} names")))
    }
}

/// Returns what was named, or nothing and why.
fn usable(
    asked: Result<Vec<ConditionalScore>, AskError>,
) -> Result<(Vec<ConditionalScore>, Option<String>), EngineError> {
    match asked {
        Ok(named) => Ok((named, None)),
        Err(AskError::Unusable(why)) => Ok((Vec::new(), Some(why))),
        Err(AskError::Fatal(error)) => Err(error),
    }
}

impl Question {
    fn template(self) -> Template {
        match self {
            Self::File => Template::RelevanceByName,
            Self::Symbol => Template::SymbolByName,
        }
    }
}

impl UnconditionalScores {
    pub fn new(store: &Store, repo: RepoId, model: &ModelCard) -> Self {
        Self {
            store: store.clone(),
            repo,
            model_sha: model.sha256.clone(),
        }
    }

    fn known(&self, question: Question, names: &[String]) -> Result<Vec<Option<Score>>, EngineError> {
        let template_hash = question.template().hash();
        let names = names.iter().map(String::as_str);
        let known = self
            .store
            .unconditional_scores(self.repo, self.maker(&template_hash), names)?;
        let score = |known: UnconditionalScore| Score {
            logprob: known.logprob,
            tokens: known.tokens,
        };
        Ok(known.into_iter().map(|known| known.map(score)).collect())
    }

    fn keep(&self, question: Question, names: &[String], scores: &[Score]) -> Result<(), EngineError> {
        let template_hash = question.template().hash();
        let score = |score: &Score| UnconditionalScore {
            logprob: score.logprob,
            tokens: score.tokens,
        };
        let scores = names.iter().zip(scores).filter(|(_, score)| score.logprob.is_finite());
        let scores = scores.map(|(name, one)| (name.as_str(), score(one)));
        Ok(self
            .store
            .put_unconditional_scores(self.repo, self.maker(&template_hash), scores)?)
    }

    fn maker<'a>(&'a self, template_hash: &'a str) -> Maker<'a> {
        Maker {
            model_sha: &self.model_sha,
            template_hash,
        }
    }
}

fn relevance(fused: &[f64], kept: &[bool], named: &[ConditionalScore]) -> Vec<Relevance> {
    let one = |at: usize| Relevance {
        naming: named.get(at).map(|named| named.log_ratio),
        per_token: named.get(at).and_then(ConditionalScore::per_token),
        fused: fused[at],
        kept: kept[at],
    };
    (0..fused.len()).map(one).collect()
}
