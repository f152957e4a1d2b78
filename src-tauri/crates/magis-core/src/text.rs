//! How sizes, counts and titles are written wherever a person reads them. The window writes sizes and titles by the same rules.

use std::borrow::Cow;

/// Returns a number of bytes in decimal units, as disks are sold: `208 B`, `491 MB`, `5.9 GB`. From GB on with one
/// decimal.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    // The unit is chosen after rounding: what would be written as 1000 MB is 1.0 GB. Tenths of a unit are counted, so that nothing is lost.
    let mut unit = 0;
    let mut one = 1_u128;
    loop {
        let whole = (u128::from(number) + one / 2) / one;
        let tenths = (u128::from(number) * 10 + one / 2) / one;
        let fits = if unit < 3 { whole < 1000 } else { tenths < 10_000 };
        if fits || unit + 1 == UNITS.len() {
            return if unit < 3 {
                format!("{whole} {}", UNITS[unit])
            } else {
                format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
            };
        }
        unit += 1;
        one *= 1000;
    }
}

/// Returns the bytes of a size as a person writes it: `6GB`, `1.5 GB`, `800 MB`, `4GiB`; a number alone is MB. None
/// where it is no size, or nothing.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text
        .find(|c: char| c != '.' && !c.is_ascii_digit())
        .unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    let unit = match text[end..].trim().to_ascii_lowercase().as_str() {
        "b" => 1.0,
        "kb" => 1e3,
        "mb" | "" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1_048_576.0,
        "gib" => 1_073_741_824.0,
        _ => return None,
    };
    let bytes = (number * unit).round();
    // What is above is no size of memory, and exact as a number of 64 bits below.
    (1.0..1e15).contains(&bytes).then_some(bytes as u64)
}

/// Returns a number with its thousands apart.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut apart = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            apart.push(' ');
        }
        apart.push(digit);
    }
    apart
}

/// Returns the name of an enum's variant, without what it holds: for logs that hold no contents.
pub fn variant_name(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    let end = text
        .find(|letter: char| !letter.is_alphanumeric())
        .unwrap_or(text.len());
    text[..end].to_owned()
}

/// Returns a number with its noun, given in the singular: `1 file`, `3 files`, `2 summaries`.
pub fn count(number: usize, one: &str) -> String {
    if number == 1 {
        return format!("1 {one}");
    }
    let number = thousands(number as u64);
    let vowel = |c: char| "aeiou".contains(c);
    match one.strip_suffix('y') {
        Some(stem) if !stem.ends_with(vowel) => format!("{number} {stem}ies"),
        _ if ["s", "x", "ch", "sh"].iter().any(|end| one.ends_with(end)) => format!("{number} {one}es"),
        _ => format!("{number} {one}s"),
    }
}

/// Returns a line of Markdown as it reads where inline code is not drawn: without the backticks around code. A run of
/// backticks that closes nothing stays, as in Markdown itself.
pub fn without_code_marks(line: &str) -> Cow<'_, str> {
    if !line.contains('`') {
        return Cow::Borrowed(line);
    }
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        plain.push_str(&rest[..start]);
        let after = rest[start..].trim_start_matches('`');
        let marks = &rest[start..rest.len() - after.len()];
        match closing(after, marks.len()) {
            Some(end) => {
                plain.push_str(unpadded(&after[..end]));
                rest = &after[end + marks.len()..];
            }
            None => {
                plain.push_str(marks);
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Returns where a run of exactly `length` backticks begins.
fn closing(text: &str, length: usize) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = text[from..].find('`') {
        let start = from + found;
        let run = text[start..].bytes().take_while(|byte| *byte == b'`').count();
        if run == length {
            return Some(start);
        }
        from = start + run;
    }
    None
}

/// Returns code without the one space on both sides that sets it apart from its marks.
fn unpadded(code: &str) -> &str {
    match code.strip_prefix(' ').and_then(|rest| rest.strip_suffix(' ')) {
        Some(inner) if !inner.trim().is_empty() => inner,
        _ => code,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_decimal_and_have_one_decimal_from_gb_on() {
        let sizes = [
            (0, "0 B"),
            (208, "208 B"),
            (999, "999 B"),
            (4_681, "5 kB"),
            (491_400_032, "491 MB"),
            (999_499_999, "999 MB"),
            (999_500_000, "1.0 GB"),
            (1_117_320_768, "1.1 GB"),
            (5_900_000_000, "5.9 GB"),
            (22_020_000_000, "22.0 GB"),
            (999_950_000_000, "1.0 TB"),
            (u64::MAX, "18446744.1 TB"),
        ];
        for (number, written) in sizes {
            assert_eq!(bytes(number), written, "{number} bytes");
        }
    }

    #[test]
    fn a_size_is_read_as_a_person_writes_it() {
        let check = |text: &str, expected| assert_eq!(parse_bytes(text), expected, "{text:?}");
        check("6GB", Some(6_000_000_000));
        check(" 1.5 gb ", Some(1_500_000_000));
        check("800MB", Some(800_000_000));
        check("100", Some(100_000_000));
        check("4 GiB", Some(4_294_967_296));
        for no_size in ["", "GB", "0", "-1GB", "6 G B", "1e9", "1.2.3MB", "999999999TB"] {
            check(no_size, None);
        }
    }

    #[test]
    fn a_noun_fits_its_number() {
        let check = |one: &str, expected: [&str; 3]| assert_eq!([0, 1, 2].map(|number| count(number, one)), expected);
        check("file", ["0 files", "1 file", "2 files"]);
        check("summary", ["0 summaries", "1 summary", "2 summaries"]);
        check("day", ["0 days", "1 day", "2 days"]);
        check("branch", ["0 branches", "1 branch", "2 branches"]);
        assert_eq!(count(1_234_567, "token"), "1 234 567 tokens");
    }

    #[test]
    fn a_title_has_no_marks_of_inline_code() {
        let check = |line: &str, expected: &str| assert_eq!(without_code_marks(line), expected);
        check("`max()` fails on `[]`", "max() fails on []");
        check("``a `quoted` name``", "a `quoted` name");
        check("`` `x` `` is odd", "`x` is odd");
        check("an open ` mark", "an open ` mark");
        check("``two and `one`", "``two and one");
        check("```", "```");
        check("no marks", "no marks");
        check("`码` 失败", "码 失败");
    }
}
