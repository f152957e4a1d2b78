//! The program's side: starts the helper, gives it the job, reads what the command prints and what became of it.

use crate::error::{NotIsolated, SandboxError};
use crate::files;
#[cfg(target_os = "linux")]
use crate::helped;
use crate::helper::HelperCommand;
use crate::job::SandboxJob;
use crate::layer::{UPPER, copy_tree};
use crate::outcome::Outcome;
#[cfg(target_os = "linux")]
use crate::wire::Confinement;
use crate::wire::Isolation;
use crate::{plain, seatbelt};
use std::path::PathBuf;

/// Runs jobs, each isolated or, where a person agreed, not.
#[derive(Debug, Clone)]
pub struct Sandbox {
    helper: HelperCommand,
    way: Way,
}

/// How commands are run on this system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    target_os = "linux",
    expect(dead_code, reason = "other systems' ways are compiled here, too")
)]
enum Way {
    /// By the helper, isolated or not.
    #[cfg(target_os = "linux")]
    Helper(Confinement),
    /// By macOS' `sandbox-exec`.
    Seatbelt,
    /// By themselves, not isolated.
    Plain,
    None,
}

#[cfg(target_os = "linux")]
const CONFINED: Way = Way::Helper(Confinement::Namespaces);
#[cfg(target_os = "linux")]
const NOT_CONFINED: Way = Way::Helper(Confinement::LimitsOnly);
#[cfg(target_os = "macos")]
const CONFINED: Way = Way::Seatbelt;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
const CONFINED: Way = Way::None;
#[cfg(not(target_os = "linux"))]
const NOT_CONFINED: Way = Way::Plain;

impl Sandbox {
    /// Returns a sandbox that isolates commands, after trying whether this machine can.
    ///
    /// # Errors
    /// When this machine cannot.
    pub async fn confined(helper: HelperCommand) -> Result<Self, NotIsolated> {
        Self::probe(&helper, &SandboxJob::new(["true"], "/")).await?;
        Ok(Self::untried(helper))
    }

    /// Finds out what isolates commands on this machine, by running a job whose command does nothing. Whether there are overlays shows where
    /// the job may change a folder.
    ///
    /// # Errors
    /// When nothing isolates them, with the reason and a remedy.
    pub async fn probe(helper: &HelperCommand, job: &SandboxJob) -> Result<Isolation, NotIsolated> {
        let (outcome, isolation) = Self::untried(helper.clone()).run_and_tell(job).await?;
        if outcome.end.success() {
            Ok(isolation)
        } else {
            Err(NotIsolated::Failed(outcome.end))
        }
    }

    /// Returns a sandbox that does not isolate commands: they read and write what the person can, and reach the network. Only limits hold, and
    /// folders to be changed are copied. A person must have agreed to it.
    pub fn limits_only(helper: HelperCommand) -> Self {
        Self {
            helper,
            way: NOT_CONFINED,
        }
    }

    pub(crate) fn untried(helper: HelperCommand) -> Self {
        Self { helper, way: CONFINED }
    }

    /// Returns whether commands are kept from the rest of the machine.
    pub fn is_confined(&self) -> bool {
        self.way == CONFINED
    }

    /// Runs a job to its end. Dropping the future ends the command and all that it started.
    ///
    /// # Errors
    /// When isolation cannot be set up, so that nothing was run, or the helper fails.
    pub async fn run(&self, job: &SandboxJob) -> Result<Outcome, SandboxError> {
        Ok(self.run_and_tell(job).await?.0)
    }

    /// Runs a job as [`run`](Self::run) does, and tells what isolated it.
    ///
    /// # Errors
    /// As of [`run`](Self::run).
    pub async fn run_and_tell(&self, job: &SandboxJob) -> Result<(Outcome, Isolation), SandboxError> {
        match self.way {
            #[cfg(target_os = "linux")]
            Way::Helper(Confinement::Namespaces) => helped::run(&self.helper, job, Confinement::Namespaces).await,
            #[cfg(target_os = "linux")]
            Way::Helper(confinement) => helped::run(&self.helper, &copied(job)?, confinement).await,
            Way::Seatbelt => {
                let job = copied(job)?;
                let isolation = Isolation {
                    seatbelt: true,
                    ..Isolation::default()
                };
                Ok((plain::run(&job, &seatbelt::command(&job)).await?, isolation))
            }
            Way::Plain => {
                let job = copied(job)?;
                Ok((plain::run(&job, &job.command).await?, Isolation::default()))
            }
            Way::None => Err(SandboxError::UnknownSystem),
        }
    }
}

/// Copies the folders that a job may change, and names the copies wherever the job names a folder. A folder inside another one is copied into
/// that one's copy, each other one into its layer.
fn copied(job: &SandboxJob) -> Result<SandboxJob, SandboxError> {
    let mut job = job.clone();
    let mut copies: Vec<(PathBuf, PathBuf)> = Vec::new();
    for one in &mut job.scratch {
        let around = copies
            .iter()
            .find_map(|(at, copy)| Some((copy, copy.join(one.at.strip_prefix(at).ok()?))));
        let done = match &around {
            // What was copied may hold a link in its place.
            Some((outer, copy)) => files::without_links(outer, copy).and_then(|()| std::fs::create_dir_all(copy)),
            None => Ok(()),
        };
        let copy = around.map_or_else(|| one.layer.join(UPPER), |(_, copy)| copy);
        let done = done.and_then(|()| copy_tree(&one.original, &copy));
        done.map_err(|source| SandboxError::Copy {
            folder: one.original.clone(),
            source,
        })?;
        copies.push((std::mem::replace(&mut one.at, copy.clone()), copy));
    }
    for (at, copy) in &copies {
        let (seen, there) = (at.to_string_lossy(), copy.to_string_lossy());
        let moved = |path: &mut PathBuf| {
            if let Ok(inside) = path.strip_prefix(at) {
                *path = copy.join(inside);
            }
        };
        moved(&mut job.folder);
        job.files.iter_mut().for_each(|file| moved(&mut file.path));
        // A word may hold a path, as `--junitxml=/reports/all.xml` does. What the first copy moved begins elsewhere now.
        for text in job.command.iter_mut().chain(job.environment.values_mut()) {
            if !text.contains(&*there) {
                *text = text.replace(&*seen, &there);
            }
        }
    }
    Ok(job)
}
