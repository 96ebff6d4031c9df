//! The critical path: the chain of work that determined how long a session took.
//!
//! The path is walked from the session's end back to its start. At each moment it contains one thing, the one that the
//! rest of the path waited for:
//!
//! - a thread started an activity when its last activity before it had ended; of calls that ran side by side, the last
//!   to finish is on the path;
//! - a call that runs a code cell is replaced by the path through the calls of that cell;
//! - a wait for agents leads to the agent whose answer or message ended it, and on through what that agent did;
//! - a turn of a child began because its parent asked for it, so the path continues in the parent's call;
//! - a turn of a root began because the user asked for it; between turns the session is idle.
//!
//! Segments cover the time from the start of the session to its last event without gaps and overlaps, so their times
//! add up to its wall time. The walk takes time proportional to the length of the path, times the logarithm of the
//! session's length.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use trace_reducer::model::{
    Anchor, CellIdx, EdgeKind, ExecutionStatus, Handle, Origin, Symbol, ThreadIdx, ToolIdx, ToolKind, Trace, TurnIdx,
};

use crate::activity::{Activities, Activity, Work, describe};
use crate::clock::Clock;
use crate::costs::{CallCost, Cost, Pricing};
use crate::family::Family;
use crate::object::{Object, ObjectRef};
use crate::outcome::Outcome;
use crate::prices::{Money, Prices};
use crate::session::Session;

/// The chain of work that determined how long a session took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriticalPath {
    /// Start of the session, in milliseconds since the Unix epoch.
    pub started_at_unix_ms: i64,
    /// Duration of the session in milliseconds.
    pub wall_ms: u64,
    /// By how many milliseconds the wall clock was set back during the session. Later times are corrected by it.
    pub clock_set_back_ms: u64,
    /// Time per kind of work. The shares add up to the wall time.
    pub shares: Vec<Share>,
    /// Time per agent, largest first. Together with the entry without an agent they add up to the wall time.
    pub agents: Vec<AgentShare>,
    /// Currency of all amounts; `None` without a price table.
    pub currency: Option<String>,
    /// Cost of the calls on the path; `None` without a price table.
    pub cost: Option<Cost>,
    /// The segments of the path in order of time.
    pub segments: Vec<Segment>,
}

/// Time on the path for one kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Kind of work.
    pub work: Work,
    /// Time in milliseconds.
    pub ms: u64,
}

/// Time on the path of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentShare {
    /// Id of its thread; `None` for the time that belongs to no agent.
    pub thread_id: Option<String>,
    /// Its agent path.
    pub agent_path: Option<String>,
    /// Time in milliseconds.
    pub ms: u64,
}

/// One segment of the path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// Its start, in milliseconds since the start of the session.
    pub start_ms: u64,
    /// Its end, in milliseconds since the start of the session.
    pub end_ms: u64,
    /// Kind of work.
    pub work: Work,
    /// The object that was active; `None` if the log shows none.
    pub object: Option<ObjectRef>,
    /// Description of the object.
    pub label: Option<String>,
    /// How the activity ended.
    pub outcome: Option<Outcome>,
    /// The thread that did it.
    pub thread_id: Option<String>,
    /// Agent path of the thread.
    pub agent_path: Option<String>,
    /// The turn that the activity belongs to.
    pub turn_id: Option<String>,
    /// Sequence number of the event at its start.
    pub seq: u64,
    /// Cost of an inference call. `None` for everything else, without a price table, and if the cost is not known.
    pub cost: Option<Money>,
}

/// One segment of the path, with handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Sequence number of the event at its start.
    pub start: u64,
    /// Sequence number of the event at its end.
    pub end: u64,
    /// Kind of work.
    pub work: Work,
    /// The object that was active, and how its activity ended.
    pub activity: Option<(Object, Outcome)>,
    /// The thread that did it.
    pub thread: Option<ThreadIdx>,
    /// The turn that the activity belongs to.
    pub turn: Option<TurnIdx>,
}

