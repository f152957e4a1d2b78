//! The trait of a language model, its requests and its replies. Cancelling is dropping the future.

use crate::{Thinking, ToolCall, Tools, UnreadableCall};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// A loaded language model. Dropping a future that is not ready cancels the work behind it (within 0.5 s).
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// Describes the model that is loaded.
    fn card(&self) -> &ModelCard;

    /// Continues a conversation. Text goes to `sink` as it comes, without `answer_prefix`.
    async fn chat(&self, request: &ChatRequest, sink: TokenSink<'_>) -> Result<ChatReply, LlmError>;

    /// Returns how likely each continuation is after one common prefix, all computed as branches of it in shared
    /// batches.
    async fn score(&self, request: &ScoreRequest) -> Result<ScoreReply, LlmError>;

    /// Answers all requests, side by side where the model can, in the order asked. The text of the first goes to `sink` as
    /// it comes, that of the others is in the replies alone. Where one cannot be answered, none is.
    async fn generate_all(
        &self,
        requests: &[GenerateRequest],
        sink: TokenSink<'_>,
    ) -> Result<Vec<ChatReply>, LlmError> {
        let chats = requests.iter().map(|request| match request {
            GenerateRequest::Chat(chat) => Ok(chat),
            GenerateRequest::FillIn(_) => Err(LlmError::no_fill_in()),
        });
        let chats: Vec<&ChatRequest> = chats.collect::<Result<_, _>>()?;
        let mut replies = Vec::with_capacity(chats.len());
        for chat in chats {
            let first = replies.is_empty();
            let mut shown = |text: &str| {
                if first {
                    sink(text);
                }
            };
            replies.push(self.chat(chat, &mut shown).await?);
        }
        Ok(replies)
    }

    /// Returns the edits at one token that a model which reads a text between two others would make first.
    async fn token_edits(&self, _request: &TokenEditRequest) -> Result<TokenEditReply, LlmError> {
        Err(LlmError::no_fill_in())
    }

    /// Returns tokens of the prompt in which a text between `before` and `after` is asked for.
    async fn count_fill_in(&self, _before: &str, _after: &str) -> Result<u32, LlmError> {
        Err(LlmError::no_fill_in())
    }

    /// Returns tokens of each text, without any template around it.
    async fn count_tokens(&self, texts: &[String]) -> Result<Vec<u32>, LlmError>;

    /// Returns tokens of the rendered prompt of `messages`, `answer_prefix` included.
    async fn count_prompt(&self, messages: &[Message], answer_prefix: &str) -> Result<u32, LlmError>;

    /// Returns the tokens of each text, as numbers of the model's vocabulary: what another engine has to be given to work on the same.
    async fn tokenize(&self, _texts: &[PromptText]) -> Result<Vec<Vec<u32>>, LlmError> {
        Err(LlmError::BadRequest {
            reason: "the model does not tell the tokens of a text".to_owned(),
        })
    }

    /// Restarts of the worker since this model was loaded, each with what it said last. Taken: a second call gives none.
    fn take_restarts(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Who waits for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// A person, who sees the answer as it comes.
    #[default]
    Interactive,
    /// Nobody: what can be done in advance gives way to what somebody waits for.
    Background,
}

/// Receives text while it is generated.
pub type TokenSink<'a> = &'a mut (dyn FnMut(&str) + Send);

/// What is known of a loaded model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCard {
    /// The name from its header, or of its file.
    pub name: String,
    /// SHA-256 of the file in hexadecimal; of a scripted model, of its script's name.
    pub sha256: String,
    /// The context it was loaded with, in tokens.
    pub context: u32,
    /// Threads it computes with.
    pub threads: u32,
    /// Whether it was made to fill in a text between two others ([`FillInRequest`]).
    #[serde(default)]
    pub fills_in: bool,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub role: MessageRole,
    pub content: String,
    /// What an assistant thought before it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// The tools an assistant called after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The id of the call whose result it is ([`MessageRole::Tool`]).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub result_of: String,
}

impl Message {
    /// Creates a message of text alone.
    pub fn new(role: MessageRole, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            thinking: String::new(),
            tool_calls: Vec::new(),
            result_of: String::new(),
        }
    }

    /// Creates the message that a reply becomes in the conversation.
    pub fn of_reply(reply: &ChatReply) -> Self {
        Self {
            thinking: reply.thinking.clone(),
            tool_calls: reply.tool_calls.clone(),
            ..Self::new(MessageRole::Assistant, reply.text.clone())
        }
    }

    /// Creates the result of a call.
    pub fn result(call: &ToolCall, content: impl Into<String>) -> Self {
        Self {
            result_of: call.id.clone(),
            ..Self::new(MessageRole::Tool, content)
        }
    }
}

/// The role under which a message stands in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    System,
    User,
    Assistant,
    /// The result of a tool's call.
    Tool,
}

