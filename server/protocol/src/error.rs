//! Errors of requests, as in an error response.
//!
//! There are few codes: nearly every wrong request is an *invalid request*. Clients look at the message, and for some
//! errors at `data`. The constructors of this module set both where clients depend on them.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
#[cfg(feature = "schema")]
use ts_rs::TS;

/// Almost all errors: not initialized, unknown method, missing or mistyped params, wrong state, missing capability.
pub const INVALID_REQUEST: i64 = -32600;
/// The method is known but not available in this server.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// A value was checked and refused. `data` says why.
pub const INVALID_PARAMS: i64 = -32602;
/// Something failed inside the server.
pub const INTERNAL_ERROR: i64 = -32603;
/// The server is overloaded. The request can be sent again later.
pub const OVERLOADED: i64 = -32001;

/// The error of an error response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields))]
#[error("{message} ({code})")]
pub struct RpcError {
    /// One of the codes of this module. Other servers may use other codes.
    pub code: i64,
    /// Error message for people.
    pub message: String,
    /// Details for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// Returns an error with a code and a message.
    pub fn new(code: i64, message: impl fmt::Display) -> Self {
        Self { code, message: message.to_string(), data: None }
    }

    /// Returns the error with details for programs.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// Returns the error for a request that cannot be served.
    pub fn invalid_request(message: impl fmt::Display) -> Self {
        Self::new(INVALID_REQUEST, message)
    }

    /// Returns the error for a request that cannot be decoded. `what` names the method or the field.
    pub fn undecodable(what: impl fmt::Display) -> Self {
        Self::new(INVALID_REQUEST, shortened(&format!("Invalid request: {what}")))
    }

    /// Returns the error for a request before `initialize`.
    #[must_use]
    pub fn not_initialized() -> Self {
        Self::new(INVALID_REQUEST, "Not initialized")
    }

    /// Returns the error for a second `initialize`.
    #[must_use]
    pub fn already_initialized() -> Self {
        Self::new(INVALID_REQUEST, "Already initialized")
    }

    /// Returns the error for an unknown method.
    #[must_use]
    pub fn unknown_method(method: &str) -> Self {
        Self::undecodable(format_args!("unknown method `{method}`"))
    }

    /// Returns the error for a method, or a `method.field`, that requires the experimental capability.
    #[must_use]
    pub fn experimental(name: &str) -> Self {
        Self::new(INVALID_REQUEST, format_args!("{name} requires experimentalApi capability"))
    }

    /// Returns the error for a method of the protocol that this server does not offer.
    #[must_use]
    pub fn method_not_available(method: &str) -> Self {
        Self::new(METHOD_NOT_FOUND, format_args!("`{method}` is not available here"))
    }

    /// Returns the error for a value that was refused, with data that says why.
    pub fn invalid_params(message: impl fmt::Display, data: Value) -> Self {
        Self::new(INVALID_PARAMS, message).with_data(data)
    }

    /// Returns the error for a failure inside the server.
    pub fn internal(message: impl fmt::Display) -> Self {
        Self::new(INTERNAL_ERROR, message)
    }

    /// Returns the error for a request that arrived while too many others were waiting.
    ///
    /// The data makes clients retry. Some clients look at nothing else.
    #[must_use]
    pub fn overloaded() -> Self {
        Self::new(OVERLOADED, "Server overloaded; retry later.")
            .with_data(json!({"codexErrorInfo": "server_overloaded"}))
    }
}

/// Most characters of a message that repeats what a client sent.
pub const MAX_ECHOED_CHARS: usize = 400;

/// Truncates a message, so that a response cannot be as large as the bad request.
fn shortened(text: &str) -> &str {
    text.char_indices().nth(MAX_ECHOED_CHARS).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_look_for_is_there() {
        assert_eq!(RpcError::not_initialized().message, "Not initialized");
        assert_eq!(RpcError::already_initialized().message, "Already initialized");
        assert_eq!(
            RpcError::experimental("thread/start.permissions").message,
            "thread/start.permissions requires experimentalApi capability"
        );
        assert_eq!(
            serde_json::to_value(RpcError::overloaded()).expect("JSON"),
            json!({
                "code": -32001,
                "message": "Server overloaded; retry later.",
                "data": {"codexErrorInfo": "server_overloaded"},
            })
        );
        assert_eq!(
            serde_json::to_value(RpcError::internal("x")).expect("JSON"),
            json!({"code": -32603, "message": "x"})
        );
    }

    #[test]
    fn a_long_method_name_is_cut() {
        let message = RpcError::unknown_method(&"é".repeat(1_000_000)).message;
        assert_eq!(message.chars().count(), MAX_ECHOED_CHARS);
    }
}
