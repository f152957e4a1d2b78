//! What a person allowed to be run, by repository and command.

#![allow(clippy::unwrap_used, reason = "a test says so by failing")]

mod support;

use magis_core::RepoId;
use magis_store::{IsolationTerm, TestPermission};
use support::{Data, repository};

fn permission(command: &str, isolation: IsolationTerm, allowed_at: i64) -> TestPermission {
    TestPermission {
        folder: String::new(),
        command: command.to_owned(),
        isolation,
        allowed_at,
    }
}

#[test]
fn a_permission_holds_for_one_repository_one_folder_and_one_command() {
    let data = Data::new();
    let other: RepoId = data.store.upsert_repository(&repository("/projects/other"), 1).unwrap();
    let allowed = permission("pytest -q", IsolationTerm::Required, 5);
    data.store.allow_tests(data.repo, &allowed).unwrap();
    let known = |repo, folder, command| data.store.test_permission(repo, folder, command).unwrap();
    assert_eq!(known(data.repo, "", "pytest -q"), Some(allowed));
    assert_eq!(known(data.repo, "", "pytest"), None);
    assert_eq!(known(data.repo, "sub", "pytest -q"), None);
    assert_eq!(known(other, "", "pytest -q"), None);
}

#[test]
fn the_last_word_counts_and_can_be_taken_back() {
    let data = Data::new();
    for (command, isolation, at) in [
        ("pytest", IsolationTerm::Required, 1),
        ("make test", IsolationTerm::Required, 2),
        ("pytest", IsolationTerm::Waived, 3),
    ] {
        data.store
            .allow_tests(data.repo, &permission(command, isolation, at))
            .unwrap();
    }
    let all = data.store.test_permissions(data.repo).unwrap();
    let expected = [
        permission("pytest", IsolationTerm::Waived, 3),
        permission("make test", IsolationTerm::Required, 2),
    ];
    assert_eq!(all, expected);
    assert_eq!(data.store.forbid_tests(data.repo).unwrap(), 2);
    assert_eq!(data.store.test_permissions(data.repo).unwrap(), []);
}
