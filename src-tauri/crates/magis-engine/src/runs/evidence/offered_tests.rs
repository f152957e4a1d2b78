//! The checks that a patch passes as tests of the project: which of them, as which files, and whether the project's own test command sees them fail without
//! the patch and pass with it. Only those are offered.
//!
//! How a check is written as a test is known by `magis-evidence`; `apply` adds those that a person wants.

mod javascript;

use super::regression::nearest_tests;
use crate::EngineError;
use crate::evidence::ChangedFiles;
use crate::runs::bench::{SUITE_TIME, TestBench, candidates, program_run, test_name};
use crate::runs::workspace::Workspace;
use magis_core::{
    AsTestTrouble, BugCheck, ChangeTests, CheckAsTest, CheckId, CheckSource, CheckState, ProgramRun, RepoPath, TestName,
};
use magis_evidence::reproduction::{ProjectInUse, slug};
use magis_evidence::results::{Completeness, TestId, TestResults, TestStatus};
use magis_flow::Run;
use magis_sandbox::End;
use magis_syntax::SourceLanguage;
use std::collections::BTreeSet;

/// Writes the checks that the patch passes as tests, and runs each without the patch and with it. `tested` is what running the checks showed of the patch,
/// `files` are those that it changes.
pub(super) async fn checks_as_tests(
    work: &mut Workspace,
    run: &Run,
    tested: &ChangeTests,
    files: &ChangedFiles,
) -> Result<Vec<CheckAsTest>, EngineError> {
    let passes = |check: &BugCheck| {
        let mut seen = tested.checks.iter().filter(|seen| seen.check == check.id);
        seen.any(|seen| matches!(seen.state, CheckState::Gone { .. }))
    };
    let written: Vec<(&BugCheck, &str)> = run
        .checks()
        .iter()
        .filter(|check| passes(check))
        .filter_map(|check| Some((check, check.as_test.as_deref()?)))
        .collect();
    if written.is_empty() {
        return Ok(Vec::new());
    }
    let new_files = new_files(work, run, &written, files).await?;
    let bench = match work.bench(run).await? {
        Ok(bench) if bench.command.is_some() => bench,
        Ok(_) => return Ok(not_run(new_files, "there is no test command")),
        Err(why) => return Ok(not_run(new_files, &why)),
    };
    let judging = bench.judging(run).await?.ok().flatten().cloned();
    let bases = || judging.iter().chain(&bench.whole);
    let known: BTreeSet<&TestName> = bases()
        .flat_map(|base| base.statuses.keys().chain(&base.wavering))
        .collect();
    let mut found = Vec::new();
    for file in new_files {
        found.push(tried(bench, &known, file, files).await?);
    }
    Ok(found)
}

fn not_run(files: Vec<NewFile>, why: &str) -> Vec<CheckAsTest> {
    let of = |file: NewFile| CheckAsTest {
        check: file.check,
        path: file.path,
        text: file.text,
        trouble: Some(AsTestTrouble::NotRun { why: why.to_owned() }),
        run: ProgramRun::none(why),
    };
    files.into_iter().map(of).collect()
}

/// A check as a file that the project does not have yet.
struct NewFile {
    check: CheckId,
    path: RepoPath,
    text: String,
}

/// Returns the files of the checks that can be written as tests in the language of the project.
async fn new_files(
    work: &mut Workspace,
    run: &Run,
    written: &[(&BugCheck, &str)],
    changes: &ChangedFiles,
) -> Result<Vec<NewFile>, EngineError> {
    let project = work.project_in_use()?;
    let naming = naming(work, run, changes, project.language).await?;
    let slug = slug(run.request().issue.title());
    let mut files: Vec<NewFile> = Vec::new();
    for (check, text) in written {
        if language_of(check, run, &project) != Some(project.language) {
            continue;
        }
        let is_taken = |path: &RepoPath| {
            work.snapshot.blob(path).is_ok()
                || changes.iter().any(|(changed, _)| changed == path)
                || files.iter().any(|file| file.path == *path)
        };
        let path = naming.free_path(&slug, is_taken)?;
        let Some(text) = placed(text, &path, &project, &|path| Some(work.read(path).ok()?.text)) else {
            continue;
        };
        files.push(NewFile {
            check: check.id,
            path,
            text: format!("{}\n", text.trim_end()),
        });
    }
    Ok(files)
}

