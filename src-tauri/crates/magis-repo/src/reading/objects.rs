//! The objects of a store of ours and of the repository behind it, for reading.

use super::{Frame, Parts, bounds};
use crate::tree_entry::{self, Entry};
use crate::tree_walk::join;
use crate::{FileEntry, FileMode, Listed, MAX_FILE_BYTES, RepoError, ordinary};
use git2::{ErrorCode, ObjectType, Odb, Oid};
use magis_core::{BlobId, RepoPath, SkipReason, SkippedFile};
use std::fs;
use std::path::Path;

/// Names the file that says where the repository's objects lie.
pub(crate) const SOURCE: &str = "magis-source";
/// The number of files after which a part is told.
const PART: usize = 256;

/// Our objects and the repository's.
pub(crate) struct Objects {
    joined: git2::Repository,
}

impl Objects {
    /// Opens the store in `folder`. Its repository is still read where it was if it is there.
    pub fn open(folder: &Path) -> Result<Self, RepoError> {
        let attempt = "opening the object store";
        let joined = git2::Repository::open_bare(folder).map_err(RepoError::git(attempt))?;
        let source = folder.join(SOURCE);
        let objects = fs::read_to_string(&source).map_err(RepoError::io("reading", &source))?;
        ordinary::objects(Path::new(&objects))?;
        joined
            .odb()
            .and_then(|odb| odb.add_disk_alternate(&objects))
            .map_err(RepoError::git("reading the repository's objects"))?;
        Ok(Self { joined })
    }

    pub fn handle(&self) -> &git2::Repository {
        &self.joined
    }

    pub fn odb(&self) -> Result<Odb<'_>, RepoError> {
        self.joined.odb().map_err(RepoError::git("opening the object store"))
    }

    pub fn read(&self, id: &str, kind: ObjectType, most: Option<u64>) -> Result<(ObjectType, Vec<u8>), RepoError> {
        bounds::read_at_most(&self.odb()?, id_of(id, kind.str())?, kind, most)
    }

    /// Tells the bytes of blobs, or why one cannot be read, a part for each.
    pub fn blobs(&self, ids: &[String], most: u64, parts: Parts<'_>) -> Result<Frame, RepoError> {
        let odb = self.odb()?;
        for id in ids {
            let kind = ObjectType::Blob;
            let read = id_of(id, kind.str()).and_then(|id| bounds::read_at_most(&odb, id, kind, Some(most)));
            let part = match read {
                Ok((_, bytes)) => Frame::of(&None::<RepoError>)?.with(bytes),
                Err(error) => Frame::of(&Some(error))?,
            };
            if parts(part).is_break() {
                break;
            }
        }
        Ok(Frame::default())
    }

    /// Returns the size of a blob; none if it is missing.
    pub fn size(&self, id: &str) -> Result<Option<u64>, RepoError> {
        size(&self.odb()?, id_of(id, "blob")?)
    }

    /// Tells all files of a tree, some in each part; ends with how many there are and what is left out.
    pub fn files(&self, root: &str, parts: Parts<'_>) -> Result<Frame, RepoError> {
        let root = id_of(root, "tree")?;
        let odb = self.odb()?;
        // Parts without a file: the caller waits for the next one anew.
        let none = Frame::of(&Vec::<FileEntry>::new())?;
        bounds::measure(&odb, root, || {
            let _goes_on = parts(Frame {
                json: none.json.clone(),
                bytes: Vec::new(),
            });
        })?;
        let (mut files, mut skipped): Listed = (Vec::new(), Vec::new());
        // Folders that are still to be listed; not by recursion, since how deep they lie is the repository's choice.
        let mut left = vec![(root, Vec::new())];
        while let Some((tree, folder)) = left.pop() {
            let entries = match bounds::read(&odb, tree, ObjectType::Tree) {
                Ok((_, data)) => tree_entry::parsed(tree, &data)?,
                Err(RepoError::ObjectMissing { .. }) if !folder.is_empty() => {
                    skipped.push(left_out(&join(&folder, b""), SkipReason::Missing));
                    continue;
                }
                Err(error) => return Err(error),
            };
            for entry in entries {
                let path = join(&folder, &entry.name);
                if entry.mode == tree_entry::TREE {
                    left.push((entry.id, path));
                    continue;
                }
                match file(&odb, &entry, &path)? {
                    Ok(file) => files.push(file),
                    Err(reason) => skipped.push(left_out(&path, reason)),
                }
                if files.len() == PART && parts(Frame::of(&std::mem::take(&mut files))?).is_break() {
                    return Ok(Frame::default());
                }
            }
        }
        Frame::of(&(files, skipped))
    }
}

/// Returns the size of a blob; none if it is missing.
fn size(odb: &Odb<'_>, id: Oid) -> Result<Option<u64>, RepoError> {
    match odb.read_header(id) {
        Ok((bytes, _)) => Ok(Some(bytes as u64)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(source) => Err(RepoError::git("reading the size of a file")(source)),
    }
}

/// Returns the entry as a file, or why it is left out.
fn file(odb: &Odb<'_>, entry: &Entry, path: &[u8]) -> Result<Result<FileEntry, SkipReason>, RepoError> {
    if let Some(reason) = entry.special() {
        return Ok(Err(reason));
    }
    let path = std::str::from_utf8(path).ok().and_then(|path| RepoPath::new(path).ok());
    let Some(path) = path else {
        return Ok(Err(SkipReason::UnsupportedPath));
    };
    let mode = if entry.mode & 0o111 == 0 {
        FileMode::Regular
    } else {
        FileMode::Executable
    };
    Ok(match size(odb, entry.id)? {
        None => Err(SkipReason::Missing),
        Some(bytes) if bytes > MAX_FILE_BYTES => Err(SkipReason::TooLarge {
            bytes,
            limit: MAX_FILE_BYTES,
        }),
        Some(bytes) => Ok(FileEntry {
            path,
            blob: BlobId(entry.id.to_string()),
            mode,
            bytes,
        }),
    })
}

fn left_out(path: &[u8], reason: SkipReason) -> SkippedFile {
    SkippedFile {
        path: String::from_utf8_lossy(path).into_owned(),
        reason,
    }
}

/// Returns an object's id; one that cannot be an id is of no object.
pub(crate) fn id_of(text: &str, kind: &'static str) -> Result<Oid, RepoError> {
    Oid::from_str(text).map_err(|_| RepoError::ObjectMissing {
        kind: kind.into(),
        id: text.to_owned(),
    })
}
