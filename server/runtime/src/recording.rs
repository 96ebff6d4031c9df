//! What an agent's work leaves in its bundle.
//!
//! Recording never fails, and holds up the agent only when a bundle is made or ended: the first turn and the end of the agent
//! wait for the disk, on threads of their own. Everything else goes through the recorder's queue. A bundle that cannot be made
//! is a warning in the log.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use trace_recorder::format::{ExecutionStatus, Requester, RolloutStatus, ToolKind, ToolSummary};
use trace_recorder::write::{
    Body, BundleWriter, CompactionTrace, InferenceTrace, IntoBody, JoinedJson, Json, NewCompactionRequest,
    NewInference, NewSession, NewThread, NewToolCall, Piece, RawJson, ThreadTrace, ToolTrace, TraceRoot, TurnTrace,
};

use crate::clock::Clock;
use crate::event::{TokenCounts, TurnOutcome};
use crate::history::{ABORTED, CallKind};
use crate::id::{ThreadId, TurnId};
use crate::identity::Identity;
use crate::item::{ItemKind, ModelItem};
use crate::provider::{ProviderError, RequestBody};
use crate::settings::Settings;
use crate::tool::{CallDescription, ToolCall, ToolInput, ToolOutcome};

/// Most characters of a call's input that its short description shows.
pub(crate) const MAX_PREVIEW_CHARS: usize = 160;

/// The recording of an agent and of those that it started. One bundle, begun when there is something to record.
#[derive(Debug)]
pub(crate) struct Recording {
    root: Option<TraceRoot>,
    /// The thread that the bundle is named for.
    owner: ThreadId,
    source: Option<String>,
    writer: OnceCell<BundleWriter>,
}

/// Begins the ids of inference calls that belong to no conversation: those with which tools ask the model. A replay leaves them
/// out.
pub(crate) const SIDE_CALL_PREFIX: &str = "side_question:";

/// Bytes of the document of an answer that are not those of its items, as a rule.
const ROOM_AROUND_ITEMS: usize = 512;

/// How long a reader waits for what was recorded last.
pub(crate) const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

impl Recording {
    pub(crate) fn new(root: Option<TraceRoot>, owner: ThreadId, source: Option<String>) -> Arc<Self> {
        Arc::new(Self { root, owner, source, writer: OnceCell::new() })
    }

