//! What a template expects of the language it was written for: values written as Python writes them, its JSON, its dates.
//!
//! The reference is `apply_chat_template` of the library that models are published for.

use super::marks::{OPEN, in_json};
use minijinja::value::{Kwargs, Serde, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value};
use serde::Serialize;

/// Makes an environment write and convert values as Python does.
pub(super) fn set_up(environment: &mut Environment<'static>) {
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.set_formatter(|output, _state, value| output.write_str(&written(value)?).map_err(Error::from));
    environment.add_test("iterable", |value: &Value| {
        !matches!(value.kind(), ValueKind::None | ValueKind::Bool | ValueKind::Number)
    });
    environment.add_test("sequence", |value: &Value| {
        matches!(value.kind(), ValueKind::String | ValueKind::Seq | ValueKind::Map)
    });
    environment.add_test("number", |value: &Value| {
        matches!(value.kind(), ValueKind::Number | ValueKind::Bool)
    });
    environment.add_filter("string", |value: &Value| written(value));
    environment.add_filter("tojson", tojson);
    environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_function("strftime_now", |format: &str| date(format));
}

/// Writes a value as Python's `str` does.
fn written(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::String => Ok(value.as_str().unwrap_or_default().to_owned()),
        ValueKind::Undefined => Ok(String::new()),
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => {
            let mut text = String::new();
            structure(value, &PYTHON, 0, &mut text)?;
            if text.contains(OPEN) {
                return refused("the template writes texts in Python's own notation");
            }
            Ok(text)
        }
        _ => Ok(scalar(value, &PYTHON)),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a filter gets its options so")]
fn tojson(value: &Value, options: Kwargs) -> Result<String, Error> {
    // `ensure_ascii` may be given as what it is anyway.
    if options.get::<Option<bool>>("ensure_ascii")? == Some(true)
        || options.get::<Option<bool>>("sort_keys")? == Some(true)
    {
        return refused("the template wants another JSON than the texts can be put into");
    }
    let indent = options.get::<Option<usize>>("indent")?;
    let mut separators = [if indent.is_some() { "," } else { ", " }.to_owned(), ": ".to_owned()];
    if let Some(given) = options.get::<Option<Vec<String>>>("separators")? {
        separators = given
            .try_into()
            .or_else(|_| refused("the separators of JSON are two"))?;
    }
    options.assert_all_used()?;
    let [item, key] = &separators;
    let notation = Notation {
        item,
        key,
        indent,
        ..JSON
    };
    let mut text = String::new();
    structure(value, &notation, 0, &mut text)?;
    Ok(text)
}

/// Returns a value as Python's JSON.
pub(super) fn json(value: &impl Serialize) -> String {
    let mut text = String::new();
    // All of JSON's values have a notation.
    let _written = structure(&Value::from(Serde(value)), &JSON, 0, &mut text);
    text
}

/// Returns a template without the tags that mark what a model is trained on; nothing is trained here.
pub(super) fn without_tracking(source: &str) -> String {
    let mut kept = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((before, tag)) = rest.split_once("{%") {
        kept.push_str(before);
        let Some((inner, after)) = tag.split_once("%}") else {
            rest = &rest[before.len()..];
            break;
        };
        let inner = match inner.trim_matches(|character: char| "-+".contains(character) || character.is_whitespace()) {
            "generation" => inner.replace("generation", "if true"),
            "endgeneration" => inner.replace("endgeneration", "endif"),
            _ => inner.to_owned(),
        };
        kept.push_str("{%");
        kept.push_str(&inner);
        kept.push_str("%}");
        rest = after;
    }
    kept + rest
}

/// How values are written.
struct Notation<'a> {
    item: &'a str,
    key: &'a str,
    indent: Option<usize>,
    constants: [&'static str; 3],
    quote: fn(&str) -> String,
}

const JSON: Notation<'static> = Notation {
    item: ", ",
    key: ": ",
    indent: None,
    constants: ["null", "true", "false"],
    quote: json_string,
};
const PYTHON: Notation<'static> = Notation {
    item: ", ",
    key: ": ",
    indent: None,
    constants: ["None", "True", "False"],
    quote: python_string,
};

fn structure(value: &Value, notation: &Notation, depth: usize, text: &mut String) -> Result<(), Error> {
    let line = |text: &mut String, depth: usize| {
        if let Some(indent) = notation.indent {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', indent * depth));
        }
    };
    let kind = value.kind();
    let brackets = match kind {
        ValueKind::Map => ['{', '}'],
        ValueKind::Seq | ValueKind::Iterable => ['[', ']'],
        ValueKind::String => {
            text.push_str(&(notation.quote)(value.as_str().unwrap_or_default()));
            return Ok(());
        }
        ValueKind::Undefined => return refused("the template writes a value that is not there"),
        _ => {
            text.push_str(&scalar(value, notation));
            return Ok(());
        }
    };
    text.push(brackets[0]);
    let mut empty = true;
    for item in value.try_iter()? {
        if !empty {
            text.push_str(notation.item);
        }
        empty = false;
        line(text, depth + 1);
        if kind == ValueKind::Map {
            text.push_str(&(notation.quote)(&item.to_string()));
            text.push_str(notation.key);
            structure(&value.get_item(&item)?, notation, depth + 1, text)?;
        } else {
            structure(&item, notation, depth + 1, text)?;
        }
    }
    if !empty {
        line(text, depth);
    }
    text.push(brackets[1]);
    Ok(())
}

fn scalar(value: &Value, notation: &Notation) -> String {
    let [none, yes, no] = notation.constants;
    match value.kind() {
        ValueKind::None => none.to_owned(),
        ValueKind::Bool => if value.is_true() { yes } else { no }.to_owned(),
        ValueKind::Number if !value.is_integer() => {
            f64::try_from(value.clone()).map_or_else(|_| value.to_string(), float)
        }
        _ => value.to_string(),
    }
}

/// Writes a number as Python's `repr` does.
fn float(number: f64) -> String {
    let size = number.abs();
    if number != 0.0 && !(1e-4..1e16).contains(&size) && number.is_finite() {
        let text = format!("{number:e}");
        if let Some((digits, exponent)) = text.split_once('e') {
            let sign = if exponent.starts_with('-') { '-' } else { '+' };
            return format!("{digits}e{sign}{:0>2}", exponent.trim_start_matches('-'));
        }
    }
    format!("{number:?}")
}

fn json_string(text: &str) -> String {
    format!("\"{}\"", in_json(text))
}

fn python_string(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut quoted = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            character if character == quote => quoted.extend(['\\', character]),
            character => quoted.push(character),
        }
    }
    quoted.push(quote);
    quoted
}

/// Writes the first day of 2025: the day itself would make every prompt of a new one another.
fn date(format: &str) -> String {
    let mut text = String::new();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('Y') => text.push_str("2025"),
            Some('y') => text.push_str("25"),
            Some('m' | 'd') => text.push_str("01"),
            Some('B') => text.push_str("January"),
            Some('b' | 'h') => text.push_str("Jan"),
            Some('A') => text.push_str("Wednesday"),
            Some('a') => text.push_str("Wed"),
            Some('H' | 'M' | 'S') => text.push_str("00"),
            Some('F') => text.push_str("2025-01-01"),
            Some('%') | None => text.push('%'),
            Some(other) => text.extend(['%', other]),
        }
    }
    text
}

fn refused<T>(reason: &'static str) -> Result<T, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, reason))
}
