//! The effect of each signal on small made-up repositories, and that equal input gives equal order.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use magis_core::{BlobId, Evidence, Issue, RepoPath};
use magis_search::{Index, IndexPlace, IssueQuery, Ranking, SourceFile};

fn index(files: &[(&str, &str)]) -> Index {
    let document = |(path, text): &(&str, &str)| SourceFile {
        path: RepoPath::new(*path).unwrap(),
        blob: BlobId(format!("{:x}", text.len())),
        text: (*text).to_owned(),
    };
    Index::build(files.iter().map(document), IndexPlace::Memory).unwrap()
}

fn rank(files: &[(&str, &str)], issue: &str) -> Ranking {
    index(files)
        .rank(&IssueQuery::of(&Issue::new(issue).unwrap(), &[]), 20)
        .unwrap()
}

fn paths(ranking: &Ranking) -> Vec<&str> {
    ranking
        .candidates
        .iter()
        .map(|candidate| candidate.path.as_str())
        .collect()
}

fn evidence<'r>(ranking: &'r Ranking, path: &str) -> &'r [Evidence] {
    let found = ranking
        .candidates
        .iter()
        .find(|candidate| candidate.path.as_str() == path);
    found.map_or(&[], |candidate| &candidate.evidence)
}

/// The first file of the ranking is `expected`.
fn check(files: &[(&str, &str)], issue: &str, expected: &str) -> Ranking {
    let ranking = rank(files, issue);
    assert_eq!(
        paths(&ranking).first(),
        Some(&expected),
        "{issue:?}: {:#?}",
        ranking.candidates
    );
    ranking
}

#[test]
fn rare_words_of_the_text_decide() {
    let files = [
        ("a.py", "x = 'walrus and parser'\n"),
        ("b.py", "x = 'parser'\n"),
        ("c.py", "x = 'parser'\n"),
    ];
    let ranking = check(&files, "The parser fails on walrus", "a.py");
    let terms = evidence(&ranking, "a.py").iter().find_map(|evidence| match evidence {
        Evidence::Text { terms } => Some(terms.clone()),
        _ => None,
    });
    assert_eq!(terms.unwrap_or_default().first().map(String::as_str), Some("walrus"));
}

#[test]
fn a_quoted_path_wins_over_text() {
    let text = "def load(stream):\n    'loads a broken stream from cache'\n";
    let files = [
        ("src/cache.py", text),
        ("src/stream.py", text),
        ("src/net/other.py", "y = 1\nstream = 2\n"),
    ];
    for quoted in [
        "src/net/other.py",
        "net/other.py",
        "src\\net\\other.py",
        "/home/me/x/src/net/other.py:2",
    ] {
        let ranking = check(&files, &format!("Broken stream\n\nSee `{quoted}`"), "src/net/other.py");
        let seen = evidence(&ranking, "src/net/other.py");
        assert!(
            seen.iter()
                .any(|evidence| matches!(evidence, Evidence::QuotedPath { .. })),
            "{quoted}: {seen:?}"
        );
    }
}

#[test]
fn who_defines_a_name_ranks_above_who_uses_it() {
    let files = [
        ("pkg/shapes.py", "def bounding_box(shape):\n    return shape\n"),
        (
            "pkg/user.py",
            "from elsewhere import bounding_box\n\nbounding_box(1)\nbounding_box(2)\nbounding_box(3)\n",
        ),
    ];
    let ranking = check(&files, "`bounding_box` is wrong", "pkg/shapes.py");
    let name = Evidence::DefinesName {
        name: "bounding_box".to_owned(),
    };
    assert!(evidence(&ranking, "pkg/shapes.py").contains(&name));
    assert!(!evidence(&ranking, "pkg/user.py").contains(&name));
}

#[test]
fn names_are_known_in_each_language() {
    let user = "bounding_box boundingBox BoundingBox bounding_box boundingBox BoundingBox";
    for (path, text, name) in [
        (
            "src/a.rs",
            "pub fn bounding_box(x: u8) -> u8 {\n    x\n}\n",
            "bounding_box",
        ),
        (
            "a.go",
            "package a\n\nfunc BoundingBox(x int) int {\n\treturn x\n}\n",
            "BoundingBox",
        ),
        (
            "A.java",
            "class A {\n    int boundingBox(int x) {\n        return x;\n    }\n}\n",
            "boundingBox",
        ),
        (
            "a.js",
            "export function boundingBox(x) {\n  return x;\n}\n",
            "boundingBox",
        ),
        (
            "a.ts",
            "export function boundingBox(x: number): number {\n  return x;\n}\n",
            "boundingBox",
        ),
        ("a.cpp", "int boundingBox(int x) {\n  return x;\n}\n", "boundingBox"),
    ] {
        check(
            &[("z/notes.py", user), (path, text)],
            &format!("Result of `{name}` is wrong"),
            path,
        );
    }
}

