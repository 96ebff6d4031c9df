//! The graph that a reduction makes.
//!
//! Objects live in arenas, in the order in which the log introduced them, and refer to each other by handles. Their ids
//! and names are interned. What the model *saw* are the conversation items, which come from requests and responses
//! only. What the runtime *did* (tool calls, terminals, code cells) refers to the items that show it.

pub mod evidence;
mod hand_over;
pub mod ids;
pub mod lists;
mod object;
pub mod symbols;

use std::sync::Arc;

pub use evidence::{AgentResult, ProtocolEvent, Undelivered};
pub use hand_over::HandOver;
pub use ids::{
    Arena, CellIdx, CompactionIdx, CompactionRequestIdx, EdgeIdx, Handle, InferenceIdx, ItemIdx, OperationIdx,
    PayloadIdx, SessionIdx, Symbol, ThreadIdx, ToolIdx, TurnIdx,
};
pub use lists::{ItemList, ItemLists};
pub use object::Object;
pub use symbols::Symbols;
pub use trace_recorder::format::{CellStatus, ExecutionStatus, RolloutStatus, SchemaVersion};

/// The graph of one session.
#[derive(Debug, Clone)]
pub struct Trace {
    /// Schema version of the bundle. Some rules depend on it.
    pub schema_version: SchemaVersion,
    /// Id of the trace.
    pub trace_id: Symbol,
    /// Id of the rollout.
    pub rollout_id: Symbol,
    /// Id of the first thread, which need not be in [`Trace::threads`].
    pub root_thread_id: Symbol,
    /// Start of the session, in milliseconds since the Unix epoch.
    pub started_at_unix_ms: i64,
    /// End of the session; `None` if the log has no end.
    pub ended: Option<Moment>,
    /// All ends of the session: a bundle that was resumed has one for each run that ended. Not part of `state.json`.
    pub run_ends: Vec<Moment>,
    /// The last event of the log.
    pub last_event: Option<Moment>,
    /// Status of the session.
    pub status: RolloutStatus,
    /// Whether the recorder closed the log.
    pub recording_complete: bool,
    /// Threads: one per agent.
    pub threads: Arena<ThreadIdx, Thread>,
    /// Turns of threads.
    pub turns: Arena<TurnIdx, Turn>,
    /// What the model read and wrote.
    pub items: Arena<ItemIdx, ConversationItem>,
    /// Requests to model providers.
    pub inferences: Arena<InferenceIdx, InferenceCall>,
    /// Pieces of code that the model wrote and a code tool executed.
    pub cells: Arena<CellIdx, CodeCell>,
    /// Tool calls, by the model or by code.
    pub tools: Arena<ToolIdx, ToolCall>,
    /// Terminals.
    pub sessions: Arena<SessionIdx, TerminalSession>,
    /// Interactions with terminals.
    pub operations: Arena<OperationIdx, TerminalOperation>,
    /// Replacements of a thread's history by a compacted one.
    pub compactions: Arena<CompactionIdx, Compaction>,
    /// Requests for remote compactions.
    pub compaction_requests: Arena<CompactionRequestIdx, CompactionRequest>,
    /// Spawns, tasks, messages, results and closes between agents.
    pub edges: Arena<EdgeIdx, InteractionEdge>,
    /// References to the payloads of the bundle.
    pub payloads: Arena<PayloadIdx, RawPayload>,
    /// Events of the client protocol, in the order of the log. Not part of `state.json`.
    pub protocol_events: Vec<ProtocolEvent>,
    /// Messages, tasks and results that the log does not show to have arrived. Not part of `state.json`.
    pub undelivered: Vec<Undelivered>,
    /// Answers of children, also those that their parents never read. Not part of `state.json`.
    pub agent_results: Vec<AgentResult>,
    /// Resolves [`ItemList`].
    pub lists: ItemLists,
    /// Resolves [`Symbol`].
    pub symbols: Symbols,
}

impl Trace {
    /// Returns the first end of a run after the event with this sequence number, or `None` if no run ended after it.
    pub fn run_end_after(&self, seq: u64) -> Option<Moment> {
        let after = self.run_ends.partition_point(|end| end.seq <= seq);
        self.run_ends.get(after).copied()
    }

