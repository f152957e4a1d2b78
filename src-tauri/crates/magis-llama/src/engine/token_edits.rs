//! Edits of a text at one token, out of one reading: the likeliest ways to leave it, each as a token replaced, left out or put in front; behind the best
//! of them the model goes on writing.

use super::departure::{Way, read};
use super::native::{DecodeBatch, Output, Sequence, Token};
use super::sampler::Sampler;
use super::{Engine, LlamaError, milliseconds};
use magis_llm::{LlmError, Sampling, TokenEdit, TokenEditReply, TokenEditRequest, Usage};
use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Instant;

/// Tokens of what is written behind a way, at the most.
const LONGEST: usize = 56;

/// Returns the edits at one token that a text between two others gains most by.
pub(super) fn token_edits(engine: &mut Engine, request: &TokenEditRequest) -> Result<TokenEditReply, LlamaError> {
    engine.check_cancelled()?;
    let prompt = engine.tokenizer.fill_in(&request.before, &request.after);
    let prompt = prompt.ok_or_else(LlmError::no_fill_in)?;
    let text = engine.tokenizer.data(&request.text);
    engine.check_room(prompt.len(), text.len())?;
    let left = engine.loaded.context as usize - prompt.len() - text.len();
    let written = request.written.min(engine.sequences().branches.saturating_sub(1));
    let written = (written as usize).min(left / LONGEST);
    let room = text.len() + written * LONGEST;
    let prefilled = engine.prefill(&prompt)?;
    let begun = Instant::now();
    let first = engine.logits(prefilled.last)?.to_vec();
    engine.make_room(room, prefilled.sequence);
    let held = engine.cache.len(prefilled.sequence);
    let branch = engine.branch_sequence(0);
    let found = read(engine, prefilled.sequence, branch, &first, &text).and_then(|mut ways| {
        ways.sort_by(|one, other| other.gain.total_cmp(&one.gain));
        let known = KnownText::new(engine, request.text.as_bytes(), &text);
        let mut written = to_write(&known, &ways, written);
        write(engine, branch, held, &known, &mut written)?;
        Ok((known, ways, written))
    });
    for branch in 0..=written {
        let branch = engine.branch_sequence(branch);
        engine.context.clear(branch);
    }
    let (known, ways, written) = found?;
    let mut edits = Vec::new();
    for written in &written {
        edits.extend(known.edits_by_text(written));
    }
    for way in &ways {
        edits.extend(known.edits_by_token(engine, &text, way));
    }
    edits.truncate(request.most as usize);
    let generated: usize = written.iter().map(|written| written.tokens.len()).sum();
    Ok(TokenEditReply {
        edits,
        usage: Usage {
            generated_tokens: (text.len() + generated) as u32,
            generate_ms: milliseconds(begun),
            ..prefilled.usage
        },
    })
}

/// The text that is edited, and where its tokens begin.
struct KnownText<'a> {
    bytes: &'a [u8],
    starts: Vec<usize>,
}

/// What is written behind the text up to a way that leaves it.
struct WrittenText {
    way: Way,
    tokens: Vec<Token>,
    bytes: Vec<u8>,
}

impl<'a> KnownText<'a> {
    fn new(engine: &Engine, bytes: &'a [u8], text: &[Token]) -> Self {
        let mut starts = vec![0];
        for token in text {
            let before = starts.last().copied().unwrap_or(0);
            starts.push(before + engine.tokenizer.bytes(*token).len());
        }
        Self { bytes, starts }
    }

