//! What happened in a session and when, as intervals: requests to models, tool calls, code cells and compaction
//! requests.
//!
//! If the log has no end of an interval, the interval lasts as long as possible: until its runtime reports the end, its
//! turn ends or the session ends. Intervals are given by sequence numbers, because several events may have the same
//! time; a [`Clock`] converts them to times.

use serde::{Deserialize, Serialize};
use trace_reducer::model::{
    CellIdx, CellStatus, Handle, Moment, ThreadIdx, ToolCall, ToolIdx, ToolKind, Trace, TurnIdx, Window,
};

use crate::clock::Clock;
use crate::label::{tool_name, tool_subject};
use crate::object::Object;
use crate::outcome::Outcome;

/// Kinds of work that the time of a session is divided into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// A model answers a request.
    Model,
    /// A tool call or a code cell runs.
    Tool,
    /// An agent waits for another agent.
    Wait,
    /// A request to a model that fails, and the pauses after it until the next request of the agent.
    Retry,
    /// The history of a thread is compacted.
    Compaction,
    /// The agent is between two of these: it prepares a request, passes on results or waits for an approval.
    Overhead,
    /// No turn runs: the session waits for its user.
    Idle,
}

impl Work {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Model, Self::Tool, Self::Wait, Self::Retry, Self::Compaction, Self::Overhead, Self::Idle];

    /// Returns the name of the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Tool => "tool",
            Self::Wait => "wait",
            Self::Retry => "retry",
            Self::Compaction => "compaction",
            Self::Overhead => "overhead",
            Self::Idle => "idle",
        }
    }
}

/// An interval of a session in which one object was active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// The object: an inference call, tool call, code cell or compaction request.
    pub object: Object,
    /// Kind of work.
    pub work: Work,
    /// Its thread.
    pub thread: ThreadIdx,
    /// Its turn; `None` if it is not known.
    pub turn: Option<TurnIdx>,
    /// How it ended.
    pub outcome: Outcome,
    /// Sequence number of the event that began it.
    pub start: u64,
    /// Sequence number of the event that ended it, or by which it must have ended.
    pub end: u64,
    /// The code cell that made this call.
    pub inside: Option<CellIdx>,
    /// The code cell that runs during this call.
    pub runs: Option<CellIdx>,
}

/// All activities of a session, with indexes to find them.
#[derive(Debug, Clone)]
pub struct Activities {
    all: Vec<Activity>,
    /// For each thread, its activities that are not part of another one, sorted by end.
    by_end: Vec<Vec<usize>>,
    /// For each thread, its requests to models and for compactions, sorted by start.
    requests_by_start: Vec<Vec<usize>>,
    /// For each code cell, the activities that it started, sorted by end.
    in_cell: Vec<Vec<usize>>,
    /// For each tool call, the index of its activity.
    of_tool: Vec<usize>,
    /// For each code cell, the activities in which it ran.
    runs_cell: Vec<Vec<usize>>,
    /// For each turn, the sequence number where it ends or must have ended.
    turn_ends: Vec<u64>,
    /// For each thread, its turns, sorted by start.
    turns: Vec<Vec<TurnIdx>>,
}

