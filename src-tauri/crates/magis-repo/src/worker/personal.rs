//! Where the person's own git configuration lies, which says for every repository which files count and how lines end.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// So many files of configuration are followed.
const MOST: usize = 100;

/// Returns the files of the person's and the machine's git configuration, and those that they name: further configuration, ignore rules, attributes.
pub(super) fn files() -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = std::env::home_dir();
    // Where ignore rules and attributes lie that no configuration names.
    files.extend(
        config
            .or_else(|| Some(home.as_ref()?.join(".config")))
            .map(|folder| folder.join("git")),
    );
    let found = [
        git2::Config::find_global(),
        git2::Config::find_xdg(),
        git2::Config::find_system(),
    ];
    let mut left: Vec<PathBuf> = found.into_iter().flatten().collect();
    while let Some(file) = left.pop() {
        if files.len() == MOST || !files.insert(file.clone()) {
            continue;
        }
        let Ok(config) = git2::Config::open(&file) else {
            continue;
        };
        let Ok(mut entries) = config.entries(None) else {
            continue;
        };
        while let Some(Ok(entry)) = entries.next() {
            let (Ok(name), Ok(value)) = (entry.name(), entry.value()) else {
                continue;
            };
            let is_include = name.starts_with("include") && name.rsplit('.').next() == Some("path");
            let is_file = matches!(name, "core.excludesfile" | "core.attributesfile");
            if is_include || is_file {
                let named = expanded(value, &file, home.as_deref());
                if is_include {
                    left.push(named);
                } else {
                    files.insert(named);
                }
            }
        }
    }
    files
}

/// Returns the path that a file of configuration names.
fn expanded(value: &str, file: &Path, home: Option<&Path>) -> PathBuf {
    match (value.strip_prefix("~/"), home) {
        (Some(inside), Some(home)) => home.join(inside),
        _ => file.parent().unwrap_or(file).join(value),
    }
}
