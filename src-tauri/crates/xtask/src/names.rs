//! `cargo xtask names`: public types that bear the same name in two crates, so that a reader takes one for the other.
//!
//! A type counts where it is declared `pub`, whether it can be reached from outside or not. Re-exports declare nothing.
//! Types that a macro writes are not seen. What may share a name stands in [`allowed`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use syn::{Ident, Item, Visibility};

use crate::cargo;
use crate::sources::{self, Target};

mod allowed;

use allowed::Shared;

/// Where a public type is declared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Declared {
    pub package: String,
    /// The file, below the checkout.
    pub file: PathBuf,
    /// The line of its name.
    pub line: usize,
}

/// A name that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameFault {
    /// It stands for types of several packages, and no exception says that it may for just these.
    Repeated { name: String, places: Vec<Declared> },
    /// An exception does not name several packages that all declare such a type.
    Unneeded {
        allowed: Shared,
        /// The packages that do.
        packages: Vec<String>,
    },
}

impl fmt::Display for NameFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeated { name, places } => {
                write!(formatter, "{name}")?;
                for Declared { package, file, line } in places {
                    write!(formatter, "\n    {package}  {}:{line}", file.display())?;
                }
                Ok(())
            }
            Self::Unneeded { allowed, packages } => write!(
                formatter,
                "{}: an exception for [{}] that is not needed as it is, because the name stands in [{}]",
                allowed.name,
                allowed.packages.join(", "),
                packages.join(", ")
            ),
        }
    }
}

/// Prints the names that are not as they should be.
///
/// # Errors
/// When cargo's metadata cannot be had, or a source cannot be read.
pub fn run() -> Result<ExitCode> {
    match check()? {
        Ok(remark) => {
            println!("{remark}");
            Ok(ExitCode::SUCCESS)
        }
        Err(broken) => {
            for fault in &broken {
                eprintln!("{fault}");
            }
            eprintln!(
                "{} names to change, or to allow with a reason in src-tauri/crates/xtask/src/names/allowed.rs",
                broken.len()
            );
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Reads the workspace and judges: a remark when every name is as it should be, else a text for each that is not.
///
/// # Errors
/// When cargo's metadata cannot be had, or a source cannot be read.
pub fn check() -> Result<Result<String, Vec<String>>> {
    let declared = public_types(&sources::of_workspace(&cargo::metadata()?)?);
    let faults = faults(&declared, allowed::SHARED);
    if faults.is_empty() {
        return Ok(Ok(format!(
            "{} names of public types, {} of them shared for a reason",
            declared.len(),
            allowed::SHARED.len()
        )));
    }
    Ok(Err(faults.iter().map(ToString::to_string).collect()))
}

/// Returns every name of a public type, with the places where one is declared.
pub fn public_types(targets: &[Target]) -> BTreeMap<String, BTreeSet<Declared>> {
    let mut types: BTreeMap<String, BTreeSet<Declared>> = BTreeMap::new();
    for target in targets {
        for module in &target.modules {
            for name in module.items.iter().filter_map(public_type) {
                // A file that belongs to a library and a program is the same place twice.
                types.entry(name.to_string()).or_default().insert(Declared {
                    package: target.package.clone(),
                    file: module.file.clone(),
                    line: name.span().start().line,
                });
            }
        }
    }
    types
}

/// Returns what is wrong with the names, given the exceptions: names first, then exceptions, each in order.
pub fn faults(types: &BTreeMap<String, BTreeSet<Declared>>, allowed: &[Shared]) -> Vec<NameFault> {
    let packages = |name: &str| -> BTreeSet<&str> {
        let places = types.get(name).into_iter().flatten();
        places.map(|place| place.package.as_str()).collect()
    };
    let is_allowed = |name: &str, packages: &BTreeSet<&str>| {
        let mut fitting = allowed.iter().filter(|shared| shared.name == name);
        fitting.any(|shared| packages.iter().all(|package| shared.packages.contains(package)))
    };
    let repeated = types.iter().filter(|(name, _)| {
        let packages = packages(name);
        packages.len() > 1 && !is_allowed(name, &packages)
    });
    let repeated = repeated.map(|(name, places)| NameFault::Repeated {
        name: name.clone(),
        places: places.iter().cloned().collect(),
    });
    let unneeded = allowed.iter().filter_map(|shared| {
        let found = packages(shared.name);
        let is_needed = shared.packages.len() > 1 && shared.packages.iter().all(|package| found.contains(package));
        (!is_needed).then(|| NameFault::Unneeded {
            allowed: *shared,
            packages: found.into_iter().map(str::to_owned).collect(),
        })
    });
    repeated.chain(unneeded).collect()
}

/// Returns the name of a type that an item declares public.
pub fn public_type(item: &Item) -> Option<&Ident> {
    let (visibility, name) = match item {
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        Item::Union(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    matches!(visibility, Visibility::Public(_)).then_some(name)
}

#[cfg(test)]
mod tests;
