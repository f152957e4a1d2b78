//! The Developers' prompts: their speech, P6, P8, P9 and P10; and the parts all prompts about an issue share.

use crate::reply::{prose, whole_sentences};
use crate::role::role_prompt;
use crate::{AnswerShape, Head, Prompt, ReplyError, Template};
use magis_core::LineSpan;
use serde::Serialize;

/// Who speaks: a Developer, or a QA Engineer, and about which task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Persona {
    /// The name of the role.
    pub name: String,
    pub focus: String,
    pub task_id: String,
    pub path: String,
}

/// A Developer speaks in the meeting.
#[derive(Debug, Clone, Serialize)]
pub struct MeetingTurn {
    #[serde(flatten)]
    pub head: Head,
    /// All tasks, a line each.
    pub team: String,
    /// What was said so far.
    pub record: String,
    #[serde(flatten)]
    pub whose: Persona,
    /// How memory describes the file.
    pub description: String,
}

impl Prompt for MeetingTurn {
    type Reply = String;
    fn template(&self) -> Template {
        Template::MeetingSpeak
    }
    fn max_tokens(&self) -> u32 {
        110
    }
    fn stop(&self) -> Vec<String> {
        vec!["\n\n".to_owned()]
    }
    fn read(&self, answer: &str) -> Result<String, ReplyError> {
        prose("I", answer).map(|text| whole_sentences(&text))
    }
}

/// P6: a Developer revises its role after the meeting.
#[derive(Debug, Clone, Serialize)]
pub struct RevisedRole {
    #[serde(flatten)]
    pub head: Head,
    /// All tasks, a line each.
    pub team: String,
    pub record: String,
    /// The role so far.
    #[serde(flatten)]
    pub whose: Persona,
}

/// P8: a Developer designs its QA Engineer.
#[derive(Debug, Clone, Serialize)]
pub struct ReviewerRole {
    #[serde(flatten)]
    pub head: Head,
    pub task: String,
    #[serde(flatten)]
    pub whose: Persona,
}

role_prompt!(RevisedRole, RevisedRole);
role_prompt!(ReviewerRole, ReviewerRole);

/// P9, first half: which symbol, by log-likelihood.
#[derive(Debug, Clone, Serialize)]
pub struct CodeByName {
    /// The issue; [`Head::unconditional`] for the second asking.
    #[serde(flatten)]
    pub head: Head,
    pub path: String,
    pub task: String,
    /// What was said against earlier rounds.
    pub objections: Vec<String>,
}

impl Prompt for CodeByName {
    type Reply = ();
    fn template(&self) -> Template {
        Template::CodeByName
    }
    fn shape(&self) -> AnswerShape {
        AnswerShape::Scored
    }
    fn max_tokens(&self) -> u32 {
        64
    }
    fn read(&self, _answer: &str) -> Result<(), ReplyError> {
        Ok(())
    }
}

/// P9, second half, by likelihood: how well each line of a definition fits where it stands, when the issue is known. Attempts that pass are compared
/// by the same question.
#[derive(Debug, Clone, Serialize)]
pub struct CodeToRead {
    #[serde(flatten)]
    pub head: Head,
    pub path: String,
    pub task: String,
    pub symbol: String,
    /// The word for a fence of the file.
    pub fence: String,
    /// The code that stands before what is read, each line behind its line break; may be empty.
    pub begin: String,
}

impl Prompt for CodeToRead {
    type Reply = ();
    fn template(&self) -> Template {
        Template::Surprisal
    }
    fn shape(&self) -> AnswerShape {
        AnswerShape::Scored
    }
    fn max_tokens(&self) -> u32 {
        0
    }
    fn read(&self, _answer: &str) -> Result<(), ReplyError> {
        Ok(())
    }
}

/// P9, second half: which lines of what is shown.
#[derive(Debug, Clone, Serialize)]
pub struct LinesToChange {
    #[serde(flatten)]
    pub head: Head,
    pub path: String,
    pub task: String,
    /// What was said against earlier rounds.
    pub objections: Vec<String>,
    /// The code with its line numbers.
    pub numbered: String,
    /// The lines shown.
    #[serde(skip)]
    pub shown: LineSpan,
}

impl Prompt for LinesToChange {
    type Reply = Vec<LineSpan>;
    fn template(&self) -> Template {
        Template::Lines
    }
    fn shape(&self) -> AnswerShape {
        AnswerShape::LineRanges {
            first: self.shown.first(),
            last: self.shown.last(),
            most: 3,
        }
    }
    fn max_tokens(&self) -> u32 {
        40
    }
    fn read(&self, answer: &str) -> Result<Vec<LineSpan>, ReplyError> {
        let mut spans = Vec::new();
        for interval in answer.split(',').map(str::trim).filter(|interval| !interval.is_empty()) {
            let (first, last) = interval.split_once('-').unwrap_or((interval, interval));
            let number = |text: &str| {
                text.trim()
                    .parse::<u32>()
                    .map_err(|_| ReplyError::Form(format!("'{interval}' is no interval")))
            };
            let (first, last) = (number(first)?, number(last)?);
            let span =
                LineSpan::new(first.min(last), first.max(last)).map_err(|error| ReplyError::Form(error.to_string()))?;
            spans.push(
                span.intersection(self.shown)
                    .ok_or_else(|| ReplyError::Unknown(format!("lines {span}")))?,
            );
        }
        if spans.is_empty() {
            Err(ReplyError::Empty)
        } else {
            Ok(LineSpan::merged(spans))
        }
    }
}

