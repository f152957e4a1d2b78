//! What shows the fault: tests that the person names, or a log that the person gives; the checks that a program makes out of the issue; and tests of the
//! project that fail on the base and are about what the issue is about.

use crate::EngineError;
use crate::runs::bench::{BaseResults, IssueCheck, SUITE_TIME, TestBench, candidates, is_meant, tells_file, test_name};
use crate::runs::code_names::{named, words};
use crate::runs::evidence::regression::{files_of_check, given_file};
use crate::runs::roles::RoleResult;
use crate::runs::workspace::Workspace;
use magis_core::text::count;
use magis_core::{
    BlobId, BugCheck, CheckId, CheckSource, Grade, Hint, IssueChecks, RepoPath, RunEvent, TestName, TestsMode,
};
use magis_evidence::reproduction::{CheckCommand, Exception, Fault, Observation, ProjectInUse, as_test, tracebacks};
use magis_evidence::results::{TestId, failed_in_log};
use magis_flow::Run;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// Checks of the issue that are kept: the strongest, and one beside it.
const KEPT: usize = 2;
/// Checks of the issue that are tried: each costs a run of its own.
const TRIED: usize = 12;
/// After so many that do not end, no further one is tried.
const MOST_HANGING: usize = 2;
/// How long all tests may take where the issue itself shows the fault: a run does not wait a minute for what it can do without.
const FAST_SUITE: Duration = Duration::from_secs(16);
/// So many failing tests may be about one fault; more are a project that is red for another reason.
const MOST_FAILING: usize = 20;
/// Failing tests that are taken of a file whose tests do not name it.
const MOST_OF_FILE: usize = 4;

/// Looks for what shows the fault, runs it on the base, and keeps what fails there as the issue says.
pub(crate) async fn show_fault(work: &mut Workspace, run: &Run) -> RoleResult {
    let TestsMode::Run { failing, checks, .. } = run.request().tests.clone() else {
        return Ok(nothing("the run was asked to run nothing".to_owned()));
    };
    let project = work.project_in_use()?;
    let files = work.files()?.readable.iter();
    let files: Vec<RepoPath> = files.map(|(path, _)| path.clone()).collect();
    let mut tests: Vec<GivenTest> = failing.iter().map(|word| GivenTest::named(word, &files)).collect();
    let of_logs = tests_of_logs(run, &tests, &work.files()?.readable);
    let bench = match work.bench(run).await? {
        Ok(bench) => bench,
        Err(why) => return Ok(nothing(format!("nothing was run: {why}"))),
    };
    let (mut of_issue, mut said_of_issue) = (Vec::new(), Vec::new());
    if let Some(why) = bench.only_command.clone().filter(|_| checks == IssueChecks::Make) {
        said_of_issue.push(why);
    } else if checks == IssueChecks::Make {
        shown_by_issue(bench, run, &project, &mut of_issue, &mut said_of_issue).await?;
    }
    let (mut found, mut remarks) = (Vec::new(), Vec::new());
    if bench.command.is_some() {
        // A test without a file is found among all tests alone.
        let is_fileless = tests.iter().chain(&of_logs).any(|test| test.file.is_none());
        let time = if of_issue.is_empty() || is_fileless {
            SUITE_TIME
        } else {
            FAST_SUITE
        };
        run_suite(bench, time, &mut remarks).await?;
        if of_logs.len() > MOST_FAILING {
            let named = count(of_logs.len(), "failed test");
            remarks.push(format!("the log names {named}, of which {MOST_FAILING} are looked at"));
        }
        tests.extend(of_logs.into_iter().take(MOST_FAILING));
    }
    let mut runs = FileRuns::new();
    for test in &tests {
        given(bench, test, &files, &mut runs, &mut found, &mut remarks).await?;
    }
    if found.is_empty() {
        red(bench, run, &mut found);
    }
    for check in &mut found {
        check.reached = bench.reached_by_tests(&files_of_check(bench, check)).await?;
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
            remarks.extend(base.gap.clone());
            bench.whole = Some(base);
        }
        Err(trouble) => remarks.push(format!("the tests of the project gave no results: {}", trouble.why)),
    }
    Ok(())
}

/// A test that fails, as a person says or a log that the person gives.
#[derive(Debug, PartialEq, Eq)]
struct GivenTest {
    /// A file, or a name as the runner or its report has it.
    word: String,
    /// What is run where the run of all tests does not have it.
    file: Option<RepoPath>,
}

impl GivenTest {
    /// Makes one of a person's word; `files` are those of the base tree.
    fn named(word: &str, files: &[RepoPath]) -> Self {
        Self {
            word: word.to_owned(),
            file: given_file(word).filter(|file| files.contains(file)),
        }
    }

