//! Which commands a project has, in which order, and which of its files are tests.

use crate::{Project, first};
use magis_core::RepoPath;
use magis_evidence::commands::{TestCommand, find};
use proptest::prelude::*;

/// Expects the commands of a project, a line each: folder, words, reason, and what is run before it.
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let told = |command: TestCommand| {
        let folder = if command.folder.is_empty() {
            "."
        } else {
            &command.folder
        };
        let before = command.before();
        let mut told = format!("{folder}: {} | {}", command.words.join(" "), command.reason);
        if !before.is_empty() {
            told += &format!(" | {}", before.join(", "));
        }
        told
    };
    let found: Vec<String> = find(&Project::new(files)).into_iter().map(told).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_configuration_of_pytest_beats_tox_and_test_files() {
    check(
        &[
            (
                "pyproject.toml",
                "[project]\nname = 'a'\n\n[tool.pytest.ini_options]\naddopts = '-q'\n",
            ),
            ("tox.ini", "[tox]\n[testenv]\ncommands = pytest\n"),
            ("Makefile", "test:\n\tpytest\n"),
            ("tests/test_a.py", "def test_a(): pass"),
        ],
        &[
            ".: python3 -m pytest | pyproject.toml has [tool.pytest.ini_options]",
            ".: tox | tox.ini has [testenv]",
            ".: make test | Makefile has the target 'test'",
        ],
    );
}

#[test]
fn test_files_alone_tell_pytest_from_unittest() {
    check(
        &[("tests/test_a.py", "import unittest\nclass A(unittest.TestCase): pass")],
        &[".: python3 -m unittest discover -s tests | there are test files that use unittest, as tests/test_a.py"],
    );
    check(
        &[("tests/__init__.py", ""), ("tests/test_a.py", "import unittest")],
        &[".: python3 -m unittest | there are test files that use unittest, as tests/test_a.py"],
    );
    check(
        &[
            ("lib/a/__init__.py", ""),
            ("lib/a/tests/__init__.py", ""),
            ("lib/a/tests/test_a.py", "import unittest"),
        ],
        &[".: python3 -m unittest discover -s lib | there are test files that use unittest, as lib/a/tests/test_a.py"],
    );
    check(
        &[("test_a.py", "def test_a(): assert 1")],
        &[".: python3 -m pytest | there are test files, as test_a.py"],
    );
    check(&[("a.py", "x = 1"), ("README.md", "pytest")], &[]);
}

#[test]
fn a_test_program_of_the_project_comes_first() {
    check(
        &[
            ("bin/test", ""),
            ("sympy/testing/runtests.py", ""),
            ("pytest.ini", "[pytest]"),
        ],
        &[
            ".: python3 bin/test | bin/test is sympy's own test program",
            ".: python3 -m pytest | pytest.ini is there",
        ],
    );
    check(
        &[
            ("tests/runtests.py", ""),
            ("django/__init__.py", ""),
            ("tox.ini", "[testenv:py3]"),
        ],
        &[
            ".: python3 tests/runtests.py | tests/runtests.py is Django's own test program",
            ".: tox | tox.ini has [testenv]",
        ],
    );
    check(
        &[("manage.py", "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'a')")],
        &[".: python3 manage.py test | manage.py is the program of a Django project"],
    );
}

