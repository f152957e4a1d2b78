//! Where a model is put on a machine, and with how long a context: [`place`], a function of their sizes alone.
//!
//! What a person asked for is kept or refused, never changed. What is free is asked elsewhere, and so is what the libraries
//! of a device say.

use crate::memory::{KvType, Sequences};
pub use crate::size::OUTPUTS;
use crate::size::{ModelSize, WeightOrder};
use magis_core::text::bytes;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Free memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    pub main: u64,
    /// Of the device that computes beside the processor; none: there is none.
    pub device: Option<u64>,
}

/// What a person asked for. What is not said is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The context in tokens.
    pub context: Option<u32>,
    /// The most tokens of a context that is chosen.
    pub most_context: Option<u32>,
    /// Tokens computed in one step.
    pub batch: Option<u32>,
    pub kv_type: Option<KvType>,
    /// Layers on the device, the output counted as the first; 0: no device is used at all.
    pub gpu_layers: Option<u32>,
    /// Layers on the device whose experts stay in main memory, counted from the first layer of the model.
    pub host_experts: Option<u32>,
    /// How weights come into main memory.
    pub loading: Option<Loading>,
}

/// How weights come into main memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loading {
    /// The file's own pages, which the system can drop and read again: nothing is copied.
    #[default]
    Mapped,
    /// Read into memory of the process's own, in the order of the matrix kernels.
    Read,
}

/// A word that names no way of loading weights.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("weights are mapped or read, not {0:?}")]
pub struct UnknownLoading(String);

impl FromStr for Loading {
    type Err = UnknownLoading;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "mapped" => Ok(Self::Mapped),
            "read" => Ok(Self::Read),
            _ => Err(UnknownLoading(word.to_owned())),
        }
    }
}

/// Where a model is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// The context in tokens.
    pub context: u32,
    /// Tokens computed in one step.
    pub batch: u32,
    pub kv_type: KvType,
    /// Layers on the device, the output counted as the first.
    pub gpu_layers: u32,
    /// Layers of these, counted from the first layer of the model, whose experts stay in main memory.
    pub host_experts: u32,
    /// Whether the model's own heads are loaded, for drafts: where there is room beside the rest.
    pub heads: bool,
    pub loading: Loading,
    pub need: Need,
}

/// Bytes that a model takes with a context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Need {
    pub main: u64,
    pub device: u64,
}

/// Why a model cannot be put on a machine.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TooLarge {
    #[error("a context of 0 tokens was asked for")]
    NoContext,
    #[error("a context of {asked} tokens was asked for, and it was trained on {trained}")]
    BeyondTraining { asked: u32, trained: u32 },
    #[error(
        "with a context of {context} tokens it needs {} of memory and {} are free, of which {} are left to other \
         programs; {fitting}",
        bytes(*need), bytes(*free), bytes(RESERVE)
    )]
    Memory {
        context: u32,
        need: u64,
        free: u64,
        fitting: Fitting,
    },
    #[error(
        "{layers} of its layers with a context of {context} tokens need {} on the graphics device and {} are free, of \
         which {} are left to other programs; ask for fewer layers, or leave the choice",
        bytes(*need), bytes(*free), bytes(DEVICE_RESERVE)
    )]
    Device {
        layers: u32,
        context: u32,
        need: u64,
        free: u64,
    },
}

/// What would fit where something does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fitting {
    /// This model with a context of so many tokens.
    Context(u32),
    /// A model whose file has so many bytes.
    File(u64),
    Nothing,
}

impl Wishes {
    /// Returns the wishes to try next where a placement turned out to be too large after all: less of everything that was
    /// not asked for.
    #[must_use]
    pub fn smaller_than(&self, context: u32, gpu_layers: u32) -> Self {
        Self {
            most_context: Some((context / 2).max(SMALLEST_CONTEXT)),
            batch: self.batch.or(Some(SMALL_BATCH)),
            kv_type: self.kv_type.or(Some(KvType::Q8)),
            gpu_layers: self.gpu_layers.or(Some(gpu_layers / 4 * 3)),
            ..*self
        }
    }
}

impl fmt::Display for Fitting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Context(context) => write!(f, "a context of {context} tokens would fit"),
            Self::File(size) => write!(f, "a model of up to {} would fit", bytes(*size)),
            Self::Nothing => f.write_str("close other programs"),
        }
    }
}

/// Tokens of one step where nothing else is asked for: enough for the matrix kernels.
pub const BATCH: u32 = 512;
/// Tokens of one step where memory is short.
pub const SMALL_BATCH: u32 = 128;
/// Less would make no step use less memory worth speaking of.
pub const SMALLEST_BATCH: u32 = 64;
/// The largest context taken unasked: beyond it small models get distracted.
pub const LARGEST_CONTEXT: u32 = 32_768;
/// A context below this is of no use to a run.
pub const SMALLEST_CONTEXT: u32 = 1024;
/// From here on keys and values stay at 16 bits: a longer context would not be worth their precision.
const ENOUGH_CONTEXT: u32 = 8192;
/// Contexts are multiples of this, as llama.cpp pads them.
pub const CONTEXT_STEP: u32 = 256;
/// Left to the rest of the system.
pub const RESERVE: u64 = 1 << 30;
/// Left on the device to what else draws there, and to what its driver takes.
const DEVICE_RESERVE: u64 = 1 << 30;