    /// Makes one of a test that a log names; `files` are those of the base tree.
    fn logged(id: &TestId, files: &[(RepoPath, BlobId)]) -> Self {
        // The dotted name of a class begins with its file: `tests.test_calc.CalcCase`.
        let dots = id.group.match_indices('.').map(|(at, _)| at);
        let modules = dots.chain([id.group.len()]);
        let modules = modules.map(|end| format!("{}.py", id.group[..end].replace('.', "/")));
        let paths: Vec<String> = match &id.file {
            Some(file) => vec![file.clone()],
            // Vitest's groups are the files themselves.
            None if Path::new(&id.group).extension().is_some() && id.group.contains('/') => vec![id.group.clone()],
            None => modules.rev().collect(),
        };
        let file = paths.iter().find_map(|path| file_in_tree(path, files));
        let word = match &file {
            Some(file) if paths.iter().any(|path| path == file.as_str()) => word_of(id, file),
            _ => test_name(id).0,
        };
        Self { word, file }
    }
}

/// Returns a test as a person names it: the file, the class, the test.
fn word_of(id: &TestId, file: &RepoPath) -> String {
    let module = file.as_str().trim_end_matches(".py").replace('/', ".");
    let class = match id.group.strip_prefix(module.as_str()) {
        Some(class) => class,
        None if id.group == file.as_str() => "",
        None => &id.group,
    };
    let parts = [file.as_str(), class.trim_start_matches('.'), id.name.as_str()];
    let there: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    there.join("::")
}

/// Returns the file at a path that a log has, or the only one whose path ends so: a runner may start in a folder of the tree.
fn file_in_tree(path: &str, files: &[(RepoPath, BlobId)]) -> Option<RepoPath> {
    if let Ok(at) = files.binary_search_by(|(known, _)| known.as_str().cmp(path)) {
        return Some(files[at].0.clone());
    }
    let is_below = |known: &RepoPath| {
        known
            .as_str()
            .strip_suffix(path)
            .is_some_and(|folder| folder.ends_with('/'))
    };
    let mut below = files.iter().filter(|(known, _)| is_below(known));
    let (only, _) = below.next()?;
    below.next().is_none().then(|| only.clone())
}

/// Returns the logs of failing runs that reach the agents.
fn logs(run: &Run) -> impl Iterator<Item = &str> {
    run.hints().iter().filter_map(|hint| match hint {
        Hint::FailingLog(text) => Some(text.as_str()),
        Hint::Comments(_) | Hint::Word(_) => None,
    })
}

/// Returns the tests that the logs name as failed and that the person does not name as well.
fn tests_of_logs(run: &Run, named: &[GivenTest], files: &[(RepoPath, BlobId)]) -> Vec<GivenTest> {
    let failed: BTreeSet<TestId> = logs(run).flat_map(failed_in_log).collect();
    let tests = failed.iter().map(|id| GivenTest::logged(id, files));
    let is_named = |test: &GivenTest| {
        let name = TestName(test.word.clone());
        named.iter().any(|known| is_meant(&name, &known.word))
    };
    tests.filter(|test| !is_named(test)).collect()
}

/// What the tests of files give on the base, so that none is run again for each of its tests; all tests where there is no file.
type FileRuns = BTreeMap<Option<RepoPath>, Result<BaseResults, String>>;

/// Takes a test that is given as failing; `files` are those of the base tree.
async fn given(
    bench: &TestBench,
    test: &GivenTest,
    files: &[RepoPath],
    runs: &mut FileRuns,
    found: &mut Vec<BugCheck>,
    remarks: &mut Vec<String>,
) -> Result<(), EngineError> {
    let word = test.word.as_str();
    let is_known = |whole: &&BaseResults| {
        // Without a file, all tests would only be run once more.
        test.file.is_none() || whole.statuses.keys().any(|name| whole.is_meant(name, word))
    };
    let base = match bench.whole.as_ref().filter(is_known) {
        Some(whole) => whole,
        None => {
            let files: Vec<RepoPath> = test.file.iter().cloned().collect();
            let run = match runs.remove(&test.file) {
                Some(run) => run,
                None => {
                    let run = bench.run_on_base(&files, SUITE_TIME).await?;
                    run.map_err(|trouble| trouble.why)
                }
            };
            match runs.entry(test.file.clone()).or_insert(run) {
                Ok(base) => &*base,
                Err(why) => {
                    remarks.push(format!("the test {word} could not be run: {why}"));
                    return Ok(());
                }
            }
        }
    };
    let meant: Vec<&TestName> = base.failing().filter(|name| base.is_meant(name, word)).collect();
    if !meant.is_empty() {
        found.push(given_check(base, word.to_owned(), &meant));
        return Ok(());
    }
    // The names of its tests do not say that they are of this file, but no others were run.
    let is_alone =
        |file: &RepoPath| file.as_str() == word && base.files == [file.clone()] && is_narrow(bench, base, files);
    let is_of_file = test.file.as_ref().is_some_and(is_alone) && !base.statuses.keys().any(tells_file);
    let mut of_file: Vec<&TestName> = base.failing().filter(|_| is_of_file).collect();
    let own = |name: &TestName| name.0.rsplit("::").next().unwrap_or(&name.0).to_owned();
    let mut seen = BTreeSet::new();
    of_file.retain(|name| seen.insert(own(name)));
    if of_file.len() > MOST_OF_FILE {
        let named = count(of_file.len(), "failing test");
        remarks.push(format!("{word} has {named}, of which {MOST_OF_FILE} are looked at"));
    }
    for name in of_file.iter().take(MOST_OF_FILE) {
        found.push(given_check(base, format!("{word}::{}", own(name)), &[*name]));
    }
    if of_file.is_empty() {
        let is_there = base.statuses.keys().any(|name| is_of_file || base.is_meant(name, word));
        remarks.push(if is_there {
            format!("the test {word} does not fail on the base, so it shows nothing")
        } else {
            format!("there is no test {word}")
        });
    }
    Ok(())
}

