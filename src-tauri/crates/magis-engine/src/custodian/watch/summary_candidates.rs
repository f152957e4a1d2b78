//! Which files are likely to matter next: changed lately and often, central in the import graph, mentioned in earlier runs.
//!
//! Pure: what is known of each file goes in, an order comes out. The weights are set by hand; no repository is behind them.

use magis_core::{BlobId, RepoPath};

/// A file that could be described.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SummaryCandidate {
    pub path: RepoPath,
    pub blob: BlobId,
    /// How many commits ago it was changed, each time.
    pub changes: Vec<u32>,
    /// How many files it imports or is imported by.
    pub connections: usize,
    /// In how many of the last runs it was described.
    pub mentions: u32,
    pub kind: Kind,
}

/// Whether the file is in a language that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Code,
    Other,
}

/// A change this number of commits ago counts half.
const HALF_LIFE: f64 = 100.0;
/// What a file in an unknown language is worth beside code.
const OTHER: f64 = 0.2;

/// Returns the likeliest first; equal ones in the order of their paths.
pub(crate) fn in_order(mut candidates: Vec<SummaryCandidate>) -> Vec<SummaryCandidate> {
    let most = |value: fn(&SummaryCandidate) -> f64| candidates.iter().map(value).fold(0.0, f64::max);
    let (activity, centrality, mentions) = (most(activity), most(centrality), most(mentions));
    let share = |value: f64, most: f64| if most > 0.0 { value / most } else { 0.0 };
    let worth = |one: &SummaryCandidate| {
        let sum = share(self::activity(one), activity)
            + share(self::centrality(one), centrality)
            + share(self::mentions(one), mentions);
        match one.kind {
            Kind::Code => sum,
            Kind::Other => sum * OTHER,
        }
    };
    candidates.sort_by(|a, b| worth(b).total_cmp(&worth(a)).then_with(|| a.path.cmp(&b.path)));
    candidates
}

/// Each change counts by its age.
fn activity(one: &SummaryCandidate) -> f64 {
    let weight = |ago: &u32| 1.0 / (1.0 + f64::from(*ago) / HALF_LIFE);
    one.changes.iter().map(weight).sum()
}

/// Returns the tenth connection says less than the first.
fn centrality(one: &SummaryCandidate) -> f64 {
    (one.connections as f64).sqrt()
}

fn mentions(one: &SummaryCandidate) -> f64 {
    f64::from(one.mentions.min(3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_syntax::SourceLanguage;

    fn candidate(name: &str, changes: &[u32], connections: usize, mentions: u32) -> SummaryCandidate {
        let path = RepoPath::new(name).unwrap();
        SummaryCandidate {
            kind: SourceLanguage::of(&path).map_or(Kind::Other, |_| Kind::Code),
            path,
            blob: BlobId("b".to_owned()),
            changes: changes.to_vec(),
            connections,
            mentions,
        }
    }

    fn check(candidates: Vec<SummaryCandidate>, expected: &[&str]) {
        let order = in_order(candidates);
        let names: Vec<&str> = order.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn what_changed_lately_and_often_comes_first() {
        check(
            vec![
                candidate("never.py", &[], 0, 0),
                candidate("long_ago.py", &[400], 0, 0),
                candidate("lately.py", &[2], 0, 0),
                candidate("often.py", &[2, 5, 9], 0, 0),
            ],
            &["often.py", "lately.py", "long_ago.py", "never.py"],
        );
    }

    #[test]
    fn central_and_mentioned_files_come_before_others_that_change_as_often() {
        check(
            vec![
                candidate("a.py", &[3], 0, 0),
                candidate("central.py", &[3], 20, 0),
                candidate("mentioned.py", &[3], 20, 2),
            ],
            &["mentioned.py", "central.py", "a.py"],
        );
    }

    #[test]
    fn code_comes_before_what_no_run_changes() {
        check(
            vec![
                candidate("CHANGELOG", &[0, 1, 2, 3], 0, 0),
                candidate("a.py", &[0, 2], 0, 0),
            ],
            &["a.py", "CHANGELOG"],
        );
    }

    #[test]
    fn without_any_sign_the_order_is_that_of_the_paths() {
        check(
            vec![candidate("b.py", &[], 0, 0), candidate("a.py", &[], 0, 0)],
            &["a.py", "b.py"],
        );
    }
}
