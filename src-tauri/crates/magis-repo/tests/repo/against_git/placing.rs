//! Where hunks go in a file that has changed: `git apply` on the same patch and the same file.

use super::{Random, Tally, clear, open, run, within};
use magis_core::RepoPath;
use magis_repo::{FilePatch, Hunk, Patch, Repository, Selection, conflicts, plan_worktree};
use magis_testkit::FixtureRepo;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// Where Magis and `git apply` differ on purpose (docs/decisions/one-rule-places-hunks.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Difference {
    /// Git takes the nearest of several places, Magis refuses: the lines of a hunk stand more than once in the file.
    SeveralPlaces,
    /// The last line of a hunk has no line end, and has one in the file: git takes it for the beginning of that line and joins what follows to it, or cuts its end
    /// off; for Magis it is another line.
    OpenLine,
    /// The file has `\r\n` where the patch has `\n`. Magis does what git does with a file without `\r`, and writes `\r\n`.
    OtherLineEnds,
}

const BATCHES: usize = 80;
const FILES: usize = 100;

/// A file before and after the change that the patch is made of, and as it stands where the patch is applied.
struct Case {
    old: String,
    new: String,
    now: String,
}

#[test]
fn hunks_go_where_git_puts_them() {
    let mut random = Random::of(1);
    let mut tally = Tally::new();
    let comparison = Comparison::new();
    for batch in 0..BATCHES {
        let cases: BTreeMap<String, Case> = (0..FILES)
            .map(|number| (format!("f{number:03}"), case(&mut random)))
            .filter(|(_, case)| case.old != case.new)
            .collect();
        let context = format!("-U{}", random.one(&["0", "1", "2", "3", "3", "3", "3", "5"]));
        comparison.compare(&cases, &context, batch, &mut tally);
    }
    let meant = [
        Difference::SeveralPlaces,
        Difference::OpenLine,
        Difference::OtherLineEnds,
    ];
    tally.end("placing", 7_500, &meant);
}

/// A repository for Magis, and folders for git.
struct Comparison {
    fixture: FixtureRepo,
    repository: Repository,
    for_git: PathBuf,
    sides: PathBuf,
}

impl Comparison {
    fn new() -> Self {
        let fixture = FixtureRepo::in_memory();
        fixture.write("f", "").commit("one");
        let [for_git, sides] = ["for-git", "sides"].map(|name| fixture.beside(name));
        for folder in [&for_git, &sides.join("a"), &sides.join("b")] {
            fs::create_dir_all(folder).unwrap();
        }
        Self {
            repository: open(&fixture),
            fixture,
            for_git,
            sides,
        }
    }

    fn compare(&self, cases: &BTreeMap<String, Case>, context: &str, batch: usize, tally: &mut Tally<Difference>) {
        let text = self.patch(cases, context);
        let patch = Patch::parse(&text).unwrap();
        assert_eq!(patch.files.len(), cases.len(), "git has a part for each file");
        let now = |name: &str| cases[name].now.clone();
        let ours = self.by_magis(cases, &patch);
        let theirs = self.by_git(cases.keys().map(|name| (name, now(name))), &text);
        let plain = |name: &str| now(name).replace("\r\n", "\n");
        let theirs_plain = self.by_git(cases.keys().map(|name| (name, plain(name))), &text);
        for file in &patch.files {
            let name = file.path.as_str();
            let case = &cases[name];
            let shown = || {
                let (ours, theirs) = (ours.get(name), theirs.get(name));
                let file = Patch {
                    files: vec![file.clone()],
                };
                format!(
                    "batch {batch}, {name}, {context}\n{file}\non {:?}\nhere {ours:?}\ngit  {theirs:?}",
                    case.now
                )
            };
            match (ours.get(name), theirs.get(name)) {
                (Some(ours), Some(theirs)) if ours == theirs => tally.same("applied"),
                (None, None) => tally.same("refused"),
                (None, Some(_)) => tally.differs(refused_here(file, &case.now), shown),
                (Some(ours), _) => {
                    let converted = theirs_plain.get(name) == Some(&ours.replace("\r\n", "\n"));
                    let open = file.hunks.iter().any(|hunk| goes_on(hunk, &case.now));
                    let meant = if has_other_line_ends(file, &case.now) && converted {
                        Some(Difference::OtherLineEnds)
                    } else {
                        open.then_some(Difference::OpenLine)
                    };
                    tally.differs(meant, shown);
                }
            }
        }
    }

    /// Returns the patch that git makes of the two sides of all cases.
    fn patch(&self, cases: &BTreeMap<String, Case>, context: &str) -> String {
        for side in ["a", "b"] {
            clear(&self.sides.join(side));
        }
        for (name, case) in cases {
            fs::write(self.sides.join("a").join(name), &case.old).unwrap();
            fs::write(self.sides.join("b").join(name), &case.new).unwrap();
        }
        // The folders are what git writes before the paths otherwise.
        let diff = run(
            &self.sides,
            &["diff", "--no-index", "--no-prefix", context, "a", "b"],
            b"",
        );
        assert_eq!(diff.stderr, "");
        String::from_utf8(diff.stdout).unwrap()
    }

