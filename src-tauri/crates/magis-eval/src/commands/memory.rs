//! `magis-eval memory`: what keeping summaries right costs over a history, with memory and without.

use super::{load, model_of, open, runtime};
use crate::args::MemoryArgs;
use anyhow::{Context as _, Result, bail};
use magis_eval::replay::{
    Answers, History, Meter, Replayed, Start, TYPICAL_MESSAGE, TYPICAL_SUMMARY, TokensBy, Way, replay,
};
use magis_eval::table::{MarkdownTable, number};
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;

/// Replays a history against memory and prints what it would have cost.
pub fn memory(args: &MemoryArgs) -> Result<ExitCode> {
    if args.ask && args.engine.model.is_none() {
        bail!("--ask needs a model to ask; name one with --model");
    }
    let history = History::after(&args.repo, &args.from, args.commits)?;
    if history.len() < args.commits {
        eprintln!("only {} commits follow {}", history.len(), history.from());
    }
    let start = if args.cold { Start::Cold } else { Start::Warm };
    let answers = if args.ask { Answers::Model } else { Answers::Typical };
    let scratch = tempfile::tempdir().context("making a scratch folder")?;
    let (done, by) = runtime()?.block_on(async {
        let meter = Arc::new(if args.engine.model.is_some() {
            let magis = open(&scratch.path().join("models"), args.engine.models_dir.as_ref())?;
            let model = load(&magis, &model_of(&magis, &args.engine), &args.engine.limits()).await?;
            Meter::of(Arc::new(model), answers)
        } else {
            Meter::approximate()
        });
        let done = replay(&history, &meter, start, scratch.path()).await?;
        anyhow::Ok((done, meter.tokens_by()))
    })?;
    let assumptions = assumptions(args, start, by, answers);
    if args.json {
        let report = json!({
            "from": history.from(),
            "start": start,
            "tokens_by": by,
            "answers": answers,
            "assumptions": assumptions,
            "replayed": done,
            "anew_to_memory": done.ratio(),
            "anew_to_memory_with_first": done.ratio_with_first(),
            "whole_to_memory": done.ratio_to_whole(),
        });
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", text(&done, &assumptions));
    }
    Ok(ExitCode::SUCCESS)
}

fn assumptions(args: &MemoryArgs, start: Start, by: TokensBy, answers: Answers) -> Vec<String> {
    let counted = match by {
        TokensBy::Approximation => "a token is taken to be 3.3 characters".to_owned(),
        TokensBy::Tokenizer => format!(
            "tokens are counted by the tokenizer of {}",
            args.engine.model.as_deref().unwrap_or_default()
        ),
    };
    let answered = match answers {
        Answers::Typical => format!(
            "answers have the length of recorded ones: {TYPICAL_SUMMARY} tokens of a summary, {TYPICAL_MESSAGE} of a message"
        ),
        Answers::Model => format!(
            "with memory the model answers; summaries anew have the length of recorded ones, {TYPICAL_SUMMARY} tokens"
        ),
    };
    let begun = match start {
        Start::Warm => {
            "memory begins with the files that will change as they were at --from; what that cost is a row of its own"
        }
        Start::Cold => "memory begins empty",
    };
    vec![
        counted,
        answered,
        begun.to_owned(),
        "every readable version that a commit wrote is described once, right after that commit".to_owned(),
        "'anew' is the product's own P2, which reads at most 1,200 tokens of a file, as a skeleton".to_owned(),
        "tokens read are those computed; what stands at the beginning of an earlier prompt is 'reused'".to_owned(),
    ]
}

fn text(done: &Replayed, assumptions: &[String]) -> String {
    let mut table = MarkdownTable::new([
        "", "versions", "stored", "updated", "anew", "itself", "P1", "P2", "read", "reused", "written",
    ]);
    for (name, way) in [
        ("first summaries", done.first),
        ("with memory", done.memory),
        ("each anew", done.anew),
    ] {
        table.row(row(name, way));
    }
    let ratio = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
    let mut text = format!("{} commits, {} versions unreadable\n\n", done.commits, done.unreadable);
    text += &table.text();
    text += &format!(
        "\nwhole files: {} tokens\nanew / with memory: {}\nanew / with memory and the first summaries: {}\n\
         whole files / with memory: {}\n\n",
        done.whole,
        ratio(done.ratio()),
        ratio(done.ratio_with_first()),
        ratio(done.ratio_to_whole())
    );
    for assumption in assumptions {
        text += &format!("- {assumption}\n");
    }
    text
}

fn row(name: &str, way: Way) -> Vec<String> {
    let (how, spent) = (way.descriptions, way.spent);
    let counts = [
        how.versions,
        how.stored,
        how.updated,
        how.anew,
        how.itself,
        spent.p1,
        spent.p2,
    ];
    let tokens = [spent.read, spent.reused, spent.written];
    let mut cells = vec![name.to_owned()];
    cells.extend(counts.map(|count| count.to_string()));
    cells.extend(tokens.map(|count| count.to_string()));
    cells
}
