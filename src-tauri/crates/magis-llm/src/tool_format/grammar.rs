//! The grammar of an answer that may call tools, in llguidance's dialect of Lark: any text up to the mark of a call, then a
//! call of a declared tool by its schema, in the model's own syntax.
//!
//! It begins where the text does: what is thought before is not its affair.

use super::{ToolFormat, gemma};
use crate::{ToolChoice, ToolDeclaration, Tools};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use thiserror::Error;

/// Why calls of the declared tools cannot be enforced.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GrammarError {
    #[error("no tool is declared")]
    NoTool,
    #[error("a tool cannot be called '{0}': names have letters, digits, _ and -")]
    Name(String),
    #[error("the tool {0} needs a schema of an object for its arguments")]
    Schema(String),
}

impl ToolFormat {
    /// Returns the grammar. `token` gives the number of a text that is a special token of the vocabulary, none where it is plain text.
    ///
    /// # Errors
    /// When a declaration has a name or a schema that is none.
    pub fn grammar(self, tools: &Tools, token: &dyn Fn(&str) -> Option<u32>) -> Result<String, GrammarError> {
        if tools.is_empty() {
            return Err(GrammarError::NoTool);
        }
        let mut grammar = Grammar {
            rules: String::new(),
            token,
        };
        for (number, tool) in tools.declared.iter().enumerate() {
            check(tool)?;
            let call = grammar.call(self, number, tool);
            grammar.rule(&format!("tool_{number}"), &call);
        }
        let tool: Vec<String> = (0..tools.declared.len())
            .map(|number| format!("tool_{number}"))
            .collect();
        grammar.rule("tool", &tool.join(" | "));
        grammar.answer(self, tools.choice);
        Ok(grammar.rules)
    }
}

fn check(tool: &ToolDeclaration) -> Result<(), GrammarError> {
    let plain = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    if tool.name.is_empty() || !tool.name.chars().all(plain) {
        return Err(GrammarError::Name(tool.name.clone()));
    }
    if tool.parameters.get("type").and_then(Value::as_str) != Some("object") {
        return Err(GrammarError::Schema(tool.name.clone()));
    }
    Ok(())
}

struct Grammar<'a> {
    rules: String,
    token: &'a dyn Fn(&str) -> Option<u32>,
}

