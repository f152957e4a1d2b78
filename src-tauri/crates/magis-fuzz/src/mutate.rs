//! Mutations of bytes and of JSON.

use crate::dice::Dice;
use serde_json::Value;

/// The most bytes of an input.
pub const LONGEST: usize = 1 << 16;
/// Numbers at which lengths and offsets go wrong.
const NUMBERS: [u64; 14] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    i64::MAX as u64,
    1 << 63,
    u64::MAX,
];

/// What mutations may draw from.
#[derive(Debug, Clone, Copy)]
pub struct Material<'a> {
    /// Words of the format.
    pub words: &'a [&'a str],
    /// Inputs to take pieces of.
    pub others: &'a [Vec<u8>],
    /// Whether the inputs are JSON, or lines of it.
    pub is_json: bool,
}

/// Changes an input in one to six ways.
pub fn mutate(input: &mut Vec<u8>, material: Material<'_>, dice: &mut Dice) {
    let mut rounds = 1;
    while rounds < 6 && dice.one_in(2) {
        rounds += 1;
    }
    for _ in 0..rounds {
        if !(material.is_json && dice.one_in(2) && json(input, material, dice)) {
            bytes(input, material, dice);
        }
    }
    input.truncate(LONGEST);
}

fn bytes(input: &mut Vec<u8>, material: Material<'_>, dice: &mut Dice) {
    let at = dice.below(input.len() + 1);
    let rest = input.len() - at;
    match dice.below(12) {
        0 if rest > 0 => input[at] ^= 1 << dice.below(8),
        1 if rest > 0 => input[at] = dice.byte(),
        2 => {
            let count = 1 + dice.below(8);
            let new: Vec<u8> = (0..count).map(|_| dice.byte()).collect();
            input.splice(at..at, new);
        }
        3 => {
            let count = dice.below(rest.min(64) + 1);
            input.drain(at..at + count);
        }
        4 => {
            let piece = piece(input, dice);
            input.splice(at..at, piece);
        }
        5 => {
            let piece = dice.pick(material.others).map(|other| piece(other, dice));
            input.splice(at..at, piece.unwrap_or_default());
        }
        6 => {
            // The beginning of one, the end of another.
            if let Some(other) = dice.pick(material.others) {
                let from = dice.below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
        }
        7 => number(input, at, dice),
        8 => digits(input, at, dice),
        9 if rest > 0 && dice.one_in(4) => input.truncate(at),
        10 => {
            let piece = piece(input, dice);
            let times = 1 << dice.below(9);
            if piece.len() * times <= LONGEST {
                input.splice(at..at, piece.repeat(times));
            }
        }
        _ => {
            if let Some(word) = dice.pick(material.words) {
                let end = if dice.one_in(2) { at } else { at + word.len().min(rest) };
                input.splice(at..end, word.bytes());
            }
        }
    }
}

/// Returns up to 64 bytes out of the midst of an input; sometimes more.
fn piece(of: &[u8], dice: &mut Dice) -> Vec<u8> {
    let from = dice.below(of.len() + 1);
    let most = if dice.one_in(8) { of.len() } else { 64 };
    let count = dice.below((of.len() - from).min(most) + 1);
    of[from..from + count].to_vec()
}

/// Overwrites bytes with a number of two, four or eight bytes, either end first.
fn number(input: &mut [u8], at: usize, dice: &mut Dice) {
    let near = dice.below(17) as u64;
    let number = dice
        .pick(&NUMBERS)
        .map_or(0, |number| number.wrapping_add(near).wrapping_sub(8));
    let width = [2, 4, 8][dice.below(3)];
    let little = number.to_le_bytes();
    let mut written = little[..width].to_vec();
    if dice.one_in(2) {
        written.reverse();
    }
    for (place, byte) in input.iter_mut().skip(at).zip(written) {
        *place = byte;
    }
}

/// Writes another number over the digits that stand next.
fn digits(input: &mut Vec<u8>, at: usize, dice: &mut Dice) {
    let Some(first) = input[at..].iter().position(u8::is_ascii_digit) else {
        return;
    };
    let first = at + first;
    let count = input[first..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let near = dice.below(5) as u64;
    let number = dice.pick(&NUMBERS).map_or(0, |number| number.wrapping_add(near));
    input.splice(first..first + count, number.to_string().bytes());
}

/// Changes one value of a text that is JSON, or of one of its lines; says whether it could.
fn json(input: &mut Vec<u8>, material: Material<'_>, dice: &mut Dice) -> bool {
    if let Ok(mut value) = serde_json::from_slice::<Value>(input) {
        change(&mut value, material, dice);
        *input = value.to_string().into_bytes();
        return true;
    }
    let mut lines: Vec<Vec<u8>> = input.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let line = dice.below(lines.len());
    let Some(Ok(mut value)) = lines.get(line).map(|line| serde_json::from_slice::<Value>(line)) else {
        return false;
    };
    change(&mut value, material, dice);
    if let Some(line) = lines.get_mut(line) {
        *line = value.to_string().into_bytes();
    }
    if dice.one_in(8) {
        let (one, other) = (dice.below(lines.len()), dice.below(lines.len()));
        let line = lines[one].clone();
        lines.insert(other, line);
    }
    *input = lines.join(&b'\n');
    true
}

/// Changes a value somewhere below this one.
fn change(value: &mut Value, material: Material<'_>, dice: &mut Dice) {
    let inner = match value {
        Value::Array(list) => list.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    };
    if inner > 0 && !dice.one_in(6) {
        let at = dice.below(inner);
        let below = match value {
            Value::Array(list) => list.get_mut(at),
            Value::Object(fields) => fields.values_mut().nth(at),
            _ => None,
        };
        if let Some(below) = below {
            return change(below, material, dice);
        }
    }
    match value {
        Value::Array(list) if !dice.one_in(4) && !list.is_empty() => {
            let (one, other) = (dice.below(list.len()), dice.below(list.len()));
            match dice.below(4) {
                0 => drop(list.remove(one)),
                1 => list.swap(one, other),
                2 => list.clear(),
                _ => {
                    let copied = list[one].clone();
                    for _ in 0..1 << dice.below(8) {
                        list.insert(other, copied.clone());
                    }
                }
            }
        }
        Value::Object(fields) if !dice.one_in(4) && !fields.is_empty() => {
            let key = fields.keys().nth(dice.below(fields.len())).cloned().unwrap_or_default();
            let taken = fields.shift_remove(&key);
            let word = dice.pick(material.words).copied().unwrap_or("a");
            if dice.one_in(2) {
                fields.insert(word.to_owned(), taken.unwrap_or_default());
            }
        }
        Value::Number(_) => {
            let number = dice.pick(&NUMBERS).copied().unwrap_or(0);
            *value = match dice.below(4) {
                0 => (number.cast_signed().wrapping_neg()).into(),
                1 => (number as f64 * 1e300).into(),
                _ => number.into(),
            };
        }
        Value::String(text) if !dice.one_in(3) => {
            let mut changed = text.clone().into_bytes();
            bytes(
                &mut changed,
                Material {
                    is_json: false,
                    ..material
                },
                dice,
            );
            *text = String::from_utf8_lossy(&changed).into_owned();
        }
        other => {
            let word = dice.pick(material.words).copied().unwrap_or("a");
            *other = match dice.below(8) {
                0 => Value::Null,
                1 => Value::Bool(dice.one_in(2)),
                2 => Value::Array(vec![other.clone()]),
                3 => Value::from(dice.bits()),
                4 => Value::String("a".repeat(1 << dice.below(15))),
                _ => Value::String(word.to_owned()),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_mutations_and_another_one_others() {
        let mutated = |seed| {
            let mut dice = Dice::new(seed);
            let others = [b"{\"other\": [1, 2]}".to_vec()];
            let material = Material {
                words: &["word"],
                others: &others,
                is_json: true,
            };
            let mut all = Vec::new();
            for _ in 0..50 {
                let mut input = b"{\"a\": [1, \"text\", {\"b\": null}]}".to_vec();
                mutate(&mut input, material, &mut dice);
                all.push(input);
            }
            all
        };
        assert_eq!(mutated(1), mutated(1));
        assert_ne!(mutated(1), mutated(2));
    }

    #[test]
    fn an_input_stays_below_the_limit_and_an_empty_one_grows() {
        let mut dice = Dice::new(3);
        let material = Material {
            words: &["word"],
            others: &[],
            is_json: false,
        };
        let (mut input, mut longest) = (Vec::new(), 0);
        for _ in 0..5_000 {
            mutate(&mut input, material, &mut dice);
            longest = longest.max(input.len());
        }
        assert!(longest > 100, "{longest}");
        assert!(longest <= LONGEST, "{longest}");
    }
}
