//! The terminal: colours, tables, and writing to stdout, whose reader may close it at any time.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use comfy_table::{Cell, ColumnConstraint, ContentArrangement, Row, Table, TableStyle, Width};
use serde::Serialize;
use tracing_subscriber::filter::LevelFilter;

use crate::ui::failure::Failure;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// Use them on a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Use them even if the output is a pipe.
    Always,
    /// Do not use them.
    Never,
}

/// Which colours stdout and stderr show, and how wide the terminal is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    stdout: ColorChoice,
    stderr: ColorChoice,
    /// Columns of the terminal; `None` if stdout is not a terminal.
    columns: Option<u16>,
}

impl Terminal {
    pub(crate) fn new(color: ColorWhen) -> Self {
        let choice = match color {
            ColorWhen::Auto => ColorChoice::Auto,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        };
        choice.write_global();
        Self {
            stdout: AutoStream::choice(&io::stdout()),
            stderr: AutoStream::choice(&io::stderr()),
            columns: Table::new().width(),
        }
    }

    /// Returns the columns of the terminal; `None` if stdout is not a terminal.
    pub(crate) fn columns(&self) -> Option<u16> {
        self.columns
    }

    /// Returns whether stdout is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.columns.is_some()
    }

    /// Returns the styles for stdout.
    pub(crate) fn paint(&self) -> Paint {
        Paint::new(self.stdout)
    }

    /// Returns the styles for stderr.
    pub(crate) fn paint_stderr(&self) -> Paint {
        Paint::new(self.stderr)
    }

    /// Formats an error for stderr.
    pub(crate) fn error_line(&self, message: &str) -> String {
        let error = self.paint_stderr().error;
        format!("{error}error:{error:#} {message}\n")
    }

    /// Formats a hint for stderr.
    pub(crate) fn hint_line(&self, hint: &str) -> String {
        let style = self.paint_stderr().accent;
        format!("{style}hint:{style:#} {hint}\n")
    }

    /// Formats a note for stderr, such as what the output lacks.
    pub(crate) fn note_line(&self, note: &str) -> String {
        let style = self.paint_stderr().accent;
        format!("{style}note:{style:#} {note}\n")
    }

    /// Creates a table. An empty header is left out.
    pub(crate) fn table(&self, header: &[&str]) -> Table {
        let mut table = Table::new();
        table.load_style(TableStyle::new());
        if self.stdout == ColorChoice::Never {
            table.force_no_tty();
        } else {
            table.enforce_styling();
        }
        if !header.is_empty() {
            let bold = comfy_table::Attribute::Bold;
            table.set_header(header.iter().map(|name| Cell::new(name).add_attribute(bold)).collect::<Vec<_>>());
        }
        table
    }

    /// Creates a table without a header. Its last column is cut at the width of the terminal; the other columns keep
    /// their width.
    pub(crate) fn list(&self) -> Table {
        let mut table = self.table(&[]);
        if let Some(columns) = self.columns {
            table.set_width(columns.saturating_sub(INDENT.len() as u16));
            table.set_content_arrangement(ContentArrangement::Dynamic);
        }
        table
    }

    /// Writes a text to stdout.
    ///
    /// # Errors
    ///
    /// Returns an error if stdout cannot be written to, also if its reader closed it.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        // Without colour, the stream removes all escape sequences, also ones that `text::clean` might have missed.
        let mut stdout = AutoStream::new(io::stdout().lock(), self.stdout);
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(stdout_failure)
    }

    /// Writes a value to stdout as one line of JSON.
    ///
    /// # Errors
    ///
    /// Returns an error if stdout cannot be written to, also if its reader closed it.
    pub(crate) fn print_json_line<T: Serialize>(&self, value: &T) -> Result<(), Failure> {
        let mut text = serde_json::to_vec(value).map_err(Failure::internal)?;
        text.push(b'\n');
        let mut stdout = json_stdout();
        stdout.write_all(&text).and_then(|()| stdout.flush()).map_err(stdout_failure)
    }

    /// Returns whether a status line can be shown below the output. Both streams must be terminals.
    pub(crate) fn shows_status(&self) -> bool {
        io::stdout().is_terminal() && io::stderr().is_terminal()
    }

    /// Writes a value to stdout as indented JSON.
    ///
    /// # Errors
    ///
    /// Returns an error if stdout cannot be written to, also if its reader closed it.
    pub(crate) fn print_json<T: Serialize>(&self, value: &T) -> Result<(), Failure> {
        let mut text = serde_json::to_vec_pretty(value).map_err(Failure::internal)?;
        text.push(b'\n');
        let mut stdout = json_stdout();
        stdout.write_all(&text).and_then(|()| stdout.flush()).map_err(stdout_failure)
    }
}

/// Returns the failure for an error of stdout.
pub(crate) fn stdout_failure(error: io::Error) -> Failure {
    Failure::data(error).context("cannot write to stdout")
}

/// Indentation of tables below a heading.
pub(crate) const INDENT: &str = "  ";

