//! What a repository offers: its pinned revision, its licence, and its model files with size and hash.

use super::{Hub, HubError, HubPath, HubRepo};
use crate::Sha256Hex;
use crate::split::SplitName;
use magis_core::harmless_name;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The model files of a repository, at one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubListing {
    /// The repository, as the hub calls it.
    pub repo: HubRepo,
    /// The revision that all of this is about.
    pub revision: HubRevision,
    /// The licence that the repository states; none where it states none.
    pub licence: Option<String>,
    pub access: HubAccess,
    /// The models, the smallest first.
    pub models: Vec<HubModel>,
}

/// Who may have the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HubAccess {
    Everybody,
    /// Accounts that accepted the terms on the repository's page.
    Accepted,
}

/// A model of a repository: one file, or several parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubModel {
    /// Its file, or its first part: what a person names.
    pub path: HubPath,
    /// How many files it should have.
    pub parts: u32,
    /// The files that are there, the first first.
    pub files: Vec<HubFile>,
}

/// A file of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubFile {
    pub path: HubPath,
    pub bytes: u64,
    /// The hash that the hub keeps it under; none where it keeps it as a small file.
    pub sha256: Option<Sha256Hex>,
}

/// A revision of a repository: 40 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HubRevision(String);

/// Pages of a listing; the largest repositories have some ten.
const MOST_PAGES: usize = 50;
/// What model files end in.
const ENDING: &str = ".gguf";
/// What the names of files begin with that belong to a model and are none: projectors of pictures, statistics, heads that draft.
const BESIDES: [&str; 3] = ["mmproj", "imatrix", "mtp-"];

#[derive(Deserialize)]
struct RepoAnswer {
    id: Option<String>,
    sha: String,
    /// `false`, or how accounts are accepted.
    #[serde(default)]
    gated: Value,
    #[serde(rename = "cardData")]
    card: Option<Card>,
}

#[derive(Deserialize)]
struct Card {
    license: Option<Value>,
}

#[derive(Deserialize)]
struct TreeEntry {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    #[serde(default)]
    size: u64,
    lfs: Option<Lfs>,
}

#[derive(Deserialize)]
struct Lfs {
    oid: Sha256Hex,
    size: u64,
}

impl Hub {
    /// Asks which models a repository has.
    ///
    /// Blocks until the hub has answered, at most some seconds a page.
    ///
    /// # Errors
    /// When the hub does not answer, does not show the repository, answers with what cannot be used, or there is no model.
    pub fn list(&self, repo: &HubRepo) -> Result<HubListing, HubError> {
        let answer: RepoAnswer = self.ask(repo, &format!("api/models/{repo}"))?.value;
        let revision = HubRevision::new(&answer.sha).ok_or_else(|| HubError::Answer {
            url: self.page(repo),
            what: "it states no revision".to_owned(),
        })?;
        // A repository that was renamed answers under its new name.
        let repo = answer
            .id
            .and_then(|id| HubRepo::new(id).ok())
            .unwrap_or_else(|| repo.clone());
        let files = self.files(&repo, &revision)?;
        let models = models(files);
        if models.is_empty() {
            return Err(HubError::NoModel { repo });
        }
        let licence = answer.card.and_then(|card| card.license);
        Ok(HubListing {
            repo,
            revision,
            licence: licence.and_then(|licence| licence.as_str().map(harmless_name)),
            access: match answer.gated {
                Value::Null | Value::Bool(false) => HubAccess::Everybody,
                _ => HubAccess::Accepted,
            },
            models,
        })
    }

    /// Returns the GGUF files of a revision.
    fn files(&self, repo: &HubRepo, revision: &HubRevision) -> Result<Vec<HubFile>, HubError> {
        let first = format!("api/models/{repo}/tree/{revision}?recursive=true");
        let mut page = self.ask::<Vec<TreeEntry>>(repo, &first)?;
        let mut files = Vec::new();
        for _ in 0..MOST_PAGES {
            files.extend(page.value.drain(..).filter_map(TreeEntry::into_model_file));
            match page.next.take() {
                None => return Ok(files),
                Some(next) => page = self.ask_at(repo, &next)?,
            }
        }
        Err(HubError::Answer {
            url: format!("{}/{first}", self.page(repo)),
            what: format!("it has more than {MOST_PAGES} pages"),
        })
    }
}