    /// Returns the bundle, once it has begun.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.writer.get()?.path().map(PathBuf::from)
    }

    /// Begins the bundle, if there is to be one and there is none yet.
    pub(crate) async fn begin(&self) {
        self.open().await;
    }

    /// Waits until what was recorded so far can be read, but not for ever.
    pub(crate) async fn written(&self) {
        let Some(writer) = self.writer.get().cloned() else { return };
        let flushed = tokio::task::spawn_blocking(move || writer.flush_within(FLUSH_TIMEOUT)).await;
        if let Ok(Err(error)) = flushed {
            tracing::warn!(thread = %self.owner, %error, "what was recorded last cannot be read yet");
        }
    }

    async fn open(&self) -> &BundleWriter {
        self.writer
            .get_or_init(|| async {
                let Some(root) = self.root.clone() else { return BundleWriter::disabled() };
                let owner = self.owner.clone();
                let begun = tokio::task::spawn_blocking(move || root.start(&NewSession::new(owner.as_str()))).await;
                match begun {
                    Ok(Ok(writer)) => writer,
                    Ok(Err(error)) => {
                        tracing::warn!(thread = %self.owner, %error, "the session is not recorded");
                        BundleWriter::disabled()
                    }
                    Err(error) => {
                        tracing::warn!(thread = %self.owner, %error, "the session is not recorded");
                        BundleWriter::disabled()
                    }
                }
            })
            .await
    }

    /// Records that a thread begins, or goes on.
    pub(crate) async fn start_thread(&self, thread: &Identity, settings: &Settings) -> ThreadTrace {
        let writer = self.open().await;
        if !writer.is_enabled() {
            return ThreadTrace::disabled();
        }
        // Each turn and each review comes here. A thread that the bundle has is described there, so its metadata is not made again.
        if let Some(trace) = writer.thread(thread.id.as_str()) {
            trace.resume();
            return trace;
        }
        let metadata = self.metadata(thread, settings);
        writer.start_thread(NewThread::new(thread.id.as_str(), &thread.path), Some(Json(&metadata)))
    }

    fn metadata(&self, thread: &Identity, settings: &Settings) -> Value {
        let lineage = thread.lineage.as_ref();
        let source = match lineage {
            None => json!(self.source),
            Some(lineage) => json!({ "subagent": { "thread_spawn": {
                "parent_thread_id": lineage.parent,
                "depth": lineage.depth,
                "agent_path": thread.path,
                "agent_nickname": lineage.nickname,
                "agent_role": lineage.role,
            } } }),
        };
        json!({
            "thread_id": thread.id,
            "agent_path": thread.path,
            "task_name": lineage.and_then(|_| thread.path.rsplit('/').next()),
            "nickname": lineage.and_then(|lineage| lineage.nickname.as_ref()),
            "agent_role": lineage.and_then(|lineage| lineage.role.as_ref()),
            "session_source": source,
            "cwd": settings.cwd,
            "model": settings.model,
            "provider_name": settings.provider,
            "approval_policy": settings.approval,
            "sandbox_policy": settings.sandbox,
        })
    }

    /// Records that a thread ended; with the thread that the bundle is named for, the recording ends.
    pub(crate) async fn end_thread(&self, thread: &ThreadId, trace: &ThreadTrace) {
        trace.end(RolloutStatus::Completed);
        let Some(writer) = self.writer.get().filter(|_| *thread == self.owner).cloned() else { return };
        writer.observe("shutdown_complete", Json(&json!({ "type": "shutdown_complete" })));
        writer.end(RolloutStatus::Completed);
        match tokio::task::spawn_blocking(move || writer.complete()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(thread = %self.owner, %error, "the recording did not end well"),
            Err(error) => tracing::warn!(thread = %self.owner, %error, "the recording did not end well"),
        }
    }
}

/// The recording of a turn.
#[derive(Debug)]
pub(crate) struct TurnRecord {
    writer: Option<BundleWriter>,
    trace: TurnTrace,
    turn: TurnId,
    root_turn: TurnId,
    clock: Arc<dyn Clock>,
    started_at_ms: i64,
}

impl TurnRecord {
    /// Records that a turn began.
    pub(crate) fn start(
        recording: &Recording,
        thread: &ThreadTrace,
        turn: &TurnId,
        root_turn: &TurnId,
        context_window: Option<u64>,
        clock: &Arc<dyn Clock>,
    ) -> Self {
        let started_at_ms = clock.now_ms();
        let record = Self {
            writer: recording.writer.get().filter(|writer| writer.is_enabled()).cloned(),
            trace: thread.start_turn(turn.as_str()),
            turn: turn.clone(),
            root_turn: root_turn.clone(),
            clock: Arc::clone(clock),
            started_at_ms,
        };
        let started = TurnStarted {
            kind: "task_started",
            turn_id: &record.turn,
            root_turn_id: &record.root_turn,
            started_at: started_at_ms / 1000,
            model_context_window: context_window,
        };
        record.observe("turn_started", &started);
        record
    }

    pub(crate) fn trace(&self) -> &TurnTrace {
        &self.trace
    }

    /// Records how the turn ended.
    pub(crate) fn end(&self, outcome: &TurnOutcome) {
        let completed_at_ms = self.clock.now_ms();
        let ended = TurnEnded {
            kind: "task_complete",
            last_agent_message: None,
            reason: None,
            turn_id: &self.turn,
            root_turn_id: &self.root_turn,
            started_at: self.started_at_ms / 1000,
            completed_at: completed_at_ms / 1000,
            duration_ms: completed_at_ms.saturating_sub(self.started_at_ms),
        };
        match outcome {
            TurnOutcome::Completed { last_message } => {
                self.trace.end(ExecutionStatus::Completed);
                let said = last_message.as_ref().and_then(|item| match &item.kind {
                    ItemKind::AgentMessage { text, .. } => Some(text.as_str()),
                    _ => None,
                });
                self.observe("turn_complete", &TurnEnded { last_agent_message: Some(said), ..ended });
            }
            TurnOutcome::Interrupted => {
                self.trace.end(ExecutionStatus::Cancelled);
                let aborted = TurnEnded { kind: "turn_aborted", reason: Some("interrupted"), ..ended };
                self.observe("turn_aborted", &aborted);
            }
            TurnOutcome::Failed(error) => {
                self.observe("error", &json!({ "type": "error", "message": error.message }));
                self.trace.end(ExecutionStatus::Failed);
                self.observe("turn_complete", &TurnEnded { last_agent_message: Some(None), ..ended });
            }
        }
    }

