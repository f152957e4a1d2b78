//! Java and Kotlin: Maven and Gradle, by the project's wrapper scripts where it has them.

use super::family::{Found, Runner, Standing, Wanted, Worded, distinct, with, without_parameters};
use super::files::{Tree, has_extension, join, outermost, stem};
use super::{FilePattern, ReportPlace, TestReport};
use crate::results::{ReportForm, TestId};

/// A runner of tests on the Java virtual machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JvmRunner {
    Maven,
    Gradle,
}

use JvmRunner::{Gradle, Maven};

pub(super) fn find(tree: &Tree) -> Vec<Found<JvmRunner>> {
    let gradle = [
        "settings.gradle",
        "settings.gradle.kts",
        "build.gradle",
        "build.gradle.kts",
    ];
    let mut found = Vec::new();
    for folder in outermost(tree.folders_with(&["pom.xml"])) {
        let program = if tree.has(&join(&folder, "mvnw")) {
            "./mvnw"
        } else {
            "mvn"
        };
        let words = [program, "-B", "--offline", "test"];
        let reason = format!("{} is there", join(&folder, "pom.xml"));
        found.push(Found::new(Maven, &words, &folder, Standing::Configured, reason));
    }
    for folder in outermost(tree.folders_with(&gradle)) {
        let program = if tree.has(&join(&folder, "gradlew")) {
            "./gradlew"
        } else {
            "gradle"
        };
        let file = gradle
            .iter()
            .map(|name| join(&folder, name))
            .find(|path| tree.has(path));
        let reason = format!("{} is there", file.unwrap_or_default());
        let words = [program, "--offline", "test"];
        found.push(Found::new(Gradle, &words, &folder, Standing::Configured, reason));
    }
    found
}

pub(super) fn recognise(words: &[&str]) -> Option<JvmRunner> {
    let goal = |names: &[&str]| {
        words
            .iter()
            .any(|word| names.contains(&word.rsplit(':').next().unwrap_or(word)))
    };
    match stem(words.first()?) {
        "mvn" | "mvnw" if goal(&["test", "verify", "install", "package"]) => Some(Maven),
        "gradle" | "gradlew" if goal(&["test", "check", "build"]) => Some(Gradle),
        _ => None,
    }
}

impl Runner for JvmRunner {
    fn name(&self) -> &'static str {
        match self {
            Maven => "Maven",
            Gradle => "Gradle",
        }
    }

    fn environments(&self) -> &'static [&'static str] {
        match self {
            Maven => &["target"],
            Gradle => &["build", ".gradle"],
        }
    }

    fn is_test_file(&self, path: &str) -> bool {
        let is_code = has_extension(path, &["java", "kt", "groovy", "scala"]);
        let name = stem(path);
        let named = name.starts_with("Test")
            || ["Test", "Tests", "TestCase", "Spec", "IT"]
                .iter()
                .any(|end| name.ends_with(end));
        is_code && named && (path.starts_with("src/test/") || path.contains("/src/test/"))
    }

    fn words(&self, words: &[String], wanted: Wanted, _scratch: &str) -> Worded {
        let classes = |files: &[String]| -> Vec<String> { files.iter().map(|file| class_of(file)).collect() };
        let (words, below) = match self {
            Maven => {
                let names = match wanted {
                    Wanted::Whole => Vec::new(),
                    Wanted::Files(files) => classes(files),
                    Wanted::Tests(tests) => tests.iter().map(|test| method(test, "#")).collect(),
                };
                // A failing module must not keep the modules behind it from being tested.
                let mut more = vec!["-Dmaven.test.failure.ignore=true".to_owned()];
                if !names.is_empty() {
                    more.push(format!("-Dtest={}", distinct(names).join(",")));
                    more.push("-Dsurefire.failIfNoSpecifiedTests=false".to_owned());
                }
                (with(words, more), "target/surefire-reports")
            }
            Gradle => {
                let names = match wanted {
                    Wanted::Whole => Vec::new(),
                    Wanted::Files(files) => classes(files),
                    Wanted::Tests(tests) => tests.iter().map(|test| method(test, ".")).collect(),
                };
                let filters = distinct(names)
                    .into_iter()
                    .flat_map(|name| ["--tests".to_owned(), name]);
                // The filters belong to the task before them.
                (
                    with(&with(&cleaning(words), filters), ["--continue"]),
                    "build/test-results",
                )
            }
        };
        let place = ReportPlace::Project(FilePattern {
            below,
            prefix: "TEST-",
            suffix: ".xml",
        });
        let form = ReportForm::JUnit;
        Ok((words, Some(TestReport { form, place })))
    }
}

/// Has the results of earlier tests removed: Gradle runs no test again, and writes no report, where nothing has changed since.
fn cleaning(words: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let (project, task) = word
            .rsplit_once(':')
            .map_or(("", word.as_str()), |(project, task)| (project, task));
        if at > 0 && matches!(task, "test" | "check" | "build") {
            let separator = if word.contains(':') { ":" } else { "" };
            all.push(format!("{project}{separator}cleanTest"));
        }
        all.push(word.clone());
    }
    all
}

/// Makes `demo.CalcTest` of `src/test/java/demo/CalcTest.java`.
fn class_of(file: &str) -> String {
    let path = file.split_once("src/test/").map_or(file, |(_, path)| path);
    let path = path.split_once('/').map_or(path, |(_, path)| path);
    let path = path.rsplit_once('.').map_or(path, |(path, _)| path);
    path.replace('/', ".")
}

fn method(test: &TestId, separator: &str) -> String {
    match without_parameters(&test.name) {
        "" => test.group.clone(),
        name => format!("{}{separator}{name}", test.group),
    }
}
