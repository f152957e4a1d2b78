//! Makes and judges the checks of an issue, for a program that runs them.
//!
//! `reproduction_of make` reads `{"issue", "paths", "marker"}` and prints the checks; `reproduction_of judge` reads
//! `{"check", "base", "changed"}`, the outputs of two runs, the second perhaps null, and prints what they say.

use anyhow::{Context, bail};
use magis_core::RepoPath;
use magis_evidence::reproduction::{Check, Marker, RunOutput, checks, observe, packages, pytest, reproduces, verdict};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Make {
    issue: String,
    paths: Vec<RepoPath>,
    marker: Marker,
}

#[derive(Deserialize)]
struct Judge {
    title: String,
    check: Check,
    base: RunOutput,
    changed: Option<RunOutput>,
}

fn main() -> anyhow::Result<()> {
    let input = std::io::read_to_string(std::io::stdin()).context("reading the standard input")?;
    let answer = match std::env::args().nth(1).as_deref() {
        Some("make") => {
            let asked: Make = serde_json::from_str(&input).context("reading what to make checks of")?;
            serde_json::to_value(checks(&asked.issue, &packages(asked.paths.iter()), &asked.marker))?
        }
        Some("judge") => judge(&serde_json::from_str(&input).context("reading what to judge")?),
        _ => bail!("say 'make' or 'judge'"),
    };
    println!("{answer}");
    Ok(())
}

fn judge(asked: &Judge) -> serde_json::Value {
    let base = observe(&asked.check, &asked.base);
    match reproduces(&asked.check, &base) {
        Ok(found) => {
            let said = asked
                .changed
                .as_ref()
                .map(|run| verdict(&asked.check, &found, &base, &observe(&asked.check, run)));
            json!({"reproduction": found, "verdict": said, "test": pytest(&asked.check, &base, &found, &asked.title)})
        }
        Err(why) => json!({"why": why.to_string()}),
    }
}
