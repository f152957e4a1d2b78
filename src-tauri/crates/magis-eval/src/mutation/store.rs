//! The repository that the trees of mutated projects lie in, made by the `git` program.
//!
//! Each commit stands alone and is named below `refs/mutated`, which no clone takes along: neither its history nor the branches of a clone show what
//! was there before a mutation.

use anyhow::{Context as _, Result, bail};
use magis_core::{CommitId, RepoPath};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A bare repository for the commits of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BugRepository {
    folder: PathBuf,
}

/// Files by their paths, with their new contents, or none where they are removed.
pub type FileChanges = Vec<(RepoPath, Option<Vec<u8>>)>;

impl BugRepository {
    /// Opens the repository in `folder`, or makes it.
    pub fn open(folder: &Path) -> Result<Self> {
        let folder = std::path::absolute(folder).with_context(|| format!("finding {}", folder.display()))?;
        let repository = Self { folder };
        if !repository.folder.join("HEAD").is_file() {
            std::fs::create_dir_all(&repository.folder)
                .with_context(|| format!("making {}", repository.folder.display()))?;
            repository.git(&["init", "--quiet", "--bare", "--initial-branch=main"], &[], None)?;
            // A clone needs something to stand on.
            let empty = repository.git(&["mktree"], &[], Some(b""))?;
            let commit = repository.commit_tree(empty.trim(), "Mutated trees lie beside the branches")?;
            repository.git(&["update-ref", "refs/heads/main", &commit.0], &[], None)?;
        }
        Ok(repository)
    }

    /// Commits all files of a folder but what is installed or built there.
    pub fn commit_folder(&self, folder: &Path, message: &str) -> Result<CommitId> {
        let scratch = tempfile::tempdir().context("making a scratch folder")?;
        let exclude = self.folder.join("info/exclude");
        std::fs::create_dir_all(self.folder.join("info")).context("making the folder of excluded names")?;
        std::fs::write(&exclude, "node_modules/\n/target/\n__pycache__/\n*.pyc\n.git\n")
            .context("writing the excluded names")?;
        let index = [
            ("GIT_INDEX_FILE", scratch.path().join("index")),
            ("GIT_WORK_TREE", folder.to_owned()),
        ];
        self.git(&["add", "--all", "."], &index, None)?;
        let tree = self.git(&["write-tree"], &index, None)?;
        self.commit_tree(tree.trim(), message)
    }

    /// Commits the tree of a commit with changes; the new commit has no parents.
    pub fn commit_with(&self, base: &CommitId, changes: &FileChanges, message: &str) -> Result<CommitId> {
        let tree = self.with_index(&base.0, |index| {
            for (path, contents) in changes {
                let entry = match contents {
                    Some(contents) => {
                        let blob = self.git(&["hash-object", "-w", "--stdin"], &[], Some(contents))?;
                        format!("{} {}\t{path}\n", self.mode(base, path)?, blob.trim())
                    }
                    None => format!("0 {}\t{path}\n", "0".repeat(40)),
                };
                self.git(&["update-index", "--index-info"], index, Some(entry.as_bytes()))?;
            }
            self.git(&["write-tree"], index, None)
        })?;
        self.commit_tree(tree.trim(), message)
    }

    /// Names a commit, so that it is kept.
    pub fn keep(&self, name: &str, commit: &CommitId) -> Result<()> {
        self.git(&["update-ref", &format!("refs/mutated/{name}"), &commit.0], &[], None)?;
        Ok(())
    }

    /// Returns the change from one commit or tree to another, in git's form.
    pub fn diff(&self, from: &str, to: &str) -> Result<String> {
        self.git(
            &["diff", "--no-color", "--no-ext-diff", "--no-renames", from, to],
            &[],
            None,
        )
    }

    /// Returns the tree that a patch makes of a commit; none, with what git says, where it does not apply.
    pub fn patched(&self, base: &str, patch: &str) -> Result<Result<String, String>> {
        if patch.trim().is_empty() {
            return Ok(Err("there is no change".to_owned()));
        }
        self.with_index(base, |index| {
            let applied = self.git(
                &["apply", "--cached", "--whitespace=nowarn", "-"],
                index,
                Some(patch.as_bytes()),
            );
            Ok(match applied {
                Ok(_) => Ok(self.git(&["write-tree"], index, None)?.trim().to_owned()),
                Err(why) => Err(format!("{why:#}")),
            })
        })
    }

    /// Returns the tree of `to` with the files at `paths` as `from` has them.
    pub fn with_files_of(&self, to: &str, from: &str, paths: &[RepoPath]) -> Result<String> {
        self.with_index(to, |index| {
            for path in paths {
                let entry = self.git(&["ls-tree", from, "--", path.as_str()], &[], None)?;
                let entry = if entry.is_empty() {
                    format!("0 {}\t{path}\n", "0".repeat(40))
                } else {
                    entry
                };
                self.git(&["update-index", "--index-info"], index, Some(entry.as_bytes()))?;
            }
            Ok(self.git(&["write-tree"], index, None)?.trim().to_owned())
        })
    }

