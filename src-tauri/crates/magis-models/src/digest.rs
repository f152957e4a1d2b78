//! SHA-256 as a value: parsed once, compared as bytes, printed as hexadecimal.
//!
//! It does not decide which hash is right; the catalogue and the library do.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

/// A SHA-256 hash; shown and stored as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sha256Hex([u8; 32]);

/// Text that is no SHA-256 hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a SHA-256 hash: expected 64 hexadecimal digits")]
pub struct Sha256HexError {
    /// The text as it was given.
    pub text: String,
}

impl Sha256Hex {
    /// Hashes all that `source` yields, calling `seen` with the number of bytes of each piece; `seen` may stop it with an error.
    pub(crate) fn of_reader(source: &mut impl Read, mut seen: impl FnMut(u64) -> io::Result<()>) -> io::Result<Self> {
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 1 << 20];
        loop {
            let count = match source.read(&mut buffer) {
                Ok(0) => return Ok(Self(hasher.finalize().into())),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            hasher.update(&buffer[..count]);
            seen(count as u64)?;
        }
    }

    /// Returns the hash of bytes in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

/// Returns the hash of a model in these files: the file's own where there is one, else the hash of all their digits in a
/// row.
pub(crate) fn hash_of_parts(files: &[Sha256Hex]) -> Sha256Hex {
    match files {
        [only] => *only,
        parts => {
            let digits: String = parts.iter().map(Sha256Hex::to_string).collect();
            Sha256Hex::of(digits.as_bytes())
        }
    }
}

impl fmt::Display for Sha256Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Sha256Hex {
    type Err = Sha256HexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || Sha256HexError {
            text: text.chars().take(80).collect(),
        };
        let digits: Vec<u32> = text
            .chars()
            .map(|c| c.to_digit(16).ok_or_else(bad))
            .collect::<Result<_, _>>()?;
        if digits.len() != 64 {
            return Err(bad());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = (pair[0] * 16 + pair[1]) as u8;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for Sha256Hex {
    type Error = Sha256HexError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Sha256Hex> for String {
    fn from(hash: Sha256Hex) -> Self {
        hash.to_string()
    }
}
