//! Whatever strangers and persons wrote, into whatever is read: no character that a terminal obeys, that turns the direction of the text, or that is not seen
//! comes out on standard output or standard error.

use crate::past_run::record;
use crate::support::{Answer, Program};
use magis_testkit::FixtureRepo;
use magis_testkit::gguf::{Gguf, text};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

/// What a terminal obeys, what turns, and what hides; each led to something raw in one program or another.
const PIECES: [&str; 14] = [
    "\u{1b}[2J",
    "\u{1b}]0;owned\u{7}",
    "\u{1b}[31m",
    "\u{9b}1A",
    "\u{8}\u{8}\u{8}",
    "\r",
    "\u{202e}evil",
    "\u{2066}x\u{2069}",
    "\u{200b}",
    "\u{feff}",
    "\u{ad}",
    "\u{e0041}",
    "\u{2028}",
    "\u{7f}",
];

/// Returns words among which such characters stand.
fn words() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        2 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => proptest::collection::vec(any::<char>(), 0..6).prop_map(String::from_iter),
        1 => "[a-z ]{1,8}",
    ];
    proptest::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat().replace('\0', ""))
}

/// Fails where anything raw stands in what a command said. The list is written anew here, so that a gap in the program's own is seen.
fn check(what: &str, answer: &Answer) {
    assert!(matches!(answer.code, Some(0..=5)), "{what}: {answer:?}");
    for (stream, said) in [("output", &answer.out), ("error", &answer.err)] {
        let raw = said.char_indices().find(|(at, c)| {
            let is_obeyed = c.is_control() && !matches!(c, '\n' | '\t');
            let is_turning =
                matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            // The one that joins two pictures into one is left there.
            let is_hidden = matches!(
                c,
                '\u{ad}' | '\u{200b}' | '\u{2028}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
            );
            let is_own_colour = *c == '\u{1b}' && is_colour(&said[*at..]);
            (is_obeyed || is_turning || is_hidden) && !is_own_colour
        });
        assert_eq!(raw, None, "{what}: on standard {stream}: {said:?}");
    }
}

/// Returns whether text begins with one of the colours that the program uses.
fn is_colour(text: &str) -> bool {
    let sequences = ["0", "1", "2", "31", "32", "33", "36", "1;36"].map(|code| format!("\u{1b}[{code}m"));
    sequences.iter().any(|sequence| text.starts_with(sequence))
}

/// Returns the places of all strings in a value.
fn strings<'v>(value: &'v mut Value, found: &mut Vec<&'v mut String>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter_mut().for_each(|value| strings(value, found)),
        Value::Object(values) => values.values_mut().for_each(|value| strings(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Adds words to strings of a value, here and there.
fn spoil(value: &mut Value, changes: &[(Index, String)]) {
    let mut all = Vec::new();
    strings(value, &mut all);
    for (place, words) in changes {
        if !all.is_empty() {
            let at = place.index(all.len());
            all[at].push_str(words);
        }
    }
}

/// Returns the file of a run that was recorded.
fn exported() -> Value {
    let (program, fixture) = (Program::new(), FixtureRepo::new());
    fixture
        .write("tally/filters.py", "def until():\n    pass\n")
        .commit("First");
    record(&program.data(), fixture.root(), usize::MAX);
    serde_json::from_str(&program.run(["runs", "export", "1"]).out).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_a_run_from_elsewhere(
        changes in proptest::collection::vec((any::<Index>(), words()), 1..40),
        sought in words(),
    ) {
        let program = Program::new();
        let mut archive = exported();
        spoil(&mut archive, &changes);
        let file = program.file("run.json", archive.to_string());
        check("import", &program.run(["runs", "import", &file]));
        for arguments in [
            &["runs", "list"][..],
            &["runs", "list", "--json"],
            &["runs", "show", "1"],
            &["runs", "show", "1", "--json"],
            &["runs", "show", "1", "--calls"],
            &["--color", "always", "runs", "show", "1"],
            &["runs", "search", "until"],
            &["runs", "search", &sought],
            &["apply", "1", "--worktree"],
            &["memory", "status"],
            &["rerun", "1"],
            &["doctor"],
        ] {
            check(&arguments.join(" "), &program.run(arguments));
        }
    }

    #[test]
    fn of_what_is_typed_and_of_files_that_are_named(typed in words(), content in words()) {
        let program = Program::new();
        let fixture = FixtureRepo::new();
        fixture.write("a.py", "a = 1\n").commit("First");
        let root = fixture.root().to_str().unwrap();
        let model = Gguf::new(&content)
            .with("general.name", text(&content))
            .with("tokenizer.ggml.model", text(&content));
        let model = program.file("model.gguf", model.bytes());
        let file = program.file("file", &content);
        let typed = typed.as_str();
        for arguments in [
            &[typed][..],
            &["--color", typed],
            &["runs", typed],
            &["runs", "show", typed],
            &["runs", "import", typed],
            &["runs", "import", &file],
            &["runs", "search", typed],
            &["memory", "import", "--repo", root, &file],
            &["memory", "status", "--repo", typed],
            &["memory", "show", "--repo", root, typed],
            &["models", "fetch", typed],
            &["models", "add", &model],
            &["models", "add", &file],
            &["models", "verify", typed],
            &["models", "list"],
            &["locate", "--repo", typed, "--issue", &file],
            &["locate", "--repo", root, "--issue", &file],
            &["locate", "--repo", root, "--issue", typed],
            &["solve", "--repo", root, "--issue", &file, "--model", typed],
            &["solve", "--repo", root, "--issue", &file, "--base", typed],
            &["tests", "list", "--repo", typed],
            &["doctor", "--repo", typed],
        ] {
            check(&format!("{arguments:?}"), &program.run(arguments));
        }
    }

    #[test]
    fn of_a_repository(
        names in proptest::collection::vec(words(), 1..4),
        texts in proptest::collection::vec(words(), 1..4),
        said in words(),
    ) {
        let (program, fixture) = (Program::new(), FixtureRepo::new());
        for (name, text) in names.iter().zip(texts.iter().cycle()) {
            let name: String = name.replace('/', "_").chars().take(60).collect();
            fixture.write(&format!("src/{name}.py"), format!("def found():\n    return '{text}'\n"));
        }
        fixture.write("a.py", format!("# {said}\ndef found():\n    pass\n"));
        fixture.write("Makefile", format!("test:\n\techo '{said}'\n"));
        fixture.commit(&said);
        let root = fixture.root().to_str().unwrap();
        // A branch of a name that git itself takes.
        let head = fixture.git2().head().unwrap().peel_to_commit().unwrap().id();
        let branch: String = said.chars().filter(|c| !c.is_ascii() && !c.is_control()).take(20).collect();
        let made = fixture.git2().reference(&format!("refs/heads/b{branch}"), head, true, "made");
        if made.is_ok() {
            fixture.git2().set_head(&format!("refs/heads/b{branch}")).unwrap();
        }
        let issue = program.file("issue.md", "found() returns the wrong text");
        for arguments in [
            &["doctor", "--repo", root][..],
            &["locate", "--repo", root, "--issue", &issue],
            &["locate", "--repo", root, "--issue", &issue, "--json"],
            &["--color", "always", "locate", "--repo", root, "--issue", &issue],
            &["tests", "list", "--repo", root],
            &["tests", "list", "--repo", root, "--json"],
            &["memory", "status", "--repo", root],
            &["memory", "status", "--repo", root, "--json"],
        ] {
            check(&format!("{arguments:?}"), &program.run(arguments));
        }
    }
}
