//! Tracebacks: the exception, its message, and the frames on the way to it.
//!
//! Python's own form is read, and the short one of pytest (`E   ValueError: …`), each with whatever a tool writes before
//! every line (`INTERNALERROR> `); JavaScript's, whose message comes first; and the panics of Rust.

use crate::reproduction::pattern::Pattern;
use serde::{Deserialize, Serialize};

/// An exception as a text shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// Its type as written, with the module where that is shown: `sympy.core.sympify.SympifyError`.
    pub kind: String,
    /// Its message; empty where none is shown.
    pub message: String,
}

/// A place on the way to an exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracebackFrame {
    /// The path as shown, which is that of the reporter's machine.
    pub path: String,
    pub line: u32,
    /// The function; empty where the form does not tell.
    pub function: String,
}

/// An exception with the frames that led to it, the outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traceback {
    pub exception: Exception,
    pub frames: Vec<TracebackFrame>,
    /// What a tool wrote before each of its lines, trimmed; empty for Python's own.
    pub prefix: String,
    /// The first line and the line behind the last, from 0.
    pub lines: std::ops::Range<usize>,
}

static HEAD: Pattern = Pattern::new(r"^(.*?)Traceback \(most recent call last\):?\s*$");
static FRAME: Pattern = Pattern::new(r#"^\s*File "([^"]+)", line (\d+)(?:, in (.+?))?\s*$"#);
static IPYTHON_FRAME: Pattern = Pattern::new(r"^(\S+\.py|<ipython-input\S*>|Input In) in (\w+|<module>)");
static IPYTHON_LINE: Pattern = Pattern::new(r"^-+> ?(\d+) ");
static QUOTED: Pattern = Pattern::new(r#"['`\"]([A-Za-z_][\w.]*)['`\"]"#);
static NAME: Pattern = Pattern::new(r"^[A-Za-z_][\w.]*$");
// The last form is that of older modules: `re.error`, `socket.timeout`.
static KIND: Pattern = Pattern::new(
    r"^((?:[A-Za-z_]\w*\.)*[A-Z_]\w*(?:Error|Exception|Warning|Exit|Interrupt|Iteration|Failed|Failure|NotFound|Fault|Invalid|Conflict|Timeout|Refused|Poly)?|(?:[A-Za-z_]\w*\.)+[a-z]*(?:error|timeout))(?:: ?(.*))?$",
);
static ERROR_LINE: Pattern = Pattern::new(
    r"^\s*(?:Uncaught (?:\(in promise\) )?)?((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Failed)): ?(.*)$",
);
static SCRIPT_FRAME: Pattern = Pattern::new(r"^\s+at (?:async )?(?:(\S.*?) \()?(?:file://)?([^()\s]+?):(\d+):\d+\)?$");
static PANIC: Pattern =
    Pattern::new(r"^\s*thread '([^']*)'(?: \(\d+\))? panicked at (?:'(.*)', )?(\S+?):(\d+):\d+:?\s*$");
static ENDS_PANIC: Pattern = Pattern::new(r"^(?:\s*|note: .*|stack backtrace:.*)$");
static ANY_SCRIPT_FRAME: Pattern = Pattern::new(r"^\s+at \S");
static PYTEST: Pattern = Pattern::new(
    r"^E\s+((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit|Failed)|(?:[A-Za-z_]\w*\.)+[a-z]*(?:error|timeout))(?:: ?(.*))?$",
);
static PYTEST_AT: Pattern = Pattern::new(r"^(\S+\.py):(\d+): (\w*)$");

/// Finds the tracebacks of a text. Of exceptions raised one during another, the last counts, being the one seen.
pub fn tracebacks(text: &str) -> Vec<Traceback> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found: Vec<Traceback> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let next = match HEAD.captures(lines[at]) {
            Some(parts) => python(&lines, at, parts.get(1).map_or("", |part| part.as_str())),
            None => pytest(&lines, at)
                .or_else(|| panic(&lines, at))
                .or_else(|| bare(&lines, at)),
        };
        let Some(next) = next else {
            at += 1;
            continue;
        };
        at = next.lines.end;
        match found.last_mut() {
            Some(last) if chained(&lines[last.lines.end..next.lines.start]) => {
                let first = last.lines.start;
                *last = next;
                last.lines.start = first;
            }
            _ => found.push(next),
        }
    }
    found
}

