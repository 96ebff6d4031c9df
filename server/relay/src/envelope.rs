//! The envelopes between a relay and a server, in JSON, one per text frame.
//!
//! Every envelope names a client and a stream. The messages of a stream have numbers, which begin with 1 in each
//! direction. [`Pong`](FromServer::Pong) takes a number, too. The field names are those of the Codex CLI.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Identifies a stream: the connection of one client.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamKey {
    /// The client.
    pub client: Arc<str>,
    /// The stream of this client.
    pub stream: Arc<str>,
}

impl StreamKey {
    /// Returns the key of a stream.
    #[must_use]
    pub fn new(client: &str, stream: &str) -> Self {
        Self { client: client.into(), stream: stream.into() }
    }
}

impl fmt::Display for StreamKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.client, self.stream)
    }
}

/// An envelope to a server.
#[derive(Debug)]
pub enum ToServer<'a> {
    /// A message of the client.
    Message {
        /// The number. An envelope without one is passed on, but never dropped as a duplicate.
        seq: Option<u64>,
        /// The text that the server sends back when it reconnects, if this is the last envelope that it has handled.
        cursor: Option<Cow<'a, str>>,
        /// The message.
        message: &'a RawValue,
    },
    /// A part of a message of the client.
    Piece(Piece<'a>),
    /// Everything up to this place has arrived.
    Ack {
        /// The number of the last message.
        seq: u64,
        /// The last piece of that message. `None` if the whole message has arrived.
        segment: Option<usize>,
    },
    /// Asks whether the stream exists.
    Ping,
    /// The client has left.
    ClientClosed,
}

/// An envelope of a server.
#[derive(Debug)]
pub enum FromServer<'a> {
    /// A message to the client.
    Message {
        /// The number.
        seq: u64,
        /// The message.
        message: &'a RawValue,
    },
    /// A part of a message to the client.
    Piece(Piece<'a>),
    /// The answer to a ping. Also sent without a ping when the server has ended a stream.
    Pong {
        /// Whether the stream exists.
        status: PongStatus,
        /// The number. `None` if the server does not know the stream.
        seq: Option<u64>,
    },
    /// The server has handled everything up to this number.
    Ack {
        /// The number of the last message.
        seq: u64,
    },
}

/// Whether a server knows a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PongStatus {
    /// The stream exists.
    Active,
    /// The stream does not exist, or has ended.
    Unknown,
}

/// A part of a message that is too long for one envelope. All parts have the number of the message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The number of the message.
    pub seq: u64,
    /// The cursor, as in [`ToServer::Message`].
    pub cursor: Option<Cow<'a, str>>,
    /// The index of the piece, from 0.
    pub segment: usize,
    /// The number of pieces.
    pub count: usize,
    /// Bytes of the whole message.
    pub size: usize,
    /// The bytes of the piece, in base64.
    pub content: Cow<'a, str>,
}

/// Most bytes of the id of a client or of a stream. The relay keeps the ids of all streams.
pub const MAX_ID_BYTES: usize = 128;

/// Why a frame is not an envelope.
#[derive(Debug, thiserror::Error)]
pub enum EnvelopeError {
    /// The frame is not a JSON object with fields of the right types.
    #[error("not an envelope: {0}")]
    Json(#[from] serde_json::Error),
    /// An id of a client or a stream is longer than [`MAX_ID_BYTES`].
    #[error("an id has {bytes} bytes; at most {MAX_ID_BYTES} are allowed")]
    LongId {
        /// The bytes.
        bytes: usize,
    },
    /// The type is not known.
    #[error("unknown envelope type `{0}`")]
    UnknownType(String),
    /// A field is missing.
    #[error("envelope `{kind}` has no `{field}`")]
    Missing {
        /// The type of the envelope.
        kind: &'static str,
        /// The field.
        field: &'static str,
    },
}

/// The fields of all envelopes.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    client_id: Cow<'a, str>,
    #[serde(borrow, default)]
    stream_id: Option<Cow<'a, str>>,
    #[serde(default)]
    seq_id: Option<u64>,
    #[serde(borrow, default)]
    cursor: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(default)]
    segment_id: Option<usize>,
    #[serde(default)]
    segment_count: Option<usize>,
    #[serde(default)]
    message_size_bytes: Option<usize>,
    #[serde(borrow, default)]
    message_chunk_base64: Option<Cow<'a, str>>,
    #[serde(default)]
    status: Option<PongStatus>,
}

impl<'a> Fields<'a> {
    fn read(text: &'a str) -> Result<(StreamKey, Self), EnvelopeError> {
        let fields: Self = serde_json::from_str(text)?;
        let longest = fields.client_id.len().max(fields.stream_id.as_deref().map_or(0, str::len));
        if longest > MAX_ID_BYTES {
            return Err(EnvelopeError::LongId { bytes: longest });
        }
        let key = StreamKey::new(&fields.client_id, fields.stream_id.as_deref().unwrap_or_default());
        Ok((key, fields))
    }

