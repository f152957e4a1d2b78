//! The Custodian's watch on the sample repository: what it tells, that it keeps index and memory right, and that files are
//! described only while nobody needs the machine.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod environment;

use environment::{TestEnvironment, script, script_after};
use magis_core::{RepoId, RepoPath};
use magis_engine::{
    IdleReason, IndexState, MachineUse, MemoryState, SummarisationBudget, SummarisationModel, SummarisationSwitch,
    SummaryNotNeeded, Watch, WatchEvent,
};
use magis_llm::{LanguageModel, LlmError, ScriptedModel, ScriptedReply};
use magis_repo::{BaseChoice, ChangedPaths, GitPart, WatchOptions};
use magis_store::Coverage;
use magis_testkit::sample;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Nothing takes so long; a test that waits longer fails.
const NEVER: Duration = Duration::from_mins(1);

/// Returns a model that never ends its answer.
fn hanging() -> ScriptedModel {
    ScriptedModel::new("hangs").answer(|_| Some(ScriptedReply::Hang))
}

struct Watched {
    environment: TestEnvironment,
    repo: RepoId,
    watch: Watch,
    events: UnboundedReceiver<WatchEvent>,
}

impl Watched {
    fn begin(environment: TestEnvironment) -> Self {
        let repo = environment.magis.add_repository(&environment.repository()).unwrap();
        let (sender, events) = unbounded_channel();
        let options = WatchOptions {
            quiet: Duration::from_millis(50),
            ..WatchOptions::default()
        };
        let watch = environment.magis.watch(repo, options, sender).unwrap();
        Self {
            environment,
            repo,
            watch,
            events,
        }
    }

    /// Returns the next event that this finds something in.
    async fn find<T>(&mut self, mut wanted: impl FnMut(&WatchEvent) -> Option<T>) -> T {
        let found = async {
            loop {
                let event = self.events.recv().await.unwrap();
                if let Some(found) = wanted(&event) {
                    return found;
                }
            }
        };
        tokio::time::timeout(NEVER, found).await.unwrap()
    }

    async fn indexed(&mut self) -> (usize, usize) {
        self.find(|event| match event {
            WatchEvent::Indexed { added, removed, .. } => Some((*added, *removed)),
            _ => None,
        })
        .await
    }

    async fn memory(&mut self) -> (u32, u32) {
        self.find(|event| match event {
            WatchEvent::Memory { fresh, stale, .. } => Some((*fresh, *stale)),
            _ => None,
        })
        .await
    }

    async fn summarising(&mut self) -> RepoPath {
        self.find(|event| match event {
            WatchEvent::Summarising { path } => Some(path.clone()),
            _ => None,
        })
        .await
    }

    async fn idle(&mut self) -> IdleReason {
        self.find(|event| match event {
            WatchEvent::Idle { why } => Some(*why),
            _ => None,
        })
        .await
    }

    /// In one step, as an editor does: a file that is half written is told, and taken in, once more.
    fn write(&self, path: &str, text: &str) {
        let root = self.environment.repository();
        let beside = tempfile::NamedTempFile::new_in(root.join(".git")).unwrap();
        std::fs::write(beside.path(), text).unwrap();
        beside.persist(root.join(path)).unwrap();
    }

