//! The key of another engine: kept by the system's keyring, or given in the environment where there is no keyring.
//!
//! It is never written into a file or a log and never shown.

use crate::EngineAddress;
use keyring::{Entry, Error};
use std::env;
use std::fmt;
use thiserror::Error as ThisError;

/// The variable that gives the key where the system has no keyring.
pub const KEY_VARIABLE: &str = "MAGIS_ENGINE_KEY";
/// What the keyring knows the keys by.
const SERVICE: &str = "magis-engine";

/// A key that an engine asks for. Its text is not shown anywhere.
#[derive(Clone, PartialEq, Eq)]
pub struct EngineKey(String);

/// Where the key of an engine comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySource {
    Keyring,
    /// The environment variable [`KEY_VARIABLE`].
    Environment,
    /// There is none; the engine asks for none.
    None,
}

/// Why a key cannot be used or kept.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
pub enum KeyError {
    #[error("a key is one line of visible ASCII characters")]
    Form,
    #[error("the system's keyring cannot be used: {0}; set the variable {KEY_VARIABLE} instead")]
    Keyring(String),
}

impl EngineKey {
    /// Reads a key as it is typed or pasted.
    ///
    /// # Errors
    /// When it is empty or has characters that cannot stand in a request.
    pub fn new(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        if text.is_empty() || text.len() > 4096 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(KeyError::Form);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the key of an engine and where it comes from: the keyring's, else the environment's. Blocks while the keyring answers.
    ///
    /// # Errors
    /// When the variable holds something that is no key. A keyring that is not there counts as one without this key.
    pub fn of(address: &EngineAddress) -> Result<(Option<Self>, KeySource), KeyError> {
        let kept = entry(address).and_then(|entry| entry.get_password());
        if let Ok(text) = kept {
            return Ok((Some(Self::new(&text)?), KeySource::Keyring));
        }
        match env::var(KEY_VARIABLE) {
            Ok(text) => Ok((Some(Self::new(&text)?), KeySource::Environment)),
            Err(_) => Ok((None, KeySource::None)),
        }
    }

    /// Checks that the system has a keyring, without unlocking it. Blocks while the system answers.
    ///
    /// # Errors
    /// When there is none.
    pub fn check_keyring() -> Result<(), KeyError> {
        match Entry::store_status() {
            Ok(()) => Ok(()),
            Err(_) => Err(refused(Error::NoDefaultStore)),
        }
    }

    /// Keeps the key of an engine in the keyring. Blocks while the keyring answers.
    ///
    /// # Errors
    /// When the system has no keyring, or it is locked.
    pub fn keep(&self, address: &EngineAddress) -> Result<(), KeyError> {
        entry(address)
            .and_then(|entry| entry.set_password(&self.0))
            .map_err(refused)
    }

    /// Removes the key of an engine from the keyring. Blocks while the keyring answers.
    ///
    /// # Errors
    /// When the system has no keyring, or it is locked.
    pub fn forget(address: &EngineAddress) -> Result<(), KeyError> {
        match entry(address).and_then(|entry| entry.delete_credential()) {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(refused(error)),
        }
    }

    /// Returns the value of the header that carries it.
    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl fmt::Debug for EngineKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EngineKey(…)")
    }
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keyring => f.write_str("key from the system's keyring"),
            Self::Environment => write!(f, "key from {KEY_VARIABLE}"),
            Self::None => f.write_str("no key"),
        }
    }
}

/// A key belongs to one host and port, so that it never reaches another one.
fn entry(address: &EngineAddress) -> Result<Entry, Error> {
    Entry::new(SERVICE, &address.host_and_port())
}

fn refused(error: Error) -> KeyError {
    KeyError::Keyring(match error {
        // The others may carry what is kept.
        Error::BadEncoding(_) | Error::BadDataFormat(..) => "what it holds is no text".to_owned(),
        Error::NoDefaultStore => "there is none here".to_owned(),
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = EngineKey::new(" secret-1 ").unwrap();
        assert_eq!(format!("{key:?}"), "EngineKey(…)");
        assert_eq!(key.bearer(), "Bearer secret-1");
    }

    #[test]
    fn what_cannot_stand_in_a_request_is_no_key() {
        for text in ["", "  ", "two words", "two\nlines", "schlüssel"] {
            assert_eq!(EngineKey::new(text), Err(KeyError::Form), "{text:?}");
        }
    }
}
