//! What any version of the log wrote is read, and what this version writes stays as it is.
//!
//! `log/N` holds a file for each event, with every form that its fields can have, as version N of the log writes it. A folder
//! is never changed once a program that writes its version was handed on.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use magis_core::{LOG_VERSION, RunEvent, read_event};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of an event in the log. A new event does not compile until it has one, and a test asks for its file then.
fn name(event: &RunEvent) -> &'static str {
    match event {
        RunEvent::RunStarted { .. } => "run_started",
        RunEvent::IssueRead { .. } => "issue_read",
        RunEvent::CandidatesRanked { .. } => "candidates_ranked",
        RunEvent::RelevanceJudged { .. } => "relevance_judged",
        RunEvent::FileDescribed { .. } => "file_described",
        RunEvent::TaskDefined { .. } => "task_defined",
        RunEvent::TaskDeclined { .. } => "task_declined",
        RunEvent::RoleDefined { .. } => "role_defined",
        RunEvent::Spoken { .. } => "spoken",
        RunEvent::RoleRevised { .. } => "role_revised",
        RunEvent::PlanMade { .. } => "plan_made",
        RunEvent::ReviewerDefined { .. } => "reviewer_defined",
        RunEvent::LinesChosen { .. } => "lines_chosen",
        RunEvent::CodeWritten { .. } => "code_written",
        RunEvent::CodeFailed { .. } => "code_failed",
        RunEvent::Reviewed { .. } => "reviewed",
        RunEvent::TaskClosed { .. } => "task_closed",
        RunEvent::Merged { .. } => "merged",
        RunEvent::RunEnded { .. } => "run_ended",
        RunEvent::CandidateDropped { .. } => "candidate_dropped",
        RunEvent::CandidateAdded { .. } => "candidate_added",
        RunEvent::TaskEdited { .. } => "task_edited",
        RunEvent::RoleEdited { .. } => "role_edited",
        RunEvent::HintAdded { .. } => "hint_added",
        RunEvent::Paused { .. } => "paused",
        RunEvent::Resumed => "resumed",
        RunEvent::Noticed { .. } => "noticed",
    }
}

/// How many names [`name`] gives.
const EVENTS: usize = 27;

fn folder(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/log")
        .join(version.to_string())
}

/// The events of a version, each with the name of its file.
fn recorded(version: u32) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for file in fs::read_dir(folder(version)).unwrap() {
        let path = file.unwrap().path();
        let events: Vec<Value> = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        all.extend(events.into_iter().map(|event| (name.clone(), event)));
    }
    all
}

#[test]
fn every_event_of_every_version_is_read() {
    for version in 1..=LOG_VERSION {
        for (file, json) in recorded(version) {
            let event = read_event(version, &json.to_string());
            let event = event.unwrap_or_else(|error| panic!("{file} of version {version}: {error}: {json}"));
            assert_eq!(name(&event), file);
        }
    }
}

#[test]
fn this_version_writes_what_is_recorded_of_it() {
    for (_, json) in recorded(LOG_VERSION) {
        let event = read_event(LOG_VERSION, &json.to_string()).unwrap();
        assert_eq!(
            serde_json::to_value(&event).unwrap(),
            json,
            "a change of the JSON needs a new version of the log"
        );
    }
}

#[test]
fn each_event_of_this_version_has_its_file() {
    let files: BTreeSet<String> = recorded(LOG_VERSION).into_iter().map(|(file, _)| file).collect();
    assert_eq!(files.len(), EVENTS, "{files:?}");
}
