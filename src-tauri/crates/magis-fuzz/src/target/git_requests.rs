//! A git worker that is asked what nobody should ask: it answers, or it ends by itself; what it does not do is end by a signal or hang.

use super::git_answers::fixture;
use super::{CaseOutcome, FuzzTarget, Reading};
use anyhow::{Context as _, Result};
use magis_testkit::FixtureRepo;
use serde_json::json;
use std::io::{self, BufReader, Read, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// A worker may take so long for an answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// A watching has no end of its own: where nothing comes for so long, and what was asked is one, it is over.
const WATCHED: Duration = Duration::from_millis(30);
/// The most bytes of an answer that a parent takes.
const MOST: u64 = 256 << 20;

pub(super) struct GitRequestsTarget {
    fixture: FixtureRepo,
    store: PathBuf,
    reading: Reading,
    worker: Option<Worker>,
}

impl GitRequestsTarget {
    pub(super) fn open(place: &Path, reading: &Reading) -> Result<Self> {
        let fixture = fixture();
        let store = place.join("requested-store");
        let repository = reading
            .git()
            .open(fixture.root())
            .context("opening our own repository")?;
        magis_repo::ObjectStore::open(&store, &repository).context("making a store")?;
        Ok(Self {
            fixture,
            store,
            reading: reading.clone(),
            worker: None,
        })
    }
}

impl FuzzTarget for GitRequestsTarget {
    fn seeds(&mut self) -> Vec<Vec<u8>> {
        let (root, store) = (self.fixture.root(), &self.store);
        let head = self.fixture.head();
        let tree = self.fixture.git2().head().and_then(|head| head.peel_to_tree());
        let tree = tree.expect("there is a commit").id().to_string();
        let of_repository = [
            json!({"ask": "open", "path": root}),
            json!({"ask": "state"}),
            json!({"ask": "branches"}),
            json!({"ask": "head_place"}),
            json!({"ask": "commits_since", "commit": head}),
            json!({"ask": "base", "choice": {"kind": "revision", "name": "HEAD~1"}}),
            json!({"ask": "uncommitted", "head": tree}),
            json!({"ask": "built_files"}),
            json!({"ask": "writes_crlf", "path": "a.py"}),
            json!({"ask": "commit_settings"}),
            json!({"ask": "work_tree"}),
            json!({"ask": "look_at", "paths": ["a.py", "gone.py"]}),
            json!({"ask": "work_file", "path": "a.py", "blob": "0".repeat(40)}),
            json!({"ask": "object", "id": head, "kind": "commit", "most": null}),
            json!({"ask": "missing", "ids": [head]}),
            json!({"ask": "measure", "tree": tree}),
        ];
        let of_store = [
            json!({"ask": "open_store", "folder": store}),
            json!({"ask": "size", "id": head}),
            json!({"ask": "files", "tree": tree}),
            json!({"ask": "walk", "from": head, "most": 10}),
            json!({"ask": "commits", "ids": [head]}),
            json!({"ask": "commit_trees", "commit": head}),
            json!({"ask": "tree_diff", "old": tree, "new": tree}),
            json!({"ask": "measure", "tree": tree}),
        ];
        let lines = |requests: &[serde_json::Value]| {
            let lines: Vec<String> = requests.iter().map(|request| format!("{request}\n")).collect();
            lines.concat().into_bytes()
        };
        vec![lines(&of_repository), lines(&of_store), lines(&of_store[..2])]
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "ask",
            "open",
            "open_store",
            "state",
            "base",
            "choice",
            "kind",
            "revision",
            "HEAD^{tree}",
            "HEAD@{1}",
            ":/one",
            "@{-1}",
            "HEAD~99999999999",
            "id",
            "ids",
            "tree",
            "most",
            "walk",
            "files",
            "object",
            "blob",
            "any",
            "paths",
            "/",
            "..",
            ".git",
            "0000000000000000000000000000000000000000",
            "work_file",
            "measure",
            "tree_diff",
            "\u{0}",
        ]
    }

    fn is_json(&self) -> bool {
        true
    }

    fn run(&mut self, input: &[u8]) -> CaseOutcome {
        let mut outcome = CaseOutcome::default();
        // Odd lines at the end of an input come without their length, as from a parent that lost its place.
        let is_raw = input.last() == Some(&b'!');
        let lines: Vec<&[u8]> = input
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .collect();
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => Worker::start(&self.reading, &[self.fixture.root(), &self.store]).expect("a worker can be started"),
        };
        for (number, line) in lines.iter().take(40).enumerate() {
            let is_last = number + 1 == lines.len();
            let mut request = line.to_vec();
            if !(is_raw && is_last) {
                request = [&(line.len() as u64).to_le_bytes(), *line].concat();
            }
            let answered = worker.ask(&request, line.windows(5).any(|word| word == b"watch"));
            match answered {
                Answered::Frame(kind, json) => {
                    let text = String::from_utf8_lossy(&json);
                    outcome.say(format!("{} {}", char::from(kind), text.get(..60).unwrap_or(&text)));
                }
                Answered::Silence => {
                    outcome.say("it watches");
                    worker.end();
                    return outcome;
                }
                Answered::End => {
                    outcome.say(format!("it ended with {}", worker.ended()));
                    return outcome;
                }
            }
        }
        if is_raw {
            worker.end();
        } else {
            self.worker = Some(worker);
        }
        outcome
    }
}

