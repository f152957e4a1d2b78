//! Bad input, row by row of the design's table: what is said, and that nothing is lost.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod environment;

use environment::{TestEnvironment, open, script, script_after, wish};
use magis_core::{RunEvent, RunOutcome, Speaker, Speech, TaskOutcome, Turn};
use magis_engine::{DriveEnd, EngineError, SolveRequest};
use magis_llm::{LanguageModel, ScriptedModel, ScriptedReply};
use magis_platform::process::ProcessMark;
use magis_store::RunFilter;
use magis_testkit::{FixtureRepo, sample};
use std::path::Path;
use std::sync::Arc;

fn refusal(environment: &TestEnvironment, wish: SolveRequest) -> EngineError {
    environment
        .magis
        .prepare_for(wish, &script())
        .expect_err("it was accepted")
}

#[test]
fn an_issue_that_says_nothing_is_refused_with_what_to_do() {
    let environment = TestEnvironment::new();
    assert!(
        refusal(&environment, environment.wish("  \n"))
            .to_string()
            .contains("empty")
    );
    let address = refusal(&environment, environment.wish("https://example.org/x/y/issues/7"));
    assert!(address.to_string().contains("paste its text"), "{address}");
    assert_eq!(
        environment.magis.runs(&RunFilter::default()).unwrap(),
        [],
        "no run was made"
    );
}

#[test]
fn a_folder_without_a_repository_is_named_with_a_remedy() {
    let environment = TestEnvironment::new();
    let error = refusal(&environment, wish(Path::new("/nowhere/at/all"), "crash", &[]));
    assert!(
        error.to_string().contains("/nowhere/at/all") && !error.remedy().is_empty(),
        "{error}"
    );
    let unborn = FixtureRepo::new();
    let error = refusal(&environment, wish(unborn.root(), "crash", &[]));
    assert!(error.to_string().contains("commit"), "{error}");
}

#[test]
fn a_file_that_is_not_there_or_leaves_the_tree_is_named() {
    let environment = TestEnvironment::new();
    for path in ["tally/nowhere.py", "../outside.py", "/etc/passwd"] {
        let error = refusal(&environment, environment.wish_for("crash", &[path]));
        assert!(error.to_string().contains(path), "{error}");
    }
}

#[tokio::test]
async fn an_answer_that_loops_or_is_empty_is_asked_for_once_more_and_the_run_goes_on() {
    let environment = TestEnvironment::new();
    for bad in [
        ScriptedReply::Looping("and so on ".to_owned()),
        ScriptedReply::Text(String::new()),
    ] {
        let first = ScriptedModel::new("bad")
            .when("Summarise this file", bad.clone())
            .when("open the kick-off", bad);
        let (run, end) = environment
            .solve(environment.wish(sample::UNTIL.text), script_after(first))
            .await;
        assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
        let notices = format!("{:?}", environment.events(run));
        assert!(
            notices.contains("Retried") && notices.contains("the names the file defines"),
            "{notices}"
        );
        assert_eq!(environment.calls(run, "open"), 2, "asked once more, and then no more");
        environment
            .magis
            .drop_summaries(environment.magis.repositories().unwrap()[0].id)
            .unwrap();
    }
}

#[tokio::test]
async fn code_cut_off_is_recorded_as_its_tasks_failure_and_the_other_task_goes_on() {
    let environment = TestEnvironment::new();
    let first = ScriptedModel::new("cut").when_prefixed("def spent_in", "(entries, category, month):\n    return sum(");
    let (run, end) = environment
        .solve(environment.wish(sample::TWO_TASK_ISSUE), script_after(first))
        .await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::NotApproved));
    let state = environment.magis.state(run).unwrap();
    let failed: Vec<&str> = state
        .tasks()
        .filter(|task| matches!(task.outcome, Some(TaskOutcome::Failed { .. })))
        .map(|task| task.task.path.as_str())
        .collect();
    assert_eq!(failed, ["tally/budget.py"]);
    assert!(
        environment
            .magis
            .merged(run)
            .unwrap()
            .patch
            .contains("tally/filters.py")
    );
}

