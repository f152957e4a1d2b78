//! Loading a model: what the file and the machine allow, and the context that comes of it.

use super::cache::Cache;
use super::core::Core;
use super::devices::{self, DeviceIndex};
use super::header::Header;
use super::machine::Waits;
use super::native::{CacheKind, Context, ContextSize};
use super::prefix_files::PrefixFiles;
use super::prompt::Tokenizer;
use super::schedule::Schedule;
use super::snapshots::Snapshots;
use super::step_costs::StepCosts;
use super::thread_tuner::ThreadTuner;
#[cfg(feature = "dynamic-backends")]
use super::variants;
use super::{Engine, machine, native, weights};
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use magis_core::harmless_name;
use magis_llm::LlmError;
use magis_llm::memory::{KvType, Sequences};
use magis_llm::placement::{Machine, OUTPUTS, Placement, SMALLEST_BATCH, place};
use magis_llm::protocol::{Device, Load, Loaded, Placed, Stats, UnusedLibrary};
use magis_llm::size::ModelSize;
use magis_platform::memory;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

const _: () = assert!(
    Sequences::ATTENTION.count() <= OUTPUTS
        && Sequences::SLIDING_WINDOW.count() + Sequences::SLIDING_WINDOW.kept <= OUTPUTS
        && OUTPUTS < SMALLEST_BATCH,
    "llama.cpp insists on a row of logits for each sequence, and from 64 rows on it computes attention with other rounding"
);
/// What saved states of recurrent layers and saved sequences may take at least, and at the most, in bytes.
const SMALLEST_SNAPSHOTS: u64 = 256 << 20;
const LARGEST_SNAPSHOTS: u64 = 4 << 30;
/// What prefixes of one model may take on disk, in bytes.
const PREFIX_FILES: u64 = 2 << 30;

impl Engine {
    /// Loads a model. While `abort` is set, whatever runs ends as cancelled; the caller clears it.
    ///
    /// # Errors
    /// When the file is no model, memory does not hold it or its context, or loading is cancelled.
    pub fn load(load: &Load, abort: Arc<AtomicBool>) -> Result<Self, LlmError> {
        let refused = |reason| refused(&load.path, reason);
        check_file(&load.path).map_err(refused)?;
        native::install_log();
        native::take_errors();
        backend().map_err(refused)?;
        let header = Header::read(&load.path).ok_or_else(|| {
            let said = native::take_errors().join("; ");
            refused(format!("its header cannot be read ({said}); download it again"))
        })?;
        let size = header.architecture().map(|architecture| header.size(&architecture));
        let size = size.map_err(refused)?;
        drop(header);
        let (devices, unused_libraries) = devices(load.gpu_layers);
        let device = devices
            .first()
            .filter(|(_, device)| !device.shares_memory || load.gpu_layers.is_some());
        let machine = Machine {
            main: memory::available().unwrap_or(u64::MAX),
            device: device.map(|(_, device)| device.free),
        };
        let file = ModelFile {
            path: &load.path,
            size: &size,
            device: device.map(|(index, _)| *index),
            threads: load
                .threads
                .filter(|threads| *threads > 0)
                .unwrap_or_else(machine::physical_cores),
            own_kernels: !load.without.kernels,
        };
        let mut wishes = load.wishes();
        let mut notes = Vec::new();
        let mut placement = place(machine, &size, &wishes).map_err(|error| refused(error.to_string()))?;
        let (model, context) = match file.load(&placement, &abort) {
            Err(Unloaded::NoMemory(said)) => {
                wishes = wishes.smaller_than(placement.context, placement.gpu_layers);
                let first = placement.context;
                placement = place(machine, &size, &wishes).map_err(|error| refused(error.to_string()))?;
                notes.push(format!(
                    "no memory was left for a context of {first} tokens ({said}); it was loaded again with {}",
                    placement.context
                ));
                file.load(&placement, &abort)
            }
            other => other,
        }
        .map_err(|unloaded| unloaded.error(&load.path))?;
        let tokenizer = Tokenizer::new(&model);
        let shape = context.shape();
        let loaded = Loaded {
            name: name(&model, &load.path),
            context: shape.context,
            trained_context: model.n_ctx_train(),
            threads: shape.threads,
            batch: shape.batch,
            model_bytes: model.size(),
            cache_bytes: size.context().bytes_with(shape.context, placement.kv_type),
            template: tokenizer.template_origin(),
            fills_in: tokenizer.fills_in(),
            placed: placed(&placement, context.has_heads()),
            devices: devices.into_iter().map(|(_, device)| device).collect(),
            unused_libraries,
            notes,
        };
        let core = Core {
            cache: Cache::new(shape.sequences.kept, shape.context, context.memory()),
            context,
            snapshots: Snapshots::new(snapshot_bytes(), prefix_files(load, placement.kv_type)),
            tokenizer: Rc::new(tokenizer),
            loaded,
            stats: Stats::default(),
            texts: Vec::new(),
            reserved: 0,
            room_queue: BTreeSet::new(),
            writing: 0,
            without: load.without,
            schedule: Schedule::new(shape.batch as usize, placement.gpu_layers == 0),
            step_costs: StepCosts::default(),
            model,
            constraints: None,
            thread_tuner: ThreadTuner::new(shape.threads),
            waits: Waits::default(),
            begun: Instant::now(),
            clock: Instant::now(),
            queue: Vec::new(),
            finished: BTreeMap::new(),
            last_ticket: 0,
            branches_in_use: BTreeSet::new(),
        };
        Ok(Self {
            calls: Vec::new(),
            core: Rc::new(RefCell::new(core)),
            abort,
        })
    }
}

