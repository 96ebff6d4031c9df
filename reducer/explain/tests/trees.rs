//! Deep and wide trees of agents: no function recurses, and the path goes through all agents that were waited for.

use std::fmt::Write;

use serde_json::{Value, json};
use tempfile::TempDir;
use trace_explain::Session;
use trace_explain::activity::Work;
use trace_explain::costs::Costs;
use trace_explain::critical_path::CriticalPath;
use trace_explain::diff::Diff;
use trace_explain::timeline::Timeline;

fn thread(agent: usize) -> String {
    format!("00000000-0000-7000-8000-{agent:012}")
}

/// Writes a log, one event per millisecond.
struct Log {
    directory: TempDir,
    lines: String,
    seq: u64,
    payloads: u64,
}

impl Log {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(directory.path().join("payloads")).expect("a directory");
        let manifest = json!({
            "schema_version": 2, "trace_id": "trace", "rollout_id": "rollout", "root_thread_id": thread(0),
            "started_at_unix_ms": 1000, "raw_event_log": "trace.jsonl", "payloads_dir": "payloads",
        });
        std::fs::write(directory.path().join("manifest.json"), manifest.to_string()).expect("writes");
        let mut log = Self { directory, lines: String::new(), seq: 0, payloads: 0 };
        log.event(None, &json!({"type": "rollout_started", "trace_id": "trace", "root_thread_id": thread(0)}));
        log
    }

    fn event(&mut self, agent: Option<usize>, payload: &Value) {
        self.seq += 1;
        let line = json!({
            "schema_version": 2, "seq": self.seq, "wall_time_unix_ms": 1000 + self.seq, "rollout_id": "rollout",
            "thread_id": agent.map(thread), "codex_turn_id": agent.map(|agent| format!("turn{agent}")),
            "payload": payload,
        });
        writeln!(self.lines, "{line}").expect("writes");
    }

    fn payload(&mut self, kind: &str, value: &Value) -> Value {
        self.payloads += 1;
        let path = format!("payloads/{}.json", self.payloads);
        std::fs::write(self.directory.path().join(&path), value.to_string()).expect("writes");
        json!({"raw_payload_id": format!("raw_payload:{}", self.payloads), "kind": {"type": kind}, "path": path})
    }

    /// Starts an agent that another agent spawned.
    fn agent(&mut self, agent: usize, parent: Option<usize>, path: &str) {
        let metadata = parent.map(|parent| {
            let spawn = json!({"parent_thread_id": thread(parent), "agent_path": path, "agent_role": "worker"});
            self.payload("session_metadata", &json!({"session_source": {"subagent": {"thread_spawn": spawn}}}))
        });
        let started = json!({
            "type": "thread_started", "thread_id": thread(agent), "agent_path": path, "metadata_payload": metadata,
        });
        self.event(None, &started);
        let (thread, turn) = (thread(agent), format!("turn{agent}"));
        self.event(Some(agent), &json!({"type": "codex_turn_started", "codex_turn_id": turn, "thread_id": thread}));
    }

    fn tool(&mut self, agent: usize, id: &str, kind: &str) {
        let started = json!({
            "type": "tool_call_started", "tool_call_id": id, "model_visible_call_id": id,
            "code_mode_runtime_tool_id": null, "requester": {"type": "model"}, "kind": {"type": kind},
            "summary": {"type": "generic", "label": kind, "input_preview": null, "output_preview": null},
            "invocation_payload": null,
        });
        self.event(Some(agent), &started);
    }

    fn tool_ended(&mut self, agent: usize, id: &str) {
        let ended =
            json!({"type": "tool_call_ended", "tool_call_id": id, "status": "completed", "result_payload": null});
        self.event(Some(agent), &ended);
    }

    /// Adds a response with code that runs in a cell.
    fn code(&mut self, agent: usize, call: &str) {
        let request = self.payload("inference_request", &json!({"model": "m", "input": []}));
        let (thread, turn) = (thread(agent), format!("turn{agent}"));
        let started = json!({
            "type": "inference_started", "inference_call_id": format!("model-{call}"), "thread_id": thread,
            "codex_turn_id": turn, "model": "m", "provider_name": "p", "request_payload": request,
        });
        self.event(Some(agent), &started);
        let item = json!({"type": "custom_tool_call", "id": call, "call_id": call, "name": "exec", "input": "code"});
        let response = self.payload("inference_response", &json!({"output_items": [item]}));
        let completed = json!({
            "type": "inference_completed", "inference_call_id": format!("model-{call}"), "response_id": null,
            "upstream_request_id": null, "response_payload": response,
        });
        self.event(Some(agent), &completed);
        let tool = json!({
            "type": "tool_call_started", "tool_call_id": call, "model_visible_call_id": call,
            "code_mode_runtime_tool_id": null, "requester": {"type": "model"}, "kind": {"type": "other", "name": "exec"},
            "summary": {"type": "generic", "label": "exec", "input_preview": "code", "output_preview": null},
            "invocation_payload": null,
        });
        self.event(Some(agent), &tool);
        let cell = json!({
            "type": "code_cell_started", "runtime_cell_id": "1", "model_visible_call_id": call, "source_js": "code",
        });
        self.event(Some(agent), &cell);
    }

    /// Starts a call that the code of an agent's cell makes.
    fn nested(&mut self, agent: usize, id: &str, kind: &str) {
        let arguments = json!({"task_name": "1", "message": "please"}).to_string();
        let invocation = self.payload(
            "tool_invocation",
            &json!({"tool_name": kind, "payload": {"type": "function", "arguments": arguments}}),
        );
        let started = json!({
            "type": "tool_call_started", "tool_call_id": id, "model_visible_call_id": null,
            "code_mode_runtime_tool_id": id, "requester": {"type": "code_cell", "runtime_cell_id": "1"},
            "kind": {"type": kind},
            "summary": {"type": "generic", "label": kind, "input_preview": null, "output_preview": null},
            "invocation_payload": invocation,
        });
        self.event(Some(agent), &started);
    }

    /// Reports that a call started an agent.
    fn spawned(&mut self, agent: usize, id: &str, child: usize, path: &str) {
        let activity = json!({
            "event_id": id, "occurred_at_ms": 1000 + self.seq, "agent_thread_id": thread(child),
            "agent_path": path, "kind": "started",
        });
        let payload = self.payload("tool_runtime_event", &activity);
        let ended = json!({
            "type": "tool_call_runtime_ended", "tool_call_id": id, "status": "completed", "runtime_payload": payload,
        });
        self.event(Some(agent), &ended);
    }

    fn cell_ended(&mut self, agent: usize, call: &str) {
        let ended =
            json!({"type": "code_cell_ended", "runtime_cell_id": "1", "status": "completed", "response_payload": null});
        self.event(Some(agent), &ended);
        self.tool_ended(agent, call);
    }

    /// Ends the turn of an agent and passes its answer to its parent.
    fn answered(&mut self, agent: usize, parent: Option<usize>) {
        let turn = format!("turn{agent}");
        self.event(Some(agent), &json!({"type": "codex_turn_ended", "codex_turn_id": turn, "status": "completed"}));
        let Some(parent) = parent else { return };
        let observed = json!({
            "type": "agent_result_observed", "edge_id": format!("edge:{agent}"), "child_thread_id": thread(agent),
            "child_codex_turn_id": turn, "parent_thread_id": thread(parent), "message": "done",
            "carried_payload": null,
        });
        self.event(Some(agent), &observed);
    }

    fn session(&self) -> Session {
        std::fs::write(self.directory.path().join("trace.jsonl"), &self.lines).expect("writes");
        Session::open(self.directory.path()).expect("opens")
    }
}

