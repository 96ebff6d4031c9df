//! Turns that were cut off, and what cut them off: the user, an agent, the end of the session, the end of the
//! recording.
//!
//! In the turn itself all of them look alike: the status is cancelled, or there is no end. The events around the turn
//! tell them apart.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use trace_reducer::Code;
use trace_reducer::model::{
    Anchor, CellIdx, EdgeKind, ExecutionStatus, InferenceIdx, Moment, SchemaVersion, Symbol, ThreadIdx, ToolIdx,
    ToolKind, Trace, TurnIdx,
};

use super::cause::{Cause, Place};
use super::verdict::{Category, Confidence};
use crate::family::Family;
use crate::mail::interruptions;
use crate::object::Object;
use crate::session::Session;

/// A call that ended a turn of another thread.
#[derive(Debug, Clone, Copy)]
struct Closing {
    seq: u64,
    tool: ToolIdx,
    thread: ThreadIdx,
}

/// Most closings during one turn, counted from the last, among which the closing of an ancestor is searched.
const MAX_CLOSINGS: usize = 256;

/// Indexes that are used to find out what cut off a turn.
pub(super) struct Stops<'s> {
    session: &'s Session,
    family: &'s Family,
    /// For each turn, the call that closed the agent while the turn ran.
    closed_by: HashMap<TurnIdx, ToolIdx>,
    /// The same closings in the order of the log.
    closings: Vec<Closing>,
    /// Agents that were closed, with or without a running turn.
    closed: HashSet<ThreadIdx>,
    tools: HashMap<TurnIdx, Vec<ToolIdx>>,
    inferences: HashMap<TurnIdx, Vec<InferenceIdx>>,
    cells: HashMap<TurnIdx, Vec<CellIdx>>,
    /// The code cell that each call started.
    brought: HashMap<ToolIdx, CellIdx>,
    /// For each thread id, whether its commands may need an approval of the user.
    asks_user: HashMap<Symbol, bool>,
}

impl<'s> Stops<'s> {
    pub(super) fn new(session: &'s Session, family: &'s Family) -> Self {
        let trace = session.trace();
        let mut closed_by = HashMap::new();
        let mut closed = HashSet::new();
        for edge in trace.edges.values().filter(|edge| edge.kind == EdgeKind::CloseAgent) {
            let (Anchor::Tool(tool), Anchor::Thread(target)) = (edge.source, edge.target) else { continue };
            closed.insert(target);
            if let Some(turn) = family.turn_ended_by(trace, tool, target) {
                closed_by.insert(turn, tool);
            }
        }
        for (tool, turn) in interruptions(session, family) {
            closed_by.entry(turn).or_insert(tool);
        }
        let mut tools: HashMap<TurnIdx, Vec<ToolIdx>> = HashMap::new();
        for (index, call) in trace.tools.iter() {
            if let Some(turn) = call.turn {
                tools.entry(turn).or_default().push(index);
            }
        }
        let mut inferences: HashMap<TurnIdx, Vec<InferenceIdx>> = HashMap::new();
        for (index, call) in trace.inferences.iter() {
            inferences.entry(call.turn).or_default().push(index);
        }
        let mut cells: HashMap<TurnIdx, Vec<CellIdx>> = HashMap::new();
        for (index, cell) in trace.cells.iter() {
            cells.entry(cell.turn).or_default().push(index);
        }
        let by_call: HashMap<(ThreadIdx, Symbol), CellIdx> =
            trace.cells.iter().map(|(index, cell)| ((cell.thread, cell.model_visible_call_id), index)).collect();
        let brought = trace.tools.iter().filter_map(|(index, call)| {
            let cell = by_call.get(&(call.thread, call.model_visible_call_id?))?;
            // If another turn uses the same call id, its call did not start the cell.
            (call.turn == Some(trace.cells[*cell].turn)).then_some((index, *cell))
        });
        let brought = brought.collect();
        let closing = |(turn, tool): (&TurnIdx, &ToolIdx)| Closing {
            seq: trace.tools[*tool].execution.started.seq,
            tool: *tool,
            thread: trace.turns[*turn].thread,
        };
        let mut closings: Vec<Closing> = closed_by.iter().map(closing).collect();
        closings.sort_by_key(|closing| closing.seq);
        Self {
            session,
            family,
            closed_by,
            closings,
            closed,
            tools,
            inferences,
            cells,
            brought,
            asks_user: approval_policies(session),
        }
    }

