//! Repositories that are made to hang, to kill or to fill the machine of who opens them: each is refused with its reason,
//! or read without the part that would. Each test runs with bounds of its own.

use crate::{apply_to_worktree, git, opened, path, take};
use git2::{ObjectType, Oid};
use magis_core::{Edit, FileChange, LineSpan};
use magis_repo::{
    BaseChoice, ConflictReason, Patch, RepoError, Selection, Snapshot, WorkTree, apply_changes, conflicts,
};
#[cfg(target_os = "linux")]
use magis_testkit::hostile::GROUPS;
use magis_testkit::{FixtureRepo, bounded};
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

fn committed() -> FixtureRepo {
    let fixture = FixtureRepo::new();
    fixture
        .write("a.py", "a = 1\nb = 2\n")
        .write("src/b.py", "b = 1\n")
        .write(".gitignore", "build/\n")
        .commit("one");
    fixture
}

/// Puts a named pipe where `path` is.
fn pipe(path: &Path) {
    let _ = std::fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Puts a file of a tebibyte, which takes no place on the disk, where `path` is.
fn enormous(path: &Path) {
    File::create(path).unwrap().set_len(1 << 40).unwrap();
}

fn tree(fixture: &FixtureRepo, entries: &[(u32, String, Oid)]) -> Oid {
    let mut data = Vec::new();
    for (mode, name, id) in entries {
        data.extend(format!("{mode:o} {name}\0").into_bytes());
        data.extend(id.as_bytes());
    }
    fixture.git2().odb().unwrap().write(ObjectType::Tree, &data).unwrap()
}

/// Commits `tree` to `HEAD`, with `HEAD` as its parent where there is one.
fn commit(fixture: &FixtureRepo, tree: Oid) {
    let git = fixture.git2();
    let who = git2::Signature::new("Ada", "ada@example.com", &git2::Time::new(1_800_000_000, 0)).unwrap();
    let parent = git.head().ok().and_then(|head| head.peel_to_commit().ok());
    let tree = git.find_tree(tree).unwrap();
    let parents: Vec<_> = parent.iter().collect();
    git.commit(Some("HEAD"), &who, &who, "made", &tree, &parents).unwrap();
}

/// Returns a tree with one file so deep.
fn deep(fixture: &FixtureRepo, folders: usize) -> Oid {
    let blob = fixture.git2().blob(b"x\n").unwrap();
    let innermost = tree(fixture, &[(0o100_644, "f".to_owned(), blob)]);
    (0..folders).fold(innermost, |inner, _| {
        tree(fixture, &[(0o040_000, "d".to_owned(), inner)])
    })
}

/// Returns a tree of ten folders that are the same one of ten folders, and so on; `levels` deep, with ten files at the
/// ground.
fn bomb(fixture: &FixtureRepo, levels: usize) -> Oid {
    let blob = fixture.git2().blob(b"x\n").unwrap();
    let ten = |mode, id| {
        (0..10)
            .map(|number| (mode, format!("n{number}"), id))
            .collect::<Vec<_>>()
    };
    let ground = tree(fixture, &ten(0o100_644, blob));
    (1..levels).fold(ground, |inner, _| tree(fixture, &ten(0o040_000, inner)))
}

/// Returns what opening a repository and looking at it and its files in every way comes to.
fn looked_at(fixture: &FixtureRepo) -> Result<(), RepoError> {
    let repository = opened(fixture.root())?;
    repository.state()?;
    WorkTree::read(&repository)?;
    let store = magis_repo::ObjectStore::open(fixture.beside("store"), &repository)?;
    for choice in [BaseChoice::Head, BaseChoice::HeadWithUncommitted] {
        Snapshot::take(&repository, &store, &choice)?.files()?;
    }
    Ok(())
}

/// Looking at what `change` makes of a repository ends with the error `code`, which says `words`.
fn check(change: impl FnOnce(&FixtureRepo), code: &str, words: &str) {
    let fixture = committed();
    change(&fixture);
    let error = looked_at(&fixture).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(words), "{error}");
    assert!(!error.remedy().is_empty());
}

