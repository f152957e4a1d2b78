//! Deleting runs and repositories: what is said to be gone is in no byte of the data folder.

use crate::past_run::record;
use crate::support::Program;
use magis_testkit::{FixtureRepo, mark, traces};
use std::collections::BTreeSet;

const BEFORE: &str = "def until(day, items):\n    return [item for item in items if item.day < day]\n\n";

/// Returns a repository with a mark in a file, a run whose patch was applied there, and one with a mark in what a
/// person said.
fn scene() -> (Program, FixtureRepo, String, String) {
    let (program, repository) = (Program::new(), FixtureRepo::new());
    let (code, said) = (mark(), mark());
    repository
        .write("tally/filters.py", format!("{BEFORE}# {code}\n"))
        .commit("First");
    record(&program.data(), repository.root(), usize::MAX);
    record(&program.data(), repository.root(), 9);
    let issue = program.file("issue.md", "until leaves out that day\n\nThe day itself is missing.\n");
    let root = repository.root().to_str().unwrap();
    for arguments in [
        ["apply", "1", "--worktree"].as_slice(),
        &["locate", "--repo", root, "--issue", &issue],
        &["steer", "2", "task", "T1", &said],
        &["steer", "2", "role", "1", "--focus", &said],
        &["steer", "2", "hint", &said],
        &["steer", "2", "say", &said],
        &["runs", "search", &said],
    ] {
        let answer = program.run(arguments);
        assert_eq!(answer.code, Some(0), "{arguments:?}: {answer:?}");
    }
    (program, repository, code, said)
}

/// Returns the places below the data folder, and the first part of each path alone.
fn places(program: &Program, mark: &str) -> BTreeSet<String> {
    let found = traces(&program.data(), &[mark]);
    let first = |place: String| place.split('/').next().unwrap_or_default().to_owned();
    found.into_iter().map(|(_, place)| first(place)).collect()
}

#[test]
fn of_deleted_runs_only_the_index_of_their_repository_is_left() {
    let (program, _repository, code, said) = scene();
    assert!(!places(&program, &code).is_empty() && !places(&program, &said).is_empty());
    for run in ["1", "2"] {
        let deleted = program.run(["runs", "delete", run, "--yes"]);
        assert_eq!((deleted.code, deleted.err.as_str()), (Some(0), ""), "{deleted:?}");
        assert!(deleted.out.contains("No byte of its texts is left"), "{deleted:?}");
    }
    let left = &places(&program, &said) | &places(&program, &code);
    assert!(left.iter().all(|place| place == "index"), "{left:?}");
}

#[test]
fn of_a_repository_that_is_erased_nothing_is_left_and_its_runs_stay() {
    let (program, repository, code, said) = scene();
    let erase = ["memory", "erase", "--repo", repository.root().to_str().unwrap()];
    let unasked = program.run(erase);
    assert_eq!(unasked.code, Some(2));
    assert!(unasked.err.contains("what to do: give --yes"), "{unasked:?}");

    let erased = program.run([&erase[..], &["--yes"]].concat());

    assert_eq!((erased.code, erased.err.as_str()), (Some(0), ""), "{erased:?}");
    assert!(erased.out.contains("Its 2 runs stay"), "{erased:?}");
    assert!(!places(&program, &code).contains("index"));
    assert_eq!(program.run(["runs", "show", "1"]).code, Some(0));
    for run in ["1", "2"] {
        assert_eq!(program.run(["runs", "delete", run, "--yes"]).code, Some(0));
    }
    let left = &places(&program, &said) | &places(&program, &code);
    assert!(left.is_empty(), "{left:?}");
    let again = program.run([&erase[..], &["--yes"]].concat());
    assert_eq!(again.code, Some(1), "it is not known any more: {again:?}");
}
