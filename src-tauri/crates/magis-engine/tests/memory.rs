//! The summary memory over changes of files, names, models and machines.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod environment;

use environment::{TestEnvironment, script, script_after};
use magis_core::{Description, DescriptionSource, RepoId, RepoPath};
use magis_engine::{EngineError, MemoryState, WithCode};
use magis_llm::ScriptedModel;
use magis_repo::{BaseChoice, ObjectStore, Snapshot};
use magis_store::MemoryFileError;
use magis_testkit::FixtureRepo;
use std::sync::Arc;

const FILE: &str = "tally/filters.py";

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

/// Returns an environment whose repository is in the list.
fn known() -> (TestEnvironment, RepoId) {
    let environment = TestEnvironment::new();
    let repo = environment.magis.add_repository(&environment.repository()).unwrap();
    (environment, repo)
}

/// Describes a file of the last commit; returns how often each of P1 and P2 was asked, too.
async fn described(
    environment: &TestEnvironment,
    repo: RepoId,
    file: &str,
    model: &Arc<ScriptedModel>,
) -> (Description, usize, usize) {
    let before = model.chats().len();
    let repository = environment.magis.git().open(environment.repository()).unwrap();
    let objects = ObjectStore::open(environment.magis.data().objects(repo), &repository).unwrap();
    let snapshot = Snapshot::take(&repository, &objects, &BaseChoice::Head).unwrap();
    let description = environment
        .magis
        .describe(repo, &snapshot, &path(file), model.clone())
        .await
        .unwrap();
    let asked = |begun: &str| {
        let chats = model.chats();
        chats[before..]
            .iter()
            .filter(|chat| chat.answer_prefix.starts_with(begun))
            .count()
    };
    (description, asked("The change"), asked("This file"))
}

/// Returns the file with a comment of so many lines in front.
fn commented(environment: &TestEnvironment, lines: usize) -> String {
    let comment =
        (0..lines).map(|number| format!("# Line {number} of a comment that says how entries are chosen here.\n"));
    comment.collect::<String>() + &environment.read(FILE)
}

#[tokio::test]
async fn another_model_makes_a_summary_of_its_own_and_finds_it_again() {
    let (environment, repo) = known();
    let (one, other) = (Arc::new(script()), Arc::new(script_after(ScriptedModel::new("other"))));
    for (model, expected) in [(&one, 1), (&other, 1), (&one, 0), (&other, 0)] {
        let (description, p1, p2) = described(&environment, repo, FILE, model).await;
        assert_eq!((p1, p2), (0, expected), "{description:?}");
    }
}

#[tokio::test]
async fn a_change_that_is_shorter_than_a_message_tells_itself_and_a_longer_one_costs_p1() {
    let (environment, repo) = known();
    let model = Arc::new(script());
    described(&environment, repo, FILE, &model).await;
    environment.commit(FILE, &commented(&environment, 1));
    let (told, p1, p2) = described(&environment, repo, FILE, &model).await;
    assert_eq!((p1, p2), (0, 0));
    assert!(
        told.text().contains("came (+): +# Line 0 of a comment"),
        "{}",
        told.text()
    );

    environment.commit(FILE, &commented(&environment, 8));
    let (told, p1, p2) = described(&environment, repo, FILE, &model).await;
    assert_eq!((p1, p2), (1, 0));
    assert!(told.text().contains("makes sorting stable"), "{}", told.text());
    let (again, p1, p2) = described(&environment, repo, FILE, &model).await;
    assert_eq!((again, p1, p2), (told, 0, 0), "what was said is remembered");
}

#[tokio::test]
async fn a_change_of_most_of_a_file_costs_p2() {
    let (environment, repo) = known();
    let model = Arc::new(script());
    described(&environment, repo, FILE, &model).await;
    environment.commit(FILE, &commented(&environment, 200));
    let (description, p1, p2) = described(&environment, repo, FILE, &model).await;
    assert_eq!((description.source, p1, p2), (DescriptionSource::Fresh, 0, 1));
}

#[tokio::test]
async fn a_moved_file_keeps_its_summary_also_when_a_little_changed_on_the_way() {
    let (environment, repo) = known();
    let model = Arc::new(script());
    let (before, ..) = described(&environment, repo, FILE, &model).await;
    environment.git(&["mv", FILE, "tally/choosing.py"]);
    let text = environment.read("tally/choosing.py");
    environment.commit("tally/choosing.py", &text);
    let (moved, p1, p2) = described(&environment, repo, "tally/choosing.py", &model).await;
    assert_eq!((moved.source, p1, p2), (DescriptionSource::Stored, 0, 0));
    assert_eq!(moved.summary, before.summary);

    environment.git(&["mv", "tally/choosing.py", "tally/chosen.py"]);
    environment.commit("tally/chosen.py", &(text + "# The end.\n"));
    let (moved, p1, p2) = described(&environment, repo, "tally/chosen.py", &model).await;
    assert_eq!((p1, p2), (0, 0), "{moved:?}");
    assert!(matches!(moved.source, DescriptionSource::Updated { .. }));
}

