//! The programs that run the steps of a check, statement by statement, and record what each did: one for each language.

use crate::reproduction::check::{CheckCommand, CheckFile, Marker, PACKAGE_PROGRAM_FILE, SECOND_FILE};
use crate::reproduction::packages::ProjectInUse;
use crate::reproduction::standard;
use magis_syntax::{SourceLanguage, TopStatement, TopStatementKind, top_statements};
use serde::Serialize;

const PYTHON: &str = concat!(
    include_str!("programs/reached.py"),
    "\n\n",
    include_str!("programs/runner.py")
);
const JAVASCRIPT: &str = concat!(
    include_str!("programs/reached.js"),
    "\n\n",
    include_str!("programs/runner.js")
);
const RUST: &str = include_str!("programs/recorder.rs");

/// The files with the programs.
const PYTHON_FILE: &str = "reproduction.py";
const JAVASCRIPT_FILE: &str = "reproduction.cjs";
const RUST_FILES: [&str; 4] = ["Cargo.toml", "src/main.rs", SECOND_FILE, PACKAGE_PROGRAM_FILE];

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
    [PYTHON_FILE, JAVASCRIPT_FILE].contains(&path) || RUST_FILES.contains(&path)
}

impl Steps<'_> {
    /// Returns the command that runs the steps, and its files.
    pub(crate) fn program(&self) -> (CheckCommand, Vec<CheckFile>) {
        let (command, path, task, program) = match self.project.language {
            SourceLanguage::JavaScript => (
                CheckCommand::JavaScript(JAVASCRIPT_FILE.to_owned()),
                JAVASCRIPT_FILE,
                format!("const TASK_TEXT = {};", quoted(&self.javascript())),
                JAVASCRIPT,
            ),
            SourceLanguage::Rust => return (CheckCommand::Rust, self.package()),
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
        (command, vec![file])
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
            steps: self.sources.iter().map(|source| script_statements(source)).collect(),
            texts: &self.texts,
        }
    }

    /// Returns a package that runs the steps and depends on the project, which is linked beside it. Where the steps take something from the standard library
    /// without an import, a name may be the project's or that library's: the program takes the project's, and a second one takes the others first.
    fn package(&self) -> Vec<CheckFile> {
        let library = self.project.library();
        let mut uses: Vec<String> = Vec::new();
        let mut code = String::new();
        for (number, step) in self.sources.iter().enumerate() {
            for (at, statement) in statements_of(SourceLanguage::Rust, step).into_iter().enumerate() {
                let TopStatement { source, kind, .. } = &statement;
                // The same name cannot be imported twice.
                if source.starts_with("use ") {
                    if !uses.contains(source) {
                        uses.push(source.clone());
                        code.push_str(&format!("{source}\n"));
                    }
                    continue;
                }
                code.push_str(&format!(
                    "magis_recorder::begin(magis_recorder::Place {{ step: {number}, statement: {at}, line: {}, last_line: {}, asserts: {} }});\n",
                    statement.line,
                    statement.last_line,
                    source.starts_with("assert")
                ));
                code.push_str(&match kind {
                    TopStatementKind::Expression => format!(
                        "match ({}) {{ value => magis_recorder::end(magis_forms!(&value), \"\") }}\n",
                        source.trim_end_matches(';')
                    ),
                    TopStatementKind::Binding(name) => {
                        format!("{source}\nmagis_recorder::end(magis_forms!(&{name}), \"bound_\");\n")
                    }
                    TopStatementKind::Other => format!("{source}\nmagis_recorder::end(Vec::new(), \"\");\n"),
                });
            }
        }
        let imports = standard::imports(&self.sources.join("\n")).join("\n");
        // What is imported by name hides what the whole project brings, and that what stands outside of the function.
        let program = |outside: &str, inside: &str| {
            format!(
                "#![allow(warnings)]\n{outside}\nconst MAGIS_MARKER: &str = {:?};\n{RUST}\nfn magis_steps() -> ::std::result::Result<(), ::std::boxed::Box<dyn ::std::error::Error>> {{\nuse {library}::*;\n{inside}\n{code}Ok(())\n}}\n",
                self.marker.as_str()
            )
        };
        let [in_manifest, in_program, in_second, _] = RUST_FILES;
        let mut files = vec![
            (in_manifest, self.project.manifest_of_user()),
            (in_program, program(&imports, "")),
        ];
        if !imports.is_empty() {
            files.push((in_second, program("", &imports)));
        }
        let file = |(path, text): (&str, String)| CheckFile {
            path: path.to_owned(),
            text,
        };
        files.into_iter().map(file).chain([CheckFile::of_package()]).collect()
    }
}

/// Returns the statements of a step as they are run and numbered; in Rust those within its `main` where it has one. One that does not parse is left to
/// whoever runs it, as a whole.
pub(crate) fn statements_of(language: SourceLanguage, step: &str) -> Vec<TopStatement> {
    let parsed = |text: &str| top_statements(language, text);
    let Some(statements) = parsed(step) else {
        return vec![whole(step)];
    };
    let mut found = Vec::new();
    for statement in statements {
        let is_main = language == SourceLanguage::Rust
            && ["fn main()", "pub fn main()"]
                .iter()
                .any(|head| statement.source.starts_with(head));
        let body = statement
            .source
            .split_once('{')
            .and_then(|(_, rest)| Some(rest.rsplit_once('}')?.0));
        match body.filter(|_| is_main).and_then(parsed) {
            Some(inner) => {
                let before = statement.line - 1;
                found.extend(inner.into_iter().map(|inner| TopStatement {
                    line: inner.line + before,
                    last_line: inner.last_line + before,
                    ..inner
                }));
            }
            None => found.push(statement),
        }
    }
    found
}

/// Returns a step as one statement.
fn whole(step: &str) -> TopStatement {
    TopStatement {
        source: step.to_owned(),
        line: 1,
        last_line: step.lines().count().max(1) as u32,
        kind: TopStatementKind::Other,
    }
}

fn script_statements(step: &str) -> Vec<Statement> {
    let found = statements_of(SourceLanguage::JavaScript, step);
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