/// What P10 is asked about.
#[derive(Debug, Clone, Serialize)]
pub struct TheChange {
    #[serde(flatten)]
    pub head: Head,
    #[serde(flatten)]
    pub whose: Persona,
    pub task: String,
    /// What was said against earlier rounds.
    pub objections: Vec<String>,
    /// The file's outline around the code; may be empty.
    pub context: String,
    /// What is to be rewritten: "function", "method", "class", "lines".
    pub unit: String,
    /// The word for the fence.
    pub fence: String,
    /// The code to be rewritten.
    pub code: String,
    /// The lines P9 chose.
    pub focus_lines: String,
}

/// P10, first half: what is wrong, in a sentence or two.
#[derive(Debug, Clone, Serialize)]
pub struct Diagnosis {
    /// What it is about.
    #[serde(flatten)]
    pub change: TheChange,
}

impl Prompt for Diagnosis {
    type Reply = String;
    fn template(&self) -> Template {
        Template::Diagnosis
    }
    fn max_tokens(&self) -> u32 {
        120
    }
    fn stop(&self) -> Vec<String> {
        vec!["\n\n".to_owned(), "```".to_owned(), "\n#".to_owned()]
    }
    fn read(&self, answer: &str) -> Result<String, ReplyError> {
        prose("", answer).map(|text| whole_sentences(&text))
    }
}

/// P10, second half: the code, its answer begun.
#[derive(Debug, Clone, Serialize)]
pub struct CodeToWrite {
    /// What it is about.
    #[serde(flatten)]
    pub change: TheChange,
    /// What is wrong, as just stated.
    #[serde(rename = "fault")]
    pub diagnosis: String,
    /// The first line of the answer: the definition's own.
    pub begin: String,
    /// Room for the answer, in tokens.
    #[serde(skip)]
    pub room: u32,
}

impl Prompt for CodeToWrite {
    type Reply = String;
    fn template(&self) -> Template {
        Template::Code
    }
    fn max_tokens(&self) -> u32 {
        self.room
    }
    fn stop(&self) -> Vec<String> {
        vec!["\n```".to_owned()]
    }
    /// Returns the code with the part begun in front of it.
    fn read(&self, answer: &str) -> Result<String, ReplyError> {
        Ok(format!("{}{answer}", self.begin))
    }
}

/// P10 as a gap to fill in: what stands before it, the issue above that as a comment, and what stands behind it.
///
/// It is no conversation: of the rendered prompt `user` is the text before the gap, `answer` the one behind it.
#[derive(Debug, Clone, Serialize)]
pub struct CodeToFillIn {
    /// What begins a comment in the file's language.
    pub comment: String,
    /// The issue, line by line.
    pub issue: Vec<String>,
    /// What a person says has to be done, beside the issue, line by line; may be empty.
    pub wanted: Vec<String>,
    /// A past change that was described alike: what its commit says, and its lines; may be empty.
    pub past: Vec<String>,
    /// What was said against the last round, line by line; may be empty.
    pub objection: Vec<String>,
    /// What else the file defines.
    pub names: Vec<String>,
    pub before: String,
    pub after: String,
    /// Room for the answer, in tokens.
    #[serde(skip)]
    pub room: u32,
    /// Whether the answer ends with its first line.
    #[serde(skip)]
    pub one_line: bool,
}

impl Prompt for CodeToFillIn {
    type Reply = String;
    fn template(&self) -> Template {
        Template::FillIn
    }
    fn max_tokens(&self) -> u32 {
        self.room
    }
    fn stop(&self) -> Vec<String> {
        vec![if self.one_line { "\n" } else { "\n\n\n" }.to_owned()]
    }
    fn read(&self, answer: &str) -> Result<String, ReplyError> {
        if answer.trim().is_empty() {
            Err(ReplyError::Empty)
        } else {
            Ok(answer.to_owned())
        }
    }
}

/// P10 for a file that does not exist yet.
#[derive(Debug, Clone, Serialize)]
pub struct NewFile {
    #[serde(flatten)]
    pub head: Head,
    #[serde(flatten)]
    pub whose: Persona,
    pub task: String,
    /// What was said against earlier rounds.
    pub objections: Vec<String>,
    /// The skeleton of the file beside it; may be empty.
    pub neighbour: String,
    /// The word for the fence.
    pub fence: String,
}

impl Prompt for NewFile {
    type Reply = String;
    fn template(&self) -> Template {
        Template::NewFile
    }
    fn max_tokens(&self) -> u32 {
        1500
    }
    fn stop(&self) -> Vec<String> {
        vec!["\n```".to_owned()]
    }
    fn read(&self, answer: &str) -> Result<String, ReplyError> {
        let text = answer.trim_start_matches('\n').trim_end();
        if text.is_empty() {
            Err(ReplyError::Empty)
        } else {
            Ok(format!("{text}\n"))
        }
    }
}
