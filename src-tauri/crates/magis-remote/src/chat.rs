//! One answer in a conversation: what is sent, and how the stream of the answer is read.

use crate::constraint::told;
use crate::http::{error_message, speaks_of_context};
use crate::server::Server;
use crate::stops::AnswerText;
use crate::stream::Events;
use crate::trouble::Trouble;
use crate::{Continuing, ServerKind};
use magis_llm::{ChatReply, ChatRequest, FinishReason, Message, MessageRole, Sampling, Usage};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Instant;

/// The temperature at which an answer of the wrong form is asked for again.
const VARIED: f32 = 0.8;
const TOP_P: f32 = 0.95;
/// The most stop texts that the `OpenAI` interface takes; all of them are looked for here, too.
const MOST_STOPS: usize = 4;
/// Bounds of a stream, beside those that `max_tokens` gives: events, and bytes of text.
const SPARE_EVENTS: u64 = 256;
const EVENTS_A_TOKEN: u64 = 4;
const SPARE_BYTES: usize = 64 << 10;
const BYTES_A_TOKEN: usize = 256;

/// One event of a stream. Servers leave out what they have not.
#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Counted>,
    timings: Option<Timings>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
struct Delta {
    content: Option<String>,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    prompt_tokens: u32,
    #[serde(default)]
    completion_tokens: u32,
    prompt_tokens_details: Option<CountedPrompt>,
}

#[derive(Deserialize)]
struct CountedPrompt {
    cached_tokens: Option<u32>,
}

/// What llama.cpp's server measured.
#[derive(Deserialize)]
struct Timings {
    #[serde(default)]
    prompt_ms: f64,
    #[serde(default)]
    predicted_ms: f64,
}

/// Asks once. At a further `attempt` an answer is drawn otherwise than before.
pub(crate) async fn once(
    server: &Server,
    request: &ChatRequest,
    attempt: u32,
    sink: &mut (dyn FnMut(&str) + Send),
) -> Result<ChatReply, Trouble> {
    let continuing = continuing(server.kind);
    let begun = Instant::now();
    let mut events = Events::of(
        server
            .http
            .stream("/v1/chat/completions", &body(server, request, attempt))
            .await?,
    );
    let repeated = (continuing == Continuing::Asked).then_some(request.answer_prefix.as_str());
    let mut text = AnswerText::new(repeated, &request.stop);
    let mut seen = Seen::default();
    let most_events = SPARE_EVENTS + EVENTS_A_TOKEN * u64::from(request.max_tokens);
    let most_bytes = SPARE_BYTES + BYTES_A_TOKEN * request.max_tokens as usize;
    loop {
        let data = match events.next().await {
            Ok(Some(data)) => data,
            Ok(None) => break,
            // How the answer ended was said; only the last words are missing.
            Err(Trouble::CutOff(_)) if seen.finish.is_some() => break,
            Err(trouble) => return Err(trouble),
        };
        let chunk: Chunk = serde_json::from_str(&data)
            .map_err(|error| Trouble::Garbage(format!("an event of its stream cannot be read ({error})")))?;
        if let Some(error) = &chunk.error {
            return Err(gave_up(error));
        }
        if let Some(piece) = seen.note(chunk) {
            seen.pieces += 1;
            seen.first.get_or_insert_with(|| milliseconds(begun));
            if text.push(&piece, sink) {
                seen.finish = None;
                break;
            }
        }
        if seen.events > most_events || text.len() > most_bytes {
            return Err(Trouble::TooMuch(format!("{} tokens", request.max_tokens)));
        }
    }
    let finish = match seen.finish.as_deref() {
        Some("length") => FinishReason::Length,
        _ => FinishReason::Complete,
    };
    Ok(ChatReply::new(
        text.finish(sink),
        finish,
        seen.usage(milliseconds(begun)),
    ))
}

/// Returns how a kind of server goes on with an answer that was begun.
pub(crate) fn continuing(kind: ServerKind) -> Continuing {
    match kind {
        ServerKind::LlamaServer | ServerKind::Vllm { .. } => Continuing::Continued,
        ServerKind::Other => Continuing::Asked,
    }
}

/// Returns a conversation as a server reads it.
pub(crate) fn messages(conversation: &[Message]) -> Value {
    let one = |message: &Message| json!({"role": message.role, "content": message.content});
    conversation.iter().map(one).collect()
}

/// Tells a template that the model is to answer at once. Templates that know no thinking do not look at it.
pub(crate) fn without_thinking(body: &mut Value) {
    body["chat_template_kwargs"] = json!({"enable_thinking": false});
}