/// A conversation to be continued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The conversation, ending with a user's message or with results of tools.
    pub messages: Vec<Message>,
    /// The answer begun for the model; it goes on behind it. May be empty.
    #[serde(default)]
    pub answer_prefix: String,
    /// What the rest of the answer has to look like.
    #[serde(default)]
    pub constraint: Constraint,
    /// How tokens are chosen.
    #[serde(default)]
    pub sampling: Sampling,
    /// The most new tokens; what is thought comes on top of them.
    pub max_tokens: u32,
    /// Texts at whose appearance the answer ends; they are not part of it. They are looked for in its text alone, not in what the
    /// model thinks or in its calls.
    #[serde(default)]
    pub stop: Vec<String>,
    /// What the model may call. Calls follow the declared schemas; a constraint and an answer that is begun go with none.
    #[serde(default, skip_serializing_if = "Tools::is_empty")]
    pub tools: Tools,
    /// How much it may think; a constraint holds for what comes behind that.
    #[serde(default, skip_serializing_if = "Thinking::is_off")]
    pub thinking: Thinking,
}

impl ChatRequest {
    /// Creates a request for an answer of any form: greedy, without thinking and without tools.
    pub fn new(messages: Vec<Message>, max_tokens: u32) -> Self {
        Self {
            messages,
            answer_prefix: String::new(),
            constraint: Constraint::None,
            sampling: Sampling::Greedy,
            max_tokens,
            stop: Vec::new(),
            tools: Tools::default(),
            thinking: Thinking::Off,
        }
    }
}

/// A text to be filled in between two others, for models that have tokens for it ([`ModelCard::fills_in`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FillInRequest {
    /// The text up to the gap.
    pub before: String,
    /// The text from the gap on.
    pub after: String,
    /// How tokens are chosen.
    #[serde(default)]
    pub sampling: Sampling,
    /// The most new tokens.
    pub max_tokens: u32,
    /// Texts at whose appearance the answer ends; they are not part of it.
    #[serde(default)]
    pub stop: Vec<String>,
    /// A text that the answer is not to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_than: Option<OtherThan>,
}

/// A text that an answer is not to be: the answer begins like it, and leaves it at some token by another one.
///
/// Answers with ranks from 0 on are the likeliest ones beside the text, none of them leaving it twice by the same token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherThan {
    pub text: String,
    pub by: Departure,
    /// Which way is taken, from 0; beyond the last one the answer is free.
    pub rank: u32,
}

/// How the ways to leave a text are ranked, and what follows the token that leaves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Departure {
    /// By the probability of all texts that begin so; the answer goes on freely.
    Likeliest,
    /// By how much likelier the other token is than the one that is there; the answer goes on freely.
    Preferred,
    /// Ranked as [`Departure::Preferred`]; the rest of the text stays as it is.
    Replaced,
}

/// A text between two others that is read token by token, to see what the model would rather have written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenEditRequest {
    /// The text in front of it.
    pub before: String,
    /// The text behind it.
    pub after: String,
    pub text: String,
    /// The most edits that are returned.
    pub most: u32,
    /// Behind how many of the best other tokens the model goes on writing to the end of the line, where its cache can begin in the midst of a text. A third
    /// of them are at the begin of a line; there it goes on to the end of the block that it opens, which is also put in front of the line. Two thirds as
    /// many beside them are operators, which alone are no code.
    pub written: u32,
}

/// One token of a text replaced, left out, or put in; or lines that the model writes from another token on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenEdit {
    /// Where in the text it begins, in bytes.
    pub start: u32,
    /// Where what it takes away ends; equal to `start` where a token is put in.
    pub end: u32,
    /// What stands there instead; empty where a token is left out.
    pub text: String,
    /// How much likelier the other token is behind the text before it than the one that is there, as the difference of logarithms.
    pub gain: f64,
}

/// The edits at one token, and what reading the text cost: first those for which the model went on writing, behind each the token alone, then the others,
/// those of the highest gain first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TokenEditReply {
    pub edits: Vec<TokenEdit>,
    pub usage: Usage,
}

/// A text whose tokens are asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PromptText {
    /// The rendered prompt of a conversation.
    Chat {
        messages: Vec<Message>,
        #[serde(default)]
        answer_prefix: String,
    },
    /// The prompt that asks for the text between two others.
    FillIn { before: String, after: String },
    /// A text that follows a prompt, without any template around it.
    Continuation { text: String },
}

/// What is to be continued: the two kinds may be asked for in one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum GenerateRequest {
    Chat(ChatRequest),
    FillIn(FillInRequest),
}

/// What an answer has to look like.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", content = "of", rename_all = "snake_case")]
pub enum Constraint {
    #[default]
    None,
    /// Exactly one of these texts.
    OneOf(Vec<String>),
    /// One to `most` intervals `A-B` separated by `, `, both numbers between `first` and `last`. That A is not above B
    /// and that intervals are disjoint is for the caller to check.
    LineRanges {
        first: u32,
        last: u32,
        /// How many intervals at the most.
        most: u32,
    },
    /// A JSON value of this schema.
    JsonSchema(Value),
}

