//! .NET: `dotnet test`.

use super::family::{Found, Runner, Standing, Wanted, Worded, distinct, in_scratch, with, without_parameters};
use super::files::{Tree, has_extension, is_within, join, stem};
use crate::results::ReportForm;

/// The runner of .NET tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DotnetRunner {
    DotnetTest,
}

use DotnetRunner::DotnetTest;

pub(super) fn find(tree: &Tree) -> Vec<Found<DotnetRunner>> {
    let is_solution = |name: &str| has_extension(name, &["sln", "slnx"]);
    let is_project = |name: &str| has_extension(name, &["csproj", "fsproj", "vbproj"]);
    let solutions = tree.folders_where(is_solution);
    let words = ["dotnet", "test", "--no-restore"];
    let mut tested: Vec<(String, String)> = Vec::new();
    for folder in tree.folders_where(is_project) {
        let projects = tree
            .below(&folder)
            .into_iter()
            .filter(|path| !path.contains('/') && is_project(path));
        let projects = projects.map(|name| join(&folder, name));
        let is_tests = |path: &String| {
            tree.text(path)
                .is_some_and(|text| text.contains("Microsoft.NET.Test.Sdk"))
        };
        if let Some(path) = projects.collect::<Vec<_>>().into_iter().find(is_tests) {
            let solution = solutions.iter().find(|solution| is_within(solution, &folder));
            let folder = solution.cloned().unwrap_or(folder);
            if !tested.iter().any(|(known, _)| *known == folder) {
                tested.push((folder, path));
            }
        }
    }
    let found = |(folder, path): (String, String)| {
        let reason = format!("{path} names Microsoft.NET.Test.Sdk");
        Found::new(DotnetTest, &words, &folder, Standing::Configured, reason)
    };
    tested.into_iter().map(found).collect()
}

pub(super) fn recognise(words: &[&str]) -> Option<DotnetRunner> {
    words.starts_with(&["dotnet", "test"]).then_some(DotnetTest)
}

impl Runner for DotnetRunner {
    fn name(&self) -> &'static str {
        match self {
            DotnetTest => "dotnet test",
        }
    }

    fn environments(&self) -> &'static [&'static str] {
        match self {
            DotnetTest => &["obj", "bin"],
        }
    }

    fn is_test_file(&self, path: &str) -> bool {
        let is_code = has_extension(path, &["cs", "fs", "vb"]);
        is_code
            && ["Test", "Tests", "Spec", "Specs"]
                .iter()
                .any(|end| stem(path).ends_with(end))
    }

    /// Files are chosen by the classes that they are named after.
    fn words(&self, words: &[String], wanted: Wanted, scratch: &str) -> Worded {
        let names: Vec<String> = match wanted {
            Wanted::Whole => Vec::new(),
            Wanted::Files(files) => files.iter().map(|file| format!(".{}.", stem(file))).collect(),
            Wanted::Tests(tests) => {
                let name = |test: &crate::results::TestId| {
                    let name = without_parameters(&test.name);
                    if test.group.is_empty() {
                        name.to_owned()
                    } else {
                        format!("{}.{name}", test.group)
                    }
                };
                tests.iter().map(name).collect()
            }
        };
        let mut words = with(words, ["--logger", "trx", "--results-directory", scratch]);
        if !names.is_empty() {
            let parts = distinct(names)
                .into_iter()
                .map(|name| format!("FullyQualifiedName~{name}"));
            words.extend(["--filter".to_owned(), parts.collect::<Vec<_>>().join("|")]);
        }
        Ok((words, Some(in_scratch(ReportForm::Trx, "*.trx"))))
    }
}
