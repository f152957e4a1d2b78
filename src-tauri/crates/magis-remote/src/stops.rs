//! The text of an answer while it comes: without what it repeats of its begin, up to the first text that ends it.

/// Gathers an answer and shows it as far as nothing of it can be cut off any more.
pub(crate) struct AnswerText {
    /// What the model was asked to begin with, while it may still repeat it.
    begin: Option<String>,
    stops: Vec<String>,
    text: String,
    /// Bytes that were shown.
    shown: usize,
    is_ended: bool,
}

impl AnswerText {
    /// Begins an answer; one that repeats `begin` has it cut off.
    pub fn new(begin: Option<&str>, stops: &[String]) -> Self {
        Self {
            begin: begin.filter(|begin| !begin.is_empty()).map(str::to_owned),
            stops: stops.iter().filter(|stop| !stop.is_empty()).cloned().collect(),
            text: String::new(),
            shown: 0,
            is_ended: false,
        }
    }

    /// Takes what came and shows what is certain; returns whether a stop text ended the answer.
    pub fn push(&mut self, piece: &str, sink: &mut (dyn FnMut(&str) + Send)) -> bool {
        if self.is_ended {
            return true;
        }
        self.text.push_str(piece);
        if let Some(begin) = &self.begin {
            let text = self.text.trim_start();
            if text.len() < begin.len() && begin.starts_with(text) {
                return false;
            }
            if let Some(rest) = text.strip_prefix(begin.as_str()) {
                self.text = rest.to_owned();
            }
            self.begin = None;
        }
        let longest = self.stops.iter().map(String::len).max().unwrap_or(1);
        // Nothing of a stop text was shown, so the first one begins behind what was.
        let found = self
            .stops
            .iter()
            .filter_map(|stop| self.text[self.shown..].find(stop))
            .min();
        if let Some(at) = found {
            self.text.truncate(self.shown + at);
            self.is_ended = true;
        }
        let certain = if self.is_ended {
            self.text.len()
        } else {
            self.text
                .floor_char_boundary(self.text.len().saturating_sub(longest - 1))
        };
        self.show(certain, sink);
        self.is_ended
    }

    /// Shows the rest and returns the whole.
    pub fn finish(mut self, sink: &mut (dyn FnMut(&str) + Send)) -> String {
        self.show(self.text.len(), sink);
        self.text
    }

    pub fn len(&self) -> usize {
        self.text.len()
    }

    fn show(&mut self, to: usize, sink: &mut (dyn FnMut(&str) + Send)) {
        if to > self.shown {
            sink(&self.text[self.shown..to]);
            self.shown = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AnswerText;

    fn check(begin: Option<&str>, stops: &[&str], whole: &str, expected: &str) {
        let stops: Vec<String> = stops.iter().map(|stop| (*stop).to_owned()).collect();
        let letters: Vec<char> = whole.chars().collect();
        for size in 1..=letters.len() {
            let mut shown = String::new();
            let mut sink = |text: &str| shown.push_str(text);
            let mut answer = AnswerText::new(begin, &stops);
            for piece in letters.chunks(size) {
                let piece: String = piece.iter().collect();
                if answer.push(&piece, &mut sink) {
                    break;
                }
            }
            let text = answer.finish(&mut sink);
            assert_eq!(text, expected, "{whole:?} in pieces of {size}");
            assert_eq!(shown, expected, "{whole:?} shown in pieces of {size}");
        }
    }

    #[test]
    fn an_answer_ends_at_the_first_stop_text() {
        check(None, &["\n\n", "END"], "ä line\nENde\n\nmore END", "ä line\nENde");
        check(None, &["END"], "nothing of it EN", "nothing of it EN");
        check(None, &[], "all", "all");
    }

    #[test]
    fn a_begin_that_is_repeated_is_cut_off() {
        check(Some("Files: "), &["."], " Files: a, b. c", "a, b");
        check(Some("Files: "), &[], "Fil", "Fil");
        check(Some("Files: "), &[], "Fine", "Fine");
    }
}
