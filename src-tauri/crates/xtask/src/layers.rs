//! `cargo xtask layers`: which crate of the workspace may depend on which, and on which packages from outside; and that no modules
//! of a crate import each other in a ring.
//!
//! The judgement ([`violations`], [`modules::cycles`]) is a function of the crates and the table in [`plan`]; only [`check`] asks
//! cargo and reads files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{cargo, sources};

mod modules;
mod plan;

use plan::{Layer, Outside};

/// What a dependency is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DependencyKind {
    /// Part of the crate, or of its build script.
    Product,
    /// Only for its tests.
    Tests,
}

/// An arrow between two packages, at least the first of them ours.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    /// The crate that depends.
    pub from: String,
    /// The package it depends on.
    pub to: String,
    pub purpose: DependencyKind,
}

/// The crates of the workspace, their arrows, and the arrows among the packages from outside.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The crates of the workspace.
    pub crates: BTreeSet<String>,
    pub arrows: BTreeSet<Arrow>,
    /// What each package, ours or not, brings along when it is built.
    pub brings: BTreeMap<String, BTreeSet<String>>,
}

/// An arrow that must not be, and the rule that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The crate that depends.
    pub from: String,
    /// The package it must not depend on.
    pub to: String,
    /// The rule, as a sentence.
    pub rule: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} -> {}: {}", self.from, self.to, self.rule)
    }
}

