//! The engine: one loaded model, its cache, and the calls on it, in the process that asks. Only a worker process should
//! ask, because llama.cpp ends the process it lives in when an assertion of its own fails.
//!
//! Any number of calls go on at the same time ([`Engine::begin`]): each step computes the next rows of all of them. Which
//! rows those are is decided in `schedule`; a step is put together in `core`; what one call does is in `generate`, `score`
//! and `token_edits`.

mod answer;
mod cache;
mod call;
mod constraint;
mod core;
mod departure;
mod devices;
mod drafts;
mod generate;
mod header;
mod loading;
mod loops;
mod machine;
mod native;
mod prefix_files;
mod prompt;
mod reading;
mod sampler;
mod saved;
mod schedule;
mod score;
mod snapshots;
mod step_costs;
mod text;
mod thread_tuner;
mod token_edits;
mod weights;

#[cfg(feature = "dynamic-backends")]
pub(crate) mod variants;

use call::EngineCall;
use constraint::ConstraintError;
use core::{Core, Step};
pub use devices::{files as device_files, may_be_used as may_use_devices};
pub use machine::physical_cores;
use magis_llm::chat_template::ChatTemplateError;
use magis_llm::protocol::{Loaded, RequestId, Stats, Without};
use magis_llm::{
    ChatReply, ChatRequest, GenerateRequest, LlmError, Message, PromptText, ScoreReply, ScoreRequest, TokenEditReply,
    TokenEditRequest, Urgency, Usage,
};
use magis_platform::memory;
use native::{StepError, Token};
use std::cell::{Ref, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use thiserror::Error;

/// A model that is loaded, and the calls that are made on it.
pub struct Engine {
    // The calls go first when the engine is dropped: they give back what they hold.
    calls: Vec<Running>,
    core: Rc<RefCell<Core>>,
    abort: Arc<AtomicBool>,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    Chat(ChatRequest),
    GenerateAll(Vec<GenerateRequest>),
    Score(ScoreRequest),
    TokenEdits(TokenEditRequest),
}

/// What comes of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallAnswer {
    Chat(ChatReply),
    GeneratedAll(Vec<ChatReply>),
    Score(ScoreReply),
    TokenEdits(TokenEditReply),
}

/// What happened to a call.
#[derive(Debug)]
pub enum CallEvent {
    /// A piece of its answer.
    Text(RequestId, String),
    /// It has an answer, or an error that its caller can be told.
    Ended(RequestId, Result<CallAnswer, LlmError>),
}

/// What ends a call without an answer.
#[derive(Debug, Error)]
pub enum LlamaError {
    /// The caller can be told.
    #[error(transparent)]
    Call(#[from] LlmError),
    /// llama.cpp failed in a way that leaves its state unknown: the process should end.
    #[error("the engine cannot go on: {0}")]
    Broken(StepError),
}

struct Running {
    id: RequestId,
    answer: Pin<Box<dyn Future<Output = Result<CallAnswer, LlamaError>>>>,
}

impl From<StepError> for LlamaError {
    fn from(error: StepError) -> Self {
        match error {
            StepError::Cancelled => Self::Call(LlmError::Cancelled),
            StepError::Malformed(_) | StepError::NoRoom(_) | StepError::Failed(..) => Self::Broken(error),
        }
    }
}

impl From<ChatTemplateError> for LlamaError {
    fn from(error: ChatTemplateError) -> Self {
        Self::Call(LlmError::BadRequest {
            reason: error.to_string(),
        })
    }
}

impl From<ConstraintError> for LlamaError {
    fn from(error: ConstraintError) -> Self {
        Self::Call(LlmError::BadRequest {
            reason: error.to_string(),
        })
    }
}

/// How often calls may be looked at without anything coming of it before they are taken to wait for one another.
const MOST_IDLE_TURNS: u32 = 3;

impl Engine {
    /// Begins a call. It goes on with each [`Engine::turn`].
    pub fn begin(&mut self, id: RequestId, urgency: Urgency, ask: Ask) {
        if self.calls.is_empty() {
            self.core.borrow_mut().clock = Instant::now();
        }
        let call = EngineCall::new(&self.core, id, urgency);
        let answer: Pin<Box<dyn Future<Output = _>>> = match ask {
            Ask::Chat(request) => Box::pin(async { generate::chat(call, request).await.map(CallAnswer::Chat) }),
            Ask::GenerateAll(requests) => Box::pin(async {
                generate::generate_all(call, requests)
                    .await
                    .map(CallAnswer::GeneratedAll)
            }),
            Ask::Score(request) => Box::pin(async { score::score(call, request).await.map(CallAnswer::Score) }),
            Ask::TokenEdits(request) => Box::pin(async {
                token_edits::token_edits(call, request)
                    .await
                    .map(CallAnswer::TokenEdits)
            }),
        };
        self.calls.push(Running { id, answer });
    }

