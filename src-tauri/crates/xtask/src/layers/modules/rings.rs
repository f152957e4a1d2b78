//! Cycles in a small graph.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The arrows of a graph, from each node to others.
type Arrows<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Takes shortest cycles out of a graph until none is left, so that no two of them share an arrow.
///
/// A cycle begins at the node whose name comes first, and each arrow leads to the next node or from the last to the first.
pub fn shortest<'a>(arrows: &Arrows<'a>) -> Vec<Vec<&'a str>> {
    let mut left = arrows.clone();
    let mut rings = Vec::new();
    while let Some(ring) = first(&left) {
        for (from, to) in ring.iter().zip(ring.iter().cycle().skip(1)) {
            left.entry(from).and_modify(|all| _ = all.remove(to));
        }
        rings.push(ring);
    }
    rings
}

/// Returns the first of the shortest cycles.
fn first<'a>(arrows: &Arrows<'a>) -> Option<Vec<&'a str>> {
    let all = arrows
        .iter()
        .flat_map(|(from, all)| all.iter().map(move |to| (from, to)));
    let rings = all.filter_map(|(from, to)| way(arrows, to, from));
    // Each of its arrows leads to the same cycle, begun at another node; the first name decides.
    rings.min_by_key(|ring| (ring.len(), ring.clone()))
}

/// Returns the nodes of a shortest way, both ends included.
fn way<'a>(arrows: &Arrows<'a>, from: &'a str, to: &'a str) -> Option<Vec<&'a str>> {
    let mut before: BTreeMap<&str, Option<&str>> = BTreeMap::from([(from, None)]);
    let mut open = VecDeque::from([from]);
    while let Some(node) = open.pop_front() {
        if node == to {
            let mut way: Vec<&str> = std::iter::successors(Some(node), |node| before[node]).collect();
            way.reverse();
            return Some(way);
        }
        for next in arrows.get(node).into_iter().flatten() {
            if !before.contains_key(next) {
                before.insert(next, Some(node));
                open.push_back(next);
            }
        }
    }
    None
}
