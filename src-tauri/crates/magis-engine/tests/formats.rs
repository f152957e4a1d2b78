//! Data folders and exported runs of earlier versions open, fold and are shown by this one.
//!
//! `formats/N` holds what the program wrote when the log of events had version N: a database and an exported run. They are
//! never written again; where the log gets a new version, `write_fixture` writes the next folder with
//! `MAGIS_WRITE_FIXTURE=formats/N cargo nextest run -p magis-engine --test formats --run-ignored all`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod environment;

use environment::{TestEnvironment, open, script, script_after};
use magis_core::{FileAction, Hint, HintsMode, RepoPath, Role, RunId, Stage, TaskId};
use magis_engine::{ApplyTarget, EngineLimits, Magis, Review, Steering};
use magis_llm::ScriptedModel;
use magis_repo::{Applied, Committer, HunkNumber};
use magis_store::RunFilter;
use magis_testkit::sample;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const DATABASE: &str = "magis.sqlite3";
const ARCHIVE: &str = "run.json";

fn filters() -> RepoPath {
    RepoPath::new("tally/filters.py").unwrap()
}

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut all: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    all.retain(|path| path.is_dir());
    all.sort();
    assert!(!all.is_empty(), "there are fixtures");
    all
}

/// Returns a data folder with the database of a fixture.
fn opened(fixture: &Path) -> (TempDir, Magis) {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::copy(fixture.join(DATABASE), data.join(DATABASE)).unwrap();
    let magis = open(folder.path());
    (folder, magis)
}

fn runs(magis: &Magis) -> Vec<RunId> {
    let all = magis.runs(&RunFilter::default()).unwrap();
    let mut runs: Vec<RunId> = all.into_iter().map(|run| run.id).collect();
    runs.sort_unstable();
    runs
}

