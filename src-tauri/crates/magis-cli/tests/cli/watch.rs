//! `magis watch` as it is typed: it tells what happens, and Ctrl-C ends it.

use crate::support::{Answer, Program};
use magis_testkit::FixtureRepo;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

struct Watching {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn begin(program: &Program, fixture: &FixtureRepo, more: &[&str]) -> Self {
        let repo = fixture.root().to_str().unwrap();
        let mut process = program
            .command(["watch", "--repo", repo].iter().chain(more))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// The next line that has these words.
    fn find(&mut self, words: &str) -> String {
        self.lines
            .by_ref()
            .map(Result::unwrap)
            .find(|line| line.contains(words))
            .unwrap()
    }

    /// As Ctrl-C does.
    fn interrupt(self) -> Answer {
        let interrupted = Command::new("kill")
            .args(["-INT", &self.process.id().to_string()])
            .status();
        assert!(interrupted.unwrap().success());
        Answer::of(&self.process.wait_with_output().unwrap())
    }
}

fn committed() -> FixtureRepo {
    let fixture = FixtureRepo::new();
    fixture
        .write("a.py", "a = 1\n")
        .write("b.py", "import a\n")
        .commit("first");
    fixture
}

#[test]
fn a_change_is_told_and_taken_in_and_ctrl_c_ends_it() {
    let (program, fixture) = (Program::new(), committed());
    let mut watching = Watching::begin(&program, &fixture, &[]);
    watching.find("index updated");
    assert_eq!(watching.find("memory: "), "memory: 0 fresh, 0 stale, 2 not remembered");
    fixture.write("a.py", "a = 2\n");
    assert_eq!(watching.find("changed: "), "changed: a.py");
    let updated = watching.find("index updated");
    assert!(updated.ends_with("2 files, 1 read in, 1 taken out"), "{updated}");
    let answer = watching.interrupt();
    assert_eq!((answer.code, answer.err.as_str()), (Some(130), ""));
}

#[test]
fn as_json_each_line_is_an_object() {
    let (program, fixture) = (Program::new(), committed());
    let mut watching = Watching::begin(&program, &fixture, &["--json"]);
    let line: Value = serde_json::from_str(&watching.find("indexed")).unwrap();
    assert_eq!((line["files"].as_u64(), line["added"].as_u64()), (Some(2), Some(2)));
    watching.interrupt();
}

#[test]
fn a_model_that_is_not_here_is_said_before_the_waiting_begins() {
    let (program, fixture) = (Program::new(), committed());
    let answer = program.run(["watch", "--repo", fixture.root().to_str().unwrap(), "--warm"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(1), ""));
    assert!(answer.err.contains("magis models fetch"), "{}", answer.err);
}
