//! The parts of a transcript that are the same whenever they are rendered.

use super::section::Section;
use super::{Detail, Tone, count, diff, one_line, thousands};
use magis_core::{
    Candidate, Description, DescriptionSource, FileTask, Hint, MergeResult, ModelReview, Notice, Proof, QaMode, Role,
    RunRequest, Stage, TaskId, TaskOutcome, TestsMode, model_host, model_label,
};
use magis_repo::Patch;
use magis_store::DiffSize;

pub(super) fn title(stage: Stage) -> &'static str {
    match stage {
        Stage::Evidence => "Evidence: what shows the fault?",
        Stage::Locate => "Locate: which files does the issue touch?",
        Stage::Team => "Team: a task for each file, a Developer for each task",
        Stage::Meeting => "Meeting",
        Stage::Plan => "Plan",
        Stage::Code => "Code and review",
        Stage::Merge => "Merge",
    }
}

/// Returns the strongest reasons in words, and how many others there are.
pub(super) fn evidence(candidate: &Candidate, most: usize) -> String {
    let reasons = &candidate.evidence;
    let mut told: Vec<String> = reasons.iter().take(most).map(ToString::to_string).collect();
    if let Some(others) = reasons.len().checked_sub(most).filter(|others| *others > 0) {
        told.push(format!("and {others} more"));
    }
    told.join("; ")
}

pub(super) fn how(request: &RunRequest) -> String {
    use magis_core::HintsMode;
    let mut parts = vec![
        format!("model {}", super::clean(model_label(&request.model))),
        format!("seed {}", request.seed),
        format!("{} at most", count(request.max_rounds as usize, "round")),
    ];
    if let Some(host) = model_host(&request.model) {
        parts.insert(1, format!("prompts go to {}", super::clean(host)));
    }
    if request.attempts_per_round > 1 {
        parts.push(format!(
            "{} at {} in a round",
            count(request.attempts_per_round as usize, "attempt"),
            count(request.places_per_round as usize, "place")
        ));
    }
    match &request.tests {
        TestsMode::Skip => {}
        TestsMode::Run {
            command: Some(command), ..
        } => parts.push(format!("tests by `{}`", super::clean(&command.line))),
        TestsMode::Run { command: None, .. } => parts.push("what the issue shows is run".to_owned()),
    }
    if request.files.is_empty() {
        parts.push(format!("the best {} judged", count(request.top_k as usize, "file")));
    } else {
        parts.push(format!("{} given", count(request.files.len(), "file")));
    }
    if request.qa == QaMode::Skip {
        parts.push("without review".to_owned());
    }
    parts.extend(request.without.iter().map(|part| format!("without {}", part.label())));
    match (request.hints.len(), request.hints_mode) {
        (0, _) => {}
        (number, HintsMode::Use) => parts.push(count(number, "hint")),
        (number, HintsMode::Ignore) => parts.push(format!("{}, kept from the agents", count(number, "hint"))),
    }
    parts.join(", ")
}

pub(super) fn request_in_full(page: &mut Section, request: &RunRequest) {
    page.gap();
    page.line(&format!("  {}", page.paint.tone(Tone::Strong, "Issue:")));
    page.prose(4, request.issue.text());
    for hint in &request.hints {
        let kind = match hint {
            Hint::Comments(_) => "Comments:",
            Hint::FailingLog(_) => "Failing log:",
            Hint::Word(_) => "Hint:",
        };
        page.gap();
        page.line(&format!("  {}", page.paint.tone(Tone::Strong, kind)));
        page.prose(4, hint.text());
    }
}

pub(super) fn described(page: &mut Section, description: &Description) {
    let from = match &description.source {
        DescriptionSource::Stored => "from memory",
        DescriptionSource::Updated { .. } => "from memory, with the change since",
        DescriptionSource::Fresh if description.from_skeleton => "summarised now, from its outline because it is long",
        DescriptionSource::Fresh => "summarised now",
        DescriptionSource::Itself => "the file itself, which is shorter than a summary",
        DescriptionSource::Names => "not summarised yet",
    };
    let title = page.paint.tone(Tone::Strong, &super::clean(description.path.as_str()));
    page.line(&format!("  {title} ({from})"));
    page.prose(4, &description.text());
}

