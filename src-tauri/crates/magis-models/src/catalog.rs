//! The catalogue: the models this program knows by name, with the size and hash that decide whether a file is the one meant.
//!
//! The built-in catalogue is `models/catalog.toml`; a wrong entry is an error that names the entry. Nothing here touches the disk
//! or the network.

use crate::Sha256Hex;
use crate::split::SplitName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// All models known by name, in the order in which they are offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalog {
    models: Vec<CatalogEntry>,
}

/// One model of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogEntry {
    /// The name used on the command line and in settings.
    pub id: ModelId,
    /// The name shown to people.
    pub name: String,
    /// The licence of the weights, as an SPDX identifier.
    pub licence: String,
    /// The model family, for instance `Qwen2.5-Coder`.
    pub family: String,
    /// The number of parameters, as people say it: `1.5B`.
    pub parameters: String,
    /// The name of the quantisation, for instance `Q4_K_M`.
    pub quantisation: String,
    /// The context length the model was trained with, in tokens.
    pub context: u32,
    /// What the model needs of a prompt beyond its own chat template.
    pub prompt_notes: String,
    /// One sentence on what to expect of it.
    pub good_for: String,
    /// Who measured what of it, in a sentence; empty where nobody's figure is known.
    #[serde(default)]
    pub measured: String,
    /// What it is offered for.
    pub purposes: Vec<ModelPurpose>,
    /// The sizes from which its need of memory follows.
    pub dimensions: Dimensions,
    /// The one file that is the model.
    pub file: CatalogFile,
}

/// The file of a model: what it is, and where it can be had.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogFile {
    /// The file name in the library.
    pub name: String,
    pub bytes: u64,
    /// Its hash; this decides, not where it came from.
    pub sha256: Sha256Hex,
    /// Where the hub keeps it.
    pub url: String,
    /// The packages that carry it, whose members are concatenated in this order; empty when there is no mirror.
    #[serde(default)]
    pub mirror: Vec<MirrorPart>,
}

/// One package of a mirror. Nothing of it is ever executed: one member is read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorPart {
    /// The package with its exact version: `NAME==VERSION`.
    pub package: String,
    /// The path of the member inside the wheel.
    pub member: String,
}

/// The sizes of a model from which its need of memory follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dimensions {
    /// The layers that keep keys and values.
    pub layers: u32,
    /// Key/value heads of each layer.
    pub kv_heads: u32,
    /// Values of one key head.
    pub key_length: u32,
    /// Values of one value head.
    pub value_length: u32,
    /// Width of the residual stream.
    pub embedding: u32,
    /// Width of the feed-forward layer at work for one token.
    pub feed_forward: u32,
    /// Entries of the vocabulary.
    pub vocabulary: u32,
    /// Bytes that the recurrent layers keep for a sequence; 0 where there are none.
    #[serde(default)]
    pub state: u64,
}

/// What a model is offered for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelPurpose {
    /// The model a new installation takes.
    Default,
    Code,
    /// Tests of this program; its answers are not useful.
    Test,
}

/// A model's name in commands, settings and file names: lower-case letters, digits, `.`, `-` and `_`, at most 80 of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelId(String);

/// Text that cannot name a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} cannot name a model: use lower-case letters, digits, '.', '-' and '_', beginning with a letter or digit"
)]
pub struct ModelIdError {
    /// The text as it was given.
    pub text: String,
}

/// A catalogue that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// It is not TOML of the expected form.
    #[error("cannot read the model catalogue: {0}")]
    Syntax(String),
    /// One entry contradicts itself or another.
    #[error("model catalogue, entry {entry:?}: {what}")]
    Entry {
        /// The id of the entry.
        entry: ModelId,
        /// What is wrong with it.
        what: String,
    },
    /// The catalogue as a whole lacks something.
    #[error("model catalogue: {0}")]
    Whole(String),
}

impl Catalog {
    /// Returns the catalogue that comes with the program.
    pub fn builtin() -> Self {
        Self::parse(include_str!("../../../../models/catalog.toml"))
            .expect("the built-in catalogue is valid: a test parses it")
    }

