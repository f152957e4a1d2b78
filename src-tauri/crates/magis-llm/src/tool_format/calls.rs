//! Reads what stands between the marks of calls.

use super::ToolFormat;
use super::found::Named;
use super::gemma;
use crate::ToolDeclaration;
use serde_json::{Map, Value};

/// Reads the calls of a body; the error says what is wrong with it.
pub(super) fn read(format: ToolFormat, body: &str, tools: &[ToolDeclaration]) -> Result<Vec<Named>, String> {
    match format {
        ToolFormat::Hermes | ToolFormat::MistralList | ToolFormat::Granite | ToolFormat::Llama => json_calls(body),
        ToolFormat::QwenXml if body.trim_start().starts_with('{') => json_calls(body),
        ToolFormat::QwenXml => Ok(vec![xml_call(body, tools)?]),
        ToolFormat::Mistral if body.trim_start().starts_with('[') => json_calls(body),
        ToolFormat::Mistral => body.split("[TOOL_CALLS]").map(mistral_call).collect(),
        ToolFormat::Gemma => Ok(vec![gemma::call(body)?]),
        ToolFormat::DeepSeek | ToolFormat::DeepSeekFenced => deepseek_calls(body),
        // Its calls are messages, of which the header has the name.
        ToolFormat::Harmony => Err("a call stands outside of a message".to_owned()),
    }
}

/// Reads the arguments of a call of which the name is known.
pub(super) fn arguments(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    object(serde_json::from_str(text.trim()).map_err(|error| format!("the arguments are not JSON: {error}"))?)
}

fn object(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Map::new()),
        // Some models put the JSON into a string.
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(fields)) => Ok(fields),
            _ => Err("the arguments are a string".to_owned()),
        },
        _ => Err("the arguments are not an object".to_owned()),
    }
}

/// Reads a call as an object, a list of them, or several one behind the other.
fn json_calls(body: &str) -> Result<Vec<Named>, String> {
    let mut calls = Vec::new();
    for value in serde_json::Deserializer::from_str(body).into_iter::<Value>() {
        match value.map_err(|error| format!("the call is not JSON: {error}"))? {
            Value::Array(items) => calls.extend(items.into_iter().map(json_call).collect::<Result<Vec<_>, _>>()?),
            value => calls.push(json_call(value)?),
        }
    }
    if calls.is_empty() {
        return Err("there is no call".to_owned());
    }
    Ok(calls)
}

fn json_call(value: Value) -> Result<Named, String> {
    let Value::Object(mut fields) = value else {
        return Err("the call is not an object".to_owned());
    };
    if let Some(Value::Object(function)) = fields.remove("function") {
        fields = function;
    }
    let Some(Value::String(name)) = fields.remove("name") else {
        return Err("the call has no name".to_owned());
    };
    let arguments = fields.remove("arguments").or_else(|| fields.remove("parameters"));
    Ok((name, object(arguments.unwrap_or_default())?))
}

fn xml_call(body: &str, tools: &[ToolDeclaration]) -> Result<Named, String> {
    let inner = body
        .trim()
        .strip_prefix("<function=")
        .ok_or("the call does not begin with <function=")?;
    let (name, mut rest) = inner.split_once('>').ok_or("the name has no end")?;
    rest = rest
        .trim_end()
        .strip_suffix("</function>")
        .ok_or("</function> is missing")?;
    let declared = tools.iter().find(|tool| tool.name == name);
    let mut arguments = Map::new();
    while let Some(parameter) = rest.trim_start().strip_prefix("<parameter=") {
        let (key, text) = parameter.split_once('>').ok_or("the name of a parameter has no end")?;
        let (value, after) = text.split_once("</parameter>").ok_or("</parameter> is missing")?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        let schema = declared.and_then(|tool| tool.parameters.get("properties")?.get(key));
        arguments.insert(key.to_owned(), untyped(value, schema));
        rest = after;
    }
    if !rest.trim().is_empty() {
        return Err("there is more than parameters in the call".to_owned());
    }
    Ok((name.to_owned(), arguments))
}

/// Returns a value that was written without quotes, by its schema.
fn untyped(text: &str, schema: Option<&Value>) -> Value {
    let string = || Value::String(text.to_owned());
    let is_text = |schema: &Value| match schema.get("type") {
        Some(Value::String(kind)) => kind == "string",
        Some(_) => false,
        None => schema.get("enum").is_some_and(|values| {
            values
                .as_array()
                .is_some_and(|values| values.iter().all(Value::is_string))
        }),
    };
    match (schema, text) {
        (None, _) => string(),
        (Some(schema), _) if is_text(schema) => string(),
        // As templates show them to the model.
        (_, "True") => Value::Bool(true),
        (_, "False") => Value::Bool(false),
        (_, "None") => Value::Null,
        _ => serde_json::from_str(text).unwrap_or_else(|_| string()),
    }
}

fn mistral_call(body: &str) -> Result<Named, String> {
    let (name, text) = body.split_once("[ARGS]").ok_or("[ARGS] is missing")?;
    // Between them stood the id for some months.
    let name = name.split("[CALL_ID]").next().unwrap_or(name);
    Ok((name.trim().to_owned(), arguments(text)?))
}

fn deepseek_calls(body: &str) -> Result<Vec<Named>, String> {
    let calls: Result<Vec<Named>, String> = body
        .split("<｜tool▁call▁begin｜>")
        .skip(1)
        .map(|call| {
            let (before, after) = call.split_once("<｜tool▁sep｜>").ok_or("<｜tool▁sep｜> is missing")?;
            let after = after.split("<｜tool▁call▁end｜>").next().unwrap_or(after).trim();
            let fenced = after.strip_suffix("```").and_then(|after| after.split_once("```json"));
            match fenced {
                Some((name, text)) => Ok((name.trim().to_owned(), arguments(text)?)),
                None => Ok((before.trim().to_owned(), arguments(after)?)),
            }
        })
        .collect();
    match calls {
        Ok(calls) if calls.is_empty() => Err("there is no call".to_owned()),
        calls => calls,
    }
}
