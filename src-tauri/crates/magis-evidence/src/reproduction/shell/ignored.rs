//! Checks of a setting that is said to be ignored: the same lines run with it and without it, and what comes of both is compared.
//!
//! An issue that says so states no output, but nothing more is needed: on the base both outputs are the same, and they are not where the setting counts.

use super::{quoted, warned};
use crate::reproduction::check::{About, Check, CheckCommand, CheckFile, Claim, Marker, Said};
use crate::reproduction::passages::Passage;
use crate::reproduction::pattern::Pattern;
use crate::reproduction::pieces::has_extension;
use crate::reproduction::wording::Stance;

static IGNORED: Pattern = Pattern::new(
    r"(?i)\b(?:(?:is|are|gets?|being) (?:\w+ )?ignored|ignor(?:es|ing)|(?:has|have|had|with|without|of) (?:no|any) effect|(?:do|does|did)(?:n.t| not) (?:\w+ )?(?:effect|affect|apply|work|matter)|not (?:being )?(?:applied|respected|hono[u]?red|considered|taken into account))\b",
);
static ASSIGNED: Pattern = Pattern::new(r"^(\w+) *(?::[^=]*)?=(?:[^=]|$)");

/// Makes a check for each setting of the files that the issue says is ignored.
pub(super) fn checks(passages: &[Passage], lines: &[String], files: &[CheckFile], marker: &Marker) -> Vec<Check> {
    let mut names: Vec<&str> = Vec::new();
    for file in files.iter().filter(|file| has_extension(&file.path, "py")) {
        let assigned = file.text.lines().filter_map(|line| ASSIGNED.captures(line)?.get(1));
        for name in assigned.map(|name| name.as_str()) {
            if !names.contains(&name) && is_ignored(passages, name) {
                names.push(name);
            }
        }
    }
    names.iter().map(|name| check(name, lines, files, marker)).collect()
}

/// Returns whether a sentence with the name says that something in it is ignored.
fn is_ignored(passages: &[Passage], name: &str) -> bool {
    let prose = passages.iter().filter_map(|passage| match passage {
        Passage::Heading(text) | Passage::Prose(text) => Some(text.as_str()),
        Passage::Block(_) => None,
    });
    let names = |sentence: &str| {
        sentence
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == name)
    };
    prose
        .flat_map(|text| text.split(['\n', '.', ';']))
        .any(|sentence| IGNORED.is_match(sentence) && names(sentence))
}

fn check(name: &str, lines: &[String], files: &[CheckFile], marker: &Marker) -> Check {
    let same = format!("Nothing comes out differently without {name}.");
    let placed = |folder: &str, file: &CheckFile, text: String| CheckFile {
        path: format!("{folder}/{}", file.path),
        text,
    };
    let mut all: Vec<CheckFile> = files
        .iter()
        .map(|file| placed("with", file, file.text.clone()))
        .collect();
    all.extend(files.iter().map(|file| {
        let text = if has_extension(&file.path, "py") {
            without(name, &file.text)
        } else {
            file.text.clone()
        };
        placed("without", file, text)
    }));
    // A line that fails says nothing of the setting: 126 is the shell's own number for what cannot be run. Times and addresses differ in any two runs.
    let plain = r"sed -E 's/[0-9]+\.[0-9]+ ?s(ec(onds?)?)?//g; s/0x[0-9a-f]+//g'";
    let script = [
        format!("run() {{ (cd \"$1\" &&\n{}) 2>&1; }}", lines.join(" &&\n")),
        "with=$(run with) || { echo \"$with\" >&2; exit 126; }".to_owned(),
        "without=$(run without) || { echo \"$without\" >&2; exit 126; }".to_owned(),
        "echo \"$with\"".to_owned(),
        format!(
            "[ \"$(echo \"$with\" | {plain})\" != \"$(echo \"$without\" | {plain})\" ] || echo {}",
            quoted(&same)
        ),
    ];
    Check {
        command: CheckCommand::Shell(script.join("\n")),
        steps: Vec::new(),
        files: all,
        claims: vec![Claim {
            what: Said::Prints(same),
            stance: Stance::Wrong,
            about: About::Any,
        }],
        warnings: warned(lines, files),
        marker: marker.clone(),
    }
}

/// Returns a text without the statements that assign to a name.
fn without(name: &str, text: &str) -> String {
    let mut kept = Vec::new();
    let mut is_within = false;
    for line in text.lines() {
        let assigns = ASSIGNED.captures(line).is_some_and(|parts| &parts[1] == name);
        // What goes on behind the first line is indented, or closes a bracket.
        is_within = assigns || is_within && line.starts_with([' ', '\t', ')', ']', '}']);
        if !is_within {
            kept.push(line);
        }
    }
    kept.join("\n") + "\n"
}