    /// Reads a catalogue and checks every entry.
    ///
    /// # Errors
    /// When the text is not TOML of this form, or an entry of it is not sound.
    pub fn parse(text: &str) -> Result<Self, CatalogError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Document {
            model: Vec<CatalogEntry>,
        }
        let document: Document = toml::from_str(text).map_err(|error| CatalogError::Syntax(error.to_string()))?;
        let mut ids = BTreeSet::new();
        let mut files = BTreeSet::new();
        for entry in &document.model {
            let wrong = |what: String| CatalogError::Entry {
                entry: entry.id.clone(),
                what,
            };
            entry.check().map_err(wrong)?;
            if !ids.insert(entry.id.clone()) {
                return Err(wrong("the id stands twice".to_owned()));
            }
            if !files.insert(entry.file.name.clone()) {
                return Err(wrong(format!("the file name {} stands twice", entry.file.name)));
            }
        }
        let defaults = document
            .model
            .iter()
            .filter(|entry| entry.is_for(ModelPurpose::Default))
            .count();
        if defaults != 1 {
            return Err(CatalogError::Whole(format!(
                "{defaults} entries have the purpose \"default\", expected 1"
            )));
        }
        Ok(Self { models: document.model })
    }

    /// Returns all entries, in the order in which they are offered.
    pub fn entries(&self) -> &[CatalogEntry] {
        &self.models
    }

    /// Returns the entry of that id.
    pub fn get(&self, id: &ModelId) -> Option<&CatalogEntry> {
        self.models.iter().find(|entry| &entry.id == id)
    }

    /// Returns the model a new installation takes.
    pub fn default_entry(&self) -> &CatalogEntry {
        self.models
            .iter()
            .find(|entry| entry.is_for(ModelPurpose::Default))
            .expect("parse refuses a catalogue without a default")
    }

    /// Returns the entry whose file has this hash.
    pub fn by_hash(&self, sha256: Sha256Hex) -> Option<&CatalogEntry> {
        self.models.iter().find(|entry| entry.file.sha256 == sha256)
    }
}

impl CatalogEntry {
    /// Returns whether the model is offered for `purpose`.
    pub fn is_for(&self, purpose: ModelPurpose) -> bool {
        self.purposes.contains(&purpose)
    }

    fn check(&self) -> Result<(), String> {
        for (field, text) in [
            ("name", &self.name),
            ("licence", &self.licence),
            ("family", &self.family),
            ("parameters", &self.parameters),
            ("quantisation", &self.quantisation),
        ] {
            if text.trim().is_empty() {
                return Err(format!("{field} is empty"));
            }
        }
        if self.context == 0 || self.file.bytes == 0 {
            return Err("context and bytes must be above 0".to_owned());
        }
        let d = self.dimensions;
        if [
            d.layers,
            d.kv_heads,
            d.key_length,
            d.value_length,
            d.embedding,
            d.feed_forward,
            d.vocabulary,
        ]
        .contains(&0)
        {
            return Err("every dimension must be above 0".to_owned());
        }
        let name = &self.file.name;
        if !is_plain_name(name) || !name.to_ascii_lowercase().ends_with(".gguf") {
            return Err(format!("the file name {name:?} is not a plain name ending in .gguf"));
        }
        if !is_safe_url(&self.file.url) {
            return Err(format!(
                "the url {:?} is not https (nor http on 127.0.0.1)",
                self.file.url
            ));
        }
        for part in &self.file.mirror {
            if !is_pinned_package(&part.package) {
                return Err(format!(
                    "the mirror package {:?} is not of the form NAME==VERSION",
                    part.package
                ));
            }
            if part.member.is_empty() {
                return Err(format!("the mirror package {} names no member", part.package));
            }
        }
        Ok(())
    }
}

/// Returns one path component that begins with a letter or digit, so that it can be neither an option nor a hidden or
/// outer file.
fn is_plain_name(name: &str) -> bool {
    name.len() <= 120
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

pub(crate) fn is_safe_url(url: &str) -> bool {
    let clean = url.chars().all(|c| c.is_ascii_graphic());
    clean && (url.starts_with("https://") || url.starts_with("http://127.0.0.1:"))
}

fn is_pinned_package(package: &str) -> bool {
    package
        .split_once("==")
        .is_some_and(|(name, version)| is_plain_name(name) && is_plain_name(version))
}

impl ModelId {
    /// Checks that `text` can name a model.
    ///
    /// # Errors
    /// When the name is empty or has a character that no file name may have.
    pub fn new(text: impl Into<String>) -> Result<Self, ModelIdError> {
        let text = text.into();
        let fine = text.len() <= 80 && is_plain_name(&text) && !text.chars().any(|c| c.is_ascii_uppercase());
        if fine {
            Ok(Self(text))
        } else {
            Err(ModelIdError { text })
        }
    }

    /// Returns the name a file of unknown origin gets: its file name without ending and part numbers, lower-cased, other characters
    /// turned into `-`. Where nothing is left of it, a number made of the file name.
    pub fn from_file_name(name: &str) -> Self {
        let lower = name.to_lowercase();
        let stem = match SplitName::of(&lower) {
            Some(split) => split.stem,
            None => lower.strip_suffix(".gguf").unwrap_or(&lower),
        };
        let clean: String = stem
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "._-".contains(c) {
                    c
                } else {
                    '-'
                }
            })
            .collect();
        let clean: String = clean.trim_matches(['.', '-', '_']).chars().take(80).collect();
        let numbered = || format!("model-{}", &Sha256Hex::of(name.as_bytes()).to_string()[..8]);
        Self(if clean.is_empty() { numbered() } else { clean })
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for ModelId {
    type Error = ModelIdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(text)
    }
}

impl From<ModelId> for String {
    fn from(id: ModelId) -> Self {
        id.0
    }
}
