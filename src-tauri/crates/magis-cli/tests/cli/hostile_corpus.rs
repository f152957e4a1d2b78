//! The corpus of hostile repositories through the terminal: every command ends by itself with an exit code that means
//! something, runs nothing that a repository names, writes nothing into it, and says what it found in words that steer no
//! terminal.
//!
//! The sentences are snapshots, one for each group. What each costs is written into the folder that `MAGIS_HOSTILE_TABLE`
//! names, as a table.

use crate::support::Program;
use magis_testkit::hostile::{GROUPS, HostileGroup, MadeRepo};
use magis_testkit::measured::{self, Measured};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// What takes longer does not end: a machine that does other things as well may take long over what is little work.
const DEADLINE: Duration = Duration::from_mins(4);
/// The most memory that one process and all processes of a command may hold.
const MEMORY: u64 = 500_000_000;
/// The most seconds of processors: five times the two that a program that is handed on may take. Tests run programs that are
/// hardly optimised, on machines that do other things as well.
const SECONDS: f64 = 10.0;
/// The command that goes on until a person ends it. How far it comes until then depends on the machine, so what it says is not compared.
const WATCH: &str = "watch";
/// After so many seconds a person presses Ctrl-C.
const WATCHED: &str = "1";
/// The exit code of what a person ended.
const STOPPED: i32 = 130;
/// The most letters of a sentence that a table shows.
const SHOWN: usize = 400;

/// What is said of these depends on where and by whom the tests are run, and is not compared: what lies in /dev, whether a folder can be given to somebody else,
/// in which order a folder lists its links, whether 100 000 files are looked at and 100 MB are inflated in time, and a commit that holds the path of a program.
const LEFT_OUT: [&str; 6] = [
    "alternates-root",
    "git-foreign",
    "branches",
    "branches-links",
    "message",
    "embedded-bare",
];

/// What a command on a repository came to.
struct Row {
    repository: &'static str,
    command: &'static str,
    measured: Measured,
    sentence: String,
}

#[test]
fn measuring() {
    if measured::serve() {
        return;
    }
    let measured = measured::run("hostile_corpus::measuring", &Command::new("true"), DEADLINE);
    assert_eq!((measured.code, measured.overdue, measured.left), (Some(0), false, 0));
    assert!(measured.peak > 0 && measured.peak < MEMORY, "{measured:?}");
}

#[test]
fn files_of_rules() {
    check("rules");
}

#[test]
fn layouts() {
    check("layout");
}

#[test]
fn settings() {
    check("settings");
}

#[test]
fn objects() {
    check("objects");
}

#[test]
fn packs() {
    check("packs");
}

#[test]
fn references() {
    check("references");
}

#[test]
fn indexes() {
    check("indexes");
}

#[test]
fn names() {
    check("names");
}

#[test]
fn work_trees() {
    check("work-tree");
}

#[test]
fn formats() {
    check("formats");
}

