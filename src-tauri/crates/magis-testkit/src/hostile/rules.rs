//! Files of rules that are no ordinary files, or that take for ever to follow.

use super::raw::{TEBIBYTE, endless, pipe, socket, sparse, write_git};
use super::{HostileGroup, HostileRepo};
use crate::FixtureRepo;
use git2::{IndexEntry, IndexTime, Oid};

pub(super) const GROUP: HostileGroup = HostileGroup {
    name: "rules",
    repositories: &[
        HostileRepo::new("attributes-device", ".gitattributes leads to /dev/zero", |fixture| {
            endless(&fixture.root().join(".gitattributes"));
        }),
        HostileRepo::new(
            "ignore-device",
            ".gitignore in a folder leads to /dev/zero",
            |fixture| {
                endless(&fixture.root().join("lib/.gitignore"));
            },
        ),
        HostileRepo::new("modules-device", ".gitmodules leads to /dev/zero", |fixture| {
            endless(&fixture.root().join(".gitmodules"));
        }),
        HostileRepo::new("attributes-pipe", ".gitattributes is a named pipe", |fixture| {
            pipe(&fixture.root().join(".gitattributes"));
        }),
        HostileRepo::new("ignore-pipe", ".gitignore is a named pipe", |fixture| {
            pipe(&fixture.root().join(".gitignore"));
        }),
        HostileRepo::new("modules-pipe", ".gitmodules is a named pipe", |fixture| {
            pipe(&fixture.root().join(".gitmodules"));
        }),
        HostileRepo::new("attributes-socket", ".gitattributes is a socket", |fixture| {
            socket(&fixture.root().join(".gitattributes"));
        }),
        HostileRepo::new("attributes-sparse", ".gitattributes has a tebibyte", |fixture| {
            sparse(&fixture.root().join(".gitattributes"), TEBIBYTE);
        }),
        HostileRepo::new("ignore-sparse", ".gitignore has a tebibyte", |fixture| {
            sparse(&fixture.root().join(".gitignore"), TEBIBYTE);
        }),
        HostileRepo::new("exclude-pipe", ".git/info/exclude is a named pipe", |fixture| {
            pipe(&fixture.git_dir().join("info/exclude"));
        }),
        HostileRepo::new(
            "attributes-stars",
            "a pattern of .gitattributes has fourteen stars, and a name of 250 letters nearly fits",
            |fixture| {
                let rule = format!("{} filter=odd\n", stars(14));
                fixture.write(&long_name(), "x\n").stage();
                fixture.write(".gitattributes", rule).write(&long_name(), "changed\n");
            },
        ),
        HostileRepo::new(
            "attributes-stars-staged",
            "as attributes-stars, with the pattern in the index alone",
            |fixture| {
                let rule = format!("{} filter=odd\n", stars(14));
                fixture.write(".gitattributes", rule).stage();
                // Not from a file, since libgit2 would compare its name with the pattern.
                let entry = IndexEntry {
                    ctime: IndexTime::new(0, 0),
                    mtime: IndexTime::new(0, 0),
                    dev: 0,
                    ino: 0,
                    mode: 0o100_644,
                    uid: 0,
                    gid: 0,
                    file_size: 0,
                    id: Oid::ZERO_SHA1,
                    flags: 0,
                    flags_extended: 0,
                    path: long_name().into_bytes(),
                };
                let mut index = fixture.git2().index().expect("the index can be read");
                index.add_frombuffer(&entry, b"x\n").expect("a file can be staged");
                index.write().expect("the index can be written");
                fixture.remove(".gitattributes").write(&long_name(), "changed\n");
            },
        ),
        HostileRepo::new(
            "ignore-stars",
            "a pattern of .gitignore has fourteen stars, and a name of 250 letters nearly fits",
            |fixture| {
                fixture.write(".gitignore", stars(14)).write(&long_name(), "x\n");
            },
        ),
        HostileRepo::new(
            "ignore-stars-folders",
            "a pattern of .gitignore has fourteen times **/, and folders lie 90 deep in one another",
            |fixture| {
                let rule = format!("{}b\n", "**/a/".repeat(14));
                fixture
                    .write(".gitignore", rule)
                    .write(&format!("{}c", "a/".repeat(90)), "x\n");
            },
        ),
        HostileRepo::new(
            "exclude-stars",
            "a pattern of .git/info/exclude has fourteen stars, and a name of 250 letters nearly fits",
            |fixture| {
                write_git(fixture, "info/exclude", stars(14));
                fixture.write(&long_name(), "x\n");
            },
        ),
        HostileRepo::new("ignore-many", ".gitignore has 300 000 patterns", many_rules),
    ],
};

/// Returns a pattern that a name of letters `a` nearly fits, in very many ways.
fn stars(number: usize) -> String {
    format!("{}b", "*a".repeat(number))
}

fn long_name() -> String {
    format!("{}.py", "a".repeat(250))
}

fn many_rules(fixture: &FixtureRepo) {
    let rules = (0..300_000).map(|number| format!("*name{number}*.log\n"));
    fixture.write(".gitignore", rules.collect::<Vec<String>>().concat());
}
