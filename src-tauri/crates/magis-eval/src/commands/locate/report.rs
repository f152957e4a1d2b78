//! What was measured of a set's location, as JSON and as tables.

use magis_core::{LineSpan, RepoPath};
use magis_engine::LocateTime;
use magis_eval::instances::Reference;
use magis_eval::measures::locating::{Choice, Located, PLACES, SymbolHits, recall};
use magis_eval::statistics::{median, percentile};
use magis_eval::table::{Table, number_or_dash, share};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// P3 chooses among so many of the first files, as its bar has it.
const CHOSEN_FROM: usize = 10;
/// The recall curve goes this far.
const CURVE: usize = 20;

/// What put the files in their order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// All signals.
    Ranking,
    /// All signals and the model.
    Model,
    /// The ranking, judged on descriptions.
    Described,
    /// All signals but this one.
    Without(&'static str),
}

/// All that was measured, by order.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    orders: BTreeMap<Order, Measured>,
    /// Seconds an issue, by part.
    pub times: Times,
}

/// What was measured of one order.
#[derive(Debug, Default, Serialize)]
struct Measured {
    /// By repository; all together under "all".
    rows: BTreeMap<String, Row>,
    /// Issues whose reference has several files.
    several: Row,
    /// Mean recall after 1, 2, … files, as a sum over the issues.
    recall_sums: Vec<f64>,
    /// What P3 kept and dropped among the first ten.
    choice: Option<Choice>,
}

#[derive(Debug, Default, Clone, Copy, Serialize)]
struct Row {
    files: Located,
    symbols: SymbolHits,
}

/// Seconds of each issue, by part.
#[derive(Debug, Default, Serialize)]
pub struct Times {
    index: Vec<f64>,
    history: Vec<f64>,
    query: Vec<f64>,
    model: Vec<f64>,
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ranking => f.write_str("ranking"),
            Self::Model => f.write_str("with the model"),
            Self::Described => f.write_str("on descriptions"),
            Self::Without(signal) => write!(f, "without {signal}"),
        }
    }
}

impl Serialize for Order {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Times {
    /// Those of one issue.
    pub fn of(took: &LocateTime) -> Self {
        let seconds = |duration: Duration| vec![duration.as_secs_f64()];
        Self {
            index: seconds(took.index),
            history: seconds(took.history),
            query: seconds(took.query),
            model: Vec::new(),
        }
    }

    /// With what the model took.
    #[must_use]
    pub fn and_model(self, model: Duration) -> Self {
        Self {
            model: vec![model.as_secs_f64()],
            ..self
        }
    }

    /// Takes in those of further issues.
    pub fn push(&mut self, more: &Self) {
        self.index.extend(&more.index);
        self.history.extend(&more.history);
        self.query.extend(&more.query);
        self.model.extend(&more.model);
    }
}

impl Report {
    /// Takes in an issue: its files and its symbols as `order` has them.
    pub fn count(
        &mut self,
        order: &Order,
        reference: &Reference,
        files: &[RepoPath],
        symbols: &[(RepoPath, LineSpan)],
    ) {
        let gold: BTreeSet<RepoPath> = reference.files().into_iter().collect();
        let measured = self.orders.entry(order.clone()).or_default();
        let count = |row: &mut Row| {
            row.files.count(files, &gold);
            row.symbols.count(symbols, &reference.gold);
        };
        for name in [reference.repo.as_str(), "all"] {
            count(measured.rows.entry(name.to_owned()).or_default());
        }
        if gold.len() > 1 {
            count(&mut measured.several);
        }
        measured.recall_sums.resize(CURVE, 0.0);
        for (sum, k) in measured.recall_sums.iter_mut().zip(1..) {
            *sum += recall(&files[..k.min(files.len())], &gold).unwrap_or(0.0);
        }
    }

    /// Takes in which of the first files of the ranking P3 keeps.
    pub fn chosen(
        &mut self,
        order: &Order,
        reference: &Reference,
        ranked: &[RepoPath],
        kept: impl Fn(&RepoPath) -> bool,
    ) {
        let gold: BTreeSet<RepoPath> = reference.files().into_iter().collect();
        let choice = self
            .orders
            .entry(order.clone())
            .or_default()
            .choice
            .get_or_insert_default();
        let first = ranked.iter().take(CHOSEN_FROM);
        choice.count(first.map(|path| (path, kept(path))), &gold);
    }

