//! What kind of file a path names, and how far that lowers its rank. Nothing is hidden for its kind.

use crate::metadata::Origin;
use magis_core::RepoPath;
use magis_syntax::SourceLanguage;

/// The kind of a file as to changes that an issue asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Source,
    /// `__init__.py`, `mod.rs`, `index.js`: mostly names passed on.
    Entrance,
    Data,
    Test,
    Documentation,
    Example,
    Vendored,
    Generated,
}

/// Returns whether a path names code of the program itself: no test, example, generated or foreign file.
pub fn is_source(path: &RepoPath) -> bool {
    matches!(Kind::of(path), Kind::Source | Kind::Entrance)
}

impl Kind {
    /// Returns what the score is multiplied with.
    pub fn factor(self) -> f64 {
        match self {
            Self::Source => 1.0,
            Self::Entrance => 0.85,
            Self::Data => 0.5,
            Self::Test | Self::Documentation | Self::Example => 0.4,
            Self::Vendored | Self::Generated => 0.3,
        }
    }

    /// Returns why the file ranks lower, for a person; none where that is not worth a word.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Source | Self::Entrance => None,
            Self::Data => Some("configuration or data"),
            Self::Test => Some("a test"),
            Self::Documentation => Some("documentation"),
            Self::Example => Some("an example or benchmark"),
            Self::Vendored => Some("vendored"),
            Self::Generated => Some("generated or minified"),
        }
    }

    /// Judges by the path, and by what the text says of its origin.
    pub fn of_file(path: &RepoPath, origin: Origin) -> Self {
        match (Self::of(path), origin) {
            (Self::Source | Self::Entrance | Self::Data, Origin::Generated) => Self::Generated,
            (kind, Origin::Written | Origin::Generated) => kind,
        }
    }

    /// Judges by the path alone.
    pub fn of(path: &RepoPath) -> Self {
        let lower = path.as_str().to_lowercase();
        let folders: Vec<&str> = lower.split('/').collect();
        let (name, folders) = folders
            .split_last()
            .map_or(("", &[][..]), |(name, folders)| (*name, folders));
        let stem = name.split('.').next().unwrap_or(name);
        let extension = path.extension();
        let within = |names: &[&str]| folders.iter().any(|folder| names.contains(folder));
        let at_root = |names: &[&str]| folders.first().is_some_and(|folder| names.contains(folder));
        if within(&[
            "vendor",
            "vendored",
            "third_party",
            "third-party",
            "thirdparty",
            "node_modules",
            "_vendor",
            "extern",
        ]) {
            return Self::Vendored;
        }
        if is_generated(name, stem, &extension) || at_root(&["dist"]) {
            return Self::Generated;
        }
        if within(&[
            "test",
            "tests",
            "__tests__",
            "testdata",
            "spec",
            "specs",
            "fixtures",
            "__mocks__",
        ]) || folders.iter().any(|folder| {
            folder.ends_with("-tests")
                || folder.rsplit_once('.').is_some_and(|(_, last)| last == "tests")
                || folder.starts_with("test-")
                || folder.starts_with("tests-")
        }) || at_root(&["testing"])
            || is_test_name(path.file_name(), name, stem)
        {
            return Self::Test;
        }
        if within(&[
            "examples",
            "example",
            "samples",
            "sample",
            "demo",
            "demos",
            "benches",
            "benchmark",
            "benchmarks",
            "tutorials",
            "asv_bench",
        ]) {
            return Self::Example;
        }
        let prose = matches!(
            extension.as_str(),
            "md" | "rst" | "txt" | "adoc" | "tex" | "ipynb" | "po" | "pot"
        );
        if prose
            || at_root(&["doc", "docs", "documentation"])
            || matches!(stem, "changelog" | "readme" | "license" | "changes" | "authors")
        {
            return Self::Documentation;
        }
        if matches!(stem, "__init__" | "mod" | "index") && !matches!(extension.as_str(), "html" | "css") {
            return Self::Entrance;
        }
        if SourceLanguage::of(path).is_some() || is_code(&extension) {
            Self::Source
        } else {
            Self::Data
        }
    }
}

fn is_generated(name: &str, stem: &str, extension: &str) -> bool {
    name.contains(".min.")
        || matches!(extension, "lock" | "map")
        || name.ends_with(".pb.go")
        || stem.ends_with("_pb2")
        || matches!(name, "package-lock.json" | "go.sum")
}

fn is_test_name(spelled: &str, name: &str, stem: &str) -> bool {
    let spelled_stem = spelled.split('.').next().unwrap_or(spelled);
    stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with("_tests")
        || stem.ends_with("_spec")
        || matches!(stem, "test" | "tests" | "conftest")
        || name.contains(".test.")
        || name.contains(".spec.")
        || spelled_stem.ends_with("Test")
        || spelled_stem.ends_with("Tests")
}

/// Returns code in a language that has no grammar here.
fn is_code(extension: &str) -> bool {
    const CODE: [&str; 20] = [
        "pyx", "pxd", "scala", "groovy", "vue", "svelte", "swift", "m", "mm", "lua", "pl", "sh", "bash", "ps1", "sql",
        "html", "css", "scss", "ex", "hs",
    ];
    CODE.contains(&extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: Kind, paths: &[&str]) {
        for path in paths {
            assert_eq!(Kind::of(&RepoPath::new(*path).unwrap()), kind, "{path}");
        }
    }

    #[test]
    fn tests_of_every_language_are_known() {
        check(
            Kind::Test,
            &[
                "pkg/tests/test_a.py",
                "a_test.go",
                "src/a.test.ts",
                "gson/src/test/java/a/BTest.java",
                "testing/x.py",
            ],
        );
        check(
            Kind::Test,
            &[
                "spec/models/io_spec.rb",
                "lib/io_spec.rb",
                "App.Tests/Io.cs",
                "tests/IoTest.php",
            ],
        );
        check(
            Kind::Test,
            &["pkg-tests/src/io.rs", "tests-integration/a.rs", "src/FooTests.java"],
        );
    }

    #[test]
    fn sources_are_not_mistaken_for_them() {
        check(
            Kind::Source,
            &[
                "sympy/testing/runtests.py",
                "src/latest.py",
                "src/contest.rs",
                "lib/docs.py",
                "src/_pytest/python.py",
            ],
        );
    }

    #[test]
    fn prose_examples_copies_and_output_are_known() {
        check(Kind::Documentation, &["docs/conf.py", "README.md", "pkg/CHANGES.rst"]);
        check(Kind::Example, &["examples/a.rs", "asv_bench/b.py"]);
        check(Kind::Vendored, &["vendor/x/y.go", "a/node_modules/b.js"]);
        check(
            Kind::Generated,
            &["dist/axios.js", "a/b.min.js", "Cargo.lock", "x_pb2.py"],
        );
        check(Kind::Entrance, &["pkg/__init__.py", "src/io/mod.rs", "lib/index.js"]);
        check(Kind::Data, &["a.json", "setup.cfg"]);
        check(
            Kind::Source,
            &["a.rake", "a.gemspec", "a.phtml", "a.ipp", "a.scala", "web/a.vue"],
        );
    }
}
