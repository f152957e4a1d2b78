//! What strangers wrote is read here: by libgit2, whose faults a repository can be made for. So this part runs in a process of its own that can be lost, see
//! [`Git`](crate::Git); in tests it runs in theirs.
//!
//! A [`Request`] goes in and frames come out: parts, where there is much to tell, and one that ends it. Nothing is written here but memory.

pub(crate) mod bounds;
mod built;
mod commit_settings;
mod depth;
mod filter;
mod history;
mod ignored;
mod line_ends;
mod objects;
mod opened;
mod staged;
mod state;
mod tree_diff;
mod uncommitted;
pub(crate) mod watch;
mod work_tree;

pub(crate) use commit_settings::CommitSettings;
pub use history::MOST_CHANGED;
pub(crate) use history::{Met, Trees};
pub(crate) use line_ends::NewLines;
pub(crate) use objects::{SOURCE, id_of};
pub(crate) use opened::Opened;
pub(crate) use uncommitted::{ChangedFile, NewContent};
pub(crate) use work_tree::{Looked, Seen};

use crate::stop::Stop;
use crate::{BaseChoice, HeadPlace, RepoError, WatchOptions};
use git2::ObjectType;
use magis_core::{Base, BlobId, CommitId, RepoPath};
use objects::Objects;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::PathBuf;
use work_tree::Cleaner;

/// What is asked of whoever reads. All but the first two are about what one of these has opened.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Open the repository around a folder.
    Open {
        path: PathBuf,
    },
    /// Open a store of ours with the objects of the repository behind it.
    OpenStore {
        folder: PathBuf,
    },

    State,
    Branches,
    HeadPlace,
    Has {
        base: Base,
    },
    CommitsSince {
        commit: CommitId,
    },
    /// The commit and the tree that a run is to be based on.
    Base {
        choice: BaseChoice,
    },
    /// What the work tree has otherwise than a tree, a part for each file.
    Uncommitted {
        head: String,
    },
    BuiltFiles,
    /// How the lines of a new file at this path end.
    NewLines {
        path: RepoPath,
    },
    /// What the configuration says of commits.
    CommitSettings,
    /// All files of the work tree.
    WorkTree,
    /// These files of the work tree.
    LookAt {
        paths: Vec<RepoPath>,
    },
    /// The bytes of a file of the work tree in one version.
    WorkFile {
        path: RepoPath,
        blob: BlobId,
    },
    /// What changes, a part for each event, until the end of the process.
    Watch {
        options: WatchOptions,
        /// What the caller knows of `HEAD`.
        head: HeadPlace,
    },

    /// The bytes of an object.
    Object {
        id: String,
        kind: ObjectKind,
        /// The most bytes that are asked for; none: as many as are read of any object.
        most: Option<u64>,
    },
    /// The bytes of these blobs, or why one cannot be read, a part for each.
    Blobs {
        ids: Vec<String>,
        /// The most bytes that are asked for of each.
        most: u64,
    },
    /// Those of these objects that the repository does not have.
    Missing {
        ids: Vec<String>,
    },
    /// The size of a blob.
    Size {
        id: String,
    },
    /// Whether a tree can be listed. Parts say that it is still looked at.
    Measure {
        tree: String,
    },
    /// The files of a tree, some in each part.
    Files {
        tree: String,
    },
    /// The commits before and with one, newest first.
    Walk {
        from: CommitId,
        most: usize,
    },
    /// What these commits say and changed, a part for each.
    Commits {
        ids: Vec<CommitId>,
    },
    /// The tree of a commit, and of the one before it.
    CommitTrees {
        commit: CommitId,
    },
    TreeDiff {
        old: String,
        new: String,
    },
}

impl Request {
    /// Returns whether it opens what the others are about.
    pub fn opens(&self) -> bool {
        matches!(self, Self::Open { .. } | Self::OpenStore { .. })
    }
}

/// The kinds of git's objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ObjectKind {
    Blob,
    Tree,
    Commit,
    /// Whatever the object turns out to be; in an answer, a tag.
    Any,
}

impl From<ObjectType> for ObjectKind {
    fn from(kind: ObjectType) -> Self {
        match kind {
            ObjectType::Blob => Self::Blob,
            ObjectType::Tree => Self::Tree,
            ObjectType::Commit => Self::Commit,
            ObjectType::Any | ObjectType::Tag => Self::Any,
        }
    }
}

impl From<ObjectKind> for ObjectType {
    fn from(kind: ObjectKind) -> Self {
        match kind {
            ObjectKind::Blob => Self::Blob,
            ObjectKind::Tree => Self::Tree,
            ObjectKind::Commit => Self::Commit,
            ObjectKind::Any => Self::Any,
        }
    }
}

/// A value in JSON, and bytes beside it.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    pub json: Vec<u8>,
    pub bytes: Vec<u8>,
}

impl Frame {
    pub fn of(value: &impl Serialize) -> Result<Self, RepoError> {
        let json = serde_json::to_vec(value).map_err(RepoError::wire)?;
        Ok(Self {
            json,
            bytes: Vec::new(),
        })
    }

    pub fn with(self, bytes: Vec<u8>) -> Self {
        Self { bytes, ..self }
    }

