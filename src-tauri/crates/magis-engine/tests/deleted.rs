//! What is deleted is gone: a mark that was put wherever a person, a repository or a model can put a text is found in no byte of
//! the data folder once the run or the repository is deleted that it belonged to.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod environment;
#[path = "environment/traces.rs"]
mod traces;

use environment::{TestEnvironment, git, hang_at, script_after};
use magis_core::{Hint, Issue, RepoId, RunId, Stage};
use magis_engine::{
    ApplyTarget, DriveEnd, EngineLimits, LocateExtent, Locator, Progress, Review, SolveRequest, Steering, WithCode,
    start_log,
};
use magis_llm::ScriptedModel;
use magis_repo::{BaseChoice, Committer, HunkNumber, Snapshot};
use magis_search::{Retention, Signals};
use magis_store::Erasure;
use magis_testkit::{mark, sample};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use traces::traces;

/// What a mark was put into, and the mark.
type Marks = BTreeMap<&'static str, String>;

/// Places of texts that belong to a run and go with it.
const OF_THE_RUN: [&str; 19] = [
    "issue title",
    "issue text",
    "hint",
    "hint on the way",
    "words in the meeting",
    "task",
    "role",
    "opening",
    "speech",
    "summing up",
    "revised role",
    "reviewer",
    "fault",
    "code",
    "review comment",
    "subject line",
    "edited file",
    "commit message",
    "branch",
];
/// Places of texts that belong to a run and are the name of something.
const TAG: &str = "tag";
/// Places of texts that belong to the repository and stay as long as it does.
const OF_THE_REPOSITORY: [&str; 9] = [
    "committed file",
    "file name",
    "past commit",
    "uncommitted change",
    "uncommitted file",
    "uncommitted file name",
    "summary",
    "own words",
    "draft",
];

/// Where the texts of a repository may be while its runs are deleted: its index, and what memory holds of it.
const OF_MEMORY: [&str; 6] = [
    "index/",
    "row summaries.",
    "row change_messages.",
    "row memory_work.",
    "row unconditional_scores.",
    "row drafts.",
];

/// Whatever is in it is in its rows, too, or should not be.
const DATABASE: &str = "magis.sqlite3";

struct Scene {
    environment: TestEnvironment,
    marks: Marks,
    repo: RepoId,
}

impl Scene {
    /// Creates a repository with marks in committed and uncommitted files, in their names, and in its history.
    fn new() -> Self {
        let environment = TestEnvironment::new();
        let places = OF_THE_RUN.iter().chain([&TAG]).chain(&OF_THE_REPOSITORY);
        let marks: Marks = places.map(|place| (*place, mark())).collect();
        let root = environment.repository();
        let long = "# What it does is told at length.\n".repeat(15);
        let text = format!("\"\"\"Days of {}.\"\"\"\n{long}", marks["committed file"]);
        fs::write(root.join(format!("tally/{}.py", marks["file name"])), text).unwrap();
        let message = format!("List the days of {}", marks["past commit"]);
        git(&root, &["add", "--all"]);
        let author = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
        git(&root, &[&author[..], &["commit", "--quiet", "-m", &message]].concat());
        let report = environment.read("tally/report.py") + &format!("\n# {}\n", marks["uncommitted change"]);
        fs::write(root.join("tally/report.py"), report).unwrap();
        let new = format!("# {}\n{long}", marks["uncommitted file"]);
        fs::write(root.join(format!("tally/{}.py", marks["uncommitted file name"])), new).unwrap();
        let repo = environment.magis.add_repository(&root).unwrap();
        Self {
            environment,
            marks,
            repo,
        }
    }

    fn of(&self, place: &str) -> &str {
        &self.marks[place]
    }

    fn file(&self) -> String {
        format!("tally/{}.py", self.of("file name"))
    }

