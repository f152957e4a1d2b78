//! Bugs of a set that cannot be run, with a model of half a megabyte, whose answers are noise. Needs `git` and `python3`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use magis_testkit::{FixtureRepo, TinyModel};
use serde_json::{Value, json};
use std::path::Path;
use support::{ENVIRONMENT, magis_eval, program, values, write};

/// How a judge answers that finds nothing right.
const ANSWER: &str = "\
if __name__ == '__main__':
    name = sys.argv[sys.argv.index('--only') + 1]
    print(json.dumps({'instance_id': name, 'applied': False, 'resolved': False, 'why': 'it is noise'}))
";

const CODE: &str = "def total(numbers):\n    return sum(numbers[:-1])\n";

/// Writes a set of three bugs: one whose issue is longer than the model's context, one of a few words, one of none.
fn write_set(folder: &Path, fixture: &FixtureRepo) {
    let base = fixture.write("calc.py", CODE).commit("Add numbers up");
    std::fs::create_dir(folder.join("repos")).unwrap();
    std::os::unix::fs::symlink(fixture.root(), folder.join("repos/owner+calc")).unwrap();
    let row = |id: &str, issue: &str| {
        json!({ "instance_id": id, "repo": "owner/calc", "base_commit": base, "problem_statement": issue, "gold": { "calc.py": [[2, 2]] } }).to_string()
    };
    let set = [
        row("long", &"The total is wrong. ".repeat(400)),
        row("short", "The total is wrong."),
        row("empty", " "),
    ];
    let judge = format!("{ENVIRONMENT}\n{ANSWER}");
    write(folder, &[("run.py", &judge), ("set.jsonl", &set.join("\n"))]);
    std::fs::write(folder.join("tiny.gguf"), TinyModel::Qwen2.gguf().bytes()).unwrap();
}

const REPAIR: &str = "repair --set set.jsonl --repos repos --work work --out rows.jsonl --model tiny.gguf --threads 1";

fn repair(folder: &Path, how: &str) -> Vec<Value> {
    magis_eval(folder, &format!("{REPAIR} {how}"));
    values(&std::fs::read_to_string(folder.join("rows.jsonl")).unwrap())
}

#[test]
fn a_bug_that_the_model_cannot_be_asked_about_is_left_out_and_the_next_one_is_measured() {
    let (fixture, folder) = (FixtureRepo::new(), tempfile::tempdir().unwrap());
    write_set(folder.path(), &fixture);
    let rows = repair(folder.path(), "--one-shot --only long --only short");
    let [long, short] = rows.as_slice() else {
        unreachable!("{rows:?}")
    };
    let why = long["left_out"].as_str().unwrap();
    assert!(why.starts_with("its run fails: the prompt has "), "{why}");
    assert_eq!(
        (&short["left_out"], &short["attempts"]),
        (&Value::Null, &json!(1)),
        "{short}"
    );
}

#[test]
fn a_bug_whose_run_cannot_begin_is_left_out_and_tried_again_only_in_the_same_way() {
    let (fixture, folder) = (FixtureRepo::new(), tempfile::tempdir().unwrap());
    write_set(folder.path(), &fixture);
    let how = "--no-tests --attempts 1 --places 1 --only empty";
    let rows = repair(folder.path(), how);
    assert_eq!((rows.len(), &rows[0]["label"]), (1, &json!("plain loop")), "{rows:?}");
    assert_eq!((&rows[0]["seed"], &rows[0]["max_rounds"]), (&json!(1), &json!(3)));
    assert!(rows[0]["model"].as_str().unwrap().starts_with("tiny"), "{rows:?}");
    let why = rows[0]["left_out"].as_str().unwrap();
    assert!(why.starts_with("its run fails: "), "{why}");
    assert_eq!(repair(folder.path(), how).len(), 2);

    let line = format!("{REPAIR} {how} --seed 2");
    let output = program(folder.path()).args(line.split(' ')).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{said}");
    let refused =
        "going on with rows.jsonl: empty is there with --seed 1, and would be made with 2 now; write to another file";
    assert!(said.contains(refused), "{said}");
}
