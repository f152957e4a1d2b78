//! Object stores: what is kept stays, and what a killed program left of one goes.

use crate::{GIT, store};
use magis_repo::{prune, remove_remains};
use magis_testkit::FixtureRepo;
use std::fs;

fn repository() -> FixtureRepo {
    let fixture = FixtureRepo::new();
    fixture.write("a.txt", "a\n").commit("First");
    fixture
}

#[test]
fn what_is_kept_stays_also_while_nobody_can_read_what_is_to_be_kept() {
    let fixture = repository();
    let (folder, kept) = (fixture.beside("store"), fixture.beside("store/magis-kept"));
    let blob = store(&fixture)
        .keep_text("of a version that is nowhere else\n")
        .unwrap();
    let list = fs::read(&kept).unwrap();
    fs::remove_file(&kept).unwrap();
    fs::create_dir(&kept).unwrap();
    assert!(prune(&GIT, &folder, []).is_err());
    assert!(store(&fixture).has_blob(&blob).unwrap());

    fs::remove_dir(&kept).unwrap();
    fs::write(&kept, list).unwrap();
    prune(&GIT, &folder, []).unwrap();
    assert!(store(&fixture).has_blob(&blob).unwrap());

    fs::remove_file(&kept).unwrap();
    prune(&GIT, &folder, []).unwrap();
    assert!(!store(&fixture).has_blob(&blob).unwrap());
}

#[test]
fn what_a_killed_program_left_of_a_store_goes_once_nobody_has_it_open() {
    let fixture = repository();
    let open = store(&fixture);
    let blob = open.keep_text("kept\n").unwrap();
    let folder = fixture.beside("store");
    let (made, written) = (folder.join(".new-x1"), folder.join("objects/tmp_object_git2_12"));
    fs::create_dir_all(made.join("refs")).unwrap();
    fs::write(&written, "half").unwrap();
    remove_remains(&folder).unwrap();
    assert!(
        made.exists() && written.exists(),
        "whoever has it open may be writing them"
    );
    drop(open);
    remove_remains(&folder).unwrap();
    assert!(!made.exists() && !written.exists());
    assert!(store(&fixture).has_blob(&blob).unwrap());
}
