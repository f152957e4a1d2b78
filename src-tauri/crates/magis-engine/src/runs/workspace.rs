//! What the roles work on: the tree, the index, the memory, the run so far; and the texts they share.

use crate::calls::{CHARS_PER_TOKEN, CallContext, ModelCalls, condense};
use crate::custodian::index_session::{IndexSession, Preparing};
use crate::runs::bench::{BenchGround, TestBench};
use crate::{EngineError, Magis, Progress};
use magis_core::{
    BlobId, BugCheck, CheckSource, Edit, FileChange, FileTask, Hint, Issue, LineSpan, RepoId, RepoPath, Round, RunId,
    SkippedFile, Speaker, TaskId,
};
use magis_evidence::reproduction::{ProjectInUse, project_in_use, tracebacks};
use magis_flow::{Attempt, FlowError, Run, TaskState};
use magis_prompts::{Head, Persona};
use magis_repo::{Snapshot, SourceText};
use magis_search::{IssueQuery, Retention};
use magis_store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// A run's surroundings while it is driven.
pub(crate) struct Workspace {
    pub calls: ModelCalls,
    pub magis: Magis,
    pub store: Store,
    pub run: RunId,
    pub repo: RepoId,
    pub snapshot: Snapshot,
    pub index_folder: PathBuf,
    /// The repository's folder, which need not be there any more.
    pub root: PathBuf,
    pub progress: UnboundedSender<Progress>,
    pub stop: CancellationToken,
    /// Opened when it is first asked for.
    pub index: Option<Located>,
    /// Listed when they are first asked for.
    pub files: Option<TreeFiles>,
    /// Made when code is first to be run; or why none is.
    pub bench: Option<Result<TestBench, String>>,
    /// Found when it is first asked for: a past change that was described like the issue, as lines; none where there is no such.
    pub past_fix: Option<Vec<String>>,
    /// Edits at one token by task, lines and what a person wants, found when they are first asked for; they are the same whenever that is.
    pub token_edits: BTreeMap<(TaskId, Vec<LineSpan>, Vec<String>), Vec<Edit>>,
    /// The definitions of a file that the examples of the issue may enter, found when they are first asked for; none where that is not known.
    pub may_enter: BTreeMap<RepoPath, Option<Vec<LineSpan>>>,
}

/// What files are ranked by.
pub(crate) struct Located {
    pub index_session: IndexSession,
    pub query: IssueQuery,
    /// Files that are no text, as the index has found.
    pub skipped: Vec<SkippedFile>,
}

/// The files of the base tree.
pub(crate) struct TreeFiles {
    /// Those that are ordinary files, in the order of their paths.
    pub readable: Vec<(RepoPath, BlobId)>,
    /// The others, with the reason.
    pub skipped: Vec<SkippedFile>,
}

