//! How much memory a model needs at a given context, how much there is, and the largest context that fits.
//!
//! Estimates for the CPU backend, on the safe side. What a context takes is `magis_llm`'s rule, which the engine has too. It does
//! not load anything and does not watch memory over time.

use crate::{CatalogEntry, GgufHeader};
use magis_llm::memory::ContextMemory;
use std::fs;
use std::path::{Path, PathBuf};

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

impl MemoryNeed {
    /// The need of the model with this header at a context of so many tokens.
    pub fn of(header: &GgufHeader, context: u32) -> Self {
        Shape::of_header(header).need(context)
    }

    /// The need of a model that is not here yet, as the catalogue states its dimensions.
    pub fn of_entry(entry: &CatalogEntry, context: u32) -> Self {
        Shape::of_entry(entry).need(context)
    }

    /// All parts together.
    pub fn bytes(&self) -> u64 {
        [self.cache, self.compute, self.outputs]
            .into_iter()
            .fold(self.weights, u64::saturating_add)
    }
}

/// The largest context up to `wanted` tokens, and up to what the model was trained with, that fits into `available` bytes.
pub fn fits(header: &GgufHeader, wanted: u32, available: u64) -> Fit {
    Shape::of_header(header).fit(wanted, available)
}

impl CatalogEntry {
    /// As [`fits`], for a model that is not here yet.
    pub fn fits(&self, wanted: u32, available: u64) -> Fit {
        Shape::of_entry(self).fit(wanted, available)
    }
}

/// The bytes of memory that can be taken without swapping: what the machine has available, or what the control group still
/// allows when that is less. Nothing where the system does not say (not Linux).
pub fn available_memory() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| meminfo_available(&text))?;
    let groups = fs::read_to_string("/proc/self/cgroup").map(|text| control_groups(Path::new("/sys/fs/cgroup"), &text));
    let allowed = groups.unwrap_or_default().iter().filter_map(ControlGroup::left).min();
    Some(allowed.map_or(machine, |allowed| allowed.min(machine)))
}

struct Shape {
    file_bytes: u64,
    memory: ContextMemory,
    embedding: u64,
    feed_forward: u64,
    vocabulary: u64,
    trained_context: u32,
}

impl Shape {
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
                per_sequence: 0,
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

fn meminfo_available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// A control group with a limit on memory.
struct ControlGroup {
    folder: PathBuf,
    version: ControlGroupVersion,
}

enum ControlGroupVersion {
    One,
    Two,
}

/// The control groups this process is in, with all their parents, from the text of `/proc/self/cgroup`.
fn control_groups(root: &Path, own: &str) -> Vec<ControlGroup> {
    let mut all = Vec::new();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let (mount, version): (PathBuf, fn() -> ControlGroupVersion) = if controllers.is_empty() {
            (root.to_owned(), || ControlGroupVersion::Two)
        } else if controllers.split(',').any(|name| name == "memory") {
            (root.join("memory"), || ControlGroupVersion::One)
        } else {
            continue;
        };
        // Inside a container the path may be the host's and not exist here; the mount's own root then holds the limit.
        let relative = Path::new(path.trim_start_matches('/'));
        all.extend(relative.ancestors().map(|part| ControlGroup {
            folder: mount.join(part),
            version: version(),
        }));
    }
    all
}

impl ControlGroup {
    /// The bytes it still allows; file cache that can be dropped counts as free. Nothing without a limit.
    fn left(&self) -> Option<u64> {
        let (limit, usage, cache) = match self.version {
            ControlGroupVersion::Two => ("memory.max", "memory.current", "inactive_file "),
            ControlGroupVersion::One => ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "),
        };
        let number = |file: &str| {
            fs::read_to_string(self.folder.join(file))
                .ok()?
                .trim()
                .parse::<u64>()
                .ok()
        };
        let limit = number(limit)?;
        let usage = number(usage)?;
        let stat = fs::read_to_string(self.folder.join("memory.stat")).unwrap_or_default();
        let droppable = stat
            .lines()
            .find_map(|line| line.strip_prefix(cache)?.trim().parse::<u64>().ok())
            .unwrap_or(0);
        Some(limit.saturating_sub(usage.saturating_sub(droppable)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_of_meminfo_is_in_bytes() {
        assert_eq!(
            meminfo_available("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"),
            Some(2_097_152)
        );
        assert_eq!(meminfo_available("MemTotal: 9 kB\n"), None);
    }

    #[test]
    fn the_tightest_control_group_counts_and_droppable_cache_is_free() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folder");
            fs::write(path, text).expect("file");
        };
        write("user/memory.max", "max\n");
        write("user/memory.current", "77\n");
        write("user/app/memory.max", "1000\n");
        write("user/app/memory.current", "700\n");
        write("user/app/memory.stat", "anon 500\ninactive_file 200\n");
        write("memory/memory.limit_in_bytes", "900\n");
        write("memory/memory.usage_in_bytes", "100\n");
        let left = |own: &str| {
            control_groups(root.path(), own)
                .iter()
                .filter_map(ControlGroup::left)
                .min()
        };
        assert_eq!(left("0::/user/app\n"), Some(500));
        assert_eq!(left("0::/user\n"), None);
        assert_eq!(left("4:cpu,memory:/docker/of-the-host\n3:cpuset:/\n"), Some(800));
    }
}
