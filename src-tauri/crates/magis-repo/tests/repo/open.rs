//! Which repositories open, what is said of them, and what is said of the others.

use crate::{git, opened};
use magis_repo::{BaseChoice, HeadState, ObjectStore, Operation, RepoError, RepositoryState, Snapshot};
use magis_testkit::{FixtureRepo, fingerprint};
use std::path::Path;

fn state(folder: impl AsRef<Path>) -> RepositoryState {
    opened(folder).unwrap().state().unwrap()
}

/// Opening `folder` and reading its state gives the error `code`, whose remedy mentions `remedy`.
fn check(folder: impl AsRef<Path>, code: &str, remedy: &str) {
    let error = opened(&folder).and_then(|repository| repository.state()).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(error.remedy().contains(remedy), "{}", error.remedy());
    assert!(!error.to_string().ends_with('.'), "{error}");
}

#[test]
fn what_is_no_usable_repository_is_named_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    check(folder.path(), "not_a_repository", "git init");
    check(folder.path().join("nowhere"), "no_such_folder", "Check the path");
    check(FixtureRepo::bare().root(), "bare", "git worktree add");
    check(FixtureRepo::new().root(), "no_commit", "git commit");
}

#[test]
fn repository_formats_libgit2_cannot_read_are_named_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "--object-format=sha256", "sha256"]);
    check(folder.path().join("sha256"), "sha256", "SHA-1");

    let split = FixtureRepo::new();
    split.write("a", "a\n").commit("one");
    git(split.root(), &["update-index", "--split-index"]);
    check(split.root(), "unsupported_index", "--no-split-index");

    // Written as git does it: not every git knows all of them, that of Debian 12 no reftable.
    for (extension, value, code, remedy) in [
        ("refStorage", "reftable", "reftable", "git refs migrate"),
        ("partialClone", "origin", "partial_clone", "--no-filter"),
        (
            "somethingNew",
            "true",
            "unsupported_extension",
            "without this extension",
        ),
    ] {
        let fixture = FixtureRepo::new();
        fixture.write("a", "a\n").commit("one");
        fixture
            .config("core.repositoryformatversion", "1")
            .config(&format!("extensions.{extension}"), value);
        check(fixture.root(), code, remedy);
    }
}

/// For root everything is readable, so that there is nothing to test.
#[cfg(unix)]
#[test]
fn a_repository_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").commit("one");
    let allow = |mode| std::fs::set_permissions(fixture.git_dir(), std::fs::Permissions::from_mode(mode)).unwrap();
    allow(0o000);
    if std::fs::read_dir(fixture.git_dir()).is_err() {
        check(fixture.root(), "permission_denied", "right to read");
    }
    allow(0o755);
}

/// For root everything is readable, so that there is nothing to test.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_counts_as_unchanged_and_the_others_as_they_are() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").write("b", "b\n").commit("one");
    fixture.write("b", "another\n").write("new", "new\n");
    let file = fixture.root().join("a");
    // Git has to look into it: the system says another time.
    fixture.write("a", "a\n");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&file).is_err() {
        let counts = opened(fixture.root()).unwrap().state().unwrap().cleanliness;
        assert_eq!((counts.staged, counts.changed, counts.untracked), (0, 1, 1));
    }
}

/// Only root can give a repository to somebody else; for others there is nothing to test.
#[cfg(unix)]
#[test]
fn a_repository_of_another_user_is_refused_as_git_does() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").commit("one");
    let given = [fixture.root(), fixture.git_dir()].map(|place| std::os::unix::fs::chown(place, Some(12_345), None));
    if given.iter().all(Result::is_ok) {
        check(fixture.root(), "foreign_owner", "safe.directory");
    }
}

#[test]
fn any_folder_inside_the_work_tree_opens_it() {
    let fixture = FixtureRepo::new();
    let commit = fixture.write("src/deep/a.py", "a\n").commit("First\n\nbody");
    let state = state(fixture.root().join("src/deep"));
    assert_eq!(state.root, fixture.root().canonicalize().unwrap());
    assert_eq!(state.head, HeadState::Branch { name: "main".into() });
    assert_eq!((state.commit.0, state.subject.as_str()), (commit, "First"));
    assert!(state.cleanliness.is_clean() && state.notes.is_empty());
}