impl Workspace {
    /// Returns the readable files of the base tree, and the others with the reason.
    pub fn files(&mut self) -> Result<&TreeFiles, EngineError> {
        let files = match self.files.take() {
            Some(files) => files,
            None => {
                let going = &mut |_| {
                    if self.stop.is_cancelled() {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                };
                let listed = self.snapshot.files_while(going)?;
                let (files, skipped) = listed.ok_or_else(EngineError::cancelled)?;
                let readable = files.into_iter().map(|file| (file.path, file.blob)).collect();
                TreeFiles { readable, skipped }
            }
        };
        Ok(self.files.insert(files))
    }

    /// Returns the blob of a file of the base tree.
    pub fn blob(&mut self, path: &RepoPath) -> Result<Option<BlobId>, EngineError> {
        let files = &self.files()?.readable;
        let found = files.binary_search_by(|(known, _)| known.cmp(path));
        Ok(found.ok().map(|at| files[at].1.clone()))
    }

    /// Returns the index over the base tree and its history, brought up to date once a run, and the issue as a query.
    pub fn index(&mut self, run: &Run) -> Result<&Located, EngineError> {
        let index = match self.index.take() {
            Some(index) => index,
            None => {
                let wanted = self.files()?.readable.clone();
                let (snapshot, progress, stop) = (&self.snapshot, &self.progress, &self.stop);
                let mut watch = |step| {
                    if let Preparing::Index { done, total } = step {
                        drop(progress.send(Progress::Indexing { done, total }));
                    }
                    if stop.is_cancelled() {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                };
                let mut index_session = IndexSession::open(&self.index_folder, Retention::Few, &mut watch)?;
                let synced = index_session.sync_to(snapshot, &wanted, &mut watch)?;
                // What the agents read is what is searched for: thousands of repeated log lines would outweigh the rest.
                let issue = Issue::new(run.issue_text())?;
                Located {
                    index_session,
                    query: IssueQuery::of(&issue, &with_shown(run)),
                    skipped: synced.skipped,
                }
            }
        };
        Ok(self.index.insert(index))
    }

    /// Returns a task, which the flow has just named.
    pub fn task<'run>(&self, run: &'run Run, task: TaskId) -> Result<&'run TaskState, EngineError> {
        let unknown = || EngineError::Log {
            run: self.run,
            source: FlowError::UnknownTask(task),
        };
        run.task(task).ok_or_else(unknown)
    }

    /// Returns what code is run on, made when it is first asked for; or why no code is run.
    pub async fn bench(&mut self, run: &Run) -> Result<Result<&mut TestBench, String>, EngineError> {
        if self.bench.is_none() {
            let project = self.project_in_use()?;
            let ground = BenchGround {
                magis: &self.magis,
                repo: self.repo,
                snapshot: &self.snapshot,
                root: &self.root,
                project: &project,
                progress: Some(&self.progress),
                stop: &self.stop,
            };
            self.bench = Some(TestBench::open(ground, run).await?);
        }
        Ok(match self.bench.as_mut() {
            Some(Ok(bench)) => Ok(bench),
            Some(Err(why)) => Err(why.clone()),
            None => Err("nothing is run".to_owned()),
        })
    }

    /// Returns the language of the project and the names under which its own code is imported.
    pub fn project_in_use(&mut self) -> Result<ProjectInUse, EngineError> {
        let files = &self.files()?.readable;
        let paths: Vec<RepoPath> = files.iter().map(|(path, _)| path.clone()).collect();
        Ok(project_in_use(&paths, &|path| {
            Some(self.snapshot.read(path).ok()?.text)
        }))
    }

    /// Returns the text of a file of the base tree.
    pub fn read(&self, path: &RepoPath) -> Result<SourceText, EngineError> {
        Ok(self.snapshot.read(path)?)
    }

    /// Returns the head of every prompt about the issue. Each hint is held to a fifth of the context at the most,
    /// visibly.
    pub fn head(&self, run: &Run) -> Head {
        let budget = (self.calls.context() as usize / 5).min(1_500) * CHARS_PER_TOKEN;
        let hint = |hint: &Hint| {
            let text = condense(hint.text(), budget).unwrap_or_else(|| hint.text().to_owned());
            match hint {
                Hint::Comments(_) => format!("Comments on the issue:\n{text}"),
                Hint::FailingLog(_) => format!("Output of the failing run:\n{text}"),
                Hint::Word(_) => format!("From the person who asked:\n{text}"),
            }
        };
        Head {
            issue: Some(run.issue_text().to_owned()),
            hints: run.hints().iter().map(hint).chain(shown_fault(run)).collect(),
        }
    }
}

/// What a prompt quotes of the fault as it was shown, in characters: its end.
const SHOWN: usize = 1_200;