fn placed(placement: &Placement, heads: bool) -> Placed {
    Placed {
        kv_type: placement.kv_type,
        gpu_layers: placement.gpu_layers,
        host_experts: placement.host_experts,
        loading: placement.loading,
        heads,
        main_bytes: placement.need.main,
        device_bytes: placement.need.device,
    }
}

/// Returns the bytes that snapshots may take: a quarter of the memory that is left, within bounds.
fn snapshot_bytes() -> usize {
    let left = memory::available().unwrap_or(0);
    (left / 4).clamp(SMALLEST_SNAPSHOTS, LARGEST_SNAPSHOTS) as usize
}

/// Opens the folder of kept prefixes. Without it all works, only not as fast.
fn prefix_files(load: &Load, kv_type: KvType) -> Option<PrefixFiles> {
    let folder = load.prefixes.as_deref()?;
    let key = format!("{} {kv_type:?}", native::version());
    PrefixFiles::open(folder, key, PREFIX_FILES)
        .inspect_err(|error| eprintln!("prefixes cannot be kept in {}: {error}", folder.display()))
        .ok()
}

/// A model file, and what it is loaded with.
struct ModelFile<'a> {
    path: &'a Path,
    size: &'a ModelSize,
    device: Option<DeviceIndex>,
    threads: u32,
    own_kernels: bool,
}

/// Why a model with its context was not loaded.
enum Unloaded {
    Cancelled,
    /// There is less memory than was thought.
    NoMemory(String),
    /// llama.cpp refuses the file.
    Refused(String),
}

impl ModelFile<'_> {
    /// Loads the weights where a placement puts them, and makes the context.
    fn load(&self, placement: &Placement, abort: &Arc<AtomicBool>) -> Result<(Arc<LlamaModel>, Context), Unloaded> {
        native::take_errors();
        let weights = weights::load(self.path, placement, self.size.layers_ahead, self.device, abort);
        if abort.load(Ordering::Relaxed) {
            return Err(Unloaded::Cancelled);
        }
        let model = Arc::new(weights.ok_or_else(|| {
            let said = native::take_errors().join("; ");
            if said.contains("alloc") {
                Unloaded::NoMemory(said)
            } else {
                Unloaded::Refused(said)
            }
        })?);
        let shape = ContextSize {
            context: placement.context,
            batch: placement.batch,
            outputs: OUTPUTS,
            sequences: match CacheKind::of(&model) {
                CacheKind::Attention => Sequences::ATTENTION,
                CacheKind::SlidingWindow(_) => Sequences::SLIDING_WINDOW,
                CacheKind::Recurrent => Sequences::RECURRENT,
            },
            kv_type: placement.kv_type,
            threads: self.threads,
            own_kernels: self.own_kernels
                && (placement.gpu_layers <= self.size.layers.len() as u32 || placement.host_experts > 0),
            heads: placement.heads,
        };
        let context = Context::new(&model, shape, Arc::clone(abort));
        let context = context.ok_or_else(|| Unloaded::NoMemory(native::take_errors().join("; ")))?;
        Ok((model, context))
    }
}

