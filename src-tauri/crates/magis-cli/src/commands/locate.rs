//! `magis locate`: which files and functions an issue most likely means, and why.
//!
//! What ranks them is the engine's; here it is asked for, waited for and printed.

use super::engine;
use super::follow::listen;
use super::solve::read_issue;
use super::{Place, git, runtime};
use crate::args::LocateArgs;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::render::{Section, Tone, clean, count, thousands};
use crate::screen::tell;
use crate::status::StatusLine;
use magis_core::{Evidence, Issue};
use magis_engine::ranking::{Retention, Signals};
use magis_engine::repository::BaseChoice;
use magis_engine::{
    EngineError, LocateExtent, Location, Magis, ModelJudgement, Preparing, Relevance, SYMBOLS_TO_JUDGE,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Files of the ranking that the model is asked about.
const ASKED: usize = 20;
/// Where no status line is, standard error hears of a long reading this often.
const BEAT: Duration = Duration::from_secs(10);

/// Runs `magis locate`.
pub fn locate(place: &Place, args: &LocateArgs) -> Result<ExitStatus, Failure> {
    // What costs nothing is checked first, so that its message does not wait for an index.
    let issue = Issue::new(read_issue(&args.issue)?).map_err(EngineError::from)?;
    let root = git()?.open(&args.repo)?.root().to_owned();
    let magis = place.open()?;
    let model = match (&args.model, place.named_engine()) {
        (Some(word), _) => Some(magis.model_name(word)?),
        (None, Some(named)) => Some(engine::connect(&named)?.name()),
        (None, None) => None,
    };
    let status = StatusLine::new(place.screen);
    let runtime = runtime()?;
    let stop = CancellationToken::new();
    let found = runtime.block_on(async {
        let listener = tokio::spawn(listen(stop.clone()));
        let found = find(&magis, args, model.as_deref(), &issue, &status, &stop).await;
        listener.abort();
        found
    });
    status.clear();
    let (mut location, judgement) = match found {
        Ok(found) => found,
        Err(error) if error.is_cancelled() => {
            tell("Stopped; what was read is kept.");
            return Ok(ExitStatus::Stopped);
        }
        Err(error) => return Err(error.into()),
    };
    location.ranking.candidates.truncate(args.top as usize);
    location.symbols.truncate(args.top as usize);
    if args.json {
        place.screen.json(&report(&root, &location, judgement.as_ref()))?;
    } else {
        place.screen.write(&page(place, &location, judgement.as_ref()))?;
    }
    Ok(ExitStatus::Success)
}

async fn find(
    magis: &Magis,
    args: &LocateArgs,
    model: Option<&str>,
    issue: &Issue,
    status: &StatusLine,
    stop: &CancellationToken,
) -> Result<(Location, Option<ModelJudgement>), EngineError> {
    let base = match &args.at {
        Some(name) => BaseChoice::Revision { name: name.clone() },
        None => BaseChoice::Head,
    };
    let (files, symbols) = if model.is_some() {
        (ASKED, SYMBOLS_TO_JUDGE)
    } else {
        (0, 0)
    };
    let extent = LocateExtent {
        files: files.max(args.top as usize),
        symbols: symbols.max(args.top as usize),
        signals: Signals::ALL,
    };
    let mut watch = IndexProgress::new(status, stop);
    let located = tokio::task::block_in_place(|| {
        let locator = magis.locator(&args.repo, &base, Retention::Few, &mut |step| watch.take(step))?;
        let location = locator.locate(issue, &[], extent)?;
        Ok::<_, EngineError>((locator, location))
    });
    let (locator, mut location) = located?;
    let Some(model) = model else {
        return Ok((location, None));
    };
    status.say("loading the model");
    let judged = async {
        let limits = args.engine.limits();
        location.notes.extend(magis.check_model(model, &limits)?);
        let loaded = magis.load(model, &limits).await?;
        status.say("asking the model");
        let judgement = locator
            .judge(issue, &mut location, ASKED, Arc::clone(&loaded.model))
            .await?;
        loaded.shutdown().await;
        Ok::<_, EngineError>((location, Some(judgement)))
    };
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(EngineError::cancelled()),
        judged = judged => judged,
    }
}

/// Says how far the reading is: on the status line, else on standard error now and then.
struct IndexProgress<'a> {
    status: &'a StatusLine,
    stop: &'a CancellationToken,
    said: Instant,
}

impl<'a> IndexProgress<'a> {
    fn new(status: &'a StatusLine, stop: &'a CancellationToken) -> Self {
        Self {
            status,
            stop,
            said: Instant::now(),
        }
    }

    fn take(&mut self, step: Preparing) -> ControlFlow<()> {
        if self.stop.is_cancelled() {
            return ControlFlow::Break(());
        }
        let message = match step {
            Preparing::Waiting => "waiting for another process that updates the index".to_owned(),
            Preparing::Listing { files } => format!("listing the files, {} so far", thousands(files as u64)),
            Preparing::Index { done, total } => {
                format!("indexing {} of {}", thousands(done as u64), count(total, "file"))
            }
            Preparing::History { read } => format!("reading the history, {}", count(read, "commit")),
        };
        if !self.status.is_shown() && self.said.elapsed() >= BEAT {
            self.said = Instant::now();
            tell(&message);
        }
        self.status.say(&message);
        ControlFlow::Continue(())
    }
}

