//! Finds the agents that a tool call addresses, and the timeout of a wait: in the call's summary, in the edge that
//! starts at the call, or else in its arguments.
//!
//! Recorders write summaries without agents and timeouts. Reading the arguments from the invocation's payload makes
//! these columns slow. Only calls that address agents have them.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use trace_explain::Session;
use trace_reducer::model::{Anchor, EdgeKind, Symbol, ThreadIdx, ToolCall, ToolIdx, ToolKind, ToolSummary, Trace};

/// Names of the arguments that name agents: by id, by path, or by a name below the caller.
const TARGETS: [&str; 6] = ["target", "targets", "ids", "id", "agent_id", "task_name"];

/// Index to find the agents that calls address.
#[derive(Debug)]
pub(crate) struct Targets {
    by_call: HashMap<ToolIdx, ThreadIdx>,
    paths: HashMap<Symbol, Symbol>,
    known: HashSet<Symbol>,
}

impl Targets {
    pub(crate) fn new(trace: &Trace) -> Self {
        let thread = |anchor| match anchor {
            Anchor::Item(item) => trace.items[item].thread,
            Anchor::Tool(tool) => trace.tools[tool].thread,
            Anchor::Thread(thread) => thread,
        };
        let sent = trace.edges.values().filter(|edge| edge.kind != EdgeKind::AgentResult);
        let by_call = sent.filter_map(|edge| match edge.source {
            Anchor::Tool(tool) => Some((tool, thread(edge.target))),
            Anchor::Item(_) | Anchor::Thread(_) => None,
        });
        let paths = trace.threads.values().map(|thread| (thread.id, thread.agent_path)).collect();
        let known = trace.threads.values().map(|thread| thread.agent_path).collect();
        Self { by_call: by_call.collect(), paths, known }
    }

    /// Returns the paths of the agents that a call addresses or waits for, separated by commas.
    pub(crate) fn agents(&self, session: &Session, tool: ToolIdx) -> Option<String> {
        let trace = session.trace();
        let call = &trace.tools[tool];
        let told = match call.summary {
            ToolSummary::Agent { target_agent_path, .. } => Some(target_agent_path),
            ToolSummary::WaitAgent { target_agent_path, .. } => target_agent_path,
            ToolSummary::Generic { .. } | ToolSummary::Terminal { .. } => None,
        };
        let told = told.or_else(|| self.by_call.get(&tool).map(|thread| trace.threads[*thread].agent_path));
        if let Some(path) = told.map(|path| trace.text(path)).filter(|path| !path.is_empty()) {
            return Some(path.to_owned());
        }
        let arguments = arguments(session, call)?;
        let targets = TARGETS.iter().find_map(|name| arguments.get(name).filter(|value| !value.is_null()))?;
        let names: Vec<String> = match targets {
            Value::String(name) => vec![self.path(trace, call, name)],
            Value::Array(names) => {
                names.iter().filter_map(Value::as_str).map(|name| self.path(trace, call, name)).collect()
            }
            _ => Vec::new(),
        };
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Returns the agent path for an id, a path or a name in the arguments of a call.
    fn path(&self, trace: &Trace, call: &ToolCall, name: &str) -> String {
        if let Some(path) = trace.symbols.get(name).and_then(|id| self.paths.get(&id)) {
            return trace.text(*path).to_owned();
        }
        // The agent of a spawn does not exist yet, and may never exist.
        let below = format!("{}/{name}", trace.text(trace.threads[call.thread].agent_path));
        let is_spawn = matches!(call.kind, ToolKind::SpawnAgent);
        let is_known = || trace.symbols.get(&below).is_some_and(|path| self.known.contains(&path));
        if !name.starts_with('/') && (is_spawn || is_known()) { below } else { name.to_owned() }
    }

    /// Returns the timeout of a wait in milliseconds.
    pub(crate) fn timeout_ms(&self, session: &Session, tool: ToolIdx) -> Option<i64> {
        let call = &session.trace().tools[tool];
        if let ToolSummary::WaitAgent { timeout_ms: Some(limit), .. } = call.summary {
            return Some(i64::try_from(limit).unwrap_or(i64::MAX));
        }
        if !matches!(call.kind, ToolKind::WaitAgent) {
            return None;
        }
        arguments(session, call)?.get("timeout_ms")?.as_i64()
    }
}

/// Returns the arguments of a call that addresses agents: from the preview if it is complete, or else from the payload.
fn arguments(session: &Session, call: &ToolCall) -> Option<Value> {
    let is_of_agents = matches!(
        call.kind,
        ToolKind::SpawnAgent
            | ToolKind::AssignAgentTask
            | ToolKind::SendMessage
            | ToolKind::WaitAgent
            | ToolKind::CloseAgent
    );
    if !is_of_agents {
        return None;
    }
    if let ToolSummary::Generic { input_preview: Some(preview), .. } = &call.summary
        && let Ok(arguments @ Value::Object(_)) = serde_json::from_str(preview)
    {
        return Some(arguments);
    }
    let invocation = session.payload(call.invocation_payload_id?).ok()?;
    match invocation.get("payload")?.get("arguments")? {
        Value::String(text) => serde_json::from_str(text).ok(),
        arguments => Some(arguments.clone()),
    }
}
