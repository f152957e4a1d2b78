//! An issue's text as headings, prose and blocks of code, in their order.
//!
//! Only the form is read here; what a block is (input, output, a file, commands) is told elsewhere.

use crate::reproduction::prompts::is_prompt;

/// A part of an issue's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passage {
    /// A heading, without its marks. The first line of the text is one.
    Heading(String),
    /// Lines of prose up to the next blank line, heading or block.
    Prose(String),
    /// Lines set off as code.
    Block(Block),
}

/// Lines set off as code, with the words around them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// The word behind the fence in lower case (`python`, `shell`); empty where there is none.
    pub tag: String,
    /// The lines, their common indentation taken off.
    pub text: String,
    /// The line of the issue, from 1, on which the text begins.
    pub line: u32,
    /// The heading it stands under; empty where only the title precedes it.
    pub heading: String,
    /// The prose since the block or heading before.
    pub lead: String,
}

/// Reads a text into its passages.
pub fn passages(issue: &str) -> Vec<Passage> {
    let lines: Vec<&str> = issue.lines().collect();
    let mut reader = Reader::default();
    let mut at = 0;
    while at < lines.len() {
        at += reader.take(&lines, at);
    }
    reader.end_prose();
    reader.passages
}

#[derive(Default)]
struct Reader {
    passages: Vec<Passage>,
    prose: Vec<String>,
    heading: String,
    lead: String,
    in_comment: bool,
}

impl Reader {
    /// Takes what begins at line `at` and returns how many lines that was.
    fn take(&mut self, lines: &[&str], at: usize) -> usize {
        let line = lines[at];
        let trimmed = line.trim();
        if self.in_comment || trimmed.starts_with("<!--") {
            self.in_comment = !trimmed.contains("-->");
            return 1;
        }
        if let Some(fence) = fence_of(trimmed) {
            return self.take_fenced(lines, at, fence);
        }
        let after_blank = at == 0 || lines[at - 1].trim().is_empty();
        if is_prompt(line) {
            let count = lines[at..].iter().take_while(|line| !line.trim().is_empty()).count();
            let count = count + more_prompts(&lines[at + count..]);
            self.block("", &lines[at..at + count], at);
            return count;
        }
        if indent(line) >= 4 && after_blank && !trimmed.is_empty() {
            let inside = |line: &&&str| line.trim().is_empty() || indent(line) >= 4;
            let mut count = lines[at..].iter().take_while(inside).count();
            while lines[at + count - 1].trim().is_empty() {
                count -= 1;
            }
            self.block("", &lines[at..at + count], at);
            return count;
        }
        self.prose_line(lines, at)
    }

    fn take_fenced(&mut self, lines: &[&str], at: usize, fence: &str) -> usize {
        let tag = lines[at].trim()[fence.len()..].trim();
        let tag = tag.split([' ', ',', '{']).next().unwrap_or_default().to_lowercase();
        let closes = |line: &&&str| {
            let line = line.trim();
            line.starts_with(fence) && line.trim_start_matches(&fence[..1]).is_empty()
        };
        let inner = lines[at + 1..].iter().take_while(|line| !closes(line)).count();
        self.block(&tag, &lines[at + 1..at + 1 + inner], at + 1);
        inner + 2
    }

    fn prose_line(&mut self, lines: &[&str], at: usize) -> usize {
        let trimmed = lines[at].trim();
        let rule = |line: &&&str| line.len() >= 3 && line.trim_matches(['=', '-']).is_empty();
        let underlined = lines.get(at + 1).is_some_and(|line| rule(&line)) && !trimmed.is_empty();
        let bold = trimmed.len() > 4 && trimmed.starts_with("**") && trimmed.trim_end_matches(':').ends_with("**");
        if trimmed.starts_with('#') || at == 0 || underlined || bold {
            self.end_prose();
            let heading = trimmed.trim_matches(['#', '*', ' ', ':']).to_owned();
            if at > 0 {
                self.heading.clone_from(&heading);
            }
            self.lead.clear();
            self.passages.push(Passage::Heading(heading));
            return 1 + usize::from(underlined);
        }
        if trimmed.is_empty() {
            self.end_prose();
        } else {
            self.prose.push(trimmed.to_owned());
        }
        1
    }

    fn end_prose(&mut self) {
        if self.prose.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.prose).join("\n");
        if !self.lead.is_empty() {
            self.lead.push('\n');
        }
        self.lead.push_str(&text);
        self.passages.push(Passage::Prose(text));
    }

    fn block(&mut self, tag: &str, lines: &[&str], at: usize) {
        self.end_prose();
        let text = dedented(lines);
        let lead = std::mem::take(&mut self.lead);
        if !text.trim().is_empty() {
            self.passages.push(Passage::Block(Block {
                tag: tag.to_owned(),
                text,
                line: at as u32 + 1,
                heading: self.heading.clone(),
                lead,
            }));
        }
    }
}

fn fence_of(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    let rest = &line[length..];
    (length >= 3 && !rest.contains('`')).then(|| &line[..length])
}

/// Counts the lines behind a blank one that still belong to a session pasted without a fence.
fn more_prompts(lines: &[&str]) -> usize {
    let blank = lines.iter().take_while(|line| line.trim().is_empty()).count();
    if !lines.get(blank).is_some_and(|line| is_prompt(line)) {
        return 0;
    }
    let count = lines[blank..].iter().take_while(|line| !line.trim().is_empty()).count();
    blank + count + more_prompts(&lines[blank + count..])
}

fn indent(line: &str) -> usize {
    let white: String = line.chars().take_while(|c| c.is_whitespace()).collect();
    white.replace('\t', "    ").len()
}

/// Joins the lines without the indentation they share.
pub(crate) fn dedented(lines: &[&str]) -> String {
    let filled = lines.iter().filter(|line| !line.trim().is_empty());
    let common = filled
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let cut: Vec<&str> = lines
        .iter()
        .map(|line| line.get(common..).unwrap_or(line.trim_start()).trim_end())
        .collect();
    cut.join("\n").trim_matches('\n').to_owned()
}
