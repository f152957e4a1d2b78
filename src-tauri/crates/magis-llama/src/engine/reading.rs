//! What an answer is read as while it is generated: what is thought, what is said, what is called; and when the thinking has to end.

use super::native::Token;
use super::prompt::Tokenizer;
use magis_llm::tool_format::{AnswerForm, AnswerPiece, AnswerReader};
use magis_llm::{ChatReply, ChatRequest, Thinking, ToolCall, UnreadableCall};

/// The parts of an answer that has more than text.
pub struct AnswerReading {
    reader: AnswerReader,
    budget: u32,
    thought: u32,
    close: &'static str,
    // What ends the thinking in its midst, and what stands behind an end that the model wrote.
    cut_short: Vec<Token>,
    behind: Vec<Token>,
    thinking: String,
    calls: Vec<ToolCall>,
    unreadable: Vec<UnreadableCall>,
}

/// How the thinking ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingEnd {
    /// The model ended it, and nothing stands behind it yet.
    Bare,
    /// All up to the answer is there.
    Whole,
}

impl AnswerReading {
    /// Creates the reading of an answer; none where it is text alone.
    pub fn new(request: &ChatRequest, form: &AnswerForm, tokenizer: &Tokenizer) -> Option<Self> {
        let budget = match request.thinking {
            Thinking::Off if request.tools.is_empty() => return None,
            Thinking::Off => 0,
            Thinking::On { budget } => budget,
        };
        let tokens = |text: &str| tokenizer.form(text);
        Some(Self {
            reader: AnswerReader::new(form, &request.tools.declared),
            budget,
            thought: 0,
            close: form.thinking.map_or("", |form| form.close),
            cut_short: form.thinking.map_or_else(Vec::new, |form| tokens(&form.cut_short())),
            behind: form.thinking.map_or_else(Vec::new, |form| tokens(form.behind)),
            thinking: String::new(),
            calls: Vec::new(),
            unreadable: Vec::new(),
        })
    }

    /// Returns whether what comes next is thought.
    pub fn is_thinking(&self) -> bool {
        self.reader.is_thinking()
    }

    /// Returns the most tokens up to where the text begins.
    pub fn most_before(&self) -> u32 {
        if self.is_thinking() {
            self.budget.saturating_add(self.cut_short.len() as u32)
        } else {
            0
        }
    }

    /// Returns what has to end the thinking now, where its budget is spent.
    pub fn spent(&self) -> Option<&[Token]> {
        (self.is_thinking() && self.thought >= self.budget).then_some(&self.cut_short)
    }

    /// Lets the thinking end with the next token.
    pub fn spend(&mut self) {
        self.budget = self.thought;
    }

    /// Returns what ends the thinking, whenever.
    pub fn cut_short(&self) -> &[Token] {
        &self.cut_short
    }

    /// Returns what stands between an end that the model wrote and the answer.
    pub fn behind(&self) -> &[Token] {
        &self.behind
    }

    /// Takes the text of a token, and returns what of it is said, and how the thinking ended with it.
    pub fn push(&mut self, text: &str) -> (String, Option<ThinkingEnd>) {
        let thought = self.is_thinking();
        self.thought += u32::from(thought);
        let pieces = self.reader.push(text);
        let said = self.take(pieces);
        let ended = thought && !self.is_thinking();
        let bare = text.ends_with(self.close) || self.close.ends_with(text);
        let end = if bare { ThinkingEnd::Bare } else { ThinkingEnd::Whole };
        (said, ended.then_some(end))
    }

    /// Returns what is said at the end, when nothing more comes.
    pub fn finish(&mut self) -> String {
        let pieces = self.reader.finish();
        self.take(pieces)
    }

    /// Puts what was thought and called into a reply.
    pub fn complete(&self, reply: &mut ChatReply) {
        self.thinking.trim().clone_into(&mut reply.thinking);
        reply.tool_calls.clone_from(&self.calls);
        reply.unreadable_calls.clone_from(&self.unreadable);
        if !self.calls.is_empty() {
            reply.text.truncate(reply.text.trim_end().len());
        }
    }

    fn take(&mut self, pieces: Vec<AnswerPiece>) -> String {
        let mut said = String::new();
        for piece in pieces {
            match piece {
                AnswerPiece::Thinking(text) => self.thinking.push_str(&text),
                AnswerPiece::Text(text) => said.push_str(&text),
                AnswerPiece::Call(call) => self.calls.push(call),
                AnswerPiece::Unreadable(call) => self.unreadable.push(call),
            }
        }
        said
    }
}
