//! The texts by which failures are told apart where structure does not: one table for each place they come from.
//!
//! They are the Codex CLI's and change between its versions, so what structure says comes first everywhere.

use serde_json::Value;

use super::{Category, Confidence};

/// What a failed request to a model was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProviderFailure {
    pub(super) category: Category,
    pub(super) http_status: Option<u16>,
    pub(super) confidence: Confidence,
}

/// Beginning of the error text of a response that did not come to its end, by itself or because the response says so.
const DISCONNECTED: &str = "stream disconnected before completion: ";

/// What stands after [`DISCONNECTED`] when nobody said anything: the stream was cut.
const CUT: [&str; 8] = [
    "stream closed before response.completed",
    "idle timeout",
    "transport error",
    "error decoding response body",
    "network error",
    "connection closed",
    "connection reset",
    "error sending request",
];

/// Parts of error texts of requests, in lower case; the first that is found counts.
const REQUEST_ERRORS: [(&str, Category); 24] = [
    ("ran out of room in the model's context window", Category::ContextOverflow),
    ("context_length_exceeded", Category::ContextOverflow),
    ("context window", Category::ContextOverflow),
    ("maximum context length", Category::ContextOverflow),
    ("rate limit", Category::RateLimited),
    ("rate_limit", Category::RateLimited),
    ("too many requests", Category::RateLimited),
    ("usage limit", Category::RateLimited),
    ("quota exceeded", Category::RateLimited),
    ("insufficient_quota", Category::RateLimited),
    ("unauthorized", Category::AuthError),
    ("invalid api key", Category::AuthError),
    ("incorrect api key", Category::AuthError),
    ("authentication", Category::AuthError),
    ("incomplete response returned", Category::ModelError),
    ("invalid prompt", Category::ModelError),
    ("high demand", Category::ProviderError),
    ("unexpected status", Category::ProviderError),
    ("exceeded retry limit", Category::ProviderError),
    ("server error", Category::ProviderError),
    ("overloaded", Category::ProviderError),
    ("connection failed", Category::ProviderError),
    ("error sending request", Category::ProviderError),
    ("bad gateway", Category::ProviderError),
];

/// Names of `codex_error_info` that say what happened. `other` says nothing.
const ERROR_INFOS: [(&str, Category); 14] = [
    ("context_window_exceeded", Category::ContextOverflow),
    ("rate_limit_exceeded", Category::RateLimited),
    ("usage_limit_exceeded", Category::RateLimited),
    ("unauthorized", Category::AuthError),
    ("internal_server_error", Category::ProviderError),
    ("server_overloaded", Category::ProviderError),
    ("model_not_found", Category::ProviderError),
    ("bad_request", Category::ProviderError),
    ("http_connection_failed", Category::ProviderError),
    ("response_too_many_failed_attempts", Category::ProviderError),
    ("response_stream_connection_failed", Category::ProviderError),
    ("response_stream_disconnected", Category::StreamInterrupted),
    ("invalid_prompt", Category::ModelError),
    ("cyber_policy", Category::ModelError),
];

/// Beginnings of the errors that a tool call ends with instead of an output, in lower case.
const TOOL_ERRORS: [(&str, Category); 6] = [
    ("unsupported call:", Category::ToolUnknown),
    ("unsupported custom tool call:", Category::ToolUnknown),
    ("unknown tool", Category::ToolUnknown),
    ("failed to parse function arguments", Category::ToolBadArguments),
    ("invalid arguments", Category::ToolBadArguments),
    ("apply_patch verification failed", Category::PatchFailed),
];

/// Parts of errors by which the user, or a rule that the user set, did not allow a call.
const DECLINED: [&str; 6] = [
    "rejected by user",
    "user rejected",
    "declined by user",
    "user declined",
    "user cancelled mcp tool call",
    "approval denied",
];

/// Parts of errors and outputs of tools that ran into a time limit.
const TIMED_OUT: [&str; 4] = ["timed out", "timeout expired", "deadline exceeded", "time limit exceeded"];

/// How far a failed request came, which is known by whether its answer had an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The provider refused it, or could not be reached.
    Refused,
    /// The response had begun.
    Begun,
}

/// Tells what a request's error was, from what the protocol says of it and from its text.
pub(super) fn request_failure(error: &str, info: Option<&Value>, reach: Reach) -> ProviderFailure {
    let (name, info_status) = info.map_or((None, None), read_error_info);
    let http_status = info_status.or_else(|| status_in(error));
    let by_status = http_status.and_then(category_of_status);
    let by_info = name.and_then(|name| look_up(&ERROR_INFOS, |known| known == name));
    let by_text = category_of_text(error);
    // A refused request whose text speaks of the context is one of the overflow; a status says less than that.
    let (category, confidence) = match (by_status, by_info, by_text) {
        (_, _, Some(Category::ContextOverflow)) => (Category::ContextOverflow, Confidence::High),
        (Some(category), ..) => (category, Confidence::High),
        (None, Some(category), _) => (category, Confidence::High),
        (None, None, Some(category)) => (category, Confidence::Medium),
        (None, None, None) if error.is_empty() => (Category::Unknown, Confidence::Low),
        // A sentence that nobody knows: the provider's if it refused the request, the response's if that had begun.
        (None, None, None) => match reach {
            Reach::Refused => (Category::ProviderError, Confidence::Low),
            Reach::Begun => (Category::ModelError, Confidence::Low),
        },
    };
    ProviderFailure { category, http_status, confidence }
}

