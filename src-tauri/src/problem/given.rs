//! Which things a problem's sentence names, so that another language can say it of the same things.
//!
//! Only what one sentence a code needs is told. Where a code has none, the English sentence stands.

use magis_core::text::bytes;
use magis_engine::EngineError;
use magis_engine::model::{AddressError, KeyError};
use magis_engine::models::LibraryError;
use magis_engine::records::{LeaseError, StoreError};
use magis_engine::repository::RepoError;
use magis_engine::tests::CommandError;
use std::collections::BTreeMap;
use std::fmt::Display;

/// The things by their names in the sentence.
pub type Given = BTreeMap<String, String>;

/// Returns the things an error names.
pub fn given(error: &EngineError) -> Given {
    match error {
        EngineError::Issue(magis_core::IssueError::OnlyAddress(address)) => named([("address", address)]),
        EngineError::NoSuchFile { path, .. } | EngineError::NothingRemembered { path } => named([("path", path)]),
        EngineError::Repo(error) => of_repository(error),
        EngineError::Store(error) | EngineError::Lease(LeaseError::Store(error)) => of_store(error),
        EngineError::Lease(LeaseError::HeldBy(lease) | LeaseError::OtherRunActive(lease)) => named([
            ("run", lease.run.to_string()),
            ("process", lease.process.pid.to_string()),
        ]),
        EngineError::Model(LibraryError::NotInstalled { id, .. }) => named([("model", id)]),
        EngineError::Model(LibraryError::Unknown { name, .. } | LibraryError::NotInLibrary { name, .. }) => {
            named([("model", name)])
        }
        EngineError::TooLittleMemory {
            model, need, available, ..
        } => named([
            ("model", model.clone()),
            ("need", bytes(*need)),
            ("available", bytes(*available)),
        ]),
        EngineError::RunOver(run)
        | EngineError::NoPatch(run)
        | EngineError::NotApplied(run)
        | EngineError::NoRepository(run)
        | EngineError::Log { run, .. } => named([("run", run)]),
        EngineError::NotRun { run, why } => named([("run", run.to_string()), ("why", why.to_string())]),
        EngineError::WhichRepository { run, roots } => {
            named([("run", run.to_string()), ("repositories", roots.join(", "))])
        }
        EngineError::OtherRepository { run, root, .. } | EngineError::RepositoryGone { run, root } => {
            named([("run", run.to_string()), ("path", root.clone())])
        }
        EngineError::TestCommand(
            CommandError::Unbalanced(line) | CommandError::Control(line) | CommandError::NoProgram(line),
        ) => named([("line", line)]),
        EngineError::OtherEngine { model, host } => named([("model", model.clone()), ("host", host.clone())]),
        EngineError::EngineAddress(AddressError::Public { host } | AddressError::PlainToName { host }) => {
            named([("host", host)])
        }
        EngineError::EngineKey(KeyError::Keyring(why)) => named([("why", why)]),
        EngineError::EngineAddress(_)
        | EngineError::EngineKey(KeyError::Form)
        | EngineError::Issue(_)
        | EngineError::Path(_)
        | EngineError::Read(_)
        | EngineError::Search(_)
        | EngineError::Lease(_)
        | EngineError::Archive(_)
        | EngineError::Model(_)
        | EngineError::Llm(_)
        | EngineError::Prompt(_)
        | EngineError::OverBudget { .. }
        | EngineError::Steering { .. }
        | EngineError::Step { .. }
        | EngineError::Patch { .. }
        | EngineError::EmptySummary { .. }
        | EngineError::MemoryFile(_)
        | EngineError::Summary { .. }
        | EngineError::NotIsolated(_)
        | EngineError::Sandbox(_)
        | EngineError::Layer(_)
        | EngineError::TestCommand(CommandError::Empty)
        | EngineError::Selection(_)
        | EngineError::NoHome
        | EngineError::Io { .. } => Given::new(),
        EngineError::DataFolderTaken { folder, name } => {
            named([("path", folder.display().to_string()), ("name", name.clone())])
        }
        EngineError::DataFolderOpen(folder) => named([("path", folder.display())]),
    }
}

fn of_repository(error: &RepoError) -> Given {
    match error {
        RepoError::NoSuchFolder(path)
        | RepoError::NotARepository(path)
        | RepoError::Bare(path)
        | RepoError::NoCommit(path)
        | RepoError::PermissionDenied(path)
        | RepoError::ForeignOwner(path)
        | RepoError::Sha256(path)
        | RepoError::Reftable(path)
        | RepoError::PartialClone(path)
        | RepoError::UnsupportedIndex(path)
        | RepoError::NotOrdinary { path, .. }
        | RepoError::SlowRule { file: path, .. } => named([("path", path.display())]),
        RepoError::FileTooLarge { path, bytes, limit } => named([
            ("path", path.display().to_string()),
            ("bytes", bytes.to_string()),
            ("limit", limit.to_string()),
        ]),
        RepoError::TreeTooLarge { count, limit, .. } => {
            named([("count", count.to_string()), ("limit", limit.to_string())])
        }
        RepoError::TreeTooDeep { limit, .. } | RepoError::FoldersTooDeep { limit, .. } => named([("limit", limit)]),
        RepoError::UnsupportedExtension { path, extension } => {
            named([("path", path.display().to_string()), ("extension", extension.clone())])
        }
        RepoError::RevisionNotFound(revision)
        | RepoError::RevisionAmbiguous(revision)
        | RepoError::RevisionNotACommit(revision)
        | RepoError::BaseGone(revision) => named([("revision", revision)]),
        RepoError::BranchName(branch) | RepoError::BranchExists(branch) => named([("branch", branch)]),
        RepoError::Conflicts(conflicts) | RepoError::NeedsUncommitted(conflicts) => {
            named([("conflicts", conflicts.len())])
        }
        RepoError::ReadingLost { repository, how } => {
            named([("path", repository.display().to_string()), ("how", how.clone())])
        }
        RepoError::ForeignWorkTree { repository, elsewhere } => {
            named([("path", repository.display()), ("elsewhere", elsewhere.display())])
        }
        RepoError::ProgramsUndecided { repository, programs } => {
            let programs: Vec<String> = programs.iter().map(ToString::to_string).collect();
            named([
                ("path", repository.display().to_string()),
                ("programs", programs.join(", ")),
            ])
        }
        RepoError::ChangedSince(files) => named([("files", files.join(", "))]),
        _ => Given::new(),
    }
}

fn of_store(error: &StoreError) -> Given {
    match error {
        StoreError::Locked { path, .. }
        | StoreError::Damaged { path, .. }
        | StoreError::Full { path, .. }
        | StoreError::NotOurs { path }
        | StoreError::Denied { path, .. }
        | StoreError::NoWriteAheadLog { path, .. } => named([("path", path.display())]),
        StoreError::NewerSchema { path, found, known } => named([
            ("path", path.display().to_string()),
            ("found", found.to_string()),
            ("known", known.to_string()),
        ]),
        StoreError::NoRun(run) => named([("run", run)]),
        StoreError::RunActive { run, pid, .. } => named([("run", run.to_string()), ("process", pid.to_string())]),
        _ => Given::new(),
    }
}

/// Things by the names that a sentence has for them.
pub fn named<T: Display, const N: usize>(things: [(&str, T); N]) -> Given {
    things
        .into_iter()
        .map(|(name, thing)| (name.to_owned(), thing.to_string()))
        .collect()
}
