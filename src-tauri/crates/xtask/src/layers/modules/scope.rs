//! What the names of a library or program stand for, as far as modules are concerned.
//!
//! It follows `crate`, `self`, `super`, child modules, imports and globs, whether re-exported or private, and keeps types,
//! values and macros apart. It does not know other crates, and nothing of what is inside a type: a path ends at the module
//! that declares its first item.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Fields, Item, Visibility};

use super::is_within;
use super::paths::Found;
use super::tokens::plain;
use super::written::{ImportedName, Namespace, PathUse};
use crate::sources::Target;

/// The names of every module.
pub struct Scope<'a> {
    target: &'a Target,
    names: Vec<Names<'a>>,
}

/// The names of a module beside its child modules.
struct Names<'a> {
    /// Declared in it, and whether for itself and what is below it alone.
    declared: BTreeMap<(Namespace, String), bool>,
    named: BTreeMap<&'a str, Vec<&'a ImportedName>>,
    globs: Vec<&'a ImportedName>,
}

/// Where a name leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Module(usize),
    /// Something that this module declares.
    Inside(usize),
}

/// What happens on the way along a path.
#[derive(Default)]
struct Way {
    entered: BTreeSet<usize>,
    /// Names being looked up; imports may go round in a circle.
    open: Vec<(usize, String, Namespace)>,
}

impl<'a> Scope<'a> {
    /// Collects the names of a target, given what was found in each of its modules.
    pub fn of(target: &'a Target, found: &'a [Found]) -> Self {
        let names = target.modules.iter().zip(found).map(|(module, found)| {
            let mut named: BTreeMap<&str, Vec<&ImportedName>> = BTreeMap::new();
            for import in &found.imports {
                if let Some(name) = &import.name {
                    named.entry(name).or_default().push(import);
                }
            }
            Names {
                declared: module.items.iter().flat_map(declared).collect(),
                named,
                globs: found.imports.iter().filter(|import| import.name.is_none()).collect(),
            }
        });
        Self {
            target,
            names: names.collect(),
        }
    }

    /// Returns every module that a path enters, written in the module `from`.
    pub fn entered(&self, from: usize, mention: &PathUse) -> BTreeSet<usize> {
        let mut way = Way::default();
        for kind in Namespace::ALL
            .into_iter()
            .filter(|kind| mention.kind.is_none_or(|only| only == *kind))
        {
            self.walk(from, &mention.segments, kind, &mut way);
        }
        way.entered
    }

    /// Goes along a path whose last name is of some kind; the names before it are modules, or it ends there.
    fn walk(&self, from: usize, segments: &[String], kind: Namespace, way: &mut Way) -> BTreeSet<Place> {
        let mut places = BTreeSet::new();
        let mut rest = segments;
        let mut at = from;
        while let Some((first, others)) = rest.split_first() {
            match first.as_str() {
                "crate" => at = 0,
                "self" => {}
                "super" => match self.target.modules[at].parent {
                    Some(parent) => at = parent,
                    None => return places,
                },
                _ => break,
            }
            rest = others;
        }
        places.insert(Place::Module(at));
        for (index, name) in rest.iter().enumerate() {
            let wanted = if index + 1 == rest.len() { kind } else { Namespace::Type };
            let mut next = BTreeSet::new();
            for place in places {
                let Place::Module(module) = place else {
                    next.insert(place);
                    continue;
                };
                let found = self.look_up(module, name, wanted, module, way);
                // What a module must have and does not show has been written by a macro, or it is in another crate.
                let is_ours = index > 0 || rest.len() < segments.len();
                if found.is_empty() && is_ours && !self.is_known(module, name, way) {
                    next.insert(Place::Inside(module));
                }
                next.extend(found);
            }
            way.entered.extend(next.iter().map(|place| match place {
                Place::Module(module) | Place::Inside(module) => *module,
            }));
            places = next;
        }
        places
    }

