//! A thread of a draft, told in the terms of agents: turns, items, requests, tool calls, children.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::json;
use trace_recorder::format::event::{
    AgentResultObserved, CodexTurnEnded, CodexTurnStarted, CompactionInstalled, HistoryItemAccepted,
    InferenceCancelled, InferenceCompleted, InferenceFailed, InferenceStarted, LooseKind, ThreadEnded, ThreadStarted,
    ToolCallEnded, ToolCallRuntimeEnded, ToolCallRuntimeStarted, ToolCallStarted,
};
use trace_recorder::format::import::Place;
use trace_recorder::format::{
    EventPayload, ExecutionStatus, PayloadKind, PayloadRef, Requester, RolloutStatus, ToolKind, ToolSummary,
};

use crate::body::{History, ItemText};
use crate::draft::{Draft, Lane};
use crate::event::{EventRef, Stamp, Time};
use crate::item::Item;
use crate::note::Code;
use crate::summary::Usage;

/// Characters of the arguments of a call that its summary shows, as the Codex CLI cuts them.
const PREVIEW_CHARS: usize = 160;

/// Who a thread is.
#[derive(Debug, Clone, Default)]
pub struct ThreadInfo {
    /// Id of the thread. The id of a child must be a UUID ([`child_thread_id`]), or no edge leads to it.
    pub id: String,
    /// Position of the agent, such as `/root` or `/root/name`. See [`agent_path`].
    pub agent_path: String,
    /// Id of the parent's thread, for a child.
    pub parent: Option<String>,
    /// What the parent called the task.
    pub task_name: Option<String>,
    /// What kind of agent the child is.
    pub agent_role: Option<String>,
    /// The name under which people see the agent.
    pub nickname: Option<String>,
    /// The model that the thread began with.
    pub model: Option<String>,
    /// The directory in which the agent works.
    pub cwd: Option<String>,
}

/// A request to a model.
#[derive(Debug)]
pub struct Request<'a, H> {
    /// The model, or an empty text if the file does not name it.
    pub model: &'a str,
    /// The provider, such as `anthropic`.
    pub provider: &'a str,
    /// The members of the body other than the items, as a JSON object: instructions, tools, parameters. A member for something
    /// that the file does not hold is left out.
    pub head: &'a H,
    /// What the model saw.
    pub input: &'a History,
}

/// How an inference call ended.
#[derive(Debug, Clone, Copy)]
pub enum Answer<'a> {
    /// The provider answered.
    Completed {
        /// The provider's id of the response.
        response_id: Option<&'a str>,
        /// The provider's id of the request.
        request_id: Option<&'a str>,
    },
    /// The provider, or the way to it, failed.
    Failed {
        /// The message for people.
        error: &'a str,
        /// The provider's id of the request.
        request_id: Option<&'a str>,
    },
    /// The call was stopped.
    Cancelled {
        /// The message for people.
        reason: &'a str,
    },
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The id by which the model knows the call.
    pub call_id: &'a str,
    /// Name of the tool.
    pub name: &'a str,
    /// Namespace of the name, if there is one.
    pub namespace: Option<&'a str>,
    /// What kind of tool it is. [`tool_kind`] knows the names of the Codex CLI.
    pub kind: ToolKind<'static>,
    /// The arguments, or the input of a tool that takes free text.
    pub arguments: &'a str,
    /// Whether the tool takes free text.
    pub is_custom: bool,
}

/// The result of a tool call.
#[derive(Debug, Clone, Copy)]
pub enum CallResult<'a> {
    /// The output as the model saw it: an item of the history.
    Item(&'a serde_json::value::RawValue),
    /// The same, if the item is written already.
    Text(ItemText),
    /// An error without output.
    Error(&'a str),
}

/// An inference call of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InferenceId(String);

/// A tool call of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolId {
    id: String,
    call_id: String,
    kind: ToolKind<'static>,
    began: EventRef,
    /// For a command: a place behind the beginning of the call, with its time. Files tell of the start of a command when it has ended.
    runtime: Option<(EventRef, Time)>,
}

/// A place in the thread of a parent for the answer of a child.
#[derive(Debug, Clone)]
pub struct Awaited {
    event: EventRef,
    thread: String,
    agent_path: String,
    item_id: String,
    place: Place,
}