/// Puts a model on a machine: as much as fits on the device, with experts in main memory where not all fits, and the
/// longest context up to what is wanted.
///
/// # Errors
/// When what is asked for, or even the smallest context, does not fit.
pub fn place(machine: Machine, model: &ModelSize, wishes: &Wishes) -> Result<Placement, TooLarge> {
    let wanted = wanted_context(model, wishes)?;
    let way = |kv_type, batch| Way {
        machine,
        model,
        wishes,
        kv_type: wishes.kv_type.unwrap_or(kv_type),
        batch: wishes.batch.unwrap_or(batch).clamp(SMALLEST_BATCH, BATCH),
    };
    // What comes later is less precise, or slower.
    let ways = [
        way(KvType::F16, BATCH),
        way(KvType::Q8, BATCH),
        way(KvType::Q8, SMALL_BATCH),
    ];
    let enough = wishes.context.unwrap_or(wanted.min(ENOUGH_CONTEXT));
    let mut best: Option<Placement> = None;
    for way in &ways {
        let Some(found) = way.longest(wanted) else { continue };
        if found.context >= enough {
            return Ok(found);
        }
        best = best.filter(|best| best.context >= found.context).or(Some(found));
    }
    match best {
        Some(best) if wishes.context.is_none() => Ok(best),
        best => Err(ways[0].refusal(wishes.context.unwrap_or(SMALLEST_CONTEXT.min(wanted)), best)),
    }
}

/// Returns the most tokens of a context that come into question.
fn wanted_context(model: &ModelSize, wishes: &Wishes) -> Result<u32, TooLarge> {
    let trained = model.trained_context;
    match wishes.context {
        Some(0) => Err(TooLarge::NoContext),
        Some(asked) if asked > trained => Err(TooLarge::BeyondTraining { asked, trained }),
        Some(asked) => Ok(asked),
        None => Ok(trained.min(wishes.most_context.unwrap_or(LARGEST_CONTEXT))),
    }
}

/// One way to put a model on a machine.
struct Way<'a> {
    machine: Machine,
    model: &'a ModelSize,
    wishes: &'a Wishes,
    kv_type: KvType,
    batch: u32,
}