    /// Returns the white space in front of a place on its line, where nothing else is there.
    fn indentation(&self, at: usize) -> Option<&'a [u8]> {
        let line = self.bytes[..at]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        let before = &self.bytes[line..at];
        before.iter().all(u8::is_ascii_whitespace).then_some(before)
    }

    /// Returns the edits that a written text stands for: what is left of its line written anew; and at the begin of a line what was written, put in front
    /// of it.
    fn edits_by_text(&self, written: &WrittenText) -> Vec<TokenEdit> {
        let start = self.starts[written.way.at];
        let rest = &self.bytes[start..];
        let end = start + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let is_end = |byte: &u8| *byte == b'\n';
        let line = &written.bytes[..written.bytes.iter().position(is_end).unwrap_or(written.bytes.len())];
        let mut edits = Vec::new();
        edits.extend(edit(start..end, line.to_vec(), written.way.gain));
        if let Some(indentation) = self.indentation(start) {
            let line = [&written.bytes[..], b"\n", indentation].concat();
            edits.extend(edit(start..start, line, written.way.gain));
        }
        edits
    }

    /// Returns the edits of the one token: where the other token is the one that comes next anyway, the one before it is left out; else it stands in its
    /// place, or in front of it; a word in front of a word also as a word of its own, a plus or a minus as one more or less.
    fn edits_by_token(&self, engine: &Engine, text: &[Token], way: &Way) -> Vec<TokenEdit> {
        let (start, end) = (self.starts[way.at], self.starts[way.at + 1]);
        let mut edits = Vec::new();
        if text.get(way.at + 1) == Some(&way.token) {
            edits.extend(edit(start..end, Vec::new(), way.gain));
        } else {
            let bytes = engine.tokenizer.bytes(way.token);
            if let Some(by_one) = by_one(&bytes) {
                edits.extend(edit(start..start, by_one, way.gain));
            }
            edits.extend(edit(start..end, bytes.clone(), way.gain));
            edits.extend(edit(start..start, bytes.clone(), way.gain));
            if ends_word(&bytes) && self.bytes.get(start).copied().is_some_and(is_of_word) {
                edits.extend(edit(start..start, [&bytes[..], b" "].concat(), way.gain));
            }
        }
        edits
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns whether a text ends with a word of letters: `not`, say.
fn ends_word(text: &[u8]) -> bool {
    let word = text.trim_ascii_start();
    !word.is_empty() && word.iter().all(u8::is_ascii_alphabetic)
}

/// Returns a plus or a minus with what mostly stands behind it where it was forgotten: the operator alone would be no code.
fn by_one(token: &[u8]) -> Option<Vec<u8>> {
    match token.trim_ascii() {
        operator @ (b"+" | b"-") => Some([b" ", operator, b" 1"].concat()),
        _ => None,
    }
}

/// Returns an edit, but for one that splits a character.
fn edit(at: Range<usize>, text: Vec<u8>, gain: f64) -> Option<TokenEdit> {
    Some(TokenEdit {
        start: at.start as u32,
        end: at.end as u32,
        text: String::from_utf8(text).ok()?,
        gain,
    })
}

/// Returns the best ways to go on with: a third of them at the begin of a line, where more than a line may be missing.
fn to_write(known: &KnownText<'_>, ways: &[Way], most: usize) -> Vec<WrittenText> {
    let is_blank = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_whitespace);
    let is_code = |way: &&Way| !is_blank(&known.bytes[known.starts[way.at]..known.starts[way.at + 1]]);
    let begins_line = |way: &&Way| known.indentation(known.starts[way.at]).is_some();
    let (begins, others): (Vec<&Way>, Vec<&Way>) = ways.iter().filter(is_code).partition(begins_line);
    let begins: Vec<&Way> = begins.into_iter().take(most / 3).collect();
    let others = others.into_iter().take(most - begins.len());
    let ways = others.chain(begins).map(|way| WrittenText {
        way: *way,
        tokens: Vec::new(),
        bytes: Vec::new(),
    });
    ways.collect()
}

