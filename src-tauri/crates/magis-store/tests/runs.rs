//! Runs: how they stand, lists, search, deletion, leases.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by failing")]

mod support;

use magis_core::{RunEvent, RunId, RunOutcome};
use magis_platform::process::ProcessMark;
use magis_store::{
    CreationOrder, DiffSize, Erasure, LeaseError, NewRun, RunFilter, RunSearch, SnippetSpan, StoredStatus, TextSource,
};
use rusqlite::Connection;
use std::fs;
use std::path::Path;
use support::{Data, call, ended, hint, merged, open, request, reviewed, spoken, started, summary, task};

const PATCH: &str = "diff --git a/src/url.py b/src/url.py\n--- a/src/url.py\n+++ b/src/url.py\n@@ -1,3 +1,4 @@\n import re\n\
                     --- removed comment\n+++ added comment\n+port = None\n \n\
                     diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x = 1\n";

#[test]
fn the_size_of_a_patch_counts_lines_that_look_like_headers() {
    assert_eq!(
        DiffSize::of(PATCH),
        DiffSize {
            added: 3,
            deleted: 1,
            files: 2
        }
    );
    assert_eq!(DiffSize::of(""), DiffSize::default());
}

#[test]
fn a_run_stands_as_its_events_say() {
    let data = Data::new();
    let run = data.run("Port is lost\nmore");
    let status = || data.store.run(run).unwrap().entry.status;
    assert_eq!(status(), StoredStatus::Queued);
    data.append(run, &[started("Port is lost")]);
    assert_eq!(status(), StoredStatus::Running);
    data.append(
        run,
        &[RunEvent::Paused {
            reason: "asked".to_owned(),
        }],
    );
    assert_eq!(status(), StoredStatus::Paused);
    let reason = "every file was declined".to_owned();
    let outcome = RunOutcome::NoChange { reason };
    data.append(
        run,
        &[
            RunEvent::Resumed,
            merged(PATCH),
            RunEvent::RunEnded {
                outcome: outcome.clone(),
            },
        ],
    );
    let entry = data.store.run(run).unwrap().entry;
    assert_eq!((entry.status, entry.outcome), (StoredStatus::Ended, Some(outcome)));
    assert_eq!((entry.title.as_str(), entry.model.as_str()), ("Port is lost", "small"));
    assert_eq!(
        entry.size,
        DiffSize {
            added: 3,
            deleted: 1,
            files: 2
        }
    );
    assert_eq!(
        (entry.created_at, entry.started_at, entry.ended_at),
        (10, Some(100), Some(104))
    );
    assert_eq!(entry.base.unwrap().name, "HEAD");
    assert_eq!(data.store.run(run).unwrap().request, request("Port is lost\nmore"));
}

#[test]
fn a_title_is_shown_without_marks_of_inline_code() {
    let data = Data::new();
    let run = data.run("# `table()` fails on ``a`b``\nmore");
    assert_eq!(data.store.run(run).unwrap().entry.title, "table() fails on a`b");
}

#[test]
fn lists_are_filtered_ordered_and_paged() {
    let data = Data::new();
    let other = data
        .store
        .upsert_repository(&support::repository("/projects/other"), 2)
        .unwrap();
    let runs: Vec<RunId> = (0..4).map(|index| data.run(&format!("Issue {index}"))).collect();
    let elsewhere = NewRun {
        repo: other,
        request: request("Elsewhere"),
        parent: None,
        created_at: 50,
    };
    let elsewhere = data.store.create_run(&elsewhere).unwrap();
    data.append(runs[1], &[started("Issue 1"), ended()]);

    let check = |filter: RunFilter, expected: &[RunId]| {
        let found: Vec<RunId> = data.store.runs(&filter).unwrap().iter().map(|entry| entry.id).collect();
        assert_eq!(found, expected, "{filter:?}");
    };
    let all = RunFilter::default();
    check(all.clone(), &[elsewhere, runs[3], runs[2], runs[1], runs[0]]);
    check(
        RunFilter {
            repo: Some(other),
            ..all.clone()
        },
        &[elsewhere],
    );
    check(
        RunFilter {
            status: Some(StoredStatus::Ended),
            ..all.clone()
        },
        &[runs[1]],
    );
    let queue = RunFilter {
        status: Some(StoredStatus::Queued),
        order: CreationOrder::OldestFirst,
        limit: 2,
        ..all.clone()
    };
    check(queue.clone(), &[runs[0], runs[2]]);
    check(
        RunFilter {
            after: Some(runs[2]),
            ..queue
        },
        &[runs[3], elsewhere],
    );
    check(
        RunFilter {
            repo: Some(data.repo),
            after: Some(runs[2]),
            ..all
        },
        &[runs[1], runs[0]],
    );
}

