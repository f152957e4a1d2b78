//! The words of a run: of all tests, of files and of single tests.

use crate::{first, test, worded};
use magis_core::RepoPath;
use magis_evidence::commands::{FilePattern, ReportPlace, TestCommand, TestSelection};
use magis_evidence::results::TestId;

/// Expects the words for the whole suite, for one file and for one test.
fn check_words(command: &TestCommand, file: &str, test: &TestId, expected: [&str; 3]) {
    let file = [RepoPath::new(file).unwrap()];
    let selections = [
        TestSelection::Whole,
        TestSelection::Files(&file),
        TestSelection::Tests(std::slice::from_ref(test)),
    ];
    assert_eq!(selections.map(|selection| worded(command, selection)), expected);
}

#[test]
fn python_is_worded() {
    check_words(
        &first(&[("pytest.ini", "")]),
        "tests/test_a.py",
        &test("tests/test_a.py", "tests.test_a.TestGroup", "test_in[x y]"),
        [
            "python3 -m pytest --junitxml=/s/report.xml -o junit_family=xunit1 -p no:cacheprovider",
            "python3 -m pytest --junitxml=/s/report.xml -o junit_family=xunit1 -p no:cacheprovider tests/test_a.py",
            "python3 -m pytest --junitxml=/s/report.xml -o junit_family=xunit1 -p no:cacheprovider \
             tests/test_a.py::TestGroup::test_in[x y]",
        ],
    );
    let case = test("", "tests.test_a.Case", "test_in");
    check_words(
        &first(&[("tests/__init__.py", ""), ("tests/test_a.py", "import unittest")]),
        "tests/test_a.py",
        &case,
        [
            "python3 -m unittest -v",
            "python3 -m unittest -v tests.test_a",
            "python3 -m unittest -v tests.test_a.Case.test_in",
        ],
    );
    check_words(
        &first(&[("tests/test_a.py", "import unittest")]),
        "tests/test_a.py",
        &test("", "test_a.Case", "test_in"),
        [
            "python3 -m unittest discover -s tests -v",
            "python3 -m unittest discover -s tests -v -k test_a",
            "python3 -m unittest discover -s tests -v -k test_a.Case.test_in",
        ],
    );
    check_words(
        &first(&[("tests/runtests.py", ""), ("django/__init__.py", "")]),
        "tests/admin_views/tests.py",
        &test("", "admin_views.tests.AdminTest", "test_in"),
        [
            "python3 tests/runtests.py -v 2 --parallel 1",
            "python3 tests/runtests.py -v 2 --parallel 1 admin_views.tests",
            "python3 tests/runtests.py -v 2 --parallel 1 admin_views.tests.AdminTest.test_in",
        ],
    );
    check_words(
        &first(&[("tox.ini", "[testenv]")]),
        "tests/test_a.py",
        &case,
        [
            "tox",
            "tox cannot be told which of the files or tests to run; run all tests",
            "tox cannot be told which of the files or tests to run; run all tests",
        ],
    );
}

#[test]
fn rust_is_worded() {
    let cargo = first(&[("Cargo.toml", "[package]")]);
    let whole = "cargo test --offline --no-fail-fast --color never";
    let id = test("src/lib.rs", "calc", "tests::adds");
    let exact = format!("{whole} -- --exact tests::adds");
    check_words(
        &cargo,
        "tests/whole.rs",
        &id,
        [whole, &format!("{whole} --test whole"), &exact],
    );
    check_words(
        &cargo,
        "src/a/tests.rs",
        &id,
        [whole, &format!("{whole} --tests -- a::tests::"), &exact],
    );
    check_words(
        &cargo,
        "crates/b/src/lib.rs",
        &id,
        [whole, &format!("{whole} --tests"), &exact],
    );
    let refused = "'README.md' is no file that cargo could test on its own; run all tests";
    check_words(&cargo, "README.md", &id, [whole, refused, &exact]);
}

