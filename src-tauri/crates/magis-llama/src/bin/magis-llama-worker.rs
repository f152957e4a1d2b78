//! A worker process and nothing else. The application starts its own executable as a worker; this one serves tests and
//! measurements of this crate.

use std::io::{BufReader, stdin, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    magis_llama::worker::run(BufReader::new(stdin()), stdout())
}
