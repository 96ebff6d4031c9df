//! Columns and their types.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, TimeUnit};

/// Time zone of all times.
pub(super) const UTC: &str = "UTC";

/// Type of the values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Texts.
    Text,
    /// Integers of 64 bits.
    Integer,
    /// Numbers.
    Real,
    /// Truth values.
    Truth,
    /// Days, as days since the Unix epoch.
    Day,
    /// Times in UTC. Cells have milliseconds since the Unix epoch, and columns microseconds, as Delta wants them.
    Time,
    /// Lists of integers.
    Integers,
}

impl Kind {
    /// Returns the name of the type for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Real => "real",
            Self::Truth => "boolean",
            Self::Day => "date",
            Self::Time => "timestamp",
            Self::Integers => "list of integers",
        }
    }

    /// Returns the type in Arrow.
    pub fn arrow(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8,
            Self::Integer => DataType::Int64,
            Self::Real => DataType::Float64,
            Self::Truth => DataType::Boolean,
            Self::Day => DataType::Date32,
            Self::Time => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
            Self::Integers => DataType::List(Arc::new(Field::new("element", DataType::Int64, true))),
        }
    }
}

/// Description of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Name of the column.
    pub name: &'static str,
    /// Type of its values.
    pub kind: Kind,
    /// Meaning of its values.
    pub text: &'static str,
}
