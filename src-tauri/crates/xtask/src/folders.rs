//! The folders xtask works in: the checkout, the cache, and the data folder that the program itself uses.
//!
//! It creates none of them.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Returns the root of the checkout this xtask was built from.
pub fn workspace() -> &'static Path {
    // The manifest is at src-tauri/crates/xtask of the checkout, so it has three parents.
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(3)
        .unwrap_or(Path::new("."))
}

/// Returns where things are kept that can be made again: tools, the demo, the test model.
pub fn cache() -> Result<PathBuf> {
    xdg("XDG_CACHE_HOME", ".cache")
}

/// Returns the data folder of the program, by its own rules.
pub fn data() -> Result<PathBuf> {
    xdg("XDG_DATA_HOME", ".local/share")
}

/// Returns the folder that cargo keeps registries, tools and databases in.
pub fn cargo_home() -> Result<PathBuf> {
    let given = env::var_os("CARGO_HOME").map(PathBuf::from);
    let below_home = || env::home_dir().map(|home| home.join(".cargo"));
    given
        .or_else(below_home)
        .context("finding cargo's folder: set HOME or CARGO_HOME")
}

fn xdg(variable: &str, below_home: &str) -> Result<PathBuf> {
    // The XDG rules say that a relative path in these variables is to be passed over.
    if let Some(base) = env::var_os(variable)
        .map(PathBuf::from)
        .filter(|base| base.is_absolute())
    {
        return Ok(base.join("magis"));
    }
    let home = env::home_dir().with_context(|| format!("finding the home folder: set HOME or {variable}"))?;
    Ok(home.join(below_home).join("magis"))
}
