//! Runs carried from one data folder to another.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by failing")]

mod support;

use magis_core::RunId;
use magis_store::{CreationOrder, ImportSource, RunArchive, RunFilter, RunOrigin, RunQuery, StoredStatus};
use serde_json::Value;
use support::{Data, call, ended, merged, spoken, started};

fn exported() -> RunArchive {
    let data = Data::new();
    let run = data.run("Port is lost");
    data.append(run, &[started("Port is lost"), spoken("hello"), merged(""), ended()]);
    data.store.record_call(run, &call("a", "P2", 1)).unwrap();
    data.store.export_run(run).unwrap()
}

fn from() -> ImportSource {
    ImportSource {
        file: "run.json".to_owned(),
        at: 7,
    }
}

#[test]
fn an_imported_run_is_the_exported_one_and_marked() {
    let archive = RunArchive::from_json(&exported().to_json().unwrap()).unwrap();
    let data = Data::new();
    data.run("One that was here before");
    let run = data.store.import_run(&archive, &from()).unwrap();
    assert_eq!(data.store.import_of(run).unwrap(), Some(from()));
    assert!(!data.store.is_repository_named(run).unwrap());
    data.store.note_named_repository(run, 8).unwrap();
    assert!(data.store.is_repository_named(run).unwrap());
    assert_eq!(data.store.import_of(run).unwrap(), Some(from()));
    let entry = data.store.run(run).unwrap().entry;
    assert_eq!(
        (entry.origin, entry.repo, entry.repository.as_str()),
        (RunOrigin::Imported, None, "url")
    );
    assert_eq!(
        (entry.status, entry.tokens, entry.created_at),
        (StoredStatus::Ended, 120, 10)
    );
    assert_eq!(data.store.export_run(run).unwrap(), archive);
}

#[test]
fn an_imported_run_stands_in_every_list_where_its_time_belongs() {
    let data = Data::new();
    let earlier = data.run_at("Port is closed", 5);
    let later = data.run_at("Port is open", 20);
    let imported = data.store.import_run(&exported(), &from()).unwrap();
    let listed: Vec<RunId> = data
        .store
        .runs(&RunFilter::default())
        .unwrap()
        .iter()
        .map(|run| run.id)
        .collect();
    assert_eq!(listed, [later, imported, earlier]);

    let check = |text: &str, order: CreationOrder, expected: [RunId; 3]| {
        let mut query = RunQuery {
            text: text.to_owned(),
            order,
            limit: 1,
            ..RunQuery::default()
        };
        for run in expected {
            let page = data.store.run_page(&query).unwrap();
            assert_eq!(page.rows[0].run.id, run, "{text:?} {order:?}");
            query.after = Some(run);
        }
        assert_eq!(data.store.run_page(&query).unwrap().rows, []);
    };
    for text in ["", "port"] {
        check(text, CreationOrder::NewestFirst, [later, imported, earlier]);
        check(text, CreationOrder::OldestFirst, [earlier, imported, later]);
    }
}

#[test]
fn a_run_cut_off_is_imported_as_interrupted() {
    let mut archive = exported();
    archive.run.events.truncate(2);
    let data = Data::new();
    let run = data.store.import_run(&archive, &from()).unwrap();
    assert_eq!(data.store.run(run).unwrap().entry.status, StoredStatus::Interrupted);
}

/// An archive changed by `change` is refused with a message that says `expected`.
fn check_refused(change: impl FnOnce(&mut Value), expected: &str) {
    let mut json: Value = serde_json::from_str(&exported().to_json().unwrap()).unwrap();
    change(&mut json);
    let data = Data::new();
    let imported = RunArchive::from_json(&json.to_string())
        .map_err(Into::into)
        .and_then(|archive| data.store.import_run(&archive, &from()));
    let error = imported.unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
    assert_eq!(data.store.runs(&RunFilter::default()).unwrap(), []);
}

#[test]
fn unknown_and_malformed_archives_are_refused_whole() {
    check_refused(
        |json| json["version"] = 2.into(),
        "format 2; this version reads formats up to 1",
    );
    check_refused(
        |json| {
            json["version"] = 2.into();
            json["run"] = Value::Null;
        },
        "format 2",
    );
    check_refused(|json| json["format"] = "songs".into(), "its format is 'songs'");
    check_refused(|json| json["run"]["request"] = Value::Null, "no archive of a run");
    check_refused(
        |json| drop(json["run"]["events"].as_array_mut().unwrap().remove(1)),
        "event 3 stands where event 2",
    );
    check_refused(
        |json| json["run"]["events"][0]["event"] = serde_json::json!({ "event": "resumed" }),
        "should start",
    );
    check_refused(
        |json| json["run"]["calls"][0]["after_seq"] = 9.into(),
        "after event 9, which is missing",
    );
    check_refused(
        |json| {
            let call = json["run"]["calls"][0].clone();
            json["run"]["calls"].as_array_mut().unwrap().push(call);
        },
        "stands there twice",
    );
}
