//! The tests that judge changes: those that reach the changed files, nearest first, within a budget of time; all of them where they are fast.

use crate::EngineError;
use crate::custodian::commit_history;
use crate::evidence::{TestFile, nearest};
use crate::runs::bench::{BaseResults, BaseTrouble, SUITE_TIME, TestBench};
use crate::runs::roles::RoleResult;
use crate::runs::workspace::Workspace;
use magis_core::{BaseTests, BugCheck, CheckSource, RepoPath, RunEvent, TestName, TestsMode};
use magis_evidence::commands::TestCommand;
use magis_flow::Run;
use magis_syntax::outline;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Duration;

/// All tests are run for each attempt where they take no longer than this.
const QUICK: Duration = Duration::from_secs(8);
/// How long the nearest tests may take together, in seconds, as far as it is known from a run of all.
const NEAREST_SECONDS: f64 = 8.0;
/// How many files of tests are run where it is not known how long they take.
const UNKNOWN: usize = 6;
/// Files of tests that are looked at.
const LOOKED_AT: usize = 3_000;

/// Runs the tests nearest to the changes on the base, twice: what fails there is not held against a change, and what wavers is set aside.
pub(crate) async fn test_base(work: &mut Workspace, run: &Run) -> RoleResult {
    let covers: Vec<RepoPath> = run.tasks().map(|state| state.task.path.clone()).collect();
    let bench = match work.bench(run).await? {
        Ok(bench) => bench,
        Err(why) => return Ok(event(none(covers, why))),
    };
    bench.lost = None;
    let is_by_name = |check: &BugCheck| match &check.source {
        CheckSource::FailingTests { .. } => true,
        CheckSource::Given { test } => !given_file(test).is_some_and(|file| bench.has_file(&file)),
        CheckSource::Issue { .. } | CheckSource::Written { .. } => false,
    };
    let by_name: Vec<&BugCheck> = run.checks().iter().filter(|check| is_by_name(check)).collect();
    let is_narrow = bench.command.as_ref().is_some_and(TestCommand::takes_files);
    if bench.whole.is_none() && (!is_narrow || !by_name.is_empty()) {
        // What stands on tests by their names was found by running all of them; the run was taken up again since.
        match bench.run_on_base(&[], SUITE_TIME).await? {
            Ok(whole) => bench.whole = Some(whole),
            Err(found) if !is_narrow => return Ok(event(without_results(covers, found))),
            Err(_) => {}
        }
    }
    let needs_whole = |whole: &BaseResults| {
        let mut named = by_name.iter().flat_map(|check| meant(check, whole));
        whole.took <= QUICK || !is_narrow || named.any(|test| !whole.places.contains_key(test))
    };
    if bench.whole.as_ref().is_some_and(needs_whole) {
        bench.judging.clone_from(&bench.whole);
        return Ok(event(recorded(covers, bench.judging.as_ref(), 0, None)));
    }
    let ranked = nearest_tests(work, run, &covers).await?;
    // A test that a person names need not begin with its file.
    let there: BTreeSet<RepoPath> = work.files()?.readable.iter().map(|(path, _)| path.clone()).collect();
    let bench = match work.bench(run).await? {
        Ok(bench) => bench,
        Err(why) => return Ok(event(none(covers, why))),
    };
    // The tests that show the fault are run in any case.
    let of_checks: BTreeSet<RepoPath> = run
        .checks()
        .iter()
        .flat_map(|check| files_of_check(bench, check))
        .filter(|file| there.contains(file))
        .collect();
    let near = within_budget(bench.whole.as_ref().map(|whole| &whole.seconds), &ranked);
    let near = near.into_iter().filter(|file| !of_checks.contains(file));
    let mut files: Vec<RepoPath> = of_checks.iter().cloned().chain(near).collect();
    let mut trouble = None;
    bench.judging = None;
    if files.is_empty() {
        trouble = Some("no test reaches the files to change".to_owned());
    }
    while bench.judging.is_none() && !files.is_empty() {
        match bench.run_on_base(&files, SUITE_TIME).await? {
            Ok(base) => bench.judging = Some(base),
            Err(found) if bench.whole.is_some() => {
                // All tests are known to end in time.
                bench.judging.clone_from(&bench.whole);
                trouble = Some(found.why);
            }
            // What gives no results with several files, because it takes too long, may with fewer.
            Err(_) if files.len() > 1 => files.truncate(files.len() / 2),
            Err(found) => return Ok(event(without_results(covers, found))),
        }
    }
    let left_out = ranked.iter().filter(|file| !files.contains(file)).count() as u32;
    Ok(event(recorded(covers, bench.judging.as_ref(), left_out, trouble)))
}

fn event(tests: BaseTests) -> RunEvent {
    RunEvent::BaseTested { tests: Box::new(tests) }
}

fn none(covers: Vec<RepoPath>, why: String) -> BaseTests {
    recorded(covers, None, 0, Some(why))
}

fn without_results(covers: Vec<RepoPath>, trouble: BaseTrouble) -> BaseTests {
    BaseTests {
        run: trouble.run,
        ..none(covers, trouble.why)
    }
}

fn recorded(covers: Vec<RepoPath>, base: Option<&BaseResults>, left_out: u32, trouble: Option<String>) -> BaseTests {
    BaseTests {
        covers,
        files: base.map(|base| base.files.clone()).unwrap_or_default(),
        left_out,
        passed: base.map_or(0, BaseResults::passed),
        failing: base.into_iter().flat_map(BaseResults::failing).cloned().collect(),
        wavering: base.into_iter().flat_map(|base| &base.wavering).cloned().collect(),
        run: base.map(|base| base.run.clone()),
        incomplete: trouble.or_else(|| base.and_then(|base| base.gap.clone())),
    }
}