    /// Returns what cut off a turn that neither completed nor failed.
    pub(super) fn of(&self, index: TurnIdx) -> Cause {
        match self.session.trace().turns[index].execution.ended {
            None => self.without_end(index),
            Some(ended) => self.with_end(index, ended),
        }
    }

    fn with_end(&self, index: TurnIdx, ended: Moment) -> Cause {
        let trace = self.session.trace();
        let turn = &trace.turns[index];
        let under_way = self.under_way(index, ended);
        let stop = |category, message: &str| Cause::new(category, self.place(index, under_way, ended), message);
        if let Some(closer) = self.closer(index, ended) {
            let by = self.session.agent_path(trace.tools[closer].thread);
            let mut stop = stop(Category::InterruptedByAgent, &format!("{by} stopped the agent"));
            stop.rests_on.push(Object::Tool(closer));
            return stop;
        }
        if self.is_over(index, ended) {
            return stop(Category::AgentNeverFinished, "the session ended while the agent was still at work");
        }
        if self.is_left_alone(turn.thread, ended) {
            let message = "the session was over for its user while the agent was still at work";
            let missing = "the end of the session, which recordings of schema 1 do not tell";
            return stop(Category::AgentNeverFinished, message).lacks(Confidence::Medium, missing);
        }
        // If an approval is answered with a stop, the command has never started.
        let asked = under_way.and_then(|object| match object {
            Object::Tool(tool) => Some(&trace.tools[tool]).filter(|call| call.runtime.is_none()),
            _ => None,
        });
        let needs_approval = |kind| matches!(kind, ToolKind::ExecCommand | ToolKind::ApplyPatch);
        let thread_id = trace.threads[turn.thread].id;
        let may_be_asked = self.asks_user.get(&thread_id).copied().unwrap_or(false);
        if asked.is_some_and(|call| needs_approval(call.kind)) && may_be_asked {
            let message = "the user stopped the turn, most likely when asked to approve this call";
            let missing = "the request for approval and its answer, which are not recorded";
            return stop(Category::InterruptedByUser, message).lacks(Confidence::Medium, missing);
        }
        let confidence = if trace.recording_complete { Confidence::High } else { Confidence::Medium };
        Cause { confidence, ..stop(Category::InterruptedByUser, "the user stopped the turn") }
    }

    fn without_end(&self, index: TurnIdx) -> Cause {
        let trace = self.session.trace();
        let end = self.session.end();
        let place = self.place(index, self.under_way(index, end), end);
        let run_end = self.run_end(index);
        if run_end.is_some() && self.family.birth(place.thread).is_some() {
            let message = "the session ended while the agent was still at work";
            let confidence = if trace.recording_complete { Confidence::High } else { Confidence::Medium };
            return Cause { confidence, ..Cause::new(Category::AgentNeverFinished, place, message) };
        }
        let codes = || self.session.diagnostics().iter().map(|diagnostic| diagnostic.code);
        let is_torn = codes().any(|code| matches!(code, Code::TornTail | Code::RecordingStopped | Code::RecordingGap));
        let confidence = if is_torn || run_end.is_some() { Confidence::High } else { Confidence::Medium };
        let message = format!("the recording ends at event {} and the turn goes on", end.seq);
        let missing = "everything after the last event: the session died, or still runs";
        Cause::new(Category::RecordingTruncated, place, &message).lacks(confidence, missing)
    }

    /// Returns the place of a stop: what was running in the turn, or the turn itself.
    fn place(&self, index: TurnIdx, under_way: Option<Object>, at: Moment) -> Place {
        let thread = self.session.trace().turns[index].thread;
        Place { object: under_way.unwrap_or(Object::Turn(index)), thread, turn: Some(index), at }
    }

    /// Returns the call that closed the agent, or an agent above it, while the turn ran.
    fn closer(&self, index: TurnIdx, ended: Moment) -> Option<ToolIdx> {
        if let Some(tool) = self.closed_by.get(&index) {
            return Some(*tool);
        }
        let turn = &self.session.trace().turns[index];
        // If the session is over, its end is the more likely reason.
        if self.is_over(index, ended) {
            return None;
        }
        let from = self.closings.partition_point(|closing| closing.seq <= turn.execution.started.seq);
        let until = self.closings.partition_point(|closing| closing.seq < ended.seq);
        let during = self.closings.get(from..until).into_iter().flatten().rev().take(MAX_CLOSINGS);
        let mut above = during.filter(|closing| self.family.is_above(closing.thread, turn.thread));
        above.next().map(|closing| closing.tool)
    }