/// Returns whether a run of one file gave fewer tests than that of all, where there are other files of tests: a script may run all of them whatever it is
/// given.
fn is_narrow(bench: &TestBench, base: &BaseResults, files: &[RepoPath]) -> bool {
    let is_test = |path: &&RepoPath| bench.command.as_ref().is_some_and(|command| command.is_test_file(path));
    let is_same = |whole: &BaseResults| whole.statuses.keys().eq(base.statuses.keys());
    files.iter().filter(is_test).count() < 2 || !bench.whole.as_ref().is_some_and(is_same)
}

/// Makes the check of a given test: `meant` are the failing ones that its word means.
fn given_check(base: &BaseResults, word: String, meant: &[&TestName]) -> BugCheck {
    let said: Vec<&str> = meant
        .iter()
        .filter_map(|name| base.messages.get(*name))
        .map(String::as_str)
        .collect();
    let mut on_base = base.run.clone();
    on_base.stdout = magis_core::ExcerptedOutput::of(&said.join("\n\n"), 0);
    BugCheck {
        id: CheckId(0),
        source: CheckSource::Given { test: word },
        grade: Grade::ExpectedResult,
        script: on_base.command.clone(),
        as_test: None,
        on_base,
        reached: Vec::new(),
        warnings: Vec::new(),
    }
}

/// Takes the tests that fail on the base and are about what the issue is about.
fn red(bench: &TestBench, run: &Run, found: &mut Vec<BugCheck>) {
    // That a command fails as a whole says nothing of what the issue is about.
    let Some(whole) = bench.whole.as_ref().filter(|whole| !whole.only_status) else {
        return;
    };
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
        warnings: Vec::new(),
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
    let (mut tried, mut hanging, mut lacks, mut why) = (0, 0, false, None);
    for (number, check) in candidates(run, project).take(TRIED) {
        if hanging == MOST_HANGING {
            break;
        }
        tried += 1;
        match bench.try_check(check).await? {
            Ok(shown) => {
                hanging += usize::from(shown.base == Observation::TimedOut);
                bench.issue_checks.insert(number, shown);
            }
            Err(nothing) => {
                hanging += usize::from(nothing.hangs);
                // What is missing is the reason that a person can do something about.
                if !lacks {
                    lacks = nothing.lacks;
                    why = Some(nothing.why);
                }
            }
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
    let raised = logs(run).flat_map(tracebacks).map(|traceback| traceback.exception);
    let raised: Vec<Exception> = raised.collect();
    let strength = |check: &IssueCheck| (raises_any(&check.found.faults, &raised), check.found.attainable());
    let mut shown: Vec<u32> = bench.issue_checks.keys().copied().collect();
    shown.sort_by_key(|number| std::cmp::Reverse(strength(&bench.issue_checks[number])));
    let best = bench.issue_checks.values().map(|check| check.found.attainable()).max();
    // What proves less than the strongest adds nothing to it, and is wrong more often, unless a log shows it, too.
    shown.retain(|number| {
        let (is_logged, grade) = strength(&bench.issue_checks[number]);
        is_logged || Some(grade) == best
    });
    shown.truncate(KEPT);
    bench.issue_checks.retain(|number, _| shown.contains(number));
    for number in &shown {
        let check = &bench.issue_checks[number];
        let script = match &check.check.command {
            CheckCommand::Python(_) | CheckCommand::JavaScript(_) | CheckCommand::Rust => check.check.steps.join("\n"),
            CheckCommand::Shell(lines) => lines.clone(),
        };
        // What is ended before its end tells nothing of what it entered.
        let reached = match &check.base {
            Observation::TimedOut => Vec::new(),
            base => bench.reached_by(&check.check, base.reached()).await?,
        };
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
                bench.command.as_ref().and_then(|command| command.runner),
            )),
            on_base: check.run.clone(),
            reached,
            warnings: check.check.warnings.clone(),
        });
    }
    Ok(())
}

