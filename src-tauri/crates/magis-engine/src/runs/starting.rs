//! Creates runs: of an issue, and again from a stage of an earlier run.

use crate::{EngineError, EngineLimits, LoadedModel, Magis, Steering};
use magis_core::{
    AttemptNumber, Hint, HintsMode, Issue, MethodPart, QaMode, RelevanceMode, RepoPath, Round, RunEvent, RunId,
    RunRequest, Stage, TaskId, TestsMode, WritingMode, model_host,
};
use magis_flow::{Run, TaskState};
use magis_llm::LanguageModel;
use magis_platform::now_ms;
use magis_repo::{BaseChoice, ObjectStore, Snapshot};
use magis_store::NewRun;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What a person asks for, before anything is checked.
#[derive(Debug, Clone)]
pub struct SolveRequest {
    /// A folder inside the repository's work tree.
    pub repository: PathBuf,
    /// What the run is based on.
    pub base: BaseChoice,
    pub issue: String,
    /// What is known beyond it.
    pub hints: Vec<Hint>,
    /// Whether the hints reach the agents.
    pub hints_mode: HintsMode,
    /// The candidates, where they are given.
    pub files: Vec<String>,
    /// The model, by the name that [`Magis::model_name`] gives; none: the default one.
    pub model: Option<String>,
    pub seed: u64,
    /// How many files of the ranking are judged.
    pub top_k: u32,
    /// Rounds a task gets.
    pub max_rounds: u32,
    /// Answers that are asked for in a round.
    pub attempts: u32,
    /// Places of a file that a round's answers are shared out over.
    pub places: u32,
    /// How the answers at a place are asked for, in turn; empty: as it measures best.
    pub writing: Vec<WritingMode>,
    /// Whether code is run, and what. A command runs only where the person allowed it in this repository.
    pub tests: TestsMode,
    /// Whether QA Engineers review.
    pub qa: QaMode,
    /// What the relevance of a file is judged from.
    pub relevance: RelevanceMode,
    /// Parts of the method that are left out, to measure what they bring.
    pub without: BTreeSet<MethodPart>,
}

/// How much is tried for an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effort {
    /// One answer in one round, in a file of the best five; nothing is run, and nobody reviews.
    Quick,
    #[default]
    Usual,
    Thorough,
}

impl Effort {
    /// Returns the answers of a round.
    pub fn attempts(self) -> u32 {
        match self {
            Self::Quick => 1,
            Self::Usual => 192,
            Self::Thorough => 288,
        }
    }

    /// Returns the places that a round's answers are shared out over.
    pub fn places(self) -> u32 {
        match self {
            Self::Quick => 1,
            Self::Usual => 4,
            Self::Thorough => 6,
        }
    }

    /// Returns how many files of the ranking are judged.
    pub fn top_k(self) -> u32 {
        match self {
            Self::Quick => 5,
            Self::Usual => 20,
            Self::Thorough => 40,
        }
    }

    /// Returns the rounds that a task gets at the most.
    pub fn max_rounds(self) -> u32 {
        match self {
            Self::Quick => 1,
            Self::Usual => 3,
            Self::Thorough => 5,
        }
    }

    /// Returns whether QA Engineers review. The answer of a quick run is taken as it is: with one round no review could mend it.
    pub fn qa(self) -> QaMode {
        match self {
            Self::Quick => QaMode::Skip,
            Self::Usual | Self::Thorough => QaMode::Review,
        }
    }
}

/// A run that is ready to be driven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    pub run: RunId,
    /// What a person should know before it begins, a sentence each.
    pub notes: Vec<String>,
}

impl Magis {
    /// Returns the state of a run: the fold of its log.
    ///
    /// # Errors
    /// When there is no such run, or the database cannot be read.
    pub fn state(&self, run: RunId) -> Result<Run, EngineError> {
        let events = self.store.events(run)?;
        Run::fold(events.iter().map(|stored| &stored.event)).map_err(|source| EngineError::Log { run, source })
    }

    /// Checks everything a run needs and creates it with its first event. Nothing is written into the repository.
    ///
    /// # Errors
    /// When the request cannot be carried out, the repository cannot be read, or the database cannot be written.
    pub fn prepare(&self, wish: SolveRequest, limits: &EngineLimits) -> Result<Prepared, EngineError> {
        let model = wish
            .model
            .clone()
            .unwrap_or_else(|| self.library.catalog().default_entry().id.to_string());
        let mut notes = self.check_model(&model, limits)?;
        self.prepare_unloaded(wish, model, &mut notes)
            .map(|run| Prepared { run, notes })
    }

    /// As [`Magis::prepare`], for a model that is no file of the library.
    ///
    /// # Errors
    /// When the request cannot be carried out, the repository cannot be read, or the database cannot be written.
    pub fn prepare_for(&self, wish: SolveRequest, model: &dyn LanguageModel) -> Result<Prepared, EngineError> {
        let mut notes = Vec::new();
        self.prepare_unloaded(wish, model.card().name.clone(), &mut notes)
            .map(|run| Prepared { run, notes })
    }

