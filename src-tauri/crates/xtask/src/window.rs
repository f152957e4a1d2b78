//! The window: its front end, which npm builds, and its program, which cargo builds with the front end inside.
//!
//! It starts the window and waits for it; what is in there is the program's business.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use crate::network::Network;
use crate::{cargo, folders};

/// Returns whether this session has a display to open a window on.
pub fn has_display() -> bool {
    cfg!(any(target_os = "macos", target_os = "windows"))
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Builds the window and opens it; ends when it is closed.
///
/// # Errors
/// When a part of it cannot be built or started.
pub fn open(arguments: &[OsString]) -> Result<ExitCode> {
    front_end()?;
    let program = cargo::build("magis-app", "magis-app")?;
    println!("Opening the window; this command ends when it is closed.");
    let status = Command::new(&program)
        .args(arguments)
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("starting {}", program.display()))?;
    if !status.success() {
        bail!("the window ended with {status}; its message is above");
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the front end into `ui/dist`, from where the program takes it.
///
/// # Errors
/// When npm fails; its message is above.
pub fn front_end() -> Result<()> {
    packages()?;
    npm(&["run", "--silent", "build"])
}

/// Installs the front end's packages as the lock file has them, unless that was done since it last changed.
///
/// # Errors
/// When npm fails; its message is above.
pub fn packages() -> Result<()> {
    let folder = folder();
    // npm writes this file when it is done.
    let installed = changed(&folder.join("node_modules/.package-lock.json"));
    let wanted = changed(&folder.join("package-lock.json"));
    if installed.is_some() && installed >= wanted {
        return Ok(());
    }
    npm(&["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
}

/// Calls npm in the front end's folder.
///
/// # Errors
/// When it cannot be started or fails.
pub fn npm(arguments: &[&str]) -> Result<()> {
    npm_with(Network::Whole, arguments, &[])
}

/// Calls npm in the front end's folder, with as much of the network and with these variables, which hold paths.
///
/// # Errors
/// When it cannot be started or fails.
pub fn npm_with(network: Network, arguments: &[&str], variables: &[(&str, &Path)]) -> Result<()> {
    println!("$ npm {}", arguments.join(" "));
    let status = network
        .command("npm")
        .args(arguments)
        .current_dir(folder())
        .envs(variables.iter().copied())
        .env("NPM_CONFIG_UPDATE_NOTIFIER", "false")
        .stdin(Stdio::null())
        .status()
        .context("starting npm")?;
    if !status.success() {
        bail!("npm {} failed ({status}); its message is above", arguments.join(" "));
    }
    Ok(())
}

fn folder() -> PathBuf {
    folders::workspace().join("ui")
}

fn changed(file: &Path) -> Option<SystemTime> {
    file.metadata().ok()?.modified().ok()
}