#[test]
fn rules_that_are_no_ordinary_file_are_refused() {
    bounded::test("hostile::rules_that_are_no_ordinary_file_are_refused", || {
        let device = |fixture: &FixtureRepo| {
            fixture.symlink(".gitattributes", "/dev/zero");
        };
        check(device, "not_ordinary", ".gitattributes' is a device");
        for rules in [".gitattributes", "src/.gitignore", "src/.gitattributes", ".gitmodules"] {
            check(
                |fixture| pipe(&fixture.root().join(rules)),
                "not_ordinary",
                "is a named pipe",
            );
        }
        let fixture = committed();
        let repository = opened(fixture.root()).unwrap();
        pipe(&fixture.root().join("src/.gitignore"));
        assert_eq!(repository.built_files().unwrap_err().code(), "not_ordinary");
        let untracked = |fixture: &FixtureRepo| {
            fixture.write("new/deep/c.py", "c\n");
            pipe(&fixture.root().join("new/deep/.gitignore"));
        };
        check(untracked, "not_ordinary", "new/deep/.gitignore");
        check(
            |fixture| enormous(&fixture.root().join(".gitattributes")),
            "file_too_large",
            "1099511627776 bytes",
        );
    });
}

#[test]
fn rules_in_a_folder_that_does_not_count_do_not_matter() {
    bounded::test("hostile::rules_in_a_folder_that_does_not_count_do_not_matter", || {
        let fixture = committed();
        fixture.write("build/out", "x\n");
        pipe(&fixture.root().join("build/.gitignore"));
        looked_at(&fixture).unwrap();
    });
}

#[test]
fn files_of_git_that_are_no_ordinary_ones_are_refused() {
    bounded::test("hostile::files_of_git_that_are_no_ordinary_ones_are_refused", || {
        for name in [
            "HEAD",
            "config",
            "index",
            "packed-refs",
            "shallow",
            "commondir",
            "refs/heads/other",
            "info/exclude",
            "info/attributes",
            "objects/info/alternates",
            "objects/pack/pack-0123456789012345678901234567890123456789.idx",
            "objects/01/23456789012345678901234567890123456789",
        ] {
            let replaced = |fixture: &FixtureRepo| {
                let place = fixture.git_dir().join(name);
                std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                pipe(&place);
            };
            check(replaced, "not_ordinary", name);
        }
        for name in ["HEAD", "config", "packed-refs", "refs/heads/other"] {
            check(
                |fixture| enormous(&fixture.git_dir().join(name)),
                "file_too_large",
                "1099511627776 bytes",
            );
        }
        let elsewhere = |fixture: &FixtureRepo| {
            let place = fixture.beside("rules");
            pipe(&place);
            fixture.config("core.attributesFile", place.to_str().unwrap());
        };
        check(elsewhere, "not_ordinary", "rules' is a named pipe");
    });
}

#[test]
fn a_pipe_in_the_place_of_gits_folder_is_refused() {
    bounded::test("hostile::a_pipe_in_the_place_of_gits_folder_is_refused", || {
        let fixture = committed();
        let repository = opened(fixture.root()).unwrap();
        std::fs::rename(fixture.git_dir(), fixture.beside("git")).unwrap();
        pipe(&fixture.root().join(".git"));
        assert_eq!(repository.state().unwrap_err().code(), "not_ordinary");
        for folder in ["", "src"] {
            let error = opened(fixture.root().join(folder)).unwrap_err();
            assert_eq!(error.code(), "not_ordinary", "{error}");
        }
    });
}

#[test]
fn a_tracked_file_that_became_a_pipe_counts_as_deleted() {
    bounded::test("hostile::a_tracked_file_that_became_a_pipe_counts_as_deleted", || {
        let fixture = committed();
        let repository = opened(fixture.root()).unwrap();
        let base = take(&fixture, &BaseChoice::Head);
        let edits = vec![Edit {
            span: LineSpan::new(1, 1).unwrap(),
            text: "a = 2\n".to_owned(),
        }];
        let (_, patch) = apply_changes(&base, &[(path("a.py"), FileChange::Modify { edits })]).unwrap();
        let patch = Patch::parse(&patch).unwrap();
        pipe(&fixture.root().join("a.py"));
        assert_eq!(repository.state().unwrap().cleanliness.changed, 1);
        assert!(!WorkTree::read(&repository).unwrap().files().contains_key(&path("a.py")));
        let snapshot = take(&fixture, &BaseChoice::HeadWithUncommitted);
        assert_eq!(snapshot.notes(), ["'a.py' is no ordinary file and is left out."]);
        assert_eq!(snapshot.files().unwrap().0.len(), 2);
        let found = conflicts(&repository, &patch).unwrap();
        assert_eq!(found[0].reason, ConflictReason::NotARegularFile);
    });
}

