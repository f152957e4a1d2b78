//! Undefined names of Python, and attributes of `self` that nothing sets.

use super::known;
use crate::scopes::Use;
use crate::scopes::heads::{Decorated, Form};
use crate::scopes::python::{PythonFile, read};
use std::collections::HashSet;

/// Returns what a file uses and does not define; none where that cannot be told.
pub(super) fn undefined(text: &str) -> Option<Vec<String>> {
    let file = read(text)?;
    if file.scopes.dynamic {
        return None;
    }
    let excused = |used: &Use<'_>| used.name == "_" || is_dunder(used.name) || is_silenced(text, used.byte);
    let mut found = super::unknown(&file.scopes, known::PYTHON, excused);
    found.extend(unset_attributes(&file));
    Some(found)
}

/// Returns whether the line says that linters have nothing to say about it.
fn is_silenced(text: &str, byte: usize) -> bool {
    let rest = text.get(byte..).unwrap_or_default();
    let comment = rest.lines().next().and_then(|line| line.split_once('#'));
    comment.is_some_and(|(_, comment)| comment.contains("noqa") || comment.contains("type: ignore"))
}

fn is_dunder(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__")
}

/// Returns attributes of `self` that nothing in the file sets, in classes that inherit nothing and are not made to be
/// inherited from.
fn unset_attributes(file: &PythonFile<'_>) -> Vec<String> {
    if file.dynamic_attributes {
        return Vec::new();
    }
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for used in &file.own_attributes {
        let name = used.name;
        if is_dunder(name) || file.stored.contains(name) || file.words.contains(name) || seen.contains(name) {
            continue;
        }
        let class = file.class_of(used.scope, used.byte, "self");
        if class.is_some_and(|class| is_closed(file, class) && !file.scopes.all[class].names.contains_key(name)) {
            seen.insert(name);
            found.push(format!("self.{name}"));
        }
    }
    found
}

/// Returns whether all attributes of a class are made in its own body.
fn is_closed(file: &PythonFile<'_>, class: usize) -> bool {
    let Some(definition) = file.definition_of(class) else {
        return false;
    };
    let names = &file.scopes.all[class].names;
    let answers_any = ["__getattr__", "__getattribute__", "__slots__"]
        .iter()
        .any(|own| names.contains_key(own));
    let inherits = !matches!(&definition.form, Form::Class(Some(bases)) if bases.is_empty());
    definition.decorated == Decorated::No && !inherits && !file.is_extended(definition) && !answers_any
}
