//! The graph that a reduction makes.
//!
//! Objects live in arenas in the order in which the log brought them and refer to each other by handles; the strings they
//! came with are interned. What the model *saw* are the conversation items, taken from requests and responses alone; what
//! the runtime *did* (tool calls, terminals, code cells) points to the items that show it.

pub mod evidence;
pub mod ids;
pub mod lists;
mod object;
pub mod symbols;

use std::sync::Arc;

pub use evidence::{AgentResult, ProtocolEvent, Undelivered};
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
    /// Schema of the bundle, which decides some of the rules.
    pub schema_version: SchemaVersion,
    /// Id of the trace.
    pub trace_id: Symbol,
    /// Id of the rollout.
    pub rollout_id: Symbol,
    /// Id of the first thread, which need not be in [`Trace::threads`].
    pub root_thread_id: Symbol,
    /// Start of the session, in milliseconds since the Unix epoch.
    pub started_at_unix_ms: i64,
    /// End of the session, if the log has it.
    pub ended: Option<Moment>,
    /// Every end of the session: a bundle that is gone on with has one for each run that came to its end. Not part of
    /// `state.json`.
    pub run_ends: Vec<Moment>,
    /// The last event of the log.
    pub last_event: Option<Moment>,
    /// How the session stands.
    pub status: RolloutStatus,
    /// Whether the recorder closed the log.
    pub recording_complete: bool,
    /// Threads: one per agent.
    pub threads: Arena<ThreadIdx, Thread>,
    /// Turns of threads.
    pub turns: Arena<TurnIdx, Turn>,
    /// What the model saw and said.
    pub items: Arena<ItemIdx, ConversationItem>,
    /// Requests to model providers.
    pub inferences: Arena<InferenceIdx, InferenceCall>,
    /// Pieces of code that the model ran.
    pub cells: Arena<CellIdx, CodeCell>,
    /// Tool calls, by the model or by code.
    pub tools: Arena<ToolIdx, ToolCall>,
    /// Terminals.
    pub sessions: Arena<SessionIdx, TerminalSession>,
    /// What was done with terminals.
    pub operations: Arena<OperationIdx, TerminalOperation>,
    /// Replacements of a thread's history by a compacted one.
    pub compactions: Arena<CompactionIdx, Compaction>,
    /// Requests for remote compactions.
    pub compaction_requests: Arena<CompactionRequestIdx, CompactionRequest>,
    /// Hand-overs between agents.
    pub edges: Arena<EdgeIdx, InteractionEdge>,
    /// References to the payloads of the bundle.
    pub payloads: Arena<PayloadIdx, RawPayload>,
    /// Events of the client protocol, in the order of the log. Not part of `state.json`.
    pub protocol_events: Vec<ProtocolEvent>,
    /// Hand-overs that never arrived, as far as the log tells. Not part of `state.json`.
    pub undelivered: Vec<Undelivered>,
    /// Answers of children, whether their parents read them or not. Not part of `state.json`.
    pub agent_results: Vec<AgentResult>,
    /// Resolves [`ItemList`].
    pub lists: ItemLists,
    /// Resolves [`Symbol`].
    pub symbols: Symbols,
}

impl Trace {
    /// Returns the first end of the session after an event: that of the run which the event belongs to, if that has one.
    pub fn run_end_after(&self, seq: u64) -> Option<Moment> {
        let after = self.run_ends.partition_point(|end| end.seq <= seq);
        self.run_ends.get(after).copied()
    }

    /// Returns the string of a symbol.
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.symbols[symbol]
    }

    /// Remembers from here on which objects are touched; payloads are left out.
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

    /// Returns the objects that were touched since this was last asked, type by type, some of them often.
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

/// When something happened and how it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The event that began it.
    pub started: Moment,
    /// The event that ended it, if the log has it.
    pub ended: Option<Moment>,
    /// How it stands.
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

    /// Says whether what it is about has not ended.
    pub fn is_running(&self) -> bool {
        self.status == ExecutionStatus::Running
    }
}

/// Time and place of an event in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Sequence number of the event. Moments are ordered by it, since the wall clock may go back.
    pub seq: u64,
    /// Wall clock in milliseconds since the Unix epoch.
    pub unix_ms: i64,
}

