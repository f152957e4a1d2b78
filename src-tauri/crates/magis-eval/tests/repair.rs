//! A set that is run end to end with a real model, SmolLM2-135M-Instruct, whose file `MAGIS_TEST_MODEL` names. Whether it
//! repairs anything is not what is shown here.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use serde_json::Value;
use std::path::Path;
use support::{magis_eval, make_bugs, values};

fn repair(folder: &Path, how: &str) -> Vec<Value> {
    let model = std::env::var("MAGIS_TEST_MODEL")
        .expect("MAGIS_TEST_MODEL names no model file; run these tests with `cargo xtask test`, which fetches it");
    let fixed = "repair --set set.jsonl --work work --out rows.jsonl --context 4096";
    magis_eval(folder, &format!("{fixed} --model {model} {how}"));
    values(&std::fs::read_to_string(folder.join("rows.jsonl")).unwrap())
}

#[test]
fn a_bug_is_run_end_to_end_with_a_real_model_and_not_a_second_time() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    make_bugs(folder, 1);
    let rows = repair(folder, "--attempts 4 --places 1 --max-rounds 1 --no-qa");
    let [row] = rows.as_slice() else {
        unreachable!("{rows:?}")
    };
    assert_eq!(row["label"], "evidence, n=4 m=1, no QA", "{row}");
    assert_eq!((&row["left_out"], &row["checks"]), (&Value::Null, &1.into()), "{row}");
    assert_eq!(row["grade"], "expected_result", "{row}");
    assert!(row["stages"]["code"]["tokens"].as_u64().unwrap() > 0, "{row}");
    assert_eq!(repair(folder, "--attempts 4 --places 1 --max-rounds 1 --no-qa"), rows);
}

#[test]
fn a_real_model_that_answers_alone_is_judged_by_the_same_tests() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    make_bugs(folder, 1);
    let rows = repair(folder, "--one-shot");
    assert_eq!((rows.len(), &rows[0]["label"]), (1, &"one shot, told the file".into()));
    assert_eq!((&rows[0]["left_out"], &rows[0]["run"]), (&Value::Null, &Value::Null));
    assert_eq!((&rows[0]["attempts"], &rows[0]["resolved"]), (&1.into(), &false.into()));
    assert!(rows[0]["tokens"].as_u64().unwrap() > 0);
    assert_ne!(rows[0]["why"], "", "a model of this size gives no diff that applies");
}
