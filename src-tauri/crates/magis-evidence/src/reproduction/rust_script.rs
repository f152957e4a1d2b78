//! A test in Rust that somebody wrote: statements, a program, or functions that are tests.

use crate::reproduction::check::{Check, CheckCommand, CheckFile, Marker, SECOND_FILE};
use crate::reproduction::packages::ProjectInUse;
use crate::reproduction::rust_test::{head_of, name_of, returns_error};
use crate::reproduction::standard;
use magis_syntax::{SourceLanguage, top_statements};

/// The file of a check that is a script in Rust of its own.
pub const RUST_SCRIPT_FILE: &str = "test_issue.rs";

impl Check {
    /// Makes a check of a script in Rust that asserts what it wants of a project: it is judged by its exit status alone.
    pub fn of_rust_script(script: &str, project: &ProjectInUse, marker: Marker) -> Self {
        // A name may be the project's or the standard library's.
        let imports = standard::imports(script).join(" ");
        let mut files = vec![
            ("Cargo.toml", project.manifest_of_user()),
            ("src/lib.rs", as_library(script, project, "")),
        ];
        if !imports.is_empty() {
            files.push((SECOND_FILE, as_library(script, project, &imports)));
        }
        let file = |(path, text): (&str, String)| CheckFile {
            path: path.to_owned(),
            text,
        };
        Self {
            files: files.into_iter().map(file).chain([CheckFile::of_package()]).collect(),
            command: CheckCommand::Rust,
            steps: Vec::new(),
            claims: Vec::new(),
            warnings: Vec::new(),
            marker,
        }
    }
}

/// What a script is, by its form.
enum Form {
    Tests,
    /// It has a `main`, which is the test.
    Program,
    Statements,
}

fn form_of(script: &str) -> Form {
    let has = |word: &str| script.lines().any(|line| line.trim_start().starts_with(word));
    if has("#[test]") {
        Form::Tests
    } else if has("fn main()") || has("pub fn main()") {
        Form::Program
    } else {
        Form::Statements
    }
}

/// Returns a script as the library of a package that Cargo tests, each of its lines one further down.
fn as_library(script: &str, project: &ProjectInUse, imports: &str) -> String {
    let library = project.library();
    let script = of_library(script, library);
    let head = format!(
        "#![allow(warnings)] {} {imports}",
        import_of_all(&script, library).unwrap_or_default()
    );
    match form_of(&script) {
        Form::Tests => format!("{head}\n{script}"),
        Form::Program => {
            let script = script.replacen("pub fn main()", "fn main()", 1);
            format!("{head}\n{}", script.replacen("fn main()", "#[test] fn main()", 1))
        }
        Form::Statements => {
            // What the project calls `Result` is another one.
            let (returns, last) = match returns_error(&script) {
                ("", _) => ("", ""),
                (_, last) => (
                    " -> ::std::result::Result<(), ::std::boxed::Box<dyn ::std::error::Error>>",
                    last,
                ),
            };
            format!("{head} #[test] fn test_issue(){returns} {{\n{script}\n{last} }}\n")
        }
    }
}

/// Returns the import of all that a project has, for a script that imports nothing of it.
fn import_of_all(script: &str, library: &str) -> Option<String> {
    (!script.contains(&format!("{library}::"))).then(|| format!("use {library}::*;"))
}