impl HubListing {
    /// Returns the model whose file, or one of whose parts, has this path or this name; without a name, that none was given.
    ///
    /// # Errors
    /// When there is no such file, no name was given, or what there is could not be checked.
    pub fn find(&self, file: Option<&HubPath>) -> Result<&HubModel, HubError> {
        let Some(file) = file else {
            return Err(HubError::WhichFile {
                repo: self.repo.clone(),
                files: self.paths(),
            });
        };
        let is_path = |model: &&HubModel| model.files.iter().any(|part| &part.path == file);
        let model = self.models.iter().find(is_path).ok_or_else(|| HubError::NoSuchFile {
            repo: self.repo.clone(),
            file: file.clone(),
            files: self.paths(),
        })?;
        if model.files.len() != model.parts as usize {
            return Err(HubError::PartsMissing {
                repo: self.repo.clone(),
                file: model.path.clone(),
                parts: model.parts,
                found: model.files.len(),
            });
        }
        match model.files.iter().find(|part| part.sha256.is_none()) {
            Some(part) => Err(HubError::NoHash {
                repo: self.repo.clone(),
                file: part.path.clone(),
            }),
            None => Ok(model),
        }
    }

    fn paths(&self) -> String {
        let paths: Vec<&str> = self.models.iter().map(|model| model.path.as_str()).collect();
        paths.join(", ")
    }
}

impl HubModel {
    /// Sums up the bytes of all its files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }
}

impl TreeEntry {
    /// Returns the file where it is a model's. A path that cannot be named cannot be asked for.
    fn into_model_file(self) -> Option<HubFile> {
        let path = HubPath::new(self.path).ok()?;
        let name = path.file_name().to_ascii_lowercase();
        let is_beside = BESIDES.iter().any(|beside| name.starts_with(beside));
        let is_model = self.kind == "file" && name.ends_with(ENDING) && !is_beside;
        is_model.then_some(HubFile {
            bytes: self.lfs.as_ref().map_or(self.size, |lfs| lfs.size),
            sha256: self.lfs.map(|lfs| lfs.oid),
            path,
        })
    }
}

/// Puts the parts of one model together.
fn models(files: Vec<HubFile>) -> Vec<HubModel> {
    let mut models: BTreeMap<String, HubModel> = BTreeMap::new();
    for file in files {
        let (key, parts) = match SplitName::of(file.path.file_name()) {
            Some(split) => {
                let folder = file.path.as_str().len() - file.path.file_name().len();
                (
                    format!("{}{} {}", &file.path.as_str()[..folder], split.stem, split.count),
                    split.count,
                )
            }
            None => (file.path.to_string(), 1),
        };
        let model = models.entry(key).or_insert_with(|| HubModel {
            path: file.path.clone(),
            parts,
            files: Vec::new(),
        });
        model.files.push(file);
    }
    let mut models: Vec<HubModel> = models.into_values().collect();
    for model in &mut models {
        model.files.sort_by(|a, b| a.path.cmp(&b.path));
        model.files.dedup_by(|a, b| a.path == b.path);
        if let Some(first) = model.files.first() {
            model.path = first.path.clone();
        }
    }
    models.sort_by(|a, b| a.bytes().cmp(&b.bytes()).then_with(|| a.path.cmp(&b.path)));
    models
}

impl HubRevision {
    /// Takes 40 hexadecimal digits.
    fn new(text: &str) -> Option<Self> {
        let fine = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        fine.then(|| Self(text.to_ascii_lowercase()))
    }

    /// Returns its hexadecimal digits, as the hub writes them.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for HubRevision {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(&text).ok_or_else(|| format!("{text:?} is no revision: expected 40 hexadecimal digits"))
    }
}

impl From<HubRevision> for String {
    fn from(revision: HubRevision) -> Self {
        revision.0
    }
}

impl fmt::Display for HubRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
