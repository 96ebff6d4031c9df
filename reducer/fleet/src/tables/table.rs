//! Declarations of tables, and the way from the values of rows to columns.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanBuilder, Date32Builder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;

use super::cell::Cell;
use super::column::{Column, Kind, UTC};
use super::common::COMMON;
use super::source::Source;

/// A table of the lake.
pub trait Table: Sync + Send {
    /// Returns the name of the table.
    fn name(&self) -> &'static str;

    /// Returns a description of what a row is.
    fn text(&self) -> &'static str;

    /// Returns the columns in order.
    fn columns(&self) -> Vec<Column>;
}

/// A table whose rows come from a session.
pub trait Filled: Table {
    /// Reads the rows of a session.
    fn rows(&self, source: &Source<'_>) -> RecordBatch;
}

/// Returns the schema of a table. Every column may be null, so that a later version can add columns.
pub(crate) fn schema(table: &(impl Table + ?Sized)) -> SchemaRef {
    let fields = table.columns().into_iter().map(|column| Field::new(column.name, column.kind.arrow(), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// A column with the function that reads its value.
pub(crate) struct Getter<K: 'static> {
    pub(crate) column: Column,
    pub(crate) get: for<'a> fn(&'a Source<'_>, &'a K) -> Cell<'a>,
}

/// A table whose rows are values of type `K`.
pub(crate) struct Rows<K: 'static> {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) columns: &'static [Getter<K>],
    /// Returns the model of a row: the common column that differs between the rows of a session.
    pub(crate) model: for<'a> fn(&'a Source<'_>, &'a K) -> Option<&'a str>,
    pub(crate) rows: fn(&Source<'_>) -> Vec<K>,
}

impl<K: Sync + Send> Table for Rows<K> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn text(&self) -> &'static str {
        self.text
    }

    fn columns(&self) -> Vec<Column> {
        COMMON.iter().copied().chain(self.columns.iter().map(|getter| getter.column)).collect()
    }
}

impl<K: Sync + Send> Filled for Rows<K> {
    fn rows(&self, source: &Source<'_>) -> RecordBatch {
        let keys = (self.rows)(source);
        let common = COMMON.iter().map(|column| {
            let mut builder = Builder::new(column.kind, keys.len());
            for key in &keys {
                builder.push(source.common().cell(column.name, (self.model)(source, key)));
            }
            builder.finish()
        });
        let own = self.columns.iter().map(|getter| {
            let mut builder = Builder::new(getter.column.kind, keys.len());
            for key in &keys {
                builder.push((getter.get)(source, key));
            }
            builder.finish()
        });
        let columns: Vec<ArrayRef> = common.chain(own).collect();
        RecordBatch::try_new(schema(self), columns).expect("the columns are built from the schema")
    }
}

/// A column under construction.
enum Builder {
    Text(StringBuilder),
    Integer(Int64Builder),
    Real(Float64Builder),
    Truth(BooleanBuilder),
    Day(Date32Builder),
    Time(TimestampMicrosecondBuilder),
    Integers(ListBuilder<Int64Builder>),
}

impl Builder {
    fn new(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::Text => Self::Text(StringBuilder::with_capacity(rows, rows * 16)),
            Kind::Integer => Self::Integer(Int64Builder::with_capacity(rows)),
            Kind::Real => Self::Real(Float64Builder::with_capacity(rows)),
            Kind::Truth => Self::Truth(BooleanBuilder::with_capacity(rows)),
            Kind::Day => Self::Day(Date32Builder::with_capacity(rows)),
            Kind::Time => Self::Time(TimestampMicrosecondBuilder::with_capacity(rows).with_timezone(UTC)),
            Kind::Integers => Self::Integers(ListBuilder::new(Int64Builder::new()).with_field(Field::new(
                "element",
                DataType::Int64,
                true,
            ))),
        }
    }

    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::Text(builder), Cell::Text(text)) => builder.append_value(text),
            (Self::Integer(builder), Cell::Integer(number)) => builder.append_value(number),
            (Self::Real(builder), Cell::Real(number)) => builder.append_value(number),
            (Self::Truth(builder), Cell::Truth(truth)) => builder.append_value(truth),
            (Self::Day(builder), Cell::Integer(day)) => builder.append_option(i32::try_from(day).ok()),
            (Self::Time(builder), Cell::Integer(time)) => builder.append_value(time.saturating_mul(1000)),
            (Self::Integers(builder), Cell::Integers(numbers)) => {
                builder.append_value(numbers.into_iter().map(Some));
            }
            (Self::Text(builder), Cell::Null) => builder.append_null(),
            (Self::Integer(builder), Cell::Null) => builder.append_null(),
            (Self::Real(builder), Cell::Null) => builder.append_null(),
            (Self::Truth(builder), Cell::Null) => builder.append_null(),
            (Self::Day(builder), Cell::Null) => builder.append_null(),
            (Self::Time(builder), Cell::Null) => builder.append_null(),
            (Self::Integers(builder), Cell::Null) => builder.append_null(),
            (_, cell) => unreachable!("{cell:?} is of another type than its column: a test fills all columns"),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Text(mut builder) => Arc::new(builder.finish()),
            Self::Integer(mut builder) => Arc::new(builder.finish()),
            Self::Real(mut builder) => Arc::new(builder.finish()),
            Self::Truth(mut builder) => Arc::new(builder.finish()),
            Self::Day(mut builder) => Arc::new(builder.finish()),
            Self::Time(mut builder) => Arc::new(builder.finish()),
            Self::Integers(mut builder) => Arc::new(builder.finish()),
        }
    }
}

/// Declares a table: what a row is, the model of a row, and for each column its name, type, description and value.
macro_rules! table {
    (
        $(#[$meta:meta])*
        $table:ident = $name:literal, $text:literal;
        rows $rows:expr;
        each ($s:ident, $key:ident: $type:ty) $row:ident = $lookup:expr;
        model $model:expr;
        $($column:ident $kind:ident $doc:literal = $value:expr;)*
    ) => {
        $(#[$meta])*
        pub(crate) static $table: std::sync::LazyLock<$crate::tables::table::Rows<$type>> =
            std::sync::LazyLock::new(|| $crate::tables::table::Rows {
                name: $name,
                text: $text,
                rows: $rows,
                model: |$s, $key| {
                    let $row = $lookup;
                    let _ = (&$s, &$key, &$row);
                    $model
                },
                columns: const { &[
                    $($crate::tables::table::Getter {
                        column: $crate::tables::column::Column {
                            name: stringify!($column),
                            kind: $crate::tables::column::Kind::$kind,
                            text: $doc,
                        },
                        get: |$s, $key| {
                            let $row = $lookup;
                            let _ = (&$s, &$key, &$row);
                            $crate::tables::cell::Cell::from($value)
                        },
                    },)*
                ] },
            });
    };
}
pub(crate) use table;
