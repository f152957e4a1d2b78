//! The effect of each signal on small made-up repositories, and that equal input gives equal order.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod history;

use magis_core::{BlobId, CommitId, Evidence, Issue, LineSpan, PastCommit, RepoPath, SkipReason};
use magis_search::{CommitHistory, Index, IssueQuery, Ranking, Signal, Signals, Sources};

fn index(files: &[(&str, &str)]) -> Index {
    let blob = |text: &str| {
        let hash = text
            .bytes()
            .fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
        BlobId(hash.to_string())
    };
    let wanted: Vec<(RepoPath, BlobId)> = files
        .iter()
        .map(|(path, text)| (RepoPath::new(*path).unwrap(), blob(text)))
        .collect();
    let mut index = Index::in_memory().unwrap();
    let read = |path: &RepoPath, _: &BlobId| {
        let found = files.iter().find(|(known, _)| *known == path.as_str());
        found.map(|(_, text)| (*text).to_owned()).ok_or(SkipReason::Missing)
    };
    index.update(&wanted, read, |_, _| {}).unwrap();
    index
}

fn rank(files: &[(&str, &str)], issue: &str) -> Ranking {
    index(files)
        .rank_by(
            &IssueQuery::of(&Issue::new(issue).unwrap(), &[]),
            Sources::default(),
            20,
        )
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
        (
            "A.cs",
            "class A\n{\n    int BoundingBox(int x) { return x; }\n}\n",
            "BoundingBox",
        ),
        (
            "a.rb",
            "class A\n  def bounding_box(x)\n    x\n  end\nend\n",
            "bounding_box",
        ),
        (
            "a.php",
            "<?php\nfunction boundingBox($x)\n{\n    return $x;\n}\n",
            "boundingBox",
        ),
        (
            "A.kt",
            "fun boundingBox(x: Int): Int {\n    return x\n}\n",
            "boundingBox",
        ),
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
    let ranking = check(&files, "`quaggle` fails in quaggle with a shared word", "pkg/best.py");
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
fn what_the_matching_function_calls_is_lifted() {
    let other = "def widen(x):\n    'walrus'\n    return x\n";
    let files = [
        ("pkg/a_other.py", other),
        (
            "pkg/show.py",
            "from pkg import units\n\ndef overview(dataset):\n    'overview of a walrus dataset'\n    return units.spell(dataset)\n",
        ),
        ("pkg/units.py", "def spell(x):\n    'walrus'\n    return x\n"),
    ];
    let issue = "The walrus dataset has no overview";
    let ranking = check(&files, issue, "pkg/show.py");
    assert_eq!(paths(&ranking)[1], "pkg/units.py", "{:#?}", ranking.candidates);
    let deaf = Signals::ALL.without(Signal::Calls).without(Signal::Imports);
    let ranking = rank_after(&files, &[], deaf, issue);
    assert_eq!(paths(&ranking)[1], "pkg/a_other.py", "{:#?}", ranking.candidates);
    let calls = Signals::ALL.without(Signal::Imports);
    let ranking = rank_after(&files, &[], calls, issue);
    assert_eq!(paths(&ranking)[1], "pkg/units.py", "{:#?}", ranking.candidates);
    let by = RepoPath::new("pkg/show.py").unwrap();
    let why = evidence(&ranking, "pkg/units.py");
    assert!(why.contains(&Evidence::CalledBy { by }), "{why:?}");
}

/// Returns what the names that `pkg/tides.py` defines give it, of 1, where so many other files use its `run`.
fn names_of_tides(users: usize) -> f64 {
    let mut files: Vec<(String, String)> = (0..200)
        .map(|number| {
            let called = if number < users { "run" } else { "walk" };
            (format!("pkg/user{number}.py"), format!("{called}({number})\n"))
        })
        .collect();
    files.push(("pkg/tides.py".to_owned(), "def run(app):\n    return app\n".to_owned()));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let query = IssueQuery::of(&Issue::new("The tides fail in `run`").unwrap(), &[]);
    let names = Sources {
        signals: Signals::NONE.with(Signal::Names),
        history: None,
    };
    let ranking = index(&files).rank_by(&query, names, files.len()).unwrap();
    let tides = ranking
        .candidates
        .iter()
        .find(|file| file.path.as_str() == "pkg/tides.py");
    tides.map_or(0.0, |tides| tides.score)
}

#[test]
fn a_name_used_everywhere_says_less_than_one_used_by_few() {
    let (few, all) = (names_of_tides(2), names_of_tides(200));
    assert!(
        all > 0.0 && all < 0.8 * few,
        "{few} where two use it, {all} where all do"
    );
}

#[test]
fn the_code_in_an_issue_means_what_its_imports_hand_on() {
    let files = [
        ("harbor/tides.py", "def gauge(level):\n    return level\n"),
        ("lake/tides.py", "def gauge(level):\n    return level\n"),
        (
            "lake/water.py",
            "class Water:\n    def gauge(self):\n        return 1\n",
        ),
        ("harbor/__init__.py", "from .tides import gauge\n"),
    ];
    let issue = "It fails\n```\n>>> from harbor import gauge\n>>> gauge(3)\nTide 4\n```\n";
    let enabled = Signals::NONE.with(Signal::Examples);
    let ranking = rank_after(&files, &[], enabled, issue);
    assert_eq!(paths(&ranking), ["harbor/tides.py"]);
    let name = "gauge".to_owned();
    assert_eq!(
        evidence(&ranking, "harbor/tides.py"),
        [Evidence::CalledInIssue { name }]
    );
    // Without the import it may be either, but no method, which would be called on something.
    let ranking = rank_after(&files, &[], enabled, "It fails\n```\ngauge(3)\n```\n");
    assert_eq!(paths(&ranking), ["harbor/tides.py", "lake/tides.py"]);
    let ranking = rank_after(&files, &[], enabled, "It fails\n```\nwater.gauge()\n```\n");
    assert_eq!(paths(&ranking).len(), 3);
    assert!(paths(&rank_after(&files, &[], enabled, "We gauge (and so on) the tides")).is_empty());
}

#[test]
fn a_name_alone_means_a_function_before_a_method() {
    let files = [
        ("a_lake.py", "class Lake:\n    def gauge(self):\n        return 1\n"),
        ("b_tides.py", "def gauge(level):\n    return 1\n"),
        ("c.py", "x = 1\n"),
        ("d.py", "x = 2\n"),
        ("e.py", "x = 3\n"),
    ];
    let names = Signals::NONE.with(Signal::Names);
    let ranking = rank_after(&files, &[], names, "`gauge` fails");
    assert_eq!(paths(&ranking), ["b_tides.py", "a_lake.py"]);
    let ranking = rank_after(&files, &[], names, "`Lake.gauge` fails");
    assert_eq!(paths(&ranking).first(), Some(&"a_lake.py"));
}

#[test]
fn the_words_of_the_title_and_the_lines_that_match_best_are_told() {
    let files = [(
        "tides.py",
        "def ebb(level):\n    'a walrus'\n    return level\n\n\ndef flood(level):\n    'overflow'\n    return level\n",
    )];
    let ranking = rank(&files, "Overflow of the flood\n\nA walrus is there.");
    let why = evidence(&ranking, "tides.py");
    let terms = vec!["flood".to_owned(), "Overflow".to_owned()];
    assert!(why.contains(&Evidence::Title { terms }), "{why:?}");
    let span = LineSpan::new(6, 8).unwrap();
    assert!(why.contains(&Evidence::Lines { span }), "{why:?}");
}

/// Returns a commit of the past: its message, and what it changed.
fn past(commits: &[(&str, &[&str])]) -> CommitHistory {
    let commit = |(number, (message, changed)): (i64, &(&str, &[&str]))| PastCommit {
        id: CommitId(format!("{number:040}")),
        time: 1_600_000_000 - number,
        message: (*message).to_owned(),
        changed: changed.iter().map(|path| RepoPath::new(*path).unwrap()).collect(),
    };
    CommitHistory::of((0..).zip(commits).map(commit))
}

fn rank_after(files: &[(&str, &str)], commits: &[(&str, &[&str])], signals: Signals, issue: &str) -> Ranking {
    let history = past(commits);
    let sources = Sources {
        signals,
        history: Some(&history),
    };
    index(files)
        .rank_by(&IssueQuery::of(&Issue::new(issue).unwrap(), &[]), sources, 20)
        .unwrap()
}

#[test]
fn the_words_of_a_name_in_a_sentence_mean_the_name() {
    let files = [
        ("a.py", "def separability_matrix(model):\n    return model\n"),
        (
            "b.py",
            "def other(model):\n    'separability of a matrix'\n    return model\n",
        ),
    ];
    let ranking = check(&files, "The separability matrix is wrong", "a.py");
    assert!(evidence(&ranking, "a.py").contains(&Evidence::NameWords {
        name: "separability_matrix".to_owned()
    }));
}

#[test]
fn a_message_leads_to_the_string_that_says_it() {
    let files = [
        (
            "a.py",
            "def f(x):\n    raise ValueError('Cannot open the %s of shelves' % x)\n",
        ),
        (
            "b.py",
            "# shelves cannot be open; the open shelves cannot be of the open kind\n",
        ),
        ("docs/a.rst", "'Cannot open the %s of shelves'\n"),
    ];
    let ranking = check(&files, "It fails\n\nValueError: Cannot open the box of shelves", "a.py");
    assert!(evidence(&ranking, "a.py").contains(&Evidence::Literal {
        text: "cannot open the".to_owned()
    }));
}

#[test]
fn an_option_leads_to_where_it_is_a_string() {
    let files = [
        ("src/args.rs", "fn args() { arg(\"map-syntax\"); }\n"),
        ("src/map.rs", "fn map() { /* syntax map syntax map */ }\n"),
    ];
    let ranking = rank(&files, "`--map-syntax` is ignored");
    assert!(evidence(&ranking, "src/args.rs").contains(&Evidence::Literal {
        text: "map-syntax".to_owned()
    }));
    assert!(
        !evidence(&ranking, "src/map.rs")
            .iter()
            .any(|why| matches!(why, Evidence::Literal { .. }))
    );
}

#[test]
fn a_test_that_matches_leads_to_what_it_tests() {
    let files = [
        ("pkg/io.py", "def load(x):\n    return x\n"),
        ("pkg/net.py", "def send(x):\n    return x\n"),
        (
            "tests/test_io.py",
            "def test_walrus_overflow():\n    load('walrus overflow')\n",
        ),
    ];
    let ranking = rank(&files, "walrus overflow");
    let test = RepoPath::new("tests/test_io.py").unwrap();
    assert!(evidence(&ranking, "pkg/io.py").contains(&Evidence::TestedBy { test }));
    assert!(!paths(&ranking).contains(&"pkg/net.py"));
}

#[test]
fn a_place_in_a_sentence_counts_as_a_frame() {
    let files = [("a.py", "x = 1\n"), ("b.py", "x = 1\n")];
    let ranking = check(&files, "It fails in b.py:1 and not in a.py", "b.py");
    assert!(evidence(&ranking, "b.py").contains(&Evidence::TraceFrame { depth: 0 }));
    assert!(!evidence(&ranking, "a.py").contains(&Evidence::TraceFrame { depth: 0 }));
}

#[test]
fn symbols_of_all_files_are_ranked_together() {
    let files = [
        (
            "net.py",
            "class Net:\n    def open(self):\n        return 1\n\n    def close_socket(self):\n        'leaks the handle'\n        return 2\n",
        ),
        ("disk.py", "def spin():\n    'disk'\n    return 3\n"),
    ];
    let query = IssueQuery::of(&Issue::new("Handle leaks when the socket is closed").unwrap(), &[]);
    let symbols = index(&files).locate(&query, Sources::default(), 1, 2).unwrap().1;
    let first = symbols
        .first()
        .map(|symbol| (symbol.path.as_str(), symbol.qualified_name.as_str()));
    assert_eq!(first, Some(("net.py", "Net.close_socket")), "{symbols:#?}");
    assert!(
        symbols[0]
            .evidence
            .iter()
            .any(|why| matches!(why, Evidence::Text { .. }))
    );
}

#[test]
fn the_best_functions_of_a_file_are_given_by_name_and_lines() {
    let text = "class Net:\n    def open(self):\n        return 1\n\n    def close_socket(self):\n        'leaks the handle'\n        \
                return 2\n\n    def send(self):\n        return 3\n";
    let index = index(&[("net.py", text)]);
    let query = IssueQuery::of(&Issue::new("Handle leaks when the socket is closed").unwrap(), &[]);
    let asked = ["net.py", "none.py"].map(|path| RepoPath::new(path).unwrap());
    let symbols = index.symbols_for(&query, &asked, 2).unwrap();
    let first = symbols[0]
        .first()
        .map(|symbol| (symbol.qualified_name.as_str(), symbol.span.first()));
    assert_eq!(first, Some(("Net.close_socket", 5)), "{symbols:?}");
    assert_eq!(symbols[1], [], "of an unknown file");
}

#[test]
fn a_name_that_the_issue_qualifies_means_the_function_of_that_owner() {
    // `go` alone is too short to be taken for a name.
    let class = |name: &str| format!("class {name} {{\npublic:\n    int go() {{\n        return 1;\n    }}\n}};\n");
    let text = format!("namespace ns {{\n{}{}}}\n", class("Parser"), class("Writer"));
    let index = index(&[("lib.cpp", text.as_str())]);
    let query = IssueQuery::of(&Issue::new("`Writer::go` gives nothing").unwrap(), &[]);
    let symbols = index
        .symbols_for(&query, &[RepoPath::new("lib.cpp").unwrap()], 9)
        .unwrap();
    let names = symbols[0].iter().map(|symbol| symbol.qualified_name.as_str());
    let functions: Vec<&str> = names.filter(|name| name.ends_with("::go")).collect();
    assert_eq!(functions, ["ns::Writer::go", "ns::Parser::go"], "{symbols:#?}");
}

#[test]
fn of_functions_that_match_alike_the_longer_and_those_of_a_named_type_stand_first() {
    let body = |lines| "        x = 1\n".repeat(lines);
    let class = |name: &str, lines| {
        format!(
            "class {name}:\n    def quit(self):\n        x = 1\n    def wait(self):\n{}",
            body(lines)
        )
    };
    let text = class("Net", 30) + &class("Gate", 30);
    let index = index(&[("net.py", text.as_str())]);
    let first = |issue: &str| {
        let query = IssueQuery::of(&Issue::new(issue).unwrap(), &[]);
        let (_, symbols) = index.locate(&query, Sources::default(), 1, 3).unwrap();
        symbols[0].qualified_name.clone()
    };
    assert_eq!(first("net hangs"), "Net.wait");
    assert_eq!(first("`Gate` hangs"), "Gate.wait");
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
