//! The sizes of a model, told from the header of its file: the weights by where they can lie, what its context takes, and
//! what a step of so many tokens takes beside both.
//!
//! Where all that is put is decided in [`crate::placement`]; what the machine has is asked elsewhere.

use crate::memory::{ContextMemory, Metadata};

/// Rows of logits that one step gives at the most.
pub const OUTPUTS: u32 = 60;

/// A tensor, as the header of a model file states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorSize<'a> {
    pub name: &'a str,
    pub bytes: u64,
    /// The number that ggml has for its storage type.
    pub storage: u32,
}

/// The sizes of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelSize {
    /// Its layers, without those that predict several tokens ahead.
    pub layers: Vec<LayerSize>,
    /// How many layers predict several tokens ahead.
    pub layers_ahead: u32,
    /// The one that does, in families whose heads are used for drafts; it is loaded where there is room.
    pub heads: Option<LayerSize>,
    /// Bytes of what turns tokens into vectors. It is always in main memory.
    pub input: u64,
    /// Bytes of what turns vectors into logits; 0: the input's weights do.
    pub output: u64,
    /// The order in which the processor computes fastest with most of the weights.
    pub order: WeightOrder,
    pub widths: Widths,
    /// The context it was trained on, in tokens.
    pub trained_context: u32,
}

/// An order of weights in memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WeightOrder {
    /// That of the file: its pages can be used as they are.
    #[default]
    File,
    /// One of the matrix kernels: the weights are copied while they are read.
    Kernels,
}

/// What one layer takes, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LayerSize {
    /// Its weights but the experts.
    pub dense: u64,
    /// Its experts, of which each token uses a few.
    pub experts: u64,
    pub context: ContextMemory,
}

/// Values of one token at several places of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Widths {
    pub embedding: u64,
    /// At the widest place inside a layer, all that is held there at once.
    pub inner: u64,
    pub vocabulary: u64,
    /// Attention masks of a step: one, and one more where some layers look back over a window only.
    pub masks: u64,
}

impl ModelSize {
    /// Returns the sizes of a model of that architecture, with so many entries in its vocabulary and these tensors.
    pub fn of<'a>(
        architecture: &str,
        metadata: &impl Metadata,
        vocabulary: u32,
        tensors: impl IntoIterator<Item = TensorSize<'a>>,
    ) -> Self {
        let number = |key: &str| metadata.number(&format!("{architecture}.{key}"));
        let contexts = ContextMemory::of_layers(architecture, metadata);
        let layers = contexts.into_iter().map(|context| LayerSize {
            context,
            ..LayerSize::default()
        });
        let layers: Vec<LayerSize> = layers.collect();
        let layers_ahead = number("nextn_predict_layers").and_then(|ahead| u32::try_from(ahead).ok());
        // It is a layer with attention, as those of the others that remember each token.
        let per_token = layers.iter().map(|layer| layer.context.per_token).max();
        let heads = LayerSize {
            context: ContextMemory {
                per_token: per_token.unwrap_or(0),
                per_sequence: 0,
            },
            ..LayerSize::default()
        };
        let mut size = Self {
            layers,
            layers_ahead: layers_ahead.unwrap_or(0),
            heads: (layers_ahead == Some(1) && HEADS_USED.contains(&architecture)).then_some(heads),
            widths: Widths::of(architecture, metadata, vocabulary),
            trained_context: number("context_length")
                .and_then(|context| u32::try_from(context).ok())
                .unwrap_or(0),
            ..Self::default()
        };
        size.add_weights(tensors);
        size
    }

    /// Adds the weights of a further file of the model.
    pub fn add_weights<'a>(&mut self, tensors: impl IntoIterator<Item = TensorSize<'a>>) {
        let (mut reordered, mut others) = (0_u64, 0_u64);
        for TensorSize { name, bytes, storage } in tensors {
            let place = match layer_of(name) {
                Some(layer) => match self.layers.get_mut(layer).or(self.heads.as_mut()) {
                    Some(layer) if is_expert(name) => &mut layer.experts,
                    Some(layer) => &mut layer.dense,
                    None => continue,
                },
                None if name.starts_with("output.") => &mut self.output,
                None => &mut self.input,
            };
            *place = place.saturating_add(bytes);
            let order = if REORDERED.contains(&storage) {
                &mut reordered
            } else {
                &mut others
            };
            *order = order.saturating_add(bytes);
        }
        if reordered > others {
            self.order = WeightOrder::Kernels;
        }
    }

    /// Returns the bytes of all weights.
    pub fn weights(&self) -> u64 {
        let layers = self
            .layers
            .iter()
            .map(|layer| layer.dense.saturating_add(layer.experts));
        layers.fold(self.input.saturating_add(self.output), u64::saturating_add)
    }

    /// Returns the bytes that the output takes on a device: where it has no weights of its own, a copy of the input's.
    pub fn output_on_device(&self) -> u64 {
        if self.output > 0 { self.output } else { self.input }
    }

    /// Returns the bytes of so many rows of logits.
    pub fn logits(&self, rows: u32) -> u64 {
        self.widths.vocabulary.saturating_mul(4).saturating_mul(rows.into())
    }

    /// Returns what a context takes over all layers.
    pub fn context(&self) -> ContextMemory {
        self.layers
            .iter()
            .fold(ContextMemory::default(), |all, layer| ContextMemory {
                per_token: all.per_token.saturating_add(layer.context.per_token),
                per_sequence: all.per_sequence.saturating_add(layer.context.per_sequence),
            })
    }

    /// Returns the bytes that a step of so many tokens takes, with a context of so many and all rows of logits.
    ///
    /// Fitted to what llama.cpp reports: five vectors between the layers live at once, and either the widest place or the
    /// logits.
    pub fn step(&self, context: u64, tokens: u64) -> u64 {
        let Widths {
            embedding,
            inner,
            masks,
            ..
        } = self.widths;
        let of_tokens = |values: u64| values.saturating_mul(4).saturating_mul(tokens);
        let mask = context.saturating_mul(2).saturating_mul(tokens + MASK_PADDING);
        of_tokens(embedding.saturating_mul(5))
            .saturating_add(of_tokens(inner).max(self.logits(OUTPUTS)))
            .saturating_add(masks.saturating_mul(mask))
    }

    /// Returns the bytes of the process itself: its code, its vocabulary, and the graphs of its steps.
    pub fn process(&self) -> u64 {
        let vocabulary = self.widths.vocabulary.saturating_mul(VOCABULARY_ENTRY);
        let graphs = if self.context().per_sequence > 0 {
            STATE_GRAPHS
        } else {
            0
        };
        vocabulary.saturating_add(PROCESS + graphs)
    }

    /// Returns whether each token uses some of its weights only.
    pub fn has_experts(&self) -> bool {
        self.layers.iter().any(|layer| layer.experts > 0)
    }
}

