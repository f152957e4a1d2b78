//! Where everything lies: one data folder, shared by the window and the command line, and what of it is ours.

use crate::EngineError;
use magis_core::{RepoId, RunId};
use magis_platform::private;
use std::path::{Path, PathBuf};

/// What this program keeps in a data folder. Anything else there is somebody else's.
const ENTRIES: [&str; 13] = [
    "magis.sqlite3",
    "magis.sqlite3-wal",
    "magis.sqlite3-shm",
    "magis.sqlite3-journal",
    "models",
    "objects",
    "index",
    "logs",
    "sample",
    "scratch",
    "web",
    "window.json",
    "applying",
];
/// Those that hold a repository's code or a window's traces.
const PRIVATE: [&str; 6] = ["objects", "index", "logs", "sample", "scratch", "web"];

/// The data folder: database, models, indexes and object stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFolder {
    root: PathBuf,
    models: PathBuf,
}

impl DataFolder {
    /// Returns the folder `given`, else `$XDG_DATA_HOME/magis`, else `~/.local/share/magis`.
    ///
    /// # Errors
    /// When no folder is named and the system does not say where data goes.
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

    /// Returns the same folder with the models of another one, so that one download serves several.
    #[must_use]
    pub fn with_models(self, models: PathBuf) -> Self {
        Self { models, ..self }
    }

    /// Returns the data folder's own path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of the model files.
    pub fn models(&self) -> &Path {
        &self.models
    }

    /// Returns the object store of a repository: what its runs read and made.
    pub fn objects(&self, repo: RepoId) -> PathBuf {
        self.all_objects().join(repo.to_string())
    }

    pub(crate) fn all_objects(&self) -> PathBuf {
        self.root.join("objects")
    }

    /// Makes the folders that hold code, for their owner alone: the data folder itself may be open to others where it was
    /// somebody else's before.
    pub(crate) fn make_private(&self) -> Result<(), EngineError> {
        for name in PRIVATE {
            let folder = self.root.join(name);
            if folder.symlink_metadata().is_ok() {
                continue;
            }
            private::create_folder(&folder).map_err(EngineError::io("make", &folder))?;
        }
        Ok(())
    }

    /// Erases everything that this program keeps in the folder, the models where they lie inside. Returns the names of
    /// what is left: other people's files. No store may be open.
    ///
    /// # Errors
    /// When another program uses the folder, or something in it cannot be deleted.
    pub fn erase(&self) -> Result<Vec<String>, EngineError> {
        for name in ENTRIES {
            let entry = self.root.join(name);
            let Ok(about) = entry.symlink_metadata() else { continue };
            let erased = if about.is_dir() {
                std::fs::remove_dir_all(&entry)
            } else {
                std::fs::remove_file(&entry)
            };
            erased.map_err(EngineError::io("erase", &entry))?;
        }
        let left = std::fs::read_dir(&self.root).map_err(EngineError::io("read", &self.root))?;
        let mut left: Vec<String> = left
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        left.sort();
        Ok(left)
    }

    /// Returns the folder for what commands change while they run in the sandbox.
    pub fn scratch(&self) -> PathBuf {
        self.root.join("scratch")
    }

    /// Returns the file that is locked while a patch is applied or taken back.
    pub(crate) fn applying(&self) -> PathBuf {
        self.root.join("applying")
    }

    /// Returns the folder of the log files.
    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// Returns the file with the contents of one run's calls.
    pub(crate) fn contents_of(&self, run: RunId) -> PathBuf {
        self.logs().join(format!("run-{run}.jsonl"))
    }

    /// Returns the runs whose contents are logged, or were.
    pub(crate) fn runs_with_contents(&self) -> Vec<RunId> {
        let files = std::fs::read_dir(self.logs()).into_iter().flatten().flatten();
        let run = |name: &str| {
            name.strip_prefix("run-")?
                .strip_suffix(".jsonl")?
                .parse()
                .ok()
                .map(RunId)
        };
        files.filter_map(|file| run(file.file_name().to_str()?)).collect()
    }

    pub(crate) fn index(&self, repo: RepoId) -> PathBuf {
        self.all_indexes().join(repo.to_string())
    }

    pub(crate) fn all_indexes(&self) -> PathBuf {
        self.root.join("index")
    }
}
