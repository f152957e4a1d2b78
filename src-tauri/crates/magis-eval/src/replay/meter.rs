//! A model that counts what it is given to read: with a real tokenizer or an approximation, with real answers or typical
//! ones.
//!
//! What a prompt shares with the beginning of one before it is counted apart, as the engine keeps it.

use async_trait::async_trait;
use magis_llm::{
    ChatReply, ChatRequest, FinishReason, LanguageModel, LlmError, Message, ModelCard, ScoreReply, ScoreRequest,
    TokenSink, Usage,
};
use serde::Serialize;
use std::collections::VecDeque;
use std::ops::AddAssign;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Characters of a token where there is no tokenizer; code and prose of Python repositories have 3.2 to 3.6 with that
/// of Qwen2.5-Coder.
pub const CHARACTERS_A_TOKEN: f64 = 3.3;
/// Tokens of a typical answer to P2: recorded runs with Qwen2.5-Coder-1.5B have 46 to 88.
pub const TYPICAL_SUMMARY: u32 = 60;
/// Tokens of a typical answer to P1: the same runs have 33 to 35.
pub const TYPICAL_MESSAGE: u32 = 35;
/// Prompts whose beginnings are kept, as the engine keeps several sequences.
const KEPT_PROMPTS: usize = 3;

/// How the tokens of a text were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TokensBy {
    /// [`CHARACTERS_A_TOKEN`].
    Approximation,
    /// The model's own tokenizer.
    Tokenizer,
}

/// Where the summaries of a replay come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// Words without meaning, [`TYPICAL_SUMMARY`] or [`TYPICAL_MESSAGE`] tokens of them.
    Typical,
    Model,
}

/// What a model did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Spent {
    /// Times P1 was asked.
    pub p1: u32,
    /// Times P2 was asked.
    pub p2: u32,
    /// Prompt tokens computed.
    pub read: u64,
    /// Prompt tokens that stood at the beginning of an earlier prompt, too.
    pub reused: u64,
    /// Tokens of the answers.
    pub written: u64,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, more: Self) {
        self.p1 += more.p1;
        self.p2 += more.p2;
        self.read += more.read;
        self.reused += more.reused;
        self.written += more.written;
    }
}

/// The model that counts.
pub struct Meter {
    card: ModelCard,
    model: Option<Arc<dyn LanguageModel>>,
    answers: Answers,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    prompts: VecDeque<String>,
    spent: Spent,
}

impl Meter {
    /// Counts by the approximation and answers typically.
    pub fn approximate() -> Self {
        let card = ModelCard {
            name: "none".to_owned(),
            sha256: "0".repeat(64),
            context: 16_384,
            threads: 1,
            fills_in: false,
        };
        Self::new(card, None, Answers::Typical)
    }

    /// Counts with a model's tokenizer.
    pub fn of(model: Arc<dyn LanguageModel>, answers: Answers) -> Self {
        Self::new(model.card().clone(), Some(model), answers)
    }

    fn new(card: ModelCard, model: Option<Arc<dyn LanguageModel>>, answers: Answers) -> Self {
        Self {
            card,
            model,
            answers,
            seen: Mutex::default(),
        }
    }

    /// Returns how this meter counts tokens.
    pub fn tokens_by(&self) -> TokensBy {
        match self.model {
            Some(_) => TokensBy::Tokenizer,
            None => TokensBy::Approximation,
        }
    }

    /// Returns the same counting with prompts of its own, and with answers of typical length.
    #[must_use]
    pub fn without_answers(&self) -> Self {
        Self::new(self.card.clone(), self.model.clone(), Answers::Typical)
    }

    /// Forgets the prompts so far, as a model does that is loaded anew.
    pub fn forget(&self) {
        self.seen().prompts.clear();
    }

    /// Returns what was spent since this was asked last.
    pub fn take(&self) -> Spent {
        std::mem::take(&mut self.seen().spent)
    }

    /// Returns tokens of a text.
    pub async fn tokens(&self, text: &str) -> Result<u32, LlmError> {
        let counted = self.count_tokens(&[text.to_owned()]).await?;
        Ok(counted.first().copied().unwrap_or(0))
    }

    /// Returns characters that a prompt shares with the beginning of an earlier one; it counts as seen from now on.
    fn shared(&self, prompt: &str) -> usize {
        let mut seen = self.seen();
        let common = |before: &String| {
            let same = before.chars().zip(prompt.chars()).take_while(|(a, b)| a == b);
            same.map(|(character, _)| character.len_utf8()).sum()
        };
        let shared = seen.prompts.iter().map(common).max().unwrap_or(0);
        seen.prompts.push_front(prompt.to_owned());
        seen.prompts.truncate(KEPT_PROMPTS);
        shared
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, is_summary: bool, usage: Usage) {
        let spent = if is_summary {
            Spent {
                p2: 1,
                ..Spent::default()
            }
        } else {
            Spent {
                p1: 1,
                ..Spent::default()
            }
        };
        self.seen().spent += Spent {
            read: u64::from(usage.prompt_tokens),
            reused: u64::from(usage.reused_tokens),
            written: u64::from(usage.generated_tokens),
            ..spent
        };
    }
}

fn whole(messages: &[Message], answer_prefix: &str) -> String {
    let mut text = String::new();
    for message in messages {
        text.push_str(&message.content);
        text.push('\n');
    }
    text + answer_prefix
}

#[async_trait]
impl LanguageModel for Meter {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    async fn chat(&self, request: &ChatRequest, sink: TokenSink<'_>) -> Result<ChatReply, LlmError> {
        let is_summary = request.answer_prefix.starts_with("This file");
        if let (Answers::Model, Some(model)) = (self.answers, &self.model) {
            let reply = model.chat(request, sink).await?;
            self.note(is_summary, reply.usage);
            return Ok(reply);
        }
        let prompt = whole(&request.messages, &request.answer_prefix);
        let shared = self.shared(&prompt);
        let all = self.count_prompt(&request.messages, &request.answer_prefix).await?;
        let reused = self.tokens(&prompt[..shared]).await?.min(all);
        let written = if is_summary { TYPICAL_SUMMARY } else { TYPICAL_MESSAGE };
        let usage = Usage {
            prompt_tokens: all - reused,
            reused_tokens: reused,
            generated_tokens: written,
            ..Usage::default()
        };
        self.note(is_summary, usage);
        let characters = (f64::from(written) * CHARACTERS_A_TOKEN) as usize;
        let words: String = " says words".chars().cycle().take(characters).collect();
        Ok(ChatReply::new(
            words.trim_end().to_owned() + ".",
            FinishReason::Complete,
            usage,
        ))
    }

    async fn score(&self, _request: &ScoreRequest) -> Result<ScoreReply, LlmError> {
        Err(LlmError::BadRequest {
            reason: "nothing is scored in a replay".to_owned(),
        })
    }

    async fn count_tokens(&self, texts: &[String]) -> Result<Vec<u32>, LlmError> {
        match &self.model {
            Some(model) => model.count_tokens(texts).await,
            None => Ok(texts
                .iter()
                .map(|text| (text.chars().count() as f64 / CHARACTERS_A_TOKEN).ceil() as u32)
                .collect()),
        }
    }

    async fn count_prompt(&self, messages: &[Message], answer_prefix: &str) -> Result<u32, LlmError> {
        match &self.model {
            Some(model) => model.count_prompt(messages, answer_prefix).await,
            None => self.tokens(&whole(messages, answer_prefix)).await,
        }
    }
}
