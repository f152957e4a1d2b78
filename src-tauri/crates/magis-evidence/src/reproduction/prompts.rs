//! Sessions with prompts: `>>>` of Python, `In [1]:` of `IPython`, a shell's `$`.

use crate::reproduction::pattern::Pattern;

/// One input of a session, with what followed it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exchange {
    pub input: String,
    /// What stood between this input and the next one; empty where nothing did.
    pub output: String,
}

/// A session by the kind of its prompts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Session {
    Python(Vec<Exchange>),
    Shell(Vec<Exchange>),
}

static DOCTEST: Pattern = Pattern::new(r"^\s*>>> ?([^>].*|)$");
static DOCTEST_MORE: Pattern = Pattern::new(r"^\s*\.\.\.(?: (.*)|)$");
static IPYTHON: Pattern = Pattern::new(r"^\s*In ?\[\s*\d*\s*\]\s*:? ?(.*)$");
static IPYTHON_MORE: Pattern = Pattern::new(r"^\s*\.\.\.+:(?: (.*)|)$");
static IPYTHON_OUT: Pattern = Pattern::new(r"^\s*Out ?\[\s*\d*\s*\]\s*:? ?(.*)$");
static SHELL: Pattern = Pattern::new(r"^(?:\([\w.-]+\) ?)?(?:[\w.-]+@[\w.-]+[:\w~/. -]*|[~/][\w./-]*)?[$❯] (.+)$");

/// Returns whether a line begins an input of Python or `IPython`.
pub fn is_prompt(line: &str) -> bool {
    DOCTEST.is_match(line) || IPYTHON.is_match(line)
}

/// Reads a text with prompts into inputs and outputs; none where it has no prompt.
pub fn session(text: &str) -> Option<Session> {
    if text.lines().any(is_prompt) {
        return Some(Session::Python(python(text)));
    }
    let shell = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .is_some_and(|line| SHELL.is_match(line));
    shell.then(|| Session::Shell(commands(text)))
}

fn python(text: &str) -> Vec<Exchange> {
    let mut found: Vec<Exchange> = Vec::new();
    let mut in_input = false;
    for line in text.lines() {
        let first = DOCTEST.captures(line).or_else(|| IPYTHON.captures(line));
        if let Some(parts) = first {
            found.push(Exchange {
                input: parts.get(1).map_or("", |part| part.as_str()).trim_end().to_owned(),
                output: String::new(),
            });
            in_input = true;
            continue;
        }
        let Some(last) = found.last_mut() else { continue };
        let more = DOCTEST_MORE.captures(line).or_else(|| IPYTHON_MORE.captures(line));
        if let Some(parts) = more.filter(|_| in_input) {
            last.input.push('\n');
            last.input.push_str(parts.get(1).map_or("", |part| part.as_str()));
            continue;
        }
        in_input = false;
        let line = IPYTHON_OUT
            .captures(line)
            .and_then(|parts| parts.get(1))
            .map_or(line, |part| part.as_str());
        last.output.push_str(line);
        last.output.push('\n');
    }
    trimmed(found)
}

fn commands(text: &str) -> Vec<Exchange> {
    let mut found: Vec<Exchange> = Vec::new();
    for line in text.lines() {
        match (SHELL.captures(line), found.last_mut()) {
            (Some(parts), _) => found.push(Exchange {
                input: parts.get(1).map_or("", |part| part.as_str()).trim().to_owned(),
                output: String::new(),
            }),
            (None, Some(last)) => {
                last.output.push_str(line);
                last.output.push('\n');
            }
            (None, None) => {}
        }
    }
    trimmed(found)
}

fn trimmed(mut exchanges: Vec<Exchange>) -> Vec<Exchange> {
    for exchange in &mut exchanges {
        exchange.output = exchange.output.trim_matches('\n').trim_end().to_owned();
    }
    exchanges.retain(|exchange| !exchange.input.trim().is_empty());
    exchanges
}
