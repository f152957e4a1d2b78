//! The answer of a scripted model that no rule answers for: the first one that the constraint allows.

use crate::Constraint;
use serde_json::{Map, Value, json};

/// Returns the first answer that a constraint allows.
pub(super) fn first_valid(constraint: &Constraint) -> String {
    match constraint {
        Constraint::None => "Scripted answer.".to_owned(),
        Constraint::OneOf(choices) => choices.first().cloned().unwrap_or_default(),
        Constraint::LineRanges { first, .. } => format!("{first}-{first}"),
        Constraint::JsonSchema(schema) => first_of_schema(schema, schema, 0).to_string(),
    }
}

/// Returns the smallest value of the common part of JSON schemas: types, enum, const, required, references into the
/// schema.
fn first_of_schema(schema: &Value, root: &Value, depth: u32) -> Value {
    if depth > 32 {
        return Value::Null;
    }
    let next = |schema: &Value| first_of_schema(schema, root, depth + 1);
    if let Some(reference) = schema["$ref"].as_str() {
        return root
            .pointer(reference.trim_start_matches('#'))
            .map_or(Value::Null, next);
    }
    if let Some(value) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return value.clone();
    }
    if let Some(first) = ["oneOf", "anyOf", "allOf"].iter().find_map(|key| schema[key].get(0)) {
        return next(first);
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    match kind {
        Some("string") => json!("text".repeat(schema["minLength"].as_u64().unwrap_or(1).div_ceil(4).max(1) as usize)),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(0)),
        Some("boolean") => json!(false),
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(0);
            (0..count).map(|_| next(&schema["items"])).collect()
        }
        Some("object") => {
            let required = schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str);
            let fields = required.map(|name| (name.to_owned(), next(&schema["properties"][name])));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        _ => Value::Null,
    }
}
