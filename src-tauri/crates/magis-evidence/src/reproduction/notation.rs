//! What the examples of an issue look like in each language for which checks are made.

use crate::reproduction::pattern::Pattern;
use magis_syntax::{SourceLanguage, syntax_errors};

/// How code is written in a language, as far as an issue's text is read for it.
pub(crate) struct Notation {
    pub language: SourceLanguage,
    /// The words behind a fence that name it.
    tags: &'static [&'static str],
    /// Begins of lines that only code has.
    pub statement: Pattern,
    /// A line that begins with a call, an attribute or an element.
    pub call: Pattern,
    /// What binds names at the begin of a line; the first group holds them.
    pub binds: Pattern,
    /// A statement of prose that binds names; one of the groups holds them.
    pub binding: Pattern,
    /// Values that are written as words.
    values: &'static [&'static str],
}

static PYTHON: Notation = Notation {
    language: SourceLanguage::Python,
    tags: &["python", "py", "python3", "py3"],
    statement: Pattern::new(
        r"(?m)^\s*(?:import |from \w|def |class |with |for |while |if |try:|assert |raise |return |@\w|[A-Za-z_][\w., \[\]']*(?:\([\w., \[\]']*\)[\w., \[\]']*)* ?[+*-]?= ?[^=])",
    ),
    call: Pattern::new(r"(?m)^\s*[A-Za-z_][\w.]*(?:\(|\.\w+|\[)"),
    binds: Pattern::new(
        r"(?m)^(?:(?:def|class|import|from [\w.]+ import) +)?([A-Za-z_]\w*(?: *, *[A-Za-z_]\w*)*) *(?:=[^=]|\(|:?$)",
    ),
    binding: Pattern::new(r"^(?:([A-Za-z_]\w*(?: *, *[A-Za-z_]\w*)*) *=[^=]|(?:from [\w.]+ )?import +(\w.*)$)"),
    values: &["True", "False", "None", "nan", "NaN", "inf", "oo", "zoo"],
};

static JAVASCRIPT: Notation = Notation {
    language: SourceLanguage::JavaScript,
    tags: &["javascript", "js", "mjs", "cjs", "node", "jsx"],
    statement: Pattern::new(
        r"(?m)^\s*(?:import [\w{*'\x22]|export |const |let |var |(?:async )?function\b|class |for ?\(|while ?\(|if ?\(|try ?\{|throw |return |[A-Za-z_$][\w$., \[\]()']* ?[+*-]?= ?[^=>])",
    ),
    call: Pattern::new(r"(?m)^\s*(?:await |new )?[A-Za-z_$][\w$.]*(?:\(|\.\w+|\[)"),
    binds: Pattern::new(
        r"(?m)^(?:(?:const|let|var|(?:async +)?function\*?|class|import) +)\{? *([A-Za-z_$][\w$]*(?: *, *[A-Za-z_$][\w$]*)*)",
    ),
    binding: Pattern::new(r"^(?:(?:const|let|var) +)?([A-Za-z_$][\w$]*) *=[^=>]"),
    values: &["true", "false", "null", "undefined", "NaN", "Infinity"],
};

static RUST: Notation = Notation {
    language: SourceLanguage::Rust,
    tags: &["rust", "rs"],
    statement: Pattern::new(
        r"(?m)^\s*(?:use \w|let |fn |pub |struct |enum |impl\b|trait |const |static |#\[|for \w|while |if |match |loop \{|assert\w*!\(|[a-z_]\w*!\()",
    ),
    call: Pattern::new(r"(?m)^\s*&?(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*(?:::<[^>]*>)?(?:\(|\.\w+)"),
    binds: Pattern::new(r"(?m)^\s*(?:let (?:mut )?|fn |struct |enum |const |static (?:mut )?)([A-Za-z_]\w*)"),
    binding: Pattern::new(r"^let (?:mut )?([A-Za-z_]\w*)(?: *:[^=]+)? *=[^=]"),
    values: &["true", "false", "None"],
};

/// Names of Rust that people write for whatever value they hold: "it should return `Err`".
const HOLDERS: [&str; 5] = ["Ok", "Err", "Some", "Result", "Option"];

/// A `Duration` as Rust shows it, which is no code: `1.5s`.
static DURATION: Pattern = Pattern::new(r"\b(\d[\d.]*)(?:ns|µs|ms|s)\b");

/// Returns the notation of a language; Python's where no checks are made in it.
pub(crate) fn notation(language: SourceLanguage) -> &'static Notation {
    match language {
        SourceLanguage::JavaScript => &JAVASCRIPT,
        SourceLanguage::Rust => &RUST,
        _ => &PYTHON,
    }
}

impl Notation {
    /// Returns whether the word behind a fence names the language.
    pub(crate) fn is_tag(&self, tag: &str) -> bool {
        self.tags.contains(&tag)
    }

    /// Returns whether a text is well-formed.
    pub(crate) fn parses(&self, text: &str) -> bool {
        match self.language {
            // What an example shows stands in a function.
            SourceLanguage::Rust => syntax_errors(self.language, &format!("fn main() {{\n{text}\n}}")) == 0,
            language => syntax_errors(language, text) == 0,
        }
    }

    /// Returns whether a text is a well-formed value.
    pub(crate) fn parses_as_value(&self, text: &str) -> bool {
        match self.language {
            // What begins with a brace would be a block.
            SourceLanguage::JavaScript => self.parses(&format!("({text})")),
            SourceLanguage::Rust => self.parses(&DURATION.replace_all(text, "${1}")),
            _ => self.parses(text),
        }
    }

    /// Returns whether a word is a value.
    pub(crate) fn is_value(&self, word: &str) -> bool {
        self.values.contains(&word)
    }

    /// Returns whether a word may be a variant without fields, which Rust shows by its name.
    pub(crate) fn is_variant(&self, word: &str) -> bool {
        self.language == SourceLanguage::Rust
            && word.starts_with(|c: char| c.is_ascii_uppercase())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !HOLDERS.contains(&word)
    }

    /// Returns whether code of the language has sessions with prompts that can be read.
    pub(crate) fn is_python(&self) -> bool {
        self.language == SourceLanguage::Python
    }
}
