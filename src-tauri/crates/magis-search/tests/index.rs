//! Keeping an index up to date, on disk, through damage.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use magis_core::{BlobId, Issue, RepoPath, SkipReason};
use magis_search::{Index, IssueQuery, OpenState, Ranking, Retention, SearchError, Sources, Update};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

type Tree = BTreeMap<&'static str, String>;

/// Returns two trees of which the second changes, adds and removes files of the first.
fn trees() -> (Tree, Tree) {
    let text = |name: &str, words: &str| format!("def {name}(x):\n    '{words}'\n    return x\n");
    let old: Tree = [
        ("pkg/a.py", text("alpha", "red green blue")),
        ("pkg/b.py", text("beta", "red red red")),
        ("pkg/gone.py", text("gone", "green green red blue")),
        ("tests/test_a.py", text("test_alpha", "red green")),
    ]
    .into();
    let mut new = old.clone();
    new.remove("pkg/gone.py");
    new.insert(
        "pkg/b.py",
        text(
            "beta",
            "blue and long words and more words to change the average length",
        ),
    );
    new.insert(
        "pkg/c.py",
        format!("from pkg.b import beta\n{}", text("gamma", "green blue")),
    );
    (old, new)
}

fn wanted(tree: &Tree) -> Vec<(RepoPath, BlobId)> {
    let blob = |text: &str| {
        BlobId(format!(
            "{:x}",
            text.bytes()
                .fold(7_u64, |hash, byte| hash.wrapping_mul(31) + u64::from(byte))
        ))
    };
    tree.iter()
        .map(|(path, text)| (RepoPath::new(*path).unwrap(), blob(text)))
        .collect()
}

fn text(tree: &Tree, path: &RepoPath) -> Result<String, SkipReason> {
    tree.get(path.as_str()).cloned().ok_or(SkipReason::Missing)
}

fn update(index: &mut Index, tree: &Tree) -> Update {
    index
        .update(&wanted(tree), |path, _| text(tree, path), |_, _| {})
        .unwrap()
}

/// Returns an update that is stopped when so many contents are done.
fn stop_at(most: usize, index: &mut Index, tree: &Tree) -> Update {
    let stop = |done: usize, _: usize| {
        if done == most {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let read = |path: &RepoPath, _: &BlobId| text(tree, path);
    index.update_while(&wanted(tree), read, stop).unwrap()
}

fn rank(index: &Index) -> Ranking {
    let issue = Issue::new("beta and gamma fail\n\nred green blue `alpha` of pkg.c.gamma").unwrap();
    let query = IssueQuery::of(&issue, &[]);
    index.rank_by(&query, Sources::default(), 10).unwrap()
}

fn fresh(tree: &Tree) -> Index {
    let mut index = Index::in_memory().unwrap();
    update(&mut index, tree);
    index
}

fn counts(update: &Update) -> (usize, usize, usize) {
    (update.added, update.removed, update.kept)
}

#[test]
fn an_updated_index_ranks_exactly_as_a_fresh_one() {
    let (old, new) = trees();
    let mut index = Index::in_memory().unwrap();
    assert_eq!(counts(&update(&mut index, &old)), (4, 0, 0));
    assert_eq!(counts(&update(&mut index, &new)), (2, 2, 2));
    assert_eq!(rank(&index), rank(&fresh(&new)));
    update(&mut index, &old);
    assert_eq!(rank(&index), rank(&fresh(&old)));
}

#[test]
fn a_second_opening_reads_nothing_again() {
    let (_, tree) = trees();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let mut index = Index::open(&place).unwrap();
    assert_eq!(index.state(), &OpenState::New);
    update(&mut index, &tree);
    let before = rank(&index);
    drop(index);
    let mut index = Index::open(&place).unwrap();
    assert_eq!(index.state(), &OpenState::Kept);
    let again = index
        .update(&wanted(&tree), |path, _| panic!("{path} was read again"), |_, _| {})
        .unwrap();
    assert_eq!(counts(&again), (0, 0, 4));
    assert_eq!(rank(&index), before);
}

#[test]
fn what_the_tree_has_is_never_thrown_out() {
    let (_, mut tree) = trees();
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        Index::open(folder.path().join("index"))
            .unwrap()
            .retaining(Retention::None)
    };
    update(&mut open(), &tree);
    tree.insert("pkg/d.py", "def delta(x):\n    'red green blue'\n".to_owned());
    let mut index = open();
    assert_eq!(counts(&update(&mut index, &tree)), (1, 0, 4));
    assert_eq!(rank(&index), rank(&fresh(&tree)));
}

/// Applies `damage` to each file of an index with that extension; it is found, said, and repaired by an update.
fn check_damage(extension: &str, damage: impl Fn(&Path)) {
    let (_, tree) = trees();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let mut index = Index::open(&place).unwrap();
    update(&mut index, &tree);
    let before = rank(&index);
    drop(index);
    let mut damaged = 0;
    for entry in place.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|found| found == extension) && !path.ends_with(".managed.json") {
            damage(&path);
            damaged += 1;
        }
    }
    assert!(damaged > 0, "no file ends in .{extension}");
    let mut index = Index::open(&place).unwrap();
    assert!(
        matches!(index.state(), OpenState::Rebuilt { .. }),
        "{extension}: {:?}",
        index.state()
    );
    assert_eq!(counts(&update(&mut index, &tree)), (4, 0, 0));
    let after = rank(&index);
    assert_eq!(after.candidates, before.candidates);
    assert!(
        after.notes.iter().any(|note| note.contains("built anew")),
        "{:?}",
        after.notes
    );
}

