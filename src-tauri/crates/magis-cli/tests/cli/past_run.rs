//! A run made by hand, as the engine would record it, with fixed times.

use magis_core::{
    Agent, AttemptNumber, Base, BlobId, Candidate, CommitId, Decision, Description, DescriptionSource, Edit, Evidence,
    FileAction, FileChange, FileTask, Finding, Hint, HintsMode, Issue, Judgement, LineSpan, MergeResult, Plan,
    PlanStep, QaMode, RelevanceMode, RepoPath, Role, Round, RunEvent, RunId, RunOutcome, RunRequest, Speaker, Speech,
    TaskId, TaskOutcome, TestsMode, TreeId, Turn, Verdict, WritingMode,
};
use magis_platform::process::ProcessMark;
use magis_store::{CallKind, CallRecord, NewRepository, NewRun, Store};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

/// 2026-01-02 03:04:05 UTC, in milliseconds.
pub const START: i64 = 1_767_323_045_000;

pub const PATCH: &str = "\
diff --git a/tally/filters.py b/tally/filters.py
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/tally/filters.py
+++ b/tally/filters.py
@@ -1,3 +1,3 @@
 def until(day, items):
-    return [item for item in items if item.day < day]
+    return [item for item in items if item.day <= day]
 
";

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

fn role(name: &str, focus: &str) -> Role {
    Role {
        name: name.to_owned(),
        focus: focus.to_owned(),
    }
}

pub fn request() -> RunRequest {
    RunRequest {
        issue: Issue::new("# list --until leaves out that day\n\nThe day itself is missing. \u{1b}[31mred\u{1b}[0m")
            .unwrap(),
        hints: vec![Hint::FailingLog("FAILED test_until".to_owned())],
        hints_mode: HintsMode::Use,
        relevance: RelevanceMode::Code,
        without: BTreeSet::new(),
        files: Vec::new(),
        model: "qwen2.5-coder-1.5b".to_owned(),
        seed: 1,
        top_k: 20,
        max_rounds: 3,
        attempts_per_round: 1,
        places_per_round: 1,
        writing: Vec::new(),
        tests: TestsMode::Skip,
        qa: QaMode::Review,
    }
}

pub fn base() -> Base {
    Base {
        commit: CommitId("0123456789abcdef0123456789abcdef01234567".to_owned()),
        tree: TreeId("89abcdef0123456789abcdef0123456789abcdef".to_owned()),
        uncommitted: false,
        name: "main".to_owned(),
    }
}

