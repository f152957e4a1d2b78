//! The values that a template gets for a conversation: messages and declarations as it knows them, with marks for the texts.

use super::marks::{Marks, Presence};
use crate::{Message, MessageRole, ToolCall, ToolDeclaration};
use minijinja::Value;
use minijinja::value::Serde;
use serde_json::{Map, json};

/// What becomes of system texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Systems {
    Kept,
    /// They stand at the begin of the next user's message.
    Folded,
}

/// What arguments are to the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arguments {
    Values,
    /// One text; some templates put it where they want it.
    Json,
}

/// Whether what was thought in earlier turns is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thoughts {
    Kept,
    LeftOut,
}

/// A conversation as a template gets it.
pub(super) struct Written {
    pub(super) turns: Value,
    pub(super) tools: Value,
    pub(super) marks: Marks,
}

pub(super) fn write(
    messages: &[Message],
    tools: &[ToolDeclaration],
    systems: Systems,
    arguments: Arguments,
    thoughts: Thoughts,
) -> Written {
    let mut marks = Marks::default();
    let mut turns = Vec::new();
    let mut folded = String::new();
    for message in messages {
        if message.role == MessageRole::System && systems == Systems::Folded {
            folded += &marks.mark(&message.content, Presence::Required);
            folded += "\n\n";
            continue;
        }
        // Beside calls, not every form has a place for it.
        let presence = if message.tool_calls.is_empty() {
            Presence::Required
        } else {
            Presence::Optional
        };
        let mut content = marks.mark(&message.content, presence);
        if message.role == MessageRole::User {
            content = std::mem::take(&mut folded) + &content;
        }
        let mut turn = json!({ "role": role(message.role), "content": content });
        if !message.thinking.is_empty() && thoughts == Thoughts::Kept {
            let thinking = marks.mark(&message.thinking, Presence::Optional);
            for name in ["reasoning_content", "thinking", "reasoning"] {
                turn[name] = thinking.as_str().into();
            }
        }
        if !message.tool_calls.is_empty() {
            let calls = message
                .tool_calls
                .iter()
                .map(|call| self::call(call, arguments, &mut marks));
            turn["tool_calls"] = calls.collect();
        }
        if message.role == MessageRole::Tool {
            let mut called = messages.iter().flat_map(|message| &message.tool_calls);
            let name = called.rfind(|call| call.id == message.result_of);
            turn["tool_call_id"] = marks.word(&message.result_of).into();
            turn["name"] = marks.word(name.map_or("", |call| &call.name)).into();
        }
        turns.push(turn);
    }
    if !folded.is_empty() {
        turns.push(json!({ "role": "user", "content": folded }));
    }
    let tools: Vec<_> = tools.iter().map(|tool| declaration(tool, &mut marks)).collect();
    Written {
        turns: Value::from(Serde(turns)),
        tools: if tools.is_empty() {
            Value::from(())
        } else {
            Value::from(Serde(tools))
        },
        marks,
    }
}

fn role(role: MessageRole) -> &'static str {
    match role {
        MessageRole::System => "system",
        MessageRole::User => "user",
        MessageRole::Assistant => "assistant",
        MessageRole::Tool => "tool",
    }
}

fn call(call: &ToolCall, arguments: Arguments, marks: &mut Marks) -> serde_json::Value {
    let arguments: serde_json::Value = match arguments {
        Arguments::Values => {
            let fields = call.arguments.iter();
            fields
                .map(|(key, value)| (marks.word(key), marked(value, Presence::Required, marks)))
                .collect()
        }
        Arguments::Json => marks
            .mark(&super::python::json(&call.arguments), Presence::Required)
            .into(),
    };
    let function = json!({ "name": marks.word(&call.name), "arguments": arguments });
    json!({ "id": marks.word(&call.id), "type": "function", "function": function })
}

fn declaration(tool: &ToolDeclaration, marks: &mut Marks) -> serde_json::Value {
    let name = marks.word(&tool.name);
    let description = marks.mark(&tool.description, Presence::Required);
    let parameters = schema(&tool.parameters, marks);
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": parameters } })
}

/// Returns a schema with marks for all that templates do not choose by.
fn schema(value: &serde_json::Value, marks: &mut Marks) -> serde_json::Value {
    let serde_json::Value::Object(fields) = value else {
        return match value {
            serde_json::Value::String(text) => marks.word(text).into(),
            serde_json::Value::Array(items) => items.iter().map(|item| schema(item, marks)).collect(),
            other => other.clone(),
        };
    };
    let field = |(key, value): (&String, &serde_json::Value)| {
        let value = match value {
            serde_json::Value::String(text) if key == "description" => marks.mark(text, Presence::Optional).into(),
            value => schema(value, marks),
        };
        (marks.word(key), value)
    };
    fields.iter().map(field).collect::<Map<_, _>>().into()
}

/// Returns a value with marks for all its texts.
fn marked(value: &serde_json::Value, presence: Presence, marks: &mut Marks) -> serde_json::Value {
    match value {
        serde_json::Value::String(text) => marks.mark(text, presence).into(),
        serde_json::Value::Array(items) => items.iter().map(|item| marked(item, presence, marks)).collect(),
        serde_json::Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(key, value)| (marks.word(key), marked(value, presence, marks)))
                .collect::<Map<_, _>>()
                .into()
        }
        other => other.clone(),
    }
}
