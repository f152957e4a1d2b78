//! The languages with a grammar, told from a path, and the few facts about each that the rest of the crate needs.
//!
//! Languages are never guessed from content: a file without a known extension has none.

use magis_core::RepoPath;
use std::fmt;

/// A language this crate can parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceLanguage {
    Python,
    /// JavaScript, with or without JSX.
    JavaScript,
    TypeScript,
    Tsx,
    Rust,
    Go,
    Java,
    C,
    /// C++, and headers, which may be either.
    Cpp,
    CSharp,
    Ruby,
    /// PHP, with the markup around it.
    Php,
    Kotlin,
}

impl SourceLanguage {
    /// Every language that can be parsed.
    pub const ALL: [Self; 13] = [
        Self::Python,
        Self::JavaScript,
        Self::TypeScript,
        Self::Tsx,
        Self::Rust,
        Self::Go,
        Self::Java,
        Self::C,
        Self::Cpp,
        Self::CSharp,
        Self::Ruby,
        Self::Php,
        Self::Kotlin,
    ];

    /// Returns the language of a file, by its extension. A `.h` counts as C++: its grammar reads nearly all of C, and
    /// C's reads no class.
    pub fn of(path: &RepoPath) -> Option<Self> {
        Some(match path.extension().as_str() {
            "py" | "pyi" | "pyw" => Self::Python,
            "js" | "jsx" | "mjs" | "cjs" => Self::JavaScript,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            "rs" => Self::Rust,
            "go" => Self::Go,
            "java" => Self::Java,
            "c" => Self::C,
            "h" | "hh" | "hpp" | "hxx" | "h++" | "cc" | "cpp" | "cxx" | "c++" | "inl" | "ipp" => Self::Cpp,
            "cs" | "csx" => Self::CSharp,
            "rb" | "rake" | "gemspec" | "ru" => Self::Ruby,
            "php" | "phtml" => Self::Php,
            "kt" | "kts" => Self::Kotlin,
            _ => return None,
        })
    }

    /// Returns what a person calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::TypeScript => "TypeScript",
            Self::Tsx => "TSX",
            Self::Rust => "Rust",
            Self::Go => "Go",
            Self::Java => "Java",
            Self::C => "C",
            Self::Cpp => "C++",
            Self::CSharp => "C#",
            Self::Ruby => "Ruby",
            Self::Php => "PHP",
            Self::Kotlin => "Kotlin",
        }
    }

    /// Returns the word behind the opening of a Markdown fence.
    pub fn fence(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
            Self::Tsx => "tsx",
            Self::Rust => "rust",
            Self::Go => "go",
            Self::Java => "java",
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::CSharp => "csharp",
            Self::Ruby => "ruby",
            Self::Php => "php",
            Self::Kotlin => "kotlin",
        }
    }

    /// Returns the usual extension of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Python => "py",
            Self::JavaScript => "js",
            Self::TypeScript => "ts",
            Self::Tsx => "tsx",
            Self::Rust => "rs",
            Self::Go => "go",
            Self::Java => "java",
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::CSharp => "cs",
            Self::Ruby => "rb",
            Self::Php => "php",
            Self::Kotlin => "kt",
        }
    }

    /// Returns what begins a comment up to the end of the line.
    pub fn comment_prefix(self) -> &'static str {
        match self {
            Self::Python | Self::Ruby => "#",
            Self::JavaScript
            | Self::TypeScript
            | Self::Tsx
            | Self::Rust
            | Self::Go
            | Self::Java
            | Self::C
            | Self::Cpp
            | Self::CSharp
            | Self::Php
            | Self::Kotlin => "//",
        }
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::CSharp => tree_sitter_c_sharp::LANGUAGE.into(),
            Self::Ruby => tree_sitter_ruby::LANGUAGE.into(),
            Self::Php => tree_sitter_php::LANGUAGE_PHP.into(),
            Self::Kotlin => tree_sitter_kotlin_ng::LANGUAGE.into(),
        }
    }
}

impl fmt::Display for SourceLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_is_known_by_its_own_extension() {
        for language in SourceLanguage::ALL {
            let path = RepoPath::new(format!("a/b.{}", language.extension()));
            assert_eq!(path.ok().and_then(|path| SourceLanguage::of(&path)), Some(language));
        }
    }
}
