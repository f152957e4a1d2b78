//! The repositories of a set, read with the `git` program: where each lies, scratch clones, files of a commit, whether a
//! patch applies.
//!
//! Nothing is ever written into the folder that holds them.

use anyhow::{Context as _, Result, bail};
use magis_core::{BlobId, CommitId, RepoPath};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder that holds the repositories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repositories {
    folder: PathBuf,
}

/// Whether `git apply --check` takes a patch on its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applies {
    Yes,
    /// It does not, and what git says.
    No(String),
}

impl Repositories {
    /// Returns the folder `folder`; each repository in it is `OWNER+NAME/repo`, `OWNER+NAME` or `OWNER/NAME`, bare or
    /// not.
    pub fn new(folder: &Path) -> Result<Self> {
        let folder = std::path::absolute(folder).with_context(|| format!("finding {}", folder.display()))?;
        if !folder.is_dir() {
            bail!(
                "{} is no folder; --repos takes the folder that holds the repositories",
                folder.display()
            );
        }
        Ok(Self { folder })
    }

    /// Returns the folder that all of it lies in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Finds the clone of `OWNER/NAME`.
    pub fn find(&self, repo: &str) -> Result<PathBuf> {
        let joined = self.folder.join(repo.replace('/', "+"));
        let places = [joined.join("repo"), joined, self.folder.join(repo)];
        let found = places.into_iter().find(|place| place.is_dir());
        found.with_context(|| {
            format!(
                "{repo} is not in {}; bring it there as {}",
                self.folder.display(),
                repo.replace('/', "+")
            )
        })
    }

    /// Returns a clone of `repo` at `place`, with `commit` as its detached head and no files checked out. Its objects
    /// are those of the original. One that is there already is used again.
    pub fn scratch_clone(&self, repo: &str, commit: &CommitId, place: &Path) -> Result<()> {
        let origin = self.find(repo)?;
        if !place.join(".git/HEAD").is_file() {
            if place.exists() {
                std::fs::remove_dir_all(place).with_context(|| format!("clearing {}", place.display()))?;
            }
            if let Some(parent) = place.parent() {
                std::fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
            }
            let mut clone = Command::new("git");
            clone
                .args(["clone", "--quiet", "--shared", "--no-checkout", "--no-tags"])
                .arg(&origin)
                .arg(place);
            run(clone, &format!("cloning {repo}"))?;
        }
        let mut head = git(place);
        head.args(["update-ref", "--no-deref", "HEAD", &commit.0]);
        run(head, &format!("going to {commit} of {repo}"))?;
        Ok(())
    }

    /// Writes a commit's files out, in a clone of their own at `place`.
    pub fn check_out(&self, repo: &str, commit: &CommitId, place: &Path) -> Result<()> {
        self.scratch_clone(repo, commit, place)?;
        let mut files = git(place);
        files.args(["checkout", "--quiet", "--force", &commit.0]);
        run(files, &format!("writing out {commit} of {repo}"))?;
        Ok(())
    }

    /// Returns the id of a commit's tree.
    pub fn tree(&self, repo: &str, commit: &CommitId) -> Result<String> {
        let mut command = git(&self.find(repo)?);
        command.arg("rev-parse").arg(format!("{commit}^{{tree}}"));
        Ok(run(command, &format!("looking for {commit} in {repo}"))?
            .trim()
            .to_owned())
    }

    /// Returns the text of a file at a commit; none where there is no such file or it is not UTF-8.
    pub fn text(&self, repo: &str, commit: &CommitId, path: &RepoPath) -> Result<Option<String>> {
        let output = git(&self.find(repo)?)
            .arg("show")
            .arg(format!("{commit}:{path}"))
            .output()
            .with_context(|| format!("reading {path} of {repo}"))?;
        Ok(if output.status.success() {
            String::from_utf8(output.stdout).ok()
        } else {
            None
        })
    }

