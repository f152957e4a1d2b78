//! The model-call client: asks and scores, in a run and outside of any.

mod ahead;

pub(crate) use ahead::{FillInMode, PlannedCall};

use super::log::{CallLog, Recording};
use super::prompt::{CallContext, PromptVariant, SamplingMode};
use crate::progress::begun_in_sight;
use crate::{EngineError, Progress};
use magis_core::{Notice, RunId};
use magis_llm::{
    ChatReply, ChatRequest, Constraint, FinishReason, LanguageModel, LlmError, Message, MessageRole, ModelCard,
    Sampling, Score, ScoreReply, ScoreRequest, TokenEdit, TokenEditReply, TokenEditRequest, Usage,
};
use magis_platform::{hex, now_ms};
use magis_prompts::{AnswerShape, Prompt, Rendered, Template, render};
use magis_store::{CallKind, CallRecord};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;
use tracing::{Instrument as _, info, info_span};

/// The temperature of retries and of further candidates.
const VARIED: f32 = 0.8;

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

/// The model-call client of one run, or of work outside of any run.
///
/// A call whose reply the log has on record is not made again. A reply that cannot be read is asked for again as often as
/// `retries` says, at temperature 0.8 with another seed.
pub(crate) struct ModelCalls {
    model: Arc<dyn LanguageModel>,
    log: Box<dyn CallLog>,
    seed: u64,
    retries: u32,
    /// The number of the run's last event; 0 outside of runs.
    pub after_seq: u32,
    /// What happened on the way that a person should know; taken by the driver with the step's event.
    pub notices: Vec<Notice>,
    /// Tokens worked through by calls that were made: those of prompts, as far as they were not there already, and those of
    /// answers.
    spent: u64,
}

impl ModelCalls {
    /// Makes the client of a run, whose calls derive their seeds from `seed`.
    pub fn of_run(model: Arc<dyn LanguageModel>, log: Box<dyn CallLog>, seed: u64) -> Self {
        Self {
            retries: 1,
            ..Self::outside_runs(model, log, seed)
        }
    }

    /// Makes the client of work outside of runs, which asks for nothing again: the work is taken up again later.
    pub fn outside_runs(model: Arc<dyn LanguageModel>, log: Box<dyn CallLog>, seed: u64) -> Self {
        Self {
            model,
            log,
            seed,
            retries: 0,
            after_seq: 0,
            notices: Vec::new(),
            spent: 0,
        }
    }

    /// Returns the run that the calls belong to.
    pub fn run(&self) -> Option<RunId> {
        self.log.run()
    }

    /// Returns what the model is.
    pub fn card(&self) -> &ModelCard {
        self.model.card()
    }

    /// Returns the tokens worked through so far.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// Returns the context of the model, in tokens.
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

    /// Returns tokens of each text.
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
    pub async fn ask_fitting<P: Prompt>(
        &mut self,
        about: &CallContext,
        mode: SamplingMode,
        variants: impl IntoIterator<Item = PromptVariant<P>>,
    ) -> Result<(P, P::Reply), AskError> {
        let (prompt, rendered, left_out) = self.fit(about, variants).await?;
        let template = prompt.template();
        let mut why = String::new();
        for attempt in 0..=self.retries {
            let request = self.chat_request(&prompt, &rendered, mode, attempt);
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
            if attempt < self.retries {
                self.notices.push(Notice::Retried {
                    step: template.to_string(),
                    why: why.clone(),
                });
            }
        }
        Err(AskError::Unusable(why))
    }

