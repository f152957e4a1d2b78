//! How much memory a model's context takes beside the weights, told from the metadata of its file: the same rule for the
//! prediction before a model is loaded and for the engine that loads it.
//!
//! Every layer keeps keys and values for the whole context, also where it looks back over a sliding window only, because
//! the engine asks for that. What the weights and the activations of a step take is said in [`crate::size`].

use serde::{Deserialize, Serialize};

/// The metadata of a model file.
pub trait Metadata {
    /// Returns a whole number, or a truth value as 0 or 1. None for a list.
    fn number(&self, key: &str) -> Option<u64>;

    /// Returns a list of such values. None for a single one.
    fn numbers(&self, key: &str) -> Option<Vec<u64>>;
}

/// The sequences of one context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sequences {
    /// Prompts kept for later calls.
    pub kept: u32,
    /// Continuations that are compared in one step.
    pub branches: u32,
}

impl Sequences {
    /// Of a model with attention alone: a sequence costs nothing of its own.
    pub const ATTENTION: Self = Self { kept: 16, branches: 32 };
    /// Of a model with sliding windows: each kept prompt takes two sequences.
    pub const SLIDING_WINDOW: Self = Self { kept: 14, branches: 32 };
    /// Of a model with recurrent layers: a state is reserved for each sequence, up to 150 MB each, and a kept prompt only
    /// serves one that begins with all of it.
    pub const RECURRENT: Self = Self { kept: 4, branches: 8 };

    /// Counts the sequences of all kinds together.
    pub const fn count(self) -> u32 {
        self.kept + self.branches
    }
}

/// How keys and values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KvType {
    /// 16 bits each.
    #[default]
    F16,
    /// Blocks of 32 values with 8 bits each and one scale.
    Q8,
}

impl KvType {
    /// Returns the bytes of keys and values that take so many with 16 bits each.
    pub fn bytes(self, with_16_bits: u64) -> u64 {
        match self {
            Self::F16 => with_16_bits,
            Self::Q8 => with_16_bits / 64 * 34,
        }
    }
}

/// What a context takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContextMemory {
    /// Bytes of keys and values of one token, with 16 bits each.
    pub per_token: u64,
    /// Bytes of the recurrent states of one sequence.
    pub per_sequence: u64,
}

impl ContextMemory {
    /// Returns the need of a model of that architecture.
    pub fn of(architecture: &str, metadata: &impl Metadata) -> Self {
        let layers = Self::of_layers(architecture, metadata);
        layers.into_iter().fold(Self::default(), |all, layer| Self {
            per_token: all.per_token.saturating_add(layer.per_token),
            per_sequence: all.per_sequence.saturating_add(layer.per_sequence),
        })
    }

    /// Returns the need of each layer. Layers that predict several tokens ahead are left out, because they are not loaded.
    pub fn of_layers(architecture: &str, metadata: &impl Metadata) -> Vec<Self> {
        Layers { architecture, metadata }.memory()
    }

    /// Returns bytes of the states of all sequences, whatever the context.
    pub fn states(&self) -> u64 {
        self.per_sequence.saturating_mul(Sequences::RECURRENT.count().into())
    }

    /// Returns bytes of a context of so many tokens with 16 bits for each key and value, states included.
    pub fn bytes(&self, context: u32) -> u64 {
        self.bytes_with(context, KvType::F16)
    }

    /// Returns bytes of a context of so many tokens, states included.
    pub fn bytes_with(&self, context: u32, kv_type: KvType) -> u64 {
        let keys_and_values = kv_type.bytes(self.per_token).saturating_mul(context.into());
        keys_and_values.saturating_add(self.states())
    }
}

/// More layers than any model has: what a file says beyond is not counted.
const MOST_LAYERS: u64 = 4096;

/// The layers of a model, as llama.cpp reads them out of its metadata.
struct Layers<'a, M> {
    architecture: &'a str,
    metadata: &'a M,
}

