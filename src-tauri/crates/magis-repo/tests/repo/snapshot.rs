//! What a snapshot holds, byte for byte, and how long it lasts.

use crate::{GIT, git, opened, path, store, take};
use magis_core::{FileChange, SkipReason};
use magis_repo::{BaseChoice, FileMode, LineEnding, ObjectStore, ReadError, Snapshot, apply_changes};
use magis_testkit::{FixtureRepo, fingerprint};

const UNCOMMITTED: BaseChoice = BaseChoice::HeadWithUncommitted;

/// Returns the tree git itself would make of the work tree, through an index and an object database of its own.
fn tree_by_git(fixture: &FixtureRepo) -> String {
    let copy = tempfile::tempdir().unwrap();
    let copied = copy.path().join("repository");
    git(fixture.root(), &["--version"]);
    let status = std::process::Command::new("cp")
        .arg("-a")
        .arg(fixture.root())
        .arg(&copied)
        .status()
        .unwrap();
    assert!(status.success());
    git(&copied, &["add", "--all"]);
    git(&copied, &["write-tree"]).trim().to_owned()
}

#[test]
fn uncommitted_work_is_the_tree_git_would_write() {
    let fixture = FixtureRepo::new();
    fixture
        .write(".gitignore", "*.log\n")
        .write("a", "a\n")
        .write("b/c", "c\n")
        .write("gone", "g\n");
    fixture
        .write("file-then-folder", "x\n")
        .write("folder-then-file/x", "x\n")
        .commit("one");
    fixture
        .write("staged", "s\n")
        .write("both", "1\n")
        .stage()
        .write("both", "2\n");
    fixture
        .write("b/c", "changed\n")
        .remove("gone")
        .write("new/x", "x\n")
        .write("new/copy of a", "a\n")
        .write("z.log", "ignored\n");
    fixture.remove("file-then-folder").write("file-then-folder/y", "y\n");
    std::fs::remove_dir_all(fixture.root().join("folder-then-file")).unwrap();
    fixture.write("folder-then-file", "f\n").write("größe 大.txt", "ü\n");
    #[cfg(unix)]
    fixture.symlink("link", "b/c").executable("a");

    let before = fingerprint(fixture.root());
    let snapshot = take(&fixture, &UNCOMMITTED);
    assert_eq!(fingerprint(fixture.root()), before);
    assert!(snapshot.base().uncommitted);
    assert_eq!(snapshot.base().tree.0, tree_by_git(&fixture));
    assert_eq!(snapshot.notes(), [] as [String; 0]);
}

#[cfg(unix)]
#[test]
fn a_file_that_became_a_link_is_one_where_modes_do_not_count() {
    let fixture = FixtureRepo::new();
    fixture
        .write("a", "a\n")
        .write("b", "b\n")
        .symlink("link", "a")
        .executable("b")
        .commit("one");
    fixture.config("core.fileMode", "false");
    fixture
        .remove("a")
        .symlink("a", "b")
        .remove("link")
        .write("link", "l\n");
    fixture.write("b", "changed\n").write("new", "n\n").executable("new");
    let snapshot = take(&fixture, &UNCOMMITTED);
    assert_eq!(snapshot.base().tree.0, tree_by_git(&fixture));
}

#[test]
fn line_ends_are_converted_as_git_would() {
    let fixture = FixtureRepo::new();
    fixture
        .write("kept.txt", "already\r\nwith\r\n")
        .write("lf.txt", "a\nb\n")
        .commit("one");
    fixture.write(".gitattributes", "*.bat eol=crlf\n*.raw -text\n");
    fixture.config("core.autocrlf", "true");
    fixture
        .write("kept.txt", "still\r\nwith\r\n")
        .write("lf.txt", "a\r\nB\r\n");
    fixture
        .write("new.txt", "n\r\n")
        .write("run.bat", "r\r\n")
        .write("x.raw", "x\r\n");
    let snapshot = take(&fixture, &UNCOMMITTED);
    assert_eq!(snapshot.base().tree.0, tree_by_git(&fixture));
    assert_eq!(snapshot.read(&path("lf.txt")).unwrap().text, "a\nB\n");
    assert_eq!(snapshot.read(&path("kept.txt")).unwrap().text, "still\r\nwith\r\n");
    assert_eq!(snapshot.read(&path("x.raw")).unwrap().text, "x\r\n");
}

