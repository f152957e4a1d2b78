//! Outlines and skeletons of one small file a language.

#![expect(clippy::unwrap_used, reason = "a test says so by failing")]

use magis_core::RepoPath;
use magis_syntax::{outline, skeleton, skeleton_within};
use std::fmt::Write;

mod managed;
mod scripts;
mod systems;
mod web;

fn path(name: &str) -> RepoPath {
    RepoPath::new(name).unwrap()
}

/// Imports and symbols, one a line: kind, qualified name, span, the line the definition proper begins on, signature.
fn outlined(name: &str, text: &str) -> String {
    let found = outline(&path(name), text);
    let mut lines = String::new();
    for import in &found.imports {
        writeln!(
            lines,
            "{} imports {} {}",
            import.line,
            import.target,
            import.names.join(" ")
        )
        .unwrap();
    }
    for symbol in &found.symbols {
        let indent = "  ".repeat(symbol.depth as usize);
        let (kind, name, span) = (symbol.kind, &symbol.qualified_name, symbol.span);
        writeln!(
            lines,
            "{indent}{kind} {name} {span} from {}: {}",
            symbol.body_first, symbol.signature
        )
        .unwrap();
    }
    lines
}

fn shortened(name: &str, text: &str) -> String {
    skeleton(&path(name), text).unwrap().text
}

#[test]
fn the_innermost_definition_of_a_line_follows_the_nesting() {
    let found = outline(&path("a.py"), include_str!("../fixtures/sample.py"));
    let at = |line| found.innermost(line).map(|symbol| symbol.qualified_name.as_str());
    assert_eq!(
        [at(1), at(27), at(33), at(36), at(43), at(56)],
        [
            None,
            Some("opened"),
            Some("opened.inner"),
            Some("opened"),
            Some("Session"),
            Some("Session.value")
        ]
    );
}

#[test]
fn an_unknown_language_has_neither_symbols_nor_skeleton() {
    let found = outline(&path("a.txt"), "def f():\n    pass\n");
    assert_eq!((found.language, found.symbols.len(), found.lines), (None, 0, 2));
    assert_eq!(skeleton(&path("a.txt"), "x"), None);
}

#[test]
fn a_skeleton_gives_up_detail_after_detail_to_fit() {
    let text = include_str!("../fixtures/sample.py");
    let whole = skeleton(&path("a.py"), text).unwrap();
    let mut sizes = vec![whole.text.chars().count()];
    for (most, says) in [
        (790, "left out to fit: documentation\n"),
        (740, "functions within functions\n"),
        (736, "private definitions\n"),
        (700, "constants\n"),
        (300, "the other"),
    ] {
        let skeleton = skeleton_within(&path("a.py"), text, most).unwrap();
        sizes.push(skeleton.text.chars().count());
        assert!(sizes[sizes.len() - 1] <= most, "{} of {most}", sizes[sizes.len() - 1]);
        assert!(skeleton.text.contains(says), "{says} at {most}:\n{}", skeleton.text);
    }
    assert!(sizes.is_sorted_by(|a, b| a > b), "{sizes:?}");
}
