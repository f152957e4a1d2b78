//! Applying a patch when a person asks for it, and taking it back.

use crate::{apply_to_branch, apply_to_worktree, git, numbered, opened, path, take};
use magis_core::{Edit, FileChange, LineSpan};
use magis_repo::{
    Applied, BaseChoice, BranchCommit, Committer, ConflictReason, DecidedProgram, HunkNumber, Patch, RepoError,
    Repository, Selection, Snapshot, apply_changes, conflicts, undo,
};
use magis_testkit::{FixtureRepo, fingerprint};

/// A repository with a file of 40 lines, a program, and some others; and a patch that changes them all.
pub struct Case {
    pub fixture: FixtureRepo,
    snapshot: Snapshot,
    patch: Patch,
}

fn edit(line: u32, text: &str) -> Edit {
    Edit {
        span: LineSpan::new(line, line).unwrap(),
        text: text.into(),
    }
}

fn case(choice: &BaseChoice, dirty: impl FnOnce(&FixtureRepo)) -> Case {
    let fixture = FixtureRepo::new();
    fixture
        .write("long.txt", numbered(40))
        .write("run.sh", "a\nb\n")
        .write("folder/gone.txt", "g\n");
    fixture.write("from.txt", numbered(9)).write("other", "o\n");
    #[cfg(unix)]
    fixture.executable("run.sh");
    fixture.commit("one");
    dirty(&fixture);
    let snapshot = take(&fixture, choice);
    let changes = [
        (
            path("long.txt"),
            FileChange::Modify {
                edits: vec![edit(5, "five\n"), edit(35, "thirty-five\n")],
            },
        ),
        (
            path("run.sh"),
            FileChange::Modify {
                edits: vec![edit(1, "A\n")],
            },
        ),
        (path("folder/gone.txt"), FileChange::Delete),
        (
            path("from.txt"),
            FileChange::Rename {
                to: path("to/ö.txt"),
                edits: vec![edit(9, "nine\n")],
            },
        ),
        (
            path("deep/new/file.txt"),
            FileChange::Create {
                content: "new\n".into(),
            },
        ),
    ];
    let (_, patch) = apply_changes(&snapshot, &changes).unwrap();
    Case {
        fixture,
        snapshot,
        patch: Patch::parse(&patch).unwrap(),
    }
}

pub fn head() -> Case {
    case(&BaseChoice::Head, |_| {})
}

fn hunks(numbers: &[u32]) -> Selection {
    Selection::Hunks {
        numbers: numbers.iter().copied().map(HunkNumber).collect(),
    }
}

impl Case {
    pub fn repository(&self) -> Repository {
        opened(self.fixture.root()).unwrap()
    }

    pub fn apply(&self, selection: &Selection) -> Result<Applied, RepoError> {
        apply_to_worktree(&self.repository(), &self.patch, selection)
    }

    pub fn branch(&self, name: &str) -> Result<Applied, RepoError> {
        self.branch_of(name, &Selection::All, None)
    }

    fn branch_of(&self, name: &str, selection: &Selection, identity: Option<Committer>) -> Result<Applied, RepoError> {
        let commit = BranchCommit {
            branch: name.into(),
            message: "Fix it\n\nBecause.".into(),
            identity,
            programs: Vec::new(),
        };
        self.commit(selection, &commit)
    }

    /// Makes a branch with what is decided about programs of the repository.
    pub fn branch_with(&self, name: &str, programs: &[DecidedProgram]) -> Result<Applied, RepoError> {
        let commit = BranchCommit {
            branch: name.into(),
            message: "Fix it\n\nBecause.".into(),
            identity: None,
            programs: programs.to_vec(),
        };
        self.commit(&Selection::All, &commit)
    }

    fn commit(&self, selection: &Selection, commit: &BranchCommit) -> Result<Applied, RepoError> {
        let base = self.snapshot.base();
        apply_to_branch(&self.repository(), base, &self.patch, selection, commit)
    }

    /// Returns the numbers of the hunks of a file.
    fn numbers(&self, name: &str) -> Vec<u32> {
        let file = self.patch.files.iter().find(|file| file.path == path(name)).unwrap();
        file.hunks.iter().map(|hunk| hunk.number.0).collect()
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.fixture.read(name)).unwrap()
    }
}

