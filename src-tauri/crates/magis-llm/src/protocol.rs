//! What the parent and its worker process say to each other: one JSON object a line, requests to the worker's standard
//! input, answers on its standard output. Standard error is for the log alone.
//!
//! The messages carry the same requests and replies as [`crate::LanguageModel`]; how they are carried out, and what
//! happens when the other side dies, is not said here.

use crate::memory::KvType;
use crate::placement::{Loading, Wishes};
use crate::{
    ChatReply, ChatRequest, GenerateRequest, LlmError, Message, PromptText, ScoreReply, ScoreRequest, TokenEditReply,
    TokenEditRequest, Urgency,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Which call a message belongs to; given by the parent, never used twice in the life of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub u64);

/// From the parent to its worker. Calls that are open at the same time are carried out side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToWorker {
    /// Load a model, instead of the one that is loaded.
    Load { id: RequestId, load: Load },
    Chat {
        id: RequestId,
        #[serde(default)]
        urgency: Urgency,
        request: ChatRequest,
    },
    Score {
        id: RequestId,
        #[serde(default)]
        urgency: Urgency,
        request: ScoreRequest,
    },
    TokenEdits {
        id: RequestId,
        #[serde(default)]
        urgency: Urgency,
        request: TokenEditRequest,
    },
    /// Answer requests side by side; the tokens of the first are told as they come.
    GenerateAll {
        id: RequestId,
        #[serde(default)]
        urgency: Urgency,
        requests: Vec<GenerateRequest>,
    },
    /// Count the tokens of texts.
    CountTokens { id: RequestId, texts: Vec<String> },
    /// Count the tokens of a rendered prompt.
    CountPrompt {
        id: RequestId,
        messages: Vec<Message>,
        answer_prefix: String,
    },
    /// Count the tokens of the prompt of a text to be filled in.
    CountFillIn {
        id: RequestId,
        before: String,
        after: String,
    },
    /// Tell the tokens of texts.
    Tokenize { id: RequestId, texts: Vec<PromptText> },
    /// Drop a call, whether it waits or runs. It is answered by `Failed` with [`LlmError::Cancelled`], or by its reply
    /// if that was on its way.
    Cancel {
        /// The call to drop.
        id: RequestId,
    },
    /// Say what was done so far.
    Stats { id: RequestId },
    /// End. Closing standard input says the same.
    Shutdown,
    /// Abort the process at once, as a failed assertion would. For tests of the parent.
    Abort,
}

/// How to load a model. What is none is chosen by the engine, so that it fits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    pub path: PathBuf,
    /// The context in tokens; none: what the model was trained on, at most 32 768, and what the memory holds.
    pub context: Option<u32>,
    /// Threads to compute with; none: the physical cores.
    pub threads: Option<u32>,
    /// Tokens computed in one step; none: the engine's own choice.
    pub batch: Option<u32>,
    /// The most tokens of a context that is not asked for.
    #[serde(default)]
    pub most_context: Option<u32>,
    #[serde(default)]
    pub kv_type: Option<KvType>,
    /// Layers on the graphics device, the output counted as the first; 0: no device is looked for.
    #[serde(default)]
    pub gpu_layers: Option<u32>,
    /// Layers on the device whose experts stay in main memory.
    #[serde(default)]
    pub host_experts: Option<u32>,
    /// How weights come into main memory.
    #[serde(default)]
    pub loading: Option<Loading>,
    /// The folder in which prefixes of this very model are kept for later workers; none: they are lost with the worker.
    #[serde(default)]
    pub prefixes: Option<PathBuf>,
    #[serde(default)]
    pub without: Without,
}

/// What the engine does without, so that a measurement shows what it is worth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Without {
    /// Drafts of what an answer may go on with.
    pub drafts: bool,
    /// What earlier prompts have computed of a prompt.
    pub reuse: bool,
    /// The engine's own kernels.
    pub kernels: bool,
}

impl Load {
    /// Returns what is asked for of the placement.
    pub fn wishes(&self) -> Wishes {
        Wishes {
            context: self.context,
            most_context: self.most_context,
            batch: self.batch,
            kv_type: self.kv_type,
            gpu_layers: self.gpu_layers,
            host_experts: self.host_experts,
            loading: self.loading,
        }
    }
}

