//! Tests that a QA Engineer writes out of the issue: small scripts, several drawn at once. One is kept if it fails on the base for the reason the
//! issue gives, asserts only what the issue states, and another one agrees with it.
//!
//! Where the issue wants an error that does not come, the script does what should be one, and the test around it fails as long as nothing is raised; such
//! tests are written in Python alone.

mod call;
mod javascript;
mod language;
mod python;
mod rust;
mod wanted_error;

use self::language::TestLanguage;
use crate::EngineError;
use crate::calls::{AskError, CallContext, PromptVariant, SamplingMode};
use crate::evidence::ChangedFiles;
use crate::runs::bench::{TestBench, marker, program_run};
use crate::runs::roles::RoleResult;
use crate::runs::workspace::Workspace;
use magis_core::{
    BugCheck, CheckId, CheckSource, CheckState, Grade, IssueChecks, ProgramRun, RepoPath, RunEvent, TestsMode,
};
use magis_evidence::reproduction::{Exception, tracebacks, wants_error};
use magis_flow::Run;
use magis_prompts::{ErrorWanted, Prompt, TestWanted};
use magis_sandbox::{End, Limits};
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
    let project = work.project_in_use()?;
    let best = run.kept().first().map(|candidate| candidate.path.clone());
    let language = best.and_then(|path| Some((TestLanguage::for_file(&path, &project)?, path)));
    let Some((language, path)) = language else {
        return Ok(nothing(
            "tests out of an issue are written in Python, JavaScript and Rust alone",
        ));
    };
    match work.bench(run).await? {
        Ok(bench) => {
            if let Some(why) = bench.only_command.clone() {
                return Ok(nothing(&why));
            }
        }
        Err(why) => return Ok(nothing(&why)),
    }
    let about = CallContext::path(&path);
    let issue = run.issue_text().to_owned();
    let first = run.checks().len() as u32 + 1;
    let mut event = nothing("nothing is asked for");
    let is_error_wanted = language == TestLanguage::Python && wants_error(&issue);
    if let Some(package) = project.packages.first().filter(|_| is_error_wanted) {
        let prompt = ErrorWanted {
            head: work.head(run),
            package: package.clone(),
            title: issue.trim_start().lines().next().unwrap_or_default().to_owned(),
        };
        let drawn = draw(work, &about, &prompt, DRAWN_OF_ERROR).await?;
        let tests = drawn
            .iter()
            .filter_map(|lines| wanted_error::test_of(package, lines, &issue));
        event = judge(work, run, language, tests.collect(), first).await?;
    }
    if !matches!(&event, RunEvent::TestsWritten { checks, .. } if checks.is_empty()) {
        return Ok(event);
    }
    let source = work.read(&path)?.text;
    let code = crate::runs::roles::custodian::best_code(work, run, &path, &source, 2, 1_500)?;
    let prompt = TestWanted {
        head: work.head(run),
        language: language.source().name().to_owned(),
        fence: language.source().fence().to_owned(),
        assertion: language.assertion().to_owned(),
        path: path.to_string(),
        packages: project.packages.join(", "),
        code,
    };
    let drawn = draw(work, &about, &prompt, DRAWN).await?;
    let tests = drawn
        .into_iter()
        .filter(|script| asserts_what_is_stated(language, script, &issue));
    let tests = tests.map(|script| WrittenTest { script, calls: None });
    Ok(judge(work, run, language, tests.collect(), first).await?)
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
async fn judge(
    work: &mut Workspace,
    run: &Run,
    language: TestLanguage,
    tests: Vec<WrittenTest>,
    first: u32,
) -> Result<RunEvent, EngineError> {
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
        let path = RepoPath::new(language.file(&script))?;
        let (end, seen) = bench.run_written(&path, &script, &Vec::new()).await?;
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
        Some(marker) => {
            let check = language.check(&script, bench.project(), marker);
            bench.reached_by(&check, &[]).await?
        }
        None => Vec::new(),
    };
    let check = BugCheck {
        id: CheckId(first),
        source: CheckSource::Written {
            path: RepoPath::new(language.file(&script))?,
        },
        grade: Grade::WrongOutputGone,
        as_test: language.as_test(
            &script,
            bench.project(),
            run.request().issue.title(),
            bench.command.as_ref().and_then(|command| command.runner),
        ),
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
fn asserts_what_is_stated(language: TestLanguage, script: &str, issue: &str) -> bool {
    let stated = plain(issue);
    let expected = language.expected(script);
    expected.is_some_and(|values| values.iter().all(|value| stated.contains(&plain(value))))
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
    Raised {
        /// The type of the exception.
        kind: String,
        /// Its message, where the language tells it from the type.
        message: String,
        /// The test's own line raised it, and nothing that this line calls.
        by_the_test: bool,
        /// The line of the test that raised or led to it, or what is asserted there.
        line: String,
        /// The exception says that the test itself is wrong.
        is_own_fault: bool,
    },
    TimedOut,
    Broken(String),
}

impl WrittenEnd {
    /// Returns the end of a test that shows no exception.
    fn broken(stderr: &str) -> Self {
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
        Self::Broken(last.unwrap_or("it ended early").to_owned())
    }

    /// Returns why it fails, where that is what the issue says; two tests agree that have the same reason.
    fn reason(&self, issue: &str) -> Option<String> {
        match self {
            Self::Raised { kind, line, .. } if kind == "AssertionError" => {
                Some(plain(line)).filter(|line| !line.is_empty())
            }
            Self::Raised {
                kind,
                message,
                by_the_test,
                ..
            } if issue.contains(kind.as_str()) => {
                let raised = Exception {
                    kind: kind.clone(),
                    message: message.clone(),
                };
                let shown: Vec<Exception> = tracebacks(issue)
                    .into_iter()
                    .map(|shown| shown.exception)
                    .filter(|shown| shown.name() == kind)
                    .collect();
                // A test may call wrongly what the issue has a like exception of.
                let is_meant = if shown.is_empty() {
                    !by_the_test
                } else {
                    shown.iter().any(|shown| raised.is_like(shown))
                };
                is_meant.then(|| kind.clone())
            }
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
            Self::Raised {
                kind,
                is_own_fault: true,
                ..
            } => CheckState::OtherError { what: kind },
            Self::Raised { .. } => CheckState::Present,
        }
    }
}

impl TestBench {
    /// Runs a written test on a changed tree; its file tells the language.
    pub(crate) async fn run_written(
        &self,
        path: &RepoPath,
        script: &str,
        changes: &ChangedFiles,
    ) -> Result<(WrittenEnd, ProgramRun), EngineError> {
        let Some(marker) = marker() else {
            return Ok((
                WrittenEnd::Broken("it cannot be run".to_owned()),
                ProgramRun::none("it cannot be run"),
            ));
        };
        let language = TestLanguage::of_test(path);
        let check = language.check(script, self.project(), marker);
        let limits = Limits {
            time: TIME,
            ..Limits::default()
        };
        let (words, outcome) = self.run_any(&check, changes, limits).await?;
        let run = program_run(&words, "", &outcome);
        let end = match outcome.end {
            End::Exited(0) => WrittenEnd::Passed,
            End::TimeUsedUp(_) => WrittenEnd::TimedOut,
            _ => language.end(&run.stderr.text, script),
        };
        Ok((end, run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_issue_states_may_be_asserted() {
        let issue = "`slugify('a b')` gives `ab`, and I expect 'a-b'";
        let check = |script: &str| asserts_what_is_stated(TestLanguage::Python, script, issue);
        assert!(check("assert slugify('a b') == 'a-b'"));
        assert!(!check("assert slugify('a b') == 'a_b'"));
        assert!(!check("print(slugify('a b'))"), "nothing is asserted");
        let check = |script: &str| asserts_what_is_stated(TestLanguage::JavaScript, script, issue);
        assert!(check("assert.strictEqual(slugify('a b'), 'a-b');"));
        assert!(!check("assert.strictEqual(slugify('a b'), 'a_b');"));
        assert!(!check("console.log(slugify('a b'));"), "nothing is asserted");
    }

    #[test]
    fn what_a_change_does_to_a_test_is_told_by_how_the_test_ends() {
        let mut on_base = ProgramRun::none("");
        on_base.stderr.text = "AssertionError [ERR_ASSERTION]: -1 !== 3".to_owned();
        let check = |kind: &str, is_own_fault| {
            let end = WrittenEnd::Raised {
                kind: kind.to_owned(),
                message: String::new(),
                by_the_test: false,
                line: String::new(),
                is_own_fault,
            };
            end.state(Grade::WrongOutputGone, &on_base)
        };
        assert!(matches!(check("AssertionError", false), CheckState::Present));
        assert!(matches!(check("RangeError", false), CheckState::Present));
        assert!(matches!(check("SyntaxError", true), CheckState::OtherError { .. }));
        let passed = WrittenEnd::Passed.state(Grade::WrongOutputGone, &on_base);
        assert!(matches!(passed, CheckState::Gone { .. }));
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
}