    /// Returns the files that Magis applies their part of the patch to, as they are then.
    fn by_magis(&self, cases: &BTreeMap<String, Case>, patch: &Patch) -> BTreeMap<String, String> {
        for (name, case) in cases {
            self.fixture.write(name, &case.now);
        }
        let (repository, patch) = (self.repository.clone(), patch.clone());
        let applied = within("applying", move || {
            let foreseen = conflicts(&repository, &patch).unwrap();
            let refused: BTreeSet<RepoPath> = foreseen.into_iter().map(|conflict| conflict.path).collect();
            let accepted = patch.files.iter().filter(|file| !refused.contains(&file.path));
            let accepted: Vec<FilePatch> = accepted.cloned().collect();
            let names: Vec<String> = accepted.iter().map(|file| file.path.to_string()).collect();
            let planned = plan_worktree(&repository, &Patch { files: accepted }, &Selection::All);
            planned.unwrap().carry_out().unwrap();
            names
        });
        let after = |name: &String| String::from_utf8(self.fixture.read(name)).unwrap();
        applied.into_iter().map(|name| (name.clone(), after(&name))).collect()
    }

    /// Returns the files that git applies their part of the patch to, as they are then.
    fn by_git<'c>(&self, now: impl Iterator<Item = (&'c String, String)>, patch: &str) -> BTreeMap<String, String> {
        clear(&self.for_git);
        for (name, text) in now {
            fs::write(self.for_git.join(name), text).unwrap();
        }
        let apply = ["-c", "core.autocrlf=false", "apply", "--whitespace=nowarn"];
        let checked = run(&self.for_git, &[&apply[..], &["--check"]].concat(), patch.as_bytes());
        let refused = refused(&checked.stderr);
        let parts = parts(patch)
            .filter(|(name, _)| !refused.contains(name))
            .collect::<Vec<_>>();
        let accepted: String = parts.iter().map(|(_, part)| *part).collect();
        run(&self.for_git, &apply, accepted.as_bytes()).ok();
        let after = |name: &str| fs::read_to_string(self.for_git.join(name)).unwrap();
        parts
            .into_iter()
            .map(|(name, _)| (name.to_owned(), after(name)))
            .collect()
    }
}

/// Returns the files that `git apply --check` names as not fitting.
fn refused(stderr: &str) -> BTreeSet<&str> {
    let names = stderr.lines().filter_map(|line| line.strip_prefix("error: "));
    names
        .filter_map(|line| line.strip_suffix(": patch does not apply"))
        .collect()
}

