//! Tests that a QA Engineer writes out of the issue: small scripts, several drawn at once. One is kept if it fails on the base for the reason the
//! issue gives, asserts only what the issue states, and another one agrees with it.

use crate::EngineError;
use crate::calls::{AskError, CallContext, PromptVariant, SamplingMode};
use crate::evidence::ChangedFiles;
use crate::runs::bench::{TestBench, marker, program_run};
use crate::runs::roles::RoleResult;
use crate::runs::workspace::Workspace;
use magis_core::{
    BugCheck, CheckId, CheckSource, CheckState, Grade, IssueChecks, ProgramRun, RepoPath, RunEvent, TestsMode,
};
use magis_evidence::reproduction::{Check, SCRIPT_FILE, tracebacks};
use magis_flow::Run;
use magis_prompts::TestWanted;
use magis_sandbox::{End, Limits};
use magis_syntax::SourceLanguage;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many tests are drawn.
const DRAWN: u64 = 4;
/// How many of them have to agree.
const AGREEING: usize = 2;
/// How long one may take.
const TIME: Duration = Duration::from_secs(20);
/// What says that the test itself is at fault.
const OWN_FAULTS: [&str; 7] = [
    "SyntaxError",
    "IndentationError",
    "NameError",
    "ImportError",
    "ModuleNotFoundError",
    "AttributeError",
    "TypeError",
];

/// Asks a QA Engineer for tests that show the fault, where a program could read nothing out of the issue.
pub(crate) async fn write_tests(work: &mut Workspace, run: &Run) -> RoleResult {
    let nothing = |why: &str| RunEvent::TestsWritten {
        checks: Vec::new(),
        remarks: vec![why.to_owned()],
    };
    match run.request().tests {
        TestsMode::Run {
            checks: IssueChecks::Make,
            ..
        } => {}
        TestsMode::Run { .. } | TestsMode::Skip => return Ok(nothing("no tests are written in this run")),
    }
    let kept = run.kept();
    let best = kept.first().map(|candidate| candidate.path.clone());
    let Some(path) = best.filter(|path| SourceLanguage::of(path) == Some(SourceLanguage::Python)) else {
        return Ok(nothing("tests out of an issue are written for Python alone"));
    };
    let project = work.project_in_use()?;
    if let Err(why) = work.bench(run).await? {
        return Ok(nothing(&why));
    }
    let source = work.read(&path)?.text;
    let code = crate::runs::roles::custodian::best_code(work, run, &path, &source, 2, 1_500)?;
    let prompt = TestWanted {
        head: work.head(run),
        path: path.to_string(),
        packages: project.packages.join(", "),
        code,
    };
    let about = CallContext::path(&path);
    let draws: Vec<SamplingMode> = std::iter::once(SamplingMode::Greedy)
        .chain((1..DRAWN).map(SamplingMode::Varied))
        .collect();
    let mut planned = Vec::new();
    for draw in &draws {
        planned.extend(
            work.calls
                .plan(&about, *draw, [PromptVariant::whole(prompt.clone())])
                .await
                .ok(),
        );
    }
    work.calls.ask_all(planned).await?;
    let mut scripts = Vec::new();
    for draw in draws {
        match work
            .calls
            .ask(&about, draw, [PromptVariant::whole(prompt.clone())])
            .await
        {
            Ok(script) => scripts.push(script),
            Err(AskError::Unusable(_)) => {}
            Err(fatal) => return Err(fatal),
        }
    }
    let first = run.checks().len() as u32 + 1;
    match work.bench(run).await? {
        Ok(bench) => Ok(judge(bench, run.issue_text(), scripts, first).await?),
        Err(why) => Ok(nothing(&why)),
    }
}

/// Runs the tests on the base and keeps the one that most of them agree with.
async fn judge(bench: &TestBench, issue: &str, scripts: Vec<String>, first: u32) -> Result<RunEvent, EngineError> {
    let drawn = scripts.len();
    let mut failing: BTreeMap<String, Vec<(String, ProgramRun)>> = BTreeMap::new();
    for script in scripts {
        if !asserts_what_is_stated(&script, issue) {
            continue;
        }
        let (state, run) = bench.run_written(&script, &Vec::new()).await?;
        if let Some(reason) = state.reason(issue) {
            failing.entry(reason).or_default().push((script, run));
        }
    }
    let agreed = failing
        .into_values()
        .max_by_key(Vec::len)
        .filter(|agreed| agreed.len() >= AGREEING);
    let Some((script, run)) = agreed.and_then(|agreed| agreed.into_iter().min_by_key(|(script, _)| script.len()))
    else {
        return Ok(RunEvent::TestsWritten {
            checks: Vec::new(),
            remarks: vec![format!(
                "{drawn} tests were written, and no {AGREEING} of them fail on the base for the reason that the issue gives"
            )],
        });
    };
    let check = BugCheck {
        id: CheckId(first),
        source: CheckSource::Written {
            path: RepoPath::new(SCRIPT_FILE)?,
        },
        grade: Grade::WrongOutputGone,
        as_test: Some(script.clone()),
        script,
        on_base: run,
        reached: Vec::new(),
    };
    Ok(RunEvent::TestsWritten {
        checks: vec![check],
        remarks: Vec::new(),
    })
}

