//! Standard output and what it can show: colour, width, and whether a person sits in front of it.
//!
//! Nothing here panics when the reader has gone; every write may end the command quietly instead.

use crate::args::ColorChoice;
use crate::failure::Failure;
use crate::render::Paint;
use console::Term;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

/// How wide text runs at the most, also on a wider terminal: longer lines are hard to read.
const WIDEST: usize = 110;
/// The width where nobody says one.
const USUAL: usize = 100;

/// Standard output.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Whether and how colour is used.
    pub paint: Paint,
    /// Columns to fill.
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
        let terminal = io::stdout().is_terminal();
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let coloured = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal && !dumb && !set("NO_COLOR"),
        };
        let columns = Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
        Self {
            paint: if coloured { Paint::Coloured } else { Paint::Plain },
            width: if terminal {
                columns.unwrap_or(USUAL).clamp(40, WIDEST)
            } else {
                USUAL
            },
            reader: if terminal { Reader::Person } else { Reader::Program },
        }
    }

    /// Whether a person reads standard output.
    pub fn has_person(self) -> bool {
        self.reader == Reader::Person
    }

    /// Whether a line can be kept at the bottom and be written anew.
    pub fn has_status_line(self) -> bool {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        self.has_person() && io::stderr().is_terminal() && !dumb
    }

    /// Writes text as it is.
    #[expect(clippy::unused_self, reason = "whoever writes has looked at the screen first")]
    pub fn write(self, text: &str) -> Result<(), Failure> {
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

    /// Writes a line.
    pub fn line(self, text: &str) -> Result<(), Failure> {
        self.write(&format!("{text}\n"))
    }
}

/// Writes a line to standard error, where there is one.
pub fn tell(text: &str) {
    // Without a standard error there is nobody to tell that there is none.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Asks the person in front of the terminal; none where nobody sits there.
pub fn ask(question: &str) -> Option<String> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    write!(io::stderr(), "{question} ")
        .and_then(|()| io::stderr().flush())
        .ok()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).ok()?;
    Some(answer.trim().to_owned())
}
