//! Erasing: deleted runs and removed repositories once nobody can want them back, and all data at once.

use crate::driving::Halt;
use crate::problem::Problem;
use crate::state::{App, Change, now};
use std::path::Path;

/// What a person has to type before all data is erased.
pub const ERASE_ALL: &str = "erase";

impl App {
    /// Erases the runs that were deleted and the memory of the repositories that were removed at `before` or earlier. What
    /// cannot be erased now is tried again at the next start.
    pub fn erase_removed(&self, before: i64) {
        let Ok(magis) = self.magis() else { return };
        for run in magis.store().removed_runs(before).unwrap_or_default() {
            drop(magis.store().delete_run(run, now()));
        }
        for repo in magis.store().removed_repositories(before).unwrap_or_default() {
            if magis.store().delete_repository(repo, now()).is_ok() {
                magis.delete_index(repo);
                self.head_files().remove(&repo);
            }
        }
    }

    /// Stops every run and erases everything in the data folder: runs, memory, indexes, settings, and the models where
    /// they lie inside. The folder is empty and usable afterwards.
    pub async fn erase_all(&self, confirmation: &str) -> Result<(), Problem> {
        if confirmation.trim() != ERASE_ALL {
            return Err(Problem::new(
                "not_confirmed",
                "nothing was erased",
                format!("Type the word '{ERASE_ALL}' to confirm."),
            ));
        }
        self.driving().halt_all(self, Halt::Stop);
        self.until_idle().await;
        self.driving().free(self).await;
        self.work(|app| {
            app.close(Problem::new("erasing", "all data is being erased", "Wait a moment."));
            let erased = empty(app.place().data.root());
            app.reopen()?;
            erased
        })
        .await?;
        for change in [
            Change::Repositories,
            Change::Runs(None),
            Change::Models,
            Change::Settings,
        ] {
            self.ring(change);
        }
        Ok(())
    }

    /// Waits until no run is worked on and none waits.
    pub async fn until_idle(&self) {
        while !self.driving().driven().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
}

fn empty(folder: &Path) -> Result<(), Problem> {
    let failed = |error: std::io::Error| {
        Problem::new(
            "io",
            format!("could not erase everything in {}: {error}", folder.display()),
            "Close other programs that use it, and erase the rest by hand.",
        )
    };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let is_folder = entry.file_type().map_err(failed)?.is_dir();
        let gone = if is_folder {
            std::fs::remove_dir_all(entry.path())
        } else {
            std::fs::remove_file(entry.path())
        };
        gone.map_err(failed)?;
    }
    Ok(())
}
