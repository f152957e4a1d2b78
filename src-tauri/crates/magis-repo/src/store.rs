//! An object database of our own, in which a run's trees and blobs outlive the repository they came from.
//!
//! New objects are written here and nowhere else, and what this process reads of it by itself, it wrote. The repository's objects are read beside them by
//! whoever reads what strangers wrote, and never written.

use crate::git::Reader;
use crate::reading::{Request, SOURCE, bounds};
use crate::replace::new_mark;
use crate::root::{Prepared, Root, WriteMode};
use crate::{Git, RepoError, Repository, in_use};
use cap_std::fs::Dir;
use git2::{ObjectType, OdbLookupFlags, Oid, RepositoryInitOptions};
use magis_core::BlobId;
use magis_platform::private;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, fs};

/// What a bare repository consists of, the part that it is known by last.
const PARTS: [&str; 4] = ["config", "objects", "refs", KNOWN_BY];
const KNOWN_BY: &str = "HEAD";
/// How the folder is called that one is made in before it has its place.
pub(crate) const MADE_APART: &str = ".new-";

/// Returns the id that git gives to a file of this text, without a database.
pub fn blob_of(text: &str) -> BlobId {
    let id =
        Oid::hash_object(ObjectType::Blob, text.as_bytes()).expect("SHA-1 of bytes in memory can always be computed");
    BlobId(id.to_string())
}

/// Objects of our own, with those of one repository behind them. Cheap to clone, safe to share.
#[derive(Clone)]
pub struct ObjectStore {
    databases: Arc<Databases>,
}

impl fmt::Debug for ObjectStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectStore")
            .field("folder", &self.own().path())
            .finish()
    }
}

struct Databases {
    /// Our objects alone; the only handle that writes.
    own: Mutex<git2::Repository>,
    /// Reads our objects and the repository's.
    reader: Reader,
    /// Keeps the store from being pruned.
    _held: Option<File>,
}

impl ObjectStore {
    /// Opens, or creates, the store in `folder` for `repository`. One store serves all runs of a repository.
    ///
    /// # Errors
    /// When the folder cannot be made or written.
    pub fn open(folder: impl AsRef<Path>, repository: &Repository) -> Result<Self, RepoError> {
        let folder = folder.as_ref();
        if !folder.join(KNOWN_BY).is_file() {
            create(folder)?;
        }
        let objects = repository.common_dir().join("objects");
        let objects = objects
            .to_str()
            .ok_or_else(|| RepoError::PathNotUtf8(objects.clone()))?;
        let source = folder.join(SOURCE);
        if fs::read_to_string(&source).ok().as_deref() != Some(objects) {
            fs::write(&source, objects).map_err(RepoError::io("writing", &source))?;
        }
        Self::reopen(repository.git(), folder)
    }

    /// Opens an existing store without its repository, which is still read where it was if it is there.
    ///
    /// # Errors
    /// When the store is not there.
    pub fn reopen(git: &Git, folder: impl AsRef<Path>) -> Result<Self, RepoError> {
        let folder = folder.as_ref();
        Self::join(git, folder, in_use::hold(folder))
    }

    /// As [`ObjectStore::reopen`], for who prunes the store.
    pub(crate) fn reopen_unheld(git: &Git, folder: &Path) -> Result<Self, RepoError> {
        Self::join(git, folder, None)
    }

    fn join(git: &Git, folder: &Path, held: Option<File>) -> Result<Self, RepoError> {
        let own = git2::Repository::open_bare(folder).map_err(RepoError::git("opening the object store"))?;
        Ok(Self {
            databases: Arc::new(Databases {
                own: Mutex::new(own),
                reader: git.store_reader(folder),
                _held: held,
            }),
        })
    }

    /// Returns how repositories are read.
    pub fn git(&self) -> &Git {
        self.reader().git()
    }

    /// Our objects alone, for writing.
    pub(crate) fn own(&self) -> MutexGuard<'_, git2::Repository> {
        self.databases.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who reads all objects, ours and the repository's.
    pub(crate) fn reader(&self) -> &Reader {
        &self.databases.reader
    }

    /// Returns an object's bytes; an error where there are too many.
    pub(crate) fn read(&self, id: Oid, kind: ObjectType) -> Result<Vec<u8>, RepoError> {
        self.read_at_most(id, kind, None)
    }

    /// Returns an object's bytes; an error where there are more than `most`, or than are read of any object.
    pub(crate) fn read_at_most(&self, id: Oid, kind: ObjectType, most: Option<u64>) -> Result<Vec<u8>, RepoError> {
        {
            let own = self.own();
            let odb = own.odb().map_err(RepoError::git("opening the object store"))?;
            if odb.exists_ext(id, OdbLookupFlags::NO_REFRESH) {
                return bounds::read_at_most(&odb, id, kind, most).map(|(_, bytes)| bytes);
            }
        }
        self.reader().bytes(Request::Object {
            id: id.to_string(),
            kind: kind.into(),
            most,
        })
    }

