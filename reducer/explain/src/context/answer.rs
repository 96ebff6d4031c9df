//! The answers as data structures. In JSON, an unknown value is `null`.

use serde::Serialize;

use crate::object::ObjectRef;

/// A context: what the model read in one request, or what one compaction did.
#[derive(Debug, Serialize)]
#[serde(tag = "about", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "there is only one value per answer")]
pub enum Context {
    /// One request.
    Request(Request),
    /// One compaction.
    Compaction(Compacted),
}

/// What the model read in one request.
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
    /// Sequence number of the event that started it.
    pub seq: u64,
    /// Number of the request within its thread, from 1.
    pub number: usize,
    /// Number of requests of the thread.
    pub of: usize,
    /// Model that was requested.
    pub model: String,
    /// Provider that was called.
    pub provider_name: String,
    /// How the call ended.
    pub status: &'static str,
    /// Error of a failed call.
    pub error: Option<String>,
    /// Token counts of the whole request.
    pub tokens: Tokens,
    /// Sums by origin, largest first, including instructions and tools.
    pub sums: Vec<Sum>,
    /// The items in the order in which the model read them.
    pub items: Vec<Item>,
    /// What the request contains besides items; `None` if its payload cannot be read.
    pub beside: Option<Beside>,
    /// Comparison with the request before; `None` if it was not asked for or there is none.
    pub diff: Option<Diff>,
    /// Sentences about what is missing in the answer.
    pub missing: Vec<String>,
}

/// Token counts of a whole request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Tokens that the model read.
    pub input: u64,
    /// Whether the provider reported the number of input tokens.
    pub basis: Basis,
    /// Input tokens that were read from a cache.
    pub cached_input: Option<u64>,
    /// Tokens that the model wrote.
    pub output: Option<u64>,
}

/// Where a token count comes from. The counts of parts of a request are always estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The provider reported it.
    Recorded,
    /// It is estimated from bytes.
    Estimated,
}

/// Sum over everything of one origin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sum {
    /// Name of an [`OriginKind`], or `base_instructions`, `tools` or `response_format` for what is not an item.
    pub what: &'static str,
    /// Number of items or tools.
    pub count: usize,
    /// Estimated tokens.
    pub tokens: u64,
    /// Share of the tokens of the whole request, from 0 to 1.
    pub share: f64,
}

/// One item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item {
    /// Index in the list, from 0.
    pub index: usize,
    /// Id in `state.json`.
    pub item_id: String,
    /// Id that the provider gave the item.
    pub responses_item_id: Option<String>,
    /// Author of the item.
    pub role: &'static str,
    /// Audience of the item.
    pub channel: Option<&'static str>,
    /// Kind of the item.
    pub kind: &'static str,
    /// Name of the tool of a call or an output.
    pub name: Option<String>,
    /// Id of the call that the item makes, or whose output it is.
    pub call_id: Option<String>,
    /// Its text.
    pub text: String,
    /// Size of the whole text in bytes.
    pub text_bytes: u64,
    /// Whether `text` is only the beginning.
    pub is_cut: bool,
    /// Origin of the item.
    pub origin: Origin,
    /// The first request that contained it.
    pub since: Option<Since>,
    /// Estimated tokens.
    pub tokens: u64,
    /// Share of the tokens of the whole request, from 0 to 1. For a compaction, share of the history before or after
    /// it.
    pub share: f64,
}

/// The first request that contained an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Since {
    /// The inference call.
    pub inference_call_id: String,
    /// Sequence number of the event that started it.
    pub seq: u64,
    /// Number of the request within its thread, from 1.
    pub number: usize,
}

/// Origin of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// Kind of the origin.
    pub kind: OriginKind,
    /// The inference call, tool call, code cell, compaction or thread that produced it.
    pub object: Option<ObjectRef>,
    /// Path of the agent that it came from, if that is another agent.
    pub agent_path: Option<String>,
    /// Number of the thread's request whose response contained it, from 1; `None` if it is not part of a response.
    pub number: Option<usize>,
    /// Id of the last compaction that kept it. The other fields describe its origin before that compaction.
    pub kept_by: Option<String>,
}

/// Kind of an item's origin. The names are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// The user.
    UserInput,
    /// The application, as instructions or a description of the environment.
    Instructions,
    /// A response of the model in this thread.
    ModelOutput,
    /// A tool that ran in this thread.
    ToolOutput,
    /// Another agent sent it.
    AgentMessage,
    /// A compaction wrote it.
    Compaction,
    /// It is part of the inherited history of another thread.
    Inherited,
    /// It is part of the history that the thread began with, and nothing in this bundle produced it: an earlier session
    /// did.
    EarlierSession,
    /// The recording does not show it.
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

