//! What is told of the commits before a snapshot.

use crate::{git, take};
use magis_core::PastCommit;
use magis_repo::BaseChoice;
use magis_testkit::FixtureRepo;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Subject and changed files, newest first.
fn told(commits: &[PastCommit]) -> Vec<String> {
    let line = |commit: &PastCommit| {
        let changed: Vec<&str> = commit.changed.iter().map(magis_core::RepoPath::as_str).collect();
        format!(
            "{}: {}",
            commit.message.lines().next().unwrap_or_default(),
            changed.join(" ")
        )
    };
    commits.iter().map(line).collect()
}

fn all(_: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn each_commit_tells_its_message_and_files_newest_first() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "1\n").write("b/c", "1\n").commit("one");
    fixture.write("a", "2\n").commit("two\n\nbecause");
    fixture.remove("b/c").commit("three");
    let walked = take(&fixture, &BaseChoice::Head).past(10, |_| false, all).unwrap();
    assert_eq!(told(&walked.new), ["three: b/c", "two: a", "one: a b/c"]);
    assert!(walked.complete && walked.commits.len() == 3);
    assert!(walked.new[1].message.contains("because"));
}

#[test]
fn what_is_known_is_not_read_again_and_the_walk_is_bounded() {
    let fixture = FixtureRepo::new();
    for number in 0..4 {
        fixture.write("a", format!("{number}\n")).commit(&format!("c{number}"));
    }
    let snapshot = take(&fixture, &BaseChoice::Head);
    let known: BTreeSet<_> = snapshot.past(2, |_| false, all).unwrap().commits.into_iter().collect();
    assert_eq!(known.len(), 2);
    let walked = snapshot.past(3, |id| known.contains(id), all).unwrap();
    assert_eq!((walked.commits.len(), told(&walked.new)), (3, vec!["c1: a".to_owned()]));
    let broken = snapshot.past(4, |_| false, |_| ControlFlow::Break(())).unwrap();
    assert!(!broken.complete && broken.new.len() == 1);
}

#[test]
fn only_what_lies_before_the_base_is_told_and_merges_are_not() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "1\n").commit("one");
    git(fixture.root(), &["checkout", "-q", "-b", "side"]);
    fixture.write("b", "1\n").commit("side");
    git(fixture.root(), &["checkout", "-q", "-"]);
    fixture.write("c", "1\n").commit("main");
    let before = take(&fixture, &BaseChoice::Head).past(10, |_| false, all).unwrap();
    let names = |commits: &[PastCommit]| told(commits).into_iter().collect::<BTreeSet<_>>();
    assert_eq!(names(&before.new), ["main: c", "one: a"].map(str::to_owned).into());
    git(
        fixture.root(),
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "merge",
            "-q",
            "--no-ff",
            "-m",
            "merged",
            "side",
        ],
    );
    let after = take(&fixture, &BaseChoice::Head).past(10, |_| false, all).unwrap();
    assert_eq!(
        names(&after.new),
        ["main: c", "one: a", "side: b"].map(str::to_owned).into()
    );
}