    /// Returns the string of a symbol.
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.symbols[symbol]
    }

    /// Returns the thread of an end of an edge.
    pub fn thread_of(&self, anchor: Anchor) -> ThreadIdx {
        match anchor {
            Anchor::Item(item) => self.items[item].thread,
            Anchor::Tool(tool) => self.tools[tool].thread,
            Anchor::Thread(thread) => thread,
        }
    }

    /// Starts to record which objects are touched; payloads are not recorded.
    pub(crate) fn watch(&mut self) {
        self.threads.watch();
        self.turns.watch();
        self.items.watch();
        self.inferences.watch();
        self.cells.watch();
        self.tools.watch();
        self.sessions.watch();
        self.operations.watch();
        self.compactions.watch();
        self.compaction_requests.watch();
        self.edges.watch();
    }

    /// Returns the objects that were touched since the last call, grouped by type. An object may appear more than once.
    pub(crate) fn take_touched(&mut self) -> Vec<Object> {
        let mut touched = Vec::new();
        touched.extend(self.threads.take_touched().into_iter().map(Object::Thread));
        touched.extend(self.turns.take_touched().into_iter().map(Object::Turn));
        touched.extend(self.items.take_touched().into_iter().map(Object::Item));
        touched.extend(self.inferences.take_touched().into_iter().map(Object::Inference));
        touched.extend(self.cells.take_touched().into_iter().map(Object::Cell));
        touched.extend(self.tools.take_touched().into_iter().map(Object::Tool));
        touched.extend(self.sessions.take_touched().into_iter().map(Object::Session));
        touched.extend(self.operations.take_touched().into_iter().map(Object::Operation));
        touched.extend(self.compactions.take_touched().into_iter().map(Object::Compaction));
        touched.extend(self.compaction_requests.take_touched().into_iter().map(Object::CompactionRequest));
        touched.extend(self.edges.take_touched().into_iter().map(Object::Edge));
        touched
    }
}

/// Start, end and status of something that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The event that started it.
    pub started: Moment,
    /// The event that ended it; `None` if the log has no such event.
    pub ended: Option<Moment>,
    /// Its status.
    pub status: ExecutionStatus,
}

impl Window {
    pub(crate) fn running(started: Moment) -> Self {
        Self { started, ended: None, status: ExecutionStatus::Running }
    }

    pub(crate) fn end(&mut self, at: Moment, status: ExecutionStatus) {
        self.ended = Some(at);
        self.status = status;
    }

    /// Returns whether it has not ended.
    pub fn is_running(&self) -> bool {
        self.status == ExecutionStatus::Running
    }
}

/// Sequence number and time of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Sequence number of the event. Moments are ordered by it, because the wall clock may go backwards.
    pub seq: u64,
    /// Wall clock in milliseconds since the Unix epoch.
    pub unix_ms: i64,
}

/// One agent's conversation.
#[derive(Debug, Clone)]
pub struct Thread {
    /// Id of the thread.
    pub id: Symbol,
    /// Place of the thread in the tree of agents, such as `/root/tests`.
    pub agent_path: Symbol,
    /// Name that is shown to users.
    pub nickname: Option<Symbol>,
    /// Where the thread came from.
    pub origin: Origin,
    /// When it ran.
    pub execution: Window,
    /// When it was resumed. Not part of `state.json`.
    pub resumed: Vec<Moment>,
    /// Model that the thread was configured with.
    pub default_model: Option<Symbol>,
    /// The thread's items in the order in which they were first seen. In schema 2, only items that were accepted into
    /// the history, sent to the model or part of a checkpoint.
    pub items: Vec<ItemIdx>,
    /// Whether no event declares the thread and other events only refer to it.
    pub implied: bool,
}

/// How a thread came to exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It is the first thread of the session.
    Root,
    /// Another thread spawned it.
    Spawned {
        /// Id of the spawning thread, which need not be in the trace.
        parent_thread_id: Symbol,
        /// Id of the edge of the spawn.
        spawn_edge_id: Symbol,
        /// Name of the task.
        task_name: Symbol,
        /// Role of the agent, or an empty string.
        agent_role: Symbol,
    },
}

