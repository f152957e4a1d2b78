//! Packs that are damaged, or whose differences never end.

use super::raw::{blob, commit, git, no_id, tree, write_git};
use super::{HostileGroup, HostileRepo};
use crate::FixtureRepo;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use git2::Oid;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

pub(super) const GROUP: HostileGroup = HostileGroup {
    name: "packs",
    repositories: &[
        HostileRepo::new(
            "index-of-pack-8",
            "26 bytes stand at byte 8 of a pack's index that do not belong there",
            |fixture| {
                damage_index(fixture, 8);
            },
        ),
        HostileRepo::new(
            "index-of-pack-1032",
            "26 bytes stand at byte 1032 of a pack's index that do not belong there",
            |fixture| {
                damage_index(fixture, 1_032);
            },
        ),
        HostileRepo::new(
            "index-of-pack-1060",
            "26 bytes stand at byte 1060 of a pack's index that do not belong there",
            |fixture| {
                damage_index(fixture, 1_060);
            },
        ),
        HostileRepo::new("pack-cut", "a pack ends in its middle", |fixture| {
            let pack = packed(fixture, "pack");
            let bytes = fs::read(&pack).expect("a pack can be read");
            fs::write(pack, &bytes[..bytes.len() / 2]).expect("it can be written");
        }),
        HostileRepo::new("pack-empty", "a pack has no byte", |fixture| {
            fs::write(packed(fixture, "pack"), b"").expect("it can be written");
        }),
        HostileRepo::new(
            "delta-circle",
            "two files of a pack are differences from one another",
            |fixture| {
                let (one, two) = (no_id(0x11), no_id(0x12));
                write_pack(fixture, &[(one, difference(two, &[])), (two, difference(one, &[]))]);
                commit_files(fixture, &[one, two]);
            },
        ),
        HostileRepo::new(
            "delta-itself",
            "a file of a pack is the difference from itself",
            |fixture| {
                let one = no_id(0x13);
                write_pack(fixture, &[(one, difference(one, &[]))]);
                commit_files(fixture, &[one]);
            },
        ),
        HostileRepo::new(
            "delta-circle-tree",
            "the tree at HEAD is the difference from a tree that is its own",
            |fixture| {
                let (one, two) = (no_id(0x14), no_id(0x15));
                write_pack(fixture, &[(one, difference(two, &[])), (two, difference(one, &[]))]);
                commit(fixture, one);
            },
        ),
        HostileRepo::new(
            "delta-chain",
            "a file of a pack is the difference of a difference, 50 000 times",
            |fixture| {
                let base = blob(fixture, "x = 1\n");
                let mut objects = Vec::new();
                let mut last = base;
                for number in 0..50_000_u32 {
                    let mut bytes = [0x21; 20];
                    bytes[..4].copy_from_slice(&number.to_be_bytes());
                    let id = Oid::from_bytes(&bytes).expect("an id has 20 bytes");
                    objects.push((id, difference(last, &delta(6, 6, &copies(1, 6)))));
                    last = id;
                }
                objects.insert(0, (base, plain(3, b"x = 1\n")));
                write_pack(fixture, &objects);
                commit_files(fixture, &[last]);
            },
        ),
        HostileRepo::new(
            "delta-bomb",
            "a file of a pack is a difference that repeats a megabyte 4000 times",
            |fixture| {
                let (base, bomb) = (no_id(0x16), no_id(0x17));
                let size = 1_000_000;
                let delta = delta(size, 4_000 * size, &copies(4_000, size));
                write_pack(
                    fixture,
                    &[(base, plain(3, &vec![b'x'; size])), (bomb, difference(base, &delta))],
                );
                commit_files(fixture, &[bomb]);
            },
        ),
        HostileRepo::new(
            "delta-large-base",
            "a small file is the difference from one of 600 megabytes",
            |fixture| {
                let (base, small) = (no_id(0x18), no_id(0x19));
                let size = 600 << 20;
                let zeros = super::raw::deflated(b"", 600);
                let mut bytes = object_head(3, size);
                bytes.extend(zeros);
                write_pack(
                    fixture,
                    &[(base, bytes), (small, difference(base, &delta(size, 6, &copies(1, 6))))],
                );
                commit_files(fixture, &[small]);
            },
        ),
    ],
};

