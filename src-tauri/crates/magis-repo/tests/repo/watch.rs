//! The watcher on real repositories, driven by every `git` program on the path.

use crate::{opened, path};
use magis_core::RepoPath;
use magis_repo::{ChangedPaths, GitPart, RepoChange, WatchOptions, Watcher, WatcherEvent, WhyPolling};
use magis_testkit::FixtureRepo;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Nothing takes so long; a test that waits longer fails.
const NEVER: Duration = Duration::from_mins(1);

/// A repository that is watched.
struct Watched {
    fixture: FixtureRepo,
    heard: Receiver<WatcherEvent>,
    marks: Cell<u32>,
    folders: usize,
    _watcher: Watcher,
}

/// What the changes since the last look were, together.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    updates: usize,
    many: usize,
    paths: BTreeSet<RepoPath>,
    heads: Vec<(Option<String>, Option<String>)>,
    git: BTreeSet<String>,
}

fn options() -> WatchOptions {
    WatchOptions {
        quiet: Duration::from_millis(150),
        longest: NEVER,
        locked: NEVER,
        poll: Duration::from_millis(50),
        most_folders: None,
    }
}

impl Watched {
    fn begin(fixture: FixtureRepo) -> Self {
        let root = fixture.root().to_owned();
        Self::begin_at(fixture, &root)
    }

    fn begin_at(fixture: FixtureRepo, root: &Path) -> Self {
        let (sender, heard) = channel();
        let repository = opened(root).unwrap();
        let watcher = Watcher::begin(&repository, options(), move |event| drop(sender.send(event))).unwrap();
        let folders = match heard.recv_timeout(NEVER).unwrap() {
            WatcherEvent::Watching { folders } => folders,
            other => unreachable!("{other:?}"),
        };
        Self {
            fixture,
            heard,
            marks: Cell::new(0),
            folders,
            _watcher: watcher,
        }
    }

    fn next(&self) -> RepoChange {
        match self.heard.recv_timeout(NEVER).unwrap() {
            WatcherEvent::Changed(change) => change,
            other => unreachable!("{other:?}"),
        }
    }

    /// Returns what is said from now on until a file written now is seen. On a busy machine it may be said in one with
    /// late words of what was done before.
    fn rest(&self) -> Vec<RepoChange> {
        self.marks.set(self.marks.get() + 1);
        let mark = format!("mark{}.py", self.marks.get());
        self.fixture.write(&mark, "m\n");
        let mut changes = Vec::new();
        loop {
            let mut change = self.next();
            let marked = match &mut change.paths {
                ChangedPaths::Some(paths) => {
                    let marked = paths.contains(&path(&mark));
                    paths.retain(|touched| !touched.as_str().starts_with("mark"));
                    if paths.is_empty() {
                        change.paths = ChangedPaths::None;
                    }
                    marked
                }
                // Files are not named, and the mark may be among them or still to come: whichever, another one decides.
                ChangedPaths::Many => {
                    changes.push(change);
                    changes.extend(self.rest());
                    return changes;
                }
                ChangedPaths::None => false,
            };
            if change.paths != ChangedPaths::None || change.head.is_some() || !change.git.is_empty() {
                changes.push(change);
            }
            if marked {
                return changes;
            }
        }
    }

    /// Returns what one action makes it say.
    fn seen(&self, act: impl FnOnce(&FixtureRepo)) -> Seen {
        act(&self.fixture);
        let mut changes = vec![self.next()];
        changes.extend(self.rest());
        let mut seen = Seen {
            updates: changes.len(),
            ..Seen::default()
        };
        for change in changes {
            match change.paths {
                ChangedPaths::None => {}
                ChangedPaths::Some(paths) => seen.paths.extend(paths),
                ChangedPaths::Many => seen.many += 1,
            }
            seen.heads
                .extend(change.head.map(|head| (head.from.branch, head.to.branch)));
            seen.git.extend(change.git.iter().map(|part| format!("{part:?}")));
        }
        seen
    }

    /// What an action that means nothing makes it say: nothing.
    fn silent(&self, act: impl FnOnce(&FixtureRepo)) {
        act(&self.fixture);
        assert_eq!(self.rest(), []);
    }
}

