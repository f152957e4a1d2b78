//! The bytes of a GGUF header: every length is compared with what the file still holds before it is believed.
//!
//! It knows the format, not the meaning of keys, except which few values are worth keeping.

use super::{ChatTemplate, ModelFileError, Numbers, types};
use magis_core::harmless_name;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// What can be wrong with a file, without its path.
pub(super) enum HeaderError {
    Io(io::Error),
    NotGguf(&'static str),
    Version(u32),
    Truncated { needed: u64 },
    Damaged(String),
    Split(u64),
    NotAChatModel(String),
    NoTokenizer,
}

impl HeaderError {
    pub(super) fn at(self, path: &Path, found: u64) -> ModelFileError {
        let path = path.to_owned();
        match self {
            Self::Io(source) => ModelFileError::Unreadable { path, source },
            Self::NotGguf(looks_like) => ModelFileError::NotGguf { path, looks_like },
            Self::Version(version) => ModelFileError::Version { path, version },
            Self::Truncated { needed } => ModelFileError::Truncated { path, needed, found },
            Self::Damaged(what) => ModelFileError::Damaged { path, what },
            Self::Split(parts) => ModelFileError::Split { path, parts },
            Self::NotAChatModel(holds) => ModelFileError::NotAChatModel { path, holds },
            Self::NoTokenizer => ModelFileError::NoTokenizer { path },
        }
    }
}

/// The values that are kept of the metadata.
pub(super) struct Metadata {
    numbers: Numbers,
    lists: BTreeMap<String, Vec<u32>>,
    texts: BTreeMap<String, String>,
    /// Entries of the vocabulary.
    pub(super) tokens: u32,
    pub(super) chat_template: ChatTemplate,
}

impl Metadata {
    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.numbers.get(key).copied()
    }

    pub(super) fn numbers(&self, key: &str) -> Option<&[u32]> {
        self.lists.get(key).map(Vec::as_slice)
    }

    /// Returns a text, fit to be shown.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.texts.get(key).map(String::as_str)
    }
}

impl magis_llm::memory::Metadata for Metadata {
    fn number(&self, key: &str) -> Option<u64> {
        self.number(key)
    }

    fn numbers(&self, key: &str) -> Option<Vec<u64>> {
        Some(self.numbers(key)?.iter().map(|number| u64::from(*number)).collect())
    }
}

/// What the tensor list says about the weights.
pub(super) struct Weights {
    /// The byte at which the last tensor ends.
    pub(super) end: u64,
    pub(super) elements: u64,
    /// The storage type of most of the bytes.
    pub(super) main_type: &'static str,
    pub(super) tensors: Vec<Tensor>,
}

/// A tensor of the list.
pub(super) struct Tensor {
    pub(super) name: String,
    pub(super) bytes: u64,
    /// The number of its storage type.
    pub(super) storage: u32,
}

/// Real files have some 40 entries and under 2,000 tensors; beyond these, the number is damage.
const MOST_ENTRIES: u64 = 1 << 14;
const MOST_TENSORS: u64 = 1 << 17;
/// Keys and tensor names; longer ones are not kept apart but refused.
const LONGEST_KEY: u64 = 1024;
/// Texts longer than this are passed over (chat templates and licences: only their presence matters).
const LONGEST_KEPT_TEXT: u64 = 1024;
/// Lists longer than this are passed over (vocabularies).
const LONGEST_KEPT_LIST: u64 = 4096;
const DEEPEST_LIST: u32 = 4;

const TEXT: u32 = 8;
const LIST: u32 = 9;

pub(super) struct Reader {
    source: BufReader<File>,
    position: u64,
    length: u64,
}

