//! A kill right before each call that changes a file, while a patch is applied or taken back: the next command finds the state before or the one after, says
//! what became of it, and goes on from there.

use crate::past_run::{events, record_events};
use crate::support::Program;
use magis_core::{CommitId, RunEvent, TreeId};
use magis_testkit::killed::{Traced, before_call};
use magis_testkit::{FixtureRepo, contents};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Changes a file, makes one in a new folder, moves one and deletes one with its folder.
const PATCH: &str = "\
diff --git a/new/folder/made.py b/new/folder/made.py
new file mode 100644
--- /dev/null
+++ b/new/folder/made.py
@@ -0,0 +1 @@
+made = True
diff --git a/old/gone.py b/old/gone.py
deleted file mode 100644
index 3d5ca9f8a36c742ea78a8a3c82fb653c7ee6db3c..0000000000000000000000000000000000000000
--- a/old/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-gone = False
diff --git a/tally/filters.py b/tally/filters.py
--- a/tally/filters.py
+++ b/tally/filters.py
@@ -1 +1 @@
-first = 1
+first = 2
diff --git a/tally/from.py b/tally/to.py
rename from tally/from.py
rename to tally/to.py
";

/// Files with their permissions and bytes.
type Contents = Vec<(String, u32, Vec<u8>)>;

/// A repository, a run with a patch of it, and both as they were kept.
struct Scene {
    program: Program,
    repository: FixtureRepo,
    /// Folders and where each was copied to.
    kept: Vec<(PathBuf, PathBuf)>,
}

fn scene() -> Scene {
    let (program, repository) = (Program::new(), FixtureRepo::new());
    repository
        .write("tally/filters.py", "first = 1\n")
        .write("tally/from.py", "moved = True\n");
    repository
        .write("old/gone.py", "gone = False\n")
        .config("user.name", "Ada")
        .config("user.email", "ada@example.com");
    let commit = repository.commit("First");
    let tree = repository
        .git2()
        .revparse_single("HEAD^{tree}")
        .unwrap()
        .id()
        .to_string();
    let mut events = events();
    for event in &mut events {
        match event {
            RunEvent::RunStarted { base, .. } => {
                base.commit = CommitId(commit.clone());
                base.tree = TreeId(tree.clone());
            }
            RunEvent::Merged { result } => PATCH.clone_into(&mut result.patch),
            _ => {}
        }
    }
    record_events(&program.data(), repository.root(), &events);
    let kept = vec![
        (program.data(), program.beside("kept-data")),
        (repository.root().to_owned(), program.beside("kept-repository")),
    ];
    Scene {
        program,
        repository,
        kept,
    }
}

fn copy(from: &Path, to: &Path) {
    if to.exists() {
        std::fs::remove_dir_all(to).unwrap();
    }
    assert!(
        Command::new("cp")
            .arg("-a")
            .args([from, to])
            .status()
            .unwrap()
            .success()
    );
}

impl Scene {
    fn keep(&self) {
        self.kept.iter().for_each(|(folder, copied)| copy(folder, copied));
    }

    fn restore(&self) {
        self.kept.iter().for_each(|(folder, copied)| copy(copied, folder));
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(self.repository.root())
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a person sees of the repository: files, references, what is staged.
    fn state(&self) -> (Contents, String, String) {
        // A commit of the same content has another time.
        let references = self.git(&["for-each-ref", "--format=%(refname) %(tree)"]);
        (
            contents(self.repository.root()),
            references,
            self.git(&["status", "--porcelain"]),
        )
    }

    /// Locks that git would wait for.
    fn locks(&self) -> Vec<String> {
        let (mut open, mut found) = (vec![self.repository.git_dir().to_owned()], Vec::new());
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "lock") {
                    found.push(path.display().to_string());
                }
                if path.is_dir() {
                    open.push(path);
                }
            }
        }
        found
    }
}

/// Kills `words` before each of its calls; after the next command the repository is as before or as after it, and `back` leads from the one to the other.
fn check(scene: &Scene, words: &[&str], back: &[&str]) {
    scene.keep();
    let before = scene.state();
    let Traced::Ended { code: 0, calls } = before_call(&scene.program.command(words), usize::MAX) else {
        panic!("{words:?} fails")
    };
    let after = scene.state();
    assert_ne!(before, after);
    let (mut points, mut whole) = (0, 0);
    for call in 1..=calls {
        scene.restore();
        if before_call(&scene.program.command(words), call) != Traced::Killed {
            continue;
        }
        points += 1;
        let next = scene.program.run(["runs", "list"]);
        assert_eq!(next.code, Some(0), "call {call}: {}", next.err);
        assert_eq!(scene.locks(), [] as [String; 0], "call {call}");
        let found = scene.state();
        let (onward, expected) = if found == after {
            whole += 1;
            (back, &before)
        } else {
            assert_eq!(found, before, "call {call}: {}", next.err);
            (words, &after)
        };
        let onward = scene.program.run(onward);
        assert_eq!(onward.code, Some(0), "call {call}: {}", onward.err);
        assert_eq!(&scene.state(), expected, "call {call}");
    }
    eprintln!("{words:?}: killed before {points} of {calls} calls, {whole} with all of it there, none in between");
    assert!(points > 20, "{points} of {calls}");
}