/// Returns what showed the fault on the unchanged code, as every agent reads it.
fn shown_fault(run: &Run) -> Option<String> {
    let check = run.checks().first()?;
    let text = check.on_base.written();
    let skipped = text.chars().count().saturating_sub(SHOWN);
    let text: String = text.chars().skip(skipped).collect();
    let mark = if skipped > 0 { "[…] " } else { "" };
    let what = match check.source {
        CheckSource::Issue { .. } => "The example of the issue, run on the code as it is",
        CheckSource::Given { .. } | CheckSource::FailingTests { .. } => "Tests that fail because of it",
        CheckSource::Written { .. } => "A test written for the issue, run on the code as it is",
    };
    (!text.is_empty()).then(|| format!("{what}:\n{mark}{text}"))
}

/// Returns the hints, and what checks showed on the base as the log of a failing run: its frames and names locate, too.
fn with_shown(run: &Run) -> Vec<Hint> {
    let shown = run.checks().iter().map(|check| Hint::FailingLog(failures(check)));
    run.hints().iter().cloned().chain(shown).collect()
}

/// Returns what failed when a check ran: tests say nothing else; of an example, what else it wrote is what the issue shows itself, or pages of a tool's.
fn failures(check: &BugCheck) -> String {
    let written = check.on_base.written();
    match check.source {
        CheckSource::Given { .. } | CheckSource::FailingTests { .. } => written,
        CheckSource::Issue { .. } | CheckSource::Written { .. } => {
            let lines: Vec<&str> = written.lines().collect();
            let shown = tracebacks(&written).into_iter();
            let shown = shown.map(|traceback| lines[traceback.lines].join("\n"));
            shown.collect::<Vec<_>>().join("\n\n")
        }
    }
}

