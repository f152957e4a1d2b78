//! A person takes a run's patch: into the work tree, onto a branch, or as a file; and takes that back.

use crate::evidence::ScratchFolder;
use crate::{EngineError, Magis, write_whole};
use magis_core::{ChangeTests, CheckAsTest, CheckId, Edit, FileChange, LineSpan, MergeResult, RepoPath, RunId, text};
use magis_platform::now_ms;
use magis_repo::{
    Applied, BranchCommit, Committer, Conflict, FilePatch, FilePatchKind, HunkNumber, Patch, RepoError, Repository,
    Selection, Snapshot, apply_changes, can_undo, conflicts, plan_branch, plan_worktree, undo,
};
use magis_store::ApplyDirection;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Where the patch goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApplyTarget {
    /// The files of the work tree.
    Worktree,
    /// A new branch with one commit; work tree and index stay as they are.
    Branch {
        name: String,
        /// Who commits; none: whom git's configuration names.
        identity: Option<Committer>,
    },
    /// A patch file, for `git apply` or `git am`'s kin.
    PatchFile(PathBuf),
}

/// What was applied, or taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppliedRun {
    /// Work tree or branch.
    Repository(Applied),
    /// A file was written.
    PatchFile(PathBuf),
}

/// What a person made of a run's patch: which hunks, which files as they rewrote them, and which tests beside it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Review {
    /// The hunks that are accepted.
    pub accepted: BTreeSet<HunkNumber>,
    /// Whole files as the person wants them; their hunks do not count. After a move, under the new path.
    pub edited: BTreeMap<RepoPath, String>,
    /// The checks whose tests are added, as [`Magis::offered_tests`] has them.
    pub tests: BTreeSet<CheckId>,
    /// The commit message; none: the drafted one.
    pub commit_message: Option<String>,
}

/// The last application of a run's patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Application {
    #[serde(flatten)]
    pub applied: Applied,
    /// When, in milliseconds since the epoch.
    #[serde(default)]
    pub at_ms: i64,
}

impl Magis {
    /// Returns the merged change of a run.
    ///
    /// # Errors
    /// When the run has no merged change, or the database cannot be read.
    pub fn merged(&self, run: RunId) -> Result<MergeResult, EngineError> {
        let merged = self.state(run)?.merged().cloned();
        merged
            .filter(|result| !result.patch.is_empty())
            .ok_or(EngineError::NoPatch(run))
    }

    /// Applies the selected hunks of a run's patch. Refuses on conflict, and touches nothing else.
    ///
    /// # Errors
    /// When the change does not fit, the repository cannot be written, or the database cannot be written.
    pub fn apply(&self, run: RunId, target: ApplyTarget, selection: &Selection) -> Result<AppliedRun, EngineError> {
        self.apply_review(run, target, &self.selected(run, selection)?)
    }

    /// Returns the review that accepts the selected hunks of a run's patch, and nothing else.
    ///
    /// # Errors
    /// When the run has no merged change, or no such hunks.
    pub fn selected(&self, run: RunId, selection: &Selection) -> Result<Review, EngineError> {
        let patch = Self::parse(run, &self.merged(run)?, selection)?.select(selection);
        let hunks = patch.files.iter().flat_map(|file| &file.hunks);
        Ok(Review {
            accepted: hunks.map(|hunk| hunk.number).collect(),
            ..Review::default()
        })
    }

    /// Applies what a person accepted, rewrote and added. Refuses on conflict, and touches nothing else.
    ///
    /// # Errors
    /// When what was accepted does not fit, or the repository or the database cannot be written.
    pub fn apply_review(&self, run: RunId, target: ApplyTarget, review: &Review) -> Result<AppliedRun, EngineError> {
        let patch = self.reviewed(run, review)?;
        let message = match &review.commit_message {
            Some(message) => message.clone(),
            None => self.merged(run)?.commit_message,
        };
        self.apply_patch(run, target, &patch, message)
    }

    /// Returns where what a person accepted, rewrote and added does not fit the work tree as it is.
    ///
    /// # Errors
    /// When the run has no merged change, or the repository cannot be read.
    pub fn review_conflicts(&self, run: RunId, review: &Review) -> Result<Vec<Conflict>, EngineError> {
        let patch = self.reviewed(run, review)?;
        Ok(conflicts(&self.repository_of(run)?, &patch)?)
    }

