//! A model call as the window shows it: in a list, and with its words.

use magis_core::{Agent, TaskId};
use magis_engine::records::Call;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use specta::Type;

/// A model call in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct CallRow {
    pub id: i64,
    pub agent: Agent,
    pub step: String,
    pub task: Option<TaskId>,
    pub path: Option<String>,
    pub round: Option<u32>,
    /// Tokens read, without those reused.
    pub prompt_tokens: u32,
    /// Tokens that the cache held already.
    pub reused_tokens: u32,
    /// Tokens written.
    pub generated_tokens: u32,
    /// Milliseconds it took.
    pub ms: u64,
    /// How often it was asked again before.
    pub retries: u32,
    /// When it finished, in milliseconds since 1970.
    pub at_ms: i64,
    /// What was shortened or left out of the prompt.
    pub left_out: Vec<String>,
    /// Why no more was reused; none where all was, or the engine does not say.
    pub why_read: Option<WhyRead>,
}

/// Why tokens of a prompt were read although others were read before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum WhyRead {
    /// No earlier prompt begins like it.
    New,
    /// Every earlier prompt parts from it there.
    Parted,
    /// An earlier prompt had more, which was given up to make room.
    GivenUp,
    /// An earlier prompt has more, but the model cannot be taken back to where they part.
    NoState,
}

impl From<&Call> for CallRow {
    fn from(call: &Call) -> Self {
        let record = &call.record;
        Self {
            id: call.id.0,
            agent: record.agent,
            step: record.step.clone(),
            task: record.task,
            path: record.path.as_ref().map(ToString::to_string),
            round: record.round.map(|round| round.0),
            prompt_tokens: record.prompt_tokens,
            reused_tokens: record.reused_tokens,
            generated_tokens: record.generated_tokens,
            ms: u64::from(record.prompt_ms) + u64::from(record.generate_ms),
            retries: record.retries,
            at_ms: record.at_ms,
            left_out: serde_json::from_value(record.left_out.clone()).unwrap_or_default(),
            why_read: WhyRead::deserialize(&record.reply["usage"]["not_reused"]).ok(),
        }
    }
}

/// A model call with its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct CallText {
    pub call: CallRow,
    pub prompt: String,
    /// What came back; of a scored call, each text with its log-probability in nats.
    pub reply: String,
    pub model: String,
    pub seed: u64,
    /// The hash of the template.
    pub template_hash: String,
}

impl From<&Call> for CallText {
    fn from(call: &Call) -> Self {
        let record = &call.record;
        Self {
            call: call.into(),
            prompt: prompt(&record.request),
            reply: reply(&record.request, &record.reply),
            model: record.model.clone(),
            seed: record.seed,
            template_hash: record.template_hash.clone(),
        }
    }
}

/// Returns the messages one below the other, then the answer begun for the model.
fn prompt(request: &Value) -> String {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut parts: Vec<String> = messages.iter().map(|message| text(&message["content"])).collect();
    parts.push(text(&request["answer_prefix"]));
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

fn reply(request: &Value, reply: &Value) -> String {
    if let Some(text) = reply["text"].as_str() {
        return text.to_owned();
    }
    let continuations = request["continuations"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let scores = reply["scores"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |(text, score): (&Value, &Value)| {
        let logprob = score["logprob"].as_f64().unwrap_or(f64::NAN);
        format!("{logprob:9.3}  {}", text.as_str().unwrap_or_default())
    };
    let lines: Vec<String> = continuations.iter().zip(scores).map(line).collect();
    lines.join("\n")
}
