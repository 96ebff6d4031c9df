//! What a diagram holds.

use serde::{Deserialize, Serialize};
use trace_explain::ObjectRef;

/// What of a session a diagram shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// Agents, and what they handed to each other.
    Agents,
    /// Turns of each agent, and the tools that they called.
    Turns,
    /// Requests to models, and the tool calls that came of them and went into them.
    Calls,
    /// The way from the symptom of one turn back to its root cause.
    Causal,
}

/// A picture of a session. All texts are plain: shortened and without control characters (but line ends in tooltips), and
/// not escaped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagram {
    /// What it shows.
    pub view: View,
    /// What a person would write above it.
    pub title: String,
    /// Boxes around nodes, parents before their children.
    pub groups: Vec<Group>,
    /// Nodes, in the order of the log.
    pub nodes: Vec<Node>,
    /// Arrows, in the order of the log.
    pub edges: Vec<Edge>,
    /// What the picture leaves out, a sentence each.
    pub notes: Vec<String>,
}

/// Index of a group in its diagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GroupIdx(pub u32);

/// Index of a node in its diagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeIdx(pub u32);

/// How something came out, as a picture marks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Nothing to say.
    Fine,
    /// It failed, and that was made good.
    Recovered,
    /// It completed on top of a failure that nothing made good.
    Degraded,
    /// It was stopped.
    Cancelled,
    /// The recording has no end of it.
    Unfinished,
    /// It failed.
    Failed,
}

impl Mark {
    /// All of them, from the best to the worst.
    pub const ALL: [Self; 6] =
        [Self::Fine, Self::Recovered, Self::Degraded, Self::Cancelled, Self::Unfinished, Self::Failed];

    /// Returns the name of the mark.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Recovered => "recovered",
            Self::Degraded => "degraded",
            Self::Cancelled => "cancelled",
            Self::Unfinished => "unfinished",
            Self::Failed => "failed",
        }
    }

    /// Returns a sign for it, so that it can be told without colours.
    pub fn sign(self) -> Option<&'static str> {
        match self {
            Self::Fine => None,
            Self::Recovered => Some("↺"),
            Self::Degraded => Some("!"),
            Self::Cancelled => Some("⊘"),
            Self::Unfinished => Some("…"),
            Self::Failed => Some("✗"),
        }
    }
}

/// A box around nodes: a thread, a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Stable id: letters, digits and `_` alone, unique in the diagram.
    pub id: String,
    /// The box that it lies in.
    pub parent: Option<GroupIdx>,
    /// Lines of its heading.
    pub label: Vec<String>,
    /// More of it, for those who point at it.
    pub tooltip: String,
    /// How it came out.
    pub mark: Mark,
    /// What it stands for.
    pub object: Option<ObjectRef>,
}

/// What a node looks like, which follows from what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// An agent.
    Agent,
    /// A turn.
    Turn,
    /// A request to a model.
    Inference,
    /// A tool call.
    Tool,
    /// A code cell.
    Cell,
    /// A conversation item.
    Item,
    /// A compaction, or a request for one.
    Compaction,
    /// Several objects that were folded into one node.
    Folded,
    /// Somebody who is not in the recording.
    Missing,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Agent,
        Self::Turn,
        Self::Inference,
        Self::Tool,
        Self::Cell,
        Self::Item,
        Self::Compaction,
        Self::Folded,
        Self::Missing,
    ];
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Stable id: letters, digits and `_` alone, unique in the diagram, groups included.
    pub id: String,
    /// The box that it lies in.
    pub group: Option<GroupIdx>,
    /// What it looks like.
    pub shape: Shape,
    /// Lines of text, the first of them the most important.
    pub label: Vec<String>,
    /// More of it, for those who point at it.
    pub tooltip: String,
    /// How it came out.
    pub mark: Mark,
    /// What it stands for. Null if it stands for several objects or none.
    pub object: Option<ObjectRef>,
    /// How many objects it stands for.
    pub count: u32,
}

/// What an arrow looks like, which follows from what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeStyle {
    /// An agent was started.
    Spawn,
    /// An agent got another task.
    Task,
    /// An agent got a message.
    Message,
    /// A parent got its child's answer.
    Result,
    /// An agent was closed or interrupted.
    Close,
    /// One came after the other.
    Next,
    /// The second follows from the first, or explains it; the label says how.
    Cause,
}

impl EdgeStyle {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Spawn, Self::Task, Self::Message, Self::Result, Self::Close, Self::Next, Self::Cause];
}

/// An arrow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// Where it begins.
    pub from: NodeIdx,
    /// Where it ends.
    pub to: NodeIdx,
    /// What it looks like.
    pub style: EdgeStyle,
    /// Lines of text.
    pub label: Vec<String>,
    /// More of it, for those who point at it.
    pub tooltip: String,
    /// How it came out. A message that nobody got is unfinished.
    pub mark: Mark,
    /// What it stands for. Null if it stands for several objects or none.
    pub object: Option<ObjectRef>,
    /// How many objects it stands for.
    pub count: u32,
}
