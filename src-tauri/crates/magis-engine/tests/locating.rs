//! Locating outside of any run: what is found, in which order with a model, and that it can be broken off.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod environment;

use environment::TestEnvironment;
use magis_core::{Issue, SkipReason};
use magis_engine::{EngineError, LocateExtent, Location, Locator, Preparing};
use magis_llm::ScriptedModel;
use magis_repo::BaseChoice;
use magis_search::{Retention, Signals};
use magis_testkit::FixtureRepo;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

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

/// At the last commit of a repository.
fn locator(environment: &TestEnvironment, repository: &FixtureRepo) -> Locator {
    let mut watch = |_| ControlFlow::Continue(());
    let opened = environment
        .magis
        .locator(repository.root(), &BaseChoice::Head, Retention::Few, &mut watch);
    opened.unwrap()
}

fn locate(
    environment: &TestEnvironment,
    repository: &Path,
    issue: &Issue,
    watch: &mut dyn FnMut(Preparing) -> ControlFlow<()>,
) -> Result<Location, EngineError> {
    let locator = environment
        .magis
        .locator(repository, &BaseChoice::Head, Retention::Few, watch)?;
    locator.locate(issue, &[], EXTENT)
}

const TWIN: &str = "def rounding(value):\n    return value\n\n\ndef rounding_up(value):\n    return value\n";

/// Returns a model that, told of an issue, has each of these files so likely, and its functions, and all others at -9.
fn naming(likely: &'static [(&'static str, f64)]) -> ScriptedModel {
    ScriptedModel::new("names").score_with(move |request| {
        let asked = request.messages[1].content.contains("<issue>");
        let score = |text: &String| {
            let named = likely.iter().find(|(path, _)| asked && text.starts_with(path));
            named.map_or(-9.0, |(_, logprob)| *logprob)
        };
        Some(request.continuations.iter().map(score).collect())
    })
}

/// Returns two files that say the same, each with two functions that do.
fn twins() -> FixtureRepo {
    let repository = FixtureRepo::new();
    repository.write("a.py", TWIN).write("b.py", TWIN).commit("First");
    repository
}

/// Returns a third one, changed no later than they were.
fn triplets() -> FixtureRepo {
    let repository = FixtureRepo::new();
    let files = ["a.py", "b.py", "c.py"];
    files
        .iter()
        .fold(&repository, |repository, file| repository.write(file, TWIN))
        .commit("First");
    repository
}

#[test]
fn an_index_goes_from_tree_to_tree_and_back() {
    let (environment, repository) = (TestEnvironment::new(), twins());
    repository.remove("b.py").commit("Second");
    let issue = Issue::new("rounding is wrong").unwrap();
    let mut watch = |_| ControlFlow::Continue(());
    let mut locator = locator(&environment, &repository);
    assert_eq!(paths(&locator.locate(&issue, &[], EXTENT).unwrap()), ["a.py"]);
    let before = BaseChoice::Revision {
        name: "HEAD~1".to_owned(),
    };
    locator.go_to(&before, &mut watch).unwrap();
    assert_eq!(paths(&locator.locate(&issue, &[], EXTENT).unwrap()), ["a.py", "b.py"]);
    locator.go_to(&BaseChoice::Head, &mut watch).unwrap();
    assert_eq!(paths(&locator.locate(&issue, &[], EXTENT).unwrap()), ["a.py"]);
}

#[test]
fn what_is_no_text_is_left_out_and_said_every_time() {
    let (environment, repository) = (TestEnvironment::new(), twins());
    repository.write("rounding.bin", "rounding\0").commit("Second");
    let issue = Issue::new("rounding is wrong").unwrap();
    for _ in 0..2 {
        let locator = locator(&environment, &repository);
        let location = locator.locate(&issue, &[], EXTENT).unwrap();
        assert_eq!(paths(&location), ["a.py", "b.py"]);
        let skipped: Vec<&str> = location.skipped.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(
            (skipped, &location.skipped[0].reason),
            (vec!["rounding.bin"], &SkipReason::Binary)
        );
    }
}

#[tokio::test]
async fn what_the_model_names_comes_before_what_ranks_alike() {
    let (environment, repository) = (TestEnvironment::new(), twins());
    let issue = Issue::new("rounding is wrong").unwrap();
    let locator = locator(&environment, &repository);
    let mut location = locator.locate(&issue, &[], EXTENT).unwrap();
    assert_eq!(paths(&location), ["a.py", "b.py"]);
    let model = naming(&[("b.py", -1.0)]);
    let judgement = locator.judge(&issue, &mut location, 10, Arc::new(model)).await.unwrap();
    assert_eq!(paths(&location), ["b.py", "a.py"]);
    assert_eq!(location.symbols[0].path.as_str(), "b.py");
    let naming: Vec<Option<f64>> = judgement.files.iter().map(|file| file.naming).collect();
    assert_eq!(naming, [Some(8.0), Some(0.0)]);
    assert!(judgement.files[0].kept, "the best stays a candidate");
}