impl Activities {
    /// Collects all activities of a session.
    pub fn new(trace: &Trace, clock: &Clock) -> Self {
        let last = clock.last_seq();
        let turns = turns_by_start(trace);
        let turn_ends = turn_ends(trace, &turns, last);
        let mut all = Vec::new();
        let end_of = |window: &Window, turn: Option<TurnIdx>| {
            let must = turn.map_or(last, |turn| turn_ends[turn.index()]);
            window.ended.map_or(must, |ended| ended.seq).max(window.started.seq)
        };
        for (index, call) in trace.inferences.iter() {
            let outcome = Outcome::of_window(&call.execution);
            all.push(Activity {
                object: Object::Inference(index),
                work: if outcome == Outcome::Failed { Work::Retry } else { Work::Model },
                thread: call.thread,
                turn: Some(call.turn),
                outcome,
                start: call.execution.started.seq,
                end: end_of(&call.execution, Some(call.turn)),
                inside: None,
                runs: None,
            });
        }
        for (index, request) in trace.compaction_requests.iter() {
            all.push(Activity {
                object: Object::CompactionRequest(index),
                work: Work::Compaction,
                thread: request.thread,
                turn: Some(request.turn),
                outcome: Outcome::of_window(&request.execution),
                start: request.execution.started.seq,
                end: end_of(&request.execution, Some(request.turn)),
                inside: None,
                runs: None,
            });
        }
        let cells = CellLinks::new(trace);
        let mut of_tool = Vec::with_capacity(trace.tools.len());
        for (index, call) in trace.tools.iter() {
            of_tool.push(all.len());
            let must = end_of(&call.execution, call.turn);
            let runtime_end = call.runtime.and_then(|runtime| runtime.ended).map(|ended: Moment| ended.seq);
            let end = match (call.execution.ended, runtime_end) {
                (None, Some(end)) if (call.execution.started.seq..must).contains(&end) => end,
                _ => must,
            };
            all.push(Activity {
                object: Object::Tool(index),
                work: if call.kind == ToolKind::WaitAgent { Work::Wait } else { Work::Tool },
                thread: call.thread,
                turn: call.turn,
                outcome: Outcome::of_tool(trace, call),
                start: call.execution.started.seq,
                end,
                inside: cells.inside[index.index()],
                runs: cells.run_by[index.index()],
            });
        }
        for (index, cell) in trace.cells.iter() {
            if cells.is_run_by_tool[index.index()] {
                continue;
            }
            let yielded = cell.initial_response.filter(|_| cell.initial_response_status == Some(CellStatus::Yielded));
            let end = yielded.or(cell.yielded).map_or_else(
                || end_of(&cell.execution, Some(cell.turn)),
                |yielded| yielded.seq.max(cell.execution.started.seq),
            );
            all.push(Activity {
                object: Object::Cell(index),
                work: Work::Tool,
                thread: cell.thread,
                turn: Some(cell.turn),
                outcome: Outcome::of_window(&cell.execution),
                start: cell.execution.started.seq,
                end,
                inside: None,
                runs: Some(index),
            });
        }
        Self::sorted(trace, all, of_tool, turn_ends, turns)
    }

    fn sorted(
        trace: &Trace,
        all: Vec<Activity>,
        of_tool: Vec<usize>,
        turn_ends: Vec<u64>,
        turns: Vec<Vec<TurnIdx>>,
    ) -> Self {
        let mut by_end = vec![Vec::new(); trace.threads.len()];
        let mut requests_by_start = vec![Vec::new(); trace.threads.len()];
        let mut in_cell = vec![Vec::new(); trace.cells.len()];
        let mut runs_cell = vec![Vec::new(); trace.cells.len()];
        for (index, activity) in all.iter().enumerate() {
            // An activity that starts and ends with the same event takes no time, and nothing waits for it.
            if activity.start == activity.end {
                continue;
            }
            match activity.inside {
                Some(cell) => in_cell[cell.index()].push(index),
                None => by_end[activity.thread.index()].push(index),
            }
            if let Some(cell) = activity.runs {
                runs_cell[cell.index()].push(index);
            }
            if matches!(activity.object, Object::Inference(_) | Object::CompactionRequest(_)) {
                requests_by_start[activity.thread.index()].push(index);
            }
        }
        by_end
            .iter_mut()
            .chain(&mut in_cell)
            .for_each(|list| list.sort_by_key(|index| (all[*index].end, all[*index].start)));
        let by_start = requests_by_start.iter_mut().chain(&mut runs_cell);
        by_start.for_each(|list| list.sort_by_key(|index| all[*index].start));
        Self { all, by_end, requests_by_start, in_cell, of_tool, runs_cell, turn_ends, turns }
    }

    /// Returns all activities, grouped by type of object.
    pub fn all(&self) -> &[Activity] {
        &self.all
    }

    /// Returns the activity of a tool call.
    pub fn of_tool(&self, tool: ToolIdx) -> Option<&Activity> {
        self.all.get(*self.of_tool.get(tool.index())?)
    }

    /// Returns the sequence number where a turn ends. If the log has no end of the turn, it is where the thread's next
    /// turn begins, or where the session ends.
    pub fn turn_end(&self, turn: TurnIdx) -> u64 {
        self.turn_ends[turn.index()]
    }

    /// Returns the last turn of a thread that begins before the event `seq`.
    pub fn turn_before(&self, trace: &Trace, thread: ThreadIdx, seq: u64) -> Option<TurnIdx> {
        let turns = self.turns.get(thread.index())?;
        let after = turns.partition_point(|turn| trace.turns[*turn].execution.started.seq < seq);
        turns.get(after.checked_sub(1)?).copied()
    }

    /// Returns the activity of a thread that ends last among those that end at or before the event `seq`. Activities
    /// inside a code cell are not considered.
    pub fn ended_before(&self, thread: ThreadIdx, seq: u64) -> Option<&Activity> {
        self.last_ended(self.by_end.get(thread.index())?, seq)
    }

