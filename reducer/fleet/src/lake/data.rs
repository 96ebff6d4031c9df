//! Data files: rows to Parquet and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray};
use arrow::compute::{SortColumn, SortOptions};
use arrow::compute::{concat_batches, filter_record_batch, lexsort_to_indices, take_record_batch};
use arrow::datatypes::{DataType, Date32Type, SchemaRef};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::record::{Batch, DataFile, Range};
use crate::tables::{self, SESSIONS, SessionRows};

/// Columns whose range of values is in the log, so that a query reads no file that cannot have rows for it.
pub const RANGED_COLUMNS: [&str; 9] =
    ["team", "repository", "agent", "agent_version", "model", "day", "category", "kind", "severity"];

/// Columns by which the rows of a file are sorted. Rows that are asked for together are together.
const SORTED_BY: [&str; 3] = ["day", "team", "address"];

/// Most rows of a row group: what is decoded at once.
const MAX_ROW_GROUP_ROWS: usize = 1 << 17;

/// Level of compression of data files. Higher ones take more time than they save space: most values are in dictionaries.
const ZSTD_LEVEL: i32 = 1;

/// Most rows of a batch in memory while a file is read.
const READ_ROWS: usize = 1 << 13;

/// Bytes of the hash in the name of a file.
const NAME_BYTES: usize = 16;

/// Largest data file that is read as a whole, in bytes.
pub const MAX_FILE_BYTES: u64 = 2 << 30;

/// Why a data file cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The file is no Parquet file, or not of the columns of its table.
    #[error("{path} cannot be read as Parquet")]
    Parquet {
        /// Path of the file.
        path: String,
        /// Cause of the error.
        source: ParquetError,
    },
    /// Rows cannot be put together.
    #[error("rows of {table} cannot be put together")]
    Rows {
        /// Name of the table.
        table: String,
        /// Cause of the error.
        source: ArrowError,
    },
    /// A column is missing or of another type.
    #[error("{path} has no column {column} of the type that it should have")]
    Column {
        /// Path of the file.
        path: String,
        /// Name of the column.
        column: &'static str,
    },
}

/// Whether rows are in the order of their file already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// They come from several places.
    Any,
    /// They are what is left of one file, in its order.
    Kept,
}

/// A batch with the contents of its files, before they are written.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// The batch as the log will name it.
    pub batch: Batch,
    /// Table, path relative to the lake, and content of each file.
    pub files: Vec<(String, Bytes)>,
}

/// Returns the path of a data file relative to the lake.
pub fn file_path(table: &str, file: &str) -> String {
    format!("{}/{file}", table_folder(table))
}

/// Returns the folder of a table relative to the lake.
pub fn table_folder(table: &str) -> String {
    format!("tables/{table}")
}

