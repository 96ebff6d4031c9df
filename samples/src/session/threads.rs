//! Threads, their turns, and the results of children.

use std::collections::VecDeque;
use std::io;

use serde_json::{Value, json};
use trace_recorder::format::event::{
    AgentResultObserved, CodexTurnEnded, CodexTurnStarted, ThreadEnded, ThreadStarted,
};
use trace_recorder::format::{EventPayload, ExecutionStatus, PayloadKind, RolloutStatus, ToolKind};

use super::tools::Call;
use super::{Agent, AgentState, Child, Inheritance, Session, Setup, Turn, TurnRecord, merge};
use crate::items::{self, AgentContent, AgentMessage, message_head};
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
            cells: 0,
            thought: None,
            remark: None,
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

    pub(super) fn spawn_with(
        &mut self,
        agent: Agent,
        children: &[Child],
        inheritance: Inheritance,
    ) -> io::Result<Vec<Agent>> {
        let inference_call_id = self.request(agent)?;
        let calls: Vec<Call> = children
            .iter()
            .map(|child| {
                let arguments = json!({
                    "task_name": child.task_name,
                    "message": child.task,
                    "fork_turns": if inheritance == Inheritance::History { "all" } else { "none" },
                });
                self.collaboration_call("spawn_agent", ToolKind::SpawnAgent, &arguments)
            })
            .collect();
        self.respond(agent, inference_call_id, &calls, None)?;
        let mut spawned = Vec::with_capacity(children.len());
        for (call, child) in calls.iter().zip(children) {
            self.begin_call(agent, call)?;
            self.advance(6);
            let thread_id = self.ids.uuid_v7(self.now_ms);
            let path = format!("{}/{}", self.state(agent).path, child.task_name);
            let model = child.model.clone().unwrap_or_else(|| self.state(agent).model.clone());
            let new = self.add_agent(thread_id, path, model, Some(agent));
            self.start_thread(new, Some(child))?;
            let runtime = self.activity(call, new, "started");
            let parent_turn_id = self.turn_id(agent);
            self.open_turn(new)?;
            self.end_runtime(agent, call, ExecutionStatus::Completed, &runtime)?;
            let output = json!({ "task_name": self.state(new).path }).to_string();
            self.end_call(agent, call, &output)?;
            self.announce_turn(new, Some((&parent_turn_id, agent)))?;
            if inheritance == Inheritance::History {
                self.inherit(agent, new, call)?;
            }
            self.accept_output(agent, call, &output)?;
            self.accept_context(new)?;
            self.send(agent, new, &child.task);
            spawned.push(new);
        }
        Ok(spawned)
    }

    /// Copies the history of a parent to its child, without reasoning items: the same items with the same ids.
    fn inherit(&mut self, parent: Agent, child: Agent, call: &Call) -> io::Result<()> {
        let history = self.state(parent).history.clone();
        for item in history.into_iter().filter(|item| item["type"] != "reasoning") {
            self.remember(child, item);
        }
        // The call that spawned the child has no output yet when the history is copied.
        let id = format!("fco_{}", self.ids.uuid_v4());
        self.remember(child, items::function_call_output(&id, &call.id, "aborted"));
        let id = self.item_id("msg");
        let note = "From here on you are a child of the agent above. What came before is its conversation, not yours.";
        self.accept(child, items::input_message(&id, "developer", &[note]), &id)
    }

    pub(super) fn start_turn(&mut self, agent: Agent, parent: Option<(&str, Agent)>) -> io::Result<()> {
        self.open_turn(agent)?;
        self.announce_turn(agent, parent)
    }

    pub(super) fn open_turn(&mut self, agent: Agent) -> io::Result<()> {
        self.advance(3);
        let id = self.ids.uuid_v7(self.now_ms);
        let started_at_ms = self.now_ms;
        let state = self.state_mut(agent);
        state.turn = Some(Turn { id: id.clone(), started_at_ms, first_token_ms: None });
        let (thread_id, agent_path) = (state.thread_id.clone(), state.path.clone());
        self.turns.push(TurnRecord { turn_id: id.clone(), thread_id, agent_path });
        if agent == Agent(0) {
            self.root_turn_id.clone_from(&id);
        }
        let thread_id = self.state(agent).thread_id.clone().into();
        self.turn_event(agent, EventPayload::CodexTurnStarted(CodexTurnStarted { codex_turn_id: id.into(), thread_id }))
    }

    /// Records the client's notification of a new turn, which comes a moment after the start event of the turn.
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

    /// Delivers the result of a child to its parent.
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
