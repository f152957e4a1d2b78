//! Trying mutations, and keeping those that few tests notice.

use super::issues::{self, Failing};
use super::project::Project;
use super::queue::Queue;
use anyhow::{Context as _, Result, bail};
use magis_core::RepoPath;
use magis_eval::change::Change;
use magis_eval::instances::InstanceId;
use magis_eval::mutation::{
    BugRepository, CutTestName, IssueStyle, MutatedBug, Mutation, SandboxedTree, Shuffle, id_of, judge, without_tests,
};
use magis_evidence::commands::{ProjectFiles as _, TestCommand, TestRunner, TestSelection, find, given};
use magis_evidence::results::{Completeness, TestId, TestResults, TestStatus};
use magis_sandbox::Sandbox;
use magis_syntax::SourceLanguage;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// What is to be made.
pub struct MutationPlan {
    pub count: usize,
    pub tries: usize,
    pub seed: u64,
    pub style: IssueStyle,
    /// The test command; none for the project's own.
    pub command: Option<String>,
}

/// More failing tests than these are chaos.
const MOST_FAILING: usize = 8;
/// As many failing tests as these are few, however small the suite is.
const FEW: usize = 3;
/// The longest that a run of tests may take.
const LONGEST: Duration = Duration::from_mins(2);
/// How often the tests run at first: what wavers is left out, as the names of tests do that are made out of a set.
const RUNS: usize = 3;
/// How long the first run of tests may take, which may have to build them.
const FIRST: Duration = Duration::from_mins(9);

/// Makes bugs and gives each to `keep`.
pub async fn make(
    project: &Project,
    plan: &MutationPlan,
    sandbox: Sandbox,
    first: usize,
    keep: &mut dyn FnMut(MutatedBug) -> Result<()>,
) -> Result<()> {
    let tree = SandboxedTree::new(sandbox, &project.tree)?;
    let base = Base::measure(project, plan, &tree).await?;
    eprintln!(
        "{}: {} tests pass in {:.1} s by `{}`",
        project.version,
        base.passing.len(),
        base.took.as_secs_f64(),
        base.command.line()
    );
    let mut draw = Shuffle::new(plan.seed);
    let mut queue = Queue::fill(project, base.language, plan.count, &mut draw);
    let (mut kept, mut tried) = (0, 0);
    while kept < plan.count && tried < plan.tries {
        let Some((path, mutation)) = queue.next() else { break };
        tried += 1;
        let begun = Instant::now();
        let outcome = base
            .attempt(project, &tree, &path, &mutation, plan.style, &mut draw)
            .await?;
        let what = format!(
            "{} in {path}, {}",
            mutation.kind.name(),
            mutation.function.as_deref().unwrap_or("-")
        );
        match outcome {
            Ok(found) => {
                let id = InstanceId(format!("{}-{:04}", project.name, first + kept));
                let failing = found.failing.len();
                let bug = base.bug(project, id.clone(), &mutation, found)?;
                let told = judge(&bug, &bug.patch, &project.repository, &tree, LONGEST).await?;
                if !told.resolved {
                    let took = begun.elapsed().as_secs_f64();
                    eprintln!(
                        "      {what}: its reference is not resolved, {} ({took:.1} s)",
                        told.why
                    );
                    continue;
                }
                queue.note(&path, &mutation);
                kept += 1;
                eprintln!(
                    "[{kept}/{}] {id}: {what}, {} tests fail ({:.1} s)",
                    plan.count,
                    failing,
                    begun.elapsed().as_secs_f64()
                );
                keep(bug)?;
            }
            Err(why) => eprintln!("      {what}: {why} ({:.1} s)", begun.elapsed().as_secs_f64()),
        }
    }
    Ok(())
}

