//! What the build needs of the machine beside Rust: finding out what is missing, and on Debian installing it.
//!
//! On other systems it names the packages and stops. It installs no Rust tools ([`crate::tools`]) and no models.

mod needs;

pub use needs::answers;
use needs::{NEEDS, Need, System, missing, system};

use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Whether installing packages has been agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Ask, where somebody is there to answer.
    Ask,
    Given,
}

/// What is going to be built or run; each takes what those before it take, and more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SetupPurpose {
    /// The program in the terminal.
    Headless,
    Window,
    /// Packages that are handed on, with libraries for graphics cards.
    Packages,
    /// The window under test, in a browser and on a display of its own.
    WindowTests,
    /// Packages under test, in a root of their own.
    PackageTests,
}

impl SetupPurpose {
    /// Returns whether this takes what is needed for another purpose. Tests of the window need no packages.
    fn takes(self, other: Self) -> bool {
        other <= self && (other != Self::Packages || self != Self::WindowTests)
    }
}

/// Makes sure that the build can begin.
///
/// # Errors
/// When something is missing and cannot be installed here, or the person says no; the message has the packages' names.
pub fn prepare(purpose: SetupPurpose, consent: Consent) -> Result<()> {
    let system = system();
    // What a system has by itself has no package there.
    let needed = |need: &Need| purpose.takes(need.purpose) && !need.package(system).is_empty();
    let needs: Vec<Need> = NEEDS.into_iter().filter(needed).collect();
    let missing = missing(&needs);
    if missing.is_empty() {
        let names: Vec<&str> = needs.iter().map(|need| need.what).collect();
        println!("System packages: all there ({}).", names.join(", "));
        return Ok(());
    }
    println!(
        "Missing on this machine: {}.",
        missing.iter().map(|need| need.what).collect::<Vec<_>>().join(", ")
    );
    let command = install_command(system, &missing);
    if system != System::Debian {
        bail!("these packages have to be there before the build; install them and start again:\n    {command}");
    }
    if consent == Consent::Ask && io::stdin().is_terminal() && !agreed(&command)? {
        bail!("nothing was installed; to do it yourself:\n    {command}");
    }
    apt(&packages(system, &missing))?;
    let still = self::missing(&needs);
    if !still.is_empty() {
        bail!(
            "apt-get succeeded, but still missing: {}",
            still.iter().map(|need| need.what).collect::<Vec<_>>().join(", ")
        );
    }
    Ok(())
}

/// Returns the packages to install, each once.
fn packages(system: System, missing: &[Need]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for need in missing {
        let name = need.package(system);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns what a person would type.
fn install_command(system: System, missing: &[Need]) -> String {
    let names = packages(system, missing).join(" ");
    match system {
        System::Debian => format!("sudo apt-get install --no-install-recommends {names}"),
        System::Fedora => format!("sudo dnf install {names}"),
        System::Arch => format!("sudo pacman -S --needed {names}"),
        System::MacOs => format!("brew install {names}"),
        System::Other => format!("(by their names on Debian) {names}"),
    }
}

fn agreed(command: &str) -> Result<bool> {
    print!("Install them now with\n    {command}\n? [Y/n] ");
    io::stdout().flush().context("asking on the terminal")?;
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .context("reading the answer")?;
    // The end of the input is no answer, and no answer is no consent.
    Ok(matches!(answer.as_str(), "\n" | "\r\n") || answer.trim().to_lowercase().starts_with('y'))
}

fn apt(packages: &[&str]) -> Result<()> {
    let has_lists = fs::read_dir("/var/lib/apt/lists")
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| entry.file_name().to_string_lossy().contains("_Packages"));
    if !has_lists {
        apt_get(&["update"])?;
    }
    let install: Vec<&str> = ["install", "--yes", "--no-install-recommends"]
        .into_iter()
        .chain(packages.iter().copied())
        .collect();
    if has_lists && apt_get(&install).is_err() {
        println!("The package lists may be old; bringing them up to date and trying once more.");
        apt_get(&["update"])?;
        return apt_get(&install);
    }
    if has_lists { Ok(()) } else { apt_get(&install) }
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    let mut command = if is_root() {
        Command::new("env")
    } else {
        let mut sudo = Command::new("sudo");
        // Without a terminal nobody can type a password.
        if !io::stdin().is_terminal() {
            sudo.arg("--non-interactive");
        }
        sudo.arg("env");
        sudo
    };
    // sudo drops the environment, so the setting goes along as an argument.
    command
        .args(["DEBIAN_FRONTEND=noninteractive", "apt-get"])
        .args(arguments);
    println!(
        "$ {}apt-get {}",
        if is_root() { "" } else { "sudo " },
        arguments.join(" ")
    );
    let status = command
        .status()
        .context("starting apt-get (as another user than root this takes sudo)")?;
    if !status.success() {
        bail!(
            "apt-get {} failed ({status}); its message is above",
            arguments.join(" ")
        );
    }
    Ok(())
}

/// Returns whether this is the superuser.
pub fn is_root() -> bool {
    Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::needs::{Probe, family, major, need};
    use super::*;

    #[test]
    fn systems_are_known_by_their_family() {
        let check = |release: &str, expected: System| assert_eq!(family(release), expected, "{release}");
        check("PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\n", System::Debian);
        check("ID=pop\nID_LIKE=\"ubuntu debian\"\n", System::Debian);
        check("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", System::Fedora);
        check("ID=arch\n", System::Arch);
        check("VERSION_ID=12\nVARIANT_ID=debian\n", System::Other);
        check("", System::Other);
    }

    #[test]
    fn packages_are_named_once_for_each_system() {
        let clang: Vec<Need> = NEEDS.into_iter().filter(|need| need.what.contains("clang")).collect();
        let check = |system: System, expected: &str| assert_eq!(install_command(system, &clang), expected);
        check(
            System::Debian,
            "sudo apt-get install --no-install-recommends clang libclang-dev",
        );
        check(System::Fedora, "sudo dnf install clang clang-devel");
        check(System::Arch, "sudo pacman -S --needed clang");
        check(System::MacOs, "brew install llvm");
    }

    #[test]
    fn versions_begin_with_their_major_number() {
        assert_eq!(
            (major("v20.20.2"), major("11.19.1"), major("none")),
            (Some(20), Some(11), None)
        );
    }

    #[test]
    fn a_program_that_is_not_there_is_missing() {
        let packages = ["a", "a", "a", "a"];
        let absent = need("absent", Probe::Program("magis-no-such-program"), packages);
        let there = need("rustc", Probe::Program("rustc"), packages);
        let old = need("an old node", Probe::AtLeast("node", 1_000), packages);
        assert_eq!(
            missing(&[absent, there, old])
                .iter()
                .map(|need| need.what)
                .collect::<Vec<_>>(),
            ["absent", "an old node"]
        );
    }
}
