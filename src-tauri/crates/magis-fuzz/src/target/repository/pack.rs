//! A pack with its index, taken apart and put together: an entry may be changed, and the index is right again.

use super::objects::{deflated, inflated};
use crate::dice::Dice;
use crate::mutate::{Material, mutate};
use crate::sha1::sha1;
use flate2::Crc;

const OFFSET_DELTA: u8 = 6;
const REFERENCE_DELTA: u8 = 7;

/// One object of a pack.
struct Entry {
    id: [u8; 20],
    offset: u64,
    kind: u8,
    /// What it says that it holds.
    size: u64,
    /// Of a difference: how far before it its base stands, or the id of that.
    back: u64,
    base: [u8; 20],
    content: Vec<u8>,
}

/// Returns a pack in which one object was changed, and its index.
pub(super) fn changed(pack: &[u8], index: &[u8], words: &[&str], dice: &mut Dice) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut entries = entries(pack, index)?;
    let count = entries.len();
    let at = dice.below(count);
    let offsets: Vec<u64> = entries.iter().map(|entry| entry.offset).collect();
    let other: Vec<Vec<u8>> = entries.iter().map(|entry| entry.content.clone()).collect();
    let entry = entries.get_mut(at)?;
    match dice.below(8) {
        0 => entry.kind = dice.byte() & 7,
        1 => entry.size = dice.bits() >> dice.below(64),
        2 => {
            // Any other object as the base, itself too.
            let base = offsets.get(dice.below(count)).copied().unwrap_or(0);
            entry.back = entry.offset.saturating_sub(base);
            entry.kind = OFFSET_DELTA;
        }
        3 => entry.back = dice.bits() >> dice.below(64),
        4 => entry.base[dice.below(20)] ^= 1 << dice.below(8),
        _ => {
            let material = Material {
                words,
                others: &other,
                is_json: false,
            };
            mutate(&mut entry.content, material, dice);
            if dice.one_in(2) {
                entry.size = entry.content.len() as u64;
            }
        }
    }
    Some(written(&entries))
}

fn entries(pack: &[u8], index: &[u8]) -> Option<Vec<Entry>> {
    let four = |bytes: &[u8], at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let count = four(index, 8 + 255 * 4)? as usize;
    let names = 8 + 256 * 4;
    let offsets = names + count * 24;
    let mut entries = Vec::new();
    for number in 0..count {
        let id = index
            .get(names + number * 20..names + number * 20 + 20)?
            .try_into()
            .ok()?;
        let offset = u64::from(four(index, offsets + number * 4)?);
        entries.push(entry(pack, offset, id)?);
    }
    entries.sort_by_key(|entry| entry.offset);
    Some(entries)
}

fn entry(pack: &[u8], offset: u64, id: [u8; 20]) -> Option<Entry> {
    let mut at = offset as usize;
    let mut next = || {
        let byte = pack.get(at).copied();
        at += 1;
        byte
    };
    let mut byte = next()?;
    let kind = byte >> 4 & 7;
    let (mut size, mut shift) = (u64::from(byte & 15), 4);
    while byte & 0x80 != 0 {
        byte = next()?;
        size |= u64::from(byte & 0x7f) << shift;
        shift += 7;
    }
    let (mut back, mut base) = (0, [0; 20]);
    if kind == OFFSET_DELTA {
        let mut byte = next()?;
        back = u64::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = next()?;
            back = (back + 1) << 7 | u64::from(byte & 0x7f);
        }
    } else if kind == REFERENCE_DELTA {
        for place in &mut base {
            *place = next()?;
        }
    }
    let (content, _) = inflated(pack.get(at..)?)?;
    Some(Entry {
        id,
        offset,
        kind,
        size,
        back,
        base,
        content,
    })
}

fn written(entries: &[Entry]) -> (Vec<u8>, Vec<u8>) {
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend((entries.len() as u32).to_be_bytes());
    let mut places: Vec<([u8; 20], u32, u32)> = Vec::new();
    let mut moved: Vec<(u64, u64)> = Vec::new();
    for entry in entries {
        let at = pack.len();
        moved.push((entry.offset, at as u64));
        let mut byte = entry.kind << 4 | (entry.size & 15) as u8;
        let mut rest = entry.size >> 4;
        while rest > 0 {
            pack.push(byte | 0x80);
            byte = (rest & 0x7f) as u8;
            rest >>= 7;
        }
        pack.push(byte);
        if entry.kind == OFFSET_DELTA {
            // Where its base stands now, if it stands anywhere.
            let base = entry.offset.wrapping_sub(entry.back);
            let base = moved.iter().find(|(before, _)| *before == base);
            let mut back = base.map_or(entry.back, |(_, now)| at as u64 - now);
            let mut bytes = vec![(back & 0x7f) as u8];
            back >>= 7;
            while back > 0 {
                back -= 1;
                bytes.push(0x80 | (back & 0x7f) as u8);
                back >>= 7;
            }
            pack.extend(bytes.iter().rev());
        } else if entry.kind == REFERENCE_DELTA {
            pack.extend(entry.base);
        }
        pack.extend(deflated(&entry.content));
        let mut crc = Crc::new();
        crc.update(&pack[at..]);
        places.push((entry.id, crc.sum(), at as u32));
    }
    let seal = sha1(&pack);
    pack.extend(seal);
    places.sort_unstable();
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    for first in 0..=255 {
        let count = places.iter().filter(|(id, ..)| id[0] <= first).count();
        index.extend((count as u32).to_be_bytes());
    }
    index.extend(places.iter().flat_map(|(id, ..)| *id));
    index.extend(places.iter().flat_map(|(_, crc, _)| crc.to_be_bytes()));
    index.extend(places.iter().flat_map(|(.., at)| at.to_be_bytes()));
    index.extend(seal);
    let sealed = sha1(&index);
    index.extend(sealed);
    (pack, index)
}
