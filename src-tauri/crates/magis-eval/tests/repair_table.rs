//! What `magis-eval repair-table` prints of rows written by hand.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A row of `magis-eval repair` as it was before it held a grade.
fn repaired(id: &str, resolved: bool) -> Value {
    json!({
        "id": id,
        "commit": "c0ffee",
        "label": "by hand",
        "run": 1,
        "applied": true,
        "resolved": resolved,
        "present": resolved,
        "attempts": 1,
        "place": 1,
        "proof": { "kind": "not_run" },
        "checks": 1,
        "files": 1,
        "needless_files": 0,
        "seconds": 60.0,
        "tokens": 900,
        "stages": {},
        "why": "",
    })
}

fn with(mut row: Value, key: &str, value: &str) -> Value {
    row[key] = value.into();
    row
}

/// Writes rows into a file of a folder.
fn written(folder: &Path, name: &str, rows: &[Value]) -> PathBuf {
    let file = folder.join(name);
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    std::fs::write(&file, lines.join("\n")).expect("the rows");
    file
}

/// Returns what `magis-eval repair-table` prints.
fn repair_table(options: &[&str], files: &[PathBuf]) -> String {
    let mut table = Command::new(env!("CARGO_BIN_EXE_magis-eval"));
    let output = table.arg("repair-table").args(options).args(files).output();
    let output = output.expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).expect("a text")
}

/// Returns the line of a table that begins so, its cells a space apart.
fn line(table: &str, begin: &str) -> String {
    let line = table.lines().find(|line| line.starts_with(begin)).unwrap_or_default();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn bugs_are_counted_by_the_grade_of_their_best_check_where_their_row_has_one() {
    let rows = [
        with(repaired("bug-1", true), "grade", "expected_result"),
        with(repaired("bug-2", false), "grade", "expected_result"),
        with(repaired("bug-3", false), "grade", "something_changed"),
        repaired("bug-4", true),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let table = repair_table(&[], &[written(folder.path(), "rows.jsonl", &rows)]);
    let by = |grade: &str| line(&table, &format!("checked by: {grade}"));
    let expected = "checked by: the expected result is there 2/3 [21, 94] %";
    assert_eq!(by("the expected result is there"), expected, "{table}");
    assert!(by("the exception is gone").contains(" 0/3 "), "{table}");
    assert!(by("the wrong output is gone").contains(" 0/3 "), "{table}");
    assert!(by("the output is another one").contains(" 1/3 "), "{table}");
    assert!(line(&table, "resolved ").contains(" 2/4 "), "{table}");
}

#[test]
fn bugs_that_were_left_out_are_named_and_count_nowhere_until_they_are_measured() {
    let left_out = |id: &str, why: &str| with(repaired(id, false), "left_out", why);
    let first = [
        repaired("bug-1", true),
        left_out("bug-2", "its judge fails"),
        left_out("bug-3", "its judge fails"),
        // The command was repeated.
        repaired("bug-2", true),
        left_out("bug-3", "its environment cannot be made"),
    ];
    let other = [
        repaired("bug-1", false),
        repaired("bug-2", true),
        repaired("bug-3", true),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        written(folder.path(), "first.jsonl", &first),
        written(folder.path(), "other.jsonl", &other),
    ];
    let table = repair_table(&[], &files);
    assert_eq!(line(&table, "left out"), "left out 1 (bug-3) 0", "{table}");
    assert!(line(&table, "applied").contains(" 2/2 "), "{table}");
    assert!(line(&table, "resolved ").contains(" 2/2 "), "{table}");
    assert!(line(&table, "right place among 1").contains(" 2/2 "), "{table}");
    let read: Value = serde_json::from_str(&repair_table(&["--json"], &files)).expect("JSON");
    let way = &read["ways"][0];
    assert_eq!(
        (&way["bugs"], &way["left_out"]),
        (&json!(2), &json!({ "bug-3": "its environment cannot be made" }))
    );
    assert_eq!(read["first_against"][0]["bugs"], 2);
}

#[test]
fn what_was_not_chosen_needless_files_and_the_cost_of_stages_are_counted() {
    let cost = |seconds: u32, tokens: u32| json!({ "seconds": seconds, "tokens": tokens });
    let mut rows: Vec<Value> = [("bug-1", true), ("bug-2", false), ("bug-3", false), ("bug-4", true)]
        .map(|(id, resolved)| repaired(id, resolved))
        .into();
    (rows[0]["files"], rows[0]["needless_files"]) = (json!(2), json!(1));
    rows[0]["stages"] = json!({ "evidence": cost(2, 0), "code": cost(40, 1000) });
    rows[1]["present"] = json!(true);
    rows[1]["proof"] = json!({ "kind": "shown_to_work", "grade": "expected_result" });
    // The files of what is not resolved count nowhere.
    (rows[1]["files"], rows[1]["needless_files"]) = (json!(3), json!(2));
    rows[1]["stages"] = json!({ "evidence": cost(4, 10), "code": cost(60, 500) });
    rows[3]["stages"] = json!({ "code": cost(20, 300) });

    let folder = tempfile::tempdir().expect("a folder");
    let files = [written(folder.path(), "rows.jsonl", &rows)];
    let table = repair_table(&[], &files);
    for (measure, counted) in [
        ("resolved ", " 2/4 "),
        ("right attempt present", " 3/4 "),
        ("present, not chosen", " 1/3 "),
        ("shown to work", " 1/4 "),
        ("wrong, called shown to work", " 1/4 "),
        ("needless files in resolved patches", " 1/3 "),
    ] {
        assert!(line(&table, measure).contains(counted), "{measure}: {table}");
    }
    let of_stage = |stage: &str| line(&table, &format!("{stage}: "));
    assert_eq!(
        of_stage("evidence"),
        "evidence: seconds, tokens, mean 1.50 s, 2.50",
        "{table}"
    );
    assert_eq!(of_stage("code"), "code: seconds, tokens, mean 30 s, 450", "{table}");

    let read: Value = serde_json::from_str(&repair_table(&["--json"], &files)).expect("JSON");
    let way = &read["ways"][0];
    assert_eq!(
        (&way["right_attempt_present"], &way["present_not_chosen"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(
        (&way["files_of_resolved"], &way["needless_files_of_resolved"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(way["stages"]["code"], json!({ "seconds": 30.0, "tokens": 450.0 }));
    assert_eq!(way["stages"]["evidence"], json!({ "seconds": 1.5, "tokens": 2.5 }));
}

#[test]
fn rows_recorded_before_there_were_grades_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sets/measured");
    let all = std::fs::read_dir(folder).expect("the recorded rows");
    let files: Vec<PathBuf> = all.map(|entry| entry.expect("a file").path()).collect();
    let table = repair_table(&[], &files);
    assert!(!files.is_empty() && line(&table, "resolved ").contains('/'), "{table}");
    let rows = [repaired("bug-1", true)];
    let folder = tempfile::tempdir().expect("a folder");
    let table = repair_table(&[], &[written(folder.path(), "rows.jsonl", &rows)]);
    let by = line(&table, "checked by: the expected result is there");
    assert!(by.contains(" 0/0 "), "{table}");
    assert!(line(&table, "resolved ").contains(" 1/1 "), "{table}");
}
