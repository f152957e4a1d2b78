//! What shows the fault: tests that the person names, the checks that a program makes out of the issue, and tests of the project that fail on the
//! base and are about what the issue is about.

use crate::EngineError;
use crate::runs::bench::{SUITE_TIME, TestBench, candidates};
use crate::runs::roles::RoleResult;
use crate::runs::workspace::Workspace;
use magis_core::text::count;
use magis_core::{
    BugCheck, CheckId, CheckSource, FunctionAt, Grade, IssueChecks, RepoPath, RunEvent, TestName, TestsMode,
};
use magis_evidence::reproduction::{CheckCommand, ProjectInUse, as_test};
use magis_flow::Run;
use std::collections::BTreeSet;
use std::time::Duration;

/// Checks of the issue that are kept: the strongest, and one beside it.
const KEPT: usize = 2;
/// Checks of the issue that are tried: each costs a run of its own.
const TRIED: usize = 12;
/// How long all tests may take where the issue itself shows the fault: a run does not wait a minute for what it can do without.
const FAST_SUITE: Duration = Duration::from_secs(16);
/// So many failing tests may be about one fault; more are a project that is red for another reason.
const MOST_FAILING: usize = 20;
/// Functions that a check enters, as far as they are recorded.
const MOST_REACHED: usize = 200;

/// Looks for what shows the fault, runs it on the base, and keeps what fails there as the issue says.
pub(crate) async fn show_fault(work: &mut Workspace, run: &Run) -> RoleResult {
    let TestsMode::Run { failing, checks, .. } = run.request().tests.clone() else {
        return Ok(nothing("the run was asked to run nothing".to_owned()));
    };
    let project = work.project_in_use()?;
    let bench = match work.bench(run).await? {
        Ok(bench) => bench,
        Err(why) => return Ok(nothing(format!("nothing was run: {why}"))),
    };
    let (mut of_issue, mut said_of_issue) = (Vec::new(), Vec::new());
    if checks == IssueChecks::Make {
        shown_by_issue(bench, run, &project, &mut of_issue, &mut said_of_issue).await?;
    }
    let (mut found, mut remarks) = (Vec::new(), Vec::new());
    if bench.command.is_some() {
        let is_shown = of_issue.iter().any(|check: &BugCheck| check.grade.is_strong());
        let time = if is_shown { FAST_SUITE } else { SUITE_TIME };
        run_suite(bench, time, &mut remarks).await?;
    }
    for test in &failing {
        given(bench, test, &mut found, &mut remarks).await?;
    }
    if found.is_empty() {
        red(bench, run, &mut found);
    }
    found.append(&mut of_issue);
    remarks.append(&mut said_of_issue);
    for (number, check) in (1..).zip(&mut found) {
        check.id = CheckId(number);
    }
    Ok(RunEvent::FaultShown { checks: found, remarks })
}

fn nothing(why: String) -> RunEvent {
    RunEvent::FaultShown {
        checks: Vec::new(),
        remarks: vec![why],
    }
}

/// Runs all tests on the base, twice; a suite that takes longer is narrowed down when it is known what changes.
async fn run_suite(bench: &mut TestBench, time: Duration, remarks: &mut Vec<String>) -> Result<(), EngineError> {
    match bench.run_on_base(&[], time).await? {
        Ok(base) => {
            if !base.wavering.is_empty() {
                let names: Vec<&str> = base.wavering.iter().map(|name| name.0.as_str()).take(5).collect();
                remarks.push(format!(
                    "{} do not come out the same twice and are set aside: {}",
                    count(base.wavering.len(), "test"),
                    names.join(", ")
                ));
            }
            bench.whole = Some(base);
        }
        Err(trouble) => remarks.push(format!("the tests of the project gave no results: {}", trouble.why)),
    }
    Ok(())
}

/// Takes a test that the person names as failing: a file, or a name as the runner or its report has it.
async fn given(
    bench: &mut TestBench,
    test: &str,
    found: &mut Vec<BugCheck>,
    remarks: &mut Vec<String>,
) -> Result<(), EngineError> {
    let file = test.split("::").next().and_then(|file| RepoPath::new(file).ok());
    let file = file.filter(|_| test.contains(['/', '.']));
    let known = bench
        .whole
        .as_ref()
        .is_some_and(|whole| whole.statuses.keys().any(|name| is_meant(name, test)));
    let fresh = if known {
        None
    } else {
        let files: Vec<RepoPath> = file.into_iter().collect();
        match bench.run_on_base(&files, SUITE_TIME).await? {
            Ok(base) => Some(base),
            Err(trouble) => {
                remarks.push(format!("the test {test} could not be run: {}", trouble.why));
                return Ok(());
            }
        }
    };
    let Some(base) = fresh.as_ref().or(bench.whole.as_ref()) else {
        return Ok(());
    };
    let meant: Vec<TestName> = base.failing().filter(|name| is_meant(name, test)).cloned().collect();
    if meant.is_empty() {
        let is_there = base.statuses.keys().any(|name| is_meant(name, test));
        remarks.push(if is_there {
            format!("the test {test} does not fail on the base, so it shows nothing")
        } else {
            format!("there is no test {test}")
        });
        return Ok(());
    }
    let said: Vec<&str> = meant
        .iter()
        .filter_map(|name| base.messages.get(name))
        .map(String::as_str)
        .collect();
    let mut on_base = base.run.clone();
    on_base.stdout = magis_core::ExcerptedOutput::of(&said.join("\n\n"), 0);
    found.push(BugCheck {
        id: CheckId(0),
        source: CheckSource::Given { test: test.to_owned() },
        grade: Grade::ExpectedResult,
        script: on_base.command.clone(),
        as_test: None,
        on_base,
        reached: Vec::new(),
    });
    Ok(())
}

