//! Erasing: deleted runs and removed repositories once nobody can want them back, and all data at once.

use crate::problem::Problem;
use crate::state::{App, AppEvent, Halt};

/// What a person has to type before all data is erased.
pub const ERASE_ALL: &str = "erase";

impl App {
    /// Erases the runs that were deleted and the memory of the repositories that were removed at `before` or earlier. What
    /// cannot be erased now is tried again at the next start.
    pub fn erase_removed(&self, before: i64) {
        let Ok(magis) = self.magis() else { return };
        for run in magis.removed_runs(before).unwrap_or_default() {
            drop(magis.delete_run(run));
        }
        for repo in magis.removed_repositories(before).unwrap_or_default() {
            if magis.delete_repository(repo).is_ok() {
                self.head_files().remove(&repo);
            }
        }
    }

    /// Stops every run and erases everything of ours in the data folder: runs, memory, indexes, settings, and the models
    /// where they lie inside. The folder is usable afterwards. Returns the names of what is not ours and was left.
    pub async fn erase_all(&self, confirmation: &str) -> Result<Vec<String>, Problem> {
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
        let left = self
            .work(|app| {
                app.close(Problem::new("erasing", "all data is being erased", "Wait a moment."));
                let erased = app.launch().data.erase();
                app.reopen()?;
                Ok(erased?)
            })
            .await?;
        for change in [
            AppEvent::Repositories,
            AppEvent::Runs(None),
            AppEvent::Models,
            AppEvent::Settings,
        ] {
            self.notify(change);
        }
        Ok(left)
    }

    /// Waits until no run is worked on and none waits.
    pub async fn until_idle(&self) {
        while !self.driving().driven().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
}
