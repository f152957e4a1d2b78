//! The compilers, interpreters and package caches that a person has installed in their home, as far as commands may see them: programs and
//! packages, never settings that hold passwords.

use magis_sandbox::SANDBOX_HOME;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What a command sees of the person's toolchains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toolchains {
    /// `PATH`, and the variables by which the tools find themselves.
    pub environment: BTreeMap<String, String>,
    pub readable: Vec<PathBuf>,
    /// Caches that tools write into, each with the place where a command sees it.
    pub changeable: Vec<(PathBuf, PathBuf)>,
}

/// A toolchain's folder in a home.
struct Tool {
    /// The variable that names the folder, and is passed on.
    variable: &'static str,
    /// Where it is when the variable is not set, below the home.
    usual: &'static str,
    /// What of it is shown; empty: all.
    parts: &'static [&'static str],
    /// Shown so that it can be written.
    writes: bool,
}

const fn shown(variable: &'static str, usual: &'static str, parts: &'static [&'static str]) -> Tool {
    Tool {
        variable,
        usual,
        parts,
        writes: false,
    }
}

const fn written(variable: &'static str, usual: &'static str, parts: &'static [&'static str]) -> Tool {
    Tool {
        variable,
        usual,
        parts,
        writes: true,
    }
}

const TOOLS: [Tool; 24] = [
    shown("PYENV_ROOT", ".pyenv", &[]),
    shown("", ".local/lib", &[]),
    shown("UV_PYTHON_INSTALL_DIR", ".local/share/uv", &[]),
    shown("CONDA_PREFIX", "miniconda3", &[]),
    shown("", "anaconda3", &[]),
    shown("RUSTUP_HOME", ".rustup", &[]),
    // Not `credentials.toml`.
    shown("CARGO_HOME", ".cargo", &["bin", "env"]),
    written("CARGO_HOME", ".cargo", &["registry", "git"]),
    shown("NVM_DIR", ".nvm", &["versions", "nvm.sh"]),
    shown("VOLTA_HOME", ".volta", &["bin", "tools"]),
    shown("FNM_DIR", ".local/share/fnm", &[]),
    shown("ASDF_DATA_DIR", ".asdf", &[]),
    shown("MISE_DATA_DIR", ".local/share/mise", &["installs", "shims"]),
    shown("BUN_INSTALL", ".bun", &["bin"]),
    shown("GOROOT", "go/bin", &[]),
    shown("GOMODCACHE", "go/pkg/mod", &[]),
    shown("SDKMAN_DIR", ".sdkman", &["candidates"]),
    shown("JAVA_HOME", ".jdks", &[]),
    written("", ".m2", &["repository"]),
    written("GRADLE_USER_HOME", ".gradle", &["caches", "wrapper"]),
    shown("RBENV_ROOT", ".rbenv", &[]),
    shown("GEM_HOME", ".gem", &["ruby"]),
    shown("DOTNET_ROOT", ".dotnet", &[]),
    shown("NUGET_PACKAGES", ".nuget", &["packages"]),
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
const OFFLINE: [(&str, &str); 9] = [
    ("CARGO_NET_OFFLINE", "true"),
    ("GOFLAGS", "-mod=mod"),
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
        let mut readable = BTreeSet::new();
        for tool in &TOOLS {
            let named = Some(tool.variable).filter(|name| !name.is_empty()).and_then(&variable);
            let folder = named.as_ref().map_or_else(|| home.join(tool.usual), PathBuf::from);
            // A home itself, or what holds it, is never shown for a wrong variable.
            if !folder.is_absolute() || !folder.is_dir() || home.starts_with(&folder) {
                continue;
            }
            if named.is_some() {
                found
                    .environment
                    .insert(tool.variable.to_owned(), folder.display().to_string());
            }
            let parts: Vec<PathBuf> = match tool.parts {
                [] => vec![folder.clone()],
                parts => parts.iter().map(|part| folder.join(part)).collect(),
            };
            for part in parts.into_iter().filter(|part| part.exists()) {
                if !tool.writes {
                    readable.insert(part);
                } else if let Ok(inside) = part.strip_prefix(home) {
                    found.changeable.push((part.clone(), seen_at(tool, &part, inside)));
                }
            }
            // The folder is named also where a tool would look for it below a home.
            if tool.variable == "CARGO_HOME" || tool.variable == "RUSTUP_HOME" {
                found
                    .environment
                    .insert(tool.variable.to_owned(), folder.display().to_string());
            }
        }
        let path = variable("PATH").unwrap_or_default();
        let entries: Vec<PathBuf> = std::env::split_paths(&path)
            .filter(|entry| entry.is_absolute() && entry.is_dir())
            .collect();
        for entry in &entries {
            let known = readable.iter().any(|shown| entry.starts_with(shown));
            if !known && !home.starts_with(entry) {
                readable.insert(entry.clone());
            }
        }
        if let Ok(path) = std::env::join_paths(&entries)
            && !entries.is_empty()
        {
            found
                .environment
                .insert("PATH".to_owned(), path.to_string_lossy().into_owned());
        }
        for name in VERSIONS {
            if let Some(value) = variable(name) {
                found
                    .environment
                    .insert(name.to_owned(), value.to_string_lossy().into_owned());
            }
        }
        found
            .environment
            .extend(OFFLINE.map(|(name, value)| (name.to_owned(), value.to_owned())));
        found.readable = readable.into_iter().collect();
        found
    }

    /// Finds the toolchains of the person who runs this program.
    pub fn of_person() -> Self {
        let home = std::env::var_os("HOME").map_or_else(|| PathBuf::from("/nonexistent"), PathBuf::from);
        Self::find(&home, |name| std::env::var_os(name).filter(|value| !value.is_empty()))
    }
}

/// Returns where a command sees a cache: below its own home where a tool looks there, else at its own path.
fn seen_at(tool: &Tool, part: &Path, below_home: &Path) -> PathBuf {
    if tool.variable == "CARGO_HOME" {
        part.to_owned()
    } else {
        Path::new(SANDBOX_HOME).join(below_home)
    }
}

#[cfg(test)]
mod tests {
    use super::Toolchains;
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
