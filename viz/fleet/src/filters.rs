//! What the reader of the page narrows the lake to.

use std::collections::HashMap;

use crate::range::Range;
use trace_fleet::lake::data::{day_number, day_text};
use trace_fleet::query::literal;

/// Longest value of a parameter of a request, in bytes.
pub const MAX_VALUE_BYTES: usize = 2048;

/// Columns that every table has. A parameter of that name keeps rows with that value; an empty one keeps rows without a value.
const COMMON: [&str; 5] = ["team", "repository", "agent", "agent_version", "model"];

/// Parameters that keep the sessions that have a certain row: name, table, column, and what else holds for the row.
const OF_ROWS: [(&str, &str, &str, Option<&str>); 5] = [
    ("category", "failures", "category", None),
    ("signature", "failures", "signature", None),
    ("tool", "tool_calls", "tool", Some("outcome = 'failed'")),
    ("finding", "findings", "kind", None),
    ("outcome", "sessions", "outcome", None),
];

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FiltersError {
    /// There is no such parameter.
    #[error("there is no parameter {name:?}")]
    Unknown {
        /// Its name.
        name: String,
    },
    /// A value is too long.
    #[error("the value of {name:?} has {bytes} bytes; at most {MAX_VALUE_BYTES} are read")]
    TooLong {
        /// Name of the parameter.
        name: String,
        /// Bytes of the value.
        bytes: usize,
    },
    /// A value is not what its parameter takes.
    #[error("{value:?} is no value of {name:?}")]
    Value {
        /// Name of the parameter.
        name: String,
        /// The value.
        value: String,
    },
}

/// The parameters of a request that narrow the lake, and the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    /// First day, as days since the Unix epoch.
    pub(super) since: Option<i32>,
    /// Last day.
    pub(super) until: Option<i32>,
    /// Conditions on common columns.
    common: Vec<(&'static str, String)>,
    /// Conditions on rows that a session has: index in [`OF_ROWS`], and the value.
    of_rows: Vec<(usize, String)>,
    /// Parameters that say something else.
    others: HashMap<&'static str, String>,
}

impl Filters {
    /// Reads the parameters of a request. `others` are the names of those that do not narrow the lake.
    ///
    /// # Errors
    ///
    /// Returns an error for a parameter that there is not, and for a value that is too long or of another type.
    pub fn new(given: &HashMap<String, String>, others: &[&'static str]) -> Result<Self, FiltersError> {
        let mut filters = Self::default();
        // The order of a map differs from run to run; that of a question must not.
        let mut given: Vec<(&String, &String)> = given.iter().collect();
        given.sort();
        for (name, value) in given {
            if value.len() > MAX_VALUE_BYTES {
                return Err(FiltersError::TooLong { name: name.clone(), bytes: value.len() });
            }
            let day = || {
                // A day that the calendar of the engine does not have would be an error of the question.
                let day = day_number(value).filter(|day| day_text(*day).as_ref() == Some(value));
                day.ok_or_else(|| FiltersError::Value { name: name.clone(), value: value.clone() })
            };
            if name == "since" {
                filters.since = Some(day()?);
            } else if name == "until" {
                filters.until = Some(day()?);
            } else if let Some(column) = COMMON.iter().find(|column| *column == name) {
                filters.common.push((column, value.clone()));
            } else if let Some(place) = OF_ROWS.iter().position(|(known, ..)| known == name) {
                filters.of_rows.push((place, value.clone()));
            } else if let Some(other) = others.iter().find(|other| *other == name) {
                filters.others.insert(other, value.clone());
            } else {
                return Err(FiltersError::Unknown { name: name.clone() });
            }
        }
        Ok(filters)
    }

    /// Returns the value of a parameter that does not narrow the lake.
    pub(super) fn other(&self, name: &str) -> Option<&str> {
        self.others.get(name).map(String::as_str)
    }

    /// Returns the number in a parameter, at most `most`.
    pub(super) fn number(&self, name: &'static str, default: usize, most: usize) -> Result<usize, FiltersError> {
        let Some(value) = self.other(name) else { return Ok(default) };
        let number: Option<usize> = value.parse().ok();
        number
            .map(|number| number.min(most))
            .ok_or_else(|| FiltersError::Value { name: name.to_owned(), value: value.to_owned() })
    }

    /// Returns the condition of SQL for the rows of a table.
    pub(super) fn on(&self, table: &str, range: Range) -> String {
        let common = self.of_all(range);
        let mut all = vec![common.clone()];
        for (place, value) in &self.of_rows {
            let (_, of_table, column, also) = OF_ROWS[*place];
            let own = [Some(is(column, value)), also.map(str::to_owned)];
            let own = own.into_iter().flatten().collect::<Vec<_>>().join(" AND ");
            all.push(match of_table == table {
                true => own,
                false => format!("address IN (SELECT address FROM {of_table} WHERE {common} AND {own})"),
            });
        }
        all.join(" AND ")
    }

    /// Returns the condition on the columns that all tables have.
    fn of_all(&self, range: Range) -> String {
        let [first, last] = range.texts();
        let days = format!("day BETWEEN DATE '{first}' AND DATE '{last}'");
        let columns = self.common.iter().map(|(column, value)| is(column, value));
        std::iter::once(days).chain(columns).collect::<Vec<_>>().join(" AND ")
    }
}

/// Returns the condition that a column has a value; an empty one is none.
fn is(column: &str, value: &str) -> String {
    if value.is_empty() { format!("{column} IS NULL") } else { format!("{column} = {}", literal(value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(given: &[(&str, &str)]) -> Result<Filters, FiltersError> {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Filters::new(&given, &["order", "limit"])
    }

    #[test]
    fn values_are_literals_and_rows_of_other_tables_narrow_sessions() {
        let filters =
            filters(&[("team", "a' OR '1' = '1"), ("model", ""), ("category", "rate_limited"), ("tool", "x")]);
        let filters = filters.expect("parameters");
        let range = Range { first: 0, last: 1 };
        insta::assert_snapshot!(filters.on("failures", range), @"day BETWEEN DATE '1970-01-01' AND DATE '1970-01-02' AND model IS NULL AND team = 'a'' OR ''1'' = ''1' AND category = 'rate_limited' AND address IN (SELECT address FROM tool_calls WHERE day BETWEEN DATE '1970-01-01' AND DATE '1970-01-02' AND model IS NULL AND team = 'a'' OR ''1'' = ''1' AND tool = 'x' AND outcome = 'failed')");
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        assert_eq!(filters(&[("x", "1")]), Err(FiltersError::Unknown { name: "x".to_owned() }));
        for day in ["", "2026-1-1", "2026-02-30", "yesterday", "99999-01-01", "2026-01-01' OR 1"] {
            assert!(matches!(filters(&[("since", day)]), Err(FiltersError::Value { .. })), "{day}");
        }
        assert_eq!(filters(&[("since", "2026-01-02")]).expect("a day").since, Some(20_455));
        let long = "x".repeat(MAX_VALUE_BYTES + 1);
        assert!(matches!(filters(&[("team", &long)]), Err(FiltersError::TooLong { .. })));
        let numbered = |value: &str| filters(&[("limit", value)]).expect("parameters").number("limit", 5, 10);
        assert_eq!((numbered("7"), numbered("99")), (Ok(7), Ok(10)));
        assert!(numbered("-1").is_err() && numbered("").is_err());
        assert_eq!(filters(&[]).expect("parameters").number("limit", 5, 10), Ok(5));
    }
}
