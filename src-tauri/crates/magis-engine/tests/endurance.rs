//! Random work on a repository while its watcher is killed again and again: the index and the memory are right afterwards.
//! The long form: `cargo test -p magis-engine --test endurance -- --ignored --nocapture`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

#[path = "environment/endurance.rs"]
mod endurance;

use endurance::{Plan, Report, endure, watch_until_killed};
use std::process::Command;

const FOLDER: &str = "MAGIS_TEST_ENDURANCE_FOLDER";

/// Not a test of its own: the process that watches. Without its variable it has nothing to do.
#[tokio::test(flavor = "multi_thread")]
async fn program_to_be_killed() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        watch_until_killed(folder.as_ref()).await;
    }
}

fn check(plan: Plan) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let watcher = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "program_to_be_killed", "--nocapture"])
            .env(FOLDER, folder.path());
        command
    };
    let report = endure(folder.path(), plan, &watcher);
    assert_eq!(report.kills, plan.kills);
    assert!(report.updates > plan.kills && report.summaries > 0, "{report:?}");
    report
}

#[test]
fn after_random_work_and_kills_the_index_answers_as_one_made_from_nothing() {
    for seed in [1, 2] {
        check(Plan {
            seed,
            operations: 60,
            kills: 3,
            stops: 1,
        });
    }
}

#[test]
#[ignore = "takes minutes"]
fn after_five_thousand_operations_and_twenty_kills_too() {
    let report = check(Plan {
        seed: 5,
        operations: 5_000,
        kills: 20,
        stops: 10,
    });
    println!("{report:#?}");
}
