//! The threads of a session, and which call spawned which.

use super::tables::Map;
use crate::event::{EventRef, Stamp};
use crate::thread::Awaited;

/// A child, as the files tell of it.
#[derive(Debug, Default)]
pub(crate) struct Child {
    /// The agent's id of the child.
    pub(crate) agent: String,
    /// The id of its thread.
    pub(crate) thread: String,
    /// What kind of agent it is.
    pub(crate) role: Option<String>,
    /// What the parent called the task.
    pub(crate) task: Option<String>,
    /// When it began.
    pub(crate) began: Option<i64>,
    /// Whether it ended with an error of the model's provider.
    pub(crate) has_failed: bool,
    /// Whether it was matched by the text of its task.
    pub(crate) is_by_text: bool,
}

/// The children of a session.
#[derive(Debug, Default)]
pub(crate) struct Kin {
    /// All children.
    pub(crate) children: Vec<Child>,
    /// The child that a call spawned.
    pub(crate) by_call: Map<String, usize>,
    /// Children by the ids that the agent gives them.
    pub(crate) by_agent: Map<String, usize>,
}

/// A child that a call of a thread spawned.
#[derive(Debug)]
pub(crate) struct Spawned {
    /// The child.
    pub(crate) child: usize,
    /// The event that spawned it.
    pub(crate) event: EventRef,
    /// The result that the parent got, if it waited for it.
    pub(crate) result: Option<ChildResult>,
    /// What the parent called the task.
    pub(crate) task: Option<String>,
    /// What kind of agent the parent asked for.
    pub(crate) role: Option<String>,
}

/// How a call that spawned a child ended.
#[derive(Debug, Clone)]
pub(crate) struct ChildResult {
    /// The end of the call.
    pub(crate) event: EventRef,
    /// Its status.
    pub(crate) status: trace_recorder::format::ExecutionStatus,
    /// The child's answer.
    pub(crate) answer: Option<ChildAnswer>,
}

/// The answer of a child, as its parent got it.
#[derive(Debug, Clone)]
pub(crate) struct ChildAnswer {
    /// The place for it in the parent's thread.
    pub(crate) awaited: Awaited,
    /// What it says.
    pub(crate) message: String,
    /// When it came.
    pub(crate) stamp: Stamp,
}

/// What was told of a thread.
#[derive(Debug)]
pub(crate) struct Told {
    /// The start of the thread.
    pub(crate) started: EventRef,
    /// The last event that says how far the thread came.
    pub(crate) last: EventRef,
    /// The children that it spawned.
    pub(crate) spawned: Vec<Spawned>,
    /// Notices of the ends of children, which began turns.
    pub(crate) notices: Vec<Notice>,
}

/// A notice of the end of a child that worked in the background. It begins a turn of the parent, or comes during one.
#[derive(Debug)]
pub(crate) struct Notice {
    /// The child.
    pub(crate) child: usize,
    /// The start of the turn, or the place of the notice in it.
    pub(crate) event: EventRef,
    /// What it says.
    pub(crate) answer: ChildAnswer,
}
