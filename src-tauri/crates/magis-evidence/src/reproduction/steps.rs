//! The inputs of an issue as steps that a small program runs and records.

use crate::reproduction::check::{Check, CheckCommand, CheckFile, Claim, Marker, Said};
use crate::reproduction::claims;
use crate::reproduction::danger::warnings;
use crate::reproduction::notation::{Notation, notation};
use crate::reproduction::packages::ProjectInUse;
use crate::reproduction::passages::Passage;
use crate::reproduction::pieces::{FileRole, Input, Piece, has_extension};
use crate::reproduction::programs::{Steps, is_program};
use crate::reproduction::wording::{
    Inline, bare_calls, computes, inline_code, made_of, without_inline, without_strings,
};

/// How many blocks are also tried alone, and how many calls of the prose.
const ALONE: usize = 4;
const CALLS: usize = 8;

/// Makes the checks that run the inputs of an issue: all in one session, each block alone, and with the calls that
/// stand in the prose.
pub(crate) fn checks(passages: &[Passage], pieces: &[Piece], project: &ProjectInUse, marker: &Marker) -> Vec<Check> {
    let notation = notation(project.language);
    let mut pieces = with_lone_file(pieces, notation);
    claims::settle(&mut pieces, passages);
    let pieces = &pieces;
    let inputs: Vec<&Input> = pieces.iter().filter_map(input).collect();
    let files = given_files(pieces);
    let said = claims::of_prose(passages, notation);
    let make = |steps: Vec<String>, mut claims: Vec<Claim>| {
        claims.extend(said.iter().filter(|claim| !is_input(claim, &steps)).cloned());
        check(steps, claims, &files, project, marker)
    };
    let sources = |inputs: &[&Input]| inputs.iter().map(|input| input.source.clone()).collect::<Vec<_>>();
    let mut found = Vec::new();
    if !inputs.is_empty() {
        found.push(make(sources(&inputs), claims::of_pieces(pieces, notation)));
    }
    let mut blocks: Vec<usize> = inputs.iter().map(|input| input.block).collect();
    blocks.dedup();
    if blocks.len() > 1 {
        for block in blocks.iter().take(ALONE) {
            let within = of_block(pieces, *block);
            let own: Vec<&Input> = within.iter().filter_map(input).collect();
            let others = inputs.iter().filter(|input| input.block != *block);
            if needs(&own, &others.copied().collect::<Vec<_>>(), notation) {
                continue;
            }
            found.push(make(sources(&own), claims::of_pieces(&within, notation)));
        }
    }
    let calls = calls(passages, &inputs, notation);
    if !calls.is_empty() {
        let mut steps = sources(&inputs);
        steps.extend(calls);
        found.push(make(steps, claims::of_pieces(pieces, notation)));
    }
    found
}

fn input(piece: &Piece) -> Option<&Input> {
    match piece {
        Piece::Input(input) => Some(input),
        Piece::Output { .. } | Piece::Failure { .. } | Piece::File { .. } | Piece::Commands(_) => None,
    }
}

/// Where no input is shown but one file of code and no command, the file is the input.
fn with_lone_file(pieces: &[Piece], notation: &Notation) -> Vec<Piece> {
    let extension = notation.language.extension();
    let mut pieces = pieces.to_vec();
    let is_busy = pieces
        .iter()
        .any(|piece| matches!(piece, Piece::Input(_) | Piece::Commands(_)));
    let is_code = |piece: &&mut Piece| matches!(piece, Piece::File { path, role: FileRole::Given, .. } if has_extension(path, extension) && !path.ends_with("conf.py"));
    let mut files: Vec<&mut Piece> = pieces.iter_mut().filter(is_code).collect();
    if let ([only], false) = (files.as_mut_slice(), is_busy)
        && let Piece::File { text, .. } = &**only
    {
        **only = Piece::Input(Input {
            source: text.clone(),
            block: 0,
            line: 1,
        });
    }
    pieces
}

/// Returns the pieces from the first input of a block up to the first input of another.
fn of_block(pieces: &[Piece], block: usize) -> Vec<Piece> {
    let mut inside = false;
    let mut found = Vec::new();
    for piece in pieces {
        if let Some(input) = input(piece) {
            inside = input.block == block;
        }
        if inside {
            found.push(piece.clone());
        }
    }
    found
}

/// Returns whether inputs use a name that others bind and they do not.
fn needs(own: &[&Input], others: &[&Input], notation: &Notation) -> bool {
    let bound = |inputs: &[&Input]| -> Vec<String> {
        let lines = inputs
            .iter()
            .flat_map(|input| notation.binds.captures_iter(&input.source));
        let names = lines.flat_map(|parts| {
            parts[1]
                .split(',')
                .map(|name| name.trim().to_owned())
                .collect::<Vec<_>>()
        });
        names.filter(|name| !name.is_empty()).collect()
    };
    let here = bound(own);
    let is_used = |name: &String| own.iter().any(|input| uses(&input.source, name));
    bound(others).iter().any(|name| !here.contains(name) && is_used(name))
}

