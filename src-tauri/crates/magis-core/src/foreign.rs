//! Names that strangers gave, made fit to be shown.

/// Returns a name out of a file of others, on one line, without what a terminal or a page would obey: control
/// characters and the characters that turn the direction of writing or cannot be seen. A sign stands where one was;
/// what is too long is cut, with a sign for that.
pub fn harmless_name(name: &str) -> String {
    let shown = |c: char| if c.is_control() || is_hidden(c) { '\u{fffd}' } else { c };
    let mut name = name.trim().chars().map(shown);
    let mut text: String = name.by_ref().take(LONGEST_NAME).collect();
    if name.next().is_some() {
        text.push('…');
    }
    text
}

/// Characters of a name that are shown.
const LONGEST_NAME: usize = 200;

fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::harmless_name;

    #[test]
    fn what_would_be_obeyed_or_cannot_be_seen_becomes_a_sign() {
        let cases = [
            ("Qwen2.5 Coder 7B – Instruct", "Qwen2.5 Coder 7B – Instruct"),
            (" 小 模型\n", "小 模型"),
            ("a\u{1b}[2Jb\u{9b}31m", "a\u{fffd}[2Jb\u{fffd}31m"),
            ("one\r\ntwo\u{7f}", "one\u{fffd}\u{fffd}two\u{fffd}"),
            ("gpt\u{202e}4\u{2066}\u{200b}", "gpt\u{fffd}4\u{fffd}\u{fffd}"),
        ];
        for (name, expected) in cases {
            assert_eq!(harmless_name(name), expected);
        }
        let long = harmless_name(&"x".repeat(1000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (201, true));
    }
}
