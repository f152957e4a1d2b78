//! The syntax in which a model calls tools and thinks, by family: how it is recognised, read from what a model writes, and
//! enforced while it writes.
//!
//! How the declarations, the calls and the results of a conversation are written is the template's affair.

mod calls;
mod found;
mod gemma;
mod grammar;
mod harmony;
mod reader;
mod tagged;

pub use grammar::GrammarError;
pub use reader::{AnswerPiece, AnswerReader};

/// A family of models by the syntax of their calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolFormat {
    /// JSON within `<tool_call>`: Qwen 2.5 and 3, Hermes, Granite 4. Models without a form of their own are told to use it, too.
    Hermes,
    /// `<function=…>` and `<parameter=…>` within `<tool_call>`: Qwen 3 Coder, 3.5 and 3.6.
    QwenXml,
    /// `[TOOL_CALLS]` and a list: Mistral before the end of 2024.
    MistralList,
    /// `[TOOL_CALLS]name[ARGS]` and the arguments: Devstral, Ministral, Mistral from then on.
    Mistral,
    /// An answer that is JSON with `name` and `parameters`: Llama 3.
    Llama,
    /// `<|tool_call|>` and a list: Granite 3.
    Granite,
    /// Messages to `functions.name` in a channel: gpt-oss.
    Harmony,
    /// `call:name{…}` with values in a notation of its own: Gemma 4.
    Gemma,
    /// Arguments behind `<｜tool▁sep｜>`: `DeepSeek` from 3.1 on.
    DeepSeek,
    /// Arguments in a code block behind that: `DeepSeek` before.
    DeepSeekFenced,
}

/// How a model shows that it thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThinkingForm {
    pub open: &'static str,
    pub close: &'static str,
    /// What stands between the end of the thinking and the answer.
    pub behind: &'static str,
    // What stands before `close`.
    before_close: &'static str,
}

impl ThinkingForm {
    /// Returns what ends the thinking in its midst.
    pub fn cut_short(&self) -> String {
        [self.before_close, self.close, self.behind].concat()
    }

    /// Returns what says that nothing was thought, behind a form that ends with [`ThinkingForm::open`].
    pub(crate) fn none_thought(&self, form: &str) -> String {
        if form.ends_with(char::is_whitespace) {
            self.cut_short()
        } else {
            self.close.to_owned()
        }
    }
}

/// What an answer is to be read as: the syntax, and where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerForm {
    pub format: ToolFormat,
    /// None for models that do not think.
    pub thinking: Option<ThinkingForm>,
    pub begins: AnswerBegin,
    /// Calls in the conversation before it.
    pub earlier_calls: usize,
}

/// What the first token of an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerBegin {
    Thinking,
    /// The text, or a call.
    Text,
}

impl ToolFormat {
    /// Recognises the syntax of a model's calls by what only its template says; none where it has none, or one that is not known.
    ///
    /// Templates write the calls of earlier turns, so their marks stand there literally. The first rule that holds counts.
    pub fn of_template(source: &str) -> Option<Self> {
        let has = |text: &str| source.contains(text);
        let named_in_json = has("{\"name\": ") || has("{\\\"name\\\": ");
        Some(if has("<|channel|>") && has("<|message|>") {
            Self::Harmony
        } else if has("<|tool_call>") && has("<|\"|>") {
            Self::Gemma
        } else if has("<｜tool▁sep｜>") {
            if has("```json") {
                Self::DeepSeekFenced
            } else {
                Self::DeepSeek
            }
        } else if has("[TOOL_CALLS]") {
            if has("[ARGS]") {
                Self::Mistral
            } else {
                Self::MistralList
            }
        } else if has("<tool_call>") && has("<function=") && has("<parameter=") {
            Self::QwenXml
        } else if has("<|tool_call|>") {
            Self::Granite
        } else if has("<tool_call>") && named_in_json && has("arguments") && !has("<arg_key>") {
            Self::Hermes
        } else if has("<|start_header_id|>") && has("\"parameters\": ") {
            Self::Llama
        } else {
            return None;
        })
    }
}

/// Returns how a model shows that it thinks, by its template; none where that says nothing of it.
pub fn thinking_form(source: &str, format: ToolFormat, tools: WithTools) -> Option<ThinkingForm> {
    const FORMS: [ThinkingForm; 4] = [
        ThinkingForm {
            open: "<|channel>thought\n",
            before_close: "\n",
            close: "<channel|>",
            behind: "",
        },
        ThinkingForm {
            open: "[THINK]",
            before_close: "",
            close: "[/THINK]",
            behind: "",
        },
        ThinkingForm {
            open: "<seed:think>",
            before_close: "\n",
            close: "</seed:think>",
            behind: "\n\n",
        },
        ThinkingForm {
            open: "<think>",
            before_close: "\n",
            close: "</think>",
            behind: "\n\n",
        },
    ];
    if format == ToolFormat::Harmony {
        return Some(ThinkingForm {
            open: "<|channel|>analysis<|message|>",
            before_close: "",
            close: "<|end|>",
            behind: match tools {
                WithTools::Yes => "<|start|>assistant",
                WithTools::No => "<|start|>assistant<|channel|>final<|message|>",
            },
        });
    }
    FORMS.into_iter().find(|form| source.contains(form.open.trim_end()))
}

/// Whether a conversation has tools to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithTools {
    Yes,
    No,
}
