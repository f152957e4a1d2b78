//! `magis-eval mutate`: makes sets of small bugs from projects whose tests pass, and judges patches of such sets.
//!
//! A project is unpacked and committed as it is, its tests run twice in the sandbox, then mutations are tried in an order drawn by the seed, of all
//! kinds and in all files alike, until enough are kept.

mod issues;
mod judged;
mod making;
mod project;
mod queue;

pub(super) use project::{repository_of, tree_of};

use super::{runtime, sandbox_helper};
use crate::args::{MutateArgs, StyleArg};
use anyhow::{Context as _, Result};
use magis_eval::mutation::{IssueStyle, MutatedBug};
use magis_eval::table::MarkdownTable;
use magis_sandbox::Sandbox;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// Runs `magis-eval mutate`.
pub fn mutate(args: &MutateArgs) -> Result<ExitCode> {
    let work = std::path::absolute(&args.work).with_context(|| format!("finding {}", args.work.display()))?;
    let runtime = runtime()?;
    let sandbox = runtime.block_on(Sandbox::confined(sandbox_helper()?))?;
    if let (Some(predictions), Some(set)) = (&args.judge, &args.set) {
        return runtime.block_on(judged::judge_all(predictions, set, &work, &sandbox, args.json));
    }
    let (Some(given), Some(out)) = (&args.project, &args.out) else {
        anyhow::bail!("give --project with --out, or --judge with --set");
    };
    let project = project::Project::prepare(given, &work)?;
    let plan = making::MutationPlan {
        count: args.count,
        tries: args.tries.unwrap_or(args.count * 15),
        seed: args.seed,
        style: args.style.into(),
        command: args.test_cmd.clone(),
    };
    let red = out.with_extension("red.jsonl");
    let mut made: Vec<MutatedBug> = Vec::new();
    let number = numbered(out, &project.name)?;
    runtime.block_on(making::make(&project, &plan, sandbox, number, &mut |bug| {
        append(out, &bug)?;
        append(&red, &making::with_red_tests(&bug, &project.repository)?)?;
        made.push(bug);
        Ok(())
    }))?;
    if args.json {
        println!(
            "{}",
            serde_json::to_string_pretty(&serde_json::json!({ "bugs": made }))?
        );
    } else {
        print(&made);
    }
    Ok(if made.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Returns the number of the first bug that is added: those of a project are counted.
fn numbered(out: &Path, name: &str) -> Result<usize> {
    if !out.is_file() {
        return Ok(1);
    }
    let rows: Vec<MutatedBug> = magis_eval::instances::rows(out)?;
    let prefix = format!("{name}-");
    let numbers = rows
        .iter()
        .filter_map(|row| row.instance_id.0.strip_prefix(&prefix)?.parse::<usize>().ok());
    Ok(numbers.max().unwrap_or(0) + 1)
}

fn append(file: &Path, bug: &MutatedBug) -> Result<()> {
    let mut open = OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .with_context(|| format!("opening {}", file.display()))?;
    writeln!(open, "{}", serde_json::to_string(bug)?).with_context(|| format!("writing {}", file.display()))
}

fn print(made: &[MutatedBug]) {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for bug in made {
        *kinds.entry(bug.kind.name()).or_default() += 1;
    }
    let mut table = MarkdownTable::new(["kind", "bugs"]);
    for (kind, count) in kinds {
        table.row([kind.to_owned(), count.to_string()]);
    }
    print!("{}", table.text());
}

impl From<StyleArg> for IssueStyle {
    fn from(style: StyleArg) -> Self {
        match style {
            StyleArg::Snippet => Self::Snippet,
            StyleArg::Words => Self::Words,
            StyleArg::Traceback => Self::Traceback,
            StyleArg::Mixed => Self::Mixed,
        }
    }
}
