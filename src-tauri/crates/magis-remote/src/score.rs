//! How likely texts are: by log-probabilities where the server offers those of a given text, else by the order in which the model chooses.
//!
//! llama.cpp's server gives log-probabilities of what it generates only. So each text is generated: a grammar of single tokens lets nothing else
//! through, and the numbers are those before the grammar. It leaves out tokens that end within a character, and so does the sum. vLLM gives those
//! of a prompt.

use crate::count::{self, Piece, Reading};
use crate::server::Server;
use crate::trouble::Trouble;
use crate::{Scoring, ServerKind};
use magis_llm::{ChatRequest, Constraint, Message, MessageRole, Score, ScoreReply, ScoreRequest, Usage};
use serde_json::{Value, json};
use std::time::Instant;

/// The least log-probability that counts: servers write an impossible token as the least number there is.
const LEAST: f64 = -100.0;
/// How many of the best texts are chosen one after the other, where there are no log-probabilities.
const MOST_CHOICES: usize = 3;
/// How much likelier a text counts than the one chosen after it, in nats.
const A_RANK: f64 = 2.0;

/// The log-probabilities of one text, a token each.
struct Scored {
    pieces: Vec<Piece>,
    logprobs: Vec<f64>,
    usage: Usage,
}

/// Tries with two tokens whether the server gives the log-probabilities of a text, and not those of what was left to choose from.
pub(crate) async fn ability(server: &Server) -> Scoring {
    let works = async {
        let prompt = count::tokens(server, "One", Reading::Data).await?;
        one(server, &prompt, " zebra?!").await
    };
    match works.await {
        Ok(scored) if scored.logprobs.iter().sum::<f64>() < -0.5 => Scoring::Exact,
        Ok(_) | Err(_) => Scoring::Ranked,
    }
}

/// Scores by log-probabilities. On llama.cpp's server one after the other, since only one slot has read the prompt.
pub(crate) async fn exact(server: &Server, request: &ScoreRequest) -> Result<ScoreReply, Trouble> {
    let prompt = count::prompt_tokens(server, &request.messages, &request.answer_prefix).await?;
    let mut reply = ScoreReply {
        scores: Vec::with_capacity(request.continuations.len()),
        lines: Vec::new(),
        usage: Usage::default(),
    };
    for text in &request.continuations {
        let scored = one(server, &prompt, text).await?;
        reply.scores.push(Score {
            logprob: scored.logprobs.iter().sum(),
            tokens: scored.logprobs.len() as u32,
        });
        if request.by_line {
            reply.lines.push(by_line(&scored));
        }
        reply.usage = sum(reply.usage, scored.usage);
    }
    Ok(reply)
}

async fn one(server: &Server, prompt: &[u32], text: &str) -> Result<Scored, Trouble> {
    match server.kind {
        ServerKind::LlamaServer => generated(server, prompt, text).await,
        ServerKind::Vllm { .. } => read(server, prompt, text).await,
        ServerKind::Other => Err(Trouble::Garbage("it offers no log-probabilities of a text".to_owned())),
    }
}

/// Lets llama.cpp's server generate exactly this text.
async fn generated(server: &Server, prompt: &[u32], text: &str) -> Result<Scored, Trouble> {
    let begun = Instant::now();
    let pieces = count::pieces(server, text).await?;
    let tokens: Vec<String> = pieces.iter().map(|piece| format!("<[{}]>", piece.id)).collect();
    let body = json!({
        "prompt": prompt,
        "n_predict": pieces.len(),
        "grammar": format!("root ::= {}", tokens.join(" ")),
        "n_probs": 1,
        "temperature": 0.0,
        "stream": false,
        "cache_prompt": true,
    });
    let said = server.http.compute("/completion", &body).await?;
    let given = said["completion_probabilities"].as_array().ok_or_else(other_text)?;
    let mut given = given.iter().peekable();
    let mut scored = Scored {
        pieces: Vec::new(),
        logprobs: Vec::new(),
        usage: Usage::default(),
    };
    for piece in pieces {
        if let Some(token) = given.next_if(|token| token["id"].as_u64() == Some(u64::from(piece.id))) {
            scored.logprobs.push(logprob(&token["logprob"])?);
            scored.pieces.push(piece);
        }
    }
    if given.next().is_some() || scored.logprobs.is_empty() {
        return Err(other_text());
    }
    let number = |place: &str| said.pointer(place).and_then(Value::as_f64).unwrap_or_default();
    scored.usage = Usage {
        prompt_tokens: number("/timings/prompt_n") as u32,
        reused_tokens: number("/timings/cache_n") as u32,
        generated_tokens: scored.logprobs.len() as u32,
        prompt_ms: number("/timings/prompt_ms") as u64,
        generate_ms: (begun.elapsed().as_millis() as u64).saturating_sub(number("/timings/prompt_ms") as u64),
        not_reused: None,
    };
    Ok(scored)
}

