//! Makes every model call: renders, fits to the context, asks once, records, reads.
//!
//! A call whose reply the run has on record is not made again: that is what resuming rests on. A reply that cannot be
//! read is asked for once more at temperature 0.8 with another seed. Nothing here decides what to ask.

use crate::describing::SummaryCalls;
use crate::progress::begun_in_sight;
use crate::relevance::ConditionalScore;
use crate::{EngineError, Progress};
use async_trait::async_trait;
use magis_core::{CandidateNumber, Notice, RepoId, RepoPath, Round, RunId, Stage, TaskId};
use magis_llm::{
    ChatReply, ChatRequest, Constraint, FinishReason, LanguageModel, LlmError, Message, MessageRole, ModelCard,
    Sampling, Score, ScoreReply, ScoreRequest, Usage,
};
use magis_platform::hex;
use magis_platform::now_ms;
use magis_prompts::{ChangeMessage, FileSummary, Prompt, Rendered, Shape, Template, render};
use magis_store::{CallKind, CallRecord, Store};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// The temperature of retries and of further candidates.
const VARIED: f32 = 0.8;

/// The model-call client of one run.
pub(crate) struct ModelCalls {
    pub model: Arc<dyn LanguageModel>,
    pub store: Store,
    pub run: RunId,
    pub repo: RepoId,
    pub seed: u64,
    pub after_seq: u32,
    pub progress: UnboundedSender<Progress>,
    /// What happened on the way that a person should know; taken by the driver with the step's event.
    pub notices: Vec<Notice>,
}

/// The context of a call: what it is about, for the record and for whoever watches.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallContext {
    pub task: Option<TaskId>,
    pub round: Option<Round>,
    pub candidate: Option<CandidateNumber>,
    pub path: Option<RepoPath>,
}

/// A variant of a prompt; a list of them begins with the longest.
pub(crate) struct PromptVariant<P> {
    pub prompt: P,
    /// What was shortened or left out in it, a sentence each.
    pub left_out: Vec<String>,
}

/// How the first answer is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SamplingMode {
    /// The likeliest.
    Greedy,
    /// At temperature 0.8, with a seed of its own derived from this number.
    Varied(u64),
}

/// Why a step gave nothing.
#[derive(Debug)]
pub(crate) enum AskError {
    /// The model's answers cannot be used; the step is replaced or fails, the run goes on.
    Unusable(String),
    /// The run cannot go on.
    Fatal(EngineError),
}

impl<E: Into<EngineError>> From<E> for AskError {
    fn from(error: E) -> Self {
        Self::Fatal(error.into())
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unusable(why) => f.write_str(why),
            Self::Fatal(error) => error.fmt(f),
        }
    }
}

impl<P> PromptVariant<P> {
    /// The prompt as it should be.
    pub fn whole(prompt: P) -> Self {
        Self {
            prompt,
            left_out: Vec::new(),
        }
    }

    /// The prompt with something left out.
    pub fn less(prompt: P, left_out: Vec<String>) -> Self {
        Self { prompt, left_out }
    }
}

impl CallContext {
    pub fn path(path: &RepoPath) -> Self {
        Self {
            path: Some(path.clone()),
            ..Self::default()
        }
    }

    pub fn task(task: TaskId, path: &RepoPath) -> Self {
        Self {
            task: Some(task),
            path: Some(path.clone()),
            ..Self::default()
        }
    }

    #[must_use]
    pub fn round(self, round: Round) -> Self {
        Self {
            round: Some(round),
            ..self
        }
    }

    #[must_use]
    pub fn candidate(self, candidate: CandidateNumber) -> Self {
        Self {
            candidate: Some(candidate),
            ..self
        }
    }
}

impl ModelCalls {
    /// The context of the model, in tokens.
    pub fn context(&self) -> u32 {
        self.model.card().context
    }

    /// Notes that a step gave nothing usable, why, and what was taken instead.
    pub fn replaced(&mut self, step: Template, why: String, instead: impl Into<String>) {
        self.notices.push(Notice::Replaced {
            step: step.to_string(),
            why,
            instead: instead.into(),
        });
    }

    /// Tokens of each text.
    pub async fn count(&self, texts: &[String]) -> Result<Vec<u32>, LlmError> {
        self.model.count_tokens(texts).await
    }