/// Runs the tests of a new file without the patch and with it. `known` are the tests that the project has already.
async fn tried(
    bench: &TestBench,
    known: &BTreeSet<&TestName>,
    file: NewFile,
    patch: &ChangedFiles,
) -> Result<CheckAsTest, EngineError> {
    let beside = |changes: &[(RepoPath, Option<Vec<u8>>)]| {
        let mut all = changes.to_vec();
        all.push((file.path.clone(), Some(file.text.clone().into_bytes())));
        all
    };
    let (without, run) = new_tests(bench, known, &file.path, &beside(&[])).await?;
    let (trouble, run) = match without {
        NewTests::NotRun(why) => (Some(AsTestTrouble::NotRun { why }), run),
        NewTests::Pass => (Some(AsTestTrouble::PassesWithout), run),
        NewTests::Fail => match new_tests(bench, known, &file.path, &beside(patch)).await? {
            (NewTests::NotRun(why), run) => (Some(AsTestTrouble::NotRun { why }), run),
            (NewTests::Fail, run) => (Some(AsTestTrouble::FailsWith), run),
            (NewTests::Pass, run) => (None, run),
        },
    };
    Ok(CheckAsTest {
        check: file.check,
        path: file.path,
        text: file.text,
        trouble,
        run,
    })
}

/// What the tests of a new file gave together.
enum NewTests {
    Pass,
    /// One of them at least, or they did not come to their end.
    Fail,
    /// Why none of them ran, in a sentence.
    NotRun(String),
}

impl NewTests {
    /// Reads the results of the tests that are the file's own.
    fn of(results: &TestResults, is_own: impl Fn(&TestId) -> bool) -> Self {
        let own = results.tests.iter().filter(|(id, _)| is_own(id));
        let statuses: Vec<TestStatus> = own.map(|(_, outcome)| outcome.status).collect();
        let breaks_off = matches!(results.completeness, Completeness::Partial(_));
        if breaks_off || statuses.iter().any(|status| status.is_bad()) {
            Self::Fail
        } else if statuses.contains(&TestStatus::Passed) {
            Self::Pass
        } else if statuses.is_empty() {
            Self::NotRun("the test command finds no test in it".to_owned())
        } else {
            Self::NotRun("it is skipped".to_owned())
        }
    }
}

/// Runs the tests of a new file on the tree with `changes`; all tests where the command cannot be narrowed down to a file.
async fn new_tests(
    bench: &TestBench,
    known: &BTreeSet<&TestName>,
    path: &RepoPath,
    changes: &ChangedFiles,
) -> Result<(NewTests, ProgramRun), EngineError> {
    let alone = bench.run_tests(std::slice::from_ref(path), changes, SUITE_TIME).await?;
    let done = match alone {
        Err(_) if !known.is_empty() => bench.run_tests(&[], changes, SUITE_TIME).await?,
        alone => alone,
    };
    let done = match done {
        Ok(done) => done,
        Err(why) => return Ok((NewTests::NotRun(why.clone()), ProgramRun::none(&why))),
    };
    // A command may run more than it is asked for.
    let is_own = |id: &TestId| match &id.file {
        Some(file) => path.as_str().ends_with(file.as_str()) || file.ends_with(path.as_str()),
        None => !known.contains(&test_name(id)),
    };
    let gave = match &done.results {
        Ok(results) => NewTests::of(results, is_own),
        Err(_) if matches!(done.outcome.end, End::TimeUsedUp(_)) => NewTests::Fail,
        Err(why) => NewTests::NotRun(format!("{why}; it {}", done.outcome.end)),
    };
    Ok((gave, program_run(&done.words, &done.folder, &done.outcome)))
}