/// Returns whether a person's word for a test means this one.
pub(super) fn is_meant(name: &TestName, word: &str) -> bool {
    let Some((file, rest)) = word.split_once("::") else {
        return name.0 == word || name.0.starts_with(&format!("{word}::")) || name.0.ends_with(&format!("::{word}"));
    };
    // Reports give a class as a dotted name, and a parameter in brackets.
    let last = rest.rsplit("::").next().unwrap_or(rest);
    let own = name.0.rsplit("::").next().unwrap_or(&name.0);
    let same_file =
        name.0.starts_with(file) || name.0.contains(file.trim_end_matches(".py").replace('/', ".").as_str());
    same_file && (own == last || own.split('[').next() == Some(last))
}

/// Takes the tests that fail on the base and are about what the issue is about.
fn red(bench: &TestBench, run: &Run, found: &mut Vec<BugCheck>) {
    let Some(whole) = &bench.whole else { return };
    let failing: Vec<&TestName> = whole.failing().collect();
    if failing.is_empty() || failing.len() > MOST_FAILING {
        return;
    }
    let issue = named(run.issue_text());
    let is_about = |name: &TestName| {
        let said = whole.messages.get(name).map_or("", String::as_str);
        words(&name.0).chain(words(said)).any(|word| issue.contains(word))
    };
    let about: Vec<TestName> = failing.into_iter().filter(|name| is_about(name)).cloned().collect();
    if about.is_empty() {
        return;
    }
    let said: Vec<&str> = about
        .iter()
        .filter_map(|name| whole.messages.get(name))
        .map(String::as_str)
        .collect();
    let mut on_base = whole.run.clone();
    on_base.stdout = magis_core::ExcerptedOutput::of(&said.join("\n\n"), 0);
    found.push(BugCheck {
        id: CheckId(0),
        source: CheckSource::FailingTests { tests: about },
        grade: Grade::ExpectedResult,
        script: on_base.command.clone(),
        as_test: None,
        on_base,
        reached: Vec::new(),
    });
}

/// Makes checks out of the issue's text and keeps the strongest that show on the base what it says.
async fn shown_by_issue(
    bench: &mut TestBench,
    run: &Run,
    project: &ProjectInUse,
    found: &mut Vec<BugCheck>,
    remarks: &mut Vec<String>,
) -> Result<(), EngineError> {
    let (mut tried, mut why) = (0, None);
    for (number, check) in candidates(run, project).take(TRIED) {
        tried += 1;
        match bench.try_check(check).await? {
            Ok(shown) => {
                bench.issue_checks.insert(number, shown);
            }
            Err(nothing) => why = Some(nothing),
        }
    }
    if tried == 0 {
        remarks.push("the issue shows nothing that a program could run".to_owned());
    } else if bench.issue_checks.is_empty() {
        let why = why.unwrap_or_default();
        remarks.push(match tried {
            1 => format!("the example of the issue does not show the fault: {why}"),
            _ => format!("none of the {tried} examples of the issue shows the fault: {why}"),
        });
    }
    let mut shown: Vec<u32> = bench.issue_checks.keys().copied().collect();
    shown.sort_by_key(|number| std::cmp::Reverse(bench.issue_checks[number].found.attainable()));
    let best = shown
        .first()
        .map(|number| bench.issue_checks[number].found.attainable());
    // What proves less than the strongest adds nothing to it, and is wrong more often.
    shown.retain(|number| Some(bench.issue_checks[number].found.attainable()) == best);
    shown.truncate(KEPT);
    bench.issue_checks.retain(|number, _| shown.contains(number));
    for (number, check) in &bench.issue_checks {
        let script = match &check.check.command {
            CheckCommand::Python(_) | CheckCommand::JavaScript(_) | CheckCommand::Rust => check.check.steps.join("\n"),
            CheckCommand::Shell(lines) => lines.clone(),
        };
        let reached = check.base.reached().iter().filter_map(|function| {
            Some(FunctionAt {
                path: RepoPath::new(&function.0).ok()?,
                line: function.1,
                name: function.2.clone(),
                missed: function.3.clone(),
            })
        });
        found.push(BugCheck {
            id: CheckId(0),
            source: CheckSource::Issue { number: *number },
            grade: check.found.attainable(),
            script,
            as_test: Some(as_test(
                &check.check,
                &check.base,
                &check.found,
                run.request().issue.title(),
            )),
            on_base: check.run.clone(),
            reached: reached.take(MOST_REACHED).collect(),
        });
    }
    Ok(())
}

/// Returns the names of code that a text gives: words with an underscore or a capital inside, words that are called, quoted, or raised.
fn named(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for (at, word) in word_places(text) {
        let before = text[..at].chars().next_back();
        let behind = text[at + word.len()..].chars().next();
        let inner_capital = word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase);
        let is_code =
            word.contains('_') || inner_capital || behind == Some('(') || before == Some('`') || before == Some('.');
        if is_code && word.len() > 2 && !GENERAL.contains(&word) {
            found.insert(word);
        }
    }
    found
}

/// Names that stand in the output of any failing test.
const GENERAL: [&str; 14] = [
    "AssertionError",
    "Traceback",
    "TestCase",
    "assertEqual",
    "assert_eq",
    "self",
    "print",
    "repr",
    "len",
    "str",
    "list",
    "dict",
    "__init__",
    "test",
];

fn words(text: &str) -> impl Iterator<Item = &str> {
    word_places(text).map(|(_, word)| word)
}

fn word_places(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}
