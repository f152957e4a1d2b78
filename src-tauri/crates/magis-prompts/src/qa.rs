//! The QA Engineers' prompt P11, in two askings: the comment in words, then the decision as a choice.

use crate::developer::Persona;
use crate::head::Head;
use crate::reply::{prose, whole_sentences};
use crate::{AnswerShape, Prompt, ReplyError, Template};
use serde::Serialize;

/// A change under review, with what the reviewer is told of it.
#[derive(Debug, Clone, Serialize)]
pub struct ReviewedChange {
    #[serde(flatten)]
    pub head: Head,
    #[serde(flatten)]
    pub whose: Persona,
    pub task: String,
    /// What the Developer said was wrong.
    #[serde(rename = "fault")]
    pub diagnosis: String,
    /// The change, as a diff.
    pub diff: String,
    pub findings: Vec<String>,
    /// What running the change showed; empty where nothing was run.
    pub seen: Vec<String>,
}

/// Asks for the comment of P11, `review_comment` in the paper.
#[derive(Debug, Clone, Serialize)]
pub struct ReviewComment {
    #[serde(flatten)]
    pub change: ReviewedChange,
}

impl Prompt for ReviewComment {
    type Reply = String;
    fn template(&self) -> Template {
        Template::ReviewComment
    }
    fn max_tokens(&self) -> u32 {
        110
    }
    fn stop(&self) -> Vec<String> {
        vec!["\n\n".to_owned(), "Decision".to_owned()]
    }
    fn read(&self, answer: &str) -> Result<String, ReplyError> {
        prose("With this change,", answer).map(|text| whole_sentences(&text))
    }
}

/// Asks for a small test that shows the fault: a departure from the paper.
#[derive(Debug, Clone, Serialize)]
pub struct TestWanted {
    #[serde(flatten)]
    pub head: Head,
    /// What the test is written in, as a person calls it.
    pub language: String,
    /// The word behind the opening of a Markdown fence.
    pub fence: String,
    /// What the test ends with.
    pub assertion: String,
    /// The file that most likely has to change.
    pub path: String,
    /// The packages of the project, as they are imported.
    pub packages: String,
    /// The best-matching code of that file.
    pub code: String,
}

impl Prompt for TestWanted {
    type Reply = String;
    fn template(&self) -> Template {
        Template::TestOfIssue
    }
    fn max_tokens(&self) -> u32 {
        220
    }
    fn stop(&self) -> Vec<String> {
        vec!["\n```".to_owned()]
    }
    fn read(&self, answer: &str) -> Result<String, ReplyError> {
        let text = answer.trim_matches('\n').trim_end();
        if text.contains("assert") {
            Ok(format!("{text}\n"))
        } else {
            Err(ReplyError::Form("it asserts nothing".to_owned()))
        }
    }
}

/// Asks for a small script that does what an issue wants to be an error: a departure from the paper.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorWanted {
    #[serde(flatten)]
    pub head: Head,
    /// The package of the project, as it is imported.
    pub package: String,
    /// The first line of the issue.
    pub title: String,
}

impl Prompt for ErrorWanted {
    /// The lines behind the import of the package.
    type Reply = String;
    fn template(&self) -> Template {
        Template::TestOfError
    }
    fn max_tokens(&self) -> u32 {
        80
    }
    fn stop(&self) -> Vec<String> {
        vec!["\n```".to_owned()]
    }
    fn read(&self, answer: &str) -> Result<String, ReplyError> {
        // What comes behind a blank line are further examples and what they print.
        let first = answer.trim_matches('\n').split("\n\n").next().unwrap_or_default();
        if first.trim().is_empty() {
            Err(ReplyError::Form("there is no code".to_owned()))
        } else {
            Ok(first.trim_end().to_owned())
        }
    }
}

/// P11's `review_decision`: " approve" or " reject", whichever is likelier after the comment.
#[derive(Debug, Clone, Serialize)]
pub struct ReviewDecision {
    #[serde(flatten)]
    pub change: ReviewedChange,
    /// The comment just made.
    pub comment: String,
}

impl Prompt for ReviewDecision {
    type Reply = ();
    fn template(&self) -> Template {
        Template::ReviewDecision
    }
    fn shape(&self) -> AnswerShape {
        AnswerShape::Scored
    }
    fn max_tokens(&self) -> u32 {
        4
    }
    fn read(&self, _answer: &str) -> Result<(), ReplyError> {
        Ok(())
    }
}
