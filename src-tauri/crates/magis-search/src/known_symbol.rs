//! A symbol of a file as the index keeps it.

use magis_core::LineSpan;
use serde::{Deserialize, Serialize};

/// A symbol, where it stands and what it refers to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct KnownSymbol {
    #[serde(rename = "q")]
    pub qualified: String,
    #[serde(rename = "s")]
    pub span: LineSpan,
    #[serde(rename = "k")]
    pub shape: SymbolShape,
    /// What it refers to, as numbers of the file's [`FileMetadata::names`](crate::metadata::FileMetadata::names).
    #[serde(rename = "u", default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<u32>,
}

impl KnownSymbol {
    /// Returns the name without its owners.
    pub fn name(&self) -> &str {
        let name = self.qualified.rsplit('.').next().unwrap_or(&self.qualified);
        name.rsplit("::").next().unwrap_or(name)
    }

    /// Returns the innermost owner: the type of a method.
    pub fn owner(&self) -> Option<&str> {
        let owners = self.qualified.strip_suffix(self.name())?.trim_end_matches(['.', ':']);
        let owner = owners.rsplit(['.', ':']).next()?;
        Some(owner).filter(|owner| !owner.is_empty())
    }

    /// Returns the name with its innermost owner and a dot between, as an issue's names are kept, whatever the language
    /// joins by.
    pub fn last_two(&self) -> String {
        let dotted = self.qualified.replace("::", ".");
        match dotted.rmatch_indices('.').nth(1) {
            Some((dot, _)) => dotted[dot + 1..].to_owned(),
            None => dotted,
        }
    }
}

/// What a symbol is to the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SymbolShape {
    /// It has a body of its own: a function or method.
    #[serde(rename = "f")]
    Function,
    /// It holds others: a type or module.
    #[serde(rename = "t")]
    Container,
    /// A constant or an alias.
    #[serde(rename = "c")]
    Constant,
}