    fn observe(&self, event_type: &str, event: &impl Serialize) {
        if let Some(writer) = &self.writer {
            writer.observe(event_type, Json(event));
        }
    }
}

/// The protocol event `task_started`.
#[derive(Serialize)]
struct TurnStarted<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    turn_id: &'a TurnId,
    root_turn_id: &'a TurnId,
    started_at: i64,
    model_context_window: Option<u64>,
}

/// The protocol event `task_complete` or `turn_aborted`.
#[derive(Serialize)]
struct TurnEnded<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    /// `None` leaves the member out. `Some(None)` writes null, which a turn without a message has.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_agent_message: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    turn_id: &'a TurnId,
    root_turn_id: &'a TurnId,
    started_at: i64,
    completed_at: i64,
    duration_ms: i64,
}

/// The recording of a review: a thread of its own, since it is a conversation of its own.
#[derive(Debug)]
pub(crate) struct ReviewRecord {
    thread: ThreadTrace,
    turn: TurnTrace,
}

impl ReviewRecord {
    pub(crate) fn start(thread: ThreadTrace) -> Self {
        let turn = thread.start_turn(TurnId::new().as_str());
        Self { thread, turn }
    }

    pub(crate) fn turn(&self) -> &TurnTrace {
        &self.turn
    }

    /// Records how the review ended.
    pub(crate) fn end(&self, status: ExecutionStatus) {
        self.turn.end(status);
        self.thread.end(RolloutStatus::Completed);
    }
}

/// What arrived of an answer.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    pub(crate) response_id: Option<String>,
    pub(crate) request_id: Option<String>,
    pub(crate) usage: Option<TokenCounts>,
    /// The usage in the provider's words.
    pub(crate) raw_usage: Option<Value>,
    pub(crate) output_items: Vec<ModelItem>,
    /// Items that did not join the conversation; kept apart, since readers refuse types that they do not know.
    pub(crate) odd_items: Vec<Value>,
}

impl Answered {
    /// Records a whole answer.
    pub(crate) fn complete(self, trace: &InferenceTrace) {
        let (response, request) = (self.response_id.clone(), self.request_id.clone());
        trace.complete(response.as_deref(), request.as_deref(), self.body());
    }

    /// Records what arrived of an answer that nobody waits for any more.
    pub(crate) fn cancel(self, trace: &InferenceTrace, reason: &str) {
        let request = self.request_id.clone();
        trace.cancel(request.as_deref(), reason, self.partial());
    }

    /// Records what arrived of an answer before it failed.
    pub(crate) fn fail(mut self, trace: &InferenceTrace, error: &ProviderError) {
        let request = error.request_id.clone().or_else(|| self.request_id.clone());
        self.request_id.clone_from(&request);
        trace.fail(request.as_deref(), &words(error), self.partial());
    }

    fn partial(self) -> Option<RawJson> {
        let came = self.response_id.is_some() || !self.output_items.is_empty() || !self.odd_items.is_empty();
        came.then(|| self.body())
    }

