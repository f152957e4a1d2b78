//! Comments that are missing or say too little, in a library and in a program of one file.

use std::path::Path;

use super::*;

fn check(file: &str, text: &str) -> Vec<String> {
    let read = |_: &Path| Ok(Some(text.to_owned()));
    let target = sources::target("one", Path::new(file), &read).expect("the sample can be read");
    lacks(&[target]).iter().map(ToString::to_string).collect()
}

const NONE: [&str; 0] = [];

#[test]
fn what_a_library_declares_public_is_documented() {
    for item in [
        "pub fn f() {}",
        "pub struct S;",
        "pub enum E {}",
        "pub trait T {}",
        "pub const C: u8 = 1;",
        "pub type A = u8;",
        "/// A place on a map.\npub struct S;\nimpl S { pub fn f(self) {} }",
    ] {
        let lacking = format!("lib.rs:{}  is public and not documented", item.lines().count());
        assert_eq!(check("lib.rs", item), [lacking], "{item}");
        assert_eq!(check("main.rs", item), NONE, "a program has no border: {item}");
    }
}

#[test]
fn fields_variants_and_what_is_private_need_no_comment() {
    let text =
        "/// A place on a map, in degrees.\npub struct Place { pub north: f64 }\nfn f() {}\npub(crate) enum E { A }
        /// What can be drawn on it.\npub enum Mark { Dot }\nimpl Mark { fn f(self) {} }\nimpl Clone for Mark {}";
    assert_eq!(check("lib.rs", text), NONE);
}

#[test]
fn a_comment_of_three_words_says_more_or_goes() {
    for text in [
        "struct S {\n    /// The path.\n    path: u8,\n}",
        "enum E {\n    /// It is new.\n    New,\n}",
        "trait T {\n    /// The card.\n    fn card(&self);\n}",
        "struct S;\nimpl S {\n    /// One run.\n    fn run(&self) {}\n}",
    ] {
        let lacking = check("main.rs", text);
        assert_eq!(lacking.len(), 1, "{text}: {lacking:?}");
        assert!(lacking[0].ends_with("say more, or nothing"), "{lacking:?}");
    }
}

#[test]
fn units_numbers_and_code_are_enough() {
    for comment in [
        "In bytes.",
        "From 0.",
        "Runs `magis solve`.",
        "The tree that a run reads.",
    ] {
        assert_eq!(
            check("main.rs", &format!("/// {comment}\nfn f() {{}}")),
            NONE,
            "{comment}"
        );
    }
}

#[test]
fn the_help_of_a_command_line_may_be_short() {
    let text = "#[derive(Debug, clap::Args)]\nstruct S {\n    /// The seed.\n    seed: u64,\n}";
    assert_eq!(check("main.rs", text), NONE);
}