/// One turn of a thread.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Id of the turn.
    pub id: Symbol,
    /// Its thread.
    pub thread: ThreadIdx,
    /// When it ran.
    pub execution: Window,
    /// Whether no event declares the turn and other events only refer to it.
    pub implied: bool,
}

/// Author of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The system.
    System,
    /// The developer of the application.
    Developer,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

impl Role {
    /// Returns the name of the role.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// Audience of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channel {
    /// For the model itself.
    Analysis,
    /// Work in progress: tool calls, their outputs, remarks.
    Commentary,
    /// The answer.
    Final,
    /// A summary that stands for earlier items.
    Summary,
}

impl Channel {
    /// Returns the name of the channel.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Analysis => "analysis",
            Self::Commentary => "commentary",
            Self::Final => "final",
            Self::Summary => "summary",
        }
    }
}

/// Kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ItemKind {
    /// A message.
    Message,
    /// The model's reasoning.
    Reasoning,
    /// A call of a function or of a hosted tool.
    FunctionCall,
    /// The output of a function or a hosted tool.
    FunctionCallOutput,
    /// A call of a custom tool.
    CustomToolCall,
    /// The output of a custom tool.
    CustomToolCallOutput,
    /// The place where a compaction was installed.
    CompactionMarker,
}

impl ItemKind {
    /// Returns the name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Reasoning => "reasoning",
            Self::FunctionCall => "function_call",
            Self::FunctionCallOutput => "function_call_output",
            Self::CustomToolCall => "custom_tool_call",
            Self::CustomToolCallOutput => "custom_tool_call_output",
            Self::CompactionMarker => "compaction_marker",
        }
    }

    /// Returns whether the item calls a tool.
    pub fn is_call(self) -> bool {
        matches!(self, Self::FunctionCall | Self::CustomToolCall)
    }

    /// Returns whether the item is the output of a tool.
    pub fn is_output(self) -> bool {
        matches!(self, Self::FunctionCallOutput | Self::CustomToolCallOutput)
    }
}

/// A part of an item's content.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// Text.
    Text(Box<str>),
    /// Summary of reasoning.
    Summary(Box<str>),
    /// Text that only the provider can read.
    Encoded {
        /// The provider's name for the field.
        label: &'static str,
        /// The text.
        value: Box<str>,
    },
    /// JSON. The item keeps its beginning, and the payload has the rest.
    Json {
        /// Compact JSON, at most 240 bytes of it and then `...`.
        summary: Box<str>,
    },
    /// Code.
    Code {
        /// Language of the code.
        language: &'static str,
        /// The code.
        source: Box<str>,
    },
    /// Something that only the payload holds, such as an image.
    PayloadRef {
        /// What kind of content it is.
        label: Box<str>,
        /// SHA-256 of its JSON in canonical form, in hexadecimal. A part without a hash is equal to no other part.
        content_sha256: Option<Box<str>>,
    },
}

/// One item of the conversation that the model sees.
#[derive(Debug, Clone)]
pub struct ConversationItem {
    /// Id that the provider gave the item.
    pub responses_item_id: Option<Symbol>,
    /// When the item became part of the thread's history.
    pub accepted: Option<Moment>,
    /// The thread whose conversation contains the item.
    pub thread: ThreadIdx,
    /// Id of the turn in which it was first seen; the turn need not be in the trace.
    pub codex_turn_id: Option<Symbol>,
    /// When it was first seen.
    pub first_seen: Moment,
    /// Author of the item.
    pub role: Role,
    /// Audience of the item.
    pub channel: Option<Channel>,
    /// Kind of the item.
    pub kind: ItemKind,
    /// Author and recipient, as agent paths, of a message between agents.
    pub agent_message: Option<(Symbol, Symbol)>,
    /// Content of the item.
    pub parts: Arc<[Part]>,
    /// Id of the payload that [`Part::Json`] and [`Part::PayloadRef`] refer to.
    pub payload_id: Option<Symbol>,
    /// Id of the call that the item makes, or whose output it is.
    pub call_id: Option<Symbol>,
    /// What produced the item, as far as the log shows.
    pub produced_by: Vec<Producer>,
}