/// One agent's conversation.
#[derive(Debug, Clone)]
pub struct Thread {
    /// Id of the thread.
    pub id: Symbol,
    /// Where the thread stands in the tree of agents.
    pub agent_path: Symbol,
    /// Name for people.
    pub nickname: Option<Symbol>,
    /// Where the thread came from.
    pub origin: Origin,
    /// When it ran.
    pub execution: Window,
    /// When it was woken again. Not part of `state.json`.
    pub resumed: Vec<Moment>,
    /// Model that the thread was set up with.
    pub default_model: Option<Symbol>,
    /// The thread's items in the order in which they were first seen. Of schema 2, only those that were accepted into
    /// the history, sent to the model or part of a checkpoint.
    pub items: Vec<ItemIdx>,
    /// Whether no event declares the thread; other events only speak of it.
    pub implied: bool,
}

/// Where a thread came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The session began with it.
    Root,
    /// Another thread spawned it.
    Spawned {
        /// Id of the spawning thread, which need not be in the trace.
        parent_thread_id: Symbol,
        /// Id of the edge that stands for the spawn.
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
    /// Whether no event declares the turn; other events only speak of it.
    pub implied: bool,
}

/// Whose words an item holds.
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

/// For whom an item is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channel {
    /// For the model itself.
    Analysis,
    /// Work in progress: calls, outputs, remarks.
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

/// What an item is.
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
    /// Marks the place where a compaction was installed.
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

    /// Says whether the item calls a tool.
    pub fn is_call(self) -> bool {
        matches!(self, Self::FunctionCall | Self::CustomToolCall)
    }

    /// Says whether the item is the output of a tool.
    pub fn is_output(self) -> bool {
        matches!(self, Self::FunctionCallOutput | Self::CustomToolCallOutput)
    }
}

/// A piece of an item's body.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// Text.
    Text(Box<str>),
    /// Summary of reasoning.
    Summary(Box<str>),
    /// Text that only the provider can read.
    Encoded {
        /// What the provider calls it.
        label: &'static str,
        /// The text.
        value: Box<str>,
    },
    /// JSON, of which the item keeps the beginning; the rest is in the payload.
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
        /// What it is.
        label: Box<str>,
        /// SHA-256 of its JSON in canonical form, in hexadecimal. Without one, it equals nothing but itself.
        content_sha256: Option<Box<str>>,
    },
}

/// One item of the model-visible conversation.
#[derive(Debug, Clone)]
pub struct ConversationItem {
    /// Id by which the provider knows the item.
    pub responses_item_id: Option<Symbol>,
    /// When the item became part of the thread's history.
    pub accepted: Option<Moment>,
    /// The thread that shows it.
    pub thread: ThreadIdx,
    /// Id of the turn in which it was first seen; the turn need not be in the trace.
    pub codex_turn_id: Option<Symbol>,
    /// When it was first seen.
    pub first_seen: Moment,
    /// Whose words it holds.
    pub role: Role,
    /// For whom it is meant.
    pub channel: Option<Channel>,
    /// What it is.
    pub kind: ItemKind,
    /// Author and recipient, as agent paths, of a message between agents.
    pub agent_message: Option<(Symbol, Symbol)>,
    /// Its body.
    pub parts: Arc<[Part]>,
    /// Id of the payload that [`Part::Json`] and [`Part::PayloadRef`] point to.
    pub payload_id: Option<Symbol>,
    /// Id of the call that the item makes or answers.
    pub call_id: Option<Symbol>,
    /// What produced it, as far as the log tells.
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
    /// Model that was asked for.
    pub model: Symbol,
    /// Provider that was asked.
    pub provider_name: Symbol,
    /// Id that the provider gave the response.
    pub response_id: Option<Symbol>,
    /// Id that the provider gave the request.
    pub upstream_request_id: Option<Symbol>,
    /// What the model saw.
    pub request_items: ItemList,
    /// What the model said.
    pub response_items: Vec<ItemIdx>,
    /// Tools that its response started.
    pub tools_started: Vec<ToolIdx>,
    /// Tokens.
    pub usage: Option<Usage>,
    /// Id of the request payload.
    pub request_payload_id: Symbol,
    /// Id of the response payload.
    pub response_payload_id: Option<Symbol>,
    /// Error or reason of a call that failed or was cancelled. Not part of `state.json`.
    pub error: Option<Box<str>>,
}

