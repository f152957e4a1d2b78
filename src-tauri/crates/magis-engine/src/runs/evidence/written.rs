//! Tests that a QA Engineer writes out of the issue: small scripts, several drawn at once. One is kept if it fails on the base for the reason the
//! issue gives, asserts only what the issue states, and another one agrees with it.
//!
//! Where the issue wants an error that does not come, the script does what should be one, and the test around it fails as long as nothing is raised.

mod wanted_error;

use crate::EngineError;
use crate::calls::{AskError, CallContext, PromptVariant, SamplingMode};
use crate::evidence::ChangedFiles;
use crate::runs::bench::{TestBench, marker, program_run};
use crate::runs::roles::RoleResult;
use crate::runs::workspace::Workspace;
use magis_core::{
    BugCheck, CheckId, CheckSource, CheckState, Grade, IssueChecks, ProgramRun, RepoPath, RunEvent, TestsMode,
};
use magis_evidence::reproduction::{Check, SCRIPT_FILE, tracebacks, wants_error};
use magis_flow::Run;
use magis_prompts::{ErrorWanted, Prompt, TestWanted};
use magis_sandbox::{End, Limits};
use magis_syntax::SourceLanguage;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many tests are drawn.
const DRAWN: u64 = 4;
/// How many are drawn of an error that is wanted: they are short, and a third of them or less give the value that is wrong.
const DRAWN_OF_ERROR: u64 = 12;
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
    let about = CallContext::path(&path);
    let issue = run.issue_text().to_owned();
    let first = run.checks().len() as u32 + 1;
    let mut event = nothing("nothing is asked for");
    if let Some(package) = project.packages.first().filter(|_| wants_error(&issue)) {
        let prompt = ErrorWanted {
            head: work.head(run),
            package: package.clone(),
            title: issue.trim_start().lines().next().unwrap_or_default().to_owned(),
        };
        let drawn = draw(work, &about, &prompt, DRAWN_OF_ERROR).await?;
        let tests = drawn
            .iter()
            .filter_map(|lines| wanted_error::test_of(package, lines, &issue));
        event = judge(work, run, tests.collect(), first).await?;
    }
    if !matches!(&event, RunEvent::TestsWritten { checks, .. } if checks.is_empty()) {
        return Ok(event);
    }
    let source = work.read(&path)?.text;
    let code = crate::runs::roles::custodian::best_code(work, run, &path, &source, 2, 1_500)?;
    let prompt = TestWanted {
        head: work.head(run),
        path: path.to_string(),
        packages: project.packages.join(", "),
        code,
    };
    let drawn = draw(work, &about, &prompt, DRAWN).await?;
    let tests = drawn
        .into_iter()
        .filter(|script| asserts_what_is_stated(script, &issue));
    let tests = tests.map(|script| WrittenTest { script, calls: None });
    Ok(judge(work, run, tests.collect(), first).await?)
}

/// A test as it was drawn.
struct WrittenTest {
    script: String,
    /// The function that should raise an error; none where the test asserts something else.
    calls: Option<String>,
}

/// Asks for a test several times at once.
async fn draw<P: Prompt<Reply = String> + Clone>(
    work: &mut Workspace,
    about: &CallContext,
    prompt: &P,
    count: u64,
) -> Result<Vec<String>, AskError> {
    let draws: Vec<SamplingMode> = std::iter::once(SamplingMode::Greedy)
        .chain((1..count).map(SamplingMode::Varied))
        .collect();
    let variants = || [PromptVariant::whole(prompt.clone())];
    let mut planned = Vec::new();
    for draw in &draws {
        planned.extend(work.calls.plan(about, *draw, variants()).await.ok());
    }
    work.calls.ask_all(planned).await?;
    let mut scripts = Vec::new();
    for draw in draws {
        match work.calls.ask(about, draw, variants()).await {
            Ok(script) => scripts.push(script),
            Err(AskError::Unusable(_)) => {}
            Err(fatal) => return Err(fatal),
        }
    }
    Ok(scripts)
}

/// Runs the tests on the base and keeps the one that most of them agree with.
async fn judge(work: &mut Workspace, run: &Run, tests: Vec<WrittenTest>, first: u32) -> Result<RunEvent, EngineError> {
    let said = |checks: Vec<BugCheck>, remark: Option<String>| RunEvent::TestsWritten {
        checks,
        remarks: remark.into_iter().collect(),
    };
    let bench = match work.bench(run).await? {
        Ok(bench) => bench,
        Err(why) => return Ok(said(Vec::new(), Some(why))),
    };
    let issue = run.issue_text();
    let drawn = tests.len();
    let mut failing: BTreeMap<String, Vec<(String, ProgramRun)>> = BTreeMap::new();
    for WrittenTest { script, calls } in tests {
        let (end, seen) = bench.run_written(&script, &Vec::new()).await?;
        let reason = match calls {
            Some(calls) => end.is_without_error().then_some(calls),
            None => end.reason(issue),
        };
        if let Some(reason) = reason {
            failing.entry(reason).or_default().push((script, seen));
        }
    }
    let agreed = failing
        .into_values()
        .max_by_key(Vec::len)
        .filter(|agreed| agreed.len() >= AGREEING);
    let Some((script, on_base)) = agreed.and_then(most_alike) else {
        let remark = format!(
            "{drawn} tests were written, and no {AGREEING} of them fail on the base for the reason that the issue gives"
        );
        return Ok(said(Vec::new(), Some(remark)));
    };
    let reached = match marker() {
        Some(marker) => bench.reached_by(&Check::of_script(&script, marker), &[]).await?,
        None => Vec::new(),
    };
    let check = BugCheck {
        id: CheckId(first),
        source: CheckSource::Written {
            path: RepoPath::new(SCRIPT_FILE)?,
        },
        grade: Grade::WrongOutputGone,
        as_test: Some(script.clone()),
        script,
        on_base,
        reached,
        warnings: Vec::new(),
    };
    Ok(said(vec![check], None))
}

/// Returns the test that is most like the others, the shortest of several: of calls of one function the odd one out has no example of what is wrong.
fn most_alike(mut tests: Vec<(String, ProgramRun)>) -> Option<(String, ProgramRun)> {
    let scripts: Vec<String> = tests.iter().map(|(script, _)| script.clone()).collect();
    let alike = |script: &str| -> f64 {
        let to_each = scripts
            .iter()
            .map(|other| strsim::normalized_levenshtein(script, other));
        to_each.sum()
    };
    tests.sort_by_key(|(script, _)| script.len());
    let of = |(script, _): &(String, ProgramRun)| alike(script);
    tests.into_iter().rev().max_by(|a, b| of(a).total_cmp(&of(b)))
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

    /// Returns whether all went well where an error is wanted.
    fn is_without_error(&self) -> bool {
        matches!(self, Self::Raised { line, .. } if *line == wanted_error::NONE_IS_RAISED)
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
    fn the_test_that_is_most_like_the_others_is_kept() {
        let check = |scripts: &[&str]| {
            let tests = scripts
                .iter()
                .map(|script| ((*script).to_owned(), ProgramRun::none("")));
            most_alike(tests.collect()).map(|(script, _)| script)
        };
        let calls = ["shelf('a')", "shelf('books.old')", "shelf('books.new')"];
        assert_eq!(check(&calls).as_deref(), Some("shelf('books.old')"));
        assert_eq!(
            check(&["assert f() == 1, 'one'", "assert f() == 1"]).as_deref(),
            Some("assert f() == 1")
        );
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