impl Grammar<'_> {
    fn rule(&mut self, name: &str, body: &str) {
        let _ = writeln!(self.rules, "{name}: {body}");
    }

    /// Returns a text, of which the marks may be special tokens.
    fn mark(&self, text: &str) -> String {
        match (self.token)(text) {
            Some(token) => format!("<[{token}]>"),
            None => quoted(text),
        }
    }

    /// Writes the rules of the whole answer.
    fn answer(&mut self, format: ToolFormat, choice: ToolChoice) {
        let (open, calls) = match format {
            ToolFormat::Hermes | ToolFormat::QwenXml => ("<tool_call>", self.separated("<tool_call>", "\n")),
            ToolFormat::MistralList => ("[TOOL_CALLS]", "\"[\" tool (\", \" tool)* \"]\"".to_owned()),
            ToolFormat::Mistral => ("[TOOL_CALLS]", self.separated("[TOOL_CALLS]", "")),
            ToolFormat::Granite => ("<|tool_call|>", "\"[\" tool (\", \" tool)* \"]\"".to_owned()),
            ToolFormat::Gemma => ("<|tool_call>", self.separated("<|tool_call>", "")),
            ToolFormat::DeepSeek | ToolFormat::DeepSeekFenced => {
                let line = if format == ToolFormat::DeepSeek { "" } else { "\n" };
                let begin = self.mark("<｜tool▁call▁begin｜>");
                let more = joined(&[quoted(line), begin.clone(), "tool".to_owned()]);
                let end = self.mark("<｜tool▁calls▁end｜>");
                ("<｜tool▁calls▁begin｜>", format!("{begin} tool ({more})* {end}"))
            }
            ToolFormat::Llama => return self.llama(choice),
            ToolFormat::Harmony => return self.harmony(choice),
        };
        self.rule("calls", &calls);
        let marked = self.mark(open);
        let free = self.free_until(open);
        match choice {
            ToolChoice::Required => self.rule("start", &format!("{marked} calls")),
            ToolChoice::Free if (self.token)(open).is_some() => {
                self.rule("start", &format!("{free}? ({marked} calls)?"));
            }
            ToolChoice::Free => {
                self.rule(&format!("before[suffix={}]", quoted(open)), "/(?s:.*)/");
                self.rule("start", &format!("{free}? | before calls"));
            }
        }
    }

    /// Returns calls behind the first mark: one, or several with marks of their own.
    fn separated(&self, open: &str, separator: &str) -> String {
        let more = joined(&[quoted(separator), self.mark(open), "tool".to_owned()]);
        format!("tool ({more})*")
    }

    /// Returns text that a mark does not stand in; a special token never does.
    fn free_until(&mut self, mark: &str) -> &'static str {
        if (self.token)(mark).is_some() {
            self.rule("FREE", "/(?s:.+)/");
        } else {
            let mark = regex(mark);
            self.rule("FREE", &format!("/(?s:.+)/ & ~/(?s:.*){mark}(?s:.*)/"));
        }
        "FREE"
    }

    fn llama(&mut self, choice: ToolChoice) {
        match choice {
            ToolChoice::Required => self.rule("start", "tool"),
            ToolChoice::Free => {
                self.rule("FREE", "/\\s*[^{\\s](?s:.*)/");
                self.rule("start", "FREE? | tool");
            }
        }
    }

    fn harmony(&mut self, choice: ToolChoice) {
        const END: &str = "<|end|>";
        let [channel, message, start] = ["<|channel|>", "<|message|>", "<|start|>"].map(|mark| self.mark(mark));
        self.rule("FREE", "/(?s:.+)/");
        let said = if let Some(end) = (self.token)(END) {
            format!("FREE <[{end}]>")
        } else {
            self.rule(&format!("before[suffix={}]", quoted(END)), "/(?s:.*)/");
            "before".to_owned()
        };
        let said = format!("{channel} \"commentary\" {message} {said} {start} \"assistant\"");
        let called = format!("({said})? {channel} \"commentary to=functions.\" tool");
        match choice {
            ToolChoice::Required => self.rule("start", &called),
            ToolChoice::Free => self.rule("start", &format!("{channel} \"final\" {message} FREE? | {called}")),
        }
    }

    /// Returns the call of a tool, from behind what all calls begin with to its end.
    fn call(&mut self, format: ToolFormat, number: usize, tool: &ToolDeclaration) -> String {
        let name = &tool.name;
        let arguments = match format {
            ToolFormat::QwenXml | ToolFormat::Gemma => String::new(),
            _ => self.json(&format!("arguments_{number}"), &tool.parameters),
        };
        let named = |before: &str, key: &str| quoted(&format!("{before}{{\"name\": \"{name}\", \"{key}\": "));
        match format {
            ToolFormat::Hermes => {
                let close = quoted("}\n");
                joined(&[named("\n", "arguments"), arguments, close, self.mark("</tool_call>")])
            }
            ToolFormat::MistralList | ToolFormat::Granite => joined(&[named("", "arguments"), arguments, quoted("}")]),
            ToolFormat::Llama => joined(&[named("", "parameters"), arguments, quoted("}")]),
            ToolFormat::Mistral => joined(&[quoted(name), self.mark("[ARGS]"), arguments]),
            ToolFormat::DeepSeek => {
                let separator = self.mark("<｜tool▁sep｜>");
                joined(&[quoted(name), separator, arguments, self.mark("<｜tool▁call▁end｜>")])
            }
            ToolFormat::DeepSeekFenced => {
                let [separator, end] = ["<｜tool▁sep｜>", "<｜tool▁call▁end｜>"].map(|mark| self.mark(mark));
                let fence = quoted(&format!("{name}\n```json\n"));
                joined(&[quoted("function"), separator, fence, arguments, quoted("\n```"), end])
            }
            ToolFormat::Harmony => {
                let [constrain, message] = ["<|constrain|>", "<|message|>"].map(|mark| self.mark(mark));
                joined(&[
                    quoted(&format!("{name} ")),
                    constrain,
                    quoted("json"),
                    message,
                    arguments,
                ])
            }
            ToolFormat::QwenXml => self.xml(number, tool),
            ToolFormat::Gemma => {
                let body = self.gemma_object(&format!("value_{number}"), &tool.parameters, &tool.parameters, 0);
                joined(&[quoted(&format!("call:{name}")), body, self.mark("<tool_call|>")])
            }
        }
    }

    /// Writes the rule of a JSON value, without free white space: that is where small models lose themselves.
    fn json(&mut self, name: &str, schema: &Value) -> String {
        let mut schema = closed(schema);
        if let Value::Object(fields) = &mut schema {
            let layout = json!({ "whitespace_flexible": false, "item_separator": ", ", "key_separator": ": " });
            fields.insert("x-guidance".to_owned(), layout);
        }
        self.rule(name, &format!("%json {schema}"));
        name.to_owned()
    }

    fn xml(&mut self, number: usize, tool: &ToolDeclaration) -> String {
        const END: &str = "\n</parameter>\n";
        let text = format!("text_{number}[suffix={}]", quoted(END));
        self.rule(&text, "/(?s:.*)/");
        let mut parts = vec![quoted(&format!("\n<function={}>\n", tool.name))];
        for (at, (key, schema, presence)) in properties(&tool.parameters).into_iter().enumerate() {
            let name = format!("parameter_{number}_{at}");
            let value = match strings(schema) {
                Some(Strings::Any) => format!("text_{number}"),
                Some(Strings::These(texts)) => {
                    let texts: Vec<String> = texts.iter().map(|text| quoted(&format!("{text}{END}"))).collect();
                    format!("({})", texts.join(" | "))
                }
                None => joined(&[
                    self.json(&format!("json_{number}_{at}"), &within(schema, &tool.parameters)),
                    quoted(END),
                ]),
            };
            self.rule(&name, &joined(&[quoted(&format!("<parameter={key}>\n")), value]));
            parts.push(match presence {
                Property::Required => name,
                Property::Optional => format!("{name}?"),
            });
        }
        parts.push(quoted("</function>\n"));
        parts.push(self.mark("</tool_call>"));
        joined(&parts)
    }

    /// Writes the rules of a value in Gemma's notation and returns its name.
    fn gemma_value(&mut self, name: &str, schema: &Value, whole: &Value, depth: u32) -> String {
        let quote = self.mark(gemma::QUOTE);
        let kind = schema.get("type").and_then(Value::as_str);
        let body = match (strings(schema), kind) {
            (Some(Strings::These(texts)), _) => {
                let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
                format!("{quote} ({}) {quote}", texts.join(" | "))
            }
            (Some(Strings::Any), _) if (self.token)(gemma::QUOTE).is_some() => format!("{quote} /(?s:.+)/? {quote}"),
            (Some(Strings::Any), _) => {
                self.rule(&format!("{name}_text[suffix={quote}]"), "/(?s:.*)/");
                format!("{quote} {name}_text")
            }
            (None, Some("object")) if schema.get("properties").is_some() && depth < 8 => {
                return self.gemma_object(name, schema, whole, depth);
            }
            (None, Some("array")) if schema.get("items").is_some_and(Value::is_object) && depth < 8 => {
                let items = schema.get("items").cloned().unwrap_or_default();
                let item = self.gemma_value(&format!("{name}_item"), &items, whole, depth + 1);
                format!("\"[\" ({item} (\",\" {item})*)? \"]\"")
            }
            (None, Some("integer" | "number" | "boolean" | "null")) => {
                format!("%json {}", closed(&within(schema, whole)))
            }
            _ => format!("%json {}", json!({ "type": ["integer", "number", "boolean", "null"] })),
        };
        self.rule(name, &body);
        name.to_owned()
    }

    fn gemma_object(&mut self, name: &str, schema: &Value, whole: &Value, depth: u32) -> String {
        let mut sorted = properties(schema);
        // The template writes them so, and thus the model does.
        sorted.sort_by_key(|(key, ..)| key.to_lowercase());
        let mut fields = Vec::new();
        for (at, (key, schema, presence)) in sorted.into_iter().enumerate() {
            let value = self.gemma_value(&format!("{name}_{at}"), schema, whole, depth + 1);
            fields.push((joined(&[quoted(&format!("{key}:")), value]), presence));
        }
        // Each with a comma in front but the first that is there.
        let mut rest = String::new();
        let mut from = String::new();
        for (field, presence) in fields.into_iter().rev() {
            let optional = if presence == Property::Required { "" } else { "?" };
            let whole = joined(&[field.clone(), rest.clone()]);
            from = match presence {
                Property::Required => format!("({whole})"),
                Property::Optional if from.is_empty() => format!("({whole})?"),
                Property::Optional => format!("({whole} | {from})"),
            };
            rest = joined(&[format!("(\",\" {field}){optional}"), rest]);
        }
        self.rule(name, &joined(&[quoted("{"), from, quoted("}")]));
        name.to_owned()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Property {
    Required,
    Optional,
}

/// Returns the properties of an object's schema in their order.
fn properties(schema: &Value) -> Vec<(&str, &Value, Property)> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |key: &str| required.is_some_and(|keys| keys.iter().any(|one| one == key));
    let all = schema.get("properties").and_then(Value::as_object);
    let property = |(key, schema)| {
        let presence = if is_required(key) {
            Property::Required
        } else {
            Property::Optional
        };
        (key, schema, presence)
    };
    all.into_iter()
        .flatten()
        .map(|(key, schema)| property((key.as_str(), schema)))
        .collect()
}

