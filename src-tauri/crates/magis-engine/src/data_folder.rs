//! Where everything lies: one data folder, shared by the window and the command line, and what of it is ours.

use crate::EngineError;
use magis_core::{RepoId, RunId};
use magis_models::Sha256Hex;
use magis_platform::private;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tracing::warn;

/// What this program keeps in a data folder. Anything else there is somebody else's.
const ENTRIES: [&str; 14] = [
    "magis.sqlite3",
    "magis.sqlite3-wal",
    "magis.sqlite3-shm",
    "magis.sqlite3-journal",
    "models",
    "objects",
    "index",
    "logs",
    "prefixes",
    "sample",
    "scratch",
    "web",
    "window.json",
    "applying",
];
/// What lies in a folder that is a whole disk.
const MADE_WITH_A_DISK: &str = "lost+found";
/// Those that hold a repository's code or a window's traces.
const PRIVATE: [&str; 7] = ["objects", "index", "logs", "prefixes", "sample", "scratch", "web"];

/// How long prefixes of a model stay that is not used.
const PREFIXES_STAY: Duration = Duration::from_hours(30 * 24);

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

    /// Returns how many bytes lie in the data folder, models included where they lie inside.
    pub fn bytes(&self) -> u64 {
        bytes_below(&self.root)
    }

    /// Returns how many bytes the models have, wherever they lie.
    pub fn model_bytes(&self) -> u64 {
        bytes_below(&self.models)
    }

    /// Returns the object store of a repository: what its runs read and made.
    pub fn objects(&self, repo: RepoId) -> PathBuf {
        self.all_objects().join(repo.to_string())
    }

    /// Returns the folder of the prefixes that workers keep, of all models.
    pub(crate) fn prefixes(&self) -> PathBuf {
        self.root.join("prefixes")
    }

    /// Returns the folder in which workers keep prefixes of a model, made where it was not there; none where the disk refuses it: all works
    /// without, only not as fast. Those of models that were not used for long go.
    pub(crate) fn prefixes_of(&self, model: Sha256Hex) -> Option<PathBuf> {
        let folder = self.prefixes().join(model.to_string());
        private::create_folder(&folder)
            .inspect_err(|error| warn!(%error, "prefixes are not kept"))
            .ok()?;
        private::remove_halves(&folder);
        for other in entries_of(&self.prefixes()).filter(|other| *other != folder) {
            let files: Vec<PathBuf> = entries_of(&other).collect();
            if files.iter().all(|file| is_older(file, PREFIXES_STAY)) {
                let _left = std::fs::remove_dir_all(&other);
            }
        }
        Some(folder)
    }

    /// Removes the prefixes of all models. The folders stay: workers that run have no others.
    pub(crate) fn forget_prefixes(&self) -> Result<(), EngineError> {
        for file in entries_of(&self.prefixes()).flat_map(|folder| entries_of(&folder).collect::<Vec<_>>()) {
            match std::fs::remove_file(&file) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(EngineError::io("delete", &file)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(crate) fn all_objects(&self) -> PathBuf {
        self.root.join("objects")
    }

    /// Refuses a folder that is somebody else's: one with files of another kind and no database of ours, or one that
    /// others may write. A folder that is not there, or is empty, is taken.
    pub(crate) fn refuse_foreign(&self) -> Result<(), EngineError> {
        let Ok(entries) = std::fs::read_dir(&self.root) else {
            // Whatever keeps it from being read is for the opening to tell.
            return Ok(());
        };
        let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        if names.is_empty() {
            return Ok(());
        }
        // What is written of a file so far bears its name with more behind it.
        let is_of = |name: &str, entry: &str| {
            let behind = name.strip_prefix(entry);
            behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('.'))
        };
        let is_ours = |name: &&OsString| {
            name.to_str()
                .is_some_and(|name| ENTRIES.iter().any(|entry| is_of(name, entry)))
        };
        let is_foreign = |name: &&OsString| !is_ours(name) && name.as_os_str() != MADE_WITH_A_DISK;
        let has_database = names.iter().any(|name| name.as_os_str() == ENTRIES[0]);
        if !has_database && let Some(name) = names.iter().find(is_foreign) {
            return Err(EngineError::DataFolderTaken {
                folder: self.root.clone(),
                name: name.to_string_lossy().into_owned(),
            });
        }
        if private::is_open_to_others(&self.root).map_err(EngineError::io("look at", &self.root))? {
            return Err(EngineError::DataFolderOpen(self.root.clone()));
        }
        Ok(())
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
            let about = match entry.symlink_metadata() {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                about => about.map_err(EngineError::io("look at", &entry))?,
            };
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
        if !left.is_empty() {
            // It was taken as a data folder before, and stays one beside what is left.
            let database = self.root.join(ENTRIES[0]);
            let made = private::file_options().write(true).create_new(true).open(&database);
            made.map_err(EngineError::io("make", &database))?;
        }
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

fn entries_of(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

/// Returns whether a file was not changed for so long; false where the system does not say.
fn is_older(file: &Path, time: Duration) -> bool {
    let changed = file.metadata().and_then(|about| about.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > time))
}

/// Returns the bytes of all files below a folder; what cannot be read counts nothing.
fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    entries
        .filter_map(Result::ok)
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => bytes_below(&entry.path()),
            Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |file| file.len()),
            _ => 0,
        })
        .sum()
}
