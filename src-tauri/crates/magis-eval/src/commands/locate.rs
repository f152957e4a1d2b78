//! `magis-eval locate`: file location alone, by the ranking or with the model's judgement.

use super::report::recorded;
use super::set::{Plan, Set};
use super::solve::{Until, drive_all};
use super::{chosen, runtime};
use crate::args::LocateArgs;
use anyhow::{Context as _, Result};
use magis_core::{Issue, RelevanceMode, RepoPath};
use magis_engine::floors::search::{Index, IssueQuery};
use magis_eval::instances::{InstanceId, Reference, read_references};
use magis_eval::measures::locating::{Located, PLACES, recall};
use magis_eval::repositories::Repositories;
use magis_eval::results::{Files, Hints, Memory, Method, Qa};
use magis_eval::table::{Table, number};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

/// What was measured of one repository, or of all.
#[derive(Debug, Default, Serialize)]
struct Row {
    ranking: Located,
    judged: Located,
    kept_recall: f64,
    kept_files: usize,
}

/// The rows by repository; all together under "all".
type Rows = BTreeMap<String, Row>;

/// Measures a set.
pub fn locate(args: &LocateArgs) -> Result<ExitCode> {
    let references = read_references(&args.which.instances)?;
    let with_model = args.engine.model.is_some() || args.out.is_some();
    let mut rows = Rows::new();
    if with_model {
        let code = by_model(args, &references, &mut rows)?;
        if code != ExitCode::SUCCESS {
            return Ok(code);
        }
    } else {
        by_ranking(args, &references, &mut rows)?;
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        print!("{}", text(&rows, with_model));
    }
    Ok(ExitCode::SUCCESS)
}

/// The ranking alone. Issues of one repository share an index, which is brought to each base in turn.
fn by_ranking(args: &LocateArgs, references: &BTreeMap<InstanceId, Reference>, rows: &mut Rows) -> Result<()> {
    let repositories = Repositories::new(&args.which.repos)?;
    let mut instances = chosen(&args.which)?;
    instances.sort_by(|a, b| (&a.repo, &a.id).cmp(&(&b.repo, &b.id)));
    let mut current: Option<(String, Index)> = None;
    for instance in &instances {
        let reference = references
            .get(&instance.id)
            .with_context(|| format!("{} has no reference", instance.id))?;
        if current.as_ref().is_none_or(|(repo, _)| *repo != instance.repo) {
            current = Some((instance.repo.clone(), Index::in_memory()?));
        }
        let Some((_, index)) = &mut current else { continue };
        let wanted = repositories.files(&instance.repo, &instance.base_commit)?;
        let mut blobs = repositories.blobs(&instance.repo)?;
        index.update(&wanted, |_, blob| blobs.text(blob), |_, _| {})?;
        let ranking = index.rank(&IssueQuery::of(&Issue::new(&instance.problem_statement)?, &[]), 200)?;
        let order: Vec<RepoPath> = ranking.candidates.into_iter().map(|candidate| candidate.path).collect();
        let gold: BTreeSet<RepoPath> = reference.files().into_iter().collect();
        for name in [instance.repo.as_str(), "all"] {
            rows.entry(name.to_owned()).or_default().ranking.count(&order, &gold);
        }
    }
    Ok(())
}

/// The agents' own steps up to the judgement.
fn by_model(args: &LocateArgs, references: &BTreeMap<InstanceId, Reference>, rows: &mut Rows) -> Result<ExitCode> {
    let out = args
        .out
        .as_ref()
        .context("--model needs --out, the folder that records the runs")?;
    let label = "locate".to_owned();
    let set = Set::begin(&Plan {
        which: &args.which,
        engine: &args.engine,
        out,
        data_dir: None,
        label: Some(&label),
        method: Method::Magis,
        files: Files::Located,
        hints: Hints::Withheld,
        qa: Qa::Absent,
        relevance: if args.by_description {
            RelevanceMode::Description
        } else {
            RelevanceMode::Code
        },
        // On names and code no memory is read up to the judgement; the index is what is shared.
        memory: Memory::Shared,
        top_k: args.top_k,
        max_rounds: 1,
        seed: args.seed,
    })?;
    let code = runtime()?.block_on(drive_all(&set, Until::Judged, &args.engine.limits()))?;
    if code != ExitCode::SUCCESS {
        return Ok(code);
    }
    let wanted: BTreeSet<&InstanceId> = set.jobs.iter().map(|job| &job.instance.id).collect();
    let runs = recorded(
        out,
        &set.results,
        set.setting.clone(),
        references,
        BTreeMap::new(),
        None,
    )?
    .runs;
    for run in runs.iter().filter(|run| wanted.contains(&run.reference.id)) {
        let gold: BTreeSet<RepoPath> = run.reference.files().into_iter().collect();
        let kept: Vec<RepoPath> = run.record.kept().into_iter().collect();
        for name in [run.reference.repo.as_str(), "all"] {
            let row = rows.entry(name.to_owned()).or_default();
            row.ranking.count(&run.record.ranked(), &gold);
            row.judged.count(&run.record.fused(), &gold);
            row.kept_recall += recall(&kept, &gold).unwrap_or(0.0);
            row.kept_files += kept.len();
        }
    }
    Ok(code)
}

fn text(rows: &Rows, with_model: bool) -> String {
    let places: Vec<String> = PLACES.iter().map(|k| format!("at {k}")).collect();
    let mut table = Table::new(
        ["repository", "order", "issues"]
            .into_iter()
            .map(str::to_owned)
            .chain(places),
    );
    for (name, row) in rows {
        let mut add = |order: &str, located: &Located| {
            let percent = located.percent().map(|percent| format!("{percent:.1}"));
            table.row(
                [name.clone(), order.to_owned(), located.instances.to_string()]
                    .into_iter()
                    .chain(percent),
            );
        };
        add("ranking", &row.ranking);
        if with_model {
            add("with the model", &row.judged);
        }
    }
    let mut text = format!(
        "All files of the reference within the first k, percent of the issues\n\n{}",
        table.text()
    );
    if let Some(all) = rows.get("all").filter(|_| with_model) {
        let issues = all.judged.instances.max(1) as f64;
        let (recall, files) = (number(all.kept_recall / issues), number(all.kept_files as f64 / issues));
        text.push_str(&format!("\nkept: {files} files an issue, mean recall {recall}\n"));
    }
    text
}