#[tokio::test]
async fn a_file_shorter_than_a_summary_is_its_own_description() {
    let (environment, repo) = known();
    let model = Arc::new(script());
    let (description, p1, p2) = described(&environment, repo, "tally/__main__.py", &model).await;
    assert_eq!((description.source, p1, p2), (DescriptionSource::Itself, 0, 0));
    assert_eq!(description.summary, environment.read("tally/__main__.py").trim());
}

#[tokio::test]
async fn a_correction_is_read_by_every_model_and_stale_when_its_file_changes() {
    let (environment, repo) = known();
    let (one, other) = (Arc::new(script()), Arc::new(script_after(ScriptedModel::new("other"))));
    described(&environment, repo, FILE, &one).await;
    let corrected = environment
        .magis
        .correct_summary(repo, &path(FILE), " Chooses entries. Mine. ")
        .unwrap();
    assert!(corrected.summary.is_corrected());
    assert_eq!(corrected.state, MemoryState::Fresh);
    for model in [&one, &other] {
        let (description, p1, p2) = described(&environment, repo, FILE, model).await;
        assert_eq!((description.text().as_str(), p1, p2), ("Chooses entries. Mine.", 0, 0));
    }
    environment.commit(FILE, &commented(&environment, 1));
    let stale = environment.magis.remembered(repo, &path(FILE)).unwrap().unwrap();
    assert_eq!((stale.state, stale.summary.is_corrected()), (MemoryState::Stale, true));
    let (description, _, p2) = described(&environment, repo, FILE, &other).await;
    assert!(
        description.text().starts_with("Chooses entries. Mine.\nChanged since:"),
        "{}",
        description.text()
    );
    assert_eq!(p2, 0);
    let empty = environment.magis.correct_summary(repo, &path(FILE), " \n").unwrap_err();
    assert!(matches!(empty, EngineError::EmptySummary { .. }));
}

#[tokio::test]
async fn a_summary_can_be_made_anew_and_dropped_and_both_are_counted() {
    let (environment, repo) = known();
    let model = Arc::new(script());
    described(&environment, repo, FILE, &model).await;
    environment.magis.correct_summary(repo, &path(FILE), "Mine.").unwrap();
    let renewed = environment
        .magis
        .renew_summary(repo, &path(FILE), model.clone())
        .await
        .unwrap();
    assert!(!renewed.summary.is_corrected());
    let days = environment.magis.memory_days(repo).unwrap();
    assert_eq!(days.len(), 1);
    assert!(days[0].spent > 0, "work outside of runs is counted, too");
    assert_eq!(environment.magis.drop_summary(repo, &path(FILE)).unwrap(), 1);
    assert_eq!(environment.magis.remembered(repo, &path(FILE)).unwrap(), None);
}

#[tokio::test]
async fn memory_moves_to_another_machine_and_spares_the_model_there() {
    let (here, repo) = known();
    let model = Arc::new(script());
    described(&here, repo, FILE, &model).await;
    described(&here, repo, "tally/budget.py", &model).await;
    here.magis.correct_summary(repo, &path(FILE), "Mine.").unwrap();
    let file = here.folder.path().join("team.magis-memory");
    let written = here.magis.export_memory(repo, &file, WithCode::No).unwrap();
    assert_eq!((written.summaries, written.corrected, written.code), (2, 1, 0));
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("def "), "no code in it unless asked");

    let (there, other) = known();
    let taken = there.magis.import_memory(other, &file).unwrap();
    assert_eq!(
        (taken.entries.added, taken.entries.corrected, taken.unknown_versions),
        (2, 1, 0)
    );
    let fresh = Arc::new(script());
    for (file, words) in [(FILE, "Mine."), ("tally/budget.py", "chooses entries")] {
        let (description, p1, p2) = described(&there, other, file, &fresh).await;
        assert_eq!((description.source.clone(), p1, p2), (DescriptionSource::Stored, 0, 0));
        assert!(description.text().contains(words), "{}", description.text());
    }

    here.magis.export_memory(repo, &file, WithCode::Yes).unwrap();
    assert!(std::fs::read_to_string(&file).unwrap().contains("def "));
    let again = there.magis.import_memory(other, &file).unwrap();
    assert_eq!((again.entries.added, again.entries.kept, again.code), (0, 2, 2));
}

#[tokio::test]
async fn memory_of_another_repository_and_a_text_under_a_wrong_hash_are_refused_whole() {
    let (here, repo) = known();
    described(&here, repo, FILE, &Arc::new(script())).await;
    let file = here.folder.path().join("team.magis-memory");
    here.magis.export_memory(repo, &file, WithCode::Yes).unwrap();

    let stranger = FixtureRepo::new();
    stranger.write("a.txt", "a\n").commit("first");
    let foreign = here.magis.add_repository(stranger.root()).unwrap();
    let error = here.magis.import_memory(foreign, &file).unwrap_err();
    assert!(
        matches!(error, EngineError::MemoryFile(MemoryFileError::Foreign { .. })),
        "{error}"
    );
    assert_eq!(here.magis.all_summaries(foreign).unwrap(), []);

    let missing = here
        .magis
        .import_memory(repo, &here.folder.path().join("none"))
        .unwrap_err();
    assert!(matches!(missing, EngineError::MemoryFile(MemoryFileError::Read(_))));
}
