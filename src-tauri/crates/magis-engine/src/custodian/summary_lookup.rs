//! What algorithm 1 does about one version of a file: decided from what memory holds and from the difference of texts.
//!
//! It asks no model and writes nothing; `describing` carries out what is decided here.

use crate::EngineError;
use crate::calls::CHARS_PER_TOKEN;
use crate::custodian::contents::BlobKind;
use magis_core::{BlobId, RepoId, RepoPath};
use magis_repo::{diff_stat, text_diff};
use magis_store::{Maker, Store, Summary};
use magis_syntax::same_code;

/// Messages that may follow a summary: with more of them a description is longer to read than a new summary.
const LONGEST_CHAIN: usize = 6;
/// Versions that are compared with the file; the newest are the likeliest to be near it.
const COMPARED: usize = 8;
/// A change is small up to so many lines, or one line in [`SMALL_SHARE`] of the file: what five sentences say of a file
/// stays right for the rest of it.
const SMALL_LINES: usize = 60;
const SMALL_SHARE: usize = 5;
/// Characters of a difference that P1 reads; more is told by the beginning of each place that changed.
const DIGEST: usize = 200 * CHARS_PER_TOKEN;
/// A change of no more characters is self-explanatory: P1's answer may be as long.
const SELF_EXPLANATORY: usize = 80 * CHARS_PER_TOKEN;
/// Files that are gone which are compared with one that is new, to find the one that was moved.
const MOVED_CANDIDATES: usize = 5;

/// The version of a file that is to be described, and where to look.
pub(crate) struct Wanted<'a> {
    pub repo: RepoId,
    pub path: &'a RepoPath,
    pub blob: &'a BlobId,
    pub text: &'a str,
    /// The model with P2.
    pub summaries: Maker<'a>,
    /// The model with P1.
    pub changes: Maker<'a>,
    /// The text of another version.
    pub read: &'a (dyn Fn(&BlobId) -> Option<String> + Sync),
    /// Whether the tree has a file of this name.
    pub present: &'a (dyn Fn(&RepoPath) -> bool + Sync),
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum SummaryLookup {
    /// Nothing: the file is shorter than a summary.
    Itself,
    /// Nothing: this very content has a summary.
    Stored(Summary),
    /// Nothing: a summary and messages lead to this version.
    Chained(Chain),
    /// The change is self-explanatory, in these words.
    SelfExplanatory(Chain, String),
    /// P1, with this difference.
    Ask(Chain, String),
    /// P2.
    Anew,
}

/// A summary, what was said of the changes since, and the version that this leads to.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    pub summary: Summary,
    pub messages: Vec<String>,
    pub end: BlobId,
}

impl Chain {
    /// Returns characters of the description.
    fn length(&self) -> usize {
        self.summary.kept.text.len() + self.messages.iter().map(String::len).sum::<usize>()
    }
}

/// Decides. Memory's order is kept: the exact version, then the nearest older one that little separates, then a new summary.
pub(crate) fn look_up(store: &Store, wanted: &Wanted<'_>) -> Result<SummaryLookup, EngineError> {
    if let Some(summary) = store.known_summary(wanted.repo, wanted.path, wanted.blob, wanted.summaries)? {
        return Ok(SummaryLookup::Stored(summary));
    }
    if BlobKind::of(wanted.text).needs_none().is_some() {
        return Ok(SummaryLookup::Itself);
    }
    let mut roots = store.versions_of(wanted.repo, wanted.path, wanted.summaries, COMPARED as u32)?;
    if roots.is_empty() {
        roots.extend(moved_from(store, wanted)?);
    }
    let chains = chains(store, wanted.repo, wanted.changes, roots)?;
    if let Some(chain) = chains.iter().find(|chain| chain.end == *wanted.blob) {
        return Ok(SummaryLookup::Chained(chain.clone()));
    }
    Ok(nearest(wanted, chains))
}

