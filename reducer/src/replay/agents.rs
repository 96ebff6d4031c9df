//! What the reports of tools say about other agents: spawns, tasks, messages, results, closes.

use trace_recorder::format::event::AgentResultObserved;

use super::draft::{Draft, Step, push_unique};
use super::edges::{Delivery, Edges};
use super::items::Items;
use crate::diagnostic::Code;
use crate::ingest::PayloadProblem;
use crate::ingest::shapes::{Activity, ActivityKind, AgentReport, Collaboration, Invocation};
use crate::model::{AgentResult, Anchor, EdgeKind, InteractionEdge, Origin, Symbol, ToolIdx, ToolKind};

/// Which report of a tool's runtime is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Begin,
    End,
}

/// The tool call whose runtime reports, and the payload with the report.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) tool: ToolIdx,
    pub(super) payload: Symbol,
}

/// What a tool call sent to another agent.
struct Sent {
    kind: EdgeKind,
    edge_id: Symbol,
    target_thread: Symbol,
    text: String,
    /// Id of the thread where the edge ends if no item shows the arrival. Only spawns have one.
    fallback: Option<Symbol>,
}

/// Handles the report of an agent tool's runtime when it ends.
pub(super) fn tool_ended(
    draft: &mut Draft,
    edges: &mut Edges,
    source: Source,
    report: AgentReport,
    invocation: Option<&Invocation>,
) -> Step {
    let Source { tool, payload } = source;
    let kind = draft.trace.tools[tool].kind;
    match (report, kind) {
        (AgentReport::Activity(_), ToolKind::Mcp { .. }) if !draft.is_v1() => Ok(()),
        (AgentReport::Activity(reported), _) => activity(draft, edges, source, reported, invocation),
        (AgentReport::Older { spawn: end, .. }, ToolKind::SpawnAgent) => {
            let Some(end) = end else {
                return draft.bad_payload(payload, &PayloadProblem::Shape("not the end of a spawn"));
            };
            let (Some(child), Some(prompt)) = (end.receiver_thread_id, end.prompt) else { return Ok(()) };
            let (parent, child) = (draft.intern(&end.sender_thread_id), draft.intern(&child));
            let sent = spawn(draft, parent, child, prompt);
            send(draft, edges, tool, sent, Phase::End)
        }
        (
            AgentReport::Older { other, .. },
            ToolKind::AssignAgentTask | ToolKind::SendMessage | ToolKind::CloseAgent,
        ) => collaborate(draft, edges, source, other, Phase::End),
        _ => Ok(()),
    }
}

/// Handles the report of an agent tool's runtime when it begins. Only older releases write one.
pub(super) fn tool_began(draft: &mut Draft, edges: &mut Edges, source: Source, report: Option<Collaboration>) -> Step {
    collaborate(draft, edges, source, report, Phase::Begin)
}

fn collaborate(
    draft: &mut Draft,
    edges: &mut Edges,
    source: Source,
    report: Option<Collaboration>,
    phase: Phase,
) -> Step {
    let Source { tool, payload } = source;
    let is_close = draft.trace.tools[tool].kind == ToolKind::CloseAgent;
    let found = report.and_then(|found| Some((found.receiver_thread_id?, found.prompt)));
    let Some((receiver, prompt)) = found.filter(|(_, prompt)| is_close || prompt.is_some()) else {
        return draft.bad_payload(payload, &PayloadProblem::Shape("not a report about another agent"));
    };
    let target_thread = draft.intern(&receiver);
    let edge_id = tool_edge_id(draft, tool);
    match prompt.filter(|_| !is_close) {
        Some(text) => {
            let kind = message_kind(draft, tool);
            send(draft, edges, tool, Sent { kind, edge_id, target_thread, text, fallback: None }, phase)
        }
        None => close(draft, edges, tool, target_thread, phase),
    }
}

fn activity(
    draft: &mut Draft,
    edges: &mut Edges,
    source: Source,
    reported: Option<Activity>,
    invocation: Option<&Invocation>,
) -> Step {
    let Source { tool, payload } = source;
    let Some(activity) = reported else {
        return draft.bad_payload(payload, &PayloadProblem::Shape("not a report about another agent"));
    };
    let agent = draft.intern(&activity.agent_thread_id);
    let path = draft.intern(&activity.agent_path);
    learn_path(draft, edges, agent, path)?;
    let kind = draft.trace.tools[tool].kind;
    let sent = match (kind, activity.kind) {
        (_, ActivityKind::Completed) => None,
        (ToolKind::CloseAgent, ActivityKind::Interrupted) => return close(draft, edges, tool, agent, Phase::End),
        (ToolKind::SpawnAgent, ActivityKind::Started) => {
            let parent = draft.trace.threads[draft.trace.tools[tool].thread].id;
            message_of(draft, invocation)?.map(|text| spawn(draft, parent, agent, text))
        }
        (ToolKind::AssignAgentTask | ToolKind::SendMessage, ActivityKind::Interacted) => message_of(draft, invocation)?
            .map(|text| Sent {
                kind: message_kind(draft, tool),
                edge_id: tool_edge_id(draft, tool),
                target_thread: agent,
                text,
                fallback: None,
            }),
        _ => {
            let message = format!("a tool call of kind {} does not do this to an agent", kind.as_str());
            return draft.odd(Code::ToolContradicted, message);
        }
    };
    match sent {
        Some(sent) => send(draft, edges, tool, sent, Phase::End),
        None => Ok(()),
    }
}

