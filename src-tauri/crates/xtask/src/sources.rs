//! The sources of the workspace's crates as trees of parsed modules.
//!
//! It reads what is compiled into libraries and programs. Tests, benchmarks, examples and whatever is compiled for tests
//! only are left out. What it cannot follow is an error, because a check that passed it over would say nothing: a module
//! without a file, a file that cannot be parsed, a `#[path]`. Modules that a macro writes are not seen.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use proc_macro2::TokenTree;
use serde_json::Value;
use syn::{Attribute, Item, ItemMod, Meta, Visibility};

use crate::folders;

mod condition;

pub use condition::{attributes, is_for_tests};

/// A library or a program.
pub struct Target {
    /// The package it belongs to.
    pub package: String,
    /// Its modules; the first is the root.
    pub modules: Vec<Module>,
}

/// A module of a library or a program.
pub struct Module {
    /// The names that lead to it from the root, whose own path is empty.
    pub path: Vec<String>,
    /// The module around it, none for the root.
    pub parent: Option<usize>,
    /// The modules that it declares. Conditions such as `#[cfg(unix)]` can give several the same name.
    pub children: BTreeMap<String, Vec<usize>>,
    /// Whether only its parent, and what is below that, can name it.
    pub is_private: bool,
    /// The file it stands in, below the checkout.
    pub file: PathBuf,
    /// What it declares, without modules and without what is compiled for tests only.
    pub items: Vec<Item>,
}

/// The text of a file below the checkout, none where there is no such file.
pub type Read<'a> = &'a dyn Fn(&Path) -> Result<Option<String>>;

/// Reads every library and program that cargo's metadata names for the workspace.
///
/// # Errors
/// When the metadata has not the documented form, or a source cannot be followed.
pub fn of_workspace(metadata: &Value) -> Result<Vec<Target>> {
    roots(metadata)?
        .iter()
        .map(|(package, root)| target(package, root, &read))
        .collect()
}

/// Reads a library or program from its root file.
///
/// # Errors
/// When a module has no file, cannot be parsed or has a `#[path]`.
pub fn target(package: &str, root: &Path, read: Read) -> Result<Target> {
    let mut tree = Tree {
        read,
        modules: Vec::new(),
    };
    let start = Start {
        path: Vec::new(),
        parent: None,
        is_private: false,
        file: root.to_owned(),
        folder: root.parent().unwrap_or(Path::new("")).to_owned(),
    };
    let file = tree
        .parse(root)?
        .with_context(|| format!("{} is not there", root.display()))?;
    tree.add(start, file.items)?;
    Ok(Target {
        package: package.to_owned(),
        modules: tree.modules,
    })
}

/// Returns the package and the root file, below the checkout, of each library and program of the workspace.
///
/// # Errors
/// When the metadata has not the documented form.
pub fn roots(metadata: &Value) -> Result<Vec<(String, PathBuf)>> {
    let array = |value: &Value, what: &str| {
        let array = value.as_array().cloned();
        array.with_context(|| format!("cargo metadata has no {what}"))
    };
    let checkout = metadata["workspace_root"]
        .as_str()
        .context("cargo metadata has no workspace_root")?;
    let members = array(&metadata["workspace_members"], "workspace_members")?;
    let mut roots = Vec::new();
    for package in array(&metadata["packages"], "packages")? {
        if !members.contains(&package["id"]) {
            continue;
        }
        let name = package["name"]
            .as_str()
            .context("a package of the metadata has no name")?;
        for target in array(&package["targets"], "targets")? {
            let kinds = array(&target["kind"], "kind of a target")?;
            let is_product =
                |kind: &Value| !matches!(kind.as_str(), Some("test" | "bench" | "example" | "custom-build"));
            if kinds.iter().any(is_product) {
                let path = Path::new(target["src_path"].as_str().context("a target has no src_path")?);
                roots.push((name.to_owned(), path.strip_prefix(checkout).unwrap_or(path).to_owned()));
            }
        }
    }
    Ok(roots)
}

fn read(file: &Path) -> Result<Option<String>> {
    match fs::read_to_string(folders::workspace().join(file)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading {}", file.display())),
    }
}

/// Modules read so far.
struct Tree<'a> {
    read: Read<'a>,
    modules: Vec<Module>,
}

/// A module that is about to be added.
struct Start {
    path: Vec<String>,
    parent: Option<usize>,
    is_private: bool,
    file: PathBuf,
    /// Where the files of its child modules are.
    folder: PathBuf,
}

impl Tree<'_> {
    fn parse(&self, file: &Path) -> Result<Option<syn::File>> {
        let Some(text) = (self.read)(file)? else {
            return Ok(None);
        };
        match syn::parse_file(&text) {
            Ok(parsed) => Ok(Some(parsed)),
            Err(error) => bail!("{}:{}: {error}", file.display(), error.span().start().line),
        }
    }

    fn add(&mut self, start: Start, items: Vec<Item>) -> Result<()> {
        let index = self.modules.len();
        if let (Some(parent), Some(name)) = (start.parent, start.path.last()) {
            let children = &mut self.modules[parent].children;
            children.entry(name.clone()).or_default().push(index);
        }
        self.modules.push(Module {
            path: start.path,
            parent: start.parent,
            children: BTreeMap::new(),
            is_private: start.is_private,
            file: start.file.clone(),
            items: Vec::new(),
        });
        for item in items {
            if is_for_tests(attributes(&item)) {
                continue;
            }
            match item {
                Item::Mod(module) => self.add_child(index, &start.file, &start.folder, module)?,
                item => self.modules[index].items.push(item),
            }
        }
        Ok(())
    }

    fn add_child(&mut self, parent: usize, file: &Path, folder: &Path, module: ItemMod) -> Result<()> {
        let name = module.ident.to_string().trim_start_matches("r#").to_owned();
        let declared = format!("{}:{}", file.display(), module.ident.span().start().line);
        if module.attrs.iter().any(gives_path) {
            bail!("{declared}: module {name} has a #[path], which is not followed; give its file the usual place");
        }
        let mut start = Start {
            path: self.modules[parent]
                .path
                .iter()
                .cloned()
                .chain([name.clone()])
                .collect(),
            parent: Some(parent),
            is_private: matches!(module.vis, Visibility::Inherited),
            file: file.to_owned(),
            folder: folder.join(&name),
        };
        if let Some((_, items)) = module.content {
            return self.add(start, items);
        }
        for place in [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")] {
            let Some(parsed) = self.parse(&place)? else {
                continue;
            };
            if is_for_tests(&parsed.attrs) {
                return Ok(());
            }
            start.file = place;
            return self.add(start, parsed.items);
        }
        bail!(
            "{declared}: module {name} has no file, neither {name}.rs nor {name}/mod.rs in {}",
            folder.display()
        )
    }
}

/// Returns whether an attribute says in which file a module is, if only under a condition.
fn gives_path(attribute: &Attribute) -> bool {
    match &attribute.meta {
        Meta::NameValue(pair) => pair.path.is_ident("path"),
        Meta::List(list) => {
            let is_path = |token: TokenTree| matches!(token, TokenTree::Ident(word) if word == "path");
            list.path.is_ident("cfg_attr") && list.tokens.clone().into_iter().any(is_path)
        }
        Meta::Path(_) => false,
    }
}

#[cfg(test)]
mod tests;
