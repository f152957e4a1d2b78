//! The folder of models on this machine: what is in it, what a name means, and adding, checking and removing files.
//!
//! Everything a caller gets from here has had its header read and its hash taken. It loads nothing, and only its `fetch`
//! (in `fetch.rs`) uses the network.

mod error;
pub(crate) mod hashes;

pub use error::LibraryError;

use crate::digest::hash_of_parts;
use crate::part::PartFiles;
use crate::split::{SplitName, files_of, split_name};
use crate::{Catalog, CatalogEntry, GgufHeader, ModelFileError, ModelId, Sha256Hex};
use hashes::HashMemory;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A folder of model files, seen together with a catalogue.
#[derive(Debug)]
pub struct ModelLibrary {
    folder: PathBuf,
    catalog: Catalog,
    hashes: HashMemory,
}

/// A model file that was found whole: its header read, its length checked, its hash known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFile {
    /// The name it goes by.
    pub id: ModelId,
    pub path: PathBuf,
    /// Its hash; recorded with every call of the model.
    pub sha256: Sha256Hex,
    /// What it says of itself.
    pub header: GgufHeader,
}

/// What stands between a file's own name and its hash, where the library has no name for it.
const HASH_MARK: &str = "@sha256:";

impl ModelFile {
    /// Returns what a run names it by: the id where `library` has it, else its own name with its hash.
    pub fn name(&self, library: &ModelLibrary) -> String {
        if self.path.parent() == Some(library.folder()) {
            return self.id.to_string();
        }
        format!("{}{HASH_MARK}{}", self.id, self.sha256)
    }
}

/// A file of the library, as a list shows it. Its hash is not taken: that takes seconds.
#[derive(Debug)]
pub struct InstalledModel {
    /// The name it goes by.
    pub id: ModelId,
    pub path: PathBuf,
    pub bytes: u64,
    /// The catalogue's entry, when the file bears the name of one.
    pub entry: Option<CatalogEntry>,
    /// What it says of itself, or why it cannot be used.
    pub header: Result<GgufHeader, ModelFileError>,
}

/// What checking a file's every byte showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verification {
    /// The file is the one that the catalogue states, or that was here before.
    Intact { sha256: Sha256Hex },
    /// The catalogue does not know the file and it was not hashed before; from now on this hash is remembered.
    FirstSeen { sha256: Sha256Hex },
    /// The file is not what it was or should be.
    Changed {
        /// The hash it should have.
        expected: Sha256Hex,
        /// The hash it has.
        found: Sha256Hex,
    },
}

/// A model and what checking it showed, or why it could not be checked.
pub type VerifiedModel = (ModelId, Result<Verification, LibraryError>);

/// Space that has to stay free beside a model, for everything else that is written.
pub(crate) const SPARE_BYTES: u64 = 256 << 20;

