//! Standard output and what it can show: colour, width, and whether a person sits in front of it. All that a terminal gets
//! goes through here, and leaves as text that it cannot obey.
//!
//! Nothing here panics when the reader has gone; every write may end the command quietly instead.

use crate::args::ColorChoice;
use crate::failure::Failure;
use crate::render::{Paint, clean, escaped};
use console::Term;
use serde_json::Value;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

/// How wide text runs at the most, also on a wider terminal: longer lines are hard to read.
const WIDEST: usize = 110;
/// A terminal that says it is narrower is not believed.
const NARROWEST: usize = 40;
/// The width where nobody says one.
const USUAL: usize = 100;

/// Writes to standard output, in colour and width as the terminal has them.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Whether and how colour is used.
    pub paint: Paint,
    pub width: usize,
    reader: Reader,
}

/// Who reads standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Person,
    Program,
}

impl Screen {
    /// Looks at standard output, the environment and what was asked for.
    pub fn look(choice: ColorChoice) -> Self {
        let reader = if io::stdout().is_terminal() {
            Reader::Person
        } else {
            Reader::Program
        };
        let width = match reader {
            Reader::Person => Term::stdout()
                .size_checked()
                .map_or(USUAL, |(_, columns)| columns.into()),
            Reader::Program => USUAL,
        };
        Self {
            paint: paint(choice, reader, variable),
            width: width.clamp(NARROWEST, WIDEST),
            reader,
        }
    }

    /// Returns whether a person reads standard output.
    pub fn has_person(self) -> bool {
        self.reader == Reader::Person
    }

    /// Returns whether a line can be kept at the bottom and be written anew.
    pub fn has_status_line(self) -> bool {
        self.has_person() && io::stderr().is_terminal() && !is_dumb(&variable)
    }

    /// Writes text, without what a terminal would obey: also to a program, which may well hand it on to one.
    pub fn write(self, text: &str) -> Result<(), Failure> {
        put(&self.paint.harmless(text))
    }

    /// Writes a line and its line break.
    pub fn line(self, text: &str) -> Result<(), Failure> {
        self.write(&format!("{text}\n"))
    }

    /// Writes what is asked for byte by byte, a patch say: to a program as it is, to a person as any text.
    pub fn exactly(self, text: &str) -> Result<(), Failure> {
        match self.reader {
            Reader::Person => self.write(text),
            Reader::Program => put(text),
        }
    }

    /// Writes a value in JSON over several lines.
    pub fn json(self, value: &Value) -> Result<(), Failure> {
        self.line(&escaped(&format!("{value:#}")))
    }
}

/// Returns a value in JSON on one line.
pub fn json_line(value: &Value) -> String {
    escaped(&value.to_string()).into_owned()
}

/// Writes text to standard output.
fn put(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::error(
                format!("cannot write to standard output: {error}"),
                "check where it leads, and the free space there",
            ),
        })
}

/// Returns whether colour is used: what was asked for decides, else a person at a terminal who did not set `NO_COLOR`.
fn paint(choice: ColorChoice, reader: Reader, variable: impl Fn(&str) -> Option<String>) -> Paint {
    let wanted = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => reader == Reader::Person && variable("NO_COLOR").is_none() && !is_dumb(&variable),
    };
    if wanted { Paint::Coloured } else { Paint::Plain }
}

fn is_dumb(variable: &impl Fn(&str) -> Option<String>) -> bool {
    variable("TERM").is_some_and(|term| term == "dumb")
}

/// Returns a variable of the environment that says something.
fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.to_string_lossy().into_owned();
    (!value.is_empty()).then_some(value)
}

/// Writes a line to standard error, where there is one.
pub fn tell(text: &str) {
    // Without a standard error there is nobody to tell that there is none.
    let _ = writeln!(io::stderr(), "{}", clean(text));
}

/// Asks the person in front of the terminal; none where nobody sits there.
pub fn ask(question: &str) -> Option<String> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    write!(io::stderr(), "{} ", clean(question))
        .and_then(|()| io::stderr().flush())
        .ok()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).ok()?;
    Some(answer.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(choice: ColorChoice, reader: Reader, environment: &[(&str, &str)], expected: Paint) {
        let variable = |name: &str| {
            let found = environment.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(paint(choice, reader, variable), expected);
    }

    #[test]
    fn colour_is_for_a_person_who_did_not_refuse_it() {
        check(ColorChoice::Auto, Reader::Person, &[("TERM", "xterm")], Paint::Coloured);
        check(ColorChoice::Auto, Reader::Program, &[("TERM", "xterm")], Paint::Plain);
        check(ColorChoice::Auto, Reader::Person, &[("NO_COLOR", "1")], Paint::Plain);
        check(ColorChoice::Auto, Reader::Person, &[("TERM", "dumb")], Paint::Plain);
    }

    #[test]
    fn what_is_asked_for_outright_wins() {
        check(
            ColorChoice::Always,
            Reader::Program,
            &[("NO_COLOR", "1")],
            Paint::Coloured,
        );
        check(ColorChoice::Never, Reader::Person, &[], Paint::Plain);
    }
}