    /// Returns the document of the answer. The texts of its items are those that requests have.
    fn body(self) -> RawJson {
        let Self { response_id, request_id, usage, raw_usage, output_items, odd_items } = self;
        let items = output_items.iter().map(|item| item.listed().len()).sum::<usize>();
        let mut text = Vec::with_capacity(items + ROOM_AROUND_ITEMS);
        write_member(&mut text, "{\"response_id\":", &response_id);
        write_member(&mut text, ",\"upstream_request_id\":", &request_id);
        write_member(&mut text, ",\"token_usage\":", &usage.map(TokenUsage::from));
        text.extend_from_slice(b",\"output_items\":[");
        list_of(&output_items).for_each(|item| text.extend_from_slice(item.as_ref()));
        text.push(b']');
        if let Some(usage) = &raw_usage {
            write_member(&mut text, ",\"raw_token_usage\":", usage);
        }
        if !odd_items.is_empty() {
            write_member(&mut text, ",\"other_items\":", &odd_items);
        }
        text.push(b'}');
        RawJson(text)
    }
}

/// Appends the name of a member and its value to a JSON text.
fn write_member(text: &mut Vec<u8>, name: &str, value: &impl Serialize) {
    text.extend_from_slice(name.as_bytes());
    serde_json::to_writer(text, value).expect("texts, numbers and JSON values can be written");
}

/// The tokens of an answer, as its payload has them.
#[derive(Serialize)]
struct TokenUsage {
    input_tokens: u64,
    cached_input_tokens: u64,
    cache_write_input_tokens: u64,
    output_tokens: u64,
    reasoning_output_tokens: u64,
    total_tokens: u64,
}

impl From<TokenCounts> for TokenUsage {
    fn from(usage: TokenCounts) -> Self {
        Self {
            input_tokens: usage.input,
            cached_input_tokens: usage.cached_input,
            cache_write_input_tokens: usage.cache_write_input,
            output_tokens: usage.output,
            reasoning_output_tokens: usage.reasoning_output,
            total_tokens: usage.total,
        }
    }
}

/// Returns all that is known of an error.
pub(crate) fn words(error: &ProviderError) -> String {
    match &error.details {
        Some(details) => format!("{}: {details}", error.message),
        None => error.message.clone(),
    }
}

/// Records that a request goes out.
pub(crate) fn start_inference(trace: &TurnTrace, new: &NewInference<'_>, body: &RequestBody) -> InferenceTrace {
    trace.start_inference(new, Sent(body))
}

/// Records that a request for a shorter history goes out.
pub(crate) fn start_compaction(
    trace: &TurnTrace,
    new: &NewCompactionRequest<'_>,
    body: &RequestBody,
) -> CompactionTrace {
    trace.start_compaction_request(new, Sent(body))
}

/// Records the provider's answer to a request for a shorter history.
pub(crate) fn complete_compaction(trace: &CompactionTrace, items: &[ModelItem]) {
    trace.complete(Json(&json!({ "output_items": items })));
}

/// Records that a history took the place of another one.
pub(crate) fn install_compaction(trace: &TurnTrace, compaction: &str, before: &[ModelItem], after: &[ModelItem]) {
    let text = |text: &'static str| Piece::single(text.as_bytes().into());
    let mut pieces = vec![text("{\"input_history\":[")];
    pieces.extend(list_of(before));
    pieces.push(text("],\"replacement_history\":["));
    pieces.extend(list_of(after));
    pieces.push(text("]}"));
    trace.install_compaction(compaction, JoinedJson(pieces));
}

/// Returns the texts of items in a list, without its brackets. They are those that requests have.
fn list_of(items: &[ModelItem]) -> impl Iterator<Item = Piece> {
    // There is no comma in front of the first item.
    items.iter().enumerate().map(|(index, item)| Piece::shared(Arc::clone(item.listed()), usize::from(index == 0)))
}

/// What is sent as well: the texts of its items are made once.
struct Sent<'a>(&'a RequestBody);

impl IntoBody for Sent<'_> {
    fn into_body(self) -> Body {
        JoinedJson(self.0.pieces()).into_body()
    }
}

/// What a call asks for, as its payload has it.
#[derive(Serialize)]
struct Invocation<'a> {
    tool_name: &'a str,
    tool_namespace: Option<&'a str>,
    payload: Invoked<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Invoked<'a> {
    Function { arguments: &'a str },
    Custom { input: &'a str },
}

/// What a call answered, as its payload has it.
#[derive(Serialize)]
struct Direct<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    response_item: Output<'a>,
}

