//! The kept inputs and some hundred mutated ones of each target: no finding. A campaign is longer: `cargo xtask fuzz`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use magis_fuzz::campaign::folder_in_memory;
use magis_fuzz::target::TargetName;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Tries the kept inputs and mutated ones, `inputs` in all, in a process of their own with a limit of memory.
fn check(target: TargetName, inputs: u32) {
    let place = folder_in_memory().unwrap();
    let findings = place.path().join("findings");
    let output = Command::new(env!("CARGO_BIN_EXE_magis-fuzz"))
        .args(["work", "--target", target.name(), "--seed", "1", "--seconds", "600"])
        .args(["--inputs", &inputs.to_string(), "--memory", &(1_u64 << 30).to_string()])
        .arg("--place")
        .arg(place.path())
        .arg("--findings")
        .arg(&findings)
        .env("TMPDIR", place.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "it ended with {}: {said}", output.status);
    assert_eq!(found(&findings), Vec::<String>::new());
    let (counts, _) = magis_fuzz::case_file::read(&place.path().join("case")).unwrap();
    assert!(counts.inputs >= u64::from(inputs) && counts.kept > 1, "{counts:?}");
}

fn found(findings: &Path) -> Vec<String> {
    let entries = fs::read_dir(findings).into_iter().flatten().flatten();
    let said = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|is| is == "txt"));
    said.map(|path| format!("{}: {}", path.display(), fs::read_to_string(&path).unwrap()))
        .collect()
}

#[test]
fn changed_repositories_are_read_and_patched_without_a_finding() {
    check(TargetName::Repository, 100);
}

#[test]
fn files_of_an_issue_are_looked_for_in_changed_repositories_without_a_finding() {
    check(TargetName::Locate, 60);
}

#[test]
fn mutated_patches_are_read_and_placed_without_a_finding() {
    check(TargetName::Patch, 1_000);
}

#[test]
fn mutated_texts_are_compared_without_a_finding() {
    check(TargetName::Diff, 300);
}

#[test]
fn mutated_runs_are_taken_in_without_a_finding() {
    check(TargetName::RunArchive, 1_000);
}

#[test]
fn mutated_memories_are_taken_in_without_a_finding() {
    check(TargetName::MemoryFile, 1_000);
}

#[test]
fn mutated_model_files_are_read_without_a_finding() {
    check(TargetName::GgufHeader, 1_000);
}

#[test]
fn conversations_are_written_in_the_form_of_mutated_templates_without_a_finding() {
    check(TargetName::ChatTemplate, 500);
}

#[test]
fn mutated_lines_between_the_models_worker_and_its_parent_are_read_without_a_finding() {
    check(TargetName::ModelProtocol, 1_000);
}

#[test]
fn mutated_answers_of_a_git_worker_are_read_without_a_finding() {
    check(TargetName::GitAnswers, 100);
}

#[test]
fn mutated_questions_to_a_git_worker_are_answered_without_a_finding() {
    check(TargetName::GitRequests, 200);
}

#[test]
fn mutated_issues_are_read_without_a_finding() {
    check(TargetName::Issue, 300);
}

#[test]
fn mutated_test_reports_are_read_without_a_finding() {
    check(TargetName::TestReport, 1_000);
}

#[test]
fn mutated_source_texts_are_read_without_a_finding() {
    check(TargetName::Source, 150);
}
