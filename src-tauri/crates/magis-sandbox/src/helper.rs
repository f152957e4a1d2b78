//! The helper process: this program, started again with a hidden word, as [`Sandbox`](crate::Sandbox) does.
//!
//! It has to be reached before the program starts threads, because Linux gives name spaces to processes of one thread only.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// How to start the helper: the program is given, never guessed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelperCommand {
    /// The executable; it must call [`serve`].
    pub program: PathBuf,
    /// Its arguments, a hidden word say.
    pub args: Vec<OsString>,
}

/// Serves as the helper: reads a job from standard input, runs it, reports. To be called first of all in `main`, when the program was
/// started with the word of a [`HelperCommand`]: nothing may be open yet, as what was left open to this process is closed.
pub fn serve() -> ExitCode {
    #[cfg(target_os = "linux")]
    return crate::inside::serve();
    #[cfg(not(target_os = "linux"))]
    ExitCode::FAILURE
}