/// Holds the rules against the workspace and prints what breaks them.
///
/// # Errors
/// When cargo's metadata or a source file cannot be read.
pub fn run() -> Result<ExitCode> {
    match check()? {
        Ok(remark) => {
            println!("{remark}");
            Ok(ExitCode::SUCCESS)
        }
        Err(broken) => {
            for violation in &broken {
                eprintln!("{violation}");
            }
            eprintln!("{} break the rules in src-tauri/crates/xtask/src/layers", broken.len());
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Asks cargo, reads the sources and judges: a remark when every rule is kept, else a sentence for each that is not.
///
/// # Errors
/// When cargo's metadata or a source file cannot be read.
pub fn check() -> Result<Result<String, Vec<String>>> {
    let metadata = cargo::metadata()?;
    let workspace = parse(&metadata)?;
    let targets = sources::of_workspace(&metadata)?;
    let mut broken: Vec<String> = violations(&workspace).iter().map(ToString::to_string).collect();
    for target in &targets {
        broken.extend(modules::cycles(target)?.iter().map(ToString::to_string));
    }
    if broken.is_empty() {
        let modules: usize = targets.iter().map(|target| target.modules.len()).sum();
        return Ok(Ok(format!(
            "{} crates, {} arrows and {modules} modules, all as they should be",
            workspace.crates.len(),
            workspace.arrows.len()
        )));
    }
    Ok(Err(broken))
}

/// Returns every arrow of the workspace that breaks a rule, in order of its crates.
pub fn violations(workspace: &Workspace) -> Vec<Violation> {
    let unplaced = workspace
        .crates
        .iter()
        .filter(|name| plan::layer_of(name).is_none())
        .map(|name| Violation {
            from: name.clone(),
            to: "the workspace".to_owned(),
            rule: "a crate of the workspace has a place in the table of layers/plan.rs".to_owned(),
        });
    let direct = workspace.arrows.iter().filter_map(|arrow| {
        let rule = if workspace.crates.contains(&arrow.to) {
            between_ours(arrow)
        } else {
            to_outside(arrow)
        };
        rule.map(|rule| Violation {
            from: arrow.from.clone(),
            to: arrow.to.clone(),
            rule,
        })
    });
    let carried = workspace
        .crates
        .iter()
        .flat_map(|name| carried_network(workspace, name));
    unplaced.chain(direct).chain(carried).collect()
}

/// Reads the crates and arrows out of cargo's metadata.
///
/// # Errors
/// When the metadata has not the documented form.
pub fn parse(metadata: &Value) -> Result<Workspace> {
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata has no packages")?;
    let names: BTreeMap<&str, &str> = packages
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package["name"].as_str()?)))
        .collect();
    let members: BTreeSet<&str> = array(&metadata["workspace_members"])
        .filter_map(Value::as_str)
        .collect();
    let mut workspace = Workspace::default();
    for package in packages
        .iter()
        .filter(|package| package["id"].as_str().is_some_and(|id| members.contains(id)))
    {
        let from = package["name"]
            .as_str()
            .context("a package of the metadata has no name")?;
        workspace.crates.insert(from.to_owned());
        for dependency in array(&package["dependencies"]) {
            let to = dependency["name"]
                .as_str()
                .context("a dependency in the metadata has no name")?
                .to_owned();
            let purpose = if dependency["kind"] == "dev" {
                DependencyKind::Tests
            } else {
                DependencyKind::Product
            };
            workspace.arrows.insert(Arrow {
                from: from.to_owned(),
                to,
                purpose,
            });
        }
    }
    for node in array(&metadata["resolve"]["nodes"]) {
        let Some(from) = node["id"].as_str().and_then(|id| names.get(id)) else {
            continue;
        };
        let brought = workspace.brings.entry((*from).to_owned()).or_default();
        for dependency in array(&node["deps"]) {
            // What a build script or a test uses does not end up in the program.
            let linked = array(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null());
            if let Some(to) = dependency["pkg"]
                .as_str()
                .and_then(|id| names.get(id))
                .filter(|_| linked)
            {
                brought.insert((*to).to_owned());
            }
        }
    }
    if workspace.crates.is_empty() || workspace.brings.is_empty() {
        bail!("cargo metadata names no crates of the workspace, or no dependency graph");
    }
    Ok(workspace)
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the rule that an arrow between two crates of the workspace breaks.
fn between_ours(arrow: &Arrow) -> Option<String> {
    let (from, to) = (plan::layer_of(&arrow.from)?, plan::layer_of(&arrow.to)?);
    if arrow.purpose == DependencyKind::Tests && arrow.to == plan::TESTKIT {
        return None;
    }
    match (from, to) {
        (Layer::Dev, _) => None,
        (_, Layer::Dev) => Some("what is shipped does not depend on what is for development".to_owned()),
        (Layer::Number(from), Layer::Number(to)) if to > from => Some(format!(
            "arrows go down only, and this one goes up from layer {from} to layer {to}"
        )),
        (Layer::Number(from), Layer::Number(to)) if to == from => Some(format!(
            "crates on one layer do not know each other, and both are on layer {from}"
        )),
        (Layer::Number(_), Layer::Number(_)) => {
            let allowed = plan::may_use(&arrow.from)?;
            if arrow.purpose == DependencyKind::Tests || allowed.contains(&arrow.to.as_str()) {
                return None;
            }
            Some(format!(
                "of the workspace, {} may use {} only",
                arrow.from,
                allowed.join(", ")
            ))
        }
    }
}

/// Returns the rule that a direct dependency on a package from outside breaks.
fn to_outside(arrow: &Arrow) -> Option<String> {
    if arrow.purpose == DependencyKind::Tests {
        return None;
    }
    let outside = plan::OUTSIDE.iter().find(|outside| outside.covers(&arrow.to))?;
    (!outside.allows(&arrow.from)).then(|| broken(outside))
}

/// Network clients that a crate would link through packages which are not ours.
///
/// What comes through another crate of the workspace is judged there.
fn carried_network(workspace: &Workspace, name: &str) -> Vec<Violation> {
    if plan::NETWORK.allows(name) || plan::layer_of(name) == Some(Layer::Dev) {
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let mut open: Vec<(&str, &str)> = outward(workspace, name).map(|first| (first, first)).collect();
    let mut found = Vec::new();
    while let Some((through, package)) = open.pop() {
        if !seen.insert(package) {
            continue;
        }
        if through != package && plan::NETWORK.covers(package) {
            let rule = format!("{} (it comes through {through})", broken(&plan::NETWORK));
            found.push(Violation {
                from: name.to_owned(),
                to: package.to_owned(),
                rule,
            });
        }
        open.extend(outward(workspace, package).map(|next| (through, next)));
    }
    found
}

fn outward<'a>(workspace: &'a Workspace, name: &str) -> impl Iterator<Item = &'a str> {
    let brought = workspace.brings.get(name).into_iter().flatten();
    brought
        .map(String::as_str)
        .filter(|package| !workspace.crates.contains(*package))
}

fn broken(outside: &Outside) -> String {
    format!("{} is for {} only", outside.what, outside.whose)
}

#[cfg(test)]
mod tests;
