//! A git repository in a temporary folder, or in a given one, with fixed dates and identities and a configuration of its own.

use git2::{IndexAddOption, Oid, RepositoryInitOptions, Signature, Time};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// When the first commit of a fixture is made, in seconds since 1970; each further one a minute later.
const FIRST_COMMIT: i64 = 1_700_000_000;

/// A repository in a temporary folder, which goes with it, or in a given one. All steps panic when they fail: this is for tests.
pub struct FixtureRepo {
    folder: PathBuf,
    /// Goes with the repository.
    _temporary: Option<TempDir>,
    repository: git2::Repository,
    commits: Cell<i64>,
}

impl Default for FixtureRepo {
    fn default() -> Self {
        Self::new()
    }
}

impl FixtureRepo {
    /// Creates an empty repository on the unborn branch `main`.
    pub fn new() -> Self {
        Self::of_temporary(temporary(), &mut RepositoryInitOptions::new())
    }

    /// Creates one that lies in the machine's memory, where the system has a folder for that: for tests with thousands of writes, each of which waits for the
    /// disk otherwise.
    pub fn in_memory() -> Self {
        let folder = TempDir::new_in("/dev/shm").unwrap_or_else(|_| temporary());
        Self::of_temporary(folder, &mut RepositoryInitOptions::new())
    }

    /// Returns a bare repository without a commit.
    pub fn bare() -> Self {
        Self::of_temporary(temporary(), RepositoryInitOptions::new().bare(true))
    }

    /// Creates an empty repository in a folder, which stays; places beside it lie in that folder.
    pub fn in_folder(folder: &Path) -> Self {
        Self::init(folder, None, &mut RepositoryInitOptions::new())
    }

    fn of_temporary(folder: TempDir, options: &mut RepositoryInitOptions) -> Self {
        let place = folder.path().to_owned();
        Self::init(&place, Some(folder), options)
    }

    fn init(folder: &Path, temporary: Option<TempDir>, options: &mut RepositoryInitOptions) -> Self {
        let root = folder.join("repository");
        options.initial_head("main").external_template(false);
        let repository = git2::Repository::init_opts(&root, options).expect("a repository can be made there");
        let fixture = Self {
            folder: folder.to_owned(),
            _temporary: temporary,
            repository,
            commits: Cell::new(0),
        };
        for (key, value) in [
            ("user.name", "Ada Fixture"),
            ("user.email", "ada@example.com"),
            ("core.autocrlf", "false"),
            ("commit.gpgsign", "false"),
            ("gc.auto", "0"),
        ] {
            fixture.config(key, value);
        }
        fixture
    }

    /// Returns the root of the work tree; of a bare repository, the repository itself.
    pub fn root(&self) -> &Path {
        self.repository.workdir().unwrap_or_else(|| self.repository.path())
    }

    /// Returns the path of the `.git` folder.
    pub fn git_dir(&self) -> &Path {
        self.repository.path()
    }

    /// Returns a place beside the repository; in a temporary folder it goes with it.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// libgit2's handle, for what has no method here.
    pub fn git2(&self) -> &git2::Repository {
        &self.repository
    }

    /// Sets a value of the repository's configuration.
    pub fn config(&self, key: &str, value: &str) -> &Self {
        let mut config = self.repository.config().expect("the configuration can be read");
        config.set_str(key, value).expect("the configuration can be written");
        self
    }

