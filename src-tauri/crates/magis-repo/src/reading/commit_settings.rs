//! What git's configuration says of commits.

use super::Opened;
use crate::RepoError;
use crate::hook::Hook;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// Who commits by the configuration, and what git would run for a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommitSettings {
    /// `user.name`; none where it is not set.
    pub name: Option<String>,
    /// `user.email`; none where it is not set.
    pub email: Option<String>,
    /// Commits are to be signed.
    pub sign: bool,
    /// The hooks that are there.
    pub hooks: Vec<Hook>,
}

impl CommitSettings {
    pub(super) fn read(repository: &Opened) -> Result<Self, RepoError> {
        let handle = repository.handle()?;
        let config = handle.config().map_err(RepoError::git("reading the configuration"))?;
        let text = |key| config.get_string(key).ok().filter(|value| !value.trim().is_empty());
        let folder = match config.get_path("core.hooksPath") {
            Ok(folder) => repository.root().join(folder),
            Err(_) => repository.common_dir().join("hooks"),
        };
        let is_there = |hook: &Hook| is_executable(&folder.join(hook.name()));
        Ok(Self {
            name: text("user.name"),
            email: text("user.email"),
            sign: config.get_bool("commit.gpgsign").unwrap_or(false),
            hooks: Hook::ALL.into_iter().filter(is_there).collect(),
        })
    }
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|metadata| metadata.is_file())
}
