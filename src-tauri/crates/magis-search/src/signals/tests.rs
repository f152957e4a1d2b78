//! Tests that resemble the issue lead to what they test: by their name, and by what they import.

use super::{Found, SignalInput};
use crate::kind::Kind;
use crate::matching::path_match;
use magis_core::Evidence;
use std::collections::HashMap;

/// The most tests that resemble the issue and are followed.
const TESTS: usize = 10;
/// An imported file is one of several that a test may be about.
const IMPORTED: f64 = 0.3;

pub(crate) fn find<'a>(reading: &SignalInput<'a>) -> Found<'a> {
    let view = reading.view;
    let likeness =
        |file: usize| reading.text.contents[view.files[file].content] + view.best_chunk(file, &reading.text.chunks);
    let tests = (0..view.files.len()).filter(|file| view.files[*file].kind == Kind::Test);
    let mut tests: Vec<(f64, usize)> = tests
        .map(|test| (likeness(test), test))
        .filter(|(likeness, _)| *likeness > 0.0)
        .collect();
    tests.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    tests.truncate(TESTS);
    let best = super::best((0..view.files.len()).map(likeness));
    for (likeness, test) in &mut tests {
        *likeness = (*likeness / best).powi(2);
        let path = view.files[*test].path.as_str();
        if reading
            .query
            .paths
            .iter()
            .any(|quoted| path_match(&quoted.text, path) >= 1.0)
        {
            *likeness = 1.0;
        }
    }
    let by_stem = stems(reading);
    let mut strengths: Vec<f64> = vec![0.0; view.files.len()];
    let mut which: Vec<Option<usize>> = vec![None; view.files.len()];
    let mut lead = |file: usize, strength: f64, test: usize| {
        if strength > strengths[file] {
            strengths[file] = strength;
            which[file] = Some(test);
        }
    };
    for (likeness, test) in tests {
        let path = view.files[test].path.as_str();
        let named = tested_stem(path).and_then(|stem| by_stem.get(stem.as_str()));
        let named = nearest(reading, path, named.map_or(&[], Vec::as_slice));
        for file in &named {
            lead(*file, likeness / named.len() as f64, test);
        }
        for file in view.neighbours().imported(test) {
            if view.files[file].kind.reason().is_none() {
                lead(file, likeness * IMPORTED, test);
            }
        }
    }
    Found::of(strengths, move |file| {
        which[file].map(|test| Evidence::TestedBy {
            test: view.files[test].path.clone(),
        })
    })
}

/// Returns what a test is called after: `test_io.py`, `io_test.go`, `io.test.ts`, `IoTest.java` give `io`.
fn tested_stem(path: &str) -> Option<String> {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let stem = name.split('.').next()?;
    let bare = stem
        .strip_prefix("test_")
        .or_else(|| stem.strip_suffix("_test"))
        .or_else(|| stem.strip_suffix("_tests"))
        .or_else(|| stem.strip_suffix("_spec"))
        .or_else(|| stem.strip_suffix("Tests"))
        .or_else(|| stem.strip_suffix("Test"))
        .unwrap_or(stem);
    (bare.len() > 1).then(|| bare.to_lowercase())
}

/// Source files by their stems, lower case.
fn stems(reading: &SignalInput<'_>) -> HashMap<String, Vec<usize>> {
    let mut stems: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, file) in reading.view.files.iter().enumerate() {
        if file.kind == Kind::Source {
            let stem = file.path.file_name().split('.').next().unwrap_or_default();
            stems
                .entry(stem.trim_matches('_').to_lowercase())
                .or_default()
                .push(number);
        }
    }
    stems
}

/// Of several files of one name, those that share most of the test's folders.
fn nearest(reading: &SignalInput<'_>, test: &str, files: &[usize]) -> Vec<usize> {
    let folders: Vec<&str> = test.split('/').collect();
    let shared = |file: &usize| {
        let path = reading.view.files[*file].path.as_str();
        path.split('/').filter(|part| folders.contains(part)).count()
    };
    let most = files.iter().map(shared).max().unwrap_or(0);
    files.iter().copied().filter(|file| shared(file) == most).collect()
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_test_is_called_after_what_it_tests() {
        for (path, stem) in [
            ("pkg/tests/test_io.py", "io"),
            ("io_test.go", "io"),
            ("spec/io_spec.rb", "io"),
            ("src/io.test.ts", "io"),
            ("a/IoTest.java", "io"),
            ("tests/io.rs", "io"),
        ] {
            assert_eq!(tested_stem(path).as_deref(), Some(stem), "{path}");
        }
    }
}
