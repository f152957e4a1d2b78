//! Writing what git itself would not write.

use crate::FixtureRepo;
use flate2::{Compress, Compression, FlushCompress};
use git2::{ObjectType, Oid};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

/// The name of the file that a program leaves when it is run.
pub(super) const MARK: &str = "programs-that-ran";

/// So many bytes say that they are in a file, and take no place on the disk.
pub(super) const TEBIBYTE: u64 = 1 << 40;

/// Puts a named pipe where `path` is.
pub(super) fn pipe(path: &Path) {
    clear(path);
    mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR).expect("a pipe can be made");
}

/// Puts a socket where `path` is.
pub(super) fn socket(path: &Path) {
    clear(path);
    // It stays when whoever listened has gone.
    drop(UnixListener::bind(path).expect("a socket can be made at a short path"));
}

/// Puts a link to a device without end where `path` is.
pub(super) fn endless(path: &Path) {
    link(path, "/dev/zero");
}

/// Puts a link where `path` is.
pub(super) fn link(path: &Path, target: impl AsRef<Path>) {
    clear(path);
    symlink(target, path).expect("a link can be made");
}

/// Puts a file of so many zeros, which takes no place on the disk, where `path` is.
pub(super) fn sparse(path: &Path, bytes: u64) {
    clear(path);
    let file = File::create(path).expect("a file can be made");
    file.set_len(bytes).expect("a sparse file can be made");
}

/// Writes a file of git's own, with the folders on the way.
pub(super) fn write_git(fixture: &FixtureRepo, name: &str, bytes: impl AsRef<[u8]>) {
    let file = fixture.git_dir().join(name);
    fs::create_dir_all(file.parent().expect("a file has a folder")).expect("folders can be made");
    if file.exists() {
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("the mode can be set");
    }
    fs::write(&file, bytes).expect("a file can be written");
}

/// Adds lines to the configuration of the repository.
pub(super) fn configure(fixture: &FixtureRepo, lines: &str) {
    let file = fixture.git_dir().join("config");
    let mut file = File::options()
        .append(true)
        .open(file)
        .expect("the configuration is there");
    file.write_all(lines.as_bytes()).expect("it can be written");
}

/// Writes a program that leaves a mark when it is run; returns its path.
pub(super) fn trap(fixture: &FixtureRepo) -> String {
    let (program, mark) = (fixture.beside("trap"), fixture.beside(MARK));
    let text = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\n", mark.display());
    fs::write(&program, text).expect("a program can be written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("the mode can be set");
    program.to_str().expect("temporary folders have plain names").to_owned()
}

/// Runs the `git` program in a folder, without the machine's configuration; returns what it says.
pub(super) fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Ada Fixture", "-c", "user.email=ada@example.com"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", "1700000000 +0000")
        .env("GIT_COMMITTER_DATE", "1700000000 +0000")
        .current_dir(folder)
        .output()
        .expect("the program git is there");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Writes a text as a blob; returns its id.
pub(super) fn blob(fixture: &FixtureRepo, text: &str) -> Oid {
    fixture.git2().blob(text.as_bytes()).expect("a blob can be written")
}

/// An entry of a tree: its mode, its name, what it is.
pub(super) type TreeEntry<'a> = (u32, &'a [u8], Oid);

/// Writes a tree of these entries, in this order and with these names, whatever they are.
pub(super) fn tree(fixture: &FixtureRepo, entries: &[TreeEntry<'_>]) -> Oid {
    object(fixture, ObjectType::Tree, &tree_bytes(entries))
}

/// Returns the bytes of a tree.
pub(super) fn tree_bytes(entries: &[TreeEntry<'_>]) -> Vec<u8> {
    let mut data = Vec::new();
    for (mode, name, id) in entries {
        data.extend(format!("{mode:o} ").into_bytes());
        data.extend(*name);
        data.push(0);
        data.extend(id.as_bytes());
    }
    data
}

/// Writes an object of these bytes, whatever they are.
pub(super) fn object(fixture: &FixtureRepo, kind: ObjectType, bytes: &[u8]) -> Oid {
    let objects = fixture.git2().odb().expect("the objects can be opened");
    objects.write(kind, bytes).expect("an object can be written")
}

/// Returns the bytes of a commit of a tree.
pub(super) fn commit_bytes(tree: Oid, parents: &[Oid], message: &str) -> Vec<u8> {
    let parents = parents.iter().map(|id| format!("parent {id}\n"));
    let parents = parents.collect::<Vec<String>>().concat();
    let who = "Ada Fixture <ada@example.com> 1700000060 +0000";
    format!("tree {tree}\n{parents}author {who}\ncommitter {who}\n\n{message}").into_bytes()
}

/// Commits a tree on the branch `main`, behind what is there.
pub(super) fn commit(fixture: &FixtureRepo, tree: Oid) -> Oid {
    let parent = Oid::from_str(&fixture.head()).expect("a commit has an id");
    let id = object(fixture, ObjectType::Commit, &commit_bytes(tree, &[parent], "made\n"));
    point_main_at(fixture, id);
    id
}

/// Has the branch `main` stand at an object, whatever that is.
pub(super) fn point_main_at(fixture: &FixtureRepo, id: Oid) {
    write_git(fixture, "refs/heads/main", format!("{id}\n"));
}

/// Writes the file of a loose object of this id, whatever is in it.
pub(super) fn loose(fixture: &FixtureRepo, id: Oid, bytes: &[u8]) {
    write_git(fixture, &loose_name(id), bytes);
}

/// Returns where a loose object lies.
pub(super) fn loose_name(id: Oid) -> String {
    let id = id.to_string();
    let (two, rest) = id.split_at(2);
    format!("objects/{two}/{rest}")
}

/// Cuts the file of a loose object to its first 20 bytes.
pub(super) fn cut(fixture: &FixtureRepo, id: Oid) {
    let bytes = fs::read(fixture.git_dir().join(loose_name(id))).expect("the object is loose");
    loose(fixture, id, &bytes[..20]);
}

/// Returns an id that no object has.
pub(super) fn no_id(digit: u8) -> Oid {
    Oid::from_bytes(&[digit; 20]).expect("an id has 20 bytes")
}

/// Returns what zlib makes of these bytes, and so many mebibytes of zeros behind them. The sum at the end is wrong, which
/// shows itself to whoever reads all of it.
pub(super) fn deflated(head: &[u8], mebibytes: usize) -> Vec<u8> {
    // No state is kept over the flush, so that the block of a mebibyte stands for each of them.
    let flushed = |bytes: &[u8]| {
        let mut out = Vec::with_capacity(bytes.len() + 4096);
        let mut compress = Compress::new(Compression::default(), false);
        let done = compress.compress_vec(bytes, &mut out, FlushCompress::Full);
        done.expect("bytes in memory can be compressed");
        out
    };
    let mut out = vec![0x78, 0x9c];
    out.extend(flushed(head));
    let block = flushed(&vec![0; 1 << 20]);
    for _ in 0..mebibytes {
        out.extend(&block);
    }
    // An empty last block.
    out.extend([3, 0, 0, 0, 0, 1]);
    out
}

fn clear(path: &Path) {
    if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        fs::remove_dir_all(path).expect("a folder can be deleted");
    } else {
        // Where nothing is, nothing has to be deleted.
        let _ = fs::remove_file(path);
    }
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("folders can be made");
}
