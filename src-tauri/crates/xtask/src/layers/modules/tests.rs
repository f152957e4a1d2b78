//! The rule on small crates: what is an arrow, what is none, and which arrows form a cycle.

use std::path::Path;

use super::*;
use crate::sources;

fn target(files: &[(&str, &str)]) -> Target {
    let read = |path: &Path| {
        let file = files.iter().find(|(name, _)| Path::new(name) == path);
        Ok(file.map(|(_, text)| (*text).to_owned()))
    };
    sources::target("sample", Path::new(files[0].0), &read).expect("the sample can be read")
}

/// Returns every arrow among siblings, as `crate::a -> crate::b`.
fn arrows(files: &[(&str, &str)]) -> Vec<String> {
    let graphs = graphs(&target(files)).expect("the sample can be followed");
    let all = graphs
        .into_values()
        .flat_map(Graph::into_values)
        .flat_map(BTreeMap::into_values);
    all.map(|arrow| format!("{} -> {}", arrow.from, arrow.to)).collect()
}

/// Checks the arrows that a text in `a` makes in a crate with the modules a, b and c.
fn check(root: &str, a: &str, expected: &[&str]) {
    let root = format!("mod a; mod b; mod c; {root}");
    let b =
        "pub struct Thing; pub struct Other; pub(crate) fn act() {} pub mod deep { pub struct Deep; } struct Hidden;";
    let files = [
        ("lib.rs", root.as_str()),
        ("a.rs", a),
        ("b.rs", b),
        ("c.rs", "pub struct Last;"),
    ];
    assert_eq!(arrows(&files), expected, "{root} with {a}");
}

const TO_B: &[&str] = &["crate::a -> crate::b"];
const NONE: &[&str] = &[];

#[test]
fn imports_are_arrows() {
    check("", "use crate::b::Thing;", TO_B);
    check("", "use super::b;", TO_B);
    check("", "use super::b::{self as other, Thing};", TO_B);
    check("", "use crate::{b::*};", TO_B);
    check("", "use crate::b::Thing as _;", TO_B);
    check("", "mod below { use super::super::b::Thing; }", TO_B);
    check("", "fn f() { use crate::b::Thing; }", TO_B);
    check(
        "",
        "use {crate::b::Thing, super::c::Last};",
        &["crate::a -> crate::b", "crate::a -> crate::c"],
    );
}

#[test]
fn paths_to_parents_children_and_other_crates_are_none() {
    check(
        "struct Own;",
        "use crate::Own; use super::Own as Again; use self::below::X; mod below { pub struct X; }",
        NONE,
    );
    check("", "mod below { use super::Upper; } struct Upper;", NONE);
    check("use b::Thing; fn f(_: a::X) {}", "pub struct X;", NONE);
    check(
        "",
        "use b::Thing; use ::b::Other; fn f() { b::act(); ::b::act(); }",
        NONE,
    );
    check(
        "",
        "pub(in crate::b) struct X; /// See [crate::b::Thing].\nstruct Y;",
        NONE,
    );
}

#[test]
fn paths_in_expressions_types_and_patterns_are_arrows() {
    check("", "fn f() { crate::b::act(); }", TO_B);
    check("", "fn f() { super::b::deep::Deep::new(); }", TO_B);
    check("", "struct X(Vec<crate::b::Thing>);", TO_B);
    check("", "impl crate::b::Trait for X {}", TO_B);
    check("", "fn f<T: super::b::Trait>() {}", TO_B);
    check("", "fn f() { <crate::b::Thing as Clone>::clone(); }", TO_B);
    check("", "fn f() { <X as crate::b::Trait>::clone(); }", TO_B);
    check("", "fn f(x: X) { match x { crate::b::Tuple(_) => {} } }", TO_B);
    check("", "fn f(x: X) { match x { crate::b::Named { .. } => {} } }", TO_B);
    check("", "fn f(x: X) { match x { crate::b::CONST => {} } }", TO_B);
    check("", "fn f() { crate::b::Named { x: 1 }; }", TO_B);
    check("", "#[serde(with = \"crate::b\")] struct X;", TO_B);
    check("", "#[derive(crate::b::Derived)] struct X;", TO_B);
    check("", "#[crate::b::attribute] struct X;", TO_B);
    check("", "fn f() { <Thing>::b::act(); }", NONE);
}

#[test]
fn paths_in_macros_are_arrows() {
    check("", "fn f() { println!(\"{}\", crate::b::act()); }", TO_B);
    check("", "fn f() { select! { x = super::b::act() => { y } } }", TO_B);
    check("", "fn f() { assert!(matches!(x, [crate::b::Thing, ..])); }", TO_B);
    check("", "macro_rules! m { () => { $crate::b::act() } }", TO_B);
    check(
        "",
        "m! { use crate::{c::Last, b::{self}}; }",
        &["crate::a -> crate::b", "crate::a -> crate::c"],
    );
    check(
        "",
        "use crate::c; fn f() { m!(0..c::Last, 'x: c::Last); }",
        &["crate::a -> crate::c"],
    );
    check("", "fn f() { crate::b::m!(); }", TO_B);
    check(
        "",
        "fn f() { m!(\"crate::b::act\", crate, x.b, ::b::act, $b::act); }",
        NONE,
    );
    check("use b as other;", "fn f() { m!(super::other::act); }", TO_B);
}

