//! Thousands of random cases, each given to Magis and to the `git` program: patches, attributes, ignored files, states of a work tree.
//!
//! The cases are the same in every run. Where the two differ on purpose, the difference is one of a listed kind, which a rule tells that is checked for the case;
//! any other difference fails, and so does a listed kind that no case shows any more.

mod attributes;
mod ignored;
mod placing;
mod status;
mod trees;

use crate::opened;
use magis_repo::Repository;
use magis_testkit::FixtureRepo;
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// What answers later than this hangs.
const DEADLINE: Duration = Duration::from_mins(2);

/// Random numbers, the same in every run.
struct Random(TestRng);

impl Random {
    fn of(seed: u8) -> Self {
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]))
    }

    /// Returns a number below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.0.next_u32() as usize % end
    }

    /// Returns a number in `from..end`.
    fn between(&mut self, from: usize, end: usize) -> usize {
        from + self.below(end - from)
    }

    /// Returns true so many times out of a hundred.
    fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// How the cases of one kind ended. `D` names the differences that are meant.
struct Tally<D> {
    same: BTreeMap<&'static str, usize>,
    differ: BTreeMap<D, usize>,
    unexplained: Vec<String>,
}

impl<D: Debug + Ord + Copy> Tally<D> {
    fn new() -> Self {
        Self {
            same: BTreeMap::new(),
            differ: BTreeMap::new(),
            unexplained: Vec::new(),
        }
    }

    /// Counts a case in which both gave the same, in a word.
    fn same(&mut self, what: &'static str) {
        *self.same.entry(what).or_default() += 1;
    }

    /// Counts a case in which they differ, for this reason; none: the case is reported in the end.
    fn differs(&mut self, reason: Option<D>, case: impl FnOnce() -> String) {
        match reason {
            Some(reason) => *self.differ.entry(reason).or_default() += 1,
            None => self.unexplained.push(case()),
        }
    }

    /// Prints the counts. There have to be so many cases, no difference without a reason, and a case for each of these reasons.
    fn end(self, kind: &str, least: usize, reasons: &[D]) {
        let cases = self.same.values().chain(self.differ.values()).sum::<usize>() + self.unexplained.len();
        let (same, differ) = (&self.same, &self.differ);
        println!(
            "{kind}: {cases} cases; the same: {same:?}; different with a reason: {differ:?}; without one: {}",
            self.unexplained.len()
        );
        let shown: Vec<&str> = self.unexplained.iter().take(5).map(String::as_str).collect();
        let shown = shown.join("\n\n");
        assert!(self.unexplained.is_empty(), "git gives something else:\n{shown}");
        assert!(cases >= least, "{cases} cases of {kind}");
        assert_eq!(
            differ.keys().copied().collect::<Vec<_>>(),
            reasons,
            "reasons that count"
        );
    }
}

/// What a git process ended with.
struct Ended {
    success: bool,
    stdout: Vec<u8>,
    stderr: String,
}

impl Ended {
    /// Returns the parts of its output that end with a NUL.
    fn parts(&self) -> impl Iterator<Item = String> {
        let parts = self.stdout.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        parts.map(|part| String::from_utf8(part.to_vec()).unwrap())
    }

    fn ok(self) -> Self {
        assert!(self.success, "{}", self.stderr);
        self
    }
}

/// Runs git in `folder`, without the machine's configuration. One that does not end is ended.
fn run(folder: &Path, arguments: &[&str], input: &[u8]) -> Ended {
    let mut git = Command::new("git")
        .args(["-c", "user.name=Ada Fixture", "-c", "user.email=ada@example.com"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap())
        .env("LC_ALL", "C")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, input) = (git.stdin.take().unwrap(), input.to_vec());
    // Git may end without reading all of it.
    thread::spawn(move || stdin.write_all(&input).ok());
    let (mut stdout, mut stderr) = (git.stdout.take().unwrap(), git.stderr.take().unwrap());
    let (told, ended) = mpsc::channel();
    thread::spawn(move || {
        let errors = thread::spawn(move || {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).map(|_| text)
        });
        let mut bytes = Vec::new();
        let read = stdout.read_to_end(&mut bytes);
        told.send((read.map(|_| bytes), errors.join())).ok();
    });
    let output = ended.recv_timeout(DEADLINE);
    if output.is_err() {
        git.kill().unwrap();
    }
    let status = git.wait().unwrap();
    let (stdout, stderr) = output.unwrap_or_else(|_| unreachable!("git {arguments:?} does not end"));
    Ended {
        success: status.success(),
        stdout: stdout.unwrap(),
        stderr: String::from_utf8_lossy(&stderr.unwrap().unwrap()).into_owned(),
    }
}

/// Returns what `call`, a question to Magis, gives. One that is not answered in time fails.
fn within<T: Send + 'static>(what: &str, call: impl FnOnce() -> T + Send + 'static) -> T {
    let (told, answered) = mpsc::channel();
    thread::spawn(move || told.send(call()).ok());
    let answer = answered.recv_timeout(DEADLINE);
    answer.unwrap_or_else(|error| unreachable!("{what}: {error}"))
}

fn open(fixture: &FixtureRepo) -> Repository {
    let root = fixture.root().to_owned();
    within("opening", move || opened(root).unwrap())
}

/// Empties a work tree: all but `.git` goes.
fn clear(root: &Path) {
    for entry in fs::read_dir(root).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() == ".git" {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            fs::remove_dir_all(entry.path()).unwrap();
        } else {
            fs::remove_file(entry.path()).unwrap();
        }
    }
}

/// Returns a copy of the repository for git to write into.
fn copy(fixture: &FixtureRepo) -> std::path::PathBuf {
    let copied = fixture.beside("copy");
    let done = Command::new("cp").arg("-a").arg(fixture.root()).arg(&copied).status();
    assert!(done.unwrap().success());
    copied
}
