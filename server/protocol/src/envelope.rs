//! The frame of every message: requests, responses, errors and notifications, each one JSON text.
//!
//! [`decode`] takes one text from a transport and never fails: a text that is not a message becomes
//! [`Incoming::Dropped`] with a reason, because the protocol has no answer to it. Params stay undecoded as raw JSON, so
//! that a frame can be ordered, counted or refused without decoding them. The encoders write one line without the final
//! line feed. The field `jsonrpc` is never written and never required.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
#[cfg(feature = "schema")]
use ts_rs::TS;

use crate::common::from_raw;
use crate::error::RpcError;

/// The id of a request. The sender of the request chooses it, and the response repeats it exactly.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS))]
#[serde(untagged)]
pub enum RequestId {
    /// An integer.
    Integer(#[cfg_attr(feature = "schema", ts(type = "number"))] i64),
    /// A string. `"7"` is not equal to `7`.
    String(String),
}

impl<'de> Deserialize<'de> for RequestId {
    /// Reads an id through a JSON value, which can represent a number in every form that the parser may produce.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(id) => Ok(Self::String(id)),
            Value::Number(id) => {
                id.as_i64().map(Self::Integer).ok_or_else(|| D::Error::custom("id is no 64-bit integer"))
            }
            _ => Err(D::Error::custom("the id is neither a string nor a 64-bit integer")),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(id) => write!(formatter, "{id}"),
            Self::String(id) => formatter.write_str(id),
        }
    }
}

impl From<i64> for RequestId {
    fn from(id: i64) -> Self {
        Self::Integer(id)
    }
}

impl From<&str> for RequestId {
    fn from(id: &str) -> Self {
        Self::String(id.to_owned())
    }
}

/// The place of a request in a distributed trace, as in the W3C's Trace Context.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema, TS), ts(optional_fields = nullable))]
pub struct TraceContext {
    /// The `traceparent` header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// The `tracestate` header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
}

/// The decoded form of one text from the other side.
#[derive(Debug, Clone)]
pub enum Incoming {
    /// A request.
    Request {
        /// Id for the response.
        id: RequestId,
        /// Name of the method.
        method: String,
        /// The params, undecoded. `None` if there are none.
        params: Option<Box<RawValue>>,
        /// The distributed trace of the request.
        trace: Option<TraceContext>,
    },
    /// A notification.
    Notification {
        /// Name of the method.
        method: String,
        /// The params, undecoded. `None` if there are none.
        params: Option<Box<RawValue>>,
    },
    /// A response to an own request.
    Response {
        /// Id of the own request.
        id: RequestId,
        /// The result, undecoded.
        result: Box<RawValue>,
    },
    /// An error response to an own request.
    Error {
        /// Id of the own request.
        id: RequestId,
        /// The error.
        error: RpcError,
    },
    /// Not a message. It gets no answer.
    Dropped(Dropped),
}

/// Why a text is not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Dropped {
    /// The text is not JSON.
    #[error("the text is not JSON")]
    NoJson,
    /// The JSON is not an object, or an object that is no kind of message.
    #[error("the JSON is not a message")]
    NoMessage,
    /// The id is neither a string nor a 64-bit integer.
    #[error("the id is neither a string nor a 64-bit integer")]
    BadId,
}

/// The frame of any message. Unknown fields, such as `jsonrpc`, are skipped.
///
/// All fields except the method stay raw: the id because only its text shows whether a number was written as an
/// integer, the others because they are decoded elsewhere.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    trace: Option<&'a RawValue>,
}

/// Reads a field that is present even if it is `null`. An `Option` alone would treat `null` as absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads an id: a string, or a 64-bit integer in integer notation.
fn id_of(raw: &RawValue) -> Option<RequestId> {
    if raw.get().starts_with('"') {
        return serde_json::from_str(raw.get()).ok().map(RequestId::String);
    }
    raw.get().parse().ok().map(RequestId::Integer)
}