    /// Returns the sample's script, but everything that it says holds a mark.
    fn model(&self) -> ScriptedModel {
        let says = |place: &str| format!(" says {} of it. It waits for nothing.", self.of(place));
        let task = json!({"reason": "it compares", "task": format!("Compare {} as the issue asks.", self.of("task"))});
        let role = |place: &str| json!({"name": "Filter developer", "focus": self.of(place)}).to_string();
        let code = format!(
            "(entry, since=date.min, until=date.max):\n    \"\"\"Tell it. {}\"\"\"\n    return since <= entry.day <= until\n",
            self.of("code")
        );
        let first = ScriptedModel::new("script")
            .when("Something in this file has to change", task.to_string())
            .when_prefixed("def in_period", code)
            .when("Summarise this file", says("summary"))
            .when("You are the Manager. The task in", role("role"))
            .when("open the kick-off meeting", says("opening"))
            .when("Speak in the meeting", says("speech"))
            .when("sum up the meeting", says("summing up"))
            .when("revise the description of your own role", role("revised role"))
            .when("Design the QA engineer", role("reviewer"))
            .when_prefixed("What is wrong:", says("fault"))
            .when("Review the change", says("review comment"))
            .when("Write the subject line", says("subject line"));
        script_after(first)
    }

    fn wish(&self) -> SolveRequest {
        let (title, body) = sample::UNTIL.text.split_once('\n').unwrap();
        let issue = format!(
            "{title} {}\n{body}\n\nSeen in {} as {}.\n",
            self.of("issue title"),
            self.file(),
            self.of("issue text")
        );
        let mut wish = self.environment.wish(&issue);
        wish.base = BaseChoice::HeadWithUncommitted;
        wish.hints = vec![Hint::Comments(format!("The bound is exclusive, {}", self.of("hint")))];
        wish
    }

    /// Returns everything that a person does with a run: from its issue to its applied patch, and again. Gives all the
    /// runs.
    /// Puts a file where model workers keep the prompts that they have read.
    fn kept_prefix(&self) -> PathBuf {
        let folder = self.environment.magis.data().root().join("prefixes/model");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("0.prefix");
        fs::write(&file, "tokens").unwrap();
        file
    }

    async fn work(&self) -> Vec<RunId> {
        let magis = &self.environment.magis;
        let model = Arc::new(self.model());
        let run = magis.prepare_for(self.wish(), &*model).unwrap().run;
        let hint = |place| Steering::Hint {
            text: self.of(place).to_owned(),
        };
        magis.steer(run, hint("hint on the way")).unwrap();
        let words = self.of("words in the meeting").to_owned();
        magis.steer(run, Steering::Speak { text: words }).unwrap();
        let end = self.environment.drive(run, model.clone()).await.unwrap();
        assert!(matches!(end, DriveEnd::Ended(_)), "{end:?}");
        magis.set_tags(run, &[self.of(TAG).to_owned()]).unwrap();
        let json = magis.export(run).unwrap();
        assert!(magis.markdown(run).unwrap().contains(self.of("code")));
        let again = magis
            .rerun(run, Stage::Code, None, None, &EngineLimits::default())
            .unwrap();
        self.environment.drive(again, model.clone()).await.unwrap();
        let imported = magis.import(&json, "run.json").unwrap();
        assert!(magis.texts(imported).is_ok() && magis.texts(again).is_ok());
        // What is applied is the repository's from then on, so everything that reads the work tree comes before.
        self.look_around(&model).await;
        self.review_and_apply(run, again);
        vec![run, again, imported]
    }

