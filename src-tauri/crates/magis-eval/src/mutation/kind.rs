//! What a mutation is.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What a mutation does to the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MutationKind {
    /// Another operator of arithmetic.
    Operator,
    /// A bound that is one off.
    Bound,
    /// Two arguments of a call have changed places.
    ArgumentOrder,
    /// A condition is turned around, or a part of it is missing.
    Condition,
    /// A call is left out, and what it was given stands in its place.
    MissingCall,
    /// A related method is called, as `lstrip` for `rstrip`.
    WrongMethod,
    /// Another variable of the same function.
    WrongVariable,
    /// A case is not handled any more.
    RemovedCase,
    /// A truth value is the other one.
    Constant,
}

impl MutationKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Operator,
        Self::Bound,
        Self::ArgumentOrder,
        Self::Condition,
        Self::MissingCall,
        Self::WrongMethod,
        Self::WrongVariable,
        Self::RemovedCase,
        Self::Constant,
    ];

    /// Returns its name, as the sets have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Bound => "bound",
            Self::ArgumentOrder => "argument_order",
            Self::Condition => "condition",
            Self::MissingCall => "missing_call",
            Self::WrongMethod => "wrong_method",
            Self::WrongVariable => "wrong_variable",
            Self::RemovedCase => "removed_case",
            Self::Constant => "constant",
        }
    }
}

/// One small change of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutation {
    pub kind: MutationKind,
    /// The bytes that are replaced.
    pub span: Range<usize>,
    pub replacement: String,
    /// The function around it; none outside of all.
    pub function: Option<String>,
}

impl Mutation {
    /// Returns the text with the change; none where the text is another one.
    pub fn apply(&self, text: &str) -> Option<String> {
        let (before, after) = (text.get(..self.span.start)?, text.get(self.span.end..)?);
        Some([before, &self.replacement, after].concat())
    }
}
