//! Whole repositories, changed somewhere: whatever they hold, each question about them is answered in time or the git worker is lost alone, nothing outside of
//! them is written, and inside nothing but the files of an applied patch.

mod change;
mod folder;
mod locate;
mod objects;
mod overdue;
mod pack;
mod seeds;

use super::git_answers::told;
use super::{CaseOutcome, FuzzTarget, Reading};
use anyhow::{Context as _, Result};
use change::Changer;
use folder::Folder;
use locate::locate;
use magis_core::{CommitId, RepoPath};
use magis_repo::{
    BaseChoice, Git, ObjectStore, Patch, PlannedChange, ReadError, Repository, Selection, Snapshot, WorkTree,
    conflicts, plan_worktree,
};
use overdue::Overdue;
use seeds::Seed;
use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// So many files of a snapshot are read.
const MOST_READ: usize = 12;
/// After so many inputs a sound repository is asked, which has to answer.
const SOUND_EVERY: u64 = 64;

/// What is asked about each repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Whatever is read of one; and a patch is applied.
    Everything,
    /// Where the files of an issue are.
    Locate,
}

pub(super) struct RepositoryTarget {
    asked: Asked,
    seeds: Vec<Ground>,
    store: PathBuf,
    git: Git,
    patch: Patch,
    /// The files and folders that the patch touches, below the root of a work tree.
    touched: BTreeSet<PathBuf>,
    overdue: Overdue,
    inputs: u64,
}

/// One sound repository on the disk, changed and brought back again and again.
struct Ground {
    seed: Seed,
    folder: Folder,
    /// Asked again and again, as a program that runs for days does it.
    repository: Option<Repository>,
}

impl RepositoryTarget {
    pub(super) fn open(place: &Path, reading: &Reading, asked: Asked) -> Result<Self> {
        let grounds = place.join("grounds");
        if grounds.exists() {
            fs::remove_dir_all(&grounds)?;
        }
        let seeds = seeds::make(&grounds).context("making repositories with the program 'git'")?;
        let ground = |seed: Seed| {
            Ok(Ground {
                folder: Folder::read(&seed.ground)?,
                seed,
                repository: None,
            })
        };
        let patch = Patch::parse(&seeds::patch()).context("reading our own patch")?;
        let mut touched = BTreeSet::new();
        for file in &patch.files {
            for path in [file.path.as_str(), file.old_path().as_str()] {
                touched.extend(Path::new(path).ancestors().map(Path::to_owned));
            }
        }
        touched.remove(Path::new(""));
        Ok(Self {
            asked,
            seeds: seeds.into_iter().map(ground).collect::<Result<_>>()?,
            store: place.join("store"),
            git: reading.git(),
            patch,
            touched,
            overdue: Overdue::watch(matches!(reading, Reading::InWorkers(_)))?,
            inputs: 0,
        })
    }

    /// Asks a repository that nothing was done to.
    fn ask_a_sound_one(&mut self) {
        let Some(ground) = self.seeds.first() else { return };
        let state = self
            .git
            .open(&ground.seed.root)
            .and_then(|repository| repository.state());
        assert!(state.is_ok(), "a sound repository does not answer: {state:?}");
    }
}

impl FuzzTarget for RepositoryTarget {
    fn seeds(&mut self) -> Vec<Vec<u8>> {
        // Each repository as it is, and changes of every kind spread over them.
        let count = self.seeds.len() as u8;
        let mut inputs: Vec<Vec<u8>> = (0..count).map(|seed| vec![seed, 0]).collect();
        inputs.extend((0..16).map(|kind| vec![kind % count, 0, kind, 0, kind, 1, 2, 3, 4]));
        inputs
    }