/// Returns whether one of the faults is an exception that a log shows.
fn raises_any(faults: &[Fault], logged: &[Exception]) -> bool {
    let is_logged = |raised: &Exception| {
        let is_same = |shown: &Exception| raised.name() == shown.name() && raised.is_like(shown);
        logged.iter().any(is_same)
    };
    faults
        .iter()
        .any(|fault| matches!(fault, Fault::Raised { exception, .. } if is_logged(exception)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_evidence::reproduction::FaultPlace;

    /// Takes the one test that a log names as failed: the word for it, and the file that is run.
    fn check(log: &str, tree: &[&str], expected: (&str, Option<&str>)) {
        let file = |path: &&str| (RepoPath::new(*path).unwrap(), BlobId(String::new()));
        let tree: Vec<(RepoPath, BlobId)> = tree.iter().map(file).collect();
        let ids = failed_in_log(log);
        assert_eq!(ids.len(), 1, "{ids:?}");
        let test = GivenTest::logged(&ids[0], &tree);
        assert_eq!((test.word.as_str(), test.file.as_ref().map(RepoPath::as_str)), expected);
        assert!(is_meant(&test_name(&ids[0]), &test.word), "{test:?}");
    }

    #[test]
    fn a_test_of_a_log_is_named_by_its_file_where_the_tree_has_it() {
        check(
            "FAILED tests/test_calc.py::Calc::test_adds[1-2] - assert 3 == 4\n",
            &["calc.py", "tests/test_calc.py"],
            ("tests/test_calc.py::Calc::test_adds[1-2]", Some("tests/test_calc.py")),
        );
        check(
            "FAIL: test_adds (tests.test_calc.Calc.test_adds)\n",
            &["calc.py", "tests/test_calc.py"],
            ("tests/test_calc.py::Calc::test_adds", Some("tests/test_calc.py")),
        );
        check(
            " FAIL  src/calc.test.ts > adds\nAssertionError: expected 3 to be 4\n\n Test Files  1 failed (1)\n      Tests  1 failed (1)\n",
            &["src/calc.test.ts", "src/calc.ts"],
            ("src/calc.test.ts::adds", Some("src/calc.test.ts")),
        );
        check(
            "FAILED tests/test_gone.py::test_adds\n",
            &["calc.py"],
            ("tests/test_gone.py::tests.test_gone::test_adds", None),
        );
    }

    #[test]
    fn a_runner_that_starts_in_a_folder_of_the_tree_is_understood_where_one_file_alone_is_meant() {
        let log = "FAIL: test_adds (test_calc.Calc)\n";
        let word = "test_calc.Calc::test_adds";
        check(
            log,
            &["back/tests/test_calc.py"],
            (word, Some("back/tests/test_calc.py")),
        );
        check(log, &["back/test_calc.py", "front/test_calc.py"], (word, None));
    }

    #[test]
    fn a_test_that_a_person_names_is_run_by_its_file_where_the_word_begins_with_one() {
        let files = [RepoPath::new("tests/test_calc.py").unwrap()];
        let file = |word: &str| GivenTest::named(word, &files).file;
        assert_eq!(file("tests/test_calc.py::Calc::test_adds").as_ref(), files.first());
        assert_eq!(file("tests.test_calc.Calc.test_adds"), None);
        assert_eq!(file("tests/test_gone.py"), None);
    }

    #[test]
    fn a_logged_exception_is_that_of_a_check_by_type_and_message() {
        let exception = |kind: &str, message: &str| Exception {
            kind: kind.to_owned(),
            message: message.to_owned(),
        };
        let faults = [Fault::Raised {
            claim: 0,
            at: FaultPlace::Whole,
            exception: exception("ValueError", "no amount in line 7"),
        }];
        assert!(raises_any(&faults, &[exception("ValueError", "no amount in line 3")]));
        assert!(!raises_any(&faults, &[exception("ValueError", "unknown day of month")]));
        assert!(!raises_any(&faults, &[exception("TypeError", "no amount in line 7")]));
        assert!(!raises_any(
            &[Fault::Missing { claim: 0 }],
            &[exception("ValueError", "")]
        ));
    }
}
