//! The libraries in C and C++ that are compiled into the programs: each with the version that was looked at, and the faults of it
//! that are known and mended upstream but not here. An update makes [`check`] fail until somebody looked again.
//!
//! Which newer versions there are is read from what cargo knows of the registry without a network, so it is as old as that.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result};

use crate::cargo;

/// A library that is compiled from sources in C or C++.
struct Bundled {
    /// The package that brings it.
    package: &'static str,
    /// The package's version that was looked at last.
    version: &'static str,
    library: &'static str,
    /// Faults that are mended in a version which no package has yet, and what stands against each here.
    known: &'static [&'static str],
}

const fn bundled(package: &'static str, version: &'static str, library: &'static str) -> Bundled {
    Bundled {
        package,
        version,
        library,
        known: &[],
    }
}

const BUNDLED: [Bundled; 18] = [
    Bundled {
        known: &[
            "a loose object that is cut short is inflated for ever (libgit2 #7342): the git worker has a deadline",
            "a damaged index of a pack ends the process: it is the git worker's",
        ],
        ..bundled("libgit2-sys", "0.18.8+1.9.7", "libgit2 1.9.7")
    },
    bundled("libsqlite3-sys", "0.39.1", "SQLite 3.54.1"),
    bundled("libz-sys", "1.1.31", "zlib 1.3.2"),
    Bundled {
        known: &["the first prompt ends the process where the CPU has AMX (llama.cpp #26954): built without AMX"],
        ..bundled("llama-cpp-sys-2", "0.1.161", "llama.cpp")
    },
    bundled("ring", "0.17.14", "parts of BoringSSL"),
    bundled("tree-sitter", "0.27.1", "tree-sitter"),
    bundled("tree-sitter-c", "0.24.2", "grammar of C"),
    bundled("tree-sitter-c-sharp", "0.23.5", "grammar of C#"),
    bundled("tree-sitter-cpp", "0.23.4", "grammar of C++"),
    bundled("tree-sitter-go", "0.25.0", "grammar of Go"),
    bundled("tree-sitter-java", "0.23.5", "grammar of Java"),
    bundled("tree-sitter-javascript", "0.25.0", "grammar of JavaScript"),
    bundled("tree-sitter-kotlin-ng", "1.1.0", "grammar of Kotlin"),
    bundled("tree-sitter-php", "0.25.1", "grammar of PHP"),
    bundled("tree-sitter-python", "0.25.0", "grammar of Python"),
    bundled("tree-sitter-ruby", "0.23.1", "grammar of Ruby"),
    bundled("tree-sitter-rust", "0.24.2", "grammar of Rust"),
    bundled("tree-sitter-typescript", "0.23.2", "grammar of TypeScript"),
];

/// What compiles C in a build script.
const COMPILERS: [&str; 2] = ["cc", "cmake"];
/// Packages that compile only a few lines of their own, or nothing on Linux, or a library only where that is asked for (D-Bus).
const NO_LIBRARY: [&str; 6] = [
    "alloca",
    "cmake",
    "embed-resource",
    "iana-time-zone-haiku",
    "libdbus-sys",
    "vswhom-sys",
];

/// Returns how many libraries are compiled in and which of them are known to be outdated.
///
/// # Errors
/// When cargo does not say what is compiled in; within, each library that is not in the table, or in another version.
pub fn check() -> Result<Result<String, Vec<String>>> {
    let broken = differences(&compiled_in()?);
    if !broken.is_empty() {
        return Ok(Err(broken));
    }
    let mut remark = format!("{} libraries in C as they were looked at", BUNDLED.len());
    for one in BUNDLED.iter().filter(|one| !one.known.is_empty()) {
        let _ = write!(remark, "\n       {}: {}", one.library, one.known.join("; "));
    }
    for line in outdated(&newer()) {
        let _ = write!(remark, "\n       {line}");
    }
    Ok(Ok(remark))
}

