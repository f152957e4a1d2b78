//! What parent and process say to each other. A request is its length and JSON. A frame of an answer is a byte for its kind, the lengths of its JSON and of the
//! bytes beside it, and both.

use crate::RepoError;
use crate::reading::Frame;
use serde::de::DeserializeOwned;
use std::io::{self, ErrorKind, Read, Write};

/// The most bytes of a request or an answer that are taken for one.
const MOST: u64 = 256 << 20;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Part = b'p',
    Answer = b'a',
    /// The answer is an error.
    Refusal = b'r',
}

/// Returns an error in JSON. One that has no written form, a path that is no text say, goes by its words.
pub(crate) fn refusal(error: &RepoError) -> Vec<u8> {
    let by_words = |_| serde_json::to_vec(&RepoError::wire(error));
    serde_json::to_vec(error).or_else(by_words).unwrap_or_default()
}

pub(crate) fn write_request(to: &mut impl Write, json: &[u8]) -> io::Result<()> {
    to.write_all(&(json.len() as u64).to_le_bytes())?;
    to.write_all(json)?;
    to.flush()
}

/// Reads a request; none at the end of the input.
pub(crate) fn read_request<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 8];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let json = take(from, u64::from_le_bytes(length))?;
    Ok(Some(serde_json::from_slice(&json)?))
}

pub(crate) fn write_frame(to: &mut impl Write, kind: Kind, json: &[u8], bytes: &[u8]) -> io::Result<()> {
    let mut head = [0; 17];
    head[0] = kind as u8;
    head[1..9].copy_from_slice(&(json.len() as u64).to_le_bytes());
    head[9..17].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
    to.write_all(&head)?;
    to.write_all(json)?;
    to.write_all(bytes)
}

pub(crate) fn read_frame(from: &mut impl Read) -> io::Result<(Kind, Frame)> {
    let mut head = [0; 17];
    from.read_exact(&mut head)?;
    let kind = match head[0] {
        b'p' => Kind::Part,
        b'a' => Kind::Answer,
        b'r' => Kind::Refusal,
        _ => return Err(io::Error::new(ErrorKind::InvalidData, "it answered what is no answer")),
    };
    let length = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&head[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    let json = take(from, length(1))?;
    let bytes = take(from, length(9))?;
    Ok((kind, Frame { json, bytes }))
}

/// Reads so many bytes, if they are not more than anybody has to say.
fn take(from: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    if length > MOST {
        return Err(io::Error::new(ErrorKind::InvalidData, "it answered more than is taken"));
    }
    // What is said to come is not believed before it comes.
    let mut bytes = Vec::with_capacity(length.min(1 << 20) as usize);
    if from.take(length).read_to_end(&mut bytes)? as u64 == length {
        Ok(bytes)
    } else {
        Err(ErrorKind::UnexpectedEof.into())
    }
}
