//! The compilers, interpreters and package caches that a person has installed in their home, as far as commands may see them: programs and
//! packages, never settings that hold passwords.

use super::installed::interpreter_of;
use magis_evidence::commands::{JavaScriptRunner, NativeRunner, PythonRunner, TestRunner};
use magis_sandbox::SANDBOX_HOME;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What a command sees of the person's toolchains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toolchains {
    /// `PATH`, and the variables by which the tools find themselves.
    pub environment: BTreeMap<String, String>,
    pub readable: BTreeSet<PathBuf>,
    /// Caches that tools write into, each with the place where a command sees it.
    pub changeable: Vec<(PathBuf, PathBuf)>,
    /// Whose tools write into each of these caches, by its folder.
    ecosystems: BTreeMap<PathBuf, Ecosystem>,
}

/// A family of tools that share their caches of packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ecosystem {
    Rust,
    Go,
    Jvm,
    Ruby,
}

impl Ecosystem {
    /// Returns whether a command of this runner may need its caches. One that is not known, or that starts others, may need any.
    fn may_serve(self, runner: Option<TestRunner>) -> bool {
        match runner {
            None
            | Some(
                TestRunner::Python(PythonRunner::Tox | PythonRunner::Nox)
                | TestRunner::JavaScript(JavaScriptRunner::Script)
                | TestRunner::Native(NativeRunner::Make),
            ) => true,
            Some(TestRunner::Rust(_)) => self == Self::Rust,
            Some(TestRunner::Go(_)) => self == Self::Go,
            Some(TestRunner::Jvm(_)) => self == Self::Jvm,
            Some(TestRunner::Ruby(_)) => self == Self::Ruby,
            Some(
                TestRunner::Python(_)
                | TestRunner::JavaScript(_)
                | TestRunner::Native(_)
                | TestRunner::Php(_)
                | TestRunner::Dotnet(_),
            ) => false,
        }
    }
}

/// A toolchain's folder in a home.
struct Tool {
    /// The variable that names the folder, and is passed on.
    variable: &'static str,
    /// Where it is when the variable is not set, below the home.
    usual: &'static str,
    /// What of it is shown; empty: all.
    parts: &'static [&'static str],
    /// Whose tools write into it; none where it is shown for reading alone.
    written_by: Option<Ecosystem>,
}

const fn shown(variable: &'static str, usual: &'static str, parts: &'static [&'static str]) -> Tool {
    Tool {
        variable,
        usual,
        parts,
        written_by: None,
    }
}

const fn written(by: Ecosystem, variable: &'static str, usual: &'static str, parts: &'static [&'static str]) -> Tool {
    Tool {
        variable,
        usual,
        parts,
        written_by: Some(by),
    }
}

const TOOLS: [Tool; 29] = [
    shown("PYENV_ROOT", ".pyenv", &[]),
    shown("", ".local/lib", &[]),
    shown("UV_PYTHON_INSTALL_DIR", ".local/share/uv", &[]),
    shown("CONDA_PREFIX", "miniconda3", &[]),
    shown("", "anaconda3", &[]),
    shown("RUSTUP_HOME", ".rustup", &[]),
    // Not `credentials.toml`.
    shown("CARGO_HOME", ".cargo", &["bin", "env"]),
    written(Ecosystem::Rust, "CARGO_HOME", ".cargo", &["registry", "git"]),
    shown("NVM_DIR", ".nvm", &["versions", "nvm.sh"]),
    shown("VOLTA_HOME", ".volta", &["bin", "tools"]),
    shown("FNM_DIR", ".local/share/fnm", &[]),
    shown("ASDF_DATA_DIR", ".asdf", &[]),
    shown("MISE_DATA_DIR", ".local/share/mise", &["installs", "shims"]),
    shown("BUN_INSTALL", ".bun", &["bin"]),
    // The versions of Yarn and pnpm that Corepack has fetched.
    shown("COREPACK_HOME", ".cache/node/corepack", &[]),
    // The packages of Plug'n'Play, which the project names by their paths.
    shown("YARN_GLOBAL_FOLDER", ".yarn/berry", &["cache"]),
    shown("GOROOT", "go/bin", &[]),
    shown("GOMODCACHE", "go/pkg/mod", &[]),
    written(Ecosystem::Go, "GOCACHE", ".cache/go-build", &[]),
    shown("SDKMAN_DIR", ".sdkman", &["candidates"]),
    shown("JAVA_HOME", ".jdks", &[]),
    written(Ecosystem::Jvm, "", ".m2", &["repository"]),
    written(Ecosystem::Jvm, "GRADLE_USER_HOME", ".gradle", &["caches", "wrapper"]),
    shown("RBENV_ROOT", ".rbenv", &[]),
    shown("GEM_HOME", ".gems", &[]),
    // Ruby looks below the home that a command has.
    written(Ecosystem::Ruby, "", ".gem", &["ruby"]),
    written(Ecosystem::Ruby, "", ".local/share/gem", &["ruby"]),
    shown("DOTNET_ROOT", ".dotnet", &[]),
    shown("NUGET_PACKAGES", ".nuget/packages", &[]),
];

