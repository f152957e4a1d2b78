//! `magis-eval repair-table`: results of `repair` beside each other, and each against the first.

use super::row::{self, RepairRow};
use crate::args::RepairTableArgs;
use anyhow::Result;
use magis_core::{CommitId, Grade, Stage};
use magis_eval::instances::InstanceId;
use magis_eval::statistics::{mcnemar, median, wilson};
use magis_eval::table::{MarkdownTable, number, number_or_dash};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

/// Runs `magis-eval repair-table`.
pub fn table(args: &RepairTableArgs) -> Result<ExitCode> {
    let results: Vec<Vec<RepairRow>> = args.files.iter().map(|file| row::read(file)).collect::<Result<_>>()?;
    if args.json {
        let ways: Vec<_> = results.iter().map(|rows| RepairSummary::of(rows).json()).collect();
        let first = results.first().map_or(&[][..], Vec::as_slice);
        let compared: Vec<_> = results
            .iter()
            .skip(1)
            .map(|other| Compared::of(first, other).json())
            .collect();
        println!(
            "{}",
            serde_json::to_string_pretty(&json!({ "ways": ways, "first_against": compared }))?
        );
    } else {
        print!("{}", text(&results));
    }
    Ok(ExitCode::SUCCESS)
}

/// How much a check may prove, the most first.
const GRADES: [Grade; 4] = [
    Grade::ExpectedResult,
    Grade::ExceptionGone,
    Grade::WrongOutputGone,
    Grade::SomethingChanged,
];

