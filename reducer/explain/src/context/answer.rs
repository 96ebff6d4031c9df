//! The answers, as values that serialize. What is not known is `null`.

use serde::Serialize;

use crate::object::ObjectRef;

/// What was asked for.
#[derive(Debug, Serialize)]
#[serde(tag = "about", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "there is one of it")]
pub enum Context {
    /// One request.
    Request(Request),
    /// One compaction.
    Compaction(Compacted),
}

/// What the model saw in one request.
#[derive(Debug, Serialize)]
pub struct Request {
    /// The inference call.
    pub inference_call_id: String,
    /// Its thread.
    pub thread_id: String,
    /// Path of the agent.
    pub agent_path: String,
    /// Its turn.
    pub turn_id: String,
    /// Its first event.
    pub seq: u64,
    /// Which request of its thread it is, from 1.
    pub number: usize,
    /// How many requests its thread has.
    pub of: usize,
    /// Model that was asked for.
    pub model: String,
    /// Provider that was asked.
    pub provider_name: String,
    /// How the call ended.
    pub status: &'static str,
    /// Error of a call that failed.
    pub error: Option<String>,
    /// Tokens of the whole.
    pub tokens: Tokens,
    /// By origin, largest first; what stands beside the items too.
    pub sums: Vec<Sum>,
    /// The items, in the order in which the model saw them.
    pub items: Vec<Item>,
    /// What stands beside the items; nothing if the payload cannot be read.
    pub beside: Option<Beside>,
    /// Against the request before, if that was asked for and there is one.
    pub diff: Option<Diff>,
    /// What is missing for a full answer, in sentences.
    pub missing: Vec<String>,
}

/// Tokens of a whole request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Tokens that the model read.
    pub input: u64,
    /// Whether the provider reported that number.
    pub basis: Basis,
    /// Of these, read from a cache.
    pub cached_input: Option<u64>,
    /// Tokens that the model wrote.
    pub output: Option<u64>,
}

/// Where a number of tokens comes from. The tokens of a part of a request are always estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The provider reported it.
    Recorded,
    /// It is estimated from bytes.
    Estimated,
}

/// What one origin brought.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sum {
    /// Name of an [`OriginKind`], or `base_instructions`, `tools` or `response_format` for what stands beside the items.
    pub what: &'static str,
    /// Number of items or tools.
    pub count: usize,
    /// Tokens, estimated.
    pub tokens: u64,
    /// Share of the tokens of the whole, from 0 to 1.
    pub share: f64,
}

/// One item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item {
    /// Place in the request, from 0.
    pub index: usize,
    /// Id in `state.json`.
    pub item_id: String,
    /// Id by which the provider knows it.
    pub responses_item_id: Option<String>,
    /// Whose words it holds.
    pub role: &'static str,
    /// For whom it is meant.
    pub channel: Option<&'static str>,
    /// What it is.
    pub kind: &'static str,
    /// Name of the tool that a call calls, or whose output it is.
    pub name: Option<String>,
    /// Id of the call that it makes or answers.
    pub call_id: Option<String>,
    /// Its text.
    pub text: String,
    /// Bytes of the whole text.
    pub text_bytes: u64,
    /// Whether `text` is only the beginning.
    pub is_cut: bool,
    /// Who brought it.
    pub origin: Origin,
    /// The first request that showed it.
    pub since: Option<Since>,
    /// Tokens, estimated.
    pub tokens: u64,
    /// Share of the tokens of the whole request, or of the history's items before or after a compaction, from 0 to 1.
    pub share: f64,
}

/// The first request that showed an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Since {
    /// The inference call.
    pub inference_call_id: String,
    /// Its first event.
    pub seq: u64,
    /// Which request of the thread it is, from 1.
    pub number: usize,
}

/// Who brought an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// What kind of origin it is.
    pub kind: OriginKind,
    /// The inference call, tool call, code cell, compaction or thread that it came from.
    pub object: Option<ObjectRef>,
    /// Path of the agent that it came from, if that is another one.
    pub agent_path: Option<String>,
    /// Which request of the thread brought it, from 1, if the model did.
    pub number: Option<usize>,
    /// Id of the last compaction that kept it. The other fields tell who brought it before.
    pub kept_by: Option<String>,
}

/// What kind of origin an item has. The names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// The user.
    UserInput,
    /// The application: instructions and descriptions of the environment.
    Instructions,
    /// A response of the model in this thread.
    ModelOutput,
    /// A tool that ran in this thread.
    ToolOutput,
    /// Another agent.
    AgentMessage,
    /// A compaction wrote it.
    Compaction,
    /// The history of another thread that this one was forked from.
    Inherited,
    /// A session before this one: the thread began with it, and nothing in this bundle made it.
    EarlierSession,
    /// Nothing tells.
    Unknown,
}

