//! Model files in the GGUF format, written by code: [`Gguf`]. What the metadata and the tensors mean is for the caller.

/// A value in the metadata of a model file.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Number(u32),
    /// A number with a fraction.
    Real(f32),
    Flag(bool),
    Text(String),
    /// A list of whole numbers; signed in the file, as converters write them.
    Numbers(Vec<u32>),
    /// A list of truth values.
    Flags(Vec<bool>),
    /// A list of texts.
    Texts(Vec<String>),
}

/// Returns a text as a value.
pub fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// A tensor of a model file.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    pub name: String,
    /// Its dimensions, the fastest first.
    pub shape: Vec<u64>,
    /// The values; fewer than the dimensions say, where only the header is of interest.
    pub values: Vec<f32>,
    pub storage: Storage,
}

/// How the values of a tensor are stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Storage {
    /// 32 bits each.
    #[default]
    F32,
    /// ggml's `Q4_0`: blocks of 32 values with 4 bits each, and a scale of 16 bits.
    Q4,
}

/// Values of a block of [`Storage::Q4`].
const BLOCK: usize = 32;

impl Tensor {
    /// Returns a tensor that is only stated, without its values.
    pub fn stated(name: &str, shape: &[u64]) -> Self {
        Self {
            name: name.to_owned(),
            shape: shape.to_vec(),
            values: Vec::new(),
            storage: Storage::F32,
        }
    }

    /// Returns the bytes that its dimensions say it has.
    fn size(&self) -> u64 {
        let values = self.shape.iter().fold(1_u64, |all, size| all.wrapping_mul(*size));
        match self.storage {
            Storage::F32 => values.wrapping_mul(4),
            Storage::Q4 => values / BLOCK as u64 * 18,
        }
    }

    /// Returns its bytes in the file.
    fn bytes(&self) -> Vec<u8> {
        match self.storage {
            Storage::F32 => self.values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Storage::Q4 => self.values.chunks(BLOCK).flat_map(block).collect(),
        }
    }
}

/// Stores a block in 4 bits a value.
fn block(values: &[f32]) -> Vec<u8> {
    let largest = values
        .iter()
        .copied()
        .max_by(|one, other| one.abs().total_cmp(&other.abs()));
    let scale = largest.unwrap_or(0.0) / -8.0;
    let quant = |value: &f32| {
        let steps = if scale == 0.0 { 0.0 } else { value / scale };
        (steps + 8.5).clamp(0.0, 15.0) as u8
    };
    let (low, high) = values.split_at(BLOCK / 2);
    let mut out = half(scale).to_le_bytes().to_vec();
    out.extend(low.iter().zip(high).map(|(low, high)| quant(low) | quant(high) << 4));
    out
}

/// Rounds a number to 16 bits; what is too small becomes 0.
fn half(number: f32) -> u16 {
    let bits = number.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    // The exponents of both forms are 112 apart.
    match (bits >> 23 & 0xff).checked_sub(112) {
        Some(exponent @ 1..=30) => sign | (exponent as u16) << 10 | (bits >> 13 & 0x3ff) as u16,
        _ => sign,
    }
}

/// A model file in the making.
#[derive(Debug, Clone, PartialEq)]
pub struct Gguf {
    /// The version of the format.
    pub version: u32,
    /// Keys and values, in order.
    pub metadata: Vec<(String, Value)>,
    /// The tensors, in order.
    pub tensors: Vec<Tensor>,
}

impl Gguf {
    /// Creates an empty file of an architecture.
    pub fn new(architecture: &str) -> Self {
        Self {
            version: 3,
            metadata: vec![("general.architecture".to_owned(), text(architecture))],
            tensors: Vec::new(),
        }
    }