/// Variables that are set where the folder is there, as their tools look below the home otherwise.
const TOLD: [&str; 9] = [
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "CARGO_HOME",
    "NVM_DIR",
    "VOLTA_HOME",
    "COREPACK_HOME",
    "GOMODCACHE",
    "RBENV_ROOT",
    "NUGET_PACKAGES",
];

/// Further variables that choose a version.
const VERSIONS: [&str; 5] = [
    "PYENV_VERSION",
    "RUSTUP_TOOLCHAIN",
    "NODE_VERSION",
    "RBENV_VERSION",
    "JAVA_TOOL_OPTIONS",
];

/// What tells tools that there is no network and nobody to ask.
const OFFLINE: [(&str, &str); 8] = [
    ("CARGO_NET_OFFLINE", "true"),
    ("GOPROXY", "off"),
    ("PIP_NO_INDEX", "1"),
    ("npm_config_offline", "true"),
    ("npm_config_audit", "false"),
    ("CI", "1"),
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
];

impl Toolchains {
    /// Finds the toolchains in a home, with `variable` giving the person's environment.
    pub fn find(home: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let mut found = Self::default();
        for tool in &TOOLS {
            let named = Some(tool.variable).filter(|name| !name.is_empty()).and_then(&variable);
            found.add(tool, home, named);
        }
        let packages = home.join(".local");
        if packages.join("lib").is_dir() {
            found.tell("PYTHONUSERBASE", packages.as_os_str());
        }
        found.add_path(home, &variable("PATH").unwrap_or_default());
        for name in VERSIONS {
            if let Some(value) = variable(name) {
                found.tell(name, &value);
            }
        }
        for (name, value) in OFFLINE {
            found.tell(name, OsStr::new(value));
        }
        found
    }

    /// Returns the caches that a command of this runner may write into: where there are no overlays, each is copied for each run.
    pub fn changeable_by(&self, runner: Option<TestRunner>) -> impl Iterator<Item = &(PathBuf, PathBuf)> {
        let may_serve = move |original: &Path| {
            let ecosystem = self.ecosystems.get(original);
            ecosystem.is_none_or(|ecosystem| ecosystem.may_serve(runner))
        };
        self.changeable.iter().filter(move |(original, _)| may_serve(original))
    }

    /// Adds what is there of a tool, whose folder the person has `named` or which lies where it usually does.
    fn add(&mut self, tool: &Tool, home: &Path, named: Option<OsString>) {
        let is_told = named.is_some() || TOLD.contains(&tool.variable);
        let folder = named.map_or_else(|| home.join(tool.usual), PathBuf::from);
        // A home itself, or what holds it, is never shown for a wrong variable.
        if !folder.is_absolute() || !folder.is_dir() || home.starts_with(&folder) {
            return;
        }
        // A command has another home, so a tool that would look below the person's is told where its folder is.
        if is_told {
            self.tell(tool.variable, folder.as_os_str());
        }
        let parts: Vec<PathBuf> = match tool.parts {
            [] => vec![folder],
            parts => parts.iter().map(|part| folder.join(part)).collect(),
        };
        for part in parts.into_iter().filter(|part| part.exists()) {
            let Some(ecosystem) = tool.written_by else {
                self.readable.insert(part);
                continue;
            };
            let at = match part.strip_prefix(home) {
                Ok(inside) if !is_told => Path::new(SANDBOX_HOME).join(inside),
                _ => part.clone(),
            };
            self.ecosystems.insert(part.clone(), ecosystem);
            self.changeable.push((part, at));
        }
    }

