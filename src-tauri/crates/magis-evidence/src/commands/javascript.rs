//! JavaScript and TypeScript: Jest, Vitest, Mocha, Node's own runner and tape, started by the project's script where it has
//! one.

mod script;

use super::family::{Found, Runner, Standing, Wanted, Worded, any_of, distinct, in_scratch, with};
use super::files::{Tree, file_name, has_extension, join, stem};
use super::{ReportPlace, SelectionError, TestReport};
use crate::results::{ReportForm, TestId};
use script::Package;

pub(super) use script::behind_script;

/// A runner of JavaScript tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JavaScriptRunner {
    Jest,
    Vitest,
    Mocha,
    /// `node --test`
    Node,
    Tape,
    /// A script of `package.json` behind which none of the others could be made out.
    Script,
}

use JavaScriptRunner::{Jest, Mocha, Node, Script, Tape, Vitest};

/// How many files of tests are read for the runner that they load.
const READ_TESTS: usize = 50;

/// tape has no option for a file, and prints its report.
const ON_STDOUT: TestReport = TestReport {
    form: ReportForm::Tape,
    place: ReportPlace::Stdout,
};

/// Files that configure a runner.
const CONFIGURATIONS: [(&str, JavaScriptRunner); 14] = [
    ("vitest.config.ts", Vitest),
    ("vitest.config.mts", Vitest),
    ("vitest.config.js", Vitest),
    ("vitest.config.mjs", Vitest),
    ("jest.config.js", Jest),
    ("jest.config.ts", Jest),
    ("jest.config.cjs", Jest),
    ("jest.config.mjs", Jest),
    ("jest.config.json", Jest),
    (".mocharc.js", Mocha),
    (".mocharc.cjs", Mocha),
    (".mocharc.json", Mocha),
    (".mocharc.yml", Mocha),
    (".mocharc.yaml", Mocha),
];

pub(super) fn find(tree: &Tree) -> Vec<Found<JavaScriptRunner>> {
    let folders = tree.folders_with(&["package.json"]);
    folders.iter().filter_map(|folder| in_folder(tree, folder)).collect()
}

fn in_folder(tree: &Tree, folder: &str) -> Option<Found<JavaScriptRunner>> {
    let package = Package::of(tree, folder)?;
    let manifest = join(folder, "package.json");
    if let Some((script, line, runner)) = package.test_script() {
        let words = package.run(&script);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (runner, standing) = match runner {
            Some(runner) => (runner, Standing::Configured),
            None => (Script, Standing::Wrapper),
        };
        let reason = format!("{manifest} has the script '{script}': {line}");
        if runner != Script || !CONFIGURATIONS.iter().any(|(name, _)| tree.has(&join(folder, name))) {
            return Some(Found::new(runner, &words, folder, standing, reason));
        }
    }
    let direct = |runner: JavaScriptRunner, standing, reason| {
        let words = ["npx", "--no-install", runner.program()];
        Some(Found::new(runner, &words, folder, standing, reason))
    };
    for (name, runner) in CONFIGURATIONS {
        if tree.has(&join(folder, name)) {
            return direct(runner, Standing::Configured, format!("{} is there", join(folder, name)));
        }
    }
    for runner in [Vitest, Jest, Mocha] {
        if package.names(runner.program()) {
            return direct(
                runner,
                Standing::Named,
                format!("{manifest} names {}", runner.program()),
            );
        }
    }
    let loads_node_test = |path: &&str| {
        let text = tree.text(&join(folder, path));
        text.is_some_and(|text| text.contains("node:test"))
    };
    let below = tree.below(folder).into_iter();
    let mut tests = below.filter(|path| Node.is_test_file(path)).take(READ_TESTS);
    let file = tests.find(loads_node_test)?;
    let reason = format!("{} loads node:test", join(folder, file));
    Some(Found::new(Node, &["node", "--test"], folder, Standing::Present, reason))
}

pub(super) fn recognise(words: &[&str]) -> Option<JavaScriptRunner> {
    match file_name(words.first()?) {
        "jest" | "jest.js" => Some(Jest),
        "vitest" | "vitest.mjs" => Some(Vitest),
        "mocha" | "_mocha" | "mocha.js" => Some(Mocha),
        "tape" => Some(Tape),
        "node" if words.contains(&"--test") => Some(Node),
        "node" => words[1..]
            .iter()
            .find(|word| !word.starts_with('-'))
            .and_then(|word| recognise(&[word])),
        _ => None,
    }
}

impl JavaScriptRunner {
    fn program(self) -> &'static str {
        match self {
            Jest => "jest",
            Vitest => "vitest",
            Mocha => "mocha",
            Node => "node",
            Tape => "tape",
            Script => "npm",
        }
    }
}

