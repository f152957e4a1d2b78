//! A page that grows line by line, and tables with columns.

use super::text::{clean, shortened, wrapped};
use super::{Paint, Tone};
use unicode_width::UnicodeWidthStr as _;

/// A section of a transcript while it is written: text in a width, in colour or plain.
#[derive(Debug)]
pub struct Section {
    pub paint: Paint,
    pub width: usize,
    text: String,
}

impl Section {
    /// Begins an empty section.
    pub fn new(paint: Paint, width: usize) -> Self {
        Self {
            paint,
            width,
            text: String::new(),
        }
    }

    /// A line as it is.
    pub fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end_matches('\n'));
        self.text.push('\n');
    }

    /// An empty line, unless the page has none yet or ends with one.
    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Lines that are finished, with their line breaks.
    pub fn line_block(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Sets what follows apart from an earlier page, unless a title stands right above.
    pub fn break_block(&mut self) {
        if self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// A title over what follows.
    pub fn heading(&mut self, text: &str) {
        self.gap();
        let title = self.paint.tone(Tone::Heading, &clean(text));
        self.line(&title);
    }

    /// Running text of others, wrapped and indented.
    pub fn prose(&mut self, indent: usize, text: &str) {
        self.toned_prose(indent, None, text);
    }

    /// As [`Section::prose`], in one tone.
    pub fn toned_prose(&mut self, indent: usize, tone: Option<Tone>, text: &str) {
        let margin = " ".repeat(indent);
        for line in wrapped(text, self.width.saturating_sub(indent).max(20)) {
            let line = if line.is_empty() {
                line
            } else {
                format!("{margin}{line}")
            };
            let line = tone.map_or_else(|| line.clone(), |tone| self.paint.tone(tone, &line));
            self.line(&line);
        }
    }

    /// A lead-in in its tone, followed by running text that hangs two columns deeper.
    pub fn entry(&mut self, indent: usize, tone: Tone, lead: &str, text: &str) {
        let margin = " ".repeat(indent);
        let text = text.trim();
        let painted = self.paint.tone(tone, &clean(lead));
        if text.contains('\n') {
            self.line(&format!("{margin}{painted}"));
            self.prose(indent + 2, text);
            return;
        }
        // The lead is measured as if it were the first word of the text, so that the first line breaks where it has to.
        let lead_width = lead.width();
        let room = self.width.saturating_sub(indent + 2).max(20);
        let lines = wrapped(&format!("{} {text}", "x".repeat(lead_width)), room);
        for (index, line) in lines.iter().enumerate() {
            let line = match index {
                0 => format!("{margin}{painted}{}", line.get(lead_width..).unwrap_or_default()),
                _ => format!("{margin}  {line}"),
            };
            self.line(line.trim_end());
        }
    }

    /// Adds code or an output as it stands, each line indented.
    pub fn code(&mut self, indent: usize, text: &str) {
        for line in text.lines() {
            let line = format!("{}{}", " ".repeat(indent), clean(line));
            self.line(line.trim_end());
        }
    }

    /// Returns the text that was written.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// Columns of text, each as wide as its widest cell.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<Cell>>,
}

#[derive(Debug)]
struct Cell {
    text: String,
    tone: Option<Tone>,
    side: Side,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// One row being filled.
#[derive(Debug)]
pub struct Row<'a>(&'a mut Vec<Cell>);

impl Table {
    /// Creates a table with its titles. A title that begins with `>` heads a column of numbers.
    pub fn new(titles: &[&str]) -> Self {
        let cell = |title: &&str| Cell {
            text: title.trim_start_matches('>').to_owned(),
            tone: Some(Tone::Faint),
            side: if title.starts_with('>') {
                Side::Right
            } else {
                Side::Left
            },
        };
        Self {
            rows: vec![titles.iter().map(cell).collect()],
        }
    }

    /// Begins a new row of the table.
    pub fn row(&mut self) -> Row<'_> {
        self.rows.push(Vec::new());
        Row(self.rows.last_mut().expect("one was just added"))
    }

    /// Returns the rows as lines, without trailing spaces. The last column takes what is left of `width`.
    pub fn lines(&self, paint: Paint, width: usize) -> Vec<String> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.text.width()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(widest).collect();
        let before_last: usize = widths
            .iter()
            .take(columns.saturating_sub(1))
            .map(|width| width + 2)
            .sum();
        let line = |row: &Vec<Cell>| {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let last = column + 1 == columns;
                let text = if last {
                    shortened(&cell.text, width.saturating_sub(before_last).max(20))
                } else {
                    cell.text.clone()
                };
                let fill = " ".repeat(widths[column].saturating_sub(text.width()));
                let painted = cell.tone.map_or_else(|| text.clone(), |tone| paint.tone(tone, &text));
                match self.rows[0][column].side {
                    Side::Right => line.extend([fill.as_str(), painted.as_str()]),
                    Side::Left if last => line.push_str(&painted),
                    Side::Left => line.extend([painted.as_str(), fill.as_str()]),
                }
                if !last {
                    line.push_str("  ");
                }
            }
            line.trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }
}

impl Row<'_> {
    /// Adds a cell to the row.
    #[must_use]
    pub fn cell(self, text: impl AsRef<str>) -> Self {
        self.push(text.as_ref(), None)
    }

    /// Returns a cell in a tone.
    #[must_use]
    pub fn toned(self, tone: Tone, text: impl AsRef<str>) -> Self {
        self.push(text.as_ref(), Some(tone))
    }

    /// Adds the last cell, which ends the row.
    pub fn last(self, text: impl AsRef<str>) {
        let _ = self.push(text.as_ref(), None);
    }

    fn push(self, text: &str, tone: Option<Tone>) -> Self {
        self.0.push(Cell {
            text: clean(text).replace(['\n', '\t'], " "),
            tone,
            side: Side::Left,
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_numbers_stand_right() {
        let mut table = Table::new(&["RUN", ">TOKENS", "ISSUE"]);
        table.row().cell("1").cell("12 000").last("short");
        table.row().cell("12").cell("7").last("码 wide");
        assert_eq!(
            table.lines(Paint::Plain, 60),
            ["RUN  TOKENS  ISSUE", "1    12 000  short", "12        7  码 wide"]
        );
    }

    #[test]
    fn an_entry_hangs_below_its_lead() {
        let mut page = Section::new(Paint::Plain, 30);
        page.entry(2, Tone::Strong, "T1", "one two three four five six seven");
        assert_eq!(page.into_text(), "  T1 one two three four five\n    six seven\n");
    }
}