/// Packs all objects; returns the file of this kind, which can be written.
fn packed(fixture: &FixtureRepo, ending: &str) -> PathBuf {
    git(fixture.root(), &["repack", "-q", "-a", "-d"]);
    let folder = fs::read_dir(fixture.git_dir().join("objects/pack")).expect("there are packs");
    let mut files = folder.flatten().map(|entry| entry.path());
    let file = files.find(|file| file.extension().is_some_and(|found| found == ending));
    let file = file.expect("there is one");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("the mode can be set");
    file
}

fn damage_index(fixture: &FixtureRepo, at: usize) {
    let index = packed(fixture, "idx");
    let mut bytes = fs::read(&index).expect("an index can be read");
    bytes.splice(at..at, [0xa5; 26]);
    fs::write(index, bytes).expect("it can be written");
}

/// Commits a tree with these files beside an ordinary one.
fn commit_files(fixture: &FixtureRepo, files: &[Oid]) {
    let names: Vec<String> = (0..files.len()).map(|number| format!("odd{number}.py")).collect();
    let app = blob(fixture, "def main():\n    return 1\n");
    let odd = names
        .iter()
        .zip(files)
        .map(|(name, id)| (0o100_644, name.as_bytes(), *id));
    let entries: Vec<_> = [(0o100_644, b"app.py".as_slice(), app)]
        .into_iter()
        .chain(odd)
        .collect();
    let tree = tree(fixture, &entries);
    commit(fixture, tree);
}

/// Returns the head of an object in a pack: its kind and its size.
fn object_head(kind: u8, size: usize) -> Vec<u8> {
    let mut head = vec![(kind << 4) | (size & 15) as u8];
    let mut left = size >> 4;
    while left > 0 {
        if let Some(last) = head.last_mut() {
            *last |= 0x80;
        }
        head.push((left & 127) as u8);
        left >>= 7;
    }
    head
}

/// Returns an object of a pack that stands for itself.
fn plain(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let mut object = object_head(kind, bytes.len());
    object.extend(compressed(bytes));
    object
}

/// Returns an object of a pack that is the difference from the object `base`.
fn difference(base: Oid, delta: &[u8]) -> Vec<u8> {
    let delta = if delta.is_empty() {
        self::delta(6, 6, &copies(1, 6))
    } else {
        delta.to_vec()
    };
    let mut object = object_head(7, delta.len());
    object.extend(base.as_bytes());
    object.extend(compressed(&delta));
    object
}

/// Returns a difference: the sizes before and after, and what is to be done.
fn delta(before: usize, after: usize, steps: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for mut size in [before, after] {
        while size >= 128 {
            bytes.push((size & 127) as u8 | 128);
            size >>= 7;
        }
        bytes.push(size as u8);
    }
    bytes.extend(steps);
    bytes
}

/// Returns the steps that copy the first `size` bytes of what was before, so many times.
fn copies(times: usize, size: usize) -> Vec<u8> {
    // The offset is left out, so it is 0; the size has three bytes.
    let step = [0xf0, size as u8, (size >> 8) as u8, (size >> 16) as u8];
    step.repeat(times)
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

/// Writes a pack of these objects and its index. The sums in both are wrong, which nobody asks for who reads an object.
fn write_pack(fixture: &FixtureRepo, objects: &[(Oid, Vec<u8>)]) {
    let mut pack = b"PACK\0\0\0\x02".to_vec();
    pack.extend((objects.len() as u32).to_be_bytes());
    let mut places = Vec::new();
    for (id, bytes) in objects {
        places.push((*id, pack.len() as u32));
        pack.extend(bytes);
    }
    let sum = [0x5a; 20];
    pack.extend(sum);
    places.sort_unstable();
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    for first in 0..=255_u8 {
        let up_to = places.iter().filter(|(id, _)| id.as_bytes()[0] <= first).count();
        index.extend((up_to as u32).to_be_bytes());
    }
    for (id, _) in &places {
        index.extend(id.as_bytes());
    }
    index.extend(vec![0; 4 * places.len()]);
    for (_, place) in &places {
        index.extend(place.to_be_bytes());
    }
    index.extend(sum);
    index.extend(sum);
    let name = "objects/pack/pack-5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";
    write_git(fixture, &format!("{name}.pack"), pack);
    write_git(fixture, &format!("{name}.idx"), index);
}
