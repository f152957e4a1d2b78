//! The real window under test: the built program on a display of its own, with the real engine and the small model.
//!
//! What is tested stands in `ui/tests/desktop`. This gives it a program, a model, and as little of the network as the system allows.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{cargo, catalog, folders, network, window};

/// Runs the tests on the program as the tests before them built it.
///
/// # Errors
/// When a test fails, or what they need cannot be had.
pub fn test(model: Option<&Path>) -> Result<String> {
    if !cfg!(target_os = "linux") {
        return Ok("not run: a window can be driven by WebKitWebDriver, which is there on Linux alone".to_owned());
    }
    let Some(model) = model else {
        bail!("there is no test model; the step \"test model\" says why");
    };
    let program = cargo::built_with_tests("magis-app")?;
    let network = network::least();
    window::npm_with(
        network,
        &["run", "--silent", "desktop"],
        &[("MAGIS_APP", &program), ("MAGIS_MODELS_DIR", &models(model)?)],
    )?;
    Ok(network.remark().to_owned())
}

/// Returns a folder in which the program finds the model under its name in the catalogue, whatever its file is called.
fn models(model: &Path) -> Result<PathBuf> {
    let folder = folders::cache()?.join("window-tests/models");
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let model = model
        .canonicalize()
        .with_context(|| format!("finding {}", model.display()))?;
    let name = catalog::file(catalog::TEST_MODEL)?;
    let link = folder.join(name);
    if fs::read_link(&link).is_ok_and(|target| target == model) {
        return Ok(folder);
    }
    if link.is_symlink() {
        fs::remove_file(&link).with_context(|| format!("removing {}", link.display()))?;
    }
    std::os::unix::fs::symlink(&model, &link).with_context(|| format!("writing {}", link.display()))?;
    Ok(folder)
}