    /// Returns the last application of a run's patch; none where there was none, or it was taken back.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn applied(&self, run: RunId) -> Result<Option<Application>, EngineError> {
        Ok(self.store.application(run)?)
    }

    /// Returns whether [`Magis::undo`] would find everything as the application left it.
    ///
    /// # Errors
    /// When the repository or the database cannot be read.
    pub fn can_undo(&self, run: RunId) -> Result<(), EngineError> {
        let application = self.applied(run)?.ok_or(EngineError::NotApplied(run))?;
        Ok(can_undo(&self.repository_of(run)?, &application.applied)?)
    }

    fn apply_patch(
        &self,
        run: RunId,
        target: ApplyTarget,
        patch: &Patch,
        message: String,
    ) -> Result<AppliedRun, EngineError> {
        if patch.files.is_empty() {
            return Err(RepoError::NothingSelected.into());
        }
        // What was broken off before would look like a change of the person's.
        self.settle_applications()?;
        let commit = match target {
            ApplyTarget::PatchFile(path) => {
                write_whole(&path, |to| write!(to, "{patch}")).map_err(EngineError::io("write", &path))?;
                return Ok(AppliedRun::PatchFile(path));
            }
            ApplyTarget::Worktree => None,
            ApplyTarget::Branch { name, identity } => Some(BranchCommit {
                branch: name,
                message,
                identity,
                programs: self.decided_programs(self.repository_id_of(run)?)?,
            }),
        };
        self.refuse_unnamed(run)?;
        let repository = self.repository_of(run)?;
        let plan = match &commit {
            Some(commit) => {
                let scratch = ScratchFolder::create(&self.data)?;
                let base = self.state(run)?.base().clone();
                plan_branch(&repository, &base, patch, &Selection::All, commit, scratch.path())?
            }
            None => plan_worktree(&repository, patch, &Selection::All)?,
        };
        let application = Application {
            applied: plan.applied().clone(),
            at_ms: now_ms(),
        };
        let applied = self.journalled(run, ApplyDirection::Apply, &application, || plan.carry_out())?;
        Ok(AppliedRun::Repository(applied))
    }

    /// Returns the patch that a review makes of a run's patch: its accepted hunks, for a rewritten file the difference between the base and what the
    /// person wrote, and each test that is added as a new file.
    ///
    /// # Errors
    /// When the run has no merged change, or what was accepted, rewritten or added does not fit it.
    pub fn reviewed(&self, run: RunId, review: &Review) -> Result<Patch, EngineError> {
        let all = Selection::Hunks {
            numbers: review.accepted.clone(),
        };
        let patch = Self::parse(run, &self.merged(run)?, &all)?;
        let kept = patch
            .files
            .iter()
            .filter(|file| !review.edited.contains_key(&file.path))
            .flat_map(|file| file.hunks.iter().map(|hunk| hunk.number))
            .filter(|number| review.accepted.contains(number))
            .collect();
        let mut text = patch.select(&Selection::Hunks { numbers: kept }).to_string();
        if !review.edited.is_empty() {
            text.push_str(&self.rewritten(run, &patch, review)?);
        }
        if !review.tests.is_empty() {
            text.push_str(&self.added(run, &review.tests)?);
        }
        Patch::parse(&text).map_err(unreadable(run))
    }

    /// Returns the patch of the files that a person rewrote.
    fn rewritten(&self, run: RunId, patch: &Patch, review: &Review) -> Result<String, EngineError> {
        let snapshot = self.base_of(run)?;
        let mut changes = Vec::new();
        for (path, text) in &review.edited {
            let missing = || EngineError::Patch {
                run,
                why: format!("it has no file {path}"),
            };
            let file = patch.files.iter().find(|file| file.path == *path).ok_or_else(missing)?;
            changes.push((file.old_path().clone(), rewrite(run, &snapshot, file, text)?));
        }
        Ok(apply_changes(&snapshot, &changes)?.1)
    }

    /// Returns the patch of the tests that a person adds.
    fn added(&self, run: RunId, tests: &BTreeSet<CheckId>) -> Result<String, EngineError> {
        let offered = self.offered_tests(run)?;
        let mut changes = Vec::new();
        for check in tests {
            let missing = || EngineError::Patch {
                run,
                why: format!("its check {check} offers no test that could be added"),
            };
            let test = offered.iter().find(|test| test.check == *check).ok_or_else(missing)?;
            let content = test.text.clone();
            changes.push((test.path.clone(), FileChange::Create { content }));
        }
        Ok(apply_changes(&self.base_of(run)?, &changes)?.1)
    }

    /// Returns the tests that can be added to the patch of a run: its checks as tests of the project that fail without the patch and pass with it.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn offered_tests(&self, run: RunId) -> Result<Vec<CheckAsTest>, EngineError> {
        let state = self.state(run)?;
        let tested = state.patch_tests().into_iter();
        Ok(tested.flat_map(ChangeTests::offered_tests).cloned().collect())
    }

    fn base_of(&self, run: RunId) -> Result<Snapshot, EngineError> {
        let repo = self.repository_id_of(run)?;
        Ok(Snapshot::reopen(
            &self.git,
            self.object_folder(repo)?,
            self.state(run)?.base(),
        )?)
    }

    /// Returns where the selected hunks of a run's patch do not fit the work tree as it is.
    ///
    /// # Errors
    /// When the run has no merged change, or the repository cannot be read.
    pub fn conflicts(&self, run: RunId, selection: &Selection) -> Result<Vec<Conflict>, EngineError> {
        let patch = Self::parse(run, &self.merged(run)?, selection)?;
        Ok(conflicts(&self.repository_of(run)?, &patch.select(selection))?)
    }

    /// Takes the last application of a run's patch back; only while the files or the branch are as it left them.
    ///
    /// # Errors
    /// When nothing was applied, it was changed since, or the repository cannot be written.
    pub fn undo(&self, run: RunId) -> Result<AppliedRun, EngineError> {
        self.settle_applications()?;
        let application = self.applied(run)?.ok_or(EngineError::NotApplied(run))?;
        let repository = self.repository_of(run)?;
        let back = || undo(&repository, &application.applied);
        self.journalled(run, ApplyDirection::Undo, &application, back)?;
        Ok(AppliedRun::Repository(application.applied))
    }

    fn parse(run: RunId, merged: &MergeResult, selection: &Selection) -> Result<Patch, EngineError> {
        let patch = Patch::parse(&merged.patch).map_err(unreadable(run))?;
        let count = patch.hunk_count();
        if let Selection::Hunks { numbers } = selection
            && let Some(missing) = numbers.iter().find(|number| number.0 == 0 || number.0 > count)
        {
            return Err(EngineError::Patch {
                run,
                why: format!(
                    "it has {} and no hunk {}",
                    text::count(count as usize, "hunk"),
                    missing.0
                ),
            });
        }
        Ok(patch)
    }

    pub(super) fn repository_of(&self, run: RunId) -> Result<Repository, EngineError> {
        let repo = self.repository_id_of(run)?;
        let root = self.store.repository(repo)?.root;
        if !Path::new(&root).exists() {
            return Err(EngineError::RepositoryGone { run, root });
        }
        Ok(self.git.open(&root)?)
    }
}

/// Returns the change that makes a file of the base what a person wrote.
fn rewrite(run: RunId, snapshot: &Snapshot, file: &FilePatch, text: &str) -> Result<FileChange, EngineError> {
    if file.kind == FilePatchKind::Create {
        return Ok(FileChange::Create {
            content: text.to_owned(),
        });
    }
    let lines = snapshot.read(file.old_path())?.text.split_inclusive('\n').count();
    let span = LineSpan::new(1, u32::try_from(lines).unwrap_or(u32::MAX)).map_err(|_| EngineError::Patch {
        run,
        why: format!(
            "{} is empty in the base, and its lines cannot be rewritten",
            file.old_path()
        ),
    })?;
    let edits = vec![Edit {
        span,
        text: text.to_owned(),
    }];
    Ok(match &file.kind {
        FilePatchKind::Rename { .. } => FileChange::Rename {
            to: file.path.clone(),
            edits,
        },
        FilePatchKind::Modify | FilePatchKind::Create | FilePatchKind::Delete => FileChange::Modify { edits },
    })
}

fn unreadable(run: RunId) -> impl Fn(magis_repo::PatchError) -> EngineError {
    move |error| EngineError::Patch {
        run,
        why: error.to_string(),
    }
}
