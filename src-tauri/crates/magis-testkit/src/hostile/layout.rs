//! Git's own files that are no ordinary ones, and repositories that say that their files lie elsewhere.

use super::raw::{TEBIBYTE, endless, pipe, sparse, trap, write_git};
use super::{HostileGroup, HostileRepo};
use crate::FixtureRepo;
use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;

pub(super) const GROUP: HostileGroup = HostileGroup {
    name: "layout",
    repositories: &[
        HostileRepo::new("git-pipe", ".git is a named pipe", |fixture| {
            pipe(&fixture.root().join(".git"));
        }),
        HostileRepo::new("git-empty", ".git is an empty folder", |fixture| {
            let folder = fixture.root().join(".git");
            fs::remove_dir_all(&folder).expect("it can be deleted");
            fs::create_dir(&folder).expect("it can be made");
        }),
        HostileRepo::new(
            "git-file-itself",
            ".git is a file that says that git's folder is .git",
            |fixture| {
                git_file(fixture, ".git");
            },
        ),
        HostileRepo::new(
            "git-file-device",
            ".git is a file that says that git's folder is /dev/zero",
            |fixture| {
                git_file(fixture, "/dev/zero");
            },
        ),
        HostileRepo::new(
            "git-file-root",
            ".git is a file that says that git's folder is /",
            |fixture| {
                git_file(fixture, "/");
            },
        ),
        HostileRepo::new("git-file-sparse", ".git is a file of a tebibyte", |fixture| {
            sparse(&fixture.root().join(".git"), TEBIBYTE);
        }),
        HostileRepo::new(
            "git-foreign",
            "git's folder belongs to somebody else, or lies in /etc",
            foreign,
        ),
        HostileRepo::new(
            "common-itself",
            "commondir says that what is shared lies in the same folder",
            |fixture| {
                write_git(fixture, "commondir", ".\n");
            },
        ),
        HostileRepo::new(
            "common-circle",
            "two folders say of one another that they hold what is shared",
            |fixture| {
                write_git(fixture, "commondir", "../other\n");
                fs::create_dir_all(fixture.root().join("other")).expect("a folder can be made");
                fixture.write("other/commondir", "../.git\n");
            },
        ),
        HostileRepo::new(
            "common-root",
            "commondir says that what is shared lies in /",
            |fixture| {
                write_git(fixture, "commondir", "/\n");
            },
        ),
        HostileRepo::new(
            "worktree-circle",
            "a further work tree names the first one, which names it",
            |fixture| {
                write_git(fixture, "worktrees/a/gitdir", "../../../.git\n");
                write_git(fixture, "worktrees/a/commondir", "../a\n");
                write_git(fixture, "worktrees/a/HEAD", "ref: refs/heads/main\n");
                fs::create_dir_all(fixture.root().join("inside")).expect("a folder can be made");
                fixture.write("inside/.git", "gitdir: ../.git/worktrees/a\n");
            },
        )
        .opened_at("inside"),
        HostileRepo::new("head-pipe", ".git/HEAD is a named pipe", |fixture| {
            pipe(&fixture.git_dir().join("HEAD"));
        }),
        HostileRepo::new("head-device", ".git/HEAD leads to /dev/zero", |fixture| {
            endless(&fixture.git_dir().join("HEAD"));
        }),
        HostileRepo::new("config-pipe", ".git/config is a named pipe", |fixture| {
            pipe(&fixture.git_dir().join("config"));
        }),
        HostileRepo::new("config-sparse", ".git/config has a tebibyte", |fixture| {
            sparse(&fixture.git_dir().join("config"), TEBIBYTE);
        }),
        HostileRepo::new("packed-refs-device", ".git/packed-refs leads to /dev/zero", |fixture| {
            endless(&fixture.git_dir().join("packed-refs"));
        }),
        HostileRepo::new("packed-refs-sparse", ".git/packed-refs has ten gigabytes", |fixture| {
            sparse(&fixture.git_dir().join("packed-refs"), 10_000_000_000);
        }),
        HostileRepo::new("index-pipe", ".git/index is a named pipe", |fixture| {
            pipe(&fixture.git_dir().join("index"));
        }),
        HostileRepo::new("index-sparse", ".git/index has ten gigabytes", |fixture| {
            sparse(&fixture.git_dir().join("index"), 10_000_000_000);
        }),
        HostileRepo::new(
            "merge-pipes",
            "what git keeps of an unfinished merge are named pipes",
            |fixture| {
                for name in [
                    "MERGE_HEAD",
                    "MERGE_MSG",
                    "ORIG_HEAD",
                    "FETCH_HEAD",
                    "rebase-merge/head-name",
                ] {
                    pipe(&fixture.git_dir().join(name));
                }
            },
        ),
        HostileRepo::new(
            "embedded-bare",
            "a bare repository with hooks and programs lies in the work tree",
            embedded,
        )
        .run_by(&["-C", "docs/assets", "status"]),
        HostileRepo::new(
            "embedded-bare-opened",
            "a bare repository in the work tree of another one is what is opened",
            embedded,
        )
        .opened_at("docs/assets")
        .run_by(&["-C", "docs/assets", "status"]),
        HostileRepo::new(
            "nested",
            "a repository with a program lies in the work tree",
            |fixture| {
                let folder = fixture.root().join("vendored");
                let program = trap(fixture);
                git2::Repository::init(&folder).expect("a repository can be made");
                let lines = format!("[core]\n\tfsmonitor = {program}\n");
                let file = folder.join(".git/config");
                let text = fs::read_to_string(&file).expect("it is there") + &lines;
                fs::write(&file, text).expect("it can be written");
                fixture.write("vendored/a.py", "a = 1\n");
            },
        )
        .run_by(&["-C", "vendored", "status"]),
    ],
};

fn git_file(fixture: &FixtureRepo, folder: &str) {
    let file = fixture.root().join(".git");
    fs::remove_dir_all(&file).expect("it can be deleted");
    fs::write(&file, format!("gitdir: {folder}\n")).expect("it can be written");
}

fn foreign(fixture: &FixtureRepo) {
    // Only root can give a file away; for others much belongs to somebody else.
    if chown(fixture.root(), Some(65_534), Some(65_534)).is_ok() {
        let git = fixture.root().join(".git");
        chown(git, Some(65_534), Some(65_534)).expect("root may");
    } else {
        git_file(fixture, "/etc");
    }
}

/// Puts a bare repository with a hook and with programs in its configuration into the work tree, as files of that.
fn embedded(fixture: &FixtureRepo) {
    let program = trap(fixture);
    let folder = fixture.root().join("docs/assets");
    git2::Repository::init_bare(&folder).expect("a repository can be made");
    let lines = format!("[core]\n\tbare = false\n\tworktree = \"..\"\n\tfsmonitor = {program}\n");
    fs::write(
        folder.join("config"),
        format!("[core]\n\trepositoryformatversion = 0\n{lines}"),
    )
    .expect("it can be written");
    let hook = folder.join("hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap_or(Path::new(""))).expect("folders can be made");
    fs::copy(&program, hook).expect("a program can be copied");
    fixture.stage().commit("Add assets");
}