#[test]
fn a_chain_of_agents_that_wait_for_each_other() {
    const AGENTS: usize = 2000;
    let mut log = Log::new();
    for agent in 0..AGENTS {
        let parent = agent.checked_sub(1);
        log.agent(agent, parent, &format!("/root/{agent}"));
        log.tool(agent, &format!("wait{agent}"), if agent + 1 < AGENTS { "wait_agent" } else { "exec_command" });
    }
    for agent in (0..AGENTS).rev() {
        log.tool_ended(agent, &format!("wait{agent}"));
        log.answered(agent, agent.checked_sub(1));
    }
    let session = log.session();

    let path = CriticalPath::new(&session, None);
    assert_eq!(path.wall_ms, log.seq);
    assert_eq!(path.agents.iter().filter(|agent| agent.thread_id.is_some()).count(), AGENTS);
    // Every wait ended because of an answer, which comes one event before the end of the wait.
    let of = |work: Work| path.shares.iter().find(|share| share.work == work).map_or(0, |share| share.ms);
    assert_eq!((of(Work::Wait), of(Work::Tool)), (AGENTS as u64 - 1, 1));

    let costs = Costs::new(session.trace(), None);
    let root = &costs.agents[0];
    assert_eq!((root.descendants, root.subtree.tool_calls.count), (AGENTS as u64 - 1, AGENTS as u64));
    assert_eq!(costs.agents[AGENTS - 1].depth, AGENTS - 1);
    assert_eq!(Timeline::new(&session).agents.len(), AGENTS);
    assert!(Diff::new(&session, &session, None).is_same);
}

