//! Python: pytest, unittest, the test programs of sympy and Django, tox and nox.

use super::family::{Found, Runner, Standing, Wanted, Worded, files_of, in_scratch, printed, with};
use super::files::{Tree, file_name, has_extension, join, stem};
use super::{ReportPlace, SelectionError};
use crate::results::{ReportForm, TestId};
use glob::Pattern;

/// How many test files are read to tell pytest's from unittest's.
const PEEKED: usize = 12;

/// A runner of Python tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PythonRunner {
    Pytest,
    Unittest,
    /// `bin/test` of sympy's repository.
    SympyTest,
    /// `tests/runtests.py` of Django's repository.
    DjangoSuite,
    /// `manage.py test` of a project made with Django.
    DjangoProject,
    Tox,
    Nox,
}

use PythonRunner::{DjangoProject, DjangoSuite, Nox, Pytest, SympyTest, Tox, Unittest};

pub(super) fn find(tree: &Tree) -> Vec<Found<PythonRunner>> {
    let marks = [
        "pytest.ini",
        ".pytest.ini",
        "pyproject.toml",
        "setup.cfg",
        "tox.ini",
        "noxfile.py",
        "manage.py",
    ];
    let mut folders = tree.folders_with(&marks);
    if !folders.iter().any(String::is_empty) {
        folders.insert(0, String::new());
    }
    let mut found: Vec<_> = folders.iter().flat_map(|folder| in_folder(tree, folder)).collect();
    let known = |found: &[Found<PythonRunner>]| found.iter().any(|found| found.standing < Standing::Wrapper);
    if !known(&found) {
        found.extend(by_test_files(tree));
    }
    found
}

fn in_folder(tree: &Tree, folder: &str) -> Vec<Found<PythonRunner>> {
    let mut found = Vec::new();
    let at = |path: &str| join(folder, path);
    let mut add = |runner, words: &[&str], standing, reason: String| {
        found.push(Found::new(runner, words, folder, standing, reason));
    };
    if tree.has(&at("bin/test")) && tree.has(&at("sympy/testing/runtests.py")) {
        let reason = "bin/test is sympy's own test program".to_owned();
        add(SympyTest, &["python3", "bin/test"], Standing::Own, reason);
    }
    if tree.has(&at("tests/runtests.py")) && tree.has(&at("django/__init__.py")) {
        let reason = "tests/runtests.py is Django's own test program".to_owned();
        add(DjangoSuite, &["python3", "tests/runtests.py"], Standing::Own, reason);
    }
    if let Some((standing, reason)) = pytest_reason(tree, folder) {
        add(Pytest, &["python3", "-m", "pytest"], standing, reason);
    }
    let manage = at("manage.py");
    if tree
        .text(&manage)
        .is_some_and(|text| text.contains("DJANGO_SETTINGS_MODULE"))
    {
        let reason = format!("{manage} is the program of a Django project");
        add(
            DjangoProject,
            &["python3", "manage.py", "test"],
            Standing::Named,
            reason,
        );
    }
    let tox = at("tox.ini");
    if tree.text(&tox).is_some_and(|text| has_section(&text, "testenv")) {
        add(Tox, &["tox"], Standing::Wrapper, format!("{tox} has [testenv]"));
    }
    let nox = at("noxfile.py");
    if tree.has(&nox) {
        add(Nox, &["nox"], Standing::Wrapper, format!("{nox} is there"));
    }
    found
}

/// Where pytest is configured, in its own order: the files, and the sections of them.
const PYTEST_SECTIONS: [(&str, &str); 6] = [
    ("pytest.ini", "pytest"),
    (".pytest.ini", "pytest"),
    ("pyproject.toml", "tool.pytest.ini_options"),
    ("pyproject.toml", "tool.pytest"),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
];