/// The runs that `text` finds, newest first.
fn check_search(data: &Data, text: &str, expected: &[RunId]) {
    let hits = data
        .store
        .search_runs(&RunSearch {
            text: text.to_owned(),
            repo: None,
            limit: 10,
        })
        .unwrap();
    let found: Vec<RunId> = hits.iter().map(|hit| hit.run.id).collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn search_finds_issue_words_paths_and_patch() {
    let data = Data::new();
    let first = data.run("Port is lost when joining");
    data.append(
        first,
        &[
            started("Port"),
            task("src/net/url_join.py", "Keep the authority"),
            merged(PATCH),
        ],
    );
    let second = data.run("Größe is wrong");
    data.append(
        second,
        &[started("Größe"), spoken("The port is fine here"), hint("look at sizes")],
    );
    check_search(&data, "lost joining", &[first]);
    check_search(&data, "port", &[second, first]);
    check_search(&data, "src/net/url", &[first]);
    check_search(&data, "url_join", &[first]);
    check_search(&data, "authori", &[first]);
    check_search(&data, "import re", &[first]);
    check_search(&data, "GROSSE", &[]);
    check_search(&data, "grösse", &[]);
    check_search(&data, "größe", &[second]);
    check_search(&data, "sizes", &[second]);
}

#[test]
fn signs_of_the_query_language_are_plain_text() {
    let data = Data::new();
    let run = data.run("Crash in f(\"x\") AND NOT OR near");
    for text in [
        "\"",
        "f(\"x\")",
        "AND",
        "x* OR",
        "near(",
        "{text}: crash",
        "",
        "  ",
        "*",
        "'; DROP TABLE runs",
    ] {
        let found = data.store.search_runs(&RunSearch {
            text: text.to_owned(),
            repo: None,
            limit: 10,
        });
        assert!(found.is_ok(), "{text:?}: {found:?}");
    }
    check_search(&data, "f(\"x\") AND", &[run]);
}

#[test]
fn a_hit_says_where_and_shows_what_was_found() {
    let data = Data::new();
    let run = data.run("Port is lost");
    data.append(run, &[started("Port is lost"), spoken("We keep the port.")]);
    let search = RunSearch {
        text: "port".to_owned(),
        repo: Some(data.repo),
        limit: 10,
    };
    let hits = data.store.search_runs(&search).unwrap();
    let places: Vec<_> = hits[0].places.iter().map(|place| (place.source, place.seq)).collect();
    assert_eq!(places, [(TextSource::Issue, None), (TextSource::Words, Some(2))]);
    let [plain, found, end] = &hits[0].places[1].snippet[..] else {
        panic!("{:?}", hits[0].places)
    };
    assert_eq!(*plain, SnippetSpan::Plain("We keep the ".to_owned()));
    assert_eq!(*found, SnippetSpan::Found("port".to_owned()));
    assert_eq!(*end, SnippetSpan::Plain(".".to_owned()));
}

/// Returns which of `words` occur in any file of the folder, whatever their case.
fn found_in_files(folder: &Path, words: &[&str]) -> Vec<String> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        bytes.extend(fs::read(entry.unwrap().path()).unwrap().to_ascii_lowercase());
    }
    let occurs = |word: &&&str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    words.iter().filter(occurs).map(|word| (*word).to_owned()).collect()
}

const SECRETS: [&str; 9] = [
    "zqissuezq",
    "zqhintzq",
    "zqpathzq",
    "zqwordszq",
    "zqcommentzq",
    "zqpatchzq",
    "zqpromptzq",
    "zqreplyzq",
    "zqleftoutzq",
];

/// Returns a run among others whose every text has a word of [`SECRETS`].
fn with_secrets() -> (Data, RunId) {
    let data = Data::new();
    let neighbour = |index: usize| {
        let run = data.run(&format!("Neighbour {index} {}", "common words ".repeat(40)));
        data.append(
            run,
            &[
                started("Neighbour"),
                spoken(&"zq neighbours speak ".repeat(60)),
                merged(PATCH),
            ],
        );
        data.store.record_call(run, &call("k", "P2", 1)).unwrap();
    };
    (0..20).for_each(neighbour);
    let run = data.run(&format!("Crash {}", "zqissuezq ".repeat(300)));
    data.append(
        run,
        &[
            started("The zqissuezq again"),
            hint("zqhintzq"),
            task("src/zqpathzq.py", "Do it"),
            spoken(&"zqwordszq ".repeat(900)),
            reviewed("zqcommentzq"),
            merged(&PATCH.replace("port", "zqpatchzq")),
            ended(),
        ],
    );
    let mut record = call("k", "P2", 1);
    record.request = serde_json::json!({ "prompt": "zqpromptzq ".repeat(2000) });
    record.reply = serde_json::json!({ "text": "zqreplyzq" });
    record.left_out = serde_json::json!(["zqleftoutzq"]);
    data.store.record_call(run, &record).unwrap();
    (20..40).for_each(neighbour);
    (data, run)
}

