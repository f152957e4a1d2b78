//! The models on this machine: which exist, which are here, whether a file is whole, whether it fits, and how to get one.
//!
//! Start with [`ModelLibrary`]: a folder of model files beside the built-in [`Catalog`]. [`GgufHeader`] reads what a file says of
//! itself, [`fits`] says what that means for this machine's memory. [`Hub::list`] says what a repository of the hub offers. This is
//! the only crate with network code, and only that and the fetching of [`ModelLibrary`] use it, when a person asks for a model by
//! name.
//! It deliberately does not load a model, and knows nothing of git, SQLite or llama.cpp.

mod catalog;
mod digest;
mod fetch;
mod gguf;
mod http;
mod hub;
mod library;
mod memory;
mod part;
mod split;
mod suggestions;

pub use catalog::{
    Catalog, CatalogEntry, CatalogError, CatalogFile, Dimensions, MirrorPart, ModelId, ModelIdError, ModelPurpose,
};
pub use digest::{Sha256Hex, Sha256HexError};
pub use fetch::{FetchError, FetchFrom, FetchOptions, FetchPhase, FetchProgress, FetchSource, FetchedModel, HubOrigin};
pub use gguf::{ChatTemplate, GgufHeader, ModelFileError, Quantisation};
pub use hub::{
    Hub, HubAccess, HubError, HubFile, HubListing, HubModel, HubName, HubNameError, HubPath, HubRepo, HubRevision,
    HubToken,
};
pub use library::ModelLibrary;
pub use library::{InstalledModel, LibraryError, ModelFile, Verification, VerifiedModel};
pub use memory::{Fit, MINIMUM_CONTEXT, MemoryClass, MemoryNeed, SizeFit, fits};
pub use suggestions::Suggestion;