impl CriticalPath {
    /// Finds the path of a session.
    pub fn new(session: &Session, prices: Option<&Prices>) -> Self {
        let trace = session.trace();
        let clock = Clock::new(trace);
        let activities = Activities::new(trace, &clock);
        let steps = walk(trace, &clock, &activities, &Family::new(trace));
        Self::of_steps(session, prices, &clock, &steps)
    }

    /// Makes the answer for a path that [`walk`] found.
    pub fn of_steps(session: &Session, prices: Option<&Prices>, clock: &Clock, steps: &[Step]) -> Self {
        let trace = session.trace();
        let pricing = Pricing::new(trace, prices);
        let mut cost = prices.map(|_| Cost::NONE);
        let mut shares = Work::ALL.map(|work| Share { work, ms: 0 });
        let mut by_thread = vec![0u64; trace.threads.len()];
        let mut nobody = 0;
        let mut segments: Vec<Segment> = Vec::new();
        for step in steps {
            let (start_ms, end_ms) = (clock.at(step.start), clock.at(step.end));
            let ms = end_ms - start_ms;
            shares.iter_mut().filter(|share| share.work == step.work).for_each(|share| share.ms += ms);
            *step.thread.map_or(&mut nobody, |thread| &mut by_thread[thread.index()]) += ms;
            let call = step.activity.and_then(|(object, _)| match object {
                Object::Inference(inference) => Some(pricing.of(&trace.inferences[inference])),
                Object::CompactionRequest(_) => Some(pricing.of_compaction()),
                _ => None,
            });
            if let (Some(sum), Some(call)) = (&mut cost, call.and_then(Option::<Cost>::from)) {
                sum.add(&call);
            }
            // A segment without duration did not determine anything.
            if ms == 0 {
                continue;
            }
            let thread = step.thread.map(|thread| &trace.threads[thread]);
            segments.push(Segment {
                start_ms,
                end_ms,
                work: step.work,
                object: step.activity.map(|(object, _)| session.name(object)),
                label: step.activity.and_then(|(object, _)| describe(trace, object)),
                outcome: step.activity.map(|(_, outcome)| outcome),
                thread_id: thread.map(|thread| trace.text(thread.id).to_owned()),
                agent_path: thread.map(|thread| trace.text(thread.agent_path).to_owned()),
                turn_id: step.turn.map(|turn| trace.text(trace.turns[turn].id).to_owned()),
                seq: step.start,
                cost: call.and_then(|call| match call {
                    CallCost::Known(money) => Some(money),
                    CallCost::NotAsked | CallCost::NoUsage | CallCost::Unpriced => None,
                }),
            });
        }
        let mut agents: Vec<AgentShare> = trace
            .threads
            .iter()
            .map(|(index, thread)| AgentShare {
                thread_id: Some(trace.text(thread.id).to_owned()),
                agent_path: Some(trace.text(thread.agent_path).to_owned()),
                ms: by_thread[index.index()],
            })
            .chain([AgentShare { thread_id: None, agent_path: None, ms: nobody }])
            .filter(|share| share.ms > 0)
            .collect();
        agents.sort_by_key(|share| std::cmp::Reverse(share.ms));
        Self {
            started_at_unix_ms: clock.started_at_unix_ms(),
            wall_ms: clock.wall_ms(),
            clock_set_back_ms: clock.set_back_ms(),
            shares: shares.to_vec(),
            agents,
            currency: prices.map(|prices| prices.currency().to_owned()),
            cost,
            segments,
        }
    }
}