/// Writes the events of one thread to a [`Draft`].
#[derive(Debug)]
pub struct ThreadWriter {
    lane: Lane,
    began: EventRef,
    // Most events name these, so they share them.
    id: Arc<str>,
    turn: Option<Arc<str>>,
    model: Arc<str>,
    provider: Arc<str>,
    agent_path: String,
    is_open: bool,
    cwd: String,
    /// The children that calls of this thread spawned.
    children: HashMap<String, EventRef>,
}

impl ThreadWriter {
    /// Adds a thread to a draft. The first one is the root of the session. In a damaged file a child may have the id of another
    /// thread; then it gets an id that is made.
    pub fn start(draft: &mut Draft, mut info: ThreadInfo, stamp: Stamp) -> Self {
        let mut copies = 1;
        while draft.has_thread(&info.id) {
            copies += 1;
            info.id = child_thread_id(&info.id, &format!("{}:{copies}", info.agent_path));
        }
        let lane = draft.lane(&info.id);
        let spawn = info.parent.as_ref().map(|parent| {
            json!({"subagent": {"thread_spawn": {
                "parent_thread_id": parent,
                "agent_path": info.agent_path,
                "task_name": info.task_name,
                "agent_role": info.agent_role,
            }}})
        });
        let metadata = json!({
            "thread_id": info.id,
            "agent_path": info.agent_path,
            "task_name": info.task_name,
            "nickname": info.nickname,
            "agent_role": info.agent_role,
            "model": info.model,
            "cwd": info.cwd,
            "session_source": spawn,
        });
        let started = ThreadStarted {
            thread_id: info.id.clone().into(),
            agent_path: info.agent_path.clone().into(),
            metadata_payload: Some(draft.value(PayloadKind::SessionMetadata, &metadata)),
        };
        let began = draft.push(lane, None, stamp, EventPayload::ThreadStarted(started));
        draft.describe_thread(lane, info.model.as_deref(), info.cwd.as_deref());
        Self {
            lane,
            began,
            id: info.id.into(),
            turn: None,
            model: info.model.unwrap_or_default().into(),
            provider: "".into(),
            agent_path: info.agent_path,
            is_open: false,
            cwd: info.cwd.unwrap_or_default(),
            children: HashMap::new(),
        }
    }

    /// Returns the thread's place in the draft, for [`Draft::item`].
    pub fn lane(&self) -> Lane {
        self.lane
    }

    /// Returns the event with which the thread began, for [`Draft::after`].
    pub fn began(&self) -> EventRef {
        self.began
    }

    /// Returns the id of the thread.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the position of the agent.
    pub fn agent_path(&self) -> &str {
        &self.agent_path
    }

    /// Returns the id of the open turn, or of the last one.
    pub fn turn(&self) -> Option<&str> {
        self.turn.as_deref()
    }

    /// Returns whether a turn is open.
    pub fn is_in_turn(&self) -> bool {
        self.is_open
    }

    fn push(&self, draft: &mut Draft, stamp: Stamp, payload: EventPayload<'static>) -> EventRef {
        draft.push(self.lane, self.turn.as_deref(), stamp, payload)
    }

    /// Begins a turn. If another turn of the session has this id, the thread's id is put in front of it, because the turns of
    /// a bundle have ids of their own. A turn that is still open stays so: end it first.
    pub fn begin_turn(&mut self, draft: &mut Draft, id: &str, stamp: Stamp) -> EventRef {
        let id: Arc<str> = if draft.is_new_turn(id) { id.into() } else { self.second_id(draft, id).into() };
        let started =
            CodexTurnStarted { codex_turn_id: Arc::clone(&id).into(), thread_id: Arc::clone(&self.id).into() };
        self.turn = Some(id);
        self.is_open = true;
        self.push(draft, stamp, EventPayload::CodexTurnStarted(started))
    }

    fn second_id(&self, draft: &mut Draft, id: &str) -> String {
        let mut made = format!("{}:{id}", self.id);
        let mut number = 1;
        while !draft.is_new_turn(&made) {
            number += 1;
            made = format!("{}:{id}:{number}", self.id);
        }
        made
    }