/// What the worker loaded: the model, its context and its devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// The name in the header, or of the file.
    pub name: String,
    /// The context in tokens.
    pub context: u32,
    /// The context it was trained on, in tokens.
    pub trained_context: u32,
    /// Threads it computes with.
    pub threads: u32,
    /// Tokens computed in one step at the most.
    pub batch: u32,
    /// Bytes of the weights.
    pub model_bytes: u64,
    /// Bytes of the cache of the whole context.
    pub cache_bytes: u64,
    /// Whether conversations are written in the model's own form or, for want of one, in `ChatML`.
    pub template: TemplateOrigin,
    /// Whether the vocabulary has tokens that ask for a text between two others.
    pub fills_in: bool,
    /// Where the weights were put.
    #[serde(default)]
    pub placed: Placed,
    /// The devices beside the processor, the first of which is used.
    #[serde(default)]
    pub devices: Vec<Device>,
    /// The engine's libraries for other devices that could not be loaded.
    #[serde(default)]
    pub unused_libraries: Vec<UnusedLibrary>,
    /// What a person should know of the choice: what was made smaller, and why.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// Where the weights of a model were put, and how its context is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    pub kv_type: KvType,
    /// Layers on the device, the output counted as the first.
    pub gpu_layers: u32,
    /// Layers of these whose experts are in main memory.
    pub host_experts: u32,
    pub loading: Loading,
    /// Whether the model's own multi-token heads draft.
    #[serde(default)]
    pub heads: bool,
    /// Bytes of main memory that were predicted.
    pub main_bytes: u64,
    /// Bytes of the device's memory that were predicted.
    pub device_bytes: u64,
}

/// A device beside the processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Its name in the library, `Vulkan0` say.
    pub name: String,
    /// What its maker calls it.
    pub description: String,
    /// The library it is used through.
    pub library: String,
    /// Bytes of its memory.
    pub total: u64,
    /// Bytes of it that are free.
    pub free: u64,
    /// Whether its memory is the processor's.
    pub shares_memory: bool,
}

/// A library of the engine that could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnusedLibrary {
    pub file: String,
    pub reason: String,
}

/// Where the form of a conversation comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemplateOrigin {
    Model,
    /// `ChatML`, because the header has none that can be read.
    ChatMl,
}

/// What a worker did since it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stats {
    /// Prompt tokens computed.
    pub computed_tokens: u64,
    /// Prompt tokens found in the cache.
    pub reused_tokens: u64,
    /// Tokens generated.
    pub generated_tokens: u64,
    /// Tokens of scored continuations.
    pub scored_tokens: u64,
    /// Milliseconds spent on prompts.
    pub prompt_ms: u64,
    /// Milliseconds spent on generation and on continuations.
    pub generate_ms: u64,
    /// Tokens that lie in the cache now.
    pub cached_tokens: u32,
    /// Bytes of memory the process holds now; 0 where the system does not say.
    pub resident_bytes: u64,
}

/// From the worker to its parent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FromWorker {
    /// A step was computed: said now and then, so that a parent can tell work that takes long from none.
    Working,
    /// A model is loaded.
    Loaded {
        id: RequestId,
        loaded: Loaded,
    },
    Token {
        id: RequestId,
        /// The text, whole characters.
        text: String,
    },
    /// A conversation was continued.
    Chat {
        id: RequestId,
        reply: ChatReply,
    },
    Score {
        id: RequestId,
        reply: ScoreReply,
    },
    TokenEdits {
        id: RequestId,
        reply: TokenEditReply,
    },
    /// Requests were answered, in their order.
    GeneratedAll {
        id: RequestId,
        replies: Vec<ChatReply>,
    },
    /// Tokens were counted.
    Counts {
        id: RequestId,
        /// One for each text, or one for the prompt.
        counts: Vec<u32>,
    },
    /// The tokens of texts, in their order.
    Tokens {
        id: RequestId,
        tokens: Vec<Vec<u32>>,
    },
    /// What was done so far.
    Stats {
        id: RequestId,
        stats: Stats,
    },
    /// A call failed; the worker goes on.
    Failed {
        id: RequestId,
        error: LlmError,
    },
}

impl FromWorker {
    /// Returns the call a message belongs to; none where it is of all of them.
    pub fn id(&self) -> Option<RequestId> {
        match self {
            Self::Working => None,
            Self::Loaded { id, .. }
            | Self::Token { id, .. }
            | Self::Chat { id, .. }
            | Self::Score { id, .. }
            | Self::TokenEdits { id, .. }
            | Self::GeneratedAll { id, .. }
            | Self::Counts { id, .. }
            | Self::Tokens { id, .. }
            | Self::Stats { id, .. }
            | Self::Failed { id, .. } => Some(*id),
        }
    }
}

/// Returns a message as a line, its line end included.
///
/// # Errors
/// When a part of the message has no form in JSON.
pub fn to_line(message: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut line = serde_json::to_string(message)?;
    line.push('\n');
    Ok(line)
}

