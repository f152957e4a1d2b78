//! What an answer has to look like, and why one could not be read.

use serde_json::Value;
use thiserror::Error;

/// The shape of an answer. Decisions are constrained; prose and code are not.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerShape {
    Text,
    /// One of the texts given with the prompt, compared by their log-probabilities.
    Scored,
    /// One to `most` intervals of lines between `first` and `last`.
    LineRanges {
        /// The first line of what was shown.
        first: u32,
        last: u32,
        /// How many intervals at the most.
        most: u32,
    },
    /// JSON of this schema.
    Json(Value),
}

/// Why an answer could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReplyError {
    #[error("the answer is empty")]
    Empty,
    /// The answer broke off.
    #[error("the answer does not have the form asked for: {0}")]
    Form(String),
    /// It names something that does not exist.
    #[error("the answer names {0}, which does not exist")]
    Unknown(String),
}

/// Free text as one line of prose: fences, headings and the like are taken off, white space is collapsed.
pub(crate) fn prose(begun: &str, text: &str) -> Result<String, ReplyError> {
    let text = text.split("```").next().unwrap_or("");
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| !matches!(*word, "#" | "##" | "###"))
        .collect();
    if words.is_empty() {
        return Err(ReplyError::Empty);
    }
    let joined = words.join(" ");
    Ok(if begun.is_empty() {
        joined
    } else {
        format!("{begun} {joined}")
    })
}

/// `text` up to the end of its last whole sentence, so that an answer cut off by its limit reads well; all of it when
/// it has none.
pub(crate) fn whole_sentences(text: &str) -> String {
    let mut ends = text.char_indices().filter(|(at, character)| {
        matches!(character, '.' | '!' | '?') && text[at + 1..].chars().next().is_none_or(char::is_whitespace)
    });
    match ends.next_back() {
        Some((at, _)) if at + 1 >= text.len() / 2 => text[..=at].to_owned(),
        _ => text.to_owned(),
    }
}

pub(crate) fn read_json<T: serde::de::DeserializeOwned>(answer: &str) -> Result<T, ReplyError> {
    serde_json::from_str(answer.trim()).map_err(|error| ReplyError::Form(error.to_string()))
}
