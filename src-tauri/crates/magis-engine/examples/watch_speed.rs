//! How soon the index is right after a change: `cargo run --release --example watch_speed -- REPOSITORY COMMIT`.
//!
//! The repository is a copy that may be changed: files are edited, and COMMIT is checked out and left again. Times are from
//! the end of the change to the word that the index is right; the cold read is the first one, with nothing there.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "what goes wrong ends it"
)]

use magis_engine::{DataFolder, Magis, WatchEvent};
use magis_llama::{Priority, WorkerCommand};
use magis_repo::{Git, WatchOptions};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [repository, commit] = words.as_slice() else {
        panic!("give a repository and a commit")
    };
    let repository = Path::new(repository);
    let data = tempfile::tempdir().unwrap();
    let worker = WorkerCommand {
        program: "no-worker".into(),
        args: Vec::new(),
        priority: Priority::Normal,
    };
    let data = DataFolder::locate(Some(data.path().to_owned())).unwrap();
    let magis = Magis::open(data, worker, Git::in_this_process()).unwrap();
    let repo = magis.add_repository(repository).unwrap();
    let begun = Instant::now();
    let (sender, mut news) = tokio::sync::mpsc::unbounded_channel();
    let watch = magis.watch(repo, WatchOptions::default(), sender).unwrap();
    let (when, first) = right(&mut news, Duration::from_secs(5)).await;
    println!("cold read: {:?} ({first})", when - begun);
    println!("files: {}", watch.state().files);

    let tracked = git(repository, &["ls-files", "*.py"]);
    let files: Vec<&str> = tracked.lines().collect();
    let mut times = Vec::new();
    for at in 0..20 {
        let file = repository.join(files[at * files.len() / 20]);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{text}\n# changed\n")).unwrap();
        let written = Instant::now();
        let (when, _) = right(&mut news, Duration::from_secs(1)).await;
        times.push(when - written);
    }
    times.sort();
    println!(
        "one file: median {:?}, slowest {:?}",
        times[times.len() / 2],
        times[times.len() - 1]
    );

    git(repository, &["checkout", "--quiet", "--force", "."]);
    right(&mut news, Duration::from_secs(3)).await;
    let here = git(repository, &["rev-parse", "HEAD"]);
    for to in [commit.as_str(), here.trim()] {
        let differs = git(repository, &["diff", "--name-only", "HEAD", to]).lines().count();
        git(repository, &["checkout", "--quiet", "--force", to]);
        let done = Instant::now();
        let (when, what) = right(&mut news, Duration::from_secs(5)).await;
        println!("checkout of {to}, {differs} files differ: {:?} ({what})", when - done);
    }
}

/// When the index was right the last time before a silence of `quiet`, and what was told then.
async fn right(news: &mut UnboundedReceiver<WatchEvent>, quiet: Duration) -> (Instant, String) {
    let mut last = None;
    loop {
        let wait = if last.is_none() { Duration::from_mins(10) } else { quiet };
        match tokio::time::timeout(wait, news.recv()).await {
            Ok(Some(told @ (WatchEvent::Indexed { .. } | WatchEvent::Memory { .. }))) => {
                let what = match (&told, &last) {
                    (WatchEvent::Indexed { .. }, _) | (_, None) => format!("{told:?}"),
                    (_, Some((_, what))) => String::clone(what),
                };
                last = Some((Instant::now(), what));
            }
            Ok(Some(_)) => {}
            Ok(None) => panic!("the watch ended"),
            Err(_) => return last.expect("the index does not become right"),
        }
    }
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
