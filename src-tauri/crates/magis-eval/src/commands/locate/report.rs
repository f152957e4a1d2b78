//! What was measured of a set's location, as JSON and as tables.

use magis_core::{LineSpan, RepoPath};
use magis_engine::LocateTime;
use magis_eval::instances::Reference;
use magis_eval::measures::locating::{Choice, Hits, PLACES, all_files, first_symbol, recall_curve};
use magis_eval::statistics::{median, percentile};
use magis_eval::table::{MarkdownTable, share};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// The number of the first files among which P3 chooses, as its bar has it.
const CHOSEN_FROM: usize = 10;
/// The recall curve goes this far.
const CURVE: usize = 20;
/// Of [`PLACES`], those at which the ablation shows symbols: 5 and 10.
const SYMBOL_PLACES: [usize; 2] = [2, 3];

/// What put the files in their order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
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
    /// By issue: the first files of the order, and the reference.
    #[serde(rename = "recall", serialize_with = "as_recall")]
    orders: Vec<(Vec<RepoPath>, BTreeSet<RepoPath>)>,
    /// What P3 kept and dropped among the first ten.
    choice: Option<Choice>,
}

#[derive(Debug, Default, Clone, Copy, Serialize)]
struct Row {
    files: Hits,
    /// None where only files were looked for.
    symbols: Option<Hits>,
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
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Times {
    /// Takes in those of an issue.
    pub fn take(&mut self, took: &LocateTime, model: Option<Duration>) {
        self.index.push(took.index.as_secs_f64());
        self.history.push(took.history.as_secs_f64());
        self.query.push(took.query.as_secs_f64());
        self.model.extend(model.map(|model| model.as_secs_f64()));
    }
}

impl Report {
    /// Takes in an issue: its files, and its symbols where they were looked for, as `order` has them.
    pub fn count(
        &mut self,
        order: &Order,
        reference: &Reference,
        files: &[RepoPath],
        symbols: Option<&[(RepoPath, LineSpan)]>,
    ) {
        let gold: BTreeSet<RepoPath> = reference.files().into_iter().collect();
        let place = all_files(files, &gold);
        let symbol = symbols.map(|symbols| first_symbol(symbols, &reference.gold));
        let measured = self.orders.entry(order.clone()).or_default();
        let count = |row: &mut Row| {
            row.files.count(place);
            if let Some(symbol) = symbol {
                row.symbols.get_or_insert_default().count(symbol);
            }
        };
        for name in [reference.repo.as_str(), "all"] {
            count(measured.rows.entry(name.to_owned()).or_default());
        }
        if gold.len() > 1 {
            count(&mut measured.several);
        }
        let first = files.iter().take(CURVE).cloned().collect();
        measured.orders.push((first, gold));
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

    /// Writes the report as tables of plain text.
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

    fn places(&self) -> MarkdownTable {
        let files = PLACES.iter().map(|k| format!("at {k}"));
        let symbols = PLACES.iter().map(|k| format!("symbol at {k}"));
        let head = ["repository", "order", "issues"].map(str::to_owned);
        let mut table = MarkdownTable::new(head.into_iter().chain(files).chain(symbols));
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

    fn curve(&self) -> MarkdownTable {
        let mut table = MarkdownTable::new(
            ["order".to_owned()]
                .into_iter()
                .chain((1..=CURVE).map(|k| k.to_string())),
        );
        for (order, measured) in self.whole() {
            let mean = mean_recall(&measured.orders)
                .into_iter()
                .map(|mean| format!("{:.1}", 100.0 * mean));
            table.row([order.to_string()].into_iter().chain(mean));
        }
        table
    }

    fn ablation(&self) -> MarkdownTable {
        let places = PLACES.iter().flat_map(|k| [format!("at {k}"), String::new()]);
        let symbols = SYMBOL_PLACES.map(|place| PLACES[place]);
        let symbols = symbols.iter().flat_map(|k| [format!("symbol at {k}"), String::new()]);
        let mut table = MarkdownTable::new(["signals".to_owned()].into_iter().chain(places).chain(symbols));
        let all = self
            .orders
            .get(&Order::Ranking)
            .and_then(|measured| measured.rows.get("all"));
        let Some(all) = all else { return table };
        let with = all.symbols.unwrap_or_default().percent();
        for (order, measured) in &self.orders {
            let Some(row) = measured.rows.get("all").filter(|_| *order != Order::Model) else {
                continue;
            };
            let pair = |(with, without): (f64, f64)| [format!("{without:.1}"), format!("{:+.1}", without - with)];
            let files = all.files.percent().into_iter().zip(row.files.percent()).flat_map(pair);
            let without = row.symbols.unwrap_or_default().percent();
            let symbols = SYMBOL_PLACES.map(|place| (with[place], without[place]));
            let symbols = symbols.into_iter().flat_map(pair);
            table.row([order.to_string()].into_iter().chain(files).chain(symbols));
        }
        table
    }
}

/// Mean recall after 1, 2, … files.
fn mean_recall(orders: &[(Vec<RepoPath>, BTreeSet<RepoPath>)]) -> Vec<f64> {
    recall_curve(orders.iter().map(|(order, gold)| (order.as_slice(), gold))).at
}

fn as_recall<S: Serializer>(orders: &[(Vec<RepoPath>, BTreeSet<RepoPath>)], serializer: S) -> Result<S::Ok, S::Error> {
    mean_recall(orders).serialize(serializer)
}

impl Row {
    fn cells(&self, name: &str, order: &Order) -> Vec<String> {
        let mut cells = vec![name.to_owned(), order.to_string(), self.files.instances.to_string()];
        let percent = |hits: &Hits| hits.percent().map(|percent| format!("{percent:.1}"));
        cells.extend(percent(&self.files));
        cells.extend(
            self.symbols
                .as_ref()
                .map_or_else(|| PLACES.map(|_| "–".to_owned()), percent),
        );
        cells
    }
}

impl Times {
    fn table(&self) -> MarkdownTable {
        let mut table = MarkdownTable::new(["part", "median", "p95"]);
        let parts = [
            ("index", &self.index),
            ("history", &self.history),
            ("query", &self.query),
            ("model", &self.model),
        ];
        for (part, seconds) in parts.into_iter().filter(|(_, seconds)| !seconds.is_empty()) {
            let shown = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.3}"));
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
