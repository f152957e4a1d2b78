//! Repositories that are made to hang, to kill or to fill the machine: the program ends by itself and says why.

use crate::support::Program;
use git2::{ObjectType, Oid};
use magis_testkit::FixtureRepo;

/// Returns what `magis locate` says of the repository that `change` makes, within bounds of time and memory.
fn locate(change: impl FnOnce(&FixtureRepo)) -> (Option<i32>, String) {
    let (program, repository) = (Program::new(), FixtureRepo::new());
    repository
        .write("app.py", "def main():\n    return 1\n")
        .commit("First");
    change(&repository);
    let issue = program.file("issue.md", "main() gives 1 and not 2");
    let answer = program.run_bounded([
        "locate",
        "--repo",
        repository.root().to_str().unwrap(),
        "--issue",
        &issue,
    ]);
    assert_eq!(answer.out, "");
    let said = answer.err.replace(repository.root().to_str().unwrap(), "REPOSITORY");
    (answer.code, said)
}

/// Commits a tree of entries of this mode, `levels` times one in another, each with `width` entries that are the same.
fn commit_nested(repository: &FixtureRepo, levels: usize, width: usize) {
    let git = repository.git2();
    let tree = |mode: u32, id: Oid| {
        let mut data = Vec::new();
        for number in 0..width {
            data.extend(format!("{mode:o} n{number}\0").into_bytes());
            data.extend(id.as_bytes());
        }
        git.odb().unwrap().write(ObjectType::Tree, &data).unwrap()
    };
    let ground = tree(0o100_644, git.blob(b"x\n").unwrap());
    let tree = (1..levels).fold(ground, |inner, _| tree(0o040_000, inner));
    let who = git2::Signature::new("Ada", "ada@example.com", &git2::Time::new(1_800_000_000, 0)).unwrap();
    let tree = git.find_tree(tree).unwrap();
    let parent = git.head().unwrap().peel_to_commit().unwrap();
    git.commit(Some("HEAD"), &who, &who, "made", &tree, &[&parent]).unwrap();
}

#[test]
fn rules_that_lead_to_a_device_are_named() {
    let (code, said) = locate(|repository| {
        repository.symlink(".gitattributes", "/dev/zero");
    });
    assert_eq!(code, Some(1), "{said}");
    insta::assert_snapshot!(said, @r"
    error: 'REPOSITORY.gitattributes' is a device, and an ordinary file is expected there
      what to do: Delete it, or put an ordinary file in its place.
    ");
}

#[test]
fn a_tree_of_countless_files_is_refused_with_their_number() {
    let (code, said) = locate(|repository| commit_nested(repository, 10, 10));
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("has 11111111110 files and folders, over the limit of 1000000"),
        "{said}"
    );
}

#[test]
fn a_tree_too_deep_is_refused_with_gits_limit() {
    let (code, said) = locate(|repository| commit_nested(repository, 20_000, 1));
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("more than 2048 deep") && said.contains("core.maxTreeDepth"),
        "{said}"
    );
}
