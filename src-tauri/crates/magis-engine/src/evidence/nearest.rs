//! Which tests reach a change: by imports, by names, and by what was changed together. The nearest come first.

use magis_core::{PastCommit, RepoPath};
use std::collections::BTreeSet;

/// A file of tests, with its text.
#[derive(Debug, Clone)]
pub(crate) struct TestFile {
    pub path: RepoPath,
    pub text: String,
}

/// What a test file gains by the name that says which file it tests.
const NAMED_AFTER: f64 = 3.0;
/// What it gains by importing the file.
const IMPORTS: f64 = 2.0;
/// What it gains by each symbol of the file that it mentions, and the most that it gains so.
const MENTIONS: (f64, f64) = (0.4, 2.0);
/// What it gains by lying in the same folder, or in the folder of tests beside it.
const BESIDE: f64 = 0.5;
/// What it gains by each commit that changed both, and the most that it gains so.
const CHANGED_TOGETHER: (f64, f64) = (0.25, 1.0);

/// Ranks the test files that reach any of `changed`, which are files with the names that they define; those that reach none are left out.
pub(crate) fn nearest(
    changed: &[(RepoPath, Vec<String>)],
    tests: &[TestFile],
    history: &[PastCommit],
) -> Vec<RepoPath> {
    let mut ranked: Vec<(f64, &RepoPath)> = Vec::new();
    for test in tests {
        let words: BTreeSet<&str> = words(&test.text).collect();
        let of_file = |(path, names): &(RepoPath, Vec<String>)| closeness(path, names, test, &words, history);
        let best = changed.iter().map(of_file).fold(0.0, f64::max);
        if best > 0.0 {
            ranked.push((best, &test.path));
        }
    }
    ranked.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
    ranked.into_iter().map(|(_, path)| path.clone()).collect()
}

fn closeness(
    path: &RepoPath,
    names: &[String],
    test: &TestFile,
    words: &BTreeSet<&str>,
    history: &[PastCommit],
) -> f64 {
    if *path == test.path {
        return f64::MAX;
    }
    let mut sum = 0.0;
    let module = module_name(path);
    if subject(&test.path) == module.to_lowercase() {
        sum += NAMED_AFTER;
    }
    let imported = dotted(path).iter().any(|name| test.text.contains(name))
        || imports(&test.text, &module)
        || test.text.contains(&format!("/{module}'"))
        || test.text.contains(&format!("/{module}\""));
    if imported {
        sum += IMPORTS;
    }
    let mentioned = names.iter().filter(|name| words.contains(name.as_str())).count();
    sum += (mentioned as f64 * MENTIONS.0).min(MENTIONS.1);
    if sum > 0.0 && is_beside(path, &test.path) {
        sum += BESIDE;
    }
    let both = |commit: &&PastCommit| commit.changed.contains(path) && commit.changed.contains(&test.path);
    sum + (history.iter().filter(both).count() as f64 * CHANGED_TOGETHER.0).min(CHANGED_TOGETHER.1)
}

/// Returns the name under which a file is imported: that of its folder where it stands for it.
fn module_name(path: &RepoPath) -> String {
    let stem = stem(path.file_name());
    match stem {
        "__init__" | "index" | "mod" | "lib" | "main" => {
            let folder = path.as_str().rsplit('/').nth(1).unwrap_or(stem);
            match folder {
                "src" | "lib" => stem.to_owned(),
                folder => folder.to_owned(),
            }
        }
        stem => stem.to_owned(),
    }
}

fn stem(file: &str) -> &str {
    file.split_once('.').map_or(file, |(stem, _)| stem)
}

/// Returns what the name of a test file says that it tests.
fn subject(test: &RepoPath) -> String {
    let stem = stem(test.file_name()).to_lowercase();
    let affixes = ["test_", "tests_", "_test", "_tests", "_spec", "spec_"];
    let bare = affixes
        .iter()
        .find_map(|affix| stem.strip_prefix(affix).or_else(|| stem.strip_suffix(affix)));
    let bare = bare
        .or_else(|| stem.strip_suffix("test"))
        .or_else(|| stem.strip_suffix("tests"));
    bare.unwrap_or(&stem).to_owned()
}

/// Returns the dotted names of a module, the longest first; those of one word alone would be found everywhere.
fn dotted(path: &RepoPath) -> Vec<String> {
    let without = path.as_str().rsplit_once('.').map_or(path.as_str(), |(name, _)| name);
    let without = without.strip_suffix("/__init__").unwrap_or(without);
    let parts: Vec<&str> = without.split('/').collect();
    (0..parts.len().saturating_sub(1))
        .map(|from| parts[from..].join("."))
        .collect()
}

/// Returns whether a text imports a module by its last name, as Python and Rust word it.
fn imports(text: &str, module: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| {
        let is_import = ["import ", "from ", "use ", "require"]
            .iter()
            .any(|word| line.starts_with(word))
            || line.contains("require(");
        is_import && words(line).any(|word| word == module)
    })
}

fn is_beside(path: &RepoPath, test: &RepoPath) -> bool {
    let folder = |path: &RepoPath| {
        path.as_str()
            .rsplit_once('/')
            .map_or(String::new(), |(folder, _)| folder.to_owned())
    };
    let (of_code, of_test) = (folder(path), folder(test));
    let outer = of_test.rsplit_once('/').map_or("", |(outer, _)| outer);
    of_code == of_test || of_code == outer
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_core::CommitId;

    fn path(path: &str) -> RepoPath {
        RepoPath::new(path).expect("a path")
    }

    fn check(changed: &str, names: &[&str], tests: &[(&str, &str)], expected: &[&str]) {
        let tests: Vec<TestFile> = tests
            .iter()
            .map(|(at, text)| TestFile {
                path: path(at),
                text: (*text).to_owned(),
            })
            .collect();
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let found = nearest(&[(path(changed), names)], &tests, &[]);
        let found: Vec<&str> = found.iter().map(RepoPath::as_str).collect();
        assert_eq!(found, expected, "{changed}");
    }

    #[test]
    fn the_test_named_after_a_file_comes_before_one_that_imports_it() {
        let tests = [
            ("tests/test_cli.py", "from tally import report\n"),
            ("tests/test_report.py", "from tally.report import table\n"),
            ("tests/test_money.py", "from tally.money import parse\n"),
        ];
        check(
            "tally/report.py",
            &["table"],
            &tests,
            &["tests/test_report.py", "tests/test_cli.py"],
        );
    }

    #[test]
    fn a_test_that_mentions_what_a_file_defines_reaches_it() {
        let tests = [
            ("tests/all.py", "assert slugify('a') == 'a'\n"),
            ("tests/other.py", "assert True\n"),
        ];
        check("text/core.py", &["slugify"], &tests, &["tests/all.py"]);
    }

    #[test]
    fn files_of_other_languages_are_reached_by_their_paths() {
        let tests = [
            ("test/parse.test.js", "const parse = require('../lib/parse');\n"),
            ("test/stringify.js", "const it = require('../lib/stringify');\n"),
        ];
        check("lib/parse.js", &[], &tests, &["test/parse.test.js"]);
    }

    #[test]
    fn what_was_changed_together_belongs_together() {
        let commit = PastCommit {
            id: CommitId("c".to_owned()),
            time: 0,
            message: String::new(),
            changed: vec![path("a.py"), path("tests/x.py")],
        };
        let test = TestFile {
            path: path("tests/x.py"),
            text: String::new(),
        };
        assert_eq!(
            nearest(&[(path("a.py"), vec![])], &[test], &[commit]),
            [path("tests/x.py")]
        );
    }
}
