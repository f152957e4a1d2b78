//! What the tests work with: the sample repository, a data folder, and a script that solves the sample's issues.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use magis_core::{HintsMode, QaMode, RelevanceMode, RunEvent, RunId, TestsMode};
use magis_engine::{DataFolder, DriveEnd, EngineError, Magis, Progress, SolveRequest};
use magis_llama::{Priority, WorkerCommand};
use magis_llm::{LanguageModel, ScriptedModel};
use magis_repo::{BaseChoice, Git};
use magis_store::Store;
use magis_testkit::sample;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What a user would write: an input, what it gives, and what it should give. [`script`] solves it.
pub const ISSUE: &str = "list --until leaves out the last day

```python
>>> from datetime import date
>>> from types import SimpleNamespace
>>> from tally.filters import in_period
>>> in_period(SimpleNamespace(day=date(2025, 3, 31)), until=date(2025, 3, 31))
False
```

Expected:

```python
True
```
";

pub struct TestEnvironment {
    pub magis: Magis,
    pub folder: TempDir,
}

impl TestEnvironment {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        sample::write_repository(&folder.path().join("tally")).unwrap();
        Self {
            magis: open(folder.path()),
            folder,
        }
    }

    /// Returns the database, as another program opens it.
    pub fn store(&self) -> Store {
        Store::open(self.magis.data().root()).unwrap()
    }

    pub fn repository(&self) -> std::path::PathBuf {
        self.folder.path().join("tally")
    }

    pub fn wish(&self, issue: &str) -> SolveRequest {
        self.wish_for(issue, &[])
    }

    pub fn wish_for(&self, issue: &str, files: &[&str]) -> SolveRequest {
        wish(&self.repository(), issue, files)
    }

    pub async fn solve(&self, wish: SolveRequest, model: ScriptedModel) -> (RunId, DriveEnd) {
        let run = self.magis.prepare_for(wish, &model).unwrap().run;
        let end = self.drive(run, Arc::new(model)).await.unwrap();
        (run, end)
    }

    pub async fn drive(&self, run: RunId, model: Arc<dyn LanguageModel>) -> Result<DriveEnd, EngineError> {
        let (progress, _watch) = tokio::sync::mpsc::unbounded_channel();
        self.magis.drive(run, model, CancellationToken::new(), progress).await
    }

    /// Drives a run and stops it when the step `step` begins.
    pub async fn stop_before(&self, run: RunId, step: &str) {
        let stop = CancellationToken::new();
        let (progress, mut watch) = tokio::sync::mpsc::unbounded_channel();
        let hanging = Arc::new(hang_at(step));
        let stopper = stop.clone();
        let step = step.to_owned();
        let watcher = tokio::spawn(async move {
            while let Some(seen) = watch.recv().await {
                if matches!(&seen, Progress::CallStarted { step: begun, .. } if *begun == step) {
                    stopper.cancel();
                }
            }
        });
        let end = self.magis.drive(run, hanging, stop, progress).await.unwrap();
        assert_eq!(end, DriveEnd::Stopped);
        watcher.await.unwrap();
    }

    /// Fills the memory of the files both issues touch one commit before the newest.
    pub async fn remember_at_parent(&self) {
        let mut wish = self.wish_for(sample::TWO_TASK_ISSUE, &["tally/filters.py"]);
        wish.base = BaseChoice::Revision {
            name: "HEAD~1".to_owned(),
        };
        self.solve(wish, script()).await;
    }

    pub fn calls(&self, run: RunId, step: &str) -> usize {
        self.magis
            .calls(run)
            .unwrap()
            .iter()
            .filter(|call| call.record.step == step)
            .count()
    }

    pub fn events(&self, run: RunId) -> Vec<RunEvent> {
        self.magis
            .events(run)
            .unwrap()
            .into_iter()
            .map(|stored| stored.event)
            .collect()
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.repository().join(path)).unwrap()
    }

    pub fn commit(&self, path: &str, text: &str) {
        self.commit_saying("change", path, text);
    }

    pub fn commit_saying(&self, message: &str, path: &str, text: &str) {
        std::fs::write(self.repository().join(path), text).unwrap();
        self.git(&[
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@example.org",
            "commit",
            "--quiet",
            "--all",
            "-m",
            message,
        ]);
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.repository(), arguments)
    }

    pub fn git_apply_check(&self, patch: &str) {
        let file = self.folder.path().join("the.patch");
        std::fs::write(&file, patch).unwrap();
        self.git(&["apply", "--check", file.to_str().unwrap()]);
    }
}

pub fn open(folder: &Path) -> Magis {
    let data = DataFolder::locate(Some(folder.join("data"))).unwrap();
    Magis::open(
        data,
        WorkerCommand {
            program: "no-worker".into(),
            args: Vec::new(),
            priority: Priority::Normal,
        },
        Git::in_this_process(),
    )
    .unwrap()
}

pub fn wish(repository: &Path, issue: &str, files: &[&str]) -> SolveRequest {
    SolveRequest {
        repository: repository.to_owned(),
        base: BaseChoice::Head,
        issue: issue.to_owned(),
        hints: Vec::new(),
        hints_mode: HintsMode::Use,
        relevance: RelevanceMode::Code,
        without: BTreeSet::new(),
        files: files.iter().map(|path| (*path).to_owned()).collect(),
        model: None,
        seed: 1,
        top_k: 10,
        max_rounds: 3,
        attempts: 1,
        places: 1,
        writing: Vec::new(),
        tests: TestsMode::Skip,
        qa: QaMode::Review,
    }
}

pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the user's message of every call of one step.
pub fn asked(magis: &Magis, run: RunId, step: &str) -> Vec<String> {
    let calls = magis.calls(run).unwrap();
    let text = |call: &magis_store::Call| {
        call.record.request["messages"][1]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    calls.iter().filter(|call| call.record.step == step).map(text).collect()
}

/// Returns a model that solves the sample's issues "until" and "category-case".
pub fn script() -> ScriptedModel {
    script_after(ScriptedModel::new("script"))
}

/// Returns the same, but what `first` has rules for is answered by those.
pub fn script_after(first: ScriptedModel) -> ScriptedModel {
    let in_period = "(entry, since=date.min, until=date.max):\n    \"\"\"Tell whether the day of an entry lies between two days.\"\"\"\n    return since <= entry.day <= until\n";
    let by_category = "(entries, category):\n    \"\"\"The entries of one category, whatever its case.\"\"\"\n    wanted = category.casefold()\n    return [entry for entry in entries if entry.category.casefold() == wanted]\n";
    let spent_in = "(entries, category, month):\n    \"\"\"What was spent on a category in a month, in cents.\"\"\"\n    wanted = category.casefold()\n    return sum(\n        entry.cents for entry in entries if entry.category.casefold() == wanted and month_of(entry.day) == month\n    )\n";
    rest(
        first
            .when_prefixed("def in_period", in_period)
            .when_prefixed("def by_category", by_category)
            .when_prefixed("def spent_in", spent_in),
    )
}

/// Returns the parts that every script has: what is said in words, and which names are preferred.
pub fn rest(model: ScriptedModel) -> ScriptedModel {
    let name = |request: &magis_llm::ScoreRequest, wanted: &[&str]| {
        let asked = request.messages[1].content.contains("<issue>");
        let score = |text: &String| {
            if asked && wanted.iter().any(|name| *text == format!("{name}`")) {
                -1.0
            } else {
                -9.0
            }
        };
        request.continuations.iter().map(score).collect::<Vec<f64>>()
    };
    model
        .score_with(move |request| {
            let issue = &request.messages[1].content;
            let wanted: &[&str] = if issue.contains("Categories") {
                &["tally/filters.py", "tally/budget.py", "by_category", "spent_in"]
            } else {
                &["tally/filters.py", "in_period"]
            };
            request.continuations.first().is_some_and(|text| text.ends_with('`')).then(|| name(request, wanted))
        })
        .score_with(|request| {
            let question = &request.messages[1].content;
            let yes_no = request.continuations.first().is_some_and(|text| text == " yes");
            let wanted = question.contains("\ntally/filters.py\n")
                || (question.contains("Categories") && question.contains("\ntally/budget.py\n"));
            yes_no.then(|| if wanted { vec![-0.1, -8.0] } else { vec![-8.0, -0.1] })
        })
        .score_with(|request| {
            let deciding = request.continuations.first().is_some_and(|text| text == " approve");
            deciding.then(|| vec![-0.5, -3.0])
        })
        .score_with(|request| {
            // Code is as likely with one change as with another.
            let reads_code = request.messages[1].content.ends_with("as it has to be.") && !request.by_line;
            reads_code.then(|| vec![-10.0; request.continuations.len()])
        })
        .when("Summarise this file", " chooses entries. It has functions for each filter.")
        .when("Write the commit message of this change", " makes sorting stable.")
        .answer(|request| {
            let question = &request.messages[1].content;
            let wanted = question.contains("\ntally/filters.py\n")
                || (question.contains("Categories") && question.contains("\ntally/budget.py\n"));
            let nothing = r#"{"reason": "it only shows what others chose", "action": "nothing", "new_path": "", "task": "-"}"#;
            (question.contains("Decide what has to happen") && !wanted).then(|| nothing.into())
        })
        .when(
            "has to happen in this file",
            r#"{"reason": "it holds the comparison", "action": "modify", "new_path": "", "task": "Compare as the issue asks."}"#,
        )
        .when("You are the Manager. The task in", r#"{"name": "Filter developer", "focus": "Looks at edges of comparisons."}"#)
        .when("open the kick-off meeting", " We resolve the issue together.")
        .when("Speak in the meeting", " will change the comparison. It waits for nothing.")
        .when("sum up the meeting", " every task changes its comparison, side by side.")
        .when("revise the description of your own role", r#"{"name": "Filter developer", "focus": "Pays attention to the edges."}"#)
        .when("write the work plan", r#"{"T1 waits for": [], "T2 waits for": []}"#)
        .when("Design the QA engineer", r#"{"name": "Edge reviewer", "focus": "Checks first and last values."}"#)
        .when("Which lines have to be changed", " 8-8")
        .when_prefixed("What is wrong:", " The comparison leaves out what it should include.")
        .when("Review the change", " The comparison is right now; look at the last day.")
        .when("Write the subject line", " Compare as asked")
}

/// Returns the script, but a chat of this step never ends.
pub fn hang_at(step: &str) -> ScriptedModel {
    let marker = match step {
        "P5" => "You are the Manager. The task in",
        "P10-code" => "The corrected",
        other => panic!("no marker for {other}"),
    };
    let hanging = ScriptedModel::new("script").answer(move |request| {
        let here = request.messages[1].content.contains(marker) || request.answer_prefix.contains(marker);
        here.then_some(magis_llm::ScriptedReply::Hang)
    });
    script_after(hanging)
}