/// Tokens of one inference call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Of these, read from a cache.
    pub cached_input_tokens: u64,
    /// Of these, written to a cache.
    pub cache_write_input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// Of these, for reasoning.
    pub reasoning_output_tokens: u64,
}

/// A piece of code that the model ran.
#[derive(Debug, Clone)]
pub struct CodeCell {
    /// Id of the cell.
    pub id: Symbol,
    /// Id of the call that brought the code.
    pub model_visible_call_id: Symbol,
    /// Its thread.
    pub thread: ThreadIdx,
    /// Its turn.
    pub turn: TurnIdx,
    /// The item that holds the code.
    pub source_item: ItemIdx,
    /// The items that show its output.
    pub output_items: Vec<ItemIdx>,
    /// Id of the cell in its thread's runtime.
    pub runtime_cell_id: Option<Symbol>,
    /// When it ran.
    pub execution: Window,
    /// How the runtime says that it stands.
    pub runtime_status: CellStatus,
    /// When it answered first.
    pub initial_response: Option<Moment>,
    /// How it stood then.
    pub initial_response_status: Option<CellStatus>,
    /// Id of the payload with that answer.
    pub initial_response_payload_id: Option<Symbol>,
    /// Id of the payload with its result.
    pub result_payload_id: Option<Symbol>,
    /// When it went to the background.
    pub yielded: Option<Moment>,
    /// The code.
    pub source_js: Box<str>,
    /// Tools that the code called.
    pub nested_tools: Vec<ToolIdx>,
    /// Tools that waited for the cell.
    pub wait_tools: Vec<ToolIdx>,
}

/// Who asked for a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requester {
    /// The model.
    Model,
    /// A code cell, by id; the cell need not be in the trace.
    CodeCell(Symbol),
}

/// What kind of tool a call runs.
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
    /// Gives a running agent another task.
    AssignAgentTask,
    /// Sends an agent a message.
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
    /// The call works on a terminal operation, by id.
    Terminal {
        /// Id of the operation.
        operation_id: Symbol,
    },
    /// The call addresses an agent.
    Agent {
        /// Path of the agent.
        target_agent_path: Symbol,
        /// Name of its task.
        task_name: Option<Symbol>,
        /// Beginning of the message.
        message_preview: Box<str>,
    },
    /// The call waits for an agent.
    WaitAgent {
        /// Path of the agent, if it waits for one.
        target_agent_path: Option<Symbol>,
        /// Time limit in milliseconds.
        timeout_ms: Option<u64>,
    },
    /// Any call, by label.
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
    /// Id under which an MCP server knows it.
    pub mcp_call_id: Option<Symbol>,
    /// Id by which the model knows it.
    pub model_visible_call_id: Option<Symbol>,
    /// Id by which the code runtime knows it.
    pub code_mode_runtime_tool_id: Option<Symbol>,
    /// The code cell that the call started.
    pub started_code_cell: Option<CellIdx>,
    /// Its thread.
    pub thread: ThreadIdx,
    /// The turn that started it.
    pub turn: Option<TurnIdx>,
    /// When it ran.
    pub execution: Window,
    /// Who asked for it.
    pub requester: Requester,
    /// What kind of tool it is.
    pub kind: ToolKind,
    /// The items that hold the call.
    pub call_items: Vec<ItemIdx>,
    /// The items that show its output.
    pub output_items: Vec<ItemIdx>,
    /// What it did with a terminal.
    pub operation: Option<OperationIdx>,
    /// Short description.
    pub summary: ToolSummary,
    /// Id of the invocation payload.
    pub invocation_payload_id: Option<Symbol>,
    /// Id of the result payload.
    pub result_payload_id: Option<Symbol>,
    /// Ids of the payloads that its runtime reported.
    pub runtime_payload_ids: Vec<Symbol>,
    /// When its runtime says that it ran and how that ended, which the call's own end may contradict. Not part of
    /// `state.json`.
    pub runtime: Option<Window>,
    /// Whether no event declares the call; other events only speak of it.
    pub implied: bool,
}

