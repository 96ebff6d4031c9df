//! Small tagged objects inside events: requester, tool kind and tool summary.
//!
//! They are deserialized by hand instead of with `#[serde(tag)]`. The derived code copies every value into a buffer before
//! it reads the tag, and it rejects tags that a later release adds.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::text::Text;

/// The members of a tagged object, kept until the tag tells which of them are used.
struct Members<'a> {
    tag: Text<'a>,
    fields: Vec<(Text<'a>, Member<'a>)>,
    /// The members after the tag in reverse order, if the object is written as an array.
    positional: Option<Vec<Member<'a>>>,
}

enum Member<'a> {
    Text(Text<'a>),
    Other(Value),
}

impl<'a> Members<'a> {
    fn required<E: de::Error>(&mut self, name: &'static str) -> Result<Text<'a>, E> {
        self.optional(name)?.ok_or_else(|| E::missing_field(name))
    }

    fn optional<E: de::Error>(&mut self, name: &'static str) -> Result<Option<Text<'a>>, E> {
        match self.take(name)? {
            None | Some(Member::Other(Value::Null)) => Ok(None),
            Some(Member::Text(text)) => Ok(Some(text)),
            Some(Member::Other(_)) => Err(E::custom(format_args!("`{name}` is not a string"))),
        }
    }

    fn optional_u64<E: de::Error>(&mut self, name: &'static str) -> Result<Option<u64>, E> {
        match self.take(name)? {
            None | Some(Member::Other(Value::Null)) => Ok(None),
            Some(Member::Other(Value::Number(number))) if number.is_u64() => Ok(number.as_u64()),
            Some(Member::Other(Value::Number(number))) if number.as_str() == "-0" => Ok(Some(0)),
            Some(_) => Err(E::custom(format_args!("`{name}` is not an unsigned integer"))),
        }
    }

    fn take<E: de::Error>(&mut self, name: &'static str) -> Result<Option<Member<'a>>, E> {
        if let Some(positional) = &mut self.positional {
            return positional.pop().map(Some).ok_or_else(|| E::missing_field(name));
        }
        let mut found = None;
        while let Some(at) = self.fields.iter().position(|(key, _)| *key == name) {
            if found.is_some() {
                return Err(E::duplicate_field(name));
            }
            found = Some(self.fields.swap_remove(at).1);
        }
        Ok(found)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Member<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MemberVisitor;

        impl<'de> Visitor<'de> for MemberVisitor {
            type Value = Member<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Member::Text(text.into()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Member::Text(text.to_owned().into()))
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Member::Other(Value::Null))
            }

            fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
                Ok(Member::Other(Value::Bool(value)))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Member::Other(number.into()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Member::Other(number.into()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Member::Other(number.into()))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Value::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(Member::Other)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Value::deserialize(MapAccessDeserializer::new(map)).map(Member::Other)
            }
        }

        deserializer.deserialize_any(MemberVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a `type`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut tag = None;
                let mut fields = Vec::new();
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    if key != "type" {
                        fields.push((key, map.next_value()?));
                    } else if tag.replace(map.next_value()?).is_some() {
                        return Err(de::Error::duplicate_field("type"));
                    }
                }
                Ok(Members { tag: tag.ok_or_else(|| de::Error::missing_field("type"))?, fields, positional: None })
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let tag = seq.next_element()?.ok_or_else(|| de::Error::missing_field("type"))?;
                let mut positional = Vec::new();
                while let Some(member) = seq.next_element()? {
                    positional.push(member);
                }
                positional.reverse();
                Ok(Members { tag, fields: Vec::new(), positional: Some(positional) })
            }
        }

        deserializer.deserialize_any(MembersVisitor)
    }
}

/// Who requested a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requester<'a> {
    /// The model, with a call in its response.
    Model,
    /// A running code cell.
    CodeCell {
        /// Id of the cell in its thread's runtime.
        runtime_cell_id: Text<'a>,
    },
    /// A requester that this crate does not know.
    Unknown(Text<'a>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Requester<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::deserialize(deserializer)?;
        Ok(match members.tag.as_str() {
            "model" => Self::Model,
            "code_cell" => Self::CodeCell { runtime_cell_id: members.required("runtime_cell_id")? },
            _ => Self::Unknown(members.tag),
        })
    }
}

