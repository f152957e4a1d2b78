//! Cargo as a child: the same cargo that started xtask, without the variables it set for xtask alone.
//!
//! It does not interpret what the checks say.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::folders;

/// Returns a call of cargo in the checkout.
pub fn cargo() -> Command {
    in_checkout(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns a call of another program in the checkout, with a clean environment for the cargo it may start.
pub fn in_checkout(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folders::workspace());
    // Build scripts may watch these; if they changed with the way cargo is started, each start would build again.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") || text == "CARGO_BIN_NAME" {
            command.env_remove(&name);
        }
    }
    command
}

/// Builds a program of a package as it is used, and returns its path.
///
/// # Errors
/// When the build fails; cargo has printed why.
pub fn build(package: &str, program: &str) -> Result<PathBuf> {
    built(
        cargo().args(["build", "--locked", "--release", "--package", package]),
        program,
    )
}

/// Returns the path of a program as the tests have it: features are those of the whole workspace with its tests, so a
/// build for the tests is used again.
///
/// # Errors
/// When it has to be built and the build fails; cargo has printed why.
pub fn built_with_tests(program: &str) -> Result<PathBuf> {
    built(cargo().args(["test", "--locked", "--workspace", "--no-run"]), program)
}

/// Carries out a build and looks for a program among what it made.
fn built(command: &mut Command, program: &str) -> Result<PathBuf> {
    let output = command
        .args(["--message-format", "json-render-diagnostics"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("starting cargo")?;
    if !output.status.success() {
        bail!(
            "building {program} failed ({}); cargo's message is above",
            output.status
        );
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let path = executable(&messages, program).with_context(|| format!("cargo built no program named {program}"))?;
    Ok(PathBuf::from(path))
}

/// Returns the folder that builds go to.
///
/// # Errors
/// When cargo cannot be asked.
pub fn target() -> Result<PathBuf> {
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .stderr(Stdio::inherit())
        .output()
        .context("starting cargo metadata")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("reading the JSON of cargo metadata")?;
    let folder = metadata["target_directory"].as_str();
    Ok(PathBuf::from(folder.context("cargo metadata names no target folder")?))
}

/// The system that packages are made for here.
pub const LINUX: &str = "x86_64-unknown-linux-gnu";

/// The systems the program is for; what a package takes along on others is not ours.
const PLATFORMS: [&str; 3] = [LINUX, "aarch64-apple-darwin", "x86_64-pc-windows-msvc"];

/// Returns the metadata of the workspace with its whole dependency graph.
///
/// # Errors
/// When cargo fails or the lock file is out of date.
pub fn metadata() -> Result<Value> {
    metadata_for(&PLATFORMS)
}

/// As [`metadata`], for these systems.
///
/// # Errors
/// When cargo fails or the lock file is out of date.
pub fn metadata_for(platforms: &[&str]) -> Result<Value> {
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(platforms.iter().flat_map(|platform| ["--filter-platform", platform]))
        .stderr(Stdio::inherit())
        .output()
        .context("starting cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata failed ({}); its message is above", output.status);
    }
    serde_json::from_slice(&output.stdout).context("reading the JSON of cargo metadata")
}

/// Returns the last path that cargo's messages give for a program of this name; its own tests are a program of that
/// name too.
pub fn executable(messages: &str, name: &str) -> Option<String> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == name && message["profile"]["test"] != true)
        .filter_map(|message| message["executable"].as_str().map(str::to_owned))
        .next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_is_found_among_the_messages_of_a_build() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"magis_core"},"executable":null}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"magis"},"executable":"/t/release/magis"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"magis"},"profile":{"test":true},"executable":"/t/deps/magis-1"}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(executable(messages, "magis").as_deref(), Some("/t/release/magis"));
        assert_eq!(executable(messages, "other"), None);
    }
}