fn page(place: &Place, location: &Location, judgement: Option<&ModelJudgement>) -> String {
    let screen = place.screen;
    let mut page = Section::new(screen.paint, screen.width);
    let commit: String = location.base.commit.0.chars().take(10).collect();
    let looked = count(location.ranking.considered, "file");
    let name = &location.base.name;
    let at = if location.base.commit.0.starts_with(name.as_str()) {
        commit
    } else {
        format!("{name} ({commit})")
    };
    page.heading(&format!("Files, of {looked} in {at}"));
    if location.ranking.candidates.is_empty() {
        page.line("  Nothing in the repository resembles the issue.");
    }
    for (at, candidate) in location.ranking.candidates.iter().enumerate() {
        let relevance = judgement.and_then(|judgement| judgement.files.get(at));
        entry(
            &mut page,
            at,
            candidate.path.as_str(),
            candidate.score,
            relevance,
            &candidate.evidence,
        );
    }
    if !location.symbols.is_empty() {
        page.heading("Functions and types");
    }
    for (at, symbol) in location.symbols.iter().enumerate() {
        let lines = match symbol.span.lines() {
            1 => format!("{}", symbol.span.first()),
            _ => format!("{}-{}", symbol.span.first(), symbol.span.last()),
        };
        let name = format!("{}:{lines} {}", symbol.path, symbol.qualified_name);
        let relevance = judgement.and_then(|judgement| judgement.symbols.get(at));
        entry(&mut page, at, &name, symbol.score, relevance, &symbol.evidence);
    }
    let notes = notes(location);
    if !notes.is_empty() {
        page.heading("Notes");
    }
    for note in notes {
        page.prose(2, &note);
    }
    page.into_text()
}

fn entry(page: &mut Section, at: usize, name: &str, score: f64, relevance: Option<&Relevance>, evidence: &[Evidence]) {
    let naming = relevance.and_then(|relevance| relevance.naming);
    let said = naming.map_or_else(String::new, |naming| format!("  {naming:+.1}"));
    let name = page.paint.tone(Tone::Strong, &clean(name));
    page.line(&format!("{:>4}  {score:>5.2}{said}  {name}", at + 1));
    let why: Vec<String> = evidence.iter().map(ToString::to_string).collect();
    page.toned_prose(13, Some(Tone::Faint), &why.join("; "));
}

/// Returns the ranking's own notes, and for each reason the first file that was left out for it and how many others.
fn notes(location: &Location) -> Vec<String> {
    let mut notes = location.notes.clone();
    let mut left_out: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for skipped in &location.skipped {
        left_out
            .entry(skipped.reason.to_string())
            .or_default()
            .push(&skipped.path);
    }
    for (reason, paths) in left_out {
        let more = match paths.len() {
            1 => String::new(),
            all => format!(" and {}", count(all - 1, "other file")),
        };
        notes.push(format!("Left out: {}{more} ({reason})", clean(paths[0])));
    }
    notes
}

fn report(root: &Path, location: &Location, judgement: Option<&ModelJudgement>) -> Value {
    let why = |evidence: &[Evidence]| -> Value {
        let one = |evidence: &Evidence| {
            let mut value = serde_json::to_value(evidence).unwrap_or_default();
            if let Some(fields) = value.as_object_mut() {
                fields.insert("sentence".to_owned(), json!(evidence.to_string()));
            }
            value
        };
        evidence.iter().map(one).collect()
    };
    let naming = |relevance: Option<&Relevance>| {
        json!({
            "naming": relevance.and_then(|relevance| relevance.naming),
            "relevance": relevance.map(|relevance| relevance.fused),
        })
    };
    let judged = |relevance: Option<&Relevance>| {
        let mut value = naming(relevance);
        // Only files are kept or dropped.
        value["kept"] = json!(relevance.map(|relevance| relevance.kept));
        value
    };
    let files = location.ranking.candidates.iter().enumerate().map(|(at, candidate)| {
        json!({
            "path": candidate.path,
            "score": candidate.score,
            "model": judgement.map(|judgement| judged(judgement.files.get(at))),
            "evidence": why(&candidate.evidence),
        })
    });
    let symbols = location.symbols.iter().enumerate().map(|(at, symbol)| {
        json!({
            "path": symbol.path,
            "name": symbol.qualified_name,
            "first_line": symbol.span.first(),
            "last_line": symbol.span.last(),
            "score": symbol.score,
            "model": judgement.map(|judgement| naming(judgement.symbols.get(at))),
            "evidence": why(&symbol.evidence),
        })
    });
    let skipped = location.skipped.iter();
    json!({
        "repository": root,
        "at": location.base.name,
        "commit": location.base.commit,
        "considered": location.ranking.considered,
        "files": files.collect::<Value>(),
        "symbols": symbols.collect::<Value>(),
        "left_out": skipped.map(|one| json!({"path": one.path, "why": one.reason.to_string()})).collect::<Value>(),
        "notes": location.notes,
        "seconds": {
            "index": location.took.index.as_secs_f64(),
            "history": location.took.history.as_secs_f64(),
            "query": location.took.query.as_secs_f64(),
            "model": judgement.map(|judgement| judgement.took.as_secs_f64()),
        },
    })
}
