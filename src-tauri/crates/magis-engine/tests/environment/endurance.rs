//! Random work on a repository, driven by the `git` program, while another process watches it, describes its files with a
//! scripted model, and is killed now and then. At every stop the index has to hold exactly what git says the working tree
//! holds and answer as one made from nothing, and memory has to know what it says it knows.
//!
//! Everything is drawn from a seed; only the moments of the kills depend on the machine.

use magis_core::{BlobId, Issue, RepoId, RepoPath, SkipReason};
use magis_engine::{DataFolder, Magis, SummarisationModel};
use magis_llama::{Priority, WorkerCommand};
use magis_llm::{ScriptedModel, ScriptedReply};
use magis_repo::{Git, WatchOptions};
use magis_search::{Index, IssueQuery, OpenState, Sources};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Nothing takes so long; what does has failed.
const NEVER: Duration = Duration::from_mins(3);
/// So long without an event, and everything is done.
const SILENCE: Duration = Duration::from_secs(3);

/// How much an endurance test does, and how often.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub seed: u64,
    pub operations: usize,
    pub kills: usize,
    /// How often everything is compared, the end not counted.
    pub stops: usize,
}

/// What an endurance test did, counted and timed.
#[derive(Debug, Default)]
pub struct Report {
    pub operations: BTreeMap<&'static str, usize>,
    pub kills: usize,
    pub stops: usize,
    pub files: usize,
    pub summaries: usize,
    pub updates: usize,
    pub took: Duration,
}

/// The process that watches and is killed. Writes its events as lines of JSON, and never ends by itself.
pub async fn watch_until_killed(folder: &Path) {
    let magis = open(folder);
    let repo = magis.add_repository(&folder.join("work")).unwrap();
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    let options = WatchOptions {
        quiet: Duration::from_millis(30),
        ..WatchOptions::default()
    };
    let watch = magis.watch(repo, options, sender).unwrap();
    let describes = ScriptedModel::new("endures").answer(|request| {
        let shown = &request.messages.last()?.content;
        Some(ScriptedReply::Text(said_of(shown)))
    });
    let model = SummarisationModel::Loaded(Arc::new(describes));
    let _summarising = watch.summarise_in_background(model, Duration::from_millis(200));
    while let Some(event) = events.recv().await {
        println!("{}", serde_json::to_string(&event).unwrap());
    }
}

/// Returns what the script says of a file: which of the numbered contents it is.
fn said_of(text: &str) -> String {
    let number = text.split("content_").nth(1).unwrap_or("none");
    let number: String = number.chars().take_while(char::is_ascii_alphanumeric).collect();
    format!(" holds content {number}.")
}

fn open(folder: &Path) -> Magis {
    let data = DataFolder::locate(Some(folder.join("data"))).unwrap();
    let worker = WorkerCommand {
        program: "no-worker".into(),
        args: Vec::new(),
        priority: Priority::Normal,
    };
    Magis::open(data, worker, Git::in_this_process()).unwrap()
}

/// Works through the plan in `folder`; `watcher` makes the command of the process that calls [`watch_until_killed`].
pub fn endure(folder: &Path, plan: Plan, watcher: &dyn Fn() -> Command) -> Report {
    let begun = Instant::now();
    let mut trial = Trial::begin(folder, plan.seed);
    let mut watching = Watching::start(watcher);
    let mut report = Report::default();
    let every = |count: usize| plan.operations / (count + 1);
    for number in 1..=plan.operations {
        let name = trial.operate();
        *report.operations.entry(name).or_default() += 1;
        if plan.kills > 0 && number % every(plan.kills) == 0 && report.kills < plan.kills {
            std::thread::sleep(Duration::from_millis(trial.dice.below(400)));
            watching.kill();
            report.updates += watching.updates;
            for _ in 0..trial.dice.below(4) {
                trial.operate();
            }
            watching = Watching::start(watcher);
            report.kills += 1;
        }
        if plan.stops > 0 && number % every(plan.stops) == 0 {
            watching.settle(&mut trial);
            watching.kill();
            report.updates += watching.updates;
            trial.compare(
                watching.memory,
                &format!("after {number} operations, seed {}", plan.seed),
            );
            watching = Watching::start(watcher);
            report.stops += 1;
        }
    }
    watching.settle(&mut trial);
    watching.kill();
    report.updates += watching.updates;
    (report.files, report.summaries) = trial.compare(watching.memory, &format!("at the end, seed {}", plan.seed));
    report.took = begun.elapsed();
    report
}

