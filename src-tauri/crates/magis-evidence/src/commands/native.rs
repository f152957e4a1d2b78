//! C and C++: `CTest`, and the `test` or `check` target of a makefile.

use super::SelectionError;
use super::family::{Found, Runner, Standing, Wanted, Worded, any_of, in_scratch, owned, with};
use super::files::{Tree, file_name, has_extension, join, outermost, stem};
use crate::results::ReportForm;

/// A runner that starts programs which are tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NativeRunner {
    /// Of `CMake`, in the folder `build`.
    CTest,
    Make,
}

use NativeRunner::{CTest, Make};

pub(super) fn find(tree: &Tree) -> Vec<Found<NativeRunner>> {
    let mut found = Vec::new();
    for folder in outermost(tree.folders_with(&["CMakeLists.txt"])) {
        let path = join(&folder, "CMakeLists.txt");
        let text = tree.text(&path).unwrap_or_default().to_lowercase();
        let mark = ["enable_testing(", "include(ctest)", "add_test("]
            .into_iter()
            .find(|mark| text.contains(mark));
        if let Some(mark) = mark {
            let words = ["ctest", "--test-dir", "build"];
            let reason = format!("{path} has {}", mark.trim_end_matches('('));
            found.push(Found::new(CTest, &words, &folder, Standing::Configured, reason));
        }
    }
    for folder in outermost(tree.folders_with(&["Makefile", "makefile", "GNUmakefile"])) {
        let paths = ["GNUmakefile", "makefile", "Makefile"].map(|name| join(&folder, name));
        let Some(path) = paths.iter().find(|path| tree.has(path)) else {
            continue;
        };
        let text = tree.text(path).unwrap_or_default();
        let has = |target: &str| {
            let rest = |line: &str| line.strip_prefix(target).map(|rest| rest.trim_start().to_owned());
            text.lines()
                .filter_map(rest)
                .any(|rest| rest.starts_with(':') && !rest.starts_with(":="))
        };
        if let Some(target) = ["test", "check"].into_iter().find(|target| has(target)) {
            let reason = format!("{path} has the target '{target}'");
            found.push(Found::new(Make, &["make", target], &folder, Standing::Wrapper, reason));
        }
    }
    found
}

pub(super) fn recognise(words: &[&str]) -> Option<NativeRunner> {
    match file_name(words.first()?) {
        "ctest" => Some(CTest),
        "make" | "gmake" => Some(Make),
        _ => None,
    }
}

impl Runner for NativeRunner {
    fn name(&self) -> &'static str {
        match self {
            CTest => "CTest",
            Make => "make",
        }
    }

    fn environments(&self) -> &'static [&'static str] {
        match self {
            CTest => &["build"],
            Make => &[],
        }
    }

    fn is_test_file(&self, path: &str) -> bool {
        let is_code = has_extension(path, &["c", "cc", "cpp", "cxx"]);
        let (name, folder) = (stem(path), path.rsplit_once('/').map_or("", |(folder, _)| folder));
        let named = name.starts_with("test") || name.ends_with("test") || name.ends_with("tests");
        is_code
            && (named
                || folder
                    .split('/')
                    .any(|part| matches!(part, "test" | "tests" | "unittests")))
    }

    fn preparation(&self) -> Vec<Vec<String>> {
        match self {
            // CTest builds nothing: without this it would test the code as it was built last.
            CTest => vec![
                owned(&["cmake", "-S", ".", "-B", "build"]),
                owned(&["cmake", "--build", "build"]),
            ],
            Make => Vec::new(),
        }
    }

    fn words(&self, words: &[String], wanted: Wanted, scratch: &str) -> Worded {
        match (self, wanted) {
            (CTest, Wanted::Whole | Wanted::Tests(_)) => {
                let junit = format!("{scratch}/report.xml");
                let mut words = with(words, ["--output-on-failure", "--output-junit", junit.as_str()]);
                if let Wanted::Tests(tests) = wanted {
                    let names = any_of(tests.iter().map(|test| test.name.as_str()));
                    words.extend(["-R".to_owned(), format!("^{names}$")]);
                }
                Ok((words, Some(in_scratch(ReportForm::JUnit, "report.xml"))))
            }
            (Make, Wanted::Whole) => Ok((words.to_vec(), None)),
            (CTest | Make, Wanted::Files(_)) | (Make, Wanted::Tests(_)) => Err(SelectionError::Cannot(self.name())),
        }
    }
}
