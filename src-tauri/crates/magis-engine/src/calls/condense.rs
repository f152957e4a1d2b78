//! Texts of people made shorter by program, visibly: the beginning, the end, and what names code, in their order.

/// `text` within about `budget` characters: its first lines, its last lines, and between them the lines that name code
/// (paths, frames, errors, quoted identifiers); what is left out is said in place. None when it is short enough.
pub(crate) fn condense(text: &str, budget: usize) -> Option<String> {
    if text.chars().count() <= budget {
        return None;
    }
    let lines = without_repetitions(text);
    let mut keep = vec![false; lines.len()];
    let mut used = 0;
    let mut take = |index: usize, limit: usize, keep: &mut Vec<bool>| {
        let cost = lines[index].chars().count() + 1;
        let fits = used + cost <= limit;
        if fits && !keep[index] {
            keep[index] = true;
            used += cost;
        }
        fits
    };
    for index in 0..lines.len() {
        if !take(index, budget * 4 / 10, &mut keep) {
            break;
        }
    }
    for index in (0..lines.len()).rev() {
        if !take(index, budget * 7 / 10, &mut keep) {
            break;
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    for (index, line) in lines.iter().enumerate() {
        if names_code(line) && seen.insert(line.trim()) {
            take(index, budget * 95 / 100, &mut keep);
        }
    }
    let mut condensed = String::with_capacity(budget);
    let mut left_out = 0_usize;
    for (line, keep) in lines.iter().zip(keep) {
        if keep {
            push_gap(&mut condensed, &mut left_out);
            condensed.push_str(line);
            condensed.push('\n');
        } else {
            left_out += 1;
        }
    }
    push_gap(&mut condensed, &mut left_out);
    Some(condensed.trim_end().to_owned())
}

/// Returns the lines, each short enough; where one comes again and again, it stands once with how often.
fn without_repetitions(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut repeated = 0_usize;
    let mut before = None;
    for line in text.lines().map(Some).chain([None]) {
        if line.is_some() && line == before {
            repeated += 1;
            continue;
        }
        if repeated > 0 {
            lines.push(format!("[the line above {repeated} more times]"));
            repeated = 0;
        }
        lines.extend(line.map(shorten_line));
        before = line;
    }
    lines
}

fn push_gap(condensed: &mut String, left_out: &mut usize) {
    if *left_out > 0 {
        condensed.push_str(&format!("[{left_out} lines left out]\n"));
        *left_out = 0;
    }
}

/// Returns one line of at most 400 characters, so that a text without line breaks is shortened, too.
fn shorten_line(line: &str) -> String {
    const LONGEST: usize = 400;
    let length = line.chars().count();
    if length <= LONGEST {
        return line.to_owned();
    }
    let kept: String = line.chars().take(LONGEST).collect();
    format!("{kept} [{} characters left out]", length - LONGEST)
}

fn names_code(line: &str) -> bool {
    let marks = [
        "Error",
        "error:",
        "Exception",
        "panicked",
        "File \"",
        "at ",
        "`",
        "assert",
        "Traceback",
        "expected",
    ];
    marks.iter().any(|mark| line.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_stays_as_it_is() {
        assert_eq!(condense("short", 100), None);
    }

    #[test]
    fn beginning_end_and_errors_stay_and_the_gap_is_said() {
        let mut lines: Vec<String> = (0..2_000).map(|number| format!("noise {number}")).collect();
        lines[1_000] = "ValueError: the one that matters".to_owned();
        let condensed = condense(&lines.join("\n"), 1_000).unwrap();
        assert!(condensed.chars().count() <= 1_100, "{}", condensed.len());
        for part in [
            "noise 0\n",
            "ValueError: the one that matters",
            "noise 1999",
            "lines left out]",
        ] {
            assert!(condensed.contains(part), "{part:?} is missing in {condensed}");
        }
    }

    #[test]
    fn a_line_that_comes_again_and_again_stands_once() {
        let condensed = condense(&format!("start\n{}end", "noise\n".repeat(500)), 1_000).unwrap();
        assert_eq!(condensed, "start\nnoise\n[the line above 499 more times]\nend");
    }

    #[test]
    fn a_megabyte_without_line_breaks_is_shortened_too() {
        let condensed = condense(&"x".repeat(1_000_000), 2_000).unwrap();
        assert!(condensed.contains("characters left out"), "{condensed}");
        assert!(condensed.len() < 3_000);
    }
}
