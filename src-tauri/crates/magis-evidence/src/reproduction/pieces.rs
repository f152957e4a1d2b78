//! What the blocks of an issue are: inputs, outputs, failures, files and command lines.

mod classify;
mod naming;

pub use naming::{file_names, has_extension, is_file_name};

use crate::reproduction::notation::Notation;
use crate::reproduction::passages::{Block, Passage};
use crate::reproduction::pattern::Pattern;
use crate::reproduction::prompts::{Exchange, Session, session};
use crate::reproduction::traceback::{Traceback, tracebacks};
use crate::reproduction::wording::{Stance, stance};
pub(crate) use classify::is_command;
use classify::{BlockKind, kind_of};
use naming::text_of;

/// A remark behind an input, as people write them at a prompt.
static ARROW: Pattern = Pattern::new(r"(?m)[ \t]+(?:<--+|<==+|←)[ \t]*(.*)$");

/// What a part of an issue is, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Code to be run.
    Input(Input),
    /// A text that was printed or shown.
    Output {
        text: String,
        stance: Stance,
        follows: Follows,
    },
    /// An exception with its frames.
    Failure {
        traceback: Traceback,
        stance: Stance,
        follows: Follows,
    },
    /// A file the issue shows.
    File { path: String, text: String, role: FileRole },
    /// Lines for a shell.
    Commands(Vec<String>),
}

/// Code to be run, and where it stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    pub source: String,
    /// The number of the block, so that what stood together can be run together.
    pub block: usize,
    /// The line of the issue, from 1, on which the block begins.
    pub line: u32,
}

/// Which input an output belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follows {
    /// The one before it: they stand in one session.
    Input,
    /// Any of those before it.
    Any,
}

/// What a file of the issue is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    Given,
    /// A run wrote it; it is an output.
    Written(Stance),
}

/// Reads the passages into pieces; code is read in the language of `notation`.
pub(crate) fn pieces(passages: &[Passage], notation: &Notation) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut before = None;
    let mut said_before = Stance::Shown;
    for (number, passage) in passages.iter().enumerate() {
        let Passage::Block(block) = passage else {
            continue;
        };
        let kind = kind_of(block, before.as_ref(), notation);
        before = Some(kind.clone());
        // Words over an input speak of the output below it, too.
        let said = match stance(&block.heading, &block.lead) {
            Stance::Shown if block.lead.is_empty() => said_before,
            said => said,
        };
        said_before = said;
        found.extend(of_block(block, kind, number, said, notation));
    }
    found
}

fn of_block(block: &Block, kind: BlockKind, number: usize, said: Stance, notation: &Notation) -> Vec<Piece> {
    match kind {
        BlockKind::File(path) => vec![Piece::File {
            path,
            text: text_of(block),
            role: FileRole::Given,
        }],
        BlockKind::WrittenFile(path) => {
            vec![Piece::File {
                path,
                text: text_of(block),
                role: FileRole::Written(said),
            }]
        }
        BlockKind::Commands(lines) => vec![Piece::Commands(lines)],
        BlockKind::Session => match session(&block.text) {
            Some(Session::Python(exchanges)) => python_session(exchanges, block, number, said),
            Some(Session::Shell(exchanges)) => shell_session(exchanges, said),
            None => Vec::new(),
        },
        BlockKind::Input { source, rest } => {
            let input = Input {
                source: if notation.is_python() { python3(&source) } else { source },
                block: number,
                line: block.line,
            };
            let mut found = vec![Piece::Input(input)];
            found.extend(outputs(&rest, Stance::Shown, Follows::Any));
            found
        }
        BlockKind::Output => outputs(&block.text, said, Follows::Any),
        BlockKind::Foreign => Vec::new(),
    }
}

fn python_session(exchanges: Vec<Exchange>, block: &Block, number: usize, said: Stance) -> Vec<Piece> {
    let mut found = Vec::new();
    for exchange in exchanges {
        let magic = |line: &&str| !line.trim_start().starts_with(['%', '!']) && !line.trim_end().ends_with('?');
        let source: Vec<&str> = exchange.input.lines().filter(magic).collect();
        let source = python3(&ARROW.replace_all(&source.join("\n"), "  # $1"));
        if source.trim().is_empty() {
            continue;
        }
        found.push(Piece::Input(Input {
            source,
            block: number,
            line: block.line,
        }));
        found.extend(outputs(&exchange.output, said, Follows::Input));
    }
    found
}

fn shell_session(exchanges: Vec<Exchange>, said: Stance) -> Vec<Piece> {
    let mut found = Vec::new();
    for exchange in exchanges {
        let shown = exchange
            .input
            .strip_prefix("cat ")
            .or_else(|| exchange.input.strip_prefix("type "));
        match shown.map(str::trim).filter(|path| is_file_name(path)) {
            Some(path) => found.push(Piece::File {
                path: path.to_owned(),
                text: exchange.output,
                role: FileRole::Given,
            }),
            None => {
                found.push(Piece::Commands(vec![exchange.input]));
                found.extend(outputs(&exchange.output, said, Follows::Any));
            }
        }
    }
    found
}

/// Splits what was shown into failures and the texts around them.
fn outputs(text: &str, stance: Stance, follows: Follows) -> Vec<Piece> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut from = 0;
    let texts = |lines: &[&str], found: &mut Vec<Piece>| {
        let text = lines.join("\n").trim_matches('\n').to_owned();
        if !text.trim().is_empty() {
            found.push(Piece::Output { text, stance, follows });
        }
    };
    for traceback in tracebacks(text) {
        texts(&lines[from..traceback.lines.start], &mut found);
        from = traceback.lines.end;
        found.push(Piece::Failure {
            traceback,
            stance,
            follows,
        });
    }
    texts(&lines[from..], &mut found);
    found
}

/// Puts brackets around what a `print` of Python 2 prints.
fn python3(source: &str) -> String {
    let line = |line: &str| {
        let start = line.len() - line.trim_start().len();
        let rest = line[start..].strip_prefix("print ").map(str::trim);
        match rest.filter(|rest| !rest.starts_with(['(', '=', '.', ',']) && !rest.is_empty()) {
            Some(rest) => format!("{}print({})", &line[..start], rest.trim_end_matches(';')),
            None => line.to_owned(),
        }
    };
    source.lines().map(line).collect::<Vec<_>>().join("\n")
}
