//! Which lines of definitions a model reads to say what it would rather have there.

use crate::runs::roles::region::{own_code, own_lines};
use magis_core::{BugCheck, LineSpan, RepoPath};
use magis_syntax::{Outline, Symbol, code_lines};
use std::collections::BTreeSet;

/// The longest piece of a definition that is read, in lines.
pub(super) const LONGEST: u32 = 100;
/// Lines of a long definition that are read.
const READ: u32 = 300;

/// Returns the lines of the code of definitions, in pieces that are read one by one: those of which what shows the fault ran something.
pub(super) fn spans(
    checks: &[BugCheck],
    path: &RepoPath,
    text: &str,
    outline: &Outline,
    symbols: &[&Symbol],
) -> Vec<LineSpan> {
    let mut found = Vec::new();
    for symbol in symbols {
        let Some(code) = code_of(path, text, symbol, own_lines(outline, symbol)) else {
            continue;
        };
        let missed = missed_by_any(checks, path, code);
        let runs = |span: &LineSpan| code_lines(path, text, *span).iter().any(|line| !missed.contains(line));
        let own = own_code(outline, symbol).into_iter();
        let own = own
            .filter_map(|own| own.intersection(code))
            .flat_map(pieces)
            .filter(runs);
        let mut left = READ;
        found.extend(own.take_while(|span| {
            let is_read = left > 0;
            left = left.saturating_sub(span.lines());
            is_read
        }));
    }
    found
}

/// Returns what is left of code without the lines that are read at earlier places, such as those of functions inside one.
pub(super) fn not_in(code: Vec<LineSpan>, read: &[LineSpan], is_code: impl Fn(&LineSpan) -> bool) -> Vec<LineSpan> {
    let mut left = code;
    for taken in read {
        let without = |span: LineSpan| {
            let Some(both) = span.intersection(*taken) else {
                return vec![span];
            };
            let before = LineSpan::new(span.first(), both.first() - 1);
            let behind = LineSpan::new(both.last() + 1, span.last());
            [before, behind].into_iter().flatten().collect()
        };
        left = left.into_iter().flat_map(without).collect();
    }
    left.retain(is_code);
    left
}

/// Returns the lines of some code that a check passed by: it ran something around them, and not them, so that no change of them alone mends it.
pub(super) fn missed_by_any(checks: &[BugCheck], path: &RepoPath, code: LineSpan) -> BTreeSet<u32> {
    let of_file = checks
        .iter()
        .flat_map(|check| &check.reached)
        .filter(|at| at.path == *path);
    let missed = of_file.flat_map(|at| at.missed.iter().copied());
    missed.filter(|line| code.contains(*line)).collect()
}

/// Returns the lines of a definition that hold its code: without its head, and without a docstring at its begin.
fn code_of(path: &RepoPath, text: &str, symbol: &Symbol, shown: LineSpan) -> Option<LineSpan> {
    let code = code_lines(path, text, shown);
    let body = || code.iter().filter(|line| **line > symbol.head_last);
    let (first, last) = match (body().min(), body().max()) {
        (Some(first), Some(last)) => (*first, *last),
        _ => (*code.first()?, *code.last()?),
    };
    LineSpan::new(first, last).ok()
}

/// Returns the pieces of long code.
fn pieces(code: LineSpan) -> impl Iterator<Item = LineSpan> {
    let firsts = (code.first()..=code.last()).step_by(LONGEST as usize);
    firsts.filter_map(move |first| LineSpan::new(first, code.last().min(first + LONGEST - 1)).ok())
}

#[cfg(test)]
mod tests {
    use super::{missed_by_any, not_in, pieces};
    use magis_core::{BugCheck, CheckId, CheckSource, FunctionAt, Grade, LineSpan, ProgramRun, RepoPath};

    #[test]
    fn a_line_that_one_check_passes_by_is_missed() {
        let path = RepoPath::new("a.py").expect("a path");
        let check = |missed: &[u32]| BugCheck {
            id: CheckId(1),
            source: CheckSource::Issue { number: 0 },
            grade: Grade::ExpectedResult,
            script: String::new(),
            as_test: None,
            on_base: ProgramRun::none(""),
            reached: vec![FunctionAt {
                path: path.clone(),
                line: 1,
                name: "f".to_owned(),
                missed: missed.to_vec(),
            }],
            warnings: Vec::new(),
        };
        let code = LineSpan::new(2, 6).expect("a span");
        let missed = missed_by_any(&[check(&[3, 9]), check(&[3, 5])], &path, code);
        assert!(missed.into_iter().eq([3, 5]));
    }

    #[test]
    fn a_long_definition_is_read_in_pieces() {
        let span = |first, last| LineSpan::new(first, last).expect("a span");
        assert!(pieces(span(7, 40)).eq([span(7, 40)]));
        assert!(pieces(span(1, 230)).eq([span(1, 100), span(101, 200), span(201, 230)]));
    }

    #[test]
    fn lines_of_earlier_places_are_not_read_again() {
        let span = |first, last| LineSpan::new(first, last).expect("a span");
        let read = [span(4, 6), span(9, 20)];
        let left = |code: &[LineSpan]| not_in(code.to_vec(), &read, |span| span.first() != 7);
        assert_eq!(left(&[span(1, 8), span(21, 22)]), [span(1, 3), span(21, 22)]);
        assert_eq!(left(&[span(1, 30)]), [span(1, 3), span(21, 30)]);
        assert_eq!(left(&[span(4, 5), span(10, 12)]), []);
    }
}
