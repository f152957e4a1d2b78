//! The QA Engineers: P11's comment in words, then its decision as a comparison of two words.

use super::RoleResult;
use crate::calls::{AskError, PromptVariant, SamplingMode};
use crate::runs::workspace::{Workspace, about, after, reviewer};
use magis_core::text::count;
use magis_core::{
    AttemptNumber, ChangeTests, CheckState, Decision, FileAction, FileChange, Round, RunEvent, TaskId, Verdict,
};
use magis_flow::{AttemptState, Run, TaskState};
use magis_prompts::{ReviewComment, ReviewDecision, ReviewedChange, Template};
use magis_repo::text_diff;

/// The most characters of the diff that a QA Engineer reads.
const DIFF: usize = 6_000;

/// P11: the QA Engineer comments on a change and decides on it.
pub(crate) async fn review(
    work: &mut Workspace,
    run: &Run,
    task: TaskId,
    round: Round,
    attempt: AttemptNumber,
) -> RoleResult {
    let state = work.task(run, task)?;
    let (change, left_out) = reviewed(work, run, state, round, attempt)?;
    let about = about(state).round(round).attempt(attempt);
    let asked = PromptVariant::less(ReviewComment { change: change.clone() }, left_out.clone());
    let comment = work.calls.ask(&about, SamplingMode::Greedy, [asked]).await;
    let comment = super::manager::or_silence(work, comment, Template::ReviewComment)?;
    let decision = ReviewDecision {
        change,
        comment: comment.clone(),
    };
    let weight = match work
        .calls
        .weigh(
            &about,
            [PromptVariant::less(decision, left_out)],
            [" approve", " reject"],
        )
        .await
    {
        Ok(weight) => weight,
        Err(AskError::Unusable(why)) => {
            work.calls.replaced(
                Template::ReviewDecision,
                why,
                "rejected: what could not be reviewed is not approved",
            );
            f64::NEG_INFINITY
        }
        Err(fatal) => return Err(fatal),
    };
    let decision = if weight >= 0.0 {
        Decision::Approved
    } else {
        Decision::Rejected
    };
    Ok(RunEvent::Reviewed {
        task,
        round,
        attempt,
        verdict: Verdict { decision, comment },
    })
}

/// The most characters of an output that a QA Engineer reads: its end, where runners say what failed.
const OUTPUT: usize = 700;

/// Returns the end of an output.
fn end(text: &str, characters: usize) -> String {
    let skipped = text.chars().count().saturating_sub(characters);
    text.chars().skip(skipped).collect()
}

/// Returns what running a change showed, a line or an output each.
fn seen(tested: &ChangeTests) -> Vec<String> {
    let mut said = Vec::new();
    for run in &tested.checks {
        let what = match &run.state {
            CheckState::Gone { grade } => format!("What showed the fault was run with the change: {grade}"),
            CheckState::Present => "What showed the fault was run with the change: it is as before".to_owned(),
            CheckState::OtherError { what } => format!("What showed the fault was run with the change: {what}"),
            CheckState::TimedOut => "What showed the fault was run with the change and did not end".to_owned(),
        };
        let output = end(&run.run.written(), OUTPUT);
        said.push(if output.is_empty() {
            what
        } else {
            format!("{what}. It prints:\n{output}")
        });
    }
    if let Some(tests) = &tested.tests {
        said.push(match &tests.incomplete {
            Some(why) => format!("The project's tests gave no whole result: {why}"),
            None => format!(
                "The project's tests were run with the change: {} pass, {} fail that passed before",
                tests.passed,
                tests.newly_failing.len()
            ),
        });
        said.extend(
            tests
                .newly_failing
                .iter()
                .take(2)
                .map(|test| format!("{} fails now: {}", test.name, end(&test.message, OUTPUT / 2))),
        );
    }
    said
}

/// Returns an answer as its reviewer reads it, and what was left out of it.
fn reviewed(
    work: &Workspace,
    run: &Run,
    state: &TaskState,
    round: Round,
    attempt: AttemptNumber,
) -> Result<(ReviewedChange, Vec<String>), AskError> {
    let answer = state.attempt(round, attempt);
    let Some(AttemptState::Written {
        diagnosis,
        change,
        findings,
        ..
    }) = answer.map(|answer| &answer.state)
    else {
        return Err(AskError::Unusable("there is nothing to review".to_owned()));
    };
    let base = match state.task.action {
        FileAction::Create => String::new(),
        FileAction::Modify | FileAction::Delete | FileAction::Rename { .. } => work.read(&state.task.path)?.text,
    };
    let diff = match change {
        FileChange::Delete => format!("The file {} is deleted.", state.task.path),
        FileChange::Modify { .. } | FileChange::Create { .. } | FileChange::Rename { .. } => {
            text_diff(&base, &after(&base, change).unwrap_or_default(), 4)
        }
    };
    let shown: String = diff.chars().take(DIFF).collect();
    let left_out = diff.chars().count() - shown.chars().count();
    let left_out: Vec<String> = (left_out > 0)
        .then(|| format!("{} of the diff", count(left_out, "character")))
        .into_iter()
        .collect();
    let reviewed = ReviewedChange {
        head: work.head(run),
        whose: reviewer(state),
        task: state.task.description.clone(),
        diagnosis: diagnosis.clone(),
        diff: shown,
        findings: findings.iter().map(ToString::to_string).collect(),
        seen: answer
            .and_then(|answer| answer.tested.as_ref())
            .map(seen)
            .unwrap_or_default(),
    };
    Ok((reviewed, left_out))
}