    /// As tables.
    pub fn text(&self) -> String {
        let mut text =
            "All files of the reference within the first k, and a symbol with a line of it, percent of the issues\n\n"
                .to_owned();
        text += &self.places().text();
        text += "\nMean recall of the reference's files, by files read\n\n";
        text += &self.curve().text();
        if !self.times.query.is_empty() {
            text += "\nSeconds an issue\n\n";
            text += &self.times.table().text();
        }
        if self.orders.keys().any(|order| matches!(order, Order::Without(_))) {
            text += "\nWithout one signal, and the difference to all of them\n\n";
            text += &self.ablation().text();
        }
        for (order, measured) in &self.orders {
            if let Some(choice) = &measured.choice {
                text += &format!(
                    "\nP3 {order}, of the first {CHOSEN_FROM}: right files kept {}, wrong files dropped {}\n",
                    share(choice.right_kept, choice.right),
                    share(choice.wrong_dropped, choice.wrong)
                );
            }
        }
        text
    }

    fn whole(&self) -> impl Iterator<Item = (&Order, &Measured)> {
        let orders = self.orders.iter();
        orders.filter(|(order, _)| !matches!(order, Order::Without(_)))
    }

    fn places(&self) -> Table {
        let files = PLACES.iter().map(|k| format!("at {k}"));
        let symbols = PLACES.iter().map(|k| format!("symbol at {k}"));
        let head = ["repository", "order", "issues"].map(str::to_owned);
        let mut table = Table::new(head.into_iter().chain(files).chain(symbols));
        let mut names: Vec<&String> = self.whole().flat_map(|(_, measured)| measured.rows.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            for (order, measured) in self.whole() {
                if let Some(row) = measured.rows.get(name) {
                    table.row(row.cells(name, order));
                }
            }
        }
        for (order, measured) in self
            .whole()
            .filter(|(_, measured)| measured.several.files.instances > 0)
        {
            table.row(measured.several.cells("several files", order));
        }
        table
    }

    fn curve(&self) -> Table {
        let mut table = Table::new(
            ["order".to_owned()]
                .into_iter()
                .chain((1..=CURVE).map(|k| k.to_string())),
        );
        for (order, measured) in self.whole() {
            let issues = measured.issues().max(1) as f64;
            let mean = measured
                .recall_sums
                .iter()
                .map(|sum| format!("{:.1}", 100.0 * sum / issues));
            table.row([order.to_string()].into_iter().chain(mean));
        }
        table
    }

    fn ablation(&self) -> Table {
        let places = PLACES.iter().flat_map(|k| [format!("at {k}"), String::new()]);
        let symbols = PLACES[2..4]
            .iter()
            .flat_map(|k| [format!("symbol at {k}"), String::new()]);
        let mut table = Table::new(["signals".to_owned()].into_iter().chain(places).chain(symbols));
        let all = self
            .orders
            .get(&Order::Ranking)
            .and_then(|measured| measured.rows.get("all"));
        let Some(all) = all else { return table };
        for (order, measured) in &self.orders {
            let Some(row) = measured.rows.get("all") else { continue };
            let pair = |(with, without): (f64, f64)| [format!("{without:.1}"), format!("{:+.1}", without - with)];
            let files = all.files.percent().into_iter().zip(row.files.percent()).flat_map(pair);
            let symbols = all.symbols.percent().into_iter().zip(row.symbols.percent());
            let symbols = symbols.skip(2).take(2).flat_map(pair);
            table.row([order.to_string()].into_iter().chain(files).chain(symbols));
        }
        table
    }
}

impl Measured {
    fn issues(&self) -> usize {
        self.rows.get("all").map_or(0, |row| row.files.instances)
    }
}

impl Row {
    fn cells(&self, name: &str, order: &Order) -> Vec<String> {
        let mut cells = vec![name.to_owned(), order.to_string(), self.files.instances.to_string()];
        let percent = self.files.percent().into_iter().chain(self.symbols.percent());
        cells.extend(percent.map(|percent| format!("{percent:.1}")));
        cells
    }
}

impl Times {
    fn table(&self) -> Table {
        let mut table = Table::new(["part", "median", "p95"]);
        let parts = [
            ("index", &self.index),
            ("history", &self.history),
            ("query", &self.query),
            ("model", &self.model),
        ];
        for (part, seconds) in parts.into_iter().filter(|(_, seconds)| !seconds.is_empty()) {
            let shown = |value: Option<f64>| value.map_or_else(|| number_or_dash(None), |value| format!("{value:.3}"));
            let values = || seconds.iter().copied();
            table.row([
                part.to_owned(),
                shown(median(values())),
                shown(percentile(values(), 95)),
            ]);
        }
        table
    }
}
