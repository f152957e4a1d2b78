//! A data folder and a repository that can be brought back to how they were, and what can be seen of both from outside.

use crate::past_run::{events, record_events};
use crate::support::{Answer, Program};
use magis_core::{CommitId, RepoPath, RunEvent, TreeId};
use magis_engine::repository::blob_of;
use magis_store::{NewRepository, NewSummary, Store};
use magis_testkit::{FixtureRepo, contents};
use rusqlite::Connection;
use rusqlite::types::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Changes a file, makes one in a new folder, moves one and deletes one with its folder.
const PATCH: &str = "\
diff --git a/new/folder/made.py b/new/folder/made.py
new file mode 100644
--- /dev/null
+++ b/new/folder/made.py
@@ -0,0 +1 @@
+made = True
diff --git a/old/gone.py b/old/gone.py
deleted file mode 100644
index 3d5ca9f8a36c742ea78a8a3c82fb653c7ee6db3c..0000000000000000000000000000000000000000
--- a/old/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-gone = False
diff --git a/tally/filters.py b/tally/filters.py
--- a/tally/filters.py
+++ b/tally/filters.py
@@ -1 +1 @@
-first = 1
+first = 2
diff --git a/tally/from.py b/tally/to.py
rename from tally/from.py
rename to tally/to.py
";

/// Files with their permissions and bytes.
type Contents = Vec<(String, u32, Vec<u8>)>;

/// A repository, a data folder with a run whose patch fits it, a run that is not over and a summary, and all of it as it was kept.
pub struct Scene {
    pub program: Program,
    pub repository: FixtureRepo,
}

/// What a person sees of a repository, of the data folder's records and of the files they asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    files: Contents,
    references: String,
    status: String,
    asked_for: Contents,
    records: Vec<String>,
}

impl Scene {
    pub fn new() -> Self {
        let (program, repository) = (Program::new(), FixtureRepo::new());
        repository
            .write("tally/filters.py", "first = 1\n")
            .write("tally/from.py", "moved = True\n");
        repository
            .write("old/gone.py", "gone = False\n")
            .config("user.name", "Ada")
            .config("user.email", "ada@example.com");
        repository.commit("First");
        let mut events = based_events(&repository);
        for event in &mut events {
            if let RunEvent::Merged { result } = event {
                PATCH.clone_into(&mut result.patch);
            }
        }
        record_events(&program.data(), repository.root(), &events);
        record_events(&program.data(), repository.root(), &events[..9]);
        put_summary(&program.data(), repository.root());
        for folder in ["out", "tmp"] {
            std::fs::create_dir(program.beside(folder)).unwrap();
        }
        let scene = Self { program, repository };
        assert_eq!(scene.run(["runs", "list"]).code, Some(0));
        scene
    }

    /// Makes the index of the repository, and the store of what was read for it.
    pub fn with_index(self) -> Self {
        let issue = self
            .program
            .file("issue.md", "filters: first is wrong\n\nIt should be two.\n");
        let located = self.run(["locate", "--repo", self.root(), "--issue", &issue]);
        assert_eq!(located.code, Some(0), "{located:?}");
        self
    }

    /// Records one more run, whose patch touches what its task changed.
    pub fn with_importable_run(self) -> Self {
        record_events(
            &self.program.data(),
            self.repository.root(),
            &based_events(&self.repository),
        );
        self
    }

    /// The folders in which anything is changed.
    pub fn folders(&self) -> [PathBuf; 4] {
        let beside = |name| self.program.beside(name);
        [
            self.program.data(),
            beside("out"),
            beside("tmp"),
            self.repository.root().to_owned(),
        ]
    }

    /// Returns a file that a command may be asked to write.
    pub fn out(&self, name: &str) -> String {
        self.program.beside("out").join(name).to_str().unwrap().to_owned()
    }

    pub fn root(&self) -> &str {
        self.repository.root().to_str().unwrap()
    }

    pub fn command<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.program.command(words);
        command.env("TMPDIR", self.program.beside("tmp"));
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Answer {
        Answer::of(&self.command(words).output().unwrap())
    }