/// Returns the same bug with its tests left in, as when somebody pushed a red test.
pub fn with_red_tests(bug: &MutatedBug, repository: &BugRepository) -> Result<MutatedBug> {
    let fixed = repository.patched(&bug.base_commit.0, &bug.patch)?;
    anyhow::ensure!(fixed.is_ok(), "the reference of {} does not apply", bug.instance_id);
    let paths: Vec<RepoPath> = bug.gold.keys().cloned().collect();
    let whole = repository.with_files_of(&bug.red_commit.0, &bug.project_commit.0, &paths)?;
    let patch = repository.diff(&bug.red_commit.0, &whole)?;
    Ok(MutatedBug {
        base_commit: bug.red_commit.clone(),
        gold: Change::parse(&patch)?.touched(),
        patch,
        test_patch: String::new(),
        ..bug.clone()
    })
}

/// The project as it is.
struct Base {
    command: TestCommand,
    language: SourceLanguage,
    /// The tests that passed each time.
    passing: BTreeSet<TestId>,
    took: Duration,
}

/// A mutation that is kept.
struct Found {
    path: RepoPath,
    mutated: String,
    failing: Vec<TestId>,
    /// The test files without those tests.
    cut: BTreeMap<RepoPath, String>,
    issue: String,
    style: IssueStyle,
}

impl Base {
    async fn measure(project: &Project, plan: &MutationPlan, tree: &SandboxedTree) -> Result<Self> {
        let commands = match &plan.command {
            Some(line) => vec![given(line, project)?],
            None => found(project),
        };
        let mut why = "no test command is found; give --test-cmd".to_owned();
        for command in commands {
            let Some(language) = language_of(&command) else {
                continue;
            };
            if language == SourceLanguage::Rust && !project.tree.join("target").is_dir() {
                tree.build(&command, "target", FIRST).await?;
            }
            let mut runs = Vec::new();
            for _ in 0..RUNS {
                let begun = Instant::now();
                let ran = tree.test(&command, TestSelection::Whole, &Vec::new(), FIRST).await?;
                match ran.results {
                    Ok(results) => runs.push((passing(&results), begun.elapsed())),
                    Err(reason) => {
                        let (end, text) = (
                            &ran.outcome.end,
                            [ran.outcome.stdout.text(), ran.outcome.stderr.text()].concat(),
                        );
                        let last = text.char_indices().rev().nth(600).map_or(0, |(at, _)| at);
                        why = format!("`{}` {end}: {reason}\n{}", command.line(), &text[last..]);
                        break;
                    }
                }
            }
            if let ([.., (_, took)], RUNS) = (runs.as_slice(), runs.len()) {
                let all = runs.iter().map(|(passing, _)| passing.clone());
                let passing = all.reduce(|all, passing| &all & &passing).unwrap_or_default();
                if passing.len() >= 5 {
                    return Ok(Self {
                        command,
                        language,
                        passing,
                        took: *took,
                    });
                }
                why = format!("only {} tests pass by `{}`", passing.len(), command.line());
            }
        }
        bail!("{}: {why}", project.version)
    }