/// Makes a batch of the rows of sessions.
///
/// # Errors
///
/// Returns an error if rows are not of their table, which is a mistake of the caller.
pub fn encode_sessions(sessions: &[SessionRows]) -> Result<Option<Encoded>, DataError> {
    let tables: Vec<(&'static str, Vec<RecordBatch>)> = tables::ALL
        .iter()
        .enumerate()
        .map(|(index, table)| (table.name(), sessions.iter().map(|rows| rows.tables[index].clone()).collect()))
        .collect();
    encode(tables, Order::Any)
}

/// Makes a batch of rows by table. Returns `None` if there is no session.
///
/// # Errors
///
/// Returns an error if rows are not of their table, which is a mistake of the caller.
pub fn encode(tables: Vec<(&'static str, Vec<RecordBatch>)>, order: Order) -> Result<Option<Encoded>, DataError> {
    let encoded: Vec<Option<(&'static str, DataFile, Bytes)>> =
        tables.into_par_iter().map(|(name, rows)| encode_table(name, &rows, order)).collect::<Result<_, _>>()?;
    let mut hash = Sha256::new();
    let mut batch = Batch { id: String::new(), sessions: 0, files: BTreeMap::new() };
    let mut files = Vec::new();
    for (name, file, content) in encoded.into_iter().flatten() {
        if name == SESSIONS {
            batch.sessions = file.rows;
        }
        hash.update(file.path.as_bytes());
        files.push((file_path(name, &file.path), content));
        batch.files.insert(name.to_owned(), file);
    }
    batch.id = hex(&hash.finalize()[..NAME_BYTES]);
    Ok((batch.sessions > 0).then_some(Encoded { batch, files }))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn encode_table(
    name: &'static str,
    rows: &[RecordBatch],
    order: Order,
) -> Result<Option<(&'static str, DataFile, Bytes)>, DataError> {
    let table = tables::find(name).unwrap_or_else(|| unreachable!("{name} is a table"));
    let schema = tables::schema(table);
    let rows_error = |source| DataError::Rows { table: name.to_owned(), source };
    let all = concat_batches(&schema, rows).map_err(rows_error)?;
    if all.num_rows() == 0 {
        return Ok(None);
    }
    let sorted = if order == Order::Kept { all } else { sorted(&all).map_err(rows_error)? };
    let parquet = |source| DataError::Parquet { path: name.to_owned(), source };
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(parquet::basic::ZstdLevel::try_new(ZSTD_LEVEL).map_err(parquet)?))
        .set_max_row_group_row_count(Some(MAX_ROW_GROUP_ROWS))
        // The log has ranges for the columns that matter; ranges of pages would cost more to write than they save.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_created_by("trace-fleet".to_owned())
        .build();
    let mut content = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut content, Arc::clone(&schema), Some(properties)).map_err(parquet)?;
    writer.write(&sorted).map_err(parquet)?;
    writer.close().map_err(parquet)?;
    let file = DataFile {
        path: format!("{}.parquet", hex(&Sha256::digest(&content)[..NAME_BYTES])),
        bytes: content.len() as u64,
        rows: sorted.num_rows() as u64,
        stats: ranges(&sorted),
    };
    Ok(Some((name, file, content.into())))
}

/// Sorts rows by [`SORTED_BY`]. The rows of a session stay in their order.
fn sorted(rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<SortColumn> = SORTED_BY
        .iter()
        .filter_map(|name| rows.column_by_name(name))
        .map(|values| SortColumn { values: Arc::clone(values), options: Some(SortOptions::default()) })
        .collect();
    // The sort of Arrow is not stable: the number of the row decides between equal rows.
    let numbers = arrow::array::UInt32Array::from_iter_values(0..rows.num_rows() as u32);
    let mut columns = columns;
    columns.push(SortColumn { values: Arc::new(numbers), options: Some(SortOptions::default()) });
    take_record_batch(rows, &lexsort_to_indices(&columns, None)?)
}

fn ranges(rows: &RecordBatch) -> BTreeMap<String, Range> {
    let range = |name: &&str| {
        let column = rows.column_by_name(name)?;
        let values = match column.data_type() {
            DataType::Utf8 => {
                let texts = column.as_string::<i32>();
                let (min, max) = (arrow::compute::min_string(texts), arrow::compute::max_string(texts));
                min.zip(max).map(|(min, max)| (min.to_owned(), max.to_owned()))
            }
            DataType::Date32 => {
                let days = column.as_primitive::<Date32Type>();
                arrow::compute::min(days)
                    .zip(arrow::compute::max(days))
                    .and_then(|(min, max)| Some((day_text(min)?, day_text(max)?)))
            }
            _ => return None,
        };
        Some(((*name).to_owned(), Range { values, nulls: column.null_count() as u64 }))
    };
    RANGED_COLUMNS.iter().filter_map(range).collect()
}

/// Returns a day as `YYYY-MM-DD`. `None` if the calendar does not have it.
pub fn day_text(day: i32) -> Option<String> {
    let epoch = jiff::civil::date(1970, 1, 1);
    let day = epoch.checked_add(jiff::Span::new().try_days(i64::from(day)).ok()?).ok()?;
    Some(day.to_string())
}

/// Returns the day of a text `YYYY-MM-DD`, as days since the Unix epoch.
pub fn day_number(text: &str) -> Option<i32> {
    let day: jiff::civil::Date = text.parse().ok()?;
    let since = day.since(jiff::civil::date(1970, 1, 1)).ok()?;
    Some(since.get_days())
}

/// Decodes a data file.
///
/// # Errors
///
/// Returns an error if it is no Parquet file, or its columns are not those of the table.
pub fn decode(
    table: &str,
    path: &str,
    content: Bytes,
    columns: Option<&[&str]>,
) -> Result<Vec<RecordBatch>, DataError> {
    let error = |source| DataError::Parquet { path: path.to_owned(), source };
    let builder = ParquetRecordBatchReaderBuilder::try_new(content).map_err(error)?;
    let mask = match columns {
        Some(columns) => ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied()),
        None => ProjectionMask::all(),
    };
    let reader = builder.with_batch_size(READ_ROWS).with_projection(mask).build().map_err(error)?;
    let rows: Vec<RecordBatch> =
        reader.collect::<Result<_, ArrowError>>().map_err(|source| error(ParquetError::from(source)))?;
    match (columns, tables::find(table)) {
        (None, Some(known)) => rows.iter().map(|rows| with_schema(rows, &tables::schema(known), path)).collect(),
        _ => Ok(rows),
    }
}

/// Gives rows the columns of their table: a file of an earlier version lacks some, which are null then.
fn with_schema(rows: &RecordBatch, schema: &SchemaRef, path: &str) -> Result<RecordBatch, DataError> {
    let mut columns = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        match rows.column_by_name(field.name()) {
            Some(column) if column.data_type() == field.data_type() => columns.push(Arc::clone(column)),
            Some(_) => {
                let source = ArrowError::SchemaError(format!("column {} has another type", field.name()));
                return Err(DataError::Parquet { path: path.to_owned(), source: source.into() });
            }
            None => columns.push(arrow::array::new_null_array(field.data_type(), rows.num_rows())),
        }
    }
    RecordBatch::try_new(Arc::clone(schema), columns)
        .map_err(|source| DataError::Parquet { path: path.to_owned(), source: source.into() })
}

