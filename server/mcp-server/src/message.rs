//! Messages: JSON-RPC 2.0, one object each.

use serde_json::{Map, Value, json};

/// Most bytes of a message that is read. A text that `why` looks for may be long.
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// An error in place of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RpcError {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl RpcError {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn parse(message: impl Into<String>) -> Self {
        Self::new(-32_700, message)
    }

    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(-32_600, message)
    }

    pub(crate) fn unknown_method(method: &str) -> Self {
        Self::new(-32_601, format!("there is no method {}", trace_text::quoted(method, 60)))
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(-32_602, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(-32_002, message)
    }

    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self::new(-32_000, message)
    }

    pub(crate) fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }
}

/// A message of a client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Map<String, Value>,
    },
    Notification {
        method: String,
        params: Map<String, Value>,
    },
    /// The answer to a request of ours, or the error in its place.
    Response {
        id: Value,
        answer: Result<Value, Value>,
    },
}

/// Reads a message.
///
/// # Errors
///
/// Returns the response to a text that is no message.
pub(crate) fn parse(text: &str) -> Result<Incoming, String> {
    let refuse = |id: Value, why: &str| error(&id, &RpcError::invalid_request(why));
    let mut message = match serde_json::from_str(text) {
        Ok(Value::Object(message)) => message,
        Ok(Value::Array(_)) => return Err(refuse(Value::Null, "several messages in one array are not taken")),
        Ok(_) => return Err(refuse(Value::Null, "a message is an object")),
        Err(problem) => return Err(error(&Value::Null, &RpcError::parse(format!("not JSON: {problem}")))),
    };
    let id = message.remove("id");
    let shown = || id.clone().filter(is_id).unwrap_or(Value::Null);
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(refuse(shown(), "`jsonrpc` has to be \"2.0\""));
    }
    match message.remove("method") {
        Some(Value::String(method)) => {
            let params = match message.remove("params") {
                None | Some(Value::Null) => Map::new(),
                Some(Value::Object(params)) => params,
                Some(_) => return Err(refuse(shown(), "`params` has to be an object")),
            };
            match id {
                None => Ok(Incoming::Notification { method, params }),
                Some(id) if is_id(&id) => Ok(Incoming::Request { id, method, params }),
                Some(_) => Err(refuse(Value::Null, "`id` has to be a text or a number")),
            }
        }
        Some(_) => Err(refuse(shown(), "`method` has to be a text")),
        None => {
            let answer = match (message.remove("result"), message.remove("error")) {
                (Some(result), None) => Ok(result),
                (None, Some(error)) => Err(error),
                _ => return Err(refuse(shown(), "a message has a method, a result or an error")),
            };
            match id {
                Some(id) if is_id(&id) => Ok(Incoming::Response { id, answer }),
                _ => Err(refuse(Value::Null, "`id` has to be a text or a number")),
            }
        }
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_number()
}

/// Writes a response with a result.
pub(crate) fn result(id: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

/// Writes a response with an error.
pub(crate) fn error(id: &Value, error: &RpcError) -> String {
    let mut body = json!({"code": error.code, "message": error.message});
    if let Some(data) = &error.data {
        body["data"] = data.clone();
    }
    json!({"jsonrpc": "2.0", "id": id, "error": body}).to_string()
}

/// Writes a request.
pub(crate) fn request(id: i64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

/// Writes a notification.
pub(crate) fn notification(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages_are_read() {
        let method = "ping".to_owned();
        let request = Incoming::Request { id: json!("a"), method: method.clone(), params: Map::new() };
        assert_eq!(parse(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#), Ok(request));
        let notification = Incoming::Notification { method, params: Map::new() };
        assert_eq!(parse(r#"{"jsonrpc":"2.0","method":"ping","params":null}"#), Ok(notification));
        let response = Incoming::Response { id: json!(1), answer: Err(json!({"code": 1})) };
        assert_eq!(parse(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#), Ok(response));
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for (text, code) in [
            ("{", -32_700),
            ("[]", -32_600),
            ("7", -32_600),
            (r#"{"id":1,"method":"ping"}"#, -32_600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32_600),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32_600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32_600),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32_600),
            (r#"{"jsonrpc":"2.0","result":{}}"#, -32_600),
        ] {
            let refused: Value = serde_json::from_str(&parse(text).expect_err(text)).expect("an object");
            assert_eq!(refused["error"]["code"], code, "{text}");
        }
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        parse(&deep).expect_err("too deep");
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "\\PC*") {
            let _ = parse(&text);
        }
    }
}
