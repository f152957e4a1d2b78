//! Changes become a result tree and a patch that git accepts.

use crate::{GIT, apply_to_worktree, git, numbered, opened, path, take};
use magis_core::{Edit, FileChange, LineSpan};
use magis_repo::{BaseChoice, Patch, RepoError, Selection, Snapshot, apply_changes};
use magis_testkit::{FixtureRepo, fingerprint};
use proptest::prelude::*;

fn edit(first: u32, last: u32, text: &str) -> Edit {
    Edit {
        span: LineSpan::new(first, last).unwrap(),
        text: text.into(),
    }
}

fn modify(name: &str, edits: &[Edit]) -> (magis_core::RepoPath, FileChange) {
    (path(name), FileChange::Modify { edits: edits.to_vec() })
}

fn create(name: &str, content: &str) -> (magis_core::RepoPath, FileChange) {
    (
        path(name),
        FileChange::Create {
            content: content.into(),
        },
    )
}

fn rename(from: &str, to: &str, edits: &[Edit]) -> (magis_core::RepoPath, FileChange) {
    (
        path(from),
        FileChange::Rename {
            to: path(to),
            edits: edits.to_vec(),
        },
    )
}

/// Applies `patch` to the committed tree with git, and gives the tree that comes of it. Leaves the index changed.
fn tree_by_git(fixture: &FixtureRepo, patch: &str) -> String {
    let file = fixture.beside("change.patch");
    std::fs::write(&file, patch).unwrap();
    let file = file.to_str().unwrap();
    git(fixture.root(), &["read-tree", "HEAD"]);
    git(fixture.root(), &["apply", "--check", "--cached", file]);
    git(fixture.root(), &["apply", "--cached", file]);
    git(fixture.root(), &["write-tree"]).trim().to_owned()
}

#[test]
fn a_patch_with_everything_in_it_gives_gits_own_tree() {
    let fixture = FixtureRepo::new();
    let long = numbered(30);
    fixture
        .write("src/größe 1.py", "a\nb\nc\n")
        .write("crlf.txt", "a\r\nb\r\nc\r\n")
        .write("open", "a\nb");
    fixture
        .write("bom.cs", "\u{feff}a\nb\n")
        .write("old name.txt", &long)
        .write("gone.bin", b"\0\x01\x02\xff");
    fixture
        .write("gone.txt", "g\n")
        .write("empty", "")
        .write("run.sh", "a\nb\n")
        .write("moved.bin", b"\0\xfe");
    #[cfg(unix)]
    fixture.executable("run.sh");
    fixture.commit("one");
    let before = fingerprint(fixture.root());
    let snapshot = take(&fixture, &BaseChoice::Head);
    let changes = [
        modify("src/größe 1.py", &[edit(2, 2, "B\nBB\n")]),
        modify("crlf.txt", &[edit(3, 3, "C\n")]),
        modify("open", &[edit(2, 2, "B\n")]),
        modify("bom.cs", &[edit(1, 1, "A\n")]),
        modify("run.sh", &[edit(1, 1, "A\n")]),
        rename(
            "old name.txt",
            "new/näme.txt",
            &[edit(2, 2, "LINE 2\n"), edit(25, 25, "")],
        ),
        rename("moved.bin", "folder/moved.bin", &[]),
        (path("gone.bin"), FileChange::Delete),
        (path("gone.txt"), FileChange::Delete),
        (path("empty"), FileChange::Delete),
        create("new/file.txt", "no final newline"),
        create("new/empty", ""),
    ];
    let (tree, patch) = apply_changes(&snapshot, &changes).unwrap();
    assert_eq!(fingerprint(fixture.root()), before);
    assert_eq!(tree_by_git(&fixture, &patch), tree.0, "{patch}");
    assert!(patch.contains("rename from old name.txt"));
    assert!(patch.contains("\\ No newline at end of file"));

    let parsed = Patch::parse(&patch).unwrap();
    assert_eq!(parsed.to_string(), patch);
    assert_eq!(
        parsed.files.len(),
        changes.len() - 1,
        "the two empty files are shown as a move"
    );
    assert_eq!(parsed.select(&Selection::All), parsed);
}

#[test]
fn selected_hunks_are_a_patch_of_their_own() {
    let fixture = FixtureRepo::new();
    fixture.write("f", numbered(60)).commit("one");
    let edits = [
        edit(5, 5, "five\nfive\n"),
        edit(30, 30, ""),
        edit(55, 55, "fifty-five\n"),
    ];
    let (_, patch) = apply_changes(&take(&fixture, &BaseChoice::Head), &[modify("f", &edits)]).unwrap();
    let patch = Patch::parse(&patch).unwrap();
    let select = |numbers: &[u32]| {
        let numbers = numbers.iter().copied().map(magis_repo::HunkNumber).collect();
        patch.select(&Selection::Hunks { numbers })
    };
    assert_eq!(patch.hunk_count(), 3);
    let some = select(&[2, 3]).to_string();
    let (expected, _) = apply_changes(&take(&fixture, &BaseChoice::Head), &[modify("f", &edits[1..])]).unwrap();
    assert_eq!(tree_by_git(&fixture, &some), expected.0, "{some}");
    assert!(select(&[9]).files.is_empty());
}