    fn summarise_in_background(&self, model: Arc<dyn LanguageModel>) -> SummarisationSwitch {
        self.watch
            .summarise_in_background(SummarisationModel::Loaded(model), Duration::ZERO)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_told_and_the_index_and_memory_follow() {
    let environment = TestEnvironment::new();
    environment.remember_at_parent().await;
    let mut watched = Watched::begin(environment);
    let (added, _) = watched.indexed().await;
    assert!(added > 0, "the first look reads everything");
    let (fresh, stale) = watched.memory().await;
    assert_eq!(fresh + stale, 1, "one file was described in a run");
    assert_eq!(
        watched.environment.magis.index_state(watched.repo).unwrap(),
        IndexState::Fresh
    );

    watched.write("tally/filters.py", &"def changed():\n    return 1\n".repeat(40));
    let change = watched
        .find(|event| match event {
            WatchEvent::Changed { change } => Some(change.clone()),
            _ => None,
        })
        .await;
    assert_eq!(
        change.paths,
        ChangedPaths::Some(vec![RepoPath::new("tally/filters.py").unwrap()])
    );
    assert_eq!(watched.indexed().await, (1, 1));
    assert_eq!(
        watched.memory().await,
        (0, 1),
        "what is remembered is of another version now"
    );
    assert_eq!(watched.watch.state().memory.stale, 1);

    watched.environment.git(&["checkout", "--quiet", "tally/filters.py"]);
    assert_eq!(watched.indexed().await, (0, 1), "the old version was still known");
    assert_eq!(watched.memory().await, (fresh, stale));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_at_the_same_tree_changes_nothing_in_the_index() {
    let mut watched = Watched::begin(TestEnvironment::new());
    watched.memory().await;
    watched.environment.git(&["checkout", "--quiet", "-b", "other"]);
    let change = watched
        .find(|event| match event {
            WatchEvent::Changed { change } => Some(change.clone()),
            WatchEvent::Indexed { .. } => panic!("{event:?}"),
            _ => None,
        })
        .await;
    assert_eq!(change.head.unwrap().to.branch.as_deref(), Some("other"));
    assert!(change.git.contains(&GitPart::Refs));
    watched.write("new.py", "def new():\n    return 1\n");
    assert_eq!(watched.indexed().await, (1, 0), "the first update since");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_done_and_can_be_again_is_said_to_be_right() {
    let mut watched = Watched::begin(TestEnvironment::new());
    watched.memory().await;
    let index = watched.environment.repository().join(".git/index");
    let whole = std::fs::read(&index).unwrap();
    std::fs::write(&index, "no index").unwrap();
    watched
        .find(|event| matches!(event, WatchEvent::Failed(_)).then_some(()))
        .await;
    std::fs::write(&index, whole).unwrap();
    assert_eq!(watched.indexed().await, (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_described_until_none_is_left_and_again_when_they_change() {
    let mut watched = Watched::begin(TestEnvironment::new());
    let model = Arc::new(script());
    let _switch = watched.summarise_in_background(model.clone());
    assert_eq!(watched.idle().await, IdleReason::NothingLeft);
    let summaries = watched.environment.magis.summaries(watched.repo).unwrap().len();
    assert!(summaries > 3, "{summaries}");
    assert_eq!(
        model.calls() as usize,
        summaries,
        "each is asked for once, by the Custodian's own question"
    );

    let longer = "def changed():\n    return 1\n".repeat(40);
    watched.environment.commit("tally/filters.py", &longer);
    let path = watched
        .find(|event| match event {
            WatchEvent::Summarised { path, tokens, .. } if *tokens > 0 => Some(path.clone()),
            _ => None,
        })
        .await;
    assert_eq!(path.as_str(), "tally/filters.py");
}

#[tokio::test(flavor = "multi_thread")]
async fn when_nothing_is_left_every_file_is_described_or_needs_no_description() {
    let environment = TestEnvironment::new();
    std::fs::write(environment.repository().join("logo.png"), [0_u8; 900]).unwrap();
    std::fs::write(environment.repository().join("short.py"), "").unwrap();
    environment.git(&["add", "logo.png", "short.py"]);
    environment.commit("short.py", "x = 1\n");
    let mut watched = Watched::begin(environment);
    let _switch = watched.summarise_in_background(Arc::new(script()));
    assert_eq!(watched.idle().await, IdleReason::NothingLeft);
    let (magis, repo) = (&watched.environment.magis, watched.repo);
    let head = magis.files_of(repo, &BaseChoice::Head).unwrap();
    let files = magis.memory_of(repo, &head).unwrap();
    let state = |name: &str| files.iter().find(|file| file.path.as_str() == name).unwrap().state;
    assert_eq!(
        state("logo.png"),
        MemoryState::SummaryNotNeeded(SummaryNotNeeded::NoText)
    );
    assert_eq!(
        state("short.py"),
        MemoryState::SummaryNotNeeded(SummaryNotNeeded::ShortEnough)
    );
    let counted = |wanted: fn(&MemoryState) -> bool| files.iter().filter(|file| wanted(&file.state)).count() as u32;
    let coverage = Coverage {
        fresh: counted(|state| *state == MemoryState::Fresh),
        stale: 0,
        none: 0,
        needs_none: counted(|state| matches!(state, MemoryState::SummaryNotNeeded(_))),
    };
    assert_eq!((coverage.fresh + coverage.needs_none) as usize, files.len());
    assert_eq!(magis.coverage_of(repo, &head).unwrap(), coverage);
    // The last count may still be on its way.
    let end = std::time::Instant::now() + NEVER;
    while watched.watch.state().memory != coverage {
        assert!(std::time::Instant::now() < end, "{:?}", watched.watch.state());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_dropped_is_described_again() {
    let mut watched = Watched::begin(TestEnvironment::new());
    let _switch = watched.summarise_in_background(Arc::new(script()));
    assert_eq!(watched.idle().await, IdleReason::NothingLeft);
    let (magis, repo) = (watched.environment.magis.clone(), watched.repo);
    let path = magis.summaries(repo).unwrap()[0].kept.path.clone();
    magis.drop_summary(repo, &path).unwrap();
    watched.watch.recount();
    let again = watched
        .find(|event| match event {
            WatchEvent::Summarised { path, .. } => Some(path.clone()),
            _ => None,
        })
        .await;
    assert_eq!(again, path);
}

#[tokio::test(flavor = "multi_thread")]
async fn uncommitted_work_is_left_alone() {
    let environment = TestEnvironment::new();
    std::fs::write(
        environment.repository().join("draft.py"),
        "def draft():\n    return 1\n",
    )
    .unwrap();
    let mut watched = Watched::begin(environment);
    let _switch = watched.summarise_in_background(Arc::new(script()));
    assert_eq!(watched.idle().await, IdleReason::NothingLeft);
    let draft = RepoPath::new("draft.py").unwrap();
    let known = watched.environment.magis.latest_summary(watched.repo, &draft).unwrap();
    assert_eq!(known, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_budget_of_tokens_is_kept_and_another_one_goes_on() {
    let mut watched = Watched::begin(TestEnvironment::new());
    let few = SummarisationBudget {
        tokens: Some(2_500),
        minutes: None,
    };
    watched.watch.give_budget(few);
    let _switch = watched.summarise_in_background(Arc::new(script()));
    assert_eq!(watched.idle().await, IdleReason::TokensSpent);
    let state = watched.watch.state();
    assert!(state.spent > 0 && state.spent <= 2_500, "{state:?}");
    watched.watch.give_budget(SummarisationBudget::default());
    assert_eq!(watched.idle().await, IdleReason::NothingLeft);
}

#[tokio::test(flavor = "multi_thread")]
async fn minutes_that_are_spent_end_the_file_that_is_being_described_and_others_go_on() {
    let mut watched = Watched::begin(TestEnvironment::new());
    let _switch = watched.summarise_in_background(Arc::new(hanging()));
    watched.summarising().await;
    let none = SummarisationBudget {
        tokens: None,
        minutes: Some(0),
    };
    watched.watch.give_budget(none);
    assert_eq!(watched.idle().await, IdleReason::MinutesSpent);
    assert_eq!(watched.watch.state().summarising, None);
    watched.watch.give_budget(SummarisationBudget::default());
    watched.summarising().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn giving_way_ends_the_file_that_is_being_described_and_lets_go_of_the_model() {
    let mut watched = Watched::begin(TestEnvironment::new());
    let switch = watched.summarise_in_background(Arc::new(hanging()));
    let path = watched.summarising().await;
    let state = watched.watch.state();
    assert_eq!((state.summarising, state.machine), (Some(path), MachineUse::Model));
    switch.give_way();
    assert_eq!(watched.idle().await, IdleReason::RunUnderWay);
    let state = watched.watch.state();
    assert_eq!((state.summarising, state.machine), (None, MachineUse::None));
    switch.go_on();
    watched.summarising().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn describing_that_is_switched_on_anew_says_anew_how_it_stands_and_goes_on_with_its_budget() {
    let mut watched = Watched::begin(TestEnvironment::new());
    let few = SummarisationBudget {
        tokens: Some(2_500),
        minutes: None,
    };
    watched.watch.give_budget(few);
    let first = watched.summarise_in_background(Arc::new(script()));
    assert_eq!(watched.idle().await, IdleReason::TokensSpent);
    let spent = watched.watch.state().spent;
    assert!(spent > 0);
    drop(first);
    let _second = watched.summarise_in_background(Arc::new(script()));
    assert_eq!(watched.idle().await, IdleReason::TokensSpent, "nothing is left of it");
    assert_eq!(watched.watch.state().spent, spent);
    watched.watch.give_budget(few);
    let more = watched.find(|event| match event {
        WatchEvent::Summarised { spent, .. } => Some(*spent),
        _ => None,
    });
    assert!(more.await <= 2_500, "the same budget, given again, is a whole one");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_which_the_model_makes_nothing_is_asked_once() {
    let mut watched = Watched::begin(TestEnvironment::new());
    let looping = ScriptedModel::new("loops").answer(|_| Some(ScriptedReply::Looping("again".to_owned())));
    let _switch = watched.summarise_in_background(Arc::new(looping));
    assert_eq!(watched.idle().await, IdleReason::NothingLeft);
    let longer = "def changed():\n    return 1\n".repeat(40);
    watched.environment.commit("tally/filters.py", &longer);
    let mut asked = Vec::new();
    let idle = watched.find(|event| match event {
        WatchEvent::NotSummarised { path, .. } => {
            asked.push(path.to_string());
            None
        }
        WatchEvent::Idle { why } if *why == IdleReason::NothingLeft => Some(()),
        _ => None,
    });
    idle.await;
    assert_eq!(asked, ["tally/filters.py"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_failed_is_tried_again_after_a_change_without_an_order() {
    let mut watched = Watched::begin(TestEnvironment::new());
    let failures = AtomicU32::new(0);
    let fails_twice = ScriptedModel::new("fails twice").answer(move |_| {
        let reason = "gone".to_owned();
        let fails = failures.fetch_add(1, Ordering::Relaxed) < 2;
        fails.then_some(ScriptedReply::Fail(LlmError::WorkerDied { reason }))
    });
    let _switch = watched.summarise_in_background(Arc::new(script_after(fails_twice)));
    assert_eq!(watched.idle().await, IdleReason::Failed);
    let mut said_again = 0;
    for (text, end) in [
        ("one = 1\n", IdleReason::Failed),
        ("two = 2\n", IdleReason::NothingLeft),
    ] {
        watched.environment.commit("tally/filters.py", text);
        let idle = watched.find(|event| match event {
            WatchEvent::SummarisingFailed(_) => {
                said_again += 1;
                None
            }
            WatchEvent::Idle { why } if *why == end => Some(()),
            _ => None,
        });
        idle.await;
    }
    assert_eq!(said_again, 0, "what was said stands until it is over");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_ends_the_describing_and_it_goes_on_afterwards() {
    let mut watched = Watched::begin(TestEnvironment::new());
    let _switch = watched.summarise_in_background(Arc::new(hanging()));
    watched
        .find(|event| matches!(event, WatchEvent::Summarising { .. }).then_some(()))
        .await;
    let wish = watched.environment.wish(sample::TWO_TASK_ISSUE);
    let hanging = Arc::new(hanging());
    let run = watched.environment.magis.prepare_for(wish, &*hanging).unwrap().run;
    let stop = tokio_util::sync::CancellationToken::new();
    let (magis, stopped) = (watched.environment.magis.clone(), stop.clone());
    let (progress, _nobody) = unbounded_channel();
    let drive = tokio::spawn(async move { magis.drive(run, hanging, stopped, progress).await });
    assert_eq!(watched.idle().await, IdleReason::RunUnderWay);
    stop.cancel();
    drive.await.unwrap().unwrap();
    watched
        .find(|event| matches!(event, WatchEvent::Summarising { .. }).then_some(()))
        .await;
}