fn paths(names: &[&str]) -> BTreeSet<RepoPath> {
    names.iter().map(|name| path(name)).collect()
}

fn committed() -> FixtureRepo {
    let fixture = FixtureRepo::new();
    fixture
        .write("a.py", "a = 1\n")
        .write("src/b.py", "b = 1\n")
        .write(".gitignore", "*.log\nnode_modules/\ntarget/\n")
        .commit("first");
    fixture
}

/// Returns every `git` program on the path, each version once.
fn programs() -> Vec<PathBuf> {
    let mut versions = BTreeSet::new();
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|folder| folder.join("git"));
    found
        .filter(|program| {
            let version = Command::new(program).arg("--version").output();
            version.is_ok_and(|version| version.status.success() && versions.insert(version.stdout))
        })
        .collect()
}

fn git(program: &Path, folder: &Path, arguments: &[&str]) -> bool {
    let output = Command::new(program)
        .args(["-c", "user.name=Ada Fixture", "-c", "user.email=ada@example.com"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_EDITOR", "true")
        .current_dir(folder)
        .output()
        .unwrap();
    output.status.success()
}

#[test]
fn a_file_that_is_written_renamed_or_deleted_is_named() {
    let watched = Watched::begin(committed());
    let check = |act: fn(&FixtureRepo), expected: &[&str]| {
        let seen = watched.seen(act);
        assert_eq!((seen.paths, seen.many, seen.updates), (paths(expected), 0, 1));
    };
    check(
        |fixture| {
            fixture.write("a.py", "a = 2\n");
        },
        &["a.py"],
    );
    check(
        |fixture| fs::rename(fixture.root().join("a.py"), fixture.root().join("src/z.py")).unwrap(),
        &["a.py", "src/z.py"],
    );
    check(
        |fixture| fs::rename(fixture.root().join("src/z.py"), fixture.root().join("src/Z.py")).unwrap(),
        &["src/z.py", "src/Z.py"],
    );
    check(
        |fixture| {
            fixture.remove("src/Z.py");
        },
        &["src/Z.py"],
    );
    check(
        |fixture| {
            fixture.executable("src/b.py");
        },
        &["src/b.py"],
    );
    // As editors save: a new file put in the place of the old one.
    check(
        |fixture| {
            fixture.write("src/b.py~", "b = 2\n");
            fs::rename(fixture.root().join("src/b.py~"), fixture.root().join("src/b.py")).unwrap();
        },
        &["src/b.py", "src/b.py~"],
    );
}

#[test]
fn what_git_ignores_is_neither_said_nor_watched() {
    let fixture = committed();
    for number in 0..50 {
        fixture.write(&format!("node_modules/package{number}/index.js"), "x\n");
    }
    let bare = Watched::begin(committed()).folders;
    let watched = Watched::begin(fixture);
    assert_eq!(watched.folders, bare, "an ignored folder costs no watch");
    watched.silent(|fixture| {
        fixture
            .write("x.log", "l\n")
            .write("node_modules/package1/index.js", "y\n")
            .write("target/debug/out.rs", "y\n");
    });
}

#[test]
fn a_tracked_file_in_an_ignored_folder_is_said() {
    let fixture = committed();
    fixture.write("target/kept.py", "k\n");
    assert!(git(
        Path::new("git"),
        fixture.root(),
        &["add", "--force", "target/kept.py"]
    ));
    let watched = Watched::begin(fixture);
    let seen = watched.seen(|fixture| {
        fixture.write("target/kept.py", "k = 2\n");
    });
    assert_eq!(seen.paths, paths(&["target/kept.py"]));
    watched.silent(|fixture| {
        fixture.write("target/other.py", "o\n");
    });
}

#[test]
fn ignore_rules_that_change_count_from_then_on() {
    let watched = Watched::begin(committed());
    watched.silent(|fixture| {
        fixture.write("target/one.py", "o\n");
    });
    let seen = watched.seen(|fixture| {
        fixture.write(".gitignore", "*.log\n");
    });
    assert_eq!((seen.many, seen.git), (1, ["Rules".to_owned()].into()));
    let seen = watched.seen(|fixture| {
        fixture.write("target/one.py", "o = 2\n");
    });
    assert_eq!(seen.paths, paths(&["target/one.py"]));
    watched.seen(|fixture| {
        fixture.write(".gitignore", "target/\n");
    });
    watched.silent(|fixture| {
        fixture.write("target/one.py", "o = 3\n");
    });
}

#[test]
fn folders_that_come_are_watched_and_those_that_go_are_forgotten() {
    let watched = Watched::begin(committed());
    let seen = watched.seen(|fixture| {
        fixture.write("new/deep/er/one.py", "o\n");
    });
    assert_eq!(seen.paths, paths(&["new/deep/er/one.py"]));
    let seen = watched.seen(|fixture| {
        fixture.write("new/deep/er/two.py", "t\n");
    });
    assert_eq!(seen.paths, paths(&["new/deep/er/two.py"]));
    let renamed = watched.seen(|fixture| fs::rename(fixture.root().join("new"), fixture.root().join("old")).unwrap());
    assert_eq!(renamed.many, 1, "nobody says which files moved along");
    let seen = watched.seen(|fixture| {
        fixture.write("old/deep/er/two.py", "t = 2\n");
    });
    assert_eq!(seen.paths, paths(&["old/deep/er/two.py"]));
    watched.seen(|fixture| fs::remove_dir_all(fixture.root().join("old")).unwrap());
    let seen = watched.seen(|fixture| {
        fixture.write("old/deep/er/two.py", "t = 3\n");
    });
    assert!(
        seen.many == 1 || seen.paths.contains(&path("old/deep/er/two.py")),
        "{seen:?}"
    );
    let seen = watched.seen(|fixture| {
        fixture.write("old/deep/er/two.py", "t = 4\n");
    });
    assert_eq!(seen.paths, paths(&["old/deep/er/two.py"]));
}

#[test]
fn a_folder_in_the_place_of_another_hides_nothing() {
    let fixture = committed();
    fixture.write("gen/one.py", "o\n").write("other/two.py", "t\n");
    let watched = Watched::begin(fixture);
    let rename = |from: &str, to: &str| fs::rename(watched.fixture.root().join(from), watched.fixture.root().join(to));
    let seen = watched.seen(|fixture| {
        rename("gen", "gen.old").unwrap();
        fs::create_dir(fixture.root().join("gen")).unwrap();
    });
    assert_eq!(seen.many, 1, "gen/one.py is gone");
    let seen = watched.seen(|_| {
        rename("gen.old", "aside").unwrap();
        rename("other", "gen.old").unwrap();
        rename("aside", "other").unwrap();
    });
    assert_eq!(seen.many, 1, "two folders changed places");
    let seen = watched.seen(|fixture| {
        fixture.write("gen.old/two.py", "t = 2\n");
    });
    assert_eq!(seen.paths, paths(&["gen.old/two.py"]));
}

#[test]
fn a_lock_that_a_dead_git_left_behind_holds_nothing_back() {
    let fixture = committed();
    let lock = fs::File::create(fixture.root().join(".git/index.lock")).unwrap();
    lock.set_modified(std::time::SystemTime::now() - 2 * NEVER).unwrap();
    let watched = Watched::begin(fixture);
    let seen = watched.seen(|fixture| {
        fixture.write("a.py", "a = 2\n");
    });
    assert_eq!(seen.paths, paths(&["a.py"]));
}

#[test]
fn a_link_to_a_folder_above_is_no_way_in() {
    let fixture = committed();
    fixture.symlink("src/loop", "..").symlink("broken", "nowhere");
    let watched = Watched::begin(fixture);
    let seen = watched.seen(|fixture| {
        fixture.write("a.py", "a = 2\n");
    });
    assert_eq!((seen.paths, seen.updates), (paths(&["a.py"]), 1));
}

#[test]
fn a_nested_repository_and_a_submodule_are_their_own_business() {
    let fixture = committed();
    let other = committed();
    fixture.submodule("module", &other);
    git2_init(&fixture.root().join("nested"));
    let watched = Watched::begin(fixture);
    watched.silent(|fixture| {
        fixture.write("module/a.py", "a = 2\n").write("nested/x.py", "x\n");
    });
    let seen = watched.seen(|fixture| {
        fixture.write("later/x.py", "x\n");
    });
    assert_eq!(seen.paths, paths(&["later/x.py"]));
    let seen = watched.seen(|fixture| git2_init(&fixture.root().join("later")));
    assert_eq!(seen.git, ["Rules".to_owned()].into(), "a repository began there");
    watched.silent(|fixture| {
        fixture.write("later/x.py", "x = 2\n");
    });
}

fn git2_init(folder: &Path) {
    assert!(git(
        Path::new("git"),
        Path::new("/"),
        &["init", "--quiet", folder.to_str().unwrap()]
    ));
}

#[test]
fn a_checkout_of_ten_thousand_files_is_one_update() {
    let fixture = committed();
    for number in 0..10_000 {
        fixture.write(&format!("many/{}/{number}.py", number % 40), format!("n = {number}\n"));
    }
    fixture.commit("many");
    fixture.branch("few");
    fs::remove_dir_all(fixture.root().join("many")).unwrap();
    fixture.commit("few");
    let watched = Watched::begin(fixture);
    let seen = watched.seen(|fixture| assert!(git(Path::new("git"), fixture.root(), &["checkout", "--quiet", "main"])));
    assert_eq!((seen.updates, seen.many), (1, 1));
    assert_eq!(seen.heads, [(Some("few".to_owned()), Some("main".to_owned()))]);
    let seen = watched.seen(|fixture| {
        fixture.write("many/3/3.py", "n = 0\n");
    });
    assert_eq!(seen.paths, paths(&["many/3/3.py"]), "its folders are watched");
}

#[test]
fn what_git_does_is_seen_whichever_its_version() {
    for program in programs() {
        let watched = Watched::begin(committed());
        let run = |arguments: &[&str]| {
            let seen = watched.seen(|fixture| {
                assert!(git(&program, fixture.root(), arguments), "{arguments:?}");
            });
            (seen.heads.len(), seen.paths, seen.git)
        };
        let git_parts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let (heads, _, parts) = run(&["checkout", "--quiet", "-b", "feature/one"]);
        assert_eq!((heads, parts.contains("Refs")), (1, true), "{}", program.display());
        watched.seen(|fixture| {
            fixture.write("a.py", "a = 2\n");
        });
        let (heads, _, parts) = run(&["commit", "--quiet", "--all", "-m", "second"]);
        assert_eq!(
            (heads, parts),
            (1, git_parts(&["Index", "Refs"])),
            "a commit moves HEAD"
        );
        let (heads, touched, _) = run(&["checkout", "--quiet", "main"]);
        assert_eq!((heads, touched), (1, paths(&["a.py"])));
        watched.seen(|fixture| {
            fixture.write("src/b.py", "b = 2\n");
        });
        let (heads, touched, parts) = run(&["stash"]);
        assert_eq!((heads, touched), (0, paths(&["src/b.py"])));
        assert!(parts.contains("Refs"), "{parts:?}");
        let (_, touched, _) = run(&["stash", "pop"]);
        assert_eq!(touched, paths(&["src/b.py"]));
        let (heads, _, _) = run(&["commit", "--quiet", "--all", "-m", "third"]);
        assert_eq!(heads, 1);
        let (heads, touched, _) = run(&["rebase", "--quiet", "feature/one"]);
        assert!(heads >= 1 && touched.contains(&path("a.py")), "{heads} {touched:?}");
        let (heads, _, parts) = run(&["pack-refs", "--all"]);
        assert_eq!((heads, parts), (0, git_parts(&["Refs"])));
        let (heads, _, parts) = run(&["branch", "other"]);
        assert_eq!((heads, parts), (0, git_parts(&["Refs"])));
        let (heads, _, _) = run(&["mv", "a.py", "A.py"]);
        assert_eq!(heads, 0);
        let (heads, _, _) = run(&["reset", "--quiet", "--hard", "HEAD~1"]);
        assert_eq!(heads, 1);
    }
}

#[test]
fn a_linked_work_tree_follows_its_own_head_and_hears_of_the_others() {
    for program in programs() {
        let fixture = committed();
        let side = fixture.worktree("side");
        let main = fixture.root().to_owned();
        let watched = Watched::begin_at(fixture, &side);
        fs::write(side.join("a.py"), "a = 5\n").unwrap();
        let ChangedPaths::Some(touched) = watched.next().paths else {
            unreachable!("one file was written")
        };
        assert_eq!(touched, [path("a.py")]);
        assert!(git(&program, &main, &["checkout", "--quiet", "-b", "elsewhere"]));
        let change = watched.next();
        assert_eq!((change.head, change.git.contains(&GitPart::Refs)), (None, true));
        assert!(git(
            &program,
            &side,
            &["commit", "--quiet", "--all", "-m", "on the side"]
        ));
        assert!(watched.next().head.is_some());
    }
}

#[test]
fn where_folders_cannot_be_watched_changes_are_looked_for_and_a_person_is_told() {
    let fixture = committed();
    for number in 0..30 {
        fixture.write(&format!("folder{number}/a.py"), "a\n");
    }
    let (sender, heard) = channel();
    let repository = opened(fixture.root()).unwrap();
    let few = WatchOptions {
        most_folders: Some(20),
        ..options()
    };
    let _watcher = Watcher::begin(&repository, few, move |event| drop(sender.send(event))).unwrap();
    let next = || heard.recv_timeout(NEVER).unwrap();
    let WatcherEvent::Polling { why } = next() else {
        unreachable!("there are more folders than may be watched")
    };
    assert_eq!(why, WhyPolling::TooManyFolders { limit: Some(20) });
    assert!(
        why.remedy().contains("sysctl fs.inotify.max_user_watches"),
        "{}",
        why.remedy()
    );
    let many =
        |event: WatcherEvent| matches!(event, WatcherEvent::Changed(change) if change.paths == ChangedPaths::Many);
    assert!(many(next()), "what changed while nobody looked");
    fixture.write("folder7/a.py", "a = 2\n");
    assert!(many(next()));
    fixture.commit("second");
    let moved = |event: WatcherEvent| matches!(event, WatcherEvent::Changed(change) if change.head.is_some());
    while !moved(next()) {}
}

#[test]
fn a_repository_that_goes_away_is_waited_for() {
    let watched = Watched::begin(committed());
    let (root, aside) = (watched.fixture.root().to_owned(), watched.fixture.beside("aside"));
    fs::rename(&root, &aside).unwrap();
    loop {
        if let WatcherEvent::Polling { why } = watched.heard.recv_timeout(NEVER).unwrap() {
            assert_eq!(why, WhyPolling::RootGone);
            break;
        }
    }
    fs::rename(&aside, &root).unwrap();
    // The caller looks at everything when the watching begins.
    let next = watched.heard.recv_timeout(NEVER).unwrap();
    assert!(matches!(next, WatcherEvent::Watching { .. }), "{next:?}");
    let seen = watched.seen(|fixture| {
        fixture.write("src/b.py", "b = 2\n");
    });
    assert_eq!(seen.paths, paths(&["src/b.py"]));
}

#[test]
fn a_repository_that_cannot_be_read_for_a_while_is_watched_again() {
    let watched = Watched::begin(committed());
    let index = watched.fixture.root().join(".git/index");
    let whole = fs::read(&index).unwrap();
    fs::write(&index, "no index").unwrap();
    loop {
        if let WatcherEvent::Polling { why } = watched.heard.recv_timeout(NEVER).unwrap() {
            assert!(matches!(why, WhyPolling::Unreadable { .. }), "{why:?}");
            break;
        }
    }
    fs::write(&index, whole).unwrap();
    let next = watched.heard.recv_timeout(NEVER).unwrap();
    assert!(matches!(next, WatcherEvent::Watching { .. }), "{next:?}");
    let seen = watched.seen(|fixture| {
        fixture.write("a.py", "a = 2\n");
    });
    assert_eq!(seen.paths, paths(&["a.py"]));
}
