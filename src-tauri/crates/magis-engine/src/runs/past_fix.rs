//! The past change of the repository that was described most like the issue: an example of what a fix looks like here.

use crate::EngineError;
use crate::runs::workspace::Workspace;
use magis_core::{CommitId, MethodPart, RepoPath};
use magis_flow::Run;
use magis_repo::text_diff;
use magis_search::is_source;
use magis_syntax::SourceLanguage;

/// Commits that are looked at, the most alike first.
const LOOKED_AT: usize = 20;
/// From what likeness on a commit is an example, 0..1.
const ALIKE: f64 = 0.5;
/// The most files that such a commit changed.
const FILES: usize = 4;
/// The most lines of it that are shown.
const LINES: usize = 10;

/// Returns what the commit says and which lines it changed; empty where no short change was described alike.
pub(crate) fn past_fix(work: &mut Workspace, run: &Run) -> Result<Vec<String>, EngineError> {
    if run.request().without.contains(&MethodPart::PastFix) {
        return Ok(Vec::new());
    }
    if let Some(known) = &work.past_fix {
        return Ok(known.clone());
    }
    let located = work.index(run)?;
    let alike = located.index_session.history().alike(&located.query, LOOKED_AT);
    let candidates: Vec<(String, CommitId, RepoPath)> = alike
        .into_iter()
        .filter(|(commit, likeness)| *likeness >= ALIKE && commit.changed.len() <= FILES)
        .flat_map(|(commit, _)| {
            let subject = commit.message.lines().next().unwrap_or_default().trim().to_owned();
            let code = commit
                .changed
                .iter()
                .filter(|path| SourceLanguage::of(path).is_some() && is_source(path));
            code.map(move |path| (subject.clone(), commit.id.clone(), path.clone()))
        })
        .collect();
    let mut found = Vec::new();
    for (subject, commit, path) in candidates {
        if let Some(changed) = work
            .snapshot
            .changed_by(&commit, &path)?
            .and_then(|(old, new)| shown(&old, &new))
        {
            found = [vec![subject], changed].concat();
            break;
        }
    }
    work.past_fix = Some(found.clone());
    Ok(found)
}

/// Returns the lines of a change, where it is short and replaces something.
fn shown(old: &str, new: &str) -> Option<Vec<String>> {
    let diff = text_diff(old, new, 0);
    let sign = |line: &str, sign: char| line.strip_prefix(sign).map(|line| format!("{sign} {}", line.trim()));
    let lines: Vec<String> = diff
        .lines()
        .filter_map(|line| sign(line, '-').or_else(|| sign(line, '+')))
        .filter(|line| line.len() > 2)
        .collect();
    let has = |sign: char| lines.iter().any(|line| line.starts_with(sign));
    (lines.len() <= LINES && has('-') && has('+')).then_some(lines)
}