#[test]
fn a_damaged_index_is_found_said_and_rebuilt() {
    for extension in ["idx", "term", "store", "fast"] {
        check_damage(extension, |path| {
            let mut bytes = std::fs::read(path).unwrap();
            bytes[0] ^= 0xff;
            std::fs::write(path, bytes).unwrap();
        });
        check_damage(extension, |path| std::fs::write(path, b"").unwrap());
        check_damage(extension, |path| std::fs::remove_file(path).unwrap());
    }
    check_damage("json", |path| std::fs::write(path, b"{").unwrap());
    check_damage("json", |path| std::fs::remove_file(path).unwrap());
}

#[test]
fn what_another_index_on_the_folder_adds_and_throws_out_is_seen() {
    let (mut old, mut new) = trees();
    // So that what is thrown out is a part of its segment, and does not take it along.
    for name in ["f1.py", "f2.py", "f3.py", "f4.py", "f5.py", "f6.py", "f7.py"] {
        let text = format!("def {}(x):\n    return x\n", name.trim_end_matches(".py"));
        old.insert(name, text.clone());
        new.insert(name, text);
    }
    let folder = tempfile::tempdir().unwrap();
    let open = || Index::open(folder.path().join("index")).unwrap();
    let mut index = open();
    update(&mut index, &old);
    assert_eq!(counts(&update(&mut open().retaining(Retention::None), &new)), (2, 0, 9));
    assert_eq!(counts(&update(&mut index, &new)), (0, 2, 9));
    assert_eq!(rank(&index), rank(&fresh(&new)));
    assert_eq!(counts(&update(&mut index, &old)), (2, 2, 9));
    assert_eq!(rank(&index), rank(&fresh(&old)));
}

#[test]
fn a_folder_with_other_files_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let letter = folder.path().join("letter.txt");
    std::fs::write(&letter, "dear").unwrap();
    let error = Index::open(folder.path()).unwrap_err();
    assert!(matches!(error, SearchError::Folder { .. }), "{error}");
    assert!(letter.exists());
}

#[test]
fn an_index_whose_making_was_killed_is_made() {
    let (_, tree) = trees();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".managed.json.4711"), "[").unwrap();
    let mut index = Index::open(folder.path()).unwrap();
    assert_eq!(index.state(), &OpenState::New);
    assert_eq!(counts(&update(&mut index, &tree)), (4, 0, 0));
}

