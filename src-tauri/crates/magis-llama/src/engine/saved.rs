//! What is saved of a sequence behind some tokens, in main memory or in a file.

use std::rc::Rc;

/// What a snapshot has of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The state of its recurrent layers.
    State,
    /// All that the cache holds of it.
    Sequence,
}

/// What is saved behind some tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    /// llama.cpp's bytes.
    pub bytes: Rc<[u8]>,
    /// The logits behind the last token, where they are known.
    pub logits: Option<Rc<[f32]>>,
}

impl Saved {
    /// Returns the bytes that it takes.
    pub fn size(&self) -> usize {
        self.bytes.len() + self.logits.as_deref().map_or(0, size_of_val)
    }
}
