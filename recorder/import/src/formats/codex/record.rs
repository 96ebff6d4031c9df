//! Lines of a rollout.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::summary::Usage;

/// One line. Versions before 0.163 have neither `ordinal` nor `metadata`.
#[derive(Debug, Deserialize)]
pub(super) struct Line<'a> {
    #[serde(borrow)]
    pub(super) timestamp: Cow<'a, str>,
    pub(super) ordinal: Option<u64>,
    #[serde(rename = "type", borrow)]
    pub(super) tag: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) payload: &'a RawValue,
    pub(super) metadata: Option<Metadata>,
}

/// Where an item stands in the history.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Metadata {
    pub(super) history_sequence: Option<u64>,
    /// The newest item that the model saw when it made this one. Items of others have that of the request before.
    pub(super) sampled_through_sequence: Option<u64>,
}

/// `session_meta`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct SessionMeta {
    pub(super) id: String,
    pub(super) session_id: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) cli_version: Option<String>,
    pub(super) source: Option<Source>,
    pub(super) parent_thread_id: Option<String>,
    pub(super) agent_path: Option<String>,
    pub(super) agent_nickname: Option<String>,
    pub(super) agent_role: Option<String>,
    pub(super) model_provider: Option<String>,
    pub(super) base_instructions: Option<Instructions>,
    /// The name of `base_instructions` before 0.98.
    pub(super) instructions: Option<String>,
    pub(super) history_base: Option<HistoryBase>,
    pub(super) subagent_history_start_ordinal: Option<u64>,
    pub(super) multi_agent_version: Option<String>,
    /// How the file keeps the history. Versions that do not record bundles do not say it.
    pub(super) history_mode: Option<String>,
}

/// Who began a thread.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Source {
    Agent { subagent: SubAgent },
    Other(serde::de::IgnoredAny),
}

/// Which kind of child a thread is.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum SubAgent {
    Spawned { thread_spawn: ThreadSpawn },
    Named(String),
    Other(serde::de::IgnoredAny),
}

/// The spawn of a thread.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ThreadSpawn {
    pub(super) parent_thread_id: Option<String>,
    pub(super) agent_path: Option<String>,
    pub(super) agent_nickname: Option<String>,
    pub(super) agent_role: Option<String>,
}

/// The system prompt.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Instructions {
    Object { text: String },
    Text(String),
    Other(serde::de::IgnoredAny),
}

/// The part of another file with which a thread's history begins.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct HistoryBase {
    /// The last id in the name of the file: that of the thread, or of the segment that a revert began.
    pub(super) thread_id: String,
    pub(super) end_ordinal_exclusive: u64,
}

impl SessionMeta {
    /// Describes a thread whose first line is lost.
    pub(super) fn unknown(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            session_id: None,
            cwd: None,
            cli_version: None,
            source: None,
            parent_thread_id: None,
            agent_path: None,
            agent_nickname: None,
            agent_role: None,
            model_provider: None,
            base_instructions: None,
            instructions: None,
            history_base: None,
            subagent_history_start_ordinal: None,
            multi_agent_version: None,
            history_mode: None,
        }
    }

    pub(super) fn spawn(&self) -> Option<&ThreadSpawn> {
        match &self.source {
            Some(Source::Agent { subagent: SubAgent::Spawned { thread_spawn } }) => Some(thread_spawn),
            _ => None,
        }
    }

    /// Returns the kind of a child that no tool call spawned, such as `review`.
    pub(super) fn kind_of_child(&self) -> Option<&str> {
        match &self.source {
            Some(Source::Agent { subagent: SubAgent::Named(name) }) => Some(name),
            _ => None,
        }
    }

    pub(super) fn parent(&self) -> Option<&str> {
        let spawned_by = self.spawn().and_then(|spawn| spawn.parent_thread_id.as_deref());
        let session = || self.session_id.as_deref().filter(|session| *session != self.id);
        self.parent_thread_id.as_deref().or(spawned_by).or_else(session)
    }

    pub(super) fn is_child(&self) -> bool {
        self.parent().is_some() || matches!(self.source, Some(Source::Agent { .. }))
    }

    pub(super) fn base_text(&self) -> Option<&str> {
        match &self.base_instructions {
            Some(Instructions::Object { text } | Instructions::Text(text)) => Some(text),
            _ => self.instructions.as_deref(),
        }
    }
}

/// `event_msg`. Only the fields that some event needs; each event has a few of them.
#[derive(Debug, Deserialize)]
pub(super) struct EventMsg<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) tag: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) turn_id: Option<Cow<'a, str>>,
    /// Of `task_complete`: why the turn failed.
    #[serde(borrow)]
    pub(super) error: Option<TurnError<'a>>,
    #[serde(borrow)]
    pub(super) last_agent_message: Option<Cow<'a, str>>,
    /// Of `turn_aborted`.
    #[serde(borrow)]
    pub(super) reason: Option<Cow<'a, str>>,
    /// Of `token_count`.
    pub(super) info: Option<TokenInfo>,
    /// Of `item_completed`.
    #[serde(borrow)]
    pub(super) item: Option<&'a RawValue>,
    pub(super) started_at_ms: Option<i64>,
    pub(super) completed_at_ms: Option<i64>,
}

