//! Where hunks go, held against the `git` program: what is applied here gives the bytes that `git apply` gives, and what
//! it refuses is refused here.

use crate::{apply_to_branch, apply_to_worktree, opened};
use magis_repo::{BranchCommit, Patch, RepoError, Repository, Selection, conflicts, text_diff};
use magis_testkit::FixtureRepo;
use proptest::prelude::*;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// What became of a patch that was applied here and by git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Both applied it, with the same bytes.
    Applied,
    Refused,
    /// Git guesses between several places, we do not.
    OnlyGit,
    /// Lines that git wants the same line ends of are found here without.
    OnlyHere,
}

/// Returns the patch from `old` to `new` of the file `f`.
fn patch_of(old: &str, new: &str) -> String {
    format!("diff --git a/f b/f\n--- a/f\n+++ b/f\n{}", text_diff(old, new, 3))
}

/// Returns the file `f` of `folder` after `git apply`; none where git refuses.
fn by_git(folder: &Path, text: &str, patch: &str) -> Option<Vec<u8>> {
    fs::write(folder.join("f"), text).unwrap();
    let mut git = Command::new("git")
        .args(["-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"])
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap())
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    git.stdin.take().unwrap().write_all(patch.as_bytes()).unwrap();
    git.wait()
        .unwrap()
        .success()
        .then(|| fs::read(folder.join("f")).unwrap())
}

/// A repository whose work tree holds `f`, and a folder beside it for git.
struct PlacingTest {
    fixture: FixtureRepo,
    repository: Repository,
    for_git: std::path::PathBuf,
}

impl PlacingTest {
    fn new() -> Self {
        let fixture = FixtureRepo::new();
        fixture.write("f", "").commit("one");
        let for_git = fixture.beside("for-git");
        fs::create_dir(&for_git).unwrap();
        Self {
            repository: opened(fixture.root()).unwrap(),
            fixture,
            for_git,
        }
    }

    /// Applies `patch` to a work tree whose file is `text`. What would be in conflict is what is refused.
    fn here(&self, text: &str, patch: &Patch) -> Option<Vec<u8>> {
        self.fixture.write("f", text);
        let foreseen = conflicts(&self.repository, patch).unwrap();
        match apply_to_worktree(&self.repository, patch, &Selection::All) {
            Ok(_) => {
                assert_eq!(foreseen, []);
                Some(self.fixture.read("f"))
            }
            Err(RepoError::Conflicts(said)) => {
                assert_eq!(said, foreseen);
                assert_eq!(self.fixture.read("f"), text.as_bytes(), "nothing is written");
                None
            }
            Err(error) => unreachable!("{error}"),
        }
    }

    fn compare(&self, old: &str, new: &str, text: &str) -> End {
        let patch = patch_of(old, new);
        let theirs = by_git(&self.for_git, text, &patch);
        let ours = self.here(text, &Patch::parse(&patch).unwrap());
        match (ours, theirs) {
            (Some(ours), Some(theirs)) => {
                let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                assert_eq!(shown(&ours), shown(&theirs), "{patch}\non {text:?}");
                End::Applied
            }
            (None, None) => End::Refused,
            (None, Some(_)) => End::OnlyGit,
            (Some(_), None) => End::OnlyHere,
        }
    }
}

/// The difference of `old` and `new`, applied to `text` in the work tree and on a branch, ends as `expected`.
fn check(old: &str, new: &str, text: &str, expected: End) {
    let ground = PlacingTest::new();
    assert_eq!(
        ground.compare(old, new, text),
        expected,
        "{old:?} -> {new:?} on {text:?}"
    );
    ground.fixture.write("f", text).commit("two");
    let snapshot = crate::take(&ground.fixture, &magis_repo::BaseChoice::Head);
    let commit = BranchCommit {
        branch: "result".to_owned(),
        message: "Result".to_owned(),
        identity: None,
        programs: Vec::new(),
    };
    let patch = Patch::parse(&patch_of(old, new)).unwrap();
    let made = apply_to_branch(&ground.repository, snapshot.base(), &patch, &Selection::All, &commit);
    match expected {
        End::Applied | End::OnlyHere => {
            made.unwrap();
            let on_branch = crate::git(ground.fixture.root(), &["show", "result:f"]);
            let in_work_tree = ground.here(text, &patch).unwrap();
            assert_eq!(on_branch.as_bytes(), in_work_tree, "the branch is as the work tree");
        }
        End::Refused | End::OnlyGit => assert!(matches!(made, Err(RepoError::Conflicts(_)))),
    }
}

