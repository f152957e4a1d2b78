//! The Repository Custodian: reads the issue, ranks and judges files (algorithm 1, P3), describes them from memory
//! (P1, P2).

use super::RoleResult;
use crate::EngineError;
use crate::calls::{AskError, CHARS_PER_TOKEN, CallContext, PlannedCall, PromptVariant, condense};
use crate::custodian::describing::{self, FileVersion};
use crate::custodian::index_session::joined;
use crate::custodian::relevance::{self, RelevanceFeatures, UnconditionalScores, descending};
use crate::runs::workspace::{Workspace, lines, quoted_lines};
use magis_core::{
    BlobId, BugCheck, Candidate, Description, DescriptionSource, Evidence, FunctionAt, Judgement, LineSpan,
    RelevanceMode, RepoPath, RunEvent, entered_by_all,
};
use magis_flow::Run;
use magis_prompts::{Head, Prompt, RelevanceByCode, RelevanceByDescription, Template};
use magis_search::Signals;
use magis_syntax::outline;
use std::collections::BTreeSet;

/// How many candidates the yes/no question is put to, after their likelihood: it costs a reading of some 300 tokens each.
const ASKED_ON_CODE: usize = 5;

/// Measures the issue; where it is longer than a quarter of the context, or 4000 tokens, a shorter form is read.
pub(crate) async fn read_issue(work: &mut Workspace, run: &Run) -> RoleResult {
    let text = run.request().issue.text();
    let budget = (work.calls.context() / 4).min(4_000);
    let mut counted = work.calls.count(&[text.to_owned()]).await?;
    let before = counted.pop().unwrap_or(0);
    if before <= budget {
        return Ok(RunEvent::IssueRead {
            condensed: None,
            tokens_before: before,
            tokens_after: before,
        });
    }
    let mut characters = budget as usize * CHARS_PER_TOKEN;
    loop {
        let shorter = condense(text, characters).unwrap_or_else(|| text.to_owned());
        let after = work
            .calls
            .count(std::slice::from_ref(&shorter))
            .await?
            .pop()
            .unwrap_or(0);
        if after <= budget || characters < 200 {
            return Ok(RunEvent::IssueRead {
                condensed: Some(shorter),
                tokens_before: before,
                tokens_after: after,
            });
        }
        characters = characters * 3 / 4;
    }
}

/// Returns the top k of the ranking, or the files that were given.
pub(crate) fn rank(work: &mut Workspace, run: &Run) -> RoleResult {
    let request = run.request();
    let skipped = work.files()?.skipped.clone();
    if !request.files.is_empty() {
        let mut candidates = Vec::new();
        for path in &request.files {
            let missing = || EngineError::NoSuchFile {
                path: path.clone(),
                base: run.base().name.clone(),
            };
            let blob = work.blob(path)?.ok_or_else(missing)?;
            let evidence = vec![Evidence::Given];
            candidates.push(Candidate {
                path: path.clone(),
                blob,
                score: 0.0,
                evidence,
            });
        }
        return Ok(RunEvent::CandidatesRanked { candidates, skipped });
    }
    let k = request.top_k.max(1) as usize;
    let located = work.index(run)?;
    let index_session = &located.index_session;
    let ranking = index_session
        .index
        .rank_by(&located.query, index_session.sources(Signals::ALL), k)?;
    let skipped = joined(skipped, located.skipped.clone());
    let mut candidates = ranking.candidates;
    let reached: BTreeSet<&RepoPath> = entered_by_all(run.checks()).into_iter().map(|at| &at.path).collect();
    for path in reached {
        let is_ranked = candidates.iter().any(|candidate| candidate.path == *path);
        if let (false, Some(blob)) = (is_ranked, work.blob(path)?) {
            candidates.push(Candidate {
                path: path.clone(),
                blob,
                score: 0.0,
                evidence: Vec::new(),
            });
        }
    }
    let mut candidates = raise_reached(candidates, run.checks());
    candidates.truncate(k);
    Ok(RunEvent::CandidatesRanked { candidates, skipped })
}

/// What a file gains by which a check ran through, as a share of the best score. What it never entered is hardly at fault.
const REACHED: f64 = 0.3;

/// Raises the files that the checks ran through on the base.
fn raise_reached(mut candidates: Vec<Candidate>, checks: &[BugCheck]) -> Vec<Candidate> {
    let best = candidates.iter().map(|candidate| candidate.score).fold(0.0, f64::max);
    let reached = entered_by_all(checks);
    for candidate in &mut candidates {
        let functions = entered(&candidate.path, &reached);
        if functions > 0 {
            candidate.score += REACHED * best;
            candidate.evidence.push(Evidence::Reached { functions });
            candidate.evidence.sort_by_key(Evidence::display_order);
        }
    }
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    candidates
}

/// Returns how many of the functions are in a file.
fn entered(path: &RepoPath, functions: &[&FunctionAt]) -> u32 {
    let of_file = functions.iter().filter(|at| at.path == *path);
    of_file.map(|at| (at.line, &at.name)).collect::<BTreeSet<_>>().len() as u32
}