/// Lets vLLM read the text as the end of a prompt.
async fn read(server: &Server, prompt: &[u32], text: &str) -> Result<Scored, Trouble> {
    let begun = Instant::now();
    let tokens = count::tokens(server, text, Reading::Data).await?;
    let whole: Vec<u32> = prompt.iter().chain(&tokens).copied().collect();
    let body = json!({
        "model": server.model,
        "prompt": whole,
        "max_tokens": 1,
        "temperature": 0.0,
        "prompt_logprobs": 1,
    });
    let said = server.http.compute("/v1/completions", &body).await?;
    let given = said.pointer("/choices/0/prompt_logprobs").and_then(Value::as_array);
    let given = given
        .filter(|given| given.len() == whole.len())
        .ok_or_else(other_text)?;
    let mut scored = Scored {
        pieces: Vec::new(),
        logprobs: Vec::new(),
        usage: Usage {
            prompt_tokens: whole.len() as u32,
            prompt_ms: begun.elapsed().as_millis() as u64,
            ..Usage::default()
        },
    };
    for (id, alternatives) in tokens.iter().zip(&given[prompt.len()..]) {
        let token = alternatives.get(id.to_string()).ok_or_else(other_text)?;
        scored.logprobs.push(logprob(&token["logprob"])?);
        let bytes = token["decoded_token"].as_str().unwrap_or_default().as_bytes().to_vec();
        scored.pieces.push(Piece { id: *id, bytes });
    }
    Ok(scored)
}

/// Returns the question which of the texts that are left is the best one, to be answered by a number.
pub(crate) fn choice(request: &ScoreRequest, left: &[usize]) -> ChatRequest {
    let options: Vec<String> = left
        .iter()
        .zip(1..)
        .map(|(text, number)| format!("{number}. {}", request.continuations[*text].trim()))
        .collect();
    let wanted = if request.answer_prefix.is_empty() {
        "Which of these is the best answer?".to_owned()
    } else {
        format!(
            "An answer begins with \"{}\". Which of these goes on best?",
            request.answer_prefix
        )
    };
    let mut messages = request.messages.clone();
    let question = format!("{wanted} Answer with its number alone.\n{}", options.join("\n"));
    match messages.last_mut() {
        Some(last) => last.content = format!("{}\n\n{question}", last.content),
        None => messages.push(Message::new(MessageRole::User, question)),
    }
    ChatRequest {
        constraint: Constraint::OneOf((1..=left.len()).map(|number| number.to_string()).collect()),
        ..ChatRequest::new(messages, 16)
    }
}

/// Returns how many choices tell so many texts apart as far as they are told apart.
pub(crate) fn choices(texts: usize) -> usize {
    texts.saturating_sub(1).min(MOST_CHOICES)
}

/// Returns scores that have the order in which texts were chosen; those never chosen are equal.
pub(crate) fn ranked(request: &ScoreRequest, chosen: &[usize]) -> Vec<Score> {
    let rank = |text: usize| chosen.iter().position(|one| *one == text).unwrap_or(chosen.len());
    (0..request.continuations.len())
        .map(|text| Score {
            logprob: -A_RANK * rank(text) as f64,
            tokens: 1,
        })
        .collect()
}

pub(crate) fn sum(one: Usage, other: Usage) -> Usage {
    Usage {
        prompt_tokens: one.prompt_tokens + other.prompt_tokens,
        reused_tokens: one.reused_tokens + other.reused_tokens,
        generated_tokens: one.generated_tokens + other.generated_tokens,
        prompt_ms: one.prompt_ms + other.prompt_ms,
        generate_ms: one.generate_ms + other.generate_ms,
        not_reused: None,
    }
}

/// Adds up the log-probabilities of tokens by the line that each begins on.
fn by_line(scored: &Scored) -> Vec<f64> {
    let mut lines = vec![0.0];
    let mut line = 0;
    for (piece, logprob) in scored.pieces.iter().zip(&scored.logprobs) {
        lines[line] += logprob;
        line += piece.bytes.split(|byte| *byte == b'\n').count() - 1;
        lines.resize(line + 1, 0.0);
    }
    lines
}

fn logprob(value: &Value) -> Result<f64, Trouble> {
    let number = value.as_f64().filter(|number| *number <= 0.0);
    number.map(|number| number.max(LEAST)).ok_or_else(other_text)
}

fn other_text() -> Trouble {
    Trouble::Garbage("its log-probabilities are not those of the text that was given".to_owned())
}