#[test]
fn what_cannot_be_read_or_is_huge_is_said() {
    let mut index = Index::in_memory().unwrap();
    let tree: Tree = [
        ("binary.bin", String::new()),
        ("far.py", "walrus = 2\n".into()),
        ("huge_walrus.js", "x".repeat(2 << 20)),
        ("a.py", "walrus = 1\n".into()),
    ]
    .into();
    let read = |path: &RepoPath, _: &BlobId| match path.as_str() {
        "binary.bin" => Err(SkipReason::Binary),
        "far.py" => Err(SkipReason::Missing),
        _ => text(&tree, path),
    };
    let mut seen = Vec::new();
    let update = index
        .update(&wanted(&tree), read, |done, total| seen.push((done, total)))
        .unwrap();
    let skipped = |update: &Update| -> Vec<(String, SkipReason)> {
        let skipped = update.skipped.iter();
        skipped.map(|file| (file.path.clone(), file.reason.clone())).collect()
    };
    let expected = [
        ("binary.bin".to_owned(), SkipReason::Binary),
        ("far.py".to_owned(), SkipReason::Missing),
    ];
    assert_eq!(skipped(&update), expected);
    assert_eq!(update.path_only, [RepoPath::new("huge_walrus.js").unwrap()]);
    assert_eq!(seen, [(1, 4), (2, 4), (3, 4), (4, 4)]);
    let mut asked = Vec::new();
    let again = index.update(
        &wanted(&tree),
        |path, _| {
            asked.push(path.to_string());
            Err(SkipReason::Missing)
        },
        |_, _| {},
    );
    assert_eq!(skipped(&again.unwrap()), expected, "it is said every time");
    assert_eq!(asked, ["far.py"], "what is no text is not read again");
    let ranking = index
        .rank_by(
            &IssueQuery::of(&Issue::new("walrus").unwrap(), &[]),
            Sources::default(),
            5,
        )
        .unwrap();
    assert_eq!(ranking.candidates.len(), 2, "a huge file is still found by its path");
}

#[test]
fn a_stopped_update_keeps_what_it_did() {
    let (_, tree) = trees();
    let mut index = Index::in_memory().unwrap();
    let stopped = stop_at(3, &mut index, &tree);
    assert_eq!((stopped.added, stopped.not_reached), (3, 1));
    assert_eq!(counts(&update(&mut index, &tree)), (1, 0, 3));
    assert_eq!(rank(&index), rank(&fresh(&tree)));
}

#[test]
fn an_index_in_use_by_another_writer_says_so() {
    let (old, new) = trees();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let mut first = Index::open(&place).unwrap();
    update(&mut first, &old);
    let mut second = Index::open(&place).unwrap();
    let mut refused = None;
    let read = |path: &RepoPath, _: &BlobId| {
        refused.get_or_insert_with(|| second.update(&wanted(&new), |path, _| text(&new, path), |_, _| {}));
        text(&new, path)
    };
    first.update(&wanted(&new), read, |_, _| {}).unwrap();
    assert!(matches!(refused, Some(Err(SearchError::Busy { .. }))), "{refused:?}");
}

fn update_text(index: &mut Index, tree: &Tree) -> Update {
    let read = |path: &RepoPath, _: &BlobId| text(tree, path);
    index
        .update_text_while(&wanted(tree), read, |_, _| ControlFlow::Continue(()))
        .unwrap()
}

#[test]
fn words_are_searched_before_symbols_are_known_and_that_is_said() {
    let (_, tree) = trees();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let mut index = Index::open(&place).unwrap();
    assert_eq!(counts(&update_text(&mut index, &tree)), (4, 0, 0));
    drop(index);
    let mut index = Index::open(&place).unwrap();
    assert_eq!(counts(&update_text(&mut index, &tree)), (0, 0, 4));
    let words = rank(&index);
    assert_eq!(words.candidates.len(), 4);
    assert!(
        words.notes.iter().any(|note| note.contains("4 of 4 files")),
        "{:?}",
        words.notes
    );
    assert_eq!(counts(&update(&mut index, &tree)), (4, 0, 0));
    assert_eq!(rank(&index), rank(&fresh(&tree)));
    assert_eq!(counts(&update_text(&mut index, &tree)), (0, 0, 4));
    assert_eq!(rank(&index), rank(&fresh(&tree)), "what is known is not forgotten");
}

#[test]
fn a_deeper_reading_broken_off_leaves_each_content_once() {
    let (_, tree) = trees();
    let mut index = Index::in_memory().unwrap();
    update_text(&mut index, &tree);
    let stopped = stop_at(2, &mut index, &tree);
    assert_eq!((stopped.added, stopped.not_reached), (2, 2));
    let ranking = rank(&index);
    assert_eq!(ranking.candidates.len(), 4);
    assert!(
        ranking.notes.iter().any(|note| note.contains("2 of 4 files")),
        "{:?}",
        ranking.notes
    );
    update(&mut index, &tree);
    assert_eq!(rank(&index), rank(&fresh(&tree)));
}