    /// Adds the folders in which programs are looked up.
    fn add_path(&mut self, home: &Path, path: &OsStr) {
        let there = |entry: &PathBuf| entry.is_absolute() && entry.is_dir() && !home.starts_with(entry);
        let entries: Vec<PathBuf> = std::env::split_paths(path).filter(there).collect();
        for entry in &entries {
            if let Some(installation) = installation_of(entry, home) {
                self.readable.extend(interpreter_of(&installation));
                self.readable.insert(installation);
            }
            if !self.readable.iter().any(|shown| entry.starts_with(shown)) {
                self.readable.insert(entry.clone());
            }
        }
        if let Ok(path) = std::env::join_paths(&entries)
            && !entries.is_empty()
        {
            self.tell("PATH", &path);
        }
    }

    fn tell(&mut self, name: &str, value: &OsStr) {
        self.environment
            .insert(name.to_owned(), value.to_string_lossy().into_owned());
    }

    /// Finds the toolchains of the person who runs this program.
    pub fn of_person() -> Self {
        let home = std::env::var_os("HOME").map_or_else(|| PathBuf::from("/nonexistent"), PathBuf::from);
        Self::find(&home, |name| std::env::var_os(name).filter(|value| !value.is_empty()))
    }
}

/// Returns the installation that a folder of programs belongs to, where programs alone would not run: a virtual environment, one of conda, or
/// anything outside the home that has its libraries beside its programs.
fn installation_of(programs: &Path, home: &Path) -> Option<PathBuf> {
    let parent = programs
        .parent()
        .filter(|parent| programs.ends_with("bin") && !home.starts_with(parent))?;
    let has = |name: &str| parent.join(name).exists();
    let is_one = has("pyvenv.cfg") || has("conda-meta") || (has("lib") && !parent.starts_with(home));
    is_one.then(|| parent.to_owned())
}

#[cfg(test)]
mod tests {
    use super::Toolchains;
    use magis_evidence::commands::{
        JavaScriptRunner, JvmRunner, NativeRunner, PythonRunner, RubyRunner, RustRunner, TestRunner,
    };
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    fn home() -> tempfile::TempDir {
        let home = tempfile::tempdir().expect("a folder");
        for folder in [
            ".cargo/bin",
            ".cargo/registry",
            ".rustup",
            ".m2/repository",
            ".local/bin",
            ".ssh",
            "tools/bin",
        ] {
            std::fs::create_dir_all(home.path().join(folder)).expect("a folder");
        }
        std::fs::write(home.path().join(".cargo/credentials.toml"), "token").expect("a file");
        home
    }

    fn found(home: &Path, path: &[&str]) -> Toolchains {
        let entries = path.iter().map(|entry| home.join(entry));
        let path = std::env::join_paths(entries).expect("a path");
        Toolchains::find(home, |name| (name == "PATH").then(|| OsString::from(&path)))
    }

    #[test]
    fn programs_and_packages_are_shown_and_keys_are_not() {
        let home = home();
        let tools = found(home.path(), &["tools/bin", ".cargo/bin"]);
        let below = |path: &PathBuf| {
            path.strip_prefix(home.path())
                .expect("below the home")
                .display()
                .to_string()
        };
        let readable: Vec<String> = tools.readable.iter().map(below).collect();
        assert_eq!(readable, [".cargo/bin", ".rustup", "tools/bin"]);
        let changeable: Vec<String> = tools.changeable.iter().map(|(original, _)| below(original)).collect();
        assert_eq!(changeable, [".cargo/registry", ".m2/repository"]);
    }

    #[test]
    fn caches_are_seen_where_their_tool_looks() {
        let home = home();
        let tools = found(home.path(), &[]);
        let seen: Vec<&Path> = tools.changeable.iter().map(|(_, at)| at.as_path()).collect();
        assert_eq!(
            seen,
            [
                &home.path().join(".cargo/registry"),
                Path::new("/home/sandbox/.m2/repository")
            ]
        );
        assert_eq!(
            tools.environment["CARGO_HOME"],
            home.path().join(".cargo").display().to_string()
        );
        assert!(!tools.environment.contains_key("PATH"));
    }

    #[test]
    fn what_was_built_and_installed_below_the_home_is_seen_there() {
        let home = home();
        let folders = [".cache/go-build", ".gem/ruby", ".local/share/gem/ruby"];
        for folder in folders {
            std::fs::create_dir_all(home.path().join(folder)).expect("a folder");
        }
        let tools = found(home.path(), &[]);
        for folder in folders {
            let seen = (home.path().join(folder), Path::new("/home/sandbox").join(folder));
            assert!(tools.changeable.contains(&seen), "{folder}: {:?}", tools.changeable);
        }
    }

