//! What the border around git costs: the same questions of one repository, answered by a process of its own and in this one, in turn.
//!
//! `cargo run --release --example border_cost -- REPOSITORY [ROUNDS]` prints a line for each question: the medians in milliseconds, and their ratio.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program to measure with; what goes wrong ends it"
)]

use magis_repo::{BaseChoice, Git, GitWorker, ObjectStore, Snapshot, serve_git};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

const WORD: &str = "git-worker";
const QUESTIONS: [&str; 5] = ["open", "state", "tree listed", "all files read", "300 commits"];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == WORD) {
        return serve_git();
    }
    let Some(repository) = words.first() else {
        println!("give a repository");
        return ExitCode::FAILURE;
    };
    // Where there is one thread alone, memory is had without locking: so it is not in the programs, nor in the process that reads.
    std::thread::spawn(std::thread::park);
    let rounds = words.get(1).map_or(7, |count| count.parse().unwrap());
    let worker = Git::in_workers(GitWorker {
        program: std::env::current_exe().unwrap(),
        args: vec![WORD.into()],
    });
    let ways = [worker, Git::in_this_process()];
    let mut taken: [[Vec<f64>; QUESTIONS.len()]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| Vec::new()));
    for _ in 0..rounds {
        for (git, taken) in ways.iter().zip(&mut taken) {
            for (times, time) in taken.iter_mut().zip(ask(git, Path::new(repository))) {
                times.push(time);
            }
        }
    }
    let [there, here] = taken.map(|times| times.map(median));
    println!("{:<16}{:>12}{:>12}{:>8}", "", "worker ms", "here ms", "ratio");
    let sum = |times: &[f64]| times.iter().sum::<f64>();
    let all = (sum(&there), sum(&here));
    let lines = QUESTIONS.iter().zip(there.into_iter().zip(here));
    for (question, (there, here)) in lines.chain([(&"all of it", all)]) {
        println!("{question:<16}{there:>12.1}{here:>12.1}{:>8.2}", there / here);
    }
    ExitCode::SUCCESS
}

/// Returns the milliseconds that each question took.
fn ask(git: &Git, path: &Path) -> [f64; QUESTIONS.len()] {
    let folder = tempfile::tempdir().unwrap();
    let mut at = Instant::now();
    let mut lap = || std::mem::replace(&mut at, Instant::now()).elapsed().as_secs_f64() * 1e3;
    let repository = git.open(path).unwrap();
    let opened = lap();
    repository.state().unwrap();
    let state = lap();
    let store = ObjectStore::open(folder.path(), &repository).unwrap();
    let snapshot = Snapshot::take(&repository, &store, &BaseChoice::Head).unwrap();
    let (files, _) = snapshot.files().unwrap();
    let listed = lap();
    let mut ahead = snapshot.read_ahead(files.iter().map(|file| &file.blob));
    for file in &files {
        // What is no text says so; that is an answer, too.
        drop(ahead.scan(&file.blob));
    }
    let read = lap();
    let walked = snapshot.past(300, |_| false, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(walked.new.len(), walked.commits.len());
    [opened, state, listed, read, lap()]
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
