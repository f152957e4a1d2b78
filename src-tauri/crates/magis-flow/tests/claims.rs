//! What a log from elsewhere may claim of its end: input is a list of events, expected is what is said against it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use magis_core::*;
use magis_flow::Run;

const TASK: TaskId = TaskId(1);
const ROUND: Round = Round(1);

fn started(qa: QaMode) -> RunEvent {
    let request = RunRequest {
        issue: Issue::new("It crashes").unwrap(),
        hints: Vec::new(),
        hints_mode: HintsMode::Use,
        relevance: RelevanceMode::Code,
        without: std::collections::BTreeSet::new(),
        files: Vec::new(),
        model: "scripted".to_owned(),
        seed: 1,
        top_k: 10,
        max_rounds: 3,
        attempts_per_round: 1,
        places_per_round: 1,
        writing: Vec::new(),
        tests: TestsMode::Skip,
        qa,
    };
    let base = Base {
        commit: CommitId("c".to_owned()),
        tree: TreeId("t".to_owned()),
        uncommitted: false,
        name: "HEAD".to_owned(),
    };
    RunEvent::RunStarted {
        request: Box::new(request),
        base,
    }
}

fn task() -> RunEvent {
    let path = RepoPath::new("a.py").unwrap();
    let task = FileTask {
        id: TASK,
        candidate: path.clone(),
        path,
        action: FileAction::Delete,
        description: "Remove it.".to_owned(),
    };
    RunEvent::TaskDefined { task }
}

fn written(findings: Vec<Finding>) -> [RunEvent; 2] {
    let lines = RunEvent::LinesChosen {
        task: TASK,
        round: ROUND,
        symbols: Vec::new(),
        spans: Vec::new(),
        others: Vec::new(),
        answers: None,
    };
    let code = RunEvent::CodeWritten {
        task: TASK,
        round: ROUND,
        attempt: AttemptNumber(0),
        diagnosis: "It is not used.".to_owned(),
        change: FileChange::Delete,
        findings,
        place: 0,
        mode: WritingMode::Definition,
        same_as: None,
    };
    [lines, code]
}

fn reviewed(decision: Decision) -> RunEvent {
    RunEvent::Reviewed {
        task: TASK,
        round: ROUND,
        attempt: AttemptNumber(0),
        verdict: Verdict {
            decision,
            comment: "Seen.".to_owned(),
        },
    }
}

fn closed(outcome: TaskOutcome) -> RunEvent {
    RunEvent::TaskClosed { task: TASK, outcome }
}

fn merged() -> RunEvent {
    RunEvent::Merged {
        result: MergeResult {
            tree: TreeId("u".to_owned()),
            patch: "diff --git a/a.py b/a.py\n".to_owned(),
            commit_message: String::new(),
            pull_request: String::new(),
        },
    }
}

fn ended(outcome: RunOutcome) -> RunEvent {
    RunEvent::RunEnded { outcome }
}

fn check(events: &[&[RunEvent]], expected: &str) {
    let events: Vec<RunEvent> = events.concat();
    let said = Run::fold_from_elsewhere(&events).map_or_else(|error| error.to_string(), |_| String::new());
    assert_eq!(said, expected);
}

#[test]
fn an_end_that_follows_is_taken() {
    let (approved, kept) = (
        TaskOutcome::Approved { round: ROUND },
        TaskOutcome::NotApproved { round: ROUND },
    );
    let begun = [started(QaMode::Review), task()];
    let passed = [reviewed(Decision::Approved), closed(approved.clone()), merged()];
    check(&[&begun, &written(vec![]), &passed, &[ended(RunOutcome::Approved)]], "");
    let failed = [reviewed(Decision::Rejected), closed(kept), merged()];
    check(
        &[&begun, &written(vec![]), &failed, &[ended(RunOutcome::NotApproved)]],
        "",
    );
    let unreviewed = [started(QaMode::Skip), task()];
    let taken = [closed(approved), merged(), ended(RunOutcome::Approved)];
    check(&[&unreviewed, &written(vec![]), &taken], "");
    let reason = "nothing to do".to_owned();
    check(&[&begun[..1], &[ended(RunOutcome::NoChange { reason })]], "");
    check(&[&begun, &written(vec![])], "");
}

#[test]
fn an_end_that_does_not_follow_is_refused() {
    let approved = closed(TaskOutcome::Approved { round: ROUND });
    let begun = [started(QaMode::Review), task()];
    check(
        &[&begun[..1], &[merged(), ended(RunOutcome::Approved)]],
        "the log says that there is a patch, but no change of a task was accepted",
    );
    check(
        &[&begun, &[ended(RunOutcome::NotApproved)]],
        "the log says that the run ended with a patch, but nothing was merged",
    );
    check(
        &[&begun, std::slice::from_ref(&approved)],
        "the log says that round 1 of T1 gave the change, but no usable code was written in it",
    );
    check(
        &[
            &begun,
            &written(vec![Finding::NoChange]),
            std::slice::from_ref(&approved),
        ],
        "the log says that round 1 of T1 gave the change, but no usable code was written in it",
    );
    check(
        &[&begun, &written(vec![]), &[reviewed(Decision::Rejected), approved]],
        "the log says that the change of T1 is approved, but no review of it says so",
    );
    let kept = closed(TaskOutcome::NotApproved { round: ROUND });
    check(
        &[&begun, &written(vec![]), &[kept, merged(), ended(RunOutcome::Approved)]],
        "the log says that the patch is approved, but not every task was",
    );
}
