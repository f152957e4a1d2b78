//! Which attempts of a run are judged: those that may resolve the bug, as patches.

use anyhow::{Context as _, Result};
use magis_core::{ChangeTests, Edit, FileChange, RepoPath};
use magis_eval::change::Change;
use magis_flow::{AttemptState, Run, TaskState};
use magis_repo::{BaseChoice, Git, ObjectStore, Snapshot, apply_changes};
use std::path::Path;

/// Returns the attempts of a run that may resolve the bug as patches, each code once: those that can be used and whose code what shows the fault does not
/// fail with, and those that give their file the text that the reference gives it, whatever the run says of them. So a right attempt that a wrong check
/// rejected is seen, and not all that failed are judged.
pub fn worth_judging(state: &Run, clone: &Path, reference: Option<&Change>) -> Result<Vec<String>> {
    let repository = Git::in_this_process().open(clone)?;
    let scratch = tempfile::tempdir().context("making a scratch folder")?;
    let objects = ObjectStore::open(scratch.path().join("objects"), &repository)?;
    let base = BaseChoice::Revision {
        name: state.base().commit.0.clone(),
    };
    let snapshot = Snapshot::take(&repository, &objects, &base)?;
    let mut patches = Vec::new();
    for task in state.tasks() {
        let path = &task.task.path;
        // A file that the task makes has no text before.
        let before = snapshot.read(path).map(|source| source.text).unwrap_or_default();
        for change in of_task(task, &before, reference) {
            let changes: [(RepoPath, FileChange); 1] = [(path.clone(), change.clone())];
            if let Ok((_, patch)) = apply_changes(&snapshot, &changes) {
                patches.push(patch);
            }
        }
    }
    Ok(patches)
}

/// Returns the changes of a task that may resolve the bug. `before` is the text of its file.
fn of_task<'task>(task: &'task TaskState, before: &str, reference: Option<&Change>) -> Vec<&'task FileChange> {
    let attempts = task.rounds.iter().flat_map(|round| round.attempts.values());
    let mut changes = Vec::new();
    for attempt in attempts.filter(|attempt| attempt.same_as().is_none()) {
        let AttemptState::Written { change, .. } = &attempt.state else {
            continue;
        };
        let fails = |tested: &ChangeTests| !tested.checks.is_empty() && tested.passed_checks() == 0;
        let is_rejected = attempt.usable_change().is_none() || attempt.tested.as_ref().is_some_and(fails);
        let path = &task.task.path;
        let is_reference = || reference.is_some_and(|reference| gives_the_same(change, reference, path, before));
        if !is_rejected || is_reference() {
            changes.push(change);
        }
    }
    changes
}

/// Returns whether a change gives its file the text that the reference gives it.
fn gives_the_same(change: &FileChange, reference: &Change, path: &RepoPath, before: &str) -> bool {
    let after = match change {
        FileChange::Modify { edits } => Edit::splice(before, edits).ok(),
        FileChange::Create { content } => Some(content.clone()),
        // The text stands at another path then, or nowhere.
        FileChange::Rename { .. } | FileChange::Delete => None,
    };
    after.is_some_and(|after| reference.gives(path, before, &after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_core::{
        AttemptNumber, CheckId, CheckRun, CheckState, ExcerptedOutput, FileAction, FileTask, Finding, Grade, LineSpan,
        ProgramRun, Round, TaskId, TreeId, WritingMode,
    };
    use magis_flow::{Attempt, RoundState};

    const BEFORE: &str = "def f(a):\n    return a + 1\n";
    const REFERENCE: &str = "diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,2 @@\n def f(a):\n-    return a + 1\n+    return a - 1\n";

    /// Returns what the run of a check showed.
    fn shown(state: CheckState) -> ChangeTests {
        ChangeTests {
            tree: TreeId("t".to_owned()),
            checks: vec![CheckRun {
                check: CheckId(1),
                state,
                run: ProgramRun {
                    command: "python3 check.py".to_owned(),
                    folder: String::new(),
                    end: "ended with exit code 1".to_owned(),
                    status: Some(1),
                    took_ms: 10,
                    stdout: ExcerptedOutput::default(),
                    stderr: ExcerptedOutput::default(),
                    refused: Vec::new(),
                },
            }],
            tests: None,
            less_likely: false,
            rivals: 0,
            as_tests: Vec::new(),
        }
    }

    /// Returns an attempt that writes another second line.
    fn attempt(line: &str, findings: Vec<Finding>, check: Option<CheckState>) -> Attempt {
        Attempt {
            state: AttemptState::Written {
                diagnosis: String::new(),
                change: FileChange::Modify {
                    edits: vec![Edit {
                        span: LineSpan::new(2, 2).expect("a line"),
                        text: line.to_owned(),
                    }],
                },
                findings,
                place: 0,
                mode: WritingMode::Definition,
                same_as: None,
            },
            tested: check.map(shown),
            gain: None,
            rivals: 0,
            verdict: None,
        }
    }

    fn check(attempt: Attempt, is_judged: bool) {
        let path = RepoPath::new("m.py").expect("a path");
        let task = TaskState {
            task: FileTask {
                id: TaskId(1),
                path: path.clone(),
                candidate: path,
                action: FileAction::Modify,
                description: "mend it".to_owned(),
            },
            edited: false,
            role: None,
            revised: false,
            reviewer: None,
            rounds: vec![RoundState {
                round: Round(1),
                places: Vec::new(),
                answers: None,
                attempts: [(AttemptNumber(0), attempt)].into(),
            }],
            taken: None,
            minimised: None,
            outcome: None,
        };
        let reference = Change::parse(REFERENCE).expect("a patch");
        let judged = of_task(&task, BEFORE, Some(&reference));
        assert_eq!(!judged.is_empty(), is_judged, "{:?}", task.rounds);
    }

    #[test]
    fn what_the_run_rejected_is_judged_only_where_it_is_the_reference() {
        let undefined = || {
            let names = vec!["b".to_owned()];
            vec![Finding::UndefinedNames { names }]
        };
        let gone = CheckState::Gone {
            grade: Grade::ExpectedResult,
        };
        check(attempt("    return a\n", Vec::new(), None), true);
        check(attempt("    return a\n", Vec::new(), Some(gone)), true);
        check(attempt("    return a\n", Vec::new(), Some(CheckState::Present)), false);
        check(
            attempt("    return a - 1\n", Vec::new(), Some(CheckState::Present)),
            true,
        );
        check(
            attempt("    return a - 1  \n", Vec::new(), Some(CheckState::TimedOut)),
            true,
        );
        check(attempt("    return b\n", undefined(), None), false);
        check(attempt("    return a - 1\n", undefined(), None), true);
    }
}
