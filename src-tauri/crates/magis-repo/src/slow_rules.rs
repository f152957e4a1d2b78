//! Patterns of rules that take for ever to compare with a name.
//!
//! libgit2 tries all ways in which the stars of a pattern can stand for parts of a name: fourteen of them and a name of 250
//! letters are more than any machine tries. How many ways there are is counted here before, without trying them.

use std::path::{Path, PathBuf};

/// The most ways that a pattern is compared with a name in.
pub(crate) const MOST_WAYS: f64 = 1e6;
/// And all patterns with all names of a work tree.
pub(crate) const MOST_WAYS_OF_ALL: f64 = 1e8;
/// A pattern with fewer stars has few ways, whatever the name is.
const FEW: usize = 3;

/// The patterns with many stars in one file of rules.
#[derive(Debug)]
pub(crate) struct SlowRules {
    /// The file that they stand in.
    pub file: PathBuf,
    patterns: Vec<Pattern>,
}

/// What stands behind each star of a pattern: a letter, or any one.
#[derive(Debug, PartialEq, Eq)]
struct Pattern {
    behind: Vec<Option<u8>>,
    /// It is compared with whole paths, not with names.
    is_path: bool,
}

impl SlowRules {
    /// Finds those in the text of a file of rules; none where there are none, as nearly always.
    pub fn of(file: &Path, text: &[u8]) -> Option<Self> {
        let is_attributes = file.to_string_lossy().contains("attributes");
        let line = |line: &[u8]| {
            let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            Pattern::of(if is_attributes { words.next()? } else { line })
        };
        let patterns: Vec<Pattern> = text.split(|byte| *byte == b'\n').filter_map(line).collect();
        (!patterns.is_empty()).then(|| Self {
            file: file.to_owned(),
            patterns,
        })
    }

    /// Returns in how many ways the patterns are compared with a path, the slowest pattern's ones.
    pub fn ways(&self, path: &[u8]) -> f64 {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        let ways = |pattern: &Pattern| pattern.ways(if pattern.is_path { path } else { name });
        self.patterns.iter().map(ways).fold(0.0, f64::max)
    }
}

impl Pattern {
    fn of(pattern: &[u8]) -> Option<Self> {
        let mut behind = Vec::new();
        let mut before = None;
        for byte in pattern.iter().copied().chain([b'\n']) {
            if before == Some(b'*') && byte != b'*' {
                behind.push(match byte {
                    b'?' | b'[' | b'\\' => None,
                    letter => Some(letter.to_ascii_lowercase()),
                });
            }
            before = Some(byte);
        }
        // Behind the last star of all nothing has to follow.
        if pattern.ends_with(b"*") {
            behind.pop();
        }
        (behind.len() >= FEW).then(|| Self {
            behind,
            is_path: pattern.strip_suffix(b"/").unwrap_or(pattern).contains(&b'/'),
        })
    }

    /// Returns in how many ways the letters behind the stars can be found in a text, in their order.
    fn ways(&self, text: &[u8]) -> f64 {
        // Of each number of stars from the left on: the ways so far.
        let mut ways = vec![0.0; self.behind.len() + 1];
        ways[0] = 1.0;
        for byte in text.iter().map(u8::to_ascii_lowercase) {
            for (at, behind) in self.behind.iter().enumerate().rev() {
                if behind.is_none_or(|behind| behind == byte) {
                    ways[at + 1] += ways[at];
                }
            }
        }
        ways.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(pattern: &str, path: &str) -> f64 {
        SlowRules::of(Path::new(".gitignore"), pattern.as_bytes()).map_or(0.0, |rules| rules.ways(path.as_bytes()))
    }

    #[test]
    fn ordinary_patterns_have_few_ways() {
        for pattern in ["*.py", "build/**/*.o", "", "# a * b * c * d", "[Bb]in/*"] {
            assert!(ways(pattern, &"a/b.o".repeat(50)) < 1e5, "{pattern}");
        }
        assert!(ways("*_*_*_*.tar.*", "some_long_name_of_a_file_with_parts.tar.gz") < 1_000.0);
    }

    #[test]
    fn stars_in_front_of_letters_that_a_name_repeats_have_countless_ways() {
        let name = "a".repeat(250);
        assert!(ways(&["*a".repeat(14), "b".to_owned()].concat(), &name) > 1e20);
        assert!(ways(&["*?".repeat(14), "b".to_owned()].concat(), &name) > 1e20);
        assert!(ways(&["**/a/".repeat(14), "b".to_owned()].concat(), &"a/".repeat(90)) > 1e9);
    }

    #[test]
    fn of_attributes_the_pattern_alone_counts() {
        let text = b"*.py text=*a*b*c*d*\n*a*a*a*a*a*a*a*b  filter=x\n";
        let rules = SlowRules::of(Path::new(".gitattributes"), text).unwrap();
        assert_eq!(rules.patterns.len(), 1);
    }
}
