//! `magis-app`, the program with a window. Started with a hidden word it is the engine's process, the one that reads a repository, or the helper that runs commands, instead.
//!
//! Everything else is the library's; see `magis_app`.

use magis_app::{Arguments, GIT_WORKER, SANDBOX_HELPER, WORKER};
use magis_engine::model::worker;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let word = std::env::args_os().nth(1).unwrap_or_default();
    if word == SANDBOX_HELPER {
        return magis_engine::sandbox::helper::serve();
    }
    if word == GIT_WORKER {
        return magis_engine::repository::serve_git();
    }
    if word == WORKER {
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

/// Returns what GTK and `WebKitGTK` have to be told before they are loaded. A program cannot safely set its own
/// variables, so it starts itself again with them, in the same process; the user's own words are left alone.
#[cfg(target_os = "linux")]
fn with_a_drawable_window() -> Result<(), String> {
    use std::os::unix::process::CommandExt as _;
    const VARIABLES: [(&str, &str); 2] = [
        // A white window on some drivers.
        ("WEBKIT_DISABLE_DMABUF_RENDERER", "1"),
        // GTK would load the system's OpenGL for what this window never draws with it.
        ("GDK_GL", "disable"),
    ];
    let missing: Vec<_> = VARIABLES
        .into_iter()
        .filter(|(name, _)| std::env::var_os(name).is_none())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let program = std::env::current_exe().map_err(|error| format!("this program cannot find its own file: {error}"))?;
    let failed = std::process::Command::new(program)
        .args(std::env::args_os().skip(1))
        .envs(missing)
        .exec();
    Err(format!("this program cannot start itself again: {failed}"))
}

#[cfg(not(target_os = "linux"))]
fn with_a_drawable_window() -> Result<(), String> {
    Ok(())
}