/// Reads `python_files`: patterns of the names of pytest's files with tests.
fn pytest_names(tree: &Tree, folder: &str) -> Vec<Pattern> {
    let configured = PYTEST_SECTIONS.iter().find_map(|(name, section)| {
        let text = tree.text(&join(folder, name))?;
        if !has_extension(name, &["toml"]) {
            return has_section(&text, section).then(|| ini_value(&text, section, "python_files"));
        }
        let table: toml::Table = text.parse().ok()?;
        let mut keys = section.split('.');
        let first = table.get(keys.next()?)?;
        let section = keys.try_fold(first, |table, key| table.get(key))?;
        let names = section.get("python_files");
        Some(match names {
            Some(toml::Value::String(names)) => names.clone(),
            Some(toml::Value::Array(names)) => names
                .iter()
                .filter_map(|name| name.as_str())
                .collect::<Vec<_>>()
                .join(" "),
            _ => String::new(),
        })
    });
    let names = configured.unwrap_or_default();
    // A pattern may leave open how the name ends, but pytest takes none but Python's files.
    let whole = |name: &str| format!("{name}{}", if name.ends_with('*') { ".py" } else { "" });
    names
        .split_whitespace()
        .filter_map(|name| Pattern::new(&whole(name)).ok())
        .collect()
}

/// Returns a value of an INI text, of several lines where it goes on on indented ones; empty where it has none.
fn ini_value(text: &str, section: &str, key: &str) -> String {
    let mut lines = text
        .lines()
        .skip_while(|line| line.trim() != format!("[{section}]"))
        .skip(1)
        .take_while(|line| !line.starts_with('['));
    let begin = lines.find_map(|line| {
        let (name, value) = line.split_once(['=', ':'])?;
        (name.trim_end() == key).then(|| value.to_owned())
    });
    let more = lines.take_while(|line| line.starts_with([' ', '\t']));
    let said = begin.into_iter().chain(more.map(str::to_owned));
    let said = said.map(|line| line.split(" #").next().unwrap_or_default().to_owned());
    said.collect::<Vec<_>>().join(" ")
}

/// Says why pytest is the runner of a folder.
fn pytest_reason(tree: &Tree, folder: &str) -> Option<(Standing, String)> {
    let at = |path: &str| join(folder, path);
    for name in ["pytest.ini", ".pytest.ini"] {
        if tree.has(&at(name)) {
            return Some((Standing::Configured, format!("{} is there", at(name))));
        }
    }
    for (name, section) in PYTEST_SECTIONS {
        if tree.text(&at(name)).is_some_and(|text| has_section(&text, section)) {
            return Some((Standing::Configured, format!("{} has [{section}]", at(name))));
        }
    }
    let lists = [
        "pyproject.toml",
        "setup.cfg",
        "setup.py",
        "tox.ini",
        "noxfile.py",
        "requirements.txt",
        "requirements-dev.txt",
        "dev-requirements.txt",
        "requirements/dev.txt",
        "requirements/test.txt",
    ];
    for name in lists {
        if tree.text(&at(name)).is_some_and(|text| text.contains("pytest")) {
            return Some((Standing::Named, format!("{} names pytest", at(name))));
        }
    }
    let tests = ["conftest.py", "tests/conftest.py", "test/conftest.py"];
    let conftest = tests.iter().map(|name| at(name)).find(|path| tree.has(path))?;
    Some((Standing::Named, format!("{conftest} is there, which only pytest reads")))
}