/// Fewest columns of the last column of a list, even if the terminal is too narrow for it.
const MIN_LAST_COLUMNS: u16 = 24;

/// Appends a table to a text, with `indent` before each line.
pub(crate) fn push_table(text: &mut String, indent: &str, mut table: Table) {
    let last = table.column_count().saturating_sub(1);
    let table_is_cut = matches!(table.content_arrangement(), ContentArrangement::Dynamic);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if index == last { 0 } else { 2 }));
        if table_is_cut {
            column.set_constraint(if index == last {
                ColumnConstraint::LowerBoundary(Width::Fixed(MIN_LAST_COLUMNS))
            } else {
                ColumnConstraint::ContentWidth
            });
        }
    }
    for line in table.lines() {
        text.push_str(indent);
        text.push_str(&line);
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
}

/// Returns a table row with the height of one line.
pub(crate) fn row(cells: Vec<Cell>) -> Row {
    let mut row = Row::from(cells);
    row.max_height(1);
    row
}

/// A text that is written line by line, with the styles for it.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) paint: Paint,
}

impl Written {
    pub(crate) fn new(terminal: &Terminal) -> Self {
        Self { text: String::new(), paint: terminal.paint() }
    }

    /// Adds a line, without white space at its end.
    pub(crate) fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}

/// Styles, named by their meaning. All are plain if colour is off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    /// An error that ends the run.
    pub(crate) error: Style,
    /// A failure or a loss.
    pub(crate) bad: Style,
    /// A warning or something unusual.
    pub(crate) odd: Style,
    /// A success.
    pub(crate) good: Style,
    /// A hint, or a name to look up.
    pub(crate) accent: Style,
    /// Something of little importance.
    pub(crate) dim: Style,
    /// Headings.
    pub(crate) strong: Style,
    /// The escaped form of a character that is not safe to print.
    pub(crate) escape: Style,
}

impl Paint {
    fn new(choice: ColorChoice) -> Self {
        if choice == ColorChoice::Never {
            let plain = Style::new();
            return Self {
                error: plain,
                bad: plain,
                odd: plain,
                good: plain,
                accent: plain,
                dim: plain,
                strong: plain,
                escape: plain,
            };
        }
        Self {
            error: AnsiColor::Red.on_default().bold(),
            bad: AnsiColor::Red.on_default(),
            odd: AnsiColor::Yellow.on_default(),
            good: AnsiColor::Green.on_default(),
            accent: AnsiColor::Cyan.on_default(),
            dim: Style::new().dimmed(),
            strong: Style::new().bold(),
            escape: AnsiColor::Red.on_default().invert(),
        }
    }
}

/// Returns stdout for JSON. On a terminal, control characters in strings are written as JSON escapes.
pub(crate) fn json_stdout() -> Box<dyn Write> {
    let stdout = io::stdout().lock();
    if stdout.is_terminal() { Box::new(TerminalJson { out: stdout, pending: Vec::new() }) } else { Box::new(stdout) }
}

/// Writes JSON so that a terminal does not interpret any control character.
///
/// JSON requires escapes only for characters below U+0020. All other control characters can occur only inside strings,
/// where an escape has the same meaning.
struct TerminalJson<W> {
    out: W,
    /// The first bytes of an incomplete UTF-8 character.
    pending: Vec<u8>,
}

impl<W: Write> Write for TerminalJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.pending) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.pending.len(),
        };
        let text = String::from_utf8_lossy(&self.pending[..whole]);
        let mut safe = String::with_capacity(text.len());
        for c in text.chars() {
            if crate::ui::text::is_hostile(c) && !matches!(c, '\n' | '\r' | '\t') {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    safe.push_str(&format!("\\u{unit:04x}"));
                }
            } else {
                safe.push(c);
            }
        }
        self.out.write_all(safe.as_bytes())?;
        self.pending.drain(..whole);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Starts to print log messages of the libraries and commands to stderr: warnings, and more with `--verbose`.
pub(crate) fn start_logging(verbose: u8, terminal: &Terminal) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(io::stderr)
        .with_ansi(terminal.stderr != ColorChoice::Never)
        .with_target(verbose > 1)
        .without_time()
        .init();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_on_a_terminal_has_no_control_characters() {
        let text = "{\n  \"a\": \"\u{9b}31m\u{7f}\u{202e}\u{e0041}é\"\n}";
        for cut in 0..text.len() {
            let mut writer = TerminalJson { out: Vec::new(), pending: Vec::new() };
            writer.write_all(&text.as_bytes()[..cut]).expect("writes");
            writer.write_all(&text.as_bytes()[cut..]).expect("writes");
            let written = String::from_utf8(writer.out).expect("UTF-8");
            assert_eq!(written, "{\n  \"a\": \"\\u009b31m\\u007f\\u202e\\udb40\\udc41é\"\n}", "cut at {cut}");
            let back: serde_json::Value = serde_json::from_str(&written).expect("JSON");
            assert_eq!(back, serde_json::from_str::<serde_json::Value>(text).expect("JSON"));
        }
    }
}
