//! The history of a repository as the ranking hears it: read from git once, kept in a file beside the index, and only
//! added to afterwards.
//!
//! Losing the file costs reading the history anew, so a damaged one is no error.

use crate::EngineError;
use magis_core::{CommitId, PastCommit};
use magis_platform::private;
use magis_repo::Snapshot;
use magis_search::CommitHistory;
use std::collections::HashMap;
use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The number of commits before the base that are read. Twice as many gave no better order, and a first reading stays in seconds.
const MOST: usize = 5_000;
/// The file is written anew when it holds more than this multiple of what is read.
const STALE: usize = 3;

/// Returns the history before the base of `snapshot`, see [`commits`].
pub(crate) fn history(
    index_folder: &Path,
    snapshot: &Snapshot,
    progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<CommitHistory, EngineError> {
    Ok(CommitHistory::of(commits(index_folder, snapshot, progress)?))
}

/// Returns the commits before the base of `snapshot`, newest first. `progress` is told how many were read anew and may
/// break it off; those read by then are given.
pub(crate) fn commits(
    index_folder: &Path,
    snapshot: &Snapshot,
    progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Vec<PastCommit>, EngineError> {
    let file = file_of(index_folder);
    let mut known = kept(&file);
    let walked = snapshot.past(MOST, |id| known.contains_key(id), progress)?;
    let held = known.len() + walked.new.len();
    let new = lines(walked.new.iter());
    known.extend(walked.new.into_iter().map(|commit| (commit.id.clone(), commit)));
    let commits: Vec<PastCommit> = walked.commits.iter().filter_map(|id| known.get(id)).cloned().collect();
    // A file that cannot be written only costs the next run time.
    if held > STALE * MOST {
        drop(fs::write(&file, lines(commits.iter())));
    } else if !new.is_empty() {
        drop(append(&file, &new));
    }
    Ok(commits)
}

/// Deletes what is kept.
pub(crate) fn forget(index_folder: &Path) {
    drop(fs::remove_file(file_of(index_folder)));
}

/// Beside the folder, which belongs to the index alone.
fn file_of(index_folder: &Path) -> PathBuf {
    index_folder.with_extension("history")
}

/// Returns the commits in the file; a line that a kill cut off is left out.
fn kept(file: &Path) -> HashMap<CommitId, PastCommit> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let commits = text
        .lines()
        .filter_map(|line| serde_json::from_str::<PastCommit>(line).ok());
    commits.map(|commit| (commit.id.clone(), commit)).collect()
}

fn lines<'c>(commits: impl Iterator<Item = &'c PastCommit>) -> String {
    let line = |commit: &PastCommit| serde_json::to_string(commit).ok();
    commits
        .filter_map(line)
        .fold(String::new(), |all, line| all + "\n" + &line)
}

fn append(file: &Path, text: &str) -> std::io::Result<()> {
    // Each entry begins with a line break, so that one that was cut off spoils no other.
    private::file_options()
        .create(true)
        .append(true)
        .open(file)?
        .write_all(text.as_bytes())
}