/// How much memory knows, as the watcher told it: fresh, stale, none, needs none.
type Memory = (u32, u32, u32, u32);

struct Watching {
    process: Child,
    events: Receiver<Value>,
    updates: usize,
    /// How much memory knows, as it was told last.
    memory: Option<Memory>,
}

impl Watching {
    fn start(watcher: &dyn Fn() -> Command) -> Self {
        let mut process = watcher()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, events) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // A test's program says other things, too.
                if let Ok(value) = serde_json::from_str::<Value>(&line)
                    && sender.send(value).is_err()
                {
                    return;
                }
            }
        });
        Self {
            process,
            events,
            updates: 0,
            memory: None,
        }
    }

    /// `SIGKILL`; what it said until then is heard.
    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        while let Ok(event) = self.events.recv() {
            self.hear(&event);
        }
    }

    fn hear(&mut self, event: &Value) {
        match event["event"].as_str() {
            Some("indexed") => self.updates += 1,
            Some("memory") => {
                let count = |name: &str| event[name].as_u64().unwrap() as u32;
                self.memory = Some((count("fresh"), count("stale"), count("none"), count("needs_none")));
            }
            Some("failed" | "summarising_failed" | "polling") => unreachable!("{event}"),
            _ => {}
        }
    }

    /// Waits until all that was done is taken in. A file of its own marks the end: who names it has heard everything before,
    /// and has taken it in with the next index and count of memory.
    fn settle(&mut self, trial: &mut Trial) {
        let end = Instant::now() + NEVER;
        let mut mark: Option<String> = None;
        let (mut named, mut indexed) = (false, false);
        loop {
            assert!(Instant::now() < end, "the watcher does not come to rest");
            match self.events.recv_timeout(SILENCE) {
                Ok(event) => {
                    self.hear(&event);
                    named |= mark.as_ref().is_some_and(|mark| event.to_string().contains(mark));
                    if event["event"] == "indexed" && named {
                        indexed = true;
                        self.memory = None;
                    }
                }
                Err(RecvTimeoutError::Timeout) if indexed && self.memory.is_some() => return,
                // The beginning is slow, and a word that names no files may have taken the mark's place.
                Err(RecvTimeoutError::Timeout) if !named => {
                    let name = trial.fresh_name();
                    trial.write(&name);
                    mark = Some(name);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(error) => unreachable!("the watcher ended by itself: {error}"),
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Numbers from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

struct Trial {
    folder: PathBuf,
    dice: Dice,
    contents: u64,
    branches: u64,
}

impl Trial {
    fn begin(folder: &Path, seed: u64) -> Self {
        let mut trial = Self {
            folder: folder.to_owned(),
            dice: Dice(seed),
            contents: 0,
            branches: 0,
        };
        fs::create_dir_all(trial.root()).unwrap();
        assert!(trial.git(&["init", "--quiet", "--initial-branch=main"]));
        fs::write(trial.root().join(".gitignore"), "*.log\nbuild/\n").unwrap();
        for _ in 0..30 {
            let name = trial.fresh_name();
            trial.write(&name);
        }
        assert!(trial.git(&["add", "--all"]) && trial.git(&["commit", "--quiet", "-m", "first"]));
        trial
    }

    fn root(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Returns the `git` program without the machine's configuration; whether it succeeded.
    fn git(&self, arguments: &[&str]) -> bool {
        self.command(arguments).output().unwrap().status.success()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=Ada Fixture", "-c", "user.email=ada@example.com"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_AUTHOR_DATE", "1700000000 +0000")
            .env("GIT_COMMITTER_DATE", "1700000000 +0000")
            .current_dir(self.root());
        command
    }

    fn output(command: &mut Command) -> String {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn fresh_name(&mut self) -> String {
        let (folder, number) = (self.dice.below(6), self.dice.next() % 1_000_000);
        let folders = ["", "src/", "src/deep/er/", "lib/", "lib/a b/", "über/"];
        format!("{}module{number}.py", folders[folder as usize])
    }

    /// Writes a text that no file had before.
    fn write(&mut self, name: &str) {
        self.contents += 1;
        let place = self.root().join(name);
        let lines: Vec<String> = (0..self.dice.below(20))
            .map(|line| format!("    step_{line} = {}\n", self.dice.below(9)))
            .collect();
        let lines = lines.concat();
        let text = format!(
            "def content_{}():\n    \"\"\"{}\"\"\"\n{lines}    return {}\n",
            self.contents,
            // A file that is shorter than a summary is its own description.
            "What it does is told at length. ".repeat(12),
            self.dice.below(100)
        );
        if let Some(folder) = place.parent()
            && fs::create_dir_all(folder).is_ok()
        {
            // A folder may stand there by now; then nothing is done.
            drop(fs::write(place, text));
        }
    }

    /// Returns one of the files that are there now, ignored ones left out.
    fn some_file(&mut self) -> Option<String> {
        let listed = Self::output(&mut self.command(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"]));
        let files: Vec<&str> = listed
            .split('\0')
            .filter(|name| name.ends_with("py") && self.root().join(name).is_file())
            .collect();
        let at = self.dice.below(files.len().max(1) as u64) as usize;
        files.get(at).map(|name| (*name).to_owned())
    }

    /// Does something; gives what.
    fn operate(&mut self) -> &'static str {
        let file = self.some_file();
        match (self.dice.below(100), file) {
            (0..=21, _) | (_, None) => {
                let name = self.fresh_name();
                self.write(&name);
                "create"
            }
            (22..=47, Some(file)) => {
                self.write(&file);
                "edit"
            }
            (48..=57, Some(file)) => {
                let to = self.root().join(self.fresh_name());
                drop(fs::create_dir_all(to.parent().unwrap()));
                drop(fs::rename(self.root().join(file), to));
                "rename"
            }
            (58..=67, Some(file)) => {
                fs::remove_file(self.root().join(file)).unwrap();
                "delete"
            }
            (68..=71, Some(file)) => {
                use std::os::unix::fs::PermissionsExt as _;
                let mode = if self.dice.below(2) == 0 { 0o755 } else { 0o644 };
                fs::set_permissions(self.root().join(file), fs::Permissions::from_mode(mode)).unwrap();
                "chmod"
            }
            (72..=75, Some(_)) => {
                let names = ["src", "lib", "src/deep", "moved", "moved/again"];
                let (from, to) = (self.dice.below(5) as usize, self.dice.below(5) as usize);
                drop(fs::rename(self.root().join(names[from]), self.root().join(names[to])));
                "rename a folder"
            }
            (76..=77, Some(_)) => {
                for name in ["x.log", "build/out.py"] {
                    self.write(name);
                }
                "ignored"
            }
            (78..=85, Some(_)) => {
                self.git(&["add", "--all"]);
                self.git(&["commit", "--quiet", "-m", "next"]);
                "commit"
            }
            (86..=88, Some(_)) => {
                self.branches += 1;
                let name = format!("branch{}", self.branches);
                self.git(&["checkout", "--quiet", "-b", &name]);
                "branch"
            }
            (89..=94, Some(_)) => {
                let name = match self.dice.below(self.branches + 1) {
                    0 => "main".to_owned(),
                    number => format!("branch{number}"),
                };
                // Uncommitted work may stand in the way; then nothing happens.
                self.git(&["checkout", "--quiet", &name]);
                "checkout"
            }
            (95..=96, Some(_)) => {
                self.git(&["stash", "--include-untracked"]);
                "stash"
            }
            (97..=98, Some(_)) => {
                if !self.git(&["stash", "pop"]) {
                    self.git(&["reset", "--quiet", "--hard"]);
                    self.git(&["stash", "drop"]);
                }
                "stash pop"
            }
            (_, Some(file)) => {
                self.git(&["add", "--force", "--", &file]);
                "add"
            }
        }
    }

    /// Returns what git says the working tree holds.
    fn truth(&self) -> BTreeMap<RepoPath, BlobId> {
        // From an empty index every file is read. A copy of git's own would be younger than the files it trusts, and one that
        // was changed in the moment of its staging would be taken for unchanged.
        let index = self.folder.join("truth.index");
        drop(fs::remove_file(&index));
        let with_index = |arguments: &[&str]| {
            let mut command = self.command(arguments);
            command.env("GIT_INDEX_FILE", &index);
            command
        };
        Self::output(&mut with_index(&["add", "--all"]));
        let listed = Self::output(&mut with_index(&["ls-files", "-z", "--stage"]));
        let entry = |line: &str| {
            let (what, path) = line.split_once('\t')?;
            let mut what = what.split(' ');
            let file = matches!(what.next()?, "100644" | "100755");
            let blob = BlobId(what.next()?.to_owned());
            file.then(|| (RepoPath::new(path).unwrap(), blob))
        };
        listed.split('\0').filter_map(entry).collect()
    }

    fn text(&self, blob: &BlobId) -> String {
        Self::output(&mut self.command(&["cat-file", "blob", &blob.0]))
    }

    /// Compares index and memory with the truth; gives how many files and summaries there are.
    fn compare(&mut self, told: Option<Memory>, when: &str) -> (usize, usize) {
        let truth = self.truth();
        let magis = open(&self.folder);
        let repo = RepoId(1);
        let mut index = Index::open(self.folder.join("data/index").join(repo.to_string())).unwrap();
        assert_eq!(*index.state(), OpenState::Kept, "{when}");
        let wanted: Vec<(RepoPath, BlobId)> = truth.clone().into_iter().collect();
        // It may read nothing: what the watcher did not take in is missing.
        let update = index
            .update(&wanted, |_, _| Err(SkipReason::Missing), |_, _| ())
            .unwrap();
        assert_eq!(
            (update.kept, update.added, update.skipped),
            (truth.len(), 0, Vec::new()),
            "{when}: every file in its very version"
        );
        let paths: Vec<RepoPath> = index.connections().into_iter().map(|(path, _)| path).collect();
        let expected: Vec<RepoPath> = truth.keys().cloned().collect();
        assert_eq!(paths, expected, "{when}: each file once, none lost, none doubled");
        let mut anew = Index::in_memory().unwrap();
        anew.update(&wanted, |_, blob| Ok(self.text(blob)), |_, _| ()).unwrap();
        for _ in 0..8 {
            let number = self.dice.below(self.contents) + 1;
            let issue = format!("content_{number} gives a wrong step_{} in module", self.dice.below(20));
            let query = IssueQuery::of(&Issue::new(&issue).unwrap(), &[]);
            let answer = |index: &Index| {
                let ranking = index.rank_by(&query, Sources::default(), 20).unwrap();
                let rounded = |score: f64| (score * 1e6).round() as i64;
                let mut answer: Vec<_> = ranking
                    .candidates
                    .into_iter()
                    .map(|one| (-rounded(one.score), one.path, one.blob))
                    .collect();
                answer.sort();
                answer
            };
            assert_eq!(
                answer(&index),
                answer(&anew),
                "{when}: it answers {issue:?} as one made from nothing"
            );
        }
        let short = |blob: &BlobId| self.text(blob).len() < 400;
        let coverage = magis.coverage(repo, &wanted, short).unwrap();
        assert_eq!(
            told,
            Some((coverage.fresh, coverage.stale, coverage.none, coverage.needs_none)),
            "{when}: memory is what was told"
        );
        let summaries = magis.summaries(repo).unwrap();
        for summary in &summaries {
            let text = self.text(&summary.kept.blob);
            assert_eq!(
                summary.kept.text,
                ["This file", &said_of(&text)].concat(),
                "{when}: {} is of its own version",
                summary.kept.path
            );
        }
        (truth.len(), summaries.len())
    }
}