impl ModelLibrary {
    /// Opens the library in `folder`, which is created (for this user alone) when it is missing.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, LibraryError> {
        Self::with_catalog(folder, Catalog::builtin())
    }

    /// As [`Self::open`], with another catalogue.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    pub fn with_catalog(folder: impl Into<PathBuf>, catalog: Catalog) -> Result<Self, LibraryError> {
        let folder = folder.into();
        match magis_platform::private::create_folder(&folder) {
            // Nothing can be put there, and what is there can be used all the same.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::StorageFull
                ) => {}
            created => created.map_err(storage("create the model folder", &folder))?,
        }
        let hashes = folder.join("hashes");
        for written in [&folder, &hashes] {
            magis_platform::private::remove_halves(written);
        }
        let hashes = HashMemory::in_folder(hashes);
        Ok(Self {
            folder,
            catalog,
            hashes,
        })
    }

    /// Returns the folder that all of it lies in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the catalogue of models that can be fetched.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns the model files in the folder, by name. A file that cannot be used is in the list, with the reason.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> Result<Vec<InstalledModel>, LibraryError> {
        let mut models = Vec::new();
        for file in fs::read_dir(&self.folder).map_err(storage("list the model folder", &self.folder))? {
            let file = file.map_err(storage("list the model folder", &self.folder))?;
            let path = file.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !is_model_name(&name) || is_later_part(&path) {
                continue;
            }
            let entry = self.entry_of_file(&name).cloned();
            let id = entry
                .as_ref()
                .map_or_else(|| ModelId::from_file_name(&name), |entry| entry.id.clone());
            let lengths = files_of(&path).into_iter().filter_map(|file| fs::metadata(file).ok());
            models.push(InstalledModel {
                bytes: lengths.map(|file| file.len()).sum(),
                id,
                entry,
                header: GgufHeader::read(&path),
                path,
            });
        }
        models.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(models)
    }

    /// Returns the catalogue's models that are not in the folder, in the catalogue's order.
    pub fn not_installed(&self) -> Vec<&CatalogEntry> {
        self.catalog
            .entries()
            .iter()
            .filter(|entry| !self.path_of(entry).is_file())
            .collect()
    }

    /// Finds the model that a person's word means: a model's id, or else the path of a file anywhere. Takes its hash, which is
    /// remembered as long as the file keeps its size and time. What a run or a file says is no person's word: see
    /// [`Self::named`].
    ///
    /// # Errors
    /// When there is no such model.
    pub fn resolve(&self, name: &str) -> Result<ModelFile, LibraryError> {
        if let Some(model) = self.by_id(name)? {
            return Ok(model);
        }
        let path = Path::new(name);
        if !path.exists() {
            let installed = self.list()?;
            let mut known: Vec<&str> = self.catalog.entries().iter().map(|entry| entry.id.as_str()).collect();
            known.extend(
                installed
                    .iter()
                    .filter(|model| model.entry.is_none())
                    .map(|model| model.id.as_str()),
            );
            return Err(LibraryError::Unknown {
                name: name.to_owned(),
                known: known.join(", "),
            });
        }
        let path = fs::canonicalize(path).map_err(storage("find", path))?;
        let mut model = self.file(name_after(&path), path, None)?;
        if let Some(entry) = self.catalog.by_hash(model.sha256) {
            model.id = entry.id.clone();
        }
        Ok(model)
    }

    /// Finds the model that a run names: by a model's id, or by the hash of a file that a person named here before (see
    /// [`ModelFile::name`]). No path is ever opened for its name's sake.
    ///
    /// # Errors
    /// When there is no such model.
    pub fn named(&self, name: &str) -> Result<ModelFile, LibraryError> {
        if let Some(model) = self.by_id(name)? {
            return Ok(model);
        }
        if let Some((_, hash)) = name.split_once(HASH_MARK)
            && let Ok(sha256) = hash.parse::<Sha256Hex>()
            && let Some(model) = self.by_hash(sha256)?
        {
            return Ok(model);
        }
        let known: Vec<String> = self.list()?.into_iter().map(|model| model.id.to_string()).collect();
        Err(LibraryError::NotInLibrary {
            name: name.to_owned(),
            known: if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            },
        })
    }

    /// Returns the model of this id; none where neither the catalogue nor the folder has it.
    fn by_id(&self, name: &str) -> Result<Option<ModelFile>, LibraryError> {
        let Ok(id) = ModelId::new(name) else {
            return Ok(None);
        };
        if let Some(entry) = self.catalog.get(&id) {
            let path = self.path_of(entry);
            if !path.is_file() {
                return Err(LibraryError::NotInstalled {
                    id: entry.id.clone(),
                    bytes: entry.file.bytes,
                });
            }
            return self.file(entry.id.clone(), path, Some(entry.file.sha256)).map(Some);
        }
        let installed = self.list()?.into_iter().find(|model| model.id == id);
        installed.map(|model| self.file(model.id, model.path, None)).transpose()
    }

    /// Returns the file with this content among those whose hash was taken here and that are as they were then.
    fn by_hash(&self, sha256: Sha256Hex) -> Result<Option<ModelFile>, LibraryError> {
        let there = self.hashes.files_with(sha256);
        let path = there.into_iter().next();
        path.map(|path| self.file(name_after(&path), path, Some(sha256)))
            .transpose()
    }

    /// Takes a file into the library: by a hard link where that is possible, else by a copy. The original stays.
    ///
    /// # Errors
    /// When the file is no model that can be used, or cannot be copied.
    pub fn add(&self, file: &Path) -> Result<ModelFile, LibraryError> {
        let source = fs::canonicalize(file).map_err(storage("find", file))?;
        let header = GgufHeader::read(&source)?;
        let sha256 = self.hash_of(&source).map_err(storage("read", &source))?;
        let (id, name) = match self.catalog.by_hash(sha256) {
            Some(entry) => (entry.id.clone(), entry.file.name.clone()),
            None => self.own_name(&source),
        };
        let target = self.folder.join(name);
        for (source, target) in files_of(&source).iter().zip(files_of(&target)) {
            self.take(source, &target)?;
        }
        Ok(ModelFile {
            id,
            path: target,
            sha256,
            header,
        })
    }

    /// Takes one file into the library under that name.
    fn take(&self, source: &Path, target: &Path) -> Result<(), LibraryError> {
        let sha256 = self.hashes.of(source).map_err(storage("read", source))?;
        if target.exists() {
            let there = self.hashes.of(target).map_err(storage("read", target))?;
            if there != sha256 {
                return Err(LibraryError::NameTaken {
                    path: target.to_owned(),
                });
            }
        } else if fs::hard_link(source, target).is_err() {
            let bytes = fs::metadata(source).map_err(storage("read", source))?.len();
            self.copy(source, target, sha256, bytes)?;
        }
        self.hashes
            .remember(target, sha256)
            .map_err(storage("note the hash of", target))
    }

    /// Reads every byte of a model and compares its hash with the catalogue's, or else with the remembered one.
    ///
    /// # Errors
    /// When there is no such model, or its file cannot be read.
    pub fn verify(&self, id: &ModelId) -> Result<Verification, LibraryError> {
        let path = self.find(id)?;
        let files = files_of(&path);
        let before: Option<Vec<Sha256Hex>> = files.iter().map(|file| self.hashes.remembered_ever(file)).collect();
        let expected = match self.catalog.get(id) {
            Some(entry) => Some(entry.file.sha256),
            None => before.map(|before| hash_of_parts(&before)),
        };
        GgufHeader::read(&path)?;
        let taken = files
            .iter()
            .map(|file| self.hashes.take(file).map_err(storage("read", file)));
        let taken: Vec<Sha256Hex> = taken.collect::<Result<_, _>>()?;
        let found = hash_of_parts(&taken);
        match expected {
            Some(expected) if expected != found => return Ok(Verification::Changed { expected, found }),
            _ => {
                for (file, sha256) in files.iter().zip(taken) {
                    self.remember(file, sha256).map_err(storage("note the hash of", file))?;
                }
            }
        }
        Ok(if expected.is_some() {
            Verification::Intact { sha256: found }
        } else {
            Verification::FirstSeen { sha256: found }
        })
    }

    /// Verifies every model of the folder.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn verify_all(&self) -> Result<Vec<VerifiedModel>, LibraryError> {
        let models = self.list()?;
        Ok(models
            .into_iter()
            .map(|model| (model.id.clone(), self.verify(&model.id)))
            .collect())
    }

    /// Deletes a model, or what was fetched of it so far, and says how many bytes its files had.
    ///
    /// # Errors
    /// When there is no such model, or its file cannot be deleted.
    pub fn remove(&self, id: &ModelId) -> Result<u64, LibraryError> {
        let path = match self.catalog.get(id) {
            Some(entry) => self.path_of(entry),
            None => self.find(id)?,
        };
        let lock = PartFiles::beside(&path).lock().map_err(storage("lock", &path))?;
        if lock.is_none() {
            return Err(LibraryError::Busy { id: id.clone() });
        }
        let mut bytes = 0;
        let mut found = false;
        for model in files_of(&path) {
            let parts = PartFiles::beside(&model);
            for file in [model.clone(), parts.data, parts.state] {
                match fs::metadata(&file) {
                    Ok(metadata) => bytes += metadata.len(),
                    Err(_) => continue,
                }
                found = true;
                fs::remove_file(&file).map_err(storage("delete", &file))?;
            }
            self.hashes.forget(&model);
        }
        match self.catalog.get(id) {
            Some(entry) if !found => Err(LibraryError::NotInstalled {
                id: id.clone(),
                bytes: entry.file.bytes,
            }),
            _ => Ok(bytes),
        }
    }

    pub(crate) fn path_of(&self, entry: &CatalogEntry) -> PathBuf {
        self.folder.join(&entry.file.name)
    }

    /// Reads header and hash of a file that is known to exist.
    pub(crate) fn file(
        &self,
        id: ModelId,
        path: PathBuf,
        expected: Option<Sha256Hex>,
    ) -> Result<ModelFile, LibraryError> {
        let header = GgufHeader::read(&path)?;
        let found = self.hash_of(&path).map_err(storage("read", &path))?;
        match expected {
            Some(expected) if expected != found => Err(LibraryError::WrongHash { id, expected, found }),
            _ => Ok(ModelFile {
                id,
                path,
                sha256: found,
                header,
            }),
        }
    }

    /// Returns the hash of the model whose first, or only, file this is.
    fn hash_of(&self, first: &Path) -> io::Result<Sha256Hex> {
        let files: Vec<Sha256Hex> = files_of(first)
            .iter()
            .map(|file| self.hashes.of(file))
            .collect::<Result<_, _>>()?;
        Ok(hash_of_parts(&files))
    }

    /// As [`Self::hash_of`], without reading the files: none where their hashes are not remembered, or they changed since.
    pub fn known_hash(&self, first: &Path) -> Option<Sha256Hex> {
        let files: Option<Vec<Sha256Hex>> = files_of(first).iter().map(|file| self.hashes.known(file)).collect();
        files.map(|files| hash_of_parts(&files))
    }

    /// Returns whether the file at `path` is here and has this hash.
    pub(crate) fn has(&self, path: &Path, sha256: Sha256Hex) -> bool {
        path.is_file() && self.hashes.of(path).is_ok_and(|found| found == sha256)
    }

    pub(crate) fn remember(&self, path: &Path, sha256: Sha256Hex) -> io::Result<()> {
        self.hashes.remember(path, sha256)
    }

    fn find(&self, id: &ModelId) -> Result<PathBuf, LibraryError> {
        if let Some(model) = self.list()?.into_iter().find(|model| &model.id == id) {
            return Ok(model.path);
        }
        match self.catalog.get(id) {
            Some(entry) => Err(LibraryError::NotInstalled {
                id: id.clone(),
                bytes: entry.file.bytes,
            }),
            None => Err(LibraryError::Unknown {
                name: id.to_string(),
                known: self
                    .list()?
                    .iter()
                    .map(|model| model.id.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            }),
        }
    }

    fn entry_of_file(&self, name: &str) -> Option<&CatalogEntry> {
        self.catalog.entries().iter().find(|entry| entry.file.name == name)
    }

    /// Returns the name of a user's own file, kept apart from the names of the catalogue.
    fn own_name(&self, source: &Path) -> (ModelId, String) {
        let source_name = source.file_name().unwrap_or_default().to_string_lossy();
        let file_of = |id: &ModelId| match SplitName::of(&source_name) {
            Some(split) => split_name(id.as_str(), split.number, split.count),
            None => format!("{id}.gguf"),
        };
        let id = name_after(source);
        let taken = |entry: &CatalogEntry| entry.id == id || entry.file.name.eq_ignore_ascii_case(&file_of(&id));
        let id = if self.catalog.entries().iter().any(taken) {
            ModelId::from_file_name(&format!("own-{id}"))
        } else {
            id
        };
        let name = file_of(&id);
        (id, name)
    }

    fn copy(&self, source: &Path, target: &Path, sha256: Sha256Hex, bytes: u64) -> Result<(), LibraryError> {
        let free = fs4::available_space(&self.folder).map_err(storage("measure the free space of", &self.folder))?;
        let needed = bytes.saturating_add(SPARE_BYTES);
        if free < needed {
            return Err(LibraryError::NoSpace {
                folder: self.folder.clone(),
                needed,
                free,
            });
        }
        let parts = PartFiles::beside(target);
        let half = &parts.data;
        let copied = fs::copy(source, half)
            .and_then(|_| fs::File::open(half)?.sync_all())
            .and_then(|()| self.hashes.take(half));
        let outcome = match copied {
            Ok(found) if found == sha256 => fs::rename(half, target).map_err(storage("put in place", target)),
            Ok(_) => Err(LibraryError::ChangedMeanwhile {
                path: source.to_owned(),
            }),
            Err(error) => Err(storage("copy the model to", half)(error)),
        };
        if outcome.is_err() {
            // The first error is the one to tell; a half copy that cannot be deleted is overwritten next time.
            let _ = fs::remove_file(half);
        }
        outcome
    }
}

pub(crate) fn storage(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LibraryError {
    let path = path.to_owned();
    move |source| LibraryError::Storage { doing, path, source }
}

fn is_model_name(name: &str) -> bool {
    !name.starts_with('.')
        && Path::new(name)
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("gguf"))
}

/// Returns whether this is a part of a model whose first part lies beside it.
fn is_later_part(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    SplitName::of(&name).is_some_and(|split| {
        let first = split_name(split.stem, 1, split.count);
        split.number > 1 && path.with_file_name(first).is_file()
    })
}

fn name_after(path: &Path) -> ModelId {
    ModelId::from_file_name(&path.file_name().unwrap_or_default().to_string_lossy())
}