    /// Keeps everything as it is now, to be brought back by [`Self::restore`].
    pub fn keep(&self) {
        for (at, folder) in self.folders().iter().enumerate() {
            copy(folder, &self.program.beside(&format!("kept-{at}")));
        }
    }

    pub fn restore(&self) {
        for (at, folder) in self.folders().iter().enumerate() {
            copy(&self.program.beside(&format!("kept-{at}")), folder);
        }
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["--no-optional-locks", "-C"])
            .arg(self.repository.root())
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn state(&self) -> State {
        State {
            files: as_git_sees(contents(self.repository.root())),
            // A commit of the same content has another time.
            references: self.git(&["for-each-ref", "--format=%(refname) %(tree)"]),
            status: self.git(&["status", "--porcelain"]),
            asked_for: contents(&self.program.beside("out")),
            records: records(&self.program.data().join("magis.sqlite3")),
        }
    }

    /// Returns the files and folders there are beside those of the work tree, by name and not by what is in them; names that are drawn anew each time are left out.
    pub fn places(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let [data, out, tmp, _] = self.folders();
        for (name, folder) in [
            ("data", data),
            ("out", out),
            ("tmp", tmp),
            (".git", self.repository.git_dir().to_owned()),
        ] {
            let mut open = vec![folder.clone()];
            while let Some(place) = open.pop() {
                for entry in std::fs::read_dir(place).unwrap() {
                    let path = entry.unwrap().path();
                    found.extend(place_of(name, path.strip_prefix(&folder).unwrap()));
                    if path.is_dir() && !path.is_symlink() {
                        open.push(path);
                    }
                }
            }
        }
        found
    }
}

impl State {
    /// Says where two states differ, as far as a few lines can.
    pub fn difference(&self, other: &Self) -> String {
        let listed = |files: &Contents| -> Vec<String> {
            let line = |(name, mode, bytes): &(String, u32, Vec<u8>)| {
                format!("{mode:o} {name}: {}", String::from_utf8_lossy(bytes))
            };
            files.iter().map(line).collect()
        };
        let lines = |state: &Self| -> Vec<String> {
            let mut lines = listed(&state.files);
            lines.extend(listed(&state.asked_for));
            lines.extend(
                [&state.references, &state.status]
                    .iter()
                    .flat_map(|text| text.lines())
                    .map(str::to_owned),
            );
            lines.extend(state.records.iter().cloned());
            lines
        };
        let (ours, theirs) = (lines(self), lines(other));
        let only = |sign: &str, these: &[String], those: &[String]| -> Vec<String> {
            let shown = |line: &String| format!("{sign} {}", line.chars().take(200).collect::<String>());
            these
                .iter()
                .filter(|line| !those.contains(line))
                .take(4)
                .map(shown)
                .collect()
        };
        [only("+", &ours, &theirs), only("-", &theirs, &ours)]
            .concat()
            .join("\n      ")
    }
}

/// Leaves out folders, which git does not know: one that is empty is nothing.
fn as_git_sees(mut contents: Contents) -> Contents {
    const FOLDER: u32 = 0o040_000;
    contents.retain(|(_, mode, _)| mode & 0o170_000 != FOLDER);
    contents
}

/// Returns the events of a run on the last commit.
fn based_events(repository: &FixtureRepo) -> Vec<RunEvent> {
    let tree = repository.git2().revparse_single("HEAD^{tree}").unwrap().id();
    let mut events = events();
    for event in &mut events {
        if let RunEvent::RunStarted { base, .. } = event {
            base.commit = CommitId(repository.head());
            base.tree = TreeId(tree.to_string());
        }
    }
    events
}

fn put_summary(data: &Path, root: &Path) {
    let store = Store::open(data).unwrap();
    let new = NewRepository {
        root: root.to_str().unwrap().to_owned(),
        name: "tally".to_owned(),
        identity: None,
    };
    let repo = store.upsert_repository(&new, crate::past_run::START).unwrap();
    let text = "first = 1\n";
    let summary = NewSummary {
        repo,
        path: RepoPath::new("tally/filters.py").unwrap(),
        blob: blob_of(text),
        text: "This file counts from one.".to_owned(),
        from_skeleton: false,
        file_bytes: text.len() as u32,
        tokens: 5,
        model: "small".to_owned(),
        model_sha: "a".repeat(64),
        template_hash: "b".repeat(64),
        made_at: crate::past_run::START,
        made_in: None,
    };
    store.put_summary(&summary).unwrap();
}

