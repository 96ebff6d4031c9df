//! Forms of the payloads of threads, tools, terminals and agents.
//!
//! Ingest parses the members that a form has, and reads the form from them. So the last value of a repeated key counts,
//! unknown keys are ignored, and an object may also be an array of its values, as the peer's decoder accepts it.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use trace_recorder::format::Text;
use uuid::Uuid;

use super::json::{self, Checked};
use super::limits::MAX_VALUES;
use super::plain;
use super::problem::PayloadProblem;
use crate::model::TerminalResult;

/// The metadata of a thread, as far as the rules use it.
#[derive(Debug, Default)]
pub(crate) struct ThreadMetadata {
    pub(crate) agent_path: Option<String>,
    pub(crate) task_name: Option<String>,
    pub(crate) nickname: Option<String>,
    pub(crate) agent_role: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) spawn: Option<SpawnSource>,
    /// What is wrong with the payload; the other fields have what could be read.
    pub(crate) problem: Option<PayloadProblem>,
}

/// Who spawned a thread.
#[derive(Debug)]
pub(crate) struct SpawnSource {
    pub(crate) parent_thread_id: String,
    pub(crate) agent_path: Option<String>,
    pub(crate) task_name: Option<String>,
    pub(crate) agent_role: Option<String>,
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
    pub(super) fn read(payload: &[u8]) -> Result<Self, PayloadProblem> {
        let value =
            &json::select(payload, ["agent_path", "task_name", "nickname", "agent_role", "model", "session_source"])?;
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
        Ok(Self {
            agent_path: typed.agent_path,
            task_name: typed.task_name,
            nickname: typed.nickname,
            agent_role: typed.agent_role,
            model: typed.model,
            spawn,
            problem,
        })
    }
}

/// What the configuration of a resumed session says about its thread.
#[derive(Debug)]
pub(crate) struct SessionConfiguration {
    pub(crate) thread_id: Option<Box<str>>,
    pub(crate) parent_thread_id: Option<Box<str>>,
    pub(crate) model: Option<Box<str>>,
}

impl SessionConfiguration {
    pub(super) fn read(payload: &[u8]) -> Result<Self, PayloadProblem> {
        let value = json::select(payload, ["thread_id", "parent_thread_id", "model"])?;
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(Into::into);
        Ok(Self { thread_id: text("thread_id"), parent_thread_id: text("parent_thread_id"), model: text("model") })
    }
}

/// The invocation of a tool.
#[derive(Debug, Clone, Default)]
pub(crate) struct Invocation {
    pub(crate) tool_name: Option<Box<str>>,
    pub(crate) tool_namespace: Option<Box<str>>,
    pub(crate) payload_type: Option<Box<str>>,
    /// Text of the arguments; `None` if they are not a string.
    pub(crate) arguments: Option<Box<str>>,
    /// Whether the payload has the form of a dispatched call.
    pub(crate) is_dispatch: bool,
}

impl Invocation {
    pub(super) fn read(payload: &[u8], is_v1: bool) -> Result<Self, PayloadProblem> {
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
        if let Some(invocation) = Self::read_plain(payload) {
            return Ok(invocation);
        }
        let value = &json::select(payload, ["tool_name", "tool_namespace", "payload"])?;
        let text = |object: &Value, name: &str| object.get(name).and_then(Value::as_str).map(Into::into);
        Ok(match Dispatch::deserialize(value) {
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
        })
    }

