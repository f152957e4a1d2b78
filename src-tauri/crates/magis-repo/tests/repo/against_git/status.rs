//! What of a work tree counts as changed: `git status`, and `git add --all` with `git write-tree` for what a run would read.

use super::{Random, Tally, copy, open, run, within};
use crate::store;
use magis_repo::{BaseChoice, Cleanliness, Snapshot, WorkTree};
use magis_testkit::FixtureRepo;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

/// Where Magis and git differ on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {}

const ROUNDS: usize = 60;

#[test]
fn a_work_tree_is_as_changed_as_git_says() {
    let mut random = Random::of(5);
    let mut tally = Tally::new();
    for round in 0..ROUNDS {
        Round::new(&mut random).compare(round, &mut tally);
    }
    tally.end("status", 2_500, &[]);
}

/// What becomes of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    Written,
    SameLength,
    WrittenBack,
    Staged,
    StagedAndWritten,
    StagedAndBack,
    Gone,
    StagedGone,
    OnlyUnstaged,
    Moved,
    MovedStaged,
    Program,
    StagedProgram,
    Link,
    Folder,
    AssumedUnchanged,
    AssumedUnchangedGone,
    LeftOut,
    LeftOutGone,
    OtherLineEnds,
    Conflict,
    New,
    NewStaged,
    NewStagedGone,
    NewIntended,
    NewIgnored,
    NewIgnoredStaged,
    NewLink,
}

/// A path that a commit has.
const OF_TRACKED: [Change; 24] = [
    Change::None,
    Change::None,
    Change::Written,
    Change::Written,
    Change::SameLength,
    Change::WrittenBack,
    Change::Staged,
    Change::StagedAndWritten,
    Change::StagedAndBack,
    Change::Gone,
    Change::StagedGone,
    Change::OnlyUnstaged,
    Change::Moved,
    Change::MovedStaged,
    Change::Program,
    Change::StagedProgram,
    Change::Link,
    Change::Folder,
    Change::AssumedUnchanged,
    Change::AssumedUnchangedGone,
    Change::LeftOut,
    Change::LeftOutGone,
    Change::OtherLineEnds,
    Change::Conflict,
];
const OF_NEW: [Change; 7] = [
    Change::New,
    Change::NewStaged,
    Change::NewStagedGone,
    Change::NewIntended,
    Change::NewIgnored,
    Change::NewIgnoredStaged,
    Change::NewLink,
];

struct Round {
    fixture: FixtureRepo,
    changes: BTreeMap<String, Change>,
    settings: String,
}

impl Round {
    fn new(random: &mut Random) -> Self {
        let fixture = FixtureRepo::in_memory();
        let mut settings = String::new();
        for (key, values) in [
            ("core.autocrlf", &["false", "false", "true", "input"][..]),
            ("core.fileMode", &["true", "true", "false"]),
        ] {
            let value = random.one(values);
            fixture.config(key, value);
            settings += &format!("{key} = {value}\n");
        }
        let mut changes = BTreeMap::new();
        for number in 0..26 {
            let folder = random.one(&["", "src/", "src/deep/", "f/", "empty after/"]);
            let name = format!("{folder}t{number}{}", random.one(&["", ".txt", ".log", " ü"]));
            changes.insert(name, OF_TRACKED[random.below(OF_TRACKED.len())]);
        }
        fixture.write(".gitignore", "*.ign\nignored/\n");
        for path in changes.keys() {
            fixture.write(path, original(path));
            if random.percent(10) {
                fixture.executable(path);
            }
        }
        fixture.commit("one");
        let mut index = IndexChanges::default();
        for (path, change) in &changes {
            index.change(&fixture, path, *change);
        }
        for number in 0..12 {
            let folder = random.one(&["", "src/", "new/", "new/deep/"]);
            let change = OF_NEW[random.below(OF_NEW.len())];
            let name = match change {
                Change::NewIgnored | Change::NewIgnoredStaged => {
                    let folder = random.one(&[folder, "ignored/", "src/ignored/"]);
                    format!("{folder}n{number}.ign")
                }
                _ => format!("{folder}n{number}"),
            };
            index.change(&fixture, &name, change);
            changes.insert(name, change);
        }
        index.carry_out(&fixture);
        for (path, change) in &changes {
            after_staging(&fixture, path, *change);
        }
        Self {
            fixture,
            changes,
            settings,
        }
    }

