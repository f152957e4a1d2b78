//! The names under which a project's own Python code is imported.

use crate::reproduction::pieces::has_extension;
use magis_core::RepoPath;

/// Folders beside the code that hold packages of no interest here.
const ASIDE: [&str; 14] = [
    "test",
    "tests",
    "testing",
    "doc",
    "docs",
    "example",
    "examples",
    "benchmark",
    "benchmarks",
    "bench",
    "tools",
    "scripts",
    "ci",
    "release",
];

/// Returns the top-level packages and modules among the paths of a tree, at its root or in `src/` or `lib/`. Packages
/// come first; modules only where there is no package.
pub fn packages<'a>(paths: impl Iterator<Item = &'a RepoPath>) -> Vec<String> {
    let (mut folders, mut modules) = (Vec::new(), Vec::new());
    for path in paths {
        let text = path.as_str();
        let within = text
            .strip_prefix("src/")
            .or_else(|| text.strip_prefix("lib/"))
            .unwrap_or(text);
        match within.split('/').collect::<Vec<_>>().as_slice() {
            [folder, "__init__.py"] if !ASIDE.contains(folder) => folders.push((*folder).to_owned()),
            [file] if has_extension(file, "py") && !matches!(*file, "setup.py" | "conftest.py" | "conf.py") => {
                modules.push(file.trim_end_matches(".py").to_owned());
            }
            _ => {}
        }
    }
    // The public name is what an issue imports from; `_pytest` stands behind `pytest`.
    folders.sort_by_key(|name| name.starts_with('_'));
    if folders.is_empty() {
        folders = modules;
    }
    folders
}
