//! Models of half a megabyte with random weights, one for each family that keeps what it has read in another way: a cache
//! of all tokens, one with sliding windows, recurrent states.
//!
//! What they say is noise. What they are for: a prompt that is computed in pieces, shared, cut or restored must give the
//! likelihoods of the same prompt computed at once. The same bytes each time; every text is a token a byte.

use crate::gguf::{Gguf, Tensor, Value, text};

/// A family of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TinyModel {
    Qwen2,
    /// Three delta nets, one attention.
    Qwen35,
    /// As [`TinyModel::Qwen35`], with experts.
    Qwen35Moe,
    /// As [`TinyModel::Qwen35`], with heads of its own for the token after the next one.
    Qwen35Heads,
    /// Five layers with a window, one without.
    Gemma3,
    /// Four layers with a window, one without.
    Gemma4,
    /// Every other layer with a window; experts.
    GptOss,
    /// Three Mamba-2 layers, one attention.
    GraniteHybrid,
    /// Three short convolutions, one attention.
    Lfm2,
}

impl TinyModel {
    /// Every architecture that there is a tiny model of.
    pub const ALL: [Self; 8] = [
        Self::Qwen2,
        Self::Qwen35,
        Self::Qwen35Moe,
        Self::Gemma3,
        Self::Gemma4,
        Self::GptOss,
        Self::GraniteHybrid,
        Self::Lfm2,
    ];

    /// Returns the name llama.cpp has for it.
    pub fn architecture(self) -> &'static str {
        match self {
            Self::Qwen2 => "qwen2",
            Self::Qwen35 | Self::Qwen35Heads => "qwen35",
            Self::Qwen35Moe => "qwen35moe",
            Self::Gemma3 => "gemma3",
            Self::Gemma4 => "gemma4",
            Self::GptOss => "gpt-oss",
            Self::GraniteHybrid => "granitehybrid",
            Self::Lfm2 => "lfm2",
        }
    }

    /// Returns what llama.cpp reserves for it, in bytes: for each token of the context, and for each sequence.
    pub fn context_memory(self) -> (u64, u64) {
        // Keys and values of one layer, 16 bits each.
        let layer = 2 * KV_HEADS * (HEAD + HEAD);
        match self {
            Self::Qwen2 => (2 * layer, 0),
            // Of each of three layers, in 32 bits: three steps of the convolution, and what is remembered.
            Self::Qwen35 | Self::Qwen35Moe | Self::Qwen35Heads => (layer, 3 * 4 * (3 * 128 + 16 * 64)),
            Self::GraniteHybrid => (layer, 3 * 4 * (3 * 160 + 16 * 128)),
            Self::Lfm2 => (layer, 3 * 4 * (2 * WIDTH)),
            Self::Gemma3 => (6 * layer, 0),
            Self::Gemma4 => (5 * layer, 0),
            Self::GptOss => (4 * layer, 0),
        }
    }

    /// Makes the GGUF file of a tiny model.
    pub fn gguf(self) -> Gguf {
        let mut maker = Maker {
            architecture: self.architecture(),
            random: Random(7),
            file: Gguf::new(self.architecture()),
            block: String::new(),
        };
        match self {
            Self::Qwen2 => qwen2(&mut maker),
            Self::Qwen35 => qwen35(&mut maker, Forward::Dense),
            Self::Qwen35Heads => {
                qwen35(&mut maker, Forward::Dense);
                heads(&mut maker, 4);
            }
            Self::Qwen35Moe => qwen35(&mut maker, Forward::Experts),
            Self::Gemma3 => gemma3(&mut maker),
            Self::Gemma4 => gemma4(&mut maker),
            Self::GptOss => gpt_oss(&mut maker),
            Self::GraniteHybrid => granite_hybrid(&mut maker),
            Self::Lfm2 => lfm2(&mut maker),
        }
        maker.file
    }
}

/// Tokens that a layer with a window looks back.
pub const WINDOW: u32 = 32;

