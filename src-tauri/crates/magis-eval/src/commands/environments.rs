//! The virtual environments of a set's issues, as the judge that stands beside the set (`run.py`) makes them.

use anyhow::{Context as _, Result, bail};
use magis_core::{CommitId, RepoPath};
use magis_eval::instances::InstanceId;
use magis_eval::repositories::Repositories;
use magis_sandbox::remove_tree;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of environments, and the judge.
pub struct JudgeEnvironments {
    repositories: Repositories,
    work: PathBuf,
    script: Option<PathBuf>,
    instances: PathBuf,
}

/// A virtual environment, and the tree that was installed into it.
pub struct IssueEnvironment {
    pub folder: PathBuf,
    /// None where nothing of the repository is installed.
    pub installed: Option<PathBuf>,
}

impl JudgeEnvironments {
    /// Of the set `instances`, in `work`. Without a judge it is the one beside the set.
    pub fn new(repositories: Repositories, work: &Path, script: Option<&PathBuf>, instances: &Path) -> Result<Self> {
        Ok(Self {
            repositories,
            work: std::path::absolute(work).with_context(|| format!("finding {}", work.display()))?,
            script: script
                .cloned()
                .or_else(|| Some(instances.parent()?.join("run.py")))
                .filter(|script| script.is_file()),
            instances: instances.to_owned(),
        })
    }

    /// Returns the repositories of the set.
    pub fn repositories(&self) -> &Repositories {
        &self.repositories
    }

    /// Returns the folder that all lies in.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Returns the file of the set.
    pub fn instances(&self) -> &Path {
        &self.instances
    }

    /// Returns the file of the judge that makes environments and runs the tests of patches.
    pub fn script(&self) -> Result<&Path> {
        self.script
            .as_deref()
            .with_context(|| format!("no judge stands beside {}; give --judge", self.instances.display()))
    }

    /// Returns where the judge has the tree of an issue; editable installs name the place.
    pub fn tree(&self, id: &InstanceId) -> PathBuf {
        self.work.join("tree").join(&id.0)
    }

    /// Returns the virtual environment of an issue. Where it is missing, or the tree it was installed from, which may hold what the installation
    /// wrote there, the judge makes both.
    pub fn environment(&self, id: &InstanceId, repo: &str, commit: &CommitId) -> Result<IssueEnvironment> {
        let all = self.work.join("venv");
        // The judge has one for all issues of a repository that is not installed, sympy's.
        let shared = all.join(repo.rsplit('/').next().unwrap_or_default());
        if shared.join("ready").is_file() {
            return Ok(IssueEnvironment {
                folder: shared,
                installed: None,
            });
        }
        let (own, tree) = (all.join(&id.0), self.tree(id));
        if !own.join("ready").is_file() || !tree.join(".git").exists() {
            self.make(id, repo, commit, &own)?;
        }
        if shared.join("ready").is_file() {
            return self.environment(id, repo, commit);
        }
        if !own.join("ready").is_file() {
            bail!("the judge made no environment for {id} in {}", own.display());
        }
        Ok(IssueEnvironment {
            folder: own,
            installed: Some(tree),
        })
    }

    /// Returns the tree that an issue's environment was installed from, with that environment where a person would have it.
    pub fn tree_in_use(&self, id: &InstanceId, repo: &str, commit: &CommitId) -> Result<PathBuf> {
        let environment = self.environment(id, repo, commit)?;
        let tree = self.tree(id);
        if environment.installed.is_none() && !tree.join(".git").exists() {
            self.repositories.check_out(repo, commit, &tree)?;
        }
        let link = tree.join(".venv");
        if !link.exists() {
            symlink(&environment.folder, &link).with_context(|| format!("linking {}", link.display()))?;
            let exclude = tree.join(".git/info/exclude");
            let before = fs::read_to_string(&exclude).unwrap_or_default();
            fs::create_dir_all(tree.join(".git/info"))?;
            fs::write(&exclude, format!("{before}\n/.venv\n"))
                .with_context(|| format!("writing {}", exclude.display()))?;
        }
        Ok(tree)
    }

    /// Lets the judge make the environment of an issue anew when it is next needed. It clears its tree away behind a patch, and an environment whose tree is
    /// gone lacks what its installation wrote there, so that no test could be imported, even of the reference.
    pub fn forget(&self, id: &InstanceId) -> Result<()> {
        let ready = self.work.join("venv").join(&id.0).join("ready");
        if ready.is_file() {
            fs::remove_file(&ready).with_context(|| format!("removing {}", ready.display()))?;
        }
        Ok(())
    }

    fn make(&self, id: &InstanceId, repo: &str, commit: &CommitId, own: &Path) -> Result<()> {
        const MAKE: &str = "import json, sys; sys.path.insert(0, sys.argv[1]); import run\n\
            row = next(x for x in map(json.loads, open(sys.argv[2])) if x['instance_id'] == sys.argv[3])\n\
            trouble = run.environment(row, sys.argv[4], sys.argv[5])[1]\n\
            sys.exit(trouble)";
        let script = self.script()?;
        let tree = self.tree(id);
        eprintln!("{id}: the judge makes the environment");
        // One that is there was installed from a tree that is gone.
        if own.join("ready").is_file() {
            fs::remove_file(own.join("ready"))?;
        }
        if tree.exists() {
            remove_tree(&tree)?;
        }
        self.repositories.check_out(repo, commit, &tree)?;
        let mut command = Command::new("python3");
        command
            .args(["-c", MAKE])
            .arg(script.parent().unwrap_or(script))
            .arg(&self.instances)
            .arg(&id.0)
            .arg(&tree)
            .arg(&self.work);
        let status = command.stdin(Stdio::null()).status().context("starting the judge")?;
        if !status.success() {
            bail!("the judge could not make the environment of {id}; its message is above");
        }
        Ok(())
    }
}

/// Copies what an installation wrote into its tree, versions and entry points say, into another tree of the same commit.
pub fn copy_installed(from: &Path, to: &Path) -> Result<()> {
    let output = Command::new("git")
        .arg("-C")
        .arg(from)
        .args(["ls-files", "-z", "--others"])
        .output()
        .with_context(|| format!("listing {}", from.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    for path in text.split('\0').filter_map(|path| RepoPath::new(path).ok()) {
        if path.as_str().contains("__pycache__") || path.as_str().starts_with("build/") {
            continue;
        }
        let place = to.join(path.as_str());
        fs::create_dir_all(place.parent().unwrap_or(to))?;
        copy_file(&from.join(path.as_str()), &place)?;
    }
    Ok(())
}

/// Copies a file, or a link as a link: the programs of `node_modules/.bin` are links, and so may an environment be.
pub fn copy_file(from: &Path, to: &Path) -> Result<()> {
    if from.is_symlink() {
        fs::read_link(from).and_then(|target| symlink(target, to))
    } else {
        fs::copy(from, to).map(drop)
    }
    .with_context(|| format!("writing {}", to.display()))
}
