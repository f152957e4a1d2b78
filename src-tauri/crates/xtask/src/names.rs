//! `cargo xtask names`: public types of one name in two crates, which a reader takes for one another.
//!
//! What may share a name stands in [`ALLOWED`] with the reason. Re-exports declare nothing and do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use syn::{Ident, Item, Visibility};

use crate::sources::{self, Target};

/// Names that stand for different things in several crates, with the reason why that misleads nobody.
const ALLOWED: &[(&str, &str)] = &[];

/// A public type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Declared {
    /// The crate that declares it.
    pub krate: String,
    /// The file and the line.
    pub place: (PathBuf, usize),
}

/// Prints what breaks the rule.
///
/// # Errors
/// When the sources cannot be read.
pub fn run() -> Result<ExitCode> {
    match check()? {
        Ok(remark) => {
            println!("{remark}");
            Ok(ExitCode::SUCCESS)
        }
        Err(broken) => {
            for line in &broken {
                eprintln!("{line}");
            }
            eprintln!(
                "{} names; a reason for one that may stay goes into src-tauri/crates/xtask/src/names.rs",
                broken.len()
            );
            Ok(ExitCode::FAILURE)
        }
    }
}

/// A remark when no name stands for two things, else a line for each that does, and for each exception that is not needed.
///
/// # Errors
/// When the sources cannot be read.
pub fn check() -> Result<Result<String, Vec<String>>> {
    let declared = public_types(&sources::of_workspace()?);
    let broken = judge(&declared, ALLOWED);
    if broken.is_empty() {
        return Ok(Ok(format!(
            "{} public types, {} names shared with a reason",
            declared.len(),
            ALLOWED.len()
        )));
    }
    Ok(Err(broken))
}

/// Every public type by its name.
fn public_types(targets: &[Target]) -> BTreeMap<String, BTreeSet<Declared>> {
    let mut all: BTreeMap<String, BTreeSet<Declared>> = BTreeMap::new();
    for target in targets {
        for module in target.modules.values() {
            for name in module.items.iter().filter_map(public_type) {
                let declared = Declared {
                    krate: target.name.clone(),
                    place: (module.file.clone(), name.span().start().line),
                };
                all.entry(name.to_string()).or_default().insert(declared);
            }
        }
    }
    all
}

fn judge(declared: &BTreeMap<String, BTreeSet<Declared>>, allowed: &[(&str, &str)]) -> Vec<String> {
    let shared =
        |declared: &BTreeSet<Declared>| declared.iter().map(|one| &one.krate).collect::<BTreeSet<_>>().len() > 1;
    let mut broken = Vec::new();
    for (name, declared) in declared {
        if shared(declared) && !allowed.iter().any(|(known, _)| known == name) {
            let places = declared
                .iter()
                .map(|one| format!("{}:{}", one.place.0.display(), one.place.1));
            broken.push(format!("{name}: {}", places.collect::<Vec<_>>().join(", ")));
        }
    }
    for (name, _) in allowed {
        if !declared.get(*name).is_some_and(&shared) {
            broken.push(format!(
                "{name} is allowed in several crates, and stands in one at the most"
            ));
        }
    }
    broken
}

fn public_type(item: &Item) -> Option<&Ident> {
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
mod tests {
    use super::*;
    use std::path::Path;

    fn krate(name: &str, text: &'static str) -> Target {
        sources::target(name.to_owned(), Path::new("lib.rs"), &|_| Some(text.to_owned())).unwrap()
    }

    fn check(one: &'static str, other: &'static str, allowed: &[(&str, &str)], broken: &[&str]) {
        let found = judge(&public_types(&[krate("one", one), krate("other", other)]), allowed);
        let names: Vec<&str> = found
            .iter()
            .map(|line| line.split([':', ' ']).next().unwrap())
            .collect();
        assert_eq!(names, broken, "{found:?}");
    }

    #[test]
    fn a_public_type_of_one_name_in_two_crates_is_named() {
        check("pub struct Step;", "pub enum Step {}", &[], &["Step"]);
        check("pub struct Step;", "pub struct Stage;", &[], &[]);
        check("pub struct Step; mod a { pub struct Step; }", "", &[], &[]);
    }

    #[test]
    fn what_is_not_public_a_re_export_or_for_tests_declares_nothing() {
        check("pub struct Step;", "struct Step;", &[], &[]);
        check("pub struct Step;", "pub(crate) struct Step;", &[], &[]);
        check("pub struct Step;", "pub use one::Step;", &[], &[]);
        check("pub struct Step;", "#[cfg(test)] pub struct Step;", &[], &[]);
    }

    #[test]
    fn an_exception_lets_a_name_through_and_has_to_be_needed() {
        check("pub struct Step;", "pub enum Step {}", &[("Step", "why")], &[]);
        check("pub struct Step;", "", &[("Step", "why")], &["Step"]);
    }
}
