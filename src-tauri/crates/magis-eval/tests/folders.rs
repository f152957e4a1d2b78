//! Repositories, sets and results' folders, from outside. Needs the `git` program.

use magis_core::{CommitId, LineSpan, RelevanceMode, RepoPath, RunId};
use magis_eval::instances::{InstanceId, read_instances, read_references, spread};
use magis_eval::repositories::{Applies, Repositories};
use magis_eval::results::{Files, Hints, Memory, Method, Qa, Results, RunLine, RunState, Setting, read_verdicts};
use magis_testkit::{FixtureRepo, fingerprint};
use std::path::{Path, PathBuf};

const PATCH: &str = "diff --git a/m.txt b/m.txt\n--- a/m.txt\n+++ b/m.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";

/// Returns a folder with the repository `owner/name` in the form `OWNER+NAME`, and the ids of its two commits.
fn repositories(folder: &Path) -> (FixtureRepo, CommitId, CommitId) {
    let fixture = FixtureRepo::new();
    let base = fixture.write("m.txt", "one\ntwo\n").commit("first");
    let later = fixture.write("m.txt", "else\n").commit("second");
    std::os::unix::fs::symlink(fixture.root(), folder.join("owner+name")).expect("a link can be made");
    (fixture, CommitId(base), CommitId(later))
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("a path")
}

#[test]
fn a_patch_is_tried_on_its_base_without_a_trace_in_the_repository() {
    let folder = tempfile::tempdir().unwrap();
    let (fixture, base, later) = repositories(folder.path());
    let before = fingerprint(fixture.root());
    let repositories = Repositories::new(folder.path()).unwrap();
    let tried = |commit: &CommitId, patch: &str| repositories.applies("owner/name", commit, patch).unwrap();
    assert_eq!(tried(&base, PATCH), Applies::Yes);
    assert!(matches!(tried(&later, PATCH), Applies::No(why) if why.contains("m.txt")));
    assert!(matches!(tried(&base, ""), Applies::No(_)));
    assert!(matches!(tried(&base, "what is this"), Applies::No(_)));
    assert_eq!(fingerprint(fixture.root()), before);
}

#[test]
fn files_and_texts_are_those_of_the_commit() {
    let folder = tempfile::tempdir().unwrap();
    let (_fixture, base, _) = repositories(folder.path());
    let repositories = Repositories::new(folder.path()).unwrap();
    let files = repositories.files("owner/name", &base).unwrap();
    assert_eq!(
        files.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(),
        ["m.txt"]
    );
    assert_eq!(
        repositories
            .text("owner/name", &base, &path("m.txt"))
            .unwrap()
            .as_deref(),
        Some("one\ntwo\n")
    );
    assert_eq!(repositories.text("owner/name", &base, &path("none.txt")).unwrap(), None);
    assert!(
        repositories
            .find("owner/other")
            .unwrap_err()
            .to_string()
            .contains("owner+other")
    );
}

#[test]
fn a_scratch_clone_stands_at_the_base_and_leaves_the_original_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (fixture, base, _) = repositories(folder.path());
    let before = fingerprint(fixture.root());
    let place = folder.path().join("work/one");
    let repositories = Repositories::new(folder.path()).unwrap();
    for _again in 0..2 {
        repositories.scratch_clone("owner/name", &base, &place).unwrap();
        let head = std::fs::read_to_string(place.join(".git/HEAD")).unwrap();
        assert_eq!(head.trim(), base.0);
    }
    assert_eq!(fingerprint(fixture.root()), before);
}

#[test]
fn issue_and_reference_are_read_from_one_row_into_two_types() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("set.jsonl");
    let row = |id: &str, reference: serde_json::Value| {
        let mut row = serde_json::json!({
            "instance_id": id, "repo": "owner/name", "base_commit": "c0ffee", "problem_statement": "broken", "hints_text": "look",
        });
        row.as_object_mut()
            .unwrap()
            .extend(reference.as_object().unwrap().clone());
        row.to_string()
    };
    let with_patch = row("a-1", serde_json::json!({ "patch": PATCH, "test_patch": "secret" }));
    let with_gold = row("a-2", serde_json::json!({ "gold": { "m.txt": [[4, 7]] } }));
    std::fs::write(&file, format!("{with_patch}\n\n{with_gold}\n")).unwrap();
    let instances = read_instances(&file).unwrap();
    assert_eq!(instances.len(), 2);
    assert!(!format!("{instances:?}").contains("secret") && !format!("{instances:?}").contains("+2"));
    let references = read_references(&file).unwrap();
    let gold = |id: &str| references[&InstanceId(id.to_owned())].gold[&path("m.txt")].clone();
    assert_eq!(gold("a-1"), [LineSpan::new(2, 2).unwrap()]);
    assert_eq!(gold("a-2"), [LineSpan::new(4, 7).unwrap()]);
    assert_eq!(references[&InstanceId("a-1".to_owned())].files(), [path("m.txt")]);
}

#[test]
fn a_set_can_be_spread_evenly() {
    let all: Vec<u32> = (0..43).collect();
    assert_eq!(spread(all.clone(), Some(6), Some(8)), [0, 6, 12, 18, 24, 30, 36, 42]);
    assert_eq!(spread(all.clone(), None, Some(2)), [0, 1]);
    assert_eq!(spread(all, None, None).len(), 43);
}

fn setting(seed: u64) -> Setting {
    Setting {
        label: "one".to_owned(),
        method: Method::Magis,
        model: "scripted".to_owned(),
        files: Files::Located,
        hints: Hints::Withheld,
        qa: Qa::Reviewing,
        relevance: RelevanceMode::Code,
        top_k: 20,
        max_rounds: 3,
        seed,
        context: None,
        memory: Memory::Empty,
        data_dir: PathBuf::from("data"),
        repos: PathBuf::from("repos"),
    }
}

#[test]
fn a_results_folder_belongs_to_one_setting_and_the_last_word_on_a_run_holds() {
    let folder = tempfile::tempdir().unwrap();
    let results = Results::begin(folder.path(), &setting(1)).unwrap();
    let instance_id = InstanceId("a-1".to_owned());
    let line = |state| RunLine {
        instance_id: instance_id.clone(),
        run: RunId(3),
        state,
    };
    results.note_run(&line(RunState::Begun)).unwrap();
    let ended = line(RunState::Ended {
        outcome: "approved".to_owned(),
        seconds: 1.5,
        applied: true,
    });
    results.note_run(&ended).unwrap();
    let again = Results::begin(folder.path(), &setting(1)).unwrap();
    assert_eq!(again.runs().unwrap()[&instance_id], ended);
    let refused = Results::begin(folder.path(), &setting(2)).unwrap_err().to_string();
    assert!(refused.contains("another setting"), "{refused}");
    assert!(Results::open(&folder.path().join("nowhere")).is_err());
}

#[test]
fn a_judge_may_print_more_than_verdicts() {
    let text = "starting\n{\"instance_id\": \"a-1\", \"applied\": true, \"resolved\": false, \"why\": \"x\", \"seconds\": 3}\n{\"instances\": 1, \"resolved\": 0}\n";
    let verdicts = read_verdicts(text);
    assert_eq!(verdicts.len(), 1);
    assert_eq!((verdicts[0].resolved, verdicts[0].why.as_deref()), (false, Some("x")));
}
