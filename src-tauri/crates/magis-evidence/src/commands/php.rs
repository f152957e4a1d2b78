//! PHP: `PHPUnit`.

use super::family::{Found, Runner, Standing, Wanted, Worded, any_of, in_scratch, with};
use super::files::{Tree, file_name, join, stem};
use crate::results::ReportForm;

/// The runner of PHP tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PhpRunner {
    PhpUnit,
}

use PhpRunner::PhpUnit;

pub(super) fn find(tree: &Tree) -> Vec<Found<PhpRunner>> {
    let configurations = ["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"];
    let mut found = Vec::new();
    for folder in tree.folders_with(&[&configurations[..], &["composer.json"]].concat()) {
        let manifest = join(&folder, "composer.json");
        // Composer installs it below its file; a project without one uses that of the system.
        let words: &[&str] = if tree.has(&manifest) {
            &["php", "vendor/bin/phpunit"]
        } else {
            &["phpunit"]
        };
        let configuration = configurations
            .iter()
            .map(|name| join(&folder, name))
            .find(|path| tree.has(path));
        if let Some(path) = configuration {
            found.push(Found::new(
                PhpUnit,
                words,
                &folder,
                Standing::Configured,
                format!("{path} is there"),
            ));
        } else if tree
            .text(&manifest)
            .is_some_and(|text| text.contains("phpunit/phpunit"))
        {
            let reason = format!("{manifest} names phpunit/phpunit");
            found.push(Found::new(PhpUnit, words, &folder, Standing::Named, reason));
        }
    }
    found
}

pub(super) fn recognise(words: &[&str]) -> Option<PhpRunner> {
    let program = words
        .iter()
        .copied()
        .find(|word| *word != "php" && !word.starts_with('-'))?;
    matches!(file_name(program), "phpunit" | "phpunit.phar").then_some(PhpUnit)
}

impl Runner for PhpRunner {
    fn name(&self) -> &'static str {
        match self {
            PhpUnit => "PHPUnit",
        }
    }

    fn environments(&self) -> &'static [&'static str] {
        match self {
            PhpUnit => &["vendor"],
        }
    }

    fn is_test_file(&self, path: &str) -> bool {
        path.ends_with("Test.php")
    }

    /// Before version 10 only one file can be named, so files are chosen by the classes that they are named after.
    fn words(&self, words: &[String], wanted: Wanted, scratch: &str) -> Worded {
        let report = format!("{scratch}/report.xml");
        let filter = match wanted {
            Wanted::Whole => None,
            Wanted::Files(files) => Some(format!("/\\b{}::/", any_of(files.iter().map(|file| stem(file))))),
            Wanted::Tests(tests) => Some(format!("/::{}$/", any_of(tests.iter().map(|test| test.name.as_str())))),
        };
        let words = with(words, ["--log-junit", report.as_str()]);
        let filter = filter.into_iter().flat_map(|filter| ["--filter".to_owned(), filter]);
        Ok((with(&words, filter), Some(in_scratch(ReportForm::JUnit, "report.xml"))))
    }
}
