//! Continues a conversation, token by token.

use super::constraint::{ConstraintError, Rail};
use super::loops::LoopDetector;
use super::native::Token;
use super::sampler::Sampler;
use super::text::{Released, StopMatcher, Utf8Assembler};
use super::{Engine, LlamaError, milliseconds};
use magis_llm::{ChatReply, ChatRequest, Constraint, FinishReason, LlmError, Usage};
use std::time::Instant;

pub(super) fn chat(
    engine: &mut Engine,
    request: &ChatRequest,
    sink: &mut dyn FnMut(&str),
) -> Result<ChatReply, LlamaError> {
    engine.check_cancelled()?;
    let prompt = engine.tokenizer.prompt(&request.messages, &request.answer_prefix)?;
    if prompt.is_empty() {
        return Err(LlmError::BadRequest {
            reason: "the prompt is empty".to_owned(),
        }
        .into());
    }
    engine.check_room(prompt.len(), request.max_tokens as usize)?;
    let mut rail = match &request.constraint {
        Constraint::None => None,
        constraint => engine.constraints()?.rail(constraint)?,
    };
    let prefilled = engine.prefill(&prompt)?;
    let begun = Instant::now();
    let mut answer = Answer::new(request, sink);
    let mut sampler = Sampler::new(request.sampling);
    let mut logits_at = prefilled.last;
    let mut row: Vec<f32> = Vec::new();
    let mut waiting = rail.as_mut().map(Rail::begin).unwrap_or_default();
    loop {
        engine.check_cancelled()?;
        if waiting.is_empty() && answer.has_room() && !rail.as_ref().is_some_and(Rail::is_done) {
            row.clear();
            row.extend_from_slice(engine.logits(logits_at)?);
            if let Some(rail) = &mut rail {
                rail.mask(&mut row)?;
            }
            let none = || ConstraintError::Grammar("no token of the vocabulary fits it here".to_owned());
            let token = sampler.choose(&row).ok_or_else(none)?;
            if engine.tokenizer.ends(token) {
                answer.finish = Some(FinishReason::Complete);
            } else {
                waiting.push(token);
                if let Some(rail) = &mut rail {
                    waiting.extend(rail.accept(token)?);
                }
            }
        }
        waiting.truncate(answer.room());
        for token in &waiting {
            answer.push(*token, &engine.tokenizer.bytes(*token));
        }
        if answer.finish.is_none() && rail.as_ref().is_some_and(Rail::is_done) {
            answer.finish = Some(FinishReason::Complete);
        }
        if answer.finish.is_none() && !answer.has_room() {
            answer.finish = Some(FinishReason::Length);
        }
        if let Some(finish) = answer.finish {
            let usage = Usage {
                generated_tokens: answer.tokens,
                generate_ms: milliseconds(begun),
                ..prefilled.usage
            };
            return Ok(ChatReply {
                text: answer.into_text(),
                finish,
                usage,
            });
        }
        for tokens in waiting.chunks(engine.loaded.batch as usize) {
            logits_at = engine.extend(prefilled.sequence, tokens)?;
        }
        waiting.clear();
    }
}

/// The answer so far, and what of it was shown.
struct Answer<'a> {
    text: String,
    tokens: u32,
    most: u32,
    finish: Option<FinishReason>,
    characters: Utf8Assembler,
    stops: StopMatcher,
    loops: LoopDetector,
    sink: &'a mut dyn FnMut(&str),
}

impl<'a> Answer<'a> {
    fn new(request: &ChatRequest, sink: &'a mut dyn FnMut(&str)) -> Self {
        Self {
            text: String::new(),
            tokens: 0,
            most: request.max_tokens,
            finish: None,
            characters: Utf8Assembler::default(),
            stops: StopMatcher::new(&request.stop),
            loops: LoopDetector::new(),
            sink,
        }
    }

    fn room(&self) -> usize {
        (self.most - self.tokens) as usize
    }

    fn has_room(&self) -> bool {
        self.room() > 0
    }

    /// Takes a token; nothing when the answer has ended.
    fn push(&mut self, token: Token, bytes: &[u8]) {
        if self.finish.is_some() {
            return;
        }
        self.tokens += 1;
        let characters = self.characters.push(bytes);
        match self.stops.push(&characters) {
            Released::Text(text) => self.show(&text),
            Released::Stopped(text) => {
                self.show(&text);
                self.finish = Some(FinishReason::Complete);
                return;
            }
        }
        if self.loops.push(token) {
            self.finish = Some(FinishReason::Looping);
        }
    }

    fn show(&mut self, text: &str) {
        if !text.is_empty() {
            self.text.push_str(text);
            (self.sink)(text);
        }
    }

    fn into_text(mut self) -> String {
        let open = self.characters.finish();
        let held = self.stops.finish();
        self.show(&held);
        self.show(open);
        self.text
    }
}
