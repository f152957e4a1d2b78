//! What a file can define and import.

/// What a definition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// A function outside any type.
    Function,
    /// A function of a type.
    Method,
    Class,
    /// A struct or union.
    Struct,
    Enum,
    Interface,
    Trait,
    /// A module or namespace.
    Module,
    /// A constant, static or module-level variable.
    Constant,
    Type,
    Macro,
}

impl SymbolKind {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Interface => "interface",
            Self::Trait => "trait",
            Self::Module => "module",
            Self::Constant => "constant",
            Self::Type => "type",
            Self::Macro => "macro",
        }
    }
}

/// An import of a source file, as it is written there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The module or path as written, relative dots kept, quotes and brackets off.
    pub target: String,
    /// The names taken from it; empty where the whole is imported.
    pub names: Vec<String>,
    /// The line it begins on.
    pub line: u32,
}
