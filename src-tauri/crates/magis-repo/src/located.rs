//! Finding the repository that a folder belongs to, and looking at what git would open of it, without libgit2.

use crate::{RepoError, ordinary};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Where the files of a repository lie, by its own word.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    /// The folder that `.git` lies in.
    pub root: PathBuf,
    pub git_dir: PathBuf,
    pub common_dir: PathBuf,
}

impl Located {
    /// Returns the folders in which all that git reads of it lies. What is named as a folder of git and is none, the root of the file system say, is not
    /// among them.
    ///
    /// # Errors
    /// When its objects are no ordinary files.
    pub fn folders(&self) -> Result<Vec<PathBuf>, RepoError> {
        let mut folders = ordinary::objects(&self.common_dir.join("objects"))?;
        folders.push(self.root.clone());
        if self.git_dir.join("HEAD").exists() {
            folders.push(self.git_dir.clone());
        }
        if self.common_dir.join("objects").is_dir() {
            folders.push(self.common_dir.clone());
        }
        Ok(folders)
    }
}

/// Finds the repository that `path` belongs to; none where there is none, or only a bare one. Says what keeps `path` from being looked at, before libgit2
/// calls all of that "not found"; and looks at what libgit2 is about to open.
pub(crate) fn looked_at(path: &Path) -> Result<Option<Located>, RepoError> {
    let path = fs::canonicalize(path).map_err(|error| refused(error, path))?;
    for folder in path.ancestors() {
        let git = folder.join(".git");
        match fs::metadata(&git) {
            Ok(found) => {
                if found.is_dir() {
                    fs::read_dir(&git).map_err(|error| refused(error, &git))?;
                }
                let (git_dir, common_dir) = ordinary::folders_of(&git).map_err(|error| match error {
                    RepoError::Io { source, .. } => refused(source, &git),
                    error => error,
                })?;
                ordinary::git_folders(&git_dir, &common_dir)?;
                return Ok(Some(Located {
                    root: folder.to_owned(),
                    git_dir,
                    common_dir,
                }));
            }
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Err(refused(error, &git)),
            // A bare repository has no such folder and is one.
            Err(_) if folder.join("objects").is_dir() => ordinary::git_folders(folder, folder)?,
            Err(_) => {}
        }
    }
    Ok(None)
}

fn refused(error: io::Error, at: &Path) -> RepoError {
    match error.kind() {
        ErrorKind::NotFound => RepoError::NoSuchFolder(at.to_owned()),
        ErrorKind::PermissionDenied => RepoError::PermissionDenied(at.to_owned()),
        _ => RepoError::io("opening", at)(error),
    }
}
