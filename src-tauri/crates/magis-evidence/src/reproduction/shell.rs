//! Checks of command lines: the files an issue shows, written beside each other, and the lines it runs upon them.
//!
//! Nothing here is of one language, but for the tools known by the files they read.

mod files;
mod ignored;

use crate::reproduction::check::{Check, CheckCommand, CheckFile, Claim, Marker};
use crate::reproduction::claims;
use crate::reproduction::danger::warnings;
use crate::reproduction::notation::notation;
use crate::reproduction::packages::ProjectInUse;
use crate::reproduction::passages::Passage;
use crate::reproduction::pattern::Pattern;
use crate::reproduction::pieces::{FileRole, Piece};
use crate::reproduction::wording::{Stance, inline_code};

static PREPARES: Pattern = Pattern::new(
    r"^(?:sudo |python[\d.]* -m )?(?:pip[\d.]*|apt(?:-get)?|conda|mamba|brew|npm (?:i|install)|yarn add|virtualenv|venv|git|cd|source|deactivate|ls|pwd|workon|wget|curl|open|clear|\.)\b",
);
static TOOL: Pattern = Pattern::new(
    r"^(?:[A-Z_]+=\S+ +)*(?:python[\d.]*|py\.test|pytest|pylint|flake8|mypy|sphinx-build|make|flask|tox|npm|npx|node|cargo|go|isort|black|ruff) +\S",
);

/// Makes the checks that run the command lines of an issue, or those its files call for.
pub(crate) fn checks(
    issue: &str,
    passages: &[Passage],
    pieces: &[Piece],
    project: &ProjectInUse,
    marker: &Marker,
) -> Vec<Check> {
    let notation = notation(project.language);
    let mut lines: Vec<String> = Vec::new();
    let mut add = |line: &str| {
        let line = line.trim();
        if !PREPARES.is_match(line) && !lines.iter().any(|other| other == line) {
            lines.push(line.to_owned());
        }
    };
    for piece in pieces {
        if let Piece::Commands(commands) = piece {
            for line in commands {
                add(line);
            }
        }
    }
    for passage in passages {
        let (Passage::Heading(text) | Passage::Prose(text)) = passage else {
            continue;
        };
        let own = |code: &str| {
            project
                .packages
                .iter()
                .any(|name| code.starts_with(&format!("{name} ")))
        };
        inline_code(text)
            .iter()
            .filter(|inline| TOOL.is_match(inline.code) || own(inline.code))
            .for_each(|inline| add(inline.code));
    }
    let mut files = files::files(issue, pieces, &lines);
    if lines.is_empty() {
        lines = files::called_for(issue, &mut files);
    }
    if lines.is_empty() {
        return Vec::new();
    }
    for piece in pieces {
        if let Piece::File {
            path,
            role: FileRole::Written(_),
            ..
        } = piece
        {
            lines.push(format!("cat {}", quoted(path)));
        }
    }
    let mut claims = claims::of_pieces(pieces, notation);
    if let Some(expected) = claims
        .iter()
        .any(|claim| claim.stance == Stance::Right)
        .then_some(Stance::Wrong)
    {
        unmarked(&mut claims, expected);
    }
    claims.extend(claims::of_prose(passages, notation));
    let ignored = ignored::checks(passages, &lines, &files, marker);
    let warnings = warned(&lines, &files);
    let mut found = vec![Check {
        command: CheckCommand::Shell(lines.join("\n")),
        steps: Vec::new(),
        files,
        claims,
        warnings,
        marker: marker.clone(),
    }];
    found.extend(ignored);
    found
}

/// Returns what a person should know before the lines run on the files.
fn warned(lines: &[String], files: &[CheckFile]) -> Vec<String> {
    let texts = lines.iter().chain(files.iter().map(|file| &file.text));
    warnings(&texts.map(String::as_str).collect::<Vec<_>>())
}

/// Where one output is said to be right, one of which nothing is said is the wrong one.
fn unmarked(claims: &mut [Claim], stance: Stance) {
    for claim in claims.iter_mut().filter(|claim| claim.stance == Stance::Shown) {
        claim.stance = stance;
    }
}

fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', ""))
}