    /// Returns the files in which two commits or trees differ, as the second has them.
    pub fn changes(&self, from: &str, to: &str) -> Result<FileChanges> {
        let listed = self.git(
            &["diff-tree", "-r", "-z", "--no-renames", "--name-status", from, to],
            &[],
            None,
        )?;
        let mut fields = listed.split('\0').filter(|field| !field.is_empty());
        let mut changes = Vec::new();
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            let path = RepoPath::new(path).with_context(|| format!("reading the path {path:?}"))?;
            let contents = match status {
                "D" => None,
                _ => Some(self.bytes(to, &path)?),
            };
            changes.push((path, contents));
        }
        Ok(changes)
    }

    /// Returns the paths of a commit's ordinary files.
    pub fn files(&self, commit: &CommitId) -> Result<Vec<RepoPath>> {
        let listed = self.git(&["ls-tree", "-r", "-z", "--name-only", &commit.0], &[], None)?;
        Ok(listed.split('\0').filter_map(|path| RepoPath::new(path).ok()).collect())
    }

    fn bytes(&self, commit: &str, path: &RepoPath) -> Result<Vec<u8>> {
        let output = self
            .command(&["cat-file", "blob", &format!("{commit}:{path}")], &[])
            .output()
            .context("starting git")?;
        if !output.status.success() {
            bail!(
                "reading {path} of {commit}: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        Ok(output.stdout)
    }

    fn mode(&self, commit: &CommitId, path: &RepoPath) -> Result<String> {
        let entry = self.git(&["ls-tree", &commit.0, "--", path.as_str()], &[], None)?;
        Ok(entry
            .split(' ')
            .next()
            .filter(|mode| !mode.is_empty())
            .unwrap_or("100644")
            .to_owned())
    }

    fn with_index<T>(&self, base: &str, then: impl FnOnce(&[(&str, PathBuf)]) -> Result<T>) -> Result<T> {
        let scratch = tempfile::tempdir().context("making a scratch folder")?;
        let index = [("GIT_INDEX_FILE", scratch.path().join("index"))];
        self.git(&["read-tree", base], &index, None)?;
        then(&index)
    }

    fn commit_tree(&self, tree: &str, message: &str) -> Result<CommitId> {
        let commit = self.git(&["commit-tree", tree, "-m", message], &[], None)?;
        Ok(CommitId(commit.trim().to_owned()))
    }

    fn command(&self, words: &[&str], variables: &[(&str, PathBuf)]) -> Command {
        let mut command = Command::new("git");
        command
            .env("GIT_DIR", &self.folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Set of mutations");
            command.env(format!("GIT_{role}_EMAIL"), "mutations@example.org");
            command.env(format!("GIT_{role}_DATE"), "2024-01-01T00:00:00Z");
        }
        command
            .args(words)
            .envs(variables.iter().map(|(name, value)| (name, value)));
        if let Some((_, folder)) = variables.iter().find(|(name, _)| *name == "GIT_WORK_TREE") {
            command.current_dir(folder);
        }
        command
    }

    fn git(&self, words: &[&str], variables: &[(&str, PathBuf)], input: Option<&[u8]>) -> Result<String> {
        let mut command = self.command(words, variables);
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("starting git")?;
        if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
            // git may refuse what it is given before it has read all of it; its status says so.
            let _closed_early = stdin.write_all(input);
        }
        let output = child.wait_with_output().context("waiting for git")?;
        if !output.status.success() {
            bail!(
                "git {}: {}",
                words.first().unwrap_or(&""),
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutated_trees_are_commits_without_parents_that_a_clone_does_not_show() {
        let place = tempfile::tempdir().expect("a folder");
        let project = place.path().join("project");
        std::fs::create_dir_all(&project).expect("a folder");
        std::fs::write(project.join("a.py"), "x = 1\n").expect("a file");
        let repository = BugRepository::open(&place.path().join("repo")).expect("a repository");
        let whole = repository.commit_folder(&project, "project").expect("a commit");
        let path = RepoPath::new("a.py").expect("a path");
        let bug = repository
            .commit_with(&whole, &vec![(path.clone(), Some(b"x = 2\n".to_vec()))], "project")
            .expect("a commit");
        repository.keep("one/base", &bug).expect("a name");
        let count = repository
            .git(&["rev-list", "--count", &bug.0], &[], None)
            .expect("a count");
        assert_eq!(count.trim(), "1");
        assert_eq!(
            repository
                .git(&["branch", "--contains", &bug.0], &[], None)
                .expect("branches"),
            ""
        );
        let patch = repository.diff(&bug.0, &whole.0).expect("a patch");
        let fixed = repository.patched(&bug.0, &patch).expect("git").expect("it applies");
        assert_eq!(repository.changes(&whole.0, &fixed).expect("changes"), vec![]);
        assert_eq!(
            repository.changes(&fixed, &bug.0).expect("changes"),
            vec![(path, Some(b"x = 2\n".to_vec()))]
        );
    }
}
