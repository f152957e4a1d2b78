//! The whole program behind its faces: one data folder, its store, its models, and the runs in it.

use crate::driver::interrupt_abandoned;
use crate::{DataFolder, EngineError, EngineLimits, Steering};
use magis_core::{
    Hint, HintsMode, Issue, QaMode, RelevanceMode, RepoPath, RunEvent, RunId, RunRequest, Speaker, Speech, Stage, Turn,
};
use magis_flow::Run;
use magis_llama::{LoadRequest, WorkerCommand, WorkerModel};
use magis_llm::LanguageModel;
use magis_models::ModelLibrary;
use magis_platform::now_ms;
use magis_repo::{BaseChoice, ObjectStore, Repository, Snapshot};
use magis_store::{Access, Erasure, NewRun, RunArchive, Store, StoreError};
use std::path::PathBuf;
use std::sync::Arc;

/// A data folder in use.
#[derive(Clone)]
pub struct Magis {
    pub(crate) data: DataFolder,
    pub(crate) store: Store,
    pub(crate) library: Arc<ModelLibrary>,
    pub(crate) worker: WorkerCommand,
}

/// What a person asks for, before anything is checked.
#[derive(Debug, Clone)]
pub struct SolveWish {
    /// A folder inside the repository's work tree.
    pub repository: PathBuf,
    /// What the run is based on.
    pub base: BaseChoice,
    /// The issue's text.
    pub issue: String,
    /// What is known beyond it.
    pub hints: Vec<Hint>,
    /// Whether the hints reach the agents.
    pub hints_mode: HintsMode,
    /// The candidates, where they are given.
    pub files: Vec<String>,
    /// The model, by the name that [`Magis::model_name`] gives; none: the default one.
    pub model: Option<String>,
    /// The seed.
    pub seed: u64,
    /// How many files of the ranking are judged.
    pub top_k: u32,
    /// Rounds a task gets.
    pub max_rounds: u32,
    /// Whether QA Engineers review.
    pub qa: QaMode,
    /// What the relevance of a file is judged from.
    pub relevance: RelevanceMode,
}

/// A run that is ready to be driven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// The run.
    pub run: RunId,
    /// What a person should know before it begins, a sentence each.
    pub notes: Vec<String>,
}

impl Magis {
    /// Opens the data folder, with the command that starts the engine's worker.
    pub fn open(data: DataFolder, worker: WorkerCommand) -> Result<Self, EngineError> {
        let store = Store::open(data.root())?;
        let library = Arc::new(ModelLibrary::open(data.models())?);
        let magis = Self {
            data,
            store,
            library,
            worker,
        };
        if magis.store.access() == Access::ReadWrite {
            magis.data.make_private()?;
            interrupt_abandoned(&magis.store)?;
            // What cannot be removed now either waits for the next opening, as it did for this one.
            let _: Erasure = magis.finish_deletions();
        }
        Ok(magis)
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The models.
    pub fn library(&self) -> &ModelLibrary {
        &self.library
    }

    /// The folder.
    pub fn data(&self) -> &DataFolder {
        &self.data
    }

    /// The state of a run: the fold of its log.
    pub fn state(&self, run: RunId) -> Result<Run, EngineError> {
        let events = self.store.events(run)?;
        Run::fold(events.iter().map(|stored| &stored.event)).map_err(|source| EngineError::Log { run, source })
    }

    /// Checks everything a run needs and creates it with its first event. Nothing is written into the repository.
    pub fn prepare(&self, wish: SolveWish, limits: &EngineLimits) -> Result<Prepared, EngineError> {
        let model = wish
            .model
            .clone()
            .unwrap_or_else(|| self.library.catalog().default_entry().id.to_string());
        let file = self.library.named(&model)?;
        let (_, mut notes) = limits.context_of(&file)?;
        self.prepare_unloaded(wish, model, &mut notes)
            .map(|run| Prepared { run, notes })
    }

    /// As [`Magis::prepare`], for a model that is no file of the library.
    pub fn prepare_for(&self, wish: SolveWish, model: &dyn LanguageModel) -> Result<Prepared, EngineError> {
        let mut notes = Vec::new();
        self.prepare_unloaded(wish, model.card().name.clone(), &mut notes)
            .map(|run| Prepared { run, notes })
    }

    fn prepare_unloaded(&self, wish: SolveWish, model: String, notes: &mut Vec<String>) -> Result<RunId, EngineError> {
        let issue = Issue::new(&wish.issue)?;
        let files = wish.files.iter().map(RepoPath::new).collect::<Result<Vec<_>, _>>()?;
        let repository = Repository::open(&wish.repository)?;
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
            candidates_per_round: 1,
            qa: wish.qa,
            relevance: wish.relevance,
        };
        let created_at = now_ms();
        let run = self.store.create_run(&NewRun {
            repo,
            request: request.clone(),
            parent: None,
            created_at,
        })?;
        let base = snapshot.base().clone();
        self.store.append_event(
            run,
            1,
            created_at,
            &RunEvent::RunStarted {
                request: Box::new(request),
                base,
            },
        )?;
        Ok(run)
    }