    /// Returns whether no call goes on.
    pub fn is_idle(&self) -> bool {
        self.calls.is_empty()
    }

    /// Ends a call without an answer. False where there is no such call.
    pub fn cancel(&mut self, id: RequestId) -> bool {
        let before = self.calls.len();
        self.calls.retain(|call| call.id != id);
        self.calls.len() < before
    }

    /// Computes one step for all calls. `about_to` is told which of them have rows in it. A step that the abort flag
    /// interrupts ends those as cancelled.
    ///
    /// # Errors
    /// When llama.cpp is in a state that it cannot go on from.
    pub fn turn(&mut self, about_to: &mut dyn FnMut(&[RequestId])) -> Result<Vec<CallEvent>, LlamaError> {
        let mut events = Vec::new();
        for _ in 0..MOST_IDLE_TURNS {
            self.poll(&mut events)?;
            let step = self.core.borrow_mut().step(about_to).map_err(LlamaError::Broken)?;
            match step {
                Step::Computed => {
                    self.poll(&mut events)?;
                    return Ok(events);
                }
                Step::Interrupted(calls) => {
                    for id in calls {
                        self.cancel(id);
                        events.push(CallEvent::Ended(id, Err(LlmError::Cancelled)));
                    }
                    return Ok(events);
                }
                Step::Idle if self.calls.is_empty() => return Ok(events),
                Step::Idle => {}
            }
        }
        Err(LlamaError::Broken(StepError::Malformed("calls wait for one another")))
    }

    /// Keeps one prompt more for later workers, where there is a folder for them and no call goes on; false where nothing is
    /// left to keep.
    pub fn keep_one_prompt(&mut self) -> bool {
        self.is_idle() && self.core.borrow_mut().keep_one_prompt()
    }

    /// Returns the context, to look at it alone.
    #[cfg(test)]
    fn context_for_tests(&mut self) -> std::cell::RefMut<'_, native::Context> {
        std::cell::RefMut::map(self.core.borrow_mut(), |core| &mut core.context)
    }

    /// Goes on without these, to measure what they are worth.
    #[doc(hidden)]
    pub fn measure_without(&mut self, without: Without) {
        self.core.borrow_mut().without = without;
    }

