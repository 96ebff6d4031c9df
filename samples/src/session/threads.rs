//! Threads, their turns, and what a child reports.

use std::collections::VecDeque;
use std::io;

use serde_json::{Value, json};
use trace_recorder::format::event::{
    AgentResultObserved, CodexTurnEnded, CodexTurnStarted, ThreadEnded, ThreadStarted,
};
use trace_recorder::format::{EventPayload, ExecutionStatus, PayloadKind, RolloutStatus};

use super::{Agent, AgentState, Child, Session, Setup, Turn, merge};
use crate::items::{AgentContent, AgentMessage, message_head};
use crate::texts::Texts;

impl Session {
    pub(super) fn add_agent(&mut self, thread_id: String, path: String, model: String, parent: Option<Agent>) -> Agent {
        let Texts { tools, child_tools, .. } = &self.setup.texts;
        let request_bytes = if parent.is_some() { child_tools } else { tools }.to_string().len();
        self.agents.push(AgentState {
            thread_id,
            path,
            model,
            parent,
            turn: None,
            history: Vec::new(),
            request_bytes,
            cached_tokens: 0,
            mailbox: VecDeque::new(),
            thought: None,
        });
        Agent(self.agents.len() - 1)
    }

    pub(super) fn start_thread(&mut self, agent: Agent, child: Option<&Child>) -> io::Result<()> {
        let state = self.state(agent);
        let Setup { cwd, provider, .. } = &self.setup;
        let depth = state.path.matches('/').count() - 1;
        let parent_thread_id = state.parent.map(|parent| &self.state(parent).thread_id);
        let source = match (child, parent_thread_id) {
            (Some(child), Some(parent)) => json!({ "subagent": { "thread_spawn": {
                "parent_thread_id": parent,
                "depth": depth,
                "agent_path": state.path,
                "agent_nickname": child.nickname,
                "agent_role": null,
            } } }),
            _ => json!("exec"),
        };
        let sessions = format!("/home/dev/.sessions/{}.jsonl", state.thread_id);
        let metadata = json!({
            "thread_id": state.thread_id,
            "agent_path": state.path,
            "task_name": child.map(|child| &child.task_name),
            "nickname": child.map(|child| &child.nickname),
            "agent_role": null,
            "session_source": source,
            "cwd": cwd,
            "rollout_path": sessions,
            "model": state.model,
            "provider_name": provider,
            "approval_policy": "never",
            "sandbox_policy": "DangerFullAccess",
        });
        let mut configured = json!({
            "type": "session_configured",
            "session_id": self.state(Agent(0)).thread_id,
            "thread_id": state.thread_id,
        });
        if let Some(parent) = parent_thread_id {
            configured["parent_thread_id"] = json!(parent);
        }
        merge(
            &mut configured,
            &json!({
                "thread_source": if child.is_some() { "subagent" } else { "user" },
                "model": state.model,
                "model_provider_id": provider,
                "approval_policy": "never",
                "approvals_reviewer": "user",
                "permission_profile": { "type": "disabled" },
                "cwd": cwd,
                "rollout_path": sessions,
            }),
        );
        let (thread_id, agent_path) = (state.thread_id.clone().into(), state.path.clone().into());
        let metadata_payload = Some(self.writer.payload(PayloadKind::SessionMetadata, &metadata)?);
        self.session_event(EventPayload::ThreadStarted(ThreadStarted { thread_id, agent_path, metadata_payload }))?;
        self.protocol_event("session_configured", &configured)
    }

    pub(super) fn end_thread(&mut self, agent: Agent) -> io::Result<()> {
        self.protocol_event("shutdown_complete", &json!({ "type": "shutdown_complete" }))?;
        let thread_id = self.state(agent).thread_id.clone().into();
        self.session_event(EventPayload::ThreadEnded(ThreadEnded { thread_id, status: RolloutStatus::Completed }))
    }

    pub(super) fn start_turn(&mut self, agent: Agent, parent: Option<(&str, Agent)>) -> io::Result<()> {
        self.open_turn(agent)?;
        self.announce_turn(agent, parent)
    }

    pub(super) fn open_turn(&mut self, agent: Agent) -> io::Result<()> {
        self.advance(3);
        let id = self.ids.uuid_v7(self.now_ms);
        let started_at_ms = self.now_ms;
        self.state_mut(agent).turn = Some(Turn { id: id.clone(), started_at_ms, first_token_ms: None });
        if agent == Agent(0) {
            self.root_turn_id.clone_from(&id);
        }
        let thread_id = self.state(agent).thread_id.clone().into();
        self.turn_event(agent, EventPayload::CodexTurnStarted(CodexTurnStarted { codex_turn_id: id.into(), thread_id }))
    }

    /// The client hears of a new turn a moment after the trace does.
    pub(super) fn announce_turn(&mut self, agent: Agent, parent: Option<(&str, Agent)>) -> io::Result<()> {
        let turn = self.turn(agent);
        let started = json!({
            "type": "task_started",
            "turn_attribution": {
                "turn_id": turn.id,
                "turn_trigger": "exec",
                "parent_turn_id": parent.map(|(turn_id, _)| turn_id),
                "initiating_agent_path": parent.map(|(_, agent)| &self.state(agent).path),
                "root_turn_id": self.root_turn_id,
            },
            "turn_id": turn.id,
            "root_turn_id": self.root_turn_id,
            "started_at": turn.started_at_ms / 1000,
            "model_context_window": 258_400,
            "collaboration_mode_kind": "default",
        });
        self.protocol_event("turn_started", &started)
    }

    pub(super) fn end_turn(&mut self, agent: Agent, status: ExecutionStatus) -> io::Result<()> {
        let codex_turn_id = self.turn_id(agent).into();
        self.turn_event(agent, EventPayload::CodexTurnEnded(CodexTurnEnded { codex_turn_id, status }))
    }

    pub(super) fn completion(&self, agent: Agent, last_message: Option<&str>) -> Value {
        let turn = self.turn(agent);
        json!({
            "type": "task_complete",
            "root_turn_id": self.root_turn_id,
            "turn_id": turn.id,
            "last_agent_message": last_message,
            "started_at": turn.started_at_ms / 1000,
            "completed_at": self.now_ms / 1000,
            "duration_ms": self.now_ms - turn.started_at_ms,
        })
    }

    /// Hands a child's result to its parent.
    pub(super) fn report(&mut self, agent: Agent, text: &str, status: &Value) -> io::Result<()> {
        let Some(parent) = self.state(agent).parent else { return Ok(()) };
        let (child, turn_id) = (self.state(agent), self.turn_id(agent));
        let parent_thread_id = self.state(parent).thread_id.clone();
        let recipient = self.state(parent).path.clone();
        let (author, child_thread_id) = (child.path.clone(), child.thread_id.clone());
        let message = format!("{}{text}", message_head("FINAL_ANSWER", &recipient, &author));
        let carried = json!({ "child_agent_path": author, "message": message, "status": status });
        let carried_payload = Some(self.writer.payload(PayloadKind::AgentResult, &carried)?);
        self.turn_event(
            agent,
            EventPayload::AgentResultObserved(AgentResultObserved {
                edge_id: format!("edge:agent_result:{child_thread_id}:{turn_id}:{parent_thread_id}").into(),
                child_thread_id: child_thread_id.into(),
                child_codex_turn_id: turn_id.into(),
                parent_thread_id: parent_thread_id.into(),
                message: message.clone().into(),
                carried_payload,
            }),
        )?;
        let content = AgentContent::Result(message);
        self.state_mut(parent).mailbox.push_back(AgentMessage { author, recipient, content });
        Ok(())
    }
}
