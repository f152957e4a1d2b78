//! What the window can do, without a window: on a real data folder, a real repository and a model that follows a script.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    missing_docs,
    reason = "a test fails by panicking"
)]

#[path = "../crates/magis-engine/tests/ground/mod.rs"]
mod ground;

use ground::{git, hang_at, script};
use magis_app::views::{
    AppliedKind, ApplyWish, BaseWish, CandidateState, ExportFormat, FileReview, HunkChoice, HunkDecision, Identity,
    IndexView, MemoryFileState, ReviewState, RunListFilter, RunNews, RunOrder, RunStatus, Settings, SolveForm,
    SteeringWish, Theme,
};
use magis_app::{App, ERASE_ALL, Halt, ModelSource, Place};
use magis_core::{RepoId, RunId, Stage};
use magis_engine::DataFolder;
use magis_engine::floors::llama::WorkerCommand;
use magis_engine::floors::llm::ScriptedModel;
use magis_testkit::sample;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

struct Window {
    app: App,
    folder: TempDir,
}

impl Window {
    fn new(model: ScriptedModel) -> Self {
        let folder = TempDir::new().unwrap();
        sample::write_repository(&folder.path().join("tally")).unwrap();
        let app = open(&folder, model);
        Self { app, folder }
    }

    /// Closes the window and opens another one on the same data folder.
    fn reopened(self, model: ScriptedModel) -> Self {
        let app = open(&self.folder, model);
        Self {
            app,
            folder: self.folder,
        }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("tally")
    }

    fn add(&self) -> RepoId {
        self.app.add_repository(&self.root()).unwrap().id
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(&self.root(), arguments)
    }

    fn follow(&self, run: RunId) -> UnboundedReceiver<RunNews> {
        let (sender, receiver) = unbounded_channel();
        self.app
            .follow_run(run, Box::new(move |news| sender.send(news).is_ok()));
        receiver
    }

    /// Begins a run and follows it to its end.
    async fn solve(&self, issue: &str) -> (RunId, Vec<RunNews>) {
        let run = self.app.start_run(form(self.add(), issue)).await.unwrap();
        let news = until_the_end(self.follow(run)).await;
        self.app.until_idle().await;
        (run, news)
    }
}

fn open(folder: &TempDir, model: ScriptedModel) -> App {
    let place = Place {
        data: DataFolder::locate(Some(folder.path().join("data"))).unwrap(),
        worker: WorkerCommand {
            program: "no-worker".into(),
            args: Vec::new(),
        },
        opening: None,
    };
    App::open(place, ModelSource::Given(Arc::new(model)), Arc::new(|_| ()))
}

fn form(repo: RepoId, issue: &str) -> SolveForm {
    SolveForm {
        repo,
        issue: issue.to_owned(),
        comments: String::new(),
        failing_log: String::new(),
        base: BaseWish::Head,
        model: None,
        files: Vec::new(),
        seed: 1,
        top_k: 10,
        max_rounds: 3,
        qa: true,
    }
}

async fn until_the_end(mut news: UnboundedReceiver<RunNews>) -> Vec<RunNews> {
    let mut all = Vec::new();
    // The channel closes when the run halts.
    while let Some(one) = news.recv().await {
        all.push(one);
    }
    all
}

/// Waits until a call of this step begins.
async fn until_step(news: &mut UnboundedReceiver<RunNews>, wanted: &str) {
    while let Some(one) = news.recv().await {
        if matches!(&one, RunNews::CallStarted { step, .. } if step == wanted) {
            return;
        }
    }
    panic!("{wanted} never began");
}

fn filter() -> RunListFilter {
    RunListFilter {
        repo: None,
        status: None,
        tag: None,
        text: String::new(),
        after: None,
        limit: 50,
        order: RunOrder::NewestFirst,
    }
}

fn listed(app: &App, filter: RunListFilter) -> Vec<RunId> {
    let page = app.runs_page(filter).unwrap();
    page.rows.iter().map(|row| row.run.id).collect()
}

fn accepted(path: &str, hunks: &[u32]) -> FileReview {
    let decisions = hunks.iter().map(|hunk| HunkChoice {
        hunk: *hunk,
        decision: HunkDecision::Accepted,
    });
    FileReview {
        path: path.to_owned(),
        seen: true,
        decisions: decisions.collect(),
        edited: None,
    }
}