#[test]
fn re_exports_lead_to_where_the_name_is_declared() {
    check("pub use b::Thing;", "use crate::Thing;", TO_B);
    check("pub(crate) use b::Thing as Renamed;", "use super::Renamed;", TO_B);
    check("use b::Thing;", "fn f(_: super::Thing) {}", TO_B);
    check("pub use b::{deep::{self}};", "use crate::deep::Deep;", TO_B);
    check(
        "pub use self::facade::Thing; mod facade { pub use super::b::Thing; }",
        "use crate::Thing;",
        &[
            "crate::a -> crate::b",
            "crate::a -> crate::facade",
            "crate::facade -> crate::b",
        ],
    );
    check("pub use std::fmt as other;", "use crate::other::Thing;", NONE);
    check("pub use b::Thing;", "use crate::Nothing;", NONE);
    check("pub use b::Thing;", "fn f() { crate::Thing; }", TO_B);
    // A name that a macro declares stands where it is looked for.
    check("pub use b::Made;", "use crate::Made;", TO_B);
    // Names that lead to each other end nowhere, and harm nobody.
    check(
        "pub use b::x; pub use self::y as z; pub use self::z as y;",
        "use crate::y;",
        NONE,
    );
}

#[test]
fn re_exported_globs_bring_what_can_be_seen() {
    check("pub use b::*;", "use crate::Thing;", TO_B);
    check("pub use b::*;", "use crate::deep::Deep;", TO_B);
    check("pub use b::*;", "use crate::Last;", NONE);
    check("pub use b::*;", "use crate::Hidden;", NONE);
    check("pub use b::*; struct Thing;", "use crate::Thing;", NONE);
    check("pub use std::fmt::*;", "use crate::Thing;", NONE);
    check("use b::*;", "use super::*; fn f(_: Thing) {}", TO_B);
    check("use b::*;", "use super::*; fn f() { act(); }", TO_B);
    check("use b::*;", "use super::*; use std::x::Thing; fn f(_: Thing) {}", NONE);
    check("use b::*;", "use super::*; fn f() { Thing { x: 1 } }", TO_B);
}

#[test]
fn globs_bring_no_private_imports_and_modules() {
    let arrows_with = |a: &str| {
        let b = "use crate::c::Last; mod inner { pub struct X; }";
        let root = "mod a; mod b; mod c; pub use b::*;";
        arrows(&[("lib.rs", root), ("a.rs", a), ("b.rs", b), ("c.rs", "pub struct Last;")])
    };
    assert_eq!(
        arrows_with("use crate::Last; use crate::inner::X;"),
        ["crate::b -> crate::c"]
    );
    assert_eq!(arrows_with("use crate::b::Last;").len(), 3);
}

#[test]
fn names_behind_colons_belong_to_something_else() {
    let glob = |text: &str, expected| check("use b::*;", &format!("use super::*; {text}"), expected);
    glob("fn f() { deep::Deep; }", TO_B);
    glob("fn f() { ::deep::Deep; }", NONE);
    glob("fn f() { <u8>::deep::Deep; }", NONE);
    glob("use deep::Deep;", TO_B);
    glob("use ::deep::Deep;", NONE);
    glob("m!(deep::Deep);", TO_B);
    glob("m!(x: deep::Deep);", TO_B);
    glob("m!(::deep::Deep);", NONE);
    glob("m!($deep::Deep);", NONE);
}

#[test]
fn a_name_of_a_module_is_told_from_a_function_of_that_name() {
    let root = "pub use b::act as c;";
    check(root, "fn f() { crate::c(); }", TO_B);
    check(root, "fn f() { crate::c::last(); }", &["crate::a -> crate::c"]);
    check(root, "use crate::c::{self};", &["crate::a -> crate::c"]);
    check(root, "use crate::c;", &["crate::a -> crate::b", "crate::a -> crate::c"]);
}

