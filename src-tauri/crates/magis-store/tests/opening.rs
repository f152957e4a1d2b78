//! What happens when a data folder is opened: fresh, shared, locked, damaged, foreign, newer, cut off.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by failing")]

mod support;

use magis_core::RunId;
use magis_store::{OpenOptions, Store, StoreError};
use rusqlite::Connection;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use support::{Data, open, spoken};

const AT_ONCE: OpenOptions = OpenOptions {
    busy_timeout: Duration::ZERO,
};

/// Opening `folder` fails with `code`, the remedy says `remedy`, and the file stays as it was.
fn check_refused(folder: &Path, code: &str, remedy: &str) {
    let file = folder.join("magis.sqlite3");
    let before = fs::read(&file).unwrap();
    let error = Store::open_with(folder, AT_ONCE).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains("magis.sqlite3"), "{error}");
    assert!(error.remedy().contains(remedy), "{}", error.remedy());
    assert!(fs::read(&file).unwrap() == before, "the refused file was changed");
}

#[cfg(unix)]
#[test]
fn folder_and_files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("data/magis");
    let store = Store::open(&folder).unwrap();
    store.put_setting("key", &1).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(files.len(), 3, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_holds_other_things_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for _ in 0..2 {
        Store::open(folder.path()).unwrap();
        assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o755);
    }
}

#[test]
fn what_was_written_is_there_when_opened_again() {
    let data = Data::new();
    let run = data.run("Port is lost");
    data.append(run, &[spoken("hello")]);
    let folder = data.folder;
    drop(data.store);
    assert_eq!(open(folder.path()).event_count(run).unwrap(), 1);
}

#[test]
fn many_that_open_a_new_folder_at_once_share_it() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for index in 0..8 {
            let folder = folder.path();
            scope.spawn(move || {
                let store = Store::open(folder).unwrap();
                store.put_setting(&format!("key{index}"), &index).unwrap();
            });
        }
    });
    let store = open(folder.path());
    for index in 0..8 {
        assert_eq!(store.setting::<i32>(&format!("key{index}")).unwrap(), Some(index));
    }
}

#[test]
fn two_stores_of_one_folder_see_each_other_and_cannot_interleave() {
    let data = Data::new();
    let second = open(data.folder.path());
    let run = data.run("Port is lost");
    second.append_event(run, 1, 5, &spoken("from the second")).unwrap();
    let error = data
        .store
        .append_event(run, 1, 6, &spoken("from the first"))
        .unwrap_err();
    assert!(
        matches!(error, StoreError::OutOfOrder { given: 1, next: 2, .. }),
        "{error}"
    );
    assert_eq!(data.store.events(run).unwrap().len(), 1);
}

#[test]
fn a_locked_database_is_named_and_works_again_afterwards() {
    let data = Data::new();
    let other = Connection::open(data.store.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = data.store.put_setting("key", &1).unwrap_err();
    assert_eq!(error.code(), "locked");
    assert!(error.to_string().contains("magis.sqlite3"), "{error}");
    assert!(error.remedy().contains("close the other program"));
    other.execute_batch("ROLLBACK").unwrap();
    data.store.put_setting("key", &1).unwrap();
}

#[test]
fn a_damaged_database_is_refused_and_left_as_it_is() {
    let Data { folder, store, .. } = Data::new();
    let file = store.path().to_owned();
    drop(store);
    let mut bytes = fs::read(&file).unwrap();
    bytes[..100].fill(b'x');
    fs::write(&file, bytes).unwrap();
    check_refused(folder.path(), "damaged", "nothing was deleted");
}

#[test]
fn damage_inside_is_found_by_the_check() {
    let data = Data::new();
    for index in 0..200 {
        data.run(&format!("Issue {index} {}", "word ".repeat(200)));
    }
    data.store.check().unwrap();
    let Data { folder, store, .. } = data;
    let file = store.path().to_owned();
    drop(store);
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xa5);
    fs::write(&file, bytes).unwrap();
    // The page hit is not among those read when opening.
    let error = open(folder.path()).check().unwrap_err();
    assert_eq!(error.code(), "damaged", "{error}");
}

#[test]
fn a_newer_format_is_refused() {
    let Data { folder, store, .. } = Data::new();
    Connection::open(store.path())
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    drop(store);
    check_refused(folder.path(), "newer_schema", "update this program");
}

#[test]
fn a_database_of_another_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("magis.sqlite3");
    Connection::open(&file)
        .unwrap()
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE songs (id)")
        .unwrap();
    check_refused(folder.path(), "not_ours", "another data folder");
}

#[test]
fn what_was_not_committed_when_the_program_died_is_not_there() {
    let data = Data::new();
    let run = data.run("Port is lost");
    data.append(run, &[spoken("kept")]);
    let dying = Connection::open(data.store.path()).unwrap();
    dying
        .execute_batch("BEGIN IMMEDIATE; INSERT INTO events VALUES (1, 2, 0, 'locate', '{}', 1); DELETE FROM runs")
        .unwrap();
    drop(dying);
    assert_eq!(data.store.events(run).unwrap().len(), 1);
    data.append(run, &[spoken("goes on")]);
}

#[test]
fn killed_in_the_middle_every_reported_event_is_there_and_the_log_goes_on() {
    let data = Data::new();
    let run = data.run("Port is lost");
    data.append(run, &[support::started("Port is lost")]);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "appends_until_killed", "--ignored", "--nocapture"])
        .env("MAGIS_STORE_TEST_FOLDER", data.folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let reported = lines.filter_map(|line| line.strip_prefix("appended ").map(|seq| seq.parse::<u32>().unwrap()));
    let last = reported.take_while(|seq| *seq <= 40).last().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();

    let store = open(data.folder.path());
    let numbers: Vec<u32> = store.events(run).unwrap().iter().map(|stored| stored.seq).collect();
    assert!(numbers.len() >= last as usize, "{} of {last} are there", numbers.len());
    assert_eq!(numbers, (1..=numbers.len() as u32).collect::<Vec<_>>());
    store
        .append_event(run, numbers.len() as u32 + 1, 0, &spoken("resumed"))
        .unwrap();
    store.check().unwrap();
}

#[test]
#[ignore = "the other half of the test that kills it"]
fn appends_until_killed() {
    let folder = std::env::var_os("MAGIS_STORE_TEST_FOLDER").unwrap();
    let store = Store::open(Path::new(&folder)).unwrap();
    for seq in 2.. {
        store
            .append_event(RunId(1), seq, 0, &spoken(&"word ".repeat(500)))
            .unwrap();
        // The first line of the test harness may stand before; a fresh line is needed.
        println!("\nappended {seq}");
        std::io::stdout().flush().unwrap();
    }
}
