//! The files a command line needs, and the command lines that files call for by themselves.

use super::quoted;
use crate::reproduction::check::CheckFile;
use crate::reproduction::pattern::Pattern;
use crate::reproduction::pieces::{FileRole, Piece, file_names, has_extension};

static TESTS: Pattern = Pattern::new(r"(?m)^\s*(?:async )?def test\w*\(|^class Test\w*");
static FRAME_FILE: Pattern = Pattern::new(r"\b([\w-]+\.py)(?:::|:\d+)");
static EXTENSION: Pattern = Pattern::new(r"\bsphinx\.ext\.(\w+)");
static SETTING: Pattern =
    Pattern::new(r"\b(autodoc|autosummary|napoleon|intersphinx|viewcode|todo|graphviz|extlinks)_\w+ ?=");
static AUTODOC: Pattern = Pattern::new(r"\.\. auto(module|class|function|method|data|attribute|exception):: *([\w.]+)");

/// The files with names, and the Python blocks without one under the names that commands or outputs use.
pub(super) fn files(issue: &str, pieces: &[Piece], lines: &[String]) -> Vec<CheckFile> {
    let mut files: Vec<CheckFile> = Vec::new();
    for piece in pieces {
        if let Piece::File {
            path,
            text,
            role: FileRole::Given,
        } = piece
        {
            files.retain(|file| file.path != *path);
            files.push(CheckFile {
                path: path.clone(),
                text: text.clone(),
            });
        }
    }
    let named = lines
        .iter()
        .flat_map(|line| file_names(line))
        .filter(|name| has_extension(name, "py"));
    let shown = FRAME_FILE
        .captures_iter(issue)
        .filter_map(|parts| parts.get(1))
        .map(|part| part.as_str());
    let documented = AUTODOC
        .captures_iter(issue)
        .map(|parts| module_file(&parts[1], &parts[2]));
    let mut names: Vec<String> = named
        .chain(shown.filter(|name| name.starts_with("test")))
        .map(str::to_owned)
        .chain(documented)
        .collect();
    names.retain(|name| !files.iter().any(|file| file.path == *name));
    let mut unique: Vec<String> = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    let mut names = unique.into_iter();
    for piece in pieces {
        let Piece::Input(input) = piece else { continue };
        let is_test = TESTS.is_match(&input.source);
        let fallback = is_test.then(|| format!("test_reproduction_{}.py", files.len() + 1));
        if let Some(path) = names.next().or(fallback) {
            files.push(CheckFile {
                path,
                text: format!("{}\n", input.source),
            });
        }
    }
    files
}

/// Returns the file of the module that a directive documents, or of the one that holds what it documents.
fn module_file(directive: &str, name: &str) -> String {
    let module = match (directive, name.rsplit_once('.')) {
        ("module", _) | (_, None) => name,
        (_, Some((module, _))) => module,
    };
    format!("{}.py", module.replace('.', "/"))
}

/// Returns the command lines that the files call for by themselves: tests are run, documents are built.
pub(super) fn called_for(issue: &str, files: &mut Vec<CheckFile>) -> Vec<String> {
    let tests: Vec<String> = files
        .iter()
        .filter(|file| has_extension(&file.path, "py") && TESTS.is_match(&file.text))
        .map(|file| quoted(&file.path))
        .collect();
    if !tests.is_empty() {
        return vec![format!("python -m pytest {}", tests.join(" "))];
    }
    documents(issue, files)
}

/// Returns the lines that build the documents among the files, with settings for them.
fn documents(issue: &str, files: &mut Vec<CheckFile>) -> Vec<String> {
    let has_document = files
        .iter()
        .any(|file| has_extension(&file.path, "rst") && !file.path.starts_with('_'));
    if !has_document || !issue.to_lowercase().contains("sphinx") && !AUTODOC.is_match(issue) {
        return Vec::new();
    }
    if !files.iter().any(|file| file.path == "conf.py") {
        files.push(CheckFile {
            path: "conf.py".to_owned(),
            text: String::new(),
        });
    }
    let mut extensions: Vec<String> = Vec::new();
    let named = EXTENSION.captures_iter(issue).map(|parts| parts[0].to_owned());
    let used = SETTING
        .captures_iter(issue)
        .map(|parts| format!("sphinx.ext.{}", &parts[1]));
    let auto = AUTODOC.is_match(issue).then(|| "sphinx.ext.autodoc".to_owned());
    for name in named.chain(used).chain(auto) {
        if !extensions.contains(&name) {
            extensions.push(name);
        }
    }
    let templates = if files.iter().any(|file| file.path.starts_with("_templates/")) {
        "templates_path = ['_templates']\n"
    } else {
        ""
    };
    for settings in files.iter_mut().filter(|file| file.path == "conf.py") {
        settings.text = format!(
            "import os, sys\nsys.path.insert(0, os.path.abspath('.'))\nextensions = {extensions:?}\n{templates}{}\n",
            settings.text
        );
    }
    // The text of each page beside the markup: whatever an issue shows of the outcome is in one of them.
    vec![
        "python -m sphinx -b text . _build/text".to_owned(),
        "cat _build/text/*.txt".to_owned(),
        "python -m sphinx -q -b html . _build/html".to_owned(),
        "cat _build/html/index.html".to_owned(),
    ]
}
