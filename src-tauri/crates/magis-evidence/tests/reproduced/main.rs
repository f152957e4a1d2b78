//! Checks made out of issues, run on small projects by the project's own interpreter or compiler.

#![expect(clippy::unwrap_used, reason = "a test says so by failing")]

mod javascript;
mod python;
mod rust;

use magis_core::RepoPath;
use magis_evidence::reproduction::{
    Check, Marker, Observation, ProjectInUse, RunEnd, RunOutput, checks, observe, project_in_use, reproduces, verdict,
};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A project in a folder.
struct SmallProject {
    root: TempDir,
    paths: Vec<RepoPath>,
}

impl SmallProject {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Self {
            root: tempfile::tempdir().unwrap(),
            paths: files.iter().map(|(path, _)| RepoPath::new(*path).unwrap()).collect(),
        };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    fn write(&self, path: &str, text: &str) {
        write(self.root.path(), path, text);
    }

    fn in_use(&self) -> ProjectInUse {
        project_in_use(&self.paths, &|path| {
            fs::read_to_string(self.root.path().join(path.as_str())).ok()
        })
    }

    fn checks(&self, issue: &str) -> Vec<Check> {
        checks(issue, &self.in_use(), &Marker::new("0123456789abcdef0123").unwrap())
    }

    fn first_check(&self, issue: &str) -> Check {
        self.checks(issue).remove(0)
    }

    fn run(&self, check: &Check) -> Observation {
        let folder = tempfile::tempdir().unwrap();
        for file in &check.files {
            write(folder.path(), &file.path, &file.text);
        }
        let words = check.command.words("python3", self.root.path());
        let output = Command::new(&words[0])
            .args(&words[1..])
            .current_dir(folder.path())
            .env("PYTHONPATH", self.root.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let output = RunOutput {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            ending: RunEnd::Exited(output.status.code().unwrap()),
        };
        observe(check, &output)
    }

    /// Returns what the first check of an issue says of the project, and of the same with another text of a file.
    fn verdict(&self, issue: &str, path: &str, changed: &str) -> String {
        let check = self.first_check(issue);
        let base = self.run(&check);
        match reproduces(&check, &base) {
            Ok(found) => {
                self.write(path, changed);
                let now = self.run(&check);
                format!("{:?}; {:?}", found.attainable(), verdict(&check, &found, &base, &now))
            }
            Err(why) => format!("{why}\n{}", base.session(&check)),
        }
    }

    /// Runs a command in the project and returns whether it succeeds.
    fn succeeds(&self, words: &[&str]) -> bool {
        let run = Command::new(words[0])
            .args(&words[1..])
            .current_dir(self.root.path())
            .output();
        run.unwrap().status.success()
    }
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