    pub fn value<T: DeserializeOwned>(&self) -> Result<T, RepoError> {
        serde_json::from_slice(&self.json).map_err(RepoError::wire)
    }
}

/// Takes the parts of an answer, and says whether there shall be more.
pub(crate) type Parts<'a> = &'a mut dyn FnMut(Frame) -> ControlFlow<()>;

/// What was opened for reading.
#[derive(Default)]
pub(crate) struct Reading {
    repository: Option<Opened>,
    objects: Option<Objects>,
    /// Kept over the reading of many files.
    cleaner: Option<Cleaner>,
    /// Ends a watching that waits.
    stop: Stop,
}

impl Reading {
    /// Has a watching end when `stop` says so.
    pub fn stop_by(&mut self, stop: Stop) {
        self.stop = stop;
    }

    /// Answers a request. Where `parts` broke it off, what is returned says nothing.
    pub fn answer(&mut self, request: Request, parts: Parts<'_>) -> Result<Frame, RepoError> {
        match request {
            Request::Open { path } => {
                let opened = Opened::open(path)?;
                let frame = Frame::of(&opened)?;
                self.repository = Some(opened);
                Ok(frame)
            }
            Request::OpenStore { folder } => {
                self.objects = Some(Objects::open(&folder)?);
                Ok(Frame::default())
            }
            Request::State => Frame::of(&state::read(self.repository()?)?),
            Request::Branches => Frame::of(&self.repository()?.branches()?),
            Request::HeadPlace => Frame::of(&self.repository()?.head_place()?),
            Request::Has { base } => Frame::of(&self.repository()?.has(&base)?),
            Request::CommitsSince { commit } => Frame::of(&self.repository()?.commits_since(&commit)?),
            Request::Base { choice } => Frame::of(&self.repository()?.base(&choice)?),
            Request::Uncommitted { head } => {
                let head = id_of(&head, "tree")?;
                Frame::of(&uncommitted::changes(self.repository()?, head, parts)?)
            }
            Request::BuiltFiles => Frame::of(&built::files(self.repository()?)?),
            Request::NewLines { path } => Frame::of(&filter::new_lines(self.repository()?, &path)?),
            Request::CommitSettings => Frame::of(&CommitSettings::read(self.repository()?)?),
            Request::WorkTree => {
                self.cleaner = None;
                Frame::of(&work_tree::all(self.repository()?)?)
            }
            Request::LookAt { paths } => {
                self.cleaner = None;
                Frame::of(&work_tree::some(self.repository()?, &paths)?)
            }
            Request::WorkFile { path, blob } => {
                let cleaner = match self.cleaner.take() {
                    Some(cleaner) => cleaner,
                    None => Cleaner::open(self.repository()?)?,
                };
                let found = cleaner.version(self.repository()?, &path, &blob)?;
                self.cleaner = Some(cleaner);
                Ok(Frame::of(&found.is_some())?.with(found.unwrap_or_default()))
            }
            Request::Watch { options, head } => {
                watch::follow(self.repository()?, options, head, &self.stop, parts);
                Ok(Frame::default())
            }
            Request::Object { id, kind, most } => {
                let (kind, bytes) = match &self.objects {
                    Some(objects) => objects.read(&id, kind.into(), most)?,
                    None => self.repository()?.object(&id, kind.into())?,
                };
                Ok(Frame::of(&ObjectKind::from(kind))?.with(bytes))
            }
            Request::Blobs { ids, most } => self.objects()?.blobs(&ids, most, parts),
            Request::Missing { ids } => Frame::of(&self.repository()?.missing(ids)?),
            Request::Size { id } => Frame::of(&self.objects()?.size(&id)?),
            Request::Measure { tree } => {
                let tree = id_of(&tree, "tree")?;
                // A part that says nothing: the caller waits for the next one anew.
                let beat = || {
                    let _goes_on = parts(Frame::default());
                };
                match &self.objects {
                    Some(objects) => bounds::measure(&objects.odb()?, tree, beat)?,
                    None => {
                        let handle = self.repository()?.handle()?;
                        let odb = handle.odb().map_err(RepoError::git("opening the objects"))?;
                        bounds::measure(&odb, tree, beat)?;
                    }
                }
                Ok(Frame::default())
            }
            Request::Files { tree } => self.objects()?.files(&tree, parts),
            Request::Walk { from, most } => {
                let beat = || {
                    let _goes_on = parts(Frame::default());
                };
                Frame::of(&self.objects()?.walk(&from, most, beat)?)
            }
            Request::Commits { ids } => self.objects()?.commits(&ids, parts),
            Request::CommitTrees { commit } => Frame::of(&self.objects()?.commit_trees(&commit)),
            Request::TreeDiff { old, new } => {
                let (old, new) = (id_of(&old, "tree")?, id_of(&new, "tree")?);
                Ok(Frame::default().with(tree_diff::of(self.objects()?, old, new)?))
            }
        }
    }

    fn repository(&self) -> Result<&Opened, RepoError> {
        self.repository
            .as_ref()
            .ok_or_else(|| RepoError::wire("no repository is open"))
    }

    fn objects(&self) -> Result<&Objects, RepoError> {
        self.objects.as_ref().ok_or_else(|| RepoError::wire("no store is open"))
    }
}
