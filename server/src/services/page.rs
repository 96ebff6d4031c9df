//! Pages of short lists that are rebuilt for each request.

use trace_protocol::RpcError;

/// Returns a page of a list and the cursor of the next page. Without a limit, the page contains the rest of the list.
///
/// # Errors
///
/// Returns an error if the cursor does not come from this server.
pub(super) fn page<T>(
    items: Vec<T>,
    cursor: Option<&str>,
    limit: Option<u32>,
) -> Result<(Vec<T>, Option<String>), RpcError> {
    let total = items.len();
    let start = match cursor {
        None => 0,
        Some(text) => text
            .parse::<usize>()
            .ok()
            .filter(|start| *start <= total)
            .ok_or_else(|| RpcError::invalid_request(format_args!("invalid cursor: {}", shortened(text))))?,
    };
    let limit = limit.map_or(total, |limit| usize::try_from(limit.max(1)).unwrap_or(usize::MAX));
    let end = start.saturating_add(limit).min(total);
    let next = (end < total).then(|| end.to_string());
    Ok((items.into_iter().skip(start).take(end - start).collect(), next))
}

/// Shortens a text from a client, so that the size of an error does not depend on the size of the request.
pub(super) fn shortened(text: &str) -> &str {
    const ECHOED_CHARS: usize = trace_protocol::error::MAX_ECHOED_CHARS;
    text.char_indices().nth(ECHOED_CHARS).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_together_are_the_list() {
        for limit in [0, 1, 2, 3, 5, 7, u32::MAX] {
            let (mut all, mut cursor) = (Vec::new(), None::<String>);
            loop {
                let (data, next) = page((0..5).collect(), cursor.as_deref(), Some(limit)).expect("a page");
                assert!(!data.is_empty());
                all.extend(data);
                cursor = next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(all, [0, 1, 2, 3, 4], "{limit}");
        }
        assert_eq!(page(vec![1, 2], None, None).expect("a page"), (vec![1, 2], None));
        assert_eq!(page(Vec::<u8>::new(), None, Some(1)).expect("a page"), (vec![], None));
    }

    #[test]
    fn a_foreign_cursor_is_refused() {
        for cursor in ["x", "", "-1", "6", "99999999999999999999999"] {
            let error = page(vec![0; 5], Some(cursor), None).expect_err("it is refused");
            assert_eq!(error.code, trace_protocol::error::INVALID_REQUEST);
            assert!(error.message.starts_with("invalid cursor"), "{error}");
        }
        let long = page(vec![0; 5], Some(&"x".repeat(100_000)), None).expect_err("it is refused");
        assert!(long.message.len() < 1_000);
    }
}
