//! `trace.jsonl`: the envelope and every event of schema 1 and 2.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, IntoDeserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::payload::PayloadRef;
use super::tagged::{Requester, ToolKind, ToolSummary};
use super::text::Text;
use super::version::SchemaVersion;

/// One line of the event log.
#[derive(Debug, Clone, PartialEq)]
pub struct Event<'a> {
    /// Schema number of the event.
    pub schema_version: SchemaVersion,
    /// Position in the log, from 1, without gaps across all threads of the bundle.
    pub seq: u64,
    /// Wall clock in milliseconds since the Unix epoch. It may go backwards; only `seq` orders events.
    pub wall_time_unix_ms: i64,
    /// Id of the rollout that the event belongs to.
    pub rollout_id: Text<'a>,
    /// Thread in which the event happened, if the recorder knew it.
    pub thread_id: Option<Text<'a>>,
    /// Turn in which the event happened, if the recorder knew it.
    pub codex_turn_id: Option<Text<'a>>,
    /// What happened.
    pub payload: EventPayload<'a>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Envelope<'a> {
    schema_version: SchemaVersion,
    seq: u64,
    wall_time_unix_ms: i64,
    rollout_id: Text<'a>,
    thread_id: Option<Text<'a>>,
    codex_turn_id: Option<Text<'a>>,
    payload: &'a RawValue,
}

const ENVELOPE_FIELDS: &[&str] =
    &["schema_version", "seq", "wall_time_unix_ms", "rollout_id", "thread_id", "codex_turn_id", "payload"];

impl<'a> Event<'a> {
    /// Parses one line. The second value is the number of fields that this crate does not know.
    ///
    /// # Errors
    ///
    /// Returns a JSON error if the line is not exactly one event object. An unknown event type is not an error.
    pub fn parse(line: &'a str) -> Result<(Self, u32), serde_json::Error> {
        let mut unknown_fields = 0;
        let mut deserializer = serde_json::Deserializer::from_str(line);
        let envelope: Envelope<'a> = deserializer.deserialize_struct(
            "Event",
            ENVELOPE_FIELDS,
            Guarded::new(ENVELOPE_FIELDS, None, &mut unknown_fields),
        )?;
        deserializer.end()?;
        let unknown_in_envelope = unknown_fields;
        let payload = EventPayload::parse(envelope.payload, &mut unknown_fields)?;
        if unknown_fields > unknown_in_envelope {
            // The parser skips unknown fields without checking their depth or escapes. But the payload as a whole must be
            // readable where it stands, one level below the line, so it is parsed again in full.
            serde_json::from_str::<Value>(&format!("[{}]", envelope.payload.get()))?;
        }
        let event = Self {
            schema_version: envelope.schema_version,
            seq: envelope.seq,
            wall_time_unix_ms: envelope.wall_time_unix_ms,
            rollout_id: envelope.rollout_id,
            thread_id: envelope.thread_id,
            codex_turn_id: envelope.codex_turn_id,
            payload,
        };
        Ok((event, unknown_fields))
    }
}

impl Serialize for Event<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(ENVELOPE_FIELDS.len()))?;
        map.serialize_entry("schema_version", &self.schema_version)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("wall_time_unix_ms", &self.wall_time_unix_ms)?;
        map.serialize_entry("rollout_id", &self.rollout_id)?;
        map.serialize_entry("thread_id", &self.thread_id)?;
        map.serialize_entry("codex_turn_id", &self.codex_turn_id)?;
        map.serialize_entry("payload", &self.payload)?;
        map.end()
    }
}

/// Deserializes a `T` from a map, counts the fields that `T` does not have, and skips the tag after checking that it
/// occurs only once.
struct Guarded<'f, T> {
    known: &'static [&'static str],
    tag: Option<&'static str>,
    unknown: &'f mut u32,
    result: std::marker::PhantomData<T>,
}

impl<'f, T> Guarded<'f, T> {
    fn new(known: &'static [&'static str], tag: Option<&'static str>, unknown: &'f mut u32) -> Self {
        Self { known, tag, unknown, result: std::marker::PhantomData }
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Guarded<'_, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        let guard = Guard { map, known: self.known, tag: self.tag, tag_seen: false, unknown: self.unknown };
        T::deserialize(MapAccessDeserializer::new(guard))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, seq: A) -> Result<T, A::Error> {
        T::deserialize(SeqAccessDeserializer::new(seq))
    }
}

