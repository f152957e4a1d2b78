//! A tree written into a folder: byte for byte, and nothing beside it.

use crate::{git, opened, take};
use magis_core::SkipReason;
use magis_repo::BaseChoice;
use magis_testkit::FixtureRepo;
use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

fn check_out(fixture: &FixtureRepo, folder: &Path) -> Vec<(String, SkipReason)> {
    fs::create_dir(folder).unwrap();
    let snapshot = take(fixture, &BaseChoice::Head);
    let left_out = snapshot
        .check_out(folder, &mut |_| ControlFlow::Continue(()))
        .unwrap()
        .unwrap();
    left_out.into_iter().map(|file| (file.path, file.reason)).collect()
}

#[test]
fn files_links_and_modes_are_those_of_the_tree() {
    let fixture = FixtureRepo::new();
    fixture
        .write("plain", "text\n")
        .write("folder/deep/program", "#!/bin/sh\n")
        .write("windows", "a\r\nb\r\n")
        .write(".gitattributes", "* text eol=crlf\n");
    fs::write(fixture.root().join("binary"), [0, 159, 146, 150]).unwrap();
    fixture
        .executable("folder/deep/program")
        .symlink("link", "folder/deep/program")
        .commit("One");
    let folder = fixture.beside("out");
    assert_eq!(check_out(&fixture, &folder), []);
    assert_eq!(fs::read(folder.join("plain")).unwrap(), b"text\n");
    assert_eq!(fs::read(folder.join("binary")).unwrap(), [0, 159, 146, 150]);
    assert_eq!(
        fs::read_link(folder.join("link")).unwrap(),
        Path::new("folder/deep/program")
    );
    let mode = |name: &str| fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("plain"), mode("folder/deep/program")), (0o644, 0o755));
    assert!(!folder.join(".git").exists());
}

#[test]
fn a_submodule_is_left_out_and_said() {
    let (fixture, other) = (FixtureRepo::new(), FixtureRepo::new());
    other.write("a", "a\n").commit("One");
    fixture.write("b", "b\n").commit("One");
    git(
        fixture.root(),
        &["submodule", "add", other.root().to_str().unwrap(), "sub"],
    );
    git(fixture.root(), &["commit", "-m", "Two"]);
    let folder = fixture.beside("out");
    assert_eq!(
        check_out(&fixture, &folder),
        [("sub".to_owned(), SkipReason::Submodule)]
    );
    assert!(folder.join("b").exists());
}

#[test]
fn a_tree_whose_names_lead_out_of_the_folder_writes_nothing_there() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").commit("One");
    let repository = fixture.git2();
    let blob = repository.blob(b"outside").unwrap();
    // git's own programs refuse to make such a tree, so its bytes are put together here.
    let mut bytes = Vec::new();
    for name in ["..", ".git", "fine"] {
        bytes.extend(format!("100644 {name}\0").bytes());
        bytes.extend(blob.as_bytes());
    }
    let tree = repository.odb().unwrap().write(git2::ObjectType::Tree, &bytes).unwrap();
    let tree = repository.find_tree(tree).unwrap();
    let signature = git2::Signature::new("A", "a@example.com", &git2::Time::new(1_700_000_000, 0)).unwrap();
    let parent = repository.head().unwrap().peel_to_commit().unwrap();
    repository
        .commit(Some("HEAD"), &signature, &signature, "Two", &tree, &[&parent])
        .unwrap();
    let folder = fixture.beside("out");
    let left_out = check_out(&fixture, &folder);
    assert_eq!(left_out.len(), 2, "{left_out:?}");
    assert!(
        left_out
            .iter()
            .all(|(_, reason)| *reason == SkipReason::UnsupportedPath)
    );
    let there: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(there, ["fine"]);
}

#[test]
fn it_can_be_broken_off() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").write("b", "b\n").commit("One");
    let folder = fixture.beside("out");
    fs::create_dir(&folder).unwrap();
    let snapshot = take(&fixture, &BaseChoice::Head);
    assert_eq!(
        snapshot.check_out(&folder, &mut |_| ControlFlow::Break(())).unwrap(),
        None
    );
}

#[test]
fn what_an_installation_wrote_is_told_from_caches_and_environments() {
    let fixture = FixtureRepo::new();
    fixture
        .write(
            ".gitignore",
            "_version.py\n*.so\n*.egg-info/\n__pycache__/\n.venv/\n*.log\n",
        )
        .write("pkg/__init__.py", "")
        .commit("One");
    for (path, text) in [
        ("pkg/_version.py", "version = '1'\n"),
        ("pkg/fast.so", "machine code"),
        ("pkg.egg-info/PKG-INFO", "Name: pkg\n"),
        ("pkg/__pycache__/a.py", ""),
        (".venv/lib/other.py", ""),
        ("run.log", ""),
        ("untracked.py", ""),
    ] {
        fixture.write(path, text);
    }
    let repository = opened(fixture.root()).unwrap();
    let found: Vec<String> = repository
        .built_files()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(found, ["pkg.egg-info/PKG-INFO", "pkg/_version.py", "pkg/fast.so"]);
}
