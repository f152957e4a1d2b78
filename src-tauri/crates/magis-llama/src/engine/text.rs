//! Tokens' bytes into text as it may be shown: whole characters, and nothing that could be the begin of a stop text.

/// Puts characters together that are split over tokens.
#[derive(Debug, Default)]
pub struct Utf8Assembler {
    open: Vec<u8>,
}

impl Utf8Assembler {
    /// Returns the characters that are whole now. Bytes that can become no character any more are replaced.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.open.extend_from_slice(bytes);
        let mut text = String::new();
        loop {
            match std::str::from_utf8(&self.open) {
                Ok(whole) => {
                    text.push_str(whole);
                    self.open.clear();
                    return text;
                }
                Err(error) => {
                    let (whole, rest) = self.open.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(whole));
                    let Some(bad) = error.error_len() else {
                        self.open = rest.to_vec();
                        return text;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.open = rest[bad..].to_vec();
                }
            }
        }
    }

    /// Returns what is left of a character that never became whole.
    pub fn finish(&mut self) -> &'static str {
        let open = !self.open.is_empty();
        self.open.clear();
        if open { "\u{fffd}" } else { "" }
    }
}

/// Looks for stop texts in text that comes in pieces.
#[derive(Debug)]
pub struct StopMatcher {
    stops: Vec<String>,
    held: String,
}

/// What can be said after a piece.
#[derive(Debug, PartialEq, Eq)]
pub enum Released {
    /// This much is no part of a stop text.
    Text(String),
    /// A stop text came; this stood before it.
    Stopped(String),
}

impl StopMatcher {
    /// Empty stop texts are ignored.
    pub fn new(stops: &[String]) -> Self {
        Self {
            stops: stops.iter().filter(|stop| !stop.is_empty()).cloned().collect(),
            held: String::new(),
        }
    }

    /// Takes a piece and gives what is certain.
    pub fn push(&mut self, piece: &str) -> Released {
        self.held.push_str(piece);
        if let Some(start) = self.stops.iter().filter_map(|stop| self.held.find(stop)).min() {
            self.held.truncate(start);
            return Released::Stopped(std::mem::take(&mut self.held));
        }
        let open = self
            .stops
            .iter()
            .map(|stop| open_end(&self.held, stop))
            .max()
            .unwrap_or(0);
        let rest = self.held.split_off(self.held.len() - open);
        Released::Text(std::mem::replace(&mut self.held, rest))
    }

    /// Returns what was held back, when nothing more comes.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

/// Returns how many bytes at the end of `text` are a begin of `stop`.
fn open_end(text: &str, stop: &str) -> usize {
    let longest = stop.len().saturating_sub(1).min(text.len());
    (1..=longest)
        .rev()
        .find(|length| {
            let from = text.len() - length;
            text.is_char_boundary(from) && stop.starts_with(&text[from..])
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_utf8(pieces: &[&[u8]], expected: &[&str]) {
        let mut assembler = Utf8Assembler::default();
        let mut texts: Vec<String> = pieces.iter().map(|piece| assembler.push(piece)).collect();
        texts.push(assembler.finish().to_owned());
        assert_eq!(texts, expected);
    }

    #[test]
    fn characters_split_over_tokens_come_whole() {
        check_utf8(&[b"a\xe2\x82", b"\xac", b"b"], &["a", "€", "b", ""]);
        check_utf8(&[b"\xf0", b"\x9f", b"\x98", b"\x80!"], &["", "", "", "😀!", ""]);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        check_utf8(
            &[b"a\xffb", b"\xe2", b"c\xe2\x82"],
            &["a\u{fffd}b", "", "\u{fffd}c", "\u{fffd}"],
        );
    }

    fn check_stops(stops: &[&str], pieces: &[&str], expected: &str, stopped: bool) {
        let stops: Vec<String> = stops.iter().map(|stop| (*stop).to_owned()).collect();
        let mut matcher = StopMatcher::new(&stops);
        let mut text = String::new();
        for piece in pieces {
            match matcher.push(piece) {
                Released::Text(more) => text.push_str(&more),
                Released::Stopped(more) => {
                    text.push_str(&more);
                    assert_eq!((text.as_str(), true), (expected, stopped));
                    return;
                }
            }
        }
        text.push_str(&matcher.finish());
        assert_eq!((text.as_str(), false), (expected, stopped));
    }

    #[test]
    fn a_stop_text_ends_the_answer_also_when_split() {
        check_stops(&["\n```"], &["x = 1\n``", "`\nmore"], "x = 1", true);
        check_stops(&["\n```"], &["x", "\n", "`", "`", "`"], "x", true);
        check_stops(&["END", "STOP"], &["a STOP END"], "a ", true);
    }

    #[test]
    fn what_only_begins_like_a_stop_text_stays() {
        check_stops(&["\n```"], &["a\n`", "b`\n", "``"], "a\n`b`\n``", false);
        check_stops(&["éé"], &["xé", "y"], "xéy", false);
        check_stops(&[""], &["abc"], "abc", false);
    }
}
