//! What a GGUF file says of itself: read from the header alone, bounds-checked, never allocating on the word of the file.
//!
//! It refuses what cannot be run as a chat model (later parts of a split model, projectors, encoders, files without a tokenizer),
//! reads the other parts of a model with its first one, and notices a truncated file by the extents of its tensors. It does not read weights and does not judge whether a model fits.

mod reader;
mod types;

use crate::split::files_of;
use magis_llm::memory::ContextMemory;
use magis_llm::size::{ModelSize, TensorSize};
use reader::{HeaderError, Metadata, Reader, Weights};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

/// What the header of a model file says, checked to be consistent and complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GgufHeader {
    /// The architecture's name, for instance `qwen2`.
    pub architecture: String,
    /// The model's own name, when it has one.
    pub name: Option<String>,
    /// The context length the model was trained with, in tokens.
    pub context_length: u32,
    pub layers: u32,
    /// Attention heads (the largest number of any layer).
    pub heads: u32,
    /// Key/value heads of each layer; as long as there are layers.
    pub kv_heads: Vec<u32>,
    /// Values of one key head.
    pub key_length: u32,
    /// Values of one value head.
    pub value_length: u32,
    /// Width of the residual stream.
    pub embedding_length: u32,
    /// Width of the feed-forward layer at work for one token; 0 when the file does not say.
    pub feed_forward_length: u32,
    /// Entries of the vocabulary.
    pub vocabulary: u32,
    /// What a context takes beside the weights.
    pub memory: ContextMemory,
    /// The sizes from which its need of memory follows.
    pub size: ModelSize,
    /// How the weights are stored.
    pub quantisation: Quantisation,
    /// Whether the file brings a chat template.
    pub chat_template: ChatTemplate,
    /// The number of weights.
    pub parameters: u64,
    /// The size of the whole file.
    pub file_bytes: u64,
}

/// How the weights of a model are stored, by its usual name: `Q4_K_M`, `F16`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantisation(pub String);

impl fmt::Display for Quantisation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a model file says how a conversation is written for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatTemplate {
    /// The file brings its template.
    Present,
    /// It does not; a conversation has to be written in a form that is guessed.
    Absent,
}

/// A file that cannot be used as a model, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum ModelFileError {
    /// The file cannot be opened or read.
    #[error("cannot read the model file {}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is something else.
    #[error("{} is not a GGUF model file but {looks_like}; choose a file whose name ends in .gguf", path.display())]
    NotGguf {
        path: PathBuf,
        /// What it looks like.
        looks_like: &'static str,
    },
    /// A version of the format that is not known.
    #[error("{} has GGUF version {version}, and versions 2 and 3 are known; convert it with a current llama.cpp", path.display())]
    Version {
        path: PathBuf,
        /// The version it states.
        version: u32,
    },
    /// The file ends before its contents do.
    #[error(
        "{} is incomplete: it needs at least {needed} bytes and has {found}; download it again",
        path.display()
    )]
    Truncated {
        path: PathBuf,
        /// The bytes it needs by its own header, as far as that can be read.
        needed: u64,
        /// The bytes it has.
        found: u64,
    },
    /// The header contradicts itself.
    #[error("{} is damaged: {what}; download it again", path.display())]
    Damaged { path: PathBuf, what: String },
    /// A later part of a model in several files, or a part that was renamed.
    #[error(
        "{} is one of {parts} parts of a split model; choose the first part, whose name ends in -00001-of-{parts:05}.gguf, with the \
         others beside it under their own names",
        path.display()
    )]
    Split {
        path: PathBuf,
        /// The number of parts.
        parts: u64,
    },
    /// Not all parts of a model in several files are there.
    #[error("{} needs its other parts beside it, and {} is missing; download it, or put it there", path.display(), part.display())]
    PartMissing {
        path: PathBuf,
        /// The part that is missing.
        part: PathBuf,
    },
    /// A GGUF file that holds something other than a chat model.
    #[error("{} holds {holds}, which cannot write text; choose an instruct or chat model", path.display())]
    NotAChatModel { path: PathBuf, holds: String },
    /// A model without vocabulary.
    #[error("{} has no tokenizer; convert the model again, together with its tokenizer files", path.display())]
    NoTokenizer { path: PathBuf },
}