    /// Tells which model is loaded, with which context.
    pub fn loaded(&self) -> Ref<'_, Loaded> {
        Ref::map(self.core.borrow(), |core| &core.loaded)
    }

    /// Continues a conversation; text goes to `sink` as it comes.
    ///
    /// # Errors
    /// When the prompt does not fit, an answer cannot keep to the form asked for, or the abort flag is set.
    pub fn chat(&mut self, request: &ChatRequest, sink: &mut dyn FnMut(&str)) -> Result<ChatReply, LlamaError> {
        match self.answer(Ask::Chat(request.clone()), sink)? {
            CallAnswer::Chat(reply) => Ok(reply),
            _ => Err(another_answer()),
        }
    }

    /// Answers requests side by side, as many at a time as fit; the text of the first goes to `sink` as it comes.
    ///
    /// # Errors
    /// When one cannot be answered: as [`Engine::chat`], or the model has no tokens to fill in a text.
    pub fn generate_all(
        &mut self,
        requests: &[GenerateRequest],
        sink: &mut dyn FnMut(&str),
    ) -> Result<Vec<ChatReply>, LlamaError> {
        match self.answer(Ask::GenerateAll(requests.to_vec()), sink)? {
            CallAnswer::GeneratedAll(replies) => Ok(replies),
            _ => Err(another_answer()),
        }
    }

    /// Returns how likely each continuation is.
    ///
    /// # Errors
    /// When the prompt does not fit, or the abort flag is set.
    pub fn score(&mut self, request: &ScoreRequest) -> Result<ScoreReply, LlamaError> {
        match self.answer(Ask::Score(request.clone()), &mut |_| ())? {
            CallAnswer::Score(reply) => Ok(reply),
            _ => Err(another_answer()),
        }
    }

    /// Returns the edits of one token that a text between two others would be likelier with.
    ///
    /// # Errors
    /// When the text does not fit, the model has no tokens to fill in a text, or the abort flag is set.
    pub fn token_edits(&mut self, request: &TokenEditRequest) -> Result<TokenEditReply, LlamaError> {
        match self.answer(Ask::TokenEdits(request.clone()), &mut |_| ())? {
            CallAnswer::TokenEdits(reply) => Ok(reply),
            _ => Err(another_answer()),
        }
    }

    /// Returns tokens of each text.
    pub fn count_tokens(&self, texts: &[String]) -> Vec<u32> {
        let tokenizer = Rc::clone(&self.core.borrow().tokenizer);
        texts.iter().map(|text| tokenizer.data(text).len() as u32).collect()
    }

    /// Returns tokens of a rendered prompt.
    ///
    /// # Errors
    /// When the model's chat template cannot render the messages.
    pub fn count_prompt(&self, messages: &[Message], answer_prefix: &str) -> Result<u32, LlmError> {
        let tokenizer = Rc::clone(&self.core.borrow().tokenizer);
        match tokenizer.prompt(messages, answer_prefix) {
            Ok(tokens) => Ok(tokens.len() as u32),
            Err(error) => Err(LlmError::BadRequest {
                reason: error.to_string(),
            }),
        }
    }

    /// Returns tokens of the prompt that asks for the text between two others.
    ///
    /// # Errors
    /// When the vocabulary has no tokens for it.
    pub fn count_fill_in(&self, before: &str, after: &str) -> Result<u32, LlmError> {
        let tokenizer = Rc::clone(&self.core.borrow().tokenizer);
        let prompt = tokenizer.fill_in(before, after);
        Ok(prompt.ok_or_else(LlmError::no_fill_in)?.len() as u32)
    }

    /// Returns the tokens of each text.
    ///
    /// # Errors
    /// When the chat template cannot render a conversation, or the vocabulary has no tokens to fill in a text.
    pub fn tokenize(&self, texts: &[PromptText]) -> Result<Vec<Vec<u32>>, LlamaError> {
        let tokenizer = Rc::clone(&self.core.borrow().tokenizer);
        let tokens = texts.iter().map(|text| {
            let tokens = match text {
                PromptText::Chat {
                    messages,
                    answer_prefix,
                } => tokenizer.prompt(messages, answer_prefix)?,
                PromptText::FillIn { before, after } => {
                    let prompt = tokenizer.fill_in(before, after);
                    prompt.ok_or_else(LlmError::no_fill_in)?
                }
                PromptText::Continuation { text } => tokenizer.data(text),
            };
            Ok(tokens.into_iter().map(Token::cast_unsigned).collect())
        });
        tokens.collect()
    }

    /// Returns what was done so far.
    pub fn stats(&self) -> Stats {
        let core = self.core.borrow();
        Stats {
            cached_tokens: core.cache.used() as u32,
            resident_bytes: memory::resident().unwrap_or(0),
            ..core.stats
        }
    }

    /// Lets all calls go on up to where they wait for rows.
    fn poll(&mut self, events: &mut Vec<CallEvent>) -> Result<(), LlamaError> {
        let mut context = Context::from_waker(Waker::noop());
        let mut at = 0;
        while at < self.calls.len() {
            let Poll::Ready(result) = self.calls[at].answer.as_mut().poll(&mut context) else {
                at += 1;
                continue;
            };
            let ended = self.calls.remove(at);
            events.extend(self.texts());
            let result = match result {
                Ok(answer) => Ok(answer),
                Err(LlamaError::Call(error)) => Err(error),
                Err(broken @ LlamaError::Broken(_)) => return Err(broken),
            };
            if let Ok(answer) = &result {
                note(&mut self.core.borrow_mut().stats, answer);
            }
            events.push(CallEvent::Ended(ended.id, result));
        }
        events.extend(self.texts());
        Ok(())
    }

    fn texts(&mut self) -> Vec<CallEvent> {
        let texts = std::mem::take(&mut self.core.borrow_mut().texts);
        texts.into_iter().map(|(id, text)| CallEvent::Text(id, text)).collect()
    }

    /// Makes one call alone, to its end.
    fn answer(&mut self, ask: Ask, sink: &mut dyn FnMut(&str)) -> Result<CallAnswer, LlamaError> {
        const ALONE: RequestId = RequestId(0);
        self.begin(ALONE, Urgency::Interactive, ask);
        loop {
            if self.abort.load(Ordering::Relaxed) {
                self.cancel(ALONE);
                return Err(LlmError::Cancelled.into());
            }
            for event in self.turn(&mut |_| ())? {
                match event {
                    CallEvent::Text(_, text) => sink(&text),
                    CallEvent::Ended(_, result) => return Ok(result?),
                }
            }
        }
    }
}

fn another_answer() -> LlamaError {
    LlamaError::Broken(StepError::Malformed("it answers another call"))
}

/// Adds what a call cost to the sums.
fn note(stats: &mut Stats, answer: &CallAnswer) {
    let mut add = |usage: &Usage| {
        stats.computed_tokens += u64::from(usage.prompt_tokens);
        stats.reused_tokens += u64::from(usage.reused_tokens);
        stats.prompt_ms += usage.prompt_ms;
        stats.generate_ms += usage.generate_ms;
        u64::from(usage.generated_tokens)
    };
    match answer {
        CallAnswer::Chat(reply) => stats.generated_tokens += add(&reply.usage),
        CallAnswer::GeneratedAll(replies) => {
            stats.generated_tokens += replies.iter().map(|reply| add(&reply.usage)).sum::<u64>();
        }
        CallAnswer::Score(ScoreReply { usage, .. }) | CallAnswer::TokenEdits(TokenEditReply { usage, .. }) => {
            stats.scored_tokens += add(usage);
        }
    }
}
