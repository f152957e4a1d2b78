//! What a person decided about programs that a repository names.

#![allow(clippy::unwrap_used, reason = "a test says so by failing")]

mod support;

use magis_core::RepoId;
use magis_store::KeptDecision;
use support::{Data, repository};

fn kept(program: &str, decision: &str, decided_at: i64) -> KeptDecision {
    KeptDecision {
        program: program.to_owned(),
        decision: decision.to_owned(),
        decided_at,
    }
}

#[test]
fn a_decision_holds_for_one_repository_until_it_is_forgotten() {
    let data = Data::new();
    let other: RepoId = data.store.upsert_repository(&repository("/projects/other"), 1).unwrap();
    let decisions = |repo| data.store.program_decisions(repo).unwrap();
    data.store
        .keep_program_decisions(data.repo, &[kept("hook", "leave_out", 1), kept("signer", "run", 2)])
        .unwrap();
    data.store
        .keep_program_decisions(data.repo, &[kept("hook", "run", 3)])
        .unwrap();
    assert_eq!(decisions(data.repo), [kept("signer", "run", 2), kept("hook", "run", 3)]);
    assert_eq!(decisions(other), []);
    assert_eq!(data.store.forget_program_decisions(data.repo).unwrap(), 2);
    assert_eq!(decisions(data.repo), []);
}
