//! Well-formed, no worse, the same code; pieces of a file; and texts nobody would write.

#![expect(clippy::unwrap_used, reason = "a test says so by failing")]

use magis_core::{LineSpan, RepoPath};
use magis_syntax::{
    SourceLanguage, chunks, code_key, code_lines, extract_definition, fit_infill, misfit_calls, outline, parses_worse,
    same_code, skeleton, skeleton_within, statements_at, undefined_names, words_only,
};
use proptest::prelude::*;

fn path(name: &str) -> RepoPath {
    RepoPath::new(name).unwrap()
}

fn check_worse(name: &str, before: &str, after: &str, expected: Option<(u32, u32)>) {
    assert_eq!(parses_worse(&path(name), before, after), expected, "{after}");
}

fn check_same(name: &str, a: &str, b: &str, expected: bool) {
    assert_eq!(same_code(&path(name), a, b), expected, "{a}\n---\n{b}");
    assert_eq!(same_code(&path(name), b, a), expected, "{b}\n---\n{a}");
}

#[test]
fn a_change_that_breaks_the_text_parses_worse() {
    let python = "def f(a):\n    return a\n";
    check_worse("a.py", python, "def f(a, b):\n    return a + b\n", None);
    check_worse("a.py", python, "def f(a:\n    return a\n", Some((0, 2)));
    check_worse("a.py", python, "def f(a):\nreturn a\n", Some((0, 1)));
    check_worse("a.py", python, "def f(a):\n    b = a\n      return b\n", Some((0, 1)));
    check_worse(
        "a.py",
        python,
        "class A:\n    def f(a):\n        return a\n   def g(a):\n        return a\n",
        Some((0, 1)),
    );
    check_worse(
        "a.py",
        python,
        "if a:\n    @b\n    def f(a):\n        return a  # ok\n\n    # ok\nelse:\n  pass\n",
        None,
    );
    check_worse("a.py", "def f(:\n    pass\n", "def f(:\n    return\n", None);
    check_worse("a.rs", "fn f() {}\n", "fn f() { if a { }\n", Some((0, 1)));
    check_worse("a.txt", "a", "((((", None);
}

#[test]
fn layout_is_no_change_and_everything_else_is() {
    check_same("a.py", "f(a, b)\n", "f(\n    a,\n    b,\n)\n", true);
    check_same(
        "a.py",
        "if a:\n    b()\n    c()\n",
        "if a:\r\n  b( )\r\n\r\n  c()\r\n",
        true,
    );
    check_same("a.py", "if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n", false);
    check_same("a.py", "x = (1,)\n", "x = (1)\n", false);
    check_same("a.py", "x = a\n-b\n", "x = a - b\n", false);
    check_same("a.py", "x = 'a  b'\n", "x = 'a b'\n", false);
    check_same("a.py", "x = 1  # why\n", "x = 1 # why\n", true);
    check_same("a.py", "x = 1  # why\n", "x = 1  # how\n", false);
    check_same(
        "a.js",
        "function f() { return x }",
        "function f() {\n  return x\n}\n",
        true,
    );
    check_same("a.js", "return x", "return\nx", false);
    check_same(
        "a.rs",
        "fn f(a: u8) { g(a) }",
        "fn f(\n    a: u8,\n) {\n    g(a)\n}\n",
        true,
    );
    check_same("a.rs", "let x = \"a  b\";", "let x = \"a b\";", false);
    check_same("a.rs", "// a\nfn f() {}", "/* a */ fn f() {}", false);
    check_same("a.go", "x := []int{1, 2}", "x := []int{\n\t1,\n\t2,\n}", true);
    check_same("a.txt", "a  \nb\n", "a\nb", true);
    check_same("a.txt", "a b", "a  b", false);
}

fn check_chunks(name: &str, text: &str, max_lines: u32, expected: &[(u32, u32, Option<&str>)]) {
    let pieces = chunks(&path(name), text, max_lines);
    let pieces: Vec<_> = pieces
        .iter()
        .map(|c| (c.span.first(), c.span.last(), c.name.as_deref()))
        .collect();
    assert_eq!(pieces, expected, "{text}");
}

#[test]
fn chunks_are_functions_and_what_is_between() {
    let text = "import a\n\nx = 1\n\n\nclass A:\n    y = 1\n\n    def f(self):\n        def g():\n            pass\n        return g\n\n\ndef h():\n    a\n    b\n\n    c\n    d\n    e\n";
    check_chunks(
        "a.py",
        text,
        5,
        &[
            (1, 5, None),
            (6, 8, Some("A")),
            (9, 13, Some("A.f")),
            (14, 14, Some("A.f")),
            (15, 18, Some("h")),
            (19, 21, Some("h")),
        ],
    );
    check_chunks("a.txt", "a\nb\nc\n\nd\ne", 5, &[(1, 4, None), (5, 6, None)]);
    check_chunks("a.txt", "", 4, &[]);
}

