//! Import cycles between the modules of a library or program.
//!
//! The rule: for every module, look at its child modules, each taken together with all that is below it. A path from inside
//! child A to something inside its sibling B is an arrow A -> B, and the arrows among the children of one module form no
//! cycle. Arrows between a module and its own parent are not looked at: a parent uses its children, and children may use
//! what the parent defines. What is compiled for tests only does not count.
//!
//! A path is a `use`, or stands in an expression, a type, a pattern, an attribute or the text given to a macro. It leads to
//! each module that it enters, and where it goes through a re-export also to the module behind that ([`scope`]).
//!
//! What is not seen: a method called on a value, paths that a macro puts together, textual scope of `macro_rules`
//! (`#[macro_use]`), and a name that a glob brings in where a macro's text has it without `::`. A local variable that bears
//! the name of something from a glob counts as that thing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::sources::{Module, Target};

mod paths;
mod rings;
mod scope;
mod tokens;
mod written;

use scope::Scope;

/// An arrow between two children of a module, and a path that makes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleArrow {
    /// The file in which the path stands, below the checkout.
    pub file: PathBuf,
    /// The line in which it stands.
    pub line: usize,
    /// The path as it is written.
    pub path: String,
    /// The child from which it leads, itself as a path.
    pub from: String,
    /// The child to which it leads.
    pub to: String,
}

/// Children of one module that use one another in a ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    pub package: String,
    /// One arrow from each of the children to the next, and from the last to the first.
    pub arrows: Vec<ModuleArrow>,
}

impl fmt::Display for Cycle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.arrows.iter().map(|arrow| &arrow.from);
        let names: Vec<&str> = names
            .chain(self.arrows.first().map(|arrow| &arrow.from))
            .map(String::as_str)
            .collect();
        write!(formatter, "{}: {}", self.package, names.join(" -> "))?;
        for arrow in &self.arrows {
            let ModuleArrow {
                file,
                line,
                path,
                from,
                to,
            } = arrow;
            write!(formatter, "\n    {}:{line}  {from} -> {to}  {path}", file.display())?;
        }
        Ok(())
    }
}

/// Finds cycles of a library or program, short ones first, until every cycle that is left shares an arrow with one found.
///
/// # Errors
/// When a module stands inside a function, where paths mean something else.
pub fn cycles(target: &Target) -> Result<Vec<Cycle>> {
    let mut found = Vec::new();
    for graph in graphs(target)?.into_values() {
        let plain: BTreeMap<&str, BTreeSet<&str>> = graph
            .iter()
            .map(|(from, arrows)| (from.as_str(), arrows.keys().map(String::as_str).collect()))
            .collect();
        for ring in rings::shortest(&plain) {
            let next = ring.iter().cycle().skip(1);
            let arrows = ring.iter().zip(next).map(|(from, to)| graph[*from][*to].clone());
            found.push(Cycle {
                package: target.package.clone(),
                arrows: arrows.collect(),
            });
        }
    }
    Ok(found)
}

/// By child, the siblings it uses, each with the first path that leads there.
type Graph = BTreeMap<String, BTreeMap<String, ModuleArrow>>;

/// Returns the graph among the children of each module that has arrows among them, by that module's path.
fn graphs(target: &Target) -> Result<BTreeMap<Vec<String>, Graph>> {
    let found: Vec<paths::Found> = target.modules.iter().map(|module| paths::of(&module.items)).collect();
    for (module, found) in target.modules.iter().zip(&found) {
        if let Some(line) = found.nested_modules.first() {
            let file = module.file.display();
            bail!("{file}:{line}: a module inside a function is not followed; move it out of the function");
        }
    }
    let scope = Scope::of(target, &found);
    let mut graphs: BTreeMap<Vec<String>, Graph> = BTreeMap::new();
    for (index, (module, found)) in target.modules.iter().zip(&found).enumerate() {
        for mention in &found.mentions {
            for entered in scope.entered(index, mention) {
                let Some((shared, from, to)) = siblings(&module.path, &target.modules[entered].path) else {
                    continue;
                };
                let arrow = ModuleArrow {
                    file: module.file.clone(),
                    line: mention.line,
                    path: mention.segments.join("::"),
                    from: full_name(shared, from),
                    to: full_name(shared, to),
                };
                let graph = graphs.entry(shared.to_vec()).or_default();
                let kept = graph.entry(arrow.from.clone()).or_default().entry(arrow.to.clone());
                kept.and_modify(|kept| *kept = arrow.clone().min(kept.clone()))
                    .or_insert(arrow);
            }
        }
    }
    Ok(graphs)
}

/// Returns where the paths of two modules part: what they share, and the next name of each. None when one is above the
/// other.
fn siblings<'a>(from: &'a [String], to: &'a [String]) -> Option<(&'a [String], &'a str, &'a str)> {
    let shared = from.iter().zip(to).take_while(|(one, other)| one == other).count();
    Some((&from[..shared], from.get(shared)?, to.get(shared)?))
}

fn full_name(parent: &[String], child: &str) -> String {
    let names = parent.iter().map(String::as_str);
    ["crate"]
        .into_iter()
        .chain(names)
        .chain([child])
        .collect::<Vec<_>>()
        .join("::")
}

/// Returns whether a module is another one or stands somewhere below it.
fn is_within(module: &Module, other: &Module) -> bool {
    module.path.starts_with(&other.path)
}

#[cfg(test)]
mod tests;
