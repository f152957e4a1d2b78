//! Trees, commits and blobs that stand for more than any machine holds, or that are not what they say.

use super::raw::{
    TreeEntry, blob, commit, commit_bytes, cut, deflated, loose, no_id, object, pipe, point_main_at, tree, tree_bytes,
    write_git,
};
use super::{HostileGroup, HostileRepo};
use crate::FixtureRepo;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use git2::{ObjectType, Oid};
use std::fs;
use std::io::Write as _;

pub(super) const GROUP: HostileGroup = HostileGroup {
    name: "objects",
    repositories: &[
        HostileRepo::new(
            "bomb",
            "a tree of ten folders, ten times in one another: 10^10 files",
            |fixture| {
                let tree = nested(fixture, 10, 10);
                commit(fixture, tree);
            },
        ),
        HostileRepo::new("depth", "20 000 folders in one another", |fixture| {
            let tree = nested(fixture, 20_000, 1);
            commit(fixture, tree);
        }),
        HostileRepo::new("flat", "a folder of 1 000 001 files, all of one content", |fixture| {
            let blob = blob(fixture, "x\n");
            let names: Vec<String> = (0..1_000_001).map(|number| format!("{number:07}")).collect();
            let entries: Vec<TreeEntry<'_>> = names.iter().map(|name| (0o100_644, name.as_bytes(), blob)).collect();
            let tree = tree(fixture, &entries);
            commit(fixture, tree);
        }),
        HostileRepo::new("long-names", "names of 200 000 letters, in many folders", |fixture| {
            let ground = nested(fixture, 3, 10);
            let long = vec![b'n'; 200_000];
            let inner = tree(fixture, &[(0o040_000, &long, ground)]);
            let outer = tree(fixture, &[(0o040_000, b"a", inner), (0o040_000, b"b", inner)]);
            commit(fixture, outer);
        }),
        HostileRepo::new(
            "itself",
            "a tree that names itself, under an id that is not its own",
            |fixture| {
                let id = no_id(0x77);
                let bytes = tree_bytes(&[(0o040_000, b"again", id)]);
                loose(
                    fixture,
                    id,
                    &whole(format!("tree {}\0", bytes.len()).as_bytes(), &bytes),
                );
                commit(fixture, id);
            },
        ),
        HostileRepo::new("commit-cut", "the commit at HEAD has 20 bytes of its file", |fixture| {
            cut(fixture, id(fixture, "HEAD"));
        }),
        HostileRepo::new("tree-cut", "the tree at HEAD has 20 bytes of its file", |fixture| {
            cut(fixture, id(fixture, "HEAD^{tree}"));
        }),
        HostileRepo::new("blob-cut", "a file at HEAD has 20 bytes of its object", |fixture| {
            cut(fixture, id(fixture, "HEAD:lib/sums.py"));
        }),
        HostileRepo::new(
            "blob-bomb",
            "a file is an object of four megabytes that stands for four gigabytes",
            |fixture| {
                let id = no_id(0x66);
                loose(
                    fixture,
                    id,
                    &deflated(format!("blob {}\0", 4096_u64 << 20).as_bytes(), 4096),
                );
                commit_file(fixture, id);
            },
        ),
        HostileRepo::new(
            "blob-bomb-hidden",
            "as blob-bomb, and says that it is ten bytes",
            |fixture| {
                let id = no_id(0x65);
                loose(fixture, id, &deflated(b"blob 10\0", 4096));
                commit_file(fixture, id);
            },
        ),
        HostileRepo::new(
            "blob-boast",
            "a file of two bytes says that it has a tebibyte",
            |fixture| {
                let id = no_id(0x64);
                loose(fixture, id, &whole(b"blob 1099511627776\0", b"x\n"));
                commit_file(fixture, id);
            },
        ),
        HostileRepo::new("tree-boast", "a tree says that it has a tebibyte", |fixture| {
            let id = no_id(0x63);
            loose(fixture, id, &whole(b"tree 1099511627776\0", b"x\n"));
            commit(fixture, id);
        }),
        HostileRepo::new(
            "commit-boast",
            "the commit at HEAD says that it has a tebibyte",
            |fixture| {
                let id = no_id(0x62);
                loose(fixture, id, &whole(b"commit 1099511627776\0", b"x\n"));
                point_main_at(fixture, id);
            },
        ),
        HostileRepo::new(
            "commit-bomb",
            "the commit at HEAD stands for four gigabytes",
            |fixture| {
                let id = no_id(0x61);
                let head = commit_bytes(self::id(fixture, "HEAD^{tree}"), &[], "");
                let bytes = [format!("commit {}\0", 4096_u64 << 20).into_bytes(), head].concat();
                loose(fixture, id, &deflated(&bytes, 4096));
                point_main_at(fixture, id);
            },
        ),
        HostileRepo::new("message", "a commit has a message of 100 megabytes", |fixture| {
            let (tree, parent) = (id(fixture, "HEAD^{tree}"), id(fixture, "HEAD"));
            let bytes = commit_bytes(tree, &[parent], &"m".repeat(100_000_000));
            let long = object(fixture, ObjectType::Commit, &bytes);
            point_main_at(
                fixture,
                object(fixture, ObjectType::Commit, &commit_bytes(tree, &[long], "behind it\n")),
            );
        }),
        HostileRepo::new(
            "message-head",
            "the commit at HEAD has a message of 100 megabytes",
            |fixture| {
                let (tree, parent) = (id(fixture, "HEAD^{tree}"), id(fixture, "HEAD"));
                let bytes = commit_bytes(tree, &[parent], &"m".repeat(100_000_000));
                point_main_at(fixture, object(fixture, ObjectType::Commit, &bytes));
            },
        ),
        HostileRepo::new("octopus", "a commit has 4000 parents", |fixture| {
            let tree = id(fixture, "HEAD^{tree}");
            let root = |number| {
                object(
                    fixture,
                    ObjectType::Commit,
                    &commit_bytes(tree, &[], &format!("root {number}\n")),
                )
            };
            let parents: Vec<Oid> = (0..4_000).map(root).collect();
            point_main_at(
                fixture,
                object(fixture, ObjectType::Commit, &commit_bytes(tree, &parents, "all\n")),
            );
        }),
        HostileRepo::new(
            "parents-same",
            "a hundred commits name the one before a thousand times",
            |fixture| {
                let (tree, first) = (id(fixture, "HEAD^{tree}"), id(fixture, "HEAD"));
                let next = |before: Oid, number: usize| {
                    let bytes = commit_bytes(tree, &vec![before; 1_000], &format!("{number}\n"));
                    object(fixture, ObjectType::Commit, &bytes)
                };
                point_main_at(fixture, (0..100).fold(first, next));
            },
        ),
        HostileRepo::new("dates", "dates and encodings of commits are nonsense", |fixture| {
            authored(
                fixture,
                &[
                    ("Ada <ada@example.com> -99999999999 -9999", "encoding \u{1b}[2J\n"),
                    ("Ada <> not-a-date", "encoding utf-7\n"),
                    ("\u{1b}]0;owned\u{7} <\u{202e}> 1 +0000", "gpgsig -----BEGIN\n x\n"),
                    ("Ada <ada@example.com> 99999999999999999999 +9999", ""),
                ],
            );
        }),
        HostileRepo::new("author-missing", "the commit at HEAD has no author", |fixture| {
            authored(fixture, &[("", "")]);
        }),
        HostileRepo::new(
            "parent-cut",
            "the commit before HEAD has 20 bytes of its file",
            |fixture| {
                let parent = id(fixture, "HEAD");
                fixture.write("app.py", "changed = 1\n").commit("Second");
                cut(fixture, parent);
            },
        ),
        HostileRepo::new("folder-cut", "a folder at HEAD has 20 bytes of its object", |fixture| {
            cut(fixture, id(fixture, "HEAD:lib"));
        }),
        HostileRepo::new("subject", "what the commit at HEAD says steers a terminal", |fixture| {
            let (tree, parent) = (id(fixture, "HEAD^{tree}"), id(fixture, "HEAD"));
            let message = "\u{1b}]52;c;cm0gLXJm\u{7}\u{1b}[2J\u{202e}gpj.exe\u{200b}\u{9b}31m\n";
            let bytes = [commit_bytes(tree, &[parent], message), vec![0xff, 0xfe, b'\n']].concat();
            point_main_at(fixture, object(fixture, ObjectType::Commit, &bytes));
        }),
        HostileRepo::new("commit-garbage", "the commit at HEAD is no commit", |fixture| {
            point_main_at(
                fixture,
                object(fixture, ObjectType::Commit, b"tree here\nparent there\n"),
            );
        }),
        HostileRepo::new("tree-garbage", "the tree at HEAD is no tree", |fixture| {
            commit(fixture, object(fixture, ObjectType::Tree, b"100644 cut"));
        }),
        HostileRepo::new("tree-missing", "the tree at HEAD is not there", |fixture| {
            commit(fixture, no_id(0x55));
        }),
        HostileRepo::new("parent-missing", "the commit before HEAD is not there", |fixture| {
            let tree = id(fixture, "HEAD^{tree}");
            point_main_at(
                fixture,
                object(
                    fixture,
                    ObjectType::Commit,
                    &commit_bytes(tree, &[no_id(0x54)], "next\n"),
                ),
            );
        }),
        HostileRepo::new(
            "tags",
            "the branch is a tag of a tag of a tag, 20 000 times",
            |fixture| {
                let first = (id(fixture, "HEAD"), "commit");
                let (last, _) = (0..20_000).fold(first, |(id, kind), number| {
                    let text = format!("object {id}\ntype {kind}\ntag t{number}\ntagger Ada <a@b.c> 1 +0000\n\nx\n");
                    (object(fixture, ObjectType::Tag, text.as_bytes()), "tag")
                });
                point_main_at(fixture, last);
            },
        ),
        HostileRepo::new("head-blob", "the branch stands at a file", |fixture| {
            point_main_at(fixture, id(fixture, "HEAD:app.py"));
        }),
        HostileRepo::new("object-pipe", "an object is a named pipe", |fixture| {
            pipe(
                &fixture
                    .git_dir()
                    .join(super::raw::loose_name(id(fixture, "HEAD:app.py"))),
            );
        }),
        HostileRepo::new(
            "alternates-itself",
            "the objects name themselves as further ones",
            |fixture| {
                write_git(fixture, "objects/info/alternates", "../objects\n");
            },
        ),
        HostileRepo::new(
            "alternates-fan",
            "the objects name themselves 10 000 times as further ones",
            |fixture| {
                write_git(fixture, "objects/info/alternates", "../objects\n".repeat(10_000));
            },
        ),
        HostileRepo::new(
            "alternates-pipe",
            "the file with further objects is a named pipe",
            |fixture| {
                pipe(&fixture.git_dir().join("objects/info/alternates"));
            },
        ),
        HostileRepo::new(
            "alternates-chain",
            "further objects name further ones, 30 times",
            |fixture| {
                let folder = |number: usize| fixture.git_dir().join(format!("more/{number}"));
                for number in 0..30 {
                    let next = format!("{}\n", folder(number + 1).display());
                    write_git(fixture, &format!("more/{number}/info/alternates"), next);
                    fs::create_dir_all(folder(number).join("pack")).expect("a folder can be made");
                }
                write_git(fixture, "objects/info/alternates", format!("{}\n", folder(0).display()));
            },
        ),
        HostileRepo::new(
            "alternates-root",
            "further objects lie in / and in somebody's home",
            |fixture| {
                let home = fixture.beside("home");
                fs::create_dir(&home).expect("a folder can be made");
                fs::write(home.join("secret"), "hunter2\n").expect("a file can be written");
                write_git(
                    fixture,
                    "objects/info/alternates",
                    format!("/\n/proc\n/dev\n{}\n", home.display()),
                );
            },
        ),
        HostileRepo::new(
            "graph-garbage",
            "the commit graph and the index of all packs are garbage",
            |fixture| {
                let bytes: Vec<u8> = (0..8_192_u32).map(|number| (number * 97 % 251) as u8).collect();
                write_git(
                    fixture,
                    "objects/info/commit-graph",
                    [b"CGPH\x01\x01\x04\x00", &*bytes].concat(),
                );
                write_git(
                    fixture,
                    "objects/pack/multi-pack-index",
                    [b"MIDX\x01\x01\x04\x00\xff\xff\xff\xff", &*bytes].concat(),
                );
            },
        ),
    ],
};