#[test]
fn a_filter_only_git_can_run_keeps_the_staged_version_with_a_note() {
    let fixture = FixtureRepo::new();
    fixture
        .write(".gitattributes", "*.bin filter=lfs\n")
        .write("a.bin", "pointer\n")
        .commit("one");
    fixture.write("a.bin", "content\n");
    let snapshot = take(&fixture, &UNCOMMITTED);
    assert_eq!(snapshot.read(&path("a.bin")).unwrap().text, "pointer\n");
    assert!(
        snapshot.notes()[0].contains("'a.bin' passes the filter 'lfs'"),
        "{:?}",
        snapshot.notes()
    );
}

#[test]
fn an_unfinished_merge_is_taken_with_its_markers_and_a_note() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").commit("one");
    fixture.unfinished_merge("a");
    let snapshot = take(&fixture, &UNCOMMITTED);
    assert!(snapshot.read(&path("a")).unwrap().text.contains("<<<<<<<"));
    assert!(snapshot.notes()[0].contains("unresolved conflicts"));
}

#[test]
fn files_are_listed_and_what_cannot_be_read_is_skipped_with_its_reason() {
    let inner = FixtureRepo::new();
    inner.write("x", "x\n").commit("inner");
    let fixture = FixtureRepo::new();
    fixture
        .write("src/a b.py", "a = 1\n")
        .write("größe.py", "")
        .write("run.sh", "#!/bin/sh\n");
    fixture
        .write("big.txt", "line\n".repeat(300_000))
        .write("line\nbreak", "x\n");
    #[cfg(unix)]
    fixture.executable("run.sh").symlink("link", "run.sh");
    fixture.commit("one");
    fixture.submodule("vendor", &inner);

    let (files, skipped) = take(&fixture, &BaseChoice::Head).files().unwrap();
    let listed: Vec<_> = files
        .iter()
        .map(|file| (file.path.as_str(), file.mode, file.bytes))
        .collect();
    let expected = [
        (".gitmodules", FileMode::Regular, files[0].bytes),
        ("größe.py", FileMode::Regular, 0),
        ("run.sh", FileMode::Executable, 10),
        ("src/a b.py", FileMode::Regular, 6),
    ];
    assert_eq!(listed, expected);
    let skipped: Vec<_> = skipped
        .iter()
        .map(|file| (file.path.as_str(), file.reason.clone()))
        .collect();
    let expected = [
        (
            "big.txt",
            SkipReason::TooLarge {
                bytes: 1_500_000,
                limit: 1_048_576,
            },
        ),
        ("line\nbreak", SkipReason::UnsupportedPath),
        ("link", SkipReason::Symlink),
        ("vendor", SkipReason::Submodule),
    ];
    assert_eq!(skipped, expected);
}

#[test]
fn reading_keeps_bytes_and_names_what_is_no_text() {
    let fixture = FixtureRepo::new();
    fixture
        .write("bom.cs", "\u{feff}x\r\n")
        .write("latin.py", b"gr\xf6\xdfe\n")
        .write("x.bin", b"\0\x01")
        .commit("one");
    let snapshot = take(&fixture, &BaseChoice::Head);
    let bom = snapshot.read(&path("bom.cs")).unwrap();
    assert_eq!(
        (bom.text.as_str(), bom.line_ending),
        ("\u{feff}x\r\n", LineEnding::CrLf)
    );
    let reason = |name: &str| match snapshot.read(&path(name)).unwrap_err() {
        ReadError::Skipped { reason, .. } => reason,
        other => panic!("{other}"),
    };
    assert_eq!(reason("latin.py"), SkipReason::NotUtf8);
    assert_eq!(reason("x.bin"), SkipReason::Binary);
    assert!(matches!(snapshot.read(&path("none")), Err(ReadError::NoSuchFile(_))));
    assert!(matches!(
        snapshot.read(&path("x.bin/none")),
        Err(ReadError::NoSuchFile(_))
    ));
}