struct Guard<'f, A> {
    map: A,
    known: &'static [&'static str],
    tag: Option<&'static str>,
    tag_seen: bool,
    unknown: &'f mut u32,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Guard<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        loop {
            let Some(key) = self.map.next_key::<Text<'de>>()? else { return Ok(None) };
            if let Some(tag) = self.tag.filter(|tag| key == *tag) {
                if std::mem::replace(&mut self.tag_seen, true) {
                    return Err(de::Error::duplicate_field(tag));
                }
                self.map.next_value::<IgnoredAny>()?;
                continue;
            }
            if !self.known.contains(&key.as_str()) {
                *self.unknown += 1;
            }
            return seed.deserialize(key.as_str().into_deserializer()).map(Some);
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// Reads the name of a value without fields: a string, or an object whose only key is the name and whose value is empty.
struct UnitName;

impl<'de> Visitor<'de> for UnitName {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Text<'de>, E> {
        Ok(name.into())
    }

    fn visit_str<E>(self, name: &str) -> Result<Text<'de>, E> {
        Ok(name.to_owned().into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text<'de>, A::Error> {
        let name = map.next_key::<Text<'de>>()?.ok_or_else(|| de::Error::custom("an object without a name"))?;
        let value: Value = map.next_value()?;
        let is_empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
        if !is_empty || map.next_key::<Text<'de>>()?.is_some() {
            return Err(de::Error::custom("a name with a value"));
        }
        Ok(name)
    }
}

/// A tool kind where schema 1 has no such field. Since a reader of schema 1 ignores the field, any JSON is accepted here.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct LooseKind<'a>(pub ToolKind<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for LooseKind<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(serde_json::from_str(raw.get()).unwrap_or_else(|_| ToolKind::Unknown("invalid".into()))))
    }
}

/// The tag of an event payload, read without the other fields.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct TagOnly<'a> {
    #[serde(rename = "type")]
    tag: Text<'a>,
}

macro_rules! string_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $tag:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$vdoc])* $variant,)*
            /// A value that this crate does not know.
            Unknown,
        }

        impl $name {
            /// Returns the value as the format writes it, or `unknown` for an unknown value.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $tag,)*
                    Self::Unknown => "unknown",
                }
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Ok(match deserializer.deserialize_any(UnitName)?.as_str() {
                    $($tag => Self::$variant,)*
                    _ => Self::Unknown,
                })
            }
        }
    };
}

string_enum! {
    /// Status of a rollout or thread.
    RolloutStatus {
        /// It has not ended.
        Running = "running",
        /// It ended normally.
        Completed = "completed",
        /// It ended with an error.
        Failed = "failed",
        /// It was stopped before it ended.
        Aborted = "aborted",
    }
}

string_enum! {
    /// Status of a turn, call or request.
    ExecutionStatus {
        /// It has not ended.
        Running = "running",
        /// It ended normally.
        Completed = "completed",
        /// It ended with an error.
        Failed = "failed",
        /// It was cancelled before it ended.
        Cancelled = "cancelled",
        /// It was stopped because its thread or turn was stopped.
        Aborted = "aborted",
    }
}

string_enum! {
    /// Status of a code cell.
    CellStatus {
        /// The cell was requested.
        Starting = "starting",
        /// The cell is running.
        Running = "running",
        /// The cell has responded and continues in the background.
        Yielded = "yielded",
        /// The cell ended normally.
        Completed = "completed",
        /// The cell ended with an error.
        Failed = "failed",
        /// The cell was stopped.
        Terminated = "terminated",
    }
}

/// An event of a type that this crate does not know, kept as it was written.
#[derive(Debug, Clone)]
pub struct UnknownEvent<'a> {
    /// The `type` of the event.
    pub tag: Text<'a>,
    /// The whole payload object.
    pub raw: &'a RawValue,
}

impl PartialEq for UnknownEvent<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.raw.get() == other.raw.get()
    }
}

