//! What a repository that was made for it, or is damaged, can do to whoever reads it: end that process, and nothing else.

use crate::{GIT, git, numbered, opened, store, take};
use magis_core::RepoPath;
use magis_repo::{BaseChoice, Git, GitWorker, RepoError, Snapshot};
use magis_testkit::FixtureRepo;
use magis_testkit::confined::{assert_confined, children};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What the command of a process that reads has in it.
const READER: &str = "magis-git-worker";

/// A repository with two commits and a file of some length.
fn committed() -> FixtureRepo {
    let fixture = FixtureRepo::new();
    let lines = numbered(400);
    fixture.write("a.py", &lines).commit("one");
    fixture.write("a.py", lines + "more\n").commit("two");
    fixture
}

fn packed() -> FixtureRepo {
    let fixture = committed();
    git(fixture.root(), &["repack", "-q", "-a", "-d"]);
    fixture
}

/// Returns the files of the packs with this ending, to be written to.
fn pack_files(fixture: &FixtureRepo, ending: &str) -> Vec<PathBuf> {
    let folder = fixture.root().join(".git/objects/pack");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|is| is == ending))
        .collect();
    for file in &files {
        make_writable(file);
    }
    assert!(!files.is_empty());
    files
}

fn make_writable(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
}

/// Reads all that is read of a repository.
fn read_all(fixture: &FixtureRepo) -> Result<(), RepoError> {
    let repository = opened(fixture.root())?;
    repository.state()?;
    let store = magis_repo::ObjectStore::open(fixture.beside("store"), &repository)?;
    let snapshot = Snapshot::take(&repository, &store, &BaseChoice::HeadWithUncommitted)?;
    snapshot.files()?;
    let read = snapshot.read(&RepoPath::new("a.py").unwrap());
    snapshot.past(10, |_| false, |_| std::ops::ControlFlow::Continue(()))?;
    match read {
        Err(magis_repo::ReadError::Repo(error)) => Err(error),
        _ => Ok(()),
    }
}

/// Reads a repository that fails, and another one after it, which does not. Returns how the first one failed.
fn check_contained(fixture: &FixtureRepo, what: &str) -> RepoError {
    let begun = Instant::now();
    let failed = read_all(fixture).expect_err(what);
    assert!(!failed.to_string().is_empty() && !failed.remedy().is_empty());
    // What hangs is given up after its time; the sentences say so.
    assert!(begun.elapsed() < Duration::from_mins(1), "{what}: {failed}");
    read_all(&committed()).unwrap();
    failed
}

#[test]
fn a_damaged_index_of_a_pack_ends_only_its_own_reading() {
    // Where in the index the bytes come in decides what libgit2 makes of it.
    for at in [8, 1_032, 1_060] {
        let fixture = packed();
        for file in pack_files(&fixture, "idx") {
            let mut bytes = fs::read(&file).unwrap();
            let at = at.min(bytes.len());
            bytes.splice(at..at, [0xa5; 26]);
            fs::write(&file, bytes).unwrap();
        }
        check_contained(&fixture, &format!("26 bytes at {at} of the index"));
    }
}

#[test]
fn a_cut_object_ends_only_its_own_reading() {
    // libgit2 spins over its content. Who works so long without an answer is given up before the time is over; of the commit at HEAD, the header is read first.
    let spins = "it worked for 1.5 seconds without an answer";
    for (kind, revision, said) in [("commit", "HEAD", "invalid header"), ("tree", "HEAD^{tree}", spins)] {
        let fixture = committed();
        let id = git(fixture.root(), &["rev-parse", revision]);
        let (two, rest) = id.trim().split_at(2);
        let file = fixture.root().join(".git/objects").join(two).join(rest);
        make_writable(&file);
        let bytes = fs::read(&file).unwrap();
        fs::write(&file, &bytes[..20]).unwrap();
        let failed = check_contained(&fixture, &format!("a {kind} of 20 bytes"));
        assert!(failed.to_string().ends_with(said), "{failed}");
    }
}

