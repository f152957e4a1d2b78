//! What the window sees of a run that runs code.

use crate::environment::{ISSUE, script};
use crate::support::{Window, form, until_the_end};
use magis_app::views::{BaseRequest, CodeTerm, EvidenceView, SolveForm, TaskView, TestsChoice};
use magis_core::{CheckState, Grade, Proof, TestLine};

#[tokio::test(flavor = "multi_thread")]
async fn the_window_sees_what_showed_the_fault_where_attempts_are_and_what_each_hunk_is_needed_by() {
    let window = Window::new(script());
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