impl OriginKind {
    /// Returns the name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UserInput => "user_input",
            Self::Instructions => "instructions",
            Self::ModelOutput => "model_output",
            Self::ToolOutput => "tool_output",
            Self::AgentMessage => "agent_message",
            Self::Compaction => "compaction",
            Self::Inherited => "inherited",
            Self::EarlierSession => "earlier_session",
            Self::Unknown => "unknown",
        }
    }
}

/// What stands beside the items of a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Beside {
    /// The base instructions, if they are not an item.
    pub instructions: Option<Text>,
    /// The tools that the model was offered.
    pub tools: Vec<Tool>,
    /// The form that the answer has to have, if it has to have one.
    pub response_format: Option<Text>,
    /// Everything else. It takes no tokens.
    pub parameters: Vec<Parameter>,
}

/// A text that stands beside the items.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Bytes of the whole text.
    pub bytes: u64,
    /// Whether `text` is only the beginning.
    pub is_cut: bool,
    /// Tokens, estimated.
    pub tokens: u64,
    /// Share of the tokens of the whole, from 0 to 1.
    pub share: f64,
}

/// A tool that the model was offered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tool {
    /// Its name, with its namespace if it has one.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Bytes of its description, as JSON.
    pub bytes: u64,
    /// Tokens, estimated.
    pub tokens: u64,
    /// Share of the tokens of the whole, from 0 to 1.
    pub share: f64,
}

/// A parameter of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The beginning of its value, as JSON.
    pub value: String,
    /// Bytes of the value, as JSON.
    pub bytes: u64,
}

/// A request against the one before it in its thread.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diff {
    /// The call before.
    pub inference_call_id: String,
    /// Its first event.
    pub seq: u64,
    /// Number of items that both have.
    pub kept: usize,
    /// Of these, those that stand in another order.
    pub moved: usize,
    /// Indices of the items that are new.
    pub added: Vec<usize>,
    /// Items of the request before that are gone, with their indices there.
    pub removed: Vec<Item>,
    /// Items whose content changed under their id or call id.
    pub changed: Vec<Changed>,
    /// Names of tools that are new, gone, or described differently.
    pub tools_added: Vec<String>,
    /// See `tools_added`.
    pub tools_removed: Vec<String>,
    /// See `tools_added`.
    pub tools_changed: Vec<String>,
    /// Whether the base instructions are others.
    pub instructions_changed: bool,
    /// Names of parameters that are new, gone or have another value.
    pub parameters_changed: Vec<String>,
    /// Compactions that were installed between the two.
    pub compactions: Vec<String>,
    /// Whether most items are gone although no compaction was recorded: the client has summarised or rewritten the history.
    pub is_rewritten: bool,
    /// Tokens of the request before.
    pub tokens_before: Tokens,
}

/// An item whose content changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Place in the request before.
    pub before: usize,
    /// Place in this request.
    pub after: usize,
    /// Id in `state.json` of the item before.
    pub item_id_before: String,
    /// Id in `state.json` of the item now.
    pub item_id: String,
}

/// What a compaction did.
#[derive(Debug, Serialize)]
pub struct Compacted {
    /// The compaction.
    pub compaction_id: String,
    /// Its thread.
    pub thread_id: String,
    /// Path of the agent.
    pub agent_path: String,
    /// Its turn.
    pub turn_id: String,
    /// The event that installed it; none if it never was.
    pub installed_seq: Option<u64>,
    /// Requests that led to it.
    pub requests: Vec<CompactionRequest>,
    /// Number of items before.
    pub items_before: usize,
    /// Number of items after.
    pub items_after: usize,
    /// Tokens of the history before.
    pub tokens_before: Size,
    /// Tokens of the history after.
    pub tokens_after: Size,
    /// Items that stand for what is gone.
    pub summaries: Vec<Summary>,
    /// Items of the history after that were there before, with their places after.
    pub kept: Vec<Item>,
    /// Items of the history before that are gone, with their places before.
    pub removed: Vec<Item>,
    /// Items of the history after that are new and no summaries, with their places after.
    pub added: Vec<Item>,
}

/// A request for a compaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CompactionRequest {
    /// Its id.
    pub compaction_request_id: String,
    /// Model that was asked for.
    pub model: String,
    /// How it ended.
    pub status: &'static str,
    /// Error of one that failed.
    pub error: Option<String>,
    /// How long it took.
    pub duration_ms: Option<i64>,
}

/// Size of a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Tokens.
    pub tokens: u64,
    /// Whether the provider reported that number, for the whole request.
    pub basis: Basis,
    /// The call that it was reported for.
    pub inference_call_id: Option<String>,
    /// Tokens of the items alone, estimated in the same way before and after.
    pub estimated_items: u64,
}

/// An item that stands for earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Id in `state.json`.
    pub item_id: String,
    /// The text, unless it is encrypted.
    pub text: Option<String>,
    /// Whether only the provider can read it.
    pub is_encrypted: bool,
    /// Bytes of the text, encrypted or not.
    pub bytes: u64,
}
