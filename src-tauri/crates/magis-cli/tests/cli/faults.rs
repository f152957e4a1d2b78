//! A fault at each system call of an operation: the program is killed before it, or the disk fails, is full or may not be written. The next command finds the
//! state before or the one after, can read it, leaves nothing of what was broken off, and can do it again or take it back; the program that met the fault said so.
//!
//! Of each operation and fault so many points are tried at the most as `MAGIS_FAULT_POINTS` says, or `all`: every k-th call from the first on. A row is printed of
//! each operation: of each fault, in the order of [`CallFault::ALL`], how many points of how many calls; the points of all of them; how many left something broken.

use crate::past_run::START;
use crate::scene::{Scene, State};
use crate::support::Answer;
use magis_engine::DataFolder;
use magis_store::Store;
use magis_testkit::TinyModel;
use magis_testkit::faults::{CallFault, Traced, TracedEnd, strike, trace};
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Tried of each operation and fault, where nobody says otherwise.
const POINTS: usize = 6;

/// What is done, and what takes it back.
struct Operation {
    name: &'static str,
    act: Act,
    /// The exit code where nothing goes wrong.
    code: i32,
    back: Option<Act>,
    /// What clears up behind it: the next command.
    next: Vec<String>,
    /// Whether it changes what a person sees.
    changes: bool,
    /// The folder in which anything may stay, if any.
    unwatched: Option<&'static str>,
}

enum Act {
    /// A command line of the program.
    Magis(Vec<String>),
    /// What the window does and no command line: by the test of this name, in a process of its own.
    Here(&'static str),
}

fn magis<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Act {
    Act::Magis(words.into_iter().map(|word| word.as_ref().to_owned()).collect())
}

/// Names the data folder in the process of a test that carries out what it tests.
const HERE: &str = "MAGIS_FAULTS_DATA";

impl Act {
    fn command(&self, scene: &Scene) -> Command {
        match self {
            Self::Magis(words) => scene.command(words),
            Self::Here(test) => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.args([&format!("faults::{test}"), "--exact", "--nocapture", "--test-threads=1"]);
                command.env_clear().env(HERE, scene.program.data());
                command.env("TMPDIR", scene.program.beside("tmp"));
                command
            }
        }
    }

    fn run(&self, scene: &Scene) -> Answer {
        Answer::of(&self.command(scene).output().unwrap())
    }
}

/// Carries out `act` in the process that the test of this name started for it, and ends that; goes on in the test itself.
fn here<T, E: std::fmt::Display>(act: impl FnOnce(&Path) -> Result<T, E>) {
    let Some(data) = std::env::var_os(HERE) else { return };
    let code = match act(Path::new(&data)) {
        Ok(_) => 0,
        Err(error) => {
            eprintln!("error: {error}");
            1
        }
    };
    std::process::exit(code);
}

/// The states between which an operation leads, with what lies around them.
struct Ends {
    before: State,
    after: State,
    places: BTreeSet<String>,
}

impl Operation {
    fn new(name: &'static str, act: Act) -> Self {
        Self {
            name,
            act,
            code: 0,
            back: None,
            next: vec!["runs".to_owned(), "list".to_owned()],
            changes: true,
            unwatched: None,
        }
    }

    fn taken_back_by(self, back: Act) -> Self {
        Self {
            back: Some(back),
            ..self
        }
    }

    /// Tries faults at its calls.
    fn check(&self, scene: &Scene) {
        let folders = scene.folders();
        let folders: Vec<&Path> = folders.iter().map(std::path::PathBuf::as_path).collect();
        scene.keep();
        self.next_start(scene).unwrap();
        let (before, mut places) = (scene.state(), scene.places());
        scene.restore();
        let whole = trace(&self.act.command(scene), &folders);
        assert_eq!(whole.end, TracedEnd::Exited(self.code), "{}: {whole:?}", self.name);
        self.next_start(scene).unwrap();
        let after = scene.state();
        assert_eq!(before != after, self.changes, "{}", self.name);
        places.extend(scene.places());
        let ends = Ends { before, after, places };
        let (mut row, mut all, mut broken) = (format!("| {}", self.name), 0, Vec::new());
        for fault in CallFault::ALL {
            let calls = whole.calls(fault);
            let mut tried = 0;
            for call in (1..=calls).step_by(step(calls)) {
                scene.restore();
                let traced = strike(&self.act.command(scene), &folders, fault, call);
                let Some(struck) = &traced.struck else {
                    // It makes a few calls more or less each time.
                    continue;
                };
                tried += 1;
                if let Err(why) = self.judge(scene, &ends, &traced) {
                    let said = traced.err.lines().take(3).collect::<Vec<_>>().join("\n      ");
                    broken.push(format!(
                        "{} at call {call}, {struck}: {why}\n    it said: {said}",
                        fault.name()
                    ));
                }
            }
            all += tried;
            write!(row, " | {tried} of {calls}").unwrap();
        }
        eprintln!("{row} | {all} | {} |", broken.len());
        assert!(broken.is_empty(), "{}:\n  {}", self.name, broken.join("\n  "));
    }

