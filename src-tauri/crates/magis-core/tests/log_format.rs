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

fn folder(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/log")
        .join(version.to_string())
}

/// Returns the events of a version, each with the name of its file.
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
            assert_eq!(event.name(), file);
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
    let names: BTreeSet<String> = RunEvent::NAMES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(files, names);
}
