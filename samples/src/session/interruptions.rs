//! Steps that do not finish because of the user, another agent, or the end of the session.

use std::io;

use serde_json::{Value, json};
use trace_recorder::format::event::{InferenceCancelled, RecordingCompleted, RolloutEnded};
use trace_recorder::format::{EventPayload, ExecutionStatus, RolloutStatus, SchemaVersion, ToolKind};

use super::tools::Running;
use super::{Agent, Command, Session, Wait};
use crate::items;

/// A request without a response so far.
#[derive(Debug)]
#[must_use = "a request that is neither answered nor cancelled stays open in the recording"]
pub struct Pending {
    agent: Agent,
    id: String,
}

impl Pending {
    /// Returns the id of the inference call.
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// A command that is running.
#[derive(Debug)]
#[must_use = "a command that is not ended stays open in the recording"]
pub struct RunningCommand(Running);

impl RunningCommand {
    /// Returns the id of the tool call.
    pub fn id(&self) -> &str {
        &self.0.call.id
    }
}

/// A step that the end of the session cuts off.
#[derive(Debug)]
pub enum UnderWay {
    /// A request.
    Request(Pending),
    /// A request to which the provider has not begun a response.
    SilentRequest(Pending),
    /// A command.
    Command(RunningCommand),
    /// A wait for messages.
    Wait(Wait),
    /// Nothing: the agent was between two steps.
    Nothing(Agent),
}

impl UnderWay {
    fn agent(&self) -> Agent {
        match self {
            Self::Request(Pending { agent, .. })
            | Self::SilentRequest(Pending { agent, .. })
            | Self::Nothing(agent) => *agent,
            Self::Command(RunningCommand(running)) => running.agent,
            Self::Wait(wait) => wait.agent,
        }
    }
}

impl Wait {
    /// Returns the id of the tool call.
    pub fn id(&self) -> &str {
        &self.call.id
    }
}

/// # Errors
///
/// Every method returns an I/O error when something cannot be written.
impl Session {
    /// Records that the agent sends a request, without a response yet.
    pub fn begin_request(&mut self, agent: Agent) -> io::Result<Pending> {
        Ok(Pending { agent, id: self.request(agent)? })
    }

    /// Records the response to a pending request: the final answer, which ends the turn.
    pub fn answer_pending(&mut self, pending: Pending, text: &str) -> io::Result<()> {
        let Pending { agent, id } = pending;
        self.finish_answer(agent, id, text)
    }

    /// Records that the agent's model requests a command, without its end.
    pub fn begin_command(&mut self, agent: Agent, command: &Command) -> io::Result<RunningCommand> {
        let mut running = self.begin_commands(&[(agent, std::slice::from_ref(command))])?;
        Ok(RunningCommand(running.swap_remove(0)))
    }

    /// Records that the agent's model requests a command, which runs in the background while the turn continues.
    pub fn begin_background_command(&mut self, agent: Agent, command: &Command) -> io::Result<RunningCommand> {
        let command = self.begin_command(agent, command)?;
        self.advance(1_000);
        let output = format!(
            "Chunk ID: {}\nWall time: 1.0000 seconds\nProcess running with session ID {}\nOriginal token count: 0\nOutput:\n",
            self.ids.hex(6),
            command.0.process_id
        );
        self.end_call(agent, &command.0.call, &output)?;
        self.accept_output(agent, &command.0.call, &output)?;
        Ok(command)
    }

    /// Records that the agent's model writes to a command in the background that has ended or is ended by the input, and
    /// receives its result. Returns the id of the call.
    pub fn poll_command(&mut self, agent: Agent, command: &RunningCommand, input: &str) -> io::Result<String> {
        let inference_call_id = self.request(agent)?;
        let running = &command.0;
        let session: i64 = running.process_id.parse().unwrap_or_default();
        let arguments = json!({ "session_id": session, "chars": input });
        let call = self.call("write_stdin", None, ToolKind::WriteStdin, &arguments);
        self.respond(agent, inference_call_id, std::slice::from_ref(&call), None)?;
        self.begin_call(agent, &call)?;
        self.advance(10);
        let output = format!(
            "Chunk ID: {}\nWall time: 0.0100 seconds\nProcess exited with code {}\nOriginal token count: 0\nOutput:\n{}",
            self.ids.hex(6),
            running.exit_code(),
            running.output(),
        );
        self.end_call(agent, &call, &output)?;
        self.accept_output(agent, &call, &output)?;
        Ok(call.id)
    }

    /// Records that the command ends as its script says.
    pub fn end_command(&mut self, command: RunningCommand) -> io::Result<()> {
        self.end_commands(&[command.0])
    }

    /// Interrupts the agent's turn while it waits for a response.
    pub fn interrupt_request(&mut self, pending: Pending) -> io::Result<()> {
        let agent = pending.agent;
        self.cancel_request(pending)?;
        self.abort_turn(agent)
    }

    /// Interrupts the agent's turn before the provider has begun its response. No further event of the request is recorded.
    pub fn interrupt_silent_request(&mut self, pending: &Pending) -> io::Result<()> {
        self.abort_turn(pending.agent)
    }

    /// Interrupts the agent's turn while a command runs. The command can be killed now or, if it runs in the background, at
    /// the end of the session.
    pub fn interrupt_command(&mut self, command: &RunningCommand) -> io::Result<()> {
        let (agent, id) = (command.0.agent, command.0.call.id.clone());
        self.abort_output(agent, &id)?;
        self.abort_turn(agent)
    }

