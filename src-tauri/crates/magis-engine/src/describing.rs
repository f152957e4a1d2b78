//! The description of a file from memory, and what has to be asked for it (algorithm 1, P1 and P2): one way for runs, for
//! a summary that a person wants anew, and for work ahead of any run.
//!
//! What is decided stands in `summary_lookup`; which files are described is for others to say.

use crate::calls::{AskError, PromptVariant, messages};
use crate::condense::condense;
use crate::relevance::{NameScoring, Question, UnconditionalScores};
use crate::summary_lookup::{Chain, SummaryLookup, Wanted, look_up};
use crate::workspace::CHARS_PER_TOKEN;
use crate::{EngineError, Magis};
use async_trait::async_trait;
use magis_core::{BlobId, Description, DescriptionSource, RepoId, RepoPath, RunId};
use magis_llm::{
    ChatRequest, Constraint, FinishReason, LanguageModel, LlmError, ModelCard, Sampling, Score, ScoreRequest,
};
use magis_platform::now_ms;
use magis_prompts::{ChangeMessage, FileSummary, Head, Prompt, RelevanceByName, SymbolByName, Template, render};
use magis_repo::Snapshot;
use magis_store::{Maker, MemoryWork, NewSummary, Store};
use magis_syntax::skeleton_within;

/// A file above so many tokens is summarised from its skeleton: a reading of ten seconds on two cores.
pub(crate) const WHOLE_FILE: u32 = 1_200;

/// Who asks the model, and under which run.
#[async_trait]
pub(crate) trait SummaryCalls: Send {
    /// The model.
    fn card(&self) -> ModelCard;
    /// The run, where there is one.
    fn run(&self) -> Option<RunId>;
    /// Tokens of a text.
    async fn tokens(&self, text: &str) -> Result<u32, LlmError>;
    /// P1.
    async fn change(&mut self, path: &RepoPath, prompt: ChangeMessage) -> Result<String, AskError>;
    /// P2, in the longest of these variants that fits; with the question as it was put.
    async fn summary(
        &mut self,
        path: &RepoPath,
        variants: Vec<PromptVariant<FileSummary>>,
    ) -> Result<(FileSummary, String), AskError>;
}

/// A version of a file.
#[derive(Clone, Copy)]
pub(crate) struct FileVersion<'a> {
    pub repo: RepoId,
    pub path: &'a RepoPath,
    pub blob: &'a BlobId,
    pub text: &'a str,
}

impl Magis {
    /// How a file of a snapshot is described, outside of any run: from memory as far as it reaches, and what is asked for
    /// is kept there.
    ///
    /// # Errors
    /// When the file cannot be read, or the model fails or gives no usable summary.
    pub async fn describe(
        &self,
        repo: RepoId,
        snapshot: &Snapshot,
        path: &RepoPath,
        model: &dyn LanguageModel,
    ) -> Result<Description, EngineError> {
        let text = snapshot.read(path)?.text;
        let blob = snapshot.blob(path)?;
        let file = FileVersion {
            repo,
            path,
            blob: &blob,
            text: &text,
        };
        let mut asking = self.outside(repo, model);
        describe(&mut asking, &self.store, snapshot, file)
            .await
            .map_err(|error| no_summary(path, error))
    }

    pub(crate) fn outside<'a>(&self, repo: RepoId, model: &'a dyn LanguageModel) -> OutsideRuns<'a> {
        OutsideRuns::new(repo, self.store.clone(), model)
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

/// Whether a version is described without asking this model anything.
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

/// What is to be done about a version, with this model.
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

/// The description of a version; what was asked is kept.
pub(crate) async fn describe(
    asking: &mut dyn SummaryCalls,
    store: &Store,
    snapshot: &Snapshot,
    file: FileVersion<'_>,
) -> Result<Description, AskError> {
    let found = decide(store, snapshot, file, &asking.card().sha256)?;
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
            keep_message(store, file, &chain, &words, None, asking.run())?;
            Ok(updated(file, chain.and(words)))
        }
        SummaryLookup::Ask(chain, diff) => {
            let prompt = ChangeMessage {
                path: file.path.to_string(),
                diff,
            };
            match asking.change(file.path, prompt).await {
                Ok(message) => {
                    keep_message(store, file, &chain, &message, Some(&asking.card()), asking.run())?;
                    Ok(updated(file, chain.and(message)))
                }
                Err(AskError::Unusable(_)) => summarise(asking, store, file).await,
                Err(fatal) => Err(fatal),
            }
        }
        SummaryLookup::Anew => summarise(asking, store, file).await,
    }
}

/// P2, and what it says is kept.
async fn summarise(
    asking: &mut dyn SummaryCalls,
    store: &Store,
    file: FileVersion<'_>,
) -> Result<Description, AskError> {
    let summary = ask_summary(asking, file).await?;
    store.put_summary(&summary)?;
    Ok(Description {
        path: file.path.clone(),
        blob: file.blob.clone(),
        source: DescriptionSource::Fresh,
        summary: summary.text,
        from_skeleton: summary.from_skeleton,
    })
}

