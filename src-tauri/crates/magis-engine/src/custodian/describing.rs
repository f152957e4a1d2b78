//! The description of a file from memory, and what has to be asked for it (algorithm 1, P1 and P2): one way for runs, for
//! a summary that a person wants anew, and for work ahead of any run.
//!
//! What is decided stands in `summary_lookup`; which files are described is for others to say.

use super::memory_log;
use super::summary_lookup::{Chain, SummaryLookup, Wanted, look_up};
use crate::calls::{
    AskError, CHARS_PER_TOKEN, CallContext, ModelCalls, PlannedCall, PromptVariant, SamplingMode, condense,
};
use crate::{EngineError, Magis};
use magis_core::{BlobId, Description, DescriptionSource, RepoId, RepoPath, RunId};
use magis_llm::{LanguageModel, ModelCard};
use magis_platform::now_ms;
use magis_prompts::{ChangeMessage, FileSummary, Template};
use magis_repo::Snapshot;
use magis_store::{Maker, NewSummary, Store};
use magis_syntax::skeleton_within;
use std::sync::Arc;

/// The most tokens of a file that is summarised whole; a longer one is summarised from its skeleton: a reading of ten seconds on two cores.
pub(crate) const WHOLE_FILE: u32 = 1_200;

/// A version of a file.
#[derive(Clone, Copy)]
pub(crate) struct FileVersion<'a> {
    pub repo: RepoId,
    pub path: &'a RepoPath,
    pub blob: &'a BlobId,
    pub text: &'a str,
}

impl Magis {
    /// Returns how a file of a snapshot is described, outside of any run: from memory as far as it reaches, and what is
    /// asked for is kept there.
    ///
    /// # Errors
    /// When the file cannot be read, or the model fails or gives no usable summary.
    pub async fn describe(
        &self,
        repo: RepoId,
        snapshot: &Snapshot,
        path: &RepoPath,
        model: Arc<dyn LanguageModel>,
    ) -> Result<Description, EngineError> {
        let text = snapshot.read(path)?.text;
        let blob = snapshot.blob(path)?;
        let file = FileVersion {
            repo,
            path,
            blob: &blob,
            text: &text,
        };
        let mut calls = memory_log::calls(&self.store, repo, model);
        describe(&mut calls, &self.store, snapshot, file)
            .await
            .map_err(|error| no_summary(path, error))
    }
}

pub(crate) fn no_summary(path: &RepoPath, error: AskError) -> EngineError {
    match error {
        AskError::Fatal(error) => error,
        AskError::Unusable(why) => EngineError::Summary {
            path: path.clone(),
            why,
        },
    }
}

/// Returns whether a version is described without asking this model anything.
pub(crate) fn is_ready(
    store: &Store,
    snapshot: &Snapshot,
    file: FileVersion<'_>,
    model_sha: &str,
) -> Result<bool, EngineError> {
    let found = decide(store, snapshot, file, model_sha)?;
    Ok(matches!(
        found,
        SummaryLookup::Itself | SummaryLookup::Stored(_) | SummaryLookup::Chained(_)
    ))
}

/// Returns what is to be done about a version, with this model.
fn decide(
    store: &Store,
    snapshot: &Snapshot,
    file: FileVersion<'_>,
    model_sha: &str,
) -> Result<SummaryLookup, EngineError> {
    let (p1, p2) = (Template::ChangeMessage.hash(), Template::FileSummary.hash());
    let maker = |template_hash| Maker {
        model_sha,
        template_hash,
    };
    look_up(
        store,
        &Wanted {
            repo: file.repo,
            path: file.path,
            blob: file.blob,
            text: file.text,
            summaries: maker(p2.as_str()),
            changes: maker(p1.as_str()),
            read: &|blob| Some(snapshot.read_blob(blob).ok()?.text),
            present: &|path| snapshot.blob(path).is_ok(),
        },
    )
}

/// Returns the description of a version; what was asked is kept.
pub(crate) async fn describe(
    calls: &mut ModelCalls,
    store: &Store,
    snapshot: &Snapshot,
    file: FileVersion<'_>,
) -> Result<Description, AskError> {
    let found = decide(store, snapshot, file, &calls.card().sha256)?;
    let described = |source, summary, from_skeleton| Description {
        path: file.path.clone(),
        blob: file.blob.clone(),
        source,
        summary,
        from_skeleton,
    };
    match found {
        SummaryLookup::Itself => Ok(described(DescriptionSource::Itself, file.text.trim().to_owned(), false)),
        SummaryLookup::Stored(summary) => Ok(described(
            DescriptionSource::Stored,
            summary.kept.text,
            summary.kept.from_skeleton,
        )),
        SummaryLookup::Chained(chain) => Ok(updated(file, chain)),
        SummaryLookup::SelfExplanatory(chain, words) => {
            keep_message(store, file, &chain, &words, None, calls.run())?;
            Ok(updated(file, chain.and(words)))
        }
        SummaryLookup::Ask(chain, diff) => {
            let prompt = ChangeMessage {
                path: file.path.to_string(),
                diff,
            };
            match calls
                .ask(
                    &CallContext::path(file.path),
                    SamplingMode::Greedy,
                    [PromptVariant::whole(prompt)],
                )
                .await
            {
                Ok(message) => {
                    keep_message(store, file, &chain, &message, Some(calls.card()), calls.run())?;
                    Ok(updated(file, chain.and(message)))
                }
                Err(AskError::Unusable(_)) => summarise(calls, store, file).await,
                Err(fatal) => Err(fatal),
            }
        }
        SummaryLookup::Anew => summarise(calls, store, file).await,
    }
}