fn copy(from: &Path, to: &Path) {
    if to.exists() {
        std::fs::remove_dir_all(to).unwrap();
    }
    if from.exists() {
        let copied = Command::new("cp").arg("-a").args([from, to]).status().unwrap();
        assert!(copied.success());
    }
}

/// Returns a name for a file or folder that is the same whenever there is one of its kind; none where any number of them may be there.
fn place_of(folder: &str, path: &Path) -> Option<String> {
    let path = path.to_str().unwrap();
    // What git has not given its name yet, and what nothing leads to, git clears away.
    if folder == ".git" && path.starts_with("objects") {
        return None;
    }
    // SQLite removes both when the last program that has it open ends.
    if path.ends_with("-wal") || path.ends_with("-shm") {
        return None;
    }
    let is_drawn = |part: &str| part.len() >= 32 && part.chars().all(|c| c.is_ascii_hexdigit());
    let parts = path.split('/').map(|part| {
        let name = part.split_once('.').map_or(part, |(name, _)| name);
        if is_drawn(name) {
            part.replace(name, "DRAWN")
        } else if part.starts_with("magis.2") {
            "magis.DAY.log".to_owned()
        } else {
            part.to_owned()
        }
    });
    let place = format!("{folder}/{}", parts.collect::<Vec<_>>().join("/"));
    // Loose objects of our own.
    (!place.starts_with("data/objects/") || place.contains("tmp") || place.matches('/').count() < 4).then_some(place)
}

/// Returns every row of every table, after SQLite's own checks; times of today are all the same. A database that is not there has none.
fn records(database: &Path) -> Vec<String> {
    if !database.exists() {
        return Vec::new();
    }
    let connection = Connection::open(database).unwrap();
    let check = |pragma: &str| -> Vec<String> {
        let mut statement = connection.prepare(pragma).unwrap();
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let mut lines = check("PRAGMA integrity_check");
    assert_eq!(lines, ["ok"], "{}", database.display());
    lines.extend(check("PRAGMA foreign_key_check"));
    // Its index holds exactly the texts that are there.
    connection
        .execute(
            "INSERT INTO run_search (run_search, rank) VALUES ('integrity-check', 1)",
            [],
        )
        .unwrap();
    let tables = check(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'run_search%'",
    );
    for table in tables {
        // Which repositories are known, and not when each was opened last.
        let columns = if table == "repositories" { "id, root" } else { "*" };
        let mut statement = connection.prepare(&format!("SELECT {columns} FROM {table}")).unwrap();
        let columns = statement.column_count();
        let rows = statement
            .query_map([], |row| {
                let values = (0..columns).map(|at| row.get::<_, Value>(at));
                Ok(values
                    .map(|value| shown(&table, value.unwrap()))
                    .collect::<Vec<_>>()
                    .join(" | "))
            })
            .unwrap();
        lines.extend(rows.map(|row| format!("{table}: {}", row.unwrap())));
    }
    lines
}

fn shown(table: &str, value: Value) -> String {
    let text = match value {
        Value::Null => "null".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => format!("{bytes:?}"),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
    let is_today = |digits: &str| {
        digits
            .parse()
            .is_ok_and(|time: i64| (now - 86_400_000..now + 86_400_000).contains(&time))
    };
    let is_drawn = |word: &str| matches!(word.len(), 12 | 40) && word.chars().all(|c| c.is_ascii_hexdigit());
    let mut out = String::new();
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let plain = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let named = match plain {
            today if is_today(today) => "TODAY",
            // Of an application: the commit, and the mark of its files.
            drawn if table.ends_with("applications") && is_drawn(drawn) => "DRAWN",
            other => other,
        };
        out.push_str(named);
        out.push_str(&word[plain.len()..]);
    }
    out
}
