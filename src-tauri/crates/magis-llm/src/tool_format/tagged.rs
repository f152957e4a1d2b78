//! Reads answers in which tags stand around what is thought and around calls: all families but harmony.

use super::calls;
use super::found::{Found, take_certain};
use super::{AnswerBegin, AnswerForm, ThinkingForm, ToolFormat};
use crate::ToolDeclaration;

#[derive(Debug)]
pub(super) struct TaggedReader {
    format: ToolFormat,
    thinking: Option<ThinkingForm>,
    tools: Vec<ToolDeclaration>,
    // Whether something was thought, or could have been.
    thought: bool,
    state: State,
    // What is not certain yet; in a call all of it.
    held: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Thinking,
    /// Nothing but white space has come of the text.
    Begin,
    Text,
    Call,
}

impl TaggedReader {
    pub(super) fn new(form: &AnswerForm, tools: &[ToolDeclaration]) -> Self {
        let thinks = form.thinking.is_some() && form.begins == AnswerBegin::Thinking;
        Self {
            format: form.format,
            thinking: form.thinking,
            tools: tools.to_vec(),
            thought: thinks,
            state: if thinks { State::Thinking } else { State::Begin },
            held: String::new(),
        }
    }

    pub(super) fn is_thinking(&self) -> bool {
        self.state == State::Thinking
    }

    pub(super) fn push(&mut self, text: &str) -> Vec<Found> {
        self.held.push_str(text);
        let mut found = Vec::new();
        while self.step(&mut found) {}
        found
    }

    pub(super) fn finish(&mut self) -> Vec<Found> {
        let mut found = Vec::new();
        while self.state == State::Call {
            let body = std::mem::take(&mut self.held);
            let read = calls::read(self.format, &body, &self.tools);
            match (read, self.close().and_then(|close| body.split_once(close))) {
                (Ok(calls), _) => found.push(Found::Calls(Ok(calls), body)),
                // JSON that is no call is an answer.
                (Err(_), _) if self.format == ToolFormat::Llama => found.push(Found::Text(body)),
                (Err(reason), None) => found.push(Found::Calls(Err(reason), body)),
                (Err(reason), Some((call, after))) => {
                    found.push(Found::Calls(Err(reason), call.to_owned()));
                    self.state = State::Text;
                    found.extend(self.push(after));
                    continue;
                }
            }
            self.state = State::Text;
        }
        let rest = std::mem::take(&mut self.held);
        found.push(match self.state {
            State::Thinking => Found::Thinking(rest),
            _ => Found::Text(rest),
        });
        found
    }

    /// Goes on in what is held; false where more is needed.
    fn step(&mut self, found: &mut Vec<Found>) -> bool {
        match self.state {
            State::Thinking => {
                let close = self.thinking.map_or("", |form| form.close);
                let Some(at) = self.held.find(close) else {
                    found.push(Found::Thinking(take_certain(&mut self.held, &[close])));
                    return false;
                };
                let after = self.held.split_off(at + close.len());
                self.held.truncate(at);
                found.push(Found::Thinking(std::mem::replace(&mut self.held, after)));
                self.state = State::Begin;
                true
            }
            State::Begin => {
                let text = self.held.trim_start();
                let open = self.thinking.map_or("", |form| form.open);
                if text.is_empty() || (open.starts_with(text) && text.len() < open.len()) {
                    return false;
                }
                if let Some(after) = text.strip_prefix(open).filter(|_| !open.is_empty() && !self.thought) {
                    // It was not asked to, and thinks.
                    self.held = after.to_owned();
                    self.thought = true;
                    self.state = State::Thinking;
                    return true;
                }
                // White space at the begin counts where nothing was thought before.
                if self.thought {
                    self.held = text.to_owned();
                }
                let opens = self.format == ToolFormat::Llama && self.held.trim_start().starts_with('{');
                self.state = if opens { State::Call } else { State::Text };
                true
            }
            State::Text => {
                let open = self.open();
                let Some(at) = self.held.find(open) else {
                    found.push(Found::Text(take_certain(&mut self.held, &[open])));
                    return false;
                };
                let body = self.held.split_off(at + open.len());
                self.held.truncate(at);
                found.push(Found::Text(std::mem::replace(&mut self.held, body)));
                self.state = State::Call;
                true
            }
            State::Call => {
                // A call may have its own end in a string: the first end up to which it can be read is meant.
                let Some(close) = self.close() else {
                    return false;
                };
                for (at, _) in self.held.match_indices(close) {
                    if let Ok(calls) = calls::read(self.format, &self.held[..at], &self.tools) {
                        let after = self.held.split_off(at + close.len());
                        self.held.truncate(at);
                        let body = std::mem::replace(&mut self.held, after);
                        found.push(Found::Calls(Ok(calls), body));
                        self.state = State::Text;
                        return true;
                    }
                }
                false
            }
        }
    }

    fn open(&self) -> &'static str {
        match self.format {
            ToolFormat::Hermes | ToolFormat::QwenXml => "<tool_call>",
            ToolFormat::MistralList | ToolFormat::Mistral => "[TOOL_CALLS]",
            ToolFormat::Llama => "<|python_tag|>",
            ToolFormat::Granite => "<|tool_call|>",
            ToolFormat::Gemma => "<|tool_call>",
            ToolFormat::DeepSeek | ToolFormat::DeepSeekFenced => "<｜tool▁calls▁begin｜>",
            ToolFormat::Harmony => "<|call|>",
        }
    }

    /// Returns what ends a call; none where the end of the answer does.
    fn close(&self) -> Option<&'static str> {
        match self.format {
            ToolFormat::Hermes | ToolFormat::QwenXml => Some("</tool_call>"),
            ToolFormat::Gemma => Some("<tool_call|>"),
            ToolFormat::DeepSeek | ToolFormat::DeepSeekFenced => Some("<｜tool▁calls▁end｜>"),
            ToolFormat::MistralList
            | ToolFormat::Mistral
            | ToolFormat::Llama
            | ToolFormat::Granite
            | ToolFormat::Harmony => None,
        }
    }
}
