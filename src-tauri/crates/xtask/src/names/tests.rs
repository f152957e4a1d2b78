//! Names in two or three small crates: what is a fault, what is none, and which exceptions are needed.

use std::path::Path;

use super::*;

fn package(name: &str, text: &str) -> Target {
    let read = |_: &Path| Ok(Some(text.to_owned()));
    sources::target(name, &Path::new(name).join("lib.rs"), &read).expect("the sample can be read")
}

/// Returns the faults of the packages `one`, `two` and `three` with these texts, as they are printed.
fn check(texts: &[&str], allowed: &[Shared]) -> Vec<String> {
    let packages = ["one", "two", "three"].into_iter().zip(texts);
    let targets: Vec<Target> = packages.map(|(name, text)| package(name, text)).collect();
    let faults = faults(&public_types(&targets), allowed);
    faults.iter().map(ToString::to_string).collect()
}

fn shared(packages: &'static [&'static str]) -> [Shared; 1] {
    [Shared {
        name: "Step",
        packages,
        reason: "a test",
    }]
}

const NONE: [&str; 0] = [];

#[test]
fn a_public_type_of_one_name_in_two_crates_is_named_with_its_places() {
    assert_eq!(
        check(
            &[
                "pub struct Other;\npub struct Step;",
                "mod private { pub trait Step {} }"
            ],
            &[]
        ),
        ["Step\n    one  one/lib.rs:2\n    two  two/lib.rs:1"]
    );
}

#[test]
fn every_kind_of_public_type_counts() {
    for kind in [
        "struct Step;",
        "enum Step {}",
        "trait Step {}",
        "type Step = u8;",
        "union Step { a: u8 }",
    ] {
        assert_eq!(
            check(&["pub struct Step;", &format!("pub {kind}")], &[]).len(),
            1,
            "{kind}"
        );
    }
}

#[test]
fn what_is_no_public_type_does_not_count() {
    for other in [
        "struct Step;",
        "pub(crate) struct Step;",
        "pub use one::Step;",
        "pub fn Step() {}",
        "pub const Step: u8 = 1;",
        "#[cfg(test)] pub struct Step;",
        "#[cfg(test)] mod tests { pub struct Step; }",
        "pub struct Stage;",
        "",
    ] {
        assert_eq!(check(&["pub struct Step;", other], &[]), NONE, "{other}");
    }
}

#[test]
fn one_crate_may_use_a_name_twice() {
    assert_eq!(check(&["pub struct Step; pub mod a { pub struct Step; }"], &[]), NONE);
    let program = sources::target("one", Path::new("one/lib.rs"), &|_| {
        Ok(Some("pub struct Step;".to_owned()))
    });
    let targets = [
        package("one", "pub struct Step;"),
        program.expect("the sample can be read"),
    ];
    let types = public_types(&targets);
    assert_eq!((types["Step"].len(), faults(&types, &[])), (1, Vec::new()));
}

#[test]
fn an_exception_holds_for_the_crates_it_names() {
    let both = ["pub struct Step;", "pub enum Step {}"];
    assert_eq!(check(&both, &shared(&["one", "two"])), NONE);
    let three = check(
        &["pub struct Step;", "pub enum Step {}", "pub trait Step {}"],
        &shared(&["one", "two"]),
    );
    assert_eq!(three.len(), 1, "{three:?}");
    assert!(three[0].contains("three/lib.rs:1"), "{three:?}");
}

#[test]
fn an_exception_that_is_not_needed_is_named() {
    for second in ["", "struct Step;"] {
        assert_eq!(
            check(&["pub struct Step;", second], &shared(&["one", "two"])),
            ["Step: an exception for [one, two] that is not needed as it is, because the name stands in [one]"]
        );
    }
    let both = ["pub struct Step;", "pub enum Step {}"];
    assert_eq!(check(&both, &shared(&["one", "two", "three"])).len(), 1);
    assert_eq!(check(&both[..1], &shared(&["one"])).len(), 1);
}
