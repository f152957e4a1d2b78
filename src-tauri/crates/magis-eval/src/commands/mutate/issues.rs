//! The issue of a bug, out of the tests that fail for it.

use super::project::Project;
use anyhow::Result;
use magis_core::RepoPath;
use magis_eval::mutation::{
    FailedCheck, IssueStyle, Observed, PROBE, PROBE_MARK, SandboxedTree, Shuffle, Snippet, is_for_users, write_issue,
};
use magis_evidence::commands::ProjectFiles as _;
use magis_evidence::results::TestId;
use magis_sandbox::Outcome;
use magis_syntax::SourceLanguage;
use serde::Deserialize;
use std::time::Duration;

/// A test that fails, and what the runner says of it.
pub struct Failing<'t> {
    pub test: &'t TestId,
    pub said: &'t str,
}

/// How many of the failing tests are looked at.
const LOOKED_AT: usize = 4;
/// How long a snippet may take.
const TIME: Duration = Duration::from_secs(40);

/// Writes the issue of a bug, or says why none can be written.
pub async fn write(
    language: SourceLanguage,
    tree: &SandboxedTree,
    project: &Project,
    changes: &Vec<(RepoPath, Option<Vec<u8>>)>,
    failing: &[Failing<'_>],
    style: IssueStyle,
    draw: &mut Shuffle,
) -> Result<Result<String, String>> {
    let mut why = "no test shows it".to_owned();
    let mut order: Vec<&Failing<'_>> = failing.iter().collect();
    order.sort_by_key(|failing| failing.test.name.len());
    for failing in order.into_iter().take(LOOKED_AT) {
        let seen = match language {
            SourceLanguage::Python => python(tree, changes, failing.test).await?,
            _ => check(language, project, changes, failing.said),
        };
        match seen {
            Ok((snippet, actual, expected)) => match write_issue(language, style, &snippet, (&actual, &expected), draw)
            {
                Some(issue) => return Ok(Ok(issue)),
                None => "the snippet shows no difference, or one that cannot be pasted".clone_into(&mut why),
            },
            Err(reason) => why = reason,
        }
    }
    Ok(Err(why))
}

/// Reads the snippet out of the runner's message and the test's source.
fn check(
    language: SourceLanguage,
    project: &Project,
    changes: &[(RepoPath, Option<Vec<u8>>)],
    said: &str,
) -> Result<(Snippet, Observed, Observed), String> {
    let check = FailedCheck::read(language, said).ok_or("the message is not that of a check")?;
    let inside = check
        .file
        .strip_prefix(&*project.tree.to_string_lossy())
        .map_or(check.file.as_str(), |rest| rest.trim_start_matches('/'));
    let path = RepoPath::new(inside).map_err(|error| error.to_string())?;
    // The runner saw the file with the mutation, which may have moved its lines.
    let changed = changes
        .iter()
        .find(|(changed, _)| *changed == path)
        .and_then(|(_, contents)| contents.clone());
    let text = match changed {
        Some(contents) => String::from_utf8(contents).map_err(|error| error.to_string())?,
        None => project.text(&path).ok_or("the test's file cannot be read")?,
    };
    let shown = check.shown(language, &text, &project.name);
    let sources = || -> Vec<String> {
        let paths = project.sources(language).into_iter();
        paths.filter_map(|path| project.text(&path)).collect()
    };
    shown
        .filter(|(snippet, ..)| language != SourceLanguage::Rust || is_for_users(snippet, &sources()))
        .ok_or_else(|| "the check needs what only the test has".to_owned())
}

/// What the probe answers.
#[derive(Debug, Deserialize)]
struct Answer {
    none: Option<String>,
    value: Option<String>,
    exception: Option<String>,
    #[serde(default)]
    last: String,
    #[serde(default)]
    traceback: String,
}

/// Makes a snippet of a failing test and runs it with the bug and without.
async fn python(
    tree: &SandboxedTree,
    changes: &Vec<(RepoPath, Option<Vec<u8>>)>,
    test: &TestId,
) -> Result<Result<(Snippet, Observed, Observed), String>> {
    let Some(node) = node_of(test) else {
        return Ok(Err("the test names no file".to_owned()));
    };
    let sliced = tree.python(PROBE, &["slice", &node], &[], changes, TIME).await?;
    let text = match told(&sliced) {
        Ok(text) => text,
        Err(why) => return Ok(Err(why)),
    };
    if let Ok(Answer { none: Some(why), .. }) = serde_json::from_str(&text) {
        return Ok(Err(why));
    }
    let snippet: Snippet = match serde_json::from_str(&text) {
        Ok(snippet) => snippet,
        Err(error) => return Ok(Err(format!("the probe's answer cannot be read: {error}"))),
    };
    let mut seen = Vec::new();
    // Twice with the bug: what is another one in each run shows nothing.
    for changes in [changes, changes, &Vec::new()] {
        let outcome = tree
            .python(
                PROBE,
                &["run", "/magis-mutation/snippet.json"],
                &[("snippet.json", text.clone())],
                changes,
                TIME,
            )
            .await?;
        match told(&outcome).and_then(|text| observed(&text)) {
            Ok(one) => seen.push(one),
            Err(why) => return Ok(Err(why)),
        }
    }
    Ok(match (seen.pop(), seen.pop(), seen.pop()) {
        (Some(expected), Some(again), Some(actual)) if again == actual => Ok((snippet, actual, expected)),
        _ => Err("the snippet gives another value each time".to_owned()),
    })
}

fn told(outcome: &Outcome) -> Result<String, String> {
    let text = outcome.stdout.text();
    let line = text.lines().rev().find_map(|line| line.strip_prefix(PROBE_MARK));
    line.map(str::to_owned).ok_or_else(|| {
        let said = outcome.stderr.text();
        format!(
            "the probe said nothing, it {}: {}",
            outcome.end,
            said.lines().last().unwrap_or_default()
        )
    })
}

fn observed(text: &str) -> Result<Observed, String> {
    let answer: Answer = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match answer {
        Answer { value: Some(value), .. } => Ok(Observed::Value(value)),
        Answer {
            exception: Some(kind),
            last,
            traceback,
            ..
        } => Ok(Observed::Raised { kind, last, traceback }),
        Answer { none, .. } => Err(none.unwrap_or_else(|| "the probe said nothing".to_owned())),
    }
}

/// Returns how pytest is told to run one test.
fn node_of(test: &TestId) -> Option<String> {
    let file = test.file.as_deref()?;
    let module = file.trim_end_matches(".py").replace('/', ".");
    let classes = test.group.strip_prefix(&module)?;
    let parts = std::iter::once(file)
        .chain(classes.split('.').filter(|part| !part.is_empty()))
        .chain([test.name.as_str()]);
    Some(parts.collect::<Vec<_>>().join("::"))
}