/// Returns whether a test asserts something, and compares with nothing that the issue does not state.
fn asserts_what_is_stated(script: &str, issue: &str) -> bool {
    let asserts: Vec<&str> = script
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("assert "))
        .collect();
    let states = |line: &&str| {
        let expected = line.split_once("==").map_or("", |(_, expected)| expected);
        let expected = expected.split(", \"").next().unwrap_or(expected).trim();
        expected.is_empty() || plain(issue).contains(&plain(expected))
    };
    !asserts.is_empty() && asserts.iter().all(states)
}

fn plain(text: &str) -> String {
    let kept = text
        .chars()
        .filter(|character| !character.is_whitespace() && !matches!(character, '"' | '\'' | '`'));
    kept.collect()
}

/// How a written test ended.
pub(crate) enum WrittenEnd {
    Passed,
    /// The exception, and the line of the test that raised or led to it.
    Raised {
        kind: String,
        line: String,
    },
    TimedOut,
    Broken(String),
}

impl WrittenEnd {
    /// Returns why it fails, where that is what the issue says; two tests agree that have the same reason.
    fn reason(&self, issue: &str) -> Option<String> {
        match self {
            Self::Raised { kind, line } if kind == "AssertionError" => Some(plain(line)),
            Self::Raised { kind, .. } if issue.contains(kind.as_str()) => Some(kind.clone()),
            Self::Raised { .. } | Self::Passed | Self::TimedOut | Self::Broken(_) => None,
        }
    }

    /// Returns what became of the fault, given how it showed on the base.
    pub fn state(self, grade: Grade, on_base: &ProgramRun) -> CheckState {
        match self {
            Self::Passed => CheckState::Gone { grade },
            Self::TimedOut => CheckState::TimedOut,
            Self::Broken(what) => CheckState::OtherError { what },
            Self::Raised { kind, .. } if on_base.stderr.text.contains(&kind) => CheckState::Present,
            Self::Raised { kind, .. } if OWN_FAULTS.contains(&kind.as_str()) => CheckState::OtherError { what: kind },
            Self::Raised { .. } => CheckState::Present,
        }
    }
}

impl TestBench {
    /// Runs a written test on a changed tree.
    pub(crate) async fn run_written(
        &self,
        script: &str,
        changes: &ChangedFiles,
    ) -> Result<(WrittenEnd, ProgramRun), EngineError> {
        let Some(marker) = marker() else {
            return Ok((
                WrittenEnd::Broken("it cannot be run".to_owned()),
                ProgramRun::none("it cannot be run"),
            ));
        };
        let check = Check::of_script(script, marker);
        let limits = Limits {
            time: TIME,
            ..Limits::default()
        };
        let (words, outcome) = self.run_any(&check, changes, limits).await?;
        let run = program_run(&words, "", &outcome);
        let end = match outcome.end {
            End::Exited(0) => WrittenEnd::Passed,
            End::TimeUsedUp(_) => WrittenEnd::TimedOut,
            _ => raised(&run.stderr.text, script),
        };
        Ok((end, run))
    }
}

fn raised(stderr: &str, script: &str) -> WrittenEnd {
    let Some(last) = tracebacks(stderr).pop() else {
        let what = stderr
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("it ended early");
        return WrittenEnd::Broken(what.to_owned());
    };
    let own = last.frames.iter().rev().find(|frame| frame.path.ends_with(SCRIPT_FILE));
    let line = own.and_then(|frame| script.lines().nth(frame.line.saturating_sub(1) as usize));
    WrittenEnd::Raised {
        kind: last.exception.name().to_owned(),
        line: line.unwrap_or_default().trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_issue_states_may_be_asserted() {
        let issue = "`slugify('a b')` gives `ab`, and I expect 'a-b'";
        let check = |script: &str| asserts_what_is_stated(script, issue);
        assert!(check("assert slugify('a b') == 'a-b'"));
        assert!(!check("assert slugify('a b') == 'a_b'"));
        assert!(!check("print(slugify('a b'))"), "nothing is asserted");
    }

    #[test]
    fn a_test_fails_for_the_reason_of_the_issue_or_is_not_kept() {
        let stderr = "Traceback (most recent call last):\n  File \"/x/test_issue.py\", line 2, in <module>\n    assert f() == 1\nAssertionError\n";
        let end = raised(stderr, "from a import f\nassert f() == 1\n");
        assert_eq!(end.reason("f gives 2").as_deref(), Some("assertf()==1"));
        let stderr = stderr.replace("AssertionError", "NameError: name 'f' is not defined");
        assert_eq!(raised(&stderr, "x").reason("f gives 2"), None);
    }
}