/// Returns how a run is shown, without its number and without what depends on the time zone.
fn shown(magis: &Magis, run: RunId) -> String {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_time = |word: &str| matches!(word.len(), 5 | 8) && word.contains(':') && digits(&word.replace(':', ""));
    let is_day = |word: &str| word.len() == 10 && digits(&word.replace('-', ""));
    let text = magis.markdown(run).unwrap();
    let line = |line: &str| {
        let words = line.split(' ').map(|word| {
            let plain = word.trim_matches([',', '.', ')']);
            if is_time(plain) || is_day(plain) {
                word.replace(plain, "TIME")
            } else {
                word.to_owned()
            }
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let text = text.replace(&format!("Run {run}:"), "Run:");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_run_of_an_earlier_database_folds_and_is_shown() {
    for fixture in fixtures() {
        let version = fixture.file_name().unwrap().to_string_lossy().into_owned();
        let (_folder, magis) = opened(&fixture);
        let runs = runs(&magis);
        assert!(runs.len() >= 5, "{runs:?}");
        for run in runs {
            magis.state(run).unwrap();
            insta::assert_snapshot!(format!("shown_{version}_run_{run}"), shown(&magis, run));
        }
    }
}

#[test]
fn what_stood_beside_the_runs_is_still_there() {
    for fixture in fixtures() {
        let (_folder, magis) = opened(&fixture);
        let runs = runs(&magis);
        let tagged = runs.iter().find(|run| magis.tags(**run).unwrap() == ["bounds"]);
        let tagged = *tagged.expect("one run has a tag");
        let review: Value = magis.review(tagged).unwrap().expect("it has a review");
        assert_eq!(review["message"], "Compare the last day, too");
        let applied = magis.applied(tagged).unwrap().expect("its patch was applied");
        assert!(matches!(applied.applied, Applied::Branch { .. }), "{applied:?}");
        let repo = magis.run(tagged).unwrap().entry.repo.unwrap();
        assert_eq!(magis.draft(repo).unwrap(), Some(json!({ "issue": "Half written" })));
        let own = magis.latest_summary(repo, &filters()).unwrap().unwrap();
        assert_eq!(own.kept.text, "Chooses entries, says a person.");
        assert!(!magis.reuses(repo).unwrap().is_empty(), "summaries were used again");
        assert_eq!(magis.setting("fixture").unwrap(), Some(json!({ "kept": true })));
    }
}

#[test]
fn an_earlier_export_is_taken_in_and_shown_as_the_run_it_was() {
    for fixture in fixtures() {
        let json = fs::read_to_string(fixture.join(ARCHIVE)).unwrap();
        let (_folder, magis) = opened(&fixture);
        let before = runs(&magis);
        let run = magis.import(&json, "run.json").unwrap();
        assert!(!before.contains(&run));
        assert!(!magis.merged(run).unwrap().patch.is_empty());
        let again = magis.import(&magis.export(run).unwrap(), "run.json").unwrap();
        assert_eq!(shown(&magis, again), shown(&magis, run));
    }
}

/// Returns what a person and the agents do in the runs of a fixture: every step and every way to intervene.
async fn work(environment: &TestEnvironment) -> RunId {
    let magis = &environment.magis;
    environment.remember_at_parent().await;
    let mut wish = environment.wish(sample::UNTIL.text);
    wish.hints = vec![
        Hint::Comments("The last day belongs to the period.".to_owned()),
        Hint::FailingLog("AssertionError: 1 != 2".to_owned()),
    ];
    let first = magis.prepare_for(wish, &script()).unwrap().run;
    let speak = |text: &str| Steering::Speak { text: text.to_owned() };
    magis.steer(first, speak("Mind the first day.")).unwrap();
    environment.drive(first, Arc::new(script())).await.unwrap();
    intervened(environment).await;
    failed(environment).await;
    let stopped = magis
        .prepare_for(environment.wish(sample::UNTIL.text), &script())
        .unwrap()
        .run;
    environment.stop_before(stopped, "P10-code").await;
    let again = magis
        .rerun(first, Stage::Code, None, Some(7), &EngineLimits::default())
        .unwrap();
    environment.drive(again, Arc::new(script())).await.unwrap();
    magis.import(&magis.export(first).unwrap(), "run.json").unwrap();
    kept_beside(environment, first);
    first
}

/// A run of two tasks in which a person takes part.
async fn intervened(environment: &TestEnvironment) {
    let magis = &environment.magis;
    let run = magis
        .prepare_for(environment.wish(sample::TWO_TASK_ISSUE), &script())
        .unwrap()
        .run;
    environment.stop_before(run, "P5").await;
    let state = magis.state(run).unwrap();
    let spare = state.candidates().iter().map(|candidate| candidate.path.to_string());
    let spare = spare
        .into_iter()
        .find(|path| path != "tally/filters.py" && path != "tally/budget.py")
        .unwrap();
    let steps = [
        Steering::Drop { path: spare },
        Steering::Add {
            path: "README.md".to_owned(),
        },
        Steering::Hint {
            text: "Case never matters.".to_owned(),
        },
        Steering::EditTask {
            task: TaskId(1),
            action: Some(FileAction::Modify),
            description: "Compare as the issue asks, whatever the case.".to_owned(),
        },
    ];
    for step in steps {
        magis.steer(run, step).unwrap();
    }
    environment.stop_before(run, "P10-code").await;
    let role = Role {
        name: "Case developer".to_owned(),
        focus: "Knows Unicode.".to_owned(),
    };
    magis.steer(run, Steering::EditRole { task: TaskId(1), role }).unwrap();
    environment.drive(run, Arc::new(script())).await.unwrap();
}

/// A run whose answers cannot be used.
async fn failed(environment: &TestEnvironment) {
    let model = script_after(
        ScriptedModel::new("script")
            .when_prefixed("def in_period", "(entry:\n    return (\n")
            .when("Review the change", " "),
    );
    let mut wish = environment.wish(sample::UNTIL.text);
    wish.hints_mode = HintsMode::Ignore;
    environment.solve(wish, model).await;
}

/// What the data folder keeps beside the logs.
fn kept_beside(environment: &TestEnvironment, run: RunId) {
    let magis = &environment.magis;
    let repo = magis.run(run).unwrap().entry.repo.unwrap();
    magis.set_tags(run, &["bounds".to_owned()]).unwrap();
    let review = Review {
        accepted: BTreeSet::from([HunkNumber(1)]),
        edited: BTreeMap::new(),
        tests: BTreeSet::new(),
        commit_message: Some("Compare the last day, too".to_owned()),
    };
    magis
        .put_review(run, &json!({ "message": review.commit_message }), 1)
        .unwrap();
    let identity = Committer {
        name: "T".to_owned(),
        email: "t@example.org".to_owned(),
    };
    let branch = ApplyTarget::Branch {
        name: "fix/bounds".to_owned(),
        identity: Some(identity),
    };
    magis.apply_review(run, branch, &review).unwrap();
    magis
        .correct_summary(repo, &filters(), "Chooses entries, says a person.")
        .unwrap();
    magis.put_draft(repo, &json!({ "issue": "Half written" }), 1).unwrap();
    magis.put_setting("fixture", &json!({ "kept": true })).unwrap();
}

#[tokio::test]
#[ignore = "writes a fixture; run by hand when the log gets a new version"]
async fn write_fixture() {
    let target = PathBuf::from(std::env::var_os("MAGIS_WRITE_FIXTURE").expect("MAGIS_WRITE_FIXTURE names a folder"));
    assert!(!target.exists(), "a fixture is never written again");
    fs::create_dir_all(&target).unwrap();
    let environment = TestEnvironment::new();
    let run = work(&environment).await;
    fs::write(target.join(ARCHIVE), environment.magis.export(run).unwrap()).unwrap();
    let connection = rusqlite::Connection::open(environment.magis.data().root().join(DATABASE)).unwrap();
    // The repository is gone with the temporary folder; its place names no machine.
    let elsewhere = "UPDATE repositories SET root = '/repositories/tally';
                     UPDATE runs SET repository_root = '/repositories/tally' WHERE repository_root <> '';";
    connection.execute_batch(elsewhere).unwrap();
    let copy = target.join(DATABASE);
    connection.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
}
