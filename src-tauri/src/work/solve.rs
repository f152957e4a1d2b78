//! Beginning runs, halting them, going on with them, intervening in them, and following them.

use crate::follow::standing;
use crate::problem::Problem;
use crate::state::{App, AppEvent, Driving, Halt, ModelSource, Sink};
use crate::view::{Estimate, RunRow, RunUpdate, SolveForm, SteeringRequest};
use magis_core::{AttemptNumber, QaMode, RepoId, Round, RunId, Stage, TaskId, TestsMode};
use magis_engine::records::{LeaseError, RunFilter, RunOrigin, StoredStatus};
use magis_engine::{EngineError, StageTimes};
use magis_platform::now_ms;
use std::path::PathBuf;
use std::time::Duration;

impl App {
    /// Returns what was typed for the next run of a repository.
    pub fn draft(&self, repo: RepoId) -> Result<Option<SolveForm>, Problem> {
        let kept: Option<serde_json::Value> = self.magis()?.draft(repo)?;
        Ok(kept.and_then(|value| serde_json::from_value(value).ok()))
    }

    /// Keeps what was typed.
    pub fn save_draft(&self, draft: &SolveForm) -> Result<(), Problem> {
        Ok(self.magis()?.put_draft(draft.repo, draft, now_ms())?)
    }

    /// Returns how long such a run takes, from runs that ended here with the same model and effort, code run or not.
    pub fn estimate(&self, form: &SolveForm) -> Result<Estimate, Problem> {
        let magis = self.magis()?;
        let model = self.model_of(form)?;
        let qa = if form.qa { QaMode::Review } else { QaMode::Skip };
        let ended = magis.runs(&RunFilter {
            status: Some(StoredStatus::Ended),
            limit: 200,
            ..RunFilter::default()
        })?;
        let mut times = Vec::new();
        for entry in ended {
            let whole = entry.origin == RunOrigin::Local && entry.parent.is_none() && entry.worked_ms > 0;
            if !whole || entry.model != model || times.len() == 10 {
                continue;
            }
            let request = magis.run(entry.id)?.request;
            let runs_code = matches!(request.tests, TestsMode::Run { .. });
            let effort = (request.top_k, request.max_rounds, request.qa, runs_code);
            if effort == (form.top_k, form.max_rounds, qa, form.runs_code()) {
                let calls = Duration::from_millis(entry.worked_ms);
                let running_code = StageTimes::running_code(&magis.events(entry.id)?);
                times.push((calls + running_code).as_secs_f64());
            }
        }
        let from_runs = times.len() as u32;
        Ok(Estimate {
            seconds: (from_runs > 0).then(|| times.iter().sum::<f64>() / f64::from(from_runs)),
            from_runs,
        })
    }

    /// Checks everything a run needs and makes it; it still has to be put into the queue.
    pub fn prepare_run(&self, form: SolveForm) -> Result<RunId, Problem> {
        let magis = self.magis()?;
        let repo = form.repo;
        let root = PathBuf::from(magis.repository(repo)?.root);
        let model = self.model_of(&form)?;
        let request = form.request(root, Some(model));
        let prepared = match self.driving().models() {
            ModelSource::Worker => magis.prepare(request, &self.settings()?.limits())?,
            ModelSource::Given(model) => magis.prepare_for(request, model.as_ref())?,
        };
        magis.set_run_status(prepared.run, StoredStatus::Queued)?;
        magis.clear_draft(repo)?;
        self.notify(AppEvent::Repositories);
        Ok(prepared.run)
    }

    /// Begins a run with what the form says.
    pub async fn start_run(&self, form: SolveForm) -> Result<RunId, Problem> {
        let run = self.work(|app| app.prepare_run(form)).await?;
        Driving::enqueue(self, run);
        Ok(run)
    }