#[test]
fn the_innermost_frame_inside_the_repository_is_meant() {
    let files = [
        ("app/main.py", "def main():\n    load()\n"),
        ("app/load.py", "def load():\n    parse()\n"),
        ("app/parse.py", "def parse():\n    raise ValueError\n"),
    ];
    let issue = "It breaks\n```\nTraceback (most recent call last):\n  File \"/x/app/main.py\", line 2, in main\n  File \
                 \"/x/app/parse.py\", line 2, in parse\n  File \"/usr/lib/json/decoder.py\", line 3, in decode\nValueError\n```";
    let ranking = check(&files, issue, "app/parse.py");
    assert!(evidence(&ranking, "app/parse.py").contains(&Evidence::TraceFrame { depth: 1 }));
    assert!(evidence(&ranking, "app/main.py").contains(&Evidence::TraceFrame { depth: 2 }));
}

#[test]
fn a_dotted_module_is_its_file() {
    let text = "def f(x):\n    return x\n";
    let files = [
        ("pkg/core/alpha.py", text),
        ("pkg/core/beta.py", text),
        ("pkg/gamma.py", text),
    ];
    check(&files, "f fails\n\nI call pkg.core.beta.f with 1", "pkg/core/beta.py");
}

#[test]
fn tests_and_documents_rank_lower_but_stay() {
    let text = "def explode(bomb):\n    'explode the bomb'\n";
    let files = [
        ("tests/test_bomb.py", text),
        ("docs/bomb.rst", "explode the bomb"),
        ("pkg/bomb.py", text),
    ];
    let ranking = check(&files, "explode does not explode the bomb", "pkg/bomb.py");
    assert_eq!(ranking.candidates.len(), 3);
    assert_eq!(ranking.considered, 3);
    let demoted = Evidence::Demoted {
        why: "a test".to_owned(),
    };
    assert!(evidence(&ranking, "tests/test_bomb.py").contains(&demoted));
}

#[test]
fn generated_text_ranks_lower() {
    let text = "def explode(bomb):\n    return bomb\n";
    let generated = format!("# Code generated by a program. DO NOT EDIT.\n{text}");
    check(
        &[("a_bomb.py", &generated), ("b_bomb.py", text)],
        "explode fails",
        "b_bomb.py",
    );
}

#[test]
fn a_neighbour_by_import_of_the_best_file_is_lifted() {
    let filler = "# shared word\n";
    let files = [
        (
            "pkg/best.py",
            "from pkg.near import thing\n\ndef quaggle(shared):\n    return thing\n",
        ),
        ("pkg/far.py", filler),
        ("pkg/near.py", filler),
    ];
    let ranking = check(&files, "quaggle fails with a shared word", "pkg/best.py");
    assert_eq!(paths(&ranking), ["pkg/best.py", "pkg/near.py", "pkg/far.py"]);
    let best = RepoPath::new("pkg/best.py").unwrap();
    assert!(evidence(&ranking, "pkg/near.py").contains(&Evidence::Neighbour { of: best }));
}

#[test]
fn a_matching_function_lifts_a_long_file() {
    let filler = (0..40)
        .map(|n| format!("def other_{n}(x):\n    return x + {n}\n\n"))
        .collect::<Vec<_>>()
        .concat();
    let long = format!("{filler}def fold(matrix):\n    'fold a sparse matrix by column'\n    return matrix\n");
    let scattered = format!("matrix = 1\n{filler}# fold\n{filler}sparse = 2\n{filler}# column\n");
    check(
        &[("a.py", &scattered), ("b.py", &long)],
        "Cannot fold a sparse matrix by column",
        "b.py",
    );
}

#[test]
fn the_best_functions_of_a_file_are_given_by_name_and_lines() {
    let text = "class Net:\n    def open(self):\n        return 1\n\n    def close_socket(self):\n        'leaks the handle'\n        \
                return 2\n\n    def send(self):\n        return 3\n";
    let index = index(&[("net.py", text)]);
    let query = IssueQuery::of(&Issue::new("Handle leaks when the socket is closed").unwrap(), &[]);
    let symbols = index.symbols_for(&query, &RepoPath::new("net.py").unwrap(), 2).unwrap();
    let first = symbols
        .first()
        .map(|symbol| (symbol.qualified_name.as_str(), symbol.span.first()));
    assert_eq!(first, Some(("Net.close_socket", 5)), "{symbols:?}");
    assert_eq!(
        index
            .symbols_for(&query, &RepoPath::new("none.py").unwrap(), 2)
            .unwrap(),
        []
    );
}

#[test]
fn equal_files_stand_in_the_order_of_their_paths_each_time() {
    let files = [
        ("c.py", "walrus = 1\n"),
        ("a.py", "walrus = 1\n"),
        ("b.py", "walrus = 1\n"),
    ];
    for _ in 0..3 {
        assert_eq!(paths(&rank(&files, "walrus fails")), ["a.py", "b.py", "c.py"]);
    }
}

#[test]
fn an_issue_that_matches_nothing_gives_nothing() {
    let ranking = rank(&[("a.py", "x = 1\n")], "???");
    assert_eq!((ranking.candidates.len(), ranking.considered), (0, 1));
    assert_eq!(rank(&[], "crash").candidates.len(), 0);
}
