//! What can go wrong with a repository: a code for programs, a sentence and a remedy for people.

use crate::{Conflict, PatchError, RepositoryProgram};
use magis_core::{ChangeError, RepoPath, SkipReason};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::PathBuf;
use std::{fmt, io};
use thiserror::Error;

/// Why something could not be done with a repository.
#[derive(Debug, Error, Serialize, Deserialize)]
pub enum RepoError {
    #[error("there is no folder '{}'", .0.display())]
    NoSuchFolder(PathBuf),
    /// The folder lies in no repository.
    #[error("'{}' is not inside a git repository", .0.display())]
    NotARepository(PathBuf),
    /// A repository without a work tree.
    #[error("'{}' is a bare repository: it has no work tree", .0.display())]
    Bare(PathBuf),
    /// `HEAD` names a branch without a commit.
    #[error("'{}' has no commit yet", .0.display())]
    NoCommit(PathBuf),
    /// The operating system refuses access.
    #[error("'{}' cannot be accessed: permission denied", .0.display())]
    PermissionDenied(PathBuf),
    /// Git's own safety rule: the repository belongs to somebody else.
    #[error("'{}' belongs to another user, so git refuses to open it", .0.display())]
    ForeignOwner(PathBuf),
    /// Objects are named by SHA-256.
    #[error("'{}' names its objects by SHA-256, which this program cannot read yet", .0.display())]
    Sha256(PathBuf),
    /// References are kept in a reftable.
    #[error("'{}' keeps its references in a reftable, which this program cannot read yet", .0.display())]
    Reftable(PathBuf),
    /// Objects are fetched on demand.
    #[error("'{}' is a partial clone: objects are fetched from its remote on demand, which this program never does", .0.display())]
    PartialClone(PathBuf),
    /// Another extension of the repository format.
    #[error("'{}' uses the repository extension '{extension}', which this program does not know", .path.display())]
    UnsupportedExtension { path: PathBuf, extension: String },
    /// The index is kept in a form libgit2 cannot read.
    #[error("'{}' has a split or sparse index, which this program cannot read", .0.display())]
    UnsupportedIndex(PathBuf),
    /// An object is in neither the repository nor our own store.
    #[error("the {kind} {id} is missing")]
    ObjectMissing {
        /// Blob, tree or commit.
        kind: Cow<'static, str>,
        id: String,
    },
    /// A file that git or we would open is a pipe, a device or the like, or a link to one.
    #[error("'{}' is {what}, and an ordinary file is expected there", .path.display())]
    NotOrdinary { path: PathBuf, what: Cow<'static, str> },
    /// A pattern of a file of rules could be compared with a name in too many ways.
    #[error("a pattern in '{}' has so many stars that comparing it with '{name}' would not end", .file.display())]
    SlowRule { file: PathBuf, name: String },
    /// A file that git or we would read as a whole is too large.
    #[error("'{}' has {bytes} bytes, over the limit of {limit}", .path.display())]
    FileTooLarge {
        path: PathBuf,
        bytes: u64,
        /// The most that is read.
        limit: u64,
    },
    /// An object is too large to be read.
    #[error("the {kind} {id} has {bytes} bytes, over the limit of {limit}")]
    ObjectTooLarge {
        /// Blob, tree or commit.
        kind: Cow<'static, str>,
        id: String,
        bytes: u64,
        /// The most that is read.
        limit: u64,
    },
    /// A tree stands for more than can be listed.
    #[error("the tree {tree} has {} {of}, over the limit of {limit}", number(*.count))]
    TreeTooLarge {
        tree: String,
        /// How much of it there is.
        count: u64,
        of: Cow<'static, str>,
        /// The most that is listed.
        limit: u64,
    },
    /// The folders of a tree lie too deep in one another.
    #[error("the folders of the tree {tree} lie more than {limit} deep in one another")]
    TreeTooDeep {
        tree: String,
        /// How deep they may lie.
        limit: usize,
    },
    /// The folders of the work tree lie too deep in one another.
    #[error("folders in '{}' lie more than {limit} deep in one another", .path.display())]
    FoldersTooDeep {
        /// The root of the work tree.
        path: PathBuf,
        /// How deep they may lie.
        limit: usize,
    },
    #[error("there is no revision '{0}'")]
    RevisionNotFound(String),
    /// A short id that several objects share.
    #[error("the revision '{0}' is ambiguous")]
    RevisionAmbiguous(String),
    /// A revision that names no commit.
    #[error("the revision '{0}' names no commit")]
    RevisionNotACommit(String),
    /// The path of the repository cannot be handed to libgit2.
    #[error("the path '{}' is not UTF-8, which is not supported", .0.display())]
    PathNotUtf8(PathBuf),

    /// A change of a file the base does not have.
    #[error("the base has no file '{0}' to change")]
    NoSuchFile(RepoPath),
    /// Two changes of one file.
    #[error("'{0}' is changed twice")]
    ChangedTwice(RepoPath),
    /// A file is created, or moved to, where one stands.
    #[error("'{0}' exists already")]
    AlreadyExists(RepoPath),
    /// Two changes end at the same path, or one needs a folder where a file stands.
    #[error("two files, or a file and a folder, meet at '{0}'")]
    Collision(String),
    /// A file that cannot be edited as text.
    #[error("'{path}' cannot be changed: {reason}")]
    NotText { path: RepoPath, reason: SkipReason },
    /// Edits do not fit the file.
    #[error("the edits of '{path}' do not fit: {source}")]
    #[serde(skip)]
    Edits { path: RepoPath, source: ChangeError },

    /// The patch of a change would hold bytes that are no text.
    #[error("the patch would not be UTF-8 text")]
    PatchNotUtf8,
    /// A patch that cannot be read.
    #[error(transparent)]
    #[serde(skip)]
    Patch(#[from] PatchError),
    /// A selection that names a hunk the patch does not have.
    #[error("the patch has no hunk {0}")]
    NoSuchHunk(u32),
    /// A selection without a hunk.
    #[error("nothing of the patch is selected")]
    NothingSelected,
    /// The patch does not apply.
    #[error("the patch does not apply: {}", first(.0))]
    Conflicts(Vec<Conflict>),
    /// The patch builds on uncommitted work, so that the commit below it cannot take it.
    #[error("the change builds on uncommitted work and does not apply to its commit: {}", first(.0))]
    NeedsUncommitted(Vec<Conflict>),
    /// The base commit is gone from the repository.
    #[error("the base commit {0} is no longer in the repository")]
    BaseGone(String),
    /// The branch name is not allowed.
    #[error("'{0}' is no valid branch name")]
    BranchName(String),
    /// The branch is there.
    #[error("the branch '{0}' exists already")]
    BranchExists(String),
    /// Another program is changing the branch, or was killed over it.
    #[error("another program holds the lock of the branch '{0}'")]
    BranchLocked(String),
    /// No name and mail address for the commit.
    #[error("the repository has no user.name and user.email for a commit")]
    IdentityMissing,
    /// A name or an address git refuses.
    #[error("'{0}' cannot be used as the author of a commit")]
    IdentityInvalid(String),
    /// Commits are to be signed and signing failed.
    #[error("the commit could not be signed: {0}")]
    Signing(String),
    /// A hook refused the commit.
    #[error("the hook '{hook}' refused the commit: {output}")]
    HookRefused { hook: Cow<'static, str>, output: String },
    /// The repository names programs that git would run for a commit, and nobody decided about them.
    #[error("the repository '{}' names programs that would be run: {}", .repository.display(), named(.programs))]
    ProgramsUndecided {
        repository: PathBuf,
        programs: Vec<RepositoryProgram>,
    },
    /// What was applied has changed since.
    #[error("it cannot be undone: {}", .0.join(", "))]
    ChangedSince(Vec<String>),

    /// The process that reads the repository ended, or gave no answer.
    #[error("reading '{}' broke off: {how}", .repository.display())]
    ReadingLost { repository: PathBuf, how: String },
    /// A repository whose files lie elsewhere by its own configuration.
    #[error("the configuration of '{}' says that its files lie in '{}'", .repository.display(), .elsewhere.display())]
    ForeignWorkTree { repository: PathBuf, elsewhere: PathBuf },

    /// A file could not be read or written.
    #[error("{attempt} '{}' failed: {source}", .path.display())]
    Io {
        attempt: Cow<'static, str>,
        path: PathBuf,
        /// What the operating system says.
        #[serde(with = "system_error")]
        source: io::Error,
    },
    /// A file could not be written, and what was written before could not all be taken back.
    #[error("{cause}; these files could not be brought back: {}", .left.join(", "))]
    HalfDone {
        cause: String,
        /// The files that stay changed.
        left: Vec<String>,
    },
    /// Nothing was changed, but what had been written beside the files for it could not be removed.
    #[error("{cause}; what was prepared for it is still there: {why}")]
    LeftBehind {
        cause: String,
        /// Why it could not be removed.
        why: String,
    },
    /// Anything else libgit2 says.
    #[error("{attempt} failed: {source}")]
    Git {
        attempt: Cow<'static, str>,
        /// What libgit2 says.
        source: GitMessage,
    },
}

/// What libgit2 says of a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GitMessage(String);

impl From<git2::Error> for GitMessage {
    fn from(error: git2::Error) -> Self {
        Self(error.message().to_owned())
    }
}

impl fmt::Display for GitMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for GitMessage {}

/// An error of the operating system between two processes: by its number, or by its words where it has none.
mod system_error {
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};
    use std::io::Error;

    pub(super) fn serialize<S: Serializer>(error: &Error, to: S) -> Result<S::Ok, S::Error> {
        (error.raw_os_error(), error.to_string()).serialize(to)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Error, D::Error> {
        let (number, words): (Option<i32>, String) = Deserialize::deserialize(from)?;
        Ok(number.map_or_else(|| Error::other(words), Error::from_raw_os_error))
    }
}

/// Why a file of a snapshot could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The snapshot has no such file.
    #[error("the snapshot has no file '{0}'")]
    NoSuchFile(RepoPath),
    /// The file is there and cannot be read as text.
    #[error("'{path}' cannot be read: {reason}")]
    Skipped {
        /// The file, or the id of the blob.
        path: String,
        reason: SkipReason,
    },
    /// The repository itself fails.
    #[error(transparent)]
    Repo(#[from] RepoError),
}

impl RepoError {
    /// Returns a stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSuchFolder(_) => "no_such_folder",
            Self::NotARepository(_) => "not_a_repository",
            Self::Bare(_) => "bare",
            Self::NoCommit(_) => "no_commit",
            Self::PermissionDenied(_) => "permission_denied",
            Self::ForeignOwner(_) => "foreign_owner",
            Self::Sha256(_) => "sha256",
            Self::Reftable(_) => "reftable",
            Self::PartialClone(_) => "partial_clone",
            Self::UnsupportedExtension { .. } => "unsupported_extension",
            Self::UnsupportedIndex(_) => "unsupported_index",
            Self::ObjectMissing { .. } => "object_missing",
            Self::NotOrdinary { .. } => "not_ordinary",
            Self::SlowRule { .. } => "slow_rule",
            Self::FileTooLarge { .. } => "file_too_large",
            Self::ObjectTooLarge { .. } => "object_too_large",
            Self::TreeTooLarge { .. } => "tree_too_large",
            Self::TreeTooDeep { .. } => "tree_too_deep",
            Self::FoldersTooDeep { .. } => "folders_too_deep",
            Self::RevisionNotFound(_) => "revision_not_found",
            Self::RevisionAmbiguous(_) => "revision_ambiguous",
            Self::RevisionNotACommit(_) => "revision_not_a_commit",
            Self::PathNotUtf8(_) => "path_not_utf8",
            Self::NoSuchFile(_) => "no_such_file",
            Self::ChangedTwice(_) => "changed_twice",
            Self::AlreadyExists(_) => "already_exists",
            Self::Collision(_) => "collision",
            Self::NotText { .. } => "not_text",
            Self::Edits { .. } => "edits",
            Self::PatchNotUtf8 => "patch_not_utf8",
            Self::Patch(_) => "patch",
            Self::NoSuchHunk(_) => "no_such_hunk",
            Self::NothingSelected => "nothing_selected",
            Self::Conflicts(_) => "conflicts",
            Self::NeedsUncommitted(_) => "needs_uncommitted",
            Self::BaseGone(_) => "base_gone",
            Self::BranchName(_) => "branch_name",
            Self::BranchExists(_) => "branch_exists",
            Self::BranchLocked(_) => "branch_locked",
            Self::IdentityMissing => "identity_missing",
            Self::IdentityInvalid(_) => "identity_invalid",
            Self::Signing(_) => "signing",
            Self::HookRefused { .. } => "hook_refused",
            Self::ProgramsUndecided { .. } => "programs_undecided",
            Self::ChangedSince(_) => "changed_since",
            Self::ReadingLost { .. } => "reading_lost",
            Self::ForeignWorkTree { .. } => "foreign_work_tree",
            Self::Io { .. } => "io",
            Self::HalfDone { .. } => "half_done",
            Self::LeftBehind { .. } => "left_behind",
            Self::Git { .. } => "git",
        }
    }

    /// Returns what a person can do about it, in a sentence.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NoSuchFolder(_) => "Check the path, or connect the drive it lies on.",
            Self::NotARepository(_) => "Choose a folder of a git repository, or run 'git init' and commit once.",
            Self::Bare(_) => "Clone it, or add a work tree with 'git worktree add', and choose that folder.",
            Self::NoCommit(_) => "Commit once ('git add' and 'git commit'), then open it again.",
            Self::PermissionDenied(_) => "Give your user the right to read this folder and its .git folder.",
            Self::ForeignOwner(_) => {
                "If you trust it, run 'git config --global --add safe.directory' with this folder, or change its owner."
            }
            Self::Sha256(_) => "Use a clone with SHA-1 object names, which is git's default.",
            Self::Reftable(_) => "Run 'git refs migrate --ref-format=files' in it.",
            Self::PartialClone(_) => {
                "Clone it in full, or fetch everything with 'git fetch --refetch --no-filter' \
                 and remove extensions.partialClone from its configuration."
            }
            Self::UnsupportedExtension { .. } => "Use a clone made without this extension.",
            Self::UnsupportedIndex(_) => {
                "Run 'git update-index --no-split-index', or 'git sparse-checkout reapply --no-sparse-index', in it."
            }
            Self::ObjectMissing { .. } => {
                "Run 'git fsck' in the repository; a shallow or partial clone can be completed with 'git fetch'."
            }
            Self::NotOrdinary { .. } => "Delete it, or put an ordinary file in its place.",
            Self::SlowRule { .. } => "Write that pattern with fewer stars, or delete it.",
            Self::FileTooLarge { .. } => "Make it smaller, or move it out of the repository.",
            Self::ObjectTooLarge { .. } | Self::TreeTooLarge { .. } => {
                "Take another revision; a tree of this size may have been made to fill the machine that reads it."
            }
            Self::TreeTooDeep { .. } => {
                "Take another revision; git's own limit is its setting core.maxTreeDepth, 2048 where nothing else is set."
            }
            Self::FoldersTooDeep { .. } => "Move the deepest folders up, or have git ignore the folder they lie in.",
            Self::RevisionNotFound(_) => {
                "Check its spelling; in a shallow clone older commits come with 'git fetch --unshallow'."
            }
            Self::RevisionAmbiguous(_) => "Give more digits of the commit's id.",
            Self::RevisionNotACommit(_) => "Give a branch, a tag of a commit, or a commit id.",
            Self::PathNotUtf8(_) => "Move the repository to a path without such characters.",
            Self::NoSuchFile(_) => "Change a file of the base, or create this one.",
            Self::ChangedTwice(_) => "Join the changes of this file into one.",
            Self::AlreadyExists(_) => "Modify that file instead, or choose another path.",
            Self::Collision(_) => "Drop one of the two changes, or give one another path.",
            Self::NotText { .. } => "Change this file by hand.",
            Self::Edits { .. } => "Let the change be written again for this file.",
            Self::PatchNotUtf8 => "Leave out the files that are not UTF-8.",
            Self::Patch(_) => "Use the patch as it was exported.",
            Self::NoSuchHunk(_) => "Select among the numbers shown with the patch.",
            Self::NothingSelected => "Select at least one hunk of the patch.",
            Self::Conflicts(_) => {
                "Apply to a new branch instead, deselect these hunks, or bring the files back to the run's base."
            }
            Self::NeedsUncommitted(_) => "Apply it to the working tree instead, or deselect these hunks.",
            Self::BaseGone(_) => "Apply it to the working tree, or save it as a patch file.",
            Self::BranchName(_) => "Use letters, digits, '-', '_' and '/', without spaces.",
            Self::BranchExists(_) => "Choose another name.",
            Self::BranchLocked(_) => {
                "Wait until that program is done; where none is at work, delete the file of that name in .git/refs/heads."
            }
            Self::IdentityMissing => {
                "Give a name and a mail address, or set them with 'git config user.name' and 'git config user.email'."
            }
            Self::IdentityInvalid(_) => "Give a name and an address without '<', '>' and line breaks.",
            Self::Signing(_) => "Check user.signingKey and that the signing program works, or turn off commit.gpgSign.",
            Self::HookRefused { .. } => "Change the commit message as the hook asks.",
            Self::ProgramsUndecided { .. } => {
                "Look at them, then decide once for this repository whether they are run or left out."
            }
            Self::ChangedSince(_) => "Take the change back by hand, or with git.",
            Self::HalfDone { .. } => {
                "Make sure that the folder can be written and start this program again, which brings them back; or look at them with 'git diff'."
            }
            Self::LeftBehind { .. } => {
                "Make sure that the folder can be written and start this program again, which removes it."
            }
            Self::ReadingLost { .. } => {
                "Nothing was changed. Run 'git fsck' in it: something in it is damaged, or was made to stop whoever reads it."
            }
            Self::ForeignWorkTree { .. } => "Open that folder instead, or remove core.worktree from its configuration.",
            Self::Io { .. } => "Check that the disk is not full and that the folder can be written.",
            Self::Git { .. } => "Run 'git status' and 'git fsck' in the repository to see what is wrong with it.",
        }
    }

    /// Turns an error of libgit2 into this type, saying what was attempted.
    pub(crate) fn git(attempt: &'static str) -> impl FnOnce(git2::Error) -> Self {
        move |source| Self::Git {
            attempt: attempt.into(),
            source: GitMessage::from(source),
        }
    }

    /// An answer that cannot be read, or has no written form.
    pub(crate) fn wire(reason: impl fmt::Display) -> Self {
        Self::Git {
            attempt: "talking to the process that reads the repository".into(),
            source: GitMessage(reason.to_string()),
        }
    }

    /// Turns an error of the operating system into this type, saying what was attempted with which file.
    pub(crate) fn io(attempt: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            attempt: attempt.into(),
            path,
            source,
        }
    }
}

/// Returns a number, or that none is large enough.
fn number(count: u64) -> String {
    match count {
        u64::MAX => "countless".to_owned(),
        count => count.to_string(),
    }
}

/// Returns what names each program, and where it lies.
fn named(programs: &[RepositoryProgram]) -> String {
    let named: Vec<String> = programs.iter().map(ToString::to_string).collect();
    named.join(", ")
}

/// Returns the first conflict in words, and how many more there are.
fn first(conflicts: &[Conflict]) -> String {
    match conflicts {
        [] => String::new(),
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first}, and {} more", rest.len()),
    }
}