#[test]
fn the_files_of_the_patch_change_and_nothing_else() {
    let case = head();
    case.fixture
        .write("other", "edited meanwhile\n")
        .write("staged", "s\n")
        .stage()
        .write("untracked", "u\n");
    let git_dir = fingerprint(case.fixture.git_dir());
    let applied = case.apply(&Selection::All).unwrap();
    assert_eq!(
        fingerprint(case.fixture.git_dir()),
        git_dir,
        "neither index nor objects nor references change"
    );
    let expected = numbered(40)
        .replace("line 5\n", "five\n")
        .replace("line 35\n", "thirty-five\n");
    assert_eq!(case.text("long.txt"), expected);
    assert_eq!(case.text("deep/new/file.txt"), "new\n");
    assert_eq!(case.text("to/ö.txt"), numbered(8) + "nine\n");
    assert!(!case.fixture.exists("from.txt") && !case.fixture.exists("folder"));
    assert_eq!(
        (case.text("other").as_str(), case.text("untracked").as_str()),
        ("edited meanwhile\n", "u\n")
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |name| {
            std::fs::metadata(case.fixture.root().join(name))
                .unwrap()
                .permissions()
                .mode()
                & 0o777
        };
        assert_eq!(mode("run.sh"), 0o755);
        assert_eq!(mode("deep/new/file.txt"), mode("other"));
    }
    let stored = serde_json::to_string(&applied).unwrap();
    assert_eq!(serde_json::from_str::<Applied>(&stored).unwrap(), applied);
}

#[test]
fn applying_and_undoing_leaves_every_byte_as_it_was() {
    let case = head();
    let before = git(case.fixture.root(), &["status", "--porcelain"]);
    let applied = case.apply(&Selection::All).unwrap();
    undo(&case.repository(), &applied).unwrap();
    assert_eq!(git(case.fixture.root(), &["status", "--porcelain"]), before);
    assert!(!case.fixture.exists("deep") && !case.fixture.exists("to"));
    assert!(matches!(
        undo(&case.repository(), &applied),
        Err(RepoError::ChangedSince(_))
    ));
}

#[test]
fn undoing_is_refused_when_a_file_has_changed_since() {
    let case = head();
    let applied = case.apply(&Selection::All).unwrap();
    case.fixture.write("run.sh", "edited since\n");
    let before = fingerprint(case.fixture.root());
    let Err(RepoError::ChangedSince(changed)) = undo(&case.repository(), &applied) else {
        panic!("it was undone")
    };
    assert_eq!(changed, ["'run.sh' has changed since"]);
    assert_eq!(fingerprint(case.fixture.root()), before);
}

#[test]
fn only_selected_hunks_are_applied() {
    let case = head();
    let second = case.numbers("long.txt")[1];
    case.apply(&hunks(&[second])).unwrap();
    assert_eq!(
        case.text("long.txt"),
        numbered(40).replace("line 35\n", "thirty-five\n")
    );
    assert!(case.fixture.exists("from.txt"));
    assert!(matches!(case.apply(&hunks(&[])), Err(RepoError::NothingSelected)));
    assert!(matches!(
        case.apply(&hunks(&[second, 99])),
        Err(RepoError::NoSuchHunk(99))
    ));
}

#[test]
fn conflicts_are_named_with_their_line_and_nothing_is_written() {
    let case = head();
    case.fixture
        .write("long.txt", numbered(40).replace("line 34\n", "somebody else's\n"));
    case.fixture
        .remove("run.sh")
        .write("deep/new/file.txt", "mine\n")
        .write("folder/gone.txt", "changed\n");
    let before = fingerprint(case.fixture.root());
    let found = conflicts(&case.repository(), &case.patch).unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|conflict| (conflict.path.as_str(), conflict.line, conflict.reason))
        .collect();
    let expected = [
        ("deep/new/file.txt", 1, ConflictReason::FileExists),
        ("folder/gone.txt", 1, ConflictReason::ContentDiffers),
        ("long.txt", 34, ConflictReason::LinesDiffer),
        ("run.sh", 1, ConflictReason::FileMissing),
    ];
    assert_eq!(found, expected);
    let error = case.apply(&Selection::All).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("deep/new/file.txt:1: a file stands there already, and 3 more"),
        "{error}"
    );
    assert_eq!(fingerprint(case.fixture.root()), before);
    let first = case.numbers("long.txt")[0];
    case.apply(&hunks(&[first])).unwrap();
}

