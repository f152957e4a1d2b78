//! One answer while it is generated: which tokens it is made of, what of its text is certain, and where it ends.
//!
//! The logits come from outside, and so does the order of several answers.

use super::LlamaError;
use super::constraint::{ConstraintError, Rail};
use super::loops::LoopDetector;
use super::native::Token;
use super::prompt::Tokenizer;
use super::sampler::Sampler;
use super::text::{Released, StopMatcher, Utf8Assembler};
use magis_llm::{FinishReason, Sampling};

/// An answer that is being written.
pub struct PartialAnswer {
    most: u32,
    tokens: u32,
    text: String,
    finish: Option<FinishReason>,
    // Tokens that belong to it and are not computed yet.
    waiting: Vec<Token>,
    sampler: Sampler,
    rail: Option<Rail>,
    characters: Utf8Assembler,
    stops: StopMatcher,
    loops: LoopDetector,
    row: Vec<f32>,
}

impl PartialAnswer {
    /// Creates an answer of `most` tokens at the most, which ends before any of `stop`.
    pub fn new(sampling: Sampling, most: u32, stop: &[String], mut rail: Option<Rail>) -> Self {
        Self {
            most,
            tokens: 0,
            text: String::new(),
            finish: None,
            waiting: rail.as_mut().map(Rail::begin).unwrap_or_default(),
            sampler: Sampler::new(sampling),
            rail,
            characters: Utf8Assembler::default(),
            stops: StopMatcher::new(stop),
            loops: LoopDetector::new(),
            row: Vec::new(),
        }
    }

    /// Sets what it begins with, before anything else is written.
    pub fn begin_with(&mut self, tokens: Vec<Token>) {
        self.waiting = tokens;
    }

    /// Goes on by a token, with the logits behind all that is computed, and by those that can only follow it. Text goes to
    /// `sink`.
    ///
    /// # Errors
    /// When no token fits the constraint.
    pub fn advance(
        &mut self,
        logits: &[f32],
        tokenizer: &Tokenizer,
        sink: &mut dyn FnMut(&str),
    ) -> Result<(), LlamaError> {
        if self.waiting.is_empty() && self.has_room() && !self.is_complete() {
            let token = self.choose(logits)?;
            if tokenizer.ends(token) {
                self.finish = Some(FinishReason::Complete);
            } else {
                self.waiting.push(token);
                if let Some(rail) = &mut self.rail {
                    self.waiting.extend(rail.accept(token)?);
                }
            }
        }
        self.waiting.truncate(self.room() as usize);
        for at in 0..self.waiting.len() {
            let token = self.waiting[at];
            self.push(token, &tokenizer.bytes(token), sink);
        }
        if self.finish.is_none() && self.is_complete() {
            self.finish = Some(FinishReason::Complete);
        }
        if self.finish.is_none() && !self.has_room() {
            self.finish = Some(FinishReason::Length);
        }
        if self.finish.is_some() {
            self.waiting.clear();
            let held = self.stops.finish();
            let open = self.characters.finish();
            self.show(&held, sink);
            self.show(open, sink);
        }
        Ok(())
    }

    /// Takes the next tokens to be computed, so many at the most.
    pub fn take(&mut self, most: usize) -> Vec<Token> {
        self.waiting.drain(..most.min(self.waiting.len())).collect()
    }

    /// Returns the next token to be computed.
    pub fn next(&self) -> Option<Token> {
        self.waiting.first().copied()
    }

    /// Returns whether all its tokens were taken: the logits behind the last one decide how it goes on.
    pub fn is_taken(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns its tokens so far.
    pub fn tokens(&self) -> u32 {
        self.tokens
    }

    /// Returns its text, and how it ended; nothing while it goes on.
    pub fn ended(&self) -> Option<(&str, FinishReason)> {
        self.finish.map(|finish| (self.text.as_str(), finish))
    }

    fn choose(&mut self, logits: &[f32]) -> Result<Token, LlamaError> {
        let chosen = match &mut self.rail {
            None => self.sampler.choose(logits),
            Some(rail) => {
                self.row.clear();
                self.row.extend_from_slice(logits);
                rail.mask(&mut self.row)?;
                self.sampler.choose(&self.row)
            }
        };
        let none = || ConstraintError::Grammar("no token of the vocabulary fits it here".to_owned());
        Ok(chosen.ok_or_else(none)?)
    }

    fn is_complete(&self) -> bool {
        self.rail.as_ref().is_some_and(Rail::is_done)
    }

    fn room(&self) -> u32 {
        self.most - self.tokens
    }

    fn has_room(&self) -> bool {
        self.room() > 0
    }

    /// Takes a token; nothing when the answer has ended.
    fn push(&mut self, token: Token, bytes: &[u8], sink: &mut dyn FnMut(&str)) {
        if self.finish.is_some() {
            return;
        }
        self.tokens += 1;
        let characters = self.characters.push(bytes);
        match self.stops.push(&characters) {
            Released::Text(text) => self.show(&text, sink),
            Released::Stopped(text) => {
                self.show(&text, sink);
                self.finish = Some(FinishReason::Complete);
                return;
            }
        }
        if self.loops.push(token) {
            self.finish = Some(FinishReason::Looping);
        }
    }

    fn show(&mut self, text: &str, sink: &mut dyn FnMut(&str)) {
        if !text.is_empty() {
            self.text.push_str(text);
            sink(text);
        }
    }
}
