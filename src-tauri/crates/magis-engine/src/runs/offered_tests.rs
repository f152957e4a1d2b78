//! The checks of a run as tests that can be added to its patch: which of them, and as which files. Of the project only the base tree is read.
//!
//! How a check is written as a test is known by `magis-evidence`; `apply` adds those that a person wants.

mod javascript;

use super::bench::candidates;
use crate::evidence::{TestFile, nearest};
use crate::{EngineError, Magis};
use magis_core::{BugCheck, CheckId, CheckSource, CheckState, RepoPath, RunId};
use magis_evidence::reproduction::{ProjectInUse, project_in_use, slug};
use magis_flow::Run;
use magis_repo::{Patch, RepoError, Snapshot};
use magis_syntax::{SourceLanguage, outline};

/// Files of tests that are looked at where the run ranked none.
const LOOKED_AT: usize = 3_000;

/// A check as a new file of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedTest {
    pub check: CheckId,
    pub path: RepoPath,
    /// All that stands in the file.
    pub text: String,
}

impl Magis {
    /// Returns the tests that can be added to the merged change of a run: the checks that can be written as one in the language of the project, but for
    /// those that are known to fail with the change. None where the base tree is not here.
    ///
    /// # Errors
    /// When there is no such run, or the base tree or the database cannot be read.
    pub fn offered_tests(&self, run: RunId) -> Result<Vec<OfferedTest>, EngineError> {
        let state = self.state(run)?;
        let Some(merged) = state.merged() else {
            return Ok(Vec::new());
        };
        let tests = state.checks().iter().filter(|check| may_pass(&state, check.id));
        let tests: Vec<(&BugCheck, &str)> = tests
            .filter_map(|check| Some((check, check.as_test.as_deref()?)))
            .collect();
        if tests.is_empty() {
            return Ok(Vec::new());
        }
        let texts = self.texts(run)?;
        let Some(base) = texts.base() else {
            return Ok(Vec::new());
        };
        let patch = Patch::parse(&merged.patch).map_err(RepoError::from)?;
        let paths: Vec<RepoPath> = base.files()?.0.into_iter().map(|file| file.path).collect();
        let project = project_in_use(&paths, &|path| text_of(base, path));
        let naming = naming(&state, base, &paths, &patch, project.language);
        let slug = slug(state.request().issue.title());
        let mut offered: Vec<OfferedTest> = Vec::new();
        for (check, text) in tests {
            if language_of(check, &state, &project) != Some(project.language) {
                continue;
            }
            let is_taken = |path: &RepoPath| {
                base.blob(path).is_ok()
                    || patch.files.iter().any(|file| file.path == *path)
                    || offered.iter().any(|test| test.path == *path)
            };
            let path = naming.free_path(&slug, is_taken)?;
            let Some(text) = placed(text, &path, &project, &|path| text_of(base, path)) else {
                continue;
            };
            offered.push(OfferedTest {
                check: check.id,
                path,
                text: format!("{}\n", text.trim_end()),
            });
        }
        Ok(offered)
    }
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
fn naming(state: &Run, base: &Snapshot, paths: &[RepoPath], patch: &Patch, language: SourceLanguage) -> TestNaming {
    let mut ranked = state.base_tests().into_iter().flat_map(|tests| &tests.files);
    if let Some(found) = ranked.find_map(|path| TestNaming::of(path, language)) {
        return found;
    }
    let tests = paths.iter().filter(|path| TestNaming::of(path, language).is_some());
    let tests = tests.take(LOOKED_AT).filter_map(|path| {
        Some(TestFile {
            path: path.clone(),
            text: text_of(base, path)?,
        })
    });
    let tests: Vec<TestFile> = tests.collect();
    let changed = patch.files.iter().filter_map(|file| {
        let path = file.old_path();
        let symbols = outline(path, &text_of(base, path)?).symbols.into_iter();
        let names: Vec<String> = symbols.map(|symbol| symbol.name).collect();
        Some((path.clone(), names))
    });
    let changed: Vec<(RepoPath, Vec<String>)> = changed.collect();
    let shared = |test: &RepoPath| changed.iter().map(|(path, _)| shared_folders(path, test)).max();
    let reaching = nearest(&changed, &tests, &[]).into_iter().next();
    let in_a_folder_near = || {
        let test = tests.iter().rev().max_by_key(|test| shared(&test.path));
        test.map(|test| test.path.clone())
    };
    let found = reaching.or_else(in_a_folder_near);
    found
        .and_then(|path| TestNaming::of(&path, language))
        .unwrap_or_else(|| {
            // A link, a submodule or a file of that name is not to be replaced by a folder.
            let is_taken = RepoPath::new("tests").is_ok_and(|tests| base.blob(&tests).is_ok());
            TestNaming::usual(if is_taken { "" } else { "tests" }, language)
        })
}

/// Returns how many folders the paths begin with that are the same.
fn shared_folders(one: &RepoPath, other: &RepoPath) -> usize {
    let both = one.parent().split('/').zip(other.parent().split('/'));
    both.take_while(|(one, other)| one == other).count()
}

/// Returns the text of a file of the base, and copies nothing: the data folder may be one that is only read.
fn text_of(base: &Snapshot, path: &RepoPath) -> Option<String> {
    Some(base.scan(&base.blob(path).ok()?).ok()?.text)
}

/// Returns whether nothing says that a check fails with the patch.
fn may_pass(state: &Run, check: CheckId) -> bool {
    let tested = state.patch_tests().into_iter().flat_map(|tests| &tests.checks);
    let mut of_check = tested.filter(|run| run.check == check);
    of_check.all(|run| matches!(run.state, CheckState::Gone { .. }))
}

/// Returns the language that a check is written in as a test; none where it is a test of the project already.
fn language_of(check: &BugCheck, state: &Run, project: &ProjectInUse) -> Option<SourceLanguage> {
    match &check.source {
        CheckSource::Issue { number } => {
            let (_, check) = candidates(state, project).find(|(at, _)| at == number)?;
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
