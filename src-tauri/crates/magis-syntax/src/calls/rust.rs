//! Rust's calls: functions of the file, and those of the same type by `self` and `Self`, by the number of arguments.

use super::{CallMisfit, Found, miscount};
use crate::scopes::rust::{Caller, RustCall, RustFile, RustFunction, read};

/// Returns the calls of a file that do not fit; none where the file cannot be read.
pub(super) fn misfits(text: &str) -> Option<Vec<Found>> {
    let file = read(text)?;
    if file.scopes.dynamic {
        return None;
    }
    let misfit = |call: &RustCall<'_>| {
        let function = callee(&file, call).filter(|function| !function.unsure)?;
        let takes = function.takes - usize::from(call.by == Caller::Value);
        Some(Found {
            row: call.row,
            misfit: CallMisfit {
                callee: match call.by {
                    Caller::Name => call.name.to_owned(),
                    Caller::Value => format!("self.{}", call.name),
                    Caller::Type => format!("Self::{}", call.name),
                },
                why: miscount(call.arguments, takes, takes)?,
            },
        })
    };
    Some(file.calls.iter().filter_map(misfit).collect())
}

/// Returns the function that a call means, if there is one alone that it can mean.
fn callee<'f, 's>(file: &'f RustFile<'s>, call: &RustCall<'s>) -> Option<&'f RustFunction<'s>> {
    if call.by == Caller::Name {
        let scope = file.scopes.binder(call.name, call.scope, call.byte).ok()?;
        let bound = file.scopes.all[scope].names.get(call.name)?;
        return (bound.times == 1).then_some(&file.functions[bound.definition?]);
    }
    if file.named.get(call.name) != Some(&1) {
        return None;
    }
    let mut functions = file.functions.iter();
    let function = functions.find(|function| function.name == call.name && function.of.is_some())?;
    let reachable = call.by == Caller::Type || function.takes_self;
    (function.of == call.of && reachable).then_some(function)
}
