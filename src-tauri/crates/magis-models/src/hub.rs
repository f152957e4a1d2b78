//! The hub without a catalogue: what a repository offers, by the hub's own answer.
//!
//! [`Hub::list`] pins a revision and says which model files it has, how large they are and which hash they must have. Of an answer
//! only what is checked here is believed; that a file is the one meant is decided by its hash, when it is here. Nothing is asked
//! unless a person named a repository.

mod answer;
mod error;
mod listing;
mod name;

pub use error::HubError;
pub use listing::{HubAccess, HubFile, HubListing, HubModel, HubRevision};
pub use name::{HubName, HubNameError, HubPath, HubRepo};

use crate::catalog::is_safe_url;
use std::fmt;
use std::time::Duration;

/// Where the models of the catalogue are, and all others.
pub(crate) const HUB_ADDRESS: &str = "https://huggingface.co";
/// How long one answer of the hub may take, in all.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// The hub: where it is, and whose account asks.
#[derive(Debug, Clone)]
pub struct Hub {
    address: String,
    token: Option<HubToken>,
    answer_timeout: Duration,
}

/// The secret of an account on the hub. It is sent to the hub's own host and nowhere else, and never shown.
#[derive(Clone)]
pub struct HubToken(String);

impl fmt::Debug for HubToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HubToken")
    }
}

impl HubToken {
    /// Takes a text that can be a token; none where it is empty or has characters that no request may carry.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fine = !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic());
        fine.then(|| Self(text.to_owned()))
    }

    /// Returns it as the value of an `Authorization` header.
    pub(crate) fn as_header(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl Hub {
    /// Returns the hub that the environment names: `HF_ENDPOINT` where a company has its own, and the token in `HF_TOKEN`.
    ///
    /// # Errors
    /// When `HF_ENDPOINT` is no address that may be asked.
    pub fn from_environment() -> Result<Self, HubError> {
        let address = std::env::var("HF_ENDPOINT").ok().filter(|address| !address.is_empty());
        let token = std::env::var("HF_TOKEN").ok();
        Self::at(
            address.as_deref().unwrap_or(HUB_ADDRESS),
            token.as_deref().and_then(HubToken::new),
        )
    }

    /// Returns the hub at this address, asked as this account.
    ///
    /// # Errors
    /// When the address is neither HTTPS nor on this machine.
    pub fn at(address: &str, token: Option<HubToken>) -> Result<Self, HubError> {
        let address = address.trim_end_matches('/');
        if !is_safe_url(address) {
            return Err(HubError::Address {
                address: address.chars().take(200).collect(),
            });
        }
        Ok(Self {
            address: address.to_owned(),
            token,
            answer_timeout: ANSWER_TIMEOUT,
        })
    }

    /// Returns where the hub is.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Reads the name of a model as a person pastes it: as it is written, without the `hf:`, or as the address of its page here.
    ///
    /// # Errors
    /// When it can be none.
    pub fn read_name(&self, text: &str) -> Result<HubName, HubNameError> {
        let text = text.trim();
        let name = text
            .strip_prefix(&self.address)
            .map_or(text, |path| path.trim_matches('/'));
        if HubName::is_meant(name) {
            name.parse()
        } else {
            format!("hf:{name}").parse()
        }
    }

    pub(crate) fn token(&self) -> Option<&HubToken> {
        self.token.as_ref()
    }

    /// Returns the page of a repository, where its terms are accepted.
    pub(crate) fn page(&self, repo: &HubRepo) -> String {
        format!("{}/{repo}", self.address)
    }

    /// Returns where a file of a revision can be had.
    pub(crate) fn file_url(&self, repo: &HubRepo, revision: &HubRevision, file: &HubPath) -> String {
        format!("{}/{repo}/resolve/{revision}/{}", self.address, file.in_address())
    }
}
