//! What a file can define and import.

/// What a definition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// A function outside any type.
    Function,
    /// A function of a type.
    Method,
    /// A class.
    Class,
    /// A struct or union.
    Struct,
    /// An enumeration.
    Enum,
    /// An interface.
    Interface,
    /// A trait.
    Trait,
    /// A module or namespace.
    Module,
    /// A constant, static or module-level variable.
    Constant,
    /// A type alias.
    Type,
    /// A macro.
    Macro,
}

impl SymbolKind {
    /// The word for it.
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

/// One import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The module or path as written, relative dots kept, quotes and brackets off.
    pub target: String,
    /// The names taken from it; empty where the whole is imported.
    pub names: Vec<String>,
    /// The line it begins on.
    pub line: u32,
}
