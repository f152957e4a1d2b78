//! Reads answers that are messages in channels: `<|channel|>final<|message|>…`, a call being one to `functions.name`.

use super::AnswerBegin;
use super::calls;
use super::found::{Found, first, take_certain};

const MESSAGE: &str = "<|message|>";
/// What ends a message; a new one may also begin without.
const ENDS: [&str; 5] = ["<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>"];
/// What a header begins with.
const HEADERS: [&str; 4] = ["<|channel|>", "<|start|>", " to=", "assistant"];

#[derive(Debug)]
pub(super) struct HarmonyReader {
    state: State,
    held: String,
    // Whether a message of text came before.
    said: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Header,
    Thinking,
    Text,
    /// The arguments of a tool of this name.
    Call(String),
}

impl HarmonyReader {
    pub(super) fn new(begins: AnswerBegin) -> Self {
        Self {
            state: match begins {
                AnswerBegin::Thinking => State::Thinking,
                AnswerBegin::Text => State::Header,
            },
            held: String::new(),
            said: false,
        }
    }

    pub(super) fn is_thinking(&self) -> bool {
        self.state == State::Thinking
    }

    pub(super) fn push(&mut self, text: &str) -> Vec<Found> {
        self.held.push_str(text);
        let mut found = Vec::new();
        while self.step(&mut found) {}
        found
    }

    pub(super) fn finish(&mut self) -> Vec<Found> {
        let rest = std::mem::take(&mut self.held);
        match std::mem::replace(&mut self.state, State::Header) {
            State::Header if begins_like_header(&rest) => Vec::new(),
            State::Header | State::Text => vec![Found::Text(rest)],
            State::Thinking => vec![Found::Thinking(rest)],
            State::Call(name) => vec![call(name, rest)],
        }
    }

    fn step(&mut self, found: &mut Vec<Found>) -> bool {
        if self.state == State::Header {
            return self.header(found);
        }
        let Some((at, end)) = first(&self.held, &ENDS) else {
            if !matches!(self.state, State::Call(_)) {
                let certain = take_certain(&mut self.held, &ENDS);
                found.push(match self.state {
                    State::Thinking => Found::Thinking(certain),
                    _ => Found::Text(certain),
                });
            }
            return false;
        };
        let begins_another = ["<|start|>", "<|channel|>"].contains(&end);
        let after = self.held.split_off(if begins_another { at } else { at + end.len() });
        self.held.truncate(at);
        let body = std::mem::replace(&mut self.held, after);
        found.push(match std::mem::replace(&mut self.state, State::Header) {
            State::Thinking => Found::Thinking(body),
            State::Call(name) => call(name, body),
            State::Header | State::Text => Found::Text(body),
        });
        true
    }

    fn header(&mut self, found: &mut Vec<Found>) -> bool {
        if !begins_like_header(&self.held) {
            // A model that forgets the form says something all the same.
            self.state = State::Text;
            return true;
        }
        let Some((header, body)) = self.held.split_once(MESSAGE) else {
            return false;
        };
        let recipient = header.split_once("to=").map(|(_, name)| name);
        let name = recipient.and_then(|name| name.split([' ', '<']).next());
        self.state = match name {
            Some(name) => State::Call(name.strip_prefix("functions.").unwrap_or(name).to_owned()),
            None if header.contains("analysis") => State::Thinking,
            None => State::Text,
        };
        if self.state == State::Text {
            if self.said {
                found.push(Found::Text("\n\n".to_owned()));
            }
            self.said = true;
        }
        self.held = body.to_owned();
        true
    }
}

fn begins_like_header(text: &str) -> bool {
    HEADERS
        .iter()
        .any(|begin| text.starts_with(begin) || begin.starts_with(text))
}

fn call(name: String, body: String) -> Found {
    let read = calls::arguments(&body).map(|arguments| vec![(name, arguments)]);
    Found::Calls(read, body)
}