    /// The name of the model that a person means, by its id or by the path of its file. Nothing else turns a path into a
    /// model: what a run, an archive or a draft says is a name.
    pub fn model_name(&self, word: &str) -> Result<String, EngineError> {
        Ok(self.library.resolve(word)?.name(&self.library))
    }

    /// Starts the engine's worker with the model of a run. The context is chosen by what the memory at hand holds.
    pub async fn load_model(&self, run: RunId, limits: &EngineLimits) -> Result<WorkerModel, EngineError> {
        let name = self.state(run)?.request().model.clone();
        self.load_named(&name, limits).await
    }

    /// Starts the engine's worker with the model of this name.
    pub async fn load_named(&self, name: &str, limits: &EngineLimits) -> Result<WorkerModel, EngineError> {
        Ok(WorkerModel::start(self.worker.clone(), self.load_request(name, limits)?).await?)
    }

    /// What the worker is told to load.
    pub(crate) fn load_request(&self, name: &str, limits: &EngineLimits) -> Result<LoadRequest, EngineError> {
        let file = self.library.named(name)?;
        let (context, _) = limits.context_of(&file)?;
        Ok(LoadRequest {
            sha256: file.sha256.to_string(),
            file: file.path,
            context: Some(context),
            threads: limits.threads,
        })
    }

    /// Intervenes in a run that is not over; whoever drives it takes it in before its next step.
    pub fn steer(&self, run: RunId, steering: Steering) -> Result<(), EngineError> {
        let state = self.state(run)?;
        if state.outcome().is_some() {
            return Err(EngineError::RunOver(run));
        }
        let event = self.steering_event(run, &state, steering)?;
        let mut folded = state;
        folded.handle(&event).map_err(|error| EngineError::Steering {
            run,
            why: error.to_string(),
        })?;
        for _ in 0..5 {
            let next = self.store.event_count(run)? + 1;
            match self.store.append_event(run, next, now_ms(), &event) {
                // The driver appended at the same moment; the next number is another one now.
                Err(StoreError::OutOfOrder { .. }) => {}
                other => return Ok(other?),
            }
        }
        Err(EngineError::Steering {
            run,
            why: "its log is being written to all the time".to_owned(),
        })
    }

    fn steering_event(&self, run: RunId, state: &Run, steering: Steering) -> Result<RunEvent, EngineError> {
        Ok(match steering {
            Steering::Drop { path } => RunEvent::CandidateDropped {
                path: RepoPath::new(path)?,
            },
            Steering::Add { path } => {
                let path = RepoPath::new(path)?;
                let repo = self.repository_id_of(run)?;
                let snapshot = Snapshot::reopen(self.data.objects(repo), state.base())?;
                let (files, _) = snapshot.files()?;
                let found = files.into_iter().find(|file| file.path == path);
                let missing = || EngineError::NoSuchFile {
                    path: path.clone(),
                    base: state.base().name.clone(),
                };
                let blob = found.ok_or_else(missing)?.blob;
                RunEvent::CandidateAdded { path, blob }
            }
            Steering::EditTask {
                task,
                action,
                description,
            } => {
                let unknown = || EngineError::Steering {
                    run,
                    why: format!("it has no task {task}"),
                };
                let before = state.task(task).ok_or_else(unknown)?.task.action.clone();
                RunEvent::TaskEdited {
                    task,
                    action: action.unwrap_or(before),
                    description,
                }
            }
            Steering::EditRole { task, role } => RunEvent::RoleEdited { task, role },
            Steering::Hint { text } => RunEvent::HintAdded { hint: Hint::Word(text) },
            Steering::Speak { text } => RunEvent::Spoken {
                speech: Speech {
                    speaker: Speaker::Person,
                    turn: Turn::Speak,
                    text,
                },
            },
        })
    }

    /// A new run that shares the log of `run` up to the beginning of `from`; the old one stays as it is. With another
    /// model or seed the shared events are the same, and what follows is made with the new one.
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
            limits.context_of(&self.library.named(name)?)?;
        }
        let events: Vec<RunEvent> = self.store.events(run)?.into_iter().map(|stored| stored.event).collect();
        let shared = magis_flow::events_before(&events, from);
        let changed = model.is_some() || seed.is_some();
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
        let created = self.store.create_run(&new)?;
        if !changed {
            self.store.copy_run_prefix(run, shared as u32, created)?;
            return Ok(created);
        }
        for (at, event) in events.into_iter().take(shared).enumerate() {
            let event = match event {
                RunEvent::RunStarted { base, .. } => RunEvent::RunStarted {
                    request: Box::new(request.clone()),
                    base,
                },
                other => other,
            };
            self.store.append_event(created, at as u32 + 1, now_ms(), &event)?;
        }
        Ok(created)
    }

    /// A run as JSON, with its events and calls.
    pub fn export(&self, run: RunId) -> Result<String, EngineError> {
        Ok(self.store.export_run(run)?.to_json()?)
    }

    /// Takes in a run exported elsewhere. How it stands is what its own events lead to; an archive that claims anything else
    /// is refused. It belongs to the repository here that has its base, where there is only one.
    pub fn import(&self, json: &str) -> Result<RunId, EngineError> {
        let archive = RunArchive::from_json(json)?;
        crate::claims::check(&archive)?;
        let run = self.store.import_run(&archive)?;
        self.settle(run)?;
        Ok(run)
    }
}