    fn compare(&self, round: usize, tally: &mut Tally<Difference>) {
        let repository = open(&self.fixture);
        let store = store(&self.fixture);
        let (state, work, snapshot) = within("reading", move || {
            let state = repository.state().unwrap();
            let snapshot = Snapshot::take(&repository, &store, &BaseChoice::HeadWithUncommitted).unwrap();
            (state, WorkTree::read(&repository).unwrap(), snapshot)
        });
        let copied = copy(&self.fixture);
        let arguments = [
            "status",
            "--porcelain=v1",
            "-z",
            "--no-renames",
            "--untracked-files=all",
        ];
        let told: Vec<String> = run(&copied, &arguments, b"").ok().parts().collect();
        let staged = files(&copied);
        run(&copied, &["add", "--all"], b"").ok();
        let kept = files(&copied);
        let tree = String::from_utf8(run(&copied, &["write-tree"], b"").ok().stdout).unwrap();

        let about = |what: &str| {
            format!(
                "round {round}, {}{what}\n{:#?}\ngit status: {told:#?}",
                self.settings, self.changes
            )
        };
        let counts = counts(&told);
        if state.cleanliness == counts {
            tally.same("counts");
        } else {
            tally.differs(None, || about(&format!("here {:?}, git {counts:?}", state.cleanliness)));
        }
        if snapshot.base().tree.0 == tree.trim() {
            tally.same("trees");
        } else {
            let (listed, _) = snapshot.files().unwrap();
            let listed: BTreeSet<(String, String)> = listed
                .into_iter()
                .map(|file| (file.path.to_string(), file.blob.0))
                .collect();
            let kept: BTreeSet<(String, String)> = kept.clone().into_iter().collect();
            tally.differs(None, || {
                about(&format!(
                    "only here {:?}\nonly git {:?}",
                    listed.difference(&kept).collect::<Vec<_>>(),
                    kept.difference(&listed).collect::<Vec<_>>()
                ))
            });
        }
        let paths: BTreeSet<String> = self
            .changes
            .keys()
            .cloned()
            .chain(kept.keys().cloned())
            .chain(staged.keys().cloned())
            .collect();
        for file in paths {
            let path = crate::path(&file);
            let here = (
                work.files().get(&path).map(|blob| blob.0.clone()),
                work.uncommitted().contains(&path),
            );
            let after = kept.get(&file).cloned();
            let theirs = (after.clone(), after.is_some() && after != staged.get(&file).cloned());
            if here == theirs {
                tally.same("paths");
            } else {
                tally.differs(None, || {
                    let status = told.iter().find(|entry| entry.ends_with(&file));
                    let change = self.changes.get(&file);
                    format!(
                        "round {round}, {}{file}: {change:?}\nhere {here:?}\ngit  {theirs:?}, status {status:?}",
                        self.settings
                    )
                });
            }
        }
    }
}

/// Returns the counts of what git's status tells.
fn counts(told: &[String]) -> Cleanliness {
    let mut counts = Cleanliness::default();
    for entry in told {
        match &entry.as_bytes()[..2] {
            b"??" => counts.untracked += 1,
            b"DD" | b"AA" | [b'U', _] | [_, b'U'] => counts.conflicted += 1,
            [in_index, in_work_tree] => {
                counts.staged += u32::from(*in_index != b' ');
                counts.changed += u32::from(*in_work_tree != b' ');
            }
            _ => {}
        }
    }
    counts
}

/// Returns the staged blobs of the ordinary files of a repository.
fn files(repository: &Path) -> BTreeMap<String, String> {
    let listed = run(repository, &["ls-files", "--stage", "-z"], b"").ok();
    let entry = |entry: String| {
        let (about, path) = entry.split_once('\t').unwrap();
        let about: Vec<&str> = about.split(' ').collect();
        (about[0].starts_with("100") && about[2] == "0").then(|| (path.to_owned(), about[1].to_owned()))
    };
    listed.parts().filter_map(entry).collect()
}

fn original(path: &str) -> String {
    format!("{path}\none\ntwo\nthree\n")
}

/// What is to be done to the index, each by one process of git.
#[derive(Default)]
struct IndexChanges {
    add: Vec<String>,
    remove: Vec<String>,
    intend: Vec<String>,
    assume: Vec<String>,
    leave_out: Vec<String>,
    conflicts: Vec<String>,
    programs: Vec<String>,
}

