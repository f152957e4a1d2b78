//! What is found in an answer, whatever its syntax, and how marks are looked for in a text that comes in pieces.

use serde_json::{Map, Value};

/// The name and the arguments of a call.
pub(super) type Named = (String, Map<String, Value>);

/// What a reader of one syntax found.
#[derive(Debug)]
pub(super) enum Found {
    Thinking(String),
    Text(String),
    /// Calls, and what they were read from.
    Calls(Result<Vec<Named>, String>, String),
}

/// Returns where the first of `marks` stands, and which it is.
pub(super) fn first<'a>(text: &str, marks: &[&'a str]) -> Option<(usize, &'a str)> {
    let found = marks.iter().filter_map(|mark| Some((text.find(mark)?, *mark)));
    found.min_by_key(|(at, mark)| (*at, usize::MAX - mark.len()))
}

/// Takes all of `held` that cannot be the begin of one of `marks`.
pub(super) fn take_certain(held: &mut String, marks: &[&str]) -> String {
    let open = |mark: &&str| {
        (1..mark.len())
            .rev()
            .find(|length| held.ends_with(mark.get(..*length).unwrap_or(mark)))
    };
    let kept = marks.iter().filter_map(open).max().unwrap_or(0);
    let rest = held.split_off(held.len() - kept);
    std::mem::replace(held, rest)
}
