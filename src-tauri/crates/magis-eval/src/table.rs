//! Tables as aligned text.
//!
//! What stands in them is others' business; nothing is cut.

/// A table: a head and rows of cells.
#[derive(Debug, Clone, Default)]
pub struct MarkdownTable {
    rows: Vec<Vec<String>>,
}

/// A column wider than this holds sentences.
const SENTENCE: usize = 60;

impl MarkdownTable {
    /// Creates a table with this head.
    pub fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        Self {
            rows: vec![head.into_iter().map(Into::into).collect()],
        }
    }

    /// Appends a row, a cell for each column.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Returns whether it has a head alone.
    pub fn is_empty(&self) -> bool {
        self.rows.len() <= 1
    }

    /// Returns the text: the first column, and those with sentences in them, to the left, the others to the right; the
    /// head underlined.
    pub fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
                if column == 0 || *width > SENTENCE {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            });
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
            if at == 0 {
                text.push_str(
                    &widths
                        .iter()
                        .map(|width| "-".repeat(*width))
                        .collect::<Vec<_>>()
                        .join("  "),
                );
                text.push('\n');
            }
        }
        text
    }
}

/// Returns a number with as many places behind the point as tell something.
pub fn number(value: f64) -> String {
    if (value - value.round()).abs() < 1e-9 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

/// Returns a number, or a dash.
pub fn number_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), number)
}

/// `part` of `whole` in percent, with both numbers.
pub fn share(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    format!("{part}/{whole} ({:.1} %)", 100.0 * part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_nothing_is_cut() {
        let mut table = MarkdownTable::new(["setting", "n"]);
        table.row(["a", "100"]);
        table.row(["longer name", "2"]);
        assert_eq!(
            table.text(),
            "setting        n\n-----------  ---\na            100\nlonger name    2\n"
        );
    }

    #[test]
    fn shares_say_their_whole() {
        assert_eq!((share(1, 8), share(0, 0)), ("1/8 (12.5 %)".to_owned(), "-".to_owned()));
        assert_eq!((number(3.0), number(2.345)), ("3".to_owned(), "2.35".to_owned()));
    }
}
