//! Pages of short lists.

use trace_protocol::RpcError;

/// Rows of a page if the client sets no limit.
pub(crate) const DEFAULT_LIMIT: usize = 25;
/// Most rows of a page.
pub(crate) const MAX_LIMIT: usize = 100;

/// Returns the number of rows of a page.
pub(crate) fn limit(asked: Option<u32>) -> usize {
    asked.map_or(DEFAULT_LIMIT, |limit| usize::try_from(limit).unwrap_or(MAX_LIMIT).clamp(1, MAX_LIMIT))
}

/// Returns the rows after the one that a cursor names, at most `limit` of them, and the cursor of the next page.
///
/// # Errors
///
/// Returns an error if the cursor names no row.
pub(crate) fn by_key<'a, T>(
    rows: &'a [T],
    key: impl Fn(&T) -> &str,
    cursor: Option<&str>,
    limit: usize,
) -> Result<(&'a [T], Option<String>), RpcError> {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let position = rows.iter().position(|row| key(row) == cursor);
            position.ok_or_else(|| RpcError::invalid_request(format!("invalid cursor: {cursor}")))? + 1
        }
    };
    let end = rows.len().min(start.saturating_add(limit));
    let page = &rows[start..end];
    let next = (end < rows.len()).then(|| page.last().map(|row| key(row).to_owned())).flatten();
    Ok((page, next))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn pages_add_up() {
        let rows: Vec<String> = (0..7).map(|number| number.to_string()).collect();
        let mut seen = Vec::new();
        let mut cursor = None;
        loop {
            let (page, next) = by_key(&rows, |row| row, cursor.as_deref(), 3).unwrap();
            seen.extend_from_slice(page);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, rows);
        assert!(by_key(&rows, |row| row, Some("no"), 1).is_err());
        assert_eq!(limit(Some(0)), 1);
        assert_eq!(limit(Some(5_000)), MAX_LIMIT);
    }
}