impl Runner for JavaScriptRunner {
    fn name(&self) -> &'static str {
        match self {
            Jest => "Jest",
            Vitest => "Vitest",
            Mocha => "Mocha",
            Node => "node --test",
            Tape => "tape",
            Script => "a script of package.json",
        }
    }

    fn environments(&self) -> &'static [&'static str] {
        match self {
            Jest | Vitest | Mocha | Node | Tape | Script => &["node_modules", ".yarn/cache", ".yarn/unplugged"],
        }
    }

    fn is_test_file(&self, path: &str) -> bool {
        let name = stem(path);
        let dotted = has_extension(name, &["test", "spec"]);
        let folder = |name: &str| path.split('/').rev().skip(1).any(|part| part == name);
        let fits = match self {
            Jest => dotted || folder("__tests__"),
            Vitest => dotted,
            Mocha | Tape | Script => dotted || folder("test") || folder("tests") || folder("__tests__"),
            Node => {
                let named =
                    name.starts_with("test-") || ["_test", "-test", ".test"].iter().any(|end| name.ends_with(end));
                named || name == "test" || folder("test")
            }
        };
        fits && has_extension(path, &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"])
    }

    fn variables(&self, scratch: &str) -> Vec<(String, String)> {
        match self {
            // Behind the files on a command line Node takes no options, and a script names its files.
            Node => {
                let destination = format!("{scratch}/report.xml").replace('\\', "/").replace('"', "\\\"");
                let options = format!("--test-reporter=junit \"--test-reporter-destination={destination}\"");
                vec![("NODE_OPTIONS".to_owned(), options)]
            }
            Jest | Vitest | Mocha | Tape | Script => vec![("CI".to_owned(), "1".to_owned())],
        }
    }

    fn words(&self, words: &[String], wanted: Wanted, scratch: &str) -> Worded {
        let (options, report) = match self {
            Jest => (
                vec!["--json".to_owned(), format!("--outputFile={scratch}/report.json")],
                Some(in_scratch(ReportForm::Jest, "report.json")),
            ),
            Vitest => (
                vec![
                    "--run".to_owned(),
                    "--reporter=junit".to_owned(),
                    format!("--outputFile={scratch}/report.xml"),
                ],
                Some(in_scratch(ReportForm::JUnit, "report.xml")),
            ),
            Mocha => (
                vec![
                    "--reporter".to_owned(),
                    "json".to_owned(),
                    "--reporter-option".to_owned(),
                    format!("output={scratch}/report.json"),
                ],
                Some(in_scratch(ReportForm::Mocha, "report.json")),
            ),
            Node => (Vec::new(), Some(in_scratch(ReportForm::JUnit, "report.xml"))),
            // It runs the files that its words name, and cannot be told to leave some out.
            Tape => match wanted {
                Wanted::Whole => return Ok((words.to_vec(), Some(ON_STDOUT))),
                Wanted::Files(_) | Wanted::Tests(_) => return Err(SelectionError::Cannot(self.name())),
            },
            Script => match wanted {
                Wanted::Whole => return Ok((words.to_vec(), None)),
                Wanted::Files(_) | Wanted::Tests(_) => return Err(SelectionError::Cannot(self.name())),
            },
        };
        Ok((with(&with(words, options), self.which(wanted)?), report))
    }
}

impl JavaScriptRunner {
    fn which(self, wanted: Wanted) -> Result<Vec<String>, SelectionError> {
        let (files, tests) = match wanted {
            Wanted::Whole => return Ok(Vec::new()),
            Wanted::Files(files) => (files.to_vec(), &[][..]),
            Wanted::Tests(tests) => {
                // In Vitest's report the file is the class. Node's does not tell the file.
                let file = |test: &TestId| match self {
                    Jest | Mocha | Tape | Script => test.file.clone(),
                    Vitest => Some(test.group.clone()),
                    Node => None,
                };
                (distinct(tests.iter().filter_map(file).collect()), tests)
            }
        };
        let pattern = (!tests.is_empty() && tests.iter().all(|test| !test.name.is_empty())).then(|| {
            let names: Vec<String> = tests.iter().map(|test| self.full_name(test)).collect();
            any_of(names.iter().map(String::as_str))
        });
        let mut words = match (self, pattern) {
            (Jest | Vitest, Some(pattern)) => vec!["-t".to_owned(), format!("^{pattern}$")],
            (Mocha, Some(pattern)) => vec!["-g".to_owned(), format!("^{pattern}$")],
            // A script names its files, and behind them Node takes no options.
            (Node, Some(_)) => return Err(SelectionError::Cannot("node --test")),
            (Jest | Vitest | Mocha | Node | Tape | Script, _) => Vec::new(),
        };
        if self == Jest && !files.is_empty() {
            words.push("--runTestsByPath".to_owned());
        }
        words.extend(files);
        Ok(words)
    }

    /// Returns the name of a test with those of its groups, as the runner compares it.
    fn full_name(self, test: &TestId) -> String {
        match self {
            Vitest => test.name.replace(" > ", " "),
            Jest | Mocha | Node | Tape | Script if test.group.is_empty() => test.name.clone(),
            Jest | Mocha | Node | Tape | Script => format!("{} {}", test.group, test.name),
        }
    }
}
