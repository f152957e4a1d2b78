//! Python's calls: functions, classes and methods of the file, by place and by keyword.

use super::{CallMisfit, Found, miscount};
use crate::scopes::heads::{Decorated, Form, Signature};
use crate::scopes::python::{PythonCall, PythonDefinition, PythonFile, read};
use std::collections::{HashMap, HashSet};

/// How many bases up a method is looked for.
const HIGHEST: usize = 16;

/// Returns the calls of a file that do not fit; none where the file cannot be read.
pub(super) fn misfits(text: &str) -> Option<Vec<Found>> {
    let file = read(text)?;
    if file.scopes.dynamic {
        return None;
    }
    let overridden = overridden(&file);
    let misfit = |call: &PythonCall<'_>| {
        let why = match call.by {
            None => called_by_name(&file, call)?,
            Some(_) if overridden.contains(call.name) || file.stored.contains(call.name) => return None,
            Some(by) => called_by_object(&file, call, by)?,
        };
        let callee = call
            .by
            .map_or_else(|| call.name.to_owned(), |by| format!("{by}.{}", call.name));
        Some(Found {
            row: call.row,
            misfit: CallMisfit { callee, why },
        })
    };
    Some(file.calls.iter().filter_map(misfit).collect())
}

/// Returns the names that more than one class of the file has, any of which `self.name` may mean.
fn overridden<'s>(file: &PythonFile<'s>) -> HashSet<&'s str> {
    let mut times: HashMap<&str, u32> = HashMap::new();
    for definition in &file.definitions {
        if matches!(definition.form, Form::Class(_)) {
            for name in file.scopes.all[definition.scope].names.keys() {
                *times.entry(name).or_default() += 1;
            }
        }
    }
    times
        .into_iter()
        .filter(|(_, times)| *times > 1)
        .map(|(name, _)| name)
        .collect()
}

/// Returns the only definition of a name in a scope.
fn only<'f, 's>(file: &'f PythonFile<'s>, scope: usize, name: &str) -> Option<&'f PythonDefinition<'s>> {
    let bound = file.scopes.all[scope].names.get(name)?;
    (bound.times == 1).then_some(&file.definitions[bound.definition?])
}

fn called_by_name(file: &PythonFile<'_>, call: &PythonCall<'_>) -> Option<String> {
    let scope = file.scopes.binder(call.name, call.scope, call.byte).ok()?;
    let definition = only(file, scope, call.name).filter(|found| found.decorated == Decorated::No)?;
    match &definition.form {
        Form::Function(signature) => fits(call, signature, 0),
        Form::Class(_) => constructed(file, call, definition),
    }
}

/// Returns how a call does not fit the constructor of a class.
fn constructed(file: &PythonFile<'_>, call: &PythonCall<'_>, class: &PythonDefinition<'_>) -> Option<String> {
    let mut class = class;
    let mut constructor = None;
    for _ in 0..HIGHEST {
        if class.decorated != Decorated::No || file.scopes.all[class.scope].names.contains_key("__new__") {
            return None;
        }
        if constructor.is_none() && file.scopes.all[class.scope].names.contains_key("__init__") {
            constructor = Some(only(file, class.scope, "__init__")?);
        }
        match base(file, class)? {
            Base::Known(base) => class = base,
            Base::Nothing => {
                let none = Signature::default();
                return match constructor.map(|found| (&found.form, found.decorated)) {
                    Some((Form::Function(signature), Decorated::No)) => fits(call, signature, 1),
                    Some(_) => None,
                    None => fits(call, &none, 0),
                };
            }
        }
    }
    None
}

/// What a class is derived from.
enum Base<'f, 's> {
    Nothing,
    /// One class of the same file.
    Known(&'f PythonDefinition<'s>),
}

/// Returns what a class is derived from; none where that is not known.
fn base<'f, 's>(file: &'f PythonFile<'s>, class: &PythonDefinition<'s>) -> Option<Base<'f, 's>> {
    let Form::Class(Some(bases)) = &class.form else {
        return None;
    };
    match bases.as_slice() {
        [] => Some(Base::Nothing),
        [name] => {
            let outside = file.scopes.all[class.scope].above?;
            let scope = file.scopes.binder(name, outside, usize::MAX).ok()?;
            let found = only(file, scope, name)?;
            (found.scope != class.scope).then_some(Base::Known(found))
        }
        _ => None,
    }
}

/// Returns how a call by `self` or `cls` does not fit the method.
fn called_by_object(file: &PythonFile<'_>, call: &PythonCall<'_>, by: &str) -> Option<String> {
    let scope = file.class_of(call.scope, call.byte, by)?;
    let method = only(file, scope, call.name).filter(|method| !method.leaves_open)?;
    let Form::Function(signature) = &method.form else {
        return None;
    };
    let bound = match (method.decorated, by) {
        (Decorated::Otherwise, _) | (Decorated::No, "cls") => return None,
        (Decorated::Static, _) => 0,
        (Decorated::No | Decorated::Class, _) => 1,
    };
    fits(call, signature, bound)
}

/// Returns how a call does not fit a signature whose first `bound` parameters are given already.
fn fits(call: &PythonCall<'_>, signature: &Signature<'_>, bound: usize) -> Option<String> {
    if signature.any || signature.positional.len() < bound {
        return None;
    }
    let by_place = &signature.positional[bound..];
    let by_name = &signature.positional[bound.max(signature.nameless)..];
    for keyword in &call.keywords {
        let taken = by_name
            .iter()
            .chain(&signature.keyword_only)
            .any(|parameter| parameter.name == *keyword);
        if !taken {
            return Some(format!("a keyword `{keyword}` that it does not take"));
        }
    }
    if call.positional > by_place.len() || call.keywords.is_empty() {
        let least = by_place.iter().filter(|parameter| parameter.required).count();
        if let Some(why) = miscount(call.positional, least, by_place.len()) {
            return Some(why);
        }
    }
    let (given, open) = by_place.split_at(call.positional);
    let twice = given.iter().find(|parameter| call.keywords.contains(&parameter.name));
    if let Some(twice) = twice.filter(|twice| by_name.iter().any(|parameter| parameter.name == twice.name)) {
        return Some(format!("two values for `{}`", twice.name));
    }
    let mut needed = open
        .iter()
        .chain(&signature.keyword_only)
        .filter(|parameter| parameter.required);
    let missing = needed.find(|parameter| !call.keywords.contains(&parameter.name))?;
    Some(format!("no value for `{}`", missing.name))
}