/// Ranks the files of tests that reach the files to change.
pub(super) async fn nearest_tests(
    work: &mut Workspace,
    run: &Run,
    covers: &[RepoPath],
) -> Result<Vec<RepoPath>, EngineError> {
    let Ok(bench) = work.bench(run).await? else {
        return Ok(Vec::new());
    };
    let command = bench.command.clone();
    let files = work.files()?.readable.clone();
    let is_test = |path: &RepoPath| command.as_ref().is_some_and(|command| command.is_test_file(path));
    let test_files: Vec<_> = files.iter().filter(|(path, _)| is_test(path)).take(LOOKED_AT).collect();
    let mut texts = work.snapshot.read_ahead(test_files.iter().map(|(_, blob)| blob));
    let mut tests = Vec::new();
    for (path, blob) in &test_files {
        if let Ok(source) = texts.scan(blob) {
            tests.push(TestFile {
                path: path.clone(),
                text: source.text,
            });
        }
    }
    let mut changed = Vec::new();
    for path in covers {
        let Ok(source) = work.read(path) else { continue };
        let names = outline(path, &source.text)
            .symbols
            .into_iter()
            .map(|symbol| symbol.name);
        changed.push((path.clone(), names.collect()));
    }
    let stop = work.stop.clone();
    let history = commit_history::commits(&work.index_folder, &work.snapshot, |_| {
        if stop.is_cancelled() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(nearest(&changed, &tests, &history))
}

/// Returns the nearest files that fit into the time that an attempt's tests may take; `seconds` has how long each takes, where all were run.
fn within_budget(seconds: Option<&BTreeMap<RepoPath, f64>>, ranked: &[RepoPath]) -> Vec<RepoPath> {
    let Some(known) = seconds else {
        return ranked.iter().take(UNKNOWN).cloned().collect();
    };
    let mut left = NEAREST_SECONDS;
    let mut chosen = Vec::new();
    for file in ranked {
        let seconds = known.get(file).copied().unwrap_or(1.0);
        if seconds <= left || chosen.is_empty() {
            left -= seconds;
            chosen.push(file.clone());
        }
    }
    chosen
}

/// Returns the files of the tests that a check stands on, as far as they are known.
pub(super) fn files_of_check(bench: &TestBench, check: &BugCheck) -> Vec<RepoPath> {
    let mut files = BTreeSet::new();
    let places = bench.whole.as_ref().map(|whole| &whole.places);
    match &check.source {
        CheckSource::FailingTests { tests } => {
            files.extend(tests.iter().filter_map(|test| places?.get(test)).cloned());
        }
        CheckSource::Given { test } => {
            files.extend(given_file(test));
            if let Some(whole) = &bench.whole {
                let meant = whole.places.iter().filter(|(name, _)| whole.is_meant(name, test));
                files.extend(meant.map(|(_, place)| place.clone()));
            }
        }
        CheckSource::Issue { .. } | CheckSource::Written { .. } => {}
    }
    files.into_iter().collect()
}

/// Returns the file with which a person's word for a test begins, if it does.
pub(super) fn given_file(word: &str) -> Option<RepoPath> {
    word.split("::").next().and_then(|file| RepoPath::new(file).ok())
}

/// Returns the failing tests that a check stands on.
pub(super) fn meant<'a>(check: &'a BugCheck, base: &'a BaseResults) -> Vec<&'a TestName> {
    match &check.source {
        CheckSource::FailingTests { tests } => tests.iter().collect(),
        CheckSource::Given { test } => base.failing().filter(|name| base.is_meant(name, test)).collect(),
        CheckSource::Issue { .. } | CheckSource::Written { .. } => Vec::new(),
    }
}

impl TestBench {
    /// Returns the tests that judge changes as the base gives them; after a resumption they are run there again. None where there are none, and why where
    /// they give no results any more.
    pub(super) async fn judging(&mut self, run: &Run) -> Result<Result<Option<&BaseResults>, String>, EngineError> {
        let has_command = matches!(run.request().tests, TestsMode::Run { command: Some(_), .. });
        if self.judging.is_none()
            && self.lost.is_none()
            && has_command
            && let Some(recorded) = run
                .base_tests()
                .filter(|tests| tests.passed > 0 || !tests.failing.is_empty())
        {
            match self.run_on_base(&recorded.files, SUITE_TIME).await? {
                Ok(base) => self.judging = Some(base),
                Err(found) => self.lost = Some(format!("the base gives none any more: {}", found.why)),
            }
        }
        Ok(match &self.lost {
            Some(why) => Err(why.clone()),
            None => Ok(self.judging.as_ref()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seconds: Option<&[(&str, f64)]>, expected: &[&str]) {
        let path = |name: &str| RepoPath::new(name).expect("a path");
        let ranked: Vec<RepoPath> = ["a", "b", "c", "d", "e", "f", "g", "h"].map(path).to_vec();
        let seconds = seconds.map(|known| known.iter().map(|(name, seconds)| (path(name), *seconds)).collect());
        let chosen = within_budget(seconds.as_ref(), &ranked);
        assert_eq!(chosen.iter().map(RepoPath::as_str).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_nearest_tests_are_run_as_far_as_their_time_goes() {
        let quick = [("d", 0.5), ("e", 0.5), ("f", 0.5), ("g", 0.5), ("h", 0.5)];
        check(
            Some(&[[("a", 3.0), ("b", 6.0), ("c", 2.0)].as_slice(), &quick].concat()),
            &["a", "c", "d", "e", "f", "g", "h"],
        );
        check(Some(&[("a", 60.0), ("b", 0.1)]), &["a"]);
    }

    #[test]
    fn where_no_time_is_known_a_few_files_are_run() {
        check(None, &["a", "b", "c", "d", "e", "f"]);
    }
}
