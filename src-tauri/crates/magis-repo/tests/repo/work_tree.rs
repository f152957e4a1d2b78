//! The working tree as a list: it agrees with a snapshot of uncommitted work, read whole or file by file.

use crate::{git, opened, path, take};
use magis_core::{BlobId, RepoPath};
use magis_repo::{BaseChoice, WorkText, WorkTree};
use magis_testkit::{FixtureRepo, fingerprint};
use std::collections::BTreeMap;
use std::fs;

fn read(fixture: &FixtureRepo) -> WorkTree {
    WorkTree::read(&opened(fixture.root()).unwrap()).unwrap()
}

/// Returns what a run that takes in uncommitted work would read.
fn snapshot(fixture: &FixtureRepo) -> BTreeMap<RepoPath, BlobId> {
    let (files, _) = take(fixture, &BaseChoice::HeadWithUncommitted).files().unwrap();
    files.into_iter().map(|file| (file.path, file.blob)).collect()
}

fn committed() -> FixtureRepo {
    let fixture = FixtureRepo::new();
    fixture
        .write("a.py", "a = 1\n")
        .write("src/b.py", "b = 1\n")
        .write("src/deep/c.py", "c = 1\n")
        .write(".gitignore", "*.log\nbuild/\n")
        .commit("first");
    fixture
}

#[test]
fn it_agrees_with_a_snapshot_of_uncommitted_work() {
    let check = |change: fn(&FixtureRepo)| {
        let fixture = committed();
        change(&fixture);
        assert_eq!(*read(&fixture).files(), snapshot(&fixture));
    };
    check(|_| {});
    check(|fixture| {
        fixture.write("a.py", "a = 2\n");
    });
    check(|fixture| {
        fixture.remove("a.py");
    });
    check(|fixture| {
        fixture
            .write("new.py", "n\n")
            .write("build/out.py", "x\n")
            .write("x.log", "x\n");
    });
    check(|fixture| {
        fixture.write("a.py", "a = 2\n").stage().write("a.py", "a = 3\n");
    });
    check(|fixture| {
        fixture.remove("a.py").stage().write("a.py", "a = 1\n");
    });
    check(|fixture| {
        fixture.executable("a.py");
    });
    check(|fixture| {
        fixture.remove("a.py").symlink("a.py", "src/b.py");
    });
    check(|fixture| {
        fixture.symlink("src/deep/loop", "..").write("src/deep/d.py", "d\n");
    });
    check(|fixture| {
        fixture.write("large.py", "x = 1\n".repeat(200_000));
    });
    check(|fixture| {
        fixture.write("binary.py", b"\0\x01\x02");
    });
    check(|fixture| {
        fixture.unfinished_merge("a.py");
    });
    check(|fixture| {
        fixture
            .config("core.autocrlf", "true")
            .write("a.py", "a = 2\r\nb = 2\r\n");
    });
    check(|fixture| {
        fixture
            .write(".gitattributes", "*.txt eol=crlf\n*.bin filter=lfs\n")
            .write("t.txt", "t\r\nu\r\n")
            .write("u.bin", "large")
            .commit("attributes");
        fixture
            .write("t.txt", "t\r\nv\r\n")
            .write("u.bin", "larger")
            .write("v.bin", "new");
    });
    check(|fixture| {
        git(fixture.root(), &["init", "--quiet", "nested"]);
        fixture.write("nested/inside.py", "i\n");
        let other = committed();
        fixture.submodule("module", &other);
        fixture.write("module/a.py", "a = 9\n");
    });
    check(|fixture| {
        fixture.write("build/kept.py", "k\n");
        git(fixture.root(), &["add", "--force", "build/kept.py"]);
        fixture.write("build/kept.py", "k = 2\n").write("build/other.py", "o\n");
    });
}

#[test]
fn nothing_counts_in_an_ignored_folder_but_what_is_tracked() {
    let fixture = FixtureRepo::new();
    fixture
        .write("src/a.py", "a = 1\n")
        .write("b.py", "b = 1\n")
        .commit("first");
    // The folder is ignored, so that the second rule has nothing to say of what lies in it.
    fixture.write(".gitignore", "*\n!*.py\n");
    fixture.write("src/new.py", "n\n").write("new.py", "n\n");
    let expected = ["b.py", "new.py", "src/a.py"];
    let mut work = read(&fixture);
    let names = |work: &WorkTree| work.files().keys().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(&work), expected);
    assert_eq!(work.look_at(&[path("src/new.py"), path("new.py")]).unwrap(), []);
    assert_eq!(names(&work), expected);
    assert_eq!(*work.files(), snapshot(&fixture));
    assert_eq!(
        opened(fixture.root()).unwrap().state().unwrap().cleanliness.untracked,
        1
    );
}