impl Serialize for Requester<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Model => map.serialize_entry("type", "model")?,
            Self::CodeCell { runtime_cell_id } => {
                map.serialize_entry("type", "code_cell")?;
                map.serialize_entry("runtime_cell_id", runtime_cell_id)?;
            }
            Self::Unknown(tag) => map.serialize_entry("type", tag)?,
        }
        map.end()
    }
}

/// What kind of tool a call runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolKind<'a> {
    /// Starts a command in a terminal.
    ExecCommand,
    /// Writes to a running terminal.
    WriteStdin,
    /// Changes files with a patch.
    ApplyPatch,
    /// A tool of an MCP server.
    Mcp {
        /// Name of the server.
        server: Text<'a>,
        /// Name of the tool.
        tool: Text<'a>,
    },
    /// A web search.
    Web,
    /// Image generation or an image query.
    ImageGeneration,
    /// Starts a child agent.
    SpawnAgent,
    /// Gives a running agent another task.
    AssignAgentTask,
    /// Sends an agent a message.
    SendMessage,
    /// Waits for an agent.
    WaitAgent,
    /// Closes or interrupts an agent.
    CloseAgent,
    /// Any other tool.
    Other {
        /// Name of the tool.
        name: Text<'a>,
    },
    /// A kind that this crate does not know.
    Unknown(Text<'a>),
}

impl ToolKind<'_> {
    /// Returns the tag of the kind.
    pub fn tag(&self) -> &str {
        match self {
            Self::ExecCommand => "exec_command",
            Self::WriteStdin => "write_stdin",
            Self::ApplyPatch => "apply_patch",
            Self::Mcp { .. } => "mcp",
            Self::Web => "web",
            Self::ImageGeneration => "image_generation",
            Self::SpawnAgent => "spawn_agent",
            Self::AssignAgentTask => "assign_agent_task",
            Self::SendMessage => "send_message",
            Self::WaitAgent => "wait_agent",
            Self::CloseAgent => "close_agent",
            Self::Other { .. } => "other",
            Self::Unknown(tag) => tag,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ToolKind<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::deserialize(deserializer)?;
        Ok(match members.tag.as_str() {
            "exec_command" => Self::ExecCommand,
            "write_stdin" => Self::WriteStdin,
            "apply_patch" => Self::ApplyPatch,
            "mcp" => Self::Mcp { server: members.required("server")?, tool: members.required("tool")? },
            "web" => Self::Web,
            "image_generation" => Self::ImageGeneration,
            "spawn_agent" => Self::SpawnAgent,
            "assign_agent_task" => Self::AssignAgentTask,
            "send_message" => Self::SendMessage,
            "wait_agent" => Self::WaitAgent,
            "close_agent" => Self::CloseAgent,
            "other" => Self::Other { name: members.required("name")? },
            _ => Self::Unknown(members.tag),
        })
    }
}

impl Serialize for ToolKind<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.tag())?;
        match self {
            Self::Mcp { server, tool } => {
                map.serialize_entry("server", server)?;
                map.serialize_entry("tool", tool)?;
            }
            Self::Other { name } => map.serialize_entry("name", name)?,
            _ => {}
        }
        map.end()
    }
}

/// A short description of a tool call, written when it was dispatched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolSummary<'a> {
    /// The call works on a terminal operation.
    Terminal {
        /// Id of the operation.
        operation_id: Text<'a>,
    },
    /// The call addresses an agent.
    Agent {
        /// Path of the agent.
        target_agent_path: Text<'a>,
        /// Name of its task.
        task_name: Option<Text<'a>>,
        /// Beginning of the message.
        message_preview: Text<'a>,
    },
    /// The call waits for an agent.
    WaitAgent {
        /// Path of the agent, if the call waits for a particular one.
        target_agent_path: Option<Text<'a>>,
        /// Time limit in milliseconds.
        timeout_ms: Option<u64>,
    },
    /// Any other call.
    Generic {
        /// Name of the tool, with its namespace if it has one.
        label: Text<'a>,
        /// Beginning of the input.
        input_preview: Option<Text<'a>>,
        /// Beginning of the output.
        output_preview: Option<Text<'a>>,
    },
    /// A summary type that this crate does not know.
    Unknown(Text<'a>),
}

