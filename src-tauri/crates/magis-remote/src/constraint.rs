//! Forms of answers: as each kind of server is told of them, and checked on this side whatever the server did.

use crate::ServerKind;
use crate::schema::{self, Mismatch};
use magis_llm::{Constraint, LlmError, number_between};
use serde_json::{Map, Value, json};

/// The field of a JSON answer that carries a text of a certain form.
const FIELD: &str = "answer";

/// How a server is told of the form of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    /// Fields of the request.
    pub fields: Map<String, Value>,
    /// What the model is told in words.
    pub words: Option<String>,
}

/// Refuses what no answer can fulfil, and what could not be checked.
pub(crate) fn check_possible(constraint: &Constraint) -> Result<(), LlmError> {
    let reason = match constraint {
        Constraint::OneOf(choices) if choices.is_empty() || choices.iter().any(String::is_empty) => {
            "a choice among no texts, or with an empty text, is no choice".to_owned()
        }
        Constraint::LineRanges { first, last, most } if first > last || *most == 0 => {
            format!("there are no line intervals: lines {first} to {last}, at most {most}")
        }
        Constraint::JsonSchema(schema) => match schema::not_understood(schema) {
            Some(why) => format!("the answer's JSON schema cannot be checked: {why}"),
            None => return Ok(()),
        },
        Constraint::None | Constraint::OneOf(_) | Constraint::LineRanges { .. } => return Ok(()),
    };
    Err(LlmError::BadRequest { reason })
}

/// Returns how a kind of server is told of a constraint.
pub(crate) fn told(constraint: &Constraint, kind: ServerKind) -> Told {
    let (fields, words) = match (constraint, kind) {
        (Constraint::None, _) => (json!({}), None),
        (Constraint::JsonSchema(schema), ServerKind::LlamaServer | ServerKind::Vllm { .. }) => {
            (response_format(schema), None)
        }
        (Constraint::JsonSchema(schema), ServerKind::Other) => {
            let words = format!("Answer with one JSON value of this schema and nothing else: {schema}");
            (response_format(schema), Some(words))
        }
        (Constraint::OneOf(choices), ServerKind::LlamaServer) => {
            let choices: Vec<String> = choices.iter().map(|choice| quoted(choice)).collect();
            (json!({"grammar": format!("root ::= {}", choices.join(" | "))}), None)
        }
        (Constraint::LineRanges { first, last, most }, ServerKind::LlamaServer) => {
            let number = number_between(*first, *last)
                .split('|')
                .map(classes)
                .collect::<Vec<_>>()
                .join(" | ");
            let grammar = format!(
                "root ::= range (\", \" range){{0,{}}}\nrange ::= number \"-\" number\nnumber ::= {number}",
                most - 1
            );
            (json!({"grammar": grammar}), None)
        }
        (Constraint::OneOf(choices), ServerKind::Vllm { structured: true }) => {
            (json!({"structured_outputs": {"choice": choices}}), None)
        }
        (Constraint::OneOf(choices), ServerKind::Vllm { structured: false }) => {
            (json!({"guided_choice": choices}), None)
        }
        (Constraint::LineRanges { .. }, ServerKind::Vllm { structured: true }) => {
            (json!({"structured_outputs": {"regex": line_ranges(constraint)}}), None)
        }
        (Constraint::LineRanges { .. }, ServerKind::Vllm { structured: false }) => {
            (json!({"guided_regex": line_ranges(constraint)}), None)
        }
        (Constraint::OneOf(choices), ServerKind::Other) => {
            let list: Vec<String> = choices.iter().map(|choice| format!("- {choice}")).collect();
            let words = format!(
                "Answer with JSON of the form {{\"{FIELD}\": \"…\"}}, where the text is exactly one of these:\n{}",
                list.join("\n")
            );
            (response_format(&wrapped(&json!({"enum": choices}))), Some(words))
        }
        (Constraint::LineRanges { first, last, most }, ServerKind::Other) => {
            let words = format!(
                "Answer with JSON of the form {{\"{FIELD}\": \"A-B\"}}: at most {most} intervals of lines between {first} and {last}, separated by \", \"."
            );
            let pattern = json!({"type": "string", "pattern": format!("^{}$", line_ranges(constraint))});
            (response_format(&wrapped(&pattern)), Some(words))
        }
    };
    let fields = match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    Told { fields, words }
}

