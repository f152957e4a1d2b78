//! A git worker that answers what it likes: its parent reads answers or says in time that it lost the worker, and never more than that.

use super::{CaseOutcome, FuzzTarget, Reading};
use anyhow::{Context as _, Result, anyhow};
use magis_core::{Base, CommitId, RepoPath, TreeId};
use magis_repo::{BaseChoice, Git, ObjectStore, RepoError, Repository, Snapshot, WorkTree};
use magis_testkit::FixtureRepo;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

/// What a worker answers, in a file of its own for each kind of worker.
const OF_A_REPOSITORY: &str = "repository";
const OF_A_STORE: &str = "store";
/// Stands between the two in an input.
const BETWEEN: &[u8] = b"\n----\n";

pub(super) struct GitAnswersTarget {
    fixture: FixtureRepo,
    place: PathBuf,
    reading: Reading,
    mad: Git,
}

impl GitAnswersTarget {
    pub(super) fn open(place: &Path, reading: &Reading) -> Result<Self> {
        let answers = place.join("answers");
        fs::create_dir_all(&answers)?;
        Ok(Self {
            fixture: fixture(),
            mad: Git::in_workers(reading.worker("mad-git-worker", &[&answers])),
            place: place.to_owned(),
            reading: reading.clone(),
        })
    }

    /// Returns what workers say to their parent, and it to them, while it asks for everything.
    fn recorded(&self) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let folder = self.place.join("recorded");
        fs::create_dir_all(&folder)?;
        let git = Git::in_workers(self.reading.worker("record-git-worker", &[&folder]));
        let mut outcome = CaseOutcome::default();
        ask(&git, &self.fixture, &self.place.join("recorded-store"), &mut outcome);
        let lost = outcome
            .lost
            .first()
            .map_or(Ok(()), |how| Err(anyhow!("a sound worker was lost: {how}")));
        lost?;
        let mut found = Vec::new();
        for entry in fs::read_dir(&folder)?.flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|is| is == "asked") {
                found.push((fs::read(&path)?, fs::read(path.with_extension("answered"))?));
            }
        }
        Ok(found)
    }
}

pub(super) fn fixture() -> FixtureRepo {
    let fixture = FixtureRepo::new();
    fixture
        .write("a.py", "a = 1\n")
        .write("src/b.py", "b = 1\n")
        .commit("one");
    fixture.write("a.py", "a = 2\n").commit("two");
    fixture.write("a.py", "a = 3\n").write("new.py", "n = 1\n");
    fixture
}

