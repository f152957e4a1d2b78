//! Forms of repositories that not every program reads, made by the `git` program.

use super::raw::{configure, git};
use super::{HostileGroup, HostileRepo};
use crate::FixtureRepo;
use std::fs;

pub(super) const GROUP: HostileGroup = HostileGroup {
    name: "formats",
    repositories: &[
        HostileRepo::new("sha256", "objects are named by SHA-256", |fixture| {
            anew(fixture, &["--object-format=sha256"]);
        }),
        HostileRepo::new("reftable", "references lie in a reftable", |fixture| {
            anew(fixture, &["--ref-format=reftable"]);
        }),
        HostileRepo::new("partial", "a partial clone, in which files are missing", |fixture| {
            let blob = fixture.git2().revparse_single("HEAD:app.py").expect("it is there").id();
            configure(
                fixture,
                "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n\
                 [remote \"origin\"]\n\turl = http://127.0.0.1:9/x\n\tpromisor = true\n\tpartialclonefilter = blob:none\n",
            );
            fixture.lose_object(&blob.to_string());
        }),
        HostileRepo::new(
            "partial-old",
            "a partial clone without the word for it, in which files are missing",
            |fixture| {
                let blob = fixture.git2().revparse_single("HEAD:app.py").expect("it is there").id();
                configure(
                    fixture,
                    "[remote \"origin\"]\n\turl = http://127.0.0.1:9/x\n\tpromisor = true\n",
                );
                fixture.lose_object(&blob.to_string());
            },
        ),
        HostileRepo::new("version", "the repository has format version 99", |fixture| {
            configure(fixture, "[core]\n\trepositoryformatversion = 99\n");
        }),
        HostileRepo::new("sparse", "a sparse checkout leaves files out", |fixture| {
            fixture.write("docs/a.py", "a = 1\n").commit("Second");
            git(fixture.root(), &["sparse-checkout", "set", "docs"]);
        }),
        HostileRepo::new("bare", "a bare repository", |fixture| {
            fs::remove_dir_all(fixture.root()).expect("it can be deleted");
            git2::Repository::init_bare(fixture.root()).expect("a repository can be made");
        }),
    ],
};

/// Makes a repository with one commit anew, with these arguments of `git init`.
fn anew(fixture: &FixtureRepo, arguments: &[&str]) {
    let root = fixture.root();
    fs::remove_dir_all(root).expect("it can be deleted");
    fs::create_dir(root).expect("it can be made");
    git(root, &[&["init", "-q", "-b", "main"], arguments].concat());
    fs::write(root.join("app.py"), "def main():\n    return 1\n").expect("a file can be written");
    git(root, &["add", "app.py"]);
    git(root, &["commit", "-q", "-m", "First"]);
}
