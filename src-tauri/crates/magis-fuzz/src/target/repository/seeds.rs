//! The sound repositories that inputs begin with, made by the program `git`.

use anyhow::{Context as _, Result, ensure};
use magis_repo::text_diff;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) struct Seed {
    /// The folder that everything of it lies in, and something beside it.
    pub ground: PathBuf,
    /// Where it is opened.
    pub root: PathBuf,
    /// The root of the opened work tree below the ground, and the folders of git.
    pub work_tree: PathBuf,
    pub git_dir: PathBuf,
    /// The commit at its `HEAD`.
    pub head: String,
}

/// Makes them all, each in a folder of its own.
pub(super) fn make(folder: &Path) -> Result<Vec<Seed>> {
    let all: [fn(&Path) -> Result<()>; 5] = [loose, packed, indexed, merging, linked];
    let mut seeds = Vec::new();
    for (number, make) in all.into_iter().enumerate() {
        let ground = folder.join(number.to_string());
        let root = ground.join("repository");
        fs::create_dir_all(&root)?;
        fs::create_dir_all(ground.join("outside"))?;
        fs::write(ground.join("outside/secret"), "s\n")?;
        base(&root)?;
        make(&root)?;
        let is_linked = ground.join("linked").exists();
        let work_tree = PathBuf::from(if is_linked { "linked" } else { "repository" });
        let root = ground.join(&work_tree);
        seeds.push(Seed {
            head: git(&root, &["rev-parse", "HEAD"])?.trim().to_owned(),
            root,
            work_tree,
            git_dir: PathBuf::from("repository/.git"),
            ground,
        });
    }
    Ok(seeds)
}

/// Returns a patch that fits to each of them.
pub(super) fn patch() -> String {
    let old = numbered();
    let new = old.replace("line 5\n", "five\n");
    let changed = text_diff(&old, &new, 3);
    [
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n",
        &changed,
        "diff --git a/deep/new/file.txt b/deep/new/file.txt\nnew file mode 100644\n--- /dev/null\n+++ b/deep/new/file.txt\n@@ -0,0 +1 @@\n+new\n",
        "diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n",
        "diff --git a/from.txt b/to/moved.txt\nsimilarity index 100%\nrename from from.txt\nrename to to/moved.txt\n",
    ]
    .concat()
}

fn numbered() -> String {
    (1..=30)
        .flat_map(|line| ["line ".to_owned(), line.to_string(), "\n".to_owned()])
        .collect()
}

/// Two commits, a tag, a branch, and work that is not committed.
fn base(root: &Path) -> Result<()> {
    git(root, &["init", "-q", "-b", "main", "--template="])?;
    write(root, "a.py", numbered())?;
    write(root, "src/b.py", "b = 1\r\nc = 2\r\n")?;
    write(root, "gone.txt", "g\n")?;
    write(root, "from.txt", "f\n")?;
    write(root, "latin.txt", b"gr\xfc\xdfe\n")?;
    write(root, ".gitignore", "build/\n*.o\n!keep.o\n")?;
    write(root, "src/.gitignore", "/generated\n")?;
    write(
        root,
        ".gitattributes",
        "*.py text eol=lf diff=python\n*.bin binary\nlatin.txt working-tree-encoding=latin1\n",
    )?;
    symlink("a.py", root.join("link"))?;
    commit(root, "one")?;
    write(root, "a.py", numbered() + "more\n")?;
    commit(root, "two")?;
    git(root, &["tag", "-a", "-m", "tagged", "v1"])?;
    git(root, &["branch", "other", "HEAD~1"])?;
    write(root, "a.py", numbered() + "uncommitted\n")?;
    write(root, "new.py", "n = 1\n")?;
    write(root, "build/out.o", "o\n")?;
    write(root, "staged.py", "s = 1\n")?;
    git(root, &["add", "staged.py"]).map(drop)
}

#[expect(clippy::unnecessary_wraps, reason = "one of several that make a repository")]
fn loose(_: &Path) -> Result<()> {
    Ok(())
}

/// All in a pack with objects that are kept as differences, and in packed references.
fn packed(root: &Path) -> Result<()> {
    git(root, &["repack", "-q", "-a", "-d", "-f", "--depth=10"])?;
    git(root, &["pack-refs", "--all"]).map(drop)
}

/// Several packs with an index over them, and a file with the graph of the commits.
fn indexed(root: &Path) -> Result<()> {
    git(root, &["repack", "-q", "-a", "-d"])?;
    write(root, "third.py", "t = 1\n")?;
    git(root, &["add", "third.py"])?;
    git(root, &["commit", "-q", "-m", "three"])?;
    git(root, &["repack", "-q", "-d"])?;
    git(root, &["multi-pack-index", "write"])?;
    git(root, &["commit-graph", "write", "--reachable"])?;
    git(root, &["update-index", "--index-version", "4"])?;
    git(root, &["update-index", "--untracked-cache"]).map(drop)
}

/// A merge with a conflict that is not finished, and a submodule.
fn merging(root: &Path) -> Result<()> {
    let module = root.join("../module");
    fs::create_dir_all(&module)?;
    git(&module, &["init", "-q", "-b", "main", "--template="])?;
    write(&module, "m.py", "m = 1\n")?;
    commit(&module, "module")?;
    git(root, &["submodule", "--quiet", "add", "../module", "lib/module"])?;
    git(root, &["checkout", "-q", "--", "a.py"])?;
    git(root, &["commit", "-q", "-m", "module"])?;
    git(root, &["checkout", "-q", "-b", "theirs"])?;
    write(root, "src/b.py", "b = 3\n")?;
    git(root, &["commit", "-q", "-a", "-m", "theirs"])?;
    git(root, &["checkout", "-q", "main"])?;
    write(root, "src/b.py", "b = 2\n")?;
    git(root, &["commit", "-q", "-a", "-m", "ours"])?;
    // It ends with a conflict, as it should.
    drop(git(root, &["merge", "-q", "theirs"]));
    ensure!(root.join(".git/MERGE_HEAD").exists(), "there is no unfinished merge");
    Ok(())
}

/// A further work tree, which is the one that is opened.
fn linked(root: &Path) -> Result<()> {
    git(root, &["worktree", "add", "-q", "-b", "linked", "../linked"])?;
    write(&root.join("../linked"), "new.py", "n = 1\n")
}

fn write(root: &Path, name: &str, text: impl AsRef<[u8]>) -> Result<()> {
    let place = root.join(name);
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(place, text)?)
}

fn commit(root: &Path, message: &str) -> Result<()> {
    git(root, &["add", "-A"])?;
    git(root, &["commit", "-q", "-m", message]).map(drop)
}

fn git(root: &Path, arguments: &[&str]) -> Result<String> {
    let settings = [
        "user.name=Ada",
        "user.email=ada@example.com",
        "protocol.file.allow=always",
        "gc.auto=0",
    ];
    let output = Command::new("git")
        .args(settings.iter().flat_map(|setting| ["-c", setting]))
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_AUTHOR_DATE", "1700000000 +0000")
        .env("GIT_COMMITTER_DATE", "1700000000 +0000")
        .current_dir(root)
        .output()
        .context("starting the program 'git'")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {arguments:?}: {said}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