/// Decodes one text from a transport.
///
/// No text makes this fail or panic. A text that is not a message becomes [`Incoming::Dropped`].
#[must_use]
pub fn decode(text: &str) -> Incoming {
    let frame = match serde_json::from_str::<Frame<'_>>(text) {
        Ok(frame) => frame,
        Err(error) if error.is_data() => return Incoming::Dropped(Dropped::NoMessage),
        Err(_) => return Incoming::Dropped(Dropped::NoJson),
    };
    // serde also accepts an array for a struct, but the protocol does not accept one for a message.
    if !text.trim_start().starts_with('{') {
        return Incoming::Dropped(Dropped::NoMessage);
    }
    let Frame { id, method, params, result, error, trace } = frame;
    let id = match id.map(id_of) {
        None => None,
        Some(Some(id)) => Some(id),
        Some(None) => return Incoming::Dropped(Dropped::BadId),
    };
    let params = params.map(ToOwned::to_owned);
    match (id, method, result, error) {
        (Some(id), Some(method), _, _) => {
            // An invalid trace context is ignored and does not make the request fail.
            let trace = trace.and_then(|trace| from_raw(trace).ok());
            Incoming::Request { id, method, params, trace }
        }
        (None, Some(method), _, _) => Incoming::Notification { method, params },
        (Some(id), None, _, Some(error)) => match from_raw(error) {
            Ok(error) => Incoming::Error { id, error },
            Err(_) => Incoming::Dropped(Dropped::NoMessage),
        },
        (Some(id), None, Some(result), None) => Incoming::Response { id, result: result.to_owned() },
        (_, None, _, _) => Incoming::Dropped(Dropped::NoMessage),
    }
}

/// Decodes one message from bytes. Invalid UTF-8 counts as invalid JSON.
#[must_use]
pub fn decode_bytes(bytes: &[u8]) -> Incoming {
    std::str::from_utf8(bytes).map_or(Incoming::Dropped(Dropped::NoJson), decode)
}

/// A message could not be serialized.
///
/// Only content of the caller can cause this: a map with keys that are no strings, or a failing `Serialize`
/// implementation.
#[derive(Debug, thiserror::Error)]
#[error("the message cannot be serialized")]
pub struct EncodeError(#[from] serde_json::Error);

#[derive(Serialize)]
struct ResponseFrame<'a, T: ?Sized> {
    id: &'a RequestId,
    result: &'a T,
}

#[derive(Serialize)]
struct ErrorFrame<'a> {
    id: &'a RequestId,
    error: &'a RpcError,
}

#[derive(Serialize)]
struct RequestFrame<'a, T: ?Sized> {
    id: &'a RequestId,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a TraceContext>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NotificationFrame<'a, T: ?Sized> {
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    emitted_at_ms: Option<i64>,
}

/// Encodes the response to a request.
///
/// # Errors
///
/// Returns an error if the result cannot be serialized.
pub fn response<T: Serialize + ?Sized>(id: &RequestId, result: &T) -> Result<String, EncodeError> {
    Ok(serde_json::to_string(&ResponseFrame { id, result })?)
}

/// Encodes the error response to a request.
///
/// # Panics
///
/// Never: an error consists of strings, numbers and JSON.
#[must_use]
pub fn error(id: &RequestId, error: &RpcError) -> String {
    serde_json::to_string(&ErrorFrame { id, error }).expect("an error is JSON")
}

/// Encodes a notification of the server with its time in Unix milliseconds.
///
/// # Errors
///
/// Returns an error if the params cannot be serialized.
pub fn server_notification<T: Serialize + ?Sized>(
    method: &str,
    params: &T,
    emitted_at_ms: i64,
) -> Result<String, EncodeError> {
    Ok(serde_json::to_string(&NotificationFrame { method, params: Some(params), emitted_at_ms: Some(emitted_at_ms) })?)
}

/// Encodes a notification of a client.
///
/// # Errors
///
/// Returns an error if the params cannot be serialized.
pub fn client_notification<T: Serialize + ?Sized>(method: &str, params: Option<&T>) -> Result<String, EncodeError> {
    Ok(serde_json::to_string(&NotificationFrame { method, params, emitted_at_ms: None })?)
}

