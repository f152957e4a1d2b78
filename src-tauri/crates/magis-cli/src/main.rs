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
        match args::Cli::try_parse() {
            Ok(arguments) => commands::run(arguments),
            Err(told) => return tell_of_arguments(&told),
        }
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

/// Prints the help that was asked for, or what is wrong with the arguments, which may have been pasted from anywhere.
fn tell_of_arguments(told: &clap::Error) -> ExitCode {
    // Where the stream is closed, the exit code alone has to do.
    if told.use_stderr() {
        let _ = std::io::stderr().write_all(render::clean(&told.to_string()).as_bytes());
    } else {
        let _ = told.print();
    }
    ExitCode::from(told.exit_code() as u8)
}
