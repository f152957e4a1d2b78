//! The likeliest ways to leave a text that is known: at which token, and by which other one.
//!
//! All texts that begin like the known one and then leave it by a certain token have together the probability of that
//! beginning times the token's: by that the likeliest other texts are found. Where the rest of the text is right, its probability
//! is the same on both sides, and what counts is how much likelier the other token is than the one that is there.

use super::LlamaError;
use super::call::{Branch, EngineCall, Prefilled};
use super::core::TokenRow;
use super::native::{Output, Token};
use super::prompt::Tokenizer;
use super::sampler::LogSoftmax;
use super::schedule::FEW_ROWS;
use magis_llm::Departure;

/// Tokens that are considered at one place of the text.
const PER_TOKEN: usize = 8;

/// Reads `text` behind a prompt into a branch that is empty, and returns the ways to leave it.
pub(super) async fn read(
    call: &EngineCall,
    prompt: &Prefilled,
    length: usize,
    branch: &Branch,
    text: &[Token],
) -> Result<Vec<Way>, LlamaError> {
    let mut found = Vec::new();
    let mut reached = 0.0;
    if let Some(token) = text.first() {
        ways(&call.tokenizer, text, 0, reached, &prompt.logits, &mut found);
        reached += LogSoftmax::new(&prompt.logits).of(&prompt.logits, *token);
    }
    branch.begin_with(prompt.sequence, length)?;
    let computed = &text[..text.len().saturating_sub(1)];
    for (number, chunk) in computed.chunks(FEW_ROWS).enumerate() {
        let before = number * FEW_ROWS;
        let rows = chunk.iter().enumerate().map(|(row, token)| TokenRow {
            token: *token,
            position: length + before + row,
            sequences: vec![branch.sequence],
            output: Output::Logits,
        });
        let done = call.rows(rows.collect()).await?;
        let core = call.core();
        for row in 0..chunk.len() {
            let at = before + row + 1;
            let logits = core.logits(done.first + row)?;
            ways(&call.tokenizer, text, at, reached, logits, &mut found);
            reached += LogSoftmax::new(logits).of(logits, text[at]);
        }
    }
    Ok(found)
}

/// Returns what an answer begins with that takes the way of a rank.
pub(super) fn begin_of(ways: &[Way], text: &[Token], by: Departure, rank: usize) -> Option<Vec<Token>> {
    let worth = |way: &Way| match by {
        Departure::Likeliest => way.logprob,
        Departure::Preferred | Departure::Replaced => way.gain,
    };
    let mut order: Vec<&Way> = ways.iter().collect();
    order.sort_by(|one, other| worth(other).total_cmp(&worth(one)));
    let way = order.get(rank)?;
    let rest = match by {
        Departure::Likeliest | Departure::Preferred => &[],
        Departure::Replaced => &text[way.at + 1..],
    };
    Some([&text[..way.at], &[way.token], rest].concat())
}

/// One way to leave the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub at: usize,
    pub token: Token,
    // Of all texts that begin so.
    logprob: f64,
    // How much likelier the token is than the one that is there.
    pub gain: f64,
}

/// Adds the likeliest ways to leave the text at one token. Other white space before anything is written is another layout, no other text.
fn ways(tokenizer: &Tokenizer, text: &[Token], at: usize, reached: f64, logits: &[f32], found: &mut Vec<Way>) {
    let is_blank = |token: &Token| tokenizer.bytes(*token).iter().all(u8::is_ascii_whitespace);
    let is_begun = !text[..at].iter().all(is_blank);
    let softmax = LogSoftmax::new(logits);
    let mut best: Vec<Token> = Vec::with_capacity(PER_TOKEN + 1);
    let likelier = |one: Token, other: Token| logits[one as usize] > logits[other as usize];
    for token in 0..logits.len() as Token {
        let is_better = best.len() < PER_TOKEN || best.last().is_some_and(|last| likelier(token, *last));
        if token == text[at] || !is_better {
            continue;
        }
        let place = best.partition_point(|known| !likelier(token, *known));
        best.insert(place, token);
        best.truncate(PER_TOKEN);
    }
    let is_text = |token: &Token| {
        let is_word = !tokenizer.ends(*token) && !tokenizer.bytes(*token).is_empty();
        is_word && (is_begun || !is_blank(token))
    };
    let there = softmax.of(logits, text[at]);
    found.extend(best.into_iter().filter(is_text).map(|token| {
        let logprob = softmax.of(logits, token);
        Way {
            at,
            token,
            logprob: reached + logprob,
            gain: logprob - there,
        }
    }));
}
