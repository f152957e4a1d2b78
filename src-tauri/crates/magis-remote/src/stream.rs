//! Server-sent events: the lines of a stream that carry data, taken apart as the bytes come.

use crate::http::Incomplete;
use crate::trouble::Trouble;
use tokio::time::Instant;

/// The longest line that is read.
const LONGEST_LINE: usize = 1 << 20;
/// What ends a stream.
const DONE: &str = "[DONE]";

/// The events of an answer under way.
pub(crate) struct Events {
    answer: Incomplete,
    lines: Lines,
    /// When the last event came, or the answer began.
    last: Instant,
    begun: bool,
}

impl Events {
    pub fn of(answer: Incomplete) -> Self {
        Self {
            answer,
            lines: Lines::default(),
            last: Instant::now(),
            begun: false,
        }
    }

    /// Returns the data of the next event; none at the end of the stream, which it says itself.
    ///
    /// Lines that only keep the connection open are no events: a stream of those alone stands still.
    pub async fn next(&mut self) -> Result<Option<String>, Trouble> {
        loop {
            while let Some(line) = self.lines.next() {
                let Some(data) = line.strip_prefix("data:") else {
                    continue;
                };
                self.last = Instant::now();
                self.begun = true;
                let data = data.trim();
                return Ok((data != DONE).then(|| data.to_owned()));
            }
            if self.lines.waiting() > LONGEST_LINE {
                return Err(Trouble::TooMuch(format!("{LONGEST_LINE} bytes in one line")));
            }
            let patience = self.answer.patience();
            let limit = if self.begun { patience.next } else { patience.first };
            if self.last.elapsed() > limit {
                return Err(if self.begun {
                    Trouble::Stalled(limit)
                } else {
                    Trouble::Silent(limit)
                });
            }
            match self.answer.next().await? {
                Some(bytes) => self.lines.push(&bytes),
                None => return Err(Trouble::CutOff("the stream ends without saying so".to_owned())),
            }
        }
    }
}

/// Cuts bytes into lines. A line that is no UTF-8 is read as far as it is.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    /// Where the next line begins.
    from: usize,
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.from);
        self.from = 0;
        self.bytes.extend_from_slice(bytes);
    }

    fn next(&mut self) -> Option<String> {
        let rest = &self.bytes[self.from..];
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let line = String::from_utf8_lossy(&rest[..end]).trim_end_matches('\r').to_owned();
        self.from += end + 1;
        Some(line)
    }

    fn waiting(&self) -> usize {
        self.bytes.len() - self.from
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn lines_are_whole_however_the_bytes_come() {
        let stream = "data: {\"a\":\"ä\"}\r\n\r\n: ping\ndata: [DONE]\n\nrest".as_bytes();
        for size in 1..=stream.len() {
            let mut lines = Lines::default();
            let mut seen = Vec::new();
            for piece in stream.chunks(size) {
                lines.push(piece);
                while let Some(line) = lines.next() {
                    seen.push(line);
                }
            }
            assert_eq!(
                seen,
                ["data: {\"a\":\"ä\"}", "", ": ping", "data: [DONE]", ""],
                "pieces of {size}"
            );
            assert_eq!(lines.waiting(), 4);
        }
    }
}
