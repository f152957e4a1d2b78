//! What git's attributes say of a file: filters that only the `git` program could run, and how its lines end in a work tree.

use super::{NewLines, Opened};
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

/// Returns how git would write the lines of a new file at `path` (gitattributes: text, crlf, eol; core.autocrlf, core.eol).
pub(super) fn new_lines(repository: &Opened, path: &RepoPath) -> Result<NewLines, RepoError> {
    let handle = repository.handle()?;
    let path = Path::new(path.as_str());
    RuleFiles::of(repository.root(), &handle).look_for(path)?;
    let config = handle.config().map_err(RepoError::git("reading the configuration"))?;
    let setting = |name| config.get_string(name).unwrap_or_default().to_ascii_lowercase();
    let converts = match setting("core.autocrlf").as_str() {
        "true" | "yes" | "on" | "1" => AutoCrlf::Yes,
        "input" => AutoCrlf::OnlyInto,
        _ => AutoCrlf::No,
    };
    let text_gets_crlf = match (converts, setting("core.eol").as_str()) {
        (AutoCrlf::Yes, _) | (AutoCrlf::No, "crlf") => true,
        (AutoCrlf::OnlyInto, _) | (AutoCrlf::No, "lf") => false,
        (AutoCrlf::No, _) => cfg!(windows),
    };
    let kind = Kind::of(&attribute(&handle, path, "text")).or_else(|| Kind::of(&attribute(&handle, path, "crlf")));
    let eol = attribute(&handle, path, "eol");
    let gets_crlf = match &eol {
        Attribute::Named(eol) if eol == "crlf" => Some(true),
        Attribute::Named(eol) if eol == "lf" => Some(false),
        _ => None,
    };
    Ok(match (kind, gets_crlf) {
        (Some(Kind::Binary), _) | (_, Some(false)) | (Some(Kind::TextInto), None) => NewLines::AsTheyAre,
        (Some(Kind::Auto), Some(true)) => NewLines::CrlfIfText,
        (_, Some(true)) => NewLines::Crlf,
        (Some(Kind::Text), None) if text_gets_crlf => NewLines::Crlf,
        (Some(Kind::Auto), None) if text_gets_crlf => NewLines::CrlfIfText,
        (None, None) if converts == AutoCrlf::Yes => NewLines::CrlfIfText,
        (Some(Kind::Text | Kind::Auto) | None, None) => NewLines::AsTheyAre,
    })
}

/// What `core.autocrlf` says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AutoCrlf {
    No,
    Yes,
    /// `input`: only on the way into the repository.
    OnlyInto,
}

/// What the attribute `text`, or `crlf` in its place, says that a file is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Binary,
    Text,
    /// `input`: text that is converted on the way into the repository only.
    TextInto,
    /// What its content looks like.
    Auto,
}

impl Kind {
    fn of(attribute: &Attribute) -> Option<Self> {
        match attribute {
            Attribute::Set => Some(Self::Text),
            Attribute::Unset => Some(Self::Binary),
            Attribute::Named(name) if name == "input" => Some(Self::TextInto),
            Attribute::Named(name) if name == "auto" => Some(Self::Auto),
            Attribute::Named(_) | Attribute::Unspecified => None,
        }
    }
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
