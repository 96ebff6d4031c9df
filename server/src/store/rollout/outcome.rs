//! Errors of turns in rollouts.

use serde_json::{Map, Value, json};
use trace_protocol::turn::{CodexErrorInfo, TurnError};
use trace_runtime::event;

use super::spelling::{camel, put, renamed, text};

/// Converts an error of the runtime to its form in rollouts.
pub(crate) fn stored_error(error: &event::TurnError) -> Value {
    let mut members = Map::from_iter([("message".to_owned(), Value::from(error.message.clone()))]);
    members.insert("codex_error_info".into(), stored_kind(&error.kind));
    put(&mut members, "additional_details", error.details.clone());
    Value::Object(members)
}

fn stored_kind(kind: &event::ErrorKind) -> Value {
    use event::ErrorKind;
    let with_status = |name: &str, status: Option<u16>| json!({name: {"http_status_code": status}});
    match *kind {
        ErrorKind::ContextWindowExceeded => json!("context_window_exceeded"),
        ErrorKind::UsageLimitExceeded => json!("usage_limit_exceeded"),
        ErrorKind::RateLimitExceeded => json!("rate_limit_exceeded"),
        ErrorKind::ServerOverloaded => json!("server_overloaded"),
        ErrorKind::InternalServerError => json!("internal_server_error"),
        ErrorKind::Unauthorized => json!("unauthorized"),
        ErrorKind::BadRequest => json!("bad_request"),
        ErrorKind::ModelNotFound => json!("model_not_found"),
        ErrorKind::Sandbox => json!("sandbox_error"),
        ErrorKind::HttpConnectionFailed { status } => with_status("http_connection_failed", status),
        ErrorKind::StreamConnectionFailed { status } => with_status("response_stream_connection_failed", status),
        ErrorKind::StreamDisconnected { status } => with_status("response_stream_disconnected", status),
        ErrorKind::TooManyFailedAttempts { status } => with_status("response_too_many_failed_attempts", status),
        ErrorKind::Other => json!("other"),
    }
}

/// Reads the error of a turn. Returns `None` if it has no message.
pub(crate) fn read_error(value: &Value) -> Option<TurnError> {
    Some(TurnError {
        message: text(value, "message")?,
        additional_details: text(value, "additional_details"),
        codex_error_info: value.get("codex_error_info").and_then(read_kind),
        misalignment: value.get("misalignment").and_then(|value| serde_json::from_value(renamed(value, camel)).ok()),
    })
}

fn read_kind(value: &Value) -> Option<CodexErrorInfo> {
    let spelt = match value {
        Value::String(word) => camel(word).into(),
        other => renamed(other, camel),
    };
    // A kind that this version does not know becomes `Other`.
    (!value.is_null()).then(|| match serde_json::from_value(spelt) {
        Ok(CodexErrorInfo::Unrecognized(_)) | Err(_) => CodexErrorInfo::Other,
        Ok(kind) => kind,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails says where")]
mod tests {
    use super::*;

    #[test]
    fn error_kinds_survive_conversion() {
        let status = Some(503);
        for (kind, expected) in [
            (event::ErrorKind::ContextWindowExceeded, CodexErrorInfo::ContextWindowExceeded),
            (event::ErrorKind::RateLimitExceeded, CodexErrorInfo::RateLimitExceeded),
            (event::ErrorKind::InternalServerError, CodexErrorInfo::InternalServerError),
            (event::ErrorKind::Sandbox, CodexErrorInfo::SandboxError),
            (
                event::ErrorKind::StreamDisconnected { status },
                CodexErrorInfo::ResponseStreamDisconnected { http_status_code: status },
            ),
            (
                event::ErrorKind::TooManyFailedAttempts { status: None },
                CodexErrorInfo::ResponseTooManyFailedAttempts { http_status_code: None },
            ),
            (event::ErrorKind::Other, CodexErrorInfo::Other),
        ] {
            let error = event::TurnError { message: "m".into(), details: Some("d".into()), kind };
            let read = read_error(&stored_error(&error)).unwrap();
            assert_eq!(read.codex_error_info, Some(expected));
            assert_eq!((read.message.as_str(), read.additional_details.as_deref()), ("m", Some("d")));
        }
    }

    #[test]
    fn unknown_error_kinds_become_other() {
        let read = read_error(&json!({"message": "m", "codex_error_info": {"later": {}}})).unwrap();
        assert_eq!(read.codex_error_info, Some(CodexErrorInfo::Other));
        assert_eq!(read_error(&json!({"message": "m"})).unwrap().codex_error_info, None);
        assert_eq!(read_error(&json!({})), None);
    }
}