    fn piece(self, kind: &'static str) -> Result<Piece<'a>, EnvelopeError> {
        let missing = |field| EnvelopeError::Missing { kind, field };
        Ok(Piece {
            seq: self.seq_id.ok_or(missing("seq_id"))?,
            cursor: self.cursor,
            segment: self.segment_id.ok_or(missing("segment_id"))?,
            count: self.segment_count.ok_or(missing("segment_count"))?,
            size: self.message_size_bytes.ok_or(missing("message_size_bytes"))?,
            content: self.message_chunk_base64.ok_or(missing("message_chunk_base64"))?,
        })
    }
}

impl<'a> ToServer<'a> {
    /// Reads an envelope to a server.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not such an envelope.
    pub fn decode(text: &'a str) -> Result<(StreamKey, Self), EnvelopeError> {
        let (key, fields) = Fields::read(text)?;
        let missing = |kind, field| EnvelopeError::Missing { kind, field };
        let envelope = match &*fields.kind {
            "client_message" => Self::Message {
                seq: fields.seq_id,
                message: fields.message.ok_or(missing("client_message", "message"))?,
                cursor: fields.cursor,
            },
            "client_message_chunk" => Self::Piece(fields.piece("client_message_chunk")?),
            "ack" => Self::Ack { seq: fields.seq_id.ok_or(missing("ack", "seq_id"))?, segment: fields.segment_id },
            "ping" => Self::Ping,
            "client_closed" => Self::ClientClosed,
            other => return Err(EnvelopeError::UnknownType(other.to_owned())),
        };
        Ok((key, envelope))
    }

    /// Writes the envelope.
    #[must_use]
    pub fn encode(&self, key: &StreamKey) -> String {
        let frame = match self {
            Self::Message { seq, cursor, message } => Frame {
                seq_id: *seq,
                cursor: cursor.as_deref(),
                message: Some(message),
                ..Frame::new("client_message", key)
            },
            Self::Piece(piece) => Frame::new("client_message_chunk", key).with(piece),
            Self::Ack { seq, segment } => Frame { seq_id: Some(*seq), segment_id: *segment, ..Frame::new("ack", key) },
            Self::Ping => Frame::new("ping", key),
            Self::ClientClosed => Frame::new("client_closed", key),
        };
        frame.text()
    }
}

impl<'a> FromServer<'a> {
    /// Reads an envelope of a server.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not such an envelope.
    pub fn decode(text: &'a str) -> Result<(StreamKey, Self), EnvelopeError> {
        let (key, fields) = Fields::read(text)?;
        let missing = |kind, field| EnvelopeError::Missing { kind, field };
        let envelope = match &*fields.kind {
            "server_message" => Self::Message {
                seq: fields.seq_id.ok_or(missing("server_message", "seq_id"))?,
                message: fields.message.ok_or(missing("server_message", "message"))?,
            },
            "server_message_chunk" => Self::Piece(fields.piece("server_message_chunk")?),
            "pong" => Self::Pong { status: fields.status.ok_or(missing("pong", "status"))?, seq: fields.seq_id },
            "ack" => Self::Ack { seq: fields.seq_id.ok_or(missing("ack", "seq_id"))? },
            other => return Err(EnvelopeError::UnknownType(other.to_owned())),
        };
        Ok((key, envelope))
    }

    /// Writes the envelope.
    #[must_use]
    pub fn encode(&self, key: &StreamKey) -> String {
        let frame = match self {
            Self::Message { seq, message } => {
                Frame { seq_id: Some(*seq), message: Some(message), ..Frame::new("server_message", key) }
            }
            Self::Piece(piece) => Frame::new("server_message_chunk", key).with(piece),
            Self::Pong { status, seq } => Frame { seq_id: *seq, status: Some(*status), ..Frame::new("pong", key) },
            Self::Ack { seq } => Frame { seq_id: Some(*seq), ..Frame::new("ack", key) },
        };
        frame.text()
    }
}

/// The fields of an envelope that is written.
#[derive(Serialize)]
struct Frame<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    client_id: &'a str,
    stream_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<PongStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    segment_id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    segment_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_size_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_chunk_base64: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a RawValue>,
}

impl<'a> Frame<'a> {
    fn new(kind: &'static str, key: &'a StreamKey) -> Self {
        Self {
            kind,
            client_id: &key.client,
            stream_id: &key.stream,
            seq_id: None,
            cursor: None,
            status: None,
            segment_id: None,
            segment_count: None,
            message_size_bytes: None,
            message_chunk_base64: None,
            message: None,
        }
    }

