//! A window's program on a folder of its own, and the short forms of what the tests ask of it.

use crate::environment::git;
use magis_app::views::{
    ApplyRequest, BaseRequest, FileReview, HunkChoice, HunkDecision, Identity, ReviewState, RunListFilter, RunOrder,
    RunUpdate, SolveForm, TestsChoice,
};
use magis_app::{App, LaunchOptions, ModelSource};
use magis_core::{RepoId, RunId};
use magis_engine::DataFolder;
use magis_engine::model::{Priority, WorkerCommand};
use magis_llm::ScriptedModel;
use magis_testkit::sample;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

pub struct Window {
    pub app: App,
    pub folder: TempDir,
}

impl Window {
    pub fn new(model: ScriptedModel) -> Self {
        let folder = TempDir::new().unwrap();
        sample::write_repository(&folder.path().join("tally")).unwrap();
        let app = open(&folder, model);
        Self { app, folder }
    }

    /// Closes the window and opens another one on the same data folder.
    pub fn reopened(self, model: ScriptedModel) -> Self {
        let app = open(&self.folder, model);
        Self {
            app,
            folder: self.folder,
        }
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("tally")
    }

    pub fn add(&self) -> RepoId {
        self.app.add_repository(&self.root()).unwrap().id
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.root(), arguments)
    }

    pub fn follow(&self, run: RunId) -> UnboundedReceiver<RunUpdate> {
        let (sender, receiver) = unbounded_channel();
        self.app
            .follow_run(run, Box::new(move |news| sender.send(news).is_ok()));
        receiver
    }

    /// Begins a run and follows it to its end.
    pub async fn solve(&self, issue: &str) -> (RunId, Vec<RunUpdate>) {
        let run = self.app.start_run(form(self.add(), issue)).await.unwrap();
        let news = until_the_end(self.follow(run)).await;
        self.app.until_idle().await;
        (run, news)
    }
}

pub fn open(folder: &TempDir, model: ScriptedModel) -> App {
    App::open(launch(folder), ModelSource::Given(Arc::new(model)), Arc::new(|_| ()))
}

pub fn launch(folder: &TempDir) -> LaunchOptions {
    LaunchOptions {
        data: DataFolder::locate(Some(folder.path().join("data"))).unwrap(),
        // The program itself sets up the sandbox; it starts no worker, as the model is given.
        worker: WorkerCommand {
            program: env!("CARGO_BIN_EXE_magis-app").into(),
            args: Vec::new(),
            priority: Priority::Normal,
        },
        hub: None,
        opening: None,
    }
}

pub fn form(repo: RepoId, issue: &str) -> SolveForm {
    SolveForm {
        repo,
        issue: issue.to_owned(),
        comments: String::new(),
        failing_log: String::new(),
        base: BaseRequest::Head,
        model: None,
        files: Vec::new(),
        seed: 1,
        top_k: 10,
        max_rounds: 3,
        qa: true,
        attempts: 1,
        places: 1,
        tests: TestsChoice::Skip,
        failing_tests: Vec::new(),
    }
}

pub async fn until_the_end(mut news: UnboundedReceiver<RunUpdate>) -> Vec<RunUpdate> {
    let mut all = Vec::new();
    // The channel closes when the run halts.
    while let Some(one) = news.recv().await {
        all.push(one);
    }
    all
}

/// Waits until a call of this step begins, and returns the news of it.
pub async fn until_step(news: &mut UnboundedReceiver<RunUpdate>, wanted: &str) -> RunUpdate {
    while let Some(one) = news.recv().await {
        if matches!(&one, RunUpdate::CallStarted { step, .. } if step == wanted) {
            return one;
        }
    }
    panic!("{wanted} never began");
}

/// Waits for the next text, and returns it.
pub async fn until_text(news: &mut UnboundedReceiver<RunUpdate>) -> String {
    while let Some(one) = news.recv().await {
        if let RunUpdate::Text { delta, .. } = one {
            return delta;
        }
    }
    panic!("no text came");
}

/// Waits until it is told how long the model has worked on the run, in milliseconds.
pub async fn until_time(news: &mut UnboundedReceiver<RunUpdate>) -> u64 {
    while let Some(one) = news.recv().await {
        if let RunUpdate::Speed { worked_ms, .. } = one {
            return worked_ms;
        }
    }
    panic!("no time was told");
}

pub fn filter() -> RunListFilter {
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

pub fn listed(app: &App, filter: RunListFilter) -> Vec<RunId> {
    let page = app.runs_page(filter).unwrap();
    page.rows.iter().map(|row| row.run.id).collect()
}

pub fn accepted(path: &str, hunks: &[u32]) -> FileReview {
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

pub fn review(files: Vec<FileReview>) -> ReviewState {
    ReviewState {
        files,
        commit_message: Some("Compare categories whatever their case".to_owned()),
        pull_request: None,
        tests: Vec::new(),
    }
}

pub fn onto(name: &str) -> ApplyRequest {
    ApplyRequest::Branch {
        name: name.to_owned(),
        identity: Some(Identity {
            name: "Ana".to_owned(),
            email: "ana@example.org".to_owned(),
        }),
    }
}

pub fn all_of(app: &App, run: RunId) -> ReviewState {
    let files = app.patch(run).unwrap().files;
    let hunks = |file: &magis_app::views::FileDiff| file.hunks.iter().map(|hunk| hunk.number).collect::<Vec<_>>();
    review(files.iter().map(|file| accepted(&file.path, &hunks(file))).collect())
}
