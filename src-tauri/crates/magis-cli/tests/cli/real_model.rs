//! The whole program with a real model, SmolLM2-135M-Instruct, whose file `MAGIS_TEST_MODEL` names. Its answers are of no
//! use; that a run comes to an honest end with them is what is shown here.

use crate::support::Program;
use magis_testkit::{FixtureRepo, fingerprint};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn model() -> String {
    std::env::var("MAGIS_TEST_MODEL")
        .expect("MAGIS_TEST_MODEL names no model file; run these tests with `cargo xtask test`, which fetches it")
}

fn repository() -> FixtureRepo {
    let repository = FixtureRepo::new();
    repository.write(
        "days.py",
        "def count(first, last):\n    \"\"\"Days from first to last, both included.\"\"\"\n    return last - first\n",
    );
    repository.write("words.py", "def greet(name):\n    return 'Hello ' + name\n");
    repository.commit("Count days");
    repository
}

fn solve(program: &Program, repository: &FixtureRepo) -> Command {
    let issue = program.file(
        "issue.md",
        "count() leaves out the last day\n\n`count(3, 5)` in days.py gives 2 and should give 3.\n",
    );
    let (root, model) = (repository.root().to_str().unwrap().to_owned(), model());
    let fixed = [
        "--threads",
        "1",
        "--context",
        "4096",
        "--top-k",
        "2",
        "--max-rounds",
        "1",
        "--json",
    ];
    let named = ["solve", "--repo", &root, "--issue", &issue, "--model", &model];
    program.command(named.iter().chain(&fixed))
}

/// Approved, not approved, no change: each is an honest end.
fn is_an_end(code: Option<i32>) -> bool {
    matches!(code, Some(0 | 3 | 4))
}

/// On Linux, where there is no network at all.
#[test]
fn smollm2_brings_a_run_to_its_end_and_the_repository_stays_untouched() {
    let (program, repository) = (Program::new(), repository());
    let before = fingerprint(repository.root());
    let plain = solve(&program, &repository);
    #[cfg(target_os = "linux")]
    let mut command = Program::without_network(&plain);
    #[cfg(not(target_os = "linux"))]
    let mut command = plain;
    let output = command.output().unwrap();
    assert!(is_an_end(output.status.code()), "{output:?}");
    let log: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let numbers: Vec<u64> = log.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=log.len() as u64).collect::<Vec<_>>());
    assert_eq!(log.last().unwrap()["event"]["event"], "run_ended");
    assert_eq!(fingerprint(repository.root()), before);
    let shown = program.run(["runs", "show", "1"]);
    assert_eq!(shown.code, Some(0));
    assert!(shown.out.contains("count() leaves out the last day"), "{}", shown.out);
    assert!(
        !abilities(&program).is_null(),
        "the first use of a model shows what it can do"
    );
}

#[test]
fn a_model_above_the_memory_limit_is_refused_before_a_run_is_made() {
    let (program, repository) = (Program::new(), repository());
    let output = solve(&program, &repository)
        .args(["--memory", "100MB"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("and 100 MB may be taken") && said.contains("--memory"),
        "{said}"
    );
    assert_eq!(program.run(["runs", "list", "--json"]).out.trim(), "[]");
}

#[test]
fn smollm2_stopped_by_ctrl_c_is_resumed_to_its_end() {
    let (program, repository) = (Program::new(), repository());
    let mut run = solve(&program, &repository)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(
        lines.any(|line| line.contains("relevance_judged")),
        "the run ended before it judged its files"
    );
    let interrupted = Command::new("kill")
        .args(["-INT", &run.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupted.success());
    lines.for_each(drop);
    let stopped = run.wait_with_output().unwrap();
    assert_eq!(stopped.status.code(), Some(130), "{stopped:?}");
    let said = String::from_utf8_lossy(&stopped.stderr).into_owned();
    assert!(said.contains("magis runs resume 1"), "{said}");
    let resumed = program.run(["runs", "resume", "1", "--threads", "1", "--context", "4096"]);
    assert!(is_an_end(resumed.code), "{resumed:?}");
}

/// Returns what the list of models says that the model can do.
fn abilities(program: &Program) -> Value {
    let added = program.run(["models", "add", &model()]);
    assert_eq!(added.code, Some(0), "{added:?}");
    let listed = program.run(["models", "list", "--json"]);
    let models: Vec<Value> = serde_json::from_str(&listed.out).unwrap();
    let installed = models.into_iter().find(|model| model["installed"] == true);
    installed.unwrap()["abilities"].clone()
}

#[test]
fn what_a_model_can_do_is_tried_and_kept_with_it() {
    let program = Program::new();
    assert!(abilities(&program).is_null(), "it was never tried");
    let tried = program.run([
        "models",
        "try",
        &model(),
        "--threads",
        "1",
        "--context",
        "4096",
        "--json",
    ]);
    assert_eq!(tried.code, Some(0), "{tried:?}");
    let tried: Value = serde_json::from_str(&tried.out).unwrap();
    for kind in ["form", "naming", "tools"] {
        assert!(tried[kind]["asked"].as_u64() > Some(0), "{kind}: {tried}");
    }
    assert!(tried["reading"].as_f64() > tried["writing"].as_f64(), "{tried}");
    assert_eq!(abilities(&program), tried);
}
