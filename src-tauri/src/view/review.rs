//! The patch of a run as a person reviews it, what they decide, and what became of it.

use magis_core::{ChangeTests, CheckAsTest, CheckId, FileChange, MergeResult, RepoPath, RunId, TaskId};
use magis_engine::repository::{
    Applied, Committer, Conflict, FilePatch, FilePatchKind, Hunk, HunkNumber, Patch, ProgramPurpose, RepositoryProgram,
};
use magis_engine::state::Run;
use magis_engine::{Application, ApplyTarget, Review};
use serde::{Deserialize, Serialize};
use specta::Type;
use std::path::PathBuf;

/// What a line of a hunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum DiffLineKind {
    Context,
    Added,
    Deleted,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct DiffLine {
    pub kind: DiffLineKind,
    /// Its number in the old file.
    pub old: Option<u32>,
    /// Its number in the new file.
    pub new: Option<u32>,
    /// Its text, without its sign and without the line's end.
    pub text: String,
}

/// A hunk, with the tasks it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct HunkView {
    /// Its number, from 1 over the whole patch.
    pub number: u32,
    /// What stands behind its line numbers.
    pub header: String,
    /// The first line in the old file.
    pub old_start: u32,
    /// How many lines of the old file.
    pub old_lines: u32,
    /// The first line in the new file.
    pub new_start: u32,
    /// How many lines of the new file.
    pub new_lines: u32,
    /// Its lines.
    pub lines: Vec<DiffLine>,
    /// The tasks whose edits it shows.
    pub tasks: Vec<TaskId>,
}

/// What happens to a file as such.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum FileDiffKind {
    Modified,
    Added,
    Deleted,
    Renamed,
}

/// What the patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct FileDiff {
    /// The file; after a move, its new path.
    pub path: String,
    /// The path before a move.
    pub old_path: Option<String>,
    /// What happens to it as such.
    pub kind: FileDiffKind,
    /// Whether it is binary, so that its hunk shows nothing.
    pub binary: bool,
    /// Lines added.
    pub added: u32,
    /// Lines deleted.
    pub deleted: u32,
    /// Its hunks, at least one.
    pub hunks: Vec<HunkView>,
}

/// The patch of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct PatchView {
    pub files: Vec<FileDiff>,
    /// The drafted commit message.
    pub commit_message: String,
    /// The drafted pull-request text.
    pub pull_request: String,
    /// A name for a branch.
    pub branch: String,
    /// The tests that can be added.
    pub tests: Vec<OfferedTestView>,
}

/// A program that a repository names and that git would run for a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct ProgramView {
    pub purpose: ProgramPurposeView,
    /// A hook's name, or a key of the configuration.
    pub named_by: String,
    /// A file, or what a shell is given.
    pub program: String,
    /// What tells this program from what it is after a change; none where it cannot be read.
    pub content: Option<String>,
}

/// What git runs a program for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum ProgramPurposeView {
    CommitMessage,
    Signing,
}

/// What a person decided about a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct DecidedProgramView {
    pub program: ProgramView,
    /// Whether it is run; else the commit is made without it.
    pub run: bool,
}

impl From<RepositoryProgram> for ProgramView {
    fn from(program: RepositoryProgram) -> Self {
        Self {
            purpose: match program.purpose {
                ProgramPurpose::CommitMessage => ProgramPurposeView::CommitMessage,
                ProgramPurpose::Signing => ProgramPurposeView::Signing,
            },
            named_by: program.named_by,
            program: program.program,
            content: program.content,
        }
    }
}

impl From<ProgramView> for RepositoryProgram {
    fn from(program: ProgramView) -> Self {
        Self {
            purpose: match program.purpose {
                ProgramPurposeView::CommitMessage => ProgramPurpose::CommitMessage,
                ProgramPurposeView::Signing => ProgramPurpose::Signing,
            },
            named_by: program.named_by,
            program: program.program,
            content: program.content,
        }
    }
}

/// A check as a test that can be added to the patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct OfferedTestView {
    pub check: CheckId,
    /// Where the file is put; nothing lies there yet.
    pub path: String,
    /// All that stands in the file.
    pub text: String,
}

impl From<&CheckAsTest> for OfferedTestView {
    fn from(test: &CheckAsTest) -> Self {
        Self {
            check: test.check,
            path: test.path.to_string(),
            text: test.text.clone(),
        }
    }
}

