//! Models: what is here, what can be fetched, whether it fits and how fast it was.

use crate::problem::Problem;
use magis_engine::models::Fit;
use magis_engine::records::Speed;
use magis_engine::{ModelAbilities, RightAnswers};
use serde::{Deserialize, Serialize};
use specta::Type;

/// A model of the list.
#[derive(Debug, Clone, PartialEq, Serialize, Type)]
pub struct ModelRow {
    pub id: String,
    pub name: String,
    /// The licence of the weights; empty where it is not known.
    pub licence: String,
    /// The bytes of its file.
    pub bytes: u64,
    /// The hash of its file; empty where it was not taken yet.
    pub sha256: String,
    /// What to expect of it; empty where that is not known.
    pub good_for: String,
    /// Who measured what of it; empty where that is not known.
    pub rated: String,
    /// Whether it is here.
    pub installed: bool,
    /// Whether it is a file of the person's own, not of the catalogue.
    pub own_file: bool,
    /// Why it cannot be used.
    pub broken: Option<String>,
    /// The context it was trained with, in tokens.
    pub context_length: u32,
    /// Memory it needs with the context of a run, in bytes.
    pub need_bytes: u64,
    pub fits: ModelFit,
    /// Bytes that are here of an unfinished download.
    pub partial_bytes: u64,
    /// How fast it was on this machine.
    pub measured: Option<MeasuredSpeed>,
    /// What it could do when it was tried here; none where it was not yet.
    pub abilities: Option<TriedAbilities>,
    /// For what it is taken where none is chosen.
    pub default_for: Vec<Purpose>,
    /// Where it can be had.
    pub from: String,
}

/// What a model can be the default of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Of all runs that have no default of their own.
    Runs,
    /// Of quick runs, whose tasks get one round.
    QuickRuns,
}

/// Whether a model fits into the available memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ModelFit {
    /// With the context of a run.
    Fits {
        /// In tokens.
        context: u32,
    },
    /// With a smaller context only.
    Smaller {
        /// In tokens.
        context: u32,
    },
    No {
        /// Bytes needed at the least.
        need: u64,
        /// Bytes available.
        available: u64,
    },
}

impl From<Fit> for ModelFit {
    fn from(fit: Fit) -> Self {
        match fit {
            Fit::Fits { context } => Self::Fits { context },
            Fit::Smaller { context } => Self::Smaller { context },
            Fit::No { need, available } => Self::No { need, available },
        }
    }
}

/// What a model could do when it was tried, of each kind how many questions were answered rightly, of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Type)]
pub struct TriedAbilities {
    pub form: (u32, u32),
    pub naming: (u32, u32),
    /// None where its template has no form for tools.
    pub tools: Option<(u32, u32)>,
}

impl From<ModelAbilities> for TriedAbilities {
    fn from(abilities: ModelAbilities) -> Self {
        let share = |right: RightAnswers| (right.right, right.asked);
        Self {
            form: share(abilities.form),
            naming: share(abilities.naming),
            tools: abilities.tools.map(share),
        }
    }
}

/// How fast a model was in its calls on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Type)]
pub struct MeasuredSpeed {
    /// Tokens read a second.
    #[specta(type = u32)]
    pub read_tokens_per_second: f64,
    /// Tokens written a second.
    #[specta(type = u32)]
    pub write_tokens_per_second: f64,
    /// Over how many calls.
    pub calls: u32,
}

impl From<Speed> for MeasuredSpeed {
    fn from(speed: Speed) -> Self {
        Self {
            read_tokens_per_second: speed.read,
            write_tokens_per_second: speed.write,
            calls: speed.calls,
        }
    }
}

/// What happens while a model is fetched.
#[derive(Debug, Clone, PartialEq, Serialize, Type)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FetchNews {
    /// Bytes arrive.
    Progress {
        /// Bytes that are here.
        received: u64,
        /// Bytes of the whole file.
        total: u64,
        /// How fast, over the last seconds.
        #[specta(type = u32)]
        bytes_per_second: f64,
    },
    /// All bytes are here and their hash is being taken.
    Checking,
    /// The model is in its place.
    Done,
    /// It was paused; what arrived is kept.
    Stopped {
        /// Bytes that are here.
        received: u64,
    },
    /// Something went wrong; what arrived is kept.
    Problem { problem: Problem },
}
