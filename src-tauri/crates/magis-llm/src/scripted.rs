//! A model that answers from a script, for tests of everything above the engine.
//!
//! It is deterministic: without a rule it gives the first valid answer of a constraint, and scores from a hash. It
//! keeps every request for inspection. It does not imitate a language model's time or its mistakes, unless told to.

use crate::{
    ChatReply, ChatRequest, Constraint, FinishReason, LanguageModel, LlmError, Message, MessageRole, ModelCard, Score,
    ScoreReply, ScoreRequest, TokenSink, Usage,
};
use async_trait::async_trait;
use serde_json::{Map, Value, json};
use std::future::pending;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A [`LanguageModel`] that answers from rules. The first rule that applies answers.
pub struct ScriptedModel {
    card: ModelCard,
    rules: Vec<Rule>,
    scorers: Vec<Scorer>,
    failures: Vec<(u32, LlmError)>,
    generate_ms: u64,
    record: Mutex<Record>,
}

/// What a rule answers.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptedReply {
    /// This text; stop texts and `max_tokens` apply to it as to a model's.
    Text(String),
    /// This text, cut off as if it had come again and again.
    Looping(String),
    Fail(LlmError),
    /// The call never ends: it waits until it is dropped.
    Hang,
    /// This text comes, and then the call never ends.
    HangAfter(String),
}

impl From<&str> for ScriptedReply {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for ScriptedReply {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl ScriptedModel {
    /// Creates a model without rules, with a context of 8192 tokens.
    pub fn new(name: &str) -> Self {
        Self {
            card: ModelCard {
                name: name.to_owned(),
                sha256: format!("{:016x}", hash(&[name])).repeat(4),
                context: 8192,
                threads: 1,
            },
            rules: Vec::new(),
            scorers: Vec::new(),
            failures: Vec::new(),
            generate_ms: 0,
            record: Mutex::default(),
        }
    }

    /// Sets the context, in tokens.
    #[must_use]
    pub fn with_context(mut self, tokens: u32) -> Self {
        self.card.context = tokens;
        self
    }

    /// Says of each call that it took this long, in milliseconds; it answers at once all the same.
    #[must_use]
    pub fn with_time(mut self, generate_ms: u64) -> Self {
        self.generate_ms = generate_ms;
        self
    }

    /// Answers so when `part` stands in the last user's message.
    #[must_use]
    pub fn when(self, part: &str, reply: impl Into<ScriptedReply>) -> Self {
        self.when_in_turn(part, [reply])
    }

    /// Answers with these in turn when `part` stands in the last user's message; the last one stays. None: never.
    #[must_use]
    pub fn when_in_turn<R: Into<ScriptedReply>>(self, part: &str, replies: impl IntoIterator<Item = R>) -> Self {
        let part = part.to_owned();
        let replies: Vec<ScriptedReply> = replies.into_iter().map(Into::into).collect();
        let turn = Mutex::new(0_usize);
        self.answer(move |request| {
            if !last_user(&request.messages).contains(&part) {
                return None;
            }
            let mut turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            let reply = replies.get(*turn).or(replies.last()).cloned();
            *turn += 1;
            reply
        })
    }

    /// Answers so when `part` stands in the answer begun for the model.
    #[must_use]
    pub fn when_prefixed(self, part: &str, reply: impl Into<ScriptedReply>) -> Self {
        let (part, reply) = (part.to_owned(), reply.into());
        self.answer(move |request| request.answer_prefix.contains(&part).then(|| reply.clone()))
    }

    /// Answers what `rule` gives, where it gives something.
    #[must_use]
    pub fn answer(mut self, rule: impl Fn(&ChatRequest) -> Option<ScriptedReply> + Send + Sync + 'static) -> Self {
        self.rules.push(Box::new(rule));
        self
    }

    /// Scores with the log-probabilities `rule` gives, one for each continuation, where it gives some.
    #[must_use]
    pub fn score_with(mut self, rule: impl Fn(&ScoreRequest) -> Option<Vec<f64>> + Send + Sync + 'static) -> Self {
        self.scorers.push(Box::new(rule));
        self
    }

