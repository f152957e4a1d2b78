//! What a project is to those who use it: the language of its code, and the names under which that is imported.

use crate::reproduction::pieces::has_extension;
use magis_core::RepoPath;
use magis_syntax::SourceLanguage;

/// A project as the examples of its issues use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectInUse {
    /// Python or JavaScript: the one that most of its files are in.
    pub language: SourceLanguage,
    /// The names under which its own code is imported.
    pub packages: Vec<String>,
}

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

/// Tells how a project is used, by the paths of its files and the text of the one that a path names.
pub fn project_in_use(paths: &[RepoPath], text: &dyn Fn(&RepoPath) -> Option<String>) -> ProjectInUse {
    let python = packages_of_python(paths);
    let javascript = name_of_manifest(paths, text);
    let count = |language| {
        paths
            .iter()
            .filter(|path| SourceLanguage::of(path) == Some(language))
            .count()
    };
    match javascript {
        Some(name) if count(SourceLanguage::JavaScript) > count(SourceLanguage::Python) => ProjectInUse {
            language: SourceLanguage::JavaScript,
            packages: vec![name],
        },
        _ => ProjectInUse {
            language: SourceLanguage::Python,
            packages: python,
        },
    }
}

/// Returns the name that the `package.json` of the root gives.
fn name_of_manifest(paths: &[RepoPath], text: &dyn Fn(&RepoPath) -> Option<String>) -> Option<String> {
    let manifest = paths.iter().find(|path| path.as_str() == "package.json")?;
    let manifest: serde_json::Value = serde_json::from_str(&text(manifest)?).ok()?;
    manifest.get("name")?.as_str().map(str::to_owned)
}

/// Returns the top-level packages and modules among the paths of a tree, at its root or in `src/` or `lib/`. Packages
/// come first; modules only where there is no package.
fn packages_of_python(paths: &[RepoPath]) -> Vec<String> {
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
