//! Rust: `cargo test`, and cargo-nextest where a project configures it.

use super::family::{Found, Runner, Standing, Wanted, Worded, distinct, insert, owned, printed, with};
use super::files::{Tree, has_extension, join, outermost, stem};
use super::{ReportPlace, SelectionError};
use crate::results::ReportForm;

/// A runner of Rust tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RustRunner {
    CargoTest,
    Nextest,
}

use RustRunner::{CargoTest, Nextest};

pub(super) fn find(tree: &Tree) -> Vec<Found<RustRunner>> {
    let mut found = Vec::new();
    for folder in outermost(tree.folders_with(&["Cargo.toml"])) {
        let manifest = join(&folder, "Cargo.toml");
        let Some(table) = tree.text(&manifest).and_then(|text| text.parse::<toml::Table>().ok()) else {
            continue;
        };
        let (scope, reason): (&[&str], _) = match (table.contains_key("workspace"), table.contains_key("package")) {
            (true, _) => (&["--workspace"], format!("{manifest} has [workspace]")),
            (false, true) => (&[], format!("{manifest} has [package]")),
            (false, false) => continue,
        };
        let config = join(&folder, ".config/nextest.toml");
        if tree.has(&config) {
            let words = [&["cargo", "nextest", "run", "--offline"], scope].concat();
            found.push(Found::new(
                Nextest,
                &words,
                &folder,
                Standing::Configured,
                format!("{config} is there"),
            ));
        }
        let words = [&["cargo", "test", "--offline"], scope].concat();
        found.push(Found::new(CargoTest, &words, &folder, Standing::Configured, reason));
    }
    found
}

pub(super) fn recognise(words: &[&str]) -> Option<RustRunner> {
    let (program, rest) = words.split_first()?;
    let subcommand = rest.iter().find(|word| !word.starts_with(['+', '-']))?;
    match (*program, *subcommand) {
        ("cargo", "test" | "t") => Some(CargoTest),
        ("cargo", "nextest") => Some(Nextest),
        _ => None,
    }
}

impl Runner for RustRunner {
    fn name(&self) -> &'static str {
        match self {
            CargoTest => "cargo test",
            Nextest => "cargo nextest",
        }
    }

    fn environments(&self) -> &'static [&'static str] {
        match self {
            CargoTest | Nextest => &["target", "vendor"],
        }
    }

    /// Tests within the code that they test cannot be told by a path; these are the files that are nothing but tests.
    fn is_test_file(&self, path: &str) -> bool {
        let name = stem(path);
        let named = name == "tests" || name == "test" || name.ends_with("_test") || name.ends_with("_tests");
        has_extension(path, &["rs"]) && (named || path.starts_with("tests/") || path.contains("/tests/"))
    }

    fn words(&self, words: &[String], wanted: Wanted, _scratch: &str) -> Worded {
        let options: &[&str] = match self {
            CargoTest => &["--no-fail-fast", "--color", "never"],
            Nextest => &[
                "--no-fail-fast",
                "--color",
                "never",
                "--status-level",
                "all",
                "--final-status-level",
                "none",
            ],
        };
        let (targets, filters) = match wanted {
            Wanted::Whole => (Vec::new(), Vec::new()),
            Wanted::Files(files) => of_files(files)?,
            Wanted::Tests(tests) if tests.iter().any(|test| test.name.is_empty()) => {
                return Err(SelectionError::Cannot(self.name()));
            }
            Wanted::Tests(tests) => {
                let names = tests.iter().map(|test| test.name.clone()).collect();
                (Vec::new(), with(&owned(&["--exact"]), distinct(names)))
            }
        };
        // The options are cargo's, the filters libtest's, and two dashes part them.
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        let mut words = insert(words, end, &with(&owned(options), targets));
        if !filters.is_empty() {
            if !words.iter().any(|word| word == "--") {
                words.push("--".to_owned());
            }
            words.extend(filters);
        }
        let report = match self {
            CargoTest => Some(printed(ReportForm::Libtest, ReportPlace::Merged)),
            Nextest => Some(printed(ReportForm::Nextest, ReportPlace::Merged)),
        };
        Ok((words, report))
    }
}

/// Words the tests of files: those of `tests/` as targets, those of `src/` by their modules. With both, the modules
/// cannot be filtered for, as a filter holds for all targets.
fn of_files(files: &[String]) -> Result<(Vec<String>, Vec<String>), SelectionError> {
    let (mut targets, mut modules) = (Vec::new(), Vec::new());
    for file in files {
        if let Some(path) = inside(file, "tests") {
            let target = path.split('/').next().unwrap_or(path);
            targets.extend(["--test".to_owned(), target.trim_end_matches(".rs").to_owned()]);
        } else if let Some(path) = inside(file, "src") {
            let path = path.trim_end_matches(".rs");
            let path = path.strip_suffix("/mod").unwrap_or(path);
            modules.push(format!("{}::", path.replace('/', "::")));
        } else {
            return Err(SelectionError::NotATest {
                runner: "cargo",
                file: file.clone(),
            });
        }
    }
    let whole_crate = |module: &String| matches!(module.as_str(), "lib::" | "main::");
    if modules.is_empty() {
        return Ok((targets, Vec::new()));
    }
    if modules.iter().any(whole_crate) || !targets.is_empty() {
        return Ok((vec!["--tests".to_owned()], Vec::new()));
    }
    Ok((vec!["--tests".to_owned()], modules))
}

/// Returns the path behind the first folder of this name.
fn inside<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let prefix = format!("{folder}/");
    path.strip_prefix(&prefix)
        .or_else(|| path.split_once(&format!("/{prefix}")).map(|(_, rest)| rest))
}
