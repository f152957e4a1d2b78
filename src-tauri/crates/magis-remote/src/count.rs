//! Numbers of tokens: by the server's tokenizer where it offers it, else estimated, rather too high than too low.

use crate::chat::{messages, without_thinking};
use crate::server::Server;
use crate::trouble::Trouble;
use crate::{Counting, ServerKind};
use magis_llm::{Message, MessageRole};
use serde_json::{Value, json};

/// What a template adds to each message, and to all of them, at the most, in tokens.
const AROUND_MESSAGE: u32 = 8;
const AROUND_ALL: u32 = 24;

/// A token of a text, with the bytes that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub id: u32,
    pub bytes: Vec<u8>,
}

/// Whether a text is data, or a rendered prompt in which special tokens are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    Data,
    Prompt,
}

/// Returns whether the server counts tokens.
pub(crate) async fn ability(server: &Server) -> Counting {
    match tokens(server, "one", Reading::Data).await {
        Ok(tokens) if !tokens.is_empty() => Counting::Exact,
        _ => Counting::Estimated,
    }
}

/// Returns tokens of a text without any template around it.
pub(crate) async fn text(server: &Server, counting: Counting, text: &str) -> Result<u32, Trouble> {
    match counting {
        Counting::Exact => Ok(tokens(server, text, Reading::Data).await?.len() as u32),
        Counting::Estimated => Ok(estimate(text)),
    }
}

/// Returns tokens of the prompt that the server makes of a conversation.
pub(crate) async fn prompt(
    server: &Server,
    counting: Counting,
    conversation: &[Message],
    answer_prefix: &str,
) -> Result<u32, Trouble> {
    match counting {
        Counting::Exact => Ok(prompt_tokens(server, conversation, answer_prefix).await?.len() as u32),
        Counting::Estimated => {
            let texts = conversation
                .iter()
                .map(|message| estimate(&message.content) + AROUND_MESSAGE);
            Ok(texts.sum::<u32>() + estimate(answer_prefix) + AROUND_ALL)
        }
    }
}

/// Returns the tokens of the prompt that the server makes of a conversation, with the begin of the answer.
pub(crate) async fn prompt_tokens(
    server: &Server,
    conversation: &[Message],
    answer_prefix: &str,
) -> Result<Vec<u32>, Trouble> {
    let mut body = json!({"model": server.model, "messages": messages(conversation)});
    without_thinking(&mut body);
    if server.kind == ServerKind::LlamaServer {
        let rendered = server.http.question("/apply-template", &body).await?;
        let prompt = rendered["prompt"].as_str().ok_or_else(|| missing("prompt"))?;
        return tokens(server, &format!("{prompt}{answer_prefix}"), Reading::Prompt).await;
    }
    let begun = (!answer_prefix.is_empty()).then(|| Message::new(MessageRole::Assistant, answer_prefix));
    let all: Vec<Message> = conversation.iter().cloned().chain(begun.clone()).collect();
    body["messages"] = messages(&all);
    body["add_generation_prompt"] = json!(begun.is_none());
    body["continue_final_message"] = json!(begun.is_some());
    ids(&server.http.question("/tokenize", &body).await?)
}

/// Returns the tokens of a text.
pub(crate) async fn tokens(server: &Server, text: &str, reading: Reading) -> Result<Vec<u32>, Trouble> {
    let special = reading == Reading::Prompt;
    let body = match server.kind {
        ServerKind::LlamaServer => json!({"content": text, "add_special": special, "parse_special": special}),
        ServerKind::Vllm { .. } => json!({"model": server.model, "prompt": text, "add_special_tokens": special}),
        ServerKind::Other => return Err(Trouble::Garbage("it has no tokenizer to ask".to_owned())),
    };
    ids(&server.http.question("/tokenize", &body).await?)
}

/// Returns the tokens of a text that is data, each with what it stands for; of llama.cpp's server only.
pub(crate) async fn pieces(server: &Server, text: &str) -> Result<Vec<Piece>, Trouble> {
    let body = json!({"content": text, "add_special": false, "parse_special": false, "with_pieces": true});
    let said = server.http.question("/tokenize", &body).await?;
    let tokens = said["tokens"].as_array().ok_or_else(|| missing("tokens"))?;
    let piece = |token: &Value| {
        let bytes = match &token["piece"] {
            Value::String(text) => text.clone().into_bytes(),
            Value::Array(bytes) => bytes
                .iter()
                .map(|byte| byte.as_u64().unwrap_or_default() as u8)
                .collect(),
            _ => return None,
        };
        Some(Piece {
            id: id(&token["id"])?,
            bytes,
        })
    };
    tokens
        .iter()
        .map(piece)
        .collect::<Option<_>>()
        .ok_or_else(|| missing("tokens"))
}

fn ids(said: &Value) -> Result<Vec<u32>, Trouble> {
    let tokens = said["tokens"].as_array().ok_or_else(|| missing("tokens"))?;
    tokens
        .iter()
        .map(id)
        .collect::<Option<_>>()
        .ok_or_else(|| missing("tokens"))
}

fn id(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|id| u32::try_from(id).ok())
}

fn missing(what: &str) -> Trouble {
    Trouble::Garbage(format!("its answer lacks the field \"{what}\""))
}

/// Returns about how many tokens a text has, for any usual vocabulary: three letters of one case to a token, and each digit, each sign, each gap that is
/// no single space and each byte of another script a token of its own.
fn estimate(text: &str) -> u32 {
    let mut tokens = 0_u32;
    let mut letters = 0_u32;
    let mut before = '\0';
    for c in text.chars() {
        let goes_on = c.is_ascii_alphabetic() && before.is_ascii_alphabetic();
        if goes_on && !(before.is_ascii_lowercase() && c.is_ascii_uppercase()) {
            letters += 1;
            tokens += u32::from(letters % 3 == 1);
        } else if c.is_ascii_alphabetic() {
            letters = 1;
            tokens += 1;
        } else if c == ' ' {
            tokens += u32::from(before == '\n' || !before.is_ascii_graphic() && before != ' ');
        } else {
            tokens += c.len_utf8() as u32;
        }
        before = c;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::estimate;

    #[test]
    fn an_estimate_is_above_what_usual_vocabularies_need() {
        // Tokens of Qwen2.5's vocabulary and of Llama 3's: what either needs at the most.
        for (text, needed) in [
            ("", 0),
            ("The quick brown fox jumps over the lazy dog.", 10),
            ("fn main() {\n    println!(\"{}\", 3.14159);\n}\n", 20),
            ("aGVsbG8gd29ybGQ=", 9),
            ("修复这个错误", 6),
            ("0123456789", 10),
        ] {
            assert!(estimate(text) >= needed, "{text:?}: {} < {needed}", estimate(text));
        }
    }
}
