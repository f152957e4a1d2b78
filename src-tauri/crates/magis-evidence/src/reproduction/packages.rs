//! What a project is to those who use it: the language of its code, and the names under which that is imported.

use crate::reproduction::pieces::has_extension;
use magis_core::RepoPath;
use magis_syntax::SourceLanguage;

/// A project as the examples of its issues use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectInUse {
    /// Python, JavaScript or Rust: the one that most of its files are in.
    pub language: SourceLanguage,
    /// The names under which its own code is imported; in Rust that of the package, and that of its library.
    pub packages: Vec<String>,
}

impl ProjectInUse {
    /// Returns the manifest of a package in Rust that depends on the project, which is linked beside it.
    pub(super) fn manifest_of_user(&self) -> String {
        let name = self.packages.first().map_or("", String::as_str);
        format!(
            "[package]\nname = \"magis-reproduction\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[dependencies]\n\"{name}\" = {{ path = \"project\" }}\n"
        )
    }

    /// Returns the name under which code in Rust imports the project.
    pub(super) fn library(&self) -> &str {
        self.packages.last().map_or("", String::as_str)
    }
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
    let manifest = |name: &str| {
        let path = paths.iter().find(|path| path.as_str() == name)?;
        text(path)
    };
    let known = [
        (SourceLanguage::Python, Some(packages_of_python(paths))),
        (
            SourceLanguage::JavaScript,
            manifest("package.json").and_then(|text| name_of_package(&text)),
        ),
        (
            SourceLanguage::Rust,
            manifest("Cargo.toml").and_then(|text| names_of_crate(&text)),
        ),
    ];
    let files = |language| {
        paths
            .iter()
            .filter(|path| SourceLanguage::of(path) == Some(language))
            .count()
    };
    let named = known
        .into_iter()
        .filter_map(|(language, names)| Some((language, names?)));
    // Of equals the first counts.
    let (language, packages) = named
        .rev()
        .max_by_key(|(language, _)| files(*language))
        .unwrap_or((SourceLanguage::Python, Vec::new()));
    ProjectInUse { language, packages }
}

/// Returns the name that a `package.json` gives.
fn name_of_package(manifest: &str) -> Option<Vec<String>> {
    let manifest: serde_json::Value = serde_json::from_str(manifest).ok()?;
    Some(vec![manifest.get("name")?.as_str()?.to_owned()])
}

/// Returns the names of the package of a `Cargo.toml` and of its library.
fn names_of_crate(manifest: &str) -> Option<Vec<String>> {
    let manifest: toml::Table = manifest.parse().ok()?;
    let name = |table: &str| manifest.get(table)?.get("name")?.as_str();
    let package = name("package")?;
    let library = name("lib").map_or_else(|| package.replace('-', "_"), str::to_owned);
    // They are written into code and a manifest, and strangers may have chosen them.
    let is_plain = |name: &str| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    (is_plain(package) && is_plain(&library)).then(|| vec![package.to_owned(), library])
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
