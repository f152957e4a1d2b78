//! A small history replayed: what is read with memory, anew and whole.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by failing")]

use magis_eval::replay::{History, Meter, Replayed, Start, TYPICAL_MESSAGE, TYPICAL_SUMMARY, replay};
use magis_testkit::{FixtureRepo, fingerprint};
use std::sync::Arc;

/// Returns a Python file of so many functions, each of eight lines, the first of which give `results`.
fn functions(count: usize, results: &[&str]) -> String {
    let function = |at: usize| {
        let result = results.get(at).copied().unwrap_or("total");
        format!(
            "def count_{at}(entries, wanted):\n    \"\"\"Count what is wanted, in cents of the day.\"\"\"\n    total = 0\n    \
             for entry in entries:\n        if entry.name == wanted:\n            total += entry.cents\n    return {result}\n\n"
        )
    };
    (0..count).map(function).collect()
}

async fn replayed(fixture: &FixtureRepo, from: &str, start: Start) -> Replayed {
    let scratch = tempfile::tempdir().unwrap();
    let history = History::after(fixture.root(), from, 100).unwrap();
    replay(&history, &Arc::new(Meter::approximate()), start, scratch.path())
        .await
        .unwrap()
}

/// Returns what a change costs with memory that begins with the file as it was.
async fn check(before: &str, after: &str) -> Replayed {
    let fixture = FixtureRepo::new();
    let from = fixture.write("count.py", before).commit("before");
    fixture.write("count.py", after).commit("after");
    let print = fingerprint(fixture.root());
    let done = replayed(&fixture, &from, Start::Warm).await;
    assert_eq!(fingerprint(fixture.root()), print, "the repository is only read");
    assert_eq!((done.commits, done.first.spent.p2), (1, 1));
    done
}

#[tokio::test]
async fn a_change_of_a_line_tells_itself_and_a_larger_one_costs_p1() {
    let before = functions(10, &[]);
    let tiny = check(&before, &functions(10, &["total + 1"])).await;
    assert_eq!(
        (tiny.memory.spent.p1, tiny.memory.spent.p2, tiny.memory.spent.read),
        (0, 0, 0)
    );
    assert_eq!(tiny.memory.descriptions.updated, 1);

    let larger = check(&before, &functions(10, &["total * entries"; 8])).await;
    assert_eq!((larger.memory.spent.p1, larger.memory.spent.p2), (1, 0));
    assert_eq!(larger.memory.spent.written, u64::from(TYPICAL_MESSAGE));
    assert!(larger.memory.spent.read < larger.anew.spent.read, "{larger:?}");
}

#[tokio::test]
async fn another_text_costs_p2_as_it_does_anew() {
    let done = check(&functions(10, &[]), &functions(10, &[]).to_uppercase()).await;
    assert_eq!((done.memory.spent.p1, done.memory.spent.p2), (0, 1));
    assert_eq!(done.memory.spent.written, u64::from(TYPICAL_SUMMARY));
    assert_eq!(
        done.memory.spent.read + done.memory.spent.reused,
        done.anew.spent.read + done.anew.spent.reused
    );
}

#[tokio::test]
async fn a_moved_file_keeps_its_summary_and_a_short_one_needs_none() {
    let fixture = FixtureRepo::new();
    let text = functions(10, &[]);
    let from = fixture.write("count.py", &text).commit("before");
    fixture.remove("count.py").write("sums/count.py", &text).commit("moved");
    fixture.write("VERSION", "1.2\n").commit("short");
    fixture
        .remove("sums/count.py")
        .write("sums/all.py", functions(10, &["total + 1"]))
        .commit("moved and changed");
    let done = replayed(&fixture, &from, Start::Warm).await;
    assert_eq!((done.memory.spent.p1, done.memory.spent.p2), (0, 0), "{done:?}");
    let how = done.memory.descriptions;
    assert_eq!((how.versions, how.stored, how.itself, how.updated), (3, 1, 1, 1));
    assert_eq!(done.anew.spent.p2, 2);
}

#[tokio::test]
async fn a_chain_does_not_grow_without_end_and_a_cold_memory_begins_with_p2() {
    let fixture = FixtureRepo::new();
    let from = fixture.write("README", "counts\n").commit("begin");
    let results: Vec<String> = (0..40).map(|number| format!("total * {number}")).collect();
    for upto in 0..results.len() {
        let given: Vec<&str> = results[..upto].iter().map(String::as_str).collect();
        fixture.write("count.py", functions(40, &given)).commit("step");
    }
    let done = replayed(&fixture, &from, Start::Cold).await;
    let how = done.memory.descriptions;
    assert_eq!(how.versions, 40);
    assert!(how.updated > 30, "{done:?}");
    let asked = done.memory.spent.p1 + done.memory.spent.p2;
    assert!(asked > 1, "what adds up is told by the model at last: {done:?}");
    assert!(done.ratio().unwrap() > 3.0, "{done:?}");
}

#[test]
fn a_history_says_what_is_missing() {
    let fixture = FixtureRepo::new();
    let head = fixture.write("a", "a\n").commit("only");
    let error = |from: &str| History::after(fixture.root(), from, 1).unwrap_err().to_string();
    assert!(error("nothing").contains("nothing is no commit of"));
    assert!(error(&head).contains("no commit follows"));
}
