//! A model's answer as a patch: the diff is taken out of it, and its hunk headers are put right.
//!
//! Hunks are found again by the lines they keep and delete; nothing is made up. Unchanged lines at a hunk's ends that the file does not have there are
//! left out, as `patch --fuzz` leaves them out. A hunk that is nowhere in the file even then is left as it is, so that git refuses the patch: that is what
//! the baseline measures.

use magis_core::RepoPath;
use std::fmt::Write as _;

/// The most unchanged lines that are left out at an end of a hunk: those of `patch --fuzz=5`, the last way in which SWE-bench's harness takes a patch.
const FUZZ: usize = 5;

/// What a model's answer gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// The patch in git's form; empty where the answer holds none.
    pub patch: String,
    /// What was put right, or could not be, a sentence each.
    pub notes: Vec<String>,
}

/// A hunk as written: its first line as claimed, and its lines with their signs.
struct Written {
    claimed: usize,
    lines: Vec<(char, String)>,
}

impl Written {
    /// Returns it without up to `most` of the unchanged lines at each of its ends.
    fn without_context(&self, most: usize) -> Self {
        let unchanged = |line: &&(char, String)| line.0 == ' ';
        let head = self.lines.iter().take(most).take_while(unchanged).count();
        let tail = self.lines.iter().rev().take(most).take_while(unchanged).count();
        Self {
            claimed: self.claimed + head,
            lines: self.lines[head..self.lines.len() - tail].to_vec(),
        }
    }

    /// Returns the lines that it keeps and deletes.
    fn old(&self) -> Vec<&str> {
        let old = self.lines.iter().filter(|(sign, _)| *sign != '+');
        old.map(|(_, text)| text.as_str()).collect()
    }
}

/// Makes a patch of an answer. `base` gives the text of a file, where there is one; `given` are the files that were asked
/// about: the one meant where the answer names none, or names one of them by its end.
pub fn patch_of(answer: &str, given: &[RepoPath], base: &dyn Fn(&RepoPath) -> Option<String>) -> Repaired {
    let mut repaired = Repaired {
        patch: String::new(),
        notes: Vec::new(),
    };
    let mut files: Vec<(RepoPath, Vec<Written>)> = Vec::new();
    let diff = fenced(answer);
    let mut lines = diff.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("--- ") && lines.peek().is_some_and(|next| next.starts_with("+++ ")) {
            let names = [lines.next().unwrap_or_default(), line];
            match names.into_iter().find_map(named) {
                Some(path) => {
                    let meant = meant(&path, given);
                    if *meant != path {
                        repaired.notes.push(format!("{path} is taken as {meant}"));
                    }
                    files.push((meant.clone(), Vec::new()));
                }
                None => repaired.notes.push(format!("'{line}' names no file")),
            }
        } else if line.starts_with("@@") {
            if files.is_empty()
                && let [path] = given
            {
                files.push((path.clone(), Vec::new()));
                repaired.notes.push(format!("no file was named; {path} is taken"));
            }
            if let Some((_, hunks)) = files.last_mut() {
                hunks.push(Written {
                    claimed: claimed(line),
                    lines: Vec::new(),
                });
            }
        } else if let Some(hunk) = files.last_mut().and_then(|(_, hunks)| hunks.last_mut()) {
            match line.chars().next() {
                None => hunk.lines.push((' ', String::new())),
                Some(sign @ (' ' | '+' | '-')) => hunk.lines.push((sign, line[1..].to_owned())),
                // '\ No newline at end of file', another file's header, or prose behind the diff.
                Some(_) => {}
            }
        }
    }
    for (path, hunks) in files {
        write_file(&mut repaired, &path, hunks, base(&path).as_deref());
    }
    repaired
}

/// Returns the fenced blocks of an answer, or the answer where there are none.
fn fenced(answer: &str) -> String {
    let (mut inside, mut text, mut any) = (false, String::new(), false);
    for line in answer.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
            any = true;
        } else if inside {
            text.push_str(line);
            text.push('\n');
        }
    }
    if any { text } else { answer.to_owned() }
}

fn named(line: &str) -> Option<RepoPath> {
    let name = line[4..].split('\t').next().unwrap_or_default().trim();
    let name = name
        .strip_prefix("a/")
        .or_else(|| name.strip_prefix("b/"))
        .unwrap_or(name);
    if name == "/dev/null" {
        None
    } else {
        RepoPath::new(name).ok()
    }
}