    /// Says what is wrong after a program met a fault.
    fn judge(&self, scene: &Scene, ends: &Ends, traced: &Traced) -> Result<(), String> {
        let is_done = match traced.end {
            TracedEnd::Killed => false,
            TracedEnd::Signaled(signal) => return Err(format!("it ended by {signal}")),
            TracedEnd::Exited(code) => {
                if traced.err.contains("panicked") || traced.out.contains("panicked") {
                    return Err("it panicked".to_owned());
                }
                if code != 0 && !traced.err.contains("error: ") {
                    return Err(format!("it ended with {code} and did not say why"));
                }
                code == 0
            }
        };
        self.next_start(scene)?;
        let found = scene.state();
        let (is_old, is_new) = (found == ends.before, found == ends.after);
        if !is_old && !is_new {
            return Err(format!(
                "neither before nor after\n    than before:\n      {}\n    than after:\n      {}",
                found.difference(&ends.before),
                found.difference(&ends.after)
            ));
        }
        if is_done && !is_new {
            return Err(format!(
                "it said that it is done\n      {}",
                found.difference(&ends.after)
            ));
        }
        let is_watched = |place: &String| self.unwatched.is_none_or(|folder| !place.starts_with(folder));
        let left: Vec<_> = scene
            .places()
            .difference(&ends.places)
            .filter(|place| is_watched(place))
            .cloned()
            .collect();
        if !left.is_empty() {
            return Err(format!("left behind: {}", left.join(", ")));
        }
        match &self.back {
            Some(back) if is_new => self.arrives(scene, back, 0, &ends.before),
            _ if is_new => Ok(()),
            _ => self.arrives(scene, &self.act, self.code, &ends.after),
        }
    }

    /// Does something, which has to lead to `goal`.
    fn arrives(&self, scene: &Scene, act: &Act, code: i32, goal: &State) -> Result<(), String> {
        let answer = act.run(scene);
        if answer.code != Some(code) {
            return Err(format!("the next try fails: {answer:?}"));
        }
        self.next_start(scene)?;
        let found = scene.state();
        if found != *goal {
            return Err(format!(
                "the next try leads elsewhere\n      {}",
                found.difference(goal)
            ));
        }
        Ok(())
    }

    /// Starts the program anew.
    fn next_start(&self, scene: &Scene) -> Result<(), String> {
        let next = scene.run(&self.next);
        if next.code == Some(0) {
            Ok(())
        } else {
            Err(format!("the next start fails: {next:?}"))
        }
    }
}

/// Every so manyth call is tried.
fn step(calls: usize) -> usize {
    let most = match std::env::var("MAGIS_FAULT_POINTS") {
        Ok(all) if all == "all" => return 1,
        Ok(number) => number.parse().expect("MAGIS_FAULT_POINTS is a number, or 'all'"),
        Err(_) => POINTS,
    };
    calls.div_ceil(most).max(1)
}

const APPLY: [&str; 3] = ["apply", "1", "--worktree"];
const BRANCH: [&str; 3] = ["apply", "1", "--branch=fix"];
const UNDO: [&str; 3] = ["apply", "1", "--undo"];

#[test]
fn the_first_start() {
    let scene = Scene::new();
    std::fs::remove_dir_all(scene.program.data()).unwrap();
    // The folder is made by the first start, also by the one that looks at it.
    let mut start = Operation::new("first start", magis(["runs", "list"]));
    start.changes = false;
    start.check(&scene);
}

#[test]
fn a_start() {
    let mut start = Operation::new("start", magis(["runs", "list"]));
    start.changes = false;
    start.check(&Scene::new().with_index());
}

#[test]
fn a_patch_goes_into_the_work_tree() {
    Operation::new("apply to the work tree", magis(APPLY))
        .taken_back_by(magis(UNDO))
        .check(&Scene::new());
}

#[test]
fn a_patch_is_taken_back_from_the_work_tree() {
    let scene = Scene::new();
    assert_eq!(scene.run(APPLY).code, Some(0));
    Operation::new("undo in the work tree", magis(UNDO))
        .taken_back_by(magis(APPLY))
        .check(&scene);
}

#[test]
fn a_patch_goes_onto_a_branch() {
    Operation {
        back: Some(magis(UNDO)),
        // Its commit is made in a folder of the system's for what is temporary.
        unwatched: Some("tmp/"),
        ..Operation::new("apply to a branch", magis(BRANCH))
    }
    .check(&Scene::new());
}

#[test]
fn a_branch_is_taken_back() {
    let scene = Scene::new();
    assert_eq!(scene.run(BRANCH).code, Some(0));
    Operation::new("undo of a branch", magis(UNDO))
        .taken_back_by(magis(BRANCH))
        .check(&scene);
}

#[test]
fn a_patch_goes_into_a_file() {
    let scene = Scene::new();
    let file = scene.out("run.patch");
    Operation::new("apply to a patch file", magis(["apply", "1", "--patch", &file])).check(&scene);
}

