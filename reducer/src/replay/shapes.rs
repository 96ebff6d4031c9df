//! Forms of the payloads of tools, terminals and agents.
//!
//! Each is read from a parsed JSON value, so the last value of a repeated key counts, and unknown keys are ignored.

use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use crate::ingest::PayloadProblem;

/// The metadata of a thread, as far as the rules use it.
#[derive(Debug, Default)]
pub(super) struct ThreadMetadata {
    pub(super) agent_path: Option<String>,
    pub(super) task_name: Option<String>,
    pub(super) nickname: Option<String>,
    pub(super) agent_role: Option<String>,
    pub(super) model: Option<String>,
    pub(super) spawn: Option<SpawnSource>,
}

/// Who spawned a thread.
#[derive(Debug)]
pub(super) struct SpawnSource {
    pub(super) parent_thread_id: String,
    pub(super) agent_path: Option<String>,
    pub(super) task_name: Option<String>,
    pub(super) agent_role: Option<String>,
}

#[derive(Deserialize)]
struct TypedMetadata {
    agent_path: Option<String>,
    task_name: Option<String>,
    nickname: Option<String>,
    agent_role: Option<String>,
    model: Option<String>,
    session_source: Option<Value>,
}

impl ThreadMetadata {
    /// Reads the metadata. If there is a problem, the fields that could be read are returned with it.
    pub(super) fn read(value: &Value) -> (Self, Option<PayloadProblem>) {
        let text = |object: &Value, name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
        let (typed, problem) = match TypedMetadata::deserialize(value) {
            Ok(typed) => (typed, None),
            Err(_) => {
                let typed = TypedMetadata {
                    agent_path: text(value, "agent_path"),
                    task_name: text(value, "task_name"),
                    nickname: text(value, "nickname"),
                    agent_role: text(value, "agent_role"),
                    model: text(value, "model"),
                    session_source: value.get("session_source").cloned(),
                };
                (typed, Some(PayloadProblem::Shape("thread metadata with a field of the wrong type")))
            }
        };
        let source = typed.session_source.as_ref();
        let spawn = source.and_then(|source| source.pointer("/subagent/thread_spawn")).and_then(|spawn| {
            Some(SpawnSource {
                parent_thread_id: text(spawn, "parent_thread_id")?,
                agent_path: text(spawn, "agent_path"),
                task_name: text(spawn, "task_name"),
                agent_role: text(spawn, "agent_role"),
            })
        });
        let metadata = Self {
            agent_path: typed.agent_path,
            task_name: typed.task_name,
            nickname: typed.nickname,
            agent_role: typed.agent_role,
            model: typed.model,
            spawn,
        };
        (metadata, problem)
    }
}

/// The invocation of a tool.
#[derive(Debug, Clone, Default)]
pub(super) struct Invocation {
    pub(super) tool_name: Option<Box<str>>,
    pub(super) tool_namespace: Option<Box<str>>,
    pub(super) payload_type: Option<Box<str>>,
    /// Text of the arguments; `None` if they are not a string.
    pub(super) arguments: Option<Box<str>>,
    /// Whether the payload has the form of a dispatched call.
    pub(super) is_dispatch: bool,
}

