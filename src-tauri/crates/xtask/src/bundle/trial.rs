//! Whether the .deb works on a bare Debian: it is installed into an empty root, and the tests of the real window run on what is there.
//!
//! The root is a folder with Debian's smallest system and what the package itself asks for; the window in it sees loopback and nothing else of the
//! network. Display, window manager and driver stay outside.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::network::{self, Network};
use crate::{cargo, catalog, checks, folders, setup, step};

/// Where the models lie inside the root.
const MODELS: &str = "/models";

/// Installs a package into an empty root and runs the tests of the real window on it.
///
/// # Errors
/// When this machine cannot do that, the package cannot be installed, or a test fails.
pub fn run(package: &Path) -> Result<()> {
    if !setup::is_root() {
        bail!("an empty root can be made and entered by root alone; start this as root");
    }
    if network::least() == Network::Whole {
        bail!("this system allows no name spaces (unshare -rn), and the package is tried inside one");
    }
    let folder = cargo::target()?.join("bundle/trial");
    let root = folder.join("root");
    let mut steps = Vec::new();
    steps.push(step::run("an empty root", || {
        copied(&base()?, &root)?;
        Ok(root.display().to_string())
    }));
    steps.push(step::run("the package installed", || installed(package, &root)));
    if steps.iter().all(|step| step.outcome.is_ok()) {
        steps.push(step::run("the real window of the package", || {
            window(&root, &folder)?;
            Ok(Network::Loopback.remark().to_owned())
        }));
    }
    println!();
    for finished in &steps {
        println!("{}", step::line(finished));
    }
    if steps.iter().any(|step| step.outcome.is_err()) {
        bail!("the package did not pass");
    }
    Ok(())
}

/// Debian's smallest system, of the release of this machine; made once.
fn base() -> Result<PathBuf> {
    let release = fs::read_to_string("/etc/os-release").context("reading /etc/os-release")?;
    let suite = release
        .lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="))
        .context("this system names no Debian release; a package for Debian is tried on Debian")?;
    let base = folders::cache()?.join("roots").join(suite);
    if base.is_dir() {
        return Ok(base);
    }
    let unfinished = base.with_extension("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).with_context(|| format!("removing {}", unfinished.display()))?;
    }
    fs::create_dir_all(&unfinished).with_context(|| format!("creating {}", unfinished.display()))?;
    succeed(
        Command::new("debootstrap")
            .args(["--variant=minbase", suite])
            .arg(&unfinished),
    )?;
    // The driver outside speaks to the web engine inside, so both come from the same lists.
    for name in ["sources.list", "sources.list.d"] {
        let (from, to) = (Path::new("/etc/apt").join(name), unfinished.join("etc/apt"));
        if from.exists() {
            succeed(
                Command::new("cp")
                    .args(["--archive", "--dereference"])
                    .arg(from)
                    .arg(to),
            )?;
        }
    }
    fs::rename(&unfinished, &base).with_context(|| format!("renaming {}", unfinished.display()))?;
    Ok(base)
}

fn copied(base: &Path, root: &Path) -> Result<()> {
    if root.exists() {
        // What is bound there is this machine's own; removing the root must not reach it.
        let mounts = fs::read_to_string("/proc/self/mounts").context("reading /proc/self/mounts")?;
        if mounts.contains(&format!("{}/", root.display())) {
            bail!("something is mounted below {}; unmount it first", root.display());
        }
        fs::remove_dir_all(root).with_context(|| format!("removing the root before, {}", root.display()))?;
    }
    if let Some(parent) = root.parent() {
        fs::create_dir_all(parent).with_context(|| format!("creating {}", parent.display()))?;
    }
    succeed(
        Command::new("cp")
            .args(["--archive", "--reflink=auto"])
            .arg(base)
            .arg(root),
    )
}

