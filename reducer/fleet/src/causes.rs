//! Errors as texts.

use std::error::Error;

/// Returns an error with its causes in one line. A cause that says the same as the error before it is left out.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut last = text.clone();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if next != last {
            text.push_str(": ");
            text.push_str(&next);
        }
        last = next;
        cause = error.source();
    }
    text
}