/// Returns every version that summaries and messages lead to, shortest chains first, then newest first.
pub(crate) fn chains(
    store: &Store,
    repo: RepoId,
    changes: Maker<'_>,
    roots: Vec<Summary>,
) -> Result<Vec<Chain>, EngineError> {
    let begin = |summary: Summary| Chain {
        end: summary.kept.blob.clone(),
        messages: Vec::new(),
        summary,
    };
    let mut chains: Vec<Chain> = roots.into_iter().map(begin).collect();
    let mut at = 0;
    while let Some(chain) = chains.get(at).cloned() {
        at += 1;
        if chain.messages.len() == LONGEST_CHAIN {
            continue;
        }
        for change in store.changes_from(repo, &chain.end, changes)? {
            if chains.iter().any(|known| known.end == change.to) {
                continue;
            }
            let mut next = chain.clone();
            next.messages.push(change.message);
            next.end = change.to;
            chains.push(next);
        }
    }
    Ok(chains)
}

/// Returns what the nearest of the versions is good for. The fewest messages are taken with which the whole difference
/// can be read; where none can be, the smallest difference.
fn nearest(wanted: &Wanted<'_>, chains: Vec<Chain>) -> SummaryLookup {
    let newest_first = |chain: &Chain| std::cmp::Reverse(chain.messages.len());
    let mut open: Vec<Chain> = chains
        .into_iter()
        .filter(|chain| chain.messages.len() < LONGEST_CHAIN)
        .filter(|chain| chain.length() + SELF_EXPLANATORY < wanted.text.len())
        .collect();
    open.sort_by_key(newest_first);
    let small = SMALL_LINES.max(wanted.text.lines().count() / SMALL_SHARE);
    let compare = |chain: Chain| {
        let old = (wanted.read)(&chain.end)?;
        let change = diff_stat(&old, wanted.text);
        let lines = (change.added + change.deleted) as usize;
        (lines <= small).then(|| {
            let whole = text_diff(&old, wanted.text, 1);
            (chain, old, whole)
        })
    };
    let compared: Vec<(Chain, String, String)> = open.into_iter().take(COMPARED).filter_map(compare).collect();
    let fitting = compared
        .iter()
        .filter(|(_, _, whole)| whole.len() <= DIGEST)
        .min_by_key(|(chain, _, whole)| (chain.messages.len(), whole.len()));
    let best = fitting.or_else(|| {
        compared
            .iter()
            .min_by_key(|(chain, _, whole)| (whole.len(), chain.messages.len()))
    });
    let Some((chain, old, whole)) = best else {
        return SummaryLookup::Anew;
    };
    match tells_itself(wanted.path, old, wanted.text) {
        Some(words) => SummaryLookup::SelfExplanatory(chain.clone(), words),
        None if whole.len() <= DIGEST => SummaryLookup::Ask(chain.clone(), whole.clone()),
        None => SummaryLookup::Ask(chain.clone(), digest(&text_diff(old, wanted.text, 0), DIGEST)),
    }
}

/// Returns what can be said of a change without a model.
fn tells_itself(path: &RepoPath, old: &str, new: &str) -> Option<String> {
    if same_code(path, old, new) {
        return Some("Only the layout of the text is another one.".to_owned());
    }
    let bare = text_diff(old, new, 0);
    if bare.len() > 2 * SELF_EXPLANATORY {
        return None;
    }
    let changed = |line: &&str| line.starts_with(['+', '-']) && !line[1..].trim().is_empty();
    let lines: Vec<String> = bare
        .lines()
        .filter(changed)
        .map(|line| format!("{}{}", &line[..1], line[1..].trim()))
        .collect();
    let words = format!("These lines went (-) or came (+): {}", lines.join(" "));
    (words.len() <= SELF_EXPLANATORY).then_some(words)
}

