//! `cargo xtask bundle`: the packages that are handed to others, with the licences of everything inside.
//!
//! Packing is Tauri's, by `tauri.conf.json`; what only this machine knows (paths, the C library's version) is added here. It downloads nothing but
//! packages of the registries. Whether a package works is shown by [`trial`].

mod licences;
mod portable;
pub mod trial;
mod vulkan;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::step::{self, Finished};
use crate::{cargo, folders, tools, window};

/// Where the package holds the licences.
const DEBIAN_LICENCES: &str = "/usr/share/doc/magis/copyright";
const FEDORA_LICENCES: &str = "/usr/share/licenses/magis/LICENSE";

/// How the programs are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// To be handed on: for any x86-64 machine.
    Portable,
    /// As the tests build them, for this machine alone.
    Dev,
}

/// What the packages are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Programs {
    window: PathBuf,
    /// The program in the terminal.
    terminal: PathBuf,
    /// A folder of libraries that both load; none where everything is inside them.
    libraries: Option<PathBuf>,
}

/// The packages that were built, by kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packages {
    /// For Debian and its family.
    pub deb: PathBuf,
    /// For Fedora and its family.
    pub rpm: PathBuf,
}

/// Makes the packages.
///
/// # Errors
/// When something cannot be built, a licence is not there, or Tauri cannot pack.
pub fn make(build: Build) -> Result<Packages> {
    if !cfg!(target_os = "linux") {
        bail!(
            "a .deb and an .rpm are made on Linux; for this system Tauri packs by src-tauri/tauri.conf.json, with targets of its own"
        );
    }
    let mut steps = Vec::new();
    let made = steps_to_packages(build, &mut steps);
    println!();
    for finished in &steps {
        println!("{}", step::line(finished));
    }
    made
}

fn steps_to_packages(build: Build, steps: &mut Vec<Finished>) -> Result<Packages> {
    let folder = cargo::target()?.join("bundle");
    step::kept(steps, "front end", || Ok((String::new(), window::front_end()?)))?;
    let programs = step::kept(steps, "programs", || {
        Ok(match build {
            Build::Portable => (
                "for any x86-64 machine".to_owned(),
                portable::build(&folder.join("libraries"))?,
            ),
            Build::Dev => (
                "for this machine alone".to_owned(),
                Programs {
                    window: cargo::built_with_tests("magis-app")?,
                    terminal: cargo::built_with_tests("magis")?,
                    libraries: None,
                },
            ),
        })
    })?;
    let licences = step::kept(steps, "licences of everything inside", || {
        let found = licences::collect(&["magis-app", "magis-cli"])?;
        let file = folder.join("LICENSES.txt");
        fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
        fs::write(&file, &found.text).with_context(|| format!("writing {}", file.display()))?;
        Ok((format!("{} works of others, {} texts", found.works, found.texts), file))
    })?;
    step::kept(steps, "packages", || {
        let packages = pack(&folder, &programs, &licences)?;
        Ok((
            format!("{}; {}", described(&packages.deb)?, described(&packages.rpm)?),
            packages,
        ))
    })
}

/// Lets Tauri pack the programs, from a folder that looks to it as if cargo had built there.
fn pack(folder: &Path, programs: &Programs, licences: &Path) -> Result<Packages> {
    let built = folder.join("release");
    if built.exists() {
        fs::remove_dir_all(&built).with_context(|| format!("removing the packages before, {}", built.display()))?;
    }
    fs::create_dir_all(&built).with_context(|| format!("creating {}", built.display()))?;
    let window = built.join("magis-app");
    fs::copy(&programs.window, &window).with_context(|| format!("copying {}", programs.window.display()))?;
    let configuration = configuration(programs, licences, needed_libc(&with_libraries(programs)?)?);
    let status = cargo::in_checkout(tools::obtain(&tools::TAURI)?)
        .args([
            "bundle",
            "--ci",
            "--no-binary-patching",
            "--no-sign",
            "--bundles",
            "deb,rpm",
        ])
        .arg("--config")
        .arg(configuration.to_string())
        .current_dir(folders::workspace().join("src-tauri"))
        .env("CARGO_TARGET_DIR", folder)
        .stdin(Stdio::null())
        .status()
        .context("starting tauri bundle")?;
    if !status.success() {
        bail!("tauri bundle failed ({status}); its message is above");
    }
    Ok(Packages {
        deb: only_file(&built.join("bundle/deb"), "deb")?,
        rpm: only_file(&built.join("bundle/rpm"), "rpm")?,
    })
}

