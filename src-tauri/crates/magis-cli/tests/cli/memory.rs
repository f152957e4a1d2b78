//! `magis memory` on a memory that was filled by hand.

use crate::support::Program;
use magis_core::RepoPath;
use magis_engine::repository::blob_of;
use magis_store::{NewRepository, NewSummary, Store};
use magis_testkit::FixtureRepo;
use serde_json::Value;

/// As long as a file that needs a description.
const TEXT: &str = "\
def total(entries):
    \"\"\"The sum of all entries, as a number of cents.

    An entry has an amount, which is a whole number of cents, and may be negative where money came back.
    Entries without an amount are left out. The order of the entries does not matter, and an empty list has the sum
    of zero. Nothing is rounded on the way, since nothing is ever divided here.
    \"\"\"
    return sum(entry.amount for entry in entries if entry.amount is not None)
";

/// Returns a program whose memory holds a summary of `sums.py`, and the repository.
fn filled() -> (Program, FixtureRepo) {
    let (program, fixture) = (Program::new(), FixtureRepo::new());
    fixture
        .write("sums.py", TEXT)
        .write("other.py", TEXT.replace("total", "other"))
        .write("short.py", "x = 1\n")
        .write("logo.png", [0_u8; 900])
        .commit("first");
    let store = Store::open(&program.data()).unwrap();
    let root = std::fs::canonicalize(fixture.root()).unwrap();
    let repo = store
        .upsert_repository(
            &NewRepository {
                root: format!("{}/", root.display()),
                name: "sums".to_owned(),
                identity: None,
            },
            1,
        )
        .unwrap();
    store
        .put_summary(&NewSummary {
            repo,
            path: RepoPath::new("sums.py").unwrap(),
            blob: blob_of(TEXT),
            text: "This file adds numbers.".to_owned(),
            from_skeleton: false,
            file_bytes: u32::try_from(TEXT.len()).unwrap(),
            tokens: 5,
            model: "small".to_owned(),
            model_sha: "a".repeat(64),
            template_hash: "b".repeat(64),
            made_at: 1_767_323_045_000,
            made_in: None,
        })
        .unwrap();
    (program, fixture)
}

/// Returns the files that need no description, and why.
fn needless(status: &Value) -> Vec<(&str, &str)> {
    let files = status["files"].as_array().unwrap().iter();
    let needless: Vec<_> = files
        .filter(|file| file["state"] == "needs_none")
        .map(|file| (file["path"].as_str().unwrap(), file["needs_none"].as_str().unwrap()))
        .collect();
    assert_eq!(status["needs_none"], needless.len());
    needless
}

fn said(program: &Program, words: &[&str]) -> String {
    let answer = program.run(["memory"].iter().chain(words));
    assert_eq!(answer.code, Some(0), "{words:?}: {}", answer.err);
    answer.out
}

#[test]
fn a_summary_is_counted_corrected_shown_as_stale_and_dropped() {
    let (program, fixture) = filled();
    let repo = fixture.root().to_str().unwrap();
    let status = || -> Value {
        serde_json::from_str(&said(&program, &["status", "--repo", repo, "--json"])).expect("it prints JSON")
    };
    let counts = |status: &Value| ["fresh", "stale", "none", "corrected"].map(|key| status[key].as_u64().unwrap());
    assert_eq!(counts(&status()), [1, 0, 1, 0]);
    assert_eq!(
        needless(&status()),
        [("logo.png", "no_text"), ("short.py", "short_enough")]
    );
    let corrected = said(
        &program,
        &["correct", "sums.py", "--repo", repo, "--text", "Adds money."],
    );
    assert!(corrected.contains("now in your words"), "{corrected}");
    assert_eq!(counts(&status()), [1, 0, 1, 1]);
    fixture
        .write("sums.py", TEXT.replace("total", "whole"))
        .commit("second");
    assert_eq!(counts(&status()), [0, 1, 1, 1]);
    let shown = said(&program, &["show", "sums.py", "--repo", repo]);
    for part in ["Adds money.", "corrected by a person", "stale"] {
        assert!(shown.contains(part), "{part:?} is missing in {shown}");
    }
    let plain = said(&program, &["status", "--repo", repo]);
    for part in [
        "4 readable files",
        "     1  with a summary of an older version",
        "     1  without a summary",
        "     1  no summary needed: short enough to be read whole",
        "     1  no summary needed: not text",
    ] {
        assert!(plain.contains(part), "{part:?} is missing in {plain}");
    }
    fixture.write("sums.py", "else = 2\n").commit("third");
    assert_eq!(
        counts(&status()),
        [0, 0, 1, 0],
        "it is read instead of its words before"
    );
    assert!(said(&program, &["drop", "sums.py", "--repo", repo]).contains("1 summary of sums.py forgotten"));
    let again = program.run(["memory", "drop", "sums.py", "--repo", repo]);
    assert_eq!(again.code, Some(1));
    assert!(again.err.contains("there is no summary of sums.py"), "{}", again.err);
}

#[test]
fn memory_goes_from_one_data_folder_to_another_and_a_damaged_file_does_not() {
    let (here, fixture) = filled();
    let there = Program::new();
    let repo = fixture.root().to_str().unwrap();
    let file = here.beside("team.magis-memory");
    let file = file.to_str().unwrap();
    let written = said(&here, &["export", file, "--repo", repo]);
    assert!(
        written.contains("1 summary, 0 messages of changes and no code written"),
        "{written}"
    );
    let text = std::fs::read_to_string(file).unwrap();
    let again = here.run(["memory", "export", file, "--repo", repo]);
    assert_eq!(again.code, Some(1));
    assert!(
        again.err.contains("exists already, and nothing was written"),
        "{}",
        again.err
    );
    assert_eq!(std::fs::read_to_string(file).unwrap(), text);
    let damaged = here.file("damaged", text.replace("adds", "eats"));
    let refused = there.run(["memory", "import", &damaged, "--repo", repo]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.err.contains("damaged") && refused.err.contains("nothing was taken in"),
        "{}",
        refused.err
    );
    let taken = said(&there, &["import", file, "--repo", repo]);
    assert!(taken.contains("1 added, 0 replaced"), "{taken}");
    assert!(said(&there, &["show", "sums.py", "--repo", repo]).contains("This file adds numbers."));
}

#[test]
fn all_that_is_remembered_of_a_repository_is_erased_when_asked() {
    let (program, fixture) = filled();
    let repo = fixture.root().to_str().unwrap();
    let unasked = program.run(["memory", "erase", "--repo", repo]);
    assert_eq!(unasked.code, Some(2));
    assert!(unasked.err.contains("nobody is there to be asked"), "{unasked:?}");
    let erased = said(&program, &["erase", "--repo", repo, "--yes"]);
    assert!(erased.contains("1 summary of "), "{erased}");
    assert!(
        erased.contains("No byte of its texts is left in the data folder"),
        "{erased}"
    );
    let left = program.run(["memory", "show", "sums.py", "--repo", repo]);
    assert_eq!(left.code, Some(1));
    let database = std::fs::read(program.data().join("magis.sqlite3")).unwrap();
    assert!(!String::from_utf8_lossy(&database).contains("This file adds numbers."));
}
