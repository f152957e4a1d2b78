//! `magis-eval repair`: runs a set of bugs end to end and judges what comes of it: the patch, and every attempt that was made.
//!
//! What judges, tests or a script beside the set, never reaches a run. Rows are appended as they are done, and a bug that has its row is not run
//! again, so the command can be stopped and started. Rows that name a commit which is not the set's are of another bug, and an error.

mod bench;
mod case;
mod row;
mod table;

pub use table::table;

use super::{STOPPED, runtime, stop_on_interrupt};
use crate::args::RepairArgs;
use anyhow::{Context as _, Result, bail};
use magis_eval::instances::{InstanceId, rows, spread};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::process::ExitCode;

/// Runs `magis-eval repair`.
pub fn repair(args: &RepairArgs) -> Result<ExitCode> {
    let is_wanted = |id: &InstanceId| args.only.is_empty() || args.only.iter().any(|text| id.0.contains(text));
    let cases: Vec<case::RepairCase> = case::read_cases(&args.set, args.red)?
        .into_iter()
        .filter(|case| is_wanted(&case.id))
        .collect();
    let cases = spread(cases, args.every, args.limit);
    if cases.is_empty() {
        bail!("no bug of {} fits --only, --every and --limit", args.set.display());
    }
    let mut done: Vec<row::RepairRow> = if args.out.is_file() {
        rows(&args.out)?
    } else {
        Vec::new()
    };
    let known = known(&done, &cases).with_context(|| format!("going on with {}", args.out.display()))?;
    let runtime = runtime()?;
    let label = args.label.clone().unwrap_or_else(|| label(args));
    let stopped = runtime.block_on(async {
        let stop = stop_on_interrupt();
        let bench = bench::RepairBench::open(args, label).await?;
        let total = cases.len();
        for (number, case) in (1..).zip(&cases) {
            if known.contains(&case.id) {
                continue;
            }
            let row = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                row = bench.one(case) => row.with_context(|| format!("repairing {}", case.id))?,
            };
            let row = match row {
                Ok(row) => row,
                Err(why) => {
                    eprintln!("[{number}/{total}] {}: left out, {why}", case.id);
                    continue;
                }
            };
            eprintln!(
                "[{number}/{total}] {}: {}, {:.0} s",
                row.id,
                if args.only_places { place(&row) } else { outcome(&row) },
                row.seconds
            );
            let mut file = fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(&args.out)
                .with_context(|| format!("opening {}", args.out.display()))?;
            writeln!(file, "{}", serde_json::to_string(&row)?)
                .with_context(|| format!("writing {}", args.out.display()))?;
            done.push(row);
        }
        bench.close().await;
        anyhow::Ok(stop.is_cancelled())
    })?;
    print!("{}", table::text(&[done]));
    Ok(if stopped {
        ExitCode::from(STOPPED)
    } else {
        ExitCode::SUCCESS
    })
}

fn outcome(row: &row::RepairRow) -> String {
    let resolved = match (row.resolved, row.present) {
        (true, _) => "resolved",
        (false, true) => "not resolved, a right attempt was there",
        (false, false) => "not resolved",
    };
    format!("{resolved}, {}", row.proof)
}

fn place(row: &row::RepairRow) -> String {
    row.place.map_or_else(
        || "the reference is at none of the places".to_owned(),
        |place| format!("the reference is at place {place}"),
    )
}

/// Returns the bugs that have their row.
///
/// # Errors
/// When a row is of another bug that has the same name.
fn known(done: &[row::RepairRow], cases: &[case::RepairCase]) -> Result<BTreeSet<InstanceId>> {
    for case in cases {
        if let Some(row) = done.iter().find(|row| row.id == case.id && row.commit != case.commit) {
            bail!(
                "{} is there of commit {}, and in the set it is the bug of commit {}; write to another file, or make the set that these rows are of",
                row.id,
                row.commit.0,
                case.commit.0
            );
        }
    }
    Ok(done.iter().map(|row| row.id.clone()).collect())
}

/// Names a way of repairing by its options.
fn label(args: &RepairArgs) -> String {
    if args.one_shot {
        return "one shot, told the file".to_owned();
    }
    if args.quick {
        return "quick effort".to_owned();
    }
    if args.no_tests && args.attempts == 1 && args.places == 1 && !args.no_qa {
        return "plain loop".to_owned();
    }
    let mut label = format!("evidence, n={} m={}", args.attempts, args.places);
    if args.only_places {
        return format!("places alone, m={}", args.places);
    }
    let without = [(args.no_tests, "tests"), (args.no_checks, "checks"), (args.no_qa, "QA")];
    let without = without.iter().filter(|(is_left_out, _)| *is_left_out);
    let parts = args.without();
    for what in without
        .map(|(_, what)| *what)
        .chain(parts.iter().map(|part| part.label()))
    {
        label.push_str(", no ");
        label.push_str(what);
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_core::Proof;

    #[test]
    fn rows_of_another_bug_of_the_same_name_are_not_gone_on_with() {
        let folder = tempfile::tempdir().expect("a folder");
        let set = folder.path().join("set.jsonl");
        let bug = |commit: &str| {
            let row = serde_json::json!({ "instance_id": "a-1", "repo": "a/b", "base_commit": commit, "problem_statement": "It fails.", "gold": {} });
            fs::write(&set, format!("{row}\n")).expect("the set");
            case::read_cases(&set, false).expect("cases")
        };
        let done = [row::RepairRow::example("a-1", "evidence", true, Proof::NotRun)];
        let same = known(&done, &bug("c0ffee")).expect("the same bug");
        assert_eq!(same, BTreeSet::from([InstanceId("a-1".to_owned())]));
        let refused = known(&done, &bug("decaf")).expect_err("another bug").to_string();
        assert!(refused.starts_with("a-1 is there of commit c0ffee"), "{refused}");
    }
}
