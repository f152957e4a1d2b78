//! References that lead in circles, are countless, or have names that steer a terminal.

use super::raw::{commit_bytes, git, link, no_id, object, write_git};
use super::{HostileGroup, HostileRepo};
use crate::FixtureRepo;
use git2::{ObjectType, Oid};
use std::fs;

pub(super) const GROUP: HostileGroup = HostileGroup {
    name: "references",
    repositories: &[
        HostileRepo::new(
            "head-circle",
            "HEAD names a branch that names a branch that names the first one",
            |fixture| {
                write_git(fixture, "HEAD", "ref: refs/heads/one\n");
                write_git(fixture, "refs/heads/one", "ref: refs/heads/two\n");
                write_git(fixture, "refs/heads/two", "ref: refs/heads/one\n");
            },
        ),
        HostileRepo::new("head-itself", "HEAD names HEAD", |fixture| {
            write_git(fixture, "HEAD", "ref: HEAD\n");
        }),
        HostileRepo::new("head-outside", "HEAD names a file outside the repository", |fixture| {
            fs::write(fixture.beside("secret"), "hunter2\n").expect("a file can be written");
            write_git(fixture, "HEAD", "ref: ../../secret\n");
        }),
        HostileRepo::new("head-garbage", "HEAD is no reference", |fixture| {
            write_git(fixture, "HEAD", b"\x1b[31m\xff\xfe\x07 nothing\n");
        }),
        HostileRepo::new("head-long", "HEAD names a branch of 15 megabytes", |fixture| {
            write_git(fixture, "HEAD", format!("ref: refs/heads/{}\n", "b".repeat(15_000_000)));
        }),
        HostileRepo::new("head-missing", "HEAD stands at a commit that is not there", |fixture| {
            write_git(fixture, "HEAD", format!("{}\n", no_id(0x53)));
        }),
        HostileRepo::new("detached", "HEAD stands at a commit and on no branch", |fixture| {
            fixture.detach();
        }),
        HostileRepo::new("unborn", "HEAD names a branch without a commit", |fixture| {
            write_git(fixture, "HEAD", "ref: refs/heads/none\n");
        }),
        HostileRepo::new("no-commit", "there is no commit and no object", |fixture| {
            fs::remove_dir_all(fixture.root()).expect("it can be deleted");
            git2::Repository::init(fixture.root()).expect("a repository can be made");
        }),
        HostileRepo::new("branches", "there are 100 000 branches, each in a file", |fixture| {
            let line = format!("{}\n", fixture.head());
            write_git(fixture, "refs/heads/many/first", &line);
            let folder = fixture.git_dir().join("refs/heads/many");
            for number in 0..100_000 {
                fs::write(folder.join(number.to_string()), &line).expect("a file can be written");
            }
        }),
        HostileRepo::new("branches-packed", "there are 500 000 branches in one file", |fixture| {
            let head = fixture.head();
            let lines = (0..500_000).map(|number| format!("{head} refs/heads/b{number:06}\n"));
            let lines: String = ["# pack-refs with: peeled fully-peeled sorted \n".to_owned()]
                .into_iter()
                .chain(lines)
                .collect();
            write_git(fixture, "packed-refs", lines);
        }),
        HostileRepo::new("branches-deep", "a branch lies in 1000 folders", |fixture| {
            write_git(
                fixture,
                &format!("refs/heads/{}main", "d/".repeat(1_000)),
                format!("{}\n", fixture.head()),
            );
        }),
        HostileRepo::new(
            "branches-links",
            "two links among the branches lead back to all of them",
            |fixture| {
                for name in ["one", "two"] {
                    link(&fixture.git_dir().join("refs/heads").join(name), ".");
                }
            },
        ),
        HostileRepo::new(
            "branches-link-root",
            "a link among the branches leads to /",
            |fixture| {
                link(&fixture.git_dir().join("refs/heads/all"), "/");
            },
        ),
        HostileRepo::new(
            "branch-name",
            "the branch at HEAD has a name that turns the direction of text",
            |fixture| {
                let (name, head) = ("refs/heads/\u{202e}niam\u{200b}", fixture.head());
                write_git(fixture, "HEAD", format!("ref: {name}\n"));
                write_git(fixture, name, format!("{head}\n"));
            },
        ),
        HostileRepo::new(
            "branch-name-packed",
            "the branch at HEAD has a name that steers a terminal, in the list of packed references",
            |fixture| {
                let (name, head) = ("refs/heads/\u{1b}[2J\u{7}\u{202e}niam", fixture.head());
                write_git(fixture, "packed-refs", format!("{head} {name}\n"));
                write_git(fixture, "HEAD", format!("ref: {name}\n"));
            },
        ),
        HostileRepo::new(
            "packed-refs-garbage",
            "the list of packed references is garbage",
            |fixture| {
                write_git(
                    fixture,
                    "packed-refs",
                    b"# pack-refs with: peeled\n^^^^\n\xff\xfe\x1b[31m\n0123 refs/heads/x\n",
                );
            },
        ),
        HostileRepo::new("replaced", "two commits are replaced by one another", |fixture| {
            let (one, two) = next(fixture);
            write_git(fixture, &format!("refs/replace/{one}"), format!("{two}\n"));
            write_git(fixture, &format!("refs/replace/{two}"), format!("{one}\n"));
        }),
        HostileRepo::new(
            "grafts",
            "two commits are parents of one another by the grafts",
            |fixture| {
                let (one, two) = next(fixture);
                write_git(fixture, "info/grafts", format!("{one} {two}\n{two} {one}\n"));
            },
        ),
        HostileRepo::new(
            "shallow",
            "the history ends at HEAD, as in a clone of depth 1",
            |fixture| {
                fixture.write("app.py", "changed = 1\n").commit("Second");
                fixture.shallow();
            },
        ),
        HostileRepo::new(
            "shallow-garbage",
            "the list of commits that end the history is garbage",
            |fixture| {
                write_git(fixture, "shallow", b"\x1b[31m nothing\xff\n");
            },
        ),
        HostileRepo::new(
            "base-collected",
            "the history was written anew, and the commits before are deleted",
            |fixture| {
                let collected = fixture.write("app.py", "changed = 1\n").commit("Second");
                fs::write(fixture.beside("collected"), collected).expect("a file can be written");
                git(fixture.root(), &["commit", "-q", "--amend", "-m", "Another one"]);
                git(fixture.root(), &["reflog", "expire", "--expire=now", "--all"]);
                git(fixture.root(), &["gc", "-q", "--prune=now"]);
            },
        ),
    ],
};

/// Commits once more; returns the two last commits.
fn next(fixture: &FixtureRepo) -> (Oid, Oid) {
    let one = Oid::from_str(&fixture.head()).expect("a commit has an id");
    let tree = fixture.git2().revparse_single("HEAD^{tree}").expect("it is there").id();
    let two = object(fixture, ObjectType::Commit, &commit_bytes(tree, &[one], "second\n"));
    super::raw::point_main_at(fixture, two);
    (one, two)
}
