//! Calls of JavaScript and TypeScript: of classes without `new`, and in TypeScript of functions by the number of arguments.
//!
//! JavaScript lets a call have fewer or more arguments than its function has parameters.

use super::{CallMisfit, Found, miscount};
use crate::SourceLanguage;
use crate::scopes::script::{ScriptCall, ScriptDefinition, ScriptFile, read};
use std::collections::HashMap;

/// Returns the calls of a file that do not fit; none where the file cannot be read.
pub(super) fn misfits(language: SourceLanguage, text: &str) -> Option<Vec<Found>> {
    let file = read(language, text)?;
    if file.scopes.dynamic || text.contains("@ts-nocheck") {
        return None;
    }
    let times = times(&file);
    let misfit = |call: &ScriptCall<'_>| {
        // A name that is bound elsewhere as well may mean something else here.
        let definition = file.definitions.get(call.name);
        let definition = definition.filter(|_| times.get(call.name) == Some(&1))?;
        let why = match *definition {
            ScriptDefinition::Class => "no `new`, and it is a class".to_owned(),
            ScriptDefinition::Function { .. } if language == SourceLanguage::JavaScript => return None,
            ScriptDefinition::Function { takes, may_take_fewer } => {
                let given = call.arguments.filter(|given| *given > takes || !may_take_fewer)?;
                miscount(given, takes, takes)?
            }
        };
        (!is_silenced(text, call)).then(|| Found {
            row: call.row,
            misfit: CallMisfit {
                callee: call.name.to_owned(),
                why,
            },
        })
    };
    Some(file.calls.iter().filter_map(misfit).collect())
}

/// Returns how often a file binds each of its names, in whichever scope.
fn times<'s>(file: &ScriptFile<'s>) -> HashMap<&'s str, u32> {
    let mut times: HashMap<&str, u32> = HashMap::new();
    for (name, bound) in file.scopes.all.iter().flat_map(|scope| &scope.names) {
        *times.entry(*name).or_default() += bound.times;
    }
    times
}

/// Returns whether a comment at the call tells the compiler not to look.
fn is_silenced(text: &str, call: &ScriptCall<'_>) -> bool {
    let first = call.row.saturating_sub(1);
    let mut lines = text.lines().skip(first).take(call.last_row + 1 - first);
    lines.any(|line| line.contains("@ts-"))
}
