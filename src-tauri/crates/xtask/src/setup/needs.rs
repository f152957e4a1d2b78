//! What the build needs of a machine, under the names of four package managers, and how to find out whether it is there.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::SetupPurpose;

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
pub(super) enum System {
    Debian,
    Fedora,
    Arch,
    MacOs,
    Other,
}

/// How to find out whether something is there.
#[derive(Debug, Clone, Copy)]
pub(super) enum Probe {
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
pub(super) struct Need {
    pub(super) what: &'static str,
    pub(super) purpose: SetupPurpose,
    probe: Probe,
    debian: &'static str,
    fedora: &'static str,
    arch: &'static str,
    brew: &'static str,
}

impl Need {
    pub(super) fn package(&self, system: System) -> &'static str {
        match system {
            System::Debian | System::Other => self.debian,
            System::Fedora => self.fedora,
            System::Arch => self.arch,
            System::MacOs => self.brew,
        }
    }
}

pub(super) const NEEDS: [Need; 24] = [
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
    packages(
        "Vulkan",
        Probe::Library("vulkan"),
        ["libvulkan-dev", "vulkan-loader-devel", "vulkan-icd-loader", ""],
    ),
    packages("glslc", Probe::Program("glslc"), ["glslc", "glslc", "shaderc", ""]),
    packages(
        "SPIR-V headers",
        Probe::Library("SPIRV-Headers"),
        ["spirv-headers", "spirv-headers-devel", "spirv-headers", ""],
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
pub(super) const fn need(what: &'static str, probe: Probe, packages: [&'static str; 4]) -> Need {
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

const fn packages(what: &'static str, probe: Probe, packages: [&'static str; 4]) -> Need {
    Need {
        purpose: SetupPurpose::Packages,
        ..need(what, probe, packages)
    }
}

const fn tests(what: &'static str, probe: Probe, packages: [&'static str; 4]) -> Need {
    Need {
        purpose: SetupPurpose::WindowTests,
        ..need(what, probe, packages)
    }
}

pub(super) fn missing(needs: &[Need]) -> Vec<Need> {
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
pub(super) fn major(version: &str) -> Option<u32> {
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

pub(super) fn system() -> System {
    if cfg!(target_os = "macos") {
        return System::MacOs;
    }
    family(&fs::read_to_string("/etc/os-release").unwrap_or_default())
}

/// Returns the family that the text of `/etc/os-release` belongs to.
pub(super) fn family(release: &str) -> System {
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