/// Returns a test as it has to be in its file; none where it could not load there what it needs.
fn placed(
    text: &str,
    path: &RepoPath,
    project: &ProjectInUse,
    read: &dyn Fn(&RepoPath) -> Option<String>,
) -> Option<String> {
    if project.language == SourceLanguage::JavaScript {
        let manifest = RepoPath::new("package.json").ok().and_then(|manifest| read(&manifest));
        return javascript::placed(text, path, &manifest.unwrap_or_default());
    }
    if project.language == SourceLanguage::Rust {
        // The example of a crate's issue mostly takes its names for granted.
        let library = project.packages.get(1)?;
        let names_it = text.contains(&format!("{library}::"));
        return Some(if names_it {
            text.to_owned()
        } else {
            format!("use {library}::*;\n\n{text}")
        });
    }
    // A script that asserts at its top, as earlier versions recorded them, is no test.
    text.contains("def test").then(|| text.to_owned())
}

/// Where the tests of a project lie, and how their files are named.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TestNaming {
    /// Relative to the root; empty for the root.
    folder: String,
    /// What stands in the name of a file before the words for what it tests.
    before: &'static str,
    /// What stands behind them, with the extension.
    after: String,
}

impl TestNaming {
    /// Reads it off a file of tests; none where the path is none of one. Cargo has one place for tests alone.
    fn of(path: &RepoPath, language: SourceLanguage) -> Option<Self> {
        let (before, after) = if language == SourceLanguage::Python {
            of_python(path.file_name())?
        } else if language == SourceLanguage::JavaScript {
            of_javascript(path)?
        } else {
            return None;
        };
        Some(Self {
            folder: path.parent().to_owned(),
            before,
            after: after.to_owned(),
        })
    }

    /// Returns the usual one of a language.
    fn usual(folder: &str, language: SourceLanguage) -> Self {
        let (before, after) = if language == SourceLanguage::Python {
            ("test_", ".py")
        } else if language == SourceLanguage::JavaScript {
            ("", ".test.js")
        } else {
            ("", ".rs")
        };
        Self {
            folder: folder.to_owned(),
            before,
            after: after.to_owned(),
        }
    }

    /// Returns the path of a new file, with a number behind the words where the path without it is taken.
    fn free_path(&self, slug: &str, is_taken: impl Fn(&RepoPath) -> bool) -> Result<RepoPath, EngineError> {
        let Self { folder, before, after } = self;
        let folder = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let mut path = RepoPath::new(format!("{folder}{before}{slug}{after}"))?;
        let mut number = 2_u32;
        while is_taken(&path) {
            path = RepoPath::new(format!("{folder}{before}{slug}_{number}{after}"))?;
            number += 1;
        }
        Ok(path)
    }
}

fn of_python(name: &str) -> Option<(&'static str, &'static str)> {
    let stem = name.strip_suffix(".py")?;
    if stem.ends_with("_test") {
        Some(("", "_test.py"))
    } else if stem.starts_with("test_") || matches!(stem, "test" | "tests") {
        Some(("test_", ".py"))
    } else {
        None
    }
}

fn of_javascript(path: &RepoPath) -> Option<(&'static str, &str)> {
    const EXTENSIONS: [&str; 8] = ["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"];
    const ENDS: [&str; 6] = [".test", ".spec", "-test", "-spec", "_test", "_spec"];
    if !EXTENSIONS.contains(&path.extension().as_str()) {
        return None;
    }
    let name = path.file_name();
    let (stem, _) = name.rsplit_once('.')?;
    if let Some(end) = ENDS.into_iter().find(|end| stem.ends_with(*end)) {
        return Some(("", &name[stem.len() - end.len()..]));
    }
    let extension = &name[stem.len()..];
    if stem.starts_with("test-") {
        return Some(("test-", extension));
    }
    let within = |folder: &str| path.parent().split('/').any(|part| part == folder);
    let is_test = ["test", "tests", "__tests__", "spec"].into_iter().any(within);
    (is_test && !within("fixtures") && !within("helpers")).then_some(("", extension))
}