/// Guesses from the test files alone, where the project says nothing.
fn by_test_files(tree: &Tree) -> Option<Found<PythonRunner>> {
    let files: Vec<&str> = tree
        .below("")
        .into_iter()
        .filter(|path| Pytest.is_test_file(path))
        .collect();
    let first = files.first()?;
    let texts = files.iter().take(PEEKED).filter_map(|path| tree.text(path));
    let (mut pytest, mut unittest) = (false, false);
    for text in texts {
        pytest |= text.contains("pytest") || text.lines().any(|line| line.starts_with("def test"));
        unittest |= text.contains("unittest");
    }
    if pytest || !unittest {
        let reason = format!("there are test files, as {first}");
        return Some(Found::new(
            Pytest,
            &["python3", "-m", "pytest"],
            "",
            Standing::Present,
            reason,
        ));
    }
    // Discovery enters only packages, so it begins at the folder around the outermost package.
    let parent = |path: &'_ str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let mut start = parent(first);
    while tree.has(&join(&start, "__init__.py")) && !start.is_empty() {
        start = parent(&start);
    }
    let loose = (!start.is_empty()).then_some(start.as_str());
    let mut words = vec!["python3", "-m", "unittest"];
    words.extend(loose.into_iter().flat_map(|folder| ["discover", "-s", folder]));
    let reason = format!("there are test files that use unittest, as {first}");
    Some(Found::new(Unittest, &words, "", Standing::Present, reason))
}

/// Returns whether an INI or TOML text has a section, or sections within it.
fn has_section(text: &str, section: &str) -> bool {
    text.lines().any(|line| {
        let inner = line.trim().strip_prefix('[').and_then(|rest| rest.split(']').next());
        let rest = inner.and_then(|name| name.trim().strip_prefix(section));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '.']))
    })
}

/// Recognises the runner of a command; `words` begin with the program or, behind `python -m`, with the module.
pub(super) fn recognise(words: &[&str]) -> Option<PythonRunner> {
    let second = || words.get(1).copied().unwrap_or_default();
    match file_name(words.first()?) {
        "pytest" | "py.test" => Some(Pytest),
        "unittest" => Some(Unittest),
        "tox" => Some(Tox),
        "nox" => Some(Nox),
        "runtests.py" => Some(DjangoSuite),
        "manage.py" if second() == "test" => Some(DjangoProject),
        "test" if words.first()?.ends_with("bin/test") => Some(SympyTest),
        _ => None,
    }
}

impl Runner for PythonRunner {
    fn name(&self) -> &'static str {
        match self {
            Pytest => "pytest",
            Unittest => "unittest",
            SympyTest => "sympy's bin/test",
            DjangoSuite => "Django's runtests.py",
            DjangoProject => "manage.py test",
            Tox => "tox",
            Nox => "nox",
        }
    }

    fn environments(&self) -> &'static [&'static str] {
        match self {
            Pytest | Unittest | SympyTest | DjangoSuite | DjangoProject => &[".venv", "venv", "env"],
            Tox => &[".tox", ".venv", "venv", "env"],
            Nox => &[".nox", ".venv", "venv", "env"],
        }
    }

    fn is_test_file(&self, path: &str) -> bool {
        let (name, is_python) = (stem(path), has_extension(path, &["py"]));
        is_python
            && match self {
                Pytest | Tox | Nox => name.starts_with("test_") || name.ends_with("_test"),
                Unittest | DjangoProject => name.starts_with("test"),
                SympyTest => name.starts_with("test_") && path.contains("tests/"),
                DjangoSuite => path.starts_with("tests/") && name.starts_with("test"),
            }
    }

    fn test_names(&self, tree: &Tree, folder: &str) -> Vec<Pattern> {
        match self {
            Pytest | Tox | Nox => pytest_names(tree, folder),
            Unittest | SympyTest | DjangoSuite | DjangoProject => Vec::new(),
        }
    }

    fn variables(&self, _scratch: &str) -> Vec<(String, String)> {
        match self {
            // The program lies beside the package that it tests, not in the folder above, so Python would not find it.
            DjangoSuite => vec![("PYTHONPATH".to_owned(), ".".to_owned())],
            Pytest | Unittest | SympyTest | DjangoProject | Tox | Nox => Vec::new(),
        }
    }

    fn words(&self, words: &[String], wanted: Wanted, scratch: &str) -> Worded {
        match self {
            Pytest => {
                let report = format!("--junitxml={scratch}/report.xml");
                let options = [report.as_str(), "-o", "junit_family=xunit1", "-p", "no:cacheprovider"];
                let which = match wanted {
                    Wanted::Whole => Vec::new(),
                    Wanted::Files(files) => files.to_vec(),
                    Wanted::Tests(tests) => tests.iter().map(node_id).collect::<Result<_, _>>()?,
                };
                Ok((
                    with(&with(words, options), which),
                    Some(in_scratch(ReportForm::JUnit, "report.xml")),
                ))
            }
            Unittest => Ok((
                unittest(words, wanted),
                Some(printed(ReportForm::Unittest, ReportPlace::Stderr)),
            )),
            SympyTest => {
                let which = match wanted {
                    Wanted::Whole => Vec::new(),
                    Wanted::Files(files) => files.to_vec(),
                    Wanted::Tests(tests) => files_of(tests)?,
                };
                let report = Some(printed(ReportForm::Sympy, ReportPlace::Stdout));
                Ok((with(&with(words, ["--verbose"]), which), report))
            }
            DjangoSuite => {
                let which = labels(wanted, "tests/");
                let report = Some(printed(ReportForm::Unittest, ReportPlace::Stderr));
                Ok((with(&with(words, ["-v", "2", "--parallel", "1"]), which), report))
            }
            DjangoProject => {
                let which = labels(wanted, "");
                let report = Some(printed(ReportForm::Unittest, ReportPlace::Stderr));
                Ok((with(&with(words, ["-v", "2"]), which), report))
            }
            Tox | Nox => match wanted {
                Wanted::Whole => Ok((words.to_vec(), None)),
                Wanted::Files(_) | Wanted::Tests(_) => Err(SelectionError::Cannot(self.name())),
            },
        }
    }
}

