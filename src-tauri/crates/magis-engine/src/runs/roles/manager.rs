//! The Manager: tasks and team (P4, P5), the meeting's opening and summary, the plan (P7), the merge.

use super::RoleResult;
use super::custodian::best_code;
use crate::EngineError;
use crate::calls::{AskError, CallContext, PlannedCall, PromptVariant, SamplingMode};
use crate::runs::workspace::{Workspace, about, record, team};
use magis_core::text::count;
use magis_core::{
    FileAction, FileChange, FileTask, Issue, MergeResult, ModelReview, Plan, Proof, RepoPath, Role, RunEvent, Speaker,
    Speech, TaskId, TaskOutcome, Turn,
};
use magis_flow::{Run, TaskQuestion, TaskState};
use magis_prompts::{
    CommitSubject, DeveloperRole, MeetingOpening, MeetingSummary, PlanWanted, TaskAction, TaskAnswer, TaskWanted,
    Template,
};
use magis_repo::apply_changes;

/// P4: the Manager defines the task in one candidate file, or declines it.
pub(crate) async fn define_task(work: &mut Workspace, run: &Run, path: &RepoPath, asking: TaskQuestion) -> RoleResult {
    let variants = task_wanted(work, run, path, asking)?;
    let id = TaskId(run.tasks().map(|state| state.task.id.0).max().unwrap_or(0) + 1);
    let answer = match work
        .calls
        .ask(&CallContext::path(path), SamplingMode::Greedy, variants)
        .await
    {
        Ok(answer) => answer,
        Err(AskError::Unusable(why)) => {
            work.calls.replaced(Template::Task, why, "the issue itself as the task");
            let description = format!("Resolve the issue '{}' in this file.", run.request().issue.title());
            TaskAnswer::Task {
                action: TaskAction::Modify,
                description,
            }
        }
        Err(fatal) => return Err(fatal),
    };
    match answer {
        TaskAnswer::Nothing { reason } => Ok(RunEvent::TaskDeclined {
            path: path.clone(),
            reason,
        }),
        TaskAnswer::Task { action, description } => {
            let (task_path, action) = checked_action(work, run, path, &action)?;
            let task = FileTask {
                id,
                path: task_path,
                candidate: path.clone(),
                action,
                description,
            };
            Ok(RunEvent::TaskDefined { task })
        }
    }
}

/// Words the first call of [`define_task`].
pub(crate) async fn plan_task(
    work: &mut Workspace,
    run: &Run,
    path: &RepoPath,
    asking: TaskQuestion,
) -> Result<PlannedCall, AskError> {
    let variants = task_wanted(work, run, path, asking)?;
    let about = CallContext::path(path);
    work.calls.plan(&about, SamplingMode::Greedy, variants).await
}

fn task_wanted(
    work: &mut Workspace,
    run: &Run,
    path: &RepoPath,
    asking: TaskQuestion,
) -> Result<[PromptVariant<TaskWanted>; 2], AskError> {
    let head = work.head(run);
    let source = work.read(path)?;
    let description = run
        .description(path)
        .map(magis_core::Description::text)
        .unwrap_or_default();
    let code = best_code(work, run, path, &source.text, 3, 2_400)?;
    let others: Vec<String> = run
        .kept()
        .iter()
        .filter(|other| other.path != *path)
        .map(|other| other.path.to_string())
        .collect();
    let whole = TaskWanted {
        head,
        path: path.to_string(),
        description,
        code,
        others,
        insist: asking == TaskQuestion::Insisting || !run.request().files.is_empty(),
    };
    let less = TaskWanted {
        code: String::new(),
        ..whole.clone()
    };
    Ok([
        PromptVariant::whole(whole),
        PromptVariant::less(less, vec!["the best-matching code".to_owned()]),
    ])
}

/// A file may go or move only where the issue speaks of it, and a new one may not stand where one is: small models
/// name these actions far too freely.
fn checked_action(
    work: &mut Workspace,
    run: &Run,
    path: &RepoPath,
    action: &TaskAction,
) -> Result<(RepoPath, FileAction), EngineError> {
    let issue = &run.request().issue;
    let refused = match action {
        TaskAction::Modify => return Ok((path.clone(), FileAction::Modify)),
        TaskAction::Delete if names_file(issue, path) => return Ok((path.clone(), FileAction::Delete)),
        TaskAction::Rename(to) if names_file(issue, path) && work.blob(to)?.is_none() => {
            return Ok((path.clone(), FileAction::Rename { to: to.clone() }));
        }
        TaskAction::Create(new) if work.blob(new)?.is_none() && new.extension() == path.extension() => {
            return Ok((new.clone(), FileAction::Create));
        }
        TaskAction::Delete | TaskAction::Rename(_) => "the issue does not speak of removing or moving this file",
        TaskAction::Create(_) => "a file stands there already, or it is of another kind",
    };
    let why = format!("{path}: {refused}");
    work.calls.replaced(Template::Task, why, "the file is modified");
    Ok((path.clone(), FileAction::Modify))
}

fn names_file(issue: &Issue, path: &RepoPath) -> bool {
    issue.text().contains(path.file_name())
}