impl FuzzTarget for GitAnswersTarget {
    fn seeds(&mut self) -> Vec<Vec<u8>> {
        let recorded = self.recorded().expect("a sound worker answers");
        let of = |word: &str| {
            let is_of = |asked: &&(Vec<u8>, Vec<u8>)| contains(&asked.0, word.as_bytes());
            recorded
                .iter()
                .find(is_of)
                .map(|(_, answered)| answered.clone())
                .unwrap_or_default()
        };
        let (repository, store) = (of(r#""ask":"open""#), of(r#""ask":"open_store""#));
        assert!(!repository.is_empty() && !store.is_empty());
        vec![
            [repository.as_slice(), BETWEEN, &store].concat(),
            repository,
            [BETWEEN, &store].concat(),
        ]
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "a\u{0}\u{0}\u{0}",
            "p\u{0}\u{0}\u{0}",
            "r\u{0}\u{0}\u{0}",
            "null",
            "[]",
            "{}",
            "true",
            "\"",
            "\n----\n",
            "../../",
            "/etc",
            "ObjectMissing",
            "reading_lost",
            "tree",
            "commit",
            "40000 a\u{0}",
            "100644 ",
        ]
    }

    fn run(&mut self, input: &[u8]) -> CaseOutcome {
        let mut outcome = CaseOutcome::default();
        let at = input.windows(BETWEEN.len()).position(|six| six == BETWEEN);
        let (repository, store) = at.map_or((input, input), |at| (&input[..at], &input[at + BETWEEN.len()..]));
        let answers = self.place.join("answers");
        fs::write(answers.join(OF_A_REPOSITORY), repository).expect("the folder of the target can be written");
        fs::write(answers.join(OF_A_STORE), store).expect("the folder of the target can be written");
        ask(&self.mad, &self.fixture, &self.place.join("store"), &mut outcome);
        outcome
    }
}

/// Asks for everything that is read.
fn ask(git: &Git, fixture: &FixtureRepo, store: &Path, outcome: &mut CaseOutcome) {
    let Some(repository) = told(outcome, "open", git.open(fixture.root())) else {
        return;
    };
    told(outcome, "head", repository.head_place());
    told(outcome, "state", repository.state());
    told(outcome, "branches", repository.branches());
    let commit = CommitId(fixture.head());
    told(outcome, "commits since", repository.commits_since(&commit));
    let base = Base {
        commit,
        tree: TreeId("0".repeat(40)),
        uncommitted: false,
        name: "HEAD".to_owned(),
    };
    told(outcome, "has", repository.has(&base));
    told(outcome, "built", repository.built_files());
    told(outcome, "work tree", WorkTree::read(&repository));
    told(
        outcome,
        "snapshot",
        read_snapshot(&repository, store, &BaseChoice::HeadWithUncommitted),
    );
    if store.exists() {
        fs::remove_dir_all(store).expect("the folder of the target can be written");
    }
}

fn read_snapshot(repository: &Repository, store: &Path, choice: &BaseChoice) -> Result<(), RepoError> {
    // The worker says where the objects lie; nothing is read there by its parent, but the store keeps that.
    let store = ObjectStore::open(store, repository)?;
    let snapshot = Snapshot::take(repository, &store, choice)?;
    snapshot.files()?;
    for name in ["a.py", "src/b.py", "new.py"] {
        if let Ok(path) = RepoPath::new(name)
            && let Err(magis_repo::ReadError::Repo(error)) = snapshot.read(&path)
        {
            return Err(error);
        }
    }
    let walked = snapshot.past(10, |_| false, |_| ControlFlow::Continue(()))?;
    if let (Some(commit), Ok(path)) = (walked.commits.first(), RepoPath::new("a.py")) {
        snapshot.changed_by(commit, &path)?;
    }
    Ok(())
}

/// Adds how a question was answered.
pub(super) fn told<T>(outcome: &mut CaseOutcome, what: &str, answer: Result<T, RepoError>) -> Option<T> {
    if let Err(RepoError::ReadingLost { how, .. }) = &answer {
        outcome.lost.push(how.clone());
    }
    outcome.say_result(what, answer)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Serves as a git worker that answers what lies in a folder, whatever it is asked.
pub fn answer_madly(folder: &Path) -> ExitCode {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut left: Vec<u8> = Vec::new();
    let mut asked = 0;
    while let Some(request) = next_request(&mut input) {
        asked += 1;
        // The first one asks it to give up what it does not need, which it says as a sound one does; the files begin with that, too.
        if asked == 2 {
            let name = if contains(&request, br#""ask":"open_store""#) {
                OF_A_STORE
            } else {
                OF_A_REPOSITORY
            };
            left = fs::read(folder.join(name)).unwrap_or_default();
            let first = answer_length(&left);
            left.drain(..first);
        }
        let answer = if asked == 1 {
            framed(b'a', br#"{"filesystem":true,"system_calls":true}"#)
        } else {
            let length = answer_length(&left);
            left.drain(..length).collect()
        };
        let written = output.write_all(&answer).and_then(|()| output.flush());
        // One that has nothing more to say ends, so that nobody waits for the rest of an answer.
        if written.is_err() || (asked > 1 && left.is_empty()) {
            break;
        }
    }
    ExitCode::SUCCESS
}

fn framed(kind: u8, json: &[u8]) -> Vec<u8> {
    let mut frame = vec![kind];
    frame.extend((json.len() as u64).to_le_bytes());
    frame.extend(0_u64.to_le_bytes());
    frame.extend_from_slice(json);
    frame
}

/// Returns how many bytes an answer takes with its parts; all that is left where that makes no sense.
fn answer_length(stream: &[u8]) -> usize {
    let mut at = 0;
    while let Some(head) = stream.get(at..at + 17) {
        let number = |from: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&head[from..from + 8]);
            u64::from_le_bytes(eight)
        };
        let length = number(1).saturating_add(number(9));
        if length > (stream.len() - at - 17) as u64 {
            break;
        }
        at += 17 + length as usize;
        if head[0] != b'p' {
            return at;
        }
    }
    stream.len()
}

fn next_request(from: &mut impl Read) -> Option<Vec<u8>> {
    let mut length = [0; 8];
    from.read_exact(&mut length).ok()?;
    let mut request = Vec::new();
    let length = u64::from_le_bytes(length);
    from.take(length).read_to_end(&mut request).ok()?;
    (request.len() as u64 == length).then_some(request)
}

/// Serves as a git worker by another one, and writes into a folder what is said by either side.
///
/// # Errors
/// When the other one cannot be started, or the folder cannot be written.
pub fn record(folder: &Path) -> Result<()> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("git-worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting a git worker")?;
    let done = pass_on(&mut child, folder);
    child.kill()?;
    child.wait()?;
    done
}

fn pass_on(child: &mut Child, folder: &Path) -> Result<()> {
    let (Some(mut to), Some(mut from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(anyhow!("a git worker has no pipes"));
    };
    let id = std::process::id();
    let mut asked = File::create(folder.join(format!("{id}.asked")))?;
    let mut answered = File::create(folder.join(format!("{id}.answered")))?;
    let answers = std::thread::spawn(move || -> io::Result<()> {
        let mut output = io::stdout();
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = from.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            answered.write_all(&buffer[..count])?;
            output.write_all(&buffer[..count])?;
            output.flush()?;
        }
    });
    let mut input = io::stdin().lock();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = input.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        asked.write_all(&buffer[..count])?;
        to.write_all(&buffer[..count])?;
        to.flush()?;
    }
    drop(to);
    let _over = answers.join();
    Ok(())
}
