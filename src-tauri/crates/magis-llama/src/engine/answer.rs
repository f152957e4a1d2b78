//! One answer while it is generated: which tokens it is made of, what of its text is certain, and where it ends.
//!
//! The logits come from outside, and so does the order of several answers.

use super::LlamaError;
use super::constraint::{ConstraintError, Rail};
use super::loops::LoopDetector;
use super::native::Token;
use super::prompt::Tokenizer;
use super::reading::{AnswerReading, ThinkingEnd};
use super::sampler::Sampler;
use super::text::{Released, StopMatcher, Utf8Assembler};
use magis_llm::{ChatReply, FinishReason, Sampling, Usage};

/// An answer that is being written.
pub struct PartialAnswer {
    // With what may be thought before, as long as that goes on.
    most: u32,
    most_of_text: u32,
    tokens: u32,
    text: String,
    finish: Option<FinishReason>,
    // Whether a stop text came: nothing is said behind it.
    stopped: bool,
    // Tokens that belong to it and are not computed yet.
    waiting: Vec<Token>,
    sampler: Sampler,
    // Followed from where the text begins: what is thought before is free.
    rail: Option<Rail>,
    reading: Option<AnswerReading>,
    characters: Utf8Assembler,
    stops: StopMatcher,
    loops: LoopDetector,
    row: Vec<f32>,
}

impl PartialAnswer {
    /// Creates an answer of `most` tokens at the most behind what is thought; its text ends before any of `stop`.
    pub fn new(
        sampling: Sampling,
        most: u32,
        stop: &[String],
        mut rail: Option<Rail>,
        reading: Option<AnswerReading>,
    ) -> Self {
        let thinks = reading.as_ref().is_some_and(AnswerReading::is_thinking);
        let begin = rail.as_mut().filter(|_| !thinks).map(Rail::begin);
        Self {
            most: most.saturating_add(reading.as_ref().map_or(0, AnswerReading::most_before)),
            most_of_text: most,
            tokens: 0,
            text: String::new(),
            finish: None,
            stopped: false,
            waiting: begin.unwrap_or_default(),
            sampler: Sampler::new(sampling),
            rail,
            reading,
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
            self.go_on(logits, tokenizer)?;
        }
        let mut at = 0;
        while at < self.waiting.len() && self.finish.is_none() {
            if !self.has_room() {
                self.waiting.truncate(at);
                break;
            }
            let token = self.waiting[at];
            at += 1;
            let is_last = at == self.waiting.len();
            if let Some(end) = self.push(token, tokenizer, sink) {
                self.end_thinking(if is_last { end } else { ThinkingEnd::Whole });
            }
        }
        if self.finish.is_none() && self.is_complete() {
            self.finish = Some(FinishReason::Complete);
        }
        if self.finish.is_none() && !self.has_room() {
            self.finish = Some(FinishReason::Length);
        }
        if self.finish.is_some() {
            self.waiting.clear();
            let open = self.characters.finish();
            self.say(open, sink);
            let rest = self.reading.as_mut().map(AnswerReading::finish).unwrap_or_default();
            self.release(&rest, sink);
            let held = self.stops.finish();
            self.show(&held, sink);
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

    /// Returns the reply that it has become; nothing while it goes on.
    pub fn reply(&self, usage: Usage) -> Option<ChatReply> {
        let (text, finish) = self.ended()?;
        let mut reply = ChatReply::new(text.to_owned(), finish, usage);
        if let Some(reading) = &self.reading {
            reading.complete(&mut reply);
        }
        Some(reply)
    }

    /// Chooses the next token, or those that end the thinking where it has gone on long enough.
    fn go_on(&mut self, logits: &[f32], tokenizer: &Tokenizer) -> Result<(), LlamaError> {
        if let Some(end) = self.reading.as_ref().and_then(AnswerReading::spent) {
            self.waiting = end.to_vec();
            return Ok(());
        }
        let token = self.choose(logits)?;
        if !tokenizer.ends(token) {
            self.waiting.push(token);
            let thinks = self.thinks();
            if let Some(rail) = self.rail.as_mut().filter(|_| !thinks) {
                self.waiting.extend(rail.accept(token)?);
            }
        } else if let Some(reading) = self.reading.as_ref().filter(|reading| reading.is_thinking()) {
            // It would end without an answer.
            self.waiting = reading.cut_short().to_vec();
        } else {
            self.finish = Some(FinishReason::Complete);
        }
        Ok(())
    }

    /// Goes on with what has to follow what was thought.
    fn end_thinking(&mut self, end: ThinkingEnd) {
        self.most = self.most.min(self.tokens.saturating_add(self.most_of_text));
        if let Some(reading) = self.reading.as_ref().filter(|_| end == ThinkingEnd::Bare) {
            self.waiting.extend(reading.behind());
        }
        if let Some(rail) = &mut self.rail {
            self.waiting.extend(rail.begin());
        }
    }

    fn thinks(&self) -> bool {
        self.reading.as_ref().is_some_and(AnswerReading::is_thinking)
    }

    fn choose(&mut self, logits: &[f32]) -> Result<Token, LlamaError> {
        let thinks = self.thinks();
        let chosen = match self.rail.as_mut().filter(|_| !thinks) {
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

    /// Takes a token; tells how the thinking ended with it.
    fn push(&mut self, token: Token, tokenizer: &Tokenizer, sink: &mut dyn FnMut(&str)) -> Option<ThinkingEnd> {
        self.tokens += 1;
        let bytes = match self.reading {
            Some(_) => tokenizer.shown(token),
            None => tokenizer.bytes(token),
        };
        let characters = self.characters.push(&bytes);
        let end = self.say(&characters, sink);
        if self.finish.is_none() && self.loops.push(token) {
            match self.reading.as_mut().filter(|reading| reading.is_thinking()) {
                Some(reading) => reading.spend(),
                None => self.finish = Some(FinishReason::Looping),
            }
        }
        end
    }

    /// Takes more of the answer, of which some may be no text.
    fn say(&mut self, characters: &str, sink: &mut dyn FnMut(&str)) -> Option<ThinkingEnd> {
        let Some(reading) = &mut self.reading else {
            self.release(characters, sink);
            return None;
        };
        let (said, end) = reading.push(characters);
        self.release(&said, sink);
        end
    }

    /// Takes more of the text.
    fn release(&mut self, text: &str, sink: &mut dyn FnMut(&str)) {
        if self.stopped {
            return;
        }
        match self.stops.push(text) {
            Released::Text(text) => self.show(&text, sink),
            Released::Stopped(text) => {
                self.show(&text, sink);
                self.stopped = true;
                self.finish = Some(FinishReason::Complete);
            }
        }
    }

    fn show(&mut self, text: &str, sink: &mut dyn FnMut(&str)) {
        if !text.is_empty() {
            self.text.push_str(text);
            sink(text);
        }
    }
}