impl<M: Metadata> Layers<'_, M> {
    fn memory(&self) -> Vec<ContextMemory> {
        // Layers that predict several tokens ahead stand at the end.
        let ahead = self.number("nextn_predict_layers").unwrap_or(0);
        let layers = self.number("block_count").unwrap_or(0).min(MOST_LAYERS);
        let layers = layers.saturating_sub(ahead) as usize;
        let recurrent = self.recurrent(layers);
        let state = self.state_values();
        // In this family each layer has both.
        let both = self.architecture == "falcon-h1";
        let values = self.cached_values(layers).into_iter();
        let memory = values.zip(recurrent).map(|(values, recurrent)| ContextMemory {
            per_token: if !recurrent || both {
                values.saturating_mul(2)
            } else {
                0
            },
            per_sequence: if recurrent || both { state.saturating_mul(4) } else { 0 },
        });
        memory.collect()
    }

    /// Values of the keys and values of one token, for each layer.
    fn cached_values(&self, layers: usize) -> Vec<u64> {
        let heads = self.per_layer("attention.head_count", layers, 0);
        let kv_heads = match self.number("attention.head_count_kv") {
            None if self.numbers("attention.head_count_kv").is_none() => heads.clone(),
            _ => self.per_layer("attention.head_count_kv", layers, 0),
        };
        let most_heads = heads.iter().copied().max().unwrap_or(0);
        let each = self.number("embedding_length").unwrap_or(0) / most_heads.max(1);
        let length = |key: &str, otherwise: u64| self.number(key).unwrap_or(otherwise);
        // Latent attention keeps one vector a token, and no values.
        let latent = length("attention.key_length_mla", 0) > 0;
        let key = length("attention.key_length", each);
        let value = if latent {
            0
        } else {
            length("attention.value_length", each)
        };
        let windows = (
            length("attention.key_length_swa", key),
            length("attention.value_length_swa", value),
        );
        let has_window = if windows == (key, value) {
            vec![false; layers]
        } else {
            let pattern = self.per_layer("attention.sliding_window_pattern", layers, 0);
            pattern.into_iter().map(|window| window > 0).collect()
        };
        // The last layers of some families use the keys and values of earlier ones.
        let own = layers.saturating_sub(self.number("attention.shared_kv_layers").unwrap_or(0) as usize);
        (0..layers)
            .map(|layer| {
                let (key, value) = if has_window[layer] { windows } else { (key, value) };
                let heads = if layer < own { kv_heads[layer] } else { 0 };
                heads.saturating_mul(key.saturating_add(value))
            })
            .collect()
    }

    /// Returns which layers have a state instead of attention.
    fn recurrent(&self, layers: usize) -> Vec<bool> {
        if self.state_values() == 0 {
            return vec![false; layers];
        }
        if let Some(listed) = self.numbers("attention.recurrent_layers") {
            return (0..layers)
                .map(|layer| listed.get(layer).is_some_and(|is| *is > 0))
                .collect();
        }
        let interval = match self.architecture {
            "qwen3next" | "qwen35" | "qwen35moe" | "qwen4exp" => {
                Some(self.number("full_attention_interval").unwrap_or(4))
            }
            _ => self.number("full_attention_interval"),
        };
        if let Some(interval) = interval.filter(|interval| *interval > 0) {
            return (1..=layers as u64)
                .map(|layer| !layer.is_multiple_of(interval))
                .collect();
        }
        // Elsewhere a layer without key/value heads has a state, unless it is one of feed-forward alone.
        let kv_heads = self.per_layer("attention.head_count_kv", layers, 0);
        let forward = match self.numbers("feed_forward_length") {
            Some(_) if self.architecture.starts_with("nemotron_h") => self.per_layer("feed_forward_length", layers, 0),
            _ => vec![0; layers],
        };
        kv_heads
            .iter()
            .zip(forward)
            .map(|(heads, forward)| *heads == 0 && forward == 0)
            .collect()
    }

    /// Values of the state of one layer: of its convolution, and of what it remembers.
    fn state_values(&self) -> u64 {
        let number = |key: &str| self.number(key).unwrap_or(0);
        let embedding = number("embedding_length");
        let kernel = number("ssm.conv_kernel");
        let (convolution, remembered) = if let Some(head) = self.number("wkv.head_size") {
            let shifts = self.number("token_shift_count").unwrap_or(2);
            (shifts.saturating_mul(embedding), embedding.saturating_mul(head))
        } else if let Some(length) = self.number("shortconv.l_cache") {
            (embedding.saturating_mul(length.saturating_sub(1)), 0)
        } else if let Some(head) = self.number("kda.head_dim") {
            let width = head.saturating_mul(self.per_layer("attention.head_count", 1, 0)[0]);
            let kept = if kernel > 0 { kernel - 1 } else { 3 };
            (
                3_u64.saturating_mul(kept).saturating_mul(width),
                head.saturating_mul(width),
            )
        } else {
            let (inner, state) = (number("ssm.inner_size"), number("ssm.state_size"));
            let groups = number("ssm.group_count").saturating_mul(2).saturating_mul(state);
            let mixed = inner.saturating_add(groups);
            (
                kernel.saturating_sub(1).saturating_mul(mixed),
                inner.saturating_mul(state),
            )
        };
        convolution.saturating_add(remembered)
    }

    /// Returns a value of each layer, however the file gives it.
    fn per_layer(&self, key: &str, layers: usize, otherwise: u64) -> Vec<u64> {
        match self.number(key) {
            Some(each) => vec![each; layers],
            None => {
                let mut all = self.numbers(key).unwrap_or_default();
                all.resize(layers, otherwise);
                all
            }
        }
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.metadata.number(&format!("{}.{key}", self.architecture))
    }

    fn numbers(&self, key: &str) -> Option<Vec<u64>> {
        self.metadata.numbers(&format!("{}.{key}", self.architecture))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    struct Header(BTreeMap<String, Vec<u64>>);

    impl Metadata for Header {
        fn number(&self, key: &str) -> Option<u64> {
            self.0.get(key).filter(|all| all.len() == 1).map(|all| all[0])
        }

        fn numbers(&self, key: &str) -> Option<Vec<u64>> {
            self.0.get(key).filter(|all| all.len() > 1).cloned()
        }
    }

    fn check(architecture: &str, keys: &[(&str, &[u64])], per_token: u64, per_sequence: u64) {
        let keys = keys
            .iter()
            .map(|(key, all)| (format!("{architecture}.{key}"), all.to_vec()));
        let memory = ContextMemory::of(architecture, &Header(keys.collect()));
        assert_eq!(
            (memory.per_token, memory.per_sequence),
            (per_token, per_sequence),
            "{architecture}"
        );
    }

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    #[test]
    fn attention_takes_keys_and_values_of_every_layer() {
        // Qwen2.5-Coder 1.5B.
        check(
            "qwen2",
            &[
                ("block_count", &[28]),
                ("embedding_length", &[1536]),
                ("attention.head_count", &[12]),
                ("attention.head_count_kv", &[2]),
            ],
            28 * KIB,
            0,
        );
    }

    #[test]
    fn one_layer_of_four_has_attention_and_the_others_a_state() {
        // Qwen3.5 9B.
        check(
            "qwen35",
            &[
                ("block_count", &[32]),
                ("embedding_length", &[4096]),
                ("full_attention_interval", &[4]),
                ("attention.head_count", &[16]),
                ("attention.head_count_kv", &[4]),
                ("attention.key_length", &[256]),
                ("attention.value_length", &[256]),
                ("ssm.conv_kernel", &[4]),
                ("ssm.inner_size", &[4096]),
                ("ssm.state_size", &[128]),
                ("ssm.group_count", &[16]),
            ],
            32 * KIB,
            24 * (2 * MIB + 96 * KIB),
        );
    }

    #[test]
    fn layers_without_key_value_heads_have_a_state() {
        check(
            "lfm2",
            &[
                ("block_count", &[4]),
                ("embedding_length", &[64]),
                ("attention.head_count", &[4]),
                ("attention.head_count_kv", &[0, 0, 2, 0]),
                ("shortconv.l_cache", &[3]),
            ],
            2 * 2 * (16 + 16),
            3 * 4 * 128,
        );
    }

    #[test]
    fn layers_with_a_window_may_have_other_heads_and_the_last_share_those_of_others() {
        check(
            "gemma4",
            &[
                ("block_count", &[4]),
                ("embedding_length", &[64]),
                ("attention.head_count", &[4]),
                ("attention.head_count_kv", &[2]),
                ("attention.key_length", &[32]),
                ("attention.value_length", &[32]),
                ("attention.key_length_swa", &[16]),
                ("attention.value_length_swa", &[16]),
                ("attention.sliding_window_pattern", &[1, 1, 0, 0]),
                ("attention.shared_kv_layers", &[1]),
            ],
            2 * 2 * (32 + 32 + 64),
            0,
        );
    }

    #[test]
    fn what_a_file_states_cannot_overflow() {
        let keys: &[(&str, &[u64])] = &[
            ("block_count", &[u64::MAX]),
            ("embedding_length", &[u64::MAX]),
            ("attention.head_count", &[1]),
            ("attention.head_count_kv", &[u64::MAX]),
            ("ssm.inner_size", &[u64::MAX]),
            ("ssm.state_size", &[u64::MAX]),
            ("full_attention_interval", &[2]),
        ];
        check("qwen35", keys, u64::MAX, u64::MAX);
    }
}