    /// Ends the open turn. Returns `None` and does nothing if no turn is open.
    pub fn end_turn(&mut self, draft: &mut Draft, status: ExecutionStatus, stamp: Stamp) -> Option<EventRef> {
        if !std::mem::take(&mut self.is_open) {
            return None;
        }
        let turn = self.turn.clone()?;
        let ended = CodexTurnEnded { codex_turn_id: turn.into(), status };
        Some(self.push(draft, stamp, EventPayload::CodexTurnEnded(ended)))
    }

    /// Ends the thread.
    pub fn end(&mut self, draft: &mut Draft, status: RolloutStatus, stamp: Stamp) -> EventRef {
        let ended = ThreadEnded { thread_id: Arc::clone(&self.id).into(), status };
        draft.push(self.lane, None, stamp, EventPayload::ThreadEnded(ended))
    }

    /// Adds an item and accepts it into the thread's history. The caller keeps the text for its requests and responses.
    pub fn item(&mut self, draft: &mut Draft, item: &Item<'_>, stamp: Stamp) -> ItemText {
        let text = draft.item(self.lane, item).expect("an item is plain data");
        self.accept(draft, item.id(), stamp);
        text
    }

    /// Records that the item with this id became part of the thread's history. Items without an id cannot be accepted.
    pub fn accept(&mut self, draft: &mut Draft, id: &str, stamp: Stamp) {
        let accepted = HistoryItemAccepted { item_id: id.to_owned().into(), agent_message_payload: None };
        self.push(draft, stamp, EventPayload::HistoryItemAccepted(accepted));
    }

    /// Records that a message of another agent became part of the thread's history. `message` is the item.
    pub fn accept_mail(
        &mut self,
        draft: &mut Draft,
        id: &str,
        message: &serde_json::value::RawValue,
        stamp: Stamp,
    ) -> EventRef {
        let payload = draft.value(PayloadKind::ProtocolEvent, message);
        let accepted = HistoryItemAccepted { item_id: id.to_owned().into(), agent_message_payload: Some(payload) };
        self.push(draft, stamp, EventPayload::HistoryItemAccepted(accepted))
    }

    /// Sends a request. It belongs to the open turn, or to the last one; if there was none, a turn with a made id begins.
    pub fn request<H: Serialize>(&mut self, draft: &mut Draft, request: &Request<'_, H>, stamp: Stamp) -> InferenceId {
        self.request_with_lists(draft, request, &[], stamp)
    }

    /// Sends a request as [`ThreadWriter::request`] does. `lists` are members of the body that many requests share, such as the
    /// definitions of the tools: their texts are stored once.
    pub fn request_with_lists<H: Serialize>(
        &mut self,
        draft: &mut Draft,
        request: &Request<'_, H>,
        lists: &[(&str, &History)],
        stamp: Stamp,
    ) -> InferenceId {
        let id = draft.next_inference_id();
        self.send(draft, id, request, lists, stamp)
    }

    /// Sends a request as [`ThreadWriter::request`] does, under the id that the file gives to the call. If another call has
    /// it already, the call gets another id.
    pub fn request_as<H: Serialize>(
        &mut self,
        draft: &mut Draft,
        id: &str,
        request: &Request<'_, H>,
        stamp: Stamp,
    ) -> InferenceId {
        let id = draft.inference_id(id);
        self.send(draft, id, request, &[], stamp)
    }

    fn send<H: Serialize>(
        &mut self,
        draft: &mut Draft,
        id: String,
        request: &Request<'_, H>,
        lists: &[(&str, &History)],
        stamp: Stamp,
    ) -> InferenceId {
        if self.turn.is_none() {
            draft.note(Code::TurnIdMade, Some(stamp.place));
            let id = format!("{}:turn-1", self.id);
            self.begin_turn(draft, &id, stamp);
        }
        let lists: Vec<_> = lists.iter().copied().chain([("input", request.input)]).collect();
        let body = draft.object(PayloadKind::InferenceRequest, request.head, &lists);
        for (known, name) in [(&mut self.model, request.model), (&mut self.provider, request.provider)] {
            if **known != *name {
                *known = name.into();
            }
        }
        draft.asked(self.lane, request.model);
        let started = InferenceStarted {
            inference_call_id: id.clone().into(),
            thread_id: Arc::clone(&self.id).into(),
            codex_turn_id: self.turn.clone().map(Into::into).unwrap_or_default(),
            model: Arc::clone(&self.model).into(),
            provider_name: Arc::clone(&self.provider).into(),
            request_payload: body,
        };
        self.push(draft, stamp, EventPayload::InferenceStarted(started));
        InferenceId(id)
    }