/// A row of the table: its name, and what it says of a way.
type Cell = (&'static str, Box<dyn Fn(&RepairSummary) -> String>);

/// Returns the results beside each other as text.
pub fn text(results: &[Vec<RepairRow>]) -> String {
    let summaries: Vec<RepairSummary> = results.iter().map(|rows| RepairSummary::of(rows)).collect();
    let mut table = MarkdownTable::new(
        std::iter::once("measure".to_owned()).chain(summaries.iter().map(|summary| summary.label.clone())),
    );
    let share = |part: usize, whole: usize| {
        let (low, high) = wilson(part, whole);
        format!("{part}/{whole} [{:.0}, {:.0}] %", 100.0 * low, 100.0 * high)
    };
    let cells: [Cell; 15] = [
        ("left out", Box::new(RepairSummary::named_left_out)),
        ("applied", Box::new(move |it| share(it.applied, it.bugs))),
        ("resolved", Box::new(move |it| share(it.resolved, it.bugs))),
        ("right attempt present", Box::new(move |it| share(it.present, it.bugs))),
        (
            "present, not chosen",
            Box::new(move |it| share(it.not_chosen, it.present)),
        ),
        ("shown to work", Box::new(move |it| share(it.shown, it.bugs))),
        (
            "wrong, called shown to work",
            Box::new(move |it| share(it.wrong_shown, it.bugs)),
        ),
        (
            "with a check that fails on the base",
            Box::new(move |it| share(it.with_check, it.bugs)),
        ),
        (
            "right place among 1",
            Box::new(move |it| share(it.place_at(1), it.bugs)),
        ),
        (
            "right place among 3",
            Box::new(move |it| share(it.place_at(3), it.bugs)),
        ),
        (
            "right place among 5",
            Box::new(move |it| share(it.place_at(5), it.bugs)),
        ),
        (
            "needless files in resolved patches",
            Box::new(move |it| share(it.needless_files, it.files)),
        ),
        ("attempts judged, median", Box::new(|it| number_or_dash(it.attempts))),
        ("seconds, median", Box::new(|it| number_or_dash(it.seconds))),
        ("tokens, median", Box::new(|it| number_or_dash(it.tokens))),
    ];
    for (name, cell) in cells {
        table.row(std::iter::once(name.to_owned()).chain(summaries.iter().map(cell)));
    }
    for grade in GRADES {
        let cell = |summary: &RepairSummary| share(summary.checked_by(grade), summary.grades.values().sum());
        table.row(std::iter::once(format!("checked by: {grade}")).chain(summaries.iter().map(cell)));
    }
    let stages: BTreeSet<Stage> = summaries
        .iter()
        .flat_map(|summary| summary.stages.keys().copied())
        .collect();
    for stage in stages {
        let cell = |summary: &RepairSummary| {
            let (seconds, tokens) = summary.stages.get(&stage).copied().unwrap_or_default();
            format!("{} s, {}", number(seconds), number(tokens))
        };
        table.row(std::iter::once(format!("{stage}: seconds, tokens, mean")).chain(summaries.iter().map(cell)));
    }
    let mut text = table.text();
    if let Some((first, others)) = results.split_first().filter(|(_, others)| !others.is_empty()) {
        let mut compared = MarkdownTable::new([
            "first against",
            "bugs",
            "resolved",
            "ratio",
            "only first",
            "only other",
            "McNemar p",
        ]);
        for other in others {
            let it = Compared::of(first, other);
            compared.row([
                it.label.clone(),
                it.bugs.to_string(),
                format!("{} : {}", it.first, it.other),
                it.ratio().map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
                it.only_first.to_string(),
                it.only_other.to_string(),
                format!("{:.4}", it.p()),
            ]);
        }
        text.push('\n');
        text.push_str(&compared.text());
    }
    text
}

/// What the rows of one way of repairing come to.
struct RepairSummary {
    label: String,
    /// Why bugs were left out. They are in none of the numbers below.
    left_out: BTreeMap<InstanceId, String>,
    bugs: usize,
    applied: usize,
    resolved: usize,
    present: usize,
    not_chosen: usize,
    shown: usize,
    wrong_shown: usize,
    with_check: usize,
    /// Of how many bugs the best check proves so much at the most, as far as their rows say it.
    grades: BTreeMap<Grade, usize>,
    places: Vec<usize>,
    /// Files of resolved patches, and those of them that the reference does not touch.
    files: usize,
    needless_files: usize,
    attempts: Option<f64>,
    seconds: Option<f64>,
    tokens: Option<f64>,
    /// Seconds and tokens, a bug's share.
    stages: BTreeMap<Stage, (f64, f64)>,
}

impl RepairSummary {
    fn of(all: &[RepairRow]) -> Self {
        let rows: Vec<&RepairRow> = measured(all).collect();
        let count = |is: &dyn Fn(&RepairRow) -> bool| rows.iter().filter(|row| is(row)).count();
        let of_resolved = |files: fn(&RepairRow) -> usize| {
            let resolved = rows.iter().copied().filter(|row| row.resolved);
            resolved.map(files).sum::<usize>()
        };
        let left_out = |row: &RepairRow| Some((row.id.clone(), row.left_out.clone()?));
        let mut grades: BTreeMap<Grade, usize> = BTreeMap::new();
        for grade in rows.iter().filter_map(|row| row.grade) {
            *grades.entry(grade).or_default() += 1;
        }
        let mut stages: BTreeMap<Stage, (f64, f64)> = BTreeMap::new();
        for (stage, cost) in rows.iter().flat_map(|row| &row.stages) {
            let sum = stages.entry(*stage).or_default();
            sum.0 += cost.seconds / rows.len() as f64;
            sum.1 += cost.tokens as f64 / rows.len() as f64;
        }
        Self {
            label: labels(all),
            left_out: all.iter().filter_map(left_out).collect(),
            bugs: rows.len(),
            applied: count(&|row| row.applied),
            resolved: count(&|row| row.resolved),
            present: count(&|row| row.present),
            not_chosen: count(&|row| row.present && !row.resolved),
            shown: count(&|row| row.proof.is_shown()),
            wrong_shown: count(&|row| row.proof.is_shown() && !row.resolved),
            with_check: count(&|row| row.checks > 0),
            grades,
            places: rows.iter().filter_map(|row| row.place).collect(),
            files: of_resolved(|row| row.files),
            needless_files: of_resolved(|row| row.needless_files),
            attempts: median(rows.iter().map(|row| row.attempts as f64)),
            seconds: median(rows.iter().map(|row| row.seconds)),
            tokens: median(rows.iter().map(|row| row.tokens as f64)),
            stages,
        }
    }

    /// Returns how many bugs were left out, and which.
    fn named_left_out(&self) -> String {
        let ids: Vec<&str> = self.left_out.keys().map(|id| id.0.as_str()).collect();
        if ids.is_empty() {
            "0".to_owned()
        } else {
            format!("{} ({})", ids.len(), ids.join(", "))
        }
    }

    /// Returns of how many bugs the best check proves so much at the most.
    fn checked_by(&self, grade: Grade) -> usize {
        self.grades.get(&grade).copied().unwrap_or_default()
    }

    /// Returns for how many bugs the right place is among the first so many.
    fn place_at(&self, most: usize) -> usize {
        self.places.iter().filter(|place| **place <= most).count()
    }

    fn json(&self) -> serde_json::Value {
        let intervals: BTreeMap<&str, _> = [
            ("applied", self.applied, self.bugs),
            ("resolved", self.resolved, self.bugs),
            ("right_attempt_present", self.present, self.bugs),
            ("present_not_chosen", self.not_chosen, self.present),
            ("shown_to_work", self.shown, self.bugs),
            ("wrong_shown_to_work", self.wrong_shown, self.bugs),
            ("with_a_check", self.with_check, self.bugs),
        ]
        .map(|(name, part, whole)| (name, wilson(part, whole)))
        .into();
        let stages: BTreeMap<Stage, _> = self
            .stages
            .iter()
            .map(|(stage, (seconds, tokens))| (*stage, json!({ "seconds": seconds, "tokens": tokens })))
            .collect();
        json!({
            "label": self.label,
            "bugs": self.bugs,
            "left_out": self.left_out,
            "applied": self.applied,
            "resolved": self.resolved,
            "intervals_95": intervals,
            "right_attempt_present": self.present,
            "present_not_chosen": self.not_chosen,
            "shown_to_work": self.shown,
            "wrong_shown_to_work": self.wrong_shown,
            "with_a_check": self.with_check,
            "checked_by": self.grades,
            "place_at": { "1": self.place_at(1), "3": self.place_at(3), "5": self.place_at(5) },
            "files_of_resolved": self.files,
            "needless_files_of_resolved": self.needless_files,
            "median_attempts": self.attempts,
            "median_seconds": self.seconds,
            "median_tokens": self.tokens,
            "stages": stages,
        })
    }
}

/// Names the way that rows were made: where they were made in several, each with its number of rows.
fn labels(rows: &[RepairRow]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        *counts.entry(&row.label).or_default() += 1;
    }
    let named: Vec<String> = match counts.len() {
        0 => vec!["-".to_owned()],
        1 => counts.into_keys().map(str::to_owned).collect(),
        _ => counts
            .iter()
            .map(|(label, count)| format!("{label} ({count})"))
            .collect(),
    };
    named.join("; ")
}

