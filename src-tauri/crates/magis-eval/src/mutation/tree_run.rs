//! Running tests and small programs on a project's tree, in the sandbox: each run sees the tree with its changes, and none changes it.

use super::store::FileChanges;
use anyhow::{Context as _, Result};
use magis_engine::sandbox::Toolchains;
use magis_evidence::commands::{ReportPlace, TestCommand, TestSelection};
use magis_evidence::results::{self, TestResults};
use magis_sandbox::{JobFile, Limits, Outcome, Sandbox, SandboxJob, Scratch, ScratchLayer, Streams};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a command finds the empty folder for reports and for the files of a program.
const FOLDER: &str = "/magis-mutation";

/// A tree written out, with what is installed in it.
#[derive(Debug)]
pub struct SandboxedTree {
    sandbox: Sandbox,
    tools: Toolchains,
    root: PathBuf,
    scratch: tempfile::TempDir,
}

/// What came of a test run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeTestRun {
    pub outcome: Outcome,
    /// Test by test; where there is no report that can be read, why.
    pub results: Result<TestResults, String>,
}

impl SandboxedTree {
    /// Returns the tree in `root`.
    pub fn new(sandbox: Sandbox, root: &Path) -> Result<Self> {
        let scratch = tempfile::tempdir().context("making a scratch folder")?;
        fs::create_dir(scratch.path().join("empty")).context("making an empty folder")?;
        Ok(Self {
            sandbox,
            tools: Toolchains::of_person(),
            root: fs::canonicalize(root).with_context(|| format!("finding {}", root.display()))?,
            scratch,
        })
    }

    /// Returns the folder of the tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Runs tests on the tree with changes.
    pub async fn test(
        &self,
        command: &TestCommand,
        selection: TestSelection<'_>,
        changes: &FileChanges,
        time: Duration,
    ) -> Result<TreeTestRun> {
        let worded = command.run(selection, FOLDER)?;
        let mut job = self.job(&worded.folder, changes, time);
        job.environment.extend(worded.variables.iter().cloned());
        if worded.report.is_some_and(|report| report.place == ReportPlace::Merged) {
            job.streams = Streams::Merged;
        }
        let layers = self.layers(&mut job)?;
        for words in worded.preparation.iter().chain([&worded.words]) {
            job.command.clone_from(words);
            let outcome = self
                .sandbox
                .run(&job)
                .await
                .with_context(|| format!("running {}", words.join(" ")))?;
            if words != &worded.words && outcome.end.success() {
                job.files.clear();
                continue;
            }
            let texts = match worded.report.map(|report| report.place) {
                Some(ReportPlace::Stdout | ReportPlace::Merged) => vec![outcome.stdout.text()],
                Some(ReportPlace::Stderr) => vec![outcome.stderr.text()],
                Some(ReportPlace::Scratch(pattern)) => written(&layers[1], |path| pattern.matches(path)),
                Some(ReportPlace::Project(pattern)) => written(&layers[0], |path| pattern.matches(path)),
                None => Vec::new(),
            };
            let folder = self.root.join(&worded.folder);
            let results = match worded.report {
                Some(report) => {
                    results::read_all(report.form, texts.iter().map(String::as_str), &folder.to_string_lossy())
                        .map_err(|error| error.to_string())
                }
                None => Err("this command has no report that tells test by test".to_owned()),
            };
            return Ok(TreeTestRun { outcome, results });
        }
        anyhow::bail!("the test command has no words")
    }

    /// Runs a Python program on the tree with changes; `files` lie beside it. Returns how it ended.
    pub async fn python(
        &self,
        program: &str,
        words: &[&str],
        files: &[(&str, String)],
        changes: &FileChanges,
        time: Duration,
    ) -> Result<Outcome> {
        let mut job = self.job("", changes, time);
        let place = |name: &str| Path::new(FOLDER).join(name);
        let own = [("probe.py", program.to_owned())];
        for (name, text) in own.iter().chain(files) {
            job.files.push(JobFile {
                path: place(name),
                contents: Some(text.clone().into_bytes()),
            });
        }
        job.command = vec!["python3".to_owned(), place("probe.py").display().to_string()];
        job.command.extend(words.iter().map(|word| (*word).to_owned()));
        let paths = [self.root.clone(), self.root.join("src")];
        job.environment.insert(
            "PYTHONPATH".to_owned(),
            paths.map(|path| path.display().to_string()).join(":"),
        );
        let _layers = self.layers(&mut job)?;
        self.sandbox.run(&job).await.context("running a program on a tree")
    }

    /// Moves what a run of tests built into the tree, so that later runs need not build it: `folder` is relative to the root.
    pub async fn build(&self, command: &TestCommand, folder: &str, time: Duration) -> Result<()> {
        let worded = command.run(TestSelection::Whole, FOLDER)?;
        let mut job = self.job(&worded.folder, &Vec::new(), time);
        job.environment.extend(worded.variables.iter().cloned());
        job.command.clone_from(&worded.words);
        let layers = self.layers(&mut job)?;
        self.sandbox.run(&job).await.context("building the tests")?;
        // The layer's folder of changes, as the sandbox lays it out.
        let built = layers[0].folder().join("changed").join(folder);
        if built.is_dir() {
            let there = self.root.join(folder);
            if there.exists() {
                magis_sandbox::remove_tree(&there)?;
            }
            let copied = std::process::Command::new("cp")
                .arg("-a")
                .arg(&built)
                .arg(&there)
                .status()
                .context("starting cp")?;
            anyhow::ensure!(copied.success(), "copying {} to {}", built.display(), there.display());
        }
        Ok(())
    }

    fn job(&self, folder: &str, changes: &FileChanges, time: Duration) -> SandboxJob {
        let mut job = SandboxJob::new(Vec::<String>::new(), self.root.join(folder));
        job.environment = self.tools.environment.clone();
        let settings = [("PYTHONHASHSEED", "0"), ("PYTHONDONTWRITEBYTECODE", "1")];
        job.environment
            .extend(settings.map(|(name, value)| (name.to_owned(), value.to_owned())));
        job.readable.extend(self.tools.readable.iter().cloned());
        job.limits = Limits {
            time,
            ..Limits::default()
        };
        let file = |(path, contents): &(magis_core::RepoPath, Option<Vec<u8>>)| JobFile {
            path: self.root.join(path.as_str()),
            contents: contents.clone(),
        };
        job.files = changes.iter().map(file).collect();
        job
    }

    fn layers(&self, job: &mut SandboxJob) -> Result<Vec<ScratchLayer>> {
        let own = [
            (self.root.clone(), self.root.clone()),
            (self.scratch.path().join("empty"), PathBuf::from(FOLDER)),
        ];
        let mut layers = Vec::new();
        for (original, at) in own.into_iter().chain(self.tools.changeable.iter().cloned()) {
            let layer = ScratchLayer::create(self.scratch.path().join(format!("layer{}", layers.len())))?;
            job.scratch.push(Scratch {
                at,
                original,
                layer: layer.folder().to_owned(),
            });
            layers.push(layer);
        }
        Ok(layers)
    }
}

fn written(layer: &ScratchLayer, is_meant: impl Fn(&str) -> bool) -> Vec<String> {
    let files = layer
        .changed_files()
        .into_iter()
        .filter(|path| path.to_str().is_some_and(&is_meant));
    let read = |path: PathBuf| layer.read(&path, results::MAX_REPORT_BYTES as u64).ok();
    files
        .filter_map(read)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect()
}