/// Returns the texts of a column.
///
/// # Errors
///
/// Returns an error if there is no such column of texts.
pub fn texts<'r>(
    rows: &'r RecordBatch,
    column: &'static str,
    path: &str,
) -> Result<&'r arrow::array::StringArray, DataError> {
    rows.column_by_name(column)
        .and_then(|column| column.as_string_opt::<i32>())
        .ok_or_else(|| DataError::Column { path: path.to_owned(), column })
}

/// Returns the rows of those addresses that a function keeps.
///
/// # Errors
///
/// Returns an error if the rows have no addresses.
pub fn keep(rows: &RecordBatch, path: &str, mut is_kept: impl FnMut(&str) -> bool) -> Result<RecordBatch, DataError> {
    let addresses = texts(rows, "address", path)?;
    let mask: BooleanArray = addresses.iter().map(|address| Some(address.is_some_and(&mut is_kept))).collect();
    filter_record_batch(rows, &mask).map_err(|source| DataError::Rows { table: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_written_and_read() {
        for (day, text) in [(0, "1970-01-01"), (20_781, "2026-11-24"), (-1, "1969-12-31")] {
            assert_eq!(day_text(day).as_deref(), Some(text));
            assert_eq!(day_number(text), Some(day));
        }
        assert_eq!(day_text(i32::MAX), None);
        assert_eq!(day_number("2026-13-01"), None);
    }

    #[test]
    fn what_is_no_parquet_file_is_an_error() {
        for content in [&b""[..], b"PAR1", b"PAR1aaaaaaaaPAR1", &[0xff; 100]] {
            let error = decode("sessions", "x.parquet", Bytes::copy_from_slice(content), None).expect_err("no Parquet");
            assert!(matches!(error, DataError::Parquet { .. }), "{error}");
        }
    }
}