    /// Reads a dispatched call of a function without building JSON values. Returns `None` for one with any other member or value.
    fn read_plain(payload: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Dispatch<'a> {
            #[serde(borrow)]
            tool_name: Text<'a>,
            #[serde(borrow, default)]
            tool_namespace: Option<Text<'a>>,
            #[serde(borrow)]
            payload: Function<'a>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Function<'a> {
            #[serde(borrow)]
            r#type: Text<'a>,
            #[serde(borrow)]
            arguments: &'a RawValue,
        }
        if !payload.starts_with(b"{") {
            return None;
        }
        let Dispatch { tool_name, tool_namespace, payload } = serde_json::from_slice(payload).ok()?;
        let arguments = plain::string(payload.arguments)?;
        Some(Self {
            tool_name: Some(tool_name.as_str().into()),
            tool_namespace: tool_namespace.map(|namespace| namespace.as_str().into()),
            payload_type: Some(payload.r#type.as_str().into()),
            arguments: Some(arguments),
            is_dispatch: true,
        })
    }

    /// Returns the string `message` of the arguments; calls that address an agent have it.
    pub(crate) fn message(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Arguments {
            message: String,
        }
        serde_json::from_str(self.arguments.as_deref()?).ok().map(|Arguments { message }| message)
    }

    /// Returns the string `cell_id` of the arguments; calls that wait for a code cell have it.
    pub(crate) fn cell_id(&self) -> Option<String> {
        let arguments = json::select(self.arguments.as_deref()?.as_bytes(), ["cell_id"]).ok()?;
        arguments.get("cell_id")?.as_str().map(str::to_owned)
    }
}

/// Arguments of a write to a terminal.
#[derive(Debug)]
pub(crate) struct StdinArguments {
    pub(crate) process_id: String,
    pub(crate) chars: String,
    pub(crate) yield_time_ms: Option<u64>,
    pub(crate) max_output_tokens: Option<u64>,
}

impl StdinArguments {
    pub(crate) fn read(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Raw<'a> {
            #[serde(borrow)]
            session_id: &'a RawValue,
            #[serde(default)]
            chars: String,
            yield_time_ms: Option<u64>,
            max_output_tokens: Option<u64>,
        }
        let raw: Raw<'_> = serde_json::from_str(text).ok()?;
        let process_id = match json::parse(raw.session_id.get().as_bytes()).ok()? {
            Value::String(text) if !text.is_empty() => text,
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

/// Report of a tool's runtime when it starts.
#[derive(Debug)]
pub(crate) struct RuntimeStart {
    /// The start of a command, or of a write to a command.
    pub(crate) command: Option<CommandStart>,
    /// The report of an older release about another agent.
    pub(crate) agent: Option<Collaboration>,
}

impl RuntimeStart {
    pub(super) fn read(payload: &[u8]) -> Result<Self, PayloadProblem> {
        if let Some(start) = PlainCommand::read(payload).and_then(PlainCommand::start) {
            return Ok(Self { command: Some(start), agent: None });
        }
        Self::read_any(payload)
    }

    /// Reads a report of any form.
    fn read_any(payload: &[u8]) -> Result<Self, PayloadProblem> {
        let value = json::select(
            payload,
            [
                "process_id",
                "command",
                "cwd",
                "interaction_input",
                "call_id",
                "started_at_ms",
                "completed_at_ms",
                "sender_thread_id",
                "receiver_thread_id",
                "receiver_agent_nickname",
                "receiver_agent_role",
                "prompt",
            ],
        )?;
        let may_have = |name| may_have(&value, name);
        Ok(Self {
            command: may_have("command").then(|| CommandStart::deserialize(&value).ok()).flatten(),
            agent: may_have("sender_thread_id").then(|| Collaboration::read(&value)).flatten(),
        })
    }
}

/// Start of a command, or of a write to a command.
#[derive(Debug, Deserialize)]
pub(crate) struct CommandStart {
    pub(crate) process_id: Option<String>,
    pub(crate) command: Vec<Box<str>>,
    pub(crate) cwd: Box<str>,
    pub(crate) interaction_input: Option<Box<str>>,
}

/// Report of a tool's runtime when it ends, or the result of a tool call.
#[derive(Debug)]
pub(crate) struct RuntimeEnd {
    pub(crate) terminal: Option<TerminalEnd>,
    pub(crate) agent: AgentReport,
}

/// What the end of a tool's runtime says about another agent.
#[derive(Debug)]
pub(crate) enum AgentReport {
    /// It has the form of today; `None` if it cannot be read.
    Activity(Option<Activity>),
    /// It does not have that form. It may have that of an older release.
    Older {
        /// The report read as the end of a spawn.
        spawn: Option<Collaboration>,
        /// The report read as the end of a message, or of closing an agent.
        other: Option<Collaboration>,
    },
}

impl RuntimeEnd {
    pub(super) fn read(payload: &[u8]) -> Result<Self, PayloadProblem> {
        if let Some(end) = PlainCommand::read(payload).and_then(PlainCommand::end) {
            return Ok(Self { terminal: Some(end), agent: AgentReport::Older { spawn: None, other: None } });
        }
        Self::read_any(payload)
    }

    /// Reads a report of any form.
    fn read_any(payload: &[u8]) -> Result<Self, PayloadProblem> {
        let value = json::select(
            payload,
            [
                "process_id",
                "aggregated_output",
                "exit_code",
                "type",
                "response_item",
                "value",
                "error",
                "event_id",
                "occurred_at_ms",
                "agent_thread_id",
                "agent_path",
                "kind",
                "model",
                "reasoning_effort",
                "call_id",
                "started_at_ms",
                "completed_at_ms",
                "sender_thread_id",
                "receiver_thread_id",
                "receiver_agent_nickname",
                "receiver_agent_role",
                "prompt",
                "status",
                "new_thread_id",
                "new_agent_nickname",
                "new_agent_role",
            ],
        )?;
        let agent = if value.get("agent_thread_id").is_some() {
            AgentReport::Activity(Activity::read(&value))
        } else if may_have(&value, "sender_thread_id") {
            AgentReport::Older { spawn: Collaboration::read_spawn_end(&value), other: Collaboration::read_end(&value) }
        } else {
            AgentReport::Older { spawn: None, other: None }
        };
        Ok(Self { terminal: TerminalEnd::read(&value), agent })
    }
}

/// A report about a command with its usual members, which is read without building JSON values. A report with any other member is left
/// to the longer way.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainCommand<'a> {
    #[serde(borrow)]
    process_id: Option<Text<'a>>,
    #[serde(borrow)]
    command: Vec<Text<'a>>,
    #[serde(borrow)]
    cwd: Text<'a>,
    #[serde(borrow, default)]
    interaction_input: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "plain::present")]
    aggregated_output: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "some_number")]
    exit_code: Option<i32>,
    // No rule reads the others.
    #[serde(rename = "call_id")]
    _call_id: Option<Checked>,
    #[serde(rename = "turn_id")]
    _turn_id: Option<Checked>,
    #[serde(rename = "started_at_ms")]
    _started_at_ms: Option<Checked>,
    #[serde(rename = "completed_at_ms")]
    _completed_at_ms: Option<Checked>,
    #[serde(rename = "parsed_cmd")]
    _parsed_cmd: Option<Checked>,
    #[serde(rename = "source")]
    _source: Option<Checked>,
    #[serde(rename = "stdout")]
    _stdout: Option<Checked>,
    #[serde(rename = "stderr")]
    _stderr: Option<Checked>,
    #[serde(rename = "formatted_output")]
    _formatted_output: Option<Checked>,
    #[serde(rename = "duration")]
    _duration: Option<Checked>,
    #[serde(rename = "status")]
    _status: Option<Checked>,
}

