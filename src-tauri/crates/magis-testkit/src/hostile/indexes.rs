//! Indexes of the work tree that are damaged, boast, or have a form that only newer programs know.

use super::raw::{git, write_git};
use super::{HostileGroup, HostileRepo};
use crate::FixtureRepo;
use git2::Oid;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

pub(super) const GROUP: HostileGroup = HostileGroup {
    name: "indexes",
    repositories: &[
        HostileRepo::new(
            "index-extension",
            "the index has an extension that nobody knows and that has to be known",
            |fixture| {
                let mut bytes = index(2, &[("app.py", fixture_blob(fixture))], 1);
                bytes.extend(b"evil\0\0\0\x04oddd");
                write_index(fixture, bytes);
            },
        ),
        HostileRepo::new("index-v4", "the index has version 4", |fixture| {
            git(fixture.root(), &["update-index", "--index-version", "4"]);
        }),
        HostileRepo::new("index-split", "the index is split", |fixture| {
            git(fixture.root(), &["update-index", "--split-index"]);
        }),
        HostileRepo::new(
            "index-sparse-folders",
            "the index has folders in the place of files",
            |fixture| {
                git(fixture.root(), &["sparse-checkout", "init", "--cone", "--sparse-index"]);
            },
        ),
        HostileRepo::new(
            "index-boast",
            "the index says that it has four billion files",
            |fixture| {
                let bytes = index(2, &[("app.py", fixture_blob(fixture))], u32::MAX);
                write_index(fixture, bytes);
            },
        ),
        HostileRepo::new("index-cut", "the index ends in its middle", |fixture| {
            let bytes = fs::read(fixture.git_dir().join("index")).expect("it is there");
            write_git(fixture, "index", &bytes[..bytes.len() / 2]);
        }),
        HostileRepo::new("index-empty", "the index has no byte", |fixture| {
            write_git(fixture, "index", "");
        }),
        HostileRepo::new(
            "index-version",
            "the index has a version that does not exist",
            |fixture| {
                let bytes = index(99, &[("app.py", fixture_blob(fixture))], 1);
                write_index(fixture, bytes);
            },
        ),
        HostileRepo::new(
            "index-outside",
            "the index has files outside the work tree and in git's folder",
            |fixture| {
                let blob = fixture_blob(fixture);
                let paths = [
                    "../../outside.py",
                    ".git/hooks/post-checkout",
                    "/etc/passwd",
                    "a/../../b",
                    "lib/sums.py",
                ];
                let entries: Vec<(&str, Oid)> = paths.iter().map(|path| (*path, blob)).collect();
                let bytes = index(2, &entries, 5);
                write_index(fixture, bytes);
            },
        ),
        HostileRepo::new(
            "index-v4-cut",
            "a name of an index of version 4 takes more of the one before than that has",
            |fixture| {
                let mut bytes = index(4, &[], 1);
                bytes.extend([0; 40]);
                bytes.extend([0x11; 20]);
                bytes.extend([0, 1, 0xff, 0xff, 0xff, 0x7f, b'a', 0]);
                write_index(fixture, bytes);
            },
        ),
    ],
};

fn fixture_blob(fixture: &FixtureRepo) -> Oid {
    fixture.git2().revparse_single("HEAD:app.py").expect("it is there").id()
}

/// Returns an index without its sum: a head that says so many entries, and these.
fn index(version: u32, entries: &[(&str, Oid)], said: u32) -> Vec<u8> {
    let mut bytes = b"DIRC".to_vec();
    bytes.extend(version.to_be_bytes());
    bytes.extend(said.to_be_bytes());
    for (path, id) in entries {
        let start = bytes.len();
        bytes.extend([0; 24]);
        bytes.extend(0o100_644_u32.to_be_bytes());
        bytes.extend([0; 12]);
        bytes.extend(id.as_bytes());
        bytes.extend((path.len() as u16).to_be_bytes());
        bytes.extend(path.as_bytes());
        // At least one zero ends an entry, and its length is a multiple of eight.
        let length = bytes.len() - start;
        bytes.extend(vec![0; 8 - length % 8]);
    }
    bytes
}

/// Writes an index with the sum of its bytes.
fn write_index(fixture: &FixtureRepo, mut bytes: Vec<u8>) {
    let sum = sha1(&bytes);
    bytes.extend(sum);
    write_git(fixture, "index", bytes);
}

/// Returns the SHA-1 of some bytes, with which an index ends.
fn sha1(bytes: &[u8]) -> Vec<u8> {
    let mut program = Command::new("sha1sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program sha1sum is there");
    let mut input = program.stdin.take().expect("it has an input");
    input.write_all(bytes).expect("it reads its input");
    drop(input);
    let said = program.wait_with_output().expect("it ends").stdout;
    let said = String::from_utf8_lossy(&said);
    let id = Oid::from_str(&said[..40]).expect("it says 40 digits");
    id.as_bytes().to_vec()
}
