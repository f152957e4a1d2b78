//! `magis-eval report`: reads recorded runs, asks the judge where one is named, prints the measures.

use crate::args::ReportArgs;
use anyhow::{Context as _, Result, bail};
use magis_core::RepoPath;
use magis_engine::DataFolder;
use magis_eval::instances::{InstanceId, Reference, read_references};
use magis_eval::record::RunRecord;
use magis_eval::report::{RecordedInstance, RecordedSet, Report};
use magis_eval::repositories::{Applies, Repositories};
use magis_eval::results::{Judged, Results, RunState, Setting, read_verdicts};
use magis_store::Store;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Prints the report of one or more recorded sets.
pub fn report(args: &ReportArgs) -> Result<ExitCode> {
    if !args.judged.is_empty() && args.judged.len() != args.out.len() {
        bail!("give one --judged for each --out, in the same order");
    }
    let references = read_references(&args.instances)?;
    let mut sets = Vec::new();
    let mut repositories = None;
    for (at, out) in args.out.iter().enumerate() {
        let results = Results::open(out)?;
        let setting = results.setting()?;
        let folder = args.repos.clone().unwrap_or_else(|| setting.repos.clone());
        let at_hand = Repositories::new(&folder).ok();
        if let Some(judge) = &args.resolve {
            let folder = at_hand
                .as_ref()
                .with_context(|| format!("--resolve needs the repositories of {}", folder.display()))?;
            run_judge(judge, &results, &args.instances, folder)?;
        }
        let judged = match args.judged.get(at) {
            Some(file) => {
                let text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
                read_verdicts(&text)
                    .into_iter()
                    .map(|judged| (judged.instance_id.clone(), judged))
                    .collect()
            }
            None => results.judged()?,
        };
        let recheck = if args.recheck { at_hand.as_ref() } else { None };
        sets.push(recorded(out, &results, setting, &references, judged, recheck)?);
        repositories = repositories.or(at_hand);
    }
    let cache: RefCell<BTreeMap<(InstanceId, RepoPath), Option<String>>> = RefCell::default();
    let base = |reference: &Reference, path: &RepoPath| {
        let key = (reference.id.clone(), path.clone());
        let read = || {
            repositories
                .as_ref()?
                .text(&reference.repo, &reference.base_commit, path)
                .ok()?
        };
        cache.borrow_mut().entry(key).or_insert_with(read).clone()
    };
    let report = Report::of(&sets, &base);
    let text = if args.json {
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        report.text()
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .context("printing the report")?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the ended runs of a folder with everything that is known of them.
pub fn recorded(
    out: &Path,
    results: &Results,
    setting: Setting,
    references: &BTreeMap<InstanceId, Reference>,
    mut judged: BTreeMap<InstanceId, Judged>,
    recheck: Option<&Repositories>,
) -> Result<RecordedSet> {
    let store = store_of(out, &setting)?;
    let mut scores = results.task_scores()?;
    let mut runs = Vec::new();
    for (id, line) in results.runs()? {
        let RunState::Ended { applied, .. } = line.state else {
            eprintln!("{id}: its run is not over and is left out; go on with the set first");
            continue;
        };
        let Some(reference) = references.get(&id) else {
            eprintln!("{id}: the set has no reference for it; it is left out");
            continue;
        };
        let record = RunRecord::of(store.export_run(line.run)?)?;
        let applied = match recheck {
            Some(repositories) => {
                repositories.applies(&reference.repo, &reference.base_commit, record.patch())? == Applies::Yes
            }
            None => applied,
        };
        let (judged, score) = (
            judged.remove(&id),
            scores.remove(&id).filter(|score| score.run == line.run),
        );
        runs.push(RecordedInstance {
            reference: reference.clone(),
            record,
            applied,
            judged,
            score,
        });
    }
    Ok(RecordedSet { setting, runs })
}

/// Returns the store with the runs of a folder.
pub fn store_of(out: &Path, setting: &Setting) -> Result<Store> {
    let data = DataFolder::locate(Some(out.join(&setting.data_dir)))?;
    if !data.root().is_dir() {
        bail!(
            "the data folder {} of {} is not there",
            data.root().display(),
            out.display()
        );
    }
    Ok(Store::open(data.root())?)
}

/// Hands the predictions that were not judged yet to a judge. Empty ones are not: they cannot resolve anything.
fn run_judge(judge: &str, results: &Results, instances: &Path, repositories: &Repositories) -> Result<()> {
    let done = results.judged()?;
    let open: BTreeSet<InstanceId> = results
        .predictions()?
        .into_values()
        .filter(|prediction| !prediction.model_patch.trim().is_empty() && !done.contains_key(&prediction.instance_id))
        .map(|prediction| prediction.instance_id)
        .collect();
    if open.is_empty() {
        return Ok(());
    }
    let mut subset = tempfile::NamedTempFile::new().context("making a file for the judge")?;
    let text = std::fs::read_to_string(instances).with_context(|| format!("reading {}", instances.display()))?;
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        if row["instance_id"]
            .as_str()
            .is_some_and(|id| open.contains(&InstanceId(id.to_owned())))
        {
            writeln!(subset, "{line}").context("writing the file for the judge")?;
        }
    }
    eprintln!("judging {} predictions with {judge}", open.len());
    let options: Vec<(&str, PathBuf)> = vec![
        ("--instances", subset.path().to_owned()),
        ("--repos", repositories.folder().to_owned()),
        ("--predictions", results.predictions_file()),
    ];
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("exec {judge} \"$@\"")).arg("judge");
    for (name, value) in options {
        command.arg(name).arg(value);
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting the judge")?;
    let output = child.stdout.take().context("the judge gives no output")?;
    for line in BufReader::new(output).lines() {
        let line = line.context("reading from the judge")?;
        for judged in read_verdicts(&line)
            .iter()
            .filter(|judged| open.contains(&judged.instance_id))
        {
            results.judge(judged)?;
            let why = judged.why.as_deref().unwrap_or_default();
            eprintln!(
                "{}  {}  {why}",
                judged.instance_id,
                if judged.resolved { "resolved" } else { "unresolved" }
            );
        }
    }
    let status = child.wait().context("waiting for the judge")?;
    if !status.success() {
        bail!("the judge '{judge}' ended with {status}; its verdicts so far are kept");
    }
    Ok(())
}
