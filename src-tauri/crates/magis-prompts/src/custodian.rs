//! The Repository Custodian's prompts: P1, P2 and the forms of P3.

use crate::reply::{prose, whole_sentences};
use crate::{AnswerShape, Head, Prompt, ReplyError, Template};
use serde::Serialize;

/// P1: the difference of two versions becomes a "commit message". As in the paper it is made from the difference alone:
/// what the file is about stands in the summary that the message follows.
#[derive(Debug, Clone, Serialize)]
pub struct ChangeMessage {
    pub path: String,
    /// The difference, as unified hunks.
    pub diff: String,
}

impl Prompt for ChangeMessage {
    type Reply = String;
    fn template(&self) -> Template {
        Template::ChangeMessage
    }
    fn max_tokens(&self) -> u32 {
        80
    }
    fn stop(&self) -> Vec<String> {
        vec!["\n\n".to_owned()]
    }
    fn read(&self, answer: &str) -> Result<String, ReplyError> {
        prose("The change", answer).map(|text| whole_sentences(&text))
    }
}

/// P2: a file, or its skeleton, becomes a summary.
#[derive(Debug, Clone, Serialize)]
pub struct FileSummary {
    pub path: String,
    /// Its text or skeleton.
    pub text: String,
    /// Whether it is a skeleton.
    pub skeleton: bool,
}

impl Prompt for FileSummary {
    type Reply = String;
    fn template(&self) -> Template {
        Template::FileSummary
    }
    fn max_tokens(&self) -> u32 {
        130
    }
    fn stop(&self) -> Vec<String> {
        vec!["\n\n".to_owned()]
    }
    fn read(&self, answer: &str) -> Result<String, ReplyError> {
        prose("This file", answer).map(|text| whole_sentences(&text))
    }
}

/// P3 by log-likelihood: how likely is the path as an answer. Asked once with the issue and once without; the difference
/// counts (the raw likelihood is a prior of length and fame).
#[derive(Debug, Clone, Serialize)]
pub struct RelevanceByName {
    /// The issue and its hints; [`Head::unconditional`] for the second asking.
    #[serde(flatten)]
    pub head: Head,
}

/// The same question for functions and types: how likely is `path::name` as an answer.
#[derive(Debug, Clone, Serialize)]
pub struct SymbolByName {
    /// The issue and its hints; [`Head::unconditional`] for the second asking.
    #[serde(flatten)]
    pub head: Head,
}

/// P3 by yes or no on real code.
#[derive(Debug, Clone, Serialize)]
pub struct RelevanceByCode {
    /// The issue and its hints.
    #[serde(flatten)]
    pub head: Head,
    pub path: String,
    pub names: Vec<String>,
    pub code: String,
}

/// P3 by yes or no on the description: the paper's own way.
#[derive(Debug, Clone, Serialize)]
pub struct RelevanceByDescription {
    /// The issue and its hints.
    #[serde(flatten)]
    pub head: Head,
    pub path: String,
    /// How memory describes it.
    pub description: String,
}

/// Prompts whose possible answers are weighed; nothing is read.
macro_rules! scored {
    ($prompt:ident, $max_tokens:literal) => {
        impl Prompt for $prompt {
            type Reply = ();
            fn template(&self) -> Template {
                Template::$prompt
            }
            fn shape(&self) -> AnswerShape {
                AnswerShape::Scored
            }
            fn max_tokens(&self) -> u32 {
                $max_tokens
            }
            fn read(&self, _answer: &str) -> Result<(), ReplyError> {
                Ok(())
            }
        }
    };
}

scored!(RelevanceByName, 64);
scored!(SymbolByName, 64);
scored!(RelevanceByCode, 4);
scored!(RelevanceByDescription, 4);
