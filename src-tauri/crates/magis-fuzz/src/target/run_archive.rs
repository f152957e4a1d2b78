//! A run from elsewhere: any text is an archive or an error, and one that is taken in comes out as it went in.

use super::{CaseOutcome, FuzzTarget};
use anyhow::{Context as _, Result};
use magis_core::{
    Base, CommitId, HintsMode, Issue, MergeResult, QaMode, RelevanceMode, RunEvent, RunOutcome, RunRequest, TestsMode,
    TreeId,
};
use magis_flow::Run;
use magis_repo::Patch;
use magis_store::{ArchivedRun, ImportSource, NewRepository, NewRun, RunArchive, Store, StoredEvent};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// So many runs are taken in before the database is made anew.
const MOST_RUNS: u32 = 500;

pub(super) struct RunArchiveTarget {
    folder: PathBuf,
    store: Store,
    runs: u32,
}

/// Opens a new database in a folder.
pub(super) fn new_store(folder: &Path) -> Result<Store> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Store::open(folder).context("opening a new store")
}

impl RunArchiveTarget {
    pub(super) fn open(place: &Path) -> Result<Self> {
        let folder = place.join("store");
        Ok(Self {
            store: new_store(&folder)?,
            folder,
            runs: 0,
        })
    }

    /// Returns a run of some events, as it is exported.
    fn exported(&self, events: Vec<RunEvent>) -> Result<String> {
        let repository = NewRepository {
            root: "/projects/url".to_owned(),
            name: "url".to_owned(),
            identity: Some("c0ffee".to_owned()),
        };
        let repo = self.store.upsert_repository(&repository, 1)?;
        let run = self.store.create_run(&NewRun {
            repo,
            request: request()?,
            parent: None,
            created_at: 10,
        })?;
        for (seq, event) in (1..).zip(events) {
            self.store.append_event(run, seq, 100 + i64::from(seq), &event)?;
        }
        Ok(self.store.export_run(run)?.to_json()?)
    }
}

fn request() -> Result<RunRequest> {
    Ok(RunRequest {
        issue: Issue::new("Port is lost")?,
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
    })
}

fn started() -> Result<RunEvent> {
    Ok(RunEvent::RunStarted {
        request: Box::new(request()?),
        base: Base {
            commit: CommitId("1".repeat(40)),
            tree: TreeId("2".repeat(40)),
            uncommitted: false,
            name: "HEAD".to_owned(),
        },
    })
}

/// Returns an archive with the events of each file that the format of the log is tested with.
fn with_recorded_events(archive: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../magis-core/tests/log");
    let folder = folder.join(RunArchive::VERSION.to_string());
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let with = |file: fs::DirEntry| {
        let recorded: Vec<Value> = serde_json::from_str(&fs::read_to_string(file.path()).ok()?).ok()?;
        let mut archive: Value = serde_json::from_str(archive).ok()?;
        let events = archive.pointer_mut("/run/events")?.as_array_mut()?;
        let stage = events.first()?.get("stage")?.clone();
        for (seq, event) in (2..).zip(recorded) {
            events.push(json!({"seq": seq, "at_ms": 100, "stage": stage, "event": event}));
        }
        Some(archive.to_string().into_bytes())
    };
    let mut seeds: Vec<Vec<u8>> = files.filter_map(with).collect();
    seeds.sort();
    seeds
}

fn merged() -> RunEvent {
    let result = MergeResult {
        tree: TreeId("3".repeat(40)),
        patch: String::new(),
        commit_message: "Keep the port".to_owned(),
        pull_request: "The port was lost.".to_owned(),
    };
    RunEvent::Merged { result }
}

fn ended() -> RunEvent {
    RunEvent::RunEnded {
        outcome: RunOutcome::Approved,
    }
}

impl FuzzTarget for RunArchiveTarget {
    fn seeds(&mut self) -> Vec<Vec<u8>> {
        let started = || started().expect("a request of ours is whole");
        let runs = [
            vec![started()],
            vec![started(), RunEvent::Resumed, ended()],
            vec![started(), merged(), ended()],
        ];
        let exported = |events| self.exported(events).expect("our own run can be exported");
        let mut seeds: Vec<Vec<u8>> = runs.into_iter().map(|events| exported(events).into_bytes()).collect();
        seeds.extend(with_recorded_events(&exported(vec![started()])));
        seeds
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "magis-run",
            "format",
            "version",
            "run",
            "request",
            "events",
            "calls",
            "event",
            "seq",
            "at_ms",
            "run_started",
            "resumed",
            "ended",
            "merged",
            "plan_agreed",
            "located",
            "tasks",
            "task",
            "path",
            "patch",
            "../a",
            "/etc/passwd",
            "a.py",
            "verdict",
            "developer",
            "manager",
            "notice",
            "created_at",
            "after_seq",
            "key",
            "null",
            "\u{0}",
            "\\ud800",
        ]
    }

    fn is_json(&self) -> bool {
        true
    }

    fn run(&mut self, input: &[u8]) -> CaseOutcome {
        let mut outcome = CaseOutcome::default();
        let text = String::from_utf8_lossy(input);
        let Some(archive) = outcome.say_result("archive", RunArchive::from_json(&text)) else {
            return outcome;
        };
        // As the engine does, which takes in only what its own log leads to.
        let events = archive.run.events.iter().map(|stored| &stored.event);
        if let Some(run) = outcome.say_result("log", Run::fold_from_elsewhere(events)) {
            for effect in run.pending() {
                let effect = format!("{effect:?}");
                let name = effect.split(|letter: char| !letter.is_alphanumeric()).next();
                outcome.say(format!("pending: {}", name.unwrap_or_default()));
            }
            outcome.say_count("accepted", run.accepted_files().len());
            if let Some(merged) = run.merged() {
                outcome.say_result("its patch", Patch::parse(&merged.patch));
            }
        }
        if self.runs == MOST_RUNS {
            self.store = new_store(&self.folder).expect("the folder of the target can be written");
            self.runs = 0;
        }
        self.runs += 1;
        let from = ImportSource {
            file: "run.json".to_owned(),
            at: 0,
        };
        if let Some(run) = outcome.say_result("taken in", self.store.import_run(&archive, &from)) {
            let again = self
                .store
                .export_run(run)
                .expect("a run that was taken in can be exported");
            let (went, came) = (&archive.run, &again.run);
            assert!(
                went.request == came.request && went.calls == came.calls && went.repository == came.repository,
                "a run that was taken in comes out as another one"
            );
            // The stage of an event is found out anew.
            let events = |run: &ArchivedRun| -> Vec<(u32, i64, RunEvent)> {
                let event = |stored: &StoredEvent| (stored.seq, stored.at_ms, stored.event.clone());
                run.events.iter().map(event).collect()
            };
            assert!(events(went) == events(came), "a run that was taken in has other events");
        }
        outcome
    }
}
