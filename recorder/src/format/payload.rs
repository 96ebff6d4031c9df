//! References from events to payload files.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde::{Deserialize as DeriveDeserialize, Serialize as DeriveSerialize};

use super::text::Text;

/// A reference to one payload file of the bundle.
#[derive(Debug, Clone, PartialEq, Eq, DeriveSerialize, DeriveDeserialize)]
pub struct PayloadRef<'a> {
    /// Id of the payload, `raw_payload:<n>` in recordings.
    #[serde(borrow)]
    pub raw_payload_id: Text<'a>,
    /// What the file holds according to the recorder. The reducer relies on the event instead.
    #[serde(borrow)]
    pub kind: PayloadKind<'a>,
    /// Path below the bundle directory, `payloads/<n>.json` in recordings.
    #[serde(borrow)]
    pub path: Text<'a>,
}

macro_rules! payload_kinds {
    ($($(#[$doc:meta])* $variant:ident = $tag:literal,)*) => {
        /// What a payload file holds, written as `{"type": KIND}`.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum PayloadKind<'a> {
            $($(#[$doc])* $variant,)*
            /// A kind that this crate does not know, kept as it was written.
            Unknown(Text<'a>),
        }

        impl<'a> PayloadKind<'a> {
            /// Returns the tag of the kind.
            pub fn tag(&self) -> &str {
                match self {
                    $(Self::$variant => $tag,)*
                    Self::Unknown(tag) => tag,
                }
            }

            /// Returns the kind with this tag.
            pub fn from_tag(tag: Text<'a>) -> Self {
                match tag.as_str() {
                    $($tag => Self::$variant,)*
                    _ => Self::Unknown(tag),
                }
            }

            /// Returns a copy of the kind that does not borrow from the log.
            pub fn into_owned(self) -> PayloadKind<'static> {
                match self {
                    $(Self::$variant => PayloadKind::$variant,)*
                    Self::Unknown(tag) => PayloadKind::Unknown(tag.into_owned()),
                }
            }
        }
    };
}

payload_kinds! {
    /// The complete request to the model provider.
    InferenceRequest = "inference_request",
    /// The response of the provider, with its output items and token usage.
    InferenceResponse = "inference_response",
    /// A request for a remote compaction.
    CompactionRequest = "compaction_request",
    /// The histories before and after a compaction.
    CompactionCheckpoint = "compaction_checkpoint",
    /// The response to a request for a remote compaction.
    CompactionResponse = "compaction_response",
    /// The invocation of a tool as it was dispatched.
    ToolInvocation = "tool_invocation",
    /// The result of a tool as it was returned.
    ToolResult = "tool_result",
    /// An event that the runtime of a tool reported.
    ToolRuntimeEvent = "tool_runtime_event",
    /// An event that a terminal reported.
    TerminalRuntimeEvent = "terminal_runtime_event",
    /// An event of the session's protocol, verbatim.
    ProtocolEvent = "protocol_event",
    /// Description of a thread at its start.
    SessionMetadata = "session_metadata",
    /// A child agent's result on its way to the parent.
    AgentResult = "agent_result",
}

impl Serialize for PayloadKind<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut kind = serializer.serialize_struct("PayloadKind", 1)?;
        kind.serialize_field("type", self.tag())?;
        kind.end()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for PayloadKind<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KindVisitor;

        impl<'de> Visitor<'de> for KindVisitor {
            type Value = PayloadKind<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a payload kind such as {\"type\": \"tool_result\"}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PayloadKind<'de>, A::Error> {
                let mut tag: Option<Text<'de>> = None;
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    match key.as_str() {
                        "type" if tag.is_some() => return Err(de::Error::duplicate_field("type")),
                        "type" => tag = Some(map.next_value()?),
                        // The format reserves this key for kinds with content. No kind has any, so only null is accepted.
                        "value" => map.next_value::<()>()?,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                tag.map(PayloadKind::from_tag).ok_or_else(|| de::Error::missing_field("type"))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<PayloadKind<'de>, A::Error> {
                let tag = seq.next_element()?.ok_or_else(|| de::Error::missing_field("type"))?;
                seq.next_element::<()>()?.ok_or_else(|| de::Error::missing_field("value"))?;
                Ok(PayloadKind::from_tag(tag))
            }
        }

        deserializer.deserialize_any(KindVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_borrows_and_keeps_unknown_kinds() {
        let line = r#"{"raw_payload_id":"raw_payload:1","kind":{"x":1,"type":"later_kind"},"path":"payloads/1.json"}"#;
        let found: PayloadRef<'_> = serde_json::from_str(line).expect("the reference parses");
        assert_eq!(found.kind, PayloadKind::Unknown("later_kind".into()));
        assert_eq!(found.path, "payloads/1.json");
    }

    #[test]
    fn a_kind_with_a_value_is_refused() {
        for kind in [r#"{"type":"tool_result","value":1}"#, r#"{"type":"tool_result","type":"tool_result"}"#, "{}"] {
            serde_json::from_str::<PayloadKind<'_>>(kind).expect_err(kind);
        }
    }
}
