//! Classifies errors of providers, and decides whether a retry may succeed.
//!
//! One table serves all providers: error responses, failed streams and connection errors. The message of the provider is
//! kept as the message; what this program knows in addition goes into the details.

use std::time::Duration;

use serde_json::Value;

use super::{ProviderError, RetryDecision};
use crate::event::ErrorKind;

/// The longest pause that a provider may ask for. If it asks for a longer one, the request is not retried.
pub const RETRY_AFTER_MAX: Duration = Duration::from_secs(10 * 60);

/// Most characters shown of a text that a service sent instead of an error object.
pub const SHOWN_TEXT_MAX: usize = 2000;

/// An HTTP response with an error.
#[derive(Debug)]
pub(super) struct Refusal<'a> {
    /// HTTP status.
    pub(super) status: u16,
    /// Pause from the `Retry-After` header.
    pub(super) retry_after: Option<Duration>,
    /// Body of the response.
    pub(super) body: &'a [u8],
    /// URL of the provider, for messages.
    pub(super) origin: &'a str,
    /// The provider's id of the request.
    pub(super) request_id: Option<String>,
}

impl Refusal<'_> {
    /// Returns the error that the response describes.
    pub(super) fn into_error(self) -> ProviderError {
        let status = self.status;
        let reported = ErrorBody::read(self.body);
        let mut details = format!("HTTP {status} from {}", self.origin);
        let (kind, retry) = match reported.code.as_deref().and_then(known_code) {
            Some(Code::ContextWindow) => (ErrorKind::ContextWindowExceeded, RetryDecision::Never),
            Some(Code::UsageLimit) => (ErrorKind::UsageLimitExceeded, RetryDecision::Never),
            Some(Code::UnknownModel) => (ErrorKind::ModelNotFound, RetryDecision::Never),
            Some(Code::Overloaded) => (ErrorKind::ServerOverloaded, RetryDecision::Request { after: self.retry_after }),
            Some(Code::Unauthorized | Code::BadPrompt | Code::RateLimit) | None => match status {
                400 | 413 | 500 if reported.is_about_the_window() => {
                    (ErrorKind::ContextWindowExceeded, RetryDecision::Never)
                }
                404 if reported.is_about_a_model() => (ErrorKind::ModelNotFound, RetryDecision::Never),
                401 => (ErrorKind::Unauthorized, RetryDecision::Never),
                400 | 422 => (ErrorKind::Other, RetryDecision::Never),
                408 | 409 | 425 | 429 | 500.. => (
                    match status {
                        500 => ErrorKind::InternalServerError,
                        _ => ErrorKind::HttpConnectionFailed { status: Some(status) },
                    },
                    RetryDecision::Request { after: self.retry_after },
                ),
                _ => (ErrorKind::HttpConnectionFailed { status: Some(status) }, RetryDecision::Never),
            },
        };
        let retry = match retry {
            RetryDecision::Request { after: Some(after) } if after > RETRY_AFTER_MAX => {
                details.push_str(&format!("; it asks for a pause of {} s, which is too long to wait", after.as_secs()));
                RetryDecision::Never
            }
            retry => retry,
        };
        let message = match reported.message {
            Some(message) => message,
            None => {
                let body = shown(&String::from_utf8_lossy(self.body));
                if !body.is_empty() {
                    details.push_str(": ");
                    details.push_str(&body);
                }
                format!("the provider answered with HTTP status {status}")
            }
        };
        ProviderError { message, details: Some(details), kind, retry, request_id: self.request_id }
    }
}