    /// Leaves the first run applied to the work tree and the other one on a branch.
    fn review_and_apply(&self, run: RunId, again: RunId) {
        let magis = &self.environment.magis;
        let path = magis_core::RepoPath::new("tally/filters.py").unwrap();
        let after = magis.texts(run).unwrap().after(&path).unwrap();
        let review = Review {
            accepted: BTreeSet::from([HunkNumber(1)]),
            edited: BTreeMap::from([(path, after + "\n# " + self.of("edited file") + "\n")]),
            tests: BTreeSet::new(),
            commit_message: Some(format!("Compare {}", self.of("commit message"))),
        };
        let kept = json!({"edited": [["tally/filters.py", review.edited.values().next()]],
                          "message": review.commit_message});
        magis.put_review(run, &kept, 1).unwrap();
        assert!(magis.review_conflicts(run, &review).unwrap().is_empty());
        magis.apply_review(run, ApplyTarget::Worktree, &review).unwrap();
        magis.undo(run).unwrap();
        let patch = self.environment.folder.path().join("the.patch");
        magis.apply_review(run, ApplyTarget::PatchFile(patch), &review).unwrap();
        let branch = || ApplyTarget::Branch {
            name: format!("fix/{}", self.of("branch")),
            identity: Some(Committer {
                name: "T".to_owned(),
                email: "t@example.org".to_owned(),
            }),
        };
        magis.apply_review(run, branch(), &review).unwrap();
        magis.undo(run).unwrap();
        magis.apply_review(again, branch(), &review).unwrap();
        magis.apply_review(run, ApplyTarget::Worktree, &review).unwrap();
        magis.can_undo(run).unwrap();
    }

    /// What a person does with the repository beside its runs: locating, describing, own words, a draft.
    async fn look_around(&self, model: &Arc<ScriptedModel>) {
        let magis = &self.environment.magis;
        let mut locator = self.locator(&BaseChoice::HeadWithUncommitted);
        let issue = Issue::new(sample::UNTIL.text).unwrap();
        let extent = LocateExtent {
            files: 20,
            symbols: 100,
            signals: Signals::ALL,
        };
        let mut location = locator.locate(&issue, &[], extent).unwrap();
        locator.judge(&issue, &mut location, 20, model.clone()).await.unwrap();
        locator
            .go_to(&BaseChoice::Head, &mut |_| ControlFlow::Continue(()))
            .unwrap();
        drop(locator);
        let path = magis_core::RepoPath::new(self.file()).unwrap();
        let head = magis.files_of(self.repo, &BaseChoice::Head).unwrap();
        assert!(head.iter().any(|file| file.path == path));
        magis.memory_of(self.repo, &head).unwrap();
        {
            let base = self.base();
            let snapshot = Snapshot::reopen(magis.git(), magis.data().objects(self.repo), &base).unwrap();
            magis
                .describe(self.repo, &snapshot, &path, model.clone())
                .await
                .unwrap();
        }
        magis.renew_summary(self.repo, &path, model.clone()).await.unwrap();
        let own = format!("Days, says {}.", self.of("own words"));
        magis.correct_summary(self.repo, &path, &own).unwrap();
        let draft = json!({ "issue": self.of("draft") });
        magis.put_draft(self.repo, &draft, 1).unwrap();
    }

    fn base(&self) -> magis_core::Base {
        let locator = self.locator(&BaseChoice::Head);
        let extent = LocateExtent {
            files: 1,
            symbols: 1,
            signals: Signals::ALL,
        };
        locator
            .locate(&Issue::new("x\n\ny").unwrap(), &[], extent)
            .unwrap()
            .base
    }

    fn locator(&self, base: &BaseChoice) -> Locator {
        let root = self.environment.repository();
        let watch = &mut |_| ControlFlow::Continue(());
        self.environment
            .magis
            .locator(&root, base, Retention::Few, watch)
            .unwrap()
    }