/// P5: the Manager defines the Developer of a task.
pub(crate) async fn define_role(work: &mut Workspace, run: &Run, task: TaskId) -> RoleResult {
    let state = work.task(run, task)?;
    let prompt = role_wanted(work, run, state);
    let role = work
        .calls
        .ask(&about(state), SamplingMode::Greedy, [PromptVariant::whole(prompt)])
        .await;
    let role = or_plain_role(work, role, Template::DeveloperRole, "Developer", state)?;
    Ok(RunEvent::RoleDefined { task, role })
}

/// Words the first call of [`define_role`].
pub(crate) async fn plan_role(work: &mut Workspace, run: &Run, task: TaskId) -> Result<PlannedCall, AskError> {
    let state = work.task(run, task)?;
    let variants = [PromptVariant::whole(role_wanted(work, run, state))];
    work.calls.plan(&about(state), SamplingMode::Greedy, variants).await
}

fn role_wanted(work: &Workspace, run: &Run, state: &TaskState) -> DeveloperRole {
    DeveloperRole {
        head: work.head(run),
        path: state.task.path.to_string(),
        task: state.task.description.clone(),
    }
}

/// Returns the role as answered, or a plain one where the answers cannot be used.
pub(crate) fn or_plain_role(
    work: &mut Workspace,
    role: Result<Role, AskError>,
    template: Template,
    title: &str,
    state: &TaskState,
) -> Result<Role, AskError> {
    match role {
        Err(AskError::Unusable(why)) => {
            work.calls.replaced(template, why, "a role without particulars");
            let focus = format!("Works on {}.", state.task.path);
            Ok(Role {
                name: format!("{title} of {}", state.task.path.file_name()),
                focus,
            })
        }
        other => other,
    }
}

/// Returns the Manager opens the meeting.
pub(crate) async fn open_meeting(work: &mut Workspace, run: &Run) -> RoleResult {
    let prompt = MeetingOpening {
        head: work.head(run),
        team: team(run),
    };
    let text = work
        .calls
        .ask(
            &CallContext::default(),
            SamplingMode::Greedy,
            [PromptVariant::whole(prompt)],
        )
        .await;
    let text = or_silence(work, text, Template::MeetingOpen)?;
    Ok(RunEvent::Spoken {
        speech: Speech {
            speaker: Speaker::Manager,
            turn: Turn::Open,
            text,
        },
    })
}

/// Returns the Manager sums up.
pub(crate) async fn sum_up(work: &mut Workspace, run: &Run) -> RoleResult {
    let prompt = MeetingSummary {
        head: work.head(run),
        team: team(run),
        record: record(run),
    };
    let text = work
        .calls
        .ask(
            &CallContext::default(),
            SamplingMode::Greedy,
            [PromptVariant::whole(prompt)],
        )
        .await;
    let text = or_silence(work, text, Template::MeetingSumUp)?;
    Ok(RunEvent::Spoken {
        speech: Speech {
            speaker: Speaker::Manager,
            turn: Turn::SumUp,
            text,
        },
    })
}

/// Returns what was said, or that nothing was.
pub(crate) fn or_silence(
    work: &mut Workspace,
    text: Result<String, AskError>,
    template: Template,
) -> Result<String, AskError> {
    match text {
        Err(AskError::Unusable(why)) => {
            work.calls.replaced(template, why, "silence");
            Ok("(said nothing)".to_owned())
        }
        other => other,
    }
}

/// P7. One task has one plan, and nothing is asked for it.
pub(crate) async fn make_plan(work: &mut Workspace, run: &Run) -> RoleResult {
    let tasks: Vec<TaskId> = run.tasks().map(|state| state.task.id).collect();
    if tasks.len() < 2 {
        return Ok(RunEvent::PlanMade {
            plan: Plan::in_sequence(tasks),
        });
    }
    let prompt = PlanWanted {
        head: work.head(run),
        team: team(run),
        record: record(run),
        tasks: tasks.clone(),
    };
    let plan = match work
        .calls
        .ask(
            &CallContext::default(),
            SamplingMode::Greedy,
            [PromptVariant::whole(prompt)],
        )
        .await
    {
        Ok(plan) => plan,
        Err(AskError::Unusable(why)) => {
            work.calls.replaced(
                Template::Plan,
                why,
                "the tasks one after the other, the most relevant file first",
            );
            Plan::in_sequence(tasks)
        }
        Err(fatal) => return Err(fatal),
    };
    Ok(RunEvent::PlanMade { plan })
}