/// Returns the one given file that `path` names by its end, or whose end it is; else `path` itself.
fn meant<'p>(path: &'p RepoPath, given: &'p [RepoPath]) -> &'p RepoPath {
    let ends = |whole: &str, end: &str| {
        whole
            .strip_suffix(end)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    let like = |one: &&RepoPath| ends(one.as_str(), path.as_str()) || ends(path.as_str(), one.as_str());
    let mut alike = given.iter().filter(like);
    match (alike.next(), alike.next()) {
        (Some(one), None) => one,
        _ => path,
    }
}

fn claimed(header: &str) -> usize {
    let digits = header.split('-').nth(1).unwrap_or_default();
    digits
        .chars()
        .take_while(char::is_ascii_digit)
        .collect::<String>()
        .parse()
        .unwrap_or(1)
}

fn write_file(repaired: &mut Repaired, path: &RepoPath, hunks: Vec<Written>, base: Option<&str>) {
    let mut body = String::new();
    let (mut added, mut removed) = (0_usize, 0_usize);
    let mut found_up_to = 0;
    for mut hunk in hunks {
        while hunk
            .lines
            .last()
            .is_some_and(|(sign, text)| *sign == ' ' && text.is_empty())
        {
            hunk.lines.pop();
        }
        if !hunk.lines.iter().any(|(sign, _)| *sign != ' ') {
            repaired
                .notes
                .push(format!("a hunk of {path} changes nothing and is left out"));
            continue;
        }
        let fuzz = base.map_or(0, |text| fuzz(text, &hunk, found_up_to));
        if fuzz > 0 {
            repaired.notes.push(format!(
                "unchanged lines of a hunk of {path} are not in the file and are left out"
            ));
            hunk = hunk.without_context(fuzz);
        }
        let old = hunk.old();
        let new_count = hunk.lines.iter().filter(|(sign, _)| *sign != '-').count();
        let place = base.and_then(|text| place(text, &old, hunk.claimed, found_up_to));
        let first = match place {
            Some(first) => first,
            None if base.is_none() => 0,
            None => {
                repaired.notes.push(format!("a hunk of {path} is nowhere in the file"));
                hunk.claimed
            }
        };
        if place.is_some() && first != hunk.claimed {
            repaired
                .notes
                .push(format!("a hunk of {path} begins at line {first}, not {}", hunk.claimed));
        }
        found_up_to = first.saturating_sub(1) + old.len();
        let new_first = if base.is_none() {
            1
        } else {
            (first + added).saturating_sub(removed)
        };
        added += new_count;
        removed += old.len();
        // Writing to a string cannot fail.
        let _infallible = writeln!(body, "@@ -{first},{} +{new_first},{new_count} @@", old.len());
        for (sign, text) in &hunk.lines {
            let _infallible = writeln!(body, "{sign}{text}");
        }
    }
    if body.is_empty() {
        return;
    }
    // Where nothing is known of the file and lines of it are named, git has to say that it is not there.
    let is_new = base.is_none() && !body.lines().any(|line| line.starts_with([' ', '-']));
    let head = if is_new {
        format!("diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n")
    } else {
        format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n")
    };
    repaired.patch.push_str(&head);
    repaired.patch.push_str(&body);
}

/// Returns how many unchanged lines have to be left out at both ends of a hunk for its lines to stand in `base`: 0 where it stands there whole, or
/// nowhere.
fn fuzz(base: &str, hunk: &Written, after: usize) -> usize {
    let stands = |fuzz: &usize| {
        let hunk = hunk.without_context(*fuzz);
        let old = hunk.old();
        // Lines that are put in stand nowhere without an unchanged line beside them.
        !old.is_empty() && place(base, &old, hunk.claimed, after).is_some()
    };
    (0..=FUZZ).find(stands).unwrap_or(0)
}

/// Returns the line, from 1, at which `old` stands in `base`, behind line `after`; of several the one nearest to
/// `claimed`.
fn place(base: &str, old: &[&str], claimed: usize, after: usize) -> Option<usize> {
    let lines: Vec<&str> = base.lines().collect();
    if old.is_empty() {
        return (claimed <= lines.len()).then_some(claimed);
    }
    let starts = after..(lines.len() + 1).saturating_sub(old.len());
    let matching = starts.filter(|start| lines[*start..*start + old.len()] == *old);
    matching
        .map(|start| start + 1)
        .min_by_key(|first| first.abs_diff(claimed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Change;

    const BASE: &str = "a\nb\nc\nd\ne\nf\n";

    fn check(answer: &str, expected: &str, notes: usize) {
        let base = |path: &RepoPath| (path.as_str() == "m.txt").then(|| BASE.to_owned());
        let repaired = patch_of(answer, &[], &base);
        assert_eq!(
            (repaired.patch.as_str(), repaired.notes.len()),
            (expected, notes),
            "{:?}",
            repaired.notes
        );
    }

    #[test]
    fn counts_and_places_of_hunks_are_put_right() {
        check(
            "Here it is:\n```diff\n--- a/m.txt\n+++ b/m.txt\n@@ -1,9 +1,9 @@ whatever\n b\n-c\n+C\n+CC\n d\n@@ -90 +90 @@\n e\n-f\n```\nDone.",
            "diff --git a/m.txt b/m.txt\n--- a/m.txt\n+++ b/m.txt\n@@ -2,3 +2,4 @@\n b\n-c\n+C\n+CC\n d\n@@ -5,2 +6,1 @@\n e\n-f\n",
            2,
        );
    }

    #[test]
    fn a_hunk_that_is_nowhere_stays_and_is_said() {
        check(
            "--- a/m.txt\n+++ b/m.txt\n@@ -2,1 +2,1 @@\n-x\n+y\n",
            "diff --git a/m.txt b/m.txt\n--- a/m.txt\n+++ b/m.txt\n@@ -2,1 +2,1 @@\n-x\n+y\n",
            1,
        );
    }

    #[test]
    fn unchanged_lines_that_the_file_does_not_have_are_left_out() {
        check(
            "--- a/m.txt\n+++ b/m.txt\n@@ -1,5 +1,5 @@\n x\n b\n-c\n+C\n d\n y\n",
            "diff --git a/m.txt b/m.txt\n--- a/m.txt\n+++ b/m.txt\n@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n",
            1,
        );
        check(
            "--- a/m.txt\n+++ b/m.txt\n@@ -1,1 +1,2 @@\n x\n+C\n",
            "diff --git a/m.txt b/m.txt\n--- a/m.txt\n+++ b/m.txt\n@@ -1,1 +1,2 @@\n x\n+C\n",
            1,
        );
    }

    #[test]
    fn a_new_file_gets_its_header() {
        check(
            "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,5 @@\n+x\n",
            "diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,1 @@\n+x\n",
            0,
        );
    }

    #[test]
    fn a_file_named_by_its_end_alone_is_the_given_one() {
        let given = [
            RepoPath::new("src/m.txt").unwrap(),
            RepoPath::new("src/other.txt").unwrap(),
        ];
        let base = |path: &RepoPath| (*path == given[0]).then(|| BASE.to_owned());
        let repaired = patch_of("--- a/m.txt\n+++ b/m.txt\n@@ -2 +2 @@\n-b\n+B\n", &given, &base);
        let expected =
            "diff --git a/src/m.txt b/src/m.txt\n--- a/src/m.txt\n+++ b/src/m.txt\n@@ -2,1 +2,1 @@\n-b\n+B\n";
        assert_eq!((repaired.patch.as_str(), repaired.notes.len()), (expected, 1));
    }

    #[test]
    fn an_answer_without_a_diff_is_no_patch() {
        check("I cannot do that.", "", 0);
        check("```python\nprint()\n```", "", 0);
    }

    #[test]
    fn what_was_repaired_can_be_read_as_a_patch() {
        let base = |_: &RepoPath| Some(BASE.to_owned());
        let only = RepoPath::new("m.txt").unwrap();
        let repaired = patch_of("```\n@@ -7 +7 @@\n a\n-b\n+B\n```", std::slice::from_ref(&only), &base);
        let change = Change::parse(&repaired.patch).unwrap();
        assert_eq!(change.after(&only, BASE).as_deref(), Some("a\nB\nc\nd\ne\nf\n"));
    }
}
