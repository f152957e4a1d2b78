//! Locating outside of any run: what is found, in which order with a model, and that it can be broken off.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod ground;

use ground::{Ground, script};
use magis_core::Issue;
use magis_engine::floors::llm::ScriptedModel;
use magis_engine::floors::repo::BaseChoice;
use magis_engine::floors::search::Signals;
use magis_engine::{LocateExtent, Location, Preparing};
use magis_testkit::FixtureRepo;
use std::ops::ControlFlow;

const EXTENT: LocateExtent = LocateExtent {
    files: 10,
    symbols: 10,
    signals: Signals::ALL,
};

fn paths(location: &Location) -> Vec<&str> {
    let candidates = location.ranking.candidates.iter();
    candidates.map(|candidate| candidate.path.as_str()).collect()
}

fn names(location: &Location) -> Vec<&str> {
    let symbols = location.symbols.iter();
    symbols.map(|symbol| symbol.qualified_name.as_str()).collect()
}

/// Two files that say the same, each with two functions that do.
fn twins() -> FixtureRepo {
    let repository = FixtureRepo::new();
    let text = "def rounding(value):\n    return value\n\n\ndef rounding_up(value):\n    return value\n";
    repository.write("a.py", text).write("b.py", text).commit("First");
    repository
}

#[test]
fn an_index_goes_from_tree_to_tree_and_back() {
    let (ground, repository) = (Ground::new(), twins());
    repository.remove("b.py").commit("Second");
    let issue = Issue::new("rounding is wrong").unwrap();
    let mut watch = |_| ControlFlow::Continue(());
    let mut locator = ground
        .magis
        .locator(repository.root(), &BaseChoice::Head, &mut watch)
        .unwrap();
    assert_eq!(paths(&locator.locate(&issue, &[], EXTENT).unwrap()), ["a.py"]);
    let before = BaseChoice::Revision {
        name: "HEAD~1".to_owned(),
    };
    locator.go_to(&before, &mut watch).unwrap();
    assert_eq!(paths(&locator.locate(&issue, &[], EXTENT).unwrap()), ["a.py", "b.py"]);
    locator.go_to(&BaseChoice::Head, &mut watch).unwrap();
    assert_eq!(paths(&locator.locate(&issue, &[], EXTENT).unwrap()), ["a.py"]);
}

#[tokio::test]
async fn what_the_model_names_comes_before_what_ranks_alike() {
    let (ground, repository) = (Ground::new(), twins());
    let issue = Issue::new("rounding is wrong").unwrap();
    let mut watch = |_| ControlFlow::Continue(());
    let locator = ground
        .magis
        .locator(repository.root(), &BaseChoice::Head, &mut watch)
        .unwrap();
    let mut location = locator.locate(&issue, &[], EXTENT).unwrap();
    assert_eq!(paths(&location), ["a.py", "b.py"]);
    let model = ScriptedModel::new("names b").score_with(|request| {
        let asked = request.messages[1].content.contains("<issue>");
        let score = |text: &String| if asked && text.starts_with("b.py") { -1.0 } else { -9.0 };
        Some(request.continuations.iter().map(score).collect())
    });
    let judgement = locator.judge(&issue, &mut location, 10, &model).await.unwrap();
    assert_eq!(paths(&location), ["b.py", "a.py"]);
    assert_eq!(location.symbols[0].path.as_str(), "b.py");
    let naming: Vec<Option<f64>> = judgement.files.iter().map(|file| file.naming).collect();
    assert_eq!(naming, [Some(8.0), Some(0.0)]);
    assert!(judgement.files[0].kept, "the best stays a candidate");
}

#[tokio::test]
async fn files_behind_those_that_were_asked_for_stay_where_they_are() {
    let (ground, repository) = (Ground::new(), twins());
    repository.write("c.py", "rounding = 1\n").commit("Second");
    let issue = Issue::new("rounding is wrong").unwrap();
    let mut watch = |_| ControlFlow::Continue(());
    let locator = ground
        .magis
        .locator(repository.root(), &BaseChoice::Head, &mut watch)
        .unwrap();
    let mut location = locator.locate(&issue, &[], EXTENT).unwrap();
    let last = paths(&location)[2].to_owned();
    let judgement = locator.judge(&issue, &mut location, 2, &script()).await.unwrap();
    assert_eq!((judgement.files.len(), paths(&location)[2]), (2, last.as_str()));
}

#[test]
fn it_goes_by_what_a_run_goes_by() {
    let ground = Ground::new();
    let issue = Issue::new("in_period leaves out the last day").unwrap();
    let mut watch = |_| ControlFlow::Continue(());
    let location = ground
        .magis
        .locate(&ground.repository(), &BaseChoice::Head, &issue, EXTENT, &mut watch)
        .unwrap();
    assert_eq!(
        (paths(&location)[0], names(&location)[0]),
        ("tally/filters.py", "in_period")
    );
    assert!(location.ranking.considered > 3);
}

#[test]
fn breaking_it_off_is_no_failure_and_the_next_time_goes_on() {
    let (ground, repository) = (Ground::new(), twins());
    let issue = Issue::new("rounding is wrong").unwrap();
    let mut stop = |_: Preparing| ControlFlow::Break(());
    let error = ground
        .magis
        .locate(repository.root(), &BaseChoice::Head, &issue, EXTENT, &mut stop)
        .expect_err("it was broken off");
    assert!(error.is_cancelled(), "{error}");
    let mut watch = |_| ControlFlow::Continue(());
    let location = ground
        .magis
        .locate(repository.root(), &BaseChoice::Head, &issue, EXTENT, &mut watch)
        .unwrap();
    assert_eq!(paths(&location), ["a.py", "b.py"]);
}
