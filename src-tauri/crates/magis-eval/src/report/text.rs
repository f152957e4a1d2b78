//! A report as aligned text: the settings beside each other first, then each one by itself.

use super::{Locating, Report, SettingReport, TaskScores};
use crate::measures::complexity::Group;
use crate::measures::coverage::CoverageTable;
use crate::measures::locating::PLACES;
use crate::measures::loss::Lost;
use crate::statistics::Range;
use crate::table::{MarkdownTable, number, number_or_dash, share};

impl Report {
    /// Writes the whole report as plain text.
    pub fn text(&self) -> String {
        let mut text = self.overview();
        for setting in &self.settings {
            text.push_str(&setting.text());
        }
        text
    }

    /// Returns the settings beside each other, a row each measure.
    fn overview(&self) -> String {
        let mut table = MarkdownTable::new(
            std::iter::once("measure").chain(self.settings.iter().map(|one| one.setting.label.as_str())),
        );
        let mut row = |name: &str, cell: &dyn Fn(&SettingReport) -> String| {
            table.row(std::iter::once(name.to_owned()).chain(self.settings.iter().map(cell)));
        };
        row("instances", &|one| one.instances.to_string());
        row("applied", &|one| share(one.applied, one.instances));
        row("resolved (of judged)", &|one| share(one.resolved, one.judged));
        row("without a change", &|one| one.without_change.to_string());
        let locating = |of: fn(&Locating) -> f64| {
            move |one: &SettingReport| {
                one.locating
                    .as_ref()
                    .map_or_else(|| "given".to_owned(), |found| number(of(found)))
            }
        };
        row("recall of kept files", &locating(|found| found.kept_recall));
        row("files kept", &locating(|found| found.kept_files));
        row("line coverage, mean", &|one| number_or_dash(one.coverage.mean));
        row("seconds, median", &|one| number_or_dash(one.cost.median_seconds));
        row("seconds, worst", &|one| number_or_dash(one.cost.worst_seconds));
        row("tokens, median", &|one| number_or_dash(one.cost.median_tokens));
        row("tokens, most", &|one| number_or_dash(one.cost.most_tokens));
        for step in Lost::ALL {
            let name = format!("lost: {step}");
            row(&name, &|one| match one.judged + one.without_change {
                0 => "-".to_owned(),
                _ => one.lost.get(&step).copied().unwrap_or(0).to_string(),
            });
        }
        section("Settings", &table.text())
    }
}

impl SettingReport {
    fn text(&self) -> String {
        let label = &self.setting.label;
        let mut text = format!("\n######## {label}\n");
        let mut add = |title: &str, body: String| {
            if !body.is_empty() {
                text.push_str(&section(title, &body));
            }
        };
        add("Instances", self.instances_text());
        if let Some(locating) = &self.locating {
            add(
                "File location: mean recall |G ∩ R| / |R| against the number of files, and issues with all files found",
                locating.text(),
            );
        }
        add("Line-location coverage", self.coverage.text());
        add(
            "'Resolved' on the complexity of the reference (logistic, one predictor; * p < 0.05)",
            self.complexity_text(),
        );
        add(
            &format!(
                "Resolved changes ({}) beside the references",
                self.resolved_changes.instances
            ),
            self.resolved_changes.text(),
        );
        add(
            &format!(
                "Applied but unresolved changes ({}) beside the references",
                self.unresolved_changes.instances
            ),
            self.unresolved_changes.text(),
        );
        add("Repositories", self.repositories_text());
        add(
            "Calls and tokens by agent and step, all runs together",
            self.cost_text(),
        );
        add("Time by stage, all runs together", self.stages_text());
        if let Some(scores) = &self.task_scores {
            add(
                "Task descriptions against the references, 1 (unrelated) to 5 (complete)",
                scores.text(),
            );
        }
        text
    }

    fn instances_text(&self) -> String {
        let mut table = MarkdownTable::new([
            "instance", "applied", "resolved", "recall", "coverage", "seconds", "tokens", "lost at", "outcome",
        ]);
        for row in &self.rows {
            table.row([
                row.id.to_string(),
                yes_no(Some(row.applied)),
                yes_no(row.resolved),
                number_or_dash(row.recall),
                number_or_dash(row.coverage),
                format!("{:.0}", row.seconds),
                row.tokens.to_string(),
                row.lost.map_or_else(|| "-".to_owned(), |lost| lost.to_string()),
                row.outcome.clone(),
            ]);
        }
        table.text()
    }

    fn complexity_text(&self) -> String {
        let mut table = MarkdownTable::new(["index", "coefficient"]);
        for row in &self.complexity {
            table.row([row.index.to_owned(), row.regression.to_string()]);
        }
        if table.is_empty() { String::new() } else { table.text() }
    }

    fn repositories_text(&self) -> String {
        let mut table = MarkdownTable::new(["repository", "instances", "applied", "resolved"]);
        for (repo, row) in &self.repositories {
            table.row([
                repo.clone(),
                row.instances.to_string(),
                share(row.applied, row.instances),
                share(row.resolved, row.judged),
            ]);
        }
        table.text()
    }