/// P3: conditional log-likelihood of all candidates, yes/no on the code of the best of them, fused with the ranking.
pub(crate) async fn judge(work: &mut Workspace, run: &Run) -> RoleResult {
    let given = |candidate: &Candidate| candidate.evidence.contains(&Evidence::Given);
    let ranked: Vec<Candidate> = run
        .candidates()
        .iter()
        .filter(|candidate| !given(candidate))
        .cloned()
        .collect();
    if ranked.is_empty() {
        let kept = |candidate: &Candidate| Judgement {
            path: candidate.path.clone(),
            naming: None,
            yes_no: None,
            relevance: 0.0,
            kept: true,
        };
        return Ok(RunEvent::RelevanceJudged {
            judgements: run.candidates().iter().map(kept).collect(),
        });
    }
    if run.request().relevance == RelevanceMode::Description {
        let files: Vec<RepoPath> = ranked.iter().map(|candidate| candidate.path.clone()).collect();
        return judge_by_description(work, run, files).await;
    }
    let head = work.head(run);
    let memory = UnconditionalScores::new(&work.store, work.repo, work.calls.card());
    let judged = relevance::judge_files(&mut work.calls, &memory, &head, &ranked).await?;
    if let Some(why) = judged.unasked {
        work.calls.replaced(Template::RelevanceByName, why, "the ranking alone");
    }
    let per_token: Vec<Option<f64>> = judged.relevance.iter().map(|file| file.per_token).collect();
    let scores: Vec<f64> = ranked.iter().map(|candidate| candidate.score).collect();
    let named: Vec<f64> = judged.relevance.iter().map(|file| file.fused).collect();
    // Where it is known which files the fault runs through, the others need no question.
    let reached = |candidate: &Candidate| {
        let by_check = |evidence: &Evidence| matches!(evidence, Evidence::Reached { .. });
        candidate.evidence.iter().any(by_check)
    };
    let reached: Vec<bool> = ranked.iter().map(reached).collect();
    let any_reached = reached.contains(&true);
    let mut yes_no = vec![None; ranked.len()];
    for at in descending(&named).into_iter().take(ASKED_ON_CODE) {
        if reached[at] || !any_reached {
            yes_no[at] = judge_on_code(work, run, &head, &ranked[at].path).await?;
        }
    }
    let features = RelevanceFeatures {
        ranking: &scores,
        per_token: &per_token,
        yes_no: &yes_no,
    };
    let fused = features.fused();
    let kept = if run.checks().is_empty() {
        features.kept()
    } else {
        features.kept_to_try(&reached)
    };
    let judgement = |at: usize| Judgement {
        path: ranked[at].path.clone(),
        naming: judged.relevance[at].naming,
        yes_no: yes_no[at],
        relevance: fused[at],
        kept: kept[at],
    };
    Ok(RunEvent::RelevanceJudged {
        judgements: descending(&fused).into_iter().map(judgement).collect(),
    })
}

/// P3 as the paper has it: every ranked file is described, and the answer on the description decides. Where every answer
/// is no, the file that came nearest to a yes stays.
async fn judge_by_description(work: &mut Workspace, run: &Run, files: Vec<RepoPath>) -> RoleResult {
    let head = work.head(run);
    let mut answers = Vec::with_capacity(files.len());
    for path in &files {
        let RunEvent::FileDescribed { description } = describe(work, run, path).await? else {
            answers.push(None);
            continue;
        };
        let prompt = RelevanceByDescription {
            head: head.clone(),
            path: path.to_string(),
            description: description.text(),
        };
        answers.push(yes_or_no(work, path, prompt).await?);
    }
    let relevance: Vec<f64> = answers.iter().map(|answer| answer.unwrap_or(0.0)).collect();
    let judgement = |(place, at): (usize, usize)| Judgement {
        path: files[at].clone(),
        naming: None,
        yes_no: answers[at],
        relevance: relevance[at],
        kept: place == 0 || relevance[at] > 0.0,
    };
    Ok(RunEvent::RelevanceJudged {
        judgements: descending(&relevance).into_iter().enumerate().map(judgement).collect(),
    })
}

/// Returns how much likelier yes is than no, as a difference of log-probabilities; nothing where the question does not
/// fit.
async fn yes_or_no<P: Prompt>(work: &mut Workspace, path: &RepoPath, prompt: P) -> Result<Option<f64>, AskError> {
    match work
        .calls
        .weigh(
            &CallContext::path(path),
            [PromptVariant::whole(prompt)],
            [" yes", " no"],
        )
        .await
    {
        Ok(weight) => Ok(Some(weight)),
        Err(AskError::Unusable(_)) => Ok(None),
        Err(fatal) => Err(fatal),
    }
}