#[test]
fn a_line_added_at_an_edge_is_not_added_twice() {
    let (without, first) = ("a\nb\nc\nd\ne\n", "new\na\nb\nc\nd\ne\n");
    check(without, first, without, End::Applied);
    check(without, first, first, End::Refused);
    let last = "a\nb\nc\nd\ne\nnew\n";
    check(without, last, without, End::Applied);
    check(without, last, last, End::Refused);
    check("", "new\n", "", End::Applied);
    check("", "new\n", "new\n", End::Refused);
    check("a\n", "a\nnew\n", "a\nnew\n", End::Refused);
    check("a\n", "new\na\n", "new\na\n", End::Refused);
}

#[test]
fn what_belongs_to_the_beginning_or_the_end_goes_nowhere_else() {
    let lines = "a\nb\nc\nd\ne\n";
    check(lines, "new\na\nb\nc\nd\ne\n", "0\na\nb\nc\nd\ne\n", End::Refused);
    check(lines, "a\nB\nc\nd\ne\n", "0\na\nb\nc\nd\ne\n", End::Refused);
    check(lines, "a\nb\nc\nd\ne\nnew\n", "a\nb\nc\nd\ne\nf\n", End::Refused);
    check(lines, "a\nb\nc\nd\nE\n", "0\na\nb\nc\nd\ne\n", End::Applied);
    check(lines, "a\nb\nc\nd\n", "a\nb\nc\nd\ne\nf\n", End::Refused);
    check(lines, "b\nc\nd\ne\n", "a\nb\nc\nd\ne\nf\n", End::Applied);
}

#[test]
fn what_is_applied_already_is_refused() {
    let ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
    for new in [
        "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n",
        "1\n2\n3\n4\n6\n7\n8\n9\n10\n",
        "one\n2\n3\n4\n5\n6\n7\n8\n9\nten\n",
        "1\n2\n3\n4\n5\n5\n6\n7\n8\n9\n10\n",
    ] {
        check(ten, new, ten, End::Applied);
        check(ten, new, new, End::Refused);
    }
}

#[test]
fn lines_that_moved_are_followed_where_there_is_one_place_only() {
    let ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
    let five = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n";
    check(ten, five, &format!("0\n0\n{ten}"), End::Applied);
    check(ten, five, &ten[4..], End::Refused);
    check(ten, five, &format!("0\n{ten}{ten}"), End::OnlyGit);
    check(ten, five, &format!("{ten}{ten}"), End::Applied);
    check(ten, five, &ten.replace('4', "four"), End::Refused);
}

#[test]
fn the_end_of_the_last_line_counts() {
    check("a\nb", "a\nB", "a\nb", End::Applied);
    check("a\nb", "a\nB", "a\nb\n", End::Refused);
    check("a\nb", "a\nb\n", "a\nb", End::Applied);
    check("a\nb\n", "a\nb", "a\nb\n", End::Applied);
    check("a\nb\n", "a\nb\nnew", "a\nb\n", End::Applied);
    check("a\nb\n", "a\nb\nnew", "a\nb\nnew", End::Refused);
}

#[test]
fn line_ends_are_compared_as_git_does_except_where_the_whole_file_has_others() {
    let windows = "a\r\nb\r\nc\r\n";
    check(windows, "a\r\nB\r\nc\r\n", windows, End::Applied);
    check(windows, "a\r\nB\r\nc\r\n", "a\nb\nc\n", End::Refused);
    check("a\nb\nc\n", "a\nB\nc\n", windows, End::OnlyHere);
    check("a\nb\nc\n", "a\nb\nc\nd\n", "a\r\nb\r\nc\r\nd\r\n", End::Refused);
}

/// Returns a text of a few lines, of which several may be the same.
fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["a", "b", "c", "d", "}", ""]);
    (prop::collection::vec(line, 0..14), any::<bool>()).prop_map(|(lines, open)| {
        let text: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
        if open {
            text.strip_suffix('\n').unwrap_or(&text).to_owned()
        } else {
            text
        }
    })
}

/// Returns a text and a version of it with some lines taken out, put in or changed.
fn edited(text: String) -> impl Strategy<Value = String> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8, "[a-d]"), 0..4);
    edits.prop_map(move |edits| {
        let mut lines: Vec<String> = text.split_inclusive('\n').map(ToOwned::to_owned).collect();
        for (at, what, line) in edits {
            let at = at.index(lines.len() + 1);
            match what {
                0 => lines.insert(at, format!("{line}\n")),
                1 if at < lines.len() => drop(lines.remove(at)),
                2 if at < lines.len() => lines[at] = format!("{line}\n"),
                _ => {}
            }
        }
        lines.concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_applied_otherwise_than_git_would(
        (old, new, text) in text().prop_flat_map(|text| (edited(text.clone()), edited(text.clone()), edited(text)))
    ) {
        thread_local!(static GROUND: PlacingTest = PlacingTest::new());
        prop_assume!(old != new);
        let end = GROUND.with(|ground| ground.compare(&old, &new, &text));
        prop_assert!(end != End::OnlyHere, "{old:?} -> {new:?} on {text:?}");
    }
}