/// P2, and what it says is kept.
async fn summarise(calls: &mut ModelCalls, store: &Store, file: FileVersion<'_>) -> Result<Description, AskError> {
    let summary = ask_summary(calls, file).await?;
    store.put_summary(&summary)?;
    Ok(Description {
        path: file.path.clone(),
        blob: file.blob.clone(),
        source: DescriptionSource::Fresh,
        summary: summary.text,
        from_skeleton: summary.from_skeleton,
    })
}

/// Words the first call that [`describe`] makes for a version; none where it asks nothing, or for less than a summary.
pub(crate) async fn plan(
    calls: &mut ModelCalls,
    store: &Store,
    snapshot: &Snapshot,
    file: FileVersion<'_>,
) -> Result<Option<PlannedCall>, AskError> {
    match decide(store, snapshot, file, &calls.card().sha256)? {
        SummaryLookup::Anew => {
            let variants = summary_variants(file.path, file.text, tokens(calls, file.text).await?);
            let about = CallContext::path(file.path);
            Ok(Some(calls.plan(&about, SamplingMode::Greedy, variants).await?))
        }
        SummaryLookup::Itself
        | SummaryLookup::Stored(_)
        | SummaryLookup::Chained(_)
        | SummaryLookup::SelfExplanatory(..)
        | SummaryLookup::Ask(..) => Ok(None),
    }
}

/// P2: the whole file where it is short, its skeleton where it is long.
pub(crate) async fn ask_summary(calls: &mut ModelCalls, file: FileVersion<'_>) -> Result<NewSummary, AskError> {
    let variants = summary_variants(file.path, file.text, tokens(calls, file.text).await?);
    let about = CallContext::path(file.path);
    let (asked, text) = calls.ask_fitting(&about, SamplingMode::Greedy, variants).await?;
    let tokens = tokens(calls, &text).await?;
    let card = calls.card();
    Ok(NewSummary {
        repo: file.repo,
        path: file.path.clone(),
        blob: file.blob.clone(),
        tokens,
        text,
        from_skeleton: asked.skeleton,
        file_bytes: u32::try_from(file.text.len()).unwrap_or(u32::MAX),
        model: card.name.clone(),
        model_sha: card.sha256.clone(),
        template_hash: Template::FileSummary.hash(),
        made_at: now_ms(),
        made_in: calls.run(),
    })
}

/// Returns the tokens of a text.
async fn tokens(calls: &ModelCalls, text: &str) -> Result<u32, AskError> {
    let counted = calls.count(&[text.to_owned()]).await?;
    Ok(counted.first().copied().unwrap_or(0))
}

/// P2 in the variants it can have: the file where it is short, then its skeleton, or its ends, within less and less.
fn summary_variants(path: &RepoPath, text: &str, tokens: u32) -> Vec<PromptVariant<FileSummary>> {
    let prompt = |text: String, skeleton| FileSummary {
        path: path.to_string(),
        text,
        skeleton,
    };
    let whole = (tokens <= WHOLE_FILE).then(|| PromptVariant::whole(prompt(text.to_owned(), false)));
    let budget = WHOLE_FILE as usize * CHARS_PER_TOKEN;
    let shorter = [budget, budget / 2, budget / 4].into_iter().map(|characters| {
        if let Some(skeleton) = skeleton_within(path, text, characters) {
            let left_out = format!(
                "{} of {} lines, as a skeleton",
                skeleton.kept_lines, skeleton.total_lines
            );
            return PromptVariant::less(prompt(skeleton.text, true), vec![left_out]);
        }
        let shorter = condense(text, characters).unwrap_or_else(|| text.to_owned());
        let left_out = format!("{} of {} characters", shorter.chars().count(), text.chars().count());
        PromptVariant::less(prompt(shorter, false), vec![left_out])
    });
    whole.into_iter().chain(shorter).collect()
}

impl Chain {
    fn and(mut self, message: String) -> Self {
        self.messages.push(message);
        self
    }
}

fn updated(file: FileVersion<'_>, chain: Chain) -> Description {
    let kept = chain.summary.kept;
    Description {
        path: file.path.clone(),
        blob: file.blob.clone(),
        source: DescriptionSource::Updated {
            from: kept.blob,
            message: chain.messages.join(" Then: "),
        },
        summary: kept.text,
        from_skeleton: kept.from_skeleton,
    }
}

/// Keeps a message; without a card it needed no model.
fn keep_message(
    store: &Store,
    file: FileVersion<'_>,
    chain: &Chain,
    message: &str,
    card: Option<&ModelCard>,
    run: Option<RunId>,
) -> Result<(), AskError> {
    let of = |part: fn(&ModelCard) -> &String| card.map(|card| part(card).clone()).unwrap_or_default();
    store.put_change_message(&magis_store::StoredChangeMessage {
        repo: file.repo,
        path: file.path.clone(),
        from: chain.end.clone(),
        to: file.blob.clone(),
        message: message.to_owned(),
        model: of(|card| &card.name),
        model_sha: of(|card| &card.sha256),
        template_hash: card.map(|_| Template::ChangeMessage.hash()).unwrap_or_default(),
        made_at: now_ms(),
        made_in: run,
    })?;
    Ok(())
}