/// Walks the path from the end of a session to its start. Returns the segments in order of time.
pub fn walk(trace: &Trace, clock: &Clock, activities: &Activities, family: &Family) -> Vec<Step> {
    let mut walker = Walker {
        trace,
        activities,
        family,
        deliveries: Deliveries::new(trace, family),
        at: clock.last_seq(),
        steps: Vec::new(),
        cells: Vec::new(),
    };
    let mut next = walker
        .last_turn()
        .map_or(Next::Start, |turn| Next::Thread { thread: trace.turns[turn].thread, gap: Work::Idle });
    loop {
        next = match next {
            Next::Thread { thread, gap } => walker.enter(thread, gap),
            Next::Within { turn } => walker.within(turn),
            Next::Start => {
                walker.step(0, Work::Idle, None, None, None);
                walker.steps.reverse();
                return walker.steps;
            }
        };
    }
}

/// Where the walk continues. The position in time is always [`Walker::at`].
#[derive(Debug, Clone, Copy)]
enum Next {
    /// In the last turn of a thread. The time since the end of that turn counts as `gap`.
    Thread { thread: ThreadIdx, gap: Work },
    /// In a turn.
    Within { turn: TurnIdx },
    /// Nowhere: the start of the session is reached.
    Start,
}

struct Walker<'t> {
    trace: &'t Trace,
    activities: &'t Activities,
    family: &'t Family,
    deliveries: Deliveries,
    /// Sequence number of the walk's position. It decreases with each step, except for a bounded number of steps in a
    /// row.
    at: u64,
    steps: Vec<Step>,
    /// The code cells that the walk is inside of: the cell, the activity that runs it, and that activity's start.
    cells: Vec<(CellIdx, Activity, u64)>,
}

