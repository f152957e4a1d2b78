//! The build that is handed on: it runs on any x86-64 machine, and llama.cpp's best variant for the CPU is chosen when it starts.
//! A library for graphics cards (Vulkan) is built beside the variants; it is loaded where there is a driver.
//!
//! Nothing of it depends on the CPU it is built on: the flags of `.cargo/config.toml` are replaced, and the results have a folder of their own.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Programs, vulkan};
use crate::cargo;

/// Where the programs look for their libraries, also for those that these libraries ask for in turn (which a newer kind of entry would not do).
const FLAGS: &str = "-Clink-arg=-Wl,--disable-new-dtags,-rpath,$ORIGIN/../lib/magis";

/// The folder of libraries that compute on other devices, below that of the others.
pub(super) const DEVICES: &str = "devices";
const VULKAN: &str = "ggml-vulkan";

/// The profile of what is handed on.
const PROFILE: &str = "bundle";

/// Builds both programs, and gathers the libraries of llama.cpp in a folder.
///
/// # Errors
/// When the build fails, or a library is not where llama.cpp's build leaves it.
pub fn build(libraries: &Path) -> Result<Programs> {
    let built_before = cargo::target()?.join(cargo::LINUX).join(PROFILE);
    for folder in ["", "deps", "examples"] {
        remove_dead_links(&built_before.join(folder))?;
    }
    let mut build = cargo::cargo();
    if let Some(headers) = vulkan::headers()? {
        build.env("VULKAN_SDK", headers);
    }
    let output = build
        .args(["build", "--locked", "--profile", PROFILE, "--target", cargo::LINUX])
        .args([
            "--package",
            "magis-app",
            "--package",
            "magis-cli",
            "--package",
            "magis-llama",
        ])
        .args(["--bin", "magis-app", "--bin", "magis"])
        .args(["--features", "magis-llama/dynamic-backends"])
        .args(["--message-format", "json-render-diagnostics"])
        .env_remove("RUSTFLAGS")
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS)
        // The libraries find each other by the programs' word, never in the folder they were built in.
        .env("CMAKE_SKIP_RPATH", "ON")
        // By the variable, not by the feature of the same name, which would have the programs ask for Vulkan, too.
        .env("GGML_VULKAN", "ON")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("starting cargo build")?;
    if !output.status.success() {
        bail!("the build failed ({}); cargo's message is above", output.status);
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let program = |name: &str| {
        let path = cargo::executable(&messages, name);
        path.map(PathBuf::from)
            .with_context(|| format!("cargo built no program named {name}"))
    };
    let programs = Programs {
        window: program("magis-app")?,
        terminal: program("magis")?,
        libraries: Some(libraries.to_path_buf()),
    };
    let built = out_folder(&messages).context("cargo names no folder in which llama.cpp was built")?;
    gather(&built, &[&programs.window, &programs.terminal], libraries)?;
    Ok(programs)
}

/// Returns the build script of llama.cpp links its libraries into these folders, and fails in the next build on its own
/// links of the one before.
fn remove_dead_links(folder: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    for entry in entries {
        let path = entry.with_context(|| format!("listing {}", folder.display()))?.path();
        if path.is_symlink() && !path.exists() {
            fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        }
    }
    Ok(())
}

/// Returns the folder of llama.cpp's build, by cargo's messages.
fn out_folder(messages: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["reason"] == "build-script-executed")
        .find(|message| {
            message["package_id"]
                .as_str()
                .is_some_and(|id| id.contains("llama-cpp-sys-2"))
        })
        .and_then(|message| Some(PathBuf::from(message["out_dir"].as_str()?)))
}

/// Copies the variants, and every library of llama.cpp's build that the programs or the variants ask for, under the name they ask for.
fn gather(built: &Path, programs: &[&Path], libraries: &Path) -> Result<()> {
    if libraries.exists() {
        fs::remove_dir_all(libraries).with_context(|| format!("removing {}", libraries.display()))?;
    }
    let devices = libraries.join(DEVICES);
    fs::create_dir_all(&devices).with_context(|| format!("creating {}", devices.display()))?;
    let variants = built.join("backends");
    let mut open: Vec<PathBuf> = programs.iter().map(|program| program.to_path_buf()).collect();
    for entry in fs::read_dir(&variants).with_context(|| format!("listing {}", variants.display()))? {
        let path = entry.with_context(|| format!("listing {}", variants.display()))?.path();
        let name = path.file_name().context("an entry of a folder has a name")?.to_owned();
        // What asks for a driver is looked for where the program tries each alone.
        let folder = if name.to_string_lossy().contains(VULKAN) {
            &devices
        } else {
            libraries
        };
        fs::copy(&path, folder.join(name)).with_context(|| format!("copying {}", path.display()))?;
        open.push(path);
    }
    if open.len() == programs.len() {
        bail!("llama.cpp's build left no variants in {}", variants.display());
    }
    let mut seen = BTreeSet::new();
    while let Some(file) = open.pop() {
        for name in asked_for(&file)? {
            if !["libllama", "libggml"].iter().any(|own| name.starts_with(own)) || !seen.insert(name.clone()) {
                continue;
            }
            let found = find(built, &name)?
                .with_context(|| format!("{} asks for {name}, which the build left nowhere", file.display()))?;
            fs::copy(&found, libraries.join(&name)).with_context(|| format!("copying {}", found.display()))?;
            open.push(found);
        }
    }
    Ok(())
}

/// Returns the libraries that a program or library asks for.
fn asked_for(file: &Path) -> Result<Vec<String>> {
    let output = Command::new("objdump")
        .arg("-p")
        .arg(file)
        .output()
        .context("starting objdump, which comes with the compiler")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let names = text.lines().filter_map(|line| line.trim().strip_prefix("NEEDED"));
    Ok(names.map(|name| name.trim().to_owned()).collect())
}

fn find(folder: &Path, name: &str) -> Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))? {
        let path = entry.with_context(|| format!("listing {}", folder.display()))?.path();
        if path.is_dir() && !path.is_symlink() {
            if let Some(found) = find(&path, name)? {
                return Ok(Some(found));
            }
        } else if path.file_name().is_some_and(|found| found == name) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
