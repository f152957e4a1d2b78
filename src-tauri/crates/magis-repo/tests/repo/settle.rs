//! Bringing to an end what was broken off while it was applied or taken back.

use crate::apply::head;
use crate::git;
use magis_core::RepoPath;
use magis_repo::{Applied, AppliedFile, Selection, Settled, settle, undo};
use magis_testkit::contents;
use std::fs;
use std::path::Path;

/// Brings a file to where the change brings it, whatever stands there.
fn write(root: &Path, file: &AppliedFile, after: Option<&Vec<u8>>) {
    let place = root.join(file.path.as_str());
    match after {
        Some(content) => {
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, content).unwrap();
        }
        None => fs::remove_file(place).unwrap(),
    }
}

fn files_of(applied: &Applied) -> &[AppliedFile] {
    match applied {
        Applied::Worktree { files, .. } => files,
        Applied::Branch { .. } => &[],
    }
}

fn mark_of(applied: &Applied) -> &str {
    match applied {
        Applied::Worktree { mark, .. } => mark,
        Applied::Branch { .. } => "",
    }
}

#[test]
fn any_part_of_a_change_is_taken_back_and_the_whole_of_it_stands() {
    let case = head();
    let root = case.fixture.root();
    let before = contents(root);
    let applied = case.apply(&Selection::All).unwrap();
    let whole = contents(root);
    let files = files_of(&applied);
    let texts: Vec<Option<Vec<u8>>> = files
        .iter()
        .map(|file| fs::read(root.join(file.path.as_str())).ok())
        .collect();
    undo(&case.repository(), &applied).unwrap();
    assert_eq!((contents(root), files.len()), (before.clone(), 6));

    for part in 0..(1_u32 << files.len()) {
        for (index, (file, content)) in files.iter().zip(&texts).enumerate() {
            if part & (1 << index) != 0 {
                write(root, file, content.as_ref());
            }
        }
        fs::create_dir_all(root.join("deep/new")).unwrap();
        let left = format!(".magis-{}-x.tmp", mark_of(&applied));
        for folder in ["", "deep/new"] {
            fs::write(root.join(folder).join(&left), "half").unwrap();
        }
        let settled = settle(&case.repository(), &applied).unwrap();
        if part + 1 == 1 << files.len() {
            assert_eq!((settled, contents(root)), (Settled::Applied, whole.clone()));
        } else {
            assert_eq!(settled, Settled::TakenBack { kept: Vec::new() }, "part {part:b}");
            assert_eq!(contents(root), before, "part {part:b}");
        }
    }
}

#[test]
fn what_a_person_changed_since_stays_and_the_rest_is_taken_back() {
    let case = head();
    let root = case.fixture.root();
    let applied = case.apply(&Selection::All).unwrap();
    case.fixture.write("long.txt", "edited since\n");
    case.fixture.write("from.txt", "there again\n");
    let settled = settle(&case.repository(), &applied).unwrap();
    let kept = ["from.txt", "long.txt"].map(|name| RepoPath::new(name).unwrap());
    let Settled::TakenBack { kept: mut found } = settled else {
        unreachable!("it stands")
    };
    found.sort();
    assert_eq!(found, kept);
    assert_eq!(case.fixture.read("long.txt"), b"edited since\n");
    let status = git(root, &["status", "--porcelain"]);
    assert_eq!(status, " M from.txt\n M long.txt\n", "the others are as they were");
}

#[test]
fn a_branch_stands_where_it_is_and_a_lock_that_was_left_goes() {
    let case = head();
    let root = case.fixture.root();
    let applied = case.branch("fix/it").unwrap();
    assert_eq!(settle(&case.repository(), &applied).unwrap(), Settled::Applied);

    git(root, &["branch", "-D", "fix/it"]);
    let lock = case.fixture.git_dir().join("refs/heads/fix/it.lock");
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    fs::write(&lock, "").unwrap();
    let settled = settle(&case.repository(), &applied).unwrap();
    assert_eq!(settled, Settled::TakenBack { kept: Vec::new() });
    git(root, &["branch", "fix/it"]);

    fs::write(&lock, "0123456789012345678901234567890123456789\n").unwrap();
    settle(&case.repository(), &applied).unwrap();
    assert!(lock.exists(), "another program's lock stays");
}

#[test]
fn a_branch_that_another_program_has_locked_is_named_and_its_lock_stays() {
    let case = head();
    let lock = case.fixture.git_dir().join("refs/heads/fix.lock");
    fs::write(&lock, "").unwrap();
    let refused = case.branch("fix").unwrap_err();
    assert_eq!(refused.code(), "branch_locked");
    assert!(lock.exists());

    fs::remove_file(&lock).unwrap();
    let applied = case.branch("fix").unwrap();
    fs::write(&lock, "").unwrap();
    assert_eq!(undo(&case.repository(), &applied).unwrap_err().code(), "branch_locked");
    assert!(lock.exists());
    assert_eq!(settle(&case.repository(), &applied).unwrap(), Settled::Applied);
}