impl Reader {
    pub(super) fn new(file: File, length: u64) -> Self {
        Self {
            source: BufReader::with_capacity(1 << 16, file),
            position: 0,
            length,
        }
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Checks the magic number and the version.
    pub(super) fn preamble(&mut self) -> Result<(), HeaderError> {
        if self.length < 4 {
            return Err(HeaderError::NotGguf(if self.length == 0 {
                "an empty file"
            } else {
                "a file of a few bytes"
            }));
        }
        match &self.array::<4>()? {
            b"GGUF" => {}
            b"vers" => {
                return Err(HeaderError::NotGguf(
                    "perhaps a Git LFS pointer, without the model itself",
                ));
            }
            b"PK\x03\x04" => return Err(HeaderError::NotGguf("a zip archive")),
            b"<!DO" | b"<!do" | b"<htm" | b"<HTM" => return Err(HeaderError::NotGguf("a web page")),
            b"ggml" | b"tjgg" | b"lmgg" => return Err(HeaderError::NotGguf("a model in the older GGML format")),
            [0, 0, 0, 0] => {
                return Err(HeaderError::NotGguf(
                    "a file that begins with zeros, as after a broken download",
                ));
            }
            _ => return Err(HeaderError::NotGguf("something else")),
        }
        let version = self.u32()?;
        if version == 2_u32.swap_bytes() || version == 3_u32.swap_bytes() {
            return Err(HeaderError::NotGguf("a GGUF file for big-endian machines"));
        }
        if !(2..=3).contains(&version) {
            return Err(HeaderError::Version(version));
        }
        Ok(())
    }

    pub(super) fn metadata(&mut self, count: u64) -> Result<Metadata, HeaderError> {
        if count > MOST_ENTRIES {
            return Err(HeaderError::Damaged(format!("it states {count} metadata entries")));
        }
        let (numbers, lists, texts) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut found = Metadata {
            numbers,
            lists,
            texts,
            tokens: 0,
            chat_template: ChatTemplate::Absent,
        };
        for _ in 0..count {
            let key = self.key()?;
            match self.u32()? {
                TEXT => {
                    let length = self.u64()?;
                    if key == "tokenizer.chat_template" && length > 0 {
                        found.chat_template = ChatTemplate::Present;
                    }
                    if length <= LONGEST_KEPT_TEXT {
                        let text = self.bytes(length)?;
                        found.texts.insert(key, harmless_name(&String::from_utf8_lossy(&text)));
                    } else {
                        self.skip(length)?;
                    }
                }
                LIST => self.list(key, &mut found)?,
                kind => {
                    if let Some(number) = self.scalar(kind)? {
                        found.numbers.insert(key, number);
                    }
                }
            }
        }
        Ok(found)
    }

    pub(super) fn tensors(&mut self, count: u64, alignment: u64) -> Result<Weights, HeaderError> {
        if count > MOST_TENSORS {
            return Err(HeaderError::Damaged(format!("it states {count} tensors")));
        }
        if !alignment.is_power_of_two() || alignment > 1 << 20 {
            return Err(HeaderError::Damaged(format!(
                "it states an alignment of {alignment} bytes"
            )));
        }
        let mut end_in_data = 0_u64;
        let mut elements = 0_u64;
        let mut bytes_by_type: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut tensors = Vec::new();
        for _ in 0..count {
            let name = self.key()?;
            let too_large = || HeaderError::Damaged(format!("tensor {name:?} states an impossible size"));
            let rank = self.u32()?;
            if rank == 0 || rank > 4 {
                return Err(HeaderError::Damaged(format!(
                    "tensor {name:?} states {rank} dimensions"
                )));
            }
            let mut size = 1_u64;
            for _ in 0..rank {
                size = size.checked_mul(self.u64()?).ok_or_else(too_large)?;
            }
            let kind = self.u32()?;
            let offset = self.u64()?;
            // A type that is not known here may still be known to the engine: its extent is then only its beginning.
            let (type_name, bytes) = match types::tensor_type(kind) {
                Some(t) => (
                    t.name,
                    (size.div_ceil(t.block_elements))
                        .checked_mul(t.block_bytes)
                        .ok_or_else(too_large)?,
                ),
                None => ("unknown", 0),
            };
            let end = offset.checked_add(bytes).ok_or_else(too_large)?;
            end_in_data = end_in_data.max(end);
            elements = elements.checked_add(size).ok_or_else(too_large)?;
            let of_type = bytes_by_type.entry(type_name).or_default();
            *of_type = of_type.saturating_add(bytes);
            tensors.push(Tensor {
                name,
                bytes,
                storage: kind,
            });
        }
        let data = self.position.next_multiple_of(alignment);
        let end = data
            .checked_add(end_in_data)
            .ok_or_else(|| HeaderError::Damaged("its tensors state an impossible size".to_owned()))?;
        let main_type = bytes_by_type
            .into_iter()
            .max_by_key(|&(_, bytes)| bytes)
            .map_or("unknown", |(name, _)| name);
        Ok(Weights {
            end,
            elements,
            main_type,
            tensors,
        })
    }

    pub(super) fn u64(&mut self) -> Result<u64, HeaderError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, HeaderError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn key(&mut self) -> Result<String, HeaderError> {
        let length = self.u64()?;
        if length > LONGEST_KEY {
            return Err(HeaderError::Damaged(format!(
                "a name of {length} bytes at byte {}",
                self.position
            )));
        }
        // Names stand in messages, and none that means something here has anything to be made harmless.
        let name = self.bytes(length)?;
        Ok(harmless_name(&String::from_utf8_lossy(&name)))
    }

    /// Returns a value of fixed size: its number when it is a whole one, nothing when it is a float or negative.
    fn scalar(&mut self, kind: u32) -> Result<Option<u64>, HeaderError> {
        let signed = |number: i64| u64::try_from(number).ok();
        Ok(match kind {
            0 | 7 => Some(u64::from(u8::from_le_bytes(self.array()?))),
            1 => signed(i64::from(i8::from_le_bytes(self.array()?))),
            2 => Some(u64::from(u16::from_le_bytes(self.array()?))),
            3 => signed(i64::from(i16::from_le_bytes(self.array()?))),
            4 => Some(u64::from(self.u32()?)),
            5 => signed(i64::from(i32::from_le_bytes(self.array()?))),
            6 => self.array::<4>().map(|_| None)?,
            10 => Some(self.u64()?),
            11 => signed(i64::from_le_bytes(self.array()?)),
            12 => self.array::<8>().map(|_| None)?,
            _ => {
                return Err(HeaderError::Damaged(format!(
                    "a value of unknown type {kind} at byte {}",
                    self.position
                )));
            }
        })
    }

    fn list(&mut self, key: String, found: &mut Metadata) -> Result<(), HeaderError> {
        let kind = self.u32()?;
        let count = self.u64()?;
        if key == "tokenizer.ggml.tokens" {
            found.tokens =
                u32::try_from(count).map_err(|_| HeaderError::Damaged(format!("it states {count} tokens")))?;
        }
        if matches!(kind, 0..=5 | 7) && count <= LONGEST_KEPT_LIST {
            let mut all = Vec::new();
            for _ in 0..count {
                let number = self.scalar(kind)?;
                all.push(number.and_then(|n| u32::try_from(n).ok()).unwrap_or(0));
            }
            found.lists.insert(key, all);
            return Ok(());
        }
        self.skip_list(kind, count, DEEPEST_LIST)
    }

    fn skip_list(&mut self, kind: u32, count: u64, depth: u32) -> Result<(), HeaderError> {
        let item_bytes = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            10..=12 => 8,
            TEXT => {
                self.expect(count.saturating_mul(8))?;
                for _ in 0..count {
                    let length = self.u64()?;
                    self.skip(length)?;
                }
                return Ok(());
            }
            LIST if depth > 0 => {
                self.expect(count.saturating_mul(12))?;
                for _ in 0..count {
                    let (kind, count) = (self.u32()?, self.u64()?);
                    self.skip_list(kind, count, depth - 1)?;
                }
                return Ok(());
            }
            _ => {
                return Err(HeaderError::Damaged(format!(
                    "a list of unknown type {kind} at byte {}",
                    self.position
                )));
            }
        };
        self.skip(count.saturating_mul(item_bytes))
    }

