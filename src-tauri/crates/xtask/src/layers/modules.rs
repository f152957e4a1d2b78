//! Import cycles between the modules of a crate.
//!
//! The children of a module, each taken with all that is below it, form a graph: a path from inside one child to something
//! inside another is an arrow. That graph has no cycle. Arrows between a module and its own parent are not looked at: a parent
//! uses its children, and children use what the parent declares. A path through a re-export leads to where the name is declared.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::Visit;
use syn::{Item, UseTree, Visibility};

use crate::sources::{ModulePath, Target};

/// An arrow between two modules, and where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleArrow {
    /// The module that uses, as a path.
    pub from: String,
    /// The module that it uses.
    pub to: String,
    /// The file and the line.
    pub place: (PathBuf, usize),
}

/// Modules that use one another in a ring, with the arrows among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// The crate.
    pub krate: String,
    /// Children of one module.
    pub modules: Vec<String>,
    /// One arrow for each pair of them that has one.
    pub arrows: Vec<ModuleArrow>,
}

impl fmt::Display for Cycle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {} use one another", self.krate, self.modules.join(", "))?;
        for ModuleArrow { from, to, place } in &self.arrows {
            write!(formatter, "\n  {from} -> {to} ({}:{})", place.0.display(), place.1)?;
        }
        Ok(())
    }
}

/// Finds the cycles of a library or program.
pub fn cycles(target: &Target) -> Vec<Cycle> {
    let names = Names::of(target);
    let mut siblings: BTreeMap<ModulePath, Graph> = BTreeMap::new();
    for (module, content) in &target.modules {
        for (segments, line) in paths_in(&content.items) {
            let Some(to) = names.resolve(module, &segments) else {
                continue;
            };
            let shared = module.iter().zip(&to).take_while(|(one, other)| one == other).count();
            if let (Some(from), Some(child)) = (module.get(shared), to.get(shared)) {
                let graph = siblings.entry(module[..shared].to_vec()).or_default();
                let arrow = ModuleArrow {
                    from: module.join("::"),
                    to: to.join("::"),
                    place: (content.file.clone(), line),
                };
                graph
                    .entry(from.clone())
                    .or_default()
                    .entry(child.clone())
                    .or_insert(arrow);
            }
        }
    }
    siblings
        .into_iter()
        .flat_map(|(parent, graph)| {
            rings(&graph)
                .into_iter()
                .map(move |ring| (parent.clone(), graph.clone(), ring))
        })
        .map(|(parent, graph, ring)| cycle(target, &parent, &graph, &ring))
        .collect()
}

/// By child, the children it uses, each with an arrow that says where.
type Graph = BTreeMap<String, BTreeMap<String, ModuleArrow>>;

fn cycle(target: &Target, parent: &ModulePath, graph: &Graph, ring: &BTreeSet<String>) -> Cycle {
    let inside = graph.iter().filter(|(from, _)| ring.contains(*from));
    let arrows = inside.flat_map(|(_, to)| {
        to.iter()
            .filter(|(to, _)| ring.contains(*to))
            .map(|(_, arrow)| arrow.clone())
    });
    let full = |child: &String| parent.iter().chain([child]).cloned().collect::<Vec<_>>().join("::");
    Cycle {
        krate: target.name.clone(),
        modules: ring.iter().map(full).collect(),
        arrows: arrows.collect(),
    }
}