/// What a request contains besides items.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Beside {
    /// The base instructions; `None` if they are an item or missing.
    pub instructions: Option<Text>,
    /// The tools that the model could call.
    pub tools: Vec<Tool>,
    /// The required format of the answer; `None` if there is none.
    pub response_format: Option<Text>,
    /// Everything else. Parameters are not counted as tokens.
    pub parameters: Vec<Parameter>,
}

/// A text of a request that is not an item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Size of the whole text in bytes.
    pub bytes: u64,
    /// Whether `text` is only the beginning.
    pub is_cut: bool,
    /// Estimated tokens.
    pub tokens: u64,
    /// Share of the tokens of the whole request, from 0 to 1.
    pub share: f64,
}

/// A tool that the model could call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tool {
    /// Its name, with its namespace if it has one.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Size of its description in bytes of JSON.
    pub bytes: u64,
    /// Estimated tokens.
    pub tokens: u64,
    /// Share of the tokens of the whole request, from 0 to 1.
    pub share: f64,
}

/// A parameter of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The beginning of its value, as JSON.
    pub value: String,
    /// Size of the value in bytes of JSON.
    pub bytes: u64,
}

/// Comparison of a request with the one before it in its thread.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diff {
    /// Id of the inference call before.
    pub inference_call_id: String,
    /// Sequence number of the event that started it.
    pub seq: u64,
    /// Number of items that both requests contain.
    pub kept: usize,
    /// How many of these are in another order.
    pub moved: usize,
    /// Indexes of the new items.
    pub added: Vec<usize>,
    /// Items of the request before that are gone, with their indexes there.
    pub removed: Vec<Item>,
    /// Items whose content changed under the same id or call id.
    pub changed: Vec<Changed>,
    /// Names of the tools that are new.
    pub tools_added: Vec<String>,
    /// Names of the tools that are gone.
    pub tools_removed: Vec<String>,
    /// Names of the tools whose description changed.
    pub tools_changed: Vec<String>,
    /// Whether the base instructions differ.
    pub instructions_changed: bool,
    /// Names of parameters that are new, gone or changed.
    pub parameters_changed: Vec<String>,
    /// Ids of the compactions that were installed between the two requests.
    pub compactions: Vec<String>,
    /// Whether most items are gone although no compaction was recorded: the client has summarised or rewritten the
    /// history.
    pub is_rewritten: bool,
    /// Token counts of the request before.
    pub tokens_before: Tokens,
}

/// An item whose content changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Index in the request before.
    pub before: usize,
    /// Index in this request.
    pub after: usize,
    /// Id of the old item in `state.json`.
    pub item_id_before: String,
    /// Id of the new item in `state.json`.
    pub item_id: String,
}

/// What a compaction did to a history.
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
    /// Sequence number of the event that installed it; `None` if it was never installed.
    pub installed_seq: Option<u64>,
    /// Requests that produced it.
    pub requests: Vec<CompactionRequest>,
    /// Number of items before the compaction.
    pub items_before: usize,
    /// Number of items after the compaction.
    pub items_after: usize,
    /// Size of the history before the compaction.
    pub tokens_before: Size,
    /// Size of the history after the compaction.
    pub tokens_after: Size,
    /// Items that replace what was removed.
    pub summaries: Vec<Summary>,
    /// Items that the new history has kept, with their indexes in it.
    pub kept: Vec<Item>,
    /// Items that were removed, with their indexes in the old history.
    pub removed: Vec<Item>,
    /// New items that are not summaries, with their indexes in the new history.
    pub added: Vec<Item>,
}

/// A request for a compaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CompactionRequest {
    /// Its id.
    pub compaction_request_id: String,
    /// Model that was requested.
    pub model: String,
    /// How it ended.
    pub status: &'static str,
    /// Error of a failed request.
    pub error: Option<String>,
    /// Duration in milliseconds; `None` if the log has no end of the request.
    pub duration_ms: Option<i64>,
}

/// Size of a history in tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Tokens.
    pub tokens: u64,
    /// Whether the provider reported the number. It then counts the whole request.
    pub basis: Basis,
    /// Id of the inference call that it was reported for.
    pub inference_call_id: Option<String>,
    /// Estimated tokens of the items alone. The estimates before and after the compaction are comparable.
    pub estimated_items: u64,
}

/// An item that replaces earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Id of the item in `state.json`.
    pub item_id: String,
    /// The text; `None` if it is encrypted.
    pub text: Option<String>,
    /// Whether only the provider can read it.
    pub is_encrypted: bool,
    /// Size of the text in bytes, encrypted or not.
    pub bytes: u64,
}