/// Returns a script as a test for the project; none where it does not parse. `title` is the issue's.
pub(super) fn as_test(script: &str, project: &ProjectInUse, title: &str) -> Option<String> {
    let library = project.library();
    let script = of_library(script, library);
    let statements = top_statements(SourceLanguage::Rust, &script)?;
    let name = name_of(title);
    let mut own = standard::imports(&script);
    own.extend(import_of_all(&script, library));
    match form_of(&script) {
        Form::Tests => Some(format!("{}{}\n", head_of(&own), script.trim())),
        Form::Program => {
            let script = script.replacen("pub fn main()", "fn main()", 1);
            let test = script.replacen("fn main()", &format!("#[test]\nfn {name}()"), 1);
            Some(format!("{}{}\n", head_of(&own), test.trim()))
        }
        Form::Statements => {
            let (returns, last) = returns_error(&script);
            let sources = statements.into_iter().map(|statement| statement.source);
            let (uses, mut body): (Vec<String>, Vec<String>) = sources.partition(|source| source.starts_with("use "));
            body.extend((!last.is_empty()).then(|| last.to_owned()));
            let body: Vec<String> = body
                .iter()
                .flat_map(|text| text.lines())
                .map(|line| format!("    {line}"))
                .collect();
            let head = head_of(&[own, uses].concat());
            Some(format!(
                "{head}#[test]\nfn {name}(){returns} {{\n{}\n}}\n",
                body.join("\n")
            ))
        }
    }
}

/// Returns a script with the project under its own name, where it stands as if it lay in the project.
fn of_library(script: &str, library: &str) -> String {
    let line = |line: &str| match line.strip_prefix("use super::") {
        Some(rest) => format!("use {library}::{rest}\n"),
        None => {
            let mut named = String::new();
            let mut parts = line.split("crate::").peekable();
            while let Some(part) = parts.next() {
                named += part;
                let is_end_of_name = part.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$'));
                if parts.peek().is_some() {
                    named += if is_end_of_name { "crate" } else { library };
                    named += "::";
                }
            }
            named + "\n"
        }
    };
    script.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> ProjectInUse {
        ProjectInUse {
            language: SourceLanguage::Rust,
            packages: vec!["sum-up".to_owned(), "sum_up".to_owned()],
        }
    }

    #[test]
    fn every_form_of_a_test_is_one_for_the_project() {
        let check = |script: &str, expected: &str| {
            assert_eq!(as_test(script, &project(), "Sums are wrong").as_deref(), Some(expected));
        };
        check(
            "use sum_up::add;\nassert_eq!(add(1, 2), 3);\n",
            "use sum_up::add;\n\n#[test]\nfn sums_are_wrong() {\n    assert_eq!(add(1, 2), 3);\n}\n",
        );
        check(
            "use crate::add;\n\nfn main() {\n    assert_eq!(add(1, 2), 3);\n}\n",
            "use sum_up::add;\n\n#[test]\nfn sums_are_wrong() {\n    assert_eq!(add(1, 2), 3);\n}\n",
        );
        let own = "use super::*;\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n";
        check(own, &own.replace("super", "sum_up"));
        check(
            "assert_eq!(add(1, 2), 3);\n",
            "use sum_up::*;\n\n#[test]\nfn sums_are_wrong() {\n    assert_eq!(add(1, 2), 3);\n}\n",
        );
        assert_eq!(as_test("assert_eq!(add(1 2), 3", &project(), "Sums are wrong"), None);
    }

    #[test]
    fn a_name_that_ends_like_the_crates_own_is_another() {
        let named = of_library("use my_crate::add;\nuse crate::one;\ncrate::two();\n", "lib");
        assert_eq!(named, "use my_crate::add;\nuse lib::one;\nlib::two();\n");
    }

    #[test]
    fn lines_of_a_script_stand_one_further_down_in_the_library() {
        let line = "assert_eq!(add(1, 2), 3);";
        for script in [
            format!("let one = 1;\n{line}\n"),
            format!("fn main() {{\n{line}\n}}\n"),
            format!("pub fn main() {{\n{line}\n}}\n"),
            format!("#[test] fn adds() {{\n{line}\n}}\n"),
        ] {
            let library = as_library(&script, &project(), "");
            assert_eq!(library.lines().nth(2), Some(line), "{library}");
            assert_eq!(library.matches("#[test] fn").count(), 1, "{library}");
            assert!(!library.contains("pub "), "{library}");
        }
    }
}