    /// Writes a file of the work tree, with the folders on the way.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let file = self.root().join(path);
        fs::create_dir_all(file.parent().expect("a file has a folder")).expect("folders can be made");
        fs::write(&file, text).expect("a file can be written");
        self
    }

    /// Reads a file of the work tree.
    pub fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.root().join(path)).expect("the file can be read")
    }

    /// Returns whether the work tree has something at `path`.
    pub fn exists(&self, path: &str) -> bool {
        fs::symlink_metadata(self.root().join(path)).is_ok()
    }

    /// Deletes a file of the work tree.
    pub fn remove(&self, path: &str) -> &Self {
        fs::remove_file(self.root().join(path)).expect("the file can be deleted");
        self
    }

    /// Makes a file of the work tree executable.
    #[cfg(unix)]
    pub fn executable(&self, path: &str) -> &Self {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(self.root().join(path), fs::Permissions::from_mode(0o755)).expect("the mode can be set");
        self
    }

    /// Makes a symbolic link.
    #[cfg(unix)]
    pub fn symlink(&self, path: &str, target: &str) -> &Self {
        std::os::unix::fs::symlink(target, self.root().join(path)).expect("a link can be made");
        self
    }

    /// Stages everything, additions and deletions.
    pub fn stage(&self) -> &Self {
        let mut index = self.repository.index().expect("the index can be read");
        index
            .add_all(["*"], IndexAddOption::DEFAULT, None)
            .expect("files can be staged");
        index.update_all(["*"], None).expect("deletions can be staged");
        index.write().expect("the index can be written");
        self
    }

    /// Stages everything and commits it; gives the commit's id.
    pub fn commit(&self, message: &str) -> String {
        self.stage();
        self.commit_index(message, &[]).to_string()
    }

    fn commit_index(&self, message: &str, further_parents: &[Oid]) -> Oid {
        let when = Time::new(FIRST_COMMIT + 60 * self.commits.replace(self.commits.get() + 1), 0);
        let who = Signature::new("Ada Fixture", "ada@example.com", &when).expect("the name is valid");
        let mut index = self.repository.index().expect("the index can be read");
        let tree = index.write_tree().expect("a tree can be written");
        let tree = self.repository.find_tree(tree).expect("it was just written");
        let head = self.repository.head().ok().and_then(|head| head.target());
        let parents: Vec<git2::Commit<'_>> = head
            .iter()
            .chain(further_parents)
            .map(|id| self.repository.find_commit(*id).expect("a parent is there"))
            .collect();
        let parents: Vec<&git2::Commit<'_>> = parents.iter().collect();
        self.repository
            .commit(Some("HEAD"), &who, &who, message, &tree, &parents)
            .expect("a commit can be made")
    }

    /// Returns the id of the commit at `HEAD`.
    pub fn head(&self) -> String {
        let head = self.repository.head().expect("there is a commit");
        head.target().expect("HEAD resolves to a commit").to_string()
    }

    /// Makes a branch at `HEAD` and switches to it.
    pub fn branch(&self, name: &str) -> &Self {
        let head = self
            .repository
            .head()
            .and_then(|head| head.peel_to_commit())
            .expect("there is a commit");
        self.repository.branch(name, &head, false).expect("the branch is new");
        self.switch(name)
    }

    /// Switches to a branch; the work tree follows.
    pub fn switch(&self, name: &str) -> &Self {
        self.repository
            .set_head(&format!("refs/heads/{name}"))
            .expect("the branch is there");
        self.repository
            .checkout_head(Some(git2::build::CheckoutBuilder::new().force()))
            .expect("it can be checked out");
        self
    }

    /// Detaches `HEAD` where it is.
    pub fn detach(&self) -> &Self {
        let head = self
            .repository
            .head()
            .ok()
            .and_then(|head| head.target())
            .expect("there is a commit");
        self.repository.set_head_detached(head).expect("HEAD can be detached");
        self
    }

    /// Leaves a merge with a conflict in `path` unfinished.
    pub fn unfinished_merge(&self, path: &str) -> &Self {
        self.branch("theirs").write(path, "theirs\n").commit("theirs");
        self.switch("main").write(path, "ours\n").commit("ours");
        let theirs = self
            .repository
            .find_reference("refs/heads/theirs")
            .expect("it was just made");
        let theirs = self
            .repository
            .reference_to_annotated_commit(&theirs)
            .expect("it is a commit");
        self.repository
            .merge(&[&theirs], None, None)
            .expect("a merge can be begun");
        self
    }

    /// Cuts the history off below `HEAD`, as a clone of depth 1 has it.
    pub fn shallow(&self) -> &Self {
        let head = self
            .repository
            .head()
            .and_then(|head| head.peel_to_commit())
            .expect("there is a commit");
        fs::write(self.git_dir().join("shallow"), format!("{}\n", head.id())).expect("the file can be written");
        for parent in head.parent_ids() {
            self.lose_object(&parent.to_string());
        }
        self
    }

    /// Deletes a loose object.
    pub fn lose_object(&self, id: &str) -> &Self {
        let (folder, name) = id.split_at(2);
        fs::remove_file(self.git_dir().join("objects").join(folder).join(name)).expect("the object is loose");
        self
    }

    /// Adds an additional work tree on a new branch; gives its folder.
    pub fn worktree(&self, name: &str) -> PathBuf {
        let folder = self.beside(name);
        self.repository
            .worktree(name, &folder, None)
            .expect("a work tree can be added");
        folder
    }

    /// Adds `other` as a submodule at `path`, checked out and committed; gives its folder.
    pub fn submodule(&self, path: &str, other: &Self) -> PathBuf {
        let url = other.root().to_str().expect("temporary folders have plain names");
        let mut submodule = self
            .repository
            .submodule(url, Path::new(path), true)
            .expect("it can be added");
        submodule.clone(None).expect("it can be cloned from a folder");
        submodule.add_finalize().expect("it can be staged");
        self.commit_index("Add a submodule", &[]);
        self.root().join(path)
    }
}

fn temporary() -> TempDir {
    TempDir::new().expect("a temporary folder can be made")
}

/// Returns a hash of everything below `folder`: names, kinds, permissions, time stamps of files and their bytes. If it
/// stays, nothing was written there. For a repository that means work tree, index, references and objects.
pub fn fingerprint(folder: &Path) -> String {
    let mut lines = Vec::new();
    collect(folder, folder, &mut lines);
    lines.sort();
    Oid::hash_object(git2::ObjectType::Blob, lines.join("\n").as_bytes())
        .expect("bytes can be hashed")
        .to_string()
}

/// Returns everything below `folder` but git's own: names, kinds, permissions and bytes of the files, in order. What was written anew with the same bytes is the
/// same.
pub fn contents(folder: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(place) = open.pop() {
        for entry in fs::read_dir(place).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            let metadata = fs::symlink_metadata(&path).expect("the file is there");
            let name = path.strip_prefix(folder).expect("it lies below").display().to_string();
            if name == ".git" {
                continue;
            }
            let bytes = if metadata.is_file() {
                fs::read(&path).expect("the file can be read")
            } else {
                Vec::new()
            };
            found.push((name, mode(&metadata), bytes));
            if metadata.is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(unix)]
fn mode(metadata: &fs::Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode()
}

#[cfg(not(unix))]
fn mode(_: &fs::Metadata) -> u32 {
    0
}

fn collect(root: &Path, folder: &Path, lines: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        let metadata = fs::symlink_metadata(&path).expect("the file is there");
        let name = path.strip_prefix(root).expect("it lies below").display().to_string();
        if metadata.is_symlink() {
            lines.push(format!(
                "{name} -> {}",
                fs::read_link(&path).expect("it is a link").display()
            ));
        } else if metadata.is_dir() {
            lines.push(format!("{name}/"));
            collect(root, &path, lines);
        } else {
            let hash = Oid::hash_file(git2::ObjectType::Blob, &path).expect("the file can be read");
            let modified = metadata.modified().expect("files have a time stamp");
            lines.push(format!("{name} {hash} {modified:?} {:?}", metadata.permissions()));
        }
    }
}