/// Returns the id of a revision.
fn id(fixture: &FixtureRepo, revision: &str) -> Oid {
    let found = fixture.git2().revparse_single(revision);
    found.expect("the revision is there").id()
}

/// Commits the same tree with authors and further lines that are these.
fn authored(fixture: &FixtureRepo, all: &[(&str, &str)]) {
    let (tree, mut parent) = (id(fixture, "HEAD^{tree}"), id(fixture, "HEAD"));
    for (who, more) in all {
        let head = format!("tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n{more}");
        let text = format!("{head}\n\u{1b}[31mred\u{7} \u{202e}back\r\nnext");
        parent = object(fixture, ObjectType::Commit, text.as_bytes());
    }
    point_main_at(fixture, parent);
}

/// Commits a tree with one file.
fn commit_file(fixture: &FixtureRepo, blob: Oid) {
    let app = self::blob(fixture, "def main():\n    return 1\n");
    let tree = tree(fixture, &[(0o100_644, b"app.py", app), (0o100_644, b"odd.py", blob)]);
    commit(fixture, tree);
}

/// Returns a tree of entries that are the same tree, and so on; with files at the ground.
fn nested(fixture: &FixtureRepo, levels: usize, width: usize) -> Oid {
    let names: Vec<String> = (0..width).map(|number| format!("n{number}")).collect();
    let all = |mode, id| -> Vec<TreeEntry<'_>> { names.iter().map(|name| (mode, name.as_bytes(), id)).collect() };
    let ground = tree(fixture, &all(0o100_644, blob(fixture, "x\n")));
    (1..levels).fold(ground, |inner, _| tree(fixture, &all(0o040_000, inner)))
}

/// Returns what zlib makes of these bytes.
fn whole(head: &[u8], rest: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(head).expect("memory can be written");
    encoder.write_all(rest).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}