/// Reads a member that is a number, also if a report without it is read.
fn some_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i32>, D::Error> {
    i32::deserialize(deserializer).map(Some)
}

impl<'a> PlainCommand<'a> {
    fn read(payload: &'a [u8]) -> Option<Self> {
        // A derived form may also be an array.
        if payload.len() > MAX_VALUES || payload.first() != Some(&b'{') {
            return None;
        }
        serde_json::from_slice(payload).ok()
    }

    /// Returns what the start of a command says.
    fn start(self) -> Option<CommandStart> {
        let owned = |text: Text<'_>| Box::from(text.as_str());
        // No rule reads the output here, but it must be valid.
        if self.aggregated_output.is_some_and(|output| plain::string(output).is_none()) {
            return None;
        }
        Some(CommandStart {
            process_id: self.process_id.map(|id| id.as_str().to_owned()),
            command: self.command.into_iter().map(owned).collect(),
            cwd: owned(self.cwd),
            interaction_input: self.interaction_input.map(owned),
        })
    }

    /// Returns what the end of a command says.
    fn end(self) -> Option<TerminalEnd> {
        let stdout = match self.aggregated_output {
            Some(output) => plain::string(output)?,
            None => Box::default(),
        };
        let exit_code = Some(self.exit_code?.into());
        Some(TerminalEnd {
            result: TerminalResult { exit_code, stdout, ..TerminalResult::default() },
            process_id: self.process_id.map(|id| id.as_str().to_owned()),
            is_dispatch: false,
        })
    }
}