/// Returns one tree, one diff, a commit message and a pull-request text.
pub(crate) async fn merge(work: &mut Workspace, run: &Run) -> RoleResult {
    let changes: Vec<(RepoPath, FileChange)> = run
        .tasks()
        .filter_map(|state| Some((state.task.path.clone(), state.accepted_change()?.1.clone())))
        .collect();
    let (tree, patch) = apply_changes(&work.snapshot, &changes)?;
    if patch.is_empty() {
        let result = MergeResult {
            tree,
            patch,
            commit_message: String::new(),
            pull_request: String::new(),
        };
        return Ok(RunEvent::Merged { result });
    }
    let done: Vec<String> = run
        .tasks()
        .filter(|state| state.accepted_change().is_some())
        .map(|state| format!("{}: {}", state.task.path, state.task.description))
        .collect();
    // Object ids say nothing to a model, and a fifth of what it reads of a small patch.
    let is_told = |line: &&str| !line.starts_with("diff --git ") && !line.starts_with("index ");
    let told: String = patch.split_inclusive('\n').filter(is_told).collect();
    let shown: String = told.chars().take(3_000).collect();
    let left_out = told.chars().count() - shown.chars().count();
    let left_out: Vec<String> = (left_out > 0)
        .then(|| format!("{} of the patch", count(left_out, "character")))
        .into_iter()
        .collect();
    let prompt = CommitSubject {
        head: work.head(run),
        tasks: done.join("\n"),
        diff: shown,
    };
    let smallest = CommitSubject {
        diff: String::new(),
        ..prompt.clone()
    };
    let variants = [
        PromptVariant::less(prompt, left_out),
        PromptVariant::less(smallest, vec!["the patch".to_owned()]),
    ];
    let subject = match work
        .calls
        .ask(&CallContext::default(), SamplingMode::Greedy, variants)
        .await
    {
        Ok(subject) => subject,
        Err(AskError::Unusable(why)) => {
            work.calls.replaced(Template::CommitSubject, why, "the issue's title");
            run.request().issue.title().to_owned()
        }
        Err(fatal) => return Err(fatal),
    };
    let subject: String = subject.chars().take(72).collect();
    let body: Vec<String> = done.iter().map(|line| format!("- {line}")).collect();
    let commit_message = format!(
        "{subject}\n\nResolves: {}\n\n{}\n",
        run.request().issue.title(),
        body.join("\n")
    );
    let pull_request = pull_request(run, &subject);
    Ok(RunEvent::Merged {
        result: MergeResult {
            tree,
            patch,
            commit_message,
            pull_request,
        },
    })
}

/// Returns what checks and tests proved of the change that was taken, and what was run, a line each.
fn evidence(run: &Run) -> (Proof, Vec<String>) {
    let taken = run.tasks().find_map(|state| {
        let (round, number) = state.accepted_attempt()?;
        let attempt = state.attempt(round, number)?;
        Some((attempt.proof(), attempt.tested.as_ref()?))
    });
    let Some((proof, tested)) = taken else {
        return (Proof::NotRun, Vec::new());
    };
    let mut lines = Vec::new();
    if let Some(tests) = tested.tests.as_ref().filter(|tests| !tests.run.command.is_empty()) {
        lines.push(format!(
            "`{}` {} after {:.1} s on tree {}: {} tests pass, {} fail that passed before.",
            tests.run.command,
            tests.run.end,
            f64::from(tests.run.took_ms) / 1_000.0,
            tested.tree.0.get(..10).unwrap_or(&tested.tree.0),
            tests.passed,
            tests.newly_failing.len()
        ));
    }
    (proof, lines)
}

/// Returns the pull-request text: what the issue was, what each task did, what the models' reviews said. Written by
/// program from the record.
fn pull_request(run: &Run, subject: &str) -> String {
    let mut text = format!(
        "# {subject}\n\nResolves the issue \"{}\".\n\n## Changes\n",
        run.request().issue.title()
    );
    let is_set_aside = |state: &&TaskState| matches!(state.outcome, Some(TaskOutcome::SetAside { .. }));
    for state in run.tasks().filter(|state| !is_set_aside(state)) {
        text += &format!("\n- `{}`: {}\n", state.task.path, state.task.description);
        let taken = state
            .accepted_attempt()
            .and_then(|(round, number)| state.attempt(round, number));
        let taken = taken.or_else(|| state.rounds.last()?.best().map(|(_, attempt)| attempt));
        let passes = taken.is_some_and(|attempt| attempt.proof().grade().is_some());
        if let Some(verdict) = taken.and_then(|attempt| attempt.verdict.as_ref()) {
            let word = ModelReview::from(verdict.decision).word();
            text += &format!("  - Model review: {word}. {}\n", verdict.comment);
        }
        match &state.outcome {
            Some(TaskOutcome::NotApproved { .. }) if run.runs_code() && !passes => {
                text += "  - **It is not shown to work; look at it with care.**\n";
            }
            Some(TaskOutcome::NotApproved { .. }) => {
                text += "  - **The model review did not pass; look at it with care.**\n";
            }
            Some(TaskOutcome::Failed { reason }) => text += &format!("  - **Left undone: {reason}.**\n"),
            Some(TaskOutcome::Approved { .. } | TaskOutcome::SetAside { .. }) | None => {}
        }
    }
    let reviews = run
        .tasks()
        .filter_map(|state| ModelReview::of_task(state.outcome.as_ref()?, run.request().qa));
    // The worst stands for all of them.
    if let Some(review) = reviews.max_by_key(|review| *review == ModelReview::NotPassed) {
        let (proof, runs) = evidence(run);
        for line in runs {
            text += &format!("\n{line}\n");
        }
        text += &format!("\n{review} · {proof}\n");
    }
    text
}
