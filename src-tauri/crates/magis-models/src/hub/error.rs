//! What can go wrong with the hub's answers.

use super::{HubNameError, HubPath, HubRepo};

/// A question to the hub that brought nothing usable, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// The name is no possible one.
    #[error(transparent)]
    Name(#[from] HubNameError),
    /// The address of the hub may not be asked.
    #[error("{address:?} cannot be the hub; HF_ENDPOINT must be an https address")]
    Address { address: String },
    /// The hub cannot be reached.
    #[error("no answer from {url}: {reason}; check the connection")]
    Silent { url: String, reason: String },
    /// The repository is absent, or asks for an account, and none was given.
    #[error(
        "the hub shows no repository {repo} to everybody: it is not there, or it wants an account; look at {page}, accept its terms \
         there if it has some, and give your token in the environment variable HF_TOKEN"
    )]
    Closed { repo: HubRepo, page: String },
    /// As [`Self::Closed`], for the account of the token that was given.
    #[error(
        "the hub shows no repository {repo} to the account of HF_TOKEN: it is not there, or its terms were not accepted; look at \
         {page} with that account"
    )]
    ClosedToToken { repo: HubRepo, page: String },
    /// The hub answers that it will not tell.
    #[error("{url} answers with status {status}; try again later")]
    Refused { url: String, status: u16 },
    /// The answer is not one of the hub's, or larger than any of them.
    #[error("cannot use the answer of {url}: {what}")]
    Answer { url: String, what: String },
    /// The repository has no model that can be run here.
    #[error("{repo} has no GGUF file; look for a repository whose name ends in -GGUF")]
    NoModel { repo: HubRepo },
    /// No file was named.
    #[error("{repo} has several files; name one of them: {files}")]
    WhichFile { repo: HubRepo, files: String },
    /// The file that was named is not there.
    #[error("{repo} has no model file {file}; it has: {files}")]
    NoSuchFile {
        repo: HubRepo,
        file: HubPath,
        files: String,
    },
    /// Not all parts of a model in several files are there.
    #[error("{repo} has {found} of the {parts} parts of {file}; choose another file")]
    PartsMissing {
        repo: HubRepo,
        file: HubPath,
        parts: u32,
        found: usize,
    },
    /// The hub states no hash, so nothing could be checked.
    #[error("the hub states no SHA-256 for {file} of {repo}, so it could not be checked; choose another file")]
    NoHash { repo: HubRepo, file: HubPath },
}
