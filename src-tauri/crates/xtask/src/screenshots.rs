//! `cargo xtask screenshots`: pictures of every screen, in both themes, both languages and two sizes, into a folder that is not committed.
//!
//! Which screens there are, and how one comes to them, stands in `ui/tests/window`. The README shows two of them,
//! `readme-run` and `readme-review`; whoever changes those screens copies them to `ui/screenshots`.

use anyhow::{Context, Result};

use crate::network::{self, Network};
use crate::{cargo, window};

/// Takes the pictures of the screens whose name has this part; of all, where it is empty.
///
/// # Errors
/// When a screen cannot be reached or has a fault; the others' pictures are there.
pub fn take(part: &str) -> Result<()> {
    window::packages()?;
    let folder = cargo::target()?.join("screenshots");
    let path = folder.to_str().context("the target folder's path is not UTF-8")?;
    println!("The pictures go to {path}.");
    let network = network::least();
    if network == Network::Whole {
        println!("They are taken {}.", network.remark());
    }
    let mut arguments = vec!["run", "--silent", "screenshots", "--", path];
    if !part.is_empty() {
        arguments.push(part);
    }
    window::npm_with(network, &arguments, &[])
}