impl Way<'_> {
    /// Returns the placement with the longest context up to `wanted` that fits.
    fn longest(&self, wanted: u32) -> Option<Placement> {
        if let Some(found) = self.fitting(wanted) {
            return Some(found);
        }
        // The need grows with the context, so the border can be found by halving.
        let mut found = self.fitting(SMALLEST_CONTEXT.min(wanted))?;
        let (mut fitting, mut failing) = (found.context / CONTEXT_STEP, wanted.div_ceil(CONTEXT_STEP));
        while failing - fitting > 1 {
            let middle = fitting.midpoint(failing);
            match self.fitting(middle * CONTEXT_STEP) {
                Some(longer) => (found, fitting) = (longer, middle),
                None => failing = middle,
            }
        }
        Some(found)
    }

    fn fitting(&self, context: u32) -> Option<Placement> {
        let placement = self.placement(context);
        self.has_room(placement.need).then_some(placement)
    }

    fn has_room(&self, need: Need) -> bool {
        need.main <= self.machine.main.saturating_sub(RESERVE) && need.device <= self.device_room()
    }

    /// Returns the best placement with a context of so many tokens, whether it fits or not.
    fn placement(&self, context: u32) -> Placement {
        let (gpu_layers, host_experts) = self.split(context);
        let without = self.need(context, gpu_layers, host_experts);
        let with_heads = self.with_heads(without, context, gpu_layers);
        let with_heads = with_heads.filter(|need| self.has_room(*need));
        let need = with_heads.unwrap_or(without);
        Placement {
            context,
            batch: self.batch.min(context),
            kv_type: self.kv_type,
            gpu_layers,
            host_experts,
            heads: with_heads.is_some(),
            loading: self.loading(need),
            need,
        }
    }

    /// Returns how the weights of a model with that need come into main memory.
    fn loading(&self, need: Need) -> Loading {
        // Copied weights cannot be dropped as pages of a file can, and others need memory, too.
        let half = self.machine.main / 2;
        let usual = match self.model.order {
            WeightOrder::Kernels if need.main <= half => Loading::Read,
            WeightOrder::File | WeightOrder::Kernels => Loading::Mapped,
        };
        self.wishes.loading.unwrap_or(usual)
    }

    /// Returns how many layers go to the device, and of how many the experts stay in main memory.
    fn split(&self, context: u32) -> (u32, u32) {
        let all = self.model.layers.len() as u32 + 1;
        let layers = self.wishes.gpu_layers.map(|layers| layers.min(all));
        if self.machine.device.is_none() || layers == Some(0) {
            return (0, 0);
        }
        let fits = |layers: u32, experts: u32| self.need(context, layers, experts).device <= self.device_room();
        let most_experts = if self.model.has_experts() { all - 1 } else { 0 };
        let experts = |layers: u32| {
            let wished = self.wishes.host_experts.map(|experts| experts.min(most_experts));
            wished.unwrap_or_else(|| first_true(most_experts, |experts| fits(layers, experts)))
        };
        // Attention is worth more there than experts, of which a token uses a few only.
        let layers = layers.unwrap_or_else(|| {
            let left_out = first_true(all, |left_out| {
                fits(all - left_out, self.wishes.host_experts.unwrap_or(most_experts))
            });
            all - left_out
        });
        (layers, if layers == 0 { 0 } else { experts(layers) })
    }

    fn need(&self, context: u32, gpu_layers: u32, host_experts: u32) -> Need {
        let Self { model, kv_type, .. } = self;
        let padded = u64::from(context.next_multiple_of(CONTEXT_STEP));
        let sequences = u64::from(Sequences::RECURRENT.count());
        // The output counts as the first of the layers on the device; then come the last ones.
        let first = model.layers.len() - (gpu_layers as usize).saturating_sub(1);
        let step = model.step(padded, self.batch.into());
        let mut need = Need {
            main: model
                .process()
                .saturating_add(model.input)
                .saturating_add(model.logits(OUTPUTS)),
            device: 0,
        };
        let mut largest_kept = 0;
        for (number, layer) in model.layers.iter().enumerate() {
            let context = kv_type.bytes(layer.context.per_token).saturating_mul(padded);
            let states = layer.context.per_sequence.saturating_mul(sequences);
            let dense = layer.dense.saturating_add(context).saturating_add(states);
            let on_device = number >= first;
            let place = if on_device { &mut need.device } else { &mut need.main };
            *place = place.saturating_add(dense);
            let place = if on_device && number >= host_experts as usize {
                &mut need.device
            } else {
                if on_device {
                    largest_kept = largest_kept.max(layer.experts);
                }
                &mut need.main
            };
            *place = place.saturating_add(layer.experts);
        }
        if gpu_layers == 0 {
            need.main = need.main.saturating_add(model.output).saturating_add(step);
        } else {
            // For prompts the device fetches the experts that it lacks, one of their two or three tensors at a time.
            need.device = [model.output_on_device(), step, model.logits(OUTPUTS), largest_kept / 2]
                .into_iter()
                .fold(need.device, u64::saturating_add);
            need.main = need.main.saturating_add(step / 2);
        }
        need
    }

    /// Returns the need of a model together with its heads, whose steps have a context of their own; none where it has none.
    fn with_heads(&self, need: Need, context: u32, gpu_layers: u32) -> Option<Need> {
        // A file may state heads that were left out of it.
        let heads = self.model.heads.filter(|heads| heads.dense > 0)?;
        let padded = u64::from(context.next_multiple_of(CONTEXT_STEP));
        let more = [
            heads.dense,
            heads.experts,
            self.kv_type.bytes(heads.context.per_token).saturating_mul(padded),
            self.model.step(padded, self.batch.into()),
        ];
        let more = more.into_iter().fold(0, u64::saturating_add);
        let (main, device) = if gpu_layers == 0 { (more, 0) } else { (0, more) };
        Some(Need {
            main: need
                .main
                .saturating_add(main)
                .saturating_add(self.model.logits(OUTPUTS)),
            device: need.device.saturating_add(device),
        })
    }

    fn device_room(&self) -> u64 {
        self.machine.device.unwrap_or(0).saturating_sub(DEVICE_RESERVE)
    }

    /// Returns why a context of so many tokens does not fit, with what does.
    fn refusal(&self, context: u32, best: Option<Placement>) -> TooLarge {
        let placement = self.placement(context);
        let Need { main, device } = placement.need;
        if device > self.device_room() {
            return TooLarge::Device {
                layers: placement.gpu_layers,
                context,
                need: device,
                free: self.machine.device.unwrap_or(0),
            };
        }
        let room = self.machine.main.saturating_sub(RESERVE);
        let beside = main.saturating_sub(self.model.weights());
        TooLarge::Memory {
            context,
            need: main,
            free: self.machine.main,
            fitting: match best {
                Some(best) => Fitting::Context(best.context),
                None if room > beside => Fitting::File(room - beside),
                None => Fitting::Nothing,
            },
        }
    }
}

/// Returns the least number below `end` for which it is true, where it stays true from there on; `end` if there is none.
fn first_true(end: u32, is: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low.midpoint(high);
        if is(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
