//! Opening a repository, and saying which kind it is when that does not work.
//!
//! Owns paths only: each operation opens libgit2's handle anew, so that nothing is stale and the type can be shared.

use crate::{RepoError, ordinary};
use git2::{ErrorCode, RepositoryOpenFlags};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A repository with a work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
}

impl Repository {
    /// Opens the repository that `path`, any folder inside a work tree, belongs to.
    ///
    /// # Errors
    /// When the folder is no repository, or one that cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RepoError> {
        let path = path.as_ref();
        readable(path)?;
        let nowhere: [&OsStr; 0] = [];
        let repository = git2::Repository::open_ext(path, RepositoryOpenFlags::CROSS_FS, nowhere)
            .map_err(|error| explain(path, error))?;
        ordinary::configured(&repository)?;
        ordinary::objects(&repository.commondir().join("objects"))?;
        let root = repository
            .workdir()
            .ok_or_else(|| RepoError::Bare(path.to_owned()))?
            .to_owned();
        if root.to_str().is_none() || repository.commondir().to_str().is_none() {
            return Err(RepoError::PathNotUtf8(root));
        }
        Ok(Self {
            root,
            git_dir: repository.path().to_owned(),
            common_dir: repository.commondir().to_owned(),
        })
    }

    /// Returns the root of the work tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the short names of the local branches, in the order of the alphabet. Names that are not UTF-8 are left
    /// out.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn branches(&self) -> Result<Vec<String>, RepoError> {
        let handle = self.handle()?;
        let branches = handle
            .branches(Some(git2::BranchType::Local))
            .map_err(RepoError::git("listing the branches"))?;
        let name = |(branch, _): (git2::Branch<'_>, _)| branch.name().ok().flatten().map(ToOwned::to_owned);
        let mut names: Vec<String> = branches.filter_map(Result::ok).filter_map(name).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Returns whether the repository has this commit with this tree.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn has(&self, base: &magis_core::Base) -> Result<bool, RepoError> {
        let handle = self.handle()?;
        let Ok(id) = git2::Oid::from_str(&base.commit.0) else {
            return Ok(false);
        };
        Ok(handle
            .find_commit(id)
            .is_ok_and(|commit| commit.tree_id().to_string() == base.tree.0))
    }

    /// Returns how many commits HEAD has beyond this one; none where HEAD does not go on from it, or it is not here.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn commits_since(&self, commit: &magis_core::CommitId) -> Result<Option<u32>, RepoError> {
        let handle = self.handle()?;
        let head = self.head_commit(&handle)?.id();
        let Ok(then) = git2::Oid::from_str(&commit.0) else {
            return Ok(None);
        };
        if handle.find_commit(then).is_err() {
            return Ok(None);
        }
        let (beyond, missing) = handle
            .graph_ahead_behind(head, then)
            .map_err(RepoError::git("counting commits"))?;
        Ok((missing == 0).then_some(beyond as u32))
    }

    /// Returns the folder with what belongs to this work tree: `HEAD`, the index.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Returns the folder with what all work trees share: objects, branches, configuration.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// libgit2's handle, opened anew.
    pub(crate) fn handle(&self) -> Result<git2::Repository, RepoError> {
        readable(&self.root)?;
        let handle = git2::Repository::open(&self.root).map_err(|error| explain(&self.root, error))?;
        ordinary::configured(&handle)?;
        Ok(handle)
    }

    /// Finds the sentence for an error of reading the index.
    pub(crate) fn index_error(&self, attempt: &'static str) -> impl FnOnce(git2::Error) -> RepoError {
        let root = self.root.clone();
        move |source| {
            if source.message().contains("unsupported mandatory extension") {
                RepoError::UnsupportedIndex(root)
            } else {
                RepoError::Git { attempt, source }
            }
        }
    }

    /// Returns the commit at `HEAD`.
    pub(crate) fn head_commit<'r>(&self, handle: &'r git2::Repository) -> Result<git2::Commit<'r>, RepoError> {
        let head = handle.head().map_err(|source| match source.code() {
            ErrorCode::UnbornBranch | ErrorCode::NotFound => RepoError::NoCommit(self.root.clone()),
            _ => RepoError::Git {
                attempt: "reading HEAD",
                source,
            },
        })?;
        let id = head.target().map(|id| id.to_string()).unwrap_or_default();
        head.peel_to_commit().map_err(|source| match source.code() {
            ErrorCode::NotFound => RepoError::ObjectMissing { kind: "commit", id },
            _ => RepoError::Git {
                attempt: "reading the commit at HEAD",
                source,
            },
        })
    }
}

/// Says what keeps `path` from being looked at, before libgit2 calls all of that "not found"; and looks at what libgit2 is
/// about to open.
fn readable(path: &Path) -> Result<(), RepoError> {
    let refused = |error: std::io::Error, at: &Path| match error.kind() {
        ErrorKind::NotFound => RepoError::NoSuchFolder(at.to_owned()),
        ErrorKind::PermissionDenied => RepoError::PermissionDenied(at.to_owned()),
        _ => RepoError::Io {
            attempt: "opening",
            path: at.to_owned(),
            source: error,
        },
    };
    let path = std::fs::canonicalize(path).map_err(|error| refused(error, path))?;
    for folder in path.ancestors() {
        let git = folder.join(".git");
        match std::fs::metadata(&git) {
            Ok(found) => {
                if found.is_dir() {
                    std::fs::read_dir(&git).map_err(|error| refused(error, &git))?;
                }
                return match ordinary::folders_of(&git) {
                    Ok((git_dir, common_dir)) => ordinary::git_folders(&git_dir, &common_dir),
                    Err(RepoError::Io { source, .. }) => Err(refused(source, &git)),
                    Err(error) => Err(error),
                };
            }
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(refused(error, &git)),
            // A bare repository has no such folder and is one.
            Err(_) if folder.join("objects").is_dir() => ordinary::git_folders(folder, folder)?,
            Err(_) => {}
        }
    }
    Ok(())
}

/// Finds the sentence for an error of opening.
fn explain(path: &Path, source: git2::Error) -> RepoError {
    let path = path.to_owned();
    if let Some((_, extension)) = source.message().split_once("unsupported extension name extensions.") {
        return match extension.to_ascii_lowercase().as_str() {
            "refstorage" => RepoError::Reftable(path),
            "partialclone" => RepoError::PartialClone(path),
            "objectformat" => RepoError::Sha256(path),
            _ => RepoError::UnsupportedExtension {
                path,
                extension: extension.to_owned(),
            },
        };
    }
    if source.message().contains("object format") {
        return RepoError::Sha256(path);
    }
    match source.code() {
        ErrorCode::Owner => RepoError::ForeignOwner(path),
        ErrorCode::NotFound => RepoError::NotARepository(path),
        _ => RepoError::Git {
            attempt: "opening the repository",
            source,
        },
    }
}