async fn judge_on_code(work: &mut Workspace, run: &Run, head: &Head, path: &RepoPath) -> Result<Option<f64>, AskError> {
    let Ok(source) = work.read(path) else { return Ok(None) };
    let code = best_code(work, run, path, &source.text, 2, 900)?;
    let outline = outline(path, &source.text);
    let names = outline
        .symbols
        .iter()
        .filter(|symbol| symbol.depth == 0)
        .take(30)
        .map(|symbol| symbol.name.clone());
    let prompt = RelevanceByCode {
        head: head.clone(),
        path: path.to_string(),
        names: names.collect(),
        code,
    };
    yes_or_no(work, path, prompt).await
}

/// Returns the `count` functions of a file that the issue quotes or matches best, best first, together at most
/// `characters` long; the file's beginning where it has none.
pub(crate) fn best_code(
    work: &mut Workspace,
    run: &Run,
    path: &RepoPath,
    text: &str,
    count: usize,
    characters: usize,
) -> Result<String, EngineError> {
    let located = work.index(run)?;
    let asked = std::slice::from_ref(path);
    let symbols = located.index_session.index.symbols_for(&located.query, asked, count)?;
    let outline = outline(path, text);
    let quoted = quoted_lines(run.issue_text(), text)
        .into_iter()
        .filter_map(|line| outline.innermost(line));
    let mut spans: Vec<LineSpan> = Vec::new();
    for span in quoted
        .map(|symbol| symbol.span)
        .chain(symbols.iter().flatten().map(|symbol| symbol.span))
    {
        if !spans.iter().any(|known| known.intersection(span).is_some()) {
            spans.push(span);
        }
    }
    spans.truncate(count);
    let whole: Vec<String> = spans.iter().map(|span| lines(text, *span)).collect();
    let code = if whole.is_empty() {
        text.lines().take(25).collect::<Vec<_>>().join("\n")
    } else {
        whole.join("\n")
    };
    Ok(match code.char_indices().nth(characters) {
        Some((at, _)) => {
            let end = code[..at].rfind('\n').unwrap_or(at);
            format!("{}\n[the rest is left out]", &code[..end])
        }
        None => code,
    })
}

/// Words the first call of [`describe`]; none where it asks nothing.
pub(crate) async fn plan_description(
    work: &mut Workspace,
    run: &Run,
    path: &RepoPath,
) -> Result<Option<PlannedCall>, AskError> {
    if !run.checks().is_empty() {
        return Ok(None);
    }
    let blob = kept_blob(run, path)?;
    let source = work.read(path)?;
    let file = FileVersion {
        repo: work.repo,
        path,
        blob: &blob,
        text: &source.text,
    };
    let (store, snapshot) = (work.store.clone(), work.snapshot.clone());
    describing::plan(&mut work.calls, &store, &snapshot, file).await
}

fn kept_blob(run: &Run, path: &RepoPath) -> Result<BlobId, EngineError> {
    let known = run.candidates().iter().find(|candidate| candidate.path == *path);
    let missing = || EngineError::NoSuchFile {
        path: path.clone(),
        base: run.base().name.clone(),
    };
    known.map(|known| known.blob.clone()).ok_or_else(missing)
}

/// Returns how a kept file is described: from memory where it knows this version or one that little separates from it,
/// else anew (algorithm 1). Where the model has nothing usable to say, the names that the file defines stand in.
pub(crate) async fn describe(work: &mut Workspace, run: &Run, path: &RepoPath) -> RoleResult {
    let blob = kept_blob(run, path)?;
    let source = work.read(path)?;
    let file = FileVersion {
        repo: work.repo,
        path,
        blob: &blob,
        text: &source.text,
    };
    let store = work.store.clone();
    let snapshot = work.snapshot.clone();
    let by_names = |from| Description {
        path: path.clone(),
        blob: blob.clone(),
        source: from,
        summary: names_defined(path, &source.text),
        from_skeleton: false,
    };
    let is_shown = !run.checks().is_empty();
    if is_shown && !describing::is_ready(&store, &snapshot, file, &work.calls.card().sha256)? {
        let description = by_names(DescriptionSource::Names);
        return Ok(RunEvent::FileDescribed { description });
    }
    let description = match describing::describe(&mut work.calls, &store, &snapshot, file).await {
        Ok(description) => description,
        Err(AskError::Unusable(why)) => {
            work.calls
                .replaced(Template::FileSummary, why, "the names the file defines");
            by_names(DescriptionSource::Fresh)
        }
        Err(fatal) => return Err(fatal),
    };
    Ok(RunEvent::FileDescribed { description })
}

fn names_defined(path: &RepoPath, text: &str) -> String {
    let outline = outline(path, text);
    let names: Vec<&str> = outline
        .symbols
        .iter()
        .take(40)
        .map(|symbol| symbol.qualified_name.as_str())
        .collect();
    if names.is_empty() {
        "This file defines nothing.".to_owned()
    } else {
        format!("This file defines {}.", names.join(", "))
    }
}
