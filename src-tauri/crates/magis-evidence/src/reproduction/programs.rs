//! The programs that run the steps of a check, statement by statement, and record what each did: one for each language.

use crate::reproduction::check::{CheckCommand, CheckFile, Marker};
use crate::reproduction::packages::ProjectInUse;
use magis_syntax::{SourceLanguage, TopStatement, TopStatementKind, top_statements};
use serde::Serialize;

const PYTHON: &str = include_str!("programs/runner.py");
const JAVASCRIPT: &str = include_str!("programs/runner.js");

/// The files with the programs.
const PYTHON_FILE: &str = "reproduction.py";
const JAVASCRIPT_FILE: &str = "reproduction.cjs";

/// What users of a package bind before they begin, by its own documents: the session that `isympy` opens, and its like.
const PRELUDES: [(&str, &[&str]); 2] = [
    ("flask", &["from flask import Flask; app = Flask('flask_app')"]),
    (
        "sympy",
        &[
            "from sympy import symbols; x, y, z, t = symbols('x y z t')",
            "from sympy import symbols; k, m, n = symbols('k m n', integer=True)",
            "from sympy import symbols, Function; f, g, h = symbols('f g h', cls=Function)",
        ],
    ),
];

/// What is to be run.
pub(crate) struct Steps<'a> {
    pub project: &'a ProjectInUse,
    pub sources: &'a [String],
    /// One a claim, in their order; empty for a claim that is no text.
    pub texts: Vec<&'a str>,
    pub marker: &'a Marker,
}

#[derive(Serialize)]
struct PythonTask<'a> {
    marker: &'a str,
    packages: &'a [String],
    preludes: Vec<&'static str>,
    steps: &'a [String],
    texts: &'a [&'a str],
}

#[derive(Serialize)]
struct JavaScriptTask<'a> {
    marker: &'a str,
    packages: &'a [String],
    steps: Vec<Vec<Statement>>,
    texts: &'a [&'a str],
}

#[derive(Serialize)]
struct Statement {
    source: String,
    line: u32,
    last_line: u32,
    /// Whether its value is shown at a prompt.
    shown: bool,
    /// The one name that it binds.
    binds: Option<String>,
    asserts: bool,
}

/// Returns whether a file of a check is one of the programs.
pub(crate) fn is_program(path: &str) -> bool {
    [PYTHON_FILE, JAVASCRIPT_FILE].contains(&path)
}

impl Steps<'_> {
    /// Returns the command that runs the steps, and its file.
    pub(crate) fn program(&self) -> (CheckCommand, CheckFile) {
        let (command, path, task, program) = match self.project.language {
            SourceLanguage::JavaScript => (
                CheckCommand::JavaScript(JAVASCRIPT_FILE.to_owned()),
                JAVASCRIPT_FILE,
                format!("const TASK_TEXT = {};", quoted(&self.javascript())),
                JAVASCRIPT,
            ),
            _ => (
                CheckCommand::Python(PYTHON_FILE.to_owned()),
                PYTHON_FILE,
                format!("TASK_TEXT = {}", quoted(&self.python())),
                PYTHON,
            ),
        };
        let file = CheckFile {
            path: path.to_owned(),
            text: format!("{task}\n{program}"),
        };
        (command, file)
    }

    fn python(&self) -> PythonTask<'_> {
        let known = PRELUDES
            .iter()
            .filter(|(package, _)| self.project.packages.iter().any(|name| name == package));
        PythonTask {
            marker: self.marker.as_str(),
            packages: &self.project.packages,
            preludes: known.flat_map(|(_, lines)| lines.iter().copied()).collect(),
            steps: self.sources,
            texts: &self.texts,
        }
    }

    fn javascript(&self) -> JavaScriptTask<'_> {
        JavaScriptTask {
            marker: self.marker.as_str(),
            packages: &self.project.packages,
            steps: self.sources.iter().map(|source| statements(source)).collect(),
            texts: &self.texts,
        }
    }
}

/// Returns the statements of a step; one that does not parse is left to whoever runs it.
fn statements(source: &str) -> Vec<Statement> {
    let whole = || {
        vec![TopStatement {
            source: source.to_owned(),
            line: 1,
            last_line: source.lines().count().max(1) as u32,
            kind: TopStatementKind::Other,
        }]
    };
    let found = top_statements(SourceLanguage::JavaScript, source).unwrap_or_else(whole);
    let statement = |found: TopStatement| Statement {
        asserts: found.source.starts_with("assert"),
        source: found.source,
        line: found.line,
        last_line: found.last_line,
        shown: found.kind == TopStatementKind::Expression,
        binds: match found.kind {
            TopStatementKind::Binding(name) => Some(name),
            TopStatementKind::Expression | TopStatementKind::Other => None,
        },
    };
    found.into_iter().map(statement).collect()
}

/// Returns a task as JSON, written as a string; that is one in Python and in JavaScript, too.
fn quoted(task: &impl Serialize) -> String {
    let task = serde_json::to_string(task).unwrap_or_default();
    serde_json::to_string(&task).unwrap_or_default()
}