#[test]
fn uncommitted_work_is_counted() {
    let fixture = FixtureRepo::new();
    fixture
        .write("a", "a\n")
        .write("b", "b\n")
        .write(".gitignore", "*.log\n")
        .commit("one");
    fixture.write("staged", "s\n").stage();
    fixture
        .write("a", "changed\n")
        .remove("b")
        .write("new/x", "x\n")
        .write("new/y", "y\n")
        .write("z.log", "z\n");
    let counts = state(fixture.root()).cleanliness;
    assert_eq!(
        (counts.staged, counts.changed, counts.untracked, counts.conflicted),
        (1, 2, 2, 0)
    );
}

#[test]
fn files_that_the_index_marks_are_counted_as_git_does() {
    let fixture = FixtureRepo::new();
    fixture.write("left out", "l\n").write("b", "b\n").commit("one");
    git(fixture.root(), &["update-index", "--skip-worktree", "left out"]);
    fixture.remove("left out").write("intended", "i\n").write("empty", "");
    git(fixture.root(), &["add", "--intent-to-add", "intended", "empty"]);
    let counts = state(fixture.root()).cleanliness;
    assert_eq!((counts.staged, counts.changed, counts.untracked), (0, 2, 0));
    let told = git(fixture.root(), &["status", "--porcelain"]);
    assert_eq!(told, " A empty\n A intended\n");
}

#[test]
fn unusual_states_work_and_are_noted() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").commit("one");
    let commit = fixture.write("a", "b\n").commit("two");

    let worktree = fixture.worktree("second");
    assert!(state(&worktree).worktree);

    fixture.detach();
    let detached = state(fixture.root());
    assert!(matches!(detached.head, HeadState::Detached { commit: at } if at.0 == commit));
    assert!(detached.notes[0].contains("detached"));

    fixture.shallow();
    let shallow = state(fixture.root());
    assert!(shallow.shallow && shallow.notes.iter().any(|note| note.contains("--unshallow")));

    fixture
        .config("remote.origin.promisor", "true")
        .config("remote.origin.url", "file:///nowhere");
    assert!(state(fixture.root()).partial_clone);

    fixture.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    assert!(state(fixture.root()).lfs);
}

#[test]
fn an_unfinished_merge_is_noted() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").commit("one");
    fixture.unfinished_merge("a");
    let state = state(fixture.root());
    assert_eq!(
        (state.operation, state.cleanliness.conflicted),
        (Some(Operation::Merge), 1)
    );
    assert!(state.notes[0].contains("merge is in progress"));
}

#[test]
fn submodules_are_listed_and_open_by_themselves() {
    let (inner, outer) = (FixtureRepo::new(), FixtureRepo::new());
    inner.write("lib.py", "x = 1\n").commit("inner");
    outer.write("a", "a\n").commit("outer");
    let folder = outer.submodule("vendor/lib", &inner);
    assert_eq!(state(outer.root()).submodules, ["vendor/lib"]);
    assert_eq!(state(folder).subject, "inner");
}

#[test]
fn revisions_that_name_no_commit_are_told_apart() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").commit("one");
    let repository = opened(fixture.root()).unwrap();
    let store = ObjectStore::open(fixture.beside("store"), &repository).unwrap();
    let take = |name: &str| {
        let choice = BaseChoice::Revision { name: name.into() };
        Snapshot::take(&repository, &store, &choice).map(|_| ()).unwrap_err()
    };
    assert!(matches!(take("nowhere"), RepoError::RevisionNotFound(name) if name == "nowhere"));
    assert!(matches!(take("HEAD:a"), RepoError::RevisionNotACommit(_)));
}

#[test]
fn looking_writes_nothing() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").commit("one");
    fixture.write("a", "changed\n").write("new", "n\n");
    let before = fingerprint(fixture.root());
    state(fixture.root());
    assert_eq!(fingerprint(fixture.root()), before);
}