impl Invocation {
    pub(super) fn read(value: &Value, is_v1: bool) -> Self {
        #[derive(Deserialize)]
        struct Dispatch {
            tool_name: Box<str>,
            tool_namespace: Option<Value>,
            payload: DispatchPayload,
        }
        #[derive(Deserialize)]
        struct DispatchPayload {
            r#type: Box<str>,
            arguments: Option<Box<str>>,
        }
        let text = |object: &Value, name: &str| object.get(name).and_then(Value::as_str).map(Into::into);
        match Dispatch::deserialize(value) {
            Ok(Dispatch { tool_name, tool_namespace, payload }) => Self {
                tool_name: Some(tool_name),
                is_dispatch: is_v1 || tool_namespace.as_ref().is_none_or(Value::is_string),
                tool_namespace: tool_namespace.as_ref().and_then(Value::as_str).map(Into::into),
                payload_type: Some(payload.r#type),
                arguments: payload.arguments,
            },
            Err(_) => {
                let payload = value.get("payload");
                Self {
                    tool_name: text(value, "tool_name"),
                    tool_namespace: text(value, "tool_namespace"),
                    payload_type: payload.and_then(|payload| text(payload, "type")),
                    arguments: payload.and_then(|payload| text(payload, "arguments")),
                    is_dispatch: false,
                }
            }
        }
    }

    /// Returns the string `message` of the arguments; calls that address an agent have it.
    pub(super) fn message(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Arguments {
            message: String,
        }
        serde_json::from_str(self.arguments.as_deref()?).ok().map(|Arguments { message }| message)
    }
}

/// Arguments of a write to a terminal.
#[derive(Debug)]
pub(super) struct StdinArguments {
    pub(super) process_id: String,
    pub(super) chars: String,
    pub(super) yield_time_ms: Option<u64>,
    pub(super) max_output_tokens: Option<u64>,
}

impl StdinArguments {
    pub(super) fn read(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Raw {
            session_id: Value,
            #[serde(default)]
            chars: String,
            yield_time_ms: Option<u64>,
            max_output_tokens: Option<u64>,
        }
        let raw: Raw = serde_json::from_str(text).ok()?;
        let process_id = match raw.session_id {
            Value::String(text) if !text.is_empty() => text,
            Value::Number(number) if number.as_str() == "-0" => "0".to_owned(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        Some(Self {
            process_id,
            chars: raw.chars,
            yield_time_ms: raw.yield_time_ms,
            max_output_tokens: raw.max_output_tokens,
        })
    }
}

/// Result of a tool call, as it was dispatched.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum DispatchResult {
    DirectResponse { response_item: Value },
    CodeModeResponse { value: Value },
    Error { error: Box<str> },
}

/// Result of a terminal operation for a code cell.
#[derive(Debug, Deserialize)]
pub(super) struct CodeModeOutput {
    pub(super) chunk_id: Option<Box<str>>,
    pub(super) exit_code: Option<i32>,
    pub(super) original_token_count: Option<u64>,
    pub(super) output: String,
}

/// Start of a command, or of a write to a command.
#[derive(Debug, Deserialize)]
pub(super) struct ExecBegin {
    pub(super) process_id: Option<String>,
    pub(super) command: Vec<Box<str>>,
    pub(super) cwd: Box<str>,
    pub(super) interaction_input: Option<Box<str>>,
}

/// End of a command, or of a write to a command.
#[derive(Debug, Deserialize)]
pub(super) struct ExecEnd {
    pub(super) process_id: Option<String>,
    #[serde(default)]
    pub(super) aggregated_output: Box<str>,
    pub(super) exit_code: i32,
}

/// What a tool call did to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ActivityKind {
    Started,
    Interacted,
    Interrupted,
    Completed,
}

/// Report of a tool call about another agent.
#[derive(Debug)]
pub(super) struct Activity {
    pub(super) agent_thread_id: String,
    pub(super) agent_path: String,
    pub(super) kind: ActivityKind,
}

impl Activity {
    pub(super) fn read(value: &Value) -> Option<Self> {
        #[derive(Deserialize)]
        struct Raw {
            #[serde(rename = "event_id")]
            _event_id: String,
            #[serde(rename = "occurred_at_ms", default)]
            _occurred_at_ms: i64,
            agent_thread_id: String,
            agent_path: String,
            kind: ActivityKind,
            #[serde(rename = "model")]
            _model: Option<String>,
            reasoning_effort: Option<String>,
        }
        let raw = Raw::deserialize(value).ok()?;
        if !is_agent_path(&raw.agent_path) || raw.reasoning_effort.is_some_and(|effort| effort.is_empty()) {
            return None;
        }
        Some(Self { agent_thread_id: uuid(&raw.agent_thread_id)?, agent_path: raw.agent_path, kind: raw.kind })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum AgentStatus {
    PendingInit,
    Running,
    Interrupted,
    Shutdown,
    NotFound,
    #[expect(dead_code, reason = "only its type is checked")]
    Completed(Option<String>),
    #[expect(dead_code, reason = "only its type is checked")]
    Errored(String),
}

/// Report of an older release about a message to an agent, or about closing one.
#[derive(Debug)]
pub(super) struct Collaboration {
    pub(super) sender_thread_id: String,
    pub(super) receiver_thread_id: Option<String>,
    pub(super) prompt: Option<String>,
}

impl Collaboration {
    /// Reads the begin of a message to an agent (`with_prompt`) or of closing one.
    pub(super) fn read_begin(value: &Value, with_prompt: bool) -> Option<Self> {
        #[derive(Deserialize)]
        struct Raw {
            #[serde(rename = "call_id")]
            _call_id: String,
            #[serde(rename = "started_at_ms", default)]
            _started_at_ms: i64,
            #[serde(rename = "completed_at_ms", default)]
            _completed_at_ms: i64,
            sender_thread_id: String,
            receiver_thread_id: String,
            #[serde(rename = "receiver_agent_nickname")]
            _receiver_agent_nickname: Option<String>,
            #[serde(rename = "receiver_agent_role")]
            _receiver_agent_role: Option<String>,
            prompt: Option<Value>,
        }
        let raw = Raw::deserialize(value).ok()?;
        let prompt = match raw.prompt {
            Some(Value::String(prompt)) if with_prompt => Some(prompt),
            _ if with_prompt => return None,
            _ => None,
        };
        Some(Self {
            sender_thread_id: uuid(&raw.sender_thread_id)?,
            receiver_thread_id: Some(uuid(&raw.receiver_thread_id)?),
            prompt,
        })
    }

    /// Reads the end of a message to an agent (`with_prompt`) or of closing one.
    pub(super) fn read_end(value: &Value, with_prompt: bool) -> Option<Self> {
        AgentStatus::deserialize(value.get("status")?).ok()?;
        Self::read_begin(value, with_prompt)
    }

    /// Reads the end of a spawn.
    pub(super) fn read_spawn_end(value: &Value) -> Option<Self> {
        #[derive(Deserialize)]
        struct Raw {
            #[serde(rename = "call_id")]
            _call_id: String,
            sender_thread_id: String,
            new_thread_id: Option<String>,
            prompt: String,
            #[serde(rename = "model")]
            _model: String,
            #[serde(rename = "started_at_ms", default)]
            _started_at_ms: i64,
            #[serde(rename = "completed_at_ms", default)]
            _completed_at_ms: i64,
            #[serde(rename = "new_agent_nickname")]
            _new_agent_nickname: Option<String>,
            #[serde(rename = "new_agent_role")]
            _new_agent_role: Option<String>,
            reasoning_effort: String,
            #[serde(rename = "status")]
            _status: AgentStatus,
        }
        let raw = Raw::deserialize(value).ok().filter(|raw| !raw.reasoning_effort.is_empty())?;
        let receiver_thread_id = match raw.new_thread_id {
            Some(id) => Some(uuid(&id)?),
            None => None,
        };
        Some(Self { sender_thread_id: uuid(&raw.sender_thread_id)?, receiver_thread_id, prompt: Some(raw.prompt) })
    }
}

/// A message between agents that an older release wrote as JSON in the text of an ordinary message.
#[derive(Debug)]
pub(super) struct InterAgentText {
    pub(super) author: String,
    pub(super) recipient: String,
    pub(super) text: String,
}

impl InterAgentText {
    pub(super) fn read(text: &str) -> Option<Self> {
        // The order of the fields matters: the peer also accepts an array of their values.
        #[derive(Deserialize)]
        struct Raw {
            #[serde(rename = "id")]
            _id: Option<String>,
            author: String,
            recipient: String,
            #[serde(default)]
            other_recipients: Vec<String>,
            content: String,
            encrypted_content: Option<String>,
            #[serde(rename = "internal_chat_message_metadata_passthrough")]
            _passthrough: Option<Passthrough>,
            #[serde(rename = "trigger_turn")]
            _trigger_turn: bool,
        }
        #[derive(Deserialize)]
        struct Passthrough {
            #[serde(rename = "turn_id", default)]
            _turn_id: Option<String>,
        }
        if !text.trim_ascii_start().starts_with(['{', '[']) {
            return None;
        }
        let raw: Raw = serde_json::from_str(text).ok()?;
        let are_paths = is_agent_path(&raw.author)
            && is_agent_path(&raw.recipient)
            && raw.other_recipients.iter().all(|path| is_agent_path(path));
        if !are_paths {
            return None;
        }
        let text = raw.encrypted_content.unwrap_or(raw.content);
        Some(Self { author: raw.author, recipient: raw.recipient, text })
    }
}

/// Returns a UUID in its hyphenated form, or `None` if the text is not a UUID that the peer accepts.
fn uuid(text: &str) -> Option<String> {
    // Newer releases of the parser accept the prefix `urn:` in any case; the peer's release does not.
    let is_prefix_odd = text.get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case("urn:") && prefix != "urn:");
    Uuid::try_parse(text).ok().filter(|_| !is_prefix_odd).map(|uuid| uuid.hyphenated().to_string())
}

/// Returns whether a text is a valid path of an agent.
fn is_agent_path(path: &str) -> bool {
    if path == "/root" || path == "/morpheus" {
        return true;
    }
    let Some(rest) = path.strip_prefix("/root/") else { return false };
    rest.split('/').all(|segment| {
        !segment.is_empty()
            && segment != "root"
            && segment.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_paths() {
        for path in ["/root", "/morpheus", "/root/a", "/root/a_1/b2"] {
            assert!(is_agent_path(path), "{path}");
        }
        for path in ["", "/", "root", "/root/", "/root/A", "/root/root", "/root/a/", "/root//a", "/root/a-b", "/roots"]
        {
            assert!(!is_agent_path(path), "{path}");
        }
    }

    #[test]
    fn spellings_of_a_uuid() {
        let usual = "00000000-0000-7000-8000-00000000000b";
        for text in [
            usual,
            "{00000000-0000-7000-8000-00000000000B}",
            "0000000000007000800000000000000b",
            "urn:uuid:00000000-0000-7000-8000-00000000000b",
        ] {
            assert_eq!(uuid(text).as_deref(), Some(usual));
        }
        assert_eq!(uuid("kid"), None);
    }

    #[test]
    fn stdin_arguments() {
        let read = |text| StdinArguments::read(text).map(|read| (read.process_id, read.chars, read.yield_time_ms));
        assert_eq!(read(r#"{"session_id":7.50}"#), Some(("7.50".into(), String::new(), None)));
        assert_eq!(
            read(r#"{"session_id":"a","chars":"x","yield_time_ms":3}"#),
            Some(("a".into(), "x".into(), Some(3)))
        );
        for text in ["{", "{}", r#"{"session_id":""}"#, r#"{"session_id":1,"chars":null}"#, r#"{"session_id":null}"#] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
