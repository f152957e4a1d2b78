//! The worker process: reads requests from standard input, computes, answers on standard output.

use std::io::{BufRead, Write};
use std::process::ExitCode;

/// Serves requests until its input closes or a shutdown comes.
pub fn run(input: impl BufRead + Send + 'static, output: impl Write + Send + 'static) -> ExitCode {
    let _ = (input, output);
    ExitCode::SUCCESS
}
