//! Stores in temporary folders, and requests, events and calls to put into them.

#![allow(dead_code, clippy::unwrap_used, reason = "tests; each binary uses its own part")]

use magis_core::{
    Agent, Base, BlobId, CommitId, Decision, FileAction, FileTask, Hint, HintsMode, Issue, MergeResult, QaMode,
    RelevanceMode, RepoId, RepoPath, Round, RunEvent, RunId, RunOutcome, RunRequest, Speaker, Speech, TaskId,
    TestsMode, TreeId, Turn, Verdict,
};
use magis_store::{CallKind, CallRecord, NewRepository, NewRun, NewSummary, OpenOptions, Store};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// A store in a folder that goes with it.
pub struct Data {
    pub folder: TempDir,
    pub store: Store,
    pub repo: RepoId,
}

impl Data {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        let repo = store.upsert_repository(&repository("/projects/url"), 1).unwrap();
        Self { folder, store, repo }
    }

    /// Returns a run in the queue whose issue is `issue`.
    pub fn run(&self, issue: &str) -> RunId {
        self.run_at(issue, 10)
    }

    pub fn run_at(&self, issue: &str, created_at: i64) -> RunId {
        let run = NewRun {
            repo: self.repo,
            request: request(issue),
            parent: None,
            created_at,
        };
        self.store.create_run(&run).unwrap()
    }

    /// Appends `events` behind those the run has, the first at 100 ms.
    pub fn append(&self, run: RunId, events: &[RunEvent]) {
        let count = self.store.event_count(run).unwrap();
        for (seq, event) in (count + 1..).zip(events) {
            self.store.append_event(run, seq, 99 + i64::from(seq), event).unwrap();
        }
    }
}

/// Opens without waiting for others.
pub fn open(folder: &Path) -> Store {
    Store::open_with(
        folder,
        OpenOptions {
            busy_timeout: Duration::ZERO,
        },
    )
    .unwrap()
}

pub fn repository(root: &str) -> NewRepository {
    let name = root.rsplit('/').next().unwrap().to_owned();
    NewRepository {
        root: root.to_owned(),
        name,
        identity: Some("c0ffee".to_owned()),
    }
}

pub fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

pub fn blob(text: &str) -> BlobId {
    BlobId(text.to_owned())
}

pub fn request(issue: &str) -> RunRequest {
    RunRequest {
        issue: Issue::new(issue).unwrap(),
        hints: Vec::new(),
        hints_mode: HintsMode::Use,
        relevance: RelevanceMode::Code,
        without: BTreeSet::new(),
        files: Vec::new(),
        model: "small".to_owned(),
        seed: u64::MAX,
        top_k: 10,
        max_rounds: 3,
        attempts_per_round: 1,
        places_per_round: 1,
        writing: Vec::new(),
        tests: TestsMode::Skip,
        qa: QaMode::Review,
    }
}

pub fn started(issue: &str) -> RunEvent {
    let base = Base {
        commit: CommitId("1111".to_owned()),
        tree: TreeId("2222".to_owned()),
        uncommitted: false,
        name: "HEAD".to_owned(),
    };
    RunEvent::RunStarted {
        request: Box::new(request(issue)),
        base,
    }
}

pub fn task(file: &str, description: &str) -> RunEvent {
    let task = FileTask {
        id: TaskId(1),
        path: path(file),
        candidate: path(file),
        action: FileAction::Modify,
        description: description.to_owned(),
    };
    RunEvent::TaskDefined { task }
}

pub fn spoken(text: &str) -> RunEvent {
    RunEvent::Spoken {
        speech: Speech {
            speaker: Speaker::Manager,
            turn: Turn::Open,
            text: text.to_owned(),
        },
    }
}

pub fn hint(text: &str) -> RunEvent {
    RunEvent::HintAdded {
        hint: Hint::Word(text.to_owned()),
    }
}

pub fn reviewed(comment: &str) -> RunEvent {
    RunEvent::Reviewed {
        task: TaskId(1),
        round: Round(1),
        attempt: magis_core::AttemptNumber(0),
        verdict: Verdict {
            decision: Decision::Approved,
            comment: comment.to_owned(),
        },
    }
}

pub fn merged(patch: &str) -> RunEvent {
    let result = MergeResult {
        tree: TreeId("3333".to_owned()),
        patch: patch.to_owned(),
        commit_message: "Keep the port".to_owned(),
        pull_request: "The port was lost.".to_owned(),
    };
    RunEvent::Merged { result }
}

pub fn ended() -> RunEvent {
    RunEvent::RunEnded {
        outcome: RunOutcome::Approved,
    }
}

/// Returns a call of `step` made after event `after_seq`: 100 tokens read, 40 reused, 20 written.
pub fn call(key: &str, step: &str, after_seq: u32) -> CallRecord {
    CallRecord {
        key: key.to_owned(),
        after_seq,
        agent: Agent::Custodian,
        step: step.to_owned(),
        template_hash: "t1".to_owned(),
        task: Some(TaskId(1)),
        round: None,
        attempt: None,
        path: Some(path("src/url.py")),
        model: "small".to_owned(),
        model_sha: "s1".to_owned(),
        seed: u64::MAX - 1,
        kind: CallKind::Chat,
        request: serde_json::json!({ "prompt": "Describe." }),
        reply: serde_json::json!({ "text": "Parses addresses." }),
        finish: "stop".to_owned(),
        prompt_tokens: 100,
        reused_tokens: 40,
        generated_tokens: 20,
        prompt_ms: 5,
        generate_ms: 7,
        left_out: serde_json::json!([]),
        retries: 1,
        at_ms: 50,
    }
}

pub fn summary(repo: RepoId, file: &str, blob_id: &str, text: &str, made_at: i64) -> NewSummary {
    NewSummary {
        repo,
        path: path(file),
        blob: blob(blob_id),
        text: text.to_owned(),
        from_skeleton: false,
        file_bytes: 1200,
        tokens: 30,
        model: "small".to_owned(),
        model_sha: "s1".to_owned(),
        template_hash: "t1".to_owned(),
        made_at,
        made_in: None,
    }
}