    fn prepare_unloaded(
        &self,
        wish: SolveRequest,
        model: String,
        notes: &mut Vec<String>,
    ) -> Result<RunId, EngineError> {
        let issue = Issue::new(&wish.issue)?;
        let files = wish.files.iter().map(RepoPath::new).collect::<Result<Vec<_>, _>>()?;
        let repository = self.git.open(&wish.repository)?;
        let state = repository.state()?;
        let repo = self.know(&repository)?;
        let objects = ObjectStore::open(self.data.objects(repo), &repository)?;
        let snapshot = Snapshot::take(&repository, &objects, &wish.base)?;
        for path in &files {
            snapshot.read(path)?;
        }
        notes.extend(state.notes);
        notes.extend(snapshot.notes().iter().cloned());
        let dirty = !state.cleanliness.is_clean();
        if dirty && wish.base == BaseChoice::Head {
            notes.push("uncommitted work is left out of this run; --include-uncommitted takes it in".to_owned());
        }
        let request = RunRequest {
            issue,
            hints: wish.hints,
            hints_mode: wish.hints_mode,
            files,
            model,
            seed: wish.seed,
            top_k: wish.top_k.max(1),
            max_rounds: wish.max_rounds.max(1),
            attempts_per_round: wish.attempts.max(1),
            places_per_round: wish.places.max(1),
            writing: wish.writing,
            tests: wish.tests,
            qa: wish.qa,
            relevance: wish.relevance,
            without: wish.without,
        };
        let started = RunEvent::RunStarted {
            request: Box::new(request.clone()),
            base: snapshot.base().clone(),
        };
        let new = NewRun {
            repo,
            request,
            parent: None,
            created_at: now_ms(),
        };
        Ok(self.store.begin_run(&new, &[started])?)
    }

    /// Loads the model of a run: in a worker, with a context that the available memory holds, or from the engine that the person chose.
    ///
    /// # Errors
    /// When there is no such model, it does not fit into memory, or its worker cannot be started.
    pub async fn load_model(&self, run: RunId, limits: &EngineLimits) -> Result<LoadedModel, EngineError> {
        let name = self.state(run)?.request().model.clone();
        self.load(&name, limits).await
    }

    /// Checks that a model can be loaded, and returns what a person should know of it.
    ///
    /// # Errors
    /// When there is no such model, it does not fit into memory, or its engine is not the one that is chosen.
    pub fn check_model(&self, name: &str, limits: &EngineLimits) -> Result<Vec<String>, EngineError> {
        if model_host(name).is_some() {
            self.engine_of(name)?;
            return Ok(Vec::new());
        }
        Ok(limits.context_of(&self.library.named(name)?)?.1)
    }

    /// Returns a new run that shares the log of `run` up to the beginning of `from`; the old one stays as it is. With
    /// another model or seed the shared events are the same, and what follows is made with the new one.
    ///
    /// # Errors
    /// When there is no such run, it never came to that stage, or the database cannot be written.
    pub fn rerun(
        &self,
        run: RunId,
        from: Stage,
        model: Option<String>,
        seed: Option<u64>,
        limits: &EngineLimits,
    ) -> Result<RunId, EngineError> {
        let old = self.store.run(run)?;
        let repo = self.repository_id_of(run)?;
        if let Some(name) = &model {
            self.check_model(name, limits)?;
        }
        let events: Vec<RunEvent> = self.store.events(run)?.into_iter().map(|stored| stored.event).collect();
        let shared = magis_flow::events_before(&events, from);
        if model.is_none() && seed.is_none() {
            return self.sharing(run, old.request, shared, &[]);
        }
        let request = RunRequest {
            model: model.unwrap_or(old.request.model.clone()),
            seed: seed.unwrap_or(old.request.seed),
            ..old.request
        };
        let new = NewRun {
            repo,
            request: request.clone(),
            parent: Some(run),
            created_at: now_ms(),
        };
        let changed = |event| match event {
            RunEvent::RunStarted { base, .. } => RunEvent::RunStarted {
                request: Box::new(request.clone()),
                base,
            },
            other => other,
        };
        let first: Vec<RunEvent> = events.into_iter().take(shared).map(changed).collect();
        Ok(self.store.begin_run(&new, &first)?)
    }

    /// Returns a new run that shares the log of one that is over up to its last attempt, and takes another of its attempts; the old one stays as it is.
    ///
    /// # Errors
    /// When there is no such run, it is not over, it has no such attempt with a usable change, or the database cannot be written.
    pub fn rerun_taking(
        &self,
        run: RunId,
        task: TaskId,
        round: Round,
        attempt: AttemptNumber,
    ) -> Result<RunId, EngineError> {
        let old = self.store.run(run)?;
        self.repository_id_of(run)?;
        let state = self.state(run)?;
        let steering = Steering::TakeAttempt { task, round, attempt };
        if state.outcome().is_none() {
            let why = "it is not over; take the attempt in it".to_owned();
            return Err(EngineError::Steering { run, why });
        }
        let taken = self.steering_event(run, &state, steering)?;
        let mut events: Vec<RunEvent> = self.store.events(run)?.into_iter().map(|stored| stored.event).collect();
        let shared = magis_flow::events_of_attempts(&events);
        let mut behind = events.split_off(shared);
        behind.retain(|event| matches!(event, RunEvent::CandidateDropped { .. }));
        // Where the changes of several tasks were handed over, those of the others stay. In the paper's order each task is closed for itself.
        let accepted = |state: &TaskState| Some((state.task.id, state.accepted_attempt()?));
        let handed_over: Vec<_> = state.tasks().filter_map(accepted).collect();
        if handed_over.len() > 1 && matches!(old.request.tests, TestsMode::Run { .. }) {
            let others = handed_over.into_iter().filter(|(other, _)| *other != task);
            behind.extend(others.map(|(task, (round, attempt))| RunEvent::AttemptTaken { task, round, attempt }));
        }
        behind.push(taken);
        self.sharing(run, old.request, shared, &behind)
    }

    /// Creates a run that shares the first events of another one, and goes on with others.
    fn sharing(&self, run: RunId, request: RunRequest, shared: usize, then: &[RunEvent]) -> Result<RunId, EngineError> {
        let new = NewRun {
            repo: self.repository_id_of(run)?,
            request,
            parent: Some(run),
            created_at: now_ms(),
        };
        Ok(self.store.begin_rerun(&new, run, shared as u32, then)?)
    }
}
