//! A list of repositories most of which became hostile after they were taken in, asked for as the window asks for it: the
//! others stand in it as ever, and each of these with a state or with a sentence and what to do.

use magis_engine::model::{Priority, WorkerCommand};
use magis_engine::records::RepositoryEntry;
use magis_engine::repository::{BaseChoice, Git, GitWorker};
use magis_engine::{DataFolder, EngineError, Magis};
use magis_testkit::confined::children;
use magis_testkit::hostile::{GROUPS, begin};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tempfile::TempDir;

/// The most memory that the list may take, beside the processes that read.
const MEMORY: u64 = 500_000_000;

fn open(folder: &Path) -> Magis {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_magis"));
    let worker = WorkerCommand {
        program: program.clone(),
        args: vec!["worker".into()],
        priority: Priority::Normal,
    };
    let git = Git::in_workers(GitWorker {
        program,
        args: vec!["git-worker".into()],
    });
    Magis::open(DataFolder::locate(Some(folder.join("data"))).unwrap(), worker, git).unwrap()
}

/// Returns how a repository stands, as the window has it in its list.
fn stands(magis: &Magis, known: &RepositoryEntry) -> Result<String, EngineError> {
    let state = magis.open_repository(known.id)?.state()?;
    // What a row shows beside that may be missing in it.
    let files = magis.files_of(known.id, &BaseChoice::Head);
    let files = files.and_then(|files| magis.coverage_of(known.id, &files).map(|_| files.len()));
    let index = magis.index_state(known.id).is_ok();
    Ok(format!(
        "{} {files:?}, index: {index}, {:?}",
        state.commit.0, state.notes
    ))
}

#[test]
fn a_list_of_hostile_repositories_tells_of_the_others_as_ever() {
    let folder = TempDir::new().unwrap();
    let magis = open(folder.path());
    let all: Vec<_> = GROUPS.iter().flat_map(|group| group.repositories).collect();
    let wanted = std::env::var("MAGIS_HOSTILE_ONLY").ok();
    let all: Vec<_> = all
        .into_iter()
        .filter(|one| wanted.as_ref().is_none_or(|wanted| one.name.contains(wanted.as_str())))
        .collect();
    let place = |name: &str| folder.path().join(name);
    let ordinary = |name: &str| {
        fs::create_dir(place(name)).unwrap();
        magis.add_repository(begin(&place(name)).root()).unwrap()
    };
    let first = ordinary("first");
    for hostile in &all {
        ordinary(hostile.name);
        fs::remove_dir_all(place(hostile.name)).unwrap();
        fs::create_dir(place(hostile.name)).unwrap();
        hostile.make(&place(hostile.name));
    }
    let last = ordinary("last");
    // From here on the peak counts anew.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let known = magis.repositories().unwrap();
    assert_eq!(known.len(), all.len() + 2);
    let mut lines = Vec::new();
    for known in &known {
        let begun = Instant::now();
        let stands = stands(&magis, known);
        let took = begun.elapsed().as_secs_f64();
        let name = Path::new(&known.root)
            .parent()
            .unwrap()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        if known.id == first || known.id == last {
            let stands = stands.as_ref().unwrap();
            assert!(
                stands.contains("Ok(2)") && stands.contains("index: true"),
                "{name}: {stands}"
            );
        }
        if let Err(error) = &stands {
            assert!(
                !error.to_string().is_empty() && !error.remedy().is_empty(),
                "{name}: {error}"
            );
        }
        let said = stands
            .unwrap_or_else(|error| error.to_string())
            .replace(folder.path().to_str().unwrap(), "ALL");
        let said: String = said.chars().take(300).filter(|c| !c.is_control()).collect();
        lines.push(format!("| {name} | {took:.2} | {said} |"));
        println!("{}", lines.last().unwrap());
    }
    assert_eq!(children("git-worker"), Vec::<i32>::new(), "processes are left");
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    println!("peak of this process: {} MB", (peak << 10) / 1_000_000);
    assert!(peak << 10 < MEMORY, "{peak} KiB");
    if let Some(folder) = std::env::var_os("MAGIS_HOSTILE_TABLE") {
        let head = "| repository | wall s | how it stands in the list |\n|---|---|---|\n";
        fs::write(
            PathBuf::from(folder).join("list.md"),
            format!("{head}{}\n", lines.join("\n")),
        )
        .unwrap();
    }
}
