//! A base tree written into a folder, on which commands run: each sees it where the repository lies, with the packages that the person has
//! installed there, and none changes it.

use super::installed::{self, InstalledFolder, interpreter_of};
use super::scratch::{ScratchFolder, has_same_bytes};
use super::toolchains::Toolchains;
use crate::EngineError;
use crate::data_folder::DataFolder;
use magis_core::{MOST_ENTERED, RepoPath, SkippedFile};
use magis_evidence::commands::{
    ReportPlace, RustRunner, TestCommand, TestRunner, TestSelection, WordedRun, missing_program, not_started,
};
use magis_evidence::reproduction::{Check, CheckCommand, ReachRecorder, ReachedFunction};
use magis_evidence::results::{self, TestResults};
use magis_repo::Snapshot;
use magis_sandbox::{End, JobFile, Limits, Outcome, Sandbox, SandboxJob, ScratchLayer, Streams};
use magis_syntax::SourceLanguage;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where a command finds the empty folder for its report.
const REPORTS: &str = "/magis-reports";
/// Where a check's files lie and its command runs.
const CHECK: &str = "/magis-check";
/// Where it is recorded which functions a command enters.
const RECORDS: &str = "/magis-records";
/// Python's sets have the same order in every run: tests that are made out of one keep their names, so that two runs can be compared.
const HASH_SEED: (&str, &str) = ("PYTHONHASHSEED", "0");

/// The folders below which packages are imported, beside the root itself.
const SOURCE_FOLDERS: [&str; 3] = ["src", "lib", "python"];

/// Files by their paths, with their new contents, or none where they are removed.
pub type ChangedFiles = Vec<(RepoPath, Option<Vec<u8>>)>;

/// A tree, written out once, on which any number of commands can run.
#[derive(Debug)]
pub struct Checkout {
    data: DataFolder,
    sandbox: Sandbox,
    tools: Toolchains,
    /// Where commands see the tree: the repository's own folder.
    root: PathBuf,
    scratch: ScratchFolder,
    left_out: Vec<SkippedFile>,
    /// What the first run on the base that ended by itself built, by its path in the tree, and where it lies.
    built: OnceLock<Vec<(String, PathBuf)>>,
}

/// What came of running tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestsRun {
    /// Program and arguments, as they were run.
    pub words: Vec<String>,
    /// Relative to the root.
    pub folder: String,
    pub outcome: Outcome,
    /// Test by test; where there is no report that can be read, why.
    pub results: Result<TestResults, String>,
    /// Whether the command ran and is one without a report, so that only its exit status tells something.
    pub only_status: bool,
}

