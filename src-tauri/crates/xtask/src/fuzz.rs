//! `cargo xtask fuzz`: builds `magis-fuzz` and has it try mutated inputs.
//!
//! What is tried, and what counts as a finding, is that crate's to say.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::{FuzzArguments, cargo};

/// Builds the program and carries out a campaign.
///
/// # Errors
/// When the build fails, or the program cannot be started.
pub fn run(arguments: &FuzzArguments) -> Result<ExitCode> {
    let mut command = cargo::cargo();
    command.args([
        "run",
        "--locked",
        "--quiet",
        "--profile",
        "fuzz",
        "--package",
        "magis-fuzz",
    ]);
    command.args(["--", "campaign", "--minutes", &arguments.minutes.to_string()]);
    command.args(["--seed", &arguments.seed.to_string()]);
    if let Some(target) = &arguments.target {
        command.args(["--target", target]);
    }
    let status = command.status().context("starting cargo")?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