/// Returns the packages of the Linux programs whose build scripts compile C, with their versions.
fn compiled_in() -> Result<BTreeMap<String, String>> {
    let metadata = cargo::metadata_for(&["x86_64-unknown-linux-gnu"])?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata lists no packages")?;
    let compiles = |package: &&serde_json::Value| {
        let depends = package["dependencies"].as_array().into_iter().flatten();
        depends
            .filter(|dependency| dependency["kind"] == "build")
            .any(|dependency| COMPILERS.iter().any(|compiler| dependency["name"] == **compiler))
    };
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let found = packages
        .iter()
        .filter(compiles)
        .map(|package| (text(&package["name"]), text(&package["version"])));
    Ok(found.filter(|(name, _)| !NO_LIBRARY.contains(&name.as_str())).collect())
}

/// Returns in which way what is compiled in differs from the table.
fn differences(found: &BTreeMap<String, String>) -> Vec<String> {
    let mut broken = Vec::new();
    for (package, version) in found {
        match BUNDLED.iter().find(|one| one.package == package) {
            None => broken.push(format!(
                "{package} {version} compiles C into the programs and is not in the table of xtask/src/bundled.rs"
            )),
            Some(one) if one.version != version => broken.push(format!(
                "{package} is {version}, and {} was looked at last: see which faults its {} mends or brings, then write it into xtask/src/bundled.rs",
                one.version, one.library
            )),
            Some(_) => {}
        }
    }
    let is_gone = |one: &&Bundled| !found.contains_key(one.package);
    let gone = BUNDLED.iter().filter(is_gone);
    broken.extend(gone.map(|one| {
        format!(
            "{} is not compiled in any more, but in the table of xtask/src/bundled.rs",
            one.package
        )
    }));
    broken
}

/// Returns what cargo would update, as far as it knows without a network.
fn newer() -> String {
    let mut command = cargo::cargo();
    command.args(["update", "--dry-run", "--offline", "--verbose"]);
    match command.output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stderr).into_owned(),
        _ => String::new(),
    }
}

/// Returns a line for each library of which a newer version is known.
fn outdated(updates: &str) -> Vec<String> {
    let of = |line: &str| {
        let mut words = line
            .split_whitespace()
            .skip_while(|word| *word != "Updating" && *word != "Unchanged");
        let package = words.nth(1)?;
        let one = BUNDLED.iter().find(|one| one.package == package)?;
        let newest = line.rsplit(" v").next()?.trim_end_matches(')');
        Some(format!(
            "outdated: {} {} ({}), {newest} is known",
            one.package, one.version, one.library
        ))
    };
    updates.lines().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_of_what_is_compiled_in() {
        assert_eq!(differences(&compiled_in().unwrap()), [""; 0]);
    }

    #[test]
    fn another_version_a_new_library_and_one_that_is_gone_are_said() {
        let mut found: BTreeMap<String, String> = BUNDLED
            .iter()
            .map(|one| (one.package.to_owned(), one.version.to_owned()))
            .collect();
        assert_eq!(differences(&found), [""; 0]);
        found.insert("ring".to_owned(), "9.9.9".to_owned());
        found.insert("onig_sys".to_owned(), "1.0.0".to_owned());
        found.remove("tree-sitter-go");
        let broken = differences(&found).join("\n");
        for part in [
            "ring is 9.9.9, and 0.17.14",
            "onig_sys 1.0.0 compiles C",
            "tree-sitter-go is not compiled",
        ] {
            assert!(broken.contains(part), "{part} is missing in {broken}");
        }
    }

    #[test]
    fn what_cargo_knows_to_be_newer_is_said_of_these_libraries_alone() {
        let updates = "    Updating bumpalo v3.20.3 -> v3.20.4\n    Updating libz-sys v1.1.31 -> v1.1.32\n   \
                       Unchanged ring v0.17.14 (available: v0.18.0)\n";
        let lines = outdated(updates);
        assert_eq!(
            lines,
            [
                "outdated: libz-sys 1.1.31 (zlib 1.3.2), 1.1.32 is known",
                "outdated: ring 0.17.14 (parts of BoringSSL), 0.18.0 is known"
            ]
        );
    }
}