impl IndexChanges {
    /// Does to the work tree what comes before staging.
    fn change(&mut self, fixture: &FixtureRepo, path: &str, change: Change) {
        let place = fixture.root().join(path);
        match change {
            Change::Staged | Change::StagedAndWritten | Change::StagedAndBack => {
                fixture.write(path, format!("{path}\nstaged\n"));
                self.add.push(path.to_owned());
            }
            Change::StagedGone => {
                fixture.remove(path);
                self.remove.push(path.to_owned());
            }
            Change::OnlyUnstaged => self.remove.push(path.to_owned()),
            Change::MovedStaged => {
                let to = format!("{path}.moved");
                fs::rename(&place, fixture.root().join(&to)).unwrap();
                self.remove.push(path.to_owned());
                self.add.push(to);
            }
            Change::StagedProgram => self.programs.push(path.to_owned()),
            Change::AssumedUnchanged | Change::AssumedUnchangedGone => self.assume.push(path.to_owned()),
            Change::LeftOut | Change::LeftOutGone => self.leave_out.push(path.to_owned()),
            Change::Conflict => self.conflicts.push(path.to_owned()),
            Change::New | Change::NewIgnored => drop(fixture.write(path, "new\n")),
            Change::NewStaged | Change::NewStagedGone | Change::NewIgnoredStaged => {
                fixture.write(path, "new\n");
                self.add.push(path.to_owned());
            }
            Change::NewIntended => {
                fixture.write(path, "new\n");
                self.intend.push(path.to_owned());
            }
            Change::NewLink => {
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                symlink("nowhere", place).unwrap();
            }
            Change::None
            | Change::Written
            | Change::SameLength
            | Change::WrittenBack
            | Change::Gone
            | Change::Moved
            | Change::Program
            | Change::Link
            | Change::Folder
            | Change::OtherLineEnds => {}
        }
    }

    fn carry_out(&self, fixture: &FixtureRepo) {
        let git = |arguments: &[&str], paths: &[String]| {
            if !paths.is_empty() {
                let input: String = paths.iter().flat_map(|path| [path.as_str(), "\0"]).collect();
                run(fixture.root(), arguments, input.as_bytes()).ok();
            }
        };
        let from_input = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        git(&[&["add", "--force"], &from_input[..]].concat(), &self.add);
        git(&["update-index", "--force-remove", "-z", "--stdin"], &self.remove);
        git(
            &[&["add", "--force", "--intent-to-add"], &from_input[..]].concat(),
            &self.intend,
        );
        git(&["update-index", "--assume-unchanged", "-z", "--stdin"], &self.assume);
        git(&["update-index", "--skip-worktree", "-z", "--stdin"], &self.leave_out);
        git(&["update-index", "--chmod=+x", "-z", "--stdin"], &self.programs);
        if !self.conflicts.is_empty() {
            let blob = |text: &str| fixture.git2().blob(text.as_bytes()).unwrap().to_string();
            let sides = [blob("base\n"), blob("ours\n"), blob("theirs\n")];
            let mut input = String::new();
            for (number, path) in self.conflicts.iter().enumerate() {
                input += &format!("0 {}\t{path}\0", "0".repeat(40));
                for (stage, side) in (1..).zip(&sides) {
                    // Sometimes one of them has deleted it.
                    if number % 3 == 0 || number % 3 + 1 != stage {
                        input += &format!("100644 {side} {stage}\t{path}\0");
                    }
                }
            }
            run(
                fixture.root(),
                &["update-index", "-z", "--index-info"],
                input.as_bytes(),
            )
            .ok();
        }
    }
}

/// Does to the work tree what comes after staging.
fn after_staging(fixture: &FixtureRepo, path: &str, change: Change) {
    let place = fixture.root().join(path);
    match change {
        Change::Written | Change::StagedAndWritten | Change::AssumedUnchanged | Change::LeftOut => {
            fixture.write(path, format!("{path}\nwritten\n"));
        }
        Change::SameLength => {
            fixture.write(path, original(path).replace("two", "TWO"));
        }
        Change::WrittenBack | Change::StagedAndBack => {
            fixture.write(path, original(path));
        }
        Change::Gone | Change::NewStagedGone | Change::AssumedUnchangedGone | Change::LeftOutGone => {
            fixture.remove(path);
        }
        Change::Moved => fs::rename(&place, fixture.root().join(format!("{path}.moved"))).unwrap(),
        Change::Program => {
            let mode = fs::metadata(&place).unwrap().permissions().mode() ^ 0o111;
            fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
        }
        Change::Link => {
            fixture.remove(path);
            symlink("nowhere", place).unwrap();
        }
        Change::Folder => {
            fixture.remove(path).write(&format!("{path}/inside"), "inside\n");
        }
        Change::OtherLineEnds => {
            fixture.write(path, original(path).replace('\n', "\r\n"));
        }
        Change::Conflict => {
            fixture.write(path, "<<<<<<<\nours\n=======\ntheirs\n>>>>>>>\n");
        }
        Change::None
        | Change::Staged
        | Change::StagedGone
        | Change::OnlyUnstaged
        | Change::MovedStaged
        | Change::StagedProgram
        | Change::New
        | Change::NewStaged
        | Change::NewIntended
        | Change::NewIgnored
        | Change::NewIgnoredStaged
        | Change::NewLink => {}
    }
}