enum Answered {
    Frame(u8, Vec<u8>),
    Silence,
    End,
}

/// A git worker, and a thread that reads what it answers.
struct Worker {
    child: Child,
    input: Option<ChildStdin>,
    frames: Receiver<(u8, Vec<u8>)>,
}

impl Worker {
    fn start(reading: &Reading, folders: &[&Path]) -> Result<Self> {
        let how = reading.worker("git-worker", &[]);
        let mut child = Command::new(how.program)
            .args(how.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("starting a git worker")?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("a git worker has no output")?;
        let (tell, frames) = channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Ok(frame) = read_frame(&mut output) {
                if tell.send(frame).is_err() {
                    break;
                }
            }
        });
        let mut worker = Self { child, input, frames };
        let begin = json!({"folders": folders, "memory": 400_u64 << 20}).to_string();
        let begin = [&(begin.len() as u64).to_le_bytes(), begin.as_bytes()].concat();
        assert!(
            matches!(worker.ask(&begin, false), Answered::Frame(b'a', _)),
            "a worker did not begin: {}",
            worker.ended()
        );
        Ok(worker)
    }

    /// Writes a request and returns what ends its answer.
    fn ask(&mut self, request: &[u8], is_watch: bool) -> Answered {
        let Some(input) = &mut self.input else {
            return Answered::End;
        };
        if input.write_all(request).and_then(|()| input.flush()).is_err() {
            return Answered::End;
        }
        let is_framed = request.len() >= 8 && request[..8] == (request.len() as u64 - 8).to_le_bytes();
        loop {
            let patience = if is_watch || !is_framed { WATCHED } else { PATIENCE };
            match self.frames.recv_timeout(patience) {
                Ok((b'p', _)) => {}
                Ok((kind, json)) => return Answered::Frame(kind, json),
                Err(RecvTimeoutError::Timeout) if is_watch || !is_framed => return Answered::Silence,
                Err(RecvTimeoutError::Timeout) => {
                    self.kill();
                    let request = String::from_utf8_lossy(request);
                    assert!(request.is_empty(), "a worker gave no answer for {PATIENCE:?}");
                }
                Err(RecvTimeoutError::Disconnected) => return Answered::End,
            }
        }
    }

    /// Closes its input, upon which it has to end.
    fn end(mut self) {
        self.input = None;
        let _how = self.ended();
    }

    /// Waits until it is over; panics where a signal ended it.
    fn ended(&mut self) -> String {
        self.input = None;
        for _ in 0..2_000 {
            if let Ok(Some(status)) = self.child.try_wait() {
                assert!(status.signal().is_none(), "a worker was ended by {status}");
                return status.to_string();
            }
            thread::sleep(Duration::from_millis(5));
        }
        self.kill();
        assert!(self.input.is_some(), "a worker goes on though its input is closed");
        String::new()
    }

    fn kill(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

fn read_frame(from: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 17];
    from.read_exact(&mut head)?;
    let number = |at: usize| {
        let mut eight = [0; 8];
        eight.copy_from_slice(&head[at..at + 8]);
        u64::from_le_bytes(eight)
    };
    let (json, bytes) = (number(1), number(9));
    if json > MOST || bytes > MOST {
        return Err(io::Error::other("an answer that no parent takes"));
    }
    let mut answer = Vec::new();
    from.by_ref().take(json).read_to_end(&mut answer)?;
    io::copy(&mut from.by_ref().take(bytes), &mut io::sink())?;
    Ok((head[0], answer))
}