/// Returns a difference within about `budget` characters: of each place that changed the same share, and how much is
/// left out.
fn digest(bare: &str, budget: usize) -> String {
    const LEAST: usize = 80;
    let mut places: Vec<Vec<&str>> = Vec::new();
    for line in bare.lines() {
        match places.last_mut() {
            Some(place) if !line.starts_with("@@ ") => place.push(line),
            _ => places.push(vec![line]),
        }
    }
    let share = (budget / places.len().max(1)).max(LEAST);
    let mut digest = String::with_capacity(budget);
    for (at, place) in places.iter().enumerate() {
        if digest.len() >= budget {
            digest.push_str(&format!("[{} more places changed]\n", places.len() - at));
            break;
        }
        let mut used = 0;
        for (number, line) in place.iter().enumerate() {
            let shown: String = line.chars().take(LEAST).collect();
            used += shown.len() + 1;
            if number > 1 && used > share {
                digest.push_str(&format!("[{} more lines]\n", place.len() - number));
                break;
            }
            digest.push_str(&shown);
            digest.push('\n');
        }
    }
    digest
}

/// Returns the last summary of a file that is gone from the tree and of which this one is the most part, as git tells a
/// move.
fn moved_from(store: &Store, wanted: &Wanted<'_>) -> Result<Option<Summary>, EngineError> {
    let bytes = wanted.text.len();
    let (name, ending) = (file_name(wanted.path), ending(wanted.path));
    let usable = |summary: &Summary| {
        let kept = &summary.kept;
        let known = summary.is_corrected()
            || (kept.model_sha == wanted.summaries.model_sha && kept.template_hash == wanted.summaries.template_hash);
        let size = kept.file_bytes as usize;
        known && self::ending(&kept.path) == ending && size <= 2 * bytes && bytes <= 2 * size
    };
    let mut gone: Vec<Summary> = store
        .summaries(wanted.repo)?
        .into_iter()
        .filter(|summary| usable(summary) && !(wanted.present)(&summary.kept.path))
        .collect();
    gone.sort_by_key(|summary| {
        let other_name = file_name(&summary.kept.path) != name;
        (other_name, std::cmp::Reverse(summary.written_at()))
    });
    let likeness = |summary: Summary| {
        let old = (wanted.read)(&summary.kept.blob)?;
        let deleted = diff_stat(&old, wanted.text).deleted as usize;
        (2 * deleted < old.lines().count()).then_some((deleted, summary))
    };
    let found = gone.into_iter().take(MOVED_CANDIDATES).filter_map(likeness);
    Ok(found.min_by_key(|(deleted, _)| *deleted).map(|(_, summary)| summary))
}

fn file_name(path: &RepoPath) -> &str {
    path.as_str().rsplit('/').next().unwrap_or_default()
}

fn ending(path: &RepoPath) -> &str {
    file_name(path).rsplit_once('.').map_or("", |(_, ending)| ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_difference_is_told_by_the_beginning_of_each_place() {
        let place = |name: &str| format!("@@ -1,20 +1,20 @@ {name}\n{}", "+a line of code\n".repeat(20));
        let told = digest(&(place("one") + &place("two")), 300);
        assert!(told.len() < 400, "{told}");
        for part in ["@@ one\n", "@@ two\n", "+a line of code", "more lines]"] {
            assert!(told.contains(part), "{part:?} is missing in {told}");
        }
        let many = (0..40).map(|number| place(&number.to_string())).collect::<String>();
        let told = digest(&many, 300);
        assert!(told.len() < 500 && told.contains("more places changed]"), "{told}");
    }

    #[test]
    fn a_short_change_and_one_of_layout_need_no_model() {
        let path = RepoPath::new("a.py").unwrap();
        let check = |old: &str, new: &str| tells_itself(&path, old, new);
        assert_eq!(
            check("a = 1\nb = 2\n", "a = 1\nb = 3\n").as_deref(),
            Some("These lines went (-) or came (+): -b = 2 +b = 3")
        );
        assert_eq!(
            check("f(a,b)\n", "f(a, b)\n").as_deref(),
            Some("Only the layout of the text is another one.")
        );
        assert_eq!(check("a = 1\n", &"b = compute(2)\n".repeat(40)), None);
    }
}
