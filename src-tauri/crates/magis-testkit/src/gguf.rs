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
    /// The values, of 32 bits each; fewer than the dimensions say, where only the header is of interest.
    pub values: Vec<f32>,
}

impl Tensor {
    /// Returns a tensor that is only stated, without its values.
    pub fn stated(name: &str, shape: &[u64]) -> Self {
        Self {
            name: name.to_owned(),
            shape: shape.to_vec(),
            values: Vec::new(),
        }
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
            out.extend(0_u32.to_le_bytes());
            out.extend(offset.to_le_bytes());
            let bytes = tensor.shape.iter().fold(4_u64, |all, size| all.wrapping_mul(*size));
            offset = offset.wrapping_add(bytes).wrapping_add(ALIGNMENT - 1) & !(ALIGNMENT - 1);
        }
        out
    }

    /// Returns the bytes of the whole file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.header();
        for tensor in &self.tensors {
            out.resize(out.len().next_multiple_of(ALIGNMENT as usize), 0);
            out.extend(tensor.values.iter().flat_map(|value| value.to_le_bytes()));
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
