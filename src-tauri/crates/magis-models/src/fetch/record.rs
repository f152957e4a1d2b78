//! The list of everything that was ever fetched.

use super::FetchFrom;
use crate::hub::{HubName, HubPath, HubRepo, HubRevision};
use crate::library::LibraryError;
use crate::part::PartFiles;
use crate::{CatalogEntry, InstalledModel, ModelId, ModelLibrary, Sha256Hex};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

/// Something that was fetched from a network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedModel {
    pub model: ModelId,
    /// Which kind of place it came from.
    pub source: FetchFrom,
    /// The addresses or packages.
    pub from: Vec<String>,
    /// The bytes of all its files.
    pub bytes: u64,
    pub sha256: Sha256Hex,
    /// When, in seconds since 1970.
    pub when: u64,
    /// What it is on the hub, where it was asked for by that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hub: Option<HubOrigin>,
}

/// Which file of the hub a model is, and what the hub said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HubOrigin {
    pub repo: HubRepo,
    pub revision: HubRevision,
    pub file: HubPath,
    /// The licence that the repository stated; none where it stated none.
    pub licence: Option<String>,
}

impl HubOrigin {
    /// Returns the name that it is asked for by.
    pub fn name(&self) -> HubName {
        HubName {
            repo: self.repo.clone(),
            file: Some(self.file.clone()),
        }
    }
}

/// The name of the list of all that was ever fetched.
const FETCHED: &str = "fetched.jsonl";

impl ModelLibrary {
    /// Returns everything that was ever fetched into this folder, the first first. Lines that cannot be read are left
    /// out.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn fetched(&self) -> Result<Vec<FetchedModel>, LibraryError> {
        let path = self.folder().join(FETCHED);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(crate::library::storage("read", &path))?,
        };
        Ok(text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect())
    }

    /// Returns where a model was fetched from, as far as it is still that file.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn fetched_as(&self, model: &InstalledModel) -> Result<Option<FetchedModel>, LibraryError> {
        let known = self.known_hash(&model.path);
        let is_it = |record: &FetchedModel| record.model == model.id && Some(record.sha256) == known;
        Ok(self.fetched()?.into_iter().rev().find(is_it))
    }

    /// Returns how many bytes of a model of the catalogue are here unfinished.
    pub fn partial_bytes(&self, entry: &CatalogEntry) -> u64 {
        fs::metadata(PartFiles::beside(&self.path_of(entry)).data).map_or(0, |file| file.len())
    }
}

/// Appends a line to the list of all that was ever fetched.
pub(super) fn note_fetched(folder: &Path, line: &FetchedModel) -> io::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    let mut file = magis_platform::private::file_options()
        .append(true)
        .create(true)
        .open(folder.join(FETCHED))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
