//! Names of files that steer a terminal, lead out of the tree, or are the same to some systems.

use super::raw::{TreeEntry, blob, commit, link, tree};
use super::{HostileGroup, HostileRepo};
use crate::FixtureRepo;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

pub(super) const GROUP: HostileGroup = HostileGroup {
    name: "names",
    repositories: &[
        HostileRepo::new(
            "names-terminal",
            "names of files steer a terminal, in the tree and beside it",
            |fixture| {
                named(fixture, &ODD);
                for name in ODD {
                    fs::write(fixture.root().join(OsStr::from_bytes(name)), "def main(): pass\n")
                        .expect("a file can be written");
                }
            },
        ),
        HostileRepo::new(
            "names-git",
            "a tree has .git in all its spellings, with a configuration in it",
            |fixture| {
                let config = blob(fixture, "[core]\n\tfsmonitor = /bin/false\n");
                let inner = tree(fixture, &[(0o100_644, b"config", config)]);
                let spellings: [&[u8]; 8] = [
                    b".GIT",
                    b".Git ",
                    b".git",
                    b".git.",
                    b".git::$INDEX_ALLOCATION",
                    ".g\u{200c}it".as_bytes(),
                    b"GIT~1",
                    b"git~1",
                ];
                let entries: Vec<TreeEntry<'_>> = spellings.iter().map(|name| (0o040_000, *name, inner)).collect();
                with_app(fixture, &entries);
            },
        ),
        HostileRepo::new(
            "names-outside",
            "a tree has entries with the names .., . and /, and with slashes in them",
            |fixture| {
                let blob = blob(fixture, "root::0:0::/:/bin/sh\n");
                let inner = tree(fixture, &[(0o100_644, b"passwd", blob)]);
                let entries = [
                    (0o040_000, b".".as_slice(), inner),
                    (0o040_000, b"..".as_slice(), inner),
                    (0o100_644, b"../../escaped.py".as_slice(), blob),
                    (0o100_644, b"/etc/passwd".as_slice(), blob),
                    (0o100_644, b"C:\\Windows\\odd.py".as_slice(), blob),
                    (0o100_644, b"..\\..\\escaped.py".as_slice(), blob),
                    (0o100_644, b"lib/inner.py".as_slice(), blob),
                ];
                with_app(fixture, &entries);
            },
        ),
        HostileRepo::new("name-empty", "an entry of a tree has an empty name", |fixture| {
            let blob = blob(fixture, "x = 1\n");
            with_app(fixture, &[(0o100_644, b"", blob)]);
        }),
        HostileRepo::new(
            "mode-large",
            "an entry of a tree has a mode that no system has",
            |fixture| {
                let blob = blob(fixture, "x = 1\n");
                with_app(fixture, &[(0o777_777, b"all.py", blob)]);
            },
        ),
        HostileRepo::new(
            "names-same",
            "names differ by their case or their accents alone, and some not at all",
            |fixture| {
                let blob = blob(fixture, "x = 1\n");
                let inner = tree(fixture, &[(0o100_644, b"a.py", blob)]);
                let entries = [
                    (0o100_644, b"README".as_slice(), blob),
                    (0o040_000, b"README".as_slice(), inner),
                    (0o100_644, b"Readme".as_slice(), blob),
                    (0o100_644, b"readme".as_slice(), blob),
                    (0o100_644, b"readme".as_slice(), blob),
                    (0o100_644, "caf\u{e9}.py".as_bytes(), blob),
                    (0o100_644, "cafe\u{301}.py".as_bytes(), blob),
                ];
                with_app(fixture, &entries);
            },
        ),
        HostileRepo::new(
            "names-long",
            "names have 255 and 4000 letters, and a path 40 000",
            |fixture| {
                let (short, long) = (vec![b's'; 255], vec![b'l'; 4_000]);
                let blob = blob(fixture, "x = 1\n");
                let mut inner = tree(fixture, &[(0o100_644, &short, blob)]);
                for _ in 0..160 {
                    inner = tree(fixture, &[(0o040_000, &short, inner)]);
                }
                with_app(fixture, &[(0o100_644, &long, blob), (0o040_000, b"path", inner)]);
            },
        ),
        HostileRepo::new("names-devices", "names are those of devices on Windows", |fixture| {
            named(fixture, &[b"AUX", b"CON.py", b"NUL", b"a.py ", b"b.py.", b"com1.txt"]);
        }),
        HostileRepo::new("modes", "entries of a tree have modes that do not exist", |fixture| {
            let file = blob(fixture, "x = 1\n");
            let inner = tree(fixture, &[(0o100_644, b"a.py", file)]);
            let entries = [
                (0, b"nothing.py".as_slice(), file),
                (0o100_666, b"old.py".as_slice(), file),
                (0o104_755, b"setuid.py".as_slice(), file),
                (0o060_000, b"block.py".as_slice(), file),
                (0o777_777, b"all.py".as_slice(), file),
                (0o100_644, b"file-that-is-a-folder".as_slice(), inner),
                (0o040_000, b"folder-that-is-a-file".as_slice(), file),
                (0o120_000, b"link-that-is-a-folder".as_slice(), inner),
                (0o160_000, b"submodule-that-is-a-file".as_slice(), file),
            ];
            with_app(fixture, &entries);
        }),
        HostileRepo::new(
            "links-outside",
            "links in the tree lead to /, to a device and to somebody's home",
            |fixture| {
                for (name, target) in [
                    ("all", "/"),
                    ("device", "/dev/zero"),
                    ("home", "../../.."),
                    ("passwd.py", "/etc/passwd"),
                ] {
                    link(&fixture.root().join(name), target);
                }
                fixture.commit("Add links");
            },
        ),
        HostileRepo::new(
            "submodules",
            "submodules have paths and addresses that lead elsewhere",
            |fixture| {
                let id = super::raw::no_id(0x52);
                let entries = [
                    (0o160_000, b"-upload".as_slice(), id),
                    (0o160_000, b"..".as_slice(), id),
                    (0o160_000, b"sub".as_slice(), id),
                ];
                with_app(fixture, &entries);
                fixture.write(
                    ".gitmodules",
                    "[submodule \"../../hooks\"]\n\tpath = .git/hooks\n\turl = -u./payload\n\
                 [submodule \"sub\"]\n\tpath = ../../outside\n\turl = ext::sh -c id\n\tupdate = !id\n\
                 [submodule \"\u{1b}[31m\u{202e}\"]\n\tpath = \u{1b}]0;x\u{7}\n\turl = http://localhost:1/\n",
                );
            },
        ),
    ],
};

const ODD: [&[u8]; 7] = [
    b"bell\x07.py",
    "bidi-\u{202e}yp.exe".as_bytes(),
    b"bytes-\xff\xfe.py",
    b"escape-\x1b[31m\x1b]0;owned\x07.py",
    b"line\nerror: nothing\n.py",
    b"return\rover.py",
    "unseen-\u{200b}\u{2066}.py".as_bytes(),
];

/// Commits a tree with ordinary files of these names.
fn named(fixture: &FixtureRepo, names: &[&[u8]]) {
    let blob = blob(fixture, "def main(): pass\n");
    let entries: Vec<TreeEntry<'_>> = names.iter().map(|name| (0o100_644, *name, blob)).collect();
    with_app(fixture, &entries);
}

/// Commits a tree with these entries and an ordinary file.
fn with_app(fixture: &FixtureRepo, entries: &[TreeEntry<'_>]) {
    let app = blob(fixture, "def main():\n    return 1\n");
    let all: Vec<TreeEntry<'_>> = [(0o100_644, b"app.py".as_slice(), app)]
        .into_iter()
        .chain(entries.iter().copied())
        .collect();
    let tree = tree(fixture, &all);
    commit(fixture, tree);
}