impl Unloaded {
    fn error(self, path: &Path) -> LlmError {
        let reason = match self {
            Self::Cancelled => return LlmError::Cancelled,
            Self::NoMemory(said) => {
                format!(
                    "there is not enough memory for it ({said}); close other programs, or ask for a smaller context"
                )
            }
            Self::Refused(said) if said.contains("unknown model architecture") => {
                format!("this version does not know its kind ({said}); choose another model")
            }
            Self::Refused(said) => {
                let size = path.metadata().map_or(0, |file| file.len());
                format!("llama.cpp refuses the file of {size} bytes ({said}); download it again")
            }
        };
        refused(path, reason)
    }
}

/// Returns the devices beside the processor, unless none are wanted, and the libraries of such that cannot be loaded.
fn devices(gpu_layers: Option<u32>) -> (Vec<(DeviceIndex, Device)>, Vec<UnusedLibrary>) {
    if gpu_layers == Some(0) {
        return (Vec::new(), Vec::new());
    }
    #[cfg(feature = "dynamic-backends")]
    let unused = variants::load_devices();
    #[cfg(not(feature = "dynamic-backends"))]
    let unused = Vec::new();
    (devices::list(), unused)
}

fn refused(path: &Path, reason: String) -> LlmError {
    LlmError::Load {
        file: path.display().to_string(),
        reason,
    }
}

fn backend() -> Result<&'static LlamaBackend, String> {
    static BACKEND: OnceLock<Result<LlamaBackend, String>> = OnceLock::new();
    let backend = BACKEND.get_or_init(|| {
        #[cfg(feature = "dynamic-backends")]
        variants::load()?;
        LlamaBackend::init().map_err(|error| error.to_string())
    });
    backend.as_ref().map_err(Clone::clone)
}

/// Checks whether a file can be a model.
fn check_file(path: &Path) -> Result<(), String> {
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut magic = [0; 4];
    match file.read_exact(&mut magic) {
        Ok(()) if &magic == b"GGUF" => Ok(()),
        Ok(()) => Err("it is not a GGUF file; only models in this form can be used".to_owned()),
        Err(_) => Err(format!(
            "it has {} bytes and is no model; download it again",
            metadata.len()
        )),
    }
}

fn name(model: &LlamaModel, path: &Path) -> String {
    let of_file = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    model
        .meta_val_str("general.name")
        .ok()
        .map(|name| harmless_name(&name))
        .filter(|name| !name.is_empty())
        .unwrap_or_else(of_file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_testkit::TinyModel;

    #[test]
    fn what_is_predicted_is_what_llama_cpp_reserves() {
        let folder = tempfile::tempdir().unwrap();
        for model in TinyModel::ALL.into_iter().chain([TinyModel::Qwen35Heads]) {
            let path = folder.path().join(model.architecture());
            std::fs::write(&path, model.gguf().bytes()).unwrap();
            let load = Load {
                path: path.clone(),
                context: Some(4096),
                threads: Some(1),
                ..Load::default()
            };
            let engine = Engine::load(&load, Arc::default()).unwrap();
            let buffers = ["KV buffer size = ", "RS buffer size = ", "compute buffer size = "];
            let reserved = buffers.map(native::take_reported_bytes);
            let predicted = engine.loaded().cache_bytes;
            let (token, sequence) = model.context_memory();
            let states = sequence * u64::from(Sequences::RECURRENT.count());
            assert_eq!(predicted, 4096 * token + states, "{model:?}");
            let step = Header::read(&path).unwrap().size(model.architecture()).step(4096, 512);
            // Heads have keys and values as the one layer with attention, and steps of their own.
            let contexts = if model == TinyModel::Qwen35Heads { 2 } else { 1 };
            let parts = [contexts * 4096 * token, states, contexts * step];
            // Of a step only half a megabyte is kept between layers, so that roundings weigh more than elsewhere.
            for ((part, reserved), slack) in parts.into_iter().zip(reserved).zip([1 << 13, 1 << 13, 1 << 19]) {
                let allowed = reserved / 10 + contexts * slack;
                assert!(
                    part.abs_diff(reserved) <= allowed,
                    "{model:?}: {part} bytes predicted, {reserved} reserved"
                );
            }
        }
    }
}