/// Returns a model that can be looked at and not loaded.
fn unknown_model(scene: &Scene) -> String {
    let known = TinyModel::Qwen2.gguf().bytes();
    let mut model = known.clone();
    for at in 0..known.len() - 5 {
        if known[at..].starts_with(b"qwen2") {
            model[at..at + 5].copy_from_slice(b"qwen9");
        }
    }
    scene.program.file("unknown.gguf", model)
}

#[test]
fn a_run_is_begun() {
    let scene = Scene::new();
    let issue = scene
        .program
        .file("issue.md", "until leaves out that day\n\nThe day itself is missing.\n");
    let model = unknown_model(&scene);
    let words = [
        "solve",
        "--repo",
        scene.root(),
        "--issue",
        &issue,
        "--model",
        &model,
        "--no-tests",
    ];
    // Its model ends it right after its start.
    Operation {
        code: 1,
        ..Operation::new("start of a run", magis(words))
    }
    .check(&scene);
}

#[test]
fn a_run_is_begun_again() {
    let scene = Scene::new();
    let model = unknown_model(&scene);
    let words = ["rerun", "1", "--from", "code", "--model", &model];
    Operation {
        code: 1,
        ..Operation::new("start of a rerun", magis(words))
    }
    .check(&scene);
}

#[test]
fn a_run_is_steered() {
    Operation::new("steer", magis(["steer", "2", "hint", "Look at the bound."])).check(&Scene::new());
}

#[test]
fn a_review_is_kept() {
    here(|data| Store::open(data)?.put_review(magis_core::RunId(1), &json!({ "accepted": [1, 2] }), START));
    Operation::new("review", Act::Here("a_review_is_kept")).check(&Scene::new());
}

#[test]
fn a_setting_is_kept() {
    here(|data| Store::open(data)?.put_setting("window/settings", &json!({ "theme": "dark" })));
    Operation::new("settings", Act::Here("a_setting_is_kept")).check(&Scene::new());
}

#[test]
fn a_run_is_exported() {
    let scene = Scene::new();
    let file = scene.out("run.json");
    Operation::new("export of a run", magis(["runs", "export", "1", "--out", &file])).check(&scene);
}

#[test]
fn a_run_is_imported() {
    let scene = Scene::new().with_importable_run();
    let file = scene.out("run.json");
    assert_eq!(scene.run(["runs", "export", "3", "--out", &file]).code, Some(0));
    Operation::new("import of a run", magis(["runs", "import", &file])).check(&scene);
}

#[test]
fn a_run_is_deleted() {
    let scene = Scene::new().with_index();
    assert_eq!(scene.run(APPLY).code, Some(0));
    Operation::new("delete of a run", magis(["runs", "delete", "1", "--yes"])).check(&scene);
}

#[test]
fn a_memory_is_exported() {
    let scene = Scene::new();
    let file = scene.out("team.magis-memory");
    let words = ["memory", "export", &file, "--with-code", "--repo", scene.root()];
    Operation::new("export of a memory", magis(words)).check(&scene);
}

#[test]
fn a_memory_is_imported() {
    let scene = Scene::new();
    let file = scene.out("team.magis-memory");
    let exported = scene.run(["memory", "export", &file, "--with-code", "--repo", scene.root()]);
    assert_eq!(exported.code, Some(0), "{exported:?}");
    let dropped = scene.run(["memory", "drop", "tally/filters.py", "--repo", scene.root()]);
    assert_eq!(dropped.code, Some(0), "{dropped:?}");
    Operation::new(
        "import of a memory",
        magis(["memory", "import", &file, "--repo", scene.root()]),
    )
    .check(&scene);
}

#[test]
fn a_summary_is_corrected() {
    let scene = Scene::new();
    let words = [
        "memory",
        "correct",
        "tally/filters.py",
        "--text",
        "Mine.",
        "--repo",
        scene.root(),
    ];
    Operation::new("correction of a summary", magis(words)).check(&scene);
}

#[test]
fn an_index_is_made() {
    let scene = Scene::new();
    let issue = scene
        .program
        .file("issue.md", "filters: first is wrong\n\nIt should be two.\n");
    let locate = ["locate", "--repo", scene.root(), "--issue", &issue];
    let mut making = Operation::new("index", magis(locate));
    // What is left of an index is cleared up by the next command that opens it.
    making.changes = false;
    making.next = locate.map(str::to_owned).to_vec();
    making.check(&scene);
}

#[test]
fn a_repository_is_erased() {
    let scene = Scene::new().with_index();
    let words = ["memory", "erase", "--yes", "--repo", scene.root()];
    Operation::new("erase of a repository", magis(words)).check(&scene);
}

#[test]
fn everything_is_erased() {
    here(|data| DataFolder::locate(Some(data.to_owned()))?.erase());
    Operation::new("erase of everything", Act::Here("everything_is_erased")).check(&Scene::new().with_index());
}
