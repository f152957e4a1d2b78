//! Whether a JSON value is of a schema: the part of JSON Schema that forms of answers are written in.
//!
//! A schema with another keyword is refused, so that nothing counts as checked that was not.

use serde_json::Value;

/// How deep a schema may refer.
const DEEPEST: u32 = 64;
/// Keywords that demand nothing of a value.
const REMARKS: [&str; 8] = [
    "$schema",
    "$id",
    "$defs",
    "definitions",
    "title",
    "description",
    "default",
    "examples",
];
/// Keywords that demand something of a value and hold no schema.
const KEYWORDS: [&str; 15] = [
    "$ref",
    "type",
    "enum",
    "const",
    "required",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];

/// Why a value is not of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// The schema has a keyword, or a form of one, that is not understood here.
    Schema(String),
    /// Where the value is at fault, and how.
    Value(String),
}

/// Returns what of a schema is not understood here, if anything; references are looked at when they are followed.
pub(crate) fn not_understood(schema: &Value) -> Option<String> {
    let keywords = match schema {
        Value::Bool(_) => return None,
        Value::Object(keywords) => keywords,
        _ => return Some("a schema is an object".to_owned()),
    };
    keywords
        .iter()
        .find_map(|(keyword, demand)| match (keyword.as_str(), demand) {
            ("properties" | "$defs" | "definitions", Value::Object(schemas)) => {
                schemas.values().find_map(not_understood)
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => schemas.iter().find_map(not_understood),
            ("items" | "additionalProperties", schema) => not_understood(schema),
            (other, _) if KEYWORDS.contains(&other) || REMARKS.contains(&other) => None,
            (other, _) => Some(format!("\"{other}\" is not understood here")),
        })
}

/// Checks a value against a schema.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), Mismatch> {
    Check { root: schema }.value(schema, value, "the answer", 0)
}

struct Check<'a> {
    root: &'a Value,
}