impl Walker<'_> {
    /// Adds the segment from `from` to the walk's position and moves the position to `from`.
    fn step(
        &mut self,
        from: u64,
        work: Work,
        activity: Option<&Activity>,
        thread: Option<ThreadIdx>,
        turn: Option<TurnIdx>,
    ) {
        if from < self.at {
            let activity = activity.map(|activity| (activity.object, activity.outcome));
            self.steps.push(Step { start: from, end: self.at, work, activity, thread, turn });
            self.at = from;
        }
    }

    /// Returns the turn that the end of the session waited for: the last one to end. Turns of children that the end of
    /// the session cut off do not count.
    fn last_turn(&self) -> Option<TurnIdx> {
        let root = |thread: ThreadIdx| self.family.parent(thread).is_none();
        let counts = |status: ExecutionStatus| matches!(status, ExecutionStatus::Completed | ExecutionStatus::Failed);
        let candidates = self.trace.turns.iter().filter(|(_, turn)| root(turn.thread) || counts(turn.execution.status));
        let last = candidates.max_by_key(|(index, turn)| {
            // If a root ends together with its children, the children waited for the root.
            (self.activities.turn_end(*index), root(turn.thread))
        });
        last.or_else(|| self.trace.turns.iter().max_by_key(|(index, _)| self.activities.turn_end(*index)))
            .map(|(index, _)| index)
    }

    /// Continues in the last turn of a thread.
    fn enter(&mut self, thread: ThreadIdx, gap: Work) -> Next {
        let Some(turn) = self.activities.turn_before(self.trace, thread, self.at) else {
            // The log shows no turn of the thread, but its parent has asked for it.
            return self.family.parent(thread).map_or(Next::Start, |parent| Next::Thread { thread: parent, gap });
        };
        let nobody = gap == Work::Idle;
        self.step(self.activities.turn_end(turn), gap, None, (!nobody).then_some(thread), None);
        Next::Within { turn }
    }

    /// Continues with the last activity in a turn or a code cell before the walk's position.
    fn within(&mut self, turn: TurnIdx) -> Next {
        let thread = self.trace.turns[turn].thread;
        if let Some((cell, outer, floor)) = self.cells.last().copied() {
            let last = self.activities.ended_in_cell_before(cell, self.at);
            match last.copied().filter(|last| last.end > floor) {
                Some(last) => {
                    self.step(last.end, outer.work, Some(&outer), Some(thread), Some(turn));
                    return self.through(&last, floor, turn);
                }
                None => {
                    self.step(floor, outer.work, Some(&outer), Some(thread), Some(turn));
                    self.cells.pop();
                    return Next::Within { turn };
                }
            }
        }
        let floor = self.trace.turns[turn].execution.started.seq;
        let last = self.activities.ended_before(thread, self.at).copied().filter(|last| last.end > floor);
        // A tool may start while the response that requested it is still arriving.
        let running = self.activities.request_at(thread, self.at).copied().filter(|running| running.start >= floor);
        let running = running.filter(|running| last.is_none_or(|last| last.end <= running.start));
        if let Some(running) = running {
            return self.through(&running, floor, turn);
        }
        let Some(last) = last else {
            self.step(floor, Work::Overhead, None, Some(thread), Some(turn));
            return self.before(turn);
        };
        let gap = if last.work == Work::Retry || self.is_retry(thread, floor) { Work::Retry } else { Work::Overhead };
        self.step(last.end, gap, None, Some(thread), Some(turn));
        self.through(&last, floor, turn)
    }

    /// Returns whether a request begins at the walk's position that repeats a failed one. The tools of a failed request
    /// run before the agent sends the next request.
    fn is_retry(&self, thread: ThreadIdx, floor: u64) -> bool {
        let next = self.steps.last().filter(|step| step.start == self.at && step.thread == Some(thread));
        let is_request = next.is_some_and(|step| matches!(step.activity, Some((Object::Inference(_), _))));
        let before = self.activities.request_before(thread, self.at).filter(|before| before.start >= floor);
        is_request && before.is_some_and(|before| before.work == Work::Retry)
    }

    /// Continues through the part of an activity that lies after `floor` and before the walk's position.
    fn through(&mut self, activity: &Activity, floor: u64, turn: TurnIdx) -> Next {
        let start = activity.start.max(floor);
        let is_whole = activity.start >= floor;
        if activity.work == Work::Wait
            && let Some(delivery) = self.deliveries.last_between(activity.thread, start, self.at)
        {
            self.step(delivery.seq, Work::Wait, Some(activity), Some(activity.thread), Some(turn));
            self.cells.clear();
            return match delivery.from {
                Sender::Thread(thread) => Next::Thread { thread, gap: Work::Overhead },
                Sender::Tool(tool) => self.through_sender(tool),
            };
        }
        // A call that starts a child may wait for the child's answer. What the child did is then the longest part of the call.
        if let Object::Tool(tool) = activity.object
            && let Some(child) = self.deliveries.children.get(&tool).copied()
            && let Some(seq) = self.answer_of(child, activity.thread, start)
        {
            self.step(seq, activity.work, Some(activity), Some(activity.thread), Some(turn));
            self.cells.clear();
            return Next::Thread { thread: child, gap: Work::Overhead };
        }
        // An activity that is cut off may be one that the walk is inside of already. Entering it again would never end.
        if let Some(cell) = activity.runs.filter(|_| is_whole && start < self.at)
            && self.cells.last().is_none_or(|(_, _, floor)| start > *floor)
        {
            self.cells.push((cell, *activity, start));
            return Next::Within { turn };
        }
        self.step(start, activity.work, Some(activity), Some(activity.thread), Some(turn));
        Next::Within { turn }
    }

    /// Returns the event with which a child answered `thread` between `after` and the walk's position. Formats whose files have no
    /// answers of children show that the last turn of the child ended then.
    fn answer_of(&self, child: ThreadIdx, thread: ThreadIdx, after: u64) -> Option<u64> {
        self.deliveries.answer_between(child, thread, after, self.at).or_else(|| {
            let turn = self.activities.turn_before(self.trace, child, self.at)?;
            let end = self.activities.turn_end(turn);
            (end > after && end < self.at).then_some(end)
        })
    }

    /// Continues in the call that asked for a turn or sent a message, and then before that call.
    fn through_sender(&mut self, tool: ToolIdx) -> Next {
        let Some(activity) = self.activities.of_tool(tool).copied() else { return Next::Start };
        let (thread, turn) = (activity.thread, activity.turn);
        self.step(activity.end, Work::Overhead, None, Some(thread), turn);
        self.step(activity.start, activity.work, Some(&activity), Some(thread), turn);
        self.cells.clear();
        // If a code cell made the call, the walk continues in the activity that runs the cell.
        let outer = activity.inside.and_then(|cell| {
            let outer = self.activities.running_cell_at(cell, self.at)?;
            (outer.thread == thread && outer.start < self.at).then_some((cell, *outer, outer.start))
        });
        let found = self.activities.turn_before(self.trace, thread, self.at);
        match found.filter(|found| self.activities.turn_end(*found) >= self.at) {
            Some(turn) => {
                let floor = self.trace.turns[turn].execution.started.seq;
                self.cells.extend(outer.filter(|(_, _, start)| *start >= floor));
                Next::Within { turn }
            }
            None => Next::Thread { thread, gap: Work::Overhead },
        }
    }

    /// Continues with what caused a turn to begin.
    fn before(&mut self, turn: TurnIdx) -> Next {
        let thread = self.trace.turns[turn].thread;
        let start = self.trace.turns[turn].execution.started.seq;
        if let Some(tool) = self.deliveries.asked_by(turn)
            && self.activities.of_tool(tool).is_some_and(|activity| activity.start < start)
        {
            return self.through_sender(tool);
        }
        let is_first = self.activities.turn_before(self.trace, thread, start).is_none();
        match self.family.parent(thread) {
            Some(parent) if is_first => Next::Thread { thread: parent, gap: Work::Overhead },
            _ => Next::Thread { thread, gap: Work::Idle },
        }
    }
}