fn chained(between: &[&str]) -> bool {
    between
        .iter()
        .any(|line| line.contains("another exception occurred:") || line.contains("was the direct cause of"))
}

fn python(lines: &[&str], start: usize, prefix: &str) -> Option<Traceback> {
    // IPython writes the exception's name before the head, and nothing before the lines below it.
    let prefix = if NAME.is_match(prefix.trim()) { "" } else { prefix };
    let mut frames: Vec<TracebackFrame> = Vec::new();
    for (at, line) in lines.iter().enumerate().skip(start + 1) {
        let line = line.strip_prefix(prefix).unwrap_or(line);
        if let Some(parts) = FRAME.captures(line) {
            frames.push(TracebackFrame {
                path: parts[1].to_owned(),
                line: parts[2].parse().unwrap_or(0),
                function: parts.get(3).map_or("", |part| part.as_str()).to_owned(),
            });
        } else if let Some(parts) = IPYTHON_FRAME.captures(line) {
            frames.push(TracebackFrame {
                path: parts[1].to_owned(),
                line: 0,
                function: parts[2].to_owned(),
            });
        } else if let (Some(parts), Some(frame)) = (IPYTHON_LINE.captures(line), frames.last_mut()) {
            frame.line = parts[1].parse().unwrap_or(0);
        } else if let Some(parts) = KIND.captures(line).filter(|_| !line.starts_with(' ')) {
            let mut message = parts.get(2).map_or("", |part| part.as_str()).to_owned();
            let mut end = at + 1;
            // A message goes on over the lines below it, until the text turns to something else.
            let is_open = message.is_empty();
            while let Some(more) = lines
                .get(end)
                .filter(|more| goes_on(more, prefix) || is_open && end == at + 1 && !more.trim().is_empty())
            {
                message = format!("{message}\n{}", more.strip_prefix(prefix).unwrap_or(more).trim_end());
                end += 1;
            }
            return Some(Traceback {
                exception: Exception {
                    kind: parts[1].to_owned(),
                    message: message.trim().to_owned(),
                },
                frames,
                prefix: prefix.trim().to_owned(),
                lines: start..end,
            });
        }
    }
    None
}

fn goes_on(line: &str, prefix: &str) -> bool {
    let own = line.strip_prefix(prefix).unwrap_or(line);
    !own.trim().is_empty()
        && line.starts_with(prefix)
        && !own.starts_with([' ', '>', '#', '$', '='])
        && !own.starts_with("In ")
        && !prefix.is_empty()
}

fn pytest(lines: &[&str], at: usize) -> Option<Traceback> {
    let parts = PYTEST.captures(lines[at])?;
    let place = lines[at + 1..]
        .iter()
        .take(8)
        .find_map(|line| PYTEST_AT.captures(line.trim_end()));
    let frames = place.map(|parts| TracebackFrame::at(&parts[1], &parts[2]));
    Some(Traceback {
        exception: Exception {
            kind: parts[1].to_owned(),
            message: parts.get(2).map_or("", |part| part.as_str()).trim().to_owned(),
        },
        frames: frames.into_iter().collect(),
        prefix: "E".to_owned(),
        lines: at..at + 1,
    })
}

