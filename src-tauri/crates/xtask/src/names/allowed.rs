//! The names of public types that several crates may share, each with the reason why that misleads nobody.
//!
//! An entry that is no longer needed fails the check as well.

/// A name that some packages share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shared {
    pub name: &'static str,
    /// The packages that may declare a type of that name, at least two.
    pub packages: &'static [&'static str],
    /// Why that misleads nobody.
    pub reason: &'static str,
}

/// Every name that may be shared, with its reason.
pub const SHARED: &[Shared] = &[];