    /// Ends an inference call. `items` are those that the model made. `key` identifies the call in all files that have copies
    /// of it, for [`Spent::key`](crate::Spent::key).
    #[expect(clippy::too_many_arguments, reason = "each caller has all parts of an answer, and none has a default")]
    pub fn answer(
        &mut self,
        draft: &mut Draft,
        call: &InferenceId,
        answer: Answer<'_>,
        items: &History,
        usage: Option<Usage>,
        key: Option<String>,
        stamp: Stamp,
    ) -> EventRef {
        #[derive(Serialize)]
        struct Head<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            response_id: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            upstream_request_id: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            token_usage: Option<Usage>,
        }
        let (response_id, request_id) = match answer {
            Answer::Completed { response_id, request_id } => (response_id, request_id),
            Answer::Failed { request_id, .. } => (None, request_id),
            Answer::Cancelled { .. } => (None, None),
        };
        if let Some(usage) = usage {
            draft.spent(&self.model, usage, key, stamp);
        }
        let is_partial = !matches!(answer, Answer::Completed { .. });
        let body = if is_partial && items.is_empty() && usage.is_none() {
            None
        } else {
            let head = Head { response_id, upstream_request_id: request_id, token_usage: usage };
            Some(draft.object(PayloadKind::InferenceResponse, &head, &[("output_items", items)]))
        };
        let id = call.0.clone().into();
        let text = |text: Option<&str>| text.map(|text| text.to_owned().into());
        let event = match (answer, body) {
            (Answer::Completed { .. }, Some(response_payload)) => {
                EventPayload::InferenceCompleted(InferenceCompleted {
                    inference_call_id: id,
                    response_id: text(response_id),
                    upstream_request_id: text(request_id),
                    response_payload,
                })
            }
            (Answer::Failed { error, .. }, body) => EventPayload::InferenceFailed(InferenceFailed {
                inference_call_id: id,
                upstream_request_id: text(request_id),
                error: error.to_owned().into(),
                partial_response_payload: body,
            }),
            (Answer::Cancelled { reason }, body) => EventPayload::InferenceCancelled(InferenceCancelled {
                inference_call_id: id,
                upstream_request_id: None,
                reason: reason.to_owned().into(),
                partial_response_payload: body,
            }),
            (Answer::Completed { .. }, None) => unreachable!("a completed call has a response"),
        };
        self.push(draft, stamp, event)
    }

    /// Begins a tool call that code in a cell made. The model does not see it. Returns `None` if a call has this id already.
    pub fn begin_nested_call(
        &mut self,
        draft: &mut Draft,
        id: &str,
        cell: Option<&str>,
        (name, kind): (&str, ToolKind<'static>),
        input: &str,
        stamp: Stamp,
    ) -> Option<ToolId> {
        if !draft.is_new_call(id) {
            return None;
        }
        draft.called();
        let started = ToolCallStarted {
            tool_call_id: id.to_owned().into(),
            model_visible_call_id: None,
            code_mode_runtime_tool_id: None,
            requester: cell
                .map_or(Requester::Model, |cell| Requester::CodeCell { runtime_cell_id: cell.to_owned().into() }),
            kind: kind.clone(),
            summary: ToolSummary::Generic {
                label: name.to_owned().into(),
                input_preview: Some(preview(input).into()),
                output_preview: None,
            },
            invocation_payload: None,
        };
        let began = self.push(draft, stamp, EventPayload::ToolCallStarted(started));
        Some(ToolId { id: id.to_owned(), call_id: id.to_owned(), kind, began, runtime: None })
    }

    /// Begins a tool call. If the session has a call with this id already, the call gets another id, and its items are not
    /// linked with it (`call-id-repeated`).
    pub fn begin_call(&mut self, draft: &mut Draft, call: &Call<'_>, stamp: Stamp) -> ToolId {
        let label = match call.namespace {
            Some(namespace) => format!("{namespace}.{}", call.name),
            None => call.name.to_owned(),
        };
        let arguments = call.arguments;
        let payload = if call.is_custom { Input::Custom { input: arguments } } else { Input::Function { arguments } };
        let invocation = Invocation { tool_name: call.name, tool_namespace: call.namespace, payload };
        let invocation = is_readable_invocation(call).then(|| draft.value(PayloadKind::ToolInvocation, &invocation));
        let is_new = draft.is_new_call(call.call_id);
        let id = if is_new {
            call.call_id.to_owned()
        } else {
            draft.note(Code::CallIdRepeated, Some(stamp.place));
            let mut number = 2;
            loop {
                let made = format!("{}:{}:{number}", self.id, call.call_id);
                if draft.is_new_call(&made) {
                    break made;
                }
                number += 1;
            }
        };
        draft.called();
        let started = ToolCallStarted {
            tool_call_id: id.clone().into(),
            model_visible_call_id: is_new.then(|| call.call_id.to_owned().into()),
            code_mode_runtime_tool_id: None,
            requester: Requester::Model,
            kind: call.kind.clone(),
            summary: ToolSummary::Generic {
                label: label.into(),
                input_preview: Some(preview(call.arguments).into()),
                output_preview: None,
            },
            invocation_payload: invocation,
        };
        let began = self.push(draft, stamp, EventPayload::ToolCallStarted(started));
        let is_command = matches!(call.kind, ToolKind::ExecCommand);
        let place = is_command.then(|| draft.reserve(self.lane, self.turn.as_deref(), stamp));
        let runtime = place.map(|place| (place, stamp.time));
        ToolId { id, call_id: call.call_id.to_owned(), kind: call.kind.clone(), began, runtime }
    }

    /// Records that the runtime of a tool began, with what it reported.
    pub fn begin_runtime(
        &mut self,
        draft: &mut Draft,
        tool: &ToolId,
        kind: ToolKind<'static>,
        report: &(impl Serialize + ?Sized),
        stamp: Stamp,
    ) -> EventRef {
        let started = runtime_started(draft, tool, kind, report);
        self.push(draft, stamp, started)
    }

    /// Records that the runtime of a tool ended, with what it reported.
    pub fn end_runtime(
        &mut self,
        draft: &mut Draft,
        tool: &ToolId,
        status: ExecutionStatus,
        report: &(impl Serialize + ?Sized),
        stamp: Stamp,
    ) -> EventRef {
        let runtime_payload = draft.value(PayloadKind::ToolRuntimeEvent, report);
        let ended = ToolCallRuntimeEnded { tool_call_id: tool.id.clone().into(), status, runtime_payload };
        self.push(draft, stamp, EventPayload::ToolCallRuntimeEnded(ended))
    }

    /// Records a command of a tool call that ended with a known exit code. It becomes a terminal operation.
    pub fn command(
        &mut self,
        draft: &mut Draft,
        tool: &ToolId,
        command: &[&str],
        exit_code: i32,
        output: &str,
        (began, ended): (Stamp, Stamp),
    ) {
        let begin = json!({"command": command, "cwd": self.cwd});
        // What happened between the call and its end is told already, so the start goes back to the call. Behind it, the
        // clock of the thread would be set back.
        match tool.runtime.filter(|(_, time)| matches!(time, Time::At(_)) && *time == began.time) {
            Some((place, _)) => {
                let started = runtime_started(draft, tool, ToolKind::ExecCommand, &begin);
                draft.fill(place, started);
            }
            None => {
                self.begin_runtime(draft, tool, ToolKind::ExecCommand, &begin, began);
            }
        }
        let end = json!({"command": command, "cwd": self.cwd, "exit_code": exit_code, "aggregated_output": output});
        let status = if exit_code == 0 { ExecutionStatus::Completed } else { ExecutionStatus::Failed };
        self.end_runtime(draft, tool, status, &end, ended);
    }

    /// Records that a tool call spawned a child. `prompt` is the task. The edge leads to the child's thread, whose id must be a
    /// UUID, as must be the id of this thread. Make the child's start an effect of the returned event with [`Draft::after`]. A child is
    /// spawned once, so a second call that names it, as in a damaged file, gets the event of the first.
    pub fn spawned(&mut self, draft: &mut Draft, tool: &ToolId, child: &str, prompt: &str, stamp: Stamp) -> EventRef {
        if let Some(spawned) = self.children.get(child) {
            return *spawned;
        }
        let begin = json!({"call_id": tool.call_id, "sender_thread_id": *self.id, "prompt": prompt});
        self.begin_runtime(draft, tool, ToolKind::SpawnAgent, &begin, stamp);
        // The fields of the Codex CLI's report; it wants a model and an effort, which this thread does not know.
        let end = json!({
            "call_id": tool.call_id,
            "sender_thread_id": *self.id,
            "new_thread_id": child,
            "prompt": prompt,
            "model": "",
            "reasoning_effort": "unknown",
            "status": "running",
        });
        let spawned = self.end_runtime(draft, tool, ExecutionStatus::Completed, &end, stamp);
        self.children.insert(child.to_owned(), spawned);
        spawned
    }

    /// Records that `parent` received the answer of the turn `turn` of this thread.
    pub fn result_of_turn(
        &mut self,
        draft: &mut Draft,
        turn: &str,
        parent: &str,
        message: &str,
        stamp: Stamp,
    ) -> EventRef {
        let observed = self.result_payload(draft, turn, parent, message);
        draft.push(self.lane, Some(turn), stamp, observed)
    }

    /// Records the same in a place that was kept for it with [`Draft::reserve`].
    pub(crate) fn result_at(&self, draft: &mut Draft, place: EventRef, turn: &str, parent: &str, message: &str) {
        let observed = self.result_payload(draft, turn, parent, message);
        draft.fill(place, observed);
    }

    fn result_payload(&self, draft: &mut Draft, turn: &str, parent: &str, message: &str) -> EventPayload<'static> {
        let carried = draft.value(PayloadKind::AgentResult, &json!({"message": message}));
        EventPayload::AgentResultObserved(AgentResultObserved {
            edge_id: format!("edge:agent_result:{}:{turn}:{parent}", self.id).into(),
            child_thread_id: Arc::clone(&self.id).into(),
            child_codex_turn_id: turn.to_owned().into(),
            parent_thread_id: parent.to_owned().into(),
            message: message.to_owned().into(),
            carried_payload: Some(carried),
        })
    }

    /// Keeps a place for the answer of a child that this thread gets here, such as the output of a call. The child is told later,
    /// with [`ThreadWriter::answered`].
    /// `id` is one that no other item has.
    pub fn await_answer(&self, draft: &mut Draft, id: String, stamp: Stamp) -> Awaited {
        Awaited {
            event: draft.reserve(self.lane, self.turn.as_deref(), stamp),
            thread: self.id.to_string(),
            agent_path: self.agent_path.clone(),
            item_id: id,
            place: stamp.place,
        }
    }

    /// Records that the parent received the answer of the current or last turn of this thread. An edge leads from a child to a
    /// message in its parent's thread, so the answer becomes such a message beside what the parent got
    /// (`answer-as-message`). Does nothing if the thread had no turn, or if the answer is empty.
    pub fn answered(&mut self, draft: &mut Draft, awaited: &Awaited, message: &str, stamp: Stamp) {
        let Some(turn) = self.turn.clone().filter(|_| !message.is_empty()) else { return };
        let item = json!({
            "type": "agent_message",
            "id": awaited.item_id,
            "author": self.agent_path,
            "recipient": awaited.agent_path,
            "content": [{"type": "input_text", "text": message}],
        });
        let observed = self.result_of_turn(draft, &turn, &awaited.thread, message, stamp);
        let accepted = HistoryItemAccepted {
            item_id: awaited.item_id.clone().into(),
            agent_message_payload: Some(draft.value(PayloadKind::ProtocolEvent, &item)),
        };
        draft.fill(awaited.event, EventPayload::HistoryItemAccepted(accepted));
        draft.after(awaited.event, observed);
        draft.note(Code::AnswerAsMessage, Some(awaited.place));
    }

    /// Ends a tool call.
    pub fn end_call(
        &mut self,
        draft: &mut Draft,
        tool: &ToolId,
        status: ExecutionStatus,
        result: Option<CallResult<'_>>,
        stamp: Stamp,
    ) -> EventRef {
        #[derive(Serialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        enum Body<'a> {
            DirectResponse { response_item: &'a serde_json::value::RawValue },
            Error { error: &'a str },
        }
        let result_payload = result.map(|result| match result {
            CallResult::Item(response_item) => {
                draft.value(PayloadKind::ToolResult, &Body::DirectResponse { response_item })
            }
            CallResult::Text(item) => draft.payload_around(
                PayloadKind::ToolResult,
                r#"{"type":"direct_response","response_item":"#,
                item,
                "}",
            ),
            CallResult::Error(error) => draft.value(PayloadKind::ToolResult, &Body::Error { error }),
        });
        if status == ExecutionStatus::Failed {
            draft.call_failed();
        }
        let ended = ToolCallEnded { tool_call_id: tool.id.clone().into(), status, result_payload };
        self.push(draft, stamp, EventPayload::ToolCallEnded(ended))
    }

    /// Replaces the history of the thread. Returns `None` and does nothing if the thread has had no turn, since a compaction
    /// belongs to one.
    pub fn compacted(
        &mut self,
        draft: &mut Draft,
        id: &str,
        before: &History,
        after: &History,
        stamp: Stamp,
    ) -> Option<EventRef> {
        self.turn.as_ref()?;
        let lists = [("input_history", before), ("replacement_history", after)];
        let checkpoint = draft.object(PayloadKind::CompactionCheckpoint, &json!({}), &lists);
        let installed = CompactionInstalled { compaction_id: id.to_owned().into(), checkpoint_payload: checkpoint };
        Some(self.push(draft, stamp, EventPayload::CompactionInstalled(installed)))
    }

    /// Adds an event in a turn of the thread that has no method of its own.
    pub fn other(&mut self, draft: &mut Draft, payload: EventPayload<'static>, stamp: Stamp) -> EventRef {
        self.push(draft, stamp, payload)
    }
}