const CONTEXT: u32 = 4096;
const WIDTH: u64 = 64;
const FORWARD: u64 = 96;
const HEADS: u64 = 4;
const KV_HEADS: u64 = 2;
const HEAD: u64 = 16;
/// All of them are used for each token: a choice between two that come to nearly the same would make much of a rounding.
const EXPERTS: u64 = 2;
/// The marks of a conversation, behind the 256 bytes.
const MARKS: [&str; 3] = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
const TEMPLATE: &str = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n\
                        {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// What stands behind the attention of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forward {
    Dense,
    Experts,
}

/// Whether linear layers add something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bias {
    None,
    /// To queries, keys and values.
    Inputs,
    All,
}

fn qwen2(maker: &mut Maker) {
    maker.begin(2, Value::Number(KV_HEADS as u32), "output_norm");
    maker.blocks(2, |maker, _| {
        maker.norms(&["attn_norm", "ffn_norm"]);
        maker.attention(HEADS * HEAD, Bias::Inputs);
        maker.dense();
    });
}

fn qwen35(maker: &mut Maker, forward: Forward) {
    let (state, keys, values) = (16, 2, 4);
    let inner = state * values;
    let mixed = 2 * state * keys + inner;
    maker.begin(4, Value::Number(KV_HEADS as u32), "output_norm");
    maker.numbers(&[
        ("full_attention_interval", 4),
        ("ssm.conv_kernel", 4),
        ("ssm.state_size", state as u32),
        ("ssm.group_count", keys as u32),
        ("ssm.time_step_rank", values as u32),
        ("ssm.inner_size", inner as u32),
    ]);
    maker.key("rope.dimension_sections", Value::Numbers(vec![2, 3, 3, 0]));
    if forward == Forward::Experts {
        maker.expert_keys();
        maker.numbers(&[("expert_shared_feed_forward_length", FORWARD as u32)]);
    }
    maker.blocks(4, |maker, layer| {
        maker.norms(&["attn_norm", "post_attention_norm"]);
        if layer == 3 {
            // A query and a gate for each head.
            maker.attention(2 * HEADS * HEAD, Bias::None);
            maker.head_norms();
        } else {
            maker.weight("attn_qkv.weight", &[WIDTH, mixed]);
            maker.weight("attn_gate.weight", &[WIDTH, inner]);
            maker.weight("ssm_conv1d.weight", &[4, mixed]);
            maker.between("ssm_dt.bias", &[values], -0.5, 0.5);
            // A decay.
            maker.between("ssm_a", &[values], -0.5, -0.05);
            maker.weight("ssm_beta.weight", &[WIDTH, values]);
            maker.weight("ssm_alpha.weight", &[WIDTH, values]);
            maker.norm("ssm_norm.weight", &[state]);
            maker.weight("ssm_out.weight", &[inner, WIDTH]);
        }
        if forward == Forward::Dense {
            maker.dense();
        } else {
            maker.experts(Bias::None);
            maker.weight("ffn_gate_inp_shexp.weight", &[WIDTH]);
            maker.weight("ffn_gate_shexp.weight", &[WIDTH, FORWARD]);
            maker.weight("ffn_up_shexp.weight", &[WIDTH, FORWARD]);
            maker.weight("ffn_down_shexp.weight", &[FORWARD, WIDTH]);
        }
    });
}

/// Adds heads behind so many layers: one with attention, which reads what those made of a token beside the next one.
fn heads(maker: &mut Maker, layers: u32) {
    let key = format!("{}.block_count", maker.architecture);
    for (name, value) in &mut maker.file.metadata {
        if *name == key {
            *value = Value::Number(layers + 1);
        }
    }
    maker.numbers(&[("nextn_predict_layers", 1)]);
    maker.block = format!("blk.{layers}.");
    maker.norms(&["attn_norm", "post_attention_norm"]);
    maker.attention(2 * HEADS * HEAD, Bias::None);
    maker.head_norms();
    maker.dense();
    maker.weight("nextn.eh_proj.weight", &[2 * WIDTH, WIDTH]);
    maker.norms(&["nextn.enorm", "nextn.hnorm", "nextn.shared_head_norm"]);
}