/// The sets of more than one child that all reach each other.
fn rings(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reach = |start: &String| {
        let mut seen = BTreeSet::new();
        let mut open = vec![start];
        while let Some(child) = open.pop() {
            for next in graph.get(child).into_iter().flat_map(BTreeMap::keys) {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|child| (child, reach(child))).collect();
    let mut rings: Vec<BTreeSet<String>> = Vec::new();
    for (child, all) in &reached {
        let ring: BTreeSet<String> = all
            .iter()
            .filter(|other| reached.get(other).is_some_and(|back| back.contains(*child)))
            .cloned()
            .collect();
        if ring.len() > 1 && !rings.contains(&ring) {
            rings.push(ring);
        }
    }
    rings
}

/// What the names of a crate lead to.
struct Names<'a> {
    target: &'a Target,
    reexports: BTreeMap<&'a ModulePath, ReExports>,
}

/// What a module re-exports.
#[derive(Default)]
struct ReExports {
    /// The path behind a name.
    named: BTreeMap<String, Vec<String>>,
    /// The paths of which everything is re-exported.
    globs: Vec<Vec<String>>,
}

impl<'a> Names<'a> {
    fn of(target: &'a Target) -> Self {
        let mut reexports: BTreeMap<&ModulePath, ReExports> = BTreeMap::new();
        for (module, content) in &target.modules {
            for item in &content.items {
                let Item::Use(import) = item else { continue };
                if matches!(import.vis, Visibility::Inherited) {
                    continue;
                }
                let ReExports { named, globs } = reexports.entry(module).or_default();
                for leaf in leaves(&import.tree) {
                    match leaf.name {
                        Some(name) => _ = named.insert(name, leaf.segments),
                        None => globs.push(leaf.segments),
                    }
                }
            }
        }
        Self { target, reexports }
    }

    /// The module that a path leads to, written inside `from`; none where it leads out of the crate.
    fn resolve(&self, from: &ModulePath, segments: &[String]) -> Option<ModulePath> {
        self.resolve_within(from, segments, 8)
    }

    fn resolve_within(&self, from: &ModulePath, segments: &[String], depth: usize) -> Option<ModulePath> {
        let (mut at, mut rest) = match segments.first()?.as_str() {
            "crate" => (ModulePath::new(), &segments[1..]),
            "self" => (from.clone(), &segments[1..]),
            "super" => (from.clone(), segments),
            first => {
                let child: ModulePath = from.iter().cloned().chain([first.to_owned()]).collect();
                self.target
                    .modules
                    .contains_key(&child)
                    .then_some((from.clone(), segments))?
            }
        };
        while rest.first().is_some_and(|segment| segment == "super") {
            at.pop();
            rest = &rest[1..];
        }
        for (index, segment) in rest.iter().enumerate() {
            let child: ModulePath = at.iter().cloned().chain([segment.clone()]).collect();
            if self.target.modules.contains_key(&child) {
                at = child;
                continue;
            }
            if depth > 0
                && let Some(found) = self.reexported(&at, segment, &rest[index + 1..], depth - 1)
            {
                return Some(found);
            }
            break;
        }
        Some(at)
    }

    /// Where a name is declared that a module re-exports.
    fn reexported(&self, module: &ModulePath, name: &str, rest: &[String], depth: usize) -> Option<ModulePath> {
        let ReExports { named, globs } = self.reexports.get(module)?;
        if let Some(path) = named.get(name) {
            let path: Vec<String> = path.iter().chain(rest).cloned().collect();
            return self.resolve_within(module, &path, depth);
        }
        globs.iter().find_map(|glob| {
            let inside = self.resolve_within(module, glob, depth)?;
            (inside != *module && self.declares(&inside, name)).then_some(inside)
        })
    }

    fn declares(&self, module: &ModulePath, name: &str) -> bool {
        self.target.modules[module].items.iter().any(|item| match item {
            Item::Const(item) => item.ident == name,
            Item::Enum(item) => item.ident == name,
            Item::Fn(item) => item.sig.ident == name,
            Item::Static(item) => item.ident == name,
            Item::Struct(item) => item.ident == name,
            Item::Trait(item) => item.ident == name,
            Item::Type(item) => item.ident == name,
            _ => false,
        })
    }
}

/// A path that a `use` brings in, and the name it has then; none for a glob.
struct Leaf {
    segments: Vec<String>,
    name: Option<String>,
    line: usize,
}

fn leaves(tree: &UseTree) -> Vec<Leaf> {
    let leaf = |segments: Vec<String>, name: Option<String>| {
        vec![Leaf {
            segments,
            name,
            line: tree.span().start().line,
        }]
    };
    match tree {
        UseTree::Path(path) => {
            let mut below = leaves(&path.tree);
            for leaf in &mut below {
                if leaf.segments == ["self"] {
                    leaf.segments.clear();
                    leaf.name = leaf
                        .name
                        .take()
                        .map(|name| if name == "self" { path.ident.to_string() } else { name });
                }
                leaf.segments.insert(0, path.ident.to_string());
            }
            below
        }
        UseTree::Name(name) => leaf(vec![name.ident.to_string()], Some(name.ident.to_string())),
        UseTree::Rename(rename) => leaf(vec![rename.ident.to_string()], Some(rename.rename.to_string())),
        UseTree::Glob(_) => leaf(Vec::new(), None),
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}

/// Every path in some items, with its line; inside macros those that begin with `crate`, `self` or `super`.
fn paths_in(items: &[Item]) -> Vec<(Vec<String>, usize)> {
    let mut paths = Paths::default();
    for item in items {
        paths.visit_item(item);
    }
    paths.found
}

#[derive(Default)]
struct Paths {
    found: Vec<(Vec<String>, usize)>,
}

impl Visit<'_> for Paths {
    fn visit_item_use(&mut self, import: &syn::ItemUse) {
        self.found
            .extend(leaves(&import.tree).into_iter().map(|leaf| (leaf.segments, leaf.line)));
    }

    fn visit_path(&mut self, path: &syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 {
            self.found.push((segments, path.span().start().line));
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &syn::Macro) {
        self.tokens(call.tokens.clone());
        syn::visit::visit_macro(self, call);
    }

    fn visit_visibility(&mut self, _: &Visibility) {
        // `pub(in crate::x)` uses nothing.
    }
}

impl Paths {
    fn tokens(&mut self, stream: TokenStream) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(first) if matches!(first.to_string().as_str(), "crate" | "self" | "super") => {
                    let mut segments = vec![first.to_string()];
                    while let Some(next) = after_colons(&tokens[at + 1..]) {
                        segments.push(next);
                        at += 3;
                    }
                    if segments.len() > 1 {
                        self.found.push((segments, first.span().start().line));
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

/// The name behind `::`, where that is what comes next.
fn after_colons(tokens: &[TokenTree]) -> Option<String> {
    match tokens {
        [TokenTree::Punct(one), TokenTree::Punct(two), TokenTree::Ident(name), ..]
            if one.as_char() == ':' && two.as_char() == ':' =>
        {
            Some(name.to_string())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::target;
    use std::path::Path;

    /// The modules of each cycle in a crate made of these files.
    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let read = |path: &Path| {
            files
                .iter()
                .find(|(name, _)| Path::new(name) == path)
                .map(|(_, text)| (*text).to_owned())
        };
        let target = target("made-up".to_owned(), Path::new("lib.rs"), &read).unwrap();
        cycles(&target).into_iter().map(|cycle| cycle.modules).collect()
    }

    fn check(files: &[(&str, &str)], expected: &[&[&str]]) {
        assert_eq!(found(files), expected, "{files:?}");
    }

    const ROOT: (&str, &str) = ("lib.rs", "mod a;\nmod b;");

    #[test]
    fn modules_that_import_each_other_are_a_cycle_and_one_way_is_none() {
        check(
            &[ROOT, ("a.rs", "use crate::b::B;"), ("b.rs", "use super::a::A;")],
            &[&["a", "b"]],
        );
        check(&[ROOT, ("a.rs", "use crate::b::B;"), ("b.rs", "pub struct B;")], &[]);
    }

    #[test]
    fn paths_in_code_types_and_macros_count_and_those_of_tests_do_not() {
        let b = ("b.rs", "use crate::a::A;");
        let inside = |text| check(&[ROOT, ("a.rs", text), b], &[&["a", "b"]]);
        inside("fn f() { crate::b::g(); }");
        inside("struct A(super::b::B);");
        inside("fn f() { format!(\"{}\", crate::b::g()); }");
        check(
            &[ROOT, ("a.rs", "#[cfg(test)]\nmod tests { use crate::b::B; }"), b],
            &[],
        );
    }

    #[test]
    fn a_re_export_leads_to_where_the_name_is_declared() {
        let b = ("b.rs", "use crate::a::A;\npub struct B;");
        let through = |root, a| check(&[("lib.rs", root), ("a.rs", a), b], &[&["a", "b"]]);
        through("mod a; mod b; pub use b::B;", "use crate::B;");
        through("mod a; mod b; pub use b::B as C;", "use crate::C;");
        through("mod a; mod b; pub use b::*;", "use crate::B;");
        check(
            &[
                ("lib.rs", "mod a; mod b; pub use b::*;"),
                ("a.rs", "use crate::Other;"),
                b,
            ],
            &[],
        );
    }

    #[test]
    fn what_is_below_a_module_counts_as_the_module_and_its_parent_does_not() {
        let root = ("lib.rs", "mod a;\nmod b;");
        let a = ("a.rs", "mod inner; pub struct A;");
        check(
            &[
                root,
                a,
                ("a/inner.rs", "use super::A; use crate::b::B;"),
                ("b.rs", "use crate::a::A;"),
            ],
            &[&["a", "b"]],
        );
        check(
            &[root, a, ("a/inner.rs", "use super::A;"), ("b.rs", "use crate::a::A;")],
            &[],
        );
    }

    #[test]
    fn a_module_without_a_file_is_an_error() {
        let read = |path: &Path| (path == Path::new("lib.rs")).then(|| "mod gone;".to_owned());
        let error = target("made-up".to_owned(), Path::new("lib.rs"), &read).err().unwrap();
        assert!(error.to_string().contains("gone"), "{error}");
    }
}