/// Returns the message of a line.
///
/// # Errors
/// When the line is not JSON of this form.
pub fn from_line<M: DeserializeOwned>(line: &str) -> Result<M, serde_json::Error> {
    serde_json::from_str(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Constraint, Departure, FillInRequest, FinishReason, MessageRole, OtherThan, Sampling, Score, TokenEdit, Usage,
    };
    use std::fmt::Debug;

    fn check<M: Serialize + DeserializeOwned + PartialEq + Debug>(message: &M) {
        let line = to_line(message).unwrap();
        assert_eq!(line.matches('\n').count(), 1, "one line: {line:?}");
        assert_eq!(&from_line::<M>(&line).unwrap(), message);
    }

    #[test]
    fn messages_come_back_as_they_were_sent() {
        let messages = vec![Message::new(MessageRole::User, "line\nline \u{2028} <|im_end|> \"é\"")];
        check(&ToWorker::Chat {
            id: RequestId(7),
            urgency: Urgency::Background,
            request: ChatRequest {
                answer_prefix: "```\n".to_owned(),
                constraint: Constraint::LineRanges {
                    first: 1,
                    last: 9,
                    most: 2,
                },
                sampling: Sampling::Temperature {
                    temperature: 0.8,
                    seed: u64::MAX,
                },
                stop: vec!["\n```".to_owned()],
                ..ChatRequest::new(messages.clone(), 3)
            },
        });
        check(&ToWorker::Load {
            id: RequestId(1),
            load: Load {
                path: "a b.gguf".into(),
                context: None,
                threads: Some(2),
                gpu_layers: Some(0),
                kv_type: Some(KvType::Q8),
                without: Without {
                    drafts: true,
                    ..Without::default()
                },
                ..Load::default()
            },
        });
        check(&ToWorker::CountPrompt {
            id: RequestId(2),
            messages,
            answer_prefix: String::new(),
        });
        check(&ToWorker::GenerateAll {
            id: RequestId(3),
            urgency: Urgency::Interactive,
            requests: vec![
                GenerateRequest::FillIn(FillInRequest {
                    before: "def f():\n".to_owned(),
                    after: "<|fim_middle|>".to_owned(),
                    sampling: Sampling::Temperature {
                        temperature: 0.7,
                        seed: u64::MAX,
                    },
                    max_tokens: 3,
                    stop: vec!["\n\n".to_owned()],
                    other_than: Some(OtherThan {
                        text: "    pass\n".to_owned(),
                        by: Departure::Replaced,
                        rank: 3,
                    }),
                }),
                GenerateRequest::Chat(ChatRequest {
                    constraint: Constraint::OneOf(vec!["a".to_owned()]),
                    ..ChatRequest::new(Vec::new(), 3)
                }),
            ],
        });
        check(&ToWorker::Shutdown);
        check(&FromWorker::Chat {
            id: RequestId(7),
            reply: ChatReply::new("a\r\nb".to_owned(), FinishReason::Looping, Usage::default()),
        });
        check(&FromWorker::Score {
            id: RequestId(8),
            reply: ScoreReply {
                scores: vec![Score {
                    logprob: -0.123_456_789_012_345,
                    tokens: 3,
                }],
                lines: vec![vec![-0.5, -1.25]],
                usage: Usage::default(),
            },
        });
        check(&FromWorker::Failed {
            id: RequestId(9),
            error: LlmError::OverContext {
                prompt: 9,
                answer: 1,
                context: 8,
            },
        });
    }

    #[test]
    fn texts_whose_tokens_are_asked_for_come_back_as_they_were_sent() {
        check(&ToWorker::Tokenize {
            id: RequestId(5),
            texts: vec![
                PromptText::Chat {
                    messages: Vec::new(),
                    answer_prefix: "```\n".to_owned(),
                },
                PromptText::Continuation { text: "é".to_owned() },
            ],
        });
        check(&FromWorker::Tokens {
            id: RequestId(5),
            tokens: vec![vec![0, u32::MAX], Vec::new()],
        });
    }

    #[test]
    fn a_load_without_wishes_of_later_versions_is_read() {
        let line = r#"{"path":"m.gguf","context":512,"threads":null,"batch":null}"#;
        let load: Load = from_line(line).unwrap();
        assert_eq!(
            load.wishes(),
            Wishes {
                context: Some(512),
                ..Wishes::default()
            }
        );
    }

    #[test]
    fn edits_of_a_text_come_back_as_they_were_sent() {
        check(&ToWorker::TokenEdits {
            id: RequestId(4),
            urgency: Urgency::Background,
            request: TokenEditRequest {
                before: "def f(a):\n".to_owned(),
                after: String::new(),
                text: "    return a < \"é\"\n".to_owned(),
                most: 300,
                written: 9,
            },
        });
        check(&FromWorker::TokenEdits {
            id: RequestId(4),
            reply: TokenEditReply {
                edits: vec![TokenEdit {
                    start: 12,
                    end: 14,
                    text: " <=".to_owned(),
                    gain: -0.123_456_789_012_345,
                }],
                usage: Usage::default(),
            },
        });
    }
}