impl Checkout {
    /// Writes the tree of `snapshot` out. `root` is the repository's folder; what is installed and built there is used. `progress` is told how many files
    /// there are so far and may break it off, then there is none.
    ///
    /// # Errors
    /// When the tree cannot be read, or the data folder not be written.
    pub fn create(
        data: &DataFolder,
        sandbox: Sandbox,
        snapshot: &Snapshot,
        root: &Path,
        progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<Option<Self>, EngineError> {
        let scratch = ScratchFolder::create(data)?;
        let tree = scratch.path().join(TREE);
        fs::create_dir(&tree).map_err(EngineError::io("make", &tree))?;
        let Some(left_out) = snapshot.check_out(&tree, progress)? else {
            return Ok(None);
        };
        // The tree can be run on without them, also where the repository's folder is gone by now.
        let built = snapshot
            .store()
            .git()
            .open(root)
            .and_then(|repository| repository.built_files());
        let built = built.unwrap_or_default().into_iter();
        for path in built.chain(installed::plug_and_play(root, &tree)) {
            copy_built(&path, root, &tree)?;
        }
        Ok(Some(Self {
            data: data.clone(),
            sandbox,
            tools: Toolchains::of_person(),
            root: root.to_owned(),
            scratch,
            left_out,
            built: OnceLock::new(),
        }))
    }

    /// Returns what of the tree is not there: submodules, say.
    pub fn left_out(&self) -> &[SkippedFile] {
        &self.left_out
    }

    /// Runs tests by a command, on the tree with `changes`: files by their paths, with their new contents, or none where they are removed.
    ///
    /// # Errors
    /// When the command cannot be narrowed down to these tests, or the sandbox fails.
    pub async fn run_tests(
        &self,
        command: &TestCommand,
        selection: TestSelection<'_>,
        changes: &[(RepoPath, Option<Vec<u8>>)],
        limits: Limits,
    ) -> Result<TestsRun, EngineError> {
        let worded = command.run(selection, REPORTS)?;
        let mut prepared = self.prepare(command, &worded, changes, limits)?;
        for words in &worded.preparation {
            prepared.job.command.clone_from(words);
            let outcome = self.sandbox.run(&prepared.job).await?;
            if !outcome.end.success() {
                let why = format!("the preparation `{}` {}", words.join(" "), outcome.end);
                return Ok(test_run(&worded, words, outcome, Err(why)));
            }
            // What was prepared stays in the layer; the changes are there already.
            prepared.job.files.clear();
        }
        prepared.job.command.clone_from(&worded.words);
        let (outcome, isolation) = self.sandbox.run_and_tell(&prepared.job).await?;
        let read = self.read(&worded, &prepared, &outcome, isolation.overlay);
        let missing = match &outcome.end {
            End::NotStarted(why) => {
                let what = not_started(&worded.words, why);
                Some(format!("{what}; install it, or give another test command"))
            }
            end if read.is_err() && !end.success() => missing_program(&worded.words, &outcome.printed()),
            _ => None,
        };
        if changes.is_empty() && isolation.overlay && matches!(outcome.end, End::Exited(_)) {
            self.keep_built(command, &prepared);
        }
        let only_status = worded.report.is_none() && missing.is_none();
        let results = read.map_err(|why| missing.unwrap_or(why));
        Ok(TestsRun {
            only_status,
            ..test_run(&worded, &worded.words, outcome, results)
        })
    }

    /// Runs a check that was made out of an issue, by the project's Python or Node and with its tools, on the tree with `changes`. Returns the command
    /// as well.
    ///
    /// # Errors
    /// When the sandbox fails.
    pub async fn run_check(
        &self,
        check: &Check,
        changes: &[(RepoPath, Option<Vec<u8>>)],
        limits: Limits,
    ) -> Result<(Vec<String>, Outcome), EngineError> {
        let prepared = self.prepare_check(check, changes, limits)?;
        let outcome = self.sandbox.run(&prepared.job).await?;
        Ok((prepared.job.command, outcome))
    }

    /// Runs a check on the tree as it is and returns the functions of the project that its Python or JavaScript enters, in that order; none where it has
    /// neither, or is broken off, or runs JavaScript that is made out of other files.
    ///
    /// # Errors
    /// When the sandbox fails.
    pub async fn reached_by_check(&self, check: &Check, limits: Limits) -> Result<Vec<ReachedFunction>, EngineError> {
        let own: Vec<&str> = check.files.iter().map(|file| file.path.as_str()).collect();
        self.reached_by(self.prepare_check(check, &[], limits)?, &own).await
    }

    /// Runs the tests of files on the tree as it is and returns the functions of the project that they enter, as [`Self::reached_by_check`] does.
    ///
    /// # Errors
    /// When the command cannot be narrowed down to these tests, or the sandbox fails.
    pub async fn reached_by_tests(
        &self,
        command: &TestCommand,
        selection: TestSelection<'_>,
        limits: Limits,
    ) -> Result<Vec<ReachedFunction>, EngineError> {
        let worded = command.run(selection, REPORTS)?;
        if !worded.preparation.is_empty() {
            return Ok(Vec::new());
        }
        let mut prepared = self.prepare(command, &worded, &[], limits)?;
        prepared.job.command.clone_from(&worded.words);
        self.reached_by(prepared, &[]).await
    }

    /// Runs a job and lets its Python and JavaScript record which functions of the project they enter. `own` are files that are put into the project to be
    /// run, and are not of it.
    async fn reached_by(&self, prepared: Prepared, own: &[&str]) -> Result<Vec<ReachedFunction>, EngineError> {
        let Prepared {
            mut job, mut scratch, ..
        } = prepared;
        let search = job.environment.get("PYTHONPATH").cloned().unwrap_or_default();
        let recorder = ReachRecorder::new(Path::new(RECORDS), &self.root, &search);
        let empty = scratch.path().join("records");
        fs::create_dir(&empty).map_err(EngineError::io("make", &empty))?;
        scratch.allow_change(&mut job, &empty, Path::new(RECORDS))?;
        job.files.extend(recorder.files.map(|(file, text)| JobFile {
            path: Path::new(RECORDS).join(file),
            contents: Some(text.as_bytes().to_vec()),
        }));
        let variables = recorder.variables.into_iter();
        job.environment
            .extend(variables.map(|(name, value)| (name.to_owned(), value)));
        self.sandbox.run(&job).await?;
        // What cannot be read tells nothing, and nothing else stands on it.
        let texts = written(scratch.last_layer(), ReachRecorder::is_record).unwrap_or_default();
        let mut reached = ReachRecorder::read(texts.iter().map(String::as_str));
        let is_own = |function: &ReachedFunction| own.contains(&function.0.as_str());
        // What was made out of other files says nothing of those.
        let is_made =
            |path: &RepoPath| SourceLanguage::of(path) == Some(SourceLanguage::JavaScript) && !self.has_file(path);
        let mut others = reached.iter().filter(|function| !is_own(function));
        if others.any(|function| RepoPath::new(&function.0).is_ok_and(|path| is_made(&path))) {
            return Ok(Vec::new());
        }
        // A full list may have left something out, and has to stay full.
        if reached.len() < MOST_ENTERED {
            reached.retain(|function| !is_own(function));
        }
        Ok(reached)
    }

    fn prepare_check(
        &self,
        check: &Check,
        changes: &[(RepoPath, Option<Vec<u8>>)],
        limits: Limits,
    ) -> Result<Prepared, EngineError> {
        let python = self.python();
        let mut job = SandboxJob::new(check.command.words(&python.program, &self.root), CHECK);
        job.limits = limits;
        job.environment.clone_from(&self.tools.environment);
        job.readable.extend(self.tools.readable.iter().cloned());
        let sources = SOURCE_FOLDERS.iter().map(|folder| self.root.join(folder));
        let sources = sources.filter(|folder| self.has_folder(folder));
        let search: Vec<String> = std::iter::once(self.root.clone())
            .chain(sources)
            .map(|folder| folder.display().to_string())
            .collect();
        let variables = [
            ("PYTHONPATH", search.join(":")),
            (HASH_SEED.0, HASH_SEED.1.to_owned()),
            ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
        ];
        job.environment
            .extend(variables.map(|(name, value)| (name.to_owned(), value)));
        job.files = self.changed(changes);
        job.files.extend(check.files.iter().map(|file| JobFile {
            path: Path::new(CHECK).join(&file.path),
            contents: Some(file.text.clone().into_bytes()),
        }));
        let mut scratch = ScratchFolder::create(&self.data)?;
        let empty = scratch.path().join("check");
        fs::create_dir(&empty).map_err(EngineError::io("make", &empty))?;
        scratch.allow_change(&mut job, &self.tree(), &self.root)?;
        scratch.allow_change(&mut job, &empty, Path::new(CHECK))?;
        if let Some(folder) = python.environment {
            let path = job.environment.get("PATH").cloned().unwrap_or_default();
            let programs = self.root.join(&folder.path).join("bin").display().to_string();
            job.environment.insert("PATH".to_owned(), format!("{programs}:{path}"));
            self.show_installed(&mut job, &mut scratch, &folder)?;
        }
        let is_rust = check.command == CheckCommand::Rust;
        let installed = installed::of_check(&self.root, &self.tree(), &check.command);
        let installed = self.show_environment(&mut job, &mut scratch, installed, |path| is_rust && path == TARGET)?;
        if is_rust {
            let cargo = TestRunner::Rust(RustRunner::CargoTest);
            for (original, at) in self.tools.changeable_by(Some(cargo)) {
                scratch.allow_change(&mut job, original, at)?;
            }
        }
        Ok(Prepared {
            job,
            scratch,
            installed,
        })
    }

    /// Keeps what a run on the tree as it is has built where the tree and the repository's folder have nothing, once: further runs begin with it, each
    /// with changes of its own. Otherwise each would build all that the tests depend on.
    fn keep_built(&self, command: &TestCommand, prepared: &Prepared) {
        self.built.get_or_init(|| {
            let Some(layer) = prepared.scratch.layer(TREE_LAYER) else {
                return Vec::new();
            };
            let is_new = |path: &String| !self.has_folder(&self.root.join(path)) && !prepared.installed.contains(path);
            let paths = command.environments().into_iter().filter(is_new);
            let taken = paths.enumerate().filter_map(|(number, path)| {
                let to = self.scratch.path().join(format!("built{number}"));
                layer.take_folder(Path::new(&path), &to).then_some((path, to))
            });
            taken.collect()
        });
    }

    /// Lets a job use and change what is installed at places of the tree, and what an earlier run has built. The latter stays where a person builds
    /// something meanwhile, which may be of other code. Returns the places of what is installed.
    fn show_environment(
        &self,
        job: &mut SandboxJob,
        scratch: &mut ScratchFolder,
        installed: Vec<InstalledFolder>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, EngineError> {
        let built = self.built.get().map_or(&[][..], Vec::as_slice);
        let mut places = Vec::new();
        for folder in installed {
            // Where the tree has a link nothing can be put, and the link leads to where the tree says.
            let is_link = self.tree().join(&folder.path).is_symlink();
            if !is_link && !built.iter().any(|(path, _)| *path == folder.path) {
                self.show_installed(job, scratch, &folder)?;
                places.push(folder.path);
            }
        }
        for (path, folder) in built.iter().filter(|(path, _)| is_wanted(path)) {
            scratch.allow_change(job, folder, &self.root.join(path))?;
        }
        Ok(places)
    }

    /// Finds the Python that a check runs on: that of the repository's virtual environment, else the one on the path.
    fn python(&self) -> Python {
        if let Some(folder) = installed::virtual_environment(&self.root) {
            return Python {
                program: "python".to_owned(),
                environment: Some(folder),
            };
        }
        let path = self
            .tools
            .environment
            .get("PATH")
            .map_or("/usr/local/bin:/usr/bin:/bin", String::as_str);
        let there = |name: &str| std::env::split_paths(path).any(|folder| folder.join(name).is_file());
        let program = if there("python3") || !there("python") {
            "python3"
        } else {
            "python"
        };
        Python {
            program: program.to_owned(),
            environment: None,
        }
    }

    /// Returns whether the tree has a file.
    pub fn has_file(&self, path: &RepoPath) -> bool {
        self.tree().join(path.as_str()).is_file()
    }

    /// Returns the folder into which the tree is written.
    fn tree(&self) -> PathBuf {
        self.scratch.path().join(TREE)
    }

    /// Returns whether the tree has a folder, by where commands see it.
    fn has_folder(&self, at: &Path) -> bool {
        at.strip_prefix(&self.root)
            .is_ok_and(|inside| self.tree().join(inside).is_dir())
    }

    fn changed(&self, changes: &[(RepoPath, Option<Vec<u8>>)]) -> Vec<JobFile> {
        let file = |(path, contents): &(RepoPath, Option<Vec<u8>>)| JobFile {
            path: self.root.join(path.as_str()),
            contents: contents.clone(),
        };
        changes.iter().map(file).collect()
    }

    fn prepare(
        &self,
        command: &TestCommand,
        worded: &WordedRun,
        changes: &[(RepoPath, Option<Vec<u8>>)],
        limits: Limits,
    ) -> Result<Prepared, EngineError> {
        let mut job = SandboxJob::new(Vec::<String>::new(), self.root.join(&worded.folder));
        job.limits = limits;
        job.environment.clone_from(&self.tools.environment);
        job.environment.insert(HASH_SEED.0.to_owned(), HASH_SEED.1.to_owned());
        job.environment.extend(worded.variables.iter().cloned());
        job.readable.extend(self.tools.readable.iter().cloned());
        if worded.report.is_some_and(|report| report.place == ReportPlace::Merged) {
            job.streams = Streams::Merged;
        }
        job.files = self.changed(changes);
        let mut scratch = ScratchFolder::create(&self.data)?;
        let reports = scratch.path().join("reports");
        fs::create_dir(&reports).map_err(EngineError::io("make", &reports))?;
        scratch.allow_change(&mut job, &self.tree(), &self.root)?;
        scratch.allow_change(&mut job, &reports, Path::new(REPORTS))?;
        let environments = command.environments();
        let installed = installed::of_run(&self.root, &self.tree(), command);
        let installed = self.show_environment(&mut job, &mut scratch, installed, |path| {
            environments.iter().any(|known| known == path)
        })?;
        for (original, at) in self.tools.changeable_by(command.runner) {
            scratch.allow_change(&mut job, original, at)?;
        }
        Ok(Prepared {
            job,
            scratch,
            installed,
        })
    }

    /// Lets a job use and change what is installed at a place of the tree.
    fn show_installed(
        &self,
        job: &mut SandboxJob,
        scratch: &mut ScratchFolder,
        folder: &InstalledFolder,
    ) -> Result<(), EngineError> {
        job.readable.extend(interpreter_of(&folder.original));
        // Its programs name the folder in which they were installed.
        if folder.is_linked && !folder.original.starts_with(&self.root) {
            job.readable.push(folder.original.clone());
        }
        scratch.allow_change(job, &folder.original, &self.root.join(&folder.path))?;
        Ok(())
    }

    /// Reads what a run reports. Where folders are copied, as there are no overlays, what they held before counts as written, too.
    fn read(
        &self,
        worded: &WordedRun,
        prepared: &Prepared,
        outcome: &Outcome,
        has_overlays: bool,
    ) -> Result<TestResults, String> {
        let Some(report) = worded.report else {
            return Err("this command has no report that tells test by test".to_owned());
        };
        let folder = self.root.join(&worded.folder);
        let texts = match report.place {
            ReportPlace::Stdout | ReportPlace::Merged => vec![outcome.stdout.text()],
            ReportPlace::Stderr => vec![outcome.stderr.text()],
            ReportPlace::Scratch(pattern) => {
                written(prepared.scratch.layer(REPORTS_LAYER), |path| pattern.matches(path))?
            }
            ReportPlace::Project(pattern) => {
                let mut texts = Vec::new();
                // Folders of builds have layers of their own.
                for (at, layer) in prepared.scratch.layers() {
                    let is_report = |path: &str| {
                        let place = at.join(path);
                        let inside = place.strip_prefix(&folder).ok().and_then(Path::to_str);
                        let is_old = || !has_overlays && has_same_bytes(&place, layer, Path::new(path));
                        inside.is_some_and(|path| pattern.matches(path)) && !is_old()
                    };
                    texts.extend(written(Some(layer), is_report)?);
                }
                texts
            }
        };
        let texts = texts.iter().map(String::as_str);
        results::read_all(report.form, texts, &folder.to_string_lossy()).map_err(|error| error.to_string())
    }
}

/// Copies a file that was built in the repository's folder into the tree, where the tree has its folder and nothing in its place.
fn copy_built(path: &RepoPath, root: &Path, tree: &Path) -> Result<(), EngineError> {
    let mut at = tree.to_owned();
    let mut names = Path::new(path.as_str()).components().peekable();
    while let Some(name) = names.next() {
        at.push(name);
        let there = at.symlink_metadata().ok();
        match (names.peek(), there) {
            // The last part: the file itself.
            (None, Some(_)) => return Ok(()),
            (None, None) => {
                let from = root.join(path.as_str());
                fs::copy(&from, &at).map_err(EngineError::io("copy", &from))?;
            }
            (Some(_), None) => fs::create_dir(&at).map_err(EngineError::io("make", &at))?,
            // A link may lead anywhere, and nothing is written through one.
            (Some(_), Some(kind)) if !kind.is_dir() => return Ok(()),
            (Some(_), Some(_)) => {}
        }
    }
    Ok(())
}

/// The folder of what Cargo builds.
const TARGET: &str = "target";
/// The name of the folder that holds the tree.
const TREE: &str = "tree";
/// The order in which layers are made.
const TREE_LAYER: usize = 0;
const REPORTS_LAYER: usize = 1;
/// Reports read of one run; a runner that writes one for each test class writes hundreds.
const MOST_REPORTS: usize = 10_000;

/// What runs a check's Python.
struct Python {
    program: String,
    /// Its virtual environment, where it has one.
    environment: Option<InstalledFolder>,
}

/// A job with the folder that takes up its changes.
struct Prepared {
    job: SandboxJob,
    scratch: ScratchFolder,
    /// Where in the tree what is installed in the repository's folder lies.
    installed: Vec<String>,
}

fn test_run(worded: &WordedRun, words: &[String], outcome: Outcome, results: Result<TestResults, String>) -> TestsRun {
    TestsRun {
        words: words.to_vec(),
        folder: worded.folder.clone(),
        outcome,
        results,
        only_status: false,
    }
}

/// Returns the texts of the files that a command wrote and that are meant.
fn written(layer: Option<&ScratchLayer>, is_meant: impl Fn(&str) -> bool) -> Result<Vec<String>, String> {
    let Some(layer) = layer else { return Ok(vec![]) };
    let mut texts = Vec::new();
    for path in layer.changed_files() {
        if path.to_str().is_some_and(&is_meant) && texts.len() < MOST_REPORTS {
            let bytes = layer
                .read(&path, results::MAX_REPORT_BYTES as u64)
                .map_err(|error| error.to_string())?;
            texts.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests;