    /// Tries a mutation; says why it is not kept.
    async fn attempt(
        &self,
        project: &Project,
        tree: &SandboxedTree,
        path: &RepoPath,
        mutation: &Mutation,
        style: IssueStyle,
        draw: &mut Shuffle,
    ) -> Result<Result<Found, String>> {
        let text = project.text(path).context("the file is gone")?;
        let mutated = mutation.apply(&text).context("the file has changed")?;
        let changes = vec![(path.clone(), Some(mutated.clone().into_bytes()))];
        let time = (self.took * 3).clamp(Duration::from_secs(15), LONGEST);
        let ran = tree.test(&self.command, TestSelection::Whole, &changes, time).await?;
        let results = match ran.results {
            Ok(results) if results.completeness == Completeness::Whole => results,
            Ok(_) => return Ok(Err("the report is not whole".to_owned())),
            Err(_) => return Ok(Err(format!("no results, the command {}", ran.outcome.end))),
        };
        let bad = |test: &&TestId| {
            results
                .tests
                .get(*test)
                .is_none_or(|outcome| outcome.status != TestStatus::Passed)
        };
        let failing: Vec<TestId> = self.passing.iter().filter(bad).cloned().collect();
        // A parametrised test counts once.
        let functions: BTreeSet<(Option<&str>, CutTestName)> = failing
            .iter()
            .map(|test| (test.file.as_deref(), CutTestName::of(self.language, test)))
            .collect();
        if failing.is_empty()
            || functions.len() > MOST_FAILING
            || failing.len() > self.passing.len().div_ceil(10).max(FEW)
        {
            return Ok(Err(format!("{} tests fail", failing.len())));
        }
        if failing
            .iter()
            .any(|test| results.tests.get(test).is_none_or(|outcome| outcome.failure.is_none()))
        {
            return Ok(Err("a test is gone or does not say why it fails".to_owned()));
        }
        let Some(cut) = self.cut(project, path, &mutated, &failing) else {
            return Ok(Err("a failing test cannot be cut out".to_owned()));
        };
        let failures: Vec<Failing<'_>> = failing
            .iter()
            .map(|test| Failing {
                test,
                said: results
                    .tests
                    .get(test)
                    .and_then(|outcome| outcome.failure.as_ref())
                    .map_or("", |failure| &failure.text),
            })
            .collect();
        let issue = match issues::write(self.language, tree, project, &changes, &failures, style, draw).await? {
            Ok(issue) => issue,
            Err(why) => return Ok(Err(format!("no issue: {why}"))),
        };
        let leaks = failing.iter().any(|test| {
            let name = CutTestName::of(self.language, test).name;
            name.len() > 6 && issue.contains(&name)
        });
        if leaks || style != IssueStyle::Traceback && issue.contains(path.as_str()) {
            return Ok(Err("the issue names the place or the test".to_owned()));
        }
        Ok(Ok(Found {
            path: path.clone(),
            mutated,
            failing,
            cut,
            issue,
            style,
        }))
    }

    /// Returns the test files without the failing tests.
    fn cut(
        &self,
        project: &Project,
        mutated_path: &RepoPath,
        mutated: &str,
        failing: &[TestId],
    ) -> Option<BTreeMap<RepoPath, String>> {
        let mut cut: BTreeMap<RepoPath, String> = BTreeMap::new();
        let names: BTreeSet<(Option<&str>, CutTestName)> = failing
            .iter()
            .map(|test| (test.file.as_deref(), CutTestName::of(self.language, test)))
            .collect();
        for (file, name) in names {
            let places: Vec<RepoPath> = match (file.and_then(|file| RepoPath::new(file).ok()), self.language) {
                (Some(file), SourceLanguage::Python) => vec![file],
                (Some(file), _) if !file.as_str().starts_with("src/") && project.paths().contains(&file) => vec![file],
                _ => project
                    .paths()
                    .iter()
                    .filter(|path| SourceLanguage::of(path) == Some(self.language))
                    .cloned()
                    .collect(),
            };
            let mut done = Vec::new();
            for place in places {
                let known = cut.get(&place).cloned();
                let text = match known {
                    Some(text) => text,
                    None if place == *mutated_path => mutated.to_owned(),
                    None => project.text(&place)?,
                };
                if let Some(without) = text
                    .contains(&name.name)
                    .then(|| without_tests(self.language, &text, std::slice::from_ref(&name)))
                    .flatten()
                {
                    done.push((place, without));
                }
            }
            // The same name in several files cannot be told apart.
            let [(place, without)] = done.as_slice() else {
                return None;
            };
            cut.insert(place.clone(), without.clone());
        }
        Some(cut)
    }