impl Widths {
    fn of(architecture: &str, metadata: &impl Metadata, vocabulary: u32) -> Self {
        let most = |key: &str| {
            let key = format!("{architecture}.{key}");
            let of_layers = metadata.numbers(&key).unwrap_or_default();
            of_layers.into_iter().max().or(metadata.number(&key)).unwrap_or(0)
        };
        let embedding = most("embedding_length");
        let heads = most("attention.head_count");
        let head = most("attention.key_length").max(embedding / heads.max(1));
        let used = most("expert_used_count");
        let groups = most("ssm.group_count").saturating_mul(most("ssm.state_size"));
        // Of attention, the feed-forward layer and a state each the input, the gate and the product; of experts also
        // what each of them gives.
        let attention = heads.saturating_mul(head).saturating_mul(3);
        let forward = most("feed_forward_length").saturating_mul(3);
        let expert = most("expert_feed_forward_length")
            .saturating_mul(3)
            .saturating_add(embedding);
        let state = most("ssm.inner_size").saturating_add(groups).saturating_mul(6);
        let inner = [forward, expert.saturating_mul(used), state]
            .into_iter()
            .fold(attention, u64::max);
        Self {
            embedding,
            inner,
            vocabulary: vocabulary.into(),
            masks: 1 + u64::from(most("attention.sliding_window") > 0),
        }
    }
}

/// The families whose heads were tried. llama.cpp ends its process where it asks others for more than they have.
const HEADS_USED: [&str; 2] = ["qwen35", "qwen35moe"];
/// Rows that are added to a mask.
const MASK_PADDING: u64 = 16;
/// Bytes of a process without a model.
const PROCESS: u64 = 24 << 20;
/// Bytes of the graphs of a model with recurrent states: they are unrolled over the tokens of a step.
const STATE_GRAPHS: u64 = 24 << 20;
/// Bytes of an entry of the vocabulary, in the tables of the tokenizer.
const VOCABULARY_ENTRY: u64 = 300;

/// The storage types for which the processor writes answers faster with a copy in another order: `Q4_0`, `IQ4_NL` and `MXFP4`,
/// on ARM also `Q4_K`, `Q8_0`, `Q5_K` and `Q6_K`. On x86 the engine's own kernels read K-quants as they lie in the file.
const REORDERED: &[u32] = if cfg!(target_arch = "aarch64") {
    &[2, 8, 12, 13, 14, 20, 39]
} else {
    &[2, 20, 39]
};

fn layer_of(tensor: &str) -> Option<usize> {
    tensor.strip_prefix("blk.")?.split_once('.')?.0.parse().ok()
}

fn is_expert(tensor: &str) -> bool {
    tensor.contains("_exps.") || tensor.contains("_chexps.")
}
