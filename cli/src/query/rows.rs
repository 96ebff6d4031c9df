//! Rows as JSON and CSV, written as they come.

use std::collections::HashSet;
use std::io::{self, BufWriter, IsTerminal, Write};

use serde_json::Number;
use trace_query::{TakeAnswer, Value};

use crate::text;

/// Writes rows as JSON objects.
pub(super) struct Json {
    out: BufWriter<Box<dyn Write>>,
    /// The names of the columns as JSON strings.
    names: Vec<String>,
    layout: Layout,
    is_first: bool,
}

/// How objects stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Array,
    Lines,
}

impl Json {
    /// Writes an array of objects.
    pub(super) fn array(out: Box<dyn Write>) -> Self {
        Self { out: BufWriter::new(out), names: Vec::new(), layout: Layout::Array, is_first: true }
    }

    /// Writes an object per line.
    pub(super) fn lines(out: Box<dyn Write>) -> Self {
        Self { layout: Layout::Lines, ..Self::array(out) }
    }

    /// Ends what [`TakeAnswer`] began.
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
                // JSON has no infinity.
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

/// Tells equal names apart, since an object has each name once.
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

/// Returns bytes as hexadecimal digits.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Writes rows as comma-separated values.
pub(super) struct Csv {
    out: csv::Writer<Box<dyn Write>>,
    /// Whether a terminal shows the values, which then must not obey them.
    is_shown: bool,
}

impl Csv {
    pub(super) fn new() -> Self {
        let stdout = io::stdout().lock();
        let is_shown = stdout.is_terminal();
        let out: Box<dyn Write> = Box::new(stdout);
        Self { out: csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out), is_shown }
    }

    /// Ends what [`TakeAnswer`] began.
    ///
    /// # Errors
    ///
    /// Returns the error of stdout.
    pub(super) fn end(mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn record(&mut self, fields: impl Iterator<Item = String>) -> io::Result<()> {
        let is_shown = self.is_shown;
        let fields = fields.map(|field| if is_shown { text::clean(&field).into_owned() } else { field });
        self.out.write_record(fields.map(String::into_bytes)).map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) => error,
            error => io::Error::other(format!("{error:?}")),
        })
    }
}

impl TakeAnswer for Csv {
    fn columns(&mut self, names: &[String]) -> io::Result<()> {
        self.record(names.iter().cloned())
    }

    fn row(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        self.record(values.iter().map(|value| match *value {
            Value::Null => String::new(),
            Value::Integer(number) => number.to_string(),
            Value::Real(number) => number.to_string(),
            Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Value::Blob(bytes) => hexadecimal(bytes),
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
}
