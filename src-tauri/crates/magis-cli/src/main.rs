//! `magis`, the program without a window: solves issues, shows past runs, applies patches.
//!
//! Here a command line becomes a call of the engine, and what comes back becomes text. It holds no prompt, no SQL and no git; those are the
//! engine's. Start with `args` for what can be typed and `commands` for what happens then.

mod args;
mod commands;
mod exit;
mod failure;
mod render;
mod screen;
mod status;

use clap::Parser as _;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let word = std::env::args_os().nth(1).unwrap_or_default();
    let ended = if word == commands::SANDBOX_HELPER {
        Ok(magis_engine::sandbox::helper::serve())
    } else if word == commands::GIT_WORKER {
        Ok(magis_engine::repository::serve_git())
    } else if word == commands::WORKER {
        commands::serve_as_worker()
    } else {
        commands::run(args::Cli::parse())
    };
    match ended {
        Ok(code) => code,
        Err(failure) => {
            // Where standard error is closed, the exit code alone has to do.
            let _ = std::io::stderr().write_all(failure.message().as_bytes());
            failure.exit().into()
        }
    }
}