    fn expect(&self, bytes: u64) -> Result<(), HeaderError> {
        let needed = self.position.saturating_add(bytes);
        if needed > self.length {
            Err(HeaderError::Truncated { needed })
        } else {
            Ok(())
        }
    }

    fn skip(&mut self, bytes: u64) -> Result<(), HeaderError> {
        self.expect(bytes)?;
        let distance = i64::try_from(bytes).map_err(|_| HeaderError::Truncated { needed: bytes })?;
        self.source.seek_relative(distance).map_err(HeaderError::Io)?;
        self.position += bytes;
        Ok(())
    }

    /// Reads a few bytes; callers limit `count`.
    fn bytes(&mut self, count: u64) -> Result<Vec<u8>, HeaderError> {
        self.expect(count)?;
        let mut all = vec![0; count as usize];
        self.fill(&mut all)?;
        Ok(all)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], HeaderError> {
        self.expect(N as u64)?;
        let mut all = [0; N];
        self.fill(&mut all)?;
        Ok(all)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), HeaderError> {
        self.source.read_exact(buffer).map_err(|error| match error.kind() {
            // The file shrank while it was being read.
            io::ErrorKind::UnexpectedEof => HeaderError::Truncated {
                needed: self.position.saturating_add(buffer.len() as u64),
            },
            _ => HeaderError::Io(error),
        })?;
        self.position += buffer.len() as u64;
        Ok(())
    }
}
