//! The folder a set is solved into: its setting, its runs, its predictions, a judge's verdicts, scores.
//!
//! Lines are only ever appended; of several about one instance the last holds. The runs themselves are in the store of the
//! data folder that the setting names.

use crate::instances::{InstanceId, rows};
use anyhow::{Context as _, Result, bail};
use magis_core::{RelevanceMode, RunId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// How a set is solved; the same for every instance of one folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// What the tables call it.
    pub label: String,
    /// The whole method, or the model alone.
    pub method: Method,
    pub model: String,
    /// Whether the files are given or located.
    pub files: Files,
    /// Whether the comments on the issue are given.
    pub hints: Hints,
    /// Whether QA Engineers review.
    pub qa: Qa,
    /// What P3 judges from.
    #[serde(default)]
    pub relevance: RelevanceMode,
    /// How many files of the ranking are judged.
    pub top_k: u32,
    /// Rounds a task gets.
    pub max_rounds: u32,
    pub seed: u64,
    /// The context the model is loaded with, where it is not the usual one.
    pub context: Option<u32>,
    /// What the summary memory holds when a run begins.
    pub memory: Memory,
    /// The data folder with the runs.
    pub data_dir: PathBuf,
    /// The folder with the repositories.
    pub repos: PathBuf,
}

/// The method by which a set was solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    Magis,
    /// The model alone: issue and given files in one prompt.
    Baseline,
}

/// Where the candidate files come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Files {
    /// The run locates them.
    Located,
    /// They are those of the reference (the paper's oracle setting).
    Given,
}

/// Whether the comments on an issue are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hints {
    Given,
    Withheld,
}

/// Whether QA Engineers review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Qa {
    Reviewing,
    Absent,
}

/// What the summary memory holds when a run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// Nothing: each instance has a repository of its own.
    Empty,
    /// What earlier instances of the same repository left.
    Shared,
}

/// What became of an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunLine {
    pub instance_id: InstanceId,
    /// Its run in the data folder.
    pub run: RunId,
    /// How far it is.
    #[serde(flatten)]
    pub state: RunState,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RunState {
    Begun,
    /// It could not go on; it is resumed when the set is gone on with.
    Stuck {
        reason: String,
    },
    Ended {
        /// How: `approved`, `not approved`, `no change: …`, `failed: …`.
        outcome: String,
        /// Seconds worked on it, over all sittings.
        seconds: f64,
        /// Whether `git apply --check` takes its patch on the base.
        applied: bool,
    },
}

/// A prediction in SWE-bench's form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prediction {
    pub instance_id: InstanceId,
    pub model_name_or_path: String,
    /// The patch; empty where there is none.
    pub model_patch: String,
}

/// A judge's verdict on a prediction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    pub instance_id: InstanceId,
    /// Whether git applied it.
    #[serde(default)]
    pub applied: bool,
    /// Whether all tests pass.
    pub resolved: bool,
    /// What was wrong, where something was.
    #[serde(default)]
    pub why: Option<String>,
}

/// How well the task descriptions of a run match the reference change, as a model judges (appendix G).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskScore {
    pub instance_id: InstanceId,
    pub run: RunId,
    /// The model that judged.
    pub judge: String,
    /// The likeliest score, 1 to 5.
    pub score: u8,
    /// The mean of the scores, weighted by how likely the model finds each.
    pub expected: f64,
}

/// A folder of results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Results {
    folder: PathBuf,
}

impl Results {
    /// Opens the folder, or begins it. It belongs to one setting: with another one it is refused.
    pub fn begin(folder: &Path, setting: &Setting) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        let results = Self {
            folder: folder.to_owned(),
        };
        let file = results.file("setting.json");
        if file.is_file() {
            let before = results.setting()?;
            if before != *setting {
                bail!(
                    "{} was begun with another setting:\n  {}\nnow asked for:\n  {}\ntake another --out, or the same options",
                    folder.display(),
                    serde_json::to_string(&before)?,
                    serde_json::to_string(setting)?,
                );
            }
        } else {
            let text = serde_json::to_string_pretty(setting)?;
            std::fs::write(&file, text + "\n").with_context(|| format!("writing {}", file.display()))?;
        }
        Ok(results)
    }

    /// Opens a folder that was begun.
    pub fn open(folder: &Path) -> Result<Self> {
        let results = Self {
            folder: folder.to_owned(),
        };
        results.setting()?;
        Ok(results)
    }

    /// Reads the setting under which the set was solved.
    pub fn setting(&self) -> Result<Setting> {
        let file = self.file("setting.json");
        let text = std::fs::read_to_string(&file).with_context(|| {
            format!(
                "reading {}; is it a folder that 'magis-eval solve' wrote?",
                file.display()
            )
        })?;
        serde_json::from_str(&text).with_context(|| format!("reading {}", file.display()))
    }

    /// Returns the folder of the scratch clones.
    pub fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Returns the path of the file of predictions.
    pub fn predictions_file(&self) -> PathBuf {
        self.file("predictions.jsonl")
    }

    /// Returns the runs, the last word on each.
    pub fn runs(&self) -> Result<BTreeMap<InstanceId, RunLine>> {
        self.last("runs.jsonl", |line: &RunLine| line.instance_id.clone())
    }

    /// Reads the predictions, by instance.
    pub fn predictions(&self) -> Result<BTreeMap<InstanceId, Prediction>> {
        self.last("predictions.jsonl", |line: &Prediction| line.instance_id.clone())
    }

    /// Returns the verdicts that were handed in.
    pub fn judged(&self) -> Result<BTreeMap<InstanceId, Judged>> {
        self.last("judged.jsonl", |line: &Judged| line.instance_id.clone())
    }

    /// Returns the scores of task descriptions.
    pub fn task_scores(&self) -> Result<BTreeMap<InstanceId, TaskScore>> {
        self.last("task-scores.jsonl", |line: &TaskScore| line.instance_id.clone())
    }

    /// Says how far a run is.
    pub fn note_run(&self, line: &RunLine) -> Result<()> {
        self.append("runs.jsonl", line)
    }

    /// Appends a prediction to the file of predictions.
    pub fn predict(&self, prediction: &Prediction) -> Result<()> {
        self.append("predictions.jsonl", prediction)
    }

    /// Appends a verdict of the judge to its file.
    pub fn judge(&self, judged: &Judged) -> Result<()> {
        self.append("judged.jsonl", judged)
    }

    /// Appends the score of a task to its file.
    pub fn score(&self, score: &TaskScore) -> Result<()> {
        self.append("task-scores.jsonl", score)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn last<T: for<'de> Deserialize<'de>>(
        &self,
        name: &str,
        id: impl Fn(&T) -> InstanceId,
    ) -> Result<BTreeMap<InstanceId, T>> {
        let file = self.file(name);
        if !file.is_file() {
            return Ok(BTreeMap::new());
        }
        Ok(rows::<T>(&file)?.into_iter().map(|line| (id(&line), line)).collect())
    }

    fn append(&self, name: &str, line: &impl Serialize) -> Result<()> {
        let path = self.file(name);
        let text = serde_json::to_string(line)? + "\n";
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .with_context(|| format!("opening {}", path.display()))?;
        file.write_all(text.as_bytes())
            .with_context(|| format!("writing {}", path.display()))
    }
}

/// Reads a judge's JSON lines. Those without an instance, such as a summary, and what is no JSON, are passed over.
pub fn read_verdicts(text: &str) -> Vec<Judged> {
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}
