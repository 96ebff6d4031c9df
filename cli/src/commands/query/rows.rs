//! Writes rows as JSON and CSV, one by one.

use std::collections::HashSet;
use std::io::{self, BufWriter, IsTerminal, Write};

use serde_json::Number;
use trace_query::{TakeAnswer, Value};

use crate::ui::text;

/// Writes rows as JSON objects.
pub(super) struct Json {
    out: BufWriter<Box<dyn Write>>,
    /// The names of the columns as JSON strings.
    names: Vec<String>,
    layout: Layout,
    is_first: bool,
}

/// How the objects are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Array,
    Lines,
}

impl Json {
    /// Returns a writer of an array of objects.
    pub(super) fn array(out: Box<dyn Write>) -> Self {
        Self { out: BufWriter::new(out), names: Vec::new(), layout: Layout::Array, is_first: true }
    }

    /// Returns a writer of one object per line.
    pub(super) fn lines(out: Box<dyn Write>) -> Self {
        Self { layout: Layout::Lines, ..Self::array(out) }
    }

    /// Writes the end of what [`TakeAnswer`] wrote.
    ///
    /// # Errors
    ///
    /// Returns the error of the writer.
    pub(super) fn end(mut self) -> io::Result<()> {
        match (self.layout, self.is_first) {
            (Layout::Lines, _) => {}
            (Layout::Array, true) => self.out.write_all(b"[]\n")?,
            (Layout::Array, false) => self.out.write_all(b"\n]\n")?,
        }
        self.out.flush()
    }
}

impl TakeAnswer for Json {
    fn columns(&mut self, names: &[String]) -> io::Result<()> {
        self.names = unique(names).iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        Ok(())
    }

    fn row(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        if self.layout == Layout::Array {
            self.out.write_all(if self.is_first { b"[\n  " } else { b",\n  " })?;
        }
        self.is_first = false;
        for (index, (name, value)) in self.names.iter().zip(values).enumerate() {
            let before = if index == 0 { "{" } else { "," };
            write!(self.out, "{before}{name}:")?;
            match *value {
                Value::Null => self.out.write_all(b"null")?,
                Value::Integer(number) => write!(self.out, "{number}")?,
                // JSON has no infinity, so it becomes null.
                Value::Real(number) => match Number::from_f64(number) {
                    Some(number) => write!(self.out, "{number}")?,
                    None => self.out.write_all(b"null")?,
                },
                Value::Text(text) => serde_json::to_writer(&mut self.out, &String::from_utf8_lossy(text))?,
                Value::Blob(bytes) => write!(self.out, "\"{}\"", hexadecimal(bytes))?,
            }
        }
        self.out.write_all(if self.layout == Layout::Array { b"}" } else { b"}\n" })
    }
}

/// Makes equal names different, since an object has each name once.
fn unique(names: &[String]) -> Vec<String> {
    let mut seen: HashSet<String> = names.iter().cloned().collect();
    let mut used = HashSet::new();
    let mut number_of = |name: &String| {
        if used.insert(name.clone()) {
            return name.clone();
        }
        let numbered = (2..).map(|number: u64| format!("{name}_{number}")).find(|numbered| !seen.contains(numbered));
        let numbered = numbered.unwrap_or_default();
        seen.insert(numbered.clone());
        numbered
    };
    names.iter().map(&mut number_of).collect()
}

/// Formats bytes as hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Who reads the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cells {
    /// Programs: cells are written as they are.
    Exact,
    /// Spreadsheets: no cell is a formula.
    ForSpreadsheets,
}

/// Writes rows as comma-separated values.
pub(super) struct Csv {
    out: csv::Writer<Box<dyn Write>>,
    cells: Cells,
    /// Whether the values are shown on a terminal, which must not interpret them.
    is_shown: bool,
}

impl Csv {
    pub(super) fn new(cells: Cells) -> Self {
        let stdout = io::stdout().lock();
        let is_shown = stdout.is_terminal();
        Self::to(Box::new(stdout), cells, is_shown)
    }

    fn to(out: Box<dyn Write>, cells: Cells, is_shown: bool) -> Self {
        // Some spreadsheets separate cells at semicolons. They would see two cells in a text that contains one, unless
        // it is quoted.
        let quotes = match cells {
            Cells::Exact => csv::QuoteStyle::Necessary,
            Cells::ForSpreadsheets => csv::QuoteStyle::Always,
        };
        let mut builder = csv::WriterBuilder::new();
        let out = builder.terminator(csv::Terminator::CRLF).quote_style(quotes).from_writer(out);
        Self { out, cells, is_shown }
    }

