//! What each agent is doing now.

use std::collections::BTreeMap;

use serde::Serialize;
use trace_reducer::model::{Moment, ThreadIdx, Trace};

use super::happening::Tokens;
use crate::object::Object;

/// Current status of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Milliseconds from the session's start to its last event.
    pub elapsed_ms: i64,
    /// Time of the last event, in milliseconds since the Unix epoch.
    pub last_event_unix_ms: i64,
    /// Number of agents that were started so far.
    pub agents_started: usize,
    /// Agents that have not ended, in the order of their start.
    pub agents: Vec<AgentNow>,
    /// Token counts so far.
    pub tokens: Tokens,
}

/// What one agent is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentNow {
    /// Path of the agent.
    pub agent_path: String,
    /// Description of the activity; `None` if the agent waits for a task.
    pub doing: Option<String>,
    /// Start of the activity, in milliseconds since the Unix epoch.
    pub since_unix_ms: Option<i64>,
}

/// Running activities by agent.
#[derive(Debug, Clone, Default)]
pub(super) struct Activities {
    running: BTreeMap<ThreadIdx, Vec<Activity>>,
}

#[derive(Debug, Clone)]
struct Activity {
    object: Object,
    since: Moment,
    what: String,
}

impl Activities {
    /// Called when an agent starts or is resumed.
    pub(super) fn agent_began(&mut self, thread: ThreadIdx) {
        self.running.entry(thread).or_default();
    }

    /// Called when an agent ends.
    pub(super) fn agent_ended(&mut self, thread: ThreadIdx) {
        self.running.remove(&thread);
    }

    /// Called when an activity of an agent starts.
    pub(super) fn began(&mut self, thread: ThreadIdx, object: Object, since: Moment, what: String) {
        if let Some(activities) = self.running.get_mut(&thread) {
            activities.push(Activity { object, since, what });
        }
    }

    /// Called when an activity of an agent ends.
    pub(super) fn ended(&mut self, thread: ThreadIdx, object: Object) {
        if let Some(activities) = self.running.get_mut(&thread) {
            activities.retain(|activity| activity.object != object);
        }
    }

    /// Returns the last started activity of each agent that has not ended.
    pub(super) fn now(&self, trace: &Trace) -> Vec<AgentNow> {
        let agents = self.running.iter().map(|(thread, activities)| {
            let tools = activities.iter().filter(|activity| matches!(activity.object, Object::Tool(_))).count();
            let last = activities.last();
            let more = if tools > 1 { format!(" (and {} more)", tools - 1) } else { String::new() };
            AgentNow {
                agent_path: trace.text(trace.threads[*thread].agent_path).to_owned(),
                doing: last.map(|activity| activity.what.clone() + &more),
                since_unix_ms: last.map(|activity| activity.since.unix_ms),
            }
        });
        agents.collect()
    }
}
