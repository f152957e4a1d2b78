//! A corpus of hostile repositories: each is made to hang, to kill, to mislead or to fill the machine of whoever reads it, or
//! to have a program run. [`GROUPS`] lists them; [`HostileRepo::make`] writes one into a folder.
//!
//! They are written by libgit2, by the `git` program where only that can, and byte by byte where neither would. What has to
//! become of each is for the tests of whoever reads them to say.

mod formats;
mod indexes;
mod layout;
mod names;
mod objects;
mod packs;
mod raw;
mod references;
mod rules;
mod settings;
mod work_tree;

use crate::FixtureRepo;
use std::fs;
use std::path::{Path, PathBuf};

/// A group of hostile repositories, by what in them is hostile.
#[derive(Debug)]
pub struct HostileGroup {
    pub name: &'static str,
    pub repositories: &'static [HostileRepo],
}

/// All hostile repositories, by what in them is hostile.
pub const GROUPS: [HostileGroup; 10] = [
    rules::GROUP,
    layout::GROUP,
    settings::GROUP,
    objects::GROUP,
    packs::GROUP,
    references::GROUP,
    indexes::GROUP,
    names::GROUP,
    work_tree::GROUP,
    formats::GROUP,
];

/// A hostile repository that can be made.
#[derive(Debug)]
pub struct HostileRepo {
    /// A short name, of letters and hyphens.
    pub name: &'static str,
    /// What is hostile about it.
    pub what: &'static str,
    /// The folder that a person opens, relative to the root of the repository.
    opened: &'static str,
    /// Arguments with which `git` itself runs the program that the repository names; none where it names none.
    git_runs: &'static [&'static str],
    make: fn(&FixtureRepo),
}

/// One that was made.
#[derive(Debug)]
pub struct MadeRepo {
    /// The folder that a person opens.
    pub folder: PathBuf,
    /// The folder that all of it lies in.
    pub all: PathBuf,
}

impl HostileRepo {
    const fn new(name: &'static str, what: &'static str, make: fn(&FixtureRepo)) -> Self {
        Self {
            name,
            what,
            opened: "",
            git_runs: &[],
            make,
        }
    }

    const fn opened_at(self, opened: &'static str) -> Self {
        Self { opened, ..self }
    }

    const fn run_by(self, git_runs: &'static [&'static str]) -> Self {
        Self { git_runs, ..self }
    }

    /// Makes it in a folder, which has to be empty. It begins as [`begin`] has it.
    pub fn make(&self, folder: &Path) -> MadeRepo {
        let fixture = begin(folder);
        let root = fixture.root().to_owned();
        (self.make)(&fixture);
        MadeRepo {
            folder: root.join(self.opened),
            all: folder.to_owned(),
        }
    }

    /// Returns what `git` is asked to have it run the program that the repository names; empty where it names none.
    pub fn git_runs(&self) -> &'static [&'static str] {
        self.git_runs
    }
}

impl MadeRepo {
    /// Returns what the programs said that the repository names, if one was run.
    pub fn programs_run(&self) -> Option<String> {
        fs::read_to_string(self.all.join(raw::MARK)).ok()
    }
}

/// Makes an ordinary repository of one commit in a folder: what each hostile one begins as.
pub fn begin(folder: &Path) -> FixtureRepo {
    let fixture = FixtureRepo::in_folder(folder);
    fixture
        .write("app.py", "def main():\n    return 1\n")
        .write("lib/sums.py", "def total(entries):\n    return sum(entries[:-1])\n")
        .commit("First");
    fixture
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::process::{Command, Stdio};

    #[test]
    fn each_has_a_name_of_its_own() {
        let all: Vec<&HostileRepo> = GROUPS.iter().flat_map(|group| group.repositories).collect();
        let names: BTreeSet<&str> = all.iter().map(|hostile| hostile.name).collect();
        assert_eq!(names.len(), all.len());
    }

    /// What a repository names is hostile only where something runs it: git itself does, in these.
    #[test]
    fn the_program_git_runs_what_they_name() {
        for hostile in GROUPS.iter().flat_map(|group| group.repositories) {
            if hostile.git_runs.is_empty() {
                continue;
            }
            let folder = tempfile::TempDir::new().expect("a temporary folder can be made");
            let made = hostile.make(folder.path());
            let mut git = Command::new("git");
            git.args(hostile.git_runs).current_dir(folder.path().join("repository"));
            git.env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_CONFIG_NOSYSTEM", "1");
            // What it says, and whether it likes what the program did, does not matter.
            let ended = git
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            assert!(ended.is_ok() && made.programs_run().is_some(), "{}", hostile.name);
        }
    }
}
