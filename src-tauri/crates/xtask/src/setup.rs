//! What the build needs of the machine beside Rust: finding out what is missing, and on Debian installing it.
//!
//! On other systems it names the packages and stops. It installs no Rust tools ([`crate::tools`]) and no models.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Whether installing packages has been agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Ask, where somebody is there to answer.
    Ask,
    /// Go ahead.
    Given,
}

/// Makes sure that the build can begin.
///
/// # Errors
/// When something is missing and cannot be installed here, or the person says no; the message has the packages' names.
pub fn prepare(consent: Consent) -> Result<()> {
    let missing = missing(&NEEDS);
    if missing.is_empty() {
        println!(
            "System packages: all there ({}).",
            NEEDS.map(|need| need.what).join(", ")
        );
        return Ok(());
    }
    println!(
        "Missing on this machine: {}.",
        missing.iter().map(|need| need.what).collect::<Vec<_>>().join(", ")
    );
    let system = system();
    let command = install_command(system, &missing);
    if system != System::Debian {
        bail!("these packages have to be there before the build; install them and start again:\n    {command}");
    }
    if consent == Consent::Ask && io::stdin().is_terminal() && !agreed(&command)? {
        bail!("nothing was installed; to do it yourself:\n    {command}");
    }
    apt(&packages(system, &missing))?;
    let still = self::missing(&NEEDS);
    if !still.is_empty() {
        bail!(
            "apt-get succeeded, but still missing: {}",
            still.iter().map(|need| need.what).collect::<Vec<_>>().join(", ")
        );
    }
    Ok(())
}

/// Whether a program can be started with these arguments and ends well.
pub fn answers(program: impl AsRef<OsStr>, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Families of systems, by their package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Debian,
    Fedora,
    Arch,
    MacOs,
    Other,
}

/// How to find out whether something is there.
#[derive(Debug, Clone, Copy)]
enum Probe {
    /// A program that answers to `--version`.
    Program(&'static str),
    /// The library that bindgen loads to read C headers.
    Libclang,
}

/// Something the build needs, with the package that has it.
#[derive(Debug, Clone, Copy)]
struct Need {
    what: &'static str,
    probe: Probe,
    debian: &'static str,
    fedora: &'static str,
    arch: &'static str,
    brew: &'static str,
}

const NEEDS: [Need; 8] = [
    need("git", "git", "git", "git", "git", "git"),
    need("python3", "python3", "python3", "python3", "python", "python"),
    need("c++", "c++", "g++", "gcc-c++", "gcc", "gcc"),
    need("make", "make", "make", "make", "make", "make"),
    need("cmake", "cmake", "cmake", "cmake", "cmake", "cmake"),
    need(
        "pkg-config",
        "pkg-config",
        "pkg-config",
        "pkgconf-pkg-config",
        "pkgconf",
        "pkgconf",
    ),
    need("clang", "clang", "clang", "clang", "clang", "llvm"),
    Need {
        what: "libclang",
        probe: Probe::Libclang,
        debian: "libclang-dev",
        fedora: "clang-devel",
        arch: "clang",
        brew: "llvm",
    },
];

const fn need(
    what: &'static str,
    program: &'static str,
    debian: &'static str,
    fedora: &'static str,
    arch: &'static str,
    brew: &'static str,
) -> Need {
    Need {
        what,
        probe: Probe::Program(program),
        debian,
        fedora,
        arch,
        brew,
    }
}

fn missing(needs: &[Need]) -> Vec<Need> {
    let there = |need: &Need| match need.probe {
        Probe::Program(program) => answers(program, &["--version"]),
        Probe::Libclang => libclang_folders().iter().any(|folder| has_libclang(folder)),
    };
    needs.iter().copied().filter(|need| !there(need)).collect()
}

/// The folders in which bindgen looks for libclang.
fn libclang_folders() -> Vec<PathBuf> {
    if let Some(given) = env::var_os("LIBCLANG_PATH") {
        let given = PathBuf::from(given);
        let parent = given.parent().map(Path::to_path_buf);
        return [Some(given), parent].into_iter().flatten().collect();
    }
    let mut folders: Vec<PathBuf> = [
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/opt/homebrew/opt/llvm/lib",
        "/usr/local/opt/llvm/lib",
        "/Library/Developer/CommandLineTools/usr/lib",
        "/Applications/Xcode.app/Contents/Developer/Toolchains/XcodeDefault.xctoolchain/usr/lib",
    ]
    .map(PathBuf::from)
    .into();
    // Debian has /usr/lib/llvm-19/lib and /usr/lib/x86_64-linux-gnu.
    for entry in fs::read_dir("/usr/lib").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("llvm-") {
            folders.push(entry.path().join("lib"));
        } else if name.contains("-linux-") {
            folders.push(entry.path());
        }
    }
    folders
}

fn has_libclang(folder: &Path) -> bool {
    let is_libclang = |name: &str| {
        name.strip_prefix("libclang")
            .is_some_and(|rest| rest.starts_with(['.', '-']) && !rest.starts_with("-cpp"))
            && (name.contains(".so") || name.contains(".dylib"))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .into_iter()
        .any(|entry| is_libclang(&entry.file_name().to_string_lossy()))
}

fn system() -> System {
    if cfg!(target_os = "macos") {
        return System::MacOs;
    }
    family(&fs::read_to_string("/etc/os-release").unwrap_or_default())
}

/// The family that the text of `/etc/os-release` belongs to.
fn family(release: &str) -> System {
    let value = |key: &str| {
        let line = release
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.unwrap_or_default().trim_matches(['"', '\'']).to_owned()
    };
    let names = format!("{} {}", value("ID"), value("ID_LIKE"));
    let is = |wanted: &[&str]| names.split_whitespace().any(|name| wanted.contains(&name));
    if is(&["debian", "ubuntu"]) {
        System::Debian
    } else if is(&["fedora", "rhel", "centos"]) {
        System::Fedora
    } else if is(&["arch"]) {
        System::Arch
    } else {
        System::Other
    }
}

/// The packages to install, each once.
fn packages(system: System, missing: &[Need]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for need in missing {
        let name = match system {
            System::Debian | System::Other => need.debian,
            System::Fedora => need.fedora,
            System::Arch => need.arch,
            System::MacOs => need.brew,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// What a person would type.
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

fn is_root() -> bool {
    Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
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
    fn a_program_that_is_not_there_is_missing() {
        let absent = need("absent", "magis-no-such-program", "a", "a", "a", "a");
        let there = need("rustc", "rustc", "r", "r", "r", "r");
        assert_eq!(
            missing(&[absent, there])
                .iter()
                .map(|need| need.what)
                .collect::<Vec<_>>(),
            ["absent"]
        );
    }
}