#[expect(clippy::too_many_lines, reason = "one event after the other, as they happen")]
/// Returns the events of a whole run with one task in two rounds, from the first to the last.
pub fn events() -> Vec<RunEvent> {
    let (file, task) = (path("tally/filters.py"), TaskId(1));
    let blob = BlobId("1111111111111111111111111111111111111111".to_owned());
    let said = |speaker, turn, text: &str| RunEvent::Spoken {
        speech: Speech {
            speaker,
            turn,
            text: text.to_owned(),
        },
    };
    let written = |round, operator: &str, findings| RunEvent::CodeWritten {
        task,
        round: Round(round),
        attempt: AttemptNumber(0),
        diagnosis: "The comparison leaves the day itself out.".to_owned(),
        change: FileChange::Modify {
            edits: vec![Edit {
                span: LineSpan::new(2, 2).unwrap(),
                text: format!("    return [item for item in items if item.day {operator} day]\n"),
            }],
        },
        findings,
        place: 0,
        mode: WritingMode::Definition,
        same_as: None,
    };
    let lines = |round| RunEvent::LinesChosen {
        task,
        round: Round(round),
        symbols: vec!["until".to_owned()],
        spans: vec![LineSpan::new(2, 2).unwrap()],
        others: Vec::new(),
        answers: None,
    };
    let reviewed = |round, decision, comment: &str| RunEvent::Reviewed {
        task,
        round: Round(round),
        attempt: AttemptNumber(0),
        verdict: Verdict {
            decision,
            comment: comment.to_owned(),
        },
    };
    let candidate = |text: &str, score, evidence| Candidate {
        path: path(text),
        blob: blob.clone(),
        score,
        evidence,
    };
    let judgement = |text: &str, relevance: f64, kept| Judgement {
        path: path(text),
        naming: Some(relevance),
        yes_no: None,
        relevance,
        kept,
    };
    vec![
        RunEvent::RunStarted {
            request: Box::new(request()),
            base: base(),
        },
        RunEvent::IssueRead {
            condensed: None,
            tokens_before: 20,
            tokens_after: 20,
        },
        RunEvent::CandidatesRanked {
            candidates: vec![
                candidate(
                    "tally/filters.py",
                    2.0,
                    vec![Evidence::DefinesName {
                        name: "until".to_owned(),
                    }],
                ),
                candidate(
                    "tally/cli.py",
                    1.0,
                    vec![Evidence::Text {
                        terms: vec!["list".to_owned(), "day".to_owned()],
                    }],
                ),
            ],
            skipped: Vec::new(),
        },
        RunEvent::RelevanceJudged {
            judgements: vec![
                judgement("tally/filters.py", 1.25, true),
                judgement("tally/cli.py", -0.5, false),
            ],
        },
        RunEvent::FileDescribed {
            description: Description {
                path: file.clone(),
                blob,
                source: DescriptionSource::Fresh,
                summary: "Chooses expenses by day, category and text.".to_owned(),
                from_skeleton: false,
            },
        },
        RunEvent::TaskDefined {
            task: FileTask {
                id: task,
                path: file.clone(),
                candidate: file,
                action: FileAction::Modify,
                description: "Let until include the day that is given.".to_owned(),
            },
        },
        RunEvent::RoleDefined {
            task,
            role: role("Date filter engineer", "Bounds of intervals."),
        },
        said(
            Speaker::Manager,
            Turn::Open,
            "We have one task. How will you go about it?",
        ),
        said(
            Speaker::Developer(task),
            Turn::Speak,
            "I will compare with <= instead of <.",
        ),
        said(Speaker::Person, Turn::Speak, "Leave since alone."),
        said(Speaker::Manager, Turn::SumUp, "One change in filters.py."),
        RunEvent::RoleRevised {
            task,
            role: role("Date filter engineer", "The upper bound of until alone."),
        },
        RunEvent::PlanMade {
            plan: Plan::new(vec![PlanStep {
                task,
                after: BTreeSet::new(),
            }])
            .unwrap(),
        },
        RunEvent::ReviewerDefined {
            task,
            role: role("Interval reviewer", "Whether the bound is included."),
        },
        lines(1),
        written(1, ">", vec![Finding::DeletesFarMore { deleted: 9, added: 1 }]),
        reviewed(1, Decision::Rejected, "This turns the filter around."),
        lines(2),
        written(2, "<=", Vec::new()),
        reviewed(2, Decision::Approved, "The day itself is included now."),
        RunEvent::TaskClosed {
            task,
            outcome: TaskOutcome::Approved { round: Round(2) },
        },
        RunEvent::Merged {
            result: MergeResult {
                tree: TreeId("fedcba9876543210fedcba9876543210fedcba98".to_owned()),
                patch: PATCH.to_owned(),
                commit_message: "Include the day of --until".to_owned(),
                pull_request: "`list --until DAY` left out DAY itself.".to_owned(),
            },
        },
        RunEvent::RunEnded {
            outcome: RunOutcome::Approved,
        },
    ]
}

fn call() -> CallRecord {
    CallRecord {
        key: "one".to_owned(),
        after_seq: 5,
        agent: Agent::Manager,
        step: "P4".to_owned(),
        template_hash: "abc".to_owned(),
        task: None,
        round: None,
        attempt: None,
        path: Some(path("tally/filters.py")),
        model: "Qwen2.5 Coder".to_owned(),
        model_sha: "00".to_owned(),
        seed: 1,
        kind: CallKind::Chat,
        request: json!({ "messages": [] }),
        reply: json!({ "text": "a task" }),
        finish: "complete".to_owned(),
        prompt_tokens: 1500,
        reused_tokens: 500,
        generated_tokens: 40,
        prompt_ms: 2000,
        generate_ms: 4000,
        left_out: json!([]),
        retries: 0,
        at_ms: START + 5000,
    }
}

/// Puts the first `count` events of the run into the data folder at `data`; a second apart, from [`START`].
pub fn record(data: &Path, repository: &Path, count: usize) -> RunId {
    let events = events();
    record_events(data, repository, &events[..count.min(events.len())])
}

/// Does the same with other events.
pub fn record_events(data: &Path, repository: &Path, events: &[RunEvent]) -> RunId {
    let store = Store::open(data).unwrap();
    let new = NewRepository {
        root: repository.to_str().unwrap().to_owned(),
        name: "tally".to_owned(),
        identity: None,
    };
    let repo = store.upsert_repository(&new, START).unwrap();
    let run = store
        .create_run(&NewRun {
            repo,
            request: request(),
            parent: None,
            created_at: START,
        })
        .unwrap();
    let process = ProcessMark { pid: 1, started: None };
    let lease = store.acquire_lease(run, "test", process, START, 1000).unwrap();
    for (index, event) in events.iter().enumerate() {
        let seq = index as u32 + 1;
        store
            .append_event(run, seq, START + 1000 * i64::from(seq), event)
            .unwrap();
        if seq == 5 {
            store.record_call(run, &call()).unwrap();
        }
    }
    store.release_lease(&lease).unwrap();
    run
}