fn runtime_started(
    draft: &mut Draft,
    tool: &ToolId,
    kind: ToolKind<'static>,
    report: &(impl Serialize + ?Sized),
) -> EventPayload<'static> {
    let runtime_payload = draft.value(PayloadKind::ToolRuntimeEvent, report);
    let id = tool.id.clone().into();
    EventPayload::ToolCallRuntimeStarted(ToolCallRuntimeStarted {
        tool_call_id: id,
        kind: Some(LooseKind(kind)),
        runtime_payload,
    })
}

impl Awaited {
    /// Returns the place, for [`Draft::after`].
    pub(crate) fn event(&self) -> EventRef {
        self.event
    }
}

impl ToolId {
    /// Returns the event with which the call began, for [`Draft::after`].
    pub fn began(&self) -> EventRef {
        self.began
    }

    /// Returns the id of the call in the bundle.
    pub fn as_str(&self) -> &str {
        &self.id
    }

    /// Returns the id by which the model knows the call.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Returns the kind that the call began with.
    pub fn kind(&self) -> &ToolKind<'static> {
        &self.kind
    }
}

impl Draft {
    /// Adds a payload of plain data.
    pub(crate) fn value(
        &mut self,
        kind: PayloadKind<'static>,
        value: &(impl Serialize + ?Sized),
    ) -> PayloadRef<'static> {
        self.payload(kind, value).expect("plain data becomes JSON")
    }

    fn object(
        &mut self,
        kind: PayloadKind<'static>,
        head: &impl Serialize,
        lists: &[(&str, &History)],
    ) -> PayloadRef<'static> {
        self.payload_with_items(kind, head, lists).expect("plain data becomes JSON")
    }
}