    /// Asks in the longest of `variants` that fits and reads the answer; one retry where it cannot be read.
    pub async fn ask<P: Prompt>(
        &mut self,
        about: &CallContext,
        mode: SamplingMode,
        variants: impl IntoIterator<Item = PromptVariant<P>>,
    ) -> Result<P::Reply, AskError> {
        Ok(self.ask_fitting(about, mode, variants).await?.1)
    }

    /// As [`ModelCalls::ask`], with the variant that fitted.
    async fn ask_fitting<P: Prompt>(
        &mut self,
        about: &CallContext,
        mode: SamplingMode,
        variants: impl IntoIterator<Item = PromptVariant<P>>,
    ) -> Result<(P, P::Reply), AskError> {
        let (prompt, rendered, left_out) = self.fit(about, variants).await?;
        let template = prompt.template();
        let mut why = String::new();
        for attempt in 0..2_u32 {
            let request = ChatRequest {
                messages: messages(&rendered),
                answer_prefix: rendered.answer.clone(),
                constraint: constraint(prompt.shape()),
                sampling: self.sampling(&rendered, mode, attempt),
                max_tokens: prompt.max_tokens(),
                stop: prompt.stop(),
            };
            let reply = self.chat(about, template, &request, &left_out, attempt).await?;
            let read = match reply.finish {
                FinishReason::Looping => Err("the answer repeats itself".to_owned()),
                FinishReason::Complete | FinishReason::Length => {
                    prompt.read(&reply.text).map_err(|error| error.to_string())
                }
            };
            match read {
                Ok(reply) => return Ok((prompt, reply)),
                Err(error) => why = error,
            }
            if attempt == 0 {
                self.notices.push(Notice::Retried {
                    step: template.to_string(),
                    why: why.clone(),
                });
            }
        }
        Err(AskError::Unusable(why))
    }

    /// The log-probability of each continuation after the longest of `variants` that fits.
    pub async fn score<P: Prompt>(
        &mut self,
        about: &CallContext,
        variants: impl IntoIterator<Item = PromptVariant<P>>,
        continuations: &[String],
    ) -> Result<Vec<Score>, AskError> {
        let (prompt, rendered, left_out) = self.fit(about, variants).await?;
        let request = ScoreRequest {
            messages: messages(&rendered),
            answer_prefix: rendered.answer.clone(),
            continuations: continuations.to_vec(),
        };
        let reply = self.scores(about, prompt.template(), &request, &left_out).await?;
        Ok(reply.scores)
    }

    /// Conditional log-likelihood: log P(continuation | asked) − log P(continuation | asked without the issue).
    pub async fn conditional<P: Prompt>(
        &mut self,
        about: &CallContext,
        asked: impl IntoIterator<Item = PromptVariant<P>>,
        unconditional: P,
        continuations: &[String],
    ) -> Result<Vec<ConditionalScore>, AskError> {
        let with = self.score(about, asked, continuations).await?;
        let without = self
            .score(about, [PromptVariant::whole(unconditional)], continuations)
            .await?;
        Ok(ConditionalScore::each(&with, &without))
    }

    /// A yes/no question: log P(first) − log P(second).
    pub async fn weigh<P: Prompt>(
        &mut self,
        about: &CallContext,
        variants: impl IntoIterator<Item = PromptVariant<P>>,
        [first, second]: [&str; 2],
    ) -> Result<f64, AskError> {
        let scores = self
            .score(about, variants, &[first.to_owned(), second.to_owned()])
            .await?;
        match scores.as_slice() {
            [first, second] => Ok(first.logprob - second.logprob),
            _ => Err(AskError::Unusable(
                "the model scored another number of answers than was asked for".to_owned(),
            )),
        }
    }

