//! Past runs: lists, one run with its calls, tags, deletion, carrying to and from files, what they cost.

use super::app::write_new;
use crate::problem::Problem;
use crate::state::{App, AppEvent};
use crate::view::{
    AppliedView, CallRow, CallText, DeleteTicket, ExportFormat, RunFacts, RunListFilter, RunPage, RunRow, RunView,
    StageView, UsageDay, stages,
};
use magis_core::{RepoId, RepoPath, RunId};
use magis_engine::records::{CallId, DayTotals};
use magis_engine::{Magis, stage_of_step};
use magis_platform::now_ms;
use std::collections::BTreeMap;
use std::path::Path;

impl App {
    /// Returns a page of the list of runs.
    pub fn runs_page(&self, filter: RunListFilter) -> Result<RunPage, Problem> {
        let page = self.magis()?.run_page(&filter.into())?;
        let driven = self.driving().driven();
        Ok(RunPage::new(page, |run| driven.contains(&run)))
    }

    /// Returns a run, all of it, as its log says.
    pub fn run_view(&self, run: RunId) -> Result<RunView, Problem> {
        let magis = self.magis()?;
        let events = magis.events(run)?;
        let state = magis.state(run)?;
        let texts = magis.texts(run)?;
        Ok(RunView::new(RunFacts {
            row: self.run_row(run)?,
            state: &state,
            events: &events,
            totals: &magis.call_totals(run)?,
            base_text: &|path| texts.before(path),
            applied: applied(&magis, run)?,
            import: magis.import_of(run)?,
            repository_named: magis.is_repository_named(run)?,
        }))
    }

    /// Says which repository an imported run is for, so that it can be applied there.
    pub fn name_repository(&self, run: RunId, repo: RepoId) -> Result<(), Problem> {
        let magis = self.magis()?;
        let root = magis.open_repository(repo)?.root().to_owned();
        magis.attach(run, &root)?;
        self.notify(AppEvent::Runs(Some(run)));
        Ok(())
    }

    /// Returns a run as lists show it.
    pub fn run_row(&self, run: RunId) -> Result<RunRow, Problem> {
        let magis = self.magis()?;
        Ok(RunRow::new(&magis.run(run)?.entry, magis.tags(run)?, |run| {
            self.driving().drives(run)
        }))
    }

    /// Returns the model calls of a run, in the order in which they finished.
    pub fn calls(&self, run: RunId) -> Result<Vec<CallRow>, Problem> {
        let calls = self.magis()?.calls(run)?;
        Ok(calls.iter().map(Into::into).collect())
    }

    /// Returns one model call with its words.
    pub fn call_text(&self, run: RunId, call: i64) -> Result<CallText, Problem> {
        let found = self.magis()?.call(CallId(call))?;
        let gone = || {
            Problem::new(
                "no_call",
                format!("run {run} has no call {call}"),
                "Load the run again; it may have been deleted.",
            )
        };
        found.as_ref().map(Into::into).ok_or_else(gone)
    }

    /// Gives a run exactly these tags.
    pub fn set_tags(&self, run: RunId, tags: &[String]) -> Result<(), Problem> {
        self.magis()?.set_tags(run, tags)?;
        self.notify(AppEvent::Runs(Some(run)));
        Ok(())
    }

    /// Takes a run out of the lists; it is erased when the window closes. Erasing rebuilds the database, which takes seconds
    /// where it is large, and nothing could be asked meanwhile.
    pub fn delete_run(&self, run: RunId) -> Result<DeleteTicket, Problem> {
        if self.driving().drives(run) {
            return Err(Problem::new(
                "run_active",
                format!("run {run} is being worked on, or waits for its turn"),
                "Stop it first.",
            ));
        }
        self.magis()?.remove_run(run, now_ms())?;
        self.notify(AppEvent::Runs(None));
        Ok(DeleteTicket {
            ticket: run.0,
            note: format!(
                "Run {run} is deleted. It is erased from the disk when Magis is closed; summaries it made stay in memory."
            ),
        })
    }

    /// Puts a deleted run back.
    pub fn undo_delete(&self, ticket: i64) -> Result<(), Problem> {
        self.magis()?.restore_run(RunId(ticket))?;
        self.notify(AppEvent::Runs(None));
        Ok(())
    }

    /// Writes a run to a file.
    pub fn export_run(&self, run: RunId, format: ExportFormat, path: &Path) -> Result<(), Problem> {
        let magis = self.magis()?;
        let text = match format {
            ExportFormat::Json => magis.export(run)? + "\n",
            ExportFormat::Patch => magis.merged(run)?.patch,
            ExportFormat::Markdown => magis.markdown(run)?,
        };
        write_new(path, text.as_bytes())
    }

    /// Takes in a run that was exported. Where its repository is in the list, it belongs to it.
    pub fn import_run(&self, path: &Path) -> Result<RunId, Problem> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Problem::new(
                "io",
                format!("could not read {}: {error}", path.display()),
                "Choose a file that was exported as JSON.",
            )
        })?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let run = self.magis()?.import(&text, &name)?;
        self.notify(AppEvent::Runs(None));
        Ok(run)
    }

    /// Returns what all runs cost by day, the first day first.
    pub fn usage(&self) -> Result<Vec<UsageDay>, Problem> {
        let magis = self.magis()?;
        let runs: BTreeMap<String, u32> = magis.runs_by_day()?.into_iter().collect();
        let mut days: BTreeMap<String, Vec<DayTotals>> = BTreeMap::new();
        for total in magis.day_totals(None)? {
            days.entry(total.day.clone()).or_default().push(total);
        }
        let day = |(day, totals): (String, Vec<DayTotals>)| UsageDay {
            runs: runs.get(&day).copied().unwrap_or(0),
            ms: totals.iter().map(|total| total.ms).sum(),
            tokens: totals
                .iter()
                .map(|total| total.prompt_tokens + total.generated_tokens)
                .sum(),
            by_stage: stages(totals.iter().filter_map(stage_cost), |_| true),
            day,
        };
        Ok(days.into_iter().map(day).collect())
    }

    /// Returns a file of a run's base, as text.
    pub fn base_file(&self, run: RunId, path: &str) -> Result<String, Problem> {
        let path = RepoPath::new(path)?;
        let text = self.magis()?.texts(run)?.before(&path);
        text.ok_or_else(|| {
            Problem::new(
                "no_such_file",
                format!("{path} is not in the base of run {run}, is no text, or is not on this machine"),
                "Add the repository the run was made in.",
            )
        })
    }
}

/// Returns the last application of a run's patch.
pub(super) fn applied(magis: &Magis, run: RunId) -> Result<Option<AppliedView>, Problem> {
    let application = magis.applied(run)?;
    Ok(application.map(|application| AppliedView::new(&application, magis.can_undo(run).is_ok())))
}

fn stage_cost(total: &DayTotals) -> Option<StageView> {
    Some(StageView {
        stage: stage_of_step(&total.step)?,
        ms: total.ms,
        calls: total.calls,
        computed_tokens: total.prompt_tokens,
        reused_tokens: total.reused_tokens,
        generated_tokens: total.generated_tokens,
        done: true,
    })
}
