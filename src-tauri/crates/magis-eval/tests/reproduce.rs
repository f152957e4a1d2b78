//! Checks out of issues of a set in SWE-bench's form, whose judge makes the environments. Needs `git` and `python3`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use magis_testkit::FixtureRepo;
use serde_json::{Value, json};
use support::{ENVIRONMENT, magis_eval, write};

const CODE: &str =
    "def total(numbers):\n    result = 0\n    for number in numbers:\n        result = number\n    return result\n";

const ISSUE: &str = "\
total() forgets all numbers but the last

```python
>>> from calc import total
>>> total([1, 2, 3])
```

Expected: `6`
";

fn patch(line: &str) -> String {
    format!(
        "diff --git a/calc.py b/calc.py\n--- a/calc.py\n+++ b/calc.py\n@@ -1,5 +1,5 @@\n def total(numbers):\n     result = 0\n     \
         for number in numbers:\n-        result = number\n+        result {line}\n     return result\n"
    )
}

#[test]
fn a_check_decides_an_issue_where_it_fails_on_the_base_and_passes_with_the_reference() {
    let fixture = FixtureRepo::new();
    let base = fixture.write("calc.py", CODE).commit("Add numbers up");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("repos")).unwrap();
    std::os::unix::fs::symlink(fixture.root(), folder.join("repos/owner+calc")).unwrap();
    let row = |id: &str, issue: &str, line: &str| {
        json!({ "instance_id": id, "repo": "owner/calc", "base_commit": base, "patch": patch(line), "problem_statement": issue }).to_string()
    };
    let set = [
        row("right", ISSUE, "+= number"),
        row("wrong", ISSUE, "-= number"),
        row("words", "The total is wrong.", "+= number"),
    ];
    write(folder, &[("run.py", ENVIRONMENT), ("set.jsonl", &set.join("\n"))]);

    let output = magis_eval(
        folder,
        "reproduce --instances set.jsonl --repos repos --work work --json",
    );
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |field: &str| -> Vec<Value> {
        let issues = told["issues"].as_array().unwrap();
        issues.iter().map(|issue| issue[field].clone()).collect()
    };
    assert_eq!(of("id"), ["right", "wrong", "words"]);
    assert_eq!(
        of("grade"),
        [json!("expected_result"), json!("expected_result"), Value::Null]
    );
    assert_eq!(
        of("decided"),
        [json!("expected_result"), Value::Null, Value::Null],
        "{told}"
    );
    assert_eq!(of("reference")[2], Value::Null);
}
