//! A model that answers from a script, for tests of everything above the engine.
//!
//! It is deterministic: without a rule it gives the first valid answer of a constraint, and scores from a hash. It
//! keeps every request for inspection. It does not imitate a language model's time or its mistakes, unless told to.

mod serving;
mod valid;

use crate::{
    ChatRequest, FillInRequest, LlmError, Message, MessageRole, ModelCard, ScoreRequest, TokenEdit, TokenEditRequest,
};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A [`crate::LanguageModel`] that answers from rules. The first rule that applies answers.
pub struct ScriptedModel {
    card: ModelCard,
    rules: Vec<Rule>,
    fillers: Vec<Filler>,
    scorers: Vec<Scorer>,
    editors: Vec<Editor>,
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
                fills_in: false,
            },
            rules: Vec::new(),
            fillers: Vec::new(),
            scorers: Vec::new(),
            editors: Vec::new(),
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

    /// Lets it fill in texts; a rule for them does that, too. Without a rule the text is always the same.
    #[must_use]
    pub fn with_fill_in(mut self) -> Self {
        self.card.fills_in = true;
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

    /// Fills in this where `part` stands in the text before the gap.
    #[must_use]
    pub fn when_before(self, part: &str, reply: impl Into<ScriptedReply>) -> Self {
        let (part, reply) = (part.to_owned(), reply.into());
        self.fill_in_with(move |request| request.before.contains(&part).then(|| reply.clone()))
    }

    /// Fills in what `rule` gives, where it gives something.
    #[must_use]
    pub fn fill_in_with(
        mut self,
        rule: impl Fn(&FillInRequest) -> Option<ScriptedReply> + Send + Sync + 'static,
    ) -> Self {
        self.fillers.push(Box::new(rule));
        self.with_fill_in()
    }

    /// Edits a text that is read by what `rule` gives, where it gives something.
    #[must_use]
    pub fn edit_with(
        mut self,
        rule: impl Fn(&TokenEditRequest) -> Option<Vec<TokenEdit>> + Send + Sync + 'static,
    ) -> Self {
        self.editors.push(Box::new(rule));
        self.with_fill_in()
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

    /// Lets the `call`-th chat, fill-in or score, counted from 1 over all, fail.
    #[must_use]
    pub fn fail_at(mut self, call: u32, error: LlmError) -> Self {
        self.failures.push((call, error));
        self
    }

    /// Returns how many chats, fill-ins and scores were asked for.
    pub fn calls(&self) -> u32 {
        self.record().calls
    }

    /// Returns all chats asked for, in order.
    pub fn chats(&self) -> Vec<ChatRequest> {
        self.record().chats.clone()
    }

    /// Returns all texts to be filled in that were asked for, in order.
    pub fn fill_ins(&self) -> Vec<FillInRequest> {
        self.record().fill_ins.clone()
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
}

type Rule = Box<dyn Fn(&ChatRequest) -> Option<ScriptedReply> + Send + Sync>;
type Filler = Box<dyn Fn(&FillInRequest) -> Option<ScriptedReply> + Send + Sync>;
type Editor = Box<dyn Fn(&TokenEditRequest) -> Option<Vec<TokenEdit>> + Send + Sync>;
type Scorer = Box<dyn Fn(&ScoreRequest) -> Option<Vec<f64>> + Send + Sync>;

#[derive(Default)]
struct Record {
    calls: u32,
    chats: Vec<ChatRequest>,
    fill_ins: Vec<FillInRequest>,
    scores: Vec<ScoreRequest>,
}

fn last_user(messages: &[Message]) -> &str {
    messages
        .iter()
        .rev()
        .find(|message| message.role == MessageRole::User)
        .map_or("", |message| &message.content)
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
