//! Records scripted sessions.
//!
//! Each method of [`Session`] is one thing that can happen in a session, from "the model requests these commands" to "the
//! process ends". It writes the events and payloads that the Codex CLI 0.169 writes for it, in the same order. Steering and
//! input to running commands are not supported.

mod compaction;
mod failures;
mod inference;
mod interruptions;
mod other_tools;
mod patches;
mod threads;
mod tools;

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use serde_json::{Value, json};
use trace_recorder::format::event::{
    InferenceFailed, ProtocolEventObserved, RecordingCompleted, RolloutEnded, RolloutStarted,
};
use trace_recorder::format::{
    EventPayload, ExecutionStatus, Manifest, PayloadKind, RolloutStatus, SchemaVersion, ToolKind,
};
use trace_recorder::write::{BundleAppender, Context};

use self::tools::Call;
use crate::ids::Ids;
use crate::items::{self, AgentMessage};
use crate::texts::Texts;

pub use self::failures::Failure;
pub use self::interruptions::{Pending, RunningCommand, UnderWay};
pub use self::other_tools::{Cell, McpCall, Refusal};
pub use self::patches::Patch;

/// The settings of a session.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Seed of all ids, and of small delays that the script does not specify.
    pub seed: u64,
    /// Time of the first event, in milliseconds since the Unix epoch.
    pub started_at_unix_ms: i64,
    /// Schema of the bundle. Schema 1 has neither `history_item_accepted` nor `recording_completed` events.
    pub schema: SchemaVersion,
    /// Working directory of the session.
    pub cwd: String,
    /// Model of the root agent.
    pub model: String,
    /// Name of the model provider.
    pub provider: String,
    /// Instructions and tools that every request repeats.
    pub texts: Texts,
}

/// An agent of a session. Valid only with the session that returned it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agent(usize);

/// A turn that was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRecord {
    /// Its id.
    pub turn_id: String,
    /// Id of its thread.
    pub thread_id: String,
    /// Position of the agent in the tree of agents.
    pub agent_path: String,
}

/// A command and its result.
#[derive(Debug, Clone)]
pub struct Command {
    line: String,
    output: String,
    /// What the model sees of the output, if that is not all.
    shown: Option<String>,
    exit_code: i32,
    duration_ms: i64,
    report: Report,
}

/// Whether the end of a command's process is recorded before or after the end of its call. The Codex CLI does both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Report {
    BeforeCall,
    AfterCall,
}

impl Command {
    /// Returns a command that prints `output` and succeeds after 40 ms.
    pub fn new(line: impl Into<String>, output: impl Into<String>) -> Self {
        Self {
            line: line.into(),
            output: output.into(),
            shown: None,
            exit_code: 0,
            duration_ms: 40,
            report: Report::BeforeCall,
        }
    }

    /// Makes the model see only this of the output.
    #[must_use]
    pub fn shows(self, shown: impl Into<String>) -> Self {
        Self { shown: Some(shown.into()), ..self }
    }

    /// Sets the exit code.
    #[must_use]
    pub fn exits(self, exit_code: i32) -> Self {
        Self { exit_code, ..self }
    }

    /// Sets the duration.
    #[must_use]
    pub fn takes(self, duration_ms: i64) -> Self {
        Self { duration_ms, ..self }
    }

    /// Makes the end of its process be recorded after the end of its call.
    #[must_use]
    pub fn reports_late(self) -> Self {
        Self { report: Report::AfterCall, ..self }
    }
}

/// An agent to spawn.
#[derive(Debug, Clone)]
pub struct Child {
    /// Last segment of its path.
    pub task_name: String,
    /// Name for people.
    pub nickname: String,
    /// Its model. `None` uses the model of the parent.
    pub model: Option<String>,
    /// Its task.
    pub task: String,
}

/// How much of its parent's conversation a child inherits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inheritance {
    Nothing,
    History,
}

/// A call of `wait_agent` that has started.
#[derive(Debug)]
#[must_use = "a wait that is not ended stays open in the recording"]
pub struct Wait {
    agent: Agent,
    call: Call,
}

