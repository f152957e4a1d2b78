//! Checks of command lines: the files an issue shows, written beside each other, and the lines it runs upon them.
//!
//! Nothing here is of one language, but for the tools known by the files they read.

use crate::reproduction::check::{Check, CheckFile, Claim, Command, Marker};
use crate::reproduction::claims;
use crate::reproduction::danger::warnings;
use crate::reproduction::passages::Passage;
use crate::reproduction::pattern::Pattern;
use crate::reproduction::pieces::{FileRole, Piece, file_names};
use crate::reproduction::wording::{Stance, inline_code};

static PREPARES: Pattern = Pattern::new(
    r"^(?:sudo |python[\d.]* -m )?(?:pip[\d.]*|apt(?:-get)?|conda|mamba|brew|npm (?:i|install)|yarn add|virtualenv|venv|git|cd|source|deactivate|ls|pwd|workon|wget|curl|open|clear|\.)\b",
);
static TOOL: Pattern = Pattern::new(
    r"^(?:[A-Z_]+=\S+ +)*(?:python[\d.]*|py\.test|pytest|pylint|flake8|mypy|sphinx-build|make|flask|tox|npm|npx|node|cargo|go|isort|black|ruff) +\S",
);
static TESTS: Pattern = Pattern::new(r"(?m)^\s*(?:async )?def test\w*\(|^class Test\w*");
static EXTENSION: Pattern = Pattern::new(r"\bsphinx\.ext\.(\w+)");
static FRAME_FILE: Pattern = Pattern::new(r"\b([\w-]+\.py)(?:::|:\d+)");

/// Makes the checks that run the command lines of an issue, or those its files call for.
pub(crate) fn checks(
    issue: &str,
    passages: &[Passage],
    pieces: &[Piece],
    packages: &[String],
    marker: &Marker,
) -> Vec<Check> {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |line: &str| {
        let line = line.trim();
        if !PREPARES.is_match(line) && !lines.iter().any(|other| other == line) {
            lines.push(line.to_owned());
        }
    };
    for piece in pieces {
        if let Piece::Commands(commands) = piece {
            commands.iter().for_each(|line| add(line));
        }
    }
    for passage in passages {
        let (Passage::Heading(text) | Passage::Prose(text)) = passage else {
            continue;
        };
        let own = |code: &str| packages.iter().any(|name| code.starts_with(&format!("{name} ")));
        inline_code(text)
            .iter()
            .filter(|inline| TOOL.is_match(inline.code) || own(inline.code))
            .for_each(|inline| add(inline.code));
    }
    let mut files = files(issue, pieces, &lines);
    if lines.is_empty() {
        lines = called_for(issue, &mut files);
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
    let mut claims = claims::of_pieces(pieces);
    if let Some(expected) = claims
        .iter()
        .any(|claim| claim.stance == Stance::Right)
        .then_some(Stance::Wrong)
    {
        unmarked(&mut claims, expected);
    }
    claims.extend(claims::of_prose(passages));
    let texts = lines
        .iter()
        .map(String::as_str)
        .chain(files.iter().map(|file| file.text.as_str()));
    let warnings = warnings(texts);
    vec![Check {
        command: Command::Shell(lines.join("\n")),
        steps: Vec::new(),
        files,
        claims,
        warnings,
        marker: marker.clone(),
    }]
}

/// Where one output is said to be right, one of which nothing is said is the wrong one.
fn unmarked(claims: &mut [Claim], stance: Stance) {
    for claim in claims.iter_mut().filter(|claim| claim.stance == Stance::Shown) {
        claim.stance = stance;
    }
}

/// The files with names, and the Python blocks without one under the names that commands or outputs use.
fn files(issue: &str, pieces: &[Piece], lines: &[String]) -> Vec<CheckFile> {
    let mut files: Vec<CheckFile> = Vec::new();
    for piece in pieces {
        if let Piece::File {
            path,
            text,
            role: FileRole::Given,
        } = piece
        {
            files.retain(|file| file.path != *path);
            files.push(CheckFile {
                path: path.clone(),
                text: text.clone(),
            });
        }
    }
    let named = lines
        .iter()
        .flat_map(|line| file_names(line))
        .filter(|name| name.ends_with(".py"));
    let shown = FRAME_FILE
        .captures_iter(issue)
        .filter_map(|parts| parts.get(1))
        .map(|part| part.as_str());
    let mut names: Vec<String> = named
        .chain(shown.filter(|name| name.starts_with("test")))
        .map(str::to_owned)
        .collect();
    names.retain(|name| !files.iter().any(|file| file.path == *name));
    let mut unique: Vec<String> = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    let mut names = unique.into_iter();
    for piece in pieces {
        let Piece::Input(input) = piece else { continue };
        let is_test = TESTS.is_match(&input.source);
        let fallback = is_test.then(|| format!("test_reproduction_{}.py", files.len() + 1));
        if let Some(path) = names.next().or(fallback) {
            files.push(CheckFile {
                path,
                text: format!("{}\n", input.source),
            });
        }
    }
    files
}

/// Returns the command lines that the files call for by themselves: tests are run, documents are built.
fn called_for(issue: &str, files: &mut [CheckFile]) -> Vec<String> {
    let tests: Vec<String> = files
        .iter()
        .filter(|file| file.path.ends_with(".py") && TESTS.is_match(&file.text))
        .map(|file| quoted(&file.path))
        .collect();
    if !tests.is_empty() {
        return vec![format!("python -m pytest {}", tests.join(" "))];
    }
    let has_templates = files.iter().any(|file| file.path.starts_with("_templates/"));
    let has_document = files.iter().any(|file| file.path.ends_with(".rst"));
    let Some(settings) = files
        .iter_mut()
        .find(|file| file.path == "conf.py")
        .filter(|_| has_document)
    else {
        return Vec::new();
    };
    let mut extensions: Vec<String> = Vec::new();
    for parts in EXTENSION.captures_iter(issue) {
        if !extensions.contains(&parts[0].to_owned()) {
            extensions.push(parts[0].to_owned());
        }
    }
    let templates = if has_templates {
        "templates_path = ['_templates']\n"
    } else {
        ""
    };
    // The text of a page beside the markup: whatever an issue shows of the outcome is in one of them.
    settings.text = format!(
        "import os, sys\nsys.path.insert(0, os.path.abspath('.'))\nextensions = {extensions:?}\n{templates}{}\n",
        settings.text
    );
    vec![
        "python -m sphinx -b text . _build/text".to_owned(),
        "cat _build/text/*.txt".to_owned(),
        "python -m sphinx -q -b html . _build/html".to_owned(),
    ]
}

fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', ""))
}
