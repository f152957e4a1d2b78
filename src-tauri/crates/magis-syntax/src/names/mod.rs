//! Names that a change uses and nothing defines.
//!
//! Made to be believed: where reading is unsure there is no finding, and what was undefined before the change is taken
//! for a name that comes from somewhere unseen.

mod known;
mod python;

use crate::SourceLanguage;
use crate::scopes::{Scopes, Use, rust, script};
use magis_core::RepoPath;
use std::collections::HashSet;

/// Returns the names that `new` uses and nothing defines, without those of which the same was true in `base`, in the
/// order of their first use. In Python also attributes of `self`, as `self.name`, that the file never sets, where their
/// class has no bases. Nothing in languages other than Python, JavaScript, TypeScript and Rust, nor in a file that does
/// not parse or makes names in ways that are not to be seen.
pub fn undefined_names(path: &RepoPath, base: &str, new: &str) -> Vec<String> {
    let undefined = |text: &str| match SourceLanguage::of(path)? {
        SourceLanguage::Python => python::undefined(text),
        language @ (SourceLanguage::JavaScript | SourceLanguage::TypeScript | SourceLanguage::Tsx) => {
            let file = script::read(language, text)?;
            Some(unknown(&file.scopes, known::SCRIPT, |used| {
                script::may_be_global(used.name)
            }))
        }
        SourceLanguage::Rust => Some(unknown(&rust::read(text)?.scopes, known::RUST, |_| false)),
        SourceLanguage::Go
        | SourceLanguage::Java
        | SourceLanguage::C
        | SourceLanguage::Cpp
        | SourceLanguage::CSharp
        | SourceLanguage::Ruby
        | SourceLanguage::Php
        | SourceLanguage::Kotlin => None,
    };
    let Some(mut found) = undefined(new).filter(|found| !found.is_empty()) else {
        return Vec::new();
    };
    match undefined(base) {
        Some(before) => found.retain(|name| !before.contains(name)),
        // What the base defines is not known: only names new to the file are certain.
        None => {
            let words: HashSet<&str> = base.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            found.retain(|name| !words.contains(name.rsplit('.').next().unwrap_or(name)));
        }
    }
    found
}

/// Returns the names of a file that neither it nor its language defines.
fn unknown(scopes: &Scopes<'_>, known: &'static str, excused: impl Fn(&Use<'_>) -> bool) -> Vec<String> {
    if scopes.dynamic {
        return Vec::new();
    }
    let known = known::words(known);
    let mut seen = HashSet::new();
    let unbound = scopes
        .unbound()
        .filter(|used| !known.contains(used.name) && !excused(used));
    unbound
        .map(|used| used.name)
        .filter(|name| seen.insert(*name))
        .map(str::to_owned)
        .collect()
}
