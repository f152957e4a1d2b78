//! What solving a set has in common, whatever solves it: what there is to do, and the results' folder.

use super::{chosen, model_of, open};
use crate::args::{ModelArgs, WhichArgs};
use anyhow::{Context as _, Result};
use magis_core::{RelevanceMode, RepoPath, RunId};
use magis_engine::Magis;
use magis_eval::instances::{Instance, InstanceId, read_references};
use magis_eval::record::RunRecord;
use magis_eval::repositories::{Applies, Repositories};
use magis_eval::results::{Files, Hints, Memory, Method, Prediction, Qa, Results, RunLine, RunState, Setting};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A set that is being worked through.
pub struct Set {
    pub magis: Magis,
    pub repositories: Repositories,
    /// Where the results go.
    pub results: Results,
    pub setting: Setting,
    /// What there is to do, in the order of the set.
    pub jobs: Vec<Job>,
}

/// One issue to be solved.
pub struct Job {
    pub instance: Instance,
    /// The files that are given; empty where they are located.
    pub files: Vec<RepoPath>,
}

/// How a set is to be solved, as far as it does not follow from the rest.
pub struct SetPlan<'a> {
    pub which: &'a WhichArgs,
    pub engine: &'a ModelArgs,
    pub out: &'a PathBuf,
    pub data_dir: Option<&'a PathBuf>,
    pub label: Option<&'a String>,
    pub method: Method,
    pub files: Files,
    pub hints: Hints,
    pub qa: Qa,
    pub relevance: RelevanceMode,
    pub memory: Memory,
    pub top_k: u32,
    pub max_rounds: u32,
    pub seed: u64,
}

impl Set {
    /// Opens the data folder, the repositories and the results of a set.
    pub fn begin(plan: &SetPlan<'_>) -> Result<Self> {
        let repositories = Repositories::new(&plan.which.repos)?;
        let instances = chosen(plan.which)?;
        let data_dir = match plan.data_dir {
            Some(given) => std::path::absolute(given).with_context(|| format!("finding {}", given.display()))?,
            None => PathBuf::from("data"),
        };
        let magis = open(&plan.out.join(&data_dir), plan.engine.models_dir.as_ref())?;
        let model = model_of(&magis, plan.engine);
        // A model that is not there is said before the folder belongs to it.
        magis.library().resolve(&model)?;
        let setting = Setting {
            label: plan.label.cloned().unwrap_or_else(|| label(plan, &model)),
            method: plan.method,
            model,
            files: plan.files,
            hints: plan.hints,
            qa: plan.qa,
            relevance: plan.relevance,
            top_k: plan.top_k,
            max_rounds: plan.max_rounds,
            seed: plan.seed,
            context: plan.engine.context,
            memory: plan.memory,
            data_dir,
            repos: repositories.folder().to_owned(),
        };
        let results = Results::begin(plan.out, &setting)?;
        let given: BTreeMap<InstanceId, Vec<RepoPath>> = match plan.files {
            Files::Located => BTreeMap::new(),
            // Of the references the names of their files alone are taken, as the paper's oracle setting has it.
            Files::Given => {
                let references = read_references(&plan.which.instances)?;
                references
                    .into_iter()
                    .map(|(id, reference)| (id, reference.files()))
                    .collect()
            }
        };
        let job = |instance: Instance| Job {
            files: given.get(&instance.id).cloned().unwrap_or_default(),
            instance,
        };
        Ok(Self {
            jobs: instances.into_iter().map(job).collect(),
            magis,
            repositories,
            results,
            setting,
        })
    }

    /// Records how a run ended, and says so in a line.
    pub fn close(&self, at: usize, job: &Job, run: RunId, outcome: Option<&str>) -> Result<()> {
        let instance = &job.instance;
        let record = RunRecord::of(self.magis.archive(run)?)?;
        let applies = self
            .repositories
            .applies(&instance.repo, &instance.base_commit, record.patch())?;
        let outcome = outcome.map_or_else(|| record.outcome(), str::to_owned);
        let seconds = record.milliseconds() as f64 / 1000.0;
        let tokens: u64 = record
            .calls
            .iter()
            .map(|call| u64::from(call.prompt_tokens) + u64::from(call.generated_tokens))
            .sum();
        self.results.predict(&Prediction {
            instance_id: instance.id.clone(),
            model_name_or_path: self.setting.label.clone(),
            model_patch: record.patch().to_owned(),
        })?;
        let applied = applies == Applies::Yes;
        let state = RunState::Ended {
            outcome: outcome.clone(),
            seconds,
            applied,
        };
        self.results.note_run(&RunLine {
            instance_id: instance.id.clone(),
            run,
            state,
        })?;
        let applied = match applies {
            Applies::Yes => "applied yes".to_owned(),
            Applies::No(why) => format!("applied no ({why})"),
        };
        self.say(
            at,
            &instance.id,
            &format!("{outcome}  {seconds:.0} s  {tokens} tokens  {applied}"),
        );
        Ok(())
    }

    /// Says something of an instance in a line.
    pub fn say(&self, at: usize, id: &InstanceId, what: &str) {
        println!("[{}/{}] {id}  {what}", at + 1, self.jobs.len());
    }
}

fn label(plan: &SetPlan<'_>, model: &str) -> String {
    let mut words = vec![match plan.method {
        Method::Magis => "magis",
        Method::Baseline => "model alone",
    }];
    let name = model.rsplit('/').next().unwrap_or(model);
    words.push(name.strip_suffix(".gguf").unwrap_or(name));
    if plan.method == Method::Magis && plan.files == Files::Given {
        words.push("files given");
    }
    if plan.hints == Hints::Given {
        words.push("hints");
    }
    if plan.qa == Qa::Absent && plan.method == Method::Magis {
        words.push("no QA");
    }
    if plan.relevance == RelevanceMode::Description {
        words.push("P3 on descriptions");
    }
    if plan.memory == Memory::Shared {
        words.push("shared memory");
    }
    words.join(", ")
}
