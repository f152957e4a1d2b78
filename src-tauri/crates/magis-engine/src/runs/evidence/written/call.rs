//! The arguments of a call in the text of a test.

/// Returns the arguments of a call by what is behind its opening parenthesis, and where the closing one is; none where it is not closed.
pub(super) fn arguments(text: &str) -> Option<(Vec<&str>, usize)> {
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None::<char>, false);
    let (mut all, mut start) = (Vec::new(), 0);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), _) if open == c => quote = None,
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ',') if depth == 0 => {
                all.push(text.get(start..at)?.trim());
                start = at + 1;
                if c == ')' {
                    all.retain(|argument| !argument.is_empty());
                    return Some((all, at));
                }
            }
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}
