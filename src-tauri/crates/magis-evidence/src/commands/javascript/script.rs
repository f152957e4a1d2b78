//! `package.json`: its scripts, followed to the runner that they start, and the package manager that starts them.

use super::JavaScriptRunner;
use crate::commands::family::bare;
use crate::commands::files::{Tree, join};
use serde_json::{Map, Value};

/// How many scripts may call each other.
const MAX_SCRIPTS: usize = 5;

/// A package of JavaScript.
pub(super) struct Package {
    manifest: Map<String, Value>,
    manager: Manager,
}

#[derive(Clone, Copy)]
enum Manager {
    Npm,
    Pnpm,
    Yarn,
}

impl Package {
    pub(super) fn of(tree: &Tree, folder: &str) -> Option<Self> {
        let text = tree.text(&join(folder, "package.json"))?;
        let Ok(Value::Object(manifest)) = serde_json::from_str(&text) else {
            return None;
        };
        let locked = |name: &str| tree.has(&join(folder, name)) || tree.has(name);
        let manager = if locked("pnpm-lock.yaml") {
            Manager::Pnpm
        } else if locked("yarn.lock") {
            Manager::Yarn
        } else {
            Manager::Npm
        };
        Some(Self { manifest, manager })
    }

    /// Returns the script that runs the tests, its line, and the runner at the end of that line, behind which options
    /// can be put.
    pub(super) fn test_script(&self) -> Option<(String, String, Option<JavaScriptRunner>)> {
        let line = self.script("test").filter(|line| !line.contains("no test specified"))?;
        match self.followed("test") {
            Some((script, runner)) => {
                let line = self.script(&script).unwrap_or(line).to_owned();
                Some((script, line, Some(runner)))
            }
            None => Some(("test".to_owned(), line.to_owned(), None)),
        }
    }

    /// Words the start of a script so that options can be put behind it.
    pub(super) fn run(&self, script: &str) -> Vec<String> {
        let words: &[&str] = match self.manager {
            Manager::Npm => &["npm", "run", "--silent", script, "--"],
            Manager::Pnpm => &["pnpm", "run", script],
            Manager::Yarn => &["yarn", "run", script],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// Returns whether the package depends on another, or holds its configuration.
    pub(super) fn names(&self, package: &str) -> bool {
        let lists = ["devDependencies", "dependencies"];
        let depends = |list: &&str| self.manifest.get(*list).is_some_and(|list| list.get(package).is_some());
        self.manifest.contains_key(package) || lists.iter().any(depends)
    }

    fn script(&self, name: &str) -> Option<&str> {
        self.manifest.get("scripts")?.get(name)?.as_str()
    }

    /// Follows a script to the one whose last command is a runner.
    fn followed(&self, script: &str) -> Option<(String, JavaScriptRunner)> {
        let mut name = script.to_owned();
        for _ in 0..MAX_SCRIPTS {
            let line = self.script(&name)?;
            // What is put behind a line goes to its last command.
            let last = line.rsplit(['&', ';', '|']).next()?;
            let words = shlex::split(last)?;
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let words = bare(&words);
            if let Some(runner) = super::recognise(words) {
                return Some((name, runner));
            }
            called(words)?.clone_into(&mut name);
        }
        None
    }
}

/// Returns the runner that a command line of a package manager comes to in the package of the root.
pub(in crate::commands) fn behind_script(tree: &Tree, words: &[&str]) -> Option<JavaScriptRunner> {
    let script = called(words)?;
    let package = Package::of(tree, "")?;
    package.followed(script).map(|(_, runner)| runner)
}

/// Returns the script that words start: `npm run test:unit`, `npm test`, `yarn test`.
fn called<'w>(words: &[&'w str]) -> Option<&'w str> {
    let (program, rest) = words.split_first()?;
    let mut names = rest.iter().copied().filter(|word| !word.starts_with('-'));
    match (*program, names.next()?) {
        ("npm" | "pnpm" | "yarn" | "bun", "run" | "run-script") => names.next(),
        ("npm", "t" | "test") | ("pnpm", "t") => Some("test"),
        ("yarn" | "pnpm" | "run-s" | "npm-run-all", script) => Some(script),
        _ => None,
    }
}