macro_rules! events {
    ($(
        $(#[$doc:meta])*
        $name:ident $(<$life:lifetime>)? = $tag:literal { $($(#[$fdoc:meta])* $field:ident: $type:ty,)* }
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            $(#[doc = concat!("\n\nIts texts borrow from the log line for `", stringify!($life), "`.")]
            #[serde(bound(deserialize = "'de: 'a"))])?
            pub struct $name $(<$life>)? { $($(#[$fdoc])* pub $field: $type,)* }

            impl $(<$life>)? $name $(<$life>)? {
                const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];
            }
        )*

        /// What happened, tagged by `type`.
        #[derive(Debug, Clone, PartialEq)]
        pub enum EventPayload<'a> {
            $($(#[$doc])* $name($name $(<$life>)?),)*
            /// An event type that this crate does not know, usually of a later release.
            Unknown(UnknownEvent<'a>),
        }

        impl<'a> EventPayload<'a> {
            /// Returns the `type` of the event.
            pub fn tag(&self) -> &str {
                match self {
                    $(Self::$name(_) => $tag,)*
                    Self::Unknown(event) => &event.tag,
                }
            }

            fn parse_tagged(tag: Text<'a>, raw: &'a RawValue, unknown: &mut u32) -> Result<Self, serde_json::Error> {
                match tag.as_str() {
                    $($tag => parse_fields(raw, $name::FIELDS, unknown).map(Self::$name),)*
                    _ => {
                        // Validated like any other payload, so that "unknown" always means a well-formed JSON object.
                        serde_json::from_str::<Value>(raw.get())?;
                        Ok(Self::Unknown(UnknownEvent { tag, raw }))
                    }
                }
            }

            fn from_sequence(tag: &str, rest: Vec<Value>) -> Result<Self, serde_json::Error> {
                match tag {
                    $($tag => $name::deserialize(Value::Array(rest)).map(Self::$name),)*
                    _ => Err(de::Error::custom(format_args!("unknown event `{tag}` in positional form"))),
                }
            }
        }

        impl Serialize for EventPayload<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[derive(Serialize)]
                struct Tagged<'t, T> {
                    #[serde(rename = "type")]
                    tag: &'static str,
                    #[serde(flatten)]
                    fields: &'t T,
                }
                match self {
                    $(Self::$name(fields) => Tagged { tag: $tag, fields }.serialize(serializer),)*
                    Self::Unknown(event) => event.raw.serialize(serializer),
                }
            }
        }
    };
}

fn parse_fields<'a, T: Deserialize<'a>>(
    raw: &'a RawValue,
    known: &'static [&'static str],
    unknown: &mut u32,
) -> Result<T, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    deserializer.deserialize_map(Guarded::new(known, Some("type"), unknown))
}

events! {
    /// The session began.
    RolloutStarted<'a> = "rollout_started" {
        /// Id of the trace.
        trace_id: Text<'a>,
        /// First thread of the session.
        root_thread_id: Text<'a>,
    }
    /// The session ended.
    RolloutEnded = "rollout_ended" {
        /// How it ended.
        status: RolloutStatus,
    }
    /// The recorder closed the log. No event may follow. Since 0.169.
    RecordingCompleted = "recording_completed" {}
    /// A thread began.
    ThreadStarted<'a> = "thread_started" {
        /// The thread.
        thread_id: Text<'a>,
        /// Position of the agent in the tree of agents, such as `/root/name`.
        agent_path: Text<'a>,
        /// Description of the thread and of the agent that spawned it.
        metadata_payload: Option<PayloadRef<'a>>,
    }
    /// A thread ended.
    ThreadEnded<'a> = "thread_ended" {
        /// The thread.
        thread_id: Text<'a>,
        /// How it ended.
        status: RolloutStatus,
    }
    /// A thread that had ended was continued. Since 0.166.
    ThreadResumed<'a> = "thread_resumed" {
        /// The thread.
        thread_id: Text<'a>,
    }
    /// A turn began.
    CodexTurnStarted<'a> = "codex_turn_started" {
        /// The turn.
        codex_turn_id: Text<'a>,
        /// Its thread.
        thread_id: Text<'a>,
    }
    /// A turn ended.
    CodexTurnEnded<'a> = "codex_turn_ended" {
        /// The turn.
        codex_turn_id: Text<'a>,
        /// How it ended.
        status: ExecutionStatus,
    }
    /// An item of the model became part of the thread's history. Schema 2.
    HistoryItemAccepted<'a> = "history_item_accepted" {
        /// Id of the item in the Responses API.
        item_id: Text<'a>,
        /// The item itself, if it is a message from another agent. Since 0.169.
        #[serde(skip_serializing_if = "Option::is_none")]
        agent_message_payload: Option<PayloadRef<'a>>,
    }
    /// A request was sent to the model provider.
    InferenceStarted<'a> = "inference_started" {
        /// The inference call.
        inference_call_id: Text<'a>,
        /// Its thread.
        thread_id: Text<'a>,
        /// Its turn.
        codex_turn_id: Text<'a>,
        /// Requested model.
        model: Text<'a>,
        /// Provider that received the request.
        provider_name: Text<'a>,
        /// The request.
        request_payload: PayloadRef<'a>,
    }
    /// The provider answered.
    InferenceCompleted<'a> = "inference_completed" {
        /// The inference call.
        inference_call_id: Text<'a>,
        /// Id that the provider gave to its response.
        response_id: Option<Text<'a>>,
        /// Id that the provider gave to the request.
        upstream_request_id: Option<Text<'a>>,
        /// The response.
        response_payload: PayloadRef<'a>,
    }
    /// The request ended with an error.
    InferenceFailed<'a> = "inference_failed" {
        /// The inference call.
        inference_call_id: Text<'a>,
        /// Id that the provider gave to the request.
        upstream_request_id: Option<Text<'a>>,
        /// Error message for people.
        error: Text<'a>,
        /// The part of the response that arrived before the error.
        partial_response_payload: Option<PayloadRef<'a>>,
    }
    /// The request was cancelled.
    InferenceCancelled<'a> = "inference_cancelled" {
        /// The inference call.
        inference_call_id: Text<'a>,
        /// Id that the provider gave to the request.
        upstream_request_id: Option<Text<'a>>,
        /// Reason as a message for people.
        reason: Text<'a>,
        /// The part of the response that arrived before.
        partial_response_payload: Option<PayloadRef<'a>>,
    }
    /// A tool call was dispatched.
    ToolCallStarted<'a> = "tool_call_started" {
        /// The tool call.
        tool_call_id: Text<'a>,
        /// Id by which the model knows the call. `None` if code requested the call.
        model_visible_call_id: Option<Text<'a>>,
        /// Id by which the code runtime knows the call.
        code_mode_runtime_tool_id: Option<Text<'a>>,
        /// Who requested the call.
        requester: Requester<'a>,
        /// What kind of tool it is.
        kind: ToolKind<'a>,
        /// Short description.
        summary: ToolSummary<'a>,
        /// The invocation.
        invocation_payload: Option<PayloadRef<'a>>,
    }
    /// A tool call got the id by which an MCP server knows it.
    McpToolCallCorrelationAssigned<'a> = "mcp_tool_call_correlation_assigned" {
        /// The tool call.
        tool_call_id: Text<'a>,
        /// Id at the server.
        mcp_call_id: Text<'a>,
    }
    /// A write to a terminal was matched with the command that owns it. Since 0.164.
    StdinTargetResolved<'a> = "stdin_target_resolved" {
        /// The tool call that writes.
        tool_call_id: Text<'a>,
        /// The tool call that started the command.
        exec_tool_call_id: Text<'a>,
    }
    /// The runtime of a tool started.
    ToolCallRuntimeStarted<'a> = "tool_call_runtime_started" {
        /// The tool call.
        tool_call_id: Text<'a>,
        /// Kind of tool that the runtime determined. Required since 0.166, absent before.
        #[serde(skip_serializing_if = "Option::is_none")]
        kind: Option<LooseKind<'a>>,
        /// The event that the runtime reported.
        runtime_payload: PayloadRef<'a>,
    }
    /// The runtime of a tool ended.
    ToolCallRuntimeEnded<'a> = "tool_call_runtime_ended" {
        /// The tool call.
        tool_call_id: Text<'a>,
        /// How it ended.
        status: ExecutionStatus,
        /// The event that the runtime reported.
        runtime_payload: PayloadRef<'a>,
    }
    /// A tool call returned its result.
    ToolCallEnded<'a> = "tool_call_ended" {
        /// The tool call.
        tool_call_id: Text<'a>,
        /// How it ended.
        status: ExecutionStatus,
        /// The result.
        result_payload: Option<PayloadRef<'a>>,
    }
    /// A code cell started.
    CodeCellStarted<'a> = "code_cell_started" {
        /// Id of the cell in its thread's runtime.
        runtime_cell_id: Text<'a>,
        /// Id of the model's call that contains the code.
        model_visible_call_id: Text<'a>,
        /// The code.
        source_js: Text<'a>,
    }
    /// A code cell returned its first response.
    CodeCellInitialResponse<'a> = "code_cell_initial_response" {
        /// Id of the cell in its thread's runtime.
        runtime_cell_id: Text<'a>,
        /// Status of the cell at that time.
        status: CellStatus,
        /// The response.
        response_payload: Option<PayloadRef<'a>>,
    }
    /// A code cell ended.
    CodeCellEnded<'a> = "code_cell_ended" {
        /// Id of the cell in its thread's runtime.
        runtime_cell_id: Text<'a>,
        /// How it ended.
        status: CellStatus,
        /// Its result.
        response_payload: Option<PayloadRef<'a>>,
    }
    /// A remote compaction was requested.
    CompactionRequestStarted<'a> = "compaction_request_started" {
        /// The compaction.
        compaction_id: Text<'a>,
        /// Id of the request.
        compaction_request_id: Text<'a>,
        /// Its thread.
        thread_id: Text<'a>,
        /// Its turn.
        codex_turn_id: Text<'a>,
        /// Requested model.
        model: Text<'a>,
        /// Provider that received the request.
        provider_name: Text<'a>,
        /// The request.
        request_payload: PayloadRef<'a>,
    }
    /// The provider answered a compaction request.
    CompactionRequestCompleted<'a> = "compaction_request_completed" {
        /// The compaction.
        compaction_id: Text<'a>,
        /// Id of the request.
        compaction_request_id: Text<'a>,
        /// The response.
        response_payload: PayloadRef<'a>,
    }
    /// A compaction request ended with an error.
    CompactionRequestFailed<'a> = "compaction_request_failed" {
        /// The compaction.
        compaction_id: Text<'a>,
        /// Id of the request.
        compaction_request_id: Text<'a>,
        /// Error message for people.
        error: Text<'a>,
    }
    /// The thread's history was replaced by a compacted one. The envelope names thread and turn.
    CompactionInstalled<'a> = "compaction_installed" {
        /// The compaction.
        compaction_id: Text<'a>,
        /// The histories before and after.
        checkpoint_payload: PayloadRef<'a>,
    }
    /// The result of a child agent was delivered to its parent. The envelope names the child.
    AgentResultObserved<'a> = "agent_result_observed" {
        /// Id of the edge in the graph.
        edge_id: Text<'a>,
        /// The child.
        child_thread_id: Text<'a>,
        /// The child's turn.
        child_codex_turn_id: Text<'a>,
        /// The parent.
        parent_thread_id: Text<'a>,
        /// The message that the parent received.
        message: Text<'a>,
        /// The result itself.
        carried_payload: Option<PayloadRef<'a>>,
    }
    /// An event of the session's protocol occurred.
    ProtocolEventObserved<'a> = "protocol_event_observed" {
        /// Name of the protocol event.
        event_type: Text<'a>,
        /// The protocol event.
        event_payload: PayloadRef<'a>,
    }
    /// Reserved by the format for other events.
    Other<'a> = "other" {
        /// What kind of event it is.
        kind: Text<'a>,
        /// Short description.
        summary: Text<'a>,
        /// Payloads that belong to it.
        payloads: Vec<PayloadRef<'a>>,
        /// Any further data.
        metadata: Value,
    }
}