    fn bug(&self, project: &Project, id: InstanceId, mutation: &Mutation, found: Found) -> Result<MutatedBug> {
        let repository = &project.repository;
        let red_changes = vec![(found.path.clone(), Some(found.mutated.into_bytes()))];
        let red = repository.commit_with(&project.commit, &red_changes, &project.version)?;
        let mut changes = red_changes;
        for (path, text) in &found.cut {
            changes.retain(|(known, _)| known != path);
            changes.push((path.clone(), Some(text.clone().into_bytes())));
        }
        let base = repository.commit_with(&project.commit, &changes, &project.version)?;
        repository.keep(&format!("{id}/base"), &base)?;
        repository.keep(&format!("{id}/red"), &red)?;
        // The tests put back, with the bug, and from there the bug taken back.
        let test_patch = repository.diff(&base.0, &red.0)?;
        let fixed = fixed(project, mutation, &found.path, &found.cut)?;
        let fixed_commit = repository.commit_with(
            &base,
            &vec![(found.path.clone(), Some(fixed.into_bytes()))],
            &project.version,
        )?;
        let patch = repository.diff(&base.0, &fixed_commit.0)?;
        let passing: Vec<String> = self
            .passing
            .iter()
            .filter(|test| !found.failing.contains(test))
            .map(id_of)
            .collect();
        let failing: Vec<String> = found.failing.iter().map(id_of).collect();
        Ok(MutatedBug {
            instance_id: id,
            repo: project.repo.clone(),
            base_commit: base,
            problem_statement: found.issue,
            gold: Change::parse(&patch)?.touched(),
            patch,
            test_patch,
            test_files: found.cut.into_keys().collect(),
            hints_text: String::new(),
            version: project.version.clone(),
            fail_to_pass: serde_json::to_string(&failing)?,
            pass_to_pass: serde_json::to_string(&passing)?,
            language: self.language.fence().to_owned(),
            kind: mutation.kind,
            style: found.style,
            test_command: self.command.line(),
            red_commit: red,
            project_commit: project.commit.clone(),
        })
    }
}

/// Returns the mutated file as it was, without the tests that were cut out of it.
fn fixed(project: &Project, mutation: &Mutation, path: &RepoPath, cut: &BTreeMap<RepoPath, String>) -> Result<String> {
    let whole = project.text(path).context("the file is gone")?;
    let Some(cut) = cut.get(path) else { return Ok(whole) };
    // Tests within the file stand behind the code that they test, so the place of the mutation has not moved.
    let start = mutation.span.start;
    let end = start + mutation.replacement.len();
    let (before, after) = (cut.get(..start), cut.get(end..));
    let old = whole.get(mutation.span.clone());
    match (before, old, after) {
        (Some(before), Some(old), Some(after)) if whole.starts_with(before) => Ok([before, old, after].concat()),
        _ => bail!("the tests of {path} stand before its code"),
    }
}

fn passing(results: &TestResults) -> BTreeSet<TestId> {
    let passed = results
        .tests
        .iter()
        .filter(|(_, outcome)| outcome.status == TestStatus::Passed);
    passed.map(|(test, _)| test.clone()).collect()
}

fn language_of(command: &TestCommand) -> Option<SourceLanguage> {
    match command.runner {
        Some(TestRunner::Python(_)) => Some(SourceLanguage::Python),
        Some(TestRunner::JavaScript(_)) => Some(SourceLanguage::JavaScript),
        Some(TestRunner::Rust(_)) => Some(SourceLanguage::Rust),
        _ => None,
    }
}

/// Returns the commands found in a project, each with what is needed where nothing of the project is installed; for Python also one without the
/// options that the project sets, which may need plugins.
fn found(project: &Project) -> Vec<TestCommand> {
    let mut commands = find(project);
    commands.truncate(3);
    let src = project
        .paths()
        .iter()
        .any(|path| path.as_str().starts_with("src/") && path.extension() == "py");
    let mut all: Vec<TestCommand> = Vec::new();
    for mut command in commands {
        if matches!(command.runner, Some(TestRunner::Rust(_))) {
            command.words.push("--tests".to_owned());
        }
        let is_python = matches!(command.runner, Some(TestRunner::Python(_)));
        if is_python && src {
            command.variables.push(("PYTHONPATH".to_owned(), "src".to_owned()));
        }
        all.push(command);
    }
    let line = format!(
        "{}python3 -m pytest -o addopts=",
        if src { "PYTHONPATH=src " } else { "" }
    );
    if all.is_empty()
        || all
            .iter()
            .any(|command| matches!(command.runner, Some(TestRunner::Python(_))))
    {
        all.extend(given(&line, project).ok());
    }
    all
}
