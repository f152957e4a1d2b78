//! A project that bugs are made in: unpacked, and committed as it is.

use anyhow::{Context as _, Result, bail};
use magis_core::{CommitId, RepoPath};
use magis_eval::mutation::BugRepository;
use magis_evidence::commands::ProjectFiles;
use magis_syntax::SourceLanguage;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A project in the folder of the work.
#[derive(Debug)]
pub struct Project {
    /// Its name, as `boltons`.
    pub name: String,
    /// What the archive or folder is called, as `boltons-25.0.0`.
    pub version: String,
    /// `OWNER/NAME`, by which its repository is found.
    pub repo: String,
    pub tree: PathBuf,
    pub repository: BugRepository,
    pub commit: CommitId,
    paths: Vec<RepoPath>,
}

/// The owner of the repositories made here.
const OWNER: &str = "mutated";
/// How the names of archives end that can be unpacked.
const ARCHIVES: [&str; 5] = [".tar.gz", ".tgz", ".crate", ".zip", ".tar.bz2"];

impl Project {
    /// Brings a folder or an archive into `work` and commits it. What is there of an earlier time is used again.
    pub fn prepare(given: &Path, work: &Path) -> Result<Self> {
        let file = given
            .file_name()
            .and_then(|name| name.to_str())
            .context("the project has no name")?;
        let version = ARCHIVES
            .iter()
            .find_map(|end| file.strip_suffix(end))
            .unwrap_or(file)
            .to_owned();
        let name = name_of(&version).to_owned();
        let repo = format!("{OWNER}/{name}");
        let tree = tree_of(work, &repo);
        // Packages of two languages, or two versions, may have one name.
        let mark = mark_of(&tree);
        let there = fs::read_to_string(&mark).ok().filter(|there| *there != version);
        if let Some(there) = there {
            bail!("{} holds {there}; give another --work for {version}", tree.display());
        }
        if !tree.is_dir() {
            let half = mark.with_extension("half");
            if half.exists() {
                fs::remove_dir_all(&half).with_context(|| format!("clearing {}", half.display()))?;
            }
            fs::create_dir_all(&half).with_context(|| format!("making {}", half.display()))?;
            unpack(given, file, &half)?;
            fs::rename(root_of(&half)?, &tree).with_context(|| format!("making {}", tree.display()))?;
            fs::write(&mark, &version).with_context(|| format!("writing {}", mark.display()))?;
            if half.exists() {
                fs::remove_dir_all(&half).with_context(|| format!("clearing {}", half.display()))?;
            }
        }
        let repository = repository_of(work, &repo)?;
        let commit = repository.commit_folder(&tree, &version)?;
        repository.keep("project", &commit)?;
        let paths = repository.files(&commit)?;
        Ok(Self {
            name,
            version,
            repo,
            tree,
            repository,
            commit,
            paths,
        })
    }

    /// Returns the files in which bugs are made: sources, not tests, documentation, examples or what installs.
    pub fn sources(&self, language: SourceLanguage) -> Vec<RepoPath> {
        let is_source = |path: &&RepoPath| SourceLanguage::of(path) == Some(language) && !is_apart(path.as_str());
        self.paths.iter().filter(is_source).cloned().collect()
    }
}

impl ProjectFiles for Project {
    fn paths(&self) -> &[RepoPath] {
        &self.paths
    }

    fn text(&self, path: &RepoPath) -> Option<String> {
        fs::read_to_string(self.tree.join(path.as_str())).ok()
    }
}

/// Returns where the tree of a project lies, with what its tests need.
pub fn tree_of(work: &Path, repo: &str) -> PathBuf {
    work.join("trees").join(repo.replace('/', "+"))
}

/// Returns the file that says what a tree holds.
fn mark_of(tree: &Path) -> PathBuf {
    let mut name = tree.as_os_str().to_owned();
    name.push(".version");
    PathBuf::from(name)
}

/// Opens the repository of a project.
pub fn repository_of(work: &Path, repo: &str) -> Result<BugRepository> {
    BugRepository::open(&work.join("repos").join(repo.replace('/', "+")))
}

/// Returns `python-slugify` of `python-slugify-8.0.4`.
fn name_of(version: &str) -> &str {
    let dashes = version.match_indices('-').map(|(at, _)| at);
    let cut = dashes
        .into_iter()
        .find(|at| version[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    cut.map_or(version, |at| &version[..at])
}

fn is_apart(path: &str) -> bool {
    let folders = [
        "test",
        "tests",
        "testing",
        "__tests__",
        "spec",
        "docs",
        "doc",
        "examples",
        "example",
        "bench",
        "benches",
        "benchmarks",
        "scripts",
        "tools",
        "misc",
        "vendor",
        "node_modules",
        "dist",
        "build",
        "fuzz",
    ];
    let files = [
        "setup.py",
        "conftest.py",
        "build.rs",
        "noxfile.py",
        "tasks.py",
        "_version.py",
        "version.py",
        "__version__.py",
        "Gruntfile.js",
        "gulpfile.js",
        "index.test-d.ts",
    ];
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    let is_test = stem.starts_with("test_")
        || stem.ends_with("_test")
        || matches!(stem, "test" | "tests")
        || name.contains(".test.")
        || name.contains(".spec.");
    is_test
        || name.contains(".min.")
        || name.contains(".config.")
        || name.starts_with('.')
        || files.contains(&name)
        || folder.split('/').any(|part| folders.contains(&part))
}

fn unpack(given: &Path, file: &str, to: &Path) -> Result<()> {
    let mut command = if given.is_dir() {
        let mut copy = Command::new("cp");
        copy.arg("-a").arg(given).arg(to);
        copy
    } else if Path::new(file).extension().is_some_and(|end| end == "zip") {
        let mut unzip = Command::new("unzip");
        unzip.arg("-q").arg(given).arg("-d").arg(to);
        unzip
    } else if ARCHIVES.iter().any(|end| file.ends_with(end)) {
        let mut tar = Command::new("tar");
        tar.arg("--no-same-owner").arg("-xf").arg(given).arg("-C").arg(to);
        tar
    } else {
        bail!(
            "{} is neither a folder nor an archive that is known here",
            given.display()
        );
    };
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("unpacking {}", given.display()))?;
    if !status.success() {
        bail!("{} could not be unpacked; the message is above", given.display());
    }
    Ok(())
}

/// Returns the folder that is alone in another, as archives have it; else that one.
fn root_of(folder: &Path) -> Result<PathBuf> {
    let entries: Vec<PathBuf> = fs::read_dir(folder)
        .with_context(|| format!("listing {}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    match entries.as_slice() {
        [only] if only.is_dir() => Ok(only.clone()),
        _ => Ok(folder.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_apart, name_of};

    #[test]
    fn a_mutated_project_is_named_by_its_archive() {
        assert_eq!(name_of("python-slugify-8.0.4"), "python-slugify");
        assert_eq!(name_of("calc"), "calc");
    }

    #[test]
    fn mutations_are_made_in_sources_alone() {
        assert!(
            is_apart("tests/util.py") && is_apart("test_calc.py") && is_apart("setup.py") && is_apart("docs/conf.py")
        );
        assert!(!is_apart("src/calc/testing_tools.py") && !is_apart("calc.py") && !is_apart("index.js"));
    }
}
