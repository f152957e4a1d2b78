//! The commits before a commit, read with the `git` program and kept in a file, so that a second measurement reads only
//! what is new.

use magis_core::{CommitId, PastCommit, RepoPath};
use magis_search::History;
use std::collections::HashMap;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is known of the commits of one repository.
pub struct Past {
    repo: PathBuf,
    file: Option<PathBuf>,
    commits: HashMap<String, PastCommit>,
}

impl Past {
    /// Of `repo`; what was read is kept in `file`.
    pub fn open(repo: PathBuf, file: Option<PathBuf>) -> Self {
        let mut commits = HashMap::new();
        if let Some(known) = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()) {
            read(&known, &mut commits);
        }
        Self { repo, file, commits }
    }

    /// The last `most` commits before and with `commit`, merges left out, newest first.
    pub fn before(&mut self, commit: &str, most: usize) -> Result<History, Box<dyn Error>> {
        let listed = git(&self.repo)
            .args(["rev-list", "--no-merges", "-n", &most.to_string(), commit])
            .output()?;
        let listed = String::from_utf8(listed.stdout)?;
        let missing: Vec<&str> = listed.lines().filter(|id| !self.commits.contains_key(*id)).collect();
        if !missing.is_empty() {
            let mut child = git(&self.repo)
                .args([
                    "log",
                    "--no-walk=unsorted",
                    "--stdin",
                    "--no-renames",
                    "--name-only",
                    "--format=%x01%H%x02%ct%x02%B%x02",
                ])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            let mut input = child.stdin.take().ok_or("git takes no input")?;
            let ids = missing.join("\n");
            let writer = std::thread::spawn(move || input.write_all(ids.as_bytes()));
            let output = child.wait_with_output()?;
            writer.join().map_err(|_| "writing to git failed")??;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            read(&text, &mut self.commits);
            if let Some(file) = &self.file {
                let mut kept = std::fs::OpenOptions::new().create(true).append(true).open(file)?;
                kept.write_all(text.as_bytes())?;
            }
        }
        Ok(History::of(
            listed.lines().filter_map(|id| self.commits.get(id)).cloned(),
        ))
    }
}

fn read(text: &str, commits: &mut HashMap<String, PastCommit>) {
    for entry in text.split('\u{1}').filter(|entry| !entry.is_empty()) {
        let mut parts = entry.splitn(4, '\u{2}');
        let (Some(id), Some(time), Some(message), Some(changed)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        commits.insert(
            id.to_owned(),
            PastCommit {
                id: CommitId(id.to_owned()),
                time: time.parse().unwrap_or(0),
                message: message.to_owned(),
                changed: changed.lines().filter_map(|path| RepoPath::new(path).ok()).collect(),
            },
        );
    }
}

fn git(repo: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(repo);
    command
}