#[test]
fn whoever_reads_is_lost_alone_and_started_again() {
    let fixture = committed();
    let snapshot = take(&fixture, &BaseChoice::Head);
    assert_eq!(snapshot.files().unwrap().0.len(), 1);
    for reader in children(READER) {
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(reader).unwrap(),
            rustix::process::Signal::KILL,
        )
        .unwrap();
    }
    let lost = snapshot.files().unwrap_err();
    assert!(
        matches!(&lost, RepoError::ReadingLost { how, .. } if how.contains("SIGKILL")),
        "{lost}"
    );
    assert_eq!(snapshot.files().unwrap().0.len(), 1);
}

#[test]
fn whoever_reads_has_neither_network_nor_programs_nor_other_files() {
    let fixture = committed();
    let repository = GIT.open(fixture.root()).unwrap();
    let _store = store(&fixture);
    repository.state().unwrap();
    let readers = children(READER);
    assert!(!readers.is_empty());
    for reader in readers {
        // See the tests of `Pledge` for what that refuses.
        assert_confined(reader);
        let limits = fs::read_to_string(format!("/proc/{reader}/limits")).unwrap();
        let data = limits.lines().find(|line| line.starts_with("Max data size")).unwrap();
        assert!(data.contains("419430400"), "{data}");
    }
}

/// Returns an answer as a process that reads gives it.
fn answer(json: &str) -> Vec<u8> {
    let lengths = [(json.len() as u64).to_le_bytes(), [0; 8]].concat();
    [b"a", lengths.as_slice(), json.as_bytes()].concat()
}

#[test]
fn whoever_reads_cannot_lead_us_to_another_repository() {
    let (asked, other) = (committed(), committed());
    let opened = |root: &FixtureRepo, git_dir: &FixtureRepo, common_dir: &FixtureRepo| {
        let (git_dir, common_dir) = (git_dir.git_dir(), common_dir.git_dir());
        let said = serde_json::json!({"root": root.root(), "git_dir": git_dir, "common_dir": common_dir}).to_string();
        let answers = asked.beside("answers");
        fs::write(&answers, [answer("null"), answer(&said)].concat()).unwrap();
        let git = Git::in_workers(GitWorker {
            program: "sh".into(),
            args: vec!["-c".into(), "cat \"$0\"; exec cat > /dev/null".into(), answers.into()],
        });
        git.open(asked.root())
    };
    assert_eq!(opened(&asked, &asked, &asked).unwrap().root(), asked.root());
    for (root, git_dir, common_dir) in [
        (&other, &asked, &asked),
        (&asked, &other, &asked),
        (&asked, &asked, &other),
    ] {
        let error = opened(root, git_dir, common_dir).unwrap_err();
        assert!(matches!(error, RepoError::ReadingLost { .. }), "{error}");
    }
}

#[test]
fn a_work_tree_elsewhere_by_the_configuration_of_a_repository_is_not_opened() {
    let fixture = committed();
    let elsewhere = fixture.beside("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(elsewhere.join("secret"), "s\n").unwrap();
    git(
        fixture.root(),
        &["config", "core.worktree", elsewhere.to_str().unwrap()],
    );
    let error = opened(fixture.root()).unwrap_err();
    assert_eq!(error.code(), "foreign_work_tree", "{error}");
}

#[test]
fn a_folder_that_looks_like_one_of_git_is_no_repository_by_naming_a_work_tree() {
    let fixture = committed();
    // As a commit can hold it: a bare repository whose configuration makes it a whole one, with a hook.
    let planted = fixture.root().join("planted");
    git(fixture.root(), &["init", "--quiet", "--bare", "planted"]);
    git(&planted, &["config", "core.bare", "false"]);
    for work_tree in ["..", planted.to_str().unwrap()] {
        git(&planted, &["config", "core.worktree", work_tree]);
        for place in [planted.clone(), planted.join("refs")] {
            let error = opened(&place).unwrap_err();
            assert_eq!(error.code(), "foreign_work_tree", "{work_tree} {error}");
        }
    }
}
