//! A value of a row before it is in a column.

use std::borrow::Cow;

/// A value. Columns check that it has their type.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// A text.
    Text(Cow<'a, str>),
    /// A number.
    Integer(i64),
    /// A number that need not be whole.
    Real(f64),
    /// A truth value.
    Truth(bool),
    /// Numbers.
    Integers(Vec<i64>),
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Cell<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<bool> for Cell<'_> {
    fn from(truth: bool) -> Self {
        Self::Truth(truth)
    }
}

impl From<f64> for Cell<'_> {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<Vec<i64>> for Cell<'_> {
    fn from(numbers: Vec<i64>) -> Self {
        Self::Integers(numbers)
    }
}

/// Numbers beyond the largest integer of a column become that integer.
macro_rules! from_unsigned {
    ($($type:ty),*) => {$(
        impl From<$type> for Cell<'_> {
            fn from(number: $type) -> Self {
                Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
            }
        }
    )*};
}
from_unsigned!(u8, u16, u32, u64, usize, i32);

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