fn gemma3(maker: &mut Maker) {
    maker.begin(6, Value::Number(KV_HEADS as u32), "output_norm");
    maker.numbers(&[("attention.sliding_window", WINDOW)]);
    maker.blocks(6, |maker, _| maker.gemma_block());
}

fn gemma4(maker: &mut Maker) {
    maker.begin(5, Value::Number(KV_HEADS as u32), "output_norm");
    maker.numbers(&[
        ("attention.sliding_window", WINDOW),
        ("attention.shared_kv_layers", 0),
        ("attention.key_length_swa", HEAD as u32),
        ("attention.value_length_swa", HEAD as u32),
        ("embedding_length_per_layer_input", 0),
        ("rope.dimension_count_swa", HEAD as u32),
    ]);
    maker.key("rope.freq_base_swa", Value::Real(10_000.0));
    let pattern = (0..5).map(|layer| layer < 4).collect();
    maker.key("attention.sliding_window_pattern", Value::Flags(pattern));
    maker.between("rope_freqs.weight", &[HEAD / 2], 1.0, 1.0);
    maker.blocks(5, |maker, _| maker.gemma_block());
}

fn gpt_oss(maker: &mut Maker) {
    maker.begin(4, Value::Number(KV_HEADS as u32), "output_norm");
    maker.numbers(&[("attention.sliding_window", WINDOW)]);
    maker.expert_keys();
    maker.blocks(4, |maker, _| {
        maker.norms(&["attn_norm", "post_attention_norm"]);
        maker.attention(HEADS * HEAD, Bias::All);
        maker.weight("attn_sinks.weight", &[HEADS]);
        maker.experts(Bias::All);
    });
}

fn granite_hybrid(maker: &mut Maker) {
    let (inner, state, heads) = (2 * WIDTH, 16, 8);
    let mixed = inner + 2 * state;
    maker.begin(4, Value::Numbers(vec![0, 0, 0, KV_HEADS as u32]), "output_norm");
    maker.numbers(&[
        ("ssm.conv_kernel", 4),
        ("ssm.inner_size", inner as u32),
        ("ssm.state_size", state as u32),
        ("ssm.time_step_rank", heads as u32),
        ("ssm.group_count", 1),
    ]);
    maker.key("attention.scale", Value::Real(0.25));
    for scale in ["embedding_scale", "residual_scale", "logit_scale"] {
        maker.key(scale, Value::Real(1.0));
    }
    maker.blocks(4, |maker, layer| {
        maker.norms(&["attn_norm", "ffn_norm"]);
        if layer == 3 {
            maker.attention(HEADS * HEAD, Bias::None);
        } else {
            maker.weight("ssm_in.weight", &[WIDTH, inner + mixed + heads]);
            maker.weight("ssm_conv1d.weight", &[4, mixed]);
            maker.between("ssm_conv1d.bias", &[mixed], -0.1, 0.1);
            maker.between("ssm_dt.bias", &[heads], -0.5, 0.5);
            maker.between("ssm_a", &[1, heads], -1.0, -0.1);
            maker.between("ssm_d", &[1, heads], -0.5, 0.5);
            maker.norm("ssm_norm.weight", &[inner, 1]);
            maker.weight("ssm_out.weight", &[inner, WIDTH]);
        }
        maker.dense();
    });
}