impl GgufHeader {
    /// Reads the header of the file at `path` and checks the file's length against it; of a model in several files, those of all
    /// of them. Reads a few megabytes at most.
    ///
    /// # Errors
    /// When the file cannot be read, is not GGUF, is damaged, or is not a chat model.
    pub fn read(path: &Path) -> Result<Self, ModelFileError> {
        let mut reader = open(path)?;
        let (mut header, parts) = parse(&mut reader).map_err(|error| error.at(path, reader.length()))?;
        if parts == 1 {
            return Ok(header);
        }
        let files = files_of(path);
        if files.len() as u64 != parts {
            return Err(HeaderError::Split(parts).at(path, header.file_bytes));
        }
        for part in &files[1..] {
            if !part.exists() {
                return Err(ModelFileError::PartMissing {
                    path: path.to_owned(),
                    part: part.clone(),
                });
            }
            let mut reader = open(part)?;
            let weights = parse_part(&mut reader, parts).map_err(|error| error.at(part, reader.length()))?;
            header.parameters = header.parameters.saturating_add(weights.elements);
            header.size.add_weights(sizes(&weights));
            header.file_bytes = header.file_bytes.saturating_add(reader.length());
        }
        Ok(header)
    }
}

fn open(path: &Path) -> Result<Reader, ModelFileError> {
    let unreadable = |source| ModelFileError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(ModelFileError::NotGguf {
            path: path.to_owned(),
            looks_like: "a folder or device",
        });
    }
    Ok(Reader::new(file, metadata.len()))
}

/// Architectures that only turn text, pictures or sound into vectors.
const ENCODERS: [&str; 14] = [
    "bert",
    "nomic-bert",
    "nomic-bert-moe",
    "jina-bert-v2",
    "jina-bert-v3",
    "modern-bert",
    "neo-bert",
    "eurobert",
    "gemma-embedding",
    "llama-embed",
    "t5encoder",
    "clip",
    "whisper",
    "wavtokenizer-dec",
];

/// More layers than any model has; a larger number is damage.
const MOST_LAYERS: u64 = 4096;

/// Reads a later part of a model in several files and returns the weights it holds.
fn parse_part(reader: &mut Reader, parts: u64) -> Result<Weights, HeaderError> {
    reader.preamble()?;
    let tensor_count = reader.u64()?;
    let entry_count = reader.u64()?;
    let metadata = reader.metadata(entry_count)?;
    let states = metadata.number("split.count").unwrap_or(1);
    if states != parts {
        return Err(HeaderError::Damaged(format!(
            "it is a part of a model in {states} files, and its name says {parts}"
        )));
    }
    checked_tensors(reader, &metadata, tensor_count)
}

/// Reads the list of tensors and checks that the file holds them all.
fn checked_tensors(reader: &mut Reader, metadata: &Metadata, count: u64) -> Result<Weights, HeaderError> {
    let alignment = metadata.number("general.alignment").unwrap_or(32);
    let weights = reader.tensors(count, alignment)?;
    if weights.end > reader.length() {
        return Err(HeaderError::Truncated { needed: weights.end });
    }
    Ok(weights)
}

