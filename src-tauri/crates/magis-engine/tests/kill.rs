//! `kill -9` of the program at points spread over a run: nothing recorded is lost, nothing is asked twice, and the
//! repository is untouched. The program is this test binary, started again for the one test that drives a run.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod environment;

use async_trait::async_trait;
use environment::{TestEnvironment, open, script};
use magis_core::{RunEvent, RunId, RunOutcome};
use magis_engine::DriveEnd;
use magis_llm::{
    ChatReply, ChatRequest, LanguageModel, LlmError, Message, ModelCard, ScoreReply, ScoreRequest, ScriptedModel,
    TokenSink,
};
use magis_store::StoredStatus;
use magis_testkit::{fingerprint, sample};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_util::sync::CancellationToken;

const FOLDER: &str = "MAGIS_TEST_KILL_FOLDER";
const CALLS: &str = "MAGIS_TEST_KILL_CALLS";
const WAITING: &str = "waiting to be killed";

/// Answers as the script does; the call after so many says that it waits, and never ends.
struct HangsAfter {
    script: ScriptedModel,
    left: AtomicU32,
}

impl HangsAfter {
    async fn step(&self) {
        let took = self
            .left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if took.is_err() {
            println!("\n{WAITING}");
            std::future::pending::<()>().await;
        }
    }
}

#[async_trait]
impl LanguageModel for HangsAfter {
    fn card(&self) -> &ModelCard {
        self.script.card()
    }
    async fn chat(&self, request: &ChatRequest, sink: TokenSink<'_>) -> Result<ChatReply, LlmError> {
        self.step().await;
        self.script.chat(request, sink).await
    }
    async fn score(&self, request: &ScoreRequest) -> Result<ScoreReply, LlmError> {
        self.step().await;
        self.script.score(request).await
    }
    async fn count_tokens(&self, texts: &[String]) -> Result<Vec<u32>, LlmError> {
        self.script.count_tokens(texts).await
    }
    async fn count_prompt(&self, messages: &[Message], answer_prefix: &str) -> Result<u32, LlmError> {
        self.script.count_prompt(messages, answer_prefix).await
    }
}

/// Not a test of its own: what the killed program does. Without its variables it has nothing to do.
#[tokio::test]
async fn program_to_be_killed() {
    let (Some(folder), Ok(calls)) = (std::env::var_os(FOLDER), std::env::var(CALLS)) else {
        return;
    };
    let model = HangsAfter {
        script: script(),
        left: AtomicU32::new(calls.parse().unwrap()),
    };
    let (progress, _watch) = tokio::sync::mpsc::unbounded_channel();
    let magis = open(&PathBuf::from(folder));
    magis
        .drive(RunId(1), Arc::new(model), CancellationToken::new(), progress)
        .await
        .unwrap();
}

fn start_program(folder: &Path, calls: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "program_to_be_killed", "--nocapture"])
        .env(FOLDER, folder)
        .env(CALLS, calls.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn a_run_killed_at_twenty_points_goes_on_where_it_was() {
    let whole = Arc::new(script());
    let reference = TestEnvironment::new();
    let run = reference
        .magis
        .prepare_for(reference.wish(sample::TWO_TASK_ISSUE), &*whole)
        .unwrap()
        .run;
    reference.drive(run, whole.clone()).await.unwrap();
    let patch = reference.magis.merged(run).unwrap().patch;
    let calls = whole.calls();
    assert!(calls >= 20, "{calls} calls");
    for point in 0..20 {
        let at = point * calls / 20;
        let environment = TestEnvironment::new();
        let before = fingerprint(&environment.repository());
        let run = environment
            .magis
            .prepare_for(environment.wish(sample::TWO_TASK_ISSUE), &script())
            .unwrap()
            .run;
        let mut program = start_program(environment.folder.path(), at);
        let lines = BufReader::new(program.stdout.take().unwrap()).lines();
        assert!(
            lines.map_while(Result::ok).any(|line| line == WAITING),
            "the program did not get to call {at}"
        );
        program.kill().unwrap();
        program.wait().unwrap();
        assert_eq!(
            open(environment.folder.path()).run(run).unwrap().entry.status,
            StoredStatus::Interrupted,
            "killed after call {at}"
        );

        let fresh = Arc::new(script());
        let end = environment.drive(run, fresh.clone()).await.unwrap();
        assert_eq!(end, DriveEnd::Ended(RunOutcome::Approved), "killed after call {at}");
        assert_eq!(
            fresh.calls(),
            calls - at,
            "killed after call {at}: no recorded call is made again"
        );
        assert_eq!(
            environment.magis.merged(run).unwrap().patch,
            patch,
            "killed after call {at}"
        );
        let marks = environment
            .events(run)
            .iter()
            .filter(|event| **event == RunEvent::Resumed)
            .count();
        assert_eq!(marks, 1, "killed after call {at}: the log says that it goes on");
        assert_eq!(fingerprint(&environment.repository()), before, "killed after call {at}");
    }
}