impl<'de: 'a, 'a> Deserialize<'de> for ToolSummary<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::deserialize(deserializer)?;
        Ok(match members.tag.as_str() {
            "terminal" => Self::Terminal { operation_id: members.required("operation_id")? },
            "agent" => Self::Agent {
                target_agent_path: members.required("target_agent_path")?,
                task_name: members.optional("task_name")?,
                message_preview: members.required("message_preview")?,
            },
            "wait_agent" => Self::WaitAgent {
                target_agent_path: members.optional("target_agent_path")?,
                timeout_ms: members.optional_u64("timeout_ms")?,
            },
            "generic" => Self::Generic {
                label: members.required("label")?,
                input_preview: members.optional("input_preview")?,
                output_preview: members.optional("output_preview")?,
            },
            _ => Self::Unknown(members.tag),
        })
    }
}

impl Serialize for ToolSummary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Terminal { operation_id } => {
                map.serialize_entry("type", "terminal")?;
                map.serialize_entry("operation_id", operation_id)?;
            }
            Self::Agent { target_agent_path, task_name, message_preview } => {
                map.serialize_entry("type", "agent")?;
                map.serialize_entry("target_agent_path", target_agent_path)?;
                map.serialize_entry("task_name", task_name)?;
                map.serialize_entry("message_preview", message_preview)?;
            }
            Self::WaitAgent { target_agent_path, timeout_ms } => {
                map.serialize_entry("type", "wait_agent")?;
                map.serialize_entry("target_agent_path", target_agent_path)?;
                map.serialize_entry("timeout_ms", timeout_ms)?;
            }
            Self::Generic { label, input_preview, output_preview } => {
                map.serialize_entry("type", "generic")?;
                map.serialize_entry("label", label)?;
                map.serialize_entry("input_preview", input_preview)?;
                map.serialize_entry("output_preview", output_preview)?;
            }
            Self::Unknown(tag) => map.serialize_entry("type", tag)?,
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<'a, T>(text: &'a str) -> T
    where
        T: Deserialize<'a> + Serialize,
    {
        let value: T = serde_json::from_str(text).expect(text);
        assert_eq!(serde_json::to_string(&value).expect("serializes"), text);
        value
    }

    #[test]
    fn every_form_survives_a_round_trip() {
        round_trip::<Requester<'_>>(r#"{"type":"model"}"#);
        round_trip::<Requester<'_>>(r#"{"type":"code_cell","runtime_cell_id":"1"}"#);
        round_trip::<ToolKind<'_>>(r#"{"type":"mcp","server":"s","tool":"t"}"#);
        round_trip::<ToolKind<'_>>(r#"{"type":"other","name":"n"}"#);
        round_trip::<ToolSummary<'_>>(r#"{"type":"terminal","operation_id":"o"}"#);
        round_trip::<ToolSummary<'_>>(
            r#"{"type":"agent","target_agent_path":"/root/a","task_name":null,"message_preview":"m"}"#,
        );
        round_trip::<ToolSummary<'_>>(r#"{"type":"wait_agent","target_agent_path":null,"timeout_ms":5}"#);
        round_trip::<ToolSummary<'_>>(r#"{"type":"generic","label":"l","input_preview":"a\nb","output_preview":null}"#);
    }

    #[test]
    fn fields_of_other_tags_do_not_matter() {
        let kind: ToolKind<'_> =
            serde_json::from_str(r#"{"name":3,"name":4,"type":"web","server":{"a":[1]}}"#).expect("parses");
        assert_eq!(kind, ToolKind::Web);
    }

    #[test]
    fn later_tags_are_kept() {
        assert_eq!(round_trip::<ToolKind<'_>>(r#"{"type":"teleport"}"#), ToolKind::Unknown("teleport".into()));
    }

    #[test]
    fn wrong_shapes_are_refused() {
        for text in [r#"{"type":"mcp","server":"s"}"#, r#"{"type":"other","name":"a","name":"b"}"#, r#"{"name":"a"}"#] {
            serde_json::from_str::<ToolKind<'_>>(text).expect_err(text);
        }
        serde_json::from_str::<ToolSummary<'_>>(r#"{"type":"wait_agent","timeout_ms":-1}"#).expect_err("negative");
    }
}