/// Returns what a file, or a first part, says, and of how many parts it is the first.
fn parse(reader: &mut Reader) -> Result<(GgufHeader, u64), HeaderError> {
    reader.preamble()?;
    let tensor_count = reader.u64()?;
    let entry_count = reader.u64()?;
    let metadata = reader.metadata(entry_count)?;
    let parts = metadata.number("split.count").unwrap_or(1).max(1);
    if parts > 1 && metadata.number("split.no").unwrap_or(0) > 0 {
        return Err(HeaderError::Split(parts));
    }
    if tensor_count == 0 && parts == 1 {
        return Err(HeaderError::Damaged("it states 0 tensors".to_owned()));
    }
    let architecture = metadata
        .text("general.architecture")
        .ok_or_else(|| missing("general.architecture"))?
        .to_owned();
    refuse_other_kinds(&metadata, &architecture)?;
    if metadata.text("tokenizer.ggml.model").is_none() || metadata.tokens == 0 {
        return Err(HeaderError::NoTokenizer);
    }

    let of = |key: &str| format!("{architecture}.{key}");
    let required = |key: &str| -> Result<u32, HeaderError> {
        let key = of(key);
        let value = metadata.number(&key).ok_or_else(|| missing(&key))?;
        u32::try_from(value)
            .ok()
            .filter(|&v| v > 0)
            .ok_or_else(|| HeaderError::Damaged(format!("{key} is {value}")))
    };
    let optional = |key: &str, otherwise: u32| -> Result<u32, HeaderError> {
        if metadata.number(&of(key)).is_some() {
            required(key)
        } else {
            Ok(otherwise)
        }
    };
    let layers = required("block_count")?;
    if u64::from(layers) > MOST_LAYERS {
        return Err(HeaderError::Damaged(format!("it states {layers} layers")));
    }
    let embedding_length = required("embedding_length")?;
    let per_layer_heads = metadata.numbers(&of("attention.head_count"));
    let heads = match per_layer_heads.and_then(|all| all.iter().max()) {
        Some(&most) if most > 0 => most,
        _ => required("attention.head_count")?,
    };
    let head_length = (embedding_length / heads).max(1);
    let experts = optional("expert_feed_forward_length", 0)?.saturating_mul(optional("expert_used_count", 1)?);
    let dense = metadata
        .numbers(&of("feed_forward_length"))
        .and_then(|all| all.iter().max().copied());
    let dense = dense.or_else(|| {
        metadata
            .number(&of("feed_forward_length"))
            .and_then(|n| u32::try_from(n).ok())
    });

    let header = GgufHeader {
        name: metadata.text("general.name").map(str::to_owned),
        context_length: required("context_length")?,
        layers,
        heads,
        kv_heads: kv_heads(&metadata, &of("attention.head_count_kv"), layers, heads)?,
        key_length: optional("attention.key_length", head_length)?,
        value_length: optional("attention.value_length", head_length)?,
        embedding_length,
        feed_forward_length: experts.max(dense.unwrap_or(0)),
        vocabulary: metadata.tokens,
        memory: ContextMemory::of(&architecture, &metadata),
        size: ModelSize::default(),
        quantisation: Quantisation(String::new()),
        chat_template: metadata.chat_template,
        parameters: 0,
        file_bytes: reader.length(),
        architecture,
    };
    let weights = checked_tensors(reader, &metadata, tensor_count)?;
    let by_file_type = metadata.number("general.file_type").and_then(types::file_type_name);
    let quantisation = Quantisation(by_file_type.unwrap_or(weights.main_type).to_owned());
    let header = GgufHeader {
        quantisation,
        parameters: weights.elements,
        size: ModelSize::of(&header.architecture, &metadata, metadata.tokens, sizes(&weights)),
        ..header
    };
    Ok((header, parts))
}

fn sizes(weights: &Weights) -> impl Iterator<Item = TensorSize<'_>> {
    weights.tensors.iter().map(|tensor| TensorSize {
        name: &tensor.name,
        bytes: tensor.bytes,
        storage: tensor.storage,
    })
}

fn refuse_other_kinds(metadata: &Metadata, architecture: &str) -> Result<(), HeaderError> {
    let holds = match metadata.text("general.type") {
        Some("mmproj") => Some("the picture projector of a model".to_owned()),
        Some("adapter") => Some("an adapter (LoRA) without its model".to_owned()),
        Some("vocab") => Some("a vocabulary without weights".to_owned()),
        Some("imatrix") => Some("quantisation statistics".to_owned()),
        _ if ENCODERS.contains(&architecture) => Some(format!("an encoder or embedding model ({architecture})")),
        _ => None,
    };
    let pooling = metadata.number(&format!("{architecture}.pooling_type")).unwrap_or(0);
    match holds {
        Some(holds) => Err(HeaderError::NotAChatModel(holds)),
        None if pooling > 0 => Err(HeaderError::NotAChatModel(format!(
            "an embedding model ({architecture} with pooling)"
        ))),
        None => Ok(()),
    }
}

fn kv_heads(metadata: &Metadata, key: &str, layers: u32, heads: u32) -> Result<Vec<u32>, HeaderError> {
    if let Some(all) = metadata.numbers(key) {
        if all.len() == layers as usize {
            return Ok(all.to_vec());
        }
        return Err(HeaderError::Damaged(format!(
            "{key} has {} numbers for {layers} layers",
            all.len()
        )));
    }
    let each = metadata.number(key).unwrap_or(u64::from(heads));
    let each = u32::try_from(each).map_err(|_| HeaderError::Damaged(format!("{key} is {each}")))?;
    Ok(vec![each; layers as usize])
}

fn missing(key: &str) -> HeaderError {
    HeaderError::Damaged(format!("its header lacks {key}"))
}

/// The metadata that is kept; see [`reader::Metadata`].
type Numbers = BTreeMap<String, u64>;