/// Something that a thread received.
#[derive(Debug, Clone, Copy)]
struct Delivery {
    seq: u64,
    from: Sender,
}

#[derive(Debug, Clone, Copy)]
enum Sender {
    /// A thread sent its answer.
    Thread(ThreadIdx),
    /// A tool call sent a message.
    Tool(ToolIdx),
}

/// What each thread received, and which call asked for each turn.
struct Deliveries {
    /// For each thread, its deliveries in the order of the log.
    to: Vec<Vec<Delivery>>,
    /// For each turn, the call that asked for it.
    asked_by: Vec<Option<ToolIdx>>,
    /// The child that each spawning call started.
    children: HashMap<ToolIdx, ThreadIdx>,
}

impl Deliveries {
    fn new(trace: &Trace, family: &Family) -> Self {
        let threads: HashMap<Symbol, ThreadIdx> =
            trace.threads.iter().map(|(index, thread)| (thread.id, index)).collect();
        let turns: HashMap<Symbol, TurnIdx> = trace.turns.iter().map(|(index, turn)| (turn.id, index)).collect();
        let mut first_turns: Vec<Option<TurnIdx>> = vec![None; trace.threads.len()];
        for (index, turn) in trace.turns.iter() {
            let first = &mut first_turns[turn.thread.index()];
            let started = |turn: TurnIdx| trace.turns[turn].execution.started.seq;
            if first.is_none_or(|first| started(index) < started(first)) {
                *first = Some(index);
            }
        }
        let mut to = vec![Vec::new(); trace.threads.len()];
        for result in &trace.agent_results {
            if let Some(parent) = threads.get(&result.parent_thread_id) {
                to[parent.index()].push(Delivery { seq: result.at.seq, from: Sender::Thread(result.child) });
            }
        }
        let mut asked_by: Vec<Option<ToolIdx>> = vec![None; trace.turns.len()];
        let mut children = HashMap::new();
        for edge in trace.edges.values() {
            let Anchor::Tool(tool) = edge.source else { continue };
            let (thread, item_turn) = match edge.target {
                Anchor::Thread(thread) => (thread, None),
                Anchor::Tool(target) => (trace.tools[target].thread, None),
                Anchor::Item(item) => (trace.items[item].thread, trace.items[item].codex_turn_id),
            };
            let turn = match edge.kind {
                EdgeKind::SpawnAgent => {
                    children.insert(tool, thread);
                    first_turns[thread.index()]
                }
                EdgeKind::AssignAgentTask | EdgeKind::SendMessage => {
                    to[thread.index()].push(Delivery { seq: edge.seq, from: Sender::Tool(tool) });
                    // A root reads a message in its next turn, but a message starts a new turn of a child.
                    let is_root = matches!(trace.threads[thread].origin, Origin::Root);
                    item_turn.filter(|_| !is_root).and_then(|id| turns.get(&id).copied())
                }
                EdgeKind::AgentResult | EdgeKind::CloseAgent => None,
            };
            let Some(turn) = turn else { continue };
            let started = |tool: ToolIdx| trace.tools[tool].execution.started.seq;
            let begin = trace.turns[turn].execution.started.seq;
            let asked = &mut asked_by[turn.index()];
            if started(tool) < begin && asked.is_none_or(|earlier| started(earlier) < started(tool)) {
                *asked = Some(tool);
            }
        }
        to.iter_mut().for_each(|list| list.sort_by_key(|delivery| delivery.seq));
        let mut deliveries = Self { to, asked_by, children };
        deliveries.guess_spawns(trace, family, &first_turns);
        deliveries
    }