#[derive(Serialize)]
struct Output<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    call_id: &'a str,
    output: &'a Value,
}

/// Records that a tool call is dispatched.
pub(crate) fn start_tool_call(trace: &TurnTrace, call: &ToolCall, description: Option<&CallDescription>) -> ToolTrace {
    let label = match (&call.namespace, description) {
        (_, Some(description)) => description.label.clone(),
        (Some(namespace), None) => format!("{namespace}.{}", call.name),
        (None, None) => call.name.clone(),
    };
    let (payload, input) = match &call.input {
        ToolInput::Arguments(text) => (Invoked::Function { arguments: text }, text),
        ToolInput::Text(text) => (Invoked::Custom { input: text }, text),
    };
    let preview = match description {
        Some(description) => description.input_preview.clone(),
        None => Some(preview(input)),
    };
    let kind = description.map_or("other", |description| description.kind.as_str());
    let invocation = Invocation { tool_name: &call.name, tool_namespace: call.namespace.as_deref(), payload };
    trace.start_tool_call(
        NewToolCall {
            tool_call_id: call.id.as_str(),
            model_visible_call_id: Some(call.id.as_str()),
            code_mode_runtime_tool_id: None,
            requester: Requester::Model,
            kind: tool_kind(kind, call),
            summary: ToolSummary::Generic {
                label: label.as_str().into(),
                input_preview: preview.as_deref().map(Into::into),
                output_preview: None,
            },
        },
        // Readers take a call of `wait` for one that waits for a code cell, and refuse a recording where it is none.
        (call.name != "wait").then_some(Json(&invocation)),
    )
}

/// Returns the kind of a tool in the bundle. Readers refuse writes to a terminal that are called in another way.
fn tool_kind<'a>(kind: &str, call: &'a ToolCall) -> ToolKind<'a> {
    let is_plain = call.namespace.is_none() && matches!(call.input, ToolInput::Arguments(_));
    match kind {
        "exec_command" => ToolKind::ExecCommand,
        "write_stdin" if is_plain && call.name == "write_stdin" => ToolKind::WriteStdin,
        "apply_patch" => ToolKind::ApplyPatch,
        "web" => ToolKind::Web,
        "image_generation" => ToolKind::ImageGeneration,
        "spawn_agent" => ToolKind::SpawnAgent,
        "assign_agent_task" => ToolKind::AssignAgentTask,
        "send_message" => ToolKind::SendMessage,
        "wait_agent" => ToolKind::WaitAgent,
        "close_agent" => ToolKind::CloseAgent,
        _ => ToolKind::Other { name: call.name.as_str().into() },
    }
}

/// Returns the beginning of a text.
fn preview(text: &str) -> String {
    match text.char_indices().nth(MAX_PREVIEW_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Records what a tool answered. The result is what the model gets.
pub(crate) fn end_tool_call(trace: &ToolTrace, call_id: &str, kind: CallKind, outcome: &ToolOutcome) {
    let status = if outcome.success { ExecutionStatus::Completed } else { ExecutionStatus::Failed };
    let response_item = Output { kind: kind.output_type(), call_id, output: &outcome.output };
    trace.end(status, Some(Json(&Direct { kind: "direct_response", response_item })));
}

/// Records that a call could not be carried out.
pub(crate) fn fail_tool_call(trace: &ToolTrace, error: &str) {
    trace.end(ExecutionStatus::Failed, Some(Json(&json!({ "type": "error", "error": error }))));
}

/// Records that a call was stopped before it had an answer.
pub(crate) fn abort_tool_call(trace: &ToolTrace) {
    trace.end(ExecutionStatus::Cancelled, Some(Json(&json!({ "type": "error", "error": ABORTED }))));
}

/// Records that an item became part of what a thread's model sees.
pub(crate) fn accept(trace: &TurnTrace, item: &ModelItem) {
    let text = |name: &str| item.get(name).and_then(Value::as_str);
    let Some(id) = text("id") else { return };
    if text("type") == Some("agent_message") {
        trace.accept_agent_message(id, RawJson(item.listed()[1..].to_vec()));
    } else {
        trace.accept_item(id);
    }
}
