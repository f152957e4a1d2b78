//! The measures on runs made by hand, with numbers worked out by hand.

use magis_core::{
    Agent, AttemptNumber, Base, BlobId, Candidate, CommitId, Decision, Edit, Evidence, FileAction, FileChange,
    FileTask, HintsMode, Issue, Judgement, LineSpan, MergeResult, QaMode, RelevanceMode, RepoPath, Round, RunEvent,
    RunId, RunOutcome, RunRequest, TaskId, TaskOutcome, TestsMode, TreeId, Verdict, WritingMode,
};
use magis_eval::change::Change;
use magis_eval::instances::{InstanceId, Reference};
use magis_eval::measures::loss::Lost;
use magis_eval::record::RunRecord;
use magis_eval::report::{InstanceRow, RecordedInstance, RecordedSet, Report, SettingReport};
use magis_eval::results::{Files, Hints, Judged, Memory, Method, Qa, Setting, TaskScore};
use magis_store::{ArchivedRun, CallKind, CallRecord, RunArchive, StoredEvent};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

const BASE: &str = "def one():\n    a = 1\n    return a\n\n\ndef two():\n    return 2\n";
const GOLD: &str = "\
diff --git a/m.py b/m.py
--- a/m.py
+++ b/m.py
@@ -1,3 +1,3 @@
 def one():
-    a = 1
-    return a
+    a = 2
+    return a + 1
";
const RIGHT: &str = "    a = 2\n    return a + 1\n";
const WRONG: &str = "    a = 3\n    return a\n";

/// Makes an object id of one digit.
fn id(digit: &str) -> String {
    digit.repeat(40)
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("a path")
}

fn span(first: u32, last: u32) -> LineSpan {
    LineSpan::new(first, last).expect("an interval")
}

