//! Tools for a model whose template knows none, or in a syntax that is not known here: declarations, calls and results become
//! text of the conversation, calls as JSON within `<tool_call>`.

use super::python;
use crate::{Message, MessageRole, ToolDeclaration};
use serde_json::json;

const HOW: &str = "To call a tool, write its name and its arguments as JSON between tags, and nothing behind them:\n\
                   <tool_call>\n{\"name\": \"...\", \"arguments\": {...}}\n</tool_call>";

/// Returns the conversation with the declarations in its system's message, for a template that writes calls and results itself.
pub(super) fn with_declarations(messages: &[Message], tools: &[ToolDeclaration]) -> Vec<Message> {
    let declared: Vec<String> = tools.iter().map(declaration).collect();
    let declared = format!("# Tools\n\nYou may call these tools:\n{}", declared.join("\n"));
    with_system_text(messages, &declared)
}

/// Returns the conversation without calls, results and declarations of its own.
pub(super) fn without_tools(messages: &[Message], tools: &[ToolDeclaration]) -> Vec<Message> {
    let mut plain: Vec<Message> = Vec::with_capacity(messages.len() + 1);
    let mut results = false;
    for message in messages {
        let text = match message.role {
            MessageRole::Tool => format!("<tool_response>\n{}\n</tool_response>", message.content),
            MessageRole::Assistant => with_calls(message),
            MessageRole::System | MessageRole::User => message.content.clone(),
        };
        let is_result = message.role == MessageRole::Tool;
        match plain.last_mut() {
            // Results of several calls stand in one message.
            Some(last) if is_result && results => last.content += &format!("\n{text}"),
            _ => {
                let role = if is_result { MessageRole::User } else { message.role };
                plain.push(Message {
                    thinking: message.thinking.clone(),
                    ..Message::new(role, text)
                });
            }
        }
        results = is_result;
    }
    if tools.is_empty() {
        return plain;
    }
    let mut declared = with_declarations(&plain, tools);
    if let Some(system) = declared.first_mut() {
        system.content += &format!("\n\n{HOW}");
    }
    declared
}

/// Returns the conversation with more behind the text of its system.
fn with_system_text(messages: &[Message], text: &str) -> Vec<Message> {
    let (system, rest) = match messages {
        [first, rest @ ..] if first.role == MessageRole::System => (format!("{}\n\n{text}", first.content), rest),
        _ => (text.to_owned(), messages),
    };
    let system = Message::new(MessageRole::System, system);
    std::iter::once(system).chain(rest.iter().cloned()).collect()
}

fn declaration(tool: &ToolDeclaration) -> String {
    python::json(&json!({ "name": tool.name, "description": tool.description, "parameters": tool.parameters }))
}

fn with_calls(message: &Message) -> String {
    let mut text = message.content.clone();
    for call in &message.tool_calls {
        if !text.is_empty() {
            text.push('\n');
        }
        let json = python::json(&json!({ "name": call.name, "arguments": call.arguments }));
        text += &format!("<tool_call>\n{json}\n</tool_call>");
    }
    text
}
