//! How runs of programs and names of tests are written into the log.

use magis_core::{ExcerptedOutput, ProgramRun, TestName};
use magis_evidence::commands::shell_line;
use magis_evidence::results::TestId;
use magis_sandbox::{Captured, End, Outcome};

/// Returns the name of a test: its file, its group and its own, as far as the runner tells them.
pub(crate) fn test_name(id: &TestId) -> TestName {
    let file = id.file.as_deref().unwrap_or_default();
    let parts = [file, &id.group, &id.name];
    let there: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    TestName(there.join("::"))
}

/// Returns the record of a run.
pub(crate) fn program_run(words: &[String], folder: &str, outcome: &Outcome) -> ProgramRun {
    ProgramRun {
        command: shell_line(words),
        folder: folder.to_owned(),
        end: outcome.end.to_string(),
        status: match outcome.end {
            End::Exited(status) => Some(status),
            _ => None,
        },
        took_ms: u32::try_from(outcome.took.as_millis()).unwrap_or(u32::MAX),
        stdout: excerpt(&outcome.stdout),
        stderr: excerpt(&outcome.stderr),
        refused: outcome.refused.iter().map(ToString::to_string).collect(),
    }
}

fn excerpt(captured: &Captured) -> ExcerptedOutput {
    ExcerptedOutput::of(&captured.text(), captured.left_out)
}