fn lfm2(maker: &mut Maker) {
    // In this family the last norm has the embedding's name.
    maker.begin(4, Value::Numbers(vec![0, 0, KV_HEADS as u32, 0]), "token_embd_norm");
    maker.numbers(&[("shortconv.l_cache", 3)]);
    maker.blocks(4, |maker, layer| {
        maker.norms(&["attn_norm", "ffn_norm"]);
        if layer == 2 {
            maker.attention(HEADS * HEAD, Bias::None);
            maker.head_norms();
        } else {
            maker.weight("shortconv.conv.weight", &[3, WIDTH]);
            maker.weight("shortconv.in_proj.weight", &[WIDTH, 3 * WIDTH]);
            maker.weight("shortconv.out_proj.weight", &[WIDTH, WIDTH]);
        }
        maker.dense();
    });
}

/// A model in the making.
struct Maker {
    architecture: &'static str,
    random: Random,
    file: Gguf,
    // What the names of the present block's tensors begin with.
    block: String,
}

impl Maker {
    /// What all families have: dimensions, vocabulary, embedding, output.
    fn begin(&mut self, layers: u32, kv_heads: Value, last_norm: &str) {
        let (name, symbols) = (format!("tiny {}", self.architecture), byte_symbols());
        let kinds = [vec![1; symbols.len()], vec![3; MARKS.len()]].concat();
        let tokens: Vec<String> = symbols.into_iter().chain(MARKS.map(str::to_owned)).collect();
        let vocabulary = tokens.len() as u64;
        let general = [
            ("general.name", text(&name)),
            ("tokenizer.ggml.model", text("gpt2")),
            ("tokenizer.ggml.pre", text("default")),
            ("tokenizer.ggml.tokens", Value::Texts(tokens)),
            ("tokenizer.ggml.token_type", Value::Numbers(kinds)),
            // llama.cpp wants the key; this pair is not in the vocabulary.
            ("tokenizer.ggml.merges", Value::Texts(vec!["Ġ Ġ".to_owned()])),
            ("tokenizer.ggml.bos_token_id", Value::Number(256)),
            ("tokenizer.ggml.eos_token_id", Value::Number(258)),
            ("tokenizer.ggml.add_bos_token", Value::Flag(false)),
            ("tokenizer.chat_template", text(TEMPLATE)),
        ];
        let file = std::mem::replace(&mut self.file, Gguf::new(self.architecture));
        self.file = general
            .into_iter()
            .fold(file, |file, (key, value)| file.with(key, value));
        self.numbers(&[
            ("context_length", CONTEXT),
            ("embedding_length", WIDTH as u32),
            ("block_count", layers),
            ("feed_forward_length", FORWARD as u32),
            ("attention.head_count", HEADS as u32),
            ("attention.key_length", HEAD as u32),
            ("attention.value_length", HEAD as u32),
            ("rope.dimension_count", HEAD as u32),
        ]);
        self.key("attention.head_count_kv", kv_heads);
        self.key("attention.layer_norm_rms_epsilon", Value::Real(1e-6));
        self.key("rope.freq_base", Value::Real(10_000.0));
        self.normal("token_embd.weight", &[WIDTH, vocabulary], 0.0, 1.0);
        self.weight("output.weight", &[WIDTH, vocabulary]);
        self.norm(&format!("{last_norm}.weight"), &[WIDTH]);
    }

    fn blocks(&mut self, count: usize, mut block: impl FnMut(&mut Self, usize)) {
        for layer in 0..count {
            self.block = format!("blk.{layer}.");
            block(self, layer);
        }
    }

    fn gemma_block(&mut self) {
        self.norms(&["attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"]);
        self.attention(HEADS * HEAD, Bias::None);
        self.head_norms();
        self.dense();
    }

    fn attention(&mut self, queries: u64, bias: Bias) {
        let inputs = [
            ("attn_q", queries),
            ("attn_k", KV_HEADS * HEAD),
            ("attn_v", KV_HEADS * HEAD),
        ];
        for (name, width) in inputs {
            self.weight(&format!("{name}.weight"), &[WIDTH, width]);
            if bias != Bias::None {
                self.between(&format!("{name}.bias"), &[width], -0.1, 0.1);
            }
        }
        self.weight("attn_output.weight", &[HEADS * HEAD, WIDTH]);
        if bias == Bias::All {
            self.between("attn_output.bias", &[WIDTH], -0.1, 0.1);
        }
    }