impl Check<'_> {
    fn value(&self, schema: &Value, value: &Value, at: &str, depth: u32) -> Result<(), Mismatch> {
        if depth > DEEPEST {
            return Err(Mismatch::Schema("it refers too deep".to_owned()));
        }
        let keywords = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => return wrong(at, "must not be there"),
            Value::Object(keywords) => keywords,
            _ => return Err(Mismatch::Schema("a schema is an object".to_owned())),
        };
        for (keyword, demand) in keywords {
            self.keyword(keyword, demand, schema, value, at, depth)?;
        }
        Ok(())
    }

    fn keyword(
        &self,
        keyword: &str,
        demand: &Value,
        schema: &Value,
        value: &Value,
        at: &str,
        depth: u32,
    ) -> Result<(), Mismatch> {
        let inside = |schema: &Value, value: &Value, at: &str| self.value(schema, value, at, depth + 1);
        match (keyword, demand) {
            (remark, _) if REMARKS.contains(&remark) => Ok(()),
            ("$ref", Value::String(reference)) => {
                let place = reference.strip_prefix('#').and_then(|place| self.root.pointer(place));
                let Some(target) = place else {
                    return Err(Mismatch::Schema(format!("{reference} leads nowhere")));
                };
                inside(target, value, at)
            }
            ("type", Value::String(name)) => demanded(has_type(value, name)?, at, &format!("is no {name}")),
            ("type", Value::Array(names)) => {
                for name in names.iter().filter_map(Value::as_str) {
                    if has_type(value, name)? {
                        return Ok(());
                    }
                }
                wrong(at, "has another type")
            }
            ("enum", Value::Array(values)) => demanded(values.contains(value), at, "is none of the values allowed"),
            ("const", expected) => demanded(value == expected, at, "is not the value demanded"),
            ("properties", Value::Object(properties)) => {
                for (name, schema) in properties {
                    if let Some(value) = value.get(name) {
                        inside(schema, value, name)?;
                    }
                }
                Ok(())
            }
            ("required", Value::Array(names)) => {
                let missing = names
                    .iter()
                    .filter_map(Value::as_str)
                    .find(|name| value.get(name).is_none());
                match missing {
                    Some(name) if value.is_object() => wrong(at, &format!("lacks \"{name}\"")),
                    _ => Ok(()),
                }
            }
            ("additionalProperties", rest) => {
                let known = schema["properties"].as_object();
                for (name, value) in value.as_object().into_iter().flatten() {
                    if known.is_none_or(|known| !known.contains_key(name)) {
                        inside(rest, value, name)?;
                    }
                }
                Ok(())
            }
            ("items", items) => value
                .as_array()
                .into_iter()
                .flatten()
                .try_for_each(|item| inside(items, item, at)),
            ("allOf", Value::Array(all)) => all.iter().try_for_each(|schema| inside(schema, value, at)),
            ("anyOf" | "oneOf", Value::Array(any)) => {
                let mut fitting = 0;
                for schema in any {
                    match inside(schema, value, at) {
                        Ok(()) => fitting += 1,
                        Err(Mismatch::Value(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
                let enough = fitting == 1 || fitting > 1 && keyword == "anyOf";
                demanded(enough, at, "is of none of the forms allowed, or of several")
            }
            (limit, Value::Number(bound)) => {
                let Some(bound) = bound.as_f64() else {
                    return Err(Mismatch::Schema(format!("{limit} is no number")));
                };
                within(limit, bound, value, at)
            }
            (other, _) => Err(Mismatch::Schema(format!("\"{other}\" is not understood here"))),
        }
    }
}

/// Checks a limit of a number or of a length.
fn within(limit: &str, bound: f64, value: &Value, at: &str) -> Result<(), Mismatch> {
    let measured = match limit {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.as_f64(),
        "minLength" | "maxLength" => value.as_str().map(|text| text.chars().count() as f64),
        "minItems" | "maxItems" => value.as_array().map(|items| items.len() as f64),
        "minProperties" | "maxProperties" => value.as_object().map(|fields| fields.len() as f64),
        other => return Err(Mismatch::Schema(format!("\"{other}\" is not understood here"))),
    };
    let Some(measured) = measured else { return Ok(()) };
    let fits = match limit {
        "exclusiveMinimum" => measured > bound,
        "exclusiveMaximum" => measured < bound,
        least if least.starts_with("min") => measured >= bound,
        _ => measured <= bound,
    };
    demanded(fits, at, &format!("breaks {limit} {bound}"))
}

fn has_type(value: &Value, name: &str) -> Result<bool, Mismatch> {
    Ok(match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => return Err(Mismatch::Schema(format!("there is no type \"{other}\""))),
    })
}

fn demanded(holds: bool, at: &str, fault: &str) -> Result<(), Mismatch> {
    if holds { Ok(()) } else { wrong(at, fault) }
}

fn wrong(at: &str, fault: &str) -> Result<(), Mismatch> {
    Err(Mismatch::Value(format!("{at} {fault}")))
}

#[cfg(test)]
mod tests {
    use super::{Mismatch, check, not_understood};
    use serde_json::json;

    #[test]
    fn a_value_is_of_its_schema_or_it_is_said_where_not() {
        let schema = json!({
            "type": "object",
            "properties": {
                "action": {"enum": ["modify", "nothing"]},
                "reason": {"type": "string", "minLength": 1, "maxLength": 5},
                "steps": {"type": "array", "items": {"$ref": "#/$defs/step"}, "maxItems": 2},
            },
            "required": ["reason"],
            "additionalProperties": false,
            "$defs": {"step": {"type": ["integer", "null"], "minimum": 1}},
        });
        for (value, expected) in [
            (json!({"reason": "ß", "action": "modify", "steps": [1, null]}), None),
            (json!({"action": "modify"}), Some("the answer lacks \"reason\"")),
            (json!({"reason": ""}), Some("reason breaks minLength 1")),
            (json!({"reason": "öööööö"}), Some("reason breaks maxLength 5")),
            (json!({"reason": "x", "more": 1}), Some("more must not be there")),
            (
                json!({"reason": "x", "action": "no"}),
                Some("action is none of the values allowed"),
            ),
            (json!({"reason": "x", "steps": [0]}), Some("steps breaks minimum 1")),
            (
                json!({"reason": "x", "steps": [1, 2, 3]}),
                Some("steps breaks maxItems 2"),
            ),
            (json!([]), Some("the answer is no object")),
        ] {
            let found = check(&schema, &value);
            let expected = expected.map_or(Ok(()), |why| Err(Mismatch::Value(why.to_owned())));
            assert_eq!(found, expected, "{value}");
        }
    }

    #[test]
    fn a_schema_that_is_not_understood_is_no_schema_that_holds() {
        let hidden = json!({"type": "object", "properties": {"a": {"items": {"pattern": "b"}}}});
        assert_eq!(
            not_understood(&hidden).as_deref(),
            Some("\"pattern\" is not understood here")
        );
        for schema in [
            json!({"pattern": "a"}),
            json!({"$ref": "#/x"}),
            json!({"type": "text"}),
            json!(1),
            json!({"$ref": "#"}),
        ] {
            assert!(
                matches!(check(&schema, &json!("a")), Err(Mismatch::Schema(_))),
                "{schema}"
            );
        }
    }
}