    /// Returns where something of these marks is, each place with what was marked.
    fn found(&self, places: &[&'static str]) -> Vec<(&'static str, String)> {
        let name: BTreeMap<&str, &'static str> = places.iter().map(|place| (self.of(place), *place)).collect();
        let marks: Vec<&str> = name.keys().copied().collect();
        let found = traces(self.environment.magis.data().root(), &marks).into_iter();
        found.map(|(mark, place)| (name[mark], place)).collect()
    }
}

/// Returns the places alone, without the names that chance gives to files, to be read.
fn told(found: &[(&'static str, String)]) -> String {
    let neutral = |place: &str| {
        let parts = place.split('/').map(|part| {
            let is_id = part.len() >= 32 || (part.len() == 2 && u8::from_str_radix(part, 16).is_ok());
            let how = part.find([' ', '.']).map_or("", |at| &part[at..]);
            if is_id { format!("*{how}") } else { part.to_owned() }
        });
        parts.collect::<Vec<_>>().join("/")
    };
    let mut by_place: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (marked, place) in found {
        by_place.entry(neutral(place)).or_default().insert(marked);
    }
    let lines = by_place
        .iter()
        .map(|(place, marked)| format!("  {place}: {marked:?}\n"));
    lines.collect()
}

fn of_the_run() -> Vec<&'static str> {
    OF_THE_RUN.iter().copied().chain([TAG]).collect()
}

fn everything() -> Vec<&'static str> {
    of_the_run().into_iter().chain(OF_THE_REPOSITORY).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_deleted_run_nothing_is_left_but_what_belongs_to_its_repository() {
    let scene = Scene::new();
    let runs = scene.work().await;
    let before = scene.found(&everything());
    let kept: BTreeSet<&str> = before.iter().map(|(marked, _)| *marked).collect();
    assert_eq!(
        kept.len(),
        everything().len(),
        "each mark is somewhere before: {kept:?}"
    );

    for run in runs {
        let prefix = scene.kept_prefix();
        let deleted = scene.environment.magis.delete_run(run).unwrap();
        assert_eq!(deleted.erasure, Erasure::Complete);
        assert!(!prefix.exists());
    }

    let left = scene.found(&everything()).into_iter();
    let misplaced: Vec<_> = left
        .filter(|(marked, place)| {
            // The database's file cannot be told apart by owner, but its rows can.
            let may_be = |place: &str| place == DATABASE || OF_MEMORY.iter().any(|of| place.starts_with(of));
            !OF_THE_REPOSITORY.contains(marked) || !may_be(place)
        })
        .collect();
    assert!(misplaced.is_empty(), "left of the run:\n{}", told(&misplaced));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_deleted_repository_and_its_runs_nothing_is_left() {
    let scene = Scene::new();
    let magis = &scene.environment.magis;
    let runs = scene.work().await;
    let file = scene.environment.folder.path().join("memory");
    magis.export_memory(scene.repo, &file, WithCode::Yes).unwrap();
    magis.import_memory(scene.repo, &file).unwrap();

    let prefix = scene.kept_prefix();
    let deleted = magis.delete_repository(scene.repo).unwrap();

    assert!(!prefix.exists());
    assert_eq!(deleted.erasure, Erasure::Complete);
    let left = scene.found(&OF_THE_REPOSITORY);
    let of_runs = |place: &str| {
        let rows = ["runs.", "events.", "calls.", "run_"];
        place == DATABASE || rows.iter().any(|table| place.starts_with(&format!("row {table}")))
    };
    let (texts, left): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, place)| of_runs(place));
    assert!(left.is_empty(), "left of the repository:\n{}", told(&left));
    assert!(!texts.is_empty(), "its runs stay with what was said in them");

    for run in runs {
        magis.delete_run(run).unwrap();
    }
    let left = scene.found(&everything());
    assert!(left.is_empty(), "left of runs and repository:\n{}", told(&left));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_stays_keeps_every_file_that_it_read_and_made() {
    let scene = Scene::new();
    let magis = &scene.environment.magis;
    let (first, _) = scene.environment.solve(scene.wish(), scene.model()).await;
    let changed = scene.environment.read("tally/report.py") + "# later\n";
    fs::write(scene.environment.repository().join("tally/report.py"), changed).unwrap();
    let (second, _) = scene.environment.solve(scene.wish(), scene.model()).await;
    let files = || {
        let state = magis.state(second).unwrap();
        let folder = magis.data().objects(scene.repo);
        let snapshot = Snapshot::reopen(magis.git(), &folder, state.base()).unwrap();
        let (listed, _) = snapshot.files().unwrap();
        let texts = magis.texts(second).unwrap();
        let both = |path| (texts.before(path), texts.after(path));
        listed
            .iter()
            .map(|file| (file.path.clone(), both(&file.path)))
            .collect::<Vec<_>>()
    };
    let before = files();
    assert!(before.iter().all(|(_, (base, made))| base.is_some() && made.is_some()));

    let deleted = magis.delete_run(first).unwrap();

    assert_eq!(deleted.erasure, Erasure::Complete);
    assert!(files() == before, "the files of the other run are as they were");
    magis
        .apply(second, ApplyTarget::Worktree, &magis_repo::Selection::All)
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_deleted_while_another_is_worked_on_is_erased_later_and_that_is_said() {
    let scene = Scene::new();
    let magis = &scene.environment.magis;
    let (first, _) = scene.environment.solve(scene.wish(), scene.model()).await;
    let plain = scene.environment.wish(sample::UNTIL.text);
    let hanging = Arc::new(hang_at("P5"));
    let second = magis.prepare_for(plain, &*hanging).unwrap().run;
    let stop = CancellationToken::new();
    let (progress, mut watch) = tokio::sync::mpsc::unbounded_channel();
    let driving = tokio::spawn({
        let (magis, stop) = (magis.clone(), stop.clone());
        async move { magis.drive(second, hanging, stop, progress).await }
    });
    while let Some(seen) = watch.recv().await {
        if matches!(&seen, Progress::CallStarted { step, .. } if *step == "P5") {
            break;
        }
    }

    let deleted = magis.delete_run(first).unwrap();

    let Erasure::Pending { why } = deleted.erasure else {
        panic!("objects were taken away beside a run that is worked on")
    };
    assert!(!why.is_empty());
    stop.cancel();
    assert_eq!(driving.await.unwrap().unwrap(), DriveEnd::Stopped);
    // The next opening makes up for it.
    environment::open(scene.environment.folder.path());
    let left = scene.found(&of_the_run());
    assert!(left.is_empty(), "left of the run:\n{}", told(&left));
    let end = scene.environment.drive(second, Arc::new(scene.model())).await.unwrap();
    assert!(matches!(end, DriveEnd::Ended(_)), "the other run goes on: {end:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_that_was_killed_is_finished_at_the_next_opening() {
    let scene = Scene::new();
    let (run, _) = scene.environment.solve(scene.wish(), scene.model()).await;
    // What a kill leaves right after the rows are gone: the database's part without what follows it.
    scene.environment.store().delete_run(run, 1).unwrap();
    environment::open(scene.environment.folder.path());
    let left = scene.found(&of_the_run());
    assert!(left.is_empty(), "left of the run:\n{}", told(&left));
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_log_nor_report_holds_anything_of_the_person() {
    let scene = Scene::new();
    let magis = &scene.environment.magis;
    let log = start_log(magis.data()).expect("this process has no log yet");
    scene.work().await;
    let settings = json!({ "editor": scene.of("own words"), "theme": "dark", "top_k": 7 });
    magis.put_setting("window/settings", &settings).unwrap();
    drop(log);

    let report = magis.report("0.0.0").unwrap();

    let marks: Vec<&str> = scene.marks.values().map(String::as_str).collect();
    let logs = magis_testkit::traces(&magis.data().logs(), &marks);
    assert!(logs.is_empty(), "{logs:?}");
    let found: Vec<&str> = scene
        .marks
        .iter()
        .filter(|(_, mark)| report.contains(*mark))
        .map(|(place, _)| *place)
        .collect();
    assert_eq!(found, [""; 0], "{report}");
    for told in [
        "# Magis 0.0.0",
        "- top_k: 7",
        "- editor: left out",
        "P10-code",
        "step=\"Rank\"",
        "## Left out",
    ] {
        assert!(report.contains(told), "{told} is missing in\n{report}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn contents_are_logged_for_the_run_that_was_asked_for_and_go_with_it() {
    let scene = Scene::new();
    let magis = &scene.environment.magis;
    let model = scene.model();
    let run = magis.prepare_for(scene.wish(), &model).unwrap().run;
    magis.log_contents(run);
    scene.environment.drive(run, Arc::new(model)).await.unwrap();
    let (other, _) = scene.environment.solve(scene.wish(), scene.model()).await;
    let file = |run: RunId| magis.data().logs().join(format!("run-{run}.jsonl"));
    assert!(fs::read_to_string(file(run)).unwrap().contains(scene.of("code")));
    assert!(!file(other).exists());

    magis.delete_run(run).unwrap();

    assert!(!file(run).exists());
}