    /// Writes the end of what [`TakeAnswer`] wrote.
    ///
    /// # Errors
    ///
    /// Returns the error of stdout.
    pub(super) fn end(mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes a row of texts and numbers.
    fn record(&mut self, fields: impl Iterator<Item = Field>) -> io::Result<()> {
        let (is_shown, cells) = (self.is_shown, self.cells);
        let fields = fields.map(|field| match field {
            Field::Number(number) => number,
            Field::Text(text) => {
                let text = if is_shown { text::clean(&text).into_owned() } else { text };
                if cells == Cells::ForSpreadsheets && is_formula(&text) { format!("'{text}") } else { text }
            }
        });
        self.out.write_record(fields.map(String::into_bytes)).map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) => error,
            error => io::Error::other(format!("{error:?}")),
        })
    }
}

/// A field of a row.
enum Field {
    /// A number of the database. It is never a formula, even if it begins with a minus.
    Number(String),
    Text(String),
}

/// Returns whether a spreadsheet could evaluate a text as a formula, or as a command of an old program (DDE). White
/// space, quotes and invisible characters at the beginning are skipped, since some programs drop them; full-width forms
/// of the signs count as the signs.
fn is_formula(text: &str) -> bool {
    if text.starts_with(['\t', '\r', '\n']) {
        return true;
    }
    let is_passed_over = |c: char| {
        c.is_whitespace()
            || c.is_control()
            || trace_text::is_hostile(c)
            || matches!(c, '\'' | '"' | '\u{200b}'..='\u{200d}')
    };
    let begin = text.trim_start_matches(is_passed_over);
    begin.starts_with(['=', '+', '-', '@', '|', '%', '＝', '＋', '－', '＠', '\u{2212}'])
}

impl TakeAnswer for Csv {
    fn columns(&mut self, names: &[String]) -> io::Result<()> {
        self.record(names.iter().cloned().map(Field::Text))
    }

    fn row(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        self.record(values.iter().map(|value| match *value {
            Value::Null => Field::Number(String::new()),
            Value::Integer(number) => Field::Number(number.to_string()),
            Value::Real(number) => Field::Number(number.to_string()),
            Value::Text(text) => Field::Text(String::from_utf8_lossy(text).into_owned()),
            Value::Blob(bytes) => Field::Number(hexadecimal(bytes)),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_told_apart() {
        let names = ["a", "b", "a", "a_2", "a"].map(str::to_owned);
        assert_eq!(unique(&names), ["a", "b", "a_3", "a_2", "a_4"]);
    }

    #[test]
    fn no_cell_for_a_spreadsheet_is_a_formula() {
        let texts = [
            "=1+1",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n=1",
            " =1",
            "\"=1",
            "'=1",
            "' =1",
            "\u{feff}=1",
            "\u{200b}=1",
            "\u{a0}=1",
            "=cmd|' /C calc'!A0",
            "|x",
            "%0A=1",
            "＝1",
            "＋1",
            "－1",
            "＠x",
            "\u{2212}1",
            "\u{1b}=1",
            "\"\"=1",
        ];
        for text in texts {
            assert!(is_formula(text), "{text:?}");
        }
        for text in ["", "a=1", "1-1", "exec_command ls -l", "'quoted'", "/root", "漢字", "{\"a\":1}", "#1", "<b>"] {
            assert!(!is_formula(text), "{text:?}");
        }
    }

    /// A buffer that can be read after its writer was dropped.
    #[derive(Clone, Default)]
    struct Bytes(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

    impl Write for Bytes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn cells_are_exact_for_programs_and_safe_for_spreadsheets() {
        let written = |cells| {
            let bytes = Bytes::default();
            let mut csv = Csv::to(Box::new(bytes.clone()), cells, false);
            csv.columns(&["=name".to_owned(), "b".to_owned(), "c".to_owned()]).expect("writes");
            csv.row(&[Value::Text(b"=1,\"2\""), Value::Integer(-3), Value::Text(b"x\ny")]).expect("writes");
            csv.row(&[Value::Text(b"@x"), Value::Real(-0.5), Value::Null]).expect("writes");
            csv.end().expect("writes");
            let text = String::from_utf8(bytes.0.borrow().clone()).expect("UTF-8");
            text.replace("\r\n", "\n")
        };
        insta::assert_snapshot!(written(Cells::ForSpreadsheets), @r#"
        "'=name","b","c"
        "'=1,""2""","-3","x
        y"
        "'@x","-0.5",""
        "#);
        insta::assert_snapshot!(written(Cells::Exact), @r#"
        =name,b,c
        "=1,""2""",-3,"x
        y"
        @x,-0.5,
        "#);
    }
}