    /// Returns what a name of a module leads to, as far as the module `viewer` can see it.
    fn look_up(&self, at: usize, name: &str, kind: Namespace, viewer: usize, way: &mut Way) -> BTreeSet<Place> {
        let mut places = BTreeSet::new();
        let step = (at, name.to_owned(), kind);
        if way.open.contains(&step) {
            return places;
        }
        way.open.push(step);
        let modules = &self.target.modules;
        let sees_all = is_within(&modules[viewer], &modules[at]);
        let names = &self.names[at];
        if kind == Namespace::Type {
            let children = modules[at].children.get(name).into_iter().flatten();
            let visible = children.filter(|child| sees_all || !modules[**child].is_private);
            places.extend(visible.map(|child| Place::Module(*child)));
        }
        if names
            .declared
            .get(&(kind, name.to_owned()))
            .is_some_and(|private| sees_all || !private)
        {
            places.insert(Place::Inside(at));
        }
        let visible = |import: &&&ImportedName| sees_all || !import.is_private;
        let named: Vec<&ImportedName> = names
            .named
            .get(name)
            .into_iter()
            .flatten()
            .filter(visible)
            .copied()
            .collect();
        for import in &named {
            let before = way.entered.clone();
            let found = self.walk(at, &import.segments, kind, way);
            if found.is_empty() {
                way.entered = before;
            }
            places.extend(found);
        }
        // Names from globs give way to all others.
        if places.is_empty() && named.is_empty() {
            for glob in names.globs.iter().filter(visible) {
                for place in self.walk_glob(at, glob, way) {
                    places.extend(self.look_up(place, name, kind, at, way));
                }
            }
        }
        way.open.pop();
        places
    }

    /// Returns whether a module has a name, of whatever kind.
    fn is_known(&self, at: usize, name: &str, way: &mut Way) -> bool {
        let entered = way.entered.clone();
        let known = Namespace::ALL
            .into_iter()
            .any(|kind| !self.look_up(at, name, kind, at, way).is_empty());
        way.entered = entered;
        known
    }

    /// Returns the modules of which a glob brings everything in; it does so without entering them for each name.
    fn walk_glob(&self, at: usize, glob: &ImportedName, way: &mut Way) -> Vec<usize> {
        let entered = way.entered.clone();
        let places = self.walk(at, &glob.segments, Namespace::Type, way);
        way.entered = entered;
        let modules = places.into_iter().filter_map(|place| match place {
            Place::Module(module) => Some(module),
            Place::Inside(_) => None,
        });
        modules.collect()
    }
}

/// Returns the names that an item declares, and whether they are private. Imports and modules are kept elsewhere.
fn declared(item: &Item) -> Vec<((Namespace, String), bool)> {
    use Namespace::{Macro, Type, Value};
    let (kinds, visibility, name): (&[Namespace], _, _) = match item {
        Item::Const(item) => (&[Value], &item.vis, &item.ident),
        Item::Enum(item) => (&[Type], &item.vis, &item.ident),
        Item::Fn(item) => (&[Value], &item.vis, &item.sig.ident),
        Item::Static(item) => (&[Value], &item.vis, &item.ident),
        Item::Struct(item) if matches!(item.fields, Fields::Named(_)) => (&[Type], &item.vis, &item.ident),
        Item::Struct(item) => (&[Type, Value], &item.vis, &item.ident),
        Item::Trait(item) => (&[Type], &item.vis, &item.ident),
        Item::TraitAlias(item) => (&[Type], &item.vis, &item.ident),
        Item::Type(item) => (&[Type], &item.vis, &item.ident),
        Item::Union(item) => (&[Type], &item.vis, &item.ident),
        Item::Macro(item) => {
            let names = item.ident.iter().map(|name| ((Macro, plain(name)), true));
            return names.collect();
        }
        _ => return Vec::new(),
    };
    let private = matches!(visibility, Visibility::Inherited);
    kinds.iter().map(|kind| ((*kind, plain(name)), private)).collect()
}