/// Returns the naming of the file of tests that is nearest to the changed files; the usual one where there are no tests.
async fn naming(
    work: &mut Workspace,
    run: &Run,
    changes: &ChangedFiles,
    language: SourceLanguage,
) -> Result<TestNaming, EngineError> {
    // A link, a submodule or a file of that name is not to be replaced by a folder.
    let is_taken = RepoPath::new("tests").is_ok_and(|tests| work.snapshot.blob(&tests).is_ok());
    let usual = TestNaming::usual(if is_taken { "" } else { "tests" }, language);
    if language == SourceLanguage::Rust {
        return Ok(usual);
    }
    let first = |paths: &[RepoPath]| paths.iter().find_map(|path| TestNaming::of(path, language));
    if let Some(found) = run.base_tests().and_then(|tests| first(&tests.files)) {
        return Ok(found);
    }
    let changed: Vec<RepoPath> = changes.iter().map(|(path, _)| path.clone()).collect();
    let reaching = nearest_tests(work, run, &changed).await?;
    if let Some(found) = first(&reaching) {
        return Ok(found);
    }
    let mut near = 0;
    let mut found = None;
    for (path, _) in &work.files()?.readable {
        let shared = changed.iter().map(|changed| shared_folders(changed, path)).max();
        if let (true, Some(naming)) = (found.is_none() || shared > Some(near), TestNaming::of(path, language)) {
            near = shared.unwrap_or(0);
            found = Some(naming);
        }
    }
    Ok(found.unwrap_or(usual))
}

/// Returns how many folders the paths begin with that are the same.
fn shared_folders(one: &RepoPath, other: &RepoPath) -> usize {
    let both = one.parent().split('/').zip(other.parent().split('/'));
    both.take_while(|(one, other)| one == other).count()
}

/// Returns the language that a check is written in as a test; none where it is a test of the project already.
fn language_of(check: &BugCheck, run: &Run, project: &ProjectInUse) -> Option<SourceLanguage> {
    match &check.source {
        CheckSource::Issue { number } => {
            let (_, check) = candidates(run, project).find(|(at, _)| at == number)?;
            Some(check.command.language())
        }
        CheckSource::Written { path } => SourceLanguage::of(path),
        CheckSource::Given { .. } | CheckSource::FailingTests { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a file of tests, and names a new one after it where `taken` are there.
    fn check(language: SourceLanguage, test: &str, taken: &[&str], expected: &str) {
        let path = RepoPath::new(test).unwrap();
        let naming = TestNaming::of(&path, language).unwrap();
        let is_taken = |path: &RepoPath| taken.contains(&path.as_str());
        let named = naming.free_path("empty_report", is_taken).unwrap();
        assert_eq!(named.as_str(), expected, "{test}");
    }

    #[test]
    fn a_test_is_named_as_the_one_beside_it() {
        let python = |test, expected| check(SourceLanguage::Python, test, &[], expected);
        python("tests/unit/test_report.py", "tests/unit/test_empty_report.py");
        python("report_test.py", "empty_report_test.py");
        python("polls/tests.py", "polls/test_empty_report.py");
        let javascript = |test, expected| check(SourceLanguage::JavaScript, test, &[], expected);
        javascript("lib/report.test.mjs", "lib/empty_report.test.mjs");
        javascript("src/report.spec.ts", "src/empty_report.spec.ts");
        javascript("test/report-test.js", "test/empty_report-test.js");
        javascript("test/parallel/test-report.js", "test/parallel/test-empty_report.js");
        javascript("test/report.js", "test/empty_report.js");
    }

    #[test]
    fn files_beside_tests_are_none() {
        let check = |language, path: &str| {
            let path = RepoPath::new(path).unwrap();
            assert_eq!(TestNaming::of(&path, language), None, "{path}");
        };
        check(SourceLanguage::Python, "tests/conftest.py");
        check(SourceLanguage::Python, "tests/__init__.py");
        check(SourceLanguage::JavaScript, "test/fixtures/report.js");
        check(SourceLanguage::JavaScript, "test/report.json");
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let taken = ["tests/test_empty_report.py", "tests/test_empty_report_2.py"];
        let expected = "tests/test_empty_report_3.py";
        check(SourceLanguage::Python, "tests/test_report.py", &taken, expected);
        let taken = ["empty_report_test.py"];
        check(
            SourceLanguage::Python,
            "report_test.py",
            &taken,
            "empty_report_2_test.py",
        );
    }

    #[test]
    fn tests_of_a_crate_lie_in_the_folder_of_cargo() {
        let naming = TestNaming::usual("tests", SourceLanguage::Rust);
        let path = naming.free_path("empty_report", |_| false).unwrap();
        assert_eq!(path.as_str(), "tests/empty_report.rs");
    }
}