const APPLY: [&str; 3] = ["apply", "1", "--worktree"];
const BRANCH: [&str; 3] = ["apply", "1", "--branch=fix"];
const UNDO: [&str; 3] = ["apply", "1", "--undo"];

#[test]
fn a_kill_while_a_patch_is_applied_leaves_all_of_it_or_nothing() {
    check(&scene(), &APPLY, &UNDO);
}

#[test]
fn a_kill_while_a_patch_is_taken_back_leaves_all_of_it_or_nothing() {
    let scene = scene();
    assert_eq!(scene.program.run(APPLY).code, Some(0));
    check(&scene, &UNDO, &APPLY);
}

#[test]
fn a_kill_while_a_branch_is_made_leaves_it_or_nothing() {
    check(&scene(), &BRANCH, &UNDO);
}

#[test]
fn a_kill_while_a_branch_is_taken_back_leaves_it_or_nothing() {
    let scene = scene();
    let made = scene.program.run(BRANCH);
    assert_eq!(made.code, Some(0), "{}", made.err);
    check(&scene, &UNDO, &BRANCH);
}

#[test]
fn a_kill_while_a_patch_file_is_written_leaves_the_whole_file_or_none() {
    let scene = scene();
    let file = scene.program.beside("run.patch");
    let words = ["apply", "1", "--patch", file.to_str().unwrap()];
    let Traced::Ended { code: 0, calls } = before_call(&scene.program.command(words), usize::MAX) else {
        panic!("it is not written")
    };
    let whole = std::fs::read(&file).unwrap();
    for call in 1..=calls {
        std::fs::remove_file(&file).ok();
        before_call(&scene.program.command(words), call);
        let there = std::fs::read(&file).ok();
        assert!(there.is_none_or(|there| there == whole), "call {call}");
    }
}

#[test]
fn what_was_broken_off_is_said_once() {
    let scene = scene();
    scene.keep();
    let Traced::Ended { calls, .. } = before_call(&scene.program.command(APPLY), usize::MAX) else {
        panic!("it is not applied")
    };
    let said = |outcome: &str| format!("note: the program ended {outcome}\n");
    let mut found = Vec::new();
    for call in 1..=calls {
        scene.restore();
        before_call(&scene.program.command(APPLY), call);
        found.push(scene.program.run(["runs", "list"]).err);
        assert_eq!(scene.program.run(["runs", "list"]).err, "");
    }
    found.dedup();
    let nothing = "while the patch of run 1 was being applied or taken back: none of it is applied now";
    let all = "before it could note what became of the patch of run 1: all of it is applied";
    assert_eq!(found, [String::new(), said(nothing), said(all), String::new()]);
}

/// Leaves a patch applied in part.
fn half_applied() -> Scene {
    let scene = scene();
    scene.keep();
    let is_half = |call: &usize| {
        scene.restore();
        before_call(&scene.program.command(APPLY), *call);
        !scene.repository.exists("old/gone.py") && !scene.repository.exists("new/folder/made.py")
    };
    (1..200)
        .find(is_half)
        .expect("a part of the patch is applied between two calls");
    scene
}

#[test]
fn what_somebody_changed_since_stays_and_is_named() {
    let scene = half_applied();
    scene.repository.write("tally/filters.py", "mine\n");
    let said = scene.program.run(["runs", "list"]).err;
    assert!(
        said.ends_with("none of it is applied now, but for what was changed since: tally/filters.py\n"),
        "{said}"
    );
    assert_eq!(scene.git(&["status", "--porcelain"]), " M tally/filters.py\n");
}

#[test]
fn a_repository_that_is_away_is_settled_when_it_is_back() {
    let scene = half_applied();
    let (root, away) = (scene.repository.root().to_owned(), scene.program.beside("away"));
    std::fs::rename(&root, &away).unwrap();
    for _ in 0..2 {
        let said = scene.program.run(["runs", "list"]);
        assert!(
            said.err
                .starts_with("note: the patch of run 1 may be applied in part, because"),
            "{}",
            said.err
        );
        assert_eq!(said.code, Some(0));
    }
    std::fs::rename(&away, &root).unwrap();
    assert!(
        scene
            .program
            .run(["runs", "list"])
            .err
            .contains("none of it is applied now")
    );
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
}