/// Returns the calls that the title and the prose name and no input already is, behind what the prose binds for them.
fn calls(passages: &[Passage], inputs: &[&Input], notation: &Notation) -> Vec<String> {
    let texts = || {
        passages.iter().filter_map(|passage| match passage {
            Passage::Heading(text) | Passage::Prose(text) => Some(text),
            Passage::Block(_) => None,
        })
    };
    let parses = |code: &str| notation.parses(code);
    let (stated, others): (Vec<Inline<'_>>, Vec<Inline<'_>>) = texts()
        .flat_map(|text| inline_code(text))
        .partition(Inline::is_stated_as_made);
    let is_stated = |code: &str| {
        let is_it = |inline: &Inline<'_>| inline.code == code;
        stated.iter().any(is_it) && !others.iter().any(is_it)
    };
    // `'insert into foo(a)'` is a string, and calls nothing.
    let is_call = |code: &str| computes(&without_strings(code)) && !is_stated(code);
    let mut found: Vec<String> = Vec::new();
    for text in texts() {
        let inline = inline_code(text)
            .into_iter()
            .map(|inline| inline.code)
            .filter(|code| is_call(code));
        let made: Vec<String> = made_of(text).into_iter().map(|(call, _)| call).collect();
        let text = without_inline(text, |code| !is_call(code));
        for code in made.iter().map(String::as_str).chain(inline).chain(bare_calls(&text)) {
            let is_new = !found.iter().any(|other| other.contains(code))
                && !inputs.iter().any(|input| input.source.contains(code));
            if is_new && !names_alone(code) && parses(code) {
                found.push(code.to_owned());
            }
        }
    }
    found.truncate(CALLS);
    let statements = texts().flat_map(|text| inline_code(text)).map(|inline| inline.code);
    let mut bindings: Vec<String> = Vec::new();
    for code in statements.filter(|code| parses(code)) {
        let is_used = |name: &str| found.iter().any(|other| other != code && uses(other, name));
        if bound_by(code, notation).iter().any(|name| is_used(name)) && !bindings.iter().any(|other| other == code) {
            bindings.push(code.to_owned());
        }
    }
    // What is only a part of a binding is no call.
    found.retain(|call| !bindings.iter().any(|binding| binding.contains(call)));
    if !found.is_empty() {
        found.splice(0..0, bindings);
    }
    found
}

/// Returns whether code of prose only names a function, `load()`, or is of the inside of one, `self.load(path).run()`: neither is an example.
fn names_alone(code: &str) -> bool {
    let is_inside = ["self.", "cls.", "super(", "this."]
        .iter()
        .any(|own| code.starts_with(own));
    code.ends_with("()") && (is_inside || !code.replace("()", "").contains(['(', '[', '{', '"', '\'']))
}

/// Returns whether a claim of the prose only repeats an input, or the call whose value a name is bound to.
fn is_input(claim: &Claim, steps: &[String]) -> bool {
    let Said::Prints(text) = &claim.what else { return false };
    let text = text.trim();
    let is_repeated = |line: &str| {
        let line = line.trim().trim_end_matches(';');
        let bound = line.strip_suffix(text).filter(|_| text.ends_with(')'));
        line == text || bound.is_some_and(|name| name.ends_with("= "))
    };
    steps.iter().flat_map(|step| step.lines()).any(is_repeated)
}

/// Returns the names that a statement of prose binds.
fn bound_by<'c>(code: &'c str, notation: &Notation) -> Vec<&'c str> {
    let Some(parts) = notation.binding.captures(code) else {
        return Vec::new();
    };
    let names = parts.get(1).or_else(|| parts.get(2)).map_or("", |names| names.as_str());
    let last = |name: &'_ str| -> usize { name.trim_end().rfind(' ').map_or(0, |at| at + 1) };
    names.split(',').map(|name| name[last(name)..].trim()).collect()
}

/// Returns whether code uses a name, other than as the keyword of an argument.
fn uses(code: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        let is_keyword = after.trim_start().starts_with('=') && !after.trim_start().starts_with("==");
        !name.is_empty() && !before.ends_with(is_part) && !after.starts_with(is_part) && !is_keyword
    })
}

/// Returns a check with another script in the place of its own, of which the issue says nothing: whoever wrote it judges what it shows.
pub fn edited(original: &Check, script: &str, project: &ProjectInUse, marker: &Marker) -> Check {
    match &original.command {
        CheckCommand::Python(_) | CheckCommand::JavaScript(_) | CheckCommand::Rust => {
            let given = original.files.iter().filter(|file| !is_program(&file.path));
            let given: Vec<CheckFile> = given.cloned().collect();
            check(vec![script.to_owned()], Vec::new(), &given, project, marker)
        }
        CheckCommand::Shell(_) => Check {
            command: CheckCommand::Shell(script.to_owned()),
            claims: Vec::new(),
            warnings: warnings(&[script]),
            ..original.clone()
        },
    }
}

fn given_files(pieces: &[Piece]) -> Vec<CheckFile> {
    let given = |piece: &Piece| match piece {
        Piece::File {
            path,
            text,
            role: FileRole::Given,
        } if !is_program(path) => Some(CheckFile {
            path: path.clone(),
            text: text.clone(),
        }),
        _ => None,
    };
    pieces.iter().filter_map(given).collect()
}

fn check(
    steps: Vec<String>,
    claims: Vec<Claim>,
    files: &[CheckFile],
    project: &ProjectInUse,
    marker: &Marker,
) -> Check {
    let texts = claims.iter().map(|claim| match &claim.what {
        Said::Prints(text) => text.as_str(),
        Said::Raises { .. } | Said::Hangs | Said::Agrees => "",
    });
    let run = Steps {
        project,
        sources: &steps,
        texts: texts.collect(),
        marker,
    };
    let (command, program) = run.program();
    let mut files = files.to_vec();
    let sources = steps
        .iter()
        .chain(files.iter().map(|file| &file.text))
        .map(String::as_str);
    let warnings = warnings(&sources.collect::<Vec<_>>());
    files.extend(program);
    Check {
        command,
        files,
        steps,
        claims,
        warnings,
        marker: marker.clone(),
    }
}
