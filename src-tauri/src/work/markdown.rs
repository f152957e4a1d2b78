//! A run as Markdown, to be read by people.
//!
//! Everything that came from outside stands in fences that its own text cannot close.

use crate::view::{CandidateState, RunView, TaskView};
use magis_core::{Decision, RunOutcome, Speaker, TaskOutcome};
use std::fmt::Write as _;

/// The run as Markdown.
pub(super) fn markdown(run: &RunView) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# Run {}: {}\n", run.row.id, one_line(&run.row.title));
    let _ = writeln!(text, "- Repository: {}", one_line(&run.row.repository));
    let _ = writeln!(text, "- Base: {} at {}", one_line(&run.base.name), run.base.commit);
    let _ = writeln!(text, "- Model: {}, seed {}", one_line(&run.row.model), run.request.seed);
    let _ = writeln!(text, "- Ended: {}", outcome(run.outcome.as_ref()));
    let _ = writeln!(
        text,
        "- Patch: {} files, {} lines added, {} deleted",
        run.row.files, run.row.added, run.row.deleted
    );
    let _ = writeln!(text, "\n## Issue\n\n{}", fenced("markdown", run.request.issue.text()));
    for hint in &run.hints {
        let _ = writeln!(text, "\nHint:\n\n{}", fenced("text", hint.text()));
    }
    locate(&mut text, run);
    if !run.meeting.is_empty() {
        text.push_str("\n## Meeting\n");
        for speech in &run.meeting {
            let speaker = match speech.speaker {
                Speaker::Manager => "Manager".to_owned(),
                Speaker::Developer(task) => format!("Developer of {task}"),
                Speaker::Person => "The person".to_owned(),
            };
            let _ = writeln!(text, "\n{speaker}:\n\n{}", fenced("text", &speech.text));
        }
    }
    if !run.plan_groups.is_empty() {
        text.push_str("\n## Plan\n\n");
        for (at, group) in run.plan_groups.iter().enumerate() {
            let tasks: Vec<String> = group.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "{}. {}", at + 1, tasks.join(", "));
        }
    }
    for task in &run.tasks {
        told_task(&mut text, task);
    }
    if let Some(merged) = &run.merged {
        let _ = writeln!(
            text,
            "\n## Commit message\n\n{}",
            fenced("text", &merged.commit_message)
        );
        let _ = writeln!(
            text,
            "\n## Pull request\n\n{}",
            fenced("markdown", &merged.pull_request)
        );
        let _ = writeln!(text, "\n## Patch\n\n{}", fenced("diff", &merged.patch));
    }
    text.push_str("\n## Cost\n\n| stage | seconds | calls | read | reused | written |\n|---|---|---|---|---|---|\n");
    for stage in &run.stages {
        let _ = writeln!(
            text,
            "| {} | {:.1} | {} | {} | {} | {} |",
            stage.stage,
            stage.ms as f64 / 1000.0,
            stage.calls,
            stage.computed_tokens,
            stage.reused_tokens,
            stage.generated_tokens
        );
    }
    text
}

fn locate(text: &mut String, run: &RunView) {
    if run.candidates.is_empty() {
        return;
    }
    text.push_str("\n## Files\n\n");
    for view in &run.candidates {
        let state = match &view.state {
            CandidateState::Kept => "kept".to_owned(),
            CandidateState::JudgedIrrelevant => "judged irrelevant".to_owned(),
            CandidateState::DroppedByYou => "dropped by a person".to_owned(),
            CandidateState::Declined { reason } => format!("nothing to do: {}", one_line(reason)),
            CandidateState::Waiting => "not judged".to_owned(),
        };
        let evidence: Vec<String> = view
            .candidate
            .evidence
            .iter()
            .map(|one| one_line(&one.to_string()))
            .collect();
        let _ = writeln!(
            text,
            "- {}: {state} ({})",
            code(view.candidate.path.as_str()),
            evidence.join("; ")
        );
    }
}

fn told_task(text: &mut String, task: &TaskView) {
    let _ = writeln!(
        text,
        "\n## {}: {} ({})\n\n{}",
        task.task.id,
        code(task.task.path.as_str()),
        one_line(&task.task.action.to_string()),
        fenced("text", &task.task.description)
    );
    for (who, role) in [("Developer", &task.developer), ("QA Engineer", &task.reviewer)] {
        if let Some(role) = role {
            let _ = writeln!(text, "\n{who}: {}. {}", one_line(&role.name), one_line(&role.focus));
        }
    }
    for round in &task.rounds {
        let _ = writeln!(text, "\n### Round {}", round.round);
        for attempt in &round.attempts {
            if let Some(why) = &attempt.failed {
                let _ = writeln!(text, "\nNothing usable came: {}", one_line(why));
                continue;
            }
            let _ = writeln!(text, "\n{}", fenced("text", &attempt.fault));
            if !attempt.diff.is_empty() {
                let _ = writeln!(text, "\n{}", fenced("diff", &attempt.diff));
            }
            for finding in &attempt.findings {
                let _ = writeln!(text, "\nFound by program: {finding}.");
            }
            if let Some(verdict) = &attempt.verdict {
                let decision = match verdict.decision {
                    Decision::Approved => "approved",
                    Decision::Rejected => "rejected",
                };
                let _ = writeln!(text, "\nReview: {decision}.\n\n{}", fenced("text", &verdict.comment));
            }
        }
    }
    let _ = match &task.outcome {
        Some(TaskOutcome::Approved { round }) => writeln!(text, "\nApproved in round {round}."),
        Some(TaskOutcome::NotApproved { round }) => writeln!(text, "\nNot approved; round {round} is kept."),
        Some(TaskOutcome::Failed { reason }) => writeln!(text, "\nFailed: {}", one_line(reason)),
        None => Ok(()),
    };
}

fn outcome(outcome: Option<&RunOutcome>) -> String {
    match outcome {
        None => "not yet".to_owned(),
        Some(RunOutcome::Approved) => "approved".to_owned(),
        Some(RunOutcome::NotApproved) => "not approved as a whole".to_owned(),
        Some(RunOutcome::NoChange { reason }) => format!("without a change: {}", one_line(reason)),
        Some(RunOutcome::Failed { reason }) => format!("failed: {}", one_line(reason)),
    }
}

/// A text in a fence that is longer than any in it.
fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// A short text as code.
fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    let space = if text.contains('`') { " " } else { "" };
    format!("{fence}{space}{}{space}{fence}", one_line(text))
}

fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

/// Words within a line: no line's end, and nothing that Markdown or HTML would take for markup.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('|', "\\|")
        .replace('[', "\\[")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_leave_its_fence() {
        assert_eq!(fenced("text", "a\n```\n<b>"), "````text\na\n```\n<b>\n````");
        assert_eq!(one_line("<img onerror=x>\n# y"), "&lt;img onerror=x> # y");
        assert_eq!(code("a`b"), "`` a`b ``");
    }
}
