//! Stack traces: the innermost frame inside the repository counts most.

use super::{Found, SignalInput};
use crate::matching::path_match;
use magis_core::Evidence;
use std::collections::HashSet;

/// A frame counts this much less than the one inside it.
const OUTER_FRAME: f64 = 0.6;

pub(crate) fn find<'a>(reading: &SignalInput<'a>) -> Found<'a> {
    let files = &reading.view.files;
    let mut strengths: Vec<f64> = vec![0.0; files.len()];
    let mut depths: Vec<Option<u32>> = vec![None; files.len()];
    // Frames outside the repository do not count; the innermost one inside it does.
    let mut strength = 1.0;
    let mut before = None;
    let mut seen: HashSet<usize> = HashSet::new();
    for frame in &reading.query.frames {
        if before.is_none_or(|before| frame.depth <= before) {
            strength = 1.0;
            seen.clear();
        }
        before = Some(frame.depth);
        let meant = reading.best_matches(|path| path_match(&frame.path, path));
        let [(file, certain)] = meant[..] else { continue };
        strengths[file] = strengths[file].max(strength * certain);
        depths[file] = Some(depths[file].map_or(frame.depth, |depth| depth.min(frame.depth)));
        if files[file].kind.reason().is_none() && seen.insert(file) {
            strength *= OUTER_FRAME;
        }
    }
    Found::of(strengths, move |file| {
        depths[file].map(|depth| Evidence::TraceFrame { depth })
    })
}
