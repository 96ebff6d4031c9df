//! What is stopped before it is done: by the user, by another agent, or by the end of the session.

use std::io;

use serde_json::{Value, json};
use trace_recorder::format::event::{InferenceCancelled, RecordingCompleted, RolloutEnded};
use trace_recorder::format::{EventPayload, ExecutionStatus, RolloutStatus, SchemaVersion, ToolKind};

use super::tools::Running;
use super::{Agent, Command, Session, Wait};
use crate::items;

/// A request whose answer has not come.
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

/// Something that the end of the session cuts off.
#[derive(Debug)]
pub enum UnderWay {
    /// A request.
    Request(Pending),
    /// A request that the provider has not begun to answer.
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
    /// The agent asks its model, which takes its time.
    pub fn begin_request(&mut self, agent: Agent) -> io::Result<Pending> {
        Ok(Pending { agent, id: self.request(agent)? })
    }

    /// The model answers after all: with its last word, and the turn ends.
    pub fn answer_pending(&mut self, pending: Pending, text: &str) -> io::Result<()> {
        let Pending { agent, id } = pending;
        self.finish_answer(agent, id, text)
    }

    /// The agent's model asks for a command, which runs for a while.
    pub fn begin_command(&mut self, agent: Agent, command: &Command) -> io::Result<RunningCommand> {
        let mut running = self.begin_commands(&[(agent, std::slice::from_ref(command))])?;
        Ok(RunningCommand(running.swap_remove(0)))
    }

    /// The agent's model asks for a command, and goes on while it runs in the background.
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

    /// The agent's model writes to a command in the background that has ended or ends by it, and is told how.
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

    /// The command ends as it is scripted.
    pub fn end_command(&mut self, command: RunningCommand) -> io::Result<()> {
        self.end_commands(&[command.0])
    }

    /// The agent's turn is stopped while it waits for its model.
    pub fn interrupt_request(&mut self, pending: Pending) -> io::Result<()> {
        let agent = pending.agent;
        self.cancel_request(pending)?;
        self.abort_turn(agent)
    }

    /// The agent's turn is stopped while the provider has not even begun to answer: of the request nothing more is told.
    pub fn interrupt_silent_request(&mut self, pending: &Pending) -> io::Result<()> {
        self.abort_turn(pending.agent)
    }

    /// The agent's turn is stopped while it runs a command. The command is killed now or, as a command in the background
    /// is, with the session.
    pub fn interrupt_command(&mut self, command: &RunningCommand) -> io::Result<()> {
        let (agent, id) = (command.0.agent, command.0.call.id.clone());
        self.abort_output(agent, &id)?;
        self.abort_turn(agent)
    }

    /// The process of a stopped command is gone.
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

    /// The process of a stopped command runs on to its end, as it is scripted.
    pub fn outlive_turn(&mut self, command: &RunningCommand) -> io::Result<()> {
        self.now_ms = self.now_ms.max(command.0.ends_at_ms());
        self.report_end(&command.0)
    }

    /// The agent's turn is stopped while it waits for messages.
    pub fn interrupt_wait(&mut self, wait: Wait) -> io::Result<()> {
        let Wait { agent, call } = wait;
        self.abort_output(agent, &call.id)?;
        self.abort_turn(agent)
    }

    /// The agent's turn is stopped between two steps.
    pub fn interrupt_idle(&mut self, agent: Agent) -> io::Result<()> {
        self.abort_turn(agent)
    }

    /// The agent's model stops another agent. Whoever stops has to be told next: the turn ends a moment later.
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

    /// Ends the session while some agents are still at work.
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

    /// What the model is told of a call that was stopped.
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
