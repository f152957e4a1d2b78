//! What the engine may take of the machine, and the context that comes of it.

use crate::EngineError;
use magis_llama::{Manners, WorkerCommand, may_use_devices, physical_cores};
use magis_llm::memory::KvType;
use magis_llm::placement::Loading;
use magis_llm::protocol::Without;
use magis_models::{Fit, MINIMUM_CONTEXT, ModelFile, fits};
use magis_platform::memory;

/// The context asked for where nothing else is said, in tokens: room for every prompt of a run, and a cache of some
/// hundred MiB on a small model.
pub const USUAL_CONTEXT: u32 = 16_384;

/// What a model may take. What is not said follows from the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EngineLimits {
    /// The context in tokens; none: [`USUAL_CONTEXT`], as far as model and memory hold it.
    pub context: Option<u32>,
    /// Threads to compute with; none: the physical cores.
    pub threads: Option<u32>,
    /// Bytes of memory for the model with its context; none: what is available when it is loaded.
    pub memory: Option<u64>,
    /// How keys and values are stored; none: as precise as the memory allows.
    pub kv_type: Option<KvType>,
    /// Layers on the graphics device, the output counted as the first; none: as many as it holds.
    pub gpu_layers: Option<u32>,
    /// Layers on the device whose experts stay in main memory; none: as few as need be.
    pub host_experts: Option<u32>,
    /// How weights come into main memory; none: as is usually faster for how they are stored.
    pub loading: Option<Loading>,
    /// Whether prefixes that earlier workers kept are left alone, and none are kept: a measure begins cold.
    pub without_prefixes: bool,
    /// What the engine does without, to be measured.
    pub without: Without,
    /// How the model's worker behaves beside other programs; none: as the front end that starts it.
    pub manners: Option<Manners>,
}

impl EngineLimits {
    /// Returns how a worker is started that behaves as it is asked to.
    pub(crate) fn worker(&self, usual: &WorkerCommand) -> WorkerCommand {
        let priority = self.manners.map_or(usual.priority, Manners::priority);
        WorkerCommand {
            priority,
            ..usual.clone()
        }
    }

    /// Returns the threads to compute with, where that is not left to the worker.
    pub(crate) fn threads_wanted(&self) -> Option<u32> {
        self.threads.or_else(|| match self.manners? {
            manners @ Manners::Background => Some(manners.threads(physical_cores())),
            Manners::Full | Manners::Polite => None,
        })
    }

    /// Returns bytes of memory that a model with its context may take now.
    pub fn memory_now(&self) -> u64 {
        let available = memory::available().unwrap_or(u64::MAX);
        self.memory.map_or(available, |limit| limit.min(available))
    }

    /// Returns the context asked for of a model that was trained on so many tokens.
    pub fn context_wanted(&self, trained: u32) -> u32 {
        self.context.unwrap_or(USUAL_CONTEXT).min(trained)
    }

    /// Returns the context a model is loaded with here, and what a person should know of it.
    ///
    /// # Errors
    /// When not even the smallest useful context fits.
    pub fn context_of(&self, file: &ModelFile) -> Result<(u32, Vec<String>), EngineError> {
        let wanted = self.context_wanted(file.header.context_length);
        // What a graphics device holds beside main memory is known to the worker alone, which refuses what fits nowhere.
        if self.memory.is_none() && self.gpu_layers != Some(0) && may_use_devices() {
            return Ok((wanted, Vec::new()));
        }
        match fits(&file.header, wanted, self.memory_now()) {
            Fit::Fits { context } => Ok((context, Vec::new())),
            Fit::Smaller { context } => Ok((
                context,
                vec![format!(
                    "the free memory holds a context of {context} tokens instead of {wanted}"
                )],
            )),
            Fit::No { need, available } => Err(EngineError::TooLittleMemory {
                model: file.id.to_string(),
                context: MINIMUM_CONTEXT,
                need,
                available,
            }),
        }
    }
}
