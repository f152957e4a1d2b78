//! Where a fetched model lies: its file's name by the catalogue, and the file in a data folder.
//!
//! Fetching and checking is `magis models fetch`; the catalogue's full reader is in magis-models, which xtask cannot afford to compile.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

const CATALOG: &str = include_str!("../../../../models/catalog.toml");

/// Fetches a model into a data folder through `magis`, unless it is there, and returns its file.
///
/// # Errors
/// When the model is not in the catalogue, or `magis` cannot fetch it.
pub fn fetch(magis: &Path, id: &str, data: &Path) -> Result<PathBuf> {
    let name = file_name(CATALOG, id).with_context(|| format!("models/catalog.toml has no model {id}"))?;
    let status = Command::new(magis)
        .args(["models", "fetch", id, "--data-dir"])
        .arg(data)
        .status()
        .with_context(|| format!("starting {}", magis.display()))?;
    if !status.success() {
        bail!("fetching {id} failed ({status}); run the command again, it goes on where it stopped");
    }
    find(data, name, 3).with_context(|| format!("{id} was fetched, but {name} is not below {}", data.display()))
}

/// The name of the first file of a model in the catalogue's text.
fn file_name<'a>(catalog: &'a str, id: &str) -> Option<&'a str> {
    let mut lines = catalog
        .lines()
        .map(str::trim)
        .skip_while(|line| value(line, "id") != Some(id))
        .skip(1);
    lines
        .by_ref()
        .take_while(|line| *line != "[[model]]")
        .filter_map(|line| value(line, "name"))
        .find(|name| {
            Path::new(name)
                .extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"))
        })
}

fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.strip_prefix(key)?
        .trim_start()
        .strip_prefix('=')?
        .trim()
        .strip_prefix('"')?
        .strip_suffix('"')
}

fn find(folder: &Path, name: &str, depth: usize) -> Option<PathBuf> {
    let direct = folder.join(name);
    if direct.is_file() {
        return Some(direct);
    }
    let depth = depth.checked_sub(1)?;
    let folders = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    folders.into_iter().find_map(|inner| find(&inner, name, depth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_that_of_the_model_asked_for() {
        let catalog = "[[model]]\nid = \"a\"\nname = \"A\"\n[model.file]\nname = \"a.gguf\"\n[[model]]\nid = \"b\"\nname = \"B\"\n";
        assert_eq!(file_name(catalog, "a"), Some("a.gguf"));
        assert_eq!(file_name(catalog, "b"), None);
        assert_eq!(file_name(catalog, "c"), None);
    }

    #[test]
    fn models_of_demo_and_tests_are_in_the_catalogue() {
        for id in [crate::demo::DEFAULT_MODEL, crate::checks::TEST_MODEL] {
            assert!(file_name(CATALOG, id).is_some(), "{id}");
        }
    }
}