    async fn fit<P: Prompt>(
        &mut self,
        about: &CallContext,
        variants: impl IntoIterator<Item = PromptVariant<P>>,
    ) -> Result<(P, Rendered, Vec<String>), AskError> {
        let context = self.context();
        let mut smallest = None;
        let mut largest = None;
        for PromptVariant { prompt, left_out } in variants {
            let rendered = render(&prompt)?;
            let tokens = self.model.count_prompt(&messages(&rendered), &rendered.answer).await?;
            largest.get_or_insert(tokens);
            if tokens + prompt.max_tokens() <= context {
                if let (Some(before), false) = (largest, left_out.is_empty()) {
                    let what = left_out.join("; ");
                    let path = about.path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
                    self.notices.push(Notice::Shortened {
                        step: prompt.template().to_string(),
                        what: format!("{path}{what}"),
                        tokens_before: before,
                        tokens_after: tokens,
                    });
                }
                return Ok((prompt, rendered, left_out));
            }
            smallest = Some((prompt.template(), tokens, prompt.max_tokens()));
        }
        let (template, prompt, answer) =
            smallest.ok_or_else(|| AskError::Unusable("there is nothing to ask about".to_owned()))?;
        let over = EngineError::OverBudget {
            step: template.to_string(),
            prompt,
            answer,
            context,
        };
        Err(AskError::Unusable(over.to_string()))
    }

    fn sampling(&self, rendered: &Rendered, mode: SamplingMode, attempt: u32) -> Sampling {
        let salt = match (mode, attempt) {
            (SamplingMode::Greedy, 0) => return Sampling::Greedy,
            (SamplingMode::Greedy, _) => 0,
            (SamplingMode::Varied(salt), _) => salt,
        };
        let hash = hash(&json!([self.seed, rendered, salt, attempt]));
        let seed = u64::from_str_radix(&hash[..15], 16).unwrap_or(self.seed);
        Sampling::Temperature {
            temperature: VARIED,
            seed,
        }
    }

    async fn chat(
        &mut self,
        about: &CallContext,
        template: Template,
        request: &ChatRequest,
        left_out: &[String],
        retries: u32,
    ) -> Result<ChatReply, AskError> {
        self.started(about, template);
        let record = Recording {
            about,
            template,
            kind: CallKind::Chat,
            left_out,
            retries,
        };
        if let Some(reply) = self.recorded::<ChatReply>(request, &record)? {
            self.ended(reply.usage, true);
            return Ok(reply);
        }
        let progress = self.progress.clone();
        let mut begun = begun_in_sight(&request.answer_prefix);
        let mut sink = move |text: &str| {
            let delta = format!("{}{text}", std::mem::take(&mut begun));
            drop(progress.send(Progress::Text { delta }));
        };
        let reply = self.model.chat(request, &mut sink).await?;
        let finish = match reply.finish {
            FinishReason::Complete => "complete",
            FinishReason::Length => "length",
            FinishReason::Looping => "looping",
        };
        self.record(request, &reply, finish, reply.usage, &record)?;
        Ok(reply)
    }

    async fn scores(
        &mut self,
        about: &CallContext,
        template: Template,
        request: &ScoreRequest,
        left_out: &[String],
    ) -> Result<ScoreReply, AskError> {
        self.started(about, template);
        let record = Recording {
            about,
            template,
            kind: CallKind::Score,
            left_out,
            retries: 0,
        };
        if let Some(reply) = self.recorded::<ScoreReply>(request, &record)? {
            self.ended(reply.usage, true);
            return Ok(reply);
        }
        let reply = self.model.score(request).await?;
        self.record(request, &reply, "complete", reply.usage, &record)?;
        Ok(reply)
    }

    fn key(&self, request: &impl Serialize, record: &Recording<'_>) -> String {
        hash(&json!([self.model.card().sha256, record.template.hash(), request]))
    }

    fn recorded<R: DeserializeOwned>(
        &self,
        request: &impl Serialize,
        record: &Recording<'_>,
    ) -> Result<Option<R>, AskError> {
        let call = self.store.find_call(self.run, &self.key(request, record))?;
        Ok(call.and_then(|call| serde_json::from_value(call.record.reply).ok()))
    }

    fn record(
        &mut self,
        request: &impl Serialize,
        reply: &impl Serialize,
        finish: &str,
        usage: Usage,
        record: &Recording<'_>,
    ) -> Result<(), AskError> {
        let request_json = serde_json::to_value(request).unwrap_or(Value::Null);
        let milliseconds = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let card = self.model.card();
        self.store.record_call(
            self.run,
            &CallRecord {
                key: self.key(request, record),
                after_seq: self.after_seq,
                agent: record.template.agent(),
                step: record.template.name().to_owned(),
                template_hash: record.template.hash(),
                task: record.about.task,
                round: record.about.round,
                candidate: record.about.candidate,
                path: record.about.path.clone(),
                model: card.name.clone(),
                model_sha: card.sha256.clone(),
                seed: request_json["sampling"]["seed"].as_u64().unwrap_or(self.seed),
                kind: record.kind,
                request: request_json,
                reply: serde_json::to_value(reply).unwrap_or(Value::Null),
                finish: finish.to_owned(),
                prompt_tokens: usage.prompt_tokens,
                reused_tokens: usage.reused_tokens,
                generated_tokens: usage.generated_tokens,
                prompt_ms: milliseconds(usage.prompt_ms),
                generate_ms: milliseconds(usage.generate_ms),
                left_out: json!(record.left_out),
                retries: record.retries,
                at_ms: now_ms(),
            },
        )?;
        for why in self.model.take_restarts() {
            self.notices.push(Notice::WorkerRestarted { why });
        }
        self.ended(usage, false);
        Ok(())
    }

