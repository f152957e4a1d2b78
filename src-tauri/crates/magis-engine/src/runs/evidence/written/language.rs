//! What differs between the languages in which tests are written.

use super::{WrittenEnd, javascript, python, rust};
use magis_core::RepoPath;
use magis_evidence::commands::TestRunner;
use magis_evidence::reproduction::{
    Check, Marker, ProjectInUse, RUST_SCRIPT_FILE, SCRIPT_FILE, rust_script_as_test, script_as_test,
};
use magis_syntax::SourceLanguage;

/// A language in which tests are written out of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestLanguage {
    Python,
    JavaScript,
    Rust,
}

impl TestLanguage {
    /// Returns the language of a test that shows a fault in a file of the project; none where none is written.
    pub fn for_file(path: &RepoPath, project: &ProjectInUse) -> Option<Self> {
        match SourceLanguage::of(path)? {
            SourceLanguage::Python => Some(Self::Python),
            // The packages of a project that is mostly something else are not those that Node loads, and it reads no JSX.
            SourceLanguage::JavaScript
                if project.language == SourceLanguage::JavaScript && path.extension() != "jsx" =>
            {
                Some(Self::JavaScript)
            }
            SourceLanguage::Rust if project.language == SourceLanguage::Rust => Some(Self::Rust),
            _ => None,
        }
    }

    /// Returns the language of a test by its file.
    pub fn of_test(path: &RepoPath) -> Self {
        match SourceLanguage::of(path) {
            Some(SourceLanguage::JavaScript) => Self::JavaScript,
            Some(SourceLanguage::Rust) => Self::Rust,
            _ => Self::Python,
        }
    }

    /// Returns the language as code is written in it.
    pub fn source(self) -> SourceLanguage {
        match self {
            Self::Python => SourceLanguage::Python,
            Self::JavaScript => SourceLanguage::JavaScript,
            Self::Rust => SourceLanguage::Rust,
        }
    }

    /// Returns how the prompt names the assertion that a test ends with.
    pub fn assertion(self) -> &'static str {
        match self {
            Self::Python => "`assert`",
            Self::JavaScript => "`assert.deepStrictEqual` of `node:assert`",
            Self::Rust => "`assert_eq!`",
        }
    }

    /// Returns the file that a test is written into.
    pub fn file(self, script: &str) -> &'static str {
        match self {
            Self::Python => SCRIPT_FILE,
            Self::JavaScript => Check::node_script_file(script),
            Self::Rust => RUST_SCRIPT_FILE,
        }
    }

    /// Makes the check that runs a test of a project.
    pub fn check(self, script: &str, project: &ProjectInUse, marker: Marker) -> Check {
        match self {
            Self::Python => Check::of_script(script, marker),
            Self::JavaScript => Check::of_node_script(script, marker),
            Self::Rust => Check::of_rust_script(script, project, marker),
        }
    }

    /// Returns a test as one for the project. A script of Node loads what it needs from where it lies, and cannot be put elsewhere.
    pub fn as_test(
        self,
        script: &str,
        project: &ProjectInUse,
        title: &str,
        runner: Option<TestRunner>,
    ) -> Option<String> {
        match self {
            Self::Python => script_as_test(script, title, runner),
            Self::JavaScript => None,
            Self::Rust => rust_script_as_test(script, project, title),
        }
    }

    /// Returns what each assertion of a test compares with, empty for one that compares nothing; none where nothing is asserted, or something else
    /// than a value.
    pub fn expected(self, script: &str) -> Option<Vec<String>> {
        match self {
            Self::Python => python::expected(script),
            Self::JavaScript => javascript::expected(script),
            Self::Rust => rust::expected(script),
        }
    }

    /// Reads how a test ended that failed.
    pub fn end(self, stderr: &str, script: &str) -> WrittenEnd {
        match self {
            Self::Python => python::end(stderr, script),
            Self::JavaScript => javascript::end(stderr, script),
            Self::Rust => rust::end(stderr, script),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_written_in_the_language_of_the_file_where_that_can_be_run() {
        let check = |path: &str, language| {
            let project = ProjectInUse {
                language,
                packages: vec!["sums".to_owned()],
            };
            TestLanguage::for_file(&RepoPath::new(path).unwrap(), &project)
        };
        let (python, javascript) = (SourceLanguage::Python, SourceLanguage::JavaScript);
        assert_eq!(check("src/add.rs", SourceLanguage::Rust), Some(TestLanguage::Rust));
        assert_eq!(check("src/add.rs", python), None, "Cargo finds no package of that name");
        assert_eq!(check("sums/add.py", python), Some(TestLanguage::Python));
        assert_eq!(check("lib/add.mjs", javascript), Some(TestLanguage::JavaScript));
        assert_eq!(check("web/add.js", python), None, "Node finds no package of that name");
        assert_eq!(check("lib/add.jsx", javascript), None);
        assert_eq!(check("lib/add.ts", javascript), None);
    }

    #[test]
    fn the_file_of_a_test_tells_its_language() {
        for (language, script) in [
            (TestLanguage::Python, "assert f() == 1"),
            (TestLanguage::JavaScript, "import assert from 'node:assert';"),
            (TestLanguage::JavaScript, "const assert = require('node:assert');"),
            (TestLanguage::Rust, "assert_eq!(f(), 1);"),
        ] {
            let path = RepoPath::new(language.file(script)).unwrap();
            assert_eq!(TestLanguage::of_test(&path), language);
        }
    }
}