#[test]
fn no_byte_of_a_deleted_run_stays_in_any_file() {
    let (data, run) = with_secrets();
    let _second = open(data.folder.path());
    assert_eq!(
        found_in_files(data.folder.path(), &SECRETS),
        SECRETS,
        "the words should be there to begin with"
    );
    let deleted = data.store.delete_run(run, 1000).unwrap();
    assert_eq!(deleted.erasure, Erasure::Complete);
    assert_eq!(found_in_files(data.folder.path(), &SECRETS), Vec::<String>::new());
    assert_eq!(
        data.store.run(run).unwrap_err().to_string(),
        format!("there is no run {run}")
    );
    check_search(&data, "zqissuezq", &[]);
    assert_eq!(data.store.runs(&RunFilter::default()).unwrap().len(), 40);
    data.store.check().unwrap();
}

#[test]
fn runs_deleted_one_after_the_other_leave_no_word_in_any_file() {
    let data = Data::new();
    let words = ["zqalphazq", "zqbetazq", "zqgammazq"];
    let with = |word: &&str| {
        let run = data.run(&format!("Crash {word}"));
        data.append(run, &[started(&format!("The {word} again"))]);
        (0..40).for_each(|said| data.append(run, &[spoken(&format!("{word} for the time {said}"))]));
        run
    };
    let runs: Vec<RunId> = words.iter().map(with).collect();
    for (at, run) in runs.into_iter().enumerate() {
        assert_eq!(data.store.delete_run(run, 1000).unwrap().erasure, Erasure::Complete);
        assert_eq!(found_in_files(data.folder.path(), &words), words[at + 1..]);
    }
}