/// Reads a panic of Rust: the place, and the message on the same line or the next.
fn panic(lines: &[&str], at: usize) -> Option<Traceback> {
    let parts = PANIC.captures(lines[at])?;
    let (message, end) = match parts.get(2) {
        Some(message) => (message.as_str().to_owned(), at + 1),
        None => {
            let below = lines[at + 1..].iter().take_while(|line| !ENDS_PANIC.is_match(line));
            let below: Vec<&str> = below.copied().collect();
            (below.join("\n"), at + 1 + below.len())
        }
    };
    Some(Traceback {
        exception: Exception {
            kind: "panic".to_owned(),
            message: message.trim().to_owned(),
        },
        frames: vec![TracebackFrame::at(&parts[3], &parts[4])],
        prefix: String::new(),
        lines: at..end,
    })
}

/// Reads an exception shown by one line, and the frames that JavaScript shows below it, the innermost first.
fn bare(lines: &[&str], at: usize) -> Option<Traceback> {
    let parts = ERROR_LINE.captures(lines[at])?;
    let below = lines[at + 1..]
        .iter()
        .take_while(|line| ANY_SCRIPT_FRAME.is_match(line));
    let below: Vec<&&str> = below.collect();
    let frame = |line: &&&str| {
        let parts = SCRIPT_FRAME.captures(line)?;
        Some(TracebackFrame {
            path: parts[2].to_owned(),
            line: parts[3].parse().unwrap_or(0),
            function: parts.get(1).map_or("", |part| part.as_str()).to_owned(),
        })
    };
    Some(Traceback {
        exception: Exception {
            kind: parts[1].to_owned(),
            message: parts[2].trim().to_owned(),
        },
        frames: below.iter().rev().filter_map(frame).collect(),
        prefix: String::new(),
        lines: at..at + 1 + below.len(),
    })
}

impl TracebackFrame {
    /// Makes one of a form that does not tell the function.
    fn at(path: &str, line: &str) -> Self {
        Self {
            path: path.to_owned(),
            line: line.parse().unwrap_or(0),
            function: String::new(),
        }
    }
}

impl Exception {
    /// Returns the last part of the type's name.
    pub fn name(&self) -> &str {
        self.kind.rsplit('.').next().unwrap_or(&self.kind)
    }

    /// Returns whether code raises such an exception on purpose, as it does not where a name or a module is missing.
    pub fn is_deliberate(&self) -> bool {
        let accidents = [
            "NameError",
            "ReferenceError",
            "UnboundLocalError",
            "AttributeError",
            "ImportError",
            "ModuleNotFoundError",
            "SyntaxError",
            "IndentationError",
            "RecursionError",
            "SystemExit",
            "KeyboardInterrupt",
            "MemoryError",
        ];
        !accidents.contains(&self.name())
    }

    /// Returns whether this exception, seen in a run, is the one an issue shows: the type is the same and the messages
    /// share most words, or the types differ and the messages, of some length, are nearly the same. Numbers and
    /// addresses do not count. A shown exception without a type is any that code
    /// raises on purpose.
    pub fn is_like(&self, shown: &Self) -> bool {
        let (own, theirs) = (words(&self.message), words(&shown.message));
        if self.name() == shown.name() || shown.kind.is_empty() && self.is_deliberate() {
            let (named, wanted) = (quoted(&self.message), quoted(&shown.message));
            let of_another = !named.is_empty() && !wanted.is_empty() && !wanted.iter().any(|name| named.contains(name));
            return theirs.is_empty() || own.is_empty() || !of_another && share(&own, &theirs) >= 0.5;
        }
        theirs.len() >= 4 && share(&own, &theirs) >= 0.8
    }
}

/// Returns the names a message puts in quotes.
fn quoted(message: &str) -> Vec<String> {
    QUOTED.captures_iter(message).map(|parts| parts[1].to_owned()).collect()
}

fn words(message: &str) -> Vec<String> {
    let part = |c: char| !c.is_alphanumeric() && c != '_';
    let word = |word: &&str| !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit());
    message.split(part).filter(word).map(str::to_lowercase).collect()
}

/// Returns which share of the shorter list's words the other has, where a cut message counts as far as it goes.
fn share(a: &[String], b: &[String]) -> f64 {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let common = short.iter().filter(|word| long.contains(word)).count();
    common as f64 / short.len().max(1) as f64
}