/// Why a turn failed.
#[derive(Debug, Deserialize)]
pub(super) struct TurnError<'a> {
    #[serde(borrow)]
    pub(super) message: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) codex_error_info: Option<&'a RawValue>,
}

impl TurnError<'_> {
    /// Returns the message, with the kind of the error if the message is missing.
    pub(super) fn text(&self) -> String {
        let kind = || self.codex_error_info.map(|info| info.get().trim_matches('"').to_owned());
        self.message.as_deref().map(str::to_owned).or_else(kind).unwrap_or_default()
    }
}

/// The tokens of a thread so far.
#[derive(Debug, Deserialize)]
pub(super) struct TokenInfo {
    pub(super) total_token_usage: Option<Tokens>,
    pub(super) last_token_usage: Option<Tokens>,
}

/// Tokens. Older versions lack some counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    input_tokens: u64,
    cached_input_tokens: u64,
    cache_write_input_tokens: u64,
    output_tokens: u64,
    reasoning_output_tokens: u64,
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        Self {
            input: tokens.input_tokens,
            cached_input: tokens.cached_input_tokens,
            cache_write_input: tokens.cache_write_input_tokens,
            output: tokens.output_tokens,
            reasoning_output: tokens.reasoning_output_tokens,
        }
    }
}

/// `token_usage_record`: the tokens of one request that was answered.
#[derive(Debug, Deserialize)]
pub(super) struct UsageRecord<'a> {
    #[serde(borrow)]
    pub(super) response_id: Option<Cow<'a, str>>,
    pub(super) usage: Option<Tokens>,
}

/// `turn_context`. Versions before 0.120 write one per attempt of a request, without an id.
#[derive(Debug, Deserialize)]
pub(super) struct TurnContext<'a> {
    #[serde(borrow)]
    pub(super) turn_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) model: Option<Cow<'a, str>>,
}

/// `compacted`.
#[derive(Debug, Deserialize)]
pub(super) struct Compacted<'a> {
    #[serde(borrow)]
    pub(super) message: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) replacement_history: Option<Vec<&'a RawValue>>,
    pub(super) replacement_history_metadata: Option<Vec<Option<Metadata>>>,
    #[serde(borrow)]
    pub(super) window_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) compaction_response_id: Option<Cow<'a, str>>,
}

/// `response_item`: an item of the history.
#[derive(Debug, Deserialize)]
pub(super) struct ResponseItem<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) tag: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) role: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) namespace: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    /// Of `local_shell_call`.
    #[serde(borrow)]
    pub(super) action: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) output: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) author: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(rename = "internal_chat_message_metadata_passthrough", borrow)]
    pub(super) about: Option<About<'a>>,
}

/// What the Codex CLI keeps about an item.
#[derive(Debug, Deserialize)]
pub(super) struct About<'a> {
    #[serde(borrow)]
    turn_id: Option<Cow<'a, str>>,
}

/// Beginning of the turn ids of messages that a client put into the history.
const INJECTED: &str = "auto-compact-";

impl ResponseItem<'_> {
    /// Returns whether the model made the item.
    pub(super) fn is_of_model(&self) -> bool {
        match &*self.tag {
            "message" => self.role.as_deref() == Some("assistant"),
            "reasoning" => true,
            tag => tag.ends_with("_call"),
        }
    }

    /// Returns whether a client put the message into the history.
    pub(super) fn is_injected(&self) -> bool {
        let turn = self.about.as_ref().and_then(|about| about.turn_id.as_deref());
        self.tag == "message" && turn.is_some_and(|turn| turn.starts_with(INJECTED))
    }

    pub(super) fn is_call(&self) -> bool {
        matches!(&*self.tag, "function_call" | "custom_tool_call" | "local_shell_call") && self.call_id.is_some()
    }

    pub(super) fn is_output(&self) -> bool {
        self.tag.ends_with("_call_output") && self.call_id.is_some()
    }
}

/// An item of the runtime, in `item_completed`.
#[derive(Debug, Deserialize)]
pub(super) struct RuntimeItem<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) tag: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) status: Option<Cow<'a, str>>,
    // Of a command.
    #[serde(borrow, default)]
    pub(super) command: Vec<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) process_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) source: Option<Cow<'a, str>>,
    pub(super) exit_code: Option<i32>,
    #[serde(borrow)]
    pub(super) aggregated_output: Option<Cow<'a, str>>,
    // Of a call of an MCP server or of an agent.
    #[serde(borrow)]
    pub(super) server: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) tool: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) agent_thread_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) agent_path: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) reasoning_effort: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) prompt: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) receiver_thread_ids: Vec<Cow<'a, str>>,
    pub(super) agents_states: Option<serde_json::Value>,
}

/// Returns the text of a JSON value: of a string itself, of a list of parts their texts, of anything else its JSON.
pub(super) fn text_of(value: &RawValue) -> Cow<'_, str> {
    #[derive(Deserialize)]
    struct Part<'a> {
        #[serde(borrow)]
        text: Option<Cow<'a, str>>,
    }
    let json = value.get();
    if let Ok(text) = serde_json::from_str::<Text<'_>>(json) {
        return text.0;
    }
    if let Ok(parts) = serde_json::from_str::<Vec<Part<'_>>>(json) {
        let texts: Vec<_> = parts.iter().filter_map(|part| part.text.as_deref()).collect();
        return texts.join("\n").into();
    }
    json.into()
}

/// A string that is borrowed if it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