    /// Scores every continuation that contains `part` 10 nats above what the hash gives the others.
    #[must_use]
    pub fn prefer(self, part: &str) -> Self {
        let part = part.to_owned();
        self.score_with(move |request| {
            let any = request.continuations.iter().any(|one| one.contains(&part));
            any.then(|| {
                let bonus = |one: &String| if one.contains(&part) { 10.0 } else { 0.0 };
                request
                    .continuations
                    .iter()
                    .map(|one| default_logprob(request, one) + bonus(one) - 10.0)
                    .collect()
            })
        })
    }

    /// Lets the `call`-th chat or score, counted from 1 over both, fail.
    #[must_use]
    pub fn fail_at(mut self, call: u32, error: LlmError) -> Self {
        self.failures.push((call, error));
        self
    }

    /// Returns how many chats and scores were asked for.
    pub fn calls(&self) -> u32 {
        self.record().calls
    }

    /// Returns all chats asked for, in order.
    pub fn chats(&self) -> Vec<ChatRequest> {
        self.record().chats.clone()
    }

    /// Returns all scores asked for, in order.
    pub fn scores(&self) -> Vec<ScoreRequest> {
        self.record().scores.clone()
    }

    /// Returns tokens of a text as this model counts: a quarter of its characters, rounded up.
    pub fn tokens(text: &str) -> u32 {
        text.chars().count().div_ceil(4) as u32
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, note: impl FnOnce(&mut Record)) -> Result<(), LlmError> {
        let mut record = self.record();
        record.calls += 1;
        note(&mut record);
        let failure = self.failures.iter().find(|(call, _)| *call == record.calls);
        failure.map_or(Ok(()), |(_, error)| Err(error.clone()))
    }

    fn check_room(&self, prompt: u32, answer: u32) -> Result<(), LlmError> {
        let context = self.card.context;
        if prompt.saturating_add(answer) > context {
            return Err(LlmError::OverContext {
                prompt,
                answer,
                context,
            });
        }
        Ok(())
    }
}

#[async_trait]
impl LanguageModel for ScriptedModel {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    async fn chat(&self, request: &ChatRequest, sink: TokenSink<'_>) -> Result<ChatReply, LlmError> {
        self.begin(|record| record.chats.push(request.clone()))?;
        let prompt = prompt_tokens(&request.messages, &request.answer_prefix);
        self.check_room(prompt, request.max_tokens)?;
        let reply = self.rules.iter().find_map(|rule| rule(request));
        let (text, looping) = match reply {
            None => (first_valid(&request.constraint), false),
            Some(ScriptedReply::Text(text)) => (text, false),
            Some(ScriptedReply::Looping(text)) => (text, true),
            Some(ScriptedReply::Fail(error)) => return Err(error),
            Some(ScriptedReply::Hang) => pending().await,
            Some(ScriptedReply::HangAfter(text)) => {
                sink(&text);
                pending().await
            }
        };
        if let Constraint::OneOf(choices) = &request.constraint
            && !choices.contains(&text)
        {
            return Err(LlmError::BadRequest {
                reason: format!("the script says {text:?}, which is not a choice"),
            });
        }
        let stop = request
            .stop
            .iter()
            .filter(|stop| !stop.is_empty())
            .filter_map(|stop| text.find(stop))
            .min();
        let whole = &text[..stop.unwrap_or(text.len())];
        let cut: String = whole.chars().take(4 * request.max_tokens as usize).collect();
        for piece in cut.split_inclusive(' ') {
            sink(piece);
        }
        let finish = match (cut.len() < whole.len(), looping) {
            (true, _) => FinishReason::Length,
            (false, true) => FinishReason::Looping,
            (false, false) => FinishReason::Complete,
        };
        let usage = Usage {
            prompt_tokens: prompt,
            generated_tokens: Self::tokens(&cut),
            generate_ms: self.generate_ms,
            ..Usage::default()
        };
        Ok(ChatReply {
            text: cut,
            finish,
            usage,
        })
    }

