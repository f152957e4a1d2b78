//! `magis-eval`: solves sets of issues and measures the recorded runs.
//!
//! Here a command line becomes calls of the engine and of this crate's library, which holds the measures. Start with
//! `args` for what can be typed and `commands` for what happens then.

mod args;
mod commands;

use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::run(args::EvalCli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("magis-eval: {error:#}");
            ExitCode::FAILURE
        }
    }
}
