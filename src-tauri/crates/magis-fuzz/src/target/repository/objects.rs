//! Loose objects, opened and closed, and what names them.

use super::folder::Node;
use crate::sha1::sha1;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The most bytes of an object that is changed.
const MOST: u64 = 1 << 20;

/// Returns what a compressed object holds, and how many bytes it took.
pub(super) fn inflated(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut content = Vec::new();
    let mut decoder = ZlibDecoder::new(bytes);
    decoder.by_ref().take(MOST).read_to_end(&mut content).ok()?;
    Some((content, decoder.total_in() as usize))
}

/// Returns bytes in compressed form.
pub(super) fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Memory takes what is written.
    let _written = encoder.write_all(content);
    encoder.finish().unwrap_or_default()
}

/// Returns the id that is said by the path of a loose object.
pub(super) fn id_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent()?.file_name()?.to_str()?;
    let id = format!("{folder}{name}");
    let is_id = id.len() == 40 && folder.len() == 2 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then_some(id)
}

/// Returns the path of a loose object, below a folder of objects.
pub(super) fn path_of(objects: &Path, id: &str) -> PathBuf {
    let (two, rest) = id.split_at(2);
    objects.join(two).join(rest)
}

/// Returns the object of this content with its header: its id and its node.
pub(super) fn loose(content: &[u8]) -> (String, Node) {
    (hex(&sha1(content)), Node::file(deflated(content)))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let mut hex = String::new();
    for byte in bytes {
        let _written = write!(hex, "{byte:02x}");
    }
    hex
}

/// Returns the bytes of an id.
pub(super) fn raw(id: &str) -> Vec<u8> {
    let two = |at: usize| u8::from_str_radix(id.get(at..at + 2).unwrap_or("00"), 16).unwrap_or(0);
    (0..id.len() / 2).map(|at| two(at * 2)).collect()
}

/// Puts another id in the place of one, in whichever form it stands there; none where it does not.
pub(super) fn renamed(text: &[u8], from: &str, to: &str) -> Option<Vec<u8>> {
    let (raw_from, raw_to) = (raw(from), raw(to));
    let with = |from: &[u8], to: &[u8]| {
        let mut out = Vec::with_capacity(text.len());
        let (mut at, mut found) = (0, false);
        while at < text.len() {
            if text[at..].starts_with(from) {
                out.extend_from_slice(to);
                at += from.len();
                found = true;
            } else {
                out.push(text[at]);
                at += 1;
            }
        }
        found.then_some(out)
    };
    with(from.as_bytes(), to.as_bytes()).or_else(|| with(&raw_from, &raw_to))
}
