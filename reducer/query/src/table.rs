//! Declarations of tables: their descriptions, and where their rows come from.

use trace_reducer::model::Window;

use crate::cell::Cell;
use crate::source::Source;

/// Type of the values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Integers. Truth values are 0 and 1.
    Integer,
    /// Numbers.
    Real,
    /// Texts.
    Text,
}

impl Kind {
    /// Returns the name of the type in SQL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
            Self::Text => "TEXT",
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

/// A table of the database.
pub trait Table: Sync {
    /// Returns the name of the table.
    fn name(&self) -> &'static str;

    /// Returns a description of what a row is.
    fn text(&self) -> &'static str;

    /// Returns the columns in order.
    fn columns(&self) -> Vec<Column>;

    /// Returns the columns by which rows are looked up. Each has an index on the column and the bundle id. The id comes
    /// first, because it selects fewer rows: often there is only one bundle.
    fn index(&self) -> &'static [&'static str];
}

/// A table whose rows come from a session.
pub(crate) trait Filled: Table {
    /// Calls `take` with each row: the values of the columns in `wanted`, which are indexes.
    fn fill(&self, source: &Source<'_>, wanted: &[usize], take: &mut TakeRow<'_>) -> rusqlite::Result<()>;
}

/// Receives the values of a row.
pub(crate) type TakeRow<'t> = dyn FnMut(&[Cell<'_>]) -> rusqlite::Result<()> + 't;

/// Receives a row before its values are read.
pub(crate) type TakeKey<'t, K> = dyn FnMut(&K) -> rusqlite::Result<()> + 't;

/// A table whose rows are values of type `K`.
pub(crate) struct Rows<K: 'static> {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) index: &'static [&'static str],
    pub(crate) columns: &'static [Getter<K>],
    pub(crate) rows: fn(&Source<'_>, &mut TakeKey<'_, K>) -> rusqlite::Result<()>,
}

/// A column with the function that reads its value.
pub(crate) struct Getter<K: 'static> {
    pub(crate) column: Column,
    pub(crate) get: for<'a> fn(&'a Source<'_>, &'a K) -> Cell<'a>,
}

impl<K> Table for Rows<K> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn text(&self) -> &'static str {
        self.text
    }

    fn columns(&self) -> Vec<Column> {
        self.columns.iter().map(|getter| getter.column).collect()
    }

    fn index(&self) -> &'static [&'static str] {
        self.index
    }
}

impl<K> Filled for Rows<K> {
    fn fill(&self, source: &Source<'_>, wanted: &[usize], take: &mut TakeRow<'_>) -> rusqlite::Result<()> {
        (self.rows)(source, &mut |key| {
            let cells: Vec<Cell<'_>> = wanted.iter().map(|column| (self.columns[*column].get)(source, key)).collect();
            take(&cells)
        })
    }
}

/// Declares a table: what a row is, and for each column its name, type, description and value.
///
/// `each (s, key) row = EXPRESSION` binds the names that the values are read from. The first column of every table is
/// the bundle id.
macro_rules! table {
    (
        $(#[$meta:meta])*
        $table:ident = $name:literal, $text:literal;
        index $index:tt;
        rows $rows:expr;
        each ($s:ident, $key:ident: $type:ty) $row:ident = $lookup:expr;
        $($column:ident $kind:ident $doc:literal = $value:expr;)*
    ) => {
        $(#[$meta])*
        pub(crate) static $table: $crate::table::Rows<$type> = $crate::table::Rows {
            name: $name,
            text: $text,
            index: &$index,
            rows: $rows,
            columns: &[
                $crate::table::Getter {
                    column: $crate::table::Column {
                        name: "bundle_id",
                        kind: $crate::table::Kind::Text,
                        text: "The bundle, `bundles.bundle_id`.",
                    },
                    get: |source, _| source.bundle_id().into(),
                },
                $($crate::table::Getter {
                    column: $crate::table::Column {
                        name: stringify!($column),
                        kind: $crate::table::Kind::$kind,
                        text: $doc,
                    },
                    get: |$s, $key| {
                        let $row = $lookup;
                        let _ = (&$s, &$row);
                        $crate::cell::Cell::from($value)
                    },
                },)*
            ],
        };
    };
}
pub(crate) use table;

/// Returns the time at which something ended, in milliseconds since the Unix epoch.
pub(crate) fn ended(window: &Window) -> Option<i64> {
    window.ended.map(|ended| ended.unix_ms)
}

/// Returns the sequence number of the event that ended something.
pub(crate) fn ended_seq(window: &Window) -> Option<u64> {
    window.ended.map(|ended| ended.seq)
}
