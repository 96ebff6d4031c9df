//! Errors of requests, as they stand in an answer.
//!
//! The codes are few and mean little: nearly everything that is wrong with a request is an *invalid request*. What
//! clients look at is the message, and for some errors `data`; the constructors here fix both where clients do.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
#[cfg(feature = "schema")]
use ts_rs::TS;

/// Almost everything: not initialised, unknown method, missing or mistyped params, wrong state, gates.
pub const INVALID_REQUEST: i64 = -32600;
/// A method that is known, but not available here.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// A value that was looked at and refused; `data` says more.
pub const INVALID_PARAMS: i64 = -32602;
/// Something failed inside of the server.
pub const INTERNAL_ERROR: i64 = -32603;
/// The server has too much to do; the request can be sent again later.
pub const OVERLOADED: i64 = -32001;

/// The error of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields))]
#[error("{message} ({code})")]
pub struct RpcError {
    /// One of the codes of this module; other numbers come from other servers.
    pub code: i64,
    /// What is wrong, for people.
    pub message: String,
    /// What is wrong, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    /// Returns an error with a code and a message.
    pub fn new(code: i64, message: impl fmt::Display) -> Self {
        Self { code, message: message.to_string(), data: None }
    }

    /// Returns the error with data for programs.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// Returns the error for a request that cannot be served as it is.
    pub fn invalid_request(message: impl fmt::Display) -> Self {
        Self::new(INVALID_REQUEST, message)
    }

    /// Returns the error for a request that does not decode, which names the method or the field.
    pub fn undecodable(what: impl fmt::Display) -> Self {
        Self::new(INVALID_REQUEST, shortened(&format!("Invalid request: {what}")))
    }

    /// Returns the error for anything that comes before `initialize`.
    #[must_use]
    pub fn not_initialized() -> Self {
        Self::new(INVALID_REQUEST, "Not initialized")
    }

    /// Returns the error for a second `initialize`.
    #[must_use]
    pub fn already_initialized() -> Self {
        Self::new(INVALID_REQUEST, "Already initialized")
    }

    /// Returns the error for a method that nobody has heard of.
    #[must_use]
    pub fn unknown_method(method: &str) -> Self {
        Self::undecodable(format_args!("unknown method `{method}`"))
    }

    /// Returns the error for a method, or a `method.field`, that needs the experimental capability.
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

    /// Returns the error for a failure inside.
    pub fn internal(message: impl fmt::Display) -> Self {
        Self::new(INTERNAL_ERROR, message)
    }

    /// Returns the error for a request that came while too many others waited.
    ///
    /// The data is what makes clients try again: some of them look at nothing else.
    #[must_use]
    pub fn overloaded() -> Self {
        Self::new(OVERLOADED, "Server overloaded; retry later.")
            .with_data(json!({"codexErrorInfo": "server_overloaded"}))
    }
}

/// The most characters of a message that repeats what a client sent.
pub const MAX_ECHOED_CHARS: usize = 400;

/// Cuts a message, so that an answer does not grow with a bad request.
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