#[test]
fn what_a_reader_kept_from_being_erased_is_erased_at_the_next_opening() {
    let (data, run) = with_secrets();
    let reader = Connection::open(data.store.path()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM runs").unwrap();
    let deleted = data.store.delete_run(run, 1000).unwrap();
    assert!(
        matches!(deleted.erasure, Erasure::Pending { .. }),
        "{:?}",
        deleted.erasure
    );
    drop(reader);
    let _again = open(data.folder.path());
    assert_eq!(found_in_files(data.folder.path(), &SECRETS), Vec::<String>::new());
}

#[test]
fn deleting_says_what_stays() {
    let data = Data::new();
    let run = data.run("Port is lost");
    data.append(run, &[started("Port is lost")]);
    let mut kept = summary(data.repo, "a.py", "a1", "Parses.", 10);
    kept.made_in = Some(run);
    data.store.put_summary(&kept).unwrap();
    let again = NewRun {
        repo: data.repo,
        request: request("Port is lost"),
        parent: Some(run),
        created_at: 20,
    };
    let rerun = data.store.create_run(&again).unwrap();
    data.store.copy_run_prefix(run, 1, rerun).unwrap();
    let deleted = data.store.delete_run(run, 1000).unwrap();
    assert_eq!(
        (deleted.summaries_kept, deleted.change_messages_kept, deleted.reruns),
        (1, 0, vec![rerun])
    );
    assert_eq!(data.store.event_count(rerun).unwrap(), 1);
    let summary = data
        .store
        .latest_summary(data.repo, &support::path("a.py"))
        .unwrap()
        .unwrap();
    assert_eq!(summary.kept.made_in, None);
    // A number is never given twice.
    assert!(data.run("Another") > rerun);
}

/// A process that nothing is known of but its number.
fn process(pid: u32) -> ProcessMark {
    ProcessMark { pid, started: None }
}

#[test]
fn one_run_works_at_a_time_under_one_driver() {
    let data = Data::new();
    let (first, second) = (data.run("One"), data.run("Two"));
    let store = &data.store;
    let lease = store.acquire_lease(first, "window", process(11), 1000, 500).unwrap();
    let held = store
        .acquire_lease(first, "terminal", process(12), 1100, 500)
        .unwrap_err();
    assert!(
        matches!(&held, LeaseError::HeldBy(by) if by.holder == "window" && by.process.pid == 11),
        "{held}"
    );
    let busy = store
        .acquire_lease(second, "terminal", process(12), 1100, 500)
        .unwrap_err();
    assert!(
        matches!(&busy, LeaseError::OtherRunActive(by) if by.run == first),
        "{busy}"
    );
    let lease = store.renew_lease(&lease, 1400, 500).unwrap();
    assert_eq!(store.live_lease(1800).unwrap(), Some(lease.clone()));
    assert_eq!(store.delete_run(first, 1800).unwrap_err().code(), "run_active");
    store.release_lease(&lease).unwrap();
    assert_eq!(
        store
            .acquire_lease(second, "terminal", process(12), 1500, 500)
            .unwrap()
            .process
            .pid,
        12
    );
}

#[test]
fn a_lease_that_ran_out_can_be_taken_and_its_old_holder_notices() {
    let data = Data::new();
    let (first, second) = (data.run("One"), data.run("Two"));
    let old = data
        .store
        .acquire_lease(first, "killed", process(11), 1000, 500)
        .unwrap();
    let new = data
        .store
        .acquire_lease(second, "next", process(12), 1500, 500)
        .unwrap();
    assert!(matches!(
        data.store.renew_lease(&old, 1501, 500),
        Err(LeaseError::Lost { .. })
    ));
    assert!(matches!(data.store.release_lease(&old), Err(LeaseError::Lost { .. })));
    assert_eq!(data.store.live_lease(1501).unwrap(), Some(new));
}

#[test]
fn a_run_left_behind_is_interrupted() {
    let data = Data::new();
    let status = |run| data.store.run(run).unwrap().entry.status;
    let (killed, left) = (data.run("One"), data.run("Two"));
    data.store
        .acquire_lease(killed, "killed", process(11), 1000, 500)
        .unwrap();
    assert_eq!(status(killed), StoredStatus::Running);
    assert_eq!(data.store.interrupt_abandoned_runs(1499).unwrap(), []);
    assert_eq!(data.store.interrupt_abandoned_runs(1500).unwrap(), [killed]);
    let lease = data
        .store
        .acquire_lease(left, "window", process(12), 1500, 500)
        .unwrap();
    data.store.release_lease(&lease).unwrap();
    assert_eq!(
        (status(killed), status(left)),
        (StoredStatus::Interrupted, StoredStatus::Interrupted)
    );
}

#[test]
fn a_lease_that_lasts_longer_than_any_can_is_not_believed() {
    const THREE_YEARS: i64 = 3 * 365 * 24 * 60 * 60 * 1000;
    let data = Data::new();
    let run = data.run("Port is lost");
    data.append(run, &[started("Port is lost")]);
    // Taken while the clock was ahead, by a driver that was killed.
    let wrong = data
        .store
        .acquire_lease(run, "before", process(1), THREE_YEARS, 30_000)
        .unwrap();
    assert_eq!(data.store.live_lease(THREE_YEARS).unwrap(), Some(wrong));

    assert_eq!(data.store.live_lease(100).unwrap(), None);
    assert_eq!(data.store.interrupt_abandoned_runs(100).unwrap(), [run]);
    let lease = data.store.acquire_lease(run, "now", process(2), 100, 30_000).unwrap();
    data.store.release_lease(&lease).unwrap();
    data.store
        .acquire_lease(run, "before", process(1), THREE_YEARS, 30_000)
        .unwrap();
    data.store.delete_run(run, 100).unwrap();
}

/// A process that lives until this is dropped.
#[cfg(target_os = "linux")]
struct Other(std::process::Child);

#[cfg(target_os = "linux")]
impl Other {
    fn start() -> Self {
        Self(std::process::Command::new("sleep").arg("600").spawn().unwrap())
    }

    fn mark(&self) -> ProcessMark {
        ProcessMark::of(self.0.id())
    }
}

#[cfg(target_os = "linux")]
impl Drop for Other {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn whoever_lives_keeps_its_lease_whatever_the_clocks_say() {
    const YEAR: i64 = 365 * 24 * 60 * 60 * 1000;
    let data = Data::new();
    let store = &data.store;
    let run = data.run("Port is lost");
    let other = Other::start();
    store.acquire_lease(run, "window", other.mark(), YEAR, 500).unwrap();
    for now in [0, YEAR, 2 * YEAR] {
        let held = store.acquire_lease(run, "terminal", process(2), now, 500).unwrap_err();
        assert!(matches!(held, LeaseError::HeldBy(_)), "{held}");
        assert!(held.remedy().contains("break-lease"), "{}", held.remedy());
    }
    drop(other);
    assert_eq!(store.live_lease(YEAR).unwrap(), None, "its process has ended");
    assert_eq!(store.interrupt_abandoned_runs(YEAR).unwrap(), [run]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_lease_can_be_broken_and_its_holder_notices() {
    let data = Data::new();
    let store = &data.store;
    let run = data.run("Port is lost");
    let other = Other::start();
    let lease = store.acquire_lease(run, "hanging", other.mark(), 1000, 500).unwrap();
    assert!(store.break_lease(run).unwrap());
    assert_eq!(store.run(run).unwrap().entry.status, StoredStatus::Interrupted);
    store.acquire_lease(run, "terminal", process(2), 1001, 500).unwrap();
    assert!(matches!(
        store.renew_lease(&lease, 1002, 500),
        Err(LeaseError::Lost { .. })
    ));
    assert_eq!(store.break_lease(RunId(99)).unwrap_err().code(), "no_run");
}
