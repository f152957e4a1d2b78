//! The log of a run and its calls: order, taking over a beginning, totals.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says so by failing")]

mod support;

use magis_core::{Agent, RunId, Stage};
use magis_store::{CallOrigin, NewRun, StoreError, StoredStatus};
use support::{Data, call, ended, hint, merged, request, spoken, started, task};

/// Appends events numbered `numbers`; those in `refused` are refused and leave nothing.
fn check_order(numbers: &[u32], refused: &[u32]) {
    let data = Data::new();
    let run = data.run("Port is lost");
    let mut wrong = Vec::new();
    for seq in numbers {
        match data.store.append_event(run, *seq, 0, &spoken("x")) {
            Ok(()) => {}
            Err(StoreError::OutOfOrder { given, .. }) => wrong.push(given),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(wrong, refused, "{numbers:?}");
    let kept: Vec<u32> = data
        .store
        .events(run)
        .unwrap()
        .iter()
        .map(|stored| stored.seq)
        .collect();
    let expected: Vec<u32> = (1..=(numbers.len() - refused.len()) as u32).collect();
    assert_eq!(kept, expected, "{numbers:?}");
}

#[test]
fn a_log_has_neither_gaps_nor_doubles() {
    check_order(&[1, 2, 3], &[]);
    check_order(&[0, 1], &[0]);
    check_order(&[2, 1, 2], &[2]);
    check_order(&[1, 1, 2, 2, 3], &[1, 2]);
    check_order(&[1, 3, 2, 3, u32::MAX], &[3, u32::MAX]);
}

#[test]
fn events_come_back_as_they_were_with_their_stage() {
    let data = Data::new();
    let run = data.run("Port is lost");
    let events = [
        started("Port is lost"),
        task("src/url.py", "Keep it"),
        hint("see RFC 3986"),
        spoken("Let us begin"),
    ];
    data.append(run, &events);
    let stored = data.store.events(run).unwrap();
    assert_eq!(
        stored.iter().map(|stored| stored.event.clone()).collect::<Vec<_>>(),
        events
    );
    // The hint came while the team was formed.
    let stages: Vec<Stage> = stored.iter().map(|stored| stored.stage).collect();
    assert_eq!(stages, [Stage::Locate, Stage::Team, Stage::Team, Stage::Meeting]);
    assert_eq!(data.store.events_after(run, 3).unwrap(), stored[3..]);
}

#[test]
fn a_run_nobody_knows_is_named() {
    let data = Data::new();
    for error in [
        data.store.append_event(RunId(7), 1, 0, &spoken("x")).unwrap_err(),
        data.store.events(RunId(7)).unwrap_err(),
        data.store.record_call(RunId(7), &call("k", "P2", 0)).unwrap_err(),
    ] {
        assert_eq!(error.to_string(), "there is no run 7");
    }
}

#[test]
fn a_call_is_recorded_once_and_found_by_its_key() {
    let data = Data::new();
    let run = data.run("Port is lost");
    let record = call("k1", "P2", 0);
    data.store.record_call(run, &record).unwrap();
    assert_eq!(data.store.find_call(run, "k1").unwrap().unwrap().record, record);
    assert_eq!(data.store.find_call(run, "k2").unwrap(), None);
    let error = data.store.record_call(run, &record).unwrap_err();
    assert!(matches!(error, StoreError::DoubleCall { .. }), "{error}");
    assert_eq!(data.store.run(run).unwrap().entry.tokens, 120);
}

#[test]
fn totals_are_by_agent_and_step() {
    let data = Data::new();
    let run = data.run("Port is lost");
    for (key, step) in [("a", "P2"), ("b", "naming"), ("c", "P2")] {
        data.store.record_call(run, &call(key, step, 0)).unwrap();
    }
    let totals = data.store.call_totals(run).unwrap();
    let shown: Vec<_> = totals
        .iter()
        .map(|row| (row.step.as_str(), row.calls, row.prompt_tokens, row.retries))
        .collect();
    assert_eq!(shown, [("P2", 2, 200, 2), ("naming", 1, 100, 1)]);
    assert_eq!(
        (totals[0].agent, totals[0].generated_tokens, totals[0].generate_ms),
        (Agent::Custodian, 40, 14)
    );
}

#[test]
fn a_rerun_takes_over_the_beginning_and_the_calls_that_led_to_it() {
    let data = Data::new();
    let first = data.run("Port is lost");
    data.append(
        first,
        &[
            started("Port is lost"),
            task("src/url.py", "Keep it"),
            merged(""),
            ended(),
        ],
    );
    for (key, after_seq) in [("a", 0), ("b", 1), ("c", 2), ("d", 3)] {
        data.store.record_call(first, &call(key, "P2", after_seq)).unwrap();
    }
    let again = NewRun {
        repo: data.repo,
        request: request("Port is lost"),
        parent: Some(first),
        created_at: 20,
    };
    let second = data.store.create_run(&again).unwrap();
    data.store.copy_run_prefix(first, 2, second).unwrap();

    assert_eq!(
        data.store.events(second).unwrap(),
        data.store.events(first).unwrap()[..2]
    );
    let calls = data.store.calls(second).unwrap();
    let shown: Vec<_> = calls
        .iter()
        .map(|call| (call.record.key.as_str(), call.origin))
        .collect();
    assert_eq!(shown, [("a", CallOrigin::Inherited), ("b", CallOrigin::Inherited)]);
    let entry = data.store.run(second).unwrap().entry;
    let parent = entry.parent.unwrap();
    assert_eq!((parent.run, parent.shared_events), (first, 2));
    assert_eq!(
        (entry.status, entry.base.is_some(), entry.tokens),
        (StoredStatus::Queued, true, 0)
    );
    data.append(second, &[spoken("another way")]);
}

#[test]
fn a_beginning_that_does_not_exist_or_has_no_place_is_refused() {
    let data = Data::new();
    let first = data.run("Port is lost");
    data.append(first, &[started("Port is lost")]);
    let second = data.run("Port is lost");
    assert_eq!(
        data.store.copy_run_prefix(first, 2, second).unwrap_err().code(),
        "no_prefix"
    );
    data.append(second, &[started("Port is lost")]);
    assert_eq!(
        data.store.copy_run_prefix(first, 1, second).unwrap_err().code(),
        "no_prefix"
    );
    assert_eq!(
        data.store.copy_run_prefix(first, 1, first).unwrap_err().code(),
        "no_prefix"
    );
    assert_eq!(data.store.event_count(second).unwrap(), 1);
}

#[test]
fn a_run_is_there_with_the_events_it_begins_with_or_not_at_all() {
    let data = Data::new();
    let new = |parent| NewRun {
        repo: data.repo,
        request: request("Port is lost"),
        parent,
        created_at: 20,
    };
    let first = data.store.begin_run(&new(None), &[started("Port is lost")]).unwrap();
    assert_eq!(data.store.event_count(first).unwrap(), 1);

    let again = data
        .store
        .begin_rerun(&new(Some(first)), first, 1, &[spoken("another way")])
        .unwrap();
    let events = data.store.events(again).unwrap();
    assert_eq!(events.len(), 2);
    assert_eq!(events[1].event, spoken("another way"));

    let refused = data.store.begin_rerun(&new(Some(first)), first, 2, &[]).unwrap_err();
    assert_eq!(refused.code(), "no_prefix");
    let gone = RunId(again.0 + 1);
    assert_eq!(data.store.run(gone).unwrap_err().code(), "no_run");
}
