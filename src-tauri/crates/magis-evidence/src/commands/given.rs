//! A test command that a person gives as a line.
//!
//! A line that needs a shell is given to one whole: people copy such lines out of documentation, and the border around
//! a run of tests holds for a shell as well. But nothing can be put behind such a line, so it has no report and cannot
//! be narrowed down; only its exit status tells something.

use super::family::{bare, is_assignment, owned};
use super::files::Tree;
use super::javascript::behind_script;
use super::runner::{TestRunner, recognise};
use super::{CommandError, TestCommand};

pub(super) fn read(line: &str, tree: &Tree) -> Result<TestCommand, CommandError> {
    let line = line.trim();
    if line.is_empty() {
        return Err(CommandError::Empty);
    }
    if line.chars().any(|c| c.is_control() && c != '\t') {
        return Err(CommandError::Control(line.to_owned()));
    }
    let words = shlex::split(line).ok_or_else(|| CommandError::Unbalanced(line.to_owned()))?;
    let reason = format!("it was given: {line}");
    if needs_shell(line) {
        return Ok(command(None, owned(&["sh", "-c", line]), Vec::new(), reason));
    }
    let assignments = words.iter().take_while(|word| is_assignment(word)).count();
    let (variables, words) = words.split_at(assignments);
    if words.is_empty() {
        return Err(CommandError::NoProgram(line.to_owned()));
    }
    let variable = |word: &String| {
        word.split_once('=')
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let variables = variables.iter().filter_map(variable).collect();
    let texts: Vec<&str> = words.iter().map(String::as_str).collect();
    let texts = bare(&texts);
    let script = || behind_script(tree, texts).map(TestRunner::JavaScript);
    let runner = recognise(texts).or_else(script);
    let mut words = words.to_vec();
    // npm takes for itself what does not stand behind two dashes.
    if texts.first() == Some(&"npm") && runner.is_some() && !words.iter().any(|word| word == "--") {
        words.push("--".to_owned());
    }
    let test_names = runner.map(|runner| runner.as_runner().test_names(tree, ""));
    Ok(TestCommand {
        test_names: test_names.unwrap_or_default(),
        ..command(runner, words, variables, reason)
    })
}

fn command(
    runner: Option<TestRunner>,
    words: Vec<String>,
    variables: Vec<(String, String)>,
    reason: String,
) -> TestCommand {
    TestCommand {
        runner,
        words,
        variables,
        folder: String::new(),
        test_names: Vec::new(),
        reason,
    }
}

/// Returns whether a line has, outside of quotes, something that only a shell carries out.
fn needs_shell(line: &str) -> bool {
    let mut quote = None;
    let mut characters = line.chars().peekable();
    let mut word_begins = true;
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None | Some('"'), '\\') => {
                characters.next();
            }
            (None | Some('"'), '$' | '`') | (None, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '*' | '?') => return true,
            (None, '~' | '#' | '{') if word_begins => return true,
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
        word_begins = quote.is_none() && character.is_whitespace();
    }
    false
}