#[derive(Debug)]
struct Turn {
    id: String,
    started_at_ms: i64,
    first_token_ms: Option<i64>,
}

#[derive(Debug)]
struct AgentState {
    thread_id: String,
    path: String,
    model: String,
    parent: Option<Agent>,
    /// The latest turn. It may have ended.
    turn: Option<Turn>,
    history: Vec<Value>,
    request_bytes: usize,
    cached_tokens: usize,
    mailbox: VecDeque<AgentMessage>,
    cells: u32,
    thought: Option<String>,
    remark: Option<String>,
}

/// A session that is being recorded.
///
/// # Panics
///
/// Methods that let an agent act panic if no turn of the agent has started, because the script is wrong then.
#[derive(Debug)]
pub struct Session {
    writer: BundleAppender,
    setup: Setup,
    ids: Ids,
    now_ms: i64,
    agents: Vec<AgentState>,
    turns: Vec<TurnRecord>,
    root_turn_id: String,
    latest_call_id: String,
}

impl Session {
    /// Starts a session with one agent, recorded at `path`.
    ///
    /// # Errors
    ///
    /// Returns an I/O error if something cannot be written. All other methods do the same.
    pub fn create(path: &Path, setup: Setup) -> io::Result<(Self, Agent)> {
        let mut ids = Ids::new(setup.seed);
        let trace_id = ids.uuid_v4();
        let thread_id = ids.uuid_v7(setup.started_at_unix_ms);
        let mut manifest = Manifest::new(&trace_id, &thread_id, &thread_id, setup.started_at_unix_ms);
        manifest.schema_version = setup.schema;
        let mut session = Self {
            writer: BundleAppender::create(path, &manifest)?,
            ids,
            now_ms: setup.started_at_unix_ms,
            agents: Vec::new(),
            turns: Vec::new(),
            root_turn_id: String::new(),
            latest_call_id: String::new(),
            setup,
        };
        session.session_event(EventPayload::RolloutStarted(RolloutStarted {
            trace_id: trace_id.into(),
            root_thread_id: thread_id.clone().into(),
        }))?;
        let model = session.setup.model.clone();
        let root = session.add_agent(thread_id, "/root".to_owned(), model, None);
        session.start_thread(root, None)?;
        Ok((session, root))
    }

    /// Returns all turns so far, in the order in which they started.
    pub fn turns(&self) -> &[TurnRecord] {
        &self.turns
    }

    /// Returns the id of the agent's latest turn.
    pub fn latest_turn_id(&self, agent: Agent) -> String {
        self.turn_id(agent)
    }

    /// Returns the id of the thread of the agent.
    pub fn thread_id(&self, agent: Agent) -> &str {
        &self.state(agent).thread_id
    }

    /// Returns the path of the agent.
    pub fn path(&self, agent: Agent) -> &str {
        &self.state(agent).path
    }

    /// Returns the id of the tool call that was started last, also by code.
    pub fn latest_call_id(&self) -> &str {
        &self.latest_call_id
    }

    /// Advances the clock of the session.
    pub fn advance(&mut self, duration_ms: i64) {
        self.now_ms += duration_ms;
    }

    /// Starts a turn of the agent with a message of the user.
    pub fn prompt(&mut self, agent: Agent, text: &str) -> io::Result<()> {
        self.start_turn(agent, None)?;
        self.accept_context(agent)?;
        let id = self.item_id("msg");
        self.accept(agent, items::input_message(&id, "user", &[text]), &id)
    }

    /// Adds a reasoning item to the agent's next response.
    pub fn think(&mut self, agent: Agent, summary: &str) {
        self.state_mut(agent).thought = Some(summary.to_owned());
    }

    /// Adds a message to the agent's next response, before its calls.
    pub fn remark(&mut self, agent: Agent, text: &str) {
        self.state_mut(agent).remark = Some(text.to_owned());
    }