/// What a payload says of the invocation of a tool.
#[derive(Serialize)]
struct Invocation<'a> {
    tool_name: &'a str,
    tool_namespace: Option<&'a str>,
    payload: Input<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Input<'a> {
    Custom { input: &'a str },
    Function { arguments: &'a str },
}

/// Returns whether the Codex CLI accepts the invocation. It takes a tool `wait` for one that waits for a code cell, and refuses the
/// bundle if the arguments name none.
fn is_readable_invocation(call: &Call<'_>) -> bool {
    #[derive(serde::Deserialize)]
    struct Wait<'a> {
        #[serde(rename = "cell_id", borrow)]
        _cell_id: std::borrow::Cow<'a, str>,
    }
    match call.name {
        "wait" => !call.is_custom && serde_json::from_str::<Wait<'_>>(call.arguments).is_ok(),
        _ => !(call.is_custom && call.kind == ToolKind::WriteStdin),
    }
}

fn preview(text: &str) -> String {
    match text.char_indices().nth(PREVIEW_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the kind of a tool by the name that the Codex CLI gives it.
pub fn tool_kind(name: &str) -> ToolKind<'static> {
    match name {
        "exec_command" | "local_shell" | "shell" | "shell_command" | "container.exec" => ToolKind::ExecCommand,
        "write_stdin" => ToolKind::WriteStdin,
        "apply_patch" => ToolKind::ApplyPatch,
        "web_search" | "web_search_preview" => ToolKind::Web,
        "image_generation" | "image_query" => ToolKind::ImageGeneration,
        "spawn_agent" => ToolKind::SpawnAgent,
        "send_message" => ToolKind::SendMessage,
        "followup_task" | "assign_task" => ToolKind::AssignAgentTask,
        "wait_agent" => ToolKind::WaitAgent,
        "close_agent" | "interrupt_agent" => ToolKind::CloseAgent,
        _ => ToolKind::Other { name: name.to_owned().into() },
    }
}

/// Returns the kind that an export of this program gives a tool with this name. The name of a tool of an MCP server begins with that of
/// the server and a full stop.
pub(crate) fn named_tool_kind(kind: &str, name: &str) -> ToolKind<'static> {
    match kind {
        "exec_command" => ToolKind::ExecCommand,
        "write_stdin" => ToolKind::WriteStdin,
        "apply_patch" => ToolKind::ApplyPatch,
        "web" => ToolKind::Web,
        "image_generation" => ToolKind::ImageGeneration,
        "spawn_agent" => ToolKind::SpawnAgent,
        "assign_agent_task" => ToolKind::AssignAgentTask,
        "send_message" => ToolKind::SendMessage,
        "wait_agent" => ToolKind::WaitAgent,
        "close_agent" => ToolKind::CloseAgent,
        "mcp" => {
            let (server, tool) = name.split_once('.').unwrap_or(("", name));
            ToolKind::Mcp { server: server.to_owned().into(), tool: tool.to_owned().into() }
        }
        _ => ToolKind::Other { name: name.to_owned().into() },
    }
}

