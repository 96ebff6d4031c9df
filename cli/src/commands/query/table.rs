//! Formats rows as a table.

use std::io;

use comfy_table::{Cell as TableCell, CellAlignment};
use trace_query::{TakeAnswer, Value};
use unicode_width::UnicodeWidthStr;

use super::rows::hexadecimal;
use crate::ui::output::{Terminal, push_table, row};
use crate::ui::text;

/// Most columns that are stored of a cell, however wide the terminal is.
const MAX_KEPT_COLUMNS: usize = 200;

/// Most columns of a cell, if the width of the terminal is not known.
const MAX_CELL_COLUMNS: usize = 60;

/// Fewest columns of a cell. Cells are not made narrower to fit a terminal.
const MIN_CELL_COLUMNS: usize = 12;

/// Columns between two cells.
const GAP: usize = 2;

/// The rows of an answer that are shown.
#[derive(Debug, Default)]
pub(super) struct Cells {
    names: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Debug)]
struct Cell {
    text: String,
    is_number: bool,
    is_cut: bool,
}

/// A table, and the number of cells that are cut.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) cut_cells: u64,
}

impl TakeAnswer for Cells {
    fn columns(&mut self, names: &[String]) -> io::Result<()> {
        self.names = names.iter().map(|name| text::preview(name, MAX_CELL_COLUMNS)).collect();
        Ok(())
    }

    fn row(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        self.rows.push(values.iter().map(|value| Cell::new(*value)).collect());
        Ok(())
    }
}

impl Cell {
    fn new(value: Value<'_>) -> Self {
        let number = |text: String| Self { text, is_number: true, is_cut: false };
        match value {
            Value::Null => Self { text: String::new(), is_number: false, is_cut: false },
            Value::Integer(value) => number(value.to_string()),
            Value::Real(value) => number(value.to_string()),
            Value::Text(bytes) => Self::of_text(bytes),
            Value::Blob(bytes) => Self::of_text(hexadecimal(&bytes[..bytes.len().min(MAX_KEPT_COLUMNS)]).as_bytes()),
        }
    }

    fn of_text(bytes: &[u8]) -> Self {
        // A column takes at most four bytes, except for stacked combining marks. Twice that is enough.
        let beginning = &bytes[..bytes.len().min(MAX_KEPT_COLUMNS * 8)];
        let beginning = String::from_utf8_lossy(beginning);
        // Spaces at the left are kept, since they may be the indentation of a tree.
        let trimmed = beginning.trim_start_matches(' ');
        let indent = (beginning.len() - trimmed.len()).min(MAX_CELL_COLUMNS / 2);
        let mut text = " ".repeat(indent);
        text.push_str(&text::preview(trimmed, MAX_KEPT_COLUMNS - indent));
        let is_cut = bytes.len() > MAX_KEPT_COLUMNS * 8 || text.ends_with('…') && !beginning.ends_with('…');
        Self { text, is_number: false, is_cut }
    }

    /// Returns the text in at most `columns`, and whether it was cut.
    fn fitted(&self, columns: usize) -> (String, bool) {
        if self.text.width() <= columns {
            return (self.text.clone(), self.is_cut);
        }
        let trimmed = self.text.trim_start_matches(' ');
        let indent = (self.text.len() - trimmed.len()).min(columns / 2);
        (format!("{}{}", " ".repeat(indent), text::preview(trimmed, columns - indent)), true)
    }
}

impl Cells {
    /// Lays out the table for the terminal.
    pub(super) fn render(&self, terminal: &Terminal) -> Shown {
        if self.rows.is_empty() {
            return Shown { text: "no rows\n".to_owned(), cut_cells: 0 };
        }
        let widths = self.widths(terminal.columns().map(usize::from));
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let mut table = terminal.table(&names);
        let mut cut_cells = 0;
        for cells in &self.rows {
            let cells = cells.iter().zip(&widths).map(|(cell, width)| {
                let (text, is_cut) = cell.fitted(*width);
                cut_cells += u64::from(is_cut);
                let alignment = if cell.is_number { CellAlignment::Right } else { CellAlignment::Left };
                TableCell::new(text).set_alignment(alignment)
            });
            table.add_row(row(cells.collect()));
        }
        let mut text = String::new();
        push_table(&mut text, "", table);
        Shown { text, cut_cells }
    }

    /// Returns the widths of the columns: those of their cells, if they fit. Otherwise the widest columns are made
    /// narrower.
    fn widths(&self, terminal: Option<usize>) -> Vec<usize> {
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.width());
            cells.chain([self.names[column].width()]).max().unwrap_or(0)
        };
        let natural: Vec<usize> = (0..self.names.len()).map(widest).collect();
        let Some(terminal) = terminal else {
            return natural.into_iter().map(|width| width.min(MAX_CELL_COLUMNS)).collect();
        };
        let room = terminal.saturating_sub(GAP * natural.len().saturating_sub(1));
        let taken = |most: usize| natural.iter().map(|width| *width.min(&most)).sum::<usize>();
        // The search takes at most some hundred steps per answer.
        let most = (MIN_CELL_COLUMNS..=MAX_KEPT_COLUMNS).rev().find(|most| taken(*most) <= room);
        natural.iter().map(|width| *width.min(&most.unwrap_or(MIN_CELL_COLUMNS))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(rows: &[&[&str]]) -> Cells {
        let cell = |text: &&str| Cell::new(Value::Text(text.as_bytes()));
        let names = rows[0].iter().map(|name| (*name).to_owned()).collect();
        Cells { names, rows: rows[1..].iter().map(|row| row.iter().map(cell).collect()).collect() }
    }

    #[test]
    fn the_widest_columns_give_way() {
        let long = "x".repeat(100);
        let cells = cells(&[&["a", "b", "c"], &["12345", &long, &long[..40]]]);
        assert_eq!(cells.widths(None), [5, 60, 40]);
        assert_eq!(cells.widths(Some(200)), [5, 100, 40]);
        assert_eq!(cells.widths(Some(79)), [5, 35, 35]);
        assert_eq!(cells.widths(Some(10)), [5, 12, 12]);
    }

    #[test]
    fn cells_are_one_clean_line() {
        let cell = |text: &str| Cell::new(Value::Text(text.as_bytes()));
        let hostile = cell("a\n\u{1b}[31mb");
        assert_eq!((hostile.text.as_str(), hostile.is_cut), ("a ⏎ \\u{1b}[31mb", false));
        assert_eq!(cell("    /root/a").text, "    /root/a");
        assert_eq!(cell("    /root/a").fitted(8), ("    /ro…".to_owned(), true));
        let long = cell(&"é".repeat(10_000));
        assert_eq!((long.text.width(), long.is_cut), (MAX_KEPT_COLUMNS, true));
        assert_eq!(Cell::new(Value::Blob(&[0, 255])).text, "00FF");
    }
}
