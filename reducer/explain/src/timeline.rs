//! The timeline: what each agent did and when, as intervals that a terminal or a page can draw.
//!
//! The intervals are those of [`activity`](crate::activity), in milliseconds since the start of the session. They
//! overlap if calls ran side by side, if a call ran code that made calls, or if a command continued in the background.

use serde::{Deserialize, Serialize};
use trace_reducer::model::{Handle, ThreadIdx};

use crate::activity::{Activities, Work, describe};
use crate::clock::Clock;
use crate::family::Family;
use crate::object::ObjectRef;
use crate::outcome::Outcome;
use crate::session::Session;

/// What each agent did and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Start of the session, in milliseconds since the Unix epoch.
    pub started_at_unix_ms: i64,
    /// Milliseconds from the start of the session to its last event.
    pub wall_ms: u64,
    /// By how many milliseconds the wall clock was set back during the session. Later times are corrected by it.
    pub clock_set_back_ms: u64,
    /// Agents; a parent comes before its children.
    pub agents: Vec<AgentLine>,
}

/// What one agent did and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentLine {
    /// Id of its thread.
    pub thread_id: String,
    /// Its place in the tree of agents.
    pub agent_path: String,
    /// Name that is shown to users.
    pub nickname: Option<String>,
    /// Number of agents above it in the tree.
    pub depth: usize,
    /// When its thread started.
    pub start_ms: u64,
    /// When its thread ended; `None` if the log does not show it.
    pub end_ms: Option<u64>,
    /// Its turns, in the order of the log.
    pub turns: Vec<TurnSpan>,
    /// Its activities, sorted by start.
    pub intervals: Vec<Interval>,
}

/// When a turn ran, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnSpan {
    /// Id of the turn.
    pub turn_id: String,
    /// When it began.
    pub start_ms: u64,
    /// When it ended, or by which time it must have ended.
    pub end_ms: u64,
    /// How it ended.
    pub outcome: Outcome,
}

/// One activity of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// Kind of work.
    pub work: Work,
    /// The object that was active.
    pub object: ObjectRef,
    /// Description of the object.
    pub label: Option<String>,
    /// How the activity ended.
    pub outcome: Outcome,
    /// The turn that the activity belongs to.
    pub turn_id: Option<String>,
    /// When it began.
    pub start_ms: u64,
    /// When it ended, or by which time it must have ended.
    pub end_ms: u64,
    /// The code cell that made the call.
    pub code_cell_id: Option<String>,
}

impl Timeline {
    /// Makes the timeline of a session.
    pub fn new(session: &Session) -> Self {
        let trace = session.trace();
        let clock = Clock::new(trace);
        let family = Family::new(trace);
        Self::with(session, &clock, &family, &Activities::new(trace, &clock))
    }

    /// Like [`new`](Self::new), for callers that already have the activities of the session.
    pub fn with(session: &Session, clock: &Clock, family: &Family, activities: &Activities) -> Self {
        let trace = session.trace();
        let turn_id = |turn| trace.text(trace.turns[turn].id).to_owned();
        let mut turns: Vec<Vec<TurnSpan>> = vec![Vec::new(); trace.threads.len()];
        for (index, turn) in trace.turns.iter() {
            turns[turn.thread.index()].push(TurnSpan {
                turn_id: turn_id(index),
                start_ms: clock.at(turn.execution.started.seq),
                end_ms: clock.at(activities.turn_end(index)),
                outcome: Outcome::of_window(&turn.execution),
            });
        }
        let mut in_order: Vec<_> = activities.all().iter().collect();
        in_order.sort_by_key(|activity| (activity.start, std::cmp::Reverse(activity.end)));
        let mut intervals: Vec<Vec<Interval>> = vec![Vec::new(); trace.threads.len()];
        for activity in in_order {
            intervals[activity.thread.index()].push(Interval {
                work: activity.work,
                object: session.name(activity.object),
                label: describe(trace, activity.object),
                outcome: activity.outcome,
                turn_id: activity.turn.map(turn_id),
                start_ms: clock.at(activity.start),
                end_ms: clock.at(activity.end),
                code_cell_id: activity.inside.map(|cell| trace.text(trace.cells[cell].id).to_owned()),
            });
        }
        let agent = |index: &ThreadIdx| {
            let thread = &trace.threads[*index];
            AgentLine {
                thread_id: trace.text(thread.id).to_owned(),
                agent_path: trace.text(thread.agent_path).to_owned(),
                nickname: thread.nickname.map(|name| trace.text(name).to_owned()),
                depth: family.depth(*index),
                start_ms: clock.at(thread.execution.started.seq),
                end_ms: thread.execution.ended.map(|ended| clock.at(ended.seq)),
                turns: std::mem::take(&mut turns[index.index()]),
                intervals: std::mem::take(&mut intervals[index.index()]),
            }
        };
        Self {
            started_at_unix_ms: clock.started_at_unix_ms(),
            wall_ms: clock.wall_ms(),
            clock_set_back_ms: clock.set_back_ms(),
            agents: family.order().iter().map(agent).collect(),
        }
    }
}
