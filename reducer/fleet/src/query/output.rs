//! Answers in several formats.

use std::io::{self, Write};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;
use arrow::ipc::writer::StreamWriter;
use arrow::json::{ArrayWriter, WriterBuilder, writer::JsonArray};
use arrow::record_batch::RecordBatch;
use arrow::util::display::FormatOptions;
use arrow::util::pretty::pretty_format_batches_with_options;
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;
use trace_text::{Usage, line};

use super::Answer;

/// Format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A table for people. What hides or deceives in a text becomes visible.
    Table,
    /// An array of objects.
    Json,
    /// Comma-separated values with a header.
    Csv,
    /// A stream of Arrow IPC.
    Arrow,
    /// A Parquet file.
    Parquet,
}

impl Format {
    /// Names of all formats.
    pub const NAMES: [&str; 5] = ["table", "json", "csv", "arrow", "parquet"];

    /// Returns the format with this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "table" => Self::Table,
            "json" => Self::Json,
            "csv" => Self::Csv,
            "arrow" => Self::Arrow,
            "parquet" => Self::Parquet,
            _ => return None,
        })
    }

    /// Returns whether the format is no text.
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Arrow | Self::Parquet)
    }
}

/// Why an answer cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The output refuses it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A value has no form in the format.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    /// A value has no form in Parquet.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
}

/// Makes what hides or deceives in texts visible.
fn visible(rows: &RecordBatch) -> RecordBatch {
    let column = |column: &ArrayRef| -> ArrayRef {
        let text = |text: Option<&str>| text.map(|text| line(text, Usage::Prose).into_owned());
        match column.data_type() {
            DataType::Utf8 => Arc::new(column.as_string::<i32>().iter().map(text).collect::<StringArray>()),
            DataType::LargeUtf8 => Arc::new(column.as_string::<i64>().iter().map(text).collect::<StringArray>()),
            DataType::Utf8View => Arc::new(column.as_string_view().iter().map(text).collect::<StringArray>()),
            _ => Arc::clone(column),
        }
    };
    let columns = rows.columns().iter().map(column).collect::<Vec<_>>();
    let names =
        rows.schema().fields().iter().map(|field| line(field.name(), Usage::Prose).into_owned()).collect::<Vec<_>>();
    RecordBatch::try_from_iter(names.into_iter().zip(columns)).unwrap_or_else(|_| rows.clone())
}

/// Writes an answer.
///
/// # Errors
///
/// Returns an error if the output fails, or a value has no form in the format.
pub fn write(answer: &Answer, format: Format, mut out: impl Write + Send) -> Result<(), OutputError> {
    match format {
        Format::Table => {
            let empty = RecordBatch::new_empty(Arc::clone(&answer.schema));
            let rows: Vec<RecordBatch> = answer.rows.iter().map(visible).collect();
            let options = FormatOptions::default().with_display_error(true);
            let text = match rows.is_empty() {
                true => pretty_format_batches_with_options(&[empty], &options)?,
                false => pretty_format_batches_with_options(&rows, &options)?,
            };
            writeln!(out, "{text}")?;
        }
        Format::Json => {
            let builder = WriterBuilder::new().with_explicit_nulls(true);
            let mut writer: ArrayWriter<_> = builder.build::<_, JsonArray>(&mut out);
            for rows in &answer.rows {
                writer.write(rows)?;
            }
            writer.finish()?;
            writeln!(out)?;
        }
        Format::Csv => {
            let mut writer = arrow::csv::WriterBuilder::new().with_header(true).build(&mut out);
            writer.write(&RecordBatch::new_empty(Arc::clone(&answer.schema)))?;
            for rows in &answer.rows {
                writer.write(rows)?;
            }
        }
        Format::Arrow => {
            let mut writer = StreamWriter::try_new(&mut out, &answer.schema)?;
            for rows in &answer.rows {
                writer.write(rows)?;
            }
            writer.finish()?;
        }
        Format::Parquet => {
            let mut writer = ArrowWriter::try_new(&mut out, Arc::clone(&answer.schema), None)?;
            for rows in &answer.rows {
                writer.write(rows)?;
            }
            writer.close()?;
        }
    }
    out.flush()?;
    Ok(())
}