/// What strings a schema allows, where it allows nothing else.
enum Strings<'a> {
    Any,
    These(Vec<&'a str>),
}

fn strings(schema: &Value) -> Option<Strings<'_>> {
    let these: Option<Vec<&str>> = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => values.iter().map(Value::as_str).collect(),
        (_, Some(Value::String(text))) => Some(vec![text]),
        _ => None,
    };
    match these {
        Some(texts) => Some(Strings::These(texts)),
        None => (schema.get("type").and_then(Value::as_str) == Some("string")).then_some(Strings::Any),
    }
}

/// Returns the schema of a part with the definitions of the whole, to which it may refer.
fn within(schema: &Value, whole: &Value) -> Value {
    let mut fields = schema.as_object().cloned().unwrap_or_else(Map::new);
    for definitions in ["$defs", "definitions"] {
        if let Some(known) = whole.get(definitions) {
            fields.insert(definitions.to_owned(), known.clone());
        }
    }
    Value::Object(fields)
}

/// Returns a schema in which objects have the declared fields alone, and numbers a size that can be read.
fn closed(schema: &Value) -> Value {
    let fields = match schema {
        Value::Object(fields) => fields,
        Value::Array(items) => return items.iter().map(closed).collect(),
        other => return other.clone(),
    };
    let mut fields: Map<String, Value> = fields.iter().map(|(key, value)| (key.clone(), closed(value))).collect();
    if fields.get("properties").is_some_and(Value::is_object) {
        fields.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    if matches!(fields.get("type").and_then(Value::as_str), Some("integer" | "number")) {
        let bounded = [
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "enum",
            "const",
        ];
        if !bounded.iter().any(|bound| fields.contains_key(*bound)) {
            fields.insert("minimum".to_owned(), (-LARGEST).into());
            fields.insert("maximum".to_owned(), LARGEST.into());
        }
    }
    Value::Object(fields)
}

/// The largest number that all who read JSON read exactly.
const LARGEST: i64 = (1 << 53) - 1;

fn joined(parts: &[String]) -> String {
    let parts: Vec<&str> = parts
        .iter()
        .map(String::as_str)
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(" ")
}

/// Returns a literal of the grammar; nothing for no text.
fn quoted(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        Value::from(text).to_string()
    }
}

/// Returns a regular expression for exactly this text, within slashes.
fn regex(text: &str) -> String {
    let mut regex = String::new();
    for character in text.chars() {
        if "\\.+*?()|[]{}^$#&-~/".contains(character) {
            regex.push('\\');
        }
        regex.push(character);
    }
    regex
}