    /// Records that the agent's model requests commands in one response, and that they run in parallel. Returns the ids of
    /// the calls.
    pub fn run(&mut self, agent: Agent, commands: &[Command]) -> io::Result<Vec<String>> {
        let running = self.begin_commands(&[(agent, commands)])?;
        self.end_commands(&running)?;
        Ok(running.into_iter().map(|running| running.call.id).collect())
    }

    /// Does the same as [`run`](Self::run) for several agents at the same time.
    pub fn run_together(&mut self, steps: &[(Agent, &[Command])]) -> io::Result<()> {
        let running = self.begin_commands(steps)?;
        self.end_commands(&running)
    }

    /// Records that the agent's model requests a command that is still running when the recording stops.
    pub fn run_without_end(&mut self, agent: Agent, command: &Command) -> io::Result<()> {
        self.begin_commands(&[(agent, std::slice::from_ref(command))]).map(drop)
    }

    /// Records that the agent's model spawns children, all in one response.
    pub fn spawn(&mut self, agent: Agent, children: &[Child]) -> io::Result<Vec<Agent>> {
        self.spawn_with(agent, children, Inheritance::Nothing)
    }

    /// Records that the agent's model spawns a child that inherits the whole conversation so far.
    pub fn spawn_forked(&mut self, agent: Agent, child: &Child) -> io::Result<Agent> {
        self.spawn_with(agent, std::slice::from_ref(child), Inheritance::History).map(|children| children[0])
    }

    /// Records that the agent's model sends a note to another agent. The note waits in the mailbox until the next request
    /// of the receiver. Returns the id of the call.
    pub fn send_message(&mut self, agent: Agent, target: Agent, text: &str) -> io::Result<String> {
        self.tell(agent, target, "send_message", ToolKind::SendMessage, text)
    }

    /// Records that the agent's model gives another task to an idle agent.
    pub fn follow_up(&mut self, agent: Agent, target: Agent, text: &str) -> io::Result<()> {
        let parent_turn_id = self.turn_id(agent);
        self.tell(agent, target, "followup_task", ToolKind::AssignAgentTask, text)?;
        self.open_turn(target)?;
        self.announce_turn(target, Some((&parent_turn_id, agent)))
    }

    /// Records that the agent's model starts to wait for messages.
    pub fn begin_wait(&mut self, agent: Agent, timeout_ms: u32) -> io::Result<Wait> {
        let inference_call_id = self.request(agent)?;
        let call = self.collaboration_call("wait_agent", ToolKind::WaitAgent, &json!({ "timeout_ms": timeout_ms }));
        self.respond(agent, inference_call_id, std::slice::from_ref(&call), None)?;
        self.begin_call(agent, &call)?;
        let runtime = json!({
            "started_at_ms": self.now_ms,
            "sender_thread_id": self.state(agent).thread_id,
            "receiver_thread_ids": [],
            "call_id": call.id,
        });
        self.start_runtime(agent, &call, &runtime)?;
        Ok(Wait { agent, call })
    }

    /// Records the end of a wait. It timed out if the mailbox is empty.
    pub fn end_wait(&mut self, wait: Wait) -> io::Result<()> {
        let Wait { agent, call } = wait;
        let timed_out = self.state(agent).mailbox.is_empty();
        let runtime = json!({
            "sender_thread_id": self.state(agent).thread_id,
            "call_id": call.id,
            "completed_at_ms": self.now_ms,
            "statuses": {},
        });
        self.end_runtime(agent, &call, ExecutionStatus::Completed, &runtime)?;
        let message = if timed_out { "Nothing arrived in time." } else { "A message arrived." };
        let output = json!({ "message": message, "timed_out": timed_out }).to_string();
        self.end_call(agent, &call, &output)?;
        self.accept_output(agent, &call, &output)
    }

    /// Records that the provider refuses a request of the agent.
    pub fn fail_request(&mut self, agent: Agent, error: &str) -> io::Result<()> {
        let inference_call_id = self.request(agent)?;
        self.advance(210);
        self.turn_event(
            agent,
            EventPayload::InferenceFailed(InferenceFailed {
                inference_call_id: inference_call_id.into(),
                upstream_request_id: None,
                error: error.into(),
                partial_response_payload: None,
            }),
        )
    }