/// Returns what is added to `tauri.conf.json`. A list there would be replaced, so the lists' own parts are read from
/// it.
fn configuration(programs: &Programs, licences: &Path, libc: Version) -> Value {
    let icon = folders::workspace().join("icons/icon.svg");
    let files = |of_licences: &str| {
        let mut files = json!({
            "/usr/bin/magis": programs.terminal,
            "/usr/share/icons/hicolor/scalable/apps/magis-app.svg": icon,
            of_licences: licences,
        });
        if let Some(libraries) = &programs.libraries {
            files["/usr/lib/magis"] = json!(libraries);
        }
        files
    };
    let Version(major, minor) = libc;
    json!({ "bundle": { "linux": {
        "deb": {
            "files": files(DEBIAN_LICENCES),
            "depends": ["git", "libgomp1", "libstdc++6", format!("libc6 (>= {major}.{minor})")],
            // For graphics cards; without it the processor computes.
            "recommends": ["libvulkan1"],
        },
        "rpm": {
            "files": files(FEDORA_LICENCES),
            "depends": ["git", "libgomp", "libstdc++", format!("libc.so.6(GLIBC_{major}.{minor})(64bit)")],
            "recommends": ["vulkan-loader"],
        },
    } } })
}

/// A version of the C library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Version(u32, u32);

fn with_libraries(programs: &Programs) -> Result<Vec<PathBuf>> {
    let mut files = vec![programs.window.clone(), programs.terminal.clone()];
    if let Some(folder) = &programs.libraries {
        for folder in [folder.clone(), folder.join(portable::DEVICES)] {
            for entry in fs::read_dir(&folder).with_context(|| format!("listing {}", folder.display()))? {
                let path = entry.with_context(|| format!("listing {}", folder.display()))?.path();
                if path.is_file() {
                    files.push(path);
                }
            }
        }
    }
    Ok(files)
}

/// Returns the oldest C library that has everything the programs ask it for.
fn needed_libc(programs: &[PathBuf]) -> Result<Version> {
    let mut newest = None;
    for program in programs {
        let output = Command::new("objdump")
            .arg("-T")
            .arg(program)
            .output()
            .context("starting objdump, which comes with the compiler")?;
        if !output.status.success() {
            bail!("objdump cannot read {}", program.display());
        }
        newest = newest.max(newest_libc(&String::from_utf8_lossy(&output.stdout)));
    }
    newest.context("the programs ask for no version of the C library")
}

/// Returns the newest version among symbols such as `(GLIBC_2.34) pthread_create`.
fn newest_libc(symbols: &str) -> Option<Version> {
    let versions = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let version = rest
            .split(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .next()?;
        let mut numbers = version.split('.').map(str::parse::<u32>);
        Some(Version(numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    versions.max()
}

fn only_file(folder: &Path, extension: &str) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|found| found == extension))
        .with_context(|| format!("tauri bundle left no .{extension} in {}", folder.display()))
}

fn described(package: &Path) -> Result<String> {
    let bytes = package
        .metadata()
        .with_context(|| format!("reading {}", package.display()))?
        .len();
    Ok(format!("{} ({:.1} MB)", package.display(), bytes as f64 / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_c_library_that_is_asked_for_counts() {
        let symbols = "0000 DF *UND* 0000 (GLIBC_2.34) pthread_create\n0000 DF *UND* 0000 (GLIBC_2.9) pipe2\n0000 (GLIBCXX_3.4.30) x\n";
        assert_eq!(newest_libc(symbols), Some(Version(2, 34)));
        assert_eq!(newest_libc("no symbols"), None);
    }
}