/// Installs the package and looks at what it left there.
fn installed(package: &Path, root: &Path) -> Result<String> {
    fs::copy(package, root.join("magis.deb")).with_context(|| format!("copying {}", package.display()))?;
    inside(root, &["apt-get", "update"])?;
    inside(
        root,
        &["apt-get", "install", "--yes", "--no-install-recommends", "/magis.deb"],
    )?;
    for path in [
        "usr/bin/magis",
        "usr/bin/magis-app",
        "usr/share/applications/Magis.desktop",
        "usr/share/doc/magis/copyright",
        "usr/share/icons/hicolor/scalable/apps/magis-app.svg",
    ] {
        if !root.join(path).is_file() {
            bail!("the package has no /{path}");
        }
    }
    // A package that is built for one machine has no libraries at all.
    let libraries = root.join("usr/lib/magis");
    if libraries.is_dir() && !libraries.join("devices/libggml-vulkan.so").is_file() {
        bail!("the package has no library for graphics cards");
    }
    inside(root, &["magis", "--version"])?;
    let libraries = answer(entered(root).args(["ldd", "/usr/bin/magis-app", "/usr/bin/magis"]))?;
    if let Some(missing) = libraries.lines().find(|line| line.contains("not found")) {
        bail!("the package does not ask for {}", missing.trim());
    }
    let size = answer(entered(root).args(["dpkg-query", "--show", "--showformat=${Installed-Size}", "magis"]))?;
    Ok(format!("{} kB of its own", size.trim()))
}

/// Runs the tests on the window inside the root. What they share with it is bound in a name space of mounts that ends with them.
fn window(root: &Path, folder: &Path) -> Result<()> {
    let model = checks::test_model()?;
    let models = root.join(MODELS.trim_start_matches('/'));
    fs::create_dir_all(&models).with_context(|| format!("creating {}", models.display()))?;
    fs::copy(&model, models.join(catalog::file(catalog::TEST_MODEL)?)).context("copying the test model")?;
    let tests = folders::workspace().join("ui/tests");
    fs::create_dir_all(root.join(relative(&tests))).context("making room for the tests' files in the root")?;
    let program = folder.join("magis-app");
    write_program(
        &program,
        &format!("exec chroot {} /usr/bin/magis-app \"$@\"", quoted(root)),
    )?;
    let mut binds = String::from("set -e\n");
    for shared in [
        Path::new("/proc"),
        Path::new("/dev"),
        Path::new("/tmp"),
        tests.as_path(),
    ] {
        let at = root.join(relative(shared));
        binds.push_str(&format!("mount --rbind {} {}\n", quoted(shared), quoted(&at)));
    }
    let bound = folder.join("with-binds");
    write_program(&bound, &format!("{binds}exec \"$@\""))?;
    succeed(
        Network::Loopback
            .command("unshare")
            .arg("--mount")
            .arg(&bound)
            .args(["npm", "run", "--silent", "desktop"])
            .current_dir(folders::workspace().join("ui"))
            .env("MAGIS_APP", &program)
            .env("MAGIS_MODELS_DIR", MODELS),
    )
}

fn relative(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

fn write_program(path: &Path, lines: &str) -> Result<()> {
    fs::write(path, format!("#!/bin/sh\n{lines}\n")).with_context(|| format!("writing {}", path.display()))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).with_context(|| format!("writing {}", path.display()))
}

fn inside(root: &Path, words: &[&str]) -> Result<()> {
    succeed(
        entered(root)
            .args(words)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("LC_ALL", "C.UTF-8"),
    )
}

/// Returns the root as a system of its own: programs find their libraries by their own place, which /proc tells them.
fn entered(root: &Path) -> Command {
    let mut command = Command::new("unshare");
    command
        .args([
            "--mount",
            "sh",
            "-c",
            "mount -t proc proc \"$0/proc\" && exec chroot \"$0\" \"$@\"",
        ])
        .arg(root);
    command
}

fn answer(command: &mut Command) -> Result<String> {
    let output = command.output().context("starting unshare")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn succeed(command: &mut Command) -> Result<()> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let typed = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    println!("$ {typed}");
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("starting {typed}"))?;
    if !status.success() {
        bail!("{typed} failed ({status}); its message is above");
    }
    Ok(())
}