    fn head_norms(&mut self) {
        self.norm("attn_q_norm.weight", &[HEAD]);
        self.norm("attn_k_norm.weight", &[HEAD]);
    }

    fn dense(&mut self) {
        self.weight("ffn_gate.weight", &[WIDTH, FORWARD]);
        self.weight("ffn_up.weight", &[WIDTH, FORWARD]);
        self.weight("ffn_down.weight", &[FORWARD, WIDTH]);
    }

    fn expert_keys(&mut self) {
        self.numbers(&[
            ("expert_count", EXPERTS as u32),
            ("expert_used_count", EXPERTS as u32),
            ("expert_feed_forward_length", FORWARD as u32),
        ]);
    }

    fn experts(&mut self, bias: Bias) {
        self.weight("ffn_gate_inp.weight", &[WIDTH, EXPERTS]);
        for (name, from, to) in [
            ("gate", WIDTH, FORWARD),
            ("up", WIDTH, FORWARD),
            ("down", FORWARD, WIDTH),
        ] {
            self.weight(&format!("ffn_{name}_exps.weight"), &[from, to, EXPERTS]);
            if bias == Bias::All {
                self.between(&format!("ffn_{name}_exps.bias"), &[to, EXPERTS], -0.1, 0.1);
            }
        }
        if bias == Bias::All {
            self.between("ffn_gate_inp.bias", &[EXPERTS], -0.1, 0.1);
        }
    }

    fn key(&mut self, key: &str, value: Value) {
        let key = format!("{}.{key}", self.architecture);
        self.file.metadata.push((key, value));
    }

    fn numbers(&mut self, keys: &[(&str, u32)]) {
        for (key, number) in keys {
            self.key(key, Value::Number(*number));
        }
    }

    fn norms(&mut self, names: &[&str]) {
        for name in names {
            self.norm(&format!("{name}.weight"), &[WIDTH]);
        }
    }

    fn norm(&mut self, name: &str, shape: &[u64]) {
        self.normal(name, shape, 1.0, 0.1);
    }

    /// So that what comes out of a layer is about as large as what goes in.
    fn weight(&mut self, name: &str, shape: &[u64]) {
        self.normal(name, shape, 0.0, (shape[0] as f64).sqrt().recip());
    }

    fn normal(&mut self, name: &str, shape: &[u64], middle: f64, deviation: f64) {
        self.tensor(name, shape, |random| middle + deviation * random.normal());
    }

    fn between(&mut self, name: &str, shape: &[u64], least: f64, most: f64) {
        self.tensor(name, shape, |random| least + (most - least) * random.fraction());
    }

    fn tensor(&mut self, name: &str, shape: &[u64], mut value: impl FnMut(&mut Random) -> f64) {
        let count = shape.iter().product::<u64>();
        let tensor = Tensor {
            values: (0..count).map(|_| value(&mut self.random) as f32).collect(),
            ..Tensor::stated(&format!("{}{name}", self.block), shape)
        };
        self.file.tensors.push(tensor);
    }
}

/// Returns the printable signs that byte-level vocabularies have for the 256 bytes, in the order of the bytes.
fn byte_symbols() -> Vec<String> {
    let is_plain = |byte: &u32| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let mut others = 256..;
    let sign = |byte: u32| {
        if is_plain(&byte) { Some(byte) } else { others.next() }
    };
    let signs = (0..256).filter_map(sign).filter_map(char::from_u32);
    signs.map(String::from).collect()
}

/// Numbers that only look random: `SplitMix64`.
struct Random(u64);

impl Random {
    /// From 0 to below 1.
    fn fraction(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Nearly normal, of deviation 1, and the same bits on every machine.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.fraction()).sum::<f64>() - 6.0
    }
}