    /// Returns the log-probability of each continuation after the longest of `variants` that fits.
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
            by_line: false,
        };
        let reply = self.scores(about, prompt.template(), &request, &left_out).await?;
        Ok(reply.scores)
    }

    /// Returns how likely each line of a text is behind a prompt, as the logarithm of its probability.
    pub async fn score_lines<P: Prompt>(
        &mut self,
        about: &CallContext,
        variants: impl IntoIterator<Item = PromptVariant<P>>,
        text: &str,
    ) -> Result<Vec<f64>, AskError> {
        let (prompt, rendered, left_out) = self.fit(about, variants).await?;
        let request = ScoreRequest {
            messages: messages(&rendered),
            answer_prefix: rendered.answer.clone(),
            continuations: vec![text.to_owned()],
            by_line: true,
        };
        let mut reply = self.scores(about, prompt.template(), &request, &left_out).await?;
        Ok(reply.lines.pop().unwrap_or_default())
    }

    /// Returns the edits at one token that a text would be likelier with, read behind a prompt; behind `written` of the best other tokens the model goes on.
    pub async fn token_edits<P: Prompt>(
        &mut self,
        about: &CallContext,
        prompt: &P,
        text: &str,
        most: u32,
        written: u32,
    ) -> Result<Vec<TokenEdit>, AskError> {
        let rendered = render(prompt)?;
        let request = TokenEditRequest {
            before: format!("{}\n", rendered.user),
            after: rendered.answer,
            text: text.to_owned(),
            most,
            written,
        };
        self.started(about, prompt.template());
        let record = Recording {
            about,
            template: prompt.template(),
            kind: CallKind::Score,
            left_out: &[],
            retries: 0,
        };
        if let Some(reply) = self.recorded::<TokenEditReply>(&request, &record)? {
            self.ended(reply.usage, true);
            return Ok(reply.edits);
        }
        let span = info_span!("call", step = prompt.template().name());
        let reply = match self.model.token_edits(&request).instrument(span).await {
            Err(error @ LlmError::OverContext { .. }) => return Err(AskError::Unusable(error.to_string())),
            reply => reply?,
        };
        self.record(&request, &reply, "complete", reply.usage, &record)?;
        Ok(reply.edits)
    }

    /// Returns a yes/no question: log P(first) − log P(second).
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
        let mut begun = begun_in_sight(&request.answer_prefix);
        let log = &self.log;
        let mut sink = move |text: &str| {
            let delta = format!("{}{text}", std::mem::take(&mut begun));
            log.follow(Progress::Text { delta });
        };
        let span = info_span!("call", step = template.name());
        let reply = match self.model.chat(request, &mut sink).instrument(span).await {
            Err(error @ LlmError::WrongForm { .. }) => return Err(AskError::Unusable(error.to_string())),
            reply => reply?,
        };
        self.record(request, &reply, finish_word(reply.finish), reply.usage, &record)?;
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
        let span = info_span!("call", step = template.name());
        let reply = match self.model.score(request).instrument(span).await {
            Err(error @ (LlmError::OverContext { .. } | LlmError::WrongForm { .. })) => {
                return Err(AskError::Unusable(error.to_string()));
            }
            // Another engine may not tell lines apart.
            Err(error @ LlmError::BadRequest { .. }) if request.by_line => {
                return Err(AskError::Unusable(error.to_string()));
            }
            reply => reply?,
        };
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
        let reply = self.log.find(&self.key(request, record))?;
        Ok(reply.and_then(|reply| serde_json::from_value(reply).ok()))
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
        self.log.record(CallRecord {
            key: self.key(request, record),
            after_seq: self.after_seq,
            agent: record.template.agent(),
            step: record.template.name().to_owned(),
            template_hash: record.template.hash(),
            task: record.about.task,
            round: record.about.round,
            attempt: record.about.attempt,
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
        })?;
        self.spent += u64::from(usage.prompt_tokens) + u64::from(usage.generated_tokens);
        info!(
            step = record.template.name(),
            finish,
            retries = record.retries,
            computed = usage.prompt_tokens,
            reused = usage.reused_tokens,
            written = usage.generated_tokens,
            ms = usage.prompt_ms + usage.generate_ms,
            "call"
        );
        for why in self.model.take_restarts() {
            self.notices.push(Notice::WorkerRestarted { why });
        }
        self.ended(usage, false);
        Ok(())
    }

    fn started(&self, about: &CallContext, template: Template) {
        self.log.follow(Progress::CallStarted {
            stage: template.stage(),
            agent: template.agent(),
            step: template.name(),
            task: about.task,
            path: about.path.as_ref().map(ToString::to_string),
        });
    }

    fn ended(&self, usage: Usage, recorded: bool) {
        self.log.follow(Progress::CallEnded {
            prompt_tokens: usage.prompt_tokens,
            reused_tokens: usage.reused_tokens,
            generated_tokens: usage.generated_tokens,
            prompt_ms: usage.prompt_ms,
            generate_ms: usage.generate_ms,
            recorded,
        });
    }
}

fn finish_word(finish: FinishReason) -> &'static str {
    match finish {
        FinishReason::Complete => "complete",
        FinishReason::Length => "length",
        FinishReason::Looping => "looping",
    }
}

fn messages(rendered: &Rendered) -> Vec<Message> {
    vec![
        Message::new(MessageRole::System, rendered.system.clone()),
        Message::new(MessageRole::User, rendered.user.clone()),
    ]
}

fn constraint(shape: AnswerShape) -> Constraint {
    match shape {
        AnswerShape::Text | AnswerShape::Scored => Constraint::None,
        AnswerShape::LineRanges { first, last, most } => Constraint::LineRanges { first, last, most },
        AnswerShape::Json(schema) => Constraint::JsonSchema(schema),
    }
}

fn hash(value: &Value) -> String {
    hex::encode(Sha256::digest(value.to_string().as_bytes()))
}
