//! What the window sees of a run that runs code.

use crate::environment::{ISSUE, script};
use crate::support::{Window, form, until_the_end};
use magis_app::views::{BaseRequest, CodeTerm, EvidenceView, SolveForm, TaskView, TestsChoice};
use magis_core::{CheckState, Grade, Proof, RunId, TestLine};
use std::time::Duration;

/// Solves an issue with what shows its fault.
async fn solved(window: &Window) -> RunId {
    let repo = window.add();
    let command = TestLine {
        line: "python3 -m unittest".to_owned(),
        folder: String::new(),
    };
    let allowed = window
        .app
        .allow_tests(repo, BaseRequest::Head, &command, CodeTerm::Isolated);
    assert_eq!(allowed.unwrap().allowed, Some(CodeTerm::Isolated));
    let wish = SolveForm {
        attempts: 2,
        tests: TestsChoice::Run { command },
        ..form(repo, ISSUE)
    };
    let run = window.app.start_run(wish).await.unwrap();
    until_the_end(window.follow(run)).await;
    window.app.until_idle().await;
    run
}

#[tokio::test(flavor = "multi_thread")]
async fn the_window_sees_what_showed_the_fault_where_attempts_are_and_what_each_hunk_is_needed_by() {
    let window = Window::new(script());
    let run = solved(&window).await;
    let view = window.app.run_view(run).unwrap();
    let grade = Grade::ExpectedResult;
    let evidence: &EvidenceView = view.evidence.as_ref().unwrap();
    assert!(
        evidence.looked_for && evidence.remarks.is_empty(),
        "{:?}",
        evidence.remarks
    );
    assert_eq!(
        evidence.checks.iter().map(|check| check.grade).collect::<Vec<_>>(),
        [grade]
    );
    let base = evidence.base.as_ref().unwrap();
    assert!(
        base.passed > 0 && base.run.as_ref().unwrap().status == Some(0),
        "{base:?}"
    );
    assert_eq!(evidence.proof, Proof::ShownToWork { grade });
    let patch = evidence.patch.as_ref().unwrap();
    assert_eq!(patch.checks[0].state, CheckState::Gone { grade });

    let task: &TaskView = &view.tasks[0];
    let (round, number) = task.accepted.unwrap();
    let round = &task.rounds[round as usize - 1];
    let taken = round.attempts.iter().find(|attempt| attempt.attempt == number).unwrap();
    assert_eq!(taken.proof, evidence.proof);
    assert_eq!(round.answer_places[number as usize], taken.place);
    assert!(
        round
            .answer_places
            .iter()
            .all(|place| (*place as usize) < round.places.len())
    );
    assert_eq!(
        task.needed.iter().map(|hunk| hunk.checks.len()).collect::<Vec<_>>(),
        [1]
    );
    assert!(
        task.left_out.is_none_or(|(left_out, _)| left_out == 0),
        "{:?}",
        task.left_out
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_check_that_does_not_end_is_stopped() {
    let window = Window::new(script());
    let run = solved(&window).await;
    let check = window.app.run_view(run).unwrap().evidence.unwrap().checks[0].id;
    let app = window.app.clone();
    let trial = tokio::spawn(async move { app.try_check(run, check, "while True:\n    pass\n").await });
    // The first moment is the copy's; then the script runs.
    tokio::time::sleep(Duration::from_secs(1)).await;
    while !trial.is_finished() {
        window.app.stop_check(run, check);
        tokio::task::yield_now().await;
    }
    let stopped = trial.await.unwrap().unwrap_err();
    assert_eq!((stopped.code.as_str(), stopped.remedy), ("cancelled", None));
    assert!(window.app.trials().is_empty());
}