#[test]
fn looking_at_the_touched_files_is_as_good_as_looking_at_all() {
    let fixture = committed();
    let mut work = read(&fixture);
    let mut check = |change: fn(&FixtureRepo), touched: &[&str], expected: &[&str]| {
        change(&fixture);
        let touched: Vec<RepoPath> = touched.iter().map(|name| path(name)).collect();
        let expected: Vec<RepoPath> = expected.iter().map(|name| path(name)).collect();
        assert_eq!(work.look_at(&touched).unwrap(), expected);
        let whole = read(&fixture);
        assert_eq!(work.files(), whole.files());
        assert_eq!(work.uncommitted(), whole.uncommitted());
    };
    check(
        |fixture| {
            fixture.write("a.py", "a = 2\n");
        },
        &["a.py"],
        &["a.py"],
    );
    check(|_| {}, &["a.py", "src/b.py"], &[]);
    check(
        |fixture| {
            fixture.executable("src/b.py");
        },
        &["src/b.py"],
        &[],
    );
    check(
        |fixture| {
            fixture.write("new.py", "n\n").write("x.log", "l\n");
        },
        &["new.py", "x.log"],
        &["new.py"],
    );
    check(
        |fixture| {
            fixture.remove("new.py");
        },
        &["new.py"],
        &["new.py"],
    );
    check(
        |fixture| {
            fixture.write("a.py", "a = 1\n");
        },
        &["a.py"],
        &["a.py"],
    );
    check(
        |fixture| {
            fixture.remove("src/b.py");
        },
        &["src/b.py", "src"],
        &["src/b.py"],
    );
    check(
        |fixture| {
            fixture.remove("src/deep/c.py").symlink("src/deep/c.py", "../../a.py");
        },
        &["src/deep/c.py"],
        &["src/deep/c.py"],
    );
    check(
        |fixture| {
            fixture
                .write("gen/one.py", "o\n")
                .write("gen/two.py", "t\n")
                .write("gen.py", "g\n");
        },
        &["gen.py", "gen/one.py", "gen/two.py"],
        &["gen.py", "gen/one.py", "gen/two.py"],
    );
    // Nobody tells of each file in a folder that moves away.
    check(
        |fixture| {
            fs::rename(fixture.root().join("gen"), fixture.beside("gen")).unwrap();
            fixture.write("gen/two.py", "t\n");
        },
        &["gen"],
        &["gen/one.py"],
    );
    check(
        |fixture| {
            fixture.write("build/out.py", "x\n");
        },
        &["build/out.py"],
        &[],
    );
}

#[test]
fn a_file_is_read_in_the_version_that_was_seen_and_in_no_other() {
    let fixture = committed();
    fixture.write("a.py", "a = 2\n").write("b.bin", b"\0");
    let work = read(&fixture);
    let text = |name: &str| {
        let found = work.reader().text(&path(name), &work.files()[&path(name)]);
        match found {
            WorkText::Text(source) => source.text,
            WorkText::NotText(reason) => format!("({reason})"),
            WorkText::Changed => "(changed)".to_owned(),
        }
    };
    assert_eq!(text("a.py"), "a = 2\n");
    assert_eq!(text("src/b.py"), "b = 1\n");
    assert_eq!(text("b.bin"), "(binary)");
    fixture.write("a.py", "a = 3\n");
    assert_eq!(text("a.py"), "(changed)");
}

#[test]
fn a_file_with_foreign_line_ends_is_read_as_it_was_seen() {
    let fixture = FixtureRepo::new();
    fixture
        .config("core.autocrlf", "false")
        .write("a.py", "a = 1\r\n")
        .commit("first");
    // What has CRs in its staged version is not converted, whatever the configuration says.
    fixture
        .config("core.autocrlf", "true")
        .write("a.py", "a = 2\r\n")
        .write("new.py", "n\r\n");
    let work = read(&fixture);
    let reader = work.reader();
    let text = |name: &str| match reader.text(&path(name), &work.files()[&path(name)]) {
        WorkText::Text(source) => source.text,
        other => unreachable!("{name}: {other:?}"),
    };
    assert_eq!((text("a.py").as_str(), text("new.py").as_str()), ("a = 2\r\n", "n\n"));
}

#[test]
fn very_much_uncommitted_work_is_seen_and_read_like_little() {
    let fixture = FixtureRepo::new();
    fixture.write(".gitattributes", "*.txt text\n").commit("first");
    for number in 0..90 {
        fixture.write(&format!("{number}.txt"), format!("{number}\r\n").repeat(330_000));
    }
    let work = read(&fixture);
    let reader = work.reader();
    for number in 0..90 {
        let name = path(&format!("{number}.txt"));
        let WorkText::Text(source) = reader.text(&name, &work.files()[&name]) else {
            unreachable!("{name} has not changed")
        };
        assert!(source.text == format!("{number}\n").repeat(330_000), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_left_out_and_said() {
    use std::os::unix::fs::PermissionsExt as _;

    let fixture = committed();
    fixture.write("closed.py", "c = 1\n");
    let set = |name: &str, mode| {
        fs::set_permissions(fixture.root().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    let closed = [path("a.py"), path("closed.py")];
    for path in &closed {
        set(path.as_str(), 0o000);
    }
    if fs::read(fixture.root().join("a.py")).is_ok() {
        // Nothing is closed to the user who may do everything.
        return;
    }
    let mut work = read(&fixture);
    assert_eq!(*work.unreadable(), closed.clone().into());
    assert_eq!(work.files().get(&path("a.py")), None);
    assert!(work.files().contains_key(&path("src/b.py")));
    for path in &closed {
        set(path.as_str(), 0o644);
    }
    assert_eq!(work.look_at(&closed).unwrap(), closed);
    assert_eq!((work.unreadable().len(), work.files()), (0, read(&fixture).files()));
    set("a.py", 0o000);
    assert_eq!(work.look_at(&closed).unwrap(), closed[..1]);
    assert_eq!(*work.unreadable(), [path("a.py")].into());
}

#[test]
fn looking_writes_nothing() {
    let fixture = committed();
    fixture.write("a.py", "a = 2\n").write("new.py", "n\n");
    // As a `touch` leaves it: git would refresh what it remembers of this file.
    fs::write(fixture.root().join("src/b.py"), "b = 1\n").unwrap();
    let before = fingerprint(fixture.root());
    let mut work = read(&fixture);
    work.look_at(&[path("a.py"), path("new.py")]).unwrap();
    work.reader().text(&path("new.py"), &work.files()[&path("new.py")]);
    assert_eq!(fingerprint(fixture.root()), before);
}
