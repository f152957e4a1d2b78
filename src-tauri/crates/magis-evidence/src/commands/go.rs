//! Go: `go test`.

use super::ReportPlace;
use super::family::{Found, Runner, Standing, Wanted, Worded, any_of, distinct, insert, owned, printed, with};
use super::files::{Tree, join};
use crate::results::ReportForm;

/// The runner of Go tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GoRunner {
    GoTest,
}

use GoRunner::GoTest;

pub(super) fn find(tree: &Tree) -> Vec<Found<GoRunner>> {
    let found = |folder: String| {
        let reason = format!("{} is there", join(&folder, "go.mod"));
        Found::new(GoTest, &["go", "test", "./..."], &folder, Standing::Configured, reason)
    };
    tree.folders_with(&["go.mod"]).into_iter().map(found).collect()
}

pub(super) fn recognise(words: &[&str]) -> Option<GoRunner> {
    words.starts_with(&["go", "test"]).then_some(GoTest)
}

impl Runner for GoRunner {
    fn name(&self) -> &'static str {
        match self {
            GoTest => "go test",
        }
    }

    fn environments(&self) -> &'static [&'static str] {
        match self {
            GoTest => &["vendor"],
        }
    }

    fn is_test_file(&self, path: &str) -> bool {
        path.ends_with("_test.go")
    }

    /// Files are run as the packages that they belong to.
    fn words(&self, words: &[String], wanted: Wanted, _scratch: &str) -> Worded {
        let report = Some(printed(ReportForm::GoTest, ReportPlace::Stdout));
        let (packages, names) = match wanted {
            Wanted::Whole => return Ok((insert(words, 2, &owned(&["-json"])), report)),
            Wanted::Files(files) => {
                let package = |file: &String| match file.rsplit_once('/') {
                    Some((folder, _)) => format!("./{folder}"),
                    None => ".".to_owned(),
                };
                (files.iter().map(package).collect(), Vec::new())
            }
            Wanted::Tests(tests) => {
                let whole_package = tests.iter().any(|test| test.name.is_empty());
                let top = |name: &'_ str| name.split('/').next().unwrap_or_default().to_owned();
                let names: Vec<String> = tests.iter().map(|test| top(&test.name)).collect();
                let names = if whole_package { Vec::new() } else { names };
                (tests.iter().map(|test| test.group.clone()).collect(), names)
            }
        };
        let is_package = |word: &&String| word.starts_with('.') || word.ends_with("...");
        let words: Vec<String> = words.iter().filter(|word| !is_package(word)).cloned().collect();
        let mut options = owned(&["-json"]);
        if !names.is_empty() {
            let names = any_of(names.iter().map(String::as_str));
            options.extend(["-run".to_owned(), format!("^{names}$")]);
        }
        Ok((with(&insert(&words, 2, &options), distinct(packages)), report))
    }
}
