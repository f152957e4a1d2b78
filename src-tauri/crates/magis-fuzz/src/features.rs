//! What an input led to, as sentences without what differs from input to input.

/// What stands further behind is mostly the input's own words.
const LONGEST: usize = 80;

/// Returns a sentence without its numbers and what it quotes, so that two of one kind are equal.
pub(crate) fn kind_of(sentence: &str) -> String {
    let mut kind = String::new();
    let mut letters = sentence.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' | '`' => {
                // Up to the next quote of this kind; an apostrophe has none.
                let rest: String = letters.clone().take(200).collect();
                if let Some(end) = rest.find(letter) {
                    for _ in 0..=rest[..end].chars().count() {
                        letters.next();
                    }
                }
                kind.push('_');
            }
            digit if digit.is_ascii_digit() => {
                while letters.next_if(char::is_ascii_hexdigit).is_some() {}
                kind.push('#');
            }
            other => kind.push(other),
        }
        if kind.len() > LONGEST {
            break;
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::kind_of;

    #[test]
    fn sentences_of_one_kind_are_equal() {
        let check = |one: &str, other: &str| assert_eq!(kind_of(one), kind_of(other));
        check("line 3 of 'a b' is odd", "line 40 of 'c' is odd");
        check("object 00ff1 is missing", "object 1abc is missing");
        assert_ne!(kind_of("the file's end"), kind_of("the file's begin"));
    }
}
