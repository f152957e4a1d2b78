//! What a test command needed and did not find on this machine.

use std::path::Path;

/// Returns what a run of `words` lacked to begin at all, as a sentence that says what to do; none where its output does not say so.
pub fn missing_program(words: &[String], output: &str) -> Option<String> {
    let sentence = |what: &str| format!("{what} is not installed here; install it, or give another test command");
    for line in output.lines().map(str::trim_end) {
        if let Some(module) = python_module(words).filter(|module| line.ends_with(&format!("No module named {module}")))
        {
            let python = words.first().map_or("Python", String::as_str);
            return Some(sentence(&format!("{module}, a module of {python},")));
        }
        let subcommand = line
            .strip_prefix("error: no such command: `")
            .and_then(|rest| rest.strip_suffix('`'));
        if let Some(subcommand) = subcommand.filter(|_| words.first().is_some_and(|word| word == "cargo")) {
            return Some(sentence(&format!("cargo {subcommand}")));
        }
        if let Some(script) = line.strip_prefix("Could not open input file: ") {
            return Some(sentence(script));
        }
        if let Some(program) = program_of(line) {
            return Some(sentence(program));
        }
    }
    None
}

/// Returns why the program of `words` could not be started, in words that say what it is; `why` are the system's.
pub fn not_started(words: &[String], why: &str) -> String {
    let program = words.first().map_or("the program", String::as_str);
    if why.contains("No such file or directory") {
        format!("{program} is not installed here")
    } else {
        format!("{program} cannot be started here ({why})")
    }
}

/// Returns the program that a shell or `env` did not find: "sh: 1: jest: not found", "env: ‘jest’: No such file or directory".
fn program_of(line: &str) -> Option<&str> {
    let said = line
        .strip_suffix(": command not found")
        .or_else(|| line.strip_suffix(": not found"))
        .or_else(|| line.strip_prefix("env: ")?.strip_suffix(": No such file or directory"))?;
    let name = said.rsplit(": ").next()?.trim_matches(['‘', '’', '\'', '"']);
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(name)
}

/// Returns the module that Python is asked to run: `pytest` of `python3 -m pytest`.
fn python_module(words: &[String]) -> Option<&str> {
    let program = Path::new(words.first()?).file_name()?.to_str()?;
    let at = words.iter().position(|word| word == "-m")?;
    program
        .starts_with("python")
        .then(|| words.get(at + 1))?
        .map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::missing_program;

    #[test]
    fn what_is_not_installed_is_named() {
        for (command, output, what) in [
            (
                "python3 -m pytest -q",
                "/usr/bin/python3: No module named pytest\n",
                "pytest, a module of python3,",
            ),
            (
                "cargo nextest run",
                "error: no such command: `nextest`\n",
                "cargo nextest",
            ),
            ("npm test", "> a@1.0.0 test\n> jest\n\nsh: 1: jest: not found\n", "jest"),
            (
                "make test",
                "/bin/sh: line 1: gotestsum: command not found\n",
                "gotestsum",
            ),
            (
                "php vendor/bin/phpunit",
                "Could not open input file: vendor/bin/phpunit\n",
                "vendor/bin/phpunit",
            ),
            ("env A=1 ctest", "env: ‘ctest’: No such file or directory\n", "ctest"),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            let said = missing_program(&words, output);
            let wanted = format!("{what} is not installed here; install it, or give another test command");
            assert_eq!(said, Some(wanted), "{command}");
        }
    }

    #[test]
    fn a_test_that_misses_a_module_is_no_missing_program() {
        let words: Vec<String> = ["python3", "-m", "pytest"].map(str::to_owned).to_vec();
        assert_eq!(
            missing_program(&words, "E   ModuleNotFoundError: No module named 'yaml'\n"),
            None
        );
        assert_eq!(missing_program(&words, "the page was not found\n"), None);
    }
}