impl<'a> EventPayload<'a> {
    fn parse(raw: &'a RawValue, unknown: &mut u32) -> Result<Self, serde_json::Error> {
        let text = raw.get();
        // Recorders write the tag first and without escapes. Then one pass over the object is enough.
        let plain_tag = text
            .strip_prefix(r#"{"type":""#)
            .and_then(|rest| rest.split_once('"'))
            .map(|(tag, _)| tag)
            .filter(|tag| !tag.contains('\\'));
        if let Some(tag) = plain_tag {
            return Self::parse_tagged(tag.into(), raw, unknown);
        }
        if text.starts_with('[') {
            let mut values: Vec<Value> = serde_json::from_str(text)?;
            if values.is_empty() {
                return Err(de::Error::missing_field("type"));
            }
            let rest = values.split_off(1);
            let tag = values[0].as_str().ok_or_else(|| de::Error::custom("the event type is not a string"))?;
            return Self::from_sequence(tag, rest);
        }
        let TagOnly { tag } = serde_json::from_str(text)?;
        Self::parse_tagged(tag, raw, unknown)
    }

    /// Returns the payload references of the event, in the order of the fields.
    pub fn payload_refs(&self) -> &[PayloadRef<'a>] {
        let one: Option<&PayloadRef<'a>> = match self {
            Self::ThreadStarted(e) => e.metadata_payload.as_ref(),
            Self::HistoryItemAccepted(e) => e.agent_message_payload.as_ref(),
            Self::InferenceStarted(e) => Some(&e.request_payload),
            Self::InferenceCompleted(e) => Some(&e.response_payload),
            Self::InferenceFailed(e) => e.partial_response_payload.as_ref(),
            Self::InferenceCancelled(e) => e.partial_response_payload.as_ref(),
            Self::ToolCallStarted(e) => e.invocation_payload.as_ref(),
            Self::ToolCallRuntimeStarted(e) => Some(&e.runtime_payload),
            Self::ToolCallRuntimeEnded(e) => Some(&e.runtime_payload),
            Self::ToolCallEnded(e) => e.result_payload.as_ref(),
            Self::CodeCellInitialResponse(e) => e.response_payload.as_ref(),
            Self::CodeCellEnded(e) => e.response_payload.as_ref(),
            Self::CompactionRequestStarted(e) => Some(&e.request_payload),
            Self::CompactionRequestCompleted(e) => Some(&e.response_payload),
            Self::CompactionInstalled(e) => Some(&e.checkpoint_payload),
            Self::AgentResultObserved(e) => e.carried_payload.as_ref(),
            Self::ProtocolEventObserved(e) => Some(&e.event_payload),
            Self::Other(e) => return &e.payloads,
            Self::RolloutStarted(_)
            | Self::RolloutEnded(_)
            | Self::RecordingCompleted(_)
            | Self::ThreadEnded(_)
            | Self::ThreadResumed(_)
            | Self::CodexTurnStarted(_)
            | Self::CodexTurnEnded(_)
            | Self::McpToolCallCorrelationAssigned(_)
            | Self::StdinTargetResolved(_)
            | Self::CodeCellStarted(_)
            | Self::CompactionRequestFailed(_)
            | Self::Unknown(_) => None,
        };
        one.map_or(&[], std::slice::from_ref)
    }