/// Encodes a request of either side.
///
/// # Errors
///
/// Returns an error if the params cannot be serialized.
pub fn request<T: Serialize + ?Sized>(
    id: &RequestId,
    method: &str,
    params: Option<&T>,
    trace: Option<&TraceContext>,
) -> Result<String, EncodeError> {
    Ok(serde_json::to_string(&RequestFrame { id, method, params, trace })?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Describes in a few words what a text was decoded to.
    fn kind(text: &str) -> String {
        match decode(text) {
            Incoming::Request { id, method, params, trace } => {
                format!("request {id:?} {method} {:?} {:?}", params.map(|raw| raw.to_string()), trace.is_some())
            }
            Incoming::Notification { method, params } => {
                format!("notification {method} {:?}", params.map(|raw| raw.to_string()))
            }
            Incoming::Response { id, result } => format!("response {id:?} {result}"),
            Incoming::Error { id, error } => format!("error {id:?} {error}"),
            Incoming::Dropped(reason) => format!("dropped: {reason}"),
        }
    }

    #[test]
    fn messages_are_told_apart() {
        for (text, expected) in [
            (r#"{"id":1,"method":"m"}"#, r#"request Integer(1) m None false"#),
            (
                r#" {"jsonrpc":"2.0","id":"7","method":"m","params":{"a":[1]},"trace":{"traceparent":"00"}}"#,
                r#"request String("7") m Some("{\"a\":[1]}") true"#,
            ),
            (r#"{"id":-3,"method":"m","params":null,"trace":5}"#, r#"request Integer(-3) m Some("null") false"#),
            (r#"{"method":"initialized","extra":{}}"#, r#"notification initialized None"#),
            (r#"{"id":0,"result":null}"#, r#"response Integer(0) null"#),
            (r#"{"id":0,"result":{"decision":"accept"}}"#, r#"response Integer(0) {"decision":"accept"}"#),
            (r#"{"id":"a","error":{"code":-1,"message":"no"}}"#, r#"error String("a") no (-1)"#),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_message_is_dropped() {
        for (text, reason) in [
            ("", Dropped::NoJson),
            ("{", Dropped::NoJson),
            ("not json", Dropped::NoJson),
            (r#"{"id":1,"method":"m"} trailing"#, Dropped::NoJson),
            ("\u{feff}{}", Dropped::NoJson),
            ("[]", Dropped::NoMessage),
            (r#"[1,"m"]"#, Dropped::NoMessage),
            (r#"[1,"m",{},{},{},{}]"#, Dropped::NoMessage),
            (r#"[{"id":1,"method":"m"}]"#, Dropped::NoMessage),
            ("12", Dropped::NoMessage),
            ("null", Dropped::NoMessage),
            (r#""m""#, Dropped::NoMessage),
            ("{}", Dropped::NoMessage),
            (r#"{"foo":1}"#, Dropped::NoMessage),
            (r#"{"id":1}"#, Dropped::NoMessage),
            (r#"{"result":{}}"#, Dropped::NoMessage),
            (r#"{"id":1,"method":5}"#, Dropped::NoMessage),
            (r#"{"id":1,"error":5}"#, Dropped::NoMessage),
            (r#"{"id":1,"id":2,"method":"m"}"#, Dropped::NoMessage),
            (r#"{"id":null,"method":"m"}"#, Dropped::BadId),
            (r#"{"id":1.5,"method":"m"}"#, Dropped::BadId),
            (r#"{"id":1e3,"method":"m"}"#, Dropped::BadId),
            (r#"{"id":[1],"method":"m"}"#, Dropped::BadId),
            (r#"{"id":true,"result":1}"#, Dropped::BadId),
            (r#"{"id":9223372036854775808,"method":"m"}"#, Dropped::BadId),
            (r#"{"id":123456789012345678901234567890,"method":"m"}"#, Dropped::BadId),
        ] {
            assert_eq!(kind(text), format!("dropped: {reason}"), "{text}");
        }
        assert!(matches!(decode_bytes(b"{\"method\":\"\xff\"}"), Incoming::Dropped(Dropped::NoJson)));
    }

    #[test]
    fn ids_are_echoed_exactly() {
        for id in ["0", "-1", "9223372036854775807", "-9223372036854775808", r#""7""#, r#""""#, r#""a\"b\u0000""#] {
            let Incoming::Request { id: read, .. } = decode(&format!(r#"{{"id":{id},"method":"m"}}"#)) else {
                panic!("{id} is not a valid id");
            };
            assert_eq!(response(&read, &json!({})).expect("it is written"), format!(r#"{{"id":{id},"result":{{}}}}"#));
            assert_eq!(serde_json::from_value::<RequestId>(json!(read)).expect("JSON"), read);
        }
    }

    #[test]
    fn deep_params_pass_the_frame_undecoded() {
        let depth = 200_000;
        let text = format!(r#"{{"id":1,"method":"m","params":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
        assert!(matches!(decode(&text), Incoming::Request { .. }));
        let text = format!(r#"{{"id":1,"error":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
        assert!(matches!(decode(&text), Incoming::Dropped(Dropped::NoMessage)));
    }

    #[test]
    fn what_the_server_writes_has_the_fields_that_clients_expect() {
        let id = RequestId::Integer(0);
        assert_eq!(
            server_notification("turn/started", &json!({"threadId": "t"}), 1_767_225_600_000).expect("it is written"),
            r#"{"method":"turn/started","params":{"threadId":"t"},"emittedAtMs":1767225600000}"#
        );
        assert_eq!(
            request(&id, "item/tool/call", Some(&json!({})), None).expect("it is written"),
            r#"{"id":0,"method":"item/tool/call","params":{}}"#
        );
        assert_eq!(
            error(&id, &RpcError::not_initialized()),
            r#"{"id":0,"error":{"code":-32600,"message":"Not initialized"}}"#
        );
        assert_eq!(
            client_notification::<()>("initialized", None).expect("it is written"),
            r#"{"method":"initialized"}"#
        );
    }

    fn any_id() -> impl Strategy<Value = RequestId> {
        prop_oneof![any::<i64>().prop_map(RequestId::Integer), any::<String>().prop_map(RequestId::String)]
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn requests_come_back(id in any_id(), method in any::<String>(), params in prop::option::of(any_json())) {
            let text = request(&id, &method, params.as_ref(), None).expect("it is written");
            prop_assert!(!text.contains('\n'));
            let Incoming::Request { id: read_id, method: read_method, params: read_params, trace: None } = decode(&text)
            else {
                return Err(TestCaseError::fail(text));
            };
            prop_assert_eq!((read_id, read_method), (id, method));
            prop_assert_eq!(read_params.map(|raw| from_raw::<Value>(&raw).expect("it is there")), params);
        }

        #[test]
        fn answers_come_back(id in any_id(), result in any_json(), code in any::<i64>(), message in any::<String>()) {
            let Incoming::Response { id: read_id, result: read } = decode(&response(&id, &result).expect("it is written")) else {
                return Err(TestCaseError::fail("no response"));
            };
            prop_assert_eq!((&read_id, from_raw::<Value>(&read).expect("it is there")), (&id, result.clone()));
            let refusal = RpcError::new(code, message).with_data(json!({"data": result}));
            let Incoming::Error { id: read_id, error: read } = decode(&error(&id, &refusal)) else {
                return Err(TestCaseError::fail("no error"));
            };
            prop_assert_eq!((read_id, read), (id, refusal));
        }

        #[test]
        fn notifications_come_back(method in any::<String>(), params in any_json(), at in any::<i64>()) {
            let text = server_notification(&method, &params, at).expect("it is written");
            let Incoming::Notification { method: read_method, params: Some(read) } = decode(&text) else {
                return Err(TestCaseError::fail(text));
            };
            prop_assert_eq!((read_method, from_raw::<Value>(&read).expect("it is there")), (method, params));
        }

        #[test]
        fn any_text_is_decoded_to_something(text in any::<String>(), json in any_json()) {
            let _ = decode(&text);
            let _ = decode(&json.to_string());
        }
    }
}
