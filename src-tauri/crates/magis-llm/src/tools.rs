//! Tools that a model may call, its calls, and how much it may think before it answers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDeclaration {
    /// Letters, digits, `_` and `-`.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its arguments: an object's.
    pub parameters: Value,
}

/// A call of a tool that a model asked for. Whether the tool exists and the arguments are right is for the caller to check,
/// where the call was not constrained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What its result refers to: nine letters and digits, which is what every form takes ([`ToolCall::id`]).
    pub id: String,
    pub name: String,
    pub arguments: Map<String, Value>,
}

impl ToolCall {
    /// Returns the id of the `number`-th call of a conversation.
    pub fn id(number: usize) -> String {
        format!("call{number:05}")
    }
}

/// A call that a model began and nobody can read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadableCall {
    /// What the model wrote, without the marks around it.
    pub text: String,
    /// What is wrong with it, in words that the model can be told.
    pub reason: String,
}

/// Whether the model has to call a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// It answers, or calls tools.
    #[default]
    Free,
    /// It calls one tool or several.
    Required,
}

/// The tools of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tools {
    pub declared: Vec<ToolDeclaration>,
    #[serde(default)]
    pub choice: ToolChoice,
}

impl Tools {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.declared.is_empty()
    }
}

/// Whether a model that can think does so before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    #[default]
    Off,
    /// It thinks for so many tokens at the most; what it then has not ended is ended for it.
    On { budget: u32 },
}

impl Thinking {
    /// Returns whether it does not think.
    pub fn is_off(&self) -> bool {
        *self == Self::Off
    }
}
