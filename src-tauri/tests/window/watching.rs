//! The repository at hand is watched, and its files are described in advance where a person wants it.

use crate::environment::script;
use crate::support::Window;
use magis_app::views::{IndexView, Settings, Summarising, UnreadableFiles, WaitReason, WatchView, WatchedIndex};
use magis_core::RepoId;
use magis_llm::{ScriptedModel, ScriptedReply};
use magis_testkit::sample;
use std::fs;
use std::time::{Duration, Instant};

/// Nothing takes so long; a test that waits longer fails.
const NEVER: Duration = Duration::from_mins(1);

impl Window {
    /// Waits until the repository at hand stands like this.
    async fn until(&self, repo: RepoId, wanted: impl Fn(&WatchView) -> bool) -> WatchView {
        let end = Instant::now() + NEVER;
        loop {
            let app = self.app.clone();
            let view = self.app.work(move |_| app.watch_repository(repo)).await.unwrap();
            if wanted(&view) {
                return view;
            }
            assert!(Instant::now() < end, "{view:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn set(&self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.app.settings().unwrap();
        change(&mut settings);
        self.app.put_settings(settings).unwrap();
    }
}

fn files(view: &WatchView) -> Option<u32> {
    match view.index {
        WatchedIndex::Right { files, .. } => Some(files),
        WatchedIndex::Looking | WatchedIndex::Reading { .. } => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_repository_at_hand_is_followed_and_no_other() {
    let window = Window::new(script());
    let other = window.folder.path().join("other");
    sample::write_repository(&other).unwrap();
    let (repo, other_repo) = (window.add(), window.app.add_repository(&other).unwrap().id);

    let first = window
        .until(repo, |view| files(view).is_some() && view.memory.is_some())
        .await;
    assert_eq!((first.polling.clone(), first.problem.clone()), (None, None));
    assert_eq!(
        window
            .app
            .repositories()
            .unwrap()
            .iter()
            .find(|row| row.id == repo)
            .unwrap()
            .index,
        Some(IndexView::Fresh)
    );

    fs::write(window.root().join("new.py"), "def new():\n    return 1\n".repeat(40)).unwrap();
    let none = |view: &WatchView| view.memory.unwrap().none;
    window
        .until(repo, |view| {
            files(view) > files(&first) && none(view) == none(&first) + 1
        })
        .await;

    window.until(other_repo, |view| files(view) == files(&first)).await;
    fs::remove_file(window.root().join("new.py")).unwrap();
    let back = window.until(repo, |view| files(view).is_some()).await;
    assert_eq!(files(&back), files(&first), "what happened meanwhile is taken in");

    window.app.remove_repository(repo).unwrap();
    fs::rename(window.root(), window.folder.path().join("gone")).unwrap();
    assert_eq!(window.app.watch_repository(repo).unwrap_err().code, "no_repository");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_described_in_advance_where_it_is_wanted() {
    let window = Window::new(script());
    let repo = window.add();
    let before = window.until(repo, |view| view.memory.is_some()).await;
    assert_eq!(
        (before.summarising, before.memory.unwrap().fresh),
        (Summarising::Off, 0)
    );

    window.set(|settings| settings.summarise_when_idle = true);
    let done = Summarising::Waiting {
        why: Some(WaitReason::Done),
        problem: None,
    };
    let after = window.until(repo, |view| view.summarising == done).await;
    assert!(after.described > 2 && after.spent > 0, "{after:?}");
    let counts = window.app.memory_report(repo).unwrap().counts;
    assert_eq!((counts.fresh, counts.stale, counts.none), (after.described, 0, 0));
    assert!(counts.needs_none > 0, "{counts:?}");
    assert_eq!(window.app.repositories().unwrap()[0].memory, Some(counts));
    window.until(repo, |view| view.memory == Some(counts)).await;

    window.set(|settings| settings.summarise_when_idle = false);
    let off = window.app.watch_repository(repo).unwrap();
    assert_eq!((off.summarising, off.described), (Summarising::Off, after.described));
}

#[tokio::test(flavor = "multi_thread")]
async fn describing_in_advance_keeps_to_its_budget() {
    let window = Window::new(script());
    window.set(|settings| {
        settings.summarise_when_idle = true;
        settings.summarise_tokens = Some(2_000);
    });
    let repo = window.add();
    let spent = Summarising::Waiting {
        why: Some(WaitReason::Tokens),
        problem: None,
    };
    let view = window.until(repo, |view| view.summarising == spent).await;
    assert!(view.spent > 0 && view.spent <= 2_000 && view.described > 0, "{view:?}");
    window.set(|settings| settings.summarise_tokens = None);
    let done = Summarising::Waiting {
        why: Some(WaitReason::Done),
        problem: None,
    };
    window.until(repo, |view| view.summarising == done).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_leaves_what_is_spent_of_the_budget_until_a_person_gives_it_again() {
    let window = Window::new(script());
    window.set(|settings| {
        settings.summarise_when_idle = true;
        settings.summarise_tokens = Some(2_000);
    });
    let repo = window.add();
    let rests = Summarising::Waiting {
        why: Some(WaitReason::Tokens),
        problem: None,
    };
    let before = window.until(repo, |view| view.summarising == rests).await;
    window.set(|settings| settings.summarise_when_idle = false);
    let paused = window.app.watch_repository(repo).unwrap();
    assert_eq!((&paused.summarising, paused.spent), (&Summarising::Off, before.spent));
    window.set(|settings| settings.summarise_when_idle = true);
    let after = window.until(repo, |view| view.summarising == rests).await;
    assert_eq!((after.spent, after.described), (before.spent, before.described));

    window.app.renew_summarisation_budget();
    let again = window.until(repo, |view| view.described > before.described).await;
    assert!(again.spent <= 2_000, "{again:?}");
}

/// For root everything is readable, so that there is nothing to test.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_may_not_be_read_is_named_until_it_may() {
    use std::os::unix::fs::PermissionsExt as _;
    let window = Window::new(script());
    let file = window.root().join("tally/filters.py");
    let allow = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o000);
    if fs::read(&file).is_ok() {
        return;
    }
    let repo = window.add();
    let one = UnreadableFiles {
        count: 1,
        first: vec!["tally/filters.py".to_owned()],
    };
    window.until(repo, |view| view.unreadable.as_ref() == Some(&one)).await;
    allow(0o644);
    window.until(repo, |view| view.unreadable.is_none()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn describing_in_advance_lets_go_of_its_model_while_another_is_needed() {
    let hanging = ScriptedModel::new("hangs").answer(|_| Some(ScriptedReply::Hang));
    let window = Window::new(hanging);
    window.set(|settings| settings.summarise_when_idle = true);
    let repo = window.add();
    let describes = |view: &WatchView| matches!(view.summarising, Summarising::Describing { .. });
    window.until(repo, describes).await;
    assert!(window.app.watching().holds_a_model());
    window.app.watching().give_way().await;
    assert!(!window.app.watching().holds_a_model());
    let waits = Summarising::Waiting {
        why: Some(WaitReason::Run),
        problem: None,
    };
    window.until(repo, |view| view.summarising == waits).await;
    window.app.watching().go_on();
    window.until(repo, describes).await;
}
