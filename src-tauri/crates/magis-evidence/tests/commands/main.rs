//! The files of small projects in, their test commands out; commands worded; and lines that people give.

#![expect(clippy::unwrap_used, reason = "a test says so by failing")]

mod found;
mod given;
mod worded;

use magis_core::RepoPath;
use magis_evidence::commands::{ProjectFiles, TestCommand, TestSelection, find};
use magis_evidence::results::TestId;
use std::collections::BTreeMap;

/// A project as a map from path to text.
struct Project {
    paths: Vec<RepoPath>,
    texts: BTreeMap<String, String>,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        Self {
            paths: files.iter().map(|(path, _)| RepoPath::new(*path).unwrap()).collect(),
            texts: files
                .iter()
                .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
                .collect(),
        }
    }
}

impl ProjectFiles for Project {
    fn paths(&self) -> &[RepoPath] {
        &self.paths
    }

    fn text(&self, path: &RepoPath) -> Option<String> {
        self.texts.get(path.as_str()).cloned()
    }
}

/// The first command of a project.
fn first(files: &[(&str, &str)]) -> TestCommand {
    find(&Project::new(files)).into_iter().next().unwrap()
}

fn test(file: &str, group: &str, name: &str) -> TestId {
    TestId {
        file: (!file.is_empty()).then(|| file.to_owned()),
        group: group.to_owned(),
        name: name.to_owned(),
    }
}

/// Words a run into the scratch folder `/s`.
fn worded(command: &TestCommand, selection: TestSelection) -> String {
    match command.run(selection, "/s/") {
        Ok(run) => run.words.join(" "),
        Err(error) => error.to_string(),
    }
}