/// Writes the likeliest text behind each way, as far as the cache can begin there: up to the end of the line, at the begin of a line up to the end of the
/// block that it opens. What does not come to an end is left out. `read` holds the text behind a prompt of `held` tokens.
fn write(
    engine: &mut Engine,
    read: Sequence,
    held: usize,
    known: &KnownText<'_>,
    written: &mut Vec<WrittenText>,
) -> Result<(), LlamaError> {
    let mut open = Vec::new();
    for (number, text) in written.iter_mut().enumerate() {
        let branch = engine.branch_sequence(number + 1);
        let length = held + text.way.at;
        engine.context.share(read, branch, length);
        // A recurrent state cannot be shared from the midst of what it has read.
        if engine.context.holds(branch, length) {
            text.tokens.push(text.way.token);
            text.bytes = engine.tokenizer.bytes(text.way.token);
            open.push((number, branch, length));
        }
    }
    let mut ended = BTreeSet::new();
    for _ in 1..LONGEST {
        for (number, ..) in &open {
            let text = &mut written[*number];
            let indentation = known.indentation(known.starts[text.way.at]);
            if let Some(end) = end_of(&text.bytes, indentation) {
                text.bytes.truncate(end);
                ended.insert(*number);
            }
        }
        open.retain(|(number, ..)| !ended.contains(number));
        if open.is_empty() {
            break;
        }
        engine.check_cancelled()?;
        let mut step = DecodeBatch::default();
        for (number, branch, length) in &mut open {
            let tokens = &written[*number].tokens;
            step.push(tokens[tokens.len() - 1], *length, &[*branch], Output::Logits);
            *length += 1;
        }
        engine.compute(&mut step)?;
        for (row, (number, ..)) in open.iter().enumerate() {
            let text = &mut written[*number];
            match Sampler::new(Sampling::Greedy).choose(engine.logits(row)?) {
                Some(token) if !engine.tokenizer.ends(token) => {
                    text.tokens.push(token);
                    text.bytes.extend(engine.tokenizer.bytes(token));
                }
                // The end of an answer ends its line.
                _ => text.bytes.push(b'\n'),
            }
        }
    }
    let mut number = 0;
    written.retain(|_| {
        number += 1;
        ended.contains(&(number - 1))
    });
    Ok(())
}

/// Returns where a written text ends: with its line; at the begin of a line with the block that it opens, which is indented deeper. `before` is the white
/// space in front of it.
fn end_of(text: &[u8], before: Option<&[u8]>) -> Option<usize> {
    let is_end = |byte: &u8| *byte == b'\n';
    let Some(before) = before else {
        return text.iter().position(is_end);
    };
    let depth = |line: &[u8]| line.iter().position(|byte| !byte.is_ascii_whitespace());
    let (mut at, mut end, mut own) = (0, None, 0);
    for line in text.split(is_end) {
        let is_whole = at + line.len() < text.len();
        let depth = depth(line);
        if at == 0 {
            own = before.len() + depth.unwrap_or(0);
        } else if let Some(depth) = depth {
            let closes = matches!(line[depth], b'}' | b')' | b']');
            if depth < own || depth == own && !closes {
                return end;
            }
            if depth == own && is_whole {
                return Some(at + line.len());
            }
        }
        if !is_whole {
            return None;
        }
        if depth.is_some() {
            end = Some(at + line.len());
        }
        at += line.len() + 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::{by_one, end_of};

    #[test]
    fn an_operator_that_was_forgotten_counts_one_on_or_back() {
        assert_eq!(by_one(b" +").as_deref(), Some(&b" + 1"[..]));
        assert_eq!(by_one(b"-").as_deref(), Some(&b" - 1"[..]));
        assert_eq!(by_one(b" +="), None);
    }

    #[test]
    fn a_text_ends_with_its_line_or_with_the_block_that_begins_the_line() {
        let ends = |text: &str, before: Option<&str>| {
            end_of(text.as_bytes(), before.map(str::as_bytes)).map(|end| text[..end].to_owned())
        };
        assert_eq!(ends(" <= b", None), None, "it may go on");
        assert_eq!(ends(" <= b\n    c", None).unwrap(), " <= b");
        let block = " if a:\n        return b\n";
        assert_eq!(ends(block, Some("   ")), None, "the block may go on");
        assert_eq!(ends(&format!("{block}    c"), Some("   ")).unwrap(), block.trim_end());
        assert_eq!(ends(&format!("{block}\nc"), Some("   ")).unwrap(), block.trim_end());
        let braces = "if (a) {\n  return b;\n}\n";
        assert_eq!(ends(braces, Some("")).unwrap(), braces.trim_end());
        assert_eq!(ends("a = 1\nb = 2\n", Some("")).unwrap(), "a = 1");
    }
}
