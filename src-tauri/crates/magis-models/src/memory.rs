//! How much memory a model needs at a given context, and the largest context that fits.
//!
//! For main memory alone; the rules are `magis_llm`'s, which the engine has too. It does not load anything and does not watch
//! memory over time.

use crate::{CatalogEntry, GgufHeader};
use magis_llm::memory::ContextMemory;
use magis_llm::placement::{BATCH, CONTEXT_STEP, Machine, OUTPUTS, RESERVE, TooLarge, Wishes, place};
use magis_llm::size::{LayerSize, ModelSize, Widths};
use serde::{Deserialize, Serialize};

/// The smallest context worth running with, in tokens: below it neither a function nor its issue fits.
pub const MINIMUM_CONTEXT: u32 = 2048;

/// What a model needs of memory, by part, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryNeed {
    pub weights: u64,
    /// Keys and values of every token of the context, and the recurrent states.
    pub cache: u64,
    /// Activations of one step.
    pub compute: u64,
    /// Logits of the rows that are asked for.
    pub outputs: u64,
    /// The process itself, with the tables of its vocabulary.
    pub process: u64,
}

/// Whether a model fits into memory, and with how much context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It fits with the context that was wanted.
    Fits {
        /// The context to run with, in tokens.
        context: u32,
    },
    /// It fits with less context than was wanted.
    Smaller {
        /// The context to run with, in tokens.
        context: u32,
    },
    /// It does not fit even with [`MINIMUM_CONTEXT`].
    No {
        /// The bytes it needs at the smallest context, with those that are left to other programs.
        need: u64,
        /// The bytes there are.
        available: u64,
    },
}

/// A class of machines by their memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub enum MemoryClass {
    Gb8,
    Gb16,
    Gb24,
    Gb32,
    Gb64,
}

/// What the system and this program take beside a model, in bytes.
const BESIDES_MODEL: u64 = 1 << 30;
/// The context that a machine of a class has room for at the least, in tokens: that of a run in a repository of usual size.
const CLASS_CONTEXT: u32 = 8192;

impl MemoryClass {
    /// All classes, the smallest first.
    pub const ALL: [Self; 5] = [Self::Gb8, Self::Gb16, Self::Gb24, Self::Gb32, Self::Gb64];

    /// Returns the memory of such a machine, in GB as machines are sold.
    pub fn gigabytes(self) -> u32 {
        match self {
            Self::Gb8 => 8,
            Self::Gb16 => 16,
            Self::Gb24 => 24,
            Self::Gb32 => 32,
            Self::Gb64 => 64,
        }
    }
}

impl TryFrom<u32> for MemoryClass {
    type Error = String;

    fn try_from(gigabytes: u32) -> Result<Self, Self::Error> {
        let class = Self::ALL.into_iter().find(|class| class.gigabytes() == gigabytes);
        class.ok_or_else(|| format!("{gigabytes} GB is no class of memory; take 8, 16, 24, 32 or 64"))
    }
}

impl From<MemoryClass> for u32 {
    fn from(class: MemoryClass) -> Self {
        class.gigabytes()
    }
}

/// What a file's size alone says about whether its model fits. What a context takes is known from the header, so only when the
/// file is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeFit {
    /// The weights leave room for the smallest context of any usual model.
    Room {
        /// The bytes they leave.
        left: u64,
    },
    /// The weights leave so little that a context may not fit.
    Tight {
        /// The bytes they leave.
        left: u64,
    },
    /// The weights alone are too large.
    TooLarge {
        /// The bytes there are.
        available: u64,
    },
}

/// What a context of [`MINIMUM_CONTEXT`], activations and logits take of the usual models at the most, in bytes.
const USUAL_CONTEXT_BYTES: u64 = 2 << 30;

impl SizeFit {
    /// Compares the bytes of a model's files with those available.
    pub fn of(bytes: u64, available: u64) -> Self {
        match available.checked_sub(bytes) {
            Some(left) if left >= USUAL_CONTEXT_BYTES => Self::Room { left },
            Some(left) => Self::Tight { left },
            None => Self::TooLarge { available },
        }
    }
}