    /// Returns whether an agent was closed before it began.
    pub(super) fn is_closed(&self, thread: ThreadIdx) -> bool {
        self.closed.contains(&thread)
    }

    /// Returns whether the session, or its run, was over when a turn of a child ended.
    fn is_over(&self, index: TurnIdx, ended: Moment) -> bool {
        let trace = self.session.trace();
        let turn = &trace.turns[index];
        let root = self.family.root(turn.thread);
        // An end before the start of the turn belongs to an earlier run of the session.
        let started = turn.execution.started.seq;
        let root_end = trace.threads[root].execution.ended.filter(|end| end.seq > started);
        let root_end = root_end.into_iter().chain(self.run_end(index)).min();
        root != turn.thread && root_end.is_some_and(|end| ended.seq > end.seq)
    }

    /// Returns the end of the run of the session that a turn belongs to. A turn may begin after that end, while agents
    /// are being stopped.
    fn run_end(&self, index: TurnIdx) -> Option<Moment> {
        let trace = self.session.trace();
        let turn = &trace.turns[index];
        let started = turn.execution.started.seq;
        let resumed = &trace.threads[self.family.root(turn.thread)].resumed;
        let last_resumed = resumed[..resumed.partition_point(|at| at.seq < started)].last();
        let ends = &trace.run_ends[..trace.run_ends.partition_point(|end| end.seq < started)];
        let before = ends.last().filter(|end| last_resumed.is_none_or(|at| at.seq < end.seq));
        before.copied().or_else(|| trace.run_end_after(started))
    }

    /// Returns whether the root had stopped working when a turn of a child ended, in a recording without the end of the
    /// session. In schema 1, a session that is killed has no end.
    fn is_left_alone(&self, thread: ThreadIdx, ended: Moment) -> bool {
        let trace = self.session.trace();
        let root = self.family.root(thread);
        let last = self.family.turns(root).last().map(|turn| trace.turns[*turn].execution);
        trace.schema_version == SchemaVersion::V1
            && root != thread
            && last.and_then(|window| window.ended).is_some_and(|end| ended.seq > end.seq)
    }

    /// Returns what a turn was doing when it was cut off: the unfinished tool call that began last, or else the
    /// inference call.
    fn under_way(&self, index: TurnIdx, ended: Moment) -> Option<Object> {
        let trace = self.session.trace();
        let goes_on = |end: Option<Moment>| end.is_none_or(|end| end.seq > ended.seq);
        let tools = self.tools.get(&index).into_iter().flatten().copied();
        let tool = tools
            .filter(|tool| goes_on(trace.tools[*tool].execution.ended))
            // In a recording without an end, the start of the call may be the last event.
            .filter(|tool| trace.tools[*tool].execution.started.seq <= ended.seq)
            .max_by_key(|tool| trace.tools[*tool].execution.started);
        let cell = || {
            let cells = self.cells.get(&index).into_iter().flatten().copied();
            let open = cells.filter(|cell| {
                let cell = &trace.cells[*cell];
                cell.result_payload_id.is_none() && cell.execution.status != ExecutionStatus::Completed
            });
            open.max_by_key(|cell| trace.cells[*cell].execution.started).map(Object::Cell)
        };
        let inference = || {
            let last = self.inferences.get(&index)?.last().copied()?;
            let open = !matches!(
                trace.inferences[last].execution.status,
                ExecutionStatus::Completed | ExecutionStatus::Failed
            );
            open.then_some(Object::Inference(last))
        };
        // If a call started a code cell, the cell is what was running.
        let tool = tool.map(|tool| self.brought.get(&tool).map_or(Object::Tool(tool), |cell| Object::Cell(*cell)));
        tool.or_else(cell).or_else(inference)
    }
}

/// Returns for each thread id whether its settings allow questions to the user.
fn approval_policies(session: &Session) -> HashMap<Symbol, bool> {
    let trace: &Trace = session.trace();
    let settings = trace.protocol_events.iter().filter(|event| trace.text(event.event_type) == "session_configured");
    settings
        .filter_map(|event| {
            let payload = session.payload(trace.payloads[event.payload].id).ok()?;
            let thread = payload.get("thread_id").and_then(Value::as_str)?;
            let policy = payload.get("approval_policy").and_then(Value::as_str)?;
            Some((trace.symbols.get(thread)?, policy != "never"))
        })
        .collect()
}