    /// Records that the process of an interrupted command was killed.
    pub fn kill_command(&mut self, command: &RunningCommand) -> io::Result<()> {
        let running = &command.0;
        let mut runtime = self.exec_report(running, "completed_at_ms", self.now_ms);
        let duration_ms = self.now_ms - running.started_at_ms;
        super::merge(
            &mut runtime,
            &json!({
                "aggregated_output": "",
                "exit_code": -1,
                "duration": { "secs": duration_ms / 1000, "nanos": duration_ms % 1000 * 1_000_000 },
                "status": "failed",
            }),
        );
        self.end_process(running, ExecutionStatus::Failed, &runtime)
    }

    /// Records that the process of an interrupted command runs to its end, as its script says.
    pub fn outlive_turn(&mut self, command: &RunningCommand) -> io::Result<()> {
        self.now_ms = self.now_ms.max(command.0.ends_at_ms());
        self.report_end(&command.0)
    }

    /// Interrupts the agent's turn while it waits for messages.
    pub fn interrupt_wait(&mut self, wait: Wait) -> io::Result<()> {
        let Wait { agent, call } = wait;
        self.abort_output(agent, &call.id)?;
        self.abort_turn(agent)
    }

    /// Interrupts the agent's turn between two steps.
    pub fn interrupt_idle(&mut self, agent: Agent) -> io::Result<()> {
        self.abort_turn(agent)
    }

    /// Records that the agent's model stops another agent. The caller must then interrupt the turn of that agent, which
    /// ends a moment later.
    pub fn stop_agent(&mut self, agent: Agent, target: Agent, previous_status: &Value) -> io::Result<String> {
        let inference_call_id = self.request(agent)?;
        let name = self.state(target).path.rsplit('/').next().unwrap_or_default().to_owned();
        let call = self.collaboration_call("interrupt_agent", ToolKind::CloseAgent, &json!({ "target": name }));
        self.respond(agent, inference_call_id, std::slice::from_ref(&call), None)?;
        self.begin_call(agent, &call)?;
        let runtime = self.activity(&call, target, "interrupted");
        self.end_runtime(agent, &call, ExecutionStatus::Completed, &runtime)?;
        let output = json!({ "previous_status": previous_status }).to_string();
        self.end_call(agent, &call, &output)?;
        self.accept_output(agent, &call, &output)?;
        Ok(call.id)
    }

    /// Ends the session while some agents are still working.
    pub fn end_cutting_off(mut self, cut: Vec<UnderWay>) -> io::Result<()> {
        self.advance(4);
        let agents: Vec<Agent> = cut.iter().map(UnderWay::agent).collect();
        let mut commands = Vec::new();
        for under_way in cut {
            match under_way {
                UnderWay::Request(pending) => self.cancel_request(pending)?,
                UnderWay::Command(command) => commands.push(command),
                UnderWay::SilentRequest(_) | UnderWay::Wait(_) | UnderWay::Nothing(_) => {}
            }
        }
        self.end_thread(Agent(0))?;
        self.session_event(EventPayload::RolloutEnded(RolloutEnded { status: RolloutStatus::Completed }))?;
        for index in (1..self.agents.len()).rev() {
            let agent = Agent(index);
            if agents.contains(&agent) {
                self.abort_turn(agent)?;
            }
            for command in commands.iter().filter(|command| command.0.agent == agent) {
                self.kill_command(command)?;
            }
            self.end_thread(agent)?;
        }
        if self.setup.schema >= SchemaVersion::V2 {
            self.session_event(EventPayload::RecordingCompleted(RecordingCompleted {}))?;
        }
        Ok(())
    }

    fn cancel_request(&mut self, pending: Pending) -> io::Result<()> {
        let upstream_request_id = Some(format!("req_{}", self.ids.hex(16)).into());
        self.turn_event(
            pending.agent,
            EventPayload::InferenceCancelled(InferenceCancelled {
                inference_call_id: pending.id.into(),
                upstream_request_id,
                reason: "response stream dropped before provider terminal event".into(),
                partial_response_payload: None,
            }),
        )
    }

    /// Adds the output that the model gets for an interrupted call.
    fn abort_output(&mut self, agent: Agent, call_id: &str) -> io::Result<()> {
        let id = self.item_id("fco");
        let item = items::function_call_output(&id, call_id, "Wall time: 0.9 seconds\naborted by user");
        self.accept(agent, item, &id)
    }

    fn abort_turn(&mut self, agent: Agent) -> io::Result<()> {
        let id = self.item_id("msg");
        let note = "<turn_aborted>\nThe previous turn was stopped on purpose. What it had begun may be done in part.\n\
                    </turn_aborted>";
        self.accept(agent, items::input_message(&id, "developer", &[note]), &id)?;
        self.end_turn(agent, ExecutionStatus::Cancelled)?;
        let turn = self.turn(agent);
        let aborted = json!({
            "type": "turn_aborted",
            "root_turn_id": self.root_turn_id,
            "turn_id": turn.id,
            "reason": "interrupted",
            "started_at": turn.started_at_ms / 1000,
            "completed_at": self.now_ms / 1000,
            "duration_ms": self.now_ms - turn.started_at_ms,
        });
        self.protocol_event("turn_aborted", &aborted)
    }
}