/// Returns the error at the end of a failed stream; `error` is the object with `code` and `message`.
pub(super) fn failed(error: &Value, request_id: Option<String>) -> ProviderError {
    let reported = match error {
        Value::String(message) => ErrorBody { message: Some(shown(message)), code: None },
        error => ErrorBody::of(error),
    };
    let is_about_the_window = reported.is_about_the_window();
    let message = reported
        .message
        .unwrap_or_else(|| "the provider reports that the answer failed and gives no reason".to_owned());
    let stream = RetryDecision::Stream { after: None };
    let (kind, retry) = match reported.code.as_deref().and_then(known_code) {
        Some(Code::ContextWindow) => (ErrorKind::ContextWindowExceeded, RetryDecision::Never),
        Some(Code::UsageLimit) => (ErrorKind::UsageLimitExceeded, RetryDecision::Never),
        Some(Code::UnknownModel) => (ErrorKind::ModelNotFound, RetryDecision::Never),
        Some(Code::BadPrompt) | None if is_about_the_window => (ErrorKind::ContextWindowExceeded, RetryDecision::Never),
        Some(Code::Unauthorized) => (ErrorKind::Unauthorized, RetryDecision::Never),
        Some(Code::BadPrompt) => (ErrorKind::BadRequest, RetryDecision::Never),
        Some(Code::Overloaded) => (ErrorKind::ServerOverloaded, stream),
        Some(Code::RateLimit) => match pause_in(&message) {
            Some(after) if after > RETRY_AFTER_MAX => (ErrorKind::RateLimitExceeded, RetryDecision::Never),
            after => (ErrorKind::RateLimitExceeded, RetryDecision::Stream { after }),
        },
        None => (ErrorKind::Other, stream),
    };
    let details = reported.code.map(|code| format!("the provider's code is `{}`", shown(&code)));
    ProviderError { message, details, kind, retry, request_id }
}

/// Returns the error of an answer that ended, or became invalid, before it was complete.
pub(super) fn broken_off(details: String, request_id: Option<String>) -> ProviderError {
    ProviderError {
        message: "the answer broke off before it was complete".to_owned(),
        details: Some(details),
        kind: ErrorKind::StreamDisconnected { status: None },
        retry: RetryDecision::Stream { after: None },
        request_id,
    }
}

/// Returns the error of an answer whose stream ended early.
pub(super) fn cut_off(last_event: &str, request_id: Option<String>) -> ProviderError {
    broken_off(format!("the stream ended before the event `{last_event}`"), request_id)
}

/// Returns the error of an answer that does not fit into the context window.
pub(super) fn window_exceeded(request_id: Option<String>) -> ProviderError {
    ProviderError {
        message: "the answer does not fit into the model's window any more".to_owned(),
        details: None,
        kind: ErrorKind::ContextWindowExceeded,
        retry: RetryDecision::Never,
        request_id,
    }
}

/// The reason of an answer that reached its limit of tokens.
const OUTPUT_LIMIT: &str = "max_output_tokens";

impl ProviderError {
    /// Returns whether the answer was cut at its limit of tokens.
    pub(crate) fn is_cut_at_limit(&self) -> bool {
        self.retry == RetryDecision::Never && self.message == incomplete(Some(OUTPUT_LIMIT), None).message
    }
}

/// Returns the error of an answer that the provider itself ended early.
pub(super) fn incomplete(reason: Option<&str>, request_id: Option<String>) -> ProviderError {
    let reason = reason.map_or_else(|| "no reason given".to_owned(), shown);
    // The same request would reach the same limit.
    let retry = match reason.as_str() {
        OUTPUT_LIMIT | "content_filter" => RetryDecision::Never,
        _ => RetryDecision::Stream { after: None },
    };
    ProviderError {
        message: format!("the provider cut the answer short: {reason}"),
        details: None,
        kind: ErrorKind::Other,
        retry,
        request_id,
    }
}

/// Returns the error of an answer that sent no event for too long.
pub(super) fn silent(timeout: Duration, request_id: Option<String>) -> ProviderError {
    ProviderError {
        message: format!("the provider was silent for {}", seconds(timeout)),
        details: Some("`stream_idle_timeout_ms` of the provider sets this timeout".to_owned()),
        kind: ErrorKind::StreamDisconnected { status: None },
        retry: RetryDecision::Stream { after: None },
        request_id,
    }
}

