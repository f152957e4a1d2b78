//! The name of a model on the hub, as a person types it: `hf:OWNER/REPO`, or `hf:OWNER/REPO:FILE`.
//!
//! It says which names are possible and asks nobody whether they exist.

use magis_core::harmless_name;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A model on the hub: the repository, and the file where one was named.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HubName {
    pub repo: HubRepo,
    pub file: Option<HubPath>,
}

/// A repository on the hub: `OWNER/REPO`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HubRepo(String);

/// The path of a file in a repository on the hub, its parts separated by `/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HubPath(String);

/// Text that names nothing on the hub.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HubNameError {
    /// It does not begin as such a name does.
    #[error("{text:?} is no name of the hub; write hf:OWNER/REPO, or hf:OWNER/REPO:FILE")]
    Form { text: String },
    /// The repository is none.
    #[error(
        "{text:?} cannot be a repository of the hub; write OWNER/REPO, in letters, digits, '.', '-' and '_', as its page is called"
    )]
    Repo { text: String },
    /// The file is none.
    #[error("{text:?} cannot be a file of a repository; write its path as the repository lists it")]
    File { text: String },
}

/// What every name of the hub begins with.
const SCHEME: &str = "hf:";
/// Longer paths are nobody's.
const LONGEST_PATH: usize = 200;
/// The hub's own limit for each half of a repository's name.
const LONGEST_HALF: usize = 96;

impl HubName {
    /// Returns whether `text` is meant as a name of the hub, whether or not it is a possible one.
    pub fn is_meant(text: &str) -> bool {
        text.starts_with(SCHEME)
    }
}

impl FromStr for HubName {
    type Err = HubNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rest = text
            .strip_prefix(SCHEME)
            .ok_or_else(|| HubNameError::Form { text: shortened(text) })?;
        let (repo, file) = match rest.split_once(':') {
            Some((repo, file)) => (repo, Some(HubPath::new(file)?)),
            None => (rest, None),
        };
        Ok(Self {
            repo: HubRepo::new(repo)?,
            file,
        })
    }
}

impl fmt::Display for HubName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.repo)?;
        match &self.file {
            Some(file) => write!(f, ":{file}"),
            None => Ok(()),
        }
    }
}

impl HubRepo {
    /// Checks that `text` can be a repository.
    ///
    /// # Errors
    /// When it is not of the form `OWNER/REPO`, or has a character that no such name has.
    pub fn new(text: impl Into<String>) -> Result<Self, HubNameError> {
        let text = text.into();
        match text.split_once('/') {
            Some((owner, name)) if is_half(owner) && is_half(name) => Ok(Self(text)),
            _ => Err(HubNameError::Repo { text: shortened(&text) }),
        }
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns who the repository belongs to.
    pub fn owner(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(owner, _)| owner)
    }
}

impl HubPath {
    /// Checks that `text` can be the path of a file.
    ///
    /// # Errors
    /// When a part of it is empty or leads elsewhere, or a character of it cannot be seen.
    pub fn new(text: impl Into<String>) -> Result<Self, HubNameError> {
        let text = text.into();
        let leads_on = |part: &str| !part.is_empty() && part != "." && part != "..";
        let fine = text.len() <= LONGEST_PATH
            && text.split('/').all(leads_on)
            && !text.contains('\\')
            && harmless_name(&text) == text;
        if fine {
            Ok(Self(text))
        } else {
            Err(HubNameError::File { text: shortened(&text) })
        }
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the file without its folders.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the path as it stands in an address.
    pub(super) fn in_address(&self) -> String {
        let mut address = String::with_capacity(self.0.len());
        for byte in self.0.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                    address.push(char::from(byte));
                }
                _ => address.push_str(&format!("%{byte:02X}")),
            }
        }
        address
    }
}

fn is_half(text: &str) -> bool {
    text.len() <= LONGEST_HALF
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        && !text.contains("..")
}

fn shortened(text: &str) -> String {
    text.chars().take(120).collect()
}

macro_rules! is_text {
    ($($name:ty),*) => {
        $(
            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(&self.0)
                }
            }

            impl TryFrom<String> for $name {
                type Error = HubNameError;

                fn try_from(text: String) -> Result<Self, Self::Error> {
                    Self::new(text)
                }
            }

            impl From<$name> for String {
                fn from(name: $name) -> Self {
                    name.0
                }
            }
        )*
    };
}

is_text!(HubRepo, HubPath);
