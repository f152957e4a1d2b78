//! The places that a run tried, in the order of its log, and which of them is the reference's.

use magis_core::{CodePlace, LineSpan, RepoPath, RunEvent, TaskId};
use std::collections::BTreeMap;

/// A place that a run tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedPlace {
    path: RepoPath,
    symbols: Vec<String>,
    /// How many places of the same symbols stand before it in its round: a getter and its setter have one name.
    before: usize,
    spans: Vec<LineSpan>,
}

/// Returns the places of a log in the order in which they were first tried, each once. Tasks take turns, a round each, so this is not the order of the
/// tasks. A place is known by its symbols, or by its lines where it has none; one that is tried again, also at other lines, keeps its number.
pub fn tried_places<'log>(events: impl IntoIterator<Item = &'log RunEvent>) -> Vec<TriedPlace> {
    let mut paths: BTreeMap<TaskId, &RepoPath> = BTreeMap::new();
    let mut tried: Vec<TriedPlace> = Vec::new();
    for event in events {
        if let RunEvent::TaskDefined { task } = event {
            paths.insert(task.id, &task.path);
        }
        let RunEvent::LinesChosen {
            task,
            symbols,
            spans,
            others,
            ..
        } = event
        else {
            continue;
        };
        let Some(path) = paths.get(task) else { continue };
        let first = CodePlace {
            symbols: symbols.clone(),
            spans: spans.clone(),
        };
        let round: Vec<&CodePlace> = std::iter::once(&first).chain(others).collect();
        for (at, place) in round.iter().enumerate() {
            let before = round[..at]
                .iter()
                .filter(|other| other.symbols == place.symbols)
                .count();
            add(&mut tried, path, place, before);
        }
    }
    tried
}

fn add(tried: &mut Vec<TriedPlace>, path: &RepoPath, place: &CodePlace, before: usize) {
    let is_same = |known: &TriedPlace| {
        let is_there = if place.symbols.is_empty() {
            known.spans == place.spans
        } else {
            known.before == before
        };
        is_there && known.path == *path && known.symbols == place.symbols
    };
    if let Some(known) = tried.iter_mut().find(|known| is_same(known)) {
        let is_new = |span: &LineSpan| !known.spans.contains(span);
        let further: Vec<LineSpan> = place.spans.iter().copied().filter(is_new).collect();
        known.spans.extend(further);
    } else {
        tried.push(TriedPlace {
            path: path.clone(),
            symbols: place.symbols.clone(),
            before,
            spans: place.spans.clone(),
        });
    }
}

/// Returns the number, from 1, of the first place at which the reference changes something; none where at none.
pub fn place_of_reference(places: &[TriedPlace], gold: &BTreeMap<RepoPath, Vec<LineSpan>>) -> Option<usize> {
    let is_hit = |place: &TriedPlace| {
        let mut gold = gold.get(&place.path).into_iter().flatten();
        gold.any(|gold| place.spans.iter().any(|span| span.intersection(*gold).is_some()))
    };
    places.iter().position(is_hit).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_core::{FileAction, FileTask, Round};

    fn path(name: &str) -> RepoPath {
        RepoPath::new(name).expect("a path")
    }

    fn defined(task: u32, name: &str) -> RunEvent {
        RunEvent::TaskDefined {
            task: FileTask {
                id: TaskId(task),
                path: path(name),
                candidate: path(name),
                action: FileAction::Modify,
                description: "mend it".to_owned(),
            },
        }
    }

    fn place(symbol: &str, lines: &[u32]) -> CodePlace {
        CodePlace {
            symbols: symbol.split_whitespace().map(str::to_owned).collect(),
            spans: lines
                .iter()
                .map(|line| LineSpan::new(*line, *line).expect("a line"))
                .collect(),
        }
    }

    fn chosen(task: u32, round: u32, places: &[CodePlace]) -> RunEvent {
        RunEvent::LinesChosen {
            task: TaskId(task),
            round: Round(round),
            symbols: places[0].symbols.clone(),
            spans: places[0].spans.clone(),
            others: places[1..].to_vec(),
            answers: None,
        }
    }

    /// Checks at which place the reference is found that changes a line of a file.
    fn check(events: &[RunEvent], (name, line): (&str, u32), expected: Option<usize>) {
        let gold = BTreeMap::from([(path(name), place("", &[line]).spans)]);
        assert_eq!(
            place_of_reference(&tried_places(events), &gold),
            expected,
            "line {line} of {name}"
        );
    }

    #[test]
    fn places_are_numbered_as_they_were_tried_whatever_task_they_are_of() {
        let events = [
            defined(1, "a.py"),
            defined(2, "b.py"),
            chosen(1, 1, &[place("f", &[1]), place("g", &[11])]),
            chosen(2, 1, &[place("f", &[1])]),
            chosen(1, 2, &[place("g", &[12]), place("h", &[21])]),
        ];
        check(&events, ("a.py", 1), Some(1));
        check(&events, ("a.py", 11), Some(2));
        check(&events, ("b.py", 1), Some(3));
        check(&events, ("a.py", 12), Some(2));
        check(&events, ("a.py", 21), Some(4));
        check(&events, ("b.py", 21), None);
        check(&events, ("c.py", 1), None);
    }

    #[test]
    fn a_place_without_symbols_is_known_by_its_lines_and_one_of_two_definitions_by_its_order() {
        let events = [
            defined(1, "a.py"),
            chosen(1, 1, &[place("", &[1, 2])]),
            chosen(1, 2, &[place("", &[3])]),
            chosen(1, 3, &[place("", &[1, 2])]),
            chosen(
                1,
                4,
                &[place("", &[4]), place("C.value", &[30]), place("C.value", &[40])],
            ),
        ];
        check(&events, ("a.py", 2), Some(1));
        check(&events, ("a.py", 3), Some(2));
        check(&events, ("a.py", 4), Some(3));
        check(&events, ("a.py", 30), Some(4));
        check(&events, ("a.py", 40), Some(5));
    }
}