/// Returns the rows of the bugs that were not left out.
fn measured(rows: &[RepairRow]) -> impl Iterator<Item = &RepairRow> {
    rows.iter().filter(|row| row.left_out.is_none())
}

/// Two ways on the bugs that both have done and measured.
struct Compared {
    label: String,
    bugs: usize,
    first: usize,
    other: usize,
    only_first: usize,
    only_other: usize,
}

impl Compared {
    fn of<'a>(first: &'a [RepairRow], other: &'a [RepairRow]) -> Self {
        let key = |row: &'a RepairRow| (&row.id, &row.commit);
        let resolved: BTreeMap<(&InstanceId, &CommitId), bool> =
            measured(first).map(|row| (key(row), row.resolved)).collect();
        let pairs: Vec<(bool, bool)> = measured(other)
            .filter_map(|row| Some((*resolved.get(&key(row))?, row.resolved)))
            .collect();
        let count = |is: &dyn Fn(bool, bool) -> bool| pairs.iter().filter(|(one, two)| is(*one, *two)).count();
        Self {
            label: labels(other),
            bugs: pairs.len(),
            first: count(&|one, _| one),
            other: count(&|_, two| two),
            only_first: count(&|one, two| one && !two),
            only_other: count(&|one, two| two && !one),
        }
    }

    fn ratio(&self) -> Option<f64> {
        (self.other > 0).then(|| self.first as f64 / self.other as f64)
    }

    fn p(&self) -> f64 {
        mcnemar(self.only_first, self.only_other)
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "label": self.label,
            "bugs": self.bugs,
            "resolved": [self.first, self.other],
            "ratio": self.ratio(),
            "only_first": self.only_first,
            "only_other": self.only_other,
            "mcnemar_p": self.p(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magis_core::{Grade, Proof};

    fn all(label: &str, resolved: &str) -> Vec<RepairRow> {
        let shown = Proof::ShownToWork {
            grade: Grade::ExpectedResult,
        };
        (0..)
            .zip(resolved.chars())
            .map(|(at, one)| RepairRow::example(&format!("bug-{at}"), label, one == '1', shown.clone()))
            .collect()
    }

    #[test]
    fn ways_stand_beside_each_other_and_each_against_the_first_on_the_bugs_they_share() {
        let text = text(&[all("evidence", "11110111"), all("one shot", "1000000")]);
        let line = |begin: &str| {
            text.lines()
                .find(|line| line.starts_with(begin))
                .unwrap_or_default()
                .to_owned()
        };
        assert!(line("resolved ").contains("7/8 [53, 98] %"), "{text}");
        assert!(line("resolved ").contains("1/7 [3, 51] %"), "{text}");
        assert!(line("wrong, called shown to work").contains("1/8"), "{text}");
        assert!(line("right place among 1").contains("0/8"), "{text}");
        assert!(line("right place among 3").contains("7/8"), "{text}");
        let compared: Vec<String> = line("one shot").split_whitespace().map(str::to_owned).collect();
        assert_eq!(compared.join(" "), "one shot 7 6 : 1 6.00 5 0 0.0625", "{text}");
    }

    #[test]
    fn rows_made_in_several_ways_are_named_as_that() {
        let rows = [all("n=96", "11"), all("n=192", "0")].concat();
        assert_eq!(RepairSummary::of(&rows).label, "n=192 (1); n=96 (2)");
        let intervals = &RepairSummary::of(&rows).json()["intervals_95"];
        assert_eq!(intervals["resolved"].as_array().map(Vec::len), Some(2), "{intervals}");
    }

    #[test]
    fn bugs_of_one_name_and_different_commits_are_not_compared() {
        let (first, mut other) = (all("evidence", "11"), all("one shot", "01"));
        other[0].commit = CommitId("d".to_owned());
        let it = Compared::of(&first, &other);
        assert_eq!((it.bugs, it.first, it.other), (1, 1, 1));
    }
}