    fn with(self, piece: &'a Piece<'_>) -> Self {
        Self {
            seq_id: Some(piece.seq),
            cursor: piece.cursor.as_deref(),
            segment_id: Some(piece.segment),
            segment_count: Some(piece.count),
            message_size_bytes: Some(piece.size),
            message_chunk_base64: Some(&piece.content),
            ..self
        }
    }

    fn text(&self) -> String {
        serde_json::to_string(self).expect("an envelope consists of texts and numbers")
    }
}

/// Writes the envelope of a message of a server. The message has to be JSON, and is not looked at.
#[must_use]
pub fn server_message(key: &StreamKey, seq: u64, message: &str) -> String {
    let mut text = Frame { seq_id: Some(seq), ..Frame::new("server_message", key) }.text();
    text.reserve(message.len() + 16);
    // The closing brace comes after the message.
    text.pop();
    text.push_str(",\"message\":");
    text.push_str(message);
    text.push('}');
    text
}

/// Returns whether a message is the request `initialize`, with which a stream begins.
#[must_use]
pub fn is_initialize(message: &str) -> bool {
    #[derive(Deserialize)]
    struct Request<'a> {
        #[serde(borrow, default)]
        method: Option<Cow<'a, str>>,
    }

    // Most messages are not searched further than this.
    // Serde reads an array as a struct, too.
    message.contains("initialize")
        && message.trim_start().starts_with('{')
        && serde_json::from_str::<Request<'_>>(message)
            .is_ok_and(|request| request.method.as_deref() == Some("initialize"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> &RawValue {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn envelopes_are_written_as_the_peer_writes_them() {
        let key = StreamKey::new("c", "s");
        let message = ToServer::Message { seq: Some(3), cursor: Some("cur-5".into()), message: raw(r#"{"id":1}"#) };
        let expected = r#"{"type":"client_message","client_id":"c","stream_id":"s","seq_id":3,"cursor":"cur-5","message":{"id":1}}"#;
        assert_eq!(message.encode(&key), expected);
        let pong = FromServer::Pong { status: PongStatus::Active, seq: Some(2) };
        assert_eq!(
            pong.encode(&key),
            r#"{"type":"pong","client_id":"c","stream_id":"s","seq_id":2,"status":"active"}"#
        );
        let piece = Piece { seq: 4, cursor: None, segment: 0, count: 2, size: 9, content: "YQ==".into() };
        let expected = r#"{"type":"server_message_chunk","client_id":"c","stream_id":"s","seq_id":4,"segment_id":0,"segment_count":2,"message_size_bytes":9,"message_chunk_base64":"YQ=="}"#;
        assert_eq!(FromServer::Piece(piece).encode(&key), expected);
    }

    #[test]
    fn what_is_written_can_be_read() {
        let key = StreamKey::new("a \"client\"", "stream\n");
        for (text, is_same) in [
            (ToServer::Ack { seq: 7, segment: Some(2) }.encode(&key), "Ack { seq: 7, segment: Some(2) }"),
            (ToServer::Ping.encode(&key), "Ping"),
            (ToServer::ClientClosed.encode(&key), "ClientClosed"),
        ] {
            let (found, envelope) = ToServer::decode(&text).expect("an envelope");
            assert_eq!((found, format!("{envelope:?}").as_str()), (key.clone(), is_same));
        }
        let text = FromServer::Message { seq: 1, message: raw(r#"{"a": [1, 2]}"#) }.encode(&key);
        let (_, FromServer::Message { seq: 1, message }) = FromServer::decode(&text).expect("an envelope") else {
            panic!("{text}")
        };
        assert_eq!(message.get(), r#"{"a": [1, 2]}"#, "messages pass unchanged");
        assert_eq!(server_message(&key, 1, r#"{"a": [1, 2]}"#), text);
    }

    #[test]
    fn unknown_fields_are_ignored_and_missing_ones_named() {
        let text = r#"{"type":"ack","client_id":"c","stream_id":"s","seq_id":1,"env_id":"e"}"#;
        assert!(ToServer::decode(text).is_ok());
        for (text, why) in [
            (r#"{"type":"ack","client_id":"c"}"#, "envelope `ack` has no `seq_id`"),
            (r#"{"type":"client_message","client_id":"c"}"#, "envelope `client_message` has no `message`"),
            (r#"{"type":"more","client_id":"c"}"#, "unknown envelope type `more`"),
            ("7", "not an envelope: "),
        ] {
            let error = ToServer::decode(text).expect_err(text).to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }

    #[test]
    fn only_the_request_initialize_begins_a_stream() {
        assert!(is_initialize(r#"{"id":0,"method":"initialize","params":{}}"#));
        assert!(is_initialize(r#"{"params":{},"method":"initialize"}"#));
        assert!(!is_initialize(r#"{"method":"initialized"}"#));
        assert!(!is_initialize(r#"{"id":1,"method":"x","params":{"method":"initialize"}}"#));
        assert!(!is_initialize("[\"initialize\"]"));
    }
}
