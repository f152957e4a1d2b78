//! Which kind of block stands before one: told from its tag, its text and the words over it.

use super::naming::name_of;
use crate::reproduction::notation::Notation;
use crate::reproduction::passages::Block;
use crate::reproduction::pattern::Pattern;
use crate::reproduction::prompts::{Session, session};
use crate::reproduction::wording::{announces_output, announces_value};

/// What a block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// Inputs with prompts, and their outputs.
    Session,
    /// Code to be run, and what was shown below it in the same block.
    Input {
        source: String,
        rest: String,
    },
    Output,
    /// A file with a name.
    File(String),
    /// A file that a run wrote.
    WrittenFile(String),
    Commands(Vec<String>),
    /// Code of another language, settings without a name.
    Foreign,
}

static COMMAND: Pattern = Pattern::new(
    r"^(?:[A-Z_]+=\S+ +)*(?:python[\d.]*|py\.test|pytest|tox|pylint|flake8|mypy|sphinx-\w+|make|flask|npm|npx|node|yarn|cargo|go|pip[\d.]*|git|mkdir|touch|echo|cat|cd|cp|mv|rm|ls|bash|sh|export|curl|isort|black|ruff|django-admin|scrapy|conda|virtualenv|source) +\S",
);
static ALONE: Pattern = Pattern::new(r"^[\w.-]+$");
static COMMAND_WORDS: Pattern = Pattern::new(r"(?i)\bcommands?\b");
static DIRECTIVE: Pattern = Pattern::new(r"(?m)^\s*\.\. [\w:-]+::");
static ENVIRONMENT: Pattern =
    Pattern::new(r"(?i)\b(?:version|versions|environment|dependencies|configuration|installed|setup)\b");
static ANNOUNCED: Pattern =
    Pattern::new(r"(?i)^\s*#?\s*(?:output|out|result|results|returns|prints|gives|actual(?: output| result)?)\s*:\s*$");
const FOREIGN: [&str; 29] = [
    "ini",
    "toml",
    "cfg",
    "json",
    "yaml",
    "yml",
    "xml",
    "html",
    "rst",
    "md",
    "markdown",
    "diff",
    "patch",
    "js",
    "javascript",
    "mjs",
    "cjs",
    "jsx",
    "ts",
    "typescript",
    "python",
    "py",
    "rust",
    "rs",
    "java",
    "go",
    "c",
    "cpp",
    "sql",
];
const SHELLS: [&str; 8] = ["shell", "sh", "bash", "console", "zsh", "bat", "cmd", "powershell"];

/// Returns whether a line is one for a shell, by the tool it begins with.
pub(crate) fn is_command(line: &str) -> bool {
    COMMAND.is_match(line)
}

pub(crate) fn kind_of(block: &Block, before: Option<&BlockKind>, notation: &Notation) -> BlockKind {
    let text = block.text.as_str();
    match session(text) {
        Some(Session::Python(_)) if !notation.is_python() => return BlockKind::Foreign,
        Some(_) => return BlockKind::Session,
        None => {}
    }
    let words = if block.lead.is_empty() {
        &block.heading
    } else {
        &block.lead
    };
    if let Some(path) = name_of(block) {
        return if announces_output(words) && !words.trim_end().ends_with(&format!("{path}:")) && before.is_some() {
            BlockKind::WrittenFile(path)
        } else {
            BlockKind::File(path)
        };
    }
    let is_untold = matches!(block.tag.as_str(), "" | "rst" | "rest" | "restructuredtext");
    let is_document = || text.starts_with("..") || !notation.parses(text);
    if is_untold && DIRECTIVE.is_match(text) && is_document() && !announces_output(words) {
        return BlockKind::File("index.rst".to_owned());
    }
    let is_tagged = notation.is_tag(&block.tag);
    if !is_tagged && FOREIGN.contains(&block.tag.as_str()) {
        return BlockKind::Foreign;
    }
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let is_shell = SHELLS.contains(&block.tag.as_str());
    // `pylint -x` is also a subtraction; a tag or a heading decides.
    let is_headed = COMMAND_WORDS.is_match(&block.heading) && block.lead.is_empty();
    let is_told = is_shell || is_headed;
    let is_command = |line: &&str| COMMAND.is_match(line) || is_headed || is_shell && ALONE.is_match(line);
    let parses = || notation.parses(text);
    if !lines.is_empty() && lines.iter().all(is_command) && (is_told || !parses()) {
        return BlockKind::Commands(lines.iter().map(|line| (*line).to_owned()).collect());
    }
    if ENVIRONMENT.is_match(&block.heading) && !announces_output(&block.lead) {
        return BlockKind::Foreign;
    }
    if is_shell {
        return BlockKind::Output;
    }
    let comment = notation.language.comment_prefix();
    let is_remark = |line: &str| line.trim().is_empty() || line.trim_start().starts_with(comment);
    if is_tagged && text.lines().all(is_remark) {
        return BlockKind::Input {
            source: text.to_owned(),
            rest: String::new(),
        };
    }
    if let Some((source, rest)) = code_and_output(text, is_tagged, notation) {
        let shown = announces_value(words) && !notation.statement.is_match(&source);
        let lone = block.tag.is_empty()
            && is_lone_expression(&source, notation)
            && matches!(before, Some(BlockKind::Input { .. }))
            && block.lead.is_empty();
        if !shown && !lone {
            return BlockKind::Input { source, rest };
        }
    }
    BlockKind::Output
}

/// Splits a text into the code it begins with and what was shown below; none where it does not begin with code.
fn code_and_output(text: &str, is_tagged: bool, notation: &Notation) -> Option<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let split = lines
        .iter()
        .position(|line| line.contains("Traceback (most recent call last)") || ANNOUNCED.is_match(line));
    let candidates = split.into_iter().chain([lines.len()]).chain((1..lines.len()).rev());
    for end in candidates.take(40) {
        let source = lines[..end].join("\n");
        // Where only a part parses, it has to be more than words that happen to.
        let likely = is_tagged || notation.statement.is_match(&source) || notation.call.is_match(&source);
        let parses = || {
            if notation.is_python() {
                notation.parses(&python2(&source))
            } else {
                notation.parses(&source)
            }
        };
        if likely && !source.trim().is_empty() && parses() {
            let rest = lines.get(end..).unwrap_or_default();
            let skipped = usize::from(rest.first().is_some_and(|line| ANNOUNCED.is_match(line)));
            let rest = rest.get(skipped..).unwrap_or_default().join("\n");
            return (end * 2 >= lines.len() || split.is_some()).then_some((source, rest));
        }
    }
    None
}

/// Returns the text with Python 2's `print` made one that parses.
fn python2(source: &str) -> String {
    source.replace("print ", "print;")
}

fn is_lone_expression(source: &str, notation: &Notation) -> bool {
    !notation.statement.is_match(source)
        && source
            .lines()
            .filter(|line| !line.starts_with([' ', '[', ')', ']']))
            .count()
            <= 2
}