/// A run as a story: the candidates with whether they are kept, and the rounds of one task.
#[derive(Default)]
struct Story {
    candidates: Vec<(&'static str, bool)>,
    given: bool,
    task: Option<&'static str>,
    /// Lines, new text, approved.
    rounds: Vec<((u32, u32), &'static str, bool)>,
    patch: &'static str,
    calls: Vec<CallRecord>,
}

impl Story {
    /// Returns one candidate that is kept, with a task and these rounds, of which the last is kept.
    fn of(rounds: Vec<((u32, u32), &'static str, bool)>, patch: &'static str) -> Self {
        Self {
            candidates: vec![("m.py", true)],
            task: Some("m.py"),
            rounds,
            patch,
            ..Self::default()
        }
    }

    /// Returns the run, an event a second.
    fn record(self) -> RunRecord {
        let request = RunRequest {
            issue: Issue::new("It is broken").expect("an issue"),
            hints: Vec::new(),
            hints_mode: HintsMode::Use,
            relevance: RelevanceMode::Code,
            without: BTreeSet::new(),
            files: Vec::new(),
            model: "scripted".to_owned(),
            seed: 1,
            top_k: 20,
            max_rounds: 3,
            attempts_per_round: 1,
            places_per_round: 1,
            writing: Vec::new(),
            tests: TestsMode::Skip,
            qa: QaMode::Review,
        };
        let base = Base {
            commit: CommitId(id("a")),
            tree: TreeId(id("b")),
            uncommitted: false,
            name: "HEAD".to_owned(),
        };
        let mut events = vec![RunEvent::RunStarted {
            request: Box::new(request.clone()),
            base,
        }];
        events.extend(self.located());
        events.extend(self.coded());
        events.extend(self.ended());
        let mut stage = magis_core::Stage::Locate;
        let stored = events.into_iter().zip(1_u32..).map(|(event, seq)| {
            stage = event.stage().unwrap_or(stage);
            StoredEvent {
                seq,
                at_ms: i64::from(seq) * 1000,
                stage,
                event,
            }
        });
        let run = ArchivedRun {
            repository: "fixture".to_owned(),
            request,
            created_at: 0,
            events: stored.collect(),
            calls: self.calls,
        };
        let (format, version) = (RunArchive::FORMAT.to_owned(), RunArchive::VERSION);
        RunRecord::of(RunArchive { format, version, run }).expect("the log can be folded")
    }

    fn located(&self) -> [RunEvent; 2] {
        let candidate = |(name, _): &(&str, bool)| Candidate {
            path: path(name),
            blob: BlobId(id("c")),
            score: 1.0,
            evidence: if self.given { vec![Evidence::Given] } else { Vec::new() },
        };
        let mut candidates: Vec<Candidate> = self.candidates.iter().map(candidate).collect();
        // The ranking has them the other way round, so that the two orders can be told apart.
        candidates.reverse();
        let judgement = |(name, kept): &(&str, bool)| Judgement {
            path: path(name),
            naming: None,
            yes_no: None,
            relevance: 0.0,
            kept: *kept,
        };
        let judgements = self.candidates.iter().map(judgement).collect();
        [
            RunEvent::CandidatesRanked {
                candidates,
                skipped: Vec::new(),
            },
            RunEvent::RelevanceJudged { judgements },
        ]
    }

    fn coded(&self) -> Vec<RunEvent> {
        let (task, attempt) = (TaskId(1), AttemptNumber(0));
        let Some(name) = self.task else { return Vec::new() };
        let description = "mend it".to_owned();
        let file = FileTask {
            id: task,
            path: path(name),
            candidate: path(name),
            action: FileAction::Modify,
            description,
        };
        let mut events = vec![RunEvent::TaskDefined { task: file }];
        for (((first, last), text, approved), round) in self.rounds.iter().zip((1..).map(Round)) {
            let span = span(*first, *last);
            events.push(RunEvent::LinesChosen {
                task,
                round,
                symbols: Vec::new(),
                spans: vec![span],
                others: Vec::new(),
                answers: None,
            });
            let change = FileChange::Modify {
                edits: vec![Edit {
                    span,
                    text: (*text).to_owned(),
                }],
            };
            let (diagnosis, findings) = (String::new(), Vec::new());
            events.push(RunEvent::CodeWritten {
                task,
                round,
                attempt,
                diagnosis,
                change,
                findings,
                place: 0,
                mode: WritingMode::Definition,
                same_as: None,
            });
            let decision = if *approved {
                Decision::Approved
            } else {
                Decision::Rejected
            };
            let verdict = Verdict {
                decision,
                comment: String::new(),
            };
            events.push(RunEvent::Reviewed {
                task,
                round,
                attempt,
                verdict,
            });
        }
        if !self.rounds.is_empty() {
            let round = Round(self.rounds.len() as u32);
            events.push(RunEvent::TaskClosed {
                task,
                outcome: TaskOutcome::Approved { round },
            });
        }
        events
    }

    fn ended(&self) -> Vec<RunEvent> {
        if self.patch.is_empty() {
            let outcome = RunOutcome::NoChange {
                reason: "nothing to do".to_owned(),
            };
            return vec![RunEvent::RunEnded { outcome }];
        }
        let result = MergeResult {
            tree: TreeId(id("d")),
            patch: self.patch.to_owned(),
            commit_message: String::new(),
            pull_request: String::new(),
        };
        vec![
            RunEvent::Merged { result },
            RunEvent::RunEnded {
                outcome: RunOutcome::Approved,
            },
        ]
    }

    fn instance(self, name: &str, resolved: Option<bool>) -> RecordedInstance {
        let id = InstanceId(name.to_owned());
        let change = Change::parse(GOLD).expect("a patch");
        let judged = resolved.map(|resolved| Judged {
            instance_id: id.clone(),
            applied: true,
            resolved,
            why: None,
        });
        let applied = !self.patch.is_empty();
        RecordedInstance {
            reference: Reference {
                id,
                repo: "owner/name".to_owned(),
                base_commit: CommitId("a".repeat(40)),
                gold: change.touched(),
                change: Some(change),
            },
            record: self.record(),
            applied,
            judged,
            score: None,
        }
    }
}

fn measure(method: Method, runs: Vec<RecordedInstance>) -> SettingReport {
    let setting = Setting {
        label: "by hand".to_owned(),
        method,
        model: "scripted".to_owned(),
        files: Files::Located,
        hints: Hints::Withheld,
        qa: Qa::Reviewing,
        relevance: RelevanceMode::Code,
        top_k: 20,
        max_rounds: 3,
        seed: 1,
        context: None,
        memory: Memory::Empty,
        data_dir: PathBuf::from("data"),
        repos: PathBuf::from("repos"),
    };
    let base = |_: &Reference, path: &RepoPath| (path.as_str() == "m.py").then(|| BASE.to_owned());
    let report = Report::of(&[RecordedSet { setting, runs }], &base);
    assert!(report.text().contains("by hand"), "{}", report.text());
    report.settings.into_iter().next().expect("one setting")
}

fn row(method: Method, story: Story, resolved: Option<bool>) -> InstanceRow {
    measure(method, vec![story.instance("one", resolved)]).rows.remove(0)
}

fn check_lost(story: Story, expected: Option<Lost>) {
    assert_eq!(row(Method::Magis, story, Some(false)).lost, expected);
}

#[test]
fn an_unresolved_run_is_lost_at_the_first_step_that_went_wrong() {
    let elsewhere = Story {
        candidates: vec![("other.py", true), ("m.py", false)],
        ..Story::default()
    };
    check_lost(elsewhere, Some(Lost::NotLocated));
    check_lost(
        Story {
            task: None,
            ..Story::of(Vec::new(), "")
        },
        Some(Lost::NoTask),
    );
    check_lost(
        Story::of(vec![((6, 7), "def two():\n    return 3\n", true)], GOLD),
        Some(Lost::WrongPlace),
    );
    check_lost(Story::of(vec![((2, 3), WRONG, true)], GOLD), Some(Lost::WrongCode));
}

#[test]
fn a_run_without_a_change_is_lost_also_before_any_judge() {
    let unjudged = row(
        Method::Magis,
        Story {
            task: None,
            ..Story::of(Vec::new(), "")
        },
        None,
    );
    assert_eq!((unjudged.resolved, unjudged.lost), (None, Some(Lost::NoTask)));
}

#[test]
fn right_code_that_was_sent_back_is_told_from_wrong_code() {
    let rejected = Story::of(
        vec![((2, 3), RIGHT, false), ((6, 7), "def two():\n    return 3\n", true)],
        GOLD,
    );
    check_lost(rejected, Some(Lost::RightCodeRejected));
    // Up to layout the same as the reference.
    let laid_out = Story::of(
        vec![((2, 3), "    a  =  2\n    return a+1\n", false), ((2, 3), WRONG, true)],
        GOLD,
    );
    check_lost(laid_out, Some(Lost::RightCodeRejected));
    let kept = Story::of(vec![((2, 3), WRONG, false), ((2, 3), RIGHT, true)], GOLD);
    check_lost(kept, Some(Lost::WrongCode));
}

#[test]
fn coverage_is_of_the_round_that_was_kept() {
    let story = Story::of(vec![((2, 3), WRONG, false), ((3, 7), "    return a\n", true)], GOLD);
    let row = row(Method::Magis, story, None);
    assert_eq!((row.coverage, row.resolved, row.lost), (Some(0.5), None, None));
}

#[test]
fn the_model_alone_is_measured_by_the_lines_its_patch_touches() {
    let given = Story {
        candidates: vec![("m.py", true)],
        given: true,
        patch: GOLD,
        ..Story::default()
    };
    let touched = row(Method::Baseline, given, Some(false));
    assert_eq!(
        (touched.coverage, touched.lost, touched.recall),
        (Some(1.0), Some(Lost::WrongCode), None)
    );
}

#[test]
fn recall_rises_with_the_files_of_the_judged_order() {
    let second = Story {
        candidates: vec![("x.py", true), ("m.py", true), ("y.py", false)],
        ..Story::default()
    };
    let third = Story {
        candidates: vec![("x.py", true), ("y.py", false), ("m.py", false)],
        ..Story::default()
    };
    let report = measure(
        Method::Magis,
        vec![second.instance("one", None), third.instance("two", None)],
    );
    let locating = report.locating.unwrap();
    assert_eq!(locating.fused.at, [0.0, 0.5, 1.0]);
    // The ranking had them reversed.
    assert_eq!(locating.ranking.at, [0.5, 1.0, 1.0]);
    assert_eq!((locating.kept_recall, locating.kept_files), (0.5, 1.5));
    assert_eq!(
        (locating.located.at, locating.located_by_ranking.at),
        ([0, 2, 2, 2, 2], [1, 2, 2, 2, 2])
    );
}

#[test]
fn counts_say_what_applied_what_resolved_and_what_changed_nothing() {
    let runs = vec![
        Story::of(vec![((2, 3), RIGHT, true)], GOLD).instance("one", Some(true)),
        Story::of(vec![((2, 3), WRONG, true)], GOLD).instance("two", Some(false)),
        Story {
            task: None,
            ..Story::of(Vec::new(), "")
        }
        .instance("three", None),
    ];
    let report = measure(Method::Magis, runs);
    let counts = (
        report.instances,
        report.applied,
        report.without_change,
        report.judged,
        report.resolved,
    );
    assert_eq!(counts, (3, 2, 1, 3, 1));
    let repository = report.repositories["owner/name"];
    assert_eq!(
        (repository.instances, repository.applied, repository.resolved),
        (3, 2, 1)
    );
    assert_eq!(
        (report.resolved_changes.instances, report.unresolved_changes.instances),
        (1, 1)
    );
    let functions = &report.resolved_changes.statistics[1];
    assert_eq!((functions.index, functions.reference.unwrap().max), ("functions", 1.0));
    assert_eq!(
        report.lost.into_iter().collect::<Vec<_>>(),
        [(Lost::NoTask, 1), (Lost::WrongCode, 1)]
    );
}

#[test]
fn calls_are_added_up_by_agent_and_step_and_time_by_stage() {
    let call = |key: &str, agent, step: &str, tokens: [u32; 3]| CallRecord {
        key: key.to_owned(),
        after_seq: 1,
        agent,
        step: step.to_owned(),
        template_hash: String::new(),
        task: None,
        round: None,
        attempt: None,
        path: None,
        model: String::new(),
        model_sha: String::new(),
        seed: 0,
        kind: CallKind::Chat,
        request: Value::Null,
        reply: Value::Null,
        finish: "complete".to_owned(),
        prompt_tokens: tokens[0],
        reused_tokens: tokens[1],
        generated_tokens: tokens[2],
        prompt_ms: 20,
        generate_ms: 30,
        left_out: Value::Null,
        retries: 0,
        at_ms: 0,
    };
    let calls = vec![
        call("1", Agent::Developer, "P10", [100, 10, 5]),
        call("2", Agent::QaEngineer, "P11", [7, 0, 1]),
        call("3", Agent::Developer, "P10", [50, 60, 5]),
    ];
    let story = Story {
        calls,
        ..Story::of(vec![((2, 3), RIGHT, true)], GOLD)
    };
    let report = measure(Method::Magis, vec![story.instance("one", None)]);
    let code = &report.cost.steps[0];
    assert_eq!((code.step.as_str(), code.sum.calls), ("P10", 2));
    assert_eq!(
        (code.sum.computed, code.sum.reused, code.sum.generated, code.sum.ms),
        (150, 70, 10, 100)
    );
    assert_eq!((report.cost.total.calls, report.cost.median_tokens), (3, Some(168.0)));
    // A second an event: two of locating, one of the team's, four of code, two of merging.
    let stages: Vec<f64> = report.cost.stages.into_values().collect();
    assert_eq!(
        (stages, report.cost.worst_seconds),
        (vec![2.0, 1.0, 4.0, 2.0], Some(9.0))
    );
}

#[test]
fn scores_of_task_descriptions_are_split_by_resolved() {
    let score = |name: &str, score, resolved| {
        let mut instance = Story::of(vec![((2, 3), RIGHT, true)], GOLD).instance(name, resolved);
        let (instance_id, judge) = (InstanceId(name.to_owned()), "judge".to_owned());
        instance.score = Some(TaskScore {
            instance_id,
            run: RunId(1),
            judge,
            score,
            expected: f64::from(score),
        });
        instance
    };
    let runs = vec![
        score("one", 5, Some(true)),
        score("two", 2, Some(false)),
        score("three", 2, Some(false)),
    ];
    let scores = measure(Method::Magis, runs).task_scores.unwrap();
    assert_eq!((scores.resolved, scores.unresolved), ([0, 0, 0, 0, 1], [0, 2, 0, 0, 0]));
}