    async fn score(&self, request: &ScoreRequest) -> Result<ScoreReply, LlmError> {
        self.begin(|record| record.scores.push(request.clone()))?;
        if request.continuations.is_empty() {
            return Err(LlmError::BadRequest {
                reason: "there is no continuation to score".to_owned(),
            });
        }
        let prompt = prompt_tokens(&request.messages, &request.answer_prefix);
        let longest = request
            .continuations
            .iter()
            .map(|one| Self::tokens(one))
            .max()
            .unwrap_or(0);
        self.check_room(prompt, longest)?;
        let scripted = self.scorers.iter().find_map(|rule| rule(request));
        let logprobs = scripted.unwrap_or_else(|| {
            request
                .continuations
                .iter()
                .map(|one| default_logprob(request, one))
                .collect()
        });
        if logprobs.len() != request.continuations.len() {
            let (given, asked) = (logprobs.len(), request.continuations.len());
            let reason = format!("the script scores {given} of {asked} continuations");
            return Err(LlmError::BadRequest { reason });
        }
        let scores: Vec<Score> = logprobs
            .into_iter()
            .zip(&request.continuations)
            .map(|(logprob, text)| Score {
                logprob,
                tokens: Self::tokens(text),
            })
            .collect();
        let generated_tokens = scores.iter().map(|score| score.tokens).sum();
        Ok(ScoreReply {
            scores,
            usage: Usage {
                prompt_tokens: prompt,
                generated_tokens,
                generate_ms: self.generate_ms,
                ..Usage::default()
            },
        })
    }

    async fn count_tokens(&self, texts: &[String]) -> Result<Vec<u32>, LlmError> {
        Ok(texts.iter().map(|text| Self::tokens(text)).collect())
    }

    async fn count_prompt(&self, messages: &[Message], answer_prefix: &str) -> Result<u32, LlmError> {
        Ok(prompt_tokens(messages, answer_prefix))
    }
}

type Rule = Box<dyn Fn(&ChatRequest) -> Option<ScriptedReply> + Send + Sync>;
type Scorer = Box<dyn Fn(&ScoreRequest) -> Option<Vec<f64>> + Send + Sync>;

#[derive(Default)]
struct Record {
    calls: u32,
    chats: Vec<ChatRequest>,
    scores: Vec<ScoreRequest>,
}

fn last_user(messages: &[Message]) -> &str {
    messages
        .iter()
        .rev()
        .find(|message| message.role == MessageRole::User)
        .map_or("", |message| &message.content)
}

/// Four tokens of template a message.
fn prompt_tokens(messages: &[Message], answer_prefix: &str) -> u32 {
    let texts: u32 = messages
        .iter()
        .map(|message| ScriptedModel::tokens(&message.content) + 4)
        .sum();
    texts + ScriptedModel::tokens(answer_prefix)
}

/// Between −1 and −3 nats a token, from a hash of the question and the continuation.
fn default_logprob(request: &ScoreRequest, continuation: &str) -> f64 {
    let hash = hash(&[last_user(&request.messages), &request.answer_prefix, continuation]);
    let each = 1.0 + (hash % 2000) as f64 / 1000.0;
    -each * f64::from(ScriptedModel::tokens(continuation).max(1))
}

/// FNV-1a, with a separator between the parts.
fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn first_valid(constraint: &Constraint) -> String {
    match constraint {
        Constraint::None => "Scripted answer.".to_owned(),
        Constraint::OneOf(choices) => choices.first().cloned().unwrap_or_default(),
        Constraint::LineRanges { first, .. } => format!("{first}-{first}"),
        Constraint::JsonSchema(schema) => first_of_schema(schema, schema, 0).to_string(),
    }
}

/// Returns the smallest value of the common part of JSON schemas: types, enum, const, required, references into the
/// schema.
fn first_of_schema(schema: &Value, root: &Value, depth: u32) -> Value {
    if depth > 32 {
        return Value::Null;
    }
    let next = |schema: &Value| first_of_schema(schema, root, depth + 1);
    if let Some(reference) = schema["$ref"].as_str() {
        return root
            .pointer(reference.trim_start_matches('#'))
            .map_or(Value::Null, next);
    }
    if let Some(value) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return value.clone();
    }
    if let Some(first) = ["oneOf", "anyOf", "allOf"].iter().find_map(|key| schema[key].get(0)) {
        return next(first);
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    match kind {
        Some("string") => json!("text".repeat(schema["minLength"].as_u64().unwrap_or(1).div_ceil(4).max(1) as usize)),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(0)),
        Some("boolean") => json!(false),
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(0);
            (0..count).map(|_| next(&schema["items"])).collect()
        }
        Some("object") => {
            let required = schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            let fields = required.map(|name| (name.to_owned(), next(&schema["properties"][name])));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        _ => Value::Null,
    }
}
