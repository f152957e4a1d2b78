//! The source of the workspace's crates as modules, parsed.
//!
//! It reads what is compiled into libraries and programs; tests, benchmarks, examples and whatever is `#[cfg(test)]` are left
//! out. A module whose file cannot be found or parsed is an error: a check that passes it over would say nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use syn::{Attribute, Item};

use crate::{cargo, folders};

/// The names of a module and its parents below the crate's root; empty for the root itself.
pub type ModulePath = Vec<String>;

/// A library or a program, as its modules.
pub struct Target {
    /// The crate.
    pub name: String,
    /// Its modules.
    pub modules: BTreeMap<ModulePath, Module>,
}

/// A module.
pub struct Module {
    /// The file it stands in, below the checkout.
    pub file: PathBuf,
    /// What it declares, without its child modules and without what is for tests only.
    pub items: Vec<Item>,
}

/// Reads every library and program of the workspace.
///
/// # Errors
/// When cargo's metadata or a source file cannot be read.
pub fn of_workspace() -> Result<Vec<Target>> {
    let metadata = cargo::metadata()?;
    let mut targets = Vec::new();
    for (name, root) in roots(&metadata)? {
        let read = |path: &Path| std::fs::read_to_string(path).ok();
        targets.push(target(name, &root, &read)?);
    }
    Ok(targets)
}

/// Reads a library or program from its root file. `read` gives the text of a file, or nothing where there is none.
///
/// # Errors
/// When a file is missing or cannot be parsed.
pub fn target(name: String, root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Result<Target> {
    let folder = root.parent().unwrap_or(Path::new("")).to_owned();
    let mut modules = BTreeMap::new();
    let mut open = vec![(ModulePath::new(), root.to_owned(), folder)];
    while let Some((path, file, folder)) = open.pop() {
        let text = read(&file).with_context(|| format!("reading {}", file.display()))?;
        let parsed = syn::parse_file(&text).with_context(|| format!("parsing {}", file.display()))?;
        collect(&path, &file, &folder, parsed.items, read, &mut modules, &mut open)?;
    }
    Ok(Target { name, modules })
}

type Open = Vec<(ModulePath, PathBuf, PathBuf)>;

/// Adds a module with the modules written inside it; those in files of their own are left in `open`.
fn collect(
    path: &ModulePath,
    file: &Path,
    folder: &Path,
    items: Vec<Item>,
    read: &dyn Fn(&Path) -> Option<String>,
    modules: &mut BTreeMap<ModulePath, Module>,
    open: &mut Open,
) -> Result<()> {
    let mut own = Vec::new();
    for item in items.into_iter().filter(|item| !is_for_tests(attributes(item))) {
        let Item::Mod(module) = item else {
            own.push(item);
            continue;
        };
        let name = module.ident.to_string();
        let child: ModulePath = path.iter().cloned().chain([name.clone()]).collect();
        if module.attrs.iter().any(|attribute| attribute.path().is_ident("path")) {
            bail!(
                "{}: module {name} has a #[path], which this check does not follow",
                file.display()
            );
        }
        if let Some((_, inside)) = module.content {
            collect(&child, file, &folder.join(&name), inside, read, modules, open)?;
            continue;
        }
        let places = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
        let found = places.iter().find(|place| read(place).is_some());
        let found = found.with_context(|| format!("{} has no file for its module {name}", file.display()))?;
        open.push((child, found.clone(), folder.join(&name)));
    }
    let file = file.strip_prefix(folders::workspace()).unwrap_or(file).to_owned();
    modules.insert(path.clone(), Module { file, items: own });
    Ok(())
}

/// The name and the root file of each library and program.
fn roots(metadata: &Value) -> Result<Vec<(String, PathBuf)>> {
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata has no packages")?;
    let members: Vec<&str> = metadata["workspace_members"]
        .as_array()
        .context("cargo metadata has no members")?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let mut roots = Vec::new();
    for package in packages {
        if !package["id"].as_str().is_some_and(|id| members.contains(&id)) {
            continue;
        }
        let name = package["name"].as_str().unwrap_or_default();
        for target in package["targets"].as_array().into_iter().flatten() {
            let kinds = target["kind"].as_array().into_iter().flatten();
            let is_product = kinds
                .filter_map(Value::as_str)
                .any(|kind| matches!(kind, "lib" | "bin" | "rlib" | "cdylib" | "staticlib"));
            if let Some(path) = target["src_path"].as_str().filter(|_| is_product) {
                roots.push((name.to_owned(), PathBuf::from(path)));
            }
        }
    }
    Ok(roots)
}

/// Whether something is compiled for tests only.
pub fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let mut found = false;
        if attribute.path().is_ident("cfg") {
            // A condition that is more than `test` alone counts as compiled; what cannot be read does, too.
            let _ = attribute.parse_nested_meta(|meta| {
                found |= meta.path.is_ident("test");
                Ok(())
            });
        }
        found || attribute.path().is_ident("test")
    })
}

/// The attributes of an item.
fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