#[test]
fn lines_that_moved_are_followed() {
    let case = head();
    case.fixture
        .write("long.txt", format!("new first line\n{}", numbered(40)));
    case.apply(&Selection::All).unwrap();
    assert!(
        case.text("long.txt")
            .starts_with("new first line\nline 1\nline 2\nline 3\nline 4\nfive\n")
    );
}

#[test]
fn line_ends_of_the_work_tree_are_kept() {
    let case = head();
    case.fixture.config("core.autocrlf", "true");
    case.fixture.write("long.txt", numbered(40).replace('\n', "\r\n"));
    let applied = case.apply(&Selection::All).unwrap();
    assert!(case.text("long.txt").contains("line 4\r\nfive\r\nline 6\r\n"));
    assert!(!case.text("long.txt").replace("\r\n", "").contains('\n'));
    assert_eq!(case.text("deep/new/file.txt"), "new\r\n");
    undo(&case.repository(), &applied).unwrap();
    assert_eq!(case.text("long.txt"), numbered(40).replace('\n', "\r\n"));
}

#[test]
fn a_new_file_gets_the_line_ends_that_git_would_give_it() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").commit("one");
    fixture.write(".gitattributes", "crlf/* eol=crlf\nlegacy/* -crlf\ninto/* text=input\n");
    fixture.config("core.autocrlf", "true");
    let check = |name: &str, content: &str, expected: &str| {
        let snapshot = take(&fixture, &BaseChoice::Head);
        let create = FileChange::Create {
            content: content.to_owned(),
        };
        let (_, patch) = apply_changes(&snapshot, &[(path(name), create)]).unwrap();
        apply_to_worktree(
            &opened(fixture.root()).unwrap(),
            &Patch::parse(&patch).unwrap(),
            &Selection::All,
        )
        .unwrap();
        assert_eq!(String::from_utf8(fixture.read(name)).unwrap(), expected, "{name}");
    };
    check("lf", "a\nb\n", "a\r\nb\r\n");
    check("mixed", "a\r\nb\n", "a\r\nb\n");
    check("crlf/mixed", "a\r\nb\n", "a\r\nb\r\n");
    check("legacy/lf", "a\nb\n", "a\nb\n");
    check("into/lf", "a\nb\n", "a\nb\n");
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_not_followed_out_of_the_work_tree() {
    let case = head();
    let outside = case.fixture.beside("outside");
    std::fs::create_dir(&outside).unwrap();
    case.fixture.symlink("deep", outside.to_str().unwrap());
    let Err(RepoError::Conflicts(found)) = case.apply(&Selection::All) else {
        panic!("it was applied")
    };
    assert_eq!(
        (found[0].path.as_str(), found[0].reason),
        ("deep/new/file.txt", ConflictReason::NotARegularFile)
    );
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_folder_may_take_the_place_of_a_file() {
    let fixture = FixtureRepo::new();
    fixture.write("a", "a\n").commit("one");
    let create = FileChange::Create {
        content: "below\n".into(),
    };
    let changes = [(path("a"), FileChange::Delete), (path("a/below"), create)];
    let snapshot = take(&fixture, &BaseChoice::Head);
    let (_, patch) = apply_changes(&snapshot, &changes).unwrap();
    let patch = Patch::parse(&patch).unwrap();
    let repository = opened(fixture.root()).unwrap();
    let applied = apply_to_worktree(&repository, &patch, &Selection::All).unwrap();
    assert_eq!(fixture.read("a/below"), b"below\n");
    let commit = BranchCommit {
        branch: "fix".into(),
        message: "m".into(),
        identity: None,
        programs: Vec::new(),
    };
    apply_to_branch(&repository, snapshot.base(), &patch, &Selection::All, &commit).unwrap();
    assert_eq!(
        git(fixture.root(), &["ls-tree", "-r", "--name-only", "fix"]),
        "a/below\n"
    );
    undo(&repository, &applied).unwrap();
    assert_eq!(fixture.read("a"), b"a\n");
}

#[test]
fn a_branch_has_the_result_and_the_work_tree_stays() {
    let case = head();
    case.fixture
        .write("other", "edited\n")
        .write("staged", "s\n")
        .stage()
        .write("long.txt", "rewritten\n");
    let index = std::fs::read(case.fixture.git_dir().join("index")).unwrap();
    let Applied::Branch { commit, skipped, .. } = case.branch("fix/it").unwrap() else {
        panic!("no branch")
    };
    assert_eq!(skipped, [] as [String; 0]);
    let root = case.fixture.root();
    let shown = git(root, &["log", "-1", "--format=%H|%P|%an|%ae|%B", "fix/it"]);
    let base = &case.snapshot.base().commit;
    assert_eq!(
        shown.trim(),
        format!("{commit}|{base}|Ada Fixture|ada@example.com|Fix it\n\nBecause.")
    );
    let result = git(root, &["rev-parse", "fix/it^{tree}"]);
    let file = case.fixture.beside("change.patch");
    std::fs::write(&file, case.patch.to_string()).unwrap();
    assert_eq!(std::fs::read(case.fixture.git_dir().join("index")).unwrap(), index);
    assert_eq!(
        (case.text("long.txt").as_str(), case.fixture.head()),
        ("rewritten\n", base.0.clone())
    );
    git(root, &["read-tree", "HEAD"]);
    git(root, &["apply", "--cached", file.to_str().unwrap()]);
    assert_eq!(git(root, &["write-tree"]), result);
    git(root, &["fsck", "--strict"]);
}

#[test]
fn a_branch_can_be_undone_until_it_moves_or_is_checked_out() {
    let case = head();
    let applied = case.branch("fix").unwrap();
    undo(&case.repository(), &applied).unwrap();
    assert!(
        matches!(undo(&case.repository(), &applied), Err(RepoError::ChangedSince(why)) if why[0].contains("is gone"))
    );
    let applied = case.branch("fix").unwrap();
    case.fixture.switch("fix");
    assert!(
        matches!(undo(&case.repository(), &applied), Err(RepoError::ChangedSince(why)) if why[0].contains("checked out"))
    );
    case.fixture.write("a", "further\n").commit("further");
    assert!(
        matches!(undo(&case.repository(), &applied), Err(RepoError::ChangedSince(why)) if why[0].contains("moved on"))
    );
}

#[test]
fn a_branch_that_cannot_be_made_says_why() {
    let case = head();
    let code = |name: &str| case.branch(name).unwrap_err().code();
    assert_eq!(code("main"), "branch_exists");
    assert_eq!(code("two words"), "branch_name");
    assert_eq!(code("-x"), "branch_name");
    case.fixture.config("user.name", "");
    assert_eq!(code("fix"), "identity_missing");
    let bad = Committer {
        name: "A".into(),
        email: "a\nb".into(),
    };
    assert_eq!(
        case.branch_of("fix", &Selection::All, Some(bad)).unwrap_err().code(),
        "identity_invalid"
    );
    let good = Committer {
        name: "Grace".into(),
        email: "grace@example.com".into(),
    };
    case.branch_of("fix", &Selection::All, Some(good)).unwrap();
    assert_eq!(
        git(case.fixture.root(), &["log", "-1", "--format=%an <%ce>", "fix"]).trim(),
        "Grace <grace@example.com>"
    );
}

#[test]
fn on_uncommitted_work_only_what_stands_without_it_goes_to_a_branch() {
    let case = case(&BaseChoice::HeadWithUncommitted, |fixture| {
        fixture.write("long.txt", numbered(40).replace("line 34\n", "not committed\n"));
    });
    let before = fingerprint(case.fixture.root());
    let Err(RepoError::NeedsUncommitted(found)) = case.branch("fix") else {
        panic!("a branch was made")
    };
    assert_eq!((found[0].path.as_str(), found[0].line), ("long.txt", 34));
    assert_eq!(
        fingerprint(case.fixture.root()),
        before,
        "not even an object was written"
    );
    let first = case.numbers("long.txt")[0];
    case.branch_of("fix", &hunks(&[first]), None).unwrap();
    let committed = git(case.fixture.root(), &["show", "fix:long.txt"]);
    assert_eq!(
        committed,
        numbered(40).replace("line 5\n", "five\n"),
        "the commit holds nothing uncommitted"
    );
    case.apply(&Selection::All).unwrap();
}

#[test]
fn a_base_that_is_gone_is_said() {
    let case = head();
    let base = magis_core::Base {
        commit: magis_core::CommitId("0123456789012345678901234567890123456789".into()),
        ..case.snapshot.base().clone()
    };
    let commit = BranchCommit {
        branch: "fix".into(),
        message: "m".into(),
        identity: None,
        programs: Vec::new(),
    };
    let made = apply_to_branch(&case.repository(), &base, &case.patch, &Selection::All, &commit);
    assert_eq!(made.unwrap_err().code(), "base_gone");
}