#[tokio::test]
async fn files_behind_those_that_were_asked_for_stay_where_they_are() {
    let (environment, repository) = (TestEnvironment::new(), triplets());
    let issue = Issue::new("rounding is wrong").unwrap();
    for (asked, order) in [(2, ["b.py", "a.py", "c.py"]), (3, ["c.py", "b.py", "a.py"])] {
        let locator = locator(&environment, &repository);
        let mut location = locator.locate(&issue, &[], EXTENT).unwrap();
        assert_eq!(paths(&location), ["a.py", "b.py", "c.py"]);
        let model = naming(&[("c.py", -1.0), ("b.py", -5.0)]);
        let judgement = locator
            .judge(&issue, &mut location, asked, Arc::new(model))
            .await
            .unwrap();
        assert_eq!(paths(&location), order, "{asked} asked");
        assert_eq!(judgement.files.len(), asked);
    }
}

#[tokio::test]
async fn each_name_is_asked_about_without_an_issue_once() {
    let (environment, repository) = (TestEnvironment::new(), twins());
    let issues = ["rounding is wrong", "rounding_up is wrong"].map(|text| Issue::new(text).unwrap());
    let unconditional: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&unconditional);
    let model = Arc::new(ScriptedModel::new("names").score_with(move |request| {
        let told = request.messages[1].content.contains("<issue>");
        if !told {
            noted.lock().unwrap().extend(request.continuations.clone());
        }
        let score = |name: &String| if told == name.starts_with("b.py") { -1.0 } else { -4.0 };
        Some(request.continuations.iter().map(score).collect())
    }));
    let names = [
        "a.py`",
        "b.py`",
        "a.py::rounding",
        "a.py::rounding_up",
        "b.py::rounding",
        "b.py::rounding_up",
    ];
    for issue in &issues {
        let locator = locator(&environment, &repository);
        let mut location = locator.locate(issue, &[], EXTENT).unwrap();
        let judgement = locator.judge(issue, &mut location, 10, model.clone()).await.unwrap();
        assert_eq!(paths(&location), ["b.py", "a.py"]);
        let naming: Vec<Option<f64>> = judgement.files.iter().map(|file| file.naming).collect();
        assert_eq!(
            naming,
            [Some(3.0), Some(-3.0)],
            "what is remembered counts as what is asked"
        );
        let mut asked = unconditional.lock().unwrap().clone();
        asked.sort_by_key(|name| names.iter().position(|known| known == name));
        assert_eq!(asked, names);
    }
    repository.write("c.py", TWIN).commit("Second");
    let locator = locator(&environment, &repository);
    let mut location = locator.locate(&issues[0], &[], EXTENT).unwrap();
    locator
        .judge(&issues[0], &mut location, 10, model.clone())
        .await
        .unwrap();
    let asked = unconditional.lock().unwrap()[names.len()..].to_vec();
    assert!(asked.iter().all(|name| name.starts_with("c.py")), "{asked:?}");
    assert_eq!(asked.len(), 3);
}

#[test]
fn it_goes_by_what_a_run_goes_by() {
    let environment = TestEnvironment::new();
    let issue = Issue::new("in_period leaves out the last day").unwrap();
    let mut watch = |_| ControlFlow::Continue(());
    let location = locate(&environment, &environment.repository(), &issue, &mut watch).unwrap();
    assert_eq!(
        (paths(&location)[0], names(&location)[0]),
        ("tally/filters.py", "in_period")
    );
    assert!(location.ranking.considered > 3);
}

#[test]
fn breaking_it_off_is_no_failure_and_the_next_time_goes_on() {
    let (environment, repository) = (TestEnvironment::new(), twins());
    let issue = Issue::new("rounding is wrong").unwrap();
    let mut stop = |_: Preparing| ControlFlow::Break(());
    let error = locate(&environment, repository.root(), &issue, &mut stop).expect_err("it was broken off");
    assert!(error.is_cancelled(), "{error}");
    let mut watch = |_| ControlFlow::Continue(());
    let location = locate(&environment, repository.root(), &issue, &mut watch).unwrap();
    assert_eq!(paths(&location), ["a.py", "b.py"]);
}

#[test]
fn each_part_of_the_reading_can_be_broken_off() {
    let at = |part: fn(&Preparing) -> bool| {
        let (environment, repository) = (TestEnvironment::new(), twins());
        repository
            .write("c.py", "def cut(value):\n    return 0\n")
            .commit("Second");
        let issue = Issue::new("rounding is wrong").unwrap();
        let mut after = 0;
        let mut watch = |step: Preparing| {
            if after > 0 || part(&step) {
                after += 1;
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let error = locate(&environment, repository.root(), &issue, &mut watch).expect_err("it was broken off");
        assert!(error.is_cancelled(), "{error}");
        assert_eq!(after, 1, "it is not asked for more after that");
    };
    at(|step| matches!(step, Preparing::Listing { .. }));
    at(|step| matches!(step, Preparing::Index { .. }));
    at(|step| matches!(step, Preparing::History { .. }));
}
