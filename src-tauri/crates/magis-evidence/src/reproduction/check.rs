//! A check: files to write, a command to run, and what the issue says of its output.

use crate::reproduction::traceback::Exception;
use crate::reproduction::wording::Stance;
use magis_syntax::SourceLanguage;
use serde::{Deserialize, Serialize};
use std::path::Path;
use thiserror::Error;

/// A check made out of an issue's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Files to write into an empty folder, which is where the command runs.
    pub files: Vec<CheckFile>,
    pub command: CheckCommand,
    /// The inputs in their order; empty where a shell runs.
    pub steps: Vec<String>,
    pub claims: Vec<Claim>,
    /// What a person should know before this runs, one sentence each.
    pub warnings: Vec<String>,
    /// What begins every record of the run.
    pub marker: Marker,
}

/// The file of a check that is a Python script of its own.
pub const SCRIPT_FILE: &str = "test_issue.py";

/// The file of a check that is a JavaScript of its own: as a module, and as one that loads by `require`.
const MODULE_FILE: &str = "test_issue.mjs";
const REQUIRING_FILE: &str = "test_issue.cjs";

/// Runs such a file by Node.
const NODE_PROGRAM: &str = include_str!("programs/script.js");
const NODE_PROGRAM_FILE: &str = "run_script.cjs";

/// Runs a package in Rust; beside it what stands in for its program or its library where that does not compile.
pub(super) const PACKAGE_PROGRAM_FILE: &str = "run_package.sh";
const PACKAGE_PROGRAM: &str = include_str!("programs/package.sh");
pub(super) const SECOND_FILE: &str = "src/second.rs";

/// Calls what a script defines as tests, as a runner would.
const CALLS: &str = "for _name, _test in list(globals().items()):\n    if _name.startswith('test') and callable(_test):\n        _test()\n";

impl Check {
    /// Makes a check of a Python script that asserts what it wants: it is judged by its exit status alone.
    pub fn of_script(script: &str, marker: Marker) -> Self {
        Self {
            files: vec![CheckFile {
                path: SCRIPT_FILE.to_owned(),
                text: format!("{script}\n{CALLS}"),
            }],
            command: CheckCommand::Python(SCRIPT_FILE.to_owned()),
            steps: Vec::new(),
            claims: Vec::new(),
            warnings: Vec::new(),
            marker,
        }
    }

    /// Makes a check of a JavaScript that asserts what it wants: it is judged by its exit status alone.
    pub fn of_node_script(script: &str, marker: Marker) -> Self {
        let file = Self::node_script_file(script);
        let program = format!("const SCRIPT = '{file}';\n{NODE_PROGRAM}");
        let files = [(file, script.to_owned()), (NODE_PROGRAM_FILE, program)];
        Self {
            files: files
                .map(|(path, text)| CheckFile {
                    path: path.to_owned(),
                    text,
                })
                .to_vec(),
            command: CheckCommand::JavaScript(NODE_PROGRAM_FILE.to_owned()),
            steps: Vec::new(),
            claims: Vec::new(),
            warnings: Vec::new(),
            marker,
        }
    }

    /// Returns the file that a JavaScript of its own is written into: its extension tells Node how it loads what it needs.
    pub fn node_script_file(script: &str) -> &'static str {
        let imports = |line: &str| {
            ["import ", "import{", "export "]
                .iter()
                .any(|word| line.starts_with(word))
        };
        if script.lines().any(imports) {
            MODULE_FILE
        } else {
            REQUIRING_FILE
        }
    }

    /// Returns whether its steps assert something themselves.
    pub(crate) fn asserts(&self) -> bool {
        let mut lines = self.steps.iter().flat_map(|step| step.lines());
        lines.any(|line| line.trim_start().starts_with("assert"))
    }
}

/// A file of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckFile {
    /// Relative, `/`-separated, never leading out of the folder.
    pub path: String,
    pub text: String,
}

/// What runs a check: the project's Python, Node, Cargo, or a shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckCommand {
    /// A file of the check, by the Python of the project.
    Python(String),
    /// A file of the check, by Node.
    #[serde(rename = "javascript")]
    JavaScript(String),
    /// The files of the check are a package that depends on the project: its program is run, or where it is a library, its tests.
    Rust,
    /// Lines for `sh`, with the project's tools on the path.
    Shell(String),
}

impl CheckFile {
    /// Returns what runs the package of a check in Rust, which finds the project beside itself.
    pub(super) fn of_package() -> Self {
        Self {
            path: PACKAGE_PROGRAM_FILE.to_owned(),
            text: PACKAGE_PROGRAM.to_owned(),
        }
    }
}

impl CheckCommand {
    /// Returns program and arguments: `python` is the program that runs Python, `root` the folder of the project.
    pub fn words(&self, python: &str, root: &Path) -> Vec<String> {
        match self {
            Self::Python(file) => vec![python.to_owned(), file.clone()],
            Self::JavaScript(file) => vec!["node".to_owned(), file.clone(), root.display().to_string()],
            Self::Rust => ["sh", PACKAGE_PROGRAM_FILE, &root.display().to_string()]
                .map(str::to_owned)
                .to_vec(),
            Self::Shell(lines) => vec!["sh".to_owned(), "-c".to_owned(), lines.clone()],
        }
    }

    /// Returns the language of the steps.
    pub fn language(&self) -> SourceLanguage {
        match self {
            Self::JavaScript(_) => SourceLanguage::JavaScript,
            Self::Rust => SourceLanguage::Rust,
            Self::Python(_) | Self::Shell(_) => SourceLanguage::Python,
        }
    }
}

/// Something the issue says of an output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub what: Said,
    pub stance: Stance,
    pub about: About,
}

/// What an issue shows or names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// An exception, with what a tool wrote before each of its lines.
    Raises { exception: Exception, prefix: String },
    /// A text that is printed, or a value that is shown.
    Prints(String),
    /// Two inputs should have one output.
    Agrees,
    /// No end within reasonable time.
    Hangs,
}

/// Which input is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    Any,
    Step(u32),
    /// The statement that ends on this line, from 1, of a step.
    Line {
        step: u32,
        line: u32,
    },
}

/// The text that begins every record of a run, which what is run cannot know beforehand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Marker(String);

/// A text cannot be a marker.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{0}' cannot mark records; give 16 to 64 letters and digits drawn at random")]
pub struct MarkerError(String);

impl Marker {
    /// Makes a marker of a text drawn at random.
    ///
    /// # Errors
    /// When the text is not 16 to 64 ASCII letters and digits.
    pub fn new(text: impl Into<String>) -> Result<Self, MarkerError> {
        let text = text.into();
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if plain && (16..=64).contains(&text.len()) {
            Ok(Self(text))
        } else {
            Err(MarkerError(text))
        }
    }

    /// Returns the marker as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Marker {
    type Error = MarkerError;
    fn try_from(text: String) -> Result<Self, MarkerError> {
        Self::new(text)
    }
}

impl From<Marker> for String {
    fn from(marker: Marker) -> Self {
        marker.0
    }
}
