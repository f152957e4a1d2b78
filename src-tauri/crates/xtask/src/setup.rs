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
    Given,
}

/// What is going to be built or run; each takes what those before it take, and more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SetupPurpose {
    /// The program in the terminal.
    Headless,
    Window,
    /// The window under test, in a browser and on a display of its own.
    WindowTests,
    /// Packages under test, in a root of their own.
    PackageTests,
}

/// Makes sure that the build can begin.
///
/// # Errors
/// When something is missing and cannot be installed here, or the person says no; the message has the packages' names.
pub fn prepare(purpose: SetupPurpose, consent: Consent) -> Result<()> {
    let system = system();
    // What a system has by itself has no package there.
    let needed = |need: &Need| need.purpose <= purpose && !need.package(system).is_empty();
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

/// Returns whether a program can be started with these arguments and ends well.
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
    /// A program that can be started, and answers to nothing.
    OnPath(&'static str),
    /// A font that has the characters of a language, as fontconfig knows it.
    Font(&'static str),
    /// A library that pkg-config knows.
    Library(&'static str),
    /// A program that answers to `--version`, in at least this major version.
    AtLeast(&'static str, u32),
}

/// Something the build needs, with the package that has it.
#[derive(Debug, Clone, Copy)]
struct Need {
    what: &'static str,
    purpose: SetupPurpose,
    probe: Probe,
    debian: &'static str,
    fedora: &'static str,
    arch: &'static str,
    brew: &'static str,
}

impl Need {
    fn package(&self, system: System) -> &'static str {
        match system {
            System::Debian | System::Other => self.debian,
            System::Fedora => self.fedora,
            System::Arch => self.arch,
            System::MacOs => self.brew,
        }
    }
}

const NEEDS: [Need; 21] = [
    need("git", Probe::Program("git"), ["git", "git", "git", "git"]),
    need(
        "python3",
        Probe::Program("python3"),
        ["python3", "python3", "python", "python"],
    ),
    need("c++", Probe::Program("c++"), ["g++", "gcc-c++", "gcc", "gcc"]),
    need("make", Probe::Program("make"), ["make", "make", "make", "make"]),
    need("cmake", Probe::Program("cmake"), ["cmake", "cmake", "cmake", "cmake"]),
    need(
        "pkg-config",
        Probe::Program("pkg-config"),
        ["pkg-config", "pkgconf-pkg-config", "pkgconf", "pkgconf"],
    ),
    need("clang", Probe::Program("clang"), ["clang", "clang", "clang", "llvm"]),
    need(
        "libclang",
        Probe::Libclang,
        ["libclang-dev", "clang-devel", "clang", "llvm"],
    ),
    window(
        "node 20",
        Probe::AtLeast("node", 20),
        ["nodejs", "nodejs", "nodejs", "node"],
    ),
    window("npm", Probe::Program("npm"), ["npm", "nodejs-npm", "npm", "node"]),
    window(
        "WebKitGTK 4.1",
        Probe::Library("webkit2gtk-4.1"),
        ["libwebkit2gtk-4.1-dev", "webkit2gtk4.1-devel", "webkit2gtk-4.1", ""],
    ),
    window(
        "librsvg",
        Probe::Library("librsvg-2.0"),
        ["librsvg2-dev", "librsvg2-devel", "librsvg", ""],
    ),
    window(
        "appindicator",
        Probe::Library("ayatana-appindicator3-0.1"),
        [
            "libayatana-appindicator3-dev",
            "libayatana-appindicator-gtk3-devel",
            "libayatana-appindicator",
            "",
        ],
    ),
    tests(
        "chromium",
        Probe::Program("chromium"),
        ["chromium", "chromium", "chromium", "chromium"],
    ),
    tests(
        "Xvfb",
        Probe::OnPath("Xvfb"),
        ["xvfb", "xorg-x11-server-Xvfb", "xorg-server-xvfb", ""],
    ),
    tests(
        "openbox",
        Probe::Program("openbox"),
        ["openbox", "openbox", "openbox", ""],
    ),
    tests(
        "WebKitWebDriver",
        Probe::OnPath("WebKitWebDriver"),
        ["webkit2gtk-driver", "webkit2gtk-driver", "webkit2gtk-4.1", ""],
    ),
    tests(
        "dbus-run-session",
        Probe::Program("dbus-run-session"),
        ["dbus", "dbus-daemon", "dbus", ""],
    ),
    // Brings loopback up in a name space of its own.
    tests("ip", Probe::OnPath("ip"), ["iproute2", "iproute", "iproute2", ""]),
    tests(
        "a font for Chinese",
        Probe::Font("zh-cn"),
        ["fonts-noto-cjk", "google-noto-sans-cjk-fonts", "noto-fonts-cjk", ""],
    ),
    Need {
        purpose: SetupPurpose::PackageTests,
        ..need(
            "debootstrap",
            Probe::Program("debootstrap"),
            ["debootstrap", "debootstrap", "debootstrap", ""],
        )
    },
];

/// Returns a need of every build; packages of Debian, Fedora, Arch and Homebrew.
const fn need(what: &'static str, probe: Probe, packages: [&'static str; 4]) -> Need {
    let [debian, fedora, arch, brew] = packages;
    Need {
        what,
        purpose: SetupPurpose::Headless,
        probe,
        debian,
        fedora,
        arch,
        brew,
    }
}

const fn window(what: &'static str, probe: Probe, packages: [&'static str; 4]) -> Need {
    Need {
        purpose: SetupPurpose::Window,
        ..need(what, probe, packages)
    }
}

const fn tests(what: &'static str, probe: Probe, packages: [&'static str; 4]) -> Need {
    Need {
        purpose: SetupPurpose::WindowTests,
        ..need(what, probe, packages)
    }
}

fn missing(needs: &[Need]) -> Vec<Need> {
    let there = |need: &Need| match need.probe {
        Probe::Program(program) => answers(program, &["--version"]),
        Probe::Libclang => libclang_folders().iter().any(|folder| has_libclang(folder)),
        Probe::Library(name) => answers("pkg-config", &["--exists", name]),
        Probe::OnPath(name) => is_on_path(name),
        Probe::Font(language) => {
            said("fc-list", &[&format!(":lang={language}")]).is_some_and(|fonts| !fonts.is_empty())
        }
        Probe::AtLeast(program, wanted) => said(program, &["--version"])
            .and_then(|version| major(&version))
            .is_some_and(|major| major >= wanted),
    };
    needs.iter().copied().filter(|need| !there(need)).collect()
}

/// Returns what a program prints, where it can be started and ends well.
fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// Returns the first number of a version such as `v20.20.2`.
fn major(version: &str) -> Option<u32> {
    version.trim_start_matches('v').split('.').next()?.parse().ok()
}

fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Returns the folders in which bindgen looks for libclang.
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

/// Returns the family that the text of `/etc/os-release` belongs to.
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