/// Records the path of an agent whose thread no event declares.
fn learn_path(draft: &mut Draft, edges: &mut Edges, thread_id: Symbol, path: Symbol) -> Step {
    draft.agent_paths.entry(thread_id).or_insert(path);
    if let Some(index) = draft.threads_by_id.get(&thread_id).copied()
        && draft.trace.threads[index].implied
        && draft.trace.text(draft.trace.threads[index].agent_path).starts_with("/unknown/")
    {
        let by_path = draft.origin_of_path(thread_id, path);
        let name = draft.trace.text(path).rsplit('/').next().unwrap_or_default().to_owned();
        let name = draft.intern(&name);
        let thread = &mut draft.trace.threads[index];
        thread.agent_path = path;
        match &mut thread.origin {
            Origin::Root => thread.origin = by_path,
            // The parent is already known. Only the task name is missing, which is the last segment of the path.
            Origin::Spawned { task_name, .. } => *task_name = name,
        }
        edges.readdress(draft, index)?;
    }
    Ok(())
}

fn spawn(draft: &mut Draft, parent: Symbol, child: Symbol, text: String) -> Sent {
    let edge_id = draft.spawn_edge_id(parent, child);
    Sent { kind: EdgeKind::SpawnAgent, edge_id, target_thread: child, text, fallback: Some(child) }
}

fn tool_edge_id(draft: &mut Draft, tool: ToolIdx) -> Symbol {
    let id = format!("edge:tool:{}", draft.trace.text(draft.trace.tools[tool].id));
    draft.intern(&id)
}

fn message_kind(draft: &Draft, tool: ToolIdx) -> EdgeKind {
    match draft.trace.tools[tool].kind {
        ToolKind::AssignAgentTask => EdgeKind::AssignAgentTask,
        _ => EdgeKind::SendMessage,
    }
}

/// Returns the message in the arguments of a tool call. Reports a call without a message.
fn message_of(draft: &mut Draft, invocation: Option<&Invocation>) -> Step<Option<String>> {
    let message = invocation.and_then(Invocation::message);
    if message.is_none() {
        let text = "the tool call addresses an agent, but its invocation has no message";
        draft.odd(Code::ToolContradicted, text)?;
    }
    Ok(message)
}

/// Returns the ids of the known payloads of a tool call: invocation, runtime and result.
fn carried(draft: &Draft, tool: ToolIdx) -> Vec<Symbol> {
    let call = &draft.trace.tools[tool];
    let runtime = call.runtime_payload_ids.iter().copied();
    let invocation = call.invocation_payload_id;
    let mut carried: Vec<Symbol> =
        invocation.into_iter().chain(runtime.filter(|payload| Some(*payload) != invocation)).collect();
    if let Some(result) = call.result_payload_id {
        push_unique(&mut carried, result);
    }
    carried
}

/// Returns when a call that is reported on ended, or `None` if the report is about its begin.
fn ended_at(draft: &Draft, phase: Phase) -> Option<i64> {
    (phase == Phase::End).then_some(draft.event.at.unix_ms)
}

fn send(draft: &mut Draft, edges: &mut Edges, tool: ToolIdx, sent: Sent, phase: Phase) -> Step {
    let call = &draft.trace.tools[tool];
    let delivery = Delivery {
        edge_id: sent.edge_id,
        kind: sent.kind,
        source: Anchor::Tool(tool),
        target_thread: sent.target_thread,
        author: draft.trace.threads[call.thread].agent_path,
        text: sent.text.into(),
        started_at_unix_ms: call.execution.started.unix_ms,
        ended_at_unix_ms: ended_at(draft, phase),
        carried: carried(draft, tool),
        fallback: sent.fallback,
        seq: draft.event.at.seq,
    };
    edges.deliver(draft, delivery)
}

fn close(draft: &mut Draft, edges: &mut Edges, tool: ToolIdx, target: Symbol, phase: Phase) -> Step {
    let Some(target) = draft.threads_by_id.get(&target).copied() else { return Ok(()) };
    let edge = InteractionEdge {
        id: tool_edge_id(draft, tool),
        kind: EdgeKind::CloseAgent,
        source: Anchor::Tool(tool),
        target: Anchor::Thread(target),
        started_at_unix_ms: draft.trace.tools[tool].execution.started.unix_ms,
        ended_at_unix_ms: ended_at(draft, phase),
        seq: draft.event.at.seq,
        carried_items: Vec::new(),
        carried_payload_ids: carried(draft, tool),
    };
    edges.upsert(draft, edge)
}

/// Records the answer of a child and hands it to the parent.
pub(super) fn result_observed(
    draft: &mut Draft,
    items: &Items,
    edges: &mut Edges,
    event: &AgentResultObserved<'_>,
) -> Step {
    let child_id = draft.intern(&event.child_thread_id);
    let child = draft.thread(child_id)?;
    let turn = draft.intern(&event.child_codex_turn_id);
    let source = items.last_answer(draft, child, turn).map_or(Anchor::Thread(child), Anchor::Item);
    let payload_id = event.carried_payload.as_ref().map(|reference| draft.payload_id(reference));
    let edge_id = draft.intern(&event.edge_id);
    let parent_thread_id = draft.intern(&event.parent_thread_id);
    draft.trace.agent_results.push(AgentResult {
        at: draft.event.at,
        edge_id,
        child,
        child_turn_id: turn,
        parent_thread_id,
        message: event.message.as_str().into(),
        payload_id,
    });
    let delivery = Delivery {
        edge_id,
        kind: EdgeKind::AgentResult,
        source,
        target_thread: parent_thread_id,
        author: draft.trace.threads[child].agent_path,
        text: event.message.as_str().into(),
        started_at_unix_ms: draft.event.at.unix_ms,
        ended_at_unix_ms: Some(draft.event.at.unix_ms),
        carried: payload_id.into_iter().collect(),
        fallback: None,
        seq: draft.event.at.seq,
    };
    edges.deliver(draft, delivery)
}