/// Returns all tasks, a line each.
pub(crate) fn team(run: &Run) -> String {
    let line = |state: &TaskState| {
        let who = state
            .role
            .as_ref()
            .map(|role| format!(" [{}]", role.name))
            .unwrap_or_default();
        let task = &state.task;
        format!("{} {} ({}){who}: {}", task.id, task.path, task.action, task.description)
    };
    run.tasks().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the record of the meeting, a paragraph each.
pub(crate) fn record(run: &Run) -> String {
    let line = |speech: &magis_core::Speech| format!("{}: {}", speaker(run, speech.speaker), speech.text);
    run.meeting().iter().map(line).collect::<Vec<_>>().join("\n")
}

fn speaker(run: &Run, speaker: Speaker) -> String {
    match speaker {
        Speaker::Manager => "Manager".to_owned(),
        Speaker::Person => "The person who asked".to_owned(),
        Speaker::Developer(task) => {
            let role = run.task(task).and_then(|state| state.role.as_ref());
            role.map_or_else(
                || format!("Developer of {task}"),
                |role| format!("{} ({task})", role.name),
            )
        }
    }
}

/// Returns a Developer, as its prompts name it.
pub(crate) fn developer(state: &TaskState) -> Persona {
    let (name, focus) = match &state.role {
        Some(role) => (role.name.clone(), role.focus.clone()),
        None => ("the developer".to_owned(), String::new()),
    };
    whose(name, focus, &state.task)
}

/// Returns a QA Engineer, as its prompts name it.
pub(crate) fn reviewer(state: &TaskState) -> Persona {
    let (name, focus) = match &state.reviewer {
        Some(role) => (role.name.clone(), role.focus.clone()),
        None => ("the QA engineer".to_owned(), String::new()),
    };
    whose(name, focus, &state.task)
}

fn whose(name: String, focus: String, task: &FileTask) -> Persona {
    Persona {
        name,
        focus,
        task_id: task.id.to_string(),
        path: task.path.to_string(),
    }
}

/// Returns what was said against the rounds before this one, the last two of them.
pub(crate) fn objections(state: &TaskState, this: Round) -> Vec<String> {
    let before = state.rounds.iter().filter(|round| round.round < this);
    let said = before.filter_map(|round| {
        let attempt = round
            .best()
            .map(|(_, attempt)| attempt)
            .or_else(|| round.attempts.values().next_back())?;
        let objection = attempt.objection()?;
        Some(tried(attempt).map_or(objection.clone(), |tried| format!("{tried}\n{objection}")))
    });
    let all: Vec<String> = said.collect();
    all[all.len().saturating_sub(2)..].to_vec()
}

/// The most lines of an attempt that the next round is told.
const TRIED: usize = 4;

/// Returns the lines that an attempt wrote, where it was run and they are few.
fn tried(attempt: &Attempt) -> Option<String> {
    let FileChange::Modify { edits } = attempt.usable_change().filter(|_| attempt.tested.is_some())? else {
        return None;
    };
    let written: Vec<&str> = edits.iter().flat_map(|edit| edit.text.lines()).map(str::trim).collect();
    (1..=TRIED)
        .contains(&written.len())
        .then(|| format!("Tried: {}", written.join("\n")))
}

/// Returns what a call about a task is about.
pub(crate) fn about(state: &TaskState) -> CallContext {
    CallContext::task(state.task.id, &state.task.path)
}

/// Returns the file after a change; none where it is deleted.
pub(crate) fn after(base: &str, change: &FileChange) -> Option<String> {
    match change {
        FileChange::Modify { edits } | FileChange::Rename { edits, .. } => Edit::splice(base, edits).ok(),
        FileChange::Create { content } => Some(content.clone()),
        FileChange::Delete => None,
    }
}

/// Returns lines `span` of `text`, as they stand, with `\n` line ends.
pub(crate) fn lines(text: &str, span: LineSpan) -> String {
    let count = span.lines() as usize;
    let lines = text.lines().skip(span.first() as usize - 1).take(count);
    lines.fold(String::new(), |all, line| all + line + "\n")
}

/// Takes the indentation of the first line off all lines.
pub(crate) fn dedent(text: &str) -> String {
    let indent: String = text
        .lines()
        .next()
        .unwrap_or("")
        .chars()
        .take_while(|character| matches!(character, ' ' | '\t'))
        .collect();
    let strip = |line: &str| {
        line.strip_prefix(indent.as_str())
            .unwrap_or(line.trim_start())
            .to_owned()
    };
    text.lines()
        .map(strip)
        .fold(String::new(), |all, line| all + &line + "\n")
}

/// Returns the lines of `text`, from 1, that the issue quotes word for word: lines of code, not of prose, and only
/// while they stand in few places, because a line such as `return result` says nothing of where.
pub(crate) fn quoted_lines(issue: &str, text: &str) -> Vec<u32> {
    const FEW: usize = 3;
    const SHORTEST: usize = 10;
    let plain = |line: &str| {
        line.trim()
            .trim_start_matches(['>', '+', '-', ' '])
            .trim_matches('`')
            .trim()
            .to_owned()
    };
    let is_code = |line: &String| line.len() >= SHORTEST && line.contains(['(', '=', '[', '{']);
    let quoted: BTreeSet<String> = issue.lines().map(plain).filter(is_code).collect();
    let mut places: BTreeMap<&String, Vec<u32>> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(quote) = quoted.get(line.trim()) {
            places.entry(quote).or_default().push(number as u32 + 1);
        }
    }
    let mut lines: Vec<u32> = places
        .into_values()
        .filter(|lines| lines.len() <= FEW)
        .flatten()
        .collect();
    lines.sort_unstable();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_code_in_the_issue_is_found_where_it_stands() {
        let text = "def request(self, method):\n    method = builtin_str(method)\n    return method\n";
        let check = |issue: &str| quoted_lines(issue, text);
        assert_eq!(
            check("In sessions.py is a command:\n\nmethod = builtin_str(method)\nConverts it"),
            [2]
        );
        assert_eq!(check("> `method = builtin_str(method)`"), [2]);
        assert_eq!(check("It says return method"), [] as [u32; 0], "prose is no quotation");
        let often = "x = compute(y)\n".repeat(9);
        assert_eq!(
            quoted_lines("x = compute(y)", &often),
            [] as [u32; 0],
            "a line that stands everywhere says nothing"
        );
    }
}
