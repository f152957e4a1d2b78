//! `cargo xtask fuzz`: builds `magis-fuzz` and has it try mutated inputs.
//!
//! What is tried, and what counts as a finding, is that crate's to say.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::{FuzzArguments, cargo};

/// Compiles what is C for `AddressSanitizer`, and links its runtime. Rust itself can only be compiled so by an unreleased compiler; what it allocates for C and
/// gets from it is watched all the same, as one allocator serves both.
const FOR_C: &str = "-fsanitize=address -fno-omit-frame-pointer -g1";
const FOR_RUST: &str = "-Clink-arg=-fsanitize=address -Cdefault-linker-libraries=yes";

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
    if arguments.sanitize {
        // With the system named, build scripts and macros are compiled as ever.
        command
            .args(["--target", cargo::LINUX, "--target-dir"])
            .arg(cargo::target()?.join("sanitized"));
        command.env("RUSTFLAGS", FOR_RUST);
        for variable in ["CFLAGS", "CXXFLAGS"] {
            command.env(format!("{variable}_{}", cargo::LINUX.replace('-', "_")), FOR_C);
        }
        // What is never freed at the end of a process is no finding; a fault ends the process, which its parent sees.
        command.env(
            "ASAN_OPTIONS",
            "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1",
        );
    }
    command.args(["--", "campaign", "--minutes", &arguments.minutes.to_string()]);
    command.args(["--seed", &arguments.seed.to_string()]);
    if let Some(target) = &arguments.target {
        command.args(["--target", target]);
    }
    if arguments.sanitize {
        command.arg("--sanitised");
    }
    let status = command.status().context("starting cargo")?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