/// Returns whether a value can be an object with this member. An array of the values of members also can.
fn may_have(value: &Value, member: &str) -> bool {
    value.as_object().is_none_or(|object| object.contains_key(member))
}

/// End of an operation on a terminal.
#[derive(Debug)]
pub(crate) struct TerminalEnd {
    pub(crate) result: TerminalResult,
    pub(crate) process_id: Option<String>,
    /// Whether the payload has the form of a tool's result, in which only a write to a terminal can end.
    pub(crate) is_dispatch: bool,
}

impl TerminalEnd {
    fn read(value: &Value) -> Option<Self> {
        let command = may_have(value, "exit_code").then(|| Self::read_command(value)).flatten();
        command.or_else(|| may_have(value, "type").then(|| Self::read_dispatch(value)).flatten())
    }

    /// Reads the end of a command, or of a write to a command.
    fn read_command(value: &Value) -> Option<Self> {
        #[derive(Deserialize)]
        struct Raw {
            process_id: Option<String>,
            #[serde(default)]
            aggregated_output: Box<str>,
            exit_code: i32,
        }
        let Raw { process_id, aggregated_output, exit_code } = Raw::deserialize(value).ok()?;
        let result = TerminalResult {
            exit_code: Some(exit_code.into()),
            stdout: aggregated_output,
            ..TerminalResult::default()
        };
        Some(Self { result, process_id, is_dispatch: false })
    }

    /// Reads the result of a tool call as the end of a write to a terminal.
    fn read_dispatch(value: &Value) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        enum Raw {
            DirectResponse { response_item: Value },
            CodeModeResponse { value: Value },
            Error { error: Box<str> },
        }
        #[derive(Deserialize)]
        struct CodeModeOutput {
            chunk_id: Option<Box<str>>,
            exit_code: Option<i32>,
            original_token_count: Option<u64>,
            output: String,
        }
        let result = match Raw::deserialize(value).ok()? {
            Raw::DirectResponse { response_item } => {
                shown(response_item.get("output").and_then(text_of).unwrap_or_else(|| response_item.to_string()))
            }
            Raw::CodeModeResponse { value } => match CodeModeOutput::deserialize(&value) {
                Ok(output) => TerminalResult {
                    exit_code: output.exit_code.map(Into::into),
                    original_token_count: output.original_token_count,
                    chunk_id: output.chunk_id,
                    ..shown(output.output)
                },
                Err(_) => shown(text_of(&value).unwrap_or_else(|| value.to_string())),
            },
            Raw::Error { error } => {
                TerminalResult { stderr: error.clone(), formatted_output: Some(error), ..TerminalResult::default() }
            }
        };
        Some(Self { result, process_id: None, is_dispatch: true })
    }
}

fn shown(output: String) -> TerminalResult {
    let output: Box<str> = output.into();
    TerminalResult { formatted_output: Some(output.clone()), stdout: output, ..TerminalResult::default() }
}

/// Returns the text of a value that a tool returned.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(entries) => {
            let texts: Vec<&str> =
                entries.iter().filter_map(|entry| entry.get("text").and_then(Value::as_str)).collect();
            Some(texts.join("\n")).filter(|text| !text.is_empty())
        }
        other => Some(other.to_string()),
    }
}

/// What a tool call did to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ActivityKind {
    Started,
    Interacted,
    Interrupted,
    Completed,
}

/// Report of a tool call about another agent.
#[derive(Debug)]
pub(crate) struct Activity {
    pub(crate) agent_thread_id: String,
    pub(crate) agent_path: String,
    pub(crate) kind: ActivityKind,
}

