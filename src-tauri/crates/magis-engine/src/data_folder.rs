//! Where everything lies: one data folder, shared by the window and the command line.

use crate::EngineError;
use magis_core::RepoId;
use std::path::{Path, PathBuf};

/// The data folder: database, models, indexes and object stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFolder {
    root: PathBuf,
    models: PathBuf,
}

impl DataFolder {
    /// The folder `given`, else `$XDG_DATA_HOME/magis`, else `~/.local/share/magis`.
    pub fn locate(given: Option<PathBuf>) -> Result<Self, EngineError> {
        let variable = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let root = given
            .or_else(|| {
                variable("XDG_DATA_HOME")
                    .filter(|path| path.is_absolute())
                    .map(|path| path.join("magis"))
            })
            .or_else(|| variable("HOME").map(|home| home.join(".local/share/magis")))
            .ok_or(EngineError::NoHome)?;
        let root = std::path::absolute(&root).map_err(EngineError::io("find", &root))?;
        Ok(Self {
            models: root.join("models"),
            root,
        })
    }

    /// The same folder with the models of another one, so that one download serves several.
    #[must_use]
    pub fn with_models(self, models: PathBuf) -> Self {
        Self { models, ..self }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The model files.
    pub fn models(&self) -> &Path {
        &self.models
    }

    /// The object store of a repository: what its runs read and made.
    pub fn objects(&self, repo: RepoId) -> PathBuf {
        self.root.join("objects").join(repo.to_string())
    }

    pub(crate) fn index(&self, repo: RepoId) -> PathBuf {
        self.root.join("index").join(repo.to_string())
    }
}
