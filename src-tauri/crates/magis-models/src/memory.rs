//! How much memory a model needs at a given context, and the largest context that fits.
//!
//! Estimates for the CPU backend, on the safe side. What a context takes is `magis_llm`'s rule, which the engine has too. It does
//! not load anything and does not watch memory over time.

use crate::{CatalogEntry, GgufHeader};
use magis_llm::memory::ContextMemory;
use serde::{Deserialize, Serialize};

/// The smallest context worth running with, in tokens: below it neither a function nor its issue fits.
pub const MINIMUM_CONTEXT: u32 = 2048;

/// Contexts are multiples of this, as llama.cpp pads them.
const CONTEXT_STEP: u32 = 256;
/// Tokens evaluated in one step; activations are kept for that many.
const STEP_TOKENS: u64 = 512;
/// Rows of logits that are held at once.
const OUTPUT_ROWS: u64 = 512;

/// What a model needs of memory, by part, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryNeed {
    /// The weights: the whole file.
    pub weights: u64,
    /// Keys and values of every token of the context, and the recurrent states.
    pub cache: u64,
    /// Activations of one step.
    pub compute: u64,
    /// Logits of the rows that are asked for.
    pub outputs: u64,
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
        /// The bytes it needs at the smallest context.
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
        Dimensions::of_header(header).need(context)
    }

    /// Returns the need of a model that is not here yet, as the catalogue states its dimensions.
    pub fn of_entry(entry: &CatalogEntry, context: u32) -> Self {
        Dimensions::of_entry(entry).need(context)
    }

    /// Sums up all parts, in bytes.
    pub fn bytes(&self) -> u64 {
        [self.cache, self.compute, self.outputs]
            .into_iter()
            .fold(self.weights, u64::saturating_add)
    }
}

/// Returns the largest context up to `wanted` tokens, and up to what the model was trained with, that fits into
/// `available` bytes.
pub fn fits(header: &GgufHeader, wanted: u32, available: u64) -> Fit {
    Dimensions::of_header(header).fit(wanted, available)
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
        Dimensions::of_entry(self).fit(wanted, available)
    }
}

struct Dimensions {
    file_bytes: u64,
    memory: ContextMemory,
    embedding: u64,
    feed_forward: u64,
    vocabulary: u64,
    trained_context: u32,
}

impl Dimensions {
    fn of_header(header: &GgufHeader) -> Self {
        Self {
            file_bytes: header.file_bytes,
            memory: header.memory,
            embedding: header.embedding_length.into(),
            feed_forward: header.feed_forward_length.into(),
            vocabulary: header.vocabulary.into(),
            trained_context: header.context_length,
        }
    }

    fn of_entry(entry: &CatalogEntry) -> Self {
        let d = entry.dimensions;
        let per_token =
            2 * u64::from(d.layers) * u64::from(d.kv_heads) * (u64::from(d.key_length) + u64::from(d.value_length));
        Self {
            file_bytes: entry.file.bytes,
            memory: ContextMemory {
                per_token,
                per_sequence: d.state,
            },
            embedding: d.embedding.into(),
            feed_forward: d.feed_forward.into(),
            vocabulary: d.vocabulary.into(),
            trained_context: entry.context,
        }
    }

    fn need(&self, context: u32) -> MemoryNeed {
        let context = context.checked_next_multiple_of(CONTEXT_STEP).unwrap_or(context);
        // Per token of a step: the residual stream and its copies, both halves of the feed-forward layer, and the attention mask
        // as 32-bit and as 16-bit values.
        let per_token = 4 * (6 * self.embedding + 3 * self.feed_forward) + 6 * u64::from(context);
        MemoryNeed {
            weights: self.file_bytes,
            cache: self.memory.bytes(context),
            compute: STEP_TOKENS.saturating_mul(per_token),
            outputs: 4 * self.vocabulary * OUTPUT_ROWS,
        }
    }

    fn fit(&self, wanted: u32, available: u64) -> Fit {
        let most = wanted.min(self.trained_context);
        let least = MINIMUM_CONTEXT.min(most);
        if self.need(most).bytes() <= available {
            return if most == wanted {
                Fit::Fits { context: most }
            } else {
                Fit::Smaller { context: most }
            };
        }
        let need = self.need(least).bytes();
        if need > available {
            return Fit::No { need, available };
        }
        // The need grows with the context, so the border can be found by halving.
        let (mut fitting, mut failing) = (least, most);
        while failing - fitting > CONTEXT_STEP {
            let middle = fitting + (failing - fitting) / 2;
            if self.need(middle).bytes() <= available {
                fitting = middle;
            } else {
                failing = middle;
            }
        }
        Fit::Smaller {
            context: (fitting / CONTEXT_STEP * CONTEXT_STEP).max(least),
        }
    }
}
