//! What a repository of the hub offers, as it is listed before anything of it is fetched.

use magis_engine::models::{HubAccess, HubListing, HubModel, HubName, HubPath, SizeFit, Suggestion};
use serde::Serialize;
use specta::Type;

/// The model files of a repository of the hub, at one revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct HubListingView {
    /// `OWNER/REPO`, as the hub calls it.
    pub repo: String,
    pub revision: String,
    /// The licence that the repository states; none where it states none.
    pub licence: Option<String>,
    /// Whether the files are for accounts that accepted its terms.
    pub has_terms: bool,
    /// The models, the smallest first.
    pub models: Vec<HubModelRow>,
}

/// A model of a repository: one file, or several parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct HubModelRow {
    /// The name that it is fetched by.
    pub id: String,
    /// Its file, or its first part.
    pub path: String,
    /// The bytes of all its files.
    pub bytes: u64,
    /// How many files it has.
    pub parts: u32,
    /// The hash of each file that has one.
    pub sha256: Vec<String>,
    /// What its size says about whether it fits; none where the system does not say how much memory is available.
    pub fits: Option<HubFit>,
    /// Bytes that are here; all of them where it is on this machine.
    pub here_bytes: u64,
    /// Why it cannot be fetched.
    pub obstacle: Option<HubObstacle>,
}

/// What the size of a model says about whether it fits. What its context takes is known once it is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum HubFit {
    /// There is room for a context.
    Room {
        /// Bytes that are left for it.
        left: u64,
    },
    /// A context may not fit.
    Tight {
        /// Bytes that are left for it.
        left: u64,
    },
    No {
        /// Bytes available.
        available: u64,
    },
}

/// Why a model cannot be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum HubObstacle {
    /// The hub states no hash, so it could not be checked.
    NoHash,
    /// Not all of its parts are there.
    PartsMissing,
}

/// A model of the hub that is worth a try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct ModelSuggestion {
    /// The name that it is looked up by.
    pub id: String,
    /// The name shown to people.
    pub name: String,
    /// The memory of the machines that it is for, in GB as machines are sold.
    pub memory_gb: u32,
    pub good_for: String,
    /// Who measured what of it.
    pub rated: String,
}

impl From<Suggestion> for ModelSuggestion {
    fn from(suggestion: Suggestion) -> Self {
        Self {
            id: suggestion.hub.to_string(),
            name: suggestion.name,
            memory_gb: suggestion.memory.gigabytes(),
            good_for: suggestion.good_for,
            rated: suggestion.measured,
        }
    }
}

impl HubListingView {
    /// Returns a listing, with the bytes of each model that are here, and those of memory that are available; of a file that was
    /// named that one alone.
    pub fn new(listing: &HubListing, file: Option<&HubPath>, here: &[u64], available: Option<u64>) -> Self {
        let rows = listing.models.iter().zip(here);
        let is_meant = |model: &HubModel| file.is_none_or(|file| model.files.iter().any(|part| &part.path == file));
        Self {
            repo: listing.repo.to_string(),
            revision: listing.revision.to_string(),
            licence: listing.licence.clone(),
            has_terms: listing.access == HubAccess::Accepted,
            models: rows
                .filter(|(model, _)| is_meant(model))
                .map(|(model, here)| row(listing, model, *here, available))
                .collect(),
        }
    }
}

fn row(listing: &HubListing, model: &HubModel, here_bytes: u64, available: Option<u64>) -> HubModelRow {
    let name = HubName {
        repo: listing.repo.clone(),
        file: Some(model.path.clone()),
    };
    let hashes = model.files.iter().filter_map(|file| file.sha256);
    let sha256: Vec<String> = hashes.map(|hash| hash.to_string()).collect();
    HubModelRow {
        id: name.to_string(),
        path: model.path.to_string(),
        bytes: model.bytes(),
        parts: model.parts,
        fits: available.map(|available| SizeFit::of(model.bytes(), available).into()),
        here_bytes,
        obstacle: if model.files.len() < model.parts as usize {
            Some(HubObstacle::PartsMissing)
        } else if sha256.len() < model.files.len() {
            Some(HubObstacle::NoHash)
        } else {
            None
        },
        sha256,
    }
}

impl From<SizeFit> for HubFit {
    fn from(fit: SizeFit) -> Self {
        match fit {
            SizeFit::Room { left } => Self::Room { left },
            SizeFit::Tight { left } => Self::Tight { left },
            SizeFit::TooLarge { available } => Self::No { available },
        }
    }
}
