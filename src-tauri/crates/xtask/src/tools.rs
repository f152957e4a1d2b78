//! The Rust tools that the checks call: an installed one, else one built into the cache.
//!
//! It knows how to get them, not how they are called.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::{cargo, folders, setup};

/// A program from the registry, pinned.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    pub package: &'static str,
    /// The program it has.
    pub program: &'static str,
    /// The version that is built when none is installed.
    pub version: &'static str,
    /// Arguments that print a version, to see whether it works.
    pub probe: &'static [&'static str],
}

/// Licences, bans and sources of the dependencies.
pub const DENY: Tool = Tool {
    package: "cargo-deny",
    program: "cargo-deny",
    version: "0.20.2",
    probe: &["--version"],
};

/// The test runner, cargo-nextest.
pub const NEXTEST: Tool = Tool {
    package: "cargo-nextest",
    program: "cargo-nextest",
    version: "0.9.143",
    probe: &["nextest", "--version"],
};

/// The packer of the window's program, tauri-cli.
pub const TAURI: Tool = Tool {
    package: "tauri-cli",
    program: "cargo-tauri",
    version: "2.12.4",
    probe: &["--version"],
};

/// Returns the path of a tool that works: installed by the user, or in the cache, or built there now.
///
/// # Errors
/// When it has to be built and the build fails.
pub fn obtain(tool: &Tool) -> Result<PathBuf> {
    let ours = folders::cache()?.join("tools");
    let built = ours.join("bin").join(tool.program);
    for candidate in [PathBuf::from(tool.program), built.clone()] {
        if setup::answers(&candidate, tool.probe) {
            return Ok(candidate);
        }
    }
    println!(
        "{} is not installed: building {} into {}",
        tool.package,
        tool.version,
        ours.display()
    );
    let status = cargo::cargo()
        .args(["install", "--locked", "--version", tool.version, "--root"])
        .arg(&ours)
        // A place of its own that stays, so that an interrupted build goes on.
        .arg("--target-dir")
        .arg(ours.join("build"))
        .arg(tool.package)
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("starting cargo install for {}", tool.package))?;
    if !status.success() {
        bail!(
            "building {} {} failed ({status}); cargo's message is above",
            tool.package,
            tool.version
        );
    }
    Ok(built)
}