/// What produced an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Producer {
    /// A response of the model.
    Inference(InferenceIdx),
    /// The output of a tool.
    Tool(ToolIdx),
    /// The output of a code cell.
    Cell(CellIdx),
    /// A compaction.
    Compaction(CompactionIdx),
}

/// One request to a model provider.
#[derive(Debug, Clone)]
pub struct InferenceCall {
    /// Id of the call.
    pub id: Symbol,
    /// Its thread.
    pub thread: ThreadIdx,
    /// Its turn.
    pub turn: TurnIdx,
    /// When it ran.
    pub execution: Window,
    /// Model that was requested.
    pub model: Symbol,
    /// Provider that was called.
    pub provider_name: Symbol,
    /// Id that the provider gave the response.
    pub response_id: Option<Symbol>,
    /// Id that the provider gave the request.
    pub upstream_request_id: Option<Symbol>,
    /// Items that the model read.
    pub request_items: ItemList,
    /// Items that the model wrote.
    pub response_items: Vec<ItemIdx>,
    /// Tools that its response started.
    pub tools_started: Vec<ToolIdx>,
    /// Token counts.
    pub usage: Option<Usage>,
    /// Id of the request payload.
    pub request_payload_id: Symbol,
    /// Id of the response payload.
    pub response_payload_id: Option<Symbol>,
    /// Error of a failed call, or reason of a cancelled one. Not part of `state.json`.
    pub error: Option<Box<str>>,
}

/// Token counts of one inference call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Input tokens that were read from a cache.
    pub cached_input_tokens: u64,
    /// Input tokens that were written to a cache.
    pub cache_write_input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// Output tokens that were used for reasoning.
    pub reasoning_output_tokens: u64,
}

/// A piece of code that the model wrote and a code tool executed.
#[derive(Debug, Clone)]
pub struct CodeCell {
    /// Id of the cell.
    pub id: Symbol,
    /// Id of the tool call that contains the code.
    pub model_visible_call_id: Symbol,
    /// Its thread.
    pub thread: ThreadIdx,
    /// Its turn.
    pub turn: TurnIdx,
    /// The item that holds the code.
    pub source_item: ItemIdx,
    /// The items that show its output.
    pub output_items: Vec<ItemIdx>,
    /// Id of the cell in the runtime of its thread.
    pub runtime_cell_id: Option<Symbol>,
    /// When it ran.
    pub execution: Window,
    /// Status that the runtime reports.
    pub runtime_status: CellStatus,
    /// When it responded first: after it ended, or when it went to the background.
    pub initial_response: Option<Moment>,
    /// Status at the first response.
    pub initial_response_status: Option<CellStatus>,
    /// Id of the payload with the first response.
    pub initial_response_payload_id: Option<Symbol>,
    /// Id of the payload with its result.
    pub result_payload_id: Option<Symbol>,
    /// When it went to the background.
    pub yielded: Option<Moment>,
    /// The code.
    pub source_js: Box<str>,
    /// Tool calls that the code made.
    pub nested_tools: Vec<ToolIdx>,
    /// Tool calls that waited for the cell.
    pub wait_tools: Vec<ToolIdx>,
}

/// What made a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requester {
    /// The model.
    Model,
    /// A code cell, by its id. The cell need not be in the trace.
    CodeCell(Symbol),
}

/// Kind of the tool that a call uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Starts a command in a terminal.
    ExecCommand,
    /// Writes to a running terminal.
    WriteStdin,
    /// Edits files by a patch.
    ApplyPatch,
    /// A tool of an MCP server.
    Mcp {
        /// Name of the server.
        server: Symbol,
        /// Name of the tool.
        tool: Symbol,
    },
    /// A web search.
    Web,
    /// Image generation or an image query.
    ImageGeneration,
    /// Starts a child agent.
    SpawnAgent,
    /// Gives another task to a running agent.
    AssignAgentTask,
    /// Sends a message to an agent.
    SendMessage,
    /// Waits for an agent.
    WaitAgent,
    /// Closes or interrupts an agent.
    CloseAgent,
    /// Any other tool, by name.
    Other {
        /// Name of the tool.
        name: Symbol,
    },
}