/// P2: the whole file where it is short, its skeleton where it is long.
pub(crate) async fn ask_summary(asking: &mut dyn SummaryCalls, file: FileVersion<'_>) -> Result<NewSummary, AskError> {
    let tokens = asking.tokens(file.text).await?;
    let variants = summary_variants(file.path, file.text, tokens);
    let (asked, text) = asking.summary(file.path, variants).await?;
    let card = asking.card();
    Ok(NewSummary {
        repo: file.repo,
        path: file.path.clone(),
        blob: file.blob.clone(),
        tokens: asking.tokens(&text).await?,
        text,
        from_skeleton: asked.skeleton,
        file_bytes: u32::try_from(file.text.len()).unwrap_or(u32::MAX),
        model: card.name,
        model_sha: card.sha256,
        template_hash: Template::FileSummary.hash(),
        made_at: now_ms(),
        made_in: asking.run(),
    })
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
    store.put_change_message(&magis_store::ChangeMessage {
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

/// Asks without a run; what it costs is recorded with the memory.
pub(crate) struct OutsideRuns<'a> {
    model: &'a dyn LanguageModel,
    store: Store,
    repo: RepoId,
    /// Tokens worked through so far.
    spent: u64,
}

impl<'a> OutsideRuns<'a> {
    pub fn new(repo: RepoId, store: Store, model: &'a dyn LanguageModel) -> Self {
        Self {
            model,
            store,
            repo,
            spent: 0,
        }
    }

    /// Tokens worked through so far: those of prompts, as far as they were not there already, and those of answers.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// The log-probability of each continuation.
    async fn score<P: Prompt + Sync>(&self, prompt: &P, continuations: &[String]) -> Result<Vec<Score>, AskError> {
        let rendered = render(prompt)?;
        let request = ScoreRequest {
            messages: messages(&rendered),
            answer_prefix: rendered.answer,
            continuations: continuations.to_vec(),
        };
        match self.model.score(&request).await {
            Ok(reply) => Ok(reply.scores),
            Err(error @ LlmError::OverContext { .. }) => Err(AskError::Unusable(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    /// Asks in the longest of `variants` that fits. What a variant leaves out has no run to be noted in; whether it was a
    /// skeleton is kept with the summary.
    async fn ask<P>(&mut self, path: &RepoPath, variants: Vec<PromptVariant<P>>) -> Result<(P, String), AskError>
    where
        P: Prompt<Reply = String> + Send + Sync,
    {
        for PromptVariant { prompt, .. } in variants {
            let rendered = render(&prompt)?;
            let messages = messages(&rendered);
            let tokens = self.model.count_prompt(&messages, &rendered.answer).await?;
            if tokens + prompt.max_tokens() > self.model.card().context {
                continue;
            }
            let request = ChatRequest {
                messages,
                answer_prefix: rendered.answer,
                constraint: Constraint::None,
                sampling: Sampling::Greedy,
                max_tokens: prompt.max_tokens(),
                stop: prompt.stop(),
            };
            let reply = self.model.chat(&request, &mut |_| ()).await?;
            self.spent += u64::from(reply.usage.prompt_tokens) + u64::from(reply.usage.generated_tokens);
            self.store.record_memory_work(&MemoryWork {
                repo: self.repo,
                path: path.clone(),
                step: prompt.template().name().to_owned(),
                prompt_tokens: reply.usage.prompt_tokens,
                reused_tokens: reply.usage.reused_tokens,
                generated_tokens: reply.usage.generated_tokens,
                at_ms: now_ms(),
            })?;
            if reply.finish == FinishReason::Looping {
                return Err(AskError::Unusable("the answer repeats itself".to_owned()));
            }
            let read = prompt.read(&reply.text);
            let read = read.map_err(|error| AskError::Unusable(error.to_string()))?;
            return Ok((prompt, read));
        }
        Err(AskError::Unusable(
            "the model's context is too small for it, also at its shortest".to_owned(),
        ))
    }
}

#[async_trait]
impl NameScoring for OutsideRuns<'_> {
    async fn score_names(&mut self, question: Question, head: &Head, names: &[String]) -> Result<Vec<Score>, AskError> {
        let head = head.clone();
        match question {
            Question::File => self.score(&RelevanceByName { head }, names).await,
            Question::Symbol => self.score(&SymbolByName { head }, names).await,
        }
    }

    fn memory(&self) -> UnconditionalScores {
        UnconditionalScores::new(&self.store, self.repo, self.model.card())
    }
}

#[async_trait]
impl SummaryCalls for OutsideRuns<'_> {
    fn card(&self) -> ModelCard {
        self.model.card().clone()
    }

    fn run(&self) -> Option<RunId> {
        None
    }

    async fn tokens(&self, text: &str) -> Result<u32, LlmError> {
        let counted = self.model.count_tokens(&[text.to_owned()]).await?;
        Ok(counted.first().copied().unwrap_or(0))
    }

    async fn change(&mut self, path: &RepoPath, prompt: ChangeMessage) -> Result<String, AskError> {
        Ok(self.ask(path, vec![PromptVariant::whole(prompt)]).await?.1)
    }

    async fn summary(
        &mut self,
        path: &RepoPath,
        variants: Vec<PromptVariant<FileSummary>>,
    ) -> Result<(FileSummary, String), AskError> {
        self.ask(path, variants).await
    }
}
