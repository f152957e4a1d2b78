//! The names of a model in several files: `NAME-00001-of-00003.gguf` and its companions in the same folder, as llama.cpp writes
//! and finds them.
//!
//! It knows the names alone; whether the files are there and whole is for the library.

use std::path::{Path, PathBuf};

/// The file name of one part of a model in several files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SplitName<'a> {
    /// What stands before the numbers; the same for all parts.
    pub(crate) stem: &'a str,
    /// Which part it is, from 1.
    pub(crate) number: u32,
    /// How many parts there are.
    pub(crate) count: u32,
}

/// More parts than any model has.
const MOST_PARTS: u32 = 1000;

impl<'a> SplitName<'a> {
    /// Reads a file name; none where it is not that of a part.
    pub(crate) fn of(name: &'a str) -> Option<Self> {
        let (rest, count) = name.strip_suffix(".gguf")?.rsplit_once("-of-")?;
        let (stem, number) = rest.rsplit_once('-')?;
        let digits = |text: &str| {
            let plain = text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| text.parse::<u32>().ok()).flatten()
        };
        let (number, count) = (digits(number)?, digits(count)?);
        ((1..=count).contains(&number) && (2..=MOST_PARTS).contains(&count)).then_some(Self { stem, number, count })
    }

    /// Returns the names of all parts, the first first.
    pub(crate) fn all(&self) -> impl Iterator<Item = String> + '_ {
        (1..=self.count).map(|number| split_name(self.stem, number, self.count))
    }
}

/// Returns the name of a part.
pub(crate) fn split_name(stem: &str, number: u32, count: u32) -> String {
    format!("{stem}-{number:05}-of-{count:05}.gguf")
}

/// Returns the files that a model consists of whose first, or only, file this is.
pub(crate) fn files_of(first: &Path) -> Vec<PathBuf> {
    let name = first.file_name().unwrap_or_default().to_string_lossy();
    match SplitName::of(&name) {
        Some(split) if split.number == 1 => split.all().map(|part| first.with_file_name(part)).collect(),
        _ => vec![first.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::SplitName;

    #[test]
    fn only_the_names_of_parts_are_read_as_such() {
        let read = |name| SplitName::of(name).map(|split| (split.stem, split.number, split.count));
        assert_eq!(read("a-b-00002-of-00003.gguf"), Some(("a-b", 2, 3)));
        for name in [
            "a.gguf",
            "a-00001-of-00001.gguf",
            "a-00000-of-00002.gguf",
            "a-00003-of-00002.gguf",
            "a-1-of-2.gguf",
            "a-+0001-of-00002.gguf",
            "a-00001-of-00002.bin",
        ] {
            assert_eq!(read(name), None, "{name}");
        }
    }
}
