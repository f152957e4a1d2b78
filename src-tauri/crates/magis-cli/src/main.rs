//! `magis`, the program without a window: solves issues, shows past runs, applies patches.
//!
//! Here a command line becomes a call of the engine, and what comes back becomes text. It holds no prompt, no SQL and no git; those are the
//! engine's. Start with `args` for what can be typed and `commands` for what happens then.

mod args;
mod commands;
mod estimate;
mod exit;
mod failure;
mod render;
mod screen;
mod status;

use clap::Parser as _;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    match commands::run(cli) {
        Ok(code) => code,
        Err(failure) => {
            // Where standard error is closed, the exit code alone has to do.
            let _ = std::io::stderr().write_all(failure.message().as_bytes());
            failure.exit().into()
        }
    }
}
