//! The log of the program: what driver, calls, worker, watch and store do, in a file a day in the data folder.
//!
//! It holds no contents of repositories, issues or answers, no paths and no names that a person gave: it may be handed to
//! somebody. Contents are logged for one run alone, in a file beside it that goes with the run, and only where a person asked
//! for that ([`Magis::log_contents`](crate::Magis::log_contents)).

use crate::DataFolder;
use magis_platform::private;
use std::fs;
use std::path::Path;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Days that are kept.
const KEPT_FILES: usize = 7;
/// How the files are called, before the day.
const PREFIX: &str = "magis";
/// The crates that log; others may say what they were given.
const CRATES: [&str; 4] = ["magis_engine", "magis_llama", "magis_store", "magis_repo"];

/// Writes what is still to be written when it is dropped.
pub struct LogGuard {
    _writer: WorkerGuard,
}

/// Begins to log into the data folder, for this process, once. `None` where the folder cannot be written or a log was begun
/// already; the program works all the same.
pub fn start_log(data: &DataFolder) -> Option<LogGuard> {
    let folder = data.logs();
    private::create_folder(&folder).ok()?;
    let files = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix(PREFIX)
        .filename_suffix("log")
        .max_log_files(KEPT_FILES)
        .build(&folder)
        .ok()?;
    let (writer, guard) = tracing_appender::non_blocking(files);
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_target(true)
        .with_writer(writer);
    let ours = Targets::new().with_targets(CRATES.map(|name| (name, LevelFilter::INFO)));
    tracing_subscriber::registry().with(ours).with(lines).try_init().ok()?;
    Some(LogGuard { _writer: guard })
}

/// Returns the last lines of the newest log file, `most` at the most; none where there is none.
pub(crate) fn last_lines(folder: &Path, most: usize) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let newest = files
        .filter(|file| file.file_name().to_string_lossy().starts_with(&format!("{PREFIX}.")))
        .max_by_key(fs::DirEntry::file_name);
    let text = newest
        .and_then(|file| fs::read_to_string(file.path()).ok())
        .unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(most)..]
        .iter()
        .map(|line| (*line).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::last_lines;

    #[test]
    fn the_last_lines_are_those_of_the_last_day() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("magis.2026-11-22.log", "yesterday\n");
        write("magis.2026-11-23.log", "one\ntwo\nthree\n");
        write("run-7.jsonl", "{}\n");
        assert_eq!(last_lines(folder.path(), 2), ["two", "three"]);
        assert_eq!(last_lines(&folder.path().join("none"), 2), [""; 0]);
    }
}
