//! Runs that were imported: to which repository they belong, and who says so.

use crate::past_run::record;
use crate::support::{Answer, Program};
use magis_testkit::FixtureRepo;
use std::path::Path;

const BEFORE: &str = "def until(day, items):\n    return [item for item in items if item.day < day]\n\n";
const AFTER: &str = "def until(day, items):\n    return [item for item in items if item.day <= day]\n\n";

/// A repository, so many clones of it, and the file of a run on its commit.
struct Scene {
    program: Program,
    origin: FixtureRepo,
    clones: Vec<String>,
    archive: String,
}

fn scene(clones: usize) -> Scene {
    let (program, origin, elsewhere) = (Program::new(), FixtureRepo::new(), Program::new());
    let commit = origin.write("tally/filters.py", BEFORE).commit("First");
    let tree = origin.git2().revparse_single("HEAD^{tree}").unwrap().id().to_string();
    record(&elsewhere.data(), origin.root(), usize::MAX);
    let base = crate::past_run::base();
    let exported = elsewhere.run(["runs", "export", "1"]).out;
    let exported = exported.replace(&base.commit.0, &commit).replace(&base.tree.0, &tree);
    let archive = program.file("run.json", exported);
    let clones = (0..clones).map(|number| {
        let folder = program.beside(&format!("clone-{number}"));
        git2::Repository::clone(origin.root().to_str().unwrap(), &folder).unwrap();
        folder.to_str().unwrap().to_owned()
    });
    let clones = clones.collect();
    Scene {
        program,
        origin,
        clones,
        archive,
    }
}

impl Scene {
    /// Comes to know the clone.
    fn open(&self, clone: usize) {
        let issue = self.program.file("issue.md", "until leaves out the day itself");
        let answer = self
            .program
            .run(["locate", "--repo", &self.clones[clone], "--issue", &issue]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
    }

    fn import(&self) -> Answer {
        let answer = self.program.run(["runs", "import", &self.archive]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        answer
    }

    /// Returns the file in each clone.
    fn texts(&self) -> Vec<String> {
        let text = |clone: &String| std::fs::read_to_string(Path::new(clone).join("tally/filters.py")).unwrap();
        self.clones.iter().map(text).collect()
    }
}

#[test]
fn a_run_is_not_given_to_one_of_two_clones_until_a_person_says_which() {
    let scene = scene(2);
    scene.open(0);
    scene.open(1);
    let imported = scene.import();
    assert!(imported.err.contains("several repositories"), "{imported:?}");
    // Using one of them does not say that it is meant.
    scene.open(0);
    for arguments in [["apply", "1", "--worktree"], ["apply", "1", "--branch=fix"]] {
        let refused = scene.program.run(arguments);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        for part in [&scene.clones[0], &scene.clones[1], "--repo"] {
            assert!(refused.err.contains(part), "{part} is missing in {refused:?}");
        }
    }
    assert_eq!(scene.texts(), [BEFORE, BEFORE]);
    let applied = scene
        .program
        .run(["apply", "1", "--worktree", "--repo", &scene.clones[1]]);
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert_eq!(scene.texts(), [BEFORE, AFTER]);
    let other = scene
        .program
        .run(["apply", "1", "--worktree", "--repo", &scene.clones[0]]);
    assert_eq!(other.code, Some(1), "{other:?}");
    assert!(other.err.contains("it belongs to the one at"), "{other:?}");
    assert_eq!(scene.program.run(["apply", "1", "--undo"]).code, Some(0));
    assert_eq!(scene.texts(), [BEFORE, BEFORE]);
}

#[test]
fn a_run_is_applied_to_the_only_repository_that_has_its_base_once_a_person_named_it() {
    let scene = scene(1);
    scene.open(0);
    let imported = scene.import();
    assert!(
        imported.err.contains("only to a repository that you name"),
        "{imported:?}"
    );
    for arguments in [["apply", "1", "--worktree"], ["apply", "1", "--branch=fix"]] {
        let refused = scene.program.run(arguments);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        for part in [&scene.clones[0], "--repo"] {
            assert!(refused.err.contains(part), "{part} is missing in {refused:?}");
        }
    }
    assert_eq!(scene.texts(), [BEFORE]);
    let applied = scene
        .program
        .run(["apply", "1", "--worktree", "--repo", &scene.clones[0]]);
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert_eq!(scene.texts(), [AFTER]);
}

#[test]
fn a_run_is_shown_with_the_file_it_came_from_until_it_is_run_again() {
    let scene = scene(1);
    scene.import();
    let shown = scene.program.run(["runs", "show", "1"]).out;
    let head = shown.lines().nth(1).unwrap();
    assert!(head.contains("imported from run.json on 20"), "{head}");
    assert!(head.contains("nothing of it ran here"), "{head}");
}

#[test]
fn a_run_whose_repository_is_not_known_is_applied_where_a_person_says() {
    let scene = scene(1);
    scene.import();
    let refused = scene.program.run(["apply", "1", "--worktree"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.err.contains("no repository here") && refused.err.contains("--repo"),
        "{refused:?}"
    );
    let applied = scene
        .program
        .run(["apply", "1", "--worktree", "--repo", &scene.clones[0]]);
    assert_eq!(applied.code, Some(0), "{applied:?}");
    assert_eq!(scene.texts(), [AFTER]);
}

#[test]
fn a_repository_without_the_base_is_refused() {
    let scene = scene(1);
    scene.import();
    let stranger = FixtureRepo::new();
    stranger.write("tally/filters.py", BEFORE).commit("Another first");
    let root = stranger.root().to_str().unwrap();
    let refused = scene.program.run(["apply", "1", "--worktree", "--repo", root]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains(&scene.origin.head()), "{refused:?}");
    assert_eq!(stranger.read("tally/filters.py"), BEFORE.as_bytes());
}
