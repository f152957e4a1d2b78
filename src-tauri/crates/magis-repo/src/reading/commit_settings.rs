//! What git's configuration says of commits.

use super::Opened;
use crate::hook::Hook;
use crate::{ProgramPurpose, RepoError, RepositoryProgram, ordinary};
use git2::{Config, ConfigLevel, ObjectType, Oid};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// Keys that name what signs a commit, one for each form of signature.
const SIGNERS: [&str; 5] = [
    "gpg.program",
    "gpg.openpgp.program",
    "gpg.x509.program",
    "gpg.ssh.program",
    "gpg.ssh.defaultKeyCommand",
];

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
    /// What of that the repository itself names.
    pub programs: Vec<RepositoryProgram>,
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
        let hooks: Vec<_> = Hook::ALL.into_iter().filter(is_there).collect();
        let sign = config.get_bool("commit.gpgsign").unwrap_or(false);
        let mut programs = Vec::new();
        if hooks.contains(&Hook::CommitMessage) && !is_of_person(&config, "core.hooksPath") {
            let file = folder.join(Hook::CommitMessage.name());
            programs.push(RepositoryProgram {
                purpose: ProgramPurpose::CommitMessage,
                named_by: Hook::CommitMessage.name().to_owned(),
                content: content_of(&file),
                program: file.to_string_lossy().into_owned(),
            });
        }
        if sign {
            programs.extend(SIGNERS.iter().filter_map(|key| signer(repository, &config, key)));
        }
        Ok(Self {
            name: text("user.name"),
            email: text("user.email"),
            sign,
            hooks,
            programs,
        })
    }
}

/// Returns what a key names to sign commits with, if the repository says so.
fn signer(repository: &Opened, config: &Config, key: &str) -> Option<RepositoryProgram> {
    let program = config.get_string(key).ok()?;
    if is_of_person(config, key) {
        return None;
    }
    Some(RepositoryProgram {
        purpose: ProgramPurpose::Signing,
        named_by: key.to_owned(),
        content: content_of(&repository.root().join(&program)),
        program,
    })
}

/// Returns whether the value that counts of a key stands in the configuration of the person or of the machine.
fn is_of_person(config: &Config, key: &str) -> bool {
    config
        .get_entry(key)
        .is_ok_and(|entry| !matches!(entry.level(), ConfigLevel::Local | ConfigLevel::Worktree))
}

/// Returns the id of a file's content.
fn content_of(file: &Path) -> Option<String> {
    ordinary::check(file, ordinary::TEXT).ok()?;
    let bytes = fs::read(file).ok()?;
    Some(Oid::hash_object(ObjectType::Blob, &bytes).ok()?.to_string())
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