#[tokio::test]
async fn a_context_too_small_is_said_with_numbers_and_nothing_is_cut_silently() {
    let environment = TestEnvironment::new();
    let model: Arc<dyn LanguageModel> = Arc::new(script().with_context(400));
    let run = environment
        .magis
        .prepare_for(environment.wish(sample::UNTIL.text), &*model)
        .unwrap()
        .run;
    let end = environment.drive(run, model).await.unwrap();
    assert!(
        matches!(
            end,
            DriveEnd::Ended(RunOutcome::NoChange { .. } | RunOutcome::NotApproved)
        ),
        "{end:?}"
    );
    let log = format!("{:?}", environment.events(run));
    assert!(log.contains("and the context of the model holds 400"), "{log}");
}

#[tokio::test]
async fn crlf_and_a_missing_final_newline_stay_as_they_were() {
    let environment = TestEnvironment::new();
    let text = environment.read("tally/filters.py").replace('\n', "\r\n");
    let text = text.trim_end().to_owned();
    environment.commit("tally/filters.py", &text);
    let (run, end) = environment
        .solve(
            environment.wish_for(sample::UNTIL.text, &["tally/filters.py"]),
            script(),
        )
        .await;
    assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved));
    environment
        .magis
        .apply(run, magis_engine::ApplyTarget::Worktree, &magis_repo::Selection::All)
        .unwrap();
    let expected = text.replace("since <= entry.day < until", "since <= entry.day <= until");
    assert_eq!(environment.read("tally/filters.py"), expected);
}

#[tokio::test]
async fn a_repository_that_changes_during_the_run_does_not_change_the_run() {
    let environment = TestEnvironment::new();
    let run = environment
        .magis
        .prepare_for(environment.wish(sample::UNTIL.text), &script())
        .unwrap()
        .run;
    environment.stop_before(run, "P5").await;
    let moved = environment
        .read("tally/filters.py")
        .replace("entry.day < until", "entry.day < until  # strict");
    environment.commit("tally/filters.py", &moved);
    environment.drive(run, Arc::new(script())).await.unwrap();
    assert!(
        environment
            .magis
            .merged(run)
            .unwrap()
            .patch
            .contains("-    return since <= entry.day < until\n")
    );
    let all = magis_repo::Selection::All;
    let conflict = environment
        .magis
        .apply(run, magis_engine::ApplyTarget::Worktree, &all)
        .unwrap_err();
    assert!(conflict.to_string().contains("tally/filters.py"), "{conflict}");
    assert_eq!(
        environment.read("tally/filters.py"),
        moved,
        "a refused patch leaves the file alone"
    );
}

#[tokio::test]
async fn a_second_driver_of_the_same_data_folder_is_told_who_works() {
    let environment = TestEnvironment::new();
    let run = environment
        .magis
        .prepare_for(environment.wish(sample::UNTIL.text), &script())
        .unwrap()
        .run;
    let store = environment.store();
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = i64::try_from(since_1970.unwrap().as_millis()).unwrap();
    let lease = store
        .acquire_lease(run, "another window", ProcessMark::own(), now, 60_000)
        .unwrap();
    let error = open(environment.folder.path());
    let (progress, _watch) = tokio::sync::mpsc::unbounded_channel();
    let stop = tokio_util::sync::CancellationToken::new();
    let error = error.drive(run, Arc::new(script()), stop, progress).await.unwrap_err();
    assert!(error.to_string().contains("another window"), "{error}");
    store.release_lease(&lease).unwrap();
}

#[tokio::test]
async fn a_driver_that_lost_its_lease_stops_before_it_writes_into_anothers_log() {
    let environment = TestEnvironment::new();
    let run = environment
        .magis
        .prepare_for(environment.wish(sample::UNTIL.text), &script())
        .unwrap()
        .run;
    let store = environment.store();
    let other_driver = ScriptedModel::new("other").answer(move |request| {
        if request.messages[1].content.contains("open the kick-off meeting") {
            let speech = Speech {
                speaker: Speaker::Manager,
                turn: Turn::Open,
                text: "I was first".to_owned(),
            };
            let next = store.event_count(run).unwrap() + 1;
            store.append_event(run, next, 0, &RunEvent::Spoken { speech }).unwrap();
        }
        None
    });
    let error = environment
        .drive(run, Arc::new(script_after(other_driver)))
        .await
        .unwrap_err();
    assert!(matches!(error, EngineError::Lease(_)), "{error}");
    let last = environment.events(run).pop().unwrap();
    assert!(format!("{last:?}").contains("I was first"), "{last:?}");
}