    /// Goes on with a run that was halted, or whose driver vanished.
    pub async fn resume_run(&self, run: RunId) -> Result<(), Problem> {
        if self.driving().drives(run) {
            return Ok(());
        }
        self.work(move |app| {
            let magis = app.magis()?;
            if magis.state(run)?.outcome().is_some() {
                return Err(EngineError::RunOver(run).into());
            }
            magis.repository_id_of(run)?;
            magis.restore_run(run)?;
            if let Some(lease) = magis.driven_elsewhere(run)? {
                return Err(LeaseError::HeldBy(lease).into());
            }
            Ok(magis.set_run_status(run, StoredStatus::Queued)?)
        })
        .await?;
        Driving::enqueue(self, run);
        Ok(())
    }

    /// Takes a run from another process that works on it and hangs, so that it can be resumed here.
    pub fn break_lease(&self, run: RunId) -> Result<(), Problem> {
        self.magis()?.break_lease(run)?;
        self.notify(AppEvent::Runs(Some(run)));
        Ok(())
    }

    /// Halts a run; see [`Halt`] for what becomes of the model.
    pub async fn halt_run(&self, run: RunId, how: Halt) -> Result<(), Problem> {
        let was_driven = self.driving().drives(run);
        if !was_driven && let Some(lease) = self.magis()?.driven_elsewhere(run)? {
            return Err(LeaseError::HeldBy(lease).into());
        }
        self.driving().halt(self, run, how)?;
        if !was_driven && how == Halt::Stop && self.driving().driven().is_empty() {
            // A paused run that is stopped: its model is still there.
            self.driving().free(self).await;
        }
        Ok(())
    }

    /// Intervenes in a run that is not over.
    pub fn steer(&self, run: RunId, request: SteeringRequest) -> Result<(), Problem> {
        self.magis()?.steer(run, request.into())?;
        if self.driving().is_followed(run) {
            let view = Box::new(self.run_view(run)?);
            self.driving().tell(run, &RunUpdate::View { view });
        }
        self.notify(AppEvent::Runs(Some(run)));
        Ok(())
    }

    /// Makes a new run that shares the beginning of `run`, and puts it into the queue.
    pub async fn rerun(
        &self,
        run: RunId,
        from: Stage,
        model: Option<String>,
        seed: Option<u64>,
    ) -> Result<RunId, Problem> {
        let created = self
            .work(move |app| {
                let limits = app.settings()?.limits();
                Ok(app.magis()?.rerun(run, from, model, seed, &limits)?)
            })
            .await?;
        Driving::enqueue(self, created);
        Ok(created)
    }

    /// Makes a new run that takes another attempt of `run`, which is over, and puts it into the queue.
    pub async fn rerun_taking(
        &self,
        run: RunId,
        task: TaskId,
        round: Round,
        attempt: AttemptNumber,
    ) -> Result<RunId, Problem> {
        let created = self
            .work(move |app| Ok(app.magis()?.rerun_taking(run, task, round, attempt)?))
            .await?;
        Driving::enqueue(self, created);
        Ok(created)
    }

    /// Sends what happens in a run to `sink`, beginning with how it stands, until it halts.
    pub fn follow_run(&self, run: RunId, sink: Sink) {
        let driving = self.driving();
        if !driving.drives(run) {
            // Who does not listen any more misses nothing.
            let _ = standing(self, run).into_iter().all(sink);
            return;
        }
        driving.add_follower(run, sink);
        for news in standing(self, run) {
            driving.tell(run, &news);
        }
        if !driving.drives(run) {
            // It halted meanwhile, and may have told so before this follower came.
            for news in standing(self, run) {
                driving.tell(run, &news);
            }
            driving.drop_follower(run);
        }
    }

    /// Returns the runs that are worked on here or wait, in their order.
    pub fn running_runs(&self) -> Result<Vec<RunRow>, Problem> {
        self.driving()
            .driven()
            .into_iter()
            .map(|run| self.run_row(run))
            .collect()
    }
}