impl PatchView {
    /// Returns the patch of the run with this state, and the tests that it offers.
    pub fn new(run: RunId, state: &Run, merged: &MergeResult, patch: &Patch) -> Self {
        let tested = state.patch_tests().into_iter();
        Self {
            files: patch.files.iter().map(|file| file_diff(file, state)).collect(),
            commit_message: merged.commit_message.clone(),
            pull_request: merged.pull_request.clone(),
            branch: branch_name(run, state.request().issue.title()),
            tests: tested.flat_map(ChangeTests::offered_tests).map(Into::into).collect(),
        }
    }
}

/// `magis/17-empty-report-fails`: the run and the first words of the issue's title.
fn branch_name(run: RunId, title: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            ' '
        }
    };
    let title: String = title.chars().map(plain).collect();
    let words: Vec<&str> = title.split_whitespace().take(5).collect();
    if words.is_empty() {
        format!("magis/{run}")
    } else {
        format!("magis/{run}-{}", words.join("-"))
    }
}

fn file_diff(file: &FilePatch, state: &Run) -> FileDiff {
    let hunks: Vec<HunkView> = file.hunks.iter().map(|hunk| hunk_view(hunk, file, state)).collect();
    let count = |kind| {
        hunks
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .filter(|line| line.kind == kind)
            .count() as u32
    };
    FileDiff {
        path: file.path.to_string(),
        old_path: match &file.kind {
            FilePatchKind::Rename { from } => Some(from.to_string()),
            FilePatchKind::Modify | FilePatchKind::Create | FilePatchKind::Delete => None,
        },
        kind: match &file.kind {
            FilePatchKind::Modify => FileDiffKind::Modified,
            FilePatchKind::Create => FileDiffKind::Added,
            FilePatchKind::Delete => FileDiffKind::Deleted,
            FilePatchKind::Rename { .. } => FileDiffKind::Renamed,
        },
        binary: file.is_binary(),
        added: count(DiffLineKind::Added),
        deleted: count(DiffLineKind::Deleted),
        hunks,
    }
}

fn hunk_view(hunk: &Hunk, file: &FilePatch, state: &Run) -> HunkView {
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    let mut lines = Vec::with_capacity(hunk.lines.len());
    for line in &hunk.lines {
        let (sign, text) = line.split_at_checked(1).unwrap_or((" ", ""));
        let (kind, in_old, in_new) = match sign {
            "+" => (DiffLineKind::Added, 0, 1),
            "-" => (DiffLineKind::Deleted, 1, 0),
            // Git's word that the file ends without a line's end is no line of it.
            "\\" => continue,
            _ => (DiffLineKind::Context, 1, 1),
        };
        lines.push(DiffLine {
            kind,
            old: (in_old == 1).then_some(old),
            new: (in_new == 1).then_some(new),
            text: text.to_owned(),
        });
        old += in_old;
        new += in_new;
    }
    HunkView {
        number: hunk.number.0,
        header: hunk.section.trim().to_owned(),
        old_start: hunk.old_start,
        old_lines: hunk.old_lines,
        new_start: hunk.new_start,
        new_lines: hunk.new_lines,
        lines,
        tasks: tasks_of(hunk, file, state),
    }
}

/// Returns the tasks whose change of this file touches the lines of the hunk.
fn tasks_of(hunk: &Hunk, file: &FilePatch, state: &Run) -> Vec<TaskId> {
    let behind = hunk.old_start + hunk.old_lines;
    let touches = |change: &FileChange| match change {
        FileChange::Create { .. } | FileChange::Delete => true,
        FileChange::Modify { edits } | FileChange::Rename { edits, .. } => {
            edits.is_empty()
                || edits
                    .iter()
                    .any(|edit| edit.span.first() <= behind && edit.span.last() >= hunk.old_start)
        }
    };
    let is_of = |path: &RepoPath| path == file.old_path() || *path == file.path;
    state
        .tasks()
        .filter(|task| is_of(&task.task.path))
        .filter(|task| task.accepted_change().is_some_and(|(_, change)| touches(change)))
        .map(|task| task.task.id)
        .collect()
}

/// A file before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct FileTexts {
    /// In the base; none where it is not there, no text, or not on this machine.
    pub before: Option<String>,
    /// In the result; likewise.
    pub after: Option<String>,
}

/// What a person decided on a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum HunkDecision {
    Accepted,
    /// It is left out.
    Rejected,
}

/// A decision and its hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct HunkChoice {
    pub hunk: u32,
    pub decision: HunkDecision,
}

