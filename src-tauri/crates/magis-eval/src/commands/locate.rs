//! `magis-eval locate`: file and symbol location alone, by the ranking or with the model's judgement.
//!
//! The measures are the library's; here issues are gone through and tables are put together.

mod described;
mod environment;
mod report;

use super::{load, runtime};
use crate::args::LocateSetArgs;
use anyhow::{Context as _, Result};
use environment::Environment;
use magis_core::{Issue, LineSpan, RepoPath};
use magis_engine::{LocateExtent, Location, SYMBOLS_TO_JUDGE};
use magis_eval::instances::{Reference, read_references};
use magis_eval::measures::locating::{all_files, first_symbol};
use magis_search::{ScoredSymbol, Signal, Signals};
use report::{Order, Report};
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

/// The number of files of an order that are looked at; a file beyond counts as not found.
const FILES: usize = 200;

/// Measures how well the files of a set of issues are found.
pub fn locate(args: &LocateSetArgs) -> Result<ExitCode> {
    let mut report = Report::default();
    if args.by_description {
        let code = described::judge(args, &mut report)?;
        if code != ExitCode::SUCCESS {
            return Ok(code);
        }
    } else {
        runtime()?.block_on(by_ranking(args, &mut report))?;
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", report.text());
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the ranking, and what a model makes of it where one is named. Issues of one repository share an index, which
/// is brought to each base in turn.
async fn by_ranking(args: &LocateSetArgs, report: &mut Report) -> Result<()> {
    let references = read_references(&args.which.instances)?;
    let mut environment = Environment::begin(args)?;
    let model = match &args.engine.model {
        Some(model) => Some(Arc::new(load(environment.magis(), model, &args.engine.limits()).await?)),
        None => None,
    };
    let instances = environment.instances()?;
    for (at, instance) in instances.iter().enumerate() {
        let reference = references
            .get(&instance.id)
            .with_context(|| format!("{} has no reference", instance.id))?;
        let issue = Issue::new(&instance.problem_statement)?;
        let locator = environment.locator(instance)?;
        // What is worked out once for a tree is not the query's.
        locator.locate(&Issue::new("once")?, &[], extent(Signals::ALL))?;
        let mut location = locator.locate(&issue, &[], extent(Signals::ALL))?;
        let ranked = files(&location);
        report.count(&Order::Ranking, reference, &ranked, Some(&spans(&location.symbols)));
        let mut took = location.took.query;
        let mut asked = None;
        if let Some(model) = &model {
            let judgement = locator
                .judge(&issue, &mut location, args.top_k as usize, model.clone())
                .await?;
            let order = files(&location);
            report.count(&Order::Model, reference, &order, Some(&spans(&location.symbols)));
            let kept: Vec<&RepoPath> = order
                .iter()
                .zip(&judgement.files)
                .filter(|(_, file)| file.kept)
                .map(|(path, _)| path)
                .collect();
            report.chosen(&Order::Model, reference, &ranked, |path| kept.contains(&path));
            took += judgement.took;
            asked = Some(judgement.took);
        }
        report.times.take(&location.took, asked);
        eprintln!(
            "[{}/{}] {}: {} in {:.1} s",
            at + 1,
            instances.len(),
            instance.id,
            found(reference, &location),
            took.as_secs_f64()
        );
        for signal in Signal::ALL.into_iter().filter(|_| args.ablation) {
            let location = locator.locate(&issue, &[], extent(Signals::ALL.without(signal)))?;
            let without = Order::Without(signal.name());
            report.count(&without, reference, &files(&location), Some(&spans(&location.symbols)));
        }
    }
    if let Some(model) = model {
        model.shutdown().await;
    }
    Ok(())
}

/// Returns where the reference stands in an order, for whoever watches a long measurement.
fn found(reference: &Reference, location: &Location) -> String {
    let gold: BTreeSet<RepoPath> = reference.files().into_iter().collect();
    let place = |at: Option<usize>| at.map_or_else(|| "nowhere".to_owned(), |at| format!("at {}", at + 1));
    let symbol = first_symbol(&spans(&location.symbols), &reference.gold);
    format!(
        "files {}, symbol {}",
        place(all_files(&files(location), &gold)),
        place(symbol)
    )
}

fn extent(signals: Signals) -> LocateExtent {
    LocateExtent {
        files: FILES,
        symbols: SYMBOLS_TO_JUDGE,
        signals,
    }
}

fn files(location: &Location) -> Vec<RepoPath> {
    let candidates = location.ranking.candidates.iter();
    candidates.map(|candidate| candidate.path.clone()).collect()
}

fn spans(symbols: &[ScoredSymbol]) -> Vec<(RepoPath, LineSpan)> {
    symbols
        .iter()
        .map(|symbol| (symbol.path.clone(), symbol.span))
        .collect()
}
