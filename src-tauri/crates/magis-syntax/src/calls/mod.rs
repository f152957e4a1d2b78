//! Calls with arguments that the function called does not take, where both are in one file.

mod python;
mod rust;
mod script;

use crate::SourceLanguage;
use magis_core::RepoPath;
use std::collections::{HashMap, HashSet};

/// A call that its callee does not take.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallMisfit {
    /// What is called, as written: `load`, `self.load`, `Session`.
    pub callee: String,
    /// What is wrong, to be read behind "calls … with": "3 arguments, and it takes 2".
    pub why: String,
}

/// A misfit with the row of the call.
struct Found {
    row: usize,
    misfit: CallMisfit,
}

/// Returns the calls of `new` that do not fit what the same file defines and are not as wrong in `base` already, in the
/// order of the file: calls that were changed, and calls left behind by a changed definition. In Python, Rust, JavaScript
/// and TypeScript alone; nothing in a file that does not parse, and nothing where a callee is decorated, redefined or
/// takes anything.
pub fn misfit_calls(path: &RepoPath, base: &str, new: &str) -> Vec<CallMisfit> {
    let misfits = |text: &str| match SourceLanguage::of(path)? {
        SourceLanguage::Python => python::misfits(text),
        SourceLanguage::Rust => rust::misfits(text),
        language @ (SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx) => {
            script::misfits(language, text)
        }
        SourceLanguage::Go
        | SourceLanguage::Java
        | SourceLanguage::C
        | SourceLanguage::Cpp
        | SourceLanguage::CSharp
        | SourceLanguage::Ruby
        | SourceLanguage::Php
        | SourceLanguage::Kotlin => None,
    };
    let Some(mut found) = misfits(new).filter(|found| !found.is_empty()) else {
        return Vec::new();
    };
    if let Some(before) = misfits(base) {
        let mut known: HashMap<CallMisfit, u32> = HashMap::new();
        for found in before {
            *known.entry(found.misfit).or_default() += 1;
        }
        found.retain(|found| match known.get_mut(&found.misfit) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        });
    } else {
        // What was wrong before is not known: only lines that are new are certain.
        let old: HashSet<&str> = base.lines().map(str::trim).collect();
        let lines: Vec<&str> = new.lines().collect();
        found.retain(|found| lines.get(found.row).is_none_or(|line| !old.contains(line.trim())));
    }
    found.into_iter().map(|found| found.misfit).collect()
}

/// Returns how a number of arguments does not fit; none where it does.
fn miscount(given: usize, least: usize, most: usize) -> Option<String> {
    if (least..=most).contains(&given) {
        return None;
    }
    let given = match given {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        more => format!("{more} arguments"),
    };
    let takes = match (least, most) {
        (_, 0) => "none".to_owned(),
        (least, most) if least == most => most.to_string(),
        (least, most) => format!("{least} to {most}"),
    };
    Some(format!("{given}, and it takes {takes}"))
}