/// Returns the error of a request whose answer did not begin in time.
pub(super) fn unanswered(timeout: Duration, origin: &str) -> ProviderError {
    ProviderError {
        message: format!("no answer from {origin} within {}", seconds(timeout)),
        details: Some("`stream_idle_timeout_ms` of the provider sets this timeout".to_owned()),
        kind: ErrorKind::StreamConnectionFailed { status: None },
        retry: RetryDecision::Request { after: None },
        request_id: None,
    }
}

/// Returns the error of a request that did not reach the provider.
pub(super) fn unreachable(cause: &str, origin: &str) -> ProviderError {
    ProviderError {
        message: format!("cannot reach {origin}: {cause}"),
        details: None,
        kind: ErrorKind::HttpConnectionFailed { status: None },
        retry: RetryDecision::Request { after: None },
        request_id: None,
    }
}

/// Parses `Retry-After`, a number of seconds or a date, and returns the pause. `now_s` is the current time in seconds since
/// 1970.
pub(super) fn retry_after(text: &str, now_s: i64) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        // An invalid number is ignored like a missing header.
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(Duration::from_secs(u64::try_from(date.as_second().saturating_sub(now_s)).unwrap_or(0)))
}

/// Returns the beginning of a text of unknown length.
pub(super) fn shown(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(SHOWN_TEXT_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Code and message of an error of a service.
struct ErrorBody {
    message: Option<String>,
    code: Option<String>,
}

impl ErrorBody {
    fn read(body: &[u8]) -> Self {
        let Ok(body) = serde_json::from_slice::<Value>(body) else { return Self { message: None, code: None } };
        match body.get("error") {
            Some(Value::String(message)) => Self { message: Some(shown(message)), code: None },
            Some(error @ Value::Object(_)) => Self::of(error),
            // Services that only resemble the API have these members at the top level.
            _ => Self::of(&body),
        }
    }

    /// Returns whether a request was too long. Servers for local models and Anthropic send no code for this, so the message
    /// is searched.
    fn is_about_the_window(&self) -> bool {
        let words = [
            "prompt is too long",
            "maximum context length",
            "context size",
            "context window",
            "context length",
            "context limit",
        ];
        self.says(&words)
    }

    /// Returns whether the thing that was not found is a model, and not a URL.
    fn is_about_a_model(&self) -> bool {
        self.says(&["model"])
    }

    fn says(&self, words: &[&str]) -> bool {
        let message = self.message.as_deref().unwrap_or_default().to_ascii_lowercase();
        words.iter().any(|word| message.contains(word))
    }

    fn of(error: &Value) -> Self {
        let text = |name: &str| error.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        // The type of a stream event may say only that it is an error.
        let code = text("code").or_else(|| text("type").filter(|kind| *kind != "error")).map(str::to_owned);
        Self { message: text("message").or_else(|| text("detail")).map(shown), code }
    }
}

enum Code {
    ContextWindow,
    UsageLimit,
    UnknownModel,
    Overloaded,
    RateLimit,
    BadPrompt,
    Unauthorized,
}

fn known_code(code: &str) -> Option<Code> {
    Some(match code {
        "context_length_exceeded" | "exceed_context_size_error" => Code::ContextWindow,
        "insufficient_quota"
        | "usage_limit_reached"
        | "usage_not_included"
        | "billing_hard_limit_reached"
        | "billing_error" => Code::UsageLimit,
        "model_not_found" => Code::UnknownModel,
        "server_is_overloaded" | "slow_down" | "overloaded_error" => Code::Overloaded,
        "rate_limit_exceeded" | "rate_limit_error" => Code::RateLimit,
        "invalid_prompt" | "invalid_request_error" => Code::BadPrompt,
        "authentication_error" | "permission_error" => Code::Unauthorized,
        _ => return None,
    })
}

/// Finds a pause such as "try again in 1.5s" (or `20ms`) in a message about a rate limit: an error at the end of a stream
/// has no headers for it.
fn pause_in(message: &str) -> Option<Duration> {
    let message = message.to_ascii_lowercase();
    let (_, rest) = message.split_once("try again in ")?;
    let number = rest.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(rest.len());
    let (number, unit) = rest.split_at(number);
    let number: f64 = number.trim_end_matches('.').parse().ok()?;
    let unit = unit.trim_start();
    let seconds = match unit {
        _ if unit.starts_with("ms") => number / 1000.0,
        _ if unit.starts_with('s') => number,
        _ if unit.starts_with('m') => number * 60.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, body: &str, retry_after: Option<Duration>) -> ProviderError {
        Refusal { status, retry_after, body: body.as_bytes(), origin: "http://h/v1/responses", request_id: None }
            .into_error()
    }

    fn with_code(code: &str) -> String {
        format!(r#"{{"error":{{"message":"the service's words","type":"some_error","code":"{code}"}}}}"#)
    }

    #[test]
    fn a_status_says_what_it_is_and_whether_to_try_again() {
        let wait = Some(Duration::from_secs(7));
        let http = |status| ErrorKind::HttpConnectionFailed { status: Some(status) };
        let cases = [
            (400, "some", ErrorKind::Other, RetryDecision::Never),
            (400, "context_length_exceeded", ErrorKind::ContextWindowExceeded, RetryDecision::Never),
            (401, "invalid_api_key", ErrorKind::Unauthorized, RetryDecision::Never),
            (403, "some", http(403), RetryDecision::Never),
            (404, "model_not_found", ErrorKind::ModelNotFound, RetryDecision::Never),
            (404, "some", http(404), RetryDecision::Never),
            (307, "some", http(307), RetryDecision::Never),
            (429, "rate_limit_exceeded", http(429), RetryDecision::Request { after: wait }),
            (429, "insufficient_quota", ErrorKind::UsageLimitExceeded, RetryDecision::Never),
            (429, "usage_limit_reached", ErrorKind::UsageLimitExceeded, RetryDecision::Never),
            (500, "some", ErrorKind::InternalServerError, RetryDecision::Request { after: wait }),
            (503, "server_is_overloaded", ErrorKind::ServerOverloaded, RetryDecision::Request { after: wait }),
            (502, "some", http(502), RetryDecision::Request { after: wait }),
            (529, "some", http(529), RetryDecision::Request { after: wait }),
            (529, "overloaded_error", ErrorKind::ServerOverloaded, RetryDecision::Request { after: wait }),
            (400, "invalid_request_error", ErrorKind::Other, RetryDecision::Never),
            (403, "permission_error", http(403), RetryDecision::Never),
            (429, "rate_limit_error", http(429), RetryDecision::Request { after: wait }),
        ];
        for (status, code, kind, retry) in cases {
            let error = refused(status, &with_code(code), wait);
            assert_eq!((error.kind, error.retry), (kind, retry), "{status} {code}");
            assert_eq!(error.message, "the service's words");
            assert_eq!(error.details, Some(format!("HTTP {status} from http://h/v1/responses")));
        }
    }

    #[test]
    fn words_say_what_no_code_says() {
        let window = || ErrorKind::ContextWindowExceeded;
        for (status, body, kind) in [
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 3 tokens > 2"}}"#,
                window(),
            ),
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 4096 tokens","code":400}"#,
                window(),
            ),
            (400, r#"{"error":{"code":400,"message":"m","type":"exceed_context_size_error"}}"#, window()),
            (500, r#"{"error":"the input exceeds the context window"}"#, window()),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 3 + 2 > 4"}}"#,
                window(),
            ),
            (404, r#"{"error":{"message":"model \"x\" not found, try pulling it first"}}"#, ErrorKind::ModelNotFound),
            (
                404,
                r#"{"type":"error","error":{"type":"not_found_error","message":"model: x"}}"#,
                ErrorKind::ModelNotFound,
            ),
        ] {
            let error = refused(status, body, None);
            assert_eq!((error.kind, error.retry), (kind, RetryDecision::Never), "{body}");
        }
    }

    #[test]
    fn a_pause_that_is_too_long_is_not_waited_for() {
        let error = refused(429, &with_code("x"), Some(RETRY_AFTER_MAX + Duration::from_secs(1)));
        assert_eq!(error.retry, RetryDecision::Never);
        assert!(error.details.expect("details").ends_with("a pause of 601 s, which is too long to wait"));
        assert_eq!(
            refused(429, "{}", Some(RETRY_AFTER_MAX)).retry,
            RetryDecision::Request { after: Some(RETRY_AFTER_MAX) }
        );
    }

    #[test]
    fn other_spellings_of_errors_are_understood_and_pages_are_cut() {
        for body in [r#"{"error":"words"}"#, r#"{"message":"words"}"#, r#"{"detail":"words"}"#] {
            assert_eq!(refused(400, body, None).message, "words", "{body}");
        }
        let error = refused(502, &"<html>".repeat(1000), None);
        assert_eq!(error.message, "the provider answered with HTTP status 502");
        assert!(error.details.expect("details").chars().count() < SHOWN_TEXT_MAX + 60);
        assert_eq!(refused(500, "", None).details.as_deref(), Some("HTTP 500 from http://h/v1/responses"));
    }

    #[test]
    fn a_failed_answer_is_tried_again_unless_its_code_says_that_it_is_useless() {
        let stream = |after| RetryDecision::Stream { after };
        let cases = [
            ("server_error", "words", ErrorKind::Other, stream(None)),
            ("insufficient_quota", "words", ErrorKind::UsageLimitExceeded, RetryDecision::Never),
            ("context_length_exceeded", "words", ErrorKind::ContextWindowExceeded, RetryDecision::Never),
            ("model_not_found", "words", ErrorKind::ModelNotFound, RetryDecision::Never),
            ("invalid_prompt", "words", ErrorKind::BadRequest, RetryDecision::Never),
            ("server_is_overloaded", "words", ErrorKind::ServerOverloaded, stream(None)),
            ("rate_limit_exceeded", "words", ErrorKind::RateLimitExceeded, stream(None)),
            (
                "rate_limit_exceeded",
                "Try again in 1.5s.",
                ErrorKind::RateLimitExceeded,
                stream(Some(Duration::from_millis(1500))),
            ),
            (
                "rate_limit_exceeded",
                "try again in 20ms",
                ErrorKind::RateLimitExceeded,
                stream(Some(Duration::from_millis(20))),
            ),
            (
                "rate_limit_exceeded",
                "try again in 2m.",
                ErrorKind::RateLimitExceeded,
                stream(Some(Duration::from_secs(120))),
            ),
            ("rate_limit_exceeded", "try again in 99999s", ErrorKind::RateLimitExceeded, RetryDecision::Never),
            ("rate_limit_exceeded", "try again in a while", ErrorKind::RateLimitExceeded, stream(None)),
        ];
        for (code, message, kind, retry) in cases {
            let error = failed(&serde_json::json!({"code": code, "message": message}), None);
            assert_eq!((error.message.as_str(), error.kind, error.retry), (message, kind, retry), "{code} {message}");
        }
        assert_eq!(failed(&Value::Null, None).retry, stream(None));
    }

    #[test]
    fn an_answer_that_met_a_limit_is_not_tried_again() {
        assert_eq!(incomplete(Some("max_output_tokens"), None).retry, RetryDecision::Never);
        assert_eq!(incomplete(None, None).retry, RetryDecision::Stream { after: None });
    }

    #[test]
    fn a_pause_is_a_number_or_a_date() {
        let seconds = |count| Some(Duration::from_secs(count));
        assert_eq!(retry_after(" 12 ", 0), seconds(12));
        assert_eq!(retry_after("0.5", 0), Some(Duration::from_millis(500)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777 - 30), seconds(30));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777 + 30), seconds(0), "a date that is over");
        for text in ["", "soon", "-1", "NaN", "inf", "1e300"] {
            assert_eq!(retry_after(text, 0), None, "{text}");
        }
    }
}