#[test]
fn a_file_without_end_is_neither_taken_into_a_snapshot_nor_changed() {
    bounded::test(
        "hostile::a_file_without_end_is_neither_taken_into_a_snapshot_nor_changed",
        || {
            let fixture = committed();
            let repository = opened(fixture.root()).unwrap();
            let base = take(&fixture, &BaseChoice::Head);
            let (_, patch) = apply_changes(&base, &[(path("a.py"), FileChange::Delete)]).unwrap();
            enormous(&fixture.root().join("new.bin"));
            let snapshot = take(&fixture, &BaseChoice::HeadWithUncommitted);
            assert!(snapshot.notes()[0].contains("'new.bin' has 1099511627776 bytes"));
            assert_eq!(snapshot.files().unwrap().0.len(), 3);
            enormous(&fixture.root().join("a.py"));
            let applied = apply_to_worktree(&repository, &Patch::parse(&patch).unwrap(), &Selection::All);
            assert_eq!(applied.unwrap_err().code(), "file_too_large");
        },
    );
}

#[test]
fn a_tree_deeper_than_git_goes_is_refused_and_one_as_deep_is_read() {
    bounded::test(
        "hostile::a_tree_deeper_than_git_goes_is_refused_and_one_as_deep_is_read",
        || {
            let fixture = committed();
            commit(&fixture, deep(&fixture, 20_000));
            let repository = opened(fixture.root()).unwrap();
            for error in [
                repository.state().unwrap_err(),
                take(&fixture, &BaseChoice::Head).files().unwrap_err(),
                looked_at(&fixture).unwrap_err(),
            ] {
                assert_eq!(error.code(), "tree_too_deep", "{error}");
                assert!(error.to_string().contains("2048"), "{error}");
                assert!(error.remedy().contains("core.maxTreeDepth"), "{}", error.remedy());
            }
            let fixture = committed();
            // With the file itself it has the depth that git allows.
            commit(&fixture, deep(&fixture, 2_047));
            let snapshot = take(&fixture, &BaseChoice::Head);
            let (files, _) = snapshot.files().unwrap();
            assert_eq!(files.len(), 1);
            let listed = git(fixture.root(), &["ls-tree", "-r", "--name-only", "HEAD"]);
            assert_eq!(files[0].path.as_str(), listed.trim_end());
            let change = (files[0].path.clone(), FileChange::Delete);
            apply_changes(&snapshot, &[change]).unwrap();
            assert_eq!(
                snapshot
                    .past(9, |_| false, |_| ControlFlow::Continue(()))
                    .unwrap()
                    .new
                    .len(),
                2
            );
        },
    );
}

#[test]
fn a_tree_that_stands_for_more_files_than_can_be_listed_is_refused_with_their_number() {
    bounded::test(
        "hostile::a_tree_that_stands_for_more_files_than_can_be_listed_is_refused_with_their_number",
        || {
            let fixture = committed();
            commit(&fixture, bomb(&fixture, 10));
            let repository = opened(fixture.root()).unwrap();
            for error in [
                repository.state().unwrap_err(),
                take(&fixture, &BaseChoice::Head).files().unwrap_err(),
                looked_at(&fixture).unwrap_err(),
            ] {
                assert_eq!(error.code(), "tree_too_large", "{error}");
                assert!(
                    error
                        .to_string()
                        .ends_with("has 11111111110 files and folders, over the limit of 1000000"),
                    "{error}"
                );
            }
            let past = take(&fixture, &BaseChoice::Head);
            let past = past.past(9, |_| false, |_| ControlFlow::Continue(())).unwrap();
            assert_eq!(past.new[0].changed.len(), magis_repo::MOST_CHANGED);
        },
    );
}

