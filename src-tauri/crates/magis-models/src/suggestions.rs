//! Models of the hub that are suggested without being pinned: no size and no hash, so what the hub offers on the day is fetched.
//!
//! The list is `models/suggestions.toml`. Nothing here touches the disk or the network.

use crate::{HubName, HubNameError, MemoryClass};
use serde::Deserialize;

/// A model of the hub that is worth a try on machines of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The repository; which file of it is the person's choice.
    pub hub: HubName,
    /// The name shown to people.
    pub name: String,
    /// The machines it is for.
    pub memory: MemoryClass,
    /// One sentence on what to expect of it.
    pub good_for: String,
    /// Who measured what of it, in a sentence.
    pub measured: String,
}

/// A suggestion as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    hub: String,
    name: String,
    memory_gb: MemoryClass,
    good_for: String,
    measured: String,
}

impl Suggestion {
    /// Returns the suggestions that come with the program.
    pub fn builtin() -> Vec<Self> {
        Self::parse(include_str!("../../../../models/suggestions.toml"))
            .expect("the built-in suggestions are valid: a test parses them")
    }

    /// Reads a list of suggestions.
    ///
    /// # Errors
    /// When the text is not TOML of this form, or a name in it is none of the hub.
    pub fn parse(text: &str) -> Result<Vec<Self>, String> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Document {
            suggestion: Vec<Written>,
        }
        let document: Document = toml::from_str(text).map_err(|error| error.to_string())?;
        document.suggestion.into_iter().map(Written::read).collect()
    }
}

impl Written {
    fn read(self) -> Result<Suggestion, String> {
        Ok(Suggestion {
            hub: self.hub.parse().map_err(|error: HubNameError| error.to_string())?,
            name: self.name,
            memory: self.memory_gb,
            good_for: self.good_for,
            measured: self.measured,
        })
    }
}