/// How far the review of a file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct FileReview {
    /// The file; after a move, its new path.
    pub path: String,
    /// Whether it was looked at.
    pub seen: bool,
    /// What was decided on its hunks. A hunk without a decision is left out.
    pub decisions: Vec<HunkChoice>,
    /// The whole file as the person rewrote it; it stands in place of the hunks.
    pub edited: Option<String>,
}

/// How far a review is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
pub struct ReviewState {
    /// The files that were looked at.
    pub files: Vec<FileReview>,
    /// The commit message as the person rewrote it.
    pub commit_message: Option<String>,
    /// The pull-request text as the person rewrote it.
    pub pull_request: Option<String>,
    /// The checks whose tests are added.
    #[serde(default)]
    pub tests: Vec<CheckId>,
}

impl TryFrom<ReviewState> for Review {
    type Error = magis_core::PathError;

    fn try_from(state: ReviewState) -> Result<Self, Self::Error> {
        let mut review = Self {
            commit_message: state.commit_message.filter(|message| !message.trim().is_empty()),
            tests: state.tests.into_iter().collect(),
            ..Self::default()
        };
        for file in state.files {
            let accepted = file
                .decisions
                .iter()
                .filter(|choice| choice.decision == HunkDecision::Accepted)
                .map(|choice| HunkNumber(choice.hunk));
            review.accepted.extend(accepted);
            if let Some(text) = file.edited {
                review.edited.insert(RepoPath::new(file.path)?, text);
            }
        }
        Ok(review)
    }
}

/// Where the accepted part goes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ApplyRequest {
    /// Into the files of the work tree.
    Worktree,
    /// Onto a new branch, as one commit.
    Branch {
        name: String,
        /// Who commits; none: whom git's configuration names.
        identity: Option<Identity>,
    },
    /// Into a patch file.
    PatchFile { path: String },
}

/// The person under whose name a commit is made.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, Type)]
pub struct Identity {
    pub name: String,
    pub email: String,
}

impl From<ApplyRequest> for ApplyTarget {
    fn from(request: ApplyRequest) -> Self {
        match request {
            ApplyRequest::Worktree => Self::Worktree,
            ApplyRequest::Branch { name, identity } => Self::Branch {
                name,
                identity: identity.map(|Identity { name, email }| Committer { name, email }),
            },
            ApplyRequest::PatchFile { path } => Self::PatchFile(PathBuf::from(path)),
        }
    }
}

/// Where the accepted part does not fit the work tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct ConflictView {
    pub path: String,
    /// The line of the file as it is now.
    pub line: Option<u32>,
    pub reason: String,
}

impl From<Conflict> for ConflictView {
    fn from(conflict: Conflict) -> Self {
        Self {
            path: conflict.path.to_string(),
            line: Some(conflict.line),
            reason: conflict.reason.to_string(),
        }
    }
}

/// Where a patch went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum AppliedKind {
    /// Into the work tree.
    Worktree,
    Branch,
    /// Into a patch file.
    PatchFile,
}

/// What was applied, where to, and whether it can be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct AppliedView {
    pub kind: AppliedKind,
    /// The branch, the file, or how many files of the work tree.
    pub name: String,
    /// When, in milliseconds since 1970; 0 where that was not noted.
    pub at_ms: i64,
    /// What a commit by hand would have done and this one did not.
    pub notes: Vec<String>,
    /// Whether everything is still as it was left, so that it can be taken back.
    pub undoable: bool,
}

impl AppliedView {
    /// Creates an application, and whether it can be taken back.
    pub fn new(application: &Application, undoable: bool) -> Self {
        let (kind, name, notes) = match &application.applied {
            Applied::Worktree { files, .. } => (AppliedKind::Worktree, files.len().to_string(), Vec::new()),
            Applied::Branch { name, skipped, .. } => (AppliedKind::Branch, name.clone(), skipped.clone()),
        };
        Self {
            kind,
            name,
            at_ms: application.at_ms,
            notes,
            undoable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_that_was_kept_before_tests_could_be_added_is_read() {
        let kept = r#"{"files": [], "commit_message": null, "pull_request": null}"#;
        let read: ReviewState = serde_json::from_str(kept).unwrap();
        assert_eq!(read, ReviewState::default());
    }

    #[test]
    fn a_branch_is_named_after_the_run_and_the_title() {
        assert_eq!(
            branch_name(RunId(17), "Report: fails, when `empty`!"),
            "magis/17-report-fails-when-empty"
        );
        assert_eq!(branch_name(RunId(17), "报告为空"), "magis/17");
    }
}