#[test]
fn long_names_repeated_are_refused_as_many_files_are() {
    bounded::test("hostile::long_names_repeated_are_refused_as_many_files_are", || {
        let fixture = committed();
        let long = "n".repeat(200_000);
        let ground = bomb(&fixture, 3);
        let long = tree(&fixture, &[(0o040_000, long, ground)]);
        commit(
            &fixture,
            tree(
                &fixture,
                &[(0o040_000, "a".to_owned(), long), (0o040_000, "b".to_owned(), long)],
            ),
        );
        let error = take(&fixture, &BaseChoice::Head).files().unwrap_err();
        assert!(error.to_string().contains("bytes of paths"), "{error}");
    });
}

#[test]
fn listing_files_and_reading_the_history_can_be_broken_off() {
    bounded::test(
        "hostile::listing_files_and_reading_the_history_can_be_broken_off",
        || {
            let fixture = committed();
            commit(&fixture, bomb(&fixture, 5));
            let snapshot = take(&fixture, &BaseChoice::Head);
            let mut told = Vec::new();
            let listed = snapshot.files_while(&mut |files| {
                told.push(files);
                if files < 1_000 {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            });
            assert_eq!(listed.unwrap(), None);
            let last = *told.last().unwrap();
            assert!((1_000..2_000).contains(&last), "{last}");
            let (files, skipped) = snapshot.files().unwrap();
            assert_eq!((files.len(), skipped.len()), (100_000, 0));
            // Also where all commits are known, so that none is read.
            let walked = snapshot.past(9, |_| true, |_| ControlFlow::Break(())).unwrap();
            assert!(!walked.complete && walked.commits.is_empty());
        },
    );
}

#[test]
fn a_large_object_is_refused_before_it_is_inflated() {
    bounded::test("hostile::a_large_object_is_refused_before_it_is_inflated", || {
        let fixture = committed();
        // Half a gibibyte of zeros takes half a mebibyte in git.
        let file = fixture.beside("zeros");
        File::create(&file).unwrap().set_len(512 << 20).unwrap();
        let id = git(fixture.root(), &["hash-object", "-w", file.to_str().unwrap()]);
        let id = Oid::from_str(id.trim()).unwrap();
        commit(&fixture, tree(&fixture, &[(0o100_644, "zeros".to_owned(), id)]));
        let snapshot = take(&fixture, &BaseChoice::Head);
        let (files, skipped) = snapshot.files().unwrap();
        assert_eq!((files.len(), skipped.len()), (0, 1));
        for change in [
            FileChange::Delete,
            FileChange::Rename {
                to: path("moved"),
                edits: Vec::new(),
            },
        ] {
            let error = apply_changes(&snapshot, &[(path("zeros"), change)]).unwrap_err();
            assert_eq!(error.code(), "object_too_large", "{error}");
            assert!(error.to_string().contains("536870912 bytes"), "{error}");
        }
    });
}

/// Returns what becomes of a repository of the corpus when it is opened and looked at: `ok`, or the error's code.
#[cfg(target_os = "linux")]
fn code_of(name: &str) -> &'static str {
    let mut all = GROUPS.iter().flat_map(|group| group.repositories);
    let hostile = all.find(|hostile| hostile.name == name).unwrap();
    let folder = tempfile::TempDir::new().unwrap();
    let made = hostile.make(folder.path());
    match opened(&made.folder).and_then(|repository| repository.state()) {
        Ok(_) => "ok",
        Err(error) => error.code(),
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_git_would_read_or_compare_without_end_is_refused() {
    bounded::test("hostile::what_git_would_read_or_compare_without_end_is_refused", || {
        for (name, code) in [
            ("attributes-stars", "slow_rule"),
            ("attributes-stars-staged", "slow_rule"),
            ("ignore-stars", "slow_rule"),
            ("ignore-stars-folders", "slow_rule"),
            ("exclude-stars", "slow_rule"),
            ("config-long", "file_too_large"),
            ("include-pipe", "not_ordinary"),
            ("branches-links", "not_ordinary"),
            ("branches-link-root", "not_ordinary"),
            ("folders-deep", "folders_too_deep"),
            ("alternates-itself", "ok"),
            ("alternates-fan", "not_ordinary"),
            ("alternates-chain", "ok"),
        ] {
            assert_eq!(code_of(name), code, "{name}");
        }
    });
}