/// A terminal.
#[derive(Debug, Clone)]
pub struct TerminalSession {
    /// Id of the terminal.
    pub id: Symbol,
    /// Its thread.
    pub thread: ThreadIdx,
    /// The operation that made it.
    pub created_by: OperationIdx,
    /// What was done with it.
    pub operations: Vec<OperationIdx>,
    /// When it began.
    pub started: Moment,
    /// Whether its operations all turned out to belong to another terminal. Such a session is not part of the graph.
    pub dissolved: bool,
}

/// Something that was done with a terminal.
#[derive(Debug, Clone)]
pub struct TerminalOperation {
    /// The terminal, once it is known.
    pub session: Option<SessionIdx>,
    /// The tool call that did it.
    pub tool: ToolIdx,
    /// When it ran.
    pub execution: Window,
    /// What was asked for.
    pub request: TerminalRequest,
    /// What came of it.
    pub result: Option<TerminalResult>,
    /// Whether items of the conversation show it; they are the tool's call and output items.
    pub observed: bool,
    /// Ids of the payloads that tell of it.
    pub payload_ids: Vec<Symbol>,
}

/// What was asked of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalRequest {
    /// To run a command.
    ExecCommand {
        /// The command and its arguments.
        command: Vec<Box<str>>,
        /// Directory that it runs in.
        cwd: Box<str>,
    },
    /// To pass input to the command that runs.
    WriteStdin {
        /// The input.
        stdin: Box<str>,
        /// Milliseconds to wait for output.
        yield_time_ms: Option<u64>,
        /// Most tokens of output to return.
        max_output_tokens: Option<u64>,
    },
}

/// What came of a terminal operation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TerminalResult {
    /// Exit code of the command, as the source wrote it.
    pub exit_code: Option<i64>,
    /// Output.
    pub stdout: Box<str>,
    /// Error output.
    pub stderr: Box<str>,
    /// Output as the model gets it.
    pub formatted_output: Option<Box<str>>,
    /// Tokens of output before it was cut.
    pub original_token_count: Option<u64>,
    /// Id of the piece of output.
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
    /// The item that marks the place.
    pub marker_item: ItemIdx,
    /// Requests that led to it.
    pub requests: Vec<CompactionRequestIdx>,
    /// The history before.
    pub input_items: Vec<ItemIdx>,
    /// The history after.
    pub replacement_items: Vec<ItemIdx>,
}

/// A request for a remote compaction.
#[derive(Debug, Clone)]
pub struct CompactionRequest {
    /// Id of the request.
    pub id: Symbol,
    /// Id of the compaction, which need not be installed.
    pub compaction_id: Symbol,
    /// Its thread.
    pub thread: ThreadIdx,
    /// Its turn.
    pub turn: TurnIdx,
    /// When it ran.
    pub execution: Window,
    /// Model that was asked for.
    pub model: Symbol,
    /// Provider that was asked.
    pub provider_name: Symbol,
    /// Id of the request payload.
    pub request_payload_id: Symbol,
    /// Id of the response payload.
    pub response_payload_id: Option<Symbol>,
    /// Error of a request that failed. Not part of `state.json`.
    pub error: Option<Box<str>>,
}

/// What a hand-over between agents is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EdgeKind {
    /// A child agent was started.
    SpawnAgent,
    /// An agent got another task.
    AssignAgentTask,
    /// An agent got a message.
    SendMessage,
    /// A parent got its child's answer.
    AgentResult,
    /// An agent was closed or interrupted.
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

/// A hand-over from one agent to another.
#[derive(Debug, Clone)]
pub struct InteractionEdge {
    /// Id of the edge.
    pub id: Symbol,
    /// What it is.
    pub kind: EdgeKind,
    /// Where it comes from.
    pub source: Anchor,
    /// Where it goes.
    pub target: Anchor,
    /// When it was sent, in milliseconds since the Unix epoch.
    pub started_at_unix_ms: i64,
    /// When it was through.
    pub ended_at_unix_ms: Option<i64>,
    /// The event that told of it first. Not part of `state.json`.
    pub seq: u64,
    /// Items that it carried.
    pub carried_items: Vec<ItemIdx>,
    /// Ids of the payloads that tell of it.
    pub carried_payload_ids: Vec<Symbol>,
}

/// A reference to a payload of the bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawPayload {
    /// Id of the payload.
    pub id: Symbol,
    /// What the recorder says it holds.
    pub kind: Symbol,
    /// Path below the bundle directory.
    pub path: Symbol,
}