    /// Returns a small model that cannot be run: 4 layers, 8 heads, 2 key/value heads, width 64, three words, one
    /// tensor of 64 x `rows` whose bytes count upwards, so that a misplaced piece is noticed.
    pub fn small(rows: u64) -> Self {
        let words = ["a", "b", "c"].map(str::to_owned).to_vec();
        let small = Self::new("qwen2")
            .with("general.name", text("A small model"))
            .with("tokenizer.ggml.model", text("gpt2"))
            .with("tokenizer.ggml.tokens", Value::Texts(words))
            .with("tokenizer.chat_template", text("{{ messages }}"))
            .with("general.file_type", Value::Number(15))
            .with("qwen2.context_length", Value::Number(4096))
            .with("qwen2.block_count", Value::Number(4))
            .with("qwen2.embedding_length", Value::Number(64))
            .with("qwen2.feed_forward_length", Value::Number(256))
            .with("qwen2.attention.head_count", Value::Number(8))
            .with("qwen2.attention.head_count_kv", Value::Number(2));
        let tensor = Tensor {
            values: (0..64 * rows as u32).map(f32::from_bits).collect(),
            ..Tensor::stated("token_embd.weight", &[64, rows])
        };
        Self {
            tensors: vec![tensor],
            ..small
        }
    }

    /// With another value for a key.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.metadata.retain(|(existing, _)| existing != key);
        self.metadata.push((key.to_owned(), value));
        self
    }

    /// With the matrices of its layers stored in 4 bits a value.
    #[must_use]
    pub fn in_4_bits(mut self) -> Self {
        let of_layers = |tensor: &&mut Tensor| tensor.name.starts_with("blk.") && tensor.shape.len() == 2;
        for tensor in self.tensors.iter_mut().filter(of_layers) {
            tensor.storage = Storage::Q4;
        }
        self
    }

    /// Leaves out a metadata key.
    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        self.metadata.retain(|(existing, _)| existing != key);
        self
    }

    /// Returns the file up to the weights.
    pub fn header(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend((self.tensors.len() as u64).to_le_bytes());
        out.extend((self.metadata.len() as u64).to_le_bytes());
        for (key, value) in &self.metadata {
            put_text(&mut out, key);
            put_value(&mut out, value);
        }
        let mut offset = 0_u64;
        for tensor in &self.tensors {
            put_text(&mut out, &tensor.name);
            out.extend((tensor.shape.len() as u32).to_le_bytes());
            out.extend(tensor.shape.iter().flat_map(|size| size.to_le_bytes()));
            let storage: u32 = match tensor.storage {
                Storage::F32 => 0,
                Storage::Q4 => 2,
            };
            out.extend(storage.to_le_bytes());
            out.extend(offset.to_le_bytes());
            offset = offset.wrapping_add(tensor.size()).wrapping_add(ALIGNMENT - 1) & !(ALIGNMENT - 1);
        }
        out
    }

    /// Returns the bytes of the whole file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.header();
        for tensor in &self.tensors {
            out.resize(out.len().next_multiple_of(ALIGNMENT as usize), 0);
            out.extend(tensor.bytes());
        }
        out
    }
}

/// Each tensor begins at a multiple of this.
const ALIGNMENT: u64 = 32;

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

fn put_value(out: &mut Vec<u8>, value: &Value) {
    let mut begin = |kind: u32| out.extend(kind.to_le_bytes());
    match value {
        Value::Number(_) => begin(4),
        Value::Real(_) => begin(6),
        Value::Flag(_) => begin(7),
        Value::Text(_) => begin(8),
        Value::Numbers(_) => [9, 5].into_iter().for_each(begin),
        Value::Flags(_) => [9, 7].into_iter().for_each(begin),
        Value::Texts(_) => [9, 8].into_iter().for_each(begin),
    }
    match value {
        Value::Number(number) => out.extend(number.to_le_bytes()),
        Value::Real(number) => out.extend(number.to_le_bytes()),
        Value::Flag(flag) => out.push(u8::from(*flag)),
        Value::Text(text) => put_text(out, text),
        Value::Numbers(all) => {
            out.extend((all.len() as u64).to_le_bytes());
            out.extend(all.iter().flat_map(|number| number.to_le_bytes()));
        }
        Value::Flags(all) => {
            out.extend((all.len() as u64).to_le_bytes());
            out.extend(all.iter().map(|flag| u8::from(*flag)));
        }
        Value::Texts(all) => {
            out.extend((all.len() as u64).to_le_bytes());
            for text in all {
                put_text(out, text);
            }
        }
    }
}
