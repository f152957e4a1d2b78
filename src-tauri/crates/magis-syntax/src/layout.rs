//! Indentation: of one text made to fit where another one stood.
//!
//! It knows lines and white space alone, no grammar: the lines of a string are moved along with the code around them.

/// `text` with the indentation of the first line of `original`, its own lines keeping their indentation relative to
/// each other. Where the two are indented by different means (tabs, spaces, two or four of them), those of `original`
/// are used. Line ends become `\n`.
pub fn reindent(text: &str, original: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let first_indent = |of: &str| {
        of.lines()
            .find(|line| !line.trim().is_empty())
            .map_or("", indent_of)
            .to_owned()
    };
    let (own, base) = (
        first_indent(&text),
        first_indent(original.trim_start_matches('\u{feff}')),
    );
    let convert = match (step(&text), step(original)) {
        (Some(from), Some(to)) if from != to => Some((from, to)),
        _ => None,
    };
    let mut moved = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            moved.push_str(line.trim_start_matches([' ', '\t']));
            continue;
        }
        let indent = indent_of(line);
        let relative = indent.strip_prefix(own.as_str()).unwrap_or_default();
        moved.push_str(&base);
        match convert {
            Some((from, to)) => moved.push_str(&converted(relative, from, to)),
            None => moved.push_str(relative),
        }
        moved.push_str(&line[indent.len()..]);
    }
    moved
}

/// `text` with its first line at column 0 and the others moved as far.
pub(crate) fn dedented(text: &str) -> String {
    let own = text.lines().find(|line| !line.trim().is_empty()).map_or("", indent_of);
    let mut moved = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let shared = line.bytes().zip(own.bytes()).take_while(|(a, b)| a == b).count();
        moved.push_str(&line[shared..]);
    }
    moved
}

/// Returns the white space a line begins with.
pub(crate) fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// One step of indentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IndentUnit {
    Tab,
    Spaces(usize),
}

/// Returns the step a text is indented by: the most frequent difference between a line and the next one that is deeper.
fn step(text: &str) -> Option<IndentUnit> {
    let lines = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('*'));
    let indents: Vec<&str> = lines.map(indent_of).collect();
    if indents.iter().any(|indent| indent.contains('\t')) {
        return Some(IndentUnit::Tab);
    }
    let mut deeper = [0_u32; 9];
    for pair in indents.windows(2) {
        if let Some(count) = pair[1]
            .len()
            .checked_sub(pair[0].len())
            .and_then(|by| deeper.get_mut(by))
        {
            *count += 1;
        }
    }
    (2..deeper.len())
        .filter(|by| deeper[*by] > 0)
        .max_by_key(|by| (deeper[*by], 8 - by))
        .map(IndentUnit::Spaces)
}

fn converted(relative: &str, from: IndentUnit, to: IndentUnit) -> String {
    let width = match from {
        IndentUnit::Tab => 4,
        IndentUnit::Spaces(width) => width,
    };
    let tabs = relative.chars().filter(|c| *c == '\t').count();
    let spaces = relative.len() - tabs;
    let (steps, rest) = (tabs + spaces / width, spaces % width);
    let step = match to {
        IndentUnit::Tab => "\t".to_owned(),
        IndentUnit::Spaces(width) => " ".repeat(width),
    };
    step.repeat(steps) + &" ".repeat(rest)
}