/// Returns the UUID of a child whose agent gives it `id` in the session `session`: `id` itself if it is a UUID, and otherwise
/// one that is made from both. It is the same whenever the session is read.
pub fn child_thread_id(session: &str, id: &str) -> String {
    if let Ok(uuid) = uuid::Uuid::try_parse(id) {
        return uuid.hyphenated().to_string();
    }
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    for part in [session, id] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.finalize()[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().hyphenated().to_string()
}

/// Returns the path of a child with this name below `parent`. The name becomes lower-case letters, digits and underscores; a
/// name without any becomes `agent`. The caller tells children of the same name apart.
pub fn agent_path(parent: &str, name: &str) -> String {
    let mut segment = String::new();
    for char in name.chars().map(|char| char.to_ascii_lowercase()) {
        if char.is_ascii_lowercase() || char.is_ascii_digit() {
            segment.push(char);
        } else if !segment.is_empty() && !segment.ends_with('_') {
            segment.push('_');
        }
    }
    segment.truncate(MAX_SEGMENT_CHARS);
    let segment = match segment.trim_end_matches('_') {
        "" | "root" => "agent",
        segment => segment,
    };
    format!("{parent}/{segment}")
}

/// Longest segment of a made path.
const MAX_SEGMENT_CHARS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_valid() {
        let made =
            ["Count the files!", "root", "…", "Über-Agent 2", &"a".repeat(99)].map(|name| agent_path("/root", name));
        let expected = [
            "/root/count_the_files",
            "/root/agent",
            "/root/agent",
            "/root/ber_agent_2",
            &format!("/root/{}", "a".repeat(40)),
        ];
        assert_eq!(made, expected.map(str::to_owned));
    }

    #[test]
    fn ids_of_children_are_uuids() {
        let uuid = "01a20517-0de2-74f3-89a1-1d10e63117ff";
        assert_eq!(child_thread_id("s", uuid), uuid);
        let made = child_thread_id("s", "a3ec7ecc");
        assert_eq!(made, child_thread_id("s", "a3ec7ecc"));
        assert_ne!(made, child_thread_id("t", "a3ec7ecc"));
        assert!(uuid::Uuid::try_parse(&made).is_ok(), "{made}");
    }
}