#[test]
fn line_ends_and_byte_order_marks_change_nothing() {
    let plain = "import os\n\n\n@dec\ndef f(a,\n      b):\n    \"\"\"Doc.\n\n    More.\n    \"\"\"\n    x = a\n    return x\n\n\nclass A:\n    def g(self): ...\n";
    for name in ["a.py", "a.pyi"] {
        let expected = outline(&path(name), plain);
        assert_eq!(
            expected
                .symbols
                .iter()
                .map(|s| s.qualified_name.as_str())
                .collect::<Vec<_>>(),
            ["f", "A", "A.g"]
        );
        for other in [
            plain.replace('\n', "\r\n"),
            format!("\u{feff}{plain}"),
            plain.trim_end().to_owned(),
        ] {
            assert_eq!(outline(&path(name), &other), expected);
            assert_eq!(skeleton(&path(name), &other), skeleton(&path(name), plain));
            assert_eq!(
                extract_definition(SourceLanguage::Python, &other, "A.g").as_deref(),
                Some("def g(self): ...\n")
            );
        }
    }
}

#[test]
fn the_deepest_nesting_does_not_overflow() {
    for (open, close) in [("(", ")"), ("{", "}"), ("function f(){", "}")] {
        for name in ["a.py", "a.js", "a.rs", "a.cpp"] {
            everything(name, &(open.repeat(200) + &close.repeat(200)));
        }
        let text = open.repeat(10_000) + &close.repeat(10_000);
        let symbols = outline(&path("a.js"), &text).symbols;
        assert!(symbols.len() < 100, "{} symbols", symbols.len());
        assert!(
            skeleton_within(&path("a.js"), &text, 500).is_some_and(|skeleton| skeleton.text.chars().count() <= 500)
        );
    }
}

#[test]
fn lines_of_code_are_told_from_words_and_brackets() {
    let check = |name: &str, text: &str, expected: &[u32]| {
        let all = LineSpan::new(1, text.lines().count() as u32).unwrap();
        assert_eq!(code_lines(&path(name), text, all), expected, "{text}");
    };
    let python =
        "def f(a):\n    \"\"\"What f is.\n\n    In words.\"\"\"\n    # why\n    return g(\n        a,  # this\n    )\n";
    check("a.py", python, &[1, 6, 7]);
    check(
        "a.rs",
        "/// What f is.\nfn f(a: u8) -> u8 {\n    // why\n    a\n}\n",
        &[2, 4],
    );
    check("a.unknown", "one\n\ntwo\n", &[1, 3]);
    let third = LineSpan::new(6, 6).unwrap();
    assert_eq!(code_lines(&path("a.py"), python, third), [6]);
}

#[test]
fn a_megabyte_of_garbage_is_survived() {
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b' ' + (state >> 24) as u8 % 95)
    };
    let garbage: String = (0..1_000_000)
        .map(|at| if at % 80 == 79 { '\n' } else { next() })
        .collect();
    assert_eq!(outline(&path("a.rs"), &garbage).lines, 12_500);
    for name in ["a.py", "a.ts", "a.rs", "a.cpp"] {
        everything(name, &garbage[..4_000]);
    }
}

fn everything(name: &str, text: &str) {
    let path = path(name);
    let lines = text.lines().count() as u32;
    let found = outline(&path, text);
    assert!(found.symbols.iter().all(|symbol| symbol.span.last() <= lines.max(1)));
    let pieces = chunks(&path, text, 40);
    assert_eq!(pieces.iter().map(|piece| piece.span.lines()).sum::<u32>(), lines);
    if let Some(skeleton) = skeleton_within(&path, text, 500) {
        assert!(skeleton.text.chars().count() <= 500);
        assert!(skeleton.kept_lines <= skeleton.total_lines);
    }
    assert!(same_code(&path, text, text));
    assert_eq!(parses_worse(&path, text, text), None);
    assert_eq!(code_key(&path, text), code_key(&path, text));
    assert!(!words_only(&path, text, text));
    assert_eq!(undefined_names(&path, text, text), Vec::<String>::new());
    assert_eq!(misfit_calls(&path, text, text), []);
    undefined_names(&path, "", text);
    misfit_calls(&path, "", text);
    for line in [1, lines / 2, lines] {
        let spans = statements_at(&path, text, line);
        assert!(spans.iter().all(|span| span.last() <= lines));
    }
    let cut = text.len() / 2;
    if text.len() < 4_000 && text.is_char_boundary(cut) {
        fit_infill(&path, &text[..cut], text, &text[cut..], "    x\n");
    }
    if let Some(language) = SourceLanguage::of(&path) {
        extract_definition(language, text, "f");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(
        which in 0_usize..9,
        words in proptest::collection::vec(
            prop_oneof![
                "[ \\t]{0,8}", Just("\n".to_owned()), Just("\r\n".to_owned()), Just("def f(".to_owned()), Just("class A:".to_owned()),
                Just("fn f() {".to_owned()), Just("}".to_owned()), Just("):".to_owned()), Just("\"\"\"".to_owned()), Just("/**".to_owned()),
                Just("*/".to_owned()), Just("```".to_owned()), Just("@x".to_owned()), Just("#[x]".to_owned()), Just("import a".to_owned()),
                Just("const x = ".to_owned()), Just("\u{feff}".to_owned()), Just("ü码".to_owned()), "\\PC{0,6}",
            ],
            0..40,
        ),
    ) {
        everything(["a.py", "a.js", "a.ts", "a.tsx", "a.rs", "a.go", "a.java", "a.c", "a.cpp"][which], &words.concat());
    }
}
