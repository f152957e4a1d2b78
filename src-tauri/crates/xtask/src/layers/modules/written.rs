//! Paths and imports as they are written.
//!
//! It neither finds them nor says where they lead.

/// A path that is written somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathUse {
    pub segments: Vec<String>,
    /// What its last name stands for; none where that cannot be told.
    pub kind: Option<Namespace>,
    /// The line it begins in.
    pub line: usize,
}

/// A name that a `use` brings into a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedName {
    /// The path behind it.
    pub segments: Vec<String>,
    /// The name; none for a glob.
    pub name: Option<String>,
    /// Whether it is for the module and what is below it alone.
    pub is_private: bool,
}

/// The kinds of names that do not get in each other's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Namespace {
    /// Types, traits and modules.
    Type,
    /// Functions, constants and constructors.
    Value,
    Macro,
}

impl Namespace {
    /// Every one of them.
    pub const ALL: [Self; 3] = [Self::Type, Self::Value, Self::Macro];
}
