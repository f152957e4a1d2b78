//! `magis-eval repair`: runs a set of bugs end to end and judges what comes of it: the patch, and every attempt that was made.
//!
//! What judges, tests or a script beside the set, never reaches a run. Rows are appended as they are done, and a bug that has its row is not run again,
//! so the command can be stopped and started. A bug that could not be measured has a row that says so, counts nowhere, and is tried again. Rows that name a
//! commit which is not the set's are of another bug, and an error; so are rows of another model, label, seed or number of rounds.

mod attempts;
mod bench;
mod case;
mod places;
mod row;
mod table;

pub use table::table;

use super::{STOPPED, runtime, stop_on_interrupt};
use crate::args::RepairArgs;
use anyhow::{Context as _, Result, bail};
use magis_eval::instances::{InstanceId, spread};
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
    let mut done = if args.out.is_file() {
        row::read(&args.out)?
    } else {
        Vec::new()
    };
    let known = known(&done, &cases).with_context(|| format!("going on with {}", args.out.display()))?;
    let runtime = runtime()?;
    let label = args.label.clone().unwrap_or_else(|| label(args));
    let stopped = runtime.block_on(async {
        let stop = stop_on_interrupt();
        let bench = bench::RepairBench::open(args, label, &done).await?;
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
            let came = match &row.left_out {
                Some(why) => format!("left out, {why}"),
                None if args.only_places => format!("{}, {:.0} s", place(&row), row.seconds),
                None => format!("{}, {:.0} s", outcome(&row), row.seconds),
            };
            eprintln!("[{number}/{total}] {}: {came}", row.id);
            let mut file = fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(&args.out)
                .with_context(|| format!("opening {}", args.out.display()))?;
            writeln!(file, "{}", serde_json::to_string(&row)?)
                .with_context(|| format!("writing {}", args.out.display()))?;
            row::add(&mut done, row);
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

/// Returns the bugs that have their row, without those that were left out.
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
    let measured = done.iter().filter(|row| row.left_out.is_none());
    Ok(measured.map(|row| row.id.clone()).collect())
}

/// Names a way of repairing by its options. Two ways have different names, but for the number of rounds, the seed and the model, which rows have beside it.
fn label(args: &RepairArgs) -> String {
    let is_plain = args.no_tests && args.attempts == 1 && args.places == 1 && !args.no_qa && args.writing.is_empty();
    let mut label = if args.one_shot {
        "one shot, told the file".to_owned()
    } else if args.quick {
        "quick effort".to_owned()
    } else if is_plain && !args.only_places {
        "plain loop".to_owned()
    } else {
        by_evidence(args)
    };
    for part in args.without() {
        label.push_str(", no ");
        label.push_str(part.label());
    }
    if args.red {
        label.push_str(", failing tests left in");
    }
    label
}

/// Names a way that makes several attempts, or measures its places alone, by how these are made and judged.
fn by_evidence(args: &RepairArgs) -> String {
    // Without tests a round has one place, as in the paper.
    let places = if args.no_tests { 1 } else { args.places };
    let mut label = if args.only_places {
        format!("places alone, m={places}")
    } else {
        format!("evidence, n={} m={places}", args.attempts)
    };
    let modes: Vec<&str> = args.writing.iter().map(|mode| mode.label()).collect();
    if !modes.is_empty() {
        label.push_str(", writing ");
        label.push_str(&modes.join(" and "));
    }
    let without = [
        (args.no_tests, "tests"),
        (args.no_project_tests, "project tests"),
        (args.no_checks, "checks"),
        (args.no_qa, "QA"),
    ];
    for (_, what) in without.iter().filter(|(is_left_out, _)| *is_left_out) {
        label.push_str(", no ");
        label.push_str(what);
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{EvalCli, EvalCommand};
    use clap::Parser as _;
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

    #[test]
    fn a_bug_that_was_left_out_is_tried_again() {
        let left_out = row::RepairRow {
            left_out: Some("its judge fails".to_owned()),
            ..row::RepairRow::example("a-1", "evidence", false, Proof::NotRun)
        };
        let mut done = vec![
            left_out,
            row::RepairRow::example("a-2", "evidence", true, Proof::NotRun),
        ];
        let names = |done: &[row::RepairRow]| {
            let known = known(done, &[]).expect("bugs of the set");
            known.into_iter().map(|id| id.0).collect::<Vec<_>>()
        };
        assert_eq!(names(&done), ["a-2"]);
        row::add(
            &mut done,
            row::RepairRow::example("a-1", "evidence", true, Proof::NotRun),
        );
        assert_eq!(
            (names(&done), done.len()),
            (vec!["a-1".to_owned(), "a-2".to_owned()], 2)
        );
    }

    fn check_label(options: &str, expected: &str) {
        let line = format!("magis-eval repair --set s --work w --out o {options}");
        let typed = EvalCli::try_parse_from(line.split_whitespace()).expect("a command line");
        let EvalCommand::Repair(args) = typed.command else {
            unreachable!("{line} was typed");
        };
        assert_eq!(label(&args), expected);
    }

    #[test]
    fn a_way_is_named_by_what_it_goes_without_and_by_how_answers_are_asked_for() {
        check_label("--attempts 8 --places 2", "evidence, n=8 m=2");
        check_label(
            "--attempts 8 --places 2 --no-project-tests",
            "evidence, n=8 m=2, no project tests",
        );
        check_label(
            "--attempts 8 --places 2 --writing fill-in --writing lines --no-qa",
            "evidence, n=8 m=2, writing fill-in and lines, no QA",
        );
        check_label(
            "--only-places --places 2 --writing token-edit",
            "places alone, m=2, writing token edit",
        );
        check_label(
            "--attempts 8 --places 2 --red",
            "evidence, n=8 m=2, failing tests left in",
        );
        check_label("--no-tests --attempts 1 --places 1", "plain loop");
        check_label("--attempts 8 --places 2 --no-tests", "evidence, n=8 m=1, no tests");
        check_label("--one-shot", "one shot, told the file");
        check_label("--quick", "quick effort");
        check_label(
            "--no-tests --attempts 1 --places 1 --writing definition",
            "evidence, n=1 m=1, writing definition, no tests",
        );
        check_label(
            "--attempts 8 --places 2 --no-qa --no-meeting --no-past-fix --red",
            "evidence, n=8 m=2, no QA, no meeting, no past fix, failing tests left in",
        );
    }

    #[test]
    fn every_way_is_named_by_what_it_goes_without_and_by_the_tests_that_are_left_in() {
        check_label(
            "--no-tests --attempts 1 --places 1 --no-meeting --red",
            "plain loop, no meeting, failing tests left in",
        );
        check_label(
            "--quick --no-past-fix --red",
            "quick effort, no past fix, failing tests left in",
        );
        check_label("--one-shot --red", "one shot, told the file, failing tests left in");
    }
}
