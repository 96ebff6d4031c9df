//! Rows of answers as values.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use arrow::error::ArrowError;
use serde_json::{Map, Value};

use trace_fleet::query::{Answer, Format, OutputError, write};

/// Returns the rows of an answer as JSON objects.
pub(super) fn objects(answer: &Answer) -> Result<Vec<Map<String, Value>>, OutputError> {
    let mut text = Vec::new();
    write(answer, Format::Json, &mut text)?;
    // What the writer of JSON writes can be parsed.
    serde_json::from_slice(&text).map_err(|error| OutputError::Io(error.into()))
}

/// A column of one batch, of a type that is known.
pub(super) struct Columns<'b>(pub(super) &'b RecordBatch);

impl Columns<'_> {
    fn of(&self, place: usize, kind: &DataType) -> Result<ArrayRef, ArrowError> {
        cast(self.0.column(place), kind)
    }

    /// Returns the texts of a column.
    pub(super) fn texts(&self, place: usize) -> Result<Vec<Option<String>>, ArrowError> {
        let column = self.of(place, &DataType::Utf8)?;
        Ok(column.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect())
    }

    /// Returns the numbers of a column. A missing one is 0.
    pub(super) fn numbers(&self, place: usize) -> Result<Vec<f64>, ArrowError> {
        let column = self.of(place, &DataType::Float64)?;
        let column = column.as_primitive::<Float64Type>();
        Ok((0..column.len()).map(|row| if column.is_null(row) { 0.0 } else { column.value(row) }).collect())
    }

    /// Returns the integers of a column. A missing one is 0.
    pub(super) fn integers(&self, place: usize) -> Result<Vec<i64>, ArrowError> {
        let column = self.of(place, &DataType::Int64)?;
        let column = column.as_primitive::<Int64Type>();
        Ok((0..column.len()).map(|row| if column.is_null(row) { 0 } else { column.value(row) }).collect())
    }
}