    /// Finds the spawning calls of agents whose spawn has no edge: the last spawn call that the parent had begun before
    /// the agent began, if it was still running.
    fn guess_spawns(&mut self, trace: &Trace, family: &Family, first_turns: &[Option<TurnIdx>]) {
        let mut spawns: Vec<Vec<(u64, ToolIdx)>> = vec![Vec::new(); trace.threads.len()];
        for (index, tool) in trace.tools.iter().filter(|(_, tool)| tool.kind == ToolKind::SpawnAgent) {
            spawns[tool.thread.index()].push((tool.execution.started.seq, index));
        }
        spawns.iter_mut().for_each(|list| list.sort_unstable_by_key(|(started, _)| *started));
        for (index, thread) in trace.threads.iter() {
            let (Some(turn), Some(parent)) = (first_turns[index.index()], family.parent(index)) else { continue };
            if self.asked_by[turn.index()].is_some() {
                continue;
            }
            let began = thread.execution.started.seq;
            let list = &spawns[parent.index()];
            let last = list.partition_point(|(started, _)| *started < began).checked_sub(1).and_then(|at| list.get(at));
            let runs = |tool: ToolIdx| trace.tools[tool].execution.ended.is_none_or(|ended| ended.seq > began);
            self.asked_by[turn.index()] = last.map(|(_, tool)| *tool).filter(|tool| runs(*tool));
        }
    }

    /// Returns the last delivery to a thread between two events.
    fn last_between(&self, thread: ThreadIdx, after: u64, before: u64) -> Option<Delivery> {
        let list = self.to.get(thread.index())?;
        let count = list.partition_point(|delivery| delivery.seq < before);
        list.get(count.checked_sub(1)?).filter(|delivery| delivery.seq > after).copied()
    }

    /// Returns the last event between two others with which a child answered a thread.
    fn answer_between(&self, child: ThreadIdx, thread: ThreadIdx, after: u64, before: u64) -> Option<u64> {
        let list = self.to.get(thread.index())?;
        let from = list.partition_point(|delivery| delivery.seq <= after);
        let to = list.partition_point(|delivery| delivery.seq < before);
        let mut answers = list.get(from..to)?.iter().rev();
        let is_answer = |delivery: &&Delivery| matches!(delivery.from, Sender::Thread(from) if from == child);
        answers.find(is_answer).map(|delivery| delivery.seq)
    }

    fn asked_by(&self, turn: TurnIdx) -> Option<ToolIdx> {
        self.asked_by.get(turn.index()).copied().flatten()
    }
}