impl MemoryNeed {
    /// Returns the need of the model with this header at a context of so many tokens.
    pub fn of(header: &GgufHeader, context: u32) -> Self {
        Self::of_size(&header.size, context)
    }

    /// Returns the need of a model that is not here yet, as the catalogue states its dimensions.
    pub fn of_entry(entry: &CatalogEntry, context: u32) -> Self {
        Self::of_size(&size_of(entry), context)
    }

    /// Sums up all parts, in bytes.
    pub fn bytes(&self) -> u64 {
        [self.cache, self.compute, self.outputs, self.process]
            .into_iter()
            .fold(self.weights, u64::saturating_add)
    }

    fn of_size(size: &ModelSize, context: u32) -> Self {
        let context = context.checked_next_multiple_of(CONTEXT_STEP).unwrap_or(context);
        Self {
            weights: size.weights(),
            cache: size.context().bytes(context),
            compute: size.step(context.into(), BATCH.into()),
            outputs: size.logits(OUTPUTS),
            process: size.process(),
        }
    }
}

/// Returns the largest context up to `wanted` tokens, and up to what the model was trained with, that fits into
/// `available` bytes, of which some are left to other programs.
pub fn fits(header: &GgufHeader, wanted: u32, available: u64) -> Fit {
    fit(&header.size, wanted, available)
}

impl CatalogEntry {
    /// Returns the smallest class of machines with room for the model; none where it is beyond all of them.
    pub fn memory_class(&self) -> Option<MemoryClass> {
        let need = MemoryNeed::of_entry(self, CLASS_CONTEXT.min(self.context)).bytes();
        let wanted = need.saturating_add(BESIDES_MODEL);
        MemoryClass::ALL
            .into_iter()
            .find(|class| wanted <= u64::from(class.gigabytes()) << 30)
    }

    /// As [`fits`], for a model that is not here yet.
    pub fn fits(&self, wanted: u32, available: u64) -> Fit {
        fit(&size_of(self), wanted, available)
    }
}

fn fit(size: &ModelSize, wanted: u32, available: u64) -> Fit {
    let machine = Machine {
        main: available,
        device: None,
    };
    let longest = place(
        machine,
        size,
        &Wishes {
            most_context: Some(wanted),
            ..Wishes::default()
        },
    );
    let least = MINIMUM_CONTEXT.min(wanted).min(size.trained_context);
    match longest {
        Ok(placement) if placement.context == wanted => Fit::Fits { context: wanted },
        Ok(placement) if placement.context >= least => Fit::Smaller {
            context: placement.context,
        },
        Ok(_)
        | Err(
            TooLarge::NoContext | TooLarge::BeyondTraining { .. } | TooLarge::Memory { .. } | TooLarge::Device { .. },
        ) => Fit::No {
            need: MemoryNeed::of_size(size, least).bytes().saturating_add(RESERVE),
            available,
        },
    }
}

/// Returns the sizes of a model of which only the catalogue's line is known.
fn size_of(entry: &CatalogEntry) -> ModelSize {
    let d = entry.dimensions;
    let per_token = 2 * u64::from(d.kv_heads) * (u64::from(d.key_length) + u64::from(d.value_length));
    let layer = LayerSize {
        dense: entry.file.bytes / u64::from(d.layers.max(1)),
        context: ContextMemory {
            per_token,
            per_sequence: d.state / u64::from(d.layers.max(1)),
        },
        ..LayerSize::default()
    };
    ModelSize {
        layers: vec![layer; d.layers as usize],
        widths: Widths {
            embedding: d.embedding.into(),
            inner: 3 * u64::from(d.feed_forward),
            vocabulary: d.vocabulary.into(),
            masks: 1,
        },
        trained_context: entry.context,
        ..ModelSize::default()
    }
}