fn body(server: &Server, request: &ChatRequest, attempt: u32) -> Value {
    let told = told(&request.constraint, server.kind);
    let mut conversation = request.messages.clone();
    let mut add = |words: &str| {
        if let Some(last) = conversation.last_mut() {
            last.content = format!("{}\n\n{words}", last.content);
        }
    };
    if let Some(words) = &told.words {
        add(words);
    }
    let is_begun = !request.answer_prefix.is_empty();
    if is_begun && continuing(server.kind) == Continuing::Asked {
        match told.words {
            // The JSON holds what comes behind the begin.
            Some(_) => add(&format!(
                "It is what comes behind this begin of an answer:\n{}",
                request.answer_prefix
            )),
            None => add(&format!(
                "Begin your answer with exactly this text and go on behind it:\n{}",
                request.answer_prefix
            )),
        }
    }
    let mut body = json!({
        "model": server.model,
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_tokens": request.max_tokens,
    });
    if is_begun && continuing(server.kind) == Continuing::Continued {
        conversation.push(Message::new(MessageRole::Assistant, request.answer_prefix.clone()));
        body["add_generation_prompt"] = json!(false);
        body["continue_final_message"] = json!(true);
    }
    body["messages"] = messages(&conversation);
    let stops = match server.kind {
        ServerKind::Other => &request.stop[..request.stop.len().min(MOST_STOPS)],
        ServerKind::LlamaServer | ServerKind::Vllm { .. } => &request.stop,
    };
    if !stops.is_empty() {
        body["stop"] = json!(stops);
    }
    sampling(&mut body, request.sampling, attempt);
    // What servers would do beside temperature and top-p.
    match server.kind {
        ServerKind::LlamaServer => {
            body["top_k"] = json!(0);
            body["min_p"] = json!(0.0);
            without_thinking(&mut body);
        }
        ServerKind::Vllm { .. } => {
            body["top_k"] = json!(-1);
            body["min_p"] = json!(0.0);
            body["repetition_penalty"] = json!(1.0);
            without_thinking(&mut body);
        }
        ServerKind::Other => {}
    }
    for (field, value) in told.fields {
        body[field] = value;
    }
    body
}

fn sampling(body: &mut Value, sampling: Sampling, attempt: u32) {
    let (temperature, seed) = match (sampling, attempt) {
        (Sampling::Greedy, 0) => (0.0, 0),
        (Sampling::Greedy, _) => (VARIED, u64::from(attempt)),
        (Sampling::Temperature { temperature, seed }, _) => (temperature, seed.wrapping_add(u64::from(attempt))),
    };
    body["temperature"] = json!(temperature);
    if temperature > 0.0 {
        body["top_p"] = json!(TOP_P);
    }
    // Servers keep seeds in numbers of different sizes; 31 bits fit into all of them.
    body["seed"] = json!((seed ^ (seed >> 31)) & 0x7fff_ffff);
}

fn gave_up(error: &Value) -> Trouble {
    let said = json!({"error": error}).to_string();
    let message = error_message(said.as_bytes());
    if speaks_of_context(said.as_bytes(), &message) {
        Trouble::Context(message)
    } else {
        Trouble::GaveUp(message)
    }
}

fn milliseconds(since: Instant) -> u64 {
    since.elapsed().as_millis() as u64
}

/// What a stream told beside its text.
#[derive(Default)]
struct Seen {
    events: u64,
    pieces: u32,
    /// Milliseconds until the first text.
    first: Option<u64>,
    finish: Option<String>,
    counted: Option<Counted>,
    timings: Option<Timings>,
}

impl Seen {
    /// Notes what an event tells, and returns its text.
    fn note(&mut self, chunk: Chunk) -> Option<String> {
        self.events += 1;
        self.counted = chunk.usage.or(self.counted.take());
        self.timings = chunk.timings.or(self.timings.take());
        let choice = chunk.choices.into_iter().next()?;
        self.finish = choice.finish_reason.or(self.finish.take());
        choice.delta.content.filter(|text| !text.is_empty())
    }

    /// Returns what the answer cost; where the server does not say it, each piece of text counts as a token.
    fn usage(&self, whole_ms: u64) -> Usage {
        let first = self.first.unwrap_or(whole_ms);
        let (prompt_ms, generate_ms) = match &self.timings {
            Some(timings) => (timings.prompt_ms as u64, timings.predicted_ms as u64),
            None => (first, whole_ms - first),
        };
        let counted = self.counted.as_ref();
        let reused = counted
            .and_then(|counted| counted.prompt_tokens_details.as_ref()?.cached_tokens)
            .unwrap_or(0);
        Usage {
            prompt_tokens: counted.map_or(0, |counted| counted.prompt_tokens.saturating_sub(reused)),
            reused_tokens: reused,
            generated_tokens: counted.map_or(self.pieces, |counted| counted.completion_tokens),
            prompt_ms,
            generate_ms,
            not_reused: None,
        }
    }
}