/// Words a run of unittest. Where it is told in which folder to discover, modules cannot be named from outside it, but
/// patterns can.
fn unittest(words: &[String], wanted: Wanted) -> Vec<String> {
    let names: Vec<String> = match wanted {
        Wanted::Whole => return with(words, ["-v"]),
        Wanted::Files(files) => files.iter().map(|file| module(file)).collect(),
        Wanted::Tests(tests) => tests.iter().map(dotted).collect(),
    };
    let Some(folder) = words
        .iter()
        .position(|word| word == "-s")
        .and_then(|at| words.get(at + 1))
    else {
        let end = words
            .iter()
            .position(|word| word == "unittest")
            .map_or(words.len(), |at| at + 1);
        return with(&with(&words[..end], ["-v"]), names);
    };
    let prefix = format!("{}.", module(folder));
    let patterns = names
        .iter()
        .map(|name| name.strip_prefix(&prefix).unwrap_or(name).to_owned());
    with(
        &with(words, ["-v"]),
        patterns.flat_map(|pattern| ["-k".to_owned(), pattern]),
    )
}

/// Makes the label by which Django's runner knows a file or a test.
fn labels(wanted: Wanted, root: &str) -> Vec<String> {
    match wanted {
        Wanted::Whole => Vec::new(),
        Wanted::Files(files) => files
            .iter()
            .map(|file| module(file.strip_prefix(root).unwrap_or(file)))
            .collect(),
        Wanted::Tests(tests) => tests.iter().map(dotted).collect(),
    }
}

fn dotted(test: &TestId) -> String {
    let parts = [test.group.as_str(), test.name.as_str()];
    let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    said.join(".")
}

fn module(file: &str) -> String {
    file.strip_suffix(".py")
        .unwrap_or(file)
        .trim_matches('/')
        .replace('/', ".")
}

/// Makes `tests/test_calc.py::TestGroup::test_in` of file, `tests.test_calc.TestGroup` and name.
fn node_id(test: &TestId) -> Result<String, SelectionError> {
    let file = test
        .file
        .as_deref()
        .ok_or_else(|| SelectionError::NoFile(test.to_string()))?;
    let classes = test.group.strip_prefix(&module(file)).unwrap_or_default();
    let parts = classes.split('.').chain([test.name.as_str()]);
    let parts: Vec<&str> = std::iter::once(file)
        .chain(parts.filter(|part| !part.is_empty()))
        .collect();
    Ok(parts.join("::"))
}