#[test]
fn a_base_that_was_collected_is_named() {
    let (program, folder) = (Program::new(), TempDir::new().unwrap());
    let mut all = GROUPS.iter().flat_map(|group| group.repositories);
    let made = all
        .find(|hostile| hostile.name == "base-collected")
        .unwrap()
        .make(folder.path());
    let gone = fs::read_to_string(made.all.join("collected")).unwrap();
    let issue = program.file("issue.md", "main() gives 1 and not 2");
    let repository = made.folder.to_str().unwrap();
    let answer = program.run(["locate", "--repo", repository, "--issue", &issue, "--at", gone.trim()]);
    assert_eq!((answer.code, answer.out.as_str()), (Some(1), ""));
    let said = answer.err.replace(gone.trim(), "COLLECTED");
    insta::assert_snapshot!(said, @r"
    error: there is no revision 'COLLECTED'
      what to do: Check its spelling; in a shallow clone older commits come with 'git fetch --unshallow'.
    ");
}

fn check(name: &str) {
    let group = GROUPS.iter().find(|group| group.name == name).unwrap();
    let wanted = std::env::var("MAGIS_HOSTILE_ONLY").ok();
    let mut rows = Vec::new();
    for hostile in group.repositories {
        if wanted
            .as_ref()
            .is_some_and(|wanted| !hostile.name.contains(wanted.as_str()))
        {
            continue;
        }
        let folder = TempDir::new().unwrap();
        let made = hostile.make(folder.path());
        let before = listing(&made.all);
        for command in ["doctor", "locate", "tests list", WATCH] {
            let row = run(hostile.name, command, &made);
            println!("{}", line(&row));
            rows.push(row);
        }
        assert_eq!(made.programs_run(), None, "{}", hostile.name);
        assert!(before == listing(&made.all), "{}: something was written", hostile.name);
    }
    if let Some(folder) = std::env::var_os("MAGIS_HOSTILE_TABLE") {
        fs::write(PathBuf::from(folder).join(format!("{name}.md")), table(group, &rows)).unwrap();
    }
    let faults: Vec<String> = rows.iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    if wanted.is_none() {
        let sentences: Vec<String> = rows
            .iter()
            .filter(|row| !LEFT_OUT.contains(&row.repository) && row.command != WATCH)
            .map(|row| format!("{} | {} | {}", row.repository, row.command, row.sentence))
            .collect();
        insta::assert_snapshot!(format!("hostile_{name}"), sentences.join("\n"));
    }
}

fn run(repository: &'static str, command: &'static str, made: &MadeRepo) -> Row {
    let program = Program::new();
    let issue = program.file("issue.md", "main() gives 1 and not 2, and total() forgets the last day");
    let folder = made.folder.to_str().unwrap();
    let mut words: Vec<&str> = command.split(' ').collect();
    words.extend(["--repo", folder]);
    if command == "locate" {
        words.extend(["--issue", &issue]);
    }
    let mut plain = program.command(words);
    if command == WATCH {
        plain = interrupted(&plain);
    }
    let measured = measured::run("hostile_corpus::measuring", &plain, DEADLINE);
    let all = made.all.to_str().unwrap();
    let sentence = program.neutral(&sentence(command, &measured)).replace(all, "ALL");
    Row {
        repository,
        command,
        measured,
        sentence: short(&sentence),
    }
}

/// Returns a command that is interrupted as Ctrl-C does it.
fn interrupted(plain: &Command) -> Command {
    let mut command = Command::new("/usr/bin/timeout");
    command
        .args(["--signal=INT", "--preserve-status", WATCHED])
        .arg(plain.get_program())
        .args(plain.get_args());
    command.env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// Returns what is said of the repository, in one line.
fn sentence(command: &str, measured: &Measured) -> String {
    let told: Vec<&str> = match command {
        "doctor" => measured
            .out
            .lines()
            .filter(|line| line.get(9..19) == Some("repository"))
            .collect(),
        _ => measured.out.lines().filter(|line| !line.starts_with(' ')).collect(),
    };
    let notes = measured
        .out
        .split_once("\nNotes\n")
        .map(|(_, notes)| notes)
        .unwrap_or_default();
    // Before an error there may stand how far it was.
    let said = measured
        .err
        .split_once("error: ")
        .map(|(_, said)| format!("error: {said}"));
    let said = said.unwrap_or_default();
    let said = said.lines().filter(|line| !line.starts_with("  what to do: "));
    let words = told
        .into_iter()
        .chain(notes.lines())
        .chain(said)
        .flat_map(str::split_whitespace);
    let words = words.collect::<Vec<_>>().join(" ");
    // Whether time, work or memory was over first depends on the machine.
    match words.split_once("broke off: ") {
        Some((before, _)) => format!("{before}broke off"),
        None => words,
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns what is wrong with how a command went.
fn faults(row: &Row) -> Vec<String> {
    let Measured {
        code,
        out,
        err,
        cpu,
        peak,
        together,
        overdue,
        left,
        ..
    } = &row.measured;
    let mut faults = Vec::new();
    let mut refuse = |fault: bool, what: &str| {
        if fault {
            faults.push(format!("{} {}: {what}: {}", row.repository, row.command, row.sentence));
        }
    };
    refuse(*overdue, "it does not end");
    let is_watching = row.command == WATCH;
    let is_known = matches!(code, Some(0 | 1)) || (is_watching && *code == Some(STOPPED));
    refuse(!is_known, &format!("it ends with {code:?}"));
    refuse(*left > 0, "it leaves processes behind");
    refuse(err.contains("panicked"), "it panics");
    refuse(
        [out, err].into_iter().any(|text| text.chars().any(steers)),
        "it steers the terminal",
    );
    refuse(*cpu > SECONDS, &format!("it takes {cpu:.1} s of the processors"));
    refuse(
        *peak.max(together) > MEMORY,
        &format!("it takes {peak} bytes, {together} together"),
    );
    refuse(row.sentence.is_empty() && !is_watching, "it says nothing");
    let is_error = *code == Some(1) && row.command != "doctor";
    refuse(is_error && !err.contains("what to do: "), "it does not say what to do");
    faults
}

/// Returns whether a character steers a terminal or is not seen.
fn steers(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
}

/// Returns all that lies in a folder, without opening it: kinds, sizes and when it was changed.
fn listing(folder: &Path) -> BTreeMap<PathBuf, (u32, u64, i64, i64)> {
    let (mut found, mut left) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(about) = fs::symlink_metadata(entry.path()) else {
                continue;
            };
            if about.is_dir() {
                left.push(entry.path());
            }
            found.insert(
                entry.path(),
                (about.mode(), about.len(), about.mtime(), about.mtime_nsec()),
            );
        }
    }
    found
}

fn line(row: &Row) -> String {
    let Measured {
        code,
        wall,
        cpu,
        peak,
        together,
        ..
    } = &row.measured;
    let code = code.map_or_else(|| "signal".to_owned(), |code| code.to_string());
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    format!(
        "| {} | {} | {code} | {cpu:.2} | {wall:.2} | {} | {} | {} |",
        row.repository,
        row.command,
        megabytes(*peak),
        megabytes(*together),
        row.sentence.replace('|', "\\|")
    )
}

fn table(group: &HostileGroup, rows: &[Row]) -> String {
    let mut text = format!("# {}\n\n", group.name);
    for hostile in group.repositories {
        text += &format!("- {}: {}\n", hostile.name, hostile.what);
    }
    text += "\n| repository | command | exit | CPU s | wall s | peak MB | together MB | what it says |\n";
    text += "|---|---|---|---|---|---|---|---|\n";
    for row in rows {
        text += &line(row);
        text.push('\n');
    }
    text
}
