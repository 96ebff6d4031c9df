//! The causal graph: which object of a session follows from which.
//!
//! The graph is a view of the graph of `trace-reducer`: its nodes are handles, its edges say how one object follows
//! from another, and it is built in time proportional to the session. It differs from `state.json`, which repeats what
//! the peer makes of a session: it follows no link from a tool call into another thread (inherited history repeats call
//! ids), it takes a child's answer to come from the turn that gave it and not from the partial text of a failed
//! inference call, and edges between agents have the times of the tool calls that made them.
//!
//! Nodes are threads, turns, inference calls, conversation items, tool calls, code cells, terminal operations,
//! compactions and compaction requests. An edge leads from the cause to the effect:
//!
//! | edge | from | to | its time |
//! |---|---|---|---|
//! | `contains` | thread; turn; code cell; tool call | its turns; its inference calls, tool calls, cells, compactions and requests for them; the tool calls of its code; its terminal operation | when the inner object began |
//! | `requested` | inference call | tool call of its response | start of the tool call |
//! | `produced_by` | inference call, tool call, code cell, compaction; request for a compaction | item that it produced; the compaction | when the item was first seen, or the compaction installed |
//! | `observed` | output item of a tool or cell | inference call that was the first to read it | start of the inference call |
//! | `spawned` | tool call (or turn or thread, if no call is known) | thread of the child | start of the child |
//! | `delivered` | tool call that sent a task or message, or thread that answered | item that shows it to the receiver | when the item was first seen |
//! | `result_of` | turn of a child (or its thread) | item that shows its answer to the parent | when the item was first seen |
//! | `interrupted` | tool call that closed an agent, or whose message interrupted it | turn of that agent that it ended, or the thread that it closed | end of the call |
//! | `waited_on` | thread, terminal operation or code cell that was waited for; if the wait ran out, the agents that were running then (at most [`MAX_WAITED_ON`]) | tool call that waited | end of the waiting call |
//! | `replaced_by` | item of a history | compaction that replaced it | when it was installed |
//!
//! A message that never arrived has no edge; it is in [`Trace::undelivered`](trace_reducer::Trace::undelivered).

mod build;

use std::collections::HashMap;

use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use serde::Serialize;
use trace_reducer::model::{CellIdx, Moment, ToolIdx, Trace};

use crate::object::Object;

/// How one object follows from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The target happened within the source.
    Contains,
    /// The response of an inference call contains a tool call.
    Requested,
    /// The source produced the target, an item.
    ProducedBy,
    /// An inference call was the first to read an output.
    Observed,
    /// A tool call started a child.
    Spawned,
    /// A task or message reached an agent.
    Delivered,
    /// The answer of a child reached an agent.
    ResultOf,
    /// A tool call ended a turn of another agent.
    Interrupted,
    /// A tool call waited for something.
    WaitedOn,
    /// A compaction replaced an item.
    ReplacedBy,
}

impl Relation {
    /// Returns the name of the relation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Contains => "contains",
            Self::Requested => "requested",
            Self::ProducedBy => "produced_by",
            Self::Observed => "observed",
            Self::Spawned => "spawned",
            Self::Delivered => "delivered",
            Self::ResultOf => "result_of",
            Self::Interrupted => "interrupted",
            Self::WaitedOn => "waited_on",
            Self::ReplacedBy => "replaced_by",
        }
    }
}

/// Most agents that a wait which ran out is linked with.
pub const MAX_WAITED_ON: usize = crate::family::MAX_AT_WORK;

/// Returns whether a code cell made a call. In some bundles a cell refers to calls of other turns, which do not count.
pub(crate) fn is_nested(trace: &Trace, tool: ToolIdx, cell: CellIdx) -> bool {
    trace.tools[tool].turn == Some(trace.cells[cell].turn)
}

/// An edge of the causal graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// How its target follows from its source.
    pub relation: Relation,
    /// Time of the edge.
    pub at: Moment,
}

/// The causal graph of a session.
#[derive(Debug)]
pub struct CausalGraph {
    graph: DiGraph<Object, Link>,
    nodes: HashMap<Object, NodeIndex>,
}

impl CausalGraph {
    /// Returns the graph itself, for callers that walk it with petgraph.
    pub fn graph(&self) -> &DiGraph<Object, Link> {
        &self.graph
    }

    /// Returns the node of an object. Interaction edges, terminals and payloads have no node.
    pub fn node(&self, object: Object) -> Option<NodeIndex> {
        self.nodes.get(&object).copied()
    }

    /// Returns the objects from which an object follows, in the order in which the edges were added.
    pub fn causes(&self, object: Object) -> Vec<(Object, Link)> {
        self.neighbours(object, Direction::Incoming)
    }

    /// Returns the objects that follow from an object, in the order in which the edges were added.
    pub fn effects(&self, object: Object) -> Vec<(Object, Link)> {
        self.neighbours(object, Direction::Outgoing)
    }

    /// Returns the edge from one object to another.
    pub fn link(&self, from: Object, to: Object) -> Option<Link> {
        let edge = self.graph.find_edge(self.node(from)?, self.node(to)?)?;
        Some(self.graph[edge])
    }

    fn neighbours(&self, object: Object, direction: Direction) -> Vec<(Object, Link)> {
        let Some(node) = self.node(object) else { return Vec::new() };
        let mut found: Vec<(Object, Link)> = self
            .graph
            .edges_directed(node, direction)
            .map(|edge| {
                let other = if direction == Direction::Incoming { edge.source() } else { edge.target() };
                (self.graph[other], *edge.weight())
            })
            .collect();
        // petgraph iterates from the newest edge to the oldest.
        found.reverse();
        found
    }
}