    /// Returns whether `git apply --check` takes the patch on the commit's tree.
    pub fn applies(&self, repo: &str, commit: &CommitId, patch: &str) -> Result<Applies> {
        if patch.trim().is_empty() {
            return Ok(Applies::No("there is no change".to_owned()));
        }
        let place = self.find(repo)?;
        let scratch = tempfile::tempdir().context("making a scratch folder")?;
        let index = scratch.path().join("index");
        let mut read = git(&place);
        read.env("GIT_INDEX_FILE", &index).args(["read-tree", &commit.0]);
        run(read, &format!("reading the tree of {commit} in {repo}"))?;
        let mut child = git(&place)
            .env("GIT_INDEX_FILE", &index)
            .args(["apply", "--check", "--cached", "--whitespace=nowarn", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("starting git apply")?;
        if let Some(mut stdin) = child.stdin.take() {
            // git may refuse the patch before it has read all of it; its status says so.
            let _closed_early = stdin.write_all(patch.as_bytes());
        }
        let output = child.wait_with_output().context("waiting for git apply")?;
        if output.status.success() {
            return Ok(Applies::Yes);
        }
        Ok(Applies::No(
            String::from_utf8_lossy(&output.stderr)
                .lines()
                .take(2)
                .collect::<Vec<_>>()
                .join("; "),
        ))
    }

    /// Returns the ordinary files of a commit's tree with their blobs; paths no run can name are left out.
    pub fn files(&self, repo: &str, commit: &CommitId) -> Result<Vec<(RepoPath, BlobId)>> {
        let mut command = git(&self.find(repo)?);
        command.args(["ls-tree", "-r", "-z", &commit.0]);
        let listed = run(command, &format!("listing {commit} of {repo}"))?;
        let entry = |entry: &str| {
            let (head, path) = entry.strip_prefix("100")?.split_once('\t')?;
            Some((RepoPath::new(path).ok()?, BlobId(head.rsplit(' ').next()?.to_owned())))
        };
        Ok(listed.split('\0').filter_map(entry).collect())
    }
}

/// Returns the files of a folder without git that the rules of a clone's project ignore, but for caches and installed packages.
pub fn ignored(folder: &Path, clone: &Path) -> Result<Vec<RepoPath>> {
    const NEVER: [&str; 4] = ["node_modules", "__pycache__", ".pytest_cache", "target"];
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut command = git(clone);
    command
        .arg("--work-tree")
        .arg(folder)
        .args(["ls-files", "-z", "--others", "--ignored", "--exclude-standard"]);
    let listed = run(command, &format!("listing what {} ignores", clone.display()))?;
    let is_kept = |path: &RepoPath| !path.as_str().split('/').any(|part| NEVER.contains(&part));
    let paths = listed.split('\0').filter_map(|path| RepoPath::new(path).ok());
    Ok(paths.filter(is_kept).collect())
}

fn git(place: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(place).stdin(Stdio::null());
    command
}

fn run(mut command: Command, what: &str) -> Result<String> {
    let output = command.output().with_context(|| format!("{what}: starting git"))?;
    if !output.status.success() {
        bail!("{what}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_that_a_project_ignores_are_found_beside_its_clone() {
        let place = tempfile::tempdir().expect("a folder");
        let (tree, clone) = (place.path().join("tree"), place.path().join("clone"));
        for (path, text) in [
            (".gitignore", "version.py\n__pycache__\n"),
            ("src/a.py", "x = 1\n"),
            ("src/version.py", "version = '1'\n"),
            ("src/__pycache__/a.pyc", ""),
            ("notes.txt", "not ignored\n"),
        ] {
            let file = tree.join(path);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(file, text).expect("a file");
        }
        std::fs::create_dir(&clone).expect("a folder");
        let mut init = git(&clone);
        init.args(["init", "--quiet"]);
        run(init, "making a repository").expect("git");
        let found = ignored(&tree, &clone).expect("git");
        assert_eq!(found, [RepoPath::new("src/version.py").expect("a path")]);
        assert!(ignored(&place.path().join("none"), &clone).expect("git").is_empty());
    }
}
