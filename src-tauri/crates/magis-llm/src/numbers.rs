//! Numbers of an interval as a pattern, for constraints.

/// Returns a regular expression for the decimal numbers from `first` to `last`, without leading zeros: alternatives that are digits, then a class of
/// one digit, then any digits (`12[3-5][0-9]{2}`).
pub fn number_between(first: u32, last: u32) -> String {
    let mut alternatives = Vec::new();
    let mut from = u64::from(first);
    let last = u64::from(last);
    while from <= last {
        // The largest block d…d[a-b][0-9]{n} that begins at `from` and ends at `last` at the latest.
        let mut block = 1_u64;
        while from.is_multiple_of(block * 10) && from + block * 10 - 1 <= last && from > 0 {
            block *= 10;
        }
        let digit = (from / block) % 10;
        let steps = (9 - digit).min((last + 1 - from) / block - 1);
        let head = from / (block * 10);
        let head = if head == 0 { String::new() } else { head.to_string() };
        let zeros = block.ilog10();
        let tail = if zeros == 0 {
            String::new()
        } else {
            format!("[0-9]{{{zeros}}}")
        };
        alternatives.push(format!("{head}[{digit}-{}]{tail}", digit + steps));
        from += block * (steps + 1);
    }
    alternatives.join("|")
}

#[cfg(test)]
mod tests {
    use super::number_between;

    #[test]
    fn a_number_matches_when_it_is_in_the_interval() {
        for (first, last) in [(0, 0), (1, 1), (1, 9), (7, 23), (10, 99), (95, 1204), (1000, 1009)] {
            let pieces: Vec<String> = number_between(first, last).split('|').map(str::to_owned).collect();
            let matches = |number: u32| pieces.iter().filter(|piece| fits(piece, &number.to_string())).count();
            for number in 0..1500 {
                let expected = usize::from((first..=last).contains(&number));
                assert_eq!(matches(number), expected, "{number} in {first}-{last}: {pieces:?}");
            }
        }
    }

    /// Returns whether a number matches one alternative.
    fn fits(piece: &str, number: &str) -> bool {
        let (head, rest) = piece.split_once('[').unwrap();
        let (class, tail) = rest.split_once(']').unwrap();
        let (low, high) = class.split_once('-').unwrap();
        let zeros: usize = tail
            .trim_start_matches("[0-9]")
            .trim_matches(['{', '}'])
            .parse()
            .unwrap_or(0);
        let Some(after) = number.strip_prefix(head) else {
            return false;
        };
        after.len() == zeros + 1 && (low..=high).contains(&&after[..1])
    }
}