#[test]
fn javascript_is_worded() {
    let with = |line: &str| first(&[("package.json", &format!(r#"{{"scripts": {{"test": "{line}"}}}}"#))]);
    let id = test("a.test.js", "calc", "adds (1)");
    let jest = "npm run --silent test -- --json --outputFile=/s/report.json";
    check_words(
        &with("jest"),
        "a.test.js",
        &id,
        [
            jest,
            &format!("{jest} --runTestsByPath a.test.js"),
            &format!(r"{jest} -t ^(calc adds \(1\))$ --runTestsByPath a.test.js"),
        ],
    );
    let vitest = "npm run --silent test -- --run --reporter=junit --outputFile=/s/report.xml";
    check_words(
        &with("vitest"),
        "a.test.js",
        &test("", "a.test.js", "calc > adds"),
        [
            vitest,
            &format!("{vitest} a.test.js"),
            &format!("{vitest} -t ^(calc adds)$ a.test.js"),
        ],
    );
    let mocha = "npm run --silent test -- --reporter json --reporter-option output=/s/report.json";
    check_words(
        &with("mocha"),
        "a.test.js",
        &id,
        [
            mocha,
            &format!("{mocha} a.test.js"),
            &format!(r"{mocha} -g ^(calc adds \(1\))$ a.test.js"),
        ],
    );
    let node = "npm run --silent test --";
    let refused = "node --test cannot be told which of the files or tests to run; run all tests";
    check_words(
        &with("node --test"),
        "a.test.js",
        &id,
        [node, &format!("{node} a.test.js"), refused],
    );
    let refused = "tape cannot be told which of the files or tests to run; run all tests";
    check_words(&with("tape 'test/*.js'"), "test/a.js", &id, [node, refused, refused]);
    let run = with("node --test").run(TestSelection::Whole, "/s").unwrap();
    let reporter = "--test-reporter=junit \"--test-reporter-destination=/s/report.xml\"";
    assert_eq!(run.variables, [("NODE_OPTIONS".to_owned(), reporter.to_owned())]);
}

#[test]
fn go_and_the_jvm_are_worded() {
    check_words(
        &first(&[("go.mod", "")]),
        "calc/calc_test.go",
        &test("", "example/calc", "TestTable/two"),
        [
            "go test -json ./...",
            "go test -json ./calc",
            "go test -json -run ^(TestTable)$ example/calc",
        ],
    );
    let maven = "mvn -B --offline test -Dmaven.test.failure.ignore=true";
    let some = "-Dsurefire.failIfNoSpecifiedTests=false";
    let id = test("", "demo.CalcTest", "positive(int)[1]");
    let file = "core/src/test/java/demo/CalcTest.java";
    check_words(
        &first(&[("pom.xml", "")]),
        file,
        &id,
        [
            maven,
            &format!("{maven} -Dtest=demo.CalcTest {some}"),
            &format!("{maven} -Dtest=demo.CalcTest#positive {some}"),
        ],
    );
    check_words(
        &first(&[("build.gradle", ""), ("gradlew", "")]),
        file,
        &id,
        [
            "./gradlew --offline cleanTest test --continue",
            "./gradlew --offline cleanTest test --tests demo.CalcTest --continue",
            "./gradlew --offline cleanTest test --tests demo.CalcTest.positive --continue",
        ],
    );
}

#[test]
fn the_others_are_worded() {
    let ctest = "ctest --test-dir build --output-on-failure --output-junit /s/report.xml";
    let command = first(&[("CMakeLists.txt", "enable_testing()")]);
    let refused = "CTest cannot be told which of the files or tests to run; run all tests";
    check_words(
        &command,
        "a.c",
        &test("", "a", "a.b"),
        [ctest, refused, &format!(r"{ctest} -R ^(a\.b)$")],
    );
    let preparation = command.run(TestSelection::Whole, "/s").unwrap().preparation;
    let preparation: Vec<String> = preparation.iter().map(|words| words.join(" ")).collect();
    assert_eq!(preparation, ["cmake -S . -B build", "cmake --build build"]);

    let rspec = "rspec --format json --out /s/report.json";
    check_words(
        &first(&[(".rspec", "")]),
        "spec/a_spec.rb",
        &test("spec/a_spec.rb", "", "Calc adds"),
        [
            rspec,
            &format!("{rspec} spec/a_spec.rb"),
            &format!("{rspec} spec/a_spec.rb -e Calc adds"),
        ],
    );
    check_words(
        &first(&[("Rakefile", "TestTask")]),
        "test/a_test.rb",
        &test("", "TestCalc", "test_adds"),
        [
            "rake test TESTOPTS=-v",
            "rake test TESTOPTS=-v TEST=test/a_test.rb",
            "rake test TESTOPTS=-v --name=/^(test_adds)$/",
        ],
    );
    let phpunit = "php vendor/bin/phpunit --log-junit /s/report.xml";
    check_words(
        &first(&[("phpunit.xml", ""), ("composer.json", "{}")]),
        "tests/CalcTest.php",
        &test("tests/CalcTest.php", "CalcTest", "testAdds"),
        [
            phpunit,
            &format!(r"{phpunit} --filter /\b(CalcTest)::/"),
            &format!("{phpunit} --filter /::(testAdds)$/"),
        ],
    );
    let dotnet = "dotnet test --no-restore --logger trx --results-directory /s";
    check_words(
        &first(&[("A.csproj", "Microsoft.NET.Test.Sdk")]),
        "CalcTests.cs",
        &test("", "Demo.CalcTests", "Fails(n: 1)"),
        [
            dotnet,
            &format!("{dotnet} --filter FullyQualifiedName~.CalcTests."),
            &format!("{dotnet} --filter FullyQualifiedName~Demo.CalcTests.Fails"),
        ],
    );
}

#[test]
fn files_are_named_from_the_folder_of_the_command() {
    let command = first(&[("api/pytest.ini", "")]);
    let inside = [RepoPath::new("api/tests/test_a.py").unwrap()];
    assert!(worded(&command, TestSelection::Files(&inside)).ends_with(" tests/test_a.py"));
    let outside = [RepoPath::new("web/test_b.py").unwrap()];
    let expected =
        "'web/test_b.py' is not in the folder 'api' of the test command; run it with the command of its own folder";
    assert_eq!(worded(&command, TestSelection::Files(&outside)), expected);
    let nothing = "no file and no test is named; name one, or run all tests";
    assert_eq!(worded(&command, TestSelection::Files(&[])), nothing);
}

#[test]
fn the_python_of_a_virtual_environment_takes_the_place_of_the_machines() {
    let command = first(&[("services/api/pytest.ini", "")]);
    let places = command.environments();
    assert_eq!(
        places[..4],
        [
            "services/api/.venv",
            "services/api/venv",
            "services/api/env",
            "services/.venv"
        ]
    );
    let program = |existing: &str| command.clone().using(&[existing.to_owned()]).words[0].clone();
    let python = if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    };
    assert_eq!(program("services/api/.venv"), format!(".venv/{python}"));
    assert_eq!(program("services/venv"), format!("../venv/{python}"));
    assert_eq!(program(".venv"), format!("../../.venv/{python}"));
    assert_eq!(program("node_modules"), "python3");
}

#[test]
fn packages_of_javascript_are_looked_for_where_its_package_managers_put_them() {
    let command = first(&[("web/package.json", r#"{"scripts": {"test": "jest"}}"#)]);
    assert_eq!(
        command.environments(),
        [
            "web/node_modules",
            "web/.yarn/cache",
            "web/.yarn/unplugged",
            "node_modules",
            ".yarn/cache",
            ".yarn/unplugged"
        ]
    );
}

#[test]
fn reports_are_told_from_other_files() {
    let run = first(&[("pom.xml", "")]).run(TestSelection::Whole, "/s").unwrap();
    let Some(ReportPlace::Project(pattern)) = run.report.map(|report| report.place) else {
        unreachable!("Maven writes its reports into the project");
    };
    assert!(pattern.matches("target/surefire-reports/TEST-demo.CalcTest.xml"));
    assert!(pattern.matches("core/target/surefire-reports/TEST-a.xml"));
    assert!(!pattern.matches("target/surefire-reports/demo.CalcTest.txt"));
    assert!(!pattern.matches("mytarget/surefire-reports/TEST-a.xml"));
    let exact = FilePattern {
        below: "",
        prefix: "report.xml",
        suffix: "",
    };
    assert!(exact.matches("report.xml"));
}
