//! Checks of Rust projects, run by Cargo.

use crate::SmallProject;
use insta::assert_snapshot;
use magis_evidence::reproduction::{as_test, reproduces, tracebacks};
use magis_syntax::SourceLanguage;

const MANIFEST: &str = "[package]\nname = \"sum-up\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
const WRONG: &str =
    "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\npub fn first(list: &[i32]) -> i32 {\n    list[0]\n}\n";
const RIGHT: &str = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\npub fn first(list: &[i32]) -> i32 {\n    list.first().copied().unwrap_or(0)\n}\n";

const CODE: &str = "src/lib.rs";

fn project() -> SmallProject {
    SmallProject::new(&[("Cargo.toml", MANIFEST), (CODE, WRONG)])
}

/// What the first check of an issue says of the wrong code and of the right one.
fn check_verdict(issue: &str) -> String {
    project().verdict(issue, CODE, RIGHT)
}

/// Writes the first check of an issue as a test.
fn test_of(project: &SmallProject, issue: &str, title: &str) -> String {
    let check = project.first_check(issue);
    let base = project.run(&check);
    as_test(&check, &base, &reproduces(&check, &base).unwrap(), title, None)
}

const STATED: &str = "Wrong result of `add(1, 2)`\n\nWith\n\n```rust\nuse sum_up::add;\nlet two = 2;\nadd(1, two)\n```\n\nI get `-1`, but it should be `3`.\n";

#[test]
fn a_value_that_an_issue_states_is_expected() {
    assert_snapshot!(check_verdict(STATED), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 1, of: 1 }");
}

#[test]
fn what_a_program_prints_is_seen_and_names_of_the_project_need_no_import() {
    let issue = "Sums are wrong\n\n```rust\nfn main() {\n    let sum = add(1, 2);\n    println!(\"the sum is {sum}\");\n}\n```\n\nThis prints:\n\n```\nthe sum is -1\n```\n\nExpected:\n\n```\nthe sum is 3\n```\n";
    assert_snapshot!(check_verdict(issue), @"WrongOutputGone; Gone { grade: ExpectedResult, gone: 1, of: 1 }");
}