/// Returns the name and the HTTP status of a `codex_error_info`, a string or an object with one member.
fn read_error_info(info: &Value) -> (Option<&str>, Option<u16>) {
    match info {
        Value::String(name) => (Some(name), None),
        Value::Object(members) => match members.iter().next() {
            Some((name, value)) => {
                let status = value.get("http_status_code").and_then(Value::as_u64);
                (Some(name), status.and_then(|status| u16::try_from(status).ok()))
            }
            None => (None, None),
        },
        _ => (None, None),
    }
}

fn category_of_status(status: u16) -> Option<Category> {
    Some(match status {
        401 | 403 => Category::AuthError,
        429 => Category::RateLimited,
        400..=599 => Category::ProviderError,
        _ => return None,
    })
}

fn category_of_text(error: &str) -> Option<Category> {
    if let Some(rest) = error.strip_prefix(DISCONNECTED) {
        let rest = rest.to_lowercase();
        let is_cut = rest.is_empty() || CUT.iter().any(|known| rest.contains(known));
        return Some(if is_cut { Category::StreamInterrupted } else { Category::ModelError });
    }
    let error = error.to_lowercase();
    look_up(&REQUEST_ERRORS, |known| error.contains(known))
}

/// Finds an HTTP status in a text: a number from 400 to 599 after the word `status` or `http`.
fn status_in(error: &str) -> Option<u16> {
    let mut words = error.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut is_announced = false;
    words.find_map(|word| {
        let status = word.parse().ok().filter(|status| is_announced && (400..600).contains(status));
        is_announced = word.eq_ignore_ascii_case("status") || word.eq_ignore_ascii_case("http");
        status
    })
}

/// Tells what the error of a tool call was, if its text says so.
pub(super) fn tool_failure(error: &str) -> Option<Category> {
    let error = error.to_lowercase();
    if DECLINED.iter().any(|known| error.contains(known)) {
        return Some(Category::ToolDeclined);
    }
    if let Some(category) = look_up(&TOOL_ERRORS, |known| error.starts_with(known)) {
        return Some(category);
    }
    says_timed_out(&error).then_some(Category::ToolTimeout)
}

/// Says whether a text, in lower case, tells of a time limit.
pub(super) fn says_timed_out(text: &str) -> bool {
    TIMED_OUT.iter().any(|known| text.contains(known))
}

fn look_up<const N: usize>(table: &[(&str, Category); N], fits: impl Fn(&str) -> bool) -> Option<Category> {
    table.iter().find(|(known, _)| fits(known)).map(|(_, category)| *category)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(error: &str) -> (Category, Option<u16>) {
        let failure = request_failure(error, None, Reach::Begun);
        (failure.category, failure.http_status)
    }

    #[test]
    fn errors_of_requests_are_told_apart_by_their_texts() {
        assert_eq!(
            of("We’re currently experiencing high demand, which may cause temporary errors."),
            (Category::ProviderError, None)
        );
        assert_eq!(
            of("unexpected status 503 Service Unavailable: overloaded, url: http://x/v1"),
            (Category::ProviderError, Some(503))
        );
        assert_eq!(of("exceeded retry limit, last status: 429 Too Many Requests"), (Category::RateLimited, Some(429)));
        assert_eq!(of("rate limit exceeded: try again in 50ms."), (Category::RateLimited, None));
        assert_eq!(of("http 401 Unauthorized: Some(\"{}\")"), (Category::AuthError, Some(401)));
        assert_eq!(of("unexpected status 403 Forbidden: no"), (Category::AuthError, Some(403)));
        assert_eq!(
            of("Codex ran out of room in the model's context window. Start a new thread"),
            (Category::ContextOverflow, None)
        );
        assert_eq!(
            of("stream disconnected before completion: stream closed before response.completed"),
            (Category::StreamInterrupted, None)
        );
        assert_eq!(
            of("stream disconnected before completion: An error occurred while processing your request."),
            (Category::ModelError, None)
        );
        assert_eq!(of("Incomplete response returned, reason: max_output_tokens"), (Category::ModelError, None));
        assert_eq!(of("what"), (Category::ModelError, None));
        assert_eq!(request_failure("what", None, Reach::Refused).category, Category::ProviderError);
        assert_eq!(of(""), (Category::Unknown, None));
    }

    #[test]
    fn numbers_in_a_model_s_own_words_are_no_status() {
        assert_eq!(of("stream disconnected before completion: the 500 files could not be read").1, None);
    }

    #[test]
    fn what_the_protocol_says_comes_before_texts() {
        let info = json!({"http_connection_failed": {"http_status_code": 502}});
        let failure = request_failure("rate limit", Some(&info), Reach::Refused);
        assert_eq!((failure.category, failure.http_status), (Category::ProviderError, Some(502)));
        let of = |info: &str| request_failure("no", Some(&json!(info)), Reach::Begun).category;
        assert_eq!(of("context_window_exceeded"), Category::ContextOverflow);
        assert_eq!(of("other"), Category::ModelError);
    }

    #[test]
    fn errors_of_tools_are_told_apart_by_their_texts() {
        assert_eq!(tool_failure("unsupported call: nope"), Some(Category::ToolUnknown));
        assert_eq!(tool_failure("failed to parse function arguments: missing"), Some(Category::ToolBadArguments));
        assert_eq!(tool_failure("apply_patch verification failed: no such file"), Some(Category::PatchFailed));
        assert_eq!(
            tool_failure("exec_command failed: CreateProcess { message: \"Rejected(\\\"rejected by user\\\")\" }"),
            Some(Category::ToolDeclined)
        );
        assert_eq!(tool_failure("timed out awaiting tools/call after 1000ms"), Some(Category::ToolTimeout));
        assert_eq!(tool_failure("exit 3"), None);
    }
}