    fn started(&self, about: &CallContext, template: Template) {
        drop(self.progress.send(Progress::CallStarted {
            stage: stage(template),
            agent: template.agent(),
            step: template.name(),
            task: about.task,
            path: about.path.as_ref().map(ToString::to_string),
        }));
    }

    fn ended(&self, usage: Usage, recorded: bool) {
        drop(self.progress.send(Progress::CallEnded {
            prompt_tokens: usage.prompt_tokens,
            reused_tokens: usage.reused_tokens,
            generated_tokens: usage.generated_tokens,
            prompt_ms: usage.prompt_ms,
            generate_ms: usage.generate_ms,
            recorded,
        }));
    }
}

#[async_trait]
impl SummaryCalls for ModelCalls {
    fn card(&self) -> ModelCard {
        self.model.card().clone()
    }

    fn run(&self) -> Option<RunId> {
        Some(self.run)
    }

    async fn tokens(&self, text: &str) -> Result<u32, LlmError> {
        let counted = self.count(&[text.to_owned()]).await?;
        Ok(counted.first().copied().unwrap_or(0))
    }

    async fn change(&mut self, path: &RepoPath, prompt: ChangeMessage) -> Result<String, AskError> {
        self.ask(
            &CallContext::path(path),
            SamplingMode::Greedy,
            [PromptVariant::whole(prompt)],
        )
        .await
    }

    async fn summary(
        &mut self,
        path: &RepoPath,
        variants: Vec<PromptVariant<FileSummary>>,
    ) -> Result<(FileSummary, String), AskError> {
        self.ask_fitting(&CallContext::path(path), SamplingMode::Greedy, variants)
            .await
    }
}

struct Recording<'a> {
    about: &'a CallContext,
    template: Template,
    kind: CallKind,
    left_out: &'a [String],
    retries: u32,
}

pub(crate) fn messages(rendered: &Rendered) -> Vec<Message> {
    vec![
        Message {
            role: MessageRole::System,
            content: rendered.system.clone(),
        },
        Message {
            role: MessageRole::User,
            content: rendered.user.clone(),
        },
    ]
}

fn constraint(shape: Shape) -> Constraint {
    match shape {
        Shape::Text | Shape::Scored => Constraint::None,
        Shape::LineRanges { first, last, most } => Constraint::LineRanges { first, last, most },
        Shape::Json(schema) => Constraint::JsonSchema(schema),
    }
}

/// The stage whose work the calls of a step are; none for a step of another version.
pub fn stage_of_step(step: &str) -> Option<Stage> {
    let template = Template::ALL.iter().find(|template| template.name() == step);
    template.copied().map(stage)
}

fn stage(template: Template) -> Stage {
    match template {
        Template::ChangeMessage
        | Template::FileSummary
        | Template::RelevanceByName
        | Template::SymbolByName
        | Template::RelevanceByCode
        | Template::RelevanceByDescription => Stage::Locate,
        Template::Task | Template::DeveloperRole => Stage::Team,
        Template::MeetingOpen | Template::MeetingSpeak | Template::MeetingSumUp | Template::RevisedRole => {
            Stage::Meeting
        }
        Template::Plan => Stage::Plan,
        Template::ReviewerRole
        | Template::CodeByName
        | Template::Lines
        | Template::Fault
        | Template::Code
        | Template::NewFile
        | Template::ReviewComment
        | Template::ReviewDecision => Stage::Code,
        Template::CommitSubject => Stage::Merge,
    }
}

fn hash(value: &Value) -> String {
    hex::encode(Sha256::digest(value.to_string().as_bytes()))
}
