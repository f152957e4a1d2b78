//! `magis-app`, the program with a window. Started with a hidden word it is the engine's process instead.
//!
//! Everything else is the library's; see `magis_app`.

use magis_app::{Arguments, WORKER};
use magis_engine::floors::llama::worker;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == WORKER) {
        return worker::run(std::io::BufReader::new(std::io::stdin()), std::io::stdout().lock());
    }
    let opened = match Arguments::read(std::env::args_os().skip(1)) {
        Ok(arguments) => with_a_drawable_window().and_then(|()| magis_app::run(arguments)),
        Err(said) => Err(said),
    };
    match opened {
        Ok(()) => ExitCode::SUCCESS,
        Err(said) => {
            // Where standard error is closed, the exit code alone has to do.
            let _ = writeln!(std::io::stderr(), "error: {said}");
            ExitCode::FAILURE
        }
    }
}

/// `WebKitGTK` shows a white window on some drivers unless this is set before it is loaded. A program cannot safely set its
/// own variables, so it starts itself again with the variable, in the same process; the user's own word is left alone.
#[cfg(target_os = "linux")]
fn with_a_drawable_window() -> Result<(), String> {
    use std::os::unix::process::CommandExt as _;
    const VARIABLE: &str = "WEBKIT_DISABLE_DMABUF_RENDERER";
    if std::env::var_os(VARIABLE).is_some() {
        return Ok(());
    }
    let program = std::env::current_exe().map_err(|error| format!("this program cannot find its own file: {error}"))?;
    let failed = std::process::Command::new(program)
        .args(std::env::args_os().skip(1))
        .env(VARIABLE, "1")
        .exec();
    Err(format!("this program cannot start itself again: {failed}"))
}

#[cfg(not(target_os = "linux"))]
fn with_a_drawable_window() -> Result<(), String> {
    Ok(())
}
