//! What git's attributes say of a file: filters that only the `git` program could run, and how its lines end in a work tree.

use super::Opened;
use crate::RepoError;
use crate::ordinary::RuleFiles;
use git2::{AttrCheckFlags, AttrValue, Repository};
use magis_core::RepoPath;
use std::path::Path;

/// Returns the filter a file has to pass that libgit2 cannot run, in words.
pub(super) fn foreign(handle: &Repository, path: &Path) -> Option<String> {
    match attribute(handle, path, "filter") {
        Attribute::Named(filter) => return Some(format!("the filter '{filter}'")),
        Attribute::Set | Attribute::Unset | Attribute::Unspecified => {}
    }
    match attribute(handle, path, "working-tree-encoding") {
        Attribute::Named(encoding) => Some(format!("the encoding '{encoding}'")),
        Attribute::Set | Attribute::Unset | Attribute::Unspecified => None,
    }
}

/// Returns whether git would write a new text file at `path` with `\r\n` (gitattributes: text, eol; core.autocrlf,
/// core.eol).
pub(super) fn writes_crlf(repository: &Opened, path: &RepoPath) -> Result<bool, RepoError> {
    let handle = repository.handle()?;
    let path = Path::new(path.as_str());
    RuleFiles::of(repository.root()).look_for(path)?;
    Ok(gets_crlf(&handle, path))
}

fn gets_crlf(handle: &Repository, path: &Path) -> bool {
    let config = handle.config().ok();
    let setting = |name| {
        config
            .as_ref()
            .and_then(|config| config.get_string(name).ok())
            .unwrap_or_default()
    };
    match attribute(handle, path, "eol") {
        Attribute::Named(eol) if eol == "crlf" => return attribute(handle, path, "text") != Attribute::Unset,
        Attribute::Named(eol) if eol == "lf" => return false,
        _ => {}
    }
    let converted = match setting("core.autocrlf").to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => true,
        "input" => false,
        _ => match setting("core.eol").as_str() {
            "crlf" => attribute(handle, path, "text") != Attribute::Unspecified,
            "lf" => false,
            _ => cfg!(windows) && attribute(handle, path, "text") != Attribute::Unspecified,
        },
    };
    converted && attribute(handle, path, "text") != Attribute::Unset
}

#[derive(Debug, PartialEq, Eq)]
enum Attribute {
    Set,
    Unset,
    Named(String),
    Unspecified,
}

fn attribute(handle: &Repository, path: &Path, name: &str) -> Attribute {
    let value = handle
        .get_attr_bytes(path, name, AttrCheckFlags::FILE_THEN_INDEX)
        .ok()
        .flatten();
    match AttrValue::from_bytes(value) {
        AttrValue::True => Attribute::Set,
        AttrValue::False => Attribute::Unset,
        AttrValue::String(text) => Attribute::Named(text.to_owned()),
        AttrValue::Bytes(bytes) => Attribute::Named(String::from_utf8_lossy(bytes).into_owned()),
        AttrValue::Unspecified => Attribute::Unspecified,
    }
}