/// Returns the parts of a patch with the files that they are about.
fn parts(patch: &str) -> impl Iterator<Item = (&str, &str)> {
    let starts: Vec<usize> = patch.match_indices("diff --git ").map(|(at, _)| at).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([patch.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| {
        let part = &patch[start..end];
        let name = part.lines().next().and_then(|line| line.rsplit_once(" b/")).unwrap().1;
        (name, part)
    })
}

/// Returns why Magis may refuse what git applies to this text.
pub(super) fn refused_here(file: &FilePatch, text: &str) -> Option<Difference> {
    if file.hunks.iter().any(|hunk| places(hunk, text).len() > 1) {
        return Some(Difference::SeveralPlaces);
    }
    let open = file.hunks.iter().any(|hunk| goes_on(hunk, text));
    open.then_some(Difference::OpenLine)
}

/// Returns whether the last line of a hunk has no line end, and has one at a place where the lines of the hunk stand.
fn goes_on(hunk: &Hunk, text: &str) -> bool {
    let open = hunk.lines.last().is_some_and(|line| line.starts_with('\\'));
    let ends = |at: &usize| at + old(hunk).count() < text.lines().count() || text.ends_with('\n');
    open && places(hunk, text).iter().any(ends)
}

/// Returns the lines that a hunk wants in the file, without their ends.
fn old(hunk: &Hunk) -> impl Iterator<Item = &str> {
    let old = hunk.lines.iter().filter(|line| !line.starts_with(['+', '\\']));
    old.map(|line| line[1..].trim_end_matches('\r'))
}

/// Returns the places of the text at which the lines stand that the hunk wants; line ends do not count.
fn places(hunk: &Hunk, text: &str) -> Vec<usize> {
    let wanted: Vec<&str> = old(hunk).collect();
    let lines: Vec<&str> = text.lines().collect();
    (0..=lines.len())
        .filter(|at| lines[*at..].starts_with(&wanted))
        .collect()
}

fn has_other_line_ends(file: &FilePatch, text: &str) -> bool {
    let of_hunks = |line: &String| line.ends_with('\r');
    let lines = text.split_inclusive('\n').count();
    text.matches("\r\n").count() * 2 > lines && !file.hunks.iter().any(|hunk| hunk.lines.iter().any(of_hunks))
}

/// Returns a text, a change of it, and what else became of it.
fn case(random: &mut Random) -> Case {
    let old = Text::any(random);
    let mut new = old.clone();
    for _ in 0..random.between(1, 5) {
        new.change(random);
    }
    if random.percent(10) {
        new.is_open = !new.is_open;
    }
    let mut now = if random.percent(12) { new.clone() } else { old.clone() };
    match random.below(10) {
        0 => {}
        1 => now.repeat(random),
        2 => {
            now.shift(random);
            now.repeat(random);
        }
        3..=5 => now.shift(random),
        6 => {
            for _ in 0..random.between(1, 4) {
                now.change(random);
            }
        }
        7 => {
            now.shift(random);
            now.change(random);
        }
        8 => now.is_open = !now.is_open,
        _ => now.end_otherwise(random),
    }
    Case {
        old: old.text(),
        new: new.text(),
        now: now.text(),
    }
}

/// Lines of a file with their ends.
#[derive(Clone)]
pub(super) struct Text {
    lines: Vec<String>,
    /// The last line does not end.
    is_open: bool,
    /// How many lines out of a hundred end with `\r\n`.
    crlf: usize,
}

impl Text {
    pub(super) fn any(random: &mut Random) -> Self {
        let count = match random.below(10) {
            0 => random.below(3),
            1..=5 => random.between(3, 16),
            6..=8 => random.between(16, 60),
            _ => random.between(60, 300),
        };
        let crlf = random.one(&[&0, &0, &0, &0, &0, &0, &100, &100, &85, &30]);
        let mut text = Self {
            lines: Vec::new(),
            is_open: random.percent(15),
            crlf: *crlf,
        };
        let block: Vec<String> = (0..random.between(3, 9)).map(|_| text.line(random)).collect();
        // Lines that all differ, that often repeat, or that repeat in blocks.
        let kind = random.below(3);
        while text.lines.len() < count {
            match kind {
                0 => {
                    let line = text.ended(format!("line {}", text.lines.len()), random);
                    text.lines.push(line);
                }
                1 => {
                    let line = text.line(random);
                    text.lines.push(line);
                }
                _ => text.lines.extend(block.iter().cloned()),
            }
        }
        text
    }

    /// Takes a text apart.
    pub(super) fn of(text: &str) -> Self {
        Self {
            lines: text.split_inclusive('\n').map(ToOwned::to_owned).collect(),
            is_open: false,
            crlf: if text.contains('\r') { 100 } else { 0 },
        }
    }

    fn ended(&self, line: String, random: &mut Random) -> String {
        line + if random.percent(self.crlf) { "\r\n" } else { "\n" }
    }

    fn line(&self, random: &mut Random) -> String {
        let line = *random.one(&[&"a", &"b", &"c", &"}", &"", &"    return x", &"-", &"+ +", &"\\"]);
        self.ended(line.to_owned(), random)
    }

    /// Returns a place, often the first or the last.
    fn place(&self, random: &mut Random) -> usize {
        match random.below(8) {
            0 => 0,
            1 => self.lines.len(),
            _ => random.below(self.lines.len() + 1),
        }
    }

    /// Puts in, takes out or replaces a few lines.
    pub(super) fn change(&mut self, random: &mut Random) {
        let from = self.place(random);
        let gone = if random.percent(60) { random.below(4) } else { 0 };
        let to = (from + gone).min(self.lines.len());
        let come = if gone > 0 {
            random.below(3)
        } else {
            random.between(1, 4)
        };
        let come: Vec<String> = (0..come)
            .map(|_| {
                if random.percent(50) {
                    let number = random.below(1_000);
                    self.ended(format!("new {number}"), random)
                } else {
                    self.line(random)
                }
            })
            .collect();
        self.lines.splice(from..to, come);
    }

    /// Puts in some lines, so that those behind them move.
    fn shift(&mut self, random: &mut Random) {
        let at = self.place(random);
        let lines: Vec<String> = (0..random.between(1, 12)).map(|_| self.line(random)).collect();
        self.lines.splice(at..at, lines);
    }

    /// Puts in a run of lines once more.
    fn repeat(&mut self, random: &mut Random) {
        let from = self.place(random);
        let to = (from + random.between(1, 15)).min(self.lines.len());
        let again = self.lines[from..to].to_vec();
        let at = self.place(random);
        self.lines.splice(at..at, again);
    }

    /// Ends all lines otherwise.
    fn end_otherwise(&mut self, random: &mut Random) {
        let end = *random.one(&[&"\n", &"\r\n", &"\r\n"]);
        for line in &mut self.lines {
            *line = line.trim_end().to_owned() + end;
        }
    }

    pub(super) fn text(&self) -> String {
        let text = self.lines.concat();
        if self.is_open {
            let text = text.strip_suffix('\n').unwrap_or(&text);
            text.strip_suffix('\r').unwrap_or(text).to_owned()
        } else {
            text
        }
    }
}
