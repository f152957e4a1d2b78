//! Models for the demo and the tests: fetched by the program into a folder, and found there by the name that the catalogue gives the file.
//!
//! Fetching and checking is `magis models fetch`; the catalogue's full reader is in magis-models, which xtask cannot afford to compile.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::folders;

/// The model of the tests that use a real one.
pub const TEST_MODEL: &str = "smollm2-135m";

const CATALOG: &str = include_str!("../../../../models/catalog.toml");

/// Fetches a model through `magis` into the models folder of a data folder, unless it is there, and returns its file.
///
/// # Errors
/// When the model is not in the catalogue, or `magis` cannot fetch it.
pub fn fetch(magis: &Path, id: &str, folders: &ModelFolders) -> Result<PathBuf> {
    let name = file(id)?;
    let status = Command::new(magis)
        .args(["models", "fetch", id])
        .arg("--data-dir")
        .arg(&folders.data)
        .arg("--models-dir")
        .arg(&folders.models)
        .status()
        .with_context(|| format!("starting {}", magis.display()))?;
    if !status.success() {
        bail!("downloading {id} failed ({status}); run the command again, it resumes where it stopped");
    }
    let file = folders.models.join(name);
    if !file.is_file() {
        bail!("{id} was downloaded, but {} is not there", file.display());
    }
    Ok(file)
}

/// Returns the name that the catalogue gives a model's file.
///
/// # Errors
/// When the model is not in the catalogue.
pub fn file(id: &str) -> Result<&'static str> {
    file_name(CATALOG, id).with_context(|| format!("models/catalog.toml has no model {id}"))
}

/// A data folder of the program, and where its models are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFolders {
    pub data: PathBuf,
    /// The models, which may be elsewhere.
    pub models: PathBuf,
}

impl ModelFolders {
    /// Returns a data folder with its models inside.
    pub fn inside(data: PathBuf) -> Self {
        Self {
            models: data.join("models"),
            data,
        }
    }

    /// Returns the user's own, by the program's rules.
    ///
    /// # Errors
    /// When the home folder cannot be found.
    pub fn of_user() -> Result<Self> {
        let own = Self::inside(folders::data()?);
        let elsewhere = env::var_os("MAGIS_MODELS_DIR").map(PathBuf::from);
        Ok(Self {
            models: elsewhere.unwrap_or(own.models),
            data: own.data,
        })
    }
}

/// Returns the name of the first file of a model in the catalogue's text.
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
        for id in [crate::demo::DEFAULT_MODEL, TEST_MODEL] {
            assert!(file_name(CATALOG, id).is_some(), "{id}");
        }
    }
}