#[test]
fn changes_that_cannot_stand_together_are_refused() {
    let fixture = FixtureRepo::new();
    fixture
        .write("a", "a\n")
        .write("b", "b\n")
        .write("d/x", "x\n")
        .write("latin", b"\xf6\n")
        .commit("one");
    let snapshot = take(&fixture, &BaseChoice::Head);
    let check = |changes: &[(magis_core::RepoPath, FileChange)], code: &str| {
        let error = apply_changes(&snapshot, changes).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
    };
    check(&[create("a", "")], "already_exists");
    check(&[create("d", "")], "already_exists");
    check(&[rename("a", "b", &[])], "already_exists");
    check(&[rename("a", "c", &[]), rename("b", "c", &[])], "collision");
    check(&[create("c", ""), rename("b", "c", &[])], "collision");
    check(&[create("a/below", "")], "collision");
    check(&[create("n", ""), create("n/below", "")], "collision");
    check(&[modify("a", &[]), (path("a"), FileChange::Delete)], "changed_twice");
    check(&[modify("none", &[])], "no_such_file");
    check(&[modify("a", &[edit(7, 7, "x\n")])], "edits");
    check(&[modify("latin", &[edit(1, 1, "x\n")])], "not_text");
    check(&[(path("latin"), FileChange::Delete)], "not_text");
    assert!(matches!(
        apply_changes(&snapshot, &[create("a", "")]),
        Err(RepoError::AlreadyExists(existing)) if existing == path("a")
    ));
}

#[test]
fn a_path_that_is_vacated_may_be_filled() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").write("b", "b\n").commit("one");
    let snapshot = take(&fixture, &BaseChoice::Head);
    let swapped = [rename("a", "b", &[]), rename("b", "a", &[])];
    let (tree, patch) = apply_changes(&snapshot, &swapped).unwrap();
    assert_eq!(tree_by_git(&fixture, &patch), tree.0);
    let folder = [(path("a"), FileChange::Delete), create("a/below", "x\n")];
    let (tree, patch) = apply_changes(&snapshot, &folder).unwrap();
    assert_eq!(tree_by_git(&fixture, &patch), tree.0);
    assert_eq!(
        apply_changes(&snapshot, &[modify("a", &[])]).unwrap(),
        (snapshot.base().tree.clone(), String::new())
    );
}

/// Returns a text, and edits that fit it.
fn text_and_edits() -> impl Strategy<Value = (String, Vec<Edit>)> {
    let line = prop_oneof![
        Just(""),
        Just("a"),
        Just("b"),
        Just("ü 大"),
        Just("-- x"),
        Just("@@ -1 +1 @@"),
        Just("\\ No")
    ];
    let ending = prop_oneof![Just("\n"), Just("\r\n")];
    let text =
        (proptest::collection::vec(line.clone(), 1..40), ending, any::<bool>()).prop_map(|(lines, end, open)| {
            let text: String = lines.iter().flat_map(|line| [line, end]).collect();
            if open { format!("{text}last") } else { text }
        });
    let edits = proptest::collection::vec((0_usize..4, 1_usize..4, proptest::collection::vec(line, 0..4)), 0..6);
    (text, edits).prop_map(|(text, wanted)| {
        let count = text.split_inclusive('\n').count();
        let (mut next, mut edits) = (1, Vec::new());
        for (gap, length, lines) in wanted {
            let (first, last) = (next + gap, next + gap + length - 1);
            if last > count {
                break;
            }
            let new: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
            edits.push(edit(first as u32, last as u32, &new));
            next = last + 1;
        }
        (text, edits)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_edits_give_the_spliced_file_and_a_patch_git_agrees_with((text, edits) in text_and_edits()) {
        let fixture = FixtureRepo::new();
        fixture.write("dir/f", &text).write("other", "o\n").commit("one");
        let snapshot = take(&fixture, &BaseChoice::Head);
        let (tree, patch) = apply_changes(&snapshot, &[modify("dir/f", &edits)]).unwrap();
        let base = magis_core::Base { tree: tree.clone(), ..snapshot.base().clone() };
        let result = Snapshot::reopen(&GIT, fixture.beside("store"), &base).unwrap().read(&path("dir/f")).unwrap();
        let spliced = Edit::splice(&text, &edits).unwrap();
        prop_assert_eq!(&result.text, &spliced);
        let parsed = Patch::parse(&patch).unwrap();
        prop_assert_eq!(parsed.to_string(), patch.clone());
        if spliced == text {
            prop_assert_eq!(patch, "");
        } else {
            prop_assert_eq!(tree_by_git(&fixture, &patch), tree.0);
            let repository = opened(fixture.root()).unwrap();
            apply_to_worktree(&repository, &parsed, &Selection::All).unwrap();
            prop_assert_eq!(fixture.read("dir/f"), spliced.into_bytes());
        }
    }
}