#[test]
fn what_is_for_tests_only_does_not_count() {
    for text in [
        "#[cfg(test)] mod tests { use crate::b::Thing; }",
        "#[cfg(test)] use crate::b::Thing;",
        "#[test] fn f() { crate::b::act(); }",
        "struct X { #[cfg(test)] x: crate::b::Thing }",
        "enum X { #[cfg(test)] X(crate::b::Thing) }",
        "impl X { #[cfg(test)] fn f() { crate::b::act(); } }",
        "trait X { #[cfg(test)] fn f() -> crate::b::Thing; }",
        "fn f() { #[cfg(test)] let x = crate::b::act(); }",
        "fn f() { #[cfg(test)] { crate::b::act(); } }",
        "fn f() { #[cfg(test)] crate::b::act(); }",
        "fn f() { #[cfg(test)] m!(crate::b::act()); }",
        "fn f() { #[cfg(test)] use crate::b::act; }",
        "fn f() { match 1 { #[cfg(test)] 1 => crate::b::act(), _ => {} } }",
        "fn f() { X { #[cfg(test)] x: crate::b::act() } }",
    ] {
        check("", text, NONE);
        check(
            "",
            &text.replace("#[cfg(test)]", "#[cfg(not(test))]").replace("#[test]", ""),
            TO_B,
        );
    }
}

#[test]
fn arrows_are_between_the_children_of_the_nearest_module_around_both() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "mod one; mod two;"),
        (
            "a/one.rs",
            "use super::two::Two; mod inner { use crate::b::B; use super::super::two::Two; }",
        ),
        ("a/two.rs", "pub struct Two;"),
        ("b.rs", "pub struct B;"),
    ];
    assert_eq!(
        arrows(&files),
        ["crate::a -> crate::b", "crate::a::one -> crate::a::two"]
    );
}

/// Returns the cycles of a crate with modules of these texts, as they are printed.
fn printed(texts: &[(&str, &str)]) -> Vec<String> {
    let declared = texts.iter().map(|(name, _)| name.trim_end_matches(".rs"));
    let root = format!("mod {};", declared.collect::<Vec<_>>().join("; mod "));
    let files: Vec<(&str, &str)> = [("lib.rs", root.as_str())]
        .into_iter()
        .chain(texts.iter().copied())
        .collect();
    let cycles = cycles(&target(&files)).expect("the sample can be followed");
    cycles.iter().map(ToString::to_string).collect()
}

#[test]
fn a_cycle_is_printed_with_an_arrow_and_its_place_for_each_module() {
    assert_eq!(
        printed(&[
            ("a.rs", "\nuse crate::b::B;\nuse crate::b::C;"),
            ("b.rs", "fn f() {\n super::a::f() }")
        ]),
        ["sample: crate::a -> crate::b -> crate::a\
          \n    a.rs:2  crate::a -> crate::b  crate::b::B\
          \n    b.rs:2  crate::b -> crate::a  super::a::f"]
    );
}

#[test]
fn arrows_that_lead_nowhere_back_are_no_cycle() {
    let uses = [
        ("a.rs", "use crate::b::B; use crate::c::C;"),
        ("b.rs", "use crate::c::C;"),
        ("c.rs", ""),
    ];
    assert_eq!(printed(&uses), [""; 0]);
}

#[test]
fn a_cycle_of_parts_is_one_of_the_modules_around_them() {
    // Neither `a::x` and `b` nor `a::y` and `b` use each other, but `a` as a whole and `b` do.
    let found = printed(&[
        ("a.rs", "mod x { use crate::b::B; } pub mod y { pub struct Y; }"),
        ("b.rs", "use crate::a::y::Y;"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("sample: crate::a -> crate::b -> crate::a\n"),
        "{found:?}"
    );
}

#[test]
fn short_cycles_come_first_and_share_no_arrow() {
    let graph = |arrows: &[(&'static str, &'static str)]| {
        let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (from, to) in arrows {
            graph.entry(from).or_default().insert(to);
        }
        rings::shortest(&graph)
    };
    let long = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")];
    assert_eq!(graph(&long), [["a", "b", "c", "d"]]);
    assert_eq!(
        graph(&[&long[..], &[("c", "b"), ("x", "a")]].concat()),
        [vec!["b", "c"]]
    );
    assert_eq!(
        graph(&[&long[..], &[("d", "e"), ("e", "d")]].concat()),
        [vec!["d", "e"], vec!["a", "b", "c", "d"]]
    );
    assert_eq!(graph(&[("a", "b"), ("b", "c"), ("a", "c")]), [[""; 0]; 0]);
}

#[test]
fn a_module_inside_a_function_is_refused() {
    let error = cycles(&target(&[("lib.rs", "fn f() {\n mod inner {} }")])).expect_err("it cannot be followed");
    assert!(
        error.to_string().starts_with("lib.rs:2: a module inside a function"),
        "{error}"
    );
}

#[test]
fn modules_of_one_name_under_different_conditions_count_as_one() {
    let root =
        "#[cfg(unix)] mod a { use crate::b::B; } #[cfg(windows)] mod a { pub struct A; } mod b { use crate::a::A; }";
    let found = cycles(&target(&[("lib.rs", root)])).expect("the sample can be followed");
    assert_eq!(found.len(), 1, "{found:?}");
}