    fn run(&mut self, input: &[u8]) -> CaseOutcome {
        let mut outcome = CaseOutcome::default();
        self.inputs += 1;
        if self.inputs.is_multiple_of(SOUND_EVERY) {
            self.ask_a_sound_one();
        }
        let (first, rest) = input.split_first().unwrap_or((&0, &[]));
        let number = usize::from(*first) % self.seeds.len();
        let Some(ground) = self.seeds.get_mut(number) else {
            return outcome;
        };
        let (flags, rest) = rest.split_first().unwrap_or((&0, &[]));
        let mut changer = Changer::of(&ground.folder, &ground.seed);
        changer.change(rest);
        let changes = changer.finish();
        ground.folder.change(&changes);

        let _in_time = self.overdue.begin();
        // What is asked of one that was opened before, and of one that is opened now.
        let opened = match ground.repository.take().filter(|_| flags % 4 != 0) {
            Some(repository) => Some(repository),
            None => told(&mut outcome, "open", self.git.open(&ground.seed.root)),
        };
        if let Some(repository) = opened {
            // One that is new, since git's objects may be kept open by who reads them.
            if self.store.exists() {
                fs::remove_dir_all(&self.store).expect("the folder of the target can be written");
            }
            match self.asked {
                Asked::Everything => {
                    ask(&repository, &self.store, &ground.seed.head, &mut outcome);
                    apply(&repository, &self.patch, &mut outcome);
                }
                Asked::Locate => locate(&repository, &self.store, &mut outcome),
            }
            ground.repository = Some(repository);
        }
        let touched = |path: &Path| {
            path.strip_prefix(&ground.seed.work_tree)
                .is_ok_and(|inside| self.touched.contains(inside))
        };
        let written = ground.folder.bring_back(&changes, &touched);
        assert!(written.is_empty(), "written beside the files of the patch: {written:?}");
        outcome
    }
}

fn apply(repository: &Repository, patch: &Patch, outcome: &mut CaseOutcome) {
    if let Some(found) = told(outcome, "conflicts", conflicts(repository, patch)) {
        outcome.say_count("conflicts", found.len());
    }
    let applied = plan_worktree(repository, patch, &Selection::All).and_then(PlannedChange::carry_out);
    told(outcome, "applied", applied);
}

/// Asks for everything that is read of a repository.
fn ask(repository: &Repository, store: &Path, head: &str, outcome: &mut CaseOutcome) {
    if let Some(state) = told(outcome, "state", repository.state()) {
        outcome.say(format!("{:?}", state.cleanliness));
        outcome.say(format!("{:?}", std::mem::discriminant(&state.head)));
    }
    told(outcome, "head", repository.head_place());
    if let Some(branches) = told(outcome, "branches", repository.branches()) {
        outcome.say_count("branches", branches.len());
    }
    told(
        outcome,
        "commits since",
        repository.commits_since(&CommitId(head.to_owned())),
    );
    told(outcome, "built", repository.built_files());
    if let Some(work) = told(outcome, "work tree", WorkTree::read(repository)) {
        outcome.say_count("files", work.files().len());
        outcome.say_count("uncommitted", work.uncommitted().len());
    }
    let Some(store) = told(outcome, "store", ObjectStore::open(store, repository)) else {
        return;
    };
    for choice in [BaseChoice::Head, BaseChoice::HeadWithUncommitted] {
        let Some(snapshot) = told(outcome, "snapshot", Snapshot::take(repository, &store, &choice)) else {
            continue;
        };
        for note in snapshot.notes() {
            outcome.say(note);
        }
        let Some((files, skipped)) = told(outcome, "listed", snapshot.files()) else {
            continue;
        };
        outcome.say_count("listed", files.len());
        for one in &skipped {
            outcome.say(format!("skipped: {:?}", one.reason));
        }
        for file in files.iter().take(MOST_READ) {
            match snapshot.read(&file.path) {
                Err(ReadError::Repo(error)) => drop(told::<()>(outcome, "read", Err(error))),
                read => drop(outcome.say_result("read", read)),
            }
        }
        if choice == BaseChoice::Head {
            look_back(&snapshot, outcome);
        }
    }
}

fn look_back(snapshot: &Snapshot, outcome: &mut CaseOutcome) {
    let walked = snapshot.past(20, |_| false, |_| ControlFlow::Continue(()));
    let Some(walked) = told(outcome, "past", walked) else {
        return;
    };
    outcome.say_count("commits", walked.commits.len());
    outcome.say(format!("complete: {}", walked.complete));
    let path = RepoPath::new("a.py").expect("a plain name is a path");
    for commit in walked.commits.iter().take(2) {
        told(outcome, "changed by", snapshot.changed_by(commit, &path));
    }
}
