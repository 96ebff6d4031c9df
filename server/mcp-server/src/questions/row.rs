//! Rows of answers: how they are made, and what their lines read of them.

use serde_json::{Map, Value};

/// Most rows of a page that a call can ask for.
pub(super) const MAX_ROWS: u64 = 50;

/// Returns the member of a row as text for its line.
pub(super) fn text<'v>(row: &'v Value, name: &str) -> &'v str {
    row[name].as_str().unwrap_or_default()
}

/// Returns a number of a row for its line.
pub(super) fn number(row: &Value, name: &str) -> u64 {
    row[name].as_u64().unwrap_or_default()
}

/// Returns a time as text in UTC.
pub(super) fn moment(unix_ms: i64) -> Option<String> {
    let moment = jiff::Timestamp::from_millisecond(unix_ms).ok()?;
    Some(moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// Returns a share with three digits behind the point.
pub(super) fn share(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}

/// Makes an object without the members that are null.
pub(super) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    members
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.to_owned(), value))
        .collect::<Map<_, _>>()
        .into()
}