pub(super) fn defined(page: &mut Section, task: &FileTask) {
    let lead = format!("{} {} {}:", task.id, task.action, task.path);
    page.entry(2, Tone::Strong, &lead, &task.description);
}

pub(super) fn person(page: &mut Section, indent: usize, what: &str, role: &Role) {
    page.entry(
        indent,
        Tone::Faint,
        &format!("{what}:"),
        &format!("{} - {}", one_line(&role.name, 80), role.focus),
    );
}

pub(super) fn closed(page: &mut Section, task: TaskId, outcome: &TaskOutcome, qa: QaMode, tests: &TestsMode) {
    match outcome {
        TaskOutcome::Approved { round } => {
            page.entry(
                4,
                Tone::Strong,
                &format!("{task}:"),
                &format!("the change of round {round} is taken{}", opinion(outcome, qa, tests)),
            );
        }
        TaskOutcome::NotApproved { round } => {
            let text = format!(
                "no round passed; the change of round {round} is the best and is kept{}",
                opinion(outcome, qa, tests)
            );
            page.entry(4, Tone::Note, &format!("{task}:"), &text);
        }
        TaskOutcome::SetAside { reason } => page.entry(4, Tone::Faint, &format!("{task} set aside:"), reason),
        TaskOutcome::Failed { reason } => page.entry(4, Tone::Bad, &format!("{task} failed:"), reason),
    }
}

/// Returns a person with the role beside the name, unless the name is the role.
pub(super) fn with_role(name: &str, role: &str) -> String {
    if name.eq_ignore_ascii_case(role) {
        name.to_owned()
    } else {
        format!("{name}, {role}")
    }
}

/// Returns what stands behind the change of a task, where it is not told attempt by attempt: the models' opinion, and that nothing was run.
pub(super) fn opinion(outcome: &TaskOutcome, qa: QaMode, tests: &TestsMode) -> String {
    let review = ModelReview::of_task(outcome, qa);
    review.map_or(String::new(), |review| match tests {
        TestsMode::Skip => format!(". {review} · {}", Proof::NotRun),
        TestsMode::Run { .. } => format!(". {review}"),
    })
}

pub(super) fn merged(page: &mut Section, result: &MergeResult, detail: Detail) {
    files_of(page, &result.patch);
    if detail == Detail::Full {
        page.gap();
        page.line(&format!("  {}", page.paint.tone(Tone::Strong, "Commit message:")));
        page.prose(4, &result.commit_message);
        page.gap();
        page.line(&format!("  {}", page.paint.tone(Tone::Strong, "Pull request:")));
        page.prose(4, &result.pull_request);
    }
}

/// The files of a patch, each with its lines and the numbers of its hunks.
pub(super) fn files_of(page: &mut Section, patch: &str) {
    let size = DiffSize::of(patch);
    page.line(&format!(
        "  {} changed, +{} -{}",
        count(size.files as usize, "file"),
        size.added,
        size.deleted
    ));
    let Ok(patch) = Patch::parse(patch) else { return };
    for file in &patch.files {
        let lines = |sign: char| {
            let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
            lines.filter(|line| line.starts_with(sign)).count()
        };
        let title = page.paint.tone(
            Tone::Strong,
            &super::clean(&format!("{} {}", diff::kind(file), file.path)),
        );
        page.line(&format!(
            "    {title} +{} -{} ({})",
            lines('+'),
            lines('-'),
            diff::hunk_ranges(file)
        ));
    }
}

pub(super) fn by_person(page: &mut Section, what: &str) {
    page.entry(2, Tone::Note, "you:", what);
}

pub(super) fn noticed(notice: &Notice) -> String {
    match notice {
        Notice::Shortened {
            step,
            what,
            tokens_before,
            tokens_after,
        } if tokens_before > tokens_after => {
            let after = count(*tokens_after as usize, "token");
            let before = thousands((*tokens_before).into());
            format!("for {step}, {what} was shortened from {before} to {after}")
        }
        // Less than the whole from the beginning.
        Notice::Shortened { step, what, .. } => format!("for {step}, {what}"),
        Notice::Retried { step, why } => format!("{step} was asked again: {why}"),
        Notice::Replaced { step, why, instead } => {
            format!("{step} gave no usable answer ({why}); {instead} is used instead")
        }
        Notice::WorkerRestarted { why } => format!("the engine's process ended and was started again: {why}"),
    }
}
