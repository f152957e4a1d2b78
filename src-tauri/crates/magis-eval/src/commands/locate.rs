//! `magis-eval locate`: file and symbol location alone, by the ranking or with the model's judgement.
//!
//! The measures are the library's; here issues are gone through and tables are put together.

mod described;
mod detail;
mod ground;
mod raw;
mod report;

pub use raw::Question;

use super::{load, runtime};
use crate::args::LocateArgs;
use anyhow::{Context as _, Result};
use detail::{Parts, tell_miss};
use ground::Ground;
use magis_core::{Issue, LineSpan, RepoPath};
use magis_engine::floors::search::{ScoredSymbol, Signal, Signals};
use magis_engine::{LocateExtent, Location};
use magis_eval::instances::read_references;
use report::{Order, Report, Times};
use std::process::ExitCode;

/// So many files of an order are looked at; a file beyond counts as not found.
const FILES: usize = 200;
/// So many symbols.
const SYMBOLS: usize = 20;

/// Measures a set.
pub fn locate(args: &LocateArgs) -> Result<ExitCode> {
    if let Some(file) = &args.record {
        return raw::record(args, file);
    }
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

/// The ranking, and what a model makes of it where one is named. Issues of one repository share an index, which is brought
/// to each base in turn.
async fn by_ranking(args: &LocateArgs, report: &mut Report) -> Result<()> {
    let references = read_references(&args.which.instances)?;
    let mut ground = Ground::begin(args)?;
    let model = match &args.engine.model {
        Some(model) => Some(load(ground.magis(), model, &args.engine.limits()).await?),
        None => None,
    };
    let mut heard = Signals::ALL;
    for name in &args.without {
        let signal = Signal::named(name).with_context(|| format!("there is no signal '{name}'"))?;
        heard = heard.without(signal);
    }
    let mut parts = args.parts.as_deref().map(Parts::create).transpose()?;
    for instance in ground.instances()? {
        let reference = references
            .get(&instance.id)
            .with_context(|| format!("{} has no reference", instance.id))?;
        let issue = Issue::new(&instance.problem_statement)?;
        let locator = ground.locator(&instance)?;
        // What is worked out once for a tree is not the query's.
        locator.locate(&Issue::new("once")?, &[], extent(heard))?;
        let mut location = locator.locate(&issue, &[], extent(heard))?;
        let ranked = files(&location);
        report.count(&Order::Ranking, reference, &ranked, &spans(&location.symbols));
        if let Some(place) = args.misses {
            tell_miss(reference, &location, place);
        }
        if let Some(parts) = &mut parts {
            parts.write(reference, &location)?;
        }
        let mut times = Times::of(&location.took);
        if let Some(model) = &model {
            let judgement = locator.judge(&issue, &mut location, args.top_k as usize, model).await?;
            let order = files(&location);
            report.count(&Order::Model, reference, &order, &spans(&location.symbols));
            let kept: Vec<&RepoPath> = order
                .iter()
                .zip(&judgement.files)
                .filter(|(_, file)| file.kept)
                .map(|(path, _)| path)
                .collect();
            report.chosen(&Order::Model, reference, &ranked, |path| kept.contains(&path));
            times = times.and_model(judgement.took);
            eprintln!("{} {:.1} s", instance.id, judgement.took.as_secs_f64());
        }
        report.times.push(&times);
        for signal in Signal::ALL
            .into_iter()
            .filter(|signal| args.ablation && heard.has(*signal))
        {
            let location = locator.locate(&issue, &[], extent(heard.without(signal)))?;
            let without = Order::Without(signal.name());
            report.count(&without, reference, &files(&location), &spans(&location.symbols));
        }
    }
    if let Some(model) = model {
        model.shutdown().await;
    }
    Ok(())
}

fn extent(signals: Signals) -> LocateExtent {
    LocateExtent {
        files: FILES,
        symbols: SYMBOLS,
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