/// How the next token is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Sampling {
    #[default]
    Greedy,
    /// Drawn at this temperature (top-p 0.95), from this seed.
    Temperature {
        /// Above 0.
        temperature: f32,
        seed: u64,
    },
}

/// What the model replied, how it ended, and what it cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The new text, without `answer_prefix`, without the stop text, and without what the model thought and its calls.
    pub text: String,
    pub finish: FinishReason,
    pub usage: Usage,
    /// What the model thought before.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thinking: String,
    /// The tools it called behind the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Calls of no readable form; a request with tools has none, unless it was cut off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable_calls: Vec<UnreadableCall>,
}

impl ChatReply {
    /// Creates a reply of text alone.
    pub fn new(text: String, finish: FinishReason, usage: Usage) -> Self {
        Self {
            text,
            finish,
            usage,
            thinking: String::new(),
            tool_calls: Vec::new(),
            unreadable_calls: Vec::new(),
        }
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model ended it, a stop text appeared, or the constraint was fulfilled.
    Complete,
    /// `max_tokens` was reached.
    Length,
    /// The same text came again and again; the rest was cut off.
    Looping,
}

/// What an answer cost. Of answers that are generated side by side, what they share is counted once: prompt tokens with
/// the first that needed them, each moment with one of them, so that the sums over all are those of the whole call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens computed for it.
    pub prompt_tokens: u32,
    /// Prompt tokens that were there already, from an earlier call or from another answer of this one.
    pub reused_tokens: u32,
    /// Tokens generated, or scored continuations' tokens.
    pub generated_tokens: u32,
    /// Milliseconds for the prompt.
    pub prompt_ms: u64,
    /// Milliseconds for the generation.
    pub generate_ms: u64,
    /// Why no more of the prompt was reused; none where all of it was, or the engine does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_reused: Option<NotReused>,
}

/// Why tokens of a prompt were computed although a cache is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotReused {
    /// No earlier prompt begins like it.
    New,
    /// Every earlier prompt parts from it there.
    Parted,
    /// An earlier prompt had more, which was given up to make room.
    GivenUp,
    /// An earlier prompt has more, but the model's memory cannot be taken back to where they part: no state is saved there.
    NoState,
}

/// Continuations to be compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreRequest {
    /// The conversation, ending with a user's message.
    pub messages: Vec<Message>,
    #[serde(default)]
    pub answer_prefix: String,
    /// The texts that could follow.
    pub continuations: Vec<String>,
    /// Whether the likelihood of each line of the texts is wanted as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_line: bool,
}

/// The likelihood of each continuation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreReply {
    /// In the order asked.
    pub scores: Vec<Score>,
    /// For each continuation the log-probability of each of its lines, in nats: that of the tokens that begin on it. Empty where it was not
    /// asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Vec<f64>>,
    pub usage: Usage,
}

/// The likelihood of one continuation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Sum of the log-probabilities of its tokens, in nats.
    pub logprob: f64,
    /// How many tokens it has.
    pub tokens: u32,
}

/// What can go wrong with a model.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LlmError {
    /// The prompt and the room for the answer exceed the context.
    #[error("the prompt has {prompt} tokens and the answer needs up to {answer}, but the context holds {context}")]
    OverContext {
        /// Tokens of the prompt.
        prompt: u32,
        /// Tokens reserved for the answer.
        answer: u32,
        /// Tokens of the context.
        context: u32,
    },
    /// A request that makes no sense: no continuation, an impossible constraint.
    #[error("the request cannot be answered: {reason}")]
    BadRequest { reason: String },
    /// The model could not be loaded.
    #[error("the model {file} could not be loaded: {reason}")]
    Load {
        file: String,
        /// Why, and what to do.
        reason: String,
    },
    /// The worker process died, was restarted, and died again.
    #[error("the engine's worker process ended unexpectedly, also after a restart: {reason}")]
    WorkerDied { reason: String },
    /// Another engine, which the person named, cannot be used.
    #[error("the engine at {host} {reason}")]
    Engine {
        /// Host and port, as the person wrote them.
        host: String,
        /// What it does or does not do, and a remedy; goes on behind its host.
        reason: String,
    },
    /// Another engine's answers have not the form that was asked for, also when asked again.
    #[error("the answer has not the form that was asked for, also when asked again: {reason}")]
    WrongForm { reason: String },
    #[error("cancelled")]
    Cancelled,
}

impl LlmError {
    /// Creates the error of a model that is asked to fill in a text and has no tokens for it.
    pub fn no_fill_in() -> Self {
        Self::BadRequest {
            reason: "the model has no tokens that ask for a text between two others".to_owned(),
        }
    }
}