    /// Returns whether a release that writes this schema can have written the event. Unknown event types belong to no known
    /// schema and are accepted in any.
    pub fn is_of_schema(&self, schema: SchemaVersion) -> bool {
        match self {
            Self::HistoryItemAccepted(_)
            | Self::ThreadResumed(_)
            | Self::RecordingCompleted(_)
            | Self::StdinTargetResolved(_) => schema >= SchemaVersion::V2,
            // Releases that write schema 2 always write the kind.
            Self::ToolCallRuntimeStarted(started) => schema < SchemaVersion::V2 || started.kind.is_some(),
            _ => true,
        }
    }

    /// Returns the name and value of a field whose value is unknown to this crate, or `None` if all values are known.
    pub fn unknown_value(&self) -> Option<(&'static str, &str)> {
        if let Some(kind) = self.payload_refs().iter().map(|reference| &reference.kind).find_map(|kind| match kind {
            super::payload::PayloadKind::Unknown(tag) => Some(tag.as_str()),
            _ => None,
        }) {
            return Some(("payload kind", kind));
        }
        let rollout_status = |status| (status == RolloutStatus::Unknown).then_some(("status", "unknown"));
        let execution_status = |status| (status == ExecutionStatus::Unknown).then_some(("status", "unknown"));
        let cell_status = |status| (status == CellStatus::Unknown).then_some(("status", "unknown"));
        match self {
            Self::RolloutEnded(e) => rollout_status(e.status),
            Self::ThreadEnded(e) => rollout_status(e.status),
            Self::CodexTurnEnded(e) => execution_status(e.status),
            Self::ToolCallRuntimeEnded(e) => execution_status(e.status),
            Self::ToolCallEnded(e) => execution_status(e.status),
            Self::CodeCellInitialResponse(e) => cell_status(e.status),
            Self::CodeCellEnded(e) => cell_status(e.status),
            Self::ToolCallStarted(e) => match (&e.requester, &e.kind, &e.summary) {
                (Requester::Unknown(tag), _, _) => Some(("requester", tag)),
                (_, ToolKind::Unknown(tag), _) => Some(("tool kind", tag)),
                (_, _, ToolSummary::Unknown(tag)) => Some(("tool summary", tag)),
                _ => None,
            },
            Self::ToolCallRuntimeStarted(e) => match &e.kind {
                Some(LooseKind(ToolKind::Unknown(tag))) => Some(("tool kind", tag)),
                _ => None,
            },
            _ => None,
        }
    }
}
