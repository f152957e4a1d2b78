//! `magis watch` as it is typed: it tells what happens, and Ctrl-C ends it.

use crate::support::Program;
use magis_testkit::FixtureRepo;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A line of the program is waited for so long; it comes within a second unless the machine is busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// A `magis watch`; it is ended with the test, however that ends.
struct Watching {
    process: Child,
    lines: Receiver<String>,
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
        let (told, lines) = channel();
        let out = BufReader::new(process.stdout.take().unwrap());
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| told.send(line)));
        Self { process, lines }
    }

    /// Waits for the next line of output.
    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).unwrap()
    }

    /// Returns the next line that has these words.
    fn find(&self, words: &str) -> String {
        std::iter::repeat_with(|| self.line())
            .find(|line| line.contains(words))
            .unwrap()
    }

    /// Interrupts the program as Ctrl-C does, and waits for its end.
    fn interrupt(mut self) -> (Option<i32>, String) {
        let interrupted = Command::new("kill")
            .args(["-INT", &self.process.id().to_string()])
            .status();
        assert!(interrupted.unwrap().success());
        let mut said = String::new();
        let mut err = self.process.stderr.take().unwrap();
        err.read_to_string(&mut said).unwrap();
        (self.process.wait().unwrap().code(), said)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
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
    let watching = Watching::begin(&program, &fixture, &[]);
    watching.find("index updated");
    assert_eq!(
        watching.find("memory: "),
        "memory: 0 fresh, 0 stale, 0 without a summary, 2 not needed"
    );
    fixture.write("a.py", "a = 2\n");
    assert_eq!(watching.find("changed: "), "changed: a.py");
    let updated = watching.find("index updated");
    assert!(updated.ends_with("2 files, 1 read in, 1 taken out"), "{updated}");
    assert_eq!(watching.interrupt(), (Some(130), String::new()));
}

#[test]
fn as_json_each_line_is_an_object() {
    let (program, fixture) = (Program::new(), committed());
    let watching = Watching::begin(&program, &fixture, &["--json"]);
    let objects = std::iter::repeat_with(|| serde_json::from_str::<Value>(&watching.line()).unwrap());
    let indexed = objects.take(20).find(|line| line["event"] == "indexed").unwrap();
    assert_eq!(
        (indexed["files"].as_u64(), indexed["added"].as_u64()),
        (Some(2), Some(2))
    );
}

#[test]
fn a_model_that_is_not_here_is_said_before_the_waiting_begins() {
    let (program, fixture) = (Program::new(), committed());
    let answer = program.run(["watch", "--repo", fixture.root().to_str().unwrap(), "--summarise"]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(1), ""));
    assert!(answer.err.contains("magis models fetch"), "{}", answer.err);
}
