//! Opening a repository with libgit2, and saying which kind it is when that does not work.
//!
//! Owns paths only: each operation opens libgit2's handle anew, so that nothing is stale.

use super::bounds;
use super::objects::id_of;
use crate::located::looked_at;
use crate::{BaseChoice, HeadPlace, RepoError, ordinary};
use git2::{ErrorCode, ObjectType, Oid, RepositoryOpenFlags};
use magis_core::{Base, CommitId, TreeId};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Where a repository with a work tree lies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opened {
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
}

impl Opened {
    /// Opens the repository that `path`, any folder inside a work tree, belongs to.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RepoError> {
        let path = path.as_ref();
        looked_at(path)?;
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
        let asked = std::fs::canonicalize(path).map_err(RepoError::io("opening", path))?;
        let lies = std::fs::canonicalize(&root).map_err(RepoError::io("opening", &root))?;
        // A folder that only looks like a git folder, part of what somebody else committed say, is never taken for one
        // because it names a work tree; git has safe.bareRepository for that.
        let is_its_own = located_in(&lies).is_some_and(|git_dir| is_same(&git_dir, repository.path()));
        if !asked.starts_with(&lies) || !is_its_own {
            return Err(RepoError::ForeignWorkTree {
                repository: repository.path().to_owned(),
                elsewhere: root,
            });
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
    pub fn has(&self, base: &Base) -> Result<bool, RepoError> {
        let handle = self.handle()?;
        let Ok(id) = Oid::from_str(&base.commit.0) else {
            return Ok(false);
        };
        Ok(handle
            .find_commit(id)
            .is_ok_and(|commit| commit.tree_id().to_string() == base.tree.0))
    }

    /// Returns how many commits HEAD has beyond this one; none where HEAD does not go on from it, or it is not here.
    pub fn commits_since(&self, commit: &CommitId) -> Result<Option<u32>, RepoError> {
        let handle = self.handle()?;
        let head = self.head_commit(&handle)?.id();
        let Ok(then) = Oid::from_str(&commit.0) else {
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

    /// Returns the commit that a run is to be based on, its tree, and what it is called.
    pub fn base(&self, choice: &BaseChoice) -> Result<Base, RepoError> {
        let handle = self.handle()?;
        let (commit, name) = match choice {
            BaseChoice::Head | BaseChoice::HeadWithUncommitted => (self.head_commit(&handle)?, "HEAD".to_owned()),
            BaseChoice::Revision { name } => (revision(&handle, name)?, name.clone()),
        };
        Ok(Base {
            commit: CommitId(commit.id().to_string()),
            tree: TreeId(commit.tree_id().to_string()),
            uncommitted: false,
            name,
        })
    }

    /// Returns the kind and the bytes of an object.
    pub fn object(&self, id: &str, kind: ObjectType) -> Result<(ObjectType, Vec<u8>), RepoError> {
        let handle = self.handle()?;
        let odb = handle.odb().map_err(RepoError::git("opening the objects"))?;
        bounds::read(&odb, id_of(id, kind.str())?, kind)
    }

    /// Returns those of these objects that are not here.
    pub fn missing(&self, ids: Vec<String>) -> Result<Vec<String>, RepoError> {
        let handle = self.handle()?;
        let odb = handle.odb().map_err(RepoError::git("opening the objects"))?;
        let is_missing = |id: &String| Oid::from_str(id).is_ok_and(|id| !odb.exists(id));
        Ok(ids.into_iter().filter(is_missing).collect())
    }

    /// Returns where `HEAD` stands now.
    pub fn head_place(&self) -> Result<HeadPlace, RepoError> {
        let handle = self.handle()?;
        let head = handle.find_reference("HEAD").map_err(RepoError::git("reading HEAD"))?;
        let branch = head
            .symbolic_target_bytes()
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .map(|name| name.strip_prefix("refs/heads/").unwrap_or(&name).to_owned());
        let commit = handle.head().ok().and_then(|head| head.target());
        Ok(HeadPlace {
            branch,
            commit: commit.map(|id| CommitId(id.to_string())),
        })
    }

    /// libgit2's handle, opened anew.
    pub fn handle(&self) -> Result<git2::Repository, RepoError> {
        looked_at(&self.root)?;
        let handle = git2::Repository::open(&self.root).map_err(|error| explain(&self.root, error))?;
        ordinary::configured(&handle)?;
        Ok(handle)
    }

    /// Finds the sentence for an error of reading the index.
    pub fn index_error(&self, attempt: &'static str) -> impl FnOnce(git2::Error) -> RepoError {
        let root = self.root.clone();
        move |source| {
            // Those of a split and of a sparse index: `link` and `sdir`.
            let is_known = ["'link'", "'sdir'"].iter().any(|name| source.message().contains(name));
            if source.message().contains("unsupported mandatory extension") && is_known {
                RepoError::UnsupportedIndex(root)
            } else {
                RepoError::git(attempt)(source)
            }
        }
    }

    /// Returns the commit at `HEAD`.
    pub fn head_commit<'r>(&self, handle: &'r git2::Repository) -> Result<git2::Commit<'r>, RepoError> {
        let head = handle.head().map_err(|source| match source.code() {
            ErrorCode::UnbornBranch | ErrorCode::NotFound => RepoError::NoCommit(self.root.clone()),
            _ => RepoError::git("reading HEAD")(source),
        })?;
        if let Some(id) = head.target() {
            let odb = handle.odb().map_err(RepoError::git("opening the objects"))?;
            bounds::check(&odb, id, ObjectType::Commit, None)?;
        }
        let id = head.target().map(|id| id.to_string()).unwrap_or_default();
        head.peel_to_commit().map_err(|source| match source.code() {
            ErrorCode::NotFound => RepoError::ObjectMissing {
                kind: "commit".into(),
                id,
            },
            _ => RepoError::git("reading the commit at HEAD")(source),
        })
    }
}

/// Returns the git folder that the `.git` in a work tree is or names.
fn located_in(work_tree: &Path) -> Option<PathBuf> {
    let (git_dir, _) = ordinary::folders_of(&work_tree.join(".git")).ok()?;
    Some(git_dir)
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (std::fs::canonicalize(one), std::fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
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
        _ => RepoError::git("opening the repository")(source),
    }
}

fn revision<'r>(handle: &'r git2::Repository, name: &str) -> Result<git2::Commit<'r>, RepoError> {
    let object = handle.revparse_single(name).map_err(|source| match source.code() {
        ErrorCode::NotFound | ErrorCode::InvalidSpec => RepoError::RevisionNotFound(name.to_owned()),
        ErrorCode::Ambiguous => RepoError::RevisionAmbiguous(name.to_owned()),
        _ => RepoError::git("reading the revision")(source),
    })?;
    object
        .peel_to_commit()
        .map_err(|_| RepoError::RevisionNotACommit(name.to_owned()))
}
