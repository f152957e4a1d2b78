//! The patch of a run: looking at it, keeping what a person decided, applying that and taking it back.

use super::runs::applied;
use crate::problem::Problem;
use crate::state::{App, AppEvent};
use crate::view::{
    AppliedKind, AppliedView, ApplyRequest, ConflictView, DecidedProgramView, FileTexts, PatchView, ProgramView,
    ReviewState,
};
use magis_core::{MergeResult, RepoId, RepoPath, RunId};
use magis_engine::AppliedRun;
use magis_engine::repository::{DecidedProgram, FilePatchKind, Patch, ProgramDecision, RepositoryProgram};
use magis_platform::now_ms;

impl App {
    /// Returns the patch of a run.
    pub fn patch(&self, run: RunId) -> Result<PatchView, Problem> {
        let (merged, patch) = self.parsed(run)?;
        Ok(PatchView::new(run, &self.magis()?.state(run)?, &merged, &patch))
    }

    /// Returns a file of the patch before and after.
    pub fn file_texts(&self, run: RunId, path: &str) -> Result<FileTexts, Problem> {
        let path = RepoPath::new(path)?;
        let texts = self.magis()?.texts(run)?;
        let (_, patch) = self.parsed(run)?;
        let file = patch.files.iter().find(|file| file.path == path);
        let old = file.map_or(&path, |file| file.old_path());
        let is_new = file.is_some_and(|file| file.kind == FilePatchKind::Create);
        let is_gone = file.is_some_and(|file| file.kind == FilePatchKind::Delete);
        Ok(FileTexts {
            before: if is_new { None } else { texts.before(old) },
            after: if is_gone { None } else { texts.after(&path) },
        })
    }

    /// Returns how far the review of a run is.
    pub fn review(&self, run: RunId) -> Result<ReviewState, Problem> {
        let kept: Option<serde_json::Value> = self.magis()?.review(run)?;
        let read = kept.and_then(|value| serde_json::from_value(value).ok());
        Ok(read.unwrap_or_default())
    }

    /// Keeps how far a review is.
    pub fn save_review(&self, run: RunId, review: &ReviewState) -> Result<(), Problem> {
        Ok(self.magis()?.put_review(run, review, now_ms())?)
    }

    /// Returns where what a person accepted does not fit the working tree as it is.
    pub fn conflicts(&self, run: RunId, review: ReviewState) -> Result<Vec<ConflictView>, Problem> {
        let found = self.magis()?.review_conflicts(run, &review.try_into()?)?;
        Ok(found.into_iter().map(Into::into).collect())
    }

    /// Applies what a person accepted. Refuses on conflict, and touches nothing else.
    pub fn apply(&self, run: RunId, review: ReviewState, request: ApplyRequest) -> Result<AppliedView, Problem> {
        let magis = self.magis()?;
        let done = magis.apply_review(run, request.into(), &review.try_into()?)?;
        let view = match done {
            AppliedRun::PatchFile(path) => AppliedView {
                kind: AppliedKind::PatchFile,
                name: path.display().to_string(),
                at_ms: now_ms(),
                notes: Vec::new(),
                undoable: false,
            },
            AppliedRun::Repository(_) => applied(&magis, run)?.ok_or(magis_engine::EngineError::NotApplied(run))?,
        };
        self.notify(AppEvent::Runs(Some(run)));
        self.notify(AppEvent::Repositories);
        Ok(view)
    }

    /// Returns the programs that a run's repository names, that git would run for a commit, and that nobody decided about.
    pub fn undecided_programs(&self, run: RunId) -> Result<Vec<ProgramView>, Problem> {
        let programs = self.magis()?.undecided_programs(run)?;
        Ok(programs.into_iter().map(Into::into).collect())
    }

    /// Remembers whether programs that a run's repository names are run.
    pub fn decide_programs(&self, run: RunId, programs: Vec<ProgramView>, allowed: bool) -> Result<(), Problem> {
        let programs: Vec<RepositoryProgram> = programs.into_iter().map(Into::into).collect();
        let decision = if allowed {
            ProgramDecision::Run
        } else {
            ProgramDecision::LeaveOut
        };
        Ok(self.magis()?.decide_programs(run, &programs, decision)?)
    }

    /// Returns what was decided about programs that a repository names.
    pub fn decided_programs(&self, repo: RepoId) -> Result<Vec<DecidedProgramView>, Problem> {
        let decided = self.magis()?.decided_programs(repo)?.into_iter();
        let view = |decided: DecidedProgram| DecidedProgramView {
            program: decided.program.into(),
            run: decided.decision == ProgramDecision::Run,
        };
        Ok(decided.map(view).collect())
    }

    /// Forgets what was decided about programs that a repository names, so that it is asked again.
    pub fn forget_decided_programs(&self, repo: RepoId) -> Result<(), Problem> {
        self.magis()?.forget_decided_programs(repo)?;
        Ok(())
    }

    /// Takes the last application back, where everything is still as it was left.
    pub fn undo_apply(&self, run: RunId) -> Result<(), Problem> {
        self.magis()?.undo(run)?;
        self.notify(AppEvent::Runs(Some(run)));
        self.notify(AppEvent::Repositories);
        Ok(())
    }

    fn parsed(&self, run: RunId) -> Result<(MergeResult, Patch), Problem> {
        let merged = self.magis()?.merged(run)?;
        let patch = Patch::parse(&merged.patch)?;
        Ok((merged, patch))
    }
}