    #[test]
    fn a_command_has_the_caches_of_its_own_runner_and_one_that_starts_others_has_all() {
        let home = home();
        let tools = found(home.path(), &[]);
        let all = [".cargo/registry", ".m2/repository"];
        let check = |runner: Option<TestRunner>, expected: &[&str]| {
            let originals = tools.changeable_by(runner).map(|(original, _)| original);
            let below = originals.map(|path| path.strip_prefix(home.path()).expect("below the home"));
            assert!(below.eq(expected.iter().map(Path::new)), "{runner:?}");
        };
        check(Some(TestRunner::Rust(RustRunner::CargoTest)), &all[..1]);
        check(Some(TestRunner::Jvm(JvmRunner::Maven)), &all[1..]);
        check(Some(TestRunner::Python(PythonRunner::Pytest)), &[]);
        check(Some(TestRunner::JavaScript(JavaScriptRunner::Jest)), &[]);
        check(Some(TestRunner::Ruby(RubyRunner::RSpec)), &[]);
        check(Some(TestRunner::Python(PythonRunner::Tox)), &all);
        check(Some(TestRunner::JavaScript(JavaScriptRunner::Script)), &all);
        check(Some(TestRunner::Native(NativeRunner::Make)), &all);
        check(None, &all);
    }

    #[test]
    fn what_corepack_and_yarn_have_fetched_is_shown_for_reading() {
        let home = home();
        for folder in [".cache/node/corepack/v1/yarn/4.9.2", ".yarn/berry/cache"] {
            std::fs::create_dir_all(home.path().join(folder)).expect("a folder");
        }
        let tools = found(home.path(), &[]);
        for shown in [".cache/node/corepack", ".yarn/berry/cache"] {
            assert!(tools.readable.contains(&home.path().join(shown)), "{tools:?}");
        }
        let corepack = home.path().join(".cache/node/corepack").display().to_string();
        assert_eq!(tools.environment.get("COREPACK_HOME"), Some(&corepack));
        // Yarn would write beside its cache.
        assert!(!tools.environment.contains_key("YARN_GLOBAL_FOLDER"));
    }

    #[test]
    fn packages_installed_for_the_person_are_found() {
        let home = home();
        std::fs::create_dir_all(home.path().join(".local/lib/python3.11")).expect("a folder");
        let tools = found(home.path(), &[]);
        assert!(tools.readable.contains(&home.path().join(".local/lib")));
        assert_eq!(
            tools.environment["PYTHONUSERBASE"],
            home.path().join(".local").display().to_string()
        );
    }

    #[test]
    fn an_activated_environment_is_shown_whole_and_the_home_around_it_is_not() {
        let home = home();
        for folder in [
            "envs/one/bin",
            "envs/one/lib",
            ".local/lib",
            "pythons/3/bin",
            "pythons/3/lib/python3.11",
        ] {
            std::fs::create_dir_all(home.path().join(folder)).expect("a folder");
        }
        let python = home.path().join("pythons/3").canonicalize().expect("a path");
        std::fs::write(python.join("bin/python3"), "").expect("a file");
        let standing_on = format!("home = {}/bin\n", python.display());
        std::fs::write(home.path().join("envs/one/pyvenv.cfg"), standing_on).expect("a file");
        let tools = found(home.path(), &["envs/one/bin", ".local/bin"]);
        assert!(tools.readable.contains(&home.path().join("envs/one")));
        assert!(tools.readable.contains(&python));
        assert!(tools.readable.contains(&home.path().join(".local/bin")));
        assert!(!tools.readable.contains(&home.path().join(".local")));
    }

    #[test]
    fn a_variable_that_names_the_home_shows_nothing_of_it() {
        let home = home();
        let tools = Toolchains::find(home.path(), |name| match name {
            "PYENV_ROOT" | "PATH" => Some(home.path().into()),
            "GOROOT" => Some("/".into()),
            _ => None,
        });
        assert!(
            tools
                .readable
                .iter()
                .all(|path| path != home.path() && path != Path::new("/")),
            "{tools:?}"
        );
        assert!(tools.readable.iter().all(|path| !path.ends_with(".ssh")));
    }
}
