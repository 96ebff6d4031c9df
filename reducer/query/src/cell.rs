//! A value on its way into a cell of the database.

use std::borrow::Cow;

use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use trace_reducer::model::Symbol;

/// Size in bytes of the largest value that a query may make or read. Longer texts are cut when the tables are filled.
pub const MAX_VALUE_BYTES: i32 = 1 << 26;

/// A value of a column. Texts are borrowed from the graph or the log if possible.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell<'a> {
    /// The value is unknown or does not exist.
    Null,
    /// An integer.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(Cow<'a, str>),
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(beginning(text, MAX_VALUE_BYTES as usize).as_bytes()),
        }))
    }
}

/// Returns the first `bytes` bytes of a text at most, without a partial character. No query could read more of a value.
fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<Cow<'a, str>> for Cell<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self::Text(text)
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<u64> for Cell<'_> {
    /// A bundle may contain any number. SQL integers end at `i64::MAX`.
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Cell<'_> {
    fn from(number: usize) -> Self {
        Self::from(number as u64)
    }
}

impl From<u32> for Cell<'_> {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<bool> for Cell<'_> {
    fn from(is_so: bool) -> Self {
        Self::Integer(is_so.into())
    }
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl<'a, T: Into<Self>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Resolves symbols to texts. It is a trait so that it also works for an `Option<Symbol>`.
pub(crate) trait Resolve {
    /// Type of the resolved text.
    type Text<'a>;

    /// Returns the text.
    fn resolve<'a>(self, symbols: &'a trace_reducer::model::Symbols) -> Self::Text<'a>;
}

impl Resolve for Symbol {
    type Text<'a> = &'a str;

    fn resolve(self, symbols: &trace_reducer::model::Symbols) -> &str {
        &symbols[self]
    }
}

impl Resolve for Option<Symbol> {
    type Text<'a> = Option<&'a str>;

    fn resolve(self, symbols: &trace_reducer::model::Symbols) -> Option<&str> {
        self.map(|symbol| &symbols[symbol])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!([0, 1, 2, 3, 9].map(|bytes| beginning("aé", bytes)), ["", "a", "a", "aé", "aé"]);
    }

    #[test]
    fn numbers_stop_at_the_largest_that_sql_knows() {
        assert_eq!(Cell::from(u64::MAX), Cell::Integer(i64::MAX));
        assert_eq!(Cell::from(Some(7u32)), Cell::Integer(7));
        assert_eq!(Cell::from(None::<u32>), Cell::Null);
    }
}