    /// Returns the bytes of blobs, each at most so many, by one question; the last is the one over which the reader was lost, if it was.
    pub(crate) fn read_all(&self, blobs: &[&BlobId], most: u64) -> Vec<Result<Vec<u8>, RepoError>> {
        let ids = blobs.iter().map(|blob| blob.0.clone()).collect();
        let mut read = Vec::with_capacity(blobs.len());
        let answer = self.reader().ask_for_parts(Request::Blobs { ids, most }, &mut |part| {
            read.push(match part.value::<Option<RepoError>>() {
                Ok(None) => Ok(part.bytes),
                Ok(Some(error)) | Err(error) => Err(error),
            });
            ControlFlow::Continue(())
        });
        if let Err(error) = answer {
            read.push(Err(error));
        }
        read
    }

    /// Refuses a tree that is too large or too deep to be listed.
    pub(crate) fn measure(&self, tree: Oid) -> Result<(), RepoError> {
        let tree = tree.to_string();
        self.reader().bytes(Request::Measure { tree }).map(drop)
    }

    /// Returns the size of a blob; none if it is missing.
    pub(crate) fn blob_size(&self, id: Oid) -> Result<Option<u64>, RepoError> {
        let id = id.to_string();
        self.reader().ask(Request::Size { id })
    }

    /// Returns whether this version of a file is here, in the repository or in our own database.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn has_blob(&self, blob: &BlobId) -> Result<bool, RepoError> {
        match Oid::from_str(&blob.0) {
            Ok(id) => Ok(self.blob_size(id)?.is_some()),
            Err(_) => Ok(false),
        }
    }

    /// Keeps a version of a file in our own database, whether a run needs it or not.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn keep_text(&self, text: &str) -> Result<BlobId, RepoError> {
        let id = self.write(ObjectType::Blob, text.as_bytes())?;
        let folder = self.own().path().to_owned();
        in_use::keep_always(&folder, id)?;
        Ok(BlobId(id.to_string()))
    }

    /// Writes an object into our own database.
    pub(crate) fn write(&self, kind: ObjectType, data: &[u8]) -> Result<Oid, RepoError> {
        let own = self.own();
        own.odb()
            .and_then(|odb| odb.write(kind, data))
            .map_err(RepoError::git("writing into the object store"))
    }

    /// Copies all objects of our own database that the repository does not have into the repository, as loose ones. Each is written beside its place and
    /// renamed, under a name that git clears away where that does not happen.
    pub(crate) fn copy_into(&self, repository: &Repository) -> Result<(), RepoError> {
        let from = self.own().path().join("objects");
        let mut ids = Vec::new();
        for folder in fs::read_dir(&from).map_err(RepoError::io("reading", &from))?.flatten() {
            let two = folder.file_name().to_string_lossy().into_owned();
            for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                let id = two.clone() + &file.file_name().to_string_lossy();
                if Oid::from_str(&id).is_ok() && id.len() == 40 {
                    ids.push(id);
                }
            }
        }
        let missing: Vec<String> = repository.reader().ask(Request::Missing { ids })?;
        let to = repository.common_dir().join("objects");
        if missing.is_empty() {
            return Ok(());
        }
        let to = Root::open(&to)?;
        for id in missing {
            let (two, rest) = id.split_at(2);
            let bytes = fs::read(from.join(two).join(rest)).map_err(RepoError::io("reading a new object in", &from))?;
            let folder = to.make(Path::new(two))?;
            place_object(&folder, rest, &bytes).map_err(to.failed("writing an object into", two))?;
        }
        Ok(())
    }

    /// Copies an object into our own database, unless it is there.
    pub(crate) fn keep(&self, id: Oid, kind: ObjectType) -> Result<(), RepoError> {
        let kept = {
            let own = self.own();
            let odb = own.odb().map_err(RepoError::git("opening the object store"))?;
            odb.exists_ext(id, OdbLookupFlags::NO_REFRESH)
        };
        if !kept {
            let data = self.read(id, kind)?;
            self.write(kind, &data)?;
        }
        Ok(())
    }
}

/// Writes one loose object. Nobody may change it, as git has it.
fn place_object(folder: &Dir, name: &str, bytes: &[u8]) -> io::Result<()> {
    let apart = format!("tmp_obj_{}", new_mark());
    let file = Prepared::write(folder.try_clone()?, apart, bytes, WriteMode::Exactly(Some(0o444)))?;
    file.put(folder, OsStr::new(name))
}

/// Returns a bare repository that only its owner can read. It is made apart and moved to its place part by part, the
/// part that it is known by last: whoever is killed over it, or is not alone in making it, leaves what the next one
/// completes.
fn create(folder: &Path) -> Result<(), RepoError> {
    private::create_folder(folder).map_err(RepoError::io("creating", folder))?;
    private::restrict(folder, private::FOLDER).map_err(RepoError::io("setting the permissions of", folder))?;
    // Whoever clears away what others left of a store waits for it.
    let _held = in_use::hold(folder);
    let apart = tempfile::Builder::new()
        .prefix(MADE_APART)
        .tempdir_in(folder)
        .map_err(RepoError::io("creating a folder in", folder))?;
    let mut options = RepositoryInitOptions::new();
    options.bare(true).external_template(false).initial_head("none");
    git2::Repository::init_opts(apart.path(), &options).map_err(RepoError::git("creating the object store"))?;
    for part in PARTS {
        let place = folder.join(part);
        match fs::rename(apart.path().join(part), &place) {
            // A folder that is there already is as good.
            Err(_) if place.is_dir() => {}
            moved => moved.map_err(RepoError::io("creating", &place))?,
        }
    }
    Ok(())
}
