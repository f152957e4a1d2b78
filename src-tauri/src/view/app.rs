//! The program itself: what it is, its settings, what it fetched, and the news it sends on its own.

use crate::problem::Problem;
use magis_core::{RepoId, RunId};
use magis_engine::EngineLimits;
use magis_engine::model::Manners;
use magis_engine::models::FetchedModel;
use magis_engine::records::Access;
use serde::{Deserialize, Serialize};
use specta::Type;
use tauri_specta::Event;

/// The program and the machine it runs on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct AppInfo {
    pub version: String,
    pub platform: String,
    pub data_folder: String,
    /// How many bytes that is, models included where they lie inside.
    pub data_bytes: u64,
    /// Where the models lie.
    pub models_folder: String,
    /// Where models are asked for by their names; none where that address may not be asked.
    pub hub: Option<String>,
    /// Processors to compute with.
    pub threads: u32,
    /// Memory of the machine in bytes; 0 where the system does not say.
    pub memory_bytes: u64,
    /// Memory that is available now, in bytes; 0 where the system does not say.
    pub available_memory_bytes: u64,
    /// Whether there is no repository and no run yet.
    pub first_start: bool,
    /// What the program was started with.
    pub opened: Option<Opening>,
    /// What an earlier program had begun in repositories and did not end, and what became of it when this one started.
    pub broken_off: Vec<Problem>,
    /// Whether anything can be recorded.
    pub access: AccessView,
}

/// Whether what is done can be recorded in the data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum AccessView {
    ReadWrite,
    /// Its disk is full; it is recorded again once there is room.
    DiskFull,
    /// It can only be read.
    ReadOnly,
}

impl From<Access> for AccessView {
    fn from(access: Access) -> Self {
        match access {
            Access::ReadWrite => Self::ReadWrite,
            Access::DiskFull => Self::DiskFull,
            Access::ReadOnly => Self::ReadOnly,
        }
    }
}

/// What a start of the program names: a repository, and perhaps an issue of it. A start while the window is open sends it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type, Event)]
pub struct Opening {
    /// A folder of the repository.
    pub repo: String,
    /// A file with an issue.
    pub issue: Option<String>,
}

/// The theme of the window, light, dark or the system's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    Light,
    Dark,
}

/// How close rows stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Density {
    #[default]
    Compact,
    Comfortable,
}

/// The language of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// As the system has it.
    #[default]
    System,
    En,
    ZhHans,
}

/// How the engine behaves beside other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum EngineManners {
    /// As any other program.
    Full,
    /// Behind what a person does meanwhile.
    #[default]
    Polite,
    /// Behind everything, with half of the cores.
    Background,
}

impl From<EngineManners> for Manners {
    fn from(manners: EngineManners) -> Self {
        match manners {
            EngineManners::Full => Self::Full,
            EngineManners::Polite => Self::Polite,
            EngineManners::Background => Self::Background,
        }
    }
}

/// What a person set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Settings {
    pub theme: Theme,
    /// How close rows stand.
    pub density: Density,
    /// Of text, in pixels.
    pub font_size: u32,
    pub language: Language,
    /// The model that is taken where none is chosen; none: the catalogue's.
    pub default_model: Option<String>,
    /// The model of runs whose tasks get one round, where none is chosen; none: that of the other runs.
    pub quick_model: Option<String>,
    /// Threads to compute with; none: the physical cores.
    pub threads: Option<u32>,
    /// The context a model is loaded with, in tokens; none: what a run needs.
    pub context: Option<u32>,
    /// Bytes of memory a model with its context may take; none: what is available.
    pub memory_limit: Option<u64>,
    /// How the engine behaves beside other programs, in runs and in the background.
    pub manners: EngineManners,
    /// How many files of the ranking are judged.
    pub top_k: u32,
    /// Rounds a task gets.
    pub max_rounds: u32,
    /// The command that opens a file, with `{file}` and `{line}`; none: the first known editor that is here.
    pub editor: Option<String>,
    /// Whether the end of a run is told while another window is in front.
    pub notify: bool,
    /// Whether files of the current repository are described in advance, while nobody needs the machine.
    pub summarise_when_idle: bool,
    /// Tokens that may cost, from when it was switched on; none: as many as it takes.
    pub summarise_tokens: Option<u64>,
    /// Minutes in which the model may be at work for it; none: as many as it takes.
    pub summarise_minutes: Option<u32>,
}

impl Settings {
    /// Returns what a model may take, in the engine's words.
    pub fn limits(&self) -> EngineLimits {
        EngineLimits {
            context: self.context,
            threads: self.threads,
            memory: self.memory_limit,
            manners: Some(self.manners.into()),
            ..EngineLimits::default()
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            density: Density::default(),
            font_size: 13,
            language: Language::default(),
            default_model: None,
            quick_model: None,
            threads: None,
            context: None,
            memory_limit: None,
            manners: EngineManners::default(),
            top_k: 20,
            max_rounds: 3,
            editor: None,
            notify: true,
            summarise_when_idle: false,
            summarise_tokens: Some(50_000),
            summarise_minutes: Some(30),
        }
    }
}

/// Something that was fetched from a network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct FetchRecord {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    pub what: String,
    pub from: String,
    /// How many bytes.
    pub bytes: u64,
}

impl From<FetchedModel> for FetchRecord {
    fn from(fetched: FetchedModel) -> Self {
        Self {
            at_ms: i64::try_from(fetched.when).unwrap_or(i64::MAX).saturating_mul(1000),
            what: fetched.model.to_string(),
            from: fetched.from.join(", "),
            bytes: fetched.bytes,
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Type)]
pub struct DoctorLine {
    /// Whether it is as it should be.
    pub ok: bool,
    /// What was found, told as a problem is also where it is none.
    pub said: Problem,
}

/// What happens with runs when the window is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum CloseAnswer {
    /// They go on without a window.
    Background,
    /// They are paused, and the program ends.
    Pause,
    /// They are stopped, and the program ends.
    Stop,
    Cancel,
}

/// The list of repositories is another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type, Event)]
pub struct RepositoriesChanged {}

/// A run, or the list of runs, is another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type, Event)]
pub struct RunsChanged {
    pub run: Option<RunId>,
}

/// The models are other ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type, Event)]
pub struct ModelsChanged {}

/// What is remembered of a repository is another thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type, Event)]
pub struct MemoryChanged {
    pub repo: RepoId,
}

/// The settings are other ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type, Event)]
pub struct SettingsChanged {}

/// The window was asked to close while runs are worked on or wait; it waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type, Event)]
pub struct CloseAsked {
    pub running: u32,
}
