//! Edits of a text at one token, out of one reading: the likeliest ways to leave it, each as a token replaced, left out or put in front; behind the best
//! of them the model goes on writing.

use super::LlamaError;
use super::call::{Branch, EngineCall};
use super::core::TokenRow;
use super::departure::{Way, read};
use super::native::{Output, Token};
use super::prompt::Tokenizer;
use super::sampler::Sampler;
use magis_llm::{LlmError, Sampling, TokenEdit, TokenEditReply, TokenEditRequest, Usage};
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;
use std::time::Instant;

/// Tokens of what is written behind a way, at the most.
const LONGEST: usize = 56;

/// Returns the edits at one token that a text between two others gains most by.
pub(super) async fn token_edits(call: EngineCall, request: TokenEditRequest) -> Result<TokenEditReply, LlamaError> {
    let tokenizer = Rc::clone(&call.tokenizer);
    let prompt = tokenizer.fill_in(&request.before, &request.after);
    let prompt: Rc<[Token]> = prompt.ok_or_else(LlmError::no_fill_in)?.into();
    let text = tokenizer.data(&request.text);
    call.core().check_room(prompt.len(), text.len())?;
    let (context, branches) = {
        let core = call.core();
        (core.loaded.context as usize, core.sequences().branches as usize)
    };
    let left = context - prompt.len() - text.len();
    let count = WayCount::new(request.written as usize, branches.saturating_sub(1).min(left / LONGEST));
    let _room = call.room(prompt.len() + text.len() + count.all() * LONGEST).await;
    let prefilled = call.prefill(&prompt).await?;
    let begun = Instant::now();
    let branches = call.branches(1 + count.all()).await;
    let (reading, writing) = branches.split_at(1);
    let mut ways = read(&call, &prefilled, prompt.len(), &reading[0], &text).await?;
    ways.sort_by(|one, other| other.gain.total_cmp(&one.gain));
    let known = KnownText::new(&tokenizer, request.text.as_bytes(), &text);
    let mut written = to_write(&tokenizer, &known, &ways, count);
    write(&call, &reading[0], prompt.len(), writing, &known, &mut written).await?;
    // The one token stands beside what was written from it on: the model mostly writes the rest of the line anew, and the fault may be the token alone.
    let mut edits = Vec::new();
    for written in &written {
        edits.extend(known.edits_by_text(written));
        edits.extend(known.edits_by_token(&tokenizer, &text, &written.way));
    }
    let is_written = |way: &&Way| {
        let key = |way: &Way| (way.at, way.token);
        written.iter().any(|written| key(&written.way) == key(way))
    };
    for way in ways.iter().filter(|way| !is_written(way)) {
        edits.extend(known.edits_by_token(&tokenizer, &text, way));
    }
    edits.truncate(request.most as usize);
    let generated: usize = written.iter().map(|written| written.tokens.len()).sum();
    Ok(TokenEditReply {
        edits,
        usage: Usage {
            generated_tokens: (text.len() + generated) as u32,
            generate_ms: begun.elapsed().as_millis() as u64,
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
    fn new(tokenizer: &Tokenizer, bytes: &'a [u8], text: &[Token]) -> Self {
        let mut starts = vec![0];
        for token in text {
            let before = starts.last().copied().unwrap_or(0);
            starts.push(before + tokenizer.bytes(*token).len());
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

    /// Returns the edits that a written text stands for: what is left of its line written anew, a condition that it adds also negated; and at the begin of a
    /// line what was written, put in front of it.
    fn edits_by_text(&self, written: &WrittenText) -> Vec<TokenEdit> {
        let start = self.starts[written.way.at];
        let rest = &self.bytes[start..];
        let end = start + rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let is_end = |byte: &u8| *byte == b'\n';
        let line = &written.bytes[..written.bytes.iter().position(is_end).unwrap_or(written.bytes.len())];
        let mut edits = Vec::new();
        edits.extend(edit(start..end, line.to_vec(), written.way.gain));
        if let Some(negated) = negated(line) {
            edits.extend(edit(start..end, negated, written.way.gain));
        }
        if let Some(indentation) = self.indentation(start) {
            let line = [&written.bytes[..], b"\n", indentation].concat();
            edits.extend(edit(start..start, line, written.way.gain));
        }
        edits
    }

    /// Returns the edits of the one token: where the other token is the one that comes next anyway, the one before it is left out; else it stands in its
    /// place, or in front of it; a word in front of a word also as a word of its own, a plus or a minus as one more or less.
    fn edits_by_token(&self, tokenizer: &Tokenizer, text: &[Token], way: &Way) -> Vec<TokenEdit> {
        let (start, end) = (self.starts[way.at], self.starts[way.at + 1]);
        let mut edits = Vec::new();
        if text.get(way.at + 1) == Some(&way.token) {
            edits.extend(edit(start..end, Vec::new(), way.gain));
        } else {
            let bytes = tokenizer.bytes(way.token);
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

/// Returns a text that adds a condition, ` && ready {`, with the condition negated; none where it adds none that is a name or a call.
fn negated(text: &[u8]) -> Option<Vec<u8>> {
    const ADDED: [(&str, &str); 4] = [("&& ", "!"), ("|| ", "!"), ("and ", "not "), ("or ", "not ")];
    let text = std::str::from_utf8(text).ok()?;
    let rest = text.trim_start();
    let (operator, not) = ADDED.into_iter().find(|(operator, _)| rest.starts_with(operator))?;
    let (head, operand) = text.split_at(text.len() - rest.len() + operator.len());
    if let Some(plain) = operand.strip_prefix(not) {
        return Some([head, plain].concat().into_bytes());
    }
    let condition = operand.trim_end_matches([' ', '{', ':', ')']);
    let is_one = condition.starts_with(|c: char| c.is_alphabetic() || c == '_') && !condition.contains(' ');
    is_one.then(|| [head, not, operand].concat().into_bytes())
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

/// How many ways are gone on with.
#[derive(Debug, Clone, Copy)]
struct WayCount {
    /// At the begin of a line, where more than a line may be missing.
    begins: usize,
    /// With an operator, which alone is no code: beside the others, as they would have to be among the best of all.
    operators: usize,
    others: usize,
}

impl WayCount {
    /// Returns a third of what is wanted for the begins of lines, the rest for others, and two thirds for operators beside it; of all no more than `most`.
    fn new(wanted: usize, most: usize) -> Self {
        let wanted = wanted.min(most);
        Self {
            begins: wanted / 3,
            operators: (wanted * 2 / 3).min(most - wanted),
            others: wanted - wanted / 3,
        }
    }

    fn all(self) -> usize {
        self.begins + self.operators + self.others
    }
}

/// Returns the best ways to go on with.
fn to_write(tokenizer: &Tokenizer, known: &KnownText<'_>, ways: &[Way], count: WayCount) -> Vec<WrittenText> {
    let is_blank = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_whitespace);
    let is_code = |way: &&Way| !is_blank(&known.bytes[known.starts[way.at]..known.starts[way.at + 1]]);
    let begins_line = |way: &&Way| known.indentation(known.starts[way.at]).is_some();
    let (begins, others): (Vec<&Way>, Vec<&Way>) = ways.iter().filter(is_code).partition(begins_line);
    // What begins no line takes the place of what does not begin one.
    let begins = begins.into_iter().take(count.begins);
    let free = count.begins - begins.len();
    let (others, further) = others.split_at(others.len().min(count.others + free));
    let is_operator = |way: &&&Way| is_operator(&tokenizer.bytes(way.token));
    let operators = further.iter().filter(is_operator).take(count.operators);
    let ways = others.iter().chain(operators).copied().chain(begins);
    let ways = ways.map(|way| WrittenText {
        way: *way,
        tokens: Vec::new(),
        bytes: Vec::new(),
    });
    ways.collect()
}

/// Returns whether a token is an operator that stands between two operands.
fn is_operator(token: &[u8]) -> bool {
    const OPERATORS: [&[u8]; 24] = [
        b"and", b"or", b"in", b"is", b"&&", b"||", b"??", b"+", b"-", b"*", b"**", b"/", b"//", b"%", b"==", b"!=",
        b"<", b"<=", b">", b">=", b"&", b"|", b"<<", b">>",
    ];
    OPERATORS.contains(&token.trim_ascii())
}

/// Writes the likeliest text behind each way, as far as the cache can begin there: up to the end of the line, at the begin of a line up to the end of the
/// block that it opens. What does not come to an end is left out. `read` holds the text behind a prompt of `held` tokens.
async fn write(
    call: &EngineCall,
    read: &Branch,
    held: usize,
    branches: &[Branch],
    known: &KnownText<'_>,
    written: &mut Vec<WrittenText>,
) -> Result<(), LlamaError> {
    let mut open = Vec::new();
    for (number, (text, branch)) in written.iter_mut().zip(branches).enumerate() {
        let length = held + text.way.at;
        // A recurrent state cannot be shared from the midst of what it has read.
        if branch.try_begin_with(read.sequence, length) {
            text.tokens.push(text.way.token);
            text.bytes = call.tokenizer.bytes(text.way.token);
            open.push((number, branch.sequence, length));
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
        let rows = open.iter_mut().map(|(number, branch, length)| {
            let tokens = &written[*number].tokens;
            *length += 1;
            TokenRow {
                token: tokens[tokens.len() - 1],
                position: *length - 1,
                sequences: vec![*branch],
                output: Output::Logits,
            }
        });
        let step = call.rows(rows.collect()).await?;
        let core = call.core();
        for (row, (number, ..)) in open.iter().enumerate() {
            let text = &mut written[*number];
            match Sampler::new(Sampling::Greedy).choose(core.logits(step.first + row)?) {
                Some(token) if !call.tokenizer.ends(token) => {
                    text.tokens.push(token);
                    text.bytes.extend(call.tokenizer.bytes(token));
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
    use super::{WayCount, by_one, end_of, is_operator, negated};

    #[test]
    fn an_operator_that_was_forgotten_counts_one_on_or_back() {
        assert_eq!(by_one(b" +").as_deref(), Some(&b" + 1"[..]));
        assert_eq!(by_one(b"-").as_deref(), Some(&b" - 1"[..]));
        assert_eq!(by_one(b" +="), None);
    }

    #[test]
    fn a_condition_that_is_added_may_be_meant_the_other_way_round() {
        let check = |text: &str| negated(text.as_bytes()).map(|text| String::from_utf8(text).unwrap());
        assert_eq!(check(" && ready {").as_deref(), Some(" && !ready {"));
        assert_eq!(check(" || !list.is_empty()").as_deref(), Some(" || list.is_empty()"));
        assert_eq!(check(" and not done:").as_deref(), Some(" and done:"));
        assert_eq!(check("or done:").as_deref(), Some("or not done:"));
        assert_eq!(check(" && a < b {"), None, "it is more than one name");
        assert_eq!(check(" + 1"), None);
    }

    #[test]
    fn operators_are_gone_on_with_beside_the_other_ways_as_far_as_there_is_room() {
        let check = |wanted, most, all: (usize, usize, usize)| {
            let count = WayCount::new(wanted, most);
            assert_eq!((count.begins, count.operators, count.others), all);
        };
        check(9, 20, (3, 6, 6));
        check(9, 10, (3, 1, 6));
        check(9, 4, (1, 0, 3));
        check(0, 15, (0, 0, 0));
        assert!(is_operator(b" &&") && is_operator(b"or"));
        assert!(!is_operator(b" order") && !is_operator(b" ="));
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
