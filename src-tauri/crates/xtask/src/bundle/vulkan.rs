//! The headers that llama.cpp's Vulkan library is compiled with: the system's, or newer ones where the system's are too old.
//!
//! Debian 12 has headers of 2023, in which an extension is missing that llama.cpp names. The next release has them; the package is taken
//! from the archive that this machine uses, and unpacked into the cache, so that nothing of the system is replaced.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{folders, setup};

/// The first version with all that llama.cpp names.
const ENOUGH: &str = "1.3.272";
/// The package that is taken otherwise.
const SUITE: &str = "trixie";
const PACKAGE: &str = "libvulkan-dev";
const VERSION: &str = "1.4.309.0-1";
const SHA256: &str = "8d329d465e16168afff58b1bd0dd6db46aac2cc3f56054a481b25a04e90b345a";

/// Returns the folder that has newer headers than the system, in the form of a Vulkan SDK; none where the system's will do.
///
/// # Errors
/// When the system's are too old, and newer ones cannot be had.
pub fn headers() -> Result<Option<PathBuf>> {
    if setup::answers("pkg-config", &["--atleast-version", ENOUGH, "vulkan"]) {
        return Ok(None);
    }
    let folder = folders::cache()?.join("vulkan").join(VERSION);
    if !folder.is_dir() {
        let unfinished = folder.with_extension("unfinished");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished).with_context(|| format!("removing {}", unfinished.display()))?;
        }
        fs::create_dir_all(unfinished.join("lists/partial")).context("making room for the Vulkan headers")?;
        let package = downloaded(&unfinished).with_context(|| {
            format!("the Vulkan headers of this system are older than {ENOUGH}, and Debian's package {PACKAGE} {VERSION} cannot be had; install newer ones")
        })?;
        succeed(
            Command::new("dpkg")
                .arg("-x")
                .arg(&package)
                .arg(unfinished.join("unpacked")),
        )?;
        fs::rename(unfinished.join("unpacked"), &folder)
            .with_context(|| format!("renaming to {}", folder.display()))?;
        fs::remove_dir_all(&unfinished).with_context(|| format!("removing {}", unfinished.display()))?;
    }
    Ok(Some(folder.join("usr")))
}

/// Downloads the package into a folder through apt, which checks its signature, and compares its hash.
fn downloaded(folder: &Path) -> Result<PathBuf> {
    let sources = folder.join("sources.list");
    fs::write(
        &sources,
        format!(
            "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {} {SUITE} main\n",
            archive()?
        ),
    )
    .with_context(|| format!("writing {}", sources.display()))?;
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .arg(format!("-oDir::Etc::sourcelist={}", sources.display()))
            .arg("-oDir::Etc::sourceparts=-")
            .arg(format!("-oDir::State::Lists={}", folder.join("lists").display()))
            .arg("-oDir::Cache::pkgcache=")
            .arg("-oDir::Cache::srcpkgcache=")
            .args(arguments)
            .current_dir(folder);
        succeed(&mut command)
    };
    apt(&["update"])?;
    apt(&["download", &format!("{PACKAGE}={VERSION}")])?;
    let entries = fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
    let package = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .context("apt-get left no package")?;
    let output = Command::new("sha256sum")
        .arg(&package)
        .output()
        .context("starting sha256sum")?;
    if !String::from_utf8_lossy(&output.stdout).starts_with(SHA256) {
        bail!("{} is another file than the one that was looked at", package.display());
    }
    Ok(package)
}

/// Returns the address of the archive that this machine has Debian's own packages from.
fn archive() -> Result<String> {
    let output = Command::new("apt-get")
        .args([
            "indextargets",
            "--format",
            "$(ORIGIN) $(COMPONENT) $(REPO_URI)",
            "Created-By: Packages",
        ])
        .output()
        .context("starting apt-get")?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .filter_map(|line| line.strip_prefix("Debian main "))
        .map(str::trim)
        .find(|address| address.trim_end_matches('/').ends_with("/debian"))
        .map(str::to_owned)
        .context("this system has no packages from Debian")
}

fn succeed(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("starting {program}"))?;
    if !status.success() {
        bail!("{program} failed ({status}); its message is above");
    }
    Ok(())
}