#[test]
fn a_script_is_followed_to_the_runner_at_its_end() {
    let package = |scripts: &str| format!("{{\"scripts\": {{{scripts}}}}}");
    let cases = [
        (
            r#""test": "jest --coverage""#,
            "npm run --silent test --",
            "jest --coverage",
        ),
        (
            r#""test": "tsc && mocha lib""#,
            "npm run --silent test --",
            "tsc && mocha lib",
        ),
        (
            r#""test": "npm run unit", "unit": "vitest""#,
            "npm run --silent unit --",
            "vitest",
        ),
        (
            r#""test": "NODE_ENV=test c8 node --test""#,
            "npm run --silent test --",
            "NODE_ENV=test c8 node --test",
        ),
        (
            r#""test": "npm run tests-only", "tests-only": "nyc tape 'test/**/*.js'""#,
            "npm run --silent tests-only --",
            "nyc tape 'test/**/*.js'",
        ),
        (r#""test": "turbo test""#, "npm run --silent test --", "turbo test"),
    ];
    for (scripts, words, line) in cases {
        let manifest = package(scripts);
        let command = first(&[("package.json", &manifest)]);
        assert_eq!(command.words.join(" "), words);
        assert!(command.reason.ends_with(&format!(": {line}")), "{}", command.reason);
    }
    let endless = package(r#""test": "npm run a", "a": "npm run test""#);
    assert_eq!(
        first(&[("package.json", &endless)]).runner.unwrap().name(),
        "a script of package.json"
    );
    let none = package(r#""test": "echo \"Error: no test specified\" && exit 1""#);
    check(&[("package.json", &none)], &[]);
    check(&[("package.json", "{ broken")], &[]);
    let by_node = "import test from 'node:test'\n";
    check(
        &[
            ("package.json", "{}"),
            ("test/add.js", by_node),
            ("src/add.js", by_node),
        ],
        &[".: node --test | test/add.js loads node:test"],
    );
}

#[test]
fn the_package_manager_is_the_one_whose_lock_file_is_there() {
    let package = r#"{"scripts": {"test": "vitest"}}"#;
    let words = |lock: &str| first(&[("package.json", package), (lock, "")]).words.join(" ");
    assert_eq!(words("pnpm-lock.yaml"), "pnpm run test");
    assert_eq!(words("yarn.lock"), "yarn run test");
}

#[test]
fn packages_below_the_root_are_found_nearest_first() {
    check(
        &[
            ("apps/web/package.json", r#"{"devDependencies": {"vitest": "1"}}"#),
            ("apps/web/vitest.config.ts", ""),
            ("server/go.mod", "module a"),
            ("server/node_modules/x/package.json", r#"{"scripts": {"test": "jest"}}"#),
            ("Cargo.toml", "[workspace]\nmembers = ['a']"),
            ("a/Cargo.toml", "[package]\nname = 'a'"),
            ("a/b/c/d/e/go.mod", "module too_deep"),
        ],
        &[
            ".: cargo test --offline --workspace | Cargo.toml has [workspace]",
            "server: go test ./... | server/go.mod is there",
            "apps/web: npx --no-install vitest | apps/web/vitest.config.ts is there",
        ],
    );
}

#[test]
fn every_other_family_is_found() {
    check(
        &[("pom.xml", ""), ("mvnw", ""), ("core/pom.xml", "")],
        &[".: ./mvnw -B --offline test | pom.xml is there"],
    );
    check(
        &[("settings.gradle.kts", ""), ("app/build.gradle", "")],
        &[".: gradle --offline test | settings.gradle.kts is there"],
    );
    check(
        &[("CMakeLists.txt", "project(a)\nenable_testing()\n")],
        &[".: ctest --test-dir build | CMakeLists.txt has enable_testing | cmake -S . -B build, cmake --build build"],
    );
    check(
        &[("Gemfile", ""), (".rspec", ""), ("Rakefile", "Rake::TestTask.new")],
        &[
            ".: bundle exec rspec | .rspec is there",
            ".: bundle exec rake test | Rakefile has a TestTask",
        ],
    );
    check(
        &[("phpunit.xml.dist", ""), ("composer.json", "{}")],
        &[".: php vendor/bin/phpunit | phpunit.xml.dist is there"],
    );
    check(&[("phpunit.xml", "")], &[".: phpunit | phpunit.xml is there"]);
    check(
        &[
            ("A.sln", ""),
            (
                "A.Tests/A.Tests.csproj",
                "<PackageReference Include=\"Microsoft.NET.Test.Sdk\"/>",
            ),
        ],
        &[".: dotnet test --no-restore | A.Tests/A.Tests.csproj names Microsoft.NET.Test.Sdk"],
    );
    check(
        &[("Cargo.toml", "[package]"), (".config/nextest.toml", "")],
        &[
            ".: cargo nextest run --offline | .config/nextest.toml is there",
            ".: cargo test --offline | Cargo.toml has [package]",
        ],
    );
    check(&[("Makefile", "check = 1\ntest := 2\ntests: all\n")], &[]);
}

#[test]
fn test_files_are_told_by_their_names() {
    let check = |files: &[(&str, &str)], tests: &[&str], others: &[&str]| {
        let command = first(files);
        let is_test = |path: &&&str| command.is_test_file(&RepoPath::new(**path).unwrap());
        assert_eq!(tests.iter().filter(is_test).count(), tests.len(), "{tests:?}");
        assert_eq!(others.iter().find(is_test), None);
    };
    check(
        &[("pytest.ini", "")],
        &["a/test_b.py", "b_test.py"],
        &["a.py", "tests/data.txt", "conftest.py"],
    );
    check(&[("go.mod", "")], &["a/b_test.go"], &["a/b.go"]);
    check(
        &[("Cargo.toml", "[package]")],
        &["tests/a.rs", "src/a/tests.rs"],
        &["src/a.rs"],
    );
    check(
        &[("jest.config.js", ""), ("package.json", "{}")],
        &["a.test.ts", "__tests__/a.js"],
        &["a.ts"],
    );
    check(
        &[("pom.xml", "")],
        &["src/test/java/ATest.java"],
        &["src/main/java/ATest.java"],
    );
    check(&[("api/pytest.ini", "")], &["api/test_b.py"], &["test_b.py"]);
}

const MANIFESTS: [&str; 5] = [
    "package.json",
    "Cargo.toml",
    "pyproject.toml",
    "Makefile",
    "CMakeLists.txt",
];

proptest! {
    #[test]
    fn no_manifest_makes_the_finders_panic(
        name in prop::sample::select(&MANIFESTS[..]),
        text in "\\PC{0,120}",
    ) {
        let _ = find(&Project::new(&[(name, &text)]));
    }
}

#[test]
fn files_with_tests_are_named_as_pytest_is_configured() {
    let configured = [
        (
            "setup.cfg",
            "[metadata]\nname = a\n\n[tool:pytest]\ntestpaths = tests\npython_files = *test_*.py\n",
        ),
        (
            "tox.ini",
            "[pytest]\npython_files =\n    check_*.py\n    *test_*  # ours\nmarkers =\n    slow: slow\n",
        ),
        ("pytest.ini", "[pytest]\npython_files: checks/*.py *test_*.py\n"),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\npython_files = [\"*test_*.py\"]\n",
        ),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\npython_files = \"other.py *test_*.py\"\n",
        ),
    ];
    for (name, text) in configured {
        let command = first(&[(name, text), ("tests/unittest_text.py", "")]);
        let is_test = |path: &str| command.is_test_file(&RepoPath::new(path).unwrap());
        assert!(is_test("tests/unittest_text.py"), "{name}: {text}");
        assert!(is_test("test_a.py"), "{name}: {text}");
        assert!(
            !is_test("tests/text_test.py"),
            "{name} replaces the usual names: {text}"
        );
        assert!(!is_test("tests/unittest_text.json"), "{name}: {text}");
        assert_eq!(
            is_test("tests/check_text.py"),
            text.contains("check_*"),
            "{name}: {text}"
        );
        assert_eq!(
            is_test("tests/checks/text.py"),
            text.contains("checks/"),
            "{name}: {text}"
        );
    }
    let usual = first(&[("setup.cfg", "[tool:pytest]\ntestpaths = tests\n"), ("pytest.py", "")]);
    assert!(usual.is_test_file(&RepoPath::new("tests/text_test.py").unwrap()));
    assert!(!usual.is_test_file(&RepoPath::new("tests/unittest_text.py").unwrap()));
}