    /// Returns the activity inside a code cell that ends last among those that end at or before the event `seq`.
    pub fn ended_in_cell_before(&self, cell: CellIdx, seq: u64) -> Option<&Activity> {
        self.last_ended(self.in_cell.get(cell.index())?, seq)
    }

    fn last_ended(&self, by_end: &[usize], seq: u64) -> Option<&Activity> {
        let after = by_end.partition_point(|index| self.all[*index].end <= seq);
        self.all.get(*by_end.get(after.checked_sub(1)?)?)
    }

    /// Returns the last request of a thread that begins before the event `seq`.
    pub fn request_before(&self, thread: ThreadIdx, seq: u64) -> Option<&Activity> {
        let by_start = self.requests_by_start.get(thread.index())?;
        let after = by_start.partition_point(|index| self.all[*index].start < seq);
        self.all.get(*by_start.get(after.checked_sub(1)?)?)
    }

    /// Returns the last request of a thread that begins before the event `seq`, if it ends after that event.
    pub fn request_at(&self, thread: ThreadIdx, seq: u64) -> Option<&Activity> {
        self.request_before(thread, seq).filter(|activity| activity.end > seq)
    }

    /// Returns the activity in which a code cell runs at the event `seq`.
    pub fn running_cell_at(&self, cell: CellIdx, seq: u64) -> Option<&Activity> {
        let by_start = self.runs_cell.get(cell.index())?;
        let after = by_start.partition_point(|index| self.all[*index].start < seq);
        self.all.get(*by_start.get(after.checked_sub(1)?)?).filter(|activity| activity.end >= seq)
    }
}

/// Returns the turns of each thread, sorted by start.
fn turns_by_start(trace: &Trace) -> Vec<Vec<TurnIdx>> {
    let mut turns = vec![Vec::new(); trace.threads.len()];
    for (index, turn) in trace.turns.iter() {
        turns[turn.thread.index()].push(index);
    }
    turns.iter_mut().for_each(|list| list.sort_by_key(|turn| trace.turns[*turn].execution.started.seq));
    turns
}

fn turn_ends(trace: &Trace, turns: &[Vec<TurnIdx>], last: u64) -> Vec<u64> {
    let mut ends = vec![last; trace.turns.len()];
    for list in turns {
        let mut next = last;
        for turn in list.iter().rev() {
            let window = &trace.turns[*turn].execution;
            ends[turn.index()] = window.ended.map_or(next, |ended| ended.seq).max(window.started.seq);
            next = window.started.seq;
        }
    }
    ends
}

/// Which tool calls code cells made, and which tool calls run code cells.
struct CellLinks {
    /// For each tool call, the cell that made it.
    inside: Vec<Option<CellIdx>>,
    /// For each tool call, the cell that it started or waited for.
    run_by: Vec<Option<CellIdx>>,
    /// For each cell, whether a tool call started it. Schema 1 has no such tool calls.
    is_run_by_tool: Vec<bool>,
}

impl CellLinks {
    fn new(trace: &Trace) -> Self {
        let mut links = Self {
            inside: vec![None; trace.tools.len()],
            run_by: vec![None; trace.tools.len()],
            is_run_by_tool: vec![false; trace.cells.len()],
        };
        for (index, cell) in trace.cells.iter() {
            for tool in &cell.nested_tools {
                links.inside[tool.index()] = Some(index);
            }
            for tool in &cell.wait_tools {
                links.run_by[tool.index()] = Some(index);
            }
        }
        for (index, tool) in trace.tools.iter() {
            if let Some(cell) = tool.started_code_cell {
                links.run_by[index.index()] = Some(cell);
                links.is_run_by_tool[cell.index()] = true;
            }
        }
        links
    }
}

/// Describes an activity: the name of the model or tool, and what it was called for.
pub fn describe(trace: &Trace, object: Object) -> Option<String> {
    match object {
        Object::Inference(inference) => Some(trace.text(trace.inferences[inference].model).to_owned()),
        Object::CompactionRequest(request) => Some(trace.text(trace.compaction_requests[request].model).to_owned()),
        Object::Tool(tool) => Some(describe_tool(trace, &trace.tools[tool])),
        Object::Cell(_) => Some("code".to_owned()),
        _ => None,
    }
}

fn describe_tool(trace: &Trace, call: &ToolCall) -> String {
    match tool_subject(trace, call) {
        Some(subject) => format!("{} {subject}", tool_name(trace, call)),
        None => tool_name(trace, call),
    }
}