impl Activity {
    fn read(value: &Value) -> Option<Self> {
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
pub(crate) struct Collaboration {
    pub(crate) sender_thread_id: String,
    pub(crate) receiver_thread_id: Option<String>,
    /// The message; `None` if the payload has none, or if it is no text.
    pub(crate) prompt: Option<String>,
}

impl Collaboration {
    /// Reads the begin of a message to an agent, which has a prompt, or of closing one.
    fn read(value: &Value) -> Option<Self> {
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
            Some(Value::String(prompt)) => Some(prompt),
            _ => None,
        };
        Some(Self {
            sender_thread_id: uuid(&raw.sender_thread_id)?,
            receiver_thread_id: Some(uuid(&raw.receiver_thread_id)?),
            prompt,
        })
    }

    /// Reads the end of a message to an agent, or of closing one.
    fn read_end(value: &Value) -> Option<Self> {
        AgentStatus::deserialize(value.get("status")?).ok()?;
        Self::read(value)
    }

    /// Reads the end of a spawn.
    fn read_spawn_end(value: &Value) -> Option<Self> {
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
pub(crate) struct InterAgentText {
    pub(crate) author: String,
    pub(crate) recipient: String,
    pub(crate) text: String,
}

impl InterAgentText {
    pub(crate) fn read(text: &str) -> Option<Self> {
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
    fn reports_about_commands_are_read_alike_with_and_without_values() {
        let begin = r#""call_id":"c","process_id":"7","turn_id":"t","started_at_ms":1,"command":["sh","-c","echo \u00e9\n"],"cwd":"/","#;
        let rest = r#""parsed_cmd":[{"type":"unknown","cmd":"x"}],"source":"s""#;
        let end =
            r#""completed_at_ms":2,"aggregated_output":"a\n\u001b","exit_code":-1,"duration":{"secs":0,"nanos":5}"#;
        let usual = [format!("{{{begin}{rest}}}"), format!("{{{begin}{rest},{end},\"status\":\"completed\"}}")];
        assert!(PlainCommand::read(usual[0].as_bytes()).and_then(PlainCommand::start).is_some());
        assert!(PlainCommand::read(usual[1].as_bytes()).and_then(PlainCommand::end).is_some());
        let odd = [
            r#""exit_code":null"#,
            r#""exit_code":-0"#,
            r#""exit_code":1.0"#,
            r#""exit_code":2147483648"#,
            r#""exit_code":1,"aggregated_output":null"#,
            r#""exit_code":1,"aggregated_output":"\ud800""#,
            r#""exit_code":1,"aggregated_output":7"#,
            r#""exit_code":1,"exit_code":2"#,
            r#""exit_code":1,"process_id":null"#,
            r#""exit_code":1,"status":"\ud800""#,
            r#""exit_code":1,"status":{"$serde_json::private::Number":"x"}"#,
            r#""exit_code":1,"interaction_input":"y""#,
            r#""exit_code":1,"interaction_input":null"#,
            r#""exit_code":1,"duration":[[1e999,-0]]"#,
            r#""exit_code":1,"other":1"#,
            r#""exit_code":1,"type":"error","error":"e""#,
            r#""exit_code":1,"sender_thread_id":"s","status":"running""#,
            r#""exit_code":1,"agent_thread_id":"s""#,
            r#""exit_code":1,"command":"ls""#,
            r#""exit_code":1,"cwd":null"#,
            r#""exit_code":1,"call_id":}"#,
        ];
        let all = odd.iter().flat_map(|odd| [format!("{{{begin}{odd}}}"), format!("{{{odd},{rest}}}")]);
        let cut = (0..usual[1].len()).map(|end| usual[1][..end].to_owned());
        let arrays = [r#"["7",["ls"],"/",null]"#, r#"["7","out",3]"#, " {}", "{}", ""].map(str::to_owned);
        for text in usual.clone().into_iter().chain(all).chain(cut).chain(arrays) {
            let payload = text.as_bytes();
            let told = |read: Result<RuntimeStart, _>| {
                format!("{:?}", read.map_err(|problem: PayloadProblem| problem.to_string()))
            };
            assert_eq!(told(RuntimeStart::read(payload)), told(RuntimeStart::read_any(payload)), "{text}");
            let told = |read: Result<RuntimeEnd, _>| {
                format!("{:?}", read.map_err(|problem: PayloadProblem| problem.to_string()))
            };
            assert_eq!(told(RuntimeEnd::read(payload)), told(RuntimeEnd::read_any(payload)), "{text}");
        }
    }

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