#[test]
fn a_failing_assertion_and_a_panic_are_seen() {
    let asserts = "It fails\n\n```rust\nassert_eq!(sum_up::add(1, 2), 3);\n```\n";
    let panics = "Crash\n\n```rust\nsum_up::first(&[])\n```\n\n```\nthread 'main' panicked at src/lib.rs:6:5:\nindex out of bounds: the len is 0 but the index is 0\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n```\n";
    assert_snapshot!(check_verdict(asserts), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 1, of: 1 }");
    assert_snapshot!(check_verdict(panics), @"ExceptionGone; Gone { grade: ExceptionGone, gone: 1, of: 1 }");
    let seen = tracebacks(panics);
    assert_eq!(
        (seen[0].frames[0].path.as_str(), seen[0].frames[0].line),
        ("src/lib.rs", 6)
    );
    let project = project();
    let check = project.first_check(panics);
    assert_snapshot!(project.run(&check).session(&check), @"
    > sum_up::first(&[])
    Uncaught panic: index out of bounds: the len is 0 but the index is 0
        at project/src/lib.rs:6:5
    ");
}

const PAUSE: &str = "pub type Instant = u8;\n\npub fn pause() -> Result<std::time::Duration, String> {\n    Ok(std::time::Duration::from_secs(1))\n}\n";

#[test]
fn names_of_the_standard_library_need_no_import_in_an_example_and_stand_in_its_test() {
    let project = SmallProject::new(&[("Cargo.toml", MANIFEST), (CODE, PAUSE)]);
    let issue = "It waits too short\n\n`(pause()? == Duration::from_secs(2)).to_string()` gives `\"false\"`. I expected `\"true\"`.\n";
    let test = test_of(&project, issue, "It waits too short");
    project.write("tests/issue.rs", &format!("use sum_up::*;\n{test}"));
    let passes = || project.succeeds(&["cargo", "test", "--quiet", "--offline", "--target-dir", "target"]);
    assert!(!passes(), "{test}");
    project.write(CODE, &PAUSE.replace("from_secs(1)", "from_secs(2)"));
    assert!(passes(), "{test}");
}

#[test]
fn a_name_of_the_project_hides_the_same_of_the_standard_library() {
    let project = SmallProject::new(&[("Cargo.toml", MANIFEST), (CODE, PAUSE)]);
    let right = PAUSE.replace("u8", "u16");
    let issue = "It is too small\n\n`Instant::MAX.rotate_left(1).count_ones()` gives `8`. I expected `16`.\n";
    assert_snapshot!(project.verdict(issue, CODE, &right), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 1, of: 1 }");
}

#[test]
fn where_the_projects_name_does_not_fit_that_of_the_standard_library_is_taken() {
    let wrong = "pub struct Duration(pub std::time::Duration);\n\npub fn seconds(time: std::time::Duration) -> u64 {\n    time.as_secs() + 1\n}\n";
    let project = SmallProject::new(&[("Cargo.toml", MANIFEST), (CODE, wrong)]);
    let issue = "One too many\n\n`seconds(Duration::from_secs(2))` gives `3`. I expected `2`.\n";
    assert_snapshot!(project.verdict(issue, CODE, &wrong.replace(" + 1", "")), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 1, of: 1 }");
    project.write(CODE, wrong);
    let told = project.verdict(issue, CODE, &wrong.replace(" + 1", " + one"));
    assert!(told.contains("OtherError"), "{told}");
}

#[test]
fn a_variant_that_is_stated_by_its_name_is_a_value() {
    let wrong = "#[derive(Debug)]\npub enum Ending {\n    Lf,\n    Crlf,\n}\n\npub fn ending(text: &str) -> (String, Ending) {\n    (text.to_owned(), Ending::Crlf)\n}\n";
    let project = SmallProject::new(&[("Cargo.toml", MANIFEST), (CODE, wrong)]);
    let issue = "Wrong ending\n\nWith\n\n```rust\nlet (text, ending) = ending(\"a\\nb\");\nending\n```\n\nI get `Crlf`, but it should be `Lf`. I use `Ending` of the crate.\n";
    let right = wrong.replace("Ending::Crlf)", "Ending::Lf)");
    assert_snapshot!(project.verdict(issue, CODE, &right), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 1, of: 1 }");
}

#[test]
fn a_name_that_prose_only_mentions_is_no_value() {
    let right = "pub fn first(list: &[i32]) -> Result<i32, String> {\n    list.first().copied().ok_or(\"it is empty\".to_owned())\n}\n";
    let wrong = "pub fn first(list: &[i32]) -> Result<i32, String> {\n    Ok(list[0])\n}\n";
    let project = SmallProject::new(&[("Cargo.toml", MANIFEST), (CODE, wrong)]);
    let panics = "Crash\n\n```rust\nsum_up::first(&[])\n```\n\n```\nthread 'main' panicked at src/lib.rs:2:8:\nindex out of bounds: the len is 0 but the index is 0\n```\n\nIt should return `Err` instead.\n";
    assert_snapshot!(project.verdict(panics, CODE, right), @"ExceptionGone; Gone { grade: ExceptionGone, gone: 1, of: 1 }");
    project.write(CODE, wrong);
    let marked = "It cannot be sent\n\n```rust\nsum_up::first(&[1])\n```\n\nThe error should be `Send`.\n";
    assert_eq!(project.checks(marked), []);
}

#[test]
fn a_value_that_is_stated_by_how_it_is_made_is_no_call() {
    let wrong = "use std::time::Duration;\n\n#[derive(Debug)]\npub enum Problem {\n    Unknown { at: usize },\n}\n\npub fn span(text: &str) -> Result<Duration, Problem> {\n    match text {\n        \"1d\" => Ok(Duration::from_secs(86_400)),\n        _ => Err(Problem::Unknown { at: 1 }),\n    }\n}\n";
    let project = SmallProject::new(&[("Cargo.toml", MANIFEST), (CODE, wrong)]);
    let issue = "Wrong result of `span(\"1day\")`\n\n`span(\"1day\")` gives `Err(Unknown { at: 1 })`. I expected `Ok(86400s)`.\n";
    let right = wrong.replace("\"1d\" =>", "\"1d\" | \"1day\" =>");
    assert_snapshot!(project.verdict(issue, CODE, &right), @"ExpectedResult; Gone { grade: ExpectedResult, gone: 1, of: 1 }");
}

#[test]
fn code_that_does_not_compile_shows_nothing() {
    let issue = "It fails\n\n```rust\nsum_up::missing(1)\n```\n\nI get `2`, but it should be `3`.\n";
    let told = check_verdict(issue);
    assert!(told.starts_with("the check ended before its last step"), "{told}");
}

#[test]
fn a_check_is_offered_as_a_test_of_cargo() {
    let project = project();
    let test = test_of(&project, STATED, "Wrong result of `add(1, 2)`");
    assert_snapshot!(test, @r#"
    use sum_up::add;

    #[test]
    fn wrong_result_of_add_1_2() {
        let two = 2;
        assert_eq!(format!("{:?}", add(1, two)), "3");
    }
    "#);
    // It fails on the base, and passes with the right change.
    project.write("tests/issue.rs", &test);
    let passes = || project.succeeds(&["cargo", "test", "--quiet", "--offline", "--target-dir", "target"]);
    assert!(!passes());
    project.write(CODE, RIGHT);
    assert!(passes());
}

#[test]
fn a_project_is_known_by_the_names_of_its_package_and_its_library() {
    let project = project();
    let found = project.in_use();
    assert_eq!(found.language, SourceLanguage::Rust);
    assert_eq!(found.packages, ["sum-up", "sum_up"]);
}

#[test]
fn a_program_of_an_issue_is_offered_as_a_test_by_the_statements_of_its_main() {
    let project = project();
    let issue = "Sums are wrong\n\n```rust\nuse sum_up::add;\n\nfn main() {\n    let sum = add(1, 2);\n    assert_eq!(sum, 3);\n}\n```\n";
    let test = test_of(&project, issue, "Sums are wrong");
    assert_snapshot!(test, @"
    use sum_up::add;

    #[test]
    fn sums_are_wrong() {
        let sum = add(1, 2);
        assert_eq!(sum, 3);
    }
    ");
}

#[test]
fn a_name_that_is_none_is_not_written_into_a_manifest() {
    let manifest = "[package]\nname = \"a\\\" = 1\"\n";
    let project = SmallProject::new(&[("Cargo.toml", manifest), (CODE, WRONG)]);
    assert_eq!(project.in_use().language, SourceLanguage::Python);
}