fn review(files: Vec<FileReview>) -> ReviewState {
    ReviewState {
        files,
        commit_message: Some("Compare categories whatever their case".to_owned()),
        pull_request: None,
    }
}

fn onto(name: &str) -> ApplyWish {
    ApplyWish::Branch {
        name: name.to_owned(),
        identity: Some(Identity {
            name: "Ana".to_owned(),
            email: "ana@example.org".to_owned(),
        }),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_followed_to_its_end_and_stands_in_the_lists() {
    let window = Window::new(script());
    let (run, news) = window.solve(sample::TWO_TASK_ISSUE).await;

    assert_eq!(news.last(), Some(&RunNews::Ended));
    let steps: Vec<&str> = news
        .iter()
        .filter_map(|one| match one {
            RunNews::CallStarted { step, .. } => Some(step.as_str()),
            _ => None,
        })
        .collect();
    assert!(steps.contains(&"P4") && steps.contains(&"P11-comment"), "{steps:?}");
    let written = news
        .iter()
        .any(|one| matches!(one, RunNews::Text { step, delta, .. } if step == "P10-code" && !delta.is_empty()));
    assert!(written, "code was streamed");

    let view = window.app.run_view(run).unwrap();
    assert_eq!(view.row.status, RunStatus::Approved);
    assert!(!view.row.driven);
    assert_eq!(view.tasks.len(), 2);
    assert!(
        view.tasks
            .iter()
            .all(|task| task.rounds.last().unwrap().attempts[0].diff.contains("casefold"))
    );
    assert!(view.tasks.iter().all(|task| task.base_lines.is_some()));
    assert!(view.stages.iter().all(|stage| stage.done));
    assert!(
        view.candidates
            .iter()
            .any(|one| one.state == CandidateState::JudgedIrrelevant)
    );
    let last_view = news.iter().rev().find_map(|one| match one {
        RunNews::View { view } => Some(view.seq),
        _ => None,
    });
    assert_eq!(last_view, Some(view.seq), "the last view is the whole log");

    let page = window
        .app
        .runs_page(RunListFilter {
            text: "categor".to_owned(),
            ..filter()
        })
        .unwrap();
    assert_eq!(
        (page.total, page.rows[0].run.id, page.rows[0].place.as_str()),
        (1, run, "issue")
    );
    assert!(page.rows[0].snippet.iter().any(|part| part.hit));
    assert_eq!(
        listed(
            &window.app,
            RunListFilter {
                status: Some(RunStatus::Approved),
                ..filter()
            }
        ),
        [run]
    );
    assert_eq!(
        listed(
            &window.app,
            RunListFilter {
                status: Some(RunStatus::Failed),
                ..filter()
            }
        ),
        []
    );
    let calls = window.app.calls(run).unwrap();
    let text = window.app.call_text(run, calls[0].id).unwrap();
    assert!(text.prompt.contains("Categories"));
    assert_eq!(window.app.usage().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_accepted_goes_onto_a_branch_and_comes_back() {
    let window = Window::new(script());
    let (run, _) = window.solve(sample::TWO_TASK_ISSUE).await;
    let patch = window.app.patch(run).unwrap();
    assert_eq!(patch.files.len(), 2);
    let first = &patch.files[0];
    assert!(!first.hunks[0].tasks.is_empty(), "each hunk knows its task");
    let decided = review(vec![accepted(&first.path, &[first.hunks[0].number])]);
    window.app.save_review(run, &decided).unwrap();

    let window = window.reopened(script());
    let kept = window.app.review(run).unwrap();
    assert_eq!(kept, decided, "a review survives the window");
    assert!(window.app.conflicts(run, kept.clone()).unwrap().is_empty());

    let applied = window.app.apply(run, kept, onto(&patch.branch)).unwrap();
    assert_eq!((applied.kind, applied.undoable), (AppliedKind::Branch, true));
    let changed = window.git(&["diff", "--name-only", "main", &patch.branch]);
    assert_eq!(changed.trim(), first.path, "the other file was not accepted");
    let message = window.git(&["log", "-1", "--format=%s by %an", &patch.branch]);
    assert_eq!(message.trim(), "Compare categories whatever their case by Ana");
    assert_eq!(
        window.git(&["status", "--porcelain"]),
        "",
        "the working tree is as it was"
    );

    window.app.undo_apply(run).unwrap();
    assert_eq!(window.git(&["branch", "--format=%(refname:short)"]).trim(), "main");
    assert!(window.app.run_view(run).unwrap().applied.is_none());
    assert_eq!(window.app.undo_apply(run).unwrap_err().code, "not_applied");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_the_person_rewrote_stands_in_place_of_its_hunks() {
    let window = Window::new(script());
    let (run, _) = window.solve(sample::TWO_TASK_ISSUE).await;
    let patch = window.app.patch(run).unwrap();
    let path = patch.files[0].path.clone();
    let texts = window.app.file_texts(run, &path).unwrap();
    let mine = format!("# looked at by hand\n{}", texts.after.unwrap());
    let decided = review(vec![FileReview {
        edited: Some(mine.clone()),
        ..accepted(&path, &[])
    }]);

    let applied = window.app.apply(run, decided.clone(), ApplyWish::Worktree).unwrap();
    assert_eq!(fs::read_to_string(window.root().join(&path)).unwrap(), mine);
    assert!(applied.undoable);

    fs::write(window.root().join(&path), "something else\n").unwrap();
    assert!(!window.app.run_view(run).unwrap().applied.unwrap().undoable);
    assert_eq!(window.app.undo_apply(run).unwrap_err().code, "changed_since");
    let conflicts = window.app.conflicts(run, decided).unwrap();
    assert_eq!(conflicts[0].path, path);
    let nothing = window
        .app
        .apply(run, review(Vec::new()), ApplyWish::Worktree)
        .unwrap_err();
    assert_eq!(nothing.code, "nothing_selected");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_paused_and_goes_on_from_there() {
    let window = Window::new(hang_at("P10-code"));
    let run = window
        .app
        .start_run(form(window.add(), sample::TWO_TASK_ISSUE))
        .await
        .unwrap();
    let mut news = window.follow(run);
    until_step(&mut news, "P10-code").await;
    let waiting = window.app.start_run(form(window.add(), sample::ISSUE)).await.unwrap();
    assert_eq!(window.app.run_row(waiting).unwrap().status, RunStatus::Queued);
    assert_eq!(window.app.running_runs().unwrap().len(), 2);
    assert_eq!(window.app.delete_run(run).unwrap_err().code, "run_active");
    window
        .app
        .steer(
            run,
            SteeringWish::Hint {
                text: "Look at the case.".to_owned(),
            },
        )
        .unwrap();

    window.app.halt_run(waiting, Halt::Stop).await.unwrap();
    assert_eq!(window.app.run_row(waiting).unwrap().status, RunStatus::Paused);
    window.app.halt_run(run, Halt::Pause).await.unwrap();
    assert_eq!(until_the_end(news).await.last(), Some(&RunNews::Stopped));
    window.app.until_idle().await;
    let paused = window.app.run_view(run).unwrap();
    assert_eq!((paused.row.status, paused.stage), (RunStatus::Paused, Stage::Code));
    assert!(paused.paused_reason.is_some());
    let calls = window.app.calls(run).unwrap().len();

    let window = window.reopened(script());
    window.app.resume_run(run).await.unwrap();
    until_the_end(window.follow(run)).await;
    window.app.until_idle().await;
    let view = window.app.run_view(run).unwrap();
    assert_eq!(view.row.status, RunStatus::Approved);
    assert_eq!(view.hints.len(), 1);
    assert!(window.app.calls(run).unwrap().len() > calls);
    assert_eq!(window.app.resume_run(run).await.unwrap_err().code, "run_over");

    let again = window.app.rerun(run, Stage::Code, None, Some(7)).await.unwrap();
    window.app.until_idle().await;
    assert_eq!(window.app.run_row(again).unwrap().parent, Some(run));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_left_in_the_queue_of_an_ended_window_waits_for_a_word() {
    let window = Window::new(hang_at("P10-code"));
    let repo = window.add();
    let active = window.app.start_run(form(repo, sample::TWO_TASK_ISSUE)).await.unwrap();
    until_step(&mut window.follow(active), "P10-code").await;
    let closed = window.app.start_run(form(repo, sample::TWO_TASK_ISSUE)).await.unwrap();
    let mut news = window.follow(closed);
    window.app.driving().halt_all(&window.app, Halt::Pause);
    window.app.until_idle().await;
    let mut last = None;
    while let Some(one) = news.recv().await {
        last = Some(one);
    }
    assert_eq!(last, Some(RunNews::Stopped));
    // A killed window gets no further than this.
    let killed = window.app.prepare_run(form(repo, sample::ISSUE)).unwrap();

    let window = window.reopened(script());
    let status = |run| window.app.run_row(run).unwrap().status;
    assert_eq!(status(active), RunStatus::Paused);
    assert_eq!([status(closed), status(killed)], [RunStatus::Waiting; 2]);
    assert!(
        window.app.running_runs().unwrap().is_empty(),
        "nothing begins by itself"
    );
    let waiting = RunListFilter {
        status: Some(RunStatus::Waiting),
        order: RunOrder::OldestFirst,
        ..filter()
    };
    assert_eq!(listed(&window.app, waiting.clone()), [closed, killed]);

    window.app.resume_run(closed).await.unwrap();
    assert_eq!(until_the_end(window.follow(closed)).await.last(), Some(&RunNews::Ended));
    window.app.until_idle().await;
    assert_eq!(status(closed), RunStatus::Approved);
    window.app.delete_run(killed).unwrap();
    assert_eq!(listed(&window.app, waiting), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_shows_what_is_known_and_keeps_what_a_person_wrote() {
    let window = Window::new(script());
    let (run, _) = window.solve(sample::TWO_TASK_ISSUE).await;
    let repo = window.app.run_row(run).unwrap().repo.unwrap();
    let report = window.app.memory_report(repo).unwrap();
    assert!(
        report.counts.fresh >= 2 && report.counts.none > 0,
        "{:?}",
        report.counts
    );
    assert!(report.tokens_spent > 0);

    let path = "tally/filters.py";
    let corrected = window
        .app
        .correct_summary(repo, path, "This file chooses entries. Mine.")
        .unwrap();
    assert!(corrected.corrected && !corrected.stale);
    window.solve(sample::TWO_TASK_ISSUE).await;
    assert_eq!(
        window.app.summary(repo, path).unwrap().unwrap().text,
        "This file chooses entries. Mine."
    );
    let saved = window.app.memory_report(repo).unwrap();
    assert!(saved.tokens_saved > 0, "the second run used what the first one made");
    assert!(saved.files.iter().any(|file| file.path == path && file.corrected));

    let renewed = window.app.renew_summary(repo, path).await.unwrap();
    assert!(!renewed.corrected && renewed.text.contains("chooses entries"));
    fs::write(window.root().join(path), "# another\n").unwrap();
    window.git(&[
        "-c",
        "user.name=T",
        "-c",
        "user.email=t@example.org",
        "commit",
        "-qam",
        "change",
    ]);
    assert!(window.app.summary(repo, path).unwrap().unwrap().stale);
    let report = window.app.memory_report(repo).unwrap();
    let file = report.files.iter().find(|file| file.path == path).unwrap();
    assert_eq!(file.state, MemoryFileState::Stale);
    window.app.drop_summary(repo, path).unwrap();
    assert_eq!(window.app.summary(repo, path).unwrap(), None);
    let nothing = window.app.correct_summary(repo, path, "x").unwrap_err();
    assert_eq!(nothing.code, "nothing_remembered");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_imported_run_belongs_to_the_repository_it_was_made_in() {
    let made = Window::new(script());
    let (run, _) = made.solve(sample::TWO_TASK_ISSUE).await;
    let file = made.folder.path().join("run.json");
    made.app.export_run(run, ExportFormat::Json, &file).unwrap();

    let window = Window::new(script());
    let imported = window.app.import_run(&file).unwrap();
    assert_eq!(window.app.run_row(imported).unwrap().repo, None);
    assert_eq!(
        window.app.file_texts(imported, "tally/filters.py").unwrap().before,
        None
    );
    assert_eq!(
        window
            .app
            .apply(imported, all_of(&window.app, imported), onto("b"))
            .unwrap_err()
            .code,
        "no_repository"
    );

    let repo = window.add();
    let row = window.app.run_row(imported).unwrap();
    assert_eq!((row.repo, row.imported), (Some(repo), true));
    assert!(
        window
            .app
            .base_file(imported, "tally/filters.py")
            .unwrap()
            .contains("def ")
    );
    window
        .app
        .apply(imported, all_of(&window.app, imported), onto("b"))
        .unwrap();
    assert_eq!(window.git(&["diff", "--name-only", "main", "b"]).lines().count(), 2);
    window.app.undo_apply(imported).unwrap();

    let markdown = window.folder.path().join("run.md");
    window
        .app
        .export_run(imported, ExportFormat::Markdown, &markdown)
        .unwrap();
    let told = fs::read_to_string(&markdown).unwrap();
    assert!(told.contains("\n## Patch\n\n```diff\n"), "{told}");
    assert!(
        told.contains("approved by ") && told.contains("\n      +"),
        "what was written and reviewed is told: {told}"
    );
}

fn all_of(app: &App, run: RunId) -> ReviewState {
    let files = app.patch(run).unwrap().files;
    let hunks = |file: &magis_app::views::FileDiff| file.hunks.iter().map(|hunk| hunk.number).collect::<Vec<_>>();
    review(files.iter().map(|file| accepted(&file.path, &hunks(file))).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_run_comes_back_until_it_is_erased() {
    let window = Window::new(script());
    let (run, _) = window.solve(sample::TWO_TASK_ISSUE).await;
    window.app.set_tags(run, &[" case ".to_owned(), String::new()]).unwrap();
    let tagged = RunListFilter {
        tag: Some("case".to_owned()),
        ..filter()
    };
    assert_eq!(listed(&window.app, tagged.clone()), [run]);

    let ticket = window.app.delete_run(run).unwrap().ticket;
    assert_eq!(listed(&window.app, tagged.clone()), []);
    assert_eq!(
        listed(
            &window.app,
            RunListFilter {
                text: "categories".to_owned(),
                ..filter()
            }
        ),
        []
    );
    window.app.undo_delete(ticket).unwrap();
    assert_eq!(listed(&window.app, tagged), [run]);

    window.app.delete_run(run).unwrap();
    window.app.erase_removed(i64::MAX);
    assert_eq!(window.app.undo_delete(ticket).unwrap_err().code, "no_run");
    assert_eq!(window.app.run_view(run).unwrap_err().code, "no_run");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_repository_comes_back_with_its_memory_until_the_window_closes() {
    let window = Window::new(script());
    let (run, _) = window.solve(sample::TWO_TASK_ISSUE).await;
    let repo = window.app.run_row(run).unwrap().repo.unwrap();
    let before = window.app.repositories().unwrap();
    assert!(before[0].memory.unwrap().fresh >= 2);

    window.app.remove_repository(repo).unwrap();
    assert_eq!(window.app.repositories().unwrap(), []);
    assert_eq!(window.app.run_row(run).unwrap().repo, None);
    let refused = window.app.start_run(form(repo, sample::ISSUE)).await.unwrap_err();
    assert_eq!(refused.code, "no_repository");
    window.app.undo_remove_repository(repo).unwrap();
    assert_eq!(window.app.repositories().unwrap(), before);
    assert_eq!(window.app.run_row(run).unwrap().repo, Some(repo));

    window.app.remove_repository(repo).unwrap();
    assert_eq!(window.add(), repo, "adding it again is taking the removal back");
    window.app.erase_removed(i64::MAX);
    assert!(window.app.repositories().unwrap()[0].memory.unwrap().fresh >= 2);

    window.app.remove_repository(repo).unwrap();
    window.app.erase_removed(i64::MAX);
    assert_eq!(
        window.app.undo_remove_repository(repo).unwrap_err().code,
        "no_repository"
    );
    let index = window.folder.path().join("data/index").join(repo.to_string());
    assert!(!index.exists());
    window.add();
    assert_eq!(window.app.repositories().unwrap()[0].memory.unwrap().fresh, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_says_for_which_commit_its_index_was_made() {
    let window = Window::new(script());
    window.add();
    let index = || window.app.repositories().unwrap().remove(0).index.unwrap();
    assert_eq!(index(), IndexView::None);
    window.solve(sample::TWO_TASK_ISSUE).await;
    assert_eq!(index(), IndexView::Fresh);

    let commit = |message: &str| {
        let who = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
        window.git(&[who.as_slice(), &["commit", "-q", "--allow-empty", "-m", message]].concat());
    };
    let made_for = window.git(&["rev-parse", "HEAD"]).trim().to_owned();
    commit("one");
    commit("two");
    assert_eq!(index(), IndexView::Older { commits: 2 });
    window.git(&["checkout", "-q", "HEAD~3"]);
    assert_eq!(index(), IndexView::Elsewhere { commit: made_for });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_vanished_is_told_and_its_runs_still_open() {
    let window = Window::new(script());
    let (run, _) = window.solve(sample::TWO_TASK_ISSUE).await;
    fs::rename(window.root(), window.folder.path().join("elsewhere")).unwrap();

    let rows = window.app.repositories().unwrap();
    let problem = rows[0].problem.as_ref().unwrap();
    assert_eq!((problem.code.as_str(), rows[0].runs), ("no_such_folder", 1));
    assert!(problem.remedy.as_ref().unwrap().contains("remove the repository"));
    assert_eq!(window.app.run_view(run).unwrap().tasks.len(), 2);
    assert!(window.app.base_file(run, "tally/filters.py").unwrap().contains("def "));
    let applied = window
        .app
        .apply(run, all_of(&window.app, run), ApplyWish::Worktree)
        .unwrap_err();
    assert_eq!(applied.code, "repository_gone");
    let begun = window.app.start_run(form(rows[0].id, sample::ISSUE)).await.unwrap_err();
    assert_eq!(begun.code, "no_such_folder");

    let file = window.folder.path().join("all.patch");
    let wish = ApplyWish::PatchFile {
        path: file.display().to_string(),
    };
    window.app.apply(run, all_of(&window.app, run), wish).unwrap();
    assert!(fs::read_to_string(file).unwrap().contains("casefold"));
    window.app.remove_repository(rows[0].id).unwrap();
    assert!(window.app.repositories().unwrap().is_empty());
    assert_eq!(listed(&window.app, filter()), [run], "runs stay");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_newer_version_is_told_by_every_command() {
    let window = Window::new(script());
    window.add();
    let database = window.app.magis().unwrap().store().path().to_owned();
    let Window { app, folder } = window;
    drop(app);
    // SQLite keeps the version at byte 60 of the file, the greatest byte first.
    let mut bytes = fs::read(&database).unwrap();
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(&database, bytes).unwrap();

    let app = open(&folder, script());
    let problem = app.repositories().unwrap_err();
    assert_eq!(problem.code, "newer_schema");
    assert!(problem.message.contains("99") && problem.remedy.unwrap().contains("pdate this program"));
    assert_eq!(app.runs_page(filter()).unwrap_err().code, "newer_schema");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_typed_and_set_is_there_again() {
    let window = Window::new(script());
    let repo = window.add();
    let typed = SolveForm {
        comments: "see the log".to_owned(),
        ..form(repo, "half an iss")
    };
    window.app.save_draft(&typed).unwrap();
    let settings = Settings {
        theme: Theme::Dark,
        font_size: 99,
        ..Settings::default()
    };
    window.app.put_settings(settings).unwrap();

    let window = window.reopened(script());
    assert_eq!(window.app.draft(repo).unwrap(), Some(typed));
    let read = window.app.settings().unwrap();
    assert_eq!((read.theme, read.font_size), (Theme::Dark, 24));
    let refused = window
        .app
        .start_run(form(repo, "https://example.org/issues/1"))
        .await
        .unwrap_err();
    assert_eq!(refused.code, "issue_address");
    assert!(
        window.app.draft(repo).unwrap().is_some(),
        "a refused run leaves the draft"
    );

    let report = window.folder.path().join("report.txt");
    window.app.diagnostics(&report).unwrap();
    let report = fs::read_to_string(report).unwrap();
    assert!(!report.contains("tally") && !report.contains("half an iss"), "{report}");

    assert_eq!(window.app.erase_all("yes").await.unwrap_err().code, "not_confirmed");
    window.app.erase_all(ERASE_ALL).await.unwrap();
    let info = window.app.info().unwrap();
    assert!(info.first_start && info.opened.is_none());
    assert!(
        window.root().join(".git").exists(),
        "the repository is not ours to erase"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sample_is_written_once_and_has_issues() {
    let window = Window::new(script());
    let row = window.app.add_sample().unwrap();
    assert_eq!(window.app.add_sample().unwrap().id, row.id);
    assert!(row.problem.is_none() && row.memory.unwrap().none > 5);
    assert!(
        window
            .app
            .branches(row.id)
            .unwrap()
            .iter()
            .any(|branch| branch.name == "main" && branch.current)
    );
    let issue = &window.app.sample_issues()[0];
    let run = window.app.start_run(form(row.id, &issue.text)).await.unwrap();
    window.app.until_idle().await;
    assert!(window.app.run_view(run).unwrap().outcome.is_some());
}