    fn cost_text(&self) -> String {
        let mut table = MarkdownTable::new([
            "agent, step",
            "calls",
            "retries",
            "computed",
            "reused",
            "generated",
            "seconds",
            "calls/run",
        ]);
        let runs = self.cost.runs.max(1) as f64;
        let steps = self
            .cost
            .steps
            .iter()
            .map(|step| (format!("{}, {}", step.agent, step.step), step.sum));
        for (name, sum) in steps.chain([("all".to_owned(), self.cost.total)]) {
            table.row([
                name,
                sum.calls.to_string(),
                sum.retries.to_string(),
                sum.computed.to_string(),
                sum.reused.to_string(),
                sum.generated.to_string(),
                format!("{:.1}", sum.ms as f64 / 1000.0),
                format!("{:.1}", f64::from(sum.calls) / runs),
            ]);
        }
        table.text()
    }

    fn stages_text(&self) -> String {
        let mut table = MarkdownTable::new(["stage", "seconds", "seconds/run"]);
        for (stage, seconds) in &self.cost.stages {
            let runs = self.cost.runs.max(1) as f64;
            table.row([
                stage.to_string(),
                format!("{seconds:.1}"),
                format!("{:.1}", seconds / runs),
            ]);
        }
        table.text()
    }
}

impl Locating {
    fn text(&self) -> String {
        let mut table = MarkdownTable::new(["files", "ranking", "with the model's judgement"]);
        let at = |curve: &[f64], k: usize| number_or_dash(curve.get(k - 1).copied());
        let longest = self.fused.at.len().max(self.ranking.at.len());
        for k in 1..=longest {
            table.row([k.to_string(), at(&self.ranking.at, k), at(&self.fused.at, k)]);
        }
        table.row([
            "kept".to_owned(),
            String::new(),
            format!("{} with {} files", number(self.kept_recall), number(self.kept_files)),
        ]);
        for (place, k) in PLACES.iter().enumerate().filter(|(_, k)| **k <= longest) {
            let share = |located: [usize; 5]| share(located[place], self.located.instances);
            table.row([
                format!("all within {k}"),
                share(self.located_by_ranking.at),
                share(self.located.at),
            ]);
        }
        table.text()
    }
}

impl CoverageTable {
    fn text(&self) -> String {
        let mut table = MarkdownTable::new(["coverage", "instances", "resolved", "cumulative share of resolved"]);
        for row in &self.intervals {
            table.row([
                format!("{:.1} to {:.1}", row.from, row.to),
                row.instances.to_string(),
                share(row.resolved, row.judged),
                row.cumulative
                    .map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", 100.0 * share)),
            ]);
        }
        let regression = self
            .regression
            .map_or_else(|| "nothing judged".to_owned(), |fit| fit.to_string());
        format!(
            "{}mean {} over {}; 'resolved' on coverage: {regression}\n",
            table.text(),
            number_or_dash(self.mean),
            self.instances
        )
    }
}

impl Group {
    fn text(&self) -> String {
        if self.instances == 0 {
            return String::new();
        }
        let mut table = MarkdownTable::new(["", "min", "max", "mean", "ref. min", "ref. max", "ref. mean"]);
        let cells = |range: Option<Range>| match range {
            Some(Range { min, max, mean }) => [number(min), number(max), number(mean)],
            None => ["-", "-", "-"].map(str::to_owned),
        };
        for row in &self.statistics {
            let sides = [cells(row.generated), cells(row.reference)].concat();
            table.row(std::iter::once(row.index.to_owned()).chain(sides));
        }
        let mut lines = MarkdownTable::new(["lines", "added", "ref. added", "deleted", "ref. deleted"]);
        for (added, deleted) in self.added.iter().zip(&self.deleted) {
            let name = match added.to {
                Some(to) if to == added.from => to.to_string(),
                Some(to) => format!("{} to {to}", added.from),
                None => format!("{} and more", added.from),
            };
            let counts = [added.generated, added.reference, deleted.generated, deleted.reference];
            lines.row(std::iter::once(name).chain(counts.map(|count| count.to_string())));
        }
        format!("{}\n{}", table.text(), lines.text())
    }
}

impl TaskScores {
    fn text(&self) -> String {
        let mut table = MarkdownTable::new(["", "1", "2", "3", "4", "5", "mean"]);
        for (name, counts) in [
            ("resolved", self.resolved),
            ("unresolved", self.unresolved),
            ("not judged", self.unjudged),
        ] {
            let all: usize = counts.iter().sum();
            if all > 0 {
                let sum: usize = counts.iter().enumerate().map(|(at, count)| (at + 1) * count).sum();
                let cells = counts
                    .map(|count| count.to_string())
                    .into_iter()
                    .chain([number(sum as f64 / all as f64)]);
                table.row(std::iter::once(name.to_owned()).chain(cells));
            }
        }
        let judges: Vec<&str> = self.judges.iter().map(String::as_str).collect();
        format!("{}judged by {}\n", table.text(), judges.join(", "))
    }
}

fn section(title: &str, body: &str) -> String {
    format!("\n== {title}\n{body}")
}

fn yes_no(value: Option<bool>) -> String {
    match value {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    }
    .to_owned()
}