impl ToolKind {
    /// Returns the name of the kind.
    pub fn as_str(self) -> &'static str {
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
        }
    }
}

/// A short description of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolSummary {
    /// The call works on a terminal operation.
    Terminal {
        /// Id of the operation.
        operation_id: Symbol,
    },
    /// The call addresses another agent.
    Agent {
        /// Path of that agent.
        target_agent_path: Symbol,
        /// Name of the agent's task.
        task_name: Option<Symbol>,
        /// Beginning of the message.
        message_preview: Box<str>,
    },
    /// The call waits for an agent.
    WaitAgent {
        /// Path of the agent; `None` if the call waits for any agent.
        target_agent_path: Option<Symbol>,
        /// Timeout in milliseconds.
        timeout_ms: Option<u64>,
    },
    /// Any other call.
    Generic {
        /// Name of the tool, with its namespace if it has one.
        label: Symbol,
        /// Beginning of the input.
        input_preview: Option<Box<str>>,
        /// Beginning of the output.
        output_preview: Option<Box<str>>,
    },
}

/// One call of a tool.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// Id of the call.
    pub id: Symbol,
    /// Id that the call has at an MCP server.
    pub mcp_call_id: Option<Symbol>,
    /// Id that the model gave the call.
    pub model_visible_call_id: Option<Symbol>,
    /// Id that the code runtime gave the call.
    pub code_mode_runtime_tool_id: Option<Symbol>,
    /// The code cell that the call started.
    pub started_code_cell: Option<CellIdx>,
    /// Its thread.
    pub thread: ThreadIdx,
    /// The turn that started it.
    pub turn: Option<TurnIdx>,
    /// When it ran.
    pub execution: Window,
    /// What made the call.
    pub requester: Requester,
    /// Kind of the tool.
    pub kind: ToolKind,
    /// The items that hold the call.
    pub call_items: Vec<ItemIdx>,
    /// The items that show its output.
    pub output_items: Vec<ItemIdx>,
    /// Terminal operation of the call.
    pub operation: Option<OperationIdx>,
    /// Short description.
    pub summary: ToolSummary,
    /// Id of the invocation payload.
    pub invocation_payload_id: Option<Symbol>,
    /// Id of the result payload.
    pub result_payload_id: Option<Symbol>,
    /// Ids of the payloads that its runtime reported.
    pub runtime_payload_ids: Vec<Symbol>,
    /// When its runtime started and ended, and with which status. The end of the call itself may contradict it. Not
    /// part of `state.json`.
    pub runtime: Option<Window>,
    /// Whether no event declares the call and other events only refer to it.
    pub implied: bool,
}

/// A terminal.
#[derive(Debug, Clone)]
pub struct TerminalSession {
    /// Id of the terminal.
    pub id: Symbol,
    /// Its thread.
    pub thread: ThreadIdx,
    /// The operation that created the terminal.
    pub created_by: OperationIdx,
    /// Operations on the terminal.
    pub operations: Vec<OperationIdx>,
    /// When it was created.
    pub started: Moment,
    /// Whether all its operations turned out to belong to another terminal. Such a session is not part of the graph.
    pub dissolved: bool,
}

/// One interaction with a terminal.
#[derive(Debug, Clone)]
pub struct TerminalOperation {
    /// The terminal; `None` while it is not known.
    pub session: Option<SessionIdx>,
    /// The tool call that made the operation.
    pub tool: ToolIdx,
    /// When it ran.
    pub execution: Window,
    /// What was requested.
    pub request: TerminalRequest,
    /// What the operation returned; `None` while it has not ended.
    pub result: Option<TerminalResult>,
    /// Whether items of the conversation show the operation. These are the call and output items of the tool call.
    pub observed: bool,
    /// Ids of the payloads that describe it.
    pub payload_ids: Vec<Symbol>,
}

/// Request to a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalRequest {
    /// Run a command.
    ExecCommand {
        /// The command and its arguments.
        command: Vec<Box<str>>,
        /// Working directory of the command.
        cwd: Box<str>,
    },
    /// Pass input to the running command.
    WriteStdin {
        /// The input.
        stdin: Box<str>,
        /// Milliseconds to wait for output.
        yield_time_ms: Option<u64>,
        /// Most tokens of output to return.
        max_output_tokens: Option<u64>,
    },
}

