//! The repositories of a set as the engine sees them: a clone and a data folder's index each, gone through base by base.
//!
//! The index and the history are the engine's own, on disk; nothing is read from beyond an issue's base.

use crate::args::LocateSetArgs;
use crate::commands::{chosen, open};
use anyhow::{Context as _, Result};
use magis_engine::{Locator, Magis};
use magis_eval::instances::Instance;
use magis_eval::repositories::Repositories;
use magis_repo::BaseChoice;
use magis_search::Retention;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Where issues are located.
pub struct Environment<'a> {
    args: &'a LocateSetArgs,
    repositories: Repositories,
    folder: PathBuf,
    magis: Magis,
    current: Option<(String, Locator)>,
    /// The folder where nobody named one; it goes with this.
    _scratch: Option<tempfile::TempDir>,
}

impl<'a> Environment<'a> {
    /// Opens the folder of the index.
    pub fn begin(args: &'a LocateSetArgs) -> Result<Self> {
        let repositories = Repositories::new(&args.which.repos)?;
        let (folder, scratch) = match &args.index {
            Some(folder) => {
                let folder = std::path::absolute(folder).with_context(|| format!("finding {}", folder.display()))?;
                (folder, None)
            }
            None => {
                let scratch = tempfile::tempdir().context("making a folder for the index")?;
                (scratch.path().to_owned(), Some(scratch))
            }
        };
        Ok(Self {
            args,
            repositories,
            magis: open(&folder.join("data"), args.engine.models_dir.as_ref())?,
            folder,
            current: None,
            _scratch: scratch,
        })
    }

    /// Returns the engine over the data folder of this measurement.
    pub fn magis(&self) -> &Magis {
        &self.magis
    }

    /// Returns the issues asked for, those of one repository together.
    pub fn instances(&self) -> Result<Vec<Instance>> {
        let mut instances = chosen(&self.args.which)?;
        instances.sort_by(|a, b| (&a.repo, &a.id).cmp(&(&b.repo, &b.id)));
        Ok(instances)
    }

    /// Returns the locator of an issue's repository, at its base.
    pub fn locator(&mut self, instance: &Instance) -> Result<&Locator> {
        let base = BaseChoice::Revision {
            name: instance.base_commit.0.clone(),
        };
        let mut watch = |_| ControlFlow::Continue(());
        let locator = match self.current.take().filter(|(repo, _)| *repo == instance.repo) {
            Some((_, mut locator)) => {
                locator.go_to(&base, &mut watch)?;
                locator
            }
            None => {
                let clone = self.folder.join("clones").join(instance.repo.replace('/', "+"));
                self.repositories
                    .scratch_clone(&instance.repo, &instance.base_commit, &clone)?;
                self.magis.locator(&clone, &base, Retention::All, &mut watch)?
            }
        };
        let (_, locator) = self.current.insert((instance.repo.clone(), locator));
        Ok(locator)
    }
}