/// Returns the text that an answer stands for when it has the form that was asked for, else what is wrong with it.
pub(crate) fn read(constraint: &Constraint, answer: &str) -> Result<String, String> {
    match constraint {
        Constraint::None => Ok(answer.to_owned()),
        Constraint::OneOf(choices) => {
            let answer = unwrapped(answer);
            let exact = choices.iter().find(|choice| **choice == answer);
            let close = || choices.iter().find(|choice| choice.trim() == answer.trim());
            let found = exact.or_else(close).ok_or("it is none of the texts to choose from")?;
            Ok(found.clone())
        }
        Constraint::LineRanges { first, last, most } => {
            let answer = unwrapped(answer).trim().to_owned();
            let lines = *first..=*last;
            let number = |text: &str| {
                let canonical = text.parse::<u32>().ok().filter(|number| number.to_string() == text);
                canonical.is_some_and(|number| lines.contains(&number))
            };
            let range = |text: &str| {
                text.split_once('-')
                    .is_some_and(|(from, to)| number(from) && number(to))
            };
            if answer.split(", ").count() > *most as usize || !answer.split(", ").all(range) {
                return Err(format!(
                    "it is no list of at most {most} intervals of lines from {first} to {last}"
                ));
            }
            Ok(answer)
        }
        Constraint::JsonSchema(schema) => {
            let answer = unfenced(answer);
            let value: Value = serde_json::from_str(answer).map_err(|error| format!("it is no JSON ({error})"))?;
            match schema::check(schema, &value) {
                Ok(()) => Ok(answer.to_owned()),
                Err(Mismatch::Schema(why) | Mismatch::Value(why)) => Err(why),
            }
        }
    }
}

fn response_format(schema: &Value) -> Value {
    json!({"response_format": {"type": "json_schema", "json_schema": {"name": FIELD, "schema": schema, "strict": true}}})
}

/// Returns the schema of a JSON answer with one text.
fn wrapped(text: &Value) -> Value {
    json!({"type": "object", "properties": {FIELD: text}, "required": [FIELD], "additionalProperties": false})
}

/// Returns the text of a JSON answer, or the answer itself where it is none.
fn unwrapped(answer: &str) -> String {
    let value: Option<Value> = serde_json::from_str(unfenced(answer)).ok();
    let text = value.as_ref().and_then(|value| value.get(FIELD)?.as_str());
    text.unwrap_or(answer).to_owned()
}

/// Returns what stands in a fenced block, where an answer is one, without white space around it.
fn unfenced(answer: &str) -> &str {
    let answer = answer.trim();
    let block = answer.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inside = block.and_then(|block| block.split_once('\n'));
    inside.map_or(answer, |(_, inside)| inside.trim())
}

fn line_ranges(constraint: &Constraint) -> String {
    let Constraint::LineRanges { first, last, most } = constraint else {
        return String::new();
    };
    let number = format!("({})", number_between(*first, *last));
    format!("{number}-{number}(, {number}-{number}){{0,{}}}", most.saturating_sub(1))
}

/// Returns an alternative of [`number_between`] as a grammar of llama.cpp reads it: each digit in front a class of its own.
fn classes(alternative: &str) -> String {
    let (head, rest) = alternative.split_once('[').unwrap_or((alternative, ""));
    let digits: String = head.chars().flat_map(|digit| ['[', digit, ']']).collect();
    format!("{digits}[{rest}")
}

/// Returns a text in quotation marks, as a grammar of llama.cpp reads it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests;
