//! The model alone: an issue and whole files in one prompt, a unified diff back.

use anyhow::Result;
use magis_core::{BlobId, RepoPath};
use magis_llm::{ChatRequest, LanguageModel, Message, MessageRole};

/// The prompt's text, with places for issue, comments and files.
pub const PROMPT: &str = include_str!("../prompts/baseline.txt");
/// The most tokens of the answer, which may also have at most a quarter of the context.
const ANSWER: u32 = 2_048;

/// A file that the model is told.
pub struct GivenFile {
    pub path: RepoPath,
    pub blob: BlobId,
    /// The whole text, also where the prompt has a part of it.
    pub text: String,
}

/// What the model is told.
pub struct OneShot<'a> {
    pub issue: &'a str,
    /// Comments on the issue; empty where there are none, or none are given.
    pub comments: &'a str,
    pub files: &'a [GivenFile],
}

impl OneShot<'_> {
    /// Returns the request in the largest form that fits into the context: all files whole, or each cut to the same share. Beside it, what was left
    /// out.
    pub async fn request(&self, model: &dyn LanguageModel) -> Result<(ChatRequest, Vec<String>)> {
        let context = model.card().context;
        let answer = ANSWER.min(context / 4);
        let budget = context - answer;
        let mut share = 1.0_f64;
        loop {
            let (prompt, left_out) = self.prompt(share);
            let system = "You are an experienced software developer.".to_owned();
            let messages = vec![
                Message::new(MessageRole::System, system),
                Message::new(MessageRole::User, prompt),
            ];
            let tokens = model.count_prompt(&messages, "").await?;
            if tokens <= budget || share < 0.01 {
                let request = ChatRequest::new(messages, answer);
                return Ok((request, left_out));
            }
            share *= (f64::from(budget) / f64::from(tokens) * 0.97).min(0.9);
        }
    }

    fn prompt(&self, share: f64) -> (String, Vec<String>) {
        let mut left_out = Vec::new();
        let mut cut = |what: &str, text: &str| {
            let lines: Vec<&str> = text.lines().collect();
            let kept = (lines.len() as f64 * share).round() as usize;
            if kept >= lines.len() {
                return text.to_owned();
            }
            left_out.push(format!("{} of {} lines of {what}", lines.len() - kept, lines.len()));
            format!(
                "{}\n[the last {} lines are left out]\n",
                lines[..kept].join("\n"),
                lines.len() - kept
            )
        };
        let comments = match self.comments.trim() {
            "" => String::new(),
            comments => format!(
                "\nComments on the issue:\n\n<comments>\n{}\n</comments>\n",
                cut("the comments", comments)
            ),
        };
        let block = |file: &GivenFile| {
            let text = cut(file.path.as_str(), &file.text);
            format!("<file path=\"{}\">\n{text}</file>", file.path)
        };
        let files: Vec<String> = self.files.iter().map(block).collect();
        // One pass over the template, so that braces in the texts mean nothing.
        let parts = [
            ("{issue}", self.issue.trim()),
            ("{hints}", &comments),
            ("{files}", &files.join("\n")),
        ];
        let mut prompt = String::new();
        let mut rest = PROMPT;
        for (name, value) in parts {
            if let Some((before, behind)) = rest.split_once(name) {
                prompt.push_str(before);
                prompt.push_str(value);
                rest = behind;
            }
        }
        prompt.push_str(rest);
        (prompt, left_out)
    }
}