#[test]
fn objects_a_partial_clone_lacks_are_skipped_as_missing() {
    let fixture = FixtureRepo::new();
    fixture
        .write("here", "h\n")
        .write("lost", "l\n")
        .write("folder/x", "x\n")
        .commit("one");
    let tree = git(fixture.root(), &["rev-parse", "HEAD:folder"]);
    let blob = git(fixture.root(), &["rev-parse", "HEAD:lost"]);
    fixture.lose_object(tree.trim()).lose_object(blob.trim());
    let snapshot = take(&fixture, &BaseChoice::Head);
    let (files, skipped) = snapshot.files().unwrap();
    assert_eq!(files.len(), 1);
    let skipped: Vec<_> = skipped.iter().map(|file| (file.path.as_str(), &file.reason)).collect();
    assert_eq!(
        skipped,
        [("folder/", &SkipReason::Missing), ("lost", &SkipReason::Missing)]
    );
    let lost = snapshot.read(&path("lost"));
    assert!(matches!(
        lost,
        Err(ReadError::Skipped {
            reason: SkipReason::Missing,
            ..
        })
    ));
}

#[test]
fn a_run_reads_its_base_whatever_happens_to_the_repository() {
    let fixture = FixtureRepo::new();
    fixture
        .write("a", "one\n")
        .write("src/b", "b\n")
        .write("src/unread", "u\n")
        .commit("one");
    let snapshot = take(&fixture, &BaseChoice::Head);
    fixture.write("a", "two\n").commit("two");
    assert_eq!(snapshot.read(&path("a")).unwrap().text, "one\n");
    snapshot.read(&path("src/b")).unwrap();
    let (files, _) = snapshot.files().unwrap();
    let unread = files.iter().find(|file| file.path == path("src/unread")).unwrap();
    assert_eq!(snapshot.scan(&unread.blob).unwrap().text, "u\n");
    let change = [(path("src/b"), FileChange::Delete)];
    let (result, patch) = apply_changes(&snapshot, &change).unwrap();

    let (folder, base) = (fixture.beside("store"), snapshot.base().clone());
    std::fs::remove_dir_all(fixture.root()).unwrap();
    let reopened = Snapshot::reopen(&GIT, &folder, &base).unwrap();
    assert_eq!(reopened.read(&path("a")).unwrap().text, "one\n");
    assert!(matches!(
        reopened.read(&path("src/unread")),
        Err(ReadError::Skipped {
            reason: SkipReason::Missing,
            ..
        })
    ));
    assert_eq!(apply_changes(&reopened, &change).unwrap(), (result, patch));
}

#[test]
fn snapshots_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").commit("one");
    let snapshot = take(&fixture, &BaseChoice::Head);
    shared(&snapshot);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(snapshot.read(&path("a")).unwrap().text, "a\n"));
        }
    });
}

#[test]
fn a_store_whose_making_was_killed_is_completed() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").commit("one");
    fixture.write("a", "b\n");
    for (number, left) in [
        vec!["HEAD.lock"],
        vec!["config.lock", "objects/pack/"],
        vec!["config", "objects/info/", "refs/heads/", "HEAD.lock", "magis-source"],
    ]
    .into_iter()
    .enumerate()
    {
        let folder = fixture.beside(&format!("store {number}"));
        for name in &left {
            let place = folder.join(name);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            if name.ends_with('/') {
                std::fs::create_dir_all(place).unwrap();
            } else {
                std::fs::write(place, "").unwrap();
            }
        }
        let repository = opened(fixture.root()).unwrap();
        let store = ObjectStore::open(&folder, &repository).unwrap_or_else(|error| panic!("{left:?}: {error}"));
        let snapshot = Snapshot::take(&repository, &store, &UNCOMMITTED).unwrap();
        assert_eq!(snapshot.read(&path("a")).unwrap().text, "b\n", "{left:?}");
    }
}

#[test]
fn a_store_can_be_made_by_several_at_once() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").commit("one");
    fixture.write("a", "b\n");
    for _ in 0..20 {
        let folder = fixture.beside("store");
        let (root, together) = (fixture.root(), std::sync::Barrier::new(4));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let repository = opened(root).unwrap();
                    together.wait();
                    let store = ObjectStore::open(&folder, &repository).unwrap();
                    let snapshot = Snapshot::take(&repository, &store, &UNCOMMITTED).unwrap();
                    assert_eq!(snapshot.read(&path("a")).unwrap().text, "b\n");
                });
            }
        });
        std::fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn the_store_is_for_its_owner_alone_and_serves_worktrees() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").commit("one");
    let worktree = opened(fixture.worktree("second")).unwrap();
    let snapshot = Snapshot::take(&worktree, &store(&fixture), &UNCOMMITTED).unwrap();
    assert_eq!(snapshot.read(&path("a")).unwrap().text, "a\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(fixture.beside("store")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
