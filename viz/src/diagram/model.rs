//! The data model of a diagram.

use serde::{Deserialize, Serialize};
use trace_explain::ObjectRef;

/// Declares the views with their names.
macro_rules! views {
    ($($(#[$doc:meta])* $view:ident = $name:literal,)*) => {
        /// Which part of a session a diagram shows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum View {
            $($(#[$doc])* #[serde(rename = $name)] $view,)*
        }

        impl View {
            /// All views.
            pub const ALL: &'static [Self] = &[$(Self::$view),*];

            /// Returns the name of the view.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$view => $name,)*
                }
            }
        }
    };
}

views! {
    /// Agents, and what they handed to each other.
    Agents = "agents",
    /// The turns of each agent, and the tools that they called.
    Turns = "turns",
    /// Inference calls, the tool calls that they asked for, and the inference calls that read the outputs.
    Calls = "calls",
    /// The chain from the symptom of one turn back to its root cause.
    Causal = "causal",
}

/// A picture of a session. All texts are plain text: shortened, without control characters (except line feeds in
/// tooltips), and not escaped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagram {
    /// The view that this diagram was made for.
    pub view: View,
    /// The heading of the picture.
    pub title: String,
    /// Boxes around nodes, parents before their children.
    pub groups: Vec<Group>,
    /// Nodes, in the order of the event log.
    pub nodes: Vec<Node>,
    /// Arrows, in the order of the event log.
    pub edges: Vec<Edge>,
    /// What the picture leaves out, one sentence each.
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

/// The outcome of an object. The order is from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// It completed.
    Fine,
    /// It failed, and something later made up for it.
    Recovered,
    /// It completed although something in it failed for good.
    Degraded,
    /// It was stopped.
    Cancelled,
    /// The recording does not contain its end.
    Unfinished,
    /// It failed.
    Failed,
}

impl Mark {
    /// All marks, from the best to the worst.
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

    /// Returns a sign for the mark, so that a picture does not depend on colours. `None` for [`Mark::Fine`].
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

/// A box around nodes: a thread or a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Stable id of letters, digits and `_`, unique in the diagram.
    pub id: String,
    /// The group that contains this one.
    pub parent: Option<GroupIdx>,
    /// Lines of the heading.
    pub label: Vec<String>,
    /// More lines, which a viewer shows when the pointer is over the heading.
    pub tooltip: String,
    /// The outcome of the thread or turn.
    pub mark: Mark,
    /// The thread or turn that the group stands for.
    pub object: Option<ObjectRef>,
}

/// What a node stands for, which decides how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// An agent.
    Agent,
    /// A turn.
    Turn,
    /// An inference call.
    Inference,
    /// A tool call.
    Tool,
    /// A code cell.
    Cell,
    /// A conversation item.
    Item,
    /// A compaction, or a request for one.
    Compaction,
    /// Several objects that are folded into one node.
    Folded,
    /// The missing end of a hand-over that never arrived, or an object that is not in the recording.
    Missing,
}

impl Shape {
    /// All shapes.
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

/// A node: one object of the session, or several that are folded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Stable id of letters, digits and `_`, unique among all nodes and groups of the diagram.
    pub id: String,
    /// The group that contains the node.
    pub group: Option<GroupIdx>,
    /// What the node stands for, which decides how it looks.
    pub shape: Shape,
    /// Lines of text, the most important first.
    pub label: Vec<String>,
    /// More lines, which a viewer shows when the pointer is over the node.
    pub tooltip: String,
    /// The worst mark of its objects.
    pub mark: Mark,
    /// The object that the node stands for. `None` if it stands for several objects or for none.
    pub object: Option<ObjectRef>,
    /// How many objects the node stands for.
    pub count: u32,
}

/// What an arrow stands for, which decides how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeStyle {
    /// An agent spawned another one.
    Spawn,
    /// An agent gave another one a task.
    Task,
    /// An agent sent another one a message.
    Message,
    /// A child sent its result to its parent.
    Result,
    /// An agent closed or interrupted another one.
    Close,
    /// The second node follows the first in time.
    Next,
    /// The second node follows from the first or explains it. The label or a note says how.
    Cause,
}

impl EdgeStyle {
    /// All styles.
    pub const ALL: [Self; 7] =
        [Self::Spawn, Self::Task, Self::Message, Self::Result, Self::Close, Self::Next, Self::Cause];
}

/// An arrow between two nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// The node at which it begins.
    pub from: NodeIdx,
    /// The node at which it ends.
    pub to: NodeIdx,
    /// What the arrow stands for, which decides how it looks.
    pub style: EdgeStyle,
    /// Lines of text beside the arrow.
    pub label: Vec<String>,
    /// More lines, which a viewer shows when the pointer is over the arrow.
    pub tooltip: String,
    /// The worst mark of its objects. A message that never arrived is marked as unfinished.
    pub mark: Mark,
    /// The object that the arrow stands for. `None` if it stands for several objects or for none.
    pub object: Option<ObjectRef>,
    /// How many objects the arrow stands for.
    pub count: u32,
}