/// Result of a terminal operation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TerminalResult {
    /// Exit code of the command.
    pub exit_code: Option<i64>,
    /// Output.
    pub stdout: Box<str>,
    /// Error output.
    pub stderr: Box<str>,
    /// Output in the form in which the model gets it.
    pub formatted_output: Option<Box<str>>,
    /// Number of tokens of the output before it was cut.
    pub original_token_count: Option<u64>,
    /// Id of this chunk of output.
    pub chunk_id: Option<Box<str>>,
}

/// The replacement of a thread's history by a compacted one.
#[derive(Debug, Clone)]
pub struct Compaction {
    /// Id of the compaction.
    pub id: Symbol,
    /// Its thread.
    pub thread: ThreadIdx,
    /// Its turn.
    pub turn: TurnIdx,
    /// When it was installed.
    pub installed: Moment,
    /// The item that marks the place in the conversation.
    pub marker_item: ItemIdx,
    /// Compaction requests that produced it.
    pub requests: Vec<CompactionRequestIdx>,
    /// The history before the compaction.
    pub input_items: Vec<ItemIdx>,
    /// The history after the compaction.
    pub replacement_items: Vec<ItemIdx>,
}

/// A request for a remote compaction.
#[derive(Debug, Clone)]
pub struct CompactionRequest {
    /// Id of the request.
    pub id: Symbol,
    /// Id of the compaction. The compaction need not have been installed.
    pub compaction_id: Symbol,
    /// Its thread.
    pub thread: ThreadIdx,
    /// Its turn.
    pub turn: TurnIdx,
    /// When it ran.
    pub execution: Window,
    /// Model that was requested.
    pub model: Symbol,
    /// Provider that was called.
    pub provider_name: Symbol,
    /// Id of the request payload.
    pub request_payload_id: Symbol,
    /// Id of the response payload.
    pub response_payload_id: Option<Symbol>,
    /// Error of a failed request. Not part of `state.json`.
    pub error: Option<Box<str>>,
}

/// Kind of an edge between agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EdgeKind {
    /// An agent started a child.
    SpawnAgent,
    /// An agent gave another agent a task.
    AssignAgentTask,
    /// An agent sent another agent a message.
    SendMessage,
    /// A child's answer reached its parent.
    AgentResult,
    /// An agent closed or interrupted another agent.
    CloseAgent,
}

impl EdgeKind {
    /// Returns the name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SpawnAgent => "spawn_agent",
            Self::AssignAgentTask => "assign_agent_task",
            Self::SendMessage => "send_message",
            Self::AgentResult => "agent_result",
            Self::CloseAgent => "close_agent",
        }
    }
}

/// An end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// An item of a conversation.
    Item(ItemIdx),
    /// A tool call.
    Tool(ToolIdx),
    /// A thread.
    Thread(ThreadIdx),
}

/// A spawn, task, message, result or close from one agent to another.
#[derive(Debug, Clone)]
pub struct InteractionEdge {
    /// Id of the edge.
    pub id: Symbol,
    /// Kind of the edge.
    pub kind: EdgeKind,
    /// Where the edge starts.
    pub source: Anchor,
    /// Where the edge ends.
    pub target: Anchor,
    /// When it was sent, in milliseconds since the Unix epoch.
    pub started_at_unix_ms: i64,
    /// When it was complete, in milliseconds since the Unix epoch.
    pub ended_at_unix_ms: Option<i64>,
    /// Sequence number of the first event that reported it. Not part of `state.json`.
    pub seq: u64,
    /// Items that the edge carried.
    pub carried_items: Vec<ItemIdx>,
    /// Ids of the payloads that describe the edge.
    pub carried_payload_ids: Vec<Symbol>,
}

/// A reference to a payload of the bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawPayload {
    /// Id of the payload.
    pub id: Symbol,
    /// Kind of content, as the recorder wrote it.
    pub kind: Symbol,
    /// Path relative to the bundle directory.
    pub path: Symbol,
}
