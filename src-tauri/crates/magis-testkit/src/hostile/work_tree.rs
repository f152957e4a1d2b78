//! Work trees in which files became something else, or lie too deep.

use super::raw::{TEBIBYTE, endless, git, link, pipe, socket, sparse};
use super::{HostileGroup, HostileRepo};
use nix::fcntl::{AT_FDCWD, OFlag, openat};
use nix::sys::stat::{Mode, mkdirat};
use std::fs;

pub(super) const GROUP: HostileGroup = HostileGroup {
    name: "work-tree",
    repositories: &[
        HostileRepo::new("file-pipe", "a tracked file became a named pipe", |fixture| {
            pipe(&fixture.root().join("app.py"));
        }),
        HostileRepo::new("file-device", "a tracked file became a link to /dev/zero", |fixture| {
            endless(&fixture.root().join("app.py"));
        }),
        HostileRepo::new("file-socket", "a tracked file became a socket", |fixture| {
            socket(&fixture.root().join("app.py"));
        }),
        HostileRepo::new("file-folder", "a tracked file became a folder", |fixture| {
            fixture.remove("app.py").write("app.py/inner.py", "x = 1\n");
        }),
        HostileRepo::new("file-sparse", "a tracked file became one of a tebibyte", |fixture| {
            sparse(&fixture.root().join("app.py"), TEBIBYTE);
        }),
        HostileRepo::new(
            "file-zeros",
            "a tracked file became one of three gigabytes",
            |fixture| {
                sparse(&fixture.root().join("app.py"), 3_000_000_000);
            },
        ),
        HostileRepo::new("folder-link", "a folder became a link to /", |fixture| {
            fs::remove_dir_all(fixture.root().join("lib")).expect("it can be deleted");
            link(&fixture.root().join("lib"), "/");
        }),
        HostileRepo::new("links-circle", "links in the work tree lead back to it", |fixture| {
            for name in ["one", "two", "lib/three"] {
                link(&fixture.root().join(name), fixture.root());
            }
        }),
        HostileRepo::new(
            "folders-deep",
            "folders of the work tree lie 3000 deep in one another",
            |fixture| {
                let mut folder =
                    openat(AT_FDCWD, fixture.root(), OFlag::O_DIRECTORY, Mode::empty()).expect("it is there");
                for _ in 0..3_000 {
                    mkdirat(&folder, "d", Mode::S_IRWXU).expect("a folder can be made");
                    folder = openat(&folder, "d", OFlag::O_DIRECTORY, Mode::empty()).expect("it is there");
                }
            },
        ),
        HostileRepo::new("files-many", "there are 50 000 files that are not tracked", |fixture| {
            let folder = fixture.root().join("many");
            fs::create_dir(&folder).expect("a folder can be made");
            for number in 0..50_000 {
                fs::write(folder.join(number.to_string()), "").expect("a file can be written");
            }
        }),
        HostileRepo::new(
            "pipes-many",
            "there are pipes, sockets and devices beside the files",
            |fixture| {
                for number in 0..100 {
                    pipe(&fixture.root().join(format!("lib/pipe{number}")));
                    endless(&fixture.root().join(format!("lib/device{number}")));
                }
                socket(&fixture.root().join("lib/socket"));
            },
        ),
        HostileRepo::new("lfs", "files are pointers of Git LFS", |fixture| {
            let pointer = "version https://git-lfs.github.com/spec/v1\n\
                           oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 99999999999\n";
            fixture
                .write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
                .write("model.bin", pointer)
                .commit("Add a pointer");
            fixture
                .config("filter.lfs.process", "/nowhere/git-lfs")
                .config("filter.lfs.required", "true");
            fixture.write("model.bin", "something else\n");
        }),
        HostileRepo::new(
            "merge-unfinished",
            "a merge is unfinished and has a conflict",
            |fixture| {
                fixture.unfinished_merge("app.py");
            },
        ),
        HostileRepo::new("rebase-unfinished", "a rebase is unfinished", |fixture| {
            git(fixture.root(), &["checkout", "-q", "-b", "mine"]);
            fixture.write("app.py", "mine = 1\n").commit("Mine");
            git(fixture.root(), &["checkout", "-q", "main"]);
            fixture.write("app.py", "yours = 1\n").commit("Yours");
            fs::create_dir_all(fixture.git_dir().join("rebase-merge")).expect("a folder can be made");
        }),
    ],
};
