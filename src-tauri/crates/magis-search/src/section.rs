//! Which parts of an issue tell its story, and which only say where it happened: versions, platforms, lists of packages.

/// A part of an issue, as its headings say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// What happens and what should.
    Story,
    /// Versions, systems, set-up: words that are in every issue of a project.
    Surroundings,
}

impl Section {
    /// Returns how much its words count.
    pub fn weight(self) -> f64 {
        match self {
            Self::Story => 1.0,
            Self::Surroundings => 0.3,
        }
    }
}

/// Returns the section that begins with this line, if it is a heading.
pub(crate) fn after(line: &str) -> Option<Section> {
    let line = line.trim();
    let words = line.split_whitespace().count();
    // `#include`, `#12` are no headings: those have a space behind their mark.
    let marked = line.trim_start_matches('#').starts_with(' ')
        || (line.starts_with("**") && line.trim_end_matches(':').ends_with("**"))
        || (line.ends_with(':') && words <= 4);
    let bare: String = line
        .chars()
        .filter(|c| c.is_alphabetic() || *c == ' ')
        .flat_map(char::to_lowercase)
        .collect();
    if !marked || words > 10 || bare.trim().is_empty() {
        return None;
    }
    let surroundings = bare.split_whitespace().any(|word| {
        matches!(
            word,
            "version"
                | "versions"
                | "environment"
                | "platform"
                | "os"
                | "installed"
                | "setup"
                | "system"
                | "configuration"
        )
    });
    Some(if surroundings {
        Section::Surroundings
    } else {
        Section::Story
    })
}

/// Returns whether these lines list packages with their versions.
pub(crate) fn is_listing(lines: &[&str]) -> bool {
    let written: Vec<&&str> = lines.iter().filter(|line| !line.trim().is_empty()).collect();
    let listed = written.iter().filter(|line| {
        let words: Vec<&str> = line
            .split(|c: char| c.is_whitespace() || matches!(c, '=' | '@' | ':'))
            .filter(|word| !word.is_empty())
            .collect();
        words.len() <= 6 && words.iter().skip(1).any(|word| is_version(word))
    });
    written.len() >= 5 && listed.count() * 10 >= written.len() * 7
}

/// Returns whether an interpreter says hello: what it is, and how help is had.
pub(crate) fn is_greeting(line: &str) -> bool {
    let line = line.trim();
    let starts = [
        "Python ",
        "IPython ",
        "[GCC ",
        "[Clang ",
        "[MSC ",
        "Welcome to ",
        "%quickref",
        "object?",
    ];
    (starts.iter().any(|start| line.starts_with(start)) && line.chars().any(|c| c.is_ascii_digit() || c == '>'))
        || line.contains("-> ")
            && ["?", "help", "%quickref", "object?"]
                .iter()
                .any(|start| line.starts_with(start))
        || line.starts_with("Type ") && line.contains("for more information")
        || line.starts_with("Type ") && line.contains("for help")
}

/// Returns whether a word is a version: `1.2`, `v0.21.3`, `(2.7.1)`.
fn is_version(word: &str) -> bool {
    let word = word.trim_matches(['(', ')', ',', '*']).trim_start_matches('v');
    let mut parts = word.split('.');
    let first = parts.next().unwrap_or_default();
    let numeric = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    numeric(first)
        && parts
            .next()
            .is_some_and(|second| second.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_says_what_follows() {
        for (line, section) in [
            ("## Environment", Some(Section::Surroundings)),
            ("**Version**", Some(Section::Surroundings)),
            ("#### System Details", Some(Section::Surroundings)),
            ("**Describe the bug**", Some(Section::Story)),
            ("### Steps to Reproduce", Some(Section::Story)),
            ("the version of the file is wrong", None),
            ("#include <version>", None),
            ("x = 1", None),
        ] {
            assert_eq!(after(line), section, "{line}");
        }
    }

    #[test]
    fn a_greeting_is_no_part_of_the_story() {
        for line in [
            "Python 3.6.0 |Continuum Analytics, Inc.| (default, Dec 23 2016, 12:22:00)",
            "Type \"copyright\", \"credits\" or \"license\" for more information.",
            "IPython 5.1.0 -- An enhanced Interactive Python.",
            "?         -> Introduction and overview of IPython's features.",
        ] {
            assert!(is_greeting(line), "{line}");
        }
        for line in ["x -> y", ">>> help(x)", "print('Python')", "Type = 3"] {
            assert!(!is_greeting(line), "{line}");
        }
    }

    #[test]
    fn a_list_of_packages_is_known() {
        assert!(is_listing(&[
            "attrs 19.1.0",
            "pip==19.0.3",
            "py (1.8.0)",
            "",
            "tokio v1.6.0",
            "│ ├── mio v0.7.11"
        ]));
        assert!(!is_listing(&[
            "x = 1.5",
            "def f(a):",
            "    return a",
            "print(f(2))",
            "y = f(3)"
        ]));
    }
}