#[test]
fn of_many_children_the_last_to_answer_is_on_the_path() {
    const CHILDREN: usize = 500;
    let mut log = Log::new();
    log.agent(0, None, "/root");
    for child in 1..=CHILDREN {
        log.agent(child, Some(0), &format!("/root/{child}"));
        log.tool(child, &format!("work{child}"), "exec_command");
    }
    log.tool(0, "wait", "wait_agent");
    for child in 1..=CHILDREN {
        log.tool_ended(child, &format!("work{child}"));
        log.answered(child, Some(0));
    }
    log.tool_ended(0, "wait");
    log.answered(0, None);
    let path = CriticalPath::new(&log.session(), None);
    let tools: Vec<_> =
        path.segments.iter().filter(|segment| segment.work == Work::Tool).map(|of| of.agent_path.as_deref()).collect();
    assert_eq!(tools, [Some("/root/500")]);
    let agents: Vec<_> = path.agents.iter().filter_map(|agent| agent.agent_path.as_deref()).collect();
    assert_eq!(agents, ["/root/500", "/root"]);
}

/// Whether the log links the agent with the call that spawned it.
#[derive(Clone, Copy)]
enum Spawn {
    Told,
    Untold,
}

/// Returns the path through code that spawns an agent and waits for it.
fn path_through_code(spawn: Spawn) -> String {
    let mut log = Log::new();
    log.agent(0, None, "/root");
    log.code(0, "cell");
    log.nested(0, "quick", "exec_command");
    log.tool_ended(0, "quick");
    log.nested(0, "spawn", "spawn_agent");
    log.agent(1, Some(0), "/root/1");
    match spawn {
        Spawn::Told => log.spawned(0, "spawn", 1, "/root/1"),
        Spawn::Untold => log.seq += 1,
    }
    log.tool_ended(0, "spawn");
    log.tool(1, "work", "exec_command");
    log.nested(0, "wait", "wait_agent");
    log.tool_ended(1, "work");
    log.answered(1, Some(0));
    log.tool_ended(0, "wait");
    log.cell_ended(0, "cell");
    log.answered(0, None);
    let session = log.session();
    let path = CriticalPath::new(&session, None);
    let segments: Vec<String> = path
        .segments
        .iter()
        .map(|of| {
            let object = of.object.as_ref().map_or("-", |object| object.id.as_str());
            format!(
                "{}..{} {} {} {object}",
                of.start_ms,
                of.end_ms,
                of.work.as_str(),
                of.agent_path.as_deref().unwrap_or("-")
            )
        })
        .collect();
    segments.join("\n")
}

#[test]
fn code_that_spawns_an_agent_and_waits_for_it() {
    let expected = "\
        0..3 idle - -\n\
        3..4 overhead /root -\n\
        4..5 model /root model-cell\n\
        5..6 overhead /root -\n\
        6..8 tool /root cell\n\
        8..9 tool /root quick\n\
        9..10 tool /root cell\n\
        10..12 tool /root spawn\n\
        12..15 overhead /root/1 -\n\
        15..17 tool /root/1 work\n\
        17..18 overhead /root/1 -\n\
        18..19 overhead /root/1 -\n\
        19..20 wait /root wait\n\
        20..22 tool /root cell\n\
        22..23 overhead /root -";
    assert_eq!(path_through_code(Spawn::Told), expected);
    // If the call is not linked with the agent, the agent must have begun while the call ran.
    assert_eq!(path_through_code(Spawn::Untold), expected);
}

#[test]
fn agents_that_wait_for_themselves_end_the_walk_too() {
    let mut log = Log::new();
    log.agent(0, Some(1), "/root");
    log.agent(1, Some(0), "/root/1");
    for agent in [0, 1] {
        log.tool(agent, &format!("wait{agent}"), "wait_agent");
    }
    log.answered(0, Some(0));
    log.answered(1, Some(0));
    log.answered(0, Some(1));
    for agent in [0, 1] {
        log.tool_ended(agent, &format!("wait{agent}"));
    }
    log.answered(1, Some(1));
    let session = log.session();
    let path = CriticalPath::new(&session, None);
    assert_eq!(path.shares.iter().map(|share| share.ms).sum::<u64>(), path.wall_ms);
    assert_eq!(Costs::new(session.trace(), None).agents.len(), 2);
    assert!(Diff::new(&session, &session, None).is_same);
}
