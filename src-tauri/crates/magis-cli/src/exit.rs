//! What the program's exit codes mean: the only place that says so, for `--help` as well.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitStatus {
    /// It did what was asked; a run ended in a patch whose every task was approved.
    Success = 0,
    /// Something went wrong; standard error says what.
    Error = 1,
    /// The command line cannot be understood.
    Usage = 2,
    /// A run ended in a patch that its review did not approve.
    NotApproved = 3,
    /// A run ended without a change.
    NoChange = 4,
    /// A patch does not apply, or cannot be taken back, because files have changed.
    Conflict = 5,
    /// Stopped by Ctrl-C; a run that was under way is saved.
    Stopped = 130,
}

impl ExitStatus {
    const ALL: [Self; 7] = [
        Self::Success,
        Self::Error,
        Self::Usage,
        Self::NotApproved,
        Self::NoChange,
        Self::Conflict,
        Self::Stopped,
    ];

    fn meaning(self) -> &'static str {
        match self {
            Self::Success => "success; a run ended in a patch that its model review passed",
            Self::Error => "error; the message says what to do",
            Self::Usage => "the command line cannot be understood",
            Self::NotApproved => "a run ended in a patch that its model review did not pass",
            Self::NoChange => "a run ended without a change, and says why",
            Self::Conflict => "a patch does not apply, or cannot be taken back, because files have changed",
            Self::Stopped => "stopped by Ctrl-C; the run is saved and can be resumed",
        }
    }

    /// Returns all codes with their meaning, for the end of a help text.
    pub fn table() -> String {
        let row = |status: Self| format!("  {:>3}  {}\n", status as u8, status.meaning());
        format!("Exit codes:\n{}", Self::ALL.map(row).concat())
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}
