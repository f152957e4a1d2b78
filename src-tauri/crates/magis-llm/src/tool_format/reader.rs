//! Reads an answer while it comes: what is thought, what is said, and what is called.

use super::found::Found;
use super::harmony::HarmonyReader;
use super::tagged::TaggedReader;
use super::{AnswerForm, ToolFormat};
use crate::{ToolCall, ToolDeclaration, UnreadableCall};

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerPiece {
    Thinking(String),
    Text(String),
    Call(ToolCall),
    Unreadable(UnreadableCall),
}

/// Reads the text of an answer, marks included, in pieces of any length.
#[derive(Debug)]
pub struct AnswerReader {
    syntax: Syntax,
    next_call: usize,
}

#[derive(Debug)]
enum Syntax {
    Tagged(TaggedReader),
    Harmony(HarmonyReader),
}

impl AnswerReader {
    /// Creates the reader of an answer in this form. Values that are written without their types are read by `tools`.
    pub fn new(form: &AnswerForm, tools: &[ToolDeclaration]) -> Self {
        let syntax = match form.format {
            ToolFormat::Harmony => Syntax::Harmony(HarmonyReader::new(form.begins)),
            _ => Syntax::Tagged(TaggedReader::new(form, tools)),
        };
        Self {
            syntax,
            next_call: form.earlier_calls,
        }
    }

    /// Takes more of the answer and returns what is certain of it.
    pub fn push(&mut self, text: &str) -> Vec<AnswerPiece> {
        let found = match &mut self.syntax {
            Syntax::Tagged(reader) => reader.push(text),
            Syntax::Harmony(reader) => reader.push(text),
        };
        self.pieces(found)
    }

    /// Returns what is left when nothing more comes.
    pub fn finish(&mut self) -> Vec<AnswerPiece> {
        let found = match &mut self.syntax {
            Syntax::Tagged(reader) => reader.finish(),
            Syntax::Harmony(reader) => reader.finish(),
        };
        self.pieces(found)
    }

    /// Returns whether what comes next is thought.
    pub fn is_thinking(&self) -> bool {
        match &self.syntax {
            Syntax::Tagged(reader) => reader.is_thinking(),
            Syntax::Harmony(reader) => reader.is_thinking(),
        }
    }

    fn pieces(&mut self, found: Vec<Found>) -> Vec<AnswerPiece> {
        let mut pieces = Vec::with_capacity(found.len());
        for found in found {
            match found {
                Found::Thinking(text) | Found::Text(text) if text.is_empty() => {}
                Found::Thinking(text) => pieces.push(AnswerPiece::Thinking(text)),
                Found::Text(text) => pieces.push(AnswerPiece::Text(text)),
                Found::Calls(Ok(calls), _) => pieces.extend(calls.into_iter().map(|(name, arguments)| {
                    let id = ToolCall::id(self.next_call);
                    self.next_call += 1;
                    AnswerPiece::Call(ToolCall { id, name, arguments })
                })),
                Found::Calls(Err(reason), text) => {
                    pieces.push(AnswerPiece::Unreadable(UnreadableCall { text, reason }));
                }
            }
        }
        pieces
    }
}
