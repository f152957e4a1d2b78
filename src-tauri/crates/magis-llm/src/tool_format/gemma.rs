//! Gemma's notation of a call: `call:name{key:value}`, with strings between `<|"|>`.

use super::found::Named;
use serde_json::{Map, Value};

pub(super) const QUOTE: &str = "<|\"|>";
// Beyond it no argument goes, and a reader that follows it would need too much stack.
const DEEPEST: u32 = 64;

pub(super) fn call(body: &str) -> Result<Named, String> {
    let inner = body
        .trim()
        .strip_prefix("call:")
        .ok_or("the call does not begin with call:")?;
    let at = inner.find('{').ok_or("the call has no arguments")?;
    let mut reader = Reader { rest: &inner[at..] };
    let Value::Object(arguments) = reader.value(0)? else {
        return Err("the arguments are not an object".to_owned());
    };
    if !reader.rest.trim().is_empty() {
        return Err("there is more behind the arguments".to_owned());
    }
    Ok((inner[..at].trim().to_owned(), arguments))
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: u32) -> Result<Value, String> {
        if depth > DEEPEST {
            return Err("the arguments are nested too deeply".to_owned());
        }
        if self.takes(QUOTE) {
            return Ok(Value::String(self.until(QUOTE)?.to_owned()));
        }
        if self.takes("{") {
            let mut fields = Map::new();
            while !self.takes("}") {
                let key = if self.takes(QUOTE) { self.until(QUOTE)? } else { "" };
                let plain = self.until(":")?.trim();
                let key = if key.is_empty() { plain } else { key };
                let value = self.value(depth + 1)?;
                fields.insert(key.to_owned(), value);
                if !self.takes(",") && !self.rest.trim_start().starts_with('}') {
                    return Err(format!("behind {key} neither a comma nor an end follows"));
                }
            }
            return Ok(Value::Object(fields));
        }
        if self.takes("[") {
            let mut items = Vec::new();
            while !self.takes("]") {
                items.push(self.value(depth + 1)?);
                if !self.takes(",") && !self.rest.trim_start().starts_with(']') {
                    return Err("in a list neither a comma nor an end follows".to_owned());
                }
            }
            return Ok(Value::Array(items));
        }
        let end = self.rest.find([',', '}', ']']).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        serde_json::from_str(text.trim()).map_err(|_| format!("{} is no value", text.trim()))
    }

    fn takes(&mut self, text: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn until(&mut self, end: &str) -> Result<&'a str, String> {
        let (text, rest) = self.rest.split_once(end).ok_or_else(|| format!("{end} is missing"))?;
        self.rest = rest;
        Ok(text)
    }
}