    /// Records the final answer of the agent's model and the end of the turn. The answer of a child goes to its parent.
    pub fn answer(&mut self, agent: Agent, text: &str) -> io::Result<()> {
        let inference_call_id = self.request(agent)?;
        self.finish_answer(agent, inference_call_id, text)
    }

    fn finish_answer(&mut self, agent: Agent, inference_call_id: String, text: &str) -> io::Result<()> {
        self.respond(agent, inference_call_id, &[], Some(text))?;
        self.end_turn(agent, ExecutionStatus::Completed)?;
        let mut complete = self.completion(agent, Some(text));
        complete["time_to_first_token_ms"] = json!(self.turn(agent).first_token_ms);
        self.protocol_event("turn_complete", &complete)?;
        self.report(agent, text, &json!({ "completed": text }))
    }

    /// Records that the agent's turn ends with an error, which is reported to its parent.
    pub fn fail_turn(&mut self, agent: Agent, error: &str) -> io::Result<()> {
        let info = json!({ "message": error, "codex_error_info": "internal_server_error" });
        let mut event = json!({ "type": "error" });
        merge(&mut event, &info);
        self.protocol_event("error", &event)?;
        self.end_turn(agent, ExecutionStatus::Failed)?;
        let mut complete = self.completion(agent, None);
        complete["error"] = info;
        self.protocol_event("turn_complete", &complete)?;
        self.report(agent, &format!("The agent failed: {error}"), &json!({ "errored": error }))
    }

    /// Ends the session normally. A session that is dropped instead leaves the recording of a process that died.
    pub fn end(mut self) -> io::Result<()> {
        self.advance(4);
        self.end_thread(Agent(0))?;
        self.session_event(EventPayload::RolloutEnded(RolloutEnded { status: RolloutStatus::Completed }))?;
        for index in (1..self.agents.len()).rev() {
            self.end_thread(Agent(index))?;
        }
        if self.setup.schema >= SchemaVersion::V2 {
            self.session_event(EventPayload::RecordingCompleted(RecordingCompleted {}))?;
        }
        Ok(())
    }
}

/// Helpers of the methods above.
impl Session {
    fn state(&self, agent: Agent) -> &AgentState {
        &self.agents[agent.0]
    }

    fn state_mut(&mut self, agent: Agent) -> &mut AgentState {
        &mut self.agents[agent.0]
    }

    fn turn(&self, agent: Agent) -> &Turn {
        self.state(agent).turn.as_ref().expect("a script begins a turn of an agent before the agent acts")
    }

    fn turn_id(&self, agent: Agent) -> String {
        self.turn(agent).id.clone()
    }

    fn item_id(&mut self, prefix: &str) -> String {
        format!("{prefix}_{}", self.ids.uuid_v7(self.now_ms))
    }

    fn tick(&mut self) {
        self.now_ms += i64::from(self.ids.below(3));
    }

    fn session_event(&mut self, event: EventPayload<'_>) -> io::Result<()> {
        self.tick();
        self.writer.event(self.now_ms, Context::SESSION, event).map(drop)
    }

    fn turn_event(&mut self, agent: Agent, event: EventPayload<'_>) -> io::Result<()> {
        let turn_id = self.turn_id(agent);
        self.event_of_turn(agent, &turn_id, event)
    }

    fn event_of_turn(&mut self, agent: Agent, turn_id: &str, event: EventPayload<'_>) -> io::Result<()> {
        self.tick();
        let context = Context::turn(&self.agents[agent.0].thread_id, turn_id);
        self.writer.event(self.now_ms, context, event).map(drop)
    }

    fn protocol_event(&mut self, event_type: &'static str, event: &Value) -> io::Result<()> {
        let event_payload = self.writer.payload(PayloadKind::ProtocolEvent, event)?;
        let event_type = event_type.into();
        self.session_event(EventPayload::ProtocolEventObserved(ProtocolEventObserved { event_type, event_payload }))
    }
}

/// Appends the members of one object to another.
fn merge(into: &mut Value, from: &Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from.clone());
    }
}
